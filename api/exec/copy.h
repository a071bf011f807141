/* Copies: of bytes in a row, and of boxes. */
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
};

/* Rows of bytes at a distance, in slices at a distance. */
struct hip_side {
	char *base; /* borrowed: where the first row begins */
	size_t pitch_B, slice_B;
};
struct hip_box {
	struct hip_side dst, src;
	size_t width_B, height, depth;
	hipMemcpyKind kind;
};
static inline bool hip_box_is_empty(const struct hip_box *box)
{
	return !box->width_B || !box->height || !box->depth;
}
hipError_t hip_copy_box(const struct hip_box *box, hipStream_t stream, bool wait);

/* It can be a program's: x86-64's user space ends at 2^47. */
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
/* Waits for the null stream if r is hipSuccess: hipMemcpy2D() and hipDrvMemcpy3D() wait, as AMD's do, between two
 * places of a device, too. */
hipError_t hip_copy_then_wait(hipError_t r);
/* What is asked first of a plane's copy. As CLR: the kind, and a stream that is gone is a wrong value. */
hipError_t hip_plane_check(hipMemcpyKind kind, hipStream_t stream);
hipError_t hip_copy_check(const struct hip_copy *copy);
hipError_t hip_box_check(const struct hip_box *box);
/* By the host's thread, when the stream gets there; the addresses are looked up. */
hipError_t hip_box_put_by_host(struct hip_stream *stream, const struct hip_box *box);
/* As hip_op_put(), but pageable memory may go when the copy has ended (copy_rect.c). */
hipError_t hip_box_put_later(struct hip_stream *stream, const struct hip_box *box);
/* Where a copy of a variable goes to or comes from. */
hipError_t hip_symbol_place(const void *symbol, size_t size_B, size_t offset_B, char **place);

#endif
