/* A kernel that needs the device library. */
#include <hip/hip_runtime.h>

#include <cmath>
#include <memory.h>

#if defined(EXPECTED_HIP) && EXPECTED_HIP != HIP_VERSION_MAJOR
#error "these are the headers of another HIP"
#endif

__global__ void sines(float *to)
{
	to[threadIdx.x] = sinf((float)threadIdx.x);
}

int main()
{
	float *memory, got[64];

	if (hipMalloc((void **)&memory, sizeof(got)))
		return 2;
	sines<<<1, 64>>>(memory);
	if (hipMemcpy(got, memory, sizeof(got), hipMemcpyDeviceToHost))
		return 3;
	return std::fabs(got[1] - 0.8414709f) > 1e-5f;
}
