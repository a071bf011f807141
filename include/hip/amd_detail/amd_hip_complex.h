/* Another name of hip_complex.h. */
#ifndef HIP_AMD_DETAIL_AMD_HIP_COMPLEX_H
#define HIP_AMD_DETAIL_AMD_HIP_COMPLEX_H

#include <hip/hip_complex.h>

#endif
