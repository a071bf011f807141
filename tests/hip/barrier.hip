/* Threads of a block wait for each other: sums in LDS, votes of a block, and fences that let the last block finish.
 */
#include "tests/clients/hip/hip.h"

#define BLOCKS  12u
#define THREADS 192u

__global__ void sum_of_blocks(const unsigned *data, unsigned *sums, unsigned *done, unsigned *total)
{
	__shared__ unsigned tree[THREADS];
	__shared__ bool last;
	unsigned t = threadIdx.x;

	tree[t] = data[blockIdx.x * THREADS + t];
	for (unsigned left = THREADS; left > 1;) {
		unsigned half = (left + 1) / 2;

		__syncthreads();
		if (t + half < left)
			tree[t] += tree[t + half];
		left = half;
	}
	__syncthreads();
	if (!t) {
		sums[blockIdx.x] = tree[0];
		__threadfence(); /* the sum is there before the block counts as done */
		last = atomicAdd(done, 1u) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && !t) {
		__threadfence();
		*total = 0;
		for (unsigned i = 0; i < gridDim.x; i++)
			*total += static_cast<volatile unsigned *>(sums)[i];
	}
}

__global__ void votes(int *out)
{
	int t = static_cast<int>(threadIdx.x);
	int counted = __syncthreads_count(t % 3 == 0), all = __syncthreads_and(t < 192),
	    not_all = __syncthreads_and(t);
	int any = __syncthreads_or(t == 191), none = __syncthreads_or(t > 191);

	if (counted == 64 && all && !not_all && any && !none)
		atomicAdd(out, 1);
}

int main()
{
	std::vector<unsigned> data(BLOCKS * THREADS);
	unsigned want = 0, results[2] = {};
	unsigned *done, *sums;
	int good = 0, *out;

	for (unsigned i = 0; i < data.size(); i++)
		want += data[i] = i * i + 5;
	gpu_array<unsigned> in(data), state(2);

	HIP(hipMalloc(&sums, BLOCKS * sizeof(unsigned)));
	HIP(hipMemset(state.at, 0, 2 * sizeof(unsigned)));
	done = state.at;
	sum_of_blocks<<<BLOCKS, THREADS>>>(in.at, sums, done, done + 1);
	HIP_LAUNCHED();
	HIP(hipMemcpy(results, state.at, sizeof(results), hipMemcpyDeviceToHost));
	CHECK_EQ(results[0], BLOCKS);
	CHECK_EQ(results[1], want);
	HIP(hipFree(sums));

	HIP(hipMalloc(&out, sizeof(int)));
	HIP(hipMemset(out, 0, sizeof(int)));
	votes<<<BLOCKS, THREADS>>>(out);
	HIP(hipMemcpy(&good, out, sizeof(int), hipMemcpyDeviceToHost));
	CHECK_EQ(good, BLOCKS * THREADS);
	HIP(hipFree(out));
	return check_done("barriers of a block");
}
