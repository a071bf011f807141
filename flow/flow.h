/* flow/: ordered streams of GPU work. This header is the room's interface.
 *
 *   flow_gpu      what the flows of a GPU share: its hardware queues, and the list of the flows
 *   flow_queue    a hardware queue: a kernel context, a compute ring of it, and what the ring's jobs stand for
 *   flow          an ordered stream: an open job, the fences that the next job waits for, deferred operations
 *   flow_op       an operation of a flow, as data
 *   flow_segment  dispatches that are submitted again and again (graphs)
 *
 * Timeline. Each operation advances its flow's timeline by 1: a point of it is {flow, value}, "the operations below
 * value". flow_completed() gives the value that the GPU has reached; what these operations wrote is visible then.
 *
 * Jobs. Dispatches are written into the flow's open job. While the hardware queue has less than CS_BUSY_JOBS
 * unfinished jobs the open job is submitted at once; else it stays open and takes more, until it is full, until a
 * job ends, until a thread waits or asks, or for FLOW_COLLECT_NS. A wait for another flow costs no job: the next
 * job of the flow carries it. Copies by the DMA engines are jobs of the copier, between the flow's own.
 *
 * Deferral. An operation that cannot be submitted yet (it waits for a value in memory, for a function of the host,
 * for operations of another flow that are deferred) is kept, and so is all behind it; flow_advance() goes on.
 *
 * Locks. Each flow has one, which its user takes around flow_submit() and its kin ("locked" below). Inside it: the
 * GPU's lock, the copier's, the kernel. A flow's lock is never waited for with another flow's held: then
 * drv_lock_try() is all. The room takes the lock itself in functions that are not "locked".
 *
 * Errors: -errno with a record. An operation whose submission fails ends the flow (FLOW_FAILED): its other
 * operations will never be done. */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include <sys/queue.h>

#include "flow/gpu.h"
#include "flow/op.h"

/* --- flows ------------------------------------------------------------------------------------- */

#define FLOW_KERNELS    16 /* kernels that a flow remembers; a power of two */
#define FLOW_OPS_MAX    64 /* operations of a job */
#define FLOW_AFTERS_MAX 8  /* jobs of other rings that a job waits for */
#define FLOW_COLLECT_NS 100000
#define FLOW_NS_UNKNOWN UINT64_MAX
/* Bytes of a dispatch packet from setup, which ends the first four, to the sizes of the segments. */
#define FLOW_SHAPE_B 32

enum flow_state { FLOW_ACTIVE, FLOW_ENDED, FLOW_FAILED };

/* A kernel that a flow remembers. */
struct flow_kernel {
	uint64_t object;
	uint32_t generation;
	const struct cs_kernel *kernel; /* borrowed, while the generation holds; NULL: there is no such kernel */
	uint64_t group_ps;              /* time of a group when the kernel ran in a long grid; 0: not known */
	/* The last dispatch of it, checked and prepared: good for packets that begin with the same FLOW_SHAPE_B
	 * bytes, but for the header. */
	bool ready;
	uint32_t serial; /* changes with all that is prepared */
	uint64_t shape[FLOW_SHAPE_B / 8];
	uint64_t groups;      /* workgroups of that shape */
	uint64_t estimate_ns; /* the expected time of the next such dispatch; FLOW_NS_UNKNOWN */
	struct cs_dispatch_template template;
	char pad[64];
};
_Static_assert(sizeof(struct flow_kernel) == 512, "one is found by a shift");

/* A grid that is submitted in parts (split.c). */
struct flow_split {
	bool on;
	uint32_t at[3];        /* the next part's first group */
	uint64_t want, groups; /* groups: of the next part at most; of the last one */
	struct cs_fence fence; /* the end of the last one */
};

/* Calls that a flow makes to its owner, with the flow's lock. */
struct flow_ops {
	/* The flow cannot go on by itself, or has collected: flow_attempt() is to be called when a job of the
	 * GPU's ends, and from time to time, until it says true. */
	void (*stalled)(struct flow *flow);
	/* A job went to the kernel. */
	void (*submitted)(struct flow *flow);
	/* The flow is FLOW_FAILED from now on. */
	void (*failed)(struct flow *flow, int error);
	/* The kernel of an AQL kernel object; NULL: none that is loaded. */
	const struct cs_kernel *(*kernel)(struct flow *flow, uint64_t object);
	/* Appends the begin and the completion of an operation that has a signal to the open job. */
	void (*begin)(struct flow *flow, uint64_t signal);
	void (*complete)(struct flow *flow, uint64_t signal, uint16_t header);
	/* The operation of that signal (0: it has none) waited for a fence that was lost; the flow goes on. */
	void (*wait_lost)(struct flow *flow, uint64_t signal, struct cs_fence fence);
	/* A dispatch of a flow that is tapped was submitted: tools see it in released(). Returns its number. */
	uint64_t (*tap)(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet, uint64_t completion);
	/* Executes what the tools have made of the dispatch. -EAGAIN: not all of it. */
	int (*tapped)(struct flow *flow, uint64_t number);
	/* The room has given the flow's lock back, and was not asked by its holder to take it: the owner looks for
	 * what came meanwhile. May be NULL. */
	void (*released)(struct flow *flow);
	/* The CPU sees so many bytes there, which it may not any more. */
	bool (*sees)(struct flow *flow, const void *at, uint32_t size_B);
	/* The error that a wait for the flow ends with; 0: none. Called without the lock. */
	int (*check)(const struct flow *flow);
	/* The last reference to the flow is gone. */
	void (*free)(struct flow *flow);
};

struct flow {
	struct drv_lock lock;
	_Atomic uint32_t state;            /* enum flow_state; a futex */
	struct flow_queue *_Atomic queue;  /* borrowed; NULL: none yet */
	_Atomic enum cs_priority priority; /* wished for; the queue has its own */
	_Atomic bool collecting;           /* the open job waits for more; written under the lock */
	_Atomic bool stalled;              /* the owner was told so, and flow_attempt() has not said true */
	_Atomic uint64_t written;          /* operations so far */
	_Atomic uint64_t executed;         /* operations in the open job, submitted, or over */
	/* The open job. */
	struct cs_ib *ib; /* NULL: none is open */
	unsigned job_ops; /* operations in the open job */
	bool ordered;     /* the next job waits for all before, whatever its first operation */
	bool more;        /* the owner has more operations at hand, which will be in the same job */
	unsigned
		unreleased; /* the scope that operations without signals release at; the job's end does so anyway */
	uint64_t completions; /* queue->issued when it began */
	uint64_t collecting_since_ns;
	uint64_t left_ns;                 /* time left for further dispatches of the job */
	bool unknown;                     /* the time of some dispatch is not known: no time is left */
	bool timed;                       /* the job has a clock */
	bool kept;                        /* the job's commands are kept, or were: the job has no clock */
	unsigned dispatches;              /* dispatches in the open job */
	const struct flow_kernel *kernel; /* kernel of the last dispatch */
	/* Points that the next job begins behind: the job is submitted without waiting for lost ones. */
	unsigned afters;
	struct cs_fence after[FLOW_AFTERS_MAX];
	uint64_t waiter[FLOW_AFTERS_MAX]; /* the completion of the operation that waits for each; 0: none */
	struct flow_deferred *deferred, **deferred_end; /* owned */
	unsigned deferred_count;
	bool advancing;           /* a thread is in flow_advance() */
	_Atomic bool calling;     /* the first one is a call, and it is under way */
	_Atomic uint32_t moved;   /* futex: changes when deferred operations were executed */
	_Atomic uint32_t waiters; /* threads that sleep on it */
	_Atomic bool attended;    /* the holder of the lock sleeps in flow_wait(), which executes what it can */
	uint64_t job_ns;          /* flow_job_ns(), or 0: no limit; immutable, as are: */
	uint64_t long_grid;       /* work-items from which on a grid may be split */
	struct flow_split split;
	/* Set by the owner. */
	const struct flow_ops *ops;
	struct flow_gpu *gpu;
	bool cooperative; /* grids are whole, and jobs have global wave sync */
	bool grouped;     /* the flow fails with the other grouped flows of the GPU */
	bool masked;      /* not all compute units may be used: */
	uint32_t masks;   /* how often that was changed */
	uint32_t cu_mask[CS_ENGINES_MAX];
	bool tapped;       /* tools see its dispatches as packets: ops->tap() */
	uint64_t queue_va; /* amd_queue_t, for kernels that ask for it */
	/* The room's own. */
	uint64_t id; /* unlike every other flow's, and growing */
	_Atomic unsigned refs;
	void *_Atomic holder;    /* a mark of the thread that has the lock and may call others; NULL: none */
	LIST_ENTRY(flow) in_gpu; /* guarded by the GPU's lock */
	struct flow_kernel cache[FLOW_KERNELS];
};

/* The owner has zeroed it, and set what is its own; one reference is the owner's. */
void flow_init(struct flow *flow);
/* Nothing more is submitted, and deferred operations are dropped. What the GPU has goes on; the hardware queue goes
 * back when that has ended: the owner waits for it (flow_idle()) and calls flow_fini(). Takes the lock. */
void flow_end(struct flow *flow);
/* Whether no work of it runs. */
bool flow_idle(const struct flow *flow);
/* Gives the hardware queue back, and the owner's reference. */
void flow_fini(struct flow *flow);
static inline struct flow *flow_get(struct flow *flow)
{
	atomic_fetch_add_explicit(&flow->refs, 1, memory_order_relaxed);
	return flow;
}
void flow_put(struct flow *flow);

/* The owner of the lock calls functions that may flush all flows: they must know. (The initial-exec model saves a call of
 * __tls_get_addr() for each lock.) */
extern _Thread_local char flow_thread __attribute__((tls_model("initial-exec")));
static inline void flow_hold(struct flow *flow)
{
	atomic_store_explicit(&flow->holder, (void *)&flow_thread, memory_order_relaxed);
}
static inline void flow_unhold(struct flow *flow)
{
	atomic_store_explicit(&flow->holder, NULL, memory_order_relaxed);
}

/* Locked. Gives the flow one operation; copied. Its end() is called once, whatever happens. At an error it
 * was not taken, or the flow has failed, as its state says. */
DRV_MUST_CHECK int flow_submit(struct flow *flow, const struct flow_op *op);
/* The same for a dispatch, which most operations are. */
DRV_MUST_CHECK int flow_dispatch(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet);

/* A dispatch, to be made again with other arguments. */
struct flow_again {
	const struct flow_kernel *kernel; /* borrowed: the flow's; NULL: it cannot be made again so */
	uint32_t serial;
	uint16_t header;
};
/* Locked. Of a packet that the flow was given last for its kernel, and no code was unloaded since. */
struct flow_again flow_again_of(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet);
/* Locked. -EAGAIN: it has to be given as a packet. Other errors as flow_dispatch(). */
DRV_MUST_CHECK int flow_again(struct flow *flow, const struct flow_again *again, void *kernarg);

/* Any thread. The operations below have ended, and below which value. Two loads. It may know late of what ended
 * without a job of the flow's own behind it: flow_reached() looks closer. */
uint64_t flow_completed(const struct flow *flow);
bool flow_reached(struct flow *flow, uint64_t value);
/* Submits the open job. */
void flow_flush(struct flow *flow);
/* Waits for it. -ETIMEDOUT; -ECANCELED, -ENODEV: never. *lost: the ring whose loss the wait has found, or NULL. */
DRV_MUST_CHECK int flow_wait(struct flow *flow, uint64_t value, int64_t timeout_ns, struct cs_ring **lost);
/* Goes on with what was deferred or collected. True: nothing is. */
bool flow_attempt(struct flow *flow);
/* Unfinished jobs that it waits for, at most max. */
unsigned flow_fences(struct flow *flow, struct cs_fence *fences, unsigned max);
/* The call that the flow waits for is over. Any thread. */
void flow_call_ended(struct flow *flow);

/* --- for owners that translate packets of their own (hsa/queue/packet.c). Locked ---------------------- */

/* The hardware queue, made at the first use, and anew when the priority was changed. */
DRV_MUST_CHECK int flow_ensure_queue(struct flow *flow);
/* A job is open. -EBUSY: there is no room. */
DRV_MUST_CHECK int flow_open(struct flow *flow, bool ordered);
/* Submits the open job, if there is one. At an error the flow has failed. */
DRV_MUST_CHECK int flow_close(struct flow *flow);
/* An operation's begin in the open job, which is opened for it: waits for what came before, and sees what others
 * wrote. */
DRV_MUST_CHECK int flow_begin(struct flow *flow, uint16_t header, uint64_t completion);
/* Its end. */
static inline void flow_finish(struct flow *f, uint16_t header, uint64_t completion)
{
	if (completion)
		f->ops->complete(f, completion, header);
	else if (flow_releases(header) > f->unreleased)
		f->unreleased = flow_releases(header);
}
/* Later operations begin behind the fence, unless it is of the flow's own ring: then an operation that waits
 * for those before it is enough. waiter: the completion of the operation that asks for it, or 0. -EBUSY. */
DRV_MUST_CHECK int flow_after(struct flow *flow, struct cs_fence fence, uint64_t waiter);
/* The dispatch of a packet, which was checked. -EAGAIN: the same one is to be given again when jobs have ended:
 * flow_attempt() says when. */
DRV_MUST_CHECK int flow_launch(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet, uint64_t completion);
/* A dispatch like the last one of its kernel. False: it is none, and nothing was done. */
bool flow_launch_again(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet, uint64_t completion);
/* The same as the only one of a job, on a hardware queue that has little to do; without a completion. */
bool flow_launch_alone(struct flow *flow, const hsa_kernel_dispatch_packet_t *packet);
/* The remembered kernel of an object; its kernel is NULL if there is none. */
struct flow_kernel *flow_kernel_of(struct flow *flow, uint64_t object);
/* Count an operation as executed; as given. Points of the timeline are good as long as operations are executed in
 * the order in which they are counted as given: an owner executes none of its own, and counts it as both, while
 * others are deferred. */
static inline void flow_count(struct flow *f)
{
	uint64_t executed = atomic_load_explicit(&f->executed, memory_order_relaxed);

	atomic_store_explicit(&f->executed, executed + 1, memory_order_relaxed);
}
static inline void flow_count_written(struct flow *f)
{
	uint64_t written = atomic_load_explicit(&f->written, memory_order_relaxed);

	atomic_store_explicit(&f->written, written + 1, memory_order_release);
}
/* The GPU has enough to do, and the open job may wait for more. */
static inline bool flow_should_collect(const struct flow *f)
{
	return f->job_ops < FLOW_OPS_MAX && cs_ring_unfinished(f->queue->ring) >= CS_BUSY_JOBS;
}
/* Called behind the last operation: submits the open job, or collects. */
DRV_MUST_CHECK int flow_retire_slow(struct flow *flow);
DRV_MUST_CHECK static inline int flow_retire(struct flow *f)
{
	bool collects =
		f->ib && atomic_load_explicit(&f->collecting, memory_order_relaxed) && flow_should_collect(f);

	return __builtin_expect(collects, 1) ? 0 : flow_retire_slow(f);
}
/* The end of the job with which the operations below value end. False: they were not all submitted, or have ended.
 */
bool flow_job_of(const struct flow *flow, uint64_t value, struct cs_fence *fence);
/* Nothing more of an active flow is submitted, for that reason. False: it had stopped before. */
static inline bool flow_stop(struct flow *f, enum flow_state state)
{
	uint32_t active = FLOW_ACTIVE;

	return atomic_compare_exchange_strong(&f->state, &active, state);
}
/* Wakes the threads that sleep until the flow stops, or goes on. */
void flow_wake_all(struct flow *flow);
/* The flow fails. */
void flow_fail(struct flow *flow, int error);
/* Other compute units may be used from now on. */
void flow_forget_shapes(struct flow *flow);

/* --- segments (segment.c) ----------------------------------------------------------------------- */

struct flow_segment;
/* Packets of dispatches, each an operation with the order of its header, to be executed many times. They stay
 * unchanged, and are borrowed as long as the segment lives. A segment may be given to several flows, each
 * behind the operations of the one before. -ENOMEM. */
DRV_MUST_CHECK int flow_segment_create(struct flow_gpu *gpu, const hsa_kernel_dispatch_packet_t *packets,
				       uint32_t count, struct flow_segment **segment);
/* NULL is accepted. */
void flow_segment_destroy(struct flow_segment *segment);

#endif
