/* Points: polling costs one load; waiting spins for a budget and then sleeps on the kernel's fence. */
#include "cs/internal.h"

#include <errno.h>
#include <time.h>

int cs_point_poll(struct cs_point point)
{
	const struct cs_ring *ring = point.ring;
	bool reached = !ring || cs_reached(ring) >= point.seq;
	int lost = ring ? cs_ctx_lost(ring->ctx) : 0;

	if (__builtin_expect(!lost, 1))
		return reached;
	/* A killed job's fence is written too. */
	return reached && point.seq < ring->first_bad ? 1 : lost;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static bool spin(struct cs_point point, uint64_t until_ns)
{
	do {
		for (unsigned i = 0; i < 64; i++) {
			if (cs_reached(point.ring) >= point.seq)
				return true;
			__builtin_ia32_pause();
		}
	} while (now_ns() < until_ns);
	return false;
}

/* Asks the kernel's fence until deadline_ns: 0, -ETIMEDOUT, or what the kernel says of the job. */
static int wait_cs(struct cs_point point, uint64_t deadline_ns)
{
	const struct cs_ring *ring = point.ring;
	union drm_amdgpu_wait_cs args = {
		.in =
			{
				.handle = point.seq,
				.timeout = deadline_ns,
				.ip_type = ring->ip,
				.ring = ring->index,
				.ctx_id = ring->ctx->id,
			},
	};
	int r = drv_ioctl(ring->dev, DRM_IOCTL_AMDGPU_WAIT_CS, &args);

	return r ? r : args.out.status ? -ETIMEDOUT : 0;
}

/* Sleeps until the fence or deadline_ns. The kernel reports the loss of the job on this way. */
static int sleep_on_fence(struct cs_point point, uint64_t deadline_ns)
{
	int r = wait_cs(point, deadline_ns);

	if (cs_is_loss(r))
		return cs_ring_lose(point.ring, r, point.seq);
	if (r)
		return drv_fail(r, "job %llu of ring %u.%u is not done yet", (unsigned long long)point.seq,
				point.ring->ip, point.ring->index);
	return 0;
}

int cs_fence_poll(struct cs_point point)
{
	int r = wait_cs(point, 0);

	return cs_is_loss(r) ? cs_ring_lose(point.ring, r, point.seq) : 0;
}

void cs_point_settle(struct cs_point point)
{
	if (point.ring && cs_reached(point.ring) < point.seq)
		(void)!wait_cs(point, INT64_MAX);
}

int cs_point_wait(struct cs_point point, int64_t timeout_ns)
{
	uint64_t start_ns, deadline_ns, spin_until_ns;
	int r = cs_point_poll(point);

	if (r < 0)
		return drv_fail(r, "the context was lost before");
	if (r)
		return 0;
	start_ns = now_ns();
	if (timeout_ns < 0)
		timeout_ns = 0;
	deadline_ns = timeout_ns < INT64_MAX - (int64_t)start_ns ? start_ns + timeout_ns : INT64_MAX;
	spin_until_ns = start_ns + drv_config()->spin_us * 1000ull;
	if (spin(point, spin_until_ns < deadline_ns ? spin_until_ns : deadline_ns))
		return 0;
	return sleep_on_fence(point, deadline_ns);
}
