#include "vm/internal.h"

#include <errno.h>
#include <stdlib.h>

/* Addresses aligned like the fragments that the TLB can merge: 2 MiB on every kernel, and what slabs promise. */
static uint64_t range_align(uint64_t size_B)
{
	return size_B >= VM_SLAB_B ? VM_SLAB_B : VM_PAGE_B;
}

int vm_mem_create(struct vm *vm, const struct vm_info *info, struct vm_mem **out)
{
	struct vm_mem *mem = calloc(1, sizeof(*mem));
	int r;

	if (!mem)
		return drv_fail(-ENOMEM, "no host memory for a vm_mem");
	r = vm_bo_create(vm, info, &mem->bo);
	if (r)
		goto fail_bo;
	r = vm_range_reserve(vm, mem->bo->size_B, range_align(mem->bo->size_B), &mem->range);
	if (r)
		goto fail_range;
	if (info->flags & VM_CPU) {
		r = vm_range_map(&mem->range, 0, mem->bo);
		if (r)
			goto fail_map;
		mem->map = (void *)(uintptr_t)mem->range.va;
	}
	r = vm_range_bind(&mem->range, 0, mem->bo, 0, mem->bo->size_B);
	if (r)
		goto fail_map;
	mem->va = mem->range.va;
	*out = mem;
	return 0;

fail_map:
	vm_range_release(&mem->range);
fail_range:
	vm_bo_destroy(mem->bo);
fail_bo:
	free(mem);
	return r;
}

void vm_mem_destroy(struct vm_mem *mem)
{
	if (!mem)
		return;
	vm_range_unbind(&mem->range, 0, mem->bo);
	vm_range_release(&mem->range);
	vm_bo_destroy(mem->bo);
	free(mem);
}
