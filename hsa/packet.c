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

#include "hsa/queue.h"

#define COLLECT_NS 100000
#define BUSY_JOBS  2 /* unfinished jobs from which on packets are collected */
#define AFTERS_MAX 8 /* jobs of other queues that one waits for */

/* The job that is being written. */
struct batch {
	struct rt_queue *queue;
	struct cs_ib *ib; /* NULL: none is open */
	unsigned packets; /* in it */
	unsigned owed;    /* the scope that packets without signals release at; the job's end does it in any case */
	uint64_t completions; /* channel->issued when it began */
	uint64_t index;       /* of the packet that is read: those below are in this job or earlier ones */
	unsigned afters;
	struct cs_point after[AFTERS_MAX]; /* it begins behind them */
};

enum outcome { TAKEN, STOPPED, FAILED };

static unsigned type_of(uint16_t header)
{
	return header & 0xff;
}

static bool barrier_bit(uint16_t header)
{
	return header >> HSA_PACKET_HEADER_BARRIER & 1;
}

static unsigned acquire_scope(uint16_t header)
{
	return header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE & 3;
}

static unsigned release_scope(uint16_t header)
{
	return header >> HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE & 3;
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* ordered: earlier packets must have ended first. */
static int open_job(struct batch *b, bool ordered)
{
	int r = cs_begin(b->queue->channel->ring, CS_NOWAIT | (ordered ? CS_ORDERED : 0), &b->ib);
	if (r)
		b->ib = NULL;
	b->packets = 0;
	b->owed = 0;
	b->completions = b->queue->channel->issued;
	return r;
}

/* Ends the job. */
static int close_job(struct batch *b)
{
	struct rt_channel *c = b->queue->channel;
	const struct cs_order order = {.after = b->after, .after_count = b->afters};
	struct cs_ib *ib = b->ib;
	uint64_t seq;
	int r;

	if (!ib) /* nor is there a channel, perhaps */
		return 0;
	b->ib = NULL;
	seq = cs_ring_last(c->ring).seq + 1;
	b->afters = 0;
	atomic_store_explicit(&c->end[seq % RT_JOBS_TRACKED], b->index, memory_order_relaxed);
	/* Behind its last completion the job may still run something: then no completion is the last. */
	atomic_store(&c->last[seq % RT_JOBS_TRACKED], b->completions == c->issued ? 0 : c->issued);
	r = cs_submit(ib, order.after_count ? &order : NULL, NULL);
	/* Its packets were read: there is no later for them. */
	return r == -EBUSY ? -ENOMEM : r;
}

/* What follows begins behind the point: in a job of its own, which may wait for several. */
static int put_after(struct batch *b, struct cs_point point)
{
	int r = b->ib && (b->packets || b->afters == AFTERS_MAX) ? close_job(b) : 0;

	if (!r && !b->ib)
		r = open_job(b, true);
	if (!r)
		b->after[b->afters++] = point;
	return r;
}

/* The first words of a packet in the job: wait for what came before, see what others wrote. What was to be released
 * without a signal is written back by the same fence. */
static inline void begin_packet(struct batch *b, uint16_t header)
{
	unsigned scope = acquire_scope(header);

	if (!b->packets++)
		return; /* the job's own beginning did both */
	if (barrier_bit(header)) {
		scope = b->owed > scope ? b->owed : scope;
		b->owed = 0;
	}
	cs_ib_fence(b->ib, barrier_bit(header), scope);
}

static bool profiles(const struct rt_queue *q)
{
	return q->amd->queue_properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
}

static void begin_time(struct batch *b, hsa_signal_t completion)
{
	if (completion.handle && profiles(b->queue))
		cs_ib_clock(b->ib, (uintptr_t)&rt_signal_memory(completion)->start_ts);
}

/* A packet goes into the open job, or begins one. */
static inline int start_packet(struct batch *b, uint16_t header, hsa_signal_t completion)
{
	int r = __builtin_expect(!b->ib, 0) ? open_job(b, barrier_bit(header)) : 0;

	if (r)
		return r;
	begin_packet(b, header);
	begin_time(b, completion);
	return 0;
}

/* Its time, then its completion. */
static void complete(struct batch *b, uint16_t header, struct rt_signal *signal, hsa_signal_t completion)
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
	if (profiles(b->queue))
		cs_ib_release_clock(b->ib, (uintptr_t)&rt_signal_memory(completion)->end_ts);
	rt_signal_expect(b->queue->rt, signal, &producer, &va, &value);
	cs_ib_release_value(b->ib,
			    release_scope(header) == HSA_FENCE_SCOPE_SYSTEM ? CS_SCOPE_SYSTEM : CS_SCOPE_AGENT, va,
			    value);
}

/* The end of a packet. */
static inline void end_packet(struct batch *b, uint16_t header, struct rt_signal *signal, hsa_signal_t completion)
{
	if (signal)
		complete(b, header, signal, completion);
	else if (release_scope(header) > b->owed)
		b->owed = release_scope(header);
}

/* --- waiting for signals ---------------------------------------------------------------------- */

/* What a barrier packet waits for. */
struct deps {
	unsigned open, points, met, given;
	struct rt_signal *signal[RT_DEPS_MAX]; /* the open ones */
	struct cs_point point[RT_DEPS_MAX];
};

static bool gather(struct batch *b, const hsa_signal_t *dep, struct deps *deps)
{
	struct rt_queue *q = b->queue;

	*deps = (struct deps){0};
	for (unsigned i = 0; i < RT_DEPS_MAX; i++) {
		struct rt_signal *signal;
		struct cs_point point;

		if (!dep[i].handle)
			continue;
		signal = rt_signal_of(q->rt, dep[i]);
		if (!signal)
			return false;
		deps->given++;
		switch (rt_signal_dep(q->rt, signal, q->channel->ring, &point)) {
		case RT_DEP_MET:
			deps->met++;
			break;
		case RT_DEP_POINT:
			deps->point[deps->points++] = point;
			break;
		case RT_DEP_OPEN:
			deps->signal[deps->open++] = signal;
			break;
		}
	}
	return true;
}

static enum outcome failed(struct batch *b, hsa_status_t status)
{
	(void)!close_job(b);
	rt_queue_fail(b->queue, status);
	return FAILED;
}

/* What a submission that failed means for the queue. */
static enum outcome not_submitted(struct batch *b, int r)
{
	if (r == -EBUSY)
		return STOPPED;
	return failed(b, r == -ECANCELED || r == -ENODEV ? HSA_STATUS_ERROR_EXCEPTION : hsa_status_of(r));
}

/* A packet that does nothing but complete. Points of other rings become dependencies of a job of its own. */
static enum outcome pass_barrier(struct batch *b, uint16_t header, hsa_signal_t completion, struct deps *deps)
{
	struct rt_queue *q = b->queue;
	struct rt_signal *signal = completion.handle ? rt_signal_of(q->rt, completion) : NULL;
	int r = 0;

	if (completion.handle && !signal)
		return failed(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	for (unsigned i = 0; !r && i < deps->points; i++)
		if (deps->point[i].ring != q->channel->ring)
			r = put_after(b, deps->point[i]);
	if (!r && !b->ib)
		r = open_job(b, true);
	if (r)
		return not_submitted(b, r);
	/* Points of this ring are behind it in time already; their end is what a barrier waits for. */
	if (b->packets && deps->points)
		cs_ib_fence(b->ib, true, CS_SCOPE_NONE);
	begin_packet(b, header);
	begin_time(b, completion);
	end_packet(b, header, signal, completion);
	return TAKEN;
}

static enum outcome barrier_and(struct batch *b, const union rt_packet *p)
{
	struct deps deps;

	if (!gather(b, p->barrier.dep_signal, &deps))
		return failed(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	/* What should have made it 0 was lost: the wait would never end. */
	for (unsigned i = 0; i < deps.open; i++)
		if (atomic_load(&deps.signal[i]->failed))
			return failed(b, HSA_STATUS_ERROR_EXCEPTION);
	if (deps.open) {
		rt_queue_watch(b->queue, deps.signal, deps.open);
		return STOPPED;
	}
	return pass_barrier(b, p->header, p->barrier.completion_signal, &deps);
}

static enum outcome barrier_or(struct batch *b, const union rt_packet *p)
{
	struct deps deps;

	if (!gather(b, p->barrier.dep_signal, &deps))
		return failed(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	/* Which of several ends first, no submission can say. */
	if (deps.given && !deps.met) {
		rt_queue_watch(b->queue, deps.signal, deps.open);
		return STOPPED;
	}
	deps.points = 0;
	return pass_barrier(b, p->header, p->barrier.completion_signal, &deps);
}

static enum outcome barrier_value(struct batch *b, const union rt_packet *p)
{
	struct rt_signal *signal = rt_signal_of(b->queue->rt, p->value.signal);
	struct deps none = {0};

	if (!signal)
		return failed(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	if (!rt_condition_met((hsa_signal_condition_t)p->value.cond,
			      rt_signal_load(b->queue->rt, signal) & p->value.mask, p->value.value)) {
		rt_queue_watch(b->queue, &signal, 1);
		return STOPPED;
	}
	return pass_barrier(b, p->header, p->value.completion_signal, &none);
}

/* A packet of our HIP library: behind those of another queue. */
static enum outcome after(struct batch *b, const struct rt_after_packet *p)
{
	struct rt_queue *other = rt_queue_hold(b->queue->rt, p->queue);
	struct cs_point point;
	bool never;
	int r = 0;

	if (!other)
		return TAKEN;
	never = atomic_load(&other->state) == RT_QUEUE_FAILED;
	if (other != b->queue && rt_queue_completed(other) < p->index) {
		r = rt_queue_point(other, p->index, &point) ? 0 : -EAGAIN;
		/* It may have ended meanwhile. */
		if (r && rt_queue_completed(other) >= p->index)
			r = 0;
		else if (!r)
			r = put_after(b, point);
	}
	atomic_fetch_sub(&other->held, 1);
	if (r == -EAGAIN && never)
		return failed(b, HSA_STATUS_ERROR_EXCEPTION);
	return r == -EAGAIN ? STOPPED : r ? not_submitted(b, r) : TAKEN;
}

/* And one that waits for a value in memory, which is looked at when all before it has ended: GPUs change memory
 * without telling, and so the progress thread looks as often as it does at all. */
static enum outcome until(struct batch *b, const struct rt_until_packet *p)
{
	int r = b->ib || rt_queue_completed(b->queue) < b->index ? 0 : rt_until_met(b->queue->rt, p);

	if (r < 0)
		return failed(b, HSA_STATUS_ERROR_INVALID_ALLOCATION);
	return r ? TAKEN : STOPPED;
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
	uint32_t threads = (uint32_t)p->workgroup_size_x * p->workgroup_size_y * p->workgroup_size_z;

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

static int put_launch(struct batch *b, const struct dispatch *d, struct cs_launch *launch)
{
	fill_launch(launch, b->queue, &d->packet->dispatch, d->known->kernel, d->index);
	if (cs_kernel_wants_packet(d->known->kernel))
		launch->packet_va = copy_packet(b->ib, d->packet);
	return cs_ib_launch(b->ib, launch);
}

static enum outcome not_launched(struct batch *b, int r)
{
	return failed(b, r == -EINVAL ? HSA_STATUS_ERROR_INVALID_ARGUMENT : hsa_status_of(r));
}

/* A part of a long grid: a job of its own; the queue stops until it has ended. */
static enum outcome dispatch_part(struct batch *b, const struct dispatch *d)
{
	struct rt_queue *q = b->queue;
	const union rt_packet *p = d->packet;
	struct cs_launch launch = {0};
	bool first = !q->split.packet, last;
	int r = rt_split_ready(q, d->known);

	if (r == -EAGAIN)
		return STOPPED;
	if (!r)
		r = close_job(b);
	if (!r)
		r = open_job(b, first && barrier_bit(p->header));
	if (r)
		return not_submitted(b, r);
	if (first)
		begin_time(b, p->dispatch.completion_signal);
	last = rt_split_cut(q, &p->dispatch, d->index, &launch);
	rt_channel_start_clock(q->channel, b->ib);
	r = put_launch(b, d, &launch);
	if (r)
		return not_launched(b, r);
	q->split.point = rt_channel_stop_clock(q->channel, b->ib);
	if (last) {
		q->split.packet = 0;
		end_packet(b, p->header, d->signal, p->dispatch.completion_signal);
	}
	r = close_job(b);
	return r ? not_submitted(b, r) : last ? TAKEN : STOPPED;
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
__attribute__((always_inline)) static inline bool
dispatch_again(struct batch *b, const union rt_packet *p, uint16_t header, uint64_t index, hsa_signal_t completion)
{
	const struct rt_known_kernel *known = place_of(b->queue, p->dispatch.kernel_object);
	struct rt_signal *signal = NULL;

	if (!is_known(b->queue, known, p))
		return false;
	if (completion.handle && !(signal = rt_signal_of(b->queue->rt, completion)))
		return false;
	if (start_packet(b, header, completion))
		return false;
	cs_ib_launch_prepared(b->ib, &known->prepared, (uintptr_t)p->dispatch.kernarg_address,
			      (uintptr_t)b->queue->amd, index,
			      cs_kernel_wants_packet(known->kernel) ? copy_packet(b->ib, p) : 0);
	end_packet(b, header, signal, completion);
	return true;
}

static enum outcome dispatch_whole(struct batch *b, const struct dispatch *d)
{
	const union rt_packet *p = d->packet;
	struct rt_known_kernel *known = d->known;
	struct cs_launch launch = {0};
	int r = start_packet(b, p->header, p->dispatch.completion_signal);

	if (r)
		return not_submitted(b, r);
	r = put_launch(b, d, &launch);
	if (r)
		return not_launched(b, r);
	known->ready = cs_prepare(b->queue->channel->ring, &launch, &known->prepared);
	for (unsigned i = 0; i < RT_SHAPE_B / 8; i++)
		known->shape[i] = shape_word(p, i);
	end_packet(b, p->header, d->signal, p->dispatch.completion_signal);
	return TAKEN;
}

static enum outcome dispatch(struct batch *b, const union rt_packet *p, uint64_t index)
{
	struct dispatch d = {
		.packet = p, .index = index, .known = find_kernel(b->queue, p->dispatch.kernel_object)};
	hsa_signal_t completion = p->dispatch.completion_signal;
	hsa_status_t status;
	uint64_t items;

	d.signal = completion.handle ? rt_signal_of(b->queue->rt, completion) : NULL;
	status = check(b->queue, &d);
	if (status)
		return failed(b, status);
	/* The product of the three may pass 2^64, but not when the first two are small. */
	items = (uint64_t)p->dispatch.grid_size_x * p->dispatch.grid_size_y;
	if (items > b->queue->long_grid / p->dispatch.grid_size_z &&
	    rt_split_wanted(b->queue, &p->dispatch, d.known))
		return dispatch_part(b, &d);
	return dispatch_whole(b, &d);
}

/* Many dispatches that our HIP library has ready. They are taken as packets of their own would be, but in longer
 * jobs, once it is known how long they take. */
static enum outcome sequence(struct batch *b, const struct rt_sequence_packet *s, uint64_t index)
{
	struct rt_queue *q = b->queue;
	const uint32_t limit = rt_sequence_limit(q, s->id);
	const bool timed = !b->ib;
	enum outcome outcome = TAKEN;
	int r = timed ? open_job(b, true) : 0;

	if (!r && timed)
		rt_channel_start_clock(q->channel, b->ib);
	while (!r && outcome == TAKEN && q->sequence.at < s->count) {
		const union rt_packet *p = (const union rt_packet *)(const void *)&s->packets[q->sequence.at];

		if (b->ib && b->packets >= limit)
			r = close_job(b);
		else if (dispatch_again(b, p, p->header, index, (hsa_signal_t){0}) ||
			 (outcome = dispatch(b, p, index)) == TAKEN)
			q->sequence.at++;
	}
	if (r || outcome != TAKEN)
		return r ? not_submitted(b, r) : outcome;
	q->sequence.at = 0;
	if (timed && b->ib)
		rt_sequence_timed(q, b->packets, rt_channel_stop_clock(q->channel, b->ib));
	return TAKEN;
}

/* --- PM4 -------------------------------------------------------------------------------------- */

/* Commands that the client wrote: profilers set counters up with them. */
static enum outcome pm4(struct batch *b, const union rt_packet *p)
{
	struct rt_queue *q = b->queue;
	hsa_signal_t completion = p->pm4.completion_signal;
	struct rt_signal *signal = completion.handle ? rt_signal_of(q->rt, completion) : NULL;
	int r;

	if (completion.handle && !signal)
		return failed(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	r = start_packet(b, p->header, completion);
	if (r)
		return not_submitted(b, r);
	r = rt_pm4_append(q, b->ib, p->pm4.jump);
	if (r)
		return failed(b, r == -EINVAL ? HSA_STATUS_ERROR_INVALID_PACKET_FORMAT : hsa_status_of(r));
	end_packet(b, p->header, signal, completion);
	return TAKEN;
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
	return type_of(header_at(q, read_index(q))) != HSA_PACKET_TYPE_INVALID;
}

static enum outcome take(struct batch *b, uint64_t index)
{
	union rt_packet p = *rt_queue_slot(b->queue, index);

	switch (type_of(p.header)) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		return dispatch(b, &p, index);
	case HSA_PACKET_TYPE_BARRIER_AND:
		return barrier_and(b, &p);
	case HSA_PACKET_TYPE_BARRIER_OR:
		return barrier_or(b, &p);
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		if (p.value.header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
			return barrier_value(b, &p);
		if (p.value.header.AmdFormat == RT_FORMAT_PM4_IB)
			return pm4(b, &p);
		if (p.value.header.AmdFormat == RT_FORMAT_AFTER && b->queue->behind_door)
			return after(b, &p.after);
		if (p.value.header.AmdFormat == RT_FORMAT_UNTIL && b->queue->behind_door)
			return until(b, &p.until);
		if (p.value.header.AmdFormat == RT_FORMAT_SEQUENCE && b->queue->behind_door)
			return sequence(b, &p.sequence, index);
		break;
	}
	return failed(b, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
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
	struct batch b;
	enum outcome outcome = TAKEN;
	uint64_t index = read_index(q), end = index + RT_BATCH_MAX;
	int r = rt_queue_channel(q);

	b.queue = q;
	b.ib = NULL;
	b.index = index;
	b.afters = 0;
	if (r) {
		failed(&b, hsa_status_of(r));
		return;
	}
	for (; index != end; index++) {
		const union rt_packet *p = rt_queue_slot(q, index);
		uint16_t header = header_at(q, index);

		b.index = index;
		if (type_of(header) == HSA_PACKET_TYPE_INVALID)
			break;
		if (type_of(header) != HSA_PACKET_TYPE_KERNEL_DISPATCH ||
		    !dispatch_again(&b, p, header, index, p->dispatch.completion_signal))
			outcome = take(&b, index);
		if (outcome != TAKEN)
			break;
		rt_queue_pass(q, index);
	}
	b.index = index;
	r = close_job(&b);
	if (r && outcome != FAILED)
		outcome = not_submitted(&b, r);
	/* Packets that needed no job end with the last one. */
	if (outcome != FAILED)
		atomic_store(&q->channel->end[cs_ring_last(q->channel->ring).seq % RT_JOBS_TRACKED], index);
	if (outcome == STOPPED)
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

	return c && waiting < RT_BATCH_MAX && cs_ring_unfinished(c->ring) >= BUSY_JOBS;
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
		if (atomic_exchange_explicit(&q->busy, true, memory_order_acquire))
			return;
		if (!force && should_collect(q)) {
			collect(q);
			atomic_store_explicit(&q->busy, false, memory_order_release);
			return;
		}
		end_collecting(q);
		if (!is_over(q))
			translate(q);
		over = is_over(q);
		atomic_store_explicit(&q->busy, false, memory_order_release);
		atomic_thread_fence(memory_order_seq_cst);
	}
}

void rt_queue_run(struct rt_queue *q, bool force)
{
	atomic_thread_fence(memory_order_seq_cst);
	run(q, force);
}

/* While packets are collected there is nothing to do: who ends that reads the ring behind it, and sees this one. */
void rt_queue_ring(struct rt_queue *q)
{
	if (__builtin_expect(q->intercept != NULL, 0)) {
		rt_intercept_ring(q);
		return;
	}
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load(&q->collecting) || !should_collect(q))
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
	if (atomic_exchange_explicit(&q->busy, true, memory_order_acquire))
		return false;
	rt_queue_unwatch(q);
	atomic_store(&q->stopped, false);
	atomic_store_explicit(&q->busy, false, memory_order_release);
	rt_queue_run(q, true);
	/* Who polls is never done. */
	return !drv_config()->poll && !atomic_load(&q->stopped) && !atomic_load(&q->collecting);
}
