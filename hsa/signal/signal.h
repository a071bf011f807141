/* Signals: 64-bit values that CPU and GPUs change.
 *
 *   rt_signal      a signal's state beside its amd_signal_t. Owned by rt_signals (signals.h) in one array
 *   rt_completion  a packet or copy that will subtract 1 from a signal when it ends on a GPU. Signals keep copies
 *   idler          a thread that waits while no GPU works (wait.c)
 *
 * A signal's spin lock guards its plain members; it is innermost, and held for a few instructions. signal.c
 * describes how a completion reaches the value. */
#ifndef HSA_SIGNAL_H
#define HSA_SIGNAL_H

#include "hsa/core/progress.h"

enum rt_signal_kind {
	RT_SIGNAL_FREE, /* a free place */
	RT_SIGNAL_IPC,
	RT_SIGNAL_USER,     /* the GPU may write the value of this kind and of those below */
	RT_SIGNAL_GPU_ONLY, /* created with that attribute: no handlers; clients may read the value as memory */
	RT_SIGNAL_DOORBELL,
};

/* A packet or copy that will subtract 1 from a signal when it ends on a GPU. Its ring and word outlive every
 * signal. */
struct rt_completion {
	struct cs_fence fence;        /* the end of its job, or a later one: a thread sleeps on it */
	const _Atomic uint64_t *word; /* the end is reached when *word >= seq (NULL: there is no word), or when the
					 fence has signalled */
	uint64_t seq;
	const _Atomic uint64_t *last; /* the last one of its job while *last == seq; NULL: the only one */
};

/* A signal's state, in memory that the GPU cannot access. */
struct rt_signal {
	_Atomic uint32_t kind;       /* enum rt_signal_kind; a release store publishes the other members */
	_Atomic uint32_t generation; /* counts destructions; written under `lock` */
	_Atomic uint32_t lock;       /* guards the plain members; held for a few instructions, innermost */
	_Atomic uint32_t pending; /* the value in memory may not be the signal's: rt_signal_load() takes the lock */
	_Atomic uint32_t waiters; /* threads that sleep on `change` */
	/* Handlers and works that the handler or progress thread polls, for any signal that this place has had. */
	_Atomic uint32_t watchers;
	_Atomic uint32_t change; /* futex: counts changes by the CPU while there are waiters */
	bool counted;            /* the CPU has added to the value: several completions are to be expected */
	bool gpu_writes;         /* `gpu` will write `final` into memory when it ends */
	bool shadowed; /* the CPU has changed the value before that write: the value is `shadow`, less 1 when `gpu`
			  ends */
	_Atomic bool listed;            /* in the list of retire.c; written under that list's lock */
	struct rt_agent *_Atomic clock; /* borrowed: the agent whose clock timed the last copy that completes the
					   signal; NULL: none */
	_Atomic bool failed;            /* a completion was lost; reset when the CPU stores a value */
	int64_t final, shadow;
	struct rt_completion gpu;
	struct rt_completion *pending_list; /* owned: completions that the CPU subtracts when they end */
	unsigned pending_count, pending_max;
	struct rt_queue *_Atomic queue; /* borrowed; the queue of a doorbell; a release store publishes it */
	unsigned file; /* owned: descriptor of a shared signal's memory, plus 1; 0: none. Guarded by the region's
			  lock */
	struct rt_signal *next;        /* in the free list; guarded by the region's lock */
	struct rt_signal *next_listed; /* guarded by the lock of retire.c's list */
};

DRV_MUST_CHECK int rt_signals_init(struct rt *rt);
void rt_signals_fini(struct rt *rt);

/* The signal of a handle, or NULL if no such signal exists. Does not dereference the handle. */
struct rt_signal *rt_signal_of(const struct rt *rt, hsa_signal_t handle);
/* The same for a signal that the caller remembers: after its destruction, its place has another generation. */
struct rt_signal *rt_signal_find(const struct rt *rt, hsa_signal_t handle, uint32_t *generation);
hsa_signal_t rt_signal_handle(const struct rt *rt, const struct rt_signal *signal);
/* The signal's memory, at the same address for CPU and GPUs. */
static inline amd_signal_t *rt_signal_memory(hsa_signal_t handle)
{
	return (amd_signal_t *)(uintptr_t)handle.handle;
}
DRV_MUST_CHECK int rt_signal_create(struct rt *rt, hsa_signal_value_t value, enum rt_signal_kind kind,
				    hsa_signal_t *handle);
void rt_signal_destroy(struct rt *rt, struct rt_signal *signal);
/* Takes a place for a doorbell, whose handle is valid after rt_doorbell_begin(). */
DRV_MUST_CHECK int rt_signal_take(struct rt *rt, struct rt_signal **signal);
/* Publishes a doorbell: stores to it call rt_ops.ring() with the queue. The doorbell's memory gets the address of the
 * hardware's doorbell. */
void rt_doorbell_begin(struct rt *rt, struct rt_signal *doorbell, struct rt_queue *queue,
		       volatile uint64_t *hardware);

/* The value, with all completions that have ended applied. */
hsa_signal_value_t rt_signal_load(struct rt *rt, struct rt_signal *signal);
/* Completes an operation of the CPU: subtracts 1 from the value, or (error) sets it to -1. False: the signal of that generation was
 * destroyed. */
bool rt_signal_complete(struct rt *rt, struct rt_signal *signal, uint32_t generation, int error);
/* Wakes waiters, handlers and works after a change by the CPU. */
void rt_signal_wake(struct rt *rt, struct rt_signal *signal);
/* Adds a completion that is about to be submitted. *va and *value are the address of the completion's word and the
 * value that the GPU writes there, for the CPU to apply. If the GPU can write the signal's value itself, the
 * function replaces them by the signal's address and final value. */
void rt_signal_add_completion(struct rt *rt, struct rt_signal *signal, const struct rt_completion *completion,
			      uint64_t *va, uint64_t *value);
/* Adds a completion that the CPU applies in any case, unless the signal of that generation was destroyed; a completion without a
 * word ends with its fence. */
void rt_signal_add_cpu_completion(struct rt *rt, struct rt_signal *signal, uint32_t generation,
				  const struct rt_completion *completion);
/* Sleeps until the job of the packet that last completed the signal has ended. */
void rt_signal_await_job(struct rt_signal *signal, int64_t timeout_ns);
/* Fails the signal if the packet that completed it ran on a context that was lost; true then. Called after a long
 * wait. */
bool rt_signal_check(struct rt *rt, struct rt_signal *signal);
/* Sets the value to -1: a completion failed. */
void rt_signal_fail(struct rt *rt, struct rt_signal *signal);
/* Applies the completions that have ended; false: none is pending any more. For the progress thread. */
bool rt_signal_apply_completions(struct rt *rt, struct rt_signal *signal);
/* The fence of the submitted job that will change the signal next; false: none is known. *ends: the change comes at
 * the job's end; otherwise the middle of the job, or the CPU before it, may bring the change. */
bool rt_signal_next_fence(struct rt_signal *signal, struct cs_fence *fence, bool *ends);

/* State of a dependency on "the value is 0". */
enum rt_dep_state {
	RT_DEP_MET,
	RT_DEP_FENCE, /* met when the fence signals, unless the client changes the value */
	RT_DEP_OPEN,  /* not met, and no job is known whose end meets it */
};
/* The state of a dependency of work on `ring`; jobs of that ring itself need not have ended. */
enum rt_dep_state rt_signal_dep(struct rt *rt, struct rt_signal *signal, const struct cs_ring *ring,
				struct cs_fence *fence);

/* True while signals exist that other processes change. */
bool rt_signals_shared(const struct rt *rt);

bool rt_condition_met(hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_signal_value_t compare);

/* Has the progress thread apply the signal's pending completions as they end. */
void rt_signal_retire_later(struct rt *rt, struct rt_signal *signal);

/* --- waiting (wait.c) -------------------------------------------------------------------------- */

/* Makes the caller one of rt.idlers: no GPU works, and a submission wakes threads that sleep on rt.work while it is
 * *seen. The caller subtracts itself from rt.idlers after the sleep. False: a GPU works, and the caller is no
 * idler. */
bool rt_idle_begin(struct rt *rt, uint32_t *seen);
void rt_idlers_wake(struct rt *rt);
/* Wakes the idlers. Called after a submission, or after a change of a signal and a full fence. */
static inline void rt_notify_work(struct rt *rt)
{
	if (__builtin_expect(atomic_load_explicit(&rt->idlers, memory_order_relaxed), 0))
		rt_idlers_wake(rt);
}

/* --- handlers (handler.c) ------------------------------------------------------------------------ */

bool rt_handlers_is_own_thread(struct rt *rt);
/* Runs fn(arg) on the thread for callbacks. -ENOMEM, -EAGAIN; -ECANCELED: the thread was stopped. */
DRV_MUST_CHECK int rt_callback(struct rt *rt, void (*fn)(void *arg), void *arg);
/* Drops a call that has not begun; false: there is none. */
bool rt_callback_drop(struct rt *rt, void (*fn)(void *arg), void *arg);
DRV_MUST_CHECK int rt_handlers_init(struct rt *rt);
/* Stops the thread; callbacks that have not begun are dropped. */
void rt_handlers_stop(struct rt *rt);
bool rt_handlers_stopped(struct rt *rt);
void rt_handlers_fini(struct rt *rt);
/* Wakes the handler thread after a change that a handler may wait for. */
void rt_handlers_wake(struct rt *rt);
/* Passes the event to all handlers of hsa_amd_register_system_event_handler(); false: none is registered. */
bool rt_event(struct rt *rt, const hsa_amd_event_t *event);

#endif
