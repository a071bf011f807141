/* Lane functions: f16 arithmetic. Results clear the high half of the register. */
#include "vgpu/isa/valu/f16.h"

#define F16_1(name, EXPR)                                                                                          \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const struct f16_mode mode = f16_mode(x->mode), *m = &mode;                                        \
		const uint32_t *s0 = x->s[0];                                                                      \
		uint32_t *d = x->d;                                                                                \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const uint32_t a = s0[l] & 0xffff;                                                         \
			d[l] = EXPR;                                                                               \
			(void)m;                                                                                   \
		}                                                                                                  \
	}
#define F16_3(name, EXPR)                                                                                          \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const struct f16_mode mode = f16_mode(x->mode), *m = &mode;                                        \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1], *s2 = x->s[2];                                        \
		uint32_t *d = x->d;                                                                                \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const uint32_t a = s0[l] & 0xffff, b = s1[l] & 0xffff, c = s2[l] & 0xffff;                 \
			d[l] = EXPR;                                                                               \
			(void)c;                                                                                   \
		}                                                                                                  \
	}
/* Two sources; the third row is there all the same (valu.c gives every source a row). */
#define F16_2 F16_3

F16_2(add, f16_add(a, b, m))
F16_2(sub, f16_add(a, f16_pick(b, b ^ 0x8000), m))
F16_2(subrev, f16_add(f16_pick(a, a ^ 0x8000), b, m))
F16_2(mul, f16_mul(a, b, m))
F16_3(fma16, f16_fma(a, b, c, m))
F16_2(min16, f16_minmax(a, b, m, false))
F16_2(max16, f16_minmax(a, b, m, true))
F16_3(min3, f16_minmax(f16_minmax(a, b, m, false), c, m, false))
F16_3(maxmin, f16_minmax(f16_minmax(a, b, m, true), c, m, false))
F16_3(minmax3, f16_minmax(f16_minmax(a, b, m, false), c, m, true))
F16_2(minimum, f16_extreme(a, b, m, false))
F16_2(maximum, f16_extreme(a, b, m, true))
F16_3(minimum3, f16_extreme(f16_extreme(a, b, m, false), c, m, false))
F16_3(maximum3, f16_extreme(f16_extreme(a, b, m, true), c, m, true))
F16_3(minimummaximum, f16_extreme(f16_extreme(a, b, m, false), c, m, true))
F16_3(maximumminimum, f16_extreme(f16_extreme(a, b, m, true), c, m, false))
F16_3(max3, f16_minmax(f16_minmax(a, b, m, true), c, m, true))

/* Two roundings, and denormals flushed in every MODE, as v_mad_f32. */
static inline uint32_t mad(uint32_t a, uint32_t b, uint32_t c, struct f16_mode m)
{
	m.keep_in = m.keep_out = false;
	return f16_add(f16_mul(a, b, &m), c, &m);
}

F16_3(mad16, mad(a, b, c, *m))

static inline uint32_t med3(uint32_t a, uint32_t b, uint32_t c, const struct f16_mode *m)
{
	uint32_t lo = f16_minmax(a, b, m, false), hi = f16_minmax(a, b, m, true);

	if (is_nan16(a) || is_nan16(b) || is_nan16(c))
		return f16_minmax(lo, c, m, false);
	return f16_minmax(lo, f16_minmax(hi, c, m, false), m, true);
}

F16_3(med3_lanes, med3(a, b, c, m))

/* Integers are exact in f16 when they come from f16. */
#define ROUNDED(FN) f16_pick(a, half_from_float(FN(half_to_float(f16_in(a, m))), HALF_ZERO))
F16_1(floor16, ROUNDED(__builtin_floorf))
F16_1(ceil16, ROUNDED(__builtin_ceilf))
F16_1(trunc16, ROUNDED(__builtin_truncf))

static inline float rndne(float a)
{
	float r = __builtin_fabsf(a) + 0x1p23f - 0x1p23f;

	return as_f32((f32_bits(__builtin_fabsf(a) >= 0x1p23f ? __builtin_fabsf(a) : r) & 0x7fffffff) |
		      (f32_bits(a) & 0x80000000));
}

F16_1(rndne16, ROUNDED(rndne))

static inline uint32_t fract(uint32_t a, const struct f16_mode *m)
{
	float f = half_to_float(f16_in(a, m)), r = f - __builtin_floorf(f);
	uint32_t h = half_from_float(r, m->round);

	if ((a & 0x7fff) == 0x7c00)
		return NAN16;
	return f16_pick(a, f16_out(h > 0x3bff ? 0x3bff : h, m));
}

F16_1(fract16, fract(a, m))

static inline uint32_t frexp_exponent(uint32_t a)
{
	int32_t e = (int32_t)(a >> 10 & 31), mantissa = (int32_t)(a & 0x3ff);

	if (e == 31 || !(a & 0x7fff))
		return 0;
	return (uint16_t)(e ? e - 14 : 8 - (int32_t)__builtin_clz((unsigned)mantissa));
}

static inline uint32_t frexp_mantissa(uint32_t a)
{
	uint32_t e = a >> 10 & 31, mantissa = a & 0x3ff;

	if (e == 31)
		return mantissa ? a | 0x200 : a;
	if (!(a & 0x7fff))
		return a;
	if (!e)
		mantissa = mantissa << (__builtin_clz(mantissa) - 21) & 0x3ff;
	return (a & 0x8000) | 14u << 10 | mantissa;
}

F16_1(frexp_exp, frexp_exponent(f16_in(a, m)))
F16_1(frexp_mant, frexp_mantissa(f16_in(a, m)))

/* The exponent is a signed 16-bit integer; f64 holds every step exactly. */
static inline uint32_t scale(uint32_t a, int16_t n, const struct f16_mode *m)
{
	int32_t e = n > 100 ? 100 : n < -100 ? -100 : n;

	a = f16_in(a, m);
	return f16_pick(a, f16_round((double)half_to_float(a) * as_f64((uint64_t)(1023 + e) << 52), m));
}

F16_2(ldexp16, scale(a, (int16_t)b, m))

/* --- division and transcendental functions --- */

/* s0: quotient, s1: denominator, s2: numerator. */
static inline uint32_t div_fixup(uint32_t q, uint32_t den, uint32_t num)
{
	uint32_t sign = (den ^ num) & 0x8000, d = den & 0x7fff, n = num & 0x7fff;

	if (is_nan16(num))
		return num | 0x200;
	if (is_nan16(den))
		return den | 0x200;
	if ((!d && !n) || (d == 0x7c00 && n == 0x7c00))
		return NAN16;
	if (!d || n == 0x7c00)
		return sign | 0x7c00;
	if (!n || d == 0x7c00)
		return sign;
	return is_nan16(q) ? sign | 0x7c00 : sign | (q & 0x7fff);
}

F16_3(div_fixup16, div_fixup(f16_in(a, m), f16_in(b, m), f16_in(c, m)))

/* These round to nearest even in every MODE. */
#define NEAREST(F) f16_pick(a, f16_out(half_from_double(F, HALF_NEAREST), m))
#define VALUE      ((double)half_to_float(f16_in(a, m)))
F16_1(rcp16, NEAREST(1 / VALUE))
F16_1(sqrt16, NEAREST(__builtin_sqrt(VALUE)))
F16_1(rsq16, NEAREST(1 / __builtin_sqrt(VALUE)))
F16_1(exp16, NEAREST((double)exp2f((float)VALUE)))
F16_1(log16, NEAREST((double)log2f((float)VALUE)))

/* In turns; beyond 256 turns the hardware gives up. */
static inline double turns(double a, bool cosine)
{
	double f = a - __builtin_floor(a);

	if (__builtin_isinf(a))
		return as_f64(NAN64);
	if (__builtin_fabs(a) > 256)
		return cosine;
	return cosine ? cos(f * 6.283185307179586) : sin(f * 6.283185307179586);
}

F16_1(sin16, NEAREST(turns(VALUE, false)))
F16_1(cos16, NEAREST(turns(VALUE, true)))

#define E(ID, fn) {ISA_OP_V_##ID##_F16, ISA_FP_EXACT, fn}

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_f16)[] = {
	E(ADD, add),
	E(SUB, sub),
	E(SUBREV, subrev),
	E(MUL, mul),
	E(FMA, fma16),
	E(FMA_LEGACY, fma16),
	E(MAD, mad16),
	E(FMAC, fma16),
	E(FMAMK, fma16),
	E(FMAAK, fma16),
	E(MAXMIN, maxmin),
	E(MINMAX, minmax3),
	E(MINIMUM, minimum),
	E(MAXIMUM, maximum),
	E(MINIMUM3, minimum3),
	E(MAXIMUM3, maximum3),
	E(MINIMUMMAXIMUM, minimummaximum),
	E(MAXIMUMMINIMUM, maximumminimum),
	E(S_RCP, rcp16),
	E(S_SQRT, sqrt16),
	E(S_RSQ, rsq16),
	E(S_EXP, exp16),
	E(S_LOG, log16),
	E(MAD_LEGACY, mad16),
	E(MAC, mad16),
	E(MADMK, mad16),
	E(MADAK, mad16),
	E(MIN, min16),
	E(MAX, max16),
	E(MIN3, min3),
	E(MAX3, max3),
	E(MED3, med3_lanes),
	E(FLOOR, floor16),
	E(CEIL, ceil16),
	E(TRUNC, trunc16),
	E(RNDNE, rndne16),
	E(FRACT, fract16),
	{ISA_OP_V_FREXP_EXP_I16_F16, ISA_FP_EXACT, frexp_exp},
	E(FREXP_MANT, frexp_mant),
	E(LDEXP, ldexp16),
	E(DIV_FIXUP, div_fixup16),
	E(DIV_FIXUP_LEGACY, div_fixup16),
	E(RCP, rcp16),
	E(SQRT, sqrt16),
	E(RSQ, rsq16),
	E(EXP, exp16),
	E(LOG, log16),
	E(SIN, sin16),
	E(COS, cos16),
	{ISA_OP_NONE, 0, NULL},
};
