/* Deferred freeing of objects that handles name.
 *
 *   hip_retired  the part of an object that is retired: in a list of retire.c, until the object is freed
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
 * An object whose end takes locks, such as code that HSA unloads, is freed by hip_retire_flush() only, which callers
 * without a lock call.
 *
 * Lock: retire.c has one for its lists and the registered threads; it is the innermost.
 */
#ifndef API_RETIRE_H
#define API_RETIRE_H

#include "api/base/base.h"

struct hip_retired {
	struct hip_retired *next;
	void (*end)(struct hip_retired *retired); /* frees the object, on any thread; it may take locks */
};

/* Retires an object that no handle names any more: end() is called when no thread can use it. Frees nothing itself; the
 * caller may have any lock but retire.c's. */
void hip_retire(struct hip_retired *retired, void (*end)(struct hip_retired *retired));
/* Frees what no thread can use any more, in batches. Called without locks, at the end of public functions that retire
 * objects. */
void hip_retire_collect(void);
/* Does not wait for a batch, nor for the calling thread, which uses no retired object in the rest of its call. */
void hip_retire_flush(void);

/* Called in a call with a negative counter: registers the thread, if it is not yet, and issues the call's fence. */
void hip_thread_register(void);
/* In a child of fork(): the calling thread is the only one, and what the parent's threads retired stays the parent's. */
void hip_threads_forked(void);

/* Increments of hip_thread.inside: bits 7:0 count the nested calls that run, the upper bits those that have ended.
 */
#define HIP_INSIDE_CALL 1
#define HIP_INSIDE_END  255

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/* hip_call_begin_fast() calls no function, for functions that keep no registers on the stack. False: the counter is
 * negative, and no object may be used before hip_call_begin_slow().
 *
 * One instruction each, which gcc does not generate from atomics. x86 stores become visible in order. */
static inline bool hip_call_begin_fast(void)
{
	bool unregistered;

	__asm__ volatile("addq %2, %0"
			 : "+m"(hip_thread.inside), "=@ccs"(unregistered)
			 : "i"(HIP_INSIDE_CALL)
			 : "memory");
	return !unregistered;
}
static inline void hip_call_end(void)
{
	__asm__ volatile("addq %1, %0" : "+m"(hip_thread.inside) : "i"(HIP_INSIDE_END) : "memory");
}
#else
static inline bool hip_call_begin_fast(void)
{
	int64_t inside = atomic_load_explicit(&hip_thread.inside, memory_order_relaxed) + HIP_INSIDE_CALL;

	atomic_store_explicit(&hip_thread.inside, inside, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return inside >= 0;
}
static inline void hip_call_end(void)
{
	int64_t inside = atomic_load_explicit(&hip_thread.inside, memory_order_relaxed);

	atomic_store_explicit(&hip_thread.inside, inside + HIP_INSIDE_END, memory_order_release);
}
#endif

static inline void hip_call_begin(void)
{
	if (__builtin_expect(!hip_call_begin_fast(), 0))
		hip_thread_register();
}
/* Continues hip_call_begin_fast(). */
static inline void hip_call_begin_slow(void)
{
	if (atomic_load_explicit(&hip_thread.inside, memory_order_relaxed) < 0)
		hip_thread_register();
}

#endif
