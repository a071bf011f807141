/* hsa/memory: declarations that its files share.
 *
 *   rt_memory         the root of this folder; owned by rt
 *   block             an allocation of a pool (pool/), as hsa_amd_memory_pool_allocate() returns it; owned by pool/
 *   rt_va_region      a range of addresses that is no block: locked memory, an import, a reservation, a mapping.
 *                     Owned by the object it describes
 *   rt_user_data      data that the client attached to a block or region: a pointer, callbacks. Owned by rt_memory
 *   rt_deferred_free  an object that is freed when no GPU can access it. Owned by rt_memory from rt_defer_free() on
 *   rt_pt_sync        a context and ring for waits for page-table updates, one per GPU. Owned by rt_memory
 *
 * Locks: drv/rank.h has their order. No client's callback runs under one. */
#ifndef HSA_MEMORY_H
#define HSA_MEMORY_H

#include "drv/lock.h"
#include "hsa/core/progress.h"
#include "vm/tree.h"

DRV_MUST_CHECK int rt_memory_init(struct rt *rt);
/* Frees all that clients left allocated. The GPUs must be idle. */
void rt_memory_fini(struct rt *rt);

/* Memory for the runtime itself, which the CPU and all GPUs access at the same address. */
struct rt_shared {
	void *map;
	uint64_t size_B;
	struct vm_mem *mem[RT_GPUS_MAX]; /* owned; [0] has the BO, the others share it */
	unsigned gpus;
};
/* Allocates zeroed memory of kind VM_GTT. flags: VM_UNCACHED, VM_EXEC. */
DRV_MUST_CHECK int rt_shared_create(struct rt *rt, uint64_t size_B, unsigned flags, struct rt_shared *shared);
/* Removes the memory from the BO lists of later submissions; all work that uses it must be submitted. The kernel
 * makes an unmapping of the host's pages wait for every submission that lists them, and every submission wait for
 * the unmapping. */
void rt_shared_unlist(const struct rt_shared *shared);
void rt_shared_destroy(struct rt_shared *shared);

/* The runtime's information about an address. */
struct rt_alloc_info {
	hsa_amd_pointer_type_t type;
	uint64_t base, size_B;          /* the whole allocation, in the address range that contains the address */
	uint64_t host_base, agent_base; /* 0: no access from that side. For locked memory the two may differ. */
	struct rt_agent *owner;         /* borrowed */
	enum sdma_place place;          /* for owner's GPU, or for any GPU if it is system memory */
	uint32_t global_flags;          /* hsa_amd_memory_pool_global_flag_t of the pool */
	bool read_only;                 /* the host may not write it */
	bool block;                     /* a block of a pool, at the same address for all */
	uint32_t seen_by;               /* a block's mask of GPUs with access */
};
/* Finds the allocation that contains an address. False: the address is unknown, and belongs to ordinary memory of
 * the process. O(log n); takes no lock that is held over an ioctl. */
bool rt_alloc_info_find(struct rt *rt, uint64_t address, struct rt_alloc_info *info);
/* True when that GPU can access [address, address + size_B) so: HSA_ACCESS_PERMISSION_RO, _WO, or _RW for any of them;
 * *va is the GPU's address of it. */
bool rt_alloc_info_reach(struct rt *rt, struct rt_gpu *gpu, uint64_t address, uint64_t size_B,
			 hsa_access_permission_t access, uint64_t *va);

/* Waits for the ring's work and removes its fences from deferred frees. Called before a flow's ring is destroyed,
 * when flow_gpu_fences() does not return its fences any more. */
void rt_memory_forget_ring(struct rt *rt, struct cs_ring *ring);

/* A range of addresses that can be found while it is in memory.va_regions. va_region_lock guards members that are
 * not immutable. */
struct rt_va_region {
	struct vm_node at;         /* in memory.va_regions */
	struct rt_alloc_info info; /* immutable, except host_base and read_only */
	uint32_t readers, writers; /* bit i: GPU i may read, may write */
	void *object;              /* borrowed: the memory that is mapped there; NULL: reserved addresses only */
};

/* An object that is freed when no GPU can access it; embedded in the object. */
struct rt_deferred_free {
	struct rt_deferred_free *next; /* guarded by free_lock, as are fence and fences */
	struct cs_fence *fence;        /* owned: ends of the work that may access the object */
	unsigned fences;
	unsigned settled; /* the first fences, of rings that submit no job of before (cs_fence_settle()) */
	void (*end)(struct rt_deferred_free *deferred); /* frees the object */
};

/* A ring on which the runtime waits for page-table updates. Its lock guards it. */
struct rt_pt_sync {
	struct drv_mutex lock;
	struct cs_ctx *ctx;   /* owned; created at first use, and again after it was lost */
	struct cs_ring *ring; /* owned; with ctx */
};

struct rt_memory {
	struct pool_space *space; /* owned */
	/* Held from collecting the fences of submitted work until pool/ or a deferred free has them: meanwhile no
	 * ring is destroyed. */
	struct drv_mutex free_lock;
	struct rt_deferred_free *deferred;      /* owned list; guarded by free_lock */
	struct rt_work reaper;                  /* queued while there are deferred frees: polls them */
	struct rt_pt_sync pt_sync[RT_GPUS_MAX]; /* pt_sync.c */
	struct rt_vmm *vmm;                     /* owned; vmm.c */
	struct rt_svm *svm;                     /* owned; svm.c */
	struct drv_mutex va_region_lock;        /* never held over an ioctl */
	struct vm_tree va_regions;              /* nodes of struct rt_va_region; guarded by va_region_lock */
	struct vm_tree user_data; /* nodes of struct rt_user_data (user_data.c); guarded by va_region_lock */
	_Atomic unsigned user_data_count; /* number of nodes in user_data */
};

/* Mask with bit i for each GPU i. */
static inline uint32_t rt_all_gpus(const struct rt *rt)
{
	return rt->gpus < 32 ? (1u << rt->gpus) - 1 : UINT32_MAX;
}

/* memory.c */
/* Collects the fences of all work submitted so far to the queues and copiers of these GPUs (a mask), at most
 * RT_FENCES_MAX; free_lock held. */
#define RT_FENCES_MAX 1024
unsigned rt_memory_fences(struct rt *rt, uint32_t gpus, struct cs_fence *fences);

/* memory_pool.c */
/* Getter for attributes that pools and regions share, by the numbers of a pool's attributes. -> INVALID_ARGUMENT:
 * not one of these attributes. */
hsa_status_t rt_pool_get_attribute(const struct rt_pool *pool, uint32_t attribute, void *value);
/* Computes the mask of the GPUs among the agents; CPUs are ignored, since an agent list does not change their
 * access. */
hsa_status_t rt_gpus_of(const struct rt *rt, uint32_t count, const hsa_agent_t *agents, uint32_t *gpus);

/* lock.c */
/* Unlocks all memory that clients left locked. */
void rt_locks_fini(struct rt *rt);

/* pt_sync.c */
void rt_pt_sync_init(struct rt *rt);
void rt_pt_sync_fini(struct rt *rt);

/* deferred_free.c */
void rt_deferred_free_init(struct rt *rt);
/* Takes over the object, and frees it when the work submitted to these GPUs (a mask) has ended. */
void rt_defer_free(struct rt *rt, uint32_t gpus, struct rt_deferred_free *deferred);
/* Frees the objects whose fences are retired. */
void rt_deferred_free_reap(struct rt *rt);
void rt_deferred_free_forget_ring_locked(struct rt *rt, const struct cs_ring *ring);
void rt_deferred_free_fini(struct rt *rt);

/* peer.c */
/* True when it is known that no other GPU can get access to this GPU's memory. */
bool rt_is_alone(const struct rt *rt, const struct rt_gpu *gpu);
/* True when the GPU can get access to the pool's memory. The first query for two GPUs submits some jobs. */
bool rt_may_reach(struct rt_gpu *gpu, const struct rt_pool *pool);
bool rt_all_may_reach(const struct rt *rt, uint32_t gpus, const struct rt_pool *pool);

/* vmm.c */
DRV_MUST_CHECK int rt_vmm_init(struct rt *rt);
/* Unmaps and frees all that clients left. */
void rt_vmm_fini(struct rt *rt);
/* hsa_amd_agents_allow_access() for mappings from `address` on: gives read and write access. */
hsa_status_t rt_vmm_allow(struct rt *rt, uint64_t address, uint32_t count, const hsa_agent_t *agents);

/* attach.c */
/* A descriptor of memory of another process or driver. */
struct rt_import {
	int fd;                      /* borrowed from the caller */
	hsa_amd_pointer_type_t type; /* _IPC, _GRAPHICS */
	uint64_t size_B;             /* size of the wanted part, in whole pages; 0: all */
	uint32_t gpus;               /* mask of the GPUs to map it on; 0: all that can access it */
	bool uncached;               /* true if the owner's mapping bypasses the GPUs' caches */
};
/* Maps imported memory at new addresses, until it is detached. -EXDEV: a GPU of the mask cannot access it. */
DRV_MUST_CHECK int rt_attach(struct rt *rt, const struct rt_import *import, void **ptr, uint64_t *size_B);
/* Unmaps imported memory. -EINVAL: no import of that type begins at the address. */
DRV_MUST_CHECK int rt_detach(struct rt *rt, const void *ptr, hsa_amd_pointer_type_t type);

/* svm.c */
DRV_MUST_CHECK int rt_svm_init(struct rt *rt);
void rt_svm_fini(struct rt *rt);

/* dmabuf.c */
/* Returns a reference to a block's BO for the export of a dma-buf; the caller keeps the block alive. May wait for
 * work that uses the block. -EPERM: host memory of a NUMA node. */
DRV_MUST_CHECK int rt_block_bo(struct rt *rt, const struct pool_found *found, struct vm_bo **bo);

/* user_data.c */
/* Calls the client's callbacks for memory that is about to be freed, and removes the user data. The caller has
 * claimed the memory. */
void rt_user_data_end(struct rt *rt, uint64_t base, uint64_t size_B);
/* The pointer that the client attached to the memory that begins at base, or NULL. */
void *rt_user_data_get(struct rt *rt, uint64_t base);
void rt_user_data_fini(struct rt *rt);

/* alloc_info.c */
/* Does the same as rt_alloc_info_find(); va_region_lock held. */
bool rt_alloc_info_find_locked(struct rt *rt, uint64_t address, struct rt_alloc_info *info);
/* hsa_amd_memory_pool_global_flag_t of a pool. */
uint32_t rt_pool_flags(enum rt_pool_kind kind);
void rt_va_region_insert(struct rt *rt, struct rt_va_region *region);
/* Inserts all regions in one step, so that no look-up finds only some of them. */
void rt_va_regions_insert(struct rt *rt, struct rt_va_region *const *va_regions, unsigned count);
void rt_va_region_remove(struct rt *rt, struct rt_va_region *region);
/* Takes from `to` what may change. */
void rt_va_region_update(struct rt *rt, struct rt_va_region *region, const struct rt_va_region *to);
/* A region that contains the address, or NULL; reserved addresses only if no other region has it. va_region_lock
 * held. */
struct rt_va_region *rt_va_region_find(struct rt *rt, uint64_t address);

#endif
