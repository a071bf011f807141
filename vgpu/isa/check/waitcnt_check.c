/* Missing waits (waitcnt_check.h). */
#include "vgpu/isa/check/waitcnt_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "vgpu/isa/check/lds_race.h"
#include "vgpu/report.h"

/* --- what is under way --- */

static void load_forget(struct waitcnt_load *load)
{
	free(load->saved);
	load->saved = NULL;
}

struct isa_waitcnt *isa_waitcnt_create(void)
{
	return calloc(1, sizeof(struct isa_waitcnt));
}

void isa_waitcnt_reset(struct isa_waitcnt *waitcnt)
{
	for (unsigned n = 0; n < waitcnt->count; n++)
		load_forget(&waitcnt->load[n]);
	waitcnt->count = 0;
	waitcnt->vector = waitcnt->scalar = waitcnt->unset = 0;
	memset(waitcnt->queue, 0, sizeof(waitcnt->queue));
	waitcnt->last_to_lds = 0;
	isa_waitcnt_forget_code(waitcnt);
	waitcnt->said_pc = 0;
}

void isa_waitcnt_unset(struct isa_waitcnt *waitcnt, uint32_t sgprs)
{
	waitcnt->unset = sgprs;
	waitcnt->scalar |= sgprs;
}

void isa_waitcnt_destroy(struct isa_waitcnt *waitcnt)
{
	if (!waitcnt)
		return;
	isa_waitcnt_reset(waitcnt);
	free(waitcnt);
}

static void mark_range(struct isa_waitcnt *waitcnt, const struct isa_range *r)
{
	uint64_t *bits = r->first >= ISA_SCALAR_BASE ? &waitcnt->scalar : &waitcnt->vector;

	for (unsigned n = 0; n < r->count; n++)
		*bits |= (uint64_t)1 << ((r->first + n) & 63);
}

static uint32_t *scalar_of(struct isa_wave *w, const struct isa_range *r)
{
	return &w->s[r->first - ISA_SCALAR_BASE];
}

/* Stores a load's data in its registers, if an earlier access had taken them away. */
static void load_arrive(struct isa_wave *w, struct waitcnt_load *load)
{
	const struct isa_range *r = &load->range;

	if (load->saved && r->first >= ISA_SCALAR_BASE)
		memcpy(scalar_of(w, r), load->saved[0], r->count * sizeof(uint32_t));
	else if (load->saved)
		for (unsigned n = 0; n < r->count; n++)
			for (unsigned lane = 0; lane < ISA_LANES; lane++)
				if (load->lanes >> lane & 1)
					w->v[r->first + n][lane] = load->saved[n][lane];
	load_forget(load);
}

/* Queues in which a load was reached. */
static unsigned queues_reached(const struct isa_waitcnt *waitcnt, const struct waitcnt_load *load)
{
	unsigned reached = 0;

	for (unsigned bits = load->queues; bits; bits &= bits - 1) {
		unsigned q = (unsigned)__builtin_ctz(bits);

		if ((q == ISA_COUNTER_DS ? load->number_ds : load->number) <= waitcnt->queue[q].done)
			reached |= 1u << q;
	}
	return reached;
}

/* Loads that no longer wait for anything arrive; the others close up. empty: a bit for each counter. */
static void retire_loads(struct isa_wave *w, unsigned empty)
{
	struct isa_waitcnt *waitcnt = w->waitcnt;
	unsigned left = 0;

	waitcnt->vector = 0;
	waitcnt->scalar = waitcnt->unset;
	for (unsigned n = 0; n < waitcnt->count; n++) {
		struct waitcnt_load *load = &waitcnt->load[n];

		load->empty &= (uint8_t)~empty;
		load->queues &= (uint8_t)~queues_reached(waitcnt, load);
		if (!load->empty && !load->queues) {
			load_arrive(w, load);
			continue;
		}
		mark_range(waitcnt, &load->range);
		if (left != n) {
			waitcnt->load[left] = *load;
			load->saved = NULL;
		}
		left++;
	}
	waitcnt->count = left;
}

/* Marks all but the last n of a counter's queues as done. */
static void counter_leave(struct isa_waitcnt *waitcnt, unsigned counter, uint32_t n)
{
	for (unsigned q = 0; q < ISA_COUNTERS; q++) {
		struct waitcnt_queue *queue = &waitcnt->queue[q];

		if (queue->counter == counter && queue->issued - queue->done > n)
			queue->done = queue->issued - n;
	}
}

/* --- findings --- */

static bool ranges_overlap(const struct isa_range *a, const struct isa_range *b)
{
	return a->first < b->first + b->count && b->first < a->first + a->count;
}

/* The registers that a block moves, a bit each: none if the dispatch does not grant them all. */
static uint32_t block_of(const struct isa_wave *w, const struct isa_range *data)
{
	uint32_t mask = w->s[ISA_M0];

	return mask && data->first + 31 - (unsigned)__builtin_clz(mask) < w->machine->vgpr_count ? mask : 0;
}

static bool halves_differ(const struct isa_range *a, const struct isa_range *b)
{
	return a->half && b->half && a->half != b->half;
}

/* Whether a range of an instruction's has a register that is being loaded. */
static bool is_loading(const struct isa_wave *w, const struct isa_operand_use *t, const struct isa_range *r,
		       const struct waitcnt_load *load)
{
	uint32_t mask;

	if (halves_differ(r, &load->range))
		return false;
	if (!t->block || r->count != ISA_BLOCK)
		return ranges_overlap(r, &load->range);
	mask = block_of(w, r);
	for (unsigned n = 0; n < ISA_BLOCK; n++)
		if (mask >> n & 1 && r->first + n >= load->range.first &&
		    r->first + n < load->range.first + (unsigned)load->range.count)
			return true;
	return false;
}

/* A second load to a register needs no wait when both write their results in the order of one counter. */
static bool in_order(const struct isa_operand_use *t, const struct waitcnt_load *load)
{
	const struct isa_count *counts = t->counts;
	unsigned ds = 1u << ISA_COUNTER_DS;

	if (t->event != ISA_EVENT_COUNT || !counts->ordered || counts->writes_late || counts->also_ds)
		return false;
	if (counts->counter == ISA_COUNTER_DS)
		return load->queues == ds && !load->empty;
	return load->path == t->path && !((load->queues | load->empty) & ~(1u << counts->counter));
}

static void register_name(const struct isa_wave *w, const struct isa_range *r, char *text, size_t text_B)
{
	const struct isa_machine *m = w->machine;
	unsigned first_agpr = m->chip->gfx == VGPU_GFX908      ? m->vgpr_count
			      : vgpu_gfx_unified(m->chip->gfx) ? m->accum_offset
							       : 0;
	bool agpr = first_agpr && r->first >= first_agpr && r->first < ISA_SCALAR_BASE;

	if (r->first >= ISA_SCALAR_BASE)
		snprintf(text, text_B, "s%u", r->first - ISA_SCALAR_BASE);
	else
		snprintf(text, text_B, "%c%u", agpr ? 'a' : 'v', agpr ? r->first - first_agpr : r->first);
}

/* Saves a load's data; the registers read as poison until the load arrives. */
static void take_away(struct isa_wave *w, struct waitcnt_load *load, bool poison)
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

static void report_early(struct isa_wave *w, const struct isa_inst *i, const struct isa_range *r,
			 const struct waitcnt_load *load)
{
	char user[160], loader[160], name[8];
	struct isa_range both = *r;

	if (isa_waitcnt_said(w, i->pc, load->pc))
		return;
	if (both.first < load->range.first)
		both.first = load->range.first;
	register_name(w, &both, name, sizeof(name));
	isa_text_at(w, i->pc, user, sizeof(user));
	isa_text_at(w, load->pc, loader, sizeof(loader));
	vgpu_finding(CONTRACT_WAIT_MISSING,
		     "\"%s\" at 0x%llx %s %s while \"%s\" at 0x%llx is loading it: nothing has waited for it", user,
		     (unsigned long long)i->pc, r->written ? "writes" : "reads", name, loader,
		     (unsigned long long)load->pc);
}

/* Once a register: what was read is known, what is written has a value. */
static void check_unset(struct isa_wave *w, const struct isa_inst *i)
{
	uint32_t touched = 0, read = 0;
	char user[160];

	for (unsigned k = 0; k < i->use->count; k++) {
		const struct isa_range *r = &i->use->range[k];
		uint64_t bits = r->first >= ISA_SCALAR_BASE && r->first < ISA_SCALAR_BASE + 16
					? (((uint64_t)1 << r->count) - 1) << (r->first - ISA_SCALAR_BASE)
					: 0;

		touched |= (uint32_t)bits & w->waitcnt->unset;
		read |= r->written ? 0 : (uint32_t)bits & w->waitcnt->unset;
	}
	w->waitcnt->unset &= ~touched;
	if (!read)
		return;
	isa_text_at(w, i->pc, user, sizeof(user));
	vgpu_finding(CONTRACT_REGISTER_STALE, "\"%s\" at 0x%llx reads s%u, a user SGPR that this job did not set",
		     user, (unsigned long long)i->pc, (unsigned)__builtin_ctz(read));
}

void isa_waitcnt_check(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_operand_use *t = i->use;
	uint64_t lanes = t->all_lanes ? ~(uint64_t)0 : isa_exec(w);

	if (t->scalar & w->waitcnt->unset)
		check_unset(w, i);
	for (unsigned n = 0; n < w->waitcnt->count; n++) {
		struct waitcnt_load *load = &w->waitcnt->load[n];

		for (unsigned k = 0; k < t->count; k++) {
			const struct isa_range *r = &t->range[k];

			if (!is_loading(w, t, r, load) || (r->written && in_order(t, load)))
				continue;
			if (r->first < ISA_SCALAR_BASE && !(load->lanes & lanes))
				continue;
			report_early(w, i, r, load);
			take_away(w, load, !r->written);
		}
	}
}

/* --- what instructions issue and wait for --- */

/* load: all but the range and its lanes. */
static void load_add(struct isa_wave *w, const struct isa_range *r, const struct waitcnt_load *load)
{
	struct isa_waitcnt *waitcnt = w->waitcnt;
	uint64_t exec = isa_exec(w);
	struct waitcnt_load *added;

	if (!r->count || (r->first < ISA_SCALAR_BASE && !exec))
		return;
	if (waitcnt->count == WAITCNT_LOADS) /* hardware had stopped issuing long ago */
		retire_loads(w, ~0u);
	if (waitcnt->count == WAITCNT_LOADS)
		return;
	added = &waitcnt->load[waitcnt->count++];
	*added = *load;
	added->range = *r;
	added->lanes = r->first < ISA_SCALAR_BASE ? exec : ~(uint64_t)0;
	mark_range(waitcnt, r);
}

/* A load for each run of registers that M0 selects. */
static void block_add(struct isa_wave *w, const struct isa_range *r, const struct waitcnt_load *load)
{
	uint32_t rest = block_of(w, r), run;

	for (; rest; rest &= ~run) {
		unsigned first = (unsigned)__builtin_ctz(rest);

		run = rest & ~(rest + (1u << first));
		load_add(w,
			 &(struct isa_range){(uint16_t)(r->first + first), (uint8_t)__builtin_popcount(run), true},
			 load);
	}
}

static uint32_t queue_issue(struct isa_wave *w, unsigned q, unsigned counter, uint32_t max)
{
	struct waitcnt_queue *queue = &w->waitcnt->queue[q];

	queue->counter = (uint8_t)counter;
	queue->issued++;
	if (queue->issued - queue->done > max) {
		counter_leave(w->waitcnt, counter, max);
		retire_loads(w, 0);
	}
	return queue->issued;
}

/* Counters that a FLAT instruction waits for, a bit each: lanes in LDS and lanes elsewhere have different ones. */
static unsigned flat_counters(const struct isa_wave *w, const struct isa_inst *i)
{
	const uint32_t *lo = w->v[i->mem.vaddr], *hi = w->v[i->mem.vaddr + 1];
	uint64_t exec = isa_exec(w);
	unsigned counters = 0;

	for (unsigned lane = 0; lane < ISA_LANES; lane++) {
		uint64_t va = (lo[lane] | (uint64_t)hi[lane] << 32) + (uint64_t)(int64_t)i->mem.offset;
		bool lds = va >> 32 == ISA_SHARED_BASE >> 32;

		if (exec >> lane & 1)
			counters |= 1u << (lds ? ISA_COUNTER_DS : i->use->counts->counter);
	}
	return counters;
}

/* An operation in no order with others is not counted, but for loads to LDS: what they write has no register. */
static void operation_issue(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_count *counts = i->use->counts;
	unsigned counters = counts->also_ds ? flat_counters(w, i) : 1u << counts->queue;
	struct waitcnt_load load = {.path = i->use->path, .pc = i->pc};
	uint32_t number = 0, number_ds = 0;

	if (counts->ordered || i->use->to_lds)
		number = number_ds = queue_issue(w, counts->queue, counts->counter, counts->max);
	if (counts->ordered && counts->also_ds)
		number_ds = queue_issue(w, ISA_COUNTER_DS, ISA_COUNTER_DS, counts->max);
	if (i->use->to_lds)
		w->waitcnt->last_to_lds = number;
	load.number = number;
	load.number_ds = number_ds;
	if (counts->ordered)
		load.queues = (uint8_t)counters;
	else
		load.empty = (uint8_t)(counts->also_ds ? counters : 1u << counts->counter);
	(i->use->block ? block_add : load_add)(w, &i->use->loaded, &load);
}

static void wait_for(struct isa_wave *w, const struct isa_inst *i)
{
	const struct isa_wait *wait = i->use->wait;
	uint32_t simm = (uint32_t)i->salu.simm;
	unsigned empty = 0;

	if (i->row->src[0]) /* a register is added */
		simm += isa_sread32(w, i->salu.src[0]) & 63;
	for (unsigned n = 0; n < 2; n++) {
		const struct isa_wait_field *f = &wait->field[n];
		uint32_t left = isa_wait_left(f, simm);

		if (!f->width)
			continue;
		counter_leave(w->waitcnt, f->counter, left);
		empty |= left ? 0 : 1u << f->counter;
	}
	for (unsigned counter = 0; wait->all && counter < ISA_COUNTERS; counter++)
		counter_leave(w->waitcnt, counter, 0);
	if (w->waitcnt->count)
		retire_loads(w, wait->all ? ~0u : empty);
}

/* Beside the one that every instruction is. */
static void skip_states(struct isa_waitcnt *waitcnt, unsigned states)
{
	waitcnt->produced = states < WAITCNT_STATES ? waitcnt->produced << 8 * states : 0;
	waitcnt->clock += states;
}

void isa_waitcnt_event(struct isa_wave *w, const struct isa_inst *i)
{
	switch (i->use->event) {
	case ISA_EVENT_NOP:
		skip_states(w->waitcnt, (uint32_t)i->salu.simm & 15);
		break;
	case ISA_EVENT_WAIT:
		wait_for(w, i);
		break;
	case ISA_EVENT_COUNT:
		operation_issue(w, i);
		break;
	case ISA_EVENT_BARRIER:
	case ISA_EVENT_END:
		if (w->group->races)
			isa_race_leave(w, i->use->event == ISA_EVENT_END);
		break;
	case ISA_EVENT_CALL:
		isa_waitcnt_forget_code(w->waitcnt);
		break;
	case ISA_EVENT_PASS:
		if (w->group->races && isa_barrier_passed(w))
			isa_race_pass(w);
		break;
	}
}
