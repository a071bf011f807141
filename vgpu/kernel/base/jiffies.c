#include "vgpu/kernel/base/jiffies.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/sys.h"

static int64_t tick_ns(unsigned hz)
{
	return 1000000000 / hz;
}

/* schedule_timeout() sets a timer for the tick `jiffies` ahead, and the timer wheel fires one tick behind that,
 * because the present one may be nearly over (kernel/time/timer.c calc_index()). */
int64_t kern_jiffies_end(unsigned hz, int64_t now_ns, uint64_t jiffies)
{
	int64_t tick = now_ns / tick_ns(hz);

	if (!jiffies)
		return 0;
	if (jiffies >= (uint64_t)(INT64_MAX / tick_ns(hz) - tick - 1))
		return INT64_MAX;
	return (tick + (int64_t)jiffies + 1) * tick_ns(hz);
}

int64_t kern_gem_deadline(const struct kern_device *dev, uint64_t timeout_ns)
{
	unsigned hz = kern_profile_of(dev)->hz;
	int64_t now = sys_now_ns(), until = (int64_t)timeout_ns;

	if (until < 0)
		return INT64_MAX;
	return kern_jiffies_end(hz, now, until < now ? 0 : (uint64_t)((until - now) / tick_ns(hz)));
}

int64_t kern_syncobj_deadline(const struct kern_device *dev, int64_t timeout_ns)
{
	unsigned hz = kern_profile_of(dev)->hz;
	int64_t now = sys_now_ns();

	return kern_jiffies_end(hz, now, timeout_ns <= now ? 0 : (uint64_t)((timeout_ns - now) / tick_ns(hz)) + 1);
}
