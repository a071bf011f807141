/* Deferred frees: objects that clients freed, or a copy borrowed, are freed when the work that may access them has
 * ended. (Blocks of pools are deferred in pool/.) The progress thread polls the fences, and so do callers that need
 * memory or addresses. */
#include "drv/lock.h"
#include "hsa/memory/memory.h"

#include <stdlib.h>
#include <string.h>

/* True when all work that may access the object has ended. First, rings must have submitted the jobs that they were
 * submitting when the object was unlisted: unmapping memory that such a job lists blocks all submissions until the job
 * ends (MMU notifiers), and the job may wait for one of them. */
static bool may_free_locked(struct rt_deferred_free *l)
{
	for (unsigned i = l->settled; i < l->fences; i++)
		if (cs_fence_settle(&l->fence[i])) {
			struct cs_fence settled = l->fence[i];

			l->fence[i] = l->fence[l->settled];
			l->fence[l->settled++] = settled;
		}
	if (l->settled < l->fences)
		return false;
	l->settled = l->fences = cs_fences_unretired(l->fence, l->fence, l->fences);
	return !l->fences;
}

/* Removes the deferred frees whose work has ended, and returns them as a list; free_lock held. */
static struct rt_deferred_free *reap_locked(struct rt_memory *memory)
{
	struct rt_deferred_free *gone = NULL, *l;

	for (struct rt_deferred_free **at = &memory->deferred; (l = *at);) {
		if (!may_free_locked(l)) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		l->next = gone;
		gone = l;
	}
	return gone;
}

static void free_all(struct rt_deferred_free *gone)
{
	while (gone) {
		struct rt_deferred_free *next = gone->next;

		free(gone->fence);
		gone->end(gone);
		gone = next;
	}
}

/* Stores the fences; without host memory, waits for them. free_lock held. */
static void set_fences_locked(struct rt_deferred_free *l, const struct cs_fence *fences, unsigned count)
{
	l->settled = l->fences = 0;
	l->fence = count ? malloc(count * sizeof(*fences)) : NULL;
	if (l->fence) {
		memcpy(l->fence, fences, count * sizeof(*fences));
		l->fences = count;
		return;
	}
	for (unsigned i = 0; i < count; i++)
		cs_fence_retire(fences[i]);
}

void rt_defer_free(struct rt *rt, uint32_t gpus, struct rt_deferred_free *deferred)
{
	struct cs_fence fences[RT_FENCES_MAX];
	struct rt_memory *memory = rt->memory;
	struct rt_deferred_free *gone;
	bool left;

	/* Open jobs are submitted first, so that their rings settle soon. */
	if (rt->queues)
		rt_queues_flush(rt);
	drv_mutex_lock(&memory->free_lock);
	atomic_thread_fence(memory_order_seq_cst); /* see cs_fence_settle() */
	set_fences_locked(deferred, fences, rt_memory_fences(rt, gpus, fences));
	deferred->next = memory->deferred;
	memory->deferred = deferred;
	gone = reap_locked(memory);
	left = memory->deferred;
	drv_mutex_unlock(&memory->free_lock);
	free_all(gone);
	if (left)
		rt_progress_add(rt, &memory->reaper);
}

void rt_deferred_free_reap(struct rt *rt)
{
	struct rt_deferred_free *gone;

	drv_mutex_lock(&rt->memory->free_lock);
	gone = reap_locked(rt->memory);
	drv_mutex_unlock(&rt->memory->free_lock);
	free_all(gone);
}

static bool deferred_free_attempt(struct rt *rt, struct rt_work *work)
{
	bool left;

	(void)work;
	rt_deferred_free_reap(rt);
	drv_mutex_lock(&rt->memory->free_lock);
	left = rt->memory->deferred;
	drv_mutex_unlock(&rt->memory->free_lock);
	return !left;
}

void rt_deferred_free_init(struct rt *rt)
{
	rt->memory->reaper.attempt = deferred_free_attempt;
}

void rt_deferred_free_forget_ring_locked(struct rt *rt, const struct cs_ring *ring)
{
	for (struct rt_deferred_free *l = rt->memory->deferred; l; l = l->next) {
		unsigned kept = 0, settled = 0;

		for (unsigned i = 0; i < l->fences; i++)
			if (l->fence[i].ring != ring) {
				settled += i < l->settled;
				l->fence[kept++] = l->fence[i];
			}
		l->fences = kept;
		l->settled = settled;
	}
}

void rt_deferred_free_fini(struct rt *rt)
{
	struct rt_deferred_free *gone = rt->memory->deferred;

	rt->memory->deferred = NULL;
	free_all(gone);
}
