/* Another name of hip_fp8.h. */
#ifndef HIP_AMD_DETAIL_AMD_HIP_FP8_H
#define HIP_AMD_DETAIL_AMD_HIP_FP8_H

#include <hip/hip_fp8.h>

#endif
