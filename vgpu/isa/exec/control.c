/* Program control: branches, calls, barriers, hardware registers, messages. */
#include "vgpu/isa/exec/program.h"
#include "vgpu/isa/exec/salu.h"
#include "vgpu/isa/mem/access.h"
#include "vgpu/isa/valu/valu.h"
#include "vgpu/memory/cache.h"

#define C_FN(name) static const struct isa_inst *s_##name(struct isa_wave *w, const struct isa_inst *i)

/* --- branches --- */

/* Resolves the target once. Only this thread runs the program, so it may complete the instruction here. */
static inline const struct isa_inst *take_branch(struct isa_wave *w, const struct isa_inst *i)
{
	struct isa_inst *branch = (struct isa_inst *)i;

	if (!i->salu.to)
		branch->salu.to = isa_goto(w, i->salu.target);
	return i->salu.to;
}

#define S_BRANCH(name, CONDITION)                                                                                  \
	C_FN(name)                                                                                                 \
	{                                                                                                          \
		return CONDITION ? take_branch(w, i) : i + 1;                                                      \
	}
S_BRANCH(branch, true)
S_BRANCH(cbranch_scc0, !w->scc)
S_BRANCH(cbranch_scc1, w->scc)
S_BRANCH(cbranch_vccz, !isa_sread64(w, ISA_VCC))
S_BRANCH(cbranch_vccnz, isa_sread64(w, ISA_VCC))
S_BRANCH(cbranch_execz, !isa_exec(w))
S_BRANCH(cbranch_execnz, isa_exec(w))

static inline uint64_t next_pc(const struct isa_inst *i)
{
	return i->pc + 4u * i->dwords;
}

C_FN(getpc_b64)
{
	isa_swrite64(w, i->salu.dst, next_pc(i));
	return i + 1;
}

C_FN(setpc_b64)
{
	return isa_goto(w, isa_salu_src64(w, i, 0) & ~3ull);
}

C_FN(swappc_b64)
{
	uint64_t target = isa_salu_src64(w, i, 0) & ~3ull;

	isa_swrite64(w, i->salu.dst, next_pc(i));
	return isa_goto(w, target);
}

C_FN(call_b64)
{
	isa_swrite64(w, i->salu.dst, next_pc(i));
	return take_branch(w, i);
}

/* --- the wave's life --- */

C_FN(endpgm)
{
	return isa_leave(w, ISA_ENDED, i->pc);
}

C_FN(barrier)
{
	return isa_leave(w, ISA_BARRIER, next_pc(i));
}

/* A halted wave waits for the host, which never resumes it here: it spends its time until the watchdog ends it. */
C_FN(sethalt)
{
	(void)w;
	return i->salu.simm & 1 ? i : i + 1;
}

C_FN(sendmsghalt)
{
	(void)w;
	return i;
}

/* Other waves may run meanwhile. */
C_FN(sleep)
{
	return isa_leave(w, ISA_BUDGET, next_pc(i));
}

/* No effect: waits, which exist for the checks alone and which waitcnt_check.c has handled; messages (there are no
 * graphics and no host interrupt handler), wake-ups (sleeping ends by itself), and s_trap, because DRM VMIDs have
 * no trap handler (TRAP_EN is 0): hardware then continues after it. */
C_FN(nothing)
{
	(void)w;
	return i + 1;
}

C_FN(icache_inv)
{
	uint64_t pc = next_pc(i);

	isa_cache_maintain(w, MEM_DROP_CODE);
	isa_code_refresh(w); /* i may be freed */
	return isa_leave(w, ISA_RESUME, pc);
}

C_FN(setvskip)
{
	if (isa_salu_src32(w, i, 0) >> (isa_salu_src32(w, i, 1) & 31) & 1)
		return isa_stop_wave(w, i, "not implemented: VSKIP mode");
	return i + 1;
}

/* --- VGPR indexing --- */

/* M0 7:0 is the index, M0 15:12 select the relative operands. */
C_FN(set_gpr_idx_on)
{
	w->s[ISA_M0] =
		(w->s[ISA_M0] & 0xffff0f00) | (isa_salu_src32(w, i, 0) & 255) | (uint32_t)(i->salu.simm & 15) << 12;
	w->mode |= ISA_MODE_GPR_IDX;
	return isa_leave(w, ISA_RESUME, next_pc(i));
}

C_FN(set_gpr_idx_off)
{
	w->mode &= ~(uint32_t)ISA_MODE_GPR_IDX;
	return isa_leave(w, ISA_RESUME, next_pc(i));
}

C_FN(set_gpr_idx_idx)
{
	w->s[ISA_M0] = (w->s[ISA_M0] & ~255u) | (isa_salu_src32(w, i, 0) & 255);
	return i + 1;
}

C_FN(set_gpr_idx_mode)
{
	w->s[ISA_M0] = (w->s[ISA_M0] & ~0xf000u) | (uint32_t)(i->salu.simm & 15) << 12;
	return i + 1;
}

/* --- hardware registers --- */

enum hwreg {
	HW_REG_MODE = 1,
	HW_REG_STATUS = 2,
	HW_REG_HW_ID = 4,
	HW_REG_GPR_ALLOC = 5,
	HW_REG_LDS_ALLOC = 6,
	HW_REG_SH_MEM_BASES = 15,
	HW_REG_XCC_ID = 20, /* gfx942; XCC_ID 3:0 */
};

/* MODE bits that a program may change: FLOAT_MODE, DX10_CLAMP, IEEE, and GPR_IDX_EN. Exceptions, 20:12, are kept
 * but never raised: DRM VMIDs have no trap handler. */
#define MODE_WRITABLE 0x081ff3ffu

static uint32_t hwreg_status(const struct isa_wave *w)
{
	bool vccz = !isa_sread64(w, ISA_VCC), execz = !isa_exec(w), in_group = w->group && w->group->waves > 1;

	return (uint32_t)w->scc | (uint32_t)execz << 9 | (uint32_t)vccz << 10 | (uint32_t)in_group << 11 | 1u << 16;
}

/* Granules of 4 VGPRs and 16 SGPRs, minus one. */
static uint32_t gpr_alloc(const struct isa_wave *w)
{
	uint32_t vgprs = w->machine->vgpr_count, sgprs = w->machine->sgpr_count ? w->machine->sgpr_count : 112;

	return ((vgprs + 3) / 4 - 1) << 8 | ((sgprs + 15) / 16 - 1) << 24;
}

static uint32_t hwreg_read(const struct isa_wave *w, unsigned id)
{
	switch (id) {
	case HW_REG_MODE:
		return w->mode & ~ISA_MODE_F8_FNUZ;
	case HW_REG_STATUS:
		return hwreg_status(w);
	case HW_REG_HW_ID:
		return w->hw_id;
	case HW_REG_GPR_ALLOC:
		return gpr_alloc(w);
	case HW_REG_LDS_ALLOC: /* size in granules of 512 bytes, from bit 12 */
		return w->group ? (w->group->lds_B + 511) / 512 << 12 : 0;
	case HW_REG_SH_MEM_BASES:
		return (uint32_t)(ISA_SHARED_BASE >> 48) << 16 | (uint32_t)(ISA_PRIVATE_BASE >> 48);
	case HW_REG_XCC_ID:
		return w->machine->xcc;
	default: /* no trap, no debugger, no outstanding counters */
		return 0;
	}
}

/* simm: register in 5:0, lowest bit of the field in 10:6, width - 1 in 15:11. */
static uint32_t field_mask(int32_t simm)
{
	return (2u << ((uint32_t)simm >> 11 & 31)) - 1;
}

C_FN(getreg_b32)
{
	uint32_t value = hwreg_read(w, (uint32_t)i->salu.simm & 63);

	w->s[i->salu.dst] = value >> ((uint32_t)i->salu.simm >> 6 & 31) & field_mask(i->salu.simm);
	return i + 1;
}

/* Only MODE has bits that a user program changes with effect. */
static const struct isa_inst *hwreg_set(struct isa_wave *w, const struct isa_inst *i, uint32_t value)
{
	unsigned shift = (uint32_t)i->salu.simm >> 6 & 31;
	uint32_t mask = field_mask(i->salu.simm) << shift & MODE_WRITABLE, before = w->mode;

	if (((uint32_t)i->salu.simm & 63) != HW_REG_MODE)
		return i + 1;
	w->mode = (w->mode & ~mask) | (value << shift & mask);
	isa_mode_changed(w);
	if ((before ^ w->mode) & ISA_MODE_GPR_IDX)
		return isa_leave(w, ISA_RESUME, next_pc(i));
	return i + 1;
}

C_FN(setreg_b32)
{
	return hwreg_set(w, i, w->s[i->salu.src[0]]);
}

C_FN(setreg_imm32_b32)
{
	return hwreg_set(w, i, i->salu.literal);
}

const struct isa_handler isa_control_handlers[] = {
	{ISA_OP_S_GETREG_B32, s_getreg_b32},
	{ISA_OP_S_SETREG_B32, s_setreg_b32},
	{ISA_OP_S_SETREG_IMM32_B32, s_setreg_imm32_b32},
	{ISA_OP_S_CALL_B64, s_call_b64},
	{ISA_OP_S_GETPC_B64, s_getpc_b64},
	{ISA_OP_S_SETPC_B64, s_setpc_b64},
	{ISA_OP_S_SWAPPC_B64, s_swappc_b64},
	{ISA_OP_S_SET_GPR_IDX_IDX, s_set_gpr_idx_idx},
	{ISA_OP_S_SETVSKIP, s_setvskip},
	{ISA_OP_S_SET_GPR_IDX_ON, s_set_gpr_idx_on},
	{ISA_OP_S_ENDPGM, s_endpgm},
	{ISA_OP_S_BRANCH, s_branch},
	{ISA_OP_S_WAITCNT, s_nothing},
	{ISA_OP_S_WAKEUP, s_nothing},
	{ISA_OP_S_CBRANCH_SCC0, s_cbranch_scc0},
	{ISA_OP_S_CBRANCH_SCC1, s_cbranch_scc1},
	{ISA_OP_S_CBRANCH_VCCZ, s_cbranch_vccz},
	{ISA_OP_S_CBRANCH_VCCNZ, s_cbranch_vccnz},
	{ISA_OP_S_CBRANCH_EXECZ, s_cbranch_execz},
	{ISA_OP_S_CBRANCH_EXECNZ, s_cbranch_execnz},
	{ISA_OP_S_BARRIER, s_barrier},
	{ISA_OP_S_SETKILL, s_nothing},
	{ISA_OP_S_SETHALT, s_sethalt},
	{ISA_OP_S_SLEEP, s_sleep},
	{ISA_OP_S_SENDMSG, s_nothing},
	{ISA_OP_S_SENDMSGHALT, s_sendmsghalt},
	{ISA_OP_S_TRAP, s_nothing},
	{ISA_OP_S_ICACHE_INV, s_icache_inv},
	{ISA_OP_S_CBRANCH_CDBGSYS, s_nothing},
	{ISA_OP_S_CBRANCH_CDBGUSER, s_nothing},
	{ISA_OP_S_CBRANCH_CDBGSYS_OR_USER, s_nothing},
	{ISA_OP_S_CBRANCH_CDBGSYS_AND_USER, s_nothing},
	{ISA_OP_S_ENDPGM_SAVED, s_endpgm},
	{ISA_OP_S_SET_GPR_IDX_OFF, s_set_gpr_idx_off},
	{ISA_OP_S_SET_GPR_IDX_MODE, s_set_gpr_idx_mode},
	{ISA_OP_S_ENDPGM_ORDERED_PS_DONE, s_endpgm},
	{ISA_OP_NONE, NULL},
};
