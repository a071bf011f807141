/* The directory tree that replaces /dev/dri and the parts of /sys with GPUs, in Linux's layout: directories under
 * sys/devices, relative links from sys/dev/char, sys/class/drm and sys/bus/pci. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vgpu/chip.h"
#include "vgpu/shim/shim.h"
#include "vgpu/shim/tree.h"
#include "vgpu/sys.h"

static void tree_fail(struct tree *t, long r)
{
	if (r < 0 && !t->error)
		t->error = (int)r;
}

void tree_make_dirs(struct tree *t, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	int n = snprintf(path, sizeof(path), "%s/", t->root);
	long r;

	va_start(args, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, args);
	va_end(args);
	r = sys_call6(SYS_mkdir, (long)path, 0755, 0, 0, 0, 0);
	if (r == -ENOENT) {
		for (char *slash = path + n; (slash = strchr(slash, '/')); *slash++ = '/') {
			*slash = 0;
			sys_call6(SYS_mkdir, (long)path, 0755, 0, 0, 0, 0);
		}
		r = sys_call6(SYS_mkdir, (long)path, 0755, 0, 0, 0, 0);
	}
	if (r != -EEXIST)
		tree_fail(t, r);
}

void tree_make_link(struct tree *t, const char *to, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	int n = snprintf(path, sizeof(path), "%s/", t->root);

	va_start(args, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, args);
	va_end(args);
	tree_fail(t, sys_call6(SYS_symlink, (long)to, (long)path, 0, 0, 0, 0));
}

void tree_write_file(struct tree *t, const char *dir, const char *name, const void *data, size_t size_B)
{
	char path[PATH_MAX];
	long fd;

	snprintf(path, sizeof(path), "%s/%s/%s", t->root, dir, name);
	fd = sys_call6(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0444, 0, 0);
	tree_fail(t, fd);
	if (fd < 0)
		return;
	tree_fail(t, sys_call6(SYS_write, fd, (long)data, (long)size_B, 0, 0, 0));
	sys_close((int)fd);
}

void tree_write_text(struct tree *t, const char *dir, const char *name, const char *fmt, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	tree_write_file(t, dir, name, text, (size_t)n);
}

/* --- one device --- */

static void device_dir(unsigned i, char *dir, size_t room)
{
	snprintf(dir, room, "sys/devices/pci0000:00/0000:00:%02x.0/0000:%02x:00.0", i + 1, TREE_PCI_BUS(i));
}

/* 64 bytes of configuration space: ids, a display controller's class, subsystem as the board vendor's. */
static void write_config(struct tree *t, const char *dir, const struct vgpu_chip *chip)
{
	uint32_t class = vgpu_chip_pci_class(chip);
	uint8_t config[256] = {
		[0x00] = 0x02,
		0x10,
		(uint8_t)chip->device_id,
		(uint8_t)(chip->device_id >> 8),
		[0x04] = 0x06,
		0x00,
		[0x08] = chip->pci_rev,
		(uint8_t)class,
		(uint8_t)(class >> 8),
		(uint8_t)(class >> 16),
		[0x2c] = 0x02,
		0x10,
		0x34,
		0x0c,
	};

	tree_write_file(t, dir, "config", config, sizeof(config));
}

static void write_memory(struct tree *t, const char *dir, const struct vgpu_chip *chip,
			 const struct kern_device_config *config)
{
	uint64_t vram_B = kern_config_vram_B(chip, config), visible_B = kern_config_visible_B(chip, config);

	tree_write_text(t, dir, "mem_info_vram_total", "%llu\n", (unsigned long long)vram_B);
	tree_write_text(t, dir, "mem_info_vis_vram_total", "%llu\n", (unsigned long long)visible_B);
	tree_write_text(t, dir, "resource", "0x%016llx 0x%016llx 0x000000000014220c\n", 0x80000000000ull,
			0x80000000000ull + (unsigned long long)visible_B - 1);
}

/* The CPUs of the host's node of that number; all where there is none. */
static void write_cpulist(struct tree *t, const char *dir, int node)
{
	char path[64], text[512];
	long n;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	n = node < 0 ? -1 : sys_read_file(path, text, sizeof(text));
	if (n > 0)
		tree_write_file(t, dir, "local_cpulist", text, (size_t)n);
	else
		tree_write_text(t, dir, "local_cpulist", "0-%ld\n", sysconf(_SC_NPROCESSORS_CONF) - 1);
}

static void write_link(struct tree *t, const char *dir, const struct vgpu_chip *chip)
{
	static const char *const speed[] = {[3] = "8.0", [4] = "16.0", [5] = "32.0"};
	static const char *const when[] = {"current", "max"};
	char name[32];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s_link_speed", when[i]);
		tree_write_text(t, dir, name, "%s GT/s PCIe\n", speed[vgpu_chip_pcie_gen(chip)]);
		snprintf(name, sizeof(name), "%s_link_width", when[i]);
		tree_write_text(t, dir, name, "%u\n", vgpu_chip_pcie_lanes(chip));
	}
}

/* For its owner to write, as sysfs has it for root. */
static void write_remove(struct tree *t, const char *dir)
{
	char path[PATH_MAX];

	tree_write_text(t, dir, "remove", "%s", "");
	snprintf(path, sizeof(path), "%s/%s/remove", t->root, dir);
	tree_fail(t, sys_call6(SYS_chmod, (long)path, 0200, 0, 0, 0, 0));
}

/* "soft queue pipe full " as amdgpu_show_reset_mask() has it; SDMA before 4.4.2 has none. */
static void write_reset_mask(struct tree *t, const char *dir, const char *ip, const struct kern_reset_mask *mask)
{
	char name[32];

	if (!mask->known)
		return;
	snprintf(name, sizeof(name), "%s_reset_mask", ip);
	tree_write_text(t, dir, name, "%s%s%sfull \n", mask->soft ? "soft " : "", mask->queue ? "queue " : "",
			mask->pipe ? "pipe " : "");
}

static void write_reset_masks(struct tree *t, const char *dir, const struct kern_device_config *config)
{
	static const char *const ip[] = {"gfx", "compute", "sdma"};

	for (unsigned i = 0; i < 3; i++) {
		struct kern_reset_mask mask = kern_reset_mask(config, i);

		write_reset_mask(t, dir, ip[i], &mask);
	}
}

/* Two levels of a clock, of which the last is in use, as the sensors have it: "0: 300Mhz ", "1: 1725Mhz *" (Linux
 * vega20_ppt.c to smu_v13_0_*_ppt.c; the file is documented in amdgpu_pm.c). The low level is the least
 * clock of DEV_INFO. */
static void write_levels(struct tree *t, const char *dir, const char *name, unsigned khz)
{
	tree_write_text(t, dir, name, "0: %uMhz \n1: %uMhz *\n", khz / 5000, khz / 1000);
}

/* Files that monitors read (amdgpu_pm.c): an idle card, as AMDGPU_INFO_SENSOR describes it. */
static void write_power(struct tree *t, const char *dir, const struct vgpu_chip *chip)
{
	tree_write_text(t, dir, "gpu_busy_percent", "0\n");
	tree_write_text(t, dir, "power_dpm_state", "performance\n");
	tree_write_text(t, dir, "power_dpm_force_performance_level", "auto\n");
	write_levels(t, dir, "pp_dpm_sclk", chip->engine_khz);
	write_levels(t, dir, "pp_dpm_mclk", chip->memory_khz);
	tree_write_text(t, dir, "pp_dpm_pcie", "0: 2.5GT/s, x%u \n1: %s, x%u *\n", vgpu_chip_pcie_lanes(chip),
			vgpu_chip_pcie_gen(chip) == 3   ? "8.0GT/s"
			: vgpu_chip_pcie_gen(chip) == 4 ? "16.0GT/s"
							: "32.0GT/s",
			vgpu_chip_pcie_lanes(chip));
}

/* A sensor with its name: "temp1_input" and "temp1_label". */
static void write_sensor(struct tree *t, const char *dir, const char *sensor, const char *label,
			 unsigned long long value)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_input", sensor);
	tree_write_text(t, dir, name, "%llu\n", value);
	snprintf(name, sizeof(name), "%s_label", sensor);
	tree_write_text(t, dir, name, "%s\n", label);
}

/* amdgpu's hwmon (hwmon_attributes_visible() in Linux amdgpu_pm.c), with the values of AMDGPU_INFO_SENSOR; a card without fans.
 * The class directory of hwmon stays the host's. */
static void write_hwmon(struct tree *t, const char *device, unsigned i, const struct vgpu_chip *chip)
{
	static const char *const caps[] = {"power1_cap", "power1_cap_max", "power1_cap_default"};
	bool apu = vgpu_chip_is_apu(chip), mi300 = chip->gfx == VGPU_GFX942;
	char dir[192], slot[32];

	snprintf(dir, sizeof(dir), "%s/hwmon/hwmon%u", device, i);
	tree_make_dirs(t, "%s", dir);
	snprintf(slot, sizeof(slot), "../../../0000:%02x:00.0", TREE_PCI_BUS(i));
	tree_make_link(t, slot, "%s/device", dir);
	tree_write_text(t, dir, "name", "amdgpu\n");
	write_sensor(t, dir, "freq1", "sclk", 1000ull * chip->engine_khz);
	if (!mi300) {
		write_sensor(t, dir, "temp1", "edge", 35000);
		write_sensor(t, dir, "in0", "vddgfx", 800);
	}
	if (!apu) {
		write_sensor(t, dir, "temp2", "junction", 35000);
		write_sensor(t, dir, "temp3", "mem", 35000);
		write_sensor(t, dir, "freq2", "mclk", 1000ull * chip->memory_khz);
	} else {
		write_sensor(t, dir, "in1", "vddnb", 750);
	}
	if (!apu || chip->gc_version[0] > 9 || chip->gc_version[1] >= 3)
		tree_write_text(t, dir, "power1_average", "40000000\n");
	for (unsigned n = 0; n < 3 && !apu; n++)
		tree_write_text(t, dir, caps[n], "250000000\n"); /* made up */
	if (!apu)
		tree_write_text(t, dir, "power1_cap_min", "0\n");
}

static void write_attributes(struct tree *t, const char *dir, unsigned i, const struct vgpu_chip *chip,
			     const struct kern_device_config *config)
{
	uint32_t class = vgpu_chip_pci_class(chip);

	tree_write_text(t, dir, "vendor", "0x1002\n");
	tree_write_text(t, dir, "device", "0x%04x\n", chip->device_id);
	tree_write_text(t, dir, "subsystem_vendor", "0x1002\n");
	tree_write_text(t, dir, "subsystem_device", "0x0c34\n");
	tree_write_text(t, dir, "revision", "0x%02x\n", chip->pci_rev);
	tree_write_text(t, dir, "class", "0x%06x\n", class);
	tree_write_text(t, dir, "numa_node", "%d\n", config->numa_node);
	write_cpulist(t, dir, config->numa_node);
	write_link(t, dir, chip);
	tree_write_text(t, dir, "unique_id", "%016llx\n", tree_unique_id(i));
	tree_write_text(t, dir, "vbios_version", "113-TUFF-000\n"); /* INFO's, kernel/drm/info.c */
	tree_write_text(
		t, dir, "uevent",
		"DRIVER=amdgpu\nPCI_CLASS=%04X\nPCI_ID=1002:%04X\nPCI_SUBSYS_ID=1002:0C34\n"
		"PCI_SLOT_NAME=0000:%02x:00.0\nMODALIAS=pci:v00001002d%08Xsv00001002sd00000C34bc%02Xsc%02Xi%02X\n",
		class, chip->device_id, TREE_PCI_BUS(i), chip->device_id, class >> 16, class >> 8 & 0xff,
		class & 0xff);
	tree_write_text(t, dir, "modalias", "pci:v00001002d%08Xsv00001002sd00000C34bc%02Xsc%02Xi%02X\n",
			chip->device_id, class >> 16, class >> 8 & 0xff, class & 0xff);
	write_remove(t, dir);
	write_reset_masks(t, dir, config);
	write_power(t, dir, chip);
	write_hwmon(t, dir, i, chip);
	write_config(t, dir, chip);
}

static void make_minor(struct tree *t, const char *dir, const char *name, unsigned minor)
{
	char sub[300];

	snprintf(sub, sizeof(sub), "%s/drm/%s", dir, name);
	tree_make_dirs(t, "%s", sub);
	tree_write_text(t, sub, "dev", "226:%u\n", minor);
	tree_write_text(t, sub, "uevent", "MAJOR=226\nMINOR=%u\nDEVNAME=dri/%s\nDEVTYPE=drm_minor\n", minor, name);
}

/* amdgpu_gfx.c and amdgpu_gmc.c of Linux: one range of memory (NPS1), which allows all four. */
static void write_partition(struct tree *t, const char *dir, const struct kern_device_config *config)
{
	static const char *const modes[] = {[1] = "SPX", [2] = "DPX", [4] = "QPX", [8] = "CPX"};

	if (!config->partitions)
		return;
	tree_write_text(t, dir, "current_compute_partition", "%s\n", modes[config->partitions]);
	tree_write_text(t, dir, "available_compute_partition", "SPX, DPX, QPX, CPX\n");
	tree_write_text(t, dir, "current_memory_partition", "NPS1\n");
}

/* Card and render node below a device's directory, which is `up` from sys. */
static void make_nodes(struct tree *t, const char *dir, const char *up, const char *bus, const char *device,
		       unsigned node)
{
	for (unsigned primary = 0; primary < 2; primary++) {
		unsigned minor = primary ? node : 128 + node;
		char name[16], to[192];

		snprintf(name, sizeof(name), primary ? "card%u" : "renderD%u", minor);
		make_minor(t, dir, name, minor);
		snprintf(to, sizeof(to), "../../../%s", device);
		tree_make_link(t, to, "%s/drm/%s/device", dir, name);
		snprintf(to, sizeof(to), "../../%s/class/drm", up);
		tree_make_link(t, to, "%s/drm/%s/subsystem", dir, name);
		snprintf(to, sizeof(to), "../../%s/drm/%s", dir + 4, name);
		tree_make_link(t, to, "sys/dev/char/226:%u", minor);
		tree_make_link(t, to, "sys/class/drm/%s", name);
		tree_write_text(t, "dev/dri", name, "%s of the virtual GPU\n", name);
		snprintf(to, sizeof(to), "../%s", name);
		tree_make_link(t, to, "dev/dri/by-path/%s-%s-%s", bus, device, primary ? "card" : "render");
	}
}

/* Makes the platform device of a later partition, which has no driver (Linux amdgpu_xcp_drv.c), and its nodes.
 * Such devices are numbered over all cards. */
static void make_partition(struct tree *t, unsigned number, unsigned node)
{
	char name[32], dir[64], to[96];

	snprintf(name, sizeof(name), "amdgpu_xcp_%u", number);
	snprintf(dir, sizeof(dir), "sys/devices/platform/%s", name);
	tree_make_dirs(t, "%s/drm", dir);
	tree_write_text(t, dir, "uevent", "MODALIAS=platform:%s\n", name);
	tree_write_text(t, dir, "modalias", "platform:%s\n", name);
	tree_make_link(t, "../../../bus/platform", "%s/subsystem", dir);
	make_nodes(t, dir, "../../..", "platform", name, node);
	snprintf(to, sizeof(to), "../../../devices/platform/%s", name);
	tree_make_link(t, to, "sys/bus/platform/devices/%s", name);
}

static void make_device(struct tree *t, unsigned i, unsigned node, const struct kern_device_config *config)
{
	const struct vgpu_chip *chip = vgpu_chip_find(config->chip);
	char slot[16], dir[128];

	snprintf(slot, sizeof(slot), "0000:%02x:00.0", TREE_PCI_BUS(i));
	device_dir(i, dir, sizeof(dir));
	tree_make_dirs(t, "%s/drm", dir);
	write_attributes(t, dir, i, chip, config);
	write_memory(t, dir, chip, config);
	write_partition(t, dir, config);
	tree_make_link(t, "../../../../bus/pci", "%s/subsystem", dir);
	tree_make_link(t, "../../../../bus/pci/drivers/amdgpu", "%s/driver", dir);
	make_nodes(t, dir, "../../../..", "pci", slot, node);
	snprintf(dir, sizeof(dir), "../../../devices/pci0000:00/0000:00:%02x.0/%s", i + 1, slot);
	tree_make_link(t, dir, "sys/bus/pci/devices/%s", slot);
	snprintf(dir, sizeof(dir), "../../../../devices/pci0000:00/0000:00:%02x.0/%s", i + 1, slot);
	tree_make_link(t, dir, "sys/bus/pci/drivers/amdgpu/%s", slot);
}

/* --- xGMI hives --- */

/* A hive (amdgpu_xgmi.c) is a directory at its first device, to which the others link, with a link to each of them.
 * All devices are one hop from one another. */
static unsigned hive_size(const struct shim_config *config, uint64_t hive)
{
	unsigned count = 0;

	for (unsigned i = 0; i < config->count; i++)
		count += config->device[i].hive == hive;
	return count;
}

/* "00 01 01": a number for each node, 0 for itself. */
static void write_distances(struct tree *t, const char *dir, const char *name, unsigned nodes, unsigned self,
			    unsigned value)
{
	char text[SHIM_DEVICES * 3 + 2] = "";

	for (unsigned n = 0; n < nodes; n++)
		snprintf(text + 3 * n, sizeof(text) - 3 * n, "%02x ", n == self ? 0 : value);
	tree_write_text(t, dir, name, "%s\n", text);
}

static void join_hive(struct tree *t, const struct shim_config *config, unsigned i)
{
	uint64_t hive = config->device[i].hive;
	unsigned first = 0, number = 0, nodes = hive_size(config, hive);
	char dir[128], owner[128], to[160];

	while (config->device[first].hive != hive)
		first++;
	for (unsigned k = 0; k < i; k++)
		number += config->device[k].hive == hive;
	device_dir(i, dir, sizeof(dir));
	device_dir(first, owner, sizeof(owner));
	tree_write_text(t, dir, "xgmi_device_id", "%llu\n", tree_unique_id(i));
	tree_write_text(t, dir, "xgmi_physical_id", "%u\n", number);
	tree_write_text(t, dir, "xgmi_error", "0\n");
	write_distances(t, dir, "xgmi_num_hops", nodes, number, 1);
	write_distances(t, dir, "xgmi_num_links", nodes, number, 2);
	if (i == first) {
		tree_make_dirs(t, "%s/xgmi_hive_info", dir);
		tree_write_text(t, dir, "xgmi_hive_info/xgmi_hive_id", "%llu\n", (unsigned long long)hive);
	} else {
		snprintf(to, sizeof(to), "../../%s/xgmi_hive_info", owner + strlen("sys/devices/pci0000:00/"));
		tree_make_link(t, to, "%s/xgmi_hive_info", dir);
	}
	/* From .../0000:00:01.0/0000:03:00.0/xgmi_hive_info up to the root bridge. */
	snprintf(to, sizeof(to), "../../../%s", dir + strlen("sys/devices/pci0000:00/"));
	tree_make_link(t, to, "%s/xgmi_hive_info/node%u", owner, number + 1);
}

int shim_tree_build(const char *root, const struct shim_config *config)
{
	struct tree t = {.root = root};
	unsigned node = 0, partition = 0;

	tree_make_dirs(&t, "procs");
	tree_make_dirs(&t, "dev/dri/by-path");
	tree_make_dirs(&t, "sys/dev/char");
	tree_make_dirs(&t, "sys/class/drm");
	tree_make_dirs(&t, "sys/bus/pci/devices");
	tree_make_dirs(&t, "sys/bus/pci/drivers/amdgpu");
	tree_make_dirs(&t, "sys/bus/platform/devices");
	tree_make_dirs(&t, "sys/module/amdgpu");
	tree_make_link(&t, "../../../../module/amdgpu", "sys/bus/pci/drivers/amdgpu/module");
	tree_write_text(&t, "sys/module/amdgpu", "initstate", "live\n");
	tree_write_file(&t, ".", "config", config, sizeof(*config));
	tree_write_text(&t, "sys/class/drm", "version", "drm 1.1.0 20060810\n");
	for (unsigned i = 0; i < config->count; i++) {
		make_device(&t, i, node++, &config->device[i]);
		for (unsigned n = 1; n < kern_config_nodes(&config->device[i]); n++)
			make_partition(&t, partition++, node++);
	}
	for (unsigned i = 0; i < config->count; i++)
		if (config->device[i].hive)
			join_hive(&t, config, i);
	return t.error;
}

bool shim_tree_device(const char *path, unsigned *device)
{
	char dir[128];

	for (*device = 0; *device < kern_device_count(); ++*device) {
		device_dir(*device, dir, sizeof(dir));
		if (path[0] == '/' && !strcmp(path + 1, dir))
			return true;
	}
	return false;
}

/* Replaces a file atomically. */
static void replace_text(const char *dir, const char *name, uint64_t value)
{
	struct tree t = {.root = shim_root()};
	char from[PATH_MAX], to[PATH_MAX], tmp[64];

	snprintf(tmp, sizeof(tmp), ".%s.%ld", name, sys_call6(SYS_gettid, 0, 0, 0, 0, 0, 0));
	tree_write_text(&t, dir, tmp, "%llu\n", (unsigned long long)value);
	if (snprintf(from, sizeof(from), "%s/%s/%s", t.root, dir, tmp) < PATH_MAX &&
	    snprintf(to, sizeof(to), "%s/%s/%s", t.root, dir, name) < PATH_MAX)
		sys_call6(SYS_rename, (long)from, (long)to, 0, 0, 0, 0);
}

void shim_tree_refresh(void)
{
	for (unsigned i = 0; i < kern_device_count(); i++) {
		struct kern_usage usage;
		char dir[128];

		kern_usage(i, &usage);
		device_dir(i, dir, sizeof(dir));
		replace_text(dir, "mem_info_vram_used", usage.vram_B);
		replace_text(dir, "mem_info_vis_vram_used", usage.visible_B);
		replace_text(dir, "mem_info_gtt_used", usage.gtt_B);
		replace_text(dir, "mem_info_gtt_total", usage.gtt_total_B);
	}
}

/* As getdents64() has them. */
struct entry {
	uint64_t inode, next;
	uint16_t size_B;
	uint8_t type;
	char name[];
};

static bool folder_empty(int folder);

/* True: it is gone. */
static bool entry_remove(int folder, const char *name)
{
	long r = sys_call6(SYS_unlinkat, folder, (long)name, 0, 0, 0, 0), below;

	if (r != -EISDIR)
		return !r;
	below = sys_call6(SYS_openat, folder, (long)name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, 0, 0);
	if (below < 0)
		return false;
	while (folder_empty((int)below))
		;
	sys_close((int)below);
	return !sys_call6(SYS_unlinkat, folder, (long)name, AT_REMOVEDIR, 0, 0, 0);
}

/* Removes the entries of a folder: true if there were some. What cannot be removed stays. */
static bool folder_empty(int folder)
{
	_Alignas(struct entry) char list[512];
	bool removed = false;
	long size_B;

	sys_call6(SYS_lseek, folder, 0, SEEK_SET, 0, 0, 0);
	while ((size_B = sys_call6(SYS_getdents64, folder, (long)list, sizeof(list), 0, 0, 0)) > 0)
		for (char *at = list; at < list + size_B;) {
			const struct entry *e = (const struct entry *)(void *)at;

			removed |= strcmp(e->name, ".") && strcmp(e->name, "..") && entry_remove(folder, e->name);
			at += e->size_B;
		}
	return removed;
}

void shim_tree_remove(const char *root)
{
	entry_remove(AT_FDCWD, root);
}
