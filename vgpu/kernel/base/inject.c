#include "vgpu/kernel/base/inject.h"
#include "vgpu/kernel/kernel.h"

/* SplitMix64 (Steele, Lea, Flood): any seed is good. */
uint64_t kern_inject_draw(void)
{
	uint64_t x = kern->draws += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static bool chance_hits(uint32_t ppm)
{
	return ppm && kern_inject_draw() % KERN_PPM_ALL < ppm;
}

bool kern_inject_event(enum kern_event event)
{
	struct kern_inject *plan = &kern->events[event];

	return (plan->countdown && !--plan->countdown) || chance_hits(plan->chance_ppm);
}

static int plan_step(struct kern_inject *plan)
{
	if (plan->countdown && !--plan->countdown) {
		kern->injecting--;
		return plan->error;
	}
	return chance_hits(plan->chance_ppm) ? plan->chance_error : 0;
}

/* Real kernels do not fail VERSION, and libdrm 2.4.114 does not survive it (amdgpu_device_initialize dereferences
 * the answer unlooked), so only a plan that names it counts it. */
int kern_injected_slow(unsigned nr, const char *name)
{
	int any = nr ? plan_step(&kern->inject_any) : 0, one = plan_step(&kern->inject_nr[nr]);

	if (any || one)
		vgpu_log("%s fails as planned: %s", name, strerrorname_np(any ? any : one));
	return any ? any : one;
}

void kern_inject(int nr, uint64_t n, int error)
{
	struct kern_inject *plan;

	kern_lock();
	plan = nr < 0 ? &kern->inject_any : &kern->inject_nr[nr % KERN_IOCTLS];
	kern->injecting += (n != 0) - (plan->countdown != 0);
	plan->countdown = n;
	plan->error = error;
	kern_unlock();
}

void kern_inject_chance(int nr, uint32_t ppm, int error)
{
	struct kern_inject *plan;

	kern_lock();
	plan = nr < 0 ? &kern->inject_any : &kern->inject_nr[nr % KERN_IOCTLS];
	kern->injecting += (ppm != 0) - (plan->chance_ppm != 0);
	plan->chance_ppm = ppm;
	plan->chance_error = error;
	kern_unlock();
}

uint64_t kern_ioctl_count(void)
{
	uint64_t count;

	kern_lock();
	count = kern->ioctls;
	kern_unlock();
	return count;
}

uint64_t kern_ioctl_count_nr(unsigned nr)
{
	uint64_t count;

	kern_lock();
	count = kern->ioctl_nr[nr % KERN_IOCTLS];
	kern_unlock();
	return count;
}

void kern_inject_plan(enum kern_event event, uint64_t n, uint32_t ppm)
{
	kern_lock();
	kern->events[event] = (struct kern_inject){.countdown = n, .chance_ppm = ppm};
	kern_unlock();
}

void kern_inject_seed(uint64_t seed)
{
	kern_lock();
	kern->draws = seed;
	kern_unlock();
}
