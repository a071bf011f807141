/* Kernels whose speed on the virtual GPU is measured (tests/bench/isa.c). */
#include "shaders/device.h"

/* 4 fused multiply-adds and 6 integer operations a turn. */
extern "C" __global__ __launch_bounds__(256) void b_alu(u32 *out, u32 turns)
{
	u32 i = GROUP_X * 256 + LANE_X, a = i, b = i * 3 + 1;
	float x = (float)i, y = 1.0f, z = 0.5f, w = 0.25f;

	for (u32 k = 0; k < turns; k++) {
		x = __builtin_fmaf(x, 0.5f, y);
		y = __builtin_fmaf(y, 0.25f, z);
		z = __builtin_fmaf(z, 0.125f, w);
		w = __builtin_fmaf(w, 0.75f, x);
		a = (a ^ b) + 0x9e3779b9u;
		b = (b << 5 | b >> 27) ^ a;
		a += b & 0xffff;
	}
	out[i] = a ^ b ^ __builtin_bit_cast(u32, x + y + z + w);
}
