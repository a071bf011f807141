/* Signals: where they live, and who may change their value.
 *
 * A signal is 64 bytes that CPU and GPUs see at its handle's address, and a struct rt_signal of ours beside it. All
 * signals lie in one region, so that a handle is checked by two comparisons.
 *
 * Three ways in which the end of a GPU's work reaches the value (docs/hsa.md says why):
 *   - the GPU writes the final value, when this is the only completion and the CPU has only ever stored the value;
 *   - the CPU subtracts what a completion's word proves, at the first look or from the progress thread;
 *   - a change by the CPU while the first way is under way turns it into the second: the true value is kept in
 *     `shadow` until the GPU's write has landed.
 *
 * Changes by the CPU hold the signal's lock. A load reads the value first and `pending` behind it: when the flag is
 * not set then, the value was true at some moment between call and return. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hsa/core/table.h"
#include "hsa/signal/signals.h"

/* --- handles ---------------------------------------------------------------------------------- */

struct rt_signal *rt_signal_of(const struct rt *rt, hsa_signal_t handle)
{
	uint64_t offset_B = handle.handle - rt->signals->range[0].va;
	struct rt_signal *signal;

	if (__builtin_expect(offset_B >= RT_SIGNALS_B || offset_B % RT_SIGNAL_B, 0))
		return NULL;
	signal = &rt->signals->beside[offset_B / RT_SIGNAL_B];
	return atomic_load_explicit(&signal->kind, memory_order_acquire) == RT_SIGNAL_FREE ? NULL : signal;
}

hsa_signal_t rt_signal_handle(const struct rt *rt, const struct rt_signal *signal)
{
	return (hsa_signal_t){rt->signals->range[0].va + (uint64_t)(signal - rt->signals->beside) * RT_SIGNAL_B};
}

static amd_signal_t *memory_of(const struct rt *rt, const struct rt_signal *signal)
{
	return rt_signal_memory(rt_signal_handle(rt, signal));
}

static _Atomic int64_t *value_of(const struct rt *rt, const struct rt_signal *signal)
{
	return (_Atomic int64_t *)&memory_of(rt, signal)->value;
}

static void lock(struct rt_signal *signal)
{
	while (atomic_exchange_explicit(&signal->lock, 1, memory_order_acquire))
		__builtin_ia32_pause();
}

static void unlock(struct rt_signal *signal)
{
	atomic_store_explicit(&signal->lock, 0, memory_order_release);
}

/* --- completions -------------------------------------------------------------------------------- */

/* 1: ended; 0: not yet; negative: it never will. */
static int ended(const struct rt_completion *p)
{
	if (p->word && atomic_load_explicit(p->word, memory_order_acquire) >= p->seq)
		return 1;
	return cs_fence_poll(p->fence);
}

/* A failed completion's signal: negative, which ends every wait for 0 and tells that something is wrong. */
#define FAILED_VALUE (-1)

static void set_pending_locked(struct rt_signal *signal)
{
	atomic_store_explicit(&signal->pending, signal->pending_count || signal->shadowed, memory_order_release);
}

/* The GPU's own write: has it landed? */
static void look_at_gpu_locked(struct rt *rt, struct rt_signal *signal)
{
	_Atomic int64_t *value = value_of(rt, signal);
	int end;

	if (!signal->gpu_writes)
		return;
	end = atomic_load_explicit(value, memory_order_acquire) == signal->final ? 1 : ended(&signal->gpu);
	if (!end)
		return;
	signal->gpu_writes = false;
	if (end < 0)
		signal->failed = true;
	if (end < 0)
		atomic_store(value, FAILED_VALUE);
	else if (signal->shadowed)
		atomic_store(value, signal->shadow - 1);
	signal->shadowed = false;
}

/* Before the CPU changes the value: if the GPU is about to overwrite it, the truth moves into the shadow. */
static void take_over_locked(struct rt *rt, struct rt_signal *signal)
{
	look_at_gpu_locked(rt, signal);
	if (!signal->gpu_writes || signal->shadowed)
		return;
	signal->shadow = signal->final + 1;
	signal->shadowed = true;
	set_pending_locked(signal);
}

/* Behind the lock: what is pending is looked after also when nobody asks for the signal. */
static void keep_settling(struct rt *rt, struct rt_signal *signal)
{
	if (__builtin_expect(atomic_load_explicit(&signal->pending, memory_order_relaxed) &&
				     !atomic_load_explicit(&signal->listed, memory_order_relaxed),
			     0))
		rt_signal_retire_later(rt, signal);
}

static int64_t add_locked(struct rt *rt, struct rt_signal *signal, int64_t amount)
{
	if (!signal->shadowed)
		return atomic_fetch_add(value_of(rt, signal), amount);
	signal->shadow += amount;
	return signal->shadow - amount;
}

static void put_locked(struct rt *rt, struct rt_signal *signal, int64_t value)
{
	if (signal->shadowed)
		signal->shadow = value;
	else
		atomic_store(value_of(rt, signal), value);
}

/* Applies the pending completions that have ended; true: the value changed. */
static bool settle_locked(struct rt *rt, struct rt_signal *signal)
{
	unsigned kept = 0, count = signal->pending_count;
	bool failed = false;

	look_at_gpu_locked(rt, signal);
	for (unsigned i = 0; i < count; i++) {
		int end = ended(&signal->pending_list[i]);

		failed |= end < 0;
		if (!end)
			signal->pending_list[kept++] = signal->pending_list[i];
	}
	signal->pending_count = failed ? 0 : kept;
	if (kept < count)
		take_over_locked(rt, signal);
	if (failed)
		signal->failed = true;
	if (failed)
		put_locked(rt, signal, FAILED_VALUE);
	else if (kept < count)
		add_locked(rt, signal, -(int64_t)(count - kept));
	set_pending_locked(signal);
	return kept < count;
}

bool rt_signal_settle(struct rt *rt, struct rt_signal *signal)
{
	bool changed, more;

	lock(signal);
	changed = settle_locked(rt, signal);
	more = signal->pending_count || signal->shadowed;
	unlock(signal);
	if (changed)
		rt_signal_wake(rt, signal);
	return more;
}

hsa_signal_value_t rt_signal_load(struct rt *rt, struct rt_signal *signal)
{
	int64_t value = atomic_load_explicit(value_of(rt, signal), memory_order_acquire);
	bool changed;

	if (__builtin_expect(!atomic_load_explicit(&signal->pending, memory_order_acquire), 1))
		return value;
	lock(signal);
	changed = settle_locked(rt, signal);
	value = signal->shadowed ? signal->shadow : atomic_load(value_of(rt, signal));
	unlock(signal);
	keep_settling(rt, signal);
	if (changed)
		rt_signal_wake(rt, signal);
	return value;
}

static bool pend_locked(struct rt_signal *signal, const struct rt_completion *completion)
{
	if (signal->pending_count == signal->pending_max) {
		unsigned max = signal->pending_max ? 2 * signal->pending_max : 4;
		struct rt_completion *more = realloc(signal->pending_list, max * sizeof(*more));

		if (!more)
			return false;
		signal->pending_list = more;
		signal->pending_max = max;
	}
	signal->pending_list[signal->pending_count++] = *completion;
	set_pending_locked(signal);
	return true;
}

void rt_signal_expect(struct rt *rt, struct rt_signal *signal, const struct rt_completion *completion, uint64_t *va,
		      uint64_t *value)
{
	enum rt_signal_kind kind = atomic_load_explicit(&signal->kind, memory_order_relaxed);
	bool alone, pended = true;

	lock(signal);
	look_at_gpu_locked(rt, signal);
	alone = kind != RT_SIGNAL_IPC && !signal->counted && !signal->gpu_writes && !signal->pending_count;
	if (!alone)
		pended = pend_locked(signal, completion);
	/* Without memory for the debt the GPU's write is the lesser evil: it is right when it is the last. */
	if (alone || !pended) {
		signal->gpu_writes = true;
		signal->gpu = *completion;
		signal->final = atomic_load(value_of(rt, signal)) - 1;
		*va = (uintptr_t)value_of(rt, signal);
		*value = (uint64_t)signal->final;
	}
	unlock(signal);
	keep_settling(rt, signal);
}

void rt_signal_owe(struct rt *rt, struct rt_signal *signal, const struct rt_completion *completion)
{
	bool pended;

	lock(signal);
	pended = pend_locked(signal, completion);
	unlock(signal);
	keep_settling(rt, signal);
	if (pended)
		return;
	/* No memory for the debt: it is paid here. */
	cs_fence_retire(completion->fence);
	rt_signal_add(rt, signal, -1);
}

void rt_signal_await_job(struct rt_signal *signal, int64_t timeout_ns)
{
	struct cs_fence fence;

	lock(signal);
	fence = signal->gpu.fence;
	unlock(signal);
	if (fence.ring)
		(void)!cs_fence_sleep(fence, timeout_ns);
}

bool rt_signal_check(struct rt *rt, struct rt_signal *signal)
{
	bool lost;

	lock(signal);
	lost = signal->gpu.fence.ring && cs_ctx_lost(cs_ring_ctx(signal->gpu.fence.ring));
	unlock(signal);
	if (lost)
		rt_signal_fail(rt, signal);
	return lost;
}

void rt_signal_fail(struct rt *rt, struct rt_signal *signal)
{
	lock(signal);
	take_over_locked(rt, signal);
	signal->failed = true;
	put_locked(rt, signal, FAILED_VALUE);
	unlock(signal);
	rt_signal_wake(rt, signal);
}

/* The kernel knows its job, and what the job does behind it keeps nobody waiting who waits for it: of others' jobs
 * nothing may follow, since that may itself wait for who waits here. */
static bool can_be_waited_for(const struct rt_completion *p, const struct cs_ring *who)
{
	if (p->fence.ring == who)
		return true;
	return (!p->last || atomic_load(p->last) == p->seq) && cs_ring_last(p->fence.ring).seq >= p->fence.seq;
}

bool rt_signal_point(struct rt_signal *signal, struct cs_fence *fence, bool *ends)
{
	const struct rt_completion *next = NULL;
	bool known = false;

	lock(signal);
	if (signal->pending_count)
		next = &signal->pending_list[0];
	else if (signal->gpu_writes)
		next = &signal->gpu;
	if (next && cs_ring_last(next->fence.ring).seq >= next->fence.seq) {
		*fence = next->fence;
		*ends = !signal->counted && can_be_waited_for(next, NULL);
		known = true;
	}
	unlock(signal);
	return known;
}

enum rt_dep_state rt_signal_dep(struct rt *rt, struct rt_signal *signal, const struct cs_ring *ring,
				struct cs_fence *fence)
{
	enum rt_dep_state state = RT_DEP_OPEN;
	const struct rt_completion *only = NULL;

	if (!rt_signal_load(rt, signal))
		return RT_DEP_MET;
	lock(signal);
	/* The GPU's value may be there before its completion has ended: what counts is what it writes. */
	if (signal->gpu_writes && !signal->pending_count && !signal->shadowed && !signal->final)
		only = &signal->gpu;
	else if (!signal->gpu_writes && signal->pending_count == 1 && atomic_load(value_of(rt, signal)) == 1)
		only = &signal->pending_list[0];
	if (only && can_be_waited_for(only, ring)) {
		*fence = only->fence;
		state = RT_DEP_POINT;
	}
	unlock(signal);
	return state;
}

/* --- making and ending ------------------------------------------------------------------------ */

/* Destroyed signals that the GPU was about to write: free when it has. */
static void lay_ghosts_locked(struct rt *rt)
{
	struct rt_signals *s = rt->signals;

	for (struct rt_signal **at = &s->ghosts; *at;) {
		struct rt_signal *signal = *at;

		lock(signal);
		look_at_gpu_locked(rt, signal);
		unlock(signal);
		if (signal->gpu_writes) {
			at = &signal->next;
			continue;
		}
		*at = signal->next;
		rt_signals_put(s, signal);
	}
}

static int take_place(struct rt *rt, struct rt_signal **out)
{
	struct rt_signals *s = rt->signals;
	int r = 0;

	drv_lock(&s->lock);
	if (!s->free)
		lay_ghosts_locked(rt);
	if (!s->free)
		r = rt_signals_grow(rt);
	if (!r) {
		*out = s->free;
		s->free = s->free->next;
	}
	drv_unlock(&s->lock);
	return r;
}

int rt_signal_create(struct rt *rt, hsa_signal_value_t value, enum rt_signal_kind kind, hsa_signal_t *handle)
{
	struct rt_signal *signal;
	int r = take_place(rt, &signal);

	if (r)
		return r;
	*handle = rt_signal_handle(rt, signal);
	*rt_signal_memory(*handle) = (amd_signal_t){.kind = AMD_SIGNAL_KIND_USER, .value = value};
	rt_signal_begin(signal, kind);
	return 0;
}

void rt_signal_begin(struct rt_signal *signal, enum rt_signal_kind kind)
{
	/* The progress thread may still have its predecessor in the list. */
	lock(signal);
	signal->counted = signal->shadowed = signal->gpu_writes = signal->failed = false;
	signal->pending_count = 0;
	signal->gpu = (struct rt_completion){0};
	signal->clock = NULL;
	set_pending_locked(signal);
	unlock(signal);
	atomic_store_explicit(&signal->kind, kind, memory_order_release);
}

int rt_doorbell_create(struct rt *rt, struct rt_queue *queue, hsa_signal_t *handle)
{
	int r = rt_signal_create(rt, -1, RT_SIGNAL_DOORBELL, handle);
	amd_signal_t *memory;

	if (r)
		return r;
	rt_signal_of(rt, *handle)->queue = queue;
	memory = rt_signal_memory(*handle);
	memory->kind = AMD_SIGNAL_KIND_DOORBELL;
	memory->queue_ptr = NULL;
	return 0;
}

void rt_signal_destroy(struct rt *rt, struct rt_signal *signal)
{
	struct rt_signals *s = rt->signals;

	lock(signal);
	look_at_gpu_locked(rt, signal);
	signal->pending_count = 0;
	signal->shadowed = false;
	set_pending_locked(signal);
	unlock(signal);
	atomic_store(&signal->kind, RT_SIGNAL_FREE);
	atomic_fetch_add(&signal->generation, 1);
	rt_signal_wake(rt, signal);
	drv_lock(&s->lock);
	/* Its value is memory that the GPU may still write: nobody else gets it before. */
	if (signal->gpu_writes) {
		signal->next = s->ghosts;
		s->ghosts = signal;
	} else {
		rt_signals_put(s, signal);
	}
	drv_unlock(&s->lock);
}

/* --- changes by the CPU ----------------------------------------------------------------------- */

void rt_signal_wake(struct rt *rt, struct rt_signal *signal)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&signal->waiters, memory_order_relaxed)) {
		atomic_fetch_add(&signal->change, 1);
		drv_futex_wake(&signal->change);
		rt_tell_of_work(rt);
	}
	if (atomic_load_explicit(&signal->watchers, memory_order_relaxed)) {
		rt_progress_wake(rt);
		rt_handlers_wake(rt);
	}
}

enum op { OP_STORE, OP_ADD, OP_SUBTRACT, OP_AND, OP_OR, OP_XOR, OP_EXCHANGE, OP_CAS };

static int64_t result(enum op op, int64_t old, int64_t value)
{
	switch (op) {
	case OP_ADD:
		return (int64_t)((uint64_t)old + (uint64_t)value);
	case OP_SUBTRACT:
		return (int64_t)((uint64_t)old - (uint64_t)value);
	case OP_AND:
		return old & value;
	case OP_OR:
		return old | value;
	case OP_XOR:
		return old ^ value;
	default:
		return value;
	}
}

/* The value in memory may be changed by GPUs, too: device code does so with its own signals. */
static int64_t apply_to_memory(_Atomic int64_t *memory, enum op op, int64_t value, int64_t expected)
{
	int64_t old = atomic_load(memory);

	do {
		if (op == OP_CAS && old != expected)
			break;
	} while (!atomic_compare_exchange_weak(memory, &old, result(op, old, value)));
	return old;
}

static int64_t change(struct rt *rt, struct rt_signal *signal, enum op op, int64_t value, int64_t expected)
{
	int64_t old;

	lock(signal);
	settle_locked(rt, signal);
	take_over_locked(rt, signal);
	/* Counting up for each completion is a pattern; a stored value begins a new one. */
	if (op == OP_STORE)
		signal->failed = false;
	signal->counted = op == OP_ADD || op == OP_SUBTRACT || (signal->counted && op != OP_STORE);
	if (signal->shadowed) {
		old = signal->shadow;
		if (op != OP_CAS || old == expected)
			signal->shadow = result(op, old, value);
	} else {
		old = apply_to_memory(value_of(rt, signal), op, value, expected);
	}
	unlock(signal);
	keep_settling(rt, signal);
	return old;
}

void rt_signal_add(struct rt *rt, struct rt_signal *signal, hsa_signal_value_t value)
{
	change(rt, signal, OP_ADD, value, 0);
	rt_signal_wake(rt, signal);
}

/* For the functions that cannot answer with an error: what is no signal is left alone. */
static int64_t change_handle(hsa_signal_t handle, enum op op, int64_t value, int64_t expected)
{
	struct rt *rt = rt_get();
	struct rt_signal *signal = rt ? rt_signal_of(rt, handle) : NULL;
	int64_t old;

	if (__builtin_expect(!signal, 0)) {
		drv_log(DRV_LOG_HSA, "0x%llx is no signal", (unsigned long long)handle.handle);
		return 0;
	}
	if (atomic_load_explicit(&signal->kind, memory_order_relaxed) == RT_SIGNAL_DOORBELL) {
		if (op == OP_STORE)
			rt->ops->ring(signal->queue);
		return 0;
	}
	old = change(rt, signal, op, value, expected);
	rt_signal_wake(rt, signal);
	return old;
}

/* x86 has one order for read-modify-writes: the four names of each operation do the same. */
#define ALTER(name, op)                                                                                            \
	void impl_hsa_signal_##name(hsa_signal_t signal, hsa_signal_value_t value)                                 \
	{                                                                                                          \
		change_handle(signal, op, value, 0);                                                               \
	}
#define ALTERS(name, op)                                                                                           \
	ALTER(name##_relaxed, op)                                                                                  \
	ALTER(name##_scacquire, op)                                                                                \
	ALTER(name##_screlease, op)                                                                                \
	ALTER(name##_scacq_screl, op)
ALTERS(add, OP_ADD)
ALTERS(subtract, OP_SUBTRACT)
ALTERS(and, OP_AND)
ALTERS(or, OP_OR)
ALTERS(xor, OP_XOR)
ALTER(store_relaxed, OP_STORE)
ALTER(store_screlease, OP_STORE)

#define EXCHANGE(order)                                                                                            \
	hsa_signal_value_t impl_hsa_signal_exchange_##order(hsa_signal_t signal, hsa_signal_value_t value)         \
	{                                                                                                          \
		return change_handle(signal, OP_EXCHANGE, value, 0);                                               \
	}                                                                                                          \
	hsa_signal_value_t impl_hsa_signal_cas_##order(hsa_signal_t signal, hsa_signal_value_t expected,           \
						       hsa_signal_value_t value)                                   \
	{                                                                                                          \
		return change_handle(signal, OP_CAS, value, expected);                                             \
	}
EXCHANGE(relaxed)
EXCHANGE(scacquire)
EXCHANGE(screlease)
EXCHANGE(scacq_screl)

static hsa_signal_value_t load_handle(hsa_signal_t handle)
{
	struct rt *rt = rt_get();
	struct rt_signal *signal = rt ? rt_signal_of(rt, handle) : NULL;

	if (__builtin_expect(!signal, 0))
		return 0;
	rt_queues_flush(rt);
	return rt_signal_load(rt, signal);
}

hsa_signal_value_t impl_hsa_signal_load_relaxed(hsa_signal_t signal)
{
	return load_handle(signal);
}

hsa_signal_value_t impl_hsa_signal_load_scacquire(hsa_signal_t signal)
{
	return load_handle(signal);
}

static void store_silently(hsa_signal_t handle, hsa_signal_value_t value)
{
	struct rt *rt = rt_get();
	struct rt_signal *signal = rt ? rt_signal_of(rt, handle) : NULL;

	if (signal && atomic_load_explicit(&signal->kind, memory_order_relaxed) != RT_SIGNAL_DOORBELL)
		change(rt, signal, OP_STORE, value, 0);
}

void impl_hsa_signal_silent_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value)
{
	store_silently(signal, value);
}

void impl_hsa_signal_silent_store_screlease(hsa_signal_t signal, hsa_signal_value_t value)
{
	store_silently(signal, value);
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

/* As ROCr: a signal whose consumers are all GPUs is polled only. */
static bool only_gpus(const struct rt *rt, uint32_t count, const hsa_agent_t *consumers)
{
	for (uint32_t i = 0; i < count; i++)
		if (!rt_gpu_of(rt, consumers[i]))
			return false;
	return count;
}

hsa_status_t impl_hsa_amd_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
					uint64_t attributes, hsa_signal_t *handle)
{
	enum rt_signal_kind kind = RT_SIGNAL_USER;
	hsa_status_t status;
	RT_ENTER(rt);

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

hsa_status_t impl_hsa_signal_destroy(hsa_signal_t handle)
{
	struct rt_signal *signal;
	uint32_t kind;
	RT_ENTER(rt);

	if (!handle.handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	signal = rt_signal_of(rt, handle);
	if (!signal)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	kind = atomic_load(&signal->kind);
	/* Of two who destroy it at once, one does. A doorbell is its queue's. */
	if (kind == RT_SIGNAL_FREE || kind == RT_SIGNAL_DOORBELL ||
	    !atomic_compare_exchange_strong(&signal->kind, &kind, RT_SIGNAL_FREE))
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (kind == RT_SIGNAL_IPC) {
		rt->ops->forget_exports(rt, handle.handle, 1);
		rt_signal_end_shared(signal);
	}
	rt_signal_destroy(rt, signal);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_amd_signal_value_pointer(hsa_signal_t handle, volatile hsa_signal_value_t **pointer)
{
	struct rt_signal *signal;
	RT_ENTER(rt);

	if (!handle.handle || !pointer)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	signal = rt_signal_of(rt, handle);
	if (!signal)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	/* ROCr: others are woken by their functions only. */
	if (atomic_load(&signal->kind) != RT_SIGNAL_GPU_ONLY)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*pointer = &rt_signal_memory(handle)->value;
	return HSA_STATUS_SUCCESS;
}
