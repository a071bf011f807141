/* Missing waits: registers of a wave with a load under way, and instructions that access them before a wait has shown
 * that the load is done. Which operation counts where and in which order: counter.h.
 *
 * A counter has the number of operations under way, not their names. With n left, all but the last n of those that
 * come in order are done, whatever the others do; with none left all are done.
 *
 * A loaded register gets its value at once. The first early read is reported, and from then on the register holds
 * ISA_POISON until the load arrives; an early write is lost to the load. So correct code pays for bookkeeping
 * alone.
 *
 * A load of 16 bits has all of its register under way for the vector ALU: on GFX11 and GFX12 such a load and an instruction
 * that writes the other half disturb each other (LLVM's D16Writes32BitVgpr, pull requests 157795 and 165587; the arch table
 * of StinkyTofu in AMD's rocm-libraries says that a vector instruction rewrites all 32 bits). Memory instructions move their
 * own half alone: a load or store of the other half needs no wait (LLVM's pull request 194477). On earlier chips the
 * register counts as a whole, as LLVM has it.
 *
 * Not checked: sources of memory instructions. On GFX9 a store has read its registers when it is issued (expcnt
 * counts exports and GDS alone); later generations keep a vector instruction from overwriting them by themselves.
 *
 * Wait states: GFX9 has pairs of instructions that need others, or s_nop, between them; hardware does not wait by
 * itself. hazard_check.c checks them. Later chips have other pairs, by bugs most of them: hazard_later.c.
 *
 * Private to vgpu/isa/, except create, destroy and reset in isa.h. Thread rule: as the wave's. */
#ifndef VGPU_ISA_CHECK_WAITCNT_CHECK_H
#define VGPU_ISA_CHECK_WAITCNT_CHECK_H

#include "vgpu/isa/check/operand_use.h"

#define ISA_POISON 0xd5d5d5d5u

#define WAITCNT_RECENT 64u
#define WAITCNT_STATES 8u  /* entries of isa_waitcnt::produced */
#define WAITCNT_LOADS  256 /* more loads than all counters allow */

struct waitcnt_load {
	struct isa_range range;
	/* The load is done when it was reached in all of these queues and all of these counters were seen empty; a bit
	 * each, enum isa_counter. */
	uint8_t queues, empty;
	uint8_t path;               /* enum isa_path */
	uint32_t number, number_ds; /* in the order of its queue; in that of DS */
	uint64_t lanes;             /* lanes that the load writes */
	uint64_t pc;
	uint32_t (
		*saved)[ISA_LANES]; /* owned; set at the first early access: data that arrives, in [0] for SGPRs */
};

/* Numbers of instructions of a queue that were issued, and that are done for sure. */
struct waitcnt_queue {
	uint32_t issued, done;
	uint8_t counter; /* enum isa_counter, of the last one that was issued */
};

struct isa_waitcnt {
	uint64_t vector, scalar; /* registers under way, as in isa_operand_use */
	struct waitcnt_queue queue[ISA_COUNTERS];
	uint32_t unset;       /* registers of s0 to s15 without a value, a bit each */
	uint32_t last_to_lds; /* number in the queue of loads of the last load to LDS */
	unsigned count;
	struct waitcnt_load load[WAITCNT_LOADS]; /* the oldest first */
	/* The last instructions, and what each left behind: a byte each, the last one lowest. */
	const struct isa_inst *recent[WAITCNT_RECENT];
	uint64_t produced;
	uint32_t clock;
	bool remarked; /* a remark of hazard_later.c was made: once is enough, also after a reset */
	uint16_t live; /* traces that the last instructions left and none of them ended (hazard_later.c) */
	uint64_t said_pc, said_earlier_pc; /* the last finding */
};

/* Checks an instruction that uses registers under way; before it runs. */
void isa_waitcnt_check(struct isa_wave *w, const struct isa_inst *i);
/* Takes note of what it issues or waits for; before it runs. */
void isa_waitcnt_event(struct isa_wave *w, const struct isa_inst *i);

/* Whether the last finding was of the same two instructions: 64 lanes, and the turns of a loop, make one. */
static inline bool isa_waitcnt_said(struct isa_wave *w, uint64_t pc, uint64_t earlier_pc)
{
	if (w->waitcnt->said_pc == pc && w->waitcnt->said_earlier_pc == earlier_pc)
		return true;
	w->waitcnt->said_pc = pc;
	w->waitcnt->said_earlier_pc = earlier_pc;
	return false;
}

/* In isa_operand_use::heeds: the check needs no trace. */
#define ISA_TRACE_ANY 0x8000u

/* Forgets the last instructions: their code may be freed, or is another function's (hazard_later.c). */
static inline void isa_waitcnt_forget_code(struct isa_waitcnt *waitcnt)
{
	waitcnt->produced = 0;
	waitcnt->live = 0;
	waitcnt->clock = 0;
}

/* Checks an instruction that depends on results of the last ones; before it runs. */
void isa_hazard_check(struct isa_wave *w, const struct isa_inst *i);
void isa_hazard_later_check(struct isa_wave *w, const struct isa_inst *i);

static inline void isa_waitcnt_step(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_operand_use *t = i->use;
	struct isa_waitcnt *waitcnt = w->waitcnt;

	if ((t->vector & waitcnt->vector) | (t->scalar & waitcnt->scalar))
		isa_waitcnt_check(w, i);
	if (t->minds * 0x0101010101010101ull & waitcnt->produced)
		isa_hazard_check(w, i);
	if (t->heeds & (waitcnt->live | ISA_TRACE_ANY))
		isa_hazard_later_check(w, i);
	waitcnt->live = (uint16_t)((waitcnt->live & ~t->ends) | t->leaves);
	waitcnt->recent[waitcnt->clock++ % WAITCNT_RECENT] = i;
	waitcnt->produced = waitcnt->produced << 8 | t->produces;
	if (t->event)
		isa_waitcnt_event(w, i);
}

/* Replaces the last instruction, a temporary copy, by i. */
static inline void isa_waitcnt_replace(struct isa_waitcnt *waitcnt, const struct isa_inst *i)
{
	waitcnt->recent[(waitcnt->clock - 1) % WAITCNT_RECENT] = i;
}

#endif
