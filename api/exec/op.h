/* Operations of streams, as data.
 *
 *   hip_op       an operation: a kind, and the parameters of that kind; a value, whose pointers are borrowed
 *   hip_op_kind  the functions of a kind; constant
 *
 * A call submits an operation to a stream at once; a capture stores it in a graph, which submits it at each launch.
 * Addresses are the program's. hip_op_put() resolves them, so that a stored operation may outlive the memory that
 * it names: then it returns an error. Nothing here has a lock but the stream's.
 */
#ifndef API_OP_H
#define API_OP_H

#include "api/exec/copy.h"
#include "api/exec/launch.h"

struct hip_blit;

struct hip_op;

/* The functions of a kind of operation. */
struct hip_op_kind {
	hipGraphNodeType node; /* type of the graph node */
	/* See hip_op_check(), hip_op_put() and hip_op_blit(). check NULL: always hipSuccess; blit NULL: always
	 * NotSupported. */
	hipError_t (*check)(const struct hip_op *op);
	hipError_t (*put)(struct hip_stream *stream, const struct hip_op *op);
	hipError_t (*blit)(const struct hip_op *op, struct hip_blit *blit);
	/* See hip_op_device(). NULL: always NULL. */
	struct hip_device *(*device)(const struct hip_op *op);
};
extern DRV_OWN const struct hip_op_kind hip_op_launch, hip_op_copy, hip_op_box, hip_op_fill, hip_op_host,
	hip_op_values, hip_op_signal, hip_op_wait;

/* Rows in slices, each with a pitch, filled with one value of 1, 2 or 4 bytes. */
struct hip_fill {
	char *dst;
	size_t pitch_B, row_B, rows, slice_B, slices;
	uint32_t value;
	unsigned value_B;
};

/* A call of a host function; one of the three function pointers is set. */
struct hip_host {
	hipHostFn_t fn;
	hipStreamCallback_t callback;
	hipStream_t handle; /* the stream, for `callback` */
	/* A function of this library, which is called in any case. dropped: the stream has ended before the call's
	 * turn, and the function only frees memory. */
	void (*own)(void *data, hipError_t error, bool dropped);
	void *data;
};

/* Values to write and to wait for, in order. */
#define HIP_VALUES_MAX 256 /* CUDA's limit, and CLR's */
struct hip_values {
	const hipStreamBatchMemOpParams *list; /* borrowed; a stored operation's list belongs to its graph node */
	unsigned count;
	hipCtx_t context; /* the program's value, for queries */
};

/* Signals of external semaphores, or waits for them: one of the two lists of parameters is set, with a row for each semaphore. All
 * lists are borrowed; a stored operation's belong to its graph node. */
struct hip_semaphores {
	const hipExternalSemaphore_t *at;
	const hipExternalSemaphoreSignalParams *signal;
	const hipExternalSemaphoreWaitParams *wait;
	unsigned count;
};

struct hip_op {
	const struct hip_op_kind *kind; /* NULL: does nothing */
	union {
		struct hip_launch launch; /* a stored launch has packed arguments, which belong to its graph node */
		struct hip_copy copy;
		struct hip_box box;
		struct hip_fill fill;
		struct hip_host host;
		struct hip_values values;
		struct hip_semaphores semaphores;
	};
};

/* Checks everything that does not depend on a stream. */
hipError_t hip_op_check(const struct hip_op *op);
/* Submits a checked operation. Between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_op_put(struct hip_stream *stream, const struct hip_op *op);
/* Takes the stream's lock, submits and releases the lock. The stream does not capture. */
hipError_t hip_op_submit(struct hip_stream *stream, const struct hip_op *op);
/* The whole body of a public function: finds the stream, checks, and captures or submits. */
hipError_t hip_op_run(hipStream_t stream, const struct hip_op *op);

/* Makes a blit (blit.h) of the operation, with resolved addresses. Errors: NotSupported, when the operation is no
 * copy or fill, when kernels cannot do it, or when it is empty; for fills InvalidValue, when the memory does not
 * exist. */
hipError_t hip_op_blit(const struct hip_op *op, struct hip_blit *blit);
/* The device whose streams alone can do the operation, if it is no launch; NULL: any. */
struct hip_device *hip_op_device(const struct hip_op *op);
hipError_t hip_fill_check(const struct hip_fill *fill);
/* Returns how many host functions were called for the device's streams; sets *busy when one runs or is about to
 * (host_call.c). */
uint64_t hip_host_calls_count(struct hip_device *device, bool *busy);
/* Submits a call of a host function. After an error host->own is not called. */
hipError_t hip_host_put(struct hip_stream *stream, const struct hip_host *host);

#endif
