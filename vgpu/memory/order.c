/* Last accesses of each dword, and whether a new access is ordered after them (order.h). */
#include "vgpu/memory/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vgpu/memory/cache.h"
#include "vgpu/memory/clock.h"
#include "vgpu/rank.h"
#include "vgpu/report.h"

#define CELLS   (MEM_PAGE_B / 4)
#define WORDS   (MEM_PAGE_B / 8) /* words that synchronise */
#define RECORDS 32768u           /* actors that reports can name, the youngest; older ones count as ordered */
#define BUCKETS 16384u
/* A shadow is 3 times as large as its memory, 4 times where words synchronise: 128 MiB of memory, 512 MiB of
 * shadow. Memory beyond that is not checked; when no job runs, all shadows are freed. */
#define PAGES_MAX 32768u

/* A cell: number of the actor, and the kind of access. */
enum { CELL_ID = (1 << 30) - 1, CELL_PART = 1 << 30 /* not all of the dword */ };
#define CELL_SYNC (1u << 31)

struct record {
	uint32_t id, number;
	uint32_t ring;
	uint16_t index; /* index of its number in a clock */
	bool dispatch;
	char text[176];
};

struct mem_shadow {
	uint64_t key;                             /* page number of host memory; immutable */
	struct mem_shadow *chain, *next;          /* next of its bucket; next of all. Immutable */
	struct mem_clock *_Atomic *_Atomic sync;  /* owned; counted clock released at each word; NULL: none */
	uint32_t writer[CELLS], reader[2][CELLS]; /* racy: a lost note hides a race, and makes none up */
};

static struct record *records; /* guarded by the lock, but for reading */
static uint32_t last_id;
static struct mem_shadow *_Atomic bucket[BUCKETS]; /* added to with the lock; acquire */
static struct mem_shadow *shadows;
static unsigned shadow_count;

/* --- shadows --- */

void mem_order_lose_shadows(void)
{
	memset(bucket, 0, sizeof(bucket));
	shadows = NULL;
	shadow_count = 0;
}

void mem_order_drop_shadows(void)
{
	for (struct mem_shadow *s = shadows, *next; s; s = next) {
		next = s->next;
		for (unsigned i = 0; s->sync && i < WORDS; i++)
			mem_clock_put(s->sync[i]);
		free(s->sync);
		free(s);
	}
	mem_order_lose_shadows();
}

void mem_order_trim_shadows(void)
{
	if (shadow_count == PAGES_MAX)
		mem_order_drop_shadows();
}

static struct mem_shadow *_Atomic *bucket_of(uint64_t key)
{
	return &bucket[key * 0x9e3779b97f4a7c15ull >> 32 & (BUCKETS - 1)];
}

static struct mem_shadow *find_shadow(uint64_t key)
{
	struct mem_shadow *s = atomic_load_explicit(bucket_of(key), memory_order_acquire);

	while (s && s->key != key)
		s = s->chain;
	return s;
}

static struct mem_shadow *add_shadow(uint64_t key)
{
	struct mem_shadow *s = shadow_count < PAGES_MAX ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->key = key;
	s->chain = atomic_load_explicit(bucket_of(key), memory_order_relaxed);
	s->next = shadows;
	shadows = s;
	shadow_count++;
	atomic_store_explicit(bucket_of(key), s, memory_order_release);
	return s;
}

/* NULL: the page is not checked. */
static struct mem_shadow *shadow_of(const uint8_t *host)
{
	uint64_t key = (uintptr_t)host / MEM_PAGE_B;
	struct mem_shadow *s = find_shadow(key);

	if (s)
		return s;
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	s = find_shadow(key);
	if (!s)
		s = add_shadow(key);
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
	return s;
}

static struct mem_shadow *shadow_by_memo(struct mem_order_memo *memo, const uint8_t *host)
{
	uint64_t key = (uintptr_t)host / MEM_PAGE_B;
	struct mem_shadow **slot = &memo->page[key % 4];

	if (!*slot || (*slot)->key != key)
		*slot = shadow_of(host);
	return *slot;
}

/* --- actors --- */

GPUVM_RACY static struct record *record_of(uint32_t cell)
{
	return &records[cell & CELL_ID & (RECORDS - 1)];
}

/* Gives the actor its name and number. With the lock. */
static void introduce_actor(struct mem_actor *actor, const char *where)
{
	struct record *r;

	last_id = last_id == CELL_ID ? 1 : last_id + 1;
	r = record_of(last_id);
	r->id = 0;
	actor->number = mem_actor_number(actor->job, actor->dispatch);
	r->number = actor->number;
	r->index = (uint16_t)mem_clock_index((unsigned)actor->job->slot, actor->dispatch);
	r->ring = actor->job->ring;
	r->dispatch = actor->dispatch;
	snprintf(r->text, sizeof(r->text), "%s of %s", where, actor->job->name);
	r->id = actor->id = last_id;
}

static bool has_records(void)
{
	if (!records)
		records = calloc(RECORDS, sizeof(*records));
	return records;
}

/* A packet is introduced when it first touches memory. False: it is not checked. */
static bool is_checked(struct mem_actor *actor)
{
	char where[128];

	if (!actor->job || actor->job->slot < 0 || atomic_load_explicit(&mem_order_blind, memory_order_relaxed))
		return false;
	if (actor->id || actor->dispatch)
		return actor->id;
	actor->where(actor->user, where, sizeof(where));
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	if (has_records())
		introduce_actor(actor, where);
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
	return actor->id;
}

void mem_order_launch(struct mem_actor *dispatch, struct mem_order_job *job, const char *where)
{
	*dispatch = (struct mem_actor){.dispatch = true};
	if (job->slot < 0)
		return;
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	if (has_records()) {
		dispatch->job = job;
		dispatch->launch = mem_clock_get(mem_queue_clock((unsigned)job->slot));
		dispatch->clock = dispatch->launch;
		introduce_actor(dispatch, where);
	}
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

/* --- order --- */

/* Whether the access in the cell comes before the actor, or its order is unknown. */
GPUVM_RACY static bool comes_before(uint32_t cell, const struct mem_actor *actor, const struct mem_clock *clock)
{
	uint32_t id = cell & CELL_ID;
	const struct record *r = record_of(cell);

	return !id || id == actor->id || r->id != id || clock->at[r->index] >= r->number;
}

/* The actor acquires r and the earlier work of r's queue. With the lock. */
static bool learn_of(struct mem_actor *actor, const struct record *r)
{
	struct mem_clock *clock = mem_clock_new(mem_queue_clock(r->index % MEM_QUEUES));
	bool news;

	if (!clock)
		return false;
	mem_clock_raise(&clock, r->index, r->number);
	news = mem_actor_acquire(actor, clock);
	mem_clock_put(clock);
	return news;
}

/* Whether two accesses are no race: two that synchronise, or two stores of bytes of one dword, which may be
 * different bytes. Machine code before gfx90a does not distinguish an atomic store from another: dispatches with
 * both atomics and stores are excused. */
GPUVM_RACY static bool is_excused(uint32_t cell, bool cell_wrote, const struct mem_actor *actor, unsigned how,
				  uint32_t flags)
{
	bool writes = how & MEM_ORDER_WRITE, sync = cell & CELL_SYNC || flags & CELL_SYNC;

	if (cell & flags & (CELL_SYNC | (uint32_t)CELL_PART))
		return true;
	return cell_wrote && writes && sync && actor->dispatch && record_of(cell)->dispatch;
}

/* An access, applied to a row of cells. */
struct touch {
	struct mem_actor *actor;
	const struct mem_clock *clock;
	unsigned how;
	uint64_t va; /* of the page */
};

static void report_race(const struct touch *t, unsigned cell_index, uint32_t cell, bool wrote)
{
	struct record mine, other;
	bool sure;

	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	mine = *record_of(t->actor->id);
	other = *record_of(cell);
	sure = mine.id == t->actor->id && !comes_before(cell, t->actor, mem_actor_clock(t->actor));
	learn_of(t->actor, &other); /* a single report is enough */
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
	if (!sure) /* the record was reused for another actor */
		return;
	vgpu_finding(mine.ring == other.ring ? CONTRACT_BARRIER_MISSING : CONTRACT_DEPENDENCY_MISSING,
		     "%s %s 0x%llx, which %s %s: nothing orders the two", mine.text,
		     t->how & MEM_ORDER_WRITE ? "writes" : "reads", (unsigned long long)(t->va + 4ull * cell_index),
		     other.text, wrote ? "writes" : "reads");
}

static void look_at(struct touch *t, unsigned cell_index, uint32_t cell, bool wrote, uint32_t flags)
{
	if (comes_before(cell, t->actor, t->clock) || is_excused(cell, wrote, t->actor, t->how, flags))
		return;
	report_race(t, cell_index, cell, wrote);
	t->clock = mem_actor_clock(t->actor);
}

/* Replaces one of two readers: the younger of those that are in order. */
GPUVM_RACY static void note_reader(struct mem_shadow *s, const struct touch *t, unsigned c)
{
	uint32_t me = t->actor->id;

	if (s->reader[0][c] == me || s->reader[1][c] == me)
		return;
	if (comes_before(s->reader[0][c], t->actor, t->clock))
		s->reader[0][c] = me;
	else
		s->reader[1][c] = me;
}

GPUVM_RACY static void touch_cell(struct mem_shadow *s, struct touch *t, unsigned c, uint32_t flags)
{
	look_at(t, c, s->writer[c], true, flags);
	if (!(t->how & MEM_ORDER_WRITE)) {
		note_reader(s, t, c);
		return;
	}
	look_at(t, c, s->reader[0][c], false, flags);
	look_at(t, c, s->reader[1][c], false, flags);
	s->writer[c] = t->actor->id | flags;
}

/* --- handing on --- */

static struct mem_clock *_Atomic *word_of(struct mem_shadow *s, const uint8_t *host)
{
	struct mem_clock *_Atomic *sync = atomic_load_explicit(&s->sync, memory_order_acquire);

	return sync ? &sync[mem_page_offset(host) / 8] : NULL;
}

/* Whether the last store to the cell was one that hands nothing on, and is not ordered. */
GPUVM_RACY static bool is_foreign(struct mem_shadow *s, const struct mem_actor *actor, const uint8_t *host)
{
	uint32_t cell = s->writer[mem_page_offset(host) / 4];

	return !(cell & CELL_SYNC) && !comes_before(cell, actor, mem_actor_clock(actor));
}

static bool acquire_word(struct mem_shadow *s, struct mem_actor *actor, const uint8_t *host)
{
	struct mem_clock *_Atomic *word = word_of(s, host);
	struct mem_clock *clock = word ? *word : NULL;
	bool foreign = is_foreign(s, actor, host), news = false;

	if ((!clock || clock == actor->acquired) && !foreign)
		return false;
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	clock = word ? *word : NULL;
	if (clock) {
		news = mem_actor_acquire(actor, clock);
		if (actor->dispatch && clock != actor->acquired) {
			mem_clock_put(actor->acquired);
			actor->acquired = mem_clock_get(clock);
		}
	}
	if (foreign)
		news |= learn_of(actor, record_of(s->writer[mem_page_offset(host) / 4]));
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
	return news;
}

void mem_order_saw_cpu(struct mem_actor *actor)
{
	uint64_t version = atomic_load_explicit(&mem_cpu_version, memory_order_relaxed);

	if (!is_checked(actor) || actor->cpu_version == version)
		return;
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	mem_actor_acquire(actor, mem_cpu_clock());
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
	actor->cpu_version = version;
}

/* Makes the cell of a word. With the lock. */
static struct mem_clock *_Atomic *make_word(struct mem_shadow *s, const uint8_t *host)
{
	if (!s->sync)
		s->sync = calloc(WORDS, sizeof(*s->sync[0]));
	return word_of(s, host);
}

/* Releases the actor's clock at a word: joins it with the clock there, because stores of several actors do not
 * replace each other. */
static void hand_on(struct mem_clock *_Atomic *word, struct mem_clock *clock)
{
	struct mem_clock *old = *word, *joined;

	if (old && mem_clock_within(clock, old))
		return;
	joined = !old || mem_clock_within(old, clock) ? mem_clock_get(clock) : mem_clock_new(old);
	if (!joined)
		return;
	mem_clock_join(&joined, clock);
	*word = joined;
	mem_clock_put(old);
}

static void release_word(struct mem_shadow *s, struct mem_actor *actor, const uint8_t *host)
{
	struct mem_clock *_Atomic *word = word_of(s, host);
	struct mem_clock *clock;

	if (word && actor->dispatch && *word && *word == actor->released && actor->shown == actor->released)
		return;
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	word = make_word(s, host);
	clock = mem_actor_release(actor);
	if (word && clock)
		hand_on(word, clock);
	if (clock)
		mem_cpu_see(clock);
	actor->shown = clock;
	mem_clock_put(clock);
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

/* Releases a plain store that the CPU may see at once. */
static void show_cpu(struct mem_actor *actor)
{
	struct mem_clock *clock;

	if (actor->dispatch && actor->shown && actor->shown == actor->released)
		return;
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	clock = mem_actor_release(actor);
	if (clock)
		mem_cpu_see(clock);
	actor->shown = clock;
	mem_clock_put(clock);
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

/* --- accesses --- */

/* Within one page. */
static bool touch_page(struct mem_actor *actor, struct mem_shadow *s, const uint8_t *host, uint64_t va,
		       unsigned size_B, unsigned how)
{
	unsigned offset = mem_page_offset(host), end = offset + size_B;
	struct touch t = {actor, mem_actor_clock(actor), how, va - offset};
	bool sync = how & MEM_ORDER_SYNC, news = false;
	uint32_t flags = sync ? CELL_SYNC : 0;

	for (unsigned at = offset & ~7u; sync && how & MEM_ORDER_READ && at < end; at += 8)
		news |= acquire_word(s, actor, host - offset + (at < offset ? offset : at));
	t.clock = mem_actor_clock(actor);
	for (unsigned c = offset / 4; c < (end + 3) / 4 && (!sync || how & MEM_ORDER_WRITE); c++)
		touch_cell(s, &t, c, flags | (4 * c < offset || 4 * c + 4 > end ? (uint32_t)CELL_PART : 0));
	for (unsigned at = offset & ~7u; sync && how & MEM_ORDER_WRITE && at < end; at += 8)
		release_word(s, actor, host - offset + at);
	return news;
}

static bool touch_memory(struct mem_actor *actor, struct mem_order_memo *memo, const uint8_t *host, uint64_t va,
			 uint64_t size_B, unsigned how)
{
	bool news = false;

	while (size_B) {
		unsigned left_B = MEM_PAGE_B - mem_page_offset(host);
		unsigned part_B = size_B < left_B ? (unsigned)size_B : left_B;
		struct mem_shadow *s = memo ? shadow_by_memo(memo, host) : shadow_of(host);

		if (s)
			news |= touch_page(actor, s, host, va, part_B, how);
		host += part_B;
		va += part_B;
		size_B -= part_B;
	}
	return news;
}

/* An end of pipe comes after the waves, but later packets do not: its word gets a clock of its own. */
static void touch_at_end(struct mem_actor *actor, const uint8_t *host, uint64_t va, uint64_t size_B, unsigned how)
{
	struct mem_shadow *s = shadow_of(host);
	struct touch t = {actor, NULL, how, va - mem_page_offset(host)};
	struct mem_clock *clock;

	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	t.clock = clock = mem_actor_release(actor);
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
	for (unsigned at = 0; s && clock && at < size_B; at += 4)
		touch_cell(s, &t, (mem_page_offset(host) + at) / 4, CELL_SYNC);
	if (s)
		release_word(s, actor, host);
	mem_order_forget(clock);
}

bool mem_order_access(struct mem_actor *actor, const uint8_t *host, uint64_t va, uint64_t size_B, unsigned how)
{
	if (!is_checked(actor))
		return false;
	if (!actor->end_of_pipe)
		return touch_memory(actor, NULL, host, va, size_B, how);
	touch_at_end(actor, host, va, size_B, how);
	return false;
}

GPUVM_RACY bool mem_order_untouched(struct mem_actor *actor, const uint8_t *host, unsigned size_B)
{
	struct mem_shadow *s = is_checked(actor) ? shadow_of(host) : NULL;
	unsigned cell = mem_page_offset(host) / 4;

	return s && !s->writer[cell] && (size_B == 4 || !s->writer[cell + 1]);
}

void mem_order_retire(struct mem_actor *dispatch)
{
	if (!dispatch->job)
		return;
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	mem_actor_retire(dispatch);
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

/* --- waves --- */

typedef uint32_t vec4 __attribute__((vector_size(16), aligned(4), may_alias));

/* Whether all n (a multiple of 4) cells are one of the three. */
GPUVM_RACY static bool all_are(const uint32_t *cell, unsigned n, uint32_t a, uint32_t b, uint32_t c)
{
	vec4 bad = {0};

	for (unsigned k = 0; k < n; k += 4) {
		vec4 v = *(const vec4 *)(cell + k);

		bad |= (vec4)((v != a) & (v != b) & (v != c));
	}
	return !(bad[0] | bad[1] | bad[2] | bad[3]);
}

GPUVM_RACY static void set_all(uint32_t *cell, unsigned n, uint32_t id)
{
	vec4 v = {id, id, id, id};

	for (unsigned k = 0; k < n; k += 4)
		*(vec4 *)(cell + k) = v;
}

static void check_memo(struct mem_order_memo *memo, const struct mem_actor *actor)
{
	if (memo->actor == actor->id)
		return;
	*memo = (struct mem_order_memo){.actor = actor->id};
}

/* Applies the access cell by cell, and remembers the actor that the next row most likely meets. */
GPUVM_RACY static void touch_each(struct mem_shadow *s, struct touch *t, struct mem_order_memo *memo, unsigned c,
				  unsigned n)
{
	for (unsigned k = c; k < c + n; k++) {
		uint32_t writer = s->writer[k], reader = s->reader[0][k];

		touch_cell(s, t, k, 0);
		memo->ordered[0] = comes_before(writer, t->actor, t->clock) ? writer : 0;
		memo->ordered[1] = comes_before(reader, t->actor, t->clock) ? reader : 0;
	}
}

GPUVM_RACY static void read_row(struct mem_shadow *s, struct touch *t, struct mem_order_memo *memo, unsigned c,
				unsigned n)
{
	uint32_t me = t->actor->id;

	if (all_are(s->reader[0] + c, n, me, me, me))
		return;
	if (all_are(s->writer + c, n, 0, me, memo->ordered[0]) &&
	    all_are(s->reader[0] + c, n, 0, me, memo->ordered[1])) {
		set_all(s->reader[0] + c, n, me);
		return;
	}
	touch_each(s, t, memo, c, n);
}

GPUVM_RACY static void write_row(struct mem_shadow *s, struct touch *t, struct mem_order_memo *memo, unsigned c,
				 unsigned n)
{
	uint32_t me = t->actor->id;

	if (all_are(s->writer + c, n, me, me, me))
		return;
	if (all_are(s->writer + c, n, 0, me, memo->ordered[0]) &&
	    all_are(s->reader[0] + c, n, 0, me, memo->ordered[1]) && all_are(s->reader[1] + c, n, 0, me, me)) {
		set_all(s->writer + c, n, me);
		return;
	}
	touch_each(s, t, memo, c, n);
}

static bool is_scratch(const struct mem_actor *actor, uint64_t va)
{
	return va - actor->scratch_lo < actor->scratch_B;
}

void mem_order_row(struct mem_actor *actor, struct mem_order_memo *memo, const uint8_t *host, uint64_t va,
		   unsigned n, unsigned how)
{
	struct touch t;

	if (!is_checked(actor) || is_scratch(actor, va))
		return;
	check_memo(memo, actor);
	t = (struct touch){actor, mem_actor_clock(actor), how, 0};
	while (n) {
		unsigned cell = mem_page_offset(host) / 4, part = CELLS - cell < n ? CELLS - cell : n;
		struct mem_shadow *s = shadow_by_memo(memo, host);

		t.va = va - 4ull * cell;
		if (s && part % 4)
			touch_page(actor, s, host, va, 4 * part, how & ~(unsigned)MEM_ORDER_HOST);
		else if (s && how & MEM_ORDER_WRITE)
			write_row(s, &t, memo, cell, part);
		else if (s)
			read_row(s, &t, memo, cell, part);
		host += 4 * part;
		va += 4ull * part;
		n -= part;
	}
	if ((how & (MEM_ORDER_WRITE | MEM_ORDER_HOST)) == (MEM_ORDER_WRITE | MEM_ORDER_HOST))
		show_cpu(actor);
}

void mem_order_bytes(struct mem_actor *actor, struct mem_order_memo *memo, const uint8_t *host, uint64_t va,
		     unsigned size_B, unsigned how)
{
	bool news;

	if (!is_checked(actor) || is_scratch(actor, va))
		return;
	check_memo(memo, actor);
	news = touch_memory(actor, memo, host, va, size_B, how);
	if (!(how & MEM_ORDER_HOST))
		return;
	if (how & MEM_ORDER_WRITE)
		show_cpu(actor);
	if (how & MEM_ORDER_SYNC && how & MEM_ORDER_READ && !news)
		mem_order_saw_cpu(actor);
}
