/* Linear copies. */
#include <string.h>

#include "api/exec/blit.h"
#include "api/stream/capture.h"
#include "api/stream/point.h"
#include "api/stream/serial.h"

/* A side of a copy. */
struct end {
	const char *address; /* GPU address; of pageable memory the host's */
	bool pageable;       /* no GPU can access it */
	bool sync;           /* hip_memory.sync */
	bool closed;         /* kernels cannot access it: hip_memory_is_closed() */
	struct hip_device *owner;
};

/* Resolves an address. False: the range begins in an allocation and ends outside. */
static bool find_end(const void *address, size_t size_B, struct end *end)
{
	struct hip_memory memory;
	size_t at;

	if (!hip_memory_find(address, &memory)) {
		*end = (struct end){.address = address, .pageable = true};
		return hip_is_user_range(address, size_B);
	}
	at = (uintptr_t)address - memory.node.lo;
	end->address = memory.gpu_base + at;
	end->pageable = false;
	end->sync = memory.sync;
	end->closed = hip_memory_is_closed(&memory, address, size_B);
	end->owner = hip_memory_owner(&memory);
	return hip_memory_covers(&memory, address, size_B);
}

static enum hip_tool_kind tool_kind(const struct end *dst, const struct end *src)
{
	return !dst->owner ? HIP_TOOL_TO_HOST : !src->owner ? HIP_TOOL_FROM_HOST : HIP_TOOL_ON_DEVICE;
}

static struct hip_tool_work work_of(const struct end *dst, const struct end *src, size_t size_B)
{
	return (struct hip_tool_work){.op = HIP_TOOL_COPY, .kind = tool_kind(dst, src), .bytes = size_B};
}

static hipError_t put_by_engine(struct hip_stream *s, const struct end *dst, const struct end *src, size_t size_B)
{
	const struct hip_tool_work work = work_of(dst, src, size_B);
	const struct rt_copy copy = {
		.dst = (uintptr_t)dst->address,
		.src = (uintptr_t)src->address,
		.size_B = size_B,
		.completion = hip_tool_watch(s, &work),
	};
	hipError_t r = hip_stream_result(s, hip.hsa->copy(s->flow, &copy));

	if (r)
		hip_tool_forget(copy.completion);
	return r;
}

/* Makes a blit of the copy. False: kernels cannot do it. */
static bool blit_of(const struct end *dst, const struct end *src, size_t size_B, hipMemcpyKind kind,
		    struct hip_blit *blit)
{
	*blit = (struct hip_blit){
		.dst = (uintptr_t)dst->address,
		.src = (uintptr_t)src->address,
		.row_B = size_B,
		.rows = 1,
		.slices = 1,
		.kind = tool_kind(dst, src),
	};
	return kind != hipMemcpyDeviceToDeviceNoCU && !dst->closed && !src->closed &&
	       hip_blit_takes(blit, dst->owner, src->owner);
}

static hipError_t ends_put(struct hip_stream *s, const struct end *dst, const struct end *src, size_t size_B,
			   hipMemcpyKind kind)
{
	struct hip_blit blit;

	if (!blit_of(dst, src, size_B, kind, &blit) || (blit.device && blit.device != s->device))
		return put_by_engine(s, dst, src, size_B);
	return hip_blit_put(s, &blit);
}

static hipError_t copy_blit(const struct hip_copy *c, struct hip_blit *blit)
{
	struct end to, from;
	bool found = c->size_B && find_end(c->dst, c->size_B, &to) && find_end(c->src, c->size_B, &from);

	if (!found || to.pageable || from.pageable || to.address == from.address)
		return hipErrorNotSupported;
	return blit_of(&to, &from, c->size_B, c->kind, blit) ? hipSuccess : hipErrorNotSupported;
}

/* Overlapping ranges: undefined in CUDA and HIP. */
static bool ends_overlap(const struct end *a, const struct end *b, size_t size_B)
{
	uintptr_t distance_B = (uintptr_t)(a->address - b->address);

	return !a->pageable && !b->pageable && distance_B && (distance_B < size_B || -distance_B < size_B);
}

/* Resolves and checks both sides. A copy of no bytes resolves nothing. */
static hipError_t find_ends(const struct hip_copy *c, struct end *to, struct end *from)
{
	if (c->size_B && (!c->dst || !c->src))
		return hipErrorInvalidValue;
	if (!hip_is_kind(c->kind))
		return hipErrorInvalidMemcpyDirection;
	if (!c->size_B)
		return hipSuccess;
	if (!find_end(c->dst, c->size_B, to) || !find_end(c->src, c->size_B, from))
		return hipErrorInvalidValue;
	/* A direction that names a device, without device memory: an error in CLR, too. */
	if (to->pageable && from->pageable && c->kind != hipMemcpyHostToHost && c->kind != hipMemcpyDefault)
		return hipErrorInvalidValue;
	return ends_overlap(to, from, c->size_B) ? hipErrorInvalidValue : hipSuccess;
}

hipError_t hip_copy_check(const struct hip_copy *c)
{
	struct end to, from;

	return find_ends(c, &to, &from);
}

static hipError_t copy_put(struct hip_stream *s, const struct hip_copy *c)
{
	struct end to, from;

	if (!c->size_B)
		return hipSuccess;
	if (!find_end(c->dst, c->size_B, &to) || !find_end(c->src, c->size_B, &from))
		return hipErrorInvalidValue;
	if ((to.pageable && c->dst_ours) || (from.pageable && c->src_ours))
		return hipErrorInvalidValue;
	/* Only graphs submit copies of pageable memory here: calls copy it themselves. */
	if (to.pageable || from.pageable)
		return hip_box_put_by_host(s, &(struct hip_box){.dst = {(char *)(uintptr_t)to.address, 0, 0},
								.src = {(char *)(uintptr_t)from.address, 0, 0},
								.width_B = c->size_B,
								.height = 1,
								.depth = 1});
	return to.address == from.address ? hipSuccess : ends_put(s, &to, &from, c->size_B, c->kind);
}

static hipError_t check_op(const struct hip_op *op)
{
	return hip_copy_check(&op->copy);
}

static hipError_t put_op(struct hip_stream *s, const struct hip_op *op)
{
	return copy_put(s, &op->copy);
}

static hipError_t blit_op(const struct hip_op *op, struct hip_blit *blit)
{
	return copy_blit(&op->copy, blit);
}

const struct hip_op_kind hip_op_copy = {hipGraphNodeTypeMemcpy, check_op, put_op, blit_op};

/* Copies pageable memory. The program may change it when the call returns, so the host waits for the stream and
 * copies. */
static hipError_t copy_waiting(struct hip_stream *s, const struct end *dst, const struct end *src, size_t size_B)
{
	const struct hip_tool_work work = work_of(dst, src, size_B);
	hipError_t r = hip_stream_begin(s);
	uint64_t begin_ns;

	if (r)
		return r;
	hip_stream_done(s);
	r = hip_stream_wait(s);
	if (r)
		return r;
	begin_ns = hip_tool_host_begin(HIP_TOOL_COPY);
	r = hip_of_hsa(hsa_memory_copy((void *)(uintptr_t)dst->address, src->address, size_B));
	hip_tool_host_end(begin_ns, s->device, &work);
	return r;
}

/* Copies a small range through a staging buffer, without a wait. */
static hipError_t copy_staged(struct hip_stream *s, const struct end *dst, const struct end *src, size_t size_B)
{
	hipError_t r = hip_stream_begin(s);
	char *stage;

	if (r)
		return r;
	stage = hip_stream_stage(s, size_B);
	if (stage)
		memcpy(stage, src->address, size_B);
	r = stage ? ends_put(s, dst, &(struct end){.address = stage}, size_B, hipMemcpyHostToDevice)
		  : hipErrorOutOfMemory;
	hip_stream_done(s);
	return r;
}

/* Copies memory that GPUs can access. A copy onto itself does nothing: DMA engines refuse overlapping ranges. */
static hipError_t copy_reached(struct hip_stream *s, const struct end *to, const struct end *from, size_t size_B,
			       hipMemcpyKind kind)
{
	hipError_t r = hip_stream_begin(s);

	if (r)
		return r;
	if (to->address != from->address)
		r = ends_put(s, to, from, size_B, kind);
	hip_stream_done(s);
	return r;
}

/* Copies between checked sides. */
static hipError_t copy_ends(struct hip_stream *s, const struct end *to, const struct end *from,
			    const struct hip_copy *c, bool wait)
{
	hipError_t r;

	if (!wait && !to->pageable && from->pageable && c->size_B <= HIP_STAGE_MAX_B)
		return copy_staged(s, to, from, c->size_B);
	if (to->pageable || from->pageable)
		return copy_waiting(s, to, from, c->size_B);
	r = copy_reached(s, to, from, c->size_B, c->kind);
	/* Between two places of one device the stream's order is enough; two devices share no stream. */
	if (r || !wait || (to->owner && to->owner == from->owner && !to->sync && !from->sync))
		return r;
	return hip_stream_wait(s);
}

static hipError_t copy_run(void *dst, const void *src, size_t size_B, hipMemcpyKind kind, hipStream_t handle,
			   bool wait)
{
	const struct hip_op op = {.kind = &hip_op_copy, .copy = {dst, src, size_B, kind}};
	struct end to, from;
	struct hip_stream *s, *there;
	hipError_t r = hip_capture_refuses_wait(wait);

	if (r)
		return r;
	/* CLR's order of checks: an asynchronous copy checks the kind first, even without bytes. */
	if (!wait && !hip_is_kind(kind))
		return hipErrorInvalidMemcpyDirection;
	r = hip_stream_of(handle, &s);
	if (r || !size_B)
		return r;
	r = find_ends(&op.copy, &to, &from);
	if (r)
		return r;
	if (hip_stream_captures(s))
		return wait ? hip_capture_lost(s, hipErrorStreamCaptureUnsupported)
			    : atomic_load(&hip_capture_ops)->op(s, &op);
	r = hip_stream_redirect(s, hip_only_owner(to.owner, from.owner), &there);
	if (!r)
		r = hip_serial_before(there, HIP_SERIAL_COPY);
	if (!r)
		r = copy_ends(there, &to, &from, &op.copy, wait);
	if (!r)
		r = hip_serial_after(there, HIP_SERIAL_COPY);
	return r ? r : hip_stream_return(s, there);
}

HIP_PUBLIC(hipMemcpy, (void *dst, const void *src, size_t size, hipMemcpyKind kind), (dst, src, size, kind))
{
	return copy_run(dst, src, size, kind, NULL, true);
}

HIP_PUBLIC(hipMemcpyAsync, (void *dst, const void *src, size_t size, hipMemcpyKind kind, hipStream_t stream),
	   (dst, src, size, kind, stream))
{
	return copy_run(dst, src, size, kind, stream, false);
}

HIP_PUBLIC(hipMemcpyWithStream, (void *dst, const void *src, size_t size, hipMemcpyKind kind, hipStream_t stream),
	   (dst, src, size, kind, stream))
{
	struct hip_stream *s;
	bool captures;
	hipError_t r;

	captures = !hip_stream_of(stream, &s) && hip_stream_captures(s);
	if (TUFF_HIP_ABI >= 7) {
		r = captures ? hip_capture_lost(s, hipErrorStreamCaptureUnsupported)
			     : hip_capture_refuses(hipErrorStreamCaptureUnsupported);
		if (r)
			return r;
	}
	/* CLR's rule before HIP 7: a stream that captures gets a node, and the call does not wait. */
	r = copy_run(dst, src, size, kind, stream, TUFF_HIP_ABI < 7 && !captures);
	if (!r && size && !captures) {
		r = hip_stream_of(stream, &s);
		r = r ? r : hip_stream_wait(s);
	}
	return r;
}

#define COPY(name, dst_type, src_type, kind)                                                                       \
	HIP_PUBLIC(hipMemcpy##name, (dst_type dst, src_type src, size_t size), (dst, src, size))                   \
	{                                                                                                          \
		return copy_run(dst, src, size, kind, NULL, true);                                                 \
	}                                                                                                          \
	HIP_PUBLIC(hipMemcpy##name##Async, (dst_type dst, src_type src, size_t size, hipStream_t stream),          \
		   (dst, src, size, stream))                                                                       \
	{                                                                                                          \
		return copy_run(dst, src, size, kind, stream, false);                                              \
	}
COPY(HtoD, hipDeviceptr_t, void *, hipMemcpyHostToDevice)
COPY(DtoH, void *, hipDeviceptr_t, hipMemcpyDeviceToHost)
COPY(DtoD, hipDeviceptr_t, hipDeviceptr_t, hipMemcpyDeviceToDevice)

static bool are_devices(int a, int b)
{
	return hip_device_of(a) && hip_device_of(b);
}

HIP_PUBLIC(hipMemcpyPeer, (void *dst, int dst_device, const void *src, int src_device, size_t size),
	   (dst, dst_device, src, src_device, size))
{
	hipError_t r;

	if (!are_devices(dst_device, src_device))
		return hipErrorInvalidDevice;
	/* The copy comes after the work of both devices. */
	r = hip_device_wait(hip_device_of(dst_device));
	if (!r)
		r = hip_device_wait(hip_device_of(src_device));
	return r ? r : copy_run(dst, src, size, hipMemcpyDeviceToDevice, NULL, true);
}

HIP_PUBLIC(hipMemcpyPeerAsync,
	   (void *dst, int dst_device, const void *src, int src_device, size_t size, hipStream_t stream),
	   (dst, dst_device, src, src_device, size, stream))
{
	if (!are_devices(dst_device, src_device))
		return hipErrorInvalidDevice;
	return copy_run(dst, src, size, hipMemcpyDeviceToDevice, stream, false);
}

/* --- variables -------------------------------------------------------------------------------- */

hipError_t hip_symbol_place(const void *symbol, size_t size_B, size_t offset_B, char **place)
{
	void *base;
	size_t whole_B;
	hipError_t r = hip_variable_of(symbol, hip_current(), &base, &whole_B);

	if (r)
		return r;
	if (offset_B > whole_B || size_B > whole_B - offset_B)
		return hipErrorInvalidValue;
	*place = (char *)base + offset_B;
	return hipSuccess;
}

/* The kind must name the direction: CLR's rule. */
static hipError_t to_symbol(const void *symbol, const void *src, size_t size_B, size_t offset_B, hipMemcpyKind kind,
			    hipStream_t stream, bool wait)
{
	char *place;
	hipError_t r;

	if (kind != hipMemcpyHostToDevice && !hip_is_on_device(kind))
		return hipErrorInvalidMemcpyDirection;
	r = hip_symbol_place(symbol, size_B, offset_B, &place);
	return r ? r : copy_run(place, src, size_B, kind, stream, wait);
}

static hipError_t from_symbol(void *dst, const void *symbol, size_t size_B, size_t offset_B, hipMemcpyKind kind,
			      hipStream_t stream, bool wait)
{
	char *place;
	hipError_t r;

	if (kind != hipMemcpyDeviceToHost && !hip_is_on_device(kind))
		return hipErrorInvalidMemcpyDirection;
	r = hip_symbol_place(symbol, size_B, offset_B, &place);
	return r ? r : copy_run(dst, place, size_B, kind, stream, wait);
}

HIP_PUBLIC(hipMemcpyToSymbol, (const void *symbol, const void *src, size_t size, size_t offset, hipMemcpyKind kind),
	   (symbol, src, size, offset, kind))
{
	return to_symbol(symbol, src, size, offset, kind, NULL, true);
}

HIP_PUBLIC(hipMemcpyToSymbolAsync,
	   (const void *symbol, const void *src, size_t size, size_t offset, hipMemcpyKind kind,
	    hipStream_t stream),
	   (symbol, src, size, offset, kind, stream))
{
	return to_symbol(symbol, src, size, offset, kind, stream, false);
}

HIP_PUBLIC(hipMemcpyFromSymbol, (void *dst, const void *symbol, size_t size, size_t offset, hipMemcpyKind kind),
	   (dst, symbol, size, offset, kind))
{
	return from_symbol(dst, symbol, size, offset, kind, NULL, true);
}

HIP_PUBLIC(hipMemcpyFromSymbolAsync,
	   (void *dst, const void *symbol, size_t size, size_t offset, hipMemcpyKind kind, hipStream_t stream),
	   (dst, symbol, size, offset, kind, stream))
{
	return from_symbol(dst, symbol, size, offset, kind, stream, false);
}

static hipError_t symbol_info(const void *symbol, void **address, size_t *size_B)
{
	void *base;
	size_t whole_B;
	hipError_t r;

	if (!address && !size_B)
		return hipErrorInvalidValue;
	r = hip_variable_of(symbol, hip_current(), &base, &whole_B);
	if (!r && address)
		*address = base;
	if (!r && size_B)
		*size_B = whole_B;
	return r;
}

HIP_PUBLIC(hipGetSymbolAddress, (void **address, const void *symbol), (address, symbol))
{
	return symbol_info(symbol, address, NULL);
}

HIP_PUBLIC(hipGetSymbolSize, (size_t *size, const void *symbol), (size, symbol))
{
	return symbol_info(symbol, NULL, size);
}
