/* Another user's process, and a process that destroys the segment of its own run: neither joins, reads or disturbs a run
 * that is not its own. Files with the content of runs are their owner's alone. */
#include <amdgpu_drm.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xf86drm.h>

#include "tests/check.h"
#include "vgpu/kernel/base/core.h"
#include "vgpu/report.h"
#include "vgpu/shim/shim.h"
#include "vgpu/vgpu.h"

#define NOBODY 65534
#define ROUNDS 12

static int pipe_to(pid_t (*start)(int from), pid_t *pid)
{
	int ends[2];

	CHECK(!pipe2(ends, O_CLOEXEC));
	fflush(stdout);
	*pid = start(ends[0]);
	close(ends[0]);
	return ends[1];
}

static int status_of(pid_t pid)
{
	int status = -1;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

/* A run works: a file of its device is opened, and has buffers. */
static void run_works(void)
{
	struct drm_amdgpu_info info = {.query = AMDGPU_INFO_VRAM_USAGE};
	uint64_t used = UINT64_MAX;
	int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);

	info.return_pointer = (uintptr_t)&used;
	info.return_size = sizeof(used);
	CHECK(fd >= 0 && !drmIoctl(fd, DRM_IOCTL_AMDGPU_INFO, &info) && used != UINT64_MAX);
	close(fd);
}

/* --- another user ----------------------------------------------------------------------------- */

/* What another user's process tries with the directory of a run, and with the descriptors of a member. */
struct target {
	char root[PATH_MAX];
	pid_t member;
};

static bool opens(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void try_paths(const struct target *t)
{
	static const char *const names[] = {"", "lock", "procs", "dev", "sys"};
	char path[PATH_MAX + 32];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", t->root, names[i]);
		CHECK(!opens(path));
	}
	snprintf(path, sizeof(path), "%s/lock", t->root);
	CHECK(unlink(path) && rename(t->root, "/tmp/tuff-users-stolen"));
	for (unsigned fd = 0; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)t->member, fd);
		CHECK(!opens(path));
	}
}

static pid_t start_stranger(int from)
{
	struct target t;
	pid_t pid = fork();

	if (pid)
		return pid;
	check_failed_ = 0;
	if (read(from, &t, sizeof(t)) != sizeof(t) || setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(9);
	try_paths(&t);
	CHECK_EQ(shim_run_join(t.root), -ESRCH);
	/* A run of its own. Its start removes what dead runs left, and nothing else. */
	CHECK_EQ(vgpu_start("null:gfx908"), 0);
	CHECK(strcmp(shim_root(), t.root) != 0);
	run_works();
	vgpu_stop();
	fflush(stdout);
	_exit(check_failed_ != 0);
}

static void other_users_stay_out(void)
{
	struct target t = {.member = getpid()};
	pid_t pid;
	int to;

	if (geteuid()) {
		printf("not root: that other users are refused was not tried\n");
		return;
	}
	to = pipe_to(start_stranger, &pid);
	CHECK_EQ(vgpu_start("null:gfx908"), 0);
	snprintf(t.root, sizeof(t.root), "%s", shim_root());
	CHECK_EQ(write(to, &t, sizeof(t)), (ssize_t)sizeof(t));
	CHECK_EQ(status_of(pid), 0);
	run_works();
	vgpu_stop();
	close(to);
}

/* --- a segment that its own process destroys ---------------------------------------------------- */

static void scribble(unsigned seed)
{
	uint64_t words = (kern->heap_next - KERN_SEGMENT_ADDR) / sizeof(uint64_t);

	srandom(seed);
	for (unsigned i = 0; i < 2000; i++)
		((volatile uint64_t *)kern)[(uint64_t)random() % words] =
			(uint64_t)random() << 32 | (uint64_t)random();
}

static unsigned next_seed;

/* It may crash or hang, which ends its own run. */
static pid_t start_vandal(int from)
{
	pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	signal(SIGSEGV, SIG_DFL);
	if (freopen("/dev/null", "w", stderr) && read(from, &byte, 1) == 1 && !vgpu_start("null:gfx908")) {
		run_works();
		scribble(next_seed);
		alarm(2);
		run_works();
		vgpu_stop();
	}
	_exit(0);
}

static void a_destroyed_segment_harms_its_own_run(void)
{
	pid_t pid[ROUNDS];
	int to[ROUNDS];

	for (next_seed = 0; next_seed < ROUNDS; next_seed++)
		to[next_seed] = pipe_to(start_vandal, &pid[next_seed]);
	CHECK_EQ(vgpu_start("null:gfx908"), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		CHECK_EQ(write(to[i], "", 1), 1);
		status_of(pid[i]);
		close(to[i]);
		run_works();
	}
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
	/* The next run removes what theirs have left. */
	CHECK_EQ(vgpu_start("null:gfx908"), 0);
	vgpu_stop();
}

/* --- files ------------------------------------------------------------------------------------ */

static void files_are_private(const char *folder)
{
	static const char *const names[] = {"log", "trace"};
	char path[128];
	struct stat st;

	CHECK_EQ(vgpu_start("null:gfx908"), 0);
	vgpu_log("a line");
	CHECK(!stat(shim_root(), &st) && (st.st_mode & 0777) == 0700);
	vgpu_stop();
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		CHECK(!stat(path, &st) && (st.st_mode & 0777) == 0600);
		unlink(path);
	}
}

int main(void)
{
	char folder[] = "/tmp/tuff-users-XXXXXX", path[128];

	if (!CHECK(mkdtemp(folder)))
		return check_done("other users and other runs");
	umask(0);
	snprintf(path, sizeof(path), "%s/log", folder);
	setenv("TUFF_VGPU_LOG", path, 1);
	snprintf(path, sizeof(path), "%s/trace", folder);
	setenv("TUFF_VGPU_TRACE", path, 1);
	files_are_private(folder);
	unsetenv("TUFF_VGPU_TRACE");
	vgpu_strict_set(VGPU_STRICT_OFF);
	setenv("TMPDIR", folder, 1);
	unsetenv("XDG_RUNTIME_DIR");
	a_destroyed_segment_harms_its_own_run();
	CHECK_EQ(rmdir(folder), 0);
	setenv("TMPDIR", "/tmp", 1);
	other_users_stay_out();
	return check_done("other users and other runs");
}
