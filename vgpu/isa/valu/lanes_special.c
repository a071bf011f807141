/* Lane functions: reciprocals, roots, powers, circular functions, and the steps of the division macro.
 *
 * Reciprocals, roots, exponentials and logarithms of f32 flush denormal operands and results in every MODE, as
 * hardware does. They are within 1 ULP of the true value, not bit-identical to silicon. */
#include "vgpu/isa/valu/lanes.h"

/* A function of one f32 with these rules. */
static inline float flushed(uint32_t a, float r)
{
	return as_f32(is_nan32(a) ? a | 0x400000 : flush32(f32_bits(r)));
}

#define SPECIAL32(name, EXPR)                                                                                      \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const uint32_t *s0 = x->s[0];                                                                      \
		uint32_t *d = x->d;                                                                                \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const uint32_t in = s0[l];                                                                 \
			const float a = as_f32(flush32(in));                                                       \
			d[l] = f32_bits(flushed(in, EXPR));                                                        \
		}                                                                                                  \
	}
SPECIAL32(rcp32, 1.0f / a)
SPECIAL32(sqrt32, __builtin_sqrtf(a))
SPECIAL32(rsq32, (float)(1.0 / __builtin_sqrt((double)a)))
SPECIAL32(exp32, exp2f(a))
SPECIAL32(log32, log2f(a))

/* In turns. Beyond 256 turns the hardware gives sin 0 and cos 1. */
static inline double turns(double a, bool cosine)
{
	double f = a - __builtin_floor(a);

	if (__builtin_isinf(a))
		return as_f64(NAN64);
	if (__builtin_fabs(a) > 256)
		return cosine;
	return cosine ? cos(f * 6.283185307179586) : sin(f * 6.283185307179586);
}

static void circular(struct isa_lanes *x, bool cosine)
{
	bool keep_in = keeps_in32(x->mode), keep_out = keeps_out32(x->mode);

	for (unsigned l = 0; l < ISA_LANES; l++) {
		uint32_t in = x->s[0][l], a = keep_in ? in : flush32(in), r;

		if (!(x->exec >> l & 1))
			continue;
		r = is_nan32(in) ? in | 0x400000 : f32_bits((float)turns((double)as_f32(a), cosine));
		if (!cosine && !(a & 0x7fffffff))
			r = a; /* sin(-0) = -0 */
		x->d[l] = keep_out ? r : flush32(r);
	}
}

static void sin32(struct isa_lanes *x)
{
	circular(x, false);
}

static void cos32(struct isa_lanes *x)
{
	circular(x, true);
}

static inline double pick64(double a, double r)
{
	return is_nan64(f64_bits(a)) ? as_f64(f64_bits(a) | 0x8000000000000ull) : r;
}

LANES_1(rcp64, f64, f64, pick64(a, 1 / a))
LANES_1(sqrt64, f64, f64, pick64(a, __builtin_sqrt(a)))
LANES_1(rsq64, f64, f64, pick64(a, 1 / __builtin_sqrt(a)))

/* --- division --- */

/* DIV_SCALE in both widths. A zero operand gives NaN and sets the flag: the ISA documents leave the flag clear, tinygrad's
 * cases (test/amd/hw), which were checked on RDNA3 hardware, have it set. No quotient depends on it, as v_div_fixup
 * replaces it. Denormals that MODE flushes are zero, as in those cases. keeps: it does not flush
 * them. B: type of the bits; S: exponent of the scale factor; FAR: exponent distance from
 * which the quotient is in danger; LOW: numerator exponent below which its residue would be denormal. */
#define DIV_SCALE(name, B, EXPONENT, BIAS, S, FAR, LOW, NAN_BITS)                                                  \
	static inline bool name##_lane(B a, B den, B num, bool keeps, B *result)                                   \
	{                                                                                                          \
		const int de = (int)(EXPONENT(den)), ne = (int)(EXPONENT(num)), delta = ne - de;                   \
		const bool is_den = a == den;                                                                      \
		bool flag = false;                                                                                 \
		int scale = 0;                                                                                     \
		if (!(keeps ? den << 1 : (B)de) || !(keeps ? num << 1 : (B)ne)) {                                  \
			*result = NAN_BITS;                                                                        \
			return true;                                                                               \
		}                                                                                                  \
		if (delta >= FAR) {                                                                                \
			flag = true;                                                                               \
			scale = is_den ? S : 0;                                                                    \
		} else if (de == 0) {                                                                              \
			scale = S;                                                                                 \
		} else if (de >= 2 * BIAS - 1) {                                                                   \
			flag = delta <= -FAR;                                                                      \
			scale = flag && !is_den ? 0 : -S;                                                          \
		} else if (delta <= -FAR) {                                                                        \
			flag = true;                                                                               \
			scale = is_den ? 0 : S;                                                                    \
		} else if (ne <= LOW) {                                                                            \
			scale = S;                                                                                 \
		}                                                                                                  \
		*result = name##_times(a, scale);                                                                  \
		return flag;                                                                                       \
	}

#define EXPONENT32(a) ((a) >> 23 & 255)
#define EXPONENT64(a) ((a) >> 52 & 0x7ff)

static inline uint32_t div_scale32_times(uint32_t a, int scale)
{
	float factor = scale > 0 ? 0x1p64f : scale < 0 ? 0x1p-64f : 1;

	return is_nan32(a) ? a | 0x400000 : f32_bits(as_f32(a) * factor);
}

static inline uint64_t div_scale64_times(uint64_t a, int scale)
{
	double factor = scale > 0 ? 0x1p128 : scale < 0 ? 0x1p-128 : 1;

	return is_nan64(a) ? a | 0x8000000000000ull : f64_bits(as_f64(a) * factor);
}

DIV_SCALE(div_scale32, uint32_t, EXPONENT32, 127, 64, 96, 24, NAN32)
DIV_SCALE(div_scale64, uint64_t, EXPONENT64, 1023, 128, 768, 53, NAN64)

/* The SGPR pair gets the flag of each lane: v_div_fmas must scale back. */
static void div_scale_f32(struct isa_lanes *x)
{
	const bool keeps = keeps_in32(x->mode);
	uint64_t flags = 0;

	for (unsigned l = 0; l < ISA_LANES; l++) {
		uint32_t r;

		flags |= (uint64_t)div_scale32_lane(x->s[0][l], x->s[1][l], x->s[2][l], keeps, &r) << l;
		x->d[l] = r;
	}
	x->carry = flags;
}

static void div_scale_f64(struct isa_lanes *x)
{
	const bool keeps = keeps_in64(x->mode);
	uint64_t flags = 0;

	for (unsigned l = 0; l < ISA_LANES; l++) {
		uint64_t r;
		bool flag = div_scale64_lane(LD_u64(x->s[0], l), LD_u64(x->s[1], l), LD_u64(x->s[2], l), keeps, &r);

		flags |= (uint64_t)flag << l;
		ST_u64(x->d, l, r);
	}
	x->carry = flags;
}

/* Operands and results of v_div_fmas and v_div_fixup lose denormals as MODE says: LLVM divides under the program's MODE
 * but for the steps in between, and takes the quotient for canonical (SITargetLowering::isCanonicalized()); v_div_scale,
 * above, has made NaN of them. */

/* a * b + c in twice the precision and more, so that scaling and the one rounding come after it. */
static float fmas32(float a, float b, float c, int scale)
{
	double factor = scale > 0 ? 0x1p64 : 0x1p-64;
	/* The factor is applied to the addends: then the double sum is rounded to odd and once more to f32. */
	double product = (double)a * b * factor, addend = (double)c * factor;
	double sum = product + addend, part = sum - product, rest = (product - (sum - part)) + (addend - part);
	uint64_t bits = f64_bits(sum);

	if (rest != 0 && __builtin_isfinite(sum) && !(bits & 1))
		sum = as_f64((rest > 0) == (sum > 0) ? bits + 1 : bits - 1);
	return (float)sum;
}

static double fmas64(double a, double b, double c, int scale)
{
	__extension__ typedef __float128 quad;

	return (double)(((quad)a * (quad)b + (quad)c) * (quad)(scale > 0 ? 0x1p128 : 0x1p-128));
}

static inline bool any_nan(const double v[3])
{
	return v[0] != v[0] || v[1] != v[1] || v[2] != v[2];
}

static void div_fmas_f32(struct isa_lanes *x)
{
	for (unsigned l = 0; l < ISA_LANES; l++) {
		uint32_t a = in32(x->s[0][l], x->mode), b = in32(x->s[1][l], x->mode),
			 c = in32(x->s[2][l], x->mode);
		float r = __builtin_fmaf(as_f32(a), as_f32(b), as_f32(c));

		if (x->carry >> l & 1)
			r = fmas32(as_f32(a), as_f32(b), as_f32(c), EXPONENT32(c) > 127 ? 1 : -1);
		x->d[l] = is_nan32(a)   ? a | 0x400000
			  : is_nan32(b) ? b | 0x400000
			  : is_nan32(c) ? c | 0x400000
					: out32(f32_bits(r), x->mode);
	}
}

static void div_fmas_f64(struct isa_lanes *x)
{
	for (unsigned l = 0; l < ISA_LANES; l++) {
		double v[3], r;

		for (unsigned n = 0; n < 3; n++)
			v[n] = as_f64(in64(LD_u64(x->s[n], l), x->mode));
		r = __builtin_fma(v[0], v[1], v[2]);
		if (x->carry >> l & 1)
			r = fmas64(v[0], v[1], v[2], EXPONENT64(f64_bits(v[2])) > 1023 ? 1 : -1);
		if (any_nan(v))
			r = pick64(v[0], pick64(v[1], pick64(v[2], r)));
		ST_u64(x->d, l, out64(f64_bits(r), x->mode));
	}
}

/* The quotient q of num / den, with the special cases that the iteration gets wrong. */
#define DIV_FIXUP(name, B, SIGN, INF, IS_NAN, QUIET, NAN_BITS, EXPONENT, TINY)                                     \
	static inline B name(B q, B den, B num)                                                                    \
	{                                                                                                          \
		const B sign = (den ^ num) & SIGN, d = den & ~SIGN, n = num & ~SIGN;                               \
		if (IS_NAN(num))                                                                                   \
			return num | QUIET;                                                                        \
		if (IS_NAN(den))                                                                                   \
			return den | QUIET;                                                                        \
		if ((!d && !n) || (d == INF && n == INF))                                                          \
			return NAN_BITS;                                                                           \
		if (!d || n == INF)                                                                                \
			return sign | INF;                                                                         \
		if (!n || d == INF)                                                                                \
			return sign;                                                                               \
		if ((int)EXPONENT(n) - (int)EXPONENT(d) < TINY)                                                    \
			return sign;                                                                               \
		return IS_NAN(q) ? sign | INF : sign | (q & ~SIGN);                                                \
	}
DIV_FIXUP(fixup32, uint32_t, 0x80000000u, 0x7f800000u, is_nan32, 0x400000u, NAN32, EXPONENT32, -150)
DIV_FIXUP(fixup64, uint64_t, 0x8000000000000000ull, 0x7ff0000000000000ull, is_nan64, 0x8000000000000ull, NAN64,
	  EXPONENT64, -1075)

LANES_3(div_fixup_f32, u32, u32, u32, u32,
	out32(fixup32(in32(a, x->mode), in32(b, x->mode), in32(c, x->mode)), x->mode))
LANES_3(div_fixup_f64, u64, u64, u64, u64,
	out64(fixup64(in64(a, x->mode), in64(b, x->mode), in64(c, x->mode)), x->mode))

/* --- argument reduction --- */

/* 2 / pi, 1280 bits after the point. */
static const uint64_t two_over_pi[20] = {
	0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
	0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
	0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
	0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
	0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull,
};

/* Bits [at, at + 53) after the point; zero beyond the 1201 that the hardware holds. */
static uint64_t two_over_pi_bits(unsigned at)
{
	uint64_t r = 0;

	for (unsigned n = 0; n < 53; n++) {
		unsigned bit = at + n;

		r = r << 1 | (bit < 1201 ? two_over_pi[bit / 64] >> (63 - bit % 64) & 1 : 0);
	}
	return r;
}

/* Segment b 4:0 of 2 / pi, starting where the exponent of a makes its bits matter. */
static double trig_preop(uint64_t a, uint32_t b)
{
	unsigned exponent = EXPONENT64(a), shift = (b & 31) * 53;
	int scale;

	if (exponent > 1077)
		shift += exponent - 1077;
	scale = -53 - (int)shift + (exponent >= 1968 ? 128 : 0);
	return ldexp((double)two_over_pi_bits(shift), scale);
}

static void trig_preop_f64(struct isa_lanes *x)
{
	for (unsigned l = 0; l < ISA_LANES; l++)
		ST_f64(x->d, l, trig_preop(LD_u64(x->s[0], l), x->s[1][l]));
}

#define E(ID, fn) {ISA_OP_V_##ID, ISA_FP_EXACT, fn}
#define D(ID, fn) {ISA_OP_V_##ID, ISA_FP_64, fn}

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_special)[] = {
	E(RCP_F32, rcp32),
	E(RCP_IFLAG_F32, rcp32),
	E(SQRT_F32, sqrt32),
	E(RSQ_F32, rsq32),
	E(EXP_F32, exp32),
	E(LOG_F32, log32),
	E(EXP_LEGACY_F32, exp32),
	E(LOG_LEGACY_F32, log32),
	E(S_RCP_F32, rcp32),
	E(S_SQRT_F32, sqrt32),
	E(S_RSQ_F32, rsq32),
	E(S_EXP_F32, exp32),
	E(S_LOG_F32, log32),
	E(SIN_F32, sin32),
	E(COS_F32, cos32),
	D(RCP_F64, rcp64),
	D(SQRT_F64, sqrt64),
	D(RSQ_F64, rsq64),
	E(DIV_SCALE_F32, div_scale_f32),
	E(DIV_SCALE_F64, div_scale_f64),
	E(DIV_FMAS_F32, div_fmas_f32),
	E(DIV_FMAS_F64, div_fmas_f64),
	E(DIV_FIXUP_F32, div_fixup_f32),
	E(DIV_FIXUP_F64, div_fixup_f64),
	E(TRIG_PREOP_F64, trig_preop_f64),
	{ISA_OP_NONE, 0, NULL},
};
