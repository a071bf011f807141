/* half: 16-bit floating point with 11 bits of mantissa; and half2, two of them. GPUs compute half in half; the
 * host, and conversions from and to other types, round to nearest. */
#ifndef HIP_INCLUDE_HIP_HIP_FP16_H
#define HIP_INCLUDE_HIP_HIP_FP16_H

#include <hip/hip_runtime.h>

#ifdef __cplusplus
#include <hip/device/half.h>
#endif

#endif
