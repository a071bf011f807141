/* Host functions in streams: the stream stops, the device's host thread calls the function, and the stream
 * continues. The thread that advances the stream's flow only queues the call, so that a function that blocks delays
 * only later host functions. */
#include <stdlib.h>

#include "drv/lock.h"
#include "api/exec/op.h"
#include "api/stream/capture.h"

struct call {
	struct call *next;
	struct hip_stream *stream; /* a reference */
	bool dropped;              /* the stream has ended before the call's turn */
	struct hip_host host;
};

/* The host thread of each device, started for the first call. */
static struct caller {
	struct drv_mutex lock; /* guards the members below */
	pthread_cond_t some;
	bool started;
	struct call *first, **last; /* owned: calls to make, or dropped ones */
	unsigned ready;             /* number of those calls, the running one included */
	uint64_t ended;
} callers[HIP_DEVICES_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_callers(void)
{
	for (unsigned i = 0; i < HIP_DEVICES_MAX; i++) {
		drv_mutex_init(&callers[i].lock, DRV_RANK_HIP_CALLER);
		pthread_cond_init(&callers[i].some, NULL);
		callers[i].last = &callers[i].first;
	}
}

static struct call *call_take(struct caller *c)
{
	struct call *call;

	drv_mutex_lock(&c->lock);
	while (!c->first)
		drv_cond_wait(&c->some, &c->lock);
	call = c->first;
	c->first = call->next;
	if (!c->first)
		c->last = &c->first;
	drv_mutex_unlock(&c->lock);
	return call;
}

/* Ends a call. The stream holds a reference to its flow, which may be destroyed already. */
static void call_end(struct caller *c, struct call *call)
{
	if (!call->dropped)
		hip.hsa->call_ended(call->stream->flow);
	hip_stream_put(call->stream);
	free(call);
	drv_mutex_lock(&c->lock);
	c->ready--;
	c->ended++;
	drv_mutex_unlock(&c->lock);
}

static void call_make(const struct call *call)
{
	const struct hip_host *host = &call->host;
	hipError_t fault = hip_fault(call->stream->device);

	/* A dropped call may come after kernels that still run. */
	if (host->own && call->dropped)
		hip.hsa->retire(call->stream->device->agent);
	if (host->own)
		host->own(host->data, fault, call->dropped);
	else if (call->dropped)
		return;
	else if (host->callback)
		host->callback(host->handle, fault, host->data);
	else if (!fault && !atomic_load(&call->stream->ending))
		host->fn(host->data);
}

static void *caller_run(void *arg)
{
	DRV_HOLD_CANCEL;

	for (;;) {
		struct call *call = call_take(arg);

		hip_thread.in_host_function = true;
		call_make(call);
		hip_thread.in_host_function = false;
		call_end(arg, call);
	}
	return NULL;
}

uint64_t hip_host_calls_count(struct hip_device *device, bool *busy)
{
	struct caller *c = &callers[device->index];
	uint64_t ended;

	pthread_once(&once, init_callers);
	drv_mutex_lock(&c->lock);
	*busy |= c->ready;
	ended = c->ended;
	drv_mutex_unlock(&c->lock);
	return ended;
}

static hipError_t caller_start(struct caller *c)
{
	pthread_t thread;
	hipError_t r = hipSuccess;

	pthread_once(&once, init_callers);
	drv_mutex_lock(&c->lock);
	if (!c->started) {
		if (pthread_create(&thread, NULL, caller_run, c))
			r = hipErrorOutOfMemory;
		else
			pthread_detach(thread);
		c->started = !r;
	}
	drv_mutex_unlock(&c->lock);
	return r;
}

/* flow_call.fn: called with the flow's lock held. */
static void call_enqueue(struct flow *flow, void *user, bool dropped)
{
	struct call *call = user;
	struct caller *c = &callers[call->stream->device->index];

	(void)flow;
	call->dropped = dropped;
	drv_mutex_lock(&c->lock);
	*c->last = call;
	c->last = &call->next;
	c->ready++;
	pthread_cond_signal(&c->some);
	drv_mutex_unlock(&c->lock);
}

/* Submits the call. Once the flow has counted it, the flow ends it, even if the flow fails; the device returns the
 * error then. */
static hipError_t call_put(struct hip_stream *s, struct call *call)
{
	const uint64_t before = hip_stream_written(s);
	hipError_t r = hip_stream_submit(s, &(struct flow_op){.kind = FLOW_CALL, .call = {call_enqueue, call}});

	return hip_stream_written(s) == before ? r : hipSuccess;
}

hipError_t hip_host_put(struct hip_stream *s, const struct hip_host *host)
{
	struct call *call;
	hipError_t r = caller_start(&callers[s->device->index]);

	if (r)
		return r;
	call = malloc(sizeof(*call));
	if (!call)
		return hipErrorOutOfMemory;
	*call = (struct call){.stream = hip_stream_get(s), .host = *host};
	r = call_put(s, call);
	if (r) {
		hip_stream_put(s);
		free(call);
	}
	return r;
}

static hipError_t put_op(struct hip_stream *s, const struct hip_op *op)
{
	return hip_host_put(s, &op->host);
}

const struct hip_op_kind hip_op_host = {hipGraphNodeTypeHost, NULL, put_op, NULL};

HIP_PUBLIC(hipStreamAddCallback, (hipStream_t stream, hipStreamCallback_t callback, void *data, unsigned int flags),
	   (stream, callback, data, flags))
{
	struct hip_stream *s;

	if (!callback || flags)
		return hipErrorInvalidValue;
	/* CUDA's rule: a callback gets its stream as an argument, so it cannot be captured. */
	if (!hip_stream_of(stream, &s) && hip_stream_captures(s))
		return hip_capture_lost(s, hipErrorStreamCaptureUnsupported);
	return hip_op_run(stream, &(struct hip_op){.kind = &hip_op_host,
						   .host = {.callback = callback, .handle = stream, .data = data}});
}

HIP_PUBLIC(hipLaunchHostFunc, (hipStream_t stream, hipHostFn_t fn, void *data), (stream, fn, data))
{
	if (!fn)
		return hipErrorInvalidValue;
	return hip_op_run(stream, &(struct hip_op){.kind = &hip_op_host, .host = {.fn = fn, .data = data}});
}
