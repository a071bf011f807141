/* Memory and semaphores of another driver, here libdrm itself on the same card, as Vulkan programs share them. */
#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "tests/clients/hip/hip.h"

#define SIZE_B (256u << 10)
#define WORDS  (SIZE_B / 4)

__global__ void add(unsigned *at, unsigned value)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

__global__ void spin(unsigned long long ticks)
{
	unsigned long long begin = wall_clock64();

	while (wall_clock64() - begin < ticks)
		__builtin_amdgcn_s_sleep(1);
}

static int card = -1;

/* --- memory ----------------------------------------------------------------------------------- */

/* The other driver's buffer. */
struct shared {
	amdgpu_device_handle device;
	amdgpu_bo_handle bo;
	unsigned *map;

	shared()
	{
		uint32_t major, minor;
		amdgpu_bo_alloc_request request = {};

		CHECK_EQ(amdgpu_device_initialize(card, &major, &minor, &device), 0);
		request.alloc_size = SIZE_B;
		request.phys_alignment = 4096;
		request.preferred_heap = AMDGPU_GEM_DOMAIN_GTT;
		CHECK_EQ(amdgpu_bo_alloc(device, &request, &bo), 0);
		CHECK_EQ(amdgpu_bo_cpu_map(bo, (void **)&map), 0);
	}
	~shared()
	{
		amdgpu_bo_cpu_unmap(bo);
		amdgpu_bo_free(bo);
		amdgpu_device_deinitialize(device);
	}
	int fd() const
	{
		uint32_t fd = 0;

		CHECK_EQ(amdgpu_bo_export(bo, amdgpu_bo_handle_type_dma_buf_fd, &fd), 0);
		return (int)fd;
	}
};

static hipExternalMemoryHandleDesc memory_desc(int fd, size_t size_B)
{
	hipExternalMemoryHandleDesc desc = {};

	desc.type = hipExternalMemoryHandleTypeOpaqueFd;
	desc.handle.fd = fd;
	desc.size = size_B;
	return desc;
}

static hipExternalMemoryBufferDesc buffer_desc(size_t offset_B, size_t size_B)
{
	hipExternalMemoryBufferDesc desc = {};

	desc.offset = offset_B;
	desc.size = size_B;
	return desc;
}

static void memory()
{
	shared other;
	int fd = other.fd();
	hipExternalMemoryHandleDesc desc = memory_desc(fd, SIZE_B);
	hipExternalMemoryBufferDesc whole = buffer_desc(0, SIZE_B), half = buffer_desc(SIZE_B / 2, SIZE_B / 2);
	hipExternalMemory_t external;
	hipPointerAttribute_t attributes;
	unsigned *all, *second;
	std::vector<unsigned> values(WORDS);

	for (unsigned i = 0; i < WORDS; i++)
		other.map[i] = i;
	HIP(hipImportExternalMemory(&external, &desc));
	CHECK(fcntl(fd, F_GETFD) < 0); /* the library's, and not needed any more */
	HIP(hipExternalMemoryGetMappedBuffer((void **)&all, external, &whole));
	HIP(hipExternalMemoryGetMappedBuffer((void **)&second, external, &half));
	CHECK(second == all + WORDS / 2);
	add<<<WORDS / 256, 256>>>(all, 1);
	add<<<WORDS / 512, 256>>>(second, 10);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	CHECK(other.map[7] == 8 && other.map[WORDS - 1] == WORDS + 10);
	/* Copies know it, too. */
	HIP(hipMemcpy(values.data(), all, SIZE_B, hipMemcpyDeviceToHost));
	CHECK(!memcmp(values.data(), other.map, SIZE_B));
	HIP(hipMemset(second, 0, SIZE_B / 2));
	HIP(hipDeviceSynchronize());
	CHECK(other.map[WORDS / 2 - 1] == WORDS / 2 && !other.map[WORDS / 2] && !other.map[WORDS - 1]);
	HIP(hipPointerGetAttributes(&attributes, second));
	CHECK(attributes.type == hipMemoryTypeDevice);
	/* The buffers are there until they are freed. */
	HIP(hipFree(all));
	HIP(hipDestroyExternalMemory(external));
	add<<<WORDS / 512, 256>>>(second, 3);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	CHECK_EQ(other.map[WORDS - 1], 3);
	HIP(hipFree(second));
	CHECK_EQ(hipFree(second), hipErrorInvalidValue);
	CHECK(hipPointerGetAttributes(&attributes, second) != hipSuccess || attributes.type != hipMemoryTypeDevice);
}

static void bad_memory()
{
	shared other;
	int fd = other.fd();
	hipExternalMemoryHandleDesc good = memory_desc(fd, SIZE_B), desc;
	hipExternalMemoryBufferDesc beyond = buffer_desc(4096, SIZE_B), far = buffer_desc(~0ull - 10, 4096),
				    empty = buffer_desc(0, 0), flags = buffer_desc(0, 4096);
	hipExternalMemory_t external;
	void *at;

	CHECK_EQ(hipImportExternalMemory(nullptr, &good), hipErrorInvalidValue);
	CHECK_EQ(hipImportExternalMemory(&external, nullptr), hipErrorInvalidValue);
	desc = memory_desc(fd, 0);
	CHECK_EQ(hipImportExternalMemory(&external, &desc), hipErrorInvalidValue);
	desc = memory_desc(fd, 16ull << 20);
	CHECK_EQ(hipImportExternalMemory(&external, &desc), hipErrorInvalidValue);
	desc = memory_desc(card, SIZE_B);
	CHECK_EQ(hipImportExternalMemory(&external, &desc), hipErrorInvalidValue);
	desc = memory_desc(-1, SIZE_B);
	CHECK_EQ(hipImportExternalMemory(&external, &desc), hipErrorInvalidValue);
	desc = good;
	desc.flags = 2;
	CHECK_EQ(hipImportExternalMemory(&external, &desc), hipErrorInvalidValue);
	desc = good;
	desc.type = hipExternalMemoryHandleTypeD3D12Heap;
	CHECK_EQ(hipImportExternalMemory(&external, &desc), hipErrorInvalidValue);
	CHECK(fcntl(fd, F_GETFD) >= 0 && fcntl(card, F_GETFD) >= 0); /* still the program's */
	good.flags = hipExternalMemoryDedicated;
	HIP(hipImportExternalMemory(&external, &good));
	flags.flags = 1;
	CHECK_EQ(hipExternalMemoryGetMappedBuffer(&at, external, &beyond), hipErrorInvalidValue);
	CHECK_EQ(hipExternalMemoryGetMappedBuffer(&at, external, &far), hipErrorInvalidValue);
	CHECK_EQ(hipExternalMemoryGetMappedBuffer(&at, external, &empty), hipErrorInvalidValue);
	CHECK_EQ(hipExternalMemoryGetMappedBuffer(&at, external, &flags), hipErrorInvalidValue);
	CHECK_EQ(hipExternalMemoryGetMappedBuffer(&at, nullptr, &beyond), hipErrorInvalidValue);
	HIP(hipDestroyExternalMemory(external));
	CHECK_EQ(hipDestroyExternalMemory(external), hipErrorInvalidValue);
	CHECK_EQ(hipDestroyExternalMemory(nullptr), hipErrorInvalidValue);
	(void)hipGetLastError(); /* HIP 7 keeps it */
}

/* --- semaphores ------------------------------------------------------------------------------- */

static hipExternalSemaphore_t import(uint32_t syncobj, hipExternalSemaphoreHandleType type)
{
	hipExternalSemaphoreHandleDesc desc = {};
	hipExternalSemaphore_t semaphore = nullptr;
	int fd = -1;

	CHECK_EQ(drmSyncobjHandleToFD(card, syncobj, &fd), 0);
	desc.type = type;
	desc.handle.fd = fd;
	HIP(hipImportExternalSemaphore(&semaphore, &desc));
	CHECK(fcntl(fd, F_GETFD) < 0);
	return semaphore;
}

static void signal(hipExternalSemaphore_t semaphore, uint64_t value, hipStream_t stream)
{
	hipExternalSemaphoreSignalParams params = {};

	params.params.fence.value = value;
	HIP(hipSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

static void wait(hipExternalSemaphore_t semaphore, uint64_t value, hipStream_t stream)
{
	hipExternalSemaphoreWaitParams params = {};

	params.params.fence.value = value;
	HIP(hipWaitExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

/* Whether the other driver sees it; waits for what was submitted. */
static bool is_signaled(uint32_t syncobj)
{
	return !drmSyncobjWait(card, &syncobj, 1, INT64_MAX, 0, nullptr);
}

static void binary()
{
	std::vector<unsigned> values;
	gpu_array<unsigned> memory(std::vector<unsigned>(4096, 0));
	hipExternalSemaphore_t semaphore, answer;
	hipStream_t stream;
	uint32_t question, answered;

	CHECK_EQ(drmSyncobjCreate(card, 0, &question), 0);
	CHECK_EQ(drmSyncobjCreate(card, 0, &answered), 0);
	semaphore = import(question, hipExternalSemaphoreHandleTypeOpaqueFd);
	answer = import(answered, hipExternalSemaphoreHandleTypeOpaqueFd);
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	for (unsigned i = 0; i < 3; i++) {
		wait(semaphore, 0, stream);
		add<<<16, 256, 0, stream>>>(memory.at, 2);
		HIP_LAUNCHED();
		signal(answer, 0, stream);
		usleep(20000);
		CHECK_EQ(hipStreamQuery(stream), hipErrorNotReady);
		CHECK(drmSyncobjWait(card, &answered, 1, 0, 0, nullptr) != 0);
		CHECK_EQ(drmSyncobjSignal(card, &question, 1), 0);
		CHECK_EQ(drmSyncobjWait(card, &answered, 1, INT64_MAX, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
					nullptr),
			 0);
		HIP(hipMemcpy(&values.emplace_back(), memory.at + 4095, sizeof(unsigned), hipMemcpyDeviceToHost));
		CHECK_EQ(values.back(), 2 * (i + 1));
		HIP(hipStreamSynchronize(stream));
		/* Who waited took the signal. */
		CHECK(drmSyncobjWait(card, &question, 1, 0, 0, nullptr) != 0);
		CHECK_EQ(drmSyncobjReset(card, &answered, 1), 0);
	}
	HIP(hipStreamDestroy(stream));
	HIP(hipDestroyExternalSemaphore(semaphore));
	HIP(hipDestroyExternalSemaphore(answer));
	CHECK_EQ(hipDestroyExternalSemaphore(answer), hipErrorInvalidValue);
	(void)hipGetLastError();
	drmSyncobjDestroy(card, question);
	drmSyncobjDestroy(card, answered);
}

/* A signal comes when the work before it has ended, and not earlier. */
static void in_order()
{
	hipExternalSemaphore_t semaphore;
	hipStream_t stream;
	uint32_t syncobj;
	int khz;

	HIP(hipDeviceGetAttribute(&khz, hipDeviceAttributeWallClockRate, 0));
	CHECK_EQ(drmSyncobjCreate(card, 0, &syncobj), 0);
	semaphore = import(syncobj, hipExternalSemaphoreHandleTypeOpaqueFd);
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	spin<<<1, 1, 0, stream>>>(100ull * khz);
	HIP_LAUNCHED();
	signal(semaphore, 0, stream);
	HIP(hipStreamQuery(stream) == hipErrorNotReady ? hipSuccess : hipErrorUnknown);
	CHECK(drmSyncobjWait(card, &syncobj, 1, 0, 0, nullptr) != 0);
	HIP(hipStreamSynchronize(stream));
	CHECK(is_signaled(syncobj));
	HIP(hipStreamDestroy(stream));
	HIP(hipDestroyExternalSemaphore(semaphore));
	drmSyncobjDestroy(card, syncobj);
}

static void timeline()
{
	gpu_array<unsigned> memory(std::vector<unsigned>(4096, 0));
	hipExternalSemaphore_t semaphore;
	hipStream_t first, second;
	uint32_t syncobj;
	uint64_t value = 0;

	CHECK_EQ(drmSyncobjCreate(card, 0, &syncobj), 0);
	semaphore = import(syncobj, hipExternalSemaphoreHandleTypeTimelineSemaphoreFd);
	HIP(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
	HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
	wait(semaphore, 0, first); /* a timeline begins there */
	wait(semaphore, 10, second);
	add<<<16, 256, 0, second>>>(memory.at, 5);
	signal(semaphore, 20, second);
	wait(semaphore, 5, first);
	add<<<16, 256, 0, first>>>(memory.at, 1);
	signal(semaphore, 10, first);
	HIP_LAUNCHED();
	usleep(20000);
	CHECK_EQ(hipStreamQuery(second), hipErrorNotReady);
	CHECK_EQ(hipStreamQuery(first), hipErrorNotReady);
	value = 5;
	CHECK_EQ(drmSyncobjTimelineSignal(card, &syncobj, &value, 1), 0);
	value = 20;
	CHECK_EQ(drmSyncobjTimelineWait(card, &syncobj, &value, 1, INT64_MAX,
					DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, nullptr),
		 0);
	CHECK_EQ(memory.read()[4095], 6);
	wait(semaphore, 10, first); /* long ago */
	HIP(hipStreamSynchronize(first));
	CHECK_EQ(drmSyncobjQuery(card, &syncobj, &value, 1), 0);
	CHECK_EQ(value, 20);
	HIP(hipStreamDestroy(first));
	HIP(hipStreamDestroy(second));
	HIP(hipDestroyExternalSemaphore(semaphore));
	drmSyncobjDestroy(card, syncobj);
}

/* Many at once, on one ring. */
static void many()
{
	hipExternalSemaphore_t semaphore;
	hipStream_t stream;
	uint32_t syncobj;
	uint64_t value = 100;

	CHECK_EQ(drmSyncobjCreate(card, 0, &syncobj), 0);
	semaphore = import(syncobj, hipExternalSemaphoreHandleTypeTimelineSemaphoreFd);
	HIP(hipStreamCreate(&stream));
	for (uint64_t i = 1; i <= 100; i++) {
		signal(semaphore, i, stream);
		wait(semaphore, i, stream);
	}
	HIP(hipStreamSynchronize(stream));
	CHECK_EQ(drmSyncobjTimelineWait(card, &syncobj, &value, 1, 0, 0, nullptr), 0);
	HIP(hipStreamDestroy(stream));
	HIP(hipDestroyExternalSemaphore(semaphore));
	drmSyncobjDestroy(card, syncobj);
}

static void bad_semaphores()
{
	hipExternalSemaphoreHandleDesc desc = {};
	hipExternalSemaphoreSignalParams params = {};
	hipExternalSemaphore_t semaphore, none = nullptr;
	uint32_t syncobj;

	CHECK_EQ(drmSyncobjCreate(card, 0, &syncobj), 0);
	desc.type = hipExternalSemaphoreHandleTypeOpaqueFd;
	desc.handle.fd = card;
	CHECK_EQ(hipImportExternalSemaphore(&semaphore, &desc), hipErrorInvalidValue);
	desc.handle.fd = -1;
	CHECK_EQ(hipImportExternalSemaphore(&semaphore, &desc), hipErrorInvalidValue);
	CHECK_EQ(hipImportExternalSemaphore(nullptr, &desc), hipErrorInvalidValue);
	CHECK_EQ(hipImportExternalSemaphore(&semaphore, nullptr), hipErrorInvalidValue);
	desc.type = hipExternalSemaphoreHandleTypeD3D12Fence;
	CHECK_EQ(hipImportExternalSemaphore(&semaphore, &desc), hipErrorInvalidValue);
	semaphore = import(syncobj, hipExternalSemaphoreHandleTypeTimelineSemaphoreFd);
	CHECK_EQ(hipSignalExternalSemaphoresAsync(&semaphore, &params, 1, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipSignalExternalSemaphoresAsync(&none, &params, 1, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipSignalExternalSemaphoresAsync(nullptr, &params, 1, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipSignalExternalSemaphoresAsync(&semaphore, nullptr, 1, nullptr), hipErrorInvalidValue);
	params.params.fence.value = 1;
	params.flags = 1;
	CHECK_EQ(hipSignalExternalSemaphoresAsync(&semaphore, &params, 1, nullptr), hipErrorInvalidValue);
	HIP(hipSignalExternalSemaphoresAsync(&semaphore, &params, 0, nullptr));
	HIP(hipDestroyExternalSemaphore(semaphore));
	CHECK_EQ(hipDestroyExternalSemaphore(nullptr), hipErrorInvalidValue);
	drmSyncobjDestroy(card, syncobj);
}

/* --- semaphores in graphs --------------------------------------------------------------------- */

static void captured()
{
	gpu_array<unsigned> memory(std::vector<unsigned>(4096, 0));
	hipExternalSemaphore_t semaphore, answer;
	uint32_t question, answered;
	size_t nodes = 0;
	hipGraph_t graph;
	hipGraphExec_t exec;
	hipStream_t stream;

	CHECK_EQ(drmSyncobjCreate(card, 0, &question), 0);
	CHECK_EQ(drmSyncobjCreate(card, 0, &answered), 0);
	semaphore = import(question, hipExternalSemaphoreHandleTypeOpaqueFd);
	answer = import(answered, hipExternalSemaphoreHandleTypeOpaqueFd);
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	wait(semaphore, 0, stream);
	add<<<16, 256, 0, stream>>>(memory.at, 2);
	signal(answer, 0, stream);
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphGetNodes(graph, nullptr, &nodes));
	CHECK_EQ(nodes, 3);
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	CHECK_EQ(hipStreamQuery(stream), hipSuccess); /* nothing has waited */
	for (unsigned i = 0; i < 3; i++) {
		HIP(hipGraphLaunch(exec, stream));
		CHECK_EQ(hipStreamQuery(stream), hipErrorNotReady);
		CHECK_EQ(drmSyncobjSignal(card, &question, 1), 0);
		CHECK_EQ(drmSyncobjWait(card, &answered, 1, INT64_MAX, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, nullptr), 0);
		HIP(hipStreamSynchronize(stream));
		CHECK_EQ(memory.read()[4095], 2 * (i + 1));
		CHECK_EQ(drmSyncobjReset(card, &answered, 1), 0);
	}
	/* The graph names the semaphores, and does not hold them. */
	HIP(hipDestroyExternalSemaphore(answer));
	CHECK_EQ(drmSyncobjSignal(card, &question, 1), 0);
	CHECK_EQ(hipGraphLaunch(exec, stream), hipErrorInvalidValue);
	HIP(hipStreamSynchronize(stream));
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipStreamDestroy(stream));
	HIP(hipDestroyExternalSemaphore(semaphore));
	drmSyncobjDestroy(card, question);
	drmSyncobjDestroy(card, answered);
}

#if TUFF_HIP_ABI >= 7
static bool reaches(uint32_t syncobj, uint64_t value)
{
	return !drmSyncobjTimelineWait(card, &syncobj, &value, 1, INT64_MAX, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, nullptr);
}

/* wait for `from`, add 1, signal `to`: with other values in graph and instance. */
static void nodes()
{
	gpu_array<unsigned> memory(std::vector<unsigned>(256, 0));
	hipExternalSemaphoreSignalParams to[2] = {}, later = {};
	hipExternalSemaphoreWaitParams from = {};
	hipExternalSemaphore_t semaphore[2];
	hipExternalSemaphoreSignalNodeParams signals = {semaphore, to, 2}, got_signals = {};
	hipExternalSemaphoreWaitNodeParams waits = {semaphore, &from, 1}, got_waits = {};
	uint32_t syncobj[2];
	uint64_t value = 3;
	unsigned one = 1;
	void *args[] = {&memory.at, &one};
	hipKernelNodeParams kernel = {};
	hipGraphNode_t first, second, third;
	hipGraphNodeType type;
	hipGraphExec_t exec;
	hipGraph_t graph;

	for (int i = 0; i < 2; i++) {
		CHECK_EQ(drmSyncobjCreate(card, 0, &syncobj[i]), 0);
		semaphore[i] = import(syncobj[i], hipExternalSemaphoreHandleTypeTimelineSemaphoreFd);
	}
	kernel.func = (void *)add;
	kernel.gridDim = dim3(1);
	kernel.blockDim = dim3(256);
	kernel.kernelParams = args;
	from.params.fence.value = 3;
	to[0].params.fence.value = 4;
	to[1].params.fence.value = 5;
	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphAddExternalSemaphoresWaitNode(&first, graph, nullptr, 0, &waits));
	HIP(hipGraphAddKernelNode(&second, graph, &first, 1, &kernel));
	HIP(hipGraphAddExternalSemaphoresSignalNode(&third, graph, &second, 1, &signals));
	HIP(hipGraphNodeGetType(first, &type));
	CHECK_EQ(type, hipGraphNodeTypeExtSemaphoreWait);
	HIP(hipGraphNodeGetType(third, &type));
	CHECK_EQ(type, hipGraphNodeTypeExtSemaphoreSignal);
	HIP(hipGraphExternalSemaphoresWaitNodeGetParams(first, &got_waits));
	CHECK(got_waits.numExtSems == 1 && got_waits.extSemArray[0] == semaphore[0] &&
	      got_waits.paramsArray != &from && got_waits.paramsArray[0].params.fence.value == 3);
	HIP(hipGraphExternalSemaphoresSignalNodeGetParams(third, &got_signals));
	CHECK(got_signals.numExtSems == 2 && got_signals.extSemArray != semaphore &&
	      got_signals.extSemArray[1] == semaphore[1] && got_signals.paramsArray[1].params.fence.value == 5);
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(exec, nullptr));
	CHECK_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
	CHECK_EQ(drmSyncobjTimelineSignal(card, &syncobj[0], &value, 1), 0);
	CHECK(reaches(syncobj[0], 4) && reaches(syncobj[1], 5));
	CHECK_EQ(memory.read()[255], 1);

	/* The instance's alone: one semaphore, another value. */
	later.params.fence.value = 6;
	signals = {&semaphore[1], &later, 1};
	HIP(hipGraphExecExternalSemaphoresSignalNodeSetParams(exec, third, &signals));
	from.params.fence.value = 4;
	HIP(hipGraphExecExternalSemaphoresWaitNodeSetParams(exec, first, &waits));
	HIP(hipGraphLaunch(exec, nullptr));
	CHECK(reaches(syncobj[1], 6));
	CHECK_EQ(memory.read()[255], 2);
	HIP(hipGraphExternalSemaphoresSignalNodeGetParams(third, &got_signals));
	CHECK_EQ(got_signals.numExtSems, 2);
	/* The graph's, and with it an update of the instance. */
	hipGraphExecUpdateResult result;
	hipGraphNode_t wrong;
	later.params.fence.value = 7;
	HIP(hipGraphExternalSemaphoresSignalNodeSetParams(third, &signals));
	HIP(hipGraphExternalSemaphoresWaitNodeSetParams(first, &waits));
	HIP(hipGraphExecUpdate(exec, graph, &wrong, &result));
	HIP(hipGraphLaunch(exec, nullptr));
	CHECK(reaches(syncobj[1], 7));
	HIP(hipDeviceSynchronize());

	/* By the functions for nodes of any type. */
	hipGraphNodeParams any = {};
	any.type = hipGraphNodeTypeExtSemaphoreSignal;
	any.extSemSignal = signals;
	later.params.fence.value = 8;
	HIP(hipGraphNodeSetParams(third, &any));
	HIP(hipGraphExecNodeSetParams(exec, third, &any));
	HIP(hipGraphLaunch(exec, nullptr));
	CHECK(reaches(syncobj[1], 8));
	HIP(hipDeviceSynchronize());
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	for (int i = 0; i < 2; i++) {
		HIP(hipDestroyExternalSemaphore(semaphore[i]));
		drmSyncobjDestroy(card, syncobj[i]);
	}
}

/* A graph that another GPU's stream launches has the signal on the GPU of the semaphore, in its order. */
static void other_devices()
{
	hipExternalSemaphoreSignalParams to = {};
	hipExternalSemaphore_t semaphore;
	hipExternalSemaphoreSignalNodeParams signals = {&semaphore, &to, 1};
	hipGraphNode_t first, second;
	hipGraphExec_t exec;
	hipStream_t stream;
	hipGraph_t graph;
	uint32_t syncobj;
	unsigned *word;
	int count = 0;

	HIP(hipGetDeviceCount(&count));
	if (count < 2)
		return;
	CHECK_EQ(drmSyncobjCreate(card, 0, &syncobj), 0);
	semaphore = import(syncobj, hipExternalSemaphoreHandleTypeTimelineSemaphoreFd);
	HIP(hipSetDevice(1));
	HIP(hipMalloc((void **)&word, 4));
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	/* The stream's own GPU has not the semaphore. */
	to.params.fence.value = 1;
	CHECK_EQ(hipSignalExternalSemaphoresAsync(&semaphore, &to, 1, stream), hipErrorInvalidValue);
	hipMemsetParams set = {word, 4, 1, 4, 77, 1};
	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphAddMemsetNode(&first, graph, nullptr, 0, &set));
	HIP(hipGraphAddExternalSemaphoresSignalNode(&second, graph, &first, 1, &signals));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	if (CHECK_EQ(hipGraphLaunch(exec, stream), hipSuccess))
		CHECK(reaches(syncobj, 1));
	HIP(hipStreamSynchronize(stream));
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipStreamDestroy(stream));
	HIP(hipFree(word));
	HIP(hipSetDevice(0));
	HIP(hipDestroyExternalSemaphore(semaphore));
	drmSyncobjDestroy(card, syncobj);
	(void)hipGetLastError();
}

static void bad_nodes()
{
	hipExternalSemaphoreSignalParams to = {};
	hipExternalSemaphoreWaitParams from = {};
	hipExternalSemaphore_t semaphore, none = nullptr;
	hipExternalSemaphoreSignalNodeParams good = {&semaphore, &to, 1}, bad, got;
	hipExternalSemaphoreWaitNodeParams waits = {&semaphore, &from, 1}, got_waits;
	hipGraphNode_t node, empty;
	hipGraph_t graph;
	uint32_t syncobj;

	CHECK_EQ(drmSyncobjCreate(card, 0, &syncobj), 0);
	semaphore = import(syncobj, hipExternalSemaphoreHandleTypeOpaqueFd);
	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphAddEmptyNode(&empty, graph, nullptr, 0));
	HIP(hipGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &good));
	CHECK_EQ(hipGraphAddExternalSemaphoresSignalNode(nullptr, graph, nullptr, 0, &good), hipErrorInvalidValue);
	CHECK_EQ(hipGraphAddExternalSemaphoresSignalNode(&node, nullptr, nullptr, 0, &good), hipErrorInvalidValue);
	CHECK_EQ(hipGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 1, &good), hipErrorInvalidValue);
	CHECK_EQ(hipGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
	bad = {&semaphore, &to, 0};
	CHECK_EQ(hipGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &bad), hipErrorInvalidValue);
	bad = {nullptr, &to, 1};
	CHECK_EQ(hipGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &bad), hipErrorInvalidValue);
	bad = {&semaphore, nullptr, 1};
	CHECK_EQ(hipGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &bad), hipErrorInvalidValue);
	bad = {&none, &to, 1};
	CHECK_EQ(hipGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &bad), hipErrorInvalidValue);
	CHECK_EQ(hipGraphExternalSemaphoresSignalNodeSetParams(nullptr, &good), hipErrorInvalidValue);
	CHECK_EQ(hipGraphExternalSemaphoresSignalNodeSetParams(node, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipGraphExternalSemaphoresSignalNodeSetParams(empty, &good), hipErrorInvalidValue);
	CHECK_EQ(hipGraphExternalSemaphoresWaitNodeSetParams(node, &waits), hipErrorInvalidValue);
	CHECK_EQ(hipGraphExternalSemaphoresSignalNodeGetParams(node, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipGraphExternalSemaphoresSignalNodeGetParams(nullptr, &got), hipErrorInvalidValue);
	CHECK_EQ(hipGraphExternalSemaphoresWaitNodeGetParams(node, &got_waits), hipErrorInvalidValue);
	CHECK_EQ(hipGraphExecExternalSemaphoresSignalNodeSetParams(nullptr, node, &good), hipErrorInvalidValue);
	CHECK_EQ(hipGraphExecExternalSemaphoresWaitNodeSetParams(nullptr, node, &waits), hipErrorInvalidValue);
	to.flags = 1;
	CHECK_EQ(hipGraphExternalSemaphoresSignalNodeSetParams(node, &good), hipErrorInvalidValue);
	HIP(hipGraphDestroy(graph));
	HIP(hipDestroyExternalSemaphore(semaphore));
	drmSyncobjDestroy(card, syncobj);
}
#endif

int main()
{
	card = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (!CHECK(card >= 0))
		return check_done("external");
	memory();
	bad_memory();
	binary();
	in_order();
	timeline();
	many();
	bad_semaphores();
	captured();
#if TUFF_HIP_ABI >= 7
	nodes();
	other_devices();
	bad_nodes();
#endif
	close(card);
	return check_done("external memory and semaphores");
}
