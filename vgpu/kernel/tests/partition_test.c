/* Cards of several XCCs and their compute partitions: what Linux says of them, and which rings contexts use. */
#include "vgpu/kernel/base/inode.h"
#include "vgpu/kernel/tests/test_packets.h"

#define CODE_VA (RIG_DATA_VA + 0x800)
#define WAITERS 7 /* rings of XCC 0 but for the first, which is for high priorities */
#define AT(n)   (RIG_DATA_VA + 4 * (n))

/* Writes the XCC that it runs on to s[0:1]. */
static const uint32_t whereabouts[] = {
	0xb8821814,             /* s_getreg_b32 s2, hwreg(HW_REG_XCC_ID, 0, 4) */
	0x7e000280,             /* v_mov_b32 v0, 0 */
	0xbf800004,             /* s_nop 4 */
	0x7e020202,             /* v_mov_b32 v1, s2 */
	0xdc708000, 0x00000100, /* global_store_dword v0, v1, s[0:1] */
	0xbf810000,             /* s_endpgm */
};

static uint32_t ip_count(uint32_t ip)
{
	struct drm_amdgpu_info args = {.query = AMDGPU_INFO_HW_IP_COUNT, .return_size = 4};
	uint32_t count = 0;

	args.return_pointer = (uintptr_t)&count;
	args.query_hw_ip.type = ip;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_INFO, &args), 0);
	return count;
}

/* row 166: compute units are those of the card, their bitmap is of one XCC, and the count of IPs of the partition
 */
static void facts(const char *spec, uint32_t xccs, uint32_t copiers)
{
	struct uapi_memory_info memory;
	struct uapi_dev_info dev;
	uint32_t cus = 0;

	rig_start(spec);
	CHECK_EQ(rig_info(AMDGPU_INFO_DEV_INFO, &dev, sizeof(dev)), 0);
	for (unsigned i = 0; i < 16; i++)
		cus += (uint32_t)__builtin_popcount(dev.cu_bitmap[i / 4][i % 4]);
	CHECK_EQ(dev.cu_active_number, 304);
	CHECK_EQ(cus, 38);
	CHECK_EQ(rig_info(AMDGPU_INFO_MEMORY, &memory, sizeof(memory)), 0);
	CHECK_EQ(memory.vram.total, 192ull << 30);
	CHECK_EQ(ip_count(AMDGPU_HW_IP_COMPUTE), xccs);
	CHECK_EQ(ip_count(AMDGPU_HW_IP_DMA), copiers);
	rig_stop();
}

static void emit_code(unsigned result)
{
	rig.ib_dw = 0;
	set_sh(0x240, (uint32_t)AT(result));
	set_sh(0x241, 0);
	emit_dispatch_with(CODE_VA, 2);
	rig.ib_dw -= 5; /* the dispatch once more, behind what gfx942 has besides */
	set_sh(0x227, 0);
	set_sh(0x22d, 1);
	emit(0xc0031502);
	emit(1);
	emit(1);
	emit(1);
	emit(5);
	emit_flush();
	while (rig.ib_dw % 8)
		emit(RIG_NOP);
}

/* Runs the code at CODE_VA: what it has written. */
static uint32_t result_of(uint32_t ctx)
{
	uint64_t seq;

	rig.data[0] = ~0u;
	emit_code(0);
	CHECK_EQ(rig_submit_ibs(ctx, rig.list, 0, 1, &seq), 0);
	CHECK_EQ(rig_wait_ctx(ctx, seq, UINT64_MAX), 0);
	return rig.data[0];
}

/* A job that waits for dword 1, in an IB of its own. */
static void submit_waiter(uint32_t ctx)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA + 2048, 32, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib};
	uint64_t pointer = (uintptr_t)&chunk;
	union drm_amdgpu_cs args = {.in = {ctx, rig.list, 1, 0, (uintptr_t)&pointer}};

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), 0);
}

/* row 167: an idle context goes to the ring with the least to do, on another XCC when those of one are busy */
static void idle_contexts_move(void)
{
	uint32_t waiter[WAITERS];

	rig_start("gfx942:partition=spx");
	memcpy(rig.data + 0x800 / 4, whereabouts, sizeof(whereabouts));
	CHECK_EQ(result_of(rig.ctx), 0);
	CHECK_EQ(result_of(rig.ctx), 0);
	rig.data[1] = 0;
	rig.ib_dw = 512;
	emit_wait_for(AT(1), 1);
	emit(RIG_NOP);
	for (unsigned i = 0; i < WAITERS; i++) {
		waiter[i] = rig_ctx();
		submit_waiter(waiter[i]);
	}
	CHECK_EQ(result_of(rig.ctx), 1);
	__atomic_store_n(&rig.data[1], 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < WAITERS; i++) {
		CHECK_EQ(rig_wait_ctx(waiter[i], UINT64_MAX, UINT64_MAX), 0);
		CHECK_EQ(rig_ctx_free(waiter[i]), 0);
	}
	CHECK_EQ(result_of(rig.ctx), 0);
	CHECK_EQ(rig_ctx_free(rig.ctx), 0);
	rig_stop();
}

/* row 172: a node of a partition leads to its XCCs, and high priorities have a ring in the first only. */
static void nodes_have_partitions(void)
{
	union drm_amdgpu_ctx high = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX, .priority = AMDGPU_CTX_PRIORITY_HIGH}};
	int fd;

	rig_start_at("gfx942:partition=qpx", "/dev/dri/renderD130");
	memcpy(rig.data + 0x800 / 4, whereabouts, sizeof(whereabouts));
	CHECK_EQ(ip_count(AMDGPU_HW_IP_COMPUTE), 2);
	CHECK_EQ(result_of(rig.ctx), 4);
	fd = rig_open("/dev/dri/renderD132");
	CHECK_EQ(fd, -1);
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CTX, &high), geteuid() ? -EACCES : 0);
	if (!geteuid()) {
		CHECK_EQ(rig_submit_ibs(high.out.alloc.ctx_id, rig.list, 0, 1, NULL), -ENOENT);
		CHECK_EQ(rig_ctx_free(high.out.alloc.ctx_id), 0);
	}
	rig_stop();
}

/* Writes what 0x40 is as an FP8 number to s[0:1]. */
static const uint32_t widen[] = {
	0x7e000280,             /* v_mov_b32 v0, 0 */
	0x7e02a8c0,             /* v_cvt_f32_fp8 v1, 64 */
	0xbf800004,             /* s_nop 4 */
	0xdc708000, 0x00000100, /* global_store_dword v0, v1, s[0:1] */
	0xbf810000,             /* s_endpgm */
};

/* row 170: 2 with OCP's bias of 7, 1 with that of FNUZ */
static void eight_bit_floats(const char *spec, uint32_t expected)
{
	rig_start(spec);
	memcpy(rig.data + 0x800 / 4, widen, sizeof(widen));
	CHECK_EQ(result_of(rig.ctx), expected);
	rig_stop();
}

/* Loads 16 bits at s[0:1] + 64 into a register of ones, which it stores to s[0:1]. */
static const uint32_t load_half[] = {
	0x7e000280,             /* v_mov_b32 v0, 0 */
	0x7e0202c1,             /* v_mov_b32 v1, -1 */
	0xdc908040, 0x01000000, /* global_load_short_d16 v1, v0, s[0:1] offset:64 */
	0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
	0xdc708000, 0x00000100, /* global_store_dword v0, v1, s[0:1] */
	0xbf810000,             /* s_endpgm */
};

/* row 174: the board decides on gfx906, and says so by the kernel's RAS blocks */
static void ecc_of_registers(const char *spec, uint32_t expected, bool graphics)
{
	uint64_t blocks = 0;
	struct drm_amdgpu_info args = {.return_pointer = (uintptr_t)&blocks,
				       .return_size = sizeof(blocks),
				       .query = AMDGPU_INFO_RAS_ENABLED_FEATURES};

	rig_start(spec);
	memcpy(rig.data + 0x800 / 4, load_half, sizeof(load_half));
	rig.data[16] = 0x12345678;
	CHECK_EQ(result_of(rig.ctx), expected);
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_INFO, &args), 0);
	CHECK_EQ(blocks >> 32 & AMDGPU_INFO_RAS_ENABLED_GFX, graphics ? AMDGPU_INFO_RAS_ENABLED_GFX : 0);
	rig_stop();
}

/* row 172: a card node is of no partition: the first context takes the one with the fewest users. */
static void card_nodes_choose(void)
{
	int card;
	uint32_t here;

	rig_start("gfx942:partition=dpx");
	memcpy(rig.data + 0x800 / 4, whereabouts, sizeof(whereabouts));
	CHECK_EQ(result_of(rig.ctx), 0);
	card = rig_open("/dev/dri/card1");
	here = rig_ctx();
	kern_lock();
	CHECK_EQ(kern->device[0].users[0], 1);
	CHECK_EQ(kern->device[0].users[1], 0);
	kern_unlock();
	int own = rig.fd;
	rig.fd = card;
	CHECK_EQ(ip_count(AMDGPU_HW_IP_COMPUTE), 1);
	uint32_t there = rig_ctx();
	CHECK_EQ(ip_count(AMDGPU_HW_IP_COMPUTE), 4);
	kern_lock();
	CHECK_EQ(((struct kern_file *)kern_inode_of_fd(card)->object)->partition, 1);
	kern_unlock();
	CHECK_EQ(rig_ctx_free(there), 0);
	rig.fd = own;
	CHECK_EQ(rig_ctx_free(here), 0);
	close(card);
	rig_stop();
}

int main(void)
{
	facts("null:gfx942:partition=spx", 8, 16);
	facts("null:gfx942:partition=qpx", 2, 4);
	facts("null:gfx942:partition=cpx", 1, 2);
	idle_contexts_move();
	nodes_have_partitions();
	card_nodes_choose();
	ecc_of_registers("gfx906", 0xffff5678, false);
	ecc_of_registers("gfx906:sramecc=0", 0xffff5678, false);
	ecc_of_registers("gfx906:sramecc=1", 0x5678, true);
	ecc_of_registers("gfx908", 0x5678, true);
	eight_bit_floats("gfx942", 0x40000000);
	eight_bit_floats("gfx942:f8=ocp", 0x40000000);
	eight_bit_floats("gfx942:f8=fnuz", 0x3f800000);
	return check_done("compute partitions");
}
