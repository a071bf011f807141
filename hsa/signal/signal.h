/* Signals: 64-bit values that CPU and GPUs change, with what is about to change them; waits and handlers. */
#ifndef HSA_SIGNAL_H
#define HSA_SIGNAL_H

#include "hsa/core/progress.h"

enum rt_signal_kind {
	RT_SIGNAL_FREE, /* no signal */
	RT_SIGNAL_USER,
	RT_SIGNAL_GPU_ONLY, /* made so by attribute: no handlers, its value may be read as memory */
	RT_SIGNAL_IPC,
	RT_SIGNAL_DOORBELL,
};

/* What will take 1 from a signal when it ends on a GPU. Its ring and word outlive every signal. */
struct rt_completion {
	struct cs_fence fence;        /* at or behind it: what a thread sleeps on */
	const _Atomic uint64_t *word; /* it has ended when *word >= seq (NULL: no word), or the fence is reached */
	uint64_t seq;
	const _Atomic uint64_t *last; /* it is the last of its job when *last == seq; NULL: it is the only one */
};

/* Beside each amd_signal_t, in memory that the GPU does not see. */
struct rt_signal {
	_Atomic uint32_t kind;       /* enum rt_signal_kind; release: the rest is set */
	_Atomic uint32_t generation; /* counts destructions */
	_Atomic uint32_t lock;       /* guards the plain members; held for a few instructions, innermost */
	_Atomic uint32_t pending; /* the value in memory is not the signal's: rt_signal_load() has to look closer */
	_Atomic uint32_t waiters; /* threads that sleep on `change` */
	_Atomic uint32_t watchers; /* handlers and work that the progress threads look after */
	_Atomic uint32_t change;   /* futex: counts changes by the CPU while somebody sleeps */
	bool counted;              /* the CPU has added to it: several completions are to be expected */
	bool gpu_writes;           /* `gpu` will write `final` into memory when it ends */
	bool shadowed;             /* the CPU changed it meanwhile: `shadow` is the value, less 1 when `gpu` ends */
	_Atomic bool listed;       /* in the list of signals to retire; written under that list's lock */
	struct rt_agent
		*_Atomic clock; /* borrowed: whose clock timed the last copy that completes it; NULL: none */
	_Atomic bool failed;    /* a completion of it was lost; until the CPU stores a value */
	int64_t final, shadow;
	struct rt_completion gpu;
	struct rt_completion *pending_list; /* owned: completions whose end the CPU has yet to apply */
	unsigned pending_count, pending_max;
	struct rt_queue *queue;        /* borrowed; of a doorbell */
	unsigned file;                 /* owned: descriptor of a shared signal's memory, plus 1; 0: none */
	struct rt_signal *next;        /* in the free list; guarded by the region's lock */
	struct rt_signal *next_listed; /* guarded by the list's lock */
};

DRV_MUST_CHECK int rt_signals_init(struct rt *rt);
void rt_signals_fini(struct rt *rt);

/* The signal of a handle, or NULL: none that exists. Does not follow the handle. */
struct rt_signal *rt_signal_of(const struct rt *rt, hsa_signal_t handle);
hsa_signal_t rt_signal_handle(const struct rt *rt, const struct rt_signal *signal);
/* CPU and GPU see it at the handle's address. */
static inline amd_signal_t *rt_signal_memory(hsa_signal_t handle)
{
	return (amd_signal_t *)(uintptr_t)handle.handle;
}
DRV_MUST_CHECK int rt_signal_create(struct rt *rt, hsa_signal_value_t value, enum rt_signal_kind kind,
				    hsa_signal_t *handle);
void rt_signal_destroy(struct rt *rt, struct rt_signal *signal);
/* A doorbell: stores of it go to that queue. */
DRV_MUST_CHECK int rt_doorbell_create(struct rt *rt, struct rt_queue *queue, hsa_signal_t *handle);

/* The value as all that has ended leaves it. */
hsa_signal_value_t rt_signal_load(struct rt *rt, struct rt_signal *signal);
/* What the CPU does. */
void rt_signal_add(struct rt *rt, struct rt_signal *signal, hsa_signal_value_t value);
/* Wakes who sleeps or watches after a change by the CPU. */
void rt_signal_wake(struct rt *rt, struct rt_signal *signal);
/* A completion that is about to be submitted will take 1 from it. *va and *value are where its word is and what the
 * GPU writes there, for the CPU to apply; they become the signal's own when the GPU can write that itself. */
void rt_signal_expect(struct rt *rt, struct rt_signal *signal, const struct rt_completion *completion, uint64_t *va,
		      uint64_t *value);
/* The same when the CPU shall apply it in any case; a completion without a word ends with its fence. */
void rt_signal_owe(struct rt *rt, struct rt_signal *signal, const struct rt_completion *completion);
/* Sleeps until the job has ended whose packet last completed the signal. */
void rt_signal_await_job(struct rt_signal *signal, int64_t timeout_ns);
/* After a long wait: when what completed the signal was on a context that is lost, it failed; true then. */
bool rt_signal_check(struct rt *rt, struct rt_signal *signal);
/* What should have changed it failed. */
void rt_signal_fail(struct rt *rt, struct rt_signal *signal);
/* Applies what has ended; false: no completion is pending any more. For the progress thread. */
bool rt_signal_settle(struct rt *rt, struct rt_signal *signal);
/* The submitted job that changes the signal next, as far as is known; *ends: its end brings the change, which
 * otherwise comes in the middle of the job, or from the CPU before. */
bool rt_signal_point(struct rt_signal *signal, struct cs_fence *fence, bool *ends);

/* How a dependency on "the value is 0" stands. */
enum rt_dep_state {
	RT_DEP_MET,
	RT_DEP_POINT, /* it will be when the fence is reached, unless somebody else changes it */
	RT_DEP_OPEN,  /* nobody can say */
};
/* ring: who asks; its own jobs need not be over. */
enum rt_dep_state rt_signal_dep(struct rt *rt, struct rt_signal *signal, const struct cs_ring *ring,
				struct cs_fence *fence);

/* Whether there are signals that other processes change. */
bool rt_signals_shared(const struct rt *rt);

bool rt_condition_met(hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_signal_value_t compare);

/* The signal's pending completions are applied as they end. */
void rt_signal_retire_later(struct rt *rt, struct rt_signal *signal);

/* --- waiting (wait.c) -------------------------------------------------------------------------- */

/* No GPU works, and who sleeps on `work` while it is *seen is woken when one begins to: the caller is one
 * of `idlers` until he takes himself out. False: he is none, for one works. */
bool rt_idle_begin(struct rt *rt, uint32_t *seen);
void rt_idlers_wake(struct rt *rt);
/* Behind what was submitted, or changed, and a full fence. */
static inline void rt_tell_of_work(struct rt *rt)
{
	if (__builtin_expect(atomic_load_explicit(&rt->idlers, memory_order_relaxed), 0))
		rt_idlers_wake(rt);
}

/* --- handlers (handler.c) ------------------------------------------------------------------------ */

bool rt_handlers_is_own_thread(struct rt *rt);
/* Runs fn(arg) on the thread for callbacks. -ENOMEM, -EAGAIN. */
DRV_MUST_CHECK int rt_callback(struct rt *rt, void (*fn)(void *arg), void *arg);
DRV_MUST_CHECK int rt_handlers_init(struct rt *rt);
/* Ends the thread; callbacks that have not begun are dropped. */
void rt_handlers_stop(struct rt *rt);
void rt_handlers_fini(struct rt *rt);
/* Something changed that a handler may wait for. */
void rt_handlers_wake(struct rt *rt);
/* To all handlers of hsa_amd_register_system_event_handler(); false: there is none. */
bool rt_event(struct rt *rt, const hsa_amd_event_t *event);

#endif
