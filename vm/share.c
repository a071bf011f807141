/* Memory between devices and processes: dma-bufs.
 *
 * The kernel gives one handle per dma-buf and file description, without a count, and one GEM_CLOSE ends it. So a
 * table has all BOs that were exported or imported, by handle, and an import of the same memory finds its BO
 * there. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "drv/lock.h"
#include "vm/internal.h"

bool vm_is_shared_locked(const struct vm *vm, const struct vm_bo *bo)
{
	return bo->handle < vm->shared_max && vm->shared[bo->handle];
}

bool vm_bo_is_shared(struct vm_bo *bo)
{
	bool shared;

	drv_mutex_lock(&bo->vm->share_lock);
	shared = vm_is_shared_locked(bo->vm, bo);
	drv_mutex_unlock(&bo->vm->share_lock);
	return shared;
}

bool vm_shares(struct vm *vm)
{
	bool shares = false;

	drv_mutex_lock(&vm->share_lock);
	for (uint32_t i = 0; !shares && i < vm->shared_max; i++)
		shares = vm->shared[i];
	drv_mutex_unlock(&vm->share_lock);
	return shares;
}

/* A plain array suffices: the kernel gives the lowest free handle, so handles are small. */
static int table_reserve(struct vm *vm, uint32_t handle)
{
	uint32_t max = vm->shared_max ? vm->shared_max : 64;
	struct vm_bo **table;

	if (handle < vm->shared_max)
		return 0;
	while (max <= handle && max < 1u << 31)
		max *= 2;
	table = realloc(vm->shared, max * sizeof(*table));
	if (!table)
		return drv_fail(-ENOMEM, "no host memory for a table of %u handles", max);
	for (uint32_t i = vm->shared_max; i < max; i++)
		table[i] = NULL;
	vm->shared = table;
	vm->shared_max = max;
	return 0;
}

static int handle_to_fd(struct vm *vm, uint32_t handle, int *fd)
{
	struct drm_prime_handle args = {.handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR};
	int r = drv_ioctl(vm->dev, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args);

	if (!r)
		*fd = args.fd;
	return r;
}

int vm_bo_export(struct vm_bo *bo, int *fd)
{
	struct vm *vm = bo->vm;
	int r = drv_check_process(vm->dev);

	if (r)
		return r;
	if (bo->flags & VM_RESIDENT)
		return drv_fail(-EPERM, "memory that is always resident cannot be exported");
	if (bo->origin == VM_USER)
		return drv_fail(-EPERM, "registered host memory cannot be exported");
	drv_mutex_lock(&vm->share_lock);
	r = table_reserve(vm, bo->handle);
	if (!r) {
		r = handle_to_fd(vm, bo->handle, fd);
		if (r)
			drv_fail(r, "PRIME_HANDLE_TO_FD of bo %u", bo->handle);
		else
			vm->shared[bo->handle] = bo;
	}
	drv_mutex_unlock(&vm->share_lock);
	return r;
}

/* Reads size and kind of an imported handle from the kernel. */
static int read_info(struct vm *vm, int fd, struct vm_bo *bo)
{
	struct drm_amdgpu_gem_create_in info = {0};
	struct drm_amdgpu_gem_op args = {
		.handle = bo->handle, .op = AMDGPU_GEM_OP_GET_GEM_CREATE_INFO, .value = (uintptr_t)&info};
	int r = drv_ioctl(vm->dev, DRM_IOCTL_AMDGPU_GEM_OP, &args);
	off_t end;

	if (r)
		return drv_fail(r, "GEM_OP of an imported buffer");
	end = lseek(fd, 0, SEEK_END);
	if (end <= 0 || end % VM_PAGE_B || (uint64_t)end > info.bo_size)
		return drv_fail(-EINVAL, "a dma-buf of %lld bytes over a buffer of %llu", (long long)end,
				(unsigned long long)info.bo_size);
	bo->size_B = end;
	if (info.domains & AMDGPU_GEM_DOMAIN_VRAM)
		bo->kind = VM_VRAM;
	else
		bo->kind = info.domain_flags & AMDGPU_GEM_CREATE_CPU_GTT_USWC ? VM_GTT_WC : VM_GTT;
	if (!(info.domain_flags & AMDGPU_GEM_CREATE_NO_CPU_ACCESS))
		bo->flags |= VM_CPU;
	return 0;
}

static int import_new(struct vm *vm, int fd, uint32_t handle, struct vm_bo **out)
{
	/* The importer alone knows whether the memory holds code, so allow execution. */
	struct vm_bo like = {.handle = handle, .origin = VM_IMPORTED, .flags = VM_EXEC};
	int r = table_reserve(vm, handle);

	r = r ? r : read_info(vm, fd, &like);
	r = r ? r : vm_bo_wrap(vm, &like, out);
	if (r)
		vm_gem_close(vm, handle);
	else
		vm->shared[handle] = *out;
	return r;
}

int vm_bo_import(struct vm *vm, int fd, struct vm_bo **bo)
{
	struct drm_prime_handle args = {.fd = fd};
	int r = drv_check_process(vm->dev);

	if (r)
		return r;
	drv_mutex_lock(&vm->share_lock);
	r = drv_ioctl(vm->dev, DRM_IOCTL_PRIME_FD_TO_HANDLE, &args);
	if (r)
		drv_fail(r, "PRIME_FD_TO_HANDLE of descriptor %d", fd);
	else if (args.handle < vm->shared_max && vm->shared[args.handle])
		*bo = vm_bo_get(vm->shared[args.handle]);
	else
		r = import_new(vm, fd, args.handle, bo);
	drv_mutex_unlock(&vm->share_lock);
	return r;
}
