#include "api/exec/blit.h"
#include "api/stream/capture.h"

hipError_t hip_op_check(const struct hip_op *op)
{
	return op->kind && op->kind->check ? op->kind->check(op) : hipSuccess;
}

hipError_t hip_op_put(struct hip_stream *s, const struct hip_op *op)
{
	return op->kind ? op->kind->put(s, op) : hipSuccess;
}

hipError_t hip_op_blit(const struct hip_op *op, struct hip_blit *blit)
{
	return op->kind && op->kind->blit ? op->kind->blit(op, blit) : hipErrorNotSupported;
}

struct hip_device *hip_op_device(const struct hip_op *op)
{
	return op->kind && op->kind->device ? op->kind->device(op) : NULL;
}

hipError_t hip_op_submit(struct hip_stream *s, const struct hip_op *op)
{
	hipError_t r = hip_stream_begin(s);

	if (r)
		return r;
	r = hip_op_put(s, op);
	hip_stream_done(s);
	return r;
}

hipError_t hip_op_run(hipStream_t handle, const struct hip_op *op)
{
	struct hip_stream *s;
	hipError_t r = hip_op_check(op);

	if (!r)
		r = hip_stream_of(handle, &s);
	if (r)
		return r;
	return hip_stream_captures(s) ? atomic_load(&hip_capture_ops)->op(s, op) : hip_op_submit(s, op);
}
