/* hsa/'s memory: what its files share.
 *
 *   block      of a pool (pool/): what hsa_amd_memory_pool_allocate() gives
 *   rt_va_region    an interval that is known besides: locked memory, imports, reservations
 *   rt_user_data   what the client left with a block or an region: a pointer, callbacks
 *
 * Locks, in order: the VMM's, SVM's, a pt_sync's, free_lock, va_region_lock; then the rooms' below. No client's
 * callback runs under one. */
#ifndef HSA_MEMORY_H
#define HSA_MEMORY_H

#include "hsa/core/progress.h"
#include "vm/tree.h"

DRV_MUST_CHECK int rt_memory_init(struct rt *rt);
/* Frees all that clients left. The GPUs do nothing any more. */
void rt_memory_fini(struct rt *rt);

/* Memory for the runtime itself: the CPU and all GPUs see it at the same address. */
struct rt_shared {
	void *map;
	uint64_t size_B;
	struct vm_mem *mem[RT_GPUS_MAX]; /* owned; [0] has the BO, the others share it */
	unsigned gpus;
};
/* flags: VM_UNCACHED, VM_EXEC; kind VM_GTT. Zeroed. */
DRV_MUST_CHECK int rt_shared_create(struct rt *rt, uint64_t size_B, unsigned flags, struct rt_shared *shared);
/* All work that uses it is submitted. What is submitted from now on does not list it: the kernel makes an unmapping
 * of the host's pages wait for all that does, and all submissions for the unmapping. */
void rt_shared_unlist(const struct rt_shared *shared);
void rt_shared_destroy(struct rt_shared *shared);

/* What is known of an address. */
struct rt_alloc_info {
	hsa_amd_pointer_type_t type;
	uint64_t base, size_B;          /* of the whole allocation, at the address by which it was found */
	uint64_t host_base, agent_base; /* 0: that side does not see it. For locked memory the two may differ. */
	struct rt_agent *owner;         /* borrowed */
	enum sdma_place place;          /* as seen by owner's GPU, or any GPU for system memory */
	uint32_t global_flags;          /* hsa_amd_memory_pool_global_flag_t of its pool */
	bool read_only;                 /* for GPUs: the process may not write it either */
};
/* False: nobody knows the address: ordinary memory of the process. O(log n); takes no lock that is held over an
 * ioctl. */
bool rt_alloc_info_find(struct rt *rt, uint64_t address, struct rt_alloc_info *info);
/* True when that GPU reaches [address, address + size_B); *va: by which address. */
bool rt_alloc_info_reach(struct rt *rt, struct rt_gpu *gpu, uint64_t address, uint64_t size_B, uint64_t *va);

/* Before a ring of a flow is destroyed, and when flow_gpu_fences() does not name it any more: waits for its work,
 * so that what was freed meanwhile does not ask after it. */
void rt_memory_forget_ring(struct rt *rt, struct cs_ring *ring);

/* Found by address, until it is taken out. What is not immutable is guarded by va_region_lock. */
struct rt_va_region {
	struct vm_node at;         /* memory.va_regions */
	struct rt_alloc_info info; /* immutable, but for host_base */
	uint32_t gpus;             /* bit i: GPU i reaches it */
	void *object;              /* borrowed: the memory that is seen there; NULL: addresses alone */
};

/* Part of what is given back while GPUs may use it. */
struct rt_deferred_free {
	struct rt_deferred_free *next; /* guarded by free_lock, as are: */
	struct cs_fence *fence;        /* owned */
	unsigned fences;
	void (*end)(struct rt_deferred_free *deferred); /* frees it; no GPU can reach it any more */
};

/* Where the kernel is asked whether page tables are up to date. Guarded by its lock. */
struct rt_pt_sync {
	pthread_mutex_t lock;
	struct cs_ctx *ctx;   /* owned; made at first use, and anew when it was lost */
	struct cs_ring *ring; /* owned; with ctx */
};

struct rt_memory {
	struct pool_space *space; /* owned */
	/* Held from asking for the ends of queue work until they are handed to pool/: no ring goes meanwhile. */
	pthread_mutex_t free_lock;
	struct rt_deferred_free *deferred;      /* owned; guarded by free_lock */
	struct rt_work reaper;                  /* while there are any: looks again and again */
	struct rt_pt_sync pt_sync[RT_GPUS_MAX]; /* pt_sync.c */
	struct rt_vmm *vmm;                     /* owned; vmm.c */
	struct rt_svm *svm;                     /* owned; svm.c */
	pthread_mutex_t va_region_lock;         /* never held over an ioctl */
	struct vm_tree va_regions;              /* of struct rt_va_region.at; guarded by va_region_lock */
	struct vm_tree user_data;         /* of struct rt_user_data.at (user_data.c); guarded by va_region_lock */
	_Atomic unsigned user_data_count; /* how many there are */
};

/* Bit i for each GPU i. */
static inline uint32_t rt_all_gpus(const struct rt *rt)
{
	return rt->gpus < 32 ? (1u << rt->gpus) - 1 : UINT32_MAX;
}

/* memory.c */
/* The ends of all that the queues and copiers of these GPUs (a mask) were given so far, at most RT_FENCES_MAX;
 * free_lock held. */
#define RT_FENCES_MAX 1024
unsigned rt_memory_fences(struct rt *rt, uint32_t gpus, struct cs_fence *fences);

/* memory_pool.c */
/* What pools and regions have in common (a pool's attributes). -> INVALID_ARGUMENT: none of it. */
hsa_status_t rt_pool_get_attribute(const struct rt_pool *pool, uint32_t attribute, void *value);
/* The GPUs among the agents, as a mask; the CPU reaches what it reaches. */
hsa_status_t rt_gpus_of(const struct rt *rt, uint32_t count, const hsa_agent_t *agents, uint32_t *gpus);

/* lock.c */
/* Unlocks all that clients left locked. */
void rt_locks_fini(struct rt *rt);

/* pt_sync.c */
void rt_pt_sync_init(struct rt *rt);
void rt_pt_sync_fini(struct rt *rt);

/* deferred_free.c */
void rt_deferred_free_init(struct rt *rt);
/* Ends it when the work that these GPUs (a mask) have is over. Takes it over. */
void rt_defer_free(struct rt *rt, uint32_t gpus, struct rt_deferred_free *deferred);
/* Ends what can be ended. */
void rt_deferred_free_reap(struct rt *rt);
void rt_deferred_free_forget_ring_locked(struct rt *rt, const struct cs_ring *ring);
void rt_deferred_free_fini(struct rt *rt);

/* peer.c */
/* Whether it is known that no other GPU can be given memory of this one. */
bool rt_is_alone(const struct rt *rt, const struct rt_gpu *gpu);
/* Whether the GPU can be given memory of the pool. The first question about two GPUs takes some jobs. */
bool rt_may_reach(struct rt_gpu *gpu, const struct rt_pool *pool);
bool rt_all_may_reach(const struct rt *rt, uint32_t gpus, const struct rt_pool *pool);

/* vmm.c */
DRV_MUST_CHECK int rt_vmm_init(struct rt *rt);
/* Unmaps and frees what clients left. */
void rt_vmm_fini(struct rt *rt);
/* hsa_amd_agents_allow_access() for what is mapped from ptr on: reading and writing. */
hsa_status_t rt_vmm_allow(struct rt *rt, uint64_t address, uint32_t count, const hsa_agent_t *agents);

/* attach.c */
/* What comes from elsewhere, as a descriptor. */
struct rt_import {
	int fd;                      /* the caller's */
	hsa_amd_pointer_type_t type; /* _IPC, _GRAPHICS */
	uint64_t size_B;             /* of the memory that is meant, whole pages; 0: all */
	uint32_t gpus;               /* who gets it; 0: all that reach it */
	bool uncached;               /* its owner keeps it out of the GPUs' caches */
};
/* Memory that is imported, at addresses of its own, until it is detached. -EXDEV: not all these GPUs reach it. */
DRV_MUST_CHECK int rt_attach(struct rt *rt, const struct rt_import *import, void **ptr, uint64_t *size_B);
/* -EINVAL: nothing of that type was attached there. */
DRV_MUST_CHECK int rt_detach(struct rt *rt, const void *ptr, hsa_amd_pointer_type_t type);

/* svm.c */
DRV_MUST_CHECK int rt_svm_init(struct rt *rt);
void rt_svm_fini(struct rt *rt);

/* dmabuf.c */
/* The BO, with a reference, of a block that the caller keeps alive: what a dma-buf of it is made of. May wait for
 * the work that uses it. -EPERM: host memory of a node. */
DRV_MUST_CHECK int rt_block_bo(struct rt *rt, const struct pool_found *found, struct vm_bo **bo);

/* user_data.c */
/* What was claimed by who frees it: calls the client's callbacks and forgets what the client left there. */
void rt_user_data_end(struct rt *rt, uint64_t base, uint64_t size_B);
/* The pointer that the client left with the memory that begins there. */
void *rt_user_data_get(struct rt *rt, uint64_t base);
void rt_user_data_fini(struct rt *rt);

/* alloc_info.c */
/* As rt_alloc_info_find(); va_region_lock held. */
bool rt_alloc_info_find_locked(struct rt *rt, uint64_t address, struct rt_alloc_info *info);
/* hsa_amd_memory_pool_global_flag_t of a pool. */
uint32_t rt_pool_flags(enum rt_pool_kind kind);
void rt_va_region_insert(struct rt *rt, struct rt_va_region *region);
/* At once: nobody finds some of them only. */
void rt_va_regions_insert(struct rt *rt, struct rt_va_region *const *va_regions, unsigned count);
void rt_va_region_remove(struct rt *rt, struct rt_va_region *region);
/* Who reaches it changes; host_base is where the CPU does, or 0. */
void rt_va_region_update(struct rt *rt, struct rt_va_region *region, uint32_t gpus, uint64_t host_base);
/* An region that has the address, or NULL, reserved addresses only if there is no other; va_region_lock held. */
struct rt_va_region *rt_va_region_find(struct rt *rt, uint64_t address);

#endif
