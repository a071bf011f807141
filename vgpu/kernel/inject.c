#include <stdio.h>
#include <stdlib.h>
#include "vgpu/kernel/inject.h"
#include "vgpu/kernel/kernel.h"

#define PPM_ALL 1000000u

/* SplitMix64 (Steele, Lea, Flood): any seed is good. */
uint64_t kern_inject_draw(void)
{
	uint64_t x = kern->draws += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static bool chance(uint32_t ppm)
{
	return ppm && kern_inject_draw() % PPM_ALL < ppm;
}

bool kern_inject_event(enum kern_event event)
{
	struct kern_inject *plan = &kern->events[event];

	return (plan->countdown && !--plan->countdown) || chance(plan->chance_ppm);
}

static int plan_step(struct kern_inject *plan)
{
	if (plan->countdown && !--plan->countdown) {
		kern->injecting--;
		return plan->error;
	}
	return chance(plan->chance_ppm) ? plan->chance_error : 0;
}

/* Real kernels do not fail VERSION, and libdrm 2.4.114 does not survive it (amdgpu_device_initialize dereferences
 * the answer unlooked), so only a plan that names it counts it. */
int kern_injected_slow(unsigned nr)
{
	int any = nr ? plan_step(&kern->inject_any) : 0, one = plan_step(&kern->inject_nr[nr]);

	if (any || one)
		vgpu_log("%s fails as planned: %s", kern_ioctl_name(nr) ? kern_ioctl_name(nr) : "ioctl",
			 strerrorname_np(any ? any : one));
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

/* --- TUFF_VGPU_INJECT --- */

static int error_number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end != text && !*end && value > 0 && value < 4096)
		return (int)value;
	for (int e = 1; e < 134; e++)
		if (strerrorname_np(e) && !strcmp(strerrorname_np(e), text))
			return e;
	return 0;
}

static int ioctl_number(const char *name)
{
	for (unsigned nr = 0; nr < KERN_IOCTLS; nr++)
		if (kern_ioctl_name(nr) && !strcmp(kern_ioctl_name(nr), name))
			return (int)nr;
	return -1;
}

/* "5%" or "0.5%" in parts of a million; 0 when it is neither, or out of range. */
static uint32_t parse_chance(const char *text, char **end)
{
	double percent = strtod(text, end);

	if (*end == text || **end != '%' || !(percent > 0) || percent > 100)
		return 0;
	++*end;
	return percent < 1e-4 ? 1 : (uint32_t)(percent * (PPM_ALL / 100));
}

/* "=N:ERRNO" or "=P%:ERRNO" behind the name of an ioctl, or `ioctl` for any. */
static bool parse_failure(const char *name, char **at)
{
	bool any = !strcmp(name, "ioctl");
	int nr = any ? -1 : ioctl_number(name), used;
	char error[32], *text = *at;
	unsigned long long n = 0;
	uint32_t ppm;

	if (*text != '=' || (!any && nr < 0))
		return false;
	ppm = parse_chance(text + 1, at);
	if (!ppm)
		n = strtoull(text + 1, at, 10);
	if ((!ppm && !n) || sscanf(*at, ":%31[A-Z0-9]%n", error, &used) != 1 || !error_number(error))
		return false;
	*at += used;
	if (ppm)
		kern_inject_chance(nr, ppm, error_number(error));
	else
		kern_inject(nr, n, error_number(error));
	return true;
}

/* Nothing, "=P%" or "=N" behind the name of an event. */
static bool parse_event(struct kern_inject *plan, char **at)
{
	char *text = *at;

	*plan = (struct kern_inject){.chance_ppm = *text == '=' ? parse_chance(text + 1, at) : PPM_ALL};
	if (!plan->chance_ppm)
		plan->countdown = strtoull(text + 1, at, 10);
	return plan->chance_ppm || plan->countdown;
}

static bool parse_seed(char **at)
{
	char *text = *at;

	if (*text != '=')
		return false;
	kern->draws = strtoull(text + 1, at, 0);
	return *at != text + 1;
}

static bool parse_item(const char *name, char **at)
{
	static const char *const events[KERN_EVENTS] = {
		[KERN_EVICT] = "evict", [KERN_SPILL] = "spill",           [KERN_RESET] = "reset",
		[KERN_LATE] = "late",   [KERN_FAULT_LATE] = "fault_late", [KERN_FAULT_LOST] = "fault_lost",
	};

	for (unsigned event = 0; event < KERN_EVENTS; event++)
		if (!strcmp(name, events[event]))
			return parse_event(&kern->events[event], at);
	return strcmp(name, "seed") ? parse_failure(name, at) : parse_seed(at);
}

int kern_inject_parse(const char *text)
{
	char copy[512], name[64], *at = copy;
	unsigned long long seed;
	int used;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -EINVAL;
	kern->draws = (uint64_t)sys_now_ns();
	while (*at) {
		if (sscanf(at, "%63[a-z_]%n", name, &used) != 1)
			return -EINVAL;
		at += used;
		if (!parse_item(name, &at))
			return -EINVAL;
		if (*at && *at++ != ',')
			return -EINVAL;
	}
	seed = kern->draws;
	if (strchr(text, '%') || strstr(text, "evict"))
		fprintf(stderr, "vgpu: TUFF_VGPU_INJECT draws from seed=%llu\n", seed);
	return 0;
}
