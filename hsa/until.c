/* Waiting for a value in memory (door.h). */
#include <errno.h>

#include "drv/process.h"
#include "hsa/queue.h"

static bool is_met(enum rt_until until, uint64_t found, uint64_t value, uint64_t mask)
{
	switch (until) {
	case RT_UNTIL_GTE:
		return (found & mask) >= value;
	case RT_UNTIL_EQ:
		return (found & mask) == value;
	case RT_UNTIL_ANY:
		return found & mask & value;
	case RT_UNTIL_NOT_ALL: /* some bit of the mask is in neither */
		return ~(found | value) & mask;
	}
	return false;
}

int rt_until_met(struct rt *rt, const struct rt_until_packet *p)
{
	struct rt_span span;
	uint64_t found;
	const void *at;

	if ((p->size_B != 4 && p->size_B != 8) || p->address % p->size_B || !rt_span_find(rt, p->address, &span) ||
	    !span.host_base)
		return drv_fail(-EINVAL, "no value that the CPU sees at 0x%llx", (unsigned long long)p->address);
	at = (const void *)(uintptr_t)(span.host_base + (p->address - span.base));
	found = p->size_B == 8 ? __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE)
			       : __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
	return is_met(p->until, found, p->value, p->mask) || (p->process && drv_process_gone((pid_t)p->process));
}
