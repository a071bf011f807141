/* A queue that waits for another queue whose job hung: it continues, and neither its context nor its guilt are
 * affected, although Linux gives the other queue's error for its submission. */
#include <errno.h>
#include <unistd.h>

#include "cs/internal.h"
#include "cs/pm4.h"
#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define UNASSIGNED_OPCODE 0xf3

static struct stack s;

/* A job that the ring's command processor stops at. */
static struct cs_fence hang(struct cs_ring *ring)
{
	struct cs_fence point = {0};
	struct cs_ib *ib;

	if (!CHECK_EQ(cs_begin(ring, 0, &ib), 0))
		return point;
	uint32_t *p = cs_ib_room(ib, 2);

	*p++ = PM4_HEADER(UNASSIGNED_OPCODE, 1);
	*p++ = 0;
	cs_ib_wrote(ib, p);
	CHECK_EQ(cs_submit(ib, NULL, &point), 0);
	return point;
}

/* Until the kernel has given its verdict, of which this process's driver knows nothing. */
static void await_verdict(struct cs_fence point)
{
	int r = 0;

	do {
		union drm_amdgpu_wait_cs args = {.in = {.handle = point.seq,
							.ip_type = point.ring->ip,
							.ring = point.ring->index,
							.ctx_id = point.ring->ctx->id}};

		usleep(1000);
		r = drv_ioctl(s.dev, DRM_IOCTL_AMDGPU_WAIT_CS, &args);
		r = r ? r : args.out.status ? -ETIMEDOUT : 0;
	} while (r == -ETIMEDOUT);
	CHECK(cs_is_loss(r));
	CHECK_EQ(cs_fence_poll(point), 0);
}

static int submit_behind(struct cs_ring *ring, struct cs_fence after, bool *lost, struct cs_fence *point)
{
	const struct cs_submit_info order = {.after = &after, .after_count = 1, .lost = lost};
	struct cs_ib *ib;
	int r = cs_begin(ring, 0, &ib);

	return r ? r : cs_submit(ib, &order, point);
}

static void check_innocent(const struct cs_ring *ring)
{
	struct cs_reset reset;

	CHECK_EQ(cs_ctx_lost(ring->ctx), 0);
	CHECK_EQ(cs_ctx_reset_status(ring->ctx, &reset), 0);
	CHECK(!reset.guilty);
}

static void a_waiting_queue_goes_on(bool skips)
{
	struct cs_ctx *ctx = NULL;
	struct cs_ring *other = NULL;
	struct cs_fence stuck, point;
	bool lost = false;

	CHECK_EQ(cs_ctx_create(s.vm, CS_PRIORITY_NORMAL, &ctx), 0);
	CHECK_EQ(cs_ring_create(ctx, DRV_IP_COMPUTE, 1, cs_pm4_print, &other), 0);
	stuck = hang(other);
	await_verdict(stuck);
	CHECK_EQ(submit_behind(s.ring, stuck, skips ? &lost : NULL, &point), skips ? 0 : -ECANCELED);
	CHECK_EQ(lost, skips);
	CHECK_EQ(cs_ctx_lost(ctx), -ECANCELED);
	check_innocent(s.ring);
	CHECK_EQ(submit_behind(s.ring, (struct cs_fence){0}, NULL, &point), 0);
	CHECK_EQ(cs_fence_wait(point, CS_FOREVER), 0);
	check_innocent(s.ring);
	cs_ring_destroy(other);
	cs_ctx_destroy(ctx);
}

/* Its own hang is its own. */
static void a_queue_that_hung_is_lost(void)
{
	struct cs_fence stuck = hang(s.ring), point;
	struct cs_reset reset;

	await_verdict(stuck);
	CHECK_EQ(submit_behind(s.ring, stuck, NULL, &point), -ECANCELED);
	CHECK_EQ(cs_ctx_lost(s.ring->ctx), -ECANCELED);
	CHECK_EQ(cs_ctx_reset_status(s.ring->ctx, &reset), 0);
	CHECK(reset.guilty);
}

/* Releases whose rings are reset one by one: others lose all contexts of the device. */
static void on(const char *spec)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	if (!CHECK_EQ(vgpu_start(spec), 0) || !CHECK_EQ(stack_open(&s), 0))
		return;
	a_waiting_queue_goes_on(false);
	a_waiting_queue_goes_on(true);
	a_queue_that_hung_is_lost();
	stack_close(&s);
	vgpu_stop();
}

int main(void)
{
	on("gfx908:kernel=6.18");
	on("gfx90a:kernel=7.0");
	return check_done("a queue that waits for a lost one");
}
