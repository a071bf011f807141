/* Signal groups: lists of signals for repeated waits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drv/handle.h"
#include "drv/lock.h"
#include "drv/process.h"
#include "hsa/core/table.h"
#include "hsa/signal/signal.h"

#define GROUP_MAX 1024 /* signals; the limit of one wait */

struct group {
	unsigned refs; /* the handle's, and those of waits; guarded by `lock` */
	uint32_t count;
	hsa_signal_t signal[]; /* borrowed */
};

static struct drv_mutex lock = DRV_MUTEX(DRV_RANK_RT_SIGNAL_GROUPS);
DRV_FORK_TAKES(lock, DRV_FORK_GROUPS)

/* Caller holds the lock. */
static struct group *group_of(hsa_signal_group_t handle)
{
	return drv_handle_find(&rt_handles, RT_KIND(RT_SIGNAL_GROUP), handle.handle);
}

/* A reference. NULL: there is no such group. */
static struct group *group_get(hsa_signal_group_t handle)
{
	struct group *g;

	drv_mutex_lock(&lock);
	g = group_of(handle);
	if (g)
		g->refs++;
	drv_mutex_unlock(&lock);
	return g;
}

static void group_put(struct group *g)
{
	bool last;

	drv_mutex_lock(&lock);
	last = !--g->refs;
	drv_mutex_unlock(&lock);
	if (last)
		free(g);
}

static int group_create(uint32_t count, const hsa_signal_t *signals, uint64_t *handle)
{
	struct group *g = malloc(sizeof(*g) + count * sizeof(*signals));
	int r;

	if (!g)
		return drv_fail(-ENOMEM, "no host memory for a group of signals");
	g->refs = 1;
	g->count = count;
	memcpy(g->signal, signals, count * sizeof(*signals));
	r = drv_handle_create(&rt_handles, RT_KIND(RT_SIGNAL_GROUP), g, handle);
	if (r)
		free(g);
	return r;
}

RT_IMPL(hsa_signal_group_create,
	(uint32_t count, const hsa_signal_t *signals, uint32_t consumers, const hsa_agent_t *consumer,
	 hsa_signal_group_t *group),
	(count, signals, consumers, consumer, group))
{
	if (!count || !signals || !group || (consumers && !consumer))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (count > GROUP_MAX)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	for (uint32_t i = 0; i < count; i++)
		if (!rt_signal_of(rt, signals[i]))
			return HSA_STATUS_ERROR_INVALID_SIGNAL;
	for (uint32_t i = 0; i < consumers; i++)
		if (!rt_agent_of(rt, consumer[i]))
			return HSA_STATUS_ERROR_INVALID_AGENT;
	return hsa_status_of(group_create(count, signals, &group->handle));
}

RT_IMPL(hsa_signal_group_destroy, (hsa_signal_group_t handle), (handle))
{
	struct group *g;

	(void)rt;
	drv_mutex_lock(&lock);
	g = group_of(handle);
	if (g)
		drv_handle_destroy(&rt_handles, handle.handle);
	drv_mutex_unlock(&lock);
	if (!g)
		return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
	group_put(g);
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_signal_group_wait_any_scacquire,
	(hsa_signal_group_t handle, const hsa_signal_condition_t *conditions, const hsa_signal_value_t *values,
	 hsa_wait_state_t hint, hsa_signal_t *signal, hsa_signal_value_t *value),
	(handle, conditions, values, hint, signal, value))
{
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_SIGNAL;
	struct group *g = group_get(handle);
	uint32_t index;

	(void)rt;
	if (!g)
		return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
	if (!conditions || !values || !signal || !value) {
		group_put(g);
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	index = impl_hsa_amd_signal_wait_any(g->count, g->signal, (hsa_signal_condition_t *)(uintptr_t)conditions,
					     (hsa_signal_value_t *)(uintptr_t)values, UINT64_MAX, hint, value);
	if (index < g->count) {
		*signal = g->signal[index];
		status = HSA_STATUS_SUCCESS;
	}
	group_put(g);
	return status;
}

hsa_status_t impl_hsa_signal_group_wait_any_relaxed(hsa_signal_group_t group,
						    const hsa_signal_condition_t *conditions,
						    const hsa_signal_value_t *values, hsa_wait_state_t hint,
						    hsa_signal_t *signal, hsa_signal_value_t *value)
{
	return impl_hsa_signal_group_wait_any_scacquire(group, conditions, values, hint, signal, value);
}
