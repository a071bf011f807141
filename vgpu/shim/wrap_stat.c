/* stat, fstat, lstat, statx: nodes and descriptors of the virtual GPU are character devices 226:N. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"

/* Interface of programs linked before glibc 2.33. On x86-64 every struct stat is the same. */
int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstat(int version, int fd, struct stat *st);
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
int __xstat64(int version, const char *path, struct stat64 *st);
int __lxstat64(int version, const char *path, struct stat64 *st);
int __fxstat64(int version, int fd, struct stat64 *st);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *st, int flags);
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "x86-64 has one struct stat");

static int fixed_stat(int r, void *st)
{
	int error = errno;

	if (!r)
		shim_stat_fix(st);
	errno = error;
	return r;
}

#define BY_PATH(name, type)                                                                                        \
	SHIM_EXPORT int name(const char *path, type *st)                                                           \
	{                                                                                                          \
		char buf[PATH_MAX];                                                                                \
		const char *real;                                                                                  \
                                                                                                                   \
		if (!shim_active())                                                                                \
			return SHIM_REAL(name)(path, st);                                                          \
		real = shim_path(path, buf);                                                                       \
		return !real ? -1 : fixed_stat(SHIM_REAL(name)(real, st), st);                                     \
	}
BY_PATH(stat, struct stat)
BY_PATH(stat64, struct stat64)
BY_PATH(lstat, struct stat)
BY_PATH(lstat64, struct stat64)

#define BY_FD(name, type)                                                                                          \
	SHIM_EXPORT int name(int fd, type *st)                                                                     \
	{                                                                                                          \
		int r = SHIM_REAL(name)(fd, st);                                                                   \
                                                                                                                   \
		return shim_active() ? fixed_stat(r, st) : r;                                                      \
	}
BY_FD(fstat, struct stat)
BY_FD(fstat64, struct stat64)

#define BY_DIR(name, type)                                                                                         \
	SHIM_EXPORT int name(int dir, const char *path, type *st, int flags)                                       \
	{                                                                                                          \
		char buf[PATH_MAX];                                                                                \
		const char *real;                                                                                  \
                                                                                                                   \
		if (!shim_active())                                                                                \
			return SHIM_REAL(name)(dir, path, st, flags);                                              \
		real = shim_path_at(dir, path, buf);                                                               \
		return !real ? -1 : fixed_stat(SHIM_REAL(name)(dir, real, st, flags), st);                         \
	}
BY_DIR(fstatat, struct stat)
BY_DIR(fstatat64, struct stat64)

#define BY_PATH_OLD(name, type)                                                                                    \
	SHIM_EXPORT int name(int version, const char *path, type *st)                                              \
	{                                                                                                          \
		char buf[PATH_MAX];                                                                                \
		const char *real;                                                                                  \
                                                                                                                   \
		if (!shim_active())                                                                                \
			return SHIM_REAL(name)(version, path, st);                                                 \
		real = shim_path(path, buf);                                                                       \
		return !real ? -1 : fixed_stat(SHIM_REAL(name)(version, real, st), st);                            \
	}
BY_PATH_OLD(__xstat, struct stat)
BY_PATH_OLD(__xstat64, struct stat64)
BY_PATH_OLD(__lxstat, struct stat)
BY_PATH_OLD(__lxstat64, struct stat64)

#define BY_FD_OLD(name, type)                                                                                      \
	SHIM_EXPORT int name(int version, int fd, type *st)                                                        \
	{                                                                                                          \
		int r = SHIM_REAL(name)(version, fd, st);                                                          \
                                                                                                                   \
		return shim_active() ? fixed_stat(r, st) : r;                                                      \
	}
BY_FD_OLD(__fxstat, struct stat)
BY_FD_OLD(__fxstat64, struct stat64)

#define BY_DIR_OLD(name, type)                                                                                     \
	SHIM_EXPORT int name(int version, int dir, const char *path, type *st, int flags)                          \
	{                                                                                                          \
		char buf[PATH_MAX];                                                                                \
		const char *real;                                                                                  \
                                                                                                                   \
		if (!shim_active())                                                                                \
			return SHIM_REAL(name)(version, dir, path, st, flags);                                     \
		real = shim_path_at(dir, path, buf);                                                               \
		return !real ? -1 : fixed_stat(SHIM_REAL(name)(version, dir, real, st, flags), st);                \
	}
BY_DIR_OLD(__fxstatat, struct stat)
BY_DIR_OLD(__fxstatat64, struct stat64)

static void statx_fix(struct statx *stx)
{
	unsigned minor;

	if (!shim_rdev_of(makedev(stx->stx_dev_major, stx->stx_dev_minor), stx->stx_ino, &minor))
		return;
	stx->stx_mode = S_IFCHR | 0660;
	stx->stx_rdev_major = 226;
	stx->stx_rdev_minor = minor;
	stx->stx_size = 0;
	stx->stx_blocks = 0;
}

SHIM_EXPORT int statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict stx)
{
	char buf[PATH_MAX];
	const char *real;
	int r;

	if (!shim_active())
		return SHIM_REAL(statx)(dir, path, flags, mask, stx);
	real = shim_path_at(dir, path, buf);
	if (!real)
		return -1;
	r = SHIM_REAL(statx)(dir, real, flags, mask | STATX_INO, stx);
	if (!r)
		statx_fix(stx);
	return r;
}

/* Device libraries check that the files are on sysfs. */
static int fixed_fs(int r, int fd, void *fs)
{
	char proc[32], at[PATH_MAX], tree[PATH_MAX];
	int error = errno;
	long n;

	if (r)
		return r;
	snprintf(proc, sizeof(proc), "/proc/thread-self/fd/%d", fd);
	n = sys_call6(SYS_readlinkat, AT_FDCWD, (long)proc, (long)at, sizeof(at) - 1, 0, 0);
	at[n > 0 ? n : 0] = 0;
	snprintf(tree, sizeof(tree), "%s/sys/", shim_root());
	if (!strncmp(at, tree, strlen(tree)))
		((struct statfs *)fs)->f_type = SYSFS_MAGIC;
	errno = error;
	return 0;
}
_Static_assert(sizeof(struct statfs) == sizeof(struct statfs64), "x86-64 has one struct statfs");

#define FSTATFS(name, type)                                                                                        \
	SHIM_EXPORT int name(int fd, type *fs)                                                                     \
	{                                                                                                          \
		int r = SHIM_REAL(name)(fd, fs);                                                                   \
                                                                                                                   \
		return shim_active() ? fixed_fs(r, fd, fs) : r;                                                    \
	}
FSTATFS(fstatfs, struct statfs)
FSTATFS(fstatfs64, struct statfs64)
