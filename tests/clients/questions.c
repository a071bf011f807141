/* Questions to a library of HIP, of 6 or 7, each a line "CALL = ANSWER": differential.sh compares what two libraries say. A call
 * without a kernel, whose answer does not depend on addresses or time. A crash is an answer, too.
 *
 *   questions LIBRARY GROUP */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HIP_DEPRECATED
#include <hip/hip_runtime_api.h>

static void *library;
static sigjmp_buf crash;

static void crashed(int signal)
{
	(void)signal;
	siglongjmp(crash, 1);
}

/* Calls the function, if the library has it. The line has the arguments as they stand here. */
#define ASK(function, ...)                                                                                         \
	do {                                                                                                       \
		__typeof__(&function) f_;                                                                          \
                                                                                                                   \
		*(void **)&f_ = dlsym(library, #function);                                                         \
		printf("%s(%s) = ", #function, #__VA_ARGS__);                                                      \
		if (!f_)                                                                                           \
			printf("not there\n");                                                                     \
		else if (sigsetjmp(crash, 1))                                                                      \
			printf("crash\n");                                                                         \
		else                                                                                               \
			printf("%d\n", (int)f_(__VA_ARGS__));                                                      \
	} while (0)
/* Prepares a question: a call that both libraries know, whose answer is not compared. */
#define DO(function, ...)                                                                                          \
	do {                                                                                                       \
		__typeof__(&function) f_;                                                                          \
                                                                                                                   \
		*(void **)&f_ = dlsym(library, #function);                                                         \
		if (f_)                                                                                            \
			(void)f_(__VA_ARGS__);                                                                     \
	} while (0)
#define VALUE(value) printf("  %s = %lld\n", #value, (long long)(value))

static char nothing[4096]; /* memory that is no object of the library's */
#define MADE_UP ((void *)nothing)

/* --- groups ----------------------------------------------------------------------------------------- */

static void errors(void)
{
	void *memory;

	ASK(hipInit, 0);
	ASK(hipInit, 1);
	ASK(hipMalloc, NULL, 16);
	ASK(hipPeekAtLastError);
	ASK(hipSetDevice, 0);
	ASK(hipPeekAtLastError);
	ASK(hipGetLastError);
	ASK(hipGetLastError);
	ASK(hipMalloc, &memory, (size_t)1 << 50);
	ASK(hipExtGetLastError);
	ASK(hipGetLastError);
	ASK(hipSetDevice, 9);
	ASK(hipSetDevice, -1);
	ASK(hipGetDevice, NULL);
	ASK(hipGetDeviceCount, NULL);
	ASK(hipRuntimeGetVersion, NULL);
	ASK(hipDriverGetVersion, NULL);
	for (int e = 0; e < 1100; e++) {
		const char *(*name)(hipError_t) = (const char *(*)(hipError_t))dlsym(library, "hipGetErrorName");
		const char *(*text)(hipError_t) = (const char *(*)(hipError_t))dlsym(library, "hipGetErrorString");

		if (strcmp(name((hipError_t)e), "hipErrorUnknown") != 0)
			printf("error %d = %s, %s\n", e, name((hipError_t)e), text((hipError_t)e));
	}
}

static void attributes(void)
{
	hipError_t (*get)(int *, hipDeviceAttribute_t, int) =
		(hipError_t(*)(int *, hipDeviceAttribute_t, int))dlsym(library, "hipDeviceGetAttribute");

	for (volatile int a = 0; a < 10030; a = a == 110 ? 10000 : a + 1) {
		int value = -77;
		int r = sigsetjmp(crash, 1) ? -1 : (int)get(&value, (hipDeviceAttribute_t)a, 0);

		printf("hipDeviceGetAttribute(%d) = %d, %d\n", a, r, value);
	}
	ASK(hipDeviceGetAttribute, NULL, hipDeviceAttributeWarpSize, 0);
	ASK(hipDeviceGetAttribute, &(int){0}, hipDeviceAttributeWarpSize, 1);
}

static void devices(void)
{
	size_t a = 0, b = 0;
	int n = -1, m = -1;
	unsigned flags = 77;
	char text[64] = "";
	hipDevice_t device;

	for (int limit = 0; limit < 6; limit++) {
		ASK(hipDeviceGetLimit, &a, (enum hipLimit_t)limit);
		VALUE(limit);
		VALUE(a);
	}
	ASK(hipDeviceGetLimit, NULL, hipLimitStackSize);
	ASK(hipDeviceSetLimit, hipLimitStackSize, 4096);
	ASK(hipDeviceSetLimit, (enum hipLimit_t)77, 4096);
	ASK(hipDeviceGetStreamPriorityRange, &n, &m);
	VALUE(n);
	VALUE(m);
	ASK(hipDeviceGetStreamPriorityRange, NULL, NULL);
	ASK(hipGetDeviceFlags, &flags);
	VALUE(flags);
	ASK(hipSetDeviceFlags, 77);
	ASK(hipSetDeviceFlags, hipDeviceScheduleSpin);
	ASK(hipDeviceGet, &device, 0);
	ASK(hipDeviceGet, &device, 5);
	ASK(hipDeviceGet, NULL, 0);
	ASK(hipDeviceGetName, text, 0, 0);
	ASK(hipDeviceGetName, NULL, 64, 0);
	ASK(hipDeviceGetName, text, 64, 3);
	ASK(hipDeviceGetPCIBusId, text, 5, 0);
	ASK(hipDeviceGetPCIBusId, text, 64, 0);
	ASK(hipDeviceGetByPCIBusId, &n, "ffff:ff:1f.0");
	ASK(hipDeviceGetByPCIBusId, NULL, text);
	ASK(hipDeviceTotalMem, &a, 4);
	ASK(hipDeviceTotalMem, NULL, 0);
	ASK(hipMemGetInfo, NULL, &b);
	ASK(hipMemGetInfo, NULL, NULL);
	ASK(hipDeviceCanAccessPeer, &n, 0, 0);
	VALUE(n);
	ASK(hipDeviceCanAccessPeer, &n, 0, 1);
	ASK(hipDeviceEnablePeerAccess, 0, 0);
	ASK(hipDeviceEnablePeerAccess, 1, 0);
	ASK(hipDeviceDisablePeerAccess, 0);
	ASK(hipDeviceSetCacheConfig, hipFuncCachePreferL1);
	ASK(hipDeviceSetSharedMemConfig, hipSharedMemBankSizeFourByte);
	ASK(hipDeviceGetUuid, NULL, 0);
	ASK(hipDeviceComputeCapability, &n, &m, 0);
	ASK(hipSetValidDevices, NULL, 0);
	ASK(hipSetValidDevices, NULL, 1);
	ASK(hipSetValidDevices, &(int){9}, 1);
	ASK(hipDeviceSynchronize);
}

static void memory(void)
{
	void *at = NULL, *host = NULL, *base = NULL;
	size_t pitch = 0, size = 0;
	unsigned flags = 0;
	hipPointerAttribute_t attributes;

	ASK(hipMalloc, &at, 0);
	VALUE(at == NULL);
	ASK(hipMalloc, &at, 4096);
	ASK(hipMemset, at, 0, 4096);
	ASK(hipMemset, at, 0, 4097);
	ASK(hipMemset, NULL, 0, 16);
	ASK(hipMemset, NULL, 0, 0);
	ASK(hipMemsetD32, at, 1, 1024);
	ASK(hipMemsetD32, at, 1, 1025);
	ASK(hipMemset2D, at, 64, 0, 65, 2);
	ASK(hipMemset2D, at, 64, 0, 64, 64);
	ASK(hipMemcpy, at, nothing, 4096, hipMemcpyHostToDevice);
	ASK(hipMemcpy, at, nothing, 4097, hipMemcpyHostToDevice);
	ASK(hipMemcpy, at, NULL, 16, hipMemcpyHostToDevice);
	ASK(hipMemcpy, NULL, nothing, 16, hipMemcpyHostToDevice);
	ASK(hipMemcpy, NULL, NULL, 0, hipMemcpyHostToDevice);
	ASK(hipMemcpy, at, nothing, 16, (hipMemcpyKind)9);
	ASK(hipMemcpy2D, at, 32, nothing, 64, 64, 2, hipMemcpyHostToDevice);
	ASK(hipMemcpy2D, at, 64, nothing, 64, 0, 2, hipMemcpyHostToDevice);
	ASK(hipMallocPitch, &base, &pitch, 0, 4);
	ASK(hipMallocPitch, &base, NULL, 16, 4);
	ASK(hipHostMalloc, &host, 4096, 0);
	ASK(hipHostMalloc, &base, 16, 0x40000000);
	ASK(hipHostMalloc, NULL, 16, 0);
	ASK(hipHostAlloc, &base, 16, 0x40000000);
	ASK(hipHostGetFlags, &flags, host);
	VALUE(flags);
	ASK(hipHostGetFlags, &flags, nothing);
	ASK(hipHostGetFlags, NULL, host);
	ASK(hipHostGetDevicePointer, &base, host, 1);
	ASK(hipHostGetDevicePointer, &base, nothing, 0);
	ASK(hipHostRegister, nothing, 4096, 0);
	ASK(hipHostRegister, nothing, 4096, 0);
	ASK(hipHostRegister, NULL, 4096, 0);
	ASK(hipHostRegister, host, 0, 0);
	ASK(hipHostUnregister, nothing);
	ASK(hipHostUnregister, nothing);
	ASK(hipHostUnregister, NULL);
	ASK(hipPointerGetAttributes, &attributes, at);
	VALUE(attributes.type);
	VALUE(attributes.device);
	ASK(hipPointerGetAttributes, &attributes, nothing);
	VALUE(attributes.type);
	VALUE(attributes.device);
	ASK(hipPointerGetAttributes, &attributes, NULL);
	ASK(hipPointerGetAttributes, NULL, at);
	ASK(hipMemGetAddressRange, &base, &size, (char *)at + 100);
	VALUE(base == at);
	VALUE(size);
	ASK(hipMemGetAddressRange, &base, &size, nothing);
	ASK(hipMemPtrGetInfo, at, &size);
	ASK(hipMemPtrGetInfo, nothing, &size);
	ASK(hipFreeHost, nothing);
	ASK(hipHostFree, host);
	ASK(hipFree, nothing);
	ASK(hipFree, NULL);
	ASK(hipFree, at);
	ASK(hipFree, at);
	ASK(hipExtMallocWithFlags, &at, 8, 77);
	ASK(hipExtMallocWithFlags, &at, 16, hipMallocSignalMemory);
	ASK(hipMallocManaged, &at, 4096, 9);
	ASK(hipMallocManaged, &at, 0, hipMemAttachGlobal);
	ASK(hipMemAdvise, NULL, 16, hipMemAdviseSetReadMostly, 0);
	ASK(hipMemAdvise, nothing, 16, hipMemAdviseSetReadMostly, 0);
	ASK(hipMemPrefetchAsync, NULL, 16, 0, NULL);
	ASK(hipMemRangeGetAttribute, nothing, 4, hipMemRangeAttributeReadMostly, NULL, 16);
	ASK(hipIpcGetMemHandle, NULL, nothing);
	ASK(hipIpcCloseMemHandle, nothing);
	ASK(hipIpcOpenMemHandle, NULL, (hipIpcMemHandle_t){{0}}, 1);
}

static void pools(void)
{
	hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
				 .location = {hipMemLocationTypeDevice, 0}};
	hipMemPool_t pool, other;
	uint64_t value = 77;
	void *at;

	ASK(hipDeviceGetDefaultMemPool, &pool, 0);
	ASK(hipDeviceGetDefaultMemPool, &other, 3);
	ASK(hipDeviceGetDefaultMemPool, NULL, 0);
	ASK(hipDeviceGetMemPool, &other, 0);
	VALUE(pool == other);
	ASK(hipDeviceSetMemPool, 0, NULL);
	ASK(hipMemPoolCreate, NULL, &props);
	ASK(hipMemPoolCreate, &other, NULL);
	props.allocType = hipMemAllocationTypeInvalid;
	ASK(hipMemPoolCreate, &other, &props);
	props.allocType = hipMemAllocationTypePinned;
	props.location.id = 7;
	ASK(hipMemPoolCreate, &other, &props);
	props.location.id = 0;
	ASK(hipMemPoolCreate, &other, &props);
	for (int a = 0; a < 10; a++) {
		value = 77;
		ASK(hipMemPoolGetAttribute, other, (hipMemPoolAttr)a, &value);
		VALUE(a);
		VALUE(value);
	}
	ASK(hipMemPoolGetAttribute, NULL, hipMemPoolAttrReleaseThreshold, &value);
	ASK(hipMemPoolGetAttribute, other, hipMemPoolAttrReleaseThreshold, NULL);
	ASK(hipMemPoolSetAttribute, other, hipMemPoolAttrReleaseThreshold, NULL);
	ASK(hipMemPoolSetAttribute, other, hipMemPoolAttrUsedMemHigh, &(uint64_t){5});
	ASK(hipMemPoolSetAttribute, other, hipMemPoolAttrUsedMemHigh, &(uint64_t){0});
	ASK(hipMemPoolTrimTo, NULL, 0);
	ASK(hipMemPoolTrimTo, other, 0);
	ASK(hipMallocAsync, NULL, 16, NULL);
	ASK(hipMallocAsync, &at, 0, NULL);
	ASK(hipMallocAsync, &at, 4096, NULL);
	ASK(hipFreeAsync, NULL, NULL);
	ASK(hipFreeAsync, at, NULL);
	ASK(hipMallocFromPoolAsync, &at, 16, NULL, NULL);
	ASK(hipMallocFromPoolAsync, NULL, 16, other, NULL);
	ASK(hipMemPoolGetAccess, NULL, other, &props.location);
	ASK(hipMemPoolSetAccess, other, NULL, 1);
	ASK(hipMemPoolDestroy, other);
	ASK(hipMemPoolDestroy, NULL);
	ASK(hipMemPoolDestroy, pool);
}

static void streams(void)
{
	hipStream_t stream = NULL, other;
	hipEvent_t event = NULL, second = NULL;
	unsigned flags = 77;
	int priority = 77;
	float ms = 0;

	ASK(hipStreamCreate, NULL);
	ASK(hipStreamCreateWithFlags, &stream, 7);
	ASK(hipStreamCreateWithFlags, &stream, hipStreamNonBlocking);
	ASK(hipStreamCreateWithPriority, &other, hipStreamDefault, -100);
	ASK(hipStreamGetPriority, other, &priority);
	VALUE(priority);
	ASK(hipStreamGetPriority, stream, NULL);
	ASK(hipStreamGetFlags, stream, &flags);
	VALUE(flags);
	ASK(hipStreamGetFlags, stream, NULL);
	ASK(hipStreamGetFlags, NULL, &flags);
	ASK(hipStreamGetDevice, stream, NULL);
	ASK(hipStreamQuery, stream);
	ASK(hipStreamQuery, NULL);
	ASK(hipStreamSynchronize, NULL);
	ASK(hipStreamWaitEvent, stream, NULL, 0);
	ASK(hipStreamAddCallback, stream, NULL, NULL, 0);
	ASK(hipLaunchHostFunc, stream, NULL, NULL);
	ASK(hipStreamAttachMemAsync, stream, NULL, 0, hipMemAttachGlobal);
	ASK(hipEventCreate, NULL);
	ASK(hipEventCreateWithFlags, &event, 0x70);
	ASK(hipEventCreateWithFlags, &event, hipEventInterprocess);
	ASK(hipEventCreate, &event);
	ASK(hipEventCreate, &second);
	ASK(hipEventQuery, event);
	ASK(hipEventSynchronize, event);
	ASK(hipEventElapsedTime, &ms, event, second);
	ASK(hipEventElapsedTime, NULL, event, second);
	ASK(hipEventRecord, NULL, stream);
	ASK(hipEventRecord, event, stream);
	ASK(hipEventSynchronize, event);
	ASK(hipEventElapsedTime, &ms, event, second);
	ASK(hipEventElapsedTime, &ms, event, event);
	ASK(hipEventQuery, NULL);
	ASK(hipEventSynchronize, NULL);
	ASK(hipEventDestroy, NULL);
	ASK(hipEventDestroy, event);
	ASK(hipStreamWriteValue32, stream, NULL, 1, 0);
	ASK(hipStreamWaitValue32, stream, NULL, 1, 0, 1);
	ASK(hipExtStreamCreateWithCUMask, &other, 0, NULL);
	ASK(hipExtStreamGetCUMask, stream, 0, NULL);
	ASK(hipStreamDestroy, NULL);
	ASK(hipStreamDestroy, stream);
}

static void captures(void)
{
	hipStream_t stream, other;
	hipGraph_t graph;
	hipStreamCaptureStatus status;
	hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
	unsigned long long id;
	void *at;

	DO(hipStreamCreateWithFlags, &stream, hipStreamNonBlocking);
	DO(hipStreamCreateWithFlags, &other, hipStreamNonBlocking);
	DO(hipMalloc, &at, 4096);
	ASK(hipStreamBeginCapture, NULL, hipStreamCaptureModeGlobal);
	ASK(hipStreamBeginCapture, stream, (hipStreamCaptureMode)5);
	ASK(hipStreamEndCapture, stream, &graph);
	ASK(hipStreamIsCapturing, stream, NULL);
	ASK(hipStreamBeginCapture, stream, hipStreamCaptureModeGlobal);
	ASK(hipStreamBeginCapture, stream, hipStreamCaptureModeGlobal);
	ASK(hipMemsetAsync, at, 0, 64, stream);
	ASK(hipMemcpyAsync, at, nothing, 64, hipMemcpyHostToDevice, stream);
	ASK(hipMemsetAsync, at, 0, 64, other);
	ASK(hipStreamIsCapturing, stream, &status);
	VALUE(status);
	ASK(hipStreamGetCaptureInfo, stream, &status, NULL);
	ASK(hipStreamGetCaptureInfo, stream, NULL, &id);
	ASK(hipThreadExchangeStreamCaptureMode, &mode);
	VALUE(mode);
	ASK(hipThreadExchangeStreamCaptureMode, NULL);
	ASK(hipStreamEndCapture, other, &graph);
	ASK(hipStreamEndCapture, stream, &graph);
	ASK(hipStreamEndCapture, stream, NULL);
	ASK(hipStreamBeginCapture, stream, hipStreamCaptureModeRelaxed);
	ASK(hipStreamSynchronize, stream);
	ASK(hipStreamIsCapturing, stream, &status);
	VALUE(status);
	ASK(hipStreamEndCapture, stream, &graph);
}

static void graphs(void)
{
	hipGraph_t graph = NULL, clone = NULL;
	hipGraphNode_t node, second, list[4];
	hipGraphExec_t exec = NULL;
	hipGraphNodeType type;
	hipMemsetParams set = {0};
	hipHostNodeParams host = {0};
	size_t count = 4;
	void *at;

	DO(hipMalloc, &at, 4096);
	ASK(hipGraphCreate, NULL, 0);
	ASK(hipGraphCreate, &graph, 1);
	ASK(hipGraphCreate, &graph, 0);
	ASK(hipGraphAddEmptyNode, NULL, graph, NULL, 0);
	ASK(hipGraphAddEmptyNode, &node, NULL, NULL, 0);
	ASK(hipGraphAddEmptyNode, &node, graph, NULL, 1);
	ASK(hipGraphAddEmptyNode, &node, graph, NULL, 0);
	ASK(hipGraphAddMemsetNode, &second, graph, &node, 1, &set);
	set = (hipMemsetParams){at, 1, 1, 0, 0, 64};
	ASK(hipGraphAddMemsetNode, &second, graph, &node, 1, &set);
	set.elementSize = 3;
	ASK(hipGraphAddMemsetNode, &second, graph, &node, 1, &set);
	ASK(hipGraphAddMemcpyNode1D, &second, graph, &node, 1, at, nothing, 0, hipMemcpyHostToDevice);
	ASK(hipGraphAddMemcpyNode1D, &second, graph, &node, 1, at, nothing, 64, hipMemcpyHostToDevice);
	ASK(hipGraphAddHostNode, &second, graph, NULL, 0, &host);
	ASK(hipGraphAddHostNode, &second, graph, NULL, 0, NULL);
	ASK(hipGraphAddKernelNode, &second, graph, NULL, 0, NULL);
	ASK(hipGraphAddChildGraphNode, &second, graph, NULL, 0, NULL);
	ASK(hipGraphAddEventRecordNode, &second, graph, NULL, 0, NULL);
	ASK(hipGraphGetNodes, graph, list, &count);
	VALUE(count);
	ASK(hipGraphGetNodes, graph, NULL, &count);
	ASK(hipGraphGetNodes, NULL, NULL, &count);
	ASK(hipGraphGetRootNodes, graph, NULL, &count);
	VALUE(count);
	ASK(hipGraphGetEdges, graph, NULL, NULL, &count);
	VALUE(count);
	ASK(hipGraphNodeGetType, node, &type);
	VALUE(type);
	ASK(hipGraphNodeGetType, node, NULL);
	ASK(hipGraphAddDependencies, graph, &node, &node, 1);
	ASK(hipGraphAddDependencies, graph, NULL, NULL, 1);
	ASK(hipGraphRemoveDependencies, graph, NULL, NULL, 0);
	ASK(hipGraphClone, NULL, graph);
	ASK(hipGraphClone, &clone, graph);
	ASK(hipGraphInstantiate, NULL, graph, NULL, NULL, 0);
	ASK(hipGraphInstantiate, &exec, NULL, NULL, NULL, 0);
	ASK(hipGraphInstantiate, &exec, graph, NULL, NULL, 0);
	ASK(hipGraphInstantiateWithFlags, &exec, graph, 16);
	ASK(hipGraphLaunch, NULL, NULL);
	ASK(hipGraphLaunch, exec, NULL);
	ASK(hipGraphUpload, NULL, NULL);
	ASK(hipGraphExecDestroy, exec);
	ASK(hipGraphExecDestroy, NULL);
	ASK(hipGraphDestroyNode, node);
	ASK(hipGraphDestroyNode, NULL);
	ASK(hipGraphDestroy, clone);
	ASK(hipGraphDestroy, graph);
	ASK(hipGraphDestroy, NULL);
	ASK(hipDeviceGraphMemTrim, 0);
	ASK(hipDeviceGraphMemTrim, 5);
	ASK(hipUserObjectCreate, NULL, NULL, NULL, 1, 0);
}

static void modules(void)
{
	hipModule_t module = NULL;
	hipFunction_t function;
	hipDeviceptr_t at;
	size_t size;
	void *address;
	unsigned count;
	hipDriverProcAddressQueryResult status;

	ASK(hipModuleLoad, &module, "/nowhere");
	ASK(hipModuleLoad, &module, "/dev/null");
	ASK(hipModuleLoad, &module, "");
	ASK(hipModuleLoad, NULL, "/nowhere");
	ASK(hipModuleLoadData, &module, NULL);
	ASK(hipModuleLoadData, NULL, nothing);
	ASK(hipModuleLoadData, &module, nothing);
	ASK(hipModuleUnload, NULL);
	ASK(hipModuleGetFunction, &function, NULL, "k");
	ASK(hipModuleGetFunction, NULL, NULL, "k");
	ASK(hipModuleGetGlobal, &at, &size, NULL, "v");
	ASK(hipModuleGetFunctionCount, &count, NULL);
	ASK(hipFuncGetAttributes, NULL, NULL);
	ASK(hipFuncGetAttribute, NULL, HIP_FUNC_ATTRIBUTE_NUM_REGS, NULL);
	ASK(hipFuncSetAttribute, NULL, hipFuncAttributeMaxDynamicSharedMemorySize, 0);
	ASK(hipFuncSetCacheConfig, NULL, hipFuncCachePreferL1);
	ASK(hipGetSymbolAddress, &address, nothing);
	ASK(hipGetSymbolSize, &size, nothing);
	ASK(hipMemcpyToSymbol, nothing, nothing, 4, 0, hipMemcpyHostToDevice);
	ASK(hipGetFuncBySymbol, &function, NULL);
	ASK(hipLaunchKernel, NULL, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL);
	ASK(hipModuleLaunchKernel, NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	ASK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, &(int){0}, NULL, 64, 0);
	ASK(hipGetProcAddress, "hipMalloc", &address, 600, 0, &status);
	VALUE(status);
	ASK(hipGetProcAddress, "hipNothing", &address, 600, 0, &status);
	VALUE(status);
	ASK(hipGetProcAddress, "", &address, 600, 0, NULL);
	ASK(hipGetProcAddress, NULL, &address, 600, 0, NULL);
	ASK(hipGetProcAddress, "hipMalloc", NULL, 600, 0, NULL);
}

static void libraries(void)
{
	hipLibrary_t library_ = NULL;
	hipKernel_t kernel;
	unsigned count = 77;
	const char *name;

	ASK(hipLibraryLoadData, &library_, NULL, NULL, NULL, 0, NULL, NULL, 0);
	ASK(hipLibraryLoadData, NULL, nothing, NULL, NULL, 0, NULL, NULL, 0);
	ASK(hipLibraryLoadData, &library_, nothing, NULL, NULL, 1, NULL, NULL, 0);
	ASK(hipLibraryLoadFromFile, &library_, "/nowhere", NULL, NULL, 0, NULL, NULL, 0);
	ASK(hipLibraryLoadData, &library_, nothing, NULL, NULL, 0, NULL, NULL, 0);
	ASK(hipLibraryGetKernelCount, &count, library_);
	ASK(hipLibraryGetKernelCount, NULL, library_);
	ASK(hipLibraryGetKernel, &kernel, library_, "k");
	ASK(hipLibraryGetKernel, &kernel, library_, NULL);
	ASK(hipLibraryGetKernel, NULL, library_, "k");
	ASK(hipLibraryEnumerateKernels, NULL, 0, library_);
	ASK(hipLibraryEnumerateKernels, &kernel, 1, library_);
	ASK(hipLibraryUnload, library_);
	ASK(hipLibraryGetKernelCount, &count, NULL);
	ASK(hipLibraryGetKernel, &kernel, NULL, "k");
	ASK(hipLibraryUnload, NULL);
	ASK(hipKernelGetLibrary, &library_, NULL);
	ASK(hipKernelGetLibrary, &library_, MADE_UP);
	ASK(hipKernelGetLibrary, NULL, MADE_UP);
	ASK(hipKernelGetName, &name, NULL);
	ASK(hipKernelGetName, &name, MADE_UP);
}

static void images(void)
{
	hipChannelFormatDesc desc = {32, 0, 0, 0, hipChannelFormatKindFloat};
	hipArray_t array = NULL;
	hipResourceDesc resource = {0};
	hipTextureDesc texture = {0};
	hipTextureObject_t object;
	size_t width = 0;

	ASK(hipMallocArray, NULL, &desc, 64, 64, 0);
	ASK(hipMallocArray, &array, NULL, 64, 64, 0);
	ASK(hipMallocArray, &array, &desc, 0, 64, 0);
	ASK(hipMallocArray, &array, &desc, 64, 64, 0x1000);
	ASK(hipMallocArray, &array, &desc, 64, 64, 0);
	ASK(hipMemcpy2DToArray, array, 0, 0, nothing, 64, 256, 4, hipMemcpyHostToDevice);
	ASK(hipMemcpy2DToArray, NULL, 0, 0, nothing, 64, 64, 4, hipMemcpyHostToDevice);
	ASK(hipMemcpy2DToArray, array, 250, 0, nothing, 64, 64, 4, hipMemcpyHostToDevice);
	ASK(hipCreateTextureObject, NULL, &resource, &texture, NULL);
	ASK(hipCreateTextureObject, &object, NULL, &texture, NULL);
	ASK(hipCreateTextureObject, &object, &resource, NULL, NULL);
	ASK(hipCreateTextureObject, &object, &resource, &texture, NULL);
	ASK(hipDestroyTextureObject, NULL);
	ASK(hipGetChannelDesc, NULL, array);
	ASK(hipGetChannelDesc, &desc, NULL);
	ASK(hipCreateSurfaceObject, NULL, &resource);
	ASK(hipDestroySurfaceObject, NULL);
	ASK(hipFreeArray, array);
	ASK(hipFreeArray, NULL);
	ASK(hipDeviceGetTexture1DLinearMaxWidth, &width, &desc, 0);
	VALUE(width);
	ASK(hipDeviceGetTexture1DLinearMaxWidth, NULL, &desc, 0);
}

static void virtual_memory(void)
{
	hipMemAllocationProp prop = {.type = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}};
	hipMemGenericAllocationHandle_t handle;
	size_t granularity = 0;
	void *at = NULL;

	ASK(hipMemGetAllocationGranularity, NULL, &prop, hipMemAllocationGranularityMinimum);
	ASK(hipMemGetAllocationGranularity, &granularity, NULL, hipMemAllocationGranularityMinimum);
	ASK(hipMemGetAllocationGranularity, &granularity, &prop, (hipMemAllocationGranularity_flags)7);
	ASK(hipMemGetAllocationGranularity, &granularity, &prop, hipMemAllocationGranularityMinimum);
	ASK(hipMemAddressReserve, NULL, 1 << 21, 0, NULL, 0);
	ASK(hipMemAddressReserve, &at, 0, 0, NULL, 0);
	ASK(hipMemAddressReserve, &at, 1 << 21, 0, NULL, 1);
	ASK(hipMemAddressReserve, &at, 1 << 21, 0, NULL, 0);
	ASK(hipMemCreate, NULL, 1 << 21, &prop, 0);
	ASK(hipMemCreate, &handle, 0, &prop, 0);
	ASK(hipMemCreate, &handle, 100, &prop, 0);
	ASK(hipMemCreate, &handle, 1 << 21, NULL, 0);
	ASK(hipMemCreate, &handle, 1 << 21, &prop, 0);
	ASK(hipMemMap, NULL, 1 << 21, 0, handle, 0);
	ASK(hipMemMap, at, 1 << 21, 1, handle, 0);
	ASK(hipMemMap, at, 1 << 21, 0, handle, 0);
	ASK(hipMemSetAccess, at, 1 << 21, NULL, 1);
	ASK(hipMemUnmap, at, 0);
	ASK(hipMemUnmap, at, 1 << 21);
	ASK(hipMemRelease, NULL);
	ASK(hipMemRelease, handle);
	ASK(hipMemAddressFree, at, 0);
	ASK(hipMemAddressFree, at, 1 << 21);
	ASK(hipMemRetainAllocationHandle, NULL, at);
}

static const struct group {
	const char *name;
	void (*ask)(void);
} groups[] = {
	{"errors", errors},       {"attributes", attributes}, {"devices", devices},
	{"memory", memory},       {"pools", pools},           {"streams", streams},
	{"captures", captures},   {"graphs", graphs},         {"modules", modules},
	{"libraries", libraries}, {"images", images},         {"virtual_memory", virtual_memory},
};

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = crashed};

	if (argc == 1) {
		for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
			printf("%s\n", groups[i].name);
		return 0;
	}
	library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
	alarm(120);
	DO(hipSetDevice, 0);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (argc > 2 && !strcmp(argv[2], groups[i].name))
			groups[i].ask();
	fflush(stdout);
	_exit(0); /* whose exit handlers follow is not asked */
}
