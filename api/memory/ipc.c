/* Memory of other processes. A handle is HSA's IPC handle, by which the memory is fetched from the process that
 * owns it (docs/hsa.md), and the offset of the address. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drv/lock.h"
#include "api/memory/memory.h"
#include "api/stream/stream.h"

/* Contents of the program's 64 bytes. */
struct memory_handle {
	hsa_amd_ipc_memory_t whole;
	uint64_t size_B, offset_B;
	int32_t process, device;
};
_Static_assert(sizeof(struct memory_handle) <= sizeof(hipIpcMemHandle_t), "a handle has room for it");

/* Handles that this process has opened: opening one again gives the same address. */
static struct opened {
	struct opened *next;
	struct memory_handle handle;
	/* Bits of the devices that reach the memory: the one that opened it first, and every possible peer of
	 * it. */
	uint64_t devices;
	void *base; /* owned */
	unsigned uses;
} *all_opened;
static struct drv_mutex opened_lock = DRV_MUTEX(DRV_RANK_HIP_IPC);

static hipError_t get_handle(hipIpcMemHandle_t *out, const void *ptr)
{
	struct memory_handle handle = {.process = getpid()};
	struct hip_memory memory;

	if (!out || !ptr || !hip_memory_find(ptr, &memory) || memory.kind != HIP_MEMORY_DEVICE || memory.ours ||
	    memory.pool)
		return hipErrorInvalidValue;
	handle.size_B = memory.size_B;
	handle.offset_B = (uintptr_t)ptr - memory.node.lo;
	handle.device = memory.device;
	if (hsa_amd_ipc_memory_create(memory.gpu_base, memory.size_B, &handle.whole))
		return hipErrorOutOfMemory;
	memset(out, 0, sizeof(*out));
	memcpy(out, &handle, sizeof(handle));
	return hipSuccess;
}

HIP_PUBLIC(hipIpcGetMemHandle, (hipIpcMemHandle_t *handle, void *ptr), (handle, ptr))
{
	return get_handle(handle, ptr);
}

static struct opened *find_locked(const struct memory_handle *handle)
{
	struct opened *o = all_opened;

	drv_rank_assert(DRV_RANK_HIP_IPC);
	while (o && memcmp(&o->handle.whole, &handle->whole, sizeof(handle->whole)))
		o = o->next;
	return o;
}

static unsigned devices_of(const struct hip_device *device, uint64_t *devices, hsa_agent_t *agents)
{
	unsigned count = 0;

	*devices = 0;
	for (unsigned i = 0; i < hip.devices; i++)
		if (&hip.device[i] == device || hip_can_be_peers(&hip.device[i], device)) {
			*devices |= 1ull << i;
			agents[count++] = hip.device[i].agent;
		}
	return count;
}

static hipError_t attach_locked(const struct memory_handle *handle, struct opened **out)
{
	struct opened *o = calloc(1, sizeof(*o));
	const struct hip_device *device = hip_current();
	hsa_agent_t agents[HIP_DEVICES_MAX];
	hipError_t r = hipSuccess;
	unsigned count;

	drv_rank_assert(DRV_RANK_HIP_IPC);
	if (!o)
		return hipErrorOutOfMemory;
	o->handle = *handle;
	count = devices_of(device, &o->devices, agents);
	if (hsa_amd_ipc_memory_attach(&handle->whole, handle->size_B, count, agents, &o->base))
		r = hipErrorInvalidDevicePointer;
	if (!r && (r = hip_memory_add_ours(HIP_MEMORY_DEVICE, device->index, o->base, handle->size_B)))
		hsa_amd_ipc_memory_detach(o->base);
	if (r) {
		free(o);
		return r;
	}
	o->next = all_opened;
	all_opened = o;
	*out = o;
	return hipSuccess;
}

/* hipIpcMemLazyEnablePeerAccess is 0 in the headers of HIP 5.2 and 1 in later ones. */
static bool open_flags_fit(unsigned flags)
{
	return flags == hipIpcMemLazyEnablePeerAccess || (TUFF_HIP_ABI == 5 && !flags);
}

static hipError_t open_handle(void **ptr, const hipIpcMemHandle_t *from, unsigned flags)
{
	struct memory_handle handle;
	struct opened *o;
	hipError_t r = hipSuccess;

	if (!ptr || !open_flags_fit(flags))
		return hipErrorInvalidValue;
	memcpy(&handle, from, sizeof(handle));
	if (handle.offset_B >= handle.size_B)
		return handle.size_B ? hipErrorInvalidDevicePointer : hipErrorInvalidValue;
	if (handle.process == getpid())
		return hipErrorInvalidContext;
	drv_mutex_lock(&opened_lock);
	o = find_locked(&handle);
	if (!o)
		r = attach_locked(&handle, &o);
	else if (handle.size_B != o->handle.size_B || !(o->devices >> hip_current()->index & 1))
		r = hipErrorInvalidDevicePointer;
	if (!r) {
		o->uses++;
		*ptr = (char *)o->base + handle.offset_B;
	}
	drv_mutex_unlock(&opened_lock);
	return r;
}

HIP_PUBLIC(hipIpcOpenMemHandle, (void **ptr, hipIpcMemHandle_t handle, unsigned int flags), (ptr, handle, flags))
{
	return open_handle(ptr, &handle, flags);
}

static bool opened_contains(const struct opened *o, const void *ptr)
{
	return (const char *)ptr >= (const char *)o->base &&
	       (const char *)ptr < (const char *)o->base + o->handle.size_B;
}

/* Kernels may still use the memory. */
static hipError_t wait_for_all(uint64_t devices)
{
	hipError_t r = hipSuccess, error;

	for (; devices; devices &= devices - 1) {
		error = hip_device_wait(&hip.device[__builtin_ctzll(devices)]);
		r = r ? r : error;
	}
	return r;
}

static hipError_t close_handle(const void *ptr)
{
	struct opened **at, *gone = NULL;
	hipError_t r;

	drv_mutex_lock(&opened_lock);
	for (at = &all_opened; *at && !opened_contains(*at, ptr); at = &(*at)->next)
		continue;
	r = *at ? hipSuccess : hipErrorInvalidValue;
	if (*at && !--(*at)->uses) {
		gone = *at;
		*at = gone->next;
	}
	drv_mutex_unlock(&opened_lock);
	if (!gone)
		return r;
	r = wait_for_all(gone->devices);
	hip_memory_remove_ours(gone->base);
	hsa_amd_ipc_memory_detach(gone->base);
	free(gone);
	return r;
}

HIP_PUBLIC(hipIpcCloseMemHandle, (void *ptr), (ptr))
{
	return ptr ? close_handle(ptr) : hipErrorInvalidValue;
}
