/* A process is killed between two instructions of an ioctl, with the kernel lock held: it is single-stepped to the
 * n-th instruction there that changes the state, for n spread over all that its script executes. The other process
 * of the run goes on working, nothing of the dead stays, and the state is whole.
 *
 *   killed_inside_test [KILLS]     how many, 3 unless told: a step takes 15 us, and there are 300,000
 *   killed_inside_test 1 N         once, behind the N-th change, in this process */
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <xf86drm.h>
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/sched/cs.h"
#include "vgpu/kernel/tests/test_rig.h"

#define MIB (1u << 20)

#define PUBLISHES (~0ul - 1) /* instead of a number: where is_publishing() */

static int dmabuf, point_fd; /* of the survivor: a buffer and a syncobj that both use */

/* --- the victim --- */

static void use_buffers(void)
{
	uint32_t bo[3];

	CHECK_EQ(rig_create(MIB, AMDGPU_GEM_DOMAIN_VRAM, 0, &bo[0]), 0);
	CHECK_EQ(rig_create(3 * 4096, AMDGPU_GEM_DOMAIN_GTT, 0, &bo[1]), 0);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, &bo[2]), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo[0], 0x800000, MIB, RIG_RWX), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo[1], 0x700000, 3 * 4096, RIG_RWX), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_CLEAR, 0, 0x701000, 4096, 0), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_REPLACE, bo[2], 0x700000, 4096, RIG_RWX), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_UNMAP, bo[0], 0x800000, MIB, RIG_RWX), 0);
	munmap(rig_map(bo[1], 4096), 4096);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(rig_close(bo[i]), 0);
}

static void share(void)
{
	struct drm_prime_handle import = {.fd = dmabuf}, export;
	uint32_t list, mine, theirs;
	int fd;

	CHECK_EQ(rig_call(DRM_IOCTL_PRIME_FD_TO_HANDLE, &import), 0);
	list = rig_list(&import.handle, 1);
	CHECK_EQ(rig_submit(list, NULL), 0);
	CHECK_EQ(rig_list_free(list), 0);
	export = (struct drm_prime_handle){.handle = rig.data_bo};
	CHECK_EQ(rig_call(DRM_IOCTL_PRIME_HANDLE_TO_FD, &export), 0);
	close(export.fd);
	CHECK_EQ(rig_close(import.handle), 0);
	CHECK_EQ(drmSyncobjFDToHandle(rig.fd, point_fd, &theirs), 0);
	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &mine), 0);
	CHECK_EQ(drmSyncobjSignal(rig.fd, &mine, 1), 0);
	for (uint64_t value = 1; value < 4; value++)
		CHECK_EQ(drmSyncobjTimelineSignal(rig.fd, &theirs, &value, 1), 0);
	CHECK_EQ(drmSyncobjHandleToFD(rig.fd, mine, &fd), 0);
	close(fd);
	CHECK_EQ(drmSyncobjExportSyncFile(rig.fd, mine, &fd), 0);
	close(fd);
	CHECK_EQ(drmSyncobjTransfer(rig.fd, mine, 2, theirs, 0, 0), 0);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, mine), 0);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, theirs), 0);
}

static void submit(void)
{
	uint32_t out;
	struct drm_amdgpu_cs_chunk_sem post;
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA, 64, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk chunk[2] = {{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
					       {AMDGPU_CHUNK_ID_SYNCOBJ_OUT, 1, (uintptr_t)&post}};
	uint64_t pointer[2] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {rig.ctx, rig.list, 2, 0, (uintptr_t)pointer}};

	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &out), 0);
	post.handle = out;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), 0);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK_EQ(drmSyncobjWait(rig.fd, &out, 1, INT64_MAX, 0, NULL), 0);
	CHECK_EQ(rig_ctx_free(rig.ctx), 0);
}

/* On a file of its own, so that all of it is gone with the process. */
static void victim(void)
{
	uint32_t always_valid;

	rig.fd = rig_open("/dev/dri/renderD128");
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &rig.ib_bo), 0);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, &rig.data_bo), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, rig.ib_bo, RIG_IB_VA, 4096, RIG_RWX), 0);
	rig.ib = rig_map(rig.ib_bo, 4096);
	rig_nops();
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, &always_valid), 0);
	rig.list = rig_list(&rig.data_bo, 1);
	rig.ctx = rig_ctx();
	use_buffers();
	share();
	submit();
	close(rig.fd);
	_exit(check_failed_ != 0);
}

static pid_t victim_start(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		victim();
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSTOPPED(status));
	return pid;
}

/* --- stepping --- */

static char shadow[16 << 20]; /* the used part of the segment as it was before the last step */

static bool changed(void)
{
	size_t size_B = kern->heap_next - KERN_SEGMENT_ADDR;

	if (size_B > sizeof(shadow) || !memcmp(shadow, kern, size_B))
		return false;
	memcpy(shadow, kern, size_B);
	return true;
}

/* Whether the buffers of a VM wait for a job that is in no ring yet. */
static bool is_publishing(const struct kern_cs *cs)
{
	const struct kern_resv *resv = cs ? &cs->file->vm->resv : NULL;

	for (unsigned i = 0; resv && cs->job[0] && i < resv->count; i++)
		if (resv->fence[i] == cs->job[0]->finished)
			return true;
	return false;
}

static bool publishes(pid_t pid)
{
	for (unsigned i = 0; i < KERN_PROCS; i++) {
		const struct kern_proc *proc = &kern->proc[i];

		if (proc->serial && proc->pid == pid && !kern_list_empty(&proc->calls))
			return is_publishing(kern_entry(proc->calls.next, struct kern_call, link)->cs);
	}
	return false;
}

/* To behind the n-th instruction under the lock that changes the state; how many there were when the victim comes
 * to its end before. */
static unsigned long step_to(pid_t pid, unsigned long n)
{
	unsigned long inside = 0;
	int status = 0;

	while (inside < n) {
		if (n == PUBLISHES && publishes(pid))
			return inside;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status))
			break;
		inside += __atomic_load_n(&kern->lock.__data.__owner, __ATOMIC_RELAXED) == pid && changed();
	}
	if (inside < n)
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	return inside;
}

/* --- the survivor --- */

struct seen {
	struct vgpu_live live;
	uint64_t vram, gtt;
};

static void look(struct seen *seen)
{
	*seen = (struct seen){.vram = rig_count(AMDGPU_INFO_VRAM_USAGE), .gtt = rig_count(AMDGPU_INFO_GTT_USAGE)};
	vgpu_live(&seen->live);
}

/* Its last point may be new, which is a fence. */
static void work_on(void)
{
	rig.data[0] = 0;
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
}

static void check_whole(const struct seen *before)
{
	struct seen after;

	look(&after);
	CHECK_EQ(after.live.bos, before->live.bos);
	CHECK_EQ(after.live.mappings, before->live.mappings);
	CHECK_EQ(after.live.contexts, before->live.contexts);
	CHECK_EQ(after.live.files, before->live.files);
	CHECK_EQ(after.live.syncobjs, before->live.syncobjs);
	CHECK_EQ(after.live.bo_lists, before->live.bo_lists);
	CHECK_EQ(after.live.jobs, before->live.jobs);
	CHECK_EQ(after.vram, before->vram);
	CHECK_EQ(after.gtt, before->gtt);
	rig_check_whole();
}

/* What the survivor shares with the victim. */
static uint32_t begin(void)
{
	struct drm_prime_handle export;
	uint32_t theirs;

	vgpu_strict_set(VGPU_STRICT_OFF);
	rig_start("null:gfx908");
	export = (struct drm_prime_handle){.handle = rig.data_bo};
	CHECK_EQ(rig_call(DRM_IOCTL_PRIME_HANDLE_TO_FD, &export), 0);
	dmabuf = export.fd;
	CHECK_EQ(drmSyncobjCreate(rig.fd, 0, &theirs), 0);
	CHECK_EQ(drmSyncobjHandleToFD(rig.fd, theirs, &point_fd), 0);
	work_on();
	return theirs;
}

static void end(uint32_t theirs)
{
	close(dmabuf);
	close(point_fd);
	CHECK_EQ(drmSyncobjDestroy(rig.fd, theirs), 0);
	rig_stop();
}

/* A run of its own for each kill, so that one that does damage does it to itself. */
static void kill_at(unsigned long n)
{
	uint32_t theirs = begin();
	struct seen before;
	pid_t pid;
	int status;

	look(&before);
	pid = victim_start();
	step_to(pid, n);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	check_whole(&before); /* by itself */
	work_on();
	check_whole(&before);
	end(theirs);
}

static void count(unsigned long *total)
{
	uint32_t theirs = begin();

	*total = step_to(victim_start(), ~0ul);
	end(theirs);
}

/* Whether all is well in a child that kills at n; or, with total, counts. */
static bool in_child(unsigned long n, unsigned long *total)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(600); /* what takes so long hangs for ever: seconds on an idle machine */
		check_failed_ = 0;
		if (total)
			count(total);
		else
			kill_at(n);
		fflush(stdout);
		_exit(check_failed_ != 0);
	}
	if (!CHECK_EQ(waitpid(pid, &status, 0), pid))
		return false;
	if (WIFSIGNALED(status))
		printf("  signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	unsigned long kills = argc > 1 ? strtoul(argv[1], NULL, 10) : getenv("TUFF_TEST_LONG") ? 60 : 3;
	unsigned long *total = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned long bad = 0;

	if (argc > 2) {
		kill_at(strtoul(argv[2], NULL, 10));
		return check_done("killed once");
	}
	CHECK(in_child(0, total));
	CHECK(in_child(PUBLISHES, NULL));
	for (unsigned long i = 0; i < kills; i++) {
		unsigned long n = 1 + *total * (2 * i + 1) / (2 * kills);

		if (!CHECK(in_child(n, NULL))) {
			printf("  killed at change %lu\n", n);
			bad++;
		}
	}
	printf("%lu kills inside the lock, spread over %lu changes: %lu failed\n", kills, *total, bad);
	return check_done("killed between two instructions");
}
