/* A program that ends early: kernels run, copies and callbacks are pending, nothing was freed. */
#include "tests/clients/hip/hip.h"

__global__ void count(unsigned *data, unsigned rounds)
{
	unsigned value = data[threadIdx.x];

	for (unsigned i = 0; i < rounds; i++)
		value = value * 1664525u + 1013904223u;
	data[threadIdx.x] = value;
}

static void never(hipStream_t, hipError_t, void *)
{
}

int main()
{
	hipStream_t stream[4];
	unsigned *data, *host;

	HIP(hipMalloc((void **)&data, 4096));
	HIP(hipHostMalloc((void **)&host, 4096, 0));
	for (unsigned i = 0; i < 4; i++) {
		unsigned *mine = data + 64 * i;

		HIP(hipStreamCreate(&stream[i]));
		count<<<1, 64, 0, stream[i]>>>(mine, 30000);
		HIP_LAUNCHED();
		HIP(hipMemcpyAsync(host + 64 * i, mine, 256, hipMemcpyDeviceToHost, stream[i]));
		HIP(hipStreamAddCallback(stream[i], never, NULL, 0));
		count<<<1, 64, 0, stream[i]>>>(mine, 30000);
		HIP_LAUNCHED();
	}
	return check_done("leaving in the middle");
}
