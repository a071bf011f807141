/* hsa/'s memory: what its files share.
 *
 *   block      of a pool (pool/): what hsa_amd_memory_pool_allocate() gives
 *   rt_area    an interval that is known besides: locked memory, imports, reservations
 *   rt_notes   what the client left with a block or an area: a pointer, callbacks
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
	struct vm_tree notes;      /* of struct rt_notes.at (notes.c); guarded by area_lock */
	_Atomic unsigned noted;    /* how many there are */
};

/* Bit i for each GPU i. */
static inline uint32_t rt_all_gpus(const struct rt *rt)
{
	return rt->gpus < 32 ? (1u << rt->gpus) - 1 : UINT32_MAX;
}

/* memory.c */
/* The ends of all that the queues and copiers of these GPUs (a mask) were given so far, at most RT_POINTS_MAX;
 * free_lock held. */
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

/* dmabuf.c */
/* A dma-buf of a block that the caller keeps alive. May wait for the work that uses it. */
DRV_MUST_CHECK int rt_block_export(struct rt *rt, const struct pool_found *found, int *fd);

/* notes.c */
/* What was claimed by who frees it: calls the client's callbacks and forgets what the client left there. */
void rt_notes_end(struct rt *rt, uint64_t base, uint64_t size_B);
/* The pointer that the client left with the memory that begins there. */
void *rt_notes_data(struct rt *rt, uint64_t base);
void rt_notes_fini(struct rt *rt);

/* span.c */
/* As rt_span_find(); area_lock held. */
bool rt_span_find_locked(struct rt *rt, uint64_t address, struct rt_span *span);
/* hsa_amd_memory_pool_global_flag_t of a pool. */
uint32_t rt_pool_flags(enum rt_pool_kind kind);
void rt_area_insert(struct rt *rt, struct rt_area *area);
void rt_area_remove(struct rt *rt, struct rt_area *area);
/* The first area that has the address, or NULL; area_lock held. */
struct rt_area *rt_area_find(struct rt *rt, uint64_t address);

#endif
