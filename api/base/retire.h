/* Deferred freeing of what handles name.
 *
 * Public functions find objects by handle without a reference. An object whose handle was destroyed is retired: its
 * memory is freed when each thread that was inside a public function at that time has left it. A thread that stops
 * inside a function for long keeps back what is retired meanwhile, and nothing else.
 *
 * Threads say that they are inside by a counter of their own, with a plain addition and no fence. The thread that
 * frees pays for that: membarrier(2) makes all running threads pass a fence, behind which the counters are read. A
 * thread that counts later finds the handle destroyed. Where a sandbox forbids membarrier(2) nothing is freed. */
#ifndef API_RETIRE_H
#define API_RETIRE_H

#include "api/base/base.h"

/* Part of an object that is retired. */
struct hip_retired {
	struct hip_retired *next;
	void (*end)(struct hip_retired *retired); /* frees the object; called without locks, on any thread */
};

/* No handle names the object any more. */
void hip_retire(struct hip_retired *retired, void (*end)(struct hip_retired *retired));

/* Registers the thread, whose counter is that of a thread that was never inside. */
void hip_thread_register(void);

/* hip_thread.inside counts calls that have ended above bit 8, and calls that run, one in another, below. */
#define HIP_INSIDE_CALL 1
#define HIP_INSIDE_END  255

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/* One instruction each, which gcc does not make of atomics. Stores become visible in order. */
static inline void hip_call_begin(void)
{
	bool unregistered;

	__asm__ volatile("addq %2, %0"
			 : "+m"(hip_thread.inside), "=@ccs"(unregistered)
			 : "i"(HIP_INSIDE_CALL)
			 : "memory");
	if (__builtin_expect(unregistered, 0))
		hip_thread_register();
}
static inline void hip_call_end(void)
{
	__asm__ volatile("addq %1, %0" : "+m"(hip_thread.inside) : "i"(HIP_INSIDE_END) : "memory");
}
#else
static inline void hip_call_begin(void)
{
	int64_t inside = atomic_load_explicit(&hip_thread.inside, memory_order_relaxed) + HIP_INSIDE_CALL;

	atomic_store_explicit(&hip_thread.inside, inside, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(inside < 0, 0))
		hip_thread_register();
}
static inline void hip_call_end(void)
{
	int64_t inside = atomic_load_explicit(&hip_thread.inside, memory_order_relaxed);

	atomic_store_explicit(&hip_thread.inside, inside + HIP_INSIDE_END, memory_order_release);
}
#endif

#endif
