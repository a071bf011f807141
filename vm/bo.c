/* Buffer objects: creation, references, accounts. */
#include "drv/lock.h"
#include "vm/internal.h"

#include <errno.h>
#include <stdlib.h>

#define INFO_FLAGS (VM_CPU | VM_EXEC | VM_UNCACHED | VM_RESIDENT | VM_STRICT)

static uint64_t domain_flags(const struct vm *vm, const struct vm_info *info)
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
	/* Chips that cache VRAM for every type of mapping need the flag on the buffer itself. */
	if (info->flags & VM_UNCACHED)
		flags |= info->kind == VM_VRAM ? vm->dev->fine_vram.gem_flags : vm->dev->fine_system.gem_flags;
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
				.domain_flags = domain_flags(vm, info),
			},
	};
	int r = drv_ioctl(vm->dev, DRM_IOCTL_AMDGPU_GEM_CREATE, &args);

	if (!r)
		*handle = args.out.handle;
	return r;
}

void vm_gem_close(struct vm *vm, uint32_t handle)
{
	struct drm_gem_close args = {.handle = handle};

	/* GEM_CLOSE fails only when the device is gone, and the handle with it. */
	(void)!drv_ioctl(vm->dev, DRM_IOCTL_GEM_CLOSE, &args);
}

static unsigned account_of(const struct vm_bo *bo)
{
	return bo->origin == VM_CREATED ? bo->kind : VM_KINDS + bo->origin - 1;
}

static void account_add(struct vm *vm, const struct vm_bo *bo)
{
	unsigned a = account_of(bo);
	uint64_t now = atomic_fetch_add(&vm->bytes[a], bo->size_B) + bo->size_B;
	uint64_t peak = vm->peak[a];

	while (now > peak && !atomic_compare_exchange_weak(&vm->peak[a], &peak, now))
		;
	vm->bos++;
}

int vm_bo_wrap(struct vm *vm, const struct vm_bo *like, struct vm_bo **out)
{
	struct vm_bo *bo = malloc(sizeof(*bo));
	int r = 0;

	if (!bo)
		return drv_fail(-ENOMEM, "no host memory for a BO");
	*bo = *like;
	bo->vm = vm;
	bo->refs = 1;
	bo->list_index = VM_UNLISTED;
	if (!(bo->flags & VM_RESIDENT))
		r = vm_list_add(vm, bo);
	if (r) {
		free(bo);
		return r;
	}
	account_add(vm, bo);
	*out = bo;
	return 0;
}

/* For VM_STRICT: refuses a size that exceeds the kernel's own count of free VRAM. Without this check the kernel
 * would place it elsewhere without an error. */
static int check_room(struct vm *vm, const struct vm_info *info)
{
	const struct drv_facts *f = &vm->dev->facts;
	bool visible = info->flags & VM_CPU;
	uint64_t used_B, usable_B = visible ? f->visible_vram.usable_B : f->vram.usable_B;
	int r = drv_info(vm->dev, visible ? AMDGPU_INFO_VIS_VRAM_USAGE : AMDGPU_INFO_VRAM_USAGE, &used_B,
			 sizeof(used_B));

	if (r)
		return drv_fail(r, "AMDGPU_INFO VRAM_USAGE");
	if (used_B > usable_B || info->size_B > usable_B - used_B)
		return drv_fail(-ENOMEM, "no room for %llu bytes of VRAM: %llu of %llu are in use",
				(unsigned long long)info->size_B, (unsigned long long)used_B,
				(unsigned long long)usable_B);
	return 0;
}

static int gem_create_strict(struct vm *vm, const struct vm_info *info, uint64_t size_B, uint32_t *handle)
{
	int r;

	if (!(info->flags & VM_STRICT) || info->kind != VM_VRAM)
		return gem_create(vm, info, size_B, handle);
	drv_mutex_lock(&vm->strict_lock);
	r = check_room(vm, info);
	r = r ? r : gem_create(vm, info, size_B, handle);
	drv_mutex_unlock(&vm->strict_lock);
	return r;
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
	struct vm_bo like = {.kind = info->kind, .origin = VM_CREATED, .flags = info->flags & ~VM_STRICT};
	uint32_t list;
	int r;

	if (!info->size_B || info->size_B > vm->dev->facts.va_hi)
		return drv_fail(-EINVAL, "a buffer of %llu bytes", (unsigned long long)info->size_B);
	if (info->kind >= VM_KINDS || (info->flags & ~INFO_FLAGS))
		return drv_fail(-EINVAL, "a buffer of kind %u with flags 0x%x", info->kind, info->flags);
	like.size_B = vm_align(info->size_B, VM_PAGE_B);
	r = gem_create_strict(vm, info, like.size_B, &like.handle);
	/* The kernel's list keeps BOs alive that were freed since the last submission. */
	if (r == -ENOMEM && vm->list_stale && !vm_list(vm, &list))
		r = gem_create_strict(vm, info, like.size_B, &like.handle);
	if (r)
		return fail_create(vm, info, r);
	r = vm_bo_wrap(vm, &like, out);
	if (r)
		vm_gem_close(vm, like.handle);
	return r;
}

struct vm_bo *vm_bo_get(struct vm_bo *bo)
{
	bo->refs++;
	return bo;
}

/* Leaves the BO list first: another thread may pass the list to the kernel at any time. */
static void bo_close(struct vm_bo *bo)
{
	if (!(bo->flags & VM_RESIDENT))
		vm_list_remove(bo->vm, bo);
	vm_gem_close(bo->vm, bo->handle);
}

static void bo_free(struct vm_bo *bo)
{
	struct vm *vm = bo->vm;

	vm->bytes[account_of(bo)] -= bo->size_B;
	vm->bos--;
	free(bo);
}

void vm_bo_put(struct vm_bo *bo)
{
	uint32_t refs = bo ? bo->refs : 0;
	bool last, shared;
	struct vm *vm;

	if (!bo)
		return;
	vm = bo->vm;
	/* In a forked child: leaves the parent's objects alone, and locks that may stay taken for ever. */
	if (drv_check_process(vm->dev)) {
		if (!--bo->refs)
			free(bo);
		return;
	}
	while (refs > 1)
		if (atomic_compare_exchange_weak(&bo->refs, &refs, refs - 1))
			return;
	/* Importing a dma-buf finds a BO by its handle: the last reference, the handle and its place in the table
	 * go in one step. */
	drv_mutex_lock(&vm->share_lock);
	last = !--bo->refs;
	shared = last && vm_is_shared_locked(vm, bo);
	if (shared) {
		vm->shared[bo->handle] = NULL;
		bo_close(bo);
	}
	drv_mutex_unlock(&vm->share_lock);
	if (last && !shared)
		bo_close(bo);
	if (last)
		bo_free(bo);
}
