/* The progress thread: work that could not be submitted is attempted again. */
#ifndef HSA_PROGRESS_H
#define HSA_PROGRESS_H

#include "hsa/core/core.h"

/* Something that could not be submitted. The progress thread calls attempt(), never two at a time, until it says
 * true; it must not wait for anything. */
struct rt_work {
	struct rt_work *next; /* guarded by the progress lock, as is `queued` */
	bool queued;          /* it is in the list */
	bool (*attempt)(struct rt *rt, struct rt_work *work);
	/* Submitted jobs whose ends are worth an attempt, at most max; NULL: none are known. With the progress
	 * lock: it must not wait for another. */
	unsigned (*fences)(const struct rt_work *work, struct cs_fence *fences, unsigned max);
};

/* Sleeping in turns that grow from 50 us to 1 ms, and then by a sixteenth up to 10 ms, for what changes without
 * telling. */
struct rt_pause {
	uint64_t ns;
};
uint64_t rt_pause_next_ns(struct rt_pause *pause);

DRV_MUST_CHECK int rt_progress_init(struct rt *rt);
/* Ends the thread. Both threads use one another's parts, so both are stopped before either part goes. */
void rt_progress_stop(struct rt *rt);
void rt_progress_fini(struct rt *rt);
void rt_progress_add(struct rt *rt, struct rt_work *work);
/* Afterwards nobody attempts it. */
void rt_progress_remove(struct rt *rt, struct rt_work *work);
/* True on one of our own threads. */
bool rt_progress_is_own_thread(struct rt *rt);
/* Everything has been attempted since the call. Not from that thread. */
void rt_progress_pass(struct rt *rt);
/* Something changed that a suballocation of work or a handler may wait for. */
void rt_progress_wake(struct rt *rt);

#endif
