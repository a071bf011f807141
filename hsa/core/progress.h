/* The progress thread: attempts work again that could not be submitted.
 *
 *   rt_work   work that cannot be submitted yet: a stopped queue, a copy, a deferred free. Owned by its user
 *   rt_pause  the length of the next sleep of a thread that polls
 *
 * The lock of the thread's loop guards the list of work; attempt() is called without it. */
#ifndef HSA_PROGRESS_H
#define HSA_PROGRESS_H

#include "hsa/core/core.h"

/* Work that could not be submitted. The progress thread calls attempt() until it returns true, and never from two
 * threads at a time. attempt() must not block. */
struct rt_work {
	struct rt_work *next; /* guarded by the progress lock, as is `queued` */
	bool queued;          /* true while it is in the list */
	bool (*attempt)(struct rt *rt, struct rt_work *work);
	/* Fences of submitted jobs after whose ends an attempt makes sense, at most max; NULL: none are known.
	 * Called with the progress lock held, so it must not block on another lock. */
	unsigned (*fences)(const struct rt_work *work, struct cs_fence *fences, unsigned max);
};

/* Pauses between polls of what changes without a wake-up: from 50 us they double up to 1 ms, and then grow by a
 * sixteenth up to 10 ms. */
struct rt_pause {
	uint64_t ns;
};
uint64_t rt_pause_next_ns(struct rt_pause *pause);

DRV_MUST_CHECK int rt_progress_init(struct rt *rt);
/* Stops the thread and drops all work, which its users own; later work is dropped, too. The progress and the handler
 * thread use each other's state, so both are stopped before either is freed. */
void rt_progress_stop(struct rt *rt);
void rt_progress_fini(struct rt *rt);
void rt_progress_add(struct rt *rt, struct rt_work *work);
/* After the return, the thread does not attempt the work. */
void rt_progress_remove(struct rt *rt, struct rt_work *work);
/* True on the progress thread. */
bool rt_progress_is_own_thread(struct rt *rt);
/* Returns when all work has been attempted since the call. Must not be called on the progress thread. */
void rt_progress_pass(struct rt *rt);
/* Wakes the progress thread after a change that work may wait for. */
void rt_progress_wake(struct rt *rt);

#endif
