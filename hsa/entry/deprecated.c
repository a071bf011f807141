/* Functions of early HSA without an effect: they check their arguments and return the same status as ROCr's. */
#include "hsa/core/core.h"
#include "hsa/core/table.h"

RT_IMPL(hsa_memory_assign_agent, (void *ptr, hsa_agent_t agent, hsa_access_permission_t access),
	(ptr, agent, access))
{
	if (!ptr || access < HSA_ACCESS_PERMISSION_RO || access > HSA_ACCESS_PERMISSION_RW)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return rt_agent_of(rt, agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

/* Memory stays where it was allocated. */
RT_IMPL(hsa_amd_memory_pool_can_migrate, (hsa_amd_memory_pool_t from, hsa_amd_memory_pool_t to, bool *result),
	(from, to, result))
{
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return rt_pool_of(rt, from.handle) && rt_pool_of(rt, to.handle)
		       ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
		       : (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
}

RT_IMPL(hsa_amd_memory_migrate, (const void *ptr, hsa_amd_memory_pool_t pool, uint32_t flags), (ptr, pool, flags))
{
	if (!ptr || flags)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return rt_pool_of(rt, pool.handle) ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
					   : (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
}

/* Coherency types of GFX7's APUs. The value is stored, and has no effect. */
RT_IMPL(hsa_amd_coherency_get_type, (hsa_agent_t handle, hsa_amd_coherency_type_t *type), (handle, type))
{
	struct rt_agent *agent = rt_agent_of(rt, handle);

	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!type)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!agent->gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	*type = atomic_load(&agent->gpu->coherency);
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_amd_coherency_set_type, (hsa_agent_t handle, hsa_amd_coherency_type_t type), (handle, type))
{
	struct rt_agent *agent = rt_agent_of(rt, handle);

	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if ((unsigned)type > HSA_AMD_COHERENCY_TYPE_NONCOHERENT)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!agent->gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	atomic_store(&agent->gpu->coherency, type);
	return HSA_STATUS_SUCCESS;
}
