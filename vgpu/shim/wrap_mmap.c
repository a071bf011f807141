/* mmap, munmap, mremap, mprotect, pkey_mprotect, madvise, by name and by syscall(): buffers are mapped from the run's physical memory
 * file, and the mapping keeps them. */
#include <errno.h>
#include <linux/mman.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include "vgpu/rank.h"
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"

/* How a call of the program came, and so how it is passed on. One by syscall() may be another library's hook that
 * stands in libc's mmap() and its like, which OpenMPI and UCX overwrite: to call libc there would not end. One by name goes
 * to libc, where sanitizers see it. */
enum way { BY_NAME, BY_NUMBER };

/* False for calls that are passed on as they are. An allocator may call here for an allocation of the virtual GPU
 * itself: the thread has locks then, perhaps those that a change of mappings needs. */
static bool is_watched(void)
{
	return shim_active() && !vgpu_has_locks();
}

static long past_us(long number, const long a[6])
{
	long r = sys_call6(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	if (r >= 0 || r < -4095)
		return r;
	errno = (int)-r;
	return -1;
}

static void *next_mmap(enum way way, void *addr, size_t size_B, int prot, int flags, int fd, uint64_t offset)
{
	const long a[6] = {(long)addr, (long)size_B, prot, flags, fd, (long)offset};

	return way == BY_NAME ? SHIM_REAL(mmap)(addr, size_B, prot, flags, fd, (off_t)offset)
			      : (void *)past_us(SYS_mmap, a);
}

static int next_munmap(enum way way, void *addr, size_t size_B)
{
	const long a[6] = {(long)addr, (long)size_B};

	return way == BY_NAME ? SHIM_REAL(munmap)(addr, size_B) : (int)past_us(SYS_munmap, a);
}

static void *next_mremap(enum way way, void *old, size_t old_B, size_t new_B, int flags, void *to)
{
	const long a[6] = {(long)old, (long)old_B, (long)new_B, flags, (long)to};

	return way == BY_NAME ? SHIM_REAL(mremap)(old, old_B, new_B, flags, to) : (void *)past_us(SYS_mremap, a);
}

#define NO_PKEY (-1) /* pkey_mprotect() is mprotect() then */

static int next_mprotect(enum way way, void *addr, size_t size_B, int prot, int pkey)
{
	const long a[6] = {(long)addr, (long)size_B, prot, pkey};

	if (pkey != NO_PKEY)
		return way == BY_NAME ? SHIM_REAL(pkey_mprotect)(addr, size_B, prot, pkey)
				      : (int)past_us(SYS_pkey_mprotect, a);
	return way == BY_NAME ? SHIM_REAL(mprotect)(addr, size_B, prot) : (int)past_us(SYS_mprotect, a);
}

static int next_madvise(enum way way, void *addr, size_t size_B, int advice)
{
	const long a[6] = {(long)addr, (long)size_B, advice};

	return way == BY_NAME ? SHIM_REAL(madvise)(addr, size_B, advice) : (int)past_us(SYS_madvise, a);
}

/* Waits for the jobs that use a range of user memory before its mapping, its pages, or their protection change, as
 * the kernel's notifier does. */
static void before_change(void *addr, size_t size_B)
{
	int error = errno;

	kern_user_memory_changes((uintptr_t)addr, size_B);
	errno = error;
}

/* Has the next job look at the mappings of the range again. What is unmapped needs no call: the hole is found, and
 * what fills it is mapped first. */
static void after_change(void *addr, size_t size_B)
{
	int error = errno;

	kern_user_memory_changed((uintptr_t)addr, size_B);
	errno = error;
}

static void *map_buffer(enum way way, void *addr, size_t size_B, int prot, int flags, uint64_t offset,
			struct kern_hold *hold)
{
	/* The memory is shared in either case: a private mapping is read-only, so there is no difference. */
	void *at = next_mmap(way, addr, size_B, prot, (flags & ~MAP_TYPE) | MAP_SHARED, shim_phys_fd(), offset);

	if (at == MAP_FAILED) {
		kern_hold_release(hold);
		return at;
	}
	shim_map_add((uintptr_t)at, size_B, hold);
	after_change(at, size_B);
	return at;
}

static void *map_fd(enum way way, void *addr, size_t size_B, int prot, int flags, int fd, uint64_t offset)
{
	bool fixed = (flags & MAP_FIXED) && (flags & MAP_FIXED_NOREPLACE) != MAP_FIXED_NOREPLACE;
	SHIM_HOLD_CANCEL;
	struct kern_hold *hold;
	uint64_t phys;
	void *at;

	if (fixed)
		before_change(addr, size_B);
	if (fd >= 0 && !(flags & MAP_ANONYMOUS)) {
		int r = kern_mmap(fd, offset, size_B, prot, flags, &phys, &hold);

		if (!r)
			return map_buffer(way, addr, size_B, prot, flags, phys, hold);
		if (r != -ENXIO) {
			errno = -r;
			return MAP_FAILED;
		}
	}
	at = next_mmap(way, addr, size_B, prot, flags, fd, offset);
	if (at == MAP_FAILED)
		return at;
	after_change(at, size_B);
	if (fixed)
		shim_map_drop((uintptr_t)at, size_B);
	return at;
}

SHIM_EXPORT void *mmap(void *addr, size_t size_B, int prot, int flags, int fd, off_t offset)
{
	if (!is_watched() || shim_in_sanitizer(__builtin_return_address(0)))
		return SHIM_REAL(mmap)(addr, size_B, prot, flags, fd, offset);
	return map_fd(BY_NAME, addr, size_B, prot, flags, fd, (uint64_t)offset);
}

SHIM_EXPORT void *mmap64(void *addr, size_t size_B, int prot, int flags, int fd, off64_t offset)
{
	if (!is_watched() || shim_in_sanitizer(__builtin_return_address(0)))
		return SHIM_REAL(mmap64)(addr, size_B, prot, flags, fd, offset);
	return map_fd(BY_NAME, addr, size_B, prot, flags, fd, (uint64_t)offset);
}

static int unmap(enum way way, void *addr, size_t size_B)
{
	int r, error;

	if (!is_watched())
		return next_munmap(way, addr, size_B);
	SHIM_HOLD_CANCEL;
	before_change(addr, size_B);
	r = next_munmap(way, addr, size_B);
	if (!r) {
		error = errno;
		shim_map_drop((uintptr_t)addr, size_B);
		errno = error;
	}
	return r;
}

SHIM_EXPORT int munmap(void *addr, size_t size_B)
{
	if (is_watched() && shim_in_sanitizer(__builtin_return_address(0)))
		return SHIM_REAL(munmap)(addr, size_B);
	return unmap(BY_NAME, addr, size_B);
}

static void *remap(enum way way, void *old, size_t old_B, size_t new_B, int flags, void *to)
{
	void *at;

	if (!is_watched())
		return next_mremap(way, old, old_B, new_B, flags, to);
	SHIM_HOLD_CANCEL;
	before_change(old, old_B);
	if (flags & MREMAP_FIXED)
		before_change(to, new_B);
	at = next_mremap(way, old, old_B, new_B, flags, to);
	if (at != MAP_FAILED) {
		after_change(at, new_B);
		shim_map_move((uintptr_t)old, old_B, (uintptr_t)at, new_B);
	}
	return at;
}

SHIM_EXPORT void *mremap(void *old, size_t old_B, size_t new_B, int flags, ...)
{
	void *to = NULL;
	va_list args;

	va_start(args, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(args, void *);
	va_end(args);
	return remap(BY_NAME, old, old_B, new_B, flags, to);
}

static int protect(enum way way, void *addr, size_t size_B, int prot, int pkey)
{
	int r;

	if (!is_watched())
		return next_mprotect(way, addr, size_B, prot, pkey);
	SHIM_HOLD_CANCEL;
	before_change(addr, size_B);
	r = next_mprotect(way, addr, size_B, prot, pkey);
	after_change(addr, size_B);
	return r;
}

SHIM_EXPORT int mprotect(void *addr, size_t size_B, int prot)
{
	return protect(BY_NAME, addr, size_B, prot, NO_PKEY);
}

SHIM_EXPORT int pkey_mprotect(void *addr, size_t size_B, int prot, int pkey)
{
	return protect(BY_NAME, addr, size_B, prot, pkey);
}

/* Advice that takes pages away or replaces them. */
static bool replaces_pages(int advice)
{
	return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE || advice == MADV_PAGEOUT ||
	       advice == MADV_COLLAPSE;
}

static int advise(enum way way, void *addr, size_t size_B, int advice)
{
	if (is_watched() && replaces_pages(advice)) {
		SHIM_HOLD_CANCEL;
		before_change(addr, size_B);
	}
	return next_madvise(way, addr, size_B, advice);
}

SHIM_EXPORT int madvise(void *addr, size_t size_B, int advice)
{
	return advise(BY_NAME, addr, size_B, advice);
}

/* --- syscall() --- */

/* OpenMPI's memory hooks overwrite the first instructions of mmap() and its like, ours included, by a jump to functions
 * that call syscall(). So nothing here calls a function that a program can find by those names.
 *
 * Six arguments are read, and those that the caller has not passed are not looked at: the last may be from its frame, which
 * AddressSanitizer guards. */
SHIM_EXPORT __attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
	va_list args;
	long a[6];

	va_start(args, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!is_watched())
		return past_us(number, a);
	switch (number) {
	case SYS_mmap:
		return (long)map_fd(BY_NUMBER, (void *)a[0], (size_t)a[1], (int)a[2], (int)a[3], (int)a[4],
				    (uint64_t)a[5]);
	case SYS_munmap:
		return unmap(BY_NUMBER, (void *)a[0], (size_t)a[1]);
	case SYS_mremap:
		return (long)remap(BY_NUMBER, (void *)a[0], (size_t)a[1], (size_t)a[2], (int)a[3], (void *)a[4]);
	case SYS_mprotect:
		return protect(BY_NUMBER, (void *)a[0], (size_t)a[1], (int)a[2], NO_PKEY);
	case SYS_pkey_mprotect:
		return protect(BY_NUMBER, (void *)a[0], (size_t)a[1], (int)a[2], (int)a[3]);
	case SYS_madvise:
		return advise(BY_NUMBER, (void *)a[0], (size_t)a[1], (int)a[2]);
	default:
		return past_us(number, a);
	}
}
