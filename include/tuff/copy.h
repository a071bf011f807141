/* Copies and fills that plan themselves: SDMA, a kernel or the CPU, whichever is best for the size. Memory that the
 * GPU does not know goes through pinned buffers.
 *
 * Addresses are the CPU's or the GPU's, in any memory of the device or of the process.
 *
 * Ownership. The device owns the queues of its copies; the points that are handed out live as long as the device.
 *
 * Threads. All functions are thread safe. */
#ifndef TUFF_COPY_H
#define TUFF_COPY_H

#include <tuff/base.h>
#include <tuff/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies size_B bytes when the points have been reached, at most 64, which are of any queue of the process, and
 * gives the point of its end (its queue is NULL when all is done already). after may be NULL with after_count 0.
 * When point is NULL, the call returns when the copy is done. With a point, it returns at once, except: from memory
 * that the GPU does not know, when that has been read; to such memory, when all is done.
 *
 * -EINVAL: the two overlap, or reach beyond the memory that they begin in; -EACCES: the GPU may not write dst or read
 * src: memory that is registered read-only, or bound in a range without that access; -ECANCELED: a point is lost, the
 * copy itself was, or the GPU was reset since the last copy, so that memory in VRAM may be lost; the next copy works
 * again. Thread safe. */
TUFF_API TUFF_CHECK int tuff_copy(struct tuff_device *device, void *dst, const void *src, uint64_t size_B,
				  const struct tuff_point *after, unsigned after_count, struct tuff_point *point);

/* The unit that carries out a copy or fill. */
enum tuff_copier { TUFF_COPIER_SDMA, TUFF_COPIER_KERNEL, TUFF_COPIER_CPU };

/* Reports which unit tuff_copy() of size_B bytes would use at this moment, or tuff_fill() when src is NULL; for
 * reports. Fails as they do. Thread safe. */
TUFF_API TUFF_CHECK int tuff_copy_plan(struct tuff_device *device, const void *dst, const void *src,
				       uint64_t size_B, enum tuff_copier *copier);
/* Fills size_B bytes of GPU memory with a byte; the rest as in tuff_copy(). Thread safe. */
TUFF_API TUFF_CHECK int tuff_fill(struct tuff_device *device, void *dst, uint8_t value, uint64_t size_B,
				  const struct tuff_point *after, unsigned after_count, struct tuff_point *point);

#ifdef __cplusplus
}
#endif

#endif
