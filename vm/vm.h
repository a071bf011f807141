/* vm/: buffer objects and the GPU address space of one device. This header is the room's interface.
 *
 *   vm        one device's GPU address space in this process; holds the BO list, the indices and the accounts
 *   vm_bo     memory: a kernel buffer object. It has no address. Counted.
 *   vm_range  addresses: an interval for the GPU, reserved at the same numbers on the host. It has no memory.
 *   (binding) a part of a range through which a part of a BO is seen; held by the vm, see vm_range_query()
 *   vm_mem    the common case: one BO bound to a range of its own
 *
 * Host memory is in host.h, small allocations in suballoc.h, memory of other devices in peer.h.
 *
 * A pointer is the same number on the CPU and on the GPU: a range is reserved in the host's address space and BOs
 * are bound there for both. Two sorts of range own no host addresses: one that was adopted from another device's
 * vm, and one at a high address, which only the GPU has (an alias).
 *
 * Residency. The kernel keeps in place what a submission lists. VM_RESIDENT BOs are always valid and need no list;
 * they can never be exported. All others stand in one kernel BO list, which vm_list() brings up to date: a
 * submission costs O(1), whatever the number of BOs. Every BO is EXPLICIT_SYNC, but for registered host memory, for
 * which the kernel has no such flag and nobody else to wait for.
 *
 * Nothing here waits for the GPU: whoever frees, moves or rebinds memory has first seen that no submitted work can
 * reach it.
 *
 * Thread rule: all functions are thread safe, but an object may be destroyed only by its last user.
 * Errors: -errno with a record (drv_error_last). -ENODEV in a child that inherited the object over fork. -EINVAL
 * for sizes and offsets that are 0, unaligned, too large or outside, before the kernel is asked. */
#ifndef VM_VM_H
#define VM_VM_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/drv.h"

enum vm_kind {
	VM_VRAM,   /* device memory */
	VM_GTT,    /* system memory, CPU-cached, snooped by the GPU */
	VM_GTT_WC, /* system memory, write-combined: the CPU only writes it */
	VM_KINDS,
};

enum vm_flags {
	VM_CPU = 1 << 0,      /* the CPU maps it; VRAM then comes from the visible window */
	VM_EXEC = 1 << 1,     /* the GPU may fetch instructions from it */
	VM_UNCACHED = 1 << 2, /* MTYPE_UC: no line of it stays in the GPU's L2. For what CPU and GPU both poll. */
	VM_RESIDENT = 1 << 3, /* always valid, never exported */
	VM_STRICT = 1 << 4,   /* -ENOMEM instead of memory elsewhere */
	VM_READONLY = 1 << 5, /* out: the GPU must not write it (read-only host memory) */
};

/* When VRAM is full the kernel says nothing: it moves BOs that were not used lately, of any process, to system
 * memory, or puts the new one there. With VM_STRICT, vm_bo_create() asks first how much is in use
 * (drv_usage_memory()) and refuses what would not fit. It cannot do more: another process may allocate meanwhile,
 * and where a BO stands later is told by nothing but moved_B and evictions growing. */
struct vm_info {
	uint64_t size_B; /* rounded up to a page; not 0 */
	enum vm_kind kind;
	unsigned flags; /* enum vm_flags */
};

/* What this process has. */
struct vm_stats {
	uint64_t bytes[VM_KINDS], peak[VM_KINDS]; /* BO memory that was created, by kind, now and at most */
	uint64_t user_B, user_peak_B;             /* host memory that is registered */
	uint64_t imported_B, imported_peak_B;
	uint64_t bos, ranges, mappings; /* alive now; mappings: bindings that the GPU may use */
	uint64_t list_updates;          /* BO_LIST ioctls so far */
};

struct vm;

enum vm_origin { VM_CREATED, VM_USER, VM_IMPORTED, VM_ORIGINS };

struct vm_bo {
	struct vm *vm;         /* borrowed; outlives the BO */
	uint64_t size_B;       /* whole pages */
	uint32_t handle;       /* GEM handle; owned */
	uint32_t list_index;   /* place in the BO list, guarded by the vm; VM_UNLISTED when resident */
	_Atomic uint32_t refs; /* falls to 0 under the vm's share lock only */
	enum vm_kind kind;     /* of an import from another device: VM_GTT, wherever it lies */
	enum vm_origin origin;
	unsigned flags;
};
#define VM_UNLISTED UINT32_MAX

/* dev is borrowed until vm_destroy(), which expects that every object of it is gone. */
DRV_MUST_CHECK int vm_create(const struct drv_device *dev, struct vm **vm);
/* The same for a process's further devices. Vms that were made beside one another share what one process has once:
 * the high addresses, and which host pages must not be inherited by children. */
DRV_MUST_CHECK int vm_create_shared(struct vm *first, const struct drv_device *dev, struct vm **vm);
void vm_destroy(struct vm *vm);
const struct drv_device *vm_device(const struct vm *vm);
void vm_stats(struct vm *vm, struct vm_stats *stats);

/* What the GPU did where it must not. */
struct vm_fault {
	uint64_t va; /* of the page */
	bool write;
	bool present; /* the page is there, but not for this access */
	bool execute; /* instructions */
};
/* Asks whether the kernel has seen the GPU touch memory of this address space that is not there: -EFAULT with a
 * record that names address and access, and *fault (NULL is fine); 0: none was seen, which proves nothing. One
 * ioctl. The kernel keeps only the last fault and no count: each new one is reported once, and one that is equal to
 * the last, page and access, not at all. It records none while its messages are rate limited (10 of any kind in 5
 * s), none in a virtual machine with SR-IOV, and some only after the fence of the job (gmc_v9_0.c,
 * gmc_v9_0_process_interrupt()). Linux 6.9 or newer (DRM 3.55); before it, always 0. */
DRV_MUST_CHECK int vm_check_fault(struct vm *vm, struct vm_fault *fault);

/* The BO list for the next submission: its kernel handle, 0 when nothing needs listing. One load when nothing
 * changed since the last call, else one ioctl. */
DRV_MUST_CHECK int vm_list(struct vm *vm, uint32_t *handle);

/* Gives the vm its resource of global wave sync, number 0 of a job's, if it has none yet; it keeps that until it is
 * destroyed. It says nothing to jobs that do not list it. -ENOTSUP: the chip has none; -ENOMEM. */
DRV_MUST_CHECK int vm_gws_create(struct vm *vm);
/* A BO list for one job whose waves use it: what vm_list() has, and that. One ioctl; what the job listed it keeps
 * when the list ends, by another. */
DRV_MUST_CHECK int vm_gws_list(struct vm *vm, uint32_t *handle);
void vm_gws_unlist(struct vm *vm, uint32_t handle);

/* --- memory ----------------------------------------------------------------------------------- */

/* Errors: -EINVAL (size 0 or beyond any heap), -ENOMEM. */
DRV_MUST_CHECK int vm_bo_create(struct vm *vm, const struct vm_info *info, struct vm_bo **bo);
/* Whole pages of this process's memory as a BO: what is written of vm_mem_register() holds for it. flags: VM_EXEC,
 * VM_UNCACHED, VM_READONLY. -EFAULT: not mapped, or not memory that a GPU can have; -ENOMEM. */
DRV_MUST_CHECK int vm_bo_create_user(struct vm *vm, uint64_t host, uint64_t size_B, unsigned flags,
				     struct vm_bo **bo);
/* Another reference; gives bo. */
struct vm_bo *vm_bo_get(struct vm_bo *bo);
/* The last one frees the memory and every GPU mapping of it. NULL is accepted. */
void vm_bo_put(struct vm_bo *bo);

/* A dma-buf of the whole BO, close-on-exec; the caller's. The memory lives as long as the BO, an import or a
 * descriptor does. -EPERM: resident, or registered host memory; -EMFILE, -ENFILE: no descriptor left. */
DRV_MUST_CHECK int vm_bo_export(struct vm_bo *bo, int *fd);
/* The memory of a dma-buf, which stays the caller's. One dma-buf has one handle in a file description, so importing
 * it twice, or importing what this vm exported, gives the same BO, with a reference more. Of another device: the BO
 * is that device's memory, kind VM_GTT; whether the GPUs are peers is vm_peer_probe()'s question. -EBADF; -EINVAL:
 * not a dma-buf, or not one that this device can use; -ENOMEM. */
DRV_MUST_CHECK int vm_bo_import(struct vm *vm, int fd, struct vm_bo **bo);

/* --- addresses -------------------------------------------------------------------------------- */

enum vm_range_origin {
	VM_RANGE_HOST,    /* owns a host reservation of the same numbers */
	VM_RANGE_ADOPTED, /* owns nothing: the addresses are another vm's range, or host memory */
	VM_RANGE_ALIAS,   /* owns high addresses, which the host has not */
};

struct vm_range {
	struct vm *vm; /* borrowed; NULL: no range */
	uint64_t va, size_B;
	enum vm_range_origin origin;
};

enum vm_range_request_flags {
	VM_WANT_EXACT = 1 << 0, /* at va or not at all; without it va is a hint */
	VM_WANT_LOW = 1 << 1,   /* below 4 GiB */
	VM_WANT_HIGH = 1 << 2,  /* a VM_RANGE_ALIAS */
};

struct vm_range_request {
	uint64_t size_B;  /* whole pages */
	uint64_t align_B; /* a power of two; 0: a page */
	uint64_t va;      /* 0: anywhere; else a multiple of align_B */
	unsigned flags;   /* enum vm_range_request_flags */
};

/* -ENOMEM: the address space is full; -EEXIST: VM_WANT_EXACT, and something is there. */
DRV_MUST_CHECK int vm_range_reserve(struct vm *vm, const struct vm_range_request *request, struct vm_range *range);
/* The addresses of another vm's range, in this one. Only the GPU mapping of it is this range's; the host's stays
 * with `of`, which must outlive it. -EINVAL: beyond this GPU's reach. */
DRV_MUST_CHECK int vm_range_adopt(struct vm *vm, const struct vm_range *of, struct vm_range *range);
/* Unbinds all that is bound in it, then gives the addresses back. Accepts a zeroed range; zeroes it. */
void vm_range_release(struct vm_range *range);

/* --- binding ---------------------------------------------------------------------------------- */

enum vm_access {
	VM_GPU_READ = 1 << 0,
	VM_GPU_WRITE = 1 << 1,
	VM_GPU_FETCH = 1 << 2,
	VM_CPU_READ = 1 << 3, /* VM_CPU BOs in a VM_RANGE_HOST only */
	VM_CPU_WRITE = 1 << 4,
	VM_GPU_UNCACHED =
		1 << 5, /* as VM_UNCACHED, for this binding: an import does not know what its exporter said */
};
/* What a BO of these flags is bound with in its vm_mem. */
unsigned vm_access_of(unsigned flags);

/* Offsets and sizes are whole pages, inside range and BO. One binding may see a part of a BO, a range may hold
 * bindings of many, and a BO may be bound many times, with different access; a binding holds a reference of its BO.
 * Without any access it only is remembered.
 *
 * -EEXIST: something is bound there; -EACCES: access that the BO does not allow; -EINVAL; -ENOMEM. */
DRV_MUST_CHECK int vm_range_bind(struct vm_range *range, uint64_t offset_B, struct vm_bo *bo, uint64_t bo_offset_B,
				 uint64_t size_B, unsigned access);
/* The same over whatever is bound there, in one step for the GPU. When it fails in the kernel's GPU part all is as
 * before; when it fails in the CPU's part nothing is bound there any more. */
DRV_MUST_CHECK int vm_range_rebind(struct vm_range *range, uint64_t offset_B, struct vm_bo *bo,
				   uint64_t bo_offset_B, uint64_t size_B, unsigned access);
/* Empties a part of the range; bindings at its edges are cut. Cutting one in two takes memory: -ENOMEM, and all is
 * as before. */
DRV_MUST_CHECK int vm_range_unbind(struct vm_range *range, uint64_t offset_B, uint64_t size_B);
/* Changes the access of a part. -ENOENT: not all of it is bound. What a failure in the kernel leaves is what
 * vm_range_query() says: each binding has the old access or the new one. */
DRV_MUST_CHECK int vm_range_protect(struct vm_range *range, uint64_t offset_B, uint64_t size_B, unsigned access);

/* What the CPU sees in a part of a VM_RANGE_HOST where nothing is bound with CPU access: a VM_CPU BO of any vm, or
 * nothing (access 0; bo may be NULL). It is no binding: it stays until it is changed here or the range is released,
 * and the BO is not listed for it. */
DRV_MUST_CHECK int vm_range_view(const struct vm_range *range, uint64_t offset_B, const struct vm_bo *bo,
				 uint64_t bo_offset_B, uint64_t size_B, unsigned access);

struct vm_bound {
	uint64_t offset_B, size_B; /* where in the range; may begin before the offset that was asked for */
	struct vm_bo *bo;          /* borrowed, until it is unbound */
	enum vm_kind kind;         /* the BO's, and its flags: good also when another thread unbinds it meanwhile */
	unsigned flags;
	uint64_t bo_offset_B;
	unsigned access;
};
/* What is bound at offset_B, or else first behind it. -ENOENT: nothing. */
DRV_MUST_CHECK int vm_range_query(const struct vm_range *range, uint64_t offset_B, struct vm_bound *bound);

/* What is bound at an address, in whichever range: offset_B is that of the vm, an address. -ENOENT: nothing. */
DRV_MUST_CHECK int vm_query(struct vm *vm, uint64_t address, struct vm_bound *bound);

/* --- both in one ------------------------------------------------------------------------------ */

struct vm_mem {
	struct vm_bo *bo;      /* a reference */
	struct vm_range range; /* owned */
	uint64_t va;
	uint64_t size_B; /* from va on: the BO's, or what was registered */
	void *map;       /* where the CPU sees it; (void *)va unless va is an alias. NULL: nowhere */
	void *owner;     /* the user's own, for who finds it by vm_find(); NULL at first, never read here */
};

/* BO, range and binding in one. -EINVAL, -ENOMEM. */
DRV_MUST_CHECK int vm_mem_create(struct vm *vm, const struct vm_info *info, struct vm_mem **mem);
/* For every vm_mem, however it was made. Accepts NULL. */
void vm_mem_destroy(struct vm_mem *mem);

/* A dma-buf's memory at an address of its own; the CPU sees it when the exporter allows that. As vm_bo_import(). */
DRV_MUST_CHECK int vm_mem_import(struct vm *vm, int fd, struct vm_mem **mem);
/* The memory of another device's vm_mem in this vm, at the same address. `of` owns the host's mapping and must
 * outlive it. Host memory of vm_mem_create_on_node() gets a BO of its own here, and jobs of the two devices know
 * nothing of one another. Other memory is imported: Linux has each job that lists it wait for the unfinished jobs
 * of other devices that do, whether they touch it or not (amdgpu_sync.c; an import has no EXPLICIT_SYNC), so that
 * such jobs run by turns, and kernels of two devices that wait for each other never end. -EPERM: resident, or
 * registered host memory (register it here as well); -ENOTSUP: this device does not reach the host's addresses. */
DRV_MUST_CHECK int vm_mem_share(struct vm *vm, const struct vm_mem *of, struct vm_mem **mem);

/* The vm_mem that has this address, by its own or, for registered memory, by its host address; for a suballocation,
 * its slab's. NULL: none of this vm's. Of several registrations of one host address, any. The caller keeps it
 * alive. O(log n), no ioctl. */
struct vm_mem *vm_find(struct vm *vm, uint64_t address);

#endif
