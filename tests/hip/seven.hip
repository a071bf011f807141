/* What HIP 7 has beside 6.4: its functions, and what its calls do to the thread's last error. The statuses are those that AMD's
 * 7.2.4 was seen to return. */
#include "tests/hip/statuses.h"

#include <dlfcn.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <hip/hiprtc.h>

/* The layouts of 7.2.4. */
static_assert(sizeof(hipLaunchAttributeValue) == 64 && sizeof(hipLaunchAttribute) == 72);
static_assert(sizeof(hipLaunchConfig_t) == 56 && offsetof(hipLaunchConfig_t, attrs) == 40);
static_assert(sizeof(HIP_LAUNCH_CONFIG) == 56 && offsetof(HIP_LAUNCH_CONFIG, hStream) == 32);
static_assert(sizeof(hipMemcpyAttributes) == 24 && offsetof(hipMemcpyAttributes, flags) == 20);
static_assert(sizeof(hipMemcpy3DOperand) == 40 && sizeof(hipMemcpy3DBatchOp) == 112);
static_assert(offsetof(hipMemcpy3DBatchOp, srcAccessOrder) == 104);
static_assert(sizeof(hipMemcpy3DPeerParms) == 168 && offsetof(hipMemcpy3DPeerParms, dstDevice) == 136);
static_assert(sizeof(hipMemsetParams) == 48);

__global__ void add(int *to, int what)
{
	__shared__ int kept[64];

	kept[threadIdx.x % 64] = what;
	__syncthreads();
	to[blockIdx.x * blockDim.x + threadIdx.x] += kept[threadIdx.x % 64];
}

static int *numbers; /* 256 of them, in device memory */
static hipStream_t stream;

static bool all_are(int value)
{
	std::vector<int> got(256);

	OK(hipMemcpy(got.data(), numbers, 1024, hipMemcpyDefault));
	for (int n : got)
		if (n != value)
			return false;
	return true;
}

static void last_errors()
{
	void *memory;

	hipGetLastError();
	IS(hipErrorOutOfMemory, hipMalloc(&memory, 1ull << 50));
	OK(hipSetDevice(0));
	OK(hipExtGetLastError());
	IS(hipErrorOutOfMemory, hipPeekAtLastError());
	IS(hipErrorOutOfMemory, hipExtGetLastError()); /* that of the call before it */
	IS(hipErrorOutOfMemory, hipGetLastError());
	OK(hipGetLastError());
	/* The fast paths do not clear it either. */
	IS(hipErrorInvalidValue, hipMalloc(nullptr, 1));
	hipLaunchKernelGGL(add, 1, 256, 0, stream, numbers, 0);
	IS(hipErrorInvalidValue, hipGetLastError());
	/* "Not ready" is no error. */
	uint32_t *word;
	OK(hipExtMallocWithFlags((void **)&word, 8, hipMallocSignalMemory));
	*word = 0;
	OK(hipStreamWaitValue32(stream, word, 1, hipStreamWaitValueEq, ~0u));
	IS(hipErrorNotReady, hipStreamQuery(stream));
	OK(hipGetLastError());
	*(volatile uint32_t *)word = 1;
	OK(hipStreamSynchronize(stream));
	OK(hipFree(word));
}

static void launches()
{
	int two = 2;
	void *args[] = {&numbers, &two};
	hipLaunchAttribute attribute = {};
	hipLaunchConfig_t config = {dim3(1), dim3(256), 0, stream, &attribute, 0};
	HIP_LAUNCH_CONFIG driver = {1, 1, 1, 256, 1, 1, 0, stream, &attribute, 0};
	hipFunction_t function;

	OK(hipMemsetD32(numbers, 0, 256));
	OK(hipLaunchKernelExC(&config, (const void *)add, args));
	OK(hipStreamSynchronize(stream));
	CHECK(all_are(2));
	OK(hipGetFuncBySymbol(&function, (const void *)add));
	OK(hipDrvLaunchKernelEx(&driver, function, args, nullptr));
	attribute.id = hipLaunchAttributeCooperative;
	attribute.value.cooperative = 1;
	config.numAttrs = driver.numAttrs = 1;
	OK(hipLaunchKernelExC(&config, (const void *)add, args));
	OK(hipDrvLaunchKernelEx(&driver, function, args, nullptr));
	OK(hipStreamSynchronize(stream));
	CHECK(all_are(8));

	config.numAttrs = 0;
	IS(hipErrorInvalidDeviceFunction, hipLaunchKernelExC(&config, nullptr, args));
	IS(hipErrorInvalidDeviceFunction, hipLaunchKernelExC(&config, nothing_there, args));
	config.numAttrs = 1;
	IS(hipErrorInvalidConfiguration, hipLaunchKernelExC(nullptr, (const void *)add, args));
	IS(hipErrorInvalidValue, hipDrvLaunchKernelEx(nullptr, function, args, nullptr));
	IS(hipErrorInvalidHandle, hipDrvLaunchKernelEx(&driver, nullptr, args, nullptr));
	attribute.id = hipLaunchAttributePriority;
	IS(hipErrorInvalidConfiguration, hipDrvLaunchKernelEx(&driver, function, args, nullptr));
	IS(hipErrorInvalidConfiguration, hipLaunchKernelExC(&config, (const void *)add, args));
	driver.attrs = nullptr;
	IS(hipErrorInvalidValue, hipDrvLaunchKernelEx(&driver, function, args, nullptr));
	driver.numAttrs = 0;
	driver.blockDimY = 0;
	IS(hipErrorInvalidConfiguration, hipDrvLaunchKernelEx(&driver, function, args, nullptr));
	hipGetLastError();
}

static void streams()
{
	unsigned long long id[4];
	hipLaunchAttributeValue value;
	hipStream_t other;

	OK(hipStreamCreate(&other));
	OK(hipStreamGetId(nullptr, &id[0]));
	OK(hipStreamGetId(hipStreamLegacy, &id[1]));
	OK(hipStreamGetId(stream, &id[2]));
	OK(hipStreamGetId(other, &id[3]));
	CHECK(id[0] == id[1] && id[1] != id[2] && id[2] < id[3]);
	IS(hipErrorInvalidValue, hipStreamGetId(stream, nullptr));

	OK(hipStreamGetAttribute(nullptr, hipLaunchAttributeSynchronizationPolicy, &value));
	CHECK_EQ(value.syncPolicy, hipSyncPolicyAuto);
	value.syncPolicy = hipSyncPolicySpin;
	OK(hipStreamSetAttribute(stream, hipLaunchAttributeSynchronizationPolicy, &value));
	OK(hipStreamCopyAttributes(other, stream));
	value.syncPolicy = hipSyncPolicyAuto;
	OK(hipStreamGetAttribute(other, hipLaunchAttributeSynchronizationPolicy, &value));
	CHECK_EQ(value.syncPolicy, hipSyncPolicySpin);
	value.priority = 77;
	OK(hipStreamGetAttribute(other, hipLaunchAttributePriority, &value));
	CHECK_EQ(value.priority, 0);
	IS(hipErrorInvalidValue, hipStreamSetAttribute(stream, hipLaunchAttributePriority, &value));
	IS(hipErrorInvalidValue, hipStreamSetAttribute(nullptr, hipLaunchAttributeSynchronizationPolicy, &value));
	IS(hipErrorInvalidValue, hipStreamSetAttribute(stream, hipLaunchAttributeSynchronizationPolicy, nullptr));
	IS(hipErrorInvalidValue, hipStreamGetAttribute(stream, hipLaunchAttributeCooperative, &value));
	value.syncPolicy = (hipSynchronizationPolicy)5;
	IS(hipErrorInvalidValue, hipStreamSetAttribute(stream, hipLaunchAttributeSynchronizationPolicy, &value));
	OK(hipStreamDestroy(other));
	hipGetLastError();
}

static void fills()
{
	uint16_t got[16][32];

	OK(hipMemsetD32(numbers, 0, 256));
	OK(hipMemsetD2D16((hipDeviceptr_t)numbers, 64, 0x1234, 3, 16));
	OK(hipMemcpy(got, numbers, 1024, hipMemcpyDefault));
	for (unsigned y = 0; y < 16; y++)
		for (unsigned x = 0; x < 32; x++)
			CHECK_EQ(got[y][x], x < 3 ? 0x1234 : 0);
	OK(hipMemsetD2D32Async((hipDeviceptr_t)numbers, 64, 7, 16, 16, stream));
	OK(hipStreamSynchronize(stream));
	CHECK(all_are(7));
	OK(hipMemsetD2D8((hipDeviceptr_t)numbers, 64, 1, 64, 16));
	CHECK(all_are(0x01010101));
	OK(hipMemsetD2D8((hipDeviceptr_t)numbers, 64, 1, 0, 16));
	IS(hipErrorInvalidValue, hipMemsetD2D8(nullptr, 64, 1, 64, 16));
	IS(hipErrorInvalidValue, hipMemsetD2D32((hipDeviceptr_t)numbers, 64, 1, 17, 2));
	IS(hipErrorInvalidValue, hipMemsetD2D32((hipDeviceptr_t)numbers, 64, 1, 16, 17));
	hipGetLastError();
}

static void copies()
{
	int from[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, to[8] = {};
	void *dst[] = {numbers, numbers + 4}, *src[] = {from[0], from[1]};
	size_t size[] = {16, 16}, failed = 5;
	hipMemcpyAttributes attributes = {};

	OK(hipMemcpyBatchAsync(dst, src, size, 2, nullptr, nullptr, 0, &failed, stream));
	CHECK_EQ(failed, SIZE_MAX);
	OK(hipStreamSynchronize(stream));
	OK(hipMemcpy(to, numbers, 32, hipMemcpyDefault));
	CHECK(!memcmp(to, from, 32));
	dst[1] = nullptr;
	IS(hipErrorInvalidValue, hipMemcpyBatchAsync(dst, src, size, 2, nullptr, nullptr, 0, &failed, stream));
	CHECK_EQ(failed, 1);
	IS(hipErrorNotSupported, hipMemcpyBatchAsync(dst, src, size, 1, &attributes, &size[0], 1, &failed, stream));
	IS(hipErrorInvalidValue, hipMemcpyBatchAsync(dst, src, size, 0, nullptr, nullptr, 0, &failed, stream));
	IS(hipErrorInvalidValue, hipMemcpyBatchAsync(dst, src, size, 1, nullptr, nullptr, 0, nullptr, stream));

	hipMemcpy3DBatchOp op = {};
	op.src.type = op.dst.type = hipMemcpyOperandTypePointer;
	op.src.op.ptr.ptr = from;
	op.dst.op.ptr.ptr = numbers;
	op.dst.op.ptr.rowLength = 64;
	op.extent = {16, 2, 1};
	OK(hipMemsetD32(numbers, 0, 256));
	OK(hipMemcpy3DBatchAsync(1, &op, &failed, 0, stream));
	CHECK_EQ(failed, SIZE_MAX);
	OK(hipStreamSynchronize(stream));
	OK(hipMemcpy(to, numbers + 16, 32, hipMemcpyDefault));
	CHECK(!memcmp(to, from[1], 16) && !to[4]);
	op.dst.type = (hipMemcpy3DOperandType)3;
	IS(hipErrorInvalidValue, hipMemcpy3DBatchAsync(1, &op, &failed, 0, stream));
	CHECK_EQ(failed, 0);
	IS(hipErrorInvalidValue, hipMemcpy3DBatchAsync(1, &op, &failed, 1, stream));

	hipMemcpy3DPeerParms peer = {};
	peer.srcPtr = {from, 16, 16, 2};
	peer.dstPtr = {numbers, 16, 16, 2};
	peer.extent = {16, 2, 1};
	OK(hipMemsetD32(numbers, 0, 256));
	OK(hipMemcpy3DPeer(&peer));
	OK(hipMemcpy(to, numbers, 32, hipMemcpyDefault));
	CHECK(!memcmp(to, from, 32));
	peer.dstDevice = 99;
	IS(hipErrorInvalidDevice, hipMemcpy3DPeerAsync(&peer, stream));
	IS(hipErrorInvalidValue, hipMemcpy3DPeer(nullptr));
	hipGetLastError();
}

static void memory()
{
	hipMemLocation here = {hipMemLocationTypeDevice, 0}, host = {hipMemLocationTypeHostNuma, 12},
		       none = {hipMemLocationTypeNone, 0}, nowhere = {hipMemLocationTypeDevice, 99};
	int *managed, fd = -1, device = 0;

	OK(hipMallocManaged((void **)&managed, 8192));
	OK(hipMemAdvise_v2(managed, 8192, hipMemAdviseSetPreferredLocation, host));
	OK(hipMemRangeGetAttribute(&device, 4, hipMemRangeAttributePreferredLocation, managed, 8192));
	CHECK_EQ(device, hipCpuDeviceId);
	OK(hipMemPrefetchAsync_v2(managed, 8192, here, 0, stream));
	OK(hipMemRangeGetAttribute(&device, 4, hipMemRangeAttributeLastPrefetchLocation, managed, 8192));
	CHECK_EQ(device, 0);
	OK(hipMemPrefetchAsync_v2(managed, 8192, none, 0, stream));
	IS(hipErrorInvalidValue, hipMemPrefetchAsync_v2(managed, 8192, here, 1, stream));
	IS(hipErrorInvalidDevice, hipMemPrefetchAsync_v2(managed, 8192, nowhere, 0, stream));
	IS(hipErrorInvalidValue, hipMemAdvise_v2(managed, 8192, hipMemAdviseSetAccessedBy, none));
	IS(hipErrorInvalidDevice, hipMemAdvise_v2(managed, 8192, hipMemAdviseSetAccessedBy, nowhere));
	OK(hipFree(managed));

	OK(hipMemGetHandleForAddressRange(&fd, (hipDeviceptr_t)numbers, 1024, hipMemRangeHandleTypeDmaBufFd, 0));
	CHECK(fd >= 0 && lseek(fd, 0, SEEK_END) >= 1024);
	close(fd);
	IS(hipErrorInvalidValue, hipMemGetHandleForAddressRange(&fd, nullptr, 4, hipMemRangeHandleTypeDmaBufFd, 0));
	IS(hipErrorInvalidValue,
	   hipMemGetHandleForAddressRange(&fd, (hipDeviceptr_t)numbers, 0, hipMemRangeHandleTypeDmaBufFd, 0));
	IS(hipErrorInvalidValue,
	   hipMemGetHandleForAddressRange(&fd, (hipDeviceptr_t)&fd, 4, hipMemRangeHandleTypeDmaBufFd, 0));
	IS(hipErrorInvalidValue,
	   hipMemGetHandleForAddressRange(&fd, (hipDeviceptr_t)numbers, 1ull << 40, hipMemRangeHandleTypeDmaBufFd, 0));
	hipGetLastError();
}

static void queries()
{
	size_t size = 0, width = 0;
	hipChannelFormatDesc desc = {32, 32, 0, 0, hipChannelFormatKindFloat};
	hipDriverEntryPointQueryResult result;
	int version, minor;
	void *found, *twin;

	OK(hipRuntimeGetVersion(&version));
	CHECK_EQ(version / 100000, 702);
	OK(hipOccupancyAvailableDynamicSMemPerBlock(&size, (const void *)add, 2, 64));
	CHECK_EQ(size, 65536 / 2 - 512);
	IS(hipErrorInvalidValue, hipOccupancyAvailableDynamicSMemPerBlock(nullptr, (const void *)add, 2, 64));
	IS(hipErrorInvalidDeviceFunction, hipOccupancyAvailableDynamicSMemPerBlock(&size, nothing_there, 2, 64));
	OK(hipDeviceGetTexture1DLinearMaxWidth(&width, &desc, 0));
	CHECK_EQ(width, 0x7fffffff / 8);
	IS(hipErrorInvalidDevice, hipDeviceGetTexture1DLinearMaxWidth(&width, &desc, 9));

	OK(hipGetDriverEntryPoint("hipMemcpy", &found, 0, &result));
	CHECK(found == (void *)hipMemcpy && !result);
	OK(hipGetDriverEntryPoint("hipMemcpy", &twin, 2, nullptr));
	CHECK(twin && twin != found && twin == dlsym(RTLD_DEFAULT, "hipMemcpy_spt"));
	OK(hipGetDriverEntryPoint_spt("hipMemcpy", &found, 0, nullptr));
	CHECK(found == twin);
	OK(hipGetDriverEntryPoint("hipMalloc", &found, 2, nullptr)); /* has no twin */
	CHECK(found == dlsym(RTLD_DEFAULT, "hipMalloc"));
	IS(hipErrorInvalidValue, hipGetDriverEntryPoint("hipNothing", &found, 0, &result));
	CHECK(!found && result == hipDriverEntryPointSymbolNotFound);
	IS(hipErrorInvalidValue, hipGetDriverEntryPoint("hipMalloc", &found, 3, nullptr));
	/* hiprtc is another library's. */
	IS(hipErrorInvalidValue, hipGetProcAddress("hiprtcVersion", &found, 702, 0, nullptr));
	CHECK(dlsym(RTLD_DEFAULT, "hiprtcVersion") && !dlvsym(RTLD_DEFAULT, "hiprtcVersion", "hip_4.2"));
	CHECK_EQ(hiprtcVersion(&version, &minor), HIPRTC_SUCCESS);
	CHECK_EQ(version, 9);
	hipGetLastError();
}

static void modules()
{
	hiprtcProgram program;
	hipModule_t module;
	size_t size;
	unsigned count = 0;

	CHECK_EQ(hiprtcCreateProgram(&program,
				     "extern \"C\" __global__ void a(int *p) { *p = 1; }\n"
				     "extern \"C\" __global__ void b(int *p) { *p = 2; }\n"
				     "extern \"C\" __device__ int c = 3;\n",
				     "two", 0, nullptr, nullptr),
		 HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcGetCodeSize(program, &size), HIPRTC_SUCCESS);
	std::vector<char> code(size);
	CHECK_EQ(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
	OK(hipModuleLoadFatBinary(&module, code.data()));
	OK(hipModuleGetFunctionCount(&count, module));
	CHECK_EQ(count, 2);
	IS(hipErrorInvalidValue, hipModuleGetFunctionCount(nullptr, module));
	IS(hipErrorInvalidHandle, hipModuleGetFunctionCount(&count, nullptr));
	IS(hipErrorInvalidValue, hipModuleLoadFatBinary(&module, nullptr));
	OK(hipModuleUnload(module));
	hipGetLastError();
}

/* Errors that are others than before. */
static void statuses()
{
	hipResourceDesc resource = {};
	hipTextureDesc how = {};
	hipTextureObject_t texture;
	void *at;

	IS(hipErrorInvalidChannelDescriptor, hipCreateTextureObject(nullptr, &resource, &how, nullptr));
	IS(hipErrorInvalidChannelDescriptor, hipCreateTextureObject(&texture, nullptr, &how, nullptr));
	IS(hipErrorInvalidChannelDescriptor, hipCreateTextureObject(&texture, &resource, nullptr, nullptr));
	IS(hipErrorInvalidValue, hipMemAddressReserve(&at, 0, 0, nullptr, 0));
	IS(hipErrorInvalidValue, hipMemAddressReserve(&at, 1 << 21, 3, nullptr, 0));
	hipGetLastError();
}

/* The one structure that a function of 6.4 has otherwise. */
static void memset_nodes()
{
	hipMemsetParams p = {numbers, 4, 1, 0, 11, 256};
	hipGraph_t graph;
	hipGraphNode_t node;
	hipGraphExec_t exec;
	hipCtx_t context;

	OK(hipDevicePrimaryCtxRetain(&context, 0));
	OK(hipGraphCreate(&graph, 0));
	OK(hipDrvGraphAddMemsetNode(&node, graph, nullptr, 0, &p, context));
	OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	OK(hipGraphLaunch(exec, stream));
	OK(hipStreamSynchronize(stream));
	CHECK(all_are(11));
	p.value = 12;
	OK(hipDrvGraphExecMemsetNodeSetParams(exec, node, &p, context));
	OK(hipGraphLaunch(exec, stream));
	OK(hipStreamSynchronize(stream));
	CHECK(all_are(12));
	OK(hipGraphExecDestroy(exec));
	OK(hipGraphDestroy(graph));
	OK(hipDevicePrimaryCtxRelease(0));
	hipGetLastError();
}

/* Statuses that 7.0 to 7.2 changed. */
static void shapes()
{
	void *args[] = {&numbers, &numbers};
	hipKernelNodeParams node = {dim3(0), nullptr, (void *)add, dim3(1), args, 0};
	hipLaunchParams one = {(void *)add, dim3(1), dim3(1), args, 0, stream};
	hipFunction_t function;
	hipGraphNode_t made;
	hipGraph_t graph;

	OK(hipGetFuncBySymbol(&function, (const void *)add));
	IS(hipErrorInvalidConfiguration, hipLaunchKernel((const void *)add, dim3(1), dim3(2048), args, 0, stream));
	IS(hipErrorInvalidConfiguration, hipLaunchKernel((const void *)add, dim3(0), dim3(1), args, 0, stream));
	IS(hipErrorInvalidConfiguration, hipLaunchKernel((const void *)add, dim3(1), dim3(0), args, 0, stream));
	IS(hipErrorInvalidValue, hipModuleLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, stream, args, nullptr));
	IS(hipErrorInvalidValue, hipModuleLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, stream, args, nullptr));
	IS(hipErrorInvalidConfiguration,
	   hipExtModuleLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, stream, args, nullptr, nullptr, nullptr, 0));
	IS(hipErrorInvalidConfiguration,
	   hipExtModuleLaunchKernel(function, 2048, 1, 1, 2048, 1, 1, 0, stream, args, nullptr, nullptr, nullptr, 0));
	OK(hipGraphCreate(&graph, 0));
	IS(hipErrorInvalidConfiguration, hipGraphAddKernelNode(&made, graph, nullptr, 0, &node));
	node.blockDim = dim3(2048);
	IS(hipErrorInvalidConfiguration, hipGraphAddKernelNode(&made, graph, nullptr, 0, &node));
	OK(hipGraphDestroy(graph));
	IS(hipErrorInvalidDevice, hipLaunchCooperativeKernelMultiDevice(&one, 99, 0));
	hipGetLastError();
}

static void properties()
{
	hipPointerAttribute_t attributes = {};
	size_t size = 1, most = 0;
	bool legacy = false;
	int value = -1;

	OK(hipPointerGetAttributes(&attributes, nullptr));
	CHECK(attributes.type == hipMemoryTypeUnregistered && attributes.device == -2);
	OK(hipPointerGetAttribute(&legacy, HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE, (hipDeviceptr_t)numbers));
	CHECK(legacy);
	OK(hipFreeAsync(nullptr, stream));
	OK(hipDeviceGetAttribute(&value, hipDeviceAttributeNumberOfXccs, 0));
	CHECK_EQ(value, 1);
	OK(hipDeviceGetAttribute(&value, hipDeviceAttributePciChipId, 0));
	CHECK_EQ(value, 0x738c);
	OK(hipDeviceGetAttribute(&value, hipDeviceAttributeHostNumaId, 0));
	CHECK_EQ(value, 0);
	OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxAvailableVgprsPerThread, 0));
	CHECK_EQ(value, 256);
	IS(hipErrorUnsupportedLimit, hipDeviceGetLimit(&size, (hipLimit_t)3));
	IS(hipErrorUnsupportedLimit, hipDeviceSetLimit(hipExtLimitScratchMax, 4096));
	OK(hipDeviceGetLimit(&size, hipExtLimitScratchMin));
	OK(hipDeviceGetLimit(&most, hipExtLimitScratchMax));
	CHECK(!size && most);
	hipGetLastError();
}

/* A call during a capture: its result in the three modes, and whether the capture goes on. */
enum after { GOES_ON, LOST };
template <typename F> static void during(const char *name, int strict, after then, int relaxed, after then_relaxed, F call)
{
	for (auto mode : {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed}) {
		const bool is_relaxed = mode == hipStreamCaptureModeRelaxed;
		hipGraph_t graph = nullptr;

		OK(hipStreamBeginCapture(stream, mode));
		if (!CHECK_EQ((int)call(), is_relaxed ? relaxed : strict))
			printf("  %s in mode %d\n", name, (int)mode);
		if (!CHECK_EQ((int)hipStreamEndCapture(stream, &graph),
			      (is_relaxed ? then_relaxed : then) == LOST ? hipErrorStreamCaptureInvalidated : 0))
			printf("  behind %s in mode %d\n", name, (int)mode);
		if (graph)
			OK(hipGraphDestroy(graph));
	}
}
#define DURING(strict, then, relaxed, then_relaxed, call)                                                          \
	during(#call, strict, then, relaxed, then_relaxed, [&] { return call; })

static void captures()
{
	const int no = hipErrorStreamCaptureUnsupported, implicit = hipErrorStreamCaptureImplicit;
	hipMemPoolProps props = {};
	hipMemPool_t pool, made;
	hipStream_t block;
	hipEvent_t event;
	int *managed;

	props.allocType = hipMemAllocationTypePinned;
	props.location = {hipMemLocationTypeDevice, 0};
	OK(hipStreamCreateWithFlags(&block, hipStreamNonBlocking));
	std::swap(block, stream); /* blocking streams concern the null stream */
	OK(hipEventCreate(&event));
	OK(hipMallocManaged((void **)&managed, 4096));
	OK(hipDeviceGetDefaultMemPool(&pool, 0));
	DURING(no, LOST, 0, GOES_ON, hipMemAdvise(managed, 64, hipMemAdviseSetReadMostly, 0));
	DURING(no, LOST, 0, GOES_ON, hipMemPrefetchAsync(managed, 64, 0, stream));
	DURING(no, LOST, 0, GOES_ON, hipEventQuery(event));
	DURING(no, LOST, 0, GOES_ON, hipEventSynchronize(event));
	DURING(no, LOST, 0, GOES_ON, hipStreamQuery(block));
	DURING(no, GOES_ON, 0, GOES_ON, hipDeviceSetMemPool(0, pool));
	DURING(no, GOES_ON, 0, GOES_ON, hipMemPoolCreate(&made, &props));
	DURING(no, GOES_ON, 0, GOES_ON, hipDeviceSetSharedMemConfig(hipSharedMemBankSizeDefault));
	DURING(no, GOES_ON, 0, GOES_ON, hipDeviceSetCacheConfig(hipFuncCachePreferNone));
	DURING(0, GOES_ON, 0, GOES_ON, hipMemPoolTrimTo(pool, 0));
	DURING(no, LOST, no, LOST, hipMemcpyWithStream(numbers, numbers + 64, 64, hipMemcpyDeviceToDevice, stream));
	DURING(no, LOST, 0, GOES_ON, hipMemcpyWithStream(numbers, numbers + 64, 64, hipMemcpyDeviceToDevice, block));
	DURING(implicit, LOST, implicit, LOST, hipMemcpy(numbers, numbers + 64, 64, hipMemcpyDeviceToDevice));
	DURING(implicit, LOST, implicit, LOST, hipMemset(numbers, 0, 64));
	IS(hipErrorIllegalState, hipStreamEndCapture(stream, nullptr));
	OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	OK(hipStreamEndCapture(stream, nullptr));
	OK(hipMemPoolDestroy(made));
	OK(hipFree(managed));
	OK(hipEventDestroy(event));
	std::swap(block, stream);
	OK(hipStreamDestroy(block));
	hipGetLastError();
}

/* Later functions are there, and say that they do nothing. */
static void later_functions()
{
	for (const char *name : {"hipGreenCtxCreate", "hipDeviceGetLuid", "hipMemGetDefaultMemPool"}) {
		int (*function)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, name);

		if (CHECK(function))
			IS(hipErrorNotSupported, function(nullptr));
	}
	CHECK(dlvsym(RTLD_DEFAULT, "hipDeviceGetLuid", "hip_7.16"));
	CHECK(dlvsym(RTLD_DEFAULT, "hipLaunchKernelExC", "hip_6.5"));
	hipGetLastError();
}

static void begin()
{
	OK(hipMalloc((void **)&numbers, 1024));
	OK(hipStreamCreate(&stream));
}

STATUSES("HIP 7", begin, last_errors, launches, streams, fills, copies, memory, queries, modules, statuses, memset_nodes, shapes, properties, captures,
	 later_functions)
