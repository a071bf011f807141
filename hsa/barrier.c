/* Packets that run nothing: they wait, for signals, for other queues, for values in memory, and complete. What the
 * hardware waits for by itself is put behind points of its rings; for all else the queue stops, and the progress
 * thread looks again. */
#include <errno.h>
#include <string.h>

#include "hsa/batch.h"

/* What a barrier packet waits for. */
struct deps {
	unsigned open, points, met, given;
	struct rt_signal *signal[RT_DEPS_MAX]; /* the open ones */
	struct cs_point point[RT_DEPS_MAX];
};

static bool gather(struct rt_batch *b, const hsa_signal_t *dep, struct deps *deps)
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

/* A packet that does nothing but complete. Points of other rings become dependencies of a job of its own. */
static enum rt_outcome pass_barrier(struct rt_batch *b, uint16_t header, hsa_signal_t completion, struct deps *deps)
{
	struct rt_queue *q = b->queue;
	struct rt_signal *signal = completion.handle ? rt_signal_of(q->rt, completion) : NULL;
	int r = 0;

	if (completion.handle && !signal)
		return rt_batch_fail(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	for (unsigned i = 0; !r && i < deps->points; i++)
		if (deps->point[i].ring != q->channel->ring)
			r = rt_batch_after(b, deps->point[i], signal);
	if (!r && !b->ib)
		r = rt_batch_open(b, true);
	if (r)
		return rt_batch_not_submitted(b, r);
	/* Points of this ring are behind it in time already; their end is what a barrier waits for. */
	if (b->packets && deps->points)
		cs_ib_fence(b->ib, true, CS_SCOPE_NONE);
	rt_batch_begin(b, header);
	rt_batch_clock(b, completion);
	rt_batch_end(b, header, signal, completion);
	return RT_TAKEN;
}

/* What should have made a dependency 0 was lost: the wait would never end. The packet ends with an error, a
 * negative value of its completion signal, and the queue goes on (HSA System Architecture, barrier-AND packet). Our
 * HIP library looks at no such signal: its queue ends, and the stream's results are not believed. */
static enum rt_outcome fail_barrier(struct rt_batch *b, hsa_signal_t completion)
{
	struct rt_signal *signal = completion.handle ? rt_signal_of(b->queue->rt, completion) : NULL;

	if (b->queue->behind_door)
		return rt_batch_fail(b, HSA_STATUS_ERROR_EXCEPTION);
	if (completion.handle && !signal)
		return rt_batch_fail(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	if (signal)
		rt_signal_fail(b->queue->rt, signal);
	return RT_TAKEN;
}

enum rt_outcome rt_barrier_and(struct rt_batch *b, const union rt_packet *p)
{
	struct deps deps;

	if (!gather(b, p->barrier.dep_signal, &deps))
		return rt_batch_fail(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	for (unsigned i = 0; i < deps.open; i++)
		if (atomic_load(&deps.signal[i]->failed))
			return fail_barrier(b, p->barrier.completion_signal);
	if (deps.open) {
		rt_queue_watch(b->queue, deps.signal, deps.open);
		return RT_STOPPED;
	}
	return pass_barrier(b, p->header, p->barrier.completion_signal, &deps);
}

enum rt_outcome rt_barrier_or(struct rt_batch *b, const union rt_packet *p)
{
	struct deps deps;

	if (!gather(b, p->barrier.dep_signal, &deps))
		return rt_batch_fail(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	/* Which of several ends first, no submission can say. */
	if (deps.given && !deps.met) {
		rt_queue_watch(b->queue, deps.signal, deps.open);
		return RT_STOPPED;
	}
	deps.points = 0;
	return pass_barrier(b, p->header, p->barrier.completion_signal, &deps);
}

enum rt_outcome rt_barrier_value(struct rt_batch *b, const union rt_packet *p)
{
	struct rt_signal *signal = rt_signal_of(b->queue->rt, p->value.signal);
	struct deps none = {0};

	if (!signal)
		return rt_batch_fail(b, HSA_STATUS_ERROR_INVALID_SIGNAL);
	if (!rt_condition_met((hsa_signal_condition_t)p->value.cond,
			      rt_signal_load(b->queue->rt, signal) & p->value.mask, p->value.value)) {
		rt_queue_watch(b->queue, &signal, 1);
		return RT_STOPPED;
	}
	return pass_barrier(b, p->header, p->value.completion_signal, &none);
}

/* A packet of our HIP library: behind those of another queue. */
enum rt_outcome rt_after(struct rt_batch *b, const struct rt_after_packet *p)
{
	struct rt_queue *other = rt_queue_hold(b->queue->rt, p->queue);
	struct cs_point point;
	bool never, ours;
	int r = 0;

	if (!other)
		return RT_TAKEN;
	ours = other->gpu == b->queue->gpu;
	never = atomic_load(&other->state) != RT_QUEUE_ACTIVE;
	if (other != b->queue && rt_queue_completed(other) < p->index) {
		r = rt_queue_point(other, p->index, &point) ? 0 : -EAGAIN;
		/* It may have ended meanwhile. */
		if (r && rt_queue_completed(other) >= p->index)
			r = 0;
		else if (!r)
			r = rt_batch_after(b, point, NULL);
	}
	atomic_fetch_sub(&other->held, 1);
	/* What will never end is not waited for: its GPU has failed, which may be another one. */
	if (r == -EAGAIN && never)
		return ours ? rt_batch_fail(b, HSA_STATUS_ERROR_EXCEPTION) : RT_TAKEN;
	return r == -EAGAIN ? RT_STOPPED : r ? rt_batch_not_submitted(b, r) : RT_TAKEN;
}

/* And one that waits for a value in memory, which is looked at when all before it has ended: GPUs change memory
 * without telling, and so the progress thread looks as often as it does at all. */
enum rt_outcome rt_until(struct rt_batch *b, const struct rt_until_packet *p)
{
	int r = b->ib || rt_queue_completed(b->queue) < b->index ? 0 : rt_until_met(b->queue->rt, p);

	if (r < 0)
		return rt_batch_fail(b, HSA_STATUS_ERROR_INVALID_ALLOCATION);
	return r ? RT_TAKEN : RT_STOPPED;
}
