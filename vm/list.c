/* The BO list of a vm: the BOs that each submission names, so that the kernel keeps them resident. */
#include "drv/lock.h"
#include "vm/internal.h"

#include <errno.h>
#include <stdlib.h>

static int list_ioctl(struct vm *vm, uint32_t operation)
{
	union drm_amdgpu_bo_list args = {
		.in =
			{
				.operation = operation,
				.list_handle = vm->list_handle,
				.bo_number = vm->entries,
				.bo_info_size = sizeof(*vm->entry),
				.bo_info_ptr = (uintptr_t)vm->entry,
			},
	};
	int r = drv_ioctl(vm->dev, DRM_IOCTL_AMDGPU_BO_LIST, &args);

	if (!r && operation == AMDGPU_BO_LIST_OP_CREATE)
		vm->list_handle = args.out.list_handle;
	return r;
}

#define LIST_MAX 131072 /* Linux AMDGPU_BO_LIST_MAX_ENTRIES; beyond it BO_LIST is -EINVAL */

static int list_grow(struct vm *vm)
{
	uint32_t max = vm->entries_max ? vm->entries_max * 2 : 64;
	void *entry = realloc(vm->entry, max * sizeof(*vm->entry));
	void *listed;

	if (entry)
		vm->entry = entry;
	listed = realloc(vm->listed, max * sizeof(*vm->listed));
	if (listed)
		vm->listed = listed;
	if (!entry || !listed)
		return drv_fail(-ENOMEM, "no host memory for %u BO list entries", max);
	vm->entries_max = max;
	return 0;
}

int vm_list_add(struct vm *vm, struct vm_bo *bo)
{
	int r = 0;

	drv_mutex_lock(&vm->lock);
	/* Keep an entry free for vm_gws_list(). */
	if (vm->entries + 1 >= LIST_MAX)
		r = drv_fail(-ENOMEM, "%u BOs that submissions list, as many as the kernel takes", vm->entries);
	else if (vm->entries + 1 >= vm->entries_max)
		r = list_grow(vm);
	if (!r) {
		bo->list_index = vm->entries++;
		vm->entry[bo->list_index] = (struct drm_amdgpu_bo_list_entry){.bo_handle = bo->handle};
		vm->listed[bo->list_index] = bo;
		atomic_store_explicit(&vm->list_stale, true, memory_order_release);
	}
	drv_mutex_unlock(&vm->lock);
	return r;
}

void vm_list_remove(struct vm *vm, struct vm_bo *bo)
{
	drv_mutex_lock(&vm->lock);
	if (bo->list_index == VM_UNLISTED) {
		drv_mutex_unlock(&vm->lock);
		return;
	}
	vm->entries--;
	vm->entry[bo->list_index] = vm->entry[vm->entries];
	vm->listed[bo->list_index] = vm->listed[vm->entries];
	vm->listed[bo->list_index]->list_index = bo->list_index;
	bo->list_index = VM_UNLISTED;
	atomic_store_explicit(&vm->list_stale, true, memory_order_release);
	drv_mutex_unlock(&vm->lock);
}

/* Updates the kernel's list, unless another thread has done so meanwhile. */
__attribute__((cold, noinline)) static int list_update(struct vm *vm)
{
	bool create;
	int r = 0;

	drv_mutex_lock(&vm->lock);
	create = !vm->list_handle;
	if (vm->list_stale && (!create || vm->entries))
		r = list_ioctl(vm, create ? AMDGPU_BO_LIST_OP_CREATE : AMDGPU_BO_LIST_OP_UPDATE);
	if (r) {
		r = drv_fail(r, "BO_LIST with %u BOs", vm->entries);
	} else if (vm->list_stale) {
		vm->list_updates++;
		atomic_store_explicit(&vm->list_stale, false, memory_order_release);
	}
	drv_mutex_unlock(&vm->lock);
	return r;
}

int vm_list(struct vm *vm, uint32_t *handle)
{
	/* The load can miss only a BO that another thread adds at the same time: no work that uses the BO is
	 * submitted before that thread has passed it on. */
	int r = __builtin_expect(atomic_load_explicit(&vm->list_stale, memory_order_acquire), 0) ? list_update(vm)
												 : 0;

	*handle = vm->list_handle;
	return r;
}

void vm_list_fini(struct vm *vm)
{
	/* A handle that cannot be destroyed ends with the file description. */
	if (vm->list_handle)
		(void)!list_ioctl(vm, AMDGPU_BO_LIST_OP_DESTROY);
	free(vm->entry);
	free(vm->listed);
}
