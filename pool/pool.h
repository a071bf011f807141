/* pool/: memory in blocks, for all devices of a process. This header is the room's interface.
 *
 *   pool_space  the vms that share one address space; finds blocks by address, and keeps what was freed until no
 *               job can touch it any more
 *   pool        memory of one place with one set of properties
 *   pool_block  a piece of it that somebody has: whole pages, cut from a slab, or a BO of its own
 *
 * Blocks up to POOL_PIECE_MAX_B come from slabs of POOL_SLAB_B, each cut in pieces of one size class; such an
 * allocation makes no ioctl while a slab has room. Larger ones get a BO, from 2 MiB on at a multiple of that, so
 * that the TLB can merge it.
 *
 * Freeing names fences: until they are retired, the block is neither handed out nor unmapped. Nothing here waits
 * for them, but pool_trim() if it is told to, an allocation that finds no memory (POOL_RECLAIM_NS at most), and the
 * end.
 *
 * Thread rule: all functions are thread safe; a block is freed once, and not used after that.
 * Errors: -errno with a record. -ENODEV in a child that inherited the object over fork. */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "cs/cs.h"

#define POOL_VMS_MAX     32
#define POOL_PAGE_B      4096u
#define POOL_SLAB_B      (2u << 20)
#define POOL_PIECE_MAX_B (256u << 10)
/* Chunks up to this size are always valid (VM_RESIDENT), where no other vm can be shown them: an eighth of the
 * device's memory, and 64 MiB at least. A submission costs some 2 us for each buffer that is listed instead: those
 * are few then, whatever a program allocates. An export moves what it exports, and needs as much memory once more
 * meanwhile: so there is a limit. */
uint64_t pool_resident_max_B(const struct vm *vm);
/* How long an allocation that finds no memory waits for what was freed: as long as cs_submit() waits for memory. */
#define POOL_RECLAIM_NS 1000000000ll

struct pool;
struct pool_chunk;
struct pool_space;

/* The vms, made beside one another, are borrowed until pool_space_destroy(). 1 <= vms <= POOL_VMS_MAX. */
DRV_MUST_CHECK int pool_space_create(struct vm *const *vm, unsigned vms, struct pool_space **space);
/* Its pools must be gone. Accepts NULL. */
void pool_space_destroy(struct pool_space *space);
/* Who knows what runs on the vms, which are given by their place in the space. Called without the pools' locks, but
 * in those that pool_free() was called in. */
struct pool_watch {
	/* Whether no other vm will ever be shown its VRAM. Once true, always so. */
	bool (*alone)(void *user, unsigned vm);
	/* Whether some job may be running, one that is being submitted as well. */
	bool (*busy)(void *user, unsigned vm);
	/* Returns when such jobs reach what is mapped by now, or when that takes too long. */
	void (*land)(void *user, unsigned vm);
	void *user; /* borrowed until the space goes */
};
/* Before there are pools. Without it nothing runs, and a vm is alone that is the only one. */
void pool_space_watch(struct pool_space *space, const struct pool_watch *watch);
/* Before a ring is destroyed: waits for its work, and forgets what freed memory waits for of it. No fence of it may
 * come to pool_free() afterwards. */
void pool_space_forget_ring(struct pool_space *space, struct cs_ring *ring);

/* --- pools ------------------------------------------------------------------------------------ */

enum pool_placement {
	POOL_VRAM,
	POOL_GTT,  /* system memory, wherever the kernel takes it */
	POOL_HOST, /* host memory, with a BO of its own in each vm; cannot be exported */
};

struct pool_info {
	enum pool_placement home;
	unsigned vm;      /* whose VRAM it is, or whose BO */
	int node;         /* POOL_HOST: the NUMA node, or VM_ANY_NODE */
	unsigned flags;   /* VM_CPU, VM_EXEC, VM_UNCACHED, VM_STRICT */
	uint32_t seen_by; /* bit i: vm i sees all blocks from the start; `vm` always does */
	void *owner;      /* the user's own, for who finds a block */
};

struct pool_stats {
	uint64_t used_B, used_peak_B;         /* what blocks have that are not freed */
	uint64_t reserved_B, reserved_peak_B; /* what the pool has of the kernel */
	uint64_t freed_B;                     /* freed, but not retired yet */
	uint64_t blocks, chunks;              /* alive now; chunks: slabs and large blocks */
	uint64_t allocs, hits;                /* so far; hits: those without an ioctl */
};

DRV_MUST_CHECK int pool_create(struct pool_space *space, const struct pool_info *info, struct pool **pool);
/* Frees what is left, when it is retired: waits. Accepts NULL. */
void pool_destroy(struct pool *pool);
const struct pool_info *pool_info(const struct pool *pool);
void pool_stats(struct pool *pool, struct pool_stats *stats);
/* Gives back blocks of the space that are retired, waiting up to wait_ns for those that are not; then empty slabs
 * of the pool, until it has at most keep_B of the kernel. */
void pool_trim(struct pool *pool, uint64_t keep_B, int64_t wait_ns);

/* --- blocks ----------------------------------------------------------------------------------- */

struct pool_block {
	struct pool_chunk *chunk; /* borrowed: outlives the block */
	uint64_t va;
	uint64_t size_B;         /* what was asked for, in whole pages */
	void *map;               /* as in vm_mem */
	void *owner;             /* the user's own; NULL at first */
	struct vm_bo *own;       /* a reference: where a piece lies since it was exported; NULL otherwise */
	struct pool_block *next; /* the room's own, as it is given back */
	uint32_t seen_by;        /* which vms may use it; guarded by the space, as is: */
	uint32_t state;          /* the room's own */
};

/* Its content is undefined. -EINVAL: size 0, or beyond all addresses; -ENOMEM. */
DRV_MUST_CHECK int pool_alloc(struct pool *pool, uint64_t size_B, struct pool_block **block);
/* Gives it back when all fences are retired; they are read during the call only. Without host memory to remember
 * them by, waits for them. */
void pool_free(struct pool_block *block, const struct cs_fence *fences, unsigned count);
/* Who frees by address: takes the block that begins at va out of others' sight, for pool_free(). -ENOENT: there is
 * none, or somebody took it already. */
DRV_MUST_CHECK int pool_claim(struct pool_space *space, uint64_t va, struct pool_block **block);

/* What is known of a block, as of the call. */
struct pool_found {
	struct pool *pool;
	struct pool_block *block; /* the caller keeps it alive */
	uint64_t va, size_B;
	void *map;
	uint32_t seen_by;
	void *owner;
};
/* The block that has this address; false: none. O(log n), no ioctl, and no lock that is held over one. */
bool pool_find(struct pool_space *space, uint64_t address, struct pool_found *found);

/* Makes these vms, and those that the pool names, the ones that may use the block. Another one that no block near
 * it needs loses the mapping, if `fences`, the ends of its work, are retired; else it keeps it until the memory is
 * freed. Fails as vm_mem_share() does; nothing has changed then. */
DRV_MUST_CHECK int pool_allow(struct pool_block *block, uint32_t vms, const struct cs_fence *fences,
			      unsigned count);

/* Must copy size_B bytes between GPU addresses and return when that is done: 0 or -errno. */
typedef int pool_copy_fn(void *arg, uint64_t dst, uint64_t src, uint64_t size_B);

/* A dma-buf of the block and nothing of other blocks: a piece of a slab, or what is always valid, moves to a BO of
 * its own, at its address. Nobody may use such a block meanwhile; copy may be NULL when the CPU maps it. -EPERM:
 * POOL_HOST. On failure the block is where and what it was. */
DRV_MUST_CHECK int pool_export(struct pool_block *block, pool_copy_fn *copy, void *arg, int *fd);
/* The same, as a reference to the BO that has the block and nothing else: for who exports it later. */
DRV_MUST_CHECK int pool_export_bo(struct pool_block *block, pool_copy_fn *copy, void *arg, struct vm_bo **bo);
/* Whether that moves the block. */
bool pool_export_moves(struct pool_block *block);

#endif
