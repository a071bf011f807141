/* Extensions: the list of them, and their tables of functions. */
#include <stdio.h>
#include <string.h>

#include "hsa/core/table.h"
#include "hsa/entry/extension.h"
#include "hsa/interface.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The table of the image extension. It has the exported functions, so that tools intercept these calls, too. */
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

/* Supported extensions have a table; each minor version is a longer part of it. The finalizer's functions are
 * exported as in ROCr, and fail, since no compiler for HSAIL exists. Counters and packet profiles need the kernel's
 * debug interface. */
#define NAMED(extension) .id = extension, .name = #extension
static const struct extension {
	uint16_t id;
	const char *name;
	const void *table;
	uint8_t minors;
	uint8_t functions[4]; /* indexed by minor version */
	uint8_t all;          /* functions of the whole table */
} extension_rows[] = {
	{NAMED(HSA_EXTENSION_FINALIZER)},
	/* In ROCr, functions added after 1.0 have no minor version. */
	{NAMED(HSA_EXTENSION_IMAGES), &images, 1, {10}, sizeof(images) / sizeof(void *)},
	{NAMED(HSA_EXTENSION_PERFORMANCE_COUNTERS)},
	{NAMED(HSA_EXTENSION_PROFILING_EVENTS)},
	{NAMED(HSA_EXTENSION_AMD_PROFILER)},
	{NAMED(HSA_EXTENSION_AMD_LOADER), &rt_tables.loader, 4, {3, 5, 6, 7}, 7},
	{NAMED(HSA_EXTENSION_AMD_AQLPROFILE)},
	{NAMED(HSA_EXTENSION_AMD_PC_SAMPLING)},
	{RT_EXTENSION_INTERFACE,
	 "TUFF_INTERFACE",
	 &rt_interface,
	 1,
	 {sizeof(rt_interface) / sizeof(void *)},
	 sizeof(rt_interface) / sizeof(void *)},
};

static const struct extension *find_extension(uint16_t id)
{
	for (size_t i = 0; i < COUNT(extension_rows); i++)
		if (extension_rows[i].id == id)
			return &extension_rows[i];
	return NULL;
}

/* The extension, if that major version is supported, or NULL. */
static const struct extension *find_supported(uint16_t id, uint16_t major)
{
	const struct extension *x = find_extension(id);

	return x && x->table && major == 1 ? x : NULL;
}

RT_IMPL(hsa_extension_get_name, (uint16_t extension, const char **name), (extension, name))
{
	const struct extension *x = find_extension(extension);

	(void)rt;
	if (!name)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*name = x ? x->name : "HSA_EXTENSION_INVALID"; /* as in ROCr */
	return x ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

#define BITS_B 128 /* bytes of a mask of extensions; a client's number may be larger than any bit's */

static bool has_extension_bit(const uint8_t bits[BITS_B], unsigned id)
{
	return id < 8 * BITS_B && bits[id / 8] >> id % 8 & 1;
}

static void set_bits(uint8_t bits[BITS_B], bool with_images)
{
	memset(bits, 0, BITS_B);
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

/* An unknown number is an invalid argument; a known extension may be unsupported. */
static hsa_status_t is_version_supported(uint16_t extension, uint16_t major, uint16_t minor, bool *result)
{
	const struct extension *x = find_supported(extension, major);

	if (!result || !find_extension(extension))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = x && minor < x->minors;
	return HSA_STATUS_SUCCESS;
}

/* Returns the last minor version. */
static hsa_status_t is_major_supported(uint16_t extension, uint16_t major, uint16_t *minor, bool *result)
{
	const struct extension *x = find_supported(extension, major);

	if (!minor || !result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = x;
	if (x)
		*minor = x->minors - 1;
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_system_extension_supported, (uint16_t extension, uint16_t major, uint16_t minor, bool *result),
	(extension, major, minor, result))
{
	(void)rt;
	return is_version_supported(extension, major, minor, result);
}

RT_IMPL(hsa_system_major_extension_supported, (uint16_t extension, uint16_t major, uint16_t *minor, bool *result),
	(extension, major, minor, result))
{
	(void)rt;
	return is_major_supported(extension, major, minor, result);
}

/* An agent's extensions are the bits in its info. */
RT_IMPL(hsa_agent_extension_supported,
	(uint16_t extension, hsa_agent_t handle, uint16_t major, uint16_t minor, bool *result),
	(extension, handle, major, minor, result))
{
	const struct rt_agent *agent;
	hsa_status_t status;

	agent = rt_agent_of(rt, handle);
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	status = is_version_supported(extension, major, minor, result);
	if (!status)
		*result &= has_extension_bit(agent->info.extensions, extension);
	return status;
}

RT_IMPL(hsa_agent_major_extension_supported,
	(uint16_t extension, hsa_agent_t handle, uint16_t major, uint16_t *minor, bool *result),
	(extension, handle, major, minor, result))
{
	const struct rt_agent *agent;
	hsa_status_t status;

	agent = rt_agent_of(rt, handle);
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	status = is_major_supported(extension, major, minor, result);
	if (!status)
		*result &= has_extension_bit(agent->info.extensions, extension);
	return status;
}

/* Like ROCr: copies the first `size_B` bytes of the table; memory after the table's end is not changed. */
RT_IMPL(hsa_system_get_major_extension_table, (uint16_t extension, uint16_t major, size_t size_B, void *table),
	(extension, major, size_B, table))
{
	const struct extension *x = find_supported(extension, major);
	size_t whole_B;

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

	/* The size is 0 for an unknown version: an invalid argument, as in ROCr. */
	return impl_hsa_system_get_major_extension_table(
		extension, major, x && minor < x->minors ? x->functions[minor] * sizeof(void *) : 0, table);
}

/* --- settings of the process --------------------------------------------------------------------- */

/* ROCr's flags select kinds of messages, which this library does not have: any flag turns on the log of HSA. */
RT_IMPL(hsa_amd_enable_logging, (uint8_t *flags, void *file), (flags, file))
{
	bool any = false;

	(void)rt;
	if (!flags)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; i < 8; i++)
		any |= flags[i];
	drv_log_also(any ? DRV_LOG_HSA : 0, fileno(file ? (FILE *)file : stderr));
	return HSA_STATUS_SUCCESS;
}

/* The driver owns scratch and does not reclaim it while the GPU works: the result is that of ROCr without that
 * ability. */
RT_IMPL(hsa_amd_agent_set_async_scratch_limit, (hsa_agent_t agent, size_t threshold), (agent, threshold))
{
	(void)threshold;
	return rt_gpu_of(rt, agent) ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_ERROR_INVALID_AGENT;
}
