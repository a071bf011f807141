/* half: 16 bits of floating point, 11 of them the mantissa; and half2, two of them.
 *
 * On the GPU half is computed in half; the host and half's conversions to and from other types round to nearest. */
#ifndef HIP_INCLUDE_HIP_HIP_FP16_H
#define HIP_INCLUDE_HIP_HIP_FP16_H

#include <hip/hip_runtime.h>

#ifdef __cplusplus
#include <hip/device/half.h>
#endif

#endif
