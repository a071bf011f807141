/* Stream memory operations. A wait is an operation of the stream's flow, which the CPU passes when memory holds the
 * value (flow/flow.h). A waiting kernel, as in AMD's library, was rejected: it would occupy a ring that other
 * streams need, and the watchdog would end it. The same holds for a packet with which the GPU waits. The cost of
 * this design: the CPU must be able to read the memory, and sees a GPU's write only when it polls. A write is a
 * kernel, after a release at system scope. */
#include "api/exec/op.h"
#include "api/exec/value.h"
#include "api/module/built_in.h"
#include "api/stream/capture.h"

static const enum flow_condition conditions[] = {
	[hipStreamWaitValueGte] = FLOW_GTE,
	[hipStreamWaitValueEq] = FLOW_EQ,
	[hipStreamWaitValueAnd] = FLOW_ANY,
	[hipStreamWaitValueNor] = FLOW_NOT_ALL,
};

/* Finds the CPU's address of memory at a GPU address. Registered memory is at two GPU addresses: HSA's, and the CPU's. */
static hipError_t place_for_cpu(struct hip_value *v)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	const char *host;

	if (hsa_amd_pointer_info(v->address, &info, NULL, NULL, NULL) || !info.hostBaseAddress)
		return hipErrorNotSupported;
	host = info.hostBaseAddress;
	if ((uintptr_t)v->address - (uintptr_t)host < info.sizeInBytes)
		v->cpu = v->address;
	else
		v->cpu = host + (v->address - (const char *)info.agentBaseAddress);
	return hipSuccess;
}

/* Translates the program's address to the GPU's. Waits need memory that the CPU can read, writes memory that kernels can
 * write. */
static hipError_t value_resolve(struct hip_value *v)
{
	struct hip_memory memory;

	if (!v->address || (uintptr_t)v->address % v->size_B || !hip_memory_find(v->address, &memory) ||
	    memory.size_B - ((uintptr_t)v->address - memory.node.lo) < v->size_B)
		return hipErrorInvalidValue;
	if (v->wait ? v->flags > hipStreamWaitValueNor : hip_memory_is_closed(&memory, v->address, v->size_B))
		return hipErrorInvalidValue;
	v->address = memory.gpu_base + ((uintptr_t)v->address - memory.node.lo);
	return v->wait ? place_for_cpu(v) : hipSuccess;
}

static hipError_t put_wait(struct hip_stream *s, const struct hip_value *v)
{
	const struct flow_value value = {
		.at = v->cpu,
		.size_B = v->size_B,
		.condition = conditions[v->flags],
		.value = v->value,
		.mask = v->mask,
		.process = (uint32_t)v->process,
	};

	return hip_stream_submit(s, &(struct flow_op){.kind = FLOW_VALUE, .value = value});
}

static hipError_t put_write(struct hip_stream *s, const struct hip_value *v)
{
	enum hip_built_in which = v->size_B == 8 ? HIP_BUILT_IN_WRITE8 : HIP_BUILT_IN_WRITE4;
	const uint64_t args[] = {(uintptr_t)v->address, v->value};
	struct hip_launch l = {.blocks = {1, 1, 1}, .threads = {1, 1, 1}, .packed = args, .packed_B = sizeof(args)};
	hipError_t r = hip_built_in(s->device, which, &l.kernel);

	if (!r)
		r = hip_stream_submit(s, &(struct flow_op){.kind = FLOW_BARRIER, .header = HIP_BARRIER_HEADER});
	return r ? r : hip_launch_put(s, &l);
}

hipError_t hip_value_put(struct hip_stream *s, const struct hip_value *v)
{
	return v->wait ? put_wait(s, v) : put_write(s, v);
}

/* Submits all values, or none if one is wrong. */
static hipError_t values_run(hipStream_t handle, struct hip_value *values, unsigned count)
{
	struct hip_stream *s;
	hipError_t r = values->address ? hip_stream_of(handle, &s) : hipErrorInvalidValue;

	for (unsigned i = 0; i < count && !r; i++)
		r = value_resolve(&values[i]);
	if (!r && hip_stream_captures(s))
		return hip_capture_lost(s, hipErrorStreamCaptureUnsupported);
	if (!r)
		r = hip_stream_begin(s);
	if (r)
		return r;
	for (unsigned i = 0; i < count && !r; i++)
		r = hip_value_put(s, &values[i]);
	hip_stream_done(s);
	return r;
}

HIP_PUBLIC(hipStreamWaitValue32, (hipStream_t stream, void *ptr, uint32_t value, unsigned int flags, uint32_t mask),
	   (stream, ptr, value, flags, mask))
{
	struct hip_value v = {ptr, value, mask, 4, flags, true};

	return values_run(stream, &v, 1);
}

HIP_PUBLIC(hipStreamWaitValue64, (hipStream_t stream, void *ptr, uint64_t value, unsigned int flags, uint64_t mask),
	   (stream, ptr, value, flags, mask))
{
	struct hip_value v = {ptr, value, mask, 8, flags, true};

	return values_run(stream, &v, 1);
}

/* Ignores the flags: CLR does. */
HIP_PUBLIC(hipStreamWriteValue32, (hipStream_t stream, void *ptr, uint32_t value, unsigned int flags),
	   (stream, ptr, value, flags))
{
	struct hip_value v = {ptr, value, 0, 4, flags, false};

	return values_run(stream, &v, 1);
}

HIP_PUBLIC(hipStreamWriteValue64, (hipStream_t stream, void *ptr, uint64_t value, unsigned int flags),
	   (stream, ptr, value, flags))
{
	struct hip_value v = {ptr, value, 0, 8, flags, false};

	return values_run(stream, &v, 1);
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Barriers and flushes are refused: CLR refuses them, too. */
static hipError_t value_of(const hipStreamBatchMemOpParams *p, struct hip_value *v)
{
	switch (p->operation) {
	case hipStreamMemOpWaitValue32:
		*v = (struct hip_value){
			p->waitValue.address, p->waitValue.value, UINT32_MAX, 4, p->waitValue.flags, true};
		return hipSuccess;
	case hipStreamMemOpWaitValue64:
		*v = (struct hip_value){
			p->waitValue.address, p->waitValue.value64, UINT64_MAX, 8, p->waitValue.flags, true};
		return hipSuccess;
	case hipStreamMemOpWriteValue32:
		*v = (struct hip_value){p->writeValue.address, p->writeValue.value, 0, 4, 0, false};
		return hipSuccess;
	case hipStreamMemOpWriteValue64:
		*v = (struct hip_value){p->writeValue.address, p->writeValue.value64, 0, 8, 0, false};
		return hipSuccess;
	default:
		return hipErrorInvalidValue;
	}
}

/* Converts the parameters, with resolved addresses. */
static hipError_t placed_value(const hipStreamBatchMemOpParams *p, struct hip_value *v)
{
	hipError_t r = value_of(p, v);

	return r ? r : value_resolve(v);
}

static hipError_t values_check(const struct hip_values *values)
{
	hipError_t r = hipSuccess;
	struct hip_value v;

	if (!values->list || !values->count || values->count > HIP_VALUES_MAX)
		return hipErrorInvalidValue;
	for (unsigned i = 0; i < values->count && !r; i++)
		r = placed_value(&values->list[i], &v);
	return r;
}

/* Checked again: memory may have been freed since the values were stored. */
static hipError_t values_put(struct hip_stream *s, const struct hip_values *values)
{
	hipError_t r = hipSuccess;
	struct hip_value v;

	for (unsigned i = 0; i < values->count && !r; i++) {
		r = placed_value(&values->list[i], &v);
		r = r ? r : hip_value_put(s, &v);
	}
	return r;
}

static hipError_t check_op(const struct hip_op *op)
{
	return values_check(&op->values);
}

static hipError_t put_op(struct hip_stream *s, const struct hip_op *op)
{
	return values_put(s, &op->values);
}

#if TUFF_HIP_ABI == 5
#define NODE_TYPE hipGraphNodeTypeEmpty /* HIP 5 has no such node type */
#else
#define NODE_TYPE hipGraphNodeTypeBatchMemOp
#endif
const struct hip_op_kind hip_op_values = {NODE_TYPE, check_op, put_op, NULL};

static hipError_t values_batch(hipStream_t handle, const struct hip_values *values, unsigned flags)
{
#if TUFF_HIP_ABI == 5
	struct hip_stream *s;

	/* HIP 5 has no such node type. */
	if (!hip_stream_of(handle, &s) && hip_stream_captures(s))
		return hip_capture_lost(s, hipErrorStreamCaptureUnsupported);
#endif
	return flags ? hipErrorInvalidValue
		     : hip_op_run(handle, &(struct hip_op){.kind = &hip_op_values, .values = *values});
}

HIP_PUBLIC(hipStreamBatchMemOp,
	   (hipStream_t stream, unsigned int count, hipStreamBatchMemOpParams *list, unsigned int flags),
	   (stream, count, list, flags))
{
	return values_batch(stream, &(struct hip_values){list, count, NULL}, flags);
}
