/* Other functions that take names: access, links, canonical names. None lets the run's directory be seen. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "vgpu/shim/shim.h"

ssize_t __readlink_chk(const char *path, char *buf, size_t size_B, size_t room);
ssize_t __readlinkat_chk(int dir, const char *path, char *buf, size_t size_B, size_t room);
char *__realpath_chk(const char *path, char *resolved, size_t room);

#define ACCESS(name)                                                                                               \
	SHIM_EXPORT int name(const char *path, int mode)                                                           \
	{                                                                                                          \
		char buf[PATH_MAX];                                                                                \
		const char *real = shim_active() ? shim_path(path, buf) : path;                                    \
                                                                                                                   \
		if (!real)                                                                                         \
			return -1;                                                                                 \
		return SHIM_REAL(name)(real, real == path ? mode : mode & ~W_OK);                                  \
	}
ACCESS(access)
ACCESS(euidaccess)
ACCESS(eaccess)

/* `ls -l` reads attributes; those of the placeholders serve. */
#define GETXATTR(name)                                                                                             \
	SHIM_EXPORT ssize_t name(const char *path, const char *attribute, void *value, size_t size_B)              \
	{                                                                                                          \
		char buf[PATH_MAX];                                                                                \
		const char *real = shim_active() ? shim_path(path, buf) : path;                                    \
                                                                                                                   \
		return !real ? -1 : SHIM_REAL(name)(real, attribute, value, size_B);                               \
	}
GETXATTR(getxattr)
GETXATTR(lgetxattr)

#define LISTXATTR(name)                                                                                            \
	SHIM_EXPORT ssize_t name(const char *path, char *list, size_t size_B)                                      \
	{                                                                                                          \
		char buf[PATH_MAX];                                                                                \
		const char *real = shim_active() ? shim_path(path, buf) : path;                                    \
                                                                                                                   \
		return !real ? -1 : SHIM_REAL(name)(real, list, size_B);                                           \
	}
LISTXATTR(listxattr)
LISTXATTR(llistxattr)

SHIM_EXPORT int faccessat(int dir, const char *path, int mode, int flags)
{
	char buf[PATH_MAX];
	const char *real = shim_active() ? shim_path_at(dir, path, buf) : path;

	if (!real)
		return -1;
	return SHIM_REAL(faccessat)(dir, real, real == path ? mode : mode & ~W_OK, flags);
}

SHIM_EARLY static ssize_t read_link(int dir, const char *path, char *to, size_t size_B)
{
	char buf[PATH_MAX];
	const char *real;
	ssize_t n;

	if (!shim_active())
		return SHIM_REAL(readlinkat)(dir, path, to, size_B);
	n = shim_proc_link(path, to, size_B);
	if (n >= 0)
		return n;
	real = shim_path_at(dir, path, buf);
	if (!real)
		return -1;
	n = SHIM_REAL(readlinkat)(dir, real, to, size_B);
	return n > 0 ? (ssize_t)shim_path_strip(to, (size_t)n) : n;
}

SHIM_EXPORT ssize_t readlink(const char *restrict path, char *restrict buf, size_t size_B)
{
	return read_link(AT_FDCWD, path, buf, size_B);
}

SHIM_EXPORT ssize_t readlinkat(int dir, const char *restrict path, char *restrict buf, size_t size_B)
{
	return read_link(dir, path, buf, size_B);
}

SHIM_EXPORT ssize_t __readlink_chk(const char *path, char *buf, size_t size_B, size_t room)
{
	if (size_B > room)
		abort();
	return read_link(AT_FDCWD, path, buf, size_B);
}

SHIM_EXPORT ssize_t __readlinkat_chk(int dir, const char *path, char *buf, size_t size_B, size_t room)
{
	if (size_B > room)
		abort();
	return read_link(dir, path, buf, size_B);
}

/* The canonical name in malloc'd memory, or in resolved. */
SHIM_EARLY static char *real_path(const char *path, char *resolved)
{
	char buf[PATH_MAX], link[PATH_MAX], *name;
	const char *real;
	long n;

	if (!shim_active())
		return SHIM_REAL(realpath)(path, resolved);
	n = shim_proc_link(path, link, sizeof(link) - 1);
	if (n >= 0) {
		link[n] = 0;
		return resolved ? strcpy(resolved, link) : strdup(link);
	}
	real = shim_path(path, buf);
	if (!real)
		return NULL;
	name = SHIM_REAL(realpath)(real, resolved);
	if (name)
		name[shim_path_strip(name, strlen(name))] = 0;
	return name;
}

SHIM_EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
	return real_path(path, resolved);
}

SHIM_EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room)
{
	if (room < PATH_MAX)
		abort();
	return real_path(path, resolved);
}

SHIM_EXPORT char *canonicalize_file_name(const char *path)
{
	return real_path(path, NULL);
}
