#include "drv/device.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <amdgpu_drm.h>
#include <xf86drm.h>

#include "drv/log.h"

static unsigned generation;

static void count_fork(void)
{
	generation++;
}

static void watch_forks(void)
{
	/* Without memory for the handler a child is not told apart; nothing else can be done about it. */
	(void)!pthread_atfork(NULL, NULL, count_fork);
}

unsigned drv_generation(void)
{
	return __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

int drv_check_process(const struct drv_device *dev)
{
	if (__builtin_expect(dev->generation == drv_generation(), 1))
		return 0;
	return drv_fail(-ENODEV, "%s was opened before this process was forked; open it anew", dev->node.path);
}

int drv_ioctl(const struct drv_device *dev, unsigned long request, void *arg)
{
	if (__builtin_expect(dev->generation != drv_generation(), 0))
		return -ENODEV;
	atomic_fetch_add_explicit(dev->ioctls, 1, memory_order_relaxed);
	return drmIoctl(dev->fd, request, arg) ? -errno : 0;
}

static int info_request(const struct drv_device *dev, struct drm_amdgpu_info *request)
{
	return drv_ioctl(dev, DRM_IOCTL_AMDGPU_INFO, request);
}

int drv_info(const struct drv_device *dev, unsigned query, void *data, uint32_t size_B)
{
	struct drm_amdgpu_info request = {.return_pointer = (uintptr_t)data, .return_size = size_B, .query = query};

	/* A kernel that knows a shorter struct leaves the tail alone. */
	memset(data, 0, size_B);
	return info_request(dev, &request);
}

int drv_timestamp(const struct drv_device *dev, uint64_t *ticks)
{
	int r = drv_info(dev, AMDGPU_INFO_TIMESTAMP, ticks, sizeof(*ticks));

	return r ? drv_fail(r, "AMDGPU_INFO TIMESTAMP on %s", dev->node.path) : 0;
}

int drv_fail_access(const char *path)
{
	struct stat st;
	struct group group, *found = NULL;
	char buffer[1024];

	if (stat(path, &st))
		return drv_fail(-EACCES, "no permission to open %s", path);
	getgrgid_r(st.st_gid, &group, buffer, sizeof(buffer), &found);
	if (found)
		return drv_fail(
			-EACCES,
			"no permission to open %s (mode %03o): join group %s (`usermod -aG %s USER`, then log in "
			"again; in a container keep the group: --group-add %u)",
			path, st.st_mode & 0777, found->gr_name, found->gr_name, st.st_gid);
	return drv_fail(-EACCES,
			"no permission to open %s (mode %03o): it belongs to group %u, which has no name here; a "
			"container needs --group-add %u, rootless --group-add keep-groups",
			path, st.st_mode & 0777, st.st_gid, st.st_gid);
}

static int open_node(struct drv_device *dev)
{
	dev->fd = open(dev->node.path, O_RDWR | O_CLOEXEC);
	if (dev->fd >= 0)
		return 0;
	if (errno == EACCES || errno == EPERM)
		return drv_fail_access(dev->node.path);
	return drv_fail(-errno, "cannot open %s", dev->node.path);
}

static int check_version(struct drv_device *dev)
{
	drmVersionPtr version = drmGetVersion(dev->fd);
	int r = 0;

	if (!version)
		return drv_fail(-ENODEV, "%s is not a DRM node", dev->node.path);
	dev->drm_minor = version->version_minor;
	if (strcmp(version->name, "amdgpu"))
		r = drv_fail(-ENODEV, "%s is driven by %s, not by amdgpu", dev->node.path, version->name);
	else if (version->version_major != 3 || version->version_minor < DRV_DRM_MINOR_MIN)
		r = drv_fail(-ENOTSUP,
			     "the kernel is too old: amdgpu DRM %d.%d, tuff needs 3.%d (Linux 6.1) or newer",
			     version->version_major, version->version_minor, DRV_DRM_MINOR_MIN);
	drmFreeVersion(version);
	return r;
}

static unsigned count_cus(uint32_t bitmap[4][4])
{
	unsigned cus = 0;

	for (unsigned i = 0; i < 16; i++)
		cus += __builtin_popcount(bitmap[i / 4][i % 4]);
	return cus;
}

static int read_device(struct drv_device *dev)
{
	struct drv_facts *f = &dev->facts;
	struct drm_amdgpu_info_device info;
	int r = drv_info(dev, AMDGPU_INFO_DEV_INFO, &info, sizeof(info));

	if (r)
		return drv_fail(r, "AMDGPU_INFO DEV_INFO on %s", dev->node.path);
	f->device_id = info.device_id;
	f->pci_rev = info.pci_rev;
	f->family = info.family;
	f->external_rev = info.external_rev;
	f->engines = info.num_shader_engines;
	f->arrays_per_engine = info.num_shader_arrays_per_engine;
	memcpy(f->cu_bitmap, info.cu_bitmap, sizeof(f->cu_bitmap));
	f->cus = info.cu_active_number ? info.cu_active_number : count_cus(f->cu_bitmap);
	f->engine_clock_kHz = info.max_engine_clock;
	f->memory_clock_kHz = info.max_memory_clock;
	f->counter_kHz = info.gpu_counter_freq;
	f->vram_type = info.vram_type;
	f->vram_bits = info.vram_bit_width;
	f->l2_banks = info.num_tcc_blocks;
	f->va_lo = info.virtual_address_offset;
	f->va_hi = info.virtual_address_max;
	f->high_va_lo = info.high_va_offset;
	f->high_va_hi = info.high_va_max;
	f->va_align_B = info.virtual_address_alignment;
	f->fragment_B = info.pte_fragment_size;
	if (!f->engines || !f->cus || !f->counter_kHz || f->va_hi <= f->va_lo)
		return drv_fail(-ENODEV, "%s reports no compute units", dev->node.path);
	return 0;
}

static int read_memory(struct drv_device *dev)
{
	struct drm_amdgpu_memory_info info;
	int r = drv_info(dev, AMDGPU_INFO_MEMORY, &info, sizeof(info));
	const struct drm_amdgpu_heap_info *from[] = {&info.vram, &info.cpu_accessible_vram, &info.gtt};
	struct drv_heap *to[] = {&dev->facts.vram, &dev->facts.visible_vram, &dev->facts.gtt};

	if (r)
		return drv_fail(r, "AMDGPU_INFO MEMORY on %s", dev->node.path);
	for (unsigned i = 0; i < 3; i++)
		*to[i] =
			(struct drv_heap){from[i]->total_heap_size, from[i]->usable_heap_size, from[i]->heap_usage};
	return 0;
}

/* DRM 3.48 put ip_discovery_version where libdrm 2.4.114's header has the struct's padding. */
#define IP_DISCOVERY_VERSION_OFFSET 28
_Static_assert(sizeof(struct drm_amdgpu_info_hw_ip) == 32, "the version is the last dword");

static int read_ips(struct drv_device *dev)
{
	for (unsigned type = 0; type < DRV_IP_COUNT; type++) {
		struct drm_amdgpu_info_hw_ip info = {0};
		struct drm_amdgpu_info request = {
			.return_pointer = (uintptr_t)&info,
			.return_size = sizeof(info),
			.query = AMDGPU_INFO_HW_IP_INFO,
			.query_hw_ip.type = type,
		};
		struct drv_ip *ip = &dev->facts.ip[type];
		int r = info_request(dev, &request);

		if (r)
			return drv_fail(r, "AMDGPU_INFO HW_IP_INFO %u on %s", type, dev->node.path);
		memcpy(&ip->version, (const char *)&info + IP_DISCOVERY_VERSION_OFFSET, sizeof(ip->version));
		ip->rings = info.available_rings;
		ip->ib_start_B = info.ib_start_alignment;
		ip->ib_size_B = info.ib_size_alignment;
	}
	return 0;
}

static int find_chip(struct drv_device *dev)
{
	const struct drv_facts *f = &dev->facts;
	/* A compute-only chip has no GFX ring, and an empty GFX block on some kernels. */
	uint32_t gc = f->ip[DRV_IP_GFX].version ? f->ip[DRV_IP_GFX].version : f->ip[DRV_IP_COMPUTE].version;

	dev->chip = drv_chip_find(gc, f->family, f->external_rev);
	if (!dev->chip)
		return drv_fail(
			-ENOTSUP,
			"%s has a chip that tuff does not know: GC %u.%u.%u, family %u, external revision 0x%x",
			dev->node.path, gc >> 16, gc >> 8 & 0xff, gc & 0xff, f->family, f->external_rev);
	if (!f->ip[DRV_IP_COMPUTE].rings)
		return drv_fail(-ENOTSUP, "%s offers no compute ring (amdgpu.num_kcq=0 or user_queue=2?)",
				dev->node.path);
	return 0;
}

/* The name that the board is sold under, from libdrm's table: lines of "device id, revision, name". libdrm_amdgpu's
 * own look-up needs its device object, and making that one crashes the process when the device goes away meanwhile.
 */
#define IDS_FILE "/usr/share/libdrm/amdgpu.ids"

static void read_name(struct drv_device *dev)
{
	FILE *file = fopen(IDS_FILE, "re");
	char line[160], name[96];
	unsigned id, rev;

	snprintf(dev->name, sizeof(dev->name), "AMD GPU");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%x, %x, %95[^\n]", &id, &rev, name) == 3 && id == dev->facts.device_id &&
		    rev == dev->facts.pci_rev) {
			snprintf(dev->name, sizeof(dev->name), "%s", name);
			break;
		}
	if (file)
		fclose(file);
}

int drv_device_open(const struct drv_node *node, struct drv_device **out)
{
	int (*const steps[])(struct drv_device *) = {open_node,   check_version, read_device,
						     read_memory, read_ips,      find_chip};
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct drv_device *dev = calloc(1, sizeof(*dev));
	int r = 0;

	if (dev)
		dev->ioctls = calloc(1, sizeof(*dev->ioctls));
	if (!dev || !dev->ioctls) {
		free(dev);
		return drv_fail(-ENOMEM, "no host memory for a device");
	}
	pthread_once(&once, watch_forks);
	dev->generation = drv_generation();
	dev->node = *node;
	dev->fd = -1;
	for (unsigned i = 0; !r && i < sizeof(steps) / sizeof(steps[0]); i++)
		r = steps[i](dev);
	if (r) {
		drv_device_close(dev);
		return r;
	}
	read_name(dev);
	drv_log(DRV_LOG_DEVICE, "%s: %s, %s, %u CUs, DRM 3.%u", dev->node.path, dev->name, dev->chip->target,
		dev->facts.cus, dev->drm_minor);
	*out = dev;
	return 0;
}

void drv_device_close(struct drv_device *dev)
{
	if (!dev)
		return;
	if (dev->fd >= 0)
		close(dev->fd);
	free(dev->ioctls);
	free(dev);
}
