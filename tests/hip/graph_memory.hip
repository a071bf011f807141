/* Memory that graphs allocate and free. The names S16 and S75 to S81 are those of the specification of pools. */
#include "tests/clients/hip/hip.h"

#define KIB (1ull << 10)

__global__ void fill(unsigned *to, unsigned value)
{
	to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void copy(unsigned *to, const unsigned *from)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = from[i] + 1;
}

static uint64_t usage(hipGraphMemAttributeType which)
{
	uint64_t value = ~0ull;

	HIP(hipDeviceGetGraphMemAttribute(0, which, &value));
	return value;
}

static uint64_t used()
{
	return usage(hipGraphMemAttrUsedMemCurrent);
}

static uint64_t pool_used()
{
	hipMemPool_t pool;
	uint64_t value = ~0ull;

	HIP(hipDeviceGetDefaultMemPool(&pool, 0));
	HIP(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &value));
	return value;
}

static hipMemAllocNodeParams request(size_t size)
{
	hipMemAllocNodeParams params = {};

	params.poolProps.allocType = hipMemAllocationTypePinned;
	params.poolProps.location.type = hipMemLocationTypeDevice;
	params.bytesize = size;
	return params;
}

static hipGraphNode_t first_of(hipGraph_t graph)
{
	hipGraphNode_t node = nullptr;
	size_t count = 1;

	HIP(hipGraphGetNodes(graph, &node, &count));
	return node;
}

/* Memory that is there from a node to another. */
static void inside(hipStream_t s)
{
	gpu_array<unsigned> out(1024);
	hipGraph_t graph, clone;
	hipGraphExec_t exec, second;
	hipGraphNode_t holder;
	hipMemAllocNodeParams params = {};
	unsigned *scratch;
	void *nothing = &scratch, *freed = nullptr;

	HIP(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	HIP(hipMallocAsync(&nothing, 0, s)); /* S16: no node */
	CHECK(nothing == nullptr);
	HIP(hipMallocAsync((void **)&scratch, 4 * KIB, s));
	fill<<<4, 256, 0, s>>>(scratch, 41);
	copy<<<4, 256, 0, s>>>(out.at, scratch);
	CHECK_EQ(hipFreeAsync(out.at, s), hipErrorInvalidValue); /* S76 */
	(void)hipGetLastError();
	HIP(hipFreeAsync(scratch, s));
	CHECK_EQ(hipFreeAsync(scratch, s), hipErrorInvalidValue);
	HIP(hipStreamEndCapture(s, &graph));
	size_t nodes = 0;
	HIP(hipGraphGetNodes(graph, nullptr, &nodes));
	CHECK_EQ(nodes, 4);
	HIP(hipGraphMemAllocNodeGetParams(first_of(graph), &params));
	CHECK(params.dptr == scratch && params.bytesize == 4 * KIB);
	CHECK_EQ(hipGraphMemFreeNodeGetParams(first_of(graph), &freed), hipErrorInvalidValue);
	CHECK_EQ(used(), 0);
	CHECK_EQ(pool_used(), 0); /* S75 */
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	/* S79 */
	CHECK_EQ(hipGraphInstantiate(&second, graph, nullptr, nullptr, 0), hipErrorNotSupported);
	CHECK_EQ(hipGraphClone(&clone, graph), hipErrorNotSupported);
	HIP(hipGraphCreate(&clone, 0));
	CHECK_EQ(hipGraphAddChildGraphNode(&holder, clone, nullptr, 0, graph), hipErrorNotSupported);
	CHECK_EQ(hipGraphDestroyNode(first_of(graph)), hipErrorNotSupported);
	HIP(hipGraphDestroy(clone));
	(void)hipGetLastError();
	for (unsigned i = 0; i < 3; i++) {
		HIP(hipMemsetAsync(out.at, 0, 4 * KIB, s));
		HIP(hipGraphLaunch(exec, s));
		HIP(hipStreamSynchronize(s));
		CHECK_EQ(out.read()[1023], 42);
	}
	CHECK_EQ(used(), 0);
	CHECK_EQ(usage(hipGraphMemAttrUsedMemHigh), 4 * KIB);
	CHECK_EQ(usage(hipGraphMemAttrReservedMemCurrent), 4 * KIB);
	HIP(hipGraphExecDestroy(exec));
	/* The one instance is gone: another may be. */
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	CHECK_EQ(usage(hipGraphMemAttrReservedMemCurrent), 0);
	uint64_t zero = 0, one = 1;
	HIP(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &zero));
	CHECK_EQ(usage(hipGraphMemAttrUsedMemHigh), 0);
	CHECK_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &one), hipErrorInvalidValue);
	CHECK_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &zero), hipErrorInvalidValue);
	CHECK_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, (void *)-1), hipErrorInvalidValue);
	(void)hipGetLastError();
}

/* Memory that outlives the launch. */
static void outside(hipStream_t s)
{
	hipMemAllocNodeParams params = request(8 * KIB), told = {};
	hipMemAccessDesc access = {};
	hipGraphNode_t node, call;
	hipGraphExec_t exec, again;
	hipGraph_t graph;
	unsigned number = 7;
	hipKernelNodeParams kernel = {};

	HIP(hipGraphCreate(&graph, 0));
	access.location.type = hipMemLocationTypeDevice;
	access.flags = hipMemAccessFlagsProtReadWrite;
	params.accessDescs = &access;
	params.accessDescCount = 1;
	HIP(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
	CHECK(params.dptr != nullptr);
	/* What the node tells is its own. */
	access.flags = hipMemAccessFlagsProtNone;
	HIP(hipGraphMemAllocNodeGetParams(node, &told));
	CHECK(told.dptr == params.dptr && told.accessDescCount == 1 && told.accessDescs != &access);
	CHECK_EQ(told.accessDescs[0].flags, hipMemAccessFlagsProtReadWrite);
	void *args[] = {&params.dptr, &number};
	kernel.func = (void *)fill;
	kernel.gridDim = dim3(8);
	kernel.blockDim = dim3(256);
	kernel.kernelParams = args;
	HIP(hipGraphAddKernelNode(&call, graph, &node, 1, &kernel));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	CHECK_EQ(hipFreeAsync(params.dptr, s), hipErrorInvalidValue); /* not there yet */
	(void)hipGetLastError();
	HIP(hipGraphLaunch(exec, s));
	CHECK_EQ(used(), 8 * KIB);
	CHECK_EQ(hipGraphLaunch(exec, s), hipErrorInvalidValue); /* S78 */
	(void)hipGetLastError();
	HIP(hipDeviceGraphMemTrim(0)); /* S80 */
	HIP(hipStreamSynchronize(s));
	unsigned word = 0;
	HIP(hipMemcpy(&word, (char *)params.dptr + 8 * KIB - 4, 4, hipMemcpyDeviceToHost));
	CHECK_EQ(word, 7);
	HIP(hipFreeAsync(params.dptr, s)); /* S77 */
	CHECK_EQ(used(), 0);
	HIP(hipGraphLaunch(exec, s));
	HIP(hipFree(params.dptr));
	HIP(hipGraphLaunch(exec, s));
	HIP(hipGraphExecDestroy(exec));
	/* Freed by another graph, which the memory outlives. */
	hipGraph_t freeing;
	HIP(hipGraphCreate(&freeing, 0));
	HIP(hipGraphAddMemFreeNode(&node, freeing, nullptr, 0, params.dptr));
	void *back = nullptr;
	HIP(hipGraphMemFreeNodeGetParams(node, &back));
	CHECK(back == params.dptr);
	HIP(hipGraphInstantiate(&exec, freeing, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(exec, s));
	CHECK_EQ(used(), 0);
	CHECK_EQ(hipGraphLaunch(exec, s), hipErrorInvalidValue);
	(void)hipGetLastError();
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(freeing));
	/* S78, when it was asked for. */
	HIP(hipGraphInstantiateWithFlags(&again, graph, hipGraphInstantiateFlagAutoFreeOnLaunch));
	HIP(hipGraphLaunch(again, s));
	HIP(hipGraphLaunch(again, s));
	CHECK_EQ(used(), 8 * KIB);
	/* Memory in use stays, whatever becomes of its graph. */
	HIP(hipGraphExecDestroy(again));
	HIP(hipGraphDestroy(graph));
	CHECK_EQ(used(), 8 * KIB);
	HIP(hipMemcpy(&word, params.dptr, 4, hipMemcpyDeviceToHost));
	CHECK_EQ(word, 7);
	HIP(hipFree(params.dptr));
	CHECK_EQ(used(), 0);
	CHECK_EQ(usage(hipGraphMemAttrReservedMemCurrent), 0);
	CHECK_EQ(hipFree(params.dptr), hipErrorInvalidValue);
	(void)hipGetLastError();
}

static void wrong()
{
	hipMemAllocNodeParams params = request(0);
	hipGraphNode_t node;
	hipGraph_t graph;
	gpu_array<char> plain(64);

	HIP(hipGraphCreate(&graph, 0));
	CHECK_EQ(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), hipErrorInvalidValue);
	params = request(64);
	params.poolProps.location.id = 99;
	CHECK_EQ(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), hipErrorInvalidValue);
	params = request(1ull << 60);
	CHECK_EQ(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), hipErrorOutOfMemory);
	CHECK_EQ(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipGraphAddMemFreeNode(&node, graph, nullptr, 0, plain.at), hipErrorInvalidValue);
	CHECK_EQ(hipDeviceGraphMemTrim(99), hipErrorInvalidDevice);
	uint64_t value;
	CHECK_EQ(hipDeviceGetGraphMemAttribute(0, (hipGraphMemAttributeType)9, &value), hipErrorInvalidValue);
	(void)hipGetLastError();
	HIP(hipGraphDestroy(graph));
}

/* Calls that a capture does not bear lose it. */
static void lost()
{
	hipMemPoolProps props = {};
	hipMemPool_t pool, first;
	hipGraph_t graph;
	hipStream_t s;
	void *ptr;

	props.allocType = hipMemAllocationTypePinned;
	props.location.type = hipMemLocationTypeDevice;
	HIP(hipDeviceGetDefaultMemPool(&first, 0));
	for (unsigned which = 0; which < 3; which++) {
		hipError_t r;

		HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
		HIP(hipStreamBeginCapture(s, hipStreamCaptureModeThreadLocal));
		r = which == 0	 ? hipMemPoolCreate(&pool, &props)
		    : which == 1 ? hipDeviceSetMemPool(0, first)
				 : hipMemPoolTrimTo(first, 0);
		CHECK_EQ(r, hipErrorStreamCaptureUnsupported); /* S81 */
		CHECK_EQ(hipMallocAsync(&ptr, 4 * KIB, s), hipErrorStreamCaptureInvalidated);
		CHECK_EQ(hipStreamEndCapture(s, &graph), hipErrorStreamCaptureInvalidated);
		(void)hipGetLastError();
		HIP(hipStreamDestroy(s));
	}
}

int main()
{
	hipStream_t s;

	HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	inside(s);
	outside(s);
	wrong();
	lost();
	HIP(hipStreamDestroy(s));
	return check_done("memory of graphs");
}
