/* __ldg(): a load that CUDA's compiler may keep in a cache of its own; here a load. */
#ifndef HIP_DEVICE_LOAD_H
#define HIP_DEVICE_LOAD_H

#include <hip/device/attributes.h>

template <typename T> HIP_DEVICE T __ldg(const T *address)
{
	return *address;
}

#endif
