/* The page tables' updates, for user queues. A job of the kernel's rings begins behind the updates of the mappings
 * that were made before it (Linux amdgpu_vm_handle_moved(), amdgpu_cs_submit()); a user queue is not the kernel's
 * to hold back. So each mapping signals a point of a timeline syncobj when the page tables have it (GEM_VA, Linux
 * 6.16), and what is submitted to a user queue waits for the last point first. */
#include "drv/lock.h"
#include "vm/internal.h"

int vm_updates_init(struct vm *vm)
{
	struct drm_syncobj_create args = {0};
	int r;

	if (!drv_uses_user_queues(vm->dev))
		return 0;
	r = drv_ioctl(vm->dev, DRM_IOCTL_SYNCOBJ_CREATE, &args);
	if (r)
		return drv_fail(r, "SYNCOBJ_CREATE for the page tables' updates");
	vm->updates = args.handle;
	return 0;
}

void vm_updates_fini(struct vm *vm)
{
	struct drm_syncobj_destroy args = {.handle = vm->updates};

	/* Destroying fails only when the device is gone, and the object with it. */
	if (vm->updates)
		(void)!drv_ioctl(vm->dev, DRM_IOCTL_SYNCOBJ_DESTROY, &args);
}

/* Points of a timeline have to rise in the order in which they are added. */
int vm_update_map(struct vm *vm, struct drv_uapi_gem_va *args)
{
	int r;

	if (!vm->updates)
		return drv_ioctl(vm->dev, DRV_UAPI_IOCTL_GEM_VA, args);
	drv_mutex_lock(&vm->update_lock);
	args->vm_timeline_syncobj_out = vm->updates;
	args->vm_timeline_point = vm->update_last + 1;
	r = drv_ioctl(vm->dev, DRV_UAPI_IOCTL_GEM_VA, args);
	if (!r)
		atomic_store_explicit(&vm->update_last, args->vm_timeline_point, memory_order_release);
	drv_mutex_unlock(&vm->update_lock);
	return r;
}

bool vm_updates_pending(const struct vm *vm)
{
	return atomic_load_explicit(&vm->update_last, memory_order_acquire) !=
	       atomic_load_explicit(&vm->update_done, memory_order_relaxed);
}

int vm_updates_wait(struct vm *vm)
{
	uint64_t last = atomic_load_explicit(&vm->update_last, memory_order_acquire),
		 done = atomic_load_explicit(&vm->update_done, memory_order_relaxed);
	struct drm_syncobj_timeline_wait args = {
		.handles = (uintptr_t)&vm->updates,
		.points = (uintptr_t)&last,
		.timeout_nsec = INT64_MAX,
		.count_handles = 1,
	};
	int r;

	if (last == done)
		return 0;
	r = drv_ioctl_insist(vm->dev, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args);
	if (r)
		return drv_fail(r, "SYNCOBJ_TIMELINE_WAIT for the page tables");
	while (done < last && !atomic_compare_exchange_weak(&vm->update_done, &done, last))
		;
	return 0;
}
