/* Another name of hip_fp16.h. */
#ifndef HIP_AMD_DETAIL_AMD_HIP_FP16_H
#define HIP_AMD_DETAIL_AMD_HIP_FP16_H

#include <hip/hip_fp16.h>

#endif
