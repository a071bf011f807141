/* Decodes machine code into isa_inst. Field positions are those of the GFX9 and gfx90a encodings; decode_test.c
 * compares every instruction with LLVM's disassembler. */
#include "vgpu/isa/decode/decode.h"

/* Special source codes in the 9-bit (VOP) and 8-bit (SOP) source fields. */
enum { CODE_SDWA = 249, CODE_DPP = 250, CODE_LITERAL = 255, CODE_VGPR = 256, CODE_AGPR = 512 };

/* An instruction being decoded. */
struct state {
	const struct isa_decoder *dec;
	const uint32_t *code;
	unsigned words; /* readable */
	unsigned used;  /* dwords consumed so far */
	struct isa_inst *inst;
	const char *why; /* set: give up */
};

static inline unsigned bits_of(uint32_t word, unsigned hi, unsigned lo)
{
	return word >> lo & ((2u << (hi - lo)) - 1);
}

static inline int32_t sign_extend(uint32_t value, unsigned width)
{
	return (int32_t)(value << (32 - width)) >> (32 - width);
}

static uint32_t next_word(struct state *st)
{
	if (st->used >= st->words) {
		st->why = "the code ends inside the instruction";
		return 0;
	}
	return st->code[st->used++];
}

/* --- registers --- */

/* Rows of a register tuple. A source above the granted registers reads the first ones (register 0, for a single
 * one); a result there disables the instruction ("Vega" ISA, out-of-range behaviour). */
static uint16_t rows_of(struct state *st, unsigned reg, unsigned dw, unsigned base, unsigned count, bool result)
{
	if (!dw || reg + dw <= count)
		return (uint16_t)(base + reg);
	st->inst->beyond |= result ? ISA_BEYOND_RESULT : ISA_BEYOND_SOURCE;
	if (dw > count && !result)
		st->why = "more registers than the dispatch grants";
	return (uint16_t)base;
}

static uint16_t vgpr_row(struct state *st, unsigned reg, unsigned dw)
{
	return rows_of(st, reg, dw, 0, st->dec->vgprs, false);
}

static uint16_t data_row(struct state *st, unsigned reg, unsigned dw, bool agpr, bool result)
{
	return agpr ? rows_of(st, reg, dw, st->dec->first_agpr, st->dec->agprs, result)
		    : rows_of(st, reg, dw, 0, st->dec->vgprs, result);
}

static uint16_t agpr_row(struct state *st, unsigned reg, unsigned dw)
{
	return data_row(st, reg, dw, true, false);
}

/* A tuple of SGPRs must end inside the SGPRs, or be a special pair. A source above the granted SGPRs reads s0. */
static uint8_t scalar_code(struct state *st, unsigned code, unsigned dw)
{
	if (code < ISA_FLAT_SCRATCH && code + dw > st->dec->sgprs) {
		st->inst->beyond |= ISA_BEYOND_SOURCE;
		return 0;
	}
	if (code >= ISA_FLAT_SCRATCH && code < 128 && code + dw > 128)
		st->why = "an SGPR tuple that runs over the last one";
	return (uint8_t)code;
}

/* Results above the granted registers are lost: they go to the 16 trap temporaries, which have no other use. */
static uint8_t scalar_result(struct state *st, unsigned code, unsigned dw)
{
	bool beyond = code < ISA_FLAT_SCRATCH && code + dw > st->dec->sgprs;

	if (code >= 128) /* the VGPR field of VOP1 and VOP3 is wider than a scalar code */
		st->why = "a scalar result that is no register";
	if (!beyond)
		return scalar_code(st, code, dw);
	st->inst->beyond |= ISA_BEYOND_SOURCE;
	return ISA_TTMP0;
}

static uint8_t scalar_source(struct state *st, unsigned code, enum isa_type type)
{
	bool reserved = code == 209 || code == CODE_SDWA || code == CODE_DPP || code == 254 ||
			(code >= 210 && code <= 234) || code == 125;

	if (reserved)
		st->why = "a reserved scalar source";
	return scalar_code(st, code, isa_type_dw(type));
}

/* --- scalar --- */

static void take_row(struct state *st, enum isa_enc enc, unsigned number)
{
	st->inst->enc = (uint8_t)enc;
	st->inst->row = isa_row_find(st->dec->gfx, enc, number);
	if (st->inst->row)
		st->inst->op = st->inst->row->op;
	else
		st->why = "no instruction of this chip";
}

static void salu_literal(struct state *st)
{
	struct isa_salu *s = &st->inst->salu;

	if (s->src[0] == CODE_LITERAL || s->src[1] == CODE_LITERAL)
		s->literal = next_word(st);
}

static void salu_sources(struct state *st, unsigned src0, unsigned src1)
{
	const struct isa_row *row = st->inst->row;
	struct isa_salu *s = &st->inst->salu;

	if (row->src[0])
		s->src[0] = scalar_source(st, src0, row->src[0]);
	if (row->src[1])
		s->src[1] = scalar_source(st, src1, row->src[1]);
	salu_literal(st);
}

static void decode_sop2(struct state *st, uint32_t w)
{
	take_row(st, ISA_SOP2, bits_of(w, 29, 23));
	if (st->why)
		return;
	st->inst->salu.dst = scalar_result(st, bits_of(w, 22, 16), isa_type_dw(st->inst->row->dst));
	salu_sources(st, bits_of(w, 7, 0), bits_of(w, 15, 8));
}

static void decode_sop1(struct state *st, uint32_t w)
{
	take_row(st, ISA_SOP1, bits_of(w, 15, 8));
	if (st->why)
		return;
	st->inst->salu.dst = scalar_result(st, bits_of(w, 22, 16), isa_type_dw(st->inst->row->dst));
	salu_sources(st, bits_of(w, 7, 0), 0);
}

static void decode_sopc(struct state *st, uint32_t w)
{
	take_row(st, ISA_SOPC, bits_of(w, 22, 16));
	if (st->why)
		return;
	salu_sources(st, bits_of(w, 7, 0), bits_of(w, 15, 8));
	if (st->inst->op == ISA_OP_S_SET_GPR_IDX_ON)
		st->inst->salu.simm = (int32_t)bits_of(w, 15, 8);
}

/* The branch target of SOPP branches and s_call. */
static void branch_target(struct state *st)
{
	st->inst->salu.target = st->inst->pc + 4 + (int64_t)st->inst->salu.simm * 4;
}

static void decode_sopk(struct state *st, uint32_t w)
{
	struct isa_salu *s = &st->inst->salu;

	take_row(st, ISA_SOPK, bits_of(w, 27, 23));
	if (st->why)
		return;
	s->simm = sign_extend(bits_of(w, 15, 0), 16);
	if (st->inst->row->dst)
		s->dst = scalar_result(st, bits_of(w, 22, 16), isa_type_dw(st->inst->row->dst));
	else
		s->src[0] = scalar_code(st, bits_of(w, 22, 16), isa_type_dw(st->inst->row->src[0]));
	if (st->inst->op == ISA_OP_S_SETREG_IMM32_B32)
		s->literal = next_word(st);
	branch_target(st);
}

static void decode_sopp(struct state *st, uint32_t w)
{
	take_row(st, ISA_SOPP, bits_of(w, 22, 16));
	if (st->why)
		return;
	st->inst->salu.simm = sign_extend(bits_of(w, 15, 0), 16);
	branch_target(st);
}

/* --- vector ALU --- */

/* v_readlane and v_readfirstlane write an SGPR through the vdst field. */
static bool result_is_scalar(enum isa_op op)
{
	return op == ISA_OP_V_READLANE_B32 || op == ISA_OP_V_READFIRSTLANE_B32;
}

/* Number of the last source that the row has, plus one. */
static unsigned source_count(const struct isa_row *row)
{
	return row->src[2] ? 3 : row->src[1] ? 2 : row->src[0] ? 1 : 0;
}

static void valu_source(struct state *st, unsigned n, unsigned code)
{
	struct isa_valu *v = &st->inst->valu;
	unsigned dw = isa_type_dw(v->type[n]);

	v->src[n] = (uint16_t)code;
	if (code >= CODE_AGPR) {
		v->kind[n] = ISA_FROM_ROW;
		v->row[n] = agpr_row(st, code - CODE_AGPR, dw);
	} else if (code >= CODE_VGPR) {
		v->kind[n] = ISA_FROM_ROW;
		v->row[n] = vgpr_row(st, code - CODE_VGPR, dw);
	} else {
		bool constant =
			code == CODE_LITERAL || (code >= 128 && code <= 208) || (code >= 240 && code <= 248);

		v->kind[n] = constant ? ISA_FROM_CONSTANT : ISA_FROM_SCALAR;
		scalar_source(st, code, v->type[n]);
	}
}

static void valu_types(struct isa_inst *inst)
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

static void valu_result(struct state *st, unsigned reg)
{
	struct isa_valu *v = &st->inst->valu;
	unsigned dw = isa_type_dw(v->dst_type);

	if (v->dst_type == ISA_T_NONE)
		return;
	if (v->dst_type == ISA_T_M64)
		v->sdst = scalar_result(st, reg, 2);
	else if (result_is_scalar(st->inst->op))
		v->sdst = scalar_result(st, reg, 1);
	else
		v->vdst = data_row(st, reg, dw, false, true);
	if (st->inst->row->flags & ISA_ROW_ACCUMULATE)
		valu_source(st, 2, CODE_VGPR + reg);
}

/* Decodes the second dword of SDWA, which has the source 0 register instead of the first dword. */
static void decode_sdwa(struct state *st)
{
	struct isa_valu *v = &st->inst->valu;
	uint32_t w = next_word(st);
	unsigned src1 = v->src[1];

	v->is_sdwa = true;
	v->sel[0] = (uint8_t)bits_of(w, 18, 16);
	v->sel[1] = (uint8_t)bits_of(w, 26, 24);
	v->sext = (uint8_t)(bits_of(w, 19, 19) | bits_of(w, 27, 27) << 1);
	v->neg = (uint8_t)(bits_of(w, 20, 20) | bits_of(w, 28, 28) << 1);
	v->abs = (uint8_t)(bits_of(w, 21, 21) | bits_of(w, 29, 29) << 1);
	if (v->sel[0] > ISA_SEL_DWORD || v->sel[1] > ISA_SEL_DWORD)
		st->why = "a reserved SDWA selection";
	valu_source(st, 0, bits_of(w, 7, 0) + (bits_of(w, 23, 23) ? 0 : CODE_VGPR));
	if (v->type[1])
		valu_source(st, 1, bits_of(w, 31, 31) ? src1 & 255 : src1);
	if (v->dst_type == ISA_T_M64) {
		v->sdst = bits_of(w, 15, 15) ? scalar_result(st, bits_of(w, 14, 8), 2) : ISA_VCC;
		return;
	}
	v->dst_sel = (uint8_t)bits_of(w, 10, 8);
	v->dst_unused = (uint8_t)bits_of(w, 12, 11);
	v->clamp = bits_of(w, 13, 13);
	v->omod = (uint8_t)bits_of(w, 15, 14);
	if (v->dst_sel > ISA_SEL_DWORD || v->dst_unused > ISA_UNUSED_PRESERVE)
		st->why = "a reserved SDWA selection";
}

static bool dpp_ctrl_exists(unsigned ctrl)
{
	if (ctrl <= 0xff || ctrl == 0x130 || ctrl == 0x134 || ctrl == 0x138 || ctrl == 0x13c)
		return true;
	if (ctrl >= 0x101 && ctrl <= 0x12f)
		return ctrl & 0xf;
	return ctrl >= 0x140 && ctrl <= 0x143;
}

/* 64-bit operands, and row_newbcast, which they need, exist since gfx90a. */
static bool dpp_ctrl_is_newbcast(enum vgpu_gfx gfx, unsigned ctrl)
{
	return vgpu_gfx_unified(gfx) && ctrl >= 0x150 && ctrl <= 0x15f;
}

static void decode_dpp(struct state *st)
{
	struct isa_valu *v = &st->inst->valu;
	uint32_t w = next_word(st);

	v->is_dpp = true;
	v->dpp_ctrl = (uint16_t)bits_of(w, 16, 8);
	v->bound_ctrl = bits_of(w, 19, 19);
	v->neg = (uint8_t)(bits_of(w, 20, 20) | bits_of(w, 22, 22) << 1);
	v->abs = (uint8_t)(bits_of(w, 21, 21) | bits_of(w, 23, 23) << 1);
	v->bank_mask = (uint8_t)bits_of(w, 27, 24);
	v->row_mask = (uint8_t)bits_of(w, 31, 28);
	if (!dpp_ctrl_exists(v->dpp_ctrl) && !dpp_ctrl_is_newbcast(st->dec->gfx, v->dpp_ctrl))
		st->why = "a reserved DPP control";
	valu_source(st, 0, CODE_VGPR + bits_of(w, 7, 0));
}

/* Source 0 of VOP1, VOP2 and VOPC: a register, a constant, or the sign of a second dword. */
static void short_source0(struct state *st, unsigned code)
{
	if (code == CODE_SDWA) {
		decode_sdwa(st);
	} else if (code == CODE_DPP) {
		decode_dpp(st);
	} else {
		valu_source(st, 0, code);
		if (code == CODE_LITERAL)
			st->inst->valu.literal = next_word(st);
	}
}

static void decode_vop1(struct state *st, uint32_t w)
{
	take_row(st, ISA_VOP1, bits_of(w, 16, 9));
	if (st->why)
		return;
	valu_types(st->inst);
	if (st->inst->op == ISA_OP_V_ACCVGPR_MOV_B32) {
		st->inst->valu.vdst = data_row(st, bits_of(w, 24, 17), 1, true, true);
		valu_source(st, 0, CODE_VGPR + bits_of(w, 8, 0));
		return;
	}
	valu_result(st, bits_of(w, 24, 17));
	if (st->inst->row->src[0])
		short_source0(st, bits_of(w, 8, 0));
	if (st->inst->op == ISA_OP_V_SWAP_B32 && st->inst->valu.kind[0] != ISA_FROM_ROW)
		st->why = "v_swap of what is no VGPR";
}

/* v_madmk, v_fmamk: D = S0 * K + S1; v_madak, v_fmaak: D = S0 * S1 + K. */
static bool decode_madk(struct state *st, uint32_t w)
{
	enum isa_op op = st->inst->op;
	bool mk = op == ISA_OP_V_MADMK_F32 || op == ISA_OP_V_MADMK_F16 || op == ISA_OP_V_FMAMK_F32;
	bool ak = op == ISA_OP_V_MADAK_F32 || op == ISA_OP_V_MADAK_F16 || op == ISA_OP_V_FMAAK_F32;

	if (!mk && !ak)
		return false;
	valu_source(st, 0, bits_of(w, 8, 0));
	valu_source(st, mk ? 2 : 1, CODE_VGPR + bits_of(w, 16, 9));
	valu_source(st, mk ? 1 : 2, CODE_LITERAL);
	st->inst->valu.literal = next_word(st);
	return true;
}

static void decode_vop2(struct state *st, uint32_t w)
{
	take_row(st, ISA_VOP2, bits_of(w, 30, 25));
	if (st->why)
		return;
	valu_types(st->inst);
	valu_result(st, bits_of(w, 24, 17));
	if (decode_madk(st, w))
		return;
	st->inst->valu.src[1] = (uint16_t)(CODE_VGPR + bits_of(w, 16, 9));
	if (bits_of(w, 8, 0) != CODE_SDWA)
		valu_source(st, 1, CODE_VGPR + bits_of(w, 16, 9));
	short_source0(st, bits_of(w, 8, 0));
}

static void decode_vopc(struct state *st, uint32_t w)
{
	take_row(st, ISA_VOPC, bits_of(w, 24, 17));
	if (st->why)
		return;
	valu_types(st->inst);
	st->inst->valu.src[1] = (uint16_t)(CODE_VGPR + bits_of(w, 16, 9));
	if (bits_of(w, 8, 0) != CODE_SDWA)
		valu_source(st, 1, CODE_VGPR + bits_of(w, 16, 9));
	short_source0(st, bits_of(w, 8, 0));
}

/* Instructions that have no VOP3 form though their encoding would have a place for it. */
static bool no_vop3_form(enum isa_op op)
{
	switch (op) {
	case ISA_OP_V_MADMK_F32:
	case ISA_OP_V_MADAK_F32:
	case ISA_OP_V_MADMK_F16:
	case ISA_OP_V_MADAK_F16:
	case ISA_OP_V_FMAMK_F32:
	case ISA_OP_V_FMAAK_F32:
	case ISA_OP_V_READFIRSTLANE_B32:
	case ISA_OP_V_SWAP_B32:
	case ISA_OP_V_PK_FMAC_F16:
	case ISA_OP_V_ACCVGPR_MOV_B32:
		return true;
	default:
		return false;
	}
}

static void long_sources(struct state *st, uint32_t w)
{
	const unsigned code[3] = {bits_of(w, 8, 0), bits_of(w, 17, 9), bits_of(w, 26, 18)};

	for (unsigned n = 0; n < source_count(st->inst->row); n++) {
		valu_source(st, n, code[n]);
		if (code[n] == CODE_LITERAL || code[n] == CODE_SDWA || code[n] == CODE_DPP)
			st->why = "VOP3 takes no literal, SDWA or DPP";
		if (st->inst->valu.type[n] == ISA_T_W4 && code[n] < CODE_VGPR)
			st->why = "a source of four dwords that is no VGPR";
	}
}

/* The carry of VOP3 has the field of a vector source. */
static uint8_t carry_code(struct state *st, unsigned code)
{
	if (code >= CODE_VGPR || code == CODE_LITERAL)
		st->why = "a carry that is no SGPR pair";
	return scalar_source(st, code, ISA_T_M64);
}

static void decode_vop3(struct state *st, uint32_t w)
{
	struct isa_valu *v = &st->inst->valu;
	uint32_t w1 = next_word(st);

	take_row(st, ISA_VOP3, bits_of(w, 25, 16));
	if (!st->why && no_vop3_form(st->inst->op))
		st->why = "no instruction of this chip";
	if (st->why)
		return;
	valu_types(st->inst);
	v->clamp = bits_of(w, 15, 15);
	v->omod = (uint8_t)bits_of(w1, 28, 27);
	v->neg = (uint8_t)bits_of(w1, 31, 29);
	if (st->inst->row->flags & ISA_ROW_CARRY_OUT) {
		v->sdst = scalar_result(st, bits_of(w, 14, 8), 2);
	} else {
		v->abs = (uint8_t)bits_of(w, 10, 8);
		v->opsel = (uint8_t)bits_of(w, 14, 11);
	}
	valu_result(st, bits_of(w, 7, 0));
	long_sources(st, w1);
	if (st->inst->row->flags & ISA_ROW_CARRY_IN && !st->inst->row->src[2])
		v->scarry = carry_code(st, bits_of(w1, 26, 18));
}

/* Matrix instructions: AGPRs by the accumulation bits, always for results on gfx908. */
static void decode_mfma(struct state *st, uint32_t w, uint32_t w1)
{
	struct isa_valu *v = &st->inst->valu;
	bool acc_cd = st->dec->gfx == VGPU_GFX908 || bits_of(w, 15, 15);
	unsigned src2 = bits_of(w1, 26, 18);

	v->neg = v->abs = v->opsel = v->opsel_hi = 0;
	v->clamp = false;
	v->cbsz = (uint8_t)bits_of(w, 10, 8);
	v->abid = (uint8_t)bits_of(w, 14, 11);
	v->blgp = (uint8_t)bits_of(w1, 31, 29);
	v->vdst = data_row(st, bits_of(w, 7, 0), isa_type_dw(v->dst_type), acc_cd, true);
	for (unsigned n = 0; n < 2; n++) {
		unsigned code = bits_of(w1, 8 + 9 * n, 9 * n);

		if (code < CODE_VGPR)
			st->why = "MFMA takes vector registers only";
		else
			valu_source(st, n, code + (bits_of(w1, 27 + n, 27 + n) ? CODE_AGPR - CODE_VGPR : 0));
	}
	if (st->inst->row->flags & ISA_ROW_SPARSE && src2 < CODE_VGPR)
		st->why = "the index of a sparse matrix is a VGPR";
	else if (st->inst->row->flags & ISA_ROW_SPARSE)
		valu_source(st, 2, src2);
	else if (src2 < CODE_VGPR && (src2 < 128 || src2 > 248))
		st->why = "MFMA takes vector registers or inline constants only";
	else
		valu_source(st, 2, src2 >= CODE_VGPR && acc_cd ? src2 + CODE_AGPR - CODE_VGPR : src2);
}

static void decode_accvgpr(struct state *st, uint32_t w, uint32_t w1)
{
	struct isa_valu *v = &st->inst->valu;
	unsigned src = bits_of(w1, 8, 0);

	v->neg = v->abs = v->opsel = v->opsel_hi = 0;
	if (st->inst->op == ISA_OP_V_ACCVGPR_READ_B32) {
		v->vdst = data_row(st, bits_of(w, 7, 0), 1, false, true);
		valu_source(st, 0, CODE_AGPR + bits_of(src, 7, 0));
	} else {
		v->vdst = data_row(st, bits_of(w, 7, 0), 1, true, true);
		valu_source(st, 0, src);
	}
}

/* Sources of v_mad_mix and v_fma_mix are f16 or f32 by op_sel_hi, and the neg_hi bits mean |x|. */
static void resolve_mix(struct isa_valu *v)
{
	for (unsigned n = 0; n < 3; n++)
		if (v->type[n] == ISA_T_MIX)
			v->type[n] = v->opsel_hi >> n & 1 ? ISA_T_F16 : ISA_T_F32;
}

static void decode_vop3p(struct state *st, uint32_t w)
{
	struct isa_valu *v = &st->inst->valu;
	uint32_t w1 = next_word(st);

	take_row(st, ISA_VOP3P, bits_of(w, 22, 16));
	if (st->why)
		return;
	valu_types(st->inst);
	v->clamp = bits_of(w, 15, 15);
	v->opsel = (uint8_t)bits_of(w, 13, 11);
	v->opsel_hi = (uint8_t)(bits_of(w1, 28, 27) | bits_of(w, 14, 14) << 2);
	v->abs = (uint8_t)bits_of(w, 10, 8);
	v->neg = (uint8_t)bits_of(w1, 31, 29);
	if (st->inst->row->flags & ISA_ROW_MATRIX) {
		decode_mfma(st, w, w1);
	} else if (st->inst->op == ISA_OP_V_ACCVGPR_READ_B32 || st->inst->op == ISA_OP_V_ACCVGPR_WRITE_B32) {
		decode_accvgpr(st, w, w1);
	} else {
		resolve_mix(v);
		valu_result(st, bits_of(w, 7, 0));
		long_sources(st, w1);
	}
}

/* --- memory --- */

static void flag_if(struct isa_inst *inst, bool set, enum isa_flag flag)
{
	if (set)
		inst->flags |= (uint16_t)flag;
}

static void mem_widths(struct isa_inst *inst)
{
	inst->mem.dst_dw = (uint8_t)isa_type_dw(inst->row->dst);
	inst->mem.data_dw = (uint8_t)isa_type_dw(inst->row->src[1]);
}

static void decode_smem(struct state *st, uint32_t w)
{
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;
	uint32_t w1 = next_word(st);
	unsigned dw;

	take_row(st, ISA_SMEM, bits_of(w, 25, 18));
	if (st->why)
		return;
	mem_widths(inst);
	flag_if(inst, bits_of(w, 14, 14), ISA_SOFFSET);
	flag_if(inst, bits_of(w, 15, 15), ISA_NV);
	flag_if(inst, bits_of(w, 16, 16), ISA_GLC);
	flag_if(inst, bits_of(w, 17, 17), ISA_SOE_IMM);
	dw = m->dst_dw > m->data_dw ? m->dst_dw : m->data_dw;
	m->sdst = m->dst_dw ? scalar_result(st, bits_of(w, 12, 6), dw) : scalar_code(st, bits_of(w, 12, 6), dw);
	m->sbase = scalar_code(st, bits_of(w, 5, 0) * 2, isa_type_dw(inst->row->src[0]));
	if (inst->flags & ISA_SOE_IMM)
		m->offset = sign_extend(bits_of(w1, 20, 0), 21);
	/* Without an immediate and without SOFFSET_EN, the offset field itself names the SGPR. */
	if (inst->flags & ISA_SOFFSET) {
		m->soffset = scalar_code(st, bits_of(w1, 31, 25), 1);
	} else if (!(inst->flags & ISA_SOE_IMM) && inst->row->src[0]) {
		m->soffset = scalar_code(st, bits_of(w1, 6, 0), 1);
		inst->flags |= ISA_SOFFSET;
	}
}

/* ds_read2, ds_write2, ds_wrxchg2 and their st64 forms have two 8-bit offsets instead of one of 16 bits. */
static bool ds_two_addresses(enum isa_op op)
{
	const char *name = isa_op_name(op);

	return !strncmp(name, "ds_read2", 8) || !strncmp(name, "ds_write2", 9) || !strncmp(name, "ds_wrxchg2", 10);
}

static void decode_ds(struct state *st, uint32_t w)
{
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;
	uint32_t w1 = next_word(st);
	bool acc = vgpu_gfx_unified(st->dec->gfx) && bits_of(w, 25, 25);

	take_row(st, ISA_DS, bits_of(w, 24, 17));
	if (st->why)
		return;
	mem_widths(inst);
	flag_if(inst, bits_of(w, 16, 16), ISA_GDS);
	m->vaddr = vgpr_row(st, bits_of(w1, 7, 0), isa_type_dw(inst->row->src[0]));
	m->vdata = data_row(st, bits_of(w1, 15, 8), m->data_dw, acc, false);
	m->vdata1 = data_row(st, bits_of(w1, 23, 16), isa_type_dw(inst->row->src[2]), acc, false);
	m->vdst = data_row(st, bits_of(w1, 31, 24), m->dst_dw, acc, true);
	if (ds_two_addresses(inst->op)) {
		m->offset = (int32_t)bits_of(w, 7, 0);
		m->offset1 = bits_of(w, 15, 8);
	} else {
		m->offset = (int32_t)bits_of(w, 15, 0);
	}
}

/* Whether SCRATCH adds a VGPR: gfx942 has a bit for it (SVE), before that it was where there is no SGPR. */
static bool scratch_has_vaddr(const struct state *st, uint32_t w)
{
	return st->dec->gfx == VGPU_GFX942 ? bits_of(w, 13, 13) : !(st->inst->flags & ISA_SADDR);
}

static void decode_flat(struct state *st, uint32_t w)
{
	static const uint8_t segment[4] = {ISA_FLAT, ISA_SCRATCH, ISA_GLOBAL, ISA_ENC_NONE};
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;
	uint32_t w1 = next_word(st);
	enum isa_enc enc = segment[bits_of(w, 15, 14)];
	bool acc = vgpu_gfx_unified(st->dec->gfx) && bits_of(w1, 23, 23);
	unsigned address_dw;

	take_row(st, enc, bits_of(w, 24, 18));
	if (st->why)
		return;
	mem_widths(inst);
	flag_if(inst, st->dec->gfx != VGPU_GFX942 && bits_of(w, 13, 13), ISA_LDS);
	flag_if(inst, bits_of(w, 16, 16), ISA_GLC);
	flag_if(inst, bits_of(w, 17, 17), ISA_SLC);
	flag_if(inst, bits_of(w, 25, 25), ISA_SCC_BIT);
	flag_if(inst, enc != ISA_FLAT && bits_of(w1, 22, 16) != 0x7f, ISA_SADDR);
	/* The sign bit of a FLAT offset must be 0: its 12 bits are unsigned. */
	m->offset = enc == ISA_FLAT ? (int32_t)bits_of(w, 11, 0) : sign_extend(bits_of(w, 12, 0), 13);
	if (inst->flags & ISA_SADDR)
		m->saddr = scalar_code(st, bits_of(w1, 22, 16), enc == ISA_GLOBAL ? 2 : 1);
	flag_if(inst, enc == ISA_SCRATCH && scratch_has_vaddr(st, w), ISA_VADDR);
	/* GLOBAL with SADDR takes a 32-bit VGPR offset. */
	address_dw = enc == ISA_SCRATCH ? !!(inst->flags & ISA_VADDR) : inst->flags & ISA_SADDR ? 1 : 2;
	m->vaddr = vgpr_row(st, bits_of(w1, 7, 0), address_dw);
	m->vdata = data_row(st, bits_of(w1, 15, 8), m->data_dw, acc, false);
	/* An atomic that returns nothing leaves the field unused. */
	m->vdst = data_row(st, bits_of(w1, 31, 24), m->data_dw && !(inst->flags & ISA_GLC) ? 0 : m->dst_dw, acc,
			   true);
}

static void buffer_fields(struct state *st, uint32_t w, uint32_t w1)
{
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;
	bool acc = vgpu_gfx_unified(st->dec->gfx) && bits_of(w1, 23, 23), result;
	unsigned dw;

	mem_widths(inst);
	flag_if(inst, bits_of(w, 12, 12), ISA_OFFEN);
	flag_if(inst, bits_of(w, 13, 13), ISA_IDXEN);
	flag_if(inst, bits_of(w, 14, 14), ISA_GLC);
	flag_if(inst, !vgpu_gfx_unified(st->dec->gfx) && bits_of(w1, 23, 23), ISA_TFE);
	m->offset = (int32_t)bits_of(w, 11, 0);
	/* TFE adds a status dword to a load's result; a load to LDS needs no register. */
	dw = m->dst_dw > m->data_dw ? m->dst_dw : m->data_dw;
	dw = inst->flags & ISA_LDS ? 0 : dw + (inst->flags & ISA_TFE ? 1 : 0);
	m->vaddr = vgpr_row(st, bits_of(w1, 7, 0), bits_of(w, 12, 12) + bits_of(w, 13, 13));
	/* An atomic that returns nothing has its data there alone. */
	result = m->dst_dw && (!m->data_dw || inst->flags & ISA_GLC);
	m->vdata = m->vdst = data_row(st, bits_of(w1, 15, 8), dw, acc, result);
	if (inst->row->src[0] || inst->op == ISA_OP_BUFFER_STORE_LDS_DWORD) {
		m->sbase = scalar_code(st, bits_of(w1, 20, 16) * 4, 4);
		m->soffset = scalar_source(st, bits_of(w1, 31, 24), ISA_T_B32);
	}
}

static void decode_mubuf(struct state *st, uint32_t w)
{
	uint32_t w1 = next_word(st);

	take_row(st, ISA_MUBUF, bits_of(w, 24, 18));
	if (st->why)
		return;
	flag_if(st->inst, bits_of(w, 16, 16), ISA_LDS);
	flag_if(st->inst, bits_of(w, 17, 17), ISA_SLC);
	flag_if(st->inst, bits_of(w, 15, 15), ISA_SCC_BIT);
	buffer_fields(st, w, w1);
}

static void decode_mtbuf(struct state *st, uint32_t w)
{
	uint32_t w1 = next_word(st);

	take_row(st, ISA_MTBUF, bits_of(w, 18, 15));
	if (st->why)
		return;
	flag_if(st->inst, bits_of(w1, 22, 22), ISA_SLC);
	flag_if(st->inst, bits_of(w1, 21, 21), ISA_SCC_BIT);
	st->inst->mem.dfmt = (uint8_t)bits_of(w, 22, 19);
	st->inst->mem.nfmt = (uint8_t)bits_of(w, 25, 23);
	buffer_fields(st, w, w1);
}

/* The resource has the number of coordinates: one is checked here. */
static void decode_mimg(struct state *st, uint32_t w)
{
	struct isa_inst *inst = st->inst;
	struct isa_mem *m = &inst->mem;
	uint32_t w1 = next_word(st);
	unsigned dwords;
	bool acc, stores;

	take_row(st, ISA_MIMG, bits_of(w, 24, 18));
	if (st->why)
		return;
	stores = inst->op == ISA_OP_IMAGE_STORE;
	acc = vgpu_gfx_unified(st->dec->gfx) && bits_of(w, 16, 16);
	flag_if(inst, bits_of(w, 12, 12), ISA_UNRM);
	flag_if(inst, bits_of(w, 13, 13), ISA_GLC);
	flag_if(inst, bits_of(w, 14, 14), ISA_DA);
	flag_if(inst, bits_of(w, 25, 25), ISA_SLC);
	flag_if(inst, bits_of(w, 15, 15), ISA_A16);
	flag_if(inst, bits_of(w1, 31, 31), ISA_D16);
	flag_if(inst, bits_of(w, 17, 17) || (bits_of(w, 16, 16) && !acc), ISA_UNUSUAL);
	m->dfmt = (uint8_t)bits_of(w, 11, 8);
	/* From number 0x40 on one component of four texels. */
	dwords = bits_of(w, 24, 24) ? 4 : (unsigned)__builtin_popcount(m->dfmt);
	dwords = inst->flags & ISA_D16 ? (dwords + 1) / 2 : dwords;
	*(stores ? &m->data_dw : &m->dst_dw) = (uint8_t)dwords;
	m->vaddr = vgpr_row(st, bits_of(w1, 7, 0), 1);
	m->vdata = m->vdst = data_row(st, bits_of(w1, 15, 8), dwords, acc, !stores);
	m->sbase = scalar_code(st, bits_of(w1, 20, 16) * 4, 8);
	if (bits_of(w, 24, 23)) /* image instructions with a sampler have numbers from 0x20 on */
		m->soffset = scalar_code(st, bits_of(w1, 25, 21) * 4, 4);
}

/* Graphics: only the name and the length. */
static void decode_graphics(struct state *st, uint32_t w)
{
	if (bits_of(w, 31, 26) == 0x35) { /* one dword */
		take_row(st, ISA_VINTRP, bits_of(w, 17, 16));
		return;
	}
	take_row(st, ISA_EXP, 0);
	next_word(st);
}

/* --- the encodings --- */

typedef void (*decode_fn)(struct state *st, uint32_t w);

/* Finds the encoding by bits 31:26. VOP1 and VOPC use reserved numbers of VOP2; SOP1, SOPC and SOPP those of SOP2.
 */
static decode_fn find_encoding(uint32_t w)
{
	static const decode_fn by_prefix[64] = {
		[0x30] = decode_smem,     [0x31] = decode_graphics, [0x34] = decode_vop3,
		[0x35] = decode_graphics, [0x36] = decode_ds,       [0x37] = decode_flat,
		[0x38] = decode_mubuf,    [0x3a] = decode_mtbuf,    [0x3c] = decode_mimg,
	};

	if (!(w >> 31))
		return w >> 25 == 0x3e ? decode_vopc : w >> 25 == 0x3f ? decode_vop1 : decode_vop2;
	if (w >> 30 == 2) {
		if (w >> 23 == 0x17d)
			return decode_sop1;
		if (w >> 23 == 0x17e)
			return decode_sopc;
		if (w >> 23 == 0x17f)
			return decode_sopp;
		return w >> 28 == 0xb ? decode_sopk : decode_sop2;
	}
	if (w >> 23 == 0x1a7)
		return decode_vop3p;
	return by_prefix[w >> 26];
}

struct isa_decoder isa_decoder_any(enum vgpu_gfx gfx)
{
	return (struct isa_decoder){.gfx = gfx, .vgprs = 512, .sgprs = 102, .first_agpr = 512, .agprs = 512};
}

unsigned isa_decode(const struct isa_decoder *dec, const uint32_t *code, unsigned words, uint64_t pc,
		    struct isa_inst *inst, const char **why)
{
	struct state st = {.dec = dec, .code = code, .words = words, .inst = inst};
	uint32_t w = next_word(&st);
	decode_fn fn = find_encoding(w);

	memset(inst, 0, sizeof(*inst));
	inst->pc = pc;
	if (!st.why && !fn)
		st.why = "no encoding of this chip";
	if (!st.why)
		fn(&st, w);
	inst->dwords = (uint8_t)st.used;
	*why = st.why;
	if (!st.why)
		return st.used;
	*inst = (struct isa_inst){.pc = pc}; /* some fields would be set, and not checked */
	return 0;
}
