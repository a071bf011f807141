/* Events: a point in a stream, and the time at which the GPU reached it. On an idle stream the time is the host's
 * clock; else the GPU writes its clock counter after the earlier work. */
#include <stdlib.h>

#include "api/exec/event.h"
#include "api/exec/event_shared.h"
#include "api/stream/capture.h"
#include "api/stream/point.h"
#include "api/tool/tool.h"

#define FLAGS                                                                                                      \
	(hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess | hipEventDisableSystemFence |        \
	 hipEventReleaseToDevice | hipEventReleaseToSystem)

struct hip_event {
	struct drv_retired retired; /* used when the event is destroyed */
	uint64_t handle;
	unsigned flags;
	struct hip_shared *shared; /* owned; not NULL: an interprocess event, whose state is there */
	struct drv_lock lock;      /* guards the members below */
	bool recorded;
	/* The point's stream, if the point is the whole state: no time, not shared, not captured. Else NULL. */
	const struct hip_stream *plain;
	struct hip_device *device; /* device of the last record */
	struct hip_point point;
	struct time {
		/* Owned: the GPU writes the time there before it reaches the point. NULL: `ticks` is the time. */
		struct hip_timestamp *timestamp;
		uint64_t ticks; /* ticks of HSA's clock */
	} time;
	struct hip_recorded captured; /* state of a record in a capture */
};

static struct hip_event *event_of(hipEvent_t handle)
{
	return hip_find(HIP_EVENT, handle);
}

/* Takes over `shared`, unless it fails. */
static hipError_t create_with(hipEvent_t *out, unsigned flags, struct hip_shared *shared)
{
	struct hip_event *e = calloc(1, sizeof(*e));

	if (!e)
		return hipErrorOutOfMemory;
	e->flags = flags;
	drv_lock_set_rank(&e->lock, DRV_RANK_HIP_EVENT);
	e->shared = shared;
	e->device = hip_current();
	if (drv_handle_create(&hip_handles, HIP_KIND(HIP_EVENT), e, &e->handle)) {
		free(e);
		return hipErrorOutOfMemory;
	}
	*out = (hipEvent_t)(uintptr_t)e->handle;
	return hipSuccess;
}

static hipError_t event_create(hipEvent_t *out, unsigned flags)
{
	const unsigned release =
		flags & (hipEventReleaseToDevice | hipEventReleaseToSystem | hipEventDisableSystemFence);
	struct hip_shared *shared = NULL;
	hipError_t r = hipSuccess;

	if (!out || flags & ~(unsigned)FLAGS || release & (release - 1) ||
	    (flags & hipEventInterprocess && !(flags & hipEventDisableTiming)))
		return hipErrorInvalidValue;
	if (flags & hipEventInterprocess)
		r = hip_shared_make(&shared);
	if (!r)
		r = create_with(out, flags, shared);
	if (r)
		hip_shared_free(shared);
	return r;
}

HIP_PUBLIC(hipEventCreate, (hipEvent_t *event), (event))
{
	return event_create(event, hipEventDefault);
}

HIP_PUBLIC(hipEventCreateWithFlags, (hipEvent_t *event, unsigned flags), (event, flags))
{
	return event_create(event, flags);
}

/* Releases the timestamp, which the GPU may write until the point is reached. */
static void timestamp_release(struct hip_event *e)
{
	if (e->time.timestamp)
		hip_timestamp_release(e->time.timestamp, &e->point);
	e->time.timestamp = NULL;
}

static void free_event(struct drv_retired *retired)
{
	struct hip_event *e = vm_container(retired, struct hip_event, retired);

	hip_shared_free(e->shared);
	free(e->captured.tails);
	free(e);
}

static hipError_t event_destroy(hipEvent_t handle)
{
	struct hip_event *e = event_of(handle);

	if (!handle)
		return hipErrorInvalidHandle;
	if (!e || !drv_handle_destroy(&hip_handles, e->handle))
		return hipErrorContextIsDestroyed;
	drv_lock(&e->lock);
	timestamp_release(e);
	hip_point_put(&e->point);
	/* A thread that found the event before its handle was destroyed cannot record it any more. */
	e->plain = NULL;
	e->recorded = false;
	e->device = NULL;
	drv_unlock(&e->lock);
	drv_retire(&hip_calls, &e->retired, free_event);
	drv_retire_collect(&hip_calls);
	return hipSuccess;
}

HIP_PUBLIC(hipEventDestroy, (hipEvent_t event), (event))
{
	return event_destroy(event);
}

/* Takes the time at which the stream's present work ends. */
static hipError_t take_time(struct hip_stream *s, struct time *time)
{
	if (hip.hsa->reached(s->flow, hip_stream_written(s)))
		return hip_of_hsa(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &time->ticks));
	return hip_timestamp_put(s, &time->timestamp);
}

/* Submits a marker operation, which tools get a record of. */
static void put_marker(struct hip_stream *s)
{
	const struct hip_tool_work work = {.op = HIP_TOOL_BARRIER, .kind = HIP_TOOL_MARKER};
	hsa_signal_t watched = hip_tool_watch(s, &work);
	const struct flow_op op = {
		.kind = FLOW_BARRIER, .header = HIP_BARRIER_HEADER, .completion = watched.handle};

	if (watched.handle && hip_stream_submit(s, &op))
		hip_tool_forget(watched);
}

/* Moves the event to the end of the stream's work, with that time. */
static void event_move(struct hip_event *e, struct hip_stream *s, const struct time *time)
{
	timestamp_release(e);
	e->time = *time;
	hip_point_move(&e->point, s);
	e->device = s->device;
	e->recorded = true;
	e->plain = !e->shared && e->flags & hipEventDisableTiming ? s : NULL;
	e->captured.capture = 0;
}

/* A record that fails leaves the event as it was. */
static hipError_t put_record(struct hip_event *e, struct hip_stream *s, uint64_t number)
{
	struct time time = {0};
	hipError_t r = hip_stream_begin(s);

	if (__builtin_expect(r, 0))
		return r;
	if (hip_traced())
		put_marker(s);
	if (e->shared)
		r = hip_shared_put(e->shared, number, s);
	else if (!(e->flags & hipEventDisableTiming))
		r = take_time(s, &time);
	if (!r)
		event_move(e, s, &time);
	hip_stream_done(s);
	return r;
}

/* An event that was never recorded, or that another thread has destroyed, is of its device alone, or of none. */
static bool is_recordable(const struct hip_event *e, const struct hip_stream *s)
{
	return e->recorded || e->device == s->device;
}

/* Takes the number without the event's lock: it may wait for an earlier record. */
static hipError_t record_shared(struct hip_event *e, struct hip_stream *s)
{
	uint64_t number;
	hipError_t r = hip_shared_next(e->shared, &number);

	if (r)
		return r;
	drv_lock(&e->lock);
	r = is_recordable(e, s) ? put_record(e, s, number) : hipErrorInvalidHandle;
	drv_unlock(&e->lock);
	if (r)
		hip_shared_refuse(e->shared, number);
	return r;
}

static hipError_t event_record(struct hip_event *e, struct hip_stream *s)
{
	bool shared = false;
	hipError_t r = hipSuccess;

	drv_lock(&e->lock);
	if (!is_recordable(e, s)) {
		r = hipErrorInvalidHandle;
	} else if (hip_stream_captures(s)) {
		r = hip_capture_record(s, &e->captured);
		e->plain = NULL;
	} else if (e->shared) {
		shared = true;
	} else {
		r = put_record(e, s, 0);
	}
	drv_unlock(&e->lock);
	return shared ? record_shared(e, s) : r;
}

static hipError_t no_event(hipEvent_t handle)
{
	return handle ? hipErrorContextIsDestroyed : hipErrorInvalidHandle;
}

hipError_t hip_event_record(hipEvent_t handle, struct hip_stream *s)
{
	struct hip_event *e = event_of(handle);

	return e ? event_record(e, s) : no_event(handle);
}

static hipError_t record_on(hipEvent_t handle, hipStream_t stream)
{
	struct hip_event *e = event_of(handle);
	struct hip_stream *s;
	hipError_t r = e ? hip_stream_of(stream, &s) : no_event(handle);

	return r ? r : event_record(e, s);
}

/* The fast path: the event was recorded on the same stream, with the same frontier, so only its point moves. */
static inline bool record_fast(hipEvent_t handle, hipStream_t stream, struct drv_lock **held)
{
	struct hip_event *e = event_of(handle);
	const struct hip_stream *s;

	if (!e)
		return false;
	s = hip_stream_of_nocreate(stream);
	if (!s || !hip_stream_is_clear(s) || !drv_lock_try(&e->lock))
		return false;
	*held = &e->lock;
	/* The frontier is read before the number of operations: the stream's frontier at the point is this one, or
	 * a larger one. */
	if (e->plain != s || e->point.frontier != atomic_load_explicit(&s->frontier, memory_order_acquire))
		return false;
	/* Frees are read before operations, so that no free after the point counts as before it. */
	e->point.frees = atomic_load_explicit(&s->frees, memory_order_acquire);
	e->point.index = hip_stream_written(s);
	return true;
}

HIP_SLOW_PATH static hipError_t record_slow(hipEvent_t event, hipStream_t stream, struct drv_lock *held)
{
	HIP_ENTER_SLOW(held, "hipEventRecord", event, stream);
	return hip_end_of("hipEventRecord", record_on(event, stream));
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
	struct drv_lock *held = NULL;
	bool ready;

	ready = drv_call_begin_fast(&hip_thread.caller);
	if (__builtin_expect(ready && !hip_slow_path_flags() && record_fast(event, stream, &held), 1))
		return hip_end_fast(held);
	return record_slow(event, stream, held);
}

/* In a capture the record becomes a node of the graph. */
static hipError_t record_external(hipEvent_t handle, hipStream_t stream)
{
	struct hip_stream *s;
	hipError_t r = event_of(handle) ? hip_stream_of(stream, &s) : no_event(handle);

	if (r)
		return r;
	if (hip_stream_captures(s))
		return atomic_load(&hip_capture_ops)->event(s, handle);
	return hip_event_record(handle, s);
}

HIP_PUBLIC(hipEventRecordWithFlags, (hipEvent_t event, hipStream_t stream, unsigned int flags),
	   (event, stream, flags))
{
	if (flags & ~(unsigned)hipEventRecordExternal)
		return hipErrorInvalidValue;
	return flags ? record_external(event, stream) : record_on(event, stream);
}

/* NULL: not an interprocess event. */
static struct hip_shared *shared_of(hipEvent_t handle)
{
	const struct hip_event *e = event_of(handle);

	return e ? e->shared : NULL;
}

/* Returns the event's present point, with a reference. */
static hipError_t event_snapshot(hipEvent_t handle, struct hip_point *point)
{
	struct hip_event *e = event_of(handle);
	hipError_t r = hipSuccess;

	if (!e)
		return no_event(handle);
	drv_lock(&e->lock);
	if (hip_capture_invalidate_query(&e->captured))
		r = hipErrorCapturedEvent;
	else
		*point = hip_point_get(&e->point);
	drv_unlock(&e->lock);
	return r;
}

/* The same for a caller that asks how far the GPU is. */
static hipError_t event_ask(hipEvent_t handle, struct hip_point *point)
{
	hipError_t r = event_snapshot(handle, point);

	if (!r && (r = hip_capture_refuses_since_7()))
		hip_point_put(point);
	return r;
}

static hipError_t event_query(hipEvent_t handle)
{
	struct hip_shared *shared = shared_of(handle);
	struct hip_point point;
	hipError_t r = event_ask(handle, &point);

	if (r)
		return r;
	if (shared) {
		r = hip_shared_reached(shared) ? hipSuccess : hipErrorNotReady;
	} else if (point.stream && (r = hip_fault(point.stream->device)) == hipSuccess &&
		   !hip_point_is_completed(&point)) {
		hip_point_flush(&point);
		r = hipErrorNotReady;
	}
	hip_point_put(&point);
	return r;
}

HIP_PUBLIC(hipEventQuery, (hipEvent_t event), (event))
{
	return event_query(event);
}

static hipError_t event_synchronize(hipEvent_t handle)
{
	struct hip_shared *shared = shared_of(handle);
	struct hip_point point;
	hipError_t r = event_ask(handle, &point);

	if (r)
		return r;
	r = shared ? hip_shared_wait(shared) : hip_point_wait(&point);
	hip_point_put(&point);
	return r;
}

HIP_PUBLIC(hipEventSynchronize, (hipEvent_t event), (event))
{
	return event_synchronize(event);
}

/* Joins a capture. *joined: the event is recorded in a capture that is active, and the stream is now in it. */
static hipError_t event_join_capture(hipEvent_t handle, struct hip_stream *s, bool *joined)
{
	struct hip_event *e = event_of(handle);
	hipError_t r = hipSuccess;

	*joined = false;
	if (!e)
		return no_event(handle);
	drv_lock(&e->lock);
	if (e->captured.capture)
		r = hip_capture_wait(s, &e->captured, joined);
	/* Work before the capture is not in the graph, so a captured stream cannot wait for it. */
	if (!r && !*joined && hip_stream_captures(s) && e->recorded)
		r = hip_capture_lost(s, hipErrorStreamCaptureIsolation);
	drv_unlock(&e->lock);
	return r;
}

hipError_t hip_event_wait(hipEvent_t handle, struct hip_stream *s)
{
	struct hip_shared *shared = shared_of(handle);
	struct hip_point point;
	bool joined = false;
	hipError_t r = hipSuccess;

	if (hip_captures())
		r = event_join_capture(handle, s, &joined);
	if (r || joined || hip_stream_captures(s))
		return r;
	r = event_snapshot(handle, &point);
	if (r)
		return r;
	r = hip_stream_begin(s);
	if (!r) {
		r = shared ? hip_shared_after(shared, s) : hip_stream_after(s, &point);
		hip_stream_done(s);
	}
	hip_point_put(&point);
	return r;
}

HIP_PUBLIC(hipStreamWaitEvent, (hipStream_t stream, hipEvent_t event, unsigned int flags), (stream, event, flags))
{
	struct hip_stream *s;
	hipError_t r;

	r = event ? hip_stream_of(stream, &s) : hipErrorInvalidHandle;
	if (r == hipErrorContextIsDestroyed)
		return hipErrorInvalidHandle;
	if (!r && flags)
		r = hipErrorInvalidValue;
	return r ? r : hip_event_wait(event, s);
}

/* Reads the time of an event whose point is reached. Errors: ContextIsDestroyed, when the stream ended before the
 * GPU reached the point. */
static hipError_t timestamp_read(struct hip_event *e)
{
	if (!hip_timestamp_read(e->time.timestamp, &e->time.ticks))
		return hipErrorContextIsDestroyed;
	timestamp_release(e);
	return hipSuccess;
}

/* The event's time in ticks of HSA's clock. */
static hipError_t time_of(hipEvent_t handle, uint64_t *ticks, const struct hip_device **device)
{
	struct hip_event *e = event_of(handle);
	hipError_t r = hipSuccess;

	if (!e)
		return hipErrorInvalidHandle;
	drv_lock(&e->lock);
	*device = e->device;
	if (hip_capture_invalidate_query(&e->captured))
		r = hipErrorCapturedEvent;
	else if (!e->recorded || e->flags & hipEventDisableTiming)
		r = hipErrorInvalidHandle;
	else if (!hip_point_is_completed(&e->point))
		r = hipErrorNotReady;
	/* Read once: HSA's conversion of GPU clocks is recalibrated, and would give another value later. */
	else if (e->time.timestamp)
		r = timestamp_read(e);
	*ticks = e->time.ticks;
	drv_unlock(&e->lock);
	return r;
}

static hipError_t elapsed_get(float *ms, hipEvent_t start, hipEvent_t stop)
{
	const struct hip_device *from, *to;
	uint64_t begin, end;
	hipError_t r, other;

	if (!ms)
		return hipErrorInvalidValue;
	r = time_of(start, &begin, &from);
	if (r && r != hipErrorNotReady)
		return r;
	/* Errors come before NotReady: an event that has no time is an error even if the other is not reached
	 * yet. */
	other = time_of(stop, &end, &to);
	if (other && other != hipErrorNotReady)
		return other;
	if (r || other || from != to)
		return from != to ? hipErrorInvalidHandle : hipErrorNotReady;
	*ms = (float)((double)(int64_t)(end - begin) * 1e3 / (double)hip.timestamp_Hz);
	return hipSuccess;
}

HIP_PUBLIC(hipEventElapsedTime, (float *ms, hipEvent_t start, hipEvent_t stop), (ms, start, stop))
{
	return elapsed_get(ms, start, stop);
}

/* --- interprocess events ---------------------------------------------------------------------- */

static hipError_t get_handle(hipIpcEventHandle_t *out, hipEvent_t handle)
{
	struct hip_shared *shared = shared_of(handle);

	if (!out || !handle)
		return hipErrorInvalidValue;
	if (!event_of(handle))
		return hipErrorContextIsDestroyed;
	if (!shared)
		return hipErrorInvalidConfiguration;
	return hip_shared_handle(shared, out);
}

HIP_PUBLIC(hipIpcGetEventHandle, (hipIpcEventHandle_t *handle, hipEvent_t event), (handle, event))
{
	return get_handle(handle, event);
}

static hipError_t open_handle(hipEvent_t *out, const hipIpcEventHandle_t *handle)
{
	struct hip_shared *shared;
	hipError_t r = out ? hip_shared_open(handle, &shared) : hipErrorInvalidValue;

	if (r)
		return r;
	r = create_with(out, hipEventDisableTiming | hipEventInterprocess, shared);
	if (r)
		hip_shared_free(shared);
	return r;
}

HIP_PUBLIC(hipIpcOpenEventHandle, (hipEvent_t *event, hipIpcEventHandle_t handle), (event, handle))
{
	return open_handle(event, &handle);
}
