/* Operations: what a stream is given, as data. A call puts one into a stream at once; a capture keeps it for a
 * graph, which puts it whenever it is launched.
 *
 * Addresses are the program's. hip_op_put() looks up what they belong to, so that a kept operation may outlive what
 * it names: then it fails. */
#ifndef API_OP_H
#define API_OP_H

#include "api/exec/copy.h"
#include "api/exec/launch.h"

struct hip_blit;

struct hip_op;

/* What an operation of one kind does. */
struct hip_op_kind {
	hipGraphNodeType node; /* of a graph */
	/* See hip_op_check(), hip_op_put(), hip_op_blit(); NULL: hipSuccess, and NotSupported. */
	hipError_t (*check)(const struct hip_op *op);
	hipError_t (*put)(struct hip_stream *stream, const struct hip_op *op);
	hipError_t (*blit)(const struct hip_op *op, struct hip_blit *blit);
};
extern DRV_OWN const struct hip_op_kind hip_op_launch, hip_op_copy, hip_op_box, hip_op_fill, hip_op_host,
	hip_op_values;

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
	const struct hip_op_kind *kind; /* NULL: nothing is done */
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

/* The operation as a blit (blit.h), with addresses looked up. NotSupported: it is none, kernels do not do it, or
 * there is nothing to do; of fills InvalidValue: there is no such memory. */
hipError_t hip_op_blit(const struct hip_op *op, struct hip_blit *blit);
hipError_t hip_fill_check(const struct hip_fill *fill);
/* How many functions of the program were called for streams of the device; *busy becomes true if one runs, or is
 * about to (host_call.c). */
uint64_t hip_hosts_called(struct hip_device *device, bool *busy);
/* At an error host->own is not called. */
hipError_t hip_host_put(struct hip_stream *stream, const struct hip_host *host);

#endif
