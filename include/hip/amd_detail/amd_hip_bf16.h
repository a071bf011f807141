/* Another name of hip_bf16.h. */
#ifndef HIP_AMD_DETAIL_AMD_HIP_BF16_H
#define HIP_AMD_DETAIL_AMD_HIP_BF16_H

#include <hip/hip_bf16.h>

#endif
