/* Variables of the GPU, by their names in the program. */
#include "tests/clients/hip/hip.h"

__device__ unsigned table[64];
__constant__ unsigned factors[4];

__global__ void scale()
{
	table[threadIdx.x] *= factors[threadIdx.x % 4];
}

static void symbols()
{
	const unsigned three[4] = {2, 3, 5, 7};
	unsigned in[64], out[64], wrong = 0;
	size_t size_B = 0;

	for (unsigned i = 0; i < 64; i++)
		in[i] = i + 1;
	HIP(hipMemcpyToSymbol(HIP_SYMBOL(table), in, sizeof(in)));
	HIP(hipMemcpyToSymbol(HIP_SYMBOL(factors), three, sizeof(three)));
	HIP(hipGetSymbolSize(&size_B, HIP_SYMBOL(table)));
	CHECK_EQ(size_B, sizeof(in));
	scale<<<1, 64>>>();
	HIP_LAUNCHED();
	HIP(hipMemcpyFromSymbol(out, HIP_SYMBOL(table), sizeof(out)));
	for (unsigned i = 0; i < 64; i++)
		wrong += out[i] != in[i] * three[i % 4];
	CHECK_EQ(wrong, 0);
}

int main()
{
	symbols();
	return check_done("variables in kernels of HIP");
}
