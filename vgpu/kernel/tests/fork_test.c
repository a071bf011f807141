/* Parents that die before their child has entered the run, and children that never enter it. The handlers of this file are
 * registered before the virtual GPU's: they run between fork() and its own. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>
#include "vgpu/kernel/tests/test_packets.h"

static enum { NOBODY, PARENT, CHILD } dies;
static int go[2], answer[2];

static void parent_dies(void)
{
	if (dies == PARENT)
		syscall(SYS_exit_group, 0);
}

static void child_waits(void)
{
	char byte;

	if (dies == CHILD)
		syscall(SYS_exit_group, 0);
	if (dies == PARENT)
		(void)!syscall(SYS_read, go[0], &byte, 1);
}

__attribute__((constructor(101))) static void register_first(void)
{
	pthread_atfork(NULL, parent_dies, child_waits);
}

/* A process that opens a file of its own, and forks: the file is the child's only if its holds outlive the parent. */
static void open_and_fork(void)
{
	struct drm_amdgpu_info args = {0};
	uint32_t works = 0;
	int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	char result;

	args.return_pointer = (uintptr_t)&works;
	args.return_size = sizeof(works);
	args.query = AMDGPU_INFO_ACCEL_WORKING;
	dies = PARENT;
	if (fork())
		_exit(1);
	result = !drmIoctl(fd, DRM_IOCTL_AMDGPU_INFO, &args) && works;
	(void)!write(answer[1], &result, 1);
	_exit(0);
}

/* Opens a file, and uses it when the parent says so. */
static void open_and_wait(void)
{
	struct drm_amdgpu_info args = {0};
	uint32_t works = 0;
	int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	char byte = 0;

	args.return_pointer = (uintptr_t)&works;
	args.return_size = sizeof(works);
	args.query = AMDGPU_INFO_ACCEL_WORKING;
	if (fd < 0 || write(answer[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
		_exit(1);
	_exit(drmIoctl(fd, DRM_IOCTL_AMDGPU_INFO, &args) || !works);
}

/* The process that looks cannot open /proc/PID/stat. */
static void a_neighbour_lives_for_a_process_without_descriptors(void)
{
	struct rlimit old, none;
	struct vgpu_live with, without;
	int status = -1;
	char byte;
	pid_t pid;

	dies = NOBODY;
	CHECK_EQ(pipe(go) | pipe(answer), 0);
	pid = fork();
	if (!pid)
		open_and_wait();
	CHECK_EQ(read(answer[0], &byte, 1), 1);
	vgpu_live(&with);
	getrlimit(RLIMIT_NOFILE, &old);
	none = (struct rlimit){0, old.rlim_max};
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	vgpu_live(&without); /* looks after processes that died */
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
	CHECK_EQ(without.files, with.files);
	CHECK_EQ(write(go[1], "", 1), 1);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	for (unsigned i = 0; i < 2; i++) {
		close(go[i]);
		close(answer[i]);
	}
}

static void a_child_outlives_its_parent(void)
{
	struct vgpu_live before, after;
	char result = 0;
	int status;
	pid_t pid;

	CHECK_EQ(pipe(go) | pipe(answer), 0);
	vgpu_live(&before);
	pid = fork();
	if (!pid)
		open_and_fork();
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	vgpu_live(&after); /* reaps the parent, not the child */
	CHECK_EQ(after.files, before.files + 1);
	CHECK_EQ(write(go[1], "", 1), 1);
	CHECK_EQ(read(answer[0], &result, 1), 1);
	CHECK_EQ(result, 1);
	for (unsigned i = 0; i < 1000 && after.files != before.files; i++) { /* until it has ended */
		usleep(10000);
		vgpu_live(&after);
	}
	CHECK_EQ(after.files, before.files);
}

static void a_child_that_never_enters_leaves_nothing(void)
{
	struct vgpu_live before, after;
	int status, fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	pid_t pid;

	vgpu_live(&before);
	for (unsigned i = 0; i < 2 * 256; i++) { /* slots */
		dies = CHILD;
		pid = fork();
		dies = NOBODY;
		CHECK_EQ(waitpid(pid, &status, 0), pid);
	}
	close(fd);
	vgpu_live(&after);
	CHECK_EQ(after.files, before.files - 1);
}

static _Atomic bool forks_over;

/* Objects that the kernel's lists have, as the fork handlers visit them. */
static void *files_open(void *unused)
{
	while (!atomic_load(&forks_over)) {
		int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);

		CHECK(fd >= 0);
		close(fd);
	}
	return unused;
}

/* ThreadSanitizer sees the lock of the fork handlers' accesses. */
static void other_threads_open_files_meanwhile(void)
{
	pthread_t opener;
	int status = 1;
	pid_t pid;

	dies = NOBODY;
	CHECK_EQ(pthread_create(&opener, NULL, files_open, NULL), 0);
	for (unsigned i = 0; i < 20; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	}
	atomic_store(&forks_over, true);
	pthread_join(opener, NULL);
}

/* The context is closed by the process that reaps the child, while that process's own ring runs the job. */
static void a_child_dies_with_the_file_of_a_job(void)
{
	struct vgpu_live live;
	int status;
	pid_t pid;

	dies = NOBODY;
	rig_start("gfx908");
	pid = fork();
	while (!pid)
		pause();
	rig.ib_dw = 0;
	emit_write(RIG_DATA_VA + 4, 1);
	emit_wait_for(RIG_DATA_VA, 1);
	while (rig.ib_dw < 16)
		emit(RIG_NOP);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	while (!__atomic_load_n(&rig.data[1], __ATOMIC_ACQUIRE))
		usleep(1000);
	munmap(rig.ib, 4096);
	close(rig.fd);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	vgpu_live(&live);
	CHECK_EQ(live.files, 0);
	CHECK_EQ(live.jobs, 1);
	__atomic_store_n(&rig.data[0], 1, __ATOMIC_RELEASE);
	munmap(rig.data, 4096);
	for (unsigned i = 0; i < 2000 && vgpu_live_objects(); i++)
		usleep(1000);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	rig_start("null:gfx908");
	a_neighbour_lives_for_a_process_without_descriptors();
	a_child_outlives_its_parent();
	a_child_that_never_enters_leaves_nothing();
	other_threads_open_files_meanwhile();
	rig_stop();
	a_child_dies_with_the_file_of_a_job();
	return check_done("forks");
}
