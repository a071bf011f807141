/* Graphs as pictures, in the language of Graphviz's dot. */
#include <stdio.h>
#include <stdlib.h>

#include "drv/cancel.h"
#include "api/graph/graph.h"

/* CLR's words: people search for them. */
static const char *const names[] = {
	[hipGraphNodeTypeKernel] = "KERNEL",
	[hipGraphNodeTypeMemcpy] = "MEMCPY",
	[hipGraphNodeTypeMemset] = "MEMSET",
	[hipGraphNodeTypeHost] = "HOST",
	[hipGraphNodeTypeGraph] = "GRAPH",
	[hipGraphNodeTypeEmpty] = "EMPTY",
	[hipGraphNodeTypeWaitEvent] = "EVENT_WAIT",
	[hipGraphNodeTypeEventRecord] = "EVENT_RECORD",
	[hipGraphNodeTypeExtSemaphoreSignal] = "EXTERNAL_SEMAPHORE_SIGNAL",
	[hipGraphNodeTypeExtSemaphoreWait] = "EXTERNAL_SEMAPHORE_WAIT",
	[hipGraphNodeTypeMemAlloc] = "MEM_ALLOC",
	[hipGraphNodeTypeMemFree] = "MEM_FREE",
#if TUFF_HIP_ABI >= 6
	[hipGraphNodeTypeBatchMemOp] = "BATCH_MEM_OP",
#endif
};

/* 'A'rray, 'D'evice or 'H'ost. */
static char side_letter(hipArray_t array, const void *address)
{
	struct hip_memory memory;

	if (array)
		return 'A';
	return hip_memory_find(address, &memory) && memory.kind == HIP_MEMORY_DEVICE ? 'D' : 'H';
}

/* The kernel's code may be unloaded. */
static const char *kernel_name(const struct hip_work *w)
{
	const struct hip_kernel *k;

	return hip_kernel_named(w->op.launch.function, &hip.device[w->device], &k) ? "unloaded" : k->cs->name;
}

/* Prints the type of a node; for a kernel its name, unless the flags request attributes. */
static void print_name(FILE *f, const struct hip_work *w, unsigned flags)
{
	const hipMemcpy3DParms *c = &w->copy;

	if (w->type == hipGraphNodeTypeKernel &&
	    !(flags & (hipGraphDebugDotFlagsVerbose | hipGraphDebugDotFlagsKernelNodeAttributes)))
		fprintf(f, "%s", kernel_name(w));
	else
		fprintf(f, "%s", names[w->type]);
	if (w->type == hipGraphNodeTypeMemcpy)
		fprintf(f, " %cto%c", side_letter(c->srcArray, c->srcPtr.ptr),
			side_letter(c->dstArray, c->dstPtr.ptr));
}

/* Prints the parameters as a second line. */
static void print_work(FILE *f, const struct hip_work *w, unsigned flags)
{
	const bool all = flags & hipGraphDebugDotFlagsVerbose;
	const struct hip_launch *l = &w->op.launch;
	const struct hip_fill *fill = &w->op.fill;

	if (w->type == hipGraphNodeTypeKernel && (all || flags & hipGraphDebugDotFlagsKernelNodeAttributes))
		fprintf(f, "\\n%s\\ncooperative %d, priority %d", kernel_name(w), w->cooperative, w->priority);
	if (w->type == hipGraphNodeTypeKernel && (all || flags & hipGraphDebugDotFlagsKernelNodeParams))
		fprintf(f, "\\n%p <<<(%u,%u,%u), (%u,%u,%u), %u>>>", l->function, l->blocks[0], l->blocks[1],
			l->blocks[2], l->threads[0], l->threads[1], l->threads[2], l->lds_B);
	if (w->type == hipGraphNodeTypeMemcpy && (all || flags & hipGraphDebugDotFlagsMemcpyNodeParams))
		fprintf(f, "\\n%p to %p, %zu x %zu x %zu", w->copy.srcPtr.ptr, w->copy.dstPtr.ptr,
			w->copy.extent.width, w->copy.extent.height, w->copy.extent.depth);
	if (w->type == hipGraphNodeTypeMemset && (all || flags & hipGraphDebugDotFlagsMemsetNodeParams))
		fprintf(f, "\\n%p, %zu x %zu, 0x%x", (void *)fill->dst, fill->row_B, fill->rows, fill->value);
	if (w->event && (all || flags & hipGraphDebugDotFlagsEventNodeParams))
		fprintf(f, "\\n%p", (void *)w->event);
	if (w->type == hipGraphNodeTypeHost && (all || flags & hipGraphDebugDotFlagsHostNodeParams))
		fprintf(f, "\\n%p", w->op.host.data);
}

static void print_graph(FILE *f, const struct hip_graph *g, unsigned flags)
{
	for (size_t i = 0; i < g->nodes.count; i++) {
		const struct hip_node *n = g->nodes.at[i];

		fprintf(f, "\tn%llx [label=\"%zu: ", (unsigned long long)n->handle, i);
		print_name(f, &n->work, flags);
		if (flags & (hipGraphDebugDotFlagsVerbose | hipGraphDebugDotFlagsHandles))
			fprintf(f, "\\n0x%llx", (unsigned long long)n->handle);
		print_work(f, &n->work, flags);
		fprintf(f, "\"];\n");
		for (size_t k = 0; k < n->after.count; k++)
			fprintf(f, "\tn%llx -> n%llx;\n", (unsigned long long)n->handle,
				(unsigned long long)n->after.at[k]->handle);
	}
}

/* Child graphs are clusters, named by their node. */
static void print_children(FILE *f, const struct hip_graph *g, unsigned flags)
{
	for (size_t i = 0; i < g->nodes.count; i++) {
		const struct hip_graph *child = g->nodes.at[i]->work.child;

		if (!child)
			continue;
		fprintf(f, "\tsubgraph cluster_%llx {\n\tlabel=\"%zu\";\n", (unsigned long long)child->handle, i);
		print_graph(f, child, flags);
		print_children(f, child, flags);
		fprintf(f, "\t}\n");
	}
}

static void dot_print(FILE *f, const struct hip_graph *g, unsigned flags)
{
	fprintf(f, "digraph dot {\n\tsubgraph cluster_%llx {\n", (unsigned long long)g->handle);
	print_graph(f, g, flags);
	print_children(f, g, flags);
	fprintf(f, "\t}\n}\n");
}

/* The text is the caller's. */
static hipError_t dot_text(hipGraph_t handle, unsigned flags, char **text, size_t *size_B)
{
	FILE *f = open_memstream(text, size_B);
	const struct hip_graph *g;

	if (!f)
		return hipErrorOutOfMemory;
	drv_mutex_lock(&hip_graphs_lock);
	g = hip_graph_of(handle);
	if (g)
		dot_print(f, g, flags);
	drv_mutex_unlock(&hip_graphs_lock);
	fclose(f);
	if (!*text)
		return hipErrorOutOfMemory;
	return g ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t dot_write(const char *path, const char *text, size_t size_B)
{
	DRV_HOLD_CANCEL;
	FILE *f = fopen(path, "we");
	bool failed;

	if (!f)
		return hipErrorOperatingSystem;
	failed = fwrite(text, 1, size_B, f) != size_B;
	return fclose(f) || failed ? hipErrorOperatingSystem : hipSuccess;
}
HIP_PUBLIC(hipGraphDebugDotPrint, (hipGraph_t graph, const char *path, unsigned int flags), (graph, path, flags))
{
	char *text = NULL;
	size_t size_B;
	hipError_t r = path ? dot_text(graph, flags, &text, &size_B) : hipErrorInvalidValue;

	if (!r)
		r = dot_write(path, text, size_B);
	free(text);
	return r;
}
