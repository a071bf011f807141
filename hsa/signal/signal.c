/* Signals: their values, and the completions that change them.
 *
 * A signal is 64 bytes at its handle's address, which CPU and GPUs access, and a struct rt_signal beside it. All
 * signals are in one region, so that two comparisons check a handle.
 *
 * The end of a packet or copy on a GPU reaches the value in one of three ways (docs/hsa.md has the reasons):
 *   - the GPU writes the final value, when this is the only completion and the CPU has only ever stored the value;
 *   - the CPU subtracts 1 when the completion's word shows that it has ended, at the next load or on the progress
 *     thread;
 *   - if the CPU changes the value before a GPU's write of the first way, the true value is kept in `shadow` until
 *     the write has been made, and then replaces it.
 *
 * Changes by the CPU hold the signal's lock. A load reads the value first and `pending` after it: if the flag is
 * clear, the value was true at some moment between call and return.
 *
 * Places are reused, and no call can know that its handle is a destroyed signal's: a thread that has checked a handle
 * may find the place free, or with its next signal, at any later moment. So:
 *   - `kind` is stored last at creation (release), and first at destruction; `generation` is incremented after that.
 *     A thread that remembers a signal loads the generation before it checks the kind: if the signal is destroyed
 *     later, the generation differs from the remembered one;
 *   - a new value is stored after the increment (release), so that a thread that loads it sees the new generation;
 *   - a free place gets no completions: its kind is checked under the lock;
 *   - a thread that rings a doorbell may find a queue that is destroyed meanwhile: its memory is freed when the thread has left
 *     the call (drv/retire.h), and its lock and state show that it has ended;
 *   - members of the signal's memory that the CPU reads are accessed atomically. */
#include <stdlib.h>

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

struct rt_signal *rt_signal_find(const struct rt *rt, hsa_signal_t handle, uint32_t *generation)
{
	struct rt_signal *signal = rt_signal_of(rt, handle);

	if (!signal)
		return NULL;
	*generation = atomic_load_explicit(&signal->generation, memory_order_acquire);
	/* The generation may be that of the free place. */
	return atomic_load_explicit(&signal->kind, memory_order_acquire) == RT_SIGNAL_FREE ? NULL : signal;
}

hsa_signal_t rt_signal_handle(const struct rt *rt, const struct rt_signal *signal)
{
	return (hsa_signal_t){rt->signals->range[0].va + (uint64_t)(signal - rt->signals->beside) * RT_SIGNAL_B};
}

static _Atomic int64_t *value_memory(const struct rt *rt, const struct rt_signal *signal)
{
	return (_Atomic int64_t *)&rt_signal_memory(rt_signal_handle(rt, signal))->value;
}

/* --- completions -------------------------------------------------------------------------------- */

/* 1: ended; 0: not yet; negative: it was lost. */
static int completion_ended(const struct rt_completion *p)
{
	if (p->word && atomic_load_explicit(p->word, memory_order_acquire) >= p->seq)
		return 1;
	return cs_fence_poll(p->fence);
}

/* The value of a signal whose completion failed: negative, so that every wait for 0 ends and reports an error. */
#define FAILED_VALUE (-1)

/* Values of signals wrap. */
static int64_t value_sum(int64_t value, int64_t amount)
{
	return (int64_t)((uint64_t)value + (uint64_t)amount);
}

void rt_signal_check_gpu_write_locked(struct rt *rt, struct rt_signal *signal)
{
	_Atomic int64_t *value = value_memory(rt, signal);
	int end;

	if (!signal->gpu_writes)
		return;
	end = atomic_load_explicit(value, memory_order_acquire) == signal->final ? 1
										 : completion_ended(&signal->gpu);
	if (!end)
		return;
	signal->gpu_writes = false;
	if (end < 0)
		signal->failed = true;
	if (end < 0)
		atomic_store(value, FAILED_VALUE);
	else if (signal->shadowed)
		atomic_store(value, value_sum(signal->shadow, -1));
	signal->shadowed = false;
}

/* Called before the CPU changes the value: if the GPU is about to overwrite it, the true value moves to the
 * shadow. */
static void shadow_value_locked(struct rt *rt, struct rt_signal *signal)
{
	rt_signal_check_gpu_write_locked(rt, signal);
	if (!signal->gpu_writes || signal->shadowed)
		return;
	signal->shadow = value_sum(signal->final, 1);
	signal->shadowed = true;
	rt_signal_set_pending_locked(signal);
}

/* Called after unlock: the progress thread applies pending completions even if no thread loads the signal. */
static void watch_pending(struct rt *rt, struct rt_signal *signal)
{
	if (__builtin_expect(atomic_load_explicit(&signal->pending, memory_order_relaxed) &&
				     !atomic_load_explicit(&signal->listed, memory_order_relaxed),
			     0))
		rt_signal_retire_later(rt, signal);
}

static int64_t value_add_locked(struct rt *rt, struct rt_signal *signal, int64_t amount)
{
	const int64_t old = signal->shadow;

	if (!signal->shadowed)
		return atomic_fetch_add(value_memory(rt, signal), amount);
	signal->shadow = value_sum(old, amount);
	return old;
}

static void value_store_locked(struct rt *rt, struct rt_signal *signal, int64_t value)
{
	if (signal->shadowed)
		signal->shadow = value;
	else
		atomic_store(value_memory(rt, signal), value);
}

/* Applies the pending completions that have ended; true: the value changed. */
static bool apply_completions_locked(struct rt *rt, struct rt_signal *signal)
{
	unsigned kept = 0, count = signal->pending_count;
	bool failed = false;

	rt_signal_check_gpu_write_locked(rt, signal);
	for (unsigned i = 0; i < count; i++) {
		int end = completion_ended(&signal->pending_list[i]);

		failed |= end < 0;
		if (!end)
			signal->pending_list[kept++] = signal->pending_list[i];
	}
	signal->pending_count = failed ? 0 : kept;
	if (kept < count)
		shadow_value_locked(rt, signal);
	if (failed)
		signal->failed = true;
	if (failed)
		value_store_locked(rt, signal, FAILED_VALUE);
	else if (kept < count)
		value_add_locked(rt, signal, -(int64_t)(count - kept));
	rt_signal_set_pending_locked(signal);
	return kept < count;
}

bool rt_signal_apply_completions(struct rt *rt, struct rt_signal *signal)
{
	bool changed, more;

	rt_signal_lock(signal);
	changed = apply_completions_locked(rt, signal);
	more = signal->pending_count || signal->shadowed;
	rt_signal_unlock(signal);
	if (changed)
		rt_signal_wake(rt, signal);
	return more;
}

hsa_signal_value_t rt_signal_load(struct rt *rt, struct rt_signal *signal)
{
	int64_t value = atomic_load_explicit(value_memory(rt, signal), memory_order_acquire);
	bool changed;

	if (__builtin_expect(!atomic_load_explicit(&signal->pending, memory_order_acquire), 1))
		return value;
	rt_signal_lock(signal);
	changed = apply_completions_locked(rt, signal);
	value = signal->shadowed ? signal->shadow : atomic_load(value_memory(rt, signal));
	rt_signal_unlock(signal);
	watch_pending(rt, signal);
	if (changed)
		rt_signal_wake(rt, signal);
	return value;
}

/* False: there is no memory. */
static bool add_pending_locked(struct rt_signal *signal, const struct rt_completion *completion)
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
	rt_signal_set_pending_locked(signal);
	return true;
}

/* True: the GPU may write the value. */
static bool is_alone_locked(const struct rt_signal *signal)
{
	return atomic_load_explicit(&signal->kind, memory_order_relaxed) > RT_SIGNAL_IPC && !signal->counted &&
	       !signal->gpu_writes && !signal->pending_count;
}

void rt_signal_add_completion(struct rt *rt, struct rt_signal *signal, const struct rt_completion *completion,
			      uint64_t *va, uint64_t *value)
{
	bool alone, added = true;

	rt_signal_lock(signal);
	rt_signal_check_gpu_write_locked(rt, signal);
	alone = is_alone_locked(signal);
	if (!alone && atomic_load_explicit(&signal->kind, memory_order_relaxed) != RT_SIGNAL_FREE)
		added = add_pending_locked(signal, completion);
	/* Without memory for a pending completion the GPU writes the value nevertheless, which is right if it is
	 * the last one. */
	if (alone || !added) {
		signal->gpu_writes = true;
		signal->gpu = *completion;
		signal->final = value_sum(atomic_load(value_memory(rt, signal)), -1);
		*va = (uintptr_t)value_memory(rt, signal);
		*value = (uint64_t)signal->final;
	}
	rt_signal_unlock(signal);
	watch_pending(rt, signal);
}

/* True while the place has the signal that had this generation. */
static bool is_generation(const struct rt_signal *signal, uint32_t generation)
{
	return atomic_load_explicit(&signal->generation, memory_order_relaxed) == generation;
}

void rt_signal_add_cpu_completion(struct rt *rt, struct rt_signal *signal, uint32_t generation,
				  const struct rt_completion *completion)
{
	bool added;

	rt_signal_lock(signal);
	added = !is_generation(signal, generation) || add_pending_locked(signal, completion);
	rt_signal_unlock(signal);
	watch_pending(rt, signal);
	if (added)
		return;
	/* Without memory for a pending completion, waits for it and applies it here. */
	cs_fence_retire(completion->fence);
	(void)rt_signal_complete(rt, signal, generation, 0);
}

void rt_signal_await_job(struct rt_signal *signal, int64_t timeout_ns)
{
	struct cs_fence fence;

	rt_signal_lock(signal);
	fence = signal->gpu.fence;
	rt_signal_unlock(signal);
	if (fence.ring)
		(void)!cs_fence_sleep(fence, timeout_ns);
}

bool rt_signal_check(struct rt *rt, struct rt_signal *signal)
{
	bool lost;

	rt_signal_lock(signal);
	lost = signal->gpu.fence.ring && cs_ctx_lost(cs_ring_ctx(signal->gpu.fence.ring));
	rt_signal_unlock(signal);
	if (lost)
		rt_signal_fail(rt, signal);
	return lost;
}

static void fail_locked(struct rt *rt, struct rt_signal *signal)
{
	shadow_value_locked(rt, signal);
	signal->failed = true;
	value_store_locked(rt, signal, FAILED_VALUE);
}

void rt_signal_fail(struct rt *rt, struct rt_signal *signal)
{
	rt_signal_lock(signal);
	fail_locked(rt, signal);
	rt_signal_unlock(signal);
	rt_signal_wake(rt, signal);
}

/* The deadlock rule of waits between queues. Work on another ring may wait for a completion's job if the kernel
 * knows the job, and nothing follows the completion in the job: what follows may itself wait, through the host, for
 * the waiting queue. Later work on the same ring starts behind the job in any case. */
static bool may_wait_for(const struct rt_completion *p, const struct cs_ring *ring)
{
	if (p->fence.ring == ring)
		return true;
	return (!p->last || atomic_load(p->last) == p->seq) && cs_ring_last(p->fence.ring).seq >= p->fence.seq;
}

bool rt_signal_next_fence(struct rt_signal *signal, struct cs_fence *fence, bool *ends)
{
	const struct rt_completion *next = NULL;
	bool known = false;

	rt_signal_lock(signal);
	if (signal->pending_count)
		next = &signal->pending_list[0];
	else if (signal->gpu_writes)
		next = &signal->gpu;
	if (next && cs_ring_last(next->fence.ring).seq >= next->fence.seq) {
		*fence = next->fence;
		*ends = !signal->counted && may_wait_for(next, NULL);
		known = true;
	}
	rt_signal_unlock(signal);
	return known;
}

enum rt_dep_state rt_signal_dep(struct rt *rt, struct rt_signal *signal, const struct cs_ring *ring,
				struct cs_fence *fence)
{
	enum rt_dep_state state = RT_DEP_OPEN;
	const struct rt_completion *only = NULL;

	if (!rt_signal_load(rt, signal))
		return RT_DEP_MET;
	rt_signal_lock(signal);
	/* The GPU's write may be visible before its completion has ended, so the value that it will write is
	 * checked. */
	if (signal->gpu_writes && !signal->pending_count && !signal->shadowed && !signal->final)
		only = &signal->gpu;
	else if (!signal->gpu_writes && signal->pending_count == 1 && atomic_load(value_memory(rt, signal)) == 1)
		only = &signal->pending_list[0];
	if (only && may_wait_for(only, ring)) {
		*fence = only->fence;
		state = RT_DEP_FENCE;
	}
	rt_signal_unlock(signal);
	return state;
}

/* --- changes by the CPU ----------------------------------------------------------------------- */

void rt_signal_wake(struct rt *rt, struct rt_signal *signal)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&signal->waiters, memory_order_relaxed)) {
		atomic_fetch_add(&signal->change, 1);
		drv_futex_wake(&signal->change);
		rt_notify_work(rt);
	}
	if (atomic_load_explicit(&signal->watchers, memory_order_relaxed)) {
		rt_progress_wake(rt);
		rt_handlers_wake(rt);
	}
}

enum op { OP_STORE, OP_ADD, OP_SUBTRACT, OP_AND, OP_OR, OP_XOR, OP_EXCHANGE, OP_CAS };

static int64_t op_result(enum op op, int64_t old, int64_t value)
{
	switch (op) {
	case OP_ADD:
		return value_sum(old, value);
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

/* GPUs may change the value in memory, too: device code does so with its own signals. */
static int64_t apply_to_memory(_Atomic int64_t *memory, enum op op, int64_t value, int64_t expected)
{
	int64_t old = atomic_load(memory);

	do {
		if (op == OP_CAS && old != expected)
			break;
	} while (!atomic_compare_exchange_weak(memory, &old, op_result(op, old, value)));
	return old;
}

static int64_t change_locked(struct rt *rt, struct rt_signal *signal, enum op op, int64_t value, int64_t expected)
{
	int64_t old;

	apply_completions_locked(rt, signal);
	shadow_value_locked(rt, signal);
	/* Adding for each completion is a usage pattern; a stored value ends it. */
	if (op == OP_STORE)
		signal->failed = false;
	signal->counted = op == OP_ADD || op == OP_SUBTRACT || (signal->counted && op != OP_STORE);
	if (signal->shadowed) {
		old = signal->shadow;
		if (op != OP_CAS || old == expected)
			signal->shadow = op_result(op, old, value);
	} else {
		old = apply_to_memory(value_memory(rt, signal), op, value, expected);
	}
	return old;
}

static int64_t signal_change(struct rt *rt, struct rt_signal *signal, enum op op, int64_t value, int64_t expected)
{
	int64_t old;

	rt_signal_lock(signal);
	old = change_locked(rt, signal, op, value, expected);
	rt_signal_unlock(signal);
	watch_pending(rt, signal);
	return old;
}

bool rt_signal_complete(struct rt *rt, struct rt_signal *signal, uint32_t generation, int error)
{
	bool exists;

	rt_signal_lock(signal);
	exists = is_generation(signal, generation);
	if (exists && error)
		fail_locked(rt, signal);
	else if (exists)
		change_locked(rt, signal, OP_SUBTRACT, 1, 0);
	rt_signal_unlock(signal);
	if (!exists)
		return false;
	watch_pending(rt, signal);
	rt_signal_wake(rt, signal);
	return true;
}

static int64_t signal_change_and_wake(struct rt *rt, struct rt_signal *signal, enum op op, int64_t value,
				      int64_t expected)
{
	int64_t old;

	if (atomic_load_explicit(&signal->kind, memory_order_relaxed) == RT_SIGNAL_DOORBELL) {
		if (op == OP_STORE)
			rt->ops->ring(atomic_load_explicit(&signal->queue, memory_order_acquire));
		return 0;
	}
	old = signal_change(rt, signal, op, value, expected);
	rt_signal_wake(rt, signal);
	return old;
}

/* For functions that return no status: a handle that is no signal is logged and ignored. */
static int64_t change_handle(hsa_signal_t handle, enum op op, int64_t value, int64_t expected)
{
	struct rt *rt = rt_call_begin();
	struct rt_signal *signal = rt ? rt_signal_of(rt, handle) : NULL;
	int64_t old = 0;

	if (__builtin_expect(signal != NULL, 1))
		old = signal_change_and_wake(rt, signal, op, value, expected);
	else
		drv_log(DRV_LOG_HSA, "0x%llx is no signal", (unsigned long long)handle.handle);
	rt_call_end();
	return old;
}

/* x86 has one memory order for read-modify-writes: the four variants of each operation are the same. */
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

/* A program may wait by loading the value again and again: the kernel is queried for faults and losses now and then, as in waits. */
#define LOADS_EACH 64

static _Thread_local unsigned loads __attribute__((tls_model("initial-exec")));

static hsa_signal_value_t load_handle(hsa_signal_t handle)
{
	struct rt *rt = rt_call_begin();
	struct rt_signal *signal = rt ? rt_signal_of(rt, handle) : NULL;
	hsa_signal_value_t value = 0;

	if (__builtin_expect(signal != NULL, 1)) {
		rt_queues_flush(rt);
		if (__builtin_expect(!(++loads % LOADS_EACH), 0))
			rt->ops->query_faults(rt, false);
		value = rt_signal_load(rt, signal);
	}
	rt_call_end();
	return value;
}

hsa_signal_value_t impl_hsa_signal_load_relaxed(hsa_signal_t signal)
{
	return load_handle(signal);
}

hsa_signal_value_t impl_hsa_signal_load_scacquire(hsa_signal_t signal)
{
	return load_handle(signal);
}

static void store_without_wake(hsa_signal_t handle, hsa_signal_value_t value)
{
	struct rt *rt = rt_call_begin();
	struct rt_signal *signal = rt ? rt_signal_of(rt, handle) : NULL;

	if (signal && atomic_load_explicit(&signal->kind, memory_order_relaxed) != RT_SIGNAL_DOORBELL)
		signal_change(rt, signal, OP_STORE, value, 0);
	rt_call_end();
}

void impl_hsa_signal_silent_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value)
{
	store_without_wake(signal, value);
}

void impl_hsa_signal_silent_store_screlease(hsa_signal_t signal, hsa_signal_value_t value)
{
	store_without_wake(signal, value);
}
