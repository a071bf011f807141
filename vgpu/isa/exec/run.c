/* Running a wave: the loop. */
#include <immintrin.h>

#include "vgpu/isa/check/waitcnt_check.h"
#include "vgpu/isa/exec/program.h"

/* Bits of M0 15:12 under s_set_gpr_idx: which operands are relative. */
enum { GPR_IDX_SRC0 = 1, GPR_IDX_DST = 8 };

/* Runs one vector instruction with M0 7:0 added to the registers that M0 15:12 selects. */
static const struct isa_inst *run_indexed(struct isa_wave *w, const struct isa_inst *i)
{
	struct isa_inst moved = *i;
	struct isa_valu *v = &moved.valu;
	unsigned index = w->s[ISA_M0] & 255, which = w->s[ISA_M0] >> 12 & 15;
	struct isa_operand_use use;

	if (i->enc < ISA_VOP1 || i->enc > ISA_VOP3P || i->row->flags & ISA_ROW_MATRIX) {
		if (w->waitcnt)
			isa_waitcnt_step(w, i);
		return i->fn(w, i);
	}
	for (unsigned n = 0; n < 3; n++) {
		bool accumulator = n == 2 && i->row->flags & ISA_ROW_ACCUMULATE;
		bool relative = accumulator ? which & GPR_IDX_DST : which & GPR_IDX_SRC0 << n;

		if (!relative || v->kind[n] != ISA_FROM_ROW)
			continue;
		v->row[n] = (uint16_t)(v->row[n] + index);
		if (v->row[n] + isa_type_dw(v->type[n]) > w->machine->vgpr_count) {
			isa_report_beyond(w, i->pc);
			v->row[n] = 0;
		}
	}
	if (which & GPR_IDX_DST && v->dst_type != ISA_T_M64) {
		v->vdst = (uint16_t)(v->vdst + index);
		if (v->vdst + isa_type_dw(v->dst_type) > w->machine->vgpr_count) {
			isa_report_beyond(w, i->pc);
			return i + 1;
		}
	}
	if (w->waitcnt) {
		isa_operand_use_of(&moved, w->machine->chip->gfx, false, &use);
		moved.use = &use;
		isa_waitcnt_step(w, &moved);
		isa_waitcnt_replace(w->waitcnt, i);
	}
	return moved.fn(w, &moved) ? i + 1 : NULL;
}

/* Runs the other parts of the instruction at which a budget has ended: the wave would begin at its first part again. */
static const struct isa_inst *run_rest(struct isa_wave *w, const struct isa_inst *i)
{
	while (i && i->continues) {
		if (w->mode & ISA_MODE_GPR_IDX) {
			i = run_indexed(w, i);
			continue;
		}
		if (w->waitcnt)
			isa_waitcnt_step(w, i);
		i = i->fn(w, i);
	}
	return i;
}

/* Runs until the budget is spent or a function ends the run; returns what is left of the budget. */
static uint64_t run_inner(struct isa_wave *w, uint64_t left)
{
	const struct isa_inst *i;

	isa_code_trim(w);
	i = isa_goto(w, w->pc);
	if (w->mode & ISA_MODE_GPR_IDX) {
		while (i && left && w->mode & ISA_MODE_GPR_IDX) {
			i = run_indexed(w, i);
			left--;
		}
	} else if (w->waitcnt) {
		while (i && left) {
			isa_waitcnt_step(w, i);
			i = i->fn(w, i);
			left--;
		}
	} else {
		while (i && left) {
			i = i->fn(w, i);
			left--;
		}
	}
	if (i && !left)
		i = run_rest(w, i);
	if (i)
		isa_leave(w, left ? ISA_RESUME : ISA_BUDGET, i->pc);
	return left;
}

enum isa_stop isa_run(struct isa_wave *w, uint64_t budget)
{
	unsigned caller_csr = _mm_getcsr();
	uint64_t left = budget;

	w->full = isa_full(w->machine);
	isa_mode_changed(w);
	isa_program_resume(w->program, w->machine);
	if (w->waitcnt)
		isa_waitcnt_forget_code(w->waitcnt); /* the code that ran meanwhile may have changed it */
	w->stop = ISA_RESUME;
	while (w->stop == ISA_RESUME) {
		if (!left)
			w->stop = ISA_BUDGET;
		else
			left = run_inner(w, left);
	}
	_mm_setcsr(caller_csr);
	w->executed += budget - left;
	return w->stop;
}
