/* Access to blocks for vms besides those of the pool. */
#include "pool/internal.h"

static bool all_retired(const struct cs_fence *fences, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!cs_fence_is_retired(fences[i]))
			return false;
	return true;
}

/* share_lock held. */
static void chunk_unmap_vms(struct pool_chunk *chunk, uint32_t vms)
{
	for (; vms; vms &= vms - 1) {
		struct vm_mem **mem = &chunk->mem[__builtin_ctz(vms)];

		vm_mem_destroy(*mem);
		*mem = NULL;
	}
}

/* Maps the chunk on those of the vms that do not have it yet; share_lock held. */
static int chunk_map_vms(struct pool_chunk *chunk, uint32_t vms)
{
	uint32_t mapped = 0;

	for (; vms; vms &= vms - 1) {
		unsigned i = __builtin_ctz(vms);
		int r;

		if (chunk->mem[i])
			continue;
		r = pool_chunk_map(chunk, i);
		if (r) {
			chunk_unmap_vms(chunk, mapped);
			return r;
		}
		mapped |= 1u << i;
	}
	return 0;
}

/* Sets the block's vms and counts the chunk's. Returns the vms that no block of the chunk needs any more. */
static uint32_t account_access(struct pool_block *block, uint32_t vms)
{
	struct pool_chunk *chunk = block->chunk;
	uint32_t unneeded = 0, changed;

	pthread_mutex_lock(&chunk->pool->space->lock);
	for (changed = block->seen_by ^ vms; changed; changed &= changed - 1) {
		unsigned i = __builtin_ctz(changed);

		if (vms & 1u << i)
			chunk->needed[i]++;
		else if (!--chunk->needed[i])
			unneeded |= 1u << i;
	}
	block->seen_by = vms;
	pthread_mutex_unlock(&chunk->pool->space->lock);
	return unneeded;
}

int pool_allow(struct pool_block *block, uint32_t vms, const struct cs_fence *fences, unsigned count)
{
	struct pool_chunk *chunk = block->chunk;
	struct pool_space *space = chunk->pool->space;
	uint32_t unneeded;
	int r = drv_check_process(vm_device(space->vm[0]));

	if (r)
		return r;
	vms |= chunk->pool->info.seen_by;
	pthread_mutex_lock(&space->share_lock);
	r = chunk_map_vms(chunk, vms);
	if (!r) {
		unneeded = account_access(block, vms);
		if (unneeded && all_retired(fences, count))
			chunk_unmap_vms(chunk, unneeded);
	}
	pthread_mutex_unlock(&space->share_lock);
	return r;
}
