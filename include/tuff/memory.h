/* Memory: allocations, host memory, sharing between devices and processes, address ranges.
 *
 *   mem     memory that the GPU reaches: allocated, registered host memory, or imported
 *   range   reserved GPU addresses, in which memory is bound page by page
 *
 * Addresses. The GPU's address of memory and the CPU's, where the CPU may use it, are the same number.
 *
 * Ownership. The caller destroys what it makes, registers or imports. A range keeps memory that is bound in it
 * alive.
 *
 * Access. Any kernel of a device reaches all memory of that device. No function waits for the GPU: memory may be
 * freed, unbound or protected when no submitted work can reach it any more.
 *
 * Threads. All functions are thread safe. */
#ifndef TUFF_MEMORY_H
#define TUFF_MEMORY_H

#include <tuff/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tuff_place {
	TUFF_VRAM,   /* memory of the device */
	TUFF_GTT,    /* system memory that the GPU reads and writes through the bus; cached by the CPU, coherent */
	TUFF_GTT_WC, /* the same, write-combined for the CPU, which writes fast and must not read */
	TUFF_LOCAL, /* VRAM; on an APU, where VRAM and GTT are the same chips, GTT for memory that does not fit well
		     * into the small carve-out. tuff_mem_query() says which it became. */
	TUFF_HOST,  /* memory of the process that tuff_mem_register() made known to the GPU; only reported */
	TUFF_FOREIGN, /* imported: memory of another device or driver; only reported */
};

enum tuff_mem_flags {
	TUFF_MEM_CPU = 1 << 0,        /* the CPU reaches it; in VRAM, takes from the visible part */
	TUFF_MEM_EXECUTABLE = 1 << 1, /* the GPU may run code in it */
	/* The GPU's L2 keeps nothing of it: for words that CPU and GPU both poll. For TUFF_VRAM,
	 * tuff_device_info.can_share_uncached_vram says whether the chip can. */
	TUFF_MEM_UNCACHED = 1 << 2,
	TUFF_MEM_PRIVATE = 1 << 3, /* never shared with another device or process: a submission costs less */
	TUFF_MEM_UNBOUND = 1 << 4, /* has no address until tuff_range_bind() gives it one */
	TUFF_MEM_STRICT = 1 << 5,  /* VRAM: -ENOMEM when all processes' use leaves no room */
};

struct tuff_mem_create_info {
	uint64_t size_B;       /* rounded up to pages of 4 KiB */
	enum tuff_place place; /* TUFF_VRAM, TUFF_GTT, TUFF_GTT_WC or TUFF_LOCAL */
	unsigned flags;        /* enum tuff_mem_flags */
};

struct tuff_mem_info {
	uint64_t va; /* the GPU's address; 0: unbound */
	void *map;   /* the CPU's, the same number but for an alias; NULL: the CPU does not reach it */
	uint64_t size_B;
	enum tuff_place place;
	unsigned flags;
};

/* Allocates; all content is zero. When VRAM is full the kernel reports nothing: it moves buffers that were not used
 * lately to system memory, of this process or others, or puts the new one there; tuff_device_usage() counts that,
 * and TUFF_MEM_STRICT avoids it. -EINVAL: a size that no heap has; -ENOTSUP: TUFF_MEM_UNCACHED VRAM of a chip that
 * always caches it. Four ioctls at most. */
TUFF_API TUFF_CHECK int tuff_mem_create_sized(struct tuff_device *device, const struct tuff_mem_create_info *info,
					      size_t info_B, struct tuff_mem **mem);
TUFF_INLINE int tuff_mem_create(struct tuff_device *device, const struct tuff_mem_create_info *info,
				struct tuff_mem **mem)
{
	return tuff_mem_create_sized(device, info, sizeof(*info), mem);
}
/* Frees it, or ends a registration or an import. Pages that are still bound in a range live on until they are
 * unbound. NULL is allowed. -EBUSY: another device still shares it. */
TUFF_API int tuff_mem_destroy(struct tuff_mem *mem);
/* Gives addresses, size, place and flags. */
TUFF_API TUFF_CHECK int tuff_mem_query_sized(struct tuff_mem *mem, struct tuff_mem_info *info, size_t info_B);
TUFF_INLINE int tuff_mem_query(struct tuff_mem *mem, struct tuff_mem_info *info)
{
	return tuff_mem_query_sized(mem, info, sizeof(*info));
}
/* Finds the memory of this device that holds address, and the offset of address in it: by the addresses that
 * tuff_mem_query() gives, not by what is bound in ranges. -ENOENT: no memory holds it. */
TUFF_API TUFF_CHECK int tuff_mem_find(struct tuff_device *device, const void *address, struct tuff_mem **mem,
				      uint64_t *offset_B);

/* --- host memory ------------------------------------------------------------------------------ */

enum tuff_register_flags {
	TUFF_REGISTER_READ_ONLY = 1 << 0, /* the GPU only reads; implied for memory that cannot be written */
	TUFF_REGISTER_ALIAS = 1 << 1,     /* tuff_mem_info.va is the GPU's alone, never the host's address */
};

/* Makes size_B bytes of the process's own memory at host reachable for the GPU: malloc'ed, mapped from a file, on a
 * stack. The GPU reaches the whole pages at both ends. tuff_mem_info.va is the GPU's address of the byte at host.
 * The pages are not copied into children of fork() while they are registered. They must stay mapped: unmapping them
 * blocks until the GPU has finished its work, and every submission after that gives -EFAULT until the registration
 * is destroyed.
 *
 * Memory may be registered twice, or overlap: the later one may then have another va than the host's address.
 *
 * -EFAULT: not memory of this process, or no memory that a GPU can have (a device's, pages beyond the end of a
 * file); -EEXIST: tuff allocated it. */
TUFF_API TUFF_CHECK int tuff_mem_register(struct tuff_device *device, void *host, uint64_t size_B, unsigned flags,
					  struct tuff_mem **mem);

/* Allocates system memory on one NUMA node of the host, whatever the calling thread's policy is, and registers it.
 * -EINVAL: no such node; -ENOMEM: the node is full. */
TUFF_API TUFF_CHECK int tuff_mem_create_on_node(struct tuff_device *device, uint64_t size_B, unsigned node,
						struct tuff_mem **mem);
/* Queries the NUMA node of each page of CPU-visible memory from the kernel: fills node[0..count) from page
 * first_page on, -1 for a page that is not there. Page 0 is the one that tuff_mem_info.map lies in. */
TUFF_API TUFF_CHECK int tuff_mem_nodes(struct tuff_mem *mem, uint64_t first_page, size_t count, int *node);

/* --- sharing ---------------------------------------------------------------------------------- */

/* Exports memory as a dma-buf, which another process or driver imports; the caller closes fd. -EPERM:
 * TUFF_MEM_PRIVATE or registered memory; -EMFILE: no descriptor is left. */
TUFF_API TUFF_CHECK int tuff_mem_export(struct tuff_mem *mem, int *fd);
/* Imports the memory of a dma-buf; fd stays the caller's. Importing one buffer twice, or one that the device
 * exported itself, gives a second tuff_mem on the same memory. flags: TUFF_MEM_CPU, TUFF_MEM_UNBOUND. -EINVAL: not
 * a dma-buf; -EACCES: TUFF_MEM_CPU, and the CPU does not reach it (without the flag, tuff_mem_info.map is NULL). */
TUFF_API TUFF_CHECK int tuff_mem_import(struct tuff_device *device, int fd, unsigned flags, struct tuff_mem **mem);
/* Shares memory with another device of this process, at the same address. *shared must be destroyed before mem.
 * -EINVAL: mem is unbound, or of that device; -EPERM: as for tuff_mem_export(); -EEXIST: that device has something
 * at the address, this memory perhaps. */
TUFF_API TUFF_CHECK int tuff_mem_share(struct tuff_mem *mem, struct tuff_device *other, struct tuff_mem **shared);

enum tuff_peer {
	TUFF_PEER_NONE,   /* the kernel refuses to share between the two */
	TUFF_PEER_SYSTEM, /* the kernel moves shared VRAM to system memory first */
	TUFF_PEER_DIRECT, /* the other device reaches VRAM where it is */
};

/* Reports how `device` would reach VRAM of `owner`. The first call for a pair finds out by doing it, with a small
 * buffer, an empty job and the kernel's usage counters; the library keeps the answer. -EAGAIN: other processes
 * change the counters all the time; -ENOTSUP: `device` has no compute ring. */
TUFF_API TUFF_CHECK int tuff_peer_access(struct tuff_device *owner, struct tuff_device *device,
					 enum tuff_peer *peer);

/* --- address ranges --------------------------------------------------------------------------- */

enum tuff_range_flags {
	TUFF_RANGE_LOW = 1 << 0, /* below 4 GiB */
	TUFF_RANGE_GPU = 1 << 1, /* addresses that only the GPU has, above 2^47: no host address space is used */
};

struct tuff_range_create_info {
	uint64_t size_B;  /* whole pages of 4 KiB */
	uint64_t align_B; /* a power of two; 0: a page */
	uint64_t va;      /* wanted address, a multiple of align_B; 0: any */
	unsigned flags;   /* enum tuff_range_flags */
};

enum tuff_access {
	TUFF_ACCESS_NONE = 0,
	TUFF_ACCESS_READ = 1,
	TUFF_ACCESS_READ_WRITE = 3,
};

/* Reserves addresses and gives the first in *va. -ENOMEM: there are none; -EEXIST: the wanted ones are in use. */
TUFF_API TUFF_CHECK int tuff_range_create_sized(struct tuff_device *device,
						const struct tuff_range_create_info *info, size_t info_B,
						struct tuff_range **range, uint64_t *va);
TUFF_INLINE int tuff_range_create(struct tuff_device *device, const struct tuff_range_create_info *info,
				  struct tuff_range **range, uint64_t *va)
{
	return tuff_range_create_sized(device, info, sizeof(*info), range, va);
}
/* Unbinds all that is bound in the range and gives the addresses back. NULL is allowed. */
TUFF_API int tuff_range_destroy(struct tuff_range *range);
/* Binds size_B bytes of mem from mem_offset_B on at offset_B of the range, with `access` for the GPU and, when mem
 * is TUFF_MEM_CPU, for the CPU. What was bound there before is replaced in one step. All are whole pages. */
TUFF_API TUFF_CHECK int tuff_range_bind(struct tuff_range *range, uint64_t offset_B, struct tuff_mem *mem,
					uint64_t mem_offset_B, uint64_t size_B, enum tuff_access access);
/* Unbinds [offset_B, offset_B + size_B), which may cut bindings and cover pages where nothing is bound. */
TUFF_API TUFF_CHECK int tuff_range_unbind(struct tuff_range *range, uint64_t offset_B, uint64_t size_B);
/* Changes the access of what is bound in [offset_B, offset_B + size_B). -ENOENT: not all of it is bound. When the
 * kernel fails, some bindings may have the new access already. */
TUFF_API TUFF_CHECK int tuff_range_protect(struct tuff_range *range, uint64_t offset_B, uint64_t size_B,
					   enum tuff_access access);

#ifdef __cplusplus
}
#endif

#endif
