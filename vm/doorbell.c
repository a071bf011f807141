/* Pages of doorbells: a store there starts a user queue. */
#include <sys/mman.h>

#include "vm/internal.h"

int vm_doorbell_create(struct vm *vm, struct vm_doorbell *doorbell)
{
	union drm_amdgpu_gem_create args = {
		.in = {.bo_size = VM_PAGE_B, .alignment = VM_PAGE_B, .domains = DRV_UAPI_DOMAIN_DOORBELL}};
	struct vm_bo bo = {.vm = vm, .size_B = VM_PAGE_B, .origin = VM_CREATED};
	void *map;
	int r = drv_ioctl(vm->dev, DRM_IOCTL_AMDGPU_GEM_CREATE, &args);

	if (r)
		return drv_fail(r, "GEM_CREATE of a page of doorbells");
	bo.handle = args.out.handle;
	r = vm_cpu_view(&bo, 0, VM_PAGE_B, VM_CPU_READ | VM_CPU_WRITE, &map);
	if (r) {
		vm_gem_close(vm, bo.handle);
		return r;
	}
	*doorbell = (struct vm_doorbell){vm, map, bo.handle};
	return 0;
}

void vm_doorbell_destroy(struct vm_doorbell *doorbell)
{
	if (!doorbell->vm)
		return;
	munmap((void *)doorbell->map, VM_PAGE_B);
	vm_gem_close(doorbell->vm, doorbell->handle);
	*doorbell = (struct vm_doorbell){0};
}
