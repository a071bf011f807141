/* Locks. Each has a rank (drv/rank.h), which debug builds assert.
 *
 *   drv_lock    for hot paths: an uncontended lock is one locked instruction, an unlock without sleepers a store, and
 *               neither is a call. Not recursive, not shared between processes. All zero: free, without a rank.
 *   drv_mutex   for all else: a pthread mutex
 *   drv_rwlock  a pthread read-write lock
 *   drv_pause   for loops that wait for another thread without a lock or futex
 *
 * drv_lock follows Drepper, "Futexes Are Tricky", mutex 2, except for the store: it may overwrite the mark that a
 * sleeper writes at the same instant; that sleeper finds the lock free when its nap ends (lock.c). An unlock orders no
 * later load: code that polls for something afterwards needs a fence of its own. */
#ifndef DRV_LOCK_H
#define DRV_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "drv/cancel.h"
#include "drv/rank.h"

struct drv_lock {
	_Atomic uint32_t state; /* 0: free; 1: taken; 2: taken, and a thread may sleep */
#ifdef TUFF_DEBUG
	enum drv_rank rank;
#endif
};

static inline void drv_lock_set_rank(struct drv_lock *lock, enum drv_rank rank)
{
#ifdef TUFF_DEBUG
	lock->rank = rank;
#else
	(void)lock, (void)rank;
#endif
}
static inline enum drv_rank drv_lock_rank(const struct drv_lock *lock)
{
#ifdef TUFF_DEBUG
	return lock->rank;
#else
	(void)lock;
	return DRV_RANK_NONE;
#endif
}

void drv_lock_wait(struct drv_lock *lock);
void drv_lock_wake(struct drv_lock *lock);

/* Without the rank. False: another thread holds the lock. */
static inline bool drv_lock_take(struct drv_lock *lock)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_acquire,
						       memory_order_relaxed);
}

/* False: another thread holds the lock. */
static inline bool drv_lock_try(struct drv_lock *lock)
{
	bool taken = drv_lock_take(lock);

	if (taken)
		drv_rank_take(drv_lock_rank(lock), false);
	return taken;
}

static inline void drv_lock(struct drv_lock *lock)
{
	drv_rank_take(drv_lock_rank(lock), true);
	if (__builtin_expect(!drv_lock_take(lock), 0))
		drv_lock_wait(lock);
}

/* True: a thread may sleep, and drv_lock_wake() has to follow. Nothing is read after the store: the next holder may free
 * the lock. */
static inline bool drv_lock_release(struct drv_lock *lock)
{
	bool sleepers = atomic_load_explicit(&lock->state, memory_order_relaxed) == 2;

	drv_rank_give(drv_lock_rank(lock));
	atomic_store_explicit(&lock->state, 0, memory_order_release);
	return __builtin_expect(sleepers, 0);
}

static inline void drv_unlock(struct drv_lock *lock)
{
	if (drv_lock_release(lock))
		drv_lock_wake(lock);
}

/* 0: the lock is free, and what its last holder wrote is visible. */
static inline int drv_lock_taken(const struct drv_lock *lock)
{
	return atomic_load_explicit(&lock->state, memory_order_acquire) != 0;
}

/* --- locks for all else: a pthread mutex with a rank ------------------------------------------- */

struct drv_mutex {
	pthread_mutex_t mutex;
#ifdef TUFF_DEBUG
	enum drv_rank rank;
#endif
};

struct drv_rwlock {
	pthread_rwlock_t lock;
#ifdef TUFF_DEBUG
	enum drv_rank rank;
#endif
};

#ifdef TUFF_DEBUG
#define DRV_MUTEX(rank)  {PTHREAD_MUTEX_INITIALIZER, rank}
#define DRV_RWLOCK(rank) {PTHREAD_RWLOCK_INITIALIZER, rank}
#define DRV_LOCK(rank)   {0, rank}
#define DRV_RANK_OF(l)   ((l)->rank)
#else
#define DRV_MUTEX(rank)  {PTHREAD_MUTEX_INITIALIZER}
#define DRV_RWLOCK(rank) {PTHREAD_RWLOCK_INITIALIZER}
#define DRV_LOCK(rank)   {0}
#define DRV_RANK_OF(l)   ((void)(l), DRV_RANK_NONE)
#endif

static inline void drv_mutex_init(struct drv_mutex *m, enum drv_rank rank)
{
	*m = (struct drv_mutex)DRV_MUTEX(rank);
	(void)rank;
}
static inline void drv_mutex_destroy(struct drv_mutex *m)
{
	pthread_mutex_destroy(&m->mutex);
}
static inline void drv_mutex_lock(struct drv_mutex *m)
{
	drv_rank_take(DRV_RANK_OF(m), true);
	pthread_mutex_lock(&m->mutex);
}
/* False: another thread holds the lock. */
static inline bool drv_mutex_try(struct drv_mutex *m)
{
	bool taken = !pthread_mutex_trylock(&m->mutex);

	if (taken)
		drv_rank_take(DRV_RANK_OF(m), false);
	return taken;
}
static inline void drv_mutex_unlock(struct drv_mutex *m)
{
	drv_rank_give(DRV_RANK_OF(m));
	pthread_mutex_unlock(&m->mutex);
}
/* For _locked functions. */
static inline void drv_mutex_assert(const struct drv_mutex *m)
{
	drv_rank_assert(DRV_RANK_OF(m));
}
static inline int drv_cond_wait(pthread_cond_t *cond, struct drv_mutex *m)
{
	DRV_HOLD_CANCEL;
	return pthread_cond_wait(cond, &m->mutex);
}
static inline int drv_cond_timedwait(pthread_cond_t *cond, struct drv_mutex *m, const struct timespec *until)
{
	DRV_HOLD_CANCEL;
	return pthread_cond_timedwait(cond, &m->mutex, until);
}

static inline void drv_rwlock_init(struct drv_rwlock *l, enum drv_rank rank)
{
	*l = (struct drv_rwlock)DRV_RWLOCK(rank);
	(void)rank;
}
static inline void drv_rwlock_destroy(struct drv_rwlock *l)
{
	pthread_rwlock_destroy(&l->lock);
}
static inline void drv_rwlock_rdlock(struct drv_rwlock *l)
{
	drv_rank_take(DRV_RANK_OF(l), true);
	pthread_rwlock_rdlock(&l->lock);
}
static inline void drv_rwlock_wrlock(struct drv_rwlock *l)
{
	drv_rank_take(DRV_RANK_OF(l), true);
	pthread_rwlock_wrlock(&l->lock);
}
static inline void drv_rwlock_unlock(struct drv_rwlock *l)
{
	drv_rank_give(DRV_RANK_OF(l));
	pthread_rwlock_unlock(&l->lock);
}

/* --- waiting for what has neither lock nor futex ------------------------------------------------ */

struct drv_pause {
	unsigned turns;
	uint64_t nap_ns;
};

/* Between two attempts, zeroed before the first: yields the processor a hundred times, then sleeps, 50 us at first, 4 ms
 * at most. */
void drv_pause(struct drv_pause *pause);
/* Sleeps that long, or until a signal. */
void drv_nap(uint64_t ns);

/* --- futexes ------------------------------------------------------------------------------------ */

/* Sleeps while *word is `seen`, for ns at most (UINT64_MAX: for ever). May return early: the caller reads the word again. */
void drv_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns);
/* Wakes all threads that sleep on the word. */
void drv_futex_wake(_Atomic uint32_t *word);

#endif
