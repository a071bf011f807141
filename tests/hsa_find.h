/* Setup of programs of HSA: finds the agents, and the memory pools of each. */
#ifndef TESTS_HSA_FIND_H
#define TESTS_HSA_FIND_H

#include <string.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "tests/check.h"

#define FIND_MAX 8

/* Of one agent; a handle of 0: it has none. */
struct hsa_found {
	hsa_agent_t agent;
	hsa_amd_memory_pool_t fine, kernarg, coarse, group;
};

struct hsa_find {
	unsigned cpus, gpus;
	struct hsa_found cpu[FIND_MAX], gpu[FIND_MAX];
};

static inline hsa_status_t hsa_find_pool(hsa_amd_memory_pool_t pool, void *data)
{
	struct hsa_found *found = data;
	hsa_amd_segment_t segment;
	uint32_t flags = 0;

	CHECK_EQ(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment), 0);
	CHECK_EQ(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags), 0);
	if (segment == HSA_AMD_SEGMENT_GROUP)
		found->group = pool;
	else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		found->kernarg = pool;
	else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
		found->fine = pool;
	else
		found->coarse = pool;
	return HSA_STATUS_SUCCESS;
}

static inline hsa_status_t hsa_find_agent(hsa_agent_t agent, void *data)
{
	struct hsa_find *find = data;
	struct hsa_found *found;
	hsa_device_type_t type;

	CHECK_EQ(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), 0);
	if ((type == HSA_DEVICE_TYPE_GPU ? find->gpus : find->cpus) == FIND_MAX)
		return HSA_STATUS_INFO_BREAK;
	found = type == HSA_DEVICE_TYPE_GPU ? &find->gpu[find->gpus++] : &find->cpu[find->cpus++];
	found->agent = agent;
	return hsa_amd_agent_iterate_memory_pools(agent, hsa_find_pool, found);
}

/* Behind hsa_init(). False: there is no GPU. */
static inline bool hsa_find_all(struct hsa_find *find)
{
	*find = (struct hsa_find){0};
	CHECK_EQ(hsa_iterate_agents(hsa_find_agent, find), HSA_STATUS_SUCCESS);
	return CHECK(find->gpus && find->cpus);
}

#endif
