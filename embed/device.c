#include "drv/lock.h"
#include "drv/process.h"
#include "drv/topology.h"
#include "embed/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Guards the list of devices; outermost of embed/. A child of fork may open devices, so it must not inherit the lock from
 * a thread that it does not have. */
static struct drv_mutex devices_lock = DRV_MUTEX(DRV_RANK_EMBED_DEVICES);

DRV_FORK_TAKES(devices_lock, DRV_FORK_DEVICES)

/* The open devices. Their address spaces share one allocator of high addresses, of which a process has one. */
static struct {
	struct embed_device *first;
	unsigned generation; /* drv_generation() of the process that the list belongs to */
} devices;

static struct tuff_gpu gpu_of(const struct drv_node *node)
{
	struct tuff_gpu gpu;

	_Static_assert(sizeof(gpu.path) == sizeof(node->path) && sizeof(gpu.pci) == sizeof(node->pci),
		       "strings of the same length");
	memcpy(gpu.path, node->path, sizeof(gpu.path));
	memcpy(gpu.pci, node->pci, sizeof(gpu.pci));
	return gpu;
}

int tuff_scan_sized(struct tuff_gpu *gpus, size_t gpu_B, size_t max, size_t *count)
{
	struct drv_node nodes[DRV_NODES_MAX];
	size_t found;
	int r;

	if (!count || (max && (!gpus || !gpu_B)))
		return drv_fail(-EINVAL, "no place for what is found");
	r = drv_scan(nodes, DRV_NODES_MAX, &found);
	if (r)
		return r;
	*count = found < max ? found : max;
	for (size_t i = 0; i < *count; i++) {
		struct tuff_gpu gpu = gpu_of(&nodes[i]);

		embed_struct_give((char *)gpus + i * gpu_B, gpu_B, &gpu, sizeof(gpu));
	}
	return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int open_first(struct drv_device **drv)
{
	struct drv_node nodes[DRV_NODES_MAX];
	size_t count;
	int r = drv_scan(nodes, DRV_NODES_MAX, &count);

	if (r)
		return r;
	for (size_t i = 0; i < count; i++) {
		r = drv_device_open(&nodes[i], drv);
		if (!r)
			break;
	}
	return r;
}

static int open_path(const char *path, struct drv_device **drv)
{
	struct drv_node nodes[DRV_NODES_MAX], wanted = {0};
	size_t count;
	int r;

	if (strlen(path) >= sizeof(wanted.path))
		return drv_fail(-ENODEV, "no render node has so long a path");
	snprintf(wanted.path, sizeof(wanted.path), "%s", path);
	/* The scan gives the PCI address; a node that the scan does not find may be opened all the same. */
	if (!drv_scan(nodes, DRV_NODES_MAX, &count))
		for (size_t i = 0; i < count; i++)
			if (!strcmp(nodes[i].path, path))
				wanted = nodes[i];
	r = drv_device_open(&wanted, drv);
	return r == -ENOENT || r == -ENXIO ? -ENODEV : r;
}

static int init(struct embed_device *device, const char *path)
{
	struct drv_place place;
	int r = path ? open_path(path, &device->drv) : open_first(&device->drv);

	if (r)
		return r;
	r = devices.first ? vm_create_shared(devices.first->vm, device->drv, &device->vm)
			  : vm_create(device->drv, &device->vm);
	if (r)
		goto fail_vm;
	r = sdma_copier_create(device->vm, &device->copier);
	if (r)
		goto fail_copier;
	device->base.device = device;
	drv_place_read(DRV_SYSFS, &device->drv->node, &place);
	device->numa_node = place.numa_node;
	r = embed_publish(EMBED_DEVICE, &device->base);
	if (r)
		goto fail_publish;
	drv_mutex_init(&device->lock, DRV_RANK_EMBED_DEVICE);
	return 0;

fail_publish:
	sdma_copier_destroy(device->copier);
fail_copier:
	vm_destroy(device->vm);
fail_vm:
	drv_device_close(device->drv);
	return r;
}

/* Locks the list. A child of fork starts with an empty one: the parent's devices stay the parent's. */
static void lock_devices(void)
{
	drv_mutex_lock(&devices_lock);
	if (devices.generation != drv_generation()) {
		devices.first = NULL;
		devices.generation = drv_generation();
	}
}

int tuff_device_open(const char *path, struct tuff_device **out)
{
	struct embed_device *device;
	int r;

	if (!out)
		return drv_fail(-EINVAL, "no place for the device");
	device = calloc(1, sizeof(*device));
	if (!device)
		return drv_fail(-ENOMEM, "no host memory for a device");
	lock_devices();
	r = init(device, path);
	if (!r) {
		device->next = devices.first;
		devices.first = device;
		*out = device->base.handle;
	}
	drv_mutex_unlock(&devices_lock);
	if (r)
		free(device);
	return r;
}

static int check_children(const struct embed_device *device)
{
	const _Atomic unsigned *n = device->alive;

	if (n[EMBED_MEM] | n[EMBED_RANGE] | n[EMBED_CODE] | n[EMBED_QUEUE] | n[EMBED_SYNC])
		return drv_fail(-EBUSY, "%u mems, %u ranges, %u codes, %u queues, %u syncs of the device are alive",
				n[EMBED_MEM], n[EMBED_RANGE], n[EMBED_CODE], n[EMBED_QUEUE], n[EMBED_SYNC]);
	return 0;
}

static void leave_list(struct embed_device *device)
{
	for (struct embed_device **at = &devices.first; *at; at = &(*at)->next)
		if (*at == device) {
			*at = device->next;
			break;
		}
}

int tuff_device_close(struct tuff_device *handle)
{
	struct embed_device *device;
	int r = handle ? embed_get(EMBED_DEVICE, handle, &device) : 0;

	r = r || !handle ? r : check_children(device);
	if (r || !handle)
		return r;
	lock_devices();
	leave_list(device);
	embed_retire(EMBED_DEVICE, &device->base);
	embed_copies_fini(device);
	if (device->has_clock)
		drv_clock_fini(&device->clock);
	sdma_copier_destroy(device->copier);
	vm_destroy(device->vm);
	drv_device_close(device->drv);
	drv_mutex_destroy(&device->lock);
	drv_mutex_unlock(&devices_lock);
	free(device);
	return 0;
}

/* --- facts ------------------------------------------------------------------------------------ */

int tuff_device_query_sized(struct tuff_device *handle, struct tuff_device_info *info, size_t info_B)
{
	struct tuff_device_info own;
	const struct drv_facts *f;
	struct tuff_gpu gpu;
	struct embed_device *device;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	if (r)
		return r;
	if (!info || !info_B)
		return drv_fail(-EINVAL, "no place for the facts");
	f = &device->drv->facts;
	own = (struct tuff_device_info){
		.name = device->drv->name,
		.target = device->drv->chip->target,
		.can_submit = device->drv->can[DRV_CAN_SUBMIT].yes,
		.can_share_uncached_vram = device->drv->can[DRV_CAN_FINE_VRAM].yes,
		.integrated = f->apu,
		.drm_minor = device->drv->drm_minor,
		.numa_node = device->numa_node,
		.compute_units = f->cus,
		.wave_lanes = device->drv->chip->wave_lanes,
		.max_group_threads = device->drv->chip->max_group_threads,
		.lds_B = device->drv->chip->lds_B,
		.engine_clock_kHz = f->engine_clock_kHz,
		.memory_clock_kHz = f->memory_clock_kHz,
		.memory_bus_bits = f->vram_bits,
		.counter_kHz = f->counter_kHz,
		.l2_B = f->cache[DRV_CACHE_L2].size_B,
		.vram_B = f->vram.usable_B,
		.visible_vram_B = f->visible_vram.usable_B,
		.gtt_B = f->gtt.usable_B,
		.compute_rings = __builtin_popcount(f->ip[DRV_IP_COMPUTE].rings),
		.copy_rings = __builtin_popcount(f->ip[DRV_IP_DMA].rings),
	};
	gpu = gpu_of(&device->drv->node);
	memcpy(own.path, gpu.path, sizeof(own.path));
	memcpy(own.pci, gpu.pci, sizeof(own.pci));
	embed_struct_give(info, info_B, &own, sizeof(own));
	return 0;
}

int tuff_device_usage_sized(struct tuff_device *handle, struct tuff_usage *usage, size_t usage_B)
{
	struct tuff_usage own;
	struct embed_device *device;
	struct drv_usage found;
	uint64_t ioctls;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	if (!r && (!usage || !usage_B))
		r = drv_fail(-EINVAL, "no place for the usage");
	if (r)
		return r;
	ioctls = *device->drv->ioctls;
	r = drv_usage_memory(device->drv, &found);
	if (r)
		return r;
	own = (struct tuff_usage){
		.vram_B = found.vram_B,
		.visible_vram_B = found.visible_vram_B,
		.gtt_B = found.gtt_B,
		.evictions = found.evictions,
		.moved_B = found.moved_B,
		.ioctls = ioctls,
	};
	embed_struct_give(usage, usage_B, &own, sizeof(own));
	return 0;
}

static int refresh_clock(struct embed_device *device)
{
	int r;

	drv_mutex_lock(&device->lock);
	r = device->has_clock ? drv_clock_refresh(&device->clock) : drv_clock_init(&device->clock, device->drv);
	device->has_clock |= !r;
	drv_mutex_unlock(&device->lock);
	return r;
}

int tuff_device_time(struct tuff_device *handle, uint64_t ticks, uint64_t *host_ns)
{
	struct embed_device *device;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	if (!r && !host_ns)
		r = drv_fail(-EINVAL, "no place for the time");
	r = r ? r : refresh_clock(device);
	if (!r)
		*host_ns = drv_clock_host_ns(&device->clock, ticks);
	return r;
}

int tuff_device_check_fault(struct tuff_device *handle)
{
	struct embed_device *device;
	int r = embed_get(EMBED_DEVICE, handle, &device);

	return r ? r : vm_check_fault(device->vm, NULL);
}
