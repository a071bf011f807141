/* External memory: dma-bufs of other drivers, such as Vulkan's. Each import is mapped at an address of its own, and
 * copies and kernels can use all of it. A program's buffers are ranges of an import, which may have several. The
 * mapping ends when the import is destroyed and its last buffer is freed. */
#include <stdlib.h>
#include <unistd.h>

#include "drv/cancel.h"
#include "drv/lock.h"
#include "api/memory/memory.h"
#include "api/stream/stream.h"

struct buffer {
	struct buffer *next;
	void *at;
};

struct external {
	struct external *next;
	uint64_t handle; /* 0: the program has destroyed it */
	struct hip_device *device;
	char *base; /* owned: the mapping */
	size_t size_B;
	struct buffer *buffers; /* owned */
};

static struct {
	struct drv_mutex lock; /* guards the members below; outside memory's */
	struct external *first;
} externals = {.lock = DRV_MUTEX(DRV_RANK_HIP_EXTERNALS)};

static void external_unmap(struct external *e)
{
	hip_memory_remove_ours(e->base);
	hsa_amd_interop_unmap_buffer(e->base);
}

static void external_free(struct external *e)
{
	while (e->buffers) {
		struct buffer *b = e->buffers;

		e->buffers = b->next;
		free(b);
	}
	if (e->handle)
		drv_handle_destroy(&hip_handles, e->handle);
	free(e);
}

static hipError_t external_map(struct external *e, const hipExternalMemoryHandleDesc *desc)
{
	size_t size_B;
	void *base;
	hipError_t r;

	if (hsa_amd_interop_map_buffer(1, &e->device->agent, desc->handle.fd, 0, &size_B, &base, NULL, NULL))
		return hipErrorInvalidValue;
	e->base = base;
	r = desc->size > size_B ? hipErrorInvalidValue : hipSuccess;
	if (!r)
		r = hip_memory_add_ours(HIP_MEMORY_DEVICE, e->device->index, base, e->size_B);
	if (r)
		hsa_amd_interop_unmap_buffer(base);
	return r;
}

/* An import that has a handle is in the list, and mapped: another thread may destroy it at once. */
static hipError_t external_enlist(struct external *e, hipExternalMemory_t *out)
{
	int r;

	drv_mutex_lock(&externals.lock);
	r = drv_handle_create(&hip_handles, HIP_KIND(HIP_EXTERNAL), e, &e->handle);
	if (!r) {
		*out = (hipExternalMemory_t)(uintptr_t)e->handle;
		e->next = externals.first;
		externals.first = e;
	}
	drv_mutex_unlock(&externals.lock);
	return r ? hipErrorOutOfMemory : hipSuccess;
}

static hipError_t external_import(hipExternalMemory_t *out, const hipExternalMemoryHandleDesc *desc)
{
	DRV_HOLD_CANCEL;
	struct external *e;
	hipError_t r;

	if (!out || !desc || desc->flags & ~(unsigned)hipExternalMemoryDedicated || !desc->size ||
	    desc->type != hipExternalMemoryHandleTypeOpaqueFd)
		return hipErrorInvalidValue;
	e = calloc(1, sizeof(*e));
	if (!e)
		return hipErrorOutOfMemory;
	e->device = hip_current();
	e->size_B = desc->size;
	r = external_map(e, desc);
	if (r) {
		external_free(e);
		return r;
	}
	r = external_enlist(e, out);
	if (r) {
		external_unmap(e);
		external_free(e);
		return r;
	}
	close(desc->handle.fd);
	return hipSuccess;
}

HIP_PUBLIC(hipImportExternalMemory, (hipExternalMemory_t *memory, const hipExternalMemoryHandleDesc *desc),
	   (memory, desc))
{
	return external_import(memory, desc);
}

static hipError_t get_buffer(void **out, hipExternalMemory_t handle, const hipExternalMemoryBufferDesc *desc)
{
	struct external *e;
	struct buffer *b;
	hipError_t r = hipErrorInvalidValue;

	if (!out || !desc || desc->flags || !desc->size)
		return hipErrorInvalidValue;
	b = calloc(1, sizeof(*b));
	if (!b)
		return hipErrorOutOfMemory;
	drv_mutex_lock(&externals.lock);
	e = hip_find(HIP_EXTERNAL, handle);
	if (e && desc->size <= e->size_B && desc->offset <= e->size_B - desc->size) {
		*out = b->at = e->base + desc->offset;
		b->next = e->buffers;
		e->buffers = b;
		r = hipSuccess;
	}
	drv_mutex_unlock(&externals.lock);
	if (r)
		free(b);
	return r;
}

HIP_PUBLIC(hipExternalMemoryGetMappedBuffer,
	   (void **ptr, hipExternalMemory_t memory, const hipExternalMemoryBufferDesc *desc), (ptr, memory, desc))
{
	return get_buffer(ptr, memory, desc);
}

/* Takes an import that was destroyed and has no buffers out of the list. The caller holds the lock. */
static struct external *take_unused_locked(void)
{
	struct external **at = &externals.first, *e;

	drv_rank_assert(DRV_RANK_HIP_EXTERNALS);
	while (*at && ((*at)->handle || (*at)->buffers))
		at = &(*at)->next;
	e = *at;
	if (e)
		*at = e->next;
	return e;
}

/* Unmaps unused imports, after the kernels that may still use them have ended. The caller holds the lock, which is
 * released. */
static hipError_t drop_unused(void)
{
	struct external *e = take_unused_locked();
	hipError_t r = hipSuccess;

	drv_mutex_unlock(&externals.lock);
	if (e) {
		r = hip_device_wait(e->device);
		external_unmap(e);
		external_free(e);
	}
	return r;
}

static hipError_t external_destroy(hipExternalMemory_t handle)
{
	struct external *e;

	drv_mutex_lock(&externals.lock);
	e = hip_find(HIP_EXTERNAL, handle);
	if (!e) {
		drv_mutex_unlock(&externals.lock);
		return hipErrorInvalidValue;
	}
	drv_handle_destroy(&hip_handles, e->handle);
	e->handle = 0;
	return drop_unused();
}

HIP_PUBLIC(hipDestroyExternalMemory, (hipExternalMemory_t memory), (memory))
{
	return external_destroy(memory);
}

static struct buffer **find_buffer_locked(const void *ptr)
{
	drv_rank_assert(DRV_RANK_HIP_EXTERNALS);
	for (struct external *e = externals.first; e; e = e->next)
		for (struct buffer **at = &e->buffers; *at; at = &(*at)->next)
			if ((*at)->at == ptr)
				return at;
	return NULL;
}

hipError_t hip_external_free(void *ptr)
{
	struct buffer **at, *b;

	drv_mutex_lock(&externals.lock);
	at = find_buffer_locked(ptr);
	if (!at) {
		drv_mutex_unlock(&externals.lock);
		return hipErrorInvalidValue;
	}
	b = *at;
	*at = b->next;
	free(b);
	return drop_unused();
}

void hip_externals_reset(struct hip_device *device)
{
	struct external **at = &externals.first;

	drv_mutex_lock(&externals.lock);
	while (*at) {
		struct external *e = *at;

		if (e->device != device) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		external_unmap(e);
		external_free(e);
	}
	drv_mutex_unlock(&externals.lock);
}

/* --- dma-bufs (HIP 7) ----------------------------------------------------------------------------- */

#if TUFF_HIP_ABI >= 7
static hipError_t export_range(int *fd, const void *ptr, size_t size_B, uint64_t flags)
{
	struct hip_memory memory;
	uint64_t offset;

	if (!hip_memory_find(ptr, &memory) || memory.kind != HIP_MEMORY_DEVICE ||
	    size_B > memory.size_B - ((uintptr_t)ptr - memory.node.lo))
		return hipErrorInvalidValue;
	return hip_of_hsa(hsa_amd_portable_export_dmabuf_v2(ptr, size_B, fd, &offset, flags));
}

HIP_PUBLIC(hipMemGetHandleForAddressRange,
	   (void *handle, hipDeviceptr_t ptr, size_t size, hipMemRangeHandleType type, unsigned long long flags),
	   (handle, ptr, size, type, flags))
{
	if (!handle || !ptr || !size || type != hipMemRangeHandleTypeDmaBufFd ||
	    flags > hipMemRangeFlagDmaBufMappingTypePcie)
		return hipErrorInvalidValue;
	return export_range(handle, ptr, size,
			    flags ? HSA_AMD_DMABUF_MAPPING_TYPE_PCIE : HSA_AMD_DMABUF_MAPPING_TYPE_NONE);
}
#endif
