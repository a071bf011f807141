/* Graphs and instances whose code the program unloads: every call that needs a kernel is refused, and the others work. */
#include <hip/hip_runtime_api.h>

#include "shaders/blob.h"
#include "tests/check.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob test_blobs[];

#define COUNT   256u
#define MODULES 8 /* loaded and unloaded, so that the memory of the first is used again */

static uint32_t *data;
static hipStream_t stream;

#define HIP(call) CHECK_EQ(call, hipSuccess)

static hipModule_t module_load(hipFunction_t *add)
{
	hipModule_t module;

	HIP(hipModuleLoadData(&module, shader_find(test_blobs, "group.O1", "gfx908")->image));
	HIP(hipModuleGetFunction(add, module, "k_add"));
	return module;
}

static void module_unload(hipModule_t module)
{
	hipModule_t others[MODULES];
	hipFunction_t add;

	HIP(hipModuleUnload(module));
	for (unsigned i = 0; i < MODULES; i++)
		others[i] = module_load(&add);
	for (unsigned i = 0; i < MODULES; i++)
		HIP(hipModuleUnload(others[i]));
}

static hipGraphNode_t add_node(hipGraph_t graph, hipFunction_t add, int cooperative)
{
	const hipLaunchAttributeValue value = {.cooperative = cooperative};
	void *at = data, *args[] = {&at, &(uint32_t){1}};
	const hipKernelNodeParams p = {
		.func = (void *)add,
		.gridDim = {COUNT / 64, 1, 1},
		.blockDim = {64, 1, 1},
		.kernelParams = args,
	};
	hipGraphNode_t node = NULL;

	HIP(hipGraphAddKernelNode(&node, graph, NULL, 0, &p));
	HIP(hipGraphKernelNodeSetAttribute(node, hipLaunchAttributeCooperative, &value));
	return node;
}

/* The stream works as before. */
static void is_well(void)
{
	uint32_t got[COUNT];

	HIP(hipMemsetD32Async(data, 5, COUNT, stream));
	HIP(hipMemcpyAsync(got, data, sizeof(got), hipMemcpyDeviceToHost, stream));
	HIP(hipStreamSynchronize(stream));
	CHECK(got[0] == 5 && got[COUNT - 1] == 5);
}

static void attributes_of_a_kernel_that_is_gone(void)
{
	const hipLaunchAttributeValue yes = {.cooperative = 1}, no = {0};
	hipFunction_t first, second;
	hipModule_t module = module_load(&first), other = module_load(&second);
	hipGraphNode_t gone, left;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	gone = add_node(graph, first, 0);
	left = add_node(graph, second, 1);
	module_unload(module);
	CHECK_EQ(hipGraphKernelNodeSetAttribute(gone, hipLaunchAttributeCooperative, &yes),
		 hipErrorInvalidResourceHandle);
	CHECK_EQ(hipGraphKernelNodeCopyAttributes(left, gone), hipErrorInvalidResourceHandle);
	HIP(hipGraphKernelNodeSetAttribute(gone, hipLaunchAttributeCooperative, &no));
	HIP(hipGraphDestroy(graph));
	HIP(hipModuleUnload(other));
}

static void an_instance_whose_kernel_is_gone(int cooperative)
{
	hipFunction_t add;
	hipModule_t module = module_load(&add);
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	(void)add_node(graph, add, cooperative);
	HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP(hipGraphLaunch(exec, stream));
	HIP(hipStreamSynchronize(stream));
	module_unload(module);
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(hipGraphLaunch(exec, stream), hipErrorInvalidResourceHandle);
	is_well();
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

/* The plan is made again, with the kernel and without it. */
static void a_changed_instance_whose_kernel_is_gone(void)
{
	const hipMemsetParams fill = {.dst = data, .elementSize = 4, .width = COUNT, .height = 1, .value = 3};
	hipGraphNode_t kernel, other;
	hipFunction_t add;
	hipModule_t module = module_load(&add);
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	kernel = add_node(graph, add, 0);
	HIP(hipGraphAddMemsetNode(&other, graph, &kernel, 1, &fill));
	HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP(hipGraphLaunch(exec, stream));
	HIP(hipStreamSynchronize(stream));
	module_unload(module);
	HIP(hipGraphNodeSetEnabled(exec, other, 0));
	CHECK_EQ(hipGraphLaunch(exec, stream), hipErrorInvalidResourceHandle);
	HIP(hipGraphNodeSetEnabled(exec, kernel, 0));
	HIP(hipGraphLaunch(exec, stream));
	HIP(hipGraphNodeSetEnabled(exec, kernel, 1));
	CHECK_EQ(hipGraphLaunch(exec, stream), hipErrorInvalidResourceHandle);
	is_well();
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

int main(void)
{
	if (!CHECK_EQ(vgpu_start("gfx908"), 0))
		return check_done("graphs whose code is unloaded");
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	HIP(hipMalloc((void **)&data, 4 * COUNT));
	attributes_of_a_kernel_that_is_gone();
	an_instance_whose_kernel_is_gone(0);
	an_instance_whose_kernel_is_gone(1);
	a_changed_instance_whose_kernel_is_gone();
	HIP(hipFree(data));
	HIP(hipStreamDestroy(stream));
	return check_done("graphs whose code is unloaded");
}
