/* Plans: what a launch of a graph's instance submits to streams. graph_plan.c makes a plan, graph_launch.c submits
 * it.
 *
 *   hip_plan          branches and segments of an instance, which owns it; a retired plan is owned by a list
 *   hip_plan_branch   a stream's part of the plan; part of the plan
 *   hip_plan_segment  kernels in a row, submitted together, or one other operation; belongs to a branch
 *   hip_plan_node     a step: a node of the instance, in a topological order
 *
 * Packets and arguments of kernels are written once, and read by the GPU at every launch. The segments of a branch
 * run one after the other; kernels of one segment run at the same time if they do not depend on each other. A
 * segment that needs one of another branch waits for it. The first branch is the stream of the launch; the others
 * begin at the point where that stream was, and the stream finally waits for all of them.
 *
 * The instance's lock guards its plan; graph_plan.c's the retired ones.
 */
#ifndef API_GRAPH_PLAN_H
#define API_GRAPH_PLAN_H

#include "api/graph/graph_memory.h"
#include "api/stream/point.h"
#include "api/tool/tool.h"

/* The nodes of an instance in a topological order, with those of child graphs in place of the child. */
struct hip_plan_node {
	struct hip_node *node; /* NULL: a joint, which does nothing */
	uint32_t first, count; /* range of `links`: the steps that this one depends on, all of them earlier */
};

struct hip_plan_nodes {
	struct hip_plan_node *at; /* owned */
	uint32_t *links;          /* owned */
	size_t count, room, link_count, link_room;
};

struct hip_plan_segment {
	uint32_t branch;
	uint32_t first, count;           /* range of the branch's packets; count 0: the segment is one operation */
	uint32_t wait, waits;            /* range of the plan's `waits` */
	struct flow_segment *dispatches; /* owned: the commands of the packets */
	const struct hip_work *work;
	bool took;              /* the present launch has taken the memory of this allocation */
	bool awaited;           /* a segment of another branch waits for this one */
	struct hip_point point; /* owned, if awaited: the segment's end in the present launch */
};

struct hip_plan_branch {
	struct hip_device *device;             /* the device it must run on; NULL: any */
	hsa_kernel_dispatch_packet_t *packets; /* owned */
	struct hip_tool_work *works;           /* owned: records for tools, a packet each; `kernel` is not set */
	char *args;                            /* owned: the arguments of all its kernels */
	size_t args_B;
	uint32_t kernels;
	bool joined; /* segments of the first branch wait for all of this one */
	bool begun;  /* submitted to, in the present launch */
	/* A reference and the handle, of a branch that does not run in the launch's stream; NULL: not used yet. */
	struct hip_stream *stream;
};

struct hip_plan {
	struct hip_plan *next;             /* in the list of retired plans */
	struct hip_point end;              /* owned, of a retired plan: its last launch */
	struct hip_plan_segment *segments; /* owned */
	uint32_t count;
	uint32_t *waits;                  /* owned: indices of segments */
	struct hip_plan_branch *branches; /* owned; `branch_count` of them */
	uint32_t branch_count;
	struct hip_point begin; /* owned: where the present launch began */
};

/* Makes a plan for the present state of the nodes. The plan refers to the work of nodes that are no kernels. */
hipError_t hip_plan_make(const struct hip_plan_nodes *steps, struct hip_plan **plan);
/* Frees the plan when its last launch is completed. Accepts NULL. */
void hip_plan_retire(struct hip_plan *plan, const struct hip_point *last);
/* After hip_plan_retire(): calls the host when the last launch is completed, or when the branches have ended, if its stream does
 * not wait for them any more because its device has failed or was reset. False: all have, or it cannot be, and the caller waits. */
bool hip_plan_call_behind(const struct hip_point *last, const struct hip_host *host);
void hip_plan_wait(const struct hip_point *last);
/* Submits the plan, between hip_stream_begin() and hip_stream_done(). *held: the stream's lock is still held. One
 * launch of a plan at a time. */
hipError_t hip_plan_put(struct hip_plan *plan, struct hip_stream *stream, bool *held);

#endif
