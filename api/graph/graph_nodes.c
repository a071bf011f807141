/* Graph nodes for kernels, host functions, values, events, child graphs, and empty nodes. A function for each type
 * makes the work from the program's parameters. */
#include <string.h>

#include "api/exec/grid.h"
#include "api/graph/graph.h"

/* The work of a node of that type; else NULL. */
static struct hip_work *work_of(hipGraphNode_t node, hipGraphNodeType type)
{
	struct hip_node *n = hip_node_of(node);

	return n && n->work.type == type ? &n->work : NULL;
}

/* --- kernels ---------------------------------------------------------------------------------- */

static hipError_t kernel_work(struct hip_work *w, const hipKernelNodeParams *p, struct hip_device *device)
{
	struct hip_op op = {.kind = &hip_op_launch};
	struct hip_launch *l = &op.launch;
	hipError_t r;

	if (!p || !p->func || (p->kernelParams && p->extra))
		return hipErrorInvalidValue;
	r = hip_kernel_named(p->func, device, &l->kernel);
	if (r)
		return r;
	memcpy(l->blocks, &p->gridDim, sizeof(l->blocks));
	memcpy(l->threads, &p->blockDim, sizeof(l->threads));
	l->lds_B = p->sharedMemBytes;
	l->args = p->kernelParams;
	l->function = p->func;
	if (p->extra)
		r = hip_launch_extra(p->extra, l);
	if (!r)
		r = hip_launch_check(l);
	return r ? r : hip_work_of_op(w, &op);
}

/* Stores the value as given; every value except 0 means yes. */
static hipError_t set_cooperative(struct hip_work *w, int cooperative)
{
	hipError_t r = cooperative ? hip_work_find_kernel(w) : hipSuccess;

	if (!r && cooperative)
		r = hip_grid_check(&w->op.launch);
	if (r)
		return r;
	w->cooperative = cooperative;
	w->op.launch.cooperative = cooperative;
	return hipSuccess;
}

/* Members of a kernel node that new parameters keep. */
struct kernel_kept {
	int device, priority, cooperative;
	hipAccessPolicyWindow window;
};

static bool kernel_read(hipGraphNode_t node, struct kernel_kept *kept)
{
	const struct hip_work *w;

	drv_mutex_lock(&hip_graphs_lock);
	w = work_of(node, hipGraphNodeTypeKernel);
	if (w)
		*kept = (struct kernel_kept){w->device, w->priority, w->cooperative, w->window};
	drv_mutex_unlock(&hip_graphs_lock);
	return w;
}

/* Uses the device of the node's present kernel. */
static hipError_t kernel_work_for(struct hip_work *w, const hipKernelNodeParams *p, hipGraphNode_t node)
{
	struct kernel_kept kept;
	hipError_t r =
		kernel_read(node, &kept) ? kernel_work(w, p, &hip.device[kept.device]) : hipErrorInvalidValue;

	if (!r) {
		w->window = kept.window;
		w->priority = kept.priority;
		r = set_cooperative(w, kept.cooperative);
		if (r)
			hip_work_fini(w);
	}
	return r;
}

HIP_PUBLIC(hipGraphAddKernelNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,
	    const hipKernelNodeParams *p),
	   (out, graph, before, count, p))
{
	struct hip_work w;

	return hip_node_add(out, graph, before, count, kernel_work(&w, p, hip_current()), &w);
}

HIP_PUBLIC(hipGraphKernelNodeSetParams, (hipGraphNode_t node, const hipKernelNodeParams *p), (node, p))
{
	struct hip_work w;

	return hip_node_set(node, kernel_work_for(&w, p, node), &w);
}

HIP_PUBLIC(hipGraphExecKernelNodeSetParams,
	   (hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams *p), (exec, node, p))
{
	struct hip_work w;

	return hip_exec_set(exec, node, kernel_work_for(&w, p, node), &w);
}

HIP_PUBLIC_ON_GRAPH(hipGraphKernelNodeGetParams, (hipGraphNode_t node, hipKernelNodeParams *p), (node, p))
{
	const struct hip_work *w;
	const struct hip_launch *l;

	w = work_of(node, hipGraphNodeTypeKernel);
	if (!w || !p)
		return hipErrorInvalidValue;
	l = &w->op.launch;
	*p = (hipKernelNodeParams){
		.func = (void *)(uintptr_t)l->function, .kernelParams = w->addresses, .sharedMemBytes = l->lds_B};
	memcpy(&p->gridDim, l->blocks, sizeof(l->blocks));
	memcpy(&p->blockDim, l->threads, sizeof(l->threads));
	return hipSuccess;
}

/* Stored for queries: the caches have no such windows, and the device's properties give 0 as the largest size. */
static hipError_t set_window(struct hip_work *w, const hipAccessPolicyWindow *window)
{
	/* Written so that a ratio that is NaN is refused. */
	if (!(window->hitRatio >= 0 && window->hitRatio <= 1) || window->missProp == hipAccessPropertyPersisting ||
	    window->num_bytes)
		return hipErrorInvalidValue;
	w->window = *window;
	return hipSuccess;
}

static hipError_t set_attribute(struct hip_work *w, hipLaunchAttributeID attribute,
				const hipLaunchAttributeValue *value)
{
	if (!w || !value)
		return hipErrorInvalidValue;
	switch (attribute) {
	case hipLaunchAttributeAccessPolicyWindow:
		return set_window(w, &value->accessPolicyWindow);
	case hipLaunchAttributeCooperative:
		return set_cooperative(w, value->cooperative);
	case hipLaunchAttributePriority:
		w->priority = value->priority;
		return hipSuccess;
	default:
		return hipErrorInvalidValue;
	}
}

static hipError_t get_attribute(const struct hip_work *w, hipLaunchAttributeID attribute,
				hipLaunchAttributeValue *value)
{
	if (!w || !value)
		return hipErrorInvalidValue;
	switch (attribute) {
	case hipLaunchAttributeAccessPolicyWindow:
		value->accessPolicyWindow = w->window;
		return hipSuccess;
	case hipLaunchAttributeCooperative:
		value->cooperative = w->cooperative;
		return hipSuccess;
	case hipLaunchAttributePriority:
		value->priority = w->priority;
		return hipSuccess;
	default:
		return hipErrorInvalidValue;
	}
}

HIP_PUBLIC_ON_GRAPH(hipGraphKernelNodeSetAttribute,
		    (hipGraphNode_t node, hipLaunchAttributeID attribute, const hipLaunchAttributeValue *value),
		    (node, attribute, value))
{
	return set_attribute(work_of(node, hipGraphNodeTypeKernel), attribute, value);
}

HIP_PUBLIC_ON_GRAPH(hipGraphKernelNodeGetAttribute,
		    (hipGraphNode_t node, hipLaunchAttributeID attribute, hipLaunchAttributeValue *value),
		    (node, attribute, value))
{
	return get_attribute(work_of(node, hipGraphNodeTypeKernel), attribute, value);
}

HIP_PUBLIC_ON_GRAPH(hipGraphKernelNodeCopyAttributes, (hipGraphNode_t src, hipGraphNode_t dst), (src, dst))
{
	const struct hip_work *from;
	struct hip_work *to;

	from = work_of(src, hipGraphNodeTypeKernel);
	to = work_of(dst, hipGraphNodeTypeKernel);
	if (!from || !to)
		return hipErrorInvalidValue;
	to->window = from->window;
	to->priority = from->priority;
	return set_cooperative(to, from->cooperative);
}

/* --- host functions --------------------------------------------------------------------------- */

static hipError_t host_work(struct hip_work *w, const hipHostNodeParams *p)
{
	if (!p || !p->fn)
		return hipErrorInvalidValue;
	return hip_work_of_op(w,
			      &(struct hip_op){.kind = &hip_op_host, .host = {.fn = p->fn, .data = p->userData}});
}

HIP_PUBLIC(hipGraphAddHostNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,
	    const hipHostNodeParams *p),
	   (out, graph, before, count, p))
{
	struct hip_work w;

	return hip_node_add(out, graph, before, count, host_work(&w, p), &w);
}

HIP_PUBLIC(hipGraphHostNodeSetParams, (hipGraphNode_t node, const hipHostNodeParams *p), (node, p))
{
	struct hip_work w;

	return hip_node_set(node, host_work(&w, p), &w);
}

HIP_PUBLIC(hipGraphExecHostNodeSetParams, (hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams *p),
	   (exec, node, p))
{
	struct hip_work w;

	return hip_exec_set(exec, node, host_work(&w, p), &w);
}

HIP_PUBLIC_ON_GRAPH(hipGraphHostNodeGetParams, (hipGraphNode_t node, hipHostNodeParams *p), (node, p))
{
	const struct hip_work *w;

	w = work_of(node, hipGraphNodeTypeHost);
	if (!w || !p)
		return hipErrorInvalidValue;
	*p = (hipHostNodeParams){w->op.host.fn, w->op.host.data};
	return hipSuccess;
}

/* --- values in memory ------------------------------------------------------------------------- */

#if TUFF_HIP_ABI >= 6
static hipError_t values_work(struct hip_work *w, const hipBatchMemOpNodeParams *p)
{
	const struct hip_op op = {
		.kind = &hip_op_values,
		.values = {p ? p->paramArray : NULL, p ? p->count : 0, p ? p->ctx : NULL},
	};
	hipError_t r = p && p->flags ? hipErrorInvalidValue : hip_op_check(&op);

	return r ? r : hip_work_of_op(w, &op);
}

HIP_PUBLIC(hipGraphAddBatchMemOpNode,(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before,
				    size_t count, const hipBatchMemOpNodeParams *p),
	   (out, graph, before, count, p))
{
	struct hip_work w;

	return hip_node_add(out, graph, before, count, values_work(&w, p), &w);
}

HIP_PUBLIC(hipGraphBatchMemOpNodeSetParams,(hipGraphNode_t node, hipBatchMemOpNodeParams *p), (node, p))
{
	struct hip_work w;

	return hip_node_set(node, values_work(&w, p), &w);
}

HIP_PUBLIC(hipGraphExecBatchMemOpNodeSetParams,(hipGraphExec_t exec, hipGraphNode_t node,
					      const hipBatchMemOpNodeParams *p), (exec, node, p))
{
	struct hip_work w;

	return hip_exec_set(exec, node, values_work(&w, p), &w);
}

/* Returns the node's own list. */
HIP_PUBLIC_ON_GRAPH(hipGraphBatchMemOpNodeGetParams,(hipGraphNode_t node,
									    hipBatchMemOpNodeParams *p), (node, p))
{
	const struct hip_work *w;

	w = work_of(node, hipGraphNodeTypeBatchMemOp);
	if (!w || !p)
		return hipErrorInvalidValue;
	*p = (hipBatchMemOpNodeParams){w->op.values.context, w->op.values.count, (void *)w->args, 0};
	return hipSuccess;
}
#endif

/* --- empty nodes ------------------------------------------------------------------------------ */

static hipError_t empty_work(struct hip_work *w)
{
	*w = (struct hip_work){.type = hipGraphNodeTypeEmpty};
	return hipSuccess;
}

HIP_PUBLIC(hipGraphAddEmptyNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count),
	   (out, graph, before, count))
{
	struct hip_work w;

	return hip_node_add(out, graph, before, count, empty_work(&w), &w);
}

/* --- events ----------------------------------------------------------------------------------- */

static hipError_t event_work(struct hip_work *w, hipGraphNodeType type, hipEvent_t event)
{
	*w = (struct hip_work){.type = type, .event = event};
	return hip_find(HIP_EVENT, event) ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t get_event(hipGraphNode_t node, hipGraphNodeType type, hipEvent_t *event)
{
	const struct hip_work *w = work_of(node, type);

	if (!w || !event)
		return hipErrorInvalidValue;
	*event = w->event;
	return hipSuccess;
}

#define EVENTS(name, type)                                                                                         \
	HIP_PUBLIC(hipGraphAdd##name,                                                                              \
		   (hipGraphNode_t * out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,            \
		    hipEvent_t event),                                                                             \
		   (out, graph, before, count, event))                                                             \
	{                                                                                                          \
		struct hip_work w;                                                                                 \
                                                                                                                   \
		return hip_node_add(out, graph, before, count, event_work(&w, type, event), &w);                   \
	}                                                                                                          \
	HIP_PUBLIC(hipGraph##name##SetEvent, (hipGraphNode_t node, hipEvent_t event), (node, event))               \
	{                                                                                                          \
		struct hip_work w;                                                                                 \
                                                                                                                   \
		return hip_node_set(node, event_work(&w, type, event), &w);                                        \
	}                                                                                                          \
	HIP_PUBLIC(hipGraphExec##name##SetEvent, (hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event),     \
		   (exec, node, event))                                                                            \
	{                                                                                                          \
		struct hip_work w;                                                                                 \
                                                                                                                   \
		return hip_exec_set(exec, node, event_work(&w, type, event), &w);                                  \
	}                                                                                                          \
	HIP_PUBLIC_ON_GRAPH(hipGraph##name##GetEvent, (hipGraphNode_t node, hipEvent_t * event), (node, event))    \
	{                                                                                                          \
		return get_event(node, type, event);                                                               \
	}
EVENTS(EventRecordNode, hipGraphNodeTypeEventRecord)
EVENTS(EventWaitNode, hipGraphNodeTypeWaitEvent)

/* --- child graphs ----------------------------------------------------------------------------- */

/* The clone gets handles for the program, unless an instance's node owns it. */
static hipError_t child_work(struct hip_work *w, hipGraph_t child, bool named)
{
	const struct hip_graph *g;
	hipError_t r;

	*w = (struct hip_work){.type = hipGraphNodeTypeGraph};
	drv_mutex_lock(&hip_graphs_lock);
	g = hip_graph_of(child);
	r = g ? hip_work_of_child(w, g, named) : hipErrorInvalidValue;
	drv_mutex_unlock(&hip_graphs_lock);
	if (!r && named && (r = hip_graph_name(w->child, NULL)))
		hip_work_fini(w);
	return r;
}

HIP_PUBLIC(hipGraphAddChildGraphNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count, hipGraph_t child),
	   (out, graph, before, count, child))
{
	struct hip_work w;

	return hip_node_add(out, graph, before, count, child_work(&w, child, true), &w);
}

HIP_PUBLIC(hipGraphExecChildGraphNodeSetParams, (hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child),
	   (exec, node, child))
{
	struct hip_work w;

	return hip_exec_set(exec, node, child_work(&w, child, false), &w);
}

HIP_PUBLIC_ON_GRAPH(hipGraphChildGraphNodeGetGraph, (hipGraphNode_t node, hipGraph_t *graph), (node, graph))
{
	const struct hip_work *w;

	w = work_of(node, hipGraphNodeTypeGraph);
	if (!w || !graph)
		return hipErrorInvalidValue;
	*graph = (hipGraph_t)(uintptr_t)w->child->handle;
	return hipSuccess;
}

/* --- external semaphores (HIP 7) -------------------------------------------------------------- */

#if TUFF_HIP_ABI >= 7
static hipError_t semaphores_work(struct hip_work *w, const struct hip_op *op)
{
	hipError_t r = op->semaphores.count ? hip_op_check(op) : hipErrorInvalidValue;

	return r ? r : hip_work_of_op(w, op);
}

static hipError_t signal_work(struct hip_work *w, const hipExternalSemaphoreSignalNodeParams *p)
{
	return p ? semaphores_work(
			   w, &(struct hip_op){.kind = &hip_op_signal,
					       .semaphores = {p->extSemArray, p->paramsArray, NULL, p->numExtSems}})
		 : hipErrorInvalidValue;
}

static hipError_t wait_work(struct hip_work *w, const hipExternalSemaphoreWaitNodeParams *p)
{
	return p ? semaphores_work(
			   w, &(struct hip_op){.kind = &hip_op_wait,
					       .semaphores = {p->extSemArray, NULL, p->paramsArray, p->numExtSems}})
		 : hipErrorInvalidValue;
}

/* GetParams returns the node's own lists. `list` is the member of hip_op's semaphores that has the parameters. */
#define SEMAPHORES(name, node_type, params_type, work, list)                                                       \
	HIP_PUBLIC(hipGraphAdd##name,                                                                              \
		   (hipGraphNode_t * out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,            \
		    const params_type *p),                                                                         \
		   (out, graph, before, count, p))                                                                 \
	{                                                                                                          \
		struct hip_work w;                                                                                 \
                                                                                                                   \
		return hip_node_add(out, graph, before, count, work(&w, p), &w);                                   \
	}                                                                                                          \
	HIP_PUBLIC(hipGraph##name##SetParams, (hipGraphNode_t node, const params_type *p), (node, p))              \
	{                                                                                                          \
		struct hip_work w;                                                                                 \
                                                                                                                   \
		return hip_node_set(node, work(&w, p), &w);                                                        \
	}                                                                                                          \
	HIP_PUBLIC(hipGraphExec##name##SetParams,                                                                  \
		   (hipGraphExec_t exec, hipGraphNode_t node, const params_type *p), (exec, node, p))              \
	{                                                                                                          \
		struct hip_work w;                                                                                 \
                                                                                                                   \
		return hip_exec_set(exec, node, work(&w, p), &w);                                                  \
	}                                                                                                          \
	HIP_PUBLIC_ON_GRAPH(hipGraph##name##GetParams, (hipGraphNode_t node, params_type * p), (node, p))          \
	{                                                                                                          \
		const struct hip_work *w = work_of(node, node_type);                                               \
                                                                                                                   \
		if (!w || !p)                                                                                      \
			return hipErrorInvalidValue;                                                               \
		*p = (params_type){(hipExternalSemaphore_t *)(void *)w->args, w->op.semaphores.list,               \
				   w->op.semaphores.count};                                                        \
		return hipSuccess;                                                                                 \
	}
SEMAPHORES(ExternalSemaphoresSignalNode, hipGraphNodeTypeExtSemaphoreSignal, hipExternalSemaphoreSignalNodeParams,
	   signal_work, signal)
SEMAPHORES(ExternalSemaphoresWaitNode, hipGraphNodeTypeExtSemaphoreWait, hipExternalSemaphoreWaitNodeParams,
	   wait_work, wait)
#endif

/* --- nodes of any type ------------------------------------------------------------------------ */

/* node: the node that gets the work, or NULL, if it is new; named: it is none of an instance. */
static hipError_t any_work(struct hip_work *w, const hipGraphNodeParams *p, hipGraphNode_t node, bool named)
{
	if (!p)
		return hipErrorInvalidValue;
	switch (p->type) {
	case hipGraphNodeTypeKernel:
		return node ? kernel_work_for(w, &p->kernel, node) : kernel_work(w, &p->kernel, hip_current());
	case hipGraphNodeTypeMemcpy:
		return hip_work_of_3d(w, &p->memcpy.copyParams);
	case hipGraphNodeTypeMemset:
		return hip_work_of_memset(w, &p->memset);
	case hipGraphNodeTypeHost:
		return host_work(w, &p->host);
	case hipGraphNodeTypeGraph:
		return child_work(w, p->graph.graph, named);
	case hipGraphNodeTypeEmpty:
		return empty_work(w);
	case hipGraphNodeTypeWaitEvent:
		return event_work(w, p->type, p->eventWait.event);
	case hipGraphNodeTypeEventRecord:
		return event_work(w, p->type, p->eventRecord.event);
#if TUFF_HIP_ABI >= 7
	case hipGraphNodeTypeExtSemaphoreSignal:
		return signal_work(w, &p->extSemSignal);
	case hipGraphNodeTypeExtSemaphoreWait:
		return wait_work(w, &p->extSemWait);
#else
	case hipGraphNodeTypeExtSemaphoreSignal:
	case hipGraphNodeTypeExtSemaphoreWait:
		return hipErrorNotSupported;
#endif
	default:
		return hipErrorInvalidValue;
	}
}

HIP_PUBLIC(hipGraphAddNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,
	    hipGraphNodeParams *p),
	   (out, graph, before, count, p))
{
	struct hip_work w;

	if (p && p->type == hipGraphNodeTypeMemAlloc)
		return hipGraphAddMemAllocNode(out, graph, before, count, &p->alloc);
	if (p && p->type == hipGraphNodeTypeMemFree)
		return hipGraphAddMemFreeNode(out, graph, before, count, p->free.dptr);
	return hip_node_add(out, graph, before, count, any_work(&w, p, NULL, true), &w);
}

HIP_PUBLIC(hipGraphNodeSetParams, (hipGraphNode_t node, hipGraphNodeParams *p), (node, p))
{
	struct hip_work w;

	return node ? hip_node_set(node, any_work(&w, p, node, true), &w) : hipErrorInvalidValue;
}

HIP_PUBLIC(hipGraphExecNodeSetParams, (hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams *p),
	   (exec, node, p))
{
	struct hip_work w;

	return node ? hip_exec_set(exec, node, any_work(&w, p, node, false), &w) : hipErrorInvalidValue;
}
