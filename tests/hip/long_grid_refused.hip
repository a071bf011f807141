/* A grid that is so long that it is submitted in parts, and that is refused: what the stream is given next is whole. */
#include "tests/clients/hip/hip.h"

#define LONG (1u << 26) /* work-items: more than 64 times what the GPU holds */

__global__ void count(unsigned *x)
{
	atomicAdd(x, 1);
}

/* Has more scratch memory for a workgroup of its size than the GPU has memory. */
__global__ void too_much_scratch(unsigned *x)
{
	volatile char private_memory[130000];

	private_memory[*x % sizeof(private_memory)] = 1;
	atomicAdd(x, 1);
}

int main()
{
	unsigned *x, got;

	HIP(hipMalloc((void **)&x, sizeof(*x)));
	HIP(hipMemset(x, 0, sizeof(*x)));
	too_much_scratch<<<LONG / 1024, 1024>>>(x);
	CHECK_EQ(hipGetLastError(), hipErrorOutOfMemory);
	count<<<32, 64>>>(x);
	HIP_LAUNCHED();
	HIP(hipMemcpy(&got, x, sizeof(got), hipMemcpyDeviceToHost));
	CHECK_EQ(got, 32 * 64);
	HIP(hipFree(x));
	return check_done("a long grid that is refused");
}
