/* Regions: memory pools as HSA 1.0 names them. A region's handle is its pool's. */
#include "hsa/core/table.h"
#include "hsa/memory/memory.h"

RT_IMPL(hsa_agent_iterate_regions,
	(hsa_agent_t handle, hsa_status_t (*callback)(hsa_region_t region, void *data), void *data),
	(handle, callback, data))
{
	struct rt_agent *agent = rt_agent_of(rt, handle);
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	for (unsigned i = 0; status == HSA_STATUS_SUCCESS && i < agent->pools - agent->hidden; i++)
		status = callback((hsa_region_t){(uintptr_t)&agent->pool[i]}, data);
	return status;
}

/* Attributes of regions and pools have the same numbers. */
_Static_assert(HSA_REGION_INFO_SEGMENT == (int)HSA_AMD_MEMORY_POOL_INFO_SEGMENT &&
		       HSA_REGION_INFO_GLOBAL_FLAGS == (int)HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS &&
		       HSA_REGION_INFO_SIZE == (int)HSA_AMD_MEMORY_POOL_INFO_SIZE &&
		       HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT ==
			       (int)HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT &&
		       HSA_REGION_SEGMENT_GROUP == (int)HSA_AMD_SEGMENT_GROUP,
	       "regions are pools");

RT_IMPL(hsa_region_get_info, (hsa_region_t handle, hsa_region_info_t attribute, void *value),
	(handle, attribute, value))
{
	const struct rt_pool *pool = rt_pool_of(rt, handle.handle);

	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool)
		return HSA_STATUS_ERROR_INVALID_REGION;
	switch ((int)attribute) {
	case HSA_REGION_INFO_ALLOC_MAX_SIZE:
		return RT_GIVE(value, size_t, pool->size_B);
	case HSA_AMD_REGION_INFO_HOST_ACCESSIBLE:
		return RT_GIVE(value, bool,
			       pool->kind != RT_POOL_GROUP &&
				       (!pool->agent->is_gpu || pool->agent->gpu->large_bar));
	default:
		return rt_pool_get_attribute(pool, attribute, value);
	}
}

hsa_status_t impl_hsa_memory_allocate(hsa_region_t region, size_t size, void **ptr)
{
	hsa_status_t status =
		impl_hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){region.handle}, size, 0, ptr);

	return (int)status == HSA_STATUS_ERROR_INVALID_MEMORY_POOL ? HSA_STATUS_ERROR_INVALID_REGION : status;
}

hsa_status_t impl_hsa_memory_free(void *ptr)
{
	return impl_hsa_amd_memory_pool_free(ptr);
}

/* Registration announces host memory that a kernel of the full profile may use; it needs no action, and ROCr takes
 * none. */
RT_IMPL(hsa_memory_register, (void *ptr, size_t size), (ptr, size))
{
	(void)rt;
	return ptr && !size ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_memory_deregister, (void *ptr, size_t size), (ptr, size))
{
	(void)rt;
	(void)ptr;
	(void)size;
	return HSA_STATUS_SUCCESS;
}
