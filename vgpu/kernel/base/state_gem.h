/* Buffers, their memory, their GPU addresses, and BO lists: state in the run's segment, guarded by the kernel lock.
 * state.h has the vocabulary of the comments.
 *
 *   kern_block    a range of the physical memory file
 *   kern_bo       a buffer; owns its block
 *   kern_handle   a file's number for a buffer; owns the mappings that were made under it
 *   kern_vm       a GPU address space, of one file
 *   kern_bo_list  the buffers that a job may access */
#ifndef VGPU_KERNEL_BASE_STATE_GEM_H
#define VGPU_KERNEL_BASE_STATE_GEM_H

#include <stdbool.h>
#include <stdint.h>
#include "vgpu/kernel/base/state_sync.h"

struct kern_device;
struct kern_file;
struct kern_inode;
struct kern_bo_list;

/* A range of the physical memory file. Blocks tile it in address order, used and free ones. */
struct kern_block {
	struct kern_list link;
	uint64_t offset, size_B;
	bool used;
};

/* The physical memory of all devices and of GTT: one sparse file. A buffer's place in it is independent of its
 * heap; heaps are accounts (struct kern_device). */
struct kern_phys {
	uint64_t size_B;
	struct kern_list blocks;
	struct kern_block *cursor; /* next-fit: where the last search ended */
};

struct kern_bo {
	uint32_t id; /* immutable: for reports */
	unsigned refs;
	struct kern_device *dev;     /* immutable */
	uint64_t size_B;             /* immutable, whole pages */
	uint64_t alignment_B;        /* immutable */
	uint32_t preferred, allowed; /* AMDGPU_GEM_DOMAIN_* */
	uint32_t heap;               /* domain that it is accounted to now; 0: none */
	bool visible;                /* in the part of VRAM that the CPU reaches */
	uint64_t flags;              /* AMDGPU_GEM_CREATE_*; immutable */
	struct kern_block *block;    /* owned; NULL for userptr, GDS kinds and foreign imports */
	uint32_t gws_base;           /* the first of its resources of global wave sync, if gws_given */
	uint64_t gws_given;          /* stamp: when it got them; 0: it has none */
	struct kern_bo *foreign;     /* counted: the exporter's buffer of another device, which has the memory */
	bool unmapped;               /* foreign: no job has listed it yet */
	uint64_t user_addr;          /* userptr only, immutable */
	uint32_t user_flags;
	bool user_changed;            /* a mapping in it was replaced, or its protection: to be looked at again */
	bool user_files;              /* files are mapped in it, which may be cut; set by the last look */
	uint32_t user_proc;           /* serial of the process that owns the memory */
	struct kern_list user_link;   /* in root->userptrs, or empty */
	struct kern_list zombie;      /* in root->zombies, in proc->freeing, or empty */
	struct kern_list lru;         /* in dev->lru while its heap is VRAM */
	uint64_t used;                /* stamp of its last use that its place in dev->lru shows */
	uint64_t used_late;           /* stamp of a later use that neither its lists nor its VM record */
	struct kern_list imports;     /* kern_bo.import_link: imports of this buffer */
	struct kern_list import_link; /* in foreign->imports, or empty */
	struct kern_vm *vm;           /* VM_ALWAYS_VALID only; counted, immutable */
	/* Fences of jobs that listed this BO; an exported BO and its imports have one reservation object together.
	 * VM_ALWAYS_VALID buffers use their VM's. */
	struct kern_resv resv;
	struct kern_list handles;  /* kern_handle.bo_link */
	struct kern_list lists;    /* kern_list_entry.bo_link: the BO lists that name it */
	struct kern_list hash;     /* in root->mmap_hash, by fake */
	uint64_t fake;             /* immutable: its offset for mmap() on a file that has a handle */
	struct kern_inode *dmabuf; /* borrowed; the inode holds a reference to this buffer */
	bool shared;               /* was exported once */
	bool named;                /* has a FLINK name: its id */
	uint64_t mark;             /* scratch of walks through a list: the epoch of the last one that met it */
	uint64_t tiling;
	uint64_t meta_flags;
	uint32_t meta_B;
	void *meta; /* owned */
};

/* A name of a buffer in one file, and the mappings made under it. */
struct kern_handle {
	uint32_t id;
	struct kern_bo *bo;     /* counted */
	struct kern_file *file; /* borrowed: the file frees its handles */
	struct kern_list bo_link;
	struct kern_list maps; /* kern_map.link */
	bool imported;
};

/* A mapping: GPU addresses [lo, hi), masked to 48 bits. */
struct kern_map {
	uint64_t lo, hi;
	struct kern_handle *handle; /* borrowed: it frees its maps; NULL for PRT */
	uint64_t offset;            /* in the buffer */
	uint32_t flags;             /* AMDGPU_VM_PAGE_*, _MTYPE_* */
	bool delayed;               /* waits for the next CS */
	uint64_t born, cuts;        /* vm->version, vm->cuts when it was made */
	struct kern_list link;
};

struct kern_vm_fault {
	uint64_t addr;
	uint32_t status, vmhub;
};

/* A fault that is not recorded yet. */
struct kern_late_fault {
	struct kern_vm_fault fault;
	int64_t due_ns; /* when it will be; 0: there is none; INT64_MAX: some time after the job's end */
};

/* A GPU address space. */
struct kern_vm {
	uint64_t id; /* immutable, from 1 */
	unsigned refs;
	struct kern_device *dev; /* immutable */
	struct kern_map **map;   /* owned array, sorted by lo */
	unsigned count, room;
	unsigned delayed; /* how many wait for the next CS */
	/* Read without the lock, too; seq_cst: */
	_Atomic uint64_t version; /* changes with every mapping; part of a view's key */
	_Atomic uint64_t landed;  /* mappings born until then are in the page tables, as jobs have shown */
	uint64_t cuts;            /* mappings that were removed or cut so far */
	struct kern_resv resv;    /* fences of the page tables and of all always-valid buffers */
	uint64_t generation;      /* generation of the device when it was made; differs after VRAM was lost */
	uint32_t holder;          /* process serial that holds the VM lock; 0: free */
	struct kern_waitq unlocked;
	bool reserved_vmid;
	unsigned running; /* jobs that the engine executes now */
	uint64_t used;    /* stamp of its last job */
	bool displaced;   /* some always-valid buffer was evicted */
	struct kern_vm_fault fault;
	struct kern_late_fault late;
	uint64_t *redirected; /* owned array, sorted: pages that the dummy page was mapped to */
	unsigned redirects, redirect_room;
};

struct kern_list_entry {
	struct kern_bo *bo; /* counted */
	struct kern_bo_list *list;
	struct kern_list bo_link; /* in bo->lists */
};

/* The buffers that a job may reach. Jobs leave their fence here, not in each buffer, so that submitting with an
 * unchanged list does not depend on its length; buffers find these fences through their membership. */
struct kern_bo_list {
	unsigned refs;
	uint64_t id; /* changes with the content; part of a view's key */
	unsigned count;
	struct kern_list_entry *entry; /* owned array */
	unsigned userptrs;             /* userptr entries, which each CS must check */
	unsigned implicit;             /* entries without EXPLICIT_SYNC */
	bool unmapped;                 /* some entries are imports that no job had listed */
	bool displaced;                /* some entries were evicted */
	struct kern_bo *gws;           /* borrowed: the last entry that is global wave sync; NULL: none */
	uint64_t used;                 /* stamp of the last job that listed it */
	uint64_t holder;               /* VM of a CS that sleeps with its BOs reserved; 0: none */
	struct kern_resv resv;         /* fences of the jobs that used this list */
	uint32_t *handles;             /* owned; chunk lists only: the handles that it was made from */
};

#endif
