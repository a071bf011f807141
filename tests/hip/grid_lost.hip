/* A cooperative grid some of whose blocks never arrive at the barrier: the kernel's watchdog stops it, the next
 * wait gives the error, and so does every call until the device is reset. */
#include <hip/hip_cooperative_groups.h>

#include "tests/clients/hip/hip.h"

__global__ void meet(unsigned *arrived, unsigned first)
{
	atomicAdd(arrived, 1u);
	if (blockIdx.x >= first)
		cooperative_groups::this_grid().sync();
}

static hipError_t launch(unsigned *arrived, unsigned first)
{
	void *arguments[] = {&arrived, &first};

	return hipLaunchCooperativeKernel((const void *)meet, dim3(4), dim3(64), arguments, 0, 0);
}

static unsigned *counter()
{
	unsigned *at;

	HIP(hipMalloc((void **)&at, sizeof(*at)));
	HIP(hipMemset(at, 0, sizeof(*at)));
	return at;
}

int main()
{
	unsigned *at = counter(), got = 0;

	HIP(launch(at, 1));
	CHECK_EQ(hipDeviceSynchronize(), hipErrorLaunchFailure);
	CHECK_EQ(launch(at, 0), hipErrorLaunchFailure);
	CHECK_EQ(hipMemset(at, 0, sizeof(*at)), hipErrorLaunchFailure);
	HIP(hipDeviceReset());
	(void)hipGetLastError();
	at = counter();
	HIP(launch(at, 0));
	HIP(hipMemcpy(&got, at, sizeof(got), hipMemcpyDeviceToHost));
	CHECK_EQ(got, 4 * 64);
	HIP(hipFree(at));
	return check_done("a grid that is lost");
}
