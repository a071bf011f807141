/* Lane functions: f32 arithmetic. MXCSR holds the rounding and denormal mode (see isa_fp).
 *
 * A NaN operand decides the result: the first one, made quiet. x86 has the same rule for two operands, but a
 * compiler may swap them; so rows are first searched for NaNs, and rows with a NaN take the slow path. */
#include "vgpu/isa/valu/lanes.h"

static inline bool has_nan2(const uint32_t *s0, const uint32_t *s1)
{
	uint32_t bad = 0;

	EACH_LANE bad |= __builtin_isunordered(as_f32(s0[l]), as_f32(s1[l])) ? 1 : 0;
	return bad;
}

static inline float pick1(float a, float r)
{
	return is_nan32(f32_bits(a)) ? as_f32(f32_bits(a) | 0x400000) : r;
}

static inline float pick2(float a, float b, float r)
{
	return pick1(a, pick1(b, r));
}

/* 0 * infinity is invalid whatever the addend is. */
static inline float pick_fma(float a, float b, float c, float r)
{
	bool invalid = (a == 0 && __builtin_isinf(b)) || (b == 0 && __builtin_isinf(a));

	return pick2(a, b, invalid ? as_f32(NAN32) : pick1(c, r));
}

#define F32_2(name, EXPR)                                                                                          \
	LANES_2(name##_fast, f32, f32, f32, EXPR)                                                                  \
	LANES_2(name##_nan, f32, f32, f32, pick2(a, b, EXPR))                                                      \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		if (__builtin_expect(has_nan2(x->s[0], x->s[1]), 0))                                               \
			name##_nan(x);                                                                             \
		else                                                                                               \
			name##_fast(x);                                                                            \
	}
#define F32_3(name, EXPR)                                                                                          \
	LANES_3(name##_fast, f32, f32, f32, f32, EXPR)                                                             \
	LANES_3(name##_nan, f32, f32, f32, f32, pick_fma(a, b, c, EXPR))                                           \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		if (__builtin_expect(has_nan2(x->s[0], x->s[1]) || has_nan2(x->s[2], x->s[2]), 0))                 \
			name##_nan(x);                                                                             \
		else                                                                                               \
			name##_fast(x);                                                                            \
	}

F32_2(add, a + b)
F32_2(sub, a - b)
F32_2(subrev, b - a)
F32_2(mul, (a * b))
/* The legacy product of zero with anything is zero. */
LANES_2(mul_legacy, f32, f32, f32, a == 0 || b == 0 ? 0.0f : pick2(a, b, (a * b)))
LANES_3(mad_legacy, f32, f32, f32, f32, a == 0 || b == 0 ? pick1(c, 0.0f + c) : pick2(a, b, pick1(c, (a * b) + c)))
F32_3(fma32, __builtin_fmaf(a, b, c))
LANES_3(fma_legacy, f32, f32, f32, f32,
	a == 0 || b == 0 ? pick1(c, 0.0f + c) : pick_fma(a, b, c, __builtin_fmaf(a, b, c)))

/* Lighting: the product as of mul_legacy, unless an exponent or the condition c forbids it. */
static inline float mullit(float a, float b, float c)
{
	if (!(b > -0x1.fffffep+127f) || !(c > 0))
		return -0x1.fffffep+127f;
	return a == 0 || b == 0 ? 0.0f : pick1(a, a * b);
}

LANES_3(mullit32, f32, f32, f32, f32, mullit(a, b, c))
/* Two roundings: the compiler must not fuse these (-ffp-contract=off). */
F32_3(mad, (a * b) + c)

/* --- minimum and maximum --- */

/* Order of bit patterns as floats, -0 below +0. */
static inline int32_t order(uint32_t a)
{
	return (int32_t)(a & 0x80000000 ? a ^ 0x7fffffff : a);
}

/* Minimum or maximum (`max`). With IEEE a signalling NaN gives a quiet NaN; else a number wins over a NaN. */
static inline uint32_t minmax(uint32_t a, uint32_t b, bool ieee, bool max)
{
	uint32_t number = (order(a) < order(b)) != max ? a : b;
	uint32_t r = is_nan32(a) ? b : is_nan32(b) ? a : number;

	if (ieee)
		r = is_snan32(a) ? a | 0x400000 : is_snan32(b) ? b | 0x400000 : r;
	return r;
}

static inline uint32_t med3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
	uint32_t lo = minmax(a, b, ieee, false), hi = minmax(a, b, ieee, true);

	if (is_nan32(a) || is_nan32(b) || is_nan32(c))
		return minmax(lo, c, ieee, false);
	return minmax(lo, minmax(hi, c, ieee, false), ieee, true);
}

/* Denormals are flushed as in arithmetic: compilers use v_max_f32 to canonicalise. */
#define MINMAX(name, N, EXPR)                                                                                      \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const bool ieee = x->mode & ISA_MODE_IEEE;                                                         \
		const bool flush = !keeps_in32(x->mode) || !keeps_out32(x->mode);                                  \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1], *s2 = x->s[N - 1];                                    \
		uint32_t *d = x->d;                                                                                \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const uint32_t a = flush ? flush32(s0[l]) : s0[l];                                         \
			const uint32_t b = flush ? flush32(s1[l]) : s1[l];                                         \
			const uint32_t c = flush ? flush32(s2[l]) : s2[l];                                         \
			d[l] = EXPR;                                                                               \
			(void)c;                                                                                   \
			(void)ieee;                                                                                \
		}                                                                                                  \
	}
MINMAX(min32, 2, minmax(a, b, ieee, false))
MINMAX(max32, 2, minmax(a, b, ieee, true))
MINMAX(min3, 3, minmax(minmax(a, b, ieee, false), c, ieee, false))
MINMAX(max3, 3, minmax(minmax(a, b, ieee, true), c, ieee, true))
MINMAX(maxmin, 3, minmax(minmax(a, b, ieee, true), c, ieee, false))
MINMAX(minmax3, 3, minmax(minmax(a, b, ieee, false), c, ieee, true))
/* GFX12: a NaN operand decides, the first signalling one before all. */
static inline uint32_t extreme(uint32_t a, uint32_t b, bool max)
{
	if (is_snan32(a) || (is_nan32(a) && !is_snan32(b)))
		return a | 0x400000;
	return is_nan32(b) ? b | 0x400000 : (order(a) < order(b)) != max ? a : b;
}

MINMAX(minimum, 2, extreme(a, b, false))
MINMAX(maximum, 2, extreme(a, b, true))
MINMAX(minimum3, 3, extreme(extreme(a, b, false), c, false))
MINMAX(maximum3, 3, extreme(extreme(a, b, true), c, true))
MINMAX(minimummaximum, 3, extreme(extreme(a, b, false), c, true))
MINMAX(maximumminimum, 3, extreme(extreme(a, b, true), c, false))
MINMAX(med3_lanes, 3, med3(a, b, c, ieee))

/* --- rounding to integers, fractions, exponents --- */

/* The sign is that of the operand also when the result is zero: without SSE4.1 the compiler's sequences lose it in
 * some rounding modes. */
#define KEEP_SIGN(r) pick1(a, __builtin_copysignf(r, a))
LANES_1(floor32, f32, f32, KEEP_SIGN(__builtin_floorf(a)))
LANES_1(ceil32, f32, f32, KEEP_SIGN(__builtin_ceilf(a)))
LANES_1(trunc32, f32, f32, KEEP_SIGN(__builtin_truncf(a)))

/* Rounds to nearest even in every MODE: adding and subtracting 2^23 rounds so under the exact MXCSR. */
static inline float rndne(float a)
{
	float big = as_f32((f32_bits(a) & 0x80000000) | 0x4b000000), r = a + big - big;

	r = as_f32((f32_bits(r) & 0x7fffffff) | (f32_bits(a) & 0x80000000));
	return __builtin_fabsf(a) >= 0x1p23f ? a : r;
}

LANES_1(rndne32, f32, f32, pick1(a, rndne(a)))

/* Never 1: a tiny negative number gives the float below it. Infinity has no fraction. */
static inline float fract(float a)
{
	float r = __builtin_fabsf(a - __builtin_floorf(a)); /* no -0 when rounding down */

	r = r > 0x1.fffffep-1f ? 0x1.fffffep-1f : r;
	return __builtin_isinf(a) ? as_f32(NAN32) : pick1(a, r);
}

LANES_1(fract32, f32, f32, fract(a))

/* Exponent such that the mantissa is in [0.5, 1); 0 for zero, infinity and NaN. Denormals count in full. */
static inline int32_t frexp_exponent(uint32_t a)
{
	int32_t e = (int32_t)(a >> 23 & 255);
	uint32_t m = a & 0x7fffff;

	if (e == 255 || (e == 0 && m == 0))
		return 0;
	return e ? e - 126 : -117 - __builtin_clz(m);
}

static inline uint32_t frexp_mantissa(uint32_t a)
{
	uint32_t e = a >> 23 & 255, m = a & 0x7fffff;

	if (e == 255)
		return m ? a | 0x400000 : a;
	if (e == 0 && m == 0)
		return a;
	if (e == 0)
		m = m << (__builtin_clz(m) - 8) & 0x7fffff;
	return (a & 0x80000000) | 126u << 23 | m;
}

LANES_1(frexp_exp, i32, u32, frexp_exponent(in32(a, x->mode)))
LANES_1(frexp_mant, u32, u32, frexp_mantissa(in32(a, x->mode)))

/* Rounds once: of the two steps the first is exact unless the result is far out of range. */
static inline float scale(float a, int32_t n)
{
	double wide;

	n = n > 600 ? 600 : n < -600 ? -600 : n;
	wide = as_f64((uint64_t)(1023 + n) << 52);
	return pick1(a, (float)((double)a * wide));
}

LANES_2(ldexp32, f32, f32, i32, scale(a, b))

/* --- cube maps --- */

/* The face in direction (a, b, c): 0/1 +-x, 2/3 +-y, 4/5 +-z. */
static inline float cube_id(float a, float b, float c)
{
	float ax = __builtin_fabsf(a), ay = __builtin_fabsf(b), az = __builtin_fabsf(c);

	if (az >= ax && az >= ay)
		return c < 0 ? 5 : 4;
	if (ay >= ax)
		return b < 0 ? 3 : 2;
	return a < 0 ? 1 : 0;
}

static inline float cube_sc(float a, float b, float c)
{
	switch ((int)cube_id(a, b, c)) {
	case 0:
		return -c;
	case 1:
		return c;
	case 5:
		return -a;
	default:
		return a;
	}
}

static inline float cube_tc(float a, float b, float c)
{
	switch ((int)cube_id(a, b, c)) {
	case 2:
		return c;
	case 3:
		return -c;
	default:
		return -b;
	}
}

static inline float cube_ma(float a, float b, float c)
{
	float id = cube_id(a, b, c);

	return 2 * (id >= 4 ? c : id >= 2 ? b : a);
}

LANES_3(cubeid, f32, f32, f32, f32, cube_id(a, b, c))
LANES_3(cubesc, f32, f32, f32, f32, cube_sc(a, b, c))
LANES_3(cubetc, f32, f32, f32, f32, cube_tc(a, b, c))
LANES_3(cubema, f32, f32, f32, f32, cube_ma(a, b, c))

#define F(ID, fn)     {ISA_OP_V_##ID, ISA_FP_32, fn}
#define FLUSH(ID, fn) {ISA_OP_V_##ID, ISA_FP_FLUSH, fn}
#define N(ID, fn)     {ISA_OP_V_##ID, ISA_FP_NONE, fn}

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_f32)[] = {
	F(ADD_F32, add),
	F(SUB_F32, sub),
	F(SUBREV_F32, subrev),
	F(MUL_F32, mul),
	F(MUL_LEGACY_F32, mul_legacy),
	F(FMA_F32, fma32),
	F(FMAC_F32, fma32),
	F(FMAMK_F32, fma32),
	F(FMAAK_F32, fma32),
	F(FMA_LEGACY_F32, fma_legacy),
	F(FMAC_LEGACY_F32, fma_legacy),
	F(MULLIT_F32, mullit32),
	FLUSH(MAC_LEGACY_F32, mad_legacy),
	N(MAXMIN_F32, maxmin),
	N(MINMAX_F32, minmax3),
	N(MINIMUM_F32, minimum),
	N(MAXIMUM_F32, maximum),
	N(MINIMUM3_F32, minimum3),
	N(MAXIMUM3_F32, maximum3),
	N(MINIMUMMAXIMUM_F32, minimummaximum),
	N(MAXIMUMMINIMUM_F32, maximumminimum),
	FLUSH(MAD_F32, mad),
	FLUSH(MAC_F32, mad),
	FLUSH(MADMK_F32, mad),
	FLUSH(MADAK_F32, mad),
	FLUSH(MAD_LEGACY_F32, mad_legacy),
	N(MIN_F32, min32),
	N(MAX_F32, max32),
	N(MIN3_F32, min3),
	N(MAX3_F32, max3),
	N(MED3_F32, med3_lanes),
	F(FLOOR_F32, floor32),
	F(CEIL_F32, ceil32),
	F(TRUNC_F32, trunc32),
	{ISA_OP_V_RNDNE_F32, ISA_FP_EXACT, rndne32},
	F(FRACT_F32, fract32),
	N(FREXP_EXP_I32_F32, frexp_exp),
	N(FREXP_MANT_F32, frexp_mant),
	F(LDEXP_F32, ldexp32),
	F(CUBEID_F32, cubeid),
	F(CUBESC_F32, cubesc),
	F(CUBETC_F32, cubetc),
	F(CUBEMA_F32, cubema),
	{ISA_OP_NONE, 0, NULL},
};
