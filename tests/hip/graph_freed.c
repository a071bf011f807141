/* Graphs that copy from and to memory that the program has freed: a launch is refused, and no thread of the host follows the
 * addresses. */
#include <hip/hip_runtime_api.h>
#include <stdlib.h>

#include "tests/check.h"
#include "vgpu/vgpu.h"

#define SIZE_B (4u << 20) /* larger than a slab: the address is no memory when it is freed */

#define HIP(call) CHECK_EQ(call, hipSuccess)

static char *host;

static void free_one(void *data)
{
	HIP(hipFree(data));
}

static void reset(void *data)
{
	(void)data;
	HIP(hipDeviceReset());
}

static void add_line(hipGraph_t graph, void *dst, const void *src, hipMemcpyKind kind)
{
	hipGraphNode_t node;

	HIP(hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, dst, src, SIZE_B, kind));
}

static void add_box(hipGraph_t graph, void *dst, void *src, hipMemcpyKind kind)
{
	const hipMemcpy3DParms p = {
		.srcPtr = {src, SIZE_B / 16, SIZE_B / 16, 16},
		.dstPtr = {dst, SIZE_B / 16, SIZE_B / 16, 16},
		.extent = {SIZE_B / 16, 16, 1},
		.kind = kind,
	};
	hipGraphNode_t node;

	HIP(hipGraphAddMemcpyNode(&node, graph, NULL, 0, &p));
}

static void is_refused(bool box, bool to_host, hipMemcpyKind kind, void (*end)(void *data))
{
	hipGraphExec_t exec;
	hipGraph_t graph;
	void *data;

	HIP(hipMalloc(&data, SIZE_B));
	HIP(hipGraphCreate(&graph, 0));
	if (box)
		add_box(graph, to_host ? host : data, to_host ? data : host, kind);
	else
		add_line(graph, to_host ? host : data, to_host ? data : host, kind);
	HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP(hipGraphLaunch(exec, NULL));
	HIP(hipDeviceSynchronize());
	end(data);
	CHECK_EQ(hipGraphLaunch(exec, NULL), hipErrorInvalidValue);
	HIP(hipDeviceSynchronize());
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

int main(void)
{
	if (!CHECK_EQ(vgpu_start("gfx908"), 0))
		return check_done("graphs that copy freed memory");
	host = calloc(1, SIZE_B);
	if (!CHECK(host != NULL))
		return check_done("graphs that copy freed memory");
	for (unsigned i = 0; i < 8; i++) {
		void (*const end)(void *data) = i & 4 ? reset : free_one;

		is_refused(i & 1, i & 2, i & 2 ? hipMemcpyDeviceToHost : hipMemcpyHostToDevice, end);
		is_refused(i & 1, i & 2, hipMemcpyDefault, end);
	}
	free(host);
	return check_done("graphs that copy freed memory");
}
