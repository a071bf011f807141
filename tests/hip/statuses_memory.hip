/* Memory: of devices and of the host, what addresses are, what managed memory is advised; memory of other processes. */
#include "tests/hip/statuses.h"

#define BYTES 65536

static char *gpu, *freed, *pinned, *managed;
static hipStream_t stream, old_stream;
static int devices;
static size_t size_B, size2_B;
static void *at;
alignas(4096) static char host[BYTES], registered[BYTES];

static void begin()
{
	OK(hipGetDeviceCount(&devices));
	OK(hipMalloc((void **)&gpu, BYTES));
	OK(hipMalloc((void **)&freed, BYTES));
	OK(hipFree(freed));
	OK(hipHostMalloc((void **)&pinned, BYTES, 0));
	OK(hipMallocManaged((void **)&managed, BYTES, hipMemAttachGlobal));
	OK(hipHostRegister(registered, BYTES, 0));
	OK(hipStreamCreate(&stream));
	OK(hipStreamCreate(&old_stream));
	OK(hipStreamDestroy(old_stream));
}

/* Memory that is not coherent is no answer to a call that asks for coherent memory. */
static void fine_grained()
{
	hipError_t status = hipSuccess;
	int there = -1;

	OK(hipDeviceGetAttribute(&there, hipDeviceAttributeFineGrainSupport, 0));
	if (!there)
		status = hipErrorOutOfMemory;
	for (unsigned flags : {hipDeviceMallocFinegrained, hipDeviceMallocUncached}) {
		IS(status, hipExtMallocWithFlags(&at, 4, flags));
		CHECK_EQ(at != NULL, there);
		OK(hipFree(at));
	}
}

static void allocated()
{
	hipPitchedPtr pitched;
	size_t pitch;

	IS(hipErrorInvalidValue, hipMalloc(NULL, 4));
	IS(hipErrorInvalidValue, hipMalloc(NULL, 0));
	OK(hipMalloc(&at, 0));
	CHECK(!at);
	IS(hipErrorOutOfMemory, hipMalloc(&at, SIZE_MAX));
	IS(hipErrorOutOfMemory, hipMalloc(&at, SIZE_MAX - 4095));
	IS(hipErrorOutOfMemory, hipMalloc(&at, SIZE_MAX / 2));
	IS(hipErrorInvalidValue, hipExtMallocWithFlags(NULL, 4, hipDeviceMallocDefault));
	IS(hipErrorInvalidValue, hipExtMallocWithFlags(&at, 4, 0x80));
	IS(hipErrorInvalidValue, hipExtMallocWithFlags(&at, 4, UINT_MAX));
	IS(hipErrorInvalidValue, hipExtMallocWithFlags(&at, 16, hipMallocSignalMemory));
	IS(hipErrorInvalidValue, hipExtMallocWithFlags(&at, 0, hipMallocSignalMemory));
	IS(hipErrorInvalidValue, hipExtMallocWithFlags(NULL, 8, hipMallocSignalMemory));
	OK(hipExtMallocWithFlags(&at, 0, hipDeviceMallocFinegrained));
	fine_grained();
	IS(hipErrorOutOfMemory, hipExtMallocWithFlags(&at, SIZE_MAX, hipDeviceMallocFinegrained));

	IS(hipErrorInvalidValue, hipMallocPitch(NULL, &pitch, 64, 1));
	IS(hipErrorInvalidValue, hipMallocPitch(&at, NULL, 64, 1));
	IS(hipErrorInvalidValue, hipMallocPitch(NULL, &pitch, 0, 0));
	OK(hipMallocPitch(&at, &pitch, 0, 1));
	OK(hipMallocPitch(&at, &pitch, 64, 0));
	IS(hipErrorInvalidValue, hipMallocPitch(&at, &pitch, SIZE_MAX, 1));
	IS(hipErrorOutOfMemory, hipMallocPitch(&at, &pitch, 1, SIZE_MAX));
	IS(hipErrorInvalidValue, hipMalloc3D(NULL, {64, 1, 1}));
	OK(hipMalloc3D(&pitched, {64, 0, 1}));
	IS(hipErrorInvalidValue, hipMalloc3D(&pitched, {SIZE_MAX, 1, 1}));
	IS(hipErrorOutOfMemory, hipMalloc3D(&pitched, {1, SIZE_MAX, 1}));
	IS(hipErrorOutOfMemory, hipMalloc3D(&pitched, {1, 1, SIZE_MAX}));
	IS(hipErrorInvalidValue, hipMemAllocPitch(NULL, &pitch, 64, 1, 4));
	IS(hipErrorInvalidValue, hipMemAllocPitch((hipDeviceptr_t *)&at, NULL, 64, 1, 4));
	IS(hipErrorInvalidValue, hipMemAllocPitch((hipDeviceptr_t *)&at, &pitch, 0, 1, 4));
	IS(hipErrorInvalidValue, hipMemAllocPitch((hipDeviceptr_t *)&at, &pitch, 64, 0, 4));
	IS(hipErrorInvalidValue, hipMemAllocPitch((hipDeviceptr_t *)&at, &pitch, 64, 1, 2));
	IS(hipErrorInvalidValue, hipMemAllocPitch((hipDeviceptr_t *)&at, &pitch, 64, 1, 0));
	IS(hipErrorOutOfMemory, hipMemAllocPitch((hipDeviceptr_t *)&at, &pitch, 1, SIZE_MAX, 4));

	IS(hipErrorInvalidValue, hipMallocManaged(NULL, 4, hipMemAttachGlobal));
	IS(hipErrorInvalidValue, hipMallocManaged(&at, 0, hipMemAttachGlobal));
	IS(hipErrorInvalidValue, hipMallocManaged(&at, 4, 0));
	IS(hipErrorInvalidValue, hipMallocManaged(&at, 4, hipMemAttachGlobal | hipMemAttachHost));
	IS(hipErrorInvalidValue, hipMallocManaged(&at, 4, hipMemAttachSingle));
	IS(hipErrorInvalidValue, hipMallocManaged(&at, 4, 145));
	IS(hipErrorOutOfMemory, hipMallocManaged(&at, SIZE_MAX, hipMemAttachGlobal));
}

static void of_the_host()
{
	const unsigned coherent = hipHostMallocCoherent | hipHostMallocNonCoherent;
	unsigned flags;

	IS(hipErrorInvalidValue, hipHostMalloc(NULL, 4, 0));
	IS(hipErrorInvalidValue, hipHostMalloc(NULL, 0, 0));
	OK(hipHostMalloc(&at, 0, 0));
	CHECK(!at);
	IS(hipErrorInvalidValue, hipHostMalloc(&at, 4, coherent));
	IS(hipErrorInvalidValue, hipHostMalloc(&at, 4, UINT_MAX));
	OK(hipHostMalloc(&at, 4, 0x1000)); /* no flag at all */
	OK(hipHostMalloc(&at, 0, coherent));
	IS(hipErrorOutOfMemory, hipHostMalloc(&at, SIZE_MAX, 0));
	IS(hipErrorInvalidValue, hipHostAlloc(NULL, 4, 0));
	IS(hipErrorInvalidValue, hipHostAlloc(&at, 4, coherent));
	IS_5_6(hipSuccess, hipErrorInvalidValue, hipHostAlloc(&at, 4, 8));
	IS_5_6(hipSuccess, hipErrorInvalidValue, hipHostAlloc(&at, 4, hipHostMallocCoherent));
	IS(hipErrorInvalidValue, hipHostAlloc(&at, 4, UINT_MAX));
	OK(hipHostAlloc(&at, 0, 0));
	IS(hipErrorOutOfMemory, hipHostAlloc(&at, SIZE_MAX, 0));
	IS(hipErrorInvalidValue, hipMallocHost(NULL, 4));
	IS(hipErrorOutOfMemory, hipMallocHost(&at, SIZE_MAX));
	OK(hipMallocHost(&at, 0));
	IS(hipErrorInvalidValue, hipMemAllocHost(NULL, 4));
	IS(hipErrorOutOfMemory, hipMemAllocHost(&at, SIZE_MAX));

	IS(hipErrorInvalidValue, hipHostRegister(NULL, BYTES, 0));
	IS(hipErrorInvalidValue, hipHostRegister(host, 0, 0));
	IS(hipErrorInvalidValue, hipHostRegister(host, BYTES, 16));
	IS(hipErrorInvalidValue, hipHostRegister(host, BYTES, UINT_MAX));
	IS(hipErrorInvalidValue, hipHostUnregister(NULL));
	IS(hipErrorHostMemoryNotRegistered, hipHostUnregister(host));
	OK(hipHostRegister(host, BYTES, 0));
	OK(hipHostRegister(host, BYTES, hipHostRegisterMapped)); /* the latest counts */
	OK(hipHostUnregister(host));
	IS(hipErrorHostMemoryNotRegistered, hipHostUnregister(host));

	IS(hipErrorInvalidValue, hipHostGetDevicePointer(NULL, pinned, 0));
	IS(hipErrorInvalidValue, hipHostGetDevicePointer(&at, NULL, 0));
	IS(hipErrorInvalidValue, hipHostGetDevicePointer(&at, host, 0));
	IS(hipErrorInvalidValue, hipHostGetDevicePointer(&at, pinned, 1));
	OK(hipHostGetDevicePointer(&at, pinned + 4, 0));
	OK(hipHostGetDevicePointer(&at, registered + 4, 0));
	IS(hipErrorInvalidValue, hipHostGetFlags(NULL, pinned));
	IS(hipErrorInvalidValue, hipHostGetFlags(&flags, NULL));
	IS(hipErrorInvalidValue, hipHostGetFlags(&flags, host));
	IS(hipErrorInvalidValue, hipHostGetFlags(&flags, gpu));
	IS(hipErrorInvalidValue, hipHostGetFlags(&flags, registered));
	OK(hipHostGetFlags(&flags, pinned));
	OK(hipHostGetFlags(&flags, managed));
}

static void freed_again()
{
	OK(hipFree(NULL));
	OK(hipHostFree(NULL));
	OK(hipFreeHost(NULL));
	IS(hipErrorInvalidValue, hipFree(freed));
	IS(hipErrorInvalidValue, hipFree(host));
	IS(hipErrorInvalidValue, hipFree(gpu + 64)); /* not where it begins */
	IS(hipErrorInvalidValue, hipFree(registered));
	IS(hipErrorInvalidValue, hipFree((void *)8));
	IS(hipErrorInvalidValue, hipHostFree(host));
	IS(hipErrorInvalidValue, hipHostFree(freed));
	IS(hipErrorInvalidValue, hipFreeHost(host));
	IS(hipErrorInvalidValue, hipHostFree(registered));
	IS(hipErrorInvalidValue, hipFreeHost(registered));
	OK(hipHostMalloc(&at, 64, 0));
	OK(hipFree(at));
	IS(hipErrorInvalidValue, hipHostFree(at));
	OK(hipMalloc(&at, 64));
	OK(hipHostFree(at));
}

static void addresses()
{
	hipPointerAttribute_t attributes;
	hipDeviceptr_t base;
	unsigned yes = 1, two = 2;

	IS(hipErrorNotFound, hipMemGetAddressRange(&base, &size_B, NULL));
	IS(hipErrorNotFound, hipMemGetAddressRange(&base, &size_B, host));
	IS(hipErrorNotFound, hipMemGetAddressRange(&base, &size_B, freed));
	OK(hipMemGetAddressRange(&base, &size_B, gpu + 100));
	IS(hipErrorInvalidValue, hipMemPtrGetInfo(NULL, &size_B));
	IS(hipErrorInvalidValue, hipMemPtrGetInfo(gpu, NULL));
	IS(hipErrorInvalidValue, hipMemPtrGetInfo(host, &size_B));
	IS(hipErrorInvalidValue, hipMemPtrGetInfo(freed, &size_B));
	OK(hipMemGetInfo(NULL, &size_B));
	OK(hipMemGetInfo(&size_B, NULL));
	OK(hipMemGetInfo(NULL, NULL));

	IS(hipErrorInvalidValue, hipPointerGetAttributes(NULL, gpu));
	IS(hipErrorInvalidValue, hipPointerGetAttributes(&attributes, NULL));
	IS_5_6(hipErrorInvalidValue, hipSuccess, hipPointerGetAttributes(&attributes, host));
	IS_5_6(hipErrorInvalidValue, hipSuccess, hipPointerGetAttributes(&attributes, freed));
	OK(hipPointerGetAttributes(&attributes, gpu + BYTES - 1));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(NULL, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, gpu));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, NULL));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, host));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, host));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_HOST_POINTER, host));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_HOST_POINTER, gpu));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, host));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_BUFFER_ID, host));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_IS_MANAGED, host));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, host));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, host));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, host));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_MAPPED, host));
	OK(hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS, host));
	IS(hipErrorNotSupported, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_CONTEXT, gpu));
	IS(hipErrorNotSupported, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_P2P_TOKENS, gpu));
	IS(hipErrorNotSupported,
	   hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE, gpu));
	IS(hipErrorNotSupported,
	   hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, gpu));
	IS(hipErrorNotSupported, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, gpu));
	IS(hipErrorNotSupported, hipPointerGetAttribute(&at, HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, gpu));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, (hipPointer_attribute)0, gpu));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, (hipPointer_attribute)-1, gpu));
	IS(hipErrorInvalidValue, hipPointerGetAttribute(&at, (hipPointer_attribute)1000, gpu));

	hipPointer_attribute which[] = {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, (hipPointer_attribute)1000};
	void *to[] = {&size_B, &size2_B};
	IS(hipErrorInvalidValue, hipDrvPointerGetAttributes(0, which, to, gpu));
	IS(hipErrorInvalidValue, hipDrvPointerGetAttributes(1, NULL, to, gpu));
	IS(hipErrorInvalidValue, hipDrvPointerGetAttributes(1, which, NULL, gpu));
	IS(hipErrorInvalidValue, hipDrvPointerGetAttributes(1, which, to, NULL));
	OK(hipDrvPointerGetAttributes(1, which, to, host));
	OK(hipDrvPointerGetAttributes(2, which, to, gpu));
	IS(hipErrorInvalidValue, hipPointerSetAttribute(NULL, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, gpu));
	IS(hipErrorInvalidValue, hipPointerSetAttribute(&yes, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, NULL));
	IS(hipErrorInvalidValue, hipPointerSetAttribute(&yes, HIP_POINTER_ATTRIBUTE_CONTEXT, gpu));
	IS(hipErrorInvalidValue, hipPointerSetAttribute(&two, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, gpu));
	IS(hipErrorInvalidDevicePointer, hipPointerSetAttribute(&yes, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, host));
}

static void advised()
{
	int device = 0, many[8], *to[] = {many};
	hipMemRangeAttribute which[] = {hipMemRangeAttributeReadMostly};

	IS(hipErrorInvalidValue, hipMemAdvise(NULL, BYTES, hipMemAdviseSetReadMostly, 0));
	IS(hipErrorInvalidValue, hipMemAdvise(managed, 0, hipMemAdviseSetReadMostly, 0));
	IS(hipErrorInvalidValue, hipMemAdvise(managed, BYTES + 1, hipMemAdviseSetReadMostly, 0));
	IS(hipErrorInvalidValue, hipMemAdvise(managed, BYTES, (hipMemoryAdvise)-1, 0));
	IS(hipErrorInvalidValue, hipMemAdvise(managed, BYTES, (hipMemoryAdvise)1000, 0));
	IS(hipErrorInvalidDevice, hipMemAdvise(managed, BYTES, hipMemAdviseSetAccessedBy, devices));
	IS(hipErrorInvalidDevice, hipMemAdvise(NULL, BYTES, hipMemAdviseSetAccessedBy, hipInvalidDeviceId));
	OK(hipMemAdvise(managed, BYTES, hipMemAdviseSetReadMostly, devices)); /* not asked for */
	OK(hipMemAdvise(managed, BYTES, hipMemAdviseUnsetReadMostly, 0));
	IS(hipErrorInvalidValue, hipMemPrefetchAsync(NULL, BYTES, 0, stream));
	IS(hipErrorInvalidValue, hipMemPrefetchAsync(managed, 0, 0, stream));
	IS(hipErrorInvalidValue, hipMemPrefetchAsync(managed, BYTES + 1, 0, stream));
	IS(hipErrorInvalidValue, hipMemPrefetchAsync(managed, BYTES + 1, devices, stream));
	IS(hipErrorInvalidDevice, hipMemPrefetchAsync(managed, BYTES, devices, stream));
	IS(hipErrorInvalidDevice, hipMemPrefetchAsync(managed, BYTES, hipInvalidDeviceId, stream));
	IS(hipErrorContextIsDestroyed, hipMemPrefetchAsync(managed, BYTES, devices, old_stream));
	IS(hipErrorContextIsDestroyed, hipMemPrefetchAsync(managed, BYTES, 0, old_stream));
	OK(hipMemPrefetchAsync(gpu, BYTES, 0, stream)); /* it stays where it is */
	IS(hipErrorInvalidValue, hipMemPrefetchAsync(gpu, BYTES + 1, 0, stream));
	IS(hipErrorNotSupported, hipMemPrefetchAsync(host, BYTES, 0, stream));
	OK(hipMemPrefetchAsync(managed, BYTES, hipCpuDeviceId, stream));
	OK(hipMemPrefetchAsync(managed, BYTES, 0, stream));

	IS(hipErrorInvalidValue,
	   hipMemRangeGetAttribute(NULL, 4, hipMemRangeAttributeReadMostly, managed, BYTES));
	IS(hipErrorInvalidValue,
	   hipMemRangeGetAttribute(&device, 0, hipMemRangeAttributeReadMostly, managed, BYTES));
	IS(hipErrorInvalidValue, hipMemRangeGetAttribute(&device, 4, hipMemRangeAttributeReadMostly, NULL, BYTES));
	IS(hipErrorInvalidValue, hipMemRangeGetAttribute(&device, 4, hipMemRangeAttributeReadMostly, managed, 0));
	IS(hipErrorInvalidValue,
	   hipMemRangeGetAttribute(&device, 8, hipMemRangeAttributeReadMostly, managed, BYTES));
	IS(hipErrorInvalidValue, hipMemRangeGetAttribute(many, 10, hipMemRangeAttributeAccessedBy, managed, BYTES));
	IS(hipErrorInvalidValue, hipMemRangeGetAttribute(&device, 4, (hipMemRangeAttribute)999, managed, BYTES));
	IS(hipErrorInvalidValue,
	   hipMemRangeGetAttributes(NULL, &size_B, which, 1, managed, BYTES));
	IS(hipErrorInvalidValue, hipMemRangeGetAttributes((void **)to, NULL, which, 1, managed, BYTES));
	IS(hipErrorInvalidValue, hipMemRangeGetAttributes((void **)to, &size_B, NULL, 1, managed, BYTES));
	size_B = 4;
	IS(hipErrorInvalidValue, hipMemRangeGetAttributes((void **)to, &size_B, which, 0, managed, BYTES));
	size_B = 1;
	IS(hipErrorInvalidValue, hipMemRangeGetAttributes((void **)to, &size_B, which, 1, NULL, BYTES));
	IS(hipErrorInvalidValue, hipMemRangeGetAttributes((void **)to, &size_B, which, 1, managed, 0));
	IS(hipErrorInvalidValue, hipMemRangeGetAttributes((void **)to, &size_B, which, 1, gpu, BYTES));
	IS(hipErrorInvalidValue, hipMemRangeGetAttributes((void **)to, &size_B, which, 1, host, BYTES));

	IS(hipErrorInvalidValue, hipStreamAttachMemAsync(stream, NULL, 0, hipMemAttachSingle));
	IS(hipErrorContextIsDestroyed, hipStreamAttachMemAsync(old_stream, managed, 0, hipMemAttachSingle));
	IS(hipErrorContextIsDestroyed, hipStreamAttachMemAsync(old_stream, managed, 0, 1000));
	IS(hipErrorInvalidValue, hipStreamAttachMemAsync(stream, managed, 0, 0));
	IS(hipErrorInvalidValue, hipStreamAttachMemAsync(stream, managed, 0, 1000));
	IS(hipErrorInvalidValue, hipStreamAttachMemAsync(NULL, managed, 0, hipMemAttachSingle));
	IS(hipErrorInvalidValue, hipStreamAttachMemAsync(stream, managed, BYTES / 2, hipMemAttachSingle));
	IS(hipErrorInvalidValue, hipStreamAttachMemAsync(stream, host, BYTES, hipMemAttachSingle));
	OK(hipStreamAttachMemAsync(stream, managed, BYTES, hipMemAttachSingle));
	OK(hipStreamAttachMemAsync(NULL, managed, 0, hipMemAttachGlobal));
}

static void of_other_processes()
{
	hipIpcMemHandle_t handle, none = {}, wrong;

	IS(hipErrorInvalidValue, hipIpcGetMemHandle(NULL, gpu));
	IS(hipErrorInvalidValue, hipIpcGetMemHandle(&handle, NULL));
	IS(hipErrorInvalidValue, hipIpcGetMemHandle(&handle, host));
	IS(hipErrorInvalidValue, hipIpcGetMemHandle(&handle, freed));
	OK(hipIpcGetMemHandle(&handle, gpu));
	IS(hipErrorInvalidValue, hipIpcOpenMemHandle(NULL, handle, hipIpcMemLazyEnablePeerAccess));
	IS(TUFF_HIP_ABI == 5 ? hipErrorInvalidContext : hipErrorInvalidValue, hipIpcOpenMemHandle(&at, handle, 0));
	IS(hipErrorInvalidValue, hipIpcOpenMemHandle(&at, handle, 1000));
	IS(hipErrorInvalidValue, hipIpcOpenMemHandle(&at, none, hipIpcMemLazyEnablePeerAccess));
	IS(hipErrorInvalidContext, hipIpcOpenMemHandle(&at, handle, hipIpcMemLazyEnablePeerAccess));
	memset(&wrong, 0x5a, sizeof(wrong));
	IS(hipErrorInvalidDevicePointer, hipIpcOpenMemHandle(&at, wrong, hipIpcMemLazyEnablePeerAccess));
	IS(hipErrorInvalidValue, hipIpcCloseMemHandle(NULL));
	IS(hipErrorInvalidValue, hipIpcCloseMemHandle(host));
	IS(hipErrorInvalidValue, hipIpcCloseMemHandle(gpu)); /* its own */
}

STATUSES("statuses: memory", begin, allocated, of_the_host, freed_again, addresses, advised, of_other_processes)
