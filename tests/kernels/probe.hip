/* Kernels of the probes (tests/device/probe*.c). They use no hidden argument, so that a launch can be written by
 * hand. */
#include "shaders/device.h"

#define I (GROUP_X * 64 + LANE_X)

extern "C" __global__ void k_probe_nothing()
{
}

/* Where each work-item is, and which launch it is of. */
extern "C" __global__ void k_probe_see(u32x4 *out, u32 tag)
{
	u32 slot = (GROUP_X * 4 + GROUP_Y) * 64 + LANE_Y * 16 + LANE_X;

	out[slot] = (u32x4){tag, GROUP_X | GROUP_Y << 8 | GROUP_Z << 16, LANE_X | LANE_Y << 8 | LANE_Z << 16, slot};
}

/* Another program, with other registers' worth of work, that leaves its mark. */
extern "C" __global__ void k_probe_other(u32 *out, u32 tag)
{
	out[I] = tag * 3 + GROUP_X;
}

/* When each work-item began, in the third word. */
extern "C" __global__ void k_probe_begin(u32x4 *out)
{
	u32 begin = (u32)__builtin_readsteadycounter();

	out[I] = (u32x4){0, 0, begin, begin};
}

/* Fills private memory, waits for `ticks` of the constant clock, reads it back. A lane's record: mismatches, the last
 * wrong word, and the low words of the clock at begin and end. */
extern "C" __global__ void k_probe_slots(u32x4 *out, u32 tag, u32 ticks, u32 turns)
{
	volatile u32 mine[32];
	u32 wrong = 0, last = 0, begin = (u32)__builtin_readsteadycounter(), now = begin;

	for (u32 k = 0; k < 32; k++)
		mine[k] = tag + I * 64 + k;
	__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
	for (u32 t = 0; t < turns && now - begin < ticks; t++) {
		__builtin_amdgcn_s_sleep(4);
		now = (u32)__builtin_readsteadycounter();
	}
	for (u32 k = 0; k < 32; k++) {
		u32 seen = mine[k];

		if (seen != tag + I * 64 + k) {
			wrong++;
			last = seen;
		}
	}
	out[I] = (u32x4){wrong, last, begin, now};
}

/* What an s_trap without handler does: is the second store reached? */
extern "C" __global__ void k_probe_trap_2(volatile u32 *out)
{
	out[0] = 1;
	asm volatile("s_trap 2" ::: "memory");
	out[1] = 2;
}

extern "C" __global__ void k_probe_trap_3(volatile u32 *out)
{
	out[0] = 1;
	__builtin_debugtrap();
	out[1] = 2;
}

/* Nothing follows clang's trap: a wave that goes on runs through the padding into the next program, which ends it. */
extern "C" __global__ void k_probe_trap_builtin(volatile u32 *out, u32 go)
{
	out[0] = 1;
	if (go)
		__builtin_trap();
	out[1] = 2;
}

extern "C" __global__ void k_probe_landing()
{
}

/* The words before, of and after an access. */
extern "C" __global__ void k_probe_load(volatile u32 *out, volatile u32 *at)
{
	out[0] = 1;
	out[1] = *at;
	out[2] = 2;
}

extern "C" __global__ void k_probe_store(volatile u32 *out, volatile u32 *at)
{
	out[0] = 1;
	*at = 7;
	out[2] = 2;
}

extern "C" __global__ void k_probe_endless(volatile u32 *out, volatile u32 *stop)
{
	out[0] = 1;
	while (!*stop)
		;
	out[1] = 2;
}

extern "C" __global__ void k_probe_fill(u32 *data, u32 value)
{
	data[I] = value;
}

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__)
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));

/* One wave: D = A * B + C, 16 x 16 x 16, as the instruction wants its lanes. */
extern "C" __global__ __launch_bounds__(64) void k_probe_matrix(float4 *d, const half4 *a, const half4 *b, const float4 *c)
{
	d[LANE_X] = __builtin_amdgcn_mfma_f32_16x16x16f16(a[LANE_X], b[LANE_X], c[LANE_X], 0, 0, 0);
}
#endif

#if defined(__gfx942__)
extern "C" __global__ __launch_bounds__(64) void k_probe_xf32(float4 *d, const float2 *a, const float2 *b)
{
	d[LANE_X] = __builtin_amdgcn_mfma_f32_16x16x8_xf32(a[LANE_X], b[LANE_X], (float4)(0), 0, 0, 0);
}

/* Low byte: fp8, the next: bf8. */
extern "C" __global__ void k_probe_fp8(u32 *out, const float *in)
{
	float x = in[LANE_X];

	out[LANE_X] = (__builtin_amdgcn_cvt_pk_fp8_f32(x, x, 0, false) & 0xff) |
		      (__builtin_amdgcn_cvt_pk_bf8_f32(x, x, 0, false) & 0xff) << 8;
}
#endif

/* For each workgroup the HW_ID and XCC_ID registers: chips before gfx942 have no XCC_ID. */
extern "C" __global__ void k_probe_where(u32 *out)
{
	out[GROUP_X * 2] = __builtin_amdgcn_s_getreg(4 | 31 << 11);
#if defined(__gfx942__)
	out[GROUP_X * 2 + 1] = 0x100 | (__builtin_amdgcn_s_getreg(20 | 31 << 11) & 15);
#else
	out[GROUP_X * 2 + 1] = 0x100;
#endif
}

/* Two accesses to memory that is not there. */
extern "C" __global__ void k_probe_nowhere(volatile u32 *out, volatile u32 *at, u32 value)
{
	out[0] = at[0];
	if (value)
		at[0] = value;
	out[1] = 1;
}

#if defined(__gfx942__)
/* What hardware takes an 8-bit float for: as a conversion, and as the first element of a row that is multiplied by
 * itself. */
extern "C" __global__ __launch_bounds__(64) void k_probe_fp8_in(float *converted, float4 *d, const u32 *in)
{
	long a = LANE_X < 16 ? (long)(in[LANE_X] & 0xff) : 0;

	converted[LANE_X] = __builtin_amdgcn_cvt_f32_fp8((int)in[LANE_X], 0);
	d[LANE_X] = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, a, (float4)(0), 0, 0, 0);
}
#endif

/* Reads data, waits at most `ticks` for a word that another queue's job writes, acquires at agent scope, and reads the
 * data again. A lane's record: whether the word came, both values, XCC_ID. */
extern "C" __global__ void k_probe_poll(u32x4 *out, u32 *data, u32 *word, u32 ticks)
{
	u32 begin = (u32)__builtin_readsteadycounter(), first = data[I], came = 0, xcc = 0;

	__hip_atomic_store(word + 4, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
	while (!came && (u32)__builtin_readsteadycounter() - begin < ticks) {
		__builtin_amdgcn_s_sleep(8);
		came = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
	}
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
#if defined(__gfx942__)
	xcc = __builtin_amdgcn_s_getreg(20 | 31 << 11) & 15;
#endif
	out[I] = (u32x4){came, first, data[I], xcc};
}
