/* Cooperative groups: tiles and blocks anywhere, the whole grid where the device launches cooperative kernels. */
#include "tests/clients/hip/hip.h"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

#define BLOCKS 12u
#define LANES  256u
#define ROUNDS 5u

/* The sum of a block, through tiles of 16 lanes. */
__global__ void block_sum(const unsigned *from, unsigned *sums)
{
	__shared__ unsigned parts[LANES / 16];
	cg::thread_block block = cg::this_thread_block();
	cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
	unsigned value = from[blockIdx.x * LANES + block.thread_rank()];

	for (unsigned step = tile.size() / 2; step; step /= 2)
		value += tile.shfl_down(value, step);
	if (!tile.thread_rank())
		parts[block.thread_rank() / 16] = value;
	block.sync();
	if (!block.thread_rank()) {
		unsigned sum = 0;

		for (unsigned part : parts)
			sum += part;
		sums[blockIdx.x] = sum;
	}
}

static void in_blocks()
{
	std::vector<unsigned> from(BLOCKS * LANES);
	unsigned wrong = 0;

	for (unsigned i = 0; i < from.size(); i++)
		from[i] = i * 7 % 1001;
	gpu_array<unsigned> gpu(from), sums(BLOCKS);
	block_sum<<<BLOCKS, LANES>>>(gpu.at, sums.at);
	HIP_LAUNCHED();
	std::vector<unsigned> got = sums.read();
	for (unsigned b = 0; b < BLOCKS; b++) {
		unsigned want = 0;

		for (unsigned i = 0; i < LANES; i++)
			want += from[b * LANES + i];
		wrong += got[b] != want;
	}
	CHECK_EQ(wrong, 0);
}

/* Each round, a lane reads what the block beside its own wrote in the round before. */
__global__ void around(unsigned *a, unsigned *b)
{
	cg::grid_group grid = cg::this_grid();
	unsigned i = threadIdx.x, me = blockIdx.x, beside = (me + 1) % gridDim.x;

	for (unsigned round = 0; round < ROUNDS; round++) {
		b[me * LANES + i] = a[beside * LANES + i] + 1;
		grid.sync();
		unsigned *swap = a;
		a = b;
		b = swap;
	}
}

static void in_a_grid()
{
	std::vector<unsigned> from(BLOCKS * LANES);
	unsigned wrong = 0;
	int blocks = 0;

	for (unsigned i = 0; i < from.size(); i++)
		from[i] = i;
	gpu_array<unsigned> a(from), b(from);
	void *args[] = {&a.at, &b.at};
	HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, around, LANES, 0));
	CHECK(blocks >= 1);
	HIP(hipLaunchCooperativeKernel((const void *)around, dim3(BLOCKS), dim3(LANES), args, 0, 0));
	HIP(hipDeviceSynchronize());
	std::vector<unsigned> got = ROUNDS % 2 ? b.read() : a.read();
	for (unsigned me = 0; me < BLOCKS; me++)
		for (unsigned i = 0; i < LANES; i++)
			wrong += got[me * LANES + i] != (me + ROUNDS) % BLOCKS * LANES + i + ROUNDS;
	CHECK_EQ(wrong, 0);
}

int main()
{
	int cooperative = 0;

	in_blocks();
	HIP(hipDeviceGetAttribute(&cooperative, hipDeviceAttributeCooperativeLaunch, 0));
	printf("  cooperative launches: %d\n", cooperative);
	if (cooperative)
		in_a_grid();
	return check_done("cooperative groups of HIP");
}
