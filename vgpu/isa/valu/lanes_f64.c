/* Lane functions: f64 arithmetic. NaN operands as in lanes_f32.c. */
#include "vgpu/isa/valu/lanes.h"

static inline double pick1(double a, double r)
{
	return is_nan64(f64_bits(a)) ? as_f64(f64_bits(a) | 0x8000000000000ull) : r;
}

static inline double pick2(double a, double b, double r)
{
	return pick1(a, pick1(b, r));
}

static inline double pick_fma(double a, double b, double c, double r)
{
	bool invalid = (a == 0 && __builtin_isinf(b)) || (b == 0 && __builtin_isinf(a));

	return pick2(a, b, invalid ? as_f64(NAN64) : pick1(c, r));
}

static inline bool has_nan2(const uint32_t *s0, const uint32_t *s1)
{
	uint32_t bad = 0;

	/* The high dword of every NaN is above infinity's or, with a payload in the low dword only, equal to it:
	 * the test includes infinities rather than reading the low dwords. */
	EACH_LANE bad |=
		(s0[ISA_LANES + l] & 0x7fffffff) >= 0x7ff00000 || (s1[ISA_LANES + l] & 0x7fffffff) >= 0x7ff00000;
	return bad;
}

#define F64_2(name, EXPR)                                                                                          \
	LANES_2(name##_fast, f64, f64, f64, EXPR)                                                                  \
	LANES_2(name##_nan, f64, f64, f64, pick2(a, b, EXPR))                                                      \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		if (__builtin_expect(has_nan2(x->s[0], x->s[1]), 0))                                               \
			name##_nan(x);                                                                             \
		else                                                                                               \
			name##_fast(x);                                                                            \
	}
F64_2(add, a + b)
F64_2(mul, (a * b))
LANES_3(fma64_fast, f64, f64, f64, f64, __builtin_fma(a, b, c))
LANES_3(fma64_nan, f64, f64, f64, f64, pick_fma(a, b, c, __builtin_fma(a, b, c)))

static void fma64(struct isa_lanes *x)
{
	if (__builtin_expect(has_nan2(x->s[0], x->s[1]) || has_nan2(x->s[2], x->s[2]), 0))
		fma64_nan(x);
	else
		fma64_fast(x);
}

static inline int64_t order(uint64_t a)
{
	return (int64_t)(a >> 63 ? a ^ 0x7fffffffffffffffull : a);
}

static inline uint64_t minmax(uint64_t a, uint64_t b, uint32_t mode, bool max)
{
	uint64_t number = (order(a) < order(b)) != max ? a : b;
	uint64_t r = is_nan64(a) ? b : is_nan64(b) ? a : number;

	if (mode & ISA_MODE_IEEE)
		r = is_snan64(a) ? a | 0x8000000000000ull : is_snan64(b) ? b | 0x8000000000000ull : r;
	return r;
}

/* GFX12: a NaN operand decides, the first signalling one before all. */
static inline uint64_t extreme(uint64_t a, uint64_t b, bool max)
{
	const uint64_t quiet = 0x8000000000000ull;

	if (is_snan64(a) || (is_nan64(a) && !is_snan64(b)))
		return a | quiet;
	return is_nan64(b) ? b | quiet : minmax(a, b, 0, max);
}

#define MINMAX(name, EXPR)                                                                                         \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const bool flush = !keeps_in64(x->mode) || !keeps_out64(x->mode);                                  \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1];                                                       \
		uint32_t *d = x->d;                                                                                \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const uint64_t a = flush ? flush64(LD_u64(s0, l)) : LD_u64(s0, l);                         \
			const uint64_t b = flush ? flush64(LD_u64(s1, l)) : LD_u64(s1, l);                         \
			ST_u64(d, l, EXPR);                                                                        \
		}                                                                                                  \
	}
MINMAX(min64, minmax(a, b, x->mode, false))
MINMAX(max64, minmax(a, b, x->mode, true))
MINMAX(minimum64, extreme(a, b, false))
MINMAX(maximum64, extreme(a, b, true))

LANES_1(floor64, f64, f64, pick1(a, __builtin_copysign(__builtin_floor(a), a)))
LANES_1(ceil64, f64, f64, pick1(a, __builtin_copysign(__builtin_ceil(a), a)))
LANES_1(trunc64, f64, f64, pick1(a, __builtin_copysign(__builtin_trunc(a), a)))

/* Rounds to nearest even under the exact MXCSR; adding 2^52 leaves the integer. */
static inline double rndne(double a)
{
	double big = as_f64((f64_bits(a) & 1ull << 63) | 0x4330000000000000ull), r = a + big - big;

	r = as_f64((f64_bits(r) & ~(1ull << 63)) | (f64_bits(a) & 1ull << 63));
	return __builtin_fabs(a) >= 0x1p52 ? a : r;
}

LANES_1(rndne64, f64, f64, pick1(a, rndne(a)))

/* Never 1. */
static inline double fract(double a)
{
	double r = __builtin_fabs(a - __builtin_floor(a));

	r = r > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : r;
	return __builtin_isinf(a) ? as_f64(NAN64) : pick1(a, r);
}

LANES_1(fract64, f64, f64, fract(a))

static inline int32_t frexp_exponent(uint64_t a)
{
	int32_t e = (int32_t)(a >> 52 & 0x7ff);
	uint64_t m = a & 0xfffffffffffffull;

	if (e == 0x7ff || (e == 0 && m == 0))
		return 0;
	return e ? e - 1022 : -1010 - __builtin_clzll(m);
}

static inline uint64_t frexp_mantissa(uint64_t a)
{
	uint64_t e = a >> 52 & 0x7ff, m = a & 0xfffffffffffffull;

	if (e == 0x7ff)
		return m ? a | 0x8000000000000ull : a;
	if (e == 0 && m == 0)
		return a;
	if (e == 0)
		m = m << (__builtin_clzll(m) - 11) & 0xfffffffffffffull;
	return (a & 1ull << 63) | 1022ull << 52 | m;
}

LANES_1(frexp_exp, i32, u64, frexp_exponent(in64(a, x->mode)))
LANES_1(frexp_mant, u64, u64, frexp_mantissa(in64(a, x->mode)))

static inline double power_of_two(int32_t n)
{
	return as_f64((uint64_t)(1023 + n) << 52);
}

/* Downwards: only the last of the factors may round. What the first ones make denormal ends as zero anyhow. */
static inline double scale_down(double a, int32_t n)
{
	if (__builtin_fabs(a) >= 1) {
		a *= 0x1p-1022;
		n += 1022;
	}
	if (n >= -1022)
		return a * power_of_two(n);
	return a * power_of_two(n + 1022 < -1022 ? -1022 : n + 1022) * 0x1p-1022;
}

/* Upwards all steps are exact: overflow early is overflow late. */
static inline double scale_up(double a, int32_t n)
{
	while (n > 1023) {
		a *= 0x1p1023;
		n -= 1023;
	}
	return a * power_of_two(n);
}

static inline double scale(double a, int32_t n)
{
	n = n > 2200 ? 2200 : n < -2200 ? -2200 : n;
	return pick1(a, n < -1022 ? scale_down(a, n) : scale_up(a, n));
}

static void ldexp64(struct isa_lanes *x)
{
	const uint32_t *s0 = x->s[0], *s1 = x->s[1];
	uint32_t *d = x->d;

	for (unsigned l = 0; l < ISA_LANES; l++)
		ST_f64(d, l, scale(LD_f64(s0, l), (int32_t)s1[l]));
}

/* --- pairs of f32 (gfx90a) --- */

static inline float pick32(float a, float r)
{
	return is_nan32(f32_bits(a)) ? as_f32(f32_bits(a) | 0x400000) : r;
}

static inline float pick_fma32(float a, float b, float c, float r)
{
	bool invalid = (a == 0 && __builtin_isinf(b)) || (b == 0 && __builtin_isinf(a));

	return pick32(a, pick32(b, invalid ? as_f32(NAN32) : pick32(c, r)));
}

/* The high rows follow the low ones: one loop over both halves. The handler has copied sources when op_sel moves
 * dwords. gfx90a aligns register pairs, so a result never overlaps half of a source. */
#ifdef __clang__
#define EACH_OF_PAIR _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < 2 * ISA_LANES; l++)
#else
#define EACH_OF_PAIR _Pragma("GCC ivdep") for (unsigned l = 0; l < 2 * ISA_LANES; l++)
#endif
#define PAIRS(name, EXPR)                                                                                          \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1], *s2 = x->s[2];                                        \
		uint32_t *d = x->d;                                                                                \
		EACH_OF_PAIR                                                                                       \
		{                                                                                                  \
			const float a = as_f32(s0[l]), b = as_f32(s1[l]);                                          \
			d[l] = f32_bits(EXPR);                                                                     \
		}                                                                                                  \
		(void)s2;                                                                                          \
	}
PAIRS(pk_add_f32, pick32(a, pick32(b, a + b)))
PAIRS(pk_mul_f32, pick32(a, pick32(b, (a * b))))
PAIRS(pk_fma_f32, pick_fma32(a, b, as_f32(s2[l]), __builtin_fmaf(a, b, as_f32(s2[l]))))

/* The low dword of the first source and the high one of the second, after op_sel. */
static void pk_mov_b32(struct isa_lanes *x)
{
	const uint32_t *s0 = x->s[0], *s1 = x->s[1];
	uint32_t *d = x->d;

	EACH_LANE
	{
		const uint32_t lo = s0[l], hi = s1[ISA_LANES + l];

		d[l] = lo;
		d[ISA_LANES + l] = hi;
	}
}

#define F(ID, fn) {ISA_OP_V_##ID, ISA_FP_64, fn}
#define N(ID, fn) {ISA_OP_V_##ID, ISA_FP_NONE, fn}

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_f64)[] = {
	F(ADD_F64, add),
	F(MUL_F64, mul),
	F(FMA_F64, fma64),
	F(FMAC_F64, fma64),
	N(MINIMUM_F64, minimum64),
	N(MAXIMUM_F64, maximum64),
	N(MIN_F64, min64),
	N(MAX_F64, max64),
	F(FLOOR_F64, floor64),
	F(CEIL_F64, ceil64),
	F(TRUNC_F64, trunc64),
	{ISA_OP_V_RNDNE_F64, ISA_FP_EXACT, rndne64},
	F(FRACT_F64, fract64),
	N(FREXP_EXP_I32_F64, frexp_exp),
	N(FREXP_MANT_F64, frexp_mant),
	F(LDEXP_F64, ldexp64),
	{ISA_OP_V_PK_ADD_F32, ISA_FP_32, pk_add_f32},
	{ISA_OP_V_PK_MUL_F32, ISA_FP_32, pk_mul_f32},
	{ISA_OP_V_PK_FMA_F32, ISA_FP_32, pk_fma_f32},
	N(PK_MOV_B32, pk_mov_b32),
	{ISA_OP_NONE, 0, NULL},
};
