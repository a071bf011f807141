/* Another name of hip_runtime.h, which declares the functions for kernels. */
#ifndef HIP_INCLUDE_HIP_DEVICE_FUNCTIONS_H
#define HIP_INCLUDE_HIP_DEVICE_FUNCTIONS_H

#include <hip/hip_runtime.h>

#endif
