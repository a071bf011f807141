/* Locks of the virtual GPU and their ranks: a thread that has a lock may wait for locks of higher ranks only. Debug and
 * sanitizer builds assert it; other builds only count the locks. The driver has ranks of its own (drv/rank.h): the two
 * share no code. */
#ifndef VGPU_RANK_H
#define VGPU_RANK_H

#include <pthread.h>
#include <stdbool.h>

#define VGPU_RANKS(RANK)                                                                                           \
	RANK(MAPS)       /* shim/: mappings of the process */                                                      \
	RANK(CACHE_USE)  /* memory/: users of a cache's pages, and their write-back; a wave that faults has it */  \
	RANK(KERNEL)     /* kernel/: the run's state, shared by its processes */                                   \
	RANK(DEVICE)     /* engine/: a device's workers and grids */                                               \
	RANK(RING)       /* engine/: what runs on a ring */                                                        \
	RANK(REASON)     /* engine/: why a run ends */                                                             \
	RANK(CACHE_FILL) /* memory/: new pages and lines of a cache */                                             \
	RANK(ORDER)      /* memory/: clocks and shadows of the order check */                                      \
	RANK(GWS)        /* isa/: global wave sync; waves run with CACHE_USE */

enum vgpu_rank {
#define RANK(name) VGPU_RANK_##name,
	VGPU_RANKS(RANK)
#undef RANK
};

/* How many locks the thread has. */
extern _Thread_local unsigned vgpu_locks;

/* True inside the virtual GPU's own code: what calls libc there is its allocations, or a signal's handler. */
static inline bool vgpu_has_locks(void)
{
	return vgpu_locks;
}

#ifdef TUFF_DEBUG
/* The calling thread takes or gives back a lock. Ends the process when it waits for a lock against the order. */
void vgpu_rank_take(enum vgpu_rank rank);
void vgpu_rank_give(enum vgpu_rank rank);
#else
static inline void vgpu_rank_take(enum vgpu_rank rank)
{
	(void)rank;
	vgpu_locks++;
}
static inline void vgpu_rank_give(enum vgpu_rank rank)
{
	(void)rank;
	vgpu_locks--;
}
#endif

static inline void vgpu_lock(pthread_mutex_t *lock, enum vgpu_rank rank)
{
	vgpu_rank_take(rank);
	pthread_mutex_lock(lock);
}

static inline void vgpu_unlock(pthread_mutex_t *lock, enum vgpu_rank rank)
{
	pthread_mutex_unlock(lock);
	vgpu_rank_give(rank);
}

#endif
