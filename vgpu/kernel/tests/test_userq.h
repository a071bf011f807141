/* What the tests of user queues share: a queue with its memory and doorbell on the rig, packets in its ring. Test programs only;
 * each has one queue. */
#ifndef VGPU_KERNEL_TESTS_TEST_USERQ_H
#define VGPU_KERNEL_TESTS_TEST_USERQ_H

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

static inline uint32_t syncobj_create(void)
{
	struct drm_syncobj_create args = {0};

	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_CREATE, &args), 0);
	return args.handle;
}

static inline void syncobj_destroy(uint32_t handle)
{
	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_DESTROY, &(struct drm_syncobj_destroy){.handle = handle}), 0);
}

/* Maps as rig_va() does, and waits until the page tables have it, and all that was mapped before. */
static inline void map_and_wait(uint32_t bo, uint64_t va, uint64_t size_B, uint32_t flags)
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

static inline uint32_t *memory_at(uint64_t va, uint64_t size_B, uint32_t *bo)
{
	CHECK_EQ(rig_create(size_B, AMDGPU_GEM_DOMAIN_GTT, 0, bo), 0);
	map_and_wait(*bo, va, size_B, RIG_RWX);
	return rig_map(*bo, size_B);
}

static inline struct uapi_userq create_args(uint64_t *eop_va)
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

static inline int queue_create(void)
{
	uint64_t eop_va;
	struct uapi_userq args = create_args(&eop_va);
	int r = rig_call(UAPI_IOCTL_USERQ, &args);

	queue.id = r ? 0 : args.op;
	queue.at = 0;
	return r;
}

static inline int queue_free(uint32_t id)
{
	struct uapi_userq args = {.op = UAPI_USERQ_FREE, .queue_id = id};

	return rig_call(UAPI_IOCTL_USERQ, &args);
}

static inline void queue_memory(void)
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

static inline void queue_begin(const char *spec)
{
	rig_start(spec);
	queue_memory();
}

static inline void queue_end(void)
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

static inline void put(uint32_t dword)
{
	queue.ring[queue.at++ % (RING_B / 4)] = dword;
}

static inline void put_write(uint64_t va, uint32_t value)
{
	put(0xc0033700); /* WRITE_DATA, with confirmation */
	put(0x00100500);
	put((uint32_t)va);
	put((uint32_t)(va >> 32));
	put(value);
}

static inline void put_wait(uint64_t va, uint32_t value)
{
	put(0xc0053c00); /* WAIT_REG_MEM: equal */
	put(0x13);
	put((uint32_t)va);
	put((uint32_t)(va >> 32));
	put(value);
	put(~0u);
	put(4);
}

static inline void ring_bell(void)
{
	atomic_store(queue.wptr, queue.at);
	atomic_store(&queue.bell[BELL], queue.at);
}

static inline bool becomes(const volatile uint32_t *word, uint32_t value)
{
	for (unsigned i = 0; i < 20000 && *word != value; i++)
		usleep(200);
	return *word == value;
}

static inline const volatile uint32_t *word_at(uint64_t va)
{
	return &rig.data[(va - RIG_DATA_VA) / 4];
}

static inline void set_busy(uint32_t value)
{
	__atomic_store_n(&rig.data[256 / 4], value, __ATOMIC_SEQ_CST);
}

#endif
