/* Virtual memory management (hsa_amd_vmem_*): addresses and memory are separate objects. Declarations that vmm.c,
 * vmm_handle.c and attach.c share.
 *
 *   rt_vmem         memory without an address, named by a handle of rt_handles
 *   rt_reservation  addresses without memory, on all GPUs and the host
 *   rt_mapping      memory mapped in a part of a reservation, with the access of each agent. An attached import
 *                   (IPC, interop) is a mapping with a reservation of its own
 *
 * rt_vmm owns them all. rt_vmm.lock guards all of it, and is held over ioctls; look-ups of addresses use va_regions
 * and do not take it. */
#ifndef HSA_VMM_H
#define HSA_VMM_H

#include <sys/queue.h>

#include "drv/lock.h"
#include "hsa/memory/memory.h"
#include "hsa/core/table.h"

/* Lives while a handle or a mapping references it; guarded by the lock. */
struct rt_vmem {
	const struct rt_pool *pool; /* borrowed */
	hsa_amd_memory_type_t type;
	uint64_t size_B;
	unsigned home;                 /* index of the GPU whose BO it is */
	struct vm_bo *bo[RT_GPUS_MAX]; /* references: the memory's BO, and imports on other GPUs */
	unsigned refs, mapped;         /* references by the client's handles, and by mappings */
	uint64_t handle; /* in rt_handles; valid also while refs is 0 and mappings exist, so that it can be retained
			    again */
	LIST_ENTRY(rt_vmem) in_vmm;
};

struct rt_vmm {
	struct drv_mutex lock;
	struct vm_tree reservations, mappings; /* created by hsa_amd_vmem_* */
	struct vm_tree attached; /* mappings of imports from other interfaces, each with a reservation of its own */
	LIST_HEAD(, rt_vmem) memory; /* owned */
};

struct rt_reservation {
	struct rt_deferred_free deferred; /* used when it is freed */
	struct vm_node at;                /* in rt_vmm.reservations */
	struct rt_va_region region;
	struct vm_range range[RT_GPUS_MAX]; /* owned; [0] reserves the host's addresses, the others adopt them */
	unsigned ranges, mapped;            /* mapped: number of mappings in it */
};

struct rt_mapping {
	struct vm_node at; /* in rt_vmm.mappings or rt_vmm.attached */
	struct rt_va_region region;
	struct rt_reservation *in; /* borrowed: outlives its mappings */
	struct rt_vmem *vmem;      /* referenced through its `mapped` */
	uint64_t offset_B;         /* the mapping's first byte, as an offset in the memory */
	bool bound[RT_GPUS_MAX];
	bool uncached;
	hsa_access_permission_t gpu[RT_GPUS_MAX], cpu;
};

/* vmm_handle.c; lock held */
/* Imports the memory of a dma-buf; the caller gets one of its `refs`. */
DRV_MUST_CHECK int rt_vmem_import(struct rt *rt, int fd, struct rt_vmem **vmem);
struct rt_vmem *rt_vmem_of(hsa_amd_vmem_alloc_handle_t handle);
/* The memory's BO on GPU i, imported on demand. */
DRV_MUST_CHECK int rt_vmem_bo(struct rt *rt, struct rt_vmem *vmem, unsigned i, struct vm_bo **bo);
/* Frees the memory if nothing references it. */
void rt_vmem_drop(struct rt_vmem *vmem);

/* vmm.c; lock held, except for reservations that are in no tree yet, which are the caller's */
DRV_MUST_CHECK int rt_reservation_create(struct rt *rt, const struct vm_range_request *want,
					 struct rt_reservation **reservation);
void rt_reservation_free(struct rt_reservation *reservation);
/* Creates a mapping of the memory from offset_B on in a part of a reservation, without access. NULL: no host
 * memory. */
struct rt_mapping *rt_mapping_create(struct rt_reservation *in, uint64_t va, uint64_t size_B, struct rt_vmem *vmem,
				     uint64_t offset_B);
/* The mapping that begins at the address, or NULL. */
struct rt_mapping *rt_mapping_at(const struct rt_vmm *vmm, uint64_t address);
/* Set the host's, or GPU i's, access to that of the mapping. */
DRV_MUST_CHECK int rt_mapping_set_host_access(struct rt_mapping *m);
DRV_MUST_CHECK int rt_mapping_set_gpu_access(struct rt *rt, struct rt_mapping *m, unsigned i);
DRV_MUST_CHECK int rt_mapping_unbind(struct rt *rt, struct rt_mapping *m);
/* Insert the mapping into the tree and va_regions; remove it, after rt_mapping_unbind(), and free it. */
void rt_mapping_insert(struct rt *rt, struct vm_tree *tree, struct rt_mapping *m);
void rt_mapping_remove(struct rt *rt, struct vm_tree *tree, struct rt_mapping *m);
/* Copies the mapping's access to its region, for look-ups by address. */
void rt_mapping_update(struct rt *rt, struct rt_mapping *m);

/* attach.c */
/* Detaches all imports that clients left. */
void rt_attached_fini(struct rt *rt);

#endif
