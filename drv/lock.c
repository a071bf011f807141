#include "drv/cancel.h"
#include "drv/lock.h"

#include <sched.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void drv_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
	const struct timespec timeout = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, ns == UINT64_MAX ? NULL : &timeout, NULL, 0);
}

static void wake(_Atomic uint32_t *word, int sleepers)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, sleepers, NULL, NULL, 0);
}

void drv_futex_wake(_Atomic uint32_t *word)
{
	wake(word, INT32_MAX);
}

#define SPINS      100 /* most holders are gone within them */
#define NAP_MIN_NS 50000
#define NAP_MAX_NS 4000000

static bool spin(struct drv_lock *lock)
{
	for (unsigned i = 0; i < SPINS; i++) {
		if (!drv_lock_taken(lock) && drv_lock_take(lock))
			return true;
		__builtin_ia32_pause();
	}
	return false;
}

static uint64_t nap_after_ns(uint64_t nap_ns)
{
	return nap_ns < NAP_MAX_NS / 2 ? 2 * nap_ns : NAP_MAX_NS;
}

void drv_nap(uint64_t ns)
{
	DRV_HOLD_CANCEL;
	const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

void drv_pause(struct drv_pause *pause)
{
	if (pause->turns < SPINS) {
		pause->turns++;
		sched_yield();
		return;
	}
	pause->nap_ns = pause->nap_ns ? nap_after_ns(pause->nap_ns) : NAP_MIN_NS;
	drv_nap(pause->nap_ns);
}

/* The holder may miss the mark and wake nobody: no sleep is without an end. */
void drv_lock_wait(struct drv_lock *lock)
{
	uint64_t nap_ns = NAP_MIN_NS;

	if (spin(lock))
		return;
	while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire)) {
		drv_futex_wait(&lock->state, 2, nap_ns);
		nap_ns = nap_after_ns(nap_ns);
	}
}

void drv_lock_wake(struct drv_lock *lock)
{
	wake(&lock->state, 1);
}
