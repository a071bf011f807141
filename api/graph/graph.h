/* Graphs: stored operations that are submitted together.
 *
 *   hip_graph   nodes, in the order of their creation; owned by the program, or by a node as its child
 *   hip_node    a node: its operation, and the nodes before and after it; owned by its graph
 *   hip_work    the operation of a node; part of the node
 *   hip_exec    an instance (hipGraphExec_t): a clone of a graph that is launched; owned by the program
 *   hip_object  a user object that graphs keep alive; counted
 *
 * Programs hold handles, which are looked up. hip_graphs_lock guards all graphs that have handles, and their nodes: a thread
 * has it from the look-up to the last use, and shuts handles under it, so that what it destroys afterwards has no user. It is
 * outside hip_captures_lock. Graphs without handles belong to an instance, whose lock guards them, or to one thread.
 */
#ifndef API_GRAPH_H
#define API_GRAPH_H

#include "drv/lock.h"
#include "api/exec/op.h"

struct hip_graph;
struct hip_object;
struct hip_graph_alloc;

struct hip_nodes {
	struct hip_node **at; /* owned; the nodes are borrowed */
	size_t count, room;
};

struct hip_work {
	hipGraphNodeType type;
	struct hip_op op; /* used by kernels, copies, fills, host functions */
	char *args; /* owned. Of kernels: the explicit arguments, then the address of each; of values and semaphores: their lists */
	/* Members for kernels: */
	void **addresses; /* in `args` */
	int device;
	/* hip_device.life of that device at creation: another value means that what the work names is gone. Used
	 * for memory, too. */
	unsigned life;
	unsigned number; /* hip_kernel.number of op.launch.kernel */
	hipAccessPolicyWindow window;
	int priority;    /* stored for queries, without effect */
	int cooperative; /* value set by the program */
	/* Members for other types: */
	hipMemcpy3DParms copy; /* value set by the program, if op is a box */
	hipEvent_t event;
	struct hip_graph *child;          /* owned */
	struct hip_graph_alloc *alloc;    /* a reference, of an allocation node */
	bool instance;                    /* the node belongs to an instance */
	hipMemAllocNodeParams allocation; /* accessDescs: owned; NULL in an instance */
	void *freed;
};

struct hip_node {
	uint64_t handle; /* 0: the graph has none */
	uint64_t origin; /* handle of the node that this one was cloned from; 0: none */
	struct hip_graph *graph;
	struct hip_work work;
	struct hip_nodes before, after;
	size_t at;     /* index in its graph's nodes */
	size_t waits;  /* scratch value of searches and of the topological sort */
	size_t end;    /* instances: the node's last step */
	bool disabled; /* instances only */
	/* Captured nodes: the program has removed the node from the dependencies, so nothing has to follow it. */
	bool removed_dependency;
};

struct hip_graph {
	uint64_t handle;        /* 0: the graph of an instance, or it is made or destroyed */
	uint64_t origin;        /* clones: handle of the original graph */
	struct hip_nodes nodes; /* owned, with the nodes */
	bool embedded;          /* a child graph, which its node destroys */
	unsigned level; /* how deep it is nested; 0: no child graph. Guarded by hip_graphs_lock if it has handles */
	struct hip_held {
		struct hip_held *next;
		struct hip_object *object; /* `count` references */
		uint64_t count;
	} *held; /* owned */
};

extern DRV_OWN struct drv_mutex hip_graphs_lock;

/* Defines a public function whose body holds hip_graphs_lock. The body destroys no graph. */
#define HIP_PUBLIC_ON_GRAPH(name, parameters, arguments)                                                           \
	static hipError_t name##_locked parameters;                                                                \
	HIP_PUBLIC(name, parameters, arguments)                                                                    \
	{                                                                                                          \
		hipError_t r;                                                                                      \
                                                                                                                   \
		drv_mutex_lock(&hip_graphs_lock);                                                                  \
		r = name##_locked arguments;                                                                       \
		drv_mutex_unlock(&hip_graphs_lock);                                                                \
		return r;                                                                                          \
	}                                                                                                          \
	static hipError_t name##_locked parameters

/* The caller holds hip_graphs_lock while it uses what these give. */
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

/* Makes a graph without handles. */
hipError_t hip_graph_create(struct hip_graph **graph);
/* Gives the graph, its nodes and its child graphs handles, under hip_graphs_lock; the last step of making it. handle: may be NULL. */
hipError_t hip_graph_name(struct hip_graph *graph, hipGraph_t *handle);
/* Shuts the handle and takes the graph from the program, which no other thread uses any more. NULL: the handle is no graph, or a
 * node's child. */
struct hip_graph *hip_graph_take(hipGraph_t handle);
/* Takes hip_graphs_lock if the graph has handles. The functions of user objects may run. */
void hip_graph_destroy(struct hip_graph *graph);
/* Makes a copy without handles. named: handles will follow. */
hipError_t hip_graph_clone(const struct hip_graph *graph, bool named, struct hip_graph **clone);
/* Adds a node, which takes over what *work owns; after an error the caller still owns it. */
hipError_t hip_graph_add(struct hip_graph *graph, struct hip_node *const *before, size_t count,
			 struct hip_work *work, struct hip_node **node);
/* Child graphs nest no deeper: what clones and destroys them recurses. */
#define HIP_GRAPH_LEVELS 32
/* Called before the child graph becomes part of a node of the graph. Errors: NotSupported, when it would be nested too deep. */
hipError_t hip_graph_embed(const struct hip_graph *graph, struct hip_graph *child);
/* Errors: InvalidValue, when the edge exists already. */
hipError_t hip_edge_add(struct hip_node *from, struct hip_node *to);
/* Sorts the nodes topologically; `order` has nodes.count entries. False: there is a cycle, and *culprit is in
 * it. */
bool hip_graph_order(const struct hip_graph *graph, struct hip_node **order, struct hip_node **culprit);
hipError_t hip_nodes_append(struct hip_nodes *nodes, struct hip_node *node);
/* Makes room for one more in a list of `count` entries, which may move. NULL: out of memory, and the list is
 * unchanged. */
void *hip_list_grow(void *at, size_t *room, size_t count, size_t size_B);

/* --- graph_work.c: what nodes do, from what programs say ---------------------------------------- */

void hip_work_fini(struct hip_work *work);
hipError_t hip_work_copy(struct hip_work *to, const struct hip_work *from, bool named);
hipError_t hip_work_of_op(struct hip_work *work, const struct hip_op *op);
/* Makes the work of a child node: a clone of the graph, without handles. */
hipError_t hip_work_of_child(struct hip_work *work, const struct hip_graph *graph, bool named);
hipError_t hip_work_of_3d(struct hip_work *work, const hipMemcpy3DParms *p);
hipError_t hip_work_of_memset(struct hip_work *work, const hipMemsetParams *p);
/* False: the work names device data from before a reset. */
bool hip_work_lives(const struct hip_work *work);
/* Looks up the kernel of the work's launch again, before it is used: the program may have unloaded its code. The work's number
 * changes if the program has other code for the same function now. Errors: those of hip_kernel_named(). */
hipError_t hip_work_find_kernel(struct hip_work *work);

/* Selects the error of a node's work: an unknown node comes first. CLR's exception: an unknown variable comes
 * before it. */
static inline hipError_t hip_node_refuses(bool known, hipError_t made)
{
	return known || made == hipErrorInvalidSymbol ? made : hipErrorInvalidValue;
}
/* Bodies of public functions that add a node, change a node, or change a node of an instance. made: the result of
 * making the work. The functions take over what *work owns, even after an error. */
hipError_t hip_node_add(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,
			hipError_t made, struct hip_work *work);
hipError_t hip_node_set(hipGraphNode_t node, hipError_t made, struct hip_work *work);
hipError_t hip_exec_set(hipGraphExec_t exec, hipGraphNode_t node, hipError_t made, struct hip_work *work);

/* --- graph_object.c --------------------------------------------------------------------------- */

/* Makes the clone hold the objects that the graph holds. */
hipError_t hip_graph_copy_objects(struct hip_graph *clone, const struct hip_graph *graph);
void hip_graph_release_objects(struct hip_graph *graph);

#endif
