/* A thread of ours that looks after things: when its bell is rung, and from time to time while there are any. It
 * starts with the first of them. */
#ifndef HSA_LOOP_H
#define HSA_LOOP_H

#include "hsa/core/progress.h"

#define RT_LOOP_POINTS 8 /* that a loop sleeps on */

struct rt_loop {
	struct rt *rt;           /* borrowed */
	pthread_t thread;        /* while started */
	_Atomic uint32_t bell;   /* futex */
	_Atomic unsigned asleep; /* enum: where the thread sleeps, or is about to */
	int event;               /* owned: eventfd, for a thread that sleeps on fences; -1: none yet */
	pthread_mutex_t lock;    /* guards all below, and what its user keeps with it */
	bool started, stop;
	bool (*look)(struct rt *rt);                                /* true: something went on */
	bool (*has_work)(const struct rt *rt);                      /* with the lock */
	uint64_t (*rest_ns)(struct rt *rt, struct rt_pause *pause); /* before the next look, if there is work */
	/* Submitted jobs whose ends are worth a look, up to RT_LOOP_POINTS; *all: nothing else is. Without the
	 * lock. NULL: none are known. */
	unsigned (*fences)(struct rt *rt, struct cs_fence *fences, bool *all);
};

/* The functions are set by the caller. */
void rt_loop_init(struct rt *rt, struct rt_loop *loop);
/* The thread is over. */
void rt_loop_fini(struct rt_loop *loop);
/* With the lock. 0 also when it runs already, or is to stop; -EAGAIN, -ENOMEM. */
DRV_MUST_CHECK int rt_loop_start_locked(struct rt_loop *loop);
void rt_loop_ring(struct rt_loop *loop);
/* Ends the thread and waits for that. */
void rt_loop_stop(struct rt_loop *loop);
bool rt_loop_is_own(struct rt_loop *loop);
bool rt_loop_is_own_locked(const struct rt_loop *loop);

#endif
