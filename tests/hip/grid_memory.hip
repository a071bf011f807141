/* Cooperative grids that meet in memory, by a barrier of their own: every block is there, however many fit, and a block
 * more is refused. */
#include "tests/clients/hip/hip.h"

__device__ static void meet(unsigned *arrived, unsigned all)
{
	__syncthreads();
	if (!threadIdx.x) {
		__atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL);
		while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < all)
			__builtin_amdgcn_s_sleep(1);
	}
	__syncthreads();
}

/* Each turn every block reads what its neighbour wrote in the one before. */
__global__ void pass_on(unsigned *arrived, unsigned *value, unsigned turns)
{
	unsigned blocks = gridDim.x, next = (blockIdx.x + 1) % blocks;

	for (unsigned turn = 0; turn < turns; turn++) {
		unsigned got = value[turn % 2 * blocks + next];

		if (!threadIdx.x)
			value[(turn + 1) % 2 * blocks + blockIdx.x] = got + 1;
		meet(arrived, (turn + 1) * blocks);
	}
}

int main()
{
	unsigned blocks, turns = 5, *memory, wrong = 0;
	std::vector<unsigned> got;
	hipDeviceProp_t p;
	int can = 0, each = 0;

	HIP(hipGetDeviceProperties(&p, 0));
	HIP(hipDeviceGetAttribute(&can, hipDeviceAttributeCooperativeLaunch, 0));
	CHECK_EQ(can, 1);
	HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&each, pass_on, 1024, 0));
	blocks = (unsigned)(each * p.multiProcessorCount);
	HIP(hipMalloc((void **)&memory, (2 * blocks + 1) * sizeof(unsigned)));
	HIP(hipMemset(memory, 0, (2 * blocks + 1) * sizeof(unsigned)));

	unsigned *value = memory + 1;
	void *arguments[] = {&memory, &value, &turns};

	CHECK_EQ(hipLaunchCooperativeKernel((const void *)pass_on, dim3(blocks + 1), dim3(1024), arguments, 0, 0),
		 hipErrorCooperativeLaunchTooLarge);
	HIP(hipLaunchCooperativeKernel((const void *)pass_on, dim3(blocks), dim3(1024), arguments, 0, 0));
	HIP(hipDeviceSynchronize());
	got.resize(2 * blocks + 1);
	HIP(hipMemcpy(got.data(), memory, got.size() * sizeof(unsigned), hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < blocks; i++)
		wrong += got[1 + turns % 2 * blocks + i] != turns;
	CHECK_EQ(wrong, 0);
	CHECK_EQ(got[0], turns * blocks);
	return check_done("cooperative grids that meet in memory");
}
