/* Kernel state: every struct of the state_*.h files is in the run's shared segment, which has one address in all
 * processes of the run, so plain pointers are valid in each of them.
 *
 *   root ─ device ─ hw rings (counters)         the hardware
 *     ├── proc ─ rings ─ jobs                   a process; its threads execute its jobs
 *     │     └── holds                           objects that it keeps alive: descriptors, CPU mappings
 *     └── inode ─ file ─ vm ─ maps              an open of a node, and its address space
 *                   ├── handles ─ bo ─ block    buffers and their physical memory        state_gem.h
 *                   ├── contexts ─ entities     queues of jobs                           state_sched.h
 *                   ├── syncobjs ─ fences       ends of jobs, and their names            state_sync.h
 *                   └── BO lists                buffers that a job may access            state_gem.h
 *
 * Locks. The kernel lock (kern_lock(), process-shared, robust) guards all members, unless a member says otherwise.
 * Sleeping drops it (kern_wait_sleep). struct kern_vm has a second, longer lock: vm->holder, which a CS keeps while
 * it blocks, as the kernel keeps the reservation of the page tables.
 *
 * Vocabulary: counted = holds a reference; borrowed = another object's reference keeps it; owned = freed with it.
 */
#ifndef VGPU_KERNEL_BASE_STATE_H
#define VGPU_KERNEL_BASE_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "vgpu/kernel/base/idr.h"
#include "vgpu/kernel/base/state_sched.h"
#include "vgpu/kernel/base/state_userq.h"
#include "vgpu/kernel/kernel.h"

#define KERN_PAGE      4096u
#define KERN_DEVICES   16
#define KERN_PROCS     256
#define KERN_XCC_RINGS 8  /* compute rings of an XCC (amdgpu.num_kcq) */
#define KERN_HW_RINGS  64 /* rings of an IP at most: compute rings of eight XCCs */
#define KERN_VMIDS     8  /* VMIDs of DRM at most, besides the kernel's VMID 0 */
#define KERN_PARTITIONS                                                                                            \
	8                /* partitions of a device, and nodes that Linux makes for them (MAX_XCP of amdgpu_xcp.h) */
#define KERN_HW_JOBS   2 /* jobs handed to a ring at once (amdgpu.sched_hw_submission) */
#define KERN_GWS       64 /* resources of global wave sync */
#define KERN_IOCTLS    256
#define KERN_HASH      4096
#define KERN_FAKE_BASE (1ull << 32) /* mmap offsets start here, above any file offset that means something else */

/* Things that a client can leak; counted for vgpu_live_objects(). */
enum kern_kind {
	KERN_BOS,
	KERN_MAPPINGS,
	KERN_CONTEXTS,
	KERN_FILES,
	KERN_FENCES,
	KERN_SYNCOBJS,
	KERN_BO_LISTS,
	KERN_JOBS,
	KERN_KINDS,
};

/* --- files --- */

enum kern_inode_kind { KERN_INODE_FILE, KERN_INODE_DMABUF, KERN_INODE_SYNCOBJ, KERN_INODE_SYNC_FILE };

#define KERN_RECEIVERS 4 /* messages with one descriptor that are under way to known processes at a time */

/* Object behind a descriptor of the virtual GPU. The descriptor's file is a memfd of its own, known by its inode
 * number. */
struct kern_inode {
	struct kern_list hash; /* in root->inode_hash */
	uint64_t dev, ino;     /* immutable */
	enum kern_inode_kind kind;
	void *object;                   /* counted: kern_file, kern_bo, kern_syncobj or kern_fence */
	unsigned holds;                 /* descriptors in all processes, and messages in flight */
	unsigned flying;                /* holds of messages in flight */
	pid_t receiver[KERN_RECEIVERS]; /* receivers of the first messages; 0: not known */
};

struct kern_file {
	unsigned refs;
	struct kern_device *dev; /* immutable */
	bool primary;            /* card node */
	unsigned node;           /* number of the node in the run, immutable */
	int8_t partition;        /* partition of the device; -1: none yet, the first context chooses one */
	bool authenticated;
	uint32_t magic;              /* 0: none assigned */
	struct kern_vm *vm;          /* counted, immutable */
	struct kern_idr handles;     /* owned kern_handle */
	struct kern_idr contexts;    /* counted kern_ctx */
	struct kern_idr lists;       /* counted kern_bo_list */
	struct kern_idr syncobjs;    /* counted kern_syncobj */
	struct kern_idr userqs;      /* counted kern_userq */
	struct kern_bo_list *recent; /* counted: the list of the last BO_HANDLES chunk */
	uint32_t opener;             /* process serial; another user after fork is worth a finding */
	bool fork_reported;
};

/* A descriptor or a CPU mapping of a process, released when the process dies. */
struct kern_hold {
	struct kern_list link;    /* in proc->holds */
	struct kern_inode *inode; /* this or bo is set; counted */
	struct kern_bo *bo;
};

/* --- processes, devices, root --- */

struct kern_proc {
	uint32_t serial; /* 0: free slot */
	pid_t pid;
	uint64_t start_time;     /* field 22 of /proc/PID/stat: differs for a recycled pid; 0: unknown */
	int segment_fd, phys_fd; /* descriptors in that process, for later ones to open through /proc */
	struct kern_list holds;
	struct kern_list waits;   /* kern_wait.link: sleepers, to unlink when it dies */
	struct kern_list calls;   /* struct kern_call of call.h: what its ioctls hold */
	struct kern_list freeing; /* kern_bo.zombie: buffers that it is about to free */
	struct kern_list watches; /* struct kern_watch of watch.h: descriptors that wait for fences */
	struct kern_list userqs;  /* kern_userq.link: whose threads are its */
	struct kern_ring **rings; /* owned array of owned rings, [device][ip][index] */
	unsigned unnamed; /* sleeping threads whose stack has the only reference to an object of the segment */
};

struct kern_hw_ring {
	unsigned score;  /* entities attached and jobs queued, of all processes */
	uint64_t resets; /* how often this ring was reset */
};

struct kern_vmid {
	struct kern_vm *vm; /* borrowed: the VM that has it; cleared when that is freed. NULL: none */
	uint32_t process;   /* serial of the process whose job used it last; 0: none yet */
	uint64_t used;      /* stamp of its last job */
	uint64_t foreign;   /* the device's vmid_epoch when it was last used by another process; 0: never */
};

struct kern_device {
	_Alignas(KERN_PAGE) uint64_t seq64[KERN_SLOTS]; /* fences of user queues; mapped in each VM, for reading */
	_Alignas(KERN_PAGE) uint8_t dummy[KERN_PAGE];   /* target of faulting accesses of all processes */
	unsigned index;                                 /* immutable */
	char chip_name[16];
	unsigned profile; /* immutable: kernel release, as profile.h counts them */
	bool null_device;
	uint64_t service_ns;
	uint64_t watchdog_ns[KERN_IPS];
	unsigned nodes;            /* immutable */
	bool f8_fnuz, sramecc;     /* immutable, as are the next two */
	unsigned userq;            /* immutable: amdgpu.user_queue */
	unsigned xccs, partitions; /* immutable: the second divides the first */
	struct kern_vmid vmid[KERN_VMIDS];
	uint64_t vmid_epoch;               /* grows when a VMID changes hands between processes */
	unsigned users[KERN_PARTITIONS];   /* entities of contexts that use the partition */
	uint64_t vram_B, visible_B, gtt_B; /* immutable */
	uint64_t vram_used_B, visible_used_B, gtt_used_B;
	uint64_t bytes_moved, evictions, cpu_faults;
	struct kern_list lru;                /* kern_bo.lru: what is in VRAM, by bo->used */
	struct kern_bo *gws[KERN_GWS];       /* borrowed: the buffer that has each resource of global wave sync */
	struct kern_userq *slot[KERN_SLOTS]; /* borrowed: the user queue that has each word of seq64 */
	unsigned last_slot;                  /* given last */
	uint32_t notifier;                   /* process serial that holds the notifier lock; 0: free */
	struct kern_waitq notified;
	uint32_t resets, vram_lost;
	uint64_t generation;
	uint64_t hive; /* immutable, as is the next member; see struct kern_device_config */
	bool no_p2p;
	bool unplugged;
	struct kern_ctx *pstate_owner; /* borrowed; cleared when it is freed */
	struct kern_file *master;      /* borrowed; cleared when it is closed */
	struct kern_hw_ring hw[KERN_IPS][KERN_HW_RINGS];
};

/* A plan. Events have no error. */
struct kern_inject {
	uint64_t countdown; /* 0: none */
	int error;
	uint32_t chance_ppm; /* 0: none */
	int chance_error;
};

struct kern_root {
	uint64_t magic, layout; /* kern_layout() of the creator */
	uint32_t ready;         /* atomic: 1 when the creator has finished */
	pthread_mutex_t lock;
	uint64_t heap_next, heap_end; /* bump allocator; classes below */
	void *heap_free[64];
	struct kern_phys phys;
	unsigned devices;
	struct kern_device device[KERN_DEVICES];
	struct kern_proc proc[KERN_PROCS];
	unsigned procs;       /* slots in use */
	unsigned died_inside; /* processes that died with the lock */
	bool repair_due;      /* by repair.c */
	uint32_t next_serial;
	uint64_t next_id, next_context, next_fake;
	struct kern_list inode_hash[KERN_HASH];
	struct kern_list mmap_hash[KERN_HASH];
	struct kern_list zombies;  /* kern_bo.zombie: without references, but a job may still use their memory */
	struct kern_list userptrs; /* kern_bo.user_link */
	_Atomic uint32_t userptr_count; /* relaxed: lets munmap() skip the notifier when there is none */
	unsigned holders;               /* BO lists that have a holder */
	struct kern_waitq released;
	uint64_t userptr_pages; /* pages that CS ioctls have looked up */
	uint64_t live[KERN_KINDS];
	uint64_t ioctls, ioctl_nr[KERN_IOCTLS]; /* number of ioctls */
	struct kern_inject inject_any, inject_nr[KERN_IOCTLS];
	_Atomic uint32_t injecting; /* outstanding plans; the ioctl path reads nothing else */
	struct kern_inject events[KERN_EVENTS];
	int64_t messages_since_ns; /* window of printk_ratelimit(), and how many were printed in it */
	unsigned messages;
	uint64_t draws; /* state of the generator that chances are drawn from */
};

#endif
