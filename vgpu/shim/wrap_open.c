/* open, open64, openat, opendir and fopen. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"

/* glibc's checked forms, which its headers declare only under _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

static int fail_with(int error)
{
	errno = error;
	return -1;
}

/* fd was opened on a path that may lead to a node's placeholder, or to a descriptor of the virtual GPU through
 * /proc: then an open of the device replaces it, a new file as in the kernel. */
static int open_result(int fd, int flags)
{
	unsigned minor;
	bool primary;
	struct stat st;
	int node;

	if (fd < 0 || (flags & O_PATH) || sys_fstat(fd, &st))
		return fd;
	if (!shim_node(st.st_dev, st.st_ino, &minor, &primary) &&
	    (st.st_dev != shim_memfd_dev() || kern_fd_kind(st.st_dev, st.st_ino, &minor, &primary) != KERN_FD_NODE))
		return fd;
	sys_close(fd);
	if (flags & O_DIRECTORY)
		return fail_with(ENOTDIR);
	node = kern_open(minor, primary, flags & O_CLOEXEC);
	return node < 0 ? fail_with(-node) : node;
}

/* Placeholders are read-only files: how the device is opened is no matter of theirs. */
static int placeholder_flags(int flags)
{
	return flags & O_PATH ? flags : (flags & ~(O_ACCMODE | O_TRUNC | O_CREAT | O_EXCL)) | O_RDONLY | O_NONBLOCK;
}

/* Files whose content is computed when they are opened, as in sysfs: mem_info_vram_used and the like. */
static void refresh_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (!strncmp(name, "mem_info_", 9) && strstr(name, "_used"))
		shim_tree_refresh();
}

/* A device's file `remove`: a process that opens it for writing is about to write 1, which unplugs the device. */
static bool unplug_device(const char *path, int flags)
{
	const char *slash = strrchr(path, '/');
	char buf[PATH_MAX], to[PATH_MAX];
	unsigned device;

	if (!slash || strcmp(slash, "/remove") || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) ||
	    (size_t)(slash - path) >= sizeof(buf))
		return false;
	memcpy(buf, path, (size_t)(slash - path));
	buf[slash - path] = 0;
	if (!realpath(buf, to) || !shim_tree_device(to, &device))
		return false;
	kern_inject_unplug(device);
	return true;
}

static bool may_be_ours(int dir, const char *path, const char *real)
{
	return real != path || (path && path[0] != '/' && dir != AT_FDCWD) ||
	       (path && (!strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/fd/", 8)));
}

SHIM_EARLY static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	char buf[PATH_MAX];
	const char *real;
	int fd, as = flags;

	if (!shim_active())
		return SHIM_REAL(openat)(dir, path, flags, mode);
	pthread_testcancel();
	SHIM_HOLD_CANCEL;
	if (shim_proc_maps(path)) {
		fd = shim_proc_maps_open(flags & O_CLOEXEC);
		return fd < 0 ? fail_with(-fd) : fd;
	}
	real = shim_path_at(dir, path, buf);
	if (!real)
		return -1;
	refresh_file(path);
	if (real != path && !unplug_device(path, flags))
		as = placeholder_flags(flags);
	fd = SHIM_REAL(openat)(dir, real, as, mode);
	if (fd < 0)
		return fd;
	if (shim_fd_hold(fd)) /* closed past the shim, and the number was used again */
		kern_hold_release(shim_fd_take(fd));
	return may_be_ours(dir, path, real) ? open_result(fd, flags) : fd;
}

SHIM_EARLY static mode_t mode_of(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

#define OPEN(name)                                                                                                 \
	SHIM_EXPORT int name(const char *path, int flags, ...)                                                     \
	{                                                                                                          \
		va_list args;                                                                                      \
		mode_t mode;                                                                                       \
                                                                                                                   \
		va_start(args, flags);                                                                             \
		mode = mode_of(flags, args);                                                                       \
		va_end(args);                                                                                      \
		return open_at(AT_FDCWD, path, flags, mode);                                                       \
	}
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                               \
	SHIM_EXPORT int name(int dir, const char *path, int flags, ...)                                            \
	{                                                                                                          \
		va_list args;                                                                                      \
		mode_t mode;                                                                                       \
                                                                                                                   \
		va_start(args, flags);                                                                             \
		mode = mode_of(flags, args);                                                                       \
		va_end(args);                                                                                      \
		return open_at(dir, path, flags, mode);                                                            \
	}
OPENAT(openat)
OPENAT(openat64)

SHIM_EXPORT int __open_2(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags, 0);
}

SHIM_EXPORT int __open64_2(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags, 0);
}

SHIM_EXPORT int __openat_2(int dir, const char *path, int flags)
{
	return open_at(dir, path, flags, 0);
}

SHIM_EXPORT int __openat64_2(int dir, const char *path, int flags)
{
	return open_at(dir, path, flags, 0);
}

/* Streams and directories read the tree itself. */
#define FOPEN(name)                                                                                                \
	SHIM_EXPORT FILE *name(const char *path, const char *mode)                                                 \
	{                                                                                                          \
		SHIM_HOLD_CANCEL;                                                                                  \
		char buf[PATH_MAX];                                                                                \
		const char *real = shim_active() ? shim_path(path, buf) : path;                                    \
                                                                                                                   \
		if (real && shim_active())                                                                         \
			refresh_file(path);                                                                        \
		if (real && shim_active() && shim_proc_maps(path)) {                                               \
			int fd = shim_proc_maps_open(strchr(mode, 'e'));                                           \
                                                                                                                   \
			return fd < 0 ? NULL : fdopen(fd, "r");                                                    \
		}                                                                                                  \
		if (real && real != path && *mode != 'r')                                                          \
			unplug_device(path, O_WRONLY);                                                             \
		return !real ? NULL : SHIM_REAL(name)(real, mode);                                                 \
	}
FOPEN(fopen)
FOPEN(fopen64)

SHIM_EXPORT DIR *opendir(const char *path)
{
	char buf[PATH_MAX];
	const char *real = shim_active() ? shim_path(path, buf) : path;

	return !real ? NULL : SHIM_REAL(opendir)(real);
}

SHIM_EXPORT int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
			int (*compare)(const struct dirent **, const struct dirent **))
{
	char buf[PATH_MAX];
	const char *real = shim_active() ? shim_path(path, buf) : path;

	return !real ? -1 : SHIM_REAL(scandir)(real, list, filter, compare);
}

SHIM_EXPORT int scandir64(const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
			  int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	char buf[PATH_MAX];
	const char *real = shim_active() ? shim_path(path, buf) : path;

	return !real ? -1 : SHIM_REAL(scandir64)(real, list, filter, compare);
}
