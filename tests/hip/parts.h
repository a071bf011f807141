/* A program of HIP in parts, for tests that make something in it fail: each part gives its first error, and leaves
 * nothing behind. Its kernels are shaders of tests/kernels/group.hip. */
#ifndef TESTS_HIP_PARTS_H
#define TESTS_HIP_PARTS_H

#define HIP_DEPRECATED
#include <fcntl.h>
#include <hip/api/profile.h>
#include <hip/hip_runtime_api.h>
#include <unistd.h>
#include <xf86drm.h>

#include "shaders/blob.h"

extern const struct shader_blob test_blobs[];

#define COUNT 256u
#define WRONG ((hipError_t)12345) /* results that are not what they must be */

struct rig {
	hipStream_t stream;
	hipModule_t module;
	hipFunction_t add;
	uint32_t *data;
};

static hipError_t launch(const struct rig *g, uint32_t value)
{
	void *data = g->data, *args[] = {&data, &value};

	return hipModuleLaunchKernel(g->add, COUNT / 64, 1, 1, 64, 1, 1, 0, g->stream, args, NULL);
}

/* All are want. */
static hipError_t expect(const struct rig *g, const uint32_t *at, uint32_t want)
{
	uint32_t got[COUNT] = {0};
	hipError_t r = hipMemcpyAsync(got, at, sizeof(got), hipMemcpyDeviceToHost, g->stream);

	r = r ? r : hipStreamSynchronize(g->stream);
	for (unsigned i = 0; !r && i < COUNT; i++)
		r = got[i] == want ? hipSuccess : WRONG;
	return r;
}

static hipError_t launches(const struct rig *g)
{
	hipEvent_t begin = NULL, end = NULL;
	float ms;
	hipError_t r = hipEventCreate(&begin);

	r = r ? r : hipEventCreate(&end);
	r = r ? r : hipMemsetD32Async(g->data, 5, COUNT, g->stream);
	r = r ? r : hipEventRecord(begin, g->stream);
	r = r ? r : launch(g, 2);
	r = r ? r : hipEventRecord(end, g->stream);
	r = r ? r : hipEventSynchronize(end);
	r = r ? r : hipEventElapsedTime(&ms, begin, end);
	r = r ? r : expect(g, g->data, 17);
	if (begin)
		(void)!hipEventDestroy(begin);
	if (end)
		(void)!hipEventDestroy(end);
	return r;
}

static hipError_t captured(const struct rig *g)
{
	hipGraph_t graph = NULL;
	hipGraphExec_t exec = NULL;
	hipError_t r = hipStreamBeginCapture(g->stream, hipStreamCaptureModeThreadLocal), end;

	if (r)
		return r;
	r = hipMemsetD32Async(g->data, 1, COUNT, g->stream);
	r = r ? r : launch(g, 4);
	r = r ? r : launch(g, 4);
	end = hipStreamEndCapture(g->stream, &graph);
	r = r ? r : end;
	r = r ? r : hipGraphInstantiate(&exec, graph, NULL, NULL, 0);
	r = r ? r : hipGraphLaunch(exec, g->stream);
	r = r ? r : hipGraphLaunch(exec, g->stream);
	r = r ? r : expect(g, g->data, 25);
	(void)!hipStreamSynchronize(g->stream);
	if (exec)
		(void)!hipGraphExecDestroy(exec);
	if (graph)
		(void)!hipGraphDestroy(graph);
	return r;
}

/* A kernel behind one fill, and beside another. */
static hipError_t make_branches(const struct rig *g, hipGraph_t graph, void *other)
{
	hipMemsetParams fill = {.dst = g->data, .elementSize = 4, .width = COUNT, .height = 1, .value = 3};
	void *data = g->data, *args[] = {&data, &(uint32_t){4}};
	hipKernelNodeParams add = {
		.func = (void *)g->add,
		.gridDim = {COUNT / 64, 1, 1},
		.blockDim = {64, 1, 1},
		.kernelParams = args,
	};
	hipGraphNode_t first, node;
	hipError_t r = hipGraphAddMemsetNode(&first, graph, NULL, 0, &fill);

	fill.dst = other;
	fill.value = 9;
	r = r ? r : hipGraphAddMemsetNode(&node, graph, NULL, 0, &fill);
	return r ? r : hipGraphAddKernelNode(&node, graph, &first, 1, &add);
}

static hipError_t branches(const struct rig *g)
{
	hipGraphExec_t exec = NULL;
	hipGraph_t graph = NULL;
	void *other = NULL;
	hipError_t r = hipMalloc(&other, 4 * COUNT);

	r = r ? r : hipGraphCreate(&graph, 0);
	r = r ? r : make_branches(g, graph, other);
	r = r ? r : hipGraphInstantiate(&exec, graph, NULL, NULL, 0);
	r = r ? r : hipGraphLaunch(exec, g->stream);
	r = r ? r : hipGraphLaunch(exec, g->stream);
	r = r ? r : expect(g, g->data, 13);
	r = r ? r : expect(g, other, 9);
	(void)!hipStreamSynchronize(g->stream);
	if (exec)
		(void)!hipGraphExecDestroy(exec);
	if (graph)
		(void)!hipGraphDestroy(graph);
	if (other)
		(void)!hipFree(other);
	return r;
}

static hipError_t pools(const struct rig *g)
{
	const hipMemPoolProps like = {.allocType = hipMemAllocationTypePinned,
				      .location = {.type = hipMemLocationTypeDevice}};
	hipMemPool_t pool = NULL;
	void *memory = NULL;
	hipError_t r = hipMemPoolCreate(&pool, &like);

	r = r ? r : hipMallocFromPoolAsync(&memory, 4 * COUNT, pool, g->stream);
	r = r ? r : hipMemsetD32Async(memory, 9, COUNT, g->stream);
	r = r ? r : expect(g, memory, 9);
	if (memory) {
		hipError_t freed = hipFreeAsync(memory, g->stream);

		r = r ? r : freed;
	}
	if (pool)
		(void)!hipMemPoolDestroy(pool);
	return r;
}

static hipError_t images(const struct rig *g)
{
	const hipChannelFormatDesc format = {.x = 32, .f = hipChannelFormatKindUnsigned};
	const hipTextureDesc how = {.readMode = hipReadModeElementType};
	hipResourceDesc what = {.resType = hipResourceTypeArray};
	hipTextureObject_t texture = NULL;
	uint32_t in[16 * 16] = {[255] = 7}, out[16 * 16];
	hipArray_t array = NULL;
	hipError_t r = hipMallocArray(&array, &format, 16, 16, 0);

	(void)g;
	what.res.array.array = array;
	r = r ? r : hipMemcpy2DToArray(array, 0, 0, in, 64, 64, 16, hipMemcpyHostToDevice);
	r = r ? r : hipCreateTextureObject(&texture, &what, &how, NULL);
	r = r ? r : hipMemcpy2DFromArray(out, 64, array, 0, 0, 64, 16, hipMemcpyDeviceToHost);
	if (!r && memcmp(in, out, sizeof(in)))
		r = WRONG;
	if (texture)
		(void)!hipDestroyTextureObject(texture);
	if (array)
		(void)!hipFreeArray(array);
	return r;
}

static hipError_t host_memory(const struct rig *g)
{
	static uint32_t mine[COUNT];
	hipIpcMemHandle_t handle;
	uint32_t *pinned = NULL;
	hipError_t r = hipHostMalloc((void **)&pinned, sizeof(mine), 0), registered;

	registered = hipHostRegister(mine, sizeof(mine), 0);
	r = r ? r : registered;
	for (unsigned i = 0; !r && i < COUNT; i++)
		pinned[i] = 3;
	r = r ? r : hipMemcpyAsync(g->data, pinned, sizeof(mine), hipMemcpyHostToDevice, g->stream);
	r = r ? r : hipMemcpyAsync(mine, g->data, sizeof(mine), hipMemcpyDeviceToHost, g->stream);
	r = r ? r : hipStreamSynchronize(g->stream);
	r = r ? r : mine[COUNT - 1] == 3 ? hipSuccess : WRONG;
	r = r ? r : hipIpcGetMemHandle(&handle, g->data);
	/* A kernel that refuses to let go is asked again: it would be known still when it is registered next time.
	 */
	if (!registered && hipHostUnregister(mine))
		(void)!hipHostUnregister(mine);
	if (pinned)
		(void)!hipHostFree(pinned);
	return r;
}

/* Memory that comes by a descriptor. */
static hipError_t external(const struct rig *g)
{
	hipMemAllocationProp how = {.type = hipMemAllocationTypePinned,
				    .requestedHandleType = hipMemHandleTypePosixFileDescriptor,
				    .location = {.type = hipMemLocationTypeDevice}};
	hipExternalMemoryHandleDesc desc = {.type = hipExternalMemoryHandleTypeOpaqueFd, .size = 2 << 20};
	hipExternalMemoryBufferDesc whole = {.size = 4 * COUNT};
	hipMemGenericAllocationHandle_t physical = NULL;
	hipExternalMemory_t memory = NULL;
	void *at = NULL;
	hipError_t r = hipMemCreate(&physical, 2 << 20, &how, 0);

	r = r ? r
	      : hipMemExportToShareableHandle(&desc.handle.fd, physical, hipMemHandleTypePosixFileDescriptor, 0);
	if (!r && (r = hipImportExternalMemory(&memory, &desc)))
		close(desc.handle.fd);
	r = r ? r : hipExternalMemoryGetMappedBuffer(&at, memory, &whole);
	r = r ? r : hipMemsetD32Async(at, 6, COUNT, g->stream);
	r = r ? r : expect(g, at, 6);
	if (at)
		(void)!hipFree(at);
	if (memory)
		(void)!hipDestroyExternalMemory(memory);
	if (physical)
		(void)!hipMemRelease(physical);
	return r;
}

/* A signal that another driver gives, before it is waited for. */
static hipError_t semaphore(const struct rig *g)
{
	const hipExternalSemaphoreWaitParams wait = {0};
	hipExternalSemaphoreHandleDesc desc = {.type = hipExternalSemaphoreHandleTypeOpaqueFd};
	hipExternalSemaphore_t semaphore = NULL;
	uint32_t syncobj = 0;
	int card = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	hipError_t r = hipErrorOperatingSystem;

	if (card >= 0 && !drmSyncobjCreate(card, DRM_SYNCOBJ_CREATE_SIGNALED, &syncobj) &&
	    !drmSyncobjHandleToFD(card, syncobj, &desc.handle.fd)) {
		r = hipImportExternalSemaphore(&semaphore, &desc);
		if (r)
			close(desc.handle.fd);
	}
	r = r ? r : hipWaitExternalSemaphoresAsync(&semaphore, &wait, 1, g->stream);
	r = r ? r : hipMemsetD32Async(g->data, 8, COUNT, g->stream);
	r = r ? r : expect(g, g->data, 8);
	if (semaphore)
		(void)!hipDestroyExternalSemaphore(semaphore);
	if (card >= 0)
		close(card);
	return r;
}

static int hear_all(int domain, uint32_t operation, void *data)
{
	(void)domain;
	(void)operation;
	(void)data;
	return 0;
}

static hipError_t watched(const struct rig *g)
{
	hipError_t r;

	hipRegisterTracerCallback(hear_all);
	r = launches(g);
	hipRegisterTracerCallback(NULL);
	return r;
}

static const char *gpu = "gfx908";

static hipError_t rig_open(struct rig *g)
{
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", gpu);
	hipError_t r;

	*g = (struct rig){0};
	r = hipMalloc((void **)&g->data, 4 * COUNT);
	r = r ? r : hipStreamCreate(&g->stream);
	r = r ? r : hipModuleLoadData(&g->module, blob->image);
	return r ? r : hipModuleGetFunction(&g->add, g->module, "k_add");
}

static void rig_close(struct rig *g)
{
	if (g->module)
		(void)!hipModuleUnload(g->module);
	if (g->stream)
		(void)!hipStreamDestroy(g->stream);
	if (g->data)
		(void)!hipFree(g->data);
}

static hipError_t rig_run(const struct rig *g)
{
	static hipError_t (*const parts[])(const struct rig *) = {
		launches, captured, branches, pools, images, host_memory, external, semaphore, watched,
	};
	hipError_t r = hipSuccess;

	for (unsigned i = 0; !r && i < sizeof(parts) / sizeof(parts[0]); i++)
		r = parts[i](g);
	return r;
}

static inline hipError_t program(void)
{
	struct rig g;
	hipError_t r = rig_open(&g);

	r = r ? r : rig_run(&g);
	rig_close(&g);
	return r;
}

#endif
