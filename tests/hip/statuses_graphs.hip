/* Graphs: their nodes, made and changed, what is executed, user objects, memory of graphs. */
#include "tests/hip/statuses.h"

#define NO_KIND ((hipMemcpyKind)1000)

static hipStream_t stream, old_stream;
static hipEvent_t event;
static hipGraph_t graph, other, old_graph, got_graph;
static hipGraphExec_t exec, made;
static hipGraphNode_t node, empty, kernel, copy, symbol_copy, fill, host_node, record, wait_node, child, elsewhere;
static char *gpu, *gpu2;
static char host[65536];
static int devices;

__device__ int variable[16];
__global__ void nothing(int)
{
}
static void callback(void *)
{
}

static int one = 1;
static void *arguments[] = {&one};
static const hipHostNodeParams call = {callback, NULL};

static hipKernelNodeParams of_kernel()
{
	hipKernelNodeParams p = {};

	p.blockDim = dim3(64);
	p.gridDim = dim3(1);
	p.func = (void *)nothing;
	p.kernelParams = arguments;
	return p;
}

static hipMemsetParams of_fill()
{
	hipMemsetParams p = {};

	p.dst = gpu;
	p.elementSize = 4;
	p.height = 1;
	p.width = 16;
	return p;
}

static hipMemcpy3DParms of_copy()
{
	hipMemcpy3DParms p = {};

	p.srcPtr = {host, 64, 64, 4};
	p.dstPtr = {gpu, 64, 64, 4};
	p.extent = {64, 4, 1};
	p.kind = hipMemcpyHostToDevice;
	return p;
}

static void begin()
{
	const hipKernelNodeParams p = of_kernel();

	OK(hipMalloc((void **)&gpu, 65536));
	OK(hipMalloc((void **)&gpu2, 65536));
	const hipMemsetParams f = of_fill();
	OK(hipGetDeviceCount(&devices));
	OK(hipStreamCreate(&stream));
	OK(hipStreamCreate(&old_stream));
	OK(hipStreamDestroy(old_stream));
	OK(hipEventCreate(&event));
	OK(hipGraphCreate(&graph, 0));
	OK(hipGraphCreate(&other, 0));
	OK(hipGraphCreate(&old_graph, 0));
	OK(hipGraphDestroy(old_graph));
	OK(hipGraphAddEmptyNode(&elsewhere, other, NULL, 0));
	OK(hipGraphAddEmptyNode(&empty, graph, NULL, 0));
	OK(hipGraphAddKernelNode(&kernel, graph, &empty, 1, &p));
	OK(hipGraphAddMemcpyNode1D(&copy, graph, NULL, 0, gpu, host, 64, hipMemcpyHostToDevice));
	OK(hipGraphAddMemcpyNodeToSymbol(&symbol_copy, graph, NULL, 0, variable, gpu, 64, 0,
					 hipMemcpyDeviceToDevice));
	OK(hipGraphAddMemsetNode(&fill, graph, NULL, 0, &f));
	OK(hipGraphAddHostNode(&host_node, graph, NULL, 0, &call));
	OK(hipGraphAddEventRecordNode(&record, graph, NULL, 0, event));
	OK(hipGraphAddEventWaitNode(&wait_node, graph, NULL, 0, event));
	OK(hipGraphAddChildGraphNode(&child, graph, NULL, 0, other));
	OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
}

static void graphs()
{
	IS(hipErrorInvalidValue, hipGraphCreate(NULL, 0));
	IS(hipErrorInvalidValue, hipGraphCreate(&got_graph, 1));
	IS(hipErrorInvalidValue, hipGraphDestroy(NULL));
	IS(hipErrorIllegalState, hipGraphDestroy(old_graph));
	IS(hipErrorIllegalState, hipGraphDestroy(made_up<hipGraph_t>()));
	IS(hipErrorInvalidValue, hipGraphClone(NULL, graph));
	IS(hipErrorInvalidValue, hipGraphClone(&got_graph, NULL));
	IS(hipErrorInvalidValue, hipGraphClone(&got_graph, old_graph));
	IS(hipErrorInvalidValue, hipGraphNodeFindInClone(NULL, empty, graph));
	IS(hipErrorInvalidValue, hipGraphNodeFindInClone(&node, NULL, graph));
	IS(hipErrorInvalidValue, hipGraphNodeFindInClone(&node, empty, NULL));
	IS(hipErrorInvalidValue, hipGraphNodeFindInClone(&node, empty, graph)); /* no clone */
	IS(hipErrorInvalidValue, hipGraphDebugDotPrint(NULL, "/dev/null", 0));
	IS(hipErrorInvalidValue, hipGraphDebugDotPrint(graph, NULL, 0));
	IS(hipErrorOperatingSystem, hipGraphDebugDotPrint(graph, "/dev/null/nothing", 0));
}

static void edges()
{
	hipGraphNode_t from[] = {empty}, to[] = {kernel}, same[] = {empty}, others[] = {elsewhere}, none[] = {NULL},
		       nodes[32];
	size_t count;

	IS(hipErrorInvalidValue, hipGraphAddDependencies(NULL, from, to, 1));
	IS(hipErrorInvalidValue, hipGraphAddDependencies(NULL, NULL, NULL, 0));
	OK(hipGraphAddDependencies(graph, NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipGraphAddDependencies(graph, NULL, to, 1));
	IS(hipErrorInvalidValue, hipGraphAddDependencies(graph, from, NULL, 1));
	IS(hipErrorInvalidValue, hipGraphAddDependencies(graph, from, to, 1)); /* there is that edge */
	IS(hipErrorInvalidValue, hipGraphAddDependencies(graph, from, same, 1));
	IS(hipErrorInvalidValue, hipGraphAddDependencies(graph, from, others, 1));
	IS(hipErrorInvalidValue, hipGraphAddDependencies(graph, none, to, 1));
	IS(hipErrorInvalidValue, hipGraphRemoveDependencies(NULL, from, to, 1));
	IS(hipErrorInvalidValue, hipGraphRemoveDependencies(graph, NULL, to, 1));
	IS(hipErrorInvalidValue, hipGraphRemoveDependencies(graph, from, NULL, 1));
	IS(hipErrorInvalidValue, hipGraphRemoveDependencies(graph, to, from, 1));
	IS(hipErrorInvalidValue, hipGraphRemoveDependencies(graph, others, to, 1));
	OK(hipGraphRemoveDependencies(graph, NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipGraphGetEdges(NULL, NULL, NULL, &count));
	IS(hipErrorInvalidValue, hipGraphGetEdges(graph, NULL, NULL, NULL));
	IS(hipErrorInvalidValue, hipGraphGetEdges(graph, nodes, NULL, &count));
	IS(hipErrorInvalidValue, hipGraphGetEdges(graph, NULL, nodes, &count));
	IS(hipErrorInvalidValue, hipGraphGetNodes(NULL, NULL, &count));
	IS(hipErrorInvalidValue, hipGraphGetNodes(graph, NULL, NULL));
	IS(hipErrorInvalidValue, hipGraphGetNodes(old_graph, NULL, &count));
	IS(hipErrorInvalidValue, hipGraphGetRootNodes(NULL, NULL, &count));
	IS(hipErrorInvalidValue, hipGraphGetRootNodes(graph, NULL, NULL));
	IS(hipErrorInvalidValue, hipGraphNodeGetDependencies(NULL, NULL, &count));
	IS(hipErrorInvalidValue, hipGraphNodeGetDependencies(kernel, NULL, NULL));
	IS(hipErrorInvalidValue, hipGraphNodeGetDependencies(made_up<hipGraphNode_t>(), NULL, &count));
	IS(hipErrorInvalidValue, hipGraphNodeGetDependentNodes(NULL, NULL, &count));
	IS(hipErrorInvalidValue, hipGraphNodeGetDependentNodes(kernel, NULL, NULL));
	OK(hipGraphGetNodes(graph, NULL, &count));
}

static void added()
{
	hipGraphNode_t twice[] = {empty, empty}, others[] = {elsewhere}, none[] = {NULL};

	IS(hipErrorInvalidValue, hipGraphAddEmptyNode(NULL, graph, NULL, 0));
	IS(hipErrorInvalidValue, hipGraphAddEmptyNode(&node, NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipGraphAddEmptyNode(&node, old_graph, NULL, 0));
	IS(hipErrorInvalidValue, hipGraphAddEmptyNode(&node, graph, NULL, 1));
	IS(hipErrorInvalidValue, hipGraphAddEmptyNode(&node, graph, twice, 2));
	IS(hipErrorInvalidValue, hipGraphAddEmptyNode(&node, graph, others, 1));
	IS(hipErrorInvalidValue, hipGraphAddEmptyNode(&node, graph, none, 1));
	IS(hipErrorInvalidValue, hipGraphAddChildGraphNode(NULL, graph, NULL, 0, other));
	IS(hipErrorInvalidValue, hipGraphAddChildGraphNode(&node, NULL, NULL, 0, other));
	IS(hipErrorInvalidValue, hipGraphAddChildGraphNode(&node, graph, NULL, 1, other));
	IS(hipErrorInvalidValue, hipGraphAddChildGraphNode(&node, graph, NULL, 0, NULL));
	IS(hipErrorInvalidValue, hipGraphAddChildGraphNode(&node, graph, NULL, 0, old_graph));
	IS(hipErrorInvalidValue, hipGraphAddEventRecordNode(NULL, graph, NULL, 0, event));
	IS(hipErrorInvalidValue, hipGraphAddEventRecordNode(&node, NULL, NULL, 0, event));
	IS(hipErrorInvalidValue, hipGraphAddEventRecordNode(&node, graph, NULL, 1, event));
	IS(hipErrorInvalidValue, hipGraphAddEventRecordNode(&node, graph, NULL, 0, NULL));
	IS(hipErrorInvalidValue, hipGraphAddEventWaitNode(NULL, graph, NULL, 0, event));
	IS(hipErrorInvalidValue, hipGraphAddEventWaitNode(&node, NULL, NULL, 0, event));
	IS(hipErrorInvalidValue, hipGraphAddEventWaitNode(&node, graph, NULL, 1, event));
	IS(hipErrorInvalidValue, hipGraphAddEventWaitNode(&node, graph, NULL, 0, NULL));
	const hipHostNodeParams no_call = {};
	IS(hipErrorInvalidValue, hipGraphAddHostNode(NULL, graph, NULL, 0, &call));
	IS(hipErrorInvalidValue, hipGraphAddHostNode(&node, NULL, NULL, 0, &call));
	IS(hipErrorInvalidValue, hipGraphAddHostNode(&node, graph, NULL, 1, &call));
	IS(hipErrorInvalidValue, hipGraphAddHostNode(&node, graph, NULL, 0, NULL));
	IS(hipErrorInvalidValue, hipGraphAddHostNode(&node, graph, NULL, 0, &no_call));
}

static void added_kernels()
{
	hipKernelNodeParams p = of_kernel();

	IS(hipErrorInvalidValue, hipGraphAddKernelNode(NULL, graph, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphAddKernelNode(&node, NULL, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphAddKernelNode(&node, old_graph, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphAddKernelNode(&node, graph, NULL, 1, &p));
	IS(hipErrorInvalidValue, hipGraphAddKernelNode(&node, graph, NULL, 0, NULL));
	p.func = NULL;
	IS(hipErrorInvalidValue, hipGraphAddKernelNode(&node, graph, NULL, 0, &p));
	p.func = host;
	IS(hipErrorInvalidDeviceFunction, hipGraphAddKernelNode(&node, graph, NULL, 0, &p));
	p = of_kernel();
	p.kernelParams = NULL;
	IS(hipErrorInvalidValue, hipGraphAddKernelNode(&node, graph, NULL, 0, &p));
	p = of_kernel();
	p.blockDim = dim3(0);
	IS(hipErrorInvalidValue, hipGraphAddKernelNode(&node, graph, NULL, 0, &p));
	p.blockDim = dim3(2048);
	IS(hipErrorInvalidValue, hipGraphAddKernelNode(&node, graph, NULL, 0, &p));
	p = of_kernel();
	p.sharedMemBytes = 1 << 20;
	IS(hipErrorInvalidValue, hipGraphAddKernelNode(&node, graph, NULL, 0, &p));
	p = of_kernel();
	p.gridDim = dim3(0);
	IS(hipErrorInvalidValue, hipGraphAddKernelNode(&node, graph, NULL, 0, &p));
}

static void added_copies()
{
	hipMemcpy3DParms p = of_copy();
	hipMemsetParams f = of_fill();

	IS(hipErrorInvalidValue, hipGraphAddMemcpyNode(NULL, graph, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphAddMemcpyNode(&node, NULL, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphAddMemcpyNode(&node, graph, NULL, 1, &p));
	IS(hipErrorInvalidValue, hipGraphAddMemcpyNode(&node, graph, NULL, 0, NULL));
	p.srcPtr.ptr = NULL;
	IS(hipErrorInvalidValue, hipGraphAddMemcpyNode(&node, graph, NULL, 0, &p));
	p = of_copy();
	p.dstPtr.pitch = 63;
	IS(hipErrorInvalidPitchValue, hipGraphAddMemcpyNode(&node, graph, NULL, 0, &p));
	p = of_copy();
	p.kind = NO_KIND;
	IS(hipErrorInvalidMemcpyDirection, hipGraphAddMemcpyNode(&node, graph, NULL, 0, &p));

	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNode1D(NULL, graph, NULL, 0, gpu, host, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipGraphAddMemcpyNode1D(&node, NULL, NULL, 0, gpu, host, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNode1D(&node, graph, NULL, 1, gpu, host, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, NULL, host, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, gpu, NULL, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, gpu, host, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, gpu, host, 65537, hipMemcpyHostToDevice));
	IS(hipErrorInvalidMemcpyDirection, hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, gpu, host, 64, NO_KIND));

	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeFromSymbol(NULL, graph, NULL, 0, host, variable, 64, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeFromSymbol(&node, NULL, NULL, 0, host, variable, 64, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeFromSymbol(&node, graph, NULL, 1, host, variable, 64, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeFromSymbol(&node, graph, NULL, 0, NULL, variable, 64, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidSymbol,
	   hipGraphAddMemcpyNodeFromSymbol(&node, graph, NULL, 0, host, NULL, 64, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidSymbol,
	   hipGraphAddMemcpyNodeFromSymbol(&node, graph, NULL, 0, host, gpu, 64, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeFromSymbol(&node, graph, NULL, 0, host, variable, 0, 0, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeFromSymbol(&node, graph, NULL, 0, host, variable, 64, 1, hipMemcpyDeviceToHost));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeToSymbol(NULL, graph, NULL, 0, variable, host, 64, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeToSymbol(&node, NULL, NULL, 0, variable, host, 64, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidSymbol,
	   hipGraphAddMemcpyNodeToSymbol(&node, graph, NULL, 0, NULL, host, 64, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeToSymbol(&node, graph, NULL, 0, variable, NULL, 64, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeToSymbol(&node, graph, NULL, 0, variable, host, 0, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphAddMemcpyNodeToSymbol(&node, graph, NULL, 0, variable, host, 65, 0, hipMemcpyHostToDevice));

	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(NULL, graph, NULL, 0, &f));
	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(&node, NULL, NULL, 0, &f));
	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(&node, graph, NULL, 1, &f));
	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(&node, graph, NULL, 0, NULL));
	f.dst = NULL;
	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(&node, graph, NULL, 0, &f));
	f.dst = host;
	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(&node, graph, NULL, 0, &f));
	f = of_fill();
	f.elementSize = 3;
	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(&node, graph, NULL, 0, &f));
	f = of_fill();
	f.height = 0;
	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(&node, graph, NULL, 0, &f));
	f = of_fill();
	f.width = 0;
	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(&node, graph, NULL, 0, &f));
	f.width = 65536;
	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(&node, graph, NULL, 0, &f));
	f = of_fill();
	f.height = 2;
	f.pitch = 63;
	IS(hipErrorInvalidValue, hipGraphAddMemsetNode(&node, graph, NULL, 0, &f));
}

static void changed_kernels()
{
	hipKernelNodeParams p = of_kernel();
	hipKernelNodeAttrValue value = {};

	IS(hipErrorInvalidValue, hipGraphKernelNodeGetParams(NULL, &p));
	IS(hipErrorInvalidValue, hipGraphKernelNodeGetParams(kernel, NULL));
	IS(hipErrorInvalidValue, hipGraphKernelNodeGetParams(fill, &p));
	p = of_kernel();
	IS(hipErrorInvalidValue, hipGraphKernelNodeSetParams(NULL, &p));
	IS(hipErrorInvalidValue, hipGraphKernelNodeSetParams(kernel, NULL));
	IS(hipErrorInvalidValue, hipGraphKernelNodeSetParams(fill, &p));
	IS(hipErrorInvalidValue, hipGraphExecKernelNodeSetParams(NULL, kernel, &p));
	IS(hipErrorInvalidValue, hipGraphExecKernelNodeSetParams(exec, NULL, &p));
	IS(hipErrorInvalidValue, hipGraphExecKernelNodeSetParams(exec, kernel, NULL));
	IS(hipErrorInvalidValue, hipGraphExecKernelNodeSetParams(exec, elsewhere, &p));
	p.func = NULL;
	IS(hipErrorInvalidValue, hipGraphKernelNodeSetParams(kernel, &p));
	IS(hipErrorInvalidValue, hipGraphExecKernelNodeSetParams(exec, kernel, &p));
	p = of_kernel();
	p.blockDim = dim3(0);
	IS(hipErrorInvalidValue, hipGraphKernelNodeSetParams(kernel, &p));
	IS(hipErrorInvalidValue, hipGraphExecKernelNodeSetParams(exec, kernel, &p));
	IS(hipErrorInvalidValue, hipGraphKernelNodeGetAttribute(NULL, hipKernelNodeAttributeCooperative, &value));
	IS(hipErrorInvalidValue, hipGraphKernelNodeGetAttribute(kernel, hipKernelNodeAttributeCooperative, NULL));
	IS(hipErrorInvalidValue, hipGraphKernelNodeGetAttribute(fill, hipKernelNodeAttributeCooperative, &value));
	IS(hipErrorInvalidValue, hipGraphKernelNodeGetAttribute(kernel, (hipKernelNodeAttrID)1000, &value));
	IS(hipErrorInvalidValue, hipGraphKernelNodeSetAttribute(NULL, hipKernelNodeAttributeCooperative, &value));
	IS(hipErrorInvalidValue, hipGraphKernelNodeSetAttribute(kernel, hipKernelNodeAttributeCooperative, NULL));
	IS(hipErrorInvalidValue, hipGraphKernelNodeSetAttribute(fill, hipKernelNodeAttributeCooperative, &value));
	IS(hipErrorInvalidValue, hipGraphKernelNodeSetAttribute(kernel, (hipKernelNodeAttrID)1000, &value));
	IS(hipErrorInvalidValue, hipGraphKernelNodeCopyAttributes(NULL, kernel));
	IS(hipErrorInvalidValue, hipGraphKernelNodeCopyAttributes(kernel, NULL));
}

static void changed_copies()
{
	hipMemcpy3DParms p = of_copy();
	hipMemsetParams f = of_fill();

	IS(hipErrorInvalidValue, hipGraphMemcpyNodeGetParams(NULL, &p));
	IS(hipErrorInvalidValue, hipGraphMemcpyNodeGetParams(copy, NULL));
	IS(hipErrorInvalidValue, hipGraphMemcpyNodeSetParams(NULL, &p));
	IS(hipErrorInvalidValue, hipGraphMemcpyNodeSetParams(copy, NULL));
	IS(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams(NULL, copy, &p));
	IS(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams(exec, NULL, &p));
	IS(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams(exec, copy, NULL));
	p.kind = NO_KIND;
	IS(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams(exec, copy, &p));
	p = of_copy();
	p.srcPtr.pitch = 63;
	IS(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams(exec, copy, &p));
	IS(hipErrorInvalidValue, hipGraphMemcpyNodeSetParams1D(NULL, gpu, host, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipGraphMemcpyNodeSetParams1D(copy, NULL, host, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipGraphMemcpyNodeSetParams1D(copy, gpu, NULL, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipGraphMemcpyNodeSetParams1D(copy, gpu, host, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipGraphMemcpyNodeSetParams1D(copy, gpu, gpu, 64, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue, hipGraphMemcpyNodeSetParams1D(copy, gpu, host, 65537, hipMemcpyHostToDevice));
	IS(hipErrorInvalidMemcpyDirection, hipGraphMemcpyNodeSetParams1D(copy, gpu, host, 64, NO_KIND));
	IS(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams1D(NULL, copy, gpu, host, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams1D(exec, NULL, gpu, host, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams1D(exec, copy, NULL, host, 64, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams1D(exec, copy, gpu, host, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphExecMemcpyNodeSetParams1D(exec, copy, gpu, gpu2, 64, hipMemcpyDeviceToDevice)); /* another kind */
	IS(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams1D(exec, copy, gpu, host, 64, NO_KIND));
	IS(hipErrorInvalidSymbol,
	   hipGraphMemcpyNodeSetParamsToSymbol(symbol_copy, NULL, gpu, 64, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidSymbol, hipGraphMemcpyNodeSetParamsToSymbol(NULL, NULL, gpu, 64, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphMemcpyNodeSetParamsToSymbol(NULL, variable, gpu, 64, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphMemcpyNodeSetParamsToSymbol(symbol_copy, variable, NULL, 64, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphMemcpyNodeSetParamsToSymbol(symbol_copy, variable, gpu, 0, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphMemcpyNodeSetParamsToSymbol(symbol_copy, variable, gpu, 64, 4, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphMemcpyNodeSetParamsToSymbol(symbol_copy, variable, variable, 64, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidSymbol,
	   hipGraphExecMemcpyNodeSetParamsToSymbol(exec, symbol_copy, NULL, gpu, 64, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphExecMemcpyNodeSetParamsToSymbol(NULL, symbol_copy, variable, gpu, 64, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphExecMemcpyNodeSetParamsToSymbol(exec, symbol_copy, variable, host, 64, 0, hipMemcpyHostToDevice));
	IS(hipErrorInvalidSymbol,
	   hipGraphMemcpyNodeSetParamsFromSymbol(symbol_copy, gpu, NULL, 64, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphMemcpyNodeSetParamsFromSymbol(NULL, gpu, variable, 64, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidSymbol,
	   hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, symbol_copy, gpu, NULL, 64, 0, hipMemcpyDeviceToDevice));
	IS(hipErrorInvalidValue,
	   hipGraphExecMemcpyNodeSetParamsFromSymbol(NULL, symbol_copy, gpu, variable, 64, 0,
						     hipMemcpyDeviceToDevice));

	IS(hipErrorInvalidValue, hipGraphMemsetNodeGetParams(NULL, &f));
	IS(hipErrorInvalidValue, hipGraphMemsetNodeGetParams(fill, NULL));
	f = of_fill();
	IS(hipErrorInvalidValue, hipGraphMemsetNodeSetParams(NULL, &f));
	IS(hipErrorInvalidValue, hipGraphMemsetNodeSetParams(fill, NULL));
	IS(hipErrorInvalidValue, hipGraphExecMemsetNodeSetParams(NULL, fill, &f));
	IS(hipErrorInvalidValue, hipGraphExecMemsetNodeSetParams(exec, NULL, &f));
	IS(hipErrorInvalidValue, hipGraphExecMemsetNodeSetParams(exec, fill, NULL));
	f.dst = NULL;
	IS(hipErrorInvalidValue, hipGraphMemsetNodeSetParams(fill, &f));
	IS(hipErrorInvalidValue, hipGraphExecMemsetNodeSetParams(exec, fill, &f));
	f = of_fill();
	f.elementSize = 3;
	IS(hipErrorInvalidValue, hipGraphMemsetNodeSetParams(fill, &f));
	IS(hipErrorInvalidValue, hipGraphExecMemsetNodeSetParams(exec, fill, &f));
	f = of_fill();
	f.height = 2;
	f.pitch = 63;
	IS(hipErrorInvalidValue, hipGraphMemsetNodeSetParams(fill, &f));
	f = of_fill();
	f.width = 0;
	IS(hipErrorInvalidValue, hipGraphMemsetNodeSetParams(fill, &f));
}

static void changed_others()
{
	const hipHostNodeParams no_call = {};
	hipHostNodeParams got;
	hipEvent_t got_event;
	hipGraph_t larger;
	hipGraphNodeType type;

	IS(hipErrorInvalidValue, hipGraphNodeGetType(NULL, &type));
	IS(hipErrorInvalidValue, hipGraphNodeGetType(empty, NULL));
	IS(hipErrorInvalidValue, hipGraphNodeGetType(made_up<hipGraphNode_t>(), &type));
	IS(hipErrorInvalidValue, hipGraphHostNodeGetParams(NULL, &got));
	IS(hipErrorInvalidValue, hipGraphHostNodeGetParams(host_node, NULL));
	IS(hipErrorInvalidValue, hipGraphHostNodeSetParams(NULL, &call));
	IS(hipErrorInvalidValue, hipGraphHostNodeSetParams(host_node, NULL));
	IS(hipErrorInvalidValue, hipGraphHostNodeSetParams(host_node, &no_call));
	IS(hipErrorInvalidValue, hipGraphExecHostNodeSetParams(NULL, host_node, &call));
	IS(hipErrorInvalidValue, hipGraphExecHostNodeSetParams(exec, NULL, &call));
	IS(hipErrorInvalidValue, hipGraphExecHostNodeSetParams(exec, host_node, NULL));
	IS(hipErrorInvalidValue, hipGraphExecHostNodeSetParams(exec, host_node, &no_call));
	IS(hipErrorInvalidValue, hipGraphEventRecordNodeGetEvent(NULL, &got_event));
	IS(hipErrorInvalidValue, hipGraphEventRecordNodeGetEvent(record, NULL));
	IS(hipErrorInvalidValue, hipGraphEventRecordNodeGetEvent(wait_node, &got_event));
	IS(hipErrorInvalidValue, hipGraphEventRecordNodeSetEvent(NULL, event));
	IS(hipErrorInvalidValue, hipGraphEventRecordNodeSetEvent(record, NULL));
	IS(hipErrorInvalidValue, hipGraphEventRecordNodeSetEvent(wait_node, event));
	IS(hipErrorInvalidValue, hipGraphExecEventRecordNodeSetEvent(NULL, record, event));
	IS(hipErrorInvalidValue, hipGraphExecEventRecordNodeSetEvent(exec, NULL, event));
	IS(hipErrorInvalidValue, hipGraphExecEventRecordNodeSetEvent(exec, wait_node, event));
	IS(hipErrorInvalidValue, hipGraphExecEventRecordNodeSetEvent(exec, record, NULL));
	IS(hipErrorInvalidValue, hipGraphEventWaitNodeGetEvent(NULL, &got_event));
	IS(hipErrorInvalidValue, hipGraphEventWaitNodeGetEvent(wait_node, NULL));
	IS(hipErrorInvalidValue, hipGraphEventWaitNodeGetEvent(record, &got_event));
	IS(hipErrorInvalidValue, hipGraphEventWaitNodeSetEvent(NULL, event));
	IS(hipErrorInvalidValue, hipGraphEventWaitNodeSetEvent(wait_node, NULL));
	IS(hipErrorInvalidValue, hipGraphEventWaitNodeSetEvent(record, event));
	IS(hipErrorInvalidValue, hipGraphExecEventWaitNodeSetEvent(NULL, wait_node, event));
	IS(hipErrorInvalidValue, hipGraphExecEventWaitNodeSetEvent(exec, NULL, event));
	IS(hipErrorInvalidValue, hipGraphExecEventWaitNodeSetEvent(exec, record, event));
	IS(hipErrorInvalidValue, hipGraphExecEventWaitNodeSetEvent(exec, wait_node, NULL));
	IS(hipErrorInvalidValue, hipGraphChildGraphNodeGetGraph(NULL, &got_graph));
	IS(hipErrorInvalidValue, hipGraphChildGraphNodeGetGraph(child, NULL));
	IS(hipErrorInvalidValue, hipGraphChildGraphNodeGetGraph(empty, &got_graph));
	IS(hipErrorInvalidValue, hipGraphExecChildGraphNodeSetParams(NULL, child, other));
	IS(hipErrorInvalidValue, hipGraphExecChildGraphNodeSetParams(exec, NULL, other));
	IS(hipErrorInvalidValue, hipGraphExecChildGraphNodeSetParams(exec, child, NULL));
	IS(hipErrorInvalidValue, hipGraphExecChildGraphNodeSetParams(exec, child, old_graph));
	IS(hipErrorUnknown, hipGraphExecChildGraphNodeSetParams(exec, child, graph)); /* its own */
	OK(hipGraphClone(&larger, other));
	OK(hipGraphAddEmptyNode(&node, larger, NULL, 0));
	IS(hipErrorUnknown, hipGraphExecChildGraphNodeSetParams(exec, child, larger));
	OK(hipGraphDestroy(larger));
}

static void executed()
{
	hipGraphExecUpdateResult result;
	hipGraph_t clone;
	hipGraphExec_t old;
	unsigned enabled;

	IS(hipErrorInvalidValue, hipGraphInstantiate(NULL, graph, NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipGraphInstantiate(&made, NULL, NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipGraphInstantiate(&made, old_graph, NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipGraphInstantiateWithFlags(NULL, graph, 0));
	IS(hipErrorInvalidValue, hipGraphInstantiateWithFlags(&made, NULL, 0));
	IS(hipErrorInvalidValue, hipGraphInstantiateWithFlags(&made, graph, 0x10));
	IS(hipErrorInvalidValue, hipGraphInstantiateWithFlags(&made, graph, ~0ull));
	IS(hipErrorInvalidValue,
	   hipGraphInstantiateWithFlags(&made, graph,
					hipGraphInstantiateFlagAutoFreeOnLaunch |
						hipGraphInstantiateFlagUseNodePriority));
	IS(hipErrorInvalidValue, hipGraphInstantiateWithFlags(&made, graph, hipGraphInstantiateFlagUpload));
	IS(hipErrorInvalidValue, hipGraphInstantiateWithFlags(&made, graph, hipGraphInstantiateFlagDeviceLaunch));
	OK(hipGraphInstantiate(&old, other, NULL, NULL, 0));
	OK(hipGraphExecDestroy(old));
	IS(hipErrorInvalidValue, hipGraphExecDestroy(NULL));
	IS(hipErrorInvalidValue, hipGraphExecDestroy(old));
	IS(hipErrorInvalidValue, hipGraphLaunch(NULL, stream));
	IS(hipErrorInvalidValue, hipGraphLaunch(old, stream));
	IS(hipErrorInvalidValue, hipGraphLaunch(NULL, old_stream));
	IS(hipErrorContextIsDestroyed, hipGraphLaunch(exec, old_stream));
	IS(hipErrorInvalidValue, hipGraphLaunch_spt(NULL, NULL));
	IS(hipErrorInvalidValue, hipGraphUpload(NULL, stream));
	IS(hipErrorInvalidValue, hipGraphUpload(NULL, old_stream));
	IS(hipErrorContextIsDestroyed, hipGraphUpload(exec, old_stream));
	IS(hipErrorContextIsDestroyed, hipGraphUpload(old, old_stream));
	IS(hipErrorInvalidValue, hipGraphUpload(old, stream));
	IS(hipErrorInvalidValue, hipGraphExecUpdate(NULL, graph, &node, &result));
	IS(hipErrorInvalidValue, hipGraphExecUpdate(exec, NULL, &node, &result));
	IS(hipErrorInvalidValue, hipGraphExecUpdate(exec, graph, NULL, &result));
	IS(hipErrorInvalidValue, hipGraphExecUpdate(exec, graph, &node, NULL));
	IS(hipErrorGraphExecUpdateFailure, hipGraphExecUpdate(exec, other, &node, &result));
	OK(hipGraphClone(&clone, graph));
	OK(hipGraphExecUpdate(exec, clone, &node, &result));
	OK(hipGraphDestroy(clone));
	IS(hipErrorInvalidValue, hipGraphNodeGetEnabled(NULL, kernel, &enabled));
	IS(hipErrorInvalidValue, hipGraphNodeGetEnabled(exec, NULL, &enabled));
	IS(hipErrorInvalidValue, hipGraphNodeGetEnabled(exec, kernel, NULL));
	IS(hipErrorInvalidValue, hipGraphNodeGetEnabled(exec, host_node, &enabled));
	IS(hipErrorInvalidValue, hipGraphNodeGetEnabled(exec, elsewhere, &enabled));
	IS(hipErrorInvalidValue, hipGraphNodeSetEnabled(NULL, kernel, 1));
	IS(hipErrorInvalidValue, hipGraphNodeSetEnabled(exec, NULL, 1));
	IS(hipErrorInvalidValue, hipGraphNodeSetEnabled(exec, empty, 1));
	IS(hipErrorInvalidValue, hipGraphNodeSetEnabled(exec, host_node, 1));
	OK(hipGraphNodeSetEnabled(exec, kernel, 1));
}

static void memory()
{
	hipMemAllocNodeParams p = {}, again;
	hipGraphNode_t allocation, end;
	hipGraphExec_t first;
	uint64_t value = 0;
	hipGraph_t g;
	void *at;

	OK(hipGraphCreate(&g, 0));
	p.poolProps.allocType = hipMemAllocationTypePinned;
	p.poolProps.location = {hipMemLocationTypeDevice, 0};
	p.bytesize = 4096;
	IS(hipErrorInvalidValue, hipGraphAddMemAllocNode(NULL, g, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphAddMemAllocNode(&node, NULL, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphAddMemAllocNode(&node, g, NULL, 1, &p));
	IS(hipErrorInvalidValue, hipGraphAddMemAllocNode(&node, g, NULL, 0, NULL));
	p.bytesize = 0;
	IS(hipErrorInvalidValue, hipGraphAddMemAllocNode(&node, g, NULL, 0, &p));
	p.bytesize = 4096;
	p.poolProps.allocType = hipMemAllocationTypeInvalid;
	IS(hipErrorInvalidValue, hipGraphAddMemAllocNode(&node, g, NULL, 0, &p));
	p.poolProps.allocType = hipMemAllocationTypePinned;
	p.poolProps.location.type = hipMemLocationTypeInvalid;
	IS(hipErrorInvalidValue, hipGraphAddMemAllocNode(&node, g, NULL, 0, &p));
	p.poolProps.location = {hipMemLocationTypeDevice, devices};
	IS(hipErrorInvalidValue, hipGraphAddMemAllocNode(&node, g, NULL, 0, &p));
	p.poolProps.location.id = -1;
	IS(hipErrorInvalidValue, hipGraphAddMemAllocNode(&node, g, NULL, 0, &p));
	p.poolProps.location.id = 0;
	OK(hipGraphAddMemAllocNode(&allocation, g, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphMemAllocNodeGetParams(NULL, &again));
	IS(hipErrorInvalidValue, hipGraphMemAllocNodeGetParams(allocation, NULL));
	IS(hipErrorInvalidValue, hipGraphMemAllocNodeGetParams(empty, &again));
	IS(hipErrorInvalidValue, hipGraphAddMemFreeNode(NULL, g, &allocation, 1, p.dptr));
	IS(hipErrorInvalidValue, hipGraphAddMemFreeNode(&end, NULL, &allocation, 1, p.dptr));
	IS(hipErrorInvalidValue, hipGraphAddMemFreeNode(&end, g, NULL, 1, p.dptr));
	IS(hipErrorInvalidValue, hipGraphAddMemFreeNode(&end, g, &allocation, 0, p.dptr));
	IS(hipErrorInvalidValue, hipGraphAddMemFreeNode(&end, g, &allocation, 1, NULL));
	IS(hipErrorInvalidValue, hipGraphAddMemFreeNode(&end, g, &allocation, 1, host));
	IS(hipErrorInvalidValue, hipGraphAddMemFreeNode(&end, g, &allocation, 1, gpu));
	OK(hipGraphAddMemFreeNode(&end, g, &allocation, 1, p.dptr));
	IS(hipErrorInvalidValue, hipGraphAddMemFreeNode(&node, g, &allocation, 1, p.dptr)); /* once */
	IS(hipErrorInvalidValue, hipGraphMemFreeNodeGetParams(NULL, &at));
	IS(hipErrorInvalidValue, hipGraphMemFreeNodeGetParams(end, NULL));
	IS(hipErrorInvalidValue, hipGraphMemFreeNodeGetParams(allocation, &at));
	IS(hipErrorNotSupported, hipGraphClone(&got_graph, g));
	IS(hipErrorNotSupported, hipGraphDestroyNode(allocation));
	IS(hipErrorNotSupported, hipGraphDestroyNode(end));
	OK(hipGraphInstantiate(&first, g, NULL, NULL, 0));
	IS(hipErrorNotSupported, hipGraphInstantiate(&made, g, NULL, NULL, 0)); /* once */
	OK(hipGraphExecDestroy(first));
	OK(hipGraphDestroy(g));

	IS(hipErrorInvalidDevice, hipDeviceGetGraphMemAttribute(-1, hipGraphMemAttrUsedMemCurrent, &value));
	IS(hipErrorInvalidDevice, hipDeviceGetGraphMemAttribute(devices, hipGraphMemAttrUsedMemCurrent, NULL));
	IS(hipErrorInvalidValue, hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, NULL));
	IS(hipErrorInvalidValue, hipDeviceGetGraphMemAttribute(0, (hipGraphMemAttributeType)1000, &value));
	IS(hipErrorInvalidDevice, hipDeviceSetGraphMemAttribute(devices, hipGraphMemAttrUsedMemHigh, &value));
	IS(hipErrorInvalidValue, hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, NULL));
	value = 0;
	IS(hipErrorInvalidValue, hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &value));
	OK(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &value));
	value = 1;
	IS(hipErrorInvalidValue, hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &value));
	IS(hipErrorInvalidDevice, hipDeviceGraphMemTrim(-1));
	IS(hipErrorInvalidDevice, hipDeviceGraphMemTrim(devices));
}

static void objects()
{
	hipUserObject_t object, got;

	IS(hipErrorInvalidValue, hipUserObjectCreate(NULL, host, callback, 1, hipUserObjectNoDestructorSync));
	IS(hipErrorInvalidValue, hipUserObjectCreate(&got, host, NULL, 1, hipUserObjectNoDestructorSync));
	IS(hipErrorInvalidValue, hipUserObjectCreate(&got, host, callback, 0, hipUserObjectNoDestructorSync));
	IS(hipErrorInvalidValue,
	   hipUserObjectCreate(&got, host, callback, (unsigned)INT_MAX + 1, hipUserObjectNoDestructorSync));
	IS(hipErrorInvalidValue, hipUserObjectCreate(&got, host, callback, 1, 0));
	IS(hipErrorInvalidValue, hipUserObjectCreate(&got, host, callback, 1, 2));
	OK(hipUserObjectCreate(&object, NULL, callback, 1, hipUserObjectNoDestructorSync));
	IS(hipErrorInvalidValue, hipUserObjectRetain(NULL, 1));
	IS(hipErrorInvalidValue, hipUserObjectRetain(object, 0));
	IS(hipErrorInvalidValue, hipUserObjectRetain(object, (unsigned)INT_MAX + 1));
	IS(hipErrorInvalidValue, hipUserObjectRelease(NULL, 1));
	IS(hipErrorInvalidValue, hipUserObjectRelease(object, 0));
	IS(hipErrorInvalidValue, hipUserObjectRelease(object, (unsigned)INT_MAX + 1));
	IS(hipErrorInvalidValue, hipGraphRetainUserObject(NULL, object, 1, 0));
	IS(hipErrorInvalidValue, hipGraphRetainUserObject(graph, NULL, 1, 0));
	IS(hipErrorInvalidValue, hipGraphRetainUserObject(graph, object, 0, 0));
	IS(hipErrorInvalidValue, hipGraphRetainUserObject(graph, object, 1, 2));
	IS(hipErrorInvalidValue, hipGraphReleaseUserObject(NULL, object, 1));
	IS(hipErrorInvalidValue, hipGraphReleaseUserObject(graph, NULL, 1));
	IS(hipErrorInvalidValue, hipGraphReleaseUserObject(graph, object, 0));
	OK(hipUserObjectRelease(object, 1));
}

#if TUFF_HIP_ABI >= 6
static void of_hip_6()
{
	hipGraphInstantiateParams with = {};
	hipGraphNodeParams p = {};
	HIP_MEMCPY3D c = {};
	HIP_MEMSET_NODE_PARAMS f = {};
	unsigned long long flags;
	hipCtx_t context;

	OK(hipCtxCreate(&context, 0, 0));
	IS(hipErrorInvalidValue, hipGraphInstantiateWithParams(NULL, graph, &with));
	IS(hipErrorInvalidValue, hipGraphInstantiateWithParams(&made, NULL, &with));
	IS(hipErrorInvalidValue, hipGraphInstantiateWithParams(&made, graph, NULL));
	with.flags = 0x10;
	IS(hipErrorInvalidValue, hipGraphInstantiateWithParams(&made, graph, &with));
	CHECK_EQ(with.result_out, hipGraphInstantiateError);
	IS(hipErrorInvalidValue, hipGraphExecGetFlags(NULL, &flags));
	IS(hipErrorInvalidValue, hipGraphExecGetFlags(exec, NULL));
	p.type = hipGraphNodeTypeEmpty;
	IS(hipErrorInvalidValue, hipGraphAddNode(NULL, graph, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, NULL, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 1, &p));
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, NULL));
	p.type = (hipGraphNodeType)1000;
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, &p));
	p.type = hipGraphNodeTypeHost;
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, &p)); /* no function */
	p.type = hipGraphNodeTypeGraph;
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, &p));
	p.type = hipGraphNodeTypeWaitEvent;
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, &p));
	p.type = hipGraphNodeTypeEventRecord;
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, &p));
	p.type = hipGraphNodeTypeKernel;
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, &p));
	p.type = hipGraphNodeTypeMemset;
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, &p));
	p.type = hipGraphNodeTypeMemcpy;
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, &p));
	p.type = hipGraphNodeTypeMemAlloc;
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, &p));
	p.type = hipGraphNodeTypeMemFree;
	IS(hipErrorInvalidValue, hipGraphAddNode(&node, graph, NULL, 0, &p));
	p.type = hipGraphNodeTypeExtSemaphoreSignal;
	IS(hipErrorNotSupported, hipGraphAddNode(&node, graph, NULL, 0, &p));
	p.type = hipGraphNodeTypeExtSemaphoreWait;
	IS(hipErrorNotSupported, hipGraphAddNode(&node, graph, NULL, 0, &p));
	IS(hipErrorInvalidValue, hipGraphNodeSetParams(NULL, &p));
	IS(hipErrorInvalidValue, hipGraphNodeSetParams(kernel, NULL));
	IS(hipErrorInvalidValue, hipGraphExecNodeSetParams(NULL, kernel, &p));
	IS(hipErrorInvalidValue, hipGraphExecNodeSetParams(exec, NULL, &p));
	IS(hipErrorInvalidValue, hipGraphExecNodeSetParams(exec, kernel, NULL));

	c.srcMemoryType = hipMemoryTypeHost;
	c.srcHost = host;
	c.dstMemoryType = hipMemoryTypeDevice;
	c.dstDevice = gpu;
	c.WidthInBytes = 64;
	c.Height = c.Depth = 1;
	IS(hipErrorInvalidValue, hipDrvGraphAddMemcpyNode(NULL, graph, NULL, 0, &c, context));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemcpyNode(&node, NULL, NULL, 0, &c, context));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemcpyNode(&node, graph, NULL, 1, &c, context));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemcpyNode(&node, graph, NULL, 0, NULL, context));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemcpyNode(&node, graph, NULL, 0, &c, NULL));
	IS(hipErrorInvalidValue, hipDrvGraphMemcpyNodeGetParams(NULL, &c));
	IS(hipErrorInvalidValue, hipDrvGraphMemcpyNodeGetParams(copy, NULL));
	IS(hipErrorInvalidValue, hipDrvGraphMemcpyNodeSetParams(NULL, &c));
	IS(hipErrorInvalidValue, hipDrvGraphMemcpyNodeSetParams(copy, NULL));
	IS(hipErrorInvalidValue, hipDrvGraphExecMemcpyNodeSetParams(NULL, copy, &c, context));
	IS(hipErrorInvalidValue, hipDrvGraphExecMemcpyNodeSetParams(exec, NULL, &c, context));
	IS(hipErrorInvalidValue, hipDrvGraphExecMemcpyNodeSetParams(exec, copy, NULL, context));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemsetNode(NULL, graph, NULL, 0, &f, context));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemsetNode(&node, NULL, NULL, 0, &f, context));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemsetNode(&node, graph, NULL, 0, NULL, context));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemsetNode(&node, graph, NULL, 0, &f, context)); /* nowhere */
	IS(hipErrorInvalidValue, hipDrvGraphExecMemsetNodeSetParams(NULL, fill, &f, context));
	IS(hipErrorInvalidValue, hipDrvGraphExecMemsetNodeSetParams(exec, fill, NULL, context));
	IS(hipErrorInvalidValue, hipDrvGraphExecMemsetNodeSetParams(exec, fill, &f, context));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemFreeNode(NULL, graph, NULL, 0, gpu));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemFreeNode(&node, NULL, NULL, 0, gpu));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemFreeNode(&node, graph, NULL, 0, NULL));
	IS(hipErrorInvalidValue, hipDrvGraphAddMemFreeNode(&node, graph, NULL, 0, host));
	OK(hipCtxDestroy(context));
}
#else
static void of_hip_6()
{
}
#endif

static void removed()
{
	IS(hipErrorInvalidValue, hipGraphDestroyNode(NULL));
	IS(hipErrorInvalidValue, hipGraphDestroyNode(made_up<hipGraphNode_t>()));
	node = wait_node;
	OK(hipGraphDestroyNode(node));
	IS(hipErrorInvalidValue, hipGraphDestroyNode(node));
	OK(hipGraphExecDestroy(exec));
	OK(hipGraphDestroy(graph));
	IS(hipErrorInvalidValue, hipGraphDestroyNode(kernel)); /* gone with it */
	OK(hipGraphDestroy(other));
}

STATUSES("statuses: graphs", begin, graphs, edges, added, added_kernels, added_copies, changed_kernels, changed_copies,
	 changed_others, executed, memory, objects, of_hip_6, removed)
