/* hsa/: the HSA runtime. This is what its files share; programs use include/hsa/.
 *
 *   rt         the runtime between the first hsa_init() and the last hsa_shut_down(); the room's one root object
 *   rt_agent   a NUMA node of the host, or a GPU
 *   rt_gpu     a GPU's lower half: device, address space, copier, clock
 *   rt_pool    memory of one agent with one set of promises (memory.c); its blocks come from pool/
 *   rt_alloc_info    an interval of addresses that the runtime knows: what hsa_amd_pointer_info() tells
 *   rt_signal  a 64-bit value that both sides see, and who is about to change it (signal.c)
 *   rt_queue   an AQL ring and the soft packet processor that reads it (queue.c, packet.c)
 *   rt_work    something that waits for signals before it can be submitted: a stopped queue, a copy (progress.c)
 *
 * Handles. Agents, pools, ISAs, caches are addresses inside the root's arrays: looked up, never followed unchecked.
 * Signals are the address of their amd_signal_t, which lies in one region. Everything else (executables, readers,
 * symbols, images, VMM handles) is a slot of drv/handle.h's table. Queues are what the client has a struct of.
 *
 * Errors: 0 or -errno inside, with a record; hsa_status_of() where a public function ends.
 *
 * Locks, in order: rt_lock (init and shut-down), a queue's translation, work_lock, memory's, an executable's, the
 * rooms' below. No lock is held while a callback of the client runs. */
#ifndef HSA_INTERNAL_H
#define HSA_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "flow/flow.h"
#include "pool/pool.h"
#include "sdma/sdma.h"

#define RT_GPUS_MAX   32
#define RT_POOLS_MAX  6 /* of one agent */
#define RT_CACHES_MAX 4
#define RT_CU_DWORDS  16 /* of masks of compute units: 512, more than any GPU has */

/* --- agents (agent.c, info.c) ----------------------------------------------------------------- */

#define RT_QUEUE_MIN 64 /* packets of a queue */
#define RT_QUEUE_MAX 131072

struct rt;
struct rt_agent;

enum rt_pool_kind { RT_POOL_FINE, RT_POOL_KERNARG, RT_POOL_COARSE, RT_POOL_GROUP };

/* Memory of one agent. Immutable. */
struct rt_pool {
	struct rt_agent *agent; /* borrowed */
	enum rt_pool_kind kind;
	uint64_t size_B;
	struct pool *pool; /* owned by rt->memory, which sets it; NULL: group memory */
};

struct rt_cache {
	char name[16];
	uint8_t level;
	uint32_t size_B;
};

/* What hsa_agent_get_info() copies out, in the types of its attributes; info.c says which is which. */
struct rt_info {
	char name[64], vendor[64], product[64], uuid[24];
	uint32_t feature, machine_model, profile, rounding, wave_lanes;
	uint16_t group_dim[3];
	uint32_t group_size;
	uint32_t grid_dim[3], grid_size;
	uint32_t fbarriers, queues, queue_min, queue_max, queue_type, node, device;
	uint32_t cache_B[4];
	uint64_t isa;
	uint8_t extensions[128];
	uint16_t version_major, version_minor;
	bool fast_f16;
	uint32_t image_1d, image_1db, image_2d[2], image_3d[3], image_layers, image_rd, image_rw, samplers,
		pitch_align;
	uint32_t chip_id, line_B, cus, clock_MHz, driver_node, watch_points, bdf, memory_bits, memory_MHz;
	uint32_t waves_per_cu, simds_per_cu, engines, arrays_per_engine, domain, revision;
	hsa_amd_hdp_flush_t hdp_flush;
	bool cooperative, direct_host_access;
	uint64_t counter_Hz;
	uint32_t family, firmware, sdma_firmware, sdma_engines, sdma_xgmi_engines, iommu, xccs, driver_uid;
	uint64_t nearest_cpu;
	uint8_t memory_properties[8], aql_extensions[8];
};

struct rt_gpu {
	struct rt_agent *agent;     /* borrowed */
	struct drv_device *dev;     /* owned */
	struct vm *vm;              /* owned; made beside the first GPU's */
	struct sdma_copier *copier; /* owned */
	struct drv_clock clock;     /* owned */
	struct drv_place place;
	unsigned index;             /* in rt->gpu */
	uint32_t cus[RT_CU_DWORDS]; /* compute units that queues may use, as clients count them */
	bool large_bar;             /* all of VRAM is visible: coarse memory is mapped for the CPU */
	struct flow_gpu flows;
	_Atomic unsigned coherency;       /* hsa_amd_coherency_type_t */
	_Atomic unsigned faults;          /* of kernels, that were heard of */
	_Atomic uint64_t fault_budget_ns; /* of waits that ask about faults: fault.c */
};

/* A handle of it is its address. Immutable after hsa_init(). */
struct rt_agent {
	bool is_gpu;
	unsigned node;                /* its number: CPUs first, then GPUs */
	struct rt_gpu *gpu;           /* owned; NULL: a CPU */
	const struct drv_numa *numa;  /* borrowed from rt->host; NULL: a GPU */
	struct rt_agent *nearest_cpu; /* borrowed; a CPU: itself */
	unsigned pools, caches;
	unsigned hidden; /* of the pools the last: our HIP library asks for them by the private interface */
	struct rt_pool pool[RT_POOLS_MAX];
	struct rt_cache cache[RT_CACHES_MAX];
	struct rt_info info;
	char isa[64]; /* "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"; "" for a CPU */
};

/* The address space that all GPUs share begins with the first GPU's: what the host must see, it reserves. */
struct rt {
	unsigned agents, cpus, gpus;
	struct rt_agent *agent;          /* owned; cpus of them, then GPUs */
	struct rt_gpu *gpu[RT_GPUS_MAX]; /* owned by their agents */
	struct drv_host host;
	struct rt_memory *memory;           /* owned; memory.c */
	struct rt_signals *signals;         /* owned; signal.c */
	struct rt_queues *queues;           /* owned; queue.c */
	struct rt_progress *progress;       /* owned; progress.c */
	struct rt_handlers *handlers;       /* owned; handler.c */
	struct rt_loader *loader;           /* owned; executable.c */
	struct rt_copies *copies;           /* owned; copy.c */
	struct rt_ipc *ipc;                 /* owned; ipc.c */
	struct rt_images *images;           /* owned; image.c */
	struct drv_lock fault_lock;         /* who asks the kernel about faults; outside all but a queue's */
	_Atomic uint64_t fault_query_ns;    /* when it was asked */
	_Atomic uint64_t fault_requery_ns;  /* when it is asked once more, about what was late; 0: not */
	_Atomic uint32_t kernel_generation; /* counts executables that were destroyed */
	_Atomic unsigned idlers;            /* threads that sleep for long, for no GPU works: they are told when */
	_Atomic uint32_t work;              /* changes then, and with any signal that is waited for */
};

/* The runtime, or NULL outside hsa_init() .. hsa_shut_down(). One load. */
extern DRV_OWN struct rt *_Atomic rt_current;
static inline struct rt *rt_get(void)
{
	return atomic_load_explicit(&rt_current, memory_order_acquire);
}
/* First line of public functions that need it. */
#define RT_ENTER(rt)                                                                                               \
	struct rt *const rt = rt_get();                                                                            \
	if (!rt)                                                                                                   \
	return HSA_STATUS_ERROR_NOT_INITIALIZED

hsa_status_t hsa_status_of(int r);

/* What the handles of rt_handles name. */
enum rt_type {
	RT_EXECUTABLE,
	RT_LOADED, /* a loaded code object */
	RT_READER,
	RT_SYMBOL,
	RT_CODE_OBJECT, /* of HSA 1.0 */
	RT_CODE_SYMBOL,
	RT_VMEM,
	RT_SIGNAL_GROUP,
	RT_ISA, /* a number, no slot: isa.c */
};
#define RT_KIND(type) DRV_HANDLE_KIND(0x5b, type)
extern DRV_OWN struct drv_handles rt_handles;

/* The object that a handle names, or NULL. */
struct rt_agent *rt_agent_of(const struct rt *rt, hsa_agent_t handle);
struct rt_gpu *rt_gpu_of(const struct rt *rt, hsa_agent_t handle);
struct rt_pool *rt_pool_of(const struct rt *rt, uint64_t handle); /* of pools and regions alike */
const struct rt_cache *rt_cache_of(const struct rt *rt, uint64_t handle);
/* The agent whose ISA a handle names. */
struct rt_agent *rt_isa_of(const struct rt *rt, hsa_isa_t handle);
static inline hsa_agent_t rt_agent_handle(const struct rt_agent *agent)
{
	return (hsa_agent_t){(uintptr_t)agent};
}

/* What a getter copies out, in the attribute's type. */
#define RT_GIVE(value, type, what) (*(type *)(value) = (type)(what), HSA_STATUS_SUCCESS)

/* Finds CPUs and GPUs and opens the latter. -ENODEV: no GPU that can be used (the record says why). */
DRV_MUST_CHECK int rt_agents_init(struct rt *rt);
void rt_agents_fini(struct rt *rt);
/* Fills each GPU's cus: all that it has, but for HSA_CU_MASK (cu_env.c). */
void rt_cus_init(struct rt *rt);
/* All compute units that are there, as clients count them. */
void rt_all_cus(const struct drv_device *dev, uint32_t *cus);
/* Fills agent->info and agent->isa. */
void rt_info_cpu(struct rt *rt, struct rt_agent *agent);
void rt_info_gpu(struct rt *rt, struct rt_agent *agent);
/* HSA_SYSTEM_INFO_EXTENSIONS, and the same of a GPU: a bit for each extension that is there (extension.c). */
void rt_extension_bits(uint8_t bits[128], bool with_images);
/* The isa handle is the address of agent->isa. */
static inline hsa_isa_t rt_isa_handle(const struct rt_agent *agent)
{
	return (hsa_isa_t){(uintptr_t)agent->isa};
}

/* Nanoseconds of the clock that HSA's time is (CLOCK_BOOTTIME), and the same of a GPU's counter. */
uint64_t rt_now_ns(void);
uint64_t rt_gpu_time_ns(struct rt_gpu *gpu, uint64_t ticks);

/* --- memory (memory.c and its family) --------------------------------------------------------- */

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

/* --- signals (signal.c, wait.c) --------------------------------------------------------------- */

enum rt_signal_kind {
	RT_SIGNAL_FREE, /* no signal */
	RT_SIGNAL_USER,
	RT_SIGNAL_GPU_ONLY, /* made so by attribute: no handlers, its value may be read as memory */
	RT_SIGNAL_IPC,
	RT_SIGNAL_DOORBELL,
};

/* What will take 1 from a signal when it ends on a GPU. Its ring and word outlive every signal. */
struct rt_completion {
	struct cs_fence fence;        /* at or behind it: what a thread sleeps on */
	const _Atomic uint64_t *word; /* it has ended when *word >= seq (NULL: no word), or the fence is reached */
	uint64_t seq;
	const _Atomic uint64_t *last; /* it is the last of its job when *last == seq; NULL: it is the only one */
};

struct rt_queue;

/* Beside each amd_signal_t, in memory that the GPU does not see. */
struct rt_signal {
	_Atomic uint32_t kind;       /* enum rt_signal_kind; release: the rest is set */
	_Atomic uint32_t generation; /* counts destructions */
	_Atomic uint32_t lock;       /* guards the plain members; held for a few instructions, innermost */
	_Atomic uint32_t pending; /* the value in memory is not the signal's: rt_signal_load() has to look closer */
	_Atomic uint32_t waiters; /* threads that sleep on `change` */
	_Atomic uint32_t watchers; /* handlers and work that the progress threads look after */
	_Atomic uint32_t change;   /* futex: counts changes by the CPU while somebody sleeps */
	bool counted;              /* the CPU has added to it: several completions are to be expected */
	bool gpu_writes;           /* `gpu` will write `final` into memory when it ends */
	bool shadowed;             /* the CPU changed it meanwhile: `shadow` is the value, less 1 when `gpu` ends */
	_Atomic bool listed;       /* in the list of signals to retire; written under that list's lock */
	struct rt_agent
		*_Atomic clock; /* borrowed: whose clock timed the last copy that completes it; NULL: none */
	_Atomic bool failed;    /* a completion of it was lost; until the CPU stores a value */
	int64_t final, shadow;
	struct rt_completion gpu;
	struct rt_completion *pending_list; /* owned: completions whose end the CPU has yet to apply */
	unsigned pending_count, pending_max;
	struct rt_queue *queue;        /* borrowed; of a doorbell */
	unsigned file;                 /* owned: descriptor of a shared signal's memory, plus 1; 0: none */
	struct rt_signal *next;        /* in the free list; guarded by the region's lock */
	struct rt_signal *next_listed; /* guarded by the list's lock */
};

DRV_MUST_CHECK int rt_signals_init(struct rt *rt);
void rt_signals_fini(struct rt *rt);

/* The signal of a handle, or NULL: none that exists. Does not follow the handle. */
struct rt_signal *rt_signal_of(const struct rt *rt, hsa_signal_t handle);
hsa_signal_t rt_signal_handle(const struct rt *rt, const struct rt_signal *signal);
/* CPU and GPU see it at the handle's address. */
static inline amd_signal_t *rt_signal_memory(hsa_signal_t handle)
{
	return (amd_signal_t *)(uintptr_t)handle.handle;
}
DRV_MUST_CHECK int rt_signal_create(struct rt *rt, hsa_signal_value_t value, enum rt_signal_kind kind,
				    hsa_signal_t *handle);
void rt_signal_destroy(struct rt *rt, struct rt_signal *signal);
/* A doorbell: stores of it go to that queue. */
DRV_MUST_CHECK int rt_doorbell_create(struct rt *rt, struct rt_queue *queue, hsa_signal_t *handle);

/* The value as all that has ended leaves it. */
hsa_signal_value_t rt_signal_load(struct rt *rt, struct rt_signal *signal);
/* What the CPU does. */
void rt_signal_add(struct rt *rt, struct rt_signal *signal, hsa_signal_value_t value);
/* Wakes who sleeps or watches after a change by the CPU. */
void rt_signal_wake(struct rt *rt, struct rt_signal *signal);
/* A completion that is about to be submitted will take 1 from it. *va and *value are where its word is and what the
 * GPU writes there, for the CPU to apply; they become the signal's own when the GPU can write that itself. */
void rt_signal_expect(struct rt *rt, struct rt_signal *signal, const struct rt_completion *completion, uint64_t *va,
		      uint64_t *value);
/* The same when the CPU shall apply it in any case; a completion without a word ends with its fence. */
void rt_signal_owe(struct rt *rt, struct rt_signal *signal, const struct rt_completion *completion);
/* Sleeps until the job has ended whose packet last completed the signal. */
void rt_signal_await_job(struct rt_signal *signal, int64_t timeout_ns);
/* After a long wait: when what completed the signal was on a context that is lost, it failed; true then. */
bool rt_signal_check(struct rt *rt, struct rt_signal *signal);
/* What should have changed it failed. */
void rt_signal_fail(struct rt *rt, struct rt_signal *signal);
/* Applies what has ended; false: no completion is pending any more. For the progress thread. */
bool rt_signal_settle(struct rt *rt, struct rt_signal *signal);
/* The submitted job that changes the signal next, as far as is known; *ends: its end brings the change, which
 * otherwise comes in the middle of the job, or from the CPU before. */
bool rt_signal_point(struct rt_signal *signal, struct cs_fence *fence, bool *ends);

/* How a dependency on "the value is 0" stands. */
enum rt_dep_state {
	RT_DEP_MET,
	RT_DEP_POINT, /* it will be when the fence is reached, unless somebody else changes it */
	RT_DEP_OPEN,  /* nobody can say */
};
/* ring: who asks; its own jobs need not be over. */
enum rt_dep_state rt_signal_dep(struct rt *rt, struct rt_signal *signal, const struct cs_ring *ring,
				struct cs_fence *fence);

/* Whether there are signals that other processes change. */
bool rt_signals_shared(const struct rt *rt);

bool rt_condition_met(hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_signal_value_t compare);

/* --- queues (queue.c, packet.c) --------------------------------------------------------------- */

DRV_MUST_CHECK int rt_queues_init(struct rt *rt);
void rt_queues_fini(struct rt *rt);
/* A doorbell was rung. Hot. */
void rt_queue_ring(struct rt_queue *queue);
/* True while jobs of queues are unfinished: then signals may change without the CPU. */
bool rt_queues_busy(struct rt *rt);
/* wait.c. No GPU works, and who sleeps on `work` while it is *seen is woken when one begins to: the caller is one
 * of `idlers` until he takes himself out. False: he is none, for one works. */
bool rt_idle_begin(struct rt *rt, uint32_t *seen);
void rt_idlers_wake(struct rt *rt);
/* Behind what was submitted, or changed, and a full fence. */
static inline void rt_tell_of_work(struct rt *rt)
{
	if (__builtin_expect(atomic_load_explicit(&rt->idlers, memory_order_relaxed), 0))
		rt_idlers_wake(rt);
}
/* The ring's context was lost: its queue ends with an error (fault.c). */
void rt_queues_lost(struct rt *rt, const struct cs_ring *ring);
/* Asks the kernel about faults and resets, and tells the client; now: also shortly after the last time. */
void rt_faults_query(struct rt *rt, bool now);
/* Looks when it is time for what the kernel recorded late. */
void rt_faults_look_again(struct rt *rt);
/* Submits what queues have collected: before anything that could observe it. One load when there is nothing. */
void rt_queues_flush(struct rt *rt);

/* --- progress: our threads (progress.c, handler.c) -------------------------------------------- */

/* Something that could not be submitted. The progress thread calls attempt(), never two at a time, until it says
 * true; it must not wait for anything. */
struct rt_work {
	struct rt_work *next; /* guarded by the progress lock, as is `queued` */
	bool queued;          /* it is in the list */
	bool (*attempt)(struct rt *rt, struct rt_work *work);
	/* Submitted jobs whose ends are worth an attempt, at most max; NULL: none are known. With the progress
	 * lock: it must not wait for another. */
	unsigned (*fences)(const struct rt_work *work, struct cs_fence *fences, unsigned max);
};

/* Sleeping in turns that grow from 50 us to 1 ms, and then by a sixteenth up to 10 ms, for what changes without
 * telling. */
struct rt_pause {
	uint64_t ns;
};
uint64_t rt_pause_next_ns(struct rt_pause *pause);

DRV_MUST_CHECK int rt_progress_init(struct rt *rt);
/* Ends the thread. Both threads use one another's parts, so both are stopped before either part goes. */
void rt_progress_stop(struct rt *rt);
void rt_progress_fini(struct rt *rt);
void rt_progress_add(struct rt *rt, struct rt_work *work);
/* Afterwards nobody attempts it. */
void rt_progress_remove(struct rt *rt, struct rt_work *work);
/* True on one of our own threads. */
bool rt_progress_is_own_thread(struct rt *rt);
/* Everything has been attempted since the call. Not from that thread. */
void rt_progress_pass(struct rt *rt);
bool rt_handlers_is_own_thread(struct rt *rt);
/* Something changed that a suballocation of work or a handler may wait for. */
void rt_progress_wake(struct rt *rt);
/* The signal's pending completions are applied as they end. */
void rt_progress_retire(struct rt *rt, struct rt_signal *signal);
/* Runs fn(arg) on the thread for callbacks. -ENOMEM, -EAGAIN. */
DRV_MUST_CHECK int rt_callback(struct rt *rt, void (*fn)(void *arg), void *arg);
DRV_MUST_CHECK int rt_handlers_init(struct rt *rt);
/* Ends the thread; callbacks that have not begun are dropped. */
void rt_handlers_stop(struct rt *rt);
void rt_handlers_fini(struct rt *rt);
/* Something changed that a handler may wait for. */
void rt_handlers_wake(struct rt *rt);
/* To all handlers of hsa_amd_register_system_event_handler(); false: there is none. */
bool rt_event(struct rt *rt, const hsa_amd_event_t *event);

/* --- other processes (ipc.c) ------------------------------------------------------------------- */

DRV_MUST_CHECK int rt_ipc_init(struct rt *rt);
void rt_ipc_fini(struct rt *rt);
/* What has any of these addresses is about to be freed, and exported no more. One load when nothing is. */
void rt_ipc_forget(struct rt *rt, uint64_t address, uint64_t size_B);
/* In a child of fork: what it inherited answers nobody. */
void rt_ipc_forked(struct rt *rt);

/* --- code (executable.c, code.h) -------------------------------------------------------------- */

DRV_MUST_CHECK int rt_loader_init(struct rt *rt);
void rt_loader_fini(struct rt *rt);
/* The kernel whose descriptor a packet names, on that GPU; NULL: none that was loaded. Lives until its executable
 * is destroyed; rt->kernel_generation changes then. */
const struct cs_kernel *rt_kernel_find(struct rt *rt, struct rt_gpu *gpu, uint64_t kernel_object);

/* --- images (image.h) ------------------------------------------------------------------------- */

DRV_MUST_CHECK int rt_images_init(struct rt *rt);
void rt_images_fini(struct rt *rt);
/* What agents with images say of them. */
void rt_info_images(struct rt_info *info);

/* --- copies (copy.c) -------------------------------------------------------------------------- */

DRV_MUST_CHECK int rt_copies_init(struct rt *rt);
/* Ends those that still wait for signals. */
void rt_copies_fini(struct rt *rt);

#endif
