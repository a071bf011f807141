#include "drv/status.h"

#include <amdgpu_drm.h>

#include "drv/internal.h"

int drv_usage_memory(const struct drv_device *dev, struct drv_usage *usage)
{
	*usage = (struct drv_usage){0};

	const struct {
		unsigned query;
		uint64_t *to;
	} asked[] = {
		{AMDGPU_INFO_VRAM_USAGE, &usage->vram_B},
		{AMDGPU_INFO_VIS_VRAM_USAGE, &usage->visible_vram_B},
		{AMDGPU_INFO_GTT_USAGE, &usage->gtt_B},
		{AMDGPU_INFO_NUM_EVICTIONS, &usage->evictions},
		{AMDGPU_INFO_NUM_BYTES_MOVED, &usage->moved_B},
		{AMDGPU_INFO_NUM_VRAM_CPU_PAGE_FAULTS, &usage->cpu_faults},
	};

	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		int r = drv_info(dev, asked[i].query, asked[i].to, sizeof(uint64_t));

		if (r)
			return drv_fail(r, "AMDGPU_INFO 0x%x on %s", asked[i].query, dev->node.path);
	}
	return 0;
}

static int read_sensors(const struct drv_device *dev, const uint8_t *types, struct drv_reading *readings)
{
	struct drv_libdrm lib;
	uint32_t minor;
	int r = drv_libdrm_open(dev, &minor, &lib);

	if (r)
		return r;
	for (unsigned i = 0; i < DRV_SENSORS; i++)
		readings[i].known = !drv_libdrm_sensor(&lib, types[i], &readings[i].value);
	drv_libdrm_close(&lib);
	return 0;
}

int drv_usage(const struct drv_device *dev, struct drv_usage *usage)
{
	static const uint8_t types[DRV_SENSORS] = {
		[DRV_SENSOR_ENGINE_MHZ] = AMDGPU_INFO_SENSOR_GFX_SCLK,
		[DRV_SENSOR_MEMORY_MHZ] = AMDGPU_INFO_SENSOR_GFX_MCLK,
		[DRV_SENSOR_TEMPERATURE_MDEG] = AMDGPU_INFO_SENSOR_GPU_TEMP,
		[DRV_SENSOR_LOAD_PERCENT] = AMDGPU_INFO_SENSOR_GPU_LOAD,
		[DRV_SENSOR_POWER_W] = AMDGPU_INFO_SENSOR_GPU_AVG_POWER,
		[DRV_SENSOR_VOLTAGE_MV] = AMDGPU_INFO_SENSOR_VDDGFX,
	};
	int r = drv_usage_memory(dev, usage);

	return r ? r : read_sensors(dev, types, usage->sensor);
}

static const struct {
	const char *name;
	uint8_t type, index;
} kinds[] = {
	{"ME", AMDGPU_INFO_FW_GFX_ME, 0},   {"PFP", AMDGPU_INFO_FW_GFX_PFP, 0},  {"CE", AMDGPU_INFO_FW_GFX_CE, 0},
	{"MEC", AMDGPU_INFO_FW_GFX_MEC, 0}, {"MEC2", AMDGPU_INFO_FW_GFX_MEC, 1}, {"RLC", AMDGPU_INFO_FW_GFX_RLC, 0},
	{"SDMA 0", AMDGPU_INFO_FW_SDMA, 0}, {"SDMA 1", AMDGPU_INFO_FW_SDMA, 1},  {"SMC", AMDGPU_INFO_FW_SMC, 0},
	{"SOS", AMDGPU_INFO_FW_SOS, 0},     {"ASD", AMDGPU_INFO_FW_ASD, 0},      {"TA xGMI", AMDGPU_INFO_FW_TA, 0},
	{"TA RAS", AMDGPU_INFO_FW_TA, 1},   {"VCN", AMDGPU_INFO_FW_VCN, 0},      {"UVD", AMDGPU_INFO_FW_UVD, 0},
	{"VCE", AMDGPU_INFO_FW_VCE, 0},     {"GMC", AMDGPU_INFO_FW_GMC, 0},      {"DMCU", AMDGPU_INFO_FW_DMCU, 0},
	{"DMCUB", AMDGPU_INFO_FW_DMCUB, 0}, {"TOC", AMDGPU_INFO_FW_TOC, 0},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
_Static_assert(KINDS <= DRV_FIRMWARES_MAX, "the caller's array");

unsigned drv_firmware(const struct drv_device *dev, struct drv_firmware *firmware)
{
	struct drv_libdrm lib;
	unsigned count = 0;
	uint32_t minor;

	if (drv_libdrm_open(dev, &minor, &lib))
		return 0;
	for (unsigned i = 0; i < KINDS; i++) {
		struct drv_firmware f = {.name = kinds[i].name};

		/* The kernel gives zeros for an absent firmware. */
		if (!drv_libdrm_firmware(&lib, kinds[i].type, kinds[i].index, &f.version, &f.feature) && f.version)
			firmware[count++] = f;
	}
	drv_libdrm_close(&lib);
	return count;
}
