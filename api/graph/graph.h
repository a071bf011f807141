/* Graphs: operations that are kept, and put into a stream all at once.
 *
 *   hip_graph   nodes, in the order in which they were made
 *   hip_node    one of them: what it does, and behind which others
 *   hip_work    what a node does
 *   hip_exec    a clone of a graph, that is launched
 *   hip_object  something of the program's that graphs keep alive, counted
 *
 * Programs hold handles, never followed. A graph and its nodes are used by one thread at a time, as HIP demands;
 * while a stream captures into it, by who holds the captures' lock. */
#ifndef API_GRAPH_H
#define API_GRAPH_H

#include "api/exec/op.h"

struct hip_graph;
struct hip_object;
struct hip_graph_alloc;

struct hip_nodes {
	struct hip_node **at; /* owned; the nodes are not */
	size_t count, room;
};

struct hip_work {
	hipGraphNodeType type;
	struct hip_op op; /* of kernels, copies, fills, functions */
	char *args; /* owned. Of kernels: explicit arguments, then the address of each; of values: their list */
	/* Of kernels: */
	void **addresses; /* in args */
	int device;
	unsigned life; /* hip_device.life of that device, of memory's too: what it names is gone when it differs */
	hipAccessPolicyWindow window;
	int priority;    /* kept for the program, without effect */
	int cooperative; /* as it was set */
	/* Of others: */
	hipMemcpy3DParms copy; /* as it was set, if op is a box */
	hipEvent_t event;
	struct hip_graph *child;          /* owned */
	struct hip_graph_alloc *alloc;    /* a reference: memory that is allocated */
	bool instance;                    /* it is an instance's */
	hipMemAllocNodeParams allocation; /* accessDescs: owned; an instance's has none */
	void *freed;
};

struct hip_node {
	uint64_t handle; /* 0: an instance's */
	uint64_t origin; /* the handle of the node that it was cloned from; 0: of none */
	struct hip_graph *graph;
	struct hip_work work;
	struct hip_nodes before, after;
	size_t at;     /* in its graph's nodes */
	size_t waits;  /* while an order, or what is in front of something, is looked for */
	size_t end;    /* of an instance's: the step with which it ends */
	bool disabled; /* of an instance's */
	bool let_be;   /* of a capture's: the program said that nothing has to come behind it */
};

struct hip_graph {
	uint64_t handle;        /* 0: an instance's */
	uint64_t origin;        /* of a clone: the graph's that it was cloned from */
	struct hip_nodes nodes; /* owned, and so are they */
	bool embedded;          /* a node's child: that one destroys it */
	struct hip_held {
		struct hip_held *next;
		struct hip_object *object; /* `count` references */
		uint64_t count;
	} *held; /* owned */
};

static inline struct hip_graph *hip_graph_of(hipGraph_t handle)
{
	return hip_find(HIP_GRAPH, handle);
}
static inline struct hip_node *hip_node_of(hipGraphNode_t handle)
{
	return hip_find(HIP_NODE, handle);
}
static inline hipGraphNode_t hip_node_handle(const struct hip_node *node)
{
	return (hipGraphNode_t)(uintptr_t)node->handle;
}

/* --- graph.c ---------------------------------------------------------------------------------- */

hipError_t hip_graph_create(bool named, struct hip_graph **graph);
void hip_graph_destroy(struct hip_graph *graph);
/* named: it and its nodes get handles. */
hipError_t hip_graph_clone(const struct hip_graph *graph, bool named, struct hip_graph **clone);
/* The node takes over what *work owns; at an error that stays the caller's. */
hipError_t hip_graph_add(struct hip_graph *graph, struct hip_node *const *before, size_t count,
			 struct hip_work *work, struct hip_node **node);
/* One that is there already: hipErrorInvalidValue. */
hipError_t hip_edge_add(struct hip_node *from, struct hip_node *to);
/* Every node behind those it waits for; nodes.count entries. False: there is a circle, and *culprit is in it. */
bool hip_graph_order(const struct hip_graph *graph, struct hip_node **order, struct hip_node **culprit);
hipError_t hip_nodes_append(struct hip_nodes *nodes, struct hip_node *node);
/* A list of count things, which may be elsewhere afterwards, with room for one more. NULL: no memory, and the list
 * is as it was. */
void *hip_list_grow(void *at, size_t *room, size_t count, size_t size_B);

/* --- graph_work.c: what nodes do, from what programs say ---------------------------------------- */

void hip_work_fini(struct hip_work *work);
hipError_t hip_work_copy(struct hip_work *to, const struct hip_work *from, bool named);
hipError_t hip_work_of_op(struct hip_work *work, const struct hip_op *op);
/* It does what a clone of the graph does. */
hipError_t hip_work_of_child(struct hip_work *work, const struct hip_graph *graph, bool named);
hipError_t hip_work_of_3d(struct hip_work *work, const hipMemcpy3DParms *p);
hipError_t hip_work_of_memset(struct hip_work *work, const hipMemsetParams *p);
/* False: it names what a device had before it was reset. */
bool hip_work_lives(const struct hip_work *work);
/* What kernel nodes are named by: a function of a module, or the host's function. */
hipError_t hip_kernel_named(const void *function, struct hip_device *device, const struct hip_kernel **kernel);

/* What is wrong of a node's work. A node that is none goes before that; as CLR, not before a variable that is none.
 */
static inline hipError_t hip_node_refuses(bool known, hipError_t made)
{
	return known || made == hipErrorInvalidSymbol ? made : hipErrorInvalidValue;
}
/* For the public functions: a node with that work, for a node, for an instance's node. made: what making the work
 * gave. They take over what *work owns, whatever they answer. */
hipError_t hip_node_add(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,
			hipError_t made, struct hip_work *work);
hipError_t hip_node_set(hipGraphNode_t node, hipError_t made, struct hip_work *work);
hipError_t hip_exec_set(hipGraphExec_t exec, hipGraphNode_t node, hipError_t made, struct hip_work *work);

/* --- graph_object.c --------------------------------------------------------------------------- */

/* The clone holds what the graph holds. */
hipError_t hip_graph_hold_same(struct hip_graph *clone, const struct hip_graph *graph);
void hip_graph_let_go(struct hip_graph *graph);

#endif
