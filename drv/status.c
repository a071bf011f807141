#include "drv/status.h"

#include <string.h>

#include <errno.h>

#include <amdgpu_drm.h>

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

static struct drv_reading read_sensor(const struct drv_device *dev, unsigned type)
{
	struct drv_reading reading = {0};
	struct drm_amdgpu_info request = {
		.return_pointer = (uintptr_t)&reading.value,
		.return_size = sizeof(reading.value),
		.query = AMDGPU_INFO_SENSOR,
		.sensor_info.type = type,
	};

	reading.known = !drv_ioctl(dev, DRM_IOCTL_AMDGPU_INFO, &request);
	return reading;
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

	for (unsigned i = 0; !r && i < DRV_SENSORS; i++)
		usage->sensor[i] = read_sensor(dev, types[i]);
	return r;
}

/* An absent firmware answers zeros. */
static bool read_firmware(const struct drv_device *dev, unsigned type, unsigned index,
			  struct drv_firmware *firmware)
{
	struct drm_amdgpu_info_firmware info = {0};
	struct drm_amdgpu_info request = {
		.return_pointer = (uintptr_t)&info,
		.return_size = sizeof(info),
		.query = AMDGPU_INFO_FW_VERSION,
		.query_fw = {.fw_type = type, .index = index},
	};

	if (drv_ioctl(dev, DRM_IOCTL_AMDGPU_INFO, &request) || !info.ver)
		return false;
	firmware->version = info.ver;
	firmware->feature = info.feature;
	return true;
}

static const struct firmware_kind {
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
	unsigned count = 0;

	for (unsigned i = 0; i < KINDS; i++)
		if (read_firmware(dev, kinds[i].type, kinds[i].index, &firmware[count]))
			firmware[count++].name = kinds[i].name;
	return count;
}

uint32_t drv_firmware_version(const struct drv_device *dev, const char *name)
{
	struct drv_firmware firmware = {0};
	unsigned i = 0;

	while (i < KINDS && strcmp(kinds[i].name, name))
		i++;
	return i < KINDS && read_firmware(dev, kinds[i].type, kinds[i].index, &firmware) ? firmware.version : 0;
}

uint32_t drv_ip_instances(const struct drv_device *dev, enum drv_ip_type ip)
{
	uint32_t count = 0;
	struct drm_amdgpu_info request = {
		.return_pointer = (uintptr_t)&count,
		.return_size = sizeof(count),
		.query = AMDGPU_INFO_HW_IP_COUNT,
		.query_hw_ip.type = ip,
	};

	return drv_ioctl(dev, DRM_IOCTL_AMDGPU_INFO, &request) ? 0 : count;
}
