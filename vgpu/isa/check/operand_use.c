/* Registers that instructions read and write (operand_use.h). operand_use_test.c changes all others and checks
 * that results stay. */
#include "vgpu/isa/check/operand_use.h"

#include "vgpu/isa/decode/access.h"

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
static void reads_scalar(struct isa_operand_use *t, unsigned code, unsigned dw)
{
	if (code == ISA_VCCZ || code == ISA_EXECZ)
		add_bits(t, ISA_SCALAR_BASE + (code == ISA_VCCZ ? ISA_VCC : ISA_EXEC), 2, false);
	else if (code < 128)
		add_bits(t, ISA_SCALAR_BASE + code, dw, false);
}

static void writes_scalar(struct isa_operand_use *t, unsigned code, unsigned dw)
{
	add_bits(t, ISA_SCALAR_BASE + code, dw, true);
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
	[ISA_OP_S_CBRANCH_VCCZ] = READS_VCC,
	[ISA_OP_S_CBRANCH_VCCNZ] = READS_VCC,
	[ISA_OP_S_CBRANCH_EXECZ] = READS_EXEC,
	[ISA_OP_S_CBRANCH_EXECNZ] = READS_EXEC,
	[ISA_OP_S_MOVRELS_B32] = READS_M0,
	[ISA_OP_S_MOVRELS_B64] = READS_M0,
	[ISA_OP_S_MOVRELD_B32] = READS_M0,
	[ISA_OP_S_MOVRELD_B64] = READS_M0,
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
	case ISA_OP_S_WAITCNT:
		return ISA_EVENT_WAIT;
	case ISA_OP_S_BARRIER:
		return ISA_EVENT_BARRIER;
	case ISA_OP_S_ENDPGM:
	case ISA_OP_S_ENDPGM_SAVED:
	case ISA_OP_S_ENDPGM_ORDERED_PS_DONE:
		return ISA_EVENT_END;
	default:
		return ISA_EVENT_NONE;
	}
}

/* SCC is not among the registers that anything loads. The register that s_movrel finds through M0 is not here. */
static void use_of_salu(const struct isa_inst *i, struct isa_operand_use *t)
{
	const struct isa_salu *s = &i->salu;
	unsigned more = salu_more[i->op], dst_dw = isa_type_dw(i->row->dst);

	for (unsigned n = 0; n < 2; n++)
		if (i->row->src[n])
			reads_scalar(t, s->src[n], isa_type_dw(i->row->src[n]));
	if (more & READS_DST)
		reads_scalar(t, s->dst, dst_dw);
	if (more & READS_EXEC)
		reads_scalar(t, ISA_EXEC, 2);
	if (more & READS_VCC)
		reads_scalar(t, ISA_VCC, 2);
	if (more & READS_M0)
		reads_scalar(t, ISA_M0, 1);
	if (i->row->dst)
		writes_scalar(t, s->dst, dst_dw);
	if (more & WRITES_EXEC)
		writes_scalar(t, ISA_EXEC, 2);
	if (more & WRITES_M0)
		writes_scalar(t, ISA_M0, 1);
	t->event = (uint8_t)salu_event(i->op);
}

/* --- vector ALU --- */

static void use_of_valu(const struct isa_inst *i, struct isa_operand_use *t)
{
	const struct isa_valu *v = &i->valu;
	bool swap = i->op == ISA_OP_V_SWAP_B32;

	for (unsigned n = 0; n < 3; n++) {
		unsigned dw = isa_type_dw(v->type[n]);

		if (v->kind[n] == ISA_FROM_ROW)
			add_bits(t, v->row[n], dw, swap);
		else if (v->kind[n] == ISA_FROM_SCALAR)
			reads_scalar(t, v->src[n], dw);
	}
	if (i->row->flags & ISA_ROW_CARRY_IN)
		reads_scalar(t, v->scarry, 2);
	if (i->row->flags & ISA_ROW_CARRY_OUT || v->dst_type == ISA_T_M64)
		writes_scalar(t, v->sdst, 2);
	if (i->row->flags & ISA_ROW_CMPX)
		writes_scalar(t, ISA_EXEC, 2);
	if (isa_result_is_scalar(i->op))
		writes_scalar(t, v->sdst, 1);
	else if (v->dst_type && v->dst_type != ISA_T_M64)
		add_write(t, v->vdst, isa_type_dw(v->dst_type));
	if (i->row->flags & ISA_ROW_SPARSE)
		add_read(t, v->vdst, isa_type_dw(v->dst_type));
	t->all_lanes = v->is_dpp || i->op == ISA_OP_V_READLANE_B32 || i->op == ISA_OP_V_WRITELANE_B32 ||
		       i->row->flags & ISA_ROW_MATRIX;
}

/* --- memory --- */

/* An atomic has data and a result, which it returns on demand only. */
static bool is_atomic(const struct isa_inst *i)
{
	return isa_access_of(i->op)->class == ISA_ACCESS_ATOMIC;
}

static void add_load(struct isa_operand_use *t, unsigned first, unsigned count)
{
	add_write(t, first, count);
	t->loaded = (struct isa_range){(uint16_t)first, (uint8_t)count, true};
}

static void use_of_smem(const struct isa_inst *i, struct isa_operand_use *t)
{
	const struct isa_mem *m = &i->mem;

	t->event = ISA_EVENT_SMEM;
	if (i->row->src[0])
		reads_scalar(t, m->sbase, isa_type_dw(i->row->src[0]));
	if (i->flags & ISA_SOFFSET)
		reads_scalar(t, m->soffset, 1);
	if (m->data_dw)
		reads_scalar(t, m->sdst, m->data_dw);
	if (m->dst_dw && (!is_atomic(i) || i->flags & ISA_GLC))
		add_load(t, ISA_SCALAR_BASE + m->sdst, m->dst_dw);
}

/* Global wave sync is the only group of GDS instructions that is executed. */
static void use_of_ds(const struct isa_inst *i, struct isa_operand_use *t)
{
	const struct isa_mem *m = &i->mem;
	bool by_m0 = i->op == ISA_OP_DS_READ_ADDTID_B32 || i->op == ISA_OP_DS_WRITE_ADDTID_B32 ||
		     i->op == ISA_OP_DS_APPEND || i->op == ISA_OP_DS_CONSUME || i->flags & ISA_GDS;

	t->event = ISA_EVENT_DS;
	t->atomic = i->op == ISA_OP_DS_APPEND || i->op == ISA_OP_DS_CONSUME ||
		    !strncmp(isa_op_name(i->op), "ds_wrxchg2", 10);
	add_read(t, m->vaddr, isa_type_dw(i->row->src[0]));
	add_read(t, m->vdata, m->data_dw);
	add_read(t, m->vdata1, isa_type_dw(i->row->src[2]));
	if (by_m0)
		reads_scalar(t, ISA_M0, 1);
	if (m->dst_dw)
		add_load(t, m->vdst, m->dst_dw);
}

static bool has_lds_op(enum isa_op op)
{
	return op >= ISA_OP_GLOBAL_LOAD_LDS_UBYTE && op <= ISA_OP_GLOBAL_LOAD_LDS_DWORD;
}

static void use_of_result(const struct isa_inst *i, struct isa_operand_use *t, unsigned extra_dw)
{
	const struct isa_mem *m = &i->mem;

	t->to_lds = i->flags & ISA_LDS || has_lds_op(i->op);
	if (t->to_lds)
		reads_scalar(t, ISA_M0, 1);
	else if (m->dst_dw && (!is_atomic(i) || i->flags & ISA_GLC))
		add_load(t, m->vdst, m->dst_dw + extra_dw);
}

static void use_of_flat(const struct isa_inst *i, struct isa_operand_use *t)
{
	const struct isa_mem *m = &i->mem;
	bool scratch = i->enc == ISA_SCRATCH;

	t->event = i->enc == ISA_FLAT ? ISA_EVENT_FLAT : ISA_EVENT_VMEM;
	add_read(t, m->vaddr, scratch ? !!(i->flags & ISA_VADDR) : i->flags & ISA_SADDR ? 1 : 2);
	if (i->flags & ISA_SADDR)
		reads_scalar(t, m->saddr, scratch ? 1 : 2);
	if (scratch || i->enc == ISA_FLAT)
		reads_scalar(t, ISA_FLAT_SCRATCH, 2);
	add_read(t, m->vdata, m->data_dw);
	use_of_result(i, t, 0);
}

static void use_of_buffer(const struct isa_inst *i, struct isa_operand_use *t)
{
	const struct isa_mem *m = &i->mem;
	bool from_lds = i->op == ISA_OP_BUFFER_STORE_LDS_DWORD;

	if (!i->row->src[0] && !from_lds) /* cache control: LLVM does not count it, so no program waits for it */
		return;
	t->event = ISA_EVENT_VMEM;
	add_read(t, m->vaddr, !!(i->flags & ISA_OFFEN) + !!(i->flags & ISA_IDXEN));
	reads_scalar(t, m->sbase, 4);
	reads_scalar(t, m->soffset, 1);
	add_read(t, m->vdata, m->data_dw);
	use_of_result(i, t, i->flags & ISA_TFE ? 1 : 0);
	if (i->flags & ISA_TFE && !t->loaded.count && !t->to_lds) /* the status follows the data of a store, too */
		add_load(t, m->vdst + m->data_dw, 1);
	if (from_lds)
		t->to_lds = false;
}

static void use_of_image(const struct isa_inst *i, struct isa_operand_use *t)
{
	const struct isa_mem *m = &i->mem;

	t->event = ISA_EVENT_VMEM;
	add_read(t, m->vaddr, 1); /* a resource with more dimensions has more addresses */
	reads_scalar(t, m->sbase, 8);
	if (isa_op_samples(i->op))
		reads_scalar(t, m->soffset, 4);
	add_read(t, m->vdata, m->data_dw);
	use_of_result(i, t, i->flags & ISA_TFE ? 1 : 0);
}

void isa_operand_use_of(const struct isa_inst *i, struct isa_operand_use *t)
{
	memset(t, 0, sizeof(*t));
	if (!i->row)
		return;
	if (i->enc <= ISA_SOPP)
		use_of_salu(i, t);
	else if (i->enc <= ISA_VOP3P)
		use_of_valu(i, t);
	else if (i->enc == ISA_SMEM)
		use_of_smem(i, t);
	else if (i->enc == ISA_DS)
		use_of_ds(i, t);
	else if (i->enc <= ISA_SCRATCH)
		use_of_flat(i, t);
	else if (i->enc <= ISA_MTBUF)
		use_of_buffer(i, t);
	else if (i->enc == ISA_MIMG)
		use_of_image(i, t);
}
