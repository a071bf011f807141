/* Internal interface of the copier: queues, staging slots and operations, with owner and lock of each member. */
#ifndef SDMA_INTERNAL_H
#define SDMA_INTERNAL_H

#include <pthread.h>

#include "drv/lock.h"
#include "sdma/sdma.h"

enum sdma_blit_kernel { BLIT_COPY1, BLIT_COPY4, BLIT_COPY16, BLIT_FILL1, BLIT_FILL4, BLIT_FILL16, BLIT_KERNELS };

/* The queues of one context. When the context is lost the copier creates new ones; the old ones stay, because
 * fences name their rings. The built-in kernels belong to the queues: a reset that loses contexts may lose the
 * content of VRAM. */
struct sdma_queues {
	struct sdma_queues *older; /* owned */
	struct cs_ctx *ctx;        /* owned */
	struct cs_ring *dma;       /* owned; NULL: the chip offers none */
	struct cs_ring *compute;   /* owned */
	struct cs_code *blit;      /* owned; created at first use, under the copier's lock, as are: */
	const struct cs_kernel *kernel[BLIT_KERNELS];
	const struct cs_ring
		*blocking; /* never dereferenced: the ring of the last copy's first fence; NULL: none */
};

/* A ring runs its jobs in order, so a copy that waits for one stream's kernel would delay all other streams'
 * copies. Copies that wait for the same ring are ordered anyway and share queues; other copies use idle queues, as
 * long as there are any. */
#define SDMA_QUEUES 16

#define SDMA_SLOTS 4

/* A pinned buffer for data from or to pageable memory. */
struct sdma_slot {
	struct vm_mem *mem;   /* owned; created at first use */
	struct cs_fence busy; /* the job that last used it */
};

struct sdma_copier {
	struct vm *vm; /* borrowed */
	/* owned; created when all earlier ones are busy, replaced under lock */
	struct sdma_queues *queues[SDMA_QUEUES];
	struct drv_mutex lock;      /* guards queues; never held while waiting for the GPU */
	struct drv_mutex slot_lock; /* guards slot and next; taken before lock */
	struct sdma_slot slot[SDMA_SLOTS];
	unsigned next;
};

/* A copy or fill for one engine. */
struct sdma_op {
	uint64_t dst, src, size_B;
	const struct sdma_rect *rect; /* borrowed; not NULL: replaces dst, src and size_B */
	bool fill;
	uint32_t value;            /* dword of a fill; four equal bytes, unless dst and size_B are multiples of 4 */
	uint64_t start_va, end_va; /* see sdma_job */
};

/* Gets queues with a usable context, for a job by that engine (not the CPU). Of the job, only its fences count. */
DRV_MUST_CHECK int sdma_queues_get(struct sdma_copier *copier, enum sdma_engine engine, const struct sdma_job *job,
				   struct sdma_queues **queues);
/* Most bytes of one job, so that it ends long before a watchdog fires, at the rate of the device's link. */
uint64_t sdma_job_max_B(const struct drv_facts *facts);
/* Runs op on that engine of the queues, after the fences. */
DRV_MUST_CHECK int sdma_run(const struct sdma_queues *queues, enum sdma_engine engine, const struct sdma_op *op,
			    const struct cs_fence *after, unsigned count, struct cs_fence *fence);
/* Loads the built-in kernels, unless they are loaded. */
DRV_MUST_CHECK int sdma_blit_load(struct sdma_queues *queues);
/* Appends the dispatches of op to the IB of the compute ring. */
DRV_MUST_CHECK int sdma_blit(const struct sdma_queues *queues, struct cs_ib *ib, const struct sdma_op *op);
/* sdma_append_rect() appends a rectangle that fits one job; sdma_run_rect() runs any, as several jobs. Of the
 * sdma_job, only fences and times count. */
DRV_MUST_CHECK int sdma_append_rect(const struct sdma_queues *queues, enum sdma_engine engine, struct cs_ib *ib,
				    const struct sdma_rect *rect);
DRV_MUST_CHECK int sdma_run_rect(const struct sdma_queues *queues, enum sdma_engine engine,
				 const struct sdma_rect *rect, const struct sdma_job *job, struct cs_fence *fence);
/* Copies between pageable memory and the GPU, through the slots. */
DRV_MUST_CHECK int sdma_stage_in(struct sdma_copier *copier, const struct sdma_queues *queues,
				 enum sdma_engine engine, struct sdma_job *job);
DRV_MUST_CHECK int sdma_stage_out(struct sdma_copier *copier, const struct sdma_queues *queues,
				  enum sdma_engine engine, struct sdma_job *job);

#endif
