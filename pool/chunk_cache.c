/* The chunk cache: empty chunks that stay mapped while jobs run.
 *
 * The kernel removes a mapping from the page tables when all jobs of the vm that were submitted before have ended,
 * and orders every mapping that is made after it behind the removal. So an unmapping while a job runs keeps new
 * memory from the job: a kernel that has memory freed and allocated would wait for its own end. An always valid
 * chunk stays mapped instead and serves the next request of its size, until no job runs or the cache is full. Host memory, which
 * jobs list, stays for another reason (host_chunk_try_destroy()), however much it is. */
#include "drv/lock.h"
#include "pool/internal.h"

static uint64_t chunk_size_B(const struct pool_chunk *chunk)
{
	return chunk->node.hi - chunk->node.lo;
}

static bool is_host(const struct pool_chunk *chunk)
{
	return chunk->pool->info.placement == POOL_HOST;
}

bool pool_chunk_cache_put(struct pool_chunk *chunk)
{
	struct pool_space *space = chunk->pool->space;
	bool fits = is_host(chunk) || (!chunk->lost && pool_owner_mem(chunk)->bo->flags & VM_RESIDENT);
	uint64_t limited_B = is_host(chunk) ? 0 : chunk_size_B(chunk);

	drv_mutex_lock(&space->lock);
	fits = fits && space->cached_B + limited_B <= POOL_CACHED_MAX_B;
	if (fits) {
		chunk->next = space->cached;
		space->cached = chunk;
		space->cached_B += limited_B;
		chunk->pool->stats.reserved_B += chunk_size_B(chunk);
	}
	drv_mutex_unlock(&space->lock);
	return fits;
}

/* Removes a chunk from the list that `at` is in; space.lock held. */
static struct pool_chunk *cache_remove(struct pool_space *space, struct pool_chunk **at)
{
	struct pool_chunk *chunk = *at;

	*at = chunk->next;
	chunk->next = NULL;
	space->cached_B -= is_host(chunk) ? 0 : chunk_size_B(chunk);
	chunk->pool->stats.reserved_B -= chunk_size_B(chunk);
	return chunk;
}

struct pool_chunk *pool_chunk_cache_get(struct pool *pool, unsigned size_class, uint64_t size_B)
{
	struct pool_space *space = pool->space;
	struct pool_chunk **at;

	for (at = &space->cached; *at; at = &(*at)->next)
		if ((*at)->pool == pool && !(*at)->unlisted && (*at)->size_class == size_class &&
		    (size_class != POOL_WHOLE || chunk_size_B(*at) == size_B))
			return cache_remove(space, at);
	return NULL;
}

/* Takes chunks out of the cache: of the pool, or (NULL) of these vms and of host memory. A list by next. */
static struct pool_chunk *cache_take(struct pool_space *space, const struct pool *pool, uint32_t vms)
{
	struct pool_chunk *gone = NULL, *chunk, **at;

	drv_mutex_lock(&space->lock);
	for (at = &space->cached; (chunk = *at);) {
		if (pool ? chunk->pool != pool : !is_host(chunk) && !(vms & 1u << chunk->pool->info.vm)) {
			at = &chunk->next;
			continue;
		}
		cache_remove(space, at);
		chunk->next = gone;
		gone = chunk;
	}
	drv_mutex_unlock(&space->lock);
	return gone;
}

void pool_chunk_cache_drop(struct pool_space *space, uint32_t vms)
{
	struct pool_chunk *gone = cache_take(space, NULL, vms), *chunk;

	while ((chunk = gone)) {
		gone = chunk->next;
		pool_chunk_release(chunk, vms);
	}
}

void pool_chunk_cache_end(struct pool *pool)
{
	struct pool_chunk *gone = cache_take(pool->space, pool, 0), *chunk;

	while ((chunk = gone)) {
		gone = chunk->next;
		pool_chunk_destroy(chunk);
	}
}
