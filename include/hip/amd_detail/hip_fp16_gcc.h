/* Another name of hip_fp16.h. */
#ifndef HIP_AMD_DETAIL_HIP_FP16_GCC_H
#define HIP_AMD_DETAIL_HIP_FP16_GCC_H

#include <hip/hip_fp16.h>

#endif
