#include <stdio.h>
#include <stdlib.h>
#include "vgpu/kernel/inject.h"
#include "vgpu/kernel/kernel.h"

static int plan_step(struct kern_inject *plan)
{
	if (!plan->countdown || --plan->countdown)
		return 0;
	kern->injecting--;
	return plan->error;
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
	*plan = (struct kern_inject){n, error};
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

int kern_inject_parse(const char *text)
{
	char name[64], error[32];
	unsigned long long n;
	int used;

	while (*text) {
		bool any;

		if (sscanf(text, "%63[a-z_]=%llu:%31[A-Z0-9]%n", name, &n, error, &used) != 3)
			return -EINVAL;
		any = !strcmp(name, "ioctl");
		if (!n || !error_number(error) || (!any && ioctl_number(name) < 0))
			return -EINVAL;
		kern_inject(any ? -1 : ioctl_number(name), n, error_number(error));
		text += used;
		if (*text && *text++ != ',')
			return -EINVAL;
	}
	return 0;
}
