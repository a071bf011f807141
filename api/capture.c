#include "api/capture.h"

#include <stdlib.h>
#include <string.h>

#include "api/graph.h"

struct hip_capture {
	struct hip_capture *next; /* of all that are on */
	uint64_t id;
	hipStreamCaptureMode mode;
	uint64_t thread; /* that began it: its id */
	bool lost;
	bool own;         /* the graph was made for it */
	hipGraph_t graph; /* a handle: the program may destroy it */
	struct hip_stream *origin;
	struct hip_stream_capture *streams; /* owned */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that is here */
static struct hip_capture *captures;                     /* owned */
static uint64_t last_id, last_thread;

/* --- streams of a capture ------------------------------------------------------------------------------------ */

static bool has_tail(const struct hip_stream_capture *p, hipGraphNode_t node)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->tails[i] == node)
			return true;
	return false;
}

static hipError_t add_tails(struct hip_stream_capture *p, const hipGraphNode_t *nodes, size_t count)
{
	if (p->count + count > p->room) {
		size_t room = 2 * (p->count + count);
		hipGraphNode_t *tails = realloc(p->tails, room * sizeof(hipGraphNode_t));

		if (!tails)
			return hipErrorOutOfMemory;
		p->tails = tails;
		p->room = room;
	}
	for (size_t i = 0; i < count; i++)
		if (!has_tail(p, nodes[i]))
			p->tails[p->count++] = nodes[i];
	return hipSuccess;
}

static struct hip_stream_capture *capture_of(const struct hip_stream *s)
{
	return atomic_load_explicit(&s->capture, memory_order_relaxed);
}

static void free_stream_capture(struct hip_stream_capture *p)
{
	atomic_store(&p->stream->capture, NULL);
	hip_stream_put(p->stream);
	free(p->tails);
	free(p);
}

static hipError_t join_capture(struct hip_capture *c, struct hip_stream *s, const hipGraphNode_t *tails,
			       size_t count)
{
	struct hip_stream_capture *p = calloc(1, sizeof(*p));

	if (!p || add_tails(p, tails, count)) {
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

/* NULL: it is no node of the graph any more. */
static struct hip_node *tail_of(const struct hip_stream_capture *p, size_t i, const struct hip_graph *g)
{
	struct hip_node *n = hip_node_of(p->tails[i]);

	return n && n->graph == g ? n : NULL;
}

/* Those of the tails that are still nodes of the graph. */
static hipError_t find_tails(const struct hip_stream_capture *p, const struct hip_graph *g, struct hip_nodes *found)
{
	hipError_t r = hipSuccess;

	for (size_t i = 0; i < p->count && !r; i++) {
		struct hip_node *n = tail_of(p, i, g);

		if (n)
			r = hip_nodes_append(found, n);
	}
	return r;
}

/* --- captures --------------------------------------------------------------------------------- */

static struct hip_capture *capture_by_id(uint64_t id)
{
	struct hip_capture *c = captures;

	while (c && c->id != id)
		c = c->next;
	return c;
}

static void end(struct hip_capture *c)
{
	struct hip_capture **at = &captures;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	while (c->streams) {
		struct hip_stream_capture *p = c->streams;

		c->streams = p->next;
		free_stream_capture(p);
	}
	free(c);
	if (!captures)
		atomic_fetch_and(&hip_slow_flags, ~HIP_SLOW_CAPTURE);
}

/* The graph, while the capture is good; else NULL, and it is lost. */
static struct hip_graph *graph_of(struct hip_capture *c)
{
	struct hip_graph *g = c->lost ? NULL : hip_graph_of(c->graph);

	c->lost = !g;
	return g;
}

static hipError_t add_locked(struct hip_stream_capture *p, struct hip_work *w)
{
	struct hip_graph *g = p ? graph_of(p->capture) : NULL;
	struct hip_nodes before = {0};
	struct hip_node *n;
	hipError_t r = g ? find_tails(p, g, &before) : hipErrorStreamCaptureInvalidated;

	/* No room for the tail: there was some for none. */
	if (!r && !p->room)
		r = add_tails(p, &(hipGraphNode_t){NULL}, 1);
	if (!r)
		r = hip_graph_add(g, before.at, before.count, w, &n);
	free(before.at);
	if (r)
		return r;
	p->tails[0] = hip_node_handle(n);
	p->count = 1;
	return hipSuccess;
}

hipError_t hip_capture_work(struct hip_stream *s, struct hip_work *w)
{
	hipError_t r;

	pthread_mutex_lock(&lock);
	r = add_locked(capture_of(s), w);
	pthread_mutex_unlock(&lock);
	if (r)
		hip_work_fini(w);
	return r;
}

hipError_t hip_capture_op(struct hip_stream *s, const struct hip_op *op)
{
	struct hip_work w;
	hipError_t r = hip_work_of_op(&w, op);

	return r ? r : hip_capture_work(s, &w);
}

hipError_t hip_capture_graph(struct hip_stream *s, const struct hip_graph *g)
{
	struct hip_work w = {.type = hipGraphNodeTypeGraph};
	hipError_t r = hip_work_of_child(&w, g, true);

	return r ? r : hip_capture_work(s, &w);
}

/* --- events ----------------------------------------------------------------------------------- */

static hipError_t record_locked(const struct hip_stream_capture *p, struct hip_recorded *out)
{
	hipGraphNode_t *tails;

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

	pthread_mutex_lock(&lock);
	r = record_locked(capture_of(s), out);
	pthread_mutex_unlock(&lock);
	return r;
}

static hipError_t wait_locked(struct hip_capture *c, struct hip_stream *s, const struct hip_recorded *recorded)
{
	struct hip_stream_capture *p = capture_of(s);

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
	return p ? add_tails(p, recorded->tails, recorded->count)
		 : join_capture(c, s, recorded->tails, recorded->count);
}

hipError_t hip_capture_wait(struct hip_stream *s, const struct hip_recorded *recorded, bool *joined)
{
	struct hip_capture *c;
	hipError_t r = hipSuccess;

	pthread_mutex_lock(&lock);
	c = capture_by_id(recorded->capture);
	*joined = c;
	if (c)
		r = wait_locked(c, s, recorded);
	pthread_mutex_unlock(&lock);
	return r;
}

bool hip_capture_invalidate_query(const struct hip_recorded *recorded)
{
	struct hip_capture *c;

	if (!recorded->capture)
		return false;
	pthread_mutex_lock(&lock);
	c = capture_by_id(recorded->capture);
	if (c)
		c->lost = true;
	pthread_mutex_unlock(&lock);
	return c;
}

/* --- what captures do not stand --------------------------------------------------------------- */

/* A thread leaves alone its own captures that are not relaxed, and others' that are global if it is. */
static bool forbids(const struct hip_capture *c)
{
	if (c->lost || hip_thread.capture_mode == hipStreamCaptureModeRelaxed)
		return false;
	if (c->thread == hip_thread.id)
		return c->mode != hipStreamCaptureModeRelaxed;
	return hip_thread.capture_mode == hipStreamCaptureModeGlobal && c->mode == hipStreamCaptureModeGlobal;
}

hipError_t hip_capture_refuses_slow(hipError_t error)
{
	hipError_t r = hipSuccess;

	pthread_mutex_lock(&lock);
	for (struct hip_capture *c = captures; c; c = c->next)
		if (forbids(c)) {
			c->lost = true;
			r = error;
		}
	pthread_mutex_unlock(&lock);
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
	pthread_mutex_lock(&lock);
	for (struct hip_capture *c = captures; c; c = c->next)
		if (!c->lost && takes_part(c, device)) {
			c->lost = true;
			r = hipErrorStreamCaptureUnsupported;
		}
	pthread_mutex_unlock(&lock);
	return r;
}

hipError_t hip_capture_lost(struct hip_stream *s, hipError_t error)
{
	pthread_mutex_lock(&lock);
	if (capture_of(s))
		capture_of(s)->capture->lost = true;
	pthread_mutex_unlock(&lock);
	return error;
}

/* A graph that was made for a capture that nobody else can end. */
static struct hip_graph *leave_locked(struct hip_stream_capture *p)
{
	struct hip_capture *c = p->capture;
	struct hip_graph *spoilt = c->own && c->origin == p->stream ? hip_graph_of(c->graph) : NULL;
	struct hip_stream_capture **at = &c->streams;
	bool over = c->origin == p->stream;

	c->lost = true;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	free_stream_capture(p);
	if (over)
		end(c);
	return spoilt;
}

void hip_capture_leave(struct hip_stream *s)
{
	struct hip_graph *spoilt = NULL;

	pthread_mutex_lock(&lock);
	if (capture_of(s))
		spoilt = leave_locked(capture_of(s));
	pthread_mutex_unlock(&lock);
	hip_graph_destroy(spoilt);
}

/* --- begin and end ---------------------------------------------------------------------------- */

static bool is_legacy(hipStream_t stream)
{
	return !stream || stream == hipStreamLegacy;
}

static hipError_t begin_locked(struct hip_stream *s, hipStreamCaptureMode mode, hipGraph_t graph, bool own,
			       const hipGraphNode_t *tails, size_t count)
{
	struct hip_capture *c;
	hipError_t r;

	if (capture_of(s))
		return hipErrorIllegalState;
	c = calloc(1, sizeof(*c));
	if (!c)
		return hipErrorOutOfMemory;
	if (!hip_thread.id)
		hip_thread.id = ++last_thread;
	*c = (struct hip_capture){.next = captures,
				  .id = ++last_id,
				  .mode = mode,
				  .thread = hip_thread.id,
				  .own = own,
				  .graph = graph,
				  .origin = s};
	r = join_capture(c, s, tails, count);
	if (r) {
		free(c);
		return r;
	}
	captures = c;
	atomic_fetch_or(&hip_slow_flags, HIP_SLOW_CAPTURE);
	return hipSuccess;
}

static hipError_t find_stream(hipStream_t handle, hipStreamCaptureMode mode, struct hip_stream **s)
{
	hipError_t r = is_legacy(handle) ? hipErrorStreamCaptureUnsupported : hip_stream_of(handle, s);

	return r || (unsigned)mode <= hipStreamCaptureModeRelaxed ? r : hipErrorInvalidValue;
}

static hipError_t begin(hipStream_t handle, hipStreamCaptureMode mode)
{
	struct hip_graph *g;
	struct hip_stream *s;
	hipError_t r = find_stream(handle, mode, &s);

	if (!r)
		r = hip_graph_create(true, &g);
	if (r)
		return r;
	pthread_mutex_lock(&lock);
	r = begin_locked(s, mode, (hipGraph_t)(uintptr_t)g->handle, true, NULL, 0);
	pthread_mutex_unlock(&lock);
	if (r)
		hip_graph_destroy(g);
	return r;
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
	HIP_ENTER();
	return hip_end(begin(stream, mode));
}

static bool are_nodes_of(const struct hip_graph *g, const hipGraphNode_t *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct hip_node *n = hip_node_of(nodes[i]);

		if (!n || n->graph != g)
			return false;
	}
	return true;
}

static hipError_t begin_to(hipStream_t handle, hipGraph_t graph, const hipGraphNode_t *nodes, size_t count,
			   hipStreamCaptureMode mode)
{
	const struct hip_graph *g = hip_graph_of(graph);
	struct hip_stream *s;
	hipError_t r = g && !nodes == !count ? find_stream(handle, mode, &s) : hipErrorInvalidValue;

	if (r)
		return r;
	pthread_mutex_lock(&lock);
	r = are_nodes_of(g, nodes, count) ? begin_locked(s, mode, graph, false, nodes, count)
					  : hipErrorInvalidValue;
	pthread_mutex_unlock(&lock);
	return r;
}

hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *nodes,
					const hipGraphEdgeData *edges, size_t count, hipStreamCaptureMode mode)
{
	HIP_ENTER();
	return hip_end(edges ? hipErrorNotSupported : begin_to(stream, graph, nodes, count, mode));
}

static bool mark_before(const struct hip_node *n)
{
	bool any = false;

	for (size_t i = 0; i < n->before.count; i++) {
		any |= !n->before.at[i]->waits;
		n->before.at[i]->waits = 1;
	}
	return any;
}

/* The nodes in front of where the stream is: those that it waits for. Nearly all stand behind those in front of
 * them: one pass does, as a rule. */
static void mark_waited(const struct hip_stream_capture *origin, const struct hip_graph *g)
{
	bool more;

	for (size_t i = 0; i < g->nodes.count; i++)
		g->nodes.at[i]->waits = g->nodes.at[i]->let_be;
	for (size_t i = 0; i < origin->count; i++)
		if (tail_of(origin, i, g))
			tail_of(origin, i, g)->waits = 1;
	do {
		more = false;
		for (size_t i = g->nodes.count; i > 0; i--)
			more |= g->nodes.at[i - 1]->waits && mark_before(g->nodes.at[i - 1]);
	} while (more);
}

/* The stream of the capture has waited for what the others did. */
static hipError_t check_joined(const struct hip_capture *c, const struct hip_graph *g)
{
	mark_waited(capture_of(c->origin), g);
	for (const struct hip_stream_capture *p = c->streams; p; p = p->next)
		for (size_t i = 0; i < p->count; i++) {
			const struct hip_node *n = tail_of(p, i, g);

			if (n && !n->waits)
				return hipErrorStreamCaptureUnjoined;
		}
	return hipSuccess;
}

/* The capture is over, unless the call was wrong. */
static hipError_t end_locked(struct hip_stream *s, hipGraph_t *out, struct hip_graph **spoilt)
{
	struct hip_stream_capture *p = capture_of(s);
	struct hip_capture *c = p ? p->capture : NULL;
	struct hip_graph *g;
	hipError_t r;

	if (!c)
		return hipErrorIllegalState;
	if (c->origin != s) {
		c->lost = true;
		return hipErrorStreamCaptureUnmatched;
	}
	if (c->thread != hip_thread.id && c->mode != hipStreamCaptureModeRelaxed)
		return hipErrorStreamCaptureWrongThread;
	g = graph_of(c);
	r = g ? check_joined(c, g) : hipErrorStreamCaptureInvalidated;
	*out = r ? NULL : c->graph;
	if (r && c->own)
		*spoilt = hip_graph_of(c->graph);
	end(c);
	return r;
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph)
{
	struct hip_graph *spoilt = NULL;
	struct hip_stream *s;
	hipError_t r;

	HIP_ENTER();
	if (!graph)
		return hip_end(hipErrorInvalidValue);
	r = is_legacy(stream) ? hipErrorIllegalState : hip_stream_of(stream, &s);
	if (r)
		return hip_end(r);
	pthread_mutex_lock(&lock);
	r = end_locked(s, graph, &spoilt);
	pthread_mutex_unlock(&lock);
	hip_graph_destroy(spoilt);
	return hip_end(r);
}

/* --- what is going on ------------------------------------------------------------------------- */

struct info {
	hipStreamCaptureStatus status;
	unsigned long long id;
	hipGraph_t graph;
	const hipGraphNode_t *tails;
	size_t count;
};

/* The null stream's work would come behind that of a stream that captures. */
static bool null_is_meant(void)
{
	for (const struct hip_capture *c = captures; c; c = c->next)
		for (const struct hip_stream_capture *p = c->streams; p; p = p->next)
			if (hip_stream_blocks(p->stream) && p->stream->device == hip_current())
				return true;
	return false;
}

static hipError_t info_locked(hipStream_t handle, const struct hip_stream *s, struct info *info)
{
	const struct hip_stream_capture *p = capture_of(s);

	*info = (struct info){.status = hipStreamCaptureStatusNone};
	if (is_legacy(handle) && null_is_meant())
		return hipErrorStreamCaptureImplicit;
	if (!p)
		return hipSuccess;
	*info = (struct info){hipStreamCaptureStatusActive, p->capture->id, p->capture->graph, p->tails, p->count};
	if (p->capture->lost)
		info->status = hipStreamCaptureStatusInvalidated;
	return hipSuccess;
}

static hipError_t get_info(hipStream_t handle, struct info *info)
{
	struct hip_stream *s;
	hipError_t r = hip_stream_of(handle, &s);

	if (r)
		return r;
	pthread_mutex_lock(&lock);
	r = info_locked(handle, s, info);
	pthread_mutex_unlock(&lock);
	return r;
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status)
{
	struct info info;
	hipError_t r;

	HIP_ENTER();
	r = status ? get_info(stream, &info) : hipErrorInvalidValue;
	if (!r)
		*status = info.status;
	return hip_end(r);
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id)
{
	struct info info;
	hipError_t r;

	HIP_ENTER();
	r = status ? get_info(stream, &info) : hipErrorInvalidValue;
	if (!r)
		*status = info.status;
	if (!r && id && info.status == hipStreamCaptureStatusActive)
		*id = info.id;
	return hip_end(r);
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id,
				      hipGraph_t *graph, const hipGraphNode_t **nodes, size_t *count)
{
	struct info info;
	hipError_t r;

	HIP_ENTER();
	r = status ? get_info(stream, &info) : hipErrorInvalidValue;
	if (r)
		return hip_end(r);
	*status = info.status;
	if (info.status != hipStreamCaptureStatusActive)
		return hip_end(hipSuccess);
	if (id)
		*id = info.id;
	if (graph)
		*graph = info.graph;
	if (nodes)
		*nodes = info.tails;
	if (count)
		*count = info.count;
	return hip_end(hipSuccess);
}

/* As CUDA has it, what the program takes out of the list need not be waited for. */
static void drop_tails(struct hip_stream_capture *p, const struct hip_graph *g)
{
	for (size_t i = 0; i < p->count; i++)
		if (tail_of(p, i, g))
			tail_of(p, i, g)->let_be = true;
	p->count = 0;
}

static hipError_t update_locked(struct hip_stream *s, const hipGraphNode_t *nodes, size_t count, unsigned flags)
{
	struct hip_stream_capture *p = capture_of(s);
	const struct hip_graph *g;
	hipGraphNode_t *copy;
	hipError_t r;

	if (!p)
		return hipErrorIllegalState;
	g = graph_of(p->capture);
	if (!g)
		return hipErrorStreamCaptureInvalidated;
	if (flags > hipStreamSetCaptureDependencies || (count && !nodes) || !are_nodes_of(g, nodes, count))
		return hipErrorInvalidValue;
	/* They may be the stream's own list, as the program was told it. */
	copy = malloc((count + 1) * sizeof(hipGraphNode_t));
	if (!copy)
		return hipErrorOutOfMemory;
	if (count)
		memcpy(copy, nodes, count * sizeof(hipGraphNode_t));
	if (flags == hipStreamSetCaptureDependencies)
		drop_tails(p, g);
	r = add_tails(p, copy, count);
	free(copy);
	return r;
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *nodes, size_t count,
					      unsigned int flags)
{
	struct hip_stream *s;
	hipError_t r;

	HIP_ENTER();
	r = hip_stream_of(stream, &s);
	if (r)
		return hip_end(r);
	pthread_mutex_lock(&lock);
	r = update_locked(s, nodes, count, flags);
	pthread_mutex_unlock(&lock);
	return hip_end(r);
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode)
{
	hipStreamCaptureMode old = hip_thread.capture_mode;

	HIP_ENTER();
	if (!mode || (unsigned)*mode > hipStreamCaptureModeRelaxed)
		return hip_end(hipErrorInvalidValue);
	hip_thread.capture_mode = *mode;
	*mode = old;
	return hip_end(hipSuccess);
}
