/* The first program of HIP: two vectors go to the GPU, their sum comes back. */
#include "tests/clients/hip/hip.h"

#define COUNT 100000u

__global__ void add(const float *a, const float *b, float *sum, unsigned count)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		sum[i] = a[i] + b[i];
}

int main()
{
	std::vector<float> a(COUNT), b(COUNT);
	unsigned wrong = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		a[i] = (float)i;
		b[i] = (float)(i % 97) * 0.5f;
	}
	{
		gpu_array<float> ga(a), gb(b), sum(COUNT);

		add<<<(COUNT + 255) / 256, 256>>>(ga.at, gb.at, sum.at, COUNT);
		HIP_LAUNCHED();
		HIP(hipDeviceSynchronize());
		std::vector<float> got = sum.read();
		for (unsigned i = 0; i < COUNT; i++)
			wrong += got[i] != a[i] + b[i];
	}
	CHECK_EQ(wrong, 0);
	return check_done("a sum of vectors through HIP");
}
