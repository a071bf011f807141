/* Directories of runs: they belong to one user, stay while a process of the run lives, wherever it lives, and are removed when
 * none does. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/check.h"
#include "vgpu/report.h"
#include "vgpu/shim/shim.h"
#include "vgpu/vgpu.h"

#define SKIPPED 77

static char base[] = "/tmp/tuff-runs-XXXXXX"; /* XDG_RUNTIME_DIR: this test's runs and no others */

/* --- a run in another process ----------------------------------------------------------------- */

struct other {
	pid_t pid;
	int stop; /* written: the process ends its run */
	char root[PATH_MAX];
};

static void run_until_told(int ready, int stop)
{
	struct vgpu_env env;
	char c;

	if (vgpu_run_create("gfx906", &env) || write(ready, env.run, sizeof(env.run)) != sizeof(env.run))
		_exit(1);
	(void)!read(stop, &c, 1);
	vgpu_stop();
	_exit(0);
}

static void other_start(struct other *o)
{
	int ready[2], stop[2];

	CHECK(!pipe2(ready, O_CLOEXEC) && !pipe2(stop, O_CLOEXEC));
	o->pid = fork();
	if (!o->pid) {
		close(stop[1]);
		run_until_told(ready[1], stop[0]);
	}
	close(ready[1]);
	close(stop[0]);
	o->stop = stop[1];
	CHECK_EQ(read(ready[0], o->root, sizeof(o->root)), sizeof(((struct vgpu_env *)0)->run));
	close(ready[0]);
	CHECK(!strncmp(o->root, base, strlen(base)));
}

static int other_end(struct other *o)
{
	int status = -1;

	close(o->stop);
	CHECK_EQ(waitpid(o->pid, &status, 0), o->pid);
	return status;
}

static void make_old(const char *path)
{
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	CHECK_EQ(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* A run begins and ends in a process of its own, and removes what it takes for dead. */
static int start_and_stop(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		int r = vgpu_start("gfx906");

		if (!r)
			vgpu_stop();
		_exit(!!r);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return status;
}

/* --- checks ----------------------------------------------------------------------------------- */

static void a_run_is_private(void)
{
	struct other o;
	struct stat st;
	char lock[PATH_MAX + 8];

	other_start(&o);
	CHECK_EQ(stat(o.root, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0700);
	snprintf(lock, sizeof(lock), "%s/lock", o.root);
	CHECK_EQ(stat(lock, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	CHECK_EQ(other_end(&o), 0);
	CHECK(!exists(o.root));
}

static void an_old_run_that_lives_stays(void)
{
	struct other o;

	other_start(&o);
	make_old(o.root);
	CHECK_EQ(start_and_stop(), 0);
	CHECK(exists(o.root));
	CHECK_EQ(other_end(&o), 0);
	CHECK(!exists(o.root));
}

/* In a new PID namespace, where no process of the run has a number. */
static int start_in_namespace(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(unshare(CLONE_NEWPID) ? SKIPPED : WEXITSTATUS(start_and_stop()));
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return WEXITSTATUS(status);
}

static void a_run_of_another_namespace_stays(void)
{
	struct other o;
	int result;

	other_start(&o);
	make_old(o.root);
	result = start_in_namespace();
	if (result == SKIPPED)
		printf("no new PID namespace can be made here\n");
	else
		CHECK_EQ(result, 0);
	CHECK(exists(o.root));
	CHECK_EQ(other_end(&o), 0);
}

static void a_dead_run_is_removed(void)
{
	struct other o;

	other_start(&o);
	CHECK_EQ(kill(o.pid, SIGKILL), 0);
	CHECK_EQ(WTERMSIG(other_end(&o)), SIGKILL);
	CHECK(exists(o.root));
	CHECK_EQ(start_and_stop(), 0);
	CHECK(!exists(o.root));
}

/* Names of runs that are no runs, or of another user's making. */
static void nothing_else_is_removed(void)
{
	char link[64], shared[64], victim[64], file[96];

	snprintf(link, sizeof(link), "%s/tuff-run-link00", base);
	snprintf(shared, sizeof(shared), "%s/tuff-run-shared", base);
	snprintf(victim, sizeof(victim), "%s/victim", base);
	snprintf(file, sizeof(file), "%s/file", victim);
	CHECK(!mkdir(victim, 0700) && !symlink(victim, link));
	CHECK(!mkdir(shared, 0700) && !chmod(shared, 0777));
	close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	CHECK_EQ(start_and_stop(), 0);
	CHECK(exists(link) && exists(shared) && exists(file));
	/* Nor are they joined. */
	CHECK_EQ(shim_run_join(link), -ESRCH);
	CHECK_EQ(shim_run_join(shared), -ESRCH);
	CHECK(!unlink(file) && !unlink(link) && !rmdir(victim) && !rmdir(shared));
}

/* A process that has a member's number, and its descriptors, is not taken for it. */
static void a_member_is_recognised(void)
{
	char root[64], procs[80], path[112], lock[80];
	FILE *file;

	snprintf(root, sizeof(root), "%s/tuff-run-member", base);
	snprintf(procs, sizeof(procs), "%s/procs", root);
	snprintf(lock, sizeof(lock), "%s/lock", root);
	CHECK(!mkdir(root, 0700) && !mkdir(procs, 0700));
	CHECK_EQ(shim_run_join(root), -ENOENT);
	close(open(lock, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	snprintf(path, sizeof(path), "%s/%d", procs, (int)getpid());
	file = fopen(path, "we");
	CHECK(file && fprintf(file, "0 1 12 13\n") > 0 && !fclose(file));
	CHECK_EQ(shim_run_join(root), -ESRCH);
	CHECK(!unlink(path) && !unlink(lock) && !rmdir(procs) && !rmdir(root));
}

/* --- a handler that ends the process ------------------------------------------------------------ */

static bool allocates_not; /* the process ends without */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* A signal may have come while its thread was inside of malloc(). */
__attribute__((visibility("default"))) void *malloc(size_t size_B)
{
	void *(*libc)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");

	if (allocates_not)
		syscall(SYS_exit_group, 3);
	return libc(size_B);
}
#endif

static void leave_by_exit(int number)
{
	(void)number;
	allocates_not = true;
	_exit(0);
}

static void a_handler_may_end_the_process(void)
{
	char root[PATH_MAX];
	int ready[2], status = -1;
	pid_t child;

	CHECK(!pipe2(ready, O_CLOEXEC));
	child = fork();
	if (!child) {
		signal(SIGUSR1, leave_by_exit);
		if (vgpu_start("gfx906"))
			_exit(1);
		snprintf(root, sizeof(root), "%s", shim_root());
		(void)!write(ready[1], root, sizeof(root));
		raise(SIGUSR1);
	}
	close(ready[1]);
	CHECK_EQ(read(ready[0], root, sizeof(root)), sizeof(root));
	close(ready[0]);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK(!exists(root));
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	CHECK(mkdtemp(base));
	setenv("XDG_RUNTIME_DIR", base, 1);
	a_run_is_private();
	an_old_run_that_lives_stays();
	a_run_of_another_namespace_stays();
	a_dead_run_is_removed();
	nothing_else_is_removed();
	a_member_is_recognised();
	a_handler_may_end_the_process();
	CHECK_EQ(rmdir(base), 0);
	return check_done("directories of runs");
}
