/* What becomes of a hang, by release, chip and ring: soft recovery, reset of the ring, reset of the device. */
#include "vgpu/kernel/tests/test_packets.h"

#define CODE_VA    (RIG_DATA_VA + 0x100)
#define SDMA_HANGS 0x000000ffu /* no such opcode */

/* What a hang has done. */
struct outcome {
	int fence;       /* of the job that hung */
	int next;        /* CS of its context after that */
	uint32_t flags;  /* QUERY_STATE2 of its context */
	int other;       /* CS of another context, which was idle */
	bool user_fence; /* was written */
};

static uint32_t flags_of(uint32_t ctx)
{
	union drm_amdgpu_ctx query = {.in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = ctx}};

	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CTX, &query), 0);
	return query.out.state.flags;
}

static int submit(uint32_t ctx, uint32_t ip, uint32_t fence_bo, uint64_t *seq)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA, 4 * rig.ib_dw, ip, 0, 0};
	struct drm_amdgpu_cs_chunk_fence fence = {fence_bo, 0};
	struct drm_amdgpu_cs_chunk chunk[2] = {{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
					       {AMDGPU_CHUNK_ID_FENCE, sizeof(fence) / 4, (uintptr_t)&fence}};
	uint64_t pointer[2] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {ctx, rig.list, 2, 0, (uintptr_t)pointer}};
	int r = rig_call(DRM_IOCTL_AMDGPU_CS, &args);

	*seq = args.out.handle;
	return r;
}

/* A job without a user fence, from dword `from` of the IB to rig.ib_dw. */
static int submit_at(uint32_t ctx, uint32_t ip, uint32_t from, uint64_t *seq)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA + 4 * from, 4 * (rig.ib_dw - from), ip, 0, 0};
	struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib};
	uint64_t pointer = (uintptr_t)&chunk;
	union drm_amdgpu_cs args = {.in = {ctx, rig.list, 1, 0, (uintptr_t)&pointer}};
	int r = rig_call(DRM_IOCTL_AMDGPU_CS, &args);

	*seq = args.out.handle;
	return r;
}

static int wait_on(uint32_t ctx, uint32_t ip, uint64_t seq)
{
	union drm_amdgpu_wait_cs args = {.in = {seq, UINT64_MAX, ip, 0, 0, ctx}};
	int r = rig_call(DRM_IOCTL_AMDGPU_WAIT_CS, &args);

	return r ? r : (int)args.out.status;
}

/* An endless wave, a packet that waits for ever, or an SDMA packet that stops its engine. */
static void build_hang(uint32_t ip, bool waves)
{
	memset(rig.data, 0, 4096);
	rig.data[0x100 / 4] = 0xbf82ffff; /* s_branch -1 */
	rig.ib_dw = 0;
	if (ip == AMDGPU_HW_IP_DMA)
		emit(SDMA_HANGS);
	else if (waves)
		emit_dispatch(CODE_VA);
	else
		emit_wait_for(RIG_DATA_VA, 1);
	while (rig.ib_dw % 8)
		emit(ip == AMDGPU_HW_IP_DMA ? 0 : RIG_NOP);
}

static struct outcome hang(const char *spec, uint32_t ip, bool waves)
{
	struct outcome out = {0};
	uint32_t fence_bo, other;
	uint64_t *fence, seq, unused;

	rig_start(spec);
	other = rig_ctx();
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &fence_bo), 0);
	fence = (uint64_t *)(void *)rig_map(fence_bo, 4096);
	build_hang(ip, waves);
	CHECK_EQ(submit(rig.ctx, ip, fence_bo, &seq), 0);
	out.fence = wait_on(rig.ctx, ip, seq);
	out.flags = flags_of(rig.ctx);
	out.user_fence = *fence == seq;
	rig_nops();
	out.next = submit(rig.ctx, ip, fence_bo, &unused);
	CHECK_EQ(flags_of(other) & AMDGPU_CTX_QUERY2_FLAGS_GUILTY, 0);
	out.other = submit(other, AMDGPU_HW_IP_COMPUTE, fence_bo, &seq);
	if (!out.other)
		CHECK_EQ(wait_on(other, AMDGPU_HW_IP_COMPUTE, seq), 0);
	munmap(fence, 4096);
	CHECK_EQ(rig_close(fence_bo), 0);
	rig_stop();
	return out;
}

#define RESET  AMDGPU_CTX_QUERY2_FLAGS_RESET
#define LOST   AMDGPU_CTX_QUERY2_FLAGS_VRAMLOST
#define GUILTY AMDGPU_CTX_QUERY2_FLAGS_GUILTY

static void expect_of(const char *spec, uint32_t ip, bool waves, struct outcome want)
{
	struct outcome got = hang(spec, ip, waves);

	printf("  %s, IP %u\n", spec, ip);
	CHECK_EQ(got.fence, want.fence);
	CHECK_EQ(got.next, want.next);
	CHECK_EQ(got.flags, want.flags);
	CHECK_EQ(got.other, want.other);
	CHECK_EQ(got.user_fence, want.user_fence);
}

static void expect(const char *spec, uint32_t ip, struct outcome want)
{
	expect_of(spec, ip, true, want);
}

/* rows 135, 136: .soft_recovery of compute rings came with 6.12 and stayed with MI300 alone. */
static void waves_that_hang(void)
{
	const uint32_t ip = AMDGPU_HW_IP_COMPUTE;
	const struct outcome soft = {-ENODATA, -ENODATA, RESET, 0, true};
	const struct outcome guilty_ring = {-ETIME, -ETIME, RESET | GUILTY, 0, true};
	const struct outcome device = {-ECANCELED, -ECANCELED, RESET | LOST | GUILTY, -ECANCELED, false};
	const struct outcome later_device = {-ETIME, -ECANCELED, RESET | LOST | GUILTY, -ECANCELED, false};

	expect("gfx908:watchdog_ms=500:kernel=6.1", ip, device);
	expect("gfx908:watchdog_ms=500:kernel=6.6", ip, later_device);
	expect("gfx908:watchdog_ms=500:kernel=6.12", ip, soft);
	expect("gfx942:watchdog_ms=500:kernel=6.12", ip, soft);
	expect("gfx908:watchdog_ms=500:kernel=7.2", ip, guilty_ring);
	expect("gfx942:watchdog_ms=500:kernel=7.2", ip, soft);
}

/* row 135: GFX rings had .soft_recovery before compute rings, and lost it with 7.2. 6.1 keeps no error. */
static void waves_that_hang_on_gfx_rings(void)
{
	const uint32_t ip = AMDGPU_HW_IP_GFX;

	expect("gfx906:watchdog_ms=500:kernel=6.1", ip, (struct outcome){-ENODATA, 0, RESET, 0, true});
	expect("gfx906:watchdog_ms=500:kernel=6.12", ip, (struct outcome){-ENODATA, -ENODATA, RESET, 0, true});
	expect("gfx906:watchdog_ms=500:kernel=7.2", ip, (struct outcome){-ETIME, -ETIME, RESET | GUILTY, 0, true});
}

/* row 136: no waves to kill: the ring alone is reset, from 6.12 on. */
static void packets_that_hang(void)
{
	static const uint32_t ips[] = {AMDGPU_HW_IP_GFX, AMDGPU_HW_IP_COMPUTE};

	for (unsigned i = 0; i < 2; i++) {
		expect_of("gfx906:watchdog_ms=500:kernel=6.1", ips[i], false,
			  (struct outcome){-ECANCELED, -ECANCELED, RESET | LOST | GUILTY, -ECANCELED, false});
		expect_of("gfx906:watchdog_ms=500:kernel=6.12", ips[i], false,
			  (struct outcome){-ETIME, -ETIME, RESET, 0, false});
	}
}

/* row 136: SDMA rings of GFX9 are not reset alone; MI300's are in 7.2. */
static void sdma_that_hangs(void)
{
	const uint32_t ip = AMDGPU_HW_IP_DMA;

	expect("gfx908:kernel=6.12", ip,
	       (struct outcome){-ETIME, -ECANCELED, RESET | LOST | GUILTY, -ECANCELED, false});
	expect("gfx908:kernel=7.2", ip, (struct outcome){-ETIME, -ETIME, RESET | LOST | GUILTY, -ECANCELED, false});
	expect("gfx942:kernel=6.12", ip,
	       (struct outcome){-ETIME, -ECANCELED, RESET | LOST | GUILTY, -ECANCELED, false});
	expect("gfx942:kernel=7.2", ip, (struct outcome){-ECANCELED, -ECANCELED, RESET, 0, false});
	expect("gfx1030:kernel=7.2", ip, (struct outcome){-ETIME, -ETIME, RESET | GUILTY, 0, true});
}

/* rows 77, 137: mode 2 leaves VRAM as it is, so others go on, and guilt alone stops the context of the hang. */
static void apus_keep_their_vram(void)
{
	expect("gfx90c:watchdog_ms=500:kernel=6.1", AMDGPU_HW_IP_COMPUTE,
	       (struct outcome){-ECANCELED, -ECANCELED, RESET | GUILTY, 0, false});
	expect("gfx90c:kernel=6.12", AMDGPU_HW_IP_DMA,
	       (struct outcome){-ETIME, -ECANCELED, RESET | GUILTY, 0, false});
	expect("gfx90c:kernel=7.2", AMDGPU_HW_IP_DMA, (struct outcome){-ETIME, -ETIME, RESET | GUILTY, 0, false});
}

/* What becomes of another context's job that stands on a compute ring while an SDMA ring hangs, and then would end.
 */
static int end_of_bystander(const char *spec)
{
	uint32_t other;
	uint64_t seq[2];
	int r;

	rig_start(spec);
	other = rig_ctx();
	build_hang(AMDGPU_HW_IP_DMA, false);
	rig.ib_dw = 512;
	emit_write(RIG_DATA_VA + 4, 1);
	emit_wait_for(RIG_DATA_VA, 1);
	while (rig.ib_dw % 8)
		emit(RIG_NOP);
	CHECK_EQ(submit_at(other, AMDGPU_HW_IP_COMPUTE, 512, &seq[0]), 0);
	while (!__atomic_load_n(&rig.data[1], __ATOMIC_ACQUIRE))
		usleep(1000);
	rig.ib_dw = 8;
	CHECK_EQ(submit_at(rig.ctx, AMDGPU_HW_IP_DMA, 0, &seq[1]), 0);
	CHECK(wait_on(rig.ctx, AMDGPU_HW_IP_DMA, seq[1]) < 0);
	__atomic_store_n(&rig.data[0], 1, __ATOMIC_RELEASE);
	r = wait_on(other, AMDGPU_HW_IP_COMPUTE, seq[0]);
	rig_stop();
	return r;
}

/* row 137: what stood on the hardware runs again on 6.1, and is lost later. */
static void bystanders_of_a_device_reset(void)
{
	CHECK_EQ(end_of_bystander("gfx90c:kernel=6.1"), 0);
	CHECK_EQ(end_of_bystander("gfx90c:kernel=6.12"), -ECANCELED);
	CHECK_EQ(end_of_bystander("gfx906:kernel=6.1"), -ECANCELED);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	waves_that_hang();
	waves_that_hang_on_gfx_rings();
	packets_that_hang();
	sdma_that_hangs();
	bystanders_of_a_device_reset();
	apus_keep_their_vram();
	return check_done("hangs, by release and chip");
}
