/* Stream capture: the nodes that calls become, joining streams, and calls that invalidate a capture. */
#include <thread>

#include "tests/clients/hip/hip.h"

#define COUNT 1024u

__device__ unsigned device_word;

__global__ void add(unsigned *data, unsigned term)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] += term;
}

struct stream {
	hipStream_t at;
	explicit stream(unsigned flags = hipStreamNonBlocking)
	{
		HIP(hipStreamCreateWithFlags(&at, flags));
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

struct event {
	hipEvent_t at;
	event()
	{
		HIP(hipEventCreateWithFlags(&at, hipEventDisableTiming));
	}
	~event()
	{
		HIP(hipEventDestroy(at));
	}
	operator hipEvent_t() const
	{
		return at;
	}
};

static void begin(hipStream_t s, hipStreamCaptureMode mode = hipStreamCaptureModeGlobal)
{
	HIP(hipStreamBeginCapture(s, mode));
}

static hipStreamCaptureStatus status(hipStream_t s)
{
	hipStreamCaptureStatus now = (hipStreamCaptureStatus)9;

	HIP(hipStreamIsCapturing(s, &now));
	return now;
}

/* Ends it; it must give that error, and a graph only if it is none. */
static hipGraph_t end(hipStream_t s, hipError_t want = hipSuccess)
{
	hipGraph_t graph = (hipGraph_t)1;

	CHECK_EQ(hipStreamEndCapture(s, &graph), want);
	CHECK_EQ(graph != nullptr, want == hipSuccess);
	CHECK_EQ(status(s), hipStreamCaptureStatusNone);
	(void)hipGetLastError();
	return graph;
}

static size_t nodes_of(hipGraph_t graph)
{
	size_t count = 0;

	HIP(hipGraphGetNodes(graph, nullptr, &count));
	return count;
}

/* Runs it so often, and destroys it. */
static void run(hipGraph_t graph, hipStream_t s, unsigned times)
{
	hipGraphExec_t exec;

	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphDestroy(graph));
	for (unsigned i = 0; i < times; i++)
		HIP(hipGraphLaunch(exec, s));
	HIP(hipStreamSynchronize(s));
	HIP(hipGraphExecDestroy(exec));
}

static void count_up(void *user)
{
	++*(unsigned *)user;
}

/* Nothing runs while it is captured; all of it runs in each launch. */
static void operations()
{
	stream s;
	gpu_array<unsigned> a(COUNT), b(COUNT);
	std::vector<unsigned> in(COUNT, 3), out(COUNT);
	unsigned calls = 0, word = 8, word_back = 0;
	unsigned *pinned;
	hipGraph_t graph;

	HIP(hipHostMalloc((void **)&pinned, COUNT * 4, hipHostMallocDefault));
	HIP(hipMemset(a.at, 0, COUNT * 4));
	HIP(hipDeviceSynchronize());
	begin(s);
	CHECK_EQ(status(s), hipStreamCaptureStatusActive);
	CHECK_EQ(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal), hipErrorIllegalState);
	HIP(hipMemcpyAsync(b.at, in.data(), COUNT * 4, hipMemcpyHostToDevice, s));
	add<<<COUNT / 256, 256, 0, s>>>(b.at, 4);
	HIP_LAUNCHED();
	HIP(hipMemsetAsync(a.at, 1, COUNT, s));
	HIP(hipMemsetD32Async((hipDeviceptr_t)(a.at + COUNT / 2), 6, COUNT / 2, s));
	HIP(hipMemcpy2DAsync(pinned, 64, b.at, 128, 32, 8, hipMemcpyDeviceToHost, s));
	HIP(hipMemcpyAsync(out.data(), b.at, COUNT * 4, hipMemcpyDeviceToHost, s));
	HIP(hipMemcpyToSymbolAsync((const void *)&device_word, &word, 4, 0, hipMemcpyHostToDevice, s));
	HIP(hipMemcpyFromSymbolAsync(&word_back, (const void *)&device_word, 4, 0, hipMemcpyDeviceToHost, s));
	HIP(hipLaunchHostFunc(s, count_up, &calls));
	graph = end(s);
	CHECK_EQ(nodes_of(graph), 9);
	CHECK_EQ(calls, 0);
	run(graph, s, 2);
	CHECK_EQ(calls, 2);
	CHECK_EQ(word_back, 8);
	CHECK_EQ(out[0], 7);
	CHECK_EQ(out[COUNT - 1], 7);
	CHECK_EQ(pinned[7 * 16 + 7], 7);
	CHECK_EQ(a.read()[0], 0x01010101);
	CHECK_EQ(a.read()[COUNT - 1], 6);
	HIP(hipHostFree(pinned));
}

/* Memory of malloc() goes as soon as the stream was waited for, and nothing of it is left with the GPU. */
static void pageable()
{
	const size_t words = 1 << 20; /* large enough to be given back to the kernel */
	stream s;
	gpu_array<unsigned> a(words);

	for (unsigned round = 1; round <= 10; round++) {
		std::vector<unsigned> in(words, round), out(words);

		begin(s);
		HIP(hipMemcpyAsync(a.at, in.data(), words * 4, hipMemcpyHostToDevice, s));
		HIP(hipMemcpy2DAsync(out.data(), 8192, a.at, 4096, 4096, 2, hipMemcpyDeviceToHost, s));
		add<<<words / 256, 256, 0, s>>>(a.at, 1);
		HIP(hipMemcpyAsync(out.data() + words / 2, a.at, words * 2, hipMemcpyDeviceToHost, s));
		run(end(s), s, 2);
		CHECK_EQ(out[2048 + 1023], round);
		CHECK_EQ(out[words - 1], round + 1);
	}
}

/* The graph of a fork and a join, and what the program is told of it meanwhile. */
static void fork_and_join()
{
	stream s, t;
	event fork, join;
	gpu_array<unsigned> a(COUNT), b(COUNT);
	hipGraph_t graph, told = nullptr;
	hipStreamCaptureStatus now;
	unsigned long long id = 0, other_id = 0;
	const hipGraphNode_t *tails;
	hipGraphNode_t empty;
	size_t count = 0, edges = 0;

	begin(s);
	add<<<4, 256, 0, s>>>(a.at, 1);
	HIP(hipEventRecord(fork, s));
	HIP(hipStreamWaitEvent(t, fork, 0));
	CHECK_EQ(status(t), hipStreamCaptureStatusActive);
	add<<<4, 256, 0, t>>>(b.at, 2);
	add<<<4, 256, 0, s>>>(a.at, 3);
	HIP(hipEventRecord(join, t));
	HIP(hipStreamWaitEvent(s, join, 0));
	HIP(hipStreamGetCaptureInfo(s, &now, &id));
	HIP(hipStreamGetCaptureInfo_v2(s, &now, &other_id, &told, &tails, &count));
	CHECK(id && id == other_id && told && now == hipStreamCaptureStatusActive);
	CHECK_EQ(count, 2);
	/* A node of the program's own comes between. */
	HIP(hipGraphAddEmptyNode(&empty, told, tails, count));
	HIP(hipStreamUpdateCaptureDependencies(s, &empty, 1, hipStreamSetCaptureDependencies));
	add<<<4, 256, 0, s>>>(a.at, 4);
	graph = end(s);
	CHECK(graph == told);
	CHECK_EQ(status(t), hipStreamCaptureStatusNone);
	CHECK_EQ(nodes_of(graph), 5);
	HIP(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
	CHECK_EQ(edges, 5);
	HIP(hipMemset(a.at, 0, COUNT * 4));
	HIP(hipMemset(b.at, 0, COUNT * 4));
	HIP(hipDeviceSynchronize());
	run(graph, t, 3);
	CHECK_EQ(a.read()[5], 24);
	CHECK_EQ(b.read()[5], 6);
	/* The events are what they were before. */
	HIP(hipEventQuery(fork));
	HIP(hipEventSynchronize(join));
}

/* Into a graph that exists; a graph's launch becomes a child. */
static void graphs_in_graphs()
{
	stream s;
	gpu_array<unsigned> a(COUNT);
	hipGraph_t first, outer, same;
	hipGraphExec_t exec;
	hipGraphNode_t root;
	hipGraphNodeType type;
	size_t count = 1;

	begin(s, hipStreamCaptureModeRelaxed);
	add<<<4, 256, 0, s>>>(a.at, 5);
	first = end(s);
	HIP(hipGraphInstantiate(&exec, first, nullptr, nullptr, 0));
	HIP(hipGraphCreate(&outer, 0));
	HIP(hipGraphAddEmptyNode(&root, outer, nullptr, 0));
	HIP(hipStreamBeginCaptureToGraph(s, outer, &root, nullptr, 1, hipStreamCaptureModeGlobal));
	HIP(hipGraphLaunch(exec, s));
	HIP(hipGraphLaunch(exec, s));
	HIP(hipStreamEndCapture(s, &same));
	CHECK(same == outer);
	CHECK_EQ(nodes_of(outer), 3);
	HIP(hipGraphNodeGetDependentNodes(root, &root, &count));
	HIP(hipGraphNodeGetType(root, &type));
	CHECK_EQ(type, hipGraphNodeTypeGraph);
	HIP(hipMemset(a.at, 0, COUNT * 4));
	HIP(hipDeviceSynchronize());
	run(outer, s, 2);
	CHECK_EQ(a.read()[0], 20);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(first));
}

/* A stream that is not waited for itself waits for another, or all do in a circle: none of it is joined. What the
 * program takes out of a stream's list need not be. */
static void unjoined()
{
	gpu_array<unsigned> a(COUNT);
	event fork, mid, last;
	hipGraphNode_t none;
	stream s, t, u;

	begin(s);
	add<<<1, 256, 0, s>>>(a.at, 1);
	HIP(hipEventRecord(fork, s));
	HIP(hipStreamWaitEvent(t, fork, 0));
	add<<<1, 256, 0, t>>>(a.at, 1);
	HIP(hipEventRecord(mid, t));
	HIP(hipStreamWaitEvent(u, mid, 0));
	add<<<1, 256, 0, s>>>(a.at, 1);
	end(s, hipErrorStreamCaptureUnjoined);
	begin(s);
	HIP(hipEventRecord(fork, s));
	HIP(hipStreamWaitEvent(t, fork, 0));
	HIP(hipStreamWaitEvent(u, fork, 0));
	add<<<1, 256, 0, t>>>(a.at, 1);
	add<<<1, 256, 0, u>>>(a.at, 1);
	HIP(hipEventRecord(mid, t));
	HIP(hipEventRecord(last, u));
	HIP(hipStreamWaitEvent(t, last, 0));
	HIP(hipStreamWaitEvent(u, mid, 0));
	end(s, hipErrorStreamCaptureUnjoined);
	/* By way of another, without anything behind it. */
	begin(s);
	HIP(hipEventRecord(fork, s));
	HIP(hipStreamWaitEvent(t, fork, 0));
	add<<<1, 256, 0, t>>>(a.at, 1);
	HIP(hipEventRecord(mid, t));
	HIP(hipStreamWaitEvent(u, mid, 0));
	HIP(hipEventRecord(last, u));
	HIP(hipStreamWaitEvent(s, last, 0));
	HIP(hipGraphDestroy(end(s)));
	begin(s);
	HIP(hipEventRecord(fork, s));
	HIP(hipStreamWaitEvent(t, fork, 0));
	add<<<1, 256, 0, t>>>(a.at, 1);
	HIP(hipStreamUpdateCaptureDependencies(t, &none, 0, hipStreamSetCaptureDependencies));
	HIP(hipGraphDestroy(end(s)));
}

/* How captures fail to end. */
static void wrong_ends()
{
	stream s, t;
	event fork;
	hipGraph_t graph;

	CHECK_EQ(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported);
	CHECK_EQ(hipStreamBeginCapture(s, (hipStreamCaptureMode)3), hipErrorInvalidValue);
	CHECK_EQ(hipStreamEndCapture(s, &graph), hipErrorIllegalState);
	begin(s);
	HIP(hipEventRecord(fork, s));
	HIP(hipStreamWaitEvent(t, fork, 0));
	HIP(hipMemsetAsync(nullptr, 0, 0, t));
	end(s, hipErrorStreamCaptureUnjoined);
	CHECK_EQ(status(t), hipStreamCaptureStatusNone);
	begin(s);
	HIP(hipEventRecord(fork, s));
	HIP(hipStreamWaitEvent(t, fork, 0));
	CHECK_EQ(hipStreamEndCapture(t, &graph), hipErrorStreamCaptureUnmatched);
	end(s, hipErrorStreamCaptureInvalidated);
	begin(s);
	std::thread([&] { CHECK_EQ(hipStreamEndCapture(s, &graph), hipErrorStreamCaptureWrongThread); }).join();
	HIP(hipGraphDestroy(end(s)));
	begin(s, hipStreamCaptureModeRelaxed);
	std::thread([&] { HIP(hipStreamEndCapture(s, &graph)); }).join();
	HIP(hipGraphDestroy(graph));
	/* Two captures do not become one. */
	begin(s);
	begin(t);
	HIP(hipEventRecord(fork, s));
	CHECK_EQ(hipStreamWaitEvent(t, fork, 0), hipErrorStreamCaptureMerge);
	end(s, hipErrorStreamCaptureInvalidated);
	end(t, hipErrorStreamCaptureInvalidated);
	/* What was done before does not belong to it. */
	HIP(hipEventRecord(fork, t));
	begin(s);
	CHECK_EQ(hipStreamWaitEvent(s, fork, 0), hipErrorStreamCaptureIsolation);
	end(s, hipErrorStreamCaptureInvalidated);
}

/* In a capture of that mode, the call gives that error, and the capture is lost. */
template <typename Call>
static void refused(hipError_t want, Call call, hipStreamCaptureMode mode = hipStreamCaptureModeThreadLocal)
{
	stream s;

	begin(s, mode);
	CHECK_EQ(call(s), want);
	CHECK_EQ(status(s), hipStreamCaptureStatusInvalidated);
	CHECK_EQ(hipMemsetAsync(nullptr, 0, 4, s) == hipSuccess, 0);
	CHECK_EQ(hipLaunchHostFunc(s, count_up, nullptr), hipErrorStreamCaptureInvalidated);
	end(s, hipErrorStreamCaptureInvalidated);
}

static void refusals()
{
	gpu_array<unsigned> a(COUNT);
	std::vector<unsigned> host(COUNT);
	hipMemPoolProps props = {};
	hipMemPool_t pool;
	event e;
	void *ptr;

	props.allocType = hipMemAllocationTypePinned;
	props.location.type = hipMemLocationTypeDevice;
	HIP(hipDeviceGetDefaultMemPool(&pool, 0));
	refused(hipErrorStreamCaptureUnsupported, [&](hipStream_t) { return hipMalloc(&ptr, 4096); });
	refused(hipErrorStreamCaptureUnsupported, [&](hipStream_t) { return hipHostMalloc(&ptr, 4096, 0); });
	refused(hipErrorStreamCaptureUnsupported, [&](hipStream_t) { return hipFree(a.at); });
	refused(hipErrorStreamCaptureUnsupported, [&](hipStream_t s) { return hipStreamSynchronize(s); });
	refused(hipErrorStreamCaptureUnsupported, [&](hipStream_t s) { return hipStreamQuery(s); });
	stream other;
	refused(hipErrorStreamCaptureUnsupported, [&](hipStream_t) { return hipStreamSynchronize(other); });
	refused(
		hipErrorStreamCaptureUnsupported, [&](hipStream_t) { return hipDeviceSynchronize(); },
		hipStreamCaptureModeRelaxed);
	refused(hipErrorStreamCaptureUnsupported, [&](hipStream_t) {
		hipMemPool_t made;
		return hipMemPoolCreate(&made, &props);
	});
	refused(hipErrorStreamCaptureUnsupported, [&](hipStream_t) { return hipDeviceSetMemPool(0, pool); });
	refused(hipErrorStreamCaptureUnsupported, [&](hipStream_t) { return hipMemPoolTrimTo(pool, 0); });
	refused(hipErrorStreamCaptureImplicit, [&](hipStream_t) {
		return hipMemcpy(host.data(), a.at, 64, hipMemcpyDeviceToHost);
	});
	refused(hipErrorStreamCaptureImplicit, [&](hipStream_t) { return hipMemset(a.at, 0, 64); });
	auto asks = [&](hipError_t (*ask)(hipEvent_t)) {
		return [&, ask](hipStream_t s) {
			HIP(hipEventRecord(e, s));
			return ask(e);
		};
	};
	refused(hipErrorCapturedEvent, asks(hipEventQuery), hipStreamCaptureModeRelaxed);
	refused(hipErrorCapturedEvent, asks(hipEventSynchronize), hipStreamCaptureModeRelaxed);
	refused(hipErrorStreamCaptureUnsupported, [&](hipStream_t s) {
		return hipStreamAddCallback(
			s, [](hipStream_t, hipError_t, void *) {}, nullptr, 0);
	});
}

/* Whom a capture binds. */
static void modes()
{
	stream s, blocking(hipStreamDefault);
	hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
	hipStreamCaptureStatus now;
	gpu_array<unsigned> a(COUNT);
	void *ptr = nullptr;

	begin(s, hipStreamCaptureModeRelaxed);
	HIP(hipMalloc(&ptr, 4096));
	HIP(hipGraphDestroy(end(s)));
	/* Of one thread: others are free. */
	begin(s, hipStreamCaptureModeThreadLocal);
	std::thread([&] { HIP(hipFree(ptr)); }).join();
	HIP(hipGraphDestroy(end(s)));
	/* Of all: but not those that say otherwise. */
	begin(s, hipStreamCaptureModeGlobal);
	std::thread([&] {
		HIP(hipThreadExchangeStreamCaptureMode(&mode));
		CHECK_EQ(mode, hipStreamCaptureModeGlobal);
		HIP(hipMalloc(&ptr, 4096));
		HIP(hipFree(ptr));
	}).join();
	CHECK_EQ(status(s), hipStreamCaptureStatusActive);
	std::thread([&] { CHECK_EQ(hipMalloc(&ptr, 4096), hipErrorStreamCaptureUnsupported); }).join();
	end(s, hipErrorStreamCaptureInvalidated);
	/* The null stream's work would wait for a stream that captures. */
	begin(blocking, hipStreamCaptureModeRelaxed);
	CHECK_EQ(hipStreamIsCapturing(nullptr, &now), hipErrorStreamCaptureImplicit);
	CHECK_EQ(hipMemsetAsync(a.at, 0, 64, nullptr), hipErrorStreamCaptureImplicit);
	end(blocking, hipErrorStreamCaptureInvalidated);
	HIP(hipMemsetAsync(a.at, 0, 64, nullptr));
	/* A thread's own stream captures, too. */
	begin(hipStreamPerThread);
	HIP(hipMemsetAsync(a.at, 1, 64, hipStreamPerThread));
	HIP(hipGraphDestroy(end(hipStreamPerThread)));
	mode = (hipStreamCaptureMode)7;
	CHECK_EQ(hipThreadExchangeStreamCaptureMode(&mode), hipErrorInvalidValue);
	(void)hipGetLastError();
}

/* Streams end, and events are used again, whatever captures they were in. */
static void leftovers()
{
	stream s;
	event e;
	hipStream_t doomed;
	hipGraph_t graph;

	HIP(hipStreamCreateWithFlags(&doomed, hipStreamNonBlocking));
	begin(doomed);
	HIP(hipEventRecord(e, doomed));
	HIP(hipStreamWaitEvent(s, e, 0));
	HIP(hipStreamDestroy(doomed));
	CHECK_EQ(status(s), hipStreamCaptureStatusNone);
	HIP(hipEventRecord(e, s));
	HIP(hipEventSynchronize(e));
	/* The program destroys the graph under the capture. */
	HIP(hipGraphCreate(&graph, 0));
	HIP(hipStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, hipStreamCaptureModeGlobal));
	HIP(hipGraphDestroy(graph));
	CHECK_EQ(hipLaunchHostFunc(s, count_up, nullptr), hipErrorStreamCaptureInvalidated);
	end(s, hipErrorStreamCaptureInvalidated);
	/* A record that is a node. */
	HIP(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	HIP(hipEventRecordWithFlags(e, s, hipEventRecordExternal));
	graph = end(s);
	CHECK_EQ(nodes_of(graph), 1);
	run(graph, s, 1);
	HIP(hipEventQuery(e));
}

/* Each thread captures on its own, and runs what it has. */
static void threads()
{
	std::vector<std::thread> all;

	for (unsigned i = 0; i < 4; i++)
		all.emplace_back([i] {
			gpu_array<unsigned> a(COUNT);
			stream s;

			HIP(hipMemsetAsync(a.at, 0, COUNT * 4, s));
			HIP(hipStreamSynchronize(s));
			for (unsigned round = 0; round < 10; round++) {
				begin(s, hipStreamCaptureModeThreadLocal);
				for (unsigned k = 0; k < 8; k++)
					add<<<4, 256, 0, s>>>(a.at, i + 1);
				run(end(s), s, 2);
			}
			CHECK_EQ(a.read()[9], 160 * (i + 1));
		});
	for (std::thread &thread : all)
		thread.join();
}

int main()
{
	operations();
	pageable();
	fork_and_join();
	graphs_in_graphs();
	unjoined();
	wrong_ends();
	refusals();
	modes();
	leftovers();
	threads();
	return check_done("stream capture");
}
