/* What was freed waits here for the jobs that may touch it. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "pool/internal.h"

/* Deferrals that one free looks at. */
#define REAP_FREE 8
/* How long a wait for the first one sleeps at a time: others may be retired before it. */
#define SLICE_NS 10000000ll
/* Where a fence can only be asked after: its context is lost, and the kernel has not ended the job yet. */
#define LOST_US 1000

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Nobody can touch the block any more. space.lock held. */
static void give_back(struct pool_block *block, struct pool_gone *gone)
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

static void append(struct pool_space *space, struct pool_deferral *d)
{
	d->next = NULL;
	*space->last = d;
	space->last = &d->next;
}

static struct pool_deferral *take_first(struct pool_space *space)
{
	struct pool_deferral *d = space->first;

	if (!d)
		return NULL;
	space->first = d->next;
	if (!space->first)
		space->last = &space->first;
	return d;
}

/* What is not retired goes to the end, so that a long job does not hide what was freed behind it. */
void pool_reap(struct pool_space *space, unsigned most, struct pool_gone *gone)
{
	struct pool_deferral *d, *stop = NULL;

	for (unsigned i = 0; i < most && space->first != stop && (d = take_first(space)); i++) {
		d->count = cs_fences_unretired(d->fence, d->fence, d->count);
		if (d->count) {
			append(space, d);
			stop = stop ? stop : d;
			continue;
		}
		give_back(d->block, gone);
		free(d);
	}
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* Waits for one fence that a freed block waits for. False: there is none. */
static bool wait_slice(struct pool_space *space)
{
	struct cs_fence fence = {0};
	bool pending;

	pthread_mutex_lock(&space->wait_lock);
	pthread_mutex_lock(&space->lock);
	pending = space->first;
	if (pending)
		fence = space->first->fence[0];
	pthread_mutex_unlock(&space->lock);
	if (pending && cs_fence_wait(fence, SLICE_NS) && !cs_fence_is_retired(fence))
		usleep(LOST_US);
	pthread_mutex_unlock(&space->wait_lock);
	return pending;
}

bool pool_reap_all(struct pool_space *space, int64_t wait_ns)
{
	int64_t start_ns = now_ns();
	struct pool_gone gone;
	bool any;

	do {
		gone = (struct pool_gone){0};
		pthread_mutex_lock(&space->lock);
		any = space->first;
		pool_reap(space, UINT32_MAX, &gone);
		any = any && (gone.chunk || gone.moved || !space->first);
		pthread_mutex_unlock(&space->lock);
		pool_gone_finish(space, &gone, UINT32_MAX); /* memory is short, or to be given back */
	} while (!any && now_ns() - start_ns < wait_ns && wait_slice(space));
	return any;
}

void pool_space_forget_ring(struct pool_space *space, struct cs_ring *ring)
{
	cs_fence_retire(cs_ring_last(ring));
	pthread_mutex_lock(&space->lock);
	for (struct pool_deferral *d = space->first; d; d = d->next) {
		unsigned kept = 0;

		for (unsigned i = 0; i < d->count; i++)
			if (d->fence[i].ring != ring)
				d->fence[kept++] = d->fence[i];
		/* A deferral keeps a fence: one that is reached, when there is none left. */
		if (!kept)
			d->fence[kept++] = (struct cs_fence){0};
		d->count = kept;
	}
	pthread_mutex_unlock(&space->lock);
	/* Who took a fence of it before may still wait for it. */
	pthread_mutex_lock(&space->wait_lock);
	pthread_mutex_unlock(&space->wait_lock);
}

/* --- freeing ---------------------------------------------------------------------------------- */

/* NULL: there is nothing to wait for. */
static struct pool_deferral *defer(struct pool_block *block, const struct cs_fence *fences, unsigned count)
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
	bool rested;

	if (drv_check_process(vm_device(space->vm[0])))
		return;
	d = defer(block, fences, count);
	pthread_mutex_lock(&space->lock);
	block->state = POOL_BLOCK_FREED;
	pool->stats.blocks--;
	pool->stats.used_B -= block->size_B;
	pool->stats.freed_B += block->size_B;
	pool_reap(space, REAP_FREE, &gone);
	if (d)
		append(space, d);
	else
		give_back(block, &gone);
	rested = space->cached;
	pthread_mutex_unlock(&space->lock);
	if (!gone.chunk && !gone.moved && (!rested || d))
		return;
	idle = d ? 0 : pool_idle(space);
	pool_gone_finish(space, &gone, idle);
	if (rested && idle)
		pool_chunk_cache_drop(space, NULL, idle);
}
