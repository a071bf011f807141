/* Streams: this library submits operations to flows of our HSA library (hsa/interface.h), in order. A dispatch's
 * barrier bit keeps the order, and its acquire at agent scope makes the writes of the previous one visible. A job
 * begins with an acquire and ends with a release at system scope (cs.h), which the host waits for. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/stream/capture.h"
#include "api/stream/frontier.h"

/* --- creation and closing --------------------------------------------------------------------- */

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

static void hook_call(void (*hook)(struct hip_stream *stream), struct hip_stream *s)
{
	if (hook)
		hook(s);
}

struct hip_stream *hip_stream_get(struct hip_stream *s)
{
	atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

/* Other threads may read the stream's flow by a rule or by a point, so the flow lives until the last reference is
 * put. */
static void free_stream(struct drv_retired *retired)
{
	struct hip_stream *s = vm_container(retired, struct hip_stream, retired);

	hip.hsa->put(s->flow);
	free(s);
}

void hip_stream_put(struct hip_stream *s)
{
	if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	/* Threads that found the stream before it was gone may take a reference and put it: the count may reach 0
	 * twice. */
	if (atomic_exchange(&s->freed, true))
		return;
	hook_call(atomic_load_explicit(&hip_stream_hooks.freed, memory_order_acquire), s);
	drv_retire(&hip_calls, &s->retired, free_stream);
}

/* Orders the stream behind the null stream, from its next operation on. */
static void rule_follow_null(struct hip_stream *s, struct hip_stream *null)
{
	s->null = hip_stream_get(null);
	/* Release: threads without a lock read the rule, and the flow was just made (hip_stream_is_clear()). */
	atomic_store_explicit(&s->rule, &null->flow->written, memory_order_release);
}

/* Gives the null stream its rule. */
static void rule_lead(struct hip_stream *null)
{
	struct hip_stream *s;

	LIST_FOREACH(s, &null->device->streams, in_device)
		if (s != null && hip_stream_blocks(s) && !atomic_load(&s->closing))
			rule_follow_null(s, null);
	atomic_store_explicit(&null->seen, 1, memory_order_relaxed);
	atomic_store_explicit(&null->rule, &null->device->blocking, memory_order_relaxed);
}

static void stream_enlist(struct hip_stream *s)
{
	static const _Atomic uint64_t nobody;
	struct hip_device *d = s->device;
	struct hip_stream *null = atomic_load(&d->null);

	LIST_INSERT_HEAD(&d->streams, s, in_device);
	atomic_store_explicit(&s->rule, &nobody, memory_order_relaxed);
	if (!hip_stream_blocks(s))
		return;
	atomic_fetch_add(&d->blocking, 1);
	if (null)
		rule_follow_null(s, null);
}

static void stream_delist(struct hip_stream *s)
{
	LIST_REMOVE(s, in_device);
	s->delisted = true;
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
	/* destroy() puts one reference, free_stream() the other. */
	flow_get(s->flow);
	s->args_at = HIP_CHUNK_B;
	return hipSuccess;
}

static _Atomic uint64_t next_id = 1;

/* The caller holds the device's lock, which guards the list. */
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
	s->id = atomic_fetch_add(&next_id, 1);
	s->sync_policy = hipSyncPolicyAuto;
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
	stream_enlist(s);
	*out = s;
	return hipSuccess;
}

hipError_t hip_stream_create(struct hip_device *device, unsigned flags, int priority, struct hip_stream **out)
{
	hipError_t r = hip_fault(device);

	if (r)
		return r;
	drv_mutex_lock(&device->lock);
	r = create_locked(device, flags, priority, out);
	drv_mutex_unlock(&device->lock);
	return r;
}

/* May return false while another thread holds the flow's lock. */
static bool all_ended(const struct hip_stream *s)
{
	return hip.hsa->reached(s->flow, hip_stream_written(s));
}

/* Waits for everything that the device's flows have submitted to the GPU, after the flow was abandoned. Operations
 * that were not submitted are dropped, and make the device fail. */
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

/* Starts to close the stream: true for one thread only among its own thread that exits, hipStreamDestroy() and a
 * reset. The handle becomes invalid, and threads that found the stream before can submit nothing more. */
static bool may_close(struct hip_stream *s)
{
	static const _Atomic uint64_t never = UINT64_MAX;

	if (atomic_exchange(&s->closing, true))
		return false;
	drv_handle_destroy(&hip_handles, s->handle);
	drv_lock(&s->flow->lock);
	drv_mutex_lock(&s->device->lock);
	atomic_store_explicit(&s->rule, &never, memory_order_relaxed);
	drv_mutex_unlock(&s->device->lock);
	drv_unlock(&s->flow->lock);
	return true;
}

/* Closes the stream. Its work was waited for, or the rest of it is dropped. */
static void close_stream(struct hip_stream *s)
{
	struct drv_pause pause = {0};
	bool drop = !all_ended(s);

	drv_mutex_lock(&s->device->lock);
	stream_delist(s);
	drv_mutex_unlock(&s->device->lock);
	hip_capture_remove_stream(s);
	hip_frontier_fini(s);
	/* The thread that holds the stream's lock may wait for the stream; abandon() ends that wait. */
	if (drop)
		hip.hsa->abandon(s->flow);
	/* Called before the stream is gone: a thread that holds a pool's lock may wait for the stream's end. */
	hook_call(atomic_load_explicit(&hip_stream_hooks.closing, memory_order_acquire), s);
	atomic_store(&s->ending, true);
	/* Users wait for operations that have ended or never will, so this loop ends. */
	while (atomic_load(&s->users))
		drv_pause(&pause);
	if (drop)
		end_work(s);
	s->done = hip.hsa->completed(s->flow);
	hip.hsa->destroy(s->flow);
	atomic_store(&s->gone, true);
	hip_stream_put(s->null);
	hip_stream_free_args(s);
	hip_stream_put(s);
}

/* --- null stream and own streams -------------------------------------------------------------- */

hipError_t hip_null_stream(struct hip_device *device, struct hip_stream **stream)
{
	struct hip_stream *s = atomic_load_explicit(&device->null, memory_order_acquire);
	hipError_t r = hipSuccess;

	if (__builtin_expect(!s, 0)) {
		r = hip_fault(device);
		drv_mutex_lock(&device->lock);
		s = atomic_load(&device->null);
		if (!r && !s) {
			r = create_locked(device, hipStreamDefault, 0, &s);
			if (!r) {
				rule_lead(s);
				atomic_store_explicit(&device->null, s, memory_order_release);
			}
		}
		drv_mutex_unlock(&device->lock);
	}
	*stream = s;
	return r;
}

/* A thread's own streams, one for each device; closed when the thread ends. */
static pthread_key_t own_key;
static bool has_own_key; /* false: the program has all keys */
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
	has_own_key = !pthread_key_create(&own_key, free_own);
}

static hipError_t own_stream(struct hip_device *device, struct hip_stream **stream)
{
	struct hip_stream **own;
	hipError_t r = hipSuccess;

	pthread_once(&own_once, make_own_key);
	if (!has_own_key)
		return hipErrorOutOfMemory;
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
		/* One reference is the thread's; close_stream() puts the other. */
		if (!r)
			hip_stream_get(own[device->index]);
	}
	*stream = own[device->index];
	return r;
}

hipError_t hip_stream_of_constant(hipStream_t handle, struct hip_stream **stream)
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
	/* The operation was refused, and the stream goes on. */
	if (r != -ECANCELED && r != -ENODEV && atomic_load(&s->flow->state) == FLOW_ACTIVE)
		return hip_of_errno(r);
	/* HSA's callback may report a more precise error soon. */
	for (unsigned i = 0; i < 1000 && !hip_fault(s->device); i++)
		sched_yield();
	hip_device_fail(s->device, hipErrorLaunchFailure);
	return hip_fault(s->device);
}

bool hip_stream_acquire(struct hip_stream *s)
{
	struct drv_pause pause = {0};

	atomic_fetch_add(&s->users, 1);
	if (__builtin_expect(!atomic_load(&s->ending), 1))
		return true;
	atomic_fetch_sub(&s->users, 1);
	while (!atomic_load(&s->gone))
		drv_pause(&pause);
	return false;
}

/* May return false while another thread submits to the stream. */
static bool has_reached(struct hip_stream *s, uint64_t index)
{
	bool reached;

	if (!hip_stream_acquire(s))
		return true;
	reached = hip.hsa->reached(s->flow, index);
	hip_stream_release(s);
	return reached;
}

/* Submits a wait operation, which has the flow flush the work before the point. A wait for a point that is reached
 * does nothing. */
hipError_t hip_stream_after(struct hip_stream *s, const struct hip_point *point)
{
	struct hip_stream *other = point->stream;
	hipError_t r = hipSuccess;

	if (!other || other == s)
		return hipSuccess;
	if (!has_reached(other, point->index))
		r = hip_stream_submit(s, &(struct flow_op){.kind = FLOW_WAIT, .wait = {other->flow, point->index}});
	/* After the operation: hip_stream_point() reads the frontier before it reads the number of operations. */
	if (!r)
		hip_frontier_merge(s, point);
	return r;
}

/* --- HIP's rules of order --------------------------------------------------------------------- */

/* Orders the stream behind everything that was submitted to the other. */
static hipError_t after_all_of(struct hip_stream *s, struct hip_stream *other)
{
	struct hip_point point = hip_stream_point(other);
	hipError_t r = hip_stream_after(s, &point);

	hip_point_put(&point);
	return r;
}

/* Finds a blocking stream whose work the null stream is not wholly ordered behind, and that this round has not
 * visited yet. *point is its present point (stream NULL: there is none), *now its count of operations and frees. */
static hipError_t find_new(struct hip_stream *null, uint64_t round, struct hip_point *point, uint64_t *now)
{
	struct hip_device *d = null->device;
	hipError_t r = hipSuccess;
	struct hip_stream *s;

	*point = (struct hip_point){0};
	drv_mutex_lock(&d->lock);
	LIST_FOREACH(s, &d->streams, in_device) {
		if (r || point->stream)
			break;
		if (s == null || !hip_stream_blocks(s) || s->null_search == round)
			continue;
		s->null_search = round;
		if (hip_stream_captures(s)) {
			r = hip_capture_lost(s, hipErrorStreamCaptureImplicit);
			continue;
		}
		*now = atomic_load_explicit(&s->frees, memory_order_acquire) + hip_stream_written(s);
		if (*now != s->null_covers)
			*point = hip_stream_point(s);
	}
	drv_mutex_unlock(&d->lock);
	return r;
}

/* A full flow has room again when its work goes on, which may need another thread to make a stream. So the device's
 * lock is not held during the waits. */
static hipError_t after_all_blocking(struct hip_stream *null)
{
	uint64_t round = ++null->null_search, now = 0;
	struct hip_point point;
	hipError_t r;

	while (!(r = find_new(null, round, &point, &now)) && point.stream) {
		r = hip_stream_after(null, &point);
		if (!r)
			point.stream->null_covers = now;
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
	/* After the wait operation was submitted: an event that is recorded from then on is ordered behind the
	 * wait. */
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

/* The null stream cannot be given work while a blocking stream captures. */
static bool may_order(const struct hip_stream *s)
{
	struct hip_device *d = s->device;
	const struct hip_stream *other;
	bool may = true;

	if (s != atomic_load_explicit(&d->null, memory_order_relaxed))
		return !hip_stream_captures(s);
	drv_mutex_lock(&d->lock);
	LIST_FOREACH(other, &d->streams, in_device)
		may = may && (!hip_stream_blocks(other) || !hip_stream_captures(other));
	drv_mutex_unlock(&d->lock);
	return may;
}

void hip_stream_follow_rules(struct hip_stream *s)
{
	if (hip_stream_blocks(s) && may_order(s) && !hip_stream_begin(s))
		hip_stream_done(s);
}

/* Orders s behind everything that the other was given, and behind what HIP's rules order before that. */
static hipError_t order_behind(struct hip_stream *s, struct hip_stream *other)
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
	return r ? r : order_behind(*to, s);
}

hipError_t hip_stream_return(struct hip_stream *s, struct hip_stream *from)
{
	return from == s ? hipSuccess : order_behind(s, from);
}

/* --- points ------------------------------------------------------------------------------------ */

/* Other threads may submit meanwhile. The frontier and the frees are read first, so that the number of operations,
 * read last, covers them. */
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

/* The error of the wait, or of the cooperative grids that the stream waited for. */
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
		/* Until here a reset cannot clear the error: it waits for the release. */
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

/* Returns the device's first stream, with a reference. NULL: none. */
static struct hip_stream *first_stream(struct hip_device *device)
{
	struct hip_stream *s;

	drv_mutex_lock(&device->lock);
	s = LIST_FIRST(&device->streams);
	if (s)
		hip_stream_get(s);
	drv_mutex_unlock(&device->lock);
	return s;
}

#define MOVE_NS 10000000 /* between two counts of the device's steps */

typedef uint64_t host_calls_fn(struct hip_device *device, bool *busy);

static uint64_t device_steps(struct hip_device *device, host_calls_fn *host_calls, bool *busy)
{
	uint64_t executed = hip.hsa->steps(device->agent, busy);

	return executed + host_calls(device, busy);
}

/* True while the GPU or a host function makes progress for the device. */
static bool device_progresses(struct hip_device *device, host_calls_fn *host_calls)
{
	bool busy = false;
	uint64_t before = device_steps(device, host_calls, &busy);

	return device_steps(device, host_calls, &busy) != before || busy;
}

/* Waits until the stream's work has ended, or until no work of the device makes progress: the rest then waits for a
 * value in memory that is never written, or for a stream that does. */
static void wait_while_it_moves(struct hip_stream *s, void *arg)
{
	host_calls_fn *host_calls = *(host_calls_fn **)arg;

	while (hip_stream_acquire(s)) {
		int r = all_ended(s) ? 0 : hip.hsa->wait(s->flow, hip_stream_written(s), MOVE_NS);

		hip_stream_release(s);
		if (r != -ETIMEDOUT || !device_progresses(s->device, host_calls))
			return;
	}
}

void hip_streams_retire(struct hip_device *device, host_calls_fn *host_calls)
{
	hip_streams_each(device, wait_while_it_moves, &host_calls);
}

static void flow_abandon(struct hip_stream *s, void *unused)
{
	(void)unused;
	hip.hsa->abandon(s->flow);
}

/* Closes all streams of the device, whatever the state of their work; their handles become invalid, and threads
 * that wait for them get an error. */
void hip_streams_reset(struct hip_device *device)
{
	struct drv_pause pause = {0};
	struct hip_stream *s;

	/* All flows stop first, so that no stream goes on because another is gone. abandon() runs later, since it
	 * takes a flow's lock, which is outside the device's. */
	drv_mutex_lock(&device->lock);
	LIST_FOREACH(s, &device->streams, in_device)
		flow_stop(s->flow, FLOW_ENDED);
	drv_mutex_unlock(&device->lock);
	hip_streams_each(device, flow_abandon, NULL);
	atomic_store(&device->null, NULL);
	while ((s = first_stream(device))) {
		if (may_close(s))
			close_stream(s);
		else
			drv_pause(&pause);
		hip_stream_put(s);
	}
}

/* --- public functions ------------------------------------------------------------------------- */

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

HIP_PUBLIC(hipStreamCreate, (hipStream_t *stream), (stream))
{
	return stream_create(stream, hipStreamDefault, 0);
}

HIP_PUBLIC(hipStreamCreateWithFlags, (hipStream_t *stream, unsigned int flags), (stream, flags))
{
	return stream_create(stream, flags, 0);
}

HIP_PUBLIC(hipStreamCreateWithPriority, (hipStream_t *stream, unsigned int flags, int priority),
	   (stream, flags, priority))
{
	return stream_create(stream, flags, priority);
}

HIP_PUBLIC(hipDeviceGetStreamPriorityRange, (int *least, int *greatest), (least, greatest))
{
	if (least)
		*least = PRIORITY_LOWEST;
	if (greatest)
		*greatest = PRIORITY_HIGHEST;
	return hipSuccess;
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

HIP_PUBLIC(hipStreamDestroy, (hipStream_t stream), (stream))
{
	hipError_t r;

	r = hip_stream_destroy(stream);
	drv_retire_collect(&hip_calls);
	return r;
}
