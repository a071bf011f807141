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
S_BRANCH(cbranch_vccz, !isa_mask_read(w, ISA_VCC))
S_BRANCH(cbranch_vccnz, isa_mask_read(w, ISA_VCC))
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

/* --- GFX12's barrier: signal, then wait --- */

void isa_barrier_step(struct isa_group *group)
{
	if (!group->signals || group->signals + group->ended < group->waves)
		return;
	group->signals = 0;
	group->phase++;
	if (group->races)
		isa_races_barrier(group->races);
}

/* The workgroup's barrier is -1, the trap handler's -2. Named barriers, from 1 on, are GFX12.5's: GFX12 has none (Linux,
 * NUM_NAMED_BARRIERS of cwsr_trap_handler_gfx12.asm; LLVM's AMDGPUUsage, "Named Barriers"). */
static bool is_group_barrier(const struct isa_wave *w, const struct isa_inst *i)
{
	return (int32_t)isa_salu_src32(w, i, 0) == -1;
}

static const struct isa_inst *refuse_barrier(struct isa_wave *w, const struct isa_inst *i)
{
	return isa_stop_wave(w, i, "a barrier other than the workgroup's: this chip has no named barriers");
}

C_FN(barrier_signal)
{
	if (!is_group_barrier(w, i))
		return refuse_barrier(w, i);
	w->signal_phase = w->group->phase;
	w->group->signals++;
	isa_barrier_step(w->group);
	return i + 1;
}

/* SCC: the wave signals first. */
C_FN(barrier_signal_isfirst)
{
	if (!is_group_barrier(w, i))
		return refuse_barrier(w, i);
	w->scc = !w->group->signals;
	return s_barrier_signal(w, i);
}

C_FN(barrier_wait)
{
	if (i->salu.simm != -1)
		return refuse_barrier(w, i);
	return isa_barrier_passed(w) ? i + 1 : isa_leave(w, ISA_SIGNALS, i->pc);
}

/* Signals 22:16, members 10:4, whether there is a barrier in bit 0 (RDNA 4 ISA; Linux, BARRIER_STATE_* of
 * cwsr_trap_handler_gfx12.asm). A group of one wave has none. Waves that have ended are no members: they hold up
 * nobody. */
C_FN(get_barrier_state)
{
	const struct isa_group *group = w->group;

	if (!is_group_barrier(w, i))
		return refuse_barrier(w, i);
	w->s[i->salu.dst] = group->waves > 1 ? group->signals << 16 | (group->waves - group->ended) << 4 | 1 : 0;
	return i + 1;
}

/* --- the end, and pauses --- */

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

/* s_sendmsg_rtn: the time, or what no program of DRM's VMIDs has: doorbells, trap handlers. */
enum { MESSAGE_GET_REALTIME = 0x83 };

static uint64_t message_answer(const struct isa_wave *w, const struct isa_inst *i)
{
	return (i->salu.simm & 255) == MESSAGE_GET_REALTIME ? w->machine->clock(w->machine->user) : 0;
}

C_FN(sendmsg_rtn_b32)
{
	w->s[i->salu.dst] = (uint32_t)message_answer(w, i);
	return i + 1;
}

C_FN(sendmsg_rtn_b64)
{
	isa_swrite64(w, i->salu.dst, message_answer(w, i));
	return i + 1;
}

/* --- hardware registers --- */

static enum isa_hwreg hwreg_of(const struct isa_wave *w, int32_t simm)
{
	return (enum isa_hwreg)isa_generation_of(w->machine->chip->gfx)->hwreg[(uint32_t)simm & 63];
}

static uint32_t hwreg_status(const struct isa_wave *w)
{
	bool vccz = !isa_mask_read(w, ISA_VCC), execz = !isa_exec(w), in_group = w->group && w->group->waves > 1;

	return (uint32_t)w->scc | (uint32_t)execz << 9 | (uint32_t)vccz << 10 | (uint32_t)in_group << 11 | 1u << 16;
}

/* Granules of 4 VGPRs and 16 SGPRs, minus one. */
static uint32_t gpr_alloc(const struct isa_wave *w)
{
	uint32_t vgprs = w->machine->vgpr_count, sgprs = w->machine->sgpr_count ? w->machine->sgpr_count : 112;

	return ((vgprs + 3) / 4 - 1) << 8 | ((sgprs + 15) / 16 - 1) << 24;
}

static uint32_t hwreg_read(const struct isa_wave *w, enum isa_hwreg reg)
{
	switch (reg) {
	case ISA_HWREG_MODE:
		return w->mode & ~ISA_MODE_F8_FNUZ &
		       ~(isa_generation_of(w->machine->chip->gfx)->ieee ? 0u : 0x300u);
	case ISA_HWREG_STATUS:
		return hwreg_status(w);
	case ISA_HWREG_HW_ID:
		return w->hw_id;
	case ISA_HWREG_GPR_ALLOC:
		return gpr_alloc(w);
	case ISA_HWREG_LDS_ALLOC: /* size in granules of 512 bytes, from bit 12 */
		return w->group ? (w->group->lds_B + 511) / 512 << 12 : 0;
	case ISA_HWREG_SH_MEM_BASES:
		return (uint32_t)(ISA_SHARED_BASE >> 48) << 16 | (uint32_t)(ISA_PRIVATE_BASE >> 48);
	case ISA_HWREG_XCC_ID:
		return w->machine->xcc;
	case ISA_HWREG_FLAT_SCRATCH_LO:
		return (uint32_t)w->flat_scratch;
	case ISA_HWREG_FLAT_SCRATCH_HI:
		return (uint32_t)(w->flat_scratch >> 32);
	case ISA_HWREG_CYCLES:
		return (uint32_t)w->machine->clock(w->machine->user);
	case ISA_HWREG_CYCLES_HI:
		return (uint32_t)(w->machine->clock(w->machine->user) >> 32);
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
	uint32_t value = hwreg_read(w, hwreg_of(w, i->salu.simm));

	w->s[i->salu.dst] = value >> ((uint32_t)i->salu.simm >> 6 & 31) & field_mask(i->salu.simm);
	return i + 1;
}

static const struct isa_inst *mode_set(struct isa_wave *w, const struct isa_inst *i, uint32_t mask, uint32_t value)
{
	uint32_t before = w->mode;

	mask &= isa_generation_of(w->machine->chip->gfx)->mode_writable;
	w->mode = (w->mode & ~mask) | (value & mask);
	isa_mode_changed(w);
	if ((before ^ w->mode) & ISA_MODE_GPR_IDX)
		return isa_leave(w, ISA_RESUME, next_pc(i));
	return i + 1;
}

/* Only MODE and the base of scratch have bits that a user program changes with effect. */
static const struct isa_inst *hwreg_set(struct isa_wave *w, const struct isa_inst *i, uint32_t value)
{
	unsigned shift = (uint32_t)i->salu.simm >> 6 & 31;
	uint32_t mask = field_mask(i->salu.simm) << shift;

	value <<= shift;
	switch (hwreg_of(w, i->salu.simm)) {
	case ISA_HWREG_MODE:
		return mode_set(w, i, mask, value);
	case ISA_HWREG_FLAT_SCRATCH_LO:
		w->flat_scratch = (w->flat_scratch & ~(uint64_t)mask) | (value & mask);
		break;
	case ISA_HWREG_FLAT_SCRATCH_HI:
		w->flat_scratch = (w->flat_scratch & ~((uint64_t)mask << 32)) | (uint64_t)(value & mask) << 32;
		break;
	default:
		break;
	}
	return i + 1;
}

C_FN(round_mode)
{
	return mode_set(w, i, 0xf, (uint32_t)i->salu.simm);
}

C_FN(denorm_mode)
{
	return mode_set(w, i, 0xf0, (uint32_t)i->salu.simm << 4);
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
	{ISA_OP_S_SENDMSG_RTN_B32, s_sendmsg_rtn_b32},
	{ISA_OP_S_SENDMSG_RTN_B64, s_sendmsg_rtn_b64},
	{ISA_OP_S_BARRIER_SIGNAL, s_barrier_signal},
	{ISA_OP_S_BARRIER_SIGNAL_ISFIRST, s_barrier_signal_isfirst},
	{ISA_OP_S_BARRIER_WAIT, s_barrier_wait},
	{ISA_OP_S_GET_BARRIER_STATE, s_get_barrier_state},
	{ISA_OP_S_SLEEP_VAR, s_sleep},
	{ISA_OP_S_ROUND_MODE, s_round_mode},
	{ISA_OP_S_DENORM_MODE, s_denorm_mode},
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
