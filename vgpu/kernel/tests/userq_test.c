/* User queues through the ioctls: their memory, their rings, their fences, and what goes wrong with them. */
#include <sys/wait.h>
#include "vgpu/kernel/kernel.h"
#include "vgpu/kernel/tests/test_rig.h"

#define RING_VA  0x1000000ull
#define RING_B   4096u
#define RPTR_VA  0x1100000ull
#define WPTR_VA  0x1200000ull
#define EOP_VA   0x1300000ull
#define BELL     3 /* in units of 8 bytes */
#define BUSY_VA  (RIG_DATA_VA + 256)
#define DONE_VA  (RIG_DATA_VA + 512)
#define ENOTSUPP 524

/* A queue of the test, with the memory that the client brings. */
static struct queue {
	uint32_t ring_bo, rptr_bo, wptr_bo, eop_bo, bell_bo, id;
	uint32_t *ring;
	_Atomic uint64_t *rptr, *wptr, *bell;
	uint64_t at; /* dwords written */
} queue;

static uint32_t *memory_at(uint64_t va, uint64_t size_B, uint32_t *bo)
{
	CHECK_EQ(rig_create(size_B, AMDGPU_GEM_DOMAIN_GTT, 0, bo), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, *bo, va, size_B, RIG_RWX), 0);
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

static void devices_without(void)
{
	uint32_t bo;

	rig_start("gfx1100:kernel=6.18");
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_DOORBELL, 0, &bo), -EINVAL);
	CHECK_EQ(rig_call(UAPI_IOCTL_USERQ, &(struct uapi_userq){.op = 1}), -ENOTSUPP);
	rig_stop();
	CHECK_EQ(vgpu_start("gfx1100:userq=1"), -EINVAL);             /* Linux 6.12 */
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
	__atomic_store_n(&rig.data[(BUSY_VA - RIG_DATA_VA) / 4], 5, __ATOMIC_SEQ_CST);
	CHECK(becomes(word_at(DONE_VA), 55));
}

static void rings_run(const char *spec)
{
	queue_begin(spec);
	a_ring_runs();
	ibs_are_called();
	a_poll_blocks_its_queue();
	CHECK_EQ(vgpu_findings(), 0);
	CHECK_EQ(queue_free(queue.id), 0);
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
	(void)put_signal;
	(void)put_fence_wait;
	return check_done("user queues");
}
