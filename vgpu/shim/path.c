/* Names: the paths that the run's directory replaces, and the attributes of device nodes and descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "vgpu/report.h"
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"

#define DRM_MAJOR 226

/* Regular files in place of device nodes, known by inode. Immutable while active. */
static struct {
	uint64_t dev;
	unsigned count;
	uint64_t ino[KERN_NODES * 2]; /* [node * 2 + primary] */
} node_files;

static bool is_under(const char *path, const char *dir)
{
	size_t length = strlen(dir);

	return !strncmp(path, dir, length) && (path[length] == 0 || path[length] == '/');
}

/* Parts of /sys are replaced only where the tree has the name: other devices keep their entries. */
static bool in_tree(const char *path)
{
	static const char *const dirs[] = {"/sys/dev/char",           "/sys/class/drm",
					   "/sys/bus/pci/devices",    "/sys/bus/pci/drivers/amdgpu",
					   "/sys/devices/pci0000:00", "/sys/module/amdgpu",
					   "/sys/devices/platform",   "/sys/bus/platform/devices"};
	char inside[PATH_MAX];
	struct stat st;

	for (unsigned i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (!is_under(path, dirs[i]))
			continue;
		if (!strncmp(path, "/sys/dev/char/226:", 18) || is_under(path, "/sys/class/drm"))
			return true;
		if (!strcmp(path, "/sys/devices/pci0000:00") || !strcmp(path, "/sys/devices/platform") ||
		    !strcmp(path, "/sys/bus/platform/devices"))
			return sys_call6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, AT_SYMLINK_NOFOLLOW, 0,
					 0) < 0; /* the host's directory has more entries than the run's */
		snprintf(inside, sizeof(inside), "%s%s", shim_root(), path);
		return sys_call6(SYS_newfstatat, AT_FDCWD, (long)inside, (long)&st, AT_SYMLINK_NOFOLLOW, 0, 0) >= 0;
	}
	return false;
}

static bool is_kfd_sysfs(const char *path)
{
	return is_under(path, "/sys/class/kfd") || is_under(path, "/sys/devices/virtual/kfd");
}

const char *shim_path(const char *path, char *buf)
{
	if (!path) {
		errno = EFAULT;
		return NULL;
	}
	if (path[0] != '/' || (strncmp(path, "/dev/", 5) && strncmp(path, "/sys/", 5)))
		return path;
	if (!strcmp(path, "/dev/kfd")) {
		vgpu_finding(CONTRACT_KFD_OPENED, "%s is asked for: the DRM render node is all there is", path);
		errno = ENOENT;
		return NULL;
	}
	if (is_kfd_sysfs(path))
		shim_kfd_build();
	else if (!is_under(path, "/dev/dri") && !in_tree(path))
		return path;
	if (snprintf(buf, PATH_MAX, "%s%s", shim_root(), path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return buf;
}

/* Path of directory dir, if names of the run may be below it: "/", /sys, /dev. NULL: none are. */
static const char *host_dir(int dir, char *at)
{
	char proc[32];
	long n;

	snprintf(proc, sizeof(proc), "/proc/thread-self/fd/%d", dir);
	n = sys_call6(SYS_readlinkat, AT_FDCWD, (long)proc, (long)at, PATH_MAX - 1, 0, 0);
	if (n <= 0)
		return NULL;
	at[n] = 0;
	if (!strcmp(at, "/"))
		return "";
	return is_under(at, "/sys") || is_under(at, "/dev") ? at : NULL;
}

const char *shim_path_at(int dir, const char *path, char *buf)
{
	char at[PATH_MAX], whole[PATH_MAX];
	const char *host, *real;

	if (dir < 0 || !path || !*path || *path == '/')
		return shim_path(path, buf);
	host = host_dir(dir, at);
	if (!host || snprintf(whole, sizeof(whole), "%s/%s", host, path) >= PATH_MAX)
		return path;
	real = shim_path(whole, buf);
	return real == whole ? path : real;
}

size_t shim_path_strip(char *path, size_t length)
{
	size_t root = strlen(shim_root());

	if (length <= root || strncmp(path, shim_root(), root) || path[root] != '/')
		return length;
	memmove(path, path + root, length - root);
	return length - root;
}

/* --- nodes --- */

int shim_nodes_find(unsigned count)
{
	node_files.count = 0;
	for (unsigned i = 0; i < count * 2; i++) {
		char path[PATH_MAX + 32];
		struct stat st;
		long r;

		snprintf(path, sizeof(path), i & 1 ? "%s/dev/dri/card%u" : "%s/dev/dri/renderD%u", shim_root(),
			 i & 1 ? i / 2 : 128 + i / 2);
		r = sys_call6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0);
		if (r < 0)
			return (int)r;
		node_files.dev = st.st_dev;
		node_files.ino[i] = st.st_ino;
	}
	node_files.count = count * 2;
	return 0;
}

bool shim_node(uint64_t dev, uint64_t ino, unsigned *node, bool *primary)
{
	if (dev != node_files.dev)
		return false;
	for (unsigned i = 0; i < node_files.count; i++)
		if (node_files.ino[i] == ino) {
			*node = i / 2;
			*primary = i & 1;
			return true;
		}
	return false;
}

bool shim_rdev_of(uint64_t dev, uint64_t ino, unsigned *minor)
{
	unsigned node;
	bool primary;

	if (!shim_node(dev, ino, &node, &primary) &&
	    (dev != shim_memfd_dev() || kern_fd_kind(dev, ino, &node, &primary) != KERN_FD_NODE))
		return false;
	*minor = primary ? node : 128 + node;
	return true;
}

void shim_stat_fix(struct stat *st)
{
	unsigned minor;

	if (!shim_rdev_of(st->st_dev, st->st_ino, &minor))
		return;
	st->st_mode = S_IFCHR | 0660;
	st->st_rdev = makedev(DRM_MAJOR, minor);
	st->st_size = 0;
	st->st_blocks = 0;
}

static const char *link_text(enum kern_fd_kind kind, unsigned node, bool primary, char *text, size_t room)
{
	switch (kind) {
	case KERN_FD_NODE:
		snprintf(text, room, primary ? "/dev/dri/card%u" : "/dev/dri/renderD%u",
			 primary ? node : 128 + node);
		return text;
	case KERN_FD_DMABUF:
		return "/dmabuf:";
	case KERN_FD_SYNC:
		return "anon_inode:sync_file";
	default:
		return NULL;
	}
}

long shim_proc_link(const char *path, char *buf, size_t size_B)
{
	enum kern_fd_kind kind;
	unsigned node = 0;
	bool primary = false;
	const char *text;
	char room[32];
	struct stat st;
	size_t length;

	if (!path || strncmp(path, "/proc/", 6) || !strstr(path, "/fd/"))
		return -1;
	if (sys_call6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0) < 0 || !shim_dev_is_ours(st.st_dev))
		return -1;
	kind = kern_fd_kind(st.st_dev, st.st_ino, &node, &primary);
	text = link_text(kind, node, primary, room, sizeof(room));
	if (!text)
		return -1;
	length = strlen(text) < size_B ? strlen(text) : size_B;
	memcpy(buf, text, length);
	return (long)length;
}
