/* The common part of a GPU's flows: their list, the ends of their work, and the submission of what they have
 * collected. */
#include "drv/lock.h"
#include "flow/internal.h"

void flow_gpu_init(struct flow_gpu *gpu)
{
	drv_mutex_init(&gpu->lock, DRV_RANK_FLOW_GPU);
}

void flow_gpu_fini(struct flow_gpu *gpu, void (*forget)(void *user, struct cs_ring *ring), void *user)
{
	while (gpu->queues) {
		struct flow_queue *q = gpu->all[--gpu->queues];

		if (forget)
			forget(user, q->ring);
		flow_queue_destroy(q);
	}
	drv_mutex_destroy(&gpu->lock);
}

/* --- all of them ------------------------------------------------------------------------------ */

bool flow_gpu_busy(struct flow_gpu *gpu)
{
	bool busy = false;

	drv_mutex_lock(&gpu->lock);
	for (unsigned i = 0; !busy && i < gpu->queues; i++)
		busy = cs_ring_unfinished(gpu->all[i]->ring) && !cs_ctx_lost(gpu->all[i]->ctx);
	drv_mutex_unlock(&gpu->lock);
	return busy;
}

unsigned flow_gpu_fences(struct flow_gpu *gpu, struct cs_fence *fences, unsigned max)
{
	unsigned count = 0;

	drv_mutex_lock(&gpu->lock);
	for (unsigned i = 0; i < gpu->queues && count < max; i++)
		if (cs_ring_busy(gpu->all[i]->ring))
			fences[count++] = cs_ring_last(gpu->all[i]->ring);
	drv_mutex_unlock(&gpu->lock);
	return count;
}

/* Queries the kernel, unless nothing has ended since the last query. The GPU's lock is held. */
static bool is_lost_now(struct flow_queue *q)
{
	uint64_t seq = cs_ring_last(q->ring).seq;

	if (q->queried == seq)
		return false;
	q->queried = cs_ring_unfinished(q->ring) ? 0 : seq;
	if (!cs_ctx_check_reset(q->ctx))
		return false;
	/* Without an answer it is queried again. */
	q->queried = cs_ctx_lost(q->ctx) ? seq : 0;
	return q->queried;
}

struct cs_ring *flow_gpu_lost(struct flow_gpu *gpu)
{
	struct cs_ring *lost = NULL;

	drv_mutex_lock(&gpu->lock);
	for (unsigned i = 0; !lost && i < gpu->queues; i++)
		if (is_lost_now(gpu->all[i]))
			lost = gpu->all[i]->ring;
	drv_mutex_unlock(&gpu->lock);
	return lost;
}

void flow_gpu_each(struct flow_gpu *gpu, void (*fn)(struct flow *flow, void *arg), void *arg)
{
	struct flow *f;

	drv_mutex_lock(&gpu->lock);
	LIST_FOREACH(f, &gpu->flows, in_gpu)
		fn(f, arg);
	drv_mutex_unlock(&gpu->lock);
}

uint64_t flow_gpu_steps(struct flow_gpu *gpu)
{
	const struct flow *f;
	uint64_t steps = 0;

	drv_mutex_lock(&gpu->lock);
	LIST_FOREACH(f, &gpu->flows, in_gpu)
		steps += atomic_load_explicit(&f->executed, memory_order_relaxed);
	drv_mutex_unlock(&gpu->lock);
	return steps;
}

/* --- what was collected ------------------------------------------------------------------------ */

_Thread_local char flow_thread;

/* Whether the calling thread holds the lock of one. */
static bool holds_any(struct flow_gpu *gpu)
{
	const struct flow *f;
	bool any = false;

	drv_mutex_lock(&gpu->lock);
	LIST_FOREACH(f, &gpu->flows, in_gpu)
		any |= flow_is_mine(f);
	drv_mutex_unlock(&gpu->lock);
	return any;
}

/* The youngest flow that collects among those older than `last` (NULL: of all), with a reference; last's is put.
 * The list is in falling order. */
static struct flow *next_collecting(struct flow_gpu *gpu, struct flow *last)
{
	struct flow *f;

	drv_mutex_lock(&gpu->lock);
	for (f = LIST_FIRST(&gpu->flows); f && ((last && f->id >= last->id) || !atomic_load(&f->collecting));
	     f = LIST_NEXT(f, in_gpu))
		continue;
	if (f)
		flow_get(f);
	drv_mutex_unlock(&gpu->lock);
	if (last)
		flow_put(last);
	return f;
}

/* A thread that sleeps with a flow's lock has closed its job before: the loop is as short as the lock is held. */
static void flush(struct flow *f, bool wait)
{
	struct drv_pause pause = {0};

	if (flow_is_mine(f)) {
		(void)!flow_close(f); /* an error fails the flow */
		return;
	}
	while (atomic_load(&f->collecting)) {
		if (drv_lock_try(&f->lock)) {
			(void)!flow_close(f); /* an error fails the flow */
			flow_release(f);
		} else if (wait) {
			drv_pause(&pause);
		} else {
			return;
		}
	}
}

void flow_gpu_flush(struct flow_gpu *gpu)
{
	struct flow *f = NULL;
	bool holds;

	if (__builtin_expect(!atomic_load_explicit(&gpu->collecting, memory_order_acquire), 1))
		return;
	holds = holds_any(gpu);
	while ((f = next_collecting(gpu, f)))
		flush(f, !holds);
}
