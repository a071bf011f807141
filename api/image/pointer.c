/* Pointer attributes. */
#include <string.h>

#include "api/image/image.h"

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
	case HIP_POINTER_ATTRIBUTE_BUFFER_ID: /* 8 bytes in CUDA, and the size of the range, too */
	case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
		return sizeof(int);
	default:
		return sizeof(uint64_t);
	}
}

/* Returns an attribute as a number; HIP has one number for each attribute here. */
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
		*value = memory->sync;
		return hipSuccess;
	case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*value = memory->shareable ? hipMemHandleTypePosixFileDescriptor : hipMemHandleTypeNone;
		return memory->pool || memory->shareable ? hipSuccess : hipErrorNotSupported;
	case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*value = memory->pool;
		return memory->pool ? hipSuccess : hipErrorNotSupported;
	case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
		*value = TUFF_HIP_ABI >= 7 && memory->kind == HIP_MEMORY_DEVICE;
		return TUFF_HIP_ABI >= 7 ? hipSuccess : hipErrorNotSupported;
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
	if (!hip_memory_find(ptr, &memory)) {
		value = attribute == HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS ? 0 : hipMemoryTypeArray;
		if (value && (attribute != HIP_POINTER_ATTRIBUTE_MEMORY_TYPE || !hip_array_of(ptr)))
			return hipErrorInvalidValue;
		memcpy(data, &value, pointer_attribute_size(attribute));
		return hipSuccess;
	}
	r = pointer_attribute(&value, attribute, ptr, &memory);
	memcpy(data, &value, pointer_attribute_size(attribute));
	return r;
}

HIP_PUBLIC(hipPointerGetAttribute, (void *data, hipPointer_attribute attribute, hipDeviceptr_t ptr),
	   (data, attribute, ptr))
{
	return get_attribute(data, attribute, ptr);
}

/* Unknown attributes are 0: one call queries several. */
HIP_PUBLIC(hipDrvPointerGetAttributes,
	   (unsigned int count, hipPointer_attribute *attributes, void **data, hipDeviceptr_t ptr),
	   (count, attributes, data, ptr))
{
	if (!count || !attributes || !data || !ptr)
		return hipErrorInvalidValue;
	for (unsigned i = 0; i < count; i++)
		if (!data[i] || get_attribute(data[i], attributes[i], ptr)) {
			if (!data[i])
				return hipErrorInvalidValue;
			memset(data[i], 0, pointer_attribute_size(attributes[i]));
		}
	return hipSuccess;
}

/* Synchronous copies from and to memory with this attribute wait in every case. */
static hipError_t set_attribute(const void *value, hipPointer_attribute attribute, hipDeviceptr_t ptr)
{
	struct hip_memory memory;

	if (!value || !ptr || attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS || *(const unsigned *)value > 1)
		return hipErrorInvalidValue;
	if (!hip_memory_find(ptr, &memory))
		return hipErrorInvalidDevicePointer;
	if (memory.pool)
		return hipErrorNotSupported;
	hip_memory_set_sync(ptr, *(const unsigned *)value);
	return hipSuccess;
}

HIP_PUBLIC(hipPointerSetAttribute, (const void *value, hipPointer_attribute attribute, hipDeviceptr_t ptr),
	   (value, attribute, ptr))
{
	return set_attribute(value, attribute, ptr);
}
