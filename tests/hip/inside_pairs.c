/* A thread that is stopped at the instructions of a call in turn (tests/step.h), while another thread makes the call that ends the
 * first one's object: pairs beside those of inside.c. */
#include "tests/hip/inside.h"

/* --- events --- */

static hipEvent_t second;

static void event_create(void)
{
	stream_make();
	CHECK_EQ(hipEventCreate(&event), hipSuccess);
	CHECK_EQ(hipEventCreate(&second), hipSuccess);
	CHECK_EQ(hipEventRecord(event, stream), hipSuccess);
	CHECK_EQ(hipEventRecord(second, stream), hipSuccess);
	CHECK_EQ(hipStreamSynchronize(stream), hipSuccess);
}

static void event_query(void)
{
	use(hipEventQuery(event));
}

static void event_time(void)
{
	float ms;

	use(hipEventElapsedTime(&ms, event, second));
}

static void event_end(void)
{
	use(hipEventDestroy(event));
}

static void event_finish(void)
{
	(void)!hipEventDestroy(event);
	(void)!hipEventDestroy(second);
	stream_end();
}

/* --- host functions --- */

static void nothing_run(void *unused)
{
	(void)unused;
}

static void nothing_call(hipStream_t s, hipError_t r, void *unused)
{
	(void)s, (void)r, (void)unused;
}

static void host_function(void)
{
	use(hipLaunchHostFunc(stream, nothing_run, NULL));
}

static void stream_callback(void)
{
	use(hipStreamAddCallback(stream, nothing_call, NULL, 0));
}

/* --- captures --- */

static void capture_begin(void)
{
	use(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
}

/* No capture is left that forbids a call to other threads, and that no thread can end. */
static void capture_finish(void)
{
	stream_end();
	CHECK_EQ(hipMalloc(&memory, 4096), hipSuccess);
	CHECK_EQ(hipFree(memory), hipSuccess);
}

/* --- graphs --- */

static hipGraphNode_t node;
static hipMemsetParams fill = {.elementSize = 4, .width = 16, .height = 1, .value = 3};

static void graph_create(void)
{
	memory_make();
	fill.dst = memory;
	CHECK_EQ(hipGraphCreate(&graph, 0), hipSuccess);
	CHECK_EQ(hipGraphAddMemsetNode(&node, graph, NULL, 0, &fill), hipSuccess);
	CHECK_EQ(hipGraphInstantiate(&instance, graph, NULL, NULL, 0), hipSuccess);
}

static void instance_update(void)
{
	hipGraphExecUpdateResult how;
	hipGraphNode_t bad;

	use(hipGraphExecUpdate(instance, graph, &bad, &how));
}

static void instance_set(void)
{
	use(hipGraphExecMemsetNodeSetParams(instance, node, &fill));
}

static void graph_print(void)
{
	use(hipGraphDebugDotPrint(graph, "/dev/null", 0));
}

static void graph_instantiate(void)
{
	hipGraphExec_t e;

	use(hipGraphInstantiate(&e, graph, NULL, NULL, 0));
	if (!result)
		(void)!hipGraphExecDestroy(e);
}

static void graph_destroy(void)
{
	hipGraph_t g;

	(void)!hipGraphDestroy(graph);
	for (unsigned i = 0; i < OTHERS; i++)
		if (!hipGraphCreate(&g, 0))
			(void)!hipGraphDestroy(g);
}

static void node_destroy(void)
{
	(void)!hipGraphDestroyNode(node);
}

static void graph_finish(void)
{
	(void)!hipGraphExecDestroy(instance);
	(void)!hipGraphDestroy(graph);
	memory_end();
}

/* --- memory of graphs --- */

static void alloc_create(void)
{
	stream_make();
	CHECK_EQ(hipGraphCreate(&graph, 0), hipSuccess);
}

static void *of_graph;

static void alloc_add(void)
{
	hipMemAllocNodeParams take = {.bytesize = 4096,
				      .poolProps = {.allocType = hipMemAllocationTypePinned,
						    .location = {.type = hipMemLocationTypeDevice}}};

	use(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &take));
	of_graph = take.dptr;
}

/* What an instance gives is there, or the instance is refused as one from before the reset. */
static void alloc_finish(void)
{
	hipGraphExec_t e;

	stream_make();
	if (!result && !hipGraphInstantiate(&e, graph, NULL, NULL, 0)) {
		if (!hipGraphLaunch(e, stream))
			CHECK_EQ(hipMemset(of_graph, 1, 4096), hipSuccess);
		CHECK_EQ(hipGraphExecDestroy(e), hipSuccess);
	}
	(void)!hipGraphDestroy(graph);
	(void)!hipFree(of_graph);
	stream_end();
}

/* --- user objects --- */

static hipUserObject_t object;
static _Atomic unsigned ended;

static void object_end(void *unused)
{
	(void)unused;
	ended++;
}

static void object_create(void)
{
	graph_create();
	ended = 0;
	CHECK_EQ(hipUserObjectCreate(&object, &ended, object_end, 1, hipUserObjectNoDestructorSync), hipSuccess);
}

static void object_retain(void)
{
	use(hipUserObjectRetain(object, 1));
	if (!result)
		(void)!hipUserObjectRelease(object, 1);
}

static void object_hold(void)
{
	use(hipGraphRetainUserObject(graph, object, 1, 0));
}

static void object_use_release(void)
{
	use(hipUserObjectRelease(object, 1));
}

static void object_release(void)
{
	hipUserObject_t o;

	(void)!hipUserObjectRelease(object, 1);
	for (unsigned i = 0; i < OTHERS; i++)
		if (!hipUserObjectCreate(&o, &o, nothing_run, 1, hipUserObjectNoDestructorSync))
			(void)!hipUserObjectRelease(o, 1);
}

static void object_finish(void)
{
	(void)!hipUserObjectRelease(object, 1);
	graph_finish();
	CHECK_EQ(ended, 1);
}

/* --- virtual memory --- */

static hipMemGenericAllocationHandle_t handle;
static void *range;
static const hipMemAllocationProp prop = {.type = hipMemAllocationTypePinned,
					  .location = {.type = hipMemLocationTypeDevice}};
#define GRANULE_B (2u << 20)

static void range_create(void)
{
	CHECK_EQ(hipMemAddressReserve(&range, GRANULE_B, 0, NULL, 0), hipSuccess);
	CHECK_EQ(hipMemCreate(&handle, GRANULE_B, &prop, 0), hipSuccess);
	CHECK_EQ(hipMemMap(range, GRANULE_B, 0, handle, 0), hipSuccess);
}

static void range_unmap(void)
{
	use(hipMemUnmap(range, GRANULE_B));
}

static void handle_end(void)
{
	use(hipMemRelease(handle));
}

static void handle_release(void)
{
	(void)!hipMemRelease(handle);
}

static void range_unmap_beside(void)
{
	(void)!hipMemUnmap(range, GRANULE_B);
}

static void range_finish(void)
{
	(void)!hipMemUnmap(range, GRANULE_B);
	(void)!hipMemRelease(handle);
	CHECK_EQ(hipMemAddressFree(range, GRANULE_B), hipSuccess);
}

/* --- host memory --- */

static void host_query(void)
{
	void *at;

	use(hipHostGetDevicePointer(&at, host, 0));
}

static void host_end(void)
{
	use(hipHostUnregister(host));
}

static void host_unregister(void)
{
	(void)!hipHostUnregister(host);
}

static void host_finish(void)
{
	(void)!hipHostUnregister(host);
	memory_end();
	free(host);
}

/* --- arrays and textures --- */

static hipArray_t array;
static hipTextureObject_t texture;
static const hipChannelFormatDesc texel = {.x = 32, .f = hipChannelFormatKindUnsigned};

static void texture_create(void)
{
	const hipTextureDesc desc = {.readMode = hipReadModeElementType};
	hipResourceDesc resource = {.resType = hipResourceTypeArray};

	CHECK_EQ(hipMallocArray(&array, &texel, 4, 4, 0), hipSuccess);
	resource.res.array.array = array;
	CHECK_EQ(hipCreateTextureObject(&texture, &resource, &desc, NULL), hipSuccess);
}

static void texture_query(void)
{
	hipResourceDesc resource;

	use(hipGetTextureObjectResourceDesc(&resource, texture));
}

static void texture_end(void)
{
	use(hipDestroyTextureObject(texture));
}

static void array_end(void)
{
	use(hipFreeArray(array));
}

static void texture_destroy(void)
{
	(void)!hipDestroyTextureObject(texture);
}

static void array_free(void)
{
	(void)!hipFreeArray(array);
}

static void texture_finish(void)
{
	(void)!hipDestroyTextureObject(texture);
	(void)!hipFreeArray(array);
}

/* --- hipDeviceReset() --- */

static void context_reset(void)
{
	(void)!hipDevicePrimaryCtxReset(0);
}

/* What a use made goes with another reset, and the device works. */
static void reset_finish(void)
{
	CHECK_EQ(hipDeviceReset(), hipSuccess);
	memory_make();
	CHECK_EQ(hipMemsetAsync(memory, 1, SIZE_B, stream), hipSuccess);
	memory_end();
}

static void array_allocate(void)
{
	const hipChannelFormatDesc word = {.x = 32, .f = hipChannelFormatKindUnsigned};

	array = NULL;
	use(hipMallocArray(&array, &word, 64, 64, 0));
}

/* An array that the call gave has memory of its own: what is allocated behind it stays as it was. */
static void array_reset_finish(void)
{
	static const uint32_t rows[64][64];
	uint32_t *other[OTHERS], got;

	for (unsigned i = 0; i < OTHERS; i++) {
		CHECK_EQ(hipMalloc((void **)&other[i], sizeof(rows)), hipSuccess);
		CHECK_EQ(hipMemset(other[i], 1, sizeof(rows)), hipSuccess);
	}
	if (array)
		is_defined(hipMemcpy2DToArray(array, 0, 0, rows, sizeof(rows[0]), sizeof(rows[0]), 64,
					      hipMemcpyHostToDevice));
	for (unsigned i = 0; i < OTHERS; i++) {
		CHECK_EQ(hipMemcpy(&got, other[i], sizeof(got), hipMemcpyDeviceToHost), hipSuccess);
		CHECK_EQ(got, 0x01010101u);
		CHECK_EQ(hipFree(other[i]), hipSuccess);
	}
	(void)!hipFreeArray(array);
	stream_end();
	reset_finish();
}

static void host_reset_finish(void)
{
	(void)!hipHostUnregister(host);
	reset_finish();
	free(host);
}

static void memory_fill(void)
{
	use(hipMemsetAsync(memory, 1, SIZE_B, stream));
}

static void memory_allocate(void)
{
	void *at;

	use(hipMalloc(&at, SIZE_B));
}

static void memory_free(void)
{
	use(hipFree(memory));
}

static void stream_create(void)
{
	hipStream_t s;

	use(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
}

static void stream_sync(void)
{
	use(hipStreamSynchronize(stream));
}

static const struct step_row rows[] = {
	{"hipEventQuery(), hipEventDestroy()", event_create, event_query, event_destroy, event_finish},
	{"hipEventElapsedTime(), hipEventDestroy()", event_create, event_time, event_destroy, event_finish},
	{"hipEventDestroy(), hipEventDestroy()", event_create, event_end, event_destroy, event_finish},
	{"hipLaunchHostFunc(), hipStreamDestroy()", stream_make, host_function, stream_destroy, stream_end},
	{"hipStreamAddCallback(), hipStreamDestroy()", stream_make, stream_callback, stream_destroy, stream_end},
	{"hipStreamBeginCapture(), hipStreamDestroy()", stream_make, capture_begin, stream_destroy, capture_finish},
	{"hipGraphExecUpdate(), hipGraphExecDestroy()", graph_create, instance_update, instance_destroy,
	 graph_finish},
	{"hipGraphExecUpdate(), hipGraphDestroy()", graph_create, instance_update, graph_destroy, graph_finish},
	{"hipGraphExecMemsetNodeSetParams(), hipGraphExecDestroy()", graph_create, instance_set, instance_destroy,
	 graph_finish},
	{"hipGraphExecMemsetNodeSetParams(), hipGraphDestroyNode()", graph_create, instance_set, node_destroy,
	 graph_finish},
	{"hipGraphDebugDotPrint(), hipGraphDestroy()", graph_create, graph_print, graph_destroy, graph_finish},
	{"hipGraphDebugDotPrint(), hipGraphDestroyNode()", graph_create, graph_print, node_destroy, graph_finish},
	{"hipGraphInstantiate(), hipGraphDestroy()", graph_create, graph_instantiate, graph_destroy, graph_finish},
	{"hipUserObjectRetain(), hipUserObjectRelease()", object_create, object_retain, object_release,
	 object_finish},
	{"hipGraphRetainUserObject(), hipUserObjectRelease()", object_create, object_hold, object_release,
	 object_finish},
	{"hipUserObjectRelease(), hipUserObjectRelease()", object_create, object_use_release, object_release,
	 object_finish},
	{"hipMemUnmap(), hipMemRelease()", range_create, range_unmap, handle_release, range_finish},
	{"hipMemUnmap(), hipMemUnmap()", range_create, range_unmap, range_unmap_beside, range_finish},
	{"hipMemRelease(), hipMemUnmap()", range_create, handle_end, range_unmap_beside, range_finish},
	{"hipHostGetDevicePointer(), hipHostUnregister()", host_create, host_query, host_unregister, host_finish},
	{"hipHostUnregister(), hipHostUnregister()", host_create, host_end, host_unregister, host_finish},
	{"hipGetTextureObjectResourceDesc(), hipDestroyTextureObject()", texture_create, texture_query,
	 texture_destroy, texture_finish},
	{"hipDestroyTextureObject(), hipDestroyTextureObject()", texture_create, texture_end, texture_destroy,
	 texture_finish},
	{"hipDestroyTextureObject(), hipFreeArray()", texture_create, texture_end, array_free, texture_finish},
	{"hipFreeArray(), hipDestroyTextureObject()", texture_create, array_end, texture_destroy, texture_finish},
	{"hipMemsetAsync(), hipDeviceReset()", memory_make, memory_fill, device_reset, reset_finish},
	{"hipMemsetAsync(), hipDevicePrimaryCtxReset()", memory_make, memory_fill, context_reset, reset_finish},
	{"hipMalloc(), hipDeviceReset()", memory_make, memory_allocate, device_reset, reset_finish},
	{"hipMallocArray(), hipDeviceReset()", stream_make, array_allocate, device_reset, array_reset_finish},
	{"hipFree(), hipDeviceReset()", memory_make, memory_free, device_reset, reset_finish},
	{"hipStreamCreateWithFlags(), hipDeviceReset()", memory_make, stream_create, device_reset, reset_finish},
	{"hipStreamSynchronize(), hipDeviceReset()", memory_make, stream_sync, device_reset, reset_finish},
	{"hipGraphLaunch(), hipDeviceReset()", graph_create, instance_launch, device_reset, reset_finish},
	{"hipGraphAddMemAllocNode(), hipDeviceReset()", alloc_create, alloc_add, device_reset, alloc_finish},
	{"hipEventRecord(), hipDeviceReset()", event_create, event_record, device_reset, reset_finish},
	{"hipLaunchHostFunc(), hipDeviceReset()", stream_make, host_function, device_reset, reset_finish},
	{"hipMemUnmap(), hipDeviceReset()", range_create, range_unmap, device_reset, reset_finish},
	{"hipHostUnregister(), hipDeviceReset()", host_create, host_end, device_reset, host_reset_finish},
	{"hipDestroyTextureObject(), hipDeviceReset()", texture_create, texture_end, device_reset, reset_finish},
	{"hipGetTextureObjectResourceDesc(), hipDeviceReset()", texture_create, texture_query, device_reset,
	 reset_finish},
};

int main(int argc, char **argv)
{
	int status;

	if (!inside_start(&status))
		return status;
	step_rows_run(rows, sizeof(rows) / sizeof(rows[0]), inside_row(argc, argv), false);
	return check_done("two threads with one object");
}
