/* Launches of graphs: what graph_plan.c made goes into streams.
 *
 * No two streams are locked at a time: who puts a launch holds the one that it is at. */
#include "api/graph_plan.h"
#include "api/tool.h"

/* --- pieces ----------------------------------------------------------------------------------- */

/* Events have locks of their own, which come before a stream's: it is let go meanwhile. *held: it was taken again.
 */
static hipError_t put_event(struct hip_stream *s, const struct hip_work *w, bool *held)
{
	hipError_t r, again;

	hip_stream_done(s);
	r = w->type == hipGraphNodeTypeEventRecord ? hip_event_record(w->event, s) : hip_event_wait(w->event, s);
	again = hip_stream_begin(s);
	*held = !again;
	return r ? r : again;
}

static hipError_t put_other(struct hip_stream *s, const struct hip_work *w, bool *held)
{
	hipError_t r;

	switch (w->type) {
	case hipGraphNodeTypeEventRecord:
	case hipGraphNodeTypeWaitEvent:
		return put_event(s, w, held);
	case hipGraphNodeTypeMemFree:
		return hip_lease_free(w->freed, s, &r) ? r : hipErrorInvalidValue;
	default:
		return w->op.kind == HIP_OP_BOX ? hip_box_put_later(s, &w->op.box) : hip_op_put(s, &w->op);
	}
}

/* Each kernel an operation of its own, so that tools are told of it. */
static hipError_t put_singly(const struct hip_plan *p, const struct hip_piece *piece, struct hip_stream *s)
{
	const hsa_kernel_dispatch_packet_t *from = p->lanes[piece->lane].packets + piece->first;
	hipError_t r = hipSuccess;

	for (uint32_t i = 0; i < piece->count && !r; i++, from++) {
		const struct cs_kernel *k = hip.door->kernel(s->device->agent, from->kernel_object);
		struct hip_tool_work work = p->lanes[piece->lane].works[piece->first + i];
		hsa_kernel_dispatch_packet_t packet = *from;

		if (work.op == HIP_TOOL_DISPATCH)
			work.kernel = k ? k->name : ""; /* its module may be gone */
		packet.completion_signal = hip_tool_watch(s, &work);
		r = hip_stream_result(s, hip_stream_dispatch(s, &packet));
		if (r)
			hip_tool_forget(packet.completion_signal);
	}
	return r;
}

static hipError_t put_kernels(const struct hip_plan *p, const struct hip_piece *piece, struct hip_stream *s)
{
	if (s->flow->tapped ||
	    (hip_traced() && (hip_tool_wants(HIP_TOOL_DISPATCH) || hip_tool_wants(HIP_TOOL_COPY))))
		return put_singly(p, piece, s);
	return hip_stream_submit(s, &(struct flow_op){.kind = FLOW_SEGMENT, .segment = piece->segment});
}

static hipError_t put_piece(const struct hip_plan *p, const struct hip_piece *piece, struct hip_stream *s,
			    bool *held)
{
	hipError_t r = hipSuccess;

	for (uint32_t i = 0; i < piece->waits && !r; i++)
		r = hip_stream_after(s, &p->pieces[p->waits[piece->wait + i]].mark);
	if (r)
		return r;
	return piece->count ? put_kernels(p, piece, s) : put_other(s, piece->work, held);
}

/* --- lanes ------------------------------------------------------------------------------------ */

/* A launch that is on. */
struct launch {
	struct hip_plan *plan;
	struct hip_stream *stream; /* that it was given to */
	struct hip_stream *at;     /* locked; NULL: none is */
};

static hipError_t go_to(struct launch *l, struct hip_stream *to)
{
	hipError_t r;

	if (l->at == to)
		return hipSuccess;
	if (l->at)
		hip_stream_done(l->at);
	r = hip_stream_begin(to);
	l->at = r ? NULL : to;
	return r;
}

/* The first one's is the launch's own, if its kernels can run there. */
static bool is_elsewhere(const struct launch *l, const struct hip_lane *lane)
{
	return lane != l->plan->lanes || (lane->device && lane->device != l->stream->device);
}

static hipError_t stream_of(const struct launch *l, struct hip_lane *lane, struct hip_stream **stream)
{
	hipError_t r = hipSuccess;

	if (!is_elsewhere(l, lane)) {
		*stream = l->stream;
		return hipSuccess;
	}
	if (!lane->stream) {
		r = hip_stream_create(lane->device ? lane->device : l->stream->device, hipStreamNonBlocking, 0,
				      &lane->stream);
		if (!r)
			hip_stream_get(lane->stream);
	}
	*stream = lane->stream;
	return r;
}

/* Its stream is locked, and goes on where the launch began. */
static hipError_t enter(struct launch *l, struct hip_lane *lane)
{
	struct hip_stream *stream;
	hipError_t r = stream_of(l, lane, &stream);

	r = r ? r : go_to(l, stream);
	if (!r && !lane->begun && stream != l->stream)
		r = hip_stream_after(stream, &l->plan->begin);
	lane->begun |= !r;
	return r;
}

static hipError_t put(struct launch *l, struct hip_piece *piece)
{
	bool held = true;
	hipError_t r;

	/* Only the program can tell. */
	if (!piece->count && piece->work->type == hipGraphNodeTypeMemAlloc) {
		hip_lease_begin(piece->work->lease);
		return hipSuccess;
	}
	r = enter(l, &l->plan->lanes[piece->lane]);
	r = r ? r : put_piece(l->plan, piece, l->at, &held);
	if (!held)
		l->at = NULL;
	else if (!r && piece->awaited)
		hip_mark_move(&piece->mark, l->at);
	return r;
}

static hipError_t join_lane(const struct launch *l, const struct hip_lane *lane)
{
	struct hip_mark mark = hip_stream_mark(lane->stream);
	hipError_t r = hip_stream_after(l->stream, &mark);

	hip_mark_put(&mark);
	return r;
}

/* What follows in the launch's stream begins behind all that was put. all: the first lane's pieces were, too. */
static hipError_t join(struct launch *l, bool all)
{
	struct hip_plan *p = l->plan;
	bool done = all && !is_elsewhere(l, p->lanes);
	hipError_t r = go_to(l, l->stream);

	for (uint32_t i = 0; i < p->lane_count; i++) {
		struct hip_lane *lane = &p->lanes[i];

		if (lane->begun && is_elsewhere(l, lane) && !(lane->joined && done) && !r)
			r = join_lane(l, lane);
		lane->begun = false;
	}
	return r;
}

hipError_t hip_plan_put(struct hip_plan *p, struct hip_stream *s, bool *held)
{
	struct launch l = {.plan = p, .stream = s, .at = s};
	hipError_t r = hipSuccess, joined;

	/* Of one lane nothing begins elsewhere. */
	if (p->lane_count > 1 || is_elsewhere(&l, p->lanes))
		hip_mark_move(&p->begin, s);
	for (uint32_t i = 0; i < p->count && !r; i++)
		r = put(&l, &p->pieces[i]);
	joined = join(&l, !r);
	*held = l.at;
	return r ? r : joined;
}
