#include "api/capture.h"

hipError_t hip_op_check(const struct hip_op *op)
{
	switch (op->kind) {
	case HIP_OP_LAUNCH:
		return hip_launch_check(&op->launch);
	case HIP_OP_COPY:
		return hip_copy_check(&op->copy);
	case HIP_OP_BOX:
		return hip_box_check(&op->box);
	case HIP_OP_FILL:
		return hip_fill_check(&op->fill);
	case HIP_OP_VALUES:
		return hip_values_check(&op->values);
	case HIP_OP_HOST:
	case HIP_OP_NOTHING:
		break;
	}
	return hipSuccess;
}

hipError_t hip_op_put(struct hip_stream *s, const struct hip_op *op)
{
	switch (op->kind) {
	case HIP_OP_LAUNCH:
		return hip_launch_put(s, &op->launch);
	case HIP_OP_COPY:
		return hip_copy_put(s, &op->copy);
	case HIP_OP_BOX:
		return hip_box_put(s, &op->box);
	case HIP_OP_FILL:
		return hip_fill_put(s, &op->fill);
	case HIP_OP_HOST:
		return hip_host_put(s, &op->host);
	case HIP_OP_VALUES:
		return hip_values_put(s, &op->values);
	case HIP_OP_NOTHING:
		break;
	}
	return hipSuccess;
}

hipError_t hip_op_blit(const struct hip_op *op, struct hip_blit *blit)
{
	switch (op->kind) {
	case HIP_OP_COPY:
		return hip_copy_blit(&op->copy, blit);
	case HIP_OP_BOX:
		return hip_box_blit(&op->box, blit);
	case HIP_OP_FILL:
		return hip_fill_blit(&op->fill, blit);
	default:
		return hipErrorNotSupported;
	}
}

hipError_t hip_op_give(struct hip_stream *s, const struct hip_op *op)
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
	return hip_stream_captures(s) ? hip_capture_op(s, op) : hip_op_give(s, op);
}
