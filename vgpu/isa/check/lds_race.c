/* Races in LDS (lds_race.h). */
#include "vgpu/isa/check/lds_race.h"

#include <stdlib.h>

#include "vgpu/report.h"

#define RACE_SITES 32u
#define RACE_OPS   64u /* more than the counter of LDS counts */
#define BITS       64u /* bytes of LDS that a word of the maps covers */

/* An instruction that touched LDS since the last barrier. */
struct site {
	uint64_t pc;
	uint32_t lo, hi; /* range of LDS that contains all of its accesses */
	uint8_t kind;
	bool carried; /* the operation was under way at the barrier */
};

/* A recent instruction that touched LDS and may be under way. */
struct op {
	uint64_t pc;
	uint32_t number; /* in its counter, of waitcnt_check.h */
	bool by_vm;      /* vmcnt, not lgkmcnt */
	uint8_t kind;
	uint16_t size_B, count;
	uint32_t offset[2 * ISA_LANES];
};

/* Accesses of a wave between two barriers. */
struct epoch {
	uint64_t *map[ISA_RACE_KINDS]; /* parts of isa_races::maps */
	unsigned sites;
	struct site site[RACE_SITES];
};

/* Epochs of isa_races. */
enum { NOW, BEFORE, EPOCHS };

struct race_wave {
	struct epoch epoch[EPOCHS];
	unsigned ops; /* number of instructions so far; the last RACE_OPS are kept */
	struct op op[RACE_OPS];
	uint32_t done, done_vm; /* state of waitcnt_check.h's counters when the wave arrived at the barrier */
	bool arrived;           /* the wave is at the barrier, and has not passed it */
};

struct isa_races {
	uint32_t words; /* of each map */
	uint32_t room;  /* waves that wave[] and the maps have */
	uint32_t waves;
	uint64_t *maps; /* owned */
	/* Bytes that any wave touched, and bytes that any wave changed since the barrier, in the same form. Parts of
	 * maps. */
	uint64_t *touched, *changed;
	struct race_wave wave[]; /* room */
};

/* --- life --- */

void isa_races_destroy(struct isa_races *races)
{
	if (!races)
		return;
	free(races->maps);
	free(races);
}

bool isa_races_fit(const struct isa_races *races, uint32_t lds_B, uint32_t waves)
{
	return races && lds_B <= races->words * BITS && waves <= races->room;
}

struct isa_races *isa_races_create(uint32_t lds_B, uint32_t waves)
{
	struct isa_races *races = calloc(1, sizeof(*races) + waves * sizeof(*races->wave));
	uint64_t *map;

	if (!races)
		return NULL;
	races->room = waves;
	races->words = (lds_B + BITS - 1) / BITS;
	races->maps = calloc((2 + EPOCHS * waves * ISA_RACE_KINDS) * (size_t)races->words, sizeof(*map));
	if (!races->maps) {
		free(races);
		return NULL;
	}
	races->touched = races->maps;
	races->changed = map = races->touched + races->words;
	for (unsigned n = 0; n < waves; n++)
		for (unsigned kind = 0; kind < EPOCHS * ISA_RACE_KINDS; kind++)
			races->wave[n].epoch[kind % EPOCHS].map[kind / EPOCHS] = map += races->words;
	return races;
}

static void epoch_clear(const struct isa_races *races, struct epoch *epoch)
{
	epoch->sites = 0;
	for (unsigned kind = 0; kind < ISA_RACE_KINDS; kind++)
		memset(epoch->map[kind], 0, races->words * sizeof(*epoch->map[kind]));
}

static void wave_next_epoch(const struct isa_races *races, struct race_wave *wave)
{
	struct epoch now = wave->epoch[NOW];

	wave->epoch[NOW] = wave->epoch[BEFORE];
	wave->epoch[BEFORE] = now;
	epoch_clear(races, &wave->epoch[NOW]);
}

/* Accesses before the barrier matter to waves that have not passed it alone. */
static void next_epoch(struct isa_races *races)
{
	memset(races->touched, 0, 2 * (size_t)races->words * sizeof(*races->touched));
	for (unsigned n = 0; n < races->waves; n++)
		wave_next_epoch(races, &races->wave[n]);
}

void isa_races_reset(struct isa_races *races, uint32_t waves)
{
	races->waves = waves;
	next_epoch(races);
	for (unsigned n = 0; n < waves; n++) {
		epoch_clear(races, &races->wave[n].epoch[BEFORE]);
		races->wave[n].ops = 0;
		races->wave[n].arrived = false;
		races->wave[n].done = races->wave[n].done_vm = ~0u;
	}
}

/* --- what is remembered --- */

static uint64_t bits_of(uint32_t offset, unsigned size_B)
{
	return ~(uint64_t)0 >> (BITS - size_B) << offset % BITS;
}

static void set_bits(struct isa_races *races, struct race_wave *own, uint32_t word, uint64_t bits, unsigned kind)
{
	own->epoch[NOW].map[kind][word] |= bits;
	races->touched[word] |= bits;
	if (kind != ISA_RACE_READ)
		races->changed[word] |= bits;
}

static void keep_site(struct race_wave *own, uint64_t pc, unsigned kind, uint32_t lo, uint32_t hi, bool carried)
{
	struct epoch *now = &own->epoch[NOW];
	struct site *s = now->sites ? &now->site[(now->sites - 1) % RACE_SITES] : NULL;

	for (unsigned n = 0; n < now->sites && n < RACE_SITES && (s->pc != pc || s->kind != kind); n++)
		s = &now->site[n];
	if (!s || s->pc != pc || s->kind != kind) {
		s = &now->site[now->sites++ % RACE_SITES];
		*s = (struct site){pc, lo, hi, (uint8_t)kind, carried};
	}
	s->lo = lo < s->lo ? lo : s->lo;
	s->hi = hi > s->hi ? hi : s->hi;
}

static bool counts_as_memory(const struct isa_operand_use *t)
{
	return t->event == ISA_EVENT_COUNT && t->counts->counter == ISA_COUNTER_LOAD && !t->counts->also_ds;
}

static uint32_t loads_done(const struct isa_waitcnt *waitcnt)
{
	return waitcnt->queue[ISA_COUNTER_LOAD].done;
}

/* The instruction's entry among the recent ones, made if it has none. */
static struct op *op_of(struct isa_wave *w, const struct isa_inst *i, unsigned kind, unsigned size_B)
{
	struct race_wave *own = &w->group->races->wave[w->wave_in_group];
	bool by_vm = i->use->to_lds || counts_as_memory(i->use);
	uint32_t number = w->waitcnt->queue[by_vm ? ISA_COUNTER_LOAD : ISA_COUNTER_DS].issued;
	struct op *op = &own->op[(own->ops - 1) % RACE_OPS];

	if (own->ops && op->pc == i->pc && op->number == number && op->count < 2 * ISA_LANES)
		return op;
	op = &own->op[own->ops++ % RACE_OPS];
	op->pc = i->pc;
	op->number = number;
	op->by_vm = by_vm;
	op->kind = (uint8_t)kind;
	op->size_B = (uint16_t)size_B;
	op->count = 0;
	return op;
}

/* --- barriers --- */

void isa_race_leave(const struct isa_wave *w, bool ends)
{
	struct race_wave *own = &w->group->races->wave[w->wave_in_group];

	own->done = ends ? ~0u : w->waitcnt->queue[ISA_COUNTER_DS].done;
	own->done_vm = ends ? ~0u : loads_done(w->waitcnt);
	own->arrived = !ends;
}

void isa_race_pass(const struct isa_wave *w)
{
	w->group->races->wave[w->wave_in_group].arrived = false;
}

/* Moves operations that were under way when the wave arrived at the barrier to the interval after it. */
static void carry_pending(struct isa_races *races, struct race_wave *own)
{
	unsigned first = own->ops > RACE_OPS ? own->ops - RACE_OPS : 0;

	for (unsigned n = first; n < own->ops; n++) {
		const struct op *op = &own->op[n % RACE_OPS];

		if (op->number <= (op->by_vm ? own->done_vm : own->done))
			continue;
		for (unsigned k = 0; k < op->count; k++) {
			for (uint32_t at = op->offset[k]; at < op->offset[k] + op->size_B; at++)
				set_bits(races, own, at / BITS, bits_of(at, 1), op->kind);
			keep_site(own, op->pc, op->kind, op->offset[k], op->offset[k] + op->size_B, true);
		}
	}
}

void isa_races_barrier(struct isa_races *races)
{
	next_epoch(races);
	for (unsigned n = 0; n < races->waves; n++)
		carry_pending(races, &races->wave[n]);
}

/* --- findings --- */

static const char *const verb[ISA_RACE_KINDS] = {"reads", "writes", "updates"};

static const struct site *site_at(const struct epoch *epoch, unsigned kind, uint32_t at)
{
	for (unsigned n = 0; n < epoch->sites && n < RACE_SITES; n++)
		if (epoch->site[n].kind == kind && epoch->site[n].lo <= at && at < epoch->site[n].hi)
			return &epoch->site[n];
	return NULL;
}

/* An access of another wave that conflicts with this one. */
struct conflict {
	unsigned wave, kind, epoch;
	uint32_t at;
};

static const char *missing_order(const struct conflict *other, const struct site *site)
{
	if (other->epoch == BEFORE)
		return "a barrier between them that the first of the two has not waited for";
	return site && site->carried ? "no wait before the barrier between them" : "no barrier between them";
}

static void report_race(struct isa_wave *w, const struct isa_inst *i, unsigned kind, const struct conflict *other)
{
	const struct epoch *epoch = &w->group->races->wave[other->wave].epoch[other->epoch];
	const struct site *site = site_at(epoch, other->kind, other->at);
	char text[160], earlier[160] = "?";

	if (isa_waitcnt_said(w, i->pc, site ? site->pc : 0))
		return;
	isa_text_at(w, i->pc, text, sizeof(text));
	if (site)
		isa_text_at(w, site->pc, earlier, sizeof(earlier));
	vgpu_finding(CONTRACT_LDS_RACE,
		     "wave %u: \"%s\" at 0x%llx %s LDS at 0x%x, which wave %u %s by \"%s\" at 0x%llx, with %s",
		     w->wave_in_group, text, (unsigned long long)i->pc, verb[kind], other->at, other->wave,
		     verb[other->kind], earlier, (unsigned long long)(site ? site->pc : 0),
		     missing_order(other, site));
}

/* Kinds of other waves' accesses that conflict with an access of each kind. */
static const uint8_t against[ISA_RACE_KINDS] = {
	[ISA_RACE_READ] = 1 << ISA_RACE_WRITE,
	[ISA_RACE_WRITE] = 1 << ISA_RACE_READ | 1 << ISA_RACE_WRITE | 1 << ISA_RACE_ATOMIC,
	[ISA_RACE_ATOMIC] = 1 << ISA_RACE_WRITE,
};

/* Reports the first byte that another wave accessed in an epoch, and forgets that access: a byte is reported once. */
static void check_word(struct isa_wave *w, const struct isa_inst *i, uint32_t word, uint64_t bits, unsigned kind,
		       unsigned epoch)
{
	struct isa_races *races = w->group->races;

	for (unsigned n = 0; n < races->waves; n++)
		for (unsigned other = 0; n != w->wave_in_group && other < ISA_RACE_KINDS; other++) {
			uint64_t *map = &races->wave[n].epoch[epoch].map[other][word];
			struct conflict conflict = {n, other, epoch, word * BITS};

			if (!(against[kind] >> other & 1) || !(*map & bits))
				continue;
			conflict.at += (uint32_t)__builtin_ctzll(*map & bits);
			report_race(w, i, kind, &conflict);
			*map &= ~bits;
		}
}

/* Reports a load to LDS whose bytes the wave itself accesses before vmcnt shows that it is done. */
static void look_at_own_load(const struct isa_wave *w, const struct isa_inst *i, uint32_t offset, unsigned size_B,
			     unsigned kind)
{
	struct race_wave *own = &w->group->races->wave[w->wave_in_group];

	for (unsigned n = 0; n < RACE_OPS && n < own->ops; n++) {
		struct op *op = &own->op[n];
		char text[160], earlier[160];

		for (unsigned k = 0; op->by_vm && op->number > loads_done(w->waitcnt) && k < op->count; k++) {
			if (op->kind == ISA_RACE_READ || op->offset[k] >= offset + size_B ||
			    offset >= op->offset[k] + op->size_B)
				continue;
			isa_text_at(w, i->pc, text, sizeof(text));
			isa_text_at(w, op->pc, earlier, sizeof(earlier));
			vgpu_finding(
				CONTRACT_WAIT_MISSING,
				"\"%s\" at 0x%llx %s LDS at 0x%x while \"%s\" at 0x%llx is loading it: nothing "
				"has waited for it",
				text, (unsigned long long)i->pc, verb[kind], offset, earlier,
				(unsigned long long)op->pc);
			op->count = 0; /* once is enough */
		}
	}
}

/* --- accesses --- */

/* Whether all have arrived at a barrier that the wave has not passed. */
static bool has_barrier_behind(const struct isa_wave *w)
{
	return w->group->races->wave[w->wave_in_group].arrived && isa_barrier_passed(w);
}

/* Checks the part of an access in one word of the maps. */
static void access_word(struct isa_wave *w, const struct isa_inst *i, uint32_t offset, unsigned size_B,
			unsigned kind, bool changes)
{
	struct isa_races *races = w->group->races;
	struct race_wave *own = &races->wave[w->wave_in_group];
	uint32_t word = offset / BITS;
	uint64_t bits = bits_of(offset, size_B);

	if (kind == ISA_RACE_WRITE && !changes) { /* a write of the same value before does not matter */
		set_bits(races, own, word, bits, ISA_RACE_READ);
		return;
	}
	if ((kind == ISA_RACE_READ ? races->changed : races->touched)[word] & bits)
		check_word(w, i, word, bits, kind, NOW);
	if (has_barrier_behind(w))
		check_word(w, i, word, bits, kind, BEFORE);
	set_bits(races, own, word, bits, kind);
}

void isa_race_access(struct isa_wave *w, const struct isa_inst *i, uint32_t offset, unsigned size_B,
		     enum isa_race_kind kind, const void *new_bytes)
{
	bool changes = kind == ISA_RACE_WRITE && memcmp(w->group->lds + offset, new_bytes, size_B) != 0;
	unsigned in_word = BITS - offset % BITS, first_B = size_B < in_word ? size_B : in_word;
	struct race_wave *own = &w->group->races->wave[w->wave_in_group];
	struct op *op;

	if (i->use->atomic)
		kind = ISA_RACE_ATOMIC;
	op = op_of(w, i, kind, size_B);
	if (w->waitcnt->last_to_lds > loads_done(w->waitcnt) && !op->by_vm)
		look_at_own_load(w, i, offset, size_B, kind);
	keep_site(own, i->pc, changes || kind != ISA_RACE_WRITE ? kind : ISA_RACE_READ, offset, offset + size_B,
		  false);
	op->offset[op->count++] = offset;
	access_word(w, i, offset, first_B, kind, changes);
	if (size_B > first_B)
		access_word(w, i, offset + first_B, size_B - first_B, kind, changes);
}

/* Whether no wave has changed the bytes, so that a read has no conflict. */
static bool is_unchanged(const struct isa_wave *w, uint32_t offset, unsigned size_B)
{
	const struct isa_races *races = w->group->races;

	return !has_barrier_behind(w) && offset % BITS + size_B <= BITS &&
	       !(races->changed[offset / BITS] & bits_of(offset, size_B));
}

void isa_race_read(struct isa_wave *w, const struct isa_inst *i, const uint32_t offset[ISA_LANES], uint64_t lanes,
		   unsigned size_B)
{
	struct isa_races *races = w->group->races;
	struct race_wave *own = &races->wave[w->wave_in_group];
	uint32_t lo = ~0u, hi = 0;
	struct op *op;

	if (!lanes)
		return;
	op = op_of(w, i, ISA_RACE_READ, size_B);
	for (uint64_t rest = lanes; rest; rest &= rest - 1) {
		uint32_t at = offset[__builtin_ctzll(rest)];

		if (op->count && op->offset[op->count - 1] == at)
			continue;
		if (!is_unchanged(w, at, size_B) || w->waitcnt->last_to_lds > loads_done(w->waitcnt)) {
			isa_race_access(w, i, at, size_B, ISA_RACE_READ, NULL);
			continue;
		}
		op->offset[op->count++] = at;
		set_bits(races, own, at / BITS, bits_of(at, size_B), ISA_RACE_READ);
		lo = at < lo ? at : lo;
		hi = at > hi ? at : hi;
	}
	if (lo != ~0u)
		keep_site(own, i->pc, ISA_RACE_READ, lo, hi + size_B, false);
}
