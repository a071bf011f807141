/* A graph whose first kernel is refused at the launch: its instance is destroyed, and the stream takes what is launched next.
 * Nothing is written to what the instance had. */
#include <vector>

#include "tests/clients/hip/hip.h"

#define KERNELS   20u    /* enough for jobs of their own, which a clock measures */
#define INSTANCES 9000u /* their clocks fill a slab of 2 MiB and begin another: the first one is freed when it is empty */

__global__ void count(unsigned *x)
{
	atomicAdd(x, 1);
}

/* Has more scratch memory for a workgroup of 1024 than the GPU and the host have memory. */
__global__ void too_much_scratch(unsigned *x)
{
	volatile char private_memory[130000];

	private_memory[*x % sizeof(private_memory)] = 1;
	atomicAdd(x, 1);
}

/* A chain that begins with that kernel. */
static hipGraphExec_t instance(void *first, unsigned threads, unsigned kernels, unsigned *x)
{
	hipGraphNode_t last = nullptr, node;
	hipKernelNodeParams params = {};
	void *args[] = {&x};
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	params.gridDim = dim3(1);
	params.kernelParams = args;
	for (unsigned i = 0; i < kernels; i++) {
		params.func = i ? (void *)count : first;
		params.blockDim = dim3(i ? 1 : threads);
		HIP(hipGraphAddKernelNode(&node, graph, i ? &last : nullptr, i ? 1 : 0, &params));
		last = node;
	}
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphDestroy(graph));
	return exec;
}

int main()
{
	std::vector<hipGraphExec_t> others;
	hipGraphExec_t refused;
	unsigned *x, got;

	HIP(hipMalloc((void **)&x, sizeof(*x)));
	HIP(hipMemset(x, 0, sizeof(*x)));
	refused = instance((void *)too_much_scratch, 1024, KERNELS, x);
	for (unsigned i = 0; i < INSTANCES; i++)
		others.push_back(instance((void *)count, 1, 1, x));
	CHECK_EQ(hipGraphLaunch(refused, nullptr), hipErrorOutOfMemory);
	CHECK_EQ(hipGetLastError(), hipErrorOutOfMemory);
	HIP(hipGraphExecDestroy(refused));
	for (hipGraphExec_t exec : others)
		HIP(hipGraphExecDestroy(exec));
	count<<<1, 64>>>(x);
	HIP_LAUNCHED();
	HIP(hipMemcpy(&got, x, sizeof(got), hipMemcpyDeviceToHost));
	CHECK_EQ(got, 64);
	HIP(hipFree(x));
	return check_done("a graph that is refused");
}
