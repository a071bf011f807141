/* A kernel that waits for an answer of the host while it runs. */
#include "shaders/device.h"

/* Asks for memory `turns` times: box[0] counts what was asked for, box[1] is where it is. Fills it, and out[lane] is
 * the sum of what it finds there afterwards. One wave. */
extern "C" __global__ __launch_bounds__(64) void k_ask(volatile u64 *box, u32 *out, u32 turns)
{
	u32 sum = 0;

	for (u32 i = 0; i < turns; i++) {
		volatile u32 *at;

		box[0] = i + 1;
		while (!(at = (volatile u32 *)box[1]))
			__builtin_amdgcn_s_sleep(1);
		at[LANE_X] = i * 1000 + LANE_X;
		sum += at[LANE_X];
		box[1] = 0;
	}
	out[LANE_X] = sum;
}
