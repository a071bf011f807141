/* Functions of a wave that take a mask of lanes, in waves of either size: ~0ull means all lanes. */
#define HIP_ENABLE_WARP_SYNC_BUILTINS
#include "tests/clients/hip/hip.h"

struct answers {
	unsigned long long ballot, match, same, same_some, not_same;
	int all, not_all, any, not_any, all_some, is_same, is_same_some, is_not_same, moved;
};

__global__ void ask(answers *out)
{
	const unsigned long long all = ~0ull, low = 0xffffull;
	const unsigned lane = threadIdx.x;
	answers *a = &out[lane];

	a->ballot = __ballot_sync(all, lane & 1);
	a->all = __all_sync(all, lane < 64);
	a->not_all = __all_sync(all, lane != 7);
	a->any = __any_sync(all, lane == 7);
	a->not_any = __any_sync(all, lane > 64);
	a->match = __match_any_sync(all, lane / 8);
	a->same = __match_all_sync(all, lane / 64, &a->is_same);
	a->not_same = __match_all_sync(all, lane == 7, &a->is_not_same);
	a->moved = __shfl_xor_sync(all, static_cast<int>(lane), 1);
	if (lane < 16) {
		a->all_some = __all_sync(low, lane < 16);
		a->same_some = __match_all_sync(low, lane / 16, &a->is_same_some);
	}
}

int main()
{
	hipDeviceProp_t properties;

	HIP(hipGetDeviceProperties(&properties, 0));
	const unsigned lanes = static_cast<unsigned>(properties.warpSize);
	const unsigned long long wave = ~0ull >> (64 - lanes);
	gpu_array<answers> out(lanes);

	ask<<<1, lanes>>>(out.at);
	HIP_LAUNCHED();
	std::vector<answers> got = out.read();
	for (unsigned lane = 0; lane < lanes; lane++) {
		const answers &a = got[lane];

		CHECK_EQ(a.ballot, 0xaaaaaaaaaaaaaaaaull & wave);
		CHECK(a.all && !a.not_all && a.any && !a.not_any);
		CHECK_EQ(a.match, 0xffull << lane / 8 * 8);
		CHECK_EQ(a.same, wave);
		CHECK(a.is_same && !a.is_not_same && !a.not_same);
		CHECK_EQ(a.moved, static_cast<int>(lane ^ 1));
		CHECK(lane >= 16 || (a.all_some && a.is_same_some && a.same_some == 0xffff));
	}
	return check_done("masks of lanes");
}
