/* A library with kernels and variables, as programs load and unload them. */
#include <hip/hip_runtime.h>

__device__ unsigned counter = 100;
__constant__ unsigned step = 7;
__managed__ unsigned total = 1000;

__global__ static void work(unsigned *out, long long clocks)
{
	const long long end = clock64() + clocks;

	while (clocks && clock64() < end)
		;
	if (!threadIdx.x) {
		counter += step;
		atomicAdd(&total, step);
		*out = counter;
	}
}

extern "C" hipError_t plugin_run(unsigned *out, long long clocks, hipStream_t stream)
{
	work<<<1, 64, 0, stream>>>(out, clocks);
	return hipGetLastError();
}

extern "C" hipError_t plugin_function(hipFunction_t *function)
{
	return hipGetFuncBySymbol(function, (const void *)work);
}

extern "C" unsigned *plugin_total(void)
{
	return &total;
}

extern "C" hipError_t plugin_step(unsigned value)
{
	return hipMemcpyToSymbol(HIP_SYMBOL(step), &value, sizeof(value));
}
