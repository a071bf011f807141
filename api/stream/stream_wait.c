/* Waits for streams and queries of their progress: one stream, the streams that the null stream stands for, all of
 * a device. */
#include "drv/lock.h"
#include "api/stream/capture.h"
#include "api/stream/point.h"

/* Selects the streams that a call concerns. */
typedef bool hip_choice(const struct hip_stream *s);

static bool any_stream(const struct hip_stream *s)
{
	(void)s;
	return true;
}

/* The null stream stands for itself and every blocking stream. */
static bool blocking_stream(const struct hip_stream *s)
{
	return hip_stream_blocks(s) && !hip_stream_captures(s);
}

static bool needs_wait(const struct hip_stream *s)
{
	return !hip_stream_is_host_synced(s);
}

/* Returns the device's next chosen stream after `last` (NULL: the first), with a reference, and puts `last`. The
 * list is in the order of creation, newest first: streams that are made meanwhile are left out, and none is skipped
 * when others close. */
static struct hip_stream *next_stream(struct hip_device *device, struct hip_stream *last, hip_choice *chosen,
				      hip_choice *also)
{
	struct hip_stream *s;

	drv_mutex_lock(&device->lock);
	s = !last || last->delisted ? LIST_FIRST(&device->streams) : LIST_NEXT(last, in_device);
	while (s && ((last && s->flow->id >= last->flow->id) || !chosen(s) || !also(s)))
		s = LIST_NEXT(s, in_device);
	if (s)
		hip_stream_get(s);
	drv_mutex_unlock(&device->lock);
	hip_stream_put(last);
	return s;
}

void hip_streams_each(struct hip_device *device, void (*fn)(struct hip_stream *s, void *arg), void *arg)
{
	struct hip_stream *s = NULL;

	while ((s = next_stream(device, s, any_stream, any_stream)))
		fn(s, arg);
}

/* Waits for the first stream in any case: that wait collects faults that HSA reports late. */
static hipError_t wait_for(struct hip_device *device, hip_choice *chosen)
{
	struct hip_stream *s = NULL;
	hipError_t r = hip_fault(device);

	while (!r && (s = next_stream(device, s, chosen, s ? needs_wait : any_stream)))
		r = hip_stream_wait(s);
	hip_stream_put(s);
	return r;
}

hipError_t hip_device_wait(struct hip_device *device)
{
	return wait_for(device, any_stream);
}

static bool is_null(const struct hip_stream *s)
{
	return s == atomic_load_explicit(&s->device->null, memory_order_relaxed);
}

/* False: operations are unfinished; those that can be are submitted. Takes the flow's lock. */
static bool has_ended(struct hip_stream *s)
{
	uint64_t written = hip_stream_written(s);
	bool ended;

	if (hip.hsa->completed(s->flow) >= written)
		return true;
	if (!hip_stream_acquire(s))
		return true;
	ended = hip.hsa->reached(s->flow, written);
	if (!ended)
		hip.hsa->flush(s->flow);
	hip_stream_release(s);
	return ended;
}

static bool all_have_ended(struct hip_device *device)
{
	struct hip_stream *s = NULL;
	bool ended = true;

	while ((s = next_stream(device, s, blocking_stream, any_stream)))
		ended &= has_ended(s);
	return ended;
}

static hipError_t stream_query(hipStream_t handle)
{
	struct hip_stream *s;
	hipError_t r = hip_stream_of(handle, &s);
	int state;

	if (r || (r = hip_fault(s->device)))
		return r;
	if (hip_stream_captures(s))
		return hip_capture_lost(s, hipErrorStreamCaptureUnsupported);
	r = hip_capture_refuses_since_7();
	if (r)
		return r;
	if (is_null(s) ? all_have_ended(s->device) : has_ended(s))
		return hipSuccess;
	if (!hip_stream_acquire(s))
		return hipErrorContextIsDestroyed;
	state = hip.hsa->state(s->flow);
	hip_stream_release(s);
	return state ? hip_stream_lost(s, state) : hipErrorNotReady;
}

HIP_PUBLIC(hipStreamQuery, (hipStream_t stream), (stream))
{
	return stream_query(stream);
}

static hipError_t stream_synchronize(hipStream_t handle)
{
	struct hip_stream *s;
	hipError_t r = hip_stream_of(handle, &s);

	if (!r && hip_stream_captures(s))
		return hip_capture_lost(s, hipErrorStreamCaptureUnsupported);
	if (!r)
		r = hip_capture_refuses(hipErrorStreamCaptureUnsupported);
	if (r)
		return r;
	return is_null(s) ? wait_for(s->device, blocking_stream) : hip_stream_wait(s);
}

HIP_PUBLIC(hipStreamSynchronize, (hipStream_t stream), (stream))
{
	return stream_synchronize(stream);
}

HIP_PUBLIC(hipDeviceSynchronize, (void), ())
{
	hipError_t r;

	r = hip_capture_refuses_device(hip_current());
	return r ? r : hip_device_wait(hip_current());
}
