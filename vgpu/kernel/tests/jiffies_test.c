/* Timeouts in jiffies: exact values of the arithmetic, then through the ioctls what can be told without measuring
 * how fast the machine is. */
#include <sys/resource.h>
#include "vgpu/kernel/base/jiffies.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/tests/test_rig.h"

#define MS 1000000ll

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

/* row 132: a wait ends at a tick, no sooner than its jiffies, no later than one more. */
static void ends_are_ticks(void)
{
	CHECK_EQ(kern_jiffies_end(250, 1000 * MS, 0), 0);
	CHECK_EQ(kern_jiffies_end(250, 1000 * MS, 1), 1008 * MS);
	CHECK_EQ(kern_jiffies_end(250, 1003 * MS, 1), 1008 * MS);
	CHECK_EQ(kern_jiffies_end(250, 1004 * MS, 5), 1028 * MS);
	CHECK_EQ(kern_jiffies_end(1000, 1003 * MS, 1), 1005 * MS);
	CHECK_EQ(kern_jiffies_end(250, 1000 * MS, INT64_MAX / (4 * MS)), INT64_MAX);
	CHECK_EQ(kern_jiffies_end(250, 1000 * MS, UINT64_MAX), INT64_MAX);
}

/* rows 132 and 133: the two ways to round; each release has Debian's HZ. */
static void rounding(void)
{
	const struct kern_device *dev = &kern->device[0];
	int64_t base = now_ns(), later = base + 3600 * 1000 * MS;

	for (unsigned i = 0; kern_profile_at(i); i++)
		CHECK_EQ(kern_profile_at(i)->hz, 250);
	CHECK_EQ(kern_gem_deadline(dev, UINT64_MAX), INT64_MAX);
	CHECK_EQ(kern_gem_deadline(dev, (uint64_t)base), 0);
	CHECK_EQ(kern_gem_deadline(dev, (uint64_t)base + 3999999), 0);
	CHECK(kern_gem_deadline(dev, (uint64_t)later) > later - 4 * MS);
	CHECK(kern_gem_deadline(dev, (uint64_t)later) <= later + 4 * MS);
	CHECK_EQ(kern_syncobj_deadline(dev, -1), 0);
	CHECK_EQ(kern_syncobj_deadline(dev, base), 0);
	CHECK(kern_syncobj_deadline(dev, later) > later);
	CHECK(kern_syncobj_deadline(dev, later) <= later + 8 * MS);
	CHECK_EQ(kern_syncobj_deadline(dev, INT64_MAX), INT64_MAX);
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static int wait_idle(uint64_t timeout)
{
	union drm_amdgpu_gem_wait_idle args = {.in = {rig.data_bo, 0, timeout}};
	int r = rig_call(DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE, &args);

	return r ? r : (int)args.out.status;
}

static int wait_fences(uint64_t seq, bool all, uint64_t timeout)
{
	struct drm_amdgpu_fence fence = {.ctx_id = rig.ctx, .ip_type = AMDGPU_HW_IP_COMPUTE, .seq_no = seq};
	union drm_amdgpu_wait_fences args = {.in = {(uintptr_t)&fence, 1, all, timeout}};
	int r = rig_call(DRM_IOCTL_AMDGPU_WAIT_FENCES, &args);

	return r ? r : !args.out.status;
}

/* row 132: three milliseconds are less than a jiffy, so nobody sleeps. The device is busy for a second. */
static void short_waits_are_polls(void)
{
	uint64_t seq;
	long before;

	CHECK_EQ(rig_submit(rig.list, &seq), 0);
	before = switches();
	for (unsigned i = 0; i < 25; i++) {
		CHECK_EQ(rig_wait_ctx(rig.ctx, seq, (uint64_t)(now_ns() + 3 * MS)), 1);
		CHECK_EQ(wait_fences(seq, true, (uint64_t)(now_ns() + 3 * MS)), 1);
		CHECK_EQ(wait_fences(seq, false, (uint64_t)(now_ns() + 3 * MS)), 1);
		CHECK_EQ(wait_idle((uint64_t)(now_ns() + 3 * MS)), 1);
	}
	CHECK(switches() - before < 25); /* a sleep in each call of one kind would be as many at least */
	before = switches();
	CHECK_EQ(rig_wait_ctx(rig.ctx, seq, (uint64_t)(now_ns() + 20 * MS)), 1);
	CHECK(switches() > before);
	CHECK_EQ(rig_wait(seq), 0);
}

/* row 133: a syncobj's wait never ends early. */
static void syncobj_waits_sleep(void)
{
	struct drm_syncobj_create create = {0};
	struct drm_syncobj_wait wait = {.count_handles = 1, .flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT};

	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_CREATE, &create), 0);
	wait.handles = (uintptr_t)&create.handle;
	for (int64_t ms = 0; ms < 10; ms++) {
		wait.timeout_nsec = now_ns() + ms * MS;
		CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_WAIT, &wait), -ETIME);
		CHECK(now_ns() >= wait.timeout_nsec);
	}
	CHECK_EQ(rig_call(DRM_IOCTL_SYNCOBJ_DESTROY, &(struct drm_syncobj_destroy){.handle = create.handle}), 0);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	ends_are_ticks();
	rig_start("null:gfx906:service_us=1000000");
	rounding();
	short_waits_are_polls();
	syncobj_waits_sleep();
	rig_stop();
	return check_done("timeouts in jiffies");
}
