/* What a launch of a graph's instance puts into a stream (graph_plan.c). */
#ifndef API_GRAPH_PLAN_H
#define API_GRAPH_PLAN_H

#include "api/graph_memory.h"

/* An instance's nodes in an order in which they may run, those of children in their place. */
struct hip_step {
	struct hip_node *node;
	size_t behind; /* some of the steps below that number, the last of them for sure */
};

struct hip_plan;

/* Of the nodes as they are now. It refers to what operations of nodes that are no kernels consist of. */
hipError_t hip_plan_make(const struct hip_step *steps, size_t count, struct hip_plan **plan);
/* Freed when the mark is reached, behind its last launch. NULL is accepted. */
void hip_plan_retire(struct hip_plan *plan, const struct hip_mark *last);
/* Between hip_stream_begin() and hip_stream_done(); *held: it still is. The GPU is told by hip_stream_ring().
 * One launch at a time. */
hipError_t hip_plan_put(struct hip_plan *plan, struct hip_stream *stream, bool *held);

#endif
