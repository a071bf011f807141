/* What the files of vm/ share. */
#ifndef VM_INTERNAL_H
#define VM_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include <amdgpu_drm.h>

#include "vm/vm.h"

#define VM_PAGE_B 4096u

/* Lock order: vm.slab_lock, then vm.lock. */

/* Slabs of one kind and one set of flags. */
struct vm_slabs {
	enum vm_kind kind;
	unsigned flags;
	struct vm_slab *partial[10]; /* per size class: slabs with free pieces, doubly linked */
};
#define VM_SLAB_SETS 8

struct vm {
	const struct drv_device *dev; /* borrowed */

	pthread_mutex_t lock;                   /* guards the list */
	struct drm_amdgpu_bo_list_entry *entry; /* owned; the BOs of the list */
	struct vm_bo **listed;                  /* owned; whose entry it is, to mend list_index */
	uint32_t entries, entries_max;
	_Atomic uint32_t list_handle; /* kernel BO list; 0: none made yet */
	_Atomic bool
		list_stale; /* entry changed since the last ioctl; set under the lock, read without (acquire) */

	pthread_mutex_t fault_lock; /* guards the last fault; innermost */
	uint64_t fault_va;          /* the last one that was reported, with its status word */
	uint32_t fault_status;

	pthread_mutex_t slab_lock; /* guards sets and their slabs */
	struct vm_slabs set[VM_SLAB_SETS];
	unsigned sets;

	_Atomic uint64_t bytes[VM_KINDS], peak[VM_KINDS];
	_Atomic uint64_t bos, ranges, mappings, list_updates;
};

DRV_MUST_CHECK int vm_list_add(struct vm *vm, struct vm_bo *bo);
void vm_list_remove(struct vm *vm, struct vm_bo *bo);
void vm_slabs_fini(struct vm *vm);

static inline uint64_t vm_align(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

#endif
