/* What is refused leaves its object as it was: an event still stands for the record before, which the GPU has not reached; an
 * instance of a graph can be launched, access to a peer be enabled, and a pool is as accessible as before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hip/hip_runtime_api.h>
#include <hsa/hsa_ext_amd.h>

#include "tests/check.h"
#include "tests/inject.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define RECORDS_MAX 2000 /* more than there are timestamps in a chunk of the library's */

static hipStream_t stream;
static uint64_t *word; /* what the stream waits for */

#define HIP(call) CHECK_EQ(call, hipSuccess)

static void stream_stop(void)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
	HIP(hipStreamWaitValue64(stream, word, 1, hipStreamWaitValueEq, UINT64_MAX));
}

static void stream_continue(void)
{
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	HIP(hipStreamSynchronize(stream));
}

/* Records until one is refused, because its allocation fails. */
static bool record_refused(hipEvent_t event)
{
	for (unsigned i = 0; i < RECORDS_MAX; i++) {
		hipError_t r;

		inject_allocation(1);
		r = hipEventRecord(event, stream);
		inject_allocation(0);
		if (r)
			return CHECK_EQ(r, hipErrorOutOfMemory);
	}
	return false;
}

static void a_timed_event_keeps_its_time(void)
{
	hipEvent_t begin, end;
	float ms = -1;

	HIP(hipEventCreate(&begin));
	HIP(hipEventCreate(&end));
	HIP(hipEventRecord(begin, stream));
	stream_stop();
	HIP(hipEventRecord(end, stream));
	CHECK(record_refused(end));
	CHECK_EQ(hipEventQuery(end), hipErrorNotReady);
	CHECK_EQ(hipEventElapsedTime(&ms, begin, end), hipErrorNotReady);
	stream_continue();
	HIP(hipEventQuery(end));
	HIP(hipEventElapsedTime(&ms, begin, end));
	CHECK(ms >= 0);
	HIP(hipEventRecord(end, stream));
	HIP(hipEventSynchronize(end));
	HIP(hipEventElapsedTime(&ms, begin, end));
	HIP(hipEventDestroy(begin));
	HIP(hipEventDestroy(end));
}

static void an_event_without_a_record_has_no_time(void)
{
	hipEvent_t first, *event = malloc(RECORDS_MAX * sizeof(hipEvent_t));
	hipError_t r = hipSuccess;
	unsigned n = 0;
	float ms;

	HIP(hipEventCreate(&first));
	HIP(hipEventRecord(first, stream));
	stream_stop();
	while (!r && n < RECORDS_MAX) {
		HIP(hipEventCreate(&event[n]));
		inject_allocation(1);
		r = hipEventRecord(event[n++], stream);
		inject_allocation(0);
	}
	CHECK_EQ(r, hipErrorOutOfMemory);
	CHECK_EQ(hipEventElapsedTime(&ms, first, event[n - 1]), hipErrorInvalidHandle);
	stream_continue();
	CHECK_EQ(hipEventElapsedTime(&ms, first, event[n - 1]), hipErrorInvalidHandle);
	while (n)
		HIP(hipEventDestroy(event[--n]));
	HIP(hipEventDestroy(first));
	free(event);
}

static void an_interprocess_event_is_not_reached(void)
{
	hipStream_t other;
	hipEvent_t event;

	HIP(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
	HIP(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
	HIP(hipEventRecord(event, stream));
	HIP(hipEventSynchronize(event));
	stream_stop();
	HIP(hipEventRecord(event, stream));
	for (unsigned i = 0; i < 3; i++)
		CHECK(record_refused(event));
	CHECK_EQ(hipEventQuery(event), hipErrorNotReady);
	HIP(hipStreamWaitEvent(other, event, 0));
	CHECK_EQ(hipStreamQuery(other), hipErrorNotReady);
	stream_continue();
	HIP(hipEventSynchronize(event));
	HIP(hipStreamSynchronize(other));
	for (unsigned i = 0; i < 40; i++) { /* every slot is used again */
		if (i % 3 == 0)
			CHECK(record_refused(event));
		HIP(hipEventRecord(event, stream));
	}
	HIP(hipEventSynchronize(event));
	HIP(hipEventDestroy(event));
	HIP(hipStreamDestroy(other));
}

static void a_captured_event_stays_in_its_capture(void)
{
	hipStream_t other;
	hipGraph_t graph;
	hipEvent_t event;

	HIP(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
	HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
	HIP(hipEventRecord(event, stream));
	CHECK(record_refused(event));
	HIP(hipStreamWaitEvent(other, event, 0));
	HIP(hipEventRecord(event, other));
	HIP(hipStreamWaitEvent(stream, event, 0));
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphDestroy(graph));
	HIP(hipEventDestroy(event));
	HIP(hipStreamDestroy(other));
}

/* More nodes than the stream's list has room for. */
#define NODES 64

static void a_captured_stream_keeps_its_dependencies(void)
{
	hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
	hipGraphNode_t node[NODES];
	const hipGraphNode_t *now = NULL;
	unsigned refused = 0;
	size_t count = 0;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	for (unsigned i = 0; i < NODES; i++)
		HIP(hipGraphAddEmptyNode(&node[i], graph, NULL, 0));
	HIP(hipStreamBeginCaptureToGraph(stream, graph, node, NULL, 1, hipStreamCaptureModeRelaxed));
	for (long n = 1; n < 10; n++) {
		hipError_t r;

		inject_allocation(n);
		r = hipStreamUpdateCaptureDependencies(stream, node + 1, NODES - 1,
						       hipStreamSetCaptureDependencies);
		inject_allocation(0);
		if (!r)
			break;
		CHECK_EQ(r, hipErrorOutOfMemory);
		refused++;
		HIP(hipStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &now, &count));
		if (CHECK_EQ(count, 1))
			CHECK(now[0] == node[0]);
	}
	CHECK(refused > 1);
	HIP(hipStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &now, &count));
	CHECK_EQ(count, NODES - 1);
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphDestroy(graph));
}

static void a_captured_operation_that_is_refused_adds_nothing(void)
{
	hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
	unsigned refused = 0;
	hipGraph_t graph;
	hipError_t r;

	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
	for (long n = 1; n < 20; n++) {
		size_t count = 1;

		inject_allocation(n);
		r = hipMemsetD32Async(word, 1, 2, stream);
		inject_allocation(0);
		if (!r)
			break;
		CHECK_EQ(r, hipErrorOutOfMemory);
		refused++;
		HIP(hipStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, NULL, &count));
		CHECK_EQ(status, hipStreamCaptureStatusActive);
		CHECK_EQ(count, 0);
	}
	CHECK_EQ(r, hipSuccess);
	CHECK(refused > 1);
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphDestroy(graph));
}

static unsigned char read_back[4096];

/* Memory that the instance allocates, fills, reads and frees. A copy to pageable memory is submitted by an allocation. */
static hipGraphExec_t instance_make(void)
{
	hipMemAllocNodeParams take = {.bytesize = 4096,
				      .poolProps = {.allocType = hipMemAllocationTypePinned,
						    .location = {.type = hipMemLocationTypeDevice}}};
	hipMemsetParams fill = {.elementSize = 1, .width = 4096, .height = 1, .value = 3};
	hipGraphNode_t node[4];
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphAddMemAllocNode(&node[0], graph, NULL, 0, &take));
	fill.dst = take.dptr;
	HIP(hipGraphAddMemsetNode(&node[1], graph, &node[0], 1, &fill));
	HIP(hipGraphAddMemcpyNode1D(&node[2], graph, &node[1], 1, read_back, take.dptr, sizeof(read_back),
				    hipMemcpyDeviceToHost));
	HIP(hipGraphAddMemFreeNode(&node[3], graph, &node[2], 1, take.dptr));
	HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP(hipGraphDestroy(graph));
	return exec;
}

static void an_instance_with_memory_is_launched_again(void)
{
	hipGraphExec_t exec = instance_make();

	for (unsigned i = 0; i < 3; i++) {
		inject_allocation(1);
		CHECK_EQ(hipGraphLaunch(exec, stream), hipErrorOutOfMemory);
		inject_allocation(0);
		memset(read_back, 0, sizeof(read_back));
		HIP(hipGraphLaunch(exec, stream));
		HIP(hipStreamSynchronize(stream));
		CHECK(read_back[0] == 3 && read_back[4095] == 3);
	}
	HIP(hipGraphExecDestroy(exec));
}

/* Taking access away needs nothing that could be refused. */
static void a_peer_is_disabled_whatever_fails(void)
{
	for (long n = 1; n < 40; n++) {
		inject_allocation(n % 2 ? n / 2 + 1 : 0);
		vgpu_inject_ioctl(n % 2 ? 0 : (unsigned long)n / 2, ENOMEM);
		HIP(hipDeviceDisablePeerAccess(0));
		inject_allocation(0);
		vgpu_inject_ioctl(0, 0);
		HIP(hipDeviceEnablePeerAccess(0, 0));
	}
	HIP(hipDeviceDisablePeerAccess(0));
}

/* The other GPU reads memory that was allocated before. */
static void a_peer_is_enabled_again(void)
{
	uint32_t *mine, *others, got = 0;
	unsigned refused = 0;
	hipError_t r;
	int can = 0;

	HIP(hipDeviceCanAccessPeer(&can, 1, 0));
	CHECK(can);
	HIP(hipMalloc((void **)&mine, 4096));
	HIP(hipMemset(mine, 7, 4096));
	HIP(hipDeviceSynchronize());
	HIP(hipSetDevice(1));
	HIP(hipMalloc((void **)&others, 4096));
	for (long n = 1; n < 100; n++) {
		inject_allocation(n);
		r = hipDeviceEnablePeerAccess(0, 0);
		inject_allocation(0);
		if (r != hipErrorOutOfMemory)
			break;
		refused++;
	}
	CHECK_EQ(r, hipSuccess);
	CHECK(refused);
	HIP(hipMemcpy(others, mine, 4, hipMemcpyDeviceToDevice));
	HIP(hipMemcpy(&got, others, 4, hipMemcpyDeviceToHost));
	CHECK_EQ(got, 0x07070707);
	a_peer_is_disabled_whatever_fails();
	HIP(hipFree(others));
	HIP(hipSetDevice(0));
	HIP(hipFree(mine));
}

#define PARTS 3

static hsa_status_t gpu_take(hsa_agent_t agent, void *last)
{
	hsa_device_type_t type;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type == HSA_DEVICE_TYPE_GPU)
		*(hsa_agent_t *)last = agent;
	return HSA_STATUS_SUCCESS;
}

/* The other GPU gets access to all memory of a pool, or to none. */
static void access_to_a_pool_is_given_as_a_whole(void)
{
	const hipMemPoolProps like = {.allocType = hipMemAllocationTypePinned,
				      .location = {.type = hipMemLocationTypeDevice}};
	const hipMemAccessDesc access = {.location = {hipMemLocationTypeDevice, 1},
					 .flags = hipMemAccessFlagsProtReadWrite};
	hsa_access_permission_t has = HSA_ACCESS_PERMISSION_NONE;
	hipError_t r = hipErrorOutOfMemory;
	unsigned refused = 0, wrong = 0;
	void *part[PARTS];
	hsa_agent_t other;
	hipMemPool_t pool;

	hsa_iterate_agents(gpu_take, &other);
	HIP(hipMemPoolCreate(&pool, &like));
	for (unsigned i = 0; i < PARTS; i++)
		HIP(hipMallocFromPoolAsync(&part[i], 64 << 20, pool, stream));
	for (long n = 1; n < 100 && r; n++) {
		inject_allocation(n);
		r = hipMemPoolSetAccess(pool, &access, 1);
		inject_allocation(0);
		refused += r == hipErrorOutOfMemory;
		for (unsigned i = 0; r && i < PARTS; i++)
			wrong += hsa_amd_vmem_get_access(part[i], &has, other) || has;
	}
	CHECK_EQ(r, hipSuccess);
	CHECK(refused);
	CHECK_EQ(wrong, 0);
	for (unsigned i = 0; i < PARTS; i++)
		HIP(hipFreeAsync(part[i], stream));
	HIP(hipMemPoolDestroy(pool));
}

int main(void)
{
	setenv("TUFF_PEER_ACCESS", "1", 1);
	if (!CHECK_EQ(vgpu_start("gfx908:hive=1,gfx908:hive=1"), 0))
		return check_done("refused records and launches");
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	HIP(hipExtMallocWithFlags((void **)&word, sizeof(*word), hipMallocSignalMemory));
	a_timed_event_keeps_its_time();
	an_event_without_a_record_has_no_time();
	an_interprocess_event_is_not_reached();
	a_captured_event_stays_in_its_capture();
	a_captured_stream_keeps_its_dependencies();
	a_captured_operation_that_is_refused_adds_nothing();
	an_instance_with_memory_is_launched_again();
	a_peer_is_enabled_again();
	access_to_a_pool_is_given_as_a_whole();
	HIP(hipFree(word));
	HIP(hipStreamDestroy(stream));
	return check_done("refused records and launches");
}
