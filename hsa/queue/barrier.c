/* Barrier packets: they run nothing, wait for signals, and complete.
 *
 * A dependency whose signal becomes 0 at the end of a submitted job is passed to the flow as a fence: the flow's
 * next job waits for it on the GPU. Any other unmet dependency stops the queue, and the progress thread tries the
 * packet again. The end of a job is used only if rt_signal_dep() permits it (signal/signal.c, may_wait_for()):
 * nothing may follow the awaited packet in its job. A kernel that follows may itself wait, through the host, for
 * this queue, and both would hang. */
#include <errno.h>
#include <string.h>

#include "hsa/queue/queue.h"

/* The dependencies of a barrier packet. */
struct deps {
	unsigned open, fences, met, given;
	struct rt_signal *signal[RT_DEPS_MAX]; /* dependencies that neither are met nor have a fence */
	struct cs_fence fence[RT_DEPS_MAX];
};

static bool deps_gather(struct rt_queue *q, const hsa_signal_t *dep, struct deps *deps)
{
	const struct cs_ring *ring = q->base.flow.queue->ring;

	*deps = (struct deps){0};
	for (unsigned i = 0; i < RT_DEPS_MAX; i++) {
		struct rt_signal *signal;
		struct cs_fence fence;

		if (!dep[i].handle)
			continue;
		signal = rt_signal_of(q->base.rt, dep[i]);
		if (!signal)
			return false;
		deps->given++;
		switch (rt_signal_dep(q->base.rt, signal, ring, &fence)) {
		case RT_DEP_MET:
			deps->met++;
			break;
		case RT_DEP_FENCE:
			deps->fence[deps->fences++] = fence;
			break;
		case RT_DEP_OPEN:
			deps->signal[deps->open++] = signal;
			break;
		}
	}
	return true;
}

/* *header: gets the barrier bit if a fence is the ring's own, so that the packet waits for all before it. */
static int wait_for_fences(struct flow *f, const struct deps *deps, uint64_t completion, uint16_t *header)
{
	int r = 0;

	for (unsigned i = 0; !r && i < deps->fences; i++) {
		if (deps->fence[i].ring == f->queue->ring)
			*header |= 1u << HSA_PACKET_HEADER_BARRIER;
		r = flow_after(f, deps->fence[i], completion);
	}
	return r;
}

/* Executes a barrier packet whose dependencies are met or fences. Without a completion signal it needs no job: the
 * next job waits for all before it, and begins with an acquire. */
static enum rt_outcome pass_barrier(struct rt_queue *q, uint16_t header, hsa_signal_t completion,
				    const struct deps *deps)
{
	struct flow *f = &q->base.flow;
	int r;

	if (completion.handle && !rt_signal_of(q->base.rt, completion))
		return rt_packet_fail(q, HSA_STATUS_ERROR_INVALID_SIGNAL);
	r = wait_for_fences(f, deps, completion.handle, &header);
	if (!r && !f->ib && !completion.handle) {
		f->ordered |= flow_waits(header);
		return RT_TAKEN;
	}
	r = r ? r : flow_begin(f, header, completion.handle);
	if (r)
		return rt_packet_refused(q, r);
	flow_finish(f, header, completion.handle);
	return RT_TAKEN;
}

/* Ends a packet whose dependency failed, since the wait would never end. Its completion signal gets a negative
 * value, and the queue continues (HSA System Architecture, barrier-AND packet). */
static enum rt_outcome fail_barrier(struct rt_queue *q, hsa_signal_t completion)
{
	struct rt_signal *signal = completion.handle ? rt_signal_of(q->base.rt, completion) : NULL;

	if (completion.handle && !signal)
		return rt_packet_fail(q, HSA_STATUS_ERROR_INVALID_SIGNAL);
	if (signal)
		rt_signal_fail(q->base.rt, signal);
	return RT_TAKEN;
}

enum rt_outcome rt_barrier_and(struct rt_queue *q, const union rt_packet *p)
{
	struct deps deps;

	if (!deps_gather(q, p->barrier.dep_signal, &deps))
		return rt_packet_fail(q, HSA_STATUS_ERROR_INVALID_SIGNAL);
	for (unsigned i = 0; i < deps.open; i++)
		if (atomic_load(&deps.signal[i]->failed))
			return fail_barrier(q, p->barrier.completion_signal);
	if (deps.open) {
		rt_queue_watch(q, deps.signal, deps.open);
		return RT_STOPPED;
	}
	return pass_barrier(q, p->header, p->barrier.completion_signal, &deps);
}

enum rt_outcome rt_barrier_or(struct rt_queue *q, const union rt_packet *p)
{
	struct deps deps;

	if (!deps_gather(q, p->barrier.dep_signal, &deps))
		return rt_packet_fail(q, HSA_STATUS_ERROR_INVALID_SIGNAL);
	/* No submission can wait for the first of several jobs. */
	if (deps.given && !deps.met) {
		rt_queue_watch(q, deps.signal, deps.open);
		return RT_STOPPED;
	}
	deps.fences = 0;
	return pass_barrier(q, p->header, p->barrier.completion_signal, &deps);
}

enum rt_outcome rt_barrier_value(struct rt_queue *q, const union rt_packet *p)
{
	struct rt_signal *signal = rt_signal_of(q->base.rt, p->value.signal);
	struct deps none = {0};

	if (!signal)
		return rt_packet_fail(q, HSA_STATUS_ERROR_INVALID_SIGNAL);
	if (!rt_condition_met((hsa_signal_condition_t)p->value.cond,
			      rt_signal_load(q->base.rt, signal) & p->value.mask, p->value.value)) {
		rt_queue_watch(q, &signal, 1);
		return RT_STOPPED;
	}
	return pass_barrier(q, p->header, p->value.completion_signal, &none);
}
