/* ISAs: each GPU has one, the target that its code is compiled for. With a second one reported, clients of ROCm 5
 * drop the device. The handle of an agent's ISA is the address of its name in the agent; that of any other ISA is a
 * number that encodes it. */
#include <stdio.h>
#include <string.h>

#include "hsa/core/core.h"
#include "hsa/core/table.h"

#define PREFIX "amdgcn-amd-amdhsa--"

struct isa {
	const struct drv_chip *chip; /* for a generic target: the first chip that it covers */
	bool generic;
	enum drv_feature sramecc, xnack;
};

/* --- names and handles ------------------------------------------------------------------------ */

static bool is_target(const struct drv_chip *chip, bool generic, const char *name, size_t length)
{
	const char *target = !generic ? chip->target : chip->generic ? chip->generic->name : "";

	return strlen(target) == length && !memcmp(target, name, length);
}

/* Takes ":feature+" or ":feature-" off the text. Without it the result is EITHER, if the chip has the feature. */
static enum drv_feature take_feature(const char **text, const char *name, enum drv_feature chip)
{
	size_t length = strlen(name);

	if (chip == DRV_FEATURE_NONE)
		return DRV_FEATURE_NONE;
	if (strncmp(*text, name, length) || !strchr("+-", (*text)[length]) || !(*text)[length])
		return DRV_FEATURE_EITHER;
	*text += length + 1;
	return (*text)[-1] == '+' ? DRV_FEATURE_ON : DRV_FEATURE_OFF;
}

/* Parses a target ID. Features must have this order, as in LLVM's target IDs. */
static bool isa_parse(const char *name, struct isa *isa)
{
	const struct drv_chip *chip;
	size_t length;

	if (strncmp(name, PREFIX, strlen(PREFIX)))
		return false;
	name += strlen(PREFIX);
	length = strcspn(name, ":");
	for (unsigned i = 0; (chip = drv_chip_at(i)); i++)
		for (unsigned generic = 0; generic < 2; generic++) {
			const char *rest = name + length;

			if (!is_target(chip, generic, name, length))
				continue;
			*isa = (struct isa){.chip = chip, .generic = generic};
			isa->sramecc = take_feature(&rest, ":sramecc", chip->sramecc);
			isa->xnack = take_feature(&rest, ":xnack", chip->xnack);
			return !*rest;
		}
	return false;
}

static const char *const signs[] = {
	[DRV_FEATURE_NONE] = NULL, [DRV_FEATURE_OFF] = "-", [DRV_FEATURE_ON] = "+", [DRV_FEATURE_EITHER] = NULL};

static void isa_compose(const struct isa *isa, char *name, size_t size_B)
{
	const char *sramecc = signs[isa->sramecc], *xnack = signs[isa->xnack];

	snprintf(name, size_B, PREFIX "%s%s%s%s%s", isa->generic ? isa->chip->generic->name : isa->chip->target,
		 sramecc ? ":sramecc" : "", sramecc ? sramecc : "", xnack ? ":xnack" : "", xnack ? xnack : "");
}

/* The number that encodes an ISA: 5:4 xnack, 3:2 sramecc, 0 generic, from bit 6 on the chip's row. */
static hsa_isa_t number_of(const struct isa *isa)
{
	uint64_t row = 0;

	while (drv_chip_at((unsigned)row) != isa->chip)
		row++;
	return (hsa_isa_t){(uint64_t)RT_KIND(RT_ISA) << 48 | row << 6 | (uint64_t)isa->xnack << 4 |
			   (uint64_t)isa->sramecc << 2 | isa->generic};
}

static bool isa_of(const struct rt *rt, hsa_isa_t handle, struct isa *isa)
{
	const struct rt_agent *agent = rt_isa_of(rt, handle);
	uint64_t n = handle.handle & 0xffffffffffff;
	const struct drv_chip *chip;

	if (agent)
		return isa_parse(agent->isa, isa);
	chip = drv_chip_at(n >> 6 < UINT32_MAX ? (unsigned)(n >> 6) : UINT32_MAX);
	if (handle.handle >> 48 != RT_KIND(RT_ISA) || !chip || (n & 1 && !chip->generic))
		return false;
	*isa = (struct isa){.chip = chip, .generic = n & 1, .sramecc = n >> 2 & 3, .xnack = n >> 4 & 3};
	return true;
}

struct rt_agent *rt_isa_of(const struct rt *rt, hsa_isa_t handle)
{
	for (unsigned i = rt->cpus; i < rt->agents; i++)
		if (rt_isa_handle(&rt->agent[i]).handle == handle.handle)
			return &rt->agent[i];
	return NULL;
}

RT_IMPL(hsa_agent_iterate_isas,
	(hsa_agent_t handle, hsa_status_t (*callback)(hsa_isa_t isa, void *data), void *data),
	(handle, callback, data))
{
	const struct rt_agent *agent;

	agent = rt_agent_of(rt, handle);
	/* Like ROCr: a CPU has no ISA. */
	if (!agent || !agent->is_gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return callback ? callback(rt_isa_handle(agent), data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

RT_IMPL(hsa_isa_from_name, (const char *name, hsa_isa_t *isa), (name, isa))
{
	struct isa what;

	if (!name || !isa)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (unsigned i = rt->cpus; i < rt->agents; i++)
		if (!strcmp(rt->agent[i].isa, name)) {
			*isa = rt_isa_handle(&rt->agent[i]);
			return HSA_STATUS_SUCCESS;
		}
	if (!isa_parse(name, &what))
		return HSA_STATUS_ERROR_INVALID_ISA_NAME;
	*isa = number_of(&what);
	return HSA_STATUS_SUCCESS;
}

/* --- answers ---------------------------------------------------------------------------------- */

static hsa_status_t value_copy(void *value, const void *from, size_t size_B)
{
	memcpy(value, from, size_B);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t value_copy_u32(void *value, uint32_t number)
{
	return value_copy(value, &number, sizeof(number));
}

static hsa_status_t isa_info(const struct isa *isa, hsa_isa_info_t attribute, void *value)
{
	const struct drv_chip *chip = isa->chip;
	const bool large[2] = {false, true}, base[2] = {true, false}, near[3] = {false, false, true}, yes = true;
	const uint16_t group[3] = {chip->max_group_threads, chip->max_group_threads, chip->max_group_threads};
	const uint32_t grid[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
	const uint64_t grid_size = UINT64_MAX;
	char name[64];

	isa_compose(isa, name, sizeof(name));
	switch (attribute) {
	case HSA_ISA_INFO_NAME_LENGTH: /* including the terminating 0 */
		return value_copy_u32(value, (uint32_t)strlen(name) + 1);
	case HSA_ISA_INFO_NAME:
		return value_copy(value, name, strlen(name) + 1);
	case HSA_ISA_INFO_CALL_CONVENTION_COUNT:
		return value_copy_u32(value, 1);
	case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE:
		return value_copy_u32(value, chip->wave_lanes);
	case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
		return value_copy_u32(value, chip->waves_per_cu);
	case HSA_ISA_INFO_MACHINE_MODELS:
		return value_copy(value, large, sizeof(large));
	case HSA_ISA_INFO_PROFILES:
		return value_copy(value, base, sizeof(base));
	case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
	case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
		return value_copy(value, near, sizeof(near));
	case HSA_ISA_INFO_FAST_F16_OPERATION: /* fast from GFX8 on */
		return value_copy(value, &yes, sizeof(yes));
	case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
		return value_copy(value, group, sizeof(group));
	case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
		return value_copy_u32(value, chip->max_group_threads);
	case HSA_ISA_INFO_GRID_MAX_DIM:
		return value_copy(value, grid, sizeof(grid));
	case HSA_ISA_INFO_GRID_MAX_SIZE: /* Like ROCr 5.2, 6.1 and 6.4: UINT64_MAX here, 32-bit UINT32_MAX for
					    agents */
		return value_copy(value, &grid_size, sizeof(grid_size));
	case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
		return value_copy_u32(value, 32);
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

RT_IMPL(hsa_isa_get_info_alt, (hsa_isa_t handle, hsa_isa_info_t attribute, void *value), (handle, attribute, value))
{
	struct isa isa;

	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return isa_of(rt, handle, &isa) ? isa_info(&isa, attribute, value) : HSA_STATUS_ERROR_INVALID_ISA;
}

/* The deprecated function: index counts calling conventions, of which each ISA has one. */
RT_IMPL(hsa_isa_get_info, (hsa_isa_t handle, hsa_isa_info_t attribute, uint32_t index, void *value),
	(handle, attribute, index, value))
{
	(void)rt;
	if (value && index)
		return HSA_STATUS_ERROR_INVALID_INDEX;
	return impl_hsa_isa_get_info_alt(handle, attribute, value);
}

static bool feature_fits(enum drv_feature code, enum drv_feature agent)
{
	return code == agent || code == DRV_FEATURE_EITHER || code == DRV_FEATURE_NONE;
}

/* True when an agent of one ISA runs code of the other, by the loader's rules and the agent's own features. */
static bool is_compatible(const struct isa *code, const struct isa *agent)
{
	const struct drv_chip *chip = agent->chip;
	bool same = code->generic ? chip->generic == code->chip->generic
		    : agent->generic
			    ? false
			    : chip == code->chip || (chip->runs_mach && chip->runs_mach == code->chip->elf_mach);

	return same && feature_fits(code->sramecc, agent->sramecc) && feature_fits(code->xnack, agent->xnack);
}

RT_IMPL(hsa_isa_compatible, (hsa_isa_t code_handle, hsa_isa_t agent_handle, bool *result),
	(code_handle, agent_handle, result))
{
	struct isa code, agent;

	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!isa_of(rt, code_handle, &code) || !isa_of(rt, agent_handle, &agent))
		return HSA_STATUS_ERROR_INVALID_ISA;
	*result = is_compatible(&code, &agent);
	return HSA_STATUS_SUCCESS;
}

/* Like ROCr: exceptions are neither detected nor do they break. */
static hsa_status_t policies_copy(hsa_profile_t profile, bool alive, hsa_status_t dead, uint16_t *mask)
{
	if (!mask || (unsigned)profile > HSA_PROFILE_FULL)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!alive)
		return dead;
	*mask = 0;
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_isa_get_exception_policies, (hsa_isa_t handle, hsa_profile_t profile, uint16_t *mask),
	(handle, profile, mask))
{
	struct isa isa;

	return policies_copy(profile, isa_of(rt, handle, &isa), HSA_STATUS_ERROR_INVALID_ISA, mask);
}

RT_IMPL(hsa_agent_get_exception_policies, (hsa_agent_t handle, hsa_profile_t profile, uint16_t *mask),
	(handle, profile, mask))
{
	return policies_copy(profile, rt_agent_of(rt, handle), HSA_STATUS_ERROR_INVALID_AGENT, mask);
}

/* Fused multiply-adds round once, in each format. */
RT_IMPL(hsa_isa_get_round_method,
	(hsa_isa_t handle, hsa_fp_type_t type, hsa_flush_mode_t flush, hsa_round_method_t *method),
	(handle, type, flush, method))
{
	struct isa isa;

	if (!method || !(type == HSA_FP_TYPE_16 || type == HSA_FP_TYPE_32 || type == HSA_FP_TYPE_64) ||
	    !(flush == HSA_FLUSH_MODE_FTZ || flush == HSA_FLUSH_MODE_NON_FTZ))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!isa_of(rt, handle, &isa))
		return HSA_STATUS_ERROR_INVALID_ISA;
	*method = HSA_ROUND_METHOD_SINGLE;
	return HSA_STATUS_SUCCESS;
}

/* --- wavefronts: one size, whose handle is the ISA's ------------------------------------------ */

RT_IMPL(hsa_isa_iterate_wavefronts,
	(hsa_isa_t handle, hsa_status_t (*callback)(hsa_wavefront_t wavefront, void *data), void *data),
	(handle, callback, data))
{
	struct isa isa;

	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return isa_of(rt, handle, &isa) ? callback((hsa_wavefront_t){handle.handle}, data)
					: HSA_STATUS_ERROR_INVALID_ISA;
}

RT_IMPL(hsa_wavefront_get_info, (hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute, void *value),
	(wavefront, attribute, value))
{
	struct isa isa;

	if (!isa_of(rt, (hsa_isa_t){wavefront.handle}, &isa))
		return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
	if (!value || attribute != HSA_WAVEFRONT_INFO_SIZE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return value_copy_u32(value, isa.chip->wave_lanes);
}
