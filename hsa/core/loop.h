/* rt_loop: a thread of the runtime that polls for work. It polls when another thread wakes it, and periodically
 * while there is work. The progress thread (progress.c) and the handler thread (signal/handler.c) are such loops;
 * each owns its rt_loop. The thread starts with the first piece of work. */
#ifndef HSA_LOOP_H
#define HSA_LOOP_H

#include "drv/lock.h"
#include "hsa/core/progress.h"

#define RT_LOOP_FENCES 8 /* fences that a loop sleeps on */

struct rt_loop {
	struct rt *rt;            /* borrowed */
	pthread_t thread;         /* valid while started */
	_Atomic uint32_t wakeups; /* futex: counts calls of rt_loop_wake() */
	_Atomic unsigned asleep;  /* enum in loop.c: what the thread sleeps on, or is about to */
	int waker;                /* owned: wakes a thread that sleeps on fences; -1: none yet */
	struct drv_mutex lock;    /* guards all below, and the loop owner's list of work */
	bool started, stop;
	bool (*poll)(struct rt *rt);                                 /* true: progress was made */
	bool (*has_work)(const struct rt *rt);                       /* called with the lock */
	uint64_t (*pause_ns)(struct rt *rt, struct rt_pause *pause); /* until the next poll, if there is work */
	/* Fences of submitted jobs after whose ends a poll makes sense, up to RT_LOOP_FENCES; *all: no other work
	 * is pending. Called without the lock. NULL: none are known. */
	unsigned (*fences)(struct rt *rt, struct cs_fence *fences, bool *all);
};

/* The caller sets the callbacks. */
void rt_loop_init(struct rt *rt, struct rt_loop *loop);
/* The thread must have ended. */
void rt_loop_fini(struct rt_loop *loop);
/* Call it with the lock held. 0 also if the thread runs already, or is stopping; -EAGAIN, -ENOMEM. */
DRV_MUST_CHECK int rt_loop_start_locked(struct rt_loop *loop);
void rt_loop_wake(struct rt_loop *loop);
/* Stops the thread and joins it. */
void rt_loop_stop(struct rt_loop *loop);
bool rt_loop_is_own(struct rt_loop *loop);
bool rt_loop_is_own_locked(const struct rt_loop *loop);

#endif
