/* Virtual memory management: addresses and memory apart. What its files share.
 *
 *   rt_vmem         memory without an address; a handle of rt_handles names it
 *   rt_reservation  addresses without memory, on all GPUs and the host
 *   rt_mapping      a part of a reservation through which memory is seen, and by whom; what is attached (IPC,
 * interop) is one of these with a reservation of its own
 *
 * One lock, rt_vmm.lock, guards all of it and is held over ioctls; info look-ups go by va_regions and do not take
 * it. */
#ifndef HSA_VMM_H
#define HSA_VMM_H

#include "hsa/memory/memory.h"
#include "hsa/core/table.h"

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

struct rt_reservation {
	struct rt_deferred_free deferred; /* when it is freed */
	struct vm_node at;                /* rt_vmm.reservations */
	struct rt_va_region region;
	struct vm_range range[RT_GPUS_MAX]; /* owned; [0] has the host's addresses, the others adopt them */
	unsigned ranges, mapped;            /* mapped: mappings in it */
};

struct rt_mapping {
	struct vm_node at; /* rt_vmm.mappings */
	struct rt_va_region region;
	struct rt_reservation *in; /* borrowed: it is freed after its mappings */
	struct rt_vmem *vmem;      /* counted by its `mapped` */
	uint64_t offset_B;         /* of the mapping's first byte in the memory */
	bool bound[RT_GPUS_MAX];
	bool uncached;
	hsa_access_permission_t gpu[RT_GPUS_MAX], cpu;
};

/* vmm_handle.c; lock held */
/* The memory of a dma-buf, with a reference for the caller, `refs`. */
DRV_MUST_CHECK int rt_vmem_import(struct rt *rt, int fd, struct rt_vmem **vmem);
struct rt_vmem *rt_vmem_of(hsa_amd_vmem_alloc_handle_t handle);
/* Its BO for GPU i. */
DRV_MUST_CHECK int rt_vmem_bo(struct rt *rt, struct rt_vmem *vmem, unsigned i, struct vm_bo **bo);
/* Frees it when nobody has it. */
void rt_vmem_drop(struct rt_vmem *vmem);

/* vmm.c; lock held, but for reservations, which are the caller's until they stand in a tree */
DRV_MUST_CHECK int rt_reservation_make(struct rt *rt, const struct vm_range_request *want,
				       struct rt_reservation **reservation);
void rt_reservation_free(struct rt_reservation *reservation);
/* A part of a reservation that is to show memory from offset_B on. NULL: no host memory. */
struct rt_mapping *rt_mapping_make(struct rt_reservation *in, uint64_t va, uint64_t size_B, struct rt_vmem *vmem,
				   uint64_t offset_B);
/* The mapping that has the address; NULL: none. */
struct rt_mapping *rt_mapping_at(const struct rt_vmm *vmm, uint64_t address);
/* Gives the host, or GPU i, the access that the mapping says. */
DRV_MUST_CHECK int rt_mapping_show_host(struct rt_mapping *m);
DRV_MUST_CHECK int rt_mapping_show(struct rt *rt, struct rt_mapping *m, unsigned i);
DRV_MUST_CHECK int rt_mapping_unbind(struct rt *rt, struct rt_mapping *m);
/* It stands in that tree, and is found by address, from enter to forget, which frees it: behind unbind. */
void rt_mapping_enter(struct rt *rt, struct vm_tree *tree, struct rt_mapping *m);
void rt_mapping_forget(struct rt *rt, struct vm_tree *tree, struct rt_mapping *m);
/* Those who look by address hear of its access. */
void rt_mapping_update(struct rt *rt, struct rt_mapping *m);

/* attach.c */
/* Detaches all that clients left. */
void rt_attached_fini(struct rt *rt);

#endif
