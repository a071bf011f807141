/* vm/: buffer objects and the GPU address space of one device. This header is the room's interface.
 *
 *   vm        one device's GPU address space in this process; has the BO list, the indices and the accounts
 *   vm_bo     memory: a kernel buffer object. It has no address. Counted.
 *   vm_range  addresses: an interval for the GPU, reserved at the same numbers on the host. It has no memory.
 *   (binding) a part of a BO mapped in a part of a range; owned by the vm, see vm_range_query()
 *   vm_mem    the common case: one BO bound to a range of its own; owned by its creator
 *
 * Host memory is in host.h, small allocations in suballoc.h, memory of other devices in peer.h. Locks are internal
 * (internal.h).
 *
 * A pointer has the same value on the CPU and on the GPU: a range is reserved in the host's address space, and BOs
 * are bound there for both. Two kinds of range own no host addresses: a range adopted from another device's vm, and
 * a range of high addresses, which only the GPU has (an alias).
 *
 * Residency. The kernel keeps the BOs that a submission lists resident. VM_RESIDENT BOs are always valid and need
 * no list; they can never be exported. All others are in one kernel BO list, which vm_list() updates: a submission
 * costs O(1), whatever the number of BOs. Every BO is EXPLICIT_SYNC, except registered host memory: the kernel has
 * no such flag for it, and no other process can submit work with it.
 *
 * No function waits for the GPU: before a thread frees, moves or rebinds memory, it makes sure that no submitted
 * work can reach the memory.
 *
 * Thread rule: all functions are thread safe, but an object may be destroyed only by its last user.
 * Errors: -errno with a record (drv_error_last). -ENODEV in a child that inherited the object over fork. -EINVAL
 * for sizes and offsets that are 0, unaligned, too large or outside, before any ioctl. */
#ifndef VM_VM_H
#define VM_VM_H

#include <stdbool.h>
#include <stdint.h>

#include "drv/drv.h"

enum vm_kind {
	VM_VRAM,   /* device memory */
	VM_GTT,    /* system memory, CPU-cached, snooped by the GPU */
	VM_GTT_WC, /* system memory, write-combined: the CPU should only write it */
	VM_KINDS,
};

enum vm_flags {
	VM_CPU = 1 << 0,      /* the CPU maps it; VRAM then comes from the visible window */
	VM_EXEC = 1 << 1,     /* the GPU may fetch instructions from it */
	VM_UNCACHED = 1 << 2, /* MTYPE_UC: not cached in the GPU's L2. For memory that CPU and GPU both poll. */
	VM_RESIDENT = 1 << 3, /* always valid, never exported */
	VM_STRICT = 1 << 4,   /* -ENOMEM instead of memory elsewhere */
	VM_READONLY = 1 << 5, /* out: the GPU must not write it (read-only host memory) */
};

/* When VRAM is full the kernel gives no error: it moves BOs that were not used lately, of any process, to system
 * memory, or places the new BO there. With VM_STRICT, vm_bo_create() first queries the VRAM in use
 * (drv_usage_memory()) and refuses a size that would not fit. A stronger promise is impossible: another process may
 * allocate meanwhile, and the kernel reports the placement of a BO only through growing moved_B and evictions. */
struct vm_info {
	uint64_t size_B; /* rounded up to a page; not 0 */
	enum vm_kind kind;
	unsigned flags; /* enum vm_flags */
};

/* Memory use of this process. */
struct vm_stats {
	uint64_t bytes[VM_KINDS], peak[VM_KINDS]; /* created BO memory by kind: current, and maximum */
	uint64_t user_B, user_peak_B;             /* registered host memory */
	uint64_t imported_B, imported_peak_B;
	uint64_t bos, ranges, mappings; /* alive; mappings: bindings with GPU access */
	uint64_t list_updates;          /* BO_LIST ioctls so far */
};

struct vm;

enum vm_origin { VM_CREATED, VM_USER, VM_IMPORTED, VM_ORIGINS };

struct vm_bo {
	struct vm *vm;         /* borrowed; outlives the BO */
	uint64_t size_B;       /* whole pages */
	uint32_t handle;       /* GEM handle; owned */
	uint32_t list_index;   /* index in the BO list, guarded by the vm's list lock; VM_UNLISTED when resident */
	_Atomic uint32_t refs; /* drops to 0 under the vm's share lock only */
	enum vm_kind kind;     /* VM_GTT for an import from another device, whatever its placement */
	enum vm_origin origin;
	unsigned flags;
};
#define VM_UNLISTED UINT32_MAX

/* Creates the address space of a device. dev is borrowed until vm_destroy(), which expects that every object of the
 * vm is gone. */
DRV_MUST_CHECK int vm_create(const struct drv_device *dev, struct vm **vm);
/* Creates the vm of a further device of the process. Such vms share process-wide state: the allocator of high
 * addresses, and the set of host pages that children must not inherit. */
DRV_MUST_CHECK int vm_create_shared(struct vm *first, const struct drv_device *dev, struct vm **vm);
void vm_destroy(struct vm *vm);
const struct drv_device *vm_device(const struct vm *vm);
void vm_stats(struct vm *vm, struct vm_stats *stats);

/* A GPU access to memory that is not mapped for it. */
struct vm_fault {
	uint64_t va; /* of the page */
	bool write;
	bool present; /* the page is mapped, but not for this access */
	bool execute; /* an instruction fetch */
};
/* Queries the last GPU page fault of this address space: -EFAULT with a record that names address and access, and
 * *fault (NULL is accepted); 0: the kernel recorded none, which proves nothing. One ioctl. The kernel keeps only
 * the last fault and no count: each new fault is reported once, and a fault with the same page and access as the
 * last not at all. The kernel records no fault while its messages are rate limited (10 of any kind in 5 s), none in
 * a virtual machine with SR-IOV, and some only after the fence of the job (gmc_v9_0.c,
 * gmc_v9_0_process_interrupt()). Linux 6.9 or newer (DRM 3.55); before it, always 0. */
DRV_MUST_CHECK int vm_check_fault(struct vm *vm, struct vm_fault *fault);

/* Gets the BO list for the next submission: its kernel handle, 0 when no BO needs listing. One load when nothing
 * changed since the last call, else one ioctl. */
DRV_MUST_CHECK int vm_list(struct vm *vm, uint32_t *handle);

/* For submissions to user queues, which the kernel does not hold back until the page tables have what was mapped.
 * True: something was mapped since vm_updates_wait() last waited. Two loads. */
bool vm_updates_pending(const struct vm *vm);
/* Waits until the page tables have all mappings that were made before the call. No ioctl where none is pending, or
 * the device has no user queues; else one. Errors: those of a device that is gone. */
DRV_MUST_CHECK int vm_updates_wait(struct vm *vm);

/* A page of doorbells, of 8 bytes each: the CPU's way to start a user queue. The caller's storage. */
struct vm_doorbell {
	struct vm *vm;         /* borrowed; NULL: none */
	_Atomic uint64_t *map; /* owned: the page */
	uint32_t handle;       /* owned: GEM handle */
};
/* -EINVAL: the device has no user queues; -ENOMEM. */
DRV_MUST_CHECK int vm_doorbell_create(struct vm *vm, struct vm_doorbell *doorbell);
/* No queue uses it any more. Accepts a zeroed one; zeroes it. */
void vm_doorbell_destroy(struct vm_doorbell *doorbell);

/* Creates the vm's resource of global wave sync (number 0 of a job's) if there is none yet; the vm keeps it until
 * vm_destroy(). Jobs that do not list it are unaffected. -ENOTSUP: the chip has none; -ENOMEM. */
DRV_MUST_CHECK int vm_gws_create(struct vm *vm);
/* Creates a BO list for one job whose waves use global wave sync: the BOs of vm_list(), and the resource. One
 * ioctl, and another to destroy the list; the job keeps what it listed. */
DRV_MUST_CHECK int vm_gws_list(struct vm *vm, uint32_t *handle);
void vm_gws_unlist(struct vm *vm, uint32_t handle);

/* --- memory ----------------------------------------------------------------------------------- */

/* Errors: -EINVAL (size 0 or beyond any heap), -ENOMEM. */
DRV_MUST_CHECK int vm_bo_create(struct vm *vm, const struct vm_info *info, struct vm_bo **bo);
/* Wraps whole pages of this process's memory in a BO; the rules of vm_mem_register() hold. flags: VM_EXEC,
 * VM_UNCACHED, VM_READONLY. -EFAULT: not mapped, or memory that the GPU cannot use; -ENOMEM. */
DRV_MUST_CHECK int vm_bo_create_user(struct vm *vm, uint64_t host, uint64_t size_B, unsigned flags,
				     struct vm_bo **bo);
/* Adds a reference; gives bo. */
struct vm_bo *vm_bo_get(struct vm_bo *bo);
/* Drops a reference; the last one frees the memory and every GPU mapping of it. Accepts NULL. */
void vm_bo_put(struct vm_bo *bo);

/* Exports the whole BO as a dma-buf: *fd is close-on-exec and owned by the caller. The memory lives as long as the
 * BO, an import or a descriptor does. -EPERM: resident, or registered host memory; -EMFILE, -ENFILE: no descriptor
 * left. */
DRV_MUST_CHECK int vm_bo_export(struct vm_bo *bo, int *fd);
/* Imports the memory of a dma-buf; fd stays the caller's. One dma-buf has one handle in a file description, so
 * importing it twice, or importing an export of this vm, gives the same BO with one more reference. An import from
 * another device is that device's memory, of kind VM_GTT; vm_peer_probe() finds out whether the GPUs are peers.
 * -EBADF; -EINVAL: no dma-buf, or unusable on this device; -ENOMEM. */
DRV_MUST_CHECK int vm_bo_import(struct vm *vm, int fd, struct vm_bo **bo);

/* True while a BO lives that was exported or imported. Any thread. */
bool vm_shares(struct vm *vm);

/* --- addresses -------------------------------------------------------------------------------- */

enum vm_range_origin {
	VM_RANGE_HOST,    /* owns a host reservation of the same numbers */
	VM_RANGE_ADOPTED, /* owns nothing: the addresses belong to another vm's range, or are host memory's */
	VM_RANGE_ALIAS,   /* owns high addresses, which the host does not have */
};

struct vm_range {
	struct vm *vm; /* borrowed; NULL: no range */
	uint64_t va, size_B;
	enum vm_range_origin origin;
	bool bound; /* something was bound here through this range, and not only through another one at its addresses */
};

enum vm_range_request_flags {
	VM_REQUEST_EXACT = 1 << 0, /* exactly at va; without the flag va is a hint */
	VM_REQUEST_LOW = 1 << 1,   /* below 4 GiB */
	VM_REQUEST_HIGH = 1 << 2,  /* a VM_RANGE_ALIAS */
};

struct vm_range_request {
	uint64_t size_B;  /* whole pages */
	uint64_t align_B; /* a power of two; 0: a page */
	uint64_t va;      /* 0: anywhere; else a multiple of align_B */
	unsigned flags;   /* enum vm_range_request_flags */
};

/* Reserves addresses. -ENOMEM: the address space is full; -EEXIST: VM_REQUEST_EXACT, and the addresses are in use. */
DRV_MUST_CHECK int vm_range_reserve(struct vm *vm, const struct vm_range_request *request, struct vm_range *range);
/* Makes a range of this vm at the addresses of another vm's range. The new range covers only the GPU mapping; the
 * host addresses stay with `of`, which must outlive it. -EINVAL: beyond this GPU's reach. */
DRV_MUST_CHECK int vm_range_adopt(struct vm *vm, const struct vm_range *of, struct vm_range *range);
/* Unbinds everything in the range, then releases its addresses. Accepts a zeroed range; zeroes it. */
void vm_range_release(struct vm_range *range);

/* --- binding ---------------------------------------------------------------------------------- */

enum vm_access {
	VM_GPU_READ = 1 << 0,
	VM_GPU_WRITE = 1 << 1,
	VM_GPU_FETCH = 1 << 2,
	VM_CPU_READ = 1 << 3, /* for VM_CPU BOs in a VM_RANGE_HOST only */
	VM_CPU_WRITE = 1 << 4,
	VM_GPU_UNCACHED = 1 << 5, /* VM_UNCACHED for this binding: an import does not know its exporter's flags */
};
/* Default access of a BO with these flags: that of its vm_mem. */
unsigned vm_access_of(unsigned flags);

/* Binds a part of a BO to a part of a range. Offsets and sizes are whole pages, inside range and BO. A range may
 * have bindings of many BOs, and a BO many bindings with different access; a binding holds a reference of its BO. A
 * binding without any access is recorded, not mapped.
 *
 * -EEXIST: the addresses are bound already; -EACCES: access that the BO does not allow; -EINVAL; -ENOMEM. */
DRV_MUST_CHECK int vm_range_bind(struct vm_range *range, uint64_t offset_B, struct vm_bo *bo, uint64_t bo_offset_B,
				 uint64_t size_B, unsigned access);
/* Binds like vm_range_bind() and replaces existing bindings, in one step for the GPU. After a failure in the
 * kernel's GPU part nothing has changed; after a failure in the CPU's part nothing is bound there. */
DRV_MUST_CHECK int vm_range_rebind(struct vm_range *range, uint64_t offset_B, struct vm_bo *bo,
				   uint64_t bo_offset_B, uint64_t size_B, unsigned access);
/* Unbinds a part of the range; splits bindings at its edges. Splitting a binding takes memory: after -ENOMEM
 * nothing has changed. */
DRV_MUST_CHECK int vm_range_unbind(struct vm_range *range, uint64_t offset_B, uint64_t size_B);
/* Changes the access of a part. -ENOENT: not all of it is bound. After a failure in the kernel, each binding has
 * the old access or the new one: see vm_range_query(). */
DRV_MUST_CHECK int vm_range_protect(struct vm_range *range, uint64_t offset_B, uint64_t size_B, unsigned access);

/* Sets the CPU mapping of a part of a VM_RANGE_HOST where nothing is bound with CPU access: a VM_CPU BO of any vm,
 * or nothing (access 0; bo may be NULL). This is no binding: it stays until the next call or the release of the
 * range, and does not list the BO. */
DRV_MUST_CHECK int vm_range_view(const struct vm_range *range, uint64_t offset_B, const struct vm_bo *bo,
				 uint64_t bo_offset_B, uint64_t size_B, unsigned access);

struct vm_bound {
	uint64_t offset_B, size_B; /* position in the range; may begin before the requested offset */
	struct vm_bo *bo;          /* borrowed until it is unbound */
	/* copied from the BO, with its flags: valid also when another thread unbinds it meanwhile */
	enum vm_kind kind;
	unsigned flags;
	uint64_t bo_offset_B;
	unsigned access;
};
/* Finds the binding at offset_B, or else the first after it. -ENOENT: none. */
DRV_MUST_CHECK int vm_range_query(const struct vm_range *range, uint64_t offset_B, struct vm_bound *bound);

/* Finds the binding at an address, in any range; bound->offset_B is an address. -ENOENT: none. */
DRV_MUST_CHECK int vm_query(struct vm *vm, uint64_t address, struct vm_bound *bound);

/* --- vm_mem: BO and range --------------------------------------------------------------------- */

struct vm_mem {
	struct vm_bo *bo;      /* counted */
	struct vm_range range; /* owned */
	uint64_t va;
	uint64_t size_B; /* from va on: the BO's size, or the registered size */
	void *map;       /* the CPU's address; (void *)va unless va is an alias. NULL: no CPU mapping */
	/* the user's own word, for whoever finds it by vm_locate(); NULL at first. Guarded by the vm's index lock */
	void *owner;
};

/* Creates BO, range and binding. -EINVAL, -ENOMEM. */
DRV_MUST_CHECK int vm_mem_create(struct vm *vm, const struct vm_info *info, struct vm_mem **mem);
void vm_mem_set_owner(struct vm_mem *mem, void *owner);
/* Destroys any vm_mem, however it was created. Accepts NULL. */
void vm_mem_destroy(struct vm_mem *mem);

/* Imports a dma-buf at an address of its own; the CPU maps it when the exporter allows that. Errors: as
 * vm_bo_import(). */
DRV_MUST_CHECK int vm_mem_import(struct vm *vm, int fd, struct vm_mem **mem);
/* Makes the memory of another device's vm_mem available in this vm, at the same address. `of` owns the host's
 * mapping and must outlive the result. Host memory of vm_mem_create_on_node() gets a BO of its own here, and jobs
 * of the two devices are independent. Other memory is imported: Linux makes each job that lists it wait for the
 * unfinished jobs of other devices that list it, whether they touch it or not (amdgpu_sync.c; an import has no
 * EXPLICIT_SYNC). So such jobs take turns, and kernels of two devices that wait for each other never end. -EPERM:
 * resident, or registered host memory (register it here as well); -ENOTSUP: this device does not reach the host's
 * addresses. */
DRV_MUST_CHECK int vm_mem_share(struct vm *vm, const struct vm_mem *of, struct vm_mem **mem);

/* Finds the vm_mem of an address: its own address or, for registered memory, its alias or its host address; for a
 * suballocation, its slab's vm_mem. NULL: no memory of this vm. Of several registrations of one host address, any. The
 * caller keeps the vm_mem alive. O(log n), no ioctl. */
struct vm_mem *vm_find(struct vm *vm, uint64_t address);

/* What vm_find() finds, copied: another thread may destroy the vm_mem meanwhile. */
struct vm_location {
	uint64_t va;       /* the GPU's address of the byte */
	uint64_t offset_B; /* of the byte in the vm_mem */
	uint64_t left_B;   /* bytes of the vm_mem from there on, at least 1 */
	enum vm_kind kind;
	bool cpu;       /* the CPU has the memory at va, too */
	bool read_only; /* VM_READONLY */
	void *owner;    /* the vm_mem's */
};
/* -ENOENT: no memory of this vm, or a registration that another thread has only begun. */
DRV_MUST_CHECK int vm_locate(struct vm *vm, uint64_t address, struct vm_location *location);

#endif
