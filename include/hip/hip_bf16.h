/* __hip_bfloat16: the upper half of a float's 32 bits; and __hip_bfloat162, two of them. Computed in float, rounded
 * to nearest. */
#ifndef HIP_INCLUDE_HIP_HIP_BF16_H
#define HIP_INCLUDE_HIP_HIP_BF16_H

#include <hip/hip_runtime.h>

#ifdef __cplusplus
#include <hip/device/bf16.h>
#endif

#endif
