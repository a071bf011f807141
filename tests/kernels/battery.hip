/* The battery on the GPU: one kernel per subject. */
#include "tests/battery.h"

#define KERNEL(name)                                                                                                \
	extern "C" __global__ __launch_bounds__(256) void k_##name(u64 *out, const u64 *in, u32 count)              \
	{                                                                                                           \
		u32 i = GROUP_X * SIZE_X + LANE_X;                                                                  \
		if (i < count)                                                                                      \
			out[i] = b_##name(i, in[2 * i], in[2 * i + 1]);                                             \
	}

BATTERY(KERNEL)
