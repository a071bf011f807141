/* Launches of graphs: submits a plan to its streams. A launch holds the lock of one stream at a time. */
#include "api/exec/event.h"
#include "api/graph/graph_plan.h"

/* --- segments ----------------------------------------------------------------------------------- */

/* Takes the stream's lock again. *held: it succeeded. */
static hipError_t begin_again(struct hip_stream *s, bool *held)
{
	hipError_t r = hip_stream_begin(s);

	*held = !r;
	return r;
}

/* Releases the stream's lock meanwhile: an event's lock comes before it. */
static hipError_t put_event(struct hip_stream *s, const struct hip_work *w, bool *held)
{
	hipError_t r, again;

	hip_stream_done(s);
	r = w->type == hipGraphNodeTypeEventRecord ? hip_event_record(w->event, s) : hip_event_wait(w->event, s);
	again = begin_again(s, held);
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
		return hip_graph_alloc_free(w->freed, s, &r) ? r : hipErrorInvalidValue;
	default:
		return w->op.kind == &hip_op_box ? hip_box_put_later(s, &w->op.box) : hip_op_put(s, &w->op);
	}
}

/* Submits each kernel as an operation of its own, so that tools get a record of each. Handlers of tools that intercept
 * queues run without the stream's lock. */
static hipError_t put_singly(const struct hip_plan *p, const struct hip_plan_segment *segment, struct hip_stream *s,
			     bool *held)
{
	const hsa_kernel_dispatch_packet_t *from = p->branches[segment->branch].packets + segment->first;
	hipError_t r = hipSuccess;

	for (uint32_t i = 0; i < segment->count && !r; i++, from++) {
		const struct cs_kernel *k = hip.hsa->kernel(s->device->agent, from->kernel_object);
		struct hip_tool_work work = p->branches[segment->branch].works[segment->first + i];
		hsa_kernel_dispatch_packet_t packet = *from;

		if (work.op == HIP_TOOL_DISPATCH)
			work.kernel = k ? k->name : ""; /* the module may be unloaded */
		packet.completion_signal = hip_tool_watch(s, &work);
		r = hip_stream_result(s, hip_stream_dispatch(s, &packet));
		if (r)
			hip_tool_forget(packet.completion_signal);
		if (!r && s->flow->tapped) {
			hip_stream_done(s);
			r = begin_again(s, held);
		}
	}
	return r;
}

static hipError_t put_kernels(const struct hip_plan *p, const struct hip_plan_segment *segment,
			      struct hip_stream *s, bool *held)
{
	if (s->flow->tapped ||
	    (hip_traced() && (hip_tool_is_enabled(HIP_TOOL_DISPATCH) || hip_tool_is_enabled(HIP_TOOL_COPY))))
		return put_singly(p, segment, s, held);
	return hip_stream_submit(s, &(struct flow_op){.kind = FLOW_SEGMENT, .segment = segment->dispatches});
}

static hipError_t put_segment(const struct hip_plan *p, const struct hip_plan_segment *segment,
			      struct hip_stream *s, bool *held)
{
	hipError_t r = hipSuccess;

	for (uint32_t i = 0; i < segment->waits && !r; i++)
		r = hip_stream_after(s, &p->segments[p->waits[segment->wait + i]].point);
	if (r)
		return r;
	return segment->count ? put_kernels(p, segment, s, held) : put_other(s, segment->work, held);
}

/* --- branches ------------------------------------------------------------------------------------ */

/* A launch in progress. */
struct launch {
	struct hip_plan *plan;
	struct hip_stream *stream; /* the stream of the launch */
	struct hip_stream *at;     /* the stream whose lock is held; NULL: none */
};

static hipError_t stream_switch(struct launch *l, struct hip_stream *to)
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

/* False for the first branch, if its kernels can run in the launch's stream. */
static bool is_elsewhere(const struct launch *l, const struct hip_plan_branch *branch)
{
	return branch != l->plan->branches || (branch->device && branch->device != l->stream->device);
}

static hipError_t stream_of(const struct launch *l, struct hip_plan_branch *branch, struct hip_stream **stream)
{
	hipError_t r = hipSuccess;

	if (!is_elsewhere(l, branch)) {
		*stream = l->stream;
		return hipSuccess;
	}
	if (!branch->stream) {
		r = hip_stream_create(branch->device ? branch->device : l->stream->device, hipStreamNonBlocking, 0,
				      &branch->stream);
		if (!r)
			hip_stream_get(branch->stream);
	}
	*stream = branch->stream;
	return r;
}

/* Locks the branch's stream; its first segment waits for the point where the launch began. */
static hipError_t branch_enter(struct launch *l, struct hip_plan_branch *branch)
{
	struct hip_stream *stream;
	hipError_t r = stream_of(l, branch, &stream);

	r = r ? r : stream_switch(l, stream);
	if (!r && !branch->begun && stream != l->stream)
		r = hip_stream_after(stream, &l->plan->begin);
	branch->begun |= !r;
	return r;
}

static hipError_t segment_submit(struct launch *l, struct hip_plan_segment *segment)
{
	bool held = true;
	hipError_t r;

	/* An allocation does no work on the GPU; only the program's view of the memory changes. */
	if (!segment->count && segment->work->type == hipGraphNodeTypeMemAlloc) {
		segment->took = hip_graph_alloc_begin(segment->work->alloc);
		return hipSuccess;
	}
	r = branch_enter(l, &l->plan->branches[segment->branch]);
	r = r ? r : put_segment(l->plan, segment, l->at, &held);
	if (!held)
		l->at = NULL;
	else if (!r && segment->awaited)
		hip_point_move(&segment->point, l->at);
	return r;
}

static hipError_t branch_join(const struct launch *l, const struct hip_plan_branch *branch)
{
	struct hip_point point = hip_stream_point(branch->stream);
	hipError_t r = hip_stream_after(l->stream, &point);

	hip_point_put(&point);
	return r;
}

/* Makes the launch's stream wait for every branch. all: the first branch's segments were submitted, too. */
static hipError_t branches_join(struct launch *l, bool all)
{
	struct hip_plan *p = l->plan;
	bool done = all && !is_elsewhere(l, p->branches);
	hipError_t r = stream_switch(l, l->stream);

	for (uint32_t i = 0; i < p->branch_count; i++) {
		struct hip_plan_branch *branch = &p->branches[i];

		if (branch->begun && is_elsewhere(l, branch) && !(branch->joined && done) && !r)
			r = branch_join(l, branch);
		branch->begun = false;
	}
	return r;
}

/* A launch that is refused has allocated nothing for the program, which may launch again. */
__attribute__((cold, noinline)) static void memory_undo(const struct hip_plan *p, uint32_t submitted)
{
	for (uint32_t i = 0; i < submitted; i++)
		if (p->segments[i].took)
			hip_graph_alloc_undo(p->segments[i].work->alloc);
}

hipError_t hip_plan_put(struct hip_plan *p, struct hip_stream *s, bool *held)
{
	struct launch l = {.plan = p, .stream = s, .at = s};
	hipError_t r = hipSuccess, joined;
	uint32_t i;

	/* With one branch nothing begins in another stream. */
	if (p->branch_count > 1 || is_elsewhere(&l, p->branches))
		hip_point_move(&p->begin, s);
	for (i = 0; i < p->count && !r; i++)
		r = segment_submit(&l, &p->segments[i]);
	if (__builtin_expect(r, 0))
		memory_undo(p, i);
	joined = branches_join(&l, !r);
	*held = l.at;
	return r ? r : joined;
}
