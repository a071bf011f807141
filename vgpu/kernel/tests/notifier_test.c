/* What the memory of a userptr BO goes through: which changes of it wait for which jobs, and who waits meanwhile. A
 * job ends when the test writes a word. */
#include <pthread.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include "vgpu/kernel/tests/test_packets.h"

#define PAGES 16

#ifdef __SANITIZE_THREAD__ /* has no threads after the fork of a threaded process */
#define THREAD_SANITIZER 1
#else
#define THREAD_SANITIZER 0
#endif

static uint8_t *memory;
static uint32_t user_bo, user_list;
static struct rig other; /* another open of the node, as another process would have */

static void open_all(const char *spec)
{
	struct drm_amdgpu_gem_userptr user = {.size = PAGES * 4096,
					      .flags = AMDGPU_GEM_USERPTR_ANONONLY | AMDGPU_GEM_USERPTR_REGISTER};
	struct rig first;

	rig_start(spec);
	first = rig;
	rig_init("/dev/dri/renderD128");
	other = rig;
	rig = first;
	memory = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	user.addr = (uintptr_t)memory;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	user_bo = user.handle;
	user_list = rig_list((uint32_t[]){rig.data_bo, user_bo}, 2);
}

static void close_all(void)
{
	struct rig first = rig;

	CHECK_EQ(rig_list_free(user_list), 0);
	CHECK_EQ(rig_close(user_bo), 0);
	munmap(memory, PAGES * 4096);
	rig = other;
	rig_fini();
	rig = first;
	rig_stop();
}

static uint64_t submit_waiting(uint32_t list)
{
	uint64_t seq;

	__atomic_store_n(&rig.data[0], 0, __ATOMIC_RELEASE);
	rig.ib_dw = 0;
	emit_wait_for(RIG_DATA_VA, 1);
	while (rig.ib_dw < 16)
		emit(RIG_NOP);
	CHECK_EQ(rig_submit(list, &seq), 0);
	return seq;
}

static void release(void)
{
	__atomic_store_n(&rig.data[0], 1, __ATOMIC_RELEASE);
}

/* --- changes --- */

static void do_munmap(void)
{
	munmap(memory + 4096, 4096);
}

static void do_mprotect(void)
{
	mprotect(memory, 4096, PROT_READ);
}

static void do_madvise(void)
{
	madvise(memory, 4096, MADV_DONTNEED);
}

static void do_mremap(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(mremap(page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == memory);
}

static void do_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

struct act {
	void (*run)(void);
	_Atomic bool done;
};

static void *act_main(void *arg)
{
	struct act *act = arg;

	act->run();
	atomic_store(&act->done, true);
	return NULL;
}

static bool notifier_is_held(void)
{
	bool held;

	kern_lock();
	held = kern->device[0].notifier;
	kern_unlock();
	return held;
}

static void submit_of_the_other(void)
{
	struct rig here = other;
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA, 64, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib};
	uint64_t pointer = (uintptr_t)&chunk;
	union drm_amdgpu_cs args = {.in = {here.ctx, here.list, 1, 0, (uintptr_t)&pointer}};

	CHECK_EQ(ioctl(here.fd, DRM_IOCTL_AMDGPU_CS, &args), 0);
}

/* The change waits for a job with this list; a CS of somebody else who has nothing to do with it waits for the
 * change. */
static void waits_for(uint32_t list, void (*change)(void))
{
	struct act changing = {.run = change}, submitting = {.run = submit_of_the_other};
	uint64_t seq = submit_waiting(list);
	pthread_t thread[2];

	pthread_create(&thread[0], NULL, act_main, &changing);
	while (!notifier_is_held() && !atomic_load(&changing.done))
		usleep(1000);
	pthread_create(&thread[1], NULL, act_main, &submitting);
	usleep(20000);
	CHECK(!atomic_load(&changing.done));
	CHECK(!atomic_load(&submitting.done));
	CHECK_EQ(rig_wait_ctx(rig.ctx, seq, 0), 1);
	release();
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	CHECK_EQ(rig_wait(seq), 0);
	CHECK_EQ(notifier_is_held(), 0);
}

/* row 140 */
static void waits_for_the_job(void (*change)(void))
{
	waits_for(user_list, change);
}

/* row 140: 7.2 looks at the VM's reservation, whatever the job lists. */
static void waits_for_any_job_of_the_vm(void)
{
	waits_for(rig.list, do_madvise);
}

/* row 140: what does not concern the pages, or no job that lists them, does not wait. */
static void does_not_wait(uint32_t list, void (*change)(void))
{
	uint64_t seq = submit_waiting(list);

	change();
	CHECK_EQ(rig_wait_ctx(rig.ctx, seq, 0), 1);
	release();
	CHECK_EQ(rig_wait(seq), 0);
}

static void fork_without_it(void)
{
	CHECK_EQ(madvise(memory, PAGES * 4096, MADV_DONTFORK), 0);
	do_fork();
	CHECK_EQ(madvise(memory, PAGES * 4096, MADV_DOFORK), 0);
}

/* row 141 */
static void each_submission_looks_all_pages_up(void)
{
	unsigned long before = vgpu_userptr_pages();

	rig_nops();
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(rig_submit(user_list, NULL), 0);
	CHECK_EQ(vgpu_userptr_pages() - before, 3 * PAGES);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(vgpu_userptr_pages() - before, 3 * PAGES);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
}

/* row 146: GTT is half of the machine's memory, and the process's own counts in it when it is used, or validated.
 */
static void it_counts_as_gtt(void)
{
	uint64_t room = kern->device[0].gtt_B - kern->device[0].gtt_used_B, size_B = room + 4096;
	void *much = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct drm_amdgpu_gem_userptr user = {(uintptr_t)much, size_B, AMDGPU_GEM_USERPTR_REGISTER, 0};
	struct sysinfo host;
	uint32_t list;

	CHECK(much != MAP_FAILED);
	CHECK_EQ(sysinfo(&host), 0);
	CHECK_EQ(kern->device[0].gtt_B / 4096, (uint64_t)host.totalram * host.mem_unit / 2 / 4096);
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	list = rig_list(&user.handle, 1);
	CHECK_EQ(rig_submit(list, NULL), -ENOMEM);
	CHECK_EQ(rig_list_free(list), 0);
	CHECK_EQ(rig_close(user.handle), 0);
	user.flags |= AMDGPU_GEM_USERPTR_VALIDATE;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), -ENOMEM);
	user.size = room;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	CHECK_EQ(rig_count(AMDGPU_INFO_GTT_USAGE), kern->device[0].gtt_B);
	CHECK_EQ(rig_close(user.handle), 0);
	CHECK_EQ(rig_count(AMDGPU_INFO_GTT_USAGE), kern->device[0].gtt_B - room);
	munmap(much, size_B);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	open_all("gfx906");
	each_submission_looks_all_pages_up();
	it_counts_as_gtt();
	waits_for_the_job(do_madvise);
	if (!THREAD_SANITIZER) {
		waits_for_the_job(do_fork);
		does_not_wait(user_list, fork_without_it);
	}
	does_not_wait(rig.list, do_madvise);
	waits_for_the_job(do_mremap);
	waits_for_the_job(do_mprotect);
	mprotect(memory, 4096, PROT_READ | PROT_WRITE);
	waits_for_the_job(do_munmap);
	close_all();
	open_all("gfx906:kernel=7.2");
	waits_for_any_job_of_the_vm();
	waits_for_the_job(do_madvise);
	close_all();
	return check_done("memory of userptr BOs");
}
