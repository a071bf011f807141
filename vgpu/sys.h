/* System calls made past libc, because shim/ interposes the libc functions, syscall() among them.
 *
 * Each returns what the kernel returned: a value, or -errno. errno itself is left as it was. */
#ifndef VGPU_SYS_H
#define VGPU_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline long sys_call6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long fourth __asm__("r10") = d;
	register long fifth __asm__("r8") = e;
	register long sixth __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	return r;
}

static inline int sys_close(int fd)
{
	return (int)sys_call6(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline int sys_fstat(int fd, struct stat *st)
{
	return (int)sys_call6(SYS_fstat, fd, (long)st, 0, 0, 0, 0);
}

static inline int sys_memfd(const char *name, unsigned flags)
{
	return (int)sys_call6(SYS_memfd_create, (long)name, flags, 0, 0, 0, 0);
}

/* Whether a file may have that size: else the kernel's answer is SIGXFSZ, which ends a program. */
static inline bool sys_size_allowed(uint64_t size_B)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= size_B;
}

static inline int sys_ftruncate(int fd, uint64_t size_B)
{
	if (!sys_size_allowed(size_B))
		return -EFBIG;
	return (int)sys_call6(SYS_ftruncate, fd, (long)size_B, 0, 0, 0, 0);
}

static inline int sys_fallocate(int fd, int mode, uint64_t offset, uint64_t size_B)
{
	return (int)sys_call6(SYS_fallocate, fd, mode, (long)offset, (long)size_B, 0, 0);
}

/* MAP_FAILED on error. */
static inline void *sys_mmap(void *addr, size_t size_B, int prot, int flags, int fd, uint64_t offset)
{
	long r = sys_call6(SYS_mmap, (long)addr, (long)size_B, prot, flags, fd, (long)offset);

	return r < 0 && r > -4096 ? MAP_FAILED : (void *)r;
}

static inline int sys_munmap(void *addr, size_t size_B)
{
	return (int)sys_call6(SYS_munmap, (long)addr, (long)size_B, 0, 0, 0, 0);
}

static inline int sys_open(const char *path, int flags)
{
	return (int)sys_call6(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

/* For writing; makes the file when there is none, by the umask. flags: O_APPEND, O_TRUNC. -ENXIO: a FIFO that nobody
 * reads, of which openat() alone would wait for a reader. */
static inline int sys_create(const char *path, int flags)
{
	int fd = (int)sys_call6(SYS_openat, AT_FDCWD, (long)path,
				O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, 0600, 0, 0);

	if (fd >= 0)
		sys_call6(SYS_fcntl, fd, F_SETFL, flags & O_APPEND, 0, 0, 0);
	return fd;
}

static inline long sys_write(int fd, const void *buf, size_t size_B)
{
	return sys_call6(SYS_write, fd, (long)buf, (long)size_B, 0, 0, 0);
}

static inline long sys_read(int fd, void *buf, size_t size_B)
{
	return sys_call6(SYS_read, fd, (long)buf, (long)size_B, 0, 0, 0);
}

/* Reads the beginning of a file: the bytes, or -errno. */
static inline long sys_read_file(const char *path, void *buf, size_t size_B)
{
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return fd;
	n = sys_read(fd, buf, size_B);
	sys_close(fd);
	return n;
}

static inline int sys_dup_cloexec(int fd)
{
	return (int)sys_call6(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3, 0, 0, 0);
}

static inline int64_t sys_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

#endif
