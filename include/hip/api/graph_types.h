/* Parameters of graph nodes. */
#ifndef HIP_API_GRAPH_TYPES_H
#define HIP_API_GRAPH_TYPES_H

#include <hip/api/external.h>
#include <hip/api/launch.h>
#include <hip/api/pool.h>

typedef enum hipGraphNodeType {
	hipGraphNodeTypeKernel = 0,
	hipGraphNodeTypeMemcpy = 1,
	hipGraphNodeTypeMemset = 2,
	hipGraphNodeTypeHost = 3,
	hipGraphNodeTypeGraph = 4,
	hipGraphNodeTypeEmpty = 5,
	hipGraphNodeTypeWaitEvent = 6,
	hipGraphNodeTypeEventRecord = 7,
	hipGraphNodeTypeExtSemaphoreSignal = 8,
	hipGraphNodeTypeExtSemaphoreWait = 9,
	hipGraphNodeTypeMemAlloc = 10,
	hipGraphNodeTypeMemFree = 11,
	hipGraphNodeTypeMemcpyFromSymbol = 12,
	hipGraphNodeTypeMemcpyToSymbol = 13,
#if TUFF_HIP_ABI == 5
	hipGraphNodeTypeCount = 14
#else
	hipGraphNodeTypeBatchMemOp = 14,
	hipGraphNodeTypeCount = 15
#endif
} hipGraphNodeType;

typedef enum hipGraphDependencyType {
	hipGraphDependencyTypeDefault = 0,
	hipGraphDependencyTypeProgrammatic = 1
} hipGraphDependencyType;
/* Attributes of an edge: all 0, which means that a node waits for the whole of another. */
typedef struct hipGraphEdgeData {
	unsigned char from_port;
	unsigned char reserved[5];
	unsigned char to_port;
	unsigned char type;
} hipGraphEdgeData;
#define hipGraphKernelNodePortDefault          0
#define hipGraphKernelNodePortProgrammatic     1
#define hipGraphKernelNodePortLaunchCompletion 2

/* --- parameters of each kind of node ---------------------------------------------------------- */

/* Arguments are copied when the node is made. */
typedef struct hipKernelNodeParams {
	dim3 blockDim;
	void **extra;
	void *func;
	dim3 gridDim;
	void **kernelParams;
	unsigned int sharedMemBytes;
} hipKernelNodeParams;

typedef struct hipMemcpyNodeParams {
	int flags;
	int reserved[3];
	hipMemcpy3DParms copyParams;
} hipMemcpyNodeParams;

/* width is in elements of elementSize bytes, pitch in bytes; with height 1 the pitch is ignored. */
typedef struct hipMemsetParams {
	void *dst;
	unsigned int elementSize;
	size_t height;
	size_t pitch;
	unsigned int value;
	size_t width;
} hipMemsetParams;

typedef struct HIP_MEMSET_NODE_PARAMS {
	hipDeviceptr_t dst;
	size_t pitch;
	unsigned int value;
	unsigned int elementSize;
	size_t width;
	size_t height;
} HIP_MEMSET_NODE_PARAMS;

typedef struct hipHostNodeParams {
	hipHostFn_t fn;
	void *userData;
} hipHostNodeParams;

typedef struct hipChildGraphNodeParams {
	hipGraph_t graph;
} hipChildGraphNodeParams;

typedef struct hipEventWaitNodeParams {
	hipEvent_t event;
} hipEventWaitNodeParams;

typedef struct hipEventRecordNodeParams {
	hipEvent_t event;
} hipEventRecordNodeParams;

/* dptr: the address of the memory, set when the node is made. */
typedef struct hipMemAllocNodeParams {
	hipMemPoolProps poolProps;
	const hipMemAccessDesc *accessDescs;
	size_t accessDescCount;
	size_t bytesize;
	void *dptr;
} hipMemAllocNodeParams;

typedef struct hipMemFreeNodeParams {
	void *dptr;
} hipMemFreeNodeParams;

typedef struct hipExternalSemaphoreSignalNodeParams {
	hipExternalSemaphore_t *extSemArray;
	const hipExternalSemaphoreSignalParams *paramsArray;
	unsigned int numExtSems;
} hipExternalSemaphoreSignalNodeParams;

typedef struct hipExternalSemaphoreWaitNodeParams {
	hipExternalSemaphore_t *extSemArray;
	const hipExternalSemaphoreWaitParams *paramsArray;
	unsigned int numExtSems;
} hipExternalSemaphoreWaitNodeParams;

typedef struct hipBatchMemOpNodeParams {
	hipCtx_t ctx;
	unsigned int count;
	hipStreamBatchMemOpParams *paramArray;
	unsigned int flags;
} hipBatchMemOpNodeParams;

/* Parameters of any type, selected by `type`. reserved: 0. */
typedef struct hipGraphNodeParams {
	hipGraphNodeType type;
	int reserved0[3];
	__extension__ union {
		long long reserved1[29];
		hipKernelNodeParams kernel;
		hipMemcpyNodeParams memcpy;
		hipMemsetParams memset;
		hipHostNodeParams host;
		hipChildGraphNodeParams graph;
		hipEventWaitNodeParams eventWait;
		hipEventRecordNodeParams eventRecord;
		hipExternalSemaphoreSignalNodeParams extSemSignal;
		hipExternalSemaphoreWaitNodeParams extSemWait;
		hipMemAllocNodeParams alloc;
		hipMemFreeNodeParams free;
	};
	long long reserved2;
} hipGraphNodeParams;

/* --- attributes of kernel nodes --------------------------------------------------------------- */

#define hipKernelNodeAttrID                      hipLaunchAttributeID
#define hipKernelNodeAttrValue                   hipLaunchAttributeValue
#define hipKernelNodeAttributeAccessPolicyWindow hipLaunchAttributeAccessPolicyWindow
#define hipKernelNodeAttributeCooperative        hipLaunchAttributeCooperative
#define hipKernelNodeAttributePriority           hipLaunchAttributePriority

/* --- instances -------------------------------------------------------------------------------- */

/* Memory that the graph allocates and does not free is freed by the next launch; the graph is uploaded at once;
 * ... */
typedef enum hipGraphInstantiateFlags {
	hipGraphInstantiateFlagAutoFreeOnLaunch = 1,
	hipGraphInstantiateFlagUpload = 2,
	hipGraphInstantiateFlagDeviceLaunch = 4,
	hipGraphInstantiateFlagUseNodePriority = 8
} hipGraphInstantiateFlags;
typedef enum hipGraphInstantiateResult {
	hipGraphInstantiateSuccess = 0,
	hipGraphInstantiateError = 1,
	hipGraphInstantiateInvalidStructure = 2,
	hipGraphInstantiateNodeOperationNotSupported = 3,
	hipGraphInstantiateMultipleDevicesNotSupported = 4
} hipGraphInstantiateResult;
typedef struct hipGraphInstantiateParams {
	hipGraphNode_t errNode_out;
	unsigned long long flags;
	hipGraphInstantiateResult result_out;
	hipStream_t uploadStream;
} hipGraphInstantiateParams;

typedef enum hipGraphExecUpdateResult {
	hipGraphExecUpdateSuccess = 0,
	hipGraphExecUpdateError = 1,
	hipGraphExecUpdateErrorTopologyChanged = 2,
	hipGraphExecUpdateErrorNodeTypeChanged = 3,
	hipGraphExecUpdateErrorFunctionChanged = 4,
	hipGraphExecUpdateErrorParametersChanged = 5,
	hipGraphExecUpdateErrorNotSupported = 6,
	hipGraphExecUpdateErrorUnsupportedFunctionChange = 7
} hipGraphExecUpdateResult;

/* Memory of a device's graphs, in bytes (uint64_t): present value and maximum; a maximum can be reset to 0. */
typedef enum hipGraphMemAttributeType {
	hipGraphMemAttrUsedMemCurrent = 0,
	hipGraphMemAttrUsedMemHigh = 1,
	hipGraphMemAttrReservedMemCurrent = 2,
	hipGraphMemAttrReservedMemHigh = 3
} hipGraphMemAttributeType;

/* Contents of a graph's picture. */
typedef enum hipGraphDebugDotFlags {
	hipGraphDebugDotFlagsVerbose = 1,
	hipGraphDebugDotFlagsKernelNodeParams = 4,
	hipGraphDebugDotFlagsMemcpyNodeParams = 8,
	hipGraphDebugDotFlagsMemsetNodeParams = 16,
	hipGraphDebugDotFlagsHostNodeParams = 32,
	hipGraphDebugDotFlagsEventNodeParams = 64,
	hipGraphDebugDotFlagsExtSemasSignalNodeParams = 128,
	hipGraphDebugDotFlagsExtSemasWaitNodeParams = 256,
	hipGraphDebugDotFlagsKernelNodeAttributes = 512,
	hipGraphDebugDotFlagsHandles = 1024
} hipGraphDebugDotFlags;

/* --- objects of the user's -------------------------------------------------------------------- */

typedef struct hipUserObject *hipUserObject_t;
/* The only flag of hipUserObjectCreate(), which is mandatory. */
typedef enum hipUserObjectFlags { hipUserObjectNoDestructorSync = 1 } hipUserObjectFlags;
/* The graph takes over references of the caller. */
typedef enum hipUserObjectRetainFlags { hipGraphUserObjectMove = 1 } hipUserObjectRetainFlags;

#endif
