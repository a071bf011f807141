/* Queues: declarations that the files of queue/ share.
 *
 *   rt_queue   an AQL ring in memory that the client writes, and the packet processor that reads it (packet.c).
 *              Owned by rt_queues, or by the intercept queue above it
 *   rt_flow    a flow of this runtime: the base of each queue, and alone a stream of our HIP library, which has no
 *              ring
 *   rt_queues  the lists of queues. Owned by rt
 *
 * The packet processor passes each packet to the queue's flow (flow/flow.h) as an operation. It runs on the thread
 * that rings the doorbell, or on the progress thread: the holder of the flow's lock translates packets. A thread
 * that finds the lock taken returns, because the holder checks for packets again after the unlock.
 *
 * Locks: rt_queues.lock guards the lists; a flow's lock its operations and the reading of its queue's packets. */
#ifndef HSA_QUEUE_H
#define HSA_QUEUE_H

#include "drv/lock.h"
#include "hsa/interface.h"
#include "hsa/memory/memory.h"
#include "hsa/signal/signal.h"
#include "vm/tree.h"

#define RT_DEPS_MAX 5 /* dependencies of a barrier packet */

#define RT_FORMAT_PM4_IB 1 /* format of a vendor packet (ROCr's AqlQueue::ExecutePM4) */
union rt_packet {
	struct {
		uint16_t header, setup;
	};
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier; /* barrier-or packets have the same layout */
	hsa_amd_barrier_value_packet_t value;
	struct {
		uint16_t header, format; /* RT_FORMAT_PM4_IB */
		uint32_t jump[4];        /* an INDIRECT_BUFFER packet */
		uint32_t left_dw, reserved[8];
		hsa_signal_t completion_signal;
	} pm4;
};
_Static_assert(sizeof(union rt_packet) == 64, "an AQL packet");

/* A flow of this runtime. */
struct rt_flow {
	struct rt_work work; /* queued while the flow is stalled or has an open job; calls flow_attempt() */
	struct flow flow;
	struct rt *rt;              /* borrowed */
	struct rt_gpu *gpu;         /* borrowed; NULL: a soft queue, whose packets the client reads */
	const amd_queue_v2_t *amd;  /* borrowed: the queue that the client sees, which has the profiling flag; NULL:
				       a flow of our HIP library */
	uint32_t cus[RT_CU_DWORDS]; /* mask of the units that may be used, in the clients' numbering */
	unsigned faults;            /* HIP streams: number of the GPU's faults before this flow was created */
	_Atomic uint64_t checked;   /* HIP streams: faults of the operations below this number were queried */
	struct rt_flow_info *info;  /* owned; for HIP streams that belong to a queue (tap.c); else NULL */
	/* The queue that tools see, for HIP streams that belong to one: a reference, unless it is this flow's own. */
	struct rt_queue *tap;
	void *_Atomic tap_writer; /* a mark of the thread that runs the handlers for new packets of `tap` */
	/* Called once, when the flow becomes FLOW_FAILED. */
	void (*failed)(struct rt_flow *flow, hsa_status_t status);
	void (*free)(struct rt_flow *flow);
};

static inline struct rt_flow *rt_flow_of(const struct flow *flow)
{
	return vm_container((struct flow *)(uintptr_t)flow, struct rt_flow, flow);
}
/* Initialises a flow whose rt, gpu, amd, failed and free are set; type: the queue's. */
void rt_flow_init(struct rt_flow *flow, hsa_queue_type32_t type);
/* Fails the flow, unless it has ended. */
void rt_flow_fail(struct rt_flow *flow, hsa_status_t status);
/* The callbacks of rt_work. */
bool rt_flow_attempt(struct rt *rt, struct rt_work *work);
unsigned rt_flow_fences(const struct rt_work *work, struct cs_fence *fences, unsigned max);
/* cu_mask.c: sets a new flow's compute units; sets and returns them for the functions of HSA. */
void rt_flow_init_cus(struct rt_flow *flow);
hsa_status_t rt_flow_set_cus(struct rt_flow *flow, uint32_t bits, const uint32_t *cus);
hsa_status_t rt_flow_get_cus(struct rt_flow *flow, uint32_t bits, uint32_t *cus);
/* Queries the kernel for faults of the GPU and losses of its contexts, at a limited rate: a later call reports what
 * this one does not query. Called after flow_wait(). */
void rt_flow_check(struct rt_flow *flow);

struct rt_intercept;

struct rt_queue {
	struct rt_flow base;            /* the flow's lock also guards the reading of packets */
	struct rt_intercept *intercept; /* owned; not NULL: packets go through handlers to another queue */
	struct rt_queue *next;          /* in list or dying; guarded by rt_queues.lock */
	struct drv_retired retired;     /* used when the last reference to the flow was released */
	struct rt_shared memory;        /* owned: amd_queue_v2_t, then the packets */
	amd_queue_v2_t *amd;            /* in `memory` */
	char *packets;                  /* in `memory`; 64 bytes each */
	uint32_t mask;                  /* number of packets - 1; the size in the client's memory is not trusted */
	unsigned users; /* cooperative queue: number of hsa_queue_create() calls that returned it; 0: any other
			   queue. Guarded by rt_queues.lock */
	uint64_t id;    /* unique, and increasing */
	struct rt_signal *doorbell;                                            /* owned; NULL: the client's */
	void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data); /* may be NULL */
	void *data;
	struct rt_queue *above; /* borrowed: the intercept queue whose packets come here, the only one the client
				   knows; else NULL */
	struct rt_queue_failure *_Atomic failure; /* a pending call of the callback */
	_Atomic unsigned held; /* threads that use the queue without the client's knowledge: it is not destroyed
				  before they end */
	_Atomic bool stopped;  /* the next packet waits; only the progress thread reads it */
	struct rt_signal *watched[RT_DEPS_MAX]; /* borrowed: the signals that the stopped packet waits for */
};

struct rt_queues {
	struct drv_mutex lock;         /* guards the lists */
	struct rt_queue *list, *dying; /* dying: destroyed, but with unfinished work on the GPU */
};

/* Parameters of a new queue. */
struct rt_queue_request {
	struct rt_gpu *gpu; /* borrowed */
	uint32_t size;      /* number of packets, a power of two */
	hsa_queue_type32_t type;
	uint32_t features;
	hsa_signal_t doorbell; /* the client's; 0: a doorbell is created */
	void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data);
	void *data;
	struct rt_queue *above; /* borrowed: the queue that errors are reported to; outlives the new queue */
};
/* Checks the parameters of a client's hsa_queue_create(), and creates the queue by how(). */
typedef int rt_queue_maker(struct rt *rt, struct rt_queue_request *want, struct rt_queue **queue);
hsa_status_t rt_queue_make(struct rt *rt, hsa_agent_t agent, uint32_t private_B, struct rt_queue_request *want,
			   rt_queue_maker *how, hsa_queue_t **queue);
DRV_MUST_CHECK int rt_queue_create(struct rt *rt, const struct rt_queue_request *want, struct rt_queue **queue);
void rt_queue_destroy(struct rt_queue *queue);
/* The two steps of rt_queue_create(): no thread finds the queue, or rings its doorbell, before rt_queue_publish(). */
DRV_MUST_CHECK int rt_queue_prepare(struct rt *rt, const struct rt_queue_request *want, struct rt_queue **queue);
void rt_queue_publish(struct rt_queue *queue);
/* Destroys a queue that is in no list. */
void rt_queue_destroy_unlisted(struct rt_queue *queue);

/* Fills in a queue's description for kernels, in zeroed memory: apertures and identification. gpu NULL: a soft
 * queue's. */
void rt_queue_describe(const struct rt_gpu *gpu, amd_queue_v2_t *amd);

/* pm4.c: appends the commands of an INDIRECT_BUFFER packet. -EINVAL: they are no valid packets, or in memory that
 * the CPU cannot read. */
DRV_MUST_CHECK int rt_pm4_append(struct rt_queue *queue, struct cs_ib *ib, const uint32_t *jump);

/* intercept.c: processes the doorbell of an intercept queue; destroys its part. */
void rt_intercept_ring(struct rt_queue *queue);
/* Drops the calls of an intercept queue's handlers that have not begun on the handler thread. */
void rt_intercept_drop_calls(struct rt_queue *queue);
/* Destroys the queue below. rt_intercept_free() frees the rest, with the queue. */
void rt_intercept_destroy(struct rt_queue *queue);
void rt_intercept_free(struct rt_queue *queue);
/* Packets that handlers write go below only when rt_intercept_pass() lets their packet pass. */
void rt_intercept_gate(struct rt_queue *queue);
/* Lets what handlers make of the packets up to that index go below. True: all of it is there. */
bool rt_intercept_pass(struct rt_queue *queue, uint64_t index);
/* True while this thread runs a handler or marker of the intercept queue, and so holds its lock. */
bool rt_intercept_is_inside(const struct rt_queue *queue);
/* The caller holds the lock of rt_queues. Notes that this thread waits for the end of another queue, in its handlers;
 * NULL: it does not any more. False, and nothing is noted: that queue's handlers wait for the end of one of this thread's, or
 * it is one. */
DRV_MUST_CHECK bool rt_intercept_await_locked(struct rt_queue *queue);
/* The queue that receives the packets of an intercept queue. */
struct rt_queue *rt_intercept_below(const struct rt_queue *queue);
/* The queue whose flow executes the packets of a queue: itself, if it is no intercept queue. */
static inline struct rt_queue *rt_queue_executor(struct rt_queue *queue)
{
	return queue->intercept ? rt_intercept_below(queue) : queue;
}

/* tap.c: flows of our HIP library that belong to a queue: if tools intercept queues, and the cooperative queue,
 * which clients of HSA share. */
bool rt_tap_wanted(void);
DRV_MUST_CHECK int rt_tap_create(hsa_agent_t agent, hsa_queue_type32_t type, const struct rt_flow_info *info,
				 struct flow **flow);
void rt_tap_destroy(struct rt_flow *flow);
/* The callbacks of flows (struct flow_ops). */
uint64_t rt_tap_write(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet, uint64_t completion);
int rt_tap_execute(struct flow *flow, uint64_t number);
/* Called without the flow's lock: runs handlers. */
void rt_tap_released(struct rt_flow *flow);

/* A reference to the queue of a client's pointer, which is not dereferenced; NULL: none. Another thread may destroy the queue
 * meanwhile. */
struct rt_queue *rt_queue_get(const struct rt *rt, const hsa_queue_t *queue);
/* The same; NULL also for a queue without a GPU. */
struct rt_queue *rt_gpu_queue_get(const struct rt *rt, const hsa_queue_t *queue);
void rt_queue_put(struct rt_queue *queue);
static inline bool rt_queue_is_over(const struct rt_queue *q)
{
	return atomic_load_explicit(&q->base.flow.state, memory_order_relaxed) != FLOW_ACTIVE;
}
/* Fails the queue: no packet is read any more, and the client's callback is called once. */
static inline void rt_queue_fail(struct rt_queue *q, hsa_status_t status)
{
	rt_flow_fail(&q->base, status);
}
/* The slots of the ring. A slot has a packet when its header is valid; rt_queue_pass() returns the slot to the
 * client. */
static inline union rt_packet *rt_queue_slot(const struct rt_queue *q, uint64_t index)
{
	return (union rt_packet *)(void *)(q->packets + (index & q->mask) * sizeof(union rt_packet));
}
bool rt_queue_has_packet(const struct rt_queue *queue);
void rt_queue_pass(struct rt_queue *queue, uint64_t index);
/* Reads packets, unless another thread does. */
void rt_queue_run(struct rt_queue *queue);
/* Reads all packets, with the flow's lock; false: one waits. */
bool rt_queue_drain(struct rt_queue *queue);
/* The attempt() of rt_work. */
bool rt_queue_attempt(struct rt *rt, struct rt_work *work);
/* Adds the queue to the watchers of the signals that a stopped packet waits for, at most RT_DEPS_MAX; removes
 * it. */
void rt_queue_watch(struct rt_queue *queue, struct rt_signal *const *signals, unsigned count);
void rt_queue_unwatch(struct rt_queue *queue);
/* Fails the flows on that ring and the flows of our HIP library on its GPU, or (ring NULL) all flows of that GPU
 * that were used. Returns the GPU of the failed flows, or NULL. */
struct rt_gpu *rt_queues_fail(struct rt *rt, const struct rt_gpu *gpu, const struct cs_ring *ring,
			      hsa_status_t status);

/* --- the packet processor (packet.c, barrier.c) -------------------------------------------------- */

/* TAKEN: the packet was executed. STOPPED: it waits. FAILED: the queue failed. */
enum rt_outcome { RT_TAKEN, RT_STOPPED, RT_FAILED };

static inline unsigned rt_packet_type(uint16_t header)
{
	return header & 0xff;
}
/* Fails the queue with that status. */
enum rt_outcome rt_packet_fail(struct rt_queue *queue, hsa_status_t status);
/* Translates an error of the queue's flow to an outcome. */
enum rt_outcome rt_packet_refused(struct rt_queue *queue, int r);
enum rt_outcome rt_barrier_and(struct rt_queue *queue, const union rt_packet *packet);
enum rt_outcome rt_barrier_or(struct rt_queue *queue, const union rt_packet *packet);
enum rt_outcome rt_barrier_value(struct rt_queue *queue, const union rt_packet *packet);

/* --- for other folders ---------------------------------------------------------------------------- */

DRV_MUST_CHECK int rt_queues_init(struct rt *rt);
void rt_queues_fini(struct rt *rt);
void rt_queue_ring(struct rt_queue *queue);
/* Fails the queues of a ring whose context was lost (fault.c). */
void rt_queues_lost(struct rt *rt, const struct cs_ring *ring);
/* Queries the kernel for faults and resets, and reports them to the client. Rate limited unless `now`. */
void rt_faults_query(struct rt *rt, bool now);
/* Queries again if a fault may have been recorded after the last query. */
void rt_faults_query_late(struct rt *rt);

#endif
