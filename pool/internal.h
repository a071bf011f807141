/* What the files of pool/ share. */
#ifndef POOL_INTERNAL_H
#define POOL_INTERNAL_H

#include <pthread.h>
#include <stddef.h>

#include "pool/pool.h"
#include "vm/tree.h"

/* Lock order: space.share_lock, which is held over ioctls; space.wait_lock, which is held over waits for fences;
 * space.lock, which is held over neither (asking after a fence of a lost context is an ioctl, but does not wait).
 */

#define POOL_CLASSES 12           /* of pieces; slab.c */
#define POOL_WHOLE   POOL_CLASSES /* the class of a block that has its chunk for itself */

enum pool_state {
	POOL_BLOCK_FREE,
	POOL_BLOCK_USED,
	POOL_BLOCK_CLAIMED, /* by who is about to free it */
	POOL_BLOCK_FREED,   /* waits for its fences */
	POOL_BLOCK_LOST,    /* it came back from an export and shows nothing: never used again */
};

/* A BO at an address: a slab, or one block. */
struct pool_chunk {
	struct vm_node node;              /* in space.chunks */
	struct pool *pool;                /* borrowed */
	struct pool_chunk *next, *prev;   /* in pool.partial[], or (next) among those that are about to go */
	struct vm_mem *mem[POOL_VMS_MAX]; /* owned; the pool's own vm's, immutable, has the BO, which an export may
					     change. The others share it. Guarded by share_lock */
	uint16_t needed[POOL_VMS_MAX];    /* blocks that vm i was allowed besides those that the pool names */
	unsigned size_class, blocks;      /* immutable */
	unsigned used, lost;
	uint64_t free_bits[POOL_SLAB_B / POOL_PAGE_B / 64]; /* a set bit is a free block */
	struct pool_block block[];
};

struct pool {
	struct pool_space *space; /* borrowed */
	struct pool_info info;    /* immutable; seen_by has `vm` too */
	/* Guarded by space.lock. */
	struct pool_chunk *partial[POOL_CLASSES]; /* slabs with free pieces, doubly linked */
	struct pool_stats stats;
};

/* A freed block and what it waits for. */
struct pool_deferral {
	struct pool_deferral *next;
	struct pool_block *block;
	unsigned count;
	struct cs_fence fence[];
};

struct pool_space {
	struct vm *vm[POOL_VMS_MAX]; /* borrowed */
	unsigned vms;
	struct pool_watch watch; /* immutable once there are pools; NULL functions: nothing runs */
	pthread_mutex_t share_lock;
	pthread_mutex_t wait_lock; /* held while somebody waits for a fence of a deferral: its ring lives */
	pthread_mutex_t lock;      /* guards the rest, and what is said above */
	struct vm_tree chunks;     /* of struct pool_chunk.node */
	unsigned pools;
	struct pool_chunk *cached; /* owned, by next */
	uint64_t cached_B;
	struct pool_deferral *first, **last; /* owned; in order of freeing */
};

/* What was given back under the lock, and must be finished without it. */
struct pool_gone {
	struct pool_chunk *chunk; /* by next: nothing is in them */
	struct pool_block *moved; /* by next: pieces that lie in a BO of their own */
};

static inline struct vm_mem *pool_owner_mem(const struct pool_chunk *chunk)
{
	return chunk->mem[chunk->pool->info.vm];
}

/* slab.c; space.lock held, but for the classes */
unsigned pool_class_of(uint64_t size_B);
uint64_t pool_class_B(unsigned size_class);
/* The chunk can be found and, if it has room, be taken from. */
void pool_chunk_insert(struct pool_chunk *chunk);
void pool_chunk_remove(struct pool_chunk *chunk);
struct pool_block *pool_take(struct pool_chunk *chunk, uint64_t size_B);
/* Puts a block that nobody can touch any more back where it came from. */
void pool_put(struct pool_block *block, struct pool_gone *gone);

/* chunk.c */
/* A chunk of that class (POOL_WHOLE: with one block of size_B) that the pool's vms see. */
DRV_MUST_CHECK int pool_chunk_create(struct pool *pool, unsigned size_class, uint64_t size_B,
				     struct pool_chunk **chunk);
void pool_chunk_destroy(struct pool_chunk *chunk);
/* Shows it to another vm; share_lock held, or the chunk is nobody's yet. */
DRV_MUST_CHECK int pool_chunk_show(struct pool_chunk *chunk, unsigned vm);
/* The vms without a job that has not ended. */
uint32_t pool_idle(const struct pool_space *space);
/* On vms that are not idle chunks had better stay mapped. */
void pool_gone_finish(struct pool_space *space, struct pool_gone *gone, uint32_t idle);

/* chunk_cache.c */
/* Chunks at rest may have so much of the kernel's memory. */
#define POOL_CACHED_MAX_B (256ull << 20)
/* Keeps a chunk that is found no more. False: it must go. */
bool pool_chunk_cache_put(struct pool_chunk *chunk);
/* One that would do, or NULL; it is the caller's. space.lock held. */
struct pool_chunk *pool_chunk_cache_get(struct pool *pool, unsigned size_class, uint64_t size_B);
/* Gives all back that these vms have, of one pool or (NULL) of all. */
void pool_chunk_cache_drop(struct pool_space *space, const struct pool *pool, uint32_t vms);

/* free.c */
/* Looks at `most` deferrals and gives back what is retired; space.lock held. */
void pool_reap(struct pool_space *space, unsigned most, struct pool_gone *gone);
/* Looks at all, until something was given back or nothing is deferred, for wait_ns (CS_FOREVER) at most. True:
 * something was. */
bool pool_reap_all(struct pool_space *space, int64_t wait_ns);

/* export.c; share_lock held */
/* In that vm, the block's addresses show the BO that it moved to. */
DRV_MUST_CHECK int pool_show_moved(struct pool_block *block, unsigned vm);
/* They show the slab again, everywhere. False: nothing. */
bool pool_restore(struct pool_block *block);

#endif
