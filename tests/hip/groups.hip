/* Cooperative groups: a block, tiles of its waves, the lanes that took one way, groups whose kind a function does
 * not know. */
#include <hip/hip_cooperative_groups.h>

#include "tests/clients/hip/hip.h"

namespace cg = cooperative_groups;

#define BLOCKS  4u
#define THREADS 256u
#define ALL     (BLOCKS * THREADS)

/* A sum over any group, through memory of its own. */
__device__ unsigned group_sum(const cg::thread_group &group, unsigned *memory, unsigned value)
{
	unsigned rank = group.thread_rank();

	for (unsigned half = group.size() / 2; half; half /= 2) {
		memory[rank] = value;
		group.sync();
		if (rank < half)
			value += memory[rank + half];
		group.sync();
	}
	return value;
}

template <unsigned size, class P>
__device__ unsigned tile_sum(const cg::thread_block_tile<size, P> &tile, unsigned value)
{
	for (unsigned half = size / 2; half; half /= 2)
		value += tile.shfl_down(value, half);
	return tile.shfl(value, 0);
}

struct seen {
	unsigned block_sum, tile_sum, small_sum, runtime_sum, ranks, votes, odd_size, odd_rank, odd_before, part,
		halves;
};

__global__ void look(seen *out)
{
	__shared__ unsigned memory[THREADS];
	cg::thread_block block = cg::this_thread_block();
	cg::thread_block_tile<32> tile = cg::tiled_partition<32, cg::thread_block>(block);
	auto small = cg::tiled_partition<4>(tile);
	cg::thread_group eight = cg::tiled_partition(block, 8);
	unsigned i = block.thread_rank(), sum;
	seen mine = {};

	sum = group_sum(block, memory, i);
	block.sync();
	mine.block_sum = sum;
	mine.tile_sum = tile_sum(tile, i);
	mine.small_sum = tile_sum(small, i);
	mine.runtime_sum = group_sum(eight, memory + i / 8 * 8, i);
	mine.ranks = ((tile.meta_group_rank() * 100 + tile.thread_rank()) * 100 + small.meta_group_rank()) * 100 +
		     eight.thread_rank();
	mine.votes = static_cast<unsigned>(tile.ballot(tile.thread_rank() < 5) * 4 + (tile.any(i == 40) ? 2 : 0) +
					   (tile.all(i < 64) ? 1 : 0));
	if (i % 2) {
		cg::coalesced_group odd = cg::coalesced_threads();
		cg::coalesced_group part = cg::tiled_partition(odd, 4),
				    halves = cg::binary_partition(odd, i % warpSize < 20);

		mine.odd_size = odd.size();
		mine.odd_rank = odd.thread_rank();
		mine.odd_before = odd.shfl_up(i, 1);
		mine.part = part.shfl(i, 2) * 10 + part.thread_rank();
		mine.halves = halves.size();
	}
	out[blockIdx.x * THREADS + i] = mine;
}

/* A block whose last part is not full. */
__global__ void tail(unsigned *sizes)
{
	cg::thread_block block = cg::this_thread_block();
	cg::thread_group part = cg::tiled_partition(block, 8);

	sizes[block.thread_rank()] = part.size() * 100 + part.thread_rank();
}

static void tails()
{
	gpu_array<unsigned> sizes(70);
	unsigned wrong = 0, i = 0;

	tail<<<1, 70>>>(sizes.at);
	HIP_LAUNCHED();
	for (unsigned size : sizes.read()) {
		wrong += size != (i < 64 ? 800u : 600u) + i % 8;
		i++;
	}
	CHECK_EQ(wrong, 0);
}

static unsigned count_wrong(unsigned i, const seen &s, unsigned warp)
{
	unsigned lane = i % warp, first = i / warp * warp, wrong = 0;

	wrong += i ? 0 : s.block_sum != THREADS * (THREADS - 1) / 2;
	wrong += s.tile_sum != 32 * (i / 32 * 32) + 31 * 16 || s.small_sum != 4 * (i / 4 * 4) + 6;
	wrong += i % 8 ? 0 : s.runtime_sum != 8 * i + 28;
	wrong += s.ranks != ((i / 32 * 100 + i % 32) * 100 + i % 32 / 4) * 100 + i % 8;
	wrong += s.votes != 31 * 4 + (i / 32 == 1 ? 2u : 0u) + (i < 64 ? 1u : 0u);
	if (i % 2) {
		wrong += s.odd_size != warp / 2 || s.odd_rank != lane / 2 || s.odd_before != (lane == 1 ? i : i - 2);
		wrong += s.part != (first + lane / 8 * 8 + 5) * 10 + lane / 2 % 4;
		wrong += s.halves != (lane < 20 ? 10u : warp / 2 - 10);
	}
	return wrong;
}

int main()
{
	gpu_array<seen> out(ALL);
	hipDeviceProp_t props;
	unsigned wrong = 0;

	HIP(hipGetDeviceProperties(&props, 0));

	look<<<BLOCKS, THREADS>>>(out.at);
	HIP_LAUNCHED();
	std::vector<seen> got = out.read();
	for (unsigned i = 0; i < ALL; i++)
		wrong += count_wrong(i % THREADS, got[i], static_cast<unsigned>(props.warpSize));
	CHECK_EQ(wrong, 0);
	tails();
	return check_done("cooperative groups");
}
