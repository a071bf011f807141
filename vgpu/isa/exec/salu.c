/* Scalar ALU: SOP1, SOP2, SOPK, SOPC. Program control is in control.c.
 *
 * SCC: "result is not zero" for logic, shifts by registers and counts; carry, borrow or signed overflow for
 * additions; untouched by moves, multiplications and s_cselect. */
#include "vgpu/isa/exec/salu.h"

#define S_FN(name) static const struct isa_inst *s_##name(struct isa_wave *w, const struct isa_inst *i)

/* r from sources a and b; `scc` may be read, and assigned to change it. */
#define S_OP(name, TD, TA, TB, STATEMENTS)                                                                         \
	S_FN(name)                                                                                                 \
	{                                                                                                          \
		const TA a = (TA)SRC_##TA(w, i, 0);                                                                \
		const TB b = (TB)SRC_##TB(w, i, 1);                                                                \
		bool scc = w->scc;                                                                                 \
		TD r;                                                                                              \
		(void)b;                                                                                           \
		STATEMENTS;                                                                                        \
		DST_##TD(w, i, r);                                                                                 \
		w->scc = scc;                                                                                      \
		return i + 1;                                                                                      \
	}

#define SRC_uint32_t(w, i, n) isa_salu_src32(w, i, n)
#define SRC_int32_t(w, i, n)  isa_salu_src32(w, i, n)
#define SRC_uint64_t(w, i, n) isa_salu_src64(w, i, n)
#define SRC_int64_t(w, i, n)  isa_salu_src64(w, i, n)
#define SRC_none_t(w, i, n)   0
#define DST_uint32_t(w, i, r) ((w)->s[(i)->salu.dst] = (r))
#define DST_uint64_t(w, i, r) isa_swrite64(w, (i)->salu.dst, r)
typedef uint8_t none_t;

/* Both widths of a logic operation. */
#define S_LOGIC(name, EXPR)                                                                                        \
	S_OP(name##_b32, uint32_t, uint32_t, uint32_t, r = EXPR; scc = r != 0)                                     \
	S_OP(name##_b64, uint64_t, uint64_t, uint64_t, r = EXPR; scc = r != 0)
S_LOGIC(and, a &b)
S_LOGIC(or, a | b)
S_LOGIC(xor, a ^ b)
S_LOGIC(andn2, a & ~b)
S_LOGIC(orn2, a | ~b)
S_LOGIC(nand, ~(a &b))
S_LOGIC(nor, ~(a | b))
S_LOGIC(xnor, ~(a ^ b))
S_OP(not_b32, uint32_t, uint32_t, none_t, r = ~a; scc = r != 0)
S_OP(not_b64, uint64_t, uint64_t, none_t, r = ~a; scc = r != 0)

/* Unsigned additions set SCC to the carry; signed ones to the overflow. */
S_OP(add_u32, uint32_t, uint32_t, uint32_t, scc = __builtin_add_overflow(a, b, &r))
S_OP(sub_u32, uint32_t, uint32_t, uint32_t, scc = __builtin_sub_overflow(a, b, &r))
S_OP(add_i32, uint32_t, int32_t, int32_t, int32_t t; scc = __builtin_add_overflow(a, b, &t); r = (uint32_t)t)
S_OP(sub_i32, uint32_t, int32_t, int32_t, int32_t t; scc = __builtin_sub_overflow(a, b, &t); r = (uint32_t)t)
S_OP(addc_u32, uint32_t, uint32_t, uint32_t, uint64_t t = (uint64_t)a + b + scc; r = (uint32_t)t; scc = t >> 32)
S_OP(subb_u32, uint32_t, uint32_t, uint32_t, uint64_t t = (uint64_t)a - b - scc; r = (uint32_t)t; scc = t >> 63)
S_OP(add_nc_u64, uint64_t, uint64_t, uint64_t, r = a + b)
S_OP(sub_nc_u64, uint64_t, uint64_t, uint64_t, r = a - b)
S_OP(mul_u64, uint64_t, uint64_t, uint64_t, r = a * b)
S_OP(mul_i32, uint32_t, uint32_t, uint32_t, r = a * b)
S_OP(mul_hi_u32, uint32_t, uint32_t, uint32_t, r = (uint32_t)((uint64_t)a * b >> 32))
S_OP(mul_hi_i32, uint32_t, int32_t, int32_t, r = (uint32_t)((int64_t)a * b >> 32))
S_OP(absdiff_i32, uint32_t, uint32_t, uint32_t, r = a - b; r = (int32_t)r < 0 ? 0 - r : r; scc = r != 0)
S_OP(abs_i32, uint32_t, uint32_t, none_t, r = (int32_t)a < 0 ? 0 - a : a; scc = r != 0)
#define S_LSHL_ADD(n)                                                                                              \
	S_OP(lshl##n##_add_u32, uint32_t, uint32_t, uint32_t, uint64_t t = ((uint64_t)a << n) + b;                 \
	     r = (uint32_t)t; scc = t >> 32 != 0)
S_LSHL_ADD(1)
S_LSHL_ADD(2)
S_LSHL_ADD(3)
S_LSHL_ADD(4)

/* SCC: the first operand was taken. */
S_OP(min_i32, uint32_t, int32_t, int32_t, scc = a < b; r = (uint32_t)(scc ? a : b))
S_OP(max_i32, uint32_t, int32_t, int32_t, scc = a > b; r = (uint32_t)(scc ? a : b))
S_OP(min_u32, uint32_t, uint32_t, uint32_t, scc = a < b; r = scc ? a : b)
S_OP(max_u32, uint32_t, uint32_t, uint32_t, scc = a > b; r = scc ? a : b)

S_OP(cselect_b32, uint32_t, uint32_t, uint32_t, r = scc ? a : b)
S_OP(cselect_b64, uint64_t, uint64_t, uint64_t, r = scc ? a : b)
S_OP(mov_b32, uint32_t, uint32_t, none_t, r = a)
S_OP(mov_b64, uint64_t, uint64_t, none_t, r = a)
S_OP(cmov_b32, uint32_t, uint32_t, none_t, r = scc ? a : w->s[i->salu.dst])
S_OP(cmov_b64, uint64_t, uint64_t, none_t, r = scc ? a : isa_sread64(w, i->salu.dst))

S_OP(lshl_b32, uint32_t, uint32_t, uint32_t, r = a << (b & 31); scc = r != 0)
S_OP(lshr_b32, uint32_t, uint32_t, uint32_t, r = a >> (b & 31); scc = r != 0)
S_OP(ashr_i32, uint32_t, int32_t, uint32_t, r = (uint32_t)(a >> (b & 31)); scc = r != 0)
S_OP(lshl_b64, uint64_t, uint64_t, uint32_t, r = a << (b & 63); scc = r != 0)
S_OP(lshr_b64, uint64_t, uint64_t, uint32_t, r = a >> (b & 63); scc = r != 0)
S_OP(ashr_i64, uint64_t, int64_t, uint32_t, r = (uint64_t)(a >> (b & 63)); scc = r != 0)
S_OP(bfm_b32, uint32_t, uint32_t, uint32_t, r = ((1u << (a & 31)) - 1) << (b & 31))
S_OP(bfm_b64, uint64_t, uint32_t, uint32_t, r = ((1ull << (a & 63)) - 1) << (b & 63))

/* Field extraction: offset in b 4:0 (5:0), width in b 22:16; fields that run over the top are cut there. */
static uint64_t extract(uint64_t value, unsigned offset, unsigned width, unsigned bits, bool is_signed)
{
	if (!width)
		return 0;
	if (offset + width >= bits)
		width = bits - offset;
	value = value << (64 - offset - width);
	return is_signed ? (uint64_t)((int64_t)value >> (64 - width)) : value >> (64 - width);
}

S_OP(bfe_u32, uint32_t, uint32_t, uint32_t, r = (uint32_t)extract(a, b & 31, b >> 16 & 127, 32, false);
     scc = r != 0)
S_OP(bfe_i32, uint32_t, uint32_t, uint32_t, r = (uint32_t)extract(a, b & 31, b >> 16 & 127, 32, true); scc = r != 0)
S_OP(bfe_u64, uint64_t, uint64_t, uint32_t, r = extract(a, b & 63, b >> 16 & 127, 64, false); scc = r != 0)
S_OP(bfe_i64, uint64_t, uint64_t, uint32_t, r = extract(a, b & 63, b >> 16 & 127, 64, true); scc = r != 0)

S_OP(pack_ll_b32_b16, uint32_t, uint32_t, uint32_t, r = (a & 0xffff) | b << 16)
S_OP(pack_lh_b32_b16, uint32_t, uint32_t, uint32_t, r = (a & 0xffff) | (b & 0xffff0000))
S_OP(pack_hl_b32_b16, uint32_t, uint32_t, uint32_t, r = a >> 16 | b << 16)
S_OP(pack_hh_b32_b16, uint32_t, uint32_t, uint32_t, r = a >> 16 | (b & 0xffff0000))

/* Any bit of a group of four sets the whole group (wqm), or one bit (quadmask). */
static uint64_t any_of_four(uint64_t a)
{
	a |= a >> 1;
	a |= a >> 2;
	return a & 0x1111111111111111ull;
}

static uint64_t gather_quads(uint64_t a)
{
	uint64_t r = 0;

	a = any_of_four(a);
	for (unsigned n = 0; n < 16; n++)
		r |= (a >> (4 * n) & 1) << n;
	return r;
}

S_OP(wqm_b32, uint32_t, uint32_t, none_t, r = (uint32_t)(any_of_four(a) * 15); scc = r != 0)
S_OP(wqm_b64, uint64_t, uint64_t, none_t, r = any_of_four(a) * 15; scc = r != 0)
S_OP(quadmask_b32, uint32_t, uint32_t, none_t, r = (uint32_t)gather_quads(a); scc = r != 0)
S_OP(quadmask_b64, uint64_t, uint64_t, none_t, r = gather_quads(a); scc = r != 0)

static uint64_t reverse_bits64(uint64_t a)
{
	a = (a >> 1 & 0x5555555555555555ull) | (a & 0x5555555555555555ull) << 1;
	a = (a >> 2 & 0x3333333333333333ull) | (a & 0x3333333333333333ull) << 2;
	a = (a >> 4 & 0x0f0f0f0f0f0f0f0full) | (a & 0x0f0f0f0f0f0f0f0full) << 4;
	return __builtin_bswap64(a);
}

/* Each bit twice. */
static uint64_t replicate_bits(uint32_t a)
{
	uint64_t r = 0;

	for (unsigned n = 0; n < 32; n++)
		r |= (uint64_t)(a >> n & 1) * 3 << (2 * n);
	return r;
}

S_OP(brev_b32, uint32_t, uint32_t, none_t, r = (uint32_t)(reverse_bits64(a) >> 32))
S_OP(brev_b64, uint64_t, uint64_t, none_t, r = reverse_bits64(a))
S_OP(bitreplicate_b64_b32, uint64_t, uint32_t, none_t, r = replicate_bits(a))
S_OP(bcnt0_i32_b32, uint32_t, uint32_t, none_t, r = 32 - (uint32_t)__builtin_popcount(a); scc = r != 0)
S_OP(bcnt0_i32_b64, uint32_t, uint64_t, none_t, r = 64 - (uint32_t)__builtin_popcountll(a); scc = r != 0)
S_OP(bcnt1_i32_b32, uint32_t, uint32_t, none_t, r = (uint32_t)__builtin_popcount(a); scc = r != 0)
S_OP(bcnt1_i32_b64, uint32_t, uint64_t, none_t, r = (uint32_t)__builtin_popcountll(a); scc = r != 0)
S_OP(ff0_i32_b32, uint32_t, uint32_t, none_t, r = ~a ? (uint32_t)__builtin_ctz(~a) : ~0u)
S_OP(ff0_i32_b64, uint32_t, uint64_t, none_t, r = ~a ? (uint32_t)__builtin_ctzll(~a) : ~0u)
S_OP(ff1_i32_b32, uint32_t, uint32_t, none_t, r = a ? (uint32_t)__builtin_ctz(a) : ~0u)
S_OP(ff1_i32_b64, uint32_t, uint64_t, none_t, r = a ? (uint32_t)__builtin_ctzll(a) : ~0u)
S_OP(flbit_i32_b32, uint32_t, uint32_t, none_t, r = a ? (uint32_t)__builtin_clz(a) : ~0u)
S_OP(flbit_i32_b64, uint32_t, uint64_t, none_t, r = a ? (uint32_t)__builtin_clzll(a) : ~0u)
/* Leading bits equal to the sign; all of them: -1. */
S_OP(flbit_i32, uint32_t, int32_t, none_t, uint32_t t = (uint32_t)(a < 0 ? ~a : a);
     r = t ? (uint32_t)__builtin_clz(t) : ~0u)
S_OP(flbit_i32_i64, uint32_t, int64_t, none_t, uint64_t t = (uint64_t)(a < 0 ? ~a : a);
     r = t ? (uint32_t)__builtin_clzll(t) : ~0u)
S_OP(sext_i32_i8, uint32_t, uint32_t, none_t, r = (uint32_t)(int8_t)a)
S_OP(sext_i32_i16, uint32_t, uint32_t, none_t, r = (uint32_t)(int16_t)a)
S_OP(bitset0_b32, uint32_t, uint32_t, none_t, r = w->s[i->salu.dst] & ~(1u << (a & 31)))
S_OP(bitset1_b32, uint32_t, uint32_t, none_t, r = w->s[i->salu.dst] | 1u << (a & 31))
S_OP(bitset0_b64, uint64_t, uint32_t, none_t, r = isa_sread64(w, i->salu.dst) & ~(1ull << (a & 63)))
S_OP(bitset1_b64, uint64_t, uint32_t, none_t, r = isa_sread64(w, i->salu.dst) | 1ull << (a & 63))

/* Copies EXEC to the destination and computes the new EXEC from it (e) and the source (a). The source is read
 * first: it may be the destination. */
#define S_SAVEEXEC(name, EXPR)                                                                                     \
	S_FN(name##_saveexec_b64)                                                                                  \
	{                                                                                                          \
		const uint64_t a = isa_salu_src64(w, i, 0), e = isa_exec(w), r = EXPR;                             \
		isa_swrite64(w, i->salu.dst, e);                                                                   \
		isa_set_exec(w, r);                                                                                \
		w->scc = r != 0;                                                                                   \
		return i + 1;                                                                                      \
	}                                                                                                          \
	S_FN(name##_saveexec_b32)                                                                                  \
	{                                                                                                          \
		const uint32_t a = isa_salu_src32(w, i, 0), e = w->s[ISA_EXEC], r = EXPR;                          \
		w->s[i->salu.dst] = e;                                                                             \
		w->s[ISA_EXEC] = r;                                                                                \
		w->scc = r != 0;                                                                                   \
		return i + 1;                                                                                      \
	}
S_SAVEEXEC(and, a &e)
S_SAVEEXEC(or, a | e)
S_SAVEEXEC(xor, a ^ e)
S_SAVEEXEC(andn2, a & ~e)
S_SAVEEXEC(orn2, a | ~e)
S_SAVEEXEC(nand, ~(a &e))
S_SAVEEXEC(nor, ~(a | e))
S_SAVEEXEC(xnor, ~(a ^ e))
S_SAVEEXEC(andn1, ~a &e)
S_SAVEEXEC(orn1, ~a | e)

/* Copies the new EXEC to the destination, too. */
#define S_WREXEC(name, EXPR)                                                                                       \
	S_FN(name##_wrexec_b64)                                                                                    \
	{                                                                                                          \
		const uint64_t a = isa_salu_src64(w, i, 0), e = isa_exec(w), r = EXPR;                             \
		isa_set_exec(w, r);                                                                                \
		isa_swrite64(w, i->salu.dst, r);                                                                   \
		w->scc = r != 0;                                                                                   \
		return i + 1;                                                                                      \
	}                                                                                                          \
	S_FN(name##_wrexec_b32)                                                                                    \
	{                                                                                                          \
		const uint32_t a = isa_salu_src32(w, i, 0), e = w->s[ISA_EXEC], r = EXPR;                          \
		w->s[ISA_EXEC] = r;                                                                                \
		w->s[i->salu.dst] = r;                                                                             \
		w->scc = r != 0;                                                                                   \
		return i + 1;                                                                                      \
	}
S_WREXEC(andn1, ~a &e)
S_WREXEC(andn2, a & ~e)

/* Relative to M0. Above the SGPRs that are granted s0 is read and nothing written, row 93. */
static const struct isa_inst *s_movrel(struct isa_wave *w, const struct isa_inst *i, bool source, unsigned dw)
{
	uint64_t code = (uint64_t)(source ? i->salu.src[0] : i->salu.dst) + w->s[ISA_M0];
	unsigned from = source ? (unsigned)code : i->salu.src[0], to = source ? i->salu.dst : (unsigned)code;

	if (code + dw > isa_sgprs(w->machine)) {
		isa_report_beyond(w, i->pc);
		if (!source)
			return i + 1;
		from = 0;
	}
	if (dw == 2)
		isa_swrite64(w, to, source ? isa_sread64(w, from) : isa_salu_src64(w, i, 0));
	else
		w->s[to] = source ? w->s[from] : isa_salu_src32(w, i, 0);
	return i + 1;
}

S_FN(movrels_b32)
{
	return s_movrel(w, i, true, 1);
}

S_FN(movrels_b64)
{
	return s_movrel(w, i, true, 2);
}

S_FN(movreld_b32)
{
	return s_movrel(w, i, false, 1);
}

S_FN(movreld_b64)
{
	return s_movrel(w, i, false, 2);
}

/* Both operands relative to M0: the source to 9:0, the result to 25:16. */
S_FN(movrelsd_2_b32)
{
	unsigned from = i->salu.src[0] + (w->s[ISA_M0] & 0x3ff), to = i->salu.dst + (w->s[ISA_M0] >> 16 & 0x3ff);
	unsigned count = isa_sgprs(w->machine);

	if (from >= count || to >= count)
		isa_report_beyond(w, i->pc);
	if (to < count)
		w->s[to] = w->s[from < count ? from : 0];
	return i + 1;
}

/* --- SOPC, SOPK --- */

#define S_COMPARE(name, T, TB, EXPR)                                                                               \
	S_FN(name)                                                                                                 \
	{                                                                                                          \
		const T a = (T)SRC_##T(w, i, 0);                                                                   \
		const TB b = (TB)SRC_##TB(w, i, 1);                                                                \
		w->scc = EXPR;                                                                                     \
		return i + 1;                                                                                      \
	}
/* Compares with the 16-bit immediate: signed, or zero-extended for unsigned compares. */
#define S_COMPARE_K(name, T, K, EXPR)                                                                              \
	S_FN(name)                                                                                                 \
	{                                                                                                          \
		const T a = (T)w->s[i->salu.src[0]];                                                               \
		const T b = (K)i->salu.simm;                                                                       \
		w->scc = EXPR;                                                                                     \
		return i + 1;                                                                                      \
	}
#define S_COMPARES(name, EXPR)                                                                                     \
	S_COMPARE(cmp_##name##_i32, int32_t, int32_t, EXPR)                                                        \
	S_COMPARE(cmp_##name##_u32, uint32_t, uint32_t, EXPR)                                                      \
	S_COMPARE_K(cmpk_##name##_i32, int32_t, int16_t, EXPR)                                                     \
	S_COMPARE_K(cmpk_##name##_u32, uint32_t, uint16_t, EXPR)
S_COMPARES(eq, a == b)
S_COMPARES(lg, a != b)
S_COMPARES(gt, a > b)
S_COMPARES(ge, a >= b)
S_COMPARES(lt, a < b)
S_COMPARES(le, a <= b)
S_COMPARE(cmp_eq_u64, uint64_t, uint64_t, a == b)
S_COMPARE(cmp_lg_u64, uint64_t, uint64_t, a != b)
S_COMPARE(bitcmp0_b32, uint32_t, uint32_t, !(a >> (b & 31) & 1))
S_COMPARE(bitcmp1_b32, uint32_t, uint32_t, a >> (b & 31) & 1)
S_COMPARE(bitcmp0_b64, uint64_t, uint32_t, !(a >> (b & 63) & 1))
S_COMPARE(bitcmp1_b64, uint64_t, uint32_t, a >> (b & 63) & 1)

S_FN(movk_i32)
{
	w->s[i->salu.dst] = (uint32_t)i->salu.simm;
	return i + 1;
}

S_FN(cmovk_i32)
{
	if (w->scc)
		w->s[i->salu.dst] = (uint32_t)i->salu.simm;
	return i + 1;
}

S_FN(addk_i32)
{
	int32_t r;

	w->scc = __builtin_add_overflow((int32_t)w->s[i->salu.dst], i->salu.simm, &r);
	w->s[i->salu.dst] = (uint32_t)r;
	return i + 1;
}

S_FN(mulk_i32)
{
	w->s[i->salu.dst] *= (uint32_t)i->salu.simm;
	return i + 1;
}

#define MASK32(ID, name) {ISA_OP_S_##ID##_B32, s_##name##_b32}

const struct isa_handler isa_salu_handlers[] = {
	MASK32(AND_SAVEEXEC, and_saveexec),
	MASK32(OR_SAVEEXEC, or_saveexec),
	MASK32(XOR_SAVEEXEC, xor_saveexec),
	MASK32(ANDN2_SAVEEXEC, andn2_saveexec),
	MASK32(ORN2_SAVEEXEC, orn2_saveexec),
	MASK32(NAND_SAVEEXEC, nand_saveexec),
	MASK32(NOR_SAVEEXEC, nor_saveexec),
	MASK32(XNOR_SAVEEXEC, xnor_saveexec),
	MASK32(ANDN1_SAVEEXEC, andn1_saveexec),
	MASK32(ORN1_SAVEEXEC, orn1_saveexec),
	MASK32(ANDN1_WREXEC, andn1_wrexec),
	MASK32(ANDN2_WREXEC, andn2_wrexec),
	MASK32(MOVRELSD_2, movrelsd_2),
	{ISA_OP_S_PACK_HL_B32_B16, s_pack_hl_b32_b16},
	{ISA_OP_S_ADD_NC_U64, s_add_nc_u64},
	{ISA_OP_S_SUB_NC_U64, s_sub_nc_u64},
	{ISA_OP_S_MUL_U64, s_mul_u64},
	{ISA_OP_S_ADD_U32, s_add_u32},
	{ISA_OP_S_SUB_U32, s_sub_u32},
	{ISA_OP_S_ADD_I32, s_add_i32},
	{ISA_OP_S_SUB_I32, s_sub_i32},
	{ISA_OP_S_ADDC_U32, s_addc_u32},
	{ISA_OP_S_SUBB_U32, s_subb_u32},
	{ISA_OP_S_MIN_I32, s_min_i32},
	{ISA_OP_S_MIN_U32, s_min_u32},
	{ISA_OP_S_MAX_I32, s_max_i32},
	{ISA_OP_S_MAX_U32, s_max_u32},
	{ISA_OP_S_CSELECT_B32, s_cselect_b32},
	{ISA_OP_S_CSELECT_B64, s_cselect_b64},
	{ISA_OP_S_AND_B32, s_and_b32},
	{ISA_OP_S_AND_B64, s_and_b64},
	{ISA_OP_S_OR_B32, s_or_b32},
	{ISA_OP_S_OR_B64, s_or_b64},
	{ISA_OP_S_XOR_B32, s_xor_b32},
	{ISA_OP_S_XOR_B64, s_xor_b64},
	{ISA_OP_S_ANDN2_B32, s_andn2_b32},
	{ISA_OP_S_ANDN2_B64, s_andn2_b64},
	{ISA_OP_S_ORN2_B32, s_orn2_b32},
	{ISA_OP_S_ORN2_B64, s_orn2_b64},
	{ISA_OP_S_NAND_B32, s_nand_b32},
	{ISA_OP_S_NAND_B64, s_nand_b64},
	{ISA_OP_S_NOR_B32, s_nor_b32},
	{ISA_OP_S_NOR_B64, s_nor_b64},
	{ISA_OP_S_XNOR_B32, s_xnor_b32},
	{ISA_OP_S_XNOR_B64, s_xnor_b64},
	{ISA_OP_S_LSHL_B32, s_lshl_b32},
	{ISA_OP_S_LSHL_B64, s_lshl_b64},
	{ISA_OP_S_LSHR_B32, s_lshr_b32},
	{ISA_OP_S_LSHR_B64, s_lshr_b64},
	{ISA_OP_S_ASHR_I32, s_ashr_i32},
	{ISA_OP_S_ASHR_I64, s_ashr_i64},
	{ISA_OP_S_BFM_B32, s_bfm_b32},
	{ISA_OP_S_BFM_B64, s_bfm_b64},
	{ISA_OP_S_MUL_I32, s_mul_i32},
	{ISA_OP_S_BFE_U32, s_bfe_u32},
	{ISA_OP_S_BFE_I32, s_bfe_i32},
	{ISA_OP_S_BFE_U64, s_bfe_u64},
	{ISA_OP_S_BFE_I64, s_bfe_i64},
	{ISA_OP_S_ABSDIFF_I32, s_absdiff_i32},
	{ISA_OP_S_MUL_HI_U32, s_mul_hi_u32},
	{ISA_OP_S_MUL_HI_I32, s_mul_hi_i32},
	{ISA_OP_S_LSHL1_ADD_U32, s_lshl1_add_u32},
	{ISA_OP_S_LSHL2_ADD_U32, s_lshl2_add_u32},
	{ISA_OP_S_LSHL3_ADD_U32, s_lshl3_add_u32},
	{ISA_OP_S_LSHL4_ADD_U32, s_lshl4_add_u32},
	{ISA_OP_S_PACK_LL_B32_B16, s_pack_ll_b32_b16},
	{ISA_OP_S_PACK_LH_B32_B16, s_pack_lh_b32_b16},
	{ISA_OP_S_PACK_HH_B32_B16, s_pack_hh_b32_b16},
	{ISA_OP_S_MOVK_I32, s_movk_i32},
	{ISA_OP_S_CMOVK_I32, s_cmovk_i32},
	{ISA_OP_S_CMPK_EQ_I32, s_cmpk_eq_i32},
	{ISA_OP_S_CMPK_LG_I32, s_cmpk_lg_i32},
	{ISA_OP_S_CMPK_GT_I32, s_cmpk_gt_i32},
	{ISA_OP_S_CMPK_GE_I32, s_cmpk_ge_i32},
	{ISA_OP_S_CMPK_LT_I32, s_cmpk_lt_i32},
	{ISA_OP_S_CMPK_LE_I32, s_cmpk_le_i32},
	{ISA_OP_S_CMPK_EQ_U32, s_cmpk_eq_u32},
	{ISA_OP_S_CMPK_LG_U32, s_cmpk_lg_u32},
	{ISA_OP_S_CMPK_GT_U32, s_cmpk_gt_u32},
	{ISA_OP_S_CMPK_GE_U32, s_cmpk_ge_u32},
	{ISA_OP_S_CMPK_LT_U32, s_cmpk_lt_u32},
	{ISA_OP_S_CMPK_LE_U32, s_cmpk_le_u32},
	{ISA_OP_S_ADDK_I32, s_addk_i32},
	{ISA_OP_S_MULK_I32, s_mulk_i32},
	{ISA_OP_S_MOV_B32, s_mov_b32},
	{ISA_OP_S_MOV_B64, s_mov_b64},
	{ISA_OP_S_CMOV_B32, s_cmov_b32},
	{ISA_OP_S_CMOV_B64, s_cmov_b64},
	{ISA_OP_S_NOT_B32, s_not_b32},
	{ISA_OP_S_NOT_B64, s_not_b64},
	{ISA_OP_S_WQM_B32, s_wqm_b32},
	{ISA_OP_S_WQM_B64, s_wqm_b64},
	{ISA_OP_S_BREV_B32, s_brev_b32},
	{ISA_OP_S_BREV_B64, s_brev_b64},
	{ISA_OP_S_BCNT0_I32_B32, s_bcnt0_i32_b32},
	{ISA_OP_S_BCNT0_I32_B64, s_bcnt0_i32_b64},
	{ISA_OP_S_BCNT1_I32_B32, s_bcnt1_i32_b32},
	{ISA_OP_S_BCNT1_I32_B64, s_bcnt1_i32_b64},
	{ISA_OP_S_FF0_I32_B32, s_ff0_i32_b32},
	{ISA_OP_S_FF0_I32_B64, s_ff0_i32_b64},
	{ISA_OP_S_FF1_I32_B32, s_ff1_i32_b32},
	{ISA_OP_S_FF1_I32_B64, s_ff1_i32_b64},
	{ISA_OP_S_FLBIT_I32_B32, s_flbit_i32_b32},
	{ISA_OP_S_FLBIT_I32_B64, s_flbit_i32_b64},
	{ISA_OP_S_FLBIT_I32, s_flbit_i32},
	{ISA_OP_S_FLBIT_I32_I64, s_flbit_i32_i64},
	{ISA_OP_S_SEXT_I32_I8, s_sext_i32_i8},
	{ISA_OP_S_SEXT_I32_I16, s_sext_i32_i16},
	{ISA_OP_S_BITSET0_B32, s_bitset0_b32},
	{ISA_OP_S_BITSET0_B64, s_bitset0_b64},
	{ISA_OP_S_BITSET1_B32, s_bitset1_b32},
	{ISA_OP_S_BITSET1_B64, s_bitset1_b64},
	{ISA_OP_S_AND_SAVEEXEC_B64, s_and_saveexec_b64},
	{ISA_OP_S_OR_SAVEEXEC_B64, s_or_saveexec_b64},
	{ISA_OP_S_XOR_SAVEEXEC_B64, s_xor_saveexec_b64},
	{ISA_OP_S_ANDN2_SAVEEXEC_B64, s_andn2_saveexec_b64},
	{ISA_OP_S_ORN2_SAVEEXEC_B64, s_orn2_saveexec_b64},
	{ISA_OP_S_NAND_SAVEEXEC_B64, s_nand_saveexec_b64},
	{ISA_OP_S_NOR_SAVEEXEC_B64, s_nor_saveexec_b64},
	{ISA_OP_S_XNOR_SAVEEXEC_B64, s_xnor_saveexec_b64},
	{ISA_OP_S_QUADMASK_B32, s_quadmask_b32},
	{ISA_OP_S_QUADMASK_B64, s_quadmask_b64},
	{ISA_OP_S_MOVRELS_B32, s_movrels_b32},
	{ISA_OP_S_MOVRELS_B64, s_movrels_b64},
	{ISA_OP_S_MOVRELD_B32, s_movreld_b32},
	{ISA_OP_S_MOVRELD_B64, s_movreld_b64},
	{ISA_OP_S_ABS_I32, s_abs_i32},
	{ISA_OP_S_ANDN1_SAVEEXEC_B64, s_andn1_saveexec_b64},
	{ISA_OP_S_ORN1_SAVEEXEC_B64, s_orn1_saveexec_b64},
	{ISA_OP_S_ANDN1_WREXEC_B64, s_andn1_wrexec_b64},
	{ISA_OP_S_ANDN2_WREXEC_B64, s_andn2_wrexec_b64},
	{ISA_OP_S_BITREPLICATE_B64_B32, s_bitreplicate_b64_b32},
	{ISA_OP_S_CMP_EQ_I32, s_cmp_eq_i32},
	{ISA_OP_S_CMP_LG_I32, s_cmp_lg_i32},
	{ISA_OP_S_CMP_GT_I32, s_cmp_gt_i32},
	{ISA_OP_S_CMP_GE_I32, s_cmp_ge_i32},
	{ISA_OP_S_CMP_LT_I32, s_cmp_lt_i32},
	{ISA_OP_S_CMP_LE_I32, s_cmp_le_i32},
	{ISA_OP_S_CMP_EQ_U32, s_cmp_eq_u32},
	{ISA_OP_S_CMP_LG_U32, s_cmp_lg_u32},
	{ISA_OP_S_CMP_GT_U32, s_cmp_gt_u32},
	{ISA_OP_S_CMP_GE_U32, s_cmp_ge_u32},
	{ISA_OP_S_CMP_LT_U32, s_cmp_lt_u32},
	{ISA_OP_S_CMP_LE_U32, s_cmp_le_u32},
	{ISA_OP_S_BITCMP0_B32, s_bitcmp0_b32},
	{ISA_OP_S_BITCMP1_B32, s_bitcmp1_b32},
	{ISA_OP_S_BITCMP0_B64, s_bitcmp0_b64},
	{ISA_OP_S_BITCMP1_B64, s_bitcmp1_b64},
	{ISA_OP_S_CMP_EQ_U64, s_cmp_eq_u64},
	{ISA_OP_S_CMP_LG_U64, s_cmp_lg_u64},
	{ISA_OP_NONE, NULL},
};
