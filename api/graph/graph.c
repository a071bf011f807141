/* Graphs, their nodes and edges. */
#include <stdlib.h>
#include <string.h>

#include "api/graph/graph.h"

struct drv_mutex hip_graphs_lock = DRV_MUTEX(DRV_RANK_HIP_GRAPHS);

/* --- lists ------------------------------------------------------------------------------------ */

#define LIST_MAX UINT32_MAX /* plans count with 32 bits */

void *hip_list_grow(void *at, size_t *room, size_t count, size_t size_B)
{
	size_t more = *room ? 2 * *room : 4;
	void *grown;

	if (count < *room)
		return at;
	grown = more < LIST_MAX ? realloc(at, more * size_B) : NULL;
	if (grown)
		*room = more;
	return grown;
}

hipError_t hip_nodes_append(struct hip_nodes *nodes, struct hip_node *node)
{
	struct hip_node **at = hip_list_grow(nodes->at, &nodes->room, nodes->count, sizeof(*at));

	if (!at)
		return hipErrorOutOfMemory;
	nodes->at = at;
	nodes->at[nodes->count++] = node;
	return hipSuccess;
}

static bool nodes_find(const struct hip_nodes *nodes, const struct hip_node *node, size_t *at)
{
	for (size_t i = 0; i < nodes->count; i++)
		if (nodes->at[i] == node) {
			*at = i;
			return true;
		}
	return false;
}

static void take_out(struct hip_nodes *nodes, const struct hip_node *node)
{
	size_t at;

	if (!nodes_find(nodes, node, &at))
		return;
	nodes->count--;
	memmove(nodes->at + at, nodes->at + at + 1, (nodes->count - at) * sizeof(struct hip_node *));
}

/* --- edges ------------------------------------------------------------------------------------ */

hipError_t hip_edge_add(struct hip_node *from, struct hip_node *to)
{
	size_t at;
	hipError_t r;

	if (from == to || from->graph != to->graph || nodes_find(&to->before, from, &at))
		return hipErrorInvalidValue;
	r = hip_nodes_append(&to->before, from);
	if (!r) {
		r = hip_nodes_append(&from->after, to);
		if (r)
			to->before.count--;
	}
	return r;
}

static void edge_remove(struct hip_node *from, struct hip_node *to)
{
	take_out(&to->before, from);
	take_out(&from->after, to);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void free_node(struct hip_node *n)
{
	hip_work_fini(&n->work);
	free(n->before.at);
	free(n->after.at);
	free(n);
}

static hipError_t node_name(struct hip_node *n)
{
	return drv_handle_create(&hip_handles, HIP_KIND(HIP_NODE), n, &n->handle) ? hipErrorOutOfMemory
										  : hipSuccess;
}

static void handle_shut(uint64_t *handle)
{
	if (*handle)
		drv_handle_destroy(&hip_handles, *handle);
	*handle = 0;
}

static hipError_t new_node(struct hip_graph *g, struct hip_node **out)
{
	struct hip_node *n = calloc(1, sizeof(*n));

	if (!n)
		return hipErrorOutOfMemory;
	n->graph = g;
	n->at = g->nodes.count;
	if (hip_nodes_append(&g->nodes, n)) {
		free(n);
		return hipErrorOutOfMemory;
	}
	if (g->handle && node_name(n)) {
		g->nodes.count--;
		free(n);
		return hipErrorOutOfMemory;
	}
	*out = n;
	return hipSuccess;
}

/* Takes a node out of its graph, and its handle; the caller frees it. */
static void remove_node(struct hip_node *n)
{
	struct hip_graph *g = n->graph;

	while (n->before.count)
		edge_remove(n->before.at[0], n);
	while (n->after.count)
		edge_remove(n, n->after.at[0]);
	take_out(&g->nodes, n);
	for (size_t i = n->at; i < g->nodes.count; i++)
		g->nodes.at[i]->at = i;
	handle_shut(&n->handle);
}

static bool graph_frees(const struct hip_graph *g, const void *ptr)
{
	for (size_t i = 0; i < g->nodes.count; i++)
		if (g->nodes.at[i]->work.freed == ptr)
			return true;
	return false;
}

/* The levels of a graph and its child graphs. */
static unsigned levels_of(const struct hip_graph *g)
{
	unsigned most = 0;

	for (size_t i = 0; i < g->nodes.count; i++) {
		const struct hip_graph *child = g->nodes.at[i]->work.child;
		unsigned levels = child ? levels_of(child) : 0;

		most = levels > most ? levels : most;
	}
	return most + 1;
}

static void level_set(struct hip_graph *g, unsigned level)
{
	g->level = level;
	for (size_t i = 0; i < g->nodes.count; i++)
		if (g->nodes.at[i]->work.child)
			level_set(g->nodes.at[i]->work.child, level + 1);
}

hipError_t hip_graph_embed(const struct hip_graph *graph, struct hip_graph *child)
{
	if (graph->level + levels_of(child) > HIP_GRAPH_LEVELS)
		return hipErrorNotSupported;
	level_set(child, graph->level + 1);
	return hipSuccess;
}

hipError_t hip_graph_add(struct hip_graph *g, struct hip_node *const *before, size_t count, struct hip_work *work,
			 struct hip_node **out)
{
	struct hip_node *n;
	hipError_t r = work->freed && graph_frees(g, work->freed) ? hipErrorInvalidValue : hipSuccess;

	if (!r && work->child)
		r = hip_graph_embed(g, work->child);
	if (!r)
		r = new_node(g, &n);
	if (r)
		return r;
	for (size_t i = 0; i < count && !r; i++)
		r = hip_edge_add(before[i], n);
	if (r) {
		remove_node(n);
		free_node(n);
		return r;
	}
	n->work = *work;
	*out = n;
	return hipSuccess;
}

/* Resolves a list of nodes' handles. */
static hipError_t find_all(struct hip_graph *g, const hipGraphNode_t *handles, size_t count, struct hip_node ***out)
{
	*out = NULL;
	if (!count)
		return hipSuccess;
	if (!handles || count > g->nodes.count)
		return hipErrorInvalidValue;
	*out = calloc(count, sizeof(struct hip_node *));
	if (!*out)
		return hipErrorOutOfMemory;
	for (size_t i = 0; i < count; i++) {
		(*out)[i] = hip_node_of(handles[i]);
		if (!(*out)[i] || (*out)[i]->graph != g)
			return hipErrorInvalidValue;
	}
	return hipSuccess;
}

static hipError_t add_locked(hipGraphNode_t *out, hipGraph_t handle, const hipGraphNode_t *before, size_t count,
			     struct hip_work *work)
{
	struct hip_graph *g = hip_graph_of(handle);
	struct hip_node **nodes = NULL, *n;
	hipError_t r = g && out ? find_all(g, before, count, &nodes) : hipErrorInvalidValue;

	drv_rank_assert(DRV_RANK_HIP_GRAPHS);
	if (!r)
		r = hip_graph_add(g, nodes, count, work, &n);
	free(nodes);
	if (!r)
		*out = hip_node_handle(n);
	return r;
}

hipError_t hip_node_add(hipGraphNode_t *out, hipGraph_t handle, const hipGraphNode_t *before, size_t count,
			hipError_t made, struct hip_work *work)
{
	hipError_t r;

	if (made)
		return hip_graph_of(handle) && out && (before || !count) ? made : hipErrorInvalidValue;
	drv_mutex_lock(&hip_graphs_lock);
	r = add_locked(out, handle, before, count, work);
	drv_mutex_unlock(&hip_graphs_lock);
	if (r)
		hip_work_fini(work);
	return r;
}

/* --- graphs ----------------------------------------------------------------------------------- */

hipError_t hip_graph_create(struct hip_graph **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? hipSuccess : hipErrorOutOfMemory;
}

static hipError_t name_locked(struct hip_graph *g)
{
	hipError_t r = hipSuccess;

	drv_rank_assert(DRV_RANK_HIP_GRAPHS);
	for (size_t i = 0; i < g->nodes.count && !r; i++) {
		struct hip_node *n = g->nodes.at[i];

		r = node_name(n);
		if (!r && n->work.child)
			r = name_locked(n->work.child);
	}
	if (!r && drv_handle_create(&hip_handles, HIP_KIND(HIP_GRAPH), g, &g->handle))
		r = hipErrorOutOfMemory;
	return r;
}

/* Another thread may use the handles, and destroy the graph, as soon as the lock is free. */
hipError_t hip_graph_name(struct hip_graph *g, hipGraph_t *handle)
{
	hipError_t r;

	drv_mutex_lock(&hip_graphs_lock);
	r = name_locked(g);
	if (handle)
		*handle = (hipGraph_t)(uintptr_t)g->handle;
	drv_mutex_unlock(&hip_graphs_lock);
	return r;
}

/* After a hip_graph_name() that has failed, some have no handle. */
static void unname_locked(struct hip_graph *g)
{
	drv_rank_assert(DRV_RANK_HIP_GRAPHS);
	handle_shut(&g->handle);
	for (size_t i = 0; i < g->nodes.count; i++) {
		struct hip_node *n = g->nodes.at[i];

		handle_shut(&n->handle);
		if (n->work.child)
			unname_locked(n->work.child);
	}
}

struct hip_graph *hip_graph_take(hipGraph_t handle)
{
	struct hip_graph *g;

	drv_mutex_lock(&hip_graphs_lock);
	g = hip_graph_of(handle);
	if (g && g->embedded)
		g = NULL;
	if (g)
		unname_locked(g);
	drv_mutex_unlock(&hip_graphs_lock);
	return g;
}

static bool has_handles(const struct hip_graph *g)
{
	return g->handle || (g->nodes.count && g->nodes.at[0]->handle);
}

void hip_graph_destroy(struct hip_graph *g)
{
	if (!g)
		return;
	if (has_handles(g)) {
		drv_mutex_lock(&hip_graphs_lock);
		unname_locked(g);
		drv_mutex_unlock(&hip_graphs_lock);
	}
	for (size_t i = 0; i < g->nodes.count; i++)
		free_node(g->nodes.at[i]);
	free(g->nodes.at);
	hip_graph_release_objects(g);
	free(g);
}

static hipError_t clone_edges(const struct hip_graph *from, struct hip_graph *to)
{
	hipError_t r = hipSuccess;

	for (size_t i = 0; i < from->nodes.count && !r; i++) {
		const struct hip_node *n = from->nodes.at[i];

		for (size_t k = 0; k < n->before.count && !r; k++)
			r = hip_edge_add(to->nodes.at[n->before.at[k]->at], to->nodes.at[i]);
	}
	return r;
}

static hipError_t clone_nodes(const struct hip_graph *from, bool named, struct hip_graph *to)
{
	hipError_t r = hipSuccess;

	for (size_t i = 0; i < from->nodes.count && !r; i++) {
		const struct hip_node *n = from->nodes.at[i];
		struct hip_work work;
		struct hip_node *copy;

		r = hip_work_copy(&work, &n->work, named);
		if (r)
			return r;
		r = hip_graph_add(to, NULL, 0, &work, &copy);
		if (r)
			hip_work_fini(&work);
		else
			copy->origin = n->handle;
	}
	return r ? r : clone_edges(from, to);
}

hipError_t hip_graph_clone(const struct hip_graph *g, bool named, struct hip_graph **out)
{
	struct hip_graph *clone;
	hipError_t r = hip_graph_create(&clone);

	if (r)
		return r;
	clone->origin = g->handle;
	r = clone_nodes(g, named, clone);
	if (!r)
		r = hip_graph_copy_objects(clone, g);
	if (r)
		hip_graph_destroy(clone);
	else
		*out = clone;
	return r;
}

/* Of the nodes that are ready the oldest comes first: `order` is also the queue of ready nodes. */
bool hip_graph_order(const struct hip_graph *g, struct hip_node **order, struct hip_node **culprit)
{
	size_t ready = 0;

	for (size_t i = 0; i < g->nodes.count; i++) {
		g->nodes.at[i]->waits = g->nodes.at[i]->before.count;
		if (!g->nodes.at[i]->waits)
			order[ready++] = g->nodes.at[i];
	}
	for (size_t i = 0; i < ready; i++)
		for (size_t k = 0; k < order[i]->after.count; k++)
			if (!--order[i]->after.at[k]->waits)
				order[ready++] = order[i]->after.at[k];
	for (size_t i = 0; i < g->nodes.count && ready < g->nodes.count; i++)
		if (g->nodes.at[i]->waits)
			*culprit = g->nodes.at[i];
	return ready == g->nodes.count;
}

/* --- public functions: graphs ----------------------------------------------------------------- */

/* Gives a graph that is made to the program. */
static hipError_t graph_give(struct hip_graph *g, hipGraph_t *out)
{
	hipGraph_t handle;
	hipError_t r = hip_graph_name(g, &handle);

	if (r)
		hip_graph_destroy(g);
	else
		*out = handle;
	return r;
}

HIP_PUBLIC(hipGraphCreate, (hipGraph_t *out, unsigned int flags), (out, flags))
{
	struct hip_graph *g;
	hipError_t r;

	if (!out || flags)
		return hipErrorInvalidValue;
	r = hip_graph_create(&g);
	return r ? r : graph_give(g, out);
}

HIP_PUBLIC(hipGraphDestroy, (hipGraph_t handle), (handle))
{
	struct hip_graph *g;

	if (!handle)
		return hipErrorInvalidValue;
	g = hip_graph_take(handle);
	if (!g)
		return hip_graph_of(handle) ? hipErrorInvalidValue : hipErrorIllegalState;
	hip_graph_destroy(g);
	return hipSuccess;
}

HIP_PUBLIC(hipGraphClone, (hipGraph_t *out, hipGraph_t original), (out, original))
{
	struct hip_graph *g, *clone;
	hipError_t r;

	drv_mutex_lock(&hip_graphs_lock);
	g = hip_graph_of(original);
	r = out && g ? hip_graph_clone(g, true, &clone) : hipErrorInvalidValue;
	drv_mutex_unlock(&hip_graphs_lock);
	return r ? r : graph_give(clone, out);
}

static hipError_t find_in_clone(hipGraphNode_t *out, hipGraphNode_t original, hipGraph_t clone)
{
	const struct hip_graph *g = hip_graph_of(clone);

	if (!out || !g || !g->origin || !original)
		return hipErrorInvalidValue;
	for (size_t i = 0; i < g->nodes.count; i++)
		if (g->nodes.at[i]->origin == (uintptr_t)original) {
			*out = hip_node_handle(g->nodes.at[i]);
			return hipSuccess;
		}
	return hipErrorInvalidValue;
}

HIP_PUBLIC_ON_GRAPH(hipGraphNodeFindInClone, (hipGraphNode_t *out, hipGraphNode_t original, hipGraph_t clone),
		    (out, original, clone))
{
	return find_in_clone(out, original, clone);
}

/* --- public functions: edges ------------------------------------------------------------------ */

static hipError_t edge_change(const struct hip_graph *g, hipGraphNode_t from, hipGraphNode_t to, bool add)
{
	struct hip_node *a = hip_node_of(from), *b = hip_node_of(to);
	size_t at;

	if (!a || !b || a->graph != g || b->graph != g)
		return hipErrorInvalidValue;
	if (add)
		return hip_edge_add(a, b);
	if (!nodes_find(&b->before, a, &at))
		return hipErrorInvalidValue;
	edge_remove(a, b);
	return hipSuccess;
}

/* After an error the graph has the edges that it had. */
static hipError_t change_edges(hipGraph_t handle, const hipGraphNode_t *from, const hipGraphNode_t *to,
			       size_t count, bool add)
{
	const struct hip_graph *g = hip_graph_of(handle);
	hipError_t r = hipSuccess;
	size_t i;

	if (!g || (count && (!from || !to)))
		return hipErrorInvalidValue;
	for (i = 0; i < count && !r; i++)
		r = edge_change(g, from[i], to[i], add);
	/* This needs no memory: the lists keep the room of what was removed. */
	for (i -= !!r; r && i > 0; i--)
		(void)!edge_change(g, from[i - 1], to[i - 1], !add);
	return r;
}

HIP_PUBLIC_ON_GRAPH(hipGraphAddDependencies,
		    (hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count),
		    (graph, from, to, count))
{
	return change_edges(graph, from, to, count, true);
}

HIP_PUBLIC_ON_GRAPH(hipGraphRemoveDependencies,
		    (hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count),
		    (graph, from, to, count))
{
	return change_edges(graph, from, to, count, false);
}

/* --- public functions: lists ------------------------------------------------------------------ */

/* Fills the entries after the last one with NULL. */
static void end_list(hipGraphNode_t *list, size_t used, size_t *count)
{
	for (size_t i = used; i < *count; i++)
		list[i] = NULL;
	*count = used < *count ? used : *count;
}

static hipError_t nodes_get(const struct hip_nodes *nodes, bool roots, hipGraphNode_t *list, size_t *count)
{
	size_t used = 0;

	if (!count)
		return hipErrorInvalidValue;
	for (size_t i = 0; i < nodes->count; i++) {
		if (roots && nodes->at[i]->before.count)
			continue;
		if (list && used < *count)
			list[used] = hip_node_handle(nodes->at[i]);
		used++;
	}
	if (list)
		end_list(list, used, count);
	else
		*count = used;
	return hipSuccess;
}

HIP_PUBLIC_ON_GRAPH(hipGraphGetNodes, (hipGraph_t handle, hipGraphNode_t *list, size_t *count),
		    (handle, list, count))
{
	const struct hip_graph *g;

	g = hip_graph_of(handle);
	return g ? nodes_get(&g->nodes, false, list, count) : hipErrorInvalidValue;
}

HIP_PUBLIC_ON_GRAPH(hipGraphGetRootNodes, (hipGraph_t handle, hipGraphNode_t *list, size_t *count),
		    (handle, list, count))
{
	const struct hip_graph *g;

	g = hip_graph_of(handle);
	return g ? nodes_get(&g->nodes, true, list, count) : hipErrorInvalidValue;
}

HIP_PUBLIC_ON_GRAPH(hipGraphNodeGetDependencies, (hipGraphNode_t handle, hipGraphNode_t *list, size_t *count),
		    (handle, list, count))
{
	const struct hip_node *n;

	n = hip_node_of(handle);
	return n ? nodes_get(&n->before, false, list, count) : hipErrorInvalidValue;
}

HIP_PUBLIC_ON_GRAPH(hipGraphNodeGetDependentNodes, (hipGraphNode_t handle, hipGraphNode_t *list, size_t *count),
		    (handle, list, count))
{
	const struct hip_node *n;

	n = hip_node_of(handle);
	return n ? nodes_get(&n->after, false, list, count) : hipErrorInvalidValue;
}

static hipError_t edges_get(const struct hip_graph *g, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count)
{
	size_t used = 0, room;

	if (!g || !count || !from != !to)
		return hipErrorInvalidValue;
	for (size_t i = 0; i < g->nodes.count; i++)
		for (size_t k = 0; k < g->nodes.at[i]->after.count; k++, used++)
			if (from && used < *count) {
				from[used] = hip_node_handle(g->nodes.at[i]);
				to[used] = hip_node_handle(g->nodes.at[i]->after.at[k]);
			}
	room = *count;
	*count = used;
	if (from) {
		*count = room;
		end_list(to, used, count);
		end_list(from, used, &room);
	}
	return hipSuccess;
}

HIP_PUBLIC_ON_GRAPH(hipGraphGetEdges, (hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count),
		    (graph, from, to, count))
{
	return edges_get(hip_graph_of(graph), from, to, count);
}

HIP_PUBLIC_ON_GRAPH(hipGraphNodeGetType, (hipGraphNode_t handle, hipGraphNodeType *type), (handle, type))
{
	const struct hip_node *n;

	n = hip_node_of(handle);
	if (!n || !type)
		return hipErrorInvalidValue;
	*type = n->work.type;
	return hipSuccess;
}

static hipError_t take_node_locked(hipGraphNode_t handle, struct hip_node **node)
{
	struct hip_node *n = hip_node_of(handle);

	drv_rank_assert(DRV_RANK_HIP_GRAPHS);
	if (!n)
		return hipErrorInvalidValue;
	/* CUDA refuses this, too: the program may have stored the memory's address. */
	if (n->work.type == hipGraphNodeTypeMemAlloc || n->work.type == hipGraphNodeTypeMemFree)
		return hipErrorNotSupported;
	remove_node(n);
	*node = n;
	return hipSuccess;
}

HIP_PUBLIC(hipGraphDestroyNode, (hipGraphNode_t handle), (handle))
{
	struct hip_node *n;
	hipError_t r;

	drv_mutex_lock(&hip_graphs_lock);
	r = take_node_locked(handle, &n);
	drv_mutex_unlock(&hip_graphs_lock);
	if (!r)
		free_node(n);
	return r;
}
