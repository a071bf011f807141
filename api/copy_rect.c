/* Copies of rectangles and boxes: rows at a distance, slices at a distance. */
#include "api/capture.h"

/* --- one side --------------------------------------------------------------------------------- */

/* From the first byte to the last. False: beyond 2^64. */
static bool extent(const struct hip_side *side, const struct hip_box *box, size_t *size_B)
{
	size_t rows_B, slices_B;

	return !__builtin_mul_overflow(box->height - 1, side->pitch_B, &rows_B) &&
	       !__builtin_mul_overflow(box->depth - 1, side->slice_B, &slices_B) &&
	       !__builtin_add_overflow(rows_B, slices_B, size_B) &&
	       !__builtin_add_overflow(*size_B, box->width_B, size_B);
}

static bool is_empty(const struct hip_box *box)
{
	return !box->width_B || !box->height || !box->depth;
}

/* The base becomes the GPU's. */
static hipError_t resolve(struct hip_side *side, const struct hip_box *box, struct hip_memory *memory,
			  bool *pageable)
{
	size_t size_B, at;

	if (!side->base || !extent(side, box, &size_B))
		return hipErrorInvalidValue;
	*pageable = !hip_memory_find(side->base, memory);
	if (*pageable)
		return hipSuccess;
	at = (uintptr_t)side->base - memory->node.lo;
	if (size_B > memory->size_B - at)
		return hipErrorInvalidValue;
	side->base = memory->gpu_base + at;
	return hipSuccess;
}

/* Which memory each side is. */
struct kinds {
	bool pageable, device; /* one of them is; both are */
};

static hipError_t resolve_both(struct hip_box *box, struct kinds *kinds)
{
	struct hip_memory to, from;
	bool dst_pageable, src_pageable;
	hipError_t r = resolve(&box->dst, box, &to, &dst_pageable);

	if (!r)
		r = resolve(&box->src, box, &from, &src_pageable);
	if (r)
		return r;
	kinds->pageable = dst_pageable || src_pageable;
	kinds->device = !kinds->pageable && to.kind == HIP_MEMORY_DEVICE && from.kind == HIP_MEMORY_DEVICE;
	return hipSuccess;
}

/* --- the copy --------------------------------------------------------------------------------- */

static hipError_t put(struct hip_stream *s, const struct hip_box *box)
{
	const hsa_pitched_ptr_t dst = {box->dst.base, box->dst.pitch_B, box->dst.slice_B};
	const hsa_pitched_ptr_t src = {box->src.base, box->src.pitch_B, box->src.slice_B};
	const hsa_dim3_t origin = {0},
			 range = {(uint32_t)box->width_B, (uint32_t)box->height, (uint32_t)box->depth};
	hsa_signal_t begin, done;
	hsa_status_t status;
	hipError_t r = hip_stream_signal(s, 3, &begin);

	if (!r)
		r = hip_stream_signal(s, 3, &done);
	if (!r)
		r = hip_stream_barrier(s, (hsa_signal_t){0}, begin);
	if (r)
		return r;
	status = hsa_amd_memory_async_copy_rect(&dst, &origin, &src, &origin, &range, s->device->agent,
						hsaHostToDevice, 1, &begin, done);
	return status ? hip_of_hsa(status) : hip_stream_barrier(s, done, (hsa_signal_t){0});
}

hipError_t hip_box_check(const struct hip_box *box)
{
	struct hip_box copy = *box;
	struct kinds kinds;

	if ((unsigned)box->kind > hipMemcpyDefault && box->kind != hipMemcpyDeviceToDeviceNoCU)
		return hipErrorInvalidMemcpyDirection;
	if ((box->height > 1 || box->depth > 1) &&
	    (box->dst.pitch_B < box->width_B || box->src.pitch_B < box->width_B))
		return hipErrorInvalidPitchValue;
	/* HSA counts with 32 bits. */
	if (box->width_B > UINT32_MAX || box->height > UINT32_MAX || box->depth > UINT32_MAX)
		return hipErrorInvalidValue;
	return is_empty(box) ? hipSuccess : resolve_both(&copy, &kinds);
}

hipError_t hip_box_put(struct hip_stream *s, const struct hip_box *box)
{
	struct hip_box copy = *box;
	struct kinds kinds;
	hipError_t r = is_empty(box) ? hipSuccess : resolve_both(&copy, &kinds);

	return r || is_empty(box) ? r : put(s, &copy);
}

hipError_t hip_box_put_later(struct hip_stream *s, const struct hip_box *box)
{
	struct hip_box copy = *box;
	struct kinds kinds;
	hipError_t r = is_empty(box) ? hipSuccess : resolve_both(&copy, &kinds);

	if (r || is_empty(box))
		return r;
	return kinds.pageable ? hip_box_put_by_host(s, &copy) : put(s, &copy);
}

hipError_t hip_copy_box(const struct hip_box *box, hipStream_t handle, bool wait)
{
	const struct hip_op op = {.kind = HIP_OP_BOX, .box = *box};
	struct hip_box copy = *box;
	struct hip_stream *s;
	struct kinds kinds;
	hipError_t r = wait ? hip_capture_refuses(hipErrorStreamCaptureImplicit) : hipSuccess;

	if (!r)
		r = hip_stream_of(handle, &s);
	if (!r)
		r = hip_op_run(handle, &op);
	if (r || is_empty(box) || hip_stream_captures(s))
		return r;
	/* Pageable memory may change as soon as the call is over. */
	r = resolve_both(&copy, &kinds);
	return r || (!kinds.pageable && (!wait || kinds.device)) ? r : hip_stream_wait(s);
}

/* --- two dimensions --------------------------------------------------------------------------- */

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

	if (width_B && height && (!dst || !src))
		return hipErrorInvalidValue;
	if (dst_pitch_B < width_B || src_pitch_B < width_B)
		return hipErrorInvalidPitchValue;
	return hip_copy_box(&box, stream, wait);
}

hipError_t hipMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
		       hipMemcpyKind kind)
{
	HIP_ENTER();
	return hip_end(copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, NULL, true));
}

hipError_t hipMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
			    size_t height, hipMemcpyKind kind, hipStream_t stream)
{
	HIP_ENTER();
	return hip_end(copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, stream, false));
}

/* --- the driver's style ----------------------------------------------------------------------- */

/* What is meant by a memory type, and where in it the copy begins. */
static hipError_t find_side(hipMemoryType type, const void *host, hipDeviceptr_t device, hipArray_t array,
			    struct hip_side *side)
{
	if (array && type == hipMemoryTypeArray)
		return hipErrorNotSupported;
	side->base = type == hipMemoryTypeHost ? (char *)(uintptr_t)host : device;
	return side->base ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t copy_param_2d(const hip_Memcpy2D *p, hipStream_t stream, bool wait)
{
	struct hip_box box = {
		.width_B = p->WidthInBytes, .height = p->Height, .depth = 1, .kind = hipMemcpyDefault};
	hipError_t r = find_side(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, &box.src);

	if (!r)
		r = find_side(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, &box.dst);
	if (r)
		return r;
	/* No pitch: rows without gaps. */
	box.src.pitch_B = p->srcPitch ? p->srcPitch : p->WidthInBytes + p->srcXInBytes;
	box.dst.pitch_B = p->dstPitch ? p->dstPitch : p->WidthInBytes + p->dstXInBytes;
	box.src.base += p->srcY * box.src.pitch_B + p->srcXInBytes;
	box.dst.base += p->dstY * box.dst.pitch_B + p->dstXInBytes;
	return hip_copy_box(&box, stream, wait);
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D *p)
{
	HIP_ENTER();
	return hip_end(p ? copy_param_2d(p, NULL, true) : hipErrorInvalidValue);
}

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *p, hipStream_t stream)
{
	HIP_ENTER();
	return hip_end(p ? copy_param_2d(p, stream, false) : hipErrorInvalidValue);
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *p)
{
	HIP_ENTER();
	return hip_end(p ? copy_param_2d(p, NULL, true) : hipErrorInvalidValue);
}

static hipError_t copy_drv_3d(const HIP_MEMCPY3D *p, hipStream_t stream, bool wait)
{
	struct hip_box box = {
		.width_B = p->WidthInBytes, .height = p->Height, .depth = p->Depth, .kind = hipMemcpyDefault};
	hipError_t r = find_side(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, &box.src);

	if (!r)
		r = find_side(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, &box.dst);
	if (r)
		return r;
	box.src.pitch_B = p->srcPitch ? p->srcPitch : p->WidthInBytes + p->srcXInBytes;
	box.dst.pitch_B = p->dstPitch ? p->dstPitch : p->WidthInBytes + p->dstXInBytes;
	box.src.slice_B = box.src.pitch_B * (p->srcHeight ? p->srcHeight : p->Height + p->srcY);
	box.dst.slice_B = box.dst.pitch_B * (p->dstHeight ? p->dstHeight : p->Height + p->dstY);
	box.src.base += p->srcZ * box.src.slice_B + p->srcY * box.src.pitch_B + p->srcXInBytes;
	box.dst.base += p->dstZ * box.dst.slice_B + p->dstY * box.dst.pitch_B + p->dstXInBytes;
	return hip_copy_box(&box, stream, wait);
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *p)
{
	HIP_ENTER();
	return hip_end(p ? copy_drv_3d(p, NULL, true) : hipErrorInvalidValue);
}

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *p, hipStream_t stream)
{
	HIP_ENTER();
	return hip_end(p ? copy_drv_3d(p, stream, false) : hipErrorInvalidValue);
}

/* --- three dimensions ------------------------------------------------------------------------- */

static hipError_t side_3d(const hipPitchedPtr *ptr, const hipPos *pos, hipArray_t array, struct hip_side *side)
{
	if (array)
		return hipErrorNotSupported;
	if (!ptr->ptr)
		return hipErrorInvalidValue;
	side->pitch_B = ptr->pitch;
	side->slice_B = ptr->pitch * ptr->ysize;
	side->base = (char *)ptr->ptr + pos->z * side->slice_B + pos->y * side->pitch_B + pos->x;
	return hipSuccess;
}

hipError_t hip_box_of_3d(const hipMemcpy3DParms *p, struct hip_box *box)
{
	hipError_t r = side_3d(&p->srcPtr, &p->srcPos, p->srcArray, &box->src);

	box->width_B = p->extent.width;
	box->height = p->extent.height;
	box->depth = p->extent.depth;
	box->kind = p->kind;
	return r ? r : side_3d(&p->dstPtr, &p->dstPos, p->dstArray, &box->dst);
}

static hipError_t copy_3d(const hipMemcpy3DParms *p, hipStream_t stream, bool wait)
{
	struct hip_box box;
	hipError_t r = hip_box_of_3d(p, &box);

	return r ? r : hip_copy_box(&box, stream, wait);
}

hipError_t hipMemcpy3D(const hipMemcpy3DParms *p)
{
	HIP_ENTER();
	return hip_end(p ? copy_3d(p, NULL, true) : hipErrorInvalidValue);
}

hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *p, hipStream_t stream)
{
	HIP_ENTER();
	return hip_end(p ? copy_3d(p, stream, false) : hipErrorInvalidValue);
}
