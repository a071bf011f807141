/* Wakers: a descriptor that any thread makes readable, for a thread that sleeps in poll().
 *
 * A waker is a timerfd. When the program has closed descriptors that it does not know, the number may be of a file of its
 * own: the kernel refuses a timer's calls there, where it would take what is written to an eventfd for the file. Other
 * drivers have ioctls of their device alone at such numbers. */
#ifndef HSA_WAKER_H
#define HSA_WAKER_H

#include <sys/timerfd.h>
#include <unistd.h>

#include "drv/cancel.h"

/* The descriptor, or -1 (errno). The caller closes it by rt_waker_close(). */
static inline int rt_waker_create(void)
{
	return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}
/* Makes it readable, within microseconds. */
static inline void rt_waker_wake(int waker)
{
	const struct itimerspec at_once = {.it_value.tv_nsec = 1};

	(void)!timerfd_settime(waker, 0, &at_once, NULL);
}
static inline void rt_waker_clear(int waker)
{
	const struct itimerspec never = {.it_value.tv_nsec = 0};

	(void)!timerfd_settime(waker, 0, &never, NULL);
}
/* Accepts -1. What is no timer is the program's. */
static inline void rt_waker_close(int waker)
{
	DRV_HOLD_CANCEL;
	struct itimerspec left;

	if (!timerfd_gettime(waker, &left))
		close(waker);
}

#endif
