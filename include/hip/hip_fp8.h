/* Floating point of 8 bits: e4m3 and e5m2 (bits of exponent and mantissa) as OCP defines them, and fnuz, which has
 * neither infinities nor -0 and one NaN. Numbers are converted to nearest and stay finite, unless a function is
 * told otherwise; they are computed in float. */
#ifndef HIP_INCLUDE_HIP_HIP_FP8_H
#define HIP_INCLUDE_HIP_HIP_FP8_H

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#ifdef __cplusplus
#include <hip/device/fp8.h>
#endif

#endif
