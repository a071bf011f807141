/* Kernel state: every struct here lives in the run's shared segment, which stands at one address in all processes
 * of the run, so plain pointers are valid in each of them.
 *
 *   root ─ device ─ hw rings (counters)         what hardware is there
 *     ├── proc ─ rings ─ jobs                   a process; its threads execute its jobs
 *     │     └── holds                           what it keeps alive: descriptors, CPU mappings
 *     └── inode ─ file ─ vm ─ maps              an open of the render node, and its address space
 *                   ├── handles ─ bo ─ block    buffers and their physical memory
 *                   ├── contexts ─ entities     queues of jobs; each job ends with a fence
 *                   ├── BO lists, syncobjs
 *
 * Locks. Everything is guarded by the kernel lock (kern_lock(), process-shared, robust), unless a member says
 * otherwise. Sleeping drops it (kern_wait_sleep). struct kern_vm has a second, longer lock: vm->holder, which a CS
 * keeps while it blocks, as the kernel keeps the reservation of the page tables.
 * Vocabulary: counted = holds a reference; borrowed = someone else's reference keeps it; owned = freed with it. */
#ifndef VGPU_KERNEL_STATE_H
#define VGPU_KERNEL_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "vgpu/engine/engine.h"
#include "vgpu/gpuvm.h"
#include "vgpu/kernel/base/idr.h"
#include "vgpu/kernel/base/list.h"
#include "vgpu/kernel/kernel.h"

#define KERN_PAGE        4096u
#define KERN_DEVICES     16
#define KERN_PROCS       256
#define KERN_IPS         3  /* GFX, COMPUTE, DMA: the rest has no block on these chips' compute path */
#define KERN_XCC_RINGS   8  /* compute rings of an XCC (amdgpu.num_kcq) */
#define KERN_HW_RINGS    64 /* of one IP: compute rings of eight XCCs */
#define KERN_VMIDS       8  /* that DRM has at most, 0 being the kernel's */
#define KERN_PARTITIONS  8  /* of a device, and nodes that Linux makes for them (MAX_XCP of amdgpu_xcp.h) */
#define KERN_IP_ENTITIES 4  /* entities of one IP in a context: COMPUTE has the most */
#define KERN_SCHED_JOBS  32 /* unfinished jobs of an entity before CS blocks (amdgpu.sched_jobs) */
#define KERN_HW_JOBS     2  /* jobs handed to a ring at once (amdgpu.sched_hw_submission) */
#define KERN_GWS         64 /* resources of global wave sync */
#define KERN_IOCTLS      256
#define KERN_HASH        4096
#define KERN_FAKE_BASE   (1ull << 32) /* mmap offsets start here, above any file offset that means something else */

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

/* --- waiting ----------------------------------------------------------------------------------------------------
 */

/* Those to wake when something happens. */
struct kern_waitq {
	struct kern_list wakers;
};

/* One registration of one sleeper. */
struct kern_waker {
	struct kern_list link;
	_Atomic uint32_t *word;   /* futex word that the wake increments; borrowed from the sleeper. NULL: this is
				   * kern_fence.on_part, and that fence looks at its parts again */
	struct kern_fence *fence; /* a reference of the sleeper, for when it dies; NULL otherwise */
};

/* A point in time of some queue: signalled once, with 0 or an errno. */
struct kern_fence {
	unsigned refs;
	bool signalled;
	int error;                      /* 0 or -errno; meaningful when signalled, sticky when set before */
	uint64_t context, seq;          /* immutable: queue it belongs to, position in it */
	uint64_t vm;                    /* immutable: id of the VM that owns the work; 0: none */
	struct kern_device *dev;        /* immutable, may be NULL */
	struct kern_fence *scheduled;   /* counted; of a job's end: the fence of its start. NULL otherwise */
	struct kern_fence *part, *prev; /* counted; a timeline point's: signalled after both. NULL otherwise */
	struct kern_waker on_part;
	uint64_t scan; /* scratch of who walks through parts */
	struct kern_fence *next;
	int64_t signalled_ns;
	struct kern_waitq waitq;
};

/* The fences of what uses a buffer. Entries of one fence context replace one another, signalled ones are dropped.
 */
struct kern_resv {
	struct kern_fence **fence; /* owned array of counted fences */
	unsigned count, room;
};

/* --- memory -----------------------------------------------------------------------------------------------------
 */

/* A range of the physical memory file. Blocks tile it in address order, used and free ones. */
struct kern_block {
	struct kern_list link;
	uint64_t offset, size_B;
	bool used;
};

/* The physical memory of all devices and of GTT: one sparse file. Where a buffer lies in it says nothing about its
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
	struct kern_bo *foreign;     /* counted: the exporter's buffer of another device, whose memory this is */
	bool unmapped;               /* foreign: no job has listed it yet */
	uint64_t user_addr;          /* userptr only, immutable */
	uint32_t user_flags;
	uint32_t user_proc;           /* serial of the process whose memory it is */
	struct kern_list user_link;   /* in root->userptrs, or empty */
	struct kern_list zombie;      /* in root->zombies, in proc->freeing, or empty */
	struct kern_list lru;         /* in dev->lru while its heap is VRAM */
	uint64_t used;                /* stamp of its last use that its place in dev->lru shows */
	uint64_t used_late;           /* stamp of a later one that neither its lists nor its VM tell */
	struct kern_list imports;     /* kern_bo.import_link: those that are made from this one */
	struct kern_list import_link; /* in foreign->imports, or empty */
	struct kern_vm *vm;           /* VM_ALWAYS_VALID only; counted, immutable */
	struct kern_resv resv;        /* what it adds to the reservation object that an exported BO shares with its
				       * imports; VM_ALWAYS_VALID buffers use their VM's */
	struct kern_list handles;     /* kern_handle.bo_link */
	struct kern_list lists;       /* kern_list_entry.bo_link: the BO lists that name it */
	struct kern_list hash;        /* in root->mmap_hash, by fake */
	uint64_t fake;                /* immutable: its offset for mmap() on a file that has a handle */
	struct kern_inode *dmabuf;    /* borrowed; the inode holds a reference to us */
	bool shared;                  /* was exported once */
	bool named;                   /* has a FLINK name: its id */
	uint64_t mark;                /* scratch of view building: the list epoch that names it */
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

/* One mapping: GPU addresses [lo, hi), masked to 48 bits. */
struct kern_map {
	uint64_t lo, hi;
	struct kern_handle *handle; /* borrowed: it frees its maps; NULL for PRT */
	uint64_t offset;            /* in the buffer */
	uint32_t flags;             /* AMDGPU_VM_PAGE_*, _MTYPE_* */
	bool delayed;               /* waits for the next CS */
	uint64_t born, cuts;        /* vm->version, vm->cuts when it came */
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
	struct kern_resv resv;    /* of the page tables and of all always-valid buffers */
	uint64_t generation;      /* of the device when made; differs after VRAM was lost */
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

/* --- files ------------------------------------------------------------------------------------------------------
 */

enum kern_inode_kind { KERN_INODE_FILE, KERN_INODE_DMABUF, KERN_INODE_SYNCOBJ, KERN_INODE_SYNC_FILE };

#define KERN_RECEIVERS 4 /* messages with one descriptor that are under way to known processes at a time */

/* What a descriptor of ours refers to; the file behind it is a memfd of its own, known by its inode number. */
struct kern_inode {
	struct kern_list hash; /* in root->inode_hash */
	uint64_t dev, ino;     /* immutable */
	enum kern_inode_kind kind;
	void *object;                   /* counted: kern_file, kern_bo, kern_syncobj or kern_fence */
	unsigned holds;                 /* descriptors in all processes, and messages in flight */
	unsigned flying;                /* of those, messages */
	pid_t receiver[KERN_RECEIVERS]; /* of the first of them; 0: not known */
};

struct kern_file {
	unsigned refs;
	struct kern_device *dev; /* immutable */
	bool primary;            /* card node */
	unsigned node;           /* of the run, immutable */
	int8_t partition;        /* of the device; -1: none yet, which the first context chooses */
	bool authenticated;
	uint32_t magic;              /* 0: none given out */
	struct kern_vm *vm;          /* counted, immutable */
	struct kern_idr handles;     /* owned kern_handle */
	struct kern_idr contexts;    /* counted kern_ctx */
	struct kern_idr lists;       /* counted kern_bo_list */
	struct kern_idr syncobjs;    /* counted kern_syncobj */
	struct kern_bo_list *recent; /* counted: the last list that came in a chunk */
	uint32_t opener;             /* process serial; another user after fork is worth a finding */
	bool fork_reported;
};

/* A descriptor or a CPU mapping that a process has: what must be let go when it dies. */
struct kern_hold {
	struct kern_list link;    /* in proc->holds */
	struct kern_inode *inode; /* one of the two is set; counted */
	struct kern_bo *bo;
};

/* --- BO lists ---------------------------------------------------------------------------------------------------
 */

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
	unsigned userptrs;             /* entries that each CS must look at */
	unsigned implicit;             /* entries without EXPLICIT_SYNC */
	bool unmapped;                 /* some entries are imports that no job had listed */
	bool displaced;                /* some entries were evicted */
	struct kern_bo *gws;           /* borrowed: the last entry that is global wave sync; NULL: none */
	uint64_t used;                 /* stamp of the last job that listed it */
	uint64_t holder;               /* VM of a CS that sleeps with its BOs reserved; 0: none */
	struct kern_resv resv;         /* of the jobs that used this list */
	uint32_t *handles;             /* owned; chunk lists only: the handles that it was made from */
};

/* --- contexts and jobs ------------------------------------------------------------------------------------------
 */

struct kern_entity {
	struct kern_ctx *ctx; /* borrowed */
	uint8_t ip, ring;
	int8_t hw;                                 /* hardware ring it is attached to; -1: none yet */
	bool counted;                              /* among the users of its context's partition */
	uint64_t fence_context;                    /* immutable */
	uint64_t seq;                              /* next sequence number; the first job has 1 */
	unsigned queued;                           /* jobs not yet finished */
	uint64_t scheduled;                        /* sequence number of the last job on the hardware */
	int error;                                 /* of that job; or of one that was cancelled before */
	struct kern_fence *fence[KERN_SCHED_JOBS]; /* counted; of sequence numbers seq-32 .. seq-1 */
	uint64_t scan;                             /* scratch of the scheduler */
};

struct kern_ctx {
	unsigned refs;
	uint32_t id; /* in its file, immutable */
	struct kern_device *dev;
	uint8_t partition; /* immutable, as of its file */
	int32_t priority;
	bool guilty;
	uint64_t generation;               /* VRAM generation when made, immutable */
	uint32_t reset_count, reset_query; /* device counter when made; when QUERY was last asked */
	uint32_t pstate;
	struct kern_entity entity[KERN_IPS][KERN_IP_ENTITIES];
	struct kern_entity absent; /* stands for the one entity of each video IP, which never has a job */
};

struct kern_job {
	struct kern_list link;       /* in ring->jobs until finished */
	struct kern_ring *ring;      /* borrowed: belongs to the submitting process */
	struct kern_entity *entity;  /* borrowed through ctx */
	struct kern_ctx *ctx;        /* counted */
	struct kern_vm *vm;          /* counted */
	struct kern_bo_list *list;   /* counted; NULL: none */
	struct kern_view *view;      /* counted; in the memory of the process that submits and runs it */
	struct kern_fence *finished; /* counted */
	struct kern_bo *user_fence;  /* counted; NULL: none */
	uint32_t user_fence_offset;
	struct kern_fence **dep;           /* owned array of counted fences */
	unsigned deps, dep_room, dep_next; /* those before dep_next are signalled */
	struct kern_waker waker;           /* on dep[dep_next] */
	uint64_t vm_version;               /* when it was submitted */
	bool on_hw;                        /* handed to the ring: scheduled */
	bool running;                      /* a thread of the ring has it */
	bool cancelled;                    /* by the reset of its ring */
	int lost;                          /* its entity's error when it came to the hardware */
	bool pipeline_sync;                /* it depends on an earlier job of its entity */
	uint64_t ring_resets;              /* device's count for the ring when the job started */
	uint64_t seq;
	struct mem_after *after; /* owned array: which jobs the dependencies are */
	unsigned afters, after_room;
	struct mem_clock
		*seen; /* owned by the engine of the submitting process: what the CPU may have seen before */
	uint32_t gws_base, gws_count; /* its resources of global wave sync */
	uint64_t gws_given;
	uint64_t ib_hash;   /* of the IBs at submission; 0: not taken */
	uint64_t traced_ns; /* when it was submitted, then when it began; 0: no record is kept */
	unsigned ib_count;
	struct engine_ib ib[];
};

/* One hardware ring as one process uses it: the jobs that its threads have yet to see to their end. */
struct kern_ring {
	struct kern_device *dev; /* immutable */
	uint8_t ip, index;       /* immutable */
	uint32_t proc;           /* slot, immutable */
	_Atomic uint32_t word;   /* futex: changes when there may be work */
	_Atomic uint32_t asleep; /* threads that sleep on word; seq_cst with word */
	bool stop;
	struct kern_list jobs; /* in order of submission */
	unsigned on_hw;
	uint64_t last_context; /* fence context of the job that came to the hardware last */
};

/* --- syncobjs ---------------------------------------------------------------------------------------------------
 */

/* A point of a timeline that was not reached when last looked at. */
struct kern_point {
	uint64_t value;
	struct kern_fence *fence; /* counted; signalled after those of the earlier points */
};

struct kern_syncobj {
	unsigned refs;
	struct kern_fence *fence; /* counted; the newest payload, binary or a point; NULL: nothing */
	bool timeline;            /* the payload is a point */
	uint64_t last, reached;   /* newest point; newest point known to be reached */
	struct kern_point *point; /* owned array, ascending */
	unsigned points, room;
	struct kern_waitq waitq; /* something was attached */
};

/* --- processes, devices, root -----------------------------------------------------------------------------------
 */

struct kern_proc {
	uint32_t serial; /* 0: free slot */
	pid_t pid;
	uint64_t start_time;     /* field 22 of /proc/PID/stat: tells a recycled pid */
	int segment_fd, phys_fd; /* descriptors in that process, for later ones to open through /proc */
	struct kern_list holds;
	struct kern_list waits;   /* kern_wait.link: sleepers, to unlink when it dies */
	struct kern_list calls;   /* struct kern_call of call.h: what its ioctls hold */
	struct kern_list freeing; /* kern_bo.zombie: buffers that it is about to free */
	struct kern_list watches; /* struct kern_watch of watch.h: descriptors that wait for fences */
	struct kern_ring **rings; /* owned array of owned rings, [device][ip][index] */
	unsigned unnamed;         /* its threads that sleep while only their stack names something of the segment */
};

struct kern_hw_ring {
	unsigned score;  /* entities attached and jobs queued, of all processes */
	uint64_t resets; /* how often this ring was reset */
};

struct kern_vmid {
	struct kern_vm *vm; /* borrowed: who has it; cleared when that is freed. NULL: nobody */
	uint32_t process;   /* serial of the one whose job used it last; 0: none ever */
	uint64_t used;      /* stamp of its last job */
	uint64_t foreign;   /* the device's vmid_epoch when it last came from another process; 0: never */
};

struct kern_device {
	_Alignas(KERN_PAGE) uint8_t dummy[KERN_PAGE]; /* where faulting accesses of all processes go */
	unsigned index;                               /* immutable */
	char chip_name[16];
	unsigned profile; /* immutable: kernel release, as profile.h counts them */
	bool null_device;
	uint64_t service_ns;
	uint64_t watchdog_ns[KERN_IPS];
	unsigned nodes;            /* immutable */
	bool f8_fnuz;              /* immutable, as are the next two */
	unsigned xccs, partitions; /* immutable: the second divides the first */
	struct kern_vmid vmid[KERN_VMIDS];
	uint64_t vmid_epoch;               /* grows when a VMID changes hands between processes */
	unsigned users[KERN_PARTITIONS];   /* entities of contexts that use the partition */
	uint64_t vram_B, visible_B, gtt_B; /* immutable */
	uint64_t vram_used_B, visible_used_B, gtt_used_B;
	uint64_t bytes_moved, evictions, cpu_faults;
	struct kern_list lru;          /* kern_bo.lru: what is in VRAM, by bo->used */
	struct kern_bo *gws[KERN_GWS]; /* borrowed: whose each resource of global wave sync is */
	uint32_t notifier;             /* process serial that holds the notifier lock; 0: free */
	struct kern_waitq notified;
	uint32_t resets, vram_lost;
	uint64_t generation;
	uint64_t hive; /* immutable, as is the next; see struct kern_device_config */
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
	uint64_t magic;
	uint32_t ready; /* atomic: 1 when the creator has finished */
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
	_Atomic uint32_t userptr_count; /* relaxed: lets munmap() see at a glance that there is none */
	unsigned holders;               /* BO lists that have a holder */
	struct kern_waitq released;
	uint64_t userptr_pages; /* looked up by CS ioctls */
	uint64_t live[KERN_KINDS];
	uint64_t ioctls, ioctl_nr[KERN_IOCTLS]; /* how many came */
	struct kern_inject inject_any, inject_nr[KERN_IOCTLS];
	_Atomic uint32_t injecting; /* plans outstanding; the ioctl path looks at nothing else */
	struct kern_inject events[KERN_EVENTS];
	int64_t messages_since_ns; /* window of printk_ratelimit(), and how many were printed in it */
	unsigned messages;
	uint64_t draws; /* state of the generator that chances are drawn from */
};

#endif
