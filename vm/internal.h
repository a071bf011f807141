/* Internal interface of vm/: the structures behind vm.h, their locks, and the functions that the files share. */
#ifndef VM_INTERNAL_H
#define VM_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/queue.h>

#include <amdgpu_drm.h>

#include "drv/lock.h"
#include "drv/uapi.h"
#include "vm/segments.h"
#include "vm/suballoc.h"
#include "vm/tree.h"
#include "vm/vm.h"

#define VM_PAGE_B 4096u

/* The slabs of one kind and one set of flags. */
struct vm_slabs {
	enum vm_kind kind;
	unsigned flags;                   /* VM_STRICT never among them */
	LIST_HEAD(, vm_slab) partial[10]; /* per size class: slabs with free suballocations */
};
#define VM_SLAB_SETS 16

/* State that vms share when vm_create_shared() made them for one process. Counted. */
struct vm_process {
	_Atomic uint32_t refs;
	struct drv_mutex lock;   /* guards the rest */
	struct vm_tree high;     /* holds struct vm_alias: the high addresses in use */
	uint64_t high_cursor;    /* start of the next search */
	struct vm_tree unforked; /* holds struct mem_box.unforked: page ranges that children do not inherit */
};

#define VM_ACCOUNTS (VM_KINDS + VM_ORIGINS - 1)

struct vm {
	const struct drv_device *dev; /* borrowed */
	struct vm_process *process;   /* counted */

	struct drv_mutex lock;                  /* guards the list */
	struct drm_amdgpu_bo_list_entry *entry; /* owned; the BOs of the list */
	struct vm_bo **listed;                  /* owned; the BO of each entry, whose list_index changes with it */
	uint32_t entries, entries_max;
	uint32_t gws;                 /* owned: GEM handle of global wave sync; 0: not created. Guarded by lock */
	_Atomic uint32_t list_handle; /* kernel BO list; 0: not created */
	_Atomic bool
		list_stale; /* entry changed since the last ioctl; set under the lock, read without (acquire) */

	struct drv_mutex share_lock; /* guards shared, and every BO's last reference */
	struct vm_bo **shared;       /* owned; indexed by GEM handle: BOs that were exported or imported */
	uint32_t shared_max;

	struct drv_mutex map_lock;   /* guards bindings, and keeps them what the kernel has */
	struct vm_segments bindings; /* segments are struct vm_binding */

	struct drv_mutex index_lock; /* guards the changing of mems and users, and the reading of mems */
	struct vm_tree mems;         /* holds struct mem_box.at_va */
	struct drv_mutex user_lock;  /* guards users too (either lock to read it), and mappings at host addresses */
	struct vm_tree users;        /* holds struct mem_box.at_host: whole pages that are registered */
	uint64_t registrations;      /* so far */

	struct drv_mutex strict_lock; /* held from asking whether VRAM has room until it is taken */

	struct drv_mutex fault_lock; /* guards the last fault; innermost */
	uint64_t fault_va;           /* the last fault that was reported, with its status word */
	uint32_t fault_status;

	struct drv_mutex slab_lock; /* guards sets and their slabs */
	struct vm_slabs set[VM_SLAB_SETS];
	unsigned sets;

	struct drv_mutex peer_lock; /* guards peers; held while probing, outermost */
	struct vm_peers *peers;     /* owned; a list */

	uint32_t updates;             /* owned: timeline syncobj of the page tables' updates; 0: none */
	struct drv_mutex update_lock; /* held from choosing a point until the kernel has it */
	_Atomic uint64_t update_last; /* point of the last mapping; written under the lock */
	_Atomic uint64_t update_done; /* the page tables have the mappings up to it */

	_Atomic uint64_t bytes[VM_ACCOUNTS], peak[VM_ACCOUNTS];
	_Atomic uint64_t bos, ranges, mappings, list_updates;
};

/* A vm_mem with its nodes in the indices. */
struct mem_box {
	struct vm_mem mem;
	struct vm_node at_va;    /* in vm.mems: its range */
	struct vm_node at_host;  /* in vm.users: host pages of registered memory */
	struct vm_node unforked; /* in vm_process.unforked: host pages that children do not inherit; empty: none */
	uint64_t sequence;       /* registered memory: order of registration */
	uint64_t host;           /* registered memory: first byte; 0: other memory */
	bool identity;           /* candidate for the mapping at its host address; guarded by user_lock */
};

static inline uint64_t vm_align(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

/* True when [offset_B, offset_B + size_B) is whole pages, not empty, and inside limit_B. */
static inline bool vm_pages_inside(uint64_t offset_B, uint64_t size_B, uint64_t limit_B)
{
	return size_B && !((offset_B | size_B) % VM_PAGE_B) && size_B <= limit_B && offset_B <= limit_B - size_B;
}

/* space.c */
DRV_MUST_CHECK int vm_list_add(struct vm *vm, struct vm_bo *bo);
void vm_list_remove(struct vm *vm, struct vm_bo *bo);
void vm_list_fini(struct vm *vm);

/* bo.c: common steps of creation, registration and import */
void vm_gem_close(struct vm *vm, uint32_t handle);
/* Creates a BO for a handle: listed unless resident, and accounted. On success the BO owns the handle. */
DRV_MUST_CHECK int vm_bo_wrap(struct vm *vm, const struct vm_bo *like, struct vm_bo **bo);

/* share.c: True when a BO was exported or imported, so that an import may find it. */
bool vm_is_shared_locked(const struct vm *vm, const struct vm_bo *bo); /* share_lock held */
bool vm_bo_is_shared(struct vm_bo *bo);

/* bind.c */
/* Runs one GEM_VA ioctl; access without GPU bits is CLEAR. */
DRV_MUST_CHECK int vm_gem_va(struct vm *vm, uint32_t operation, uint64_t va, uint64_t size_B,
			     const struct vm_bo *bo, uint64_t bo_offset_B, unsigned access);
/* update.c */
DRV_MUST_CHECK int vm_updates_init(struct vm *vm);
void vm_updates_fini(struct vm *vm);
/* Runs a GEM_VA that maps, with a point of the timeline if there is one. */
DRV_MUST_CHECK int vm_update_map(struct vm *vm, struct drv_uapi_gem_va *args);

void vm_bindings_init(struct vm *vm);
/* Removes the bindings of the range from the tree without an ioctl. Its BOs are about to be closed: closing unmaps
 * them, after the jobs that use them. */
void vm_range_forget(struct vm_range *range);

/* cpu.c: maps [at, at + size_B) to the BO from bo_offset_B on, or to nothing. */
DRV_MUST_CHECK int vm_cpu_map(const struct vm_bo *bo, uint64_t bo_offset_B, uint64_t size_B, uint64_t at,
			      unsigned access);
void vm_cpu_unmap(uint64_t at, uint64_t size_B);
/* The same in two steps, for replacing a mapping. vm_cpu_view() maps anywhere, where a refusal changes nothing; the
 * second step moves the mapping to its place, and fails when the process has too many mappings. The caller unmaps a
 * view that it does not place. */
DRV_MUST_CHECK int vm_cpu_view(const struct vm_bo *bo, uint64_t bo_offset_B, uint64_t size_B, unsigned access,
			       void **view);
DRV_MUST_CHECK int vm_cpu_place(void *view, uint64_t size_B, uint64_t at);

/* alias.c */
DRV_MUST_CHECK int vm_process_create(struct vm_process **process);
struct vm_process *vm_process_get(struct vm_process *process);
void vm_process_put(struct vm_process *process);
DRV_MUST_CHECK int vm_high_reserve(struct vm *vm, const struct vm_range_request *request, uint64_t *va);
void vm_high_release(struct vm_process *process, uint64_t va);

/* mem.c */
void vm_index_add(struct vm *vm, struct mem_box *box);
void vm_index_remove(struct vm *vm, struct mem_box *box);
static inline struct mem_box *vm_box_of(struct vm_mem *mem)
{
	return vm_container(mem, struct mem_box, mem);
}

/* mem.c: vm_mem_closes() is true when closing the BO frees all of the memory; vm_mem_close() does that, and
 * releases the addresses. */
bool vm_mem_closes(const struct vm_mem *mem);
void vm_mem_close(struct vm_mem *mem);

/* userptr.c */
/* Frees everything but the box. */
void vm_unregister(struct mem_box *box);
/* Handles that the host gave us [lo, hi) for a new range: the program has unmapped what was registered there.
 * Removes the mappings at these host addresses. */
void vm_users_evict(struct vm *vm, uint64_t lo, uint64_t hi);

/* slab.c */
void vm_slabs_fini(struct vm *vm);

/* peer.c */
void vm_peers_fini(struct vm *vm);

#endif
