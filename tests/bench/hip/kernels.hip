/* Kernels that tests/bench/hip launches: without arguments, with four, and with four and the hidden ones. */
#include "shaders/device.h"

extern "C" __global__ void b_empty()
{
}

extern "C" __global__ void b_four(u32 *to, const u32 *from, u32 count, u32 value)
{
	u32 i = GROUP_X * 64 + LANE_X;

	if (i < count)
		to[i] = from[i] + value;
}
/* The read of a hidden argument keeps all of them in the metadata, as calls of the device libraries do; code objects of
 * version 4 have blockDim in the dispatch packet. */
extern "C" __global__ void b_hidden(u32 *to, const u32 *from, u32 count, u32 value)
{
	u32 i = GROUP_X * SIZE_X + LANE_X;
	const volatile u32 *hidden = (const volatile u32 *)__builtin_amdgcn_implicitarg_ptr();

	if (i < count)
		to[i] = from[i] + value + hidden[0];
}
