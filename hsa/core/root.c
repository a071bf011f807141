/* The root object, the table of handles, and the clocks. */
#include <time.h>

#include "drv/handle.h"
#include "hsa/core/core.h"

struct rt *_Atomic rt_current;
struct drv_calls rt_calls = DRV_CALLS;
_Thread_local struct drv_caller rt_caller = DRV_CALLER;
struct drv_handles rt_handles; /* lives as long as the process */

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

uint64_t rt_now_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

/* The difference of CLOCK_BOOTTIME and CLOCK_MONOTONIC: the time for which the machine was suspended. A value is
 * kept until it can no longer be correct, so that two timestamps keep their order even if the calling threads are
 * preempted. */
static uint64_t slept_ns(void)
{
	static _Atomic uint64_t known_ns;
	uint64_t before_ns = read_ns(CLOCK_MONOTONIC), boot_ns = rt_now_ns(), after_ns = read_ns(CLOCK_MONOTONIC);
	uint64_t ns = atomic_load_explicit(&known_ns, memory_order_relaxed);

	if (boot_ns - ns >= before_ns && boot_ns - ns <= after_ns)
		return ns;
	ns = boot_ns - before_ns - (after_ns - before_ns) / 2;
	atomic_store_explicit(&known_ns, ns, memory_order_relaxed);
	return ns;
}

uint64_t rt_gpu_time_ns(struct rt_gpu *gpu, uint64_t ticks)
{
	return drv_clock_host_ns(&gpu->clock, ticks) + slept_ns();
}
