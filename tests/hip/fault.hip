/* A kernel accesses unmapped memory: the device gives the error until it is reset, and works after that. */
#include "tests/clients/hip/hip.h"

__global__ void store(unsigned *to, unsigned value)
{
	*to = value;
}

__device__ unsigned variable = 7;

__global__ void count()
{
	variable++;
}

static void works(unsigned want)
{
	unsigned *at, got = 0;

	HIP(hipMalloc((void **)&at, 4096));
	store<<<1, 1>>>(at, 5);
	HIP_LAUNCHED();
	count<<<1, 1>>>();
	HIP_LAUNCHED();
	HIP(hipMemcpy(&got, at, 4, hipMemcpyDeviceToHost));
	CHECK_EQ(got, 5);
	HIP(hipMemcpyFromSymbol(&got, HIP_SYMBOL(variable), 4, 0, hipMemcpyDeviceToHost));
	CHECK_EQ(got, want);
	HIP(hipFree(at));
}

int main()
{
	hipStream_t stream;
	hipError_t error;
	unsigned *at;

	works(8);
	works(9);
	HIP(hipStreamCreate(&stream));
	HIP(hipMalloc((void **)&at, 4096));
	store<<<1, 1, 0, stream>>>((unsigned *)0x10000, 1);
	HIP_LAUNCHED();
	error = hipStreamSynchronize(stream);
	CHECK(error == hipErrorIllegalAddress || error == hipErrorLaunchFailure);
	CHECK_EQ(hipGetLastError(), error);
	/* It stays. */
	CHECK_EQ(hipMalloc((void **)&at, 4096), error);
	CHECK_EQ(hipDeviceSynchronize(), error);
	store<<<1, 1>>>(at, 1);
	CHECK_EQ(hipGetLastError(), error);
	HIP(hipDeviceReset());
	(void)hipGetLastError();
	CHECK_EQ(hipStreamQuery(stream), hipErrorContextIsDestroyed);
	(void)hipGetLastError();
	works(8);
	return check_done("faults of kernels");
}
