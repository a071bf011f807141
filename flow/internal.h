/* Declarations that the files of flow/ share. */
#ifndef FLOW_INTERNAL_H
#define FLOW_INTERNAL_H

#include "drv/clock.h"
#include "flow/flow.h"

/* --- hardware queues (queue.c) ------------------------------------------------------------------- */

/* A queue that a flow gave back, or a new one. -ENOMEM. */
DRV_MUST_CHECK int flow_queue_get(const struct flow *flow, enum cs_priority priority, struct flow_queue **queue);
/* Waits for the queue's work. */
void flow_queue_destroy(struct flow_queue *queue);
/* The queue's work has ended; NULL is accepted. */
void flow_queue_put(struct flow_queue *queue);
/* Notes of the ring's next job: with it the operations below `end` have ended; behind its `last` completion it
 * does nothing more, 0: no completion is the last. */
static inline void flow_queue_note(struct flow_queue *q, uint64_t end, uint64_t last)
{
	uint64_t seq = cs_ring_last(q->ring).seq + 1;

	/* Release: a thread that knows from it that an operation was executed sees what its executor did. */
	atomic_store_explicit(&q->end[seq % FLOW_JOBS_TRACKED], end, memory_order_release);
	atomic_store_explicit(&q->last[seq % FLOW_JOBS_TRACKED], last, memory_order_release);
}
/* Operations that needed no job end with the last one. */
static inline void flow_queue_end_with_last(struct flow_queue *q, uint64_t end)
{
	atomic_store_explicit(&q->end[cs_ring_last(q->ring).seq % FLOW_JOBS_TRACKED], end, memory_order_release);
}
/* A clock of the next job: around what is measured. */
void flow_queue_start_clock(const struct flow_queue *queue, struct cs_ib *ib);
struct cs_fence flow_queue_stop_clock(const struct flow_queue *queue, struct cs_ib *ib);
/* Time by the clock of an ended job, which is one of the last FLOW_JOBS_TRACKED. */
uint64_t flow_queue_clock_ns(const struct flow_queue *queue, uint64_t seq);

/* --- time (estimate.c, split.c) ------------------------------------------------------------------ */

/* A job has begun: evaluates those that have ended, and gives it a clock if several operations will be in it. */
void flow_time_begin(struct flow *flow);
/* In front of the only dispatch of a job, so far, whose time is not known. */
void flow_time_kernel(struct flow *flow);
/* The end of the job, which is submitted next. */
void flow_time_end(struct flow *flow);
/* The expected time of a dispatch of so many groups of that kernel. */
uint64_t flow_estimate_ns(const struct flow *flow, const struct cs_kernel *kernel, uint64_t groups);
/* The job would take too long with one more, which begins another job; inside: more than what is left. A dispatch
 * that waits for those before it does not share a job with one whose time is not known; one that does not wait may
 * be what they wait for. */
bool flow_overruns(const struct flow *flow, uint64_t estimate_ns, uint16_t header);
static inline bool flow_is_full(const struct flow *f, uint64_t estimate_ns, uint16_t header)
{
	return __builtin_expect(estimate_ns > f->left_ns, 0) && flow_overruns(f, estimate_ns, header);
}
static inline void flow_spend(struct flow *f, const struct flow_kernel *known)
{
	f->kernel = known;
	f->dispatches++;
	if (__builtin_expect(known->estimate_ns == FLOW_NS_UNKNOWN, 0))
		f->unknown = true;
	f->left_ns = known->estimate_ns < f->left_ns ? f->left_ns - known->estimate_ns : 0;
}
/* Workgroups of a grid, in all and by dimension. */
uint64_t flow_count_groups(const hsa_kernel_dispatch_packet_t *packet, uint32_t *groups);
/* Work-items from which on a grid may have to be split. */
uint64_t flow_split_limit(const struct flow *flow);
/* Whether that one, which is as large, is. */
bool flow_split_wanted(const struct flow *flow, const hsa_kernel_dispatch_packet_t *packet,
		       const struct flow_kernel *known);
/* 0: the next part may be cut; -EAGAIN: the one before still runs; -ECANCELED, -ENODEV. */
DRV_MUST_CHECK int flow_split_ready(struct flow *flow, struct flow_kernel *known);
/* Fills in the part of the packet's grid that is next; true: it is the last. */
bool flow_split_cut(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet, struct cs_launch *launch);

/* --- dispatches (dispatch.c) --------------------------------------------------------------------- */

/* The open job would take too long with it. */
bool flow_launch_overruns(const struct flow *flow, const hsa_kernel_dispatch_packet_t *packet);
/* The last one looked like this, and its commands are the same wherever they stand. */
bool flow_launch_is_plain(const struct flow *flow, const hsa_kernel_dispatch_packet_t *packet);

/* segment.c. -EAGAIN: the same one is to be given again. */
DRV_MUST_CHECK int flow_segment_execute(struct flow *flow, struct flow_segment *segment);

/* Gives back a lock that the room took itself. */
static inline void flow_release(struct flow *f)
{
	drv_unlock(&f->lock);
	if (f->ops->released)
		f->ops->released(f);
}

static inline bool flow_is_mine(const struct flow *f)
{
	return atomic_load_explicit(&f->holder, memory_order_relaxed) == (const void *)&flow_thread;
}
/* Marks the holder, as callers do whose calls may flush all flows. */
static inline bool flow_lock_try(struct flow *f)
{
	if (!drv_lock_try(&f->lock))
		return false;
	flow_hold(f);
	return true;
}
static inline void flow_lock(struct flow *f)
{
	drv_lock(&f->lock);
	flow_hold(f);
}
static inline void flow_unlock(struct flow *f)
{
	flow_unhold(f);
	flow_release(f);
}

/* --- operations (flow.c, op.c). Locked ------------------------------------------------------------ */

/* An operation that could not be submitted yet. */
struct flow_deferred {
	struct flow_deferred *next;
	bool started;    /* of a call */
	uint64_t number; /* of a dispatch that tools see: ops->tap()'s */
	struct flow_op op;
};
/* Wakes threads that wait for deferred operations. */
void flow_wake(struct flow *flow);
/* -EAGAIN, -EBUSY: it cannot be submitted yet. d: the same operation, if it was deferred. */
DRV_MUST_CHECK int flow_execute(struct flow *flow, const struct flow_op *op, struct flow_deferred *d);
/* Executes what was deferred, as far as it can be. -EAGAIN: not all of it. */
DRV_MUST_CHECK int flow_advance(struct flow *flow);
/* The same, and all that was executed goes to the GPU. At an error the flow has failed. */
int flow_push(struct flow *flow);

/* --- the open job (job.c). Locked ------------------------------------------------------------------ */

/* The begin of an operation in a job that has others: waits for them, and acquires what they and others wrote. What
 * was to be released without a signal is written back by the same fence. False: there are no others. */
static inline bool flow_begin_behind(struct flow *f, uint16_t header)
{
	unsigned scope = flow_acquires(header);

	if (!f->ib || !f->job_ops)
		return false;
	f->job_ops++;
	if (flow_waits(header)) {
		scope = f->unreleased > scope ? f->unreleased : scope;
		f->unreleased = 0;
	}
	cs_ib_barrier(f->ib, flow_waits(header), scope);
	return true;
}
/* Points that are reached or lost are waited for no more. */
void flow_drop_reached(struct flow *flow);
/* The ring takes one more job. */
static inline bool flow_has_room(const struct flow *f)
{
	const struct flow_queue *q = f->queue;

	return !q || cs_ring_unfinished(q->ring) < CS_JOBS_MAX;
}
/* The owner has flow_attempt() called from now on. */
void flow_stall(struct flow *flow);
/* The open job, which waits for more, goes to the GPU now. */
bool flow_collected_enough(const struct flow *flow);

#endif
