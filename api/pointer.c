/* What an address is, attribute by attribute; and hints for managed memory, which are remembered nowhere: the
 * memory is the host's, where both sides see it, whatever is advised. */
#include <string.h>

#include "api/internal.h"

static size_t pointer_attribute_size(hipPointer_attribute attribute)
{
	switch (attribute) {
	case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
	case HIP_POINTER_ATTRIBUTE_MAPPED:
	case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
	case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		return sizeof(bool);
	case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
	case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
	case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
	case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		return sizeof(int);
	default:
		return sizeof(uint64_t);
	}
}

/* As a number; HIP has one for each. */
static hipError_t pointer_attribute(uint64_t *value, hipPointer_attribute attribute, const void *ptr,
				    const struct hip_memory *memory)
{
	const uint64_t at = (uintptr_t)ptr - memory->node.lo;

	switch (attribute) {
	case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*value = memory->kind == HIP_MEMORY_DEVICE    ? hipMemoryTypeDevice
			 : memory->kind == HIP_MEMORY_MANAGED ? hipMemoryTypeManaged
							      : hipMemoryTypeHost;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*value = (uintptr_t)memory->gpu_base + at;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
		*value = memory->base ? (uintptr_t)memory->base + at : 0;
		return memory->base ? hipSuccess : hipErrorInvalidValue;
	case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
		*value = memory->id;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
		*value = memory->kind == HIP_MEMORY_MANAGED;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*value = (uint64_t)memory->device;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*value = (uintptr_t)memory->gpu_base;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
		*value = memory->size_B;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_MAPPED:
		*value = 1;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
	case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
	case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		*value = 0;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*value = memory->pool;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		*value = 3; /* read and write */
		return hipSuccess;
	default:
		return hipErrorNotSupported;
	}
}

static hipError_t get_attribute(void *data, hipPointer_attribute attribute, hipDeviceptr_t ptr)
{
	struct hip_memory memory;
	uint64_t value = 0;
	hipError_t r;

	if (!data || !ptr || attribute < HIP_POINTER_ATTRIBUTE_CONTEXT ||
	    attribute > HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
		return hipErrorInvalidValue;
	if (!hip_memory_find(ptr, &memory))
		return hipErrorInvalidValue;
	r = pointer_attribute(&value, attribute, ptr, &memory);
	memcpy(data, &value, pointer_attribute_size(attribute));
	return r;
}

hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute, hipDeviceptr_t ptr)
{
	HIP_ENTER();
	return hip_end(get_attribute(data, attribute, ptr));
}

/* What is not known is 0: one call asks for many. */
hipError_t hipDrvPointerGetAttributes(unsigned int count, hipPointer_attribute *attributes, void **data,
				      hipDeviceptr_t ptr)
{
	HIP_ENTER();
	if (!count || !attributes || !data)
		return hip_end(hipErrorInvalidValue);
	for (unsigned i = 0; i < count; i++)
		if (!data[i] || get_attribute(data[i], attributes[i], ptr)) {
			if (!data[i])
				return hip_end(hipErrorInvalidValue);
			memset(data[i], 0, pointer_attribute_size(attributes[i]));
		}
	return hip_end(hipSuccess);
}

/* Copies of such memory are in order anyway. */
hipError_t hipPointerSetAttribute(const void *value, hipPointer_attribute attribute, hipDeviceptr_t ptr)
{
	struct hip_memory memory;

	HIP_ENTER();
	if (!value || attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS || !hip_memory_find(ptr, &memory))
		return hip_end(hipErrorInvalidValue);
	return hip_end(hipSuccess);
}

/* --- hints ------------------------------------------------------------------------------------ */

static bool is_managed(const void *ptr, size_t size_B)
{
	struct hip_memory memory;

	return ptr && size_B && hip_memory_find(ptr, &memory) && memory.kind == HIP_MEMORY_MANAGED &&
	       size_B <= memory.size_B - ((uintptr_t)ptr - memory.node.lo);
}

static bool is_place(int device)
{
	return device == hipCpuDeviceId || hip_device_of(device);
}

hipError_t hipMemPrefetchAsync(const void *ptr, size_t size, int device, hipStream_t stream)
{
	struct hip_stream *s;

	HIP_ENTER();
	if (!is_managed(ptr, size))
		return hip_end(hipErrorInvalidValue);
	if (!is_place(device))
		return hip_end(hipErrorInvalidDevice);
	return hip_end(hip_stream_of(stream, &s));
}

hipError_t hipMemAdvise(const void *ptr, size_t size, hipMemoryAdvise advice, int device)
{
	HIP_ENTER();
	if (!is_managed(ptr, size) ||
	    ((advice < hipMemAdviseSetReadMostly || advice > hipMemAdviseUnsetAccessedBy) &&
	     advice != hipMemAdviseSetCoarseGrain && advice != hipMemAdviseUnsetCoarseGrain))
		return hip_end(hipErrorInvalidValue);
	return hip_end(is_place(device) ? hipSuccess : hipErrorInvalidDevice);
}

static hipError_t range_attribute(void *data, size_t data_B, hipMemRangeAttribute attribute, const void *ptr,
				  size_t size_B)
{
	int value;

	if (!data || !data_B || !is_managed(ptr, size_B))
		return hipErrorInvalidValue;
	switch (attribute) {
	case hipMemRangeAttributeReadMostly:
		value = 0;
		break;
	case hipMemRangeAttributePreferredLocation:
	case hipMemRangeAttributeLastPrefetchLocation:
		value = hipCpuDeviceId; /* where it is */
		break;
	case hipMemRangeAttributeCoherencyMode:
		value = hipMemRangeCoherencyModeFineGrain;
		break;
	case hipMemRangeAttributeAccessedBy: /* a list: every device */
		if (data_B % sizeof(int))
			return hipErrorInvalidValue;
		for (size_t i = 0; i < data_B / sizeof(int); i++)
			((int *)data)[i] = i < hip.devices ? (int)i : hipInvalidDeviceId;
		return hipSuccess;
	default:
		return hipErrorInvalidValue;
	}
	if (data_B != sizeof(value))
		return hipErrorInvalidValue;
	memcpy(data, &value, sizeof(value));
	return hipSuccess;
}

hipError_t hipMemRangeGetAttribute(void *data, size_t data_size, hipMemRangeAttribute attribute, const void *ptr,
				   size_t size)
{
	HIP_ENTER();
	return hip_end(range_attribute(data, data_size, attribute, ptr, size));
}

hipError_t hipMemRangeGetAttributes(void **data, size_t *data_sizes, hipMemRangeAttribute *attributes, size_t count,
				    const void *ptr, size_t size)
{
	hipError_t r = hipSuccess;

	HIP_ENTER();
	if (!data || !data_sizes || !attributes || !count)
		return hip_end(hipErrorInvalidValue);
	for (size_t i = 0; !r && i < count; i++)
		r = range_attribute(data[i], data_sizes[i], attributes[i], ptr, size);
	return hip_end(r);
}

hipError_t hipStreamAttachMemAsync(hipStream_t stream, void *ptr, size_t size, unsigned int flags)
{
	struct hip_memory memory;
	struct hip_stream *s;

	HIP_ENTER();
	if (!ptr || (flags != hipMemAttachGlobal && flags != hipMemAttachHost && flags != hipMemAttachSingle) ||
	    !hip_memory_find(ptr, &memory) || memory.kind != HIP_MEMORY_MANAGED || (size && size != memory.size_B))
		return hip_end(hipErrorInvalidValue);
	return hip_end(hip_stream_of(stream, &s));
}
