/* Wait states that GFX9 leaves to the program: pairs of instructions that need others between them
 * (waitcnt_check.h). The figures are those of the "Vega" and CDNA3 ISA, section "manually inserted wait states",
 * and of LLVM's hazard recognizer. Matrix instructions are not checked. */
#include "vgpu/isa/check/hazard.h"

#include "vgpu/report.h"

/* Kinds of results that later instructions may depend on; bits of isa_operand_use::produces. */
enum {
	SGPR = 1 << 0, /* written by a vector instruction, VCC too */
	VGPR = 1 << 1, /* written by a vector instruction */
	EXEC = 1 << 2, /* written by a vector instruction */
	M0 = 1 << 3,   /* written by a scalar instruction */
	HWREG = 1 << 4,
	DATA = 1 << 5,  /* registers with more than 64 bits that are being stored */
	TRANS = 1 << 6, /* VGPR by the unit for transcendental functions */
	PART = 1 << 7,  /* part of a VGPR */
};

/* --- who needs to look --- */

static bool is_vmem(const struct isa_inst *i)
{
	return i->enc >= ISA_FLAT && i->enc <= ISA_MTBUF;
}

bool isa_is_trans(const struct isa_inst *i)
{
	switch (i->op) {
	case ISA_OP_V_EXP_F32:
	case ISA_OP_V_LOG_F32:
	case ISA_OP_V_RCP_F32:
	case ISA_OP_V_RCP_IFLAG_F32:
	case ISA_OP_V_RSQ_F32:
	case ISA_OP_V_RCP_F64:
	case ISA_OP_V_RSQ_F64:
	case ISA_OP_V_SQRT_F32:
	case ISA_OP_V_SQRT_F64:
	case ISA_OP_V_SIN_F32:
	case ISA_OP_V_COS_F32:
	case ISA_OP_V_RCP_F16:
	case ISA_OP_V_SQRT_F16:
	case ISA_OP_V_RSQ_F16:
	case ISA_OP_V_LOG_F16:
	case ISA_OP_V_EXP_F16:
	case ISA_OP_V_SIN_F16:
	case ISA_OP_V_COS_F16:
	case ISA_OP_V_EXP_LEGACY_F32:
	case ISA_OP_V_LOG_LEGACY_F32:
		return true;
	default:
		return false;
	}
}

static bool is_other_valu(const struct isa_inst *i)
{
	return isa_is_valu(i) && !isa_is_trans(i);
}

static bool is_rwlane(const struct isa_inst *i)
{
	return i->op == ISA_OP_V_READLANE_B32 || i->op == ISA_OP_V_WRITELANE_B32;
}

static bool is_any_lane(const struct isa_inst *i)
{
	return is_rwlane(i) || i->op == ISA_OP_V_READFIRSTLANE_B32;
}

static bool is_readlane(const struct isa_inst *i)
{
	return i->op == ISA_OP_V_READLANE_B32 || i->op == ISA_OP_V_READFIRSTLANE_B32;
}

static bool is_fmas(const struct isa_inst *i)
{
	return i->op == ISA_OP_V_DIV_FMAS_F32 || i->op == ISA_OP_V_DIV_FMAS_F64;
}

static bool is_dpp(const struct isa_inst *i)
{
	return isa_is_valu(i) && i->valu.is_dpp;
}

static bool is_hwreg(const struct isa_inst *i)
{
	return i->op == ISA_OP_S_GETREG_B32 || i->op == ISA_OP_S_SETREG_B32 || i->op == ISA_OP_S_SETREG_IMM32_B32;
}

static bool needs_m0(const struct isa_inst *i)
{
	switch (i->op) {
	case ISA_OP_S_MOVRELS_B32:
	case ISA_OP_S_MOVRELS_B64:
	case ISA_OP_S_MOVRELD_B32:
	case ISA_OP_S_MOVRELD_B64:
	case ISA_OP_S_SENDMSG:
	case ISA_OP_S_SENDMSGHALT:
	case ISA_OP_DS_READ_ADDTID_B32:
	case ISA_OP_DS_WRITE_ADDTID_B32:
	case ISA_OP_BUFFER_STORE_LDS_DWORD:
		return true;
	default:
		return i->use->to_lds || i->flags & ISA_GDS;
	}
}

/* --- whether it meets what is there --- */

bool isa_wrote(const struct isa_inst *before, unsigned first, unsigned count)
{
	for (unsigned n = 0; n < before->use->count; n++)
		if (before->use->range[n].written && isa_range_overlaps(&before->use->range[n], first, count))
			return true;
	return false;
}

static bool reads_any(const struct isa_inst *before, const struct isa_inst *i, bool scalar)
{
	for (unsigned n = 0; n < i->use->count; n++) {
		const struct isa_range *r = &i->use->range[n];

		if (!r->written && (r->first >= ISA_SCALAR_BASE) == scalar && isa_wrote(before, r->first, r->count))
			return true;
	}
	return false;
}

static bool meets_scalar(const struct isa_inst *before, const struct isa_inst *i)
{
	return reads_any(before, i, true);
}

static bool meets_vector(const struct isa_inst *before, const struct isa_inst *i)
{
	return reads_any(before, i, false);
}

static bool meets_lane(const struct isa_inst *before, const struct isa_inst *i)
{
	return i->valu.kind[1] == ISA_FROM_SCALAR && i->valu.src[1] < 128 &&
	       isa_wrote(before, ISA_SCALAR_BASE + i->valu.src[1], 1);
}

static bool meets_vcc(const struct isa_inst *before, const struct isa_inst *i)
{
	return isa_wrote(before, ISA_SCALAR_BASE + i->valu.scarry, 2);
}

static bool meets_dpp(const struct isa_inst *before, const struct isa_inst *i)
{
	return isa_wrote(before, i->valu.row[0], isa_type_dw(i->valu.type[0]));
}

static bool meets_hwreg(const struct isa_inst *before, const struct isa_inst *i)
{
	return ((before->salu.simm ^ i->salu.simm) & 63) == 0;
}

static bool meets_data(const struct isa_inst *before, const struct isa_inst *i)
{
	return isa_wrote(i, before->mem.vdata, before->mem.data_dw);
}

static bool meets_always(const struct isa_inst *before, const struct isa_inst *i)
{
	(void)before;
	(void)i;
	return true;
}

/* --- the table --- */

#define ALL    0x1fu /* of GFX9 */
#define GFX942 (1u << VGPU_GFX942)

static const struct rule {
	uint8_t produced;
	uint8_t states; /* number of wait states between the two */
	uint8_t chips;  /* 1 << enum vgpu_gfx */
	bool (*looks)(const struct isa_inst *i);
	bool (*meets)(const struct isa_inst *before, const struct isa_inst *i);
} rules[] = {
	{SGPR, 5, ALL, is_vmem, meets_scalar},
	{SGPR, 4, ALL, is_rwlane, meets_lane},
	{SGPR, 4, ALL, is_fmas, meets_vcc},
	{VGPR, 2, ALL, is_dpp, meets_dpp},
	{EXEC, 5, ALL, is_dpp, meets_always},
	{M0, 1, ALL, needs_m0, meets_always},
	{HWREG, 2, ALL, is_hwreg, meets_hwreg},
	{DATA, 1, ALL & ~GFX942, isa_is_valu, meets_data},
	{DATA, 2, GFX942, isa_is_valu, meets_data},
	{SGPR, 2, GFX942, isa_is_valu, meets_scalar},
	{EXEC, 4, GFX942, is_any_lane, meets_always},
	{VGPR, 1, GFX942, is_readlane, meets_vector},
	{TRANS, 1, GFX942, is_other_valu, meets_vector},
	{PART, 1, GFX942, isa_is_valu, meets_vector},
};

#define RULES (sizeof(rules) / sizeof(*rules))

static bool rule_applies(const struct rule *rule, enum vgpu_gfx gfx, const struct isa_inst *i)
{
	return rule->chips >> gfx & 1 && rule->looks(i);
}

static uint8_t valu_produces(const struct isa_inst *i)
{
	const struct isa_valu *v = &i->valu;
	bool part = (v->is_sdwa && v->dst_sel != ISA_SEL_DWORD) || (i->enc == ISA_VOP3 && v->opsel & 8);
	uint8_t produces = 0;

	for (unsigned n = 0; n < i->use->count; n++) {
		const struct isa_range *r = &i->use->range[n];

		if (r->written && r->first < ISA_SCALAR_BASE)
			produces |= (uint8_t)(VGPR | (isa_is_trans(i) ? TRANS : 0) | (part ? PART : 0));
		else if (r->written)
			produces |= r->first == ISA_SCALAR_BASE + ISA_EXEC ? EXEC : SGPR;
	}
	return produces;
}

/* A buffer store with an SGPR as offset has read its data by then. */
static bool stores_late(const struct isa_inst *i)
{
	bool buffer = i->enc == ISA_MUBUF || i->enc == ISA_MTBUF;

	return is_vmem(i) && i->mem.data_dw > 2 && !(buffer && i->mem.soffset < 128);
}

static uint8_t results_of(const struct isa_inst *i)
{
	if (isa_is_valu(i))
		return valu_produces(i);
	if (stores_late(i))
		return DATA;
	if (i->op == ISA_OP_S_SETREG_B32 || i->op == ISA_OP_S_SETREG_IMM32_B32)
		return HWREG;
	return i->enc <= ISA_SOPP && isa_wrote(i, ISA_SCALAR_BASE + ISA_M0, 1) ? M0 : 0;
}

void isa_hazard_of(const struct isa_inst *i, enum vgpu_gfx gfx, struct isa_operand_use *t)
{
	if (!i->row)
		return;
	t->produces = results_of(i);
	for (unsigned n = 0; n < RULES; n++)
		if (rule_applies(&rules[n], gfx, i))
			t->minds |= rules[n].produced;
}

static void report_hazard(struct isa_wave *w, const struct isa_inst *i, const struct isa_inst *before,
			  unsigned states, unsigned needed)
{
	char text[160], earlier[160];

	if (isa_waitcnt_said(w, i->pc, before->pc))
		return;
	isa_text_at(w, i->pc, text, sizeof(text));
	isa_text_at(w, before->pc, earlier, sizeof(earlier));
	vgpu_finding(CONTRACT_WAIT_STATES,
		     "\"%s\" at 0x%llx comes %u wait states after \"%s\" at 0x%llx; it needs %u", text,
		     (unsigned long long)i->pc, states, earlier, (unsigned long long)before->pc, needed);
}

void isa_hazard_check(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_waitcnt *waitcnt = w->waitcnt;

	for (unsigned n = 0; n < RULES; n++) {
		const struct rule *rule = &rules[n];

		if (!rule_applies(rule, w->machine->chip->gfx, i))
			continue;
		for (unsigned back = 0; back < rule->states; back++) {
			const struct isa_inst *before =
				waitcnt->recent[(waitcnt->clock - 1 - back) % WAITCNT_RECENT];

			if (waitcnt->produced >> 8 * back & rule->produced && rule->meets(before, i))
				report_hazard(w, i, before, back, rule->states);
		}
	}
}
