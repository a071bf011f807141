/* Cancellation of threads (pthread_cancel(3)).
 *
 * No public function is a cancellation point. Many call functions of libc that are, and a thread that ended in one of them would
 * leave locks that nobody gives back, descriptors, and objects that are half made. A public function that may call such a function
 * holds cancellation: a thread that is canceled meanwhile goes on to the function's end, and ends at its next cancellation point.
 * Functions of hot paths do not hold it. They call none but by drv_log() and drv_pause(), which hold it themselves.
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
