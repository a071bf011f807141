/* mmap, munmap, mremap, mprotect, madvise: buffers are mapped from the run's physical memory file, and the mapping
 * keeps them. */
#include <errno.h>
#include <linux/mman.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include "vgpu/shim/shim.h"

/* Waits for the jobs that use a range of user memory before its mapping, its pages, or their protection change, as
 * the kernel's notifier does. */
static void before_change(void *addr, size_t size_B)
{
	int error = errno;

	kern_user_memory_changes((uintptr_t)addr, size_B);
	errno = error;
}

static void *map_buffer(void *addr, size_t size_B, int prot, int flags, uint64_t offset, struct kern_hold *hold)
{
	/* The memory is shared in either case: a private mapping is read-only, so there is no difference. */
	void *at = SHIM_REAL(mmap)(addr, size_B, prot, (flags & ~MAP_TYPE) | MAP_SHARED, shim_phys_fd(),
				   (off_t)offset);

	if (at == MAP_FAILED)
		kern_hold_release(hold);
	else
		shim_map_add((uintptr_t)at, size_B, hold);
	return at;
}

static void *map_fd(void *addr, size_t size_B, int prot, int flags, int fd, uint64_t offset)
{
	bool fixed = (flags & MAP_FIXED) && (flags & MAP_FIXED_NOREPLACE) != MAP_FIXED_NOREPLACE;
	struct kern_hold *hold;
	uint64_t phys;
	void *at;

	if (fixed)
		before_change(addr, size_B);
	if (fd >= 0 && !(flags & MAP_ANONYMOUS)) {
		int r = kern_mmap(fd, offset, size_B, prot, flags, &phys, &hold);

		if (!r)
			return map_buffer(addr, size_B, prot, flags, phys, hold);
		if (r != -ENXIO) {
			errno = -r;
			return MAP_FAILED;
		}
	}
	at = SHIM_REAL(mmap)(addr, size_B, prot, flags, fd, (off_t)offset);
	if (fixed && at != MAP_FAILED)
		shim_map_drop((uintptr_t)at, size_B);
	return at;
}

SHIM_EXPORT void *mmap(void *addr, size_t size_B, int prot, int flags, int fd, off_t offset)
{
	if (!shim_active())
		return SHIM_REAL(mmap)(addr, size_B, prot, flags, fd, offset);
	return map_fd(addr, size_B, prot, flags, fd, (uint64_t)offset);
}

SHIM_EXPORT void *mmap64(void *addr, size_t size_B, int prot, int flags, int fd, off64_t offset)
{
	if (!shim_active())
		return SHIM_REAL(mmap64)(addr, size_B, prot, flags, fd, offset);
	return map_fd(addr, size_B, prot, flags, fd, (uint64_t)offset);
}

SHIM_EXPORT int munmap(void *addr, size_t size_B)
{
	int r, error;

	if (!shim_active())
		return SHIM_REAL(munmap)(addr, size_B);
	before_change(addr, size_B);
	r = SHIM_REAL(munmap)(addr, size_B);
	if (!r) {
		error = errno;
		shim_map_drop((uintptr_t)addr, size_B);
		errno = error;
	}
	return r;
}

SHIM_EXPORT void *mremap(void *old, size_t old_B, size_t new_B, int flags, ...)
{
	void *to = NULL, *at;
	va_list args;

	va_start(args, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(args, void *);
	va_end(args);
	if (!shim_active())
		return SHIM_REAL(mremap)(old, old_B, new_B, flags, to);
	before_change(old, old_B);
	at = SHIM_REAL(mremap)(old, old_B, new_B, flags, to);
	if (at != MAP_FAILED)
		shim_map_move((uintptr_t)old, old_B, (uintptr_t)at, new_B);
	return at;
}

SHIM_EXPORT int mprotect(void *addr, size_t size_B, int prot)
{
	if (shim_active())
		before_change(addr, size_B);
	return SHIM_REAL(mprotect)(addr, size_B, prot);
}

/* Advice that takes pages away or replaces them. */
static bool replaces_pages(int advice)
{
	return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE || advice == MADV_PAGEOUT ||
	       advice == MADV_COLLAPSE;
}

SHIM_EXPORT int madvise(void *addr, size_t size_B, int advice)
{
	if (shim_active() && replaces_pages(advice))
		before_change(addr, size_B);
	return SHIM_REAL(madvise)(addr, size_B, advice);
}
