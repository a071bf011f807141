/* Memory pools: properties, access, allocation (hsa_amd_memory_pool_*). */
#include "drv/lock.h"
#include "hsa/core/table.h"
#include "hsa/memory/memory.h"

#include <errno.h>

#define INVALID_POOL ((hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL)
/* The size of a large page of the TLB: allocations of multiples of it waste no part of a fragment. */
#define VRAM_GRANULE_B (2u << 20)
#define ALL_POOL_FLAGS                                                                                             \
	(HSA_AMD_MEMORY_POOL_PCIE_FLAG | HSA_AMD_MEMORY_POOL_CONTIGUOUS_FLAG | HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG)

/* --- properties --------------------------------------------------------------------------------- */

RT_IMPL(hsa_amd_agent_iterate_memory_pools,
	(hsa_agent_t handle, hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void *data), void *data),
	(handle, callback, data))
{
	struct rt_agent *agent = rt_agent_of(rt, handle);
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	for (unsigned i = 0; status == HSA_STATUS_SUCCESS && i < agent->pools - agent->hidden; i++)
		status = callback((hsa_amd_memory_pool_t){(uintptr_t)&agent->pool[i]}, data);
	return status;
}

hsa_status_t rt_pool_get_attribute(const struct rt_pool *pool, uint32_t attribute, void *value)
{
	const bool global = pool->kind != RT_POOL_GROUP;

	switch (attribute) {
	case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
		return RT_GIVE(value, uint32_t, global ? HSA_AMD_SEGMENT_GLOBAL : HSA_AMD_SEGMENT_GROUP);
	case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
		return RT_GIVE(value, uint32_t, rt_pool_flags(pool->kind));
	case HSA_AMD_MEMORY_POOL_INFO_SIZE:
		return RT_GIVE(value, size_t, pool->size_B);
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
		return RT_GIVE(value, bool, global);
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
		return RT_GIVE(value, size_t, global ? RT_PAGE_B : 0);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

RT_IMPL(hsa_amd_memory_pool_get_info,
	(hsa_amd_memory_pool_t handle, hsa_amd_memory_pool_info_t attribute, void *value),
	(handle, attribute, value))
{
	const struct rt_pool *pool = rt_pool_of(rt, handle.handle);
	bool local;

	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool)
		return INVALID_POOL;
	local = pool->agent->is_gpu;
	switch ((int)attribute) {
	case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
		return RT_GIVE(value, size_t, pool->size_B);
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE:
		return RT_GIVE(value, size_t, pool->kind == RT_POOL_GROUP ? 0 : local ? VRAM_GRANULE_B : RT_PAGE_B);
	case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
		return RT_GIVE(value, bool, !local);
	case HSA_AMD_MEMORY_POOL_INFO_LOCATION:
		return RT_GIVE(value, uint32_t,
			       local ? HSA_AMD_MEMORY_POOL_LOCATION_GPU : HSA_AMD_MEMORY_POOL_LOCATION_CPU);
	default:
		return rt_pool_get_attribute(pool, attribute, value);
	}
}

/* --- access ------------------------------------------------------------------------------------- */

static uint32_t pool_access_of(const struct rt_agent *agent, const struct rt_pool *pool)
{
	if (pool->agent == agent)
		return HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT;
	if (pool->kind == RT_POOL_GROUP)
		return HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
	if (!pool->agent->is_gpu)
		return agent->is_gpu ? HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT
				     : HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT;
	return (agent->is_gpu ? rt_may_reach(agent->gpu, pool) : pool->agent->gpu->large_bar)
		       ? HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT
		       : HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
}

static struct drv_link link_between(const struct rt *rt, const struct rt_agent *a, const struct rt_agent *b)
{
	if (a->is_gpu && b->is_gpu)
		return drv_link_devices(&rt->host, &a->gpu->place, &b->gpu->place);
	if (a->is_gpu)
		return drv_link_numa(&rt->host, &a->gpu->place, b->numa->id);
	if (b->is_gpu)
		return drv_link_numa(&rt->host, &b->gpu->place, a->numa->id);
	return drv_link_sockets(&rt->host, a->numa->id, b->numa->id);
}

/* True unless the link is known not to pass atomic operations on. Where it cannot be known, since only root reads
 * PCIe's capabilities, the result is true: signals need no atomics, and with false CLR refuses kernels with
 * hostcall. */
static bool passes_atomics(const struct drv_link *link, const struct rt_agent *a, const struct rt_agent *b)
{
	const struct rt_agent *ends[] = {a, b};

	for (unsigned i = 0; i < 2; i++)
		if (link->type == DRV_LINK_PCIE && ends[i]->is_gpu && !ends[i]->gpu->dev->facts.apu &&
		    ends[i]->gpu->place.pcie.atomics == DRV_PCIE_ATOMICS_NO)
			return false;
	return true;
}

/* Describes the whole path as one hop with the total weight, as ROCr does. */
static void describe_link(const struct drv_link *link, bool atomics, hsa_amd_memory_pool_link_info_t *info)
{
	static const hsa_amd_link_info_type_t types[] = {
		[DRV_LINK_PCIE] = HSA_AMD_LINK_INFO_TYPE_PCIE,
		[DRV_LINK_XGMI] = HSA_AMD_LINK_INFO_TYPE_XGMI,
		[DRV_LINK_SOCKET] = HSA_AMD_LINK_INFO_TYPE_QPI,
	};

	*info = (hsa_amd_memory_pool_link_info_t){
		.min_bandwidth = link->bandwidth_MBps,
		.max_bandwidth = link->bandwidth_MBps,
		.atomic_support_32bit = atomics,
		.atomic_support_64bit = atomics,
		.coherent_support = true,
		.link_type = types[link->type],
		.numa_distance = link->weight,
	};
}

RT_IMPL(hsa_amd_agent_memory_pool_get_info,
	(hsa_agent_t agent_handle, hsa_amd_memory_pool_t handle, hsa_amd_agent_memory_pool_info_t attribute,
	 void *value),
	(agent_handle, handle, attribute, value))
{
	const struct rt_agent *agent = rt_agent_of(rt, agent_handle);
	const struct rt_pool *pool = rt_pool_of(rt, handle.handle);
	struct drv_link link;

	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!pool)
		return INVALID_POOL;
	switch ((int)attribute) {
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
		return RT_GIVE(value, uint32_t, pool_access_of(agent, pool));
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
		return RT_GIVE(value, uint32_t, agent != pool->agent);
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
		if (agent == pool->agent) /* no hop, no entry */
			return HSA_STATUS_SUCCESS;
		link = link_between(rt, agent, pool->agent);
		describe_link(&link, passes_atomics(&link, agent, pool->agent), value);
		return HSA_STATUS_SUCCESS;
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

/* --- allocation --------------------------------------------------------------------------------- */

RT_IMPL(hsa_amd_memory_pool_allocate, (hsa_amd_memory_pool_t handle, size_t size, uint32_t flags, void **ptr),
	(handle, size, flags, ptr))
{
	struct rt_pool *pool = rt_pool_of(rt, handle.handle);
	struct pool_block *block;
	int r;

	if (!size || !ptr || flags & ~(uint32_t)ALL_POOL_FLAGS)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool)
		return INVALID_POOL;
	if (!pool->pool || size > pool->size_B)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	r = pool_alloc(pool->pool, size, &block);
	if (!r)
		*ptr = (void *)(uintptr_t)block->va;
	return hsa_status_of(r);
}

RT_IMPL(hsa_amd_memory_pool_free, (void *ptr), (ptr))
{
	struct cs_fence fences[RT_FENCES_MAX];
	struct pool_block *block;

	if (!ptr)
		return HSA_STATUS_SUCCESS;
	if (pool_claim(rt->memory->space, (uintptr_t)ptr, &block))
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	rt_user_data_end(rt, block->va, block->size_B);
	rt->ops->forget_exports(rt, block->va, block->size_B);
	rt_queues_flush(rt); /* open jobs may use the block, too */
	drv_mutex_lock(&rt->memory->free_lock);
	pool_free(block, fences, rt_memory_fences(rt, block->seen_by, fences));
	drv_mutex_unlock(&rt->memory->free_lock);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rt_gpus_of(const struct rt *rt, uint32_t count, const hsa_agent_t *agents, uint32_t *gpus)
{
	*gpus = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct rt_agent *agent = rt_agent_of(rt, agents[i]);

		if (!agent)
			return HSA_STATUS_ERROR_INVALID_AGENT;
		if (agent->is_gpu)
			*gpus |= 1u << agent->gpu->index;
	}
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_amd_agents_allow_access,
	(uint32_t num_agents, const hsa_agent_t *agents, const uint32_t *flags, const void *ptr),
	(num_agents, agents, flags, ptr))
{
	struct cs_fence fences[RT_FENCES_MAX];
	struct pool_found found;
	hsa_status_t status;
	uint32_t gpus;
	int r;

	if (!num_agents || !agents || flags || !ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = rt_gpus_of(rt, num_agents, agents, &gpus);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	/* Like ROCr: an address that is not the begin of a block may be one of mapped memory; else it is
	 * invalid. */
	if (!pool_find(rt->memory->space, (uintptr_t)ptr, &found) || found.va != (uintptr_t)ptr)
		return rt_vmm_allow(rt, (uintptr_t)ptr, num_agents, agents);
	if (!rt_all_may_reach(rt, gpus & ~found.seen_by, pool_info(found.pool)->owner))
		return HSA_STATUS_ERROR_INVALID_AGENT; /* the pool's access attribute is NEVER_ALLOWED */
	drv_mutex_lock(&rt->memory->free_lock);
	r = pool_allow(found.block, gpus, fences, rt_memory_fences(rt, found.seen_by, fences));
	drv_mutex_unlock(&rt->memory->free_lock);
	return hsa_status_of(r);
}
