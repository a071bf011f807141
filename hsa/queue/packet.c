/* The packet processor: AQL packets become operations of the queue's flow.
 *
 * No thread blocks on a packet's dependencies. A producer of packets publishes a header, issues a full fence and
 * tries the flow's lock; the translator unlocks, issues a full fence and checks for packets. At least one of the
 * two finds the packet. A packet that must wait stops its queue; then only the progress thread reads on. */
#include <errno.h>
#include <string.h>

#include "hsa/queue/queue.h"

enum rt_outcome rt_packet_fail(struct rt_queue *q, hsa_status_t status)
{
	int r = flow_close(&q->base.flow);

	(void)r; /* ignored: the queue fails in any case */
	rt_queue_fail(q, status);
	return RT_FAILED;
}

enum rt_outcome rt_packet_refused(struct rt_queue *q, int r)
{
	if (r == -EBUSY || r == -EAGAIN)
		return RT_STOPPED;
	flow_fail(&q->base.flow, r);
	return RT_FAILED;
}

/* --- dispatches ------------------------------------------------------------------------------- */

/* The statuses that ROCr derives from its packet processor's errors. */
static hsa_status_t check_dispatch_shape(const struct drv_chip *chip, const hsa_kernel_dispatch_packet_t *p)
{
	uint64_t threads = (uint64_t)p->workgroup_size_x * p->workgroup_size_y * p->workgroup_size_z;

	if (!(p->setup & 3))
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

static bool names_signal(const struct rt_queue *q, hsa_signal_t completion)
{
	return !completion.handle || rt_signal_of(q->base.rt, completion);
}

static hsa_status_t check_dispatch(struct rt_queue *q, const hsa_kernel_dispatch_packet_t *p)
{
	hsa_status_t status = check_dispatch_shape(q->base.gpu->dev->chip, p);

	if (status)
		return status;
	if (!names_signal(q, p->completion_signal))
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	return flow_kernel_of(&q->base.flow, p->kernel_object)->kernel ? HSA_STATUS_SUCCESS
								       : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

static enum rt_outcome take_dispatch(struct rt_queue *q, const union rt_packet *p)
{
	hsa_status_t status = check_dispatch(q, &p->dispatch);
	int r;

	if (status)
		return rt_packet_fail(q, status);
	r = flow_launch(&q->base.flow, &p->dispatch, p->dispatch.completion_signal.handle);
	return r ? rt_packet_refused(q, r) : RT_TAKEN;
}

/* --- PM4 -------------------------------------------------------------------------------------- */

/* Executes PM4 commands of the client: profilers program counters with them. */
static enum rt_outcome take_pm4(struct rt_queue *q, const union rt_packet *p)
{
	struct flow *f = &q->base.flow;
	hsa_signal_t completion = p->pm4.completion_signal;
	int r;

	if (!names_signal(q, completion))
		return rt_packet_fail(q, HSA_STATUS_ERROR_INVALID_SIGNAL);
	r = flow_begin(f, p->header, completion.handle);
	if (r)
		return rt_packet_refused(q, r);
	r = rt_pm4_append(q, f->ib, p->pm4.jump);
	if (r)
		return rt_packet_fail(q, r == -EINVAL ? HSA_STATUS_ERROR_INVALID_PACKET_FORMAT : hsa_status_of(r));
	flow_finish(f, p->header, completion.handle);
	return RT_TAKEN;
}

/* --- the ring --------------------------------------------------------------------------------- */

/* An acquire load: a valid header publishes the rest of the packet. */
static uint16_t header_at(const struct rt_queue *q, uint64_t index)
{
	return __atomic_load_n(&rt_queue_slot(q, index)->header, __ATOMIC_ACQUIRE);
}

static bool has_packet_at(const struct rt_queue *q, uint64_t index)
{
	return rt_packet_type(header_at(q, index)) != HSA_PACKET_TYPE_INVALID;
}

static uint64_t read_index(const struct rt_queue *q)
{
	return __atomic_load_n(&q->amd->read_dispatch_id, __ATOMIC_RELAXED);
}

bool rt_queue_has_packet(const struct rt_queue *q)
{
	return has_packet_at(q, read_index(q));
}

static enum rt_outcome take_packet(struct rt_queue *q, uint64_t index)
{
	union rt_packet p = *rt_queue_slot(q, index);

	switch (rt_packet_type(p.header)) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		return take_dispatch(q, &p);
	case HSA_PACKET_TYPE_BARRIER_AND:
		return rt_barrier_and(q, &p);
	case HSA_PACKET_TYPE_BARRIER_OR:
		return rt_barrier_or(q, &p);
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		if (p.value.header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
			return rt_barrier_value(q, &p);
		if (p.value.header.AmdFormat == RT_FORMAT_PM4_IB)
			return take_pm4(q, &p);
		break;
	}
	return rt_packet_fail(q, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

void rt_queue_pass(struct rt_queue *q, uint64_t index)
{
	__atomic_store_n(&rt_queue_slot(q, index)->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELAXED);
	__atomic_store_n(&q->amd->read_dispatch_id, index + 1, __ATOMIC_RELEASE);
}

static void queue_stop(struct rt_queue *q)
{
	atomic_store(&q->stopped, true);
	rt_progress_add(q->base.rt, &q->base.work);
}

/* The fast path of a dispatch that is like the last one of its kernel, as most are. */
static inline bool take_dispatch_again(struct rt_queue *q, const union rt_packet *p, uint16_t header)
{
	hsa_signal_t completion;

	if (rt_packet_type(header) != HSA_PACKET_TYPE_KERNEL_DISPATCH)
		return false;
	completion = p->dispatch.completion_signal;
	return names_signal(q, completion) && flow_launch_again(&q->base.flow, &p->dispatch, completion.handle);
}

/* Counts an operation and its packet: the cooperative queue's flow has operations of our HIP library, too, with the
 * same numbering. */
static inline void count_packet(struct flow *f)
{
	flow_count(f);
	flow_count_written(f);
}

/* Deferred operations that are not packets precede the packets, and get the next numbers. */
static inline bool has_deferred(const struct flow *f)
{
	return f->deferred && !f->tapped;
}

/* Reads the available packets, at most one job's. The caller holds the flow's lock. */
static void queue_translate(struct rt_queue *q)
{
	struct flow *f = &q->base.flow;
	enum rt_outcome outcome = RT_TAKEN;
	uint64_t index = read_index(q), end = index + FLOW_OPS_MAX;
	int r = flow_ensure_queue(f);

	if (r)
		outcome = rt_packet_refused(q, r);
	else if (__builtin_expect(has_deferred(f), 0))
		outcome = RT_STOPPED;
	for (; outcome == RT_TAKEN && index != end && has_packet_at(q, index); index++) {
		const union rt_packet *p = rt_queue_slot(q, index);

		f->more = has_packet_at(q, index + 1);
		if (!take_dispatch_again(q, p, header_at(q, index)))
			outcome = take_packet(q, index);
		if (outcome != RT_TAKEN)
			break;
		/* A tapped flow counts the dispatch itself: a tool may replace it by several packets. */
		if (!f->tapped)
			count_packet(f);
		rt_queue_pass(q, index);
	}
	f->more = false;
	r = outcome == RT_FAILED ? 0 : flow_retire(f);
	if (r)
		outcome = rt_packet_refused(q, r);
	if (outcome == RT_STOPPED)
		queue_stop(q);
}

bool rt_queue_drain(struct rt_queue *q)
{
	rt_queue_unwatch(q);
	atomic_store(&q->stopped, false);
	while (!rt_queue_is_over(q) && !atomic_load(&q->stopped) && rt_queue_has_packet(q))
		queue_translate(q);
	return !atomic_load(&q->stopped);
}

/* Another thread may destroy the queue as soon as its lock is free; its memory is freed when the caller has left its call. */
void rt_queue_run(struct rt_queue *q)
{
	bool over;

	atomic_thread_fence(memory_order_seq_cst);
	over = rt_queue_is_over(q);
	while (!over && !atomic_load(&q->stopped) && rt_queue_has_packet(q)) {
		if (!drv_lock_try(&q->base.flow.lock))
			return;
		if (!rt_queue_is_over(q))
			queue_translate(q);
		over = rt_queue_is_over(q);
		drv_unlock(&q->base.flow.lock);
		atomic_thread_fence(memory_order_seq_cst);
	}
}

/* The most frequent case as one step: the ring has one packet, a known dispatch without a completion signal, and
 * the GPU has little work. False: another case; nothing was changed. The caller holds the lock. */
static inline bool take_packet_alone(struct rt_queue *q)
{
	uint64_t index = read_index(q);
	const union rt_packet *p = rt_queue_slot(q, index);

	if (rt_packet_type(header_at(q, index)) != HSA_PACKET_TYPE_KERNEL_DISPATCH ||
	    p->dispatch.completion_signal.handle || has_packet_at(q, index + 1) || has_deferred(&q->base.flow) ||
	    !flow_launch_alone(&q->base.flow, &p->dispatch))
		return false;
	count_packet(&q->base.flow);
	rt_queue_pass(q, index);
	return true;
}

/* The caller issues a full fence afterwards, and checks for packets again. */
static inline bool queue_run_alone(struct rt_queue *q)
{
	bool done;

	if (atomic_load(&q->stopped) || !drv_lock_try(&q->base.flow.lock))
		return false;
	done = !rt_queue_is_over(q) && take_packet_alone(q);
	drv_unlock(&q->base.flow.lock);
	return done;
}

void rt_queue_ring(struct rt_queue *q)
{
	bool done;

	if (__builtin_expect(q->intercept != NULL, 0)) {
		rt_intercept_ring(q);
		return;
	}
	atomic_thread_fence(memory_order_seq_cst);
	done = queue_run_alone(q);
	atomic_thread_fence(memory_order_seq_cst);
	if (!done || rt_queue_has_packet(q))
		rt_queue_run(q);
}

bool rt_queue_attempt(struct rt *rt, struct rt_work *work)
{
	struct rt_queue *q = (struct rt_queue *)(void *)work;
	bool done;

	(void)rt;
	done = flow_attempt(&q->base.flow);
	if (rt_queue_is_over(q))
		return done;
	if (drv_lock_try(&q->base.flow.lock)) {
		rt_queue_unwatch(q);
		atomic_store(&q->stopped, false);
		drv_unlock(&q->base.flow.lock);
	}
	rt_queue_run(q);
	/* A queue that is polled stays queued as work. */
	return done && !drv_config()->poll && !atomic_load(&q->stopped) && !atomic_load(&q->base.flow.collecting);
}
