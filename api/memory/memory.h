/* Memory that a program knows by its address: allocations, registered ranges, mappings.
 *
 *   hip_memory        an allocation; owned by find.c's tree. hip_memory_find() gives copies, so that no pointer
 *                     to an entry is used without the lock
 *   hip_memory_hooks  functions of the folders above that have allocations of their own: pools and graphs
 *
 * Lock: find.c's reader-writer lock guards the tree and its entries. Only the lock of binaries comes after it.
 */
#ifndef API_MEMORY_H
#define API_MEMORY_H

#include "api/base/base.h"
#include "vm/tree.h"

struct hip_stream;

enum hip_memory_kind { HIP_MEMORY_DEVICE, HIP_MEMORY_HOST, HIP_MEMORY_REGISTERED, HIP_MEMORY_MANAGED };

struct hip_memory {
	struct vm_node node;
	enum hip_memory_kind kind;
	uint64_t id; /* unique */
	/* Index of the device that has the memory, or that was current when host memory was allocated. */
	int device;
	unsigned flags; /* flags of the allocation */
	size_t size_B;  /* bytes that the program requested */
	char *base;     /* address for the host; NULL: none */
	char *gpu_base; /* address for the devices */
	uint64_t pool;  /* handle of the pool that the memory comes from; 0: none */
	bool shareable; /* the pool can be exported as a file descriptor */
	bool sync;      /* the host waits for copies between two places of one device */
	bool ours;      /* the program cannot free the memory: a variable, a mapping, or another process's memory */
	void (*end)(const void *ptr); /* releases memory that was imported into a pool; NULL: not imported */
	bool read_only; /* registered, and the process cannot write all of it; so kernels cannot either */
};

/* The device that has the memory; NULL: the host has it. */
static inline struct hip_device *hip_memory_owner(const struct hip_memory *memory)
{
	return memory->kind == HIP_MEMORY_DEVICE ? &hip.device[memory->device] : NULL;
}
/* The only device that owns one of two places; NULL: none does, or two do. */
static inline struct hip_device *hip_only_owner(struct hip_device *a, struct hip_device *b)
{
	return !a || a == b ? b : b ? NULL : a;
}

/* --- all of them (find.c) ------------------------------------------------------------------------- */

/* Copies the entry of the allocation that contains the address. False: HIP knows no such allocation. */
bool hip_memory_find(const void *address, struct hip_memory *memory);
void hip_memory_set_sync(const void *address, bool sync);
/* A mapping of the program, or a variable. */
static inline bool hip_memory_is_mapped(const struct hip_memory *memory)
{
	return memory->ours && memory->kind == HIP_MEMORY_DEVICE;
}
/* True when size_B bytes from the address are in the allocation, or in mappings of the program that follow it
 * without a gap. */
bool hip_mappings_cover(const struct hip_memory *memory, const void *address, size_t size_B);
static inline bool hip_memory_covers(const struct hip_memory *memory, const void *address, size_t size_B)
{
	return size_B <= memory->node.hi - (uintptr_t)address ||
	       (hip_memory_is_mapped(memory) && hip_mappings_cover(memory, address, size_B));
}
/* True when kernels cannot read and write the whole range: it is registered read-only, or mapped without access for
 * the device that has it. */
bool hip_mapping_is_closed(const struct hip_memory *memory, const void *address, size_t size_B);
static inline bool hip_memory_is_closed(const struct hip_memory *memory, const void *address, size_t size_B)
{
	return hip_memory_is_mapped(memory) ? hip_mapping_is_closed(memory, address, size_B) : memory->read_only;
}

/* Adds an allocation, which gets its interval and id. Errors: OutOfMemory; InvalidValue,
 * when imported memory overlaps another one. */
hipError_t hip_memories_add(const struct hip_memory *like);
/* Removes the allocation that begins at the address, if it is of one of the kinds (a mask); the caller frees it. NULL: none. */
struct hip_memory *hip_memories_take(const void *address, unsigned kinds, bool ours);
/* The same for any that a reset of the device frees. */
struct hip_memory *hip_memories_take_of(const struct hip_device *device);
/* Calls fn with each, under the lock. */
void hip_memories_each(void (*fn)(const struct hip_memory *memory, void *arg), void *arg);
/* True when the range overlaps an allocation. *again: the range is registered already, at the same address. */
bool hip_memories_overlap(const void *ptr, size_t size_B, bool *again);

/* --- memory.c ----------------------------------------------------------------------------------- */

/* Applies a change of the device's peers to its allocations. */
hipError_t hip_memory_update_peers(struct hip_device *device);
/* The bodies of hipMalloc() and hipFree(). */
hipError_t hip_memory_allocate(struct hip_device *device, size_t size_B, void **out);
/* Allocates memory for the library itself from an HSA pool; `everybody`: all GPUs can access it. Freed by
 * hsa_amd_memory_pool_free(). Errors: OutOfMemory. */
hipError_t hip_pool_memory(hsa_amd_memory_pool_t pool, size_t size_B, bool everybody, void **out);
hipError_t hip_memory_free_now(void *ptr);
/* Frees memory of hipMalloc() in the stream's order: hip_memory_reap() releases it when the host has waited for the
 * stream. */
hipError_t hip_memory_free_behind(void *ptr, struct hip_stream *stream);
void hip_memory_reap(void);
/* Registers memory that the program did not allocate as such: a managed variable's, a mapping, another process's.
 * hipFree() refuses it. */
hipError_t hip_memory_add_ours(enum hip_memory_kind kind, int device, void *base, size_t size_B);
void hip_memory_remove_ours(void *base);
/* Registers memory of another process's pool; hipFree() calls end(). Errors: InvalidValue, when the range overlaps
 * an allocation. */
hipError_t hip_memory_add_imported(int device, uint64_t pool, void *base, size_t size_B,
				   void (*end)(const void *ptr));

/* --- peers (peer.c) --------------------------------------------------------------------------- */

/* True when `from` and `to` differ, and `from` can access the memory of `to` once that is enabled. */
bool hip_can_be_peers(const struct hip_device *from, const struct hip_device *to);

/* --- external memory and semaphores (external.c, semaphore.c) ----------------------------------- */

/* hipFree() of a mapped buffer of external memory. Errors: InvalidValue, when the address is none. */
hipError_t hip_external_free(void *ptr);

/* --- allocators --------------------------------------------------------------------------------- */

/* Functions of the folders above, which have indices of their own; NULL until a folder has an allocation. */
struct hip_memory_hooks {
	/* Finds an address in a pool's memory. */
	bool (*_Atomic find)(const void *address, struct hip_memory *memory);
	/* hipFree() of a pool's memory, which nothing uses any more. False: the address is in no pool. */
	bool (*_Atomic free_pool)(void *ptr, hipError_t *error);
	/* hipFree() of the memory of a graph's allocation node. False: the address is none. */
	bool (*_Atomic free_graph)(void *ptr, struct hip_stream *stream, hipError_t *error);
	/* The host has waited for work of the device: pools release memory beyond their thresholds. Set by
	 * hip_memory_hook_waits(). */
	void (*_Atomic host_waited)(struct hip_device *device);
	/* An allocation failed: the device's pools release free memory whose users have ended. */
	void (*_Atomic reclaim)(struct hip_device *device);
};
extern DRV_OWN struct hip_memory_hooks hip_memory_hooks;
/* Sets host_waited, and has streams call it, also while nothing but pools has memory. */
void hip_memory_hook_waits(void (*hook)(struct hip_device *device));
/* Frees the memory of a graph's allocation node after the stream's work (NULL: at once). False: the address is
 * none. */
bool hip_memory_free_graph(void *ptr, struct hip_stream *stream, hipError_t *error);

void hip_externals_reset(struct hip_device *device);
void hip_memory_reset(struct hip_device *device);
#endif
