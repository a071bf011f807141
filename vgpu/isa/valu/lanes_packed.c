/* Lane functions: VOP3P, pairs of 16-bit values, mixed precision, dot products. The handler has applied op_sel and
 * negation to the sources of packed functions: what is here takes low with low and high with high. */
#include "vgpu/isa/valu/f16.h"

/* --- pairs of integers --- */

/* EXPR of the halves a, b, c, as signed or unsigned 16-bit values. */
#define PAIR(name, T, EXPR)                                                                                        \
	static inline uint32_t name##_half(t_##T a, t_##T b, t_##T c, bool clamp)                                  \
	{                                                                                                          \
		(void)c;                                                                                           \
		(void)clamp;                                                                                       \
		return (uint16_t)(EXPR);                                                                           \
	}                                                                                                          \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1], *s2 = x->s[2];                                        \
		const bool clamp = x->clamp;                                                                       \
		uint32_t *d = x->d;                                                                                \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const uint32_t a = s0[l], b = s1[l], c = s2[l];                                            \
			d[l] = name##_half((t_##T)a, (t_##T)b, (t_##T)c, clamp) |                                  \
			       name##_half((t_##T)(a >> 16), (t_##T)(b >> 16), (t_##T)(c >> 16), clamp) << 16;     \
		}                                                                                                  \
	}

static inline int32_t fit_i16(int64_t v, bool clamp)
{
	if (!clamp)
		return (int32_t)(int16_t)v;
	return v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : (int32_t)v;
}

static inline uint32_t fit_u16(int64_t v, bool clamp)
{
	if (!clamp)
		return (uint16_t)v;
	return v > UINT16_MAX ? UINT16_MAX : v < 0 ? 0 : (uint32_t)v;
}

PAIR(pk_add_u16, u16, fit_u16((int64_t)a + b, clamp))
PAIR(pk_sub_u16, u16, fit_u16((int64_t)a - b, clamp))
PAIR(pk_add_i16, i16, fit_i16((int64_t)a + b, clamp))
PAIR(pk_sub_i16, i16, fit_i16((int64_t)a - b, clamp))
PAIR(pk_mul_lo_u16, u16, b *(uint32_t)a)
PAIR(pk_mad_u16, u16, fit_u16(b *(int64_t)a + c, clamp))
PAIR(pk_mad_i16, i16, fit_i16(b *(int64_t)a + c, clamp))
PAIR(pk_lshlrev_b16, u16, (uint32_t)b << (a & 15))
PAIR(pk_lshrrev_b16, u16, b >> (a & 15))
PAIR(pk_ashrrev_i16, i16, b >> (a & 15))
PAIR(pk_min_i16, i16, a < b ? a : b)
PAIR(pk_max_i16, i16, a > b ? a : b)
PAIR(pk_min_u16, u16, a < b ? a : b)
PAIR(pk_max_u16, u16, a > b ? a : b)

/* --- pairs of f16 --- */

#define PAIR_F16(name, EXPR)                                                                                       \
	static inline uint32_t name##_half(uint32_t a, uint32_t b, uint32_t c, const struct f16_mode *m)           \
	{                                                                                                          \
		(void)c;                                                                                           \
		return EXPR;                                                                                       \
	}                                                                                                          \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const struct f16_mode mode = f16_mode(x->mode), *m = &mode;                                        \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1], *s2 = x->s[2];                                        \
		uint32_t *d = x->d;                                                                                \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const uint32_t a = s0[l], b = s1[l], c = s2[l];                                            \
			d[l] = name##_half(a & 0xffff, b & 0xffff, c & 0xffff, m) |                                \
			       name##_half(a >> 16, b >> 16, c >> 16, m) << 16;                                    \
		}                                                                                                  \
	}
PAIR_F16(pk_add_f16, f16_add(a, b, m))
PAIR_F16(pk_mul_f16, f16_mul(a, b, m))
PAIR_F16(pk_min_f16, f16_minmax(a, b, m, false))
PAIR_F16(pk_max_f16, f16_minmax(a, b, m, true))
PAIR_F16(pk_fma_f16, f16_fma(a, b, c, m))

/* --- mixed precision --- */

/* A source of v_mad_mix and v_fma_mix, which the handler has brought to f32 bits (exactly, from f16 or f32). */
static inline float pick1(float a, float r)
{
	return is_nan32(f32_bits(a)) ? as_f32(f32_bits(a) | 0x400000) : r;
}

static inline float mix(float a, float b, float c, bool fused)
{
	bool invalid = (a == 0 && __builtin_isinf(b)) || (b == 0 && __builtin_isinf(a));
	float r = fused ? __builtin_fmaf(a, b, c) : a * b + c;

	return pick1(a, pick1(b, invalid ? as_f32(NAN32) : pick1(c, r)));
}

#define MIX(name, FUSED)                                                                                           \
	LANES_3(name, f32, f32, f32, f32, mix(a, b, c, FUSED))                                                     \
	/* The f16 forms round the f32 result again; the handler puts it into its half of the register. */         \
	static void name##_f16(struct isa_lanes *x)                                                                \
	{                                                                                                          \
		const struct f16_mode mode = f16_mode(x->mode);                                                    \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1], *s2 = x->s[2];                                        \
		uint32_t *d = x->d;                                                                                \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const float r = mix(as_f32(s0[l]), as_f32(s1[l]), as_f32(s2[l]), FUSED);                   \
			d[l] = f16_out(half_from_float(r, mode.round), &mode);                                     \
		}                                                                                                  \
	}
MIX(mad_mix, false)
MIX(fma_mix, true)

/* --- dot products --- */

static inline int64_t field(uint32_t a, unsigned n, unsigned width, bool is_signed)
{
	uint32_t up = a << (32 - width * (n + 1));

	return is_signed ? (int32_t)up >> (32 - width) : (int64_t)(up >> (32 - width));
}

/* Sum of the products of 32 / width fields, plus c; CLAMP saturates the whole sum. */
static inline uint32_t dot(uint32_t a, uint32_t b, uint32_t c, unsigned width, bool is_signed, bool clamp)
{
	int64_t sum = is_signed ? (int32_t)c : (int64_t)c;

	for (unsigned n = 0; n < 32 / width; n++)
		sum += field(a, n, width, is_signed) * field(b, n, width, is_signed);
	if (clamp && is_signed)
		sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
	else if (clamp)
		sum = sum > UINT32_MAX ? UINT32_MAX : sum;
	return (uint32_t)sum;
}

LANES_3(dot2_i32_i16, u32, u32, u32, u32, dot(a, b, c, 16, true, x->clamp))
LANES_3(dot2_u32_u16, u32, u32, u32, u32, dot(a, b, c, 16, false, x->clamp))
LANES_3(dot4_i32_i8, u32, u32, u32, u32, dot(a, b, c, 8, true, x->clamp))
LANES_3(dot4_u32_u8, u32, u32, u32, u32, dot(a, b, c, 8, false, x->clamp))
LANES_3(dot8_i32_i4, u32, u32, u32, u32, dot(a, b, c, 4, true, x->clamp))
LANES_3(dot8_u32_u4, u32, u32, u32, u32, dot(a, b, c, 4, false, x->clamp))

/* Two f16 products, exact in f32, added to an f32, the high one last. Denormals are flushed. The first NaN operand
 * decides, as everywhere. */
static inline float dot_f16(uint32_t a, uint32_t b, float c)
{
	const float a0 = half_to_float(flush16(a & 0xffff)), a1 = half_to_float(flush16(a >> 16));
	const float b0 = half_to_float(flush16(b & 0xffff)), b1 = half_to_float(flush16(b >> 16));
	const float r = a1 * b1 + (a0 * b0 + c);
	const float invalid = is_nan32(f32_bits(r)) ? as_f32(NAN32) : r;

	return pick1(a0, pick1(b0, pick1(a1, pick1(b1, pick1(c, invalid)))));
}

LANES_3(dot2_f32_f16, f32, u32, u32, f32, dot_f16(a, b, c))

/* The signs of both operands are bits of the instruction. */
static inline uint32_t dot_iu(uint32_t a, uint32_t b, uint32_t c, unsigned width, unsigned signs, bool clamp)
{
	int64_t sum = (int32_t)c;

	for (unsigned n = 0; n < 32 / width; n++)
		sum += field(a, n, width, signs & 1) * field(b, n, width, signs & 2);
	if (clamp)
		sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
	return (uint32_t)sum;
}

LANES_3(dot4_i32_iu8, u32, u32, u32, u32, dot_iu(a, b, c, 8, x->inst->blgp, x->clamp))
LANES_3(dot8_i32_iu4, u32, u32, u32, u32, dot_iu(a, b, c, 4, x->inst->blgp, x->clamp))

static inline float bf16_to_float(uint32_t a)
{
	return as_f32(flush32(a << 16));
}

static inline float dot_bf16(uint32_t a, uint32_t b, float c)
{
	const float a0 = bf16_to_float(a & 0xffff), a1 = bf16_to_float(a >> 16);
	const float b0 = bf16_to_float(b & 0xffff), b1 = bf16_to_float(b >> 16);

	return pick1(a0, pick1(b0, pick1(a1, pick1(b1, pick1(c, a1 * b1 + (a0 * b0 + c))))));
}

LANES_3(dot2_f32_bf16, f32, u32, u32, f32, dot_bf16(a, b, c))

/* Rounds to nearest even. */
static inline uint32_t bf16_from_bits32(uint32_t a)
{
	if (is_nan32(a))
		return a >> 16 | 0x40;
	return (a + 0x7fff + (a >> 16 & 1)) >> 16;
}

static inline uint32_t dot_to_bf16(uint32_t a, uint32_t b, uint32_t c)
{
	return bf16_from_bits32(f32_bits(dot_bf16(a, b, bf16_to_float(c & 0xffff))));
}

LANES_3(dot2_bf16_bf16, u32, u32, u32, u32, dot_to_bf16(a, b, c))

/* A rounding after each product. */
static void dot2_f16_f16(struct isa_lanes *x)
{
	const struct f16_mode mode = f16_mode(x->mode);

	for (unsigned l = 0; l < ISA_LANES; l++) {
		uint32_t a = x->s[0][l], b = x->s[1][l], c = x->s[2][l] & 0xffff;

		c = f16_fma(a & 0xffff, b & 0xffff, c, &mode);
		x->d[l] = f16_fma(a >> 16, b >> 16, c, &mode);
	}
}

static inline uint32_t pk_extreme(uint32_t a, uint32_t b, const struct f16_mode *m, bool max)
{
	return f16_extreme(a & 0xffff, b & 0xffff, m, max) | f16_extreme(a >> 16, b >> 16, m, max) << 16;
}

#define PK_EXTREME(name, MAX)                                                                                      \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		const struct f16_mode mode = f16_mode(x->mode);                                                    \
		for (unsigned l = 0; l < ISA_LANES; l++)                                                           \
			x->d[l] = pk_extreme(x->s[0][l], x->s[1][l], &mode, MAX);                                  \
	}
PK_EXTREME(pk_minimum, false)
PK_EXTREME(pk_maximum, true)

#define N(ID, fn) {ISA_OP_V_##ID, ISA_FP_NONE, fn}
#define E(ID, fn) {ISA_OP_V_##ID, ISA_FP_EXACT, fn}

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_packed)[] = {
	N(PK_ADD_U16, pk_add_u16),
	N(PK_SUB_U16, pk_sub_u16),
	N(PK_ADD_I16, pk_add_i16),
	N(PK_SUB_I16, pk_sub_i16),
	N(PK_MUL_LO_U16, pk_mul_lo_u16),
	N(PK_MAD_U16, pk_mad_u16),
	N(PK_MAD_I16, pk_mad_i16),
	N(PK_LSHLREV_B16, pk_lshlrev_b16),
	N(PK_LSHRREV_B16, pk_lshrrev_b16),
	N(PK_ASHRREV_I16, pk_ashrrev_i16),
	N(PK_MIN_I16, pk_min_i16),
	N(PK_MAX_I16, pk_max_i16),
	N(PK_MIN_U16, pk_min_u16),
	N(PK_MAX_U16, pk_max_u16),
	E(PK_ADD_F16, pk_add_f16),
	E(PK_MUL_F16, pk_mul_f16),
	E(PK_MIN_F16, pk_min_f16),
	E(PK_MAX_F16, pk_max_f16),
	E(PK_FMA_F16, pk_fma_f16),
	E(PK_FMAC_F16, pk_fma_f16),
	{ISA_OP_V_MAD_MIX_F32, ISA_FP_FLUSH, mad_mix},
	{ISA_OP_V_MAD_MIXLO_F16, ISA_FP_FLUSH, mad_mix_f16},
	{ISA_OP_V_MAD_MIXHI_F16, ISA_FP_FLUSH, mad_mix_f16},
	{ISA_OP_V_FMA_MIX_F32, ISA_FP_32, fma_mix},
	{ISA_OP_V_FMA_MIXLO_F16, ISA_FP_32, fma_mix_f16},
	{ISA_OP_V_FMA_MIXHI_F16, ISA_FP_32, fma_mix_f16},
	N(DOT2_I32_I16, dot2_i32_i16),
	N(DOT2_U32_U16, dot2_u32_u16),
	N(DOT4_I32_I8, dot4_i32_i8),
	N(DOT4_U32_U8, dot4_u32_u8),
	N(DOT8_I32_I4, dot8_i32_i4),
	N(DOT8_U32_U4, dot8_u32_u4),
	N(DOT2C_I32_I16, dot2_i32_i16),
	N(DOT4C_I32_I8, dot4_i32_i8),
	N(DOT8C_I32_I4, dot8_i32_i4),
	N(DOT4_I32_IU8, dot4_i32_iu8),
	N(DOT8_I32_IU4, dot8_i32_iu4),
	{ISA_OP_V_DOT2_F32_BF16, ISA_FP_FLUSH, dot2_f32_bf16},
	{ISA_OP_V_DOT2_BF16_BF16, ISA_FP_FLUSH, dot2_bf16_bf16},
	E(DOT2_F16_F16, dot2_f16_f16),
	E(PK_MINIMUM_F16, pk_minimum),
	E(PK_MAXIMUM_F16, pk_maximum),
	{ISA_OP_V_DOT2_F32_F16, ISA_FP_FLUSH, dot2_f32_f16},
	{ISA_OP_V_DOT2C_F32_F16, ISA_FP_FLUSH, dot2_f32_f16},
	{ISA_OP_NONE, 0, NULL},
};
