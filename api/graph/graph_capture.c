/* Stream capture into graphs: operations of streams that capture become nodes; and the public functions. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/graph/graph_capture.h"

/* A capture's nodes are found by their handles. */
static void captures_lock(void)
{
	drv_mutex_lock(&hip_graphs_lock);
	drv_mutex_lock(&hip_captures_lock);
}

static void captures_unlock(void)
{
	drv_mutex_unlock(&hip_captures_lock);
	drv_mutex_unlock(&hip_graphs_lock);
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* NULL: the node was removed from the graph. */
static struct hip_node *tail_of(const struct hip_stream_capture *p, size_t i, const struct hip_graph *g)
{
	struct hip_node *n = hip_node_of(p->tails[i]);

	return n && n->graph == g ? n : NULL;
}

/* Finds the tails that are still nodes of the graph. */
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

/* The graph of a valid capture; else NULL, and the capture is invalidated. */
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

	/* Room for the new tail is made before the node is added: a stream without tails may have none. */
	if (!r)
		r = hip_capture_reserve(p, 1);
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

	captures_lock();
	r = add_locked(hip_capture_of(s), w);
	captures_unlock();
	if (r)
		hip_work_fini(w);
	return r;
}

static hipError_t capture_op(struct hip_stream *s, const struct hip_op *op)
{
	struct hip_work w;
	hipError_t r = hip_work_of_op(&w, op);

	return r ? r : hip_capture_work(s, &w);
}

hipError_t hip_capture_graph(struct hip_stream *s, const struct hip_graph *g)
{
	struct hip_work w = {.type = hipGraphNodeTypeGraph};
	hipError_t r = hip_work_of_child(&w, g, true);

	if (r)
		return r;
	r = hip_graph_name(w.child, NULL);
	if (!r)
		return hip_capture_work(s, &w);
	hip_work_fini(&w);
	return r;
}

static hipError_t capture_event(struct hip_stream *s, hipEvent_t event)
{
	return hip_capture_work(s, &(struct hip_work){.type = hipGraphNodeTypeEventRecord, .event = event});
}

static void destroy_graph(hipGraph_t graph)
{
	hip_graph_destroy(hip_graph_take(graph));
}

static const struct hip_capture_ops ops = {
	.op = capture_op,
	.event = capture_event,
	.allocate = hip_capture_malloc,
	.free = hip_capture_free,
	.destroy_graph = destroy_graph,
};

/* --- begin and end ---------------------------------------------------------------------------- */

static bool is_legacy(hipStream_t stream)
{
	return !stream || stream == hipStreamLegacy;
}

static hipError_t find_stream(hipStream_t handle, hipStreamCaptureMode mode, struct hip_stream **s)
{
	hipError_t r = is_legacy(handle) ? hipErrorStreamCaptureUnsupported : hip_stream_of(handle, s);

	return r || (unsigned)mode <= hipStreamCaptureModeRelaxed ? r : hipErrorInvalidValue;
}

static hipError_t capture_begin(hipStream_t handle, hipStreamCaptureMode mode)
{
	hipGraph_t graph;
	struct hip_graph *g;
	struct hip_stream *s;
	hipError_t r = find_stream(handle, mode, &s);

	if (!r)
		r = hip_graph_create(&g);
	if (r)
		return r;
	r = hip_graph_name(g, &graph);
	if (r) {
		hip_graph_destroy(g);
		return r;
	}
	drv_mutex_lock(&hip_captures_lock);
	atomic_store(&hip_capture_ops, &ops);
	r = hip_capture_begin_locked(s, mode, graph, true, NULL, 0);
	drv_mutex_unlock(&hip_captures_lock);
	if (r)
		destroy_graph(graph);
	return r;
}

HIP_PUBLIC(hipStreamBeginCapture, (hipStream_t stream, hipStreamCaptureMode mode), (stream, mode))
{
	return capture_begin(stream, mode);
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

static hipError_t capture_begin_to(hipStream_t handle, hipGraph_t graph, const hipGraphNode_t *nodes, size_t count,
				   hipStreamCaptureMode mode)
{
	const struct hip_graph *g;
	struct hip_stream *s;
	hipError_t r =
		hip_graph_of(graph) && !nodes == !count ? find_stream(handle, mode, &s) : hipErrorInvalidValue;

	if (r)
		return r;
	captures_lock();
	atomic_store(&hip_capture_ops, &ops);
	g = hip_graph_of(graph);
	r = g && are_nodes_of(g, nodes, count) ? hip_capture_begin_locked(s, mode, graph, false, nodes, count)
					       : hipErrorInvalidValue;
	captures_unlock();
	return r;
}

HIP_PUBLIC(hipStreamBeginCaptureToGraph,
	   (hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *nodes, const hipGraphEdgeData *edges,
	    size_t count, hipStreamCaptureMode mode),
	   (stream, graph, nodes, edges, count, mode))
{
	return edges ? hipErrorNotSupported : capture_begin_to(stream, graph, nodes, count, mode);
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

/* Marks every node that the origin's tails depend on. Nodes usually come after those they depend on, so that one
 * pass is enough. */
static void mark_waited(const struct hip_stream_capture *origin, const struct hip_graph *g)
{
	bool more;

	for (size_t i = 0; i < g->nodes.count; i++)
		g->nodes.at[i]->waits = g->nodes.at[i]->removed_dependency;
	for (size_t i = 0; i < origin->count; i++)
		if (tail_of(origin, i, g))
			tail_of(origin, i, g)->waits = 1;
	do {
		more = false;
		for (size_t i = g->nodes.count; i > 0; i--)
			more |= g->nodes.at[i - 1]->waits && mark_before(g->nodes.at[i - 1]);
	} while (more);
}

/* Checks that the origin waits for everything that was captured in other streams. */
static hipError_t check_joined(const struct hip_capture *c, const struct hip_graph *g)
{
	mark_waited(hip_capture_of(c->origin), g);
	for (const struct hip_stream_capture *p = c->streams; p; p = p->next)
		for (size_t i = 0; i < p->count; i++) {
			const struct hip_node *n = tail_of(p, i, g);

			if (n && !n->waits)
				return hipErrorStreamCaptureUnjoined;
		}
	return hipSuccess;
}

/* Ends the capture, unless the call itself is wrong. */
static hipError_t end_locked(struct hip_stream *s, hipGraph_t *out, hipGraph_t *spoilt)
{
	struct hip_stream_capture *p = hip_capture_of(s);
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
		*spoilt = c->graph;
	hip_capture_end_locked(c);
	return r;
}

HIP_PUBLIC(hipStreamEndCapture, (hipStream_t stream, hipGraph_t *graph), (stream, graph))
{
	hipGraph_t spoilt = NULL, unwanted = NULL;
	struct hip_stream *s;
	hipError_t r;

	if (!graph && TUFF_HIP_ABI < 7)
		return hipErrorInvalidValue;
	r = is_legacy(stream) ? hipErrorIllegalState : hip_stream_of(stream, &s);
	if (r)
		return r;
	captures_lock();
	r = end_locked(s, graph ? graph : &unwanted, &spoilt);
	captures_unlock();
	if (spoilt || unwanted)
		destroy_graph(spoilt ? spoilt : unwanted);
	return r;
}

/* --- queries and updates ---------------------------------------------------------------------- */

struct info {
	hipStreamCaptureStatus status;
	unsigned long long id;
	hipGraph_t graph;
	const hipGraphNode_t *tails;
	size_t count;
};

/* True when a use of the null stream would wait for a blocking stream that captures. */
static bool null_is_meant(void)
{
	for (const struct hip_capture *c = hip_captures_list; c; c = c->next)
		for (const struct hip_stream_capture *p = c->streams; p; p = p->next)
			if (hip_stream_blocks(p->stream) && p->stream->device == hip_current())
				return true;
	return false;
}

static hipError_t info_locked(hipStream_t handle, const struct hip_stream *s, struct info *info)
{
	const struct hip_stream_capture *p = hip_capture_of(s);

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
	drv_mutex_lock(&hip_captures_lock);
	r = info_locked(handle, s, info);
	drv_mutex_unlock(&hip_captures_lock);
	return r;
}

HIP_PUBLIC(hipStreamIsCapturing, (hipStream_t stream, hipStreamCaptureStatus *status), (stream, status))
{
	struct info info;
	hipError_t r;

	r = status ? get_info(stream, &info) : hipErrorInvalidValue;
	if (!r)
		*status = info.status;
	return r;
}

HIP_PUBLIC(hipStreamGetCaptureInfo, (hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id),
	   (stream, status, id))
{
	struct info info;
	hipError_t r;

	r = status ? get_info(stream, &info) : hipErrorInvalidValue;
	if (!r)
		*status = info.status;
	if (!r && id && info.status == hipStreamCaptureStatusActive)
		*id = info.id;
	return r;
}

HIP_PUBLIC(hipStreamGetCaptureInfo_v2,
	   (hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id, hipGraph_t *graph,
	    const hipGraphNode_t **nodes, size_t *count),
	   (stream, status, id, graph, nodes, count))
{
	struct info info;
	hipError_t r;

	r = status ? get_info(stream, &info) : hipErrorInvalidValue;
	if (r)
		return r;
	*status = info.status;
	if (info.status != hipStreamCaptureStatusActive)
		return hipSuccess;
	if (id)
		*id = info.id;
	if (graph)
		*graph = info.graph;
	if (nodes)
		*nodes = info.tails;
	if (count)
		*count = info.count;
	return hipSuccess;
}

/* CUDA's rule: nodes that the program removes from the dependencies need not be waited for. */
static void drop_tails(struct hip_stream_capture *p, const struct hip_graph *g)
{
	for (size_t i = 0; i < p->count; i++)
		if (tail_of(p, i, g))
			tail_of(p, i, g)->removed_dependency = true;
	p->count = 0;
}

static hipError_t update_locked(struct hip_stream *s, const hipGraphNode_t *nodes, size_t count, unsigned flags)
{
	struct hip_stream_capture *p = hip_capture_of(s);
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
	/* A copy: `nodes` may be the stream's own list, which a query returned. */
	copy = malloc((count + 1) * sizeof(hipGraphNode_t));
	if (!copy)
		return hipErrorOutOfMemory;
	if (count)
		memcpy(copy, nodes, count * sizeof(hipGraphNode_t));
	/* Room is made first: an update that is refused drops nothing. */
	r = hip_capture_reserve(p, count);
	if (!r && flags == hipStreamSetCaptureDependencies)
		drop_tails(p, g);
	if (!r)
		r = hip_capture_add_tails(p, copy, count);
	free(copy);
	return r;
}

HIP_PUBLIC(hipStreamUpdateCaptureDependencies,
	   (hipStream_t stream, hipGraphNode_t *nodes, size_t count, unsigned int flags),
	   (stream, nodes, count, flags))
{
	struct hip_stream *s;
	hipError_t r;

	r = hip_stream_of(stream, &s);
	if (r)
		return r;
	captures_lock();
	r = update_locked(s, nodes, count, flags);
	captures_unlock();
	return r;
}

HIP_PUBLIC(hipThreadExchangeStreamCaptureMode, (hipStreamCaptureMode *mode), (mode))
{
	hipStreamCaptureMode old = hip_thread.capture_mode;

	if (!mode || (unsigned)*mode > hipStreamCaptureModeRelaxed)
		return hipErrorInvalidValue;
	hip_thread.capture_mode = *mode;
	*mode = old;
	return hipSuccess;
}
