/* Graphs, their nodes and edges. */
#include <stdlib.h>
#include <string.h>

#include "api/graph/graph.h"

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
	if (n->handle)
		drv_handle_destroy(&hip_handles, n->handle);
	hip_work_fini(&n->work);
	free(n->before.at);
	free(n->after.at);
	free(n);
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
	if (g->handle && drv_handle_create(&hip_handles, HIP_KIND(HIP_NODE), n, &n->handle)) {
		g->nodes.count--;
		free(n);
		return hipErrorOutOfMemory;
	}
	*out = n;
	return hipSuccess;
}

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
	free_node(n);
}

static bool graph_frees(const struct hip_graph *g, const void *ptr)
{
	for (size_t i = 0; i < g->nodes.count; i++)
		if (g->nodes.at[i]->work.freed == ptr)
			return true;
	return false;
}

hipError_t hip_graph_add(struct hip_graph *g, struct hip_node *const *before, size_t count, struct hip_work *work,
			 struct hip_node **out)
{
	struct hip_node *n;
	hipError_t r = work->freed && graph_frees(g, work->freed) ? hipErrorInvalidValue : new_node(g, &n);

	if (r)
		return r;
	for (size_t i = 0; i < count && !r; i++)
		r = hip_edge_add(before[i], n);
	if (r) {
		remove_node(n);
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

hipError_t hip_node_add(hipGraphNode_t *out, hipGraph_t handle, const hipGraphNode_t *before, size_t count,
			hipError_t made, struct hip_work *work)
{
	struct hip_graph *g = hip_graph_of(handle);
	struct hip_node **nodes = NULL, *n;
	hipError_t r;

	if (made)
		return g && out && (before || !count) ? made : hipErrorInvalidValue;
	r = g && out ? find_all(g, before, count, &nodes) : hipErrorInvalidValue;
	if (!r)
		r = hip_graph_add(g, nodes, count, work, &n);
	free(nodes);
	if (r)
		hip_work_fini(work);
	else
		*out = hip_node_handle(n);
	return r;
}

/* --- graphs ----------------------------------------------------------------------------------- */

hipError_t hip_graph_create(bool named, struct hip_graph **out)
{
	struct hip_graph *g = calloc(1, sizeof(*g));

	if (!g)
		return hipErrorOutOfMemory;
	if (named && drv_handle_create(&hip_handles, HIP_KIND(HIP_GRAPH), g, &g->handle)) {
		free(g);
		return hipErrorOutOfMemory;
	}
	*out = g;
	return hipSuccess;
}

void hip_graph_destroy(struct hip_graph *g)
{
	if (!g)
		return;
	if (g->handle)
		drv_handle_destroy(&hip_handles, g->handle);
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

static hipError_t clone_nodes(const struct hip_graph *from, struct hip_graph *to)
{
	hipError_t r = hipSuccess;

	for (size_t i = 0; i < from->nodes.count && !r; i++) {
		const struct hip_node *n = from->nodes.at[i];
		struct hip_work work;
		struct hip_node *copy;

		r = hip_work_copy(&work, &n->work, to->handle);
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
	hipError_t r = hip_graph_create(named, &clone);

	if (r)
		return r;
	clone->origin = g->handle;
	r = clone_nodes(g, clone);
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

HIP_PUBLIC(hipGraphCreate, (hipGraph_t *out, unsigned int flags), (out, flags))
{
	struct hip_graph *g;
	hipError_t r;

	if (!out || flags)
		return hipErrorInvalidValue;
	r = hip_graph_create(true, &g);
	if (!r)
		*out = (hipGraph_t)(uintptr_t)g->handle;
	return r;
}

HIP_PUBLIC(hipGraphDestroy, (hipGraph_t handle), (handle))
{
	struct hip_graph *g;

	g = hip_graph_of(handle);
	if (!handle || (g && g->embedded))
		return hipErrorInvalidValue;
	if (!g)
		return hipErrorIllegalState;
	hip_graph_destroy(g);
	return hipSuccess;
}

HIP_PUBLIC(hipGraphClone, (hipGraph_t *out, hipGraph_t original), (out, original))
{
	struct hip_graph *g, *clone;
	hipError_t r;

	g = hip_graph_of(original);
	if (!out || !g)
		return hipErrorInvalidValue;
	r = hip_graph_clone(g, true, &clone);
	if (!r)
		*out = (hipGraph_t)(uintptr_t)clone->handle;
	return r;
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

HIP_PUBLIC(hipGraphNodeFindInClone, (hipGraphNode_t *out, hipGraphNode_t original, hipGraph_t clone),
	   (out, original, clone))
{
	return find_in_clone(out, original, clone);
}

/* --- public functions: edges ------------------------------------------------------------------ */

static hipError_t change_edges(hipGraph_t handle, const hipGraphNode_t *from, const hipGraphNode_t *to,
			       size_t count, bool add)
{
	struct hip_graph *g = hip_graph_of(handle);
	hipError_t r = hipSuccess;

	if (!g || (count && (!from || !to)))
		return hipErrorInvalidValue;
	for (size_t i = 0; i < count && !r; i++) {
		struct hip_node *a = hip_node_of(from[i]), *b = hip_node_of(to[i]);
		size_t at;

		if (!a || !b || a->graph != g || b->graph != g)
			return hipErrorInvalidValue;
		if (add)
			r = hip_edge_add(a, b);
		else if (nodes_find(&b->before, a, &at))
			edge_remove(a, b);
		else
			return hipErrorInvalidValue;
	}
	return r;
}

HIP_PUBLIC(hipGraphAddDependencies,
	   (hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count),
	   (graph, from, to, count))
{
	return change_edges(graph, from, to, count, true);
}

HIP_PUBLIC(hipGraphRemoveDependencies,
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

HIP_PUBLIC(hipGraphGetNodes, (hipGraph_t handle, hipGraphNode_t *list, size_t *count), (handle, list, count))
{
	const struct hip_graph *g;

	g = hip_graph_of(handle);
	return g ? nodes_get(&g->nodes, false, list, count) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipGraphGetRootNodes, (hipGraph_t handle, hipGraphNode_t *list, size_t *count), (handle, list, count))
{
	const struct hip_graph *g;

	g = hip_graph_of(handle);
	return g ? nodes_get(&g->nodes, true, list, count) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipGraphNodeGetDependencies, (hipGraphNode_t handle, hipGraphNode_t *list, size_t *count),
	   (handle, list, count))
{
	const struct hip_node *n;

	n = hip_node_of(handle);
	return n ? nodes_get(&n->before, false, list, count) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipGraphNodeGetDependentNodes, (hipGraphNode_t handle, hipGraphNode_t *list, size_t *count),
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

HIP_PUBLIC(hipGraphGetEdges, (hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count),
	   (graph, from, to, count))
{
	return edges_get(hip_graph_of(graph), from, to, count);
}

HIP_PUBLIC(hipGraphNodeGetType, (hipGraphNode_t handle, hipGraphNodeType *type), (handle, type))
{
	const struct hip_node *n;

	n = hip_node_of(handle);
	if (!n || !type)
		return hipErrorInvalidValue;
	*type = n->work.type;
	return hipSuccess;
}

HIP_PUBLIC(hipGraphDestroyNode, (hipGraphNode_t handle), (handle))
{
	struct hip_node *n;

	n = hip_node_of(handle);
	if (!n)
		return hipErrorInvalidValue;
	/* CUDA refuses this, too: the program may have stored the memory's address. */
	if (n->work.type == hipGraphNodeTypeMemAlloc || n->work.type == hipGraphNodeTypeMemFree)
		return hipErrorNotSupported;
	remove_node(n);
	return hipSuccess;
}
