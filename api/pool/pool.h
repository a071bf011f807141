/* Stream-ordered memory pools (docs/pools.md).
 *
 *   arena  a pool's range of addresses, in which physical memory is mapped and unmapped
 *   chunk  a piece of physical memory in the arena; chunks lie side by side, and blocks may span several
 *   block  a range of the arena that has memory: free, in a cache, or used by the program
 *   cache  blocks freed on one stream, by size: allocated again without a search
 *   tag    the stream that freed a block, and the operation and free after which others may use the block
 *
 * Who may reuse a block with tag (stream, n): the work of that stream; work that is ordered behind n by events
 * (policy); any work, if the host has waited for n, or if the GPU has passed it (policy); or, when memory is short,
 * work that is made to wait for n (policy).
 *
 * A block goes from the program to a cache while the cache is locked, or to the arena while the pool is locked, and back in the
 * same way: a thread that has the locks of a pool and of all its caches finds every block in one of the three places.
 *
 * A pool ends when it is destroyed and has no memory left: it leaves the list, and is retired. A thread that found it before finds
 * no memory in it, and gets none.
 *
 * Locks, outermost first: pool.c's list, pool_cache.c's `joining`, a pool's access_lock, a pool's lock, a cache's,
 * frontier.c's. No lock that a hit needs is held while chunks are mapped or unmapped.
 */
#ifndef API_POOL_H
#define API_POOL_H

#include <sys/queue.h>

#include "drv/lock.h"
#include "api/stream/frontier.h"

#define HIP_POOL_QUANTUM 512u
#define HIP_POOL_CHUNK_B (2u << 20)
#define HIP_POOL_CLASSES 40 /* size classes up to 1 MiB, four to each power of two */
#define HIP_POOL_DEPTH   8  /* blocks of a class that a cache keeps */
#define HIP_POOL_LARGE   8  /* larger blocks that a cache keeps */
#define HIP_POOL_BINS    160

/* TAKEN: used by the program, or in a cache. */
enum hip_block_state { HIP_BLOCK_FREE, HIP_BLOCK_TAKEN, HIP_BLOCK_COMING };

struct hip_block {
	struct vm_node node;        /* in the pool's blocks */
	enum hip_block_state state; /* guarded by the pool's lock */
	/* The address plus the size class (HIP_POOL_CLASSES: the size is no class's) while the program uses the block;
	 * else less than HIP_POOL_QUANTUM. The thread that takes the address away has the block. A thread that frees an
	 * address finds the block through the table, without a lock: another thread may have freed it since, and the block
	 * may be used at another address. */
	_Atomic uint64_t used;
	_Atomic size_t requested_B;   /* bytes requested, of a used block; valid when `used` was loaded */
	LIST_ENTRY(hip_block) in_bin; /* while free */
	struct hip_block *next;       /* in the pool's spare blocks */
	/* The stream of the tag; NULL: nothing uses the memory. Free: a reference; cached: the cache's stream, borrowed; used:
	 * undefined. */
	struct hip_stream *stream;
	/* The tag: operations of the stream that must have ended; which of the stream's frees it was. */
	uint64_t index, frees;
};

static inline bool hip_block_is_used(const struct hip_block *b)
{
	return atomic_load_explicit(&b->used, memory_order_acquire) >= HIP_POOL_QUANTUM;
}

/* Takes the block from the program. False: the program does not have it at that address (a double free). The caller holds the
 * lock of the cache or pool that it puts the block into. */
static inline bool hip_block_take_back(struct hip_block *b, const void *ptr, uint64_t class)
{
	uint64_t used = (uintptr_t)ptr + class;

	return atomic_compare_exchange_strong(&b->used, &used, class);
}

/* A chunk. */
struct hip_chunk_memory {
	struct hip_chunk_memory *next; /* in order of address */
	uint64_t lo, hi;
	hsa_amd_vmem_alloc_handle_t handle; /* owned */
};

/* A stream's part of a pool. Aligned to cache lines: no two streams share one. */
struct hip_cache {
	_Alignas(128) struct drv_lock lock; /* guards the members below */
	struct hip_pool *_Atomic pool;      /* borrowed; NULL: the pool has ended; written under `lock` */
	struct hip_stream *stream;
	struct hip_cache *next;         /* in the stream's list; constant */
	struct hip_cache *next_in_pool; /* guarded by the pool's lock */
	int64_t used_B;                 /* bytes requested on this stream, less those freed on it */
	int64_t quota_B;                /* used_B above this value updates the pool's maximum */
	unsigned count[HIP_POOL_CLASSES], large;
	struct hip_block *block[HIP_POOL_CLASSES][HIP_POOL_DEPTH];
	struct hip_block *large_block[HIP_POOL_LARGE];
	struct drv_retired retired; /* used when the stream is gone */
};

struct hip_pool {
	uint64_t handle;
	struct drv_retired retired; /* used when the pool has ended */
	_Atomic bool dead;          /* destroyed: allocates no more; written under `lock` */
	_Atomic bool ended;         /* gets no caches and imports any more; written under `lock` */
	unsigned visitors;          /* threads that use the pool without a reference; guarded by pool.c's lock */
	bool settling; /* dead, without used memory: freed when it has no chunks and no visitors; guarded by
			      pool.c's lock */
	struct hip_device *device;
	/* Imported: the pool has no arena, and none of the members that follow from one. */
	bool exportable, imported;
	uint64_t key;  /* identifies an exported or imported pool in every process */
	size_t most_B; /* limit of reserved bytes; SIZE_MAX: none */
	_Atomic int follow, opportunistic, internal;
	_Atomic uint64_t threshold_B;
	char *base; /* owned: the arena */
	size_t arena_B;
	/* Owned: used blocks, indexed by the quantum where they begin; sparse. Written under `lock`. */
	struct hip_block *_Atomic *table;
	_Atomic uint64_t reserved_B;
	struct drv_mutex lock; /* guards the members below */
	struct hip_pool *next;
	struct vm_tree blocks;
	LIST_HEAD(, hip_block) bin[HIP_POOL_BINS];
	uint64_t free_B;                 /* bytes of the blocks in the bins */
	uint64_t full_to;                /* below this address the arena has no hole; 0: not known */
	struct hip_chunk_memory *chunks; /* owned */
	/* Owned: chunks that the kernel failed to unmap; their addresses are unusable until a later attempt. */
	struct hip_chunk_memory *stuck;
	uint64_t reserved_high_B, used_high_B;
	int64_t used_by_dead_B; /* used bytes counted by caches that have ended; may be negative */
	uint64_t live;          /* blocks that are used or in caches */
	/* owned. Blocks are kept until the pool is freed, so that a double free reads valid memory. */
	struct hip_block *spare;
	struct hip_cache *caches;
	struct drv_mutex
		access_lock; /* guards changes of access and the publishing of new chunks; outside `lock` */
	_Atomic hipMemAccessFlags access[HIP_DEVICES_MAX];
};

static inline struct hip_pool *hip_pool_of(hipMemPool_t handle)
{
	return hip_find(HIP_POOL, handle);
}

/* --- pool.c ----------------------------------------------------------------------------------- */

/* Pools by the 4 GiB slots of addresses that their arenas occupy: an arena begins and ends at a multiple of 4
 * GiB. */
#define HIP_POOL_SLOT_SHIFT 32
#define HIP_POOL_SLOTS      (1u << (47 - HIP_POOL_SLOT_SHIFT))
extern DRV_OWN struct hip_pool *_Atomic hip_pool_slots[HIP_POOL_SLOTS];
/* The pool whose arena contains the address; NULL: none. */
static inline struct hip_pool *hip_pool_at(const void *address)
{
	uint64_t slot = (uintptr_t)address >> HIP_POOL_SLOT_SHIFT;

	return slot < HIP_POOL_SLOTS ? atomic_load_explicit(&hip_pool_slots[slot], memory_order_acquire) : NULL;
}
/* The current pool, which hipMallocAsync() uses. */
hipError_t hip_pool_current(struct hip_device *device, struct hip_pool **pool);
/* Frees a destroyed pool without used memory, at once or, if the GPU may still use the memory, at a later wait of
 * the host. */
void hip_pool_retire(struct hip_pool *pool);
/* Makes the local object for a pool of another process; it cannot allocate. */
hipError_t hip_pool_import(struct hip_device *device, uint64_t key, struct hip_pool **pool);

/* --- pool_cache.c ----------------------------------------------------------------------------- */

/* Returns all cached blocks to the arena. The caller holds the pool's lock. */
void hip_caches_drain_locked(struct hip_pool *pool);
/* The bytes in use, over all caches; updates the maximum. The caller holds the pool's lock. */
uint64_t hip_pool_used_locked(struct hip_pool *pool);
/* Takes the locks of all the pool's caches, at once: memory that one stream allocated may be freed on another. The caller holds
 * the pool's lock. */
void hip_caches_lock(struct hip_pool *pool);
void hip_caches_unlock(struct hip_pool *pool);
/* Forgets what the caches have and count. The caller holds their locks. */
void hip_caches_clear_locked(struct hip_pool *pool);
/* Adds to the bytes in use: to the cache's part or, if the cache has ended or is NULL, to the pool's. The caller holds the
 * pool's lock. */
void hip_cache_count(struct hip_pool *pool, struct hip_cache *cache, int64_t size_B);
/* Returns the cached blocks of a stream that closes (`closing` is set) to their pools. The pools are not freed
 * meanwhile. */
void hip_caches_close_stream(struct hip_stream *stream);

/* --- pool_share.c ----------------------------------------------------------------------------- */

/* Gives the pool a key, so that it can be exported. */
hipError_t hip_pool_name(struct hip_pool *pool);
/* Imported addresses stay valid when their pool is destroyed. */
void hip_imports_detach(const struct hip_pool *pool);
/* Applies pool->access to everything imported into the pool. */
hipError_t hip_imports_set_access(const struct hip_pool *pool);

/* --- pool_space.c: the arena ------------------------------------------------------------------ */

hipError_t hip_arena_init(struct hip_pool *pool);
/* The caller is the only user of the pool, which has no blocks or chunks. The pool's lock may not be initialised yet. */
void hip_arena_fini(struct hip_pool *pool);
/* Unmaps everything and leaves an empty arena, once no chunk is being mapped. Concurrent look-ups find nothing. */
void hip_arena_empty(struct hip_pool *pool);
/* Allocates memory for the program on the cache's stream. Call it without the pool's lock. */
hipError_t hip_arena_take(struct hip_pool *pool, struct hip_cache *cache, size_t size_B, void **out);
/* Makes a block free, with the tag that it carries. The caller holds the pool's lock. */
void hip_arena_give_locked(struct hip_pool *pool, struct hip_block *block);
/* Unmaps chunks whose users have ended, while more than keep_B bytes are reserved. The host must have waited for
 * the users, or, with `any`, the GPU's counters show their end. */
void hip_arena_trim(struct hip_pool *pool, uint64_t keep_B, bool any);
/* Applies pool->access to all chunks. */
hipError_t hip_arena_set_access(struct hip_pool *pool);
/* Applies pool->access to a range of mapped addresses. */
hipError_t hip_pool_update_access(const struct hip_pool *pool, uint64_t lo, uint64_t size_B);
/* Finds the range of side-by-side chunks that contains the used block at `ptr`, and the bytes that were requested.
 * False: no used block begins there. */
bool hip_arena_around(struct hip_pool *pool, const void *ptr, uint64_t *lo, uint64_t *hi, uint64_t *requested_B);
/* Unmaps and frees all chunks of a list. */
void hip_chunks_unmap(struct hip_chunk_memory *list);

/* The class of a size, and the size of a class: 512-byte steps to 2 KiB, then four classes for each power of
 * two. */
static inline unsigned hip_class_of(size_t size_B)
{
	size_t m = (size_B - 1) / HIP_POOL_QUANTUM;
	unsigned e = ((unsigned)__builtin_clzl(m | 4) ^ 63) - 2; /* exponent; 0 for the first classes */

	return 4 * e + (unsigned)(m >> e);
}
static inline size_t hip_class_size(unsigned class)
{
	unsigned k = class / 4 + 1;

	return class < 4 ? (class + 1) * (size_t)HIP_POOL_QUANTUM
			 : ((size_t)(4 + class % 4 + 1) << (k - 2)) * HIP_POOL_QUANTUM;
}

/* hipFree() of a pool's memory: waits for the device. False: the address is in no pool. */
bool hip_pool_free_now(void *ptr, hipError_t *error);
/* Frees the caches of a stream that is gone. */
void hip_caches_free(struct hip_stream *stream);
/* An allocation failed, in the pool `needy` (NULL: elsewhere): the device's other pools release memory whose users
 * have ended. */
void hip_pools_reclaim(struct hip_device *device, const struct hip_pool *needy);
void hip_pools_reset(struct hip_device *device);

#endif
