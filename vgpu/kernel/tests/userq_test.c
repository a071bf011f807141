/* User queues through the ioctls: their memory and their rings. */
#include "vgpu/kernel/tests/test_userq.h"

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

static bool read_to(uint64_t position)
{
	for (unsigned i = 0; i < 20000 && atomic_load(queue.rptr) != position; i++)
		usleep(200);
	return atomic_load(queue.rptr) == position;
}

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

int main(void)
{
	devices_without();
	info_tells();
	only_user_queues();
	queues_are_made();
	rings_run("gfx1100:kernel=7.2:userq=1");
	rings_run("gfx1201:kernel=6.18:userq=1");
	return check_done("user queues");
}
