/* Another name of hip_vector_types.h. */
#ifndef HIP_AMD_DETAIL_AMD_HIP_VECTOR_TYPES_H
#define HIP_AMD_DETAIL_AMD_HIP_VECTOR_TYPES_H

#include <hip/hip_vector_types.h>

#endif
