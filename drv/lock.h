/* A lock for hot paths: taking it free is one locked instruction, giving it back when nobody sleeps a store, and
 * neither is a call. After Drepper, "Futexes Are Tricky", mutex 2, but for the store: it may write over the mark of
 * a sleeper that comes at that instant, which then finds the lock free when its nap is over (lock.c). Giving it
 * back orders no later load: code that looks for something afterwards needs a fence of its own. Not recursive, not
 * shared between processes. All zero: free. */
#ifndef DRV_LOCK_H
#define DRV_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct drv_lock {
	_Atomic uint32_t state; /* 0: free; 1: taken; 2: taken, and somebody may sleep */
};

void drv_lock_wait(struct drv_lock *lock);
void drv_lock_wake(struct drv_lock *lock);

/* False: somebody has it. */
static inline bool drv_lock_try(struct drv_lock *lock)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_acquire,
						       memory_order_relaxed);
}

static inline void drv_lock(struct drv_lock *lock)
{
	if (__builtin_expect(!drv_lock_try(lock), 0))
		drv_lock_wait(lock);
}

/* True: somebody may sleep, and drv_lock_wake() is to follow. Nothing is read behind the store: the next holder may
 * free the lock. */
static inline bool drv_lock_release(struct drv_lock *lock)
{
	bool sleepers = atomic_load_explicit(&lock->state, memory_order_relaxed) == 2;

	atomic_store_explicit(&lock->state, 0, memory_order_release);
	return __builtin_expect(sleepers, 0);
}

static inline void drv_unlock(struct drv_lock *lock)
{
	if (drv_lock_release(lock))
		drv_lock_wake(lock);
}

/* Whether somebody has it. What the last holder wrote is seen when not. */
static inline int drv_lock_taken(const struct drv_lock *lock)
{
	return atomic_load_explicit(&lock->state, memory_order_acquire) != 0;
}

/* Sleeps while *word is `seen`, ns at most (UINT64_MAX: for ever), or less: the caller looks again. */
void drv_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns);
/* Wakes all who sleep on it. */
void drv_futex_wake(_Atomic uint32_t *word);

#endif
