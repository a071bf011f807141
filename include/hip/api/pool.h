/* Pools: memory that is allocated and freed in the order of a stream. hipMallocAsync() returns an address at once;
 * work that runs after the call in its stream may use the memory. After hipFreeAsync() later work may get it again.
 * Neither waits for the GPU. A pool keeps freed memory, and releases what exceeds its release threshold when the
 * host waits for a stream. Sizes are in bytes. All functions are thread safe. Errors: InvalidValue, for NULL,
 * unknown attributes or flags; OutOfMemory. */
#ifndef HIP_API_POOL_H
#define HIP_API_POOL_H

#include <hip/api/memory.h>

/* Three policies say which work may reuse freed memory: streams that wait for an event after the free; any work
 * once the free's stream has completed; streams that the library makes wait (int, 1 by default). The others
 * (uint64_t) are the release threshold, and reserved and used memory with their maxima, which can be reset to 0. */
typedef enum hipMemPoolAttr {
	hipMemPoolReuseFollowEventDependencies = 1,
	hipMemPoolReuseAllowOpportunistic = 2,
	hipMemPoolReuseAllowInternalDependencies = 3,
	hipMemPoolAttrReleaseThreshold = 4,
	hipMemPoolAttrReservedMemCurrent = 5,
	hipMemPoolAttrReservedMemHigh = 6,
	hipMemPoolAttrUsedMemCurrent = 7,
	hipMemPoolAttrUsedMemHigh = 8
} hipMemPoolAttr;
typedef enum hipMemAccessFlags {
	hipMemAccessFlagsProtNone = 0,
	hipMemAccessFlagsProtRead = 1,
	hipMemAccessFlagsProtReadWrite = 3
} hipMemAccessFlags;
typedef enum hipMemAllocationType {
	hipMemAllocationTypeInvalid = 0,
	hipMemAllocationTypePinned = 1,
	hipMemAllocationTypeMax = 0x7fffffff
} hipMemAllocationType;
typedef enum hipMemAllocationHandleType {
	hipMemHandleTypeNone = 0,
	hipMemHandleTypePosixFileDescriptor = 1,
	hipMemHandleTypeWin32 = 2,
	hipMemHandleTypeWin32Kmt = 4
} hipMemAllocationHandleType;

/* id: the number of a device. */
typedef struct hipMemAccessDesc {
	hipMemLocation location;
	hipMemAccessFlags flags;
} hipMemAccessDesc;

/* handleTypes: how the pool can be exported, or hipMemHandleTypeNone. maxSize 0: the library chooses. reserved:
 * 0. */
typedef struct hipMemPoolProps {
	hipMemAllocationType allocType;
	hipMemAllocationHandleType handleTypes;
	hipMemLocation location;
	void *win32SecurityAttributes;
#if TUFF_HIP_ABI == 5
	unsigned char reserved[64];
#else
	size_t maxSize;
	unsigned char reserved[56];
#endif
} hipMemPoolProps;

/* Identifies one allocation of an exported pool in another process. */
typedef struct hipMemPoolPtrExportData {
	unsigned char reserved[64];
} hipMemPoolPtrExportData;

HIP_API_BEGIN

/* Allocates from the current pool of the stream's device. 0 bytes: NULL and Success. */
hipError_t hipMallocAsync(void **dev_ptr, size_t size, hipStream_t stream);
hipError_t hipMallocFromPoolAsync(void **dev_ptr, size_t size, hipMemPool_t mem_pool, hipStream_t stream);
/* Accepts memory of hipMalloc(), too. Errors: InvalidValue, for NULL. */
hipError_t hipFreeAsync(void *dev_ptr, hipStream_t stream);

/* The default pool of a device, and its current pool, which hipMallocAsync() uses; the default pool is current
 * until another is set. */
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *mem_pool, int device);
hipError_t hipDeviceGetMemPool(hipMemPool_t *mem_pool, int device);
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t mem_pool);
/* The pool belongs to the caller; after hipMemPoolDestroy() memory in use stays valid until it is freed. */
hipError_t hipMemPoolCreate(hipMemPool_t *mem_pool, const hipMemPoolProps *pool_props);
hipError_t hipMemPoolDestroy(hipMemPool_t mem_pool);
hipError_t hipMemPoolSetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value);
hipError_t hipMemPoolGetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value);
/* Releases free memory, but keeps at least that many bytes reserved. */
hipError_t hipMemPoolTrimTo(hipMemPool_t mem_pool, size_t min_bytes_to_hold);
/* Sets which other devices can access the pool's memory, existing allocations included. */
hipError_t hipMemPoolSetAccess(hipMemPool_t mem_pool, const hipMemAccessDesc *desc_list, size_t count);
hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t mem_pool, hipMemLocation *location);

/* Sharing with other processes: first the pool as a file descriptor (which the caller closes), then single
 * allocations. An imported pool cannot allocate. */
hipError_t hipMemPoolExportToShareableHandle(void *shared_handle, hipMemPool_t mem_pool,
					     hipMemAllocationHandleType handle_type, unsigned int flags);
hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t *mem_pool, void *shared_handle,
					       hipMemAllocationHandleType handle_type, unsigned int flags);
hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData *export_data, void *dev_ptr);
hipError_t hipMemPoolImportPointer(void **dev_ptr, hipMemPool_t mem_pool, hipMemPoolPtrExportData *export_data);

HIP_API_END

#endif
