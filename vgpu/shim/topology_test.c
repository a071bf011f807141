/* What sysfs and PRIME tell of how devices stand to one another: nodes, links, hives, peers, memory in use. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <amdgpu_drm.h>
#include <xf86drm.h>
#include "tests/check.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

static char text[4096];

/* The content of a device's file without its last line end; "" when it is not there. */
static const char *read_file(unsigned card, const char *name)
{
	char path[256];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/drm/card%u/device/%s", card, name);
	f = fopen(path, "r");
	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		fclose(f);
	text[n && text[n - 1] == '\n' ? n - 1 : n] = 0;
	return text;
}

static unsigned long long read_number(unsigned card, const char *name)
{
	return strtoull(read_file(card, name), NULL, 10);
}

static int open_node(unsigned device)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/dri/renderD%u", 128 + device);
	return open(path, O_RDWR | O_CLOEXEC);
}

static void links_and_nodes(void)
{
	CHECK_EQ(vgpu_start("gfx908:numa=0,gfx900,gfx1034"), 0);
	CHECK_STR(read_file(0, "numa_node"), "0");
	CHECK_STR(read_file(1, "numa_node"), "-1");
	CHECK(strlen(read_file(0, "local_cpulist")) > 0);
	CHECK_STR(read_file(0, "current_link_speed"), "16.0 GT/s PCIe");
	CHECK_STR(read_file(1, "max_link_speed"), "8.0 GT/s PCIe");
	CHECK_STR(read_file(2, "max_link_width"), "4");
	CHECK_STR(read_file(0, "xgmi_device_id"), "");
	CHECK_STR(read_file(0, "class"), "0x038000");
	CHECK_STR(read_file(2, "class"), "0x030000");
	CHECK(strstr(read_file(2, "uevent"), "PCI_CLASS=30000\n"));
	CHECK_STR(read_file(0, "unique_id"), "7475666600000001");
	CHECK_STR(read_file(0, "gpu_busy_percent"), "0");
	CHECK_STR(read_file(0, "pp_dpm_sclk"), "0: 300Mhz \n1: 1502Mhz *");
	CHECK_STR(read_file(0, "pp_dpm_mclk"), "0: 240Mhz \n1: 1200Mhz *");
	CHECK_STR(read_file(1, "pp_dpm_pcie"), "0: 2.5GT/s, x16 \n1: 8.0GT/s, x16 *");
	CHECK_STR(read_file(2, "power_dpm_force_performance_level"), "auto");
	vgpu_stop();
	CHECK_EQ(vgpu_start("gfx900:hive=1"), -EINVAL); /* no links */
	CHECK_EQ(vgpu_start("gfx908:hive=0"), -EINVAL);
	CHECK_EQ(vgpu_start("gfx900:sramecc=1"), -EINVAL);
	CHECK_EQ(vgpu_start("gfx906:sramecc=on"), -EINVAL);
	CHECK_EQ(vgpu_start("gfx908:numa=x"), -EINVAL);
	CHECK_EQ(vgpu_start("gfx908:p2p=2"), -EINVAL);
}

static void a_hive_is_laid_out_as_linux_does(void)
{
	char first[PATH_MAX], node[PATH_MAX], id[32];
	struct stat st;

	CHECK_EQ(vgpu_start("gfx908:hive=77,gfx906,gfx908:hive=77,gfx90a:hive=5"), 0);
	CHECK_STR(read_file(0, "xgmi_hive_info/xgmi_hive_id"), "77");
	CHECK_STR(read_file(2, "xgmi_hive_info/xgmi_hive_id"), "77");
	CHECK_STR(read_file(1, "xgmi_hive_info/xgmi_hive_id"), "");
	CHECK_STR(read_file(3, "xgmi_hive_info/xgmi_hive_id"), "5");
	CHECK_STR(read_file(2, "xgmi_num_hops"), "01 00 ");
	CHECK_STR(read_file(2, "xgmi_physical_id"), "1");
	snprintf(id, sizeof(id), "%s", read_file(2, "xgmi_device_id"));
	CHECK(id[0] && strcmp(id, "0"));
	CHECK_STR(read_file(0, "xgmi_hive_info/node2/xgmi_device_id"), id); /* from one member to the other */
	CHECK_STR(read_file(2, "xgmi_hive_info/node2/xgmi_device_id"), id);
	CHECK(realpath("/sys/class/drm/card0/device", first));
	CHECK(realpath("/sys/class/drm/card2/device/xgmi_hive_info/node1", node));
	CHECK_STR(node, first);
	CHECK_EQ(lstat("/sys/class/drm/card0/device/xgmi_hive_info", &st), 0);
	CHECK(S_ISDIR(st.st_mode)); /* the first member has it, the others point there */
	CHECK_EQ(lstat("/sys/class/drm/card2/device/xgmi_hive_info", &st), 0);
	CHECK(S_ISLNK(st.st_mode));
	vgpu_stop();
}

static uint32_t create(int fd, uint64_t size_B, uint64_t domain)
{
	union drm_amdgpu_gem_create args = {.in = {size_B, 0, domain, 0}};

	CHECK_EQ(ioctl(fd, DRM_IOCTL_AMDGPU_GEM_CREATE, &args), 0);
	return args.out.handle;
}

static void memory_in_use_is_what_is_true_now(void)
{
	uint32_t handle, gtt;
	char line[64];
	int fd, dir, file;
	ssize_t n;

	CHECK_EQ(vgpu_start("gfx906,gfx906:vram=1G"), 0);
	fd = open_node(0);
	CHECK_EQ(read_number(0, "mem_info_vram_used"), 0);
	handle = create(fd, 1 << 20, AMDGPU_GEM_DOMAIN_VRAM);
	CHECK_EQ(read_number(0, "mem_info_vram_used"), 1 << 20);
	CHECK_EQ(read_number(0, "mem_info_vis_vram_used"), 1 << 20);
	CHECK_EQ(read_number(1, "mem_info_vram_used"), 0);
	gtt = create(fd, 1 << 16, AMDGPU_GEM_DOMAIN_GTT);
	CHECK_EQ(read_number(0, "mem_info_gtt_used"), 1 << 16);
	CHECK_EQ(drmCloseBufferHandle(fd, gtt), 0);
	CHECK(read_number(0, "mem_info_gtt_total") > 1 << 20);
	CHECK_EQ(drmCloseBufferHandle(fd, handle), 0);
	dir = open("/sys/class/drm/card0/device", O_RDONLY | O_DIRECTORY);
	file = openat(dir, "mem_info_vram_used", O_RDONLY);
	n = read(file, line, sizeof(line));
	CHECK(n > 0 && !strncmp(line, "0\n", (size_t)n));
	close(file);
	close(dir);
	close(fd);
	vgpu_stop();
}

static void host_memory_has_a_limit(void)
{
	union drm_amdgpu_gem_create args = {.in = {96 << 20, 0, AMDGPU_GEM_DOMAIN_GTT, 0}};
	uint32_t handle;
	int fd;

	CHECK_EQ(vgpu_start("gfx906:gtt=16M"), -EINVAL);
	CHECK_EQ(vgpu_start("gfx906:gtt=64M"), 0);
	fd = open_node(0);
	CHECK_EQ(read_number(0, "mem_info_gtt_total"), 64 << 20);
	CHECK_EQ(ioctl(fd, DRM_IOCTL_AMDGPU_GEM_CREATE, &args), -1);
	CHECK_EQ(errno, ENOMEM);
	handle = create(fd, 48 << 20, AMDGPU_GEM_DOMAIN_GTT);
	CHECK_EQ(drmCloseBufferHandle(fd, handle), 0);
	close(fd);
	vgpu_stop();
}

/* row 143 */
static void ways_to_reset(void)
{
	CHECK_EQ(vgpu_start("gfx908:kernel=7.2,gfx906:kernel=7.2,gfx942:kernel=7.2,gfx1030:kernel=7.2,gfx906,"
			    "gfx942:kernel=6.16"),
		 0);
	CHECK_STR(read_file(0, "gfx_reset_mask"), ""); /* it has no such ring */
	CHECK_STR(read_file(0, "compute_reset_mask"), "queue full ");
	CHECK_STR(read_file(0, "sdma_reset_mask"), "");
	CHECK_STR(read_file(1, "gfx_reset_mask"), "queue full ");
	CHECK_STR(read_file(2, "compute_reset_mask"), "soft queue pipe full ");
	CHECK_STR(read_file(2, "sdma_reset_mask"), "queue full ");
	CHECK_STR(read_file(3, "sdma_reset_mask"), "queue full ");
	CHECK_STR(read_file(4, "compute_reset_mask"), ""); /* 6.12 has none of them */
	CHECK_STR(read_file(5, "compute_reset_mask"), "soft queue pipe full ");
	CHECK_STR(read_file(5, "sdma_reset_mask"), "full ");
	vgpu_stop();
}

static uint32_t usable(int fd)
{
	union drm_amdgpu_ctx args = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};

	return !ioctl(fd, DRM_IOCTL_AMDGPU_CTX, &args);
}

/* row 144: as hot-unplug tests do it: through the node's number. */
static void removing(void)
{
	int fd[2], file;

	CHECK_EQ(vgpu_start("gfx908,gfx906"), 0);
	fd[0] = open_node(0);
	fd[1] = open_node(1);
	CHECK_EQ(access("/sys/dev/char/226:129/device/remove", F_OK), 0);
	file = open("/sys/dev/char/226:129/device/remove", O_RDONLY); /* root may */
	if (file >= 0)
		close(file);
	CHECK(usable(fd[1]));
	file = open("/sys/dev/char/226:129/device/remove", O_WRONLY);
	CHECK_EQ(write(file, "1", 1), 1);
	close(file);
	CHECK(usable(fd[0]));
	CHECK(!usable(fd[1]));
	CHECK_EQ(errno, ENODEV);
	close(fd[0]);
	close(fd[1]);
	vgpu_stop();
}

/* What libudev and sd-device do: they walk down from "/", a directory at a time, and ask what file system it is. */
static void walk_down(const char *path)
{
	char copy[PATH_MAX], link[PATH_MAX], *save = NULL;
	struct statfs fs;
	struct stat st;
	int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	ssize_t n;

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *name = strtok_r(copy, "/", &save); name; name = strtok_r(NULL, "/", &save)) {
		next = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (!CHECK(next >= 0))
			break;
		close(dir);
		dir = next;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, copy, sizeof(copy) - 1);
	copy[n > 0 ? n : 0] = 0;
	CHECK_STR(copy, path);
	CHECK_EQ(fstatat(dir, "uevent", &st, 0), 0);
	CHECK_EQ(faccessat(dir, "uevent", F_OK, 0), 0);
	CHECK_EQ(fstatfs(dir, &fs), 0);
	CHECK_EQ(fs.f_type, SYSFS_MAGIC);
	close(dir);
}

/* row 145 */
static void device_libraries_find_what_they_look_up(void)
{
	char path[PATH_MAX], driver[PATH_MAX];

	CHECK_EQ(vgpu_start("gfx906"), 0);
	CHECK_STR(read_file(0, "modalias"), "pci:v00001002d000066A1sv00001002sd00000C34bc03sc80i00");
	CHECK(strstr(read_file(0, "uevent"), "DRIVER=amdgpu\n"));
	CHECK(realpath("/sys/class/drm/renderD128/device/driver", driver));
	CHECK(realpath("/sys/bus/pci/drivers/amdgpu", path));
	CHECK_STR(driver, path);
	CHECK(realpath("/sys/class/drm/renderD128/device/driver/module", driver));
	CHECK(realpath("/sys/module/amdgpu", path));
	CHECK_STR(driver, path);
	CHECK(realpath("/sys/class/drm/renderD128/subsystem", driver));
	CHECK_STR(driver, "/sys/class/drm");
	walk_down("/sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0");
	walk_down("/sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0/drm/renderD128");
	vgpu_stop();
}

/* row 172 */
static void partitions_are_platform_devices(void)
{
	drmDevicePtr devices[16];
	char path[PATH_MAX];
	struct stat st;
	int count, fd;

	CHECK_EQ(vgpu_start("null:gfx942:partition=dpx,null:gfx906"), 0);
	CHECK_STR(read_file(0, "current_compute_partition"), "DPX");
	CHECK(realpath("/sys/class/drm/renderD129/device", path));
	CHECK_STR(path, "/sys/devices/platform/amdgpu_xcp_0");
	CHECK(realpath("/sys/dev/char/226:135/device", path));
	CHECK_STR(path, "/sys/devices/platform/amdgpu_xcp_6");
	CHECK(realpath("/sys/bus/platform/devices/amdgpu_xcp_6/drm/card7/device/subsystem", path));
	CHECK_STR(path, "/sys/bus/platform");
	CHECK(realpath("/sys/class/drm/renderD136/device", path)); /* the next card's */
	CHECK_STR(path, "/sys/devices/pci0000:00/0000:00:02.0/0000:04:00.0");
	CHECK_EQ(access("/sys/devices/platform/amdgpu_xcp_7", F_OK), -1);
	CHECK_EQ(stat("/dev/dri/by-path/platform-amdgpu_xcp_1-render", &st), 0);
	CHECK_EQ(st.st_rdev, makedev(226, 130));
	fd = open("/dev/dri/renderD129", O_RDWR);
	CHECK(fd >= 0);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_rdev, makedev(226, 129));
	close(fd);
	CHECK_EQ(open("/dev/dri/renderD130", O_RDWR), -1); /* of a partition that DPX does not have */
	CHECK_EQ(errno, ENOENT);
	count = drmGetDevices2(0, devices, 16);
	CHECK_EQ(count, 9);
	for (int i = 0, platform = 0; i < count; i++) {
		platform += devices[i]->bustype == DRM_BUS_PLATFORM;
		CHECK(i < count - 1 || platform == 7);
	}
	drmFreeDevices(devices, count);
	vgpu_stop();
	CHECK_EQ(vgpu_start("gfx908:partition=spx"), -EINVAL); /* one XCC */
	CHECK_EQ(vgpu_start("gfx942:partition=tpx"), -EINVAL);
	CHECK_EQ(vgpu_start("gfx942:partition=dpx:partition=tpx"), -EINVAL); /* a former value does not excuse it */
}

int main(void)
{
	ways_to_reset();
	removing();
	device_libraries_find_what_they_look_up();
	links_and_nodes();
	a_hive_is_laid_out_as_linux_does();
	memory_in_use_is_what_is_true_now();
	host_memory_has_a_limit();
	partitions_are_platform_devices();
	return check_done("topology");
}
