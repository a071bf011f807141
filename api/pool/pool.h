/* Stream-ordered pools.
 *
 *   arena  addresses of a pool, in which physical memory comes and goes
 *   chunk  a piece of that memory; pieces lie side by side, and blocks may join across them
 *   block  a piece of the arena that has memory: free, kept by a stream, or used
 *   cache  what was freed on one stream, by size: given out again there without looking further
 *   tag    behind which operation of which stream a free block may be used
 *
 * Who may reuse a block with tag (T, n): work of T itself; work that is ordered behind n by events (policy);
 * anybody, if the host waited for n, or if the GPU has passed it (policy); or, when memory runs out, work that is
 * made to wait (policy).
 *
 * Locks, in order: a pool's, a cache's, those of frontier.c. Chunks come and go outside them. */
#ifndef API_POOL_H
#define API_POOL_H

#include "api/stream/frontier.h"

#define HIP_POOL_QUANTUM 512u
#define HIP_POOL_CHUNK_B (2u << 20)
#define HIP_POOL_CLASSES 40 /* up to 1 MiB, four to a doubling */
#define HIP_POOL_DEPTH   8  /* blocks of a class that a cache keeps */
#define HIP_POOL_LARGE   8  /* larger blocks that it keeps */
#define HIP_POOL_BINS    160

enum hip_block_state { HIP_BLOCK_FREE, HIP_BLOCK_CACHED, HIP_BLOCK_USED, HIP_BLOCK_COMING };

struct hip_block {
	struct vm_node node;            /* of the pool's blocks */
	_Atomic unsigned state;         /* enum hip_block_state */
	uint8_t class;                  /* of what has been used: whose size it has; HIP_POOL_CLASSES: none's */
	size_t asked_B;                 /* of a used one */
	struct hip_block *next, **link; /* in a bin, while it is free */
	struct hip_stream *stream; /* the tag; NULL: nobody may still use it. A reference while it is free; of a
				    * used block nothing at all */
	uint64_t index, frees;     /* operations that must have ended; which free of the stream's it was */
};

/* Physical memory. */
struct hip_chunk_memory {
	struct hip_chunk_memory *next; /* in order of address */
	uint64_t lo, hi;
	hsa_amd_vmem_alloc_handle_t handle; /* owned */
};

/* A stream's share of a pool. Of a line of its own: two streams share none. */
struct hip_cache {
	_Alignas(128) struct drv_lock lock; /* guards all below */
	struct hip_pool *_Atomic pool;      /* borrowed; NULL: it has ended */
	struct hip_stream *stream;
	struct hip_cache *next;         /* of the stream's; constant */
	struct hip_cache *next_in_pool; /* guarded by the pool's lock */
	int64_t used_B;                 /* asked for here, less what was freed here */
	int64_t quota_B;                /* above it the maximum has to be looked at */
	unsigned count[HIP_POOL_CLASSES], large;
	struct hip_block *block[HIP_POOL_CLASSES][HIP_POOL_DEPTH];
	struct hip_block *large_block[HIP_POOL_LARGE];
	struct hip_retired retired; /* once the stream is gone */
};

struct hip_pool {
	uint64_t handle;
	_Atomic bool dead; /* destroyed, and its memory is used on; written under lock */
	unsigned visitors; /* who may look at it without having it; guarded by pool.c's lock, as is: */
	bool settling;     /* dead, and nothing of it is live: it goes when it has no memory, and no visitors */
	struct hip_device *device;
	bool exportable, imported; /* imported: without an arena, and all that follows from it */
	uint64_t key;              /* of what is exported, or imported, in every process */
	size_t most_B;             /* reserved at most; SIZE_MAX: no limit */
	_Atomic int follow, opportunistic, internal;
	_Atomic uint64_t threshold_B;
	char *base; /* owned: the arena */
	size_t arena_B;
	struct hip_block **table; /* owned: by quantum, of blocks that begin there and are used; mapped, sparse */
	_Atomic uint64_t reserved_B;
	pthread_mutex_t lock; /* guards all below */
	struct hip_pool *next;
	struct vm_tree blocks;
	struct hip_block *bin[HIP_POOL_BINS];
	uint64_t free_B;  /* of the blocks in the bins */
	uint64_t full_to; /* there is no hole below; 0: from the beginning on there may be */
	struct hip_chunk_memory *chunks,
		*stuck; /* stuck: the kernel would not unmap them; their addresses are nobody's */
	uint64_t reserved_high_B, used_high_B;
	int64_t used_by_dead_B;  /* by no cache that is left; may be negative */
	uint64_t live;           /* blocks that are used or kept by caches */
	struct hip_block *spare; /* owned; never given back, so that one who frees twice reads no other memory */
	struct hip_cache *caches;
	pthread_mutex_t
		access_lock; /* outside lock: guards changes of access, and the telling of what others find */
	_Atomic hipMemAccessFlags access[HIP_DEVICES_MAX];
};

static inline struct hip_pool *hip_pool_of(hipMemPool_t handle)
{
	return hip_find(HIP_POOL, handle);
}

/* --- pool.c ----------------------------------------------------------------------------------- */

/* Pools by the 4 GiB of addresses that their arenas have: an arena begins and ends at a multiple. */
#define HIP_POOL_SLOT_SHIFT 32
#define HIP_POOL_SLOTS      (1u << (47 - HIP_POOL_SLOT_SHIFT))
extern DRV_OWN struct hip_pool *_Atomic hip_pool_slots[HIP_POOL_SLOTS];
/* The pool whose arena has that address; NULL: none. */
static inline struct hip_pool *hip_pool_at(const void *address)
{
	uint64_t slot = (uintptr_t)address >> HIP_POOL_SLOT_SHIFT;

	return slot < HIP_POOL_SLOTS ? atomic_load_explicit(&hip_pool_slots[slot], memory_order_acquire) : NULL;
}
/* That hipMallocAsync() uses. */
hipError_t hip_pool_current(struct hip_device *device, struct hip_pool **pool);
/* It was destroyed, and the program has none of it. What the GPU may still use goes at a later wait of the host's.
 */
void hip_pool_retire(struct hip_pool *pool);
/* A pool of another process, which gives nothing out. */
hipError_t hip_pool_import(struct hip_device *device, uint64_t key, struct hip_pool **pool);

/* --- pool_cache.c ----------------------------------------------------------------------------- */

/* What caches keep becomes free. The pool's lock is held. */
void hip_caches_drain_locked(struct hip_pool *pool);
/* What is used now, by all caches; the maximum follows. The pool's lock is held. */
uint64_t hip_pool_used_locked(struct hip_pool *pool);
/* The stream ends (closing is set): all that its caches keep becomes free. Their pools do not end meanwhile. */
void hip_caches_leave(struct hip_stream *stream);

/* --- pool_share.c ----------------------------------------------------------------------------- */

/* Gives it a key, so that it can be exported. */
hipError_t hip_pool_name(struct hip_pool *pool);
/* Imported addresses live on without their pool. */
void hip_imports_orphan(const struct hip_pool *pool);
/* Has the access of all that was imported into it follow pool->access. */
hipError_t hip_imports_set_access(const struct hip_pool *pool);

/* --- pool_space.c: the arena ------------------------------------------------------------------ */

hipError_t hip_arena_init(struct hip_pool *pool);
/* Nobody else has the pool: its lock may not be there yet, or any more. */
void hip_arena_fini(struct hip_pool *pool);
/* As it was at first: who looks at it meanwhile finds nothing. */
void hip_arena_empty(struct hip_pool *pool);
/* Of a stream's request: a used block of the size, rounded up. The pool's lock is held by neither side. */
hipError_t hip_arena_take(struct hip_pool *pool, struct hip_stream *stream, size_t size_B,
			  struct hip_block **block);
/* Free from now on, with the tag that it carries. The pool's lock is held. */
void hip_arena_give_locked(struct hip_pool *pool, struct hip_block *block);
/* Gives chunks back whose users have ended, as the host knows (or, any: as the GPU says), while more than keep_B
 * are reserved. */
void hip_arena_trim(struct hip_pool *pool, uint64_t keep_B, bool any);
/* Has the access of all chunks follow pool->access. */
hipError_t hip_arena_set_access(struct hip_pool *pool);
/* ... of what is mapped there. */
hipError_t hip_pool_update_access(const struct hip_pool *pool, uint64_t lo, uint64_t size_B);
/* The chunks, side by side, of a used block that begins there, and the size that was asked for. False: there is no
 * such block. */
bool hip_arena_around(struct hip_pool *pool, const void *ptr, uint64_t *lo, uint64_t *hi, uint64_t *asked_B);
/* Unmaps all of a list, and frees it. */
void hip_chunks_unmap(struct hip_chunk_memory *list);

/* Rounded to what a block of it has. */
static inline unsigned hip_class_of(size_t size_B)
{
	size_t m = (size_B - 1) / HIP_POOL_QUANTUM;
	unsigned e =
		((unsigned)__builtin_clzl(m | 4) ^ 63) - 2; /* four classes to a power of two, from the third on */

	return 4 * e + (unsigned)(m >> e);
}
static inline size_t hip_class_size(unsigned class)
{
	unsigned k = class / 4 + 1;

	return class < 4 ? (class + 1) * (size_t)HIP_POOL_QUANTUM
			 : ((size_t)(4 + class % 4 + 1) << (k - 2)) * HIP_POOL_QUANTUM;
}

/* hipFree() of a pool's memory: its users have ended. False: it is none of a pool's. */
bool hip_pool_free_now(void *ptr, hipError_t *error);
/* The stream is gone, and its caches with it. */
void hip_caches_free(struct hip_stream *stream);
/* Somebody, or that pool, needs memory: what the device's (other) pools have, and whose users have ended, goes. */
void hip_pools_help(struct hip_device *device, const struct hip_pool *needy);
void hip_pools_reset(struct hip_device *device);

#endif
