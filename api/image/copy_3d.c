/* Copies between memory and arrays that a structure describes: hipMemcpyParam2D(), hipMemcpy3D() and similar
 * functions. */
#include <limits.h>

#include "api/image/image.h"
#include "api/stream/capture.h"

/* --- the driver API --------------------------------------------------------------------------- */

/* A side. The type selects memory or array. */
struct end {
	hipMemoryType type;
	const void *host;
	hipDeviceptr_t device;
	hipArray_t array;
	size_t x_B, y, z, pitch_B, height;
};

/* Sets the height of slices, and moves the side's beginning to a position. InvalidValue: the address overflows, or it
 * leaves the allocation that the program named. */
static hipError_t side_move(struct hip_side *side, size_t rows, size_t x_B, size_t y, size_t z)
{
	const char *named = side->base;
	uintptr_t base = (uintptr_t)named;
	struct hip_memory memory;
	size_t slices_B, rows_B;

	if (__builtin_mul_overflow(side->pitch_B, rows, &side->slice_B) ||
	    __builtin_mul_overflow(z, side->slice_B, &slices_B) ||
	    __builtin_mul_overflow(y, side->pitch_B, &rows_B) || __builtin_add_overflow(base, slices_B, &base) ||
	    __builtin_add_overflow(base, rows_B, &base) || __builtin_add_overflow(base, x_B, &base))
		return hipErrorInvalidValue;
	side->base = (char *)base;
	if (hip_memory_find(named, &memory) && !hip_memory_covers(&memory, named, (size_t)(side->base - named) + 1))
		return hipErrorInvalidValue;
	return hipSuccess;
}

/* Finds where the copy begins in the side. Without pitch or height, rows and slices have no gaps. */
static hipError_t find_side(const struct end *end, const struct hip_box *box, struct hip_side *side)
{
	const struct hip_array *array;
	struct hip_memory memory;

	if (end->type == hipMemoryTypeArray) {
		array = hip_array_of(end->array);
		return array ? hip_array_side(array, box, end->x_B, end->y, end->z, side) : hipErrorInvalidValue;
	}
	side->base = end->type == hipMemoryTypeHost ? (char *)(uintptr_t)end->host : end->device;
	if (!side->base || (end->type != hipMemoryTypeHost && end->type != hipMemoryTypeDevice &&
			    end->type != hipMemoryTypeUnified && end->type != hipMemoryTypeManaged))
		return hipErrorInvalidValue;
	/* An address that is named a device's must be in an allocation: it is not treated as host memory. */
	if (end->type == hipMemoryTypeDevice && !hip_memory_find(side->base, &memory))
		return hipErrorInvalidValue;
	side->pitch_B = end->pitch_B ? end->pitch_B : box->width_B + end->x_B;
	return side_move(side, end->height ? end->height : box->height + end->y, end->x_B, end->y, end->z);
}

static hipError_t copy_ends(const struct end *dst, const struct end *src, struct hip_box *box, hipStream_t stream,
			    bool wait)
{
	struct hip_stream *s;
	hipError_t r = hip_capture_refuses_wait(wait);

	if (!r)
		r = hip_stream_of(stream, &s);
	if (r || hip_box_is_empty(box))
		return r;
	r = find_side(src, box, &box->src);
	if (!r)
		r = find_side(dst, box, &box->dst);
	if (!r)
		r = hip_copy_box(box, stream, wait);
	/* The driver API has no separate error for pitches. */
	return r == hipErrorInvalidPitchValue ? hipErrorInvalidValue : r;
}

static hipError_t copy_param_2d(const hip_Memcpy2D *p, hipStream_t stream, bool wait)
{
	struct hip_box box = {
		.width_B = p->WidthInBytes, .height = p->Height, .depth = 1, .kind = hipMemcpyDefault};
	const struct end src = {.type = p->srcMemoryType,
				.host = p->srcHost,
				.device = p->srcDevice,
				.array = p->srcArray,
				.x_B = p->srcXInBytes,
				.y = p->srcY,
				.pitch_B = p->srcPitch};
	const struct end dst = {.type = p->dstMemoryType,
				.host = p->dstHost,
				.device = p->dstDevice,
				.array = p->dstArray,
				.x_B = p->dstXInBytes,
				.y = p->dstY,
				.pitch_B = p->dstPitch};

	return copy_ends(&dst, &src, &box, stream, wait);
}

HIP_PUBLIC(hipMemcpyParam2D, (const hip_Memcpy2D *p), (p))
{
	return p ? copy_param_2d(p, NULL, true) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipMemcpyParam2DAsync, (const hip_Memcpy2D *p, hipStream_t stream), (p, stream))
{
	return p ? copy_param_2d(p, stream, false) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipDrvMemcpy2DUnaligned, (const hip_Memcpy2D *p), (p))
{
	return p ? copy_param_2d(p, NULL, true) : hipErrorInvalidValue;
}

static hipError_t copy_drv_3d(const HIP_MEMCPY3D *p, hipStream_t stream, bool wait)
{
	struct hip_box box = {
		.width_B = p->WidthInBytes, .height = p->Height, .depth = p->Depth, .kind = hipMemcpyDefault};
	const struct end src = {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes,
				p->srcY,          p->srcZ,    p->srcPitch,  p->srcHeight};
	const struct end dst = {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes,
				p->dstY,          p->dstZ,    p->dstPitch,  p->dstHeight};

	return copy_ends(&dst, &src, &box, stream, wait);
}

HIP_PUBLIC(hipDrvMemcpy3D, (const HIP_MEMCPY3D *p), (p))
{
	return p ? hip_copy_then_wait(copy_drv_3d(p, NULL, true)) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipDrvMemcpy3DAsync, (const HIP_MEMCPY3D *p, hipStream_t stream), (p, stream))
{
	return p ? copy_drv_3d(p, stream, false) : hipErrorInvalidValue;
}

/* --- hipMemcpy3D() ---------------------------------------------------------------------------- */

/* Bytes of that many elements; element_B 0: the count is in bytes. */
static size_t bytes_of(size_t count, size_t element_B)
{
	size_t size_B;

	return __builtin_mul_overflow(count, element_B ? element_B : 1, &size_B) ? SIZE_MAX : size_B;
}

/* A side is an array or memory. Without a pitch, packed_B is used. */
static hipError_t side_3d(const hipPitchedPtr *ptr, const hipPos *pos, hipArray_t handle, const struct hip_box *box,
			  size_t packed_B, struct hip_side *side)
{
	const struct hip_array *array = hip_array_of(handle);

	if (!handle == !ptr->ptr || (handle && !array))
		return hipErrorInvalidValue;
	if (array)
		return hip_array_side(array, box, bytes_of(pos->x, hip_texels_size_B(&array->texels)), pos->y,
				      pos->z, side);
	side->base = ptr->ptr;
	side->pitch_B = ptr->pitch ? ptr->pitch : packed_B;
	return side_move(side, ptr->ysize ? ptr->ysize : box->height, pos->x, pos->y, pos->z);
}

/* With an array, the width is in elements of the array; two arrays must have elements of the same size. */
static hipError_t width_3d(const hipMemcpy3DParms *p, size_t *width_B)
{
	const struct hip_array *dst = hip_array_of(p->dstArray), *src = hip_array_of(p->srcArray);
	size_t dst_B = dst ? hip_texels_size_B(&dst->texels) : 0, src_B = src ? hip_texels_size_B(&src->texels) : 0;

	*width_B = bytes_of(p->extent.width, dst ? dst_B : src_B);
	return dst && src && dst_B != src_B ? hipErrorInvalidValue : hipSuccess;
}

static bool is_wider(size_t at_B, size_t width_B, size_t pitch_B)
{
	return width_B > pitch_B || at_B > pitch_B - width_B;
}

/* Checks the pitches before the addresses: CLR does so. */
static hipError_t check_pitches(const hipMemcpy3DParms *p)
{
	const hipPitchedPtr *dst = &p->dstPtr, *src = &p->srcPtr;

	if (dst->pitch < dst->xsize || src->pitch < src->xsize)
		return hipErrorInvalidPitchValue;
	if (dst->pitch >= INT_MAX || src->pitch >= INT_MAX)
		return hipErrorInvalidValue;
	if (!p->dstArray && !p->srcArray &&
	    (is_wider(p->dstPos.x, p->extent.width, dst->pitch) ||
	     is_wider(p->srcPos.x, p->extent.width, src->pitch)))
		return hipErrorInvalidValue;
	return hip_is_kind(p->kind) ? hipSuccess : hipErrorInvalidMemcpyDirection;
}

hipError_t hip_box_of_3d(const hipMemcpy3DParms *p, struct hip_box *box)
{
	hipError_t r = width_3d(p, &box->width_B);
	/* CLR's rule: with an array on one side, the other side's rows may have no pitch. */
	const size_t packed_B = p->srcArray || p->dstArray ? box->width_B : 0;

	box->height = p->extent.height;
	box->depth = p->extent.depth;
	box->kind = p->kind;
	if (!r)
		r = side_3d(&p->srcPtr, &p->srcPos, p->srcArray, box, packed_B, &box->src);
	if (!r)
		r = side_3d(&p->dstPtr, &p->dstPos, p->dstArray, box, packed_B, &box->dst);
	return r ? r : check_pitches(p);
}

static hipError_t copy_3d(const hipMemcpy3DParms *p, hipStream_t stream, bool wait)
{
	struct hip_box box;
	hipError_t r = hip_box_of_3d(p, &box);

	return r ? r : hip_copy_box(&box, stream, wait);
}

HIP_PUBLIC(hipMemcpy3D, (const hipMemcpy3DParms *p), (p))
{
	return p ? copy_3d(p, NULL, true) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipMemcpy3DAsync, (const hipMemcpy3DParms *p, hipStream_t stream), (p, stream))
{
	return p ? copy_3d(p, stream, false) : hipErrorInvalidValue;
}
