/* Attributes of queues, and the indices of their rings. */
#include "hsa/core/table.h"
#include "hsa/queue/queue.h"

/* --- properties ------------------------------------------------------------------------------- */

RT_IMPL(hsa_amd_profiling_set_profiler_enabled, (hsa_queue_t *queue, int enable), (queue, enable))
{
	struct rt_queue *q = rt_gpu_queue_get(rt, queue);

	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (enable)
		__atomic_fetch_or(&q->amd->queue_properties, AMD_QUEUE_PROPERTIES_ENABLE_PROFILING,
				  __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&q->amd->queue_properties, ~(uint32_t)AMD_QUEUE_PROPERTIES_ENABLE_PROFILING,
				   __ATOMIC_RELAXED);
	rt_queue_put(q);
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_amd_queue_set_priority, (hsa_queue_t *queue, hsa_amd_queue_priority_t priority), (queue, priority))
{
	static const enum cs_priority levels[] = {
		[HSA_AMD_QUEUE_PRIORITY_LOW] = CS_PRIORITY_LOW,
		[HSA_AMD_QUEUE_PRIORITY_NORMAL] = CS_PRIORITY_NORMAL,
		[HSA_AMD_QUEUE_PRIORITY_HIGH] = CS_PRIORITY_HIGH,
	};
	struct rt_queue *q = rt_gpu_queue_get(rt, queue);

	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if ((unsigned)priority <= HSA_AMD_QUEUE_PRIORITY_HIGH)
		atomic_store(&rt_queue_executor(q)->base.flow.priority, levels[priority]);
	rt_queue_put(q);
	return (unsigned)priority <= HSA_AMD_QUEUE_PRIORITY_HIGH ? HSA_STATUS_SUCCESS
								 : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t queue_get_info(const struct rt_queue *q, hsa_queue_info_attribute_t attribute, void *value)
{
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_AMD_QUEUE_INFO_AGENT:
		*(hsa_agent_t *)value = rt_agent_handle(q->base.gpu->agent);
		return HSA_STATUS_SUCCESS;
	case HSA_AMD_QUEUE_INFO_DOORBELL_ID:
		*(uint64_t *)value = (uintptr_t)&q->amd->max_legacy_doorbell_dispatch_id_plus_1;
		return HSA_STATUS_SUCCESS;
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

RT_IMPL(hsa_amd_queue_get_info, (hsa_queue_t *queue, hsa_queue_info_attribute_t attribute, void *value),
	(queue, attribute, value))
{
	struct rt_queue *q = rt_gpu_queue_get(rt, queue);
	hsa_status_t status = q ? queue_get_info(q, attribute, value) : HSA_STATUS_ERROR_INVALID_QUEUE;

	rt_queue_put(q);
	return status;
}

/* --- indices ---------------------------------------------------------------------------------- */

static volatile uint64_t *write_id(const hsa_queue_t *queue)
{
	return &((amd_queue_v2_t *)(uintptr_t)queue)->write_dispatch_id;
}

static volatile uint64_t *read_id(const hsa_queue_t *queue)
{
	return &((amd_queue_v2_t *)(uintptr_t)queue)->read_dispatch_id;
}

/* x86 has one memory order for each; clients call these thousands of times a second, so the handle is not
 * checked. */
#define LOADS(order)                                                                                               \
	uint64_t impl_hsa_queue_load_read_index_##order(const hsa_queue_t *queue)                                  \
	{                                                                                                          \
		return __atomic_load_n(read_id(queue), __ATOMIC_ACQUIRE);                                          \
	}                                                                                                          \
	uint64_t impl_hsa_queue_load_write_index_##order(const hsa_queue_t *queue)                                 \
	{                                                                                                          \
		return __atomic_load_n(write_id(queue), __ATOMIC_ACQUIRE);                                         \
	}
LOADS(relaxed)
LOADS(scacquire)

#define STORES(order)                                                                                              \
	void impl_hsa_queue_store_write_index_##order(const hsa_queue_t *queue, uint64_t value)                    \
	{                                                                                                          \
		__atomic_store_n(write_id(queue), value, __ATOMIC_RELEASE);                                        \
	}                                                                                                          \
	void impl_hsa_queue_store_read_index_##order(const hsa_queue_t *queue, uint64_t value)                     \
	{                                                                                                          \
		__atomic_store_n(read_id(queue), value, __ATOMIC_RELEASE);                                         \
	}
STORES(relaxed)
STORES(screlease)

#define CHANGES(order)                                                                                             \
	uint64_t impl_hsa_queue_cas_write_index_##order(const hsa_queue_t *queue, uint64_t expected,               \
							uint64_t value)                                            \
	{                                                                                                          \
		__atomic_compare_exchange_n(write_id(queue), &expected, value, false, __ATOMIC_SEQ_CST,            \
					    __ATOMIC_SEQ_CST);                                                     \
		return expected;                                                                                   \
	}                                                                                                          \
	uint64_t impl_hsa_queue_add_write_index_##order(const hsa_queue_t *queue, uint64_t value)                  \
	{                                                                                                          \
		return __atomic_fetch_add(write_id(queue), value, __ATOMIC_SEQ_CST);                               \
	}
CHANGES(relaxed)
CHANGES(scacquire)
CHANGES(screlease)
CHANGES(scacq_screl)

/* --- times ------------------------------------------------------------------------------------ */

RT_IMPL(hsa_amd_profiling_get_dispatch_time,
	(hsa_agent_t agent, hsa_signal_t handle, hsa_amd_profiling_dispatch_time_t *time), (agent, handle, time))
{
	struct rt_gpu *gpu;
	const amd_signal_t *memory;
	uint64_t start, end;

	gpu = rt_gpu_of(rt, agent);
	if (!gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!rt_signal_of(rt, handle))
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!time)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memory = rt_signal_memory(handle);
	end = __atomic_load_n(&memory->end_ts, __ATOMIC_ACQUIRE);
	start = __atomic_load_n(&memory->start_ts, __ATOMIC_RELAXED);
	if (!end)
		return HSA_STATUS_ERROR;
	(void)!drv_clock_refresh(&gpu->clock);
	time->start = rt_gpu_time_ns(gpu, start);
	time->end = rt_gpu_time_ns(gpu, end);
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_amd_profiling_convert_tick_to_system_domain, (hsa_agent_t agent, uint64_t ticks, uint64_t *system_ns),
	(agent, ticks, system_ns))
{
	struct rt_gpu *gpu;

	gpu = rt_gpu_of(rt, agent);
	if (!gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!system_ns)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*system_ns = rt_gpu_time_ns(gpu, ticks);
	return HSA_STATUS_SUCCESS;
}
