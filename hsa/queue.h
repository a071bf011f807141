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

#include "hsa/internal.h"

#define RT_KERNEL_CACHE 16 /* kernels that a queue remembers; a power of two */
#define RT_JOBS_TRACKED 32 /* more than CS_JOBS_MAX; a power of two */
#define RT_DEPS_MAX     5  /* of a barrier packet */

struct rt_channel {
	struct rt_channel *next; /* in rt_queues' list of free ones; guarded by its lock */
	struct rt_gpu *gpu;      /* borrowed */
	enum cs_priority priority;
	struct cs_ctx *ctx;    /* owned */
	struct cs_ring *ring;  /* owned */
	struct vm_piece count; /* owned: the word; GPU packets write how many completions there were */
	uint64_t issued;       /* completions that were asked for; guarded by the queue's busy */
	_Atomic uint64_t last[RT_JOBS_TRACKED]; /* by job: the completion behind which it does nothing more */
};

enum rt_queue_state { RT_QUEUE_ACTIVE, RT_QUEUE_INACTIVE, RT_QUEUE_FAILED };

struct rt_queue {
	struct rt_work work;     /* stopped, or collecting */
	struct rt *rt;           /* borrowed */
	struct rt_gpu *gpu;      /* borrowed */
	struct rt_queue *next;   /* in list or dying; guarded by rt_queues' lock */
	struct rt_shared memory; /* owned: amd_queue_v2_t, then the packets */
	amd_queue_v2_t *amd;     /* in it */
	char *packets;           /* in it; of 64 bytes */
	uint64_t id;             /* unlike every other queue's, and growing */
	struct rt_signal *doorbell;
	void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data); /* may be NULL */
	void *data;
	_Atomic uint32_t state;  /* enum rt_queue_state */
	_Atomic unsigned held;   /* threads that came by the list, not by the client: it may not go yet */
	_Atomic bool busy;       /* somebody translates; the members below are his */
	_Atomic bool stopped;    /* the next packet waits for something; the progress thread tries it */
	_Atomic bool collecting; /* packets are left unread until a job ends */
	_Atomic uint64_t collecting_since_ns;
	struct rt_channel *channel; /* owned; made for the first packet */
	_Atomic enum cs_priority priority; /* wished for; the channel has its own */
	uint32_t cu_mask[CS_ENGINES_MAX];
	bool masked;
	struct rt_signal *watched[RT_DEPS_MAX]; /* borrowed: whose changes the stopped packet waits for */
	struct {
		uint64_t object;
		uint32_t generation;
		const struct cs_kernel *kernel; /* borrowed, while the generation holds */
	} cache[RT_KERNEL_CACHE];
};

struct rt_queues {
	pthread_mutex_t lock; /* guards list, dying and next_id */
	struct rt_queue *list, *dying; /* dying: destroyed, but the GPU still works for them */
	uint64_t next_id;
	pthread_mutex_t channel_lock; /* guards all below; inside lock and a queue's busy */
	struct rt_channel *free;
	struct rt_channel *all[4096]; /* owned, for the end; also those that are lost */
	unsigned channels;
	_Atomic uint32_t collecting; /* queues that collect */
};

/* The channel of a queue, made at the first use. The caller holds busy. */
DRV_MUST_CHECK int rt_queue_channel(struct rt_queue *queue);
/* Its work has ended; NULL is fine. */
void rt_channel_put(struct rt *rt, struct rt_channel *channel);
/* At the end of the runtime; waits for their work. */
void rt_channels_fini(struct rt *rt);
/* The queue of a client's pointer, which is not followed; NULL: none. */
struct rt_queue *rt_queue_of(const struct rt *rt, const hsa_queue_t *queue);
/* The queue ends with an error: no packet is read any more, and the client hears of it once. */
void rt_queue_fail(struct rt_queue *queue, hsa_status_t status);
/* Reads packets. force: also when it would pay to collect. */
void rt_queue_run(struct rt_queue *queue, bool force);
/* rt_work's attempt. */
bool rt_queue_attempt(struct rt *rt, struct rt_work *work);
/* Forgets what a stopped packet waited for. */
void rt_queue_unwatch(struct rt_queue *queue);

#endif
