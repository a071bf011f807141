/* hsa_agent_get_info() and hsa_system_get_info(). An agent's values are computed once, in the types of their
 * attributes; a table gives the offset of each. */
#include "drv/cancel.h"
#include "hsa/core/core.h"
#include "hsa/core/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <amdgpu_drm.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define VERSION_MAJOR 1 /* version of the HSA interface */
#define VERSION_MINOR 1
/* Version of the AMD extension: that of ROCr 6.4. */
#define EXT_VERSION_MAJOR 1
#define EXT_VERSION_MINOR 6

/* --- filling ---------------------------------------------------------------------------------- */

static void copy_text(char *to, size_t size_B, const char *from)
{
	snprintf(to, size_B, "%s", from);
}

static void read_cpu_model(char *to, size_t size_B)
{
	DRV_HOLD_CANCEL;
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256], *colon;

	copy_text(to, size_B, "CPU");
	while (file && fgets(line, sizeof(line), file)) {
		colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !colon)
			continue;
		line[strcspn(line, "\n")] = 0;
		colon += 1 + strspn(colon + 1, " ");
		snprintf(to, size_B, "%.*s", (int)size_B - 1, colon);
		break;
	}
	if (file)
		fclose(file);
}

static void agent_add_cache(struct rt_agent *agent, unsigned level, uint64_t size_B)
{
	struct rt_cache *cache = &agent->cache[agent->caches];

	if (!size_B || agent->caches == RT_CACHES_MAX)
		return;
	agent->caches++;
	snprintf(cache->name, sizeof(cache->name), "L%u", level);
	cache->level = (uint8_t)level;
	cache->size_B = size_B < UINT32_MAX ? (uint32_t)size_B : UINT32_MAX;
	agent->info.cache_B[level - 1] = cache->size_B;
}

static uint32_t cpu_clock_MHz(void)
{
	DRV_HOLD_CANCEL;
	unsigned long kHz = 0;
	FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "re");

	if (file && fscanf(file, "%lu", &kHz) != 1)
		kHz = 0;
	if (file)
		fclose(file);
	return (uint32_t)(kHz / 1000);
}

void rt_info_cpu(struct rt *rt, struct rt_agent *agent)
{
	struct rt_info *info = &agent->info;

	*info = (struct rt_info){
		.vendor = "CPU",
		.uuid = "CPU-XX",
		.machine_model = HSA_MACHINE_MODEL_LARGE,
		.profile = HSA_PROFILE_FULL,
		.rounding = HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR,
		.node = agent->node,
		.device = HSA_DEVICE_TYPE_CPU,
		.version_major = VERSION_MAJOR,
		.version_minor = VERSION_MINOR,
		.line_B = (uint32_t)sysconf(_SC_LEVEL1_DCACHE_LINESIZE),
		.cus = agent->numa->cpus,
		.clock_MHz = cpu_clock_MHz(),
		.driver_node = agent->node,
		.counter_Hz = 1000000000,
		.nearest_cpu = (uintptr_t)agent,
	};
	read_cpu_model(info->name, sizeof(info->name));
	memcpy(info->product, info->name, sizeof(info->product));
	agent_add_cache(agent, 1, (uint64_t)sysconf(_SC_LEVEL1_DCACHE_SIZE));
	agent_add_cache(agent, 2, (uint64_t)sysconf(_SC_LEVEL2_CACHE_SIZE));
	agent_add_cache(agent, 3, (uint64_t)sysconf(_SC_LEVEL3_CACHE_SIZE));
	(void)rt;
}

/* SRAM ECC where the board decides about it: as in KFD it is on if the graphics block's bit is set in the enabled
 * features, the upper half of the kernel's RAS mask. */
static bool sramecc_on(const struct drv_device *dev)
{
	uint64_t features = 0;

	if (dev->chip->sramecc != DRV_FEATURE_EITHER)
		return dev->chip->sramecc == DRV_FEATURE_ON;
	if (drv_info(dev, AMDGPU_INFO_RAS_ENABLED_FEATURES, &features, sizeof(features)))
		return false;
	return (features >> 32 | features) & AMDGPU_INFO_RAS_ENABLED_GFX;
}

static void compose_isa(struct rt_agent *agent)
{
	const struct drv_chip *chip = agent->gpu->dev->chip;

	snprintf(agent->isa, sizeof(agent->isa), "amdgcn-amd-amdhsa--%s%s%s", chip->target,
		 chip->sramecc == DRV_FEATURE_NONE ? ""
		 : sramecc_on(agent->gpu->dev)     ? ":sramecc+"
						   : ":sramecc-",
		 chip->xnack == DRV_FEATURE_NONE ? ""
		 : chip->xnack == DRV_FEATURE_ON ? ":xnack+"
						 : ":xnack-");
}

static void add_gpu_caches(struct rt_agent *agent)
{
	const struct drv_cache *cache = agent->gpu->dev->facts.cache;

	agent_add_cache(agent, 1, cache[DRV_CACHE_L1].size_B ? cache[DRV_CACHE_L1].size_B : 16 << 10);
	agent_add_cache(agent, 2, cache[DRV_CACHE_L2].size_B);
	agent_add_cache(agent, 3, cache[DRV_CACHE_MALL].size_B);
	agent->info.line_B = cache[DRV_CACHE_L2].line_B ? cache[DRV_CACHE_L2].line_B : 64;
}

/* Stable from run to run: no two devices of a machine share a PCI address. */
static uint32_t driver_uid(const struct drv_pcie *pcie)
{
	uint64_t x = (uint64_t)pcie->domain << 16 | (uint32_t)pcie->bus << 8 | (uint32_t)pcie->device << 3 |
		     pcie->function;

	return (uint32_t)((x + 1) * 0x9e3779b97f4a7c15ull >> 32);
}

static void fill_work(struct rt_info *info, const struct drv_chip *chip)
{
	*info = (struct rt_info){
		.vendor = "AMD",
		.feature = HSA_AGENT_FEATURE_KERNEL_DISPATCH,
		.machine_model = HSA_MACHINE_MODEL_LARGE,
		.profile = HSA_PROFILE_BASE,
		.rounding = HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR,
		.wave_lanes = chip->wave_lanes,
		.group_dim = {chip->max_group_threads, chip->max_group_threads, chip->max_group_threads},
		.group_size = chip->max_group_threads,
		.grid_dim = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
		.grid_size = UINT32_MAX,
		.fbarriers = 32,
		.queues = 128, /* ROCr's value; in this library only memory limits the number */
		.queue_min = RT_QUEUE_MIN,
		.queue_max = RT_QUEUE_MAX,
		.queue_type = HSA_QUEUE_TYPE_MULTI,
		.device = HSA_DEVICE_TYPE_GPU,
		.version_major = VERSION_MAJOR,
		.version_minor = VERSION_MINOR,
		.fast_f16 = true,
		.watch_points = 4, /* GFX9's SQ has 4, as ROCr reports; this library sets none */
		.waves_per_cu = chip->waves_per_cu,
		.simds_per_cu = chip->simds_per_cu,
		.xccs = 1,
		/* Everywhere. Where the chip has global wave sync, the kernel assigns its resources to a job; creating the
		 * buffer takes none from other processes. GFX12 has none, and its grids meet in memory. */
		.cooperative = true,
		.sdma_xgmi_engines = 0,
	};
}

static void fill_device(struct rt_info *info, const struct rt_gpu *gpu)
{
	const struct drv_facts *facts = &gpu->dev->facts;
	const struct drv_pcie *pcie = &gpu->place.pcie;

	info->chip_id = facts->device_id;
	info->cus = facts->ring_cus; /* the units that one dispatch runs on */
	info->clock_MHz = facts->engine_clock_kHz / 1000;
	info->bdf = (uint32_t)pcie->bus << 8 | (uint32_t)pcie->device << 3 | pcie->function;
	info->domain = pcie->domain;
	/* Clients divide by it; some APUs report 0. */
	info->memory_bits = facts->vram_bits ? facts->vram_bits : 128;
	info->memory_MHz = facts->memory_clock_kHz / 1000;
	info->engines = facts->engines;
	info->arrays_per_engine = facts->arrays_per_engine;
	info->revision = facts->pci_rev;
	info->counter_Hz = facts->counter_kHz * 1000ull;
	info->family = facts->family;
	info->sdma_engines = facts->ip[DRV_IP_DMA].instances;
	info->driver_uid = driver_uid(pcie);
	info->direct_host_access = false;
	info->memory_properties[0] = facts->apu ? 1 << HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU : 0;
	snprintf(info->product, sizeof(info->product), "%.63s", gpu->dev->name);
}

void rt_info_gpu(struct rt *rt, struct rt_agent *agent)
{
	struct rt_info *info = &agent->info;
	char uuid[sizeof(info->uuid)];

	memcpy(uuid, info->uuid, sizeof(uuid));
	fill_work(info, agent->gpu->dev->chip);
	fill_device(info, agent->gpu);
	memcpy(info->uuid, uuid, sizeof(uuid));
	copy_text(info->name, sizeof(info->name), agent->gpu->dev->chip->target);
	info->node = info->driver_node = agent->node;
	info->isa = rt_isa_handle(agent).handle;
	info->nearest_cpu = (uintptr_t)agent->nearest_cpu;
	compose_isa(agent);
	add_gpu_caches(agent);
	info->firmware = agent->gpu->dev->facts.mec_version;
	info->sdma_firmware = agent->gpu->dev->facts.sdma_version;
	(void)rt;
}

/* --- agents ----------------------------------------------------------------------------------- */

#define ROW(attribute, member) {attribute, offsetof(struct rt_info, member), sizeof(((struct rt_info *)0)->member)}
static const struct {
	uint32_t attribute;
	uint16_t offset_B, size_B;
} info_rows[] = {
	ROW(HSA_AGENT_INFO_NAME, name),
	ROW(HSA_AGENT_INFO_VENDOR_NAME, vendor),
	ROW(HSA_AGENT_INFO_FEATURE, feature),
	ROW(HSA_AGENT_INFO_MACHINE_MODEL, machine_model),
	ROW(HSA_AGENT_INFO_PROFILE, profile),
	ROW(HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE, rounding),
	ROW(HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, rounding),
	ROW(HSA_AGENT_INFO_FAST_F16_OPERATION, fast_f16),
	ROW(HSA_AGENT_INFO_WAVEFRONT_SIZE, wave_lanes),
	ROW(HSA_AGENT_INFO_WORKGROUP_MAX_DIM, group_dim),
	ROW(HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, group_size),
	ROW(HSA_AGENT_INFO_GRID_MAX_DIM, grid_dim),
	ROW(HSA_AGENT_INFO_GRID_MAX_SIZE, grid_size),
	ROW(HSA_AGENT_INFO_FBARRIER_MAX_SIZE, fbarriers),
	ROW(HSA_AGENT_INFO_QUEUES_MAX, queues),
	ROW(HSA_AGENT_INFO_QUEUE_MIN_SIZE, queue_min),
	ROW(HSA_AGENT_INFO_QUEUE_MAX_SIZE, queue_max),
	ROW(HSA_AGENT_INFO_QUEUE_TYPE, queue_type),
	ROW(HSA_AGENT_INFO_NODE, node),
	ROW(HSA_AGENT_INFO_DEVICE, device),
	ROW(HSA_AGENT_INFO_CACHE_SIZE, cache_B),
	ROW(HSA_AGENT_INFO_ISA, isa),
	ROW(HSA_AGENT_INFO_EXTENSIONS, extensions),
	ROW(HSA_AGENT_INFO_VERSION_MAJOR, version_major),
	ROW(HSA_AGENT_INFO_VERSION_MINOR, version_minor),
	ROW(HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS, image_1d),
	ROW(HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS, image_1d),
	ROW(HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS, image_1db),
	ROW(HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS, image_2d),
	ROW(HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS, image_2d),
	ROW(HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS, image_2d),
	ROW(HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS, image_2d),
	ROW(HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS, image_3d),
	ROW(HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS, image_layers),
	ROW(HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES, image_rd),
	ROW(HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES, image_rw),
	ROW(HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS, samplers),
	ROW(HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT, pitch_align),
	ROW(HSA_AMD_AGENT_INFO_CHIP_ID, chip_id),
	ROW(HSA_AMD_AGENT_INFO_CACHELINE_SIZE, line_B),
	ROW(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, cus),
	ROW(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, clock_MHz),
	ROW(HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, driver_node),
	ROW(HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, watch_points),
	ROW(HSA_AMD_AGENT_INFO_BDFID, bdf),
	ROW(HSA_AMD_AGENT_INFO_MEMORY_WIDTH, memory_bits),
	ROW(HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, memory_MHz),
	ROW(HSA_AMD_AGENT_INFO_PRODUCT_NAME, product),
	ROW(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, waves_per_cu),
	ROW(HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, simds_per_cu),
	ROW(HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, engines),
	ROW(HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, arrays_per_engine),
	ROW(HSA_AMD_AGENT_INFO_HDP_FLUSH, hdp_flush),
	ROW(HSA_AMD_AGENT_INFO_DOMAIN, domain),
	ROW(HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, cooperative),
	ROW(HSA_AMD_AGENT_INFO_ASIC_REVISION, revision),
	ROW(HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS, direct_host_access),
	ROW(HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, cus),
	ROW(HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY, counter_Hz),
	ROW(HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID, family),
	ROW(HSA_AMD_AGENT_INFO_UCODE_VERSION, firmware),
	ROW(HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION, sdma_firmware),
	ROW(HSA_AMD_AGENT_INFO_NUM_SDMA_ENG, sdma_engines),
	ROW(HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG, sdma_xgmi_engines),
	ROW(HSA_AMD_AGENT_INFO_IOMMU_SUPPORT, iommu),
	ROW(HSA_AMD_AGENT_INFO_NUM_XCC, xccs),
	ROW(HSA_AMD_AGENT_INFO_DRIVER_UID, driver_uid),
	ROW(HSA_AMD_AGENT_INFO_NEAREST_CPU, nearest_cpu),
	ROW(HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES, memory_properties),
	ROW(HSA_AMD_AGENT_INFO_AQL_EXTENSIONS, aql_extensions),
};

/* VRAM that could be allocated at the time of the call. Deferred frees that are retired count, because ROCr frees
 * memory at once; so do the free pieces of slabs. */
static hsa_status_t vram_available(const struct rt_agent *agent, uint64_t *available_B)
{
	struct drv_usage usage;
	uint64_t pieces_B = 0;
	uint32_t list;

	if (!agent->is_gpu)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; i < agent->pools; i++) {
		struct pool_stats stats;

		if (agent->pool[i].kind != RT_POOL_COARSE)
			continue;
		pool_trim(agent->pool[i].pool, UINT64_MAX, 0);
		pool_stats(agent->pool[i].pool, &stats);
		pieces_B += stats.reserved_B - stats.used_B;
	}
	/* BOs freed since the last submission stay in the kernel's BO list until it is updated. */
	if (vm_list(agent->gpu->vm, &list) || drv_usage_memory(agent->gpu->dev, &usage))
		return HSA_STATUS_ERROR;
	*available_B = agent->gpu->dev->facts.vram.total_B - usage.vram_B + pieces_B;
	return HSA_STATUS_SUCCESS;
}

/* Attributes whose values are not in rt_info. */
static hsa_status_t changing_info(const struct rt_agent *agent, uint32_t attribute, void *value)
{
	switch (attribute) {
	case HSA_AMD_AGENT_INFO_UUID: /* copies the text with its end, not the whole array */
		strcpy(value, agent->info.uuid);
		return HSA_STATUS_SUCCESS;
	case HSA_AMD_AGENT_INFO_MEMORY_AVAIL:
		return vram_available(agent, value);
	case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX:
	case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT:
		/* Scratch is sized for a kernel that runs on all wave slots; there is no other limit. */
		*(uint64_t *)value = agent->is_gpu ? agent->gpu->dev->facts.vram.total_B : 0;
		return HSA_STATUS_SUCCESS;
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

RT_IMPL(hsa_agent_get_info, (hsa_agent_t handle, hsa_agent_info_t attribute, void *value),
	(handle, attribute, value))
{
	const struct rt_agent *agent;

	agent = rt_agent_of(rt, handle);
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; i < COUNT(info_rows); i++)
		if (info_rows[i].attribute == (uint32_t)attribute) {
			memcpy(value, (const char *)&agent->info + info_rows[i].offset_B, info_rows[i].size_B);
			return HSA_STATUS_SUCCESS;
		}
	return changing_info(agent, attribute, value);
}

/* --- the system ------------------------------------------------------------------------------- */

/* System attributes that are numbers, with size and value. */
static const struct {
	uint32_t attribute, size_B;
	uint64_t value;
} numbers[] = {
	{HSA_SYSTEM_INFO_VERSION_MAJOR, 2, VERSION_MAJOR},
	{HSA_SYSTEM_INFO_VERSION_MINOR, 2, VERSION_MINOR},
	{HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, 8, 1000000000},
	{HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, 8, UINT64_MAX},
	{HSA_SYSTEM_INFO_ENDIANNESS, 4, HSA_ENDIANNESS_LITTLE},
	{HSA_SYSTEM_INFO_MACHINE_MODEL, 4, HSA_MACHINE_MODEL_LARGE},
	/* Booleans have one byte; clients pass no more. */
	{HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, 1, false},
	{HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, 1, false},
	{HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED, 1, false},
	{HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED, 1, true},
	{HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED, 1, true},
	{HSA_AMD_SYSTEM_INFO_XNACK_ENABLED, 1, false},
	{HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR, 2, EXT_VERSION_MAJOR},
	{HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR, 2, EXT_VERSION_MINOR},
};

RT_IMPL(hsa_system_get_info, (hsa_system_info_t attribute, void *value), (attribute, value))
{
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; i < COUNT(numbers); i++)
		if (numbers[i].attribute == (uint32_t)attribute) {
			memcpy(value, &numbers[i].value, numbers[i].size_B);
			return HSA_STATUS_SUCCESS;
		}
	switch ((uint32_t)attribute) {
	case HSA_SYSTEM_INFO_TIMESTAMP:
		*(uint64_t *)value = rt_now_ns();
		return HSA_STATUS_SUCCESS;
	case HSA_SYSTEM_INFO_EXTENSIONS:
		memcpy(value, rt->extensions, sizeof(rt->extensions));
		return HSA_STATUS_SUCCESS;
	case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
		*(const char **)value = "tuff";
		return HSA_STATUS_SUCCESS;
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}
