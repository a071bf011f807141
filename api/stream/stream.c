/* Streams: flows of our HSA library (hsa/interface.h), whose operations this library gives in order.
 *
 * A dispatch's barrier bit keeps the order, its acquire at agent scope sees what the one before wrote; a job begins
 * with an acquire and ends with a release at system scope (cs.h), which is what the host waits for. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "api/stream/capture.h"
#include "api/stream/frontier.h"

/* --- making and ending ------------------------------------------------------------------------ */

void hip_flow_failed(hsa_status_t status, void *data)
{
	struct hip_device *device = data;
	hipError_t fault = hipErrorLaunchFailure;

	if (status == (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT ||
	    status == (hsa_status_t)HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION)
		fault = hipErrorIllegalAddress;
	hip_device_fail(device, fault);
}

struct hip_stream_hooks hip_stream_hooks;

static void call(void (*hook)(struct hip_stream *stream), struct hip_stream *s)
{
	if (hook)
		hook(s);
}

struct hip_stream *hip_stream_get(struct hip_stream *s)
{
	atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

/* What other threads read by a rule, or a point that was reached, has stayed until now. */
static void free_stream(struct hip_retired *retired)
{
	struct hip_stream *s = vm_container(retired, struct hip_stream, retired);

	hip.hsa->put(s->flow);
	free(s);
}

void hip_stream_put(struct hip_stream *s)
{
	if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	/* Who found it before it was gone may take a reference and put it. */
	if (atomic_exchange(&s->freed, true))
		return;
	call(atomic_load_explicit(&hip_stream_hooks.freed, memory_order_acquire), s);
	hip_retire(&s->retired, free_stream);
}

/* What it is given begins behind what the null stream was given. */
static void follow(struct hip_stream *s, struct hip_stream *null)
{
	s->null = hip_stream_get(null);
	/* Release: threads without a lock follow it to a flow that was just made (hip_stream_is_clear()). */
	atomic_store_explicit(&s->rule, &null->flow->written, memory_order_release);
}

/* It is the device's null stream. */
static void lead(struct hip_stream *null)
{
	for (struct hip_stream *s = null->device->streams; s; s = s->next)
		if (s != null && hip_stream_blocks(s) && !atomic_load(&s->closing))
			follow(s, null);
	atomic_store_explicit(&null->seen, 1, memory_order_relaxed);
	atomic_store_explicit(&null->rule, &null->device->blocking, memory_order_relaxed);
}

static void enlist(struct hip_stream *s)
{
	static const _Atomic uint64_t nobody;
	struct hip_device *d = s->device;
	struct hip_stream *null = atomic_load(&d->null);

	s->next = d->streams;
	s->link = &d->streams;
	if (s->next)
		s->next->link = &s->next;
	d->streams = s;
	atomic_store_explicit(&s->rule, &nobody, memory_order_relaxed);
	if (!hip_stream_blocks(s))
		return;
	atomic_fetch_add(&d->blocking, 1);
	if (null)
		follow(s, null);
}

static void delist(struct hip_stream *s)
{
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	s->link = NULL;
	if (hip_stream_blocks(s))
		atomic_fetch_sub(&s->device->blocking, 1);
}

static enum cs_priority flow_priority(int priority)
{
	return priority < 0 ? CS_PRIORITY_HIGH : priority ? CS_PRIORITY_LOW : CS_PRIORITY_NORMAL;
}

static hipError_t open_flow(struct hip_stream *s)
{
	const struct rt_flow_info info = {
		.priority = flow_priority(s->priority),
		.failed = hip_flow_failed,
		.user = s->device,
	};
	int r = hip.hsa->create(s->device->agent, &info, &s->flow);

	if (r)
		return hip_of_errno(r);
	/* destroy() takes one reference, free_stream() the other. */
	flow_get(s->flow);
	s->args_at = HIP_CHUNK_B;
	return hipSuccess;
}

/* The device's lock is held by the caller, for the list. */
static hipError_t create_locked(struct hip_device *device, unsigned flags, int priority, struct hip_stream **out)
{
	struct hip_stream *s = calloc(1, sizeof(*s));
	hipError_t r;

	if (!s)
		return hipErrorOutOfMemory;
	s->refs = 1;
	s->device = device;
	s->flags = flags;
	s->priority = priority;
	r = open_flow(s);
	if (!r && drv_handle_create(&hip_handles, HIP_KIND(HIP_STREAM), s, &s->handle)) {
		hip.hsa->destroy(s->flow);
		hip.hsa->put(s->flow);
		r = hipErrorOutOfMemory;
	}
	if (r) {
		free(s);
		return r;
	}
	enlist(s);
	*out = s;
	return hipSuccess;
}

hipError_t hip_stream_create(struct hip_device *device, unsigned flags, int priority, struct hip_stream **out)
{
	hipError_t r = hip_fault(device);

	if (r)
		return r;
	pthread_mutex_lock(&device->lock);
	r = create_locked(device, flags, priority, out);
	pthread_mutex_unlock(&device->lock);
	return r;
}

/* It may say false while another thread has the flow's lock. */
static bool all_ended(const struct hip_stream *s)
{
	return hip.hsa->reached(s->flow, hip_stream_written(s));
}

/* Waits for all that the device's flows have on the GPU, after the flow was abandoned: what it has not got is
 * dropped, and makes the device fail. */
static void end_work(struct hip_stream *s)
{
	bool ended;

	hip.hsa->retire(s->device->agent);
	hip_flow_lock(s->flow);
	ended = all_ended(s);
	hip_flow_unlock(s->flow);
	if (!ended)
		hip_device_fail(s->device, hipErrorLaunchFailure);
}

/* Of its thread, who destroys it, and a reset, one may close it; its handle names nothing any more, and who found
 * it before gives it nothing more. */
static bool may_close(struct hip_stream *s)
{
	static const _Atomic uint64_t never = UINT64_MAX;

	if (atomic_exchange(&s->closing, true))
		return false;
	drv_handle_destroy(&hip_handles, s->handle);
	drv_lock(&s->flow->lock);
	pthread_mutex_lock(&s->device->lock);
	atomic_store_explicit(&s->rule, &never, memory_order_relaxed);
	pthread_mutex_unlock(&s->device->lock);
	drv_unlock(&s->flow->lock);
	return true;
}

/* It was waited for, or all that it has not done is dropped. */
static void close_stream(struct hip_stream *s)
{
	bool drop = !all_ended(s);

	pthread_mutex_lock(&s->device->lock);
	delist(s);
	pthread_mutex_unlock(&s->device->lock);
	hip_capture_leave(s);
	hip_frontier_fini(s);
	/* The holder of its lock may wait for it. */
	if (drop)
		hip.hsa->abandon(s->flow);
	/* Before: who holds a pool's lock may wait until it is gone. */
	call(atomic_load_explicit(&hip_stream_hooks.closing, memory_order_acquire), s);
	atomic_store(&s->ending, true);
	/* They wait for what has ended, or never will. */
	while (atomic_load(&s->users))
		sched_yield();
	if (drop)
		end_work(s);
	s->done = hip.hsa->completed(s->flow);
	hip.hsa->destroy(s->flow);
	atomic_store(&s->gone, true);
	hip_stream_put(s->null);
	hip_stream_free_args(s);
	hip_stream_put(s);
}

/* --- which one -------------------------------------------------------------------------------- */

hipError_t hip_null_stream(struct hip_device *device, struct hip_stream **stream)
{
	struct hip_stream *s = atomic_load_explicit(&device->null, memory_order_acquire);
	hipError_t r = hipSuccess;

	if (__builtin_expect(!s, 0)) {
		r = hip_fault(device);
		pthread_mutex_lock(&device->lock);
		s = atomic_load(&device->null);
		if (!r && !s) {
			r = create_locked(device, hipStreamDefault, 0, &s);
			if (!r) {
				lead(s);
				atomic_store_explicit(&device->null, s, memory_order_release);
			}
		}
		pthread_mutex_unlock(&device->lock);
	}
	*stream = s;
	return r;
}

/* A thread's own streams, one for each device; they end with the thread. */
static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

static void free_own(void *arg)
{
	struct hip_stream **own = arg;

	for (unsigned i = 0; i < HIP_DEVICES_MAX; i++) {
		if (own[i] && may_close(own[i])) {
			(void)!hip_stream_wait(own[i]);
			close_stream(own[i]);
		}
		hip_stream_put(own[i]);
	}
	free(own);
}

static void make_own_key(void)
{
	(void)!pthread_key_create(&own_key, free_own);
}

static hipError_t own_stream(struct hip_device *device, struct hip_stream **stream)
{
	struct hip_stream **own;
	hipError_t r = hipSuccess;

	pthread_once(&own_once, make_own_key);
	own = pthread_getspecific(own_key);
	if (!own) {
		own = calloc(HIP_DEVICES_MAX, sizeof(struct hip_stream *));
		if (!own || pthread_setspecific(own_key, own)) {
			free(own);
			return hipErrorOutOfMemory;
		}
	}
	if (own[device->index] && atomic_load(&own[device->index]->gone)) {
		/* The device was reset. */
		hip_stream_put(own[device->index]);
		own[device->index] = NULL;
	}
	if (!own[device->index]) {
		r = hip_stream_create(device, hipStreamDefault, 0, &own[device->index]);
		/* One reference is the thread's, the other goes when the stream is closed. */
		if (!r)
			hip_stream_get(own[device->index]);
	}
	*stream = own[device->index];
	return r;
}

hipError_t hip_stream_named(hipStream_t handle, struct hip_stream **stream)
{
	if (!handle || handle == hipStreamLegacy)
		return hip_null_stream(hip_current(), stream);
	return handle == hipStreamPerThread ? own_stream(hip_current(), stream) : hipErrorContextIsDestroyed;
}

/* --- operations ------------------------------------------------------------------------------- */

hipError_t hip_stream_lost(struct hip_stream *s, int r)
{
	if (r == -EFAULT) {
		hip_device_fail(s->device, hipErrorIllegalAddress);
		return hip_fault(s->device);
	}
	/* Refused, and the stream goes on. */
	if (r != -ECANCELED && r != -ENODEV && atomic_load(&s->flow->state) == FLOW_ACTIVE)
		return hip_of_errno(r);
	/* HSA's callback may know better, and comes soon. */
	for (unsigned i = 0; i < 1000 && !hip_fault(s->device); i++)
		sched_yield();
	hip_device_fail(s->device, hipErrorLaunchFailure);
	return hip_fault(s->device);
}

bool hip_stream_acquire(struct hip_stream *s)
{
	atomic_fetch_add(&s->users, 1);
	if (__builtin_expect(!atomic_load(&s->ending), 1))
		return true;
	atomic_fetch_sub(&s->users, 1);
	while (!atomic_load(&s->gone))
		sched_yield();
	return false;
}

/* It may say false while another thread gives the stream something. */
static bool has_reached(struct hip_stream *s, uint64_t index)
{
	bool reached;

	if (!hip_stream_acquire(s))
		return true;
	reached = hip.hsa->reached(s->flow, index);
	hip_stream_release(s);
	return reached;
}

/* The operation has what it waits for submitted; one that waits for what has ended does nothing. */
hipError_t hip_stream_after(struct hip_stream *s, const struct hip_point *point)
{
	struct hip_stream *other = point->stream;
	hipError_t r = hipSuccess;

	if (!other || other == s)
		return hipSuccess;
	if (!has_reached(other, point->index))
		r = hip_stream_submit(s, &(struct flow_op){.kind = FLOW_WAIT, .wait = {other->flow, point->index}});
	/* Behind the operation, as hip_stream_point() reads it before. */
	if (!r)
		hip_frontier_merge(s, point);
	return r;
}

/* --- what HIP's rules name -------------------------------------------------------------------- */

/* Everything that the other was given so far. */
static hipError_t after_all_of(struct hip_stream *s, struct hip_stream *other)
{
	struct hip_point point = hip_stream_point(other);
	hipError_t r = hip_stream_after(s, &point);

	hip_point_put(&point);
	return r;
}

/* One that the null stream has not seen all of, and that was not found in this round yet: where it is now. No
 * stream: there is none. */
static hipError_t find_new(struct hip_stream *null, uint64_t round, struct hip_point *point, uint64_t *now)
{
	struct hip_device *d = null->device;
	hipError_t r = hipSuccess;

	*point = (struct hip_point){0};
	pthread_mutex_lock(&d->lock);
	for (struct hip_stream *s = d->streams; s && !r && !point->stream; s = s->next) {
		if (s == null || !hip_stream_blocks(s) || s->null_round == round)
			continue;
		s->null_round = round;
		if (hip_stream_captures(s)) {
			r = hip_capture_lost(s, hipErrorStreamCaptureImplicit);
			continue;
		}
		*now = atomic_load_explicit(&s->frees, memory_order_acquire) + hip_stream_written(s);
		if (*now != s->null_saw)
			*point = hip_stream_point(s);
	}
	pthread_mutex_unlock(&d->lock);
	return r;
}

/* A full flow has room when its work goes on, which may take until another thread has made a stream: no thread
 * waits for it with the device's lock held. */
static hipError_t after_all_blocking(struct hip_stream *null)
{
	uint64_t round = ++null->null_round, now = 0;
	struct hip_point point;
	hipError_t r;

	while (!(r = find_new(null, round, &point, &now)) && point.stream) {
		r = hip_stream_after(null, &point);
		if (!r)
			point.stream->null_saw = now;
		hip_point_put(&point);
		if (r)
			break;
	}
	return r;
}

static hipError_t after_null(struct hip_stream *s, struct hip_stream *null)
{
	uint64_t written = null ? hip_stream_written(null) : 0;
	hipError_t r;

	if (written <= atomic_load_explicit(&s->seen, memory_order_relaxed))
		return hipSuccess;
	r = after_all_of(s, null);
	/* Behind the operation that waits: an event that is recorded then is behind that, too. */
	if (!r)
		atomic_store_explicit(&s->seen, written, memory_order_release);
	return r;
}

hipError_t hip_stream_order(struct hip_stream *s)
{
	struct hip_stream *null = atomic_load_explicit(&s->device->null, memory_order_acquire);
	hipError_t r = hipSuccess;

	if (atomic_load_explicit(&s->closing, memory_order_relaxed))
		r = hipErrorContextIsDestroyed;
	else if (hip_stream_blocks(s))
		r = s == null ? after_all_blocking(s) : after_null(s, null);
	if (r)
		hip_stream_done(s);
	return r;
}

/* A blocking stream that captures keeps the null stream from being given anything. */
static bool may_order(const struct hip_stream *s)
{
	struct hip_device *d = s->device;
	bool may = true;

	if (s != atomic_load_explicit(&d->null, memory_order_relaxed))
		return !hip_stream_captures(s);
	pthread_mutex_lock(&d->lock);
	for (const struct hip_stream *other = d->streams; other; other = other->next)
		may = may && (!hip_stream_blocks(other) || !hip_stream_captures(other));
	pthread_mutex_unlock(&d->lock);
	return may;
}

void hip_stream_follow_rules(struct hip_stream *s)
{
	if (hip_stream_blocks(s) && may_order(s) && !hip_stream_begin(s))
		hip_stream_done(s);
}

/* What s is given next is behind all that the other was given, and what HIP's rules put in front of that. */
static hipError_t come_behind(struct hip_stream *s, struct hip_stream *other)
{
	hipError_t r = hip_stream_begin(other);

	if (r)
		return r;
	hip_stream_done(other);
	r = hip_stream_begin(s);
	if (r)
		return r;
	r = after_all_of(s, other);
	hip_stream_done(s);
	return r;
}

hipError_t hip_stream_redirect(struct hip_stream *s, struct hip_device *device, struct hip_stream **to)
{
	hipError_t r;

	*to = s;
	if (__builtin_expect(!device || device == s->device, 1))
		return hipSuccess;
	r = hip_null_stream(device, to);
	return r ? r : come_behind(*to, s);
}

hipError_t hip_stream_return(struct hip_stream *s, struct hip_stream *from)
{
	return from == s ? hipSuccess : come_behind(s, from);
}

/* --- points ------------------------------------------------------------------------------------ */

/* Others may write to the stream meanwhile: what is counted first is covered by the operations that are counted
 * last.
 */
struct hip_point hip_stream_point(struct hip_stream *s)
{
	struct hip_point point = {.stream = hip_stream_get(s), .frontier = hip_frontier_of(s)};

	point.frees = atomic_load_explicit(&s->frees, memory_order_acquire);
	point.index = hip_stream_written(s);
	return point;
}

void hip_point_put(struct hip_point *point)
{
	hip_stream_put(point->stream);
	hip_frontier_put(point->frontier);
	*point = (struct hip_point){0};
}

struct hip_point hip_point_get(const struct hip_point *point)
{
	if (point->stream)
		hip_stream_get(point->stream);
	hip_frontier_get(point->frontier);
	return *point;
}

bool hip_point_is_completed(const struct hip_point *point)
{
	return !point->stream || has_reached(point->stream, point->index);
}

void hip_point_flush(const struct hip_point *point)
{
	struct hip_stream *s = point->stream;

	if (!s || !hip_stream_acquire(s))
		return;
	if (hip.hsa->completed(s->flow) < point->index)
		hip.hsa->flush(s->flow);
	hip_stream_release(s);
}

/* The error of what the wait was for, and of the cooperative grids that it waited for. */
static int wait_error(const struct hip_device *device, int error)
{
	int (*state)(const struct hip_device *device) =
		atomic_load_explicit(&hip_stream_hooks.cooperative_state, memory_order_acquire);

	return error || !state ? error : state(device);
}

hipError_t hip_point_wait(const struct hip_point *point)
{
	void (*host_waited)(struct hip_device *device);
	hipError_t r;

	if (!point->stream)
		return hip_fault(hip_current());
	r = hip_fault(point->stream->device);
	if (!r && !hip_stream_acquire(point->stream)) {
		r = point->index > point->stream->done ? hipErrorContextIsDestroyed : hipSuccess;
	} else if (!r) {
		int e = hip.hsa->wait(point->stream->flow, point->index, CS_FOREVER);

		e = wait_error(point->stream->device, e);
		r = e ? hip_stream_lost(point->stream, e) : hipSuccess;
		/* A reset forgets errors behind that. */
		hip_stream_release(point->stream);
	}
	if (r)
		return r;
	hip_thread.waited = true;
	hip_frontier_merge_host(point);
	atomic_store_explicit(&point->stream->host_synced, point->index + point->frees, memory_order_release);
	host_waited = atomic_load_explicit(&hip_stream_hooks.host_waited, memory_order_acquire);
	if (host_waited)
		host_waited(point->stream->device);
	return hip_fault(point->stream->device);
}

hipError_t hip_stream_wait(struct hip_stream *s)
{
	struct hip_point point = hip_stream_point(s);
	hipError_t r = hip_point_wait(&point);

	hip_point_put(&point);
	return r;
}

void hip_stream_drop(struct hip_stream *s)
{
	if (!hip_stream_acquire(s))
		return;
	hip.hsa->abandon(s->flow);
	end_work(s);
	hip_stream_release(s);
}

/* The first of the device's, with a reference. */
static struct hip_stream *first_stream(struct hip_device *device)
{
	struct hip_stream *s;

	pthread_mutex_lock(&device->lock);
	s = device->streams ? hip_stream_get(device->streams) : NULL;
	pthread_mutex_unlock(&device->lock);
	return s;
}

#define MOVE_NS 10000000 /* between two counts of the steps of a device */

typedef uint64_t host_calls_fn(struct hip_device *device, bool *busy);

static uint64_t steps(struct hip_device *device, host_calls_fn *host_calls, bool *busy)
{
	uint64_t executed = hip.hsa->steps(device->agent, busy);

	return executed + host_calls(device, busy);
}

/* The GPU or a function of the host makes progress for the device. */
static bool moves(struct hip_device *device, host_calls_fn *host_calls)
{
	bool busy = false;
	uint64_t before = steps(device, host_calls, &busy);

	return steps(device, host_calls, &busy) != before || busy;
}

/* Waits until all that a stream was given has ended, or until no work of the device makes progress by itself: the
 * rest waits for a value that is never written, or for streams that do. */
static void wait_while_it_moves(struct hip_stream *s, void *arg)
{
	host_calls_fn *host_calls = *(host_calls_fn **)arg;

	while (hip_stream_acquire(s)) {
		int r = all_ended(s) ? 0 : hip.hsa->wait(s->flow, hip_stream_written(s), MOVE_NS);

		hip_stream_release(s);
		if (r != -ETIMEDOUT || !moves(s->device, host_calls))
			return;
	}
}

void hip_streams_retire(struct hip_device *device, host_calls_fn *host_calls)
{
	hip_streams_each(device, wait_while_it_moves, &host_calls);
}

static void abandon(struct hip_stream *s, void *unused)
{
	(void)unused;
	hip.hsa->abandon(s->flow);
}

/* All streams of the device end, whatever became of their work; their handles name nothing any more. Who waits for
 * them gets an error. */
void hip_streams_reset(struct hip_device *device)
{
	struct hip_stream *s;

	/* None of them goes on because another is gone. The device's lock is inside a flow's, which abandon()
	 * takes. */
	pthread_mutex_lock(&device->lock);
	for (s = device->streams; s; s = s->next)
		flow_stop(s->flow, FLOW_ENDED);
	pthread_mutex_unlock(&device->lock);
	hip_streams_each(device, abandon, NULL);
	atomic_store(&device->null, NULL);
	while ((s = first_stream(device))) {
		if (may_close(s))
			close_stream(s);
		else
			sched_yield();
		hip_stream_put(s);
	}
}

/* --- the public functions --------------------------------------------------------------------- */

#define PRIORITY_LOWEST  1
#define PRIORITY_HIGHEST (-1)

static hipError_t stream_create(hipStream_t *out, unsigned flags, int priority)
{
	struct hip_stream *s;
	hipError_t r;

	if (!out || flags & ~(unsigned)hipStreamNonBlocking)
		return hipErrorInvalidValue;
	priority = priority < PRIORITY_HIGHEST  ? PRIORITY_HIGHEST
		   : priority > PRIORITY_LOWEST ? PRIORITY_LOWEST
						: priority;
	r = hip_stream_create(hip_current(), flags, priority, &s);
	if (!r)
		*out = (hipStream_t)(uintptr_t)s->handle;
	return r;
}

hipError_t hipStreamCreate(hipStream_t *stream)
{
	HIP_ENTER(stream);
	return hip_end(stream_create(stream, hipStreamDefault, 0));
}

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags)
{
	HIP_ENTER(stream, flags);
	return hip_end(stream_create(stream, flags, 0));
}

hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned int flags, int priority)
{
	HIP_ENTER(stream, flags, priority);
	return hip_end(stream_create(stream, flags, priority));
}

hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	HIP_ENTER(least, greatest);
	if (least)
		*least = PRIORITY_LOWEST;
	if (greatest)
		*greatest = PRIORITY_HIGHEST;
	return hip_end(hipSuccess);
}

hipError_t hip_stream_destroy(hipStream_t handle)
{
	struct hip_stream *s = hip_find(HIP_STREAM, handle);

	if (!handle || handle == hipStreamLegacy || handle == hipStreamPerThread)
		return hipErrorInvalidResourceHandle;
	if (!s || !may_close(s))
		return hipErrorContextIsDestroyed;
	(void)!hip_stream_wait(s);
	close_stream(s);
	return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
	HIP_ENTER(stream);
	return hip_end(hip_stream_destroy(stream));
}
