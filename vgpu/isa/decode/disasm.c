/* Text of an instruction, in LLVM's syntax, for reports. Modifiers of packed, SDWA and DPP forms are spelt shorter.
 */
#include <stdarg.h>
#include <stdio.h>

#include "vgpu/isa/decode/decode.h"

enum { AGPR_ROW = 512 }; /* isa_decoder_any puts AGPRs there */

struct text {
	char *at;
	size_t left;
	unsigned operands;
	enum vgpu_gfx gfx;
};

static void put_text(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put_text(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->at, t->left, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= t->left)
		n = t->left ? (int)t->left - 1 : 0;
	t->at += n;
	t->left -= (size_t)n;
}

/* Appends a separator between operands. */
static void put_separator(struct text *t)
{
	put_text(t, t->operands++ ? ", " : " ");
}

static void put_tuple(struct text *t, char file, unsigned first, unsigned dw)
{
	if (dw > 1)
		put_text(t, "%c[%u:%u]", file, first, first + dw - 1);
	else
		put_text(t, "%c%u", file, first);
}

static void put_row(struct text *t, unsigned row, unsigned dw)
{
	put_tuple(t, row >= AGPR_ROW ? 'a' : 'v', row % AGPR_ROW, dw);
}

static const char *pair_name(enum vgpu_gfx gfx, unsigned code)
{
	if (code < isa_generation_of(gfx)->sgprs)
		return NULL;
	switch (code) {
	case ISA_FLAT_SCRATCH:
		return "flat_scratch";
	case ISA_XNACK_MASK:
		return "xnack_mask";
	case ISA_VCC:
		return "vcc";
	case ISA_EXEC:
		return "exec";
	default:
		return NULL;
	}
}

static void put_special(struct text *t, unsigned code)
{
	static const char *const names[] = {
		[235] = "src_shared_base",
		[236] = "src_shared_limit",
		[237] = "src_private_base",
		[238] = "src_private_limit",
		[239] = "src_pops_exiting_wave_id",
		[251] = "src_vccz",
		[252] = "src_execz",
		[253] = "src_scc",
	};

	if (code == ISA_M0)
		put_text(t, "m0");
	else if (code == ISA_NULL)
		put_text(t, "null");
	else if (code < sizeof(names) / sizeof(names[0]) && names[code])
		put_text(t, "%s", names[code]);
	else
		put_text(t, "<%u>", code);
}

static void put_scalar(struct text *t, unsigned code, unsigned dw)
{
	static const char *const floats[] = {"0.5",  "-0.5", "1.0",  "-1.0",      "2.0",
					     "-2.0", "4.0",  "-4.0", "0.15915494"};

	if (code < isa_generation_of(t->gfx)->sgprs)
		put_tuple(t, 's', code, dw);
	else if (code < 128 && pair_name(t->gfx, code & ~1u))
		put_text(t, "%s%s", pair_name(t->gfx, code & ~1u), dw > 1 ? "" : code & 1 ? "_hi" : "_lo");
	else if (code >= ISA_TTMP0 && code < ISA_M0 && dw > 1)
		put_text(t, "ttmp[%u:%u]", code - ISA_TTMP0, code - ISA_TTMP0 + dw - 1);
	else if (code >= ISA_TTMP0 && code < ISA_M0)
		put_text(t, "ttmp%u", code - ISA_TTMP0);
	else if (code >= 128 && code <= 208)
		put_text(t, "%d", code <= 192 ? (int)code - 128 : 192 - (int)code);
	else if (code >= 240 && code <= 248)
		put_text(t, "%s", floats[code - 240]);
	else
		put_special(t, code);
}

/* --- scalar --- */

static void put_salu_source(struct text *t, const struct isa_inst *i, unsigned n)
{
	unsigned dw = isa_type_dw(i->row->src[n]);

	if (!dw)
		return;
	put_separator(t);
	if (i->salu.src[n] == 255 && i->enc != ISA_SOPK)
		put_text(t, "0x%x", i->salu.literal);
	else
		put_scalar(t, i->salu.src[n], dw);
}

static void put_hwreg(struct text *t, int32_t simm)
{
	put_separator(t);
	put_text(t, "hwreg(%u, %u, %u)", simm & 63, simm >> 6 & 31, (simm >> 11 & 31) + 1);
}

static void put_sopk(struct text *t, const struct isa_inst *i)
{
	switch (i->op) {
	case ISA_OP_S_SETREG_B32:
	case ISA_OP_S_SETREG_IMM32_B32:
		put_hwreg(t, i->salu.simm);
		if (i->op == ISA_OP_S_SETREG_B32)
			put_salu_source(t, i, 0);
		else
			put_text(t, ", 0x%x", i->salu.literal);
		return;
	case ISA_OP_S_GETREG_B32:
		put_hwreg(t, i->salu.simm);
		return;
	default:
		put_salu_source(t, i, 0);
		put_separator(t);
		put_text(t, "0x%x", (unsigned)i->salu.simm & 0xffff);
	}
}

static bool is_branch(enum isa_op op)
{
	return op == ISA_OP_S_BRANCH || (op >= ISA_OP_S_CBRANCH_SCC0 && op <= ISA_OP_S_CBRANCH_EXECNZ) ||
	       (op >= ISA_OP_S_CBRANCH_CDBGSYS && op <= ISA_OP_S_CBRANCH_CDBGSYS_AND_USER);
}

static void put_sopp(struct text *t, const struct isa_inst *i)
{
	if (is_branch(i->op))
		put_text(t, " 0x%llx", (unsigned long long)i->salu.target);
	else if (i->salu.simm || i->op == ISA_OP_S_NOP || i->op == ISA_OP_S_WAITCNT)
		put_text(t, " 0x%x", (unsigned)i->salu.simm & 0xffff);
}

static void put_salu(struct text *t, const struct isa_inst *i)
{
	if (i->row->dst) {
		put_separator(t);
		put_scalar(t, i->salu.dst, isa_type_dw(i->row->dst));
	}
	if (i->enc == ISA_SOPK) {
		put_sopk(t, i);
	} else if (i->enc == ISA_SOPP) {
		put_sopp(t, i);
	} else if (isa_op_has_answer(i->op)) {
		put_text(t, ", 0x%x", (unsigned)i->salu.simm);
	} else {
		put_salu_source(t, i, 0);
		put_salu_source(t, i, 1);
		if (i->op == ISA_OP_S_SET_GPR_IDX_ON)
			put_text(t, ", 0x%x", (unsigned)i->salu.simm);
	}
}

/* --- vector ALU --- */

static bool is_half(enum isa_type type)
{
	return type == ISA_T_F16 || type == ISA_T_B16;
}

static void put_valu_source(struct text *t, const struct isa_inst *i, unsigned n)
{
	const struct isa_valu *v = &i->valu;
	unsigned dw = isa_type_dw(v->type[n]);
	bool signs = i->row->enc != ISA_VOP3P || i->row->src[n] == ISA_T_MIX;
	bool neg = signs && v->neg >> n & 1, abs = signs && v->abs >> n & 1;

	put_separator(t);
	put_text(t, "%s%s%s", v->is_sdwa && v->sext >> n & 1 ? "sext(" : "", neg ? "-" : "", abs ? "|" : "");
	if (v->kind[n] == ISA_FROM_ROW)
		put_row(t, v->row[n], dw);
	else if (v->src[n] == 255)
		put_text(t, "0x%x",
			 (unsigned)isa_constant_value(255, is_half(v->type[n]) ? v->type[n] : ISA_T_B32,
						      v->literal));
	else
		put_scalar(t, v->src[n], dw);
	put_text(t, "%s%s", abs ? "|" : "", v->is_sdwa && v->sext >> n & 1 ? ")" : "");
}

static void put_valu_results(struct text *t, const struct isa_inst *i)
{
	const struct isa_valu *v = &i->valu;
	bool scalar = isa_result_is_scalar(i->op);

	if (v->dst_type == ISA_T_NONE || (i->row->flags & ISA_ROW_CMPX && isa_generation_of(t->gfx)->cmpx_exec))
		return;
	put_separator(t);
	if (v->dst_type == ISA_T_M64 || scalar)
		put_scalar(t, v->sdst, scalar ? 1 : 2);
	else
		put_row(t, v->vdst, isa_type_dw(v->dst_type));
	if (i->row->flags & ISA_ROW_CARRY_OUT) {
		put_separator(t);
		put_scalar(t, v->sdst, 2);
	}
}

static void put_bits(struct text *t, const char *name, unsigned bits, unsigned count)
{
	put_text(t, " %s:[", name);
	for (unsigned n = 0; n < count; n++)
		put_text(t, "%s%u", n ? "," : "", bits >> n & 1);
	put_text(t, "]");
}

static void put_packing(struct text *t, const struct isa_inst *i, unsigned count)
{
	const struct isa_valu *v = &i->valu;
	unsigned all = (1u << count) - 1;

	if (i->row->flags & ISA_ROW_MATRIX) {
		if (v->cbsz)
			put_text(t, " cbsz:%u", v->cbsz);
		if (v->abid)
			put_text(t, " abid:%u", v->abid);
		if (v->blgp)
			put_text(t, " blgp:%u", v->blgp);
		return;
	}
	if (v->opsel & all)
		put_bits(t, "op_sel", v->opsel, count);
	if (i->row->src[0] == ISA_T_MIX ? v->opsel_hi & all : (v->opsel_hi & all) != all)
		put_bits(t, "op_sel_hi", v->opsel_hi, count);
	if (i->row->src[0] == ISA_T_MIX)
		return;
	if (v->neg & all)
		put_bits(t, "neg_lo", v->neg, count);
	if (v->abs & all)
		put_bits(t, "neg_hi", v->abs, count);
}

static void put_sdwa(struct text *t, const struct isa_inst *i)
{
	static const char *const sel[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
	static const char *const unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
	const struct isa_valu *v = &i->valu;

	if (v->dst_type != ISA_T_M64)
		put_text(t, " dst_sel:%s dst_unused:%s", sel[v->dst_sel], unused[v->dst_unused]);
	put_text(t, " src0_sel:%s", sel[v->sel[0]]);
	if (v->type[1])
		put_text(t, " src1_sel:%s", sel[v->sel[1]]);
}

static void put_dpp(struct text *t, const struct isa_valu *v)
{
	put_text(t, " dpp_ctrl:0x%x row_mask:0x%x bank_mask:0x%x%s", v->dpp_ctrl, v->row_mask, v->bank_mask,
		 v->bound_ctrl ? " bound_ctrl:0" : "");
}

static void put_valu(struct text *t, const struct isa_inst *i)
{
	static const char *const omod[] = {"", " mul:2", " mul:4", " div:2"};
	const struct isa_valu *v = &i->valu;
	unsigned count = 0;

	put_valu_results(t, i);
	for (unsigned n = 0; n < 3; n++) {
		if (!i->row->src[n])
			continue;
		put_valu_source(t, i, n);
		count++;
	}
	if (i->row->flags & ISA_ROW_CARRY_IN && !i->row->src[2]) {
		put_separator(t);
		put_scalar(t, v->scarry, 2);
	}
	if (i->row->enc == ISA_VOP3P)
		put_packing(t, i, count);
	else if (v->opsel && (is_half(v->dst_type) || is_half(v->type[0]) || is_half(v->type[2]))) {
		put_bits(t, "op_sel", (v->opsel & ((1u << count) - 1)) | (v->opsel & 8u) >> (3 - count), count + 1);
	}
	put_text(t, "%s%s", v->clamp ? " clamp" : "", omod[v->omod]);
	if (v->is_sdwa)
		put_sdwa(t, i);
	if (v->is_dpp)
		put_dpp(t, v);
}

/* --- memory --- */

/* GFX12: hint of reuse, and scope. */
static void put_temporal(struct text *t, const struct isa_inst *i)
{
	static const char *const hints[8] = {"", "NT", "HT", "LU", "NT_RT", "RT_NT", "NT_HT", "NT_WB"};
	static const char *const atomic[4] = {"", "RETURN", "NT", "NT_RETURN"};
	static const char *const scopes[4] = {"", " scope:SCOPE_SE", " scope:SCOPE_DEV", " scope:SCOPE_SYS"};
	const struct isa_mem *m = &i->mem;

	if (m->th && m->data_dw && m->dst_dw)
		put_text(t, " th:TH_ATOMIC_%s", m->th < 4 ? atomic[m->th] : "CASCADE");
	else if (m->th)
		put_text(t, " th:TH_%s_%s", m->data_dw ? "STORE" : "LOAD", hints[m->th]);
	put_text(t, "%s", scopes[m->scope]);
}

static void put_flags(struct text *t, const struct isa_inst *i)
{
	static const struct {
		uint32_t flag;
		const char *name, *name_942;
	} names[] = {{ISA_GLC, " glc", " sc0"}, {ISA_SLC, " slc", " nt"},  {ISA_SCC_BIT, " scc", " sc1"},
		     {ISA_DLC, " dlc", NULL},   {ISA_TFE, " tfe", " tfe"}, {ISA_LDS, " lds", " lds"},
		     {ISA_NV, " nv", " nv"},    {ISA_GDS, " gds", " gds"}};
	bool scopes = t->gfx == VGPU_GFX942 && i->enc != ISA_SMEM;
	bool by_th = !isa_generation_of(t->gfx)->glc_returns,
	     opcode_has_lds = i->row->number[ISA_COLUMN_9] == ISA_NO;

	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (i->flags & names[n].flag && !(names[n].flag == ISA_GLC && by_th) &&
		    !(names[n].flag == ISA_LDS && opcode_has_lds))
			put_text(t, "%s", scopes ? names[n].name_942 : names[n].name);
	if (i->enc != ISA_DS)
		put_temporal(t, i);
}

static void put_data(struct text *t, unsigned row, unsigned dw)
{
	if (!dw)
		return;
	put_separator(t);
	put_row(t, row, dw);
}

static void put_smem(struct text *t, const struct isa_inst *i)
{
	unsigned dw = i->mem.data_dw ? i->mem.data_dw : i->mem.dst_dw;

	if (dw) {
		put_separator(t);
		put_scalar(t, i->mem.sdst, dw);
	}
	if (i->row->src[0]) {
		put_separator(t);
		put_scalar(t, i->mem.sbase, isa_type_dw(i->row->src[0]));
		put_separator(t);
		if (i->flags & ISA_SOFFSET)
			put_scalar(t, i->mem.soffset, 1);
		else
			put_text(t, "0x%x", (unsigned)i->mem.offset);
		if (i->flags & ISA_SOFFSET && i->flags & ISA_SOE_IMM)
			put_text(t, " offset:0x%x", (unsigned)i->mem.offset);
	}
	put_flags(t, i);
}

static void put_ds(struct text *t, const struct isa_inst *i)
{
	const struct isa_mem *m = &i->mem;

	put_data(t, m->vdst, m->dst_dw);
	put_data(t, m->vaddr, isa_type_dw(i->row->src[0]));
	put_data(t, m->vdata, m->data_dw);
	put_data(t, m->vdata1, isa_type_dw(i->row->src[2]));
	if (m->offset)
		put_text(t, " offset%s:%d",
			 m->offset1 || strstr(isa_op_name(i->op), "2_b") || strstr(isa_op_name(i->op), "2st64")
				 ? "0"
				 : "",
			 m->offset);
	if (m->offset1)
		put_text(t, " offset1:%u", m->offset1);
	put_flags(t, i);
}

static void put_flat(struct text *t, const struct isa_inst *i)
{
	const struct isa_mem *m = &i->mem;
	bool saddr = i->flags & ISA_SADDR, scratch = i->enc == ISA_SCRATCH;

	if (!m->data_dw || i->flags & ISA_GLC)
		put_data(t, m->vdst, m->dst_dw);
	if (i->row->src[0]) {
		put_separator(t);
		if (scratch && !(i->flags & ISA_VADDR))
			put_text(t, "off");
		else
			put_row(t, m->vaddr, scratch || saddr ? 1 : 2);
	}
	put_data(t, m->vdata, m->data_dw);
	if (i->enc != ISA_FLAT && (m->dst_dw || m->data_dw)) {
		put_separator(t);
		if (saddr)
			put_scalar(t, m->saddr, scratch ? 1 : 2);
		else
			put_text(t, "off");
	}
	if (m->offset)
		put_text(t, " offset:%d", m->offset);
	put_flags(t, i);
}

static void put_buffer(struct text *t, const struct isa_inst *i)
{
	const struct isa_mem *m = &i->mem;
	unsigned dw = m->data_dw ? m->data_dw : m->dst_dw,
		 address = !!(i->flags & ISA_OFFEN) + !!(i->flags & ISA_IDXEN);

	if (!i->row->src[0] && i->op != ISA_OP_BUFFER_STORE_LDS_DWORD) {
		if (t->gfx == VGPU_GFX942)
			put_flags(t, i);
		return;
	}
	if (i->flags & ISA_LDS)
		dw = 0;
	put_data(t, m->vdata, dw);
	if (i->row->src[0]) {
		put_separator(t);
		if (address)
			put_row(t, m->vaddr, address);
		else
			put_text(t, "off");
	}
	put_separator(t);
	put_scalar(t, m->sbase, 4);
	put_separator(t);
	put_scalar(t, m->soffset, 1);
	if (i->enc == ISA_MTBUF)
		put_text(t, " dfmt:%u nfmt:%u", m->dfmt, m->nfmt);
	put_text(t, "%s%s", i->flags & ISA_IDXEN ? " idxen" : "", i->flags & ISA_OFFEN ? " offen" : "");
	if (m->offset)
		put_text(t, " offset:%d", m->offset);
	put_flags(t, i);
}

/* GFX9: the first VGPR only, because the resource has the number of coordinates. */
static void put_image_address(struct text *t, const struct isa_inst *i)
{
	const struct isa_mem *m = &i->mem;
	unsigned count = isa_image_dwords(i, m->dim), last = m->addresses - 1u;

	put_separator(t);
	if (!last || count < 2) {
		put_row(t, m->vaddr, count);
		return;
	}
	put_text(t, "[");
	for (unsigned n = 0; n < count && n <= last; n++) {
		put_text(t, n ? ", " : "");
		put_row(t, m->address[n], n == last && m->last_is_tuple ? count - n : 1);
	}
	put_text(t, "]");
}

static void put_image(struct text *t, const struct isa_inst *i)
{
	static const char *const dims[] = {"1D",       "2D",       "3D",      "CUBE",
					   "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};
	const struct isa_mem *m = &i->mem;
	unsigned dw = m->data_dw ? m->data_dw : m->dst_dw;

	put_data(t, m->vdata, dw + (i->flags & ISA_TFE ? 1 : 0));
	put_image_address(t, i);
	put_separator(t);
	put_scalar(t, m->sbase, 8);
	if (isa_op_samples(i->op)) {
		put_separator(t);
		put_scalar(t, m->soffset, 4);
	}
	if (m->dfmt)
		put_text(t, " dmask:0x%x", m->dfmt);
	if (m->dim < ISA_DIM_OF_RESOURCE)
		put_text(t, " dim:SQ_RSRC_IMG_%s", dims[m->dim]);
	put_text(t, "%s", i->flags & ISA_UNRM ? " unorm" : "");
	put_flags(t, i);
	put_text(t, "%s%s%s", i->flags & ISA_A16 ? " a16" : "", i->flags & ISA_DA ? " da" : "",
		 i->flags & ISA_D16 ? " d16" : "");
}

/* Half of a dual instruction: "v_dual_add_f32 v1, v2, v3". */
static void put_half(struct text *t, const struct isa_inst *i)
{
	put_text(t, "v_dual%s", isa_row_name(t->gfx, i->row) + 1);
	put_valu(t, i);
}

unsigned isa_disassemble(enum vgpu_gfx gfx, const uint32_t *code, unsigned words, uint64_t pc, char *text,
			 size_t text_B)
{
	struct isa_decoder dec = isa_decoder_any(gfx);
	struct text t = {.at = text, .left = text_B, .gfx = gfx};
	struct isa_inst inst;
	const char *why;
	unsigned used = isa_decode(&dec, code, words, pc, &inst, &why);

	if (!used) {
		put_text(&t, "<%s>", why);
		return 0;
	}
	if (inst.dual) {
		put_half(&t, &inst);
		isa_decode_second(&dec, code, words, pc, &inst);
		put_text(&t, " :: ");
		t.operands = 0;
		put_half(&t, &inst);
		return used;
	}
	put_text(&t, "%s", isa_row_name(gfx, inst.row));
	if (inst.enc <= ISA_SOPP)
		put_salu(&t, &inst);
	else if (inst.enc <= ISA_VOP3P)
		put_valu(&t, &inst);
	else if (inst.enc == ISA_SMEM)
		put_smem(&t, &inst);
	else if (inst.enc == ISA_DS)
		put_ds(&t, &inst);
	else if (inst.enc <= ISA_SCRATCH)
		put_flat(&t, &inst);
	else if (inst.enc <= ISA_MTBUF)
		put_buffer(&t, &inst);
	else if (inst.enc == ISA_MIMG)
		put_image(&t, &inst);
	return used;
}
