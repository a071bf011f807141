/* Numbers that a client chooses: attributes, extensions, kinds, modes, formats, indices. Every number of 16 bits, and the
 * limits of 32, gets a status, and no memory outside of tables is read: a sanitizer reports that. */
#include <stdlib.h>

#include <hsa/hsa_ext_image.h>

#include "tests/hsa_rig.h"

#define VALUE_B 4096

static union {
	uint8_t bytes[VALUE_B];
	uint64_t alignment;
} value;
static hsa_isa_t isa;
static hsa_cache_t cache;
static hsa_region_t region;
static hsa_amd_memory_pool_t pool;
static hsa_queue_t *queue;
static hsa_signal_t signal_of_1;

/* --- getters: every number of 16 bits --------------------------------------------------------- */

static hsa_status_t agent_attribute(uint32_t n)
{
	hsa_status_t cpu = hsa_agent_get_info(rig.cpu, (hsa_agent_info_t)n, value.bytes);

	return n == HSA_AMD_AGENT_INFO_MEMORY_AVAIL ? cpu
						    : hsa_agent_get_info(rig.gpu, (hsa_agent_info_t)n, value.bytes);
}

static hsa_status_t system_attribute(uint32_t n)
{
	return hsa_system_get_info((hsa_system_info_t)n, value.bytes);
}

static hsa_status_t isa_attribute(uint32_t n)
{
	(void)hsa_isa_get_info(isa, (hsa_isa_info_t)n, n, value.bytes);
	return hsa_isa_get_info_alt(isa, (hsa_isa_info_t)n, value.bytes);
}

static hsa_status_t wavefront_attribute(uint32_t n)
{
	return hsa_wavefront_get_info((hsa_wavefront_t){isa.handle}, (hsa_wavefront_info_t)n, value.bytes);
}

static hsa_status_t cache_attribute(uint32_t n)
{
	return hsa_cache_get_info(cache, (hsa_cache_info_t)n, value.bytes);
}

static hsa_status_t region_attribute(uint32_t n)
{
	return hsa_region_get_info(region, (hsa_region_info_t)n, value.bytes);
}

static hsa_status_t pool_attribute(uint32_t n)
{
	return hsa_amd_memory_pool_get_info(pool, (hsa_amd_memory_pool_info_t)n, value.bytes);
}

static hsa_status_t pair_attribute(uint32_t n)
{
	return hsa_amd_agent_memory_pool_get_info(rig.gpu, pool, (hsa_amd_agent_memory_pool_info_t)n, value.bytes);
}

static hsa_status_t executable_attribute(uint32_t n)
{
	return hsa_executable_get_info(rig.executable, (hsa_executable_info_t)n, value.bytes);
}

static hsa_status_t queue_attribute(uint32_t n)
{
	return hsa_amd_queue_get_info(queue, (hsa_queue_info_attribute_t)n, value.bytes);
}

static hsa_status_t image_attribute(uint32_t n)
{
	return hsa_amd_image_get_info_max_dim(rig.gpu, (hsa_agent_info_t)n, value.bytes);
}

static hsa_status_t status_text(uint32_t n)
{
	return hsa_status_string((hsa_status_t)n, (const char **)(void *)value.bytes);
}

static hsa_status_t extension_name(uint32_t n)
{
	return hsa_extension_get_name((uint16_t)n, (const char **)(void *)value.bytes);
}

static hsa_status_t extension_table(uint32_t n)
{
	(void)hsa_system_get_extension_table((uint16_t)n, 1, (uint16_t)n, value.bytes);
	return hsa_system_get_major_extension_table((uint16_t)n, 1, 64, value.bytes);
}

/* An agent has no extension that the system lacks. */
static hsa_status_t extension_support(uint32_t n)
{
	bool exact = true, ours = true, mine = true;
	uint16_t minor;

	(void)hsa_agent_extension_supported((uint16_t)n, rig.gpu, 1, 0, &exact);
	(void)hsa_system_extension_supported((uint16_t)n, 1, (uint16_t)n, &ours);
	CHECK_EQ(hsa_agent_major_extension_supported((uint16_t)n, rig.cpu, 1, &minor, &mine), 0);
	CHECK_EQ(hsa_agent_major_extension_supported((uint16_t)n, rig.gpu, 1, &minor, &mine), 0);
	CHECK_EQ(hsa_system_major_extension_supported((uint16_t)n, 1, &minor, &ours), 0);
	CHECK(ours || !mine);
	return mine ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static hsa_status_t exceptions(uint32_t n)
{
	(void)hsa_isa_get_exception_policies(isa, (hsa_profile_t)n, (uint16_t *)(void *)value.bytes);
	return hsa_agent_get_exception_policies(rig.gpu, (hsa_profile_t)n, (uint16_t *)(void *)value.bytes);
}

static hsa_status_t rounding(uint32_t n)
{
	return hsa_isa_get_round_method(isa, (hsa_fp_type_t)n, HSA_FLUSH_MODE_FTZ,
					(hsa_round_method_t *)(void *)value.bytes);
}

static hsa_status_t image_format(uint32_t n)
{
	hsa_ext_image_format_t by_type = {.channel_type = (hsa_ext_image_channel_type32_t)n},
			       by_order = {.channel_order = (hsa_ext_image_channel_order32_t)n};
	uint32_t *out = (uint32_t *)(void *)value.bytes;

	(void)hsa_ext_image_get_capability(rig.gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &by_type, out);
	(void)hsa_ext_image_get_capability(rig.gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &by_order, out);
	return hsa_ext_image_get_capability(rig.gpu, (hsa_ext_image_geometry_t)n, &by_order, out);
}

static hsa_status_t image_size(uint32_t n)
{
	hsa_ext_image_descriptor_t d = {
		.geometry = (hsa_ext_image_geometry_t)n,
		.width = 16,
		.format = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_R},
	};

	return hsa_ext_image_data_get_info(rig.gpu, &d, HSA_ACCESS_PERMISSION_RO,
					   (hsa_ext_image_data_info_t *)(void *)value.bytes);
}

/* --- functions that make or change something: fewer numbers ----------------------------------- */

static hsa_status_t sampler(uint32_t n)
{
	hsa_ext_sampler_descriptor_t all = {(hsa_ext_sampler_coordinate_mode32_t)n,
					    (hsa_ext_sampler_filter_mode32_t)n,
					    (hsa_ext_sampler_addressing_mode32_t)n},
				     one = {.address_mode = (hsa_ext_sampler_addressing_mode32_t)n};
	hsa_ext_sampler_t made;
	hsa_status_t status;

	if (!hsa_ext_sampler_create(rig.gpu, &all, &made))
		CHECK_EQ(hsa_ext_sampler_destroy(rig.gpu, made), 0);
	status = hsa_ext_sampler_create(rig.gpu, &one, &made);
	if (!status)
		CHECK_EQ(hsa_ext_sampler_destroy(rig.gpu, made), 0);
	return status;
}

static hsa_status_t queue_type(uint32_t n)
{
	hsa_queue_t *made;
	hsa_status_t status = hsa_queue_create(rig.gpu, 64, n, NULL, NULL, UINT32_MAX, UINT32_MAX, &made);

	if (!status)
		CHECK_EQ(hsa_queue_destroy(made), 0);
	return status;
}

static hsa_status_t queue_priority(uint32_t n)
{
	return hsa_amd_queue_set_priority(queue, (hsa_amd_queue_priority_t)n);
}

static hsa_status_t coherency(uint32_t n)
{
	return hsa_amd_coherency_set_type(rig.gpu, (hsa_amd_coherency_type_t)n);
}

static hsa_status_t executable_kind(uint32_t n)
{
	hsa_executable_t made;
	hsa_status_t status =
		hsa_executable_create_alt((hsa_profile_t)n, (hsa_default_float_rounding_mode_t)n, NULL, &made);

	if (!status)
		CHECK_EQ(hsa_executable_destroy(made), 0);
	return status;
}

static hsa_status_t memory_type(uint32_t n)
{
	hsa_amd_vmem_alloc_handle_t made;
	hsa_status_t status = hsa_amd_vmem_handle_create(pool, 2 << 20, (hsa_amd_memory_type_t)n, 0, &made);

	if (!status)
		CHECK_EQ(hsa_amd_vmem_handle_release(made), 0);
	return status;
}

/* A condition that does not exist is not waited for. */
static hsa_status_t condition(uint32_t n)
{
	hsa_signal_condition_t c = (hsa_signal_condition_t)n;
	hsa_signal_value_t one = 1, got;

	(void)hsa_signal_wait_scacquire(signal_of_1, c, 1, 0, (hsa_wait_state_t)n);
	return hsa_amd_signal_wait_any(1, &signal_of_1, &c, &one, 0, (hsa_wait_state_t)n, &got) == 0
		       ? HSA_STATUS_SUCCESS
		       : HSA_STATUS_ERROR;
}

static hsa_status_t svm_attribute(uint32_t n)
{
	hsa_amd_svm_attribute_pair_t pair = {n, n};

	(void)hsa_amd_svm_attributes_set(&pair, sizeof(pair), &pair, 1);
	return hsa_amd_svm_attributes_get(&pair, sizeof(pair), &pair, 1);
}

/* --- the table -------------------------------------------------------------------------------- */

static const uint32_t limits[] = {0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

static const struct row {
	const char *name;
	hsa_status_t (*call)(uint32_t n);
	uint32_t end; /* numbers below are all given */
} rows[] = {
#define ALL(call)  {#call, call, 0x10000}
#define SOME(call) {#call, call, 0x80}
	ALL(agent_attribute), ALL(system_attribute), ALL(isa_attribute),        ALL(wavefront_attribute),
	ALL(cache_attribute), ALL(region_attribute), ALL(pool_attribute),       ALL(pair_attribute),
	ALL(queue_attribute), ALL(image_attribute),  ALL(executable_attribute), ALL(status_text),
	ALL(extension_name),  ALL(extension_table),  ALL(extension_support),    ALL(exceptions),
	ALL(rounding),        ALL(image_format),     ALL(image_size),           SOME(sampler),
	SOME(queue_type),     SOME(queue_priority),  SOME(coherency),           SOME(executable_kind),
	SOME(memory_type),    SOME(condition),       SOME(svm_attribute),
};

/* Few numbers mean something. */
static void row_run(const struct row *row)
{
	unsigned good = 0;

	for (uint32_t n = 0; n < row->end; n++)
		good += !row->call(n);
	if (!CHECK(good > 0 && good < 100))
		printf("  %s: %u numbers are valid\n", row->name, good);
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		(void)row->call(limits[i]);
}

static hsa_status_t first_cache(hsa_cache_t found, void *to)
{
	*(hsa_cache_t *)to = found;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t first_region(hsa_region_t found, void *to)
{
	*(hsa_region_t *)to = found;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t first_pool(hsa_amd_memory_pool_t found, void *to)
{
	*(hsa_amd_memory_pool_t *)to = found;
	return HSA_STATUS_INFO_BREAK;
}

int main(void)
{
	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return check_done("numbers of clients");
	CHECK_EQ(hsa_agent_get_info(rig.gpu, HSA_AGENT_INFO_ISA, &isa), 0);
	CHECK_EQ(hsa_agent_iterate_caches(rig.gpu, first_cache, &cache), HSA_STATUS_INFO_BREAK);
	CHECK_EQ(hsa_agent_iterate_regions(rig.gpu, first_region, &region), HSA_STATUS_INFO_BREAK);
	CHECK_EQ(hsa_amd_agent_iterate_memory_pools(rig.gpu, first_pool, &pool), HSA_STATUS_INFO_BREAK);
	CHECK_EQ(hsa_queue_create(rig.gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue),
		 0);
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &signal_of_1), 0);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		row_run(&rows[i]);
	CHECK_EQ(hsa_signal_destroy(signal_of_1), 0);
	CHECK_EQ(hsa_queue_destroy(queue), 0);
	rig_stop();
	return check_done("numbers of clients");
}
