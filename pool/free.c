/* Deferred frees: a freed block waits here for the jobs that may access it. */
#include <stdlib.h>

#include "drv/clock.h"
#include "drv/lock.h"
#include "pool/internal.h"

/* Deferrals that one free checks. */
#define REAP_FREE 8
/* Time slice of a wait for the first deferral: others may be retired before it. */
#define SLICE_NS 10000000ll
/* Poll interval of a fence that cannot be waited for: its context is lost, and the kernel has not ended the job
 * yet. */
#define LOST_NS 1000000

/* Gives back a block that no job can access. space.lock held. */
static void block_give_back(struct pool_block *block, struct pool_gone *gone)
{
	struct pool_chunk *chunk = block->chunk;

	chunk->pool->stats.freed_B -= block->size_B;
	for (uint32_t rest = block->seen_by & ~chunk->pool->info.seen_by; rest; rest &= rest - 1)
		chunk->needed[__builtin_ctz(rest)]--;
	if (!block->own) {
		pool_put(block, gone);
		return;
	}
	block->next = gone->moved;
	gone->moved = block;
}

/* --- deferrals; space.lock held --------------------------------------------------------------- */

static void deferral_append(struct pool_space *space, struct pool_deferral *d)
{
	d->next = NULL;
	*space->last = d;
	space->last = &d->next;
}

static struct pool_deferral *deferral_take_first(struct pool_space *space)
{
	struct pool_deferral *d = space->first;

	if (!d)
		return NULL;
	space->first = d->next;
	if (!space->first)
		space->last = &space->first;
	return d;
}

/* Deferrals that are not retired go to the end, so that a long job does not hide blocks that were freed after
 * it. */
void pool_reap(struct pool_space *space, unsigned most, struct pool_gone *gone)
{
	struct pool_deferral *d, *stop = NULL;

	for (unsigned i = 0; i < most && space->first != stop && (d = deferral_take_first(space)); i++) {
		d->count = cs_fences_unretired(d->fence, d->fence, d->count);
		if (d->count) {
			deferral_append(space, d);
			stop = stop ? stop : d;
			continue;
		}
		block_give_back(d->block, gone);
		free(d);
	}
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* Waits for one fence of the first deferral. False: nothing is deferred. */
static bool deferral_wait_slice(struct pool_space *space)
{
	struct cs_fence fence = {0};
	bool pending;

	drv_mutex_lock(&space->wait_lock);
	drv_mutex_lock(&space->lock);
	pending = space->first;
	if (pending)
		fence = space->first->fence[0];
	drv_mutex_unlock(&space->lock);
	if (pending && cs_fence_wait(fence, SLICE_NS) && !cs_fence_is_retired(fence))
		drv_nap(LOST_NS);
	drv_mutex_unlock(&space->wait_lock);
	return pending;
}

bool pool_reap_all(struct pool_space *space, int64_t wait_ns)
{
	int64_t start_ns = (int64_t)drv_now_ns();
	struct pool_gone gone;
	bool any;

	do {
		gone = (struct pool_gone){0};
		drv_mutex_lock(&space->lock);
		any = space->first;
		pool_reap(space, UINT32_MAX, &gone);
		any = any && (gone.chunk || gone.moved || !space->first);
		drv_mutex_unlock(&space->lock);
		pool_gone_finish(space, &gone,
				 UINT32_MAX); /* every vm counts as idle, so that the chunks go back to the kernel:
						 memory is short, or is to be released */
	} while (!any && (int64_t)drv_now_ns() - start_ns < wait_ns && deferral_wait_slice(space));
	return any;
}

void pool_space_forget_ring(struct pool_space *space, struct cs_ring *ring)
{
	cs_fence_retire(cs_ring_last(ring));
	drv_mutex_lock(&space->lock);
	for (struct pool_deferral *d = space->first; d; d = d->next) {
		unsigned kept = 0;

		for (unsigned i = 0; i < d->count; i++)
			if (d->fence[i].ring != ring)
				d->fence[kept++] = d->fence[i];
		/* A deferral has at least one fence: when none is left, a retired one. */
		if (!kept)
			d->fence[kept++] = (struct cs_fence){0};
		d->count = kept;
	}
	drv_mutex_unlock(&space->lock);
	/* A thread that took one of the ring's fences before may still wait for it. */
	drv_mutex_lock(&space->wait_lock);
	drv_mutex_unlock(&space->wait_lock);
}

/* --- freeing ---------------------------------------------------------------------------------- */

/* Creates a deferral. NULL: the fences are retired, by a wait if host memory is short. */
static struct pool_deferral *deferral_create(struct pool_block *block, const struct cs_fence *fences,
					     unsigned count)
{
	struct pool_deferral *d;

	while (count && cs_fence_is_retired(fences[count - 1]))
		count--;
	if (!count)
		return NULL;
	d = malloc(sizeof(*d) + count * sizeof(d->fence[0]));
	if (!d) {
		for (unsigned i = 0; i < count; i++)
			cs_fence_retire(fences[i]);
		return NULL;
	}
	d->block = block;
	d->count = cs_fences_unretired(d->fence, fences, count);
	if (d->count)
		return d;
	free(d);
	return NULL;
}

void pool_free(struct pool_block *block, const struct cs_fence *fences, unsigned count)
{
	struct pool *pool = block->chunk->pool;
	struct pool_space *space = pool->space;
	struct pool_gone gone = {0};
	struct pool_deferral *d;
	uint32_t idle;
	bool any_cached;

	if (drv_check_process(vm_device(space->vm[0])))
		return;
	d = deferral_create(block, fences, count);
	drv_mutex_lock(&space->lock);
	block->state = POOL_BLOCK_FREED;
	pool->stats.blocks--;
	pool->stats.used_B -= block->size_B;
	pool->stats.freed_B += block->size_B;
	pool_reap(space, REAP_FREE, &gone);
	if (d)
		deferral_append(space, d);
	else
		block_give_back(block, &gone);
	any_cached = space->cached;
	drv_mutex_unlock(&space->lock);
	if (!gone.chunk && !gone.moved && (!any_cached || d))
		return;
	idle = d ? 0 : pool_idle(space);
	pool_gone_finish(space, &gone, idle);
	if (any_cached && idle)
		pool_chunk_cache_drop(space, idle);
}
