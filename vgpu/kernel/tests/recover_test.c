/* Soft recovery: waves that never end are killed, and the command processor goes on behind them. */
#include "vgpu/kernel/tests/test_packets.h"

#define CODE_VA (RIG_DATA_VA + 0x100) /* in the data page, which is executable */
#define DONE    0x600df1a9u

static void begin(void)
{
	memset(rig.data, 0, 4096);
	rig.data[0x100 / 4] = 0xbf82ffff; /* s_branch -1 */
	rig.data[0x200 / 4] = 0xbf810000; /* s_endpgm */
	rig.ib_dw = 0;
}

static int run(uint32_t fence_bo, uint64_t *seq)
{
	struct drm_amdgpu_cs_chunk_ib ib = {0, 0, RIG_IB_VA, 0, AMDGPU_HW_IP_COMPUTE, 0, 0};
	struct drm_amdgpu_cs_chunk_fence fence = {fence_bo, 0};
	struct drm_amdgpu_cs_chunk chunk[2] = {{AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
					       {AMDGPU_CHUNK_ID_FENCE, sizeof(fence) / 4, (uintptr_t)&fence}};
	uint64_t pointer[2] = {(uintptr_t)&chunk[0], (uintptr_t)&chunk[1]};
	union drm_amdgpu_cs args = {.in = {rig.ctx, rig.list, 2, 0, (uintptr_t)pointer}};

	while (rig.ib_dw % 8)
		emit(RIG_NOP);
	ib.ib_bytes = 4 * rig.ib_dw;
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CS, &args), 0);
	*seq = args.out.handle;
	return rig_wait(*seq);
}

static void new_context(void)
{
	CHECK_EQ(rig_ctx_free(rig.ctx), 0);
	rig.ctx = rig_ctx();
	memset(rig.data, 0, 4096);
}

/* rows 97, 135 */
static void the_rest_of_the_ib_runs(uint32_t fence_bo, const uint64_t *fence)
{
	union drm_amdgpu_ctx query = {.in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = rig.ctx}};
	uint64_t seq;

	begin();
	emit_dispatch(CODE_VA);
	emit_flush();
	emit_write(RIG_DATA_VA, DONE);
	emit_dispatch(CODE_VA); /* killed as well */
	emit_release(RIG_DATA_VA + 4, DONE + 1);
	CHECK_EQ(run(fence_bo, &seq), -ENODATA);
	CHECK_EQ(rig.data[0], DONE);
	CHECK_EQ(rig.data[1], DONE + 1);
	CHECK_EQ(*fence, seq);
	CHECK_EQ(rig_call(DRM_IOCTL_AMDGPU_CTX, &query), 0);
	CHECK_EQ(query.out.state.flags & AMDGPU_CTX_QUERY2_FLAGS_GUILTY, 0);
	CHECK_EQ(rig_submit(rig.list, NULL), -ENODATA); /* the entity keeps it */
	new_context();
}

/* What waits for what the killed waves would have written never ends: then the ring is reset. */
static void a_rest_that_waits_is_reset(uint32_t fence_bo, const uint64_t *fence)
{
	uint64_t seq, before = *fence;

	begin();
	emit_dispatch(CODE_VA);
	emit_flush();
	emit_wait_for(RIG_DATA_VA + 8, 1);
	emit_write(RIG_DATA_VA, DONE);
	CHECK_EQ(run(fence_bo, &seq), -ETIME);
	CHECK_EQ(rig.data[0], 0);
	CHECK_EQ(*fence, before);
	new_context();
}

static void good_waves_are_not_harmed(uint32_t fence_bo, const uint64_t *fence)
{
	uint64_t seq;

	begin();
	emit_dispatch(CODE_VA + 0x100);
	emit_release(RIG_DATA_VA, DONE);
	CHECK_EQ(run(fence_bo, &seq), 0);
	CHECK_EQ(rig.data[0], DONE);
	CHECK_EQ(*fence, seq);
}

int main(void)
{
	uint32_t fence_bo;
	uint64_t *fence;

	vgpu_strict_set(VGPU_STRICT_OFF);
	rig_start("gfx908:watchdog_ms=500");
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &fence_bo), 0);
	fence = (uint64_t *)(void *)rig_map(fence_bo, 4096);
	good_waves_are_not_harmed(fence_bo, fence);
	the_rest_of_the_ib_runs(fence_bo, fence);
	a_rest_that_waits_is_reset(fence_bo, fence);
	good_waves_are_not_harmed(fence_bo, fence);
	munmap(fence, 4096);
	CHECK_EQ(rig_close(fence_bo), 0);
	rig_stop();
	return check_done("soft recovery");
}
