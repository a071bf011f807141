/* sdma/: the copy engine. This header is the room's interface.
 *
 *   packets      what an SDMA ring executes, appended to a cs_ib of a DRV_IP_DMA ring
 *   sdma_copier  copies and fills for one device: plans which engine does it, stages pageable memory
 *
 * Thread rule: packets: as the cs_ib. A copier is thread safe; what uses its staging buffers runs one at a time.
 * Errors: -errno with a record. */
#ifndef SDMA_SDMA_H
#define SDMA_SDMA_H

#include "cs/cs.h"

/* --- packets ---------------------------------------------------------------------------------- */

/* Copies size_B bytes; the ranges may not overlap. Split by the chip's limit. */
void sdma_copy(struct cs_ib *ib, uint64_t dst, uint64_t src, uint64_t size_B);
/* Fills size_B bytes at va with a repeated dword; va and size_B are multiples of 4. Split by the chip's limit. */
void sdma_fill(struct cs_ib *ib, uint64_t va, uint32_t value, uint64_t size_B);
/* The same with a byte, for any va and size_B. */
void sdma_fill_bytes(struct cs_ib *ib, uint64_t va, uint8_t value, uint64_t size_B);
/* Writes dwords to va, a multiple of 4. */
void sdma_write(struct cs_ib *ib, uint64_t va, const uint32_t *data, unsigned count);
/* When all before has been written: the dword value to va, a multiple of 4. */
void sdma_fence(struct cs_ib *ib, uint64_t va, uint32_t value);
/* The same with the 64-bit GPU clock counter, to a multiple of 8. */
void sdma_timestamp(struct cs_ib *ib, uint64_t va);
/* What follows may read or overwrite what was copied before: copies overlap otherwise. */
void sdma_barrier(struct cs_ib *ib);

cs_print_fn sdma_print;

/* --- copier ----------------------------------------------------------------------------------- */

enum sdma_place {
	SDMA_VRAM,     /* memory of this device */
	SDMA_GTT,      /* system memory that the GPU reaches */
	SDMA_PAGEABLE, /* any other memory of the process */
};

/* One end of a copy. */
struct sdma_end {
	uint64_t va; /* the address, for CPU and GPU alike */
	enum sdma_place place;
	bool cpu; /* the CPU may access it at va; true for SDMA_PAGEABLE */
};

/* What did a copy, for reports. */
enum sdma_engine { SDMA_ENGINE_SDMA, SDMA_ENGINE_SHADER, SDMA_ENGINE_CPU };
const char *sdma_engine_name(enum sdma_engine engine);

struct sdma_copier;

/* vm is borrowed until sdma_copier_destroy(), which waits for the copies. */
DRV_MUST_CHECK int sdma_copier_create(struct vm *vm, struct sdma_copier **copier);
void sdma_copier_destroy(struct sdma_copier *copier);

struct sdma_job {
	struct sdma_end dst, src;     /* a fill has no src */
	uint64_t size_B;              /* 0: nothing is done, and the fence is reached */
	const struct cs_fence *after; /* borrowed during the call */
	unsigned after_count;
	uint64_t start_va, end_va; /* where the GPU writes its clock counter at begin and end, 8-aligned; 0:
				    * nowhere. Not when the CPU copies, or pageable memory is staged. */
	struct cs_fence fence;     /* out: when it is done */
	enum sdma_engine engine;   /* out: what does it */
};

/* Which engine would do the job now: the plan, without carrying it out. */
enum sdma_engine sdma_copier_plan(const struct sdma_copier *copier, const struct sdma_job *job, bool fill);
/* Copies behind job->after. Ranges that overlap: -EINVAL. From pageable memory it returns when the source has been
 * read; to pageable memory when all is done; otherwise at once. -ENOMEM, -ECANCELED, -ENODEV, -EXDEV. */
DRV_MUST_CHECK int sdma_copier_copy(struct sdma_copier *copier, struct sdma_job *job);
/* Rows at a distance, in slices at a distance. */
struct sdma_rect {
	uint64_t dst, src;                                           /* addresses for the GPU */
	uint64_t dst_pitch_B, src_pitch_B, dst_slice_B, src_slice_B; /* from row to row, from slice to slice */
	uint64_t row_B;                                              /* at least 1 */
	uint32_t rows, slices;                                       /* at least 1 */
};
/* Copies a rectangle between memory that the GPU reaches, behind job->after; of the job only after, times and fence
 * count. Rows that are read and written may not overlap. -ENOMEM, -ECANCELED, -ENODEV. */
DRV_MUST_CHECK int sdma_copier_copy_rect(struct sdma_copier *copier, const struct sdma_rect *rect,
					 struct sdma_job *job);
/* Copies host memory to VRAM and waits until it is there: cs_code_hooks.upload, user being the copier. */
DRV_MUST_CHECK int sdma_copier_upload(void *copier, uint64_t va, const void *from, uint64_t size_B);
/* Fills dst, which is not pageable, with a repeated byte. */
DRV_MUST_CHECK int sdma_copier_fill(struct sdma_copier *copier, struct sdma_job *job, uint8_t value);
/* The same with a dword; va and size_B must be multiples of 4. */
DRV_MUST_CHECK int sdma_copier_fill32(struct sdma_copier *copier, struct sdma_job *job, uint32_t value);
/* The ends of all jobs so far that are not reached, at most max; memory that they use is free for others then. */
unsigned sdma_copier_fences(struct sdma_copier *copier, struct cs_fence *fences, unsigned max);
/* Whether a job of it may be running: also what is just being submitted, which is not among those. */
bool sdma_copier_busy(struct sdma_copier *copier);
/* Asks the kernel whether a reset has taken the copier's context, which the next job would find. */
void sdma_copier_check(struct sdma_copier *copier);

#endif
