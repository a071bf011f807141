/* Another name of hip_runtime.h. */
#ifndef HIP_AMD_DETAIL_AMD_DEVICE_FUNCTIONS_H
#define HIP_AMD_DETAIL_AMD_DEVICE_FUNCTIONS_H

#include <hip/hip_runtime.h>

#endif
