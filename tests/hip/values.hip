/* Streams that wait for values in memory, and write them. */
#include "tests/clients/hip/hip.h"

__global__ void set(unsigned long long *at, unsigned long long value)
{
	__hip_atomic_store(at, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

__global__ void hold(const unsigned long long *go)
{
	while (!__hip_atomic_load(go, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(8);
}

__global__ void square(unsigned *values, unsigned count)
{
	for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
		values[i] *= values[i];
}

struct stream {
	hipStream_t at;
	stream()
	{
		HIP(hipStreamCreateWithFlags(&at, hipStreamNonBlocking));
	}
	~stream()
	{
		HIP(hipStreamDestroy(at));
	}
	operator hipStream_t() const
	{
		return at;
	}
};

/* Eight bytes that the host writes, too. */
struct word {
	unsigned long long *at;
	explicit word(unsigned long long value)
	{
		HIP(hipExtMallocWithFlags((void **)&at, sizeof(*at), hipMallocSignalMemory));
		store(value);
	}
	~word()
	{
		HIP(hipFree(at));
	}
	void store(unsigned long long value)
	{
		__atomic_store_n(at, value, __ATOMIC_RELEASE);
	}
};

static const struct condition {
	unsigned flags;
	unsigned long long mask, value, no, yes;
} conditions[] = {
	{hipStreamWaitValueGte, ~0ull, 10, 9, 10},
	{hipStreamWaitValueGte, ~0ull, 10, 0, 0x80000000},
	{hipStreamWaitValueGte, 0xff, 10, 0x709, 0x70b},
	{hipStreamWaitValueEq, ~0ull, 10, 11, 10},
	{hipStreamWaitValueEq, 0xf0, 0x30, 0x23, 0x3f},
	{hipStreamWaitValueAnd, ~0ull, 6, 9, 12},
	{hipStreamWaitValueAnd, 4, 6, 2, 4},
	{hipStreamWaitValueNor, 0xff, 0xf, 0xf5, 0x7f},
};

/* Not ready before, done after; another stream goes on meanwhile. */
static void each_condition(bool wide)
{
	stream waits, goes;
	gpu_array<unsigned> out(std::vector<unsigned>(1, 3));

	for (const condition &c : conditions) {
		word w(c.no);

		if (wide)
			HIP(hipStreamWaitValue64(waits, w.at, c.value, c.flags, c.mask));
		else
			HIP(hipStreamWaitValue32(waits, w.at, (unsigned)c.value, c.flags, (unsigned)c.mask));
		square<<<1, 1, 0, goes>>>(out.at, 0);
		HIP(hipStreamSynchronize(goes));
		CHECK_EQ(hipStreamQuery(waits), hipErrorNotReady);
		w.store(c.yes);
		HIP(hipStreamSynchronize(waits));
	}
	(void)hipGetLastError();
}

/* One stream's write is what another waits for, with what came before it; far values of 64 bits are whole. */
static void from_stream_to_stream()
{
	const unsigned count = 300;
	stream first, second;
	gpu_array<unsigned> values(std::vector<unsigned>(count, 3));
	unsigned wrong = 0;
	word w(0);

	HIP(hipStreamWaitValue64(second, w.at, 0x123456789abull, hipStreamWaitValueEq));
	square<<<1, 64, 0, second>>>(values.at, count);
	square<<<1, 64, 0, first>>>(values.at, count);
	HIP(hipStreamWriteValue64(first, w.at, 0x123456789abull, 0));
	HIP(hipStreamSynchronize(second));
	for (unsigned v : values.read())
		wrong += v != 81;
	CHECK_EQ(wrong, 0);
	HIP(hipStreamWriteValue32(first, w.at, 7, 0));
	HIP(hipStreamSynchronize(first));
	CHECK_EQ(*w.at, 0x12300000007ull);
}

/* What a stream itself writes before it waits is what it looks at, however late; and a kernel's store is seen. */
static void in_order()
{
	stream s, other;
	word w(5), back(0), go(0);

	hold<<<1, 1, 0, s>>>(go.at);
	HIP(hipStreamWriteValue64(s, w.at, 1, 0));
	HIP(hipStreamWaitValue64(s, w.at, 5, hipStreamWaitValueEq));
	HIP(hipStreamWriteValue64(s, back.at, 1, 0));
	go.store(1);
	HIP(hipStreamWaitValue64(other, w.at, 1, hipStreamWaitValueEq));
	HIP(hipStreamSynchronize(other));
	CHECK_EQ(hipStreamQuery(s), hipErrorNotReady);
	CHECK_EQ(*back.at, 0);
	set<<<1, 1, 0, other>>>(w.at, 5);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(*back.at, 1);
}

/* The device's memory, and the host's. */
static void any_memory()
{
	stream s, other;
	unsigned *host;
	gpu_array<unsigned> device(std::vector<unsigned>(2, 0));

	HIP(hipHostMalloc((void **)&host, 2 * sizeof(*host), 0));
	host[0] = host[1] = 0;
	HIP(hipStreamWaitValue32(s, &device.at[1], 3, hipStreamWaitValueGte));
	HIP(hipStreamWriteValue32(s, &host[1], 9, 0));
	HIP(hipStreamWriteValue32(other, &device.at[1], 4, 0));
	HIP(hipStreamWaitValue32(other, &host[1], 9, hipStreamWaitValueEq));
	HIP(hipStreamSynchronize(other));
	CHECK(!host[0] && host[1] == 9);
	HIP(hipHostFree(host));
}

/* Registered memory has an address of HSA's beside the program's: the wait reads at the program's. */
static void registered_memory()
{
	stream s;
	std::vector<unsigned> heap(1024, 0);
	volatile unsigned *const at = &heap[31];
	unsigned *device;

	HIP(hipHostRegister(heap.data(), heap.size() * sizeof(heap[0]), 0));
	HIP(hipHostGetDevicePointer((void **)&device, heap.data(), 0));
	HIP(hipStreamWaitValue32(s, &heap[31], 5, hipStreamWaitValueEq));
	HIP(hipStreamWriteValue32(s, &heap[32], 6, 0));
	HIP(hipStreamWaitValue32(s, device + 32, 6, hipStreamWaitValueEq));
	CHECK_EQ(hipStreamQuery(s), hipErrorNotReady);
	CHECK_EQ(heap[32], 0);
	*at = 5;
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(heap[32], 6);
	HIP(hipHostUnregister(heap.data()));
}

static void refused()
{
	stream s;
	word w(0);
	unsigned on_stack = 0;

	CHECK_EQ(hipStreamWaitValue32(s, nullptr, 0, hipStreamWaitValueEq), hipErrorInvalidValue);
	CHECK_EQ(hipStreamWriteValue32(s, nullptr, 0, 0), hipErrorInvalidValue);
	CHECK_EQ(hipStreamWriteValue32(s, &on_stack, 0, 0), hipErrorInvalidValue);
#if TUFF_HIP_ABI == 6 /* AMD's 5.2 takes it */
	CHECK_EQ(hipStreamWaitValue32(s, w.at, 0, 4), hipErrorInvalidValue);
#endif
	CHECK_EQ(hipExtMallocWithFlags((void **)&w.at, 16, hipMallocSignalMemory), hipErrorInvalidValue);
	(void)hipGetLastError();
}

#if TUFF_HIP_ABI == 6
static void batches()
{
	stream s;
	word a(0), b(0);
	hipStreamBatchMemOpParams ops[3] = {};

	ops[0].waitValue = {hipStreamMemOpWaitValue64, a.at, {}, hipStreamWaitValueEq, nullptr};
	ops[0].waitValue.value64 = 2;
	ops[1].writeValue = {hipStreamMemOpWriteValue32, b.at, {}, 0, nullptr};
	ops[1].writeValue.value = 3;
	ops[2].writeValue = {hipStreamMemOpWriteValue64, a.at, {}, 0, nullptr};
	ops[2].writeValue.value64 = 4;
	HIP(hipStreamBatchMemOp(s, 3, ops, 0));
	CHECK_EQ(hipStreamQuery(s), hipErrorNotReady);
	CHECK_EQ(*b.at, 0);
	a.store(2);
	HIP(hipStreamSynchronize(s));
	CHECK(*a.at == 4 && *b.at == 3);
	ops[2].operation = hipStreamMemOpBarrier;
	CHECK_EQ(hipStreamBatchMemOp(s, 3, ops, 0), hipErrorInvalidValue);
	CHECK_EQ(hipStreamBatchMemOp(s, 0, ops, 0), hipErrorInvalidValue);
	CHECK_EQ(hipStreamBatchMemOp(s, 257, ops, 0), hipErrorInvalidValue);
	CHECK_EQ(hipStreamBatchMemOp(s, 1, nullptr, 0), hipErrorInvalidValue);
	CHECK_EQ(*a.at, 4);
	(void)hipGetLastError();
}

static hipStreamBatchMemOpParams wait_for(const word &w, unsigned value)
{
	hipStreamBatchMemOpParams op = {};

	op.waitValue = {hipStreamMemOpWaitValue32, w.at, {}, hipStreamWaitValueEq, nullptr};
	op.waitValue.value = value;
	return op;
}

static hipStreamBatchMemOpParams write(const word &w, unsigned value)
{
	hipStreamBatchMemOpParams op = {};

	op.writeValue = {hipStreamMemOpWriteValue32, w.at, {}, 0, nullptr};
	op.writeValue.value = value;
	return op;
}

/* A node has a list of its own; a kernel stands between two of them. */
static void graphs()
{
	stream s;
	word a(0), b(0);
	hipStreamBatchMemOpParams first[] = {wait_for(a, 1), write(b, 1)}, last[] = {write(b, 2)};
	hipBatchMemOpNodeParams begin = {nullptr, 2, first, 0}, end = {nullptr, 1, last, 0}, got = {}, bad = begin;
	gpu_array<unsigned> values(std::vector<unsigned>(4, 3));
	unsigned count = 4;
	void *args[] = {&values.at, &count};
	hipKernelNodeParams kernel = {};
	hipGraphNode_t nodes[3];
	hipGraphNodeType type;
	hipGraph_t graph;
	hipGraphExec_t exec;

	kernel.func = (void *)square;
	kernel.gridDim = kernel.blockDim = dim3(1);
	kernel.kernelParams = args;
	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphAddBatchMemOpNode(&nodes[0], graph, nullptr, 0, &begin));
	HIP(hipGraphAddKernelNode(&nodes[1], graph, nodes, 1, &kernel));
	HIP(hipGraphAddBatchMemOpNode(&nodes[2], graph, nodes + 1, 1, &end));
	HIP(hipGraphNodeGetType(nodes[2], &type));
	CHECK_EQ(type, hipGraphNodeTypeBatchMemOp);
	memset((void *)first, 0xff, sizeof(first));
	HIP(hipGraphBatchMemOpNodeGetParams(nodes[0], &got));
	CHECK(got.count == 2 && got.paramArray && got.paramArray != first &&
	      got.paramArray[0].waitValue.value == 1);
	bad.paramArray = first;
	CHECK_EQ(hipGraphAddBatchMemOpNode(nodes, graph, nullptr, 0, &bad), hipErrorInvalidValue);
	CHECK_EQ(hipGraphAddBatchMemOpNode(nodes, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipGraphBatchMemOpNodeGetParams(nodes[1], &got), hipErrorInvalidValue);
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(exec, s));
	CHECK_EQ(hipStreamQuery(s), hipErrorNotReady);
	CHECK_EQ(*b.at, 0);
	a.store(1);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(*b.at, 2);
	CHECK_EQ(values.read()[3], 9);
	/* What an instance does is changed, and then what the graph does. */
	last[0] = write(b, 7);
	HIP(hipGraphExecBatchMemOpNodeSetParams(exec, nodes[2], &end));
	HIP(hipGraphLaunch(exec, s));
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(*b.at, 7);
	HIP(hipGraphExecDestroy(exec));
	last[0] = write(b, 8);
	HIP(hipGraphBatchMemOpNodeSetParams(nodes[2], &end));
	CHECK_EQ(hipGraphBatchMemOpNodeSetParams(nodes[1], &end), hipErrorInvalidValue);
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(exec, s));
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(*b.at, 8);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	(void)hipGetLastError();
}

/* A batch in a capture is such a node. */
static void captured()
{
	stream s;
	word a(0);
	hipStreamBatchMemOpParams ops[] = {write(a, 1), wait_for(a, 1), write(a, 2)};
	hipGraph_t graph;
	hipGraphExec_t exec;
	size_t count = 0;

	HIP(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	HIP(hipStreamBatchMemOp(s, 3, ops, 0));
	HIP(hipStreamEndCapture(s, &graph));
	CHECK_EQ(*a.at, 0);
	HIP(hipGraphGetNodes(graph, nullptr, &count));
	CHECK_EQ(count, 1);
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(exec, s));
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(*a.at, 2);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}
#endif

int main()
{
	int can = 0;

	HIP(hipDeviceGetAttribute(&can, hipDeviceAttributeCanUseStreamWaitValue, 0));
	CHECK_EQ(can, 1);
	each_condition(false);
	each_condition(true);
	from_stream_to_stream();
	in_order();
	any_memory();
	registered_memory();
	refused();
#if TUFF_HIP_ABI == 6
	batches();
	graphs();
	captured();
#endif
	return check_done("values in streams");
}
