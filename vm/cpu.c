/* CPU mappings of ranges. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drv/cancel.h"
#include "vm/internal.h"

static int prot_of(unsigned access)
{
	return (access & VM_CPU_READ ? PROT_READ : 0) | (access & VM_CPU_WRITE ? PROT_WRITE : 0);
}

void vm_cpu_unmap(uint64_t at, uint64_t size_B)
{
	/* The addresses stay reserved. mmap fails only when the process has too many mappings and this one would be
	 * split; the old mapping then remains. */
	(void)!mmap((void *)(uintptr_t)at, size_B, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Maps through a dma-buf: it maps any part, and memory that another device exported. The device's own descriptor
 * maps a BO from its start only. at: NULL: anywhere. */
static int map_by_dmabuf(const struct vm_bo *bo, uint64_t bo_offset_B, uint64_t size_B, void *at, int prot,
			 void **view)
{
	DRV_HOLD_CANCEL;
	struct drm_prime_handle args = {.handle = bo->handle, .flags = DRM_CLOEXEC | DRM_RDWR};
	int r = drv_ioctl(bo->vm->dev, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args);

	if (r)
		return drv_fail(r, "PRIME_HANDLE_TO_FD of bo %u, to map it", bo->handle);
	*view = mmap(at, size_B, prot, MAP_SHARED | (at ? MAP_FIXED : 0), args.fd, (off_t)bo_offset_B);
	if (*view == MAP_FAILED)
		r = drv_fail(-errno, "mmap of a dma-buf, bo %u, %llu bytes", bo->handle,
			     (unsigned long long)size_B);
	close(args.fd);
	return r;
}

static int map_by_device(const struct vm_bo *bo, uint64_t size_B, void *at, int prot, void **view)
{
	const struct drv_device *dev = bo->vm->dev;
	union drm_amdgpu_gem_mmap args = {.in.handle = bo->handle};
	int r = drv_ioctl(dev, DRM_IOCTL_AMDGPU_GEM_MMAP, &args);

	if (r)
		return drv_fail(r, "GEM_MMAP of bo %u", bo->handle);
	*view = mmap(at, size_B, prot, MAP_SHARED | (at ? MAP_FIXED : 0), dev->fd, args.out.addr_ptr);
	if (*view == MAP_FAILED)
		return drv_fail(-errno, "mmap of bo %u, %llu bytes", bo->handle, (unsigned long long)size_B);
	return 0;
}

static int map_bo(const struct vm_bo *bo, uint64_t bo_offset_B, uint64_t size_B, void *at, unsigned access,
		  void **view)
{
	return bo->origin == VM_CREATED && !bo_offset_B
		       ? map_by_device(bo, size_B, at, prot_of(access), view)
		       : map_by_dmabuf(bo, bo_offset_B, size_B, at, prot_of(access), view);
}

int vm_cpu_map(const struct vm_bo *bo, uint64_t bo_offset_B, uint64_t size_B, uint64_t at, unsigned access)
{
	void *view;
	int r = map_bo(bo, bo_offset_B, size_B, (void *)(uintptr_t)at, access, &view);

	/* A failed mapping may already have removed the mapping that it was to replace. */
	if (r)
		vm_cpu_unmap(at, size_B);
	return r;
}

int vm_cpu_view(const struct vm_bo *bo, uint64_t bo_offset_B, uint64_t size_B, unsigned access, void **view)
{
	return map_bo(bo, bo_offset_B, size_B, NULL, access, view);
}

int vm_cpu_place(void *view, uint64_t size_B, uint64_t at)
{
	int r;

	if (mremap(view, size_B, size_B, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(uintptr_t)at) != MAP_FAILED)
		return 0;
	r = drv_fail(-errno, "mremap of %llu bytes", (unsigned long long)size_B);
	munmap(view, size_B);
	vm_cpu_unmap(at, size_B);
	return r;
}
