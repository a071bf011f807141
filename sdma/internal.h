/* What the files of the copier share. */
#ifndef SDMA_INTERNAL_H
#define SDMA_INTERNAL_H

#include <pthread.h>

#include "drv/lock.h"
#include "sdma/sdma.h"

enum sdma_blit_kernel { BLIT_COPY1, BLIT_COPY4, BLIT_COPY16, BLIT_FILL1, BLIT_FILL4, BLIT_FILL16, BLIT_KERNELS };

/* The queues of one context. When the context is lost the copier makes new ones; the old stay, because fences that
 * were handed out name their rings. The built-in kernels go with them: a reset that takes contexts may take what
 * VRAM holds. */
struct sdma_queues {
	struct sdma_queues *older; /* owned */
	struct cs_ctx *ctx;        /* owned */
	struct cs_ring *dma;       /* owned; NULL: the chip offers none */
	struct cs_ring *compute;   /* owned */
	struct cs_code *blit;      /* owned; made at first use, under the copier's lock, as are: */
	const struct cs_kernel *kernel[BLIT_KERNELS];
	const struct cs_ring *behind; /* never followed: the ring that the last copy waits for; NULL: none */
};

/* A ring runs its jobs one after the other, so what waits for a stream's kernel would hold up all other streams'
 * copies. Copies that wait for the same ring are in order anyway and share queues; others go to queues that are
 * idle, as long as there are so many. */
#define SDMA_QUEUES 16

#define SDMA_SLOTS 4

/* A pinned buffer on the way from or to pageable memory. */
struct sdma_slot {
	struct vm_mem *mem;   /* owned; made at first use */
	struct cs_fence busy; /* the job that last used it */
};

struct sdma_copier {
	struct vm *vm;                           /* borrowed */
	struct sdma_queues *queues[SDMA_QUEUES]; /* owned; made when all before are busy, replaced under lock */
	struct drv_mutex lock;                   /* guards queues; never held while waiting for the GPU */
	struct drv_mutex slot_lock;              /* guards slot and next; taken before lock */
	struct sdma_slot slot[SDMA_SLOTS];
	unsigned next;
};

/* A copy or fill as one engine sees it. */
struct sdma_op {
	uint64_t dst, src, size_B;
	const struct sdma_rect *rect; /* borrowed; not NULL: in place of dst, src and size_B */
	bool fill;
	uint32_t value;            /* its dwords; four equal bytes, or dst and size_B are multiples of 4 */
	uint64_t start_va, end_va; /* as in sdma_job */
};

/* Queues whose context is alive, for a job by that engine (not the CPU); of the job only what it waits for counts.
 */
DRV_MUST_CHECK int sdma_queues_get(struct sdma_copier *copier, enum sdma_engine engine, const struct sdma_job *job,
				   struct sdma_queues **queues);
/* Bytes of one job at most, so that it ends long before a watchdog comes, over the link that the facts tell. */
uint64_t sdma_job_max_B(const struct drv_facts *facts);
/* Runs op on that engine of the queues behind the fences. */
DRV_MUST_CHECK int sdma_run(const struct sdma_queues *queues, enum sdma_engine engine, const struct sdma_op *op,
			    const struct cs_fence *after, unsigned count, struct cs_fence *fence);
/* Loads the built-in kernels if that was not done yet. */
DRV_MUST_CHECK int sdma_blit_load(struct sdma_queues *queues);
/* Appends the dispatches of op to the IB of the compute ring. */
DRV_MUST_CHECK int sdma_blit(const struct sdma_queues *queues, struct cs_ib *ib, const struct sdma_op *op);
/* A rectangle that fits one job; and any, as several. Of the job: what it comes after, and its times. */
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
