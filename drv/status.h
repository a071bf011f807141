/* Status: values that change while a device is open, and facts that only people want. Opening reads nothing of
 * this. All structs are plain data of the caller. Every call enters the kernel; thread safe. */
#ifndef DRV_STATUS_H
#define DRV_STATUS_H

#include "drv/device.h"

/* A measurement that the kernel may not offer: power management is off, or an APU has no such sensor. */
struct drv_reading {
	bool known;
	uint32_t value;
};

enum drv_sensor {
	DRV_SENSOR_ENGINE_MHZ,
	DRV_SENSOR_MEMORY_MHZ,
	DRV_SENSOR_TEMPERATURE_MDEG, /* thousandths of a degree Celsius */
	DRV_SENSOR_LOAD_PERCENT,
	DRV_SENSOR_POWER_W, /* averaged by the firmware */
	DRV_SENSOR_VOLTAGE_MV,
	DRV_SENSORS,
};

/* Memory use of all processes together, and sensors. */
struct drv_usage {
	uint64_t vram_B, visible_vram_B, gtt_B; /* in use now */
	uint64_t evictions, moved_B;            /* since the kernel loaded the driver */
	uint64_t cpu_faults;                    /* faults that moved a buffer into the visible window */
	struct drv_reading sensor[DRV_SENSORS];
};

/* Reads memory use with 6 ioctls; for the sensors opens the node, with 7 ioctls and 1 per sensor. */
DRV_MUST_CHECK int drv_usage(const struct drv_device *dev, struct drv_usage *usage);
/* Reads memory use only, with 6 ioctls; the sensors are 0. */
DRV_MUST_CHECK int drv_usage_memory(const struct drv_device *dev, struct drv_usage *usage);

struct drv_firmware {
	const char *name; /* static: "MEC" */
	uint32_t version, feature;
};
#define DRV_FIRMWARES_MAX 24

/* Reads the versions of the loaded firmwares, at most DRV_FIRMWARES_MAX; gives their number, 0 also when the device
 * does not answer. Opens the node; one ioctl for each possible kind. */
unsigned drv_firmware(const struct drv_device *dev, struct drv_firmware *firmware);

#endif
