/* Memory in a stream's order, its pools, virtual memory, external memory and semaphores, captures. */
#include "tests/hip/statuses.h"

#define BYTES (2u << 20)

static hipStream_t stream, old_stream;
static hipMemPool_t pool, old_pool, default_pool;
static int devices;
static char *gpu, *from_pool, host[4096];
static void *at;

static hipMemPoolProps of_pool()
{
	hipMemPoolProps p = {};

	p.allocType = hipMemAllocationTypePinned;
	p.location = {hipMemLocationTypeDevice, 0};
	return p;
}

static void begin()
{
	const hipMemPoolProps p = of_pool();

	OK(hipGetDeviceCount(&devices));
	OK(hipStreamCreate(&stream));
	OK(hipStreamCreate(&old_stream));
	OK(hipStreamDestroy(old_stream));
	OK(hipMalloc((void **)&gpu, 4096));
	OK(hipMemPoolCreate(&pool, &p));
	OK(hipMemPoolCreate(&old_pool, &p));
	OK(hipMemPoolDestroy(old_pool));
	OK(hipDeviceGetDefaultMemPool(&default_pool, 0));
	OK(hipMallocFromPoolAsync((void **)&from_pool, 4096, pool, stream));
}

static void pools()
{
	hipMemPoolProps p = of_pool();
	hipMemPool_t got;

	IS(hipErrorInvalidValue, hipDeviceGetDefaultMemPool(NULL, 0));
	IS(hipErrorInvalidDevice, hipDeviceGetDefaultMemPool(&got, -1));
	IS(hipErrorInvalidDevice, hipDeviceGetDefaultMemPool(&got, devices));
	IS(hipErrorInvalidValue, hipDeviceGetMemPool(NULL, 0));
	IS(hipErrorInvalidValue, hipDeviceGetMemPool(&got, -1));
	IS(hipErrorInvalidValue, hipDeviceGetMemPool(&got, devices));
	IS(hipErrorInvalidValue, hipDeviceSetMemPool(0, NULL));
	IS(hipErrorInvalidValue, hipDeviceSetMemPool(-1, pool));
	IS(hipErrorInvalidValue, hipDeviceSetMemPool(devices, pool));
	IS(hipErrorInvalidValue, hipDeviceSetMemPool(0, old_pool));
	if (devices > 1)
		IS(hipErrorInvalidDevice, hipDeviceSetMemPool(1, pool));
	IS(hipErrorInvalidValue, hipMemPoolCreate(NULL, &p));
	IS(hipErrorInvalidValue, hipMemPoolCreate(&got, NULL));
	p.allocType = hipMemAllocationTypeInvalid;
	IS(hipErrorInvalidValue, hipMemPoolCreate(&got, &p));
	p = of_pool();
	p.location.type = hipMemLocationTypeInvalid;
	IS(hipErrorInvalidValue, hipMemPoolCreate(&got, &p));
	p = of_pool();
	p.location.id = devices;
	IS(hipErrorInvalidValue, hipMemPoolCreate(&got, &p));
	p.location.id = -1;
	IS(hipErrorInvalidValue, hipMemPoolCreate(&got, &p));
	/* Offset 24 is the largest size in HIP 6, and reserved before. */
	p = of_pool();
	memset((char *)&p + 24, 0xff, sizeof(size_t));
	OK(hipMemPoolCreate(&got, &p));
	OK(hipMallocFromPoolAsync(&at, 4096, got, stream));
	OK(hipFreeAsync(at, stream));
	OK(hipMemPoolDestroy(got));
	IS(hipErrorInvalidValue, hipMemPoolDestroy(NULL));
	IS(hipErrorInvalidValue, hipMemPoolDestroy(old_pool));
	IS(hipErrorInvalidValue, hipMemPoolDestroy(default_pool));
	IS(hipErrorInvalidValue, hipMemPoolTrimTo(NULL, 0));
	IS(hipErrorInvalidValue, hipMemPoolTrimTo(old_pool, 0));
	OK(hipMemPoolTrimTo(pool, SIZE_MAX));
}

static void attributes()
{
	hipMemAccessDesc access = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
	hipMemLocation place = {hipMemLocationTypeDevice, 0};
	hipMemAccessFlags flags;
	uint64_t value = 0;

	IS(hipErrorInvalidValue, hipMemPoolGetAttribute(NULL, hipMemPoolAttrReleaseThreshold, &value));
	IS(hipErrorInvalidValue, hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, NULL));
	IS(hipErrorInvalidValue, hipMemPoolGetAttribute(pool, (hipMemPoolAttr)0, &value));
	IS(hipErrorInvalidValue, hipMemPoolGetAttribute(pool, (hipMemPoolAttr)1000, &value));
	IS(hipErrorInvalidValue, hipMemPoolGetAttribute(old_pool, hipMemPoolAttrReleaseThreshold, &value));
	IS(hipErrorInvalidValue, hipMemPoolSetAttribute(NULL, hipMemPoolAttrReleaseThreshold, &value));
	IS(hipErrorInvalidValue, hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, NULL));
	IS(hipErrorInvalidValue, hipMemPoolSetAttribute(pool, (hipMemPoolAttr)0, &value));
	IS(hipErrorInvalidValue, hipMemPoolSetAttribute(pool, (hipMemPoolAttr)1000, &value));
	IS(hipErrorInvalidValue, hipMemPoolSetAttribute(pool, hipMemPoolAttrReservedMemCurrent, &value));
	IS(hipErrorInvalidValue, hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &value));
	value = 1;
	IS(hipErrorInvalidValue, hipMemPoolSetAttribute(pool, hipMemPoolAttrReservedMemHigh, &value));
	IS(hipErrorInvalidValue, hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &value));
	IS(hipErrorInvalidValue, hipMemPoolSetAccess(NULL, &access, 1));
	IS(hipErrorInvalidValue, hipMemPoolSetAccess(pool, NULL, 1));
	IS(hipErrorInvalidDevice, hipMemPoolSetAccess(pool, &access, (size_t)devices + 1));
	access.location.id = devices;
	IS(hipErrorInvalidDevice, hipMemPoolSetAccess(pool, &access, 1));
	access.location.id = 0;
	access.location.type = hipMemLocationTypeInvalid;
	IS(hipErrorInvalidValue, hipMemPoolSetAccess(pool, &access, 1));
	access.location.type = hipMemLocationTypeDevice;
	access.flags = hipMemAccessFlagsProtNone;
	IS(hipErrorInvalidDevice, hipMemPoolSetAccess(pool, &access, 1));
	access.flags = (hipMemAccessFlags)1000;
	IS(hipErrorInvalidValue, hipMemPoolSetAccess(pool, &access, 1));
	OK(hipMemPoolSetAccess(pool, &access, 0));
	IS(hipErrorInvalidValue, hipMemPoolGetAccess(NULL, pool, &place));
	IS(hipErrorInvalidValue, hipMemPoolGetAccess(&flags, NULL, &place));
	IS(hipErrorInvalidValue, hipMemPoolGetAccess(&flags, pool, NULL));
	place.id = devices;
	IS(hipErrorInvalidValue, hipMemPoolGetAccess(&flags, pool, &place));
	place = {hipMemLocationTypeInvalid, 0};
	IS(hipErrorInvalidValue, hipMemPoolGetAccess(&flags, pool, &place));
}

static void in_order()
{
	IS(hipErrorInvalidValue, hipMallocAsync(NULL, 4096, stream));
	IS(hipErrorInvalidValue, hipMallocAsync(NULL, 4096, old_stream));
	IS(hipErrorInvalidHandle, hipMallocAsync(&at, 4096, old_stream));
	IS(hipErrorInvalidHandle, hipMallocAsync(&at, 0, old_stream));
	OK(hipMallocAsync(&at, 0, stream));
	CHECK(!at);
	IS(hipErrorOutOfMemory, hipMallocAsync(&at, SIZE_MAX, stream));
	IS(hipErrorOutOfMemory, hipMallocAsync(&at, SIZE_MAX / 2, stream));
	IS(hipErrorInvalidValue, hipMallocFromPoolAsync(NULL, 4096, pool, stream));
	IS(hipErrorInvalidValue, hipMallocFromPoolAsync(&at, 4096, NULL, stream));
	IS(hipErrorInvalidValue, hipMallocFromPoolAsync(&at, 4096, old_pool, stream));
	IS(hipErrorInvalidHandle, hipMallocFromPoolAsync(&at, 4096, pool, old_stream));
	IS(hipErrorInvalidValue, hipMallocFromPoolAsync(&at, 4096, NULL, old_stream));
	OK(hipMallocFromPoolAsync(&at, 0, pool, stream));
	IS(hipErrorOutOfMemory, hipMallocFromPoolAsync(&at, SIZE_MAX, pool, stream));
	IS(hipErrorInvalidValue, hipFreeAsync(NULL, stream));
	IS(hipErrorInvalidValue, hipFreeAsync(NULL, old_stream));
	IS(hipErrorInvalidHandle, hipFreeAsync(from_pool, old_stream));
	IS(hipErrorInvalidHandle, hipFreeAsync(host, old_stream));
	IS(hipErrorInvalidValue, hipFreeAsync(host, stream));
}

static void shared()
{
	const hipMemAllocationHandleType fd_type = hipMemHandleTypePosixFileDescriptor;
	hipMemPoolPtrExportData data;
	hipMemPoolProps p = of_pool();
	hipMemPool_t exported, got;
	int fd = -1;

	p.handleTypes = (hipMemAllocationHandleType)0xd5d5d5d5;
	OK(hipMemPoolCreate(&exported, &p));
	IS(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(&fd, exported, fd_type, 0));
	IS(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(&fd, exported, p.handleTypes, 0));
	OK(hipMemPoolDestroy(exported));
	p.handleTypes = fd_type;
	OK(hipMemPoolCreate(&exported, &p));
	IS(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(NULL, exported, fd_type, 0));
	IS(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(&fd, NULL, fd_type, 0));
	IS(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(&fd, exported, fd_type, 1));
	IS(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(&fd, exported, hipMemHandleTypeNone, 0));
	IS(hipErrorInvalidValue, hipMemPoolExportToShareableHandle(&fd, pool, fd_type, 0)); /* for nobody else */
	IS(hipErrorInvalidValue, hipMemPoolImportFromShareableHandle(NULL, (void *)1, fd_type, 0));
	IS(hipErrorInvalidValue, hipMemPoolImportFromShareableHandle(&got, NULL, fd_type, 0));
	IS(hipErrorInvalidValue, hipMemPoolImportFromShareableHandle(&got, (void *)1, fd_type, 1));
	IS(hipErrorInvalidValue, hipMemPoolImportFromShareableHandle(&got, (void *)1, hipMemHandleTypeNone, 0));
	IS(hipErrorInvalidValue, hipMemPoolExportPointer(NULL, from_pool));
	IS(hipErrorInvalidValue, hipMemPoolExportPointer(&data, NULL));
	memset(&data, 0, sizeof(data));
	IS(hipErrorInvalidValue, hipMemPoolImportPointer(NULL, pool, &data));
	IS(hipErrorInvalidValue, hipMemPoolImportPointer(&at, NULL, &data));
	IS(hipErrorInvalidValue, hipMemPoolImportPointer(&at, pool, NULL));
	OK(hipMemPoolDestroy(exported));
}

static hipMemAllocationProp of_memory()
{
	hipMemAllocationProp p = {};

	p.type = hipMemAllocationTypePinned;
	p.location = {hipMemLocationTypeDevice, 0};
	return p;
}

static void virtual_memory()
{
	hipMemGenericAllocationHandle_t memory, got;
	hipMemAllocationProp p = of_memory(), got_p;
	hipMemAccessDesc access = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
	hipMemLocation place = {hipMemLocationTypeDevice, 0};
	unsigned long long flags;
	size_t grain = 0;
	int fd;

	IS(hipErrorInvalidValue, hipMemGetAllocationGranularity(NULL, &p, hipMemAllocationGranularityMinimum));
	IS(hipErrorInvalidValue, hipMemGetAllocationGranularity(&grain, NULL, hipMemAllocationGranularityMinimum));
	IS(hipErrorInvalidValue, hipMemGetAllocationGranularity(&grain, &p, (hipMemAllocationGranularity_flags)2));
	OK(hipMemGetAllocationGranularity(&grain, &p, hipMemAllocationGranularityRecommended));
	p.location.id = devices;
	IS(hipErrorInvalidValue, hipMemGetAllocationGranularity(&grain, &p, hipMemAllocationGranularityMinimum));
	p = of_memory();
	p.type = hipMemAllocationTypeInvalid;
	IS(hipErrorInvalidValue, hipMemGetAllocationGranularity(&grain, &p, hipMemAllocationGranularityMinimum));
	IS(hipErrorInvalidValue, hipMemCreate(&memory, BYTES, &p, 0));
	p = of_memory();
	p.location.type = hipMemLocationTypeInvalid;
	IS(hipErrorInvalidValue, hipMemCreate(&memory, BYTES, &p, 0));
	p = of_memory();
	p.location.id = -1;
	IS(hipErrorInvalidValue, hipMemCreate(&memory, BYTES, &p, 0));
	p.location.id = devices;
	IS(hipErrorInvalidValue, hipMemCreate(&memory, BYTES, &p, 0));
	p = of_memory();
	p.requestedHandleType = hipMemHandleTypeWin32;
	IS(hipErrorNotSupported, hipMemCreate(&memory, BYTES, &p, 0));
	p = of_memory();
	IS(hipErrorInvalidValue, hipMemCreate(NULL, BYTES, &p, 0));
	IS(hipErrorInvalidValue, hipMemCreate(&memory, 0, &p, 0));
	IS(hipErrorInvalidValue, hipMemCreate(&memory, BYTES, NULL, 0));
	IS(hipErrorInvalidValue, hipMemCreate(&memory, BYTES, &p, 1));
	IS(hipErrorInvalidValue, hipMemCreate(&memory, BYTES + 1, &p, 0));
	IS(hipErrorOutOfMemory, hipMemCreate(&memory, 1ull << 62, &p, 0));
	OK(hipMemCreate(&memory, BYTES, &p, 0));
	IS(hipErrorInvalidValue, hipMemAddressReserve(NULL, BYTES, 0, NULL, 0));
	IS(hipErrorInvalidValue, hipMemAddressReserve(&at, BYTES, 0, NULL, 1));
	IS(hipErrorOutOfMemory, hipMemAddressReserve(&at, 0, 0, NULL, 0));
	IS(hipErrorOutOfMemory, hipMemAddressReserve(&at, BYTES + 1, 0, NULL, 0));
	IS(hipErrorOutOfMemory, hipMemAddressReserve(&at, BYTES, 3, NULL, 0));
	OK(hipMemAddressReserve(&at, BYTES, 0, NULL, 0));
	IS(hipErrorInvalidValue, hipMemMap(NULL, BYTES, 0, memory, 0));
	IS(hipErrorInvalidValue, hipMemMap(at, 0, 0, memory, 0));
	IS(hipErrorInvalidValue, hipMemMap(at, BYTES, 1, memory, 0));
	IS(hipErrorInvalidValue, hipMemMap(at, BYTES, 0, NULL, 0));
	IS(hipErrorInvalidValue, hipMemMap(at, BYTES, 0, memory, 1));
	OK(hipMemMap(at, BYTES, 0, memory, 0));
	IS(hipErrorInvalidValue, hipMemSetAccess(NULL, BYTES, &access, 1));
	IS(hipErrorInvalidValue, hipMemSetAccess(at, 0, &access, 1));
	IS(hipErrorInvalidValue, hipMemSetAccess(at, BYTES, NULL, 1));
	IS(hipErrorInvalidValue, hipMemSetAccess(at, BYTES, &access, 0));
	access.location.id = devices;
	IS(hipErrorInvalidValue, hipMemSetAccess(at, BYTES, &access, 1));
	access.location.id = 0;
	OK(hipMemSetAccess(at, BYTES, &access, 1));
	IS(hipErrorInvalidValue, hipMemGetAccess(NULL, &place, at));
	IS(hipErrorInvalidValue, hipMemGetAccess(&flags, NULL, at));
	IS(hipErrorInvalidValue, hipMemGetAccess(&flags, &place, NULL));
	IS(hipErrorInvalidValue, hipMemGetAccess(&flags, &place, host));
	place.id = devices;
	IS(hipErrorInvalidValue, hipMemGetAccess(&flags, &place, at));
	IS(hipErrorInvalidValue, hipMemGetAllocationPropertiesFromHandle(NULL, memory));
	IS(hipErrorInvalidValue, hipMemGetAllocationPropertiesFromHandle(&got_p, NULL));
	IS(hipErrorInvalidValue, hipMemRetainAllocationHandle(NULL, at));
	IS(hipErrorInvalidValue, hipMemRetainAllocationHandle(&got, NULL));
	IS(hipErrorInvalidValue, hipMemRetainAllocationHandle(&got, host));
	IS(hipErrorInvalidValue, hipMemExportToShareableHandle(&fd, NULL, hipMemHandleTypePosixFileDescriptor, 0));
	IS(hipErrorInvalidValue, hipMemExportToShareableHandle(&fd, memory, hipMemHandleTypePosixFileDescriptor, 1));
	IS(hipErrorInvalidValue, hipMemExportToShareableHandle(NULL, memory, hipMemHandleTypePosixFileDescriptor, 0));
	IS(hipErrorInvalidValue,
	   hipMemImportFromShareableHandle(NULL, (void *)1, hipMemHandleTypePosixFileDescriptor));
	IS(hipErrorInvalidValue, hipMemImportFromShareableHandle(&got, NULL, hipMemHandleTypePosixFileDescriptor));
	/* A descriptor of -1. */
	IS(hipErrorInvalidValue, hipMemImportFromShareableHandle(&got, (void *)-1, hipMemHandleTypePosixFileDescriptor));
	/* Programs may have a million descriptors. */
	IS(hipErrorInvalidValue, hipMemImportFromShareableHandle(&got, (void *)1000000, hipMemHandleTypePosixFileDescriptor));
	IS(hipErrorInvalidValue,
	   hipMemImportFromShareableHandle(&got, (void *)0xffffffff, hipMemHandleTypePosixFileDescriptor));
	IS(hipErrorInvalidValue, hipMemUnmap(NULL, BYTES));
	IS(hipErrorInvalidValue, hipMemUnmap(at, 0));
	IS(hipErrorInvalidValue, hipMemUnmap(host, BYTES));
	OK(hipMemUnmap(at, BYTES));
	IS(hipErrorInvalidValue, hipMemAddressFree(NULL, BYTES));
	IS(hipErrorInvalidValue, hipMemAddressFree(at, 0));
	OK(hipMemAddressFree(at, BYTES));
	IS(hipErrorInvalidValue, hipMemRelease(NULL));
	OK(hipMemRelease(memory));
	IS(hipErrorInvalidValue, hipMemRelease(memory));
	IS(hipErrorInvalidValue, hipMemMapArrayAsync(NULL, 1, stream));
	IS(hipErrorInvalidValue, hipMemMapArrayAsync((hipArrayMapInfo *)host, 0, stream));
	IS(hipErrorNotSupported, hipMemMapArrayAsync((hipArrayMapInfo *)host, 1, stream));
}

static void external()
{
	hipExternalMemoryHandleDesc m = {};
	hipExternalMemoryBufferDesc b = {};
	hipExternalSemaphoreHandleDesc s = {};
	hipExternalSemaphoreSignalParams signal = {};
	hipExternalSemaphoreWaitParams wait = {};
	hipExternalSemaphore_t semaphore, none[] = {NULL};
	hipExternalMemory_t memory;

	m.type = hipExternalMemoryHandleTypeOpaqueFd;
	m.handle.fd = -1;
	m.size = 4096;
	IS(hipErrorInvalidValue, hipImportExternalMemory(NULL, &m));
	IS(hipErrorInvalidValue, hipImportExternalMemory(&memory, NULL));
	m.size = 0;
	IS(hipErrorInvalidValue, hipImportExternalMemory(&memory, &m));
	m.size = 4096;
	m.flags = 2;
	IS(hipErrorInvalidValue, hipImportExternalMemory(&memory, &m));
	m.flags = 0;
	m.type = (hipExternalMemoryHandleType)0;
	IS(hipErrorInvalidValue, hipImportExternalMemory(&memory, &m));
	m.type = (hipExternalMemoryHandleType)1000;
	IS(hipErrorInvalidValue, hipImportExternalMemory(&memory, &m));
	IS(hipErrorInvalidValue, hipExternalMemoryGetMappedBuffer(NULL, made_up<hipExternalMemory_t>(), &b));
	IS(hipErrorInvalidValue, hipExternalMemoryGetMappedBuffer(&at, NULL, &b));
	IS(hipErrorInvalidValue, hipExternalMemoryGetMappedBuffer(&at, made_up<hipExternalMemory_t>(), NULL));
	IS(hipErrorInvalidValue, hipDestroyExternalMemory(NULL));
	IS(hipErrorInvalidValue, hipDestroyExternalMemory(made_up<hipExternalMemory_t>()));
	s.type = hipExternalSemaphoreHandleTypeOpaqueFd;
	IS(hipErrorInvalidValue, hipImportExternalSemaphore(NULL, &s));
	IS(hipErrorInvalidValue, hipImportExternalSemaphore(&semaphore, NULL));
	s.type = (hipExternalSemaphoreHandleType)0;
	IS(hipErrorInvalidValue, hipImportExternalSemaphore(&semaphore, &s));
	s.type = (hipExternalSemaphoreHandleType)1000;
	IS(hipErrorInvalidValue, hipImportExternalSemaphore(&semaphore, &s));
	IS(hipErrorInvalidValue, hipDestroyExternalSemaphore(NULL));
	IS(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(NULL, &signal, 1, stream));
	IS(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(none, NULL, 1, stream));
	IS(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(none, &signal, 1, stream));
	IS(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(none, &signal, 1, old_stream));
	OK(hipSignalExternalSemaphoresAsync(none, &signal, 0, stream));
	IS(hipErrorInvalidValue, hipWaitExternalSemaphoresAsync(NULL, &wait, 1, stream));
	IS(hipErrorInvalidValue, hipWaitExternalSemaphoresAsync(none, NULL, 1, stream));
	IS(hipErrorInvalidValue, hipWaitExternalSemaphoresAsync(none, &wait, 1, stream));
	IS(hipErrorInvalidValue, hipWaitExternalSemaphoresAsync(none, &wait, 0, old_stream));
}

STATUSES("statuses: pools", begin, pools, attributes, in_order, shared, virtual_memory, external)
