/* Graphs: nodes added by hand, and captured from streams; launched again and again. */
#include "tests/clients/hip/hip.h"

#define COUNT  2048u
#define ROUNDS 5u

__global__ void affine(unsigned *data, unsigned factor, unsigned term)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	data[i] = data[i] * factor + term;
}

__global__ void sum(unsigned *to, const unsigned *a, const unsigned *b)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = a[i] + b[i];
}

static void count_up(void *user)
{
	++*(unsigned *)user;
}

/*  copy in -> x 3 + 1 -> copy out -> host function  */
static void by_hand()
{
	std::vector<unsigned> in(COUNT), out(COUNT);
	gpu_array<unsigned> gpu(COUNT);
	unsigned factor = 3, term = 1, calls = 0, wrong = 0;
	void *args[] = {&gpu.at, &factor, &term};
	hipKernelNodeParams kernel = {};
	hipHostNodeParams host = {count_up, &calls};
	hipGraphNode_t copy_in, compute, copy_out, call;
	hipGraphExec_t ready;
	hipGraph_t graph;
	size_t nodes = 0;

	kernel.func = (void *)affine;
	kernel.gridDim = dim3(COUNT / 256);
	kernel.blockDim = dim3(256);
	kernel.kernelParams = args;
	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphAddMemcpyNode1D(&copy_in, graph, NULL, 0, gpu.at, in.data(), COUNT * 4, hipMemcpyHostToDevice));
	HIP(hipGraphAddKernelNode(&compute, graph, &copy_in, 1, &kernel));
	HIP(hipGraphAddMemcpyNode1D(&copy_out, graph, &compute, 1, out.data(), gpu.at, COUNT * 4,
				    hipMemcpyDeviceToHost));
	HIP(hipGraphAddHostNode(&call, graph, &copy_out, 1, &host));
	HIP(hipGraphGetNodes(graph, NULL, &nodes));
	CHECK_EQ(nodes, 4);
	HIP(hipGraphInstantiate(&ready, graph, NULL, NULL, 0));
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < COUNT; i++)
			in[i] = i + round;
		HIP(hipGraphLaunch(ready, 0));
		HIP(hipStreamSynchronize(0));
		for (unsigned i = 0; i < COUNT; i++)
			wrong += out[i] != (i + round) * 3 + 1;
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(calls, ROUNDS);
	HIP(hipGraphExecDestroy(ready));
	HIP(hipGraphDestroy(graph));
}

/* A fork to a second stream and its join become branches of the graph. */
static void captured()
{
	gpu_array<unsigned> a(COUNT), b(COUNT), both(COUNT);
	hipStream_t stream, other;
	hipEvent_t fork, join;
	hipGraphExec_t ready;
	hipGraph_t graph;
	unsigned want_a = 0, want_b = 0, wrong = 0;

	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	HIP(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
	HIP(hipEventCreate(&fork));
	HIP(hipEventCreate(&join));
	HIP(hipMemset(a.at, 0, COUNT * 4));
	HIP(hipMemset(b.at, 0, COUNT * 4));
	HIP(hipDeviceSynchronize());
	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	HIP(hipEventRecord(fork, stream));
	HIP(hipStreamWaitEvent(other, fork, 0));
	affine<<<COUNT / 256, 256, 0, stream>>>(a.at, 5, 2);
	affine<<<COUNT / 256, 256, 0, other>>>(b.at, 7, 3);
	HIP(hipEventRecord(join, other));
	HIP(hipStreamWaitEvent(stream, join, 0));
	sum<<<COUNT / 256, 256, 0, stream>>>(both.at, a.at, b.at);
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphInstantiate(&ready, graph, NULL, NULL, 0));
	for (unsigned round = 0; round < ROUNDS; round++) {
		HIP(hipGraphLaunch(ready, stream));
		want_a = want_a * 5 + 2;
		want_b = want_b * 7 + 3;
	}
	HIP(hipStreamSynchronize(stream));
	for (unsigned value : both.read())
		wrong += value != want_a + want_b;
	CHECK_EQ(wrong, 0);
	HIP(hipGraphExecDestroy(ready));
	HIP(hipGraphDestroy(graph));
	HIP(hipEventDestroy(fork));
	HIP(hipEventDestroy(join));
	HIP(hipStreamDestroy(stream));
	HIP(hipStreamDestroy(other));
}

int main()
{
	by_hand();
	captured();
	return check_done("graphs of HIP");
}
