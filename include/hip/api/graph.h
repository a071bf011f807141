/* Graphs: work that is described once and launched often. A graph owns nodes, and edges that order them. An
 * instance of it (hipGraphExec_t) is launched into streams; changes of the graph do not affect it. One thread at a
 * time may use a graph, its nodes or an instance. Errors: InvalidValue, for NULL, a node of another graph or no
 * node, or parameters that the operation itself would refuse. */
#ifndef HIP_API_GRAPH_H
#define HIP_API_GRAPH_H

#include <hip/api/graph_nodes.h>

HIP_API_BEGIN

/* flags: 0. */
hipError_t hipGraphCreate(hipGraph_t *pGraph, unsigned int flags);
hipError_t hipGraphDestroy(hipGraph_t graph);
/* hipGraphNodeFindInClone() finds the clone's node of an original node. */
hipError_t hipGraphClone(hipGraph_t *pGraphClone, hipGraph_t originalGraph);
hipError_t hipGraphNodeFindInClone(hipGraphNode_t *pNode, hipGraphNode_t originalNode, hipGraph_t clonedGraph);

/* --- edges ------------------------------------------------------------------------------------ */

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
				   size_t numDependencies);
hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
				      size_t numDependencies);
/* With NULL lists, returns their length; otherwise fills at most that many entries and returns how many there
 * were. */
hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *numEdges);
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *numNodes);
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *pRootNodes, size_t *pNumRootNodes);
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *pDependencies,
				       size_t *pNumDependencies);
hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *pDependentNodes,
					 size_t *pNumDependentNodes);
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *pType);
hipError_t hipGraphDestroyNode(hipGraphNode_t node);

/* --- instances -------------------------------------------------------------------------------- */

/* pErrorNode, pLogBuffer: NULL, or they receive the failing node and a message. */
hipError_t hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphNode_t *pErrorNode,
			       char *pLogBuffer, size_t bufferSize);
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec, hipGraph_t graph, unsigned long long flags);
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *pGraphExec, hipGraph_t graph,
					 hipGraphInstantiateParams *instantiateParams);
hipError_t hipGraphExecGetFlags(hipGraphExec_t graphExec, unsigned long long *flags);
/* Launches in the stream's order. Launches of one instance do not overlap. */
hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream);
/* Prepares a launch. */
hipError_t hipGraphUpload(hipGraphExec_t graphExec, hipStream_t stream);
/* Launches in progress complete. */
hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec);
/* Copies the parameters of a graph of the same shape into the instance. Errors: GraphExecUpdateFailure, when the
 * shape differs; *updateResult_out has the reason, and the instance is unchanged. */
hipError_t hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph, hipGraphNode_t *hErrorNode_out,
			      hipGraphExecUpdateResult *updateResult_out);
/* A disabled node does nothing. Kernels, copies and fills can be disabled. */
hipError_t hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int isEnabled);
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int *isEnabled);

/* --- memory and objects ----------------------------------------------------------------------- */

hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attr, void *value);
hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attr, void *value);
/* Releases memory that graphs of the device do not use. */
hipError_t hipDeviceGraphMemTrim(int device);
/* Counted: destroy(ptr) runs when the last reference of the program and of graphs is released. */
hipError_t hipUserObjectCreate(hipUserObject_t *object_out, void *ptr, hipHostFn_t destroy,
			       unsigned int initialRefcount, unsigned int flags);
hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned int count HIP_DEFAULT_ARG(1));
hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned int count HIP_DEFAULT_ARG(1));
hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count HIP_DEFAULT_ARG(1),
				    unsigned int flags HIP_DEFAULT_ARG(0));
hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object,
				     unsigned int count HIP_DEFAULT_ARG(1));

/* Writes a file for Graphviz's dot. Errors: OperatingSystem, when the file cannot be written. */
hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char *path, unsigned int flags);

HIP_API_END

#endif
