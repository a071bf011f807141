/* A grid that is so long that it is submitted in parts, and that is refused: what the stream is given next is whole. */
#include "tests/clients/hip/hip.h"

#define LONG (1u << 26) /* work-items: more than 64 times what the GPU holds */

__global__ void count(unsigned *x)
{
	atomicAdd(x, 1);
}

/* Has more registers than a workgroup of its size gets. */
__global__ void too_many_registers(unsigned *x)
{
	asm volatile("" ::: "v255");
	atomicAdd(x, 1);
}

int main()
{
	unsigned *x, got;

	HIP(hipMalloc((void **)&x, sizeof(*x)));
	HIP(hipMemset(x, 0, sizeof(*x)));
	too_many_registers<<<LONG / 1024, 1024>>>(x);
	CHECK_EQ(hipGetLastError(), hipErrorInvalidValue);
	count<<<32, 64>>>(x);
	HIP_LAUNCHED();
	HIP(hipMemcpy(&got, x, sizeof(got), hipMemcpyDeviceToHost));
	CHECK_EQ(got, 32 * 64);
	HIP(hipFree(x));
	return check_done("a long grid that is refused");
}
