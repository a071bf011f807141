/* Deferred freeing of objects that the threads of a program find without a reference.
 *
 *   drv_calls    the calls of one library's public functions, and the objects that they may use
 *   drv_caller   a thread's part of it, thread-local
 *   drv_retired  the part of an object that is retired: in a list of the drv_calls, until the object is freed
 *
 * Public functions find objects by handle, without a reference. An object whose handle is destroyed is retired: its
 * memory is freed when each thread that was inside a public function at that time has left it. A thread that stays
 * inside a function for long delays the objects that are retired meanwhile, and nothing else.
 *
 * Each thread counts its calls in a counter of its own, by a plain addition without a fence. The thread that frees
 * issues the fence instead: membarrier(2) makes all running threads execute one, and then the counters are read. A
 * thread that counts a call later finds the handle destroyed.
 *
 * Where membarrier(2) is missing, as in sandboxes and old kernels, each call issues a fence of its own. The first registration
 * finds out, before any thread is in a call. The counters stay negative then, as those of threads that are not registered: no call
 * takes a fast path, and the slow path issues the fence. A process that forbids membarrier(2) to itself later frees nothing more.
 *
 * A registration ends with the thread, by the destructor of a key. A thread that can have none, such as where the program has
 * all keys, is not registered, and nothing more is freed either.
 *
 * An object whose end takes locks, such as code that HSA unloads, is freed by drv_retire_flush() only, which callers
 * without a lock call.
 *
 * Lock: a drv_calls has one for its lists and the registered threads; it is innermost. */
#ifndef DRV_RETIRE_H
#define DRV_RETIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "drv/lock.h"

/* Value of drv_caller.inside for threads that are not registered. Without membarrier(2) registered threads count from here, too. */
#define DRV_INSIDE_NEVER (INT64_MIN / 2)
/* Increments of drv_caller.inside: bits 7:0 count the nested calls that run, the upper bits those that have ended. */
#define DRV_INSIDE_CALL 1
#define DRV_INSIDE_END  255

struct drv_calls;

struct drv_caller {
	/* Calls of public functions. Negative: not registered, or calls need a fence. Written by the thread. */
	_Atomic int64_t inside;
	/* Guarded by the lock of `calls`: */
	LIST_ENTRY(drv_caller) in_callers;
	struct drv_calls *calls; /* NULL: not registered */
	int64_t seen;            /* `inside` at the last fence */
	bool awaited;            /* retired objects wait until the thread leaves the call that it was in */
	uint8_t ends;            /* times that the thread's destructor has unregistered it */
};
#define DRV_CALLER {.inside = DRV_INSIDE_NEVER}

struct drv_retired {
	struct drv_retired *next;
	void (*end)(struct drv_retired *retired); /* frees the object, on any thread; it may take locks */
};

/* Zero but for the lock. */
struct drv_calls {
	struct drv_mutex lock;           /* guards all below, and members of drv_caller */
	LIST_HEAD(, drv_caller) callers; /* borrowed: registered threads */
	struct drv_retired *fresh, *waiting;
	unsigned fresh_count;
	unsigned awaited; /* number of threads that `waiting` waits for */
	bool unknown;     /* a thread called without being registered: nothing is freed any more */
	bool has_key;
	pthread_key_t key; /* the thread's drv_caller, whose registration ends with the thread */
};
#define DRV_CALLS {.lock = DRV_MUTEX(DRV_RANK_RETIRE)}

/* Retires an object that no handle names any more: end() is called when no thread can use it. Frees nothing itself; the
 * caller may have any lock but that of `calls`. */
void drv_retire(struct drv_calls *calls, struct drv_retired *retired, void (*end)(struct drv_retired *retired));
/* Frees what no thread can use any more, in batches. Called without locks, at the end of public functions that retire
 * objects. */
void drv_retire_collect(struct drv_calls *calls);
/* Does not wait for a batch, nor for the calling thread, which uses no retired object in the rest of its call. */
void drv_retire_flush(struct drv_calls *calls, const struct drv_caller *me);
/* Returns when every other thread that was inside a call has left it, and all that was retired before is freed. Called without
 * locks. False: the process forbids membarrier(2), or a thread is not registered, and nothing is known. */
bool drv_retire_wait(struct drv_calls *calls, const struct drv_caller *me);

/* Called in a call with a negative counter: registers the thread, if it is not yet, and issues the call's fence. */
void drv_caller_register(struct drv_calls *calls, struct drv_caller *me);
/* In a child of fork(): the calling thread is the only one, and what the parent's threads retired stays the parent's. */
void drv_calls_forked(struct drv_calls *calls, struct drv_caller *me);

/* True while the thread runs a public function. */
static inline bool drv_caller_is_inside(const struct drv_caller *me)
{
	return atomic_load_explicit(&me->inside, memory_order_relaxed) & 0xff;
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/* drv_call_begin_fast() calls no function, for functions that keep no registers on the stack. False: the counter is
 * negative, and no object may be used before drv_call_begin_slow().
 *
 * One instruction each, which gcc does not generate from atomics. x86 stores become visible in order. */
__attribute__((always_inline)) static inline bool drv_call_begin_fast(struct drv_caller *me)
{
	bool unregistered;

	__asm__ volatile("addq %2, %0" : "+m"(me->inside), "=@ccs"(unregistered) : "i"(DRV_INSIDE_CALL) : "memory");
	return !unregistered;
}
__attribute__((always_inline)) static inline void drv_call_end(struct drv_caller *me)
{
	__asm__ volatile("addq %1, %0" : "+m"(me->inside) : "i"(DRV_INSIDE_END) : "memory");
}
#else
static inline bool drv_call_begin_fast(struct drv_caller *me)
{
	int64_t inside = atomic_load_explicit(&me->inside, memory_order_relaxed) + DRV_INSIDE_CALL;

	atomic_store_explicit(&me->inside, inside, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return inside >= 0;
}
static inline void drv_call_end(struct drv_caller *me)
{
	int64_t inside = atomic_load_explicit(&me->inside, memory_order_relaxed);

	atomic_store_explicit(&me->inside, inside + DRV_INSIDE_END, memory_order_release);
}
#endif

__attribute__((always_inline)) static inline void drv_call_begin(struct drv_calls *calls, struct drv_caller *me)
{
	if (__builtin_expect(!drv_call_begin_fast(me), 0))
		drv_caller_register(calls, me);
}
/* Continues drv_call_begin_fast(). */
static inline void drv_call_begin_slow(struct drv_calls *calls, struct drv_caller *me)
{
	if (atomic_load_explicit(&me->inside, memory_order_relaxed) < 0)
		drv_caller_register(calls, me);
}

#endif
