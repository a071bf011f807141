/* An empty job, for its side effects in the kernel. */
#include "cs/dispatch.h"

int cs_run_nop(struct vm *vm, void *unused)
{
	struct cs_ring *ring;
	struct cs_fence fence;
	struct cs_ctx *ctx;
	struct cs_ib *ib;
	int r = cs_ctx_create(vm, CS_PRIORITY_NORMAL, &ctx);

	(void)unused;
	if (r)
		return r;
	r = cs_ring_create(ctx, DRV_IP_COMPUTE, 0, cs_pm4_print, &ring);
	if (r)
		goto fail_ring;
	r = cs_begin(ring, 0, &ib);
	r = r ? r : cs_submit(ib, NULL, &fence);
	r = r ? r : cs_fence_wait(fence, CS_FOREVER);
	cs_ring_destroy(ring);
fail_ring:
	cs_ctx_destroy(ctx);
	return r;
}
