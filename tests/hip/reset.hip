/* hipDeviceReset(): ends everything on the device, whatever its state, and initialises the device anew. After
 * faults of every kind, with older graphs, and while other threads wait for work that never ends. The GPU of this
 * test stops long work early. */
#include <atomic>
#include <functional>
#include <pthread.h>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define COUNT 256u

__global__ void add(unsigned *data, unsigned value)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

__global__ void spin(volatile unsigned *stop)
{
	while (!*stop)
		;
}

/* SOPP opcode 127 is no instruction. */
__global__ void illegal()
{
	asm volatile(".long 0xbfff0000" ::: "memory");
}

/* The older of two errors is forgotten. */
static hipError_t heard(hipError_t error)
{
	(void)hipGetLastError();
	return error;
}

/* Everything in small. */
static void works()
{
	unsigned *at, *pooled, got[COUNT];
	hipGraphExec_t exec;
	hipStream_t s;
	hipGraph_t graph;

	HIP(hipStreamCreate(&s));
	HIP(hipMalloc((void **)&at, sizeof(got)));
	HIP(hipMallocAsync((void **)&pooled, sizeof(got), s));
	HIP(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	HIP(hipMemsetD32Async((hipDeviceptr_t)at, 5, COUNT, s));
	add<<<COUNT / 64, 64, 0, s>>>(at, 3);
	HIP(hipStreamEndCapture(s, &graph));
	HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP(hipGraphLaunch(exec, s));
	HIP(hipMemcpyAsync(pooled, at, sizeof(got), hipMemcpyDeviceToDevice, s));
	add<<<COUNT / 64, 64, 0, s>>>(pooled, 1);
	HIP_LAUNCHED();
	HIP(hipMemcpyAsync(got, pooled, sizeof(got), hipMemcpyDeviceToHost, s));
	HIP(hipFreeAsync(pooled, s));
	HIP(hipStreamSynchronize(s));
	CHECK(got[0] == 9 && got[COUNT - 1] == 9);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipFree(at));
	HIP(hipStreamDestroy(s));
}

static void begins_anew()
{
	HIP(heard(hipDeviceReset()));
	works();
}

/* --- faults ----------------------------------------------------------------------------------- */

static bool is_fault(hipError_t error)
{
	return error == hipErrorIllegalAddress || error == hipErrorLaunchFailure;
}

static void fault(const std::function<void(hipStream_t)> &wrong)
{
	hipStream_t bad, good;
	hipError_t error;
	unsigned *at;

	HIP(hipStreamCreate(&bad));
	HIP(hipStreamCreateWithFlags(&good, hipStreamNonBlocking));
	HIP(hipMalloc((void **)&at, 4 * COUNT));
	wrong(bad);
	add<<<COUNT / 64, 64, 0, good>>>(at, 1);
	error = heard(hipStreamSynchronize(bad));
	CHECK(is_fault(error));
	CHECK_EQ(heard(hipMemsetAsync(at, 0, 4, good)), error);
	CHECK_EQ(heard(hipMallocAsync((void **)&at, 4, good)), error);
	CHECK_EQ(heard(hipDeviceSynchronize()), error);
	begins_anew();
	CHECK_EQ(heard(hipStreamSynchronize(good)), hipErrorContextIsDestroyed);
}

static void faults()
{
	unsigned *never;

	fault([](hipStream_t s) { add<<<1, 64, 0, s>>>((unsigned *)0x10000, 1); });
	fault([](hipStream_t s) { illegal<<<1, 64, 0, s>>>(); });
	/* With more work behind it. */
	fault([](hipStream_t s) {
		for (unsigned i = 0; i < 100; i++)
			add<<<1, 64, 0, s>>>((unsigned *)(0x10000ull + 4096 * i), 1);
	});
	/* The watchdog's. */
	fault([&](hipStream_t s) {
		HIP(hipMalloc((void **)&never, 4));
		HIP(hipMemset(never, 0, 4));
		spin<<<1, 1, 0, s>>>(never);
	});
}

/* The stream has a kernel that never ends, and no thread waits for it: a loop of queries ends, too. The kernel marks a job that it
 * killed softly as ended: a wait reports it. */
static void fault_polled(const std::function<hipError_t(hipStream_t, hipEvent_t)> &query)
{
	hipEvent_t event;
	hipError_t error;
	unsigned *never;
	hipStream_t s;

	HIP(hipStreamCreate(&s));
	HIP(hipEventCreate(&event));
	HIP(hipMalloc((void **)&never, 4));
	HIP(hipMemset(never, 0, 4));
	spin<<<1, 1, 0, s>>>(never);
	HIP(hipEventRecord(event, s));
	do
		error = heard(query(s, event));
	while (error == hipErrorNotReady);
	CHECK(!error || is_fault(error));
	CHECK(is_fault(heard(hipStreamSynchronize(s))));
	HIP(hipEventDestroy(event));
	begins_anew();
}

static void faults_polled()
{
	fault_polled([](hipStream_t s, hipEvent_t) { return hipStreamQuery(s); });
	fault_polled([](hipStream_t, hipEvent_t event) { return hipEventQuery(event); });
}

/* --- graphs from before ----------------------------------------------------------------------- */

static void graphs()
{
	hipGraphExec_t exec, with_memory;
	hipGraph_t graph, second;
	hipGraphExecUpdateResult result;
	hipGraphNode_t culprit;
	unsigned *at, *mine = nullptr, got[COUNT];
	hipStream_t s;

	HIP(hipStreamCreate(&s));
	HIP(hipMalloc((void **)&at, sizeof(got)));
	HIP(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	add<<<COUNT / 64, 64, 0, s>>>(at, 3);
	HIP(hipStreamEndCapture(s, &graph));
	HIP(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	HIP(hipMallocAsync((void **)&mine, sizeof(got), s));
	add<<<COUNT / 64, 64, 0, s>>>(mine, 3);
	HIP(hipStreamEndCapture(s, &second));
	HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP(hipGraphInstantiate(&with_memory, second, NULL, NULL, 0));
	HIP(hipGraphLaunch(exec, s));
	HIP(hipGraphLaunch(with_memory, s));
	begins_anew();
	/* What they have of the device is gone, and its addresses may be others' now. */
	HIP(hipStreamCreate(&s));
	HIP(hipMalloc((void **)&at, sizeof(got)));
	HIP(hipMemset(at, 0, sizeof(got)));
	CHECK_EQ(heard(hipGraphLaunch(exec, s)), hipErrorContextIsDestroyed);
	CHECK_EQ(heard(hipGraphLaunch(with_memory, s)), hipErrorContextIsDestroyed);
	CHECK_EQ(heard(hipFree(mine)), hipErrorInvalidValue);
	HIP(hipStreamSynchronize(s));
	HIP(hipMemcpy(got, at, sizeof(got), hipMemcpyDeviceToHost));
	CHECK(got[0] == 0 && got[COUNT - 1] == 0);
	/* An update gives an instance new kernels; a graph is a description, and lives. */
	HIP(hipGraphDestroy(graph));
	HIP(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	add<<<COUNT / 64, 64, 0, s>>>(at, 4);
	HIP(hipStreamEndCapture(s, &graph));
	HIP(hipGraphExecUpdate(exec, graph, &culprit, &result));
	HIP(hipGraphLaunch(exec, s));
	HIP(hipStreamSynchronize(s));
	HIP(hipMemcpy(got, at, sizeof(got), hipMemcpyDeviceToHost));
	CHECK(got[0] == 4 && got[COUNT - 1] == 4);
	HIP(hipGraphExecDestroy(exec));
	CHECK_EQ(heard(hipGraphInstantiate(&exec, second, NULL, NULL, 0)), hipErrorContextIsDestroyed);
	HIP(hipGraphExecDestroy(with_memory));
	HIP(hipGraphDestroy(second));
	HIP(hipGraphDestroy(graph));
	begins_anew();
}

/* Functions of the host beside each other: an instance without anything of the device has streams of it. */
static void graph_of_functions()
{
	static std::atomic<unsigned> called;
	hipHostNodeParams function = {[](void *) { called++; }, nullptr};
	hipGraphExec_t exec;
	hipGraphNode_t node;
	hipGraph_t graph;

	called = 0;
	HIP(hipGraphCreate(&graph, 0));
	for (unsigned i = 0; i < 3; i++)
		HIP(hipGraphAddHostNode(&node, graph, NULL, 0, &function));
	HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	for (unsigned i = 1; i <= 2; i++) {
		HIP(hipGraphLaunch(exec, NULL));
		HIP(hipStreamSynchronize(NULL));
		CHECK_EQ(called, 3 * i);
		begins_anew();
	}
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

/* Fills the memory of the device, which is gone. */
static void graph_of_fills()
{
	hipMemsetParams fill = {};
	hipGraphExec_t exec;
	hipGraphNode_t node;
	hipGraph_t graph;
	unsigned *at;

	HIP(hipMalloc((void **)&at, 64 << 20));
	fill.dst = at;
	fill.elementSize = 4;
	fill.width = COUNT;
	fill.height = 1;
	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphAddMemsetNode(&node, graph, NULL, 0, &fill));
	HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP(hipGraphLaunch(exec, NULL));
	HIP(hipStreamSynchronize(NULL));
	begins_anew();
	CHECK_EQ(heard(hipGraphLaunch(exec, NULL)), hipErrorInvalidValue);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	works();
}

/* --- threads that wait ------------------------------------------------------------------------ */

struct waiter {
	std::function<hipError_t()> wait;
	std::atomic<bool> waits{false};
	hipError_t got = hipSuccess;
	pthread_t thread;

	explicit waiter(std::function<hipError_t()> what) : wait(std::move(what))
	{
		CHECK(!pthread_create(&thread, nullptr, run, this));
		while (!waits)
			usleep(100);
		usleep(20000); /* most likely it is in there now */
	}
	static void *run(void *arg)
	{
		auto *w = static_cast<waiter *>(arg);

		w->waits = true;
		w->got = w->wait();
		return nullptr;
	}
	hipError_t end()
	{
		CHECK(!pthread_join(thread, nullptr));
		return got;
	}
};

/* What a stream and an event of it wait for never comes. */
static void waiters(const std::function<void(hipStream_t)> &forever)
{
	hipStream_t s, behind;
	hipEvent_t event;

	HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	HIP(hipStreamCreateWithFlags(&behind, hipStreamNonBlocking));
	HIP(hipEventCreate(&event));
	forever(s);
	HIP(hipEventRecord(event, s));
	HIP(hipStreamWaitEvent(behind, event, 0));
	add<<<1, 64, 0, behind>>>((unsigned *)0x10000, 1); /* never runs: what it would write is nobody's */
	{
		waiter stream([&] { return hipStreamSynchronize(s); });
		waiter other([&] { return hipStreamSynchronize(behind); });
		waiter of_event([&] { return hipEventSynchronize(event); });
		waiter device([] { return hipDeviceSynchronize(); });

		HIP(heard(hipDeviceReset()));
		CHECK(stream.end() != hipSuccess);
		CHECK(other.end() != hipSuccess);
		CHECK(of_event.end() != hipSuccess);
		(void)device.end(); /* if it came late, there was nothing left to wait for */
	}
	HIP(hipEventDestroy(event));
	works();
}

static void threads()
{
	uint32_t *value;
	unsigned *never;

	HIP(hipHostMalloc((void **)&value, 4, 0));
	*value = 0;
	/* The packet processor waits for the value, on the CPU. */
	waiters([&](hipStream_t s) { HIP(hipStreamWaitValue32(s, value, 1, hipStreamWaitValueEq, ~0u)); });
	/* A kernel: the reset comes behind the watchdog, which alone can stop it. */
	waiters([&](hipStream_t s) {
		HIP(hipMalloc((void **)&never, 4));
		HIP(hipMemsetAsync(never, 0, 4, s));
		spin<<<1, 1, 0, s>>>(never);
	});
}

/* What ends by itself is waited for: a function of the host's, and what comes behind it. */
static void host_functions()
{
	static std::atomic<unsigned> called;
	static unsigned got[COUNT];
	unsigned *at, *pinned;
	hipStream_t s;

	called = 0;
	HIP(hipStreamCreate(&s));
	HIP(hipHostMalloc((void **)&pinned, sizeof(got), 0));
	HIP(hipMalloc((void **)&at, sizeof(got)));
	HIP(hipMemsetD32Async((hipDeviceptr_t)at, 1, COUNT, s));
	HIP(hipLaunchHostFunc(
		s,
		[](void *) {
			usleep(50000);
			called++;
		},
		nullptr));
	add<<<COUNT / 64, 64, 0, s>>>(at, 6);
	HIP_LAUNCHED();
	HIP(hipMemcpyAsync(pinned, at, sizeof(got), hipMemcpyDeviceToHost, s));
	HIP(hipLaunchHostFunc(
		s,
		[](void *from) {
			memcpy(got, from, sizeof(got));
			called++;
		},
		pinned));
	HIP(hipDeviceReset());
	CHECK_EQ(called, 2);
	CHECK(got[0] == 7 && got[COUNT - 1] == 7);
	works();
}

int main()
{
	works();
	faults();
	faults_polled();
	graphs();
	graph_of_functions();
	graph_of_fills();
	host_functions();
	threads();
	return check_done("a device that begins anew");
}
