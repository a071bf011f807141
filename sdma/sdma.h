/* sdma/: the copy engine. This header is the room's interface.
 *
 *   packets      commands of an SDMA ring, appended to a cs_ib of a DRV_IP_DMA ring
 *   sdma_copier  copies and fills for one device: chooses the engine, stages pageable memory; owned by its creator
 *   sdma_job     one copy or fill, and its fence; the caller's
 *
 * Thread rule: packets: as the cs_ib. A copier is thread safe, with two internal locks (queues, staging slots);
 * copies that use its staging buffers run one at a time. Errors: -errno with a record. */
#ifndef SDMA_SDMA_H
#define SDMA_SDMA_H

#include "cs/cs.h"

/* --- packets ---------------------------------------------------------------------------------- */

/* Appends a copy of size_B bytes; the ranges may not overlap. Split by the chip's limit. */
void sdma_copy(struct cs_ib *ib, uint64_t dst, uint64_t src, uint64_t size_B);
/* Appends a fill of size_B bytes at va with a repeated dword; va and size_B are multiples of 4. Split by the chip's
 * limit. */
void sdma_fill(struct cs_ib *ib, uint64_t va, uint32_t value, uint64_t size_B);
/* Appends a fill with a repeated byte, for any va and size_B. */
void sdma_fill_bytes(struct cs_ib *ib, uint64_t va, uint8_t value, uint64_t size_B);
/* Appends a write of dwords to va, a multiple of 4. */
void sdma_write(struct cs_ib *ib, uint64_t va, const uint32_t *data, unsigned count);
/* Appends a fence: after all earlier writes are complete, writes the dword value to va, a multiple of 4. */
void sdma_fence(struct cs_ib *ib, uint64_t va, uint32_t value);
/* The same with the 64-bit GPU clock counter, to a multiple of 8. */
void sdma_timestamp(struct cs_ib *ib, uint64_t va);
/* Appends a barrier: later packets may then read or overwrite the results of earlier copies. Without it copies
 * overlap. */
void sdma_barrier(struct cs_ib *ib);

cs_print_fn sdma_print;

/* --- copier ----------------------------------------------------------------------------------- */

enum sdma_place {
	SDMA_VRAM,     /* memory of this device */
	SDMA_GTT,      /* system memory that the GPU reaches */
	SDMA_PAGEABLE, /* any other memory of the process */
};

/* An end of a copy. */
struct sdma_end {
	uint64_t va; /* GPU address, and CPU address where the CPU reaches it */
	enum sdma_place place;
	bool cpu; /* the CPU may access it at va; true for SDMA_PAGEABLE */
};

/* The engine of a copy, for reports. */
enum sdma_engine { SDMA_ENGINE_SDMA, SDMA_ENGINE_SHADER, SDMA_ENGINE_CPU };
const char *sdma_engine_name(enum sdma_engine engine);

struct sdma_copier;

/* Creates a copier. vm is borrowed until sdma_copier_destroy(), which waits for the copies. */
DRV_MUST_CHECK int sdma_copier_create(struct vm *vm, struct sdma_copier **copier);
void sdma_copier_destroy(struct sdma_copier *copier);

struct sdma_job {
	struct sdma_end dst, src;     /* a fill has no src */
	uint64_t size_B;              /* 0: no work, and the fence is signaled */
	const struct cs_fence *after; /* borrowed during the call */
	unsigned after_count;
	uint64_t start_va, end_va; /* Addresses where the GPU writes its clock counter at begin and end, 8-aligned;
	                            * 0: none. Unused when the CPU copies, or pageable memory is staged. */
	struct cs_fence fence;     /* out: signaled when the job is done */
	enum sdma_engine engine;   /* out: the engine */
};

/* Reports the engine that the job would use, without running it. */
enum sdma_engine sdma_copier_plan(const struct sdma_copier *copier, const struct sdma_job *job, bool fill);
/* Copies after the fences of job->after. Overlapping ranges: -EINVAL. From pageable memory it returns when the
 * source has been read; to pageable memory when the copy is complete; otherwise at once. A call that fails after a part
 * of it was submitted waits for that part's end, here as in the functions below. -ENOMEM, -ECANCELED, -ENODEV, -EXDEV. */
DRV_MUST_CHECK int sdma_copier_copy(struct sdma_copier *copier, struct sdma_job *job);
/* Rows with a pitch, in slices with a pitch. */
struct sdma_rect {
	uint64_t dst, src;                                           /* GPU addresses */
	uint64_t dst_pitch_B, src_pitch_B, dst_slice_B, src_slice_B; /* distance between rows, between slices */
	uint64_t row_B;                                              /* at least 1 */
	uint32_t rows, slices;                                       /* at least 1 */
};
/* Copies a rectangle between memory that the GPU reaches, after the fences of job->after; of the job, only fences
 * and times count. Source and destination rows may not overlap. -ENOMEM, -ECANCELED, -ENODEV. */
DRV_MUST_CHECK int sdma_copier_copy_rect(struct sdma_copier *copier, const struct sdma_rect *rect,
					 struct sdma_job *job);
/* Copies host memory to VRAM and waits for completion: a cs_code_hooks.upload whose user pointer is the copier. */
DRV_MUST_CHECK int sdma_copier_upload(void *copier, uint64_t va, const void *from, uint64_t size_B);
/* Fills dst, which must not be pageable, with a repeated byte. */
DRV_MUST_CHECK int sdma_copier_fill(struct sdma_copier *copier, struct sdma_job *job, uint8_t value);
/* The same with a dword; va and size_B must be multiples of 4. */
DRV_MUST_CHECK int sdma_copier_fill32(struct sdma_copier *copier, struct sdma_job *job, uint32_t value);
/* Gives the last fence of each ring that is busy (cs_ring_busy(): a job may just be being submitted), at most max;
 * when they are signaled, the memory of all jobs so far may be reused. */
unsigned sdma_copier_fences(struct sdma_copier *copier, struct cs_fence *fences, unsigned max);
/* Queries the kernel for a reset that lost the copier's context, before the next job would detect it. */
void sdma_copier_check(struct sdma_copier *copier);

#endif
