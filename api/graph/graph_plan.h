/* What a launch of a graph's instance puts into streams: made by graph_plan.c, put by graph_launch.c.
 *
 * Segments go into branches: each of them kernels in a row, all in one segment, or another operation. Kernels'
 * packets and arguments are written once, and read by every launch. A branch is a stream: its segments run one
 * after the other, and of its kernels those at the same time that do not wait for each other. A segment that needs
 * one of another branch waits for it. The first branch is the stream that the graph is launched in, the others
 * begin where that one was, and it goes on behind them all. */
#ifndef API_GRAPH_PLAN_H
#define API_GRAPH_PLAN_H

#include "api/graph/graph_memory.h"
#include "api/stream/point.h"
#include "api/tool/tool.h"

/* An instance's nodes in an order in which they may run, those of children in their place. */
struct hip_plan_node {
	struct hip_node *node; /* NULL: a joint, which does nothing */
	uint32_t first, count; /* in links: the steps that it is behind, all below itself */
};

struct hip_plan_nodes {
	struct hip_plan_node *at; /* owned */
	uint32_t *links;          /* owned */
	size_t count, room, link_count, link_room;
};

struct hip_plan_segment {
	uint32_t branch;
	uint32_t first, count;           /* of the branch's packets; count 0: an operation */
	uint32_t wait, waits;            /* in the plan's waits */
	struct flow_segment *dispatches; /* owned: of the packets */
	const struct hip_work *work;
	bool awaited;           /* by another branch */
	struct hip_point point; /* owned. If so: behind the segment, in the launch that is on */
};

struct hip_plan_branch {
	struct hip_device *device;             /* on which it has to run; NULL: any */
	hsa_kernel_dispatch_packet_t *packets; /* owned */
	struct hip_tool_work *works;           /* owned: what tools are told of each; kernel is not filled in */
	char *args;                            /* owned: of all its kernels */
	size_t args_B;
	uint32_t kernels;
	bool joined; /* segments of the first branch wait for all of it */
	bool begun;  /* in the launch that is on */
	/* A reference, and the handle: for what does not run in the launch's stream; NULL: nothing has. */
	struct hip_stream *stream;
};

struct hip_plan {
	struct hip_plan *next;             /* among those that are retired */
	struct hip_point end;              /* owned: once it is retired, behind what was launched */
	struct hip_plan_segment *segments; /* owned */
	uint32_t count;
	uint32_t *waits;                  /* owned: segments */
	struct hip_plan_branch *branches; /* owned; `branch_count` of them */
	uint32_t branch_count;
	struct hip_point begin; /* owned: where the launch that is on began */
};

/* Of the nodes as they are now. It refers to what operations of nodes that are no kernels consist of. */
hipError_t hip_plan_make(const struct hip_plan_nodes *steps, struct hip_plan **plan);
/* Freed when the point is reached, behind its last launch. NULL is accepted. */
void hip_plan_retire(struct hip_plan *plan, const struct hip_point *last);
/* Between hip_stream_begin() and hip_stream_done(); *held: it still is. One launch at a time. */
hipError_t hip_plan_put(struct hip_plan *plan, struct hip_stream *stream, bool *held);

#endif
