#include "vm/internal.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t domain_flags(const struct vm_info *info)
{
	uint64_t flags = AMDGPU_GEM_CREATE_EXPLICIT_SYNC;

	if (info->flags & VM_RESIDENT)
		flags |= AMDGPU_GEM_CREATE_VM_ALWAYS_VALID;
	if (info->kind == VM_GTT_WC)
		flags |= AMDGPU_GEM_CREATE_CPU_GTT_USWC;
	/* Kernels before DRM 3.59 hand out VRAM with other processes' data in it unless asked. */
	if (info->kind == VM_VRAM)
		flags |= AMDGPU_GEM_CREATE_VRAM_CLEARED;
	if (!(info->flags & VM_CPU))
		flags |= AMDGPU_GEM_CREATE_NO_CPU_ACCESS;
	else if (info->kind == VM_VRAM)
		flags |= AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED;
	return flags;
}

static int gem_create(struct vm *vm, const struct vm_info *info, uint64_t size_B, uint32_t *handle)
{
	union drm_amdgpu_gem_create args = {
		.in =
			{
				.bo_size = size_B,
				.alignment =
					size_B >= vm->dev->facts.fragment_B ? vm->dev->facts.fragment_B : VM_PAGE_B,
				.domains = info->kind == VM_VRAM ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT,
				.domain_flags = domain_flags(info),
			},
	};
	int r = drv_ioctl(vm->dev, DRM_IOCTL_AMDGPU_GEM_CREATE, &args);

	if (!r)
		*handle = args.out.handle;
	return r;
}

static void gem_close(struct vm *vm, uint32_t handle)
{
	struct drm_gem_close args = {.handle = handle};

	/* It can only fail when the device is gone, and the handle with it. */
	(void)!drv_ioctl(vm->dev, DRM_IOCTL_GEM_CLOSE, &args);
}

static void account(struct vm *vm, const struct vm_bo *bo)
{
	uint64_t now = atomic_fetch_add(&vm->bytes[bo->kind], bo->size_B) + bo->size_B;
	uint64_t peak = vm->peak[bo->kind];

	while (now > peak && !atomic_compare_exchange_weak(&vm->peak[bo->kind], &peak, now))
		;
	vm->bos++;
}

static int fail_create(struct vm *vm, const struct vm_info *info, int r)
{
	const struct drv_facts *f = &vm->dev->facts;
	uint64_t heap_B = info->kind == VM_VRAM ? f->vram.usable_B : f->gtt.usable_B;

	return drv_fail(r, "GEM_CREATE of %llu bytes of %s (%llu bytes of ours are in use, the heap has %llu)",
			(unsigned long long)info->size_B, info->kind == VM_VRAM ? "VRAM" : "GTT",
			(unsigned long long)vm->bytes[info->kind], (unsigned long long)heap_B);
}

int vm_bo_create(struct vm *vm, const struct vm_info *info, struct vm_bo **out)
{
	struct vm_bo *bo;
	uint32_t list;
	int r;

	if (!info->size_B || info->size_B > vm->dev->facts.va_hi)
		return drv_fail(-EINVAL, "a buffer of %llu bytes", (unsigned long long)info->size_B);
	bo = malloc(sizeof(*bo));
	if (!bo)
		return drv_fail(-ENOMEM, "no host memory for a BO");
	*bo = (struct vm_bo){.vm = vm,
			     .size_B = vm_align(info->size_B, VM_PAGE_B),
			     .kind = info->kind,
			     .flags = info->flags,
			     .list_index = VM_UNLISTED};

	r = gem_create(vm, info, bo->size_B, &bo->handle);
	/* BOs that were freed since the last submission live on in the kernel's list. */
	if (r == -ENOMEM && vm->list_stale && !vm_list(vm, &list))
		r = gem_create(vm, info, bo->size_B, &bo->handle);
	if (r) {
		r = fail_create(vm, info, r);
		goto fail_gem;
	}
	if (!(info->flags & VM_RESIDENT))
		r = vm_list_add(vm, bo);
	if (r)
		goto fail_list;
	account(vm, bo);
	*out = bo;
	return 0;

fail_list:
	gem_close(vm, bo->handle);
fail_gem:
	free(bo);
	return r;
}

void vm_bo_destroy(struct vm_bo *bo)
{
	struct vm *vm;

	if (!bo)
		return;
	vm = bo->vm;
	/* A child leaves the parent's objects, and locks that may be held for ever, alone. */
	if (drv_check_process(vm->dev)) {
		free(bo);
		return;
	}
	if (bo->list_index != VM_UNLISTED)
		vm_list_remove(vm, bo);
	gem_close(vm, bo->handle);
	vm->bytes[bo->kind] -= bo->size_B;
	vm->bos--;
	free(bo);
}
