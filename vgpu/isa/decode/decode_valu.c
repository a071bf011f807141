/* Decodes vector ALU instructions. */
#include "vgpu/isa/decode/state.h"

/* --- operands --- */

bool isa_result_is_scalar(enum isa_op op)
{
	return op == ISA_OP_V_READLANE_B32 || op == ISA_OP_V_READFIRSTLANE_B32 ||
	       (op >= ISA_OP_V_S_EXP_F32 && op <= ISA_OP_V_S_SQRT_F16);
}

/* Number of the last source that the row has, plus one. */
static unsigned source_count(const struct isa_row *row)
{
	return row->src[2] ? 3 : row->src[1] ? 2 : row->src[0] ? 1 : 0;
}

static bool is_inline(unsigned code)
{
	return (code >= 128 && code <= 208) || (code >= 240 && code <= 248);
}

static bool is_constant(unsigned code)
{
	return code == CODE_LITERAL || is_inline(code);
}

void decode_valu_source(struct decode_state *st, unsigned n, unsigned code)
{
	struct isa_valu *v = &st->inst->valu;
	unsigned dw = isa_type_dw(v->type[n]);

	v->src[n] = (uint16_t)code;
	if (code >= CODE_AGPR) {
		v->kind[n] = ISA_FROM_ROW;
		v->row[n] = decode_agpr(st, code - CODE_AGPR, dw);
	} else if (code >= CODE_VGPR) {
		v->kind[n] = ISA_FROM_ROW;
		v->row[n] = decode_vgpr(st, code - CODE_VGPR, dw);
	} else {
		v->src[n] = decode_scalar(st, code, v->type[n]);
		v->kind[n] = is_constant(v->src[n]) ? ISA_FROM_CONSTANT : ISA_FROM_SCALAR;
	}
}

void decode_valu_types(struct isa_inst *inst)
{
	struct isa_valu *v = &inst->valu;

	memcpy(v->type, inst->row->src, sizeof(v->type));
	v->dst_type = inst->row->dst;
	if (inst->row->flags & ISA_ROW_ACCUMULATE)
		v->type[2] = v->dst_type;
	v->dst_sel = ISA_SEL_DWORD;
	v->sel[0] = v->sel[1] = ISA_SEL_DWORD;
	v->sdst = v->scarry = ISA_VCC;
	v->row_mask = v->bank_mask = 0xf;
	v->opsel_hi = 7;
}

/* From GFX10 on v_cmpx has no other result than EXEC. */
static void valu_mask(struct decode_state *st, unsigned code)
{
	if (st->inst->row->flags & ISA_ROW_CMPX && st->gen->cmpx_exec)
		code = ISA_EXEC;
	st->inst->valu.sdst = decode_sgpr_result(st, code, decode_type_dw(st, ISA_T_M64));
}

void decode_valu_result(struct decode_state *st, unsigned reg)
{
	struct isa_valu *v = &st->inst->valu;
	unsigned dw = isa_type_dw(v->dst_type);

	if (v->dst_type == ISA_T_NONE)
		return;
	if (v->dst_type == ISA_T_M64)
		valu_mask(st, reg);
	else if (isa_result_is_scalar(st->inst->op))
		v->sdst = decode_sgpr_result(st, reg, 1);
	else
		v->vdst = decode_data(st, reg, dw, false, true);
	if (st->inst->row->flags & ISA_ROW_ACCUMULATE)
		decode_valu_source(st, 2, CODE_VGPR + reg);
}

static bool is_half(enum isa_type type)
{
	return type == ISA_T_F16 || type == ISA_T_B16;
}

/* A VGPR field of VOP1, VOP2 or VOPC for an operand of 16 bits: from GFX11 on bit 7 selects the high half. n: the
 * source, or 3 for the result. */
static unsigned short_vgpr(struct decode_state *st, unsigned n, unsigned reg)
{
	struct isa_valu *v = &st->inst->valu;

	if (!st->gen->true16 || !is_half(n == 3 ? v->dst_type : v->type[n]) || !(reg & 128))
		return reg;
	v->opsel |= (uint8_t)(1 << n);
	return reg & 127;
}

static void short_source(struct decode_state *st, unsigned n, unsigned code)
{
	decode_valu_source(st, n, code >= CODE_VGPR ? CODE_VGPR + short_vgpr(st, n, code - CODE_VGPR) : code);
}

/* Source 0 of DPP, in the second or third dword. In VOP3 and VOP3P its field has all VGPRs, and op_sel selects halves
 * (LLVM's MC test gfx11_asm_vop3_dpp16_from_vop1.s; Mesa's aco_assembler.cpp writes bit 7 for other encodings alone). */
static void dpp_source(struct decode_state *st, unsigned reg)
{
	if (st->inst->enc == ISA_VOP3 || st->inst->enc == ISA_VOP3P)
		decode_valu_source(st, 0, CODE_VGPR + reg);
	else
		short_source(st, 0, CODE_VGPR + reg);
}

static void short_result(struct decode_state *st, unsigned reg)
{
	struct isa_valu *v = &st->inst->valu;

	decode_valu_result(st, short_vgpr(st, 3, reg));
	if (st->inst->row->flags & ISA_ROW_ACCUMULATE && v->opsel & 8)
		v->opsel |= 4;
}

static void valu_literal(struct decode_state *st)
{
	st->inst->valu.literal = decode_next_word(st);
}

/* --- SDWA and DPP --- */

/* Decodes the second dword of SDWA, which has the source 0 register instead of the first dword. */
static void decode_sdwa(struct decode_state *st)
{
	struct isa_valu *v = &st->inst->valu;
	uint32_t w = decode_next_word(st);
	unsigned src1 = v->src[1];

	v->is_sdwa = true;
	v->sel[0] = (uint8_t)bits_of(w, 18, 16);
	v->sel[1] = (uint8_t)bits_of(w, 26, 24);
	v->sext = (uint8_t)(bits_of(w, 19, 19) | bits_of(w, 27, 27) << 1);
	v->neg = (uint8_t)(bits_of(w, 20, 20) | bits_of(w, 28, 28) << 1);
	v->abs = (uint8_t)(bits_of(w, 21, 21) | bits_of(w, 29, 29) << 1);
	if (v->sel[0] > ISA_SEL_DWORD || v->sel[1] > ISA_SEL_DWORD)
		st->why = "a reserved SDWA selection";
	decode_valu_source(st, 0, bits_of(w, 7, 0) + (bits_of(w, 23, 23) ? 0 : CODE_VGPR));
	if (v->type[1])
		decode_valu_source(st, 1, bits_of(w, 31, 31) ? src1 & 255 : src1);
	if (v->dst_type == ISA_T_M64) {
		valu_mask(st, bits_of(w, 15, 15) ? bits_of(w, 14, 8) : ISA_VCC);
		return;
	}
	v->dst_sel = (uint8_t)bits_of(w, 10, 8);
	v->dst_unused = (uint8_t)bits_of(w, 12, 11);
	v->clamp = bits_of(w, 13, 13);
	v->omod = (uint8_t)bits_of(w, 15, 14);
	if (v->dst_sel > ISA_SEL_DWORD || v->dst_unused > ISA_UNUSED_PRESERVE)
		st->why = "a reserved SDWA selection";
}

/* 64-bit operands, and row_newbcast, which they need, exist since gfx90a; its numbers are row_share's of GFX10. */
static bool dpp_ctrl_exists(const struct decode_state *st, unsigned ctrl)
{
	const struct isa_generation *gen = st->gen;

	if (ctrl <= 0xff || (ctrl >= 0x101 && ctrl <= 0x12f && ctrl & 0xf) || ctrl == 0x140 || ctrl == 0x141)
		return true;
	if (ctrl == 0x130 || ctrl == 0x134 || ctrl == 0x138 || ctrl == 0x13c || ctrl == 0x142 || ctrl == 0x143)
		return gen->dpp_wave;
	if (ctrl >= 0x150 && ctrl <= 0x15f)
		return vgpu_gfx_unified(st->dec->gfx) || !gen->dpp_wave;
	return ctrl >= 0x160 && ctrl <= 0x16f && !gen->dpp_wave;
}

/* VOP3 has signs of its own. */
static void decode_dpp(struct decode_state *st)
{
	struct isa_valu *v = &st->inst->valu;
	uint32_t w = decode_next_word(st);

	v->is_dpp = true;
	v->dpp_ctrl = (uint16_t)bits_of(w, 16, 8);
	v->dpp_fetch = st->gen->dpp_fetch && bits_of(w, 18, 18);
	v->bound_ctrl = bits_of(w, 19, 19);
	if (st->inst->enc != ISA_VOP3 && st->inst->enc != ISA_VOP3P) {
		v->neg = (uint8_t)(bits_of(w, 20, 20) | bits_of(w, 22, 22) << 1);
		v->abs = (uint8_t)(bits_of(w, 21, 21) | bits_of(w, 23, 23) << 1);
	}
	v->bank_mask = (uint8_t)bits_of(w, 27, 24);
	v->row_mask = (uint8_t)bits_of(w, 31, 28);
	if (!dpp_ctrl_exists(st, v->dpp_ctrl))
		st->why = "a reserved DPP control";
	dpp_source(st, bits_of(w, 7, 0));
}

/* Eight selections of three bits. */
static void decode_dpp8(struct decode_state *st, bool fetch)
{
	struct isa_valu *v = &st->inst->valu;
	uint32_t w = decode_next_word(st);

	v->is_dpp = true;
	v->dpp_ctrl = ISA_DPP8;
	v->dpp8 = bits_of(w, 31, 8);
	v->dpp_fetch = fetch;
	v->bound_ctrl = true;
	dpp_source(st, bits_of(w, 7, 0));
}

/* Source 0 of VOP1, VOP2 and VOPC: a register, a constant, or the sign of a second dword. */
static void short_source0(struct decode_state *st, unsigned code)
{
	if (code == CODE_SDWA && st->gen->sdwa) {
		decode_sdwa(st);
	} else if (code == CODE_DPP) {
		decode_dpp(st);
	} else if ((code == CODE_DPP8 || code == CODE_DPP8_FI) && st->gen->dpp8) {
		decode_dpp8(st, code == CODE_DPP8_FI);
	} else {
		short_source(st, 0, code);
		if (code == CODE_LITERAL)
			valu_literal(st);
	}
}

/* --- VOP1, VOP2, VOPC --- */

void decode_vop1(struct decode_state *st, uint32_t w)
{
	decode_row(st, ISA_VOP1, bits_of(w, 16, 9));
	if (st->why)
		return;
	decode_valu_types(st->inst);
	if (st->inst->op == ISA_OP_V_ACCVGPR_MOV_B32) {
		st->inst->valu.vdst = decode_data(st, bits_of(w, 24, 17), 1, true, true);
		decode_valu_source(st, 0, CODE_VGPR + bits_of(w, 8, 0));
		return;
	}
	short_result(st, bits_of(w, 24, 17));
	if (st->inst->row->src[0])
		short_source0(st, bits_of(w, 8, 0));
	if (isa_op_swaps(st->inst->op) && st->inst->valu.kind[0] != ISA_FROM_ROW)
		st->why = "v_swap of what is no VGPR";
}

static bool is_mk(enum isa_op op)
{
	return op == ISA_OP_V_MADMK_F32 || op == ISA_OP_V_MADMK_F16 || op == ISA_OP_V_FMAMK_F32 ||
	       op == ISA_OP_V_FMAMK_F16;
}

static bool is_ak(enum isa_op op)
{
	return op == ISA_OP_V_MADAK_F32 || op == ISA_OP_V_MADAK_F16 || op == ISA_OP_V_FMAAK_F32 ||
	       op == ISA_OP_V_FMAAK_F16;
}

/* v_madmk, v_fmamk: D = S0 * K + S1; v_madak, v_fmaak: D = S0 * S1 + K. */
static bool decode_madk(struct decode_state *st, uint32_t w)
{
	bool mk = is_mk(st->inst->op);

	if (!mk && !is_ak(st->inst->op))
		return false;
	short_source(st, 0, bits_of(w, 8, 0));
	short_source(st, mk ? 2 : 1, CODE_VGPR + bits_of(w, 16, 9));
	decode_valu_source(st, mk ? 1 : 2, CODE_LITERAL);
	valu_literal(st);
	return true;
}

static void short_sources(struct decode_state *st, uint32_t w)
{
	st->inst->valu.src[1] = (uint16_t)(CODE_VGPR + bits_of(w, 16, 9));
	if (bits_of(w, 8, 0) != CODE_SDWA || !st->gen->sdwa)
		short_source(st, 1, CODE_VGPR + bits_of(w, 16, 9));
	short_source0(st, bits_of(w, 8, 0));
}

void decode_vop2(struct decode_state *st, uint32_t w)
{
	decode_row(st, ISA_VOP2, bits_of(w, 30, 25));
	if (st->why)
		return;
	decode_valu_types(st->inst);
	short_result(st, bits_of(w, 24, 17));
	if (!decode_madk(st, w))
		short_sources(st, w);
}

void decode_vopc(struct decode_state *st, uint32_t w)
{
	decode_row(st, ISA_VOPC, bits_of(w, 24, 17));
	if (st->why)
		return;
	decode_valu_types(st->inst);
	valu_mask(st, ISA_VCC);
	short_sources(st, w);
}

/* --- VOP3 --- */

/* Instructions that have no VOP3 form though their encoding would have a place for it. */
static bool no_vop3_form(enum isa_op op)
{
	return is_mk(op) || is_ak(op) || isa_op_swaps(op) || op == ISA_OP_V_READFIRSTLANE_B32 ||
	       op == ISA_OP_V_PK_FMAC_F16 || op == ISA_OP_V_ACCVGPR_MOV_B32 || op == ISA_OP_V_PERMLANE64_B32;
}

/* The words behind VOP3 and VOP3P: a literal, or DPP for source 0. False: source 0 is none of them. */
static bool long_dpp(struct decode_state *st, unsigned code)
{
	if (!st->gen->vop3_dpp)
		return false;
	if (code == CODE_DPP)
		decode_dpp(st);
	else if (code == CODE_DPP8 || code == CODE_DPP8_FI)
		decode_dpp8(st, code == CODE_DPP8_FI);
	else
		return false;
	return true;
}

static void long_sources(struct decode_state *st, uint32_t w)
{
	const unsigned code[3] = {bits_of(w, 8, 0), bits_of(w, 17, 9), bits_of(w, 26, 18)};
	unsigned count = source_count(st->inst->row);
	bool literal = false;

	for (unsigned n = count; n--;) {
		if (!n && long_dpp(st, code[0]))
			continue;
		decode_valu_source(st, n, code[n]);
		literal |= code[n] == CODE_LITERAL;
		if ((code[n] == CODE_LITERAL && !st->gen->vop3_literals) || code[n] == CODE_SDWA ||
		    code[n] == CODE_DPP)
			st->why = "VOP3 takes no such constant";
		if (st->inst->valu.type[n] == ISA_T_W4 && code[n] < CODE_VGPR)
			st->why = "a source of four dwords that is no VGPR";
	}
	if (literal)
		valu_literal(st);
}

/* The carry of VOP3 has the field of a vector source. */
static uint8_t carry_code(struct decode_state *st, unsigned code)
{
	if (code >= CODE_VGPR || code == CODE_LITERAL)
		st->why = "a carry that is no SGPR pair";
	return decode_scalar(st, code, ISA_T_M64);
}

/* GFX11's v_cndmask_b16 has a condition and is no VOP2. */
static bool has_carry_field(const struct isa_row *row)
{
	return row->flags & ISA_ROW_CARRY_IN && !row->src[2];
}

void decode_vop3(struct decode_state *st, uint32_t w)
{
	struct isa_valu *v = &st->inst->valu;
	uint32_t w1 = decode_next_word(st);

	decode_row(st, ISA_VOP3, bits_of(w, 25, 16));
	if (!st->why && no_vop3_form(st->inst->op))
		st->why = "no instruction of this chip";
	if (st->why)
		return;
	decode_valu_types(st->inst);
	v->clamp = bits_of(w, 15, 15);
	v->omod = (uint8_t)bits_of(w1, 28, 27);
	v->neg = (uint8_t)bits_of(w1, 31, 29);
	if (st->inst->row->flags & ISA_ROW_CARRY_OUT) {
		v->sdst = decode_sgpr_result(st, bits_of(w, 14, 8), decode_type_dw(st, ISA_T_M64));
	} else {
		v->abs = (uint8_t)bits_of(w, 10, 8);
		v->opsel = (uint8_t)bits_of(w, 14, 11);
	}
	if (st->inst->row->flags & ISA_ROW_ACCUMULATE && is_half(v->dst_type) && st->gen->keeps_halves &&
	    v->opsel & 8)
		v->opsel |= 4; /* the addend is the half that is written */
	decode_valu_result(st, bits_of(w, 7, 0));
	long_sources(st, w1);
	if (has_carry_field(st->inst->row))
		v->scarry = carry_code(st, bits_of(w1, 26, 18));
}

/* --- VOP3P --- */

/* Matrix instructions: AGPRs by the accumulation bits, always for results on gfx908. */
static void decode_mfma(struct decode_state *st, uint32_t w, uint32_t w1)
{
	struct isa_valu *v = &st->inst->valu;
	bool acc_cd = st->dec->gfx == VGPU_GFX908 || bits_of(w, 15, 15);
	unsigned src2 = bits_of(w1, 26, 18);

	v->neg = v->abs = v->opsel = v->opsel_hi = 0;
	v->clamp = false;
	v->cbsz = (uint8_t)bits_of(w, 10, 8);
	v->abid = (uint8_t)bits_of(w, 14, 11);
	v->blgp = (uint8_t)bits_of(w1, 31, 29);
	v->vdst = decode_data(st, bits_of(w, 7, 0), isa_type_dw(v->dst_type), acc_cd, true);
	for (unsigned n = 0; n < 2; n++) {
		unsigned code = bits_of(w1, 8 + 9 * n, 9 * n);

		if (code < CODE_VGPR)
			st->why = "MFMA takes vector registers only";
		else
			decode_valu_source(st, n, code + (bits_of(w1, 27 + n, 27 + n) ? CODE_AGPR - CODE_VGPR : 0));
	}
	if (st->inst->row->flags & ISA_ROW_SPARSE && src2 < CODE_VGPR)
		st->why = "the index of a sparse matrix is a VGPR";
	else if (st->inst->row->flags & ISA_ROW_SPARSE)
		decode_valu_source(st, 2, src2);
	else if (src2 < CODE_VGPR && !is_inline(src2))
		st->why = "MFMA takes vector registers or inline constants only";
	else
		decode_valu_source(st, 2, src2 >= CODE_VGPR && acc_cd ? src2 + CODE_AGPR - CODE_VGPR : src2);
}

static uint8_t half_type(uint8_t type)
{
	return type == ISA_T_W16  ? ISA_T_W8
	       : type == ISA_T_W8 ? ISA_T_W4
	       : type == ISA_T_W4 ? ISA_T_B64
				  : ISA_T_B32;
}

/* Waves of 64 lanes have half the registers of a matrix; GFX11 repeats A and B instead. */
static void wmma_of_64(struct decode_state *st, struct isa_valu *v)
{
	v->dst_type = half_type(v->dst_type);
	for (unsigned n = 0; n < 3; n++)
		if (n == 2 || st->gen->column != ISA_COLUMN_11)
			v->type[n] = half_type(v->type[n]);
}

/* GFX11's matrix instructions have VGPRs, and an inline constant as addend. */
static void decode_wmma(struct decode_state *st, uint32_t w, uint32_t w1)
{
	struct isa_valu *v = &st->inst->valu;
	unsigned src2 = bits_of(w1, 26, 18);
	bool sparse = st->inst->row->flags & ISA_ROW_SPARSE;

	if (bits_of(w1, 8, 0) < CODE_VGPR || bits_of(w1, 17, 9) < CODE_VGPR ||
	    (src2 < CODE_VGPR && (sparse || !is_inline(src2)))) {
		st->why = "WMMA takes vector registers or inline constants only";
		return;
	}
	if (!st->dec->wave32)
		wmma_of_64(st, v);
	v->vdst = decode_data(st, bits_of(w, 7, 0), isa_type_dw(v->dst_type), false, true);
	decode_valu_source(st, 0, bits_of(w1, 8, 0));
	decode_valu_source(st, 1, bits_of(w1, 17, 9));
	decode_valu_source(st, 2, src2);
}

static void decode_accvgpr(struct decode_state *st, uint32_t w, uint32_t w1)
{
	struct isa_valu *v = &st->inst->valu;
	unsigned src = bits_of(w1, 8, 0);

	v->neg = v->abs = v->opsel = v->opsel_hi = 0;
	if (st->inst->op == ISA_OP_V_ACCVGPR_READ_B32) {
		v->vdst = decode_data(st, bits_of(w, 7, 0), 1, false, true);
		decode_valu_source(st, 0, CODE_AGPR + bits_of(src, 7, 0));
	} else {
		v->vdst = decode_data(st, bits_of(w, 7, 0), 1, true, true);
		decode_valu_source(st, 0, src);
	}
}

/* Sources of v_mad_mix and v_fma_mix are f16 or f32 by op_sel_hi, and the neg_hi bits mean |x|. */
static void resolve_mix(struct isa_valu *v)
{
	for (unsigned n = 0; n < 3; n++)
		if (v->type[n] == ISA_T_MIX)
			v->type[n] = v->opsel_hi >> n & 1 ? ISA_T_F16 : ISA_T_F32;
}

/* NEG says whether an integer operand is signed. */
static bool has_operand_signs(enum isa_op op)
{
	return op == ISA_OP_V_DOT4_I32_IU8 || op == ISA_OP_V_DOT8_I32_IU4;
}

void decode_vop3p(struct decode_state *st, uint32_t w)
{
	struct isa_valu *v = &st->inst->valu;
	uint32_t w1 = decode_next_word(st);

	decode_row(st, ISA_VOP3P, bits_of(w, 22, 16));
	if (st->why)
		return;
	decode_valu_types(st->inst);
	v->clamp = bits_of(w, 15, 15);
	v->opsel = (uint8_t)bits_of(w, 13, 11);
	v->opsel_hi = (uint8_t)(bits_of(w1, 28, 27) | bits_of(w, 14, 14) << 2);
	v->abs = (uint8_t)bits_of(w, 10, 8);
	v->neg = (uint8_t)bits_of(w1, 31, 29);
	if (st->inst->row->flags & ISA_ROW_MATRIX && st->gen->column == ISA_COLUMN_9) {
		decode_mfma(st, w, w1);
	} else if (st->inst->row->flags & ISA_ROW_MATRIX) {
		decode_wmma(st, w, w1);
	} else if (st->inst->op == ISA_OP_V_ACCVGPR_READ_B32 || st->inst->op == ISA_OP_V_ACCVGPR_WRITE_B32) {
		decode_accvgpr(st, w, w1);
	} else {
		resolve_mix(v);
		if (has_operand_signs(st->inst->op)) {
			v->blgp = v->neg;
			v->neg = v->abs = 0;
		}
		decode_valu_result(st, bits_of(w, 7, 0));
		long_sources(st, w1);
	}
}
