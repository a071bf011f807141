/* Signal groups: lists of signals for repeated waits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drv/handle.h"
#include "hsa/core/table.h"
#include "hsa/signal/signal.h"

#define GROUP_MAX 1024 /* signals; the limit of one wait */

struct group {
	uint32_t count;
	hsa_signal_t signal[]; /* borrowed */
};

static int group_create(uint32_t count, const hsa_signal_t *signals, uint64_t *handle)
{
	struct group *g = malloc(sizeof(*g) + count * sizeof(*signals));
	int r;

	if (!g)
		return drv_fail(-ENOMEM, "no host memory for a group of signals");
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
	g = drv_handle_find(&rt_handles, RT_KIND(RT_SIGNAL_GROUP), handle.handle);
	if (!g)
		return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
	drv_handle_destroy(&rt_handles, handle.handle);
	free(g);
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_signal_group_wait_any_scacquire,
	(hsa_signal_group_t handle, const hsa_signal_condition_t *conditions, const hsa_signal_value_t *values,
	 hsa_wait_state_t hint, hsa_signal_t *signal, hsa_signal_value_t *value),
	(handle, conditions, values, hint, signal, value))
{
	struct group *g;
	uint32_t index;

	(void)rt;
	g = drv_handle_find(&rt_handles, RT_KIND(RT_SIGNAL_GROUP), handle.handle);
	if (!g)
		return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
	if (!conditions || !values || !signal || !value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	index = impl_hsa_amd_signal_wait_any(g->count, g->signal, (hsa_signal_condition_t *)(uintptr_t)conditions,
					     (hsa_signal_value_t *)(uintptr_t)values, UINT64_MAX, hint, value);
	if (index >= g->count)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	*signal = g->signal[index];
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_signal_group_wait_any_relaxed(hsa_signal_group_t group,
						    const hsa_signal_condition_t *conditions,
						    const hsa_signal_value_t *values, hsa_wait_state_t hint,
						    hsa_signal_t *signal, hsa_signal_value_t *value)
{
	return impl_hsa_signal_group_wait_any_scacquire(group, conditions, values, hint, signal, value);
}
