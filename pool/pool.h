/* pool/: memory in blocks, for all devices of a process. This header is the room's interface.
 *
 *   pool_space  the vms that share one address space. Finds blocks by address, and keeps freed blocks until no
 *               job can access them
 *   pool        memory of one placement (VRAM, GTT, host) with one set of properties
 *   pool_block  an allocation: whole pages, a piece of a slab or a BO of its own. Owned by the caller of
 *               pool_alloc() until it is freed
 *
 * Blocks up to POOL_PIECE_MAX_B come from slabs of POOL_SLAB_B, each cut in pieces of one size class; such an
 * allocation makes no ioctl while a slab has room. Larger blocks get a BO. From 2 MiB on its address is a multiple
 * of 2 MiB, so that the TLB can use large pages.
 *
 * Freeing takes fences: until they are retired, the block is neither reused nor unmapped. Only these wait for them:
 * pool_trim() with a wait, an allocation that finds no memory (POOL_RECLAIM_NS at most), pool_destroy(), and
 * pool_free() without host memory to store the fences.
 *
 * Locks: pool/internal.h has them and their order. Callers need none.
 * Thread rule: all functions are thread safe; a block is freed once, and not used after that.
 * Errors: -errno with a record. -ENODEV in a child that inherited the object over fork. */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "cs/cs.h"

#define POOL_VMS_MAX     32
#define POOL_PAGE_B      4096u
#define POOL_SLAB_B      (2u << 20)
#define POOL_PIECE_MAX_B (256u << 10)
/* Size limit of chunks that are always valid (VM_RESIDENT) where no other vm can be given access to them: an eighth
 * of the device's memory, and 64 MiB at least. A submission costs some 2 us for each BO that it lists instead; with
 * this limit few are listed, whatever a program allocates. An export moves the block to a new BO, and needs as much
 * memory once more meanwhile: hence the limit. */
uint64_t pool_resident_max_B(const struct vm *vm);
/* Timeout for freed blocks when an allocation finds no memory: as long as cs_submit() waits for memory. */
#define POOL_RECLAIM_NS 1000000000ll

struct pool;
struct pool_chunk;
struct pool_space;

/* Creates a space of vms that share addresses (vm_create_beside()). The vms are borrowed until
 * pool_space_destroy(). 1 <= vms <= POOL_VMS_MAX. */
DRV_MUST_CHECK int pool_space_create(struct vm *const *vm, unsigned vms, struct pool_space **space);
/* Frees the space, which must have no pools left. Accepts NULL. */
void pool_space_destroy(struct pool_space *space);
/* Callbacks about the jobs of the vms; `vm` is an index into the space. The caller holds no lock of pool/, but
 * holds the locks that its pool_free() was called with. */
struct pool_watch {
	/* True when no other vm will ever get access to this vm's VRAM. Stays true once it was. */
	bool (*alone)(void *user, unsigned vm);
	/* True while a job may be running or is being submitted. */
	bool (*busy)(void *user, unsigned vm);
	/* Returns when the running jobs can access everything that is mapped, or after a timeout. */
	void (*pt_sync)(void *user, unsigned vm);
	void *user; /* borrowed until pool_space_destroy() */
};
/* Sets the callbacks; call it before creating pools. Without callbacks no vm counts as busy, and a vm is alone if
 * it is the only one of the space. */
void pool_space_watch(struct pool_space *space, const struct pool_watch *watch);
/* Waits for the ring's work and removes its fences from all deferrals. Call it before a ring is destroyed;
 * pool_free() must not get a fence of the ring afterwards. */
void pool_space_forget_ring(struct pool_space *space, struct cs_ring *ring);

/* --- pools ------------------------------------------------------------------------------------ */

enum pool_placement {
	POOL_VRAM,
	POOL_GTT,  /* system memory, placed by the kernel */
	POOL_HOST, /* host memory, with a BO of its own in each vm; cannot be exported */
};

struct pool_info {
	enum pool_placement placement;
	unsigned vm;      /* the vm whose VRAM is used, or which owns the BO */
	int node;         /* POOL_HOST: the NUMA node, or VM_ANY_NODE */
	unsigned flags;   /* VM_CPU, VM_EXEC, VM_UNCACHED, VM_STRICT */
	uint32_t seen_by; /* bit i: vm i has access to all blocks from the start; `vm` always has */
	void *owner;      /* the user's own; pool_find() returns it through the pool */
};

struct pool_stats {
	uint64_t used_B, used_peak_B;         /* size of blocks that are not freed */
	uint64_t reserved_B, reserved_peak_B; /* allocated from the kernel */
	uint64_t freed_B;                     /* freed, fences not retired yet */
	uint64_t blocks, chunks;              /* existing; chunks: slabs and large blocks */
	uint64_t allocs, hits;                /* total; hits: allocations without an ioctl */
};

DRV_MUST_CHECK int pool_create(struct pool_space *space, const struct pool_info *info, struct pool **pool);
/* Frees the pool and all its blocks. Waits until freed blocks are retired. Accepts NULL. */
void pool_destroy(struct pool *pool);
const struct pool_info *pool_info(const struct pool *pool);
void pool_stats(struct pool *pool, struct pool_stats *stats);
/* Releases freed blocks of the space whose fences are retired, and waits up to wait_ns for the others; then
 * releases empty slabs of the pool, until the pool has at most keep_B of the kernel. */
void pool_trim(struct pool *pool, uint64_t keep_B, int64_t wait_ns);

/* --- blocks ----------------------------------------------------------------------------------- */

struct pool_block {
	struct pool_chunk *chunk; /* borrowed: outlives the block */
	uint64_t va;
	uint64_t size_B;         /* the requested size, rounded up to whole pages */
	void *map;               /* see vm_mem */
	void *owner;             /* the user's own; NULL at first */
	struct vm_bo *own;       /* a reference: the BO of a piece that was exported; NULL otherwise */
	struct pool_block *next; /* internal: a list of blocks to release */
	uint32_t seen_by;        /* mask of vms that may access it; guarded by the space's lock */
	uint32_t state;          /* internal: enum pool_state; guarded by the space's lock */
};

/* Allocates a block with undefined content. -EINVAL: size 0, or beyond all addresses; -ENOMEM. */
DRV_MUST_CHECK int pool_alloc(struct pool *pool, uint64_t size_B, struct pool_block **block);
/* Frees the block once all fences are retired; `fences` is read during the call only. Waits for the fences if there
 * is no host memory to store them. */
void pool_free(struct pool_block *block, const struct cs_fence *fences, unsigned count);
/* Claims the block that begins at va, for a caller that frees by address: pool_find() does not find it any more,
 * and the caller passes it to pool_free(). -ENOENT: no block begins there, or another thread claimed it. */
DRV_MUST_CHECK int pool_claim(struct pool_space *space, uint64_t va, struct pool_block **block);

/* A block's properties at the time of the call. */
struct pool_found {
	struct pool *pool;
	struct pool_block *block; /* borrowed; the caller keeps it alive */
	uint64_t va, size_B;
	void *map;
	uint32_t seen_by;
	void *owner;
};
/* Finds the block that contains an address; false: none. O(log n), no ioctl, and no lock that is held over one. */
bool pool_find(struct pool_space *space, uint64_t address, struct pool_found *found);

/* Sets the vms that may access the block to `vms` and those of the pool. A vm that loses access is unmapped if no
 * other block of the chunk needs the mapping and `fences`, the ends of its work, are retired; else it keeps the
 * mapping until the memory is freed. Errors as for vm_mem_share(); nothing has changed then. */
DRV_MUST_CHECK int pool_allow(struct pool_block *block, uint32_t vms, const struct cs_fence *fences,
			      unsigned count);

/* Copies size_B bytes between GPU addresses and returns when the copy is complete: 0 or -errno. */
typedef int pool_copy_fn(void *arg, uint64_t dst, uint64_t src, uint64_t size_B);

/* Exports a dma-buf of this block alone: a piece of a slab, and a block that is always valid, moves to a BO of its
 * own at the same address. No one may access such a block meanwhile. copy may be NULL when the CPU maps the block.
 * -EPERM: POOL_HOST. On failure the block keeps its BO and content. */
DRV_MUST_CHECK int pool_export(struct pool_block *block, pool_copy_fn *copy, void *arg, int *fd);
/* Does the same, but returns a reference to the BO, for an export at a later time. */
DRV_MUST_CHECK int pool_export_bo(struct pool_block *block, pool_copy_fn *copy, void *arg, struct vm_bo **bo);
/* True when an export would move the block to another BO. */
bool pool_export_moves(struct pool_block *block);

#endif
