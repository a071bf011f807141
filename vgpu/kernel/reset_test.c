/* What becomes of a hang, by release, chip and ring: soft recovery, reset of the ring, reset of the device. */
#include "vgpu/kernel/test_packets.h"

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

static int wait_on(uint32_t ctx, uint32_t ip, uint64_t seq)
{
	union drm_amdgpu_wait_cs args = {.in = {seq, UINT64_MAX, ip, 0, 0, ctx}};
	int r = rig_call(DRM_IOCTL_AMDGPU_WAIT_CS, &args);

	return r ? r : (int)args.out.status;
}

/* An endless wave on a compute ring, or an SDMA packet that stops its engine. */
static void build_hang(uint32_t ip)
{
	memset(rig.data, 0, 4096);
	rig.data[0x100 / 4] = 0xbf82ffff; /* s_branch -1 */
	rig.ib_dw = 0;
	if (ip == AMDGPU_HW_IP_DMA)
		emit(SDMA_HANGS);
	else
		emit_dispatch(CODE_VA);
	while (rig.ib_dw % 8)
		emit(ip == AMDGPU_HW_IP_DMA ? 0 : RIG_NOP);
}

static struct outcome hang(const char *spec, uint32_t ip)
{
	struct outcome out = {0};
	uint32_t fence_bo, other;
	uint64_t *fence, seq, unused;

	rig_start(spec);
	other = rig_ctx();
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &fence_bo), 0);
	fence = (uint64_t *)(void *)rig_map(fence_bo, 4096);
	build_hang(ip);
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

static void expect(const char *spec, uint32_t ip, struct outcome want)
{
	struct outcome got = hang(spec, ip);

	printf("  %s, IP %u\n", spec, ip);
	CHECK_EQ(got.fence, want.fence);
	CHECK_EQ(got.next, want.next);
	CHECK_EQ(got.flags, want.flags);
	CHECK_EQ(got.other, want.other);
	CHECK_EQ(got.user_fence, want.user_fence);
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

/* row 137: mode 2 leaves VRAM as it is, so others go on. */
static void apus_keep_their_vram(void)
{
	expect("gfx90c:watchdog_ms=500:kernel=6.1", AMDGPU_HW_IP_COMPUTE,
	       (struct outcome){-ECANCELED, -ECANCELED, RESET | GUILTY, 0, false});
	expect("gfx90c:kernel=6.12", AMDGPU_HW_IP_DMA,
	       (struct outcome){-ETIME, -ECANCELED, RESET | GUILTY, 0, false});
	expect("gfx90c:kernel=7.2", AMDGPU_HW_IP_DMA, (struct outcome){-ETIME, -ETIME, RESET | GUILTY, 0, false});
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	waves_that_hang();
	sdma_that_hangs();
	apus_keep_their_vram();
	return check_done("hangs, by release and chip");
}
