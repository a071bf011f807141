/* Memory that the program knows by address: allocations, registered ranges, mappings. */
#ifndef API_MEMORY_H
#define API_MEMORY_H

#include "api/base/base.h"
#include "vm/tree.h"

struct hip_stream;

enum hip_memory_kind { HIP_MEMORY_DEVICE, HIP_MEMORY_HOST, HIP_MEMORY_REGISTERED, HIP_MEMORY_MANAGED };

struct hip_memory {
	struct vm_node node;
	enum hip_memory_kind kind;
	uint64_t id;    /* of no other allocation */
	int device;     /* where it is, or where the host's was allocated */
	unsigned flags; /* as it was allocated with */
	size_t size_B;  /* as it was asked for */
	char *base;     /* the host's address, where it has one */
	char *gpu_base; /* the device's */
	uint64_t pool;  /* handle of the pool that has it; 0: none */
	bool shareable; /* the pool is: as a file descriptor */
	bool sync;      /* copies between two places of a device are waited for */
	bool ours;      /* not the program's to free: of a variable, mapped, or of another process */
	void (*end)(
		const void *ptr); /* of memory that is imported into a pool: gives it back; NULL: not imported */
	bool read_only;           /* registered, and the process may not write all of it: nor may kernels */
};

/* Whose memory it is; NULL: the host's. */
static inline struct hip_device *hip_memory_owner(const struct hip_memory *memory)
{
	return memory->kind == HIP_MEMORY_DEVICE ? &hip.device[memory->device] : NULL;
}
/* Of what two places belong to, the only device; NULL: there is none, or there are two. */
static inline struct hip_device *hip_only_owner(struct hip_device *a, struct hip_device *b)
{
	return !a || a == b ? b : b ? NULL : a;
}
/* A copy of what an address is in. False: nothing that HIP knows. */
bool hip_memory_find(const void *address, struct hip_memory *memory);
void hip_memory_set_sync(const void *address, bool sync);
/* So many bytes from there on are in it, or in what the program mapped right behind it. */
bool hip_memory_covers(const struct hip_memory *memory, const void *address, size_t size_B);
/* Kernels may not read and write all of that: it is registered read-only, or mapped without access for the device
 * that has it. */
bool hip_memory_is_closed(const struct hip_memory *memory, const void *address, size_t size_B);

/* The peers that may use the device's memory have changed. */
hipError_t hip_memory_update_peers(struct hip_device *device);
/* As hipMalloc() and hipFree() do. */
hipError_t hip_memory_allocate(struct hip_device *device, size_t size_B, void **out);
/* Of the library's own: in that pool, everybody: all GPUs reach it. hsa_amd_memory_pool_free(). OutOfMemory. */
hipError_t hip_pool_memory(hsa_amd_memory_pool_t pool, size_t size_B, bool everybody, void **out);
hipError_t hip_memory_free_now(void *ptr);
/* Memory of hipMalloc() that is freed in the stream's order; and what the host has waited for goes. */
hipError_t hip_memory_free_behind(void *ptr, struct hip_stream *stream);
void hip_memory_reap(void);
/* Makes memory known that the program did not allocate as such: a managed variable's, what it has mapped or opened.
 * hipFree() does not take it. */
hipError_t hip_memory_add_ours(enum hip_memory_kind kind, int device, void *base, size_t size_B);
void hip_memory_remove_ours(void *base);
/* Memory of another process's pool; hipFree() of it calls end(). InvalidValue: something else is there. */
hipError_t hip_memory_add_imported(int device, uint64_t pool, void *base, size_t size_B,
				   void (*end)(const void *ptr));

/* --- peers (peer.c) --------------------------------------------------------------------------- */

/* Not one and the same, and `from` reaches what is in the memory of `to`, if it is allowed to. */
bool hip_can_be_peers(const struct hip_device *from, const struct hip_device *to);

/* --- external memory and semaphores (external.c, semaphore.c) ----------------------------------- */

/* hipFree() of a mapped buffer. InvalidValue: it is none. */
hipError_t hip_external_free(void *ptr);

/* --- allocators --------------------------------------------------------------------------------- */

/* Allocators of the folders above, which have indices of their own; NULL until one has something. */
struct hip_memory_hooks {
	/* What a pool gave out at that address. */
	bool (*_Atomic find)(const void *address, struct hip_memory *memory);
	/* hipFree() of a pool's memory: its users have ended. False: it is none of a pool's. */
	bool (*_Atomic free_pool)(void *ptr, hipError_t *error);
	/* hipFree() of the memory of a graph's node. False: it is none. */
	bool (*_Atomic free_graph)(void *ptr, struct hip_stream *stream, hipError_t *error);
	/* The host has waited for work of the device: what pools keep beyond their thresholds goes. */
	void (*_Atomic host_waited)(struct hip_device *device);
	/* Memory is needed: what the device's pools keep, and whose users have ended, goes. */
	void (*_Atomic reclaim)(struct hip_device *device);
};
extern DRV_OWN struct hip_memory_hooks hip_memory_hooks;
/* Frees memory of a graph's node behind the stream's work (NULL: at once). False: it is none. */
bool hip_memory_free_graph(void *ptr, struct hip_stream *stream, hipError_t *error);

void hip_externals_reset(struct hip_device *device);
void hip_memory_reset(struct hip_device *device);
#endif
