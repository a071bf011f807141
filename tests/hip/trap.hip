/* A trap in a kernel: DRM installs no trap handler, so the wave goes on; but on gfx1100 to gfx1103 it halts, and the
 * error record of the hang says that this may be the cause. */
#include <string.h>

#include "tests/clients/hip/hip.h"
#include "tests/hip/error_log.h"

__global__ void write_or_trap(int *to, int trap)
{
	if (trap && threadIdx.x == 3)
		__builtin_trap();
	to[threadIdx.x] = 7;
}

static bool halts()
{
	hipDeviceProp_t properties;

	HIP(hipGetDeviceProperties(&properties, 0));
	return !strncmp(properties.gcnArchName, "gfx110", 6);
}

int main()
{
	int got[32] = {0}, *to;

	error_log_begin();
	HIP(hipMalloc((void **)&to, sizeof(got)));
	write_or_trap<<<1, 32>>>(to, 0);
	HIP(hipDeviceSynchronize());
	write_or_trap<<<1, 32>>>(to, 1);
	CHECK_EQ(hipDeviceSynchronize(), halts() ? hipErrorLaunchFailure : hipSuccess);
	CHECK_EQ(error_log_mentions("__builtin_trap()"), halts());
	if (!halts()) {
		HIP(hipMemcpy(got, to, sizeof(got), hipMemcpyDeviceToHost));
		CHECK_EQ(got[3], 7);
	}
	error_log_end();
	return check_done("traps in kernels");
}
