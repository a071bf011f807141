/* What is asked about memory: how much there is, and what an address belongs to. */
#include "api/base/entry.h"
#include "api/memory/memory.h"

static hipError_t mem_info(size_t *free_B, size_t *total_B)
{
	struct hip_device *d = hip_current();
	uint64_t available_B = 0;

	if (hsa_agent_get_info(d->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &available_B))
		return hipErrorInvalidValue;
	if (total_B)
		*total_B = d->vram_B;
	if (free_B)
		*free_B = available_B < d->vram_B ? available_B : d->vram_B;
	return hipSuccess;
}

HIP_PUBLIC(hipMemGetInfo, (size_t *free_B, size_t *total_B), (free_B, total_B))
{
	return mem_info(free_B, total_B);
}

static hipError_t address_range(hipDeviceptr_t *base, size_t *size_B, const void *ptr)
{
	struct hip_memory memory;

	if (!base && !size_B)
		return hipErrorInvalidValue;
	if (!ptr || !hip_memory_find(ptr, &memory))
		return hipErrorNotFound;
	if (base)
		*base = memory.gpu_base;
	if (size_B)
		*size_B = memory.size_B;
	return hipSuccess;
}

HIP_PUBLIC(hipMemGetAddressRange, (hipDeviceptr_t *base, size_t *size_B, hipDeviceptr_t ptr), (base, size_B, ptr))
{
	return address_range(base, size_B, ptr);
}

HIP_PUBLIC(hipMemPtrGetInfo, (void *ptr, size_t *size_B), (ptr, size_B))
{
	if (!size_B)
		return hipErrorInvalidValue;
	return address_range(NULL, size_B, ptr) ? hipErrorInvalidValue : hipSuccess;
}

static const hipMemoryType types[] = {
	[HIP_MEMORY_DEVICE] = hipMemoryTypeDevice,
	[HIP_MEMORY_HOST] = hipMemoryTypeHost,
	[HIP_MEMORY_REGISTERED] = hipMemoryTypeHost,
	[HIP_MEMORY_MANAGED] = hipMemoryTypeManaged,
};

static hipError_t pointer_attributes(hipPointerAttribute_t *out, const void *ptr)
{
	struct hip_memory memory;
	size_t at;

	if (!out || (!ptr && TUFF_HIP_ABI < 7))
		return hipErrorInvalidValue;
	if (!hip_memory_find(ptr, &memory)) {
		*out = (hipPointerAttribute_t){.device = -2};
#if TUFF_HIP_ABI == 5
		return hipErrorInvalidValue;
#else
		out->type = hipMemoryTypeUnregistered;
		return hipSuccess;
#endif
	}
	at = (uintptr_t)ptr - memory.node.lo;
	*out = (hipPointerAttribute_t){
		.type = types[memory.kind],
		.device = memory.device,
		.devicePointer = memory.gpu_base + at,
		.hostPointer = memory.base ? memory.base + at : NULL,
		.isManaged = memory.kind == HIP_MEMORY_MANAGED,
		.allocationFlags = memory.flags,
	};
	return hipSuccess;
}

HIP_PUBLIC(hipPointerGetAttributes, (hipPointerAttribute_t *attributes, const void *ptr), (attributes, ptr))
{
	return pointer_attributes(attributes, ptr);
}
