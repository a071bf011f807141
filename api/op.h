/* Operations: what a stream is given, as data. A call puts one into a stream at once; a capture keeps it for a
 * graph, which puts it whenever it is launched.
 *
 * Addresses are the program's. hip_op_put() looks up what they belong to, so that a kept operation may outlive what
 * it names: then it fails. */
#ifndef API_OP_H
#define API_OP_H

#include "api/internal.h"

struct hip_blit;

enum hip_op_kind {
	HIP_OP_NOTHING,
	HIP_OP_LAUNCH,
	HIP_OP_COPY,
	HIP_OP_BOX,
	HIP_OP_FILL,
	HIP_OP_HOST,
	HIP_OP_VALUES,
};

struct hip_copy {
	void *dst;
	const void *src;
	size_t size_B;
	hipMemcpyKind kind;
};

/* Rows at a distance, in slices at a distance, filled with one value of 1, 2 or 4 bytes. */
struct hip_fill {
	char *dst;
	size_t pitch_B, row_B, rows, slice_B, slices;
	uint32_t value;
	unsigned value_B;
};

/* One of the three functions. */
struct hip_host {
	hipHostFn_t fn;
	hipStreamCallback_t callback;
	hipStream_t handle; /* for the callback */
	/* The library's own, which is called in any case. dropped: the stream has ended before its turn, and only
	 * memory is to be freed. */
	void (*own)(void *data, hipError_t error, bool dropped);
	void *data;
};

/* Values written and waited for, one after the other. */
#define HIP_VALUES_MAX 256 /* CUDA's limit, and CLR's */
struct hip_values {
	const hipStreamBatchMemOpParams *list; /* of kept ones: the keeper's */
	unsigned count;
	hipCtx_t context; /* as it was given, for who asks */
};

struct hip_op {
	enum hip_op_kind kind;
	union {
		struct hip_launch launch; /* kept ones: packed arguments, which belong to the keeper */
		struct hip_copy copy;
		struct hip_box box;
		struct hip_fill fill;
		struct hip_host host;
		struct hip_values values;
	};
};

/* What can be wrong with it without regard to a stream. */
hipError_t hip_op_check(const struct hip_op *op);
/* Between hip_stream_begin() and hip_stream_done(). The operation was checked. */
hipError_t hip_op_put(struct hip_stream *stream, const struct hip_op *op);
/* With both; the stream does not capture. */
hipError_t hip_op_give(struct hip_stream *stream, const struct hip_op *op);
/* All at once, for a call that gives one operation. */
hipError_t hip_op_run(hipStream_t stream, const struct hip_op *op);

/* Of each kind: */
hipError_t hip_launch_check(const struct hip_launch *launch);
hipError_t hip_launch_put(struct hip_stream *stream, const struct hip_launch *launch);
/* The packet's header and setup. */
#define HIP_LAUNCH_HEADER                                                                                          \
	((uint32_t)HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1u << HSA_PACKET_HEADER_BARRIER |   \
	 HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                                        \
	 HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE |                                        \
	 3u << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS << 16)
/* As hip_tool_watch(), of a kernel. */
hsa_signal_t hip_launch_watch(struct hip_stream *stream, const struct hip_launch *launch);
/* A packet with that header and setup, and its arguments, kernel->cs->kernarg_B bytes. */
void hip_launch_prepare(const struct hip_launch *launch, uint32_t header_and_setup,
			hsa_kernel_dispatch_packet_t *packet, char *args);
/* Packed arguments of a list HIP_LAUNCH_PARAM_*. */
hipError_t hip_launch_extra(void **extra, struct hip_launch *launch);
/* The explicit arguments as the kernel lays them out; room for launch->kernel->cs->explicit_B bytes. */
void hip_launch_pack(const struct hip_launch *launch, char *to);
/* It can be a program's: x86-64's user space ends at 2^47. */
static inline bool hip_is_user_range(const void *at, size_t size_B)
{
	return (uintptr_t)at < 1ull << 47 && size_B <= (1ull << 47) - (uintptr_t)at;
}
/* As CLR: to launches a stream that is none is a wrong value. */
static inline hipError_t hip_launch_stream(hipStream_t handle, struct hip_stream **stream)
{
	hipError_t r = hip_stream_of(handle, stream);

	return r == hipErrorContextIsDestroyed ? hipErrorInvalidValue : r;
}
/* A kernel that is asked about. As CLR: what is none is an invalid symbol then, unless it is NULL. */
static inline hipError_t hip_kernel_query(const void *function, struct hip_device *device,
					  const struct hip_kernel **kernel)
{
	hipError_t r = hip_kernel_of(function, device, kernel);

	return function && r == hipErrorInvalidDeviceFunction ? hipErrorInvalidSymbol : r;
}
static inline bool hip_is_kind(hipMemcpyKind kind)
{
	return (unsigned)kind <= hipMemcpyDefault || kind == hipMemcpyDeviceToDeviceNoCU;
}
static inline bool hip_is_on_device(hipMemcpyKind kind)
{
	return kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDeviceToDeviceNoCU;
}
hipError_t hip_copy_check(const struct hip_copy *copy);
hipError_t hip_copy_put(struct hip_stream *stream, const struct hip_copy *copy);
hipError_t hip_box_of_3d(const hipMemcpy3DParms *p, struct hip_box *box);
/* By the host's thread, when the stream gets there; the addresses are looked up. */
hipError_t hip_box_put_by_host(struct hip_stream *stream, const struct hip_box *box);
/* As hip_op_put(), but pageable memory may go when the copy has ended (copy_rect.c). */
hipError_t hip_box_put_later(struct hip_stream *stream, const struct hip_box *box);
hipError_t hip_box_check(const struct hip_box *box);
hipError_t hip_box_put(struct hip_stream *stream, const struct hip_box *box);
/* Where a copy of a variable goes to or comes from. */
hipError_t hip_symbol_place(const void *symbol, size_t size_B, size_t offset_B, char **place);
hipError_t hip_fill_check(const struct hip_fill *fill);
hipError_t hip_fill_put(struct hip_stream *stream, const struct hip_fill *fill);
hipError_t hip_fill_blit(const struct hip_fill *fill, struct hip_blit *blit);
/* At an error host->own is not called. */
hipError_t hip_host_put(struct hip_stream *stream, const struct hip_host *host);
hipError_t hip_values_check(const struct hip_values *values);
/* The operation as a blit (blit.h), with addresses looked up. NotSupported: it is none, kernels do not do it, or
 * there is nothing to do; of fills InvalidValue: there is no such memory. */
hipError_t hip_op_blit(const struct hip_op *op, struct hip_blit *blit);
hipError_t hip_copy_blit(const struct hip_copy *copy, struct hip_blit *blit);
hipError_t hip_box_blit(const struct hip_box *box, struct hip_blit *blit);
hipError_t hip_values_put(struct hip_stream *stream, const struct hip_values *values);

#endif
