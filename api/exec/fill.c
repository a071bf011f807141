/* Fills. */
#include "api/exec/blit.h"
#include "api/stream/capture.h"
#include "api/stream/point.h"

/* Bytes from the first to the last one. False: the range exceeds 2^64. */
static bool fill_extent(const struct hip_fill *f, size_t *size_B)
{
	size_t rows_B, slices_B;

	return !__builtin_mul_overflow(f->rows - 1, f->pitch_B, &rows_B) &&
	       !__builtin_mul_overflow(f->slices - 1, f->slice_B, &slices_B) &&
	       !__builtin_add_overflow(rows_B, slices_B, size_B) &&
	       !__builtin_add_overflow(*size_B, f->row_B, size_B);
}

static bool is_empty(const struct hip_fill *f)
{
	return !f->row_B || !f->rows || !f->slices;
}

/* True when each row begins at a multiple of the value's size. */
static bool is_aligned(const struct hip_fill *f)
{
	return !((uintptr_t)f->dst % f->value_B) && (f->rows == 1 || !(f->pitch_B % f->value_B)) &&
	       (f->slices == 1 || !(f->slice_B % f->value_B));
}

static hipError_t fill_resolve(const struct hip_fill *f, struct hip_memory *memory, size_t *size_B)
{
	if (!f->dst || !is_aligned(f) || !fill_extent(f, size_B) || !hip_memory_find(f->dst, memory) ||
	    !hip_memory_covers(memory, f->dst, *size_B))
		return hipErrorInvalidValue;
	return hipSuccess;
}

hipError_t hip_fill_check(const struct hip_fill *f)
{
	struct hip_memory memory;
	size_t size_B;

	return is_empty(f) ? hipSuccess : fill_resolve(f, &memory, &size_B);
}

static hipError_t fill_blit(const struct hip_fill *f, struct hip_blit *blit)
{
	struct hip_device *owner;
	struct hip_memory memory;
	size_t size_B;
	hipError_t r = fill_resolve(f, &memory, &size_B);

	if (r || hip_memory_is_closed(&memory, f->dst, size_B))
		return r ? r : hipErrorInvalidValue;
	owner = hip_memory_owner(&memory);
	*blit = (struct hip_blit){
		.dst = (uintptr_t)memory.gpu_base + ((uintptr_t)f->dst - memory.node.lo),
		.dst_pitch_B = f->pitch_B,
		.dst_slice_B = f->slice_B,
		.row_B = f->row_B,
		.rows = f->rows,
		.slices = f->slices,
		.value = f->value_B == 1   ? (f->value & 0xff) * 0x01010101u
			 : f->value_B == 2 ? (f->value & 0xffff) * 0x00010001u
					   : f->value,
		.device = owner,
		.host = !owner,
		.kind = HIP_TOOL_FILL,
	};
	return hipSuccess;
}

static hipError_t fill_put(struct hip_stream *s, const struct hip_fill *f)
{
	struct hip_blit blit;
	hipError_t r;

	if (is_empty(f))
		return hipSuccess;
	r = fill_blit(f, &blit);
	/* Another GPU has the memory: it was freed and allocated again after the graph was made. */
	if (!r && blit.device && blit.device != s->device)
		r = hipErrorInvalidValue;
	return r ? r : hip_blit_put(s, &blit);
}

static hipError_t check_op(const struct hip_op *op)
{
	return hip_fill_check(&op->fill);
}

static hipError_t put_op(struct hip_stream *s, const struct hip_op *op)
{
	return fill_put(s, &op->fill);
}

static hipError_t blit_op(const struct hip_op *op, struct hip_blit *blit)
{
	return fill_blit(&op->fill, blit);
}

const struct hip_op_kind hip_op_fill = {hipGraphNodeTypeMemset, check_op, put_op, blit_op};

static hipError_t blit_submit(struct hip_stream *s, const struct hip_blit *blit)
{
	hipError_t r = hip_stream_begin(s);

	if (r)
		return r;
	r = hip_blit_put(s, blit);
	hip_stream_done(s);
	return r;
}

/* Adds the fill to the graph that is captured; an empty fill does nothing. */
__attribute__((cold, noinline)) static hipError_t fill_capture(const struct hip_fill *f, hipStream_t handle)
{
	return hip_op_run(handle, &(struct hip_op){.kind = &hip_op_fill, .fill = *f});
}

static hipError_t fill_run(const struct hip_fill *f, hipStream_t handle, bool wait)
{
	struct hip_stream *s, *there;
	struct hip_blit blit;
	hipError_t r = hip_capture_refuses_wait(wait);

	if (!r && !is_empty(f))
		r = fill_blit(f, &blit);
	if (!r)
		r = hip_stream_of(handle, &s);
	if (r || is_empty(f) || hip_stream_captures(s))
		return r ? r : fill_capture(f, handle);
	r = hip_stream_redirect(s, blit.device, &there);
	if (!r)
		r = blit_submit(there, &blit);
	if (!r)
		r = hip_stream_return(s, there);
	/* The program may read host memory as soon as the call returns. */
	return r || !wait || !blit.host ? r : hip_stream_wait(s);
}

static hipError_t fill_1d(void *dst, uint32_t value, unsigned value_B, size_t count, hipStream_t stream, bool wait)
{
	struct hip_fill f = {.dst = dst, .rows = 1, .slices = 1, .value = value, .value_B = value_B};

	return __builtin_mul_overflow(count, value_B, &f.row_B) ? hipErrorInvalidValue : fill_run(&f, stream, wait);
}

HIP_PUBLIC(hipMemset, (void *dst, int value, size_t size), (dst, value, size))
{
	return fill_1d(dst, value & 0xff, 1, size, NULL, true);
}

HIP_PUBLIC(hipMemsetAsync, (void *dst, int value, size_t size, hipStream_t stream), (dst, value, size, stream))
{
	return fill_1d(dst, value & 0xff, 1, size, stream, false);
}

HIP_PUBLIC(hipMemsetD8, (hipDeviceptr_t dst, unsigned char value, size_t count), (dst, value, count))
{
	return fill_1d(dst, value, 1, count, NULL, true);
}

HIP_PUBLIC(hipMemsetD8Async, (hipDeviceptr_t dst, unsigned char value, size_t count, hipStream_t stream),
	   (dst, value, count, stream))
{
	return fill_1d(dst, value, 1, count, stream, false);
}

HIP_PUBLIC(hipMemsetD16, (hipDeviceptr_t dst, unsigned short value, size_t count), (dst, value, count))
{
	return fill_1d(dst, value, 2, count, NULL, true);
}

HIP_PUBLIC(hipMemsetD16Async, (hipDeviceptr_t dst, unsigned short value, size_t count, hipStream_t stream),
	   (dst, value, count, stream))
{
	return fill_1d(dst, value, 2, count, stream, false);
}

HIP_PUBLIC(hipMemsetD32, (hipDeviceptr_t dst, int value, size_t count), (dst, value, count))
{
	return fill_1d(dst, (uint32_t)value, 4, count, NULL, true);
}

HIP_PUBLIC(hipMemsetD32Async, (hipDeviceptr_t dst, int value, size_t count, hipStream_t stream),
	   (dst, value, count, stream))
{
	return fill_1d(dst, (uint32_t)value, 4, count, stream, false);
}

static hipError_t fill_2d(void *dst, size_t pitch_B, int value, size_t width_B, size_t height, hipStream_t stream,
			  bool wait)
{
	struct hip_fill f = {dst, pitch_B, width_B, height, 0, 1, value & 0xff, 1};

	if (width_B > pitch_B)
		return hipErrorInvalidValue;
	return fill_run(&f, stream, wait);
}

HIP_PUBLIC(hipMemset2D, (void *dst, size_t pitch, int value, size_t width, size_t height),
	   (dst, pitch, value, width, height))
{
	return fill_2d(dst, pitch, value, width, height, NULL, true);
}

HIP_PUBLIC(hipMemset2DAsync, (void *dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream),
	   (dst, pitch, value, width, height, stream))
{
	return fill_2d(dst, pitch, value, width, height, stream, false);
}

static hipError_t fill_3d(const hipPitchedPtr *dst, int value, const hipExtent *extent, hipStream_t stream,
			  bool wait)
{
	struct hip_fill f = {dst->ptr, dst->pitch,    extent->width, extent->height,
			     0,        extent->depth, value & 0xff,  1};

	if (extent->width > dst->pitch || extent->height > dst->ysize ||
	    __builtin_mul_overflow(dst->pitch, dst->ysize, &f.slice_B))
		return hipErrorInvalidValue;
	return fill_run(&f, stream, wait);
}

HIP_PUBLIC(hipMemset3D, (hipPitchedPtr dst, int value, hipExtent extent), (dst, value, extent))
{
	return fill_3d(&dst, value, &extent, NULL, true);
}

HIP_PUBLIC(hipMemset3DAsync, (hipPitchedPtr dst, int value, hipExtent extent, hipStream_t stream),
	   (dst, value, extent, stream))
{
	return fill_3d(&dst, value, &extent, stream, false);
}

/* --- two dimensions of values (HIP 7) ----------------------------------------------------------- */

#if TUFF_HIP_ABI >= 7
/* width: in values. */
static hipError_t fill_values_2d(void *dst, size_t pitch_B, uint32_t value, unsigned value_B, size_t width,
				 size_t height, hipStream_t stream, bool wait)
{
	struct hip_fill f = {dst, pitch_B, 0, height, 0, 1, value, value_B};

	if (!dst || __builtin_mul_overflow(width, value_B, &f.row_B) || f.row_B > pitch_B)
		return hipErrorInvalidValue;
	return fill_run(&f, stream, wait);
}

#define MEMSET_2D(name, type)                                                                                      \
	HIP_PUBLIC(name, (hipDeviceptr_t dst, size_t pitch, type value, size_t width, size_t height),              \
		   (dst, pitch, value, width, height))                                                             \
	{                                                                                                          \
		return fill_values_2d(dst, pitch, value, sizeof(type), width, height, NULL, true);                 \
	}                                                                                                          \
	HIP_PUBLIC(                                                                                                \
		name##Async,                                                                                       \
		(hipDeviceptr_t dst, size_t pitch, type value, size_t width, size_t height, hipStream_t stream),   \
		(dst, pitch, value, width, height, stream))                                                        \
	{                                                                                                          \
		return fill_values_2d(dst, pitch, value, sizeof(type), width, height, stream, false);              \
	}
MEMSET_2D(hipMemsetD2D8, unsigned char)
MEMSET_2D(hipMemsetD2D16, unsigned short)
MEMSET_2D(hipMemsetD2D32, unsigned int)
#endif
