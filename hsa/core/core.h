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
#ifndef HSA_CORE_H
#define HSA_CORE_H

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

#define RT_PAGE_B     4096u
#define RT_GPUS_MAX   32
#define RT_POOLS_MAX  6 /* of one agent */
#define RT_CACHES_MAX 4
#define RT_CU_DWORDS  16 /* of masks of compute units: 512, more than any GPU has */

#define RT_QUEUE_MIN 64 /* packets of a queue */
#define RT_QUEUE_MAX 131072

struct rt;
struct rt_agent;
struct rt_queue;

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
/* What the folders above do for those below. */
struct rt_ops {
	/* A doorbell was rung. Hot. */
	void (*ring)(struct rt_queue *queue);
	/* The ring's context was lost: its queue ends with an error. */
	void (*lost)(struct rt *rt, const struct cs_ring *ring);
	/* Queries the kernel about faults and resets, and reports them to the client; now: also shortly after the
	 * last time. */
	void (*query_faults)(struct rt *rt, bool now);
	/* The same when it is time for what the kernel recorded late. */
	void (*query_late_faults)(struct rt *rt);
	/* What has any of these addresses is about to be freed, and exported no more. One load when nothing is. */
	void (*forget_exports)(struct rt *rt, uint64_t address, uint64_t size_B);
};

struct rt {
	const struct rt_ops *ops; /* immutable */
	uint8_t extensions[128];  /* HSA_SYSTEM_INFO_EXTENSIONS: a bit for each; immutable after hsa_init() */
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
/* The isa handle is the address of agent->isa. */
static inline hsa_isa_t rt_isa_handle(const struct rt_agent *agent)
{
	return (hsa_isa_t){(uintptr_t)agent->isa};
}

/* Nanoseconds of the clock that HSA's time is (CLOCK_BOOTTIME), and the same of a GPU's counter. */
uint64_t rt_now_ns(void);
uint64_t rt_gpu_time_ns(struct rt_gpu *gpu, uint64_t ticks);

/* --- all GPUs (gpus.c) -------------------------------------------------------------------------- */

/* Submits what flows have collected: before anything that could observe it. One load when there is nothing. */
void rt_queues_flush(struct rt *rt);
/* True while jobs of queues are unfinished: then signals may change without the CPU. */
bool rt_queues_busy(struct rt *rt);

#endif
