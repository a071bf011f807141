/* A child of fork() does not wait for a lock of the program or of its libraries that a thread of its parent held. Every lock that
 * fork() does not take itself is held while it makes the child, and the first attempt of the child to take one of them that it has
 * not made anew ends it.
 *
 * Of the locks in the program's own image: those in the heap belong to objects that a child cannot reach. The program's calls of
 * pthread_mutex_lock() and its kin come here. */
#ifndef TESTS_PAIRS_HELD_H
#define TESTS_PAIRS_HELD_H

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define HELD_LOCKS 256u

struct held_lock {
	void *_Atomic lock;
	bool shared; /* a pthread_rwlock_t */
	bool forks;  /* fork() takes it */
	bool held;   /* by the thread that forks, in its parent and in the child */
};
static struct {
	struct held_lock row[HELD_LOCKS];
	const char *const *call; /* in the child: the function that it calls */
	bool child;
} held;
static _Thread_local bool held_forking;

static int held_try(struct held_lock *row)
{
	return row->shared ? pthread_rwlock_trywrlock(row->lock) : pthread_mutex_trylock(row->lock);
}

static void held_give(struct held_lock *row)
{
	row->held = false;
	if (row->shared)
		pthread_rwlock_unlock(row->lock);
	else
		pthread_mutex_unlock(row->lock);
}

/* A sanitizer has functions of its own by these names. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
/* The lock's row, or NULL: not one of the image. */
static struct held_lock *held_row(void *lock, bool shared)
{
	extern char __executable_start, _end;
	unsigned at = (unsigned)((uintptr_t)lock / 8 % HELD_LOCKS);

	if ((char *)lock < &__executable_start || (char *)lock >= &_end)
		return NULL;
	for (unsigned i = 0; i < HELD_LOCKS; i++) {
		struct held_lock *row = &held.row[(at + i) % HELD_LOCKS];
		void *none = NULL;

		if (atomic_compare_exchange_strong(&row->lock, &none, lock))
			row->shared = shared;
		if (atomic_load(&row->lock) == lock)
			return row;
	}
	abort();
}

/* A thread of the child takes a lock that was held. */
static void held_meets(struct held_lock *row)
{
	void *place[16];

	row->held = false;
	if (!held_try(row)) {
		held_give(row);
		return;
	}
	dprintf(2, "%s waits in a child for a lock of its parent:\n", *held.call);
	backtrace_symbols_fd(place, backtrace(place, 16), 2);
	_exit(1);
}

/* True: the caller, which is fork(), has the lock already. */
static bool held_takes(void *lock, bool shared)
{
	struct held_lock *row = held_row(lock, shared);
	bool had;

	if (!row)
		return false;
	if (held_forking) {
		had = row->held;
		row->held = false;
		row->forks = true;
		return had;
	}
	if (held.child && row->held)
		held_meets(row);
	return false;
}

#define HELD_CALL(type, name, shared)                                                                              \
	int name(type *lock)                                                                                       \
	{                                                                                                          \
		static int (*_Atomic next)(type *);                                                                \
		int (*fn)(type *) = atomic_load(&next);                                                            \
                                                                                                                   \
		if (!fn)                                                                                           \
			atomic_store(&next, fn = (int (*)(type *))dlsym(RTLD_NEXT, #name));                        \
		return held_takes(lock, shared) ? 0 : fn(lock);                                                    \
	}
HELD_CALL(pthread_mutex_t, pthread_mutex_lock, false)
HELD_CALL(pthread_rwlock_t, pthread_rwlock_rdlock, true)
HELD_CALL(pthread_rwlock_t, pthread_rwlock_wrlock, true)
#endif

/* fork(). call: where the child notes what it calls. */
static pid_t held_fork(const char *const *call)
{
	pid_t child;

	held.call = call;
	for (unsigned i = 0; i < HELD_LOCKS; i++)
		held.row[i].held = held.row[i].lock && !held.row[i].forks && !held_try(&held.row[i]);
	held_forking = true;
	child = fork();
	held_forking = false;
	held.child = !child;
	for (unsigned i = 0; i < HELD_LOCKS && child; i++)
		if (held.row[i].held)
			held_give(&held.row[i]);
	return child;
}

#endif
