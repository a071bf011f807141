/* Another name of hip_runtime.h. */
#ifndef HIP_AMD_DETAIL_HIP_ASSERT_H
#define HIP_AMD_DETAIL_HIP_ASSERT_H

#include <hip/hip_runtime.h>

#endif
