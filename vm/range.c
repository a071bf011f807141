/* Address ranges: the same numbers on the CPU and on the GPU. */
#include "vm/internal.h"

#include <errno.h>
#include <sys/mman.h>

int vm_range_reserve(struct vm *vm, uint64_t size_B, uint64_t align_B, struct vm_range *range)
{
	const struct drv_facts *f = &vm->dev->facts;
	uint64_t slack_B = align_B > VM_PAGE_B ? align_B - VM_PAGE_B : 0;
	uint64_t start, va;
	void *host;

	if (!size_B || size_B % VM_PAGE_B || size_B > f->va_hi - slack_B)
		return drv_fail(-EINVAL, "a range of %llu bytes", (unsigned long long)size_B);
	host = mmap(NULL, size_B + slack_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (host == MAP_FAILED)
		return drv_fail(-ENOMEM, "no %llu bytes of address space left", (unsigned long long)size_B);
	start = (uintptr_t)host;
	va = vm_align(start, align_B > VM_PAGE_B ? align_B : VM_PAGE_B);
	if (va < f->va_lo || va + size_B > f->va_hi) {
		munmap(host, size_B + slack_B);
		return drv_fail(-ENOMEM, "host address 0x%llx is out of the GPU's reach",
				(unsigned long long)start);
	}
	if (va > start)
		munmap(host, va - start);
	if (start + slack_B > va)
		munmap((void *)(uintptr_t)(va + size_B), start + slack_B - va);
	*range = (struct vm_range){.vm = vm, .va = va, .size_B = size_B};
	vm->ranges++;
	return 0;
}

void vm_range_release(struct vm_range *range)
{
	if (!range->vm)
		return;
	munmap((void *)(uintptr_t)range->va, range->size_B);
	range->vm->ranges--;
	*range = (struct vm_range){0};
}

static uint32_t page_flags(const struct vm_bo *bo)
{
	uint32_t flags = AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE;

	if (bo->flags & VM_EXEC)
		flags |= AMDGPU_VM_PAGE_EXECUTABLE;
	if (bo->flags & VM_UNCACHED)
		flags |= AMDGPU_VM_MTYPE_UC;
	return flags;
}

int vm_range_bind(struct vm_range *range, uint64_t offset_B, const struct vm_bo *bo, uint64_t bo_offset_B,
		  uint64_t size_B)
{
	struct drm_amdgpu_gem_va args = {
		.handle = bo->handle,
		.operation = AMDGPU_VA_OP_MAP,
		.flags = page_flags(bo),
		.va_address = range->va + offset_B,
		.offset_in_bo = bo_offset_B,
		.map_size = size_B,
	};
	int r = drv_ioctl(range->vm->dev, DRM_IOCTL_AMDGPU_GEM_VA, &args);

	if (r)
		return drv_fail(r, "GEM_VA map of %llu bytes at 0x%llx", (unsigned long long)size_B,
				(unsigned long long)args.va_address);
	range->vm->mappings++;
	drv_log(DRV_LOG_MEM, "map 0x%llx + 0x%llx, %s, bo %u", (unsigned long long)args.va_address,
		(unsigned long long)size_B, bo->kind == VM_VRAM ? "VRAM" : "GTT", bo->handle);
	return 0;
}

void vm_range_unbind(struct vm_range *range, uint64_t offset_B, const struct vm_bo *bo)
{
	struct drm_amdgpu_gem_va args = {
		.handle = bo->handle,
		.operation = AMDGPU_VA_OP_UNMAP,
		.va_address = range->va + offset_B,
		.map_size = bo->size_B,
	};

	/* UNMAP removes the whole mapping that starts here. It fails only when the device is gone. */
	(void)!drv_ioctl(range->vm->dev, DRM_IOCTL_AMDGPU_GEM_VA, &args);
	range->vm->mappings--;
}

int vm_range_map(struct vm_range *range, uint64_t offset_B, const struct vm_bo *bo)
{
	const struct drv_device *dev = range->vm->dev;
	union drm_amdgpu_gem_mmap args = {.in.handle = bo->handle};
	int r = drv_ioctl(dev, DRM_IOCTL_AMDGPU_GEM_MMAP, &args);

	if (r)
		return drv_fail(r, "GEM_MMAP of bo %u", bo->handle);
	if (mmap((void *)(uintptr_t)(range->va + offset_B), bo->size_B, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, dev->fd, args.out.addr_ptr) == MAP_FAILED)
		return drv_fail(-errno, "mmap of bo %u, %llu bytes", bo->handle, (unsigned long long)bo->size_B);
	return 0;
}
