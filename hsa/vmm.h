/* Virtual memory management: addresses and memory apart. What its files share.
 *
 *   rt_vmem      memory without an address; a handle of rt_handles names it
 *   reservation  addresses without memory, on all GPUs and the host
 *   mapping      a part of a reservation through which memory is seen, and by whom; what is attached (IPC, interop)
 *                is one of these with a reservation of its own
 *
 * One lock, rt_vmm.lock, guards all of it and is held over ioctls; span look-ups go by areas and do not take it. */
#ifndef HSA_VMM_H
#define HSA_VMM_H

#include "hsa/memory.h"
#include "hsa/table.h"

/* Alive while a handle, or a mapping, has it; guarded by the lock. */
struct rt_vmem {
	const struct rt_pool *pool; /* borrowed */
	hsa_amd_memory_type_t type;
	uint64_t size_B;
	unsigned home;                 /* the GPU whose BO it is */
	struct vm_bo *bo[RT_GPUS_MAX]; /* references: the memory, and imports of it, made when they are needed */
	unsigned refs, mapped;         /* the client's handles; mappings */
	uint64_t handle;               /* of rt_handles; named also when refs is 0, for who retains it */
	struct rt_vmem *next, **link;  /* in rt_vmm.memory */
};

struct rt_vmm {
	pthread_mutex_t lock;
	struct vm_tree reservations, mappings; /* the client's own */
	struct vm_tree attached;               /* mappings of what was imported by other doors, each with its own
						  reservation */
	struct rt_vmem *memory;                /* owned */
};

/* vmm_handle.c; lock held */
/* The memory of a dma-buf, with a reference for the caller, `refs`. */
DRV_MUST_CHECK int rt_vmem_import(struct rt *rt, int fd, struct rt_vmem **vmem);
struct rt_vmem *rt_vmem_of(hsa_amd_vmem_alloc_handle_t handle);
/* Its BO for GPU i. */
DRV_MUST_CHECK int rt_vmem_bo(struct rt *rt, struct rt_vmem *vmem, unsigned i, struct vm_bo **bo);
/* Frees it when nobody has it. */
void rt_vmem_drop(struct rt_vmem *vmem);

#endif
