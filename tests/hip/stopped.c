/* A thread that is stopped inside a call, while another thread destroys the object that the call uses: objects are freed when the
 * thread has left the call. */
#define _GNU_SOURCE
#include <hip/hip_runtime_api.h>

#include "tests/hip/stopper.h"

#define ROUNDS 150
#define OTHERS 80 /* more than the library frees at a time */

static hipStream_t stream;
static hipEvent_t event;
static hipGraph_t graph;
static hipGraphExec_t instance;

static int is_defined(hipError_t r)
{
	return r == hipSuccess || r == hipErrorNotReady || r == hipErrorContextIsDestroyed ||
	       r == hipErrorInvalidHandle || r == hipErrorInvalidResourceHandle || r == hipErrorInvalidValue;
}

/* --- streams and events ----------------------------------------------------------------------- */

static void stream_create(void)
{
	CHECK_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
	CHECK_EQ(hipEventCreateWithFlags(&event, hipEventDisableTiming), hipSuccess);
}

static int stream_use(void)
{
	return !is_defined(hipStreamQuery(stream)) + !is_defined(hipEventRecord(event, stream)) +
	       !is_defined(hipEventQuery(event)) + !is_defined(hipStreamWaitEvent(stream, event, 0)) +
	       !is_defined(hipStreamSynchronize(stream));
}

static void stream_destroy(void)
{
	hipStream_t s;
	hipEvent_t e;

	(void)!hipStreamDestroy(stream);
	(void)!hipEventDestroy(event);
	for (int i = 0; i < OTHERS; i++) {
		if (!hipEventCreateWithFlags(&e, hipEventDisableTiming))
			(void)!hipEventDestroy(e);
		if (!hipStreamCreateWithFlags(&s, hipStreamNonBlocking))
			(void)!hipStreamDestroy(s);
	}
}

/* --- instances of graphs ---------------------------------------------------------------------- */

static void instance_create(void)
{
	CHECK_EQ(hipGraphInstantiateWithFlags(&instance, graph, 0), hipSuccess);
}

static int instance_use(void)
{
	return !is_defined(hipGraphLaunch(instance, NULL));
}

static void instance_destroy(void)
{
	hipGraphExec_t e;

	(void)!hipGraphExecDestroy(instance);
	for (int i = 0; i < OTHERS; i++)
		if (!hipGraphInstantiateWithFlags(&e, graph, 0))
			(void)!hipGraphExecDestroy(e);
}

/* --- graphs ----------------------------------------------------------------------------------- */

#define NODES 64

static hipGraph_t used;
static hipGraphNode_t chain[NODES];

static void chain_make(hipGraph_t *g, hipGraphNode_t *nodes)
{
	CHECK_EQ(hipGraphCreate(g, 0), hipSuccess);
	for (unsigned i = 0; i < NODES; i++)
		CHECK_EQ(hipGraphAddEmptyNode(&nodes[i], *g, i ? &nodes[i - 1] : NULL, i ? 1 : 0), hipSuccess);
}

static void graph_create(void)
{
	chain_make(&used, chain);
}

static int graph_use(void)
{
	hipGraphNode_t from[NODES], to[NODES];
	size_t count = NODES, edges = NODES, before = NODES;
	hipGraph_t clone;
	hipError_t r = hipGraphClone(&clone, used);
	int refused = !is_defined(r);

	if (!r)
		refused += hipGraphDestroy(clone) != hipSuccess;
	return refused + !is_defined(hipGraphGetNodes(used, to, &count)) +
	       !is_defined(hipGraphGetEdges(used, from, to, &edges)) +
	       !is_defined(hipGraphNodeGetDependencies(chain[NODES - 1], to, &before));
}

static void graph_destroy(void)
{
	hipGraphNode_t nodes[NODES];
	hipGraph_t g;

	(void)!hipGraphDestroyNode(chain[NODES / 2]);
	CHECK_EQ(hipGraphDestroy(used), hipSuccess);
	chain_make(&g, nodes);
	CHECK_EQ(hipGraphDestroy(g), hipSuccess);
}

static const struct stopper_kind kinds[] = {
	{stream_create, stream_use, stream_destroy, NULL},
	{instance_create, instance_use, instance_destroy, NULL},
	{graph_create, graph_use, graph_destroy, NULL},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

int main(void)
{
	hipGraphNode_t node;

	stopper_init();
	CHECK_EQ(hipSetDevice(0), hipSuccess);
	CHECK_EQ(hipGraphCreate(&graph, 0), hipSuccess);
	CHECK_EQ(hipGraphAddEmptyNode(&node, graph, NULL, 0), hipSuccess);
	for (unsigned i = 0; i < ROUNDS; i++)
		stopper_round(&kinds[i % KINDS], 20 + i * 37 % 500);
	/* In some rounds the thread had no lock. */
	CHECK(stopper_rounds > 0);
	return check_done("a thread that is stopped inside a call");
}
