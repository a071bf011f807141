/* Queues, inside hsa/: what queue.c and packet.c share.
 *
 * A queue is an AQL ring in memory that the client writes, and the soft packet processor that reads it. The
 * processor runs on whichever thread rings the doorbell, flushes or makes progress: who takes `busy` translates;
 * who finds it taken leaves, and the holder looks again after giving it back (packet.c).
 *
 * A channel is what its jobs run on: a context, a ring of it, and a word that counts packets. Signals name it as
 * long as the runtime lives, so a queue that ends gives its channel back for the next one. */
#ifndef HSA_QUEUE_H
#define HSA_QUEUE_H

#include <sched.h>

#include "hsa/door.h"
#include "hsa/internal.h"

#define RT_KERNEL_CACHE 16 /* kernels that a queue remembers; a power of two */
#define RT_JOBS_TRACKED 32 /* more than CS_JOBS_MAX; a power of two */
#define RT_DEPS_MAX     5  /* of a barrier packet */

#define RT_FORMAT_PM4_IB 1 /* of a vendor packet (ROCr's AqlQueue::ExecutePM4) */
union rt_packet {
	struct {
		uint16_t header, setup;
	};
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier; /* barrier-or has the same layout */
	hsa_amd_barrier_value_packet_t value;
	struct rt_after_packet after;
	struct rt_until_packet until;
	struct rt_sequence_packet sequence;
	struct rt_sync_packet sync;
	struct {
		uint16_t header, format; /* RT_FORMAT_PM4_IB */
		uint32_t jump[4];        /* INDIRECT_BUFFER */
		uint32_t left_dw, reserved[8];
		hsa_signal_t completion_signal;
	} pm4;
};
_Static_assert(sizeof(union rt_packet) == 64, "an AQL packet");

/* A job with a clock. */
struct rt_measure {
	uint64_t seq; /* of the job; another one's: this job has no clock */
	/* Of a job of one dispatch: what it was. NULL: of several, which were to take so long. */
	const struct cs_kernel *kernel; /* borrowed, while the generation holds */
	uint64_t groups, predicted_ns;
	uint32_t generation;
	bool unknown; /* it has dispatches whose time was not known */
};

struct rt_channel {
	struct rt_channel *next; /* in rt_queues' list of free ones; guarded by its lock */
	struct rt_gpu *gpu;      /* borrowed */
	enum cs_priority priority;
	bool cooperative;      /* its jobs have global wave sync */
	struct cs_ctx *ctx;    /* owned */
	struct cs_ring *ring;  /* owned */
	struct vm_piece count; /* owned: the word; GPU packets write how many completions there were */
	uint64_t looked;       /* the last job that had been submitted when the kernel was asked about resets */
	uint64_t issued;       /* completions that were asked for; guarded by the queue's busy */
	_Atomic uint64_t last[RT_JOBS_TRACKED]; /* by job: the completion behind which it does nothing more */
	_Atomic uint64_t end[RT_JOBS_TRACKED];  /* by job: the queue's packets below that have ended with it */
	/* Guarded by the queue's busy (estimate.c): */
	struct rt_measure measure[RT_JOBS_TRACKED]; /* by job */
	uint64_t measured;                          /* jobs up to this one were looked at */
};

struct rt_intercept;

/* Bytes of a dispatch packet from setup (which ends the first 4) to the sizes of segments. */
#define RT_SHAPE_B 32

/* A kernel that a queue remembers. */
struct rt_known_kernel {
	uint64_t object;
	uint32_t generation;
	const struct cs_kernel *kernel; /* borrowed, while the generation holds */
	uint64_t group_ps;              /* what a group cost when it ran in a long grid; 0: not known */
	/* The last dispatch of it, checked and prepared: good for packets that begin with the
	 * same RT_SHAPE_B bytes, but for the header. */
	bool ready;
	uint64_t shape[RT_SHAPE_B / 8];
	uint64_t groups;      /* of that shape */
	uint64_t estimate_ns; /* what one more is expected to take; RT_NS_UNKNOWN */
	struct cs_prepared prepared;
	char pad[64];
};
_Static_assert(sizeof(struct rt_known_kernel) == 512, "one is found by a shift");

#define RT_NS_UNKNOWN UINT64_MAX

/* A grid that is submitted in parts (split.c). */
struct rt_split {
	uint64_t packet;       /* index + 1 of its packet; 0: there is none */
	uint32_t at[3];        /* the next part's first group */
	uint64_t want, groups; /* groups: of the next part at most; of the last one */
	struct cs_point point; /* the end of the last one */
};

#define RT_BATCH_MAX 64 /* packets of a job */

enum rt_queue_state { RT_QUEUE_ACTIVE, RT_QUEUE_INACTIVE, RT_QUEUE_FAILED };

struct rt_queue {
	struct rt_work work;            /* stopped, or collecting */
	struct rt *rt;                  /* borrowed */
	struct rt_gpu *gpu;             /* borrowed; NULL: a soft queue, whose packets the client reads */
	struct rt_intercept *intercept; /* owned; not NULL: packets go through handlers to another queue */
	struct rt_queue *next;          /* in list or dying; guarded by rt_queues' lock */
	struct rt_shared memory;        /* owned: amd_queue_v2_t, then the packets */
	amd_queue_v2_t *amd;            /* in it */
	char *packets;                  /* in it; of 64 bytes */
	uint32_t mask;                  /* packets - 1: what the client's memory says of it is not believed */
	bool cooperative;               /* immutable */
	unsigned users;                 /* who share it; guarded by rt_queues' lock. 0: nobody may */
	uint64_t id;                    /* unlike every other queue's, and growing */
	struct rt_signal *doorbell;     /* owned; NULL: the client's */
	void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data); /* may be NULL */
	void *data;
	struct rt_queue *above;                   /* borrowed; not NULL: the client knows only that one */
	struct rt_queue_failure *_Atomic failure; /* the callback's call is under way */
	_Atomic uint32_t state;                   /* enum rt_queue_state */
	_Atomic unsigned held;   /* threads that came by the list, not by the client: it may not go yet */
	_Atomic bool busy;       /* somebody translates; the members below are his */
	_Atomic bool stopped;    /* the next packet waits for something; the progress thread tries it */
	_Atomic bool collecting; /* packets are left unread until a job ends */
	_Atomic uint64_t collecting_since_ns;
	struct rt_channel *_Atomic channel;     /* owned; made for the first packet, changed under busy */
	_Atomic enum cs_priority priority;      /* wished for; the channel has its own */
	uint32_t cus[RT_CU_DWORDS];             /* that may be used, as clients count them */
	uint32_t cu_mask[CS_ENGINES_MAX];       /* the same as hardware counts them */
	bool masked;                            /* not all */
	uint32_t masks;                         /* how often they were set */
	bool behind_door;                       /* our HIP library's (door.h) */
	unsigned faults;                        /* the GPU's before this queue */
	_Atomic uint64_t looked;                /* packets below: the kernel was asked about their faults */
	struct rt_signal *watched[RT_DEPS_MAX]; /* borrowed: whose changes the stopped packet waits for */
	uint64_t long_grid; /* work-items from which on a grid may be split; immutable, as is: */
	uint64_t job_ns;    /* that the dispatches of a job may take together; 0: without a limit */
	struct rt_split split;
	struct rt_known_kernel cache[RT_KERNEL_CACHE];
};

struct rt_queues {
	pthread_mutex_t lock;          /* guards list, dying and next_id */
	struct rt_queue *list, *dying; /* dying: destroyed, but the GPU still works for them */
	uint64_t next_id;
	pthread_mutex_t channel_lock; /* guards all below; inside lock and a queue's busy */
	struct rt_channel *free;
	struct rt_channel *all[4096]; /* owned, for the end; also those that are lost */
	unsigned channels;
	_Atomic uint32_t collecting; /* queues that collect */
};

/* The channel of a queue, made at the first use, and anew when the priority was changed. The caller holds busy. */
DRV_MUST_CHECK int rt_queue_new_channel(struct rt_queue *queue);
DRV_MUST_CHECK static inline int rt_queue_channel(struct rt_queue *q)
{
	const struct rt_channel *c = q->channel;

	return c && c->priority == atomic_load_explicit(&q->priority, memory_order_relaxed)
		       ? 0
		       : rt_queue_new_channel(q);
}
/* What a queue shall be. */
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
/* What a client asks an agent for: checked, and made so. */
typedef int rt_queue_maker(struct rt *rt, struct rt_queue_want *want, struct rt_queue **queue);
hsa_status_t rt_queue_make(hsa_agent_t agent, uint32_t private_B, struct rt_queue_want *want, rt_queue_maker *how,
			   hsa_queue_t **queue);
DRV_MUST_CHECK int rt_queue_create(struct rt *rt, const struct rt_queue_want *want, struct rt_queue **queue);
void rt_queue_destroy(struct rt_queue *queue);

/* split.c. Work-items from which on a grid may have to be split. */
uint64_t rt_split_limit(const struct rt_gpu *gpu, hsa_queue_type32_t type);
/* Whether that one, which is as large, is. */
bool rt_split_wanted(const struct rt_queue *queue, const hsa_kernel_dispatch_packet_t *packet,
		     const struct rt_known_kernel *known);
/* 0: the next part may be cut; -EAGAIN: the one before still runs; -ECANCELED, -ENODEV. */
DRV_MUST_CHECK int rt_split_ready(struct rt_queue *queue, struct rt_known_kernel *known);
/* Fills in the part of the packet's grid that is next; true: it is the last. */
bool rt_split_cut(struct rt_queue *queue, const hsa_kernel_dispatch_packet_t *packet, uint64_t index,
		  struct cs_launch *launch);
/* How long a job may take. */
uint64_t rt_part_ns(const struct rt_gpu *gpu);
/* Workgroups of a grid, in all and by dimension. */
uint64_t rt_count_groups(const hsa_kernel_dispatch_packet_t *packet, uint32_t *groups);

/* cu_mask.c: a new queue's compute units. */
void rt_queue_init_cus(struct rt_queue *queue);

/* pm4.c: appends the commands that an INDIRECT_BUFFER packet names. -EINVAL: they are none, or lie where the CPU
 * does not see them. */
DRV_MUST_CHECK int rt_pm4_append(struct rt_queue *queue, struct cs_ib *ib, const uint32_t *jump);

/* until.c: 1: memory holds what the packet asks for; 0: not yet. -EINVAL: the CPU does not see it. */
DRV_MUST_CHECK int rt_until_met(struct rt *rt, const struct rt_until_packet *packet);

/* sync.c: syncobjs of other drivers, for our HIP library (door.h). */
DRV_MUST_CHECK int rt_sync_import(struct rt *rt, const struct rt_gpu *gpu, int fd, uint64_t *sync);
void rt_sync_drop(struct rt *rt, uint64_t sync);

/* intercept.c: the doorbell of a queue with handlers; and its end. */
void rt_intercept_ring(struct rt_queue *queue);
void rt_intercept_destroy(struct rt_queue *queue);

/* What is measured stands between these, of one job or of several in a row: they write two 64-bit words at va. */
static inline void rt_clock_start(struct cs_ib *ib, uint64_t va)
{
	cs_ib_clock(ib, va);
}
static inline void rt_clock_stop(struct cs_ib *ib, uint64_t va)
{
	cs_ib_release_clock(ib, va + sizeof(uint64_t));
}
/* What it took, when it has ended; by the CPU's address of the words. */
uint64_t rt_clock_ns(const struct rt_gpu *gpu, const void *words);
/* The same with a channel's words. Around what is measured, in one job; its end. */
void rt_channel_start_clock(const struct rt_channel *channel, struct cs_ib *ib);
struct cs_point rt_channel_stop_clock(const struct rt_channel *channel, struct cs_ib *ib);
/* What such a job took, when it has ended: one of the last RT_JOBS_TRACKED. */
uint64_t rt_channel_clock_ns(const struct rt_channel *channel, uint64_t seq);
/* Its work has ended; NULL is fine. */
void rt_channel_put(struct rt *rt, struct rt_channel *channel);
/* At the end of the runtime; waits for their work. */
void rt_channels_fini(struct rt *rt);
/* The queue of a client's pointer, which is not followed; NULL: none. */
struct rt_queue *rt_queue_of(const struct rt *rt, const hsa_queue_t *queue);
/* The queue ends with an error: no packet is read any more, and the client hears of it once. */
void rt_queue_fail(struct rt_queue *queue, hsa_status_t status);
/* The ring. A packet is there when its header says so; passing it gives its slot back to the client. */
static inline union rt_packet *rt_queue_slot(const struct rt_queue *q, uint64_t index)
{
	return (union rt_packet *)(void *)(q->packets + (index & q->mask) * sizeof(union rt_packet));
}
bool rt_queue_has_packet(const struct rt_queue *queue);
void rt_queue_pass(struct rt_queue *queue, uint64_t index);
/* Of the channel's next job: with it the queue's packets below `end` have ended; behind its `last` completion it
 * does nothing more, 0: no completion is the last. */
static inline void rt_channel_note(struct rt_channel *c, uint64_t end, uint64_t last)
{
	uint64_t seq = cs_ring_last(c->ring).seq + 1;

	/* Release: who knows from it that a packet was read sees what its reader did. */
	atomic_store_explicit(&c->end[seq % RT_JOBS_TRACKED], end, memory_order_release);
	atomic_store(&c->last[seq % RT_JOBS_TRACKED], last);
}
/* The packets below have ended, and below how many. */
uint64_t rt_queue_completed(const struct rt_queue *queue);
/* The end of the job with which the packets below index end. False: they were not all submitted, or have ended. */
bool rt_queue_point(const struct rt_queue *queue, uint64_t index, struct cs_point *point);
/* Packets that the GPU's queues have read, all together. */
uint64_t rt_queues_read(struct rt *rt, const struct rt_gpu *gpu);
/* The queue with that id, held; NULL: it is gone. */
struct rt_queue *rt_queue_hold(struct rt *rt, uint64_t id);
/* Keeps others from reading packets, until rt_queue_release(). False: another thread does so. */
static inline bool rt_queue_try_seize(struct rt_queue *q)
{
	return !atomic_exchange_explicit(&q->busy, true, memory_order_acquire);
}
/* ... once it does not any more. */
static inline void rt_queue_seize(struct rt_queue *q)
{
	while (!rt_queue_try_seize(q))
		sched_yield();
}
static inline void rt_queue_release(struct rt_queue *q)
{
	atomic_store_explicit(&q->busy, false, memory_order_release);
}
/* Reads packets. force: also when it would pay to collect. */
void rt_queue_run(struct rt_queue *queue, bool force);
/* Fails the active queues of that ring, and our HIP library's of its GPU, or (ring NULL) those of that GPU that
 * were used; the GPU of one of them. */
struct rt_gpu *rt_queues_fail(struct rt *rt, const struct rt_gpu *gpu, const struct cs_ring *ring,
			      hsa_status_t status);
/* The ring of a channel of that GPU (NULL: of any) of which the kernel says for the first time that it is lost;
 * NULL: none. */
struct cs_ring *rt_channels_lost(struct rt *rt, const struct rt_gpu *gpu);
/* For a wait that has found work of the queue ended: asks about faults of its GPU and the loss of its context,
 * unless many waits did so just now; then a later one asks. */
void rt_queue_look(struct rt_queue *queue);
/* rt_work's attempt. */
bool rt_queue_attempt(struct rt *rt, struct rt_work *work);
/* The signals whose changes a stopped packet waits for, at most RT_DEPS_MAX; and forgets them. */
void rt_queue_watch(struct rt_queue *queue, struct rt_signal *const *signals, unsigned count);
void rt_queue_unwatch(struct rt_queue *queue);

#endif
