/* The common part of a GPU's flows.
 *
 *   flow_gpu    the list of the GPU's flows, and its hardware queues; made by the caller
 *   flow_queue  a hardware queue: a kernel context, a compute ring of it, and what the ring's jobs stand for
 *
 * Lock: flow_gpu.lock is inside a flow's. */
#ifndef FLOW_GPU_H
#define FLOW_GPU_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "drv/lock.h"
#include "cs/dispatch.h"
#include "sdma/sdma.h"
#include "vm/suballoc.h"

/* --- the GPU ---------------------------------------------------------------------------------- */

#define FLOW_QUEUES_MAX   4096
#define FLOW_JOBS_TRACKED 32 /* more than CS_JOBS_MAX; a power of two */

struct flow;
struct flow_queue;

struct flow_gpu {
	struct drv_device *dev; /* borrowed, as are: */
	struct vm *vm;
	struct sdma_copier *copier;              /* NULL: there is none */
	const _Atomic uint32_t *code_generation; /* changes when code was unloaded: kernels may be gone */
	_Atomic unsigned next_ring;              /* compute ring of the next hardware queue */
	_Atomic unsigned collecting;             /* flows whose open job waits for more */
	struct drv_mutex lock;                   /* guards all below; inside a flow's lock */
	LIST_HEAD(, flow) flows;                 /* borrowed: all that live */
	struct flow_queue *free;                 /* hardware queues without a flow */
	struct flow_queue *all[FLOW_QUEUES_MAX]; /* owned; also those that are lost */
	unsigned queues;
};

/* The members in front of code_generation are the caller's to set. */
void flow_gpu_init(struct flow_gpu *gpu);
/* The GPU has no flows any more. Waits for the hardware queues' work, and destroys them; forget (may be NULL)
 * is called with each ring before. */
void flow_gpu_fini(struct flow_gpu *gpu, void (*forget)(void *user, struct cs_ring *ring), void *user);
/* Calls fn for each flow, which must not be made or ended meanwhile by fn. */
void flow_gpu_each(struct flow_gpu *gpu, void (*fn)(struct flow *flow, void *arg), void *arg);
/* Submits what flows have collected. The caller may hold one flow's lock. */
void flow_gpu_flush(struct flow_gpu *gpu);
/* Jobs are unfinished, and not on a context that is lost. */
bool flow_gpu_busy(struct flow_gpu *gpu);
/* The last jobs of all rings that are busy (cs_ring_busy(): a job may just be being submitted), at most max. */
unsigned flow_gpu_fences(struct flow_gpu *gpu, struct cs_fence *fences, unsigned max);
/* A ring of which the kernel says for the first time that it is lost; NULL: none. One ioctl for each hardware queue
 * that has done something since the last call. */
struct cs_ring *flow_gpu_lost(struct flow_gpu *gpu);
/* Operations that the flows have executed, all together. */
uint64_t flow_gpu_steps(struct flow_gpu *gpu);
/* How long a job may take, in ns: a fraction of the kernel's watchdog; 0: without a limit. */
uint64_t flow_job_ns(const struct drv_device *dev);
/* The words of a clock that cs_ib_clock() and cs_ib_release_clock() wrote, as ns between them. */
uint64_t flow_clock_ns(const struct drv_device *dev, const void *words);

/* --- hardware queues (queue.c) ------------------------------------------------------------------- */

/* A job with a clock. */
struct flow_measure {
	uint64_t seq; /* the job's number; another number: this job has no clock */
	/* The kernel of a job of one dispatch. NULL: the job has several, expected to take predicted_ns. */
	const struct cs_kernel *kernel; /* borrowed, while the generation holds */
	uint64_t groups, predicted_ns;
	uint32_t generation;
	bool unknown; /* the time of some dispatches was not known */
};

/* A flow borrows one; signals name its ring and word as long as the GPU lives. */
struct flow_queue {
	struct flow_queue *next; /* in the list of free ones; guarded by the GPU's lock */
	struct flow_gpu *gpu;    /* borrowed */
	enum cs_priority priority;
	bool cooperative;         /* jobs have global wave sync */
	struct cs_ctx *ctx;       /* owned */
	struct cs_ring *ring;     /* owned */
	struct vm_suballoc count; /* owned: a word where packets write how many completions there were; clocks */
	uint64_t queried;         /* the last job that had been submitted when the kernel was asked about resets */
	/* Guarded by the lock of the flow that has it: */
	uint64_t issued;   /* completions that were asked for */
	uint64_t measured; /* jobs up to this one were evaluated */
	/* Indexed by the job's number n, modulo FLOW_JOBS_TRACKED. */
	struct flow_measure measure[FLOW_JOBS_TRACKED];
	_Atomic uint64_t last[FLOW_JOBS_TRACKED]; /* the completion behind which job n does nothing more */
	_Atomic uint64_t end[FLOW_JOBS_TRACKED];  /* the flow's operations below that have ended with job n */
};

#endif
