/* Queues, inside hsa/: what the files of queues share.
 *
 * A queue is an AQL ring in memory that the client writes, and the packet processor that reads it (packet.c): it
 * gives each packet to the queue's flow (flow/flow.h) as an operation. The processor runs on whichever thread rings
 * the doorbell or makes progress: the holder of the flow's lock translates; a thread that finds the lock taken
 * returns, and the holder looks again after giving it back.
 *
 * Our HIP library has flows without a ring (rt_flow alone). */
#ifndef HSA_QUEUE_H
#define HSA_QUEUE_H

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
	hsa_barrier_and_packet_t barrier; /* barrier-or has the same layout */
	hsa_amd_barrier_value_packet_t value;
	struct {
		uint16_t header, format; /* RT_FORMAT_PM4_IB */
		uint32_t jump[4];        /* INDIRECT_BUFFER */
		uint32_t left_dw, reserved[8];
		hsa_signal_t completion_signal;
	} pm4;
};
_Static_assert(sizeof(union rt_packet) == 64, "an AQL packet");

/* A flow of this runtime. */
struct rt_flow {
	struct rt_work work; /* calls flow_attempt() while the flow is stalled, or has collected */
	struct flow flow;
	struct rt *rt;              /* borrowed */
	struct rt_gpu *gpu;         /* borrowed; NULL: a soft queue, whose packets the client reads */
	const amd_queue_v2_t *amd;  /* borrowed: the client's, which says whether to profile; NULL: our HIP's */
	uint32_t cus[RT_CU_DWORDS]; /* compute units that may be used, in the clients' numbering */
	unsigned faults; /* a HIP stream's: faults of the GPU before this flow; and the operations below: */
	_Atomic uint64_t checked;  /* the kernel was asked about their faults */
	struct rt_flow_info *info; /* owned; of our HIP's flows that are a queue's (tap.c); else NULL */
	struct rt_queue *tap;      /* borrowed; not NULL: its dispatches go through that queue, by: */
	int (*tap_dispatch)(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet, uint64_t completion);
	/* The flow is FLOW_FAILED, and was not before. */
	void (*failed)(struct rt_flow *flow, hsa_status_t status);
	void (*free)(struct rt_flow *flow);
};

static inline struct rt_flow *rt_flow_of(const struct flow *flow)
{
	return vm_container((struct flow *)(uintptr_t)flow, struct rt_flow, flow);
}
/* rt, gpu, amd, failed and free are set; type: of a queue. */
void rt_flow_init(struct rt_flow *flow, hsa_queue_type32_t type);
/* The flow fails, unless it has ended. */
void rt_flow_fail(struct rt_flow *flow, hsa_status_t status);
/* rt_work's attempt and fences. */
bool rt_flow_attempt(struct rt *rt, struct rt_work *work);
unsigned rt_flow_fences(const struct rt_work *work, struct cs_fence *fences, unsigned max);
/* cu_mask.c: a new flow's compute units; and what clients ask of them, as the functions of HSA. */
void rt_flow_init_cus(struct rt_flow *flow);
hsa_status_t rt_flow_set_cus(struct rt_flow *flow, uint32_t bits, const uint32_t *cus);
hsa_status_t rt_flow_get_cus(const struct rt_flow *flow, uint32_t bits, uint32_t *cus);
/* Called behind flow_wait(): queries the kernel about faults of the GPU and losses of its contexts, unless many
 * waits did so just now; then a later one does. */
void rt_flow_check(struct rt_flow *flow);

struct rt_intercept;

struct rt_queue {
	struct rt_flow base;            /* the lock guards the reading of packets, too */
	struct rt_intercept *intercept; /* owned; not NULL: packets go through handlers to another queue */
	struct rt_queue *next;          /* in list or dying; guarded by rt_queues' lock */
	struct rt_shared memory;        /* owned: amd_queue_v2_t, then the packets */
	amd_queue_v2_t *amd;            /* in it */
	char *packets;                  /* in it; of 64 bytes */
	uint32_t mask;                  /* packets - 1: what the client's memory says of it is not believed */
	unsigned users;                 /* handles that name the queue; guarded by rt_queues' lock. 0: none may */
	uint64_t id;                    /* unlike every other queue's, and growing */
	struct rt_signal *doorbell;     /* owned; NULL: the client's */
	void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data); /* may be NULL */
	void *data;
	struct rt_queue *above;                   /* borrowed; not NULL: the client knows only that one */
	struct rt_queue_failure *_Atomic failure; /* the callback's call is under way */
	_Atomic unsigned held; /* threads that came by the list, not by the client: it may not go yet */
	_Atomic bool stopped;  /* the next packet waits for something; the progress thread tries it */
	struct rt_signal *watched[RT_DEPS_MAX]; /* borrowed: whose changes the stopped packet waits for */
};

struct rt_queues {
	pthread_mutex_t lock;          /* guards all */
	struct rt_queue *list, *dying; /* dying: destroyed, but the GPU still works for them */
};

/* The properties of a queue to be made. */
struct rt_queue_want {
	struct rt_gpu *gpu; /* borrowed */
	uint32_t size;      /* packets, a power of two */
	hsa_queue_type32_t type;
	uint32_t features;
	hsa_signal_t doorbell; /* the client's; 0: a doorbell is made */
	void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data);
	void *data;
	struct rt_queue *above; /* borrowed: that hears of errors instead; outlives the new one */
};
/* Checks what a client asks an agent for, and makes the queue. */
typedef int rt_queue_maker(struct rt *rt, struct rt_queue_want *want, struct rt_queue **queue);
hsa_status_t rt_queue_make(hsa_agent_t agent, uint32_t private_B, struct rt_queue_want *want, rt_queue_maker *how,
			   hsa_queue_t **queue);
DRV_MUST_CHECK int rt_queue_create(struct rt *rt, const struct rt_queue_want *want, struct rt_queue **queue);
void rt_queue_destroy(struct rt_queue *queue);

/* Fills in a queue's description for kernels, in zeroed memory: apertures and identification. gpu NULL: a soft
 * queue's. */
void rt_queue_describe(const struct rt_gpu *gpu, amd_queue_v2_t *amd);

/* pm4.c: appends the commands that an INDIRECT_BUFFER packet names. -EINVAL: they are none, or lie where the CPU
 * does not see them. */
DRV_MUST_CHECK int rt_pm4_append(struct rt_queue *queue, struct cs_ib *ib, const uint32_t *jump);

/* intercept.c: the doorbell of a queue with handlers; and its end. */
void rt_intercept_ring(struct rt_queue *queue);
void rt_intercept_destroy(struct rt_queue *queue);
/* The queue that its packets go to. */
struct rt_queue *rt_intercept_below(const struct rt_queue *queue);

/* tap.c: flows of our HIP library that are a queue's: because tools want to see queues, and the cooperative queue,
 * which HSA's clients share. */
bool rt_tap_wanted(void);
DRV_MUST_CHECK int rt_tap_create(hsa_agent_t agent, hsa_queue_type32_t type, const struct rt_flow_info *info,
				 struct flow **flow);
void rt_tap_destroy(struct rt_flow *flow);

/* The queue of a client's pointer, which is not followed; NULL: none. */
struct rt_queue *rt_queue_of(const struct rt *rt, const hsa_queue_t *queue);
static inline bool rt_queue_is_over(const struct rt_queue *q)
{
	return atomic_load_explicit(&q->base.flow.state, memory_order_relaxed) != FLOW_ACTIVE;
}
/* The queue ends with an error: no packet is read any more, and the client's callback is called once. */
static inline void rt_queue_fail(struct rt_queue *q, hsa_status_t status)
{
	rt_flow_fail(&q->base, status);
}
/* The ring. A packet is there when its header says so; passing it gives its slot back to the client. */
static inline union rt_packet *rt_queue_slot(const struct rt_queue *q, uint64_t index)
{
	return (union rt_packet *)(void *)(q->packets + (index & q->mask) * sizeof(union rt_packet));
}
bool rt_queue_has_packet(const struct rt_queue *queue);
void rt_queue_pass(struct rt_queue *queue, uint64_t index);
/* Reads packets. */
void rt_queue_run(struct rt_queue *queue);
/* Reads all there are with the flow's lock; false: one waits for something. */
bool rt_queue_drain(struct rt_queue *queue);
/* rt_work's attempt. */
bool rt_queue_attempt(struct rt *rt, struct rt_work *work);
/* The signals whose changes a stopped packet waits for, at most RT_DEPS_MAX; and forgets them. */
void rt_queue_watch(struct rt_queue *queue, struct rt_signal *const *signals, unsigned count);
void rt_queue_unwatch(struct rt_queue *queue);
/* Fails the flows of that ring, and our HIP library's of its GPU, or (ring NULL) those of that GPU that were used;
 * the GPU of one of them. */
struct rt_gpu *rt_queues_fail(struct rt *rt, const struct rt_gpu *gpu, const struct cs_ring *ring,
			      hsa_status_t status);

/* --- the packet processor (packet.c, barrier.c) -------------------------------------------------- */

/* TAKEN: the packet was executed. STOPPED: it waits for something. FAILED: the queue has. */
enum rt_outcome { RT_TAKEN, RT_STOPPED, RT_FAILED };

static inline unsigned rt_packet_type(uint16_t header)
{
	return header & 0xff;
}
/* The queue ends with that error. */
enum rt_outcome rt_packet_fail(struct rt_queue *queue, hsa_status_t status);
/* The outcome for the queue of an error of its flow. */
enum rt_outcome rt_packet_refused(struct rt_queue *queue, int r);
enum rt_outcome rt_barrier_and(struct rt_queue *queue, const union rt_packet *packet);
enum rt_outcome rt_barrier_or(struct rt_queue *queue, const union rt_packet *packet);
enum rt_outcome rt_barrier_value(struct rt_queue *queue, const union rt_packet *packet);

/* --- for other folders ---------------------------------------------------------------------------- */

DRV_MUST_CHECK int rt_queues_init(struct rt *rt);
void rt_queues_fini(struct rt *rt);
void rt_queue_ring(struct rt_queue *queue);
/* The ring's context was lost: its queue ends with an error (fault.c). */
void rt_queues_lost(struct rt *rt, const struct cs_ring *ring);
/* Asks the kernel about faults and resets, and tells the client; now: also shortly after the last time. */
void rt_faults_query(struct rt *rt, bool now);
/* Looks when it is time for what the kernel recorded late. */
void rt_faults_look_again(struct rt *rt);

#endif
