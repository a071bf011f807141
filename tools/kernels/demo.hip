/* The demo's programs for the GPU. tools/demo_programs.c launches them and computes the same on the CPU. */
#include "shaders/device.h"

#define GROUP 256

extern "C" __global__ __launch_bounds__(GROUP) void vadd(float *c, const float *a, const float *b, u32 count)
{
	u32 i = GROUP_X * GROUP + LANE_X;

	if (i < count)
		c[i] = a[i] + b[i];
}

/* C = A B, n x n, row major; n is a multiple of TILE. A workgroup of 16 x 16 makes a TILE x TILE block of C, each lane
 * 4 x 4 of it, from slices of A and B in LDS. */
#define TILE  64
#define DEPTH 16

extern "C" __global__ __launch_bounds__(GROUP) void sgemm(float *c, const float *a, const float *b, u32 n)
{
	__shared__ float as[DEPTH][TILE + 4], bs[DEPTH][TILE];
	const u32 x = LANE_X % 16, y = LANE_X / 16, row = GROUP_Y * TILE, col = GROUP_X * TILE;
	float sum[4][4] = {};

	for (u32 k = 0; k < n; k += DEPTH) {
		for (u32 i = 0; i < 4; i++) {
			as[x][y * 4 + i] = a[(row + y * 4 + i) * n + k + x];
			bs[y][x * 4 + i] = b[(k + y) * n + col + x * 4 + i];
		}
		barrier();
		for (u32 d = 0; d < DEPTH; d++)
			for (u32 i = 0; i < 4; i++)
				for (u32 j = 0; j < 4; j++)
					sum[i][j] += as[d][y * 4 + i] * bs[d][x * 4 + j];
		barrier();
	}
	for (u32 i = 0; i < 4; i++)
		for (u32 j = 0; j < 4; j++)
			c[(row + y * 4 + i) * n + col + x * 4 + j] = sum[i][j];
}

/* Each workgroup sums GROUP * EACH elements into one: a stride per lane, then a tree in LDS. */
#define EACH 16

extern "C" __global__ __launch_bounds__(GROUP) void reduce(u32 *out, const u32 *in, u32 count)
{
	__shared__ u32 part[GROUP];
	u32 base = GROUP_X * GROUP * EACH + LANE_X, sum = 0;

	for (u32 i = 0; i < EACH; i++)
		if (base + i * GROUP < count)
			sum += in[base + i * GROUP];
	part[LANE_X] = sum;
	for (u32 half = GROUP / 2; half; half /= 2) {
		barrier();
		if (LANE_X < half)
			part[LANE_X] += part[LANE_X + half];
	}
	if (!LANE_X)
		out[GROUP_X] = part[0];
}

/* 256 bins: atomics in LDS first, then one atomic per bin and workgroup in memory. */
extern "C" __global__ __launch_bounds__(GROUP) void histogram(u32 *bins, const u8 *in, u32 count, u32 each)
{
	__shared__ u32 mine[256];
	u32 base = GROUP_X * GROUP * each + LANE_X;

	mine[LANE_X] = 0;
	barrier();
	for (u32 i = 0; i < each; i++)
		if (base + i * GROUP < count)
			__hip_atomic_fetch_add(&mine[in[base + i * GROUP]], 1u, __ATOMIC_RELAXED,
					       __HIP_MEMORY_SCOPE_WORKGROUP);
	barrier();
	__hip_atomic_fetch_add(&bins[LANE_X], mine[LANE_X], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/* Iterations until escape, for each pixel. Without contraction, so that the CPU computes the same bits. */
extern "C" __global__ __launch_bounds__(GROUP) void mandelbrot(u32 *out, u32 width, u32 height, float x0, float y0,
								float step, u32 limit)
{
#pragma clang fp contract(off)
	u32 i = GROUP_X * 16 + LANE_X, j = GROUP_Y * 16 + LANE_Y, n = 0;
	float cx = x0 + step * (float)i, cy = y0 + step * (float)j, x = 0, y = 0;

	if (i >= width || j >= height)
		return;
	while (n < limit && x * x + y * y <= 4.0f) {
		float next = x * x - y * y + cx;

		y = 2.0f * x * y + cy;
		x = next;
		n++;
	}
	out[j * width + i] = n;
}
