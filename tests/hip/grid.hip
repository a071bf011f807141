/* A grid that synchronizes: each thread adds up what all others wrote before. A device that does not support this
 * reports so, and refuses the launch. */
#include <hip/hip_cooperative_groups.h>

#include "tests/clients/hip/hip.h"

namespace cg = cooperative_groups;

#define BLOCKS  6u
#define THREADS 128u
#define ROUNDS  4u

__global__ void turns(unsigned *values, unsigned *sums)
{
	cg::grid_group grid = cg::this_grid();
	unsigned me = grid.thread_rank();

	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned sum = 0;

		values[me] = me + round;
		grid.sync();
		for (unsigned i = 0; i < grid.size(); i++)
			sum += static_cast<volatile unsigned *>(values)[i];
		grid.sync();
		sums[me] = round ? sums[me] + sum : sum;
	}
}

int main()
{
	gpu_array<unsigned> values(BLOCKS * THREADS), sums(BLOCKS * THREADS);
	void *arguments[] = {&values.at, &sums.at};
	int can = 0;
	unsigned all = BLOCKS * THREADS, want = 0, wrong = 0;
	hipError_t error;

	HIP(hipDeviceGetAttribute(&can, hipDeviceAttributeCooperativeLaunch, 0));
	error = hipLaunchCooperativeKernel(turns, dim3(BLOCKS), dim3(THREADS), arguments, 0, 0);
	if (!can) {
		CHECK(error != hipSuccess);
		return check_done("a grid that waits for itself, refused");
	}
	CHECK_EQ(error, hipSuccess);
	for (unsigned round = 0; round < ROUNDS; round++)
		want += all * (all - 1) / 2 + all * round;
	for (unsigned sum : sums.read())
		wrong += sum != want;
	CHECK_EQ(wrong, 0);
	return check_done("a grid that waits for itself");
}
