/* Copies from and to arrays: boxes with one side, or both, in an image. */
#include "api/image/image.h"

/* --- sides ------------------------------------------------------------------------------------ */

static bool range_is_inside(size_t at, size_t count, size_t of)
{
	return count <= of && at <= of - count;
}

/* Layers of one row are the rows, or the one-row slices, of a box. */
static hipError_t rows_of_layers(const struct hip_array *a, const struct hip_box *box, size_t x_B, size_t y,
				 size_t z, struct hip_side *side)
{
	size_t count = box->height > box->depth ? box->height : box->depth;

	if ((box->height > 1 && box->depth > 1) || (y && z) || !range_is_inside(y + z, count, a->depth))
		return hipErrorInvalidValue;
	*side = (struct hip_side){a->base + (y + z) * a->row_B + x_B, a->row_B, a->row_B};
	return hipSuccess;
}

hipError_t hip_array_side(const struct hip_array *a, const struct hip_box *box, size_t x_B, size_t y, size_t z,
			  struct hip_side *side)
{
	if (!range_is_inside(x_B, box->width_B, a->width * hip_texels_size_B(&a->texels)))
		return hipErrorInvalidValue;
	if (a->geometry == HSA_EXT_IMAGE_GEOMETRY_1DA)
		return rows_of_layers(a, box, x_B, y, z, side);
	if (!range_is_inside(y, box->height, a->height ? a->height : 1) ||
	    !range_is_inside(z, box->depth, a->depth ? a->depth : 1))
		return hipErrorInvalidValue;
	*side = (struct hip_side){a->base + z * a->slice_B + y * a->row_B + x_B, a->row_B, a->slice_B};
	return hipSuccess;
}

/* --- planes ----------------------------------------------------------------------------------- */

static hipError_t buffer_side(const void *buffer, size_t pitch_B, size_t width_B, struct hip_side *side)
{
	*side = (struct hip_side){(void *)(uintptr_t)buffer, pitch_B, 0};
	if (!buffer)
		return hipErrorInvalidValue;
	return pitch_B && pitch_B >= width_B ? hipSuccess : hipErrorInvalidPitchValue;
}

static hipError_t plane_side(hipArray_const_t handle, const struct hip_box *box, size_t x_B, size_t y,
			     struct hip_side *side)
{
	const struct hip_array *a = hip_array_of(handle);

	return a ? hip_array_side(a, box, x_B, y, 0, side) : hipErrorInvalidHandle;
}

static hipError_t copy_2d_to(hipArray_t dst, size_t x_B, size_t y, const void *src, size_t pitch_B, size_t width_B,
			     size_t height, hipMemcpyKind kind, hipStream_t stream, bool wait)
{
	struct hip_box box = {.width_B = width_B, .height = height, .depth = 1, .kind = kind};
	hipError_t r = hip_plane_check(kind, stream);

	if (!r)
		r = buffer_side(src, pitch_B, width_B, &box.src);
	if (!r)
		r = plane_side(dst, &box, x_B, y, &box.dst);
	return r ? r : hip_copy_box(&box, stream, wait);
}

static hipError_t copy_2d_from(void *dst, size_t pitch_B, hipArray_const_t src, size_t x_B, size_t y,
			       size_t width_B, size_t height, hipMemcpyKind kind, hipStream_t stream, bool wait)
{
	struct hip_box box = {.width_B = width_B, .height = height, .depth = 1, .kind = kind};
	hipError_t r = hip_plane_check(kind, stream);

	if (!r)
		r = plane_side(src, &box, x_B, y, &box.src);
	if (!r)
		r = buffer_side(dst, pitch_B, width_B, &box.dst);
	return r ? r : hip_copy_box(&box, stream, wait);
}

HIP_PUBLIC(hipMemcpy2DToArray,
	   (hipArray_t dst, size_t x_B, size_t y, const void *src, size_t pitch, size_t width, size_t height,
	    hipMemcpyKind kind),
	   (dst, x_B, y, src, pitch, width, height, kind))
{
	return copy_2d_to(dst, x_B, y, src, pitch, width, height, kind, NULL, true);
}

HIP_PUBLIC(hipMemcpy2DToArrayAsync,
	   (hipArray_t dst, size_t x_B, size_t y, const void *src, size_t pitch, size_t width, size_t height,
	    hipMemcpyKind kind, hipStream_t stream),
	   (dst, x_B, y, src, pitch, width, height, kind, stream))
{
	return copy_2d_to(dst, x_B, y, src, pitch, width, height, kind, stream, false);
}

HIP_PUBLIC(hipMemcpy2DFromArray,
	   (void *dst, size_t pitch, hipArray_const_t src, size_t x_B, size_t y, size_t width, size_t height,
	    hipMemcpyKind kind),
	   (dst, pitch, src, x_B, y, width, height, kind))
{
	return copy_2d_from(dst, pitch, src, x_B, y, width, height, kind, NULL, true);
}

HIP_PUBLIC(hipMemcpy2DFromArrayAsync,
	   (void *dst, size_t pitch, hipArray_const_t src, size_t x_B, size_t y, size_t width, size_t height,
	    hipMemcpyKind kind, hipStream_t stream),
	   (dst, pitch, src, x_B, y, width, height, kind, stream))
{
	return copy_2d_from(dst, pitch, src, x_B, y, width, height, kind, stream, false);
}

#if TUFF_HIP_ABI >= 6
static hipError_t copy_2d_between(hipArray_t dst, size_t dst_x_B, size_t dst_y, hipArray_const_t src,
				  size_t src_x_B, size_t src_y, size_t width_B, size_t height, hipMemcpyKind kind)
{
	struct hip_box box = {.width_B = width_B, .height = height, .depth = 1, .kind = kind};
	hipError_t r = hip_plane_check(kind, NULL);

	if (!r)
		r = plane_side(src, &box, src_x_B, src_y, &box.src);
	if (!r)
		r = plane_side(dst, &box, dst_x_B, dst_y, &box.dst);
	return r ? r : hip_copy_box(&box, NULL, true);
}

HIP_PUBLIC(hipMemcpy2DArrayToArray,
	   (hipArray_t dst, size_t dst_x_B, size_t dst_y, hipArray_const_t src, size_t src_x_B, size_t src_y,
	    size_t width, size_t height, hipMemcpyKind kind),
	   (dst, dst_x_B, dst_y, src, src_x_B, src_y, width, height, kind))
{
	return copy_2d_between(dst, dst_x_B, dst_y, src, src_x_B, src_y, width, height, kind);
}
#endif

/* --- linear ranges ---------------------------------------------------------------------------- */

/* The next box of a linear range: the rest of a row, whole rows, or the beginning of a row. */
static struct hip_box next_box(size_t x_B, size_t row_B, size_t count_B, hipMemcpyKind kind)
{
	struct hip_box box = {.width_B = row_B - x_B, .height = 1, .depth = 1, .kind = kind};

	if (!x_B && count_B >= row_B)
		box.height = count_B / row_B;
	else if (count_B < box.width_B)
		box.width_B = count_B;
	return box;
}

/* Whether a linear range is in the first layer, or in the layers of rows. */
static bool is_inside(const struct hip_array *a, size_t row_B, size_t x_B, size_t y, size_t count_B)
{
	size_t rows = a->geometry == HSA_EXT_IMAGE_GEOMETRY_1DA ? a->depth : a->height ? a->height : 1;

	return x_B < row_B && y < rows && count_B <= (rows - y) * row_B - x_B;
}

/* Copies a linear range row by row, as CUDA defines it. CLR copies one box, which is the same for whole rows. */
static hipError_t copy_rows(hipArray_const_t handle, size_t x_B, size_t y, char *memory, size_t count_B,
			    hipMemcpyKind kind, bool into, hipStream_t stream)
{
	const struct hip_array *a = hip_array_of(handle);
	size_t row_B = a ? a->width * hip_texels_size_B(&a->texels) : 0;
	hipError_t r = hip_is_kind(kind) ? hipSuccess : hipErrorInvalidMemcpyDirection;

	if (!r && (!a || !memory || !is_inside(a, row_B, x_B, y, count_B)))
		r = hipErrorInvalidValue;
	while (!r && count_B) {
		struct hip_box box = next_box(x_B, row_B, count_B, kind);
		struct hip_side *image = into ? &box.dst : &box.src, *other = into ? &box.src : &box.dst;

		*other = (struct hip_side){memory, box.width_B, 0};
		r = hip_array_side(a, &box, x_B, y, 0, image);
		if (!r)
			r = hip_copy_box(&box, stream, true);
		if (r)
			break;
		memory += box.width_B * box.height;
		count_B -= box.width_B * box.height;
		y += box.height;
		x_B = 0;
	}
	return r;
}

HIP_PUBLIC(hipMemcpyToArray,
	   (hipArray_t dst, size_t x_B, size_t y, const void *src, size_t count, hipMemcpyKind kind),
	   (dst, x_B, y, src, count, kind))
{
	return copy_rows(dst, x_B, y, (char *)(uintptr_t)src, count, kind, true, NULL);
}

HIP_PUBLIC(hipMemcpyFromArray,
	   (void *dst, hipArray_const_t src, size_t x_B, size_t y, size_t count, hipMemcpyKind kind),
	   (dst, src, x_B, y, count, kind))
{
	return copy_rows(src, x_B, y, dst, count, kind, false, NULL);
}

HIP_PUBLIC(hipMemcpyFromArray_spt,
	   (void *dst, hipArray_const_t src, size_t x_B, size_t y, size_t count, hipMemcpyKind kind),
	   (dst, src, x_B, y, count, kind))
{
	return copy_rows(src, x_B, y, dst, count, kind, false, hipStreamPerThread);
}

/* --- ranges of the first row (driver API) ------------------------------------------------------ */

/* A side. The array is used if there is one. */
struct end {
	hipArray_t array;
	const void *memory;
	size_t at_B; /* offset in the array */
};

static hipError_t end_side(const struct end *end, const struct hip_box *box, struct hip_side *side)
{
	const struct hip_array *a;

	if (end->memory) {
		*side = (struct hip_side){(void *)(uintptr_t)end->memory, box->width_B, 0};
		return hipSuccess;
	}
	a = hip_array_of(end->array);
	return a ? hip_array_side(a, box, end->at_B, 0, 0, side) : hipErrorInvalidValue;
}

static hipError_t copy_row(struct end dst, struct end src, size_t count_B, hipStream_t stream, bool wait)
{
	struct hip_box box = {.width_B = count_B, .height = 1, .depth = 1, .kind = hipMemcpyDefault};
	hipError_t r = end_side(&dst, &box, &box.dst);

	if (!r)
		r = end_side(&src, &box, &box.src);
	return r ? r : hip_copy_box(&box, stream, wait);
}

#define ARRAY(array, at_B) ((struct end){array, NULL, at_B})
#define MEMORY(memory)     ((struct end){NULL, memory, 0})

HIP_PUBLIC(hipMemcpyAtoH, (void *dst, hipArray_t src, size_t at_B, size_t count), (dst, src, at_B, count))
{
	return copy_row(MEMORY(dst), ARRAY(src, at_B), count, NULL, true);
}

HIP_PUBLIC(hipMemcpyHtoA, (hipArray_t dst, size_t at_B, const void *src, size_t count), (dst, at_B, src, count))
{
	return copy_row(ARRAY(dst, at_B), MEMORY(src), count, NULL, true);
}

#if TUFF_HIP_ABI >= 6
HIP_PUBLIC(hipMemcpyAtoHAsync, (void *dst, hipArray_t src, size_t at_B, size_t count, hipStream_t stream),
	   (dst, src, at_B, count, stream))
{
	return copy_row(MEMORY(dst), ARRAY(src, at_B), count, stream, false);
}

HIP_PUBLIC(hipMemcpyHtoAAsync, (hipArray_t dst, size_t at_B, const void *src, size_t count, hipStream_t stream),
	   (dst, at_B, src, count, stream))
{
	return copy_row(ARRAY(dst, at_B), MEMORY(src), count, stream, false);
}

HIP_PUBLIC(hipMemcpyAtoD, (hipDeviceptr_t dst, hipArray_t src, size_t at_B, size_t count), (dst, src, at_B, count))
{
	return copy_row(MEMORY(dst), ARRAY(src, at_B), count, NULL, true);
}

HIP_PUBLIC(hipMemcpyDtoA, (hipArray_t dst, size_t at_B, hipDeviceptr_t src, size_t count), (dst, at_B, src, count))
{
	return copy_row(ARRAY(dst, at_B), MEMORY(src), count, NULL, true);
}

HIP_PUBLIC(hipMemcpyAtoA, (hipArray_t dst, size_t dst_at_B, hipArray_t src, size_t src_at_B, size_t count),
	   (dst, dst_at_B, src, src_at_B, count))
{
	return copy_row(ARRAY(dst, dst_at_B), ARRAY(src, src_at_B), count, NULL, true);
}
#endif
