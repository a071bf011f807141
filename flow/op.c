/* How each kind of operation is executed: as commands in the open job, fences that the next job waits for, jobs
 * of the copier, calls of the host. */
#include <errno.h>

#include "drv/process.h"
#include "flow/internal.h"

static bool is_met(const struct flow_value *v)
{
	uint64_t found = v->size_B == 8 ? __atomic_load_n((const uint64_t *)v->at, __ATOMIC_ACQUIRE)
					: __atomic_load_n((const uint32_t *)v->at, __ATOMIC_ACQUIRE);

	if (v->process && drv_process_gone((pid_t)v->process))
		return true;
	switch (v->condition) {
	case FLOW_GTE:
		return (found & v->mask) >= v->value;
	case FLOW_EQ:
		return (found & v->mask) == v->value;
	case FLOW_ANY:
		return found & v->mask & v->value;
	case FLOW_NOT_ALL: /* some bit of the mask is in neither */
		return ~(found | v->value) & v->mask;
	}
	return false;
}

/* 0: all executed operations have ended. */
static int check_all_ended(struct flow *f)
{
	int r = flow_close(f);

	if (r)
		return r;
	flow_drop_reached(f);
	return f->afters || (f->queue &&
			     flow_completed(f) < atomic_load_explicit(&f->executed, memory_order_relaxed))
		       ? -EAGAIN
		       : 0;
}

/* GPUs change memory without telling: it is read as often as the owner calls flow_attempt(). */
static int execute_value(struct flow *f, const struct flow_value *value)
{
	int r = check_all_ended(f);

	if (r)
		return r;
	if (!f->ops->sees(f, value->at, value->size_B))
		return drv_fail(-EFAULT, "no value that the CPU sees at %p", value->at);
	return is_met(value) ? 0 : -EAGAIN;
}

static int execute_call(struct flow *f, struct flow_deferred *d)
{
	int r;

	if (d->started)
		return atomic_load(&f->calling) ? -EAGAIN : 0;
	r = check_all_ended(f);
	if (r)
		return r;
	d->started = true;
	atomic_store(&f->calling, true);
	d->op.call.fn(f, d->op.call.user, false);
	return atomic_load(&f->calling) ? -EAGAIN : 0;
}

static int execute_barrier(struct flow *f, const struct flow_op *op)
{
	int r = flow_begin(f, op->header, op->completion);

	if (!r)
		flow_finish(f, op->header, op->completion);
	return r;
}

/* The event that writes it waits for all earlier waves. */
static int execute_stamp(struct flow *f, uint64_t va)
{
	int r = f->ib ? 0 : flow_open(f, true);

	if (r)
		return r;
	f->job_ops++;
	cs_ib_release_clock(f->ib, va);
	return 0;
}

/* The flow waits for all jobs of the other flow that the value stands for; the other's lock is held. */
static int after_flow(struct flow *f, struct flow *other, uint64_t value)
{
	struct cs_fence fence;
	int r = 0;

	if (flow_job_of(other, value, &fence))
		return flow_after(f, fence, 0);
	for (unsigned i = 0; !r && i < other->afters; i++)
		r = flow_after(f, other->after[i], 0);
	if (!r && other->queue && cs_ring_unfinished(other->queue->ring))
		r = flow_after(f, cs_ring_last(other->queue->ring), 0);
	return r;
}

/* A flow that failed never gets there. What waits for it on the same GPU fails as well; another GPU's goes on. */
static int wait_for(struct flow *f, struct flow *other, uint64_t value)
{
	if (flow_completed(other) >= value)
		return 0;
	flow_push(other);
	if (atomic_load_explicit(&other->executed, memory_order_relaxed) >= value)
		return after_flow(f, other, value);
	if (atomic_load(&other->state) == FLOW_ACTIVE)
		return -EAGAIN;
	return other->gpu == f->gpu && atomic_load(&other->state) == FLOW_FAILED ? -ECANCELED : 0;
}

/* Without its lock, whose holder may sleep until the caller goes on: what a hardware queue says counts while the
 * flow has it. */
static bool has_ended(const struct flow *other, uint64_t value)
{
	const struct flow_queue *q = other->queue;

	return q && flow_completed(other) >= value && other->queue == q;
}

#define TRIES 64 /* attempts to take another flow's lock, before the operation is deferred */

/* Flows that a thread advances inside one another: each has its lock, and a part of the thread's stack. One that is further
 * away is advanced by its own wait, or by the progress thread. */
#define DEPTH_MAX 16
static _Thread_local unsigned depth;

/* False: another thread has the lock, or the flow is too far away. */
static bool other_lock(struct flow *other, bool mine)
{
	if (depth == DEPTH_MAX)
		return false;
	for (unsigned i = 0; !mine && !drv_lock_try(&other->lock); i++) {
		if (i == TRIES)
			return false;
		__builtin_ia32_pause();
	}
	depth++;
	return true;
}

static void other_unlock(struct flow *other, bool mine)
{
	depth--;
	if (!mine)
		flow_release(other);
}

static int execute_wait(struct flow *f, struct flow *other, uint64_t value)
{
	const bool mine = flow_is_mine(other);
	int r;

	if (other == f)
		return 0;
	if (!other_lock(other, mine))
		return has_ended(other, value) ? 0 : -EAGAIN;
	/* Without a hardware queue it is over, or has not begun. */
	r = other->queue || atomic_load(&other->state) == FLOW_ACTIVE ? wait_for(f, other, value) : 0;
	other_unlock(other, mine);
	return r;
}

static int submit_syncobj(struct flow *f, const struct flow_syncobj *s)
{
	const struct cs_syncobj_point point = {s->sync, s->value};
	struct cs_submit_info info = {
		.after = f->after,
		.after_count = f->afters,
		.wait = &point,
		.signal = &point,
		.wait_count = !s->signal,
		.signal_count = s->signal,
	};
	struct cs_ib *ib;
	int r = flow_ensure_queue(f);

	r = r ? r : cs_begin(f->queue->ring, CS_NOWAIT | CS_ORDERED, &ib);
	if (r)
		return r;
	flow_queue_note(f->queue, atomic_load_explicit(&f->executed, memory_order_relaxed) + 1, 0);
	r = cs_submit(ib, &info, NULL);
	f->afters = r ? f->afters : 0;
	f->ops->submitted(f);
	return r;
}

/* Each wait and each signal is a job of its own, in the flow's order, that does nothing. A wait is submitted only
 * when there is a fence to wait for: a job without one would be refused. */
static int execute_syncobj(struct flow *f, const struct flow_syncobj *s)
{
	int r = flow_close(f);

	if (r || atomic_load(s->dropped))
		return r;
	if (!s->signal && !cs_syncobj_available(s->sync, s->value))
		return -EAGAIN;
	r = submit_syncobj(f, s);
	if (r || s->signal || s->value)
		return r;
	/* The next signal is a new one, as in Vulkan. The wait went: the flow does not go on without it. */
	r = cs_syncobj_reset(s->sync);
	if (r)
		flow_fail(f, r);
	return r;
}

static int copy_one(struct flow *f, const struct flow_copy *c, unsigned i, struct sdma_job *job)
{
	*job = c->job[i];
	job->after = f->after;
	job->after_count = f->afters;
	return !i && c->rect.row_B ? sdma_copier_copy_rect(c->copier[0], &c->rect, job)
				   : sdma_copier_copy(c->copier[i], job);
}

/* The copier's job begins behind the flow's last one, and the flow's next one behind it. */
static int execute_copy(struct flow *f, const struct flow_copy *c)
{
	struct sdma_job job;
	int r = flow_close(f);

	flow_drop_reached(f);
	/* A job takes the waits when all places are used. */
	if (!r && f->afters == FLOW_AFTERS_MAX) {
		r = flow_open(f, true);
		r = r ? r : flow_close(f);
	}
	if (!r && f->queue && cs_ring_unfinished(f->queue->ring)) {
		f->waiter[f->afters] = 0;
		f->after[f->afters++] = cs_ring_last(f->queue->ring);
	}
	for (unsigned i = 0; !r && i < 2 && c->copier[i]; i++) {
		r = copy_one(f, c, i, &job);
		if (!r) {
			f->waiter[0] = 0;
			f->after[0] = job.fence;
			f->afters = job.fence.ring != NULL;
		}
	}
	f->ops->submitted(f);
	return r;
}

int flow_execute(struct flow *f, const struct flow_op *op, struct flow_deferred *d)
{
	int r = flow_ensure_queue(f);

	if (r)
		return r;
	switch ((enum flow_kind)op->kind) {
	case FLOW_DISPATCH:
		if (f->tapped)
			return d ? f->ops->tapped(f, d->number) : -EAGAIN;
		return flow_launch(f, &op->dispatch, op->completion);
	case FLOW_SEGMENT:
		return flow_segment_execute(f, op->segment);
	case FLOW_BARRIER:
		return execute_barrier(f, op);
	case FLOW_STAMP:
		return execute_stamp(f, op->stamp_va);
	case FLOW_WAIT:
		return execute_wait(f, op->wait.flow, op->wait.value);
	case FLOW_VALUE:
		return execute_value(f, &op->value);
	case FLOW_SYNCOBJ:
		return execute_syncobj(f, &op->syncobj);
	case FLOW_COPY:
		return execute_copy(f, &op->copy);
	case FLOW_CALL:
		return d ? execute_call(f, d) : -EAGAIN;
	}
	return -EINVAL;
}
