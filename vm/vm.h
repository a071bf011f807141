/* vm/: buffer objects and the GPU address space of one device. This is the room's door.
 *
 *   vm        one device's GPU address space in this process; holds the BO list and the accounts
 *   vm_bo     memory: a kernel buffer object. It has no address.
 *   vm_range  addresses: an interval reserved on the CPU and, at the same numbers, on the GPU. It has no memory.
 *   vm_mem    the common case: one BO bound to a range of its own
 *   vm_piece  a small allocation, cut from a vm_mem that it shares with others (a slab), or a vm_mem of its own
 *
 * A pointer is the same number on the CPU and on the GPU: a range is reserved in the host's address space and BOs
 * are bound there for both.
 *
 * Residency. The kernel keeps in place what a submission lists. VM_RESIDENT BOs are always valid and need no list;
 * they can never be exported. All others stand in one kernel BO list, which vm_list() brings up to date: a
 * submission costs O(1), whatever the number of BOs. Every BO is EXPLICIT_SYNC.
 *
 * Nothing here waits for the GPU: whoever frees memory has first seen that no submitted work can reach it.
 *
 * Thread rule: all functions are thread safe, but an object may be destroyed only by its last user.
 * Errors: -errno with a record (drv_error_last). -ENODEV in a child that inherited the object over fork. */
#ifndef VM_VM_H
#define VM_VM_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/drv.h"

enum vm_kind {
	VM_VRAM,   /* device memory */
	VM_GTT,    /* system memory, CPU-cached, snooped by the GPU */
	VM_GTT_WC, /* system memory, write-combined: the CPU only writes it */
	VM_KINDS,
};

enum vm_flags {
	VM_CPU = 1 << 0,      /* the CPU maps it; VRAM then comes from the visible window */
	VM_EXEC = 1 << 1,     /* the GPU may fetch instructions from it */
	VM_UNCACHED = 1 << 2, /* MTYPE_UC: no line of it stays in the GPU's L2. For what CPU and GPU both poll. */
	VM_RESIDENT = 1 << 3, /* always valid, never exported */
};

struct vm_info {
	uint64_t size_B; /* rounded up to a page; not 0 */
	enum vm_kind kind;
	unsigned flags; /* enum vm_flags */
};

struct vm_stats {
	uint64_t bytes[VM_KINDS], peak[VM_KINDS]; /* BO memory by kind, now and at most */
	uint64_t bos, ranges, mappings;           /* alive now */
	uint64_t list_updates;                    /* BO_LIST ioctls so far */
};

struct vm;

struct vm_bo {
	struct vm *vm;       /* borrowed; outlives the BO */
	uint64_t size_B;     /* whole pages */
	uint32_t handle;     /* GEM handle; owned */
	uint32_t list_index; /* place in the BO list, guarded by the vm; VM_UNLISTED when resident */
	enum vm_kind kind;
	unsigned flags;
};
#define VM_UNLISTED UINT32_MAX

struct vm_range {
	struct vm *vm; /* borrowed */
	uint64_t va;   /* GPU and host address; owned: the host reservation */
	uint64_t size_B;
};

struct vm_mem {
	struct vm_bo *bo; /* owned */
	struct vm_range range;
	uint64_t va;
	void *map; /* (void *)va, or NULL when the CPU does not map it */
};

/* A device's address space; dev is borrowed until vm_destroy(). Destroying expects that every object of it is gone.
 */
DRV_MUST_CHECK int vm_create(const struct drv_device *dev, struct vm **vm);
void vm_destroy(struct vm *vm);
const struct drv_device *vm_device(const struct vm *vm);
void vm_stats(struct vm *vm, struct vm_stats *stats);

/* Asks whether the GPU touched memory of this address space that is not there: 0, or -EFAULT with a record that
 * names address and access. One ioctl. The kernel keeps only the last fault and no count: each new one is reported
 * once, and one that is equal to the last, page and access, not at all. Linux 6.9 or newer (DRM 3.55); before it,
 * always 0. */
DRV_MUST_CHECK int vm_check_fault(struct vm *vm);

/* The BO list for the next submission: its kernel handle, 0 when nothing needs listing. One load when nothing
 * changed since the last call, else one ioctl. */
DRV_MUST_CHECK int vm_list(struct vm *vm, uint32_t *handle);

/* Errors: -EINVAL (size 0 or beyond any heap), -ENOMEM. */
DRV_MUST_CHECK int vm_bo_create(struct vm *vm, const struct vm_info *info, struct vm_bo **bo);
void vm_bo_destroy(struct vm_bo *bo);

/* Reserves size_B (whole pages) at a multiple of align_B, a power of two. -ENOMEM: the address space is full. */
DRV_MUST_CHECK int vm_range_reserve(struct vm *vm, uint64_t size_B, uint64_t align_B, struct vm_range *range);
/* Everything bound in the range must have been unbound. */
void vm_range_release(struct vm_range *range);
/* Maps size_B of the BO from bo_offset_B on at range->va + offset_B, for the GPU. All are whole pages. */
DRV_MUST_CHECK int vm_range_bind(struct vm_range *range, uint64_t offset_B, const struct vm_bo *bo,
				 uint64_t bo_offset_B, uint64_t size_B);
void vm_range_unbind(struct vm_range *range, uint64_t offset_B, const struct vm_bo *bo);
/* Maps a whole VM_CPU BO at range->va + offset_B, for the CPU. Undone by vm_range_release(). */
DRV_MUST_CHECK int vm_range_map(struct vm_range *range, uint64_t offset_B, const struct vm_bo *bo);

/* BO, range and bindings in one. -EINVAL, -ENOMEM. */
DRV_MUST_CHECK int vm_mem_create(struct vm *vm, const struct vm_info *info, struct vm_mem **mem);
void vm_mem_destroy(struct vm_mem *mem);

struct vm_slab;
struct vm_piece {
	uint64_t va;          /* aligned to size_B up to VM_PIECE_MAX_B, at least to 256 */
	void *map;            /* as in vm_mem */
	uint64_t size_B;      /* what was granted, >= what was asked for */
	struct vm_slab *slab; /* counted; NULL: mem is owned */
	struct vm_mem *mem;   /* where it lies: the slab's, or its own */
};
#define VM_PIECE_MIN_B 256u
#define VM_PIECE_MAX_B (128u << 10) /* larger requests get a vm_mem of their own */
#define VM_SLAB_B      (2u << 20)

/* Allocates info->size_B from the slabs of that kind and flags. Its content is undefined. */
DRV_MUST_CHECK int vm_piece_alloc(struct vm *vm, const struct vm_info *info, struct vm_piece *piece);
/* Accepts a zeroed piece; zeroes it. */
void vm_piece_free(struct vm_piece *piece);

#endif
