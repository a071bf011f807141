/* Hazards of GFX10 to GFX12 that hardware leaves to the program, as rows of two tables: traces, which instructions leave
 * behind and others end, and rules, which find an instruction that comes while a trace is there.
 *
 * Sources of each row: LLVM's GCNHazardRecognizer, with the chips of its AMDGPU.td, and Mesa's aco_insert_NOPs.cpp,
 * which have these names. Where the two differ in what ends a trace, both count; where they differ in what leaves one,
 * neither does alone.
 *
 * Calls and returns end all traces: LLVM 19 looks at one function at a time, so that code of it has such hazards between
 * functions.
 *
 * Not checked: what LDS_DIRECT has, which is not executed. VALUReadSGPRHazard of GFX12 gives a remark alone: LLVM before 20
 * does not know it, and nearly all code that it compiled has it. */
#include "vgpu/isa/check/hazard.h"

#include <stdio.h>

#include "vgpu/isa/decode/access.h"
#include "vgpu/report.h"

/* Bits of isa_operand_use::leaves. */
enum trace {
	CMPX = 1 << 0,
	CMPX_11 = 1 << 1,
	MEMORY_LOAD = 1 << 2,
	MEMORY_STORE = 1 << 3,
	LDS = 1 << 4,
	SCALAR_LOAD = 1 << 5,
	EXEC_READ = 1 << 6,
	BRANCH = 1 << 7,
	LONG_IMAGE = 1 << 8,
	FLOAT_ATOMIC = 1 << 9,
	EXEC_WRITTEN = 1 << 10,
	TRANS = 1 << 11,
	MASK_READ = 1 << 12,
	MATRIX = 1 << 13,
	SGPR_READ = 1 << 14,
};

#define ON(chip) (1u << VGPU_GFX##chip)
#define ON_10_1  (ON(10_1) | ON(10_1_DOT))
#define ON_10    (ON_10_1 | ON(10_3))
#define ON_11    (ON(11) | ON(11_5))

/* --- waits --- */

/* Fields of s_waitcnt_depctr: names of LLVM's DepCtr. */
static bool waits_dependencies(const struct isa_inst *i, unsigned hi, unsigned lo)
{
	return i->op == ISA_OP_S_WAITCNT_DEPCTR && !((uint32_t)i->salu.simm >> lo & ((2u << (hi - lo)) - 1));
}

static bool waits_sa_sdst(const struct isa_inst *i)
{
	return waits_dependencies(i, 0, 0);
}

static bool waits_vm_vsrc(const struct isa_inst *i)
{
	return waits_dependencies(i, 4, 2);
}

/* Until vector instructions have written their registers; memory instructions wait by themselves. */
static bool waits_va_vdst(const struct isa_inst *i)
{
	return waits_dependencies(i, 15, 12) || i->enc == ISA_DS || isa_is_vmem(i) || i->enc == ISA_EXP;
}

/* An instruction that waits until nothing is left in a counter. */
static bool empties(const struct isa_inst *i, enum isa_counter counter)
{
	if (i->use->event != ISA_EVENT_WAIT)
		return false;
	for (unsigned n = 0; n < 2; n++) {
		const struct isa_wait_field *f = &i->use->wait->field[n];

		if (f->width && f->counter == counter && !isa_wait_left(f, (uint32_t)i->salu.simm))
			return !i->row->src[0] || i->salu.src[0] >= 128;
	}
	return i->use->wait->all;
}

/* s_waitcnt 0; LLVM takes it for a wait for stores as well. */
static bool waits_for_most(const struct isa_inst *i)
{
	return i->op == ISA_OP_S_WAITCNT && !i->salu.simm;
}

/* --- what leaves a trace, and what ends it --- */

static bool writes_exec(const struct isa_inst *i)
{
	return isa_wrote(i, ISA_SCALAR_BASE + ISA_EXEC, 1);
}

static bool is_cmpx(const struct isa_inst *i)
{
	return isa_is_valu(i) && i->row->flags & ISA_ROW_CMPX;
}

static bool is_valu_not_nop(const struct isa_inst *i)
{
	return isa_is_valu(i) && i->op != ISA_OP_V_NOP;
}

static bool is_memory_load(const struct isa_inst *i)
{
	return isa_is_vmem(i) && (i->use->loaded.count || i->use->to_lds);
}

static bool ends_memory_load(const struct isa_inst *i)
{
	return isa_is_valu(i) || waits_vm_vsrc(i) || empties(i, ISA_COUNTER_LOAD);
}

static bool is_memory_store(const struct isa_inst *i)
{
	return isa_is_vmem(i) && !is_memory_load(i);
}

static bool ends_memory_store(const struct isa_inst *i)
{
	return isa_is_valu(i) || waits_vm_vsrc(i) || waits_for_most(i) || empties(i, ISA_COUNTER_STORE);
}

static bool may_reach_lds(const struct isa_inst *i)
{
	return i->enc == ISA_DS || i->enc == ISA_FLAT;
}

static bool ends_lds(const struct isa_inst *i)
{
	return isa_is_valu(i) || waits_vm_vsrc(i) || empties(i, ISA_COUNTER_DS);
}

static bool is_smem(const struct isa_inst *i)
{
	return i->enc == ISA_SMEM;
}

/* Scalar instructions but those that only wait. */
static bool ends_scalar_load(const struct isa_inst *i)
{
	switch (i->op) {
	case ISA_OP_S_VERSION:
	case ISA_OP_S_WAITCNT_VSCNT:
	case ISA_OP_S_WAITCNT_VMCNT:
	case ISA_OP_S_WAITCNT_EXPCNT:
		return false;
	case ISA_OP_S_WAITCNT_LGKMCNT:
	case ISA_OP_S_WAITCNT:
		return empties(i, ISA_COUNTER_DS);
	default:
		return isa_is_salu(i) && i->enc != ISA_SOPP;
	}
}

static bool reads_scalar(const struct isa_inst *i, unsigned first, unsigned count)
{
	for (unsigned n = 0; n < i->use->count; n++)
		if (!i->use->range[n].written &&
		    isa_range_overlaps(&i->use->range[n], ISA_SCALAR_BASE + first, count))
			return true;
	return false;
}

static bool is_salu_of_exec(const struct isa_inst *i)
{
	return isa_is_salu(i) && reads_scalar(i, ISA_EXEC, 2);
}

static bool ends_exec_read(const struct isa_inst *i)
{
	return waits_sa_sdst(i) || (isa_is_valu(i) && isa_wrote(i, ISA_SCALAR_BASE, ISA_EXEC));
}

static bool is_branch(const struct isa_inst *i)
{
	switch (i->op) {
	case ISA_OP_S_BRANCH:
	case ISA_OP_S_CBRANCH_SCC0:
	case ISA_OP_S_CBRANCH_SCC1:
	case ISA_OP_S_CBRANCH_VCCZ:
	case ISA_OP_S_CBRANCH_VCCNZ:
	case ISA_OP_S_CBRANCH_EXECZ:
	case ISA_OP_S_CBRANCH_EXECNZ:
		return true;
	default:
		return false;
	}
}

/* Sides of LdsBranchVmemWARHazard: 1 LDS, 2 memory, 0 neither. FLAT, which may be either, does not count. */
static unsigned side_of(const struct isa_inst *i)
{
	return i->enc == ISA_DS ? 1 : isa_is_vmem(i) && i->enc != ISA_FLAT ? 2 : 0;
}

static bool ends_branch(const struct isa_inst *i)
{
	return side_of(i) || empties(i, ISA_COUNTER_STORE);
}

/* Addresses in two dwords behind the first two. */
static bool is_long_image(const struct isa_inst *i)
{
	return i->enc == ISA_MIMG && i->dwords >= 4;
}

static bool is_anything(const struct isa_inst *i)
{
	return i->row != NULL;
}

static bool is_float_atomic(const struct isa_inst *i)
{
	const struct isa_access *access = isa_access_of(i->op);

	return isa_is_vmem(i) && access->class == ISA_ACCESS_ATOMIC && access->atomic >= ISA_ATOMIC_CMPSWAP_F;
}

static bool is_wait(const struct isa_inst *i)
{
	return i->use->event == ISA_EVENT_WAIT || i->op == ISA_OP_S_WAITCNT_EXPCNT;
}

static bool ends_float_atomic(const struct isa_inst *i)
{
	return isa_is_valu(i) || is_wait(i);
}

static bool is_salu_to_exec(const struct isa_inst *i)
{
	return isa_is_salu(i) && writes_exec(i);
}

static bool reads_mask(const struct isa_inst *i)
{
	return isa_is_valu(i) && i->row->flags & ISA_ROW_CARRY_IN && i->valu.scarry <= ISA_VCC;
}

static bool is_valu_of_sgpr(const struct isa_inst *i)
{
	return isa_is_valu(i) && reads_scalar(i, 0, ISA_M0);
}

static bool is_matrix(const struct isa_inst *i)
{
	return isa_is_valu(i) && i->row->flags & ISA_ROW_MATRIX;
}

/* An instruction first ends traces, then leaves its own. ends NULL: the rules' functions know. */
static const struct {
	uint16_t trace, chips;
	bool wave64_only;
	bool (*leaves)(const struct isa_inst *i);
	bool (*ends)(const struct isa_inst *i);
} traces[] = {
	{CMPX, ON_10_1, false, is_cmpx, is_valu_not_nop},
	{CMPX_11, ON_11 | ON(12), false, is_cmpx, isa_is_valu},
	{MEMORY_LOAD, ON_10_1, false, is_memory_load, ends_memory_load},
	{MEMORY_STORE, ON_10_1, false, is_memory_store, ends_memory_store},
	{LDS, ON_10_1, false, may_reach_lds, ends_lds},
	{SCALAR_LOAD, ON_10_1, false, is_smem, ends_scalar_load},
	{EXEC_READ, ON_10_1, false, is_salu_of_exec, ends_exec_read},
	{BRANCH, ON_10_1, false, is_branch, ends_branch},
	{LONG_IMAGE, ON_10_1, false, is_long_image, is_anything},
	{FLOAT_ATOMIC, ON_10, false, is_float_atomic, ends_float_atomic},
	{EXEC_WRITTEN, ON_11, true, is_salu_to_exec, waits_va_vdst},
	{TRANS, ON(11), false, isa_is_trans, waits_va_vdst},
	{MASK_READ, ON_11, true, reads_mask, NULL},
	{MATRIX, ON_11 | ON(12), false, is_matrix, isa_is_valu},
	{SGPR_READ, ON(12), false, is_valu_of_sgpr, NULL},
};

/* --- who has to look --- */

static bool is_permlane(const struct isa_inst *i)
{
	switch (i->op) {
	case ISA_OP_V_PERMLANE16_B32:
	case ISA_OP_V_PERMLANEX16_B32:
	case ISA_OP_V_PERMLANE64_B32:
	case ISA_OP_V_PERMLANE16_VAR_B32:
	case ISA_OP_V_PERMLANEX16_VAR_B32:
		return true;
	default:
		return false;
	}
}

static bool writes_scalar(const struct isa_inst *i)
{
	return (isa_is_salu(i) && i->row->dst) || (is_smem(i) && i->use->loaded.count);
}

static bool is_valu_to_scalar(const struct isa_inst *i)
{
	return isa_is_valu(i) && isa_wrote(i, ISA_SCALAR_BASE, ISA_EXEC);
}

static bool has_side(const struct isa_inst *i)
{
	return side_of(i) != 0;
}

static bool is_odd_buffer(const struct isa_inst *i)
{
	return (i->enc == ISA_MUBUF || i->enc == ISA_MTBUF) && i->mem.offset & 6;
}

static bool is_denorm_mode(const struct isa_inst *i)
{
	return i->op == ISA_OP_S_DENORM_MODE;
}

static bool is_alu(const struct isa_inst *i)
{
	return isa_is_salu(i) || isa_is_valu(i);
}

enum { MESSAGE_DEALLOC_VGPRS = 3 };

static bool frees_vgprs(const struct isa_inst *i)
{
	return i->op == ISA_OP_S_SENDMSG && i->salu.simm == MESSAGE_DEALLOC_VGPRS;
}

static bool is_short_branch(const struct isa_inst *i)
{
	return is_branch(i) && i->salu.simm == 0x3f;
}

/* --- whether it meets what left the trace --- */

static bool meets_always(const struct isa_inst *before, const struct isa_inst *i)
{
	(void)before;
	(void)i;
	return true;
}

/* The register that a scalar instruction names as its result. All memory instructions read EXEC. */
static bool meets_result(const struct isa_inst *before, const struct isa_inst *i)
{
	unsigned first = is_smem(i) ? i->mem.sdst : i->salu.dst, count = is_smem(i) ? i->mem.dst_dw : 0;

	if (!count)
		count = isa_type_dw((enum isa_type)i->row->dst);
	return (first <= ISA_EXEC + 1 && first + count > ISA_EXEC) || reads_scalar(before, first, count);
}

static bool meets_address(const struct isa_inst *before, const struct isa_inst *i)
{
	for (unsigned n = 0; n < i->use->count; n++) {
		const struct isa_range *r = &i->use->range[n];

		if (r->written && r->first >= ISA_SCALAR_BASE &&
		    reads_scalar(before, r->first - ISA_SCALAR_BASE, r->count))
			return true;
	}
	return false;
}

/* A source that is a matrix of the product, or its index, and not the addend. */
static bool meets_factor(const struct isa_inst *before, const struct isa_inst *i)
{
	unsigned factors = i->row->flags & ISA_ROW_SPARSE ? 3 : 2;

	for (unsigned n = 0; n < factors; n++)
		if (i->valu.kind[n] == ISA_FROM_ROW &&
		    isa_wrote(before, i->valu.row[n], isa_type_dw((enum isa_type)i->valu.type[n])))
			return true;
	return false;
}

/* --- searching --- */

/* The instruction `back` steps before the one that is checked; NULL beyond what is known. */
static const struct isa_inst *before_at(const struct isa_wave *w, unsigned back)
{
	const struct isa_waitcnt *waitcnt = w->waitcnt;

	return back < WAITCNT_RECENT && back < waitcnt->clock
		       ? waitcnt->recent[(waitcnt->clock - 1 - back) % WAITCNT_RECENT]
		       : NULL;
}

#define FOR_BEFORE(b, w)                                                                                           \
	for (unsigned back_ = 0; back_ < WAITCNT_RECENT; back_++)                                                  \
		for (const struct isa_inst *b = before_at(w, back_); b; b = NULL)

struct rule;
typedef const struct isa_inst *(*find_fn)(const struct isa_wave *w, const struct isa_inst *i,
					  const struct rule *rule);

struct rule {
	const char *name;
	uint16_t traces, chips;
	bool wave64_only;
	bool (*heeds)(const struct isa_inst *i);
	find_fn find;
	bool (*meets)(const struct isa_inst *before, const struct isa_inst *i); /* for find_pair */
	const char *needs;
	bool remark; /* in place of a finding */
};

/* The last instruction that left one of the traces, with none since that ends it. */
static const struct isa_inst *find_pair(const struct isa_wave *w, const struct isa_inst *i, const struct rule *rule)
{
	unsigned open = rule->traces;

	FOR_BEFORE(b, w)
	{
		if (b->use->leaves & open && rule->meets(b, i))
			return b;
		open &= ~b->use->ends;
		if (!open)
			return NULL;
	}
	return NULL;
}

/* LDS, a branch and memory, or the reverse. */
static const struct isa_inst *find_sides(const struct isa_wave *w, const struct isa_inst *i,
					 const struct rule *rule)
{
	bool branched = false;

	(void)rule;
	FOR_BEFORE(b, w)
	{
		unsigned side = side_of(b);

		if (side)
			return branched && side != side_of(i) ? b : NULL;
		if (empties(b, ISA_COUNTER_STORE))
			return NULL;
		branched |= is_branch(b);
	}
	return NULL;
}

/* Up to 3 wait states back. */
static const struct isa_inst *find_float_atomic(const struct isa_wave *w, const struct isa_inst *i,
						const struct rule *rule)
{
	unsigned states = 0;

	(void)i;
	FOR_BEFORE(b, w)
	{
		if (states >= 3)
			return NULL;
		if (b->use->leaves & rule->traces)
			return b;
		if (ends_float_atomic(b))
			return NULL;
		states += b->op == ISA_OP_S_NOP ? ((uint32_t)b->salu.simm & 15) + 1 : 1;
	}
	return NULL;
}

static bool writes_source(const struct isa_inst *before, const struct isa_inst *i, unsigned n)
{
	return i->valu.kind[n] == ISA_FROM_ROW &&
	       isa_wrote(before, i->valu.row[n], isa_type_dw((enum isa_type)i->valu.type[n]));
}

/* Whether a vector instruction is one of its own; the halves of a dual one count as one. */
static bool is_counted(const struct isa_wave *w, const struct isa_inst *i, unsigned back)
{
	const struct isa_inst *later = back ? before_at(w, back - 1) : i;

	return isa_is_valu(before_at(w, back)) && later->pc != before_at(w, back)->pc;
}

/* At most 5 vector instructions, 1 of them transcendental, after the one that wrote a source. */
static const struct isa_inst *find_trans(const struct isa_wave *w, const struct isa_inst *i,
					 const struct rule *rule)
{
	unsigned valu = 0, trans = 0;

	FOR_BEFORE(b, w)
	{
		if (valu > 5 || trans > 1 || b->use->ends & rule->traces)
			return NULL;
		for (unsigned n = 0; n < 3; n++)
			if (isa_is_trans(b) && writes_source(b, i, n))
				return b;
		valu += is_counted(w, i, back_);
		trans += isa_is_trans(b);
	}
	return NULL;
}

/* Two sources, one written before EXEC was and one after: where, in vector instructions before the one that is checked. */
struct forwarding {
	unsigned valu;   /* so far */
	int source[3];   /* -1: not yet */
	int exec;        /* -1: not yet */
	int early, late; /* the last source written before EXEC, and after; -1: none */
};

static void forwarding_note(struct forwarding *f, const struct isa_inst *b, const struct isa_inst *i)
{
	bool any = false;

	for (unsigned n = 0; n < 3; n++) {
		if (isa_is_valu(b) && f->source[n] < 0 && writes_source(b, i, n)) {
			f->source[n] = (int)f->valu;
			if (f->exec < 0 && f->late < 0)
				f->late = (int)f->valu;
			else if (f->exec >= 0 && f->early < 0)
				f->early = (int)f->valu;
		}
		any |= f->source[n] >= 0;
	}
	if (any && f->exec < 0 && is_salu_to_exec(b))
		f->exec = (int)f->valu;
}

/* At most 4 vector instructions after the later write, and 2 between the two writes. */
static const struct isa_inst *find_forwarding(const struct isa_wave *w, const struct isa_inst *i,
					      const struct rule *rule)
{
	struct forwarding f = {.source = {-1, -1, -1}, .exec = -1, .early = -1, .late = -1};

	FOR_BEFORE(b, w)
	{
		if (b->use->ends & rule->traces || f.valu > 8 || (f.valu > 4 && f.late < 0))
			return NULL;
		forwarding_note(&f, b, i);
		if (f.early >= 0)
			return f.late <= 4 && f.early - f.late - 1 <= 2 ? b : NULL;
		f.valu += is_counted(w, i, back_);
	}
	return NULL;
}

/* A vector instruction that reads any SGPR, VCC or a literal ends the trace of a mask. */
static bool reads_other_scalar(const struct isa_inst *i)
{
	for (unsigned n = 0; n < 3; n++)
		if (i->valu.type[n] && i->valu.src[n] == 255)
			return true;
	return reads_scalar(i, 0, ISA_EXEC);
}

/* Whether a vector instruction from `from` back, before the scalar one that wrote r, read r as a mask. */
static bool mask_was_read(const struct isa_wave *w, unsigned from, const struct isa_range *r)
{
	for (unsigned back = from; before_at(w, back); back++) {
		const struct isa_inst *b = before_at(w, back);

		if (waits_sa_sdst(b))
			return false;
		if (!isa_is_valu(b))
			continue;
		if (reads_mask(b) && isa_range_overlaps(r, ISA_SCALAR_BASE + b->valu.scarry, 2))
			return true;
		if (reads_other_scalar(b))
			return false;
	}
	return false;
}

/* A mask that a vector instruction read, a scalar one wrote, and this one reads. */
static const struct isa_inst *find_mask_of(const struct isa_wave *w, const struct isa_range *r)
{
	FOR_BEFORE(b, w)
	{
		if (waits_sa_sdst(b))
			return NULL;
		if (isa_is_salu(b) && isa_wrote(b, r->first, r->count))
			return mask_was_read(w, back_ + 1, r) ? b : NULL;
	}
	return NULL;
}

static const struct isa_inst *find_mask(const struct isa_wave *w, const struct isa_inst *i, const struct rule *rule)
{
	(void)rule;
	for (unsigned n = 0; n < i->use->count; n++) {
		const struct isa_range *r = &i->use->range[n];
		const struct isa_inst *b = NULL;

		if (!r->written && r->first >= ISA_SCALAR_BASE && r->first < ISA_SCALAR_BASE + ISA_M0)
			b = find_mask_of(w, r);
		if (b)
			return b;
	}
	return NULL;
}

/* Whether a vector instruction from `from` back reads a register of r, or its other half: pairs count as one. */
static bool pair_was_read(const struct isa_wave *w, unsigned from, const struct isa_range *r)
{
	unsigned first = (r->first - ISA_SCALAR_BASE) & ~1u,
		 end = (r->first - ISA_SCALAR_BASE + r->count + 1u) & ~1u;

	for (unsigned back = from; before_at(w, back); back++)
		if (isa_is_valu(before_at(w, back)) && reads_scalar(before_at(w, back), first, end - first))
			return true;
	return false;
}

/* The scalar instruction that wrote r, with fewer than `expiry` others since that do not read it. */
static const struct isa_inst *find_late_write(const struct isa_wave *w, const struct isa_range *r, unsigned expiry)
{
	unsigned others = 0;

	FOR_BEFORE(b, w)
	{
		if (waits_sa_sdst(b) || others >= expiry)
			return NULL;
		if (!isa_is_salu(b) || b->enc == ISA_SOPP)
			continue;
		if (isa_wrote(b, r->first, r->count))
			return pair_was_read(w, back_ + 1, r) ? b : NULL;
		others += !reads_scalar(b, r->first - ISA_SCALAR_BASE, r->count);
	}
	return NULL;
}

static const struct isa_inst *find_read_sgpr(const struct isa_wave *w, const struct isa_inst *i,
					     const struct rule *rule)
{
	(void)rule;
	if (w->waitcnt->remarked)
		return NULL;
	for (unsigned n = 0; n < i->use->count; n++) {
		const struct isa_range *r = &i->use->range[n];
		const struct isa_inst *b = NULL;

		if (!r->written && r->first >= ISA_SCALAR_BASE && r->first < ISA_SCALAR_BASE + ISA_M0)
			b = find_late_write(w, r, isa_is_salu(i) ? 10 : 11);
		if (b)
			return b;
	}
	return NULL;
}

static const struct isa_inst *find_no_nop(const struct isa_wave *w, const struct isa_inst *i,
					  const struct rule *rule)
{
	const struct isa_inst *b = before_at(w, 0);

	(void)i;
	(void)rule;
	return b && b->op != ISA_OP_S_NOP ? b : NULL;
}

static const struct isa_inst *find_itself(const struct isa_wave *w, const struct isa_inst *i,
					  const struct rule *rule)
{
	(void)w;
	(void)rule;
	return i;
}

static const struct rule rules[] = {
	{"VcmpxPermlaneHazard", CMPX, ON_10_1, false, is_permlane, find_pair, meets_always,
	 "a vector instruction other than v_nop between them"},
	{"VcmpxPermlaneHazard", CMPX_11, ON_11 | ON(12), false, is_permlane, find_pair, meets_always,
	 "a vector instruction between them"},
	{"VMEMtoScalarWriteHazard", MEMORY_LOAD | MEMORY_STORE | LDS, ON_10_1, false, writes_scalar, find_pair,
	 meets_result, "a vector instruction, a wait for the first, or s_waitcnt_depctr vm_vsrc(0) between them"},
	{"SMEMtoVectorWriteHazard", SCALAR_LOAD, ON_10_1, false, is_valu_to_scalar, find_pair, meets_address,
	 "a scalar instruction or s_waitcnt lgkmcnt(0) between them"},
	{"VcmpxExecWARHazard", EXEC_READ, ON_10_1, false, is_cmpx, find_pair, meets_always,
	 "a vector instruction that writes an SGPR, or s_waitcnt_depctr sa_sdst(0) between them"},
	{"LdsBranchVmemWARHazard", BRANCH, ON_10_1, false, has_side, find_sides, NULL,
	 "s_waitcnt_vscnt null, 0 between them"},
	{"NSAtoVMEMBug", LONG_IMAGE, ON_10_1, false, is_odd_buffer, find_pair, meets_always,
	 "another instruction between them"},
	{"FPAtomicToDenormModeHazard", FLOAT_ATOMIC, ON_10, false, is_denorm_mode, find_float_atomic, NULL,
	 "3 wait states between them"},
	{"VALUPartialForwardingHazard", EXEC_WRITTEN, ON_11, true, isa_is_valu, find_forwarding, NULL,
	 "s_waitcnt_depctr va_vdst(0) before it, because EXEC was written between its sources"},
	{"VALUTransUseHazard", TRANS, ON(11), false, isa_is_valu, find_trans, NULL,
	 "6 vector instructions, 2 transcendental ones or s_waitcnt_depctr va_vdst(0) between them"},
	{"VALUMaskWriteHazard", MASK_READ, ON_11, true, is_alu, find_mask, NULL,
	 "s_waitcnt_depctr sa_sdst(0) between them, because a vector instruction had read it as a mask"},
	{"WMMAHazards", MATRIX, ON_11 | ON(12), false, is_matrix, find_pair, meets_factor,
	 "a vector instruction between them"},
	{"sendmsg_dealloc_vgprs", ISA_TRACE_ANY, ON_11 | ON(12), false, frees_vgprs, find_no_nop, NULL,
	 "s_nop between them"},
	{"Offset3fBug", ISA_TRACE_ANY, ON_10_1, false, is_short_branch, find_itself, NULL,
	 "another distance than 0x3f"},
	{"VALUReadSGPRHazard", SGPR_READ, ON(12), false, is_alu, find_read_sgpr, NULL,
	 "s_wait_alu sa_sdst(0) between them, because a vector instruction had read the SGPR; clang has it from 20 on",
	 true},
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool rule_applies(const struct rule *rule, enum vgpu_gfx gfx, bool wave32)
{
	return rule->chips >> gfx & 1 && !(rule->wave64_only && wave32);
}

void isa_hazard_later_of(const struct isa_inst *i, enum vgpu_gfx gfx, bool wave32, struct isa_operand_use *t)
{
	if (!i->row)
		return;
	for (unsigned n = 0; n < COUNT(traces); n++) {
		if (!(traces[n].chips >> gfx & 1) || (traces[n].wave64_only && wave32))
			continue;
		t->leaves |= traces[n].leaves(i) ? traces[n].trace : 0;
		t->ends |= traces[n].ends && traces[n].ends(i) ? traces[n].trace : 0;
	}
	for (unsigned n = 0; n < COUNT(rules); n++)
		if (rule_applies(&rules[n], gfx, wave32) && rules[n].heeds(i))
			t->heeds |= rules[n].traces;
}

static void report_hazard(struct isa_wave *w, const struct isa_inst *i, const struct isa_inst *before,
			  const struct rule *rule)
{
	char text[160], earlier[160], both[512];

	if (isa_waitcnt_said(w, i->pc, before->pc))
		return;
	isa_text_at(w, i->pc, text, sizeof(text));
	isa_text_at(w, before->pc, earlier, sizeof(earlier));
	snprintf(both, sizeof(both), "\"%s\" at 0x%llx comes after \"%s\" at 0x%llx; %s: it needs %s", text,
		 (unsigned long long)i->pc, earlier, (unsigned long long)before->pc, rule->name, rule->needs);
	w->waitcnt->remarked |= rule->remark;
	if (rule->remark)
		vgpu_remark(CONTRACT_WAIT_STATES, "%s", both);
	else
		vgpu_finding(CONTRACT_WAIT_STATES, "%s", both);
}

void isa_hazard_later_check(struct isa_wave *w, const struct isa_inst *i)
{
	for (unsigned n = 0; n < COUNT(rules); n++) {
		const struct rule *rule = &rules[n];
		const struct isa_inst *before;

		if (!(rule->traces & (w->waitcnt->live | ISA_TRACE_ANY)) || !rule->heeds(i) ||
		    !rule_applies(rule, w->machine->chip->gfx, w->machine->wave32))
			continue;
		before = rule->find(w, i, rule);
		if (before)
			report_hazard(w, i, before, rule);
	}
}
