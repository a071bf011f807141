/* Runs: their directory, the memory files, the member processes.
 *
 * The segment and the physical memory are memfds: no file system limits their size, and they are freed with the
 * last process. A process that joins opens them through /proc/PID/fd of a member; DIR/procs/PID has their numbers.
 *
 * Each member has a shared lock of DIR/lock. The kernel releases it when the member ends, and every process that sees
 * the directory sees the lock, whatever its PID namespace: who gets the exclusive lock may remove the directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "vgpu/report.h"
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"
#include "vgpu/trace.h"

_Atomic bool shim_is_active;

/* The run of this process. Written while no other thread uses the shim. */
static struct {
	char root[PATH_MAX];
	pid_t pid; /* process that joined: this one, or the parent of a child without fork handlers */
	int segment_fd, phys_fd, lock_fd; /* owned; -1: none */
	uint64_t memfd_dev, pipe_dev;
} this_run = {.segment_fd = -1, .phys_fd = -1, .lock_fd = -1};

const char *shim_root(void)
{
	return this_run.root;
}

bool shim_run_is_member(void)
{
	return this_run.pid == getpid();
}

bool shim_run_owns(int fd)
{
	return fd >= 0 && (fd == this_run.segment_fd || fd == this_run.phys_fd || fd == this_run.lock_fd);
}

unsigned shim_run_next_owned(unsigned first)
{
	const int owned[] = {this_run.segment_fd, this_run.phys_fd, this_run.lock_fd};
	unsigned next = UINT_MAX;

	for (unsigned i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		if (owned[i] >= 0 && (unsigned)owned[i] >= first && (unsigned)owned[i] < next)
			next = (unsigned)owned[i];
	return next;
}

int shim_phys_fd(void)
{
	return this_run.phys_fd;
}

bool shim_dev_is_ours(uint64_t st_dev)
{
	return st_dev == this_run.memfd_dev || st_dev == this_run.pipe_dev;
}

uint64_t shim_memfd_dev(void)
{
	return this_run.memfd_dev;
}

/* Moves fd to a high number, above those that clients close or reuse. */
static int move_up(int fd)
{
	long up = sys_call6(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 768, 0, 0, 0);

	if (up < 0)
		return fd;
	sys_close(fd);
	return (int)up;
}

static int memory_file(const char *name)
{
	int fd = sys_memfd(name, MFD_CLOEXEC);

	return fd < 0 ? fd : move_up(fd);
}

/* --- the directory --- */

#define ROOT_BEGIN "tuff-run-"
#define ROOT_TRIES 16

static int lock_open(const char *root, int flags)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/lock", root);
	return (int)sys_call6(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600, 0,
			      0);
}

/* Makes this process a member. A file system without locks keeps directories of dead runs. -EAGAIN: another process
 * removes the directory. */
static int root_lock(const char *root, int flags)
{
	struct stat st;
	int fd = lock_open(root, flags), r;

	if (fd < 0)
		return fd;
	r = (int)sys_call6(SYS_flock, fd, LOCK_SH | LOCK_NB, 0, 0, 0, 0);
	if (r != -EAGAIN)
		r = sys_fstat(fd, &st);
	if (!r && !st.st_nlink)
		r = -EAGAIN;
	if (r) {
		sys_close(fd);
		return r;
	}
	this_run.lock_fd = move_up(fd);
	return 0;
}

/* A directory of this user, and of no other one. */
static bool is_own(const char *root)
{
	struct stat st;

	return !lstat(root, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077);
}

static void remove_if_dead(const char *root)
{
	int fd = is_own(root) ? lock_open(root, O_CREAT) : -1;

	if (fd < 0)
		return;
	if (!sys_call6(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0))
		shim_tree_remove(root);
	sys_close(fd);
}

/* Removes what runs that were killed have left. */
static void remove_dead_runs(const char *base)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir(base);

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, ROOT_BEGIN, strlen(ROOT_BEGIN)) &&
		    snprintf(path, sizeof(path), "%s/%s", base, entry->d_name) < (int)sizeof(path))
			remove_if_dead(path);
	if (dir)
		closedir(dir);
}

/* Another process may take a directory that is not locked yet for a dead one. */
static int make_root_in(const char *base)
{
	int r = -EAGAIN;

	for (unsigned i = 0; r == -EAGAIN && i < ROOT_TRIES; i++) {
		if (snprintf(this_run.root, sizeof(this_run.root), "%s/" ROOT_BEGIN "XXXXXX", base) >=
			    (int)sizeof(this_run.root) ||
		    !mkdtemp(this_run.root))
			return -EACCES;
		r = root_lock(this_run.root, O_CREAT);
		if (r == -ENOENT)
			r = -EAGAIN;
	}
	return r;
}

static int make_root(void)
{
	const char *bases[] = {secure_getenv("XDG_RUNTIME_DIR"), secure_getenv("TMPDIR"), "/tmp"};

	for (unsigned i = 0; i < 3; i++)
		if (bases[i] && *bases[i] && !make_root_in(bases[i])) {
			remove_dead_runs(bases[i]);
			return 0;
		}
	this_run.root[0] = 0;
	return -EACCES;
}

/* --- members --- */

/* The memory files of a member, as it publishes them: numbers of its descriptors, and the files' inodes, since another
 * process may have the number of the member. */
struct member {
	int segment_fd, phys_fd;
	unsigned long long segment_ino, phys_ino;
};

static int member_self(struct member *m)
{
	struct stat segment, phys;
	int r = sys_fstat(this_run.segment_fd, &segment);

	r = r ? r : sys_fstat(this_run.phys_fd, &phys);
	if (!r)
		*m = (struct member){this_run.segment_fd, this_run.phys_fd, segment.st_ino, phys.st_ino};
	return r;
}

/* Publishes the numbers of the memory files for later processes. */
static int publish_member(void)
{
	char path[PATH_MAX + 32], text[96];
	struct member m;
	long fd;
	int n, r = member_self(&m);

	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/procs/%d", this_run.root, (int)getpid());
	n = snprintf(text, sizeof(text), "%d %d %llu %llu\n", m.segment_fd, m.phys_fd, m.segment_ino, m.phys_ino);
	if (!sys_size_allowed((uint64_t)n))
		return -EFBIG;
	fd = sys_call6(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		       0600, 0, 0);
	if (fd < 0)
		return (int)fd;
	sys_call6(SYS_write, fd, (long)text, n, 0, 0, 0);
	sys_close((int)fd);
	return 0;
}

static void withdraw_member(void)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/procs/%d", this_run.root, (int)this_run.pid);
	sys_call6(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

static void close_files(void)
{
	int fds[] = {this_run.segment_fd, this_run.phys_fd, this_run.lock_fd};

	this_run.segment_fd = this_run.phys_fd = this_run.lock_fd = -1;
	for (unsigned i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			sys_close(fds[i]);
}

static int find_pipe_dev(void)
{
	struct stat st;
	int end[2];
	int r = (int)sys_call6(SYS_pipe2, (long)end, O_CLOEXEC, 0, 0, 0, 0);

	if (r < 0)
		return r;
	r = sys_fstat(end[0], &st);
	this_run.pipe_dev = st.st_dev;
	sys_close(end[0]);
	sys_close(end[1]);
	return r;
}

/* After the memory is attached: what is left for taking part. */
static int take_part(void)
{
	struct stat st;
	int r = sys_fstat(this_run.segment_fd, &st);

	if (r)
		return r;
	this_run.memfd_dev = st.st_dev;
	r = find_pipe_dev();
	if (r)
		return r;
	this_run.pid = getpid();
	kern_set_hooks(shim_fd_opened, shim_fd_find);
	r = shim_nodes_find(kern_node_count());
	return r ? r : publish_member();
}

int shim_run_create(const char *spec, const struct shim_config *config)
{
	const char *inject = secure_getenv("TUFF_VGPU_INJECT");
	int r = make_root();

	(void)spec;
	if (r)
		return r;
	r = shim_tree_build(this_run.root, config);
	this_run.segment_fd = memory_file("tuff-vgpu-segment");
	this_run.phys_fd = memory_file("tuff-vgpu-memory");
	if (!r)
		r = this_run.segment_fd < 0 ? this_run.segment_fd : this_run.phys_fd < 0 ? this_run.phys_fd : 0;
	if (!r)
		r = kern_attach(this_run.segment_fd, this_run.phys_fd, true, config->device, config->count);
	if (r)
		goto remove_tree;
	r = take_part();
	if (!r)
		vgpu_trace_join(true);
	if (!r && inject && (r = shim_inject_parse(inject)))
		fprintf(stderr,
			"vgpu: TUFF_VGPU_INJECT=%s is not a list of NAME=N:ERRNO, NAME=P%%:ERRNO, evict[=P%%], seed=N\n",
			inject);
	if (r)
		goto detach;
	shim_tree_refresh();
	return 0;
detach:
	kern_detach(true);
remove_tree:
	shim_tree_remove(this_run.root);
	close_files();
	this_run.root[0] = 0;
	return r;
}

/* --- joining --- */

/* Opens a member's memory file. -ESRCH: it is another file. */
static int open_of(pid_t pid, int fd, unsigned long long ino)
{
	char path[64];
	struct stat st;
	int mine;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	mine = sys_open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (mine < 0)
		return mine;
	if (!sys_fstat(mine, &st) && S_ISREG(st.st_mode) && st.st_ino == ino)
		return move_up(mine);
	sys_close(mine);
	return -ESRCH;
}

static bool read_member(const char *name, struct member *m)
{
	char path[PATH_MAX + 300], text[96] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/procs/%s", this_run.root, name);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	return sscanf(text, "%d %d %llu %llu", &m->segment_fd, &m->phys_fd, &m->segment_ino, &m->phys_ino) == 4;
}

static void close_memory(void)
{
	if (this_run.segment_fd >= 0)
		sys_close(this_run.segment_fd);
	if (this_run.phys_fd >= 0)
		sys_close(this_run.phys_fd);
	this_run.segment_fd = this_run.phys_fd = -1;
}

/* Joins through a member process; -errno if it has died or is no member. */
static int join_through(const char *name)
{
	pid_t pid = (pid_t)strtol(name, NULL, 10);
	struct member m;
	int r;

	if (pid <= 0 || !read_member(name, &m))
		return -ESRCH;
	this_run.segment_fd = open_of(pid, m.segment_fd, m.segment_ino);
	this_run.phys_fd = open_of(pid, m.phys_fd, m.phys_ino);
	r = this_run.segment_fd < 0 || this_run.phys_fd < 0
		    ? -ESRCH
		    : kern_attach(this_run.segment_fd, this_run.phys_fd, false, NULL, 0);
	if (r)
		close_memory();
	return r;
}

/* Tries each member. */
static int join_any(void)
{
	char path[PATH_MAX + 16];
	struct dirent *entry;
	int r = -ESRCH;
	DIR *procs;

	snprintf(path, sizeof(path), "%s/procs", this_run.root);
	procs = opendir(path); /* not active yet: libc's own */
	if (!procs)
		return -errno;
	while (r && (entry = readdir(procs)))
		if (entry->d_name[0] != '.')
			r = join_through(entry->d_name);
	closedir(procs);
	return r;
}

int shim_run_join(const char *dir)
{
	int r = is_own(dir) ? root_lock(dir, 0) : -ESRCH;

	if (r)
		return r;
	snprintf(this_run.root, sizeof(this_run.root), "%s", dir);
	r = join_any();
	if (!r) {
		r = take_part();
		if (r)
			kern_detach(true);
	}
	if (r)
		close_files();
	else
		vgpu_trace_join(false);
	return r;
}

void shim_run_leave(void)
{
	bool last = kern_alone();

	kern_detach(false);
	vgpu_trace_leave(last);
	withdraw_member();
	if (last)
		shim_tree_remove(this_run.root);
	close_files();
	this_run.root[0] = 0;
}

void shim_run_forked(void)
{
	this_run.pid = getpid();
	publish_member();
	vgpu_trace_join(false);
}

void shim_run_leave_in_haste(void)
{
	bool last;

	if (!shim_active() || !shim_run_is_member())
		return;
	last = kern_alone();
	vgpu_trace_leave(last);
	if (last)
		shim_tree_remove(this_run.root);
	else
		withdraw_member();
}

SHIM_EXPORT void _exit(int status)
{
	shim_run_leave_in_haste();
	SHIM_REAL(_exit)(status);
	__builtin_unreachable();
}

SHIM_EXPORT void _Exit(int status)
{
	shim_run_leave_in_haste();
	SHIM_REAL(_Exit)(status);
	__builtin_unreachable();
}
