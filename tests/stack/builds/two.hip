/* A kernel that calls a function of another source: relocatable device code. */
#include <hip/hip_runtime.h>

__device__ int twice(int a);

__global__ void twices(int *to)
{
	to[threadIdx.x] = twice((int)threadIdx.x);
}

int main()
{
	int *memory, got[64];

	if (hipMalloc((void **)&memory, sizeof(got)))
		return 2;
	twices<<<1, 64>>>(memory);
	if (hipMemcpy(got, memory, sizeof(got), hipMemcpyDeviceToHost))
		return 3;
	return got[63] != 126;
}
