/* malloc and free in kernels, which CLR 5.2 does on the host: the kernel asks, CLR's thread allocates and answers. */
#include "tests/clients/hip/hip.h"

#define LANES 80u

__global__ void build(unsigned **lists)
{
	unsigned i = threadIdx.x, *list = (unsigned *)malloc((i + 2) * sizeof(unsigned));

	lists[i] = list;
	if (!list)
		return;
	list[0] = i + 1;
	for (unsigned k = 0; k <= i; k++)
		list[k + 1] = i * 100 + k;
}

__global__ void add_up(unsigned **lists, unsigned *sums)
{
	unsigned *list = lists[threadIdx.x], sum = 0;

	for (unsigned k = 0; k < list[0]; k++)
		sum += list[k + 1];
	sums[threadIdx.x] = sum;
	free(list);
}

int main()
{
	gpu_array<unsigned *> lists(LANES);
	gpu_array<unsigned> sums(LANES);
	unsigned wrong = 0, missing = 0;

	build<<<1, LANES>>>(lists.at);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	for (unsigned *list : lists.read())
		missing += !list;
	if (CHECK_EQ(missing, 0)) {
		add_up<<<1, LANES>>>(lists.at, sums.at);
		HIP_LAUNCHED();
		std::vector<unsigned> got = sums.read();
		for (unsigned i = 0; i < LANES; i++)
			wrong += got[i] != (i + 1) * 100 * i + i * (i + 1) / 2;
		CHECK_EQ(wrong, 0);
	}
	return check_done("malloc in kernels of HIP");
}
