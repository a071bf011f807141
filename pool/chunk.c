/* Chunks: kernel memory at one address for all vms that map it. */
#include <errno.h>
#include <stdlib.h>

#include "drv/lock.h"
#include "pool/internal.h"
#include "vm/bits.h"
#include "vm/host.h"

static bool pool_is_alone(const struct pool *pool)
{
	const struct pool_space *space = pool->space;
	unsigned vm = pool->info.vm;

	if (space->vms == 1)
		return true;
	return pool->info.placement == POOL_VRAM && pool->info.seen_by == 1u << vm && space->watch.alone &&
	       space->watch.alone(space->watch.user, vm);
}

#define RESIDENT_PART  8
#define RESIDENT_MIN_B (64ull << 20)

uint64_t pool_resident_max_B(const struct vm *vm)
{
	uint64_t part_B = vm_device(vm)->facts.vram.total_B / RESIDENT_PART & ~(uint64_t)(POOL_PAGE_B - 1);

	return part_B > RESIDENT_MIN_B ? part_B : RESIDENT_MIN_B;
}

/* Memory that may be mapped by another vm later must not be always valid. */
static unsigned residency_flags(const struct pool *pool, uint64_t size_B)
{
	return size_B <= pool_resident_max_B(pool->space->vm[pool->info.vm]) && pool_is_alone(pool) ? VM_RESIDENT
												    : 0;
}

static int owner_mem_create(const struct pool *pool, uint64_t size_B, struct vm_mem **mem)
{
	const struct pool_info *info = &pool->info;
	struct vm_info how = {.size_B = size_B,
			      .kind = info->placement == POOL_VRAM ? VM_VRAM : VM_GTT,
			      .flags = info->flags | residency_flags(pool, size_B)};

	if (info->placement == POOL_HOST)
		return vm_mem_create_on_node(pool->space->vm[info->vm], size_B, info->node, info->flags, mem);
	return vm_mem_create(pool->space->vm[info->vm], &how, mem);
}

int pool_chunk_map(struct pool_chunk *chunk, unsigned i)
{
	const struct vm_mem *home = pool_owner_mem(chunk);
	struct vm *vm = chunk->pool->space->vm[i];
	int r;

	r = vm_mem_share(vm, home, &chunk->mem[i]);
	for (unsigned b = 0; !r && b < chunk->blocks; b++)
		if (chunk->block[b].own)
			r = pool_map_moved(&chunk->block[b], i);
	if (r) {
		vm_mem_destroy(chunk->mem[i]);
		chunk->mem[i] = NULL;
	}
	return r;
}

static bool vm_is_busy(const struct pool_space *space, unsigned vm)
{
	return space->watch.busy && space->watch.busy(space->watch.user, vm);
}

uint32_t pool_idle(const struct pool_space *space)
{
	uint32_t idle = 0;

	for (unsigned i = 0; i < space->vms; i++)
		idle |= vm_is_busy(space, i) ? 0 : 1u << i;
	return idle;
}

/* A new chunk is returned only when running jobs can access it: the client may pass its address to one of them. */
static void chunk_wait_pt_sync(const struct pool_chunk *chunk)
{
	const struct pool_space *space = chunk->pool->space;
	unsigned vm = chunk->pool->info.vm;

	if (pool_owner_mem(chunk)->bo->flags & VM_RESIDENT && vm_is_busy(space, vm))
		space->watch.pt_sync(space->watch.user, vm);
}

static void chunk_cut(struct pool_chunk *chunk, uint64_t piece_B)
{
	const struct vm_mem *home = pool_owner_mem(chunk);

	chunk->node.lo = home->va;
	chunk->node.hi = home->va + home->size_B;
	for (unsigned i = 0; i < chunk->blocks; i++) {
		struct pool_block *block = &chunk->block[i];

		block->chunk = chunk;
		block->va = home->va + i * piece_B;
		block->map = home->map ? (char *)home->map + i * piece_B : NULL;
	}
	vm_bits_init(chunk->free_bits, chunk->blocks);
}

int pool_chunk_create(struct pool *pool, unsigned size_class, uint64_t size_B, struct pool_chunk **out)
{
	bool whole = size_class == POOL_WHOLE;
	uint64_t piece_B = whole ? size_B : pool_class_B(size_class);
	unsigned blocks = whole ? 1 : POOL_SLAB_B / piece_B;
	struct pool_chunk *chunk = calloc(1, sizeof(*chunk) + blocks * sizeof(chunk->block[0]));
	int r;

	if (!chunk)
		return drv_fail(-ENOMEM, "no host memory for a chunk");
	chunk->pool = pool;
	chunk->size_class = size_class;
	chunk->blocks = blocks;
	r = owner_mem_create(pool, whole ? size_B : POOL_SLAB_B, &chunk->mem[pool->info.vm]);
	if (r) {
		free(chunk);
		return r;
	}
	for (unsigned i = 0; !r && i < pool->space->vms; i++)
		if (pool->info.seen_by & 1u << i && i != pool->info.vm)
			r = pool_chunk_map(chunk, i);
	if (r) {
		pool_chunk_destroy(chunk);
		return r;
	}
	chunk_wait_pt_sync(chunk);
	chunk_cut(chunk, piece_B);
	*out = chunk;
	return 0;
}

void pool_chunk_destroy(struct pool_chunk *chunk)
{
	unsigned home = chunk->pool->info.vm;

	for (unsigned i = 0; i < POOL_VMS_MAX; i++)
		if (i != home)
			vm_mem_destroy(chunk->mem[i]);
	vm_mem_destroy(chunk->mem[home]);
	free(chunk);
}

/* Vms whose jobs list the chunk. */
static uint32_t chunk_vms(const struct pool_chunk *chunk)
{
	uint32_t vms = 0;

	for (unsigned i = 0; i < POOL_VMS_MAX; i++)
		vms |= chunk->mem[i] ? 1u << i : 0;
	return vms;
}

/* Each job lists all host memory of its vm: those that were submitted after the last block was freed, too. Unmapping waits for them,
 * and all submissions for the unmapping (MMU notifiers): a job that waits for the program would never end. So the memory leaves the
 * lists first, when no job runs; a job that was being submitted meanwhile is seen to run. */
static bool host_chunk_try_destroy(struct pool_chunk *chunk)
{
	const struct pool_space *space = chunk->pool->space;
	uint32_t vms = chunk_vms(chunk);

	if (vms & ~pool_idle(space))
		return false;
	for (unsigned i = 0; i < POOL_VMS_MAX && !chunk->unlisted; i++)
		if (chunk->mem[i])
			vm_mem_unlist(chunk->mem[i]);
	chunk->unlisted = true;
	if (vms & ~pool_idle(space))
		return false;
	pool_chunk_destroy(chunk);
	return true;
}

static bool chunk_try_destroy(struct pool_chunk *chunk, uint32_t idle)
{
	if (chunk->pool->info.placement == POOL_HOST)
		return host_chunk_try_destroy(chunk);
	if (!(idle & 1u << chunk->pool->info.vm))
		return false;
	pool_chunk_destroy(chunk);
	return true;
}

void pool_chunk_release(struct pool_chunk *chunk, uint32_t idle)
{
	if (!chunk_try_destroy(chunk, idle) && !pool_chunk_cache_put(chunk))
		pool_chunk_destroy(chunk);
}

void pool_gone_finish(struct pool_space *space, struct pool_gone *gone, uint32_t idle)
{
	struct pool_block *block;
	struct pool_chunk *chunk;

	while ((block = gone->moved)) {
		bool whole;

		gone->moved = block->next;
		drv_mutex_lock(&space->share_lock);
		whole = pool_restore(block);
		drv_mutex_unlock(&space->share_lock);
		drv_mutex_lock(&space->lock);
		block->state = whole ? POOL_BLOCK_FREED : POOL_BLOCK_LOST;
		pool_put(block, gone);
		drv_mutex_unlock(&space->lock);
	}
	while ((chunk = gone->chunk)) {
		gone->chunk = chunk->next;
		pool_chunk_release(chunk, idle);
	}
}
