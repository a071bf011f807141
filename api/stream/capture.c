/* The state of captures: which streams are in which capture, and after which nodes. graph/ makes the nodes. */
#include "drv/lock.h"
#include "api/stream/capture.h"

#include <stdlib.h>
#include <string.h>

struct drv_mutex hip_captures_lock = DRV_MUTEX(DRV_RANK_HIP_CAPTURES);
struct hip_capture *hip_captures_list;
const struct hip_capture_ops *_Atomic hip_capture_ops;
static uint64_t last_id, last_thread;

/* --- streams of a capture ------------------------------------------------------------------------ */

static bool has_tail(const struct hip_stream_capture *p, hipGraphNode_t node)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->tails[i] == node)
			return true;
	return false;
}

hipError_t hip_capture_reserve(struct hip_stream_capture *p, size_t count)
{
	hipGraphNode_t *tails;

	if (count <= p->room)
		return hipSuccess;
	tails = realloc(p->tails, 2 * count * sizeof(hipGraphNode_t));
	if (!tails)
		return hipErrorOutOfMemory;
	p->tails = tails;
	p->room = 2 * count;
	return hipSuccess;
}

hipError_t hip_capture_add_tails(struct hip_stream_capture *p, const hipGraphNode_t *nodes, size_t count)
{
	hipError_t r = hip_capture_reserve(p, p->count + count);

	for (size_t i = 0; i < count && !r; i++)
		if (!has_tail(p, nodes[i]))
			p->tails[p->count++] = nodes[i];
	return r;
}

static void free_stream_capture(struct hip_stream_capture *p)
{
	atomic_store(&p->stream->capture, NULL);
	hip_stream_put(p->stream);
	free(p->tails);
	free(p);
}

static hipError_t stream_join(struct hip_capture *c, struct hip_stream *s, const hipGraphNode_t *tails,
			      size_t count)
{
	struct hip_stream_capture *p;

	/* The thread that closes the stream may have taken it out of its capture already. */
	if (atomic_load(&s->closing))
		return hipErrorContextIsDestroyed;
	p = calloc(1, sizeof(*p));
	if (!p || hip_capture_add_tails(p, tails, count)) {
		free(p);
		return hipErrorOutOfMemory;
	}
	p->capture = c;
	p->stream = hip_stream_get(s);
	p->next = c->streams;
	c->streams = p;
	atomic_store(&s->capture, p);
	return hipSuccess;
}

/* --- captures --------------------------------------------------------------------------------- */

static struct hip_capture *capture_by_id(uint64_t id)
{
	struct hip_capture *c = hip_captures_list;

	while (c && c->id != id)
		c = c->next;
	return c;
}

void hip_capture_end_locked(struct hip_capture *c)
{
	struct hip_capture **at = &hip_captures_list;

	drv_rank_assert(DRV_RANK_HIP_CAPTURES);
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	while (c->streams) {
		struct hip_stream_capture *p = c->streams;

		c->streams = p->next;
		free_stream_capture(p);
	}
	free(c);
	if (!hip_captures_list)
		atomic_fetch_and(&hip_slow_flags, ~HIP_SLOW_CAPTURE);
}

hipError_t hip_capture_begin_locked(struct hip_stream *s, hipStreamCaptureMode mode, hipGraph_t graph, bool own,
				    const hipGraphNode_t *tails, size_t count)
{
	struct hip_capture *c;
	hipError_t r;

	drv_rank_assert(DRV_RANK_HIP_CAPTURES);
	if (hip_capture_of(s))
		return hipErrorIllegalState;
	c = calloc(1, sizeof(*c));
	if (!c)
		return hipErrorOutOfMemory;
	if (!hip_thread.id)
		hip_thread.id = ++last_thread;
	*c = (struct hip_capture){.next = hip_captures_list,
				  .id = ++last_id,
				  .mode = mode,
				  .thread = hip_thread.id,
				  .own = own,
				  .graph = graph,
				  .origin = s};
	r = stream_join(c, s, tails, count);
	if (r) {
		free(c);
		return r;
	}
	hip_captures_list = c;
	atomic_fetch_or(&hip_slow_flags, HIP_SLOW_CAPTURE);
	return hipSuccess;
}

/* --- events ----------------------------------------------------------------------------------- */

static hipError_t record_locked(const struct hip_stream_capture *p, struct hip_recorded *out)
{
	hipGraphNode_t *tails;

	drv_rank_assert(DRV_RANK_HIP_CAPTURES);
	if (!p || p->capture->lost)
		return hipErrorStreamCaptureInvalidated;
	tails = malloc((p->count + 1) * sizeof(hipGraphNode_t));
	if (!tails)
		return hipErrorOutOfMemory;
	if (p->count)
		memcpy(tails, p->tails, p->count * sizeof(hipGraphNode_t));
	free(out->tails);
	*out = (struct hip_recorded){p->capture->id, tails, p->count};
	return hipSuccess;
}

hipError_t hip_capture_record(struct hip_stream *s, struct hip_recorded *out)
{
	hipError_t r;

	drv_mutex_lock(&hip_captures_lock);
	r = record_locked(hip_capture_of(s), out);
	drv_mutex_unlock(&hip_captures_lock);
	return r;
}

static hipError_t wait_locked(struct hip_capture *c, struct hip_stream *s, const struct hip_recorded *recorded)
{
	struct hip_stream_capture *p = hip_capture_of(s);

	drv_rank_assert(DRV_RANK_HIP_CAPTURES);
	if (c->lost || (p && p->capture->lost))
		return hipErrorStreamCaptureInvalidated;
	if (!p && s == atomic_load(&s->device->null)) {
		c->lost = true;
		return hipErrorStreamCaptureImplicit;
	}
	if (p && p->capture != c) {
		c->lost = p->capture->lost = true;
		return hipErrorStreamCaptureMerge;
	}
	return p ? hip_capture_add_tails(p, recorded->tails, recorded->count)
		 : stream_join(c, s, recorded->tails, recorded->count);
}

hipError_t hip_capture_wait(struct hip_stream *s, const struct hip_recorded *recorded, bool *joined)
{
	struct hip_capture *c;
	hipError_t r = hipSuccess;

	drv_mutex_lock(&hip_captures_lock);
	c = capture_by_id(recorded->capture);
	*joined = c;
	if (c)
		r = wait_locked(c, s, recorded);
	drv_mutex_unlock(&hip_captures_lock);
	return r;
}

bool hip_capture_invalidate_query(const struct hip_recorded *recorded)
{
	struct hip_capture *c;

	if (!recorded->capture)
		return false;
	drv_mutex_lock(&hip_captures_lock);
	c = capture_by_id(recorded->capture);
	if (c)
		c->lost = true;
	drv_mutex_unlock(&hip_captures_lock);
	return c;
}

/* --- unsafe calls during captures ------------------------------------------------------------- */

/* True when the capture forbids unsafe calls to this thread: its own captures that are not relaxed do, and, if the
 * thread's mode is global, other threads' global captures, too. */
static bool capture_forbids(const struct hip_capture *c, enum hip_unsafe unsafe)
{
	if (c->lost || hip_thread.capture_mode == hipStreamCaptureModeRelaxed)
		return false;
	if (c->thread == hip_thread.id)
		return c->mode != hipStreamCaptureModeRelaxed || unsafe == HIP_UNSAFE_ALWAYS;
	return hip_thread.capture_mode == hipStreamCaptureModeGlobal && c->mode == hipStreamCaptureModeGlobal;
}

hipError_t hip_capture_refuses_slow(hipError_t error, enum hip_unsafe unsafe)
{
	hipError_t r = hipSuccess;

	drv_mutex_lock(&hip_captures_lock);
	for (struct hip_capture *c = hip_captures_list; c; c = c->next)
		if (capture_forbids(c, unsafe)) {
			c->lost = unsafe != HIP_UNSAFE_SETTING;
			r = error;
		}
	drv_mutex_unlock(&hip_captures_lock);
	return r;
}

static bool takes_part(const struct hip_capture *c, const struct hip_device *device)
{
	const struct hip_stream_capture *p = c->streams;

	while (p && p->stream->device != device)
		p = p->next;
	return p;
}

hipError_t hip_capture_refuses_device(const struct hip_device *device)
{
	hipError_t r = hipSuccess;

	if (!hip_captures())
		return r;
	drv_mutex_lock(&hip_captures_lock);
	for (struct hip_capture *c = hip_captures_list; c; c = c->next)
		if (!c->lost && takes_part(c, device)) {
			c->lost = true;
			r = hipErrorStreamCaptureUnsupported;
		}
	drv_mutex_unlock(&hip_captures_lock);
	return r;
}

hipError_t hip_capture_lost(struct hip_stream *s, hipError_t error)
{
	drv_mutex_lock(&hip_captures_lock);
	if (hip_capture_of(s))
		hip_capture_of(s)->capture->lost = true;
	drv_mutex_unlock(&hip_captures_lock);
	return error;
}

/* Takes the stream out of the capture. Returns the capture's own graph when no other stream can end the capture,
 * for the caller to destroy; NULL: none. */
static hipGraph_t stream_leave_locked(struct hip_stream_capture *p)
{
	struct hip_capture *c = p->capture;
	hipGraph_t spoilt = c->own && c->origin == p->stream ? c->graph : NULL;
	struct hip_stream_capture **at = &c->streams;
	bool over = c->origin == p->stream;

	drv_rank_assert(DRV_RANK_HIP_CAPTURES);
	c->lost = true;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	free_stream_capture(p);
	if (over)
		hip_capture_end_locked(c);
	return spoilt;
}

void hip_capture_remove_stream(struct hip_stream *s)
{
	hipGraph_t spoilt = NULL;

	drv_mutex_lock(&hip_captures_lock);
	if (hip_capture_of(s))
		spoilt = stream_leave_locked(hip_capture_of(s));
	drv_mutex_unlock(&hip_captures_lock);
	if (spoilt)
		atomic_load(&hip_capture_ops)->destroy_graph(spoilt);
}
