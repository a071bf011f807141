/* Grids of several devices that wait for each other: when one of them is refused, none is submitted, since the others would
 * wait until the watchdog stops them. */
#include <hip/hip_cooperative_groups.h>

#include "tests/clients/hip/hip.h"

#define ALONE (hipCooperativeLaunchMultiDeviceNoPreSync | hipCooperativeLaunchMultiDeviceNoPostSync)

__global__ void together(unsigned *arrived)
{
	cooperative_groups::this_multi_grid().sync();
	if (!threadIdx.x)
		++*arrived;
}

__global__ void fault(unsigned *nowhere)
{
	*nowhere = 1;
}

static hipStream_t streams[2];
static unsigned *arrived[2];

static hipError_t launch(unsigned flags)
{
	void *args[2][1] = {{&arrived[0]}, {&arrived[1]}};
	hipLaunchParams list[2] = {};

	for (unsigned i = 0; i < 2; i++) {
		list[i].func = (void *)together;
		list[i].gridDim = dim3(1);
		list[i].blockDim = dim3(64);
		list[i].args = args[i];
		list[i].stream = streams[i];
	}
	return hipLaunchCooperativeKernelMultiDevice(list, 2, flags);
}

static unsigned count(int device)
{
	unsigned got;

	HIP(hipSetDevice(device));
	HIP(hipStreamSynchronize(streams[device]));
	HIP(hipMemcpy(&got, arrived[device], sizeof(got), hipMemcpyDeviceToHost));
	return got;
}

int main()
{
	for (int i = 0; i < 2; i++) {
		HIP(hipSetDevice(i));
		HIP(hipStreamCreate(&streams[i]));
		HIP(hipMalloc((void **)&arrived[i], sizeof(unsigned)));
		HIP(hipMemset(arrived[i], 0, sizeof(unsigned)));
	}
	HIP(launch(0));
	CHECK(count(0) == 1 && count(1) == 1);
	fault<<<1, 1, 0, streams[1]>>>(nullptr);
	CHECK_EQ(hipStreamSynchronize(streams[1]), hipErrorIllegalAddress);
	CHECK_EQ(launch(ALONE), hipErrorIllegalAddress);
	CHECK_EQ(count(0), 1);
	return check_done("grids of which one is refused");
}
