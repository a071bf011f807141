/* Processes killed while they sleep inside an ioctl: what the call held is let go of, nothing of the dead stays, and no
 * wake-up that they had is missing to others. */
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <xf86drm.h>
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/kernel/tests/test_rig.h"

static uint32_t shared; /* a syncobj that nobody signals, of the file that is inherited */

/* The 33rd job of an entity blocks, with the VM locked. */
static void submit_too_many(void)
{
	for (unsigned i = 0; i < 40; i++)
		rig_submit(rig.list, NULL);
}

static void wait_for_a_syncobj(void)
{
	drmSyncobjWait(rig.fd, &shared, 1, INT64_MAX, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, NULL);
}

static void wait_for_a_submission(void)
{
	struct drm_amdgpu_cs_chunk_syncobj in = {shared, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, 1};
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA, 64, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk chunk[2] = {
		{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
		{AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, sizeof(in) / 4, (uintptr_t)&in}};
	uint64_t pointer[2] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {rig.ctx, rig.list, 2, 0, (uintptr_t)pointer}};

	rig_call(DRM_IOCTL_AMDGPU_CS, &args);
}

static void wait_for_a_buffer(void)
{
	union drm_amdgpu_gem_wait_idle args = {.in = {rig.data_bo, 0, UINT64_MAX}};

	for (unsigned i = 0; i < 20; i++)
		rig_submit(rig.list, NULL);
	rig_call(DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE, &args);
}

/* Kills a child in the middle of `ioctl`, on the parent's file or on one of its own. */
static void dies_in(void (*ioctls)(void))
{
	struct vgpu_live before, after;
	int status, ready[2];
	char byte = 0;
	pid_t pid;

	vgpu_live(&before);
	CHECK(!pipe(ready));
	pid = fork();
	if (!pid) {
		rig.ctx = rig_ctx();
		if (write(ready[1], &byte, 1) == 1)
			ioctls();
		pause();
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	usleep(60000);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	vgpu_live(&after);
	CHECK_EQ(after.jobs, before.jobs);
	CHECK_EQ(after.bos, before.bos);
	CHECK_EQ(after.syncobjs, before.syncobjs);
	CHECK_EQ(after.bo_lists, before.bo_lists);
	CHECK_EQ(after.files, before.files);
	CHECK_EQ(after.contexts, before.contexts + 1); /* the file is the parent's, and so is what is in it */
	CHECK_EQ(rig_submit(rig.list, NULL), 0);       /* the VM is free again */
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
}

static struct kern_proc *proc_of(pid_t pid)
{
	for (unsigned i = 0; i < KERN_PROCS; i++)
		if (kern->proc[i].serial && kern->proc[i].pid == pid)
			return &kern->proc[i];
	return NULL;
}

/* A process with rings that ends at the other end of the pipe. */
static pid_t start_worker(int until)
{
	pid_t pid = fork();
	char byte;

	if (!pid) {
		rig.ctx = rig_ctx();
		rig_submit(rig.list, NULL);
		(void)!read(until, &byte, 1);
		syscall(SYS_exit_group, 0);
	}
	return pid;
}

/* Frees the rings of the dead process, and dies. The parent's housekeeping may have been faster: then it only dies. */
static pid_t start_reaper(int until, pid_t dead)
{
	pid_t pid = fork();
	struct kern_proc *proc;
	char byte;

	if (!pid) {
		(void)!read(until, &byte, 1);
		kern_lock();
		proc = proc_of(dead);
		if (proc)
			kern_sched_proc_gone(proc);
		raise(SIGKILL);
	}
	return pid;
}

/* The next process reaps both. */
static void dies_while_it_reaps(void)
{
	int to_worker[2], to_reaper[2], status;
	struct vgpu_live live;
	pid_t worker, reaper;

	CHECK(!pipe(to_worker) && !pipe(to_reaper));
	worker = start_worker(to_worker[0]);
	reaper = start_reaper(to_reaper[0], worker);
	CHECK_EQ(write(to_worker[1], "", 1), 1);
	CHECK_EQ(waitpid(worker, &status, 0), worker);
	CHECK_EQ(write(to_reaper[1], "", 1), 1);
	CHECK_EQ(waitpid(reaper, &status, 0), reaper);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	vgpu_live(&live); /* housekeeping, if the calls above came between two of its rounds */
	CHECK(!proc_of(worker) && !proc_of(reaper));
	for (unsigned i = 0; i < 2; i++)
		CHECK(!close(to_worker[i]) && !close(to_reaper[i]));
}

/* --- a lock whose wake-up was lost --- */

static void *take_lock(void *taken)
{
	kern_lock();
	kern_unlock();
	atomic_store((_Atomic bool *)taken, true);
	return NULL;
}

/* The lock's word in glibc, and its mark that threads sleep. */
static void lock_word_forget(void)
{
	_Atomic uint32_t *word = (_Atomic uint32_t *)&kern->lock;

	for (unsigned i = 0; i < 5000 && !(atomic_load(word) & FUTEX_WAITERS); i++)
		usleep(1000);
	usleep(2000); /* the thread marks the word, then sleeps */
	CHECK(atomic_fetch_and(word, ~FUTEX_WAITERS) & FUTEX_WAITERS);
}

/* As after a process that was woken to take the lock, and ended, while this one took it: nobody wakes the thread. */
static void takes_the_lock_without_a_wake(void)
{
	_Atomic bool taken = false;
	pthread_t thread;

	kern_lock();
	CHECK_EQ(pthread_create(&thread, NULL, take_lock, &taken), 0);
	lock_word_forget();
	kern_unlock();
	for (unsigned i = 0; i < 10000 && !atomic_load(&taken); i++)
		usleep(1000);
	if (CHECK(atomic_load(&taken)))
		CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	rig_start("null:gfx908:service_us=20000");
	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &shared), 0);
	dies_in(submit_too_many);
	dies_in(wait_for_a_syncobj);
	dies_in(wait_for_a_submission);
	dies_in(wait_for_a_buffer);
	dies_while_it_reaps();
	takes_the_lock_without_a_wake();
	CHECK_EQ(drmSyncobjDestroy(rig.fd, shared), 0);
	rig_stop();
	return check_done("killed inside an ioctl");
}
