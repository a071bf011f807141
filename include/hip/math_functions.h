/* Another name of hip_runtime.h, with which clang's headers declare the mathematical functions of kernels. */
#ifndef HIP_INCLUDE_HIP_MATH_FUNCTIONS_H
#define HIP_INCLUDE_HIP_MATH_FUNCTIONS_H

#include <hip/hip_runtime.h>

#endif
