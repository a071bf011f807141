/* 8-bit floating point: e4m3 and e5m2 (bits of exponent and mantissa), in OCP's format and as fnuz, which has no
 * infinities, no -0, and one NaN. Conversions round to nearest and stay finite, unless a parameter says otherwise;
 * computations are in float. */
#ifndef HIP_INCLUDE_HIP_HIP_FP8_H
#define HIP_INCLUDE_HIP_HIP_FP8_H

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#ifdef __cplusplus
#include <hip/device/fp8.h>
#endif

#endif
