/* HIP 7: after a kernel accesses unmapped memory every call of the process returns the error, also that which resets the device. */
#include "tests/clients/hip/hip.h"

#include <thread>

__global__ void store(unsigned *to, unsigned value)
{
	*to = value;
}

int main()
{
	hipStream_t stream;
	hipEvent_t event;
	hipError_t error, there = hipSuccess;
	unsigned *at;
	int count;

	HIP(hipMalloc((void **)&at, 4096));
	HIP(hipStreamCreate(&stream));
	HIP(hipEventCreate(&event));
	store<<<1, 1, 0, stream>>>((unsigned *)0x10000, 1);
	HIP_LAUNCHED();
	error = hipStreamSynchronize(stream);
	CHECK(error == hipErrorIllegalAddress || error == hipErrorLaunchFailure);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(hipGetLastError(), error);
		CHECK_EQ(hipPeekAtLastError(), error);
	}
	CHECK_EQ(hipGetDeviceCount(&count), error);
	CHECK_EQ(hipSetDevice(0), error);
	CHECK_EQ(hipRuntimeGetVersion(&count), error);
	CHECK_EQ(hipEventDestroy(event), error);
	CHECK_EQ(hipMalloc((void **)&at, 4096), error);
	CHECK_EQ(hipMemset(at, 0, 4096), error);
	store<<<1, 1>>>(at, 1);
	CHECK_EQ(hipGetLastError(), error);
	CHECK_EQ(hipDeviceReset(), error);
	CHECK_EQ(hipFree(at), error);
	std::thread([&] { there = hipStreamDestroy(stream); }).join();
	CHECK_EQ(there, error);
	CHECK(!strcmp(hipGetErrorName(hipErrorIllegalAddress), "hipErrorIllegalAddress"));
	return check_done("faults of kernels of HIP 7");
}
