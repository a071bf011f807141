/* Runs: their directory, the memory files, the member processes.
 *
 * The segment and the physical memory are memfds: no file system limits their size, and they are freed with the
 * last process. A process that joins opens them through /proc/PID/fd of a member; DIR/procs/PID has their numbers.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vgpu/report.h"
#include "vgpu/shim/shim.h"
#include "vgpu/sys.h"
#include "vgpu/trace.h"

_Atomic bool shim_is_active;

/* The run of this process. Written while no other thread uses the shim. */
static struct {
	char root[PATH_MAX];
	pid_t pid; /* process that joined: this one, or the parent of a vfork child */
	int segment_fd, phys_fd;
	uint64_t memfd_dev, pipe_dev;
} this_run = {.segment_fd = -1, .phys_fd = -1};

const char *shim_root(void)
{
	return this_run.root;
}

bool shim_run_owns(int fd)
{
	return fd >= 0 && (fd == this_run.segment_fd || fd == this_run.phys_fd);
}

unsigned shim_run_next_owned(unsigned first)
{
	unsigned a = (unsigned)this_run.segment_fd, b = (unsigned)this_run.phys_fd, low = a < b ? a : b,
		 high = a < b ? b : a;

	return first <= low ? low : first <= high ? high : UINT_MAX; /* no descriptor, -1, is UINT_MAX too */
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

/* Is anyone in this run? */
static bool run_is_alive(const char *root)
{
	char path[PATH_MAX + 16];
	struct dirent *entry;
	bool alive = false;
	DIR *procs;

	snprintf(path, sizeof(path), "%s/procs", root);
	procs = opendir(path);
	while (procs && !alive && (entry = readdir(procs))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		alive = pid > 0 && sys_call6(SYS_kill, pid, 0, 0, 0, 0, 0) != -ESRCH;
	}
	if (procs)
		closedir(procs);
	return alive || !procs; /* without procs it is being made */
}

/* Removes what runs that were killed have left. */
static void remove_dead_runs(const char *base)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir(base);

	while (dir && (entry = readdir(dir))) {
		struct stat st;

		if (strncmp(entry->d_name, "tuff-vgpu-", 10) ||
		    snprintf(path, sizeof(path), "%s/%s", base, entry->d_name) >= (int)sizeof(path))
			continue;
		if (lstat(path, &st) || st.st_uid != getuid() || time(NULL) - st.st_mtime < 60)
			continue;
		if (!run_is_alive(path))
			shim_tree_remove(path);
	}
	if (dir)
		closedir(dir);
}

static int make_root(void)
{
	const char *bases[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};

	for (unsigned i = 0; i < 3; i++) {
		if (!bases[i] || !*bases[i])
			continue;
		if (snprintf(this_run.root, sizeof(this_run.root), "%s/tuff-vgpu-XXXXXX", bases[i]) <
			    (int)sizeof(this_run.root) &&
		    mkdtemp(this_run.root)) {
			remove_dead_runs(bases[i]);
			return 0;
		}
	}
	this_run.root[0] = 0;
	return -EACCES;
}

/* Publishes the numbers of the memory files for later processes. */
static int publish_member(void)
{
	char path[PATH_MAX + 32], text[64];
	long fd;
	int n;

	snprintf(path, sizeof(path), "%s/procs/%d", this_run.root, (int)getpid());
	n = snprintf(text, sizeof(text), "%d %d\n", this_run.segment_fd, this_run.phys_fd);
	fd = sys_call6(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600, 0, 0);
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
	int fds[2] = {this_run.segment_fd, this_run.phys_fd};

	this_run.segment_fd = this_run.phys_fd = -1;
	for (unsigned i = 0; i < 2; i++)
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
	const char *inject = getenv("TUFF_VGPU_INJECT");
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
	close_files();
	shim_tree_remove(this_run.root);
	this_run.root[0] = 0;
	return r;
}

/* --- joining --- */

static int open_of(pid_t pid, int fd)
{
	char path[64];
	int mine;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	mine = sys_open(path, O_RDWR | O_CLOEXEC);
	return mine < 0 ? mine : move_up(mine);
}

/* Joins through a member process; -errno if it has died or is no member. */
static int join_through(const char *name)
{
	char path[PATH_MAX + 300], text[64] = "";
	int segment_fd, phys_fd, fd, r;
	pid_t pid = (pid_t)strtol(name, NULL, 10);

	snprintf(path, sizeof(path), "%s/procs/%s", this_run.root, name);
	fd = pid > 0 ? sys_open(path, O_RDONLY | O_CLOEXEC) : -ESRCH;
	if (fd < 0)
		return -ESRCH;
	sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	if (sscanf(text, "%d %d", &segment_fd, &phys_fd) != 2)
		return -ESRCH;
	this_run.segment_fd = open_of(pid, segment_fd);
	this_run.phys_fd = open_of(pid, phys_fd);
	r = this_run.segment_fd < 0 || this_run.phys_fd < 0
		    ? -ESRCH
		    : kern_attach(this_run.segment_fd, this_run.phys_fd, false, NULL, 0);
	if (r)
		close_files();
	return r;
}

int shim_run_join(const char *dir)
{
	char path[PATH_MAX + 16];
	struct dirent *entry;
	int r = -ESRCH;
	DIR *procs;

	snprintf(this_run.root, sizeof(this_run.root), "%s", dir);
	snprintf(path, sizeof(path), "%s/procs", dir);
	procs = opendir(path); /* not active yet: libc's own */
	if (!procs)
		return -errno;
	while (r && (entry = readdir(procs)))
		if (entry->d_name[0] != '.')
			r = join_through(entry->d_name);
	closedir(procs);
	if (r)
		return r;
	r = take_part();
	if (r) {
		kern_detach(true);
		close_files();
	} else {
		vgpu_trace_join(false);
	}
	return r;
}

void shim_run_leave(bool exiting)
{
	bool last = kern_alone();

	kern_detach(exiting);
	vgpu_trace_leave(last);
	withdraw_member();
	close_files();
	if (last)
		shim_tree_remove(this_run.root);
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

	if (!shim_active() || this_run.pid != getpid())
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
