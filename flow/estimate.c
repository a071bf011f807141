/* Jobs of many operations, bounded by time: the watchdog counts from a job's beginning (split.c), and Linux 7 gives
 * every job 2 s.
 *
 * A kernel's time is measured when it is alone in a job: the first time, and until the result is there, each
 * dispatch that waits for those before it has a job of its own. Dispatches that do not wait stay together, since
 * they may wait for each other: their job's time counts for each. Then dispatches share a job as long as their
 * times together stay below flow_job_ns(). A grid of more workgroups is taken to cost as many times more, one of
 * fewer as much.
 *
 * Times change with the data. So a job of several dispatches has a clock, too: when it takes far longer than its
 * dispatches were to take, the times of all kernels that the flow remembers are forgotten, and measured again. */
#include <stddef.h>

#include "drv/config.h"
#include "flow/internal.h"

#define FAR_LONGER 4 /* times */

bool flow_overruns(const struct flow *f, uint64_t estimate_ns, uint16_t header)
{
	/* The segment's own time bounds a job that is kept: one that ended in the middle of a part would lose the rest. */
	if (!f->ib || !f->dispatches || f->kept)
		return false;
	return flow_waits(header) || (!f->unknown && estimate_ns != FLOW_NS_UNKNOWN);
}

uint64_t flow_estimate_ns(const struct flow *f, const struct cs_kernel *kernel, uint64_t groups)
{
	uint64_t ns = atomic_load_explicit(&kernel->cost->ns, memory_order_relaxed);
	uint64_t of = atomic_load_explicit(&kernel->cost->groups, memory_order_relaxed);
	uint64_t times;

	if (!f->job_ns)
		return 0;
	if (!ns || !of)
		return FLOW_NS_UNKNOWN;
	times = (groups - 1) / of + 1;
	return times < FLOW_NS_UNKNOWN / ns ? times * ns : FLOW_NS_UNKNOWN - 1;
}

/* --- what was measured ------------------------------------------------------------------------ */

static void learn(struct flow *f, const struct cs_kernel *kernel, uint64_t groups, uint64_t ns)
{
	atomic_store_explicit(&kernel->cost->groups, groups, memory_order_relaxed);
	atomic_store_explicit(&kernel->cost->ns, ns + 1, memory_order_relaxed);
	drv_log(DRV_LOG_HSA, "%llu groups of %s took %llu us", (unsigned long long)groups, kernel->name,
		(unsigned long long)(ns / 1000));
	for (unsigned i = 0; i < FLOW_KERNELS; i++) {
		struct flow_kernel *known = &f->cache[i];

		if (known->ready && known->kernel == kernel)
			known->estimate_ns = flow_estimate_ns(f, kernel, known->groups);
	}
}

/* A job of several whose times are not known: none took longer than all. */
static void learn_all(struct flow *f, uint32_t generation, uint64_t ns)
{
	for (unsigned i = 0; i < FLOW_KERNELS; i++) {
		const struct flow_kernel *known = &f->cache[i];

		if (known->ready && known->generation == generation && known->estimate_ns == FLOW_NS_UNKNOWN)
			learn(f, known->kernel, known->groups, ns);
	}
}

static void forget(struct flow *f, uint32_t generation)
{
	for (unsigned i = 0; i < FLOW_KERNELS; i++) {
		struct flow_kernel *known = &f->cache[i];

		if (!known->kernel || known->generation != generation)
			continue;
		atomic_store_explicit(&known->kernel->cost->ns, 0, memory_order_relaxed);
		known->estimate_ns = FLOW_NS_UNKNOWN;
	}
}

static void take(struct flow *f, const struct flow_measure *m)
{
	uint32_t generation = atomic_load_explicit(f->gpu->code_generation, memory_order_acquire);
	uint64_t ns = flow_queue_clock_ns(f->queue, m->seq);

	/* The measured kernel may be unloaded. */
	if (m->generation != generation)
		return;
	if (m->kernel)
		learn(f, m->kernel, m->groups, ns);
	else if (m->unknown)
		learn_all(f, generation, ns);
	else if (ns / FAR_LONGER > m->predicted_ns && ns > f->job_ns / FAR_LONGER)
		forget(f, generation);
}

/* The jobs that have ended since the last look. */
static void look(struct flow *f)
{
	struct flow_queue *c = f->queue;
	uint64_t reached = cs_ring_completed(c->ring), last = cs_ring_last(c->ring).seq, seq = c->measured + 1;

	/* A kernel may have written the word. */
	reached = reached < last ? reached : last;
	if (reached >= FLOW_JOBS_TRACKED && seq <= reached - FLOW_JOBS_TRACKED)
		seq = reached - FLOW_JOBS_TRACKED + 1;
	for (; seq <= reached; seq++) {
		const struct flow_measure *m = &c->measure[seq % FLOW_JOBS_TRACKED];

		if (m->seq == seq)
			take(f, m);
	}
	c->measured = reached;
}

/* --- a job ------------------------------------------------------------------------------------ */

static void start(struct flow *f)
{
	flow_queue_start_clock(f->queue, f->ib);
	f->timed = true;
}

/* Operations of the same job are at hand, or the GPU is busy, and the job will wait for them. */
static bool has_more(const struct flow *f)
{
	return f->more || cs_ring_unfinished(f->queue->ring) >= CS_BUSY_JOBS;
}

void flow_time_begin(struct flow *f)
{
	f->left_ns = f->job_ns;
	f->timed = false;
	f->unknown = false;
	f->dispatches = 0;
	if (!f->left_ns || f->kept)
		return;
	look(f);
	if (has_more(f))
		start(f);
}

void flow_time_kernel(struct flow *f)
{
	if (!f->timed && !f->kept && !f->dispatches)
		start(f);
}

void flow_time_end(struct flow *f)
{
	struct flow_queue *c = f->queue;
	struct flow_measure *m;

	if (!f->timed)
		return;
	f->timed = false;
	if (!f->dispatches)
		return;
	m = &c->measure[(cs_ring_last(c->ring).seq + 1) % FLOW_JOBS_TRACKED];
	*m = (struct flow_measure){
		.seq = flow_queue_stop_clock(c, f->ib).seq,
		.kernel = f->dispatches == 1 ? f->kernel->kernel : NULL,
		.groups = f->kernel->groups,
		.predicted_ns = f->job_ns - f->left_ns,
		.unknown = f->unknown,
		.generation = f->kernel->generation,
	};
}
