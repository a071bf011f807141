/* Vector clocks of the order checker (order.h), its queues and edges. Private to it. Call with its lock held. */
#ifndef VGPU_MEMORY_CLOCK_H
#define VGPU_MEMORY_CLOCK_H

#include <pthread.h>

#include "vgpu/memory/order.h"

/* Entities that have jobs at the same time: 11 hardware rings of two jobs each, on 4 devices, are 88. With more of
 * them nothing is checked meanwhile. */
#define MEM_QUEUES 128u

/* Work that has happened before, by queue: packets in the first half, dispatches in the second. Immutable once it
 * has two references. */
struct mem_clock {
	unsigned refs;
	uint32_t at[2 * MEM_QUEUES];
};

extern pthread_mutex_t mem_order_lock;
/* Stops reports until all jobs have ended, because there was no memory for a clock: every order would be unknown.
 */
extern _Atomic bool mem_order_blind;

static inline unsigned mem_clock_index(unsigned slot, bool dispatch)
{
	return slot + (dispatch ? MEM_QUEUES : 0);
}

struct mem_clock *mem_clock_get(struct mem_clock *clock);
void mem_clock_put(struct mem_clock *clock); /* NULL is fine */
/* A copy (NULL: of nothing), with one reference; NULL without memory. */
struct mem_clock *mem_clock_new(const struct mem_clock *from);
/* Whether b covers all work that a covers. */
bool mem_clock_within(const struct mem_clock *a, const struct mem_clock *b);
/* Joins `with` (NULL: nothing) into *to; true if that added anything. Replaces *to if it has other references. */
bool mem_clock_join(struct mem_clock **to, const struct mem_clock *with);
void mem_clock_raise(struct mem_clock **to, unsigned index, uint32_t value);

/* Clock of the work before the actor; borrowed. */
struct mem_clock *mem_actor_clock(const struct mem_actor *actor);
/* The actor acquires clock; true if that added anything. */
bool mem_actor_acquire(struct mem_actor *actor, struct mem_clock *clock);
/* Clock that an actor releases: all work before it, and itself. Counted; NULL without memory. */
struct mem_clock *mem_actor_release(struct mem_actor *actor);
/* Ends the dispatch. */
void mem_actor_retire(struct mem_actor *actor);
/* The next packet's, or dispatch's, number on its queue, from 1. */
uint32_t mem_actor_number(struct mem_order_job *job, bool dispatch);
/* Clock that the packets of a queue last acquired; borrowed. */
struct mem_clock *mem_queue_clock(unsigned slot);

/* The CPU acquires clock. */
void mem_cpu_see(const struct mem_clock *clock);
struct mem_clock *mem_cpu_clock(void); /* borrowed */
extern _Atomic uint64_t mem_cpu_version;

/* Frees all shadows (order.c), or only if their number is at the limit. No thread may be reading one. */
void mem_order_drop_shadows(void);
void mem_order_trim_shadows(void);
/* In a forked child: forgets all shadows without freeing them. */
void mem_order_lose_shadows(void);

#endif
