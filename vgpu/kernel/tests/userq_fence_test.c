/* User queues through the ioctls: their fences, and what goes wrong with them. */
#include <signal.h>
#include <sys/wait.h>
#include "vgpu/kernel/kernel.h"
#include "vgpu/kernel/tests/test_userq.h"

static void put_signal(void)
{
	put(0xc000d000); /* PROTECTED_FENCE_SIGNAL */
	put(0);
}

static void put_fence_wait(uint64_t va, uint64_t value)
{
	put(0xc004d100); /* FENCE_WAIT_MULTI of one */
	put(1u << 1 | 4u << 16);
	put((uint32_t)va);
	put((uint32_t)(va >> 32));
	put((uint32_t)value);
	put((uint32_t)(value >> 32));
}

static int syncobj_wait(uint32_t handle, int64_t for_ns)
{
	struct timespec now;
	struct drm_syncobj_wait args = {.handles = (uintptr_t)&handle, .count_handles = 1};

	clock_gettime(CLOCK_MONOTONIC, &now);
	args.timeout_nsec = for_ns ? now.tv_sec * 1000000000 + now.tv_nsec + for_ns : 0;
	return rig_call(DRM_IOCTL_SYNCOBJ_WAIT, &args);
}

static int queue_signal(uint32_t *syncobj, uint32_t *bo)
{
	struct uapi_userq_signal args = {
		.queue_id = queue.id,
		.syncobj_handles = (uintptr_t)syncobj,
		.num_syncobj_handles = syncobj != NULL,
		.bo_write_handles = (uintptr_t)bo,
		.num_bo_write_handles = bo != NULL,
	};

	return rig_call(UAPI_IOCTL_USERQ_SIGNAL, &args);
}

static int queue_wait(struct uapi_userq_wait args, uint16_t *fences)
{
	int r = rig_call(UAPI_IOCTL_USERQ_WAIT, &args);

	*fences = args.num_fences;
	return r;
}

static int gem_idle(uint32_t bo)
{
	union drm_amdgpu_gem_wait_idle args = {.in = {bo, 0, 0}};

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE, &args), 0);
	return !args.out.status;
}

/* The fence of USERQ_SIGNAL is that of the write pointer in memory. */
static void fences_signal(void)
{
	uint32_t syncobj = syncobj_create(), bad = 77;

	set_busy(0);
	put_wait(BUSY_VA, 1);
	put_signal();
	ring_bell();
	CHECK_EQ(queue_signal(&bad, NULL), -ENOENT);
	CHECK_EQ(queue_signal(NULL, &bad), -ENOENT);
	CHECK_EQ(queue_signal(&syncobj, &rig.data_bo), 0);
	CHECK_EQ(syncobj_wait(syncobj, 0), -ETIME);
	CHECK(!gem_idle(rig.data_bo));
	set_busy(1);
	CHECK_EQ(syncobj_wait(syncobj, 10000000000), 0);
	CHECK(gem_idle(rig.data_bo));
	syncobj_destroy(syncobj);
}

/* Memory that is given back before the queue's fence is free when the fence signals. */
static void closed_memory_comes_back(void)
{
	uint32_t bo;
	uint64_t before = rig_count(AMDGPU_INFO_VRAM_USAGE);

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_VRAM, 0, &bo), 0);
	set_busy(0);
	put_wait(BUSY_VA, 1);
	put_signal();
	ring_bell();
	CHECK_EQ(queue_signal(NULL, &bo), 0);
	CHECK_EQ(rig_close(bo), 0);
	CHECK_EQ(rig_count(AMDGPU_INFO_VRAM_USAGE), before + 4096);
	set_busy(1);
	put_write(DONE_VA, 91);
	ring_bell();
	CHECK(becomes(word_at(DONE_VA), 91));
	CHECK_EQ(rig_count(AMDGPU_INFO_VRAM_USAGE), before);
}

/* A second queue waits by itself for the word of the first one's fence. */
static void queues_wait_for_each_other(void)
{
	uint32_t syncobj = syncobj_create();
	struct uapi_userq_fence pair[4] = {{0, 0}};
	struct uapi_userq_wait args = {
		.waitq_id = queue.id, .syncobj_handles = (uintptr_t)&syncobj, .num_syncobj_handles = 1};
	uint16_t n;

	set_busy(0);
	put_wait(BUSY_VA, 1);
	put_write(DONE_VA, 11);
	put_signal();
	ring_bell();
	CHECK_EQ(queue_signal(&syncobj, NULL), 0);
	CHECK_EQ(queue_wait(args, &n), 0);
	CHECK_EQ(n, 1);
	args.num_fences = 4;
	args.out_fences = (uintptr_t)pair;
	args.waitq_id = 77;
	CHECK_EQ(queue_wait(args, &n), -EINVAL);
	args.waitq_id = queue.id;
	CHECK_EQ(queue_wait(args, &n), 0);
	CHECK_EQ(n, 1);
	CHECK_EQ(pair[0].value, queue.at);
	CHECK_EQ(pair[0].va >> 22, UINT64_MAX >> 22);
	set_busy(1);
	put_fence_wait(pair[0].va, pair[0].value);
	put_write(DONE_VA + 4, 12);
	ring_bell();
	CHECK(becomes(word_at(DONE_VA + 4), 12));
	CHECK_EQ(*word_at(DONE_VA), 11);
	syncobj_destroy(syncobj);
}

/* A job of the kernel's rings is waited for in the ioctl. */
static void foreign_fences_are_awaited(void)
{
	uint32_t bo = rig.data_bo;
	struct uapi_userq_fence pair[4];
	struct uapi_userq_wait args = {.waitq_id = queue.id,
				       .bo_write_handles = (uintptr_t)&bo,
				       .num_bo_write_handles = 1,
				       .num_fences = 4,
				       .out_fences = (uintptr_t)pair};
	uint16_t n;

	rig_write_data(DONE_VA, 33);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(queue_wait(args, &n), 0);
	CHECK_EQ(n, 0);
	CHECK_EQ(*word_at(DONE_VA), 33);
	rig_nops();
}

static void fences_work(const char *spec)
{
	queue_begin(spec);
	CHECK_EQ(queue_create(), 0);
	fences_signal();
	closed_memory_comes_back();
	queues_wait_for_each_other();
	foreign_fences_are_awaited();
	CHECK_EQ(vgpu_findings(), 0);
	CHECK_EQ(queue_free(queue.id), 0);
	queue_end();
}

/* --- what goes wrong --- */

static int fence_error(uint32_t syncobj)
{
	union {
		struct drm_syncobj_handle args;
		struct uapi_syncobj_handle grown;
	} h = {.args = {.handle = syncobj, .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE}};
	struct uapi_sync_file_info {
		char name[32];
		int32_t status;
		uint32_t flags, num_fences, pad;
		uint64_t info;
	} info = {.num_fences = 0};

	CHECK_EQ(rig_call(UAPI_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h.grown), 0);
	CHECK_EQ(ioctl(h.grown.fd, _IOWR('>', 4, struct uapi_sync_file_info), &info), 0);
	close(h.grown.fd);
	return info.status;
}

/* Contract row 112: FREE waits for the last fence, and kills what has none. */
static void freeing_ends_work(void)
{
	uint32_t syncobj = syncobj_create();

	CHECK_EQ(queue_create(), 0);
	atomic_store(queue.wptr, 0);
	set_busy(0);
	put_wait(BUSY_VA, 1);
	ring_bell();
	CHECK_EQ(queue_free(queue.id), 0); /* no fence: at once */
	CHECK_EQ(queue_create(), 0);
	put_wait(BUSY_VA, 1);
	ring_bell();
	CHECK_EQ(queue_signal(&syncobj, NULL), 0);
	CHECK_EQ(queue_free(queue.id), 0); /* by the time limit */
	CHECK_EQ(syncobj_wait(syncobj, 0), 0);
	CHECK_EQ(fence_error(syncobj), -ECANCELED);
	syncobj_destroy(syncobj);
}

static unsigned long found(void)
{
	static unsigned long before;
	unsigned long now = vgpu_findings(), n = now - before;

	before = now;
	return n;
}

/* The queue runs what is in its ring; its fence is not signalled by a packet. The queue ends, with a finding. */
static void the_time_limit_ends_it(void)
{
	uint32_t syncobj = syncobj_create();

	ring_bell();
	CHECK_EQ(queue_signal(&syncobj, NULL), 0);
	CHECK_EQ(syncobj_wait(syncobj, 20000000000), 0);
	CHECK_EQ(fence_error(syncobj), -ECANCELED);
	CHECK_EQ(found(), 1);
	CHECK_EQ(queue_free(queue.id), 0);
	syncobj_destroy(syncobj);
}

/* Contract row 110. */
static void a_missing_packet_is_reported(void)
{
	CHECK_EQ(queue_create(), 0);
	put_write(DONE_VA, 1);
	the_time_limit_ends_it();
}

/* Contract row 105: the write pointer is stored when the doorbell was seen already. The two threads race, so it is tried
 * until it is noticed. */
static void late_pointers_are_found(void)
{
	unsigned long findings = vgpu_findings();

	for (unsigned i = 0; i < 1000 && vgpu_findings() == findings; i++) {
		put_write(DONE_VA, 1000 + i);
		atomic_store(&queue.bell[BELL], queue.at);
		while (atomic_load(&queue.bell[BELL]) == queue.at)
			;
		atomic_store(queue.wptr, queue.at);
		CHECK(becomes(word_at(DONE_VA), 1000 + i));
	}
	CHECK(vgpu_findings() > findings);
	found();
}

/* Contract rows 106, 107 and 109. */
static void doorbells_are_checked(void)
{
	uint32_t syncobj = syncobj_create();

	CHECK_EQ(queue_create(), 0);
	atomic_store(queue.wptr, 0);
	CHECK_EQ(queue_signal(&syncobj, NULL), 0); /* nothing was written */
	CHECK_EQ(found(), 1);
	put_write(DONE_VA, 71);
	atomic_store(&queue.bell[BELL], queue.at);
	CHECK(becomes(word_at(DONE_VA), 71)); /* the firmware goes by the doorbell */
	CHECK_EQ(found(), 1);
	CHECK_EQ(queue_signal(&syncobj, NULL), 0);
	CHECK_EQ(found(), 1);
	late_pointers_are_found();
	for (unsigned i = 0; i < RING_B / 4; i++)
		queue.ring[i] = RIG_NOP;
	atomic_store(queue.wptr, 500000);
	atomic_store(&queue.bell[BELL], 500000);
	for (unsigned i = 0; i < 5000 && atomic_load(&queue.bell[BELL]) == 500000; i++)
		usleep(1000);
	CHECK_EQ(queue_free(queue.id), 0);
	CHECK_EQ(found(), 1);
	CHECK_EQ(queue_create(), 0);
	CHECK_EQ(queue_free(queue.id), 0);
	syncobj_destroy(syncobj);
}

/* Contract row 108. */
static void its_memory_must_stay(void)
{
	CHECK_EQ(queue_create(), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_UNMAP, queue.rptr_bo, RPTR_VA, 4096, 0), 0);
	CHECK_EQ(found(), 1);
	CHECK_EQ(queue_free(queue.id), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, queue.rptr_bo, RPTR_VA, 4096, RIG_RWX), 0);
}

/* Contract row 108: memory of the process that the queue reaches goes, and so does a write pointer there. */
static void own_memory_must_stay(void)
{
	const uint64_t at = 0x3200000;
	const size_t size_B = 4096;
	uint32_t *memory = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_amdgpu_gem_userptr user = {(uintptr_t)memory, size_B,
					      AMDGPU_GEM_USERPTR_REGISTER | AMDGPU_GEM_USERPTR_VALIDATE, 0};
	uint64_t eop_va;
	struct uapi_userq args;
	unsigned long gone = 0;

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	map_and_wait(user.handle, at, size_B, RIG_RWX | AMDGPU_VM_MTYPE_UC);
	CHECK_EQ(queue_create(), 0);
	atomic_store(queue.wptr, 0);
	put_write(at + 64, 7);
	ring_bell();
	CHECK(becomes(&memory[16], 7));
	munmap(memory, size_B);
	/* Or something else may come there: AddressSanitizer's own memory, say. */
	mmap(memory, size_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	put_write(at + 64, 8);
	ring_bell();
	for (unsigned i = 0; i < 20000 && !gone; i++) {
		usleep(200);
		gone = found();
	}
	CHECK_EQ(gone, 1);
	CHECK_EQ(queue_free(queue.id), 0);
	args = create_args(&eop_va);
	args.wptr_va = at;
	if (!rig_call(UAPI_IOCTL_USERQ, &args)) {
		queue.id = args.op;
		CHECK_EQ(queue_signal(NULL, NULL), -EINVAL);
		CHECK_EQ(queue_free(queue.id), 0);
	}
	CHECK_EQ(rig_va(AMDGPU_VA_OP_CLEAR, 0, at, size_B, 0), 0);
	CHECK_EQ(rig_close(user.handle), 0);
	munmap(memory, size_B);
}

/* Contract row 125: the kernel does not hold a user queue back until the page tables have a mapping. */
static void mappings_have_to_be_waited_for(void)
{
	const uint64_t early = 0x3000000, late = 0x3100000;
	const uint32_t flags = RIG_RWX | AMDGPU_VM_MTYPE_UC;
	unsigned long refused = 0;

	CHECK_EQ(queue_create(), 0);
	atomic_store(queue.wptr, 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, rig.data_bo, early, 4096, flags), 0);
	map_and_wait(rig.data_bo, late, 4096, flags);
	put_write(early, 1);
	put_write(late + 4, 2);
	ring_bell();
	CHECK(becomes(&rig.data[1], 2));
	CHECK_EQ(found(), 0);
	CHECK_EQ(rig.data[0], 1);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, rig.data_bo, early + 4096, 4096, flags), 0);
	put_write(early + 4096, 3);
	ring_bell();
	for (unsigned i = 0; i < 20000 && !refused; i++) {
		usleep(200);
		refused = found();
	}
	CHECK_EQ(refused, 1);
	CHECK_EQ(rig.data[0], 1);
	CHECK_EQ(queue_free(queue.id), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_CLEAR, 0, early, 0x200000, 0), 0);
}

/* Packets that a user queue cannot have stop it; the fence ends by its time limit. */
static void a_bad_packet_stops_it(void)
{
	CHECK_EQ(queue_create(), 0);
	atomic_store(queue.wptr, 0);
	put(0xc0001200); /* CLEAR_STATE */
	put(0);
	put_signal();
	the_time_limit_ends_it();
}

static void mistakes_are_found(void)
{
	queue_begin("gfx1100:kernel=7.2:userq=1:watchdog_ms=300");
	found();
	freeing_ends_work();
	CHECK_EQ(found(), 0);
	vgpu_strict_set(VGPU_STRICT_REPORT);
	a_missing_packet_is_reported();
	doorbells_are_checked();
	its_memory_must_stay();
	own_memory_must_stay();
	mappings_have_to_be_waited_for();
	a_bad_packet_stops_it();
	queue_end();
}

/* The file closes, or the process dies, while a queue waits for ever. */
static void processes_may_end(void)
{
	pid_t pid;
	int status;

	queue_begin("gfx1100:kernel=7.2:userq=1:watchdog_ms=300");
	CHECK_EQ(queue_create(), 0);
	set_busy(0);
	put_wait(BUSY_VA, 1);
	ring_bell();
	pid = fork();
	if (!pid)
		_exit(0); /* the child has no thread of the queue */
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
	queue_end(); /* closes the memory under the queue first: contract row 108 */
}

/* The queue of a killed process, in a file that its parent has, too. */
static void a_dead_process_ends_its_fences(void)
{
	uint32_t syncobj;
	pid_t pid;

	queue_begin("gfx1100:kernel=7.2:userq=1");
	syncobj = syncobj_create();
	atomic_store(queue.wptr, 0);
	set_busy(0);
	pid = fork();
	if (!pid) {
		queue_create();
		put_wait(BUSY_VA, 1);
		put_signal();
		ring_bell();
		queue_signal(&syncobj, NULL);
		pause();
	}
	while (syncobj_wait(syncobj, 0) == -EINVAL)
		usleep(1000);
	CHECK_EQ(syncobj_wait(syncobj, 0), -ETIME);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK_EQ(syncobj_wait(syncobj, 10000000000), 0);
	CHECK_EQ(fence_error(syncobj), -ECANCELED);
	CHECK_EQ(queue_free(1), 0);
	syncobj_destroy(syncobj);
	queue_end();
}

/* Contract row 111: buffers of VRAM leave and come back under a queue. */
static void evictions_do_not_show(void)
{
	uint32_t bo;

	queue_begin("gfx1100:kernel=7.2:userq=1");
	CHECK_EQ(rig_create(1 << 20, AMDGPU_GEM_DOMAIN_VRAM, 0, &bo), 0);
	map_and_wait(bo, 0x3000000, 1 << 20, RIG_RWX);
	CHECK_EQ(queue_create(), 0);
	kern_inject_plan(KERN_EVICT, 0, KERN_PPM_ALL);
	atomic_store(queue.wptr, 0);
	for (uint32_t i = 1; i <= 20; i++) {
		put_write(0x3000000, i);
		put_write(DONE_VA, i);
		ring_bell();
		CHECK(becomes(word_at(DONE_VA), i));
	}
	kern_inject_plan(KERN_EVICT, 0, 0);
	CHECK(rig_count(AMDGPU_INFO_NUM_EVICTIONS) >= 20);
	CHECK_EQ(queue_free(queue.id), 0);
	rig_close(bo);
	queue_end();
}

int main(void)
{
	fences_work("gfx1100:kernel=7.2:userq=1");
	fences_work("gfx1201:kernel=6.18:userq=1");
	evictions_do_not_show();
	a_dead_process_ends_its_fences();
	mistakes_are_found();
	processes_may_end();
	return check_done("fences of user queues");
}
