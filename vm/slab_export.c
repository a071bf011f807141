/* Exporting a piece: it moves to a BO of its own, at the address that it has, and back when it is freed. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "vm/internal.h"

/* Copies the piece to a BO, through addresses that the BO has for that time only. */
static int fill(struct vm_piece *piece, struct vm_bo *bo, vm_copy_fn *copy, void *arg)
{
	struct vm_want want = {.size_B = bo->size_B};
	struct vm_range range;
	int r = vm_range_reserve(bo->vm, &want, &range);

	if (r)
		return r;
	r = vm_range_bind(&range, 0, bo, 0, bo->size_B, vm_access_of(bo->flags));
	if (!r && copy)
		r = copy(arg, range.va, piece->va, bo->size_B);
	else if (!r)
		memcpy((void *)(uintptr_t)range.va, piece->map, bo->size_B);
	vm_range_release(&range);
	return r;
}

static int show(struct vm_piece *piece, struct vm_bo *bo, uint64_t bo_offset_B)
{
	struct vm_range *range = &piece->mem->range;

	return vm_range_rebind(range, piece->va - range->va, bo, bo_offset_B, piece->size_B,
			       vm_access_of(bo->flags));
}

static int move_out(struct vm_piece *piece, vm_copy_fn *copy, void *arg, int *fd)
{
	const struct vm_bo *slab_bo = piece->mem->bo;
	struct vm_info info = {.size_B = piece->size_B, .kind = slab_bo->kind, .flags = slab_bo->flags};
	struct vm_bo *bo;
	int r = vm_bo_create(slab_bo->vm, &info, &bo);

	if (r)
		return r;
	r = fill(piece, bo, copy, arg);
	if (r)
		goto fail_fill;
	r = vm_bo_export(bo, fd);
	if (r)
		goto fail_fill;
	r = show(piece, bo, 0);
	if (r)
		goto fail_show;
	piece->own = bo;
	return 0;

fail_show:
	close(*fd);
	/* It may show nothing now. This fails too only if the process is out of mappings twice. */
	(void)!show(piece, piece->mem->bo, piece->va - piece->mem->va);
fail_fill:
	vm_bo_put(bo);
	return r;
}

int vm_piece_export(struct vm_piece *piece, vm_copy_fn *copy, void *arg, int *fd)
{
	if (!piece->mem)
		return drv_fail(-EINVAL, "exporting an empty piece");
	if (!piece->slab)
		return vm_bo_export(piece->mem->bo, fd);
	if (piece->own)
		return vm_bo_export(piece->own, fd);
	if (piece->mem->bo->flags & VM_RESIDENT)
		return drv_fail(-EPERM, "memory that is always resident cannot be exported");
	if (!copy && !piece->map)
		return drv_fail(-EINVAL, "the CPU does not reach this piece: somebody must copy it");
	return move_out(piece, copy, arg, fd);
}

int vm_piece_restore(struct vm_piece *piece)
{
	int r = show(piece, piece->mem->bo, piece->va - piece->mem->va);

	/* The slab keeps the hole then. */
	if (r)
		(void)!vm_range_unbind(&piece->mem->range, piece->va - piece->mem->va, piece->size_B);
	vm_bo_put(piece->own);
	piece->own = NULL;
	return r;
}
