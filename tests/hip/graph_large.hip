/* Graphs of many kernels: their order, branches that run at the same time, changes while a launch is under way. */
#include <hip/hiprtc.h>
#include <vector>

#include "tests/clients/hip/hip.h"

#define LENGTH   1500u
#define BRANCHES 8u
#define DEPTH    40u

__global__ void step(unsigned *x, unsigned term)
{
	*x = *x * 3 + term;
}

/* Its array is indexed by what is known at run time only: it lies in scratch. */
__global__ void deep(unsigned *x, unsigned term)
{
	volatile unsigned at[64];

	for (unsigned i = 0; i < 64; i++)
		at[i] = i + term;
	*x = *x * 3 + at[*x % 64] - *x % 64;
}

__global__ void sum(unsigned *out, const unsigned *x, unsigned count)
{
	unsigned s = 0;

	for (unsigned i = 0; i < count; i++)
		s += x[i];
	*out = s;
}

/* Gives up some time: then the other did not run meanwhile. */
__global__ void meet(volatile unsigned *mine, volatile unsigned *other, unsigned *met)
{
	*mine = 1;
	for (unsigned i = 0; i < 100000 && !*other; i++)
		__builtin_amdgcn_s_sleep(1);
	*met = *other;
}

/* Takes that long the first time. */
__global__ void step_after(unsigned *x, unsigned term, long long ticks)
{
	long long end = wall_clock64() + ticks;

	while (wall_clock64() < end)
		__builtin_amdgcn_s_sleep(8);
	*x = *x * 3 + term;
}

static hipGraphNode_t add(hipGraph_t graph, void *kernel, void **args, const std::vector<hipGraphNode_t> &behind)
{
	hipKernelNodeParams params = {};
	hipGraphNode_t node = nullptr;

	params.func = kernel;
	params.gridDim = dim3(1);
	params.blockDim = dim3(1);
	params.kernelParams = args;
	HIP(hipGraphAddKernelNode(&node, graph, behind.data(), behind.size(), &params));
	return node;
}

/* A chain; each launch goes on with what the one before left. */
static void chain(void *kernel, unsigned length, bool wait)
{
	gpu_array<unsigned> x(std::vector<unsigned>(1, 1));
	unsigned want = 1, *at = x.at;
	std::vector<hipGraphNode_t> last;
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	for (unsigned i = 0; i < length; i++) {
		void *args[] = {&at, &i};

		last = {add(graph, kernel, args, last)};
	}
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (unsigned k = 0; k < 4; k++) {
		HIP(hipGraphLaunch(exec, nullptr));
		if (wait)
			HIP(hipStreamSynchronize(nullptr));
		for (unsigned i = 0; i < length; i++)
			want = want * 3 + i;
	}
	/* What the GPU still reads stays. */
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	CHECK_EQ(x.read()[0], want);
}

/* A kernel that took far longer once, outside the graph: all of the chain together are expected to take too long for one
 * job, and do not. */
static void once_slow()
{
	gpu_array<unsigned> x(std::vector<unsigned>(1, 1));
	unsigned want = 1, *at = x.at, zero = 0;
	std::vector<hipGraphNode_t> last;
	hipGraphExec_t exec;
	hipGraph_t graph;
	long long no_ticks = 0;
	int kHz;

	HIP(hipDeviceGetAttribute(&kHz, hipDeviceAttributeWallClockRate, 0));
	step_after<<<1, 1>>>(at, zero, kHz * 80ll);
	HIP(hipStreamSynchronize(nullptr));
	want = want * 3;
	HIP(hipGraphCreate(&graph, 0));
	for (unsigned i = 0; i < 100; i++) {
		void *args[] = {&at, &i, &no_ticks};

		last = {add(graph, (void *)step_after, args, last)};
	}
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (unsigned k = 0; k < 6; k++) {
		HIP(hipGraphLaunch(exec, nullptr));
		HIP(hipStreamSynchronize(nullptr));
		for (unsigned i = 0; i < 100; i++)
			want = want * 3 + i;
		CHECK_EQ(x.read()[0], want);
	}
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

/* Several chains, each of its own word, and one kernel behind all of them. */
static void branches()
{
	gpu_array<unsigned> x(std::vector<unsigned>(BRANCHES, 1)), out(1);
	unsigned *to = out.at, count = BRANCHES, want = 0;
	const unsigned *from = x.at;
	void *all[] = {&to, &from, &count};
	std::vector<hipGraphNode_t> last[BRANCHES], ends;
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	for (unsigned i = 0; i < DEPTH; i++)
		for (unsigned b = 0; b < BRANCHES; b++) {
			unsigned *at = x.at + b, term = i * b;
			void *args[] = {&at, &term};

			last[b] = {add(graph, (void *)step, args, last[b])};
		}
	for (unsigned b = 0; b < BRANCHES; b++) {
		unsigned word = 1;

		for (unsigned i = 0; i < DEPTH; i++)
			word = word * 3 + i * b;
		want += word;
		ends.push_back(last[b][0]);
	}
	add(graph, (void *)sum, all, ends);
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(exec, nullptr));
	CHECK_EQ(out.read()[0], want);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

/* Two kernels without an edge between them wait for each other; one of them is a child's. */
static void at_the_same_time()
{
	gpu_array<unsigned> words(std::vector<unsigned>(4, 0));
	unsigned *w[4];
	void *here[] = {&w[0], &w[1], &w[2]}, *there[] = {&w[1], &w[0], &w[3]};
	hipGraph_t graph, child;
	hipGraphExec_t exec;
	hipGraphNode_t node;

	for (unsigned i = 0; i < 4; i++)
		w[i] = words.at + i;
	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphCreate(&child, 0));
	add(child, (void *)meet, there, {});
	add(graph, (void *)meet, here, {});
	HIP(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(exec, nullptr));
	CHECK(words.read()[2] && words.read()[3]);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipGraphDestroy(child));
}

/* A launch that is under way has the numbers that it was launched with. */
static void changed()
{
	gpu_array<unsigned> x(std::vector<unsigned>(1, 1));
	unsigned *at = x.at, want = 1;
	std::vector<hipGraphNode_t> nodes;
	hipKernelNodeParams params = {};
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	for (unsigned i = 0; i < 100; i++) {
		void *args[] = {&at, &i};

		nodes.push_back(add(graph, (void *)step, args, nodes.empty() ? nodes : decltype(nodes){nodes.back()}));
	}
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	params.func = (void *)step;
	params.gridDim = params.blockDim = dim3(1);
	for (unsigned k = 0; k < 10; k++) {
		unsigned term = 1000 + k;
		void *args[] = {&at, &term};

		HIP(hipGraphLaunch(exec, nullptr));
		for (unsigned i = 0; i < 100; i++)
			if (k < 5 || i != 70)
				want = want * 3 + (k && i == 50 ? 1000 + k - 1 : i);
		params.kernelParams = args;
		HIP(hipGraphExecKernelNodeSetParams(exec, nodes[50], &params));
		if (k == 4)
			HIP(hipGraphNodeSetEnabled(exec, nodes[70], 0));
	}
	CHECK_EQ(x.read()[0], want);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

static std::vector<char> other_code()
{
	std::vector<char> code;
	hiprtcProgram program;
	size_t size = 0;

	CHECK_EQ(hiprtcCreateProgram(&program, "__global__ void other() {}", nullptr, 0, nullptr, nullptr),
		 HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcGetCodeSize(program, &size), HIPRTC_SUCCESS);
	code.resize(size);
	CHECK_EQ(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
	return code;
}

/* The same instance on two streams in turn, among other kernels, and while code is unloaded that it does not use:
 * what a launch leaves behind for the next one is not for all of them. */
static void again()
{
	gpu_array<unsigned> x(std::vector<unsigned>(1, 1));
	unsigned *at = x.at, want = 1;
	std::vector<hipGraphNode_t> last;
	const std::vector<char> code = other_code();
	hipStream_t streams[2];
	hipGraphExec_t exec;
	hipEvent_t event;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	for (unsigned i = 0; i < 100; i++) {
		void *args[] = {&at, &i};

		last = {add(graph, (void *)step, args, last)};
	}
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipEventCreate(&event));
	for (hipStream_t &s : streams)
		HIP(hipStreamCreate(&s));
	for (unsigned k = 0; k < 40; k++) {
		hipStream_t s = streams[k / 8 % 2];
		hipModule_t module;

		HIP(hipStreamWaitEvent(s, event, 0));
		step<<<1, 1, 0, s>>>(at, 1000 + k);
		HIP(hipGraphLaunch(exec, s));
		step<<<1, 1, 0, s>>>(at, 2000 + k);
		HIP(hipEventRecord(event, s));
		if (k % 4 == 3)
			HIP(hipStreamSynchronize(s));
		if (k == 20) {
			HIP(hipModuleLoadData(&module, code.data()));
			HIP(hipModuleUnload(module));
		}
		want = want * 3 + 1000 + k;
		for (unsigned i = 0; i < 100; i++)
			want = want * 3 + i;
		want = want * 3 + 2000 + k;
	}
	CHECK_EQ(x.read()[0], want);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipEventDestroy(event));
	for (hipStream_t s : streams)
		HIP(hipStreamDestroy(s));
}

int main()
{
	chain((void *)step, LENGTH, false);
	chain((void *)step, LENGTH, true);
	chain((void *)deep, 100, false);
	once_slow();
	branches();
	at_the_same_time();
	changed();
	again();
	return check_done("graphs of many kernels");
}
