/* Status: what changes while a device is open, and facts that only people ask for. Nothing here is read at opening.
 * Every call enters the kernel; thread safe. */
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

/* All processes together. */
struct drv_usage {
	uint64_t vram_B, visible_vram_B, gtt_B; /* in use now */
	uint64_t evictions, moved_B;            /* buffers that the kernel moved, since it loaded the driver */
	uint64_t cpu_faults;                    /* that moved a buffer to where the CPU sees it */
	struct drv_reading sensor[DRV_SENSORS];
};

/* Reads all of it: 6 ioctls for memory; for the sensors it opens the node, 7 ioctls and 1 for each. */
DRV_MUST_CHECK int drv_usage(const struct drv_device *dev, struct drv_usage *usage);
/* Without the sensors, which are 0 then: 6 ioctls. */
DRV_MUST_CHECK int drv_usage_memory(const struct drv_device *dev, struct drv_usage *usage);

struct drv_firmware {
	const char *name; /* static: "MEC" */
	uint32_t version, feature;
};
#define DRV_FIRMWARES_MAX 24

/* The firmwares that are loaded, at most DRV_FIRMWARES_MAX; gives how many, 0 too when the device does not answer.
 * Opens the node, and an ioctl for each kind that there may be. */
unsigned drv_firmware(const struct drv_device *dev, struct drv_firmware *firmware);

#endif
