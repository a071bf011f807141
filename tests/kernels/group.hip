/* Kernels about workgroups, waves and memory: ids, LDS, barriers, atomics, cross-lane operations, variables. */
#include "shaders/device.h"

/* Every work-item says where it is; partial groups included. */
extern "C" __global__ void k_ids(u32 *out, u32 nx, u32 ny)
{
	u32 x = GROUP_X * SIZE_X + LANE_X, y = GROUP_Y * SIZE_Y + LANE_Y, z = GROUP_Z * SIZE_Z + LANE_Z;
	u32 *o = out + ((u64)(z * ny + y) * nx + x) * 4;

	o[0] = LANE_X | LANE_Y << 10 | LANE_Z << 20;
	o[1] = GROUP_X | GROUP_Y << 10 | GROUP_Z << 20;
	o[2] = __builtin_amdgcn_grid_size_x() | __builtin_amdgcn_grid_size_y() << 10 |
	       __builtin_amdgcn_grid_size_z() << 20;
	o[3] = SIZE_X | SIZE_Y << 10 | SIZE_Z << 20;
}

/* Reverses each workgroup's elements through LDS, whose size the launch gives. */
extern __shared__ u32 dynamic_lds[];

extern "C" __global__ void k_reverse(u32 *data)
{
	u32 i = GROUP_X * SIZE_X + LANE_X;

	dynamic_lds[LANE_X] = data[i];
	barrier();
	data[i] = dynamic_lds[SIZE_X - 1 - LANE_X];
}

/* 16 bytes a lane through LDS, turned around; with `part` only the first lanes of each wave. */
extern "C" __global__ __launch_bounds__(256) void k_wide(u32x4 *data, u32 part)
{
	__shared__ u32x4 slot[256];
	u32 i = GROUP_X * 256 + LANE_X;

	slot[LANE_X] = (u32x4)(7);
	barrier();
	if (LANE_X % 64 < part)
		slot[255 - LANE_X] = data[i];
	barrier();
	data[i] = slot[LANE_X];
}

/* Waves hand values on around the workgroup, one barrier a step. */
extern "C" __global__ __launch_bounds__(1024) void k_relay(u32 *out, u32 steps)
{
	__shared__ u32 slot[1024];
	u32 value = LANE_X * 7 + GROUP_X;

	for (u32 i = 0; i < steps; i++) {
		slot[LANE_X] = value;
		barrier();
		value = slot[(LANE_X + 65) % SIZE_X] + 1;
		barrier();
	}
	out[GROUP_X * SIZE_X + LANE_X] = value;
}

#define ATOMIC(op, p, v) __hip_atomic_##op(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)

/* sums: add, max, min, or, and, xor, sub in 32 bits; then add, max, cas in 64 bits; then add in float and double. */
extern "C" __global__ void k_atomics(u32 *w, u64 *d, float *f, double *g)
{
	u32 i = GROUP_X * SIZE_X + LANE_X;
	u64 seen = d[2];

	ATOMIC(fetch_add, &w[0], i);
	ATOMIC(fetch_max, &w[1], i * 2654435761u);
	ATOMIC(fetch_min, &w[2], i * 2654435761u);
	ATOMIC(fetch_or, &w[3], 1u << (i & 31));
	ATOMIC(fetch_and, &w[4], ~(1u << (i & 15)));
	ATOMIC(fetch_xor, &w[5], i);
	ATOMIC(fetch_add, &w[6], -1u);
	ATOMIC(fetch_add, &d[0], (u64)i << 30);
	ATOMIC(fetch_max, &d[1], (u64)i << 33);
	while (!__hip_atomic_compare_exchange_strong(&d[2], &seen, seen + 3, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
						     __HIP_MEMORY_SCOPE_AGENT))
		;
	ATOMIC(fetch_add, f, 1.0f);
	ATOMIC(fetch_add, g, 0.5);
}

/* Cross-lane: ballot, shuffle, sum of the wave by DPP and permutes, first lane, mask tricks. */
#if __GFX9__
#define FROM_ROW 0x142 /* row_bcast:15, the last lane of the row before */
#else
#define FROM_ROW 0x150 /* row_share:0, the first lane of the row */
#endif
extern "C" __global__ __launch_bounds__(64) void k_wave(u32 *out, const u32 *in)
{
	u32 lane = LANE_X, v = in[lane], r;
	u64 odd = __builtin_amdgcn_ballot_w64(v & 1);

	r = __builtin_amdgcn_ds_bpermute((lane * 5 + 3) * 4, v);
	out[lane] = r;
	out[64 + lane] = __builtin_amdgcn_update_dpp(0, v, 0x111 /* row_shr:1 */, 0xf, 0xf, false);
	out[128 + lane] = __builtin_amdgcn_update_dpp(7, v, 0x4e /* quad_perm 2,3,0,1 */, 0xf, 0xf, true);
	out[192 + lane] = __builtin_amdgcn_ds_swizzle(v, 0x401f /* xor 16 */);
	out[256 + lane] = __builtin_amdgcn_readfirstlane(v) + __builtin_amdgcn_readlane(v, 9);
	out[320 + lane] =
		__builtin_popcountll(odd) + (u32)(odd >> (lane & (__builtin_amdgcn_wavefrontsize() - 1)) & 1);
	out[384 + lane] = __builtin_amdgcn_mbcnt_hi(odd >> 32, __builtin_amdgcn_mbcnt_lo((u32)odd, 0));
	if (v & 1)
		out[448 + lane] = __builtin_amdgcn_update_dpp(5, v, FROM_ROW, 0xa, 0xf, false);
	else
		out[448 + lane] = 0;
}

/* Variables of the code object: initialised, zero, constant, and a pointer that needs a relocation. */
__device__ u32 counter = 40;
__device__ u32 zeroed[100];
__attribute__((constant)) const u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ u32 *pointer = &counter;

extern "C" __global__ void k_variables(u32 *out)
{
	u32 i = LANE_X;

	zeroed[i] += primes[i % 8];
	if (!i)
		*pointer += 2;
	out[i] = zeroed[i];
	if (i == 1)
		out[99] = primes[7];
}

/* 4 KiB of private memory a lane. */
extern "C" __global__ void k_scratch(u32 *out, u32 count)
{
	volatile u32 mine[1024];
	u32 i = GROUP_X * SIZE_X + LANE_X, sum = 0;

	for (u32 k = 0; k < 1024; k++)
		mine[(k * 17) % 1024] = k ^ i;
	for (u32 k = 0; k < 1024; k += 3)
		sum += mine[(k + i) % 1024];
	if (i < count)
		out[i] = sum;
}

/* All groups wait for one another in memory; how many there are, a lane knows from its private memory. */
extern "C" __global__ void k_meet(u32 *arrived, u32 groups)
{
	volatile u32 mine[8];

	mine[LANE_X % 8] = groups;
	if (LANE_X)
		return;
	__hip_atomic_fetch_add(arrived, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
	while (__hip_atomic_load(arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < mine[LANE_X % 8])
		;
}

#if !__GFX12__ /* which has no global wave sync */
/* For one wave: that many others shall meet on the resource of global wave sync. */
extern "C" __global__ void k_gws_init(u32 others, u32 resource)
{
	__builtin_amdgcn_ds_gws_init(others, resource);
}

/* Each round a lane reads what the group beside its own wrote in the round before; between them all groups meet. */
extern "C" __global__ void k_around(u32 *from, u32 *to, u32 groups, u32 rounds)
{
	u32 me = GROUP_X * 64 + LANE_X, beside = (GROUP_X + 1) % groups * 64 + LANE_X;

	for (u32 i = 0; i < rounds; i++) {
		u32 *was = from;

		to[me] = from[beside] + 1;
		__builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
		if (!LANE_X)
			__builtin_amdgcn_ds_gws_barrier(groups - 1, 0);
		__builtin_amdgcn_s_barrier();
		__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
		from = to;
		to = was;
	}
}
#endif

extern "C" __global__ void k_empty()
{
}

/* Waits for a word that another job writes. */
extern "C" __global__ void k_store(u32 *at, u32 value)
{
	*at = value;
}

extern "C" __global__ void k_add(u32 *data, u32 value)
{
	u32 i = GROUP_X * SIZE_X + LANE_X;

	data[i] = data[i] * 3 + value;
}

/* As long a time for each item as `turns` says. */
extern "C" __global__ void k_work(u32 *data, u32 turns)
{
	u32 i = GROUP_X * SIZE_X + LANE_X, sum = i;

	for (u32 n = 0; n < turns; n++)
		sum = sum * 1664525 + 1013904223;
	data[i] = sum;
}

extern "C" __global__ void k_endless(volatile u32 *stop)
{
	while (!*stop)
		;
}

/* SOPP opcode 127 is no instruction. */
extern "C" __global__ void k_illegal(u32 *out)
{
	*out = 1;
	asm volatile(".long 0xbfff0000" ::: "memory");
	*out = 2;
}
