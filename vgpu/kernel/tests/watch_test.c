/* Descriptors that become ready when a fence does: SYNCOBJ_EVENTFD, poll() on sync files, in other processes too.
 */
#include <poll.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <xf86drm.h>
#include "vgpu/kernel/tests/test_rig.h"

static int ask(uint32_t handle, uint64_t point, uint32_t flags, int fd)
{
	struct uapi_syncobj_eventfd args = {handle, flags, point, fd, 0};

	return rig_call(UAPI_IOCTL_SYNCOBJ_EVENTFD, &args);
}

static bool ready(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1 && p.revents & POLLIN;
}

/* How often it was told. */
static uint64_t count(int fd)
{
	uint64_t n = 0;

	return ready(fd, 10000) && read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static uint32_t fence_of(uint64_t seq, uint32_t what)
{
	union drm_amdgpu_fence_to_handle args = {
		.in = {.fence = {rig.ctx, AMDGPU_HW_IP_COMPUTE, 0, 0, seq}, .what = what}};

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &args), 0);
	return args.out.handle;
}

static void bad_requests_are_refused(void)
{
	struct uapi_syncobj_eventfd padded = {.pad = 1};
	int ev = eventfd(0, EFD_CLOEXEC);
	uint32_t sync;

	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &sync), 0);
	padded.handle = sync;
	padded.fd = ev;
	CHECK_EQ(rig_call(UAPI_IOCTL_SYNCOBJ_EVENTFD, &padded), -EINVAL);
	CHECK_EQ(ask(sync, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL, ev), -EINVAL);
	CHECK_EQ(ask(sync + 1, 0, 0, ev), -ENOENT);
	CHECK_EQ(ask(sync, 0, 0, 12345), -EBADF);
	CHECK_EQ(ask(sync, 0, 0, rig.fd), -EINVAL);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, sync), 0);
	close(ev);
}

static void an_eventfd_is_told_of_points(void)
{
	int ev = eventfd(0, EFD_CLOEXEC), early = eventfd(0, EFD_CLOEXEC), now = eventfd(0, EFD_CLOEXEC);
	uint64_t seq, point = 5;
	uint32_t sync, of_job;

	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &sync), 0);
	CHECK_EQ(ask(sync, 5, 0, ev), 0); /* there is no such point yet */
	CHECK_EQ(ask(sync, 5, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE, early), 0);
	CHECK_EQ(ask(sync, 5, 0, ev), 0); /* twice: it is told twice */
	CHECK(!ready(ev, 20));
	CHECK(!ready(early, 0));
	CHECK_EQ(rig_submit(rig.list, &seq), 0);
	of_job = fence_of(seq, AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ);
	CHECK_EQ(drmSyncobjTransfer(rig.fd, sync, 5, of_job, 0, 0), 0);
	CHECK_EQ(count(early), 1); /* it exists, and is not reached */
	CHECK(!ready(ev, 0));
	CHECK_EQ(rig_wait(seq), 0);
	CHECK(ready(ev, 10000));
	usleep(20000);
	CHECK_EQ(count(ev), 2);
	CHECK_EQ(ask(sync, 5, 0, now), 0);
	CHECK_EQ(count(now), 1);
	point = 9;
	CHECK_EQ(ask(sync, 9, 0, ev), 0);
	CHECK(!ready(ev, 20));
	CHECK_EQ(drmSyncobjTimelineSignal(rig.fd, &sync, &point, 1), 0);
	CHECK_EQ(count(ev), 1);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, sync), 0);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, of_job), 0);
	close(ev);
	close(early);
	close(now);
}

static void a_sync_file_is_ready_with_its_fence(void)
{
	uint64_t seq;
	int file, merged, done;

	CHECK_EQ(rig_submit(rig.list, &seq), 0);
	file = (int)fence_of(seq, AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD);
	merged = dup(file);
	CHECK(!ready(file, 0));
	CHECK(!ready(merged, 10));
	CHECK(ready(file, 10000));
	CHECK(ready(file, 0)); /* and stays so */
	CHECK(ready(merged, 0));
	CHECK_EQ(rig_wait_ctx(rig.ctx, seq, 0), 0);
	done = (int)fence_of(seq, AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD); /* of what is over */
	CHECK(ready(done, 0));
	close(done);
	close(file);
	close(merged);
}

/* The child signals what the parent waits for, and the other way round. */
static void another_process_signals(void)
{
	int ev = eventfd(0, EFD_CLOEXEC), status;
	uint32_t mine, its;
	pid_t pid;

	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &mine), 0);
	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &its), 0);
	CHECK_EQ(ask(mine, 0, 0, ev), 0);
	pid = fork();
	if (!pid) {
		int own = eventfd(0, 0);

		if (ask(its, 0, 0, own) || drmSyncobjSignal(rig.fd, &mine, 1))
			_exit(1);
		_exit(count(own) == 1 ? 7 : 2);
	}
	CHECK_EQ(count(ev), 1);
	CHECK_EQ(drmSyncobjSignal(rig.fd, &its, 1), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, mine), 0);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, its), 0);
	close(ev);
}

static unsigned descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* A watch keeps neither its syncobj nor a copy of the eventfd. */
static bool watches_are_left(unsigned before)
{
	struct vgpu_live live;

	close(rig_open("/dev/dri/renderD128")); /* which looks after processes that died */
	vgpu_live(&live);
	return live.syncobjs || descriptors() != before;
}

/* Who dies, or leaves, with watches open leaves nothing behind. */
static void nothing_is_left_of_watches(void)
{
	int ev = eventfd(0, EFD_CLOEXEC), status;
	unsigned before = descriptors();
	uint32_t sync;
	pid_t pid;

	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &sync), 0);
	pid = fork();
	if (!pid)
		_exit(ask(sync, 0, 0, ev) ? 1 : 7);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	CHECK_EQ(ask(sync, 3, 0, ev), 0);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, sync), 0);
	for (unsigned n = 0; n < 2000 && watches_are_left(before); n++)
		usleep(1000);
	CHECK(!watches_are_left(before));
	CHECK(!ready(ev, 0));
	close(ev);
}

static void older_kernels_do_not_have_it(void)
{
	int ev = eventfd(0, EFD_CLOEXEC);
	uint32_t sync;

	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &sync), 0);
	CHECK_EQ(ask(sync, 0, 0, ev), -EINVAL);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, sync), 0);
	close(ev);
}

int main(void)
{
	struct vgpu_live live;

	vgpu_strict_set(VGPU_STRICT_OFF);
	rig_start("null:gfx908:service_us=200000");
	bad_requests_are_refused();
	an_eventfd_is_told_of_points();
	a_sync_file_is_ready_with_its_fence();
	another_process_signals();
	vgpu_live(&live);
	CHECK_EQ(live.syncobjs, 0);
	rig_stop();
	rig_start("null:gfx908:kernel=6.1");
	older_kernels_do_not_have_it();
	rig_stop();
	CHECK_EQ(vgpu_start("null:gfx908"), 0);
	rig.fd = rig_open("/dev/dri/renderD128");
	nothing_is_left_of_watches();
	close(rig.fd);
	vgpu_stop();
	return check_done("descriptors of fences");
}
