/* Pools: memory that is allocated and freed in the order of a stream.
 *
 * hipMallocAsync() gives an address at once; the memory may be used by work that runs after the call in its stream.
 * After hipFreeAsync() it may be given out again to whoever runs later. Neither waits for the GPU. A pool keeps
 * what was freed, and gives back what is above its release threshold when a stream is waited for. Sizes are in
 * bytes. All functions are thread safe. InvalidValue: NULL, unknown attributes or flags; OutOfMemory. */
#ifndef HIP_API_POOL_H
#define HIP_API_POOL_H

#include <hip/api/stream.h>

/* What freed memory may be reused by: streams that wait for an event after the free; work that is seen to have
 * ended; streams that the library makes wait (int, 1 by default). The threshold, and what is reserved from the
 * device and used by allocations, now and at most (uint64_t; a maximum can be set to 0). */
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
typedef enum hipMemLocationType { hipMemLocationTypeInvalid = 0, hipMemLocationTypeDevice = 1 } hipMemLocationType;
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

/* id: a device's number. */
typedef struct hipMemLocation {
	hipMemLocationType type;
	int id;
} hipMemLocation;

typedef struct hipMemAccessDesc {
	hipMemLocation location;
	hipMemAccessFlags flags;
} hipMemAccessDesc;

/* handleTypes: how the pool can be exported, or hipMemHandleTypeNone. maxSize: 0, the library chooses. reserved: 0.
 */
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

/* Names one allocation of an exported pool to another process. */
typedef struct hipMemPoolPtrExportData {
	unsigned char reserved[64];
} hipMemPoolPtrExportData;

HIP_API_BEGIN

/* From the current pool of the stream's device. 0 bytes: NULL and Success. */
hipError_t hipMallocAsync(void **dev_ptr, size_t size, hipStream_t stream);
hipError_t hipMallocFromPoolAsync(void **dev_ptr, size_t size, hipMemPool_t mem_pool, hipStream_t stream);
/* Also for memory of hipMalloc(). NULL: InvalidValue. */
hipError_t hipFreeAsync(void *dev_ptr, hipStream_t stream);

/* The pool that every device has, and the one that hipMallocAsync() uses, which is that until another is set. */
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *mem_pool, int device);
hipError_t hipDeviceGetMemPool(hipMemPool_t *mem_pool, int device);
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t mem_pool);
/* The caller's; hipMemPoolDestroy() leaves memory that is in use alone until it is freed. */
hipError_t hipMemPoolCreate(hipMemPool_t *mem_pool, const hipMemPoolProps *pool_props);
hipError_t hipMemPoolDestroy(hipMemPool_t mem_pool);
hipError_t hipMemPoolSetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value);
hipError_t hipMemPoolGetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value);
/* Gives back what is free, as far as at least so many bytes stay reserved. */
hipError_t hipMemPoolTrimTo(hipMemPool_t mem_pool, size_t min_bytes_to_hold);
/* Which other devices reach the pool's memory, that which is given out already included. */
hipError_t hipMemPoolSetAccess(hipMemPool_t mem_pool, const hipMemAccessDesc *desc_list, size_t count);
hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t mem_pool, hipMemLocation *location);

/* Between processes: the pool as a file descriptor (which the caller closes), then single allocations. An imported
 * pool allocates nothing. */
hipError_t hipMemPoolExportToShareableHandle(void *shared_handle, hipMemPool_t mem_pool,
					     hipMemAllocationHandleType handle_type, unsigned int flags);
hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t *mem_pool, void *shared_handle,
					       hipMemAllocationHandleType handle_type, unsigned int flags);
hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData *export_data, void *dev_ptr);
hipError_t hipMemPoolImportPointer(void **dev_ptr, hipMemPool_t mem_pool, hipMemPoolPtrExportData *export_data);

HIP_API_END

#endif
