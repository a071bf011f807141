/* Exports of one block as a dma-buf. A piece of a slab moves to a BO of its own at its address, in each vm that
 * maps the slab, and back when it is freed. An always valid chunk moves to a BO that is not always valid, and keeps
 * it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "drv/cancel.h"
#include "drv/lock.h"
#include "pool/internal.h"

static uint64_t block_room_B(const struct pool_block *block)
{
	const struct pool_chunk *chunk = block->chunk;

	return chunk->size_class == POOL_WHOLE ? pool_owner_mem(chunk)->size_B : pool_class_B(chunk->size_class);
}

/* Maps `bo`, a BO of this vm, from bo_offset_B on at the block's address. */
static int block_map(struct pool_block *block, unsigned vm, struct vm_bo *bo, uint64_t bo_offset_B)
{
	struct pool_chunk *chunk = block->chunk;
	unsigned access = vm_access_of(pool_owner_mem(chunk)->bo->flags);
	struct vm_range *range = &chunk->mem[vm]->range;

	/* Only the range of the pool's own vm is mapped for the CPU. */
	if (vm != chunk->pool->info.vm)
		access &= ~(unsigned)(VM_CPU_READ | VM_CPU_WRITE);
	return vm_range_rebind(range, block->va - range->va, bo, bo_offset_B, block_room_B(block), access);
}

int pool_map_moved(struct pool_block *block, unsigned vm)
{
	DRV_HOLD_CANCEL;
	struct pool_chunk *chunk = block->chunk;
	struct vm_bo *bo;
	int fd, r;

	if (vm == chunk->pool->info.vm)
		return block_map(block, vm, block->own, 0);
	r = vm_bo_export(block->own, &fd);
	if (r)
		return r;
	r = vm_bo_import(chunk->pool->space->vm[vm], fd, &bo);
	close(fd);
	if (r)
		return r;
	r = block_map(block, vm, bo, 0);
	vm_bo_put(bo); /* the binding has a reference */
	return r;
}

/* Maps the slab in the first `vms` vms. */
static bool block_map_slab(struct pool_block *block, unsigned vms)
{
	struct pool_chunk *chunk = block->chunk;
	bool whole = true;

	for (unsigned i = 0; i < vms; i++) {
		struct vm_mem *mem = chunk->mem[i];

		if (!mem || !block_map(block, i, mem->bo, block->va - mem->va))
			continue;
		/* The slab keeps the hole then. */
		(void)!vm_range_unbind(&mem->range, block->va - mem->va, block_room_B(block));
		whole = false;
	}
	return whole;
}

bool pool_restore(struct pool_block *block)
{
	bool whole = block_map_slab(block, block->chunk->pool->space->vms);

	vm_bo_put(block->own);
	block->own = NULL;
	return whole;
}

/* Copies the block to a BO, through an address range that the BO has during the copy only. */
static int bo_fill(const struct pool_block *block, struct vm_bo *bo, pool_copy_fn *copy, void *arg)
{
	struct vm_range_request want = {.size_B = bo->size_B};
	struct vm_range range;
	int r = vm_range_reserve(bo->vm, &want, &range);

	if (r)
		return r;
	r = vm_range_bind(&range, 0, bo, 0, bo->size_B, vm_access_of(bo->flags));
	if (!r && copy)
		r = copy(arg, range.va, block->va, bo->size_B);
	else if (!r)
		memcpy((void *)(uintptr_t)range.va, block->map, bo->size_B);
	vm_range_release(&range);
	return r;
}

static int block_move_out(struct pool_block *block, pool_copy_fn *copy, void *arg)
{
	struct pool_chunk *chunk = block->chunk;
	const struct vm_bo *from = pool_owner_mem(chunk)->bo;
	struct vm_info info = {
		.size_B = block_room_B(block), .kind = from->kind, .flags = from->flags & ~(unsigned)VM_RESIDENT};
	unsigned shown;
	int r = vm_bo_create(from->vm, &info, &block->own);

	if (r)
		return r;
	r = bo_fill(block, block->own, copy, arg);
	for (shown = 0; !r && shown < chunk->pool->space->vms; shown += !r)
		if (chunk->mem[shown])
			r = pool_map_moved(block, shown);
	if (!r)
		return 0;
	/* A part that still maps the slab keeps its mapping: the CPU mapping of an always valid BO could not be
	 * split and made again. */
	(void)!block_map_slab(block, shown);
	vm_bo_put(block->own);
	block->own = NULL;
	return r;
}

/* Makes the BO of a block that has moved, and has the chunk for itself, the chunk's BO. */
static void chunk_adopt_bo(struct pool_block *block)
{
	struct vm_mem *home = pool_owner_mem(block->chunk);

	vm_bo_put(home->bo);
	home->bo = block->own;
	block->own = NULL;
}

/* share_lock held. */
static bool export_moves(const struct pool_block *block)
{
	const struct pool_chunk *chunk = block->chunk;

	if (chunk->size_class == POOL_WHOLE)
		return pool_owner_mem(chunk)->bo->flags & VM_RESIDENT;
	return !block->own;
}

bool pool_export_moves(struct pool_block *block)
{
	struct pool_space *space = block->chunk->pool->space;
	bool yes;

	drv_mutex_lock(&space->share_lock);
	yes = export_moves(block);
	drv_mutex_unlock(&space->share_lock);
	return yes;
}

static int block_move(struct pool_block *block, pool_copy_fn *copy, void *arg)
{
	int r;

	if (!copy && !block->map)
		return drv_fail(-EINVAL, "the CPU does not reach this block: somebody must copy it");
	r = block_move_out(block, copy, arg);
	if (!r && block->chunk->size_class == POOL_WHOLE)
		chunk_adopt_bo(block);
	return r;
}

int pool_export_bo(struct pool_block *block, pool_copy_fn *copy, void *arg, struct vm_bo **bo)
{
	struct pool_chunk *chunk = block->chunk;
	struct pool_space *space = chunk->pool->space;
	int r = drv_check_process(vm_device(space->vm[0]));

	if (r)
		return r;
	if (chunk->pool->info.placement == POOL_HOST)
		return drv_fail(-EPERM, "registered host memory cannot be exported");
	drv_mutex_lock(&space->share_lock);
	if (export_moves(block))
		r = block_move(block, copy, arg);
	if (!r)
		*bo = vm_bo_get(block->own ? block->own : pool_owner_mem(chunk)->bo);
	drv_mutex_unlock(&space->share_lock);
	return r;
}

int pool_export(struct pool_block *block, pool_copy_fn *copy, void *arg, int *fd)
{
	struct vm_bo *bo;
	int r = pool_export_bo(block, copy, arg, &bo);

	if (r)
		return r;
	r = vm_bo_export(bo, fd);
	vm_bo_put(bo);
	return r;
}
