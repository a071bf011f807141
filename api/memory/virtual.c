/* Virtual memory management: physical memory and address ranges as separate objects. HSA's functions, with HIP's
 * rules. */
#include <string.h>
#include <unistd.h>

#include "drv/lock.h"
#include "api/memory/memory.h"
#include "api/stream/stream.h"

#define GRANULE_B     4096u
#define RECOMMENDED_B (2u << 20)

static hsa_amd_vmem_alloc_handle_t hsa_handle(hipMemGenericAllocationHandle_t handle)
{
	return (hsa_amd_vmem_alloc_handle_t){(uintptr_t)handle};
}

static bool is_known_place(const hipMemAllocationProp *p)
{
	return p && p->type == hipMemAllocationTypePinned && p->location.type == hipMemLocationTypeDevice &&
	       hip_device_of(p->location.id);
}

/* Checks the location and the type of shareable handle. */
static hipError_t check_properties(const hipMemAllocationProp *p)
{
	if (!is_known_place(p))
		return hipErrorInvalidValue;
	return p->requestedHandleType == hipMemHandleTypeNone ||
			       p->requestedHandleType == hipMemHandleTypePosixFileDescriptor
		       ? hipSuccess
		       : hipErrorNotSupported;
}

HIP_PUBLIC(hipMemGetAllocationGranularity,
	   (size_t *granule, const hipMemAllocationProp *p, hipMemAllocationGranularity_flags option),
	   (granule, p, option))
{
	if (!granule || (unsigned)option > hipMemAllocationGranularityRecommended || !is_known_place(p))
		return hipErrorInvalidValue;
	*granule = option == hipMemAllocationGranularityMinimum ? GRANULE_B : RECOMMENDED_B;
	return hipSuccess;
}

HIP_PUBLIC(hipMemAddressReserve,
	   (void **ptr, size_t size, size_t alignment, void *address, unsigned long long flags),
	   (ptr, size, alignment, address, flags))
{
	if (!ptr || flags)
		return hipErrorInvalidValue;
	/* CLR's error for sizes and alignments that no range can have. */
	if (!size || size % GRANULE_B || alignment & (alignment - 1))
		return TUFF_HIP_ABI >= 7 ? hipErrorInvalidValue : hipErrorMemoryAllocation;
	return hip_of_hsa(hsa_amd_vmem_address_reserve_align(ptr, size, (uintptr_t)address,
							     alignment < GRANULE_B ? 0 : alignment,
							     HSA_AMD_VMEM_ADDRESS_NO_REGISTER));
}

static hipError_t invalid_unless(hsa_status_t status)
{
	return status == HSA_STATUS_SUCCESS                  ? hipSuccess
	       : status == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? hipErrorOutOfMemory
							     : hipErrorInvalidValue;
}

HIP_PUBLIC(hipMemAddressFree, (void *ptr, size_t size), (ptr, size))
{
	if (!ptr || !size)
		return hipErrorInvalidValue;
	return invalid_unless(hsa_amd_vmem_address_free(ptr, size));
}

static hipError_t handle_create(hipMemGenericAllocationHandle_t *out, size_t size_B, const hipMemAllocationProp *p)
{
	hsa_amd_vmem_alloc_handle_t handle;
	hipError_t r;

	if (!out || !size_B || size_B % GRANULE_B)
		return hipErrorInvalidValue;
	r = check_properties(p);
	if (!r &&
	    hsa_amd_vmem_handle_create(hip.device[p->location.id].vram, size_B, MEMORY_TYPE_PINNED, 0, &handle))
		r = hipErrorOutOfMemory;
	if (!r)
		*out = (hipMemGenericAllocationHandle_t)(uintptr_t)handle.handle;
	return r;
}

HIP_PUBLIC(hipMemCreate,
	   (hipMemGenericAllocationHandle_t *handle, size_t size, const hipMemAllocationProp *p,
	    unsigned long long flags),
	   (handle, size, p, flags))
{
	return flags ? hipErrorInvalidValue : handle_create(handle, size, p);
}

HIP_PUBLIC(hipMemRelease, (hipMemGenericAllocationHandle_t handle), (handle))
{
	return invalid_unless(hsa_amd_vmem_handle_release(hsa_handle(handle)));
}

static struct hip_device *device_of(hsa_amd_vmem_alloc_handle_t handle)
{
	hsa_amd_memory_pool_t pool;
	hsa_amd_memory_type_t type;

	if (hsa_amd_vmem_get_alloc_properties_from_handle(handle, &pool, &type))
		return NULL;
	for (unsigned i = 0; i < hip.devices; i++)
		if (hip.device[i].vram.handle == pool.handle)
			return &hip.device[i];
	return NULL;
}

/* Serializes mappings, so that this library's entries and HSA's agree. */
static struct drv_mutex map_lock = DRV_MUTEX(DRV_RANK_HIP_REGISTER);

static hipError_t map_locked(void *ptr, size_t size_B, hsa_amd_vmem_alloc_handle_t handle, int device)
{
	hipError_t r = invalid_unless(hsa_amd_vmem_map(ptr, size_B, 0, handle, 0));

	drv_rank_assert(DRV_RANK_HIP_REGISTER);
	if (r)
		return r;
	r = hip_memory_add_ours(HIP_MEMORY_DEVICE, device, ptr, size_B);
	if (r)
		hsa_amd_vmem_unmap(ptr, size_B);
	return r;
}

static hipError_t range_map(void *ptr, size_t size_B, hsa_amd_vmem_alloc_handle_t handle)
{
	struct hip_device *d = device_of(handle);
	hipError_t r;

	if (!ptr || !size_B || !d)
		return hipErrorInvalidValue;
	drv_mutex_lock(&map_lock);
	r = map_locked(ptr, size_B, handle, d->index);
	drv_mutex_unlock(&map_lock);
	return r;
}

HIP_PUBLIC(hipMemMap,
	   (void *ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
	    unsigned long long flags),
	   (ptr, size, offset, handle, flags))
{
	return offset || flags ? hipErrorInvalidValue : range_map(ptr, size, hsa_handle(handle));
}

/* Sparse arrays are not supported: CLR does not either. */
HIP_PUBLIC(hipMemMapArrayAsync, (hipArrayMapInfo *parts, unsigned int count, hipStream_t stream),
	   (parts, count, stream))
{
	(void)stream;
	return parts && count ? hipErrorNotSupported : hipErrorInvalidValue;
}

/* Finds the mapping that begins at the address and has at most size_B bytes. */
static bool find_piece(const void *ptr, size_t size_B, struct hip_memory *memory)
{
	return hip_memory_find(ptr, memory) && memory->ours && memory->gpu_base == ptr && memory->size_B <= size_B;
}

static hipError_t unmap_locked(char *ptr, size_t size_B)
{
	struct hip_memory memory;
	hipError_t r = hipSuccess;

	drv_rank_assert(DRV_RANK_HIP_REGISTER);
	for (size_t at_B = 0; !r && at_B < size_B; at_B += memory.size_B) {
		if (!find_piece(ptr + at_B, size_B - at_B, &memory))
			return hipErrorInvalidValue;
		r = invalid_unless(hsa_amd_vmem_unmap(ptr + at_B, memory.size_B));
		if (!r)
			hip_memory_remove_ours(ptr + at_B);
	}
	return r;
}

/* Unmaps one mapping, or several side by side. */
static hipError_t range_unmap(char *ptr, size_t size_B)
{
	struct hip_memory memory;
	hipError_t r = ptr && size_B ? hipSuccess : hipErrorInvalidValue;

	/* Kernels may still use the memory. */
	for (size_t at_B = 0; !r && at_B < size_B; at_B += memory.size_B) {
		if (!find_piece(ptr + at_B, size_B - at_B, &memory))
			return hipErrorInvalidValue;
		r = hip_device_wait(&hip.device[memory.device]);
	}
	if (r)
		return r;
	drv_mutex_lock(&map_lock);
	r = unmap_locked(ptr, size_B);
	drv_mutex_unlock(&map_lock);
	return r;
}

HIP_PUBLIC(hipMemUnmap, (void *ptr, size_t size), (ptr, size))
{
	return range_unmap(ptr, size);
}

/* --- access ----------------------------------------------------------------------------------- */

static hipError_t set_access(void *ptr, size_t size_B, const hipMemAccessDesc *desc, size_t count)
{
	hsa_amd_memory_access_desc_t access[HIP_DEVICES_MAX];

	if (!ptr || !size_B || !desc || !count || count > HIP_DEVICES_MAX)
		return hipErrorInvalidValue;
	for (size_t i = 0; i < count; i++) {
		if (desc[i].location.type != hipMemLocationTypeDevice || !hip_device_of(desc[i].location.id) ||
		    (desc[i].flags != hipMemAccessFlagsProtNone && desc[i].flags != hipMemAccessFlagsProtRead &&
		     desc[i].flags != hipMemAccessFlagsProtReadWrite))
			return hipErrorInvalidValue;
		access[i].agent_handle = hip.device[desc[i].location.id].agent;
		access[i].permissions = desc[i].flags == hipMemAccessFlagsProtReadWrite ? HSA_ACCESS_PERMISSION_RW
					: desc[i].flags == hipMemAccessFlagsProtRead    ? HSA_ACCESS_PERMISSION_RO
										     : HSA_ACCESS_PERMISSION_NONE;
	}
	return invalid_unless(hsa_amd_vmem_set_access(ptr, size_B, access, count));
}

HIP_PUBLIC(hipMemSetAccess, (void *ptr, size_t size, const hipMemAccessDesc *desc, size_t count),
	   (ptr, size, desc, count))
{
	return set_access(ptr, size, desc, count);
}

HIP_PUBLIC(hipMemGetAccess, (unsigned long long *flags, const hipMemLocation *location, void *ptr),
	   (flags, location, ptr))
{
	hsa_access_permission_t permission;
	hipError_t r;

	if (!flags || !location || !ptr || location->type != hipMemLocationTypeDevice ||
	    !hip_device_of(location->id))
		return hipErrorInvalidValue;
	r = invalid_unless(hsa_amd_vmem_get_access(ptr, &permission, hip.device[location->id].agent));
	if (!r)
		*flags = permission == HSA_ACCESS_PERMISSION_RW   ? hipMemAccessFlagsProtReadWrite
			 : permission == HSA_ACCESS_PERMISSION_RO ? hipMemAccessFlagsProtRead
								  : hipMemAccessFlagsProtNone;
	return r;
}

/* --- sharing ---------------------------------------------------------------------------------- */

HIP_PUBLIC(hipMemExportToShareableHandle,
	   (void *shared, hipMemGenericAllocationHandle_t handle, hipMemAllocationHandleType type,
	    unsigned long long flags),
	   (shared, handle, type, flags))
{
	if (!shared || flags || type != hipMemHandleTypePosixFileDescriptor)
		return hipErrorInvalidValue;
	return invalid_unless(hsa_amd_vmem_export_shareable_handle(shared, hsa_handle(handle), 0));
}

/* A program has nothing below: the linker's address for one that is not position independent. Descriptors are fewer (a million,
 * fs.nr_open). */
#define PROGRAM_AT 0x400000

/* A descriptor as a pointer: its number (6.x), or its address (5.x). A program has no memory at what a negative number becomes
 * either, with or without its sign. */
static int descriptor_of(const void *shared)
{
	const uintptr_t value = (uintptr_t)shared;
	int fd;

	if (value < PROGRAM_AT)
		return (int)value;
	if (value >> 47 || (value >> 31 && value <= UINT32_MAX))
		return -1;
	memcpy(&fd, shared, sizeof(fd));
	return fd;
}

HIP_PUBLIC(hipMemImportFromShareableHandle,
	   (hipMemGenericAllocationHandle_t *out, void *shared, hipMemAllocationHandleType type),
	   (out, shared, type))
{
	hsa_amd_vmem_alloc_handle_t handle;
	hipError_t r;

	if (!out || type != hipMemHandleTypePosixFileDescriptor || !shared)
		return hipErrorInvalidValue;
	r = invalid_unless(hsa_amd_vmem_import_shareable_handle(descriptor_of(shared), &handle));
	if (!r)
		*out = (hipMemGenericAllocationHandle_t)(uintptr_t)handle.handle;
	return r;
}

HIP_PUBLIC(hipMemGetAllocationPropertiesFromHandle,
	   (hipMemAllocationProp *p, hipMemGenericAllocationHandle_t handle), (p, handle))
{
	struct hip_device *d;

	d = p ? device_of(hsa_handle(handle)) : NULL;
	if (!d)
		return hipErrorInvalidValue;
	*p = (hipMemAllocationProp){
		.type = hipMemAllocationTypePinned,
		.requestedHandleType = hipMemHandleTypePosixFileDescriptor,
		.location = {hipMemLocationTypeDevice, d->index},
	};
	return hipSuccess;
}

HIP_PUBLIC(hipMemRetainAllocationHandle, (hipMemGenericAllocationHandle_t *out, void *address), (out, address))
{
	hsa_amd_vmem_alloc_handle_t handle;
	struct hip_memory memory;
	hipError_t r;

	if (!out || !hip_memory_find(address, &memory))
		return hipErrorInvalidValue;
	r = invalid_unless(hsa_amd_vmem_retain_alloc_handle(&handle, memory.gpu_base));
	if (!r)
		*out = (hipMemGenericAllocationHandle_t)(uintptr_t)handle.handle;
	return r;
}
