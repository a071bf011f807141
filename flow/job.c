/* The open job of a flow: its begin and end, when it is submitted, and how far the GPU is. */
#include <errno.h>
#include "flow/internal.h"

/* --- the hardware queue ------------------------------------------------------------------------- */

void flow_fail(struct flow *f, int error)
{
	if (!flow_stop(f, FLOW_FAILED))
		return;
	f->ops->failed(f, error);
	flow_wake_all(f);
}

/* A context has one priority for life: a flow whose priority changed goes on with another hardware queue as soon as
 * its work has ended. */
static int change_queue(struct flow *f)
{
	struct flow_queue *old = f->queue, *new = NULL;
	int r;

	if (old && (f->ib || f->afters || !cs_fence_is_retired(cs_ring_last(old->ring))))
		return 0;
	r = flow_queue_get(f, atomic_load(&f->priority), &new);
	if (r)
		return r;
	/* The executed operations have ended: on this queue's last job nothing more depends. */
	flow_queue_end_with_last(new, atomic_load_explicit(&f->executed, memory_order_relaxed));
	f->queue = new;
	flow_queue_put(old);
	return 0;
}

int flow_ensure_queue(struct flow *f)
{
	const struct flow_queue *q = atomic_load_explicit(&f->queue, memory_order_relaxed);

	return __builtin_expect(q && q->priority == atomic_load_explicit(&f->priority, memory_order_relaxed), 1)
		       ? 0
		       : change_queue(f);
}

/* --- the open job ------------------------------------------------------------------------------- */

int flow_open(struct flow *f, bool ordered)
{
	int r = flow_ensure_queue(f);

	r = r ? r
	      : cs_begin(f->queue->ring, CS_NOWAIT | (ordered || f->ordered || f->afters ? CS_ORDERED : 0), &f->ib);
	if (r) {
		f->ib = NULL;
		return r;
	}
	f->ordered = false;
	f->job_ops = 0;
	f->unreleased = 0;
	f->completions = f->queue->issued;
	flow_time_begin(f);
	/* The open job keeps the ring's lock from call to call, and another thread may close it. */
	drv_rank_give(DRV_RANK_CS_RING);
	return 0;
}

/* The job went to the kernel without waiting for what was lost. */
__attribute__((cold, noinline)) static void report_lost(struct flow *f, const struct cs_fence *after,
							const uint64_t *waiter, unsigned afters)
{
	for (unsigned i = 0; i < afters; i++)
		if (cs_fence_poll(after[i]) < 0)
			f->ops->wait_lost(f, waiter[i], after[i]);
}

static void end_collecting(struct flow *f)
{
	if (__builtin_expect(atomic_load_explicit(&f->collecting, memory_order_relaxed), 0)) {
		atomic_store(&f->collecting, false);
		atomic_fetch_sub(&f->gpu->collecting, 1);
	}
}

/* Submits the job behind the fences that the flow waits for. */
static int submit_behind(struct flow *f, struct cs_ib *ib)
{
	struct cs_fence after[FLOW_AFTERS_MAX];
	uint64_t waiter[FLOW_AFTERS_MAX];
	unsigned afters = f->afters;
	bool lost = false;
	int r;

	for (unsigned i = 0; i < afters; i++) {
		after[i] = f->after[i];
		waiter[i] = f->waiter[i];
	}
	f->afters = 0;
	r = cs_submit(ib, &(struct cs_submit_info){.after = after, .after_count = afters, .lost = &lost}, NULL);
	if (__builtin_expect(lost, 0))
		report_lost(f, after, waiter, afters);
	return r;
}

int flow_close(struct flow *f)
{
	struct flow_queue *q = f->queue;
	struct cs_ib *ib = f->ib;
	int r;

	if (!ib)
		return 0;
	flow_time_end(f);
	end_collecting(f);
	f->ib = NULL;
	drv_rank_take(DRV_RANK_CS_RING, false);
	/* A job with work behind its last completion has no completion as its last. */
	flow_queue_note(q, atomic_load_explicit(&f->executed, memory_order_relaxed),
			f->completions == q->issued ? 0 : q->issued);
	r = f->afters ? submit_behind(f, ib) : cs_submit(ib, NULL, NULL);
	atomic_thread_fence(memory_order_seq_cst);
	f->ops->submitted(f);
	if (__builtin_expect(!r, 1))
		return 0;
	/* The operations were executed: they are not tried again. */
	flow_fail(f, r);
	return r == -EBUSY ? -ENOMEM : r;
}

int flow_begin(struct flow *f, uint16_t header, uint64_t completion)
{
	if (!flow_begin_behind(f, header)) {
		int r = f->ib ? 0 : flow_open(f, flow_waits(header));

		if (r)
			return r;
		/* The job's own beginning waits, and acquires everything. */
		f->job_ops++;
	}
	if (__builtin_expect(completion != 0, 0))
		f->ops->begin(f, completion);
	return 0;
}

/* The last fence of a ring stands for all of them. */
static bool merge(struct flow *f, struct cs_fence fence, uint64_t waiter)
{
	for (unsigned i = 0; i < f->afters; i++)
		if (f->after[i].ring == fence.ring && f->waiter[i] == waiter) {
			f->after[i].seq = f->after[i].seq > fence.seq ? f->after[i].seq : fence.seq;
			return true;
		}
	return false;
}

int flow_after(struct flow *f, struct cs_fence fence, uint64_t waiter)
{
	const struct flow_queue *q = f->queue;
	int r = 0;

	if (q && fence.ring == q->ring)
		return 0;
	if (f->ib && f->job_ops)
		r = flow_close(f);
	if (r || merge(f, fence, waiter))
		return r;
	if (f->afters == FLOW_AFTERS_MAX) {
		r = f->ib ? 0 : flow_open(f, true);
		r = r ? r : flow_close(f);
	}
	if (!r) {
		f->waiter[f->afters] = waiter;
		f->after[f->afters++] = fence;
	}
	return r;
}

/* --- when it is submitted ------------------------------------------------------------------------- */

void flow_stall(struct flow *f)
{
	if (!atomic_exchange(&f->stalled, true))
		f->ops->stalled(f);
}

__attribute__((noinline)) static void collect(struct flow *f)
{
	f->collecting_since_ns = drv_now_ns();
	atomic_store(&f->collecting, true);
	atomic_fetch_add(&f->gpu->collecting, 1);
	flow_stall(f);
}

int flow_retire_slow(struct flow *f)
{
	if (!f->ib) {
		if (!f->afters && f->queue)
			flow_queue_end_with_last(f->queue,
						 atomic_load_explicit(&f->executed, memory_order_relaxed));
		return 0;
	}
	if (!flow_should_collect(f))
		return flow_close(f);
	if (!atomic_load_explicit(&f->collecting, memory_order_relaxed))
		collect(f);
	return 0;
}

bool flow_collected_enough(const struct flow *f)
{
	return !flow_should_collect(f) || drv_now_ns() - f->collecting_since_ns >= FLOW_COLLECT_NS;
}

/* --- how far the GPU is --------------------------------------------------------------------------- */

uint64_t flow_completed(const struct flow *f)
{
	const struct flow_queue *q = f->queue;
	uint64_t reached, value;

	if (!q)
		return 0;
	/* The place may belong to a later job when enough have ended meanwhile: to the next one, at the latest,
	 * behind the unfinished ones, even if the ring has no room for it (flow_launch_alone()). */
	do {
		reached = cs_ring_completed(q->ring);
		value = atomic_load_explicit(&q->end[reached % FLOW_JOBS_TRACKED], memory_order_acquire);
	} while (__builtin_expect(cs_ring_completed(q->ring) - reached >= FLOW_JOBS_TRACKED - CS_JOBS_MAX - 1, 0));
	return value;
}

bool flow_job_of(const struct flow *f, uint64_t value, struct cs_fence *fence)
{
	const struct flow_queue *q = f->queue;

	if (!q)
		return false;
	*fence = cs_ring_last(q->ring);
	for (uint64_t last = fence->seq, seq = cs_ring_completed(q->ring) + 1; seq <= last; seq++)
		if (atomic_load_explicit(&q->end[seq % FLOW_JOBS_TRACKED], memory_order_acquire) >= value) {
			fence->seq = seq;
			return true;
		}
	return false;
}

/* The flow waits on for a fence. One that is lost it does not wait for, as in a submission, unless it fails with
 * it. */
static bool still_waits(struct flow *f, unsigned i)
{
	int r = cs_fence_poll(f->after[i]);

	if (__builtin_expect(r < 0 && atomic_load(&f->state) == FLOW_ACTIVE, 0)) {
		f->ops->wait_lost(f, f->waiter[i], f->after[i]);
		return atomic_load(&f->state) != FLOW_ACTIVE;
	}
	return r != 1;
}

void flow_drop_reached(struct flow *f)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < f->afters; i++)
		if (still_waits(f, i)) {
			f->waiter[kept] = f->waiter[i];
			f->after[kept++] = f->after[i];
		}
	f->afters = kept;
	if (!f->ib && !kept && f->queue)
		flow_queue_end_with_last(f->queue, atomic_load_explicit(&f->executed, memory_order_relaxed));
}
