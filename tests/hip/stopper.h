/* Stops a thread inside a call while another thread destroys what the call uses.
 *
 *   stopper_kind  the object of a round, the calls that use it, and its end
 *
 * In a round a thread makes calls in a loop until a signal stops it, wherever it is; a second thread destroys the object; then the
 * first continues. Freed memory is overwritten (M_PERTURB), so that a thread that reads it fails. */
#ifndef TESTS_HIP_STOPPER_H
#define TESTS_HIP_STOPPER_H

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "tests/check.h"

struct stopper_kind {
	void (*create)(void);
	int (*use)(void);      /* gives the number of results that are not defined for a destroyed object */
	void (*destroy)(void); /* destroys the object, and others until its memory would be used again */
	void (*finish)(void);  /* NULL: nothing is left */
};

static const struct stopper_kind *stopper_now;
static _Atomic int stopper_over, stopper_stopped, stopper_go, stopper_destroyed;
/* Rounds in which the object was destroyed while the thread was stopped: the thread had no lock that destroying needs. */
static unsigned stopper_rounds;

static inline void stopper_nap(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static void stopper_stop(int number)
{
	(void)number;
	atomic_store(&stopper_stopped, 1);
	while (!atomic_load(&stopper_go))
		stopper_nap(50);
}

static inline void stopper_init(void)
{
	struct sigaction action = {.sa_handler = stopper_stop};

	mallopt(M_PERTURB, 0x5a);
	sigaction(SIGUSR1, &action, NULL);
}

static inline void *stopper_use(void *unused)
{
	int refused = 0;

	while (!atomic_load(&stopper_over))
		refused += stopper_now->use();
	CHECK_EQ(refused, 0);
	return unused;
}

static inline void *stopper_destroy(void *unused)
{
	stopper_now->destroy();
	atomic_store(&stopper_destroyed, 1);
	return unused;
}

static inline void stopper_round(const struct stopper_kind *kind, long delay_us)
{
	pthread_t user, destroyer;

	stopper_now = kind;
	atomic_store(&stopper_over, 0);
	atomic_store(&stopper_stopped, 0);
	atomic_store(&stopper_go, 0);
	atomic_store(&stopper_destroyed, 0);
	kind->create();
	CHECK_EQ(pthread_create(&user, NULL, stopper_use, NULL), 0);
	stopper_nap(delay_us);
	pthread_kill(user, SIGUSR1);
	while (!atomic_load(&stopper_stopped))
		stopper_nap(10);
	CHECK_EQ(pthread_create(&destroyer, NULL, stopper_destroy, NULL), 0);
	/* The destroyer waits as long as the stopped thread has a lock that it needs. */
	for (int i = 0; i < 40 && !atomic_load(&stopper_destroyed); i++)
		stopper_nap(500);
	stopper_rounds += (unsigned)atomic_load(&stopper_destroyed);
	atomic_store(&stopper_over, 1);
	atomic_store(&stopper_go, 1);
	pthread_join(user, NULL);
	pthread_join(destroyer, NULL);
	if (kind->finish)
		kind->finish();
}

#endif
