/* Late write-back (late.h). */
#include "vgpu/isa/late.h"

#include <stdio.h>
#include <stdlib.h>

#include "vgpu/isa/race.h"
#include "vgpu/report.h"

/* --- what is under way ------------------------------------------------------------------------ */

static void forget(struct late_load *load)
{
	free(load->saved);
	load->saved = NULL;
}

struct isa_late *isa_late_create(void)
{
	return calloc(1, sizeof(struct isa_late));
}

void isa_late_reset(struct isa_late *late)
{
	for (unsigned n = 0; n < late->count; n++)
		forget(&late->load[n]);
	late->count = 0;
	late->vector = late->scalar = late->unset = 0;
	late->vm = late->ds = (struct late_counter){0};
	late->last_to_lds = 0;
	late->produced = 0;
	late->said_pc = 0;
}

void isa_late_unset(struct isa_late *late, uint32_t sgprs)
{
	late->unset = sgprs;
	late->scalar |= sgprs;
}

void isa_late_destroy(struct isa_late *late)
{
	if (!late)
		return;
	isa_late_reset(late);
	free(late);
}

static void mark(struct isa_late *late, const struct isa_range *r)
{
	uint64_t *bits = r->first >= ISA_SCALAR_BASE ? &late->scalar : &late->vector;

	for (unsigned n = 0; n < r->count; n++)
		*bits |= (uint64_t)1 << ((r->first + n) & 63);
}

static uint32_t *scalar_of(struct isa_wave *w, const struct isa_range *r)
{
	return &w->s[r->first - ISA_SCALAR_BASE];
}

/* Puts what a load brings into its registers, if somebody was there before. */
static void arrive(struct isa_wave *w, struct late_load *load)
{
	const struct isa_range *r = &load->range;

	if (load->saved && r->first >= ISA_SCALAR_BASE)
		memcpy(scalar_of(w, r), load->saved[0], r->count * sizeof(uint32_t));
	else if (load->saved)
		for (unsigned n = 0; n < r->count; n++)
			for (unsigned lane = 0; lane < ISA_LANES; lane++)
				if (load->lanes >> lane & 1)
					w->v[r->first + n][lane] = load->saved[n][lane];
	forget(load);
}

/* Loads that no longer wait for anything arrive; the others close up. */
static void retire(struct isa_wave *w, bool vm_empty, bool lgkm_empty)
{
	struct isa_late *late = w->late;
	unsigned left = 0;

	late->vector = 0;
	late->scalar = late->unset;
	for (unsigned n = 0; n < late->count; n++) {
		struct late_load *load = &late->load[n];
		unsigned done = (vm_empty ? LATE_VM_ALL : 0) | (lgkm_empty ? LATE_LGKM_ALL : 0);

		if (load->waits & LATE_VM_ORDER && load->number <= late->vm.done)
			done |= LATE_VM_ORDER;
		if (load->waits & LATE_LGKM_ORDER && load->number <= late->ds.done)
			done |= LATE_LGKM_ORDER;
		load->waits &= (uint8_t)~done;
		if (!load->waits) {
			arrive(w, load);
			continue;
		}
		mark(late, &load->range);
		if (left != n) {
			late->load[left] = *load;
			load->saved = NULL;
		}
		left++;
	}
	late->count = left;
}

/* All but n are done. */
static void leave(struct late_counter *counter, uint32_t n)
{
	if (counter->issued - counter->done > n)
		counter->done = counter->issued - n;
}

/* --- findings --------------------------------------------------------------------------------- */

static bool overlap(const struct isa_range *a, const struct isa_range *b)
{
	return a->first < b->first + b->count && b->first < a->first + a->count;
}

/* What writes a register twice in the order of one counter needs no wait. */
static bool in_order(const struct isa_touch *t, const struct late_load *load)
{
	if (t->event == ISA_EVENT_VMEM)
		return !(load->waits & (LATE_LGKM_ORDER | LATE_LGKM_ALL));
	return t->event == ISA_EVENT_DS && load->waits == LATE_LGKM_ORDER;
}

static void register_name(const struct isa_wave *w, const struct isa_range *r, char *text, size_t text_B)
{
	const struct isa_machine *m = w->machine;
	unsigned first_agpr = m->chip->gfx == VGPU_GFX908 ? m->vgpr_count : m->accum_offset;
	bool agpr = first_agpr && r->first >= first_agpr && r->first < ISA_SCALAR_BASE;

	if (r->first >= ISA_SCALAR_BASE)
		snprintf(text, text_B, "s%u", r->first - ISA_SCALAR_BASE);
	else
		snprintf(text, text_B, "%c%u", agpr ? 'a' : 'v', agpr ? r->first - first_agpr : r->first);
}

/* Keeps what the load brings; who reads from now on gets poison. */
static void take_away(struct isa_wave *w, struct late_load *load, bool poison)
{
	const struct isa_range *r = &load->range;
	bool scalar = r->first >= ISA_SCALAR_BASE;

	if (!load->saved) {
		load->saved = aligned_alloc(64, (scalar ? 1 : r->count) * sizeof(*load->saved));
		if (!load->saved)
			return;
		if (scalar)
			memcpy(load->saved[0], scalar_of(w, r), r->count * sizeof(uint32_t));
		else
			memcpy(load->saved, w->v[r->first], r->count * sizeof(*load->saved));
	}
	for (unsigned n = 0; poison && n < r->count; n++)
		if (scalar)
			scalar_of(w, r)[n] = ISA_POISON;
		else
			for (unsigned lane = 0; lane < ISA_LANES; lane++)
				if (load->lanes >> lane & 1)
					w->v[r->first + n][lane] = ISA_POISON;
}

static void report(struct isa_wave *w, const struct isa_inst *i, const struct isa_range *r,
		   const struct late_load *load)
{
	char user[160], loader[160], name[8];
	struct isa_range both = *r;

	if (isa_late_said(w, i->pc, load->pc))
		return;
	if (both.first < load->range.first)
		both.first = load->range.first;
	register_name(w, &both, name, sizeof(name));
	isa_text_at(w, i->pc, user, sizeof(user));
	isa_text_at(w, load->pc, loader, sizeof(loader));
	vgpu_finding(122,
		     "\"%s\" at 0x%llx %s %s while \"%s\" at 0x%llx is loading it: no s_waitcnt has waited for it",
		     user, (unsigned long long)i->pc, r->written ? "writes" : "reads", name, loader,
		     (unsigned long long)load->pc);
}

/* Once a register: what was read is known, what is written has a value. */
static void check_unset(struct isa_wave *w, const struct isa_inst *i)
{
	uint32_t touched = 0, read = 0;
	char user[160];

	for (unsigned k = 0; k < i->touch->count; k++) {
		const struct isa_range *r = &i->touch->range[k];
		uint64_t bits = r->first >= ISA_SCALAR_BASE && r->first < ISA_SCALAR_BASE + 16
					? (((uint64_t)1 << r->count) - 1) << (r->first - ISA_SCALAR_BASE)
					: 0;

		touched |= (uint32_t)bits & w->late->unset;
		read |= r->written ? 0 : (uint32_t)bits & w->late->unset;
	}
	w->late->unset &= ~touched;
	if (!read)
		return;
	isa_text_at(w, i->pc, user, sizeof(user));
	vgpu_finding(67, "\"%s\" at 0x%llx reads s%u, a user SGPR that this job did not set", user,
		     (unsigned long long)i->pc, (unsigned)__builtin_ctz(read));
}

void isa_late_check(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_touch *t = i->touch;
	uint64_t lanes = t->all_lanes ? ~(uint64_t)0 : isa_exec(w);

	if (t->scalar & w->late->unset)
		check_unset(w, i);
	for (unsigned n = 0; n < w->late->count; n++) {
		struct late_load *load = &w->late->load[n];

		for (unsigned k = 0; k < t->count; k++) {
			const struct isa_range *r = &t->range[k];

			if (!overlap(r, &load->range) || (r->written && in_order(t, load)))
				continue;
			if (r->first < ISA_SCALAR_BASE && !(load->lanes & lanes))
				continue;
			report(w, i, r, load);
			take_away(w, load, !r->written);
		}
	}
}

/* --- what instructions issue and wait for ----------------------------------------------------- */

static void note_load(struct isa_wave *w, const struct isa_inst *i, unsigned waits, uint32_t number)
{
	struct isa_late *late = w->late;
	const struct isa_range *r = &i->touch->loaded;
	uint64_t exec = isa_exec(w);

	if (!r->count || !waits || (r->first < ISA_SCALAR_BASE && !exec))
		return;
	if (late->count == LATE_LOADS) /* hardware had stopped issuing long ago */
		retire(w, true, true);
	if (late->count == LATE_LOADS)
		return;
	late->load[late->count++] = (struct late_load){
		.range = *r,
		.waits = (uint8_t)waits,
		.number = number,
		.lanes = r->first < ISA_SCALAR_BASE ? exec : ~(uint64_t)0,
		.pc = i->pc,
	};
	mark(late, r);
}

static uint32_t issue(struct isa_wave *w, struct late_counter *counter, uint32_t max)
{
	counter->issued++;
	if (counter->issued - counter->done > max) {
		leave(counter, max);
		retire(w, false, false);
	}
	return counter->issued;
}

/* A FLAT instruction's lanes in LDS, and those elsewhere, have a counter of their own. */
static unsigned flat_waits(const struct isa_wave *w, const struct isa_inst *i)
{
	const uint32_t *lo = w->v[i->mem.vaddr], *hi = w->v[i->mem.vaddr + 1];
	uint64_t exec = isa_exec(w);
	unsigned waits = 0;

	for (unsigned lane = 0; lane < ISA_LANES; lane++) {
		uint64_t va = (lo[lane] | (uint64_t)hi[lane] << 32) + (uint64_t)(int64_t)i->mem.offset;

		if (exec >> lane & 1)
			waits |= va >> 32 == ISA_SHARED_BASE >> 32 ? LATE_LGKM_ALL : LATE_VM_ALL;
	}
	return waits;
}

static void wait_for(struct isa_wave *w, uint32_t simm)
{
	uint32_t vm = (simm & 15) | (simm >> 14 & 3) << 4, lgkm = simm >> 8 & 15;

	leave(&w->late->vm, vm);
	leave(&w->late->ds, lgkm);
	if (w->late->count)
		retire(w, !vm, !lgkm);
}

/* Beside the one that every instruction is. */
static void skip_states(struct isa_late *late, unsigned states)
{
	late->produced = states < LATE_RECENT ? late->produced << 8 * states : 0;
	late->clock += states;
}

void isa_late_event(struct isa_wave *w, const struct isa_inst *i)
{
	struct isa_late *late = w->late;
	uint32_t number;

	switch (i->touch->event) {
	case ISA_EVENT_NOP:
		skip_states(late, (uint32_t)i->salu.simm & 15);
		break;
	case ISA_EVENT_WAIT:
		wait_for(w, (uint32_t)i->salu.simm);
		break;
	case ISA_EVENT_VMEM:
		number = issue(w, &late->vm, LATE_VM_MAX);
		if (i->touch->to_lds)
			late->last_to_lds = number;
		note_load(w, i, LATE_VM_ORDER, number);
		break;
	case ISA_EVENT_DS:
		number = issue(w, &late->ds, LATE_LGKM_MAX);
		note_load(w, i, LATE_LGKM_ORDER, number);
		break;
	case ISA_EVENT_SMEM:
		note_load(w, i, LATE_LGKM_ALL, 0);
		break;
	case ISA_EVENT_FLAT:
		if (i->touch->to_lds)
			late->last_to_lds = issue(w, &late->vm, LATE_VM_MAX);
		else if (i->touch->loaded.count)
			note_load(w, i, flat_waits(w, i), 0);
		break;
	case ISA_EVENT_BARRIER:
	case ISA_EVENT_END:
		if (w->group->races)
			isa_race_leave(w, i->touch->event == ISA_EVENT_END);
		break;
	}
}
