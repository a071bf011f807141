/* Registers that instructions read and write (operand_use.h). operand_use_test.c changes all others and checks
 * that results stay. */
#include "vgpu/isa/check/operand_use.h"

#include "vgpu/isa/decode/access.h"

/* An instruction whose use is being made. */
struct using
{
	const struct isa_inst *i;
	enum vgpu_gfx gfx;
	unsigned mask_dw; /* SGPRs of a mask with a bit for each lane */
	struct isa_operand_use *t;
};

static bool is_gfx9(const struct using *u)
{
	return isa_generation_of(u->gfx)->column == ISA_COLUMN_9;
}

static void counts_as(const struct using *u, enum isa_operation operation)
{
	const struct isa_count *counts = isa_count_of(u->gfx, operation);

	if (!counts)
		return;
	u->t->event = ISA_EVENT_COUNT;
	u->t->counts = counts;
}

static void add_bits(struct isa_operand_use *t, unsigned first, unsigned count, bool written)
{
	uint64_t *bits = first >= ISA_SCALAR_BASE ? &t->scalar : &t->vector;

	if (!count)
		return;
	t->range[t->count++] = (struct isa_range){(uint16_t)first, (uint8_t)count, written};
	for (unsigned n = 0; n < count; n++)
		*bits |= (uint64_t)1 << ((first + n) & 63);
}

static void add_read(struct isa_operand_use *t, unsigned row, unsigned dw)
{
	add_bits(t, row, dw, false);
}

static void add_write(struct isa_operand_use *t, unsigned row, unsigned dw)
{
	add_bits(t, row, dw, true);
}

/* Codes from 128 on are no registers; two of them test whether a register is zero. */
static void reads_scalar(const struct using *u, unsigned code, unsigned dw)
{
	if (code == ISA_VCCZ || code == ISA_EXECZ)
		add_bits(u->t, ISA_SCALAR_BASE + (code == ISA_VCCZ ? ISA_VCC : ISA_EXEC), u->mask_dw, false);
	else if (code < 128)
		add_bits(u->t, ISA_SCALAR_BASE + code, dw, false);
}

static void writes_scalar(const struct using *u, unsigned code, unsigned dw)
{
	add_bits(u->t, ISA_SCALAR_BASE + code, dw, true);
}

/* --- scalar --- */

enum salu_more {
	READS_DST = 1 << 0,
	READS_EXEC = 1 << 1,
	WRITES_EXEC = 1 << 2,
	READS_VCC = 1 << 3,
	READS_M0 = 1 << 4,
	WRITES_M0 = 1 << 5,
};

#define SAVEEXEC (READS_EXEC | WRITES_EXEC)

/* Properties that the fields do not show. */
static const uint8_t salu_more[ISA_OP_COUNT] = {
	[ISA_OP_S_CMOVK_I32] = READS_DST,
	[ISA_OP_S_ADDK_I32] = READS_DST,
	[ISA_OP_S_MULK_I32] = READS_DST,
	[ISA_OP_S_CMOV_B32] = READS_DST,
	[ISA_OP_S_CMOV_B64] = READS_DST,
	[ISA_OP_S_BITSET0_B32] = READS_DST,
	[ISA_OP_S_BITSET0_B64] = READS_DST,
	[ISA_OP_S_BITSET1_B32] = READS_DST,
	[ISA_OP_S_BITSET1_B64] = READS_DST,
	[ISA_OP_S_AND_SAVEEXEC_B64] = SAVEEXEC,
	[ISA_OP_S_OR_SAVEEXEC_B64] = SAVEEXEC,
	[ISA_OP_S_XOR_SAVEEXEC_B64] = SAVEEXEC,
	[ISA_OP_S_ANDN1_SAVEEXEC_B64] = SAVEEXEC,
	[ISA_OP_S_ANDN2_SAVEEXEC_B64] = SAVEEXEC,
	[ISA_OP_S_ORN1_SAVEEXEC_B64] = SAVEEXEC,
	[ISA_OP_S_ORN2_SAVEEXEC_B64] = SAVEEXEC,
	[ISA_OP_S_NAND_SAVEEXEC_B64] = SAVEEXEC,
	[ISA_OP_S_NOR_SAVEEXEC_B64] = SAVEEXEC,
	[ISA_OP_S_XNOR_SAVEEXEC_B64] = SAVEEXEC,
	[ISA_OP_S_ANDN1_WREXEC_B64] = SAVEEXEC,
	[ISA_OP_S_ANDN2_WREXEC_B64] = SAVEEXEC,
	[ISA_OP_S_AND_SAVEEXEC_B32] = SAVEEXEC,
	[ISA_OP_S_OR_SAVEEXEC_B32] = SAVEEXEC,
	[ISA_OP_S_XOR_SAVEEXEC_B32] = SAVEEXEC,
	[ISA_OP_S_ANDN1_SAVEEXEC_B32] = SAVEEXEC,
	[ISA_OP_S_ANDN2_SAVEEXEC_B32] = SAVEEXEC,
	[ISA_OP_S_ORN1_SAVEEXEC_B32] = SAVEEXEC,
	[ISA_OP_S_ORN2_SAVEEXEC_B32] = SAVEEXEC,
	[ISA_OP_S_NAND_SAVEEXEC_B32] = SAVEEXEC,
	[ISA_OP_S_NOR_SAVEEXEC_B32] = SAVEEXEC,
	[ISA_OP_S_XNOR_SAVEEXEC_B32] = SAVEEXEC,
	[ISA_OP_S_ANDN1_WREXEC_B32] = SAVEEXEC,
	[ISA_OP_S_ANDN2_WREXEC_B32] = SAVEEXEC,
	[ISA_OP_S_CBRANCH_VCCZ] = READS_VCC,
	[ISA_OP_S_CBRANCH_VCCNZ] = READS_VCC,
	[ISA_OP_S_CBRANCH_EXECZ] = READS_EXEC,
	[ISA_OP_S_CBRANCH_EXECNZ] = READS_EXEC,
	[ISA_OP_S_MOVRELS_B32] = READS_M0,
	[ISA_OP_S_MOVRELS_B64] = READS_M0,
	[ISA_OP_S_MOVRELD_B32] = READS_M0,
	[ISA_OP_S_MOVRELD_B64] = READS_M0,
	[ISA_OP_S_MOVRELSD_2_B32] = READS_M0,
	[ISA_OP_S_SENDMSG] = READS_M0,
	[ISA_OP_S_SENDMSGHALT] = READS_M0,
	[ISA_OP_S_SET_GPR_IDX_ON] = READS_M0 | WRITES_M0,
	[ISA_OP_S_SET_GPR_IDX_IDX] = READS_M0 | WRITES_M0,
	[ISA_OP_S_SET_GPR_IDX_MODE] = READS_M0 | WRITES_M0,
};

static enum isa_event salu_event(enum isa_op op)
{
	switch (op) {
	case ISA_OP_S_NOP:
		return ISA_EVENT_NOP;
	case ISA_OP_S_BARRIER:
	case ISA_OP_S_BARRIER_SIGNAL:
	case ISA_OP_S_BARRIER_SIGNAL_ISFIRST:
		return ISA_EVENT_BARRIER;
	case ISA_OP_S_BARRIER_WAIT:
		return ISA_EVENT_PASS;
	case ISA_OP_S_SETPC_B64:
	case ISA_OP_S_SWAPPC_B64:
	case ISA_OP_S_CALL_B64:
		return ISA_EVENT_CALL;
	case ISA_OP_S_ENDPGM:
	case ISA_OP_S_ENDPGM_SAVED:
	case ISA_OP_S_ENDPGM_ORDERED_PS_DONE:
		return ISA_EVENT_END;
	default:
		return ISA_EVENT_NONE;
	}
}

static void event_of_salu(const struct using *u)
{
	const struct isa_wait *wait = isa_wait_of(u->gfx, u->i->op);

	u->t->event = (uint8_t)salu_event(u->i->op);
	if (u->t->event == (is_gfx9(u) ? ISA_EVENT_CALL : ISA_EVENT_NOP))
		u->t->event = ISA_EVENT_NONE;
	if (wait) {
		u->t->event = ISA_EVENT_WAIT;
		u->t->wait = wait;
	} else if (isa_op_has_answer(u->i->op) || u->i->op == ISA_OP_S_GET_BARRIER_STATE) {
		/* LLVM's SIInsertWaitcnts counts a barrier's state with scalar memory. */
		counts_as(u, isa_op_has_answer(u->i->op) ? ISA_OPERATION_MESSAGE : ISA_OPERATION_SMEM);
		u->t->loaded = (struct isa_range){(uint16_t)(ISA_SCALAR_BASE + u->i->salu.dst),
						  (uint8_t)isa_type_dw(u->i->row->dst), true};
	}
}

/* SCC is not among the registers that anything loads. The register that s_movrel finds through M0 is not here. */
static void use_of_salu(const struct using *u)
{
	const struct isa_salu *s = &u->i->salu;
	const struct isa_row *row = u->i->row;
	unsigned more = salu_more[u->i->op], dst_dw = isa_type_dw(row->dst);

	for (unsigned n = 0; n < 2; n++)
		if (row->src[n] && !isa_op_has_answer(u->i->op))
			reads_scalar(u, s->src[n], isa_type_dw(row->src[n]));
	if (more & READS_DST)
		reads_scalar(u, s->dst, dst_dw);
	if (more & READS_EXEC)
		reads_scalar(u, ISA_EXEC, u->mask_dw);
	if (more & READS_VCC)
		reads_scalar(u, ISA_VCC, u->mask_dw);
	if (more & READS_M0)
		reads_scalar(u, ISA_M0, 1);
	if (row->dst)
		writes_scalar(u, s->dst, dst_dw);
	if (more & WRITES_EXEC)
		writes_scalar(u, ISA_EXEC, u->mask_dw);
	if (more & WRITES_M0)
		writes_scalar(u, ISA_M0, 1);
	event_of_salu(u);
}

/* --- vector ALU --- */

static bool reads_other_lanes(const struct isa_inst *i)
{
	switch (i->op) {
	case ISA_OP_V_READLANE_B32:
	case ISA_OP_V_WRITELANE_B32:
	case ISA_OP_V_PERMLANE16_B32:
	case ISA_OP_V_PERMLANEX16_B32:
	case ISA_OP_V_PERMLANE16_VAR_B32:
	case ISA_OP_V_PERMLANEX16_VAR_B32:
	case ISA_OP_V_PERMLANE64_B32:
		return true;
	default:
		return i->valu.is_dpp || i->row->flags & ISA_ROW_MATRIX;
	}
}

static void results_of_valu(const struct using *u)
{
	const struct isa_valu *v = &u->i->valu;
	unsigned flags = u->i->row->flags;
	bool cmpx = flags & ISA_ROW_CMPX, mask = v->dst_type == ISA_T_M64;

	if (flags & ISA_ROW_CARRY_OUT || (mask && !(cmpx && isa_generation_of(u->gfx)->cmpx_exec)))
		writes_scalar(u, v->sdst, u->mask_dw);
	if (cmpx)
		writes_scalar(u, ISA_EXEC, u->mask_dw);
	if (isa_result_is_scalar(u->i->op))
		writes_scalar(u, v->sdst, 1);
	else if (v->dst_type && !mask)
		add_write(u->t, v->vdst, isa_type_dw(v->dst_type));
}

static void use_of_valu(const struct using *u)
{
	const struct isa_valu *v = &u->i->valu;

	for (unsigned n = 0; n < 3; n++) {
		unsigned dw = v->type[n] == ISA_T_M64 ? u->mask_dw : isa_type_dw(v->type[n]);

		if (v->kind[n] == ISA_FROM_ROW)
			add_bits(u->t, v->row[n], dw, isa_op_swaps(u->i->op));
		else if (v->kind[n] == ISA_FROM_SCALAR)
			reads_scalar(u, v->src[n], dw);
	}
	if (u->i->row->flags & ISA_ROW_CARRY_IN)
		reads_scalar(u, v->scarry, u->mask_dw);
	results_of_valu(u);
	if (u->i->row->flags & ISA_ROW_SPARSE)
		add_read(u->t, v->vdst, isa_type_dw(v->dst_type));
	u->t->all_lanes = reads_other_lanes(u->i);
}

/* --- memory --- */

/* An atomic has data and a result, which it returns on demand only. */
static bool is_atomic(const struct isa_inst *i)
{
	return isa_access_of(i->op)->class == ISA_ACCESS_ATOMIC;
}

static bool returns(const struct isa_inst *i)
{
	return i->mem.dst_dw && (!is_atomic(i) || i->flags & ISA_GLC);
}

static enum isa_half half_moved_by_ds(enum isa_op op)
{
	switch (op) {
	case ISA_OP_DS_WRITE_B8:
	case ISA_OP_DS_WRITE_B16:
	case ISA_OP_DS_READ_U8_D16:
	case ISA_OP_DS_READ_I8_D16:
	case ISA_OP_DS_READ_U16_D16:
		return ISA_HALF_LOW;
	case ISA_OP_DS_WRITE_B8_D16_HI:
	case ISA_OP_DS_WRITE_B16_D16_HI:
	case ISA_OP_DS_READ_U8_D16_HI:
	case ISA_OP_DS_READ_I8_D16_HI:
	case ISA_OP_DS_READ_U16_D16_HI:
		return ISA_HALF_HIGH;
	default:
		return ISA_HALF_BOTH;
	}
}

static enum isa_half half_moved(const struct using *u)
{
	const struct isa_access *access = isa_access_of(u->i->op);

	if (!isa_generation_of(u->gfx)->true16)
		return ISA_HALF_BOTH;
	if (access->class != ISA_ACCESS_LOAD_D16 && access->class != ISA_ACCESS_STORE_SUB)
		return half_moved_by_ds(u->i->op);
	return access->high ? ISA_HALF_HIGH : ISA_HALF_LOW;
}

static void add_load(const struct using *u, unsigned first, unsigned count)
{
	struct isa_operand_use *t = u->t;

	add_write(t, first, count);
	if (count == 1)
		t->range[t->count - 1].half = (uint8_t)half_moved(u);
	t->loaded = t->range[t->count - 1];
}

static void add_data(const struct using *u)
{
	const struct isa_mem *m = &u->i->mem;

	add_read(u->t, m->vdata, m->data_dw);
	if (m->data_dw == 1)
		u->t->range[u->t->count - 1].half = (uint8_t)half_moved(u);
}

static void use_of_smem(const struct using *u)
{
	const struct isa_mem *m = &u->i->mem;

	counts_as(u, ISA_OPERATION_SMEM);
	if (u->i->row->src[0])
		reads_scalar(u, m->sbase, isa_type_dw(u->i->row->src[0]));
	if (u->i->flags & ISA_SOFFSET)
		reads_scalar(u, m->soffset, 1);
	if (m->data_dw)
		reads_scalar(u, m->sdst, m->data_dw);
	if (returns(u->i))
		add_load(u, ISA_SCALAR_BASE + m->sdst, m->dst_dw);
}

/* Instructions of LDS and GDS that read M0. */
static bool ds_reads_m0(const struct isa_inst *i)
{
	return i->op == ISA_OP_DS_READ_ADDTID_B32 || i->op == ISA_OP_DS_WRITE_ADDTID_B32 ||
	       i->op == ISA_OP_DS_APPEND || i->op == ISA_OP_DS_CONSUME || i->flags & ISA_GDS;
}

/* Global wave sync is the only group of GDS instructions that is executed. */
static void use_of_ds(const struct using *u)
{
	const struct isa_inst *i = u->i;
	const struct isa_mem *m = &i->mem;

	counts_as(u, ISA_OPERATION_DS);
	u->t->atomic = i->op == ISA_OP_DS_APPEND || i->op == ISA_OP_DS_CONSUME ||
		       !strncmp(isa_op_name(i->op), "ds_wrxchg2", 10);
	add_read(u->t, m->vaddr, isa_type_dw(i->row->src[0]));
	add_data(u);
	add_read(u->t, m->vdata1, isa_type_dw(i->row->src[2]));
	if (ds_reads_m0(i))
		reads_scalar(u, ISA_M0, 1);
	if (m->dst_dw)
		add_load(u, m->vdst, m->dst_dw);
}

static bool has_lds_op(enum isa_op op)
{
	return op >= ISA_OP_GLOBAL_LOAD_LDS_UBYTE && op <= ISA_OP_GLOBAL_LOAD_LDS_DWORD;
}

static void use_of_result(const struct using *u, unsigned extra_dw)
{
	const struct isa_mem *m = &u->i->mem;

	u->t->to_lds = u->i->flags & ISA_LDS || has_lds_op(u->i->op);
	if (u->t->to_lds)
		reads_scalar(u, ISA_M0, 1);
	else if (returns(u->i))
		add_load(u, m->vdst, m->dst_dw + extra_dw);
}

/* Vector memory counts as a load when anything comes back. */
static bool comes_back(const struct isa_operand_use *t)
{
	return t->loaded.count || t->to_lds;
}

/* Write-backs count as stores, invalidations as loads (GFX12). */
static void use_of_cache_control(const struct using *u)
{
	counts_as(u, u->i->op == ISA_OP_GLOBAL_INV ? ISA_OPERATION_LOAD : ISA_OPERATION_STORE);
}

static void flat_addresses(const struct using *u)
{
	const struct isa_mem *m = &u->i->mem;
	bool scratch = u->i->enc == ISA_SCRATCH, saddr = u->i->flags & ISA_SADDR;

	if (scratch)
		add_read(u->t, m->vaddr, !!(u->i->flags & ISA_VADDR));
	else if (u->i->row->src[0])
		add_read(u->t, m->vaddr, saddr ? 1 : 2);
	if (saddr)
		reads_scalar(u, m->saddr, scratch ? 1 : 2);
	if ((scratch || u->i->enc == ISA_FLAT) && is_gfx9(u))
		reads_scalar(u, ISA_FLAT_SCRATCH, 2);
}

/* The registers that M0 selects are not known at decode. */
static void use_of_block(const struct using *u)
{
	const struct isa_mem *m = &u->i->mem;

	u->t->block = true;
	reads_scalar(u, ISA_M0, 1);
	add_data(u);
	if (m->dst_dw)
		add_load(u, m->vdst, m->dst_dw);
	counts_as(u, m->dst_dw ? ISA_OPERATION_LOAD : ISA_OPERATION_STORE);
}

static void use_of_flat(const struct using *u)
{
	const struct isa_mem *m = &u->i->mem;
	bool flat = u->i->enc == ISA_FLAT;

	if (!u->i->row->src[0] && !m->data_dw && !m->dst_dw) {
		use_of_cache_control(u);
		return;
	}
	flat_addresses(u);
	if (isa_op_is_block(u->i->op)) {
		use_of_block(u);
		return;
	}
	add_data(u);
	use_of_result(u, 0);
	if (comes_back(u->t))
		counts_as(u, flat ? ISA_OPERATION_FLAT_LOAD : ISA_OPERATION_LOAD);
	else
		counts_as(u, flat ? ISA_OPERATION_FLAT_STORE : ISA_OPERATION_STORE);
}

static void use_of_buffer(const struct using *u)
{
	const struct isa_inst *i = u->i;
	const struct isa_mem *m = &i->mem;
	bool from_lds = i->op == ISA_OP_BUFFER_STORE_LDS_DWORD;

	if (!i->row->src[0] && !from_lds) /* cache control: LLVM does not count it, so no program waits for it */
		return;
	add_read(u->t, m->vaddr, !!(i->flags & ISA_OFFEN) + !!(i->flags & ISA_IDXEN));
	reads_scalar(u, m->sbase, 4);
	reads_scalar(u, m->soffset, 1);
	add_data(u);
	use_of_result(u, i->flags & ISA_TFE ? 1 : 0);
	if (i->flags & ISA_TFE && !comes_back(u->t)) /* the status has a register all the same */
		add_load(u, m->vdst + (m->dst_dw ? m->dst_dw : m->data_dw), 1);
	if (from_lds)
		u->t->to_lds = false;
	counts_as(u, comes_back(u->t) ? ISA_OPERATION_LOAD : ISA_OPERATION_STORE);
}

/* GFX9's resource has the dimensions: one register of the address is known. */
static void image_addresses(const struct using *u)
{
	const struct isa_mem *m = &u->i->mem;
	unsigned left = m->dim == ISA_DIM_OF_RESOURCE ? 1 : isa_image_dwords(u->i, m->dim);

	for (unsigned n = 0; n < m->addresses && left; n++, left--) {
		bool tuple = m->last_is_tuple && n + 1 == m->addresses;

		add_read(u->t, m->address[n], tuple ? left : 1);
		if (tuple)
			return;
	}
}

static bool samples(enum isa_op op)
{
	return isa_op_samples(op) || op == ISA_OP_IMAGE_MSAA_LOAD;
}

static void use_of_image(const struct using *u)
{
	const struct isa_inst *i = u->i;
	const struct isa_mem *m = &i->mem;

	image_addresses(u);
	reads_scalar(u, m->sbase, 8);
	if (isa_op_samples(i->op))
		reads_scalar(u, m->soffset, 4);
	add_data(u);
	use_of_result(u, i->flags & ISA_TFE ? 1 : 0);
	if (samples(i->op) && !is_gfx9(u))
		u->t->path = ISA_PATH_SAMPLER;
	if (comes_back(u->t))
		counts_as(u, samples(i->op) ? ISA_OPERATION_SAMPLE : ISA_OPERATION_LOAD);
	else
		counts_as(u, ISA_OPERATION_STORE);
}

void isa_operand_use_of(const struct isa_inst *i, enum vgpu_gfx gfx, bool wave32, struct isa_operand_use *t)
{
	static void (*const by_enc[ISA_ENC_COUNT])(const struct using *u) = {
		[ISA_SOP1] = use_of_salu,    [ISA_SOP2] = use_of_salu,    [ISA_SOPK] = use_of_salu,
		[ISA_SOPC] = use_of_salu,    [ISA_SOPP] = use_of_salu,    [ISA_VOP1] = use_of_valu,
		[ISA_VOP2] = use_of_valu,    [ISA_VOPC] = use_of_valu,    [ISA_VOP3] = use_of_valu,
		[ISA_VOP3P] = use_of_valu,   [ISA_SMEM] = use_of_smem,    [ISA_DS] = use_of_ds,
		[ISA_FLAT] = use_of_flat,    [ISA_GLOBAL] = use_of_flat,  [ISA_SCRATCH] = use_of_flat,
		[ISA_MUBUF] = use_of_buffer, [ISA_MTBUF] = use_of_buffer, [ISA_MIMG] = use_of_image,
	};
	struct using u = {i, gfx, wave32 ? 1 : 2, t};

	memset(t, 0, sizeof(*t));
	if (i->row && by_enc[i->enc])
		by_enc[i->enc](&u);
}
