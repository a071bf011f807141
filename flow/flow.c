/* Flows: their operations, executed at once or deferred; their end; waits. */
#include <errno.h>
#include <stdlib.h>

#include "drv/lock.h"
#include "flow/internal.h"

/* A thread that gives an operation waits while so many are deferred. */
#define DEFERRED_MAX 1024

/* --- making and ending ------------------------------------------------------------------------ */

static _Atomic uint64_t next_id;

void flow_init(struct flow *f)
{
	struct flow_gpu *gpu = f->gpu;

	f->refs = 1;
	drv_lock_set_rank(&f->lock, DRV_RANK_FLOW);
	f->deferred_end = &f->deferred;
	if (!gpu) {
		f->id = atomic_fetch_add(&next_id, 1);
		return;
	}
	f->job_ns = flow_job_ns(gpu->dev);
	f->long_grid = flow_split_limit(f);
	drv_mutex_lock(&gpu->lock);
	f->id = atomic_fetch_add(&next_id, 1); /* the list is in falling order */
	LIST_INSERT_HEAD(&gpu->flows, f, in_gpu);
	drv_mutex_unlock(&gpu->lock);
}

static void delist(struct flow *f)
{
	if (!f->gpu)
		return;
	drv_mutex_lock(&f->gpu->lock);
	LIST_REMOVE(f, in_gpu);
	drv_mutex_unlock(&f->gpu->lock);
}

void flow_put(struct flow *f)
{
	if (atomic_fetch_sub(&f->refs, 1) == 1)
		f->ops->free(f);
}

/* Gives up references of the operation. drop: it was not executed. */
static void op_fini(struct flow *f, struct flow_op *op, bool drop)
{
	if (op->kind == FLOW_WAIT)
		flow_put(op->wait.flow);
	else if (op->kind == FLOW_CALL && drop)
		op->call.fn(f, op->call.user, true);
	if (op->end)
		op->end(op->user);
}

static void pop(struct flow *f, bool drop)
{
	struct flow_deferred *d = f->deferred;

	f->deferred = d->next;
	if (!f->deferred)
		f->deferred_end = &f->deferred;
	f->deferred_count--;
	/* A call that is under way ends by itself. */
	op_fini(f, &d->op, drop && !d->started);
	free(d);
}

void flow_wake(struct flow *f)
{
	atomic_fetch_add(&f->moved, 1);
	if (atomic_load(&f->waiters))
		drv_futex_wake(&f->moved);
}

void flow_wake_all(struct flow *f)
{
	drv_futex_wake(&f->state);
	flow_wake(f);
}

void flow_end(struct flow *f)
{
	flow_stop(f, FLOW_ENDED);
	drv_futex_wake(&f->state);
	flow_lock(f);
	(void)!flow_close(f);
	while (f->deferred)
		pop(f, true);
	flow_unlock(f);
	flow_wake(f);
}

bool flow_idle(const struct flow *f)
{
	const struct flow_queue *q = f->queue;

	for (unsigned i = 0; i < f->afters; i++)
		if (!cs_fence_is_retired(f->after[i]))
			return false;
	return !q || cs_fence_is_retired(cs_ring_last(q->ring));
}

void flow_fini(struct flow *f)
{
	struct flow_queue *q;

	delist(f);
	flow_lock(f);
	q = f->queue;
	f->queue = NULL;
	flow_unlock(f);
	flow_queue_put(q);
	flow_put(f);
}

static int defer(struct flow *f, const struct flow_op *op)
{
	struct flow_deferred *d = malloc(sizeof(*d));

	if (!d)
		return drv_fail(-ENOMEM, "no host memory for an operation that waits");
	*d = (struct flow_deferred){.op = *op};
	if (op->kind == FLOW_WAIT)
		flow_get(op->wait.flow);
	else if (op->kind == FLOW_DISPATCH && f->tapped)
		d->number = f->ops->tap(f, &op->dispatch, op->completion);
	*f->deferred_end = d;
	f->deferred_end = &d->next;
	f->deferred_count++;
	return 0;
}

int flow_advance(struct flow *f)
{
	bool moved = false;
	int r = 0;

	/* The first one is being executed: it waits for a flow that waits for this one. */
	if (f->advancing)
		return -EAGAIN;
	f->advancing = true;
	while (f->deferred && !r && atomic_load(&f->state) == FLOW_ACTIVE) {
		r = flow_execute(f, &f->deferred->op, f->deferred);
		if (r)
			break;
		flow_count(f);
		pop(f, false);
		moved = true;
		if (f->job_ops >= FLOW_OPS_MAX)
			r = flow_close(f);
	}
	f->advancing = false;
	if (moved) {
		int e = flow_retire(f);

		r = r && r != -EAGAIN && r != -EBUSY ? r : e ? e : r;
		flow_wake(f);
	}
	return r == -EBUSY ? -EAGAIN : r;
}

int flow_push(struct flow *f)
{
	int r = flow_advance(f), e = flow_close(f);

	if (r && r != -EAGAIN)
		flow_fail(f, r);
	return r && r != -EAGAIN ? r : e;
}

/* Too many wait for what may never come: so does the caller. */
static void wait_for_deferred(struct flow *f)
{
	const bool mine = flow_is_mine(f);
	struct cs_ring *lost;

	flow_hold(f);
	while (f->deferred_count >= DEFERRED_MAX && atomic_load(&f->state) == FLOW_ACTIVE)
		(void)!flow_wait(f, atomic_load_explicit(&f->executed, memory_order_relaxed) + 1, 1000000, &lost);
	if (!mine)
		flow_unhold(f);
}

static int submit_later(struct flow *f, const struct flow_op *op, bool *taken)
{
	int r;

	if (__builtin_expect(f->deferred_count >= DEFERRED_MAX, 0))
		wait_for_deferred(f);
	r = defer(f, op);
	*taken = !r;
	if (r)
		return r;
	flow_count_written(f);
	/* A job of a full ring has to end first. */
	r = flow_has_room(f) ? flow_advance(f) : -EAGAIN;
	if (r == -EAGAIN)
		flow_stall(f);
	return r == -EAGAIN ? 0 : r;
}

static void end_op(const struct flow_op *op)
{
	if (op->end)
		op->end(op->user);
}

/* The operation is in a job. */
static int count_executed(struct flow *f, const struct flow_op *op)
{
	end_op(op);
	flow_count(f);
	flow_count_written(f);
	return flow_retire(f);
}

int flow_submit(struct flow *f, const struct flow_op *op)
{
	bool taken = true;
	int r;

	if (atomic_load_explicit(&f->state, memory_order_relaxed) != FLOW_ACTIVE) {
		end_op(op);
		return drv_fail(-ECANCELED, "the flow has ended");
	}
	r = flow_ensure_queue(f);
	if (r) {
		end_op(op);
		return r;
	}
	r = f->deferred ? -EAGAIN : flow_execute(f, op, NULL);
	if (r == -EAGAIN || r == -EBUSY)
		r = submit_later(f, op, &taken);
	else if (r)
		taken = false;
	else
		r = count_executed(f, op);
	if (!taken)
		end_op(op);
	if (r && (taken || r == -ECANCELED || r == -ENODEV))
		flow_fail(f, r);
	return r;
}

static int dispatch_at_length(struct flow *f, const hsa_kernel_dispatch_packet_t *packet)
{
	return flow_submit(f, &(struct flow_op){.kind = FLOW_DISPATCH,
						.completion = packet->completion_signal.handle,
						.dispatch = *packet});
}

int flow_dispatch(struct flow *f, const hsa_kernel_dispatch_packet_t *packet)
{
	bool alone;

	if (__builtin_expect(f->deferred || f->tapped || packet->completion_signal.handle ||
				     atomic_load_explicit(&f->state, memory_order_relaxed) != FLOW_ACTIVE,
			     0))
		return dispatch_at_length(f, packet);
	alone = flow_launch_alone(f, packet);
	if (!alone && !flow_launch_again(f, packet, 0))
		return dispatch_at_length(f, packet);
	flow_count(f);
	flow_count_written(f);
	if (alone)
		return 0;
	return flow_retire(f);
}
