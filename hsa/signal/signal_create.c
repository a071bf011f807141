/* Creation and destruction of signals. signal.c's head says how places are reused. */
#include "hsa/core/table.h"
#include "hsa/signal/signals.h"

/* --- places ----------------------------------------------------------------------------------- */

/* True while the GPU will write the value. */
static bool gpu_writes(struct rt *rt, struct rt_signal *signal)
{
	bool writes;

	rt_signal_lock(signal);
	rt_signal_check_gpu_write_locked(rt, signal);
	writes = signal->gpu_writes;
	rt_signal_unlock(signal);
	return writes;
}

/* Frees the places of destroyed signals whose values the GPU has written in the meantime. */
static void free_dying_locked(struct rt *rt)
{
	struct rt_signals *s = rt->signals;

	for (struct rt_signal **at = &s->dying; *at;) {
		struct rt_signal *signal = *at;

		if (gpu_writes(rt, signal)) {
			at = &signal->next;
			continue;
		}
		*at = signal->next;
		rt_signals_put(s, signal);
	}
}

int rt_signal_take(struct rt *rt, struct rt_signal **out)
{
	struct rt_signals *s = rt->signals;
	int r = 0;

	drv_lock(&s->lock);
	if (!s->free)
		free_dying_locked(rt);
	if (!s->free)
		r = rt_signals_grow(rt);
	if (!r) {
		*out = s->free;
		s->free = s->free->next;
	}
	drv_unlock(&s->lock);
	return r;
}

/* The progress thread may still have the place's previous signal in its list. */
static void state_reset_locked(struct rt_signal *signal)
{
	signal->counted = signal->shadowed = signal->gpu_writes = false;
	atomic_store_explicit(&signal->failed, false, memory_order_relaxed);
	atomic_store_explicit(&signal->clock, NULL, memory_order_relaxed);
	signal->pending_count = 0;
	signal->gpu = (struct rt_completion){0};
	rt_signal_set_pending_locked(signal);
}

/* Initialises a signal's memory. */
static void memory_init(amd_signal_t *memory, amd_signal_kind64_t kind, int64_t value)
{
	memory->kind = kind;
	memory->event_mailbox_ptr = 0;
	memory->event_id = memory->reserved1 = 0;
	memory->reserved3[0] = memory->reserved3[1] = 0;
	__atomic_store_n(&memory->start_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->end_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->queue_ptr, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->value, value, __ATOMIC_RELEASE);
}

/* The handle is valid afterwards. */
static void signal_publish_locked(struct rt_signal *signal, enum rt_signal_kind kind)
{
	atomic_store_explicit(&signal->kind, kind, memory_order_release);
}

int rt_signal_create(struct rt *rt, hsa_signal_value_t value, enum rt_signal_kind kind, hsa_signal_t *handle)
{
	struct rt_signal *signal;
	int r = rt_signal_take(rt, &signal);

	if (r)
		return r;
	*handle = rt_signal_handle(rt, signal);
	rt_signal_begin(signal, rt_signal_memory(*handle), value, kind);
	return 0;
}

void rt_signal_begin(struct rt_signal *signal, amd_signal_t *memory, hsa_signal_value_t value,
		     enum rt_signal_kind kind)
{
	rt_signal_lock(signal);
	state_reset_locked(signal);
	if (memory)
		memory_init(memory, AMD_SIGNAL_KIND_USER, value);
	signal_publish_locked(signal, kind);
	rt_signal_unlock(signal);
}

void rt_doorbell_begin(struct rt *rt, struct rt_signal *doorbell, struct rt_queue *queue,
		       volatile uint64_t *hardware)
{
	rt_signal_lock(doorbell);
	state_reset_locked(doorbell);
	memory_init(rt_signal_memory(rt_signal_handle(rt, doorbell)), AMD_SIGNAL_KIND_DOORBELL, (intptr_t)hardware);
	atomic_store_explicit(&doorbell->queue, queue, memory_order_release);
	signal_publish_locked(doorbell, RT_SIGNAL_DOORBELL);
	rt_signal_unlock(doorbell);
}

void rt_signal_destroy(struct rt *rt, struct rt_signal *signal)
{
	struct rt_signals *s = rt->signals;
	bool writes;

	rt_signal_lock(signal);
	atomic_store_explicit(&signal->kind, RT_SIGNAL_FREE, memory_order_relaxed);
	rt_signal_check_gpu_write_locked(rt, signal);
	writes = signal->gpu_writes;
	signal->pending_count = 0;
	signal->shadowed = false;
	rt_signal_set_pending_locked(signal);
	atomic_fetch_add(&signal->generation, 1);
	rt_signal_unlock(signal);
	rt_signal_wake(rt, signal);
	drv_lock(&s->lock);
	/* The GPU may still write the value's memory, so the place is not reused before. */
	if (writes) {
		signal->next = s->dying;
		s->dying = signal;
	} else {
		rt_signals_put(s, signal);
	}
	drv_unlock(&s->lock);
}

/* --- creation by clients ---------------------------------------------------------------------- */

static hsa_status_t check_consumers(const struct rt *rt, uint32_t count, const hsa_agent_t *consumers)
{
	if (count && !consumers)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < count; i++) {
		if (!rt_agent_of(rt, consumers[i]))
			return HSA_STATUS_ERROR_INVALID_AGENT;
		for (uint32_t j = 0; j < i; j++)
			if (consumers[j].handle == consumers[i].handle)
				return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	return HSA_STATUS_SUCCESS;
}

/* Like ROCr: a signal whose consumers are all GPUs is polled only. */
static bool only_gpus(const struct rt *rt, uint32_t count, const hsa_agent_t *consumers)
{
	for (uint32_t i = 0; i < count; i++)
		if (!rt_gpu_of(rt, consumers[i]))
			return false;
	return count;
}

RT_IMPL(hsa_amd_signal_create,
	(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers, uint64_t attributes,
	 hsa_signal_t *handle),
	(value, count, consumers, attributes, handle))
{
	enum rt_signal_kind kind = RT_SIGNAL_USER;
	hsa_status_t status;

	if (!handle || attributes & ~(uint64_t)(HSA_AMD_SIGNAL_AMD_GPU_ONLY | HSA_AMD_SIGNAL_IPC))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = check_consumers(rt, count, consumers);
	if (status)
		return status;
	if (attributes & HSA_AMD_SIGNAL_IPC)
		return hsa_status_of(rt_signal_create_shared(rt, value, handle));
	if (attributes & HSA_AMD_SIGNAL_AMD_GPU_ONLY || only_gpus(rt, count, consumers))
		kind = RT_SIGNAL_GPU_ONLY;
	return hsa_status_of(rt_signal_create(rt, value, kind, handle));
}

hsa_status_t impl_hsa_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
				    hsa_signal_t *handle)
{
	return impl_hsa_amd_signal_create(value, count, consumers, 0, handle);
}

RT_IMPL(hsa_signal_destroy, (hsa_signal_t handle), (handle))
{
	struct rt_signal *signal;
	uint32_t kind;

	if (!handle.handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	signal = rt_signal_of(rt, handle);
	if (!signal)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	kind = atomic_load(&signal->kind);
	/* If two threads destroy a signal at the same time, one succeeds. A doorbell belongs to its queue. */
	if (kind == RT_SIGNAL_FREE || kind == RT_SIGNAL_DOORBELL ||
	    !atomic_compare_exchange_strong(&signal->kind, &kind, RT_SIGNAL_FREE))
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (kind == RT_SIGNAL_IPC) {
		rt->ops->forget_exports(rt, handle.handle, 1);
		rt_signal_end_shared(rt, signal);
	}
	rt_signal_destroy(rt, signal);
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_amd_signal_value_pointer, (hsa_signal_t handle, volatile hsa_signal_value_t **pointer),
	(handle, pointer))
{
	struct rt_signal *signal;

	if (!handle.handle || !pointer)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	signal = rt_signal_of(rt, handle);
	if (!signal)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	/* Like ROCr: waiters on other signals are woken by the signal functions only. */
	if (atomic_load(&signal->kind) != RT_SIGNAL_GPU_ONLY)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*pointer = &rt_signal_memory(handle)->value;
	return HSA_STATUS_SUCCESS;
}
