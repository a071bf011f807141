/* Copies of rectangles and boxes: rows at a pitch, in slices at a pitch. */

#include <stdlib.h>
#include <string.h>

#include "api/exec/blit.h"
#include "api/stream/capture.h"
#include "api/stream/point.h"
#include "api/stream/serial.h"

/* --- sides ------------------------------------------------------------------------------------ */

/* Bytes from the first to the last one. False: the range exceeds 2^64. */
static bool side_extent(const struct hip_side *side, const struct hip_box *box, size_t *size_B)
{
	size_t rows_B, slices_B;

	return !__builtin_mul_overflow(box->height - 1, side->pitch_B, &rows_B) &&
	       !__builtin_mul_overflow(box->depth - 1, side->slice_B, &slices_B) &&
	       !__builtin_add_overflow(rows_B, slices_B, size_B) &&
	       !__builtin_add_overflow(*size_B, box->width_B, size_B);
}

/* Resolves a side: its base becomes a GPU address. */
static hipError_t side_resolve(struct hip_side *side, const struct hip_box *box, struct hip_memory *memory,
			       bool *pageable)
{
	size_t size_B, at;

	if (!side->base || !side_extent(side, box, &size_B))
		return hipErrorInvalidValue;
	*pageable = !hip_memory_find(side->base, memory);
	if (*pageable)
		return hip_is_user_range(side->base, size_B) ? hipSuccess : hipErrorInvalidValue;
	at = (uintptr_t)side->base - memory->node.lo;
	if (!hip_memory_covers(memory, side->base, size_B))
		return hipErrorInvalidValue;
	side->base = memory->gpu_base + at;
	return hipSuccess;
}

/* The memory of both sides. */
struct kinds {
	bool dst_pageable, src_pageable;
	bool closed;                  /* kernels cannot access it: hip_memory_is_closed() */
	struct hip_device *dst, *src; /* owner; NULL: the host */
	enum hip_tool_kind tool_kind;
};

static bool is_closed(const struct hip_side *side, const struct hip_box *box, const struct hip_memory *memory)
{
	size_t size_B;

	return side_extent(side, box, &size_B) && hip_memory_is_closed(memory, side->base, size_B);
}

static hipError_t resolve_both(struct hip_box *box, struct kinds *kinds)
{
	struct hip_memory to, from;
	hipError_t r = side_resolve(&box->dst, box, &to, &kinds->dst_pageable);

	if (!r)
		r = side_resolve(&box->src, box, &from, &kinds->src_pageable);
	if (r)
		return r;
	kinds->dst = kinds->dst_pageable ? NULL : hip_memory_owner(&to);
	kinds->closed = (!kinds->dst_pageable && is_closed(&box->dst, box, &to)) ||
			(!kinds->src_pageable && is_closed(&box->src, box, &from));
	kinds->src = kinds->src_pageable ? NULL : hip_memory_owner(&from);
	kinds->tool_kind = !kinds->dst   ? HIP_TOOL_BOX_TO_HOST
			   : !kinds->src ? HIP_TOOL_BOX_FROM_HOST
					 : HIP_TOOL_BOX_ON_DEVICE;
	return hipSuccess;
}

static bool is_pageable(const struct kinds *kinds)
{
	return kinds->dst_pageable || kinds->src_pageable;
}

/* --- the copy --------------------------------------------------------------------------------- */

static bool same_strides(const struct hip_box *b)
{
	return (b->height == 1 || b->dst.pitch_B == b->src.pitch_B) &&
	       (b->depth == 1 || b->dst.slice_B == b->src.slice_B);
}

static bool device_reaches(const struct hip_device *device, const struct hip_device *memory)
{
	return !memory || memory == device || atomic_load(&memory->peers) >> device->index & 1;
}

/* The device whose DMA engine copies: an owner of the memory that can access both sides. NULL: none can. */
static const struct hip_device *worker_of(const struct hip_stream *s, const struct kinds *kinds)
{
	const struct hip_device *const able[] = {kinds->dst || kinds->src ? kinds->dst : s->device, kinds->src};

	for (unsigned i = 0; i < 2; i++)
		if (able[i] && device_reaches(able[i], kinds->dst) && device_reaches(able[i], kinds->src))
			return able[i];
	return NULL;
}

static hipError_t put_rect(struct hip_stream *s, const struct hip_box *box, const struct hip_device *device,
			   const struct hip_tool_work *work)
{
	const struct rt_copy copy = {
		.dst = (uintptr_t)box->dst.base,
		.src = (uintptr_t)box->src.base,
		.rect = {.dst_pitch_B = box->dst.pitch_B,
			 .src_pitch_B = box->src.pitch_B,
			 .dst_slice_B = box->dst.slice_B,
			 .src_slice_B = box->src.slice_B,
			 .row_B = box->width_B,
			 .rows = (uint32_t)box->height,
			 .slices = (uint32_t)box->depth},
		.agent = device->agent,
		.completion = hip_tool_watch(s, work),
	};
	hipError_t r = hip_stream_result(s, hip.hsa->copy(s->flow, &copy));

	if (r)
		hip_tool_forget(copy.completion);
	return r;
}

static uint64_t row_at(const struct hip_side *side, size_t y, size_t z)
{
	return (uintptr_t)side->base + z * side->slice_B + y * side->pitch_B;
}

/* Copies row by row, between two devices that are no peers: HSA's linear copies have a path of their own for these.
 * Only the last row's copy is reported to tools, as the whole. */
static hipError_t put_rows(struct hip_stream *s, const struct hip_box *box, const struct hip_tool_work *work)
{
	const size_t rows = box->height * box->depth;
	hipError_t r = hipSuccess;

	for (size_t i = 0; i < rows && !r; i++) {
		const size_t y = i % box->height, z = i / box->height;
		struct rt_copy copy = {
			.dst = row_at(&box->dst, y, z), .src = row_at(&box->src, y, z), .size_B = box->width_B};

		if (i + 1 == rows)
			copy.completion = hip_tool_watch(s, work);
		r = hip_stream_result(s, hip.hsa->copy(s->flow, &copy));
		if (r)
			hip_tool_forget(copy.completion);
	}
	return r;
}

static hipError_t put_by_engine(struct hip_stream *s, const struct hip_box *box, const struct kinds *kinds)
{
	const struct hip_tool_work work = {.op = HIP_TOOL_COPY,
					   .kind = kinds->tool_kind,
					   .bytes = (uint64_t)box->width_B * box->height * box->depth};
	const struct hip_device *device = worker_of(s, kinds);

	return device ? put_rect(s, box, device, &work) : put_rows(s, box, &work);
}

/* Makes a blit of the copy. False: kernels cannot do it. */
static bool blit_of(const struct hip_box *box, const struct kinds *kinds, struct hip_blit *blit)
{
	*blit = (struct hip_blit){
		.dst = (uintptr_t)box->dst.base,
		.dst_pitch_B = box->dst.pitch_B,
		.dst_slice_B = box->dst.slice_B,
		.src = (uintptr_t)box->src.base,
		.src_pitch_B = box->src.pitch_B,
		.src_slice_B = box->src.slice_B,
		.row_B = box->width_B,
		.rows = box->height,
		.slices = box->depth,
		.kind = kinds->tool_kind,
	};
	return !is_pageable(kinds) && !kinds->closed && box->kind != hipMemcpyDeviceToDeviceNoCU &&
	       hip_blit_takes(blit, kinds->dst, kinds->src);
}

/* True for a copy of all bytes onto themselves. */
static bool is_self_copy(const struct hip_box *box)
{
	return box->dst.base == box->src.base && same_strides(box);
}

static hipError_t box_put_resolved(struct hip_stream *s, const struct hip_box *box, const struct kinds *kinds)
{
	struct hip_blit blit;

	if (is_self_copy(box))
		return hipSuccess;
	if (!blit_of(box, kinds, &blit) || (blit.device && blit.device != s->device))
		return put_by_engine(s, box, kinds);
	return hip_blit_put(s, &blit);
}

/* True when the kind fits: a side that is named a device's must be memory that GPUs can access. */
static bool fits_kind(const struct kinds *kinds, hipMemcpyKind kind)
{
	bool on_device = hip_is_on_device(kind);

	return !(kinds->dst_pageable && (on_device || kind == hipMemcpyHostToDevice)) &&
	       !(kinds->src_pageable && (on_device || kind == hipMemcpyDeviceToHost));
}

/* True when a row at that distance from one of a slice's rows shares bytes with it or with one of its
 * neighbours. */
static bool rows_overlap(int64_t distance_B, const struct hip_box *b)
{
	const int64_t pitch_B = (int64_t)b->dst.pitch_B, width_B = (int64_t)b->width_B;
	int64_t rows, rest_B;
	bool any = false;

	if (b->height == 1)
		return llabs(distance_B) < width_B;
	rows = distance_B / pitch_B;
	rest_B = distance_B % pitch_B;
	for (int64_t i = -1; i <= 1; i++)
		any |= llabs(rest_B - i * pitch_B) < width_B && llabs(rows + i) < (int64_t)b->height;
	return any;
}

/* Overlapping boxes: undefined in CUDA and HIP, and refused by the engines. Rows of one side may lie between rows
 * of the other; boxes with different pitches are not checked. */
static bool box_overlaps(const struct hip_box *b)
{
	int64_t distance_B = (int64_t)((uintptr_t)b->dst.base - (uintptr_t)b->src.base);
	int64_t slice_B = (int64_t)b->dst.slice_B, slices;
	bool any = false;

	if (!same_strides(b))
		return false;
	if (b->depth == 1)
		return rows_overlap(distance_B, b);
	/* A slice is shorter than the distance of two: it shares bytes with the nearest ones alone. */
	slices = distance_B / slice_B;
	for (int64_t i = -1; i <= 1; i++)
		any |= llabs(slices + i) < (int64_t)b->depth &&
		       rows_overlap(distance_B - (slices + i) * slice_B, b);
	return any;
}

/* Slices of a side that share bytes: the rows of one would overwrite those of another. */
static bool slices_overlap(const struct hip_side *side, const struct hip_box *box)
{
	return box->depth > 1 && side->slice_B / box->height < side->pitch_B;
}

hipError_t hip_box_check(const struct hip_box *box)
{
	struct hip_box copy = *box;
	struct kinds kinds;
	hipError_t r;

	if (!hip_is_kind(box->kind))
		return hipErrorInvalidMemcpyDirection;
	if ((box->height > 1 || box->depth > 1) &&
	    (box->dst.pitch_B < box->width_B || box->src.pitch_B < box->width_B))
		return hipErrorInvalidPitchValue;
	/* Engines count rows and slices with 32 bits. */
	if (box->width_B > UINT32_MAX || box->height > UINT32_MAX || box->depth > UINT32_MAX)
		return hipErrorInvalidValue;
	if (hip_box_is_empty(box))
		return hipSuccess;
	/* CLR's rule (BufferRect::create()). */
	if (slices_overlap(&box->dst, box) || slices_overlap(&box->src, box))
		return hipErrorInvalidValue;
	r = resolve_both(&copy, &kinds);
	if (r || !fits_kind(&kinds, box->kind))
		return r ? r : hipErrorInvalidValue;
	return copy.dst.base != copy.src.base && !is_pageable(&kinds) && box_overlaps(&copy) ? hipErrorInvalidValue
											     : hipSuccess;
}

static hipError_t box_put(struct hip_stream *s, const struct hip_box *box)
{
	struct hip_box copy = *box;
	struct kinds kinds;
	hipError_t r = hip_box_is_empty(box) ? hipSuccess : resolve_both(&copy, &kinds);

	return r || hip_box_is_empty(box) ? r : box_put_resolved(s, &copy, &kinds);
}

hipError_t hip_box_put_later(struct hip_stream *s, const struct hip_box *box)
{
	struct hip_box copy = *box;
	struct kinds kinds;
	hipError_t r = hip_box_is_empty(box) ? hipSuccess : resolve_both(&copy, &kinds);

	if (r || hip_box_is_empty(box))
		return r;
	if ((kinds.dst_pageable && box->dst_ours) || (kinds.src_pageable && box->src_ours))
		return hipErrorInvalidValue;
	return is_pageable(&kinds) ? hip_box_put_by_host(s, &copy) : box_put_resolved(s, &copy, &kinds);
}

static hipError_t box_blit(const struct hip_box *box, struct hip_blit *blit)
{
	struct hip_box copy = *box;
	struct kinds kinds;

	if (hip_box_is_empty(box) || resolve_both(&copy, &kinds) || is_self_copy(&copy))
		return hipErrorNotSupported;
	return blit_of(&copy, &kinds, blit) ? hipSuccess : hipErrorNotSupported;
}

static hipError_t check_op(const struct hip_op *op)
{
	return hip_box_check(&op->box);
}

static hipError_t put_op(struct hip_stream *s, const struct hip_op *op)
{
	return box_put(s, &op->box);
}

static hipError_t blit_op(const struct hip_op *op, struct hip_blit *blit)
{
	return box_blit(&op->box, blit);
}

const struct hip_op_kind hip_op_box = {hipGraphNodeTypeMemcpy, check_op, put_op, blit_op};

/* True when the box, with the gaps between its rows, fits into a staging buffer. */
static bool is_small(const struct hip_box *box)
{
	size_t size_B;

	return side_extent(&box->src, box, &size_B) && size_B <= HIP_STAGE_MAX_B;
}

/* Copies a small box through a staging buffer, without a wait. */
static hipError_t put_staged(struct hip_stream *s, struct hip_box *box, const struct kinds *kinds)
{
	const struct hip_side *src = &box->src;
	hipError_t r = hip_stream_begin(s);
	struct kinds staged = *kinds;
	char *stage, *to;

	if (r)
		return r;
	to = stage = hip_stream_stage(s, box->width_B * box->height * box->depth);
	for (size_t z = 0; stage && z < box->depth; z++)
		for (size_t y = 0; y < box->height; y++, to += box->width_B)
			memcpy(to, src->base + z * src->slice_B + y * src->pitch_B, box->width_B);
	box->src = (struct hip_side){stage, box->width_B, box->width_B * box->height};
	staged.src_pageable = false;
	r = stage ? box_put_resolved(s, box, &staged) : hipErrorOutOfMemory;
	hip_stream_done(s);
	return r;
}

/* Submits a checked copy. `copy` is the operation's box with resolved addresses. */
static hipError_t box_run(struct hip_stream *s, const struct hip_op *op, struct hip_box *copy,
			  const struct kinds *kinds, bool wait)
{
	bool under_way;
	hipError_t r;

	if (!wait && !kinds->dst_pageable && kinds->src_pageable && is_small(copy))
		return put_staged(s, copy, kinds);
	r = hip_op_submit(s, op);
	/* A refused operation is not submitted, unless the stream failed with it. */
	under_way = !r || hip.hsa->state(s->flow);
	if (!r && (is_pageable(kinds) || (wait && !(kinds->dst && kinds->src))))
		r = hip_stream_wait(s);
	/* The program may reuse pageable memory when the call returns, even with an error. */
	if (r && under_way && is_pageable(kinds))
		hip_stream_drop(s);
	return r;
}

hipError_t hip_copy_box(const struct hip_box *box, hipStream_t handle, bool wait)
{
	const struct hip_op op = {.kind = &hip_op_box, .box = *box};
	struct hip_box copy = *box;
	struct hip_stream *s, *there;
	struct kinds kinds;
	hipError_t r = hip_capture_refuses_wait(wait);

	if (!r)
		r = hip_stream_of(handle, &s);
	if (!r)
		r = hip_box_check(box);
	if (r || hip_box_is_empty(box) || hip_stream_captures(s))
		return r ? r : hip_op_run(handle, &op);
	r = resolve_both(&copy, &kinds);
	if (!r)
		r = hip_stream_redirect(s, hip_only_owner(kinds.dst, kinds.src), &there);
	if (!r)
		r = hip_serial_before(there, HIP_SERIAL_COPY);
	if (!r)
		r = box_run(there, &op, &copy, &kinds, wait);
	if (!r)
		r = hip_serial_after(there, HIP_SERIAL_COPY);
	return r ? r : hip_stream_return(s, there);
}

hipError_t hip_copy_then_wait(hipError_t r)
{
	struct hip_stream *s;

	if (!r)
		r = hip_null_stream(hip_current(), &s);
	return r ? r : hip_stream_wait(s);
}

/* --- two dimensions --------------------------------------------------------------------------- */

hipError_t hip_plane_check(hipMemcpyKind kind, hipStream_t handle)
{
	struct hip_stream *s;

	if (!hip_is_kind(kind))
		return hipErrorInvalidMemcpyDirection;
	return hip_stream_of(handle, &s) ? hipErrorInvalidValue : hipSuccess;
}

static hipError_t copy_2d(void *dst, size_t dst_pitch_B, const void *src, size_t src_pitch_B, size_t width_B,
			  size_t height, hipMemcpyKind kind, hipStream_t stream, bool wait)
{
	struct hip_box box = {
		.dst = {dst, dst_pitch_B, 0},
		.src = {(void *)(uintptr_t)src, src_pitch_B, 0},
		.width_B = width_B,
		.height = height,
		.depth = 1,
		.kind = kind,
	};

	hipError_t r = hip_capture_refuses_wait(wait);

	if (!r)
		r = hip_plane_check(kind, stream);
	if (r || hip_box_is_empty(&box))
		return r;
	if (dst_pitch_B < width_B || src_pitch_B < width_B)
		return hipErrorInvalidPitchValue;
	return dst && src ? hip_copy_box(&box, stream, wait) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipMemcpy2D,
	   (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
	    hipMemcpyKind kind),
	   (dst, dst_pitch, src, src_pitch, width, height, kind))
{
	return hip_copy_then_wait(copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, NULL, true));
}

HIP_PUBLIC(hipMemcpy2DAsync,
	   (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
	    hipMemcpyKind kind, hipStream_t stream),
	   (dst, dst_pitch, src, src_pitch, width, height, kind, stream))
{
	return copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, stream, false);
}
