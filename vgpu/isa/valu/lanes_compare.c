/* Lane functions: compares, and classes of floats. MXCSR flushes denormal f32 and f64 operands by MODE. */
#include "vgpu/isa/half.h"
#include "vgpu/isa/valu/lanes.h"

/* The sixteen relations; n.. is "not ..", true for unordered operands. */
#define RELATIONS(X, T)                                                                                            \
	X(lt, T, a < b)                                                                                            \
	X(eq, T, a == b)                                                                                           \
	X(le, T, a <= b)                                                                                           \
	X(gt, T, a > b)                                                                                            \
	X(lg, T, a<b || a> b)                                                                                      \
	X(ge, T, a >= b)                                                                                           \
	X(o, T, !__builtin_isunordered(a, b))                                                                      \
	X(u, T, __builtin_isunordered(a, b))                                                                       \
	X(nge, T, !(a >= b))                                                                                       \
	X(nlg, T, !(a < b || a > b))                                                                               \
	X(ngt, T, !(a > b))                                                                                        \
	X(nle, T, !(a <= b))                                                                                       \
	X(neq, T, !(a == b))                                                                                       \
	X(nlt, T, !(a < b))

#define COMPARE(name, T, EXPR) LANES_COMPARE(cmp_##name##_##T, T, T, EXPR)
RELATIONS(COMPARE, f32)
RELATIONS(COMPARE, f64)

/* f16 as floats, which hold them exactly. */
typedef float t_f16;
#define LD_f16(p, l) half_to_float(keep_f16 ? (p)[l] & 0xffff : flush16((p)[l] & 0xffff))
#define COMPARE_F16(name, T, EXPR)                                                                                 \
	static void cmp_##name##_f16(struct isa_lanes *x)                                                          \
	{                                                                                                          \
		uint32_t m[ISA_LANES] __attribute__((aligned(64)));                                                \
		const uint32_t *s0 = x->s[0], *s1 = x->s[1];                                                       \
		const bool keep_f16 = keeps_in64(x->mode);                                                         \
		EACH_LANE                                                                                          \
		{                                                                                                  \
			const float a = LD_f16(s0, l), b = LD_f16(s1, l);                                          \
			m[l] = (EXPR) ? ~0u : 0;                                                                   \
		}                                                                                                  \
		x->carry = mask_bits(m);                                                                           \
	}
RELATIONS(COMPARE_F16, f16)

static void cmp_never(struct isa_lanes *x)
{
	x->carry = 0;
}

static void cmp_always(struct isa_lanes *x)
{
	x->carry = ~0ull;
}

/* Bits of v_cmp_class: signalling NaN, quiet NaN, -infinity, -normal, -denormal, -0, +0, +denormal, +normal,
 * +infinity. */
static inline uint32_t class_of(bool nan, bool quiet, bool inf, bool zero, bool denormal, bool negative)
{
	unsigned magnitude = zero ? 0 : denormal ? 1 : inf ? 3 : 2;

	if (nan)
		return quiet ? 2 : 1;
	return negative ? 1u << (5 - magnitude) : 1u << (6 + magnitude);
}

static inline uint32_t class32(uint32_t a)
{
	uint32_t m = a & 0x7fffffff;

	return class_of(is_nan32(a), a & 0x400000, m == 0x7f800000, !m, m < 0x800000, a >> 31);
}

static inline uint32_t class64(uint64_t a)
{
	uint64_t m = a & 0x7fffffffffffffffull;

	return class_of(is_nan64(a), a & 0x8000000000000ull, m == 0x7ff0000000000000ull, !m,
			m < 0x10000000000000ull, a >> 63);
}

static inline uint32_t class16(uint32_t a)
{
	uint32_t m = a & 0x7fff;

	return class_of(is_nan16(a), a & 0x200, m == 0x7c00, !m, m < 0x400, a >> 15 & 1);
}

LANES_COMPARE(class_f32, u32, u32, class32(a) & b)
LANES_COMPARE(class_f64, u64, u32, class64(a) & b)
LANES_COMPARE(class_f16, u16, u32, class16(a) & b)

#define INTEGER_RELATIONS(T)                                                                                       \
	LANES_COMPARE(cmp_lt_##T, T, T, a < b)                                                                     \
	LANES_COMPARE(cmp_eq_##T, T, T, a == b)                                                                    \
	LANES_COMPARE(cmp_le_##T, T, T, a <= b)                                                                    \
	LANES_COMPARE(cmp_gt_##T, T, T, a > b)                                                                     \
	LANES_COMPARE(cmp_ne_##T, T, T, a != b)                                                                    \
	LANES_COMPARE(cmp_ge_##T, T, T, a >= b)
INTEGER_RELATIONS(i16)
INTEGER_RELATIONS(u16)
INTEGER_RELATIONS(i32)
INTEGER_RELATIONS(u32)
INTEGER_RELATIONS(i64)
INTEGER_RELATIONS(u64)

#define ROW(X, ID, T, FP, fn) {ISA_OP_V_##X##_##ID##_##T, FP, fn}
#define BOTH(ID, T, FP, fn)   ROW(CMP, ID, T, FP, fn), ROW(CMPX, ID, T, FP, fn)
#define ALL_RELATIONS(T, t, FP)                                                                                    \
	BOTH(F, T, FP, cmp_never), BOTH(LT, T, FP, cmp_lt_##t), BOTH(EQ, T, FP, cmp_eq_##t),                       \
		BOTH(LE, T, FP, cmp_le_##t), BOTH(GT, T, FP, cmp_gt_##t), BOTH(LG, T, FP, cmp_lg_##t),             \
		BOTH(GE, T, FP, cmp_ge_##t), BOTH(O, T, FP, cmp_o_##t), BOTH(U, T, FP, cmp_u_##t),                 \
		BOTH(NGE, T, FP, cmp_nge_##t), BOTH(NLG, T, FP, cmp_nlg_##t), BOTH(NGT, T, FP, cmp_ngt_##t),       \
		BOTH(NLE, T, FP, cmp_nle_##t), BOTH(NEQ, T, FP, cmp_neq_##t), BOTH(NLT, T, FP, cmp_nlt_##t),       \
		BOTH(TRU, T, FP, cmp_always), BOTH(CLASS, T, ISA_FP_NONE, class_##t)
#define ALL_OF_INTEGERS(TYPE, t)                                                                                   \
	BOTH(F, TYPE, ISA_FP_NONE, cmp_never), BOTH(LT, TYPE, ISA_FP_NONE, cmp_lt_##t),                            \
		BOTH(EQ, TYPE, ISA_FP_NONE, cmp_eq_##t), BOTH(LE, TYPE, ISA_FP_NONE, cmp_le_##t),                  \
		BOTH(GT, TYPE, ISA_FP_NONE, cmp_gt_##t), BOTH(NE, TYPE, ISA_FP_NONE, cmp_ne_##t),                  \
		BOTH(GE, TYPE, ISA_FP_NONE, cmp_ge_##t), BOTH(T, TYPE, ISA_FP_NONE, cmp_always)

const struct isa_lane_op ISA_LANES_NAME(isa_lanes_compare)[] = {
	ALL_RELATIONS(F32, f32, ISA_FP_32),
	ALL_RELATIONS(F64, f64, ISA_FP_64),
	ALL_RELATIONS(F16, f16, ISA_FP_EXACT),
	ALL_OF_INTEGERS(I16, i16),
	ALL_OF_INTEGERS(U16, u16),
	ALL_OF_INTEGERS(I32, i32),
	ALL_OF_INTEGERS(U32, u32),
	ALL_OF_INTEGERS(I64, i64),
	ALL_OF_INTEGERS(U64, u64),
	{ISA_OP_NONE, 0, NULL},
};
