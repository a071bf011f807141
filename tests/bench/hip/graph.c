/* Launches of graphs. */
#include "tests/bench/hip/rig.h"

#define NODES 1024
#define FILLS 8

static hipGraphNode_t add_kernel(hipGraph_t graph, hipGraphNode_t after)
{
	hipKernelNodeParams params = {
		.func = (void *)rig.kernel[RIG_EMPTY], .gridDim = {1, 1, 1}, .blockDim = {64, 1, 1}};
	hipGraphNode_t node;

	rig_must(hipGraphAddKernelNode(&node, graph, &after, after ? 1 : 0, &params));
	return node;
}

static hipGraphNode_t add_fill(hipGraph_t graph, hipGraphNode_t after)
{
	hipMemsetParams params = {.dst = rig.memory, .elementSize = 4, .width = 1024, .height = 1};
	hipGraphNode_t node;

	rig_must(hipGraphAddMemsetNode(&node, graph, &after, after ? 1 : 0, &params));
	return node;
}

/* A chain of kernels, each with a fill of 4 KiB behind it if `fills`. */
static hipGraphExec_t chain(unsigned kernels, bool fills)
{
	hipGraphNode_t last = NULL;
	hipGraphExec_t exec;
	hipGraph_t graph;

	rig_must(hipGraphCreate(&graph, 0));
	for (unsigned i = 0; i < kernels; i++) {
		last = add_kernel(graph, last);
		last = fills ? add_fill(graph, last) : last;
	}
	rig_must(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	return exec;
}

static void launch(void *exec)
{
	rig_must(hipGraphLaunch(exec, rig.stream));
}

static hipGraphExec_t warm(hipGraphExec_t exec)
{
	for (unsigned i = 0; i < 3; i++) { /* the first launch is timed */
		launch(exec);
		rig_synchronize(NULL);
	}
	return exec;
}

static void row(const char *what, hipGraphExec_t exec)
{
	rig_print(&(struct rig_row){what, "no args", launch, warm(exec), .before = rig_until_idle, .tries = 4});
}

static void rows(void)
{
	rig_warm_up();
	rig_title("graph launches from the fourth on, the GPU is idle");
	row("graph of 1 kernel", chain(1, false));
	row("graph of a chain of 1,024 kernels", chain(NODES, false));
	row("graph of 8 kernels with a fill of 4 KiB behind each", chain(FILLS, true));
}

void bench_graph(void)
{
	rig_run("null:gfx908", rows);
}
