/* hsa/'s memory: what its files share.
 *
 *   block      of a pool (pool/): what hsa_amd_memory_pool_allocate() gives
 *   rt_area    an interval that is known besides: locked memory, imports, reservations
 *
 * Locks, in order: free_lock, area_lock; then the rooms' below. No client's callback runs under one. */
#ifndef HSA_MEMORY_H
#define HSA_MEMORY_H

#include "hsa/internal.h"
#include "vm/tree.h"

#define RT_PAGE_B 4096u

/* Found by address, until it is taken out. What is not immutable is guarded by area_lock. */
struct rt_area {
	struct vm_node at;   /* memory.areas */
	struct rt_span span; /* immutable */
	uint32_t gpus;       /* bit i: GPU i reaches it */
	void *object;        /* borrowed: what it belongs to */
};

struct rt_memory {
	struct pool_space *space; /* owned */
	/* Held from asking for the ends of queue work until they are handed to pool/: no ring goes meanwhile. */
	pthread_mutex_t free_lock;
	pthread_mutex_t area_lock; /* never held over an ioctl */
	struct vm_tree areas;      /* of struct rt_area.at; guarded by area_lock */
};

/* Bit i for each GPU i. */
static inline uint32_t rt_all_gpus(const struct rt *rt)
{
	return rt->gpus < 32 ? (1u << rt->gpus) - 1 : UINT32_MAX;
}

/* memory.c */
/* The ends of all that the queues of these GPUs (a mask) were given so far, at most RT_POINTS_MAX; free_lock held.
 */
#define RT_POINTS_MAX 1024
unsigned rt_memory_points(struct rt *rt, uint32_t gpus, struct cs_point *points);

/* memory_pool.c */
/* What pools and regions have in common (a pool's attributes). -> INVALID_ARGUMENT: none of it. */
hsa_status_t rt_pool_tell(const struct rt_pool *pool, uint32_t attribute, void *value);
/* The GPUs among the agents, as a mask; the CPU reaches what it reaches. */
hsa_status_t rt_gpus_of(const struct rt *rt, uint32_t count, const hsa_agent_t *agents, uint32_t *gpus);

/* lock.c */
/* Unlocks all that clients left locked. */
void rt_locks_fini(struct rt *rt);

/* span.c */
/* hsa_amd_memory_pool_global_flag_t of a pool. */
uint32_t rt_pool_flags(enum rt_pool_kind kind);
void rt_area_insert(struct rt *rt, struct rt_area *area);
void rt_area_remove(struct rt *rt, struct rt_area *area);
/* The first area that has the address, or NULL; area_lock held. */
struct rt_area *rt_area_find(struct rt *rt, uint64_t address);

#endif
