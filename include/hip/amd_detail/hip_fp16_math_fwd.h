/* Another name of hip_fp16.h. */
#ifndef HIP_AMD_DETAIL_HIP_FP16_MATH_FWD_H
#define HIP_AMD_DETAIL_HIP_FP16_MATH_FWD_H

#include <hip/hip_fp16.h>

#endif
