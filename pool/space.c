/* Spaces and pools: creating them, allocating and finding blocks. */
#include <errno.h>
#include <stdlib.h>

#include "drv/lock.h"
#include "pool/internal.h"

/* Deferrals that an allocation checks. */
#define REAP_ALLOC 4

int pool_space_create(struct vm *const *vm, unsigned vms, struct pool_space **out)
{
	struct pool_space *space;

	if (!vms || vms > POOL_VMS_MAX)
		return drv_fail(-EINVAL, "a pool space of %u devices", vms);
	space = calloc(1, sizeof(*space));
	if (!space)
		return drv_fail(-ENOMEM, "no host memory for a pool space");
	for (unsigned i = 0; i < vms; i++)
		space->vm[i] = vm[i];
	space->vms = vms;
	space->last = &space->first;
	drv_mutex_init(&space->share_lock, DRV_RANK_POOL_SHARE);
	drv_mutex_init(&space->wait_lock, DRV_RANK_POOL_WAIT);
	drv_mutex_init(&space->lock, DRV_RANK_POOL);
	*out = space;
	return 0;
}

void pool_space_watch(struct pool_space *space, const struct pool_watch *watch)
{
	space->watch = *watch;
}

void pool_space_destroy(struct pool_space *space)
{
	if (!space)
		return;
	drv_mutex_destroy(&space->lock);
	drv_mutex_destroy(&space->wait_lock);
	drv_mutex_destroy(&space->share_lock);
	free(space);
}

/* --- pools ------------------------------------------------------------------------------------ */

static int check_info(const struct pool_space *space, const struct pool_info *info)
{
	uint64_t known = space->vms == 32 ? UINT32_MAX : (1u << space->vms) - 1;

	if (info->vm >= space->vms || info->seen_by & ~known || (unsigned)info->placement > POOL_HOST ||
	    info->flags & ~(unsigned)(VM_CPU | VM_EXEC | VM_UNCACHED | VM_STRICT))
		return drv_fail(-EINVAL, "a pool in place %u of device %u, flags 0x%x, seen by 0x%x",
				info->placement, info->vm, info->flags, info->seen_by);
	return 0;
}

int pool_create(struct pool_space *space, const struct pool_info *info, struct pool **out)
{
	int r = check_info(space, info);
	struct pool *pool;

	if (r)
		return r;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return drv_fail(-ENOMEM, "no host memory for a pool");
	pool->space = space;
	pool->info = *info;
	pool->info.seen_by |= 1u << info->vm;
	*out = pool;
	return 0;
}

/* Removes from the tree a chunk of the pool that has no block in use, or (all) any chunk. */
static struct pool_chunk *take_chunk(struct pool *pool, bool all)
{
	struct pool_space *space = pool->space;
	struct pool_chunk *chunk = NULL;
	struct vm_node *n = NULL;

	drv_mutex_lock(&space->lock);
	while (!chunk && (n = vm_tree_next(&space->chunks, n, 0, UINT64_MAX))) {
		chunk = vm_container(n, struct pool_chunk, node);
		if (chunk->pool != pool || (!all && chunk->used))
			chunk = NULL;
	}
	if (chunk)
		pool_chunk_remove(chunk);
	drv_mutex_unlock(&space->lock);
	return chunk;
}

static bool has_freed(struct pool *pool)
{
	bool freed;

	drv_mutex_lock(&pool->space->lock);
	freed = pool->stats.freed_B;
	drv_mutex_unlock(&pool->space->lock);
	return freed;
}

void pool_destroy(struct pool *pool)
{
	struct pool_chunk *chunk;

	if (!pool)
		return;
	while (has_freed(pool))
		(void)!pool_reap_all(pool->space, CS_FOREVER);
	pool_chunk_cache_end(pool);
	while ((chunk = take_chunk(pool, true))) {
		for (unsigned i = 0; i < chunk->blocks; i++)
			vm_bo_put(chunk->block[i].own);
		pool_chunk_destroy(chunk);
	}
	free(pool);
}

const struct pool_info *pool_info(const struct pool *pool)
{
	return &pool->info;
}

void pool_stats(struct pool *pool, struct pool_stats *stats)
{
	drv_mutex_lock(&pool->space->lock);
	*stats = pool->stats;
	drv_mutex_unlock(&pool->space->lock);
}

void pool_trim(struct pool *pool, uint64_t keep_B, int64_t wait_ns)
{
	struct pool_stats stats;
	struct pool_chunk *chunk;

	if (drv_check_process(vm_device(pool->space->vm[0])))
		return;
	while (pool_reap_all(pool->space, wait_ns))
		;
	pool_chunk_cache_drop(pool->space, UINT32_MAX);
	for (pool_stats(pool, &stats); stats.reserved_B > keep_B; pool_stats(pool, &stats)) {
		chunk = take_chunk(pool, false);
		if (!chunk)
			return;
		pool_chunk_release(chunk, UINT32_MAX);
	}
}

/* --- allocation ------------------------------------------------------------------------------- */

/* Frees memory after an allocation failed: first empty slabs of this pool, then freed blocks whose fences retire
 * within POOL_RECLAIM_NS. False: nothing was freed. */
static bool pool_reclaim(struct pool *pool, unsigned attempt)
{
	struct pool_stats before, after;

	if (attempt)
		return pool_reap_all(pool->space, POOL_RECLAIM_NS);
	pool_stats(pool, &before);
	pool_trim(pool, 0, 0);
	pool_stats(pool, &after);
	return after.reserved_B < before.reserved_B || pool_reap_all(pool->space, POOL_RECLAIM_NS);
}

static int alloc_from_new(struct pool *pool, unsigned size_class, uint64_t size_B, struct pool_block **block)
{
	struct pool_chunk *chunk;
	int r = 0;

	drv_mutex_lock(&pool->space->lock);
	chunk = pool_chunk_cache_get(pool, size_class, size_B);
	drv_mutex_unlock(&pool->space->lock);
	if (!chunk)
		r = pool_chunk_create(pool, size_class, size_B, &chunk);
	for (unsigned attempt = 0; r == -ENOMEM && attempt < 8 && pool_reclaim(pool, attempt); attempt++)
		r = pool_chunk_create(pool, size_class, size_B, &chunk);
	if (r)
		return r;
	drv_mutex_lock(&pool->space->lock);
	pool_chunk_insert(chunk);
	*block = pool_take(chunk, size_B);
	drv_mutex_unlock(&pool->space->lock);
	return 0;
}

static struct pool_block *alloc_from_slab(struct pool *pool, unsigned size_class, uint64_t size_B)
{
	struct pool_space *space = pool->space;
	struct pool_block *block = NULL;
	struct pool_gone gone = {0};

	drv_mutex_lock(&space->lock);
	pool_reap(space, REAP_ALLOC, &gone);
	if (size_class != POOL_WHOLE && LIST_FIRST(&pool->partial[size_class])) {
		block = pool_take(LIST_FIRST(&pool->partial[size_class]), size_B);
		pool->stats.hits++;
	}
	drv_mutex_unlock(&space->lock);
	if (__builtin_expect(gone.chunk || gone.moved, 0))
		pool_gone_finish(space, &gone, pool_idle(space));
	return block;
}

int pool_alloc(struct pool *pool, uint64_t size_B, struct pool_block **block)
{
	const struct drv_device *dev = vm_device(pool->space->vm[0]);
	unsigned size_class;
	int r = drv_check_process(dev);

	if (r)
		return r;
	if (!size_B || size_B > dev->facts.va_hi)
		return drv_fail(-EINVAL, "a block of %llu bytes", (unsigned long long)size_B);
	size_B = (size_B + POOL_PAGE_B - 1) & ~(uint64_t)(POOL_PAGE_B - 1);
	size_class = pool_class_of(size_B);
	*block = alloc_from_slab(pool, size_class, size_B);
	return *block ? 0 : alloc_from_new(pool, size_class, size_B, block);
}

/* --- finding ---------------------------------------------------------------------------------- */

/* The block, in use or not, that contains the address; space.lock held. */
static struct pool_block *space_block_at(struct pool_space *space, uint64_t address)
{
	struct vm_node *n = vm_tree_next(&space->chunks, NULL, address, address + 1);
	struct pool_chunk *chunk = n ? vm_container(n, struct pool_chunk, node) : NULL;
	uint64_t index = 0;

	if (!chunk)
		return NULL;
	if (chunk->size_class != POOL_WHOLE)
		index = (address - n->lo) / pool_class_B(chunk->size_class);
	return index < chunk->blocks ? &chunk->block[index] : NULL;
}

bool pool_find(struct pool_space *space, uint64_t address, struct pool_found *found)
{
	struct pool_block *block;
	bool ok = false;

	if (address == UINT64_MAX || drv_check_process(vm_device(space->vm[0])))
		return false;
	drv_mutex_lock(&space->lock);
	block = space_block_at(space, address);
	if (block && block->state == POOL_BLOCK_USED && address - block->va < block->size_B) {
		*found = (struct pool_found){
			.pool = block->chunk->pool,
			.block = block,
			.va = block->va,
			.size_B = block->size_B,
			.map = block->map,
			.seen_by = block->seen_by,
			.owner = block->owner,
		};
		ok = true;
	}
	drv_mutex_unlock(&space->lock);
	return ok;
}

int pool_claim(struct pool_space *space, uint64_t va, struct pool_block **out)
{
	struct pool_block *block;
	int r = drv_check_process(vm_device(space->vm[0]));

	if (r)
		return r;
	if (va == UINT64_MAX)
		return drv_fail(-ENOENT, "no block at the end of all addresses");
	drv_mutex_lock(&space->lock);
	block = space_block_at(space, va);
	if (block && (block->state != POOL_BLOCK_USED || block->va != va))
		block = NULL;
	if (block)
		block->state = POOL_BLOCK_CLAIMED;
	drv_mutex_unlock(&space->lock);
	if (!block)
		return drv_fail(-ENOENT, "no block begins at 0x%llx", (unsigned long long)va);
	*out = block;
	return 0;
}
