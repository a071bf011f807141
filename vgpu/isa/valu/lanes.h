/* Writing lane functions. Only lanes_*.c include this, each compiled twice: its symbols end in _base or _avx2. Some are
 * compiled a third time, for the lanes of a wave of 32; rows keep their 64 dwords. */
#ifndef VGPU_ISA_VALU_LANES_H
#define VGPU_ISA_VALU_LANES_H

#include <immintrin.h>
#include <math.h>

#include "vgpu/isa/bits.h"
#include "vgpu/isa/valu/valu.h"

#ifdef ISA_HALF
#define ISA_LANES_NAME(x) x##_half
#define LANE_COUNT        32
#elif defined(ISA_AVX2)
#define ISA_LANES_NAME(x) x##_avx2
#define LANE_COUNT        ISA_LANES
#else
#define ISA_LANES_NAME(x) x##_base
#define LANE_COUNT        ISA_LANES
#endif

/* Lanes are independent of each other, also where the result row is a source row. */
#ifdef __clang__
/* Some bodies stay scalar: the pragma below grants independence, it does not demand vectors. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < LANE_COUNT; l++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (unsigned l = 0; l < LANE_COUNT; l++)
#endif

typedef uint16_t t_u16;
typedef int16_t t_i16;
typedef uint32_t t_u32;
typedef int32_t t_i32;
typedef uint64_t t_u64;
typedef int64_t t_i64;
typedef float t_f32;
typedef double t_f64;

/* Lane l of an operand: one row, or a low and a high one. 16-bit results clear the high half. */
#define LD_u16(p, l)    ((uint16_t)(p)[l])
#define LD_i16(p, l)    ((int16_t)(p)[l])
#define LD_u32(p, l)    ((p)[l])
#define LD_i32(p, l)    ((int32_t)(p)[l])
#define LD_u64(p, l)    ((p)[l] | (uint64_t)(p)[ISA_LANES + (l)] << 32)
#define LD_i64(p, l)    ((int64_t)LD_u64(p, l))
#define LD_f32(p, l)    as_f32((p)[l])
#define LD_f64(p, l)    as_f64(LD_u64(p, l))
#define ST_u16(p, l, v) ((p)[l] = (uint16_t)(v))
#define ST_i16(p, l, v) ((p)[l] = (uint16_t)(v))
#define ST_u32(p, l, v) ((p)[l] = (v))
#define ST_i32(p, l, v) ((p)[l] = (uint32_t)(v))
#define ST_f32(p, l, v) ((p)[l] = f32_bits(v))
#define ST_u64(p, l, v)                                                                                            \
	do {                                                                                                       \
		const uint64_t v_ = (v);                                                                           \
		(p)[l] = (uint32_t)v_;                                                                             \
		(p)[ISA_LANES + (l)] = (uint32_t)(v_ >> 32);                                                       \
	} while (0)
#define ST_i64(p, l, v) ST_u64(p, l, (uint64_t)(v))
#define ST_f64(p, l, v) ST_u64(p, l, f64_bits(v))

/* static void name(x): d = EXPR of a, b, c for each lane. */
#define LANES_1(name, TD, TA, EXPR)                                                                                \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		uint32_t *d = x->d;                                                                                \
		const uint32_t *s0 = x->s[0];                                                                      \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const t_##TA a = LD_##TA(s0, l);                                                           \
			ST_##TD(d, l, EXPR);                                                                       \
		}                                                                                                  \
	}
#define LANES_2(name, TD, TA, TB, EXPR)                                                                            \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		uint32_t *d = x->d;                                                                                \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1];                                                       \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const t_##TA a = LD_##TA(s0, l);                                                           \
			const t_##TB b = LD_##TB(s1, l);                                                           \
			ST_##TD(d, l, EXPR);                                                                       \
		}                                                                                                  \
	}
#define LANES_3(name, TD, TA, TB, TC, EXPR)                                                                        \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		uint32_t *d = x->d;                                                                                \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1], *s2 = x->s[2];                                        \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const t_##TA a = LD_##TA(s0, l);                                                           \
			const t_##TB b = LD_##TB(s1, l);                                                           \
			const t_##TC c = LD_##TC(s2, l);                                                           \
			ST_##TD(d, l, EXPR);                                                                       \
		}                                                                                                  \
	}
/* Compares: x->carry gets a bit per lane. */
#define LANES_COMPARE(name, TA, TB, EXPR)                                                                          \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		uint32_t m[ISA_LANES] __attribute__((aligned(64)));                                                \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1];                                                       \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const t_##TA a = LD_##TA(s0, l);                                                           \
			const t_##TB b = LD_##TB(s1, l);                                                           \
			m[l] = (EXPR) ? ~0u : 0;                                                                   \
		}                                                                                                  \
		x->carry = mask_bits(m);                                                                           \
	}

/* The sign bits of the lanes' dwords, a bit each. */
static inline uint64_t mask_bits(const uint32_t *m)
{
	uint64_t bits = 0;

#ifdef ISA_AVX2
	for (unsigned n = 0; n < LANE_COUNT / 8; n++)
		bits |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(m + 8 * n)))
			<< 8 * n;
#else
	for (unsigned n = 0; n < LANE_COUNT / 4; n++)
		bits |= (uint64_t)(unsigned)_mm_movemask_ps(_mm_loadu_ps((const float *)(m + 4 * n))) << 4 * n;
#endif
	return bits;
}

/* The way back: 0 or ~0 per lane. */
static inline void bits_mask(uint64_t bits, uint32_t *m)
{
	typedef uint32_t v4 __attribute__((vector_size(16)));
	static const v4 select = {1, 2, 4, 8};

	for (unsigned n = 0; n < LANE_COUNT / 4; n++) {
		uint32_t four = bits >> 4 * n & 15;
		v4 value = {four, four, four, four};

		value = (v4)((value & select) == select);
		memcpy(m + 4 * n, &value, sizeof(value));
	}
}

/* Denormal handling of f32 resp. f64 and f16 in MODE. */
static inline bool keeps_in32(uint32_t mode)
{
	return mode >> ISA_MODE_DENORM32 & 1;
}

static inline bool keeps_out32(uint32_t mode)
{
	return mode >> (ISA_MODE_DENORM32 + 1) & 1;
}

static inline bool keeps_in64(uint32_t mode)
{
	return mode >> ISA_MODE_DENORM64 & 1;
}

static inline bool keeps_out64(uint32_t mode)
{
	return mode >> (ISA_MODE_DENORM64 + 1) & 1;
}

static inline uint32_t flush32(uint32_t bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

static inline uint64_t flush64(uint64_t bits)
{
	return bits & 0x7ff0000000000000ull ? bits : bits & 0x8000000000000000ull;
}

/* An operand and a result, as MODE has their denormals. */
static inline uint32_t in32(uint32_t bits, uint32_t mode)
{
	return keeps_in32(mode) ? bits : flush32(bits);
}

static inline uint32_t out32(uint32_t bits, uint32_t mode)
{
	return keeps_out32(mode) ? bits : flush32(bits);
}

static inline uint64_t in64(uint64_t bits, uint32_t mode)
{
	return keeps_in64(mode) ? bits : flush64(bits);
}

static inline uint64_t out64(uint64_t bits, uint32_t mode)
{
	return keeps_out64(mode) ? bits : flush64(bits);
}

static inline uint32_t flush16(uint32_t bits)
{
	return bits & 0x7c00 ? bits : bits & 0x8000;
}

/* Not-a-number tests on bits, and making a NaN quiet. The default NaN has its sign set, as on x86. */
#define NAN32 0xffc00000u
#define NAN64 0xfff8000000000000ull
#define NAN16 0xfe00u

static inline bool is_nan32(uint32_t a)
{
	return (a & 0x7fffffff) > 0x7f800000;
}

static inline bool is_snan32(uint32_t a)
{
	return is_nan32(a) && !(a & 0x400000);
}

static inline bool is_nan64(uint64_t a)
{
	return (a & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}

static inline bool is_snan64(uint64_t a)
{
	return is_nan64(a) && !(a & 0x8000000000000ull);
}

static inline bool is_nan16(uint32_t a)
{
	return (a & 0x7fff) > 0x7c00;
}

static inline bool is_snan16(uint32_t a)
{
	return is_nan16(a) && !(a & 0x200);
}

/* a * b + c with one rounding. The first NaN operand decides, and an invalid operation gives the default NaN. */
static inline float fused(float a, float b, float c)
{
	float r;

	if (is_nan32(f32_bits(a)))
		return as_f32(f32_bits(a) | 0x400000);
	if (is_nan32(f32_bits(b)))
		return as_f32(f32_bits(b) | 0x400000);
	if (is_nan32(f32_bits(c)))
		return as_f32(f32_bits(c) | 0x400000);
	r = __builtin_fmaf(a, b, c);
	return is_nan32(f32_bits(r)) ? as_f32(NAN32) : r;
}

#endif
