/* Allocations: device memory, host memory, managed and registered memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/cancel.h"
#include "drv/lock.h"
#include "api/memory/mem_advise.h"
#include "api/memory/memory.h"
#include "api/stream/capture.h"
#include "api/stream/point.h"

struct hip_memory_hooks hip_memory_hooks;

/* Prints the allocation near an address, for reports of faults. */
static void describe_address(uint64_t address)
{
	DRV_HOLD_CANCEL;
	struct hip_memory memory;

	/* A kernel that runs over the end of an allocation faults close to it. */
	for (uint64_t below_B = 0; below_B <= 1 << 20; below_B += 4096)
		if (address >= below_B && hip_memory_find((void *)(uintptr_t)(address - below_B), &memory)) {
			fprintf(stderr, "hip:   %s an allocation of %zu bytes at %p\n",
				below_B ? "behind" : "inside", memory.size_B, (void *)memory.gpu_base);
			return;
		}
	fprintf(stderr, "hip:   no allocation is near\n");
}

static void host_waited(struct hip_device *device)
{
	void (*hook)(struct hip_device *device) =
		atomic_load_explicit(&hip_memory_hooks.host_waited, memory_order_acquire);

	hip_memory_reap();
	if (hook)
		hook(device);
}

void hip_memory_hook_waits(void (*hook)(struct hip_device *device))
{
	atomic_store_explicit(&hip_memory_hooks.host_waited, hook, memory_order_release);
	atomic_store_explicit(&hip_stream_hooks.host_waited, host_waited, memory_order_release);
}

static hipError_t memory_add(const struct hip_memory *like)
{
	atomic_store_explicit(&hip_fault_describe, describe_address, memory_order_relaxed);
	atomic_store_explicit(&hip_stream_hooks.host_waited, host_waited, memory_order_release);
	return hip_memories_add(like);
}

static void give_back(struct hip_memory *memory)
{
	if (memory->kind == HIP_MEMORY_MANAGED)
		hip_advice_forget(memory->node.lo, memory->node.hi);
	if (memory->end)
		memory->end(memory->gpu_base);
	else
		hsa_amd_memory_pool_free(memory->gpu_base);
	free(memory);
}

/* --- allocation ------------------------------------------------------------------------------- */

/* Allows all GPUs to access the memory. */
static bool allow_all(void *ptr)
{
	hsa_agent_t agents[HIP_DEVICES_MAX];

	for (unsigned i = 0; i < hip.devices; i++)
		agents[i] = hip.device[i].agent;
	return !hsa_amd_agents_allow_access(hip.devices, agents, NULL, ptr);
}

/* Serializes the lists that HSA is given, so that the last list is the latest. */
static struct drv_mutex peers_lock = DRV_MUTEX(DRV_RANK_HIP_PEERS);

/* Allows the device and its peers to access the memory. HSA replaces the list of agents by the one given. */
static bool allow_peers(const struct hip_device *device, void *ptr)
{
	hsa_agent_t agents[HIP_DEVICES_MAX] = {device->agent};
	unsigned count = 1;
	bool ok;

	drv_mutex_lock(&peers_lock);
	for (uint64_t peers = atomic_load(&device->peers); peers; peers &= peers - 1)
		agents[count++] = hip.device[__builtin_ctzll(peers)].agent;
	ok = !hsa_amd_agents_allow_access(count, agents, NULL, ptr);
	drv_mutex_unlock(&peers_lock);
	return ok;
}

struct peers_update {
	const struct hip_device *device;
	bool ok;
};

static void update_peers(const struct hip_memory *memory, void *arg)
{
	struct peers_update *u = arg;

	if (memory->kind == HIP_MEMORY_DEVICE && memory->device == u->device->index && !memory->ours)
		u->ok &= allow_peers(u->device, memory->gpu_base);
}

hipError_t hip_memory_update_peers(struct hip_device *device)
{
	struct peers_update u = {device, true};

	hip_memories_each(update_peers, &u);
	return u.ok ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t hip_pool_memory(hsa_amd_memory_pool_t pool, size_t size_B, bool everybody, void **out)
{
	hsa_status_t status = hsa_amd_memory_pool_allocate(pool, size_B, 0, out);

	if (status)
		return hipErrorOutOfMemory;
	if (everybody && !allow_all(*out)) {
		hsa_amd_memory_pool_free(*out);
		return hipErrorOutOfMemory;
	}
	return hipSuccess;
}

static void memory_reclaim(struct hip_device *device)
{
	void (*hook)(struct hip_device *device) = atomic_load(&hip_memory_hooks.reclaim);

	if (hook)
		hook(device);
}

static hipError_t allocate_as(hsa_amd_memory_pool_t pool, const struct hip_memory *like, bool everybody, void **out)
{
	struct hip_memory memory = *like;
	void *ptr;
	hipError_t r = hip_fault(&hip.device[like->device]);

	if (!r)
		r = hip_pool_memory(pool, like->size_B, everybody, &ptr);
	if (r == hipErrorOutOfMemory && like->kind == HIP_MEMORY_DEVICE) {
		hip_memory_reap();
		memory_reclaim(&hip.device[like->device]);
		r = hip_pool_memory(pool, like->size_B, everybody, &ptr);
	}
	if (r)
		return r;
	memory.gpu_base = ptr;
	memory.base = like->kind == HIP_MEMORY_DEVICE ? NULL : ptr;
	r = memory_add(&memory);
	if (r) {
		hsa_amd_memory_pool_free(ptr);
		return r;
	}
	/* After the entry is in the tree: a thread that changes the peers finds it there. */
	if (like->kind == HIP_MEMORY_DEVICE && !everybody && atomic_load(&hip.device[like->device].peers) &&
	    !allow_peers(&hip.device[like->device], ptr)) {
		give_back(hip_memories_take(ptr, 1u << like->kind, false));
		return hipErrorOutOfMemory;
	}
	*out = ptr;
	return hipSuccess;
}

static hipError_t malloc_device(void **out, size_t size_B, unsigned flags)
{
	struct hip_device *d = hip_current();
	const struct hip_memory like = {/* CPU and GPU both use signal memory. CLR treats it as host memory, so the
					 * host waits for fills of it. */
					.kind = flags == hipMallocSignalMemory ? HIP_MEMORY_HOST
									       : HIP_MEMORY_DEVICE,
					.device = d->index,
					.flags = flags,
					.size_B = size_B};
	const bool fine = flags == hipDeviceMallocFinegrained || flags == hipDeviceMallocUncached;
	hipError_t r = hip_capture_refuses(hipErrorStreamCaptureUnsupported);

	if (r)
		return r;
	if (!out || flags > hipDeviceMallocContiguous ||
	    (flags == hipMallocSignalMemory && size_B != sizeof(uint64_t)))
		return hipErrorInvalidValue;
	*out = NULL;
	if (!size_B)
		return hipSuccess;
	if (size_B > d->vram_B)
		return hipErrorOutOfMemory;
	if (flags == hipMallocSignalMemory)
		return allocate_as(hip.host_fine, &like, true, out);
	/* CLR of ROCm 6.4 gives cached memory where the device has no such pool, that of ROCm 6.2 and older refuses
	 * (Device::deviceLocalAlloc). Both libraries here refuse: who asks shares the memory while kernels run. */
	if (fine && !d->fine_vram.handle)
		return hipErrorOutOfMemory;
	return allocate_as(fine ? d->fine_vram : d->vram, &like, false, out);
}

hipError_t hip_memory_allocate(struct hip_device *d, size_t size_B, void **out)
{
	const struct hip_memory like = {.kind = HIP_MEMORY_DEVICE, .device = d->index, .size_B = size_B};

	return size_B > d->vram_B ? hipErrorOutOfMemory : allocate_as(d->vram, &like, false, out);
}

HIP_PUBLIC(hipMalloc, (void **ptr, size_t size), (ptr, size))
{
	return malloc_device(ptr, size, hipDeviceMallocDefault);
}

HIP_PUBLIC(hipExtMallocWithFlags, (void **ptr, size_t size, unsigned int flags), (ptr, size, flags))
{
	return malloc_device(ptr, size, flags);
}

#define PITCH_ALIGN 256u

static hipError_t malloc_pitch(void **out, size_t *pitch, size_t width_B, size_t height, size_t depth)
{
	size_t pitch_B = (width_B + PITCH_ALIGN - 1) & ~(size_t)(PITCH_ALIGN - 1), size_B;

	if (!out || !pitch)
		return hipErrorInvalidValue;
	*out = NULL;
	*pitch = 0;
	if (!width_B || !height || !depth)
		return hipSuccess;
	if (pitch_B < width_B)
		return hipErrorInvalidValue;
	if (__builtin_mul_overflow(pitch_B, height, &size_B) || __builtin_mul_overflow(size_B, depth, &size_B))
		return hipErrorOutOfMemory;
	*pitch = pitch_B;
	return malloc_device(out, size_B, hipDeviceMallocDefault);
}

HIP_PUBLIC(hipMallocPitch, (void **ptr, size_t *pitch, size_t width, size_t height), (ptr, pitch, width, height))
{
	return malloc_pitch(ptr, pitch, width, height, 1);
}

HIP_PUBLIC(hipMemAllocPitch,
	   (hipDeviceptr_t *ptr, size_t *pitch, size_t width_B, size_t height, unsigned int element_B),
	   (ptr, pitch, width_B, height, element_B))
{
	if (!width_B || !height || (element_B != 4 && element_B != 8 && element_B != 16))
		return hipErrorInvalidValue;
	return malloc_pitch(ptr, pitch, width_B, height, 1);
}

HIP_PUBLIC(hipMalloc3D, (hipPitchedPtr *out, hipExtent extent), (out, extent))
{
	hipError_t r;

	if (!out)
		return hipErrorInvalidValue;
	r = malloc_pitch(&out->ptr, &out->pitch, extent.width, extent.height, extent.depth);
	if (!r) {
		out->xsize = extent.width;
		out->ysize = extent.height;
	}
	return r;
}

/* --- host memory ------------------------------------------------------------------------------ */

static hipError_t malloc_host(void **out, size_t size_B, unsigned flags)
{
	const struct hip_memory like = {
		.kind = HIP_MEMORY_HOST, .device = hip_current()->index, .flags = flags, .size_B = size_B};
	bool coarse = flags & hipHostMallocNonCoherent;
	hipError_t r = hip_capture_refuses(hipErrorStreamCaptureUnsupported);

	if (r)
		return r;
	if (!out)
		return hipErrorInvalidValue;
	*out = NULL;
	if (!size_B)
		return hipSuccess;
	if (coarse && flags & hipHostMallocCoherent)
		return hipErrorInvalidValue;
	return allocate_as(coarse ? hip.host_coarse : hip.host_fine, &like, true, out);
}

/* Accepts unknown flags: CLR does. */
HIP_PUBLIC(hipHostMalloc, (void **ptr, size_t size, unsigned int flags), (ptr, size, flags))
{
	return malloc_host(ptr, size, flags);
}

/* hipHostAlloc() is hipHostMalloc() in HIP 5; in 6 it is CUDA's function, with three flags. */
#define HOST_ALLOC_FLAGS (hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined)

HIP_PUBLIC(hipHostAlloc, (void **ptr, size_t size, unsigned int flags), (ptr, size, flags))
{
	if (TUFF_HIP_ABI >= 6 && flags & ~(unsigned)HOST_ALLOC_FLAGS)
		return hipErrorInvalidValue;
	return malloc_host(ptr, size, flags);
}

HIP_PUBLIC(hipMallocHost, (void **ptr, size_t size), (ptr, size))
{
	return malloc_host(ptr, size, 0);
}

HIP_PUBLIC(hipMemAllocHost, (void **ptr, size_t size), (ptr, size))
{
	return malloc_host(ptr, size, 0);
}

static hipError_t malloc_managed(void **out, size_t size_B, unsigned flags)
{
	const struct hip_memory like = {
		.kind = HIP_MEMORY_MANAGED, .device = hip_current()->index, .flags = flags, .size_B = size_B};
	hipError_t r = hip_capture_refuses(hipErrorStreamCaptureUnsupported);

	if (r)
		return r;
	if (!out || !size_B || (flags != hipMemAttachGlobal && flags != hipMemAttachHost))
		return hipErrorInvalidValue;
	return allocate_as(hip.host_fine, &like, true, out);
}

HIP_PUBLIC(hipMallocManaged, (void **ptr, size_t size, unsigned int flags), (ptr, size, flags))
{
	return malloc_managed(ptr, size, flags);
}

hipError_t hip_memory_add_ours(enum hip_memory_kind kind, int device, void *base, size_t size_B)
{
	return memory_add(&(struct hip_memory){
		.kind = kind,
		.device = device,
		.flags = kind == HIP_MEMORY_MANAGED ? hipMemAttachGlobal : 0,
		.size_B = size_B,
		.base = kind == HIP_MEMORY_MANAGED ? base : NULL,
		.gpu_base = base,
		.ours = true,
	});
}

hipError_t hip_memory_add_imported(int device, uint64_t pool, void *base, size_t size_B,
				   void (*end)(const void *ptr))
{
	return memory_add(&(struct hip_memory){
		.kind = HIP_MEMORY_DEVICE,
		.device = device,
		.size_B = size_B,
		.gpu_base = base,
		.pool = pool,
		.end = end,
	});
}

void hip_memory_remove_ours(void *base)
{
	struct hip_memory *memory = hip_memories_take(base, ~0u, true);

	if (memory)
		hip_advice_forget(memory->node.lo, memory->node.hi);
	free(memory);
}

/* --- freeing ---------------------------------------------------------------------------------- */

static bool free_pool(void *ptr, unsigned kinds, hipError_t *error)
{
	bool (*hook)(void *ptr, hipError_t *error) = atomic_load(&hip_memory_hooks.free_pool);

	return kinds & 1u << HIP_MEMORY_DEVICE && hook && hook(ptr, error);
}

bool hip_memory_free_graph(void *ptr, struct hip_stream *stream, hipError_t *error)
{
	bool (*hook)(void *ptr, struct hip_stream *stream, hipError_t *error) =
		atomic_load(&hip_memory_hooks.free_graph);

	return hook && hook(ptr, stream, error);
}

static hipError_t free_known(void *ptr, unsigned kinds)
{
	struct hip_memory *memory;
	hipError_t r;

	if (free_pool(ptr, kinds, &r))
		return r;
	memory = hip_memories_take(ptr, kinds, false);
	if (!memory)
		return kinds & 1u << HIP_MEMORY_DEVICE ? hip_external_free(ptr) : hipErrorInvalidValue;
	/* Kernels may use the memory until the device is idle. Errors of that wait are returned, and the memory is
	 * freed nevertheless. */
	r = hip_device_wait(&hip.device[memory->device]);
	give_back(memory);
	return r;
}

static hipError_t free_memory(void *ptr, unsigned kinds)
{
	hipError_t r = hip_capture_refuses(hipErrorStreamCaptureUnsupported);

	if (r || !ptr)
		return r;
	if (kinds & 1u << HIP_MEMORY_DEVICE && hip_memory_free_graph(ptr, NULL, &r))
		return r;
	return free_known(ptr, kinds);
}

hipError_t hip_memory_free_now(void *ptr)
{
	return free_known(ptr, 1u << HIP_MEMORY_DEVICE);
}

/* CLR's rule: each of these functions frees device memory and host memory. */
#define FREED (1u << HIP_MEMORY_DEVICE | 1u << HIP_MEMORY_MANAGED | 1u << HIP_MEMORY_HOST)

HIP_PUBLIC(hipFree, (void *ptr), (ptr))
{
	return free_memory(ptr, FREED);
}

HIP_PUBLIC(hipHostFree, (void *ptr), (ptr))
{
	return free_memory(ptr, FREED);
}

HIP_PUBLIC(hipFreeHost, (void *ptr), (ptr))
{
	return free_memory(ptr, FREED);
}

/* --- stream-ordered freeing ------------------------------------------------------------------- */

/* Memory of hipMalloc() that hipFreeAsync() has freed: released when the host has waited for the stream. */
static struct deferral {
	struct deferral *next;
	struct hip_memory *memory; /* owned */
	struct hip_point point;    /* owned */
} *_Atomic deferrals;              /* written under deferral_lock */
static struct drv_mutex deferral_lock = DRV_MUTEX(DRV_RANK_HIP_DEFERRALS);

hipError_t hip_memory_free_behind(void *ptr, struct hip_stream *s)
{
	struct deferral *d = malloc(sizeof(*d));

	if (!d)
		return hipErrorOutOfMemory;
	d->memory = hip_memories_take(ptr, 1u << HIP_MEMORY_DEVICE | 1u << HIP_MEMORY_MANAGED, false);
	if (!d->memory) {
		free(d);
		return hipErrorInvalidValue;
	}
	atomic_fetch_add(&s->frees, 1);
	d->point = hip_stream_point(s);
	drv_mutex_lock(&deferral_lock);
	d->next = deferrals;
	deferrals = d;
	drv_mutex_unlock(&deferral_lock);
	return hipSuccess;
}

void hip_memory_reap(void)
{
	struct deferral **at, *first, *gone = NULL;

	if (!atomic_load_explicit(&deferrals, memory_order_relaxed))
		return;
	drv_mutex_lock(&deferral_lock);
	first = deferrals;
	for (at = &first; *at;) {
		struct deferral *d = *at;

		if (atomic_load(&d->point.stream->host_frees) < d->point.frees &&
		    !atomic_load(&d->point.stream->gone)) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		d->next = gone;
		gone = d;
	}
	deferrals = first;
	drv_mutex_unlock(&deferral_lock);
	while (gone) {
		struct deferral *next = gone->next;

		hip_point_put(&gone->point);
		give_back(gone->memory);
		free(gone);
		gone = next;
	}
}

/* Frees everything that was allocated on the device, or for the host while the device was current. */
void hip_memory_reset(struct hip_device *device)
{
	struct hip_memory *memory;

	hip_memory_reap();
	while ((memory = hip_memories_take_of(device)))
		give_back(memory);
}

/* --- registration ----------------------------------------------------------------------------- */

#define REGISTER_FLAGS                                                                                             \
	(hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory | hipHostRegisterReadOnly |     \
	 hipExtHostRegisterCoarseGrained)

/* Serializes registrations, so that this library's entries and HSA's agree. */
static struct drv_mutex register_lock = DRV_MUTEX(DRV_RANK_HIP_REGISTER);

static hipError_t host_unregister(void *ptr)
{
	struct hip_memory memory, *taken;
	hipError_t r;

	if (!ptr)
		return hipErrorInvalidValue;
	if (!hip_memory_find(ptr, &memory) || memory.kind != HIP_MEMORY_REGISTERED)
		return hipErrorHostMemoryNotRegistered;
	r = hip_device_wait(&hip.device[memory.device]);
	drv_mutex_lock(&register_lock);
	taken = hip_memories_take(ptr, 1u << HIP_MEMORY_REGISTERED, false);
	if (taken)
		hsa_amd_memory_unlock(ptr);
	drv_mutex_unlock(&register_lock);
	free(taken);
	return taken ? r : hipErrorHostMemoryNotRegistered;
}

static hipError_t register_locked(void *ptr, size_t size_B, unsigned flags, int device)
{
	struct hip_memory memory = {
		.kind = HIP_MEMORY_REGISTERED,
		.device = device,
		.flags = flags,
		.size_B = size_B,
		.base = ptr,
	};
	hsa_agent_t agents[HIP_DEVICES_MAX];
	void *gpu = NULL;
	hsa_status_t status;
	hipError_t r;
	bool again;

	/* Checked again with the lock: another thread may have registered the range. */
	if (hip_memories_overlap(ptr, size_B, &again) || again)
		return hipErrorHostMemoryAlreadyRegistered;
	for (unsigned i = 0; i < hip.devices; i++)
		agents[i] = hip.device[i].agent;
	status = hsa_amd_memory_lock(ptr, size_B, agents, (int)hip.devices, &gpu);
	if (status)
		return status == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? hipErrorOutOfMemory : hipErrorInvalidValue;
	/* Not HSA's alias: kernels can use the host's address, and programs pass that one back. */
	memory.gpu_base = ptr;
	memory.read_only = hip.hsa->read_only(ptr);
	r = memory_add(&memory);
	if (r)
		hsa_amd_memory_unlock(ptr);
	return r;
}

/* A registration that is refused leaves the old one. */
static hipError_t replace_locked(void *ptr, size_t size_B, unsigned flags)
{
	struct hip_memory *old = hip_memories_take(ptr, 1u << HIP_MEMORY_REGISTERED, false);
	hipError_t r;

	if (old)
		hsa_amd_memory_unlock(ptr);
	r = register_locked(ptr, size_B, flags, hip_current()->index);
	if (r && old)
		(void)!register_locked(ptr, old->size_B, old->flags, old->device);
	free(old);
	return r;
}

static hipError_t host_register(void *ptr, size_t size_B, unsigned flags)
{
	hipError_t r = hipSuccess;
	struct hip_memory old;
	bool again;

	if (!ptr || !size_B || flags & ~(unsigned)REGISTER_FLAGS || (uintptr_t)ptr + size_B < (uintptr_t)ptr)
		return hipErrorInvalidValue;
	if (hip_memories_overlap(ptr, size_B, &again))
		return hipErrorHostMemoryAlreadyRegistered;
	/* CLR's rule: a new registration replaces an old one, since programs free memory without unregistering
	 * it. Kernels may use the old one until the device is idle. */
	if (again && hip_memory_find(ptr, &old))
		r = hip_device_wait(&hip.device[old.device]);
	if (r)
		return r;
	drv_mutex_lock(&register_lock);
	r = replace_locked(ptr, size_B, flags);
	drv_mutex_unlock(&register_lock);
	return r;
}

HIP_PUBLIC(hipHostRegister, (void *ptr, size_t size, unsigned int flags), (ptr, size, flags))
{
	hipError_t r = hip_capture_refuses_since_7();

	return r ? r : host_register(ptr, size, flags);
}

HIP_PUBLIC(hipHostUnregister, (void *ptr), (ptr))
{
	return host_unregister(ptr);
}

static hipError_t host_device_pointer(void **out, void *ptr, unsigned flags)
{
	struct hip_memory memory;

	if (!out || !ptr || flags)
		return hipErrorInvalidValue;
	*out = NULL;
	if (!hip_memory_find(ptr, &memory) || !memory.base)
		return hipErrorInvalidValue;
	*out = memory.gpu_base + ((char *)ptr - memory.base);
	return hipSuccess;
}

HIP_PUBLIC(hipHostGetDevicePointer, (void **device, void *host, unsigned int flags), (device, host, flags))
{
	return host_device_pointer(device, host, flags);
}

static hipError_t host_flags(unsigned *flags, const void *ptr)
{
	struct hip_memory memory;

	/* CUDA's rule: allocated memory only, not registered memory. */
	if (!flags || !ptr || !hip_memory_find(ptr, &memory) || memory.kind == HIP_MEMORY_DEVICE ||
	    memory.kind == HIP_MEMORY_REGISTERED)
		return hipErrorInvalidValue;
	*flags = memory.flags;
	return hipSuccess;
}

HIP_PUBLIC(hipHostGetFlags, (unsigned int *flags, void *host), (flags, host))
{
	return host_flags(flags, host);
}
