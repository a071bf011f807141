/* Buffers over the client's own memory. */
#include <stdio.h>
#include <stdlib.h>
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/base/proc.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/handle.h"
#include "vgpu/kernel/gem/memory.h"

#define USERPTR_FLAGS                                                                                              \
	(AMDGPU_GEM_USERPTR_READONLY | AMDGPU_GEM_USERPTR_ANONONLY | AMDGPU_GEM_USERPTR_VALIDATE |                 \
	 AMDGPU_GEM_USERPTR_REGISTER)

/* A line of /proc/self/maps. */
struct vma {
	uint64_t lo, hi;
	char perms[8];
	bool file;
};

static bool vma_parse(char *line, struct vma *vma)
{
	unsigned long lo, hi, offset, inode;
	unsigned major, minor;

	if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu", &lo, &hi, vma->perms, &offset, &major, &minor, &inode) != 7)
		return false;
	vma->lo = lo;
	vma->hi = hi;
	vma->file = inode != 0;
	return true;
}

/* Pages of a file mapping past the file's end are mapped, but not present. A system before Linux 5.14 has no way
 * to test for them. */
static int file_pages_validate(uint64_t lo, uint64_t hi, uint32_t flags)
{
	int advice = flags & AMDGPU_GEM_USERPTR_READONLY ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;

	return sys_call6(SYS_madvise, (long)lo, (long)(hi - lo), advice, 0, 0, 0) == -EFAULT ? -EFAULT : 0;
}

/* Checks as hmm_range_fault does: every page mapped, readable, and writable unless the buffer is read-only.
 * Without the list of mappings, or with PROT_NONE holes in it, -EFAULT. *files: files are mapped there. */
static int range_validate(uint64_t addr, uint64_t size_B, uint32_t flags, bool *files)
{
	uint64_t at = addr, end = addr + size_B;
	char *text = kern_read_proc("/proc/thread-self/maps"), *save = NULL;
	struct vma vma;
	int r = 0;

	*files = false;
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && !r && at < end;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!vma_parse(line, &vma) || vma.hi <= at)
			continue;
		if (vma.lo > at || vma.perms[0] != 'r' ||
		    (!(flags & AMDGPU_GEM_USERPTR_READONLY) && vma.perms[1] != 'w'))
			r = -EFAULT;
		else if (at == addr && (flags & AMDGPU_GEM_USERPTR_ANONONLY) && vma.file)
			r = -EPERM;
		else if (vma.file)
			r = file_pages_validate(at, vma.hi < end ? vma.hi : end, flags);
		*files |= vma.file;
		at = vma.hi;
	}
	free(text);
	return r ? r : at < end ? -EFAULT : 0;
}

/* Looks at the list of mappings only after a change: a CS checks all userptr BOs of its list. Any process may cut a
 * file, which changes no mapping. */
static int check_protection(struct kern_bo *bo)
{
	uint32_t flags = bo->user_flags & AMDGPU_GEM_USERPTR_READONLY;
	int r;

	if (!bo->user_changed)
		return bo->user_files ? file_pages_validate(bo->user_addr, bo->user_addr + bo->size_B, flags) : 0;
	r = range_validate(bo->user_addr, bo->size_B, flags, &bo->user_files);
	bo->user_changed = r != 0;
	return r;
}

int kern_userptr_check(struct kern_bo *bo)
{
	int r;

	if (bo->user_proc != kern_local.serial)
		return -EPERM;
	if (kern_is_own(bo->user_addr, bo->size_B))
		return -EFAULT;
	/* MS_ASYNC does nothing but walk the mappings: -ENOMEM for a hole. */
	if (sys_call6(SYS_msync, (long)bo->user_addr, (long)bo->size_B, MS_ASYNC, 0, 0, 0) < 0)
		return -EFAULT;
	r = check_protection(bo);
	if (r)
		return r;
	return bo->heap == AMDGPU_GEM_DOMAIN_GTT ? 0 : kern_heap_charge(bo, AMDGPU_GEM_DOMAIN_GTT, false);
}

static int userptr_check_args(const struct drm_amdgpu_gem_userptr *args, bool *files)
{
	if ((args->addr | args->size) & (KERN_PAGE - 1))
		return -EINVAL;
	if (args->flags & ~USERPTR_FLAGS)
		return -EINVAL;
	if (!(args->flags & AMDGPU_GEM_USERPTR_READONLY) && !(args->flags & AMDGPU_GEM_USERPTR_REGISTER))
		return -EACCES;
	if (!args->size)
		return -ENOSPC;
	if (args->addr + args->size < args->addr)
		return -EFAULT;
	if (args->flags & AMDGPU_GEM_USERPTR_VALIDATE && kern_is_own(args->addr, args->size))
		return -EFAULT;
	if (args->flags & AMDGPU_GEM_USERPTR_VALIDATE)
		return range_validate(args->addr, args->size, args->flags, files);
	return 0;
}

int kern_gem_userptr(struct kern_file *file, void *arg)
{
	struct drm_amdgpu_gem_userptr *args = arg;
	struct kern_bo *bo;
	bool files = false;
	int r = userptr_check_args(args, &files);

	if (r)
		return r;
	bo = kern_bo_create(file->dev, args->size);
	if (!bo)
		return -ENOMEM;
	bo->user_addr = args->addr;
	bo->user_flags = args->flags;
	bo->user_proc = kern_local.serial;
	bo->user_files = files;
	bo->user_changed = !(args->flags & AMDGPU_GEM_USERPTR_VALIDATE);
	kern_list_add(&kern->userptrs, &bo->user_link);
	kern->userptr_count++;
	bo->preferred = bo->allowed = AMDGPU_GEM_DOMAIN_GTT;
	r = kern_heap_charge(bo, AMDGPU_GEM_DOMAIN_GTT, false);
	if (!(args->flags & AMDGPU_GEM_USERPTR_VALIDATE))
		r = 0; /* the CS that lists it reserves room again */
	if (!r)
		r = kern_handle_create(file, bo, &args->handle);
	kern_call_put_bo(bo);
	return r;
}
