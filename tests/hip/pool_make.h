/* A pool of device 0, for programs in C (pools.h has more, for C++). */
#ifndef TESTS_HIP_POOL_MAKE_H
#define TESTS_HIP_POOL_MAKE_H

#include <hip/hip_runtime_api.h>

#include "tests/check.h"

static inline hipMemPool_t pool_make(void)
{
	const hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
				       .location = {.type = hipMemLocationTypeDevice}};
	hipMemPool_t p = NULL;

	CHECK_EQ(hipMemPoolCreate(&p, &props), hipSuccess);
	return p;
}

#endif
