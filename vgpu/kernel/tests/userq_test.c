/* User queues through the ioctls: their memory, their rings, their fences, and what goes wrong with them. */
#include <signal.h>
#include <sys/wait.h>
#include "vgpu/kernel/kernel.h"
#include "vgpu/kernel/tests/test_packets.h"

#define RING_VA  0x1000000ull
#define RING_B   4096u
#define RPTR_VA  0x1100000ull
#define WPTR_VA  0x1200000ull
#define EOP_VA   0x1300000ull
#define BELL     3                    /* in units of 8 bytes */
#define BUSY_VA  (0x2100000ull + 256) /* the data again, past the caches: polls see what the CPU writes */
#define DONE_VA  (RIG_DATA_VA + 512)
#define ENOTSUPP 524

/* A queue of the test, with the memory that the client brings. */
static struct queue {
	uint32_t ring_bo, rptr_bo, wptr_bo, eop_bo, bell_bo, id;
	uint32_t *ring;
	_Atomic uint64_t *rptr, *wptr, *bell;
	uint64_t at; /* dwords written */
} queue;

static uint32_t syncobj_create(void);
static void syncobj_destroy(uint32_t handle);

/* Maps as rig_va() does, and waits until the page tables have it, and all that was mapped before. */
static void map_and_wait(uint32_t bo, uint64_t va, uint64_t size_B, uint32_t flags)
{
	uint32_t syncobj = syncobj_create();
	uint64_t point = 1;
	struct uapi_gem_va map = {.handle = bo,
				  .operation = AMDGPU_VA_OP_MAP,
				  .flags = flags,
				  .va_address = va,
				  .map_size = size_B,
				  .vm_timeline_point = point,
				  .vm_timeline_syncobj_out = syncobj};
	struct uapi_syncobj_timeline_wait wait = {
		.handles = (uintptr_t)&syncobj, .points = (uintptr_t)&point, .timeout_ns = INT64_MAX, .count = 1};

	CHECK_EQ(rig_call(UAPI_IOCTL_GEM_VA, &map), 0);
	CHECK_EQ(rig_call(DRM_IOWR(0xca, struct uapi_syncobj_timeline_wait), &wait), 0);
	syncobj_destroy(syncobj);
}

static uint32_t *memory_at(uint64_t va, uint64_t size_B, uint32_t *bo)
{
	CHECK_EQ(rig_create(size_B, AMDGPU_GEM_DOMAIN_GTT, 0, bo), 0);
	map_and_wait(*bo, va, size_B, RIG_RWX);
	return rig_map(*bo, size_B);
}

static struct uapi_userq create_args(uint64_t *eop_va)
{
	*eop_va = EOP_VA;
	return (struct uapi_userq){
		.op = UAPI_USERQ_CREATE,
		.ip_type = AMDGPU_HW_IP_COMPUTE,
		.doorbell_handle = queue.bell_bo,
		.doorbell_offset = BELL,
		.queue_va = RING_VA,
		.queue_size = RING_B,
		.rptr_va = RPTR_VA,
		.wptr_va = WPTR_VA,
		.mqd = (uintptr_t)eop_va,
		.mqd_size = 8,
	};
}

static int queue_create(void)
{
	uint64_t eop_va;
	struct uapi_userq args = create_args(&eop_va);
	int r = rig_call(UAPI_IOCTL_USERQ, &args);

	queue.id = r ? 0 : args.op;
	queue.at = 0;
	return r;
}

static int queue_free(uint32_t id)
{
	struct uapi_userq args = {.op = UAPI_USERQ_FREE, .queue_id = id};

	return rig_call(UAPI_IOCTL_USERQ, &args);
}

static void queue_memory(void)
{
	queue.ring = memory_at(RING_VA, RING_B, &queue.ring_bo);
	queue.rptr = (void *)memory_at(RPTR_VA, 4096, &queue.rptr_bo);
	queue.wptr = (void *)memory_at(WPTR_VA, 4096, &queue.wptr_bo);
	munmap(memory_at(EOP_VA, 4096, &queue.eop_bo), 4096);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_DOORBELL, 0, &queue.bell_bo), 0);
	map_and_wait(rig.data_bo, BUSY_VA & ~4095ull, 4096, RIG_RWX | AMDGPU_VM_MTYPE_UC);
	queue.bell = (void *)rig_map(queue.bell_bo, 4096);
	CHECK(queue.bell != MAP_FAILED);
}

static void queue_begin(const char *spec)
{
	rig_start(spec);
	queue_memory();
}

static void queue_end(void)
{
	munmap(queue.ring, RING_B);
	munmap((void *)queue.rptr, 4096);
	munmap((void *)queue.wptr, 4096);
	munmap((void *)queue.bell, 4096);
	rig_close(queue.ring_bo);
	rig_close(queue.rptr_bo);
	rig_close(queue.wptr_bo);
	rig_close(queue.eop_bo);
	rig_close(queue.bell_bo);
	rig_stop();
}

static void put(uint32_t dword)
{
	queue.ring[queue.at++ % (RING_B / 4)] = dword;
}

static void put_write(uint64_t va, uint32_t value)
{
	put(0xc0033700); /* WRITE_DATA, with confirmation */
	put(0x00100500);
	put((uint32_t)va);
	put((uint32_t)(va >> 32));
	put(value);
}

static void put_wait(uint64_t va, uint32_t value)
{
	put(0xc0053c00); /* WAIT_REG_MEM: equal */
	put(0x13);
	put((uint32_t)va);
	put((uint32_t)(va >> 32));
	put(value);
	put(~0u);
	put(4);
}

static void put_ib(uint64_t va, uint32_t dw)
{
	put(0xc0023f00); /* INDIRECT_BUFFER: VALID, INHERIT_VMID */
	put((uint32_t)va);
	put((uint32_t)(va >> 32));
	put(dw | 1u << 23 | 1u << 30);
}

static void put_release(uint64_t va, uint64_t value)
{
	put(0xc0064900); /* RELEASE_MEM: bottom of pipe, 64 bits */
	put(0x00600514 | 1u << 21);
	put(0x40000000);
	put((uint32_t)va);
	put((uint32_t)(va >> 32));
	put((uint32_t)value);
	put((uint32_t)(value >> 32));
	put(0);
}

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

static void ring_bell(void)
{
	atomic_store(queue.wptr, queue.at);
	atomic_store(&queue.bell[BELL], queue.at);
}

static bool becomes(const volatile uint32_t *word, uint32_t value)
{
	for (unsigned i = 0; i < 20000 && *word != value; i++)
		usleep(200);
	return *word == value;
}

static bool read_to(uint64_t position)
{
	for (unsigned i = 0; i < 20000 && atomic_load(queue.rptr) != position; i++)
		usleep(200);
	return atomic_load(queue.rptr) == position;
}

static const volatile uint32_t *word_at(uint64_t va)
{
	return &rig.data[(va - RIG_DATA_VA) / 4];
}

/* --- what the device offers --- */

/* Contract row 14. */
static void devices_without(void)
{
	uint32_t bo;

	rig_start("gfx1100:kernel=6.18");
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_DOORBELL, 0, &bo), -EINVAL);
	CHECK_EQ(rig_call(UAPI_IOCTL_USERQ, &(struct uapi_userq){.op = 1}), -ENOTSUPP);
	rig_stop();
	CHECK_EQ(vgpu_start("gfx1100:userq=1"), -EINVAL);            /* Linux 6.12 */
	CHECK_EQ(vgpu_start("gfx1103:kernel=7.2:userq=1"), -EINVAL); /* an APU */
	CHECK_EQ(vgpu_start("gfx90a:kernel=7.2:userq=1"), -EINVAL);
	CHECK_EQ(vgpu_start("gfx1100:kernel=7.2:userq=3"), -EINVAL);
}

static void info_tells(void)
{
	struct uapi_dev_info dev = {0};
	struct uapi_hw_ip ip = {0};
	struct drm_amdgpu_info args = {
		.return_pointer = (uintptr_t)&ip, .return_size = sizeof(ip), .query = AMDGPU_INFO_HW_IP_INFO};

	rig_start("gfx1200:kernel=6.18:userq=1");
	CHECK_EQ(rig_info(AMDGPU_INFO_DEV_INFO, &dev, sizeof(dev)), 0);
	CHECK_EQ(dev.userq_ip_mask, 1u << AMDGPU_HW_IP_COMPUTE);
	args.query_hw_ip.type = AMDGPU_HW_IP_COMPUTE;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_INFO, &args), 0);
	CHECK_EQ(ip.userq_num_slots, 8);
	CHECK(ip.available_rings);
	rig_stop();
}

/* userq=2: the kernel's rings take no jobs. */
static void only_user_queues(void)
{
	rig_start("gfx1100:kernel=7.2:userq=2");
	CHECK_EQ(rig_submit(rig.list, NULL), -EINVAL);
	rig_stop();
}

/* --- CREATE and FREE --- */

static int create_with(struct uapi_userq args)
{
	int r = rig_call(UAPI_IOCTL_USERQ, &args);

	if (!r)
		CHECK_EQ(queue_free(args.op), 0);
	return r;
}

/* Contract row 104. */
static void creation_is_checked(void)
{
	uint64_t eop_va, bad_va = RIG_HOLE_VA;
	struct uapi_userq good = create_args(&eop_va), a;
	uint32_t two;

#define REFUSED(member, value, error)                                                                              \
	a = good;                                                                                                  \
	a.member = (value);                                                                                        \
	CHECK_EQ(create_with(a), error)
	CHECK_EQ(create_with(good), 0);
	REFUSED(op, 3, -EINVAL);
	REFUSED(flags, 8, -EINVAL);
	REFUSED(ip_type, 3, -EINVAL);
	REFUSED(ip_type, AMDGPU_HW_IP_GFX, -EINVAL);
	REFUSED(queue_va, 0, -EINVAL);
	REFUSED(queue_va, UINT64_MAX, -EINVAL);
	REFUSED(queue_va, RIG_HOLE_VA, -EINVAL);
	REFUSED(queue_size, 0, -EINVAL);
	REFUSED(queue_size, 4096 + 256, -EINVAL);
	REFUSED(queue_size, 2048, -EINVAL);
	REFUSED(queue_size, 8192, -EINVAL); /* beyond its mapping */
	REFUSED(rptr_va, 0, -EINVAL);
	REFUSED(wptr_va, 0, -EINVAL);
	REFUSED(rptr_va, RPTR_VA + 8, -EINVAL); /* a page from there on */
	REFUSED(wptr_va, RIG_HOLE_VA, -EINVAL);
	REFUSED(doorbell_handle, 77, -EINVAL);
	REFUSED(doorbell_handle, rig.data_bo, -EINVAL);
	REFUSED(doorbell_offset, 512, -EINVAL);
	REFUSED(doorbell_offset, 511, 0);
	REFUSED(mqd_size, 16, -EINVAL);
	REFUSED(mqd, 16, -ENOMEM);
	REFUSED(mqd, (uintptr_t)&bad_va, -EINVAL);
	munmap(memory_at(0x2000000, 8192, &two), 8192);
	REFUSED(wptr_va, 0x2000000, -EINVAL); /* a buffer of two pages */
	REFUSED(rptr_va, 0x2000000, 0);
	good.queue_va = 0x2000000;
	REFUSED(queue_size, 8192, 0);
	REFUSED(queue_size, 4096 + 256, -EINVAL); /* no power of two, though mapped */
	rig_close(two);
#undef REFUSED
}

static void freeing_is_checked(int unknown)
{
	struct uapi_userq args = {.op = UAPI_USERQ_FREE, .queue_va = 1};

	CHECK_EQ(queue_create(), 0);
	CHECK_EQ(queue.id, 1);
	args.queue_id = queue.id;
	CHECK_EQ(rig_call(UAPI_IOCTL_USERQ, &args), -EINVAL);
	CHECK_EQ(queue_free(7), unknown);
	CHECK_EQ(queue_free(queue.id), 0);
	CHECK_EQ(queue_free(queue.id), unknown);
}

static void queues_are_made(void)
{
	queue_begin("gfx1100:kernel=7.2:userq=1");
	creation_is_checked();
	freeing_is_checked(-ENOENT);
	queue_end();
	queue_begin("gfx1201:kernel=6.18:userq=1");
	freeing_is_checked(-EINVAL);
	queue_end();
}

/* --- rings --- */

/* Packets wrap at the end of the ring. */
static void a_ring_runs(void)
{
	CHECK_EQ(queue_create(), 0);
	for (uint32_t i = 1; i <= 600; i++) {
		put_write(DONE_VA, i);
		ring_bell();
		CHECK(becomes(word_at(DONE_VA), i));
	}
	CHECK(read_to(queue.at));
	CHECK_EQ(queue_free(queue.id), 0);
	/* The same doorbell with the same value is an event again. */
	CHECK_EQ(queue_create(), 0);
	atomic_store(queue.wptr, 0);
	put_write(DONE_VA, 7);
	ring_bell();
	CHECK(becomes(word_at(DONE_VA), 7));
}

static void ibs_are_called(void)
{
	rig_write_data(DONE_VA, 99);
	put_ib(RIG_IB_VA, rig.ib_dw);
	put_write(DONE_VA + 4, 98);
	put_release(DONE_VA + 8, 0x100000002ull);
	ring_bell();
	CHECK(becomes(word_at(DONE_VA + 12), 1));
	CHECK_EQ(*word_at(DONE_VA), 99);
	CHECK_EQ(*word_at(DONE_VA + 4), 98);
	CHECK_EQ(*word_at(DONE_VA + 8), 2);
	rig_nops();
}

/* A poll blocks its own queue alone: a kernel ring goes on. */
static void a_poll_blocks_its_queue(void)
{
	put_wait(BUSY_VA, 5);
	put_write(DONE_VA, 55);
	ring_bell();
	CHECK_EQ(rig_try_write(rig.list, DONE_VA + 4, 56), 0);
	CHECK_EQ(*word_at(DONE_VA + 4), 56);
	CHECK(*word_at(DONE_VA) != 55);
	__atomic_store_n(&rig.data[256 / 4], 5, __ATOMIC_SEQ_CST);
	CHECK(becomes(word_at(DONE_VA), 55));
}

/* 64 lanes store 256 + 4 * lane to s[0:1] + 4 * lane; by LLVM 19. */
static const uint32_t store_gfx11[] = {0x360200ff, 0x000003ff, 0x30020282, 0x4a0402ff,
				       0x00000100, 0xdc6a0000, 0x00000201, 0xbfb00000};
static const uint32_t store_gfx12[] = {0x360200ff, 0x000003ff, 0x30020282, 0x4a0402ff, 0x00000100,
				       0xee068000, 0x01000000, 0x00000001, 0xbfb00000};
#define CODE_B 2048u /* behind the IB */

static void emit_launch(void)
{
	static const uint32_t masks[] = {0x216, 0x217, 0x219, 0x21a, 0x22b, 0x22c, 0x22d, 0x22e};
	static const uint32_t zero[] = {0x204, 0x205, 0x206, 0x20d, 0x210, 0x211, 0x215, 0x218, 0x228};

	rig.ib_dw = 0;
	for (unsigned i = 0; i < kern_array_len(masks); i++)
		set_sh(masks[i], ~0u);
	for (unsigned i = 0; i < kern_array_len(zero); i++)
		set_sh(zero[i], 0);
	set_sh(0x207, 64);
	set_sh(0x208, 1);
	set_sh(0x209, 1);
	set_sh(0x20c, (RIG_IB_VA + CODE_B) >> 8);
	set_sh(0x212, 0x602c0000);
	set_sh(0x213, 2 << 1); /* two user SGPRs */
	set_sh(0x240, (uint32_t)RIG_DATA_VA + 1024);
	set_sh(0x241, RIG_DATA_VA >> 32);
	emit(0xc0031502); /* DISPATCH_DIRECT, compute, waves of 32 */
	emit(1);
	emit(1);
	emit(1);
	emit(5 | 1 << 15);
	emit_flush();
}

static void kernels_are_dispatched(bool gfx12)
{
	memcpy((uint8_t *)rig.ib + CODE_B, gfx12 ? store_gfx12 : store_gfx11,
	       gfx12 ? sizeof(store_gfx12) : sizeof(store_gfx11));
	emit_launch();
	put(0xc0009500); /* HDP_FLUSH */
	put(0);
	put_ib(RIG_IB_VA, rig.ib_dw);
	put_release(DONE_VA, 64);
	ring_bell();
	CHECK(becomes(word_at(DONE_VA), 64));
	for (uint32_t lane = 0; lane < 64; lane++)
		CHECK_EQ(rig.data[256 + lane], 256 + 4 * lane);
	rig_nops();
}

static void rings_run(const char *spec)
{
	queue_begin(spec);
	a_ring_runs();
	ibs_are_called();
	a_poll_blocks_its_queue();
	kernels_are_dispatched(strstr(spec, "gfx12"));
	CHECK_EQ(vgpu_findings(), 0);
	CHECK_EQ(queue_free(queue.id), 0);
	queue_end();
}

/* --- fences --- */

static uint32_t syncobj_create(void)
{
	struct drm_syncobj_create args = {0};

	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_CREATE, &args), 0);
	return args.handle;
}

static void syncobj_destroy(uint32_t handle)
{
	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_DESTROY, &(struct drm_syncobj_destroy){.handle = handle}), 0);
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

static void set_busy(uint32_t value)
{
	__atomic_store_n(&rig.data[256 / 4], value, __ATOMIC_SEQ_CST);
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

/* Contract row 110. */
static void a_missing_packet_is_reported(void)
{
	uint32_t syncobj = syncobj_create();

	CHECK_EQ(queue_create(), 0);
	put_write(DONE_VA, 1);
	ring_bell();
	CHECK_EQ(queue_signal(&syncobj, NULL), 0);
	CHECK_EQ(syncobj_wait(syncobj, 20000000000), 0);
	CHECK_EQ(fence_error(syncobj), -ECANCELED);
	CHECK_EQ(found(), 1);
	CHECK_EQ(queue_free(queue.id), 0);
	syncobj_destroy(syncobj);
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
	uint32_t syncobj = syncobj_create();

	CHECK_EQ(queue_create(), 0);
	atomic_store(queue.wptr, 0);
	put(0xc0001200); /* CLEAR_STATE */
	put(0);
	put_signal();
	ring_bell();
	CHECK_EQ(queue_signal(&syncobj, NULL), 0);
	CHECK_EQ(syncobj_wait(syncobj, 20000000000), 0);
	CHECK_EQ(fence_error(syncobj), -ECANCELED);
	CHECK_EQ(found(), 1);
	CHECK_EQ(queue_free(queue.id), 0);
	syncobj_destroy(syncobj);
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
	devices_without();
	info_tells();
	only_user_queues();
	queues_are_made();
	rings_run("gfx1100:kernel=7.2:userq=1");
	rings_run("gfx1201:kernel=6.18:userq=1");
	fences_work("gfx1100:kernel=7.2:userq=1");
	fences_work("gfx1201:kernel=6.18:userq=1");
	evictions_do_not_show();
	a_dead_process_ends_its_fences();
	mistakes_are_found();
	processes_may_end();
	return check_done("user queues");
}
