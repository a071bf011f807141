/* The grammar of TUFF_VGPU_INJECT: failures and events that the virtual kernel plans. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "vgpu/shim/shim.h"

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

/* "5%" or "0.5%" in parts of a million; 0 when it is neither, or out of range. */
static uint32_t parse_chance(const char *text, char **end)
{
	double percent = strtod(text, end);

	if (*end == text || **end != '%' || !(percent > 0) || percent > 100)
		return 0;
	++*end;
	return percent < 1e-4 ? 1 : (uint32_t)(percent * (KERN_PPM_ALL / 100));
}

/* "=N:ERRNO" or "=P%:ERRNO" behind the name of an ioctl, or `ioctl` for any. */
static bool parse_failure(const char *name, char **at)
{
	bool any = !strcmp(name, "ioctl");
	int nr = any ? -1 : kern_ioctl_number(name), used;
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
static bool parse_event(enum kern_event event, char **at)
{
	char *text = *at;
	uint32_t ppm = *text == '=' ? parse_chance(text + 1, at) : KERN_PPM_ALL;
	uint64_t n = ppm ? 0 : strtoull(text + 1, at, 10);

	if (ppm || n)
		kern_inject_plan(event, n, ppm);
	return ppm || n;
}

static bool parse_seed(char **at, uint64_t *seed)
{
	char *text = *at;

	if (*text != '=')
		return false;
	*seed = strtoull(text + 1, at, 0);
	return *at != text + 1;
}

static bool parse_item(const char *name, char **at, uint64_t *seed)
{
	static const char *const events[KERN_EVENTS] = {
		[KERN_EVICT] = "evict", [KERN_SPILL] = "spill",           [KERN_RESET] = "reset",
		[KERN_LATE] = "late",   [KERN_FAULT_LATE] = "fault_late", [KERN_FAULT_LOST] = "fault_lost",
	};

	for (unsigned event = 0; event < KERN_EVENTS; event++)
		if (!strcmp(name, events[event]))
			return parse_event(event, at);
	return strcmp(name, "seed") ? parse_failure(name, at) : parse_seed(at, seed);
}

int shim_inject_parse(const char *text)
{
	char copy[512], name[64], *at = copy;
	struct timespec now;
	uint64_t seed;
	int used;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -EINVAL;
	clock_gettime(CLOCK_MONOTONIC, &now);
	seed = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	while (*at) {
		if (sscanf(at, "%63[a-z_]%n", name, &used) != 1)
			return -EINVAL;
		at += used;
		if (!parse_item(name, &at, &seed))
			return -EINVAL;
		if (*at && *at++ != ',')
			return -EINVAL;
	}
	kern_inject_seed(seed);
	if (strchr(text, '%') || strstr(text, "evict"))
		fprintf(stderr, "vgpu: TUFF_VGPU_INJECT draws from seed=%llu\n", (unsigned long long)seed);
	return 0;
}
