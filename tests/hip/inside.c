/* A thread that is stopped at each instruction of a call in turn (tests/step.h), while another thread destroys the object that the
 * call uses, or resets the device: the call gives a defined result, and uses nothing that was freed. */
#include <fcntl.h>
#include <unistd.h>

#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <xf86drm.h>

#include "shaders/blob.h"
#include "tests/hip/inside.h"
#include "tests/hip/pool_make.h"

extern const struct shader_blob test_blobs[];

static unsigned words[16];

/* --- modules --- */

static hipModule_t module;
static hipFunction_t function;

static void module_create(void)
{
	const void *image = shader_find(test_blobs, "group.O1", "gfx908")->image;

	memory_make();
	CHECK_EQ(hipModuleLoadData(&module, image), hipSuccess);
	CHECK_EQ(hipModuleGetFunction(&function, module, "k_add"), hipSuccess);
}

static void module_launch(void)
{
	unsigned value = 1;
	void *at = memory, *args[] = {&at, &value};

	use(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, args, NULL));
}

static void module_query(void)
{
	hipFunction_t f;

	use(hipModuleGetFunction(&f, module, "k_add"));
}

static void module_unload(void)
{
	const void *image = shader_find(test_blobs, "group.O1", "gfx908")->image;
	hipModule_t m;

	(void)!hipModuleUnload(module);
	for (unsigned i = 0; i < 2; i++)
		if (!hipModuleLoadData(&m, image))
			(void)!hipModuleUnload(m);
}

static void module_finish(void)
{
	(void)!hipModuleUnload(module);
	memory_end();
}

/* --- instances of graphs --- */

static void instance_create(void)
{
	hipMemsetParams fill = {.elementSize = 4, .width = 16, .height = 1, .value = 3};
	hipGraphNode_t node;

	memory_make();
	fill.dst = memory;
	CHECK_EQ(hipGraphCreate(&graph, 0), hipSuccess);
	CHECK_EQ(hipGraphAddMemsetNode(&node, graph, NULL, 0, &fill), hipSuccess);
	CHECK_EQ(hipGraphInstantiate(&instance, graph, NULL, NULL, 0), hipSuccess);
}

static void instance_finish(void)
{
	(void)!hipGraphExecDestroy(instance);
	CHECK_EQ(hipGraphDestroy(graph), hipSuccess);
	memory_end();
}

/* --- pools --- */

static hipMemPool_t pool;
static void *from_pool;

static void pool_create(void)
{
	stream_make();
	pool = pool_make();
	from_pool = NULL;
}

/* A pool or stream that ends during the call gives no memory. */
static void use_allocation(hipError_t r)
{
	if (r != hipErrorOutOfMemory)
		use(r);
}

static void pool_malloc(void)
{
	use_allocation(hipMallocFromPoolAsync(&from_pool, 4096, pool, stream));
}

static void pool_destroy(void)
{
	CHECK_EQ(hipMemPoolDestroy(pool), hipSuccess);
	CHECK_EQ(hipMemPoolDestroy(pool_make()), hipSuccess);
}

/* What a destroyed pool has given stays valid. */
static void pool_finish(void)
{
	(void)!hipMemPoolDestroy(pool);
	if (from_pool) {
		CHECK_EQ(hipMemsetD32Async(from_pool, 7, 16, stream), hipSuccess);
		CHECK_EQ(hipFreeAsync(from_pool, stream), hipSuccess);
	}
	CHECK_EQ(hipStreamSynchronize(stream), hipSuccess);
	stream_end();
}

/* --- memory of a pool, which two threads free --- */

static unsigned freed;

static void block_create(void)
{
	stream_make();
	CHECK_EQ(hipMallocAsync(&memory, 4096, stream), hipSuccess);
	freed = 0;
}

static void block_free_async(void)
{
	use(hipFreeAsync(memory, stream));
	freed += !result;
}

static void block_free(void)
{
	use(hipFree(memory));
	freed += !result;
}

static _Atomic unsigned freed_beside;

static void block_free_beside(void)
{
	freed_beside = !hipFree(memory);
}

static void block_finish(void)
{
	CHECK_EQ(freed + freed_beside, 1);
	freed_beside = 0;
	stream_end();
}

/* --- memory of a pool, beside a reset --- */

/* No two of the blocks that are given out afterwards are the same. */
static void reset_finish(void)
{
	void *block[16];

	(void)!hipDeviceReset();
	stream_make();
	for (unsigned i = 0; i < 16; i++) {
		CHECK_EQ(hipMallocAsync(&block[i], 4096, stream), hipSuccess);
		for (unsigned j = 0; j < i; j++)
			CHECK(block[i] != block[j]);
	}
	for (unsigned i = 0; i < 16; i++)
		CHECK_EQ(hipFreeAsync(block[i], stream), hipSuccess);
	stream_end();
}

static void block_malloc_async(void)
{
	use_allocation(hipMallocAsync(&memory, 4096, stream));
}

/* A block of which the stream's cache has enough: it goes to the arena. */
static void full_create(void)
{
	void *block[8];

	stream_make();
	CHECK_EQ(hipMallocAsync(&memory, 4096, stream), hipSuccess);
	for (unsigned i = 0; i < 8; i++)
		CHECK_EQ(hipMallocAsync(&block[i], 4096, stream), hipSuccess);
	for (unsigned i = 0; i < 8; i++)
		CHECK_EQ(hipFreeAsync(block[i], stream), hipSuccess);
	freed = 0;
}

/* --- memory of a pool, beside the pool's end --- */

/* The last block of a destroyed pool: its free ends the pool. */
static void last_create(void)
{
	pool_create();
	CHECK_EQ(hipMallocFromPoolAsync(&memory, 4096, pool, stream), hipSuccess);
	CHECK_EQ(hipMemPoolDestroy(pool), hipSuccess);
	freed = 0;
}

static void pool_block_create(void)
{
	pool_create();
	CHECK_EQ(hipMallocFromPoolAsync(&memory, 4096, pool, stream), hipSuccess);
	freed = 0;
}

static void pool_block_finish(void)
{
	(void)!hipMemPoolDestroy(pool);
	CHECK_EQ(freed, 1);
	stream_end();
}

static void pool_destroy_beside(void)
{
	(void)!hipMemPoolDestroy(pool);
	CHECK_EQ(hipMemPoolDestroy(pool_make()), hipSuccess);
}

static void pool_use_destroy(void)
{
	use(hipMemPoolDestroy(pool));
}

/* --- streams and events --- */

static void event_create(void)
{
	stream_make();
	CHECK_EQ(hipEventCreate(&event), hipSuccess);
}

static void event_wait(void)
{
	use(hipStreamWaitEvent(NULL, event, 0));
}

static void event_sync(void)
{
	use(hipEventSynchronize(event));
}

static void event_finish(void)
{
	(void)!hipEventDestroy(event);
	stream_end();
}

/* --- memory and semaphores of other drivers --- */

static struct {
	int card;
	amdgpu_device_handle device;
	amdgpu_bo_handle bo;
	uint32_t timeline;
} other;

static void other_open(void)
{
	struct amdgpu_bo_alloc_request request = {
		.alloc_size = SIZE_B, .phys_alignment = 4096, .preferred_heap = AMDGPU_GEM_DOMAIN_GTT};
	const uint64_t point = 100;
	uint32_t major, minor;

	other.card = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	CHECK_EQ(amdgpu_device_initialize(other.card, &major, &minor, &other.device), 0);
	CHECK_EQ(amdgpu_bo_alloc(other.device, &request, &other.bo), 0);
	CHECK_EQ(drmSyncobjCreate(other.card, 0, &other.timeline), 0);
	CHECK_EQ(drmSyncobjTimelineSignal(other.card, &other.timeline, (uint64_t *)(uintptr_t)&point, 1), 0);
}

static void other_close(void)
{
	drmSyncobjDestroy(other.card, other.timeline);
	amdgpu_bo_free(other.bo);
	amdgpu_device_deinitialize(other.device);
	close(other.card);
}

static hipExternalMemory_t external;
static hipExternalSemaphore_t semaphore;

static hipExternalMemory_t external_make(void)
{
	hipExternalMemoryHandleDesc desc = {.type = hipExternalMemoryHandleTypeOpaqueFd, .size = SIZE_B};
	hipExternalMemory_t e = NULL;
	uint32_t fd = 0;

	CHECK_EQ(amdgpu_bo_export(other.bo, amdgpu_bo_handle_type_dma_buf_fd, &fd), 0);
	desc.handle.fd = (int)fd;
	if (hipImportExternalMemory(&e, &desc))
		close((int)fd);
	return e;
}

static void external_create(void)
{
	external = external_make();
	CHECK(external != NULL);
}

static void external_map(void)
{
	const hipExternalMemoryBufferDesc whole = {.size = SIZE_B};
	void *at;

	use(hipExternalMemoryGetMappedBuffer(&at, external, &whole));
}

static void external_destroy(void)
{
	(void)!hipDestroyExternalMemory(external);
	for (unsigned i = 0; i < 2; i++)
		(void)!hipDestroyExternalMemory(external_make());
}

static void external_finish(void)
{
	(void)!hipDestroyExternalMemory(external);
}

/* The handle of the object that comes next, in the place of one that is destroyed: its generation is one more (drv/handle.h). */
#define COMING(destroyed) ((void *)((uintptr_t)(destroyed) + (1ull << 26)))
static void *coming;

static void external_foresee(void)
{
	external = external_make();
	coming = COMING(external);
	CHECK_EQ(hipDestroyExternalMemory(external), hipSuccess);
}

static void external_import(void)
{
	external = external_make();
	CHECK(external != NULL);
}

static void external_use_early(void)
{
	const hipExternalMemoryBufferDesc whole = {.size = SIZE_B};
	void *at = NULL;

	if (!hipExternalMemoryGetMappedBuffer(&at, coming, &whole)) {
		CHECK(at != NULL);
		CHECK_EQ(hipFree(at), hipSuccess);
	}
	(void)!hipDestroyExternalMemory(coming);
}

static hipExternalSemaphore_t semaphore_make(void)
{
	hipExternalSemaphoreHandleDesc desc = {.type = hipExternalSemaphoreHandleTypeTimelineSemaphoreFd};
	hipExternalSemaphore_t s = NULL;

	CHECK_EQ(drmSyncobjHandleToFD(other.card, other.timeline, &desc.handle.fd), 0);
	if (hipImportExternalSemaphore(&s, &desc))
		close(desc.handle.fd);
	return s;
}

static void semaphore_create(void)
{
	stream_make();
	semaphore = semaphore_make();
	CHECK(semaphore != NULL);
}

static void semaphore_wait(void)
{
	const hipExternalSemaphoreWaitParams wait = {.params.fence.value = 50};

	use(hipWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream));
}

static void semaphore_destroy(void)
{
	(void)!hipDestroyExternalSemaphore(semaphore);
	for (unsigned i = 0; i < OTHERS; i++)
		(void)!hipDestroyExternalSemaphore(semaphore_make());
}

static void semaphore_finish(void)
{
	(void)!hipDestroyExternalSemaphore(semaphore);
	CHECK_EQ(hipStreamSynchronize(stream), hipSuccess);
	stream_end();
}

/* --- virtual memory --- */

static hipMemGenericAllocationHandle_t handle;
static void *range;
static const hipMemAllocationProp prop = {.type = hipMemAllocationTypePinned,
					  .location = {.type = hipMemLocationTypeDevice}};
static const hipMemAccessDesc may_access = {.location = {.type = hipMemLocationTypeDevice},
					    .flags = hipMemAccessFlagsProtReadWrite};
#define GRANULE_B (2u << 20)

static void range_reserve(void)
{
	CHECK_EQ(hipMemAddressReserve(&range, GRANULE_B, 0, NULL, 0), hipSuccess);
	CHECK_EQ(hipMemCreate(&handle, GRANULE_B, &prop, 0), hipSuccess);
}

static void range_create(void)
{
	range_reserve();
	CHECK_EQ(hipMemMap(range, GRANULE_B, 0, handle, 0), hipSuccess);
}

static void range_map(void)
{
	use(hipMemMap(range, GRANULE_B, 0, handle, 0));
}

static void range_access(void)
{
	use(hipMemSetAccess(range, GRANULE_B, &may_access, 1));
}

static void handle_release(void)
{
	hipMemGenericAllocationHandle_t h;

	(void)!hipMemRelease(handle);
	if (!hipMemCreate(&h, GRANULE_B, &prop, 0))
		(void)!hipMemRelease(h);
}

static void range_unmap(void)
{
	(void)!hipMemUnmap(range, GRANULE_B);
	(void)!hipMemRelease(handle);
	(void)!hipMemAddressFree(range, GRANULE_B);
}

static void range_free(void)
{
	(void)!hipMemAddressFree(range, GRANULE_B);
}

/* --- host memory, arrays, textures --- */

static void host_copy(void)
{
	use(hipMemcpyAsync(memory, host, SIZE_B, hipMemcpyHostToDevice, stream));
}

static void memory_free(void)
{
	void *m;

	(void)!hipFree(memory);
	if (!hipMalloc(&m, SIZE_B))
		(void)!hipFree(m);
}

static void host_finish(void)
{
	(void)!hipHostUnregister(host);
	CHECK_EQ(hipStreamSynchronize(stream), hipSuccess);
	stream_end();
	(void)!hipFree(memory);
	free(host);
}

static hipArray_t array;
static hipTextureObject_t texture;
static const hipChannelFormatDesc texel = {.x = 32, .f = hipChannelFormatKindUnsigned};

static void array_create(void)
{
	CHECK_EQ(hipMallocArray(&array, &texel, 4, 4, 0), hipSuccess);
}

static void array_copy(void)
{
	use(hipMemcpy2DToArray(array, 0, 0, words, 16, 16, 4, hipMemcpyHostToDevice));
}

static void texture_make(void)
{
	const hipResourceDesc resource = {.resType = hipResourceTypeArray, .res.array.array = array};
	const hipTextureDesc desc = {.readMode = hipReadModeElementType};

	texture = NULL;
	use(hipCreateTextureObject(&texture, &resource, &desc, NULL));
	if (!result)
		(void)!hipDestroyTextureObject(texture);
}

static void array_free(void)
{
	hipArray_t a;

	(void)!hipFreeArray(array);
	for (unsigned i = 0; i < 2; i++)
		if (!hipMallocArray(&a, &texel, 4, 4, 0))
			(void)!hipFreeArray(a);
}

static void array_finish(void)
{
	(void)!hipFreeArray(array);
}

/* --- objects that are destroyed before the call that makes them has returned --- */

static void array_foresee(void)
{
	array_create();
	coming = COMING(array);
	CHECK_EQ(hipFreeArray(array), hipSuccess);
}

static void array_free_early(void)
{
	(void)!hipFreeArray(coming);
}

static void pool_foresee(void)
{
	pool_create();
	coming = COMING(pool);
	pool_finish();
}

static void pool_destroy_early(void)
{
	(void)!hipMemPoolDestroy(coming);
}

static void event_foresee(void)
{
	CHECK_EQ(hipEventCreate(&event), hipSuccess);
	coming = COMING(event);
	CHECK_EQ(hipEventDestroy(event), hipSuccess);
}

static void event_make(void)
{
	CHECK_EQ(hipEventCreate(&event), hipSuccess);
}

/* The event is not there yet, or it can be destroyed. */
static void event_destroy_early(void)
{
	(void)!hipEventDestroy(coming);
	CHECK(hipEventQuery(coming) != hipSuccess);
}

static void event_end(void)
{
	(void)!hipEventDestroy(event);
}

static void graph_foresee(void)
{
	CHECK_EQ(hipGraphCreate(&graph, 0), hipSuccess);
	coming = COMING(graph);
	CHECK_EQ(hipGraphDestroy(graph), hipSuccess);
}

static void graph_create(void)
{
	CHECK_EQ(hipGraphCreate(&graph, 0), hipSuccess);
	CHECK(graph == coming);
}

static void graph_destroy_early(void)
{
	hipGraph_t others[OTHERS];

	if (hipGraphDestroy(coming))
		return;
	for (unsigned i = 0; i < OTHERS; i++)
		CHECK_EQ(hipGraphCreate(&others[i], 0), hipSuccess);
	for (unsigned i = 0; i < OTHERS; i++)
		CHECK_EQ(hipGraphDestroy(others[i]), hipSuccess);
}

static void graph_end(void)
{
	(void)!hipGraphDestroy(graph);
}

/* --- rows --- */

static const struct step_row rows[] = {
	{"a launch, hipModuleUnload()", module_create, module_launch, module_unload, module_finish},
	{"hipModuleGetFunction(), hipModuleUnload()", module_create, module_query, module_unload, module_finish},
	{"hipGraphLaunch(), hipGraphExecDestroy()", instance_create, instance_launch, instance_destroy,
	 instance_finish},
	{"hipMallocFromPoolAsync(), hipMemPoolDestroy()", pool_create, pool_malloc, pool_destroy, pool_finish},
	{"hipFreeAsync(), hipFree()", block_create, block_free_async, block_free_beside, block_finish},
	{"hipFree(), hipFree()", block_create, block_free, block_free_beside, block_finish},
	{"hipFreeAsync(), hipDeviceReset()", block_create, block_free_async, device_reset, reset_finish},
	{"hipFree(), hipDeviceReset()", block_create, block_free, device_reset, reset_finish},
	{"hipMallocAsync(), hipDeviceReset()", stream_make, block_malloc_async, device_reset, reset_finish},
	{"hipFreeAsync() beside a full cache, hipDeviceReset()", full_create, block_free_async, device_reset,
	 reset_finish, .stops = STEP_EACH},
	{"hipFreeAsync() of a destroyed pool's last block, hipDeviceReset()", last_create, block_free_async,
	 device_reset, reset_finish, .stops = STEP_EACH},
	{"hipMemPoolDestroy(), hipDeviceReset()", pool_create, pool_use_destroy, device_reset, reset_finish},
	{"hipFreeAsync(), hipMemPoolDestroy()", pool_block_create, block_free_async, pool_destroy_beside,
	 pool_block_finish},
	{"hipEventRecord(), hipEventDestroy()", event_create, event_record, event_destroy, event_finish},
	{"hipEventRecord(), hipStreamDestroy()", event_create, event_record, stream_destroy, event_finish},
	{"hipStreamWaitEvent(), hipEventDestroy()", event_create, event_wait, event_destroy, event_finish},
	{"hipEventSynchronize(), hipEventDestroy()", event_create, event_sync, event_destroy, event_finish},
	{"hipExternalMemoryGetMappedBuffer(), hipDestroyExternalMemory()", external_create, external_map,
	 external_destroy, external_finish},
	{"hipImportExternalMemory(), hipDestroyExternalMemory()", external_foresee, external_import,
	 external_use_early, external_finish},
	{"hipWaitExternalSemaphoresAsync(), hipDestroyExternalSemaphore()", semaphore_create, semaphore_wait,
	 semaphore_destroy, semaphore_finish},
	{"hipMemMap(), hipMemRelease()", range_reserve, range_map, handle_release, range_unmap},
	{"hipMemMap(), hipMemAddressFree()", range_reserve, range_map, range_free, range_unmap},
	{"hipMemSetAccess(), hipMemUnmap()", range_create, range_access, range_unmap, range_unmap},
	{"hipMemcpyAsync(), hipFree()", host_create, host_copy, memory_free, host_finish},
	{"hipMemcpy2DToArray(), hipFreeArray()", array_create, array_copy, array_free, array_finish},
	{"hipCreateTextureObject(), hipFreeArray()", array_create, texture_make, array_free, array_finish},
	{"hipMallocArray(), hipFreeArray()", array_foresee, array_create, array_free_early, array_finish},
	{"hipMemPoolCreate(), hipMemPoolDestroy()", pool_foresee, pool_create, pool_destroy_early, pool_finish},
	{"hipEventCreate(), hipEventDestroy()", event_foresee, event_make, event_destroy_early, event_end,
	 .stops = STEP_EACH},
	{"hipGraphCreate(), hipGraphDestroy()", graph_foresee, graph_create, graph_destroy_early, graph_end},
};

int main(int argc, char **argv)
{
	int status;

	if (!inside_start(&status))
		return status;
	other_open();
	step_rows_run(rows, sizeof(rows) / sizeof(rows[0]), inside_row(argc, argv), false);
	other_close();
	return check_done("a thread inside a call");
}
