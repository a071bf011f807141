/* A graph whose nodes run on two GPUs: kernels of both, copies between them, fills; launched on streams of either.
 */
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define COUNT  4096u
#define SIZE_B (COUNT * sizeof(unsigned))

__global__ void add(unsigned *at, unsigned value)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

__global__ void hold(const unsigned *go)
{
	while (!__hip_atomic_load(go, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(64);
}

__global__ void twice(unsigned *at)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

static unsigned *memory[2];
static hipStream_t streams[2];

static void device(int index)
{
	HIP(hipSetDevice(index));
}

static hipGraphNode_t kernel(hipGraph_t graph, int where, const void *function, void **args,
			     const hipGraphNode_t *before)
{
	hipKernelNodeParams p = {};
	hipGraphNode_t node = nullptr;

	device(where);
	p.func = const_cast<void *>(function);
	p.gridDim = dim3(COUNT / 64);
	p.blockDim = dim3(64);
	p.kernelParams = args;
	HIP(hipGraphAddKernelNode(&node, graph, before, before ? 1 : 0, &p));
	return node;
}

static void set(unsigned *at, unsigned value)
{
	std::vector<unsigned> values(COUNT, value);

	HIP(hipMemcpy(at, values.data(), SIZE_B, hipMemcpyHostToDevice));
}

static void check(const unsigned *at, unsigned want)
{
	std::vector<unsigned> values(COUNT);
	unsigned wrong = 0;

	HIP(hipMemcpy(values.data(), at, SIZE_B, hipMemcpyDeviceToHost));
	for (unsigned v : values)
		wrong += v != want;
	if (!CHECK_EQ(wrong, 0))
		printf("  %u, not %u\n", values[0], want);
}

/* first: x + 3; second: (that) * 2, and back; first: + 1. */
static hipGraph_t by_hand()
{
	unsigned three = 3, one = 1;
	void *with_three[] = {&memory[0], &three}, *with_one[] = {&memory[0], &one}, *other[] = {&memory[1]};
	hipGraphNode_t node, next;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	node = kernel(graph, 0, reinterpret_cast<const void *>(add), with_three, nullptr);
	HIP(hipGraphAddMemcpyNode1D(&next, graph, &node, 1, memory[1], memory[0], SIZE_B, hipMemcpyDeviceToDevice));
	node = kernel(graph, 1, reinterpret_cast<const void *>(twice), other, &next);
	HIP(hipGraphAddMemcpyNode1D(&next, graph, &node, 1, memory[0], memory[1], SIZE_B, hipMemcpyDeviceToDevice));
	kernel(graph, 0, reinterpret_cast<const void *>(add), with_one, &next);
	return graph;
}

static void launched_on(hipGraph_t graph, int where)
{
	hipGraphExec_t exec;
	unsigned want = 5;

	set(memory[0], want);
	set(memory[1], 0);
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	device(where);
	for (unsigned i = 0; i < 4; i++) {
		HIP(hipGraphLaunch(exec, streams[where]));
		want = (want + 3) * 2 + 1;
	}
	HIP(hipStreamSynchronize(streams[where]));
	check(memory[0], want);
	check(memory[1], want - 1);
	HIP(hipGraphExecDestroy(exec));
}

/* Memory of the second is filled for a stream of the first. */
static void fills()
{
	hipMemsetParams p = {};
	unsigned one = 1;
	void *args[] = {&memory[1], &one};
	hipGraphNode_t node;
	hipGraph_t graph;
	hipGraphExec_t exec;

	p.dst = memory[1];
	p.elementSize = 4;
	p.value = 7;
	p.width = COUNT;
	p.height = 1;
	set(memory[1], 0);
	device(0);
	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &p));
	kernel(graph, 1, reinterpret_cast<const void *>(add), args, &node);
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 2; i++)
		HIP(hipGraphLaunch(exec, streams[0]));
	HIP(hipStreamSynchronize(streams[0]));
	check(memory[1], 8);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

/* Streams of both take part in a capture. */
static void captured()
{
	hipEvent_t there, back;
	hipGraph_t graph;
	hipGraphExec_t exec;

	set(memory[0], 1);
	set(memory[1], 1);
	device(1);
	HIP(hipEventCreateWithFlags(&back, hipEventDisableTiming));
	device(0);
	HIP(hipEventCreateWithFlags(&there, hipEventDisableTiming));
	HIP(hipStreamBeginCapture(streams[0], hipStreamCaptureModeGlobal));
	add<<<COUNT / 64, 64, 0, streams[0]>>>(memory[0], 2);
	HIP(hipEventRecord(there, streams[0]));
	HIP(hipStreamWaitEvent(streams[1], there, 0));
	device(1);
	twice<<<COUNT / 64, 64, 0, streams[1]>>>(memory[1]);
	HIP(hipEventRecord(back, streams[1]));
	device(0);
	HIP(hipStreamWaitEvent(streams[0], back, 0));
	twice<<<COUNT / 64, 64, 0, streams[0]>>>(memory[0]);
	HIP(hipStreamEndCapture(streams[0], &graph));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 3; i++)
		HIP(hipGraphLaunch(exec, streams[0]));
	HIP(hipStreamSynchronize(streams[0]));
	check(memory[0], (((1 + 2) * 2 + 2) * 2 + 2) * 2);
	check(memory[1], 8);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipEventDestroy(there));
	HIP(hipEventDestroy(back));
}

/* A device that is reset takes its part of an instance with it; a new one runs. */
static void after_reset(hipGraph_t graph)
{
	hipGraphExec_t exec;

	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(exec, streams[0]));
	HIP(hipStreamSynchronize(streams[0]));
	device(1);
	HIP(hipDeviceReset());
	device(0);
	CHECK(hipGraphLaunch(exec, streams[0]) != hipSuccess);
	(void)hipGetLastError();
	HIP(hipGraphExecDestroy(exec));
	HIP(hipStreamSynchronize(streams[0]));
	set(memory[0], 9);
	check(memory[0], 9);
}

static unsigned objects; /* that the graph holds */

static void release(void *)
{
	__atomic_store_n(&objects, 0, __ATOMIC_RELEASE);
}

/* The device of the launch's stream is reset, and the instance destroyed, while the other device has its part only begun: it has
 * what the graph holds until the end. */
static void reset_below()
{
	const unsigned more = 3000, one = 1; /* more kernels than a stream submits at a time */
	unsigned *go, *at[2];
	void *first[] = {&at[0], (void *)&one}, *behind[] = {&at[1], (void *)&one}, *wait[] = {&go};
	hipUserObject_t object;
	hipGraphNode_t last;
	hipGraphExec_t exec;
	hipGraph_t graph;
	hipStream_t s;

	HIP(hipGraphCreate(&graph, 0));
	HIP(hipUserObjectCreate(&object, &objects, release, 1, hipUserObjectNoDestructorSync));
	HIP(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
	objects = 1;
	for (int i = 0; i < 2; i++) {
		device(i);
		HIP(hipMalloc(reinterpret_cast<void **>(&at[i]), SIZE_B));
		set(at[i], 0);
	}
	HIP(hipHostMalloc(reinterpret_cast<void **>(&go), sizeof(*go), hipHostMallocPortable));
	*go = 0;
	kernel(graph, 0, (const void *)add, first, nullptr);
	last = kernel(graph, 1, (const void *)hold, wait, nullptr);
	for (unsigned i = 0; i < more; i++)
		last = kernel(graph, 1, (const void *)add, behind, &last);
	device(0);
	HIP(hipStreamCreate(&s));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(exec, s));
	HIP(hipGraphDestroy(graph));
	HIP(hipDeviceReset());
	HIP(hipGraphExecDestroy(exec));
	CHECK_EQ(__atomic_load_n(&objects, __ATOMIC_ACQUIRE), 1);
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	device(1);
	HIP(hipDeviceSynchronize());
	check(at[1], more);
	while (__atomic_load_n(&objects, __ATOMIC_ACQUIRE))
		usleep(1000);
	HIP(hipFree(at[1]));
	HIP(hipHostFree(go));
}

int main()
{
	hipGraph_t graph;

	for (int i = 0; i < 2; i++) {
		device(i);
		HIP(hipMalloc(reinterpret_cast<void **>(&memory[i]), SIZE_B));
		HIP(hipStreamCreate(&streams[i]));
	}
	graph = by_hand();
	launched_on(graph, 0);
	launched_on(graph, 1);
	fills();
	captured();
	after_reset(graph);
	HIP(hipGraphDestroy(graph));
	reset_below();
	return check_done("graphs on two devices");
}
