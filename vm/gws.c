/* Global wave sync (GWS): the hardware barrier between the waves of a whole grid. A job may use the GWS resources
 * of a BO of the domain GWS in its list.
 *
 * Each such job gets a list of its own. A permanent second list would have to follow the vm's list, at a cost for
 * all jobs, or would keep the memory of closed BOs alive. */
#include "drv/lock.h"
#include "vm/internal.h"

#include <errno.h>

/* The device libraries use a single resource, number 0 (__ockl_grid_sync); the rest is left for other processes. */
#define RESOURCES 1

static int create_locked(struct vm *vm)
{
	union drm_amdgpu_gem_create args = {
		.in =
			{
				.bo_size = RESOURCES,
				.domains = AMDGPU_GEM_DOMAIN_GWS,
				.domain_flags = AMDGPU_GEM_CREATE_EXPLICIT_SYNC,
			},
	};
	int r = drv_ioctl(vm->dev, DRM_IOCTL_AMDGPU_GEM_CREATE, &args);

	if (r)
		return drv_fail(r, "GEM_CREATE of global wave sync");
	vm->gws = args.out.handle;
	return 0;
}

int vm_gws_create(struct vm *vm)
{
	int r;

	if (!vm->dev->chip->gws)
		return drv_fail(-ENOTSUP, "%s has no global wave sync", vm->dev->chip->target);
	drv_mutex_lock(&vm->lock);
	r = vm->gws ? 0 : create_locked(vm);
	drv_mutex_unlock(&vm->lock);
	return r;
}

int vm_gws_list(struct vm *vm, uint32_t *handle)
{
	struct drm_amdgpu_bo_list_entry own, *entry;
	union drm_amdgpu_bo_list args;
	int r;

	drv_mutex_lock(&vm->lock);
	own = (struct drm_amdgpu_bo_list_entry){.bo_handle = vm->gws};
	entry = vm->entries ? vm->entry : &own;
	entry[vm->entries] = own;
	args.in = (struct drm_amdgpu_bo_list_in){
		.operation = AMDGPU_BO_LIST_OP_CREATE,
		.bo_number = vm->entries + 1,
		.bo_info_size = sizeof(*entry),
		.bo_info_ptr = (uintptr_t)entry,
	};
	r = drv_ioctl(vm->dev, DRM_IOCTL_AMDGPU_BO_LIST, &args);
	drv_mutex_unlock(&vm->lock);
	if (r)
		return drv_fail(r, "BO_LIST with global wave sync");
	*handle = args.out.list_handle;
	return 0;
}

void vm_gws_unlist(struct vm *vm, uint32_t handle)
{
	union drm_amdgpu_bo_list args = {.in = {.operation = AMDGPU_BO_LIST_OP_DESTROY, .list_handle = handle}};

	/* Destroying the list fails only when the device is gone, and the list with it. */
	(void)!drv_ioctl(vm->dev, DRM_IOCTL_AMDGPU_BO_LIST, &args);
}
