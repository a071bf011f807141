/* Cooperative groups, for kernels. */
#ifndef HIP_INCLUDE_HIP_HIP_COOPERATIVE_GROUPS_H
#define HIP_INCLUDE_HIP_HIP_COOPERATIVE_GROUPS_H

#include <hip/hip_runtime.h>

#if defined(__cplusplus) && defined(__HIP__)
#include <hip/device/groups.h>
#endif

#endif
