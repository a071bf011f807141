/* Cancellation of threads (pthread_cancel(3)).
 *
 * No public function is a cancellation point. Many call functions of libc that are, and a thread that ended in one of them would
 * leave locks that nobody gives back, descriptors, and objects that are half made. So the function that makes such a call, or a
 * caller of it, holds cancellation: a thread that is canceled meanwhile goes on, and ends at its next cancellation point outside.
 * It is held where those calls are and not for each public function, since it costs 60 instructions (glibc 2.36) and two locked
 * operations, which hot paths do not pay. tools/cancel.awk finds calls without it.
 *
 * A thread of asynchronous type may end anywhere, as in any library that does not promise more. */
#ifndef DRV_CANCEL_H
#define DRV_CANCEL_H

#include <pthread.h>

static inline int drv_cancel_hold(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}
static inline void drv_cancel_restore(const int *before)
{
	pthread_setcancelstate(*before, NULL);
}
/* A declaration that holds cancellation to the end of its block. */
#define DRV_HOLD_CANCEL int cancel_before_ __attribute__((cleanup(drv_cancel_restore), unused)) = drv_cancel_hold()

#endif
