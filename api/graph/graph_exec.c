/* Instances of graphs: a clone, its nodes in a topological order, and the plan of a launch (graph_plan.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/graph/graph_capture.h"
#include "api/graph/graph_plan.h"
#include "api/module/module.h"
#include "api/stream/serial.h"

/* Uploads and device launches need hipGraphInstantiateWithParams(): CUDA's rule. */
#define FLAGS           ((unsigned)hipGraphInstantiateFlagAutoFreeOnLaunch | hipGraphInstantiateFlagUseNodePriority)
#define FLAGS_OF_PARAMS (FLAGS | (unsigned)hipGraphInstantiateFlagUpload | hipGraphInstantiateFlagDeviceLaunch)

struct hip_exec {
	uint64_t handle;
	unsigned long long flags;
	struct drv_mutex lock;       /* guards the members below */
	struct hip_graph *graph;     /* owned; its nodes have no handles */
	struct hip_graph *replaced;  /* owned: a graph that exec_unlock() destroys */
	struct hip_plan_nodes steps; /* owned */
	bool has_memory;             /* a step allocates or frees memory */
	unsigned lives;              /* hip.lives at the last check for resets */
	unsigned codes;              /* hip_codes at the last check for code that is unloaded */
	struct hip_plan *plan;       /* owned; NULL: the plan is outdated */
	struct hip_point last;       /* owned: the end of the last launch */
	struct drv_retired retired;
};

static struct hip_exec *exec_of(hipGraphExec_t handle)
{
	return hip_find(HIP_EXEC, handle);
}

/* Finds an instance and locks it. NULL: it is none, or another thread has destroyed it; nothing is locked. */
static struct hip_exec *exec_lock(hipGraphExec_t handle)
{
	struct hip_exec *e = exec_of(handle);

	if (!e)
		return NULL;
	drv_mutex_lock(&e->lock);
	if (exec_of(handle))
		return e;
	drv_mutex_unlock(&e->lock);
	return NULL;
}

/* --- steps ------------------------------------------------------------------------------------ */

#define NO_STEP SIZE_MAX

/* Appends a step. n NULL: a joint. */
static hipError_t append_step(struct hip_plan_nodes *s, struct hip_node *n)
{
	struct hip_plan_node *at = hip_list_grow(s->at, &s->room, s->count, sizeof(*at));

	if (!at)
		return hipErrorOutOfMemory;
	s->at = at;
	s->at[s->count++] = (struct hip_plan_node){.node = n, .first = (uint32_t)s->link_count};
	return hipSuccess;
}

/* Makes the last step depend on that one. */
static hipError_t append_link(struct hip_plan_nodes *s, size_t step)
{
	uint32_t *links = hip_list_grow(s->links, &s->link_room, s->link_count, sizeof(*links));

	if (!links)
		return hipErrorOutOfMemory;
	s->links = links;
	s->links[s->link_count++] = (uint32_t)step;
	s->at[s->count - 1].count++;
	return hipSuccess;
}

static hipError_t append_graph(struct hip_plan_nodes *s, const struct hip_graph *g, size_t begin,
			       struct hip_node **culprit);

/* Appends a child graph's steps in its place, between two joints. */
static hipError_t append_child(struct hip_plan_nodes *s, struct hip_node *n, struct hip_node **culprit)
{
	const struct hip_graph *child = n->work.child;
	size_t begin = n->end;
	hipError_t r = append_graph(s, child, begin, culprit);

	n->end = s->count;
	r = r ? r : append_step(s, NULL);
	r = r ? r : append_link(s, begin);
	for (size_t i = 0; i < child->nodes.count && !r; i++)
		if (!child->nodes.at[i]->after.count)
			r = append_link(s, child->nodes.at[i]->end);
	return r;
}

static hipError_t append_node(struct hip_plan_nodes *s, struct hip_node *n, size_t begin, struct hip_node **culprit)
{
	bool child = n->work.type == hipGraphNodeTypeGraph;
	hipError_t r;

	n->end = s->count;
	r = append_step(s, child || n->work.type == hipGraphNodeTypeEmpty ? NULL : n);
	for (size_t i = 0; i < n->before.count && !r; i++)
		r = append_link(s, n->before.at[i]->end);
	if (!n->before.count && begin != NO_STEP && !r)
		r = append_link(s, begin);
	return r || !child ? r : append_child(s, n, culprit);
}

/* Appends the steps of a graph, after the step `begin`. */
static hipError_t append_graph(struct hip_plan_nodes *s, const struct hip_graph *g, size_t begin,
			       struct hip_node **culprit)
{
	struct hip_node **order = calloc(g->nodes.count + 1, sizeof(struct hip_node *));
	hipError_t r = order ? hipSuccess : hipErrorOutOfMemory;

	if (!r && !hip_graph_order(g, order, culprit))
		r = hipErrorInvalidValue;
	for (size_t i = 0; i < g->nodes.count && !r; i++)
		r = append_node(s, order[i], begin, culprit);
	free(order);
	return r;
}

static void free_steps(struct hip_plan_nodes *s)
{
	free(s->at);
	free(s->links);
}

static bool has_memory(const struct hip_plan_nodes *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->at[i].node && (s->at[i].node->work.type == hipGraphNodeTypeMemAlloc ||
				      s->at[i].node->work.type == hipGraphNodeTypeMemFree))
			return true;
	return false;
}

/* The next launch makes a new plan. */
static void drop_plan(struct hip_exec *e)
{
	hip_plan_retire(e->plan, &e->last);
	e->plan = NULL;
}

static bool holds_objects(const struct hip_graph *g)
{
	bool holds = g->held;

	for (size_t i = 0; i < g->nodes.count && !holds; i++)
		holds = g->nodes.at[i]->work.child && holds_objects(g->nodes.at[i]->work.child);
	return holds;
}

static void destroy_called(void *graph, hipError_t error, bool dropped)
{
	(void)error, (void)dropped;
	hip_graph_destroy(graph);
}

/* Destroys a graph when the last launch is completed, if it holds user objects, which the launch may use. The plan is
 * retired. Accepts NULL. */
static void destroy_behind(struct hip_graph *g, const struct hip_point *last)
{
	const struct hip_host host = {.own = destroy_called, .data = g};

	if (g && holds_objects(g)) {
		if (hip_plan_call_behind(last, &host))
			return;
		hip_plan_wait(last);
	}
	hip_graph_destroy(g);
}

/* Replaces the instance's graph, and takes over the new one. After an error nothing has changed. */
static hipError_t take_graph(struct hip_exec *e, struct hip_graph *g, struct hip_node **culprit)
{
	struct hip_plan_nodes s = {0};
	struct hip_plan *plan;
	hipError_t r = append_graph(&s, g, NO_STEP, culprit);

	if (!r)
		r = hip_plan_make(&s, &plan);
	if (r) {
		free_steps(&s);
		return r;
	}
	drop_plan(e);
	free_steps(&e->steps);
	e->plan = plan;
	if (e->graph != g)
		e->replaced = e->graph;
	e->graph = g;
	e->steps = s;
	e->has_memory = has_memory(&s);
	return hipSuccess;
}

/* Unlocks an instance, and then destroys what was replaced: functions of user objects run without locks. */
static void exec_unlock(struct hip_exec *e)
{
	struct hip_graph *g = e->replaced;
	struct hip_point last = g ? hip_point_get(&e->last) : (struct hip_point){0};

	e->replaced = NULL;
	drv_mutex_unlock(&e->lock);
	destroy_behind(g, &last);
	hip_point_put(&last);
}

/* --- instances -------------------------------------------------------------------------------- */

/* The original node of a clone's node. */
static hipGraphNode_t original_node(const struct hip_node *n)
{
	return n ? (hipGraphNode_t)(uintptr_t)n->origin : NULL;
}

/* Copies a graph of the program for an instance. */
static hipError_t clone_named(hipGraph_t handle, struct hip_graph **clone)
{
	const struct hip_graph *g;
	hipError_t r;

	drv_mutex_lock(&hip_graphs_lock);
	g = hip_graph_of(handle);
	r = g ? hip_graph_clone(g, false, clone) : hipErrorInvalidValue;
	drv_mutex_unlock(&hip_graphs_lock);
	return r;
}

static hipError_t make_exec(hipGraph_t graph, unsigned long long flags, struct hip_exec **out,
			    hipGraphNode_t *culprit)
{
	struct hip_exec *e = calloc(1, sizeof(*e));
	struct hip_node *node = NULL;
	struct hip_graph *clone = NULL;
	hipError_t r;

	if (!e)
		return hipErrorOutOfMemory;
	e->flags = flags;
	e->lives = atomic_load(&hip.lives);
	drv_mutex_init(&e->lock, DRV_RANK_HIP_EXEC);
	r = clone_named(graph, &clone);
	if (!r)
		r = take_graph(e, clone, &node);
	if (!r && drv_handle_create(&hip_handles, HIP_KIND(HIP_EXEC), e, &e->handle)) {
		drop_plan(e);
		free_steps(&e->steps);
		r = hipErrorOutOfMemory;
	}
	if (r) {
		*culprit = original_node(node);
		hip_graph_destroy(clone);
		drv_mutex_destroy(&e->lock);
		free(e);
		return r;
	}
	*out = e;
	return hipSuccess;
}

/* CLR's rule: at most one flag. */
static hipError_t exec_instantiate(hipGraphExec_t *out, hipGraph_t handle, unsigned long long flags,
				   unsigned allowed, hipGraphNode_t *culprit)
{
	struct hip_exec *e;
	hipError_t r;

	*culprit = NULL;
	if (!out || !hip_graph_of(handle) || flags & ~(unsigned long long)allowed || flags & (flags - 1))
		return hipErrorInvalidValue;
	if (flags & hipGraphInstantiateFlagDeviceLaunch)
		return hipErrorNotSupported;
	r = make_exec(handle, flags, &e, culprit);
	if (!r)
		*out = (hipGraphExec_t)(uintptr_t)e->handle;
	return r;
}

/* Larger than every message; snprintf() refuses sizes above INT_MAX. */
#define LOG_MOST_B 256

HIP_PUBLIC(hipGraphInstantiate,
	   (hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *error_node, char *log, size_t log_B),
	   (exec, graph, error_node, log, log_B))
{
	hipGraphNode_t culprit;
	hipError_t r;

	r = exec_instantiate(exec, graph, 0, 0, &culprit);
	if (error_node)
		*error_node = culprit;
	if (log && log_B)
		snprintf(log, log_B < LOG_MOST_B ? log_B : LOG_MOST_B, "%s",
			 culprit ? "nodes wait for each other in a circle" : "");
	return r;
}

HIP_PUBLIC(hipGraphInstantiateWithFlags, (hipGraphExec_t *exec, hipGraph_t graph, unsigned long long flags),
	   (exec, graph, flags))
{
	hipGraphNode_t culprit;

	return exec_instantiate(exec, graph, flags, FLAGS, &culprit);
}

HIP_PUBLIC(hipGraphInstantiateWithParams, (hipGraphExec_t *exec, hipGraph_t graph, hipGraphInstantiateParams *p),
	   (exec, graph, p))
{
	hipError_t r;

	if (!p)
		return hipErrorInvalidValue;
	r = exec_instantiate(exec, graph, p->flags, FLAGS_OF_PARAMS, &p->errNode_out);
	p->result_out = !r                          ? hipGraphInstantiateSuccess
			: p->errNode_out            ? hipGraphInstantiateInvalidStructure
			: r == hipErrorNotSupported ? hipGraphInstantiateNodeOperationNotSupported
						    : hipGraphInstantiateError;
	return r;
}

static void free_exec(struct drv_retired *retired)
{
	struct hip_exec *e = vm_container(retired, struct hip_exec, retired);

	drv_mutex_destroy(&e->lock);
	free(e);
}

HIP_PUBLIC(hipGraphExecDestroy, (hipGraphExec_t handle), (handle))
{
	struct hip_exec *e = exec_lock(handle);

	if (!e)
		return hipErrorInvalidValue;
	drv_handle_destroy(&hip_handles, e->handle);
	drop_plan(e);
	free_steps(&e->steps);
	e->replaced = e->graph;
	exec_unlock(e);
	hip_point_put(&e->last);
	drv_retire(&hip_calls, &e->retired, free_exec);
	drv_retire_collect(&hip_calls);
	return hipSuccess;
}

HIP_PUBLIC(hipGraphExecGetFlags, (hipGraphExec_t handle, unsigned long long *flags), (handle, flags))
{
	const struct hip_exec *e;

	e = exec_of(handle);
	if (!e || !flags)
		return hipErrorInvalidValue;
	*flags = e->flags;
	return hipSuccess;
}

/* --- launches --------------------------------------------------------------------------------- */

static bool exec_allocates(const struct hip_exec *e, const void *ptr)
{
	for (size_t i = 0; i < e->steps.count; i++) {
		const struct hip_node *n = e->steps.at[i].node;

		if (n && n->work.alloc && n->work.allocation.dptr == ptr)
			return true;
	}
	return false;
}

/* Checks memory before anything is submitted: memory that the instance allocates must not be in use, unless
 * auto-free was requested; memory that it frees must be in use, unless it also allocates it. */
static hipError_t check_memory(const struct hip_exec *e)
{
	const bool again = e->flags & hipGraphInstantiateFlagAutoFreeOnLaunch;

	for (size_t i = 0; i < e->steps.count; i++) {
		const struct hip_node *n = e->steps.at[i].node;

		if (n && n->work.alloc && !again && hip_graph_alloc_is_used(n->work.allocation.dptr))
			return hipErrorInvalidValue;
		if (n && n->work.freed && !hip_graph_alloc_is_used(n->work.freed) &&
		    !exec_allocates(e, n->work.freed))
			return hipErrorInvalidValue;
	}
	return hipSuccess;
}

/* After a reset of a device: checks whether the instance names anything of that device. The plan may have streams and addresses of
 * the device in any case. */
__attribute__((noinline)) static hipError_t check_lives(struct hip_exec *e, unsigned lives)
{
	for (size_t i = 0; i < e->steps.count; i++)
		if (e->steps.at[i].node && !hip_work_lives(&e->steps.at[i].node->work))
			return hipErrorContextIsDestroyed;
	drop_plan(e);
	e->lives = lives;
	return hipSuccess;
}

/* After code was unloaded: checks whether the kernels of the instance are still there. */
__attribute__((noinline)) static hipError_t check_codes(struct hip_exec *e, unsigned codes)
{
	for (size_t i = 0; i < e->steps.count; i++) {
		struct hip_node *n = e->steps.at[i].node;
		unsigned number;
		hipError_t r;

		if (!n || n->disabled || n->work.type != hipGraphNodeTypeKernel)
			continue;
		number = n->work.number;
		r = hip_work_find_kernel(&n->work);
		if (r)
			return r;
		if (n->work.number != number)
			drop_plan(e);
	}
	e->codes = codes;
	return hipSuccess;
}

static hipError_t launch_locked(struct hip_exec *e, struct hip_stream *s)
{
	unsigned lives = atomic_load_explicit(&hip.lives, memory_order_relaxed);
	unsigned codes = atomic_load_explicit(&hip_codes, memory_order_acquire);
	bool held = true;
	hipError_t r = __builtin_expect(e->lives != lives, 0) ? check_lives(e, lives) : hipSuccess;

	if (!r && __builtin_expect(e->codes != codes, 0))
		r = check_codes(e, codes);
	if (!r && e->has_memory)
		r = check_memory(e);
	if (!r && !e->plan)
		r = hip_plan_make(&e->steps, &e->plan);
	if (!r)
		r = hip_stream_begin(s);
	if (r)
		return r;
	r = hip_stream_after(s, &e->last);
	if (!r)
		r = hip_plan_put(e->plan, s, &held);
	if (!held)
		return r;
	hip_point_move(&e->last, s);
	hip_stream_done(s);
	return r;
}

static hipError_t exec_launch(hipGraphExec_t handle, hipStream_t stream)
{
	struct hip_exec *e;
	struct hip_stream *s;
	bool captures;
	hipError_t r = exec_of(handle) ? hip_stream_of(stream, &s) : hipErrorInvalidValue;

	if (r)
		return r;
	captures = hip_stream_captures(s);
	r = captures ? hipSuccess : hip_serial_before(s, HIP_SERIAL_KERNEL);
	if (r)
		return r;
	e = exec_lock(handle);
	if (!e)
		return hipErrorInvalidValue;
	r = captures ? hip_capture_graph(s, e->graph) : launch_locked(e, s);
	drv_mutex_unlock(&e->lock);
	return r || captures ? r : hip_serial_after(s, HIP_SERIAL_KERNEL);
}

HIP_PUBLIC(hipGraphLaunch, (hipGraphExec_t exec, hipStream_t stream), (exec, stream))
{
	return exec_launch(exec, stream);
}

/* Does nothing: instantiation has prepared everything. */
HIP_PUBLIC(hipGraphUpload, (hipGraphExec_t exec, hipStream_t stream), (exec, stream))
{
	struct hip_stream *s;

	hipError_t r;

	r = exec ? hip_stream_of(stream, &s) : hipErrorInvalidValue;
	return r || exec_of(exec) ? r : hipErrorInvalidValue;
}

/* --- updates ---------------------------------------------------------------------------------- */

static struct hip_node *find_node(const struct hip_graph *g, hipGraphNode_t origin)
{
	struct hip_node *found = NULL;

	for (size_t i = 0; i < g->nodes.count && !found; i++) {
		struct hip_node *n = g->nodes.at[i];

		if (n->origin == (uintptr_t)origin)
			found = n;
		else if (n->work.child)
			found = find_node(n->work.child, origin);
	}
	return found;
}

static bool has_index(const struct hip_nodes *nodes, size_t at)
{
	for (size_t i = 0; i < nodes->count; i++)
		if (nodes->at[i]->at == at)
			return true;
	return false;
}

static bool same_edges(const struct hip_node *a, const struct hip_node *b)
{
	if (a->before.count != b->before.count)
		return false;
	for (size_t i = 0; i < a->before.count; i++)
		if (!has_index(&b->before, a->before.at[i]->at))
			return false;
	return true;
}

static hipGraphExecUpdateResult graphs_compare(const struct hip_graph *a, const struct hip_graph *b,
					       const struct hip_node **culprit);

static hipGraphExecUpdateResult nodes_compare(const struct hip_node *a, const struct hip_node *b,
					      const struct hip_node **culprit)
{
	if (a->work.type != b->work.type)
		return hipGraphExecUpdateErrorNodeTypeChanged;
	if (!same_edges(a, b))
		return hipGraphExecUpdateErrorTopologyChanged;
	if (a->work.type == hipGraphNodeTypeMemAlloc || a->work.type == hipGraphNodeTypeMemFree)
		return hipGraphExecUpdateErrorNotSupported;
	if (a->work.type == hipGraphNodeTypeKernel && a->work.device != b->work.device)
		return hipGraphExecUpdateErrorUnsupportedFunctionChange;
	/* CUDA's rule: a copy keeps its kinds of memory. */
	if (a->work.type == hipGraphNodeTypeMemcpy && a->work.copy.kind != b->work.copy.kind)
		return hipGraphExecUpdateErrorParametersChanged;
	return a->work.child ? graphs_compare(a->work.child, b->work.child, culprit) : hipGraphExecUpdateSuccess;
}

/* Compares two graphs. Nodes correspond by the order of their creation. */
static hipGraphExecUpdateResult graphs_compare(const struct hip_graph *a, const struct hip_graph *b,
					       const struct hip_node **culprit)
{
	hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;

	if (a->nodes.count != b->nodes.count)
		return hipGraphExecUpdateErrorTopologyChanged;
	for (size_t i = 0; i < a->nodes.count && !result; i++) {
		result = nodes_compare(a->nodes.at[i], b->nodes.at[i], culprit);
		if (result && !*culprit)
			*culprit = b->nodes.at[i];
	}
	return result;
}

/* Gives the new nodes the names and the enabled state of the old ones. */
static void take_names(struct hip_graph *to, const struct hip_graph *from)
{
	for (size_t i = 0; i < to->nodes.count; i++) {
		to->nodes.at[i]->origin = from->nodes.at[i]->origin;
		to->nodes.at[i]->disabled = from->nodes.at[i]->disabled;
		if (to->nodes.at[i]->work.child)
			take_names(to->nodes.at[i]->work.child, from->nodes.at[i]->work.child);
	}
}

/* Clones the graph, if the instance may take it. */
static hipError_t update_prepare(struct hip_exec *e, hipGraph_t graph, struct hip_graph **clone,
				 hipGraphNode_t *culprit, hipGraphExecUpdateResult *result)
{
	const struct hip_node *different = NULL;
	const struct hip_graph *g;
	hipError_t r = hipErrorGraphExecUpdateFailure;

	drv_mutex_lock(&hip_graphs_lock);
	g = hip_graph_of(graph);
	*result = g ? graphs_compare(e->graph, g, &different) : hipGraphExecUpdateError;
	if (!g)
		r = hipErrorInvalidValue;
	else if (!*result)
		r = hip_graph_clone(g, false, clone);
	else if (different)
		*culprit = hip_node_handle(different);
	drv_mutex_unlock(&hip_graphs_lock);
	if (r && !*result)
		*result = hipGraphExecUpdateError;
	return r;
}

static hipError_t update_locked(struct hip_exec *e, hipGraph_t graph, hipGraphNode_t *culprit,
				hipGraphExecUpdateResult *result)
{
	struct hip_node *unused;
	struct hip_graph *clone;
	hipError_t r = update_prepare(e, graph, &clone, culprit, result);

	if (r)
		return r;
	*result = hipGraphExecUpdateError;
	take_names(clone, e->graph);
	r = take_graph(e, clone, &unused);
	if (r)
		hip_graph_destroy(clone);
	else
		*result = hipGraphExecUpdateSuccess;
	return r;
}

HIP_PUBLIC(hipGraphExecUpdate,
	   (hipGraphExec_t handle, hipGraph_t graph, hipGraphNode_t *culprit, hipGraphExecUpdateResult *result),
	   (handle, graph, culprit, result))
{
	struct hip_exec *e;
	hipError_t r;

	e = hip_graph_of(graph) && culprit && result ? exec_lock(handle) : NULL;
	if (!e)
		return hipErrorInvalidValue;
	*culprit = NULL;
	r = update_locked(e, graph, culprit, result);
	exec_unlock(e);
	return r;
}

/* Replaces a child graph. */
static hipError_t set_child(struct hip_exec *e, struct hip_node *n, struct hip_work *w)
{
	const struct hip_node *different = NULL;
	struct hip_work old = n->work;
	struct hip_node *unused;
	hipError_t r;

	/* CLR's error. */
	if (graphs_compare(n->work.child, w->child, &different))
		return hipErrorUnknown;
	take_names(w->child, n->work.child);
	n->work = *w;
	r = take_graph(e, e->graph, &unused);
	if (r) {
		n->work = old;
		return r;
	}
	*w = old;
	e->replaced = w->child;
	w->child = NULL;
	return hipSuccess;
}

/* True when the new work may replace the old: it has the same type, and what else is fixed is equal. */
static bool work_replaces(const struct hip_work *w, const struct hip_work *old)
{
	if (old->type != w->type || old->device != w->device)
		return false;
	/* CUDA's rule: a copy keeps its kinds of memory. */
	if (w->type == hipGraphNodeTypeMemcpy)
		return old->copy.kind == w->copy.kind;
	/* CLR's rule: a fill with several rows keeps their number and size. */
	if (w->type == hipGraphNodeTypeMemset)
		return old->op.fill.rows == w->op.fill.rows &&
		       (w->op.fill.rows == 1 || old->op.fill.row_B == w->op.fill.row_B);
	return true;
}

static hipError_t set_locked(struct hip_exec *e, hipGraphNode_t node, struct hip_work *w)
{
	struct hip_node *n = find_node(e->graph, node);
	struct hip_work old;

	if (!node || !n || !work_replaces(w, &n->work))
		return hipErrorInvalidValue;
	if (n->work.child)
		return set_child(e, n, w);
	drop_plan(e);
	old = n->work;
	n->work = *w;
	*w = old;
	return hipSuccess;
}

hipError_t hip_exec_set(hipGraphExec_t handle, hipGraphNode_t node, hipError_t made, struct hip_work *w)
{
	hipError_t r = hipErrorInvalidValue;
	struct hip_exec *e;

	if (made)
		return hip_node_refuses(exec_of(handle) && hip_node_of(node), made);
	e = exec_lock(handle);
	if (e) {
		r = set_locked(e, node, w);
		exec_unlock(e);
	}
	hip_work_fini(w);
	return r;
}

/* --- enabling of nodes ------------------------------------------------------------------------ */

/* Locks the instance, and finds its node. NULL: there is none, and nothing is locked. */
static struct hip_exec *switch_lock(hipGraphExec_t handle, hipGraphNode_t node, struct hip_node **n)
{
	struct hip_exec *e = exec_lock(handle);

	/* A destroyed node's handle names nothing. */
	*n = e && hip_node_of(node) ? find_node(e->graph, node) : NULL;
	if (*n && ((*n)->work.type == hipGraphNodeTypeKernel || (*n)->work.type == hipGraphNodeTypeMemcpy ||
		   (*n)->work.type == hipGraphNodeTypeMemset))
		return e;
	if (e)
		drv_mutex_unlock(&e->lock);
	return NULL;
}

HIP_PUBLIC(hipGraphNodeSetEnabled, (hipGraphExec_t exec, hipGraphNode_t node, unsigned int enabled),
	   (exec, node, enabled))
{
	struct hip_node *n;
	struct hip_exec *e = switch_lock(exec, node, &n);

	if (!e)
		return hipErrorInvalidValue;
	n->disabled = !enabled;
	drop_plan(e);
	drv_mutex_unlock(&e->lock);
	return hipSuccess;
}

HIP_PUBLIC(hipGraphNodeGetEnabled, (hipGraphExec_t exec, hipGraphNode_t node, unsigned int *enabled),
	   (exec, node, enabled))
{
	struct hip_node *n;
	struct hip_exec *e = enabled ? switch_lock(exec, node, &n) : NULL;

	if (!e)
		return hipErrorInvalidValue;
	*enabled = !n->disabled;
	drv_mutex_unlock(&e->lock);
	return hipSuccess;
}
