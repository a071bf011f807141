/* Another name of hip_math_constants.h. */
#ifndef HIP_AMD_DETAIL_AMD_HIP_MATH_CONSTANTS_H
#define HIP_AMD_DETAIL_AMD_HIP_MATH_CONSTANTS_H

#include <hip/hip_math_constants.h>

#endif
