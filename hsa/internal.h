/* hsa/: the HSA runtime. This is what its files share; programs use include/hsa/.
 *
 *   rt         the runtime between the first hsa_init() and the last hsa_shut_down(); the room's one root object
 *   rt_agent   a NUMA node of the host, or a GPU
 *   rt_gpu     a GPU's lower half: device, address space, copier, clock
 *   rt_pool    memory of one agent with one set of promises (memory.c); its blocks come from pool/
 *   rt_span    an interval of addresses that the runtime knows: what hsa_amd_pointer_info() tells
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

#include "sdma/sdma.h"

#define RT_GPUS_MAX   32
#define RT_POOLS_MAX  6 /* of one agent */
#define RT_CACHES_MAX 4

/* --- agents (agent.c, info.c) ----------------------------------------------------------------- */

struct rt;
struct rt_agent;

enum rt_pool_kind { RT_POOL_FINE, RT_POOL_KERNARG, RT_POOL_COARSE, RT_POOL_GROUP };

/* Memory of one agent. Immutable. */
struct rt_pool {
	struct rt_agent *agent; /* borrowed */
	enum rt_pool_kind kind;
	uint64_t size_B;
};

struct rt_cache {
	char name[16];
	uint8_t level;
	uint32_t size_B;
};

struct rt_gpu {
	struct rt_agent *agent;     /* borrowed */
	struct drv_device *dev;     /* owned */
	struct vm *vm;              /* owned; made beside the first GPU's */
	struct sdma_copier *copier; /* owned */
	struct drv_clock clock;     /* owned */
	struct drv_place place;
	unsigned index;                    /* in rt->gpu */
	bool large_bar;                    /* all of VRAM is visible: coarse memory is mapped for the CPU */
	_Atomic unsigned next_ring;        /* compute ring of the next queue */
	_Atomic uint64_t fault_checked_ns; /* when vm_check_fault() was last called */
};

/* A handle of it is its address. Immutable after hsa_init(). */
struct rt_agent {
	bool is_gpu;
	unsigned node;                /* its number: CPUs first, then GPUs */
	struct rt_gpu *gpu;           /* owned; NULL: a CPU */
	const struct drv_numa *numa;  /* borrowed from rt->host; NULL: a GPU */
	struct rt_agent *nearest_cpu; /* borrowed; a CPU: itself */
	unsigned pools, caches;
	struct rt_pool pool[RT_POOLS_MAX];
	struct rt_cache cache[RT_CACHES_MAX];
	char name[64], vendor[64], product[64], uuid[24];
	char isa[64]; /* "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"; "" for a CPU */
};

/* The address space that all GPUs share begins with the first GPU's: what the host must see, it reserves. */
struct rt {
	unsigned agents, cpus, gpus;
	struct rt_agent *agent;          /* owned; cpus of them, then GPUs */
	struct rt_gpu *gpu[RT_GPUS_MAX]; /* owned by their agents */
	struct drv_host host;
	struct rt_memory *memory;     /* owned; memory.c */
	struct rt_signals *signals;   /* owned; signal.c */
	struct rt_queues *queues;     /* owned; queue.c */
	struct rt_progress *progress; /* owned; progress.c */
	struct rt_loader *loader;     /* owned; executable.c */
	struct rt_copies *copies;     /* owned; copy.c */
	struct rt_images *images;     /* owned; image.c */
};

/* The runtime, or NULL outside hsa_init() .. hsa_shut_down(). One load. */
extern struct rt *_Atomic rt_current;
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

/* The object that a handle names, or NULL. */
struct rt_agent *rt_agent_of(const struct rt *rt, hsa_agent_t handle);
struct rt_gpu *rt_gpu_of(const struct rt *rt, hsa_agent_t handle);
struct rt_pool *rt_pool_of(const struct rt *rt, uint64_t handle); /* of pools and regions alike */
/* The agent whose ISA a handle names. */
struct rt_agent *rt_isa_of(const struct rt *rt, hsa_isa_t handle);
static inline hsa_agent_t rt_agent_handle(const struct rt_agent *agent)
{
	return (hsa_agent_t){(uintptr_t)agent};
}

/* What a getter copies out: size bytes, which the attribute's type has. */
#define RT_GIVE(value, type, what) (*(type *)(value) = (type)(what), HSA_STATUS_SUCCESS)

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
void rt_shared_destroy(struct rt_shared *shared);

/* What is known of an address. */
struct rt_span {
	hsa_amd_pointer_type_t type;
	uint64_t base, size_B;          /* of the whole allocation, at the address by which it was found */
	uint64_t host_base, agent_base; /* 0: that side does not see it. For locked memory the two may differ. */
	struct rt_agent *owner;         /* borrowed */
	enum sdma_place place;          /* as seen by owner's GPU, or any GPU for system memory */
	uint32_t global_flags;          /* hsa_amd_memory_pool_global_flag_t of its pool */
};
/* False: nobody knows the address: ordinary memory of the process. Takes no lock that is held over an ioctl. */
bool rt_span_find(struct rt *rt, uint64_t address, struct rt_span *span);
/* True when that GPU reaches [address, address + size_B); *va: by which address. */
bool rt_span_reach(struct rt *rt, struct rt_gpu *gpu, uint64_t address, uint64_t size_B, uint64_t *va);

/* --- signals (signal.c, wait.c) --------------------------------------------------------------- */

enum rt_signal_kind {
	RT_SIGNAL_FREE, /* no signal */
	RT_SIGNAL_USER,
	RT_SIGNAL_GPU_ONLY, /* made so by attribute: no handlers, its value may be read as memory */
	RT_SIGNAL_IPC,
	RT_SIGNAL_DOORBELL,
};

/* Who will change a signal's value when something on a GPU ends. */
struct rt_producer {
	const _Atomic uint64_t *word; /* it has when *word >= seq */
	uint64_t seq;
	struct cs_point point; /* at or behind it: what a thread sleeps on */
	bool last;             /* nothing else is in that job behind it: other rings may wait for the job instead */
};

struct rt_queue;

DRV_MUST_CHECK int rt_signals_init(struct rt *rt);
void rt_signals_fini(struct rt *rt);

/* The signal of a handle, or NULL: none that exists. Does not follow the handle. */
struct rt_signal *rt_signal_of(const struct rt *rt, hsa_signal_t handle);
/* The GPU and the CPU see the amd_signal_t at the handle's address. */
static inline amd_signal_t *rt_signal_memory(hsa_signal_t handle)
{
	return (amd_signal_t *)(uintptr_t)handle.handle;
}
DRV_MUST_CHECK int rt_signal_create(struct rt *rt, hsa_signal_value_t value, enum rt_signal_kind kind,
				    hsa_signal_t *handle);
void rt_signal_destroy(struct rt *rt, hsa_signal_t handle);
/* A doorbell: stores of it go to that queue. */
DRV_MUST_CHECK int rt_doorbell_create(struct rt *rt, struct rt_queue *queue, hsa_signal_t *handle);

/* The value as all that has ended leaves it. */
hsa_signal_value_t rt_signal_load(struct rt *rt, hsa_signal_t handle);
/* What the CPU does: adds, after which waiters and handlers look again. */
void rt_signal_add(struct rt *rt, hsa_signal_t handle, hsa_signal_value_t value);
/* A producer will take 1 from it when it ends. Called before it is submitted. */
void rt_signal_expect(struct rt *rt, hsa_signal_t handle, const struct rt_producer *producer);

/* How a packet's dependency on "value is 0" stands. */
enum rt_dep_state {
	RT_DEP_MET,
	RT_DEP_POINT, /* it will be when the point is reached, whatever anybody does */
	RT_DEP_OPEN,  /* nobody can say */
};
enum rt_dep_state rt_signal_dep(struct rt *rt, hsa_signal_t handle, struct cs_point *point);

/* --- queues (queue.c, packet.c) --------------------------------------------------------------- */

DRV_MUST_CHECK int rt_queues_init(struct rt *rt);
void rt_queues_fini(struct rt *rt);
/* A doorbell was rung. Hot. */
void rt_queue_ring(struct rt_queue *queue);
/* Submits what queues have collected: before anything that could observe it. One load when there is nothing. */
void rt_queues_flush(struct rt *rt);
/* The ends of all work of that GPU's queues so far, at most max; memory that is freed now may be used until then.
 */
unsigned rt_queues_points(struct rt *rt, struct rt_gpu *gpu, struct cs_point *points, unsigned max);

/* --- progress: our threads (progress.c, handler.c) -------------------------------------------- */

/* Something that could not be submitted. try() is called by the progress thread, not by two threads at once, until
 * it says true; it must not wait. */
struct rt_work {
	struct rt_work *next; /* guarded by the progress lock */
	bool queued;          /* the same */
	bool (*attempt)(struct rt *rt, struct rt_work *work);
};

DRV_MUST_CHECK int rt_progress_init(struct rt *rt);
void rt_progress_fini(struct rt *rt);
void rt_progress_add(struct rt *rt, struct rt_work *work);
/* Something changed that a piece of work may wait for. */
void rt_progress_wake(struct rt *rt);
/* Runs fn(arg) on the thread for callbacks. -ENOMEM, -EAGAIN. */
DRV_MUST_CHECK int rt_callback(struct rt *rt, void (*fn)(void *arg), void *arg);
/* To all handlers of hsa_amd_register_system_event_handler(); false: there is none. */
bool rt_event(struct rt *rt, const hsa_amd_event_t *event);

/* --- code (executable.c) ---------------------------------------------------------------------- */

DRV_MUST_CHECK int rt_loader_init(struct rt *rt);
void rt_loader_fini(struct rt *rt);
/* The kernel whose descriptor a packet names, on that GPU; NULL: none that was loaded. Lives until its executable
 * is destroyed; rt_kernel_generation() changes then. */
const struct cs_kernel *rt_kernel_find(struct rt *rt, struct rt_gpu *gpu, uint64_t kernel_object);
uint32_t rt_kernel_generation(struct rt *rt);

/* --- copies (copy.c) -------------------------------------------------------------------------- */

DRV_MUST_CHECK int rt_copies_init(struct rt *rt);
/* Ends those that still wait for signals. */
void rt_copies_fini(struct rt *rt);

/* --- images (image.c) ------------------------------------------------------------------------- */

DRV_MUST_CHECK int rt_images_init(struct rt *rt);
void rt_images_fini(struct rt *rt);

#endif
