/* Internal interface of pool/: chunks, blocks, deferrals.
 *
 *   pool_chunk     a BO at an address: a slab of equal pieces, or one block. Owned by its pool
 *   pool_deferral  a freed block and the fences it waits for. Owned by the space
 *   pool_gone      chunks and blocks to release after space.lock is unlocked. Owned by the calling function
 *
 * Locks (drv/rank.h has their order): space.share_lock is held over ioctls, space.wait_lock over waits for fences,
 * space.lock over neither (polling a fence of a lost context is an ioctl, but does not wait). */
#ifndef POOL_INTERNAL_H
#define POOL_INTERNAL_H

#include <pthread.h>
#include <stddef.h>
#include <sys/queue.h>

#include "drv/lock.h"
#include "pool/pool.h"
#include "vm/tree.h"

#define POOL_CLASSES 12           /* size classes of pieces; slab.c */
#define POOL_WHOLE   POOL_CLASSES /* the class of a block that has a chunk for itself */

enum pool_state {
	POOL_BLOCK_FREE,
	POOL_BLOCK_USED,
	POOL_BLOCK_CLAIMED, /* claimed for freeing: pool_find() does not return it */
	POOL_BLOCK_FREED,   /* waits for its fences */
	POOL_BLOCK_LOST,    /* freed after an export, and nothing is mapped there: never used again */
};

/* A BO at an address: a slab, or one block. */
struct pool_chunk {
	struct vm_node node; /* in space.chunks */
	struct pool *pool;   /* borrowed */
	LIST_ENTRY(pool_chunk) in_partial;
	struct pool_chunk *next;          /* in pool_gone.chunk or space.cached */
	struct vm_mem *mem[POOL_VMS_MAX]; /* owned; that of pool.info.vm, immutable, has the BO, which an export may
					     change. The others share it. Guarded by share_lock */
	uint16_t needed[POOL_VMS_MAX];    /* blocks that vm i may access besides those of the pool's vms; guarded by
					     space.lock */
	unsigned size_class, blocks;      /* immutable */
	unsigned used, lost;
	bool unlisted; /* host memory that new jobs do not list: it is destroyed when no job runs, and not used again */
	uint64_t free_bits[POOL_SLAB_B / POOL_PAGE_B / 64]; /* a set bit is a free block */
	struct pool_block block[];
};

struct pool {
	struct pool_space *space; /* borrowed */
	struct pool_info info;    /* immutable; seen_by includes `vm` */
	/* Members below: guarded by space.lock. */
	LIST_HEAD(, pool_chunk) partial[POOL_CLASSES]; /* slabs with free pieces */
	struct pool_stats stats;
};

/* A freed block and the fences it waits for; guarded by space.lock. */
struct pool_deferral {
	struct pool_deferral *next;
	struct pool_block *block;
	unsigned count;
	struct cs_fence fence[];
};

struct pool_space {
	struct vm *vm[POOL_VMS_MAX]; /* borrowed */
	unsigned vms;
	struct pool_watch watch; /* immutable once there are pools; NULL functions: no vm is busy */
	struct drv_mutex share_lock;
	struct drv_mutex wait_lock; /* held while a thread waits for a fence of a deferral, so that the fence's ring
				      stays alive */
	struct drv_mutex lock;      /* guards the members below, and those marked so above */
	struct vm_tree chunks;      /* nodes of struct pool_chunk */
	unsigned pools;
	struct pool_chunk *cached; /* owned; list by next (chunk_cache.c) */
	uint64_t cached_B;
	struct pool_deferral *first, **last; /* owned; in order of freeing */
};

/* Lists collected under space.lock, and released without it. */
struct pool_gone {
	struct pool_chunk *chunk; /* list by next; none of their blocks is in use */
	struct pool_block *moved; /* list by next; pieces that have a BO of their own */
};

static inline struct vm_mem *pool_owner_mem(const struct pool_chunk *chunk)
{
	return chunk->mem[chunk->pool->info.vm];
}

/* slab.c; space.lock held, but not for the size classes */
unsigned pool_class_of(uint64_t size_B);
uint64_t pool_class_B(unsigned size_class);
/* Makes the chunk visible to pool_find() and, if it has room, to allocations. */
void pool_chunk_insert(struct pool_chunk *chunk);
void pool_chunk_remove(struct pool_chunk *chunk);
struct pool_block *pool_take(struct pool_chunk *chunk, uint64_t size_B);
/* Returns a block that no job can access to its chunk. */
void pool_put(struct pool_block *block, struct pool_gone *gone);

/* chunk.c */
/* Creates a chunk of that class (POOL_WHOLE: with one block of size_B), and maps it on the pool's vms. */
DRV_MUST_CHECK int pool_chunk_create(struct pool *pool, unsigned size_class, uint64_t size_B,
				     struct pool_chunk **chunk);
void pool_chunk_destroy(struct pool_chunk *chunk);
/* Destroys an empty chunk, or caches it while jobs run that the unmapping would wait for, or that would wait for it, and the cache
 * has room. idle: vms whose jobs do not count; those of host memory are always asked for. */
void pool_chunk_release(struct pool_chunk *chunk, uint32_t idle);
/* Maps the chunk on another vm. The caller holds share_lock, unless no other thread has the chunk yet. */
DRV_MUST_CHECK int pool_chunk_map(struct pool_chunk *chunk, unsigned vm);
/* Mask of the vms without an unfinished job. */
uint32_t pool_idle(const struct pool_space *space);
/* Releases the chunks and blocks. Chunks of vms that are not idle are kept in the chunk cache if possible. */
void pool_gone_finish(struct pool_space *space, struct pool_gone *gone, uint32_t idle);

/* chunk_cache.c */
/* Limit of the memory that cached chunks of a space have, but for host memory. */
#define POOL_CACHED_MAX_B (256ull << 20)
/* Caches a chunk that is no longer in the tree. False: the caller destroys it. */
bool pool_chunk_cache_put(struct pool_chunk *chunk);
/* Takes a fitting chunk out of the cache, or returns NULL; the caller owns it. space.lock held. */
struct pool_chunk *pool_chunk_cache_get(struct pool *pool, unsigned size_class, uint64_t size_B);
/* Destroys the cached chunks of these vms; those of host memory if no job runs. */
void pool_chunk_cache_drop(struct pool_space *space, uint32_t vms);
/* Destroys all cached chunks of a pool that no job uses any more. */
void pool_chunk_cache_end(struct pool *pool);

/* free.c */
/* Checks up to `most` deferrals, and gives back the blocks whose fences are retired; space.lock held. */
void pool_reap(struct pool_space *space, unsigned most, struct pool_gone *gone);
/* Checks all deferrals, until a block was given back or nothing is deferred, for wait_ns (CS_FOREVER) at most.
 * True: a block was given back. */
bool pool_reap_all(struct pool_space *space, int64_t wait_ns);

/* export.c; share_lock held */
/* Maps the BO that the block moved to at the block's address, in that vm. */
DRV_MUST_CHECK int pool_map_moved(struct pool_block *block, unsigned vm);
/* Maps the slab at the block's address again, in all vms. False: nothing is mapped there in some vm. */
bool pool_restore(struct pool_block *block);

#endif
