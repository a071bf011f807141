/* Extensions: which there are, and their tables of functions. */
#include <stdio.h>
#include <string.h>

#include "hsa/core/table.h"
#include "hsa/entry/extension.h"
#include "hsa/interface.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* As its table has them; what tools put before the exported functions is before these. */
static const hsa_ext_images_1_pfn_t images = {
#define IMAGES(name) .name = name
	IMAGES(hsa_ext_image_get_capability),
	IMAGES(hsa_ext_image_data_get_info),
	IMAGES(hsa_ext_image_create),
	IMAGES(hsa_ext_image_destroy),
	IMAGES(hsa_ext_image_copy),
	IMAGES(hsa_ext_image_import),
	IMAGES(hsa_ext_image_export),
	IMAGES(hsa_ext_image_clear),
	IMAGES(hsa_ext_sampler_create),
	IMAGES(hsa_ext_sampler_destroy),
	IMAGES(hsa_ext_image_get_capability_with_layout),
	IMAGES(hsa_ext_image_data_get_info_with_layout),
	IMAGES(hsa_ext_image_create_with_layout),
	IMAGES(hsa_ext_sampler_create_v2),
};

/* Supported ones have a table; each minor version is a longer part of it. The finalizer's functions are exported as
 * ROCr's are, and fail: HSAIL has no compiler. Counters and profiles of packets need the kernel's debug interface.
 */
#define NAMED(extension) .id = extension, .name = #extension
static const struct extension {
	uint16_t id;
	const char *name;
	const void *table;
	uint8_t minors;
	uint8_t functions[4]; /* by minor version */
	uint8_t all;          /* functions of the whole table */
} extension_rows[] = {
	{NAMED(HSA_EXTENSION_FINALIZER)},
	/* ROCr has no minor version for what came behind 1.0. */
	{NAMED(HSA_EXTENSION_IMAGES), &images, 1, {10}, sizeof(images) / sizeof(void *)},
	{NAMED(HSA_EXTENSION_PERFORMANCE_COUNTERS)},
	{NAMED(HSA_EXTENSION_PROFILING_EVENTS)},
	{NAMED(HSA_EXTENSION_AMD_PROFILER)},
	{NAMED(HSA_EXTENSION_AMD_LOADER), &rt_tables.loader, 4, {3, 5, 6, 7}, 7},
	{NAMED(HSA_EXTENSION_AMD_AQLPROFILE)},
	{NAMED(HSA_EXTENSION_AMD_PC_SAMPLING)},
	{RT_EXTENSION_INTERFACE,
	 "TUFF_DOOR",
	 &rt_interface,
	 1,
	 {sizeof(rt_interface) / sizeof(void *)},
	 sizeof(rt_interface) / sizeof(void *)},
};

static const struct extension *find(uint16_t id)
{
	for (size_t i = 0; i < COUNT(extension_rows); i++)
		if (extension_rows[i].id == id)
			return &extension_rows[i];
	return NULL;
}

/* The supported one of that major version, or NULL. */
static const struct extension *find_supported(uint16_t id, uint16_t major)
{
	const struct extension *x = find(id);

	return x && x->table && major == 1 ? x : NULL;
}

hsa_status_t impl_hsa_extension_get_name(uint16_t extension, const char **name)
{
	const struct extension *x = find(extension);
	RT_ENTER(rt);

	(void)rt;
	if (!name)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*name = x ? x->name : "HSA_EXTENSION_INVALID"; /* as ROCr */
	return x ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static bool has_bit(const uint8_t bits[128], unsigned id)
{
	return bits[id / 8] >> id % 8 & 1;
}

static void set_bits(uint8_t bits[128], bool with_images)
{
	memset(bits, 0, 128);
	for (size_t i = 0; i < COUNT(extension_rows); i++)
		if (extension_rows[i].table && extension_rows[i].id != RT_EXTENSION_INTERFACE &&
		    (with_images || extension_rows[i].id != HSA_EXTENSION_IMAGES))
			bits[extension_rows[i].id / 8] |= (uint8_t)(1u << extension_rows[i].id % 8);
}

int rt_extensions_init(struct rt *rt)
{
	set_bits(rt->extensions, true);
	for (unsigned i = 0; i < rt->gpus; i++)
		set_bits(rt->gpu[i]->agent->info.extensions, rt->gpu[i]->dev->chip->images != DRV_IMAGES_NONE);
	return 0;
}

/* Unknown numbers are wrong, and known extensions may not be there. */
static hsa_status_t supports(uint16_t extension, uint16_t major, uint16_t minor, bool *result)
{
	const struct extension *x = find_supported(extension, major);

	if (!result || !find(extension))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = x && minor < x->minors;
	return HSA_STATUS_SUCCESS;
}

/* Gives the last minor version. */
static hsa_status_t supports_major(uint16_t extension, uint16_t major, uint16_t *minor, bool *result)
{
	const struct extension *x = find_supported(extension, major);

	if (!minor || !result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = x;
	if (x)
		*minor = x->minors - 1;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor, bool *result)
{
	RT_ENTER(rt);

	(void)rt;
	return supports(extension, major, minor, result);
}

hsa_status_t impl_hsa_system_major_extension_supported(uint16_t extension, uint16_t major, uint16_t *minor,
						       bool *result)
{
	RT_ENTER(rt);

	(void)rt;
	return supports_major(extension, major, minor, result);
}

/* What an agent has, its bits say. */
hsa_status_t impl_hsa_agent_extension_supported(uint16_t extension, hsa_agent_t handle, uint16_t major,
						uint16_t minor, bool *result)
{
	const struct rt_agent *agent;
	hsa_status_t status;
	RT_ENTER(rt);

	agent = rt_agent_of(rt, handle);
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	status = supports(extension, major, minor, result);
	if (!status)
		*result &= has_bit(agent->info.extensions, extension);
	return status;
}

hsa_status_t impl_hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t handle, uint16_t major,
						      uint16_t *minor, bool *result)
{
	const struct rt_agent *agent;
	hsa_status_t status;
	RT_ENTER(rt);

	agent = rt_agent_of(rt, handle);
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	status = supports_major(extension, major, minor, result);
	if (!status)
		*result &= has_bit(agent->info.extensions, extension);
	return status;
}

/* As ROCr: the first `size_B` bytes of the table; what lies behind its end stays as it is. */
hsa_status_t impl_hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t size_B,
						       void *table)
{
	const struct extension *x = find_supported(extension, major);
	size_t whole_B;
	RT_ENTER(rt);

	(void)rt;
	if (!table || !size_B)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!x)
		return HSA_STATUS_ERROR;
	whole_B = x->all * sizeof(void *);
	memcpy(table, x->table, size_B < whole_B ? size_B : whole_B);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor, void *table)
{
	const struct extension *x = find_supported(extension, major);

	/* A size of 0 for what there is not: an invalid argument, as in ROCr. */
	return impl_hsa_system_get_major_extension_table(
		extension, major, x && minor < x->minors ? x->functions[minor] * sizeof(void *) : 0, table);
}

/* --- what is set for the whole process -------------------------------------------------------- */

/* Which of ROCr's kinds of lines a flag asks for has no meaning here: any of them turns on the log of HSA. */
hsa_status_t impl_hsa_amd_enable_logging(uint8_t *flags, void *file)
{
	bool any = false;
	RT_ENTER(rt);

	(void)rt;
	if (!flags)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; i < 8; i++)
		any |= flags[i];
	drv_log_also(any ? DRV_LOG_HSA : 0, fileno(file ? (FILE *)file : stderr));
	return HSA_STATUS_SUCCESS;
}

/* Scratch is the driver's and is never taken back while the GPU works: as ROCr answers without that ability. */
hsa_status_t impl_hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t threshold)
{
	RT_ENTER(rt);

	(void)threshold;
	return rt_gpu_of(rt, agent) ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_ERROR_INVALID_AGENT;
}
