/* Decodes machine code into isa_inst: registers, scalar instructions, and the choice of the format. Field positions
 * are those of generation.c; decode_test.c compares every instruction with LLVM's disassembler. */
#include "vgpu/isa/decode/state.h"

uint32_t decode_next_word(struct decode_state *st)
{
	if (st->used >= st->words) {
		st->why = "the code ends inside the instruction";
		return 0;
	}
	return st->code[st->used++];
}

void decode_row(struct decode_state *st, enum isa_enc enc, unsigned number)
{
	st->inst->enc = (uint8_t)enc;
	st->inst->row = isa_row_find(st->dec->gfx, enc, number);
	if (st->inst->row)
		st->inst->op = st->inst->row->op;
	else
		st->why = "no instruction of this chip";
}

unsigned decode_type_dw(const struct decode_state *st, enum isa_type type)
{
	return type == ISA_T_M64 && st->dec->wave32 ? 1 : isa_type_dw(type);
}

/* --- registers --- */

/* Rows of a register tuple. A source above the granted registers reads the first ones (register 0, for a single
 * one); a result there disables the instruction ("Vega" ISA, out-of-range behaviour). */
static uint16_t rows_of(struct decode_state *st, unsigned reg, unsigned dw, unsigned base, unsigned count,
			bool result)
{
	if (!dw || reg + dw <= count)
		return (uint16_t)(base + reg);
	st->inst->beyond |= result ? ISA_BEYOND_RESULT : ISA_BEYOND_SOURCE;
	if (dw > count && !result)
		st->why = "more registers than the dispatch grants";
	return (uint16_t)base;
}

uint16_t decode_vgpr(struct decode_state *st, unsigned reg, unsigned dw)
{
	return rows_of(st, reg, dw, 0, st->dec->vgprs, false);
}

uint16_t decode_data(struct decode_state *st, unsigned reg, unsigned dw, bool agpr, bool result)
{
	return agpr ? rows_of(st, reg, dw, st->dec->first_agpr, st->dec->agprs, result)
		    : rows_of(st, reg, dw, 0, st->dec->vgprs, result);
}

uint16_t decode_agpr(struct decode_state *st, unsigned reg, unsigned dw)
{
	return decode_data(st, reg, dw, true, false);
}

/* The code that later files know for M0 and NULL. */
static unsigned common_code(const struct decode_state *st, unsigned code)
{
	const struct isa_codes *codes = &st->gen->codes;

	if (code == codes->m0)
		return ISA_M0;
	return !codes->no_null && code == codes->null ? ISA_NULL : code;
}

/* A tuple of SGPRs must end inside the SGPRs, or be a special pair. A source above the granted SGPRs reads s0. */
uint8_t decode_sgpr(struct decode_state *st, unsigned code, unsigned dw)
{
	unsigned first_special = st->gen->sgprs;

	code = common_code(st, code);
	if (code < first_special && code + dw > st->dec->sgprs) {
		st->inst->beyond |= ISA_BEYOND_SOURCE;
		return 0;
	}
	if (code == ISA_NULL && !st->gen->codes.no_null)
		return st->dec->names ? ISA_NULL : ISA_ZERO;
	if (code >= first_special && code < 128 && code + dw > 128)
		st->why = "an SGPR tuple that runs over the last one";
	return (uint8_t)code;
}

/* Results above the granted registers are lost, as those of NULL. */
uint8_t decode_sgpr_result(struct decode_state *st, unsigned code, unsigned dw)
{
	bool beyond = code < st->gen->sgprs && code + dw > st->dec->sgprs;

	if (code >= 128) /* the VGPR field of VOP1 and VOP3 is wider than a scalar code */
		st->why = "a scalar result that is no register";
	if (!beyond && !st->gen->codes.no_null && code == st->gen->codes.null)
		return st->dec->names ? ISA_NULL : ISA_TRASH;
	if (!beyond)
		return decode_sgpr(st, code, dw);
	st->inst->beyond |= ISA_BEYOND_SOURCE;
	return ISA_TRASH;
}

uint8_t decode_scalar(struct decode_state *st, unsigned code, enum isa_type type)
{
	bool reserved = code == 209 || code == CODE_SDWA || code == CODE_DPP || code == 254 ||
			(code >= 210 && code <= 234) || (code == 125 && st->gen->codes.no_null);

	if (reserved)
		st->why = code == 254 ? "LDS_DIRECT is not executed" : "a reserved scalar source";
	return decode_sgpr(st, code, decode_type_dw(st, type));
}

/* --- scalar --- */

static void salu_sources(struct decode_state *st, unsigned src0, unsigned src1)
{
	const struct isa_row *row = st->inst->row;
	struct isa_salu *s = &st->inst->salu;

	if (row->src[0])
		s->src[0] = decode_scalar(st, src0, row->src[0]);
	if (row->src[1])
		s->src[1] = decode_scalar(st, src1, row->src[1]);
	if (s->src[0] == CODE_LITERAL || s->src[1] == CODE_LITERAL || row->src[2])
		s->literal = decode_next_word(st);
}

static void decode_sop2(struct decode_state *st, uint32_t w)
{
	decode_row(st, ISA_SOP2, bits_of(w, 29, 23));
	if (st->why)
		return;
	st->inst->salu.dst = decode_sgpr_result(st, bits_of(w, 22, 16), isa_type_dw(st->inst->row->dst));
	salu_sources(st, bits_of(w, 7, 0), bits_of(w, 15, 8));
}

static void decode_sop1(struct decode_state *st, uint32_t w)
{
	decode_row(st, ISA_SOP1, bits_of(w, 15, 8));
	if (st->why)
		return;
	if (st->inst->row->dst)
		st->inst->salu.dst = decode_sgpr_result(st, bits_of(w, 22, 16), isa_type_dw(st->inst->row->dst));
	if (isa_op_has_answer(st->inst->op))
		st->inst->salu.simm = (int32_t)bits_of(w, 7, 0);
	else
		salu_sources(st, bits_of(w, 7, 0), 0);
}

static void decode_sopc(struct decode_state *st, uint32_t w)
{
	decode_row(st, ISA_SOPC, bits_of(w, 22, 16));
	if (st->why)
		return;
	salu_sources(st, bits_of(w, 7, 0), bits_of(w, 15, 8));
	if (st->inst->op == ISA_OP_S_SET_GPR_IDX_ON)
		st->inst->salu.simm = (int32_t)bits_of(w, 15, 8);
}

/* The branch target of SOPP branches and s_call. */
static void branch_target(struct decode_state *st)
{
	st->inst->salu.target = st->inst->pc + 4 + (int64_t)st->inst->salu.simm * 4;
}

static void decode_sopk(struct decode_state *st, uint32_t w)
{
	struct isa_salu *s = &st->inst->salu;
	const struct isa_row *row;

	decode_row(st, ISA_SOPK, bits_of(w, 27, 23));
	if (st->why)
		return;
	row = st->inst->row;
	s->simm = sign_extend(bits_of(w, 15, 0), 16);
	if (row->dst)
		s->dst = decode_sgpr_result(st, bits_of(w, 22, 16), isa_type_dw(row->dst));
	else if (row->src[0])
		s->src[0] = decode_sgpr(st, bits_of(w, 22, 16), isa_type_dw(row->src[0]));
	if (st->inst->op == ISA_OP_S_SETREG_IMM32_B32)
		s->literal = decode_next_word(st);
	branch_target(st);
}

static void decode_sopp(struct decode_state *st, uint32_t w)
{
	decode_row(st, ISA_SOPP, bits_of(w, 22, 16));
	if (st->why)
		return;
	st->inst->salu.simm = sign_extend(bits_of(w, 15, 0), 16);
	branch_target(st);
}

/* --- graphics: only the name and the length --- */

static void decode_vintrp(struct decode_state *st, uint32_t w)
{
	decode_row(st, ISA_VINTRP, bits_of(w, 17, 16));
}

static void decode_exp(struct decode_state *st, uint32_t w)
{
	(void)w;
	decode_row(st, ISA_EXP, 0);
	decode_next_word(st);
}

/* GFX11 and GFX12: loads of one value for all lanes, and of parameters of pixels. */
static void decode_lds_direct(struct decode_state *st, uint32_t w)
{
	st->why = bits_of(w, 21, 20) ? "LDS_DIRECT is not executed" : "parameters of pixels are not executed";
}

/* --- the formats --- */

typedef void (*decode_fn)(struct decode_state *st, uint32_t w);

static decode_fn decode_of(enum isa_format format, uint32_t w)
{
	static const decode_fn decode[] = {
		[ISA_FORMAT_SMEM] = decode_smem,       [ISA_FORMAT_VOP3] = decode_vop3,
		[ISA_FORMAT_DS] = decode_ds,           [ISA_FORMAT_FLAT] = decode_flat,
		[ISA_FORMAT_MUBUF] = decode_mubuf,     [ISA_FORMAT_MTBUF] = decode_mtbuf,
		[ISA_FORMAT_MIMG] = decode_mimg,       [ISA_FORMAT_VINTRP] = decode_vintrp,
		[ISA_FORMAT_EXP] = decode_exp,         [ISA_FORMAT_VOPD] = decode_vopd,
		[ISA_FORMAT_VSAMPLE] = decode_vsample,
	};

	switch (format) {
	case ISA_FORMAT_VOP3_9:
		return w >> 23 == 0x1a7 ? decode_vop3p : decode_vop3;
	case ISA_FORMAT_VOP3P: /* the rest is interpolation */
		if (w >> 24 == 0xce)
			return decode_lds_direct;
		return w >> 23 == 0x198 ? decode_vop3p : NULL;
	case ISA_FORMAT_VBUFFER:
		return bits_of(w, 21, 21) ? decode_mtbuf : decode_mubuf;
	default:
		return decode[format];
	}
}

/* VOP1 and VOPC use reserved numbers of VOP2; SOP1, SOPC and SOPP those of SOP2. All others have bits 31:26. */
static decode_fn find_format(const struct isa_generation *gen, uint32_t w)
{
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
	return decode_of((enum isa_format)gen->prefix[w >> 26], w);
}

struct isa_decoder isa_decoder_any(enum vgpu_gfx gfx)
{
	return (struct isa_decoder){
		.gfx = gfx,
		.vgprs = 512,
		.sgprs = isa_generation_of(gfx)->sgprs,
		.first_agpr = 512,
		.agprs = 512,
		.names = true,
	};
}

unsigned isa_decode(const struct isa_decoder *dec, const uint32_t *code, unsigned words, uint64_t pc,
		    struct isa_inst *inst, const char **why)
{
	struct decode_state st = {
		.dec = dec, .gen = isa_generation_of(dec->gfx), .code = code, .words = words, .inst = inst};
	uint32_t w = decode_next_word(&st);
	decode_fn fn = find_format(st.gen, w);

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

void isa_decode_second(const struct isa_decoder *dec, const uint32_t *code, unsigned words, uint64_t pc,
		       struct isa_inst *inst)
{
	struct decode_state st = {
		.dec = dec, .gen = isa_generation_of(dec->gfx), .code = code, .words = words, .inst = inst};

	memset(inst, 0, sizeof(*inst));
	inst->pc = pc;
	decode_vopd_second(&st, decode_next_word(&st));
	inst->dwords = (uint8_t)st.used;
}
