/* hsa_amd_pointer_info(). */
#include <string.h>

#include "hsa/core/table.h"
#include "hsa/memory/memory.h"

/* The agents that can access the address: CPUs if it has a host address, then GPUs. At most rt->agents. */
static uint32_t agents_of(struct rt *rt, uint64_t address, const struct rt_alloc_info *info, hsa_agent_t *agents)
{
	uint32_t count = 0;
	uint64_t va;

	for (unsigned i = 0; i < rt->agents; i++) {
		struct rt_agent *agent = &rt->agent[i];

		if (agent->is_gpu ? rt_alloc_info_reach(rt, agent->gpu, address, 1, HSA_ACCESS_PERMISSION_RW, &va)
				  : info->host_base != 0)
			agents[count++] = rt_agent_handle(agent);
	}
	return count;
}

RT_IMPL(hsa_amd_pointer_info,
	(const void *ptr, hsa_amd_pointer_info_t *info, void *(*alloc)(size_t), uint32_t *num_agents_accessible,
	 hsa_agent_t **accessible),
	(ptr, info, alloc, num_agents_accessible, accessible))
{
	hsa_amd_pointer_info_t answer = {.type = HSA_EXT_POINTER_TYPE_UNKNOWN};
	struct rt_alloc_info found = {0};
	bool known;

	if (!ptr || !info || !info->size || !num_agents_accessible != !accessible)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	known = rt_alloc_info_find(rt, (uintptr_t)ptr, &found);
	if (known)
		answer = (hsa_amd_pointer_info_t){
			.type = found.type,
			.agentBaseAddress = (void *)(uintptr_t)found.agent_base,
			.hostBaseAddress = (void *)(uintptr_t)found.host_base,
			.sizeInBytes = found.size_B,
			.agentOwner = rt_agent_handle(found.owner),
			.userData = rt_user_data_get(rt, found.base),
			.global_flags = found.global_flags,
		};
	/* Programs built for older releases have a smaller struct. */
	answer.size = info->size < sizeof(answer) ? info->size : sizeof(answer);
	memcpy(info, &answer, answer.size);
	if (!alloc || !accessible)
		return HSA_STATUS_SUCCESS;
	*num_agents_accessible = 0;
	if (!known)
		return HSA_STATUS_SUCCESS;
	*accessible = alloc(rt->agents * sizeof(**accessible));
	if (!*accessible)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*num_agents_accessible = agents_of(rt, (uintptr_t)ptr, &found, *accessible);
	return HSA_STATUS_SUCCESS;
}
