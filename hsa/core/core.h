/* hsa/: the HSA runtime. Declarations that all folders of the room share; programs use include/hsa/.
 *
 *   rt             the root object, from the first hsa_init() to the last hsa_shut_down(). Owns all that follows
 *   rt_agent       a NUMA node of the host, or a GPU
 *   rt_gpu         the driver's objects of a GPU: device, address space, copier, clock. Owned by its agent
 *   rt_pool        an HSA memory pool of one agent; its blocks come from pool/
 *   rt_alloc_info  what hsa_amd_pointer_info() reports about an address (memory/memory.h)
 *   rt_signal      a 64-bit value that CPU and GPUs change, with its pending completions (signal/signal.h)
 *   rt_queue       an AQL ring and the packet processor that reads it (queue/queue.h)
 *   rt_work        work that cannot be submitted yet: a stopped queue, a copy (core/progress.h)
 *
 * Handles. Agents, pools, ISAs and caches are addresses inside the root's arrays: compared with the arrays' bounds
 * before use. A signal is the address of its amd_signal_t, which is in one region. Executables, readers, symbols,
 * code objects, VMM handles and signal groups are slots of drv/handle.h's table. Images and samplers are addresses
 * of their descriptors, and checked in the chunks that contain these. Queues are pointers to the client's
 * hsa_queue_t, found in a list.
 *
 * Errors: 0 or -errno inside, with a record; a public function returns hsa_status_of() of it.
 *
 * Locks: drv/rank.h has their order. A flow's lock also guards the reading of its queue's packets. No lock is held
 * while a callback of the client runs, except the flow's lock of an intercept queue (queue/intercept.c). */
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

#include "drv/retire.h"
#include "flow/flow.h"
#include "pool/pool.h"
#include "sdma/sdma.h"

#define RT_PAGE_B     4096u
#define RT_GPUS_MAX   32
#define RT_POOLS_MAX  6 /* per agent */
#define RT_CACHES_MAX 4
#define RT_CU_DWORDS  16 /* size of a mask of compute units: 512, more than any GPU has */

#define RT_QUEUE_MIN 64 /* limits of a queue's size, in packets */
#define RT_QUEUE_MAX 131072

struct rt;
struct rt_agent;
struct rt_queue;

enum rt_pool_kind { RT_POOL_FINE, RT_POOL_KERNARG, RT_POOL_COARSE, RT_POOL_GROUP };

/* A memory pool of one agent. Immutable. */
struct rt_pool {
	struct rt_agent *agent; /* borrowed */
	enum rt_pool_kind kind;
	uint64_t size_B;
	struct pool *pool; /* owned by rt->memory, which sets it; NULL: group memory (LDS) */
};

struct rt_cache {
	char name[16];
	uint8_t level;
	uint32_t size_B;
};

/* The values that hsa_agent_get_info() copies, in the types of their attributes; info.c has the table. */
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
	struct vm *vm;              /* owned; shares addresses with the first GPU's */
	struct sdma_copier *copier; /* owned */
	struct drv_clock clock;     /* owned */
	struct drv_place place;
	unsigned index;             /* index in rt->gpu */
	uint32_t cus[RT_CU_DWORDS]; /* mask of the units that queues may use, in the clients' numbering */
	bool large_bar;             /* VRAM is visible as a whole: coarse-grained memory is mapped for the CPU */
	struct flow_gpu flows;
	_Atomic unsigned coherency;       /* hsa_amd_coherency_type_t */
	_Atomic unsigned faults;          /* memory faults of kernels that were reported */
	_Atomic uint64_t fault_budget_ns; /* rate limit of the fault queries of waits: fault.c */
};

/* An HSA agent; its handle is its address. Immutable after hsa_init(). */
struct rt_agent {
	bool is_gpu;
	unsigned node;                /* HSA node number: CPUs first, then GPUs */
	struct rt_gpu *gpu;           /* owned; NULL: a CPU */
	const struct drv_numa *numa;  /* borrowed from rt->host; NULL: a GPU */
	struct rt_agent *nearest_cpu; /* borrowed; for a CPU the agent itself */
	unsigned pools, caches;
	unsigned hidden; /* number of the last pools that are not enumerated: our HIP library gets them by the
			    private interface */
	struct rt_pool pool[RT_POOLS_MAX];
	struct rt_cache cache[RT_CACHES_MAX];
	struct rt_info info;
	char isa[64]; /* "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"; "" for a CPU */
};

/* Functions of higher folders that lower folders call; entry/runtime.c sets them. */
struct rt_ops {
	/* A doorbell was rung: processes the queue's packets. Hot. */
	void (*ring)(struct rt_queue *queue);
	/* The ring's context was lost: fails the ring's queues. */
	void (*lost)(struct rt *rt, const struct cs_ring *ring);
	/* Queries the kernel for faults and resets, and reports them to the client. Rate limited unless `now`. */
	void (*query_faults)(struct rt *rt, bool now);
	/* Queries again if a fault may have been recorded after the last query (fault.c). */
	void (*query_late_faults)(struct rt *rt);
	/* Ends the exports of memory at these addresses, which is about to be freed. One load when nothing is
	 * exported. */
	void (*forget_exports)(struct rt *rt, uint64_t address, uint64_t size_B);
};

struct rt {
	const struct rt_ops *ops; /* immutable */
	uint8_t extensions[128];  /* HSA_SYSTEM_INFO_EXTENSIONS: one bit each; immutable after hsa_init() */
	unsigned agents, cpus, gpus;
	struct rt_agent *agent;          /* owned; `cpus` CPUs, then the GPUs */
	struct rt_gpu *gpu[RT_GPUS_MAX]; /* owned by their agents */
	struct drv_host host;
	struct rt_memory *memory;           /* owned; memory/memory.c */
	struct rt_signals *signals;         /* owned; signal/signal_region.c */
	struct rt_queues *queues;           /* owned; queue/queue.c */
	struct rt_progress *progress;       /* owned; core/progress.c */
	struct rt_handlers *handlers;       /* owned; signal/handler.c */
	struct rt_loader *loader;           /* owned; code/executable.c */
	struct rt_copies *copies;           /* owned; copy/copy.c */
	struct rt_ipc *ipc;                 /* owned; ipc/ipc.c */
	struct rt_images *images;           /* owned; image/image.c */
	struct drv_lock fault_lock;         /* held during a query for faults and the reports that follow */
	_Atomic uint64_t fault_query_ns;    /* time of the last query */
	_Atomic uint64_t fault_requery_ns;  /* time of the next query for faults that are recorded late; 0: none */
	_Atomic uint32_t kernel_generation; /* counts destroyed executables: a change ends the validity of cached
					       kernel pointers */
	_Atomic unsigned
		idlers; /* threads in long sleeps because no GPU works; a submission wakes them through `work` */
	_Atomic uint32_t
		work; /* futex: changes when work is submitted for idlers, and with any signal that is waited for */
};

/* The runtime, or NULL before the first hsa_init() and after the last hsa_shut_down(). One load. */
extern DRV_OWN struct rt *_Atomic rt_current;
static inline struct rt *rt_get(void)
{
	return atomic_load_explicit(&rt_current, memory_order_acquire);
}
/* The calls of the library's public functions (drv/retire.h): the runtime ends when they have ended, and the memory of a destroyed
 * queue is freed then. Each function that uses the runtime is counted, from before rt_get() on. hsa_init() and hsa_shut_down()
 * are not: they wait for others. */
extern DRV_OWN struct drv_calls rt_calls;
/* Initial-exec, like hip_thread (api/base/base.h). */
extern DRV_OWN _Thread_local struct drv_caller rt_caller __attribute__((tls_model("initial-exec")));
static inline struct rt *rt_call_begin(void)
{
	drv_call_begin(&rt_calls, &rt_caller);
	return rt_get();
}
static inline void rt_call_end(void)
{
	drv_call_end(&rt_caller);
}
/* Defines a function of the table (table.h): what follows is the body, whose first parameter is the runtime, `rt`. Without
 * hsa_init() the function returns NOT_INITIALIZED, and the body does not run.
 *
 *   RT_IMPL(hsa_signal_group_destroy, (hsa_signal_group_t group), (group))
 *   {
 *           ...
 *   }
 */
#define RT_IMPL(name, parameters, arguments)                                                                       \
	static hsa_status_t name##_body(struct rt *rt, RT_UNPACK parameters);                                      \
	hsa_status_t impl_##name parameters                                                                        \
	{                                                                                                          \
		struct rt *rt = rt_call_begin();                                                                   \
		hsa_status_t status =                                                                              \
			rt ? name##_body(rt, RT_UNPACK arguments) : HSA_STATUS_ERROR_NOT_INITIALIZED;              \
                                                                                                                   \
		rt_call_end();                                                                                     \
		return status;                                                                                     \
	}                                                                                                          \
	static hsa_status_t name##_body(struct rt *rt __attribute__((unused)), RT_UNPACK parameters)
#define RT_UNPACK(...) __VA_ARGS__

hsa_status_t hsa_status_of(int r);

/* Types of the handles in rt_handles. */
enum rt_type {
	RT_EXECUTABLE,
	RT_LOADED, /* a loaded code object */
	RT_READER,
	RT_SYMBOL,
	RT_CODE_OBJECT, /* of HSA 1.0 */
	RT_CODE_SYMBOL,
	RT_VMEM,
	RT_SIGNAL_GROUP,
	RT_ISA, /* a number without a slot: isa.c */
};
#define RT_KIND(type) DRV_HANDLE_KIND(0x5b, type)
extern DRV_OWN struct drv_handles rt_handles;

/* Return the object that a handle names, or NULL. */
struct rt_agent *rt_agent_of(const struct rt *rt, hsa_agent_t handle);
struct rt_gpu *rt_gpu_of(const struct rt *rt, hsa_agent_t handle);
struct rt_pool *rt_pool_of(const struct rt *rt, uint64_t handle); /* handles of pools and regions */
const struct rt_cache *rt_cache_of(const struct rt *rt, uint64_t handle);
/* The agent whose ISA a handle names. */
struct rt_agent *rt_isa_of(const struct rt *rt, hsa_isa_t handle);
static inline hsa_agent_t rt_agent_handle(const struct rt_agent *agent)
{
	return (hsa_agent_t){(uintptr_t)agent};
}

/* Stores `what` in the type of the attribute; the result of a getter. */
#define RT_GIVE(value, type, what) (*(type *)(value) = (type)(what), HSA_STATUS_SUCCESS)

/* Finds CPUs and GPUs and opens the GPUs. -ENODEV: no GPU can be used (the record has the reason). */
DRV_MUST_CHECK int rt_agents_init(struct rt *rt);
void rt_agents_fini(struct rt *rt);
/* Sets each GPU's cus: all that the GPU has, without those that HSA_CU_MASK excludes (cu_env.c). */
void rt_cus_init(struct rt *rt);
/* Sets the bits of all compute units of the device, in the clients' numbering. */
void rt_all_cus(const struct drv_device *dev, uint32_t *cus);
/* Fills agent->info and agent->isa. */
void rt_info_cpu(struct rt *rt, struct rt_agent *agent);
void rt_info_gpu(struct rt *rt, struct rt_agent *agent);
/* The handle of an agent's ISA is the address of agent->isa. */
static inline hsa_isa_t rt_isa_handle(const struct rt_agent *agent)
{
	return (hsa_isa_t){(uintptr_t)agent->isa};
}

/* rt_now_ns() is the time of HSA's clock (CLOCK_BOOTTIME); rt_gpu_time_ns() converts a GPU's counter to it. */
uint64_t rt_now_ns(void);
uint64_t rt_gpu_time_ns(struct rt_gpu *gpu, uint64_t ticks);

/* --- all GPUs (gpus.c) -------------------------------------------------------------------------- */

/* Submits the flows' open jobs. Called before anything that could observe their results. One load if none is
 * open. */
void rt_queues_flush(struct rt *rt);
/* True while jobs of flows are unfinished: signals may change without the CPU. */
bool rt_queues_busy(struct rt *rt);

#endif
