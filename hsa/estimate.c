/* Jobs of many packets, bounded by time: the watchdog counts from a job's beginning (split.c), and Linux 7 gives
 * every job 2 s.
 *
 * A kernel's time is measured when it is alone in a job: the first time, and until the result is there, each
 * dispatch that waits for those before it has a job of its own. Dispatches that do not wait stay together, since
 * they may wait for each other: their job's time counts for each. Then dispatches share a job as long as their
 * times together stay below rt_part_ns(). A grid of more workgroups is taken to cost as many times more, one of
 * fewer as much.
 *
 * Times change with the data. So a job of several dispatches has a clock, too: when it takes far longer than its
 * dispatches were to take, the times of all kernels that the queue remembers are forgotten, and measured again. */
#include "hsa/batch.h"

#define FAR_LONGER 4 /* times */

bool rt_batch_overruns(const struct rt_batch *b, uint64_t estimate_ns, uint16_t header)
{
	if (!b->ib || !b->dispatches)
		return false;
	return rt_packet_waits(header) || (!b->unknown && estimate_ns != RT_NS_UNKNOWN);
}

uint64_t rt_estimate_ns(const struct rt_queue *q, const struct cs_kernel *kernel, uint64_t groups)
{
	uint64_t ns = atomic_load_explicit(&kernel->cost->ns, memory_order_relaxed);
	uint64_t of = atomic_load_explicit(&kernel->cost->groups, memory_order_relaxed);
	uint64_t times;

	if (!q->job_ns)
		return 0;
	if (!ns || !of)
		return RT_NS_UNKNOWN;
	times = (groups - 1) / of + 1;
	return times < RT_NS_UNKNOWN / ns ? times * ns : RT_NS_UNKNOWN - 1;
}

/* --- what was measured ------------------------------------------------------------------------ */

static void learn(struct rt_queue *q, const struct cs_kernel *kernel, uint64_t groups, uint64_t ns)
{
	atomic_store_explicit(&kernel->cost->groups, groups, memory_order_relaxed);
	atomic_store_explicit(&kernel->cost->ns, ns + 1, memory_order_relaxed);
	drv_log(DRV_LOG_HSA, "%llu groups of %s took %llu us", (unsigned long long)groups, kernel->name,
		(unsigned long long)(ns / 1000));
	for (unsigned i = 0; i < RT_KERNEL_CACHE; i++) {
		struct rt_known_kernel *known = &q->cache[i];

		if (known->ready && known->kernel == kernel)
			known->estimate_ns = rt_estimate_ns(q, kernel, known->groups);
	}
}

/* A job of several whose times are not known: none took longer than all. */
static void learn_all(struct rt_queue *q, uint32_t generation, uint64_t ns)
{
	for (unsigned i = 0; i < RT_KERNEL_CACHE; i++) {
		const struct rt_known_kernel *known = &q->cache[i];

		if (known->ready && known->generation == generation && known->estimate_ns == RT_NS_UNKNOWN)
			learn(q, known->kernel, known->groups, ns);
	}
}

static void forget(struct rt_queue *q, uint32_t generation)
{
	for (unsigned i = 0; i < RT_KERNEL_CACHE; i++) {
		struct rt_known_kernel *known = &q->cache[i];

		if (!known->kernel || known->generation != generation)
			continue;
		atomic_store_explicit(&known->kernel->cost->ns, 0, memory_order_relaxed);
		known->estimate_ns = RT_NS_UNKNOWN;
	}
}

static void take(struct rt_queue *q, const struct rt_measure *m)
{
	uint32_t generation = atomic_load_explicit(&q->rt->kernel_generation, memory_order_acquire);
	uint64_t ns = rt_channel_clock_ns(q->channel, m->seq);

	/* Its kernel may be unloaded. */
	if (m->generation != generation)
		return;
	if (m->kernel)
		learn(q, m->kernel, m->groups, ns);
	else if (m->unknown)
		learn_all(q, generation, ns);
	else if (ns / FAR_LONGER > m->predicted_ns && ns > q->job_ns / FAR_LONGER)
		forget(q, generation);
}

/* The jobs that have ended since the last look. */
static void look(struct rt_queue *q)
{
	struct rt_channel *c = q->channel;
	uint64_t reached = cs_ring_reached(c->ring), seq = c->measured + 1;

	if (reached >= RT_JOBS_TRACKED && seq <= reached - RT_JOBS_TRACKED)
		seq = reached - RT_JOBS_TRACKED + 1;
	for (; seq <= reached; seq++) {
		const struct rt_measure *m = &c->measure[seq % RT_JOBS_TRACKED];

		if (m->seq == seq)
			take(q, m);
	}
	c->measured = reached;
}

/* --- a job ------------------------------------------------------------------------------------ */

static void start(struct rt_batch *b)
{
	rt_channel_start_clock(b->queue->channel, b->ib);
	b->timed = true;
}

static bool has_more(const struct rt_batch *b)
{
	const union rt_packet *next = rt_queue_slot(b->queue, b->index + 1);

	return rt_packet_type(__atomic_load_n(&next->header, __ATOMIC_RELAXED)) != HSA_PACKET_TYPE_INVALID;
}

void rt_batch_time(struct rt_batch *b)
{
	b->left_ns = b->queue->job_ns;
	b->timed = false;
	b->unknown = false;
	b->dispatches = 0;
	if (!b->left_ns || b->kept)
		return;
	look(b->queue);
	if (has_more(b))
		start(b);
}

void rt_batch_time_kernel(struct rt_batch *b)
{
	if (!b->timed && !b->kept && !b->dispatches)
		start(b);
}

void rt_batch_time_end(struct rt_batch *b)
{
	struct rt_channel *c = b->queue->channel;
	struct rt_measure *m;

	if (!b->timed)
		return;
	b->timed = false;
	if (!b->dispatches)
		return;
	m = &c->measure[(cs_ring_last(c->ring).seq + 1) % RT_JOBS_TRACKED];
	*m = (struct rt_measure){
		.seq = rt_channel_stop_clock(c, b->ib).seq,
		.kernel = b->dispatches == 1 ? b->kernel->kernel : NULL,
		.groups = b->kernel->groups,
		.predicted_ns = b->queue->job_ns - b->left_ns,
		.unknown = b->unknown,
		.generation = b->kernel->generation,
	};
}
