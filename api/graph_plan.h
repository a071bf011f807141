/* What a launch of a graph's instance puts into streams: made by graph_plan.c, put by graph_launch.c.
 *
 * Pieces go into lanes: each of them kernels in a row, all in one segment, or another operation. Kernels' packets
 * and arguments are written once, and read by every launch. A lane is a stream: its pieces run one after the other,
 * and of its kernels those at the same time that do not wait for each other. A piece that needs one of another lane
 * waits for it. The first lane is the stream that the graph is launched in, the others begin where that one was,
 * and it goes on behind them all. */
#ifndef API_GRAPH_PLAN_H
#define API_GRAPH_PLAN_H

#include "api/graph_memory.h"

/* An instance's nodes in an order in which they may run, those of children in their place. */
struct hip_step {
	struct hip_node *node; /* NULL: a joint, which does nothing */
	uint32_t first, count; /* in links: the steps that it is behind, all below itself */
};

struct hip_steps {
	struct hip_step *at; /* owned */
	uint32_t *links;     /* owned */
	size_t count, room, link_count, link_room;
};

struct hip_piece {
	uint32_t lane;
	uint32_t first, count;        /* of the lane's packets; count 0: an operation */
	uint32_t wait, waits;         /* in the plan's waits */
	struct flow_segment *segment; /* owned: of the packets */
	const struct hip_work *work;
	bool awaited;         /* by another lane */
	struct hip_mark mark; /* owned. If so: behind the piece, in the launch that is on */
};

struct hip_lane {
	struct hip_device *device;             /* on which it has to run; NULL: any */
	hsa_kernel_dispatch_packet_t *packets; /* owned */
	struct hip_tool_work *works;           /* owned: what tools are told of each; kernel is not filled in */
	char *args;                            /* owned: of all its kernels */
	size_t args_B;
	uint32_t kernels;
	bool joined; /* pieces of the first lane wait for all of it */
	bool begun;  /* in the launch that is on */
	/* A reference, and the handle: for what does not run in the launch's stream; NULL: nothing has. */
	struct hip_stream *stream;
};

struct hip_plan {
	struct hip_plan *next;    /* among those that are retired */
	struct hip_mark end;      /* owned: once it is retired, behind what was launched */
	struct hip_piece *pieces; /* owned */
	uint32_t count;
	uint32_t *waits;        /* owned: pieces */
	struct hip_lane *lanes; /* owned; `lane_count` of them */
	uint32_t lane_count;
	struct hip_mark begin; /* owned: where the launch that is on began */
};

/* Of the nodes as they are now. It refers to what operations of nodes that are no kernels consist of. */
hipError_t hip_plan_make(const struct hip_steps *steps, struct hip_plan **plan);
/* Freed when the mark is reached, behind its last launch. NULL is accepted. */
void hip_plan_retire(struct hip_plan *plan, const struct hip_mark *last);
/* Between hip_stream_begin() and hip_stream_done(); *held: it still is. One launch at a time. */
hipError_t hip_plan_put(struct hip_plan *plan, struct hip_stream *stream, bool *held);

#endif
