/* Devices: which there are, and the calling thread's. */
#include "api/internal.h"

hipError_t hipGetDeviceCount(int *count)
{
	hipError_t r;

	if (!count)
		return hip_end(hipErrorInvalidValue);
	*count = 0;
	r = atomic_load_explicit(&hip.status, memory_order_acquire);
	if (r)
		r = hip_init();
	if (!r)
		*count = (int)hip.devices;
	return hip_end(r);
}

hipError_t hipSetDevice(int device)
{
	HIP_ENTER();
	if (!hip_device_of(device))
		return hip_end(hipErrorInvalidDevice);
	hip_thread.device = device;
	return hip_end(hipSuccess);
}

hipError_t hipGetDevice(int *device)
{
	HIP_ENTER();
	if (!device)
		return hip_end(hipErrorInvalidValue);
	*device = hip_thread.device;
	return hip_end(hipSuccess);
}

hipError_t hipDeviceGet(hipDevice_t *device, int ordinal)
{
	HIP_ENTER();
	if (!device)
		return hip_end(hipErrorInvalidValue);
	if (!hip_device_of(ordinal))
		return hip_end(hipErrorInvalidDevice);
	*device = ordinal;
	return hip_end(hipSuccess);
}

hipError_t hipDriverGetVersion(int *version)
{
	if (!version)
		return hip_end(hipErrorInvalidValue);
	*version = HIP_VERSION;
	return hip_end(hipSuccess);
}

hipError_t hipRuntimeGetVersion(int *version)
{
	if (!version)
		return hip_end(hipErrorInvalidValue);
	*version = HIP_VERSION;
	return hip_end(hipSuccess);
}
