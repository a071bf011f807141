/* Finding and opening devices: several of them, /sys masked as in containers, none at all, no permission,
 * unsupported chips and kernels. The text for people names a remedy. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <xf86drm.h>

#include "drv/internal.h"
#include "tests/check.h"
#include "tests/files.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

static void several_devices_are_found_in_order(void)
{
	struct drv_node nodes[DRV_NODES_MAX];
	struct drv_device *dev;
	size_t count;
	static const char *const chips[] = {"gfx906", "gfx90a", "gfx900"};

	CHECK_EQ(vgpu_start("gfx906,gfx90a,gfx900:vram=1G"), 0);
	CHECK_EQ(drv_scan(nodes, DRV_NODES_MAX, &count), 0);
	CHECK_EQ(count, 3);
	for (unsigned i = 0; i < count; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/dri/renderD%u", 128 + i);
		CHECK_STR(nodes[i].path, path);
		CHECK_EQ(strlen(nodes[i].pci), 12);
		CHECK_EQ(drv_device_open(&nodes[i], &dev), 0);
		CHECK_STR(dev->chip->target, chips[i]);
		drv_device_close(dev);
	}
	CHECK_EQ(drv_scan(nodes, 2, &count), 0);
	CHECK_EQ(count, 2);
	vgpu_stop();
}

static void nothing_there_is_said(void)
{
	struct drv_node nodes[1];
	size_t count;

	if (!access("/dev/dri", F_OK))
		return; /* this machine has one */
	CHECK_EQ(drv_scan(nodes, 1, &count), -ENODEV);
	CHECK(strstr(drv_error_last()->text, "no /dev/dri"));
	CHECK(strstr(drv_error_last()->text, "tuff run --gpu"));
}

static void strange_nodes_are_refused(void)
{
	struct drv_node node = {.path = "/dev/null"};
	struct drv_device *dev;

	CHECK_EQ(drv_device_open(&node, &dev), -ENODEV);
	CHECK(strstr(drv_error_last()->text, "/dev/null is not a DRM node"));
	snprintf(node.path, sizeof(node.path), "/dev/no-such-node");
	CHECK_EQ(drv_device_open(&node, &dev), -ENOENT);
}

/* Root may open anything, so the check runs as somebody else. */
static void no_permission_names_the_group(void)
{
	struct drv_node node = {.path = "/tmp/tuff-no-permission"};
	struct drv_device *dev;
	int fd = open(node.path, O_CREAT | O_RDWR, 0600);

	CHECK(fd >= 0);
	close(fd);
	if (geteuid() == 0 && !seteuid(65534)) {
		CHECK_EQ(drv_device_open(&node, &dev), -EACCES);
		CHECK(strstr(drv_error_last()->text, "join group root"));
		CHECK(strstr(drv_error_last()->text, "mode 600"));
		if (seteuid(0))
			CHECK(!"root again");
	}
	unlink(node.path);
}

#define LIBDRM_STARTS  3 /* ioctls of amdgpu_device_initialize(), its two VERSION not counted */
#define OPENING_IOCTLS 17

static void failing_facts_are_errors(void)
{
	struct drv_node nodes[1];
	struct drv_device *dev;
	size_t count;

	CHECK_EQ(vgpu_start("gfx908"), 0);
	CHECK_EQ(drv_scan(nodes, 1, &count), 0);
	/* VERSION, twice; then 3 calls in which libdrm_amdgpu starts, and one for each fact. The injection counts
	 * VERSION only by its number, 0; libdrm_amdgpu's own two are left out, since 2.4.114 does not survive them.
	 */
	for (unsigned n = 1; n <= OPENING_IOCTLS - 2; n++) {
		int r;

		if (n <= 2)
			vgpu_inject_ioctl_nr(0, n, EIO);
		else
			vgpu_inject_ioctl(n - 2, EIO);
		r = drv_device_open(&nodes[0], &dev);
		vgpu_inject_ioctl_nr(0, 0, 0);
		vgpu_inject_ioctl(0, 0);
		if (!CHECK(r < 0))
			printf("  ioctl %u\n", n);
		if (!r)
			drv_device_close(dev);
	}
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
}

/* --- libdrm_amdgpu and its other users -------------------------------------------------------- */

/* The real function reads /sys; where that is masked, it gives NULL. */
static bool sys_is_masked;
__attribute__((visibility("default"))) char *drmGetPrimaryDeviceNameFromFd(int fd)
{
	char *(*real)(int) = (char *(*)(int))dlsym(RTLD_NEXT, "drmGetPrimaryDeviceNameFromFd");

	return sys_is_masked ? NULL : real(fd);
}

static bool is_radeon;
__attribute__((visibility("default"))) drmVersionPtr drmGetVersion(int fd)
{
	drmVersionPtr (*real)(int) = (drmVersionPtr(*)(int))dlsym(RTLD_NEXT, "drmGetVersion");
	drmVersionPtr version = real(fd);

	if (version && is_radeon) /* as long as "amdgpu" */
		memcpy(version->name, "radeon", strlen("radeon"));
	return version;
}

static void other_drivers_are_named(void)
{
	struct drv_node node;
	struct drv_device *dev;
	size_t count;

	CHECK_EQ(vgpu_start("gfx906"), 0);
	CHECK_EQ(drv_scan(&node, 1, &count), 0);
	is_radeon = true;
	CHECK_EQ(drv_device_open(&node, &dev), -ENODEV);
	CHECK_STR(drv_error_last()->why,
		  "/dev/dri/renderD128 is driven by radeon, not by amdgpu: its chip is older than "
		  "GFX9 (Vega), where tuff begins");
	is_radeon = false;
	vgpu_stop();
}

/* Opening leaves no libdrm_amdgpu device behind that another library would find: our own descriptor is the only new
 * one. */
static void opening_leaves_libdrm_amdgpu(void)
{
	struct drv_node node;
	struct drv_device *dev;
	unsigned before;
	size_t count;

	CHECK_EQ(vgpu_start("gfx906"), 0);
	CHECK_EQ(drv_scan(&node, 1, &count), 0);
	before = open_files();
	if (CHECK_EQ(drv_device_open(&node, &dev), 0)) {
		CHECK_EQ(open_files(), before + 1);
		drv_device_close(dev);
	}
	vgpu_stop();
}

/* Mesa, say, keeps a device in libdrm_amdgpu all the time. Ours are opened beside it, each GPU with its own facts,
 * also where libdrm_amdgpu cannot tell GPUs apart. */
static void another_library_may_have_libdrm_amdgpu(void)
{
	struct drv_firmware firmware[DRV_FIRMWARES_MAX];
	amdgpu_device_handle theirs;
	uint32_t major, minor, working = 0;
	struct drv_node nodes[2];
	struct drv_device *dev;
	size_t count;
	int fd;

	CHECK_EQ(vgpu_start("gfx906,gfx908"), 0);
	CHECK_EQ(drv_scan(nodes, 2, &count), 0);
	fd = open(nodes[0].path, O_RDWR | O_CLOEXEC);
	if (!CHECK_EQ(amdgpu_device_initialize(fd, &major, &minor, &theirs), 0))
		return;
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(drv_device_open(&nodes[i], &dev), 0);
		CHECK_STR(dev->chip->target, i ? "gfx908" : "gfx906");
		drv_device_close(dev);
	}
	sys_is_masked = true; /* libdrm_amdgpu takes the second GPU for the first */
	if (CHECK_EQ(drv_device_open(&nodes[1], &dev), 0)) {
		CHECK_STR(dev->chip->target, "gfx908");
		CHECK(drv_firmware(dev, firmware));
		drv_device_close(dev);
	}
	sys_is_masked = false;
	CHECK_EQ(amdgpu_query_info(theirs, AMDGPU_INFO_ACCEL_WORKING, sizeof(working), &working), 0);
	CHECK_EQ(working, 1);
	amdgpu_device_deinitialize(theirs);
	close(fd);
	vgpu_stop();
}

static void a_gpu_that_amdgpu_gave_up_is_named(void)
{
	struct drv_node node;
	struct drv_device *dev;
	size_t count;

	CHECK_EQ(vgpu_start("gfx906"), 0);
	CHECK_EQ(drv_scan(&node, 1, &count), 0);
	vgpu_inject_ioctl(1, EBADF); /* as libdrm_amdgpu answers when ACCEL_WORKING is 0 */
	CHECK_EQ(drv_device_open(&node, &dev), -EIO);
	CHECK(strstr(drv_error_last()->text, "does not work"));
	vgpu_inject_ioctl(0, 0);
	vgpu_stop();
}

static atomic_bool enough;

static void *open_for_ever(void *node)
{
	struct drv_device *dev;

	while (!enough)
		if (CHECK_EQ(drv_device_open(node, &dev), 0))
			drv_device_close(dev);
	return NULL;
}

/* A child that is made while another thread opens a device finds no lock taken. */
static void forks_wait_for_libdrm_amdgpu(void)
{
	struct drv_node node;
	pthread_t thread;
	size_t count;

	CHECK_EQ(vgpu_start("gfx906"), 0);
	CHECK_EQ(drv_scan(&node, 1, &count), 0);
	CHECK_EQ(pthread_create(&thread, NULL, open_for_ever, &node), 0);
	for (unsigned i = 0; i < 40; i++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid) {
			amdgpu_device_handle lib;
			uint32_t major, minor;

			alarm(20);
			dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
			/* takes libdrm's lock first, then refuses the descriptor */
			_exit(amdgpu_device_initialize(-1, &major, &minor, &lib) ? 0 : 1);
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	}
	enough = true;
	pthread_join(thread, NULL);
	vgpu_stop();
}

/* Opening costs what drv/README.md says. */
static void opening_is_cheap(struct drv_node *node)
{
	unsigned long before = vgpu_ioctl_count();
	struct drv_device *dev;

	CHECK_EQ(drv_device_open(node, &dev), 0);
	CHECK_EQ(vgpu_ioctl_count() - before, OPENING_IOCTLS);
	drv_device_close(dev);
}

/* The table's sizes, which stand in where the kernel tells none, against what the virtual GPU tells. Linux tells no
 * L1 and L2 of GFX9. */
static void check_caches(const struct drv_device *dev)
{
	struct drv_device copy = *dev;

	CHECK_EQ(dev->facts.cache[DRV_CACHE_L2].origin,
		 dev->chip->pm4 == DRV_PM4_GFX9 ? DRV_CACHE_TABLE : DRV_CACHE_KERNEL);
	CHECK(dev->facts.cache[DRV_CACHE_L1].size_B && dev->facts.cache[DRV_CACHE_L2].size_B);
	for (unsigned i = 0; i < DRV_CACHES; i++)
		copy.facts.cache[i] = (struct drv_cache){0};
	drv_read_caches(&copy);
	for (unsigned i = 0; i < DRV_CACHES; i++)
		if (dev->chip->caches.l2_KiB && !CHECK_EQ(copy.facts.cache[i].size_B, dev->facts.cache[i].size_B))
			printf("  %s of %s\n", drv_cache_name(i), dev->chip->target);
}

/* Both kinds of ring can be made on every chip. */
static void check_rings(struct drv_device *dev)
{
	struct cs_ctx *ctx;
	struct cs_ring *ring;
	struct vm *vm;

	CHECK(dev->can[DRV_CAN_COPY].yes && dev->can[DRV_CAN_SUBMIT].yes);
	if (!CHECK_EQ(vm_create(dev, &vm), 0))
		return;
	if (CHECK_EQ(cs_ctx_create(vm, CS_PRIORITY_NORMAL, &ctx), 0)) {
		for (unsigned ip = DRV_IP_COMPUTE; ip <= DRV_IP_DMA; ip++)
			if (CHECK_EQ(cs_ring_create(ctx, ip, 0, cs_pm4_print, &ring), 0))
				cs_ring_destroy(ring);
		cs_ctx_destroy(ctx);
	}
	vm_destroy(vm);
}

static void every_chip_opens_and_has_rings(void)
{
	struct drv_node node;
	struct drv_device *dev;
	size_t count;

	for (unsigned i = 0; drv_chip_at(i); i++) {
		const char *target = drv_chip_at(i)->target;

		if (!strcmp(target, "gfx904"))
			continue; /* there is no virtual one */
		if (!CHECK_EQ(vgpu_start(target), 0) || !CHECK_EQ(drv_scan(&node, 1, &count), 0) ||
		    !CHECK_EQ(drv_device_open(&node, &dev), 0))
			continue;
		CHECK_STR(dev->chip->target, target);
		CHECK_EQ(dev->facts.wave_lanes, dev->chip->wave_lanes);
		CHECK_EQ(!dev->facts.ip[DRV_IP_GFX].rings, dev->chip->compute_only);
		check_caches(dev);
		check_rings(dev);
		drv_device_close(dev);
		opening_is_cheap(&node);
		vgpu_stop();
	}
}

/* The same card under three kernels: what each tells, what can be done there, and what opening costs. */
static void abilities_follow_the_kernel(void)
{
	static const struct {
		const char *spec;
		unsigned minor, ioctls;
		bool fine_vram, fault, va_timeline, told_clocks;
	} rows[] = {
		{"gfx90a:kernel=6.1", 49, OPENING_IOCTLS, false, false, false, false},
		{"gfx90a:kernel=6.12", 61, OPENING_IOCTLS, false, true, false, true},
		{"gfx90a:kernel=6.18", 64, OPENING_IOCTLS + 2, true, true, true, true},
		{"gfx906:kernel=6.18", 64, OPENING_IOCTLS, true, true, true,
		 true}, /* a mapping does: nothing to try */
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct drv_node node;
		struct drv_device *dev;
		unsigned long before;
		size_t count;

		CHECK_EQ(vgpu_start(rows[i].spec), 0);
		CHECK_EQ(drv_scan(&node, 1, &count), 0);
		before = vgpu_ioctl_count();
		if (!CHECK_EQ(drv_device_open(&node, &dev), 0))
			continue;
		CHECK_EQ(vgpu_ioctl_count() - before, rows[i].ioctls);
		CHECK_EQ(dev->drm_minor, rows[i].minor);
		CHECK_EQ(dev->can[DRV_CAN_FINE_VRAM].yes, rows[i].fine_vram);
		CHECK_EQ(dev->can[DRV_CAN_QUERY_FAULT].yes, rows[i].fault);
		CHECK_EQ(dev->can[DRV_CAN_VA_TIMELINE].yes, rows[i].va_timeline);
		CHECK_EQ(!!dev->facts.engine_min_kHz, rows[i].told_clocks);
		CHECK_EQ(!!dev->facts.pcie_gen, rows[i].told_clocks);
		drv_device_close(dev);
		CHECK_EQ(vgpu_live_objects(), 0);
		vgpu_stop();
	}
}

static void a_kernel_that_is_too_old_is_said_to_be(void)
{
	struct drv_node node;
	struct drv_device *dev;
	size_t count;

	CHECK_EQ(vgpu_start("gfx906:kernel=5.10"), 0);
	CHECK_EQ(drv_scan(&node, 1, &count), 0);
	CHECK_EQ(drv_device_open(&node, &dev), -ENOTSUP);
	CHECK(strstr(drv_error_last()->text, "tuff needs 3.49 (Linux 6.1)"));
	vgpu_stop();
}

/* Four cards: two in a hive, one with a small BAR, one APU. */
static void four_devices_know_their_places(void)
{
	static struct drv_host host;
	struct drv_node nodes[4];
	struct drv_place place[4];
	struct drv_link link;
	size_t count;

	CHECK_EQ(vgpu_start("gfx908:hive=42:numa=0,gfx908:hive=42,gfx900,gfx90c"), 0);
	CHECK_EQ(drv_scan(nodes, 4, &count), 0);
	CHECK_EQ(count, 4);
	drv_host_read(&host);
	for (unsigned i = 0; i < count; i++) {
		CHECK_EQ(nodes[i].index, i);
		drv_place_read(DRV_SYSFS, &nodes[i], &place[i]);
		CHECK(place[i].pcie.known && place[i].pcie.speed_MTps >= 8000 && place[i].pcie.lanes_max >= 8);
		CHECK_EQ(strlen(place[i].unique_id), 16);
		for (unsigned k = 0; k < i; k++)
			CHECK(strcmp(place[i].unique_id, place[k].unique_id));
	}
	CHECK_STR(place[0].numa_source, "/sys numa_node");
	CHECK_EQ(place[0].hive.id, 42);
	CHECK_EQ(place[1].hive.id, 42);
	CHECK_STR(place[0].hive.peer[0].pci, nodes[1].pci);
	CHECK_STR(place[1].hive.peer[0].pci, nodes[0].pci);
	link = drv_link_devices(&host, &place[1], &place[0]);
	CHECK(link.type == DRV_LINK_XGMI && link.hops == 1 && link.weight == 15);
	link = drv_link_devices(&host, &place[0], &place[2]);
	CHECK(link.type == DRV_LINK_PCIE && link.hops == 2 && link.weight == 40 && link.bandwidth_MBps);
	vgpu_stop();
}

static void usage_is_live(void)
{
	struct drv_usage before, after;
	struct vm_mem *mem;
	struct stack s;

	CHECK_EQ(vgpu_start("gfx906"), 0);
	if (!CHECK_EQ(stack_open(&s), 0))
		return;
	CHECK_EQ(drv_usage(s.dev, &before), 0);
	mem = stack_vram(&s, 64 << 20);
	CHECK(mem);
	CHECK_EQ(drv_usage(s.dev, &after), 0);
	CHECK(after.vram_B >= before.vram_B + (64 << 20));
	CHECK(after.sensor[DRV_SENSOR_ENGINE_MHZ].known && after.sensor[DRV_SENSOR_ENGINE_MHZ].value <= 1725);
	vm_mem_destroy(mem);
	CHECK_EQ(drv_usage_memory(s.dev, &after), 0);
	CHECK_EQ(after.vram_B, before.vram_B);
	vgpu_inject_ioctl(2, EIO);
	CHECK_EQ(drv_usage(s.dev, &after), -EIO);
	/* a kernel without power management: no sensors, and no error */
	vgpu_inject_ioctl(6 + LIBDRM_STARTS + 1, ENOENT);
	CHECK_EQ(drv_usage(s.dev, &after), 0);
	CHECK(!after.sensor[0].known && after.sensor[1].known);
	vgpu_inject_ioctl(0, 0);
	stack_close(&s);
	vgpu_stop();
}

static void what_cannot_be_used_can_be_looked_at(void)
{
	struct drv_node node = {.path = "/dev/null"};
	struct drv_device *dev;
	size_t count;

	CHECK_EQ(drv_device_examine(&node, &dev), 0);
	CHECK_EQ(dev->refusal, -ENODEV);
	CHECK(strstr(dev->refusal_text, "not a DRM node"));
	CHECK(!dev->chip && !dev->facts.cus);
	drv_device_close(dev);
	CHECK_EQ(vgpu_start("gfx1201"), 0);
	CHECK_EQ(drv_scan(&node, 1, &count), 0);
	vgpu_inject_ioctl(LIBDRM_STARTS + 2, EIO); /* DEV_INFO is there, MEMORY is not */
	CHECK_EQ(drv_device_examine(&node, &dev), 0);
	vgpu_inject_ioctl(0, 0);
	CHECK_EQ(dev->refusal, -EIO);
	CHECK(dev->facts.cus && !dev->chip);
	drv_device_close(dev);
	vgpu_stop();
}

/* A card of several XCCs: a node for each partition, and no more. */
static void partitions_are_devices(void)
{
	struct drv_node nodes[8];
	struct drv_device *dev;
	struct cs_ctx *ctx;
	struct vm *vm;
	size_t count;

	CHECK_EQ(vgpu_start("null:gfx942:partition=dpx"), 0);
	CHECK_EQ(drv_scan(nodes, 8, &count), 0);
	CHECK_EQ(count, 2);
	CHECK(nodes[0].pci[0] && !nodes[1].pci[0]);
	for (unsigned i = 0; i < count; i++) {
		if (!CHECK_EQ(drv_device_open(&nodes[i], &dev), 0))
			continue;
		CHECK_EQ(dev->facts.xccs, 4);
		CHECK_EQ(dev->facts.ring_cus, 38);
		CHECK_EQ(dev->facts.cus, 152);
		CHECK_EQ(dev->can[DRV_CAN_PRIORITIZE].yes, i == 0);
		CHECK_EQ(vm_create(dev, &vm), 0);
		CHECK_EQ(cs_ctx_create(vm, CS_PRIORITY_HIGH, &ctx), i ? -EACCES : 0);
		if (!i)
			cs_ctx_destroy(ctx);
		vm_destroy(vm);
		drv_device_close(dev);
	}
	vgpu_stop();
}

int main(void)
{
	nothing_there_is_said();
	several_devices_are_found_in_order();
	strange_nodes_are_refused();
	no_permission_names_the_group();
	failing_facts_are_errors();
	other_drivers_are_named();
	opening_leaves_libdrm_amdgpu();
	another_library_may_have_libdrm_amdgpu();
	a_gpu_that_amdgpu_gave_up_is_named();
	forks_wait_for_libdrm_amdgpu();
	every_chip_opens_and_has_rings();
	abilities_follow_the_kernel();
	a_kernel_that_is_too_old_is_said_to_be();
	four_devices_know_their_places();
	usage_is_live();
	what_cannot_be_used_can_be_looked_at();
	partitions_are_devices();
	return check_done("discovery");
}
