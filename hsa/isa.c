/* ISAs: each GPU has one, the target that its code is compiled for. Reporting a second one makes clients of ROCm 5
 * drop the device. A handle is the address of the agent's name of it. */
#include <string.h>

#include "hsa/internal.h"
#include "hsa/table.h"

struct rt_agent *rt_isa_of(const struct rt *rt, hsa_isa_t handle)
{
	for (unsigned i = rt->cpus; i < rt->agents; i++)
		if (rt_isa_handle(&rt->agent[i]).handle == handle.handle)
			return &rt->agent[i];
	return NULL;
}

hsa_status_t impl_hsa_agent_iterate_isas(hsa_agent_t handle, hsa_status_t (*callback)(hsa_isa_t isa, void *data),
					 void *data)
{
	const struct rt_agent *agent;
	RT_ENTER(rt);

	agent = rt_agent_of(rt, handle);
	/* As ROCr: a CPU has none to speak of. */
	if (!agent || !agent->is_gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return callback ? callback(rt_isa_handle(agent), data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t impl_hsa_isa_from_name(const char *name, hsa_isa_t *isa)
{
	RT_ENTER(rt);

	if (!name || !isa)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (unsigned i = rt->cpus; i < rt->agents; i++)
		if (!strcmp(rt->agent[i].isa, name)) {
			*isa = rt_isa_handle(&rt->agent[i]);
			return HSA_STATUS_SUCCESS;
		}
	return HSA_STATUS_ERROR_INVALID_ISA_NAME;
}

/* Copies out size bytes. */
static hsa_status_t give(void *value, const void *from, size_t size_B)
{
	memcpy(value, from, size_B);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t give_u32(void *value, uint32_t number)
{
	return give(value, &number, sizeof(number));
}

static hsa_status_t get_info(const struct rt_agent *agent, hsa_isa_info_t attribute, void *value)
{
	const struct rt_info *info = &agent->info;
	const bool large[2] = {false, true}, base[2] = {true, false}, near[3] = {false, false, true};
	const uint64_t grid = UINT32_MAX;

	switch (attribute) {
	case HSA_ISA_INFO_NAME_LENGTH: /* with its end */
		return give_u32(value, (uint32_t)strlen(agent->isa) + 1);
	case HSA_ISA_INFO_NAME:
		return give(value, agent->isa, strlen(agent->isa) + 1);
	case HSA_ISA_INFO_CALL_CONVENTION_COUNT:
		return give_u32(value, 1);
	case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE:
		return give_u32(value, info->wave_lanes);
	case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
		return give_u32(value, info->waves_per_cu);
	case HSA_ISA_INFO_MACHINE_MODELS:
		return give(value, large, sizeof(large));
	case HSA_ISA_INFO_PROFILES:
		return give(value, base, sizeof(base));
	case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
	case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
		return give(value, near, sizeof(near));
	case HSA_ISA_INFO_FAST_F16_OPERATION:
		return give(value, &info->fast_f16, sizeof(info->fast_f16));
	case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
		return give(value, info->group_dim, sizeof(info->group_dim));
	case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
		return give_u32(value, info->group_size);
	case HSA_ISA_INFO_GRID_MAX_DIM:
		return give(value, info->grid_dim, sizeof(info->grid_dim));
	case HSA_ISA_INFO_GRID_MAX_SIZE: /* of 64 bits here, of 32 for agents */
		return give(value, &grid, sizeof(grid));
	case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
		return give_u32(value, info->fbarriers);
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t impl_hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value)
{
	const struct rt_agent *agent;
	RT_ENTER(rt);

	agent = rt_isa_of(rt, isa);
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_ISA;
	return value ? get_info(agent, attribute, value) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t impl_hsa_isa_iterate_wavefronts(hsa_isa_t isa,
					     hsa_status_t (*callback)(hsa_wavefront_t wavefront, void *data),
					     void *data)
{
	RT_ENTER(rt);

	if (!rt_isa_of(rt, isa))
		return HSA_STATUS_ERROR_INVALID_ISA;
	/* One size: its handle is the ISA's. */
	return callback ? callback((hsa_wavefront_t){isa.handle}, data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t impl_hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute, void *value)
{
	const struct rt_agent *agent;
	RT_ENTER(rt);

	agent = rt_isa_of(rt, (hsa_isa_t){wavefront.handle});
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
	if (!value || attribute != HSA_WAVEFRONT_INFO_SIZE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return give_u32(value, agent->info.wave_lanes);
}
