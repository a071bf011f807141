/* Waiting for fences: a poll costs one load; a wait spins for a budget and then sleeps on the kernel fence. */
#include "cs/internal.h"

#include <errno.h>

#include "drv/clock.h"

int cs_fence_poll(struct cs_fence fence)
{
	const struct cs_ring *ring = fence.ring;
	bool completed = !ring || cs_completed_seq(ring) >= fence.seq;
	int lost = ring ? cs_ctx_lost(ring->ctx) : 0;

	if (__builtin_expect(!lost, 1))
		return completed;
	/* The sequence word of a killed job is written, too. */
	return completed && fence.seq < ring->first_bad ? 1 : lost;
}

uint64_t cs_deadline_ns(int64_t timeout_ns)
{
	uint64_t start_ns = drv_now_ns();

	if (timeout_ns < 0)
		timeout_ns = 0;
	return timeout_ns < INT64_MAX - (int64_t)start_ns ? start_ns + timeout_ns : INT64_MAX;
}

static bool fence_spin(struct cs_fence fence, uint64_t until_ns)
{
	do {
		for (unsigned i = 0; i < 64; i++) {
			if (cs_completed_seq(fence.ring) >= fence.seq)
				return true;
			__builtin_ia32_pause();
		}
	} while (drv_now_ns() < until_ns);
	return false;
}

/* Waits for the kernel fence until deadline_ns: 0, -ETIMEDOUT, or the kernel's error of the job. */
static int wait_cs(struct cs_fence fence, uint64_t deadline_ns)
{
	const struct cs_ring *ring = fence.ring;
	union drm_amdgpu_wait_cs args = {
		.in =
			{
				.handle = fence.seq,
				.timeout = deadline_ns,
				.ip_type = ring->ip,
				.ring = ring->index,
				.ctx_id = ring->ctx->id,
			},
	};
	int r;

	if (ring->user)
		return cs_user_queue_wait(fence, deadline_ns);
	r = drv_ioctl_insist(ring->dev, DRM_IOCTL_AMDGPU_WAIT_CS, &args);
	return r ? r : args.out.status ? -ETIMEDOUT : 0;
}

/* --- sleeping --------------------------------------------------------------------------------- */

/* Shortest wait that sleeps in the kernel. The kernel rounds the timeout of WAIT_CS and WAIT_FENCES down to whole
 * jiffies of 1 to 10 ms (Linux amdgpu_gem_timeout()), and a shorter timeout only polls. So the kernel sleeps until
 * deadlines that are farther away than two of the longest jiffies; nearer ones use short sleeps here. */
#define KERNEL_SLEEP_MIN_NS 20000000
/* Pauses between two polls: the first, and the longest. */
#define NAP_MIN_NS 50000
#define NAP_MAX_NS 1000000

struct nap {
	uint64_t ns; /* the previous pause; 0: none yet */
};

static void nap_until(struct nap *nap, uint64_t deadline_ns)
{
	uint64_t now = drv_now_ns();

	nap->ns = !nap->ns ? NAP_MIN_NS : nap->ns < NAP_MAX_NS / 2 ? 2 * nap->ns : NAP_MAX_NS;
	if (now < deadline_ns)
		drv_nap(nap->ns < deadline_ns - now ? nap->ns : deadline_ns - now);
}

/* The deadline for the kernel's wait: deadline_ns, or 0 for a poll. */
static uint64_t kernel_deadline(uint64_t deadline_ns)
{
	return deadline_ns == INT64_MAX || deadline_ns > drv_now_ns() + KERNEL_SLEEP_MIN_NS ? deadline_ns : 0;
}

/* Like wait_cs(), but sleeps until the fence or the deadline. */
static int sleep_on_fence(struct cs_fence fence, uint64_t deadline_ns)
{
	struct nap nap = {0};
	int r;

	for (;;) {
		uint64_t kernel_ns = kernel_deadline(deadline_ns);

		r = wait_cs(fence, kernel_ns);
		if (r != -ETIMEDOUT || drv_now_ns() >= deadline_ns)
			return r;
		if (!kernel_ns)
			nap_until(&nap, deadline_ns);
	}
}

int cs_fence_sleep(struct cs_fence fence, int64_t timeout_ns)
{
	uint64_t deadline_ns, kernel_ns;
	int r = cs_fence_poll(fence);

	if (r < 0)
		return drv_fail(r, "the context was lost before");
	if (r)
		return 0;
	deadline_ns = cs_deadline_ns(timeout_ns);
	kernel_ns = kernel_deadline(deadline_ns);
	/* Callers that wait in slices expect most of them to time out, so there is nothing to record. The kernel's
	 * answer includes the loss of the job. */
	r = kernel_ns && !fence.ring->user ? wait_cs(fence, kernel_ns) : sleep_on_fence(fence, deadline_ns);
	return cs_is_loss(r) ? cs_ring_lose(fence.ring, r, fence.seq) : r;
}

int cs_kernel_fence_query(struct cs_fence fence)
{
	int r = wait_cs(fence, 0);

	return cs_is_loss(r) ? cs_ring_lose(fence.ring, r, fence.seq) : 0;
}

void cs_fence_retire(struct cs_fence fence)
{
	while (fence.ring && cs_completed_seq(fence.ring) < fence.seq)
		if (wait_cs(fence, INT64_MAX) != -ETIMEDOUT)
			break;
}

bool cs_fence_is_retired(struct cs_fence fence)
{
	if (!fence.ring || cs_completed_seq(fence.ring) >= fence.seq)
		return true;
	return cs_ctx_lost(fence.ring->ctx) && wait_cs(fence, 0) != -ETIMEDOUT;
}

unsigned cs_fences_unretired(struct cs_fence *to, const struct cs_fence *from, unsigned count)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++)
		if (!cs_fence_is_retired(from[i]))
			to[kept++] = from[i];
	return kept;
}

/* Waits until the deadline. */
static int wait_until(struct cs_fence fence, uint64_t deadline_ns)
{
	uint64_t spin_until_ns;
	int r = cs_fence_poll(fence);

	if (r < 0)
		return drv_fail(r, "the context was lost before");
	if (r)
		return 0;
	spin_until_ns = drv_now_ns() + drv_config()->spin_us * 1000ull;
	if (fence_spin(fence, spin_until_ns < deadline_ns ? spin_until_ns : deadline_ns))
		return 0;
	r = sleep_on_fence(fence, deadline_ns);
	if (cs_is_loss(r))
		return cs_ring_lose(fence.ring, r, fence.seq);
	if (r)
		return drv_fail(r, "job %llu of ring %u.%u is not done yet", (unsigned long long)fence.seq,
				fence.ring->ip, fence.ring->index);
	return 0;
}

int cs_fence_wait(struct cs_fence fence, int64_t timeout_ns)
{
	/* A finished wait does not read the clock. */
	return cs_fence_poll(fence) == 1 ? 0 : wait_until(fence, cs_deadline_ns(timeout_ns));
}

int cs_fences_wait_all(const struct cs_fence *fences, unsigned count, int64_t timeout_ns)
{
	uint64_t deadline_ns = cs_deadline_ns(timeout_ns);
	int r = 0;

	for (unsigned i = 0; !r && i < count; i++)
		r = wait_until(fences[i], deadline_ns);
	return r;
}

/* Fences in one WAIT_FENCES; the kernel takes any number, but copies and holds them all. */
#define ANY_MAX 64

/* Finds a fence that is signaled or lost: its index, and its result in *answer; -1: none. */
static int find_ended(const struct cs_fence *fences, unsigned count, int *answer)
{
	for (unsigned i = 0; i < count; i++) {
		int r = cs_fence_poll(fences[i]);

		if (r) {
			*answer = r < 0 ? drv_fail(r, "the context of a fence was lost") : 0;
			return i;
		}
	}
	return -1;
}

/* what: AMDGPU_FENCE_TO_HANDLE_*; *result: a descriptor, or the handle of a syncobj. */
static int export_fence(struct cs_fence fence, uint32_t what, int *result)
{
	const struct cs_ring *ring = fence.ring;
	union drm_amdgpu_fence_to_handle args = {
		.in =
			{
				.fence =
					{
						.ctx_id = ring->ctx->id,
						.ip_type = ring->ip,
						.ring = ring->index,
						.seq_no = fence.seq,
					},
				.what = what,
			},
	};
	int r = drv_ioctl(ring->dev, DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &args);

	if (r)
		return drv_fail(r, "FENCE_TO_HANDLE of job %llu", (unsigned long long)fence.seq);
	*result = (int)args.out.handle;
	return 0;
}

/* *handle: of a syncobj that has the fence, or a later one of a user queue. *made: the syncobj, if it is new. */
static int put_into_syncobj(struct cs_fence fence, struct cs_syncobj *made, uint32_t *handle)
{
	const struct cs_syncobj *end;
	int r, given;

	if (fence.ring->user) {
		r = cs_user_queue_end(fence.ring, &end);
		*handle = r ? 0 : end->handle;
		return r;
	}
	r = export_fence(fence, AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ, &given);
	*handle = (uint32_t)given;
	*made = (struct cs_syncobj){fence.ring->ctx->vm, *handle};
	return r;
}

/* Sleeps until a fence of the device ends, the deadline, or for some milliseconds, where user queues are among the
 * rings: WAIT_FENCES knows none of these, but every fence can be put into a syncobj. 0: one may have ended. */
static int sleep_on_syncobjs(const struct cs_fence *fences, unsigned count, const struct drv_device *dev,
			     uint64_t deadline_ns)
{
	struct cs_syncobj made[ANY_MAX];
	uint32_t handle[ANY_MAX];
	struct drm_syncobj_wait args = {.handles = (uintptr_t)handle};
	unsigned n = 0;
	int r = 0;

	for (unsigned i = 0; !r && i < count && args.count_handles < ANY_MAX; i++) {
		if (fences[i].ring->dev != dev)
			continue;
		r = put_into_syncobj(fences[i], &made[n], &handle[args.count_handles]);
		n += !fences[i].ring->user && !r;
		args.count_handles += !r;
	}
	args.timeout_nsec = (int64_t)cs_user_queue_deadline(deadline_ns);
	if (!r)
		r = drv_ioctl_insist(dev, DRM_IOCTL_SYNCOBJ_WAIT, &args);
	while (n)
		cs_syncobj_fini(&made[--n]);
	return r == -ETIME ? -ETIMEDOUT : r;
}

static bool has_user_queue(const struct cs_fence *fences, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (fences[i].ring->user)
			return true;
	return false;
}

/* Sleeps until a fence of the device ends, or the deadline. The next poll of the fences detects a signaled one; a
 * loss needs a query. */
static int sleep_on_fences(const struct cs_fence *fences, unsigned count, const struct drv_device *dev,
			   uint64_t deadline_ns)
{
	struct drm_amdgpu_fence kernel[ANY_MAX];
	union drm_amdgpu_wait_fences args = {
		.in = {.fences = (uintptr_t)kernel, .timeout_ns = deadline_ns},
	};
	unsigned n = 0;
	int r;

	for (unsigned i = 0; i < count && n < ANY_MAX; i++)
		if (fences[i].ring->dev == dev)
			kernel[n++] = (struct drm_amdgpu_fence){
				.ctx_id = fences[i].ring->ctx->id,
				.ip_type = fences[i].ring->ip,
				.ring = fences[i].ring->index,
				.seq_no = fences[i].seq,
			};
	args.in.fence_count = n;
	r = drv_ioctl_insist(dev, DRM_IOCTL_AMDGPU_WAIT_FENCES, &args);
	return r || args.out.status ? r : -ETIMEDOUT;
}

static int sleep_on_any(const struct cs_fence *fences, unsigned count, const struct drv_device *dev,
			uint64_t deadline_ns)
{
	int r = has_user_queue(fences, count) ? sleep_on_syncobjs(fences, count, dev, deadline_ns)
					      : sleep_on_fences(fences, count, dev, deadline_ns);

	if (r != -ETIMEDOUT)
		for (unsigned i = 0; i < count; i++)
			if (fences[i].ring->dev == dev)
				(void)!cs_kernel_fence_query(fences[i]);
	return r && r != -ETIMEDOUT && !cs_is_loss(r) ? drv_fail(r, "a wait for any of %u fences", count) : 0;
}

static bool is_of_one_device(const struct cs_fence *fences, unsigned count)
{
	for (unsigned i = 1; i < count; i++)
		if (fences[i].ring->dev != fences[0].ring->dev)
			return false;
	return true;
}

/* Sleeps until a fence may have ended, or the deadline. The kernel can wait for fences of one device, and a limited
 * number; in other cases it is only queried for losses, of each device in turn. */
static int sleep_once(const struct cs_fence *fences, unsigned count, unsigned turn, uint64_t deadline_ns,
		      struct nap *nap)
{
	uint64_t kernel_ns = count <= ANY_MAX && is_of_one_device(fences, count) ? kernel_deadline(deadline_ns) : 0;
	int r = sleep_on_any(fences, count, fences[turn % count].ring->dev, kernel_ns);

	if (!kernel_ns)
		nap_until(nap, deadline_ns);
	return r;
}

int cs_fences_wait_any(const struct cs_fence *fences, unsigned count, int64_t timeout_ns, unsigned *index)
{
	uint64_t deadline_ns = cs_deadline_ns(timeout_ns), now = drv_now_ns();
	uint64_t spin_until_ns = now + drv_config()->spin_us * 1000ull;
	struct nap nap = {0};
	unsigned turn = 0;
	int r = 0, ended;

	while ((ended = find_ended(fences, count, &r)) < 0) {
		now = drv_now_ns();
		if (now >= deadline_ns)
			return drv_fail(-ETIMEDOUT, "none of %u jobs is done yet", count);
		if (now < spin_until_ns) {
			__builtin_ia32_pause();
			continue;
		}
		r = sleep_once(fences, count, turn++, deadline_ns, &nap);
		if (r)
			return r;
	}
	*index = ended;
	return r;
}

/* Through a syncobj that nobody gives another fence. */
static int export_end(struct cs_ring *ring, bool file, int *fd)
{
	struct cs_syncobj sync;
	int r = cs_syncobj_init(ring->ctx->vm, false, &sync);

	if (r)
		return r;
	r = cs_user_queue_signal(ring, &sync);
	r = r ? r : cs_syncobj_export(&sync, file, fd);
	cs_syncobj_fini(&sync);
	return r;
}

int cs_fence_export(struct cs_fence fence, int *fd)
{
	return fence.ring->user ? export_end(fence.ring, false, fd)
				: export_fence(fence, AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ_FD, fd);
}

int cs_fence_sync_file(struct cs_fence fence, int *fd)
{
	return fence.ring->user ? export_end(fence.ring, true, fd)
				: export_fence(fence, AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD, fd);
}
