/* Another name of hip_cooperative_groups.h. */
#ifndef HIP_AMD_DETAIL_AMD_HIP_COOPERATIVE_GROUPS_H
#define HIP_AMD_DETAIL_AMD_HIP_COOPERATIVE_GROUPS_H

#include <hip/hip_cooperative_groups.h>

#endif
