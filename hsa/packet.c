/* The soft packet processor: AQL packets become PM4.
 *
 * No packet sleeps. A producer publishes a header, issues a full fence and looks whether somebody translates; the
 * translator gives `busy` back, issues a full fence and looks for packets. One of the two sees the other. A packet
 * that has to wait stops its queue; then only the progress thread reads on.
 *
 * Collecting: while two or more jobs are unfinished the GPU has work, and packets are left in the ring: one job for
 * many packets costs less. They are read when a job ends, at 64 packets, before anything that could observe them,
 * and at the latest after 100 us. */
#include <errno.h>
#include <string.h>

#include "hsa/batch.h"

#define COLLECT_NS 100000

/* --- jobs ------------------------------------------------------------------------------------- */

/* ordered: earlier packets must have ended first. */
int rt_batch_open(struct rt_batch *b, bool ordered)
{
	int r = cs_begin(b->queue->channel->ring, CS_NOWAIT | (ordered ? CS_ORDERED : 0), &b->ib);
	if (r)
		b->ib = NULL;
	b->packets = 0;
	b->owed = 0;
	b->completions = b->queue->channel->issued;
	if (!r)
		rt_batch_time(b);
	return r;
}

/* The job went, without waiting for what was lost. A packet that waited fails, and the queue goes on. Packets of
 * our HIP library complete no signal: their queue fails, as the GPU's other queues are about to, but not with
 * another GPU's. */
__attribute__((cold, noinline)) static void fail_waiters(const struct rt_batch *b, unsigned afters)
{
	struct rt_queue *q = b->queue;

	for (unsigned i = 0; i < afters; i++) {
		if (cs_point_poll(b->after[i]) >= 0)
			continue;
		drv_log(DRV_LOG_HSA, "queue %llu: a job that its packet waited for was lost",
			(unsigned long long)q->id);
		if (b->waiter[i])
			rt_signal_fail(q->rt, b->waiter[i]);
		else if (q->behind_door && cs_ring_vm(b->after[i].ring) == q->gpu->vm)
			rt_queue_fail(q, HSA_STATUS_ERROR_EXCEPTION);
	}
}

/* Ends the job. */
int rt_batch_close(struct rt_batch *b)
{
	struct rt_channel *c = b->queue->channel;
	bool lost = false;
	const struct cs_order order = {.after = b->after, .after_count = b->afters, .lost = &lost};
	struct cs_ib *ib = b->ib;
	int r;

	if (!ib) /* nor is there a channel, perhaps */
		return 0;
	rt_batch_time_end(b);
	b->ib = NULL;
	b->afters = 0;
	/* Behind its last completion the job may still run something: then no completion is the last. */
	rt_channel_note(c, b->index, b->completions == c->issued ? 0 : c->issued);
	r = cs_submit(ib, order.after_count ? &order : NULL, NULL);
	if (__builtin_expect(lost, 0))
		fail_waiters(b, order.after_count);
	atomic_thread_fence(memory_order_seq_cst);
	rt_tell_of_work(b->queue->rt);
	/* Its packets were read: there is no later for them. */
	return r == -EBUSY ? -ENOMEM : r;
}

/* What follows begins behind the point: in a job of its own, which may wait for several. */
int rt_batch_after(struct rt_batch *b, struct cs_point point, struct rt_signal *waiter)
{
	int r = b->ib && (b->packets || b->afters == RT_AFTERS_MAX) ? rt_batch_close(b) : 0;

	if (!r && !b->ib)
		r = rt_batch_open(b, true);
	if (!r) {
		b->waiter[b->afters] = waiter;
		b->after[b->afters++] = point;
	}
	return r;
}

/* Its time, then its completion. */
void rt_batch_complete(struct rt_batch *b, uint16_t header, struct rt_signal *signal, hsa_signal_t completion)
{
	struct rt_channel *c = b->queue->channel;
	struct rt_producer producer;
	uint64_t va, value, job;

	job = cs_ring_last(c->ring).seq + 1;
	producer = (struct rt_producer){
		.point = {c->ring, job},
		.word = c->count.map,
		.seq = ++c->issued,
		.last = &c->last[job % RT_JOBS_TRACKED],
	};
	va = c->count.va;
	value = producer.seq;
	rt_signal_memory(completion)->queue_ptr = b->queue->amd;
	if (rt_queue_profiles(b->queue))
		cs_ib_release_clock(b->ib, (uintptr_t)&rt_signal_memory(completion)->end_ts);
	rt_signal_expect(b->queue->rt, signal, &producer, &va, &value);
	cs_ib_release_value(b->ib,
			    rt_packet_releases(header) == HSA_FENCE_SCOPE_SYSTEM ? CS_SCOPE_SYSTEM : CS_SCOPE_AGENT,
			    va, value);
}

enum rt_outcome rt_batch_fail(struct rt_batch *b, hsa_status_t status)
{
	(void)!rt_batch_close(b);
	rt_queue_fail(b->queue, status);
	return RT_FAILED;
}

/* What a submission that failed means for the queue. */
enum rt_outcome rt_batch_not_submitted(struct rt_batch *b, int r)
{
	if (r == -EBUSY)
		return RT_STOPPED;
	return rt_batch_fail(b, r == -ECANCELED || r == -ENODEV ? HSA_STATUS_ERROR_EXCEPTION : hsa_status_of(r));
}

/* --- dispatches ------------------------------------------------------------------------------- */

static struct rt_known_kernel *place_of(struct rt_queue *q, uint64_t object)
{
	return &q->cache[object / 64 % RT_KERNEL_CACHE];
}

static struct rt_known_kernel *find_kernel(struct rt_queue *q, uint64_t object)
{
	uint32_t generation = atomic_load_explicit(&q->rt->kernel_generation, memory_order_acquire);
	struct rt_known_kernel *known = place_of(q, object);

	if (known->object != object || known->generation != generation)
		*known = (struct rt_known_kernel){.object = object,
						  .generation = generation,
						  .kernel = rt_kernel_find(q->rt, q->gpu, object)};
	return known;
}

/* The statuses are those that ROCr derives from its packet processor's errors. */
static hsa_status_t check_dispatch(struct rt_queue *q, const hsa_kernel_dispatch_packet_t *p, unsigned dimensions)
{
	const struct drv_chip *chip = q->gpu->dev->chip;
	uint64_t threads = (uint64_t)p->workgroup_size_x * p->workgroup_size_y * p->workgroup_size_z;

	if (!dimensions)
		return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	if (!p->kernel_object || p->kernel_object % 64)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	if (p->group_segment_size > chip->lds_B)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	if (!p->workgroup_size_x || !p->workgroup_size_y || !p->workgroup_size_z ||
	    threads > chip->max_group_threads)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!p->grid_size_x || !p->grid_size_y || !p->grid_size_z)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return HSA_STATUS_SUCCESS;
}

/* All but which part of the grid. */
static void fill_launch(struct cs_launch *l, const struct rt_queue *q, const hsa_kernel_dispatch_packet_t *p,
			const struct cs_kernel *kernel, uint64_t index)
{
	const uint32_t grid[3] = {p->grid_size_x, p->grid_size_y, p->grid_size_z};
	const uint32_t group[3] = {p->workgroup_size_x, p->workgroup_size_y, p->workgroup_size_z};

	l->kernel = kernel;
	memcpy(l->grid, grid, sizeof(grid));
	memcpy(l->group, group, sizeof(group));
	l->lds_B = p->group_segment_size;
	l->private_B = p->private_segment_size > kernel->private_B ? p->private_segment_size : kernel->private_B;
	l->kernarg_va = (uintptr_t)p->kernarg_address;
	l->queue_va = (uintptr_t)q->amd;
	l->dispatch_id = index;
	l->cu_mask = q->masked ? q->cu_mask : NULL;
	l->cooperative = q->cooperative;
}

/* A kernel that reads its packet gets a copy: the ring's slot is the client's again. 0: no room; the job's
 * submission will say so. */
static uint64_t copy_packet(struct cs_ib *ib, const union rt_packet *p)
{
	uint64_t va;
	void *copy = cs_ib_data(ib, sizeof(*p), sizeof(*p), &va);

	if (copy)
		memcpy(copy, p, sizeof(*p));
	return va;
}

/* What a dispatch packet names. */
struct dispatch {
	const union rt_packet *packet;
	uint64_t index;
	struct rt_known_kernel *known; /* its kernel may be NULL */
	struct rt_signal *signal;      /* that it completes; NULL: none */
};

static hsa_status_t check(struct rt_queue *q, const struct dispatch *d)
{
	hsa_status_t status = check_dispatch(q, &d->packet->dispatch, d->packet->setup & 3);

	if (status)
		return status;
	if (d->packet->dispatch.completion_signal.handle && !d->signal)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	return d->known->kernel ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

static int put_launch(struct rt_batch *b, const struct dispatch *d, struct cs_launch *launch)
{
	fill_launch(launch, b->queue, &d->packet->dispatch, d->known->kernel, d->index);
	if (cs_kernel_wants_packet(d->known->kernel))
		launch->packet_va = copy_packet(b->ib, d->packet);
	return cs_ib_launch(b->ib, launch);
}

static enum rt_outcome not_launched(struct rt_batch *b, int r)
{
	return rt_batch_fail(b, r == -EINVAL ? HSA_STATUS_ERROR_INVALID_ARGUMENT : hsa_status_of(r));
}

/* A part of a long grid: a job of its own; the queue stops until it has ended. */
static enum rt_outcome dispatch_part(struct rt_batch *b, const struct dispatch *d)
{
	struct rt_queue *q = b->queue;
	const union rt_packet *p = d->packet;
	struct cs_launch launch = {0};
	bool first = !q->split.packet, last;
	int r = rt_split_ready(q, d->known);

	if (r == -EAGAIN)
		return RT_STOPPED;
	if (!r)
		r = rt_batch_close(b);
	if (!r)
		r = rt_batch_open(b, first && rt_packet_waits(p->header));
	if (r)
		return rt_batch_not_submitted(b, r);
	if (first)
		rt_batch_clock(b, p->dispatch.completion_signal);
	last = rt_split_cut(q, &p->dispatch, d->index, &launch);
	rt_channel_start_clock(q->channel, b->ib);
	r = put_launch(b, d, &launch);
	if (r)
		return not_launched(b, r);
	q->split.point = rt_channel_stop_clock(q->channel, b->ib);
	if (last) {
		q->split.packet = 0;
		rt_batch_end(b, p->header, d->signal, p->dispatch.completion_signal);
	}
	r = rt_batch_close(b);
	return r ? rt_batch_not_submitted(b, r) : last ? RT_TAKEN : RT_STOPPED;
}

/* The header is not part of a packet's shape. */
static inline uint64_t shape_word(const union rt_packet *p, unsigned i)
{
	uint64_t word;

	memcpy(&word, (const char *)p + i * sizeof(word), sizeof(word));
	return i ? word : word >> 16;
}

/* The last dispatch of the kernel that the packet names was prepared, and looked like this one. */
static inline bool is_known(const struct rt_queue *q, const struct rt_known_kernel *known, const union rt_packet *p)
{
	const uint64_t *shape = known->shape;

	return known->ready &&
	       !((known->object ^ p->dispatch.kernel_object) | (shape[0] ^ shape_word(p, 0)) |
		 (shape[1] ^ shape_word(p, 1)) | (shape[2] ^ shape_word(p, 2)) | (shape[3] ^ shape_word(p, 3))) &&
	       known->generation == atomic_load_explicit(&q->rt->kernel_generation, memory_order_acquire);
}

/* Most packets: dispatches that differ from the last one of their kernel in addresses and id. False: this is none,
 * or one that needs a closer look. */
__attribute__((always_inline)) static inline bool dispatch_again(struct rt_batch *b, const union rt_packet *p,
								 uint16_t header, uint64_t index,
								 hsa_signal_t completion)
{
	const struct rt_known_kernel *known = place_of(b->queue, p->dispatch.kernel_object);
	struct rt_signal *signal = NULL;

	if (!is_known(b->queue, known, p) || rt_batch_is_full(b, known->estimate_ns, header))
		return false;
	if (completion.handle && !(signal = rt_signal_of(b->queue->rt, completion)))
		return false;
	if (rt_batch_start(b, header, completion))
		return false;
	cs_ib_launch_prepared(b->ib, &known->prepared, (uintptr_t)p->dispatch.kernarg_address,
			      (uintptr_t)b->queue->amd, index,
			      cs_kernel_wants_packet(known->kernel) ? copy_packet(b->ib, p) : 0);
	rt_batch_spend(b, known);
	rt_batch_end(b, header, signal, completion);
	return true;
}

static enum rt_outcome dispatch_whole(struct rt_batch *b, const struct dispatch *d)
{
	const union rt_packet *p = d->packet;
	struct rt_known_kernel *known = d->known;
	struct cs_launch launch = {0};
	uint32_t groups[3];
	int r;

	known->groups = rt_count_groups(&p->dispatch, groups);
	known->estimate_ns = rt_estimate_ns(b->queue, known->kernel, known->groups);
	r = rt_batch_is_full(b, known->estimate_ns, p->header) ? rt_batch_close(b) : 0;
	r = r ? r : rt_batch_start(b, p->header, p->dispatch.completion_signal);
	if (r)
		return rt_batch_not_submitted(b, r);
	if (known->estimate_ns == RT_NS_UNKNOWN)
		rt_batch_time_kernel(b);
	rt_batch_spend(b, known);
	r = put_launch(b, d, &launch);
	if (r)
		return not_launched(b, r);
	known->ready = cs_prepare(b->queue->channel->ring, &launch, &known->prepared);
	for (unsigned i = 0; i < RT_SHAPE_B / 8; i++)
		known->shape[i] = shape_word(p, i);
	rt_batch_end(b, p->header, d->signal, p->dispatch.completion_signal);
	return RT_TAKEN;
}

static enum rt_outcome dispatch(struct rt_batch *b, const union rt_packet *p, uint64_t index)
{
	struct dispatch d = {
		.packet = p, .index = index, .known = find_kernel(b->queue, p->dispatch.kernel_object)};
	hsa_signal_t completion = p->dispatch.completion_signal;
	hsa_status_t status;
	uint64_t items;

	d.signal = completion.handle ? rt_signal_of(b->queue->rt, completion) : NULL;
	status = check(b->queue, &d);
	if (status)
		return rt_batch_fail(b, status);
	/* The product of the three may pass 2^64, but not when the first two are small. */
	items = (uint64_t)p->dispatch.grid_size_x * p->dispatch.grid_size_y;
	if (items > b->queue->long_grid / p->dispatch.grid_size_z &&
	    rt_split_wanted(b->queue, &p->dispatch, d.known))
		return dispatch_part(b, &d);
	return dispatch_whole(b, &d);
}

enum rt_outcome rt_dispatch(struct rt_batch *b, const union rt_packet *p, uint64_t index)
{
	return dispatch_again(b, p, p->header, index, (hsa_signal_t){0}) ? RT_TAKEN : dispatch(b, p, index);
}

bool rt_dispatch_overruns(const struct rt_batch *b, const union rt_packet *p)
{
	const struct rt_known_kernel *known = place_of(b->queue, p->dispatch.kernel_object);

	return rt_batch_is_full(b, is_known(b->queue, known, p) ? known->estimate_ns : RT_NS_UNKNOWN, p->header);
}

bool rt_dispatch_is_plain(const struct rt_queue *q, const union rt_packet *p)
{
	return is_known(q, place_of((struct rt_queue *)(uintptr_t)q, p->dispatch.kernel_object), p);
}

/* --- PM4 -------------------------------------------------------------------------------------- */

/* Commands that the client wrote: profilers set counters up with them. */
static enum rt_outcome pm4(struct rt_batch *b, const union rt_packet *p)
{
	struct rt_queue *q = b->queue;
	hsa_signal_t completion = p->pm4.completion_signal;
	struct rt_signal *signal = completion.handle ? rt_signal_of(q->rt, completion) : NULL;
	int r;

	if (completion.handle && !signal)
		return rt_batch_fail(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	r = rt_batch_start(b, p->header, completion);
	if (r)
		return rt_batch_not_submitted(b, r);
	r = rt_pm4_append(q, b->ib, p->pm4.jump);
	if (r)
		return rt_batch_fail(b, r == -EINVAL ? HSA_STATUS_ERROR_INVALID_PACKET_FORMAT : hsa_status_of(r));
	rt_batch_end(b, p->header, signal, completion);
	return RT_TAKEN;
}

/* --- the ring --------------------------------------------------------------------------------- */

/* Acquire: the rest of the packet is there when its header is. */
static uint16_t header_at(const struct rt_queue *q, uint64_t index)
{
	return __atomic_load_n(&rt_queue_slot(q, index)->header, __ATOMIC_ACQUIRE);
}

static uint64_t read_index(const struct rt_queue *q)
{
	return __atomic_load_n(&q->amd->read_dispatch_id, __ATOMIC_RELAXED);
}

bool rt_queue_has_packet(const struct rt_queue *q)
{
	return rt_packet_type(header_at(q, read_index(q))) != HSA_PACKET_TYPE_INVALID;
}

static enum rt_outcome take(struct rt_batch *b, uint64_t index)
{
	union rt_packet p = *rt_queue_slot(b->queue, index);

	switch (rt_packet_type(p.header)) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		return dispatch(b, &p, index);
	case HSA_PACKET_TYPE_BARRIER_AND:
		return rt_barrier_and(b, &p);
	case HSA_PACKET_TYPE_BARRIER_OR:
		return rt_barrier_or(b, &p);
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		if (p.value.header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
			return rt_barrier_value(b, &p);
		if (p.value.header.AmdFormat == RT_FORMAT_PM4_IB)
			return pm4(b, &p);
		if (p.value.header.AmdFormat == RT_FORMAT_AFTER && b->queue->behind_door)
			return rt_after(b, &p.after);
		if (p.value.header.AmdFormat == RT_FORMAT_UNTIL && b->queue->behind_door)
			return rt_until(b, &p.until);
		if (p.value.header.AmdFormat == RT_FORMAT_SEQUENCE && b->queue->behind_door)
			return rt_sequence_read(b, p.sequence.sequence, index);
		if (p.value.header.AmdFormat == RT_FORMAT_SYNC && b->queue->behind_door)
			return rt_sync(b, &p.sync);
		break;
	}
	return rt_batch_fail(b, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

void rt_queue_pass(struct rt_queue *q, uint64_t index)
{
	__atomic_store_n(&rt_queue_slot(q, index)->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELAXED);
	__atomic_store_n(&q->amd->read_dispatch_id, index + 1, __ATOMIC_RELEASE);
}

static void stop(struct rt_queue *q)
{
	atomic_store(&q->stopped, true);
	rt_progress_add(q->rt, &q->work);
}

/* Reads what there is, at most one job's worth at a time. The caller holds busy. */
static void translate(struct rt_queue *q)
{
	struct rt_batch b;
	enum rt_outcome outcome = RT_TAKEN;
	uint64_t index = read_index(q), end = index + RT_BATCH_MAX;
	int r = rt_queue_channel(q);

	b.queue = q;
	b.ib = NULL;
	b.index = index;
	b.afters = 0;
	b.kept = false;
	b.left_ns = q->job_ns;
	if (r) {
		rt_batch_fail(&b, hsa_status_of(r));
		return;
	}
	for (; index != end; index++) {
		const union rt_packet *p = rt_queue_slot(q, index);
		uint16_t header = header_at(q, index);

		b.index = index;
		if (rt_packet_type(header) == HSA_PACKET_TYPE_INVALID)
			break;
		if (rt_packet_type(header) != HSA_PACKET_TYPE_KERNEL_DISPATCH ||
		    !dispatch_again(&b, p, header, index, p->dispatch.completion_signal))
			outcome = take(&b, index);
		if (outcome != RT_TAKEN)
			break;
		rt_queue_pass(q, index);
	}
	b.index = index;
	r = rt_batch_close(&b);
	if (r && outcome != RT_FAILED)
		outcome = rt_batch_not_submitted(&b, r);
	/* Packets that needed no job end with the last one. */
	if (outcome != RT_FAILED)
		atomic_store(&q->channel->end[cs_ring_last(q->channel->ring).seq % RT_JOBS_TRACKED], index);
	if (outcome == RT_STOPPED)
		stop(q);
}

static bool is_over(const struct rt_queue *q)
{
	return atomic_load_explicit(&q->state, memory_order_relaxed) != RT_QUEUE_ACTIVE;
}

/* True: the GPU has enough to do, and what is in the ring may wait for more. */
static inline bool should_collect(const struct rt_queue *q)
{
	const struct rt_channel *c = atomic_load_explicit(&q->channel, memory_order_relaxed);
	uint64_t waiting = __atomic_load_n(&q->amd->write_dispatch_id, __ATOMIC_RELAXED) - read_index(q);

	return c && waiting < RT_BATCH_MAX && cs_ring_unfinished(c->ring) >= CS_BUSY_JOBS;
}

static void collect(struct rt_queue *q)
{
	if (atomic_exchange(&q->collecting, true))
		return;
	atomic_store(&q->collecting_since_ns, rt_now_ns());
	atomic_fetch_add(&q->rt->queues->collecting, 1);
	rt_progress_add(q->rt, &q->work);
}

static void end_collecting(struct rt_queue *q)
{
	if (atomic_load_explicit(&q->collecting, memory_order_relaxed) && atomic_exchange(&q->collecting, false))
		atomic_fetch_sub(&q->rt->queues->collecting, 1);
}

/* When the queue has ended, its callback may destroy it as soon as busy is free: nothing of it is touched then. */
static void run(struct rt_queue *q, bool force)
{
	bool over = is_over(q);

	while (!over && !atomic_load(&q->stopped) && rt_queue_has_packet(q)) {
		if (!rt_queue_try_seize(q))
			return;
		if (!force && should_collect(q)) {
			collect(q);
			rt_queue_release(q);
			return;
		}
		end_collecting(q);
		if (!is_over(q))
			translate(q);
		over = is_over(q);
		rt_queue_release(q);
		atomic_thread_fence(memory_order_seq_cst);
	}
}

void rt_queue_run(struct rt_queue *q, bool force)
{
	atomic_thread_fence(memory_order_seq_cst);
	run(q, force);
}

/* A known dispatch that nobody is told of. */
static inline bool is_short_job(const struct rt_queue *q, const struct rt_known_kernel *known,
				const union rt_packet *p, uint16_t header)
{
	return rt_packet_type(header) == HSA_PACKET_TYPE_KERNEL_DISPATCH && !p->dispatch.completion_signal.handle &&
	       is_known(q, known, p) && !cs_kernel_wants_packet(known->kernel);
}

/* The most frequent case in one go: the ring has one packet, a short job, and the GPU has little to do. False: it
 * is another case, and all is as it was. The caller holds busy. */
static inline bool submit_short_job(struct rt_queue *q)
{
	struct rt_channel *c = q->channel;
	uint64_t index = read_index(q);
	const union rt_packet *p = rt_queue_slot(q, index);
	uint16_t header = header_at(q, index);
	const struct rt_known_kernel *known = place_of(q, p->dispatch.kernel_object);

	if (!c || c->priority != atomic_load_explicit(&q->priority, memory_order_relaxed) ||
	    !is_short_job(q, known, p, header) ||
	    rt_packet_type(header_at(q, index + 1)) != HSA_PACKET_TYPE_INVALID)
		return false;
	rt_channel_note(c, index + 1, 0);
	if (cs_submit_prepared(c->ring, rt_packet_waits(header), &known->prepared,
			       (uintptr_t)p->dispatch.kernarg_address, (uintptr_t)q->amd, index))
		return false;
	rt_queue_pass(q, index);
	return true;
}

/* The caller issues a full fence behind it, and looks again. */
static inline bool run_shortly(struct rt_queue *q)
{
	bool done;

	if (atomic_load(&q->stopped) || !rt_queue_try_seize(q))
		return false;
	done = !is_over(q) && submit_short_job(q);
	rt_queue_release(q);
	return done;
}

/* While packets are collected there is nothing to do: who ends that reads the ring behind it, and sees this one. */
void rt_queue_ring(struct rt_queue *q)
{
	bool done = false;

	if (__builtin_expect(q->intercept != NULL, 0)) {
		rt_intercept_ring(q);
		return;
	}
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load(&q->collecting))
		done = run_shortly(q);
	else if (should_collect(q))
		return;
	atomic_thread_fence(memory_order_seq_cst);
	rt_tell_of_work(q->rt);
	if (!done || rt_queue_has_packet(q))
		run(q, false);
}

bool rt_queue_attempt(struct rt *rt, struct rt_work *work)
{
	struct rt_queue *q = (struct rt_queue *)(void *)work;
	bool collecting = atomic_load(&q->collecting);

	(void)rt;
	if (is_over(q)) {
		end_collecting(q);
		return true;
	}
	if (collecting && !atomic_load(&q->stopped) && should_collect(q) &&
	    rt_now_ns() - atomic_load(&q->collecting_since_ns) < COLLECT_NS)
		return false;
	if (!rt_queue_try_seize(q))
		return false;
	rt_queue_unwatch(q);
	atomic_store(&q->stopped, false);
	rt_queue_release(q);
	rt_queue_run(q, true);
	/* Who polls is never done. */
	return !drv_config()->poll && !atomic_load(&q->stopped) && !atomic_load(&q->collecting);
}
