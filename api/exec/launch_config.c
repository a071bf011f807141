/* Launches with a list of attributes (HIP 7). Those without an attribute are the plain launches, and as fast. */
#include "api/exec/launch.h"

#if TUFF_HIP_ABI >= 7
/* CLR's rule: cooperative is the only attribute of a launch. */
static hipError_t read_attributes(const hipLaunchAttribute *list, unsigned count, bool *cooperative)
{
	*cooperative = false;
	if (count && !list)
		return hipErrorInvalidValue;
	for (unsigned i = 0; i < count; i++) {
		if (list[i].id != hipLaunchAttributeCooperative)
			return hipErrorInvalidConfiguration;
		*cooperative = list[i].value.cooperative;
	}
	return hipSuccess;
}

static hipError_t check_config(const hipLaunchConfig_t *config, const void *function, bool *cooperative)
{
	if (!function)
		return hipErrorInvalidDeviceFunction;
	if (!config)
		return hipErrorInvalidConfiguration;
	return read_attributes(config->attrs, config->numAttrs, cooperative);
}

hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *config, const void *function, void **args)
{
	bool cooperative;
	hipError_t r = check_config(config, function, &cooperative);

	if (r)
		return hip_store_error(r);
	if (!cooperative)
		return hipLaunchKernel(function, config->gridDim, config->blockDim, args, config->dynamicSmemBytes,
				       config->stream);
	if (config->dynamicSmemBytes > UINT32_MAX)
		return hip_store_error(hipErrorInvalidValue);
	return hipLaunchCooperativeKernel(function, config->gridDim, config->blockDim, args,
					  (unsigned)config->dynamicSmemBytes, config->stream);
}

static hipError_t check_driver_config(const HIP_LAUNCH_CONFIG *c, hipFunction_t function, bool *cooperative)
{
	if (!c)
		return hipErrorInvalidValue;
	if (!function)
		return hipErrorInvalidResourceHandle;
	if (!c->blockDimX || !c->blockDimY || !c->blockDimZ)
		return hipErrorInvalidConfiguration;
	return read_attributes(c->attrs, c->numAttrs, cooperative);
}

hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *c, hipFunction_t function, void **args, void **extra)
{
	bool cooperative;
	hipError_t r = check_driver_config(c, function, &cooperative);

	if (r)
		return hip_store_error(r);
	if (!cooperative)
		return hipModuleLaunchKernel(function, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX,
					     c->blockDimY, c->blockDimZ, c->sharedMemBytes, c->hStream, args,
					     extra);
	if (extra)
		return hip_store_error(hipErrorNotSupported);
	return hipModuleLaunchCooperativeKernel(function, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX,
						c->blockDimY, c->blockDimZ, c->sharedMemBytes, c->hStream, args);
}
#endif
