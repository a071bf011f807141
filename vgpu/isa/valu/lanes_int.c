/* Lane functions: 32-bit and 16-bit integers. */
#include "vgpu/isa/valu/lanes.h"

/* --- moves and logic --- */

LANES_1(mov, u32, u32, a)
LANES_1(not32, u32, u32, ~a)
LANES_2(and32, u32, u32, u32, (a & b))
LANES_2(or32, u32, u32, u32, a | b)
LANES_2(xor32, u32, u32, u32, a ^ b)
LANES_2(xnor32, u32, u32, u32, ~(a ^ b))
LANES_3(and_or, u32, u32, u32, u32, (a & b) | c)
LANES_3(or3, u32, u32, u32, u32, a | b | c)
LANES_3(xor3, u32, u32, u32, u32, a ^ b ^ c)
LANES_1(mov16, u16, u16, a)
LANES_1(not16, u16, u16, ~a)
LANES_1(sext16, i32, i16, a)
LANES_3(bfi, u32, u32, u32, u32, (a & b) | (~a & c))

static void cndmask(struct isa_lanes *x)
{
	uint32_t m[ISA_LANES] __attribute__((aligned(64)));
	const uint32_t *s0 = x->s[0], *s1 = x->s[1];
	uint32_t *d = x->d;

	bits_mask(x->carry, m);
	EACH_LANE d[l] = (s0[l] & ~m[l]) | (s1[l] & m[l]);
}

/* --- additions --- */

static inline uint32_t add_sat_u32(uint32_t a, uint32_t b)
{
	return a + b < a ? ~0u : a + b;
}

static inline uint32_t sub_sat_u32(uint32_t a, uint32_t b)
{
	return a < b ? 0 : a - b;
}

static inline int32_t sat_i32(int64_t v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

static inline int32_t sat_i16(int64_t v)
{
	return v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : (int32_t)v;
}

static inline uint32_t sat_u16(int64_t v)
{
	return v > UINT16_MAX ? UINT16_MAX : v < 0 ? 0 : (uint32_t)v;
}

static inline uint32_t sat_u32(uint64_t v)
{
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* name: CLAMP chooses between the wrapping and the saturating function. */
#define CLAMPED(name)                                                                                              \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		if (x->clamp)                                                                                      \
			name##_sat(x);                                                                             \
		else                                                                                               \
			name##_wrap(x);                                                                            \
	}
#define LANES_2_CLAMPED(name, TD, TA, TB, WRAP, SAT)                                                               \
	LANES_2(name##_wrap, TD, TA, TB, WRAP)                                                                     \
	LANES_2(name##_sat, TD, TA, TB, SAT)                                                                       \
	CLAMPED(name)
#define LANES_3_CLAMPED(name, TD, TA, TB, TC, WRAP, SAT)                                                           \
	LANES_3(name##_wrap, TD, TA, TB, TC, WRAP)                                                                 \
	LANES_3(name##_sat, TD, TA, TB, TC, SAT)                                                                   \
	CLAMPED(name)

LANES_2_CLAMPED(add_u32, u32, u32, u32, a + b, add_sat_u32(a, b))
LANES_2_CLAMPED(sub_u32, u32, u32, u32, a - b, sub_sat_u32(a, b))
LANES_2_CLAMPED(subrev_u32, u32, u32, u32, b - a, sub_sat_u32(b, a))
LANES_2_CLAMPED(add_i32, u32, u32, u32, a + b, (uint32_t)sat_i32((int64_t)(int32_t)a + (int32_t)b))
LANES_2_CLAMPED(sub_i32, u32, u32, u32, a - b, (uint32_t)sat_i32((int64_t)(int32_t)a - (int32_t)b))
LANES_2_CLAMPED(add_u16, u16, u16, u16, a + b, sat_u16((int64_t)a + b))
LANES_2_CLAMPED(sub_u16, u16, u16, u16, a - b, sat_u16((int64_t)a - b))
LANES_2_CLAMPED(subrev_u16, u16, u16, u16, b - a, sat_u16((int64_t)b - a))
LANES_2_CLAMPED(add_i16, i16, i16, i16, a + b, sat_i16((int64_t)a + b))
LANES_2_CLAMPED(sub_i16, i16, i16, i16, a - b, sat_i16((int64_t)a - b))

/* Carry and borrow: sum > 0xffffffff, difference < 0. CLAMP saturates on them. */
#define LANES_CARRY(name, WIDE, SATURATED)                                                                         \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		uint32_t m[ISA_LANES] __attribute__((aligned(64)));                                                \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1], sat = x->clamp ? ~0u : 0;                             \
		uint32_t *d = x->d;                                                                                \
		bits_mask(x->carry, m);                                                                            \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const uint32_t a = s0[l], b = s1[l], in = m[l] & 1;                                        \
			const uint64_t wide = WIDE;                                                                \
			const uint32_t out = wide >> 32 ? ~0u : 0;                                                 \
			d[l] = out & sat ? SATURATED : (uint32_t)wide;                                             \
			m[l] = out;                                                                                \
			(void)in;                                                                                  \
		}                                                                                                  \
		x->carry = mask_bits(m);                                                                           \
	}
LANES_CARRY(addc, (uint64_t)a + b + in, ~0u)
LANES_CARRY(subb, (uint64_t)a - b - in, 0u)
LANES_CARRY(subbrev, (uint64_t)b - a - in, 0u)

/* Without a carry to read. */
#define LANES_CARRY_OUT(name, SUM, CARRY, SATURATED)                                                               \
	static void name(struct isa_lanes *x)                                                                      \
	{                                                                                                          \
		uint32_t m[ISA_LANES] __attribute__((aligned(64)));                                                \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1], sat = x->clamp ? ~0u : 0;                             \
		uint32_t *d = x->d;                                                                                \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const uint32_t a = s0[l], b = s1[l], sum = SUM, out = CARRY ? ~0u : 0;                     \
			d[l] = out & sat ? SATURATED : sum;                                                        \
			m[l] = out;                                                                                \
		}                                                                                                  \
		x->carry = mask_bits(m);                                                                           \
	}
LANES_CARRY_OUT(add_co, a + b, sum < a, ~0u)
LANES_CARRY_OUT(sub_co, a - b, a < b, 0u)
LANES_CARRY_OUT(subrev_co, b - a, b < a, 0u)

LANES_3(add3, u32, u32, u32, u32, a + b + c)
LANES_3(lshl_add, u32, u32, u32, u32, (a << (b & 31)) + c)
LANES_3(add_lshl, u32, u32, u32, u32, (a + b) << (c & 31))
LANES_3(lshl_or, u32, u32, u32, u32, a << (b & 31) | c)
LANES_3(xad, u32, u32, u32, u32, (a ^ b) + c)

/* --- multiplications --- */

static inline int32_t i24(uint32_t a)
{
	return (int32_t)(a << 8) >> 8;
}

static inline uint32_t u24(uint32_t a)
{
	return a & 0xffffff;
}

LANES_2(mul_lo_u32, u32, u32, u32, (a * b))
LANES_2(mul_hi_u32, u32, u32, u32, (uint32_t)(b *(uint64_t)a >> 32))
LANES_2(mul_hi_i32, u32, u32, u32, (uint32_t)((int64_t)(int32_t)a *(int32_t)b >> 32))
LANES_2(mul_i32_i24, u32, u32, u32, (uint32_t)((int64_t)i24(a) * i24(b)))
LANES_2(mul_hi_i32_i24, u32, u32, u32, (uint32_t)((int64_t)i24(a) * i24(b) >> 32))
LANES_2(mul_u32_u24, u32, u32, u32, u24(a) * u24(b))
LANES_2(mul_hi_u32_u24, u32, u32, u32, (uint32_t)((uint64_t)u24(a) * u24(b) >> 32))
LANES_2(mul_lo_u16, u16, u16, u16, b *(uint32_t)a)
LANES_3_CLAMPED(mad_i32_i24, u32, u32, u32, u32, (uint32_t)((int64_t)i24(a) * i24(b)) + c,
		(uint32_t)sat_i32((int64_t)i24(a) * i24(b) + (int32_t)c))
LANES_3_CLAMPED(mad_u32_u24, u32, u32, u32, u32, u24(a) * u24(b) + c, sat_u32((uint64_t)u24(a) * u24(b) + c))
LANES_3_CLAMPED(mad_u32_u16, u32, u16, u16, u32, b *(uint32_t)a + c, sat_u32(b *(uint64_t)a + c))
LANES_3_CLAMPED(mad_i32_i16, u32, i16, i16, u32, (uint32_t)(a *b) + c,
		(uint32_t)sat_i32(b *(int64_t)a + (int32_t)c))
LANES_3_CLAMPED(mad_u16, u16, u16, u16, u16, b *(uint32_t)a + c, sat_u16(b *(int64_t)a + c))
LANES_3_CLAMPED(mad_i16, i16, i16, i16, i16, (uint32_t)(a *b) + (uint32_t)c, sat_i16(b *(int64_t)a + c))

/* --- shifts and fields --- */

LANES_2(lshlrev_b32, u32, u32, u32, b << (a & 31))
LANES_2(lshrrev_b32, u32, u32, u32, b >> (a & 31))
LANES_2(ashrrev_i32, i32, u32, i32, b >> (a & 31))
LANES_2(lshlrev_b16, u16, u16, u16, (uint32_t)b << (a & 15))
LANES_2(lshrrev_b16, u16, u16, u16, b >> (a & 15))
LANES_2(ashrrev_i16, i16, u16, i16, b >> (a & 15))

/* Width 0 gives 0; a field that runs over the top ends there. */
static inline uint32_t bfe_u(uint32_t a, uint32_t offset, uint32_t width)
{
	return a >> (offset & 31) & ((1u << (width & 31)) - 1);
}

static inline uint32_t bfe_i(uint32_t a, uint32_t offset, uint32_t width)
{
	uint32_t o = offset & 31, w = width & 31, cut = o + w > 32 ? 0 : 32 - o - w;
	uint32_t up = a << (cut & 31); /* 32 only for width 0, whose result is unused */

	return w ? (uint32_t)((int32_t)up >> ((cut + o) & 31)) : 0;
}

LANES_3(bfe_u32, u32, u32, u32, u32, bfe_u(a, b, c))
LANES_3(bfe_i32, u32, u32, u32, u32, bfe_i(a, b, c))
LANES_2(bfm, u32, u32, u32, ((1u << (a & 31)) - 1) << (b & 31))
/* S1 is the low dword. */
LANES_3(alignbit, u32, u32, u32, u32, (uint32_t)(((uint64_t)a << 32 | b) >> (c & 31)))
LANES_3(alignbyte, u32, u32, u32, u32, (uint32_t)(((uint64_t)a << 32 | b) >> 8 * (c & 3)))

/* Selector: 0..3 bytes of S1, 4..7 bytes of S0, 8..11 sign of bytes 1, 3, 5, 7, 12 zero, above: 0xff. */
static inline uint32_t perm_byte(uint64_t data, uint32_t selector)
{
	uint32_t s = selector & 255, byte = (uint32_t)(data >> 8 * (s & 7)) & 255;
	uint32_t sign = (uint32_t)(data >> (16 * (s & 3) + 15)) & 1 ? 255 : 0;

	return s < 8 ? byte : s < 12 ? sign : s == 12 ? 0 : 255;
}

static inline uint32_t perm_bytes(uint32_t hi, uint32_t lo, uint32_t selector)
{
	uint64_t data = (uint64_t)hi << 32 | lo;

	return perm_byte(data, selector) | perm_byte(data, selector >> 8) << 8 |
	       perm_byte(data, selector >> 16) << 16 | perm_byte(data, selector >> 24) << 24;
}

LANES_3(perm, u32, u32, u32, u32, perm_bytes(a, b, c))

/* --- counting --- */

static inline uint32_t count_ones(uint32_t a)
{
	a = a - (a >> 1 & 0x55555555);
	a = (a & 0x33333333) + (a >> 2 & 0x33333333);
	a = (a + (a >> 4)) & 0x0f0f0f0f;
	return a * 0x01010101 >> 24;
}

static inline uint32_t reverse_bits(uint32_t a)
{
	a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
	a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
	a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
	a = (a >> 8 & 0x00ff00ff) | (a & 0x00ff00ff) << 8;
	return a >> 16 | a << 16;
}

/* Leading zeros of a nonzero value. */
static inline uint32_t leading_zeros(uint32_t a)
{
	a |= a >> 1;
	a |= a >> 2;
	a |= a >> 4;
	a |= a >> 8;
	a |= a >> 16;
	return 32 - count_ones(a);
}

LANES_1(bfrev, u32, u32, reverse_bits(a))
LANES_1(ffbh_u32, u32, u32, a ? leading_zeros(a) : ~0u)
LANES_1(ffbl_b32, u32, u32, a ? count_ones((a & (0 - a)) - 1) : ~0u)
LANES_1(ffbh_i32, u32, u32, a == 0 || a == ~0u ? ~0u : leading_zeros((int32_t)a < 0 ? ~a : a))
LANES_2(bcnt, u32, u32, u32, count_ones(a) + b)
/* Bits of S0 below this lane, plus S1: for lanes 0..31, then 32..63 of a 64-bit mask. */
LANES_2(mbcnt_lo, u32, u32, u32, count_ones(l < 32 ? a & ((1u << l) - 1) : a) + b)
LANES_2(mbcnt_hi, u32, u32, u32, count_ones(l < 32 ? 0 : a & ((1u << (l - 32)) - 1)) + b)

/* --- minimum, maximum, median --- */

#define MIN(a, b)    ((a) < (b) ? (a) : (b))
#define MAX(a, b)    ((a) > (b) ? (a) : (b))
#define MED(a, b, c) MAX(MIN(a, b), MIN(MAX(a, b), c))
#define LANES_MINMAX(T)                                                                                            \
	LANES_2(min_##T, T, T, T, MIN(a, b))                                                                       \
	LANES_2(max_##T, T, T, T, MAX(a, b))                                                                       \
	LANES_3(min3_##T, T, T, T, T, MIN(MIN(a, b), c))                                                           \
	LANES_3(max3_##T, T, T, T, T, MAX(MAX(a, b), c))                                                           \
	LANES_3(med3_##T, T, T, T, T, MED(a, b, c))
LANES_MINMAX(i32)
LANES_MINMAX(u32)
LANES_3(maxmin_i32, i32, i32, i32, i32, MIN(MAX(a, b), c))
LANES_3(minmax_i32, i32, i32, i32, i32, MAX(MIN(a, b), c))
LANES_3(maxmin_u32, u32, u32, u32, u32, MIN(MAX(a, b), c))
LANES_3(minmax_u32, u32, u32, u32, u32, MAX(MIN(a, b), c))
LANES_MINMAX(i16)
LANES_MINMAX(u16)

/* --- sums of absolute differences --- */

static inline uint32_t absdiff(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static inline uint32_t sad_bytes(uint32_t a, uint32_t b)
{
	return absdiff(a & 255, b & 255) + absdiff(a >> 8 & 255, b >> 8 & 255) +
	       absdiff(a >> 16 & 255, b >> 16 & 255) + absdiff(a >> 24, b >> 24);
}

/* Bytes where the reference b is 0 do not count. */
static inline uint32_t msad_bytes(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (unsigned n = 0; n < 32; n += 8)
		sum += b >> n & 255 ? absdiff(a >> n & 255, b >> n & 255) : 0;
	return sum;
}

/* Per byte: (a + b + lowest bit of c) / 2. */
static inline uint32_t lerp_bytes(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r = 0;

	for (unsigned n = 0; n < 32; n += 8)
		r |= ((a >> n & 255) + (b >> n & 255) + (c >> n & 1)) >> 1 << n;
	return r;
}

LANES_3_CLAMPED(sad_u8, u32, u32, u32, u32, sad_bytes(a, b) + c, add_sat_u32(sad_bytes(a, b), c))
LANES_3_CLAMPED(sad_hi_u8, u32, u32, u32, u32, (sad_bytes(a, b) << 16) + c, add_sat_u32(sad_bytes(a, b) << 16, c))
LANES_3_CLAMPED(sad_u16, u32, u32, u32, u32, absdiff(a & 0xffff, b & 0xffff) + absdiff(a >> 16, b >> 16) + c,
		add_sat_u32(absdiff(a & 0xffff, b & 0xffff) + absdiff(a >> 16, b >> 16), c))
LANES_3_CLAMPED(sad_u32, u32, u32, u32, u32, absdiff(a, b) + c, add_sat_u32(absdiff(a, b), c))
LANES_3_CLAMPED(msad_u8, u32, u32, u32, u32, msad_bytes(a, b) + c, add_sat_u32(msad_bytes(a, b), c))
LANES_3(lerp_u8, u32, u32, u32, u32, lerp_bytes(a, b, c))

/* --- packing --- */

LANES_2(cvt_pk_u16_u32, u32, u32, u32, MIN(a, 0xffffu) | MIN(b, 0xffffu) << 16)
LANES_2(cvt_pk_i16_i32, u32, i32, i32, (uint16_t)sat_i16(a) | (uint32_t)(uint16_t)sat_i16(b) << 16)
LANES_2(pack_b32_f16, u32, u16, u16, a | (uint32_t)b << 16)

static inline uint32_t sat_u8(int32_t v)
{
	return v < 0 ? 0 : v > 255 ? 255 : (uint32_t)v;
}

LANES_1(sat_pk_u8_i16, u32, u32, sat_u8((int16_t)a) | sat_u8((int32_t)a >> 16) << 8)

#define N(ID, fn) {ISA_OP_V_##ID, ISA_FP_NONE, fn}
#define MINMAX(T, t)                                                                                               \
	N(MIN_##T, min_##t), N(MAX_##T, max_##t), N(MIN3_##T, min3_##t), N(MAX3_##T, max3_##t),                    \
		N(MED3_##T, med3_##t)

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_int)[] = {
	N(MOV_B32, mov),
	N(ACCVGPR_READ_B32, mov),
	N(ACCVGPR_WRITE_B32, mov),
	N(ACCVGPR_MOV_B32, mov),
	N(NOT_B32, not32),
	N(AND_B32, and32),
	N(OR_B32, or32),
	N(XOR_B32, xor32),
	N(XNOR_B32, xnor32),
	N(AND_OR_B32, and_or),
	N(OR3_B32, or3),
	N(BFI_B32, bfi),
	N(CNDMASK_B32, cndmask),
	N(ADD_U32, add_u32),
	N(SUB_U32, sub_u32),
	N(SUBREV_U32, subrev_u32),
	N(ADD_I32, add_i32),
	N(SUB_I32, sub_i32),
	N(ADD_U16, add_u16),
	N(SUB_U16, sub_u16),
	N(SUBREV_U16, subrev_u16),
	N(ADD_I16, add_i16),
	N(SUB_I16, sub_i16),
	N(ADDC_CO_U32, addc),
	N(SUBB_CO_U32, subb),
	N(SUBBREV_CO_U32, subbrev),
	N(ADD_CO_U32, add_co),
	N(SUB_CO_U32, sub_co),
	N(SUBREV_CO_U32, subrev_co),
	N(ADD3_U32, add3),
	N(LSHL_ADD_U32, lshl_add),
	N(ADD_LSHL_U32, add_lshl),
	N(LSHL_OR_B32, lshl_or),
	N(XAD_U32, xad),
	N(MUL_LO_U32, mul_lo_u32),
	N(MUL_HI_U32, mul_hi_u32),
	N(MUL_HI_I32, mul_hi_i32),
	N(MUL_I32_I24, mul_i32_i24),
	N(MUL_HI_I32_I24, mul_hi_i32_i24),
	N(MUL_U32_U24, mul_u32_u24),
	N(MUL_HI_U32_U24, mul_hi_u32_u24),
	N(MUL_LO_U16, mul_lo_u16),
	N(MAD_I32_I24, mad_i32_i24),
	N(MAD_U32_U24, mad_u32_u24),
	N(MAD_U32_U16, mad_u32_u16),
	N(MAD_I32_I16, mad_i32_i16),
	N(MAD_U16, mad_u16),
	N(MAD_I16, mad_i16),
	N(MAD_LEGACY_U16, mad_u16),
	N(MAD_LEGACY_I16, mad_i16),
	N(LSHLREV_B32, lshlrev_b32),
	N(LSHRREV_B32, lshrrev_b32),
	N(ASHRREV_I32, ashrrev_i32),
	N(LSHLREV_B16, lshlrev_b16),
	N(LSHRREV_B16, lshrrev_b16),
	N(ASHRREV_I16, ashrrev_i16),
	N(BFE_U32, bfe_u32),
	N(BFE_I32, bfe_i32),
	N(BFM_B32, bfm),
	N(ALIGNBIT_B32, alignbit),
	N(ALIGNBYTE_B32, alignbyte),
	N(PERM_B32, perm),
	N(BFREV_B32, bfrev),
	N(FFBH_U32, ffbh_u32),
	N(FFBL_B32, ffbl_b32),
	N(FFBH_I32, ffbh_i32),
	N(BCNT_U32_B32, bcnt),
	N(MBCNT_LO_U32_B32, mbcnt_lo),
	N(MBCNT_HI_U32_B32, mbcnt_hi),
	N(XOR3_B32, xor3),
	N(MOV_B16, mov16),
	N(NOT_B16, not16),
	N(AND_B16, and32),
	N(OR_B16, or32),
	N(XOR_B16, xor32),
	N(CNDMASK_B16, cndmask),
	N(CVT_I32_I16, sext16),
	N(CVT_U32_U16, mov16),
	N(MUL_LO_I32, mul_lo_u32),
	N(MAXMIN_I32, maxmin_i32),
	N(MINMAX_I32, minmax_i32),
	N(MAXMIN_U32, maxmin_u32),
	N(MINMAX_U32, minmax_u32),
	MINMAX(I32, i32),
	MINMAX(U32, u32),
	MINMAX(I16, i16),
	MINMAX(U16, u16),
	N(SAD_U8, sad_u8),
	N(SAD_HI_U8, sad_hi_u8),
	N(SAD_U16, sad_u16),
	N(SAD_U32, sad_u32),
	N(MSAD_U8, msad_u8),
	N(LERP_U8, lerp_u8),
	N(CVT_PK_U16_U32, cvt_pk_u16_u32),
	N(CVT_PK_I16_I32, cvt_pk_i16_i32),
	N(PACK_B32_F16, pack_b32_f16),
	N(SAT_PK_U8_I16, sat_pk_u8_i16),
	{ISA_OP_NONE, 0, NULL},
};
