/* Copies, of bytes in a row and of boxes.
 *
 *   hip_copy  a linear copy; a value of the caller
 *   hip_box   a copy of rows in slices: a rectangle or a box; a value of the caller
 *
 * A stored copy says which sides were this library's memory when it was made. Such a side that is not found at the submission was
 * freed, and must not be taken for pageable memory, which a thread of the host copies.
 *
 * Nothing here has a lock but the stream's.
 */
#ifndef API_COPY_H
#define API_COPY_H

#include "api/memory/memory.h"
#include "api/stream/stream.h"

struct hip_blit;

struct hip_copy {
	void *dst;
	const void *src;
	size_t size_B;
	hipMemcpyKind kind;
	bool dst_ours, src_ours; /* of a stored copy */
};

/* Rows of bytes at a pitch, in slices at a pitch. */
struct hip_side {
	char *base; /* borrowed: address of the first row */
	size_t pitch_B, slice_B;
};
struct hip_box {
	struct hip_side dst, src;
	size_t width_B, height, depth;
	hipMemcpyKind kind;
	bool dst_ours, src_ours; /* of a stored copy */
};
static inline bool hip_box_is_empty(const struct hip_box *box)
{
	return !box->width_B || !box->height || !box->depth;
}
hipError_t hip_copy_box(const struct hip_box *box, hipStream_t stream, bool wait);

/* True when a program can have the range: x86-64's user space ends at 2^47. */
static inline bool hip_is_user_range(const void *at, size_t size_B)
{
	return (uintptr_t)at < 1ull << 47 && size_B <= (1ull << 47) - (uintptr_t)at;
}
static inline bool hip_is_kind(hipMemcpyKind kind)
{
	return (unsigned)kind <= hipMemcpyDefault || kind == hipMemcpyDeviceToDeviceNoCU;
}
static inline bool hip_is_on_device(hipMemcpyKind kind)
{
	return kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDeviceToDeviceNoCU;
}
/* Waits for the null stream if r is hipSuccess: AMD's hipMemcpy2D() and hipDrvMemcpy3D() wait even between two
 * places of one device. */
hipError_t hip_copy_then_wait(hipError_t r);
/* The first checks of a plane's copy: the kind and the stream. CLR's error for a destroyed stream is InvalidValue
 * here. */
hipError_t hip_plane_check(hipMemcpyKind kind, hipStream_t stream);
hipError_t hip_copy_check(const struct hip_copy *copy);
hipError_t hip_box_check(const struct hip_box *box);
/* Submits a copy that a thread of the host does in the stream's order. The addresses must be resolved. */
hipError_t hip_box_put_by_host(struct hip_stream *stream, const struct hip_box *box);
/* The same as hip_op_put(), for pageable memory that the program may free when the copy has ended (copy_rect.c). */
hipError_t hip_box_put_later(struct hip_stream *stream, const struct hip_box *box);
/* Resolves the variable, and the offset in it, for a copy from or to a symbol. */
hipError_t hip_symbol_place(const void *symbol, size_t size_B, size_t offset_B, char **place);

#endif
