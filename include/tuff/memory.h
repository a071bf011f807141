/* Memory: allocations, host memory, sharing between devices and processes, address ranges.
 *
 * A pointer is one number: what the GPU calls an address is, where the CPU may use it too, the same address there.
 *
 * Who may touch what: any kernel of a device reaches all memory of that device. Nothing waits for the GPU: memory
 * may be freed, unbound or protected when no submitted work can reach it any more.
 *
 * Threads: all functions are thread safe. */
#ifndef TUFF_MEMORY_H
#define TUFF_MEMORY_H

#include <tuff/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tuff_place {
	TUFF_VRAM,    /* memory of the device */
	TUFF_GTT,     /* system memory that the GPU reads and writes through the bus; cached by the CPU, coherent */
	TUFF_GTT_WC,  /* the same, for the CPU write-combined: it writes fast and must not read */
	TUFF_LOCAL,   /* whichever is best for the device: VRAM, and on an APU, where both are the same chips, what
		       * does not fit well into its small carve-out in GTT. tuff_mem_info() says which it became. */
	TUFF_HOST,    /* memory of the process that tuff_mem_register() made known to the GPU; only reported */
	TUFF_FOREIGN, /* imported: memory of another device or driver; only reported */
};

enum tuff_mem_flags {
	TUFF_MEM_CPU = 1 << 0,        /* the CPU reaches it. VRAM: takes of what is visible. */
	TUFF_MEM_EXECUTABLE = 1 << 1, /* the GPU may run code in it */
	/* The GPU's L2 keeps nothing of it: for words that CPU and GPU both poll. TUFF_VRAM: see
	 * tuff_device_info.can_share_uncached_vram. */
	TUFF_MEM_UNCACHED = 1 << 2,
	TUFF_MEM_PRIVATE = 1 << 3, /* never shared with another device or process: a submission costs less */
	TUFF_MEM_UNBOUND = 1 << 4, /* has no address until tuff_range_bind() gives it one */
	TUFF_MEM_STRICT = 1 << 5,  /* VRAM: -ENOMEM when what is in use by all leaves no room */
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

/* Allocates; all content is zero. When VRAM is full the kernel says nothing: it moves buffers that were not used
 * lately to system memory, of this process or others, or puts the new one there; tuff_device_usage() counts that,
 * and TUFF_MEM_STRICT avoids it. -EINVAL: a size that no heap has; -ENOTSUP: TUFF_MEM_UNCACHED VRAM of a chip that
 * caches it whatever is asked. Four ioctls at most. */
TUFF_API TUFF_CHECK int tuff_mem_create(struct tuff_device *device, const struct tuff_mem_create_info *info,
					struct tuff_mem **mem);
/* Frees it, or ends a registration or an import. What a range still shows of it lives on until that is unbound.
 * NULL is allowed. -EBUSY: another device still shares it. */
TUFF_API int tuff_mem_destroy(struct tuff_mem *mem);
TUFF_API TUFF_CHECK int tuff_mem_info(struct tuff_mem *mem, struct tuff_mem_info *info);
/* The memory of this device that holds address, and how far into it that is: by where tuff_mem_info() says it is,
 * not by what is bound in ranges. -ENOENT: none does. */
TUFF_API TUFF_CHECK int tuff_mem_find(struct tuff_device *device, const void *address, struct tuff_mem **mem,
				      uint64_t *offset_B);

/* --- host memory ------------------------------------------------------------------------------ */

enum tuff_register_flags {
	TUFF_REGISTER_READ_ONLY = 1 << 0, /* the GPU only reads; memory that cannot be written is so by itself */
	TUFF_REGISTER_ALIAS = 1 << 1,     /* info.va is a second address, for the GPU alone, never the host's own */
};

/* Makes size_B bytes of the process's own memory at host reachable for the GPU: malloc'ed, mapped from a file, on a
 * stack. Pages are shared with the rest of the page around the ends. info.va points to the byte at host. The pages
 * are not copied into children of fork() while they are registered. They must stay mapped: unmapping them blocks
 * until the GPU has finished its work, and every submission after that gives -EFAULT until the registration is
 * destroyed.
 *
 * Memory may be registered twice, or overlap: the later one may then have another info.va than the host's address.
 *
 * -EFAULT: not memory of this process, or no memory that a GPU can have
 * (a device's, pages behind the end of a file); -EEXIST: tuff allocated it. */
TUFF_API TUFF_CHECK int tuff_mem_register(struct tuff_device *device, void *host, uint64_t size_B, unsigned flags,
					  struct tuff_mem **mem);

/* Allocates system memory on one NUMA node of the host, whatever the calling thread's policy is, and registers it.
 * -EINVAL: no such node; -ENOMEM: the node is full. */
TUFF_API TUFF_CHECK int tuff_mem_create_on_node(struct tuff_device *device, uint64_t size_B, unsigned node,
						struct tuff_mem **mem);
/* Asks the kernel on which node each page of CPU-visible memory is: fills node[0..count) from page first_page on,
 * -1 for a page that is not there. */
TUFF_API TUFF_CHECK int tuff_mem_nodes(struct tuff_mem *mem, uint64_t first_page, size_t count, int *node);

/* --- sharing ---------------------------------------------------------------------------------- */

/* A dma-buf for it, which the caller closes; another process or driver imports it. -EPERM: TUFF_MEM_PRIVATE or
 * registered memory; -EMFILE. */
TUFF_API TUFF_CHECK int tuff_mem_export(struct tuff_mem *mem, int *fd);
/* Memory behind a dma-buf; fd stays the caller's. Importing one buffer twice, or one that the device exported
 * itself, gives a second tuff_mem on the same memory. flags: TUFF_MEM_CPU, TUFF_MEM_UNBOUND. -EINVAL: not a
 * dma-buf; -EACCES: TUFF_MEM_CPU, and the CPU does not reach it (without the flag info.map tells). */
TUFF_API TUFF_CHECK int tuff_mem_import(struct tuff_device *device, int fd, unsigned flags, struct tuff_mem **mem);
/* The same memory, at the same address, for another device of this process. It must be destroyed before mem.
 * -EINVAL: mem is unbound, or of that device; -EPERM: as for tuff_mem_export(); -EEXIST: that device has something
 * at the address, this memory perhaps. */
TUFF_API TUFF_CHECK int tuff_mem_share(struct tuff_mem *mem, struct tuff_device *other, struct tuff_mem **shared);

enum tuff_peer {
	TUFF_PEER_NONE,   /* the kernel refuses to share between the two */
	TUFF_PEER_SYSTEM, /* it moves shared VRAM to system memory first */
	TUFF_PEER_DIRECT, /* the other device reaches VRAM where it is */
};

/* How `device` would reach VRAM of `owner`. The first call for a pair finds out by doing it, with a small buffer,
 * an empty job and the kernel's usage counters; the answer is kept. -EAGAIN: other processes change the counters
 * all the time; -ENOTSUP: no packets for the chip of `device` yet. */
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

/* Reserves addresses. -ENOMEM: there are none; -EEXIST: the wanted ones are in use. */
TUFF_API TUFF_CHECK int tuff_range_create(struct tuff_device *device, const struct tuff_range_create_info *info,
					  struct tuff_range **range, uint64_t *va);
/* Unbinds what is bound and gives the addresses back. NULL is allowed. */
TUFF_API int tuff_range_destroy(struct tuff_range *range);
/* Binds size_B bytes of mem from mem_offset_B on at offset_B of the range, with `access` for the GPU and, when mem
 * is TUFF_MEM_CPU, for the CPU. What was bound there before is replaced in one step. All are whole pages. */
TUFF_API TUFF_CHECK int tuff_range_bind(struct tuff_range *range, uint64_t offset_B, struct tuff_mem *mem,
					uint64_t mem_offset_B, uint64_t size_B, enum tuff_access access);
/* Unbinds [offset_B, offset_B + size_B), also where nothing or a part of a binding is. */
TUFF_API TUFF_CHECK int tuff_range_unbind(struct tuff_range *range, uint64_t offset_B, uint64_t size_B);
/* Changes the access of what is bound in [offset_B, offset_B + size_B). -ENOENT: not all of it is bound. When the
 * kernel fails, some bindings may have the new access already. */
TUFF_API TUFF_CHECK int tuff_range_protect(struct tuff_range *range, uint64_t offset_B, uint64_t size_B,
					   enum tuff_access access);

#ifdef __cplusplus
}
#endif

#endif
