/* Kernels that this library itself uses. */
#ifndef API_BUILT_IN_H
#define API_BUILT_IN_H

#include "api/module/module.h"

enum hip_built_in {
	HIP_BUILT_IN_MEET,
	HIP_BUILT_IN_WRITE4,
	HIP_BUILT_IN_WRITE8,
	HIP_BUILT_IN_COPY1,
	HIP_BUILT_IN_COPY4,
	HIP_BUILT_IN_COPY16,
	HIP_BUILT_IN_FILL,
	HIP_BUILT_INS
};

/* Loads the kernels at their first use. *kernel is borrowed until the device is reset. */
hipError_t hip_built_in(struct hip_device *device, enum hip_built_in which, const struct hip_kernel **kernel);

void hip_built_ins_reset(struct hip_device *device);
#endif
