/* Clocks, queues and edges of the order checker (order.h, clock.h). */
#include "vgpu/memory/clock.h"
#include "vgpu/rank.h"

#include <stdlib.h>
#include <string.h>

#define CLOCKS_MAX 65536u /* clocks of 1 KiB; above this number checking stops until no job runs */

#define ENDS 64u /* a power of two; an entity has at most 32 unfinished jobs */

struct end {
	uint64_t seq;
	struct mem_clock *clock; /* counted */
};

/* An entity's jobs. */
struct queue {
	uint64_t id;             /* kernel/'s number of the entity; 0: free */
	unsigned jobs;           /* jobs that have begun and not ended */
	uint64_t used;           /* stamp of the last one */
	uint32_t number[2];      /* numbers of the last packet and of the last dispatch; monotonic */
	struct mem_clock *clock; /* counted: work before its packets */
	struct mem_clock *waves; /* counted: work that its ended dispatches had acquired; NULL: none */
	struct end end[ENDS];
	unsigned ends; /* so far */
};

pthread_mutex_t mem_order_lock = PTHREAD_MUTEX_INITIALIZER;
_Atomic bool mem_order_blind;
_Atomic uint64_t mem_cpu_version;

/* Guarded by the lock. */
static struct queue queues[MEM_QUEUES];
static struct mem_clock *cpu; /* counted: work whose results the CPU may have seen */
static unsigned users, running, clocks;
static uint64_t stamp;

/* --- clocks --- */

struct mem_clock *mem_clock_get(struct mem_clock *clock)
{
	clock->refs++;
	return clock;
}

void mem_clock_put(struct mem_clock *clock)
{
	if (!clock || --clock->refs)
		return;
	clocks--;
	free(clock);
}

struct mem_clock *mem_clock_new(const struct mem_clock *from)
{
	struct mem_clock *clock = clocks < CLOCKS_MAX ? malloc(sizeof(*clock)) : NULL;

	if (!clock) {
		atomic_store_explicit(&mem_order_blind, true, memory_order_relaxed);
		return NULL;
	}
	clocks++;
	if (from)
		*clock = *from;
	else
		memset(clock, 0, sizeof(*clock));
	clock->refs = 1;
	return clock;
}

bool mem_clock_within(const struct mem_clock *a, const struct mem_clock *b)
{
	uint32_t news = 0;

	if (a == b)
		return true;
	for (unsigned i = 0; i < 2 * MEM_QUEUES; i++)
		news |= a->at[i] > b->at[i];
	return !news;
}

/* Replaces *to by a copy if it has other references, so that it may be changed. */
static bool make_mutable(struct mem_clock **to)
{
	struct mem_clock *copy;

	if ((*to)->refs == 1)
		return true;
	copy = mem_clock_new(*to);
	if (!copy)
		return false;
	mem_clock_put(*to);
	*to = copy;
	return true;
}

bool mem_clock_join(struct mem_clock **to, const struct mem_clock *with)
{
	if (!with || mem_clock_within(with, *to) || !make_mutable(to))
		return false;
	for (unsigned i = 0; i < 2 * MEM_QUEUES; i++)
		if (with->at[i] > (*to)->at[i])
			(*to)->at[i] = with->at[i];
	return true;
}

void mem_clock_raise(struct mem_clock **to, unsigned index, uint32_t value)
{
	if ((*to)->at[index] < value && make_mutable(to))
		(*to)->at[index] = value;
}

void mem_cpu_see(const struct mem_clock *clock)
{
	if (mem_clock_join(&cpu, clock))
		atomic_fetch_add_explicit(&mem_cpu_version, 1, memory_order_relaxed);
}

struct mem_clock *mem_cpu_clock(void)
{
	return cpu;
}

struct mem_clock *mem_order_now(void)
{
	struct mem_clock *now;

	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	now = cpu ? mem_clock_get(cpu) : NULL;
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
	return now;
}

void mem_order_forget(struct mem_clock *clock)
{
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	mem_clock_put(clock);
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

/* --- queues --- */

static void forget_ends(struct queue *q)
{
	for (unsigned i = 0; i < ENDS; i++) {
		mem_clock_put(q->end[i].clock);
		q->end[i] = (struct end){0};
	}
}

/* The numbers of a slot continue: work of its last owner counts as work of the new one. */
static bool take_slot(struct queue *q, uint64_t id)
{
	unsigned slot = (unsigned)(q - queues);

	if (!q->clock)
		q->clock = mem_clock_new(NULL);
	if (!q->clock)
		return false;
	forget_ends(q);
	q->id = id;
	mem_clock_raise(&q->clock, mem_clock_index(slot, false), q->number[0]);
	mem_clock_raise(&q->clock, mem_clock_index(slot, true), q->number[1]);
	return true;
}

static struct queue *find_queue(uint64_t id)
{
	for (unsigned i = 0; i < MEM_QUEUES; i++)
		if (queues[i].id == id)
			return &queues[i];
	return NULL;
}

/* The entity's slot, or the idle one that was used least recently. */
static struct queue *claim_queue(uint64_t id)
{
	struct queue *q = find_queue(id), *oldest = NULL;

	if (q)
		return q;
	for (unsigned i = 0; i < MEM_QUEUES; i++)
		if (!queues[i].jobs && (!oldest || queues[i].used < oldest->used))
			oldest = &queues[i];
	return oldest && take_slot(oldest, id) ? oldest : NULL;
}

struct mem_clock *mem_queue_clock(unsigned slot)
{
	return queues[slot].clock;
}

/* The end of that job, or of a later one of the queue; NULL: unknown. */
static const struct mem_clock *end_of(const struct mem_after *after)
{
	const struct queue *q = find_queue(after->queue);
	const struct end *best = NULL;

	for (unsigned i = 0; q && i < ENDS; i++)
		if (q->end[i].clock && q->end[i].seq >= after->seq && (!best || q->end[i].seq < best->seq))
			best = &q->end[i];
	return best ? best->clock : NULL;
}

/* --- edges --- */

bool mem_order_open(void)
{
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	if (!cpu)
		cpu = mem_clock_new(NULL);
	users += cpu != NULL;
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
	return cpu;
}

static void forget_queues(void)
{
	for (unsigned i = 0; i < MEM_QUEUES; i++) {
		forget_ends(&queues[i]);
		mem_clock_put(queues[i].clock);
		mem_clock_put(queues[i].waves);
		queues[i].clock = queues[i].waves = NULL;
		queues[i].id = 0;
	}
	mem_clock_put(cpu);
	cpu = NULL;
	mem_order_drop_shadows();
}

void mem_order_close(void)
{
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	if (!--users)
		forget_queues();
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

/* Forgets the parent's actors and shadows in a forked child. The parent's threads may have been inside any of
 * them, so none is read or freed. */
void mem_order_forked(void)
{
	pthread_mutex_init(&mem_order_lock, NULL);
	for (unsigned i = 0; i < MEM_QUEUES; i++)
		queues[i] = (struct queue){.number = {queues[i].number[0], queues[i].number[1]}};
	cpu = NULL;
	users = running = clocks = 0;
	mem_order_lose_shadows();
}

/* Starts over. All work so far has ended before the work to come: blind actors and full shadows lose nothing. */
static void begin_anew(void)
{
	if (atomic_load_explicit(&mem_order_blind, memory_order_relaxed))
		mem_order_drop_shadows();
	else
		mem_order_trim_shadows();
	atomic_store_explicit(&mem_order_blind, false, memory_order_relaxed);
}

void mem_order_begin(struct mem_order_job *job, const struct mem_after *after, unsigned count,
		     struct mem_clock *seen)
{
	struct queue *q;

	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	if (!running)
		begin_anew();
	q = claim_queue(job->queue);
	if (!q) /* the releases of its words would be missing */
		atomic_store_explicit(&mem_order_blind, true, memory_order_relaxed);
	job->slot = q ? (int)(q - queues) : -1;
	job->end = NULL;
	if (q) {
		mem_clock_join(&q->clock, seen ? seen : cpu);
		for (unsigned i = 0; i < count; i++) {
			const struct mem_clock *end = end_of(&after[i]);

			mem_clock_join(&q->clock, end ? end : cpu);
		}
		q->jobs++;
		q->used = ++stamp;
		running++;
	}
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

/* Clock of all that packets and dispatches of the queue have done, as a waiter acquires it. */
static struct mem_clock *clock_of_queue(struct queue *q)
{
	struct mem_clock *all = mem_clock_new(q->clock);
	unsigned slot = (unsigned)(q - queues);

	if (!all)
		return NULL;
	mem_clock_join(&all, q->waves);
	mem_clock_raise(&all, mem_clock_index(slot, false), q->number[0]);
	mem_clock_raise(&all, mem_clock_index(slot, true), q->number[1]);
	return all;
}

/* Keeps the clock of what the jobs up to that number have done; takes it over. */
static void note_end(struct queue *q, uint64_t seq, struct mem_clock *clock)
{
	struct end *end = &q->end[q->ends++ % ENDS];

	mem_clock_put(end->clock);
	*end = (struct end){seq, clock};
	mem_cpu_see(clock);
}

void mem_order_signal(struct mem_order_job *job, uint64_t seq)
{
	struct mem_clock *clock;

	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	clock = job->slot < 0 ? NULL : clock_of_queue(&queues[job->slot]);
	if (clock)
		note_end(&queues[job->slot], seq, clock);
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

void mem_order_packets_over(struct mem_order_job *job)
{
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	if (job->slot >= 0)
		job->end = clock_of_queue(&queues[job->slot]);
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

void mem_order_end(struct mem_order_job *job)
{
	struct queue *q = job->slot < 0 ? NULL : &queues[job->slot];

	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	if (q && job->end) {
		mem_clock_join(&job->end, q->waves);
		note_end(q, job->seq, job->end);
		job->end = NULL;
	}
	if (q) {
		q->jobs--;
		running--;
	}
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

void mem_order_flush(struct mem_order_job *job)
{
	struct queue *q = &queues[job->slot < 0 ? 0 : job->slot];

	if (job->slot < 0)
		return;
	vgpu_lock(&mem_order_lock, VGPU_RANK_ORDER);
	mem_clock_join(&q->clock, q->waves);
	mem_clock_raise(&q->clock, mem_clock_index((unsigned)job->slot, true), q->number[1]);
	vgpu_unlock(&mem_order_lock, VGPU_RANK_ORDER);
}

/* --- actors --- */

uint32_t mem_actor_number(struct mem_order_job *job, bool dispatch)
{
	struct queue *q = &queues[job->slot];
	uint32_t number = ++q->number[dispatch];

	if (!dispatch)
		mem_clock_raise(&q->clock, mem_clock_index((unsigned)job->slot, false), number);
	return number;
}

struct mem_clock *mem_actor_clock(const struct mem_actor *actor)
{
	if (actor->dispatch)
		return atomic_load_explicit(&actor->clock, memory_order_acquire);
	return queues[actor->job->slot].clock;
}

/* Keeps a clock that waves may be reading until the dispatch is over. */
static bool keep_clock(struct mem_actor *actor, struct mem_clock *clock)
{
	struct mem_clock **more = realloc(actor->kept, (actor->kept_count + 1) * sizeof(*more));

	if (!more)
		return false;
	actor->kept = more;
	actor->kept[actor->kept_count++] = clock;
	return true;
}

static bool dispatch_acquire(struct mem_actor *actor, const struct mem_clock *clock)
{
	struct mem_clock *old = actor->clock, *new;

	if (mem_clock_within(clock, old))
		return false;
	new = mem_clock_new(old);
	if (!new)
		return false;
	mem_clock_join(&new, clock);
	if (!keep_clock(actor, old)) {
		mem_clock_put(new);
		return true;
	}
	atomic_store_explicit(&actor->clock, new, memory_order_release);
	actor->shown = NULL; /* an earlier release covers less than this one */
	return true;
}

bool mem_actor_acquire(struct mem_actor *actor, struct mem_clock *clock)
{
	if (actor->dispatch)
		return dispatch_acquire(actor, clock);
	return mem_clock_join(&queues[actor->job->slot].clock, clock);
}

struct mem_clock *mem_actor_release(struct mem_actor *actor)
{
	struct queue *q = &queues[actor->job->slot];
	struct mem_clock *clock;

	if (!actor->dispatch)
		return actor->end_of_pipe ? clock_of_queue(q) : mem_clock_get(q->clock);
	clock = actor->released;
	if (clock && mem_clock_within(actor->clock, clock))
		return mem_clock_get(clock);
	clock = mem_clock_new(actor->clock);
	if (!clock)
		return NULL;
	mem_clock_raise(&clock, mem_clock_index((unsigned)actor->job->slot, true), actor->number);
	mem_clock_put(actor->released);
	actor->released = mem_clock_get(clock);
	return clock;
}

void mem_actor_retire(struct mem_actor *actor)
{
	struct queue *q = &queues[actor->job->slot];

	if (actor->clock != actor->launch && q->waves)
		mem_clock_join(&q->waves, actor->clock);
	else if (actor->clock != actor->launch)
		q->waves = mem_clock_get(actor->clock);
	mem_clock_put(actor->clock);
	mem_clock_put(actor->released);
	mem_clock_put(actor->acquired);
	for (unsigned i = 0; i < actor->kept_count; i++)
		mem_clock_put(actor->kept[i]);
	free(actor->kept);
}
