/* Waves: votes, masks, and values taken from other lanes, for types of every size; a wave, and groups of its lanes.
 */
#define HIP_ENABLE_WARP_SYNC_BUILTINS
#include "tests/clients/hip/hip.h"

#define LANES 64u

struct big {
	long long a;
	char tail[5];
};

template <typename T> __host__ __device__ T number(unsigned lane)
{
	return static_cast<T>(lane * 3 + 1);
}

template <> __host__ __device__ big number<big>(unsigned lane)
{
	return {lane * -5ll, {static_cast<char>(lane), 1, 2, 3, static_cast<char>(lane / 2)}};
}

template <typename T> struct taken {
	T any, up, down, across;
};

template <typename T> __global__ void take(taken<T> *out, int width)
{
	unsigned lane = threadIdx.x;
	T mine = number<T>(lane);

	out[lane].any = __shfl(mine, static_cast<int>(lane * 7 + 2), width);
	out[lane].up = __shfl_up(mine, 3u, width);
	out[lane].down = __shfl_down_sync(~0ull, mine, 2u, width);
	out[lane].across = __shfl_xor_sync(~0ull, mine, 5, width);
}

static bool same(const big &a, const big &b)
{
	return a.a == b.a && !memcmp(a.tail, b.tail, sizeof(a.tail));
}

template <typename T> static bool same(const T &a, const T &b)
{
	return a == b;
}

template <typename T> static void values()
{
	gpu_array<taken<T>> out(LANES);

	for (int width = 2; width <= 64; width *= 2) {
		unsigned wrong = 0;

		take<T><<<1, LANES>>>(out.at, width);
		HIP_LAUNCHED();
		std::vector<taken<T>> got = out.read();

		for (int lane = 0; lane < static_cast<int>(LANES); lane++) {
			int first = lane / width * width, last = first + width - 1, at = lane ^ 5;

			wrong += !same(got[lane].any, number<T>(first + (lane * 7 + 2) % width));
			wrong += !same(got[lane].up, number<T>(lane - 3 < first ? lane : lane - 3));
			wrong += !same(got[lane].down, number<T>(lane + 2 > last ? lane : lane + 2));
			wrong += !same(got[lane].across, number<T>(at > last ? lane : at));
		}
		CHECK_EQ(wrong, 0);
	}
}

struct votes {
	unsigned long long odd, active, less, greater, match, all_same, masked, group;
	int all, none_all, any, none_any, same, group_same;
};

__global__ void vote(votes *out)
{
	unsigned lane = threadIdx.x;
	votes *v = &out[lane];

	v->odd = __ballot(lane & 1);
	v->all = __all(lane < 64);
	v->none_all = __all(lane < 63);
	v->any = __any(lane == 40);
	v->none_any = __any(lane > 70);
	v->match = __match_any(lane / 10);
	v->all_same = __match_all_sync(~0ull, lane / 64, &v->same);
	/* Several masks at once: of lanes 36 to 47, one has another value. */
	v->group = __match_all_sync(__match_any_sync(~0ull, lane / 12), lane == 40, &v->group_same);
	v->masked = __ballot_sync(0xffff0000ull, lane % 3 == 0);
	if (lane % 4 == 3) {
		v->active = __activemask();
		v->less = __lanemask_lt();
		v->greater = __lanemask_gt();
	}
}

static void votes_of_a_wave()
{
	gpu_array<votes> out(LANES);
	unsigned wrong = 0;

	vote<<<1, LANES>>>(out.at);
	HIP_LAUNCHED();
	std::vector<votes> got = out.read();
	for (unsigned lane = 0; lane < LANES; lane++) {
		const votes &v = got[lane];
		unsigned long long tens = 0;

		for (unsigned other = 0; other < LANES; other++)
			tens |= static_cast<unsigned long long>(other / 10 == lane / 10) << other;
		wrong += v.odd != 0xaaaaaaaaaaaaaaaaull || v.masked != (0x9249249249249249ull & 0xffff0000);
		wrong += !v.all || v.none_all || !v.any || v.none_any || v.match != tens;
		wrong += v.all_same != ~0ull || !v.same;
		wrong += v.group != (lane / 12 == 3 ? 0 : 0xfffull << lane / 12 * 12) || v.group_same != (lane / 12 != 3);
		if (lane % 4 == 3) {
			wrong += v.active != 0x8888888888888888ull || v.less != (1ull << lane) - 1;
			wrong += v.greater != (lane == 63 ? 0 : (~0ull << (lane + 1)) & 0x8888888888888888ull);
		}
	}
	CHECK_EQ(wrong, 0);
}

struct single {
	unsigned from, to, swapped, below;
	float from_f, to_f, swapped_f;
	int rotated;
	double first;
};

__global__ void instructions(single *out)
{
	unsigned lane = threadIdx.x;
	int next = static_cast<int>((lane + 1) % LANES * 4);
	single *s = &out[lane];

	s->from = __hip_ds_bpermute(next, lane + 0xf0000000u);
	s->to = __hip_ds_permute(next, lane + 0xf0000000u);
	s->swapped = __hip_ds_swizzle(lane, 0x401f); /* lane ^ 16 */
	s->below = __mbcnt_hi(~0u, __mbcnt_lo(~0u, 5));
	s->from_f = __hip_ds_bpermutef(next, static_cast<float>(lane) / 4);
	s->to_f = __hip_ds_permutef(next, static_cast<float>(lane) / 4);
	s->swapped_f = __hip_ds_swizzlef_N<0x041f>(static_cast<float>(lane) / 4); /* lane ^ 1 */
	s->rotated = __hip_move_dpp_N<0x121, 0xf, 0xf, false>(static_cast<int>(lane)); /* right by one, rows of 16 */
	s->first = __hip_readfirstlane(static_cast<double>(lane) + 0.1);
}

static void single_instructions()
{
	gpu_array<single> out(LANES);
	unsigned wrong = 0;

	instructions<<<1, LANES>>>(out.at);
	HIP_LAUNCHED();
	std::vector<single> got = out.read();
	for (unsigned lane = 0; lane < LANES; lane++) {
		const single &s = got[lane];
		unsigned next = (lane + 1) % LANES, last = (lane + LANES - 1) % LANES;

		wrong += s.from != next + 0xf0000000u || s.to != last + 0xf0000000u || s.swapped != (lane ^ 16);
		wrong += s.below != lane + 5 || s.first != 0.1;
		wrong += s.from_f != static_cast<float>(next) / 4 || s.to_f != static_cast<float>(last) / 4;
		wrong += s.swapped_f != static_cast<float>(lane ^ 1) / 4;
		wrong += s.rotated != static_cast<int>((lane & 48) | ((lane + 15) & 15));
	}
	CHECK_EQ(wrong, 0);
}

int main()
{
	values<char>();
	values<unsigned short>();
	values<int>();
	values<unsigned>();
	values<float>();
	values<long>();
	values<unsigned long long>();
	values<double>();
	values<big>();
	votes_of_a_wave();
	single_instructions();
	return check_done("waves");
}
