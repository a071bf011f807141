/* The chunk cache: empty chunks that stay mapped while jobs run.
 *
 * The kernel removes a mapping from the page tables when all jobs of the vm that were submitted before have ended,
 * and orders every mapping that is made after it behind the removal. So an unmapping while a job runs keeps new
 * memory from the job: a kernel that has memory freed and allocated would wait for its own end. An always valid
 * chunk stays mapped instead and serves the next request of its size, until no job runs or the cache is full. */
#include "pool/internal.h"

static uint64_t chunk_size_B(const struct pool_chunk *chunk)
{
	return chunk->node.hi - chunk->node.lo;
}

bool pool_chunk_cache_put(struct pool_chunk *chunk)
{
	struct pool_space *space = chunk->pool->space;
	bool fits = !chunk->lost && pool_owner_mem(chunk)->bo->flags & VM_RESIDENT;

	pthread_mutex_lock(&space->lock);
	fits = fits && space->cached_B + chunk_size_B(chunk) <= POOL_CACHED_MAX_B;
	if (fits) {
		chunk->next = space->cached;
		space->cached = chunk;
		space->cached_B += chunk_size_B(chunk);
		chunk->pool->stats.reserved_B += chunk_size_B(chunk);
	}
	pthread_mutex_unlock(&space->lock);
	return fits;
}

/* Removes a chunk from the list that `at` is in; space.lock held. */
static struct pool_chunk *cache_remove(struct pool_space *space, struct pool_chunk **at)
{
	struct pool_chunk *chunk = *at;

	*at = chunk->next;
	chunk->next = NULL;
	space->cached_B -= chunk_size_B(chunk);
	chunk->pool->stats.reserved_B -= chunk_size_B(chunk);
	return chunk;
}

struct pool_chunk *pool_chunk_cache_get(struct pool *pool, unsigned size_class, uint64_t size_B)
{
	struct pool_space *space = pool->space;
	struct pool_chunk **at;

	for (at = &space->cached; *at; at = &(*at)->next)
		if ((*at)->pool == pool && (*at)->size_class == size_class &&
		    (size_class != POOL_WHOLE || chunk_size_B(*at) == size_B))
			return cache_remove(space, at);
	return NULL;
}

void pool_chunk_cache_drop(struct pool_space *space, const struct pool *pool, uint32_t vms)
{
	struct pool_chunk *gone = NULL, *chunk, **at;

	pthread_mutex_lock(&space->lock);
	for (at = &space->cached; *at;) {
		if ((pool && (*at)->pool != pool) || !(vms & 1u << (*at)->pool->info.vm)) {
			at = &(*at)->next;
			continue;
		}
		chunk = cache_remove(space, at);
		chunk->next = gone;
		gone = chunk;
	}
	pthread_mutex_unlock(&space->lock);
	for (; gone; gone = chunk) {
		chunk = gone->next;
		pool_chunk_destroy(gone);
	}
}
