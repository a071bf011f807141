/* Memory: allocation, registration of host memory, and queries of addresses. An address is the same for the host
 * and every GPU that can access the memory. Sizes are in bytes. Allocations belong to the caller until the matching
 * function frees them. All functions are thread safe. Errors: InvalidValue, for a NULL result, unknown flags, or a
 * pointer that is no allocation's; OutOfMemory. */
#ifndef HIP_API_MEMORY_H
#define HIP_API_MEMORY_H

#include <hip/api/stream.h>
#include <hip/driver_types.h>

/* Flags of host memory, in order: accessible to all devices; mapped for the GPU; not cached by the CPU; on the NUMA
 * node that the process prefers; coherent while a kernel runs; not coherent. */
#define hipHostMallocDefault       0x0
#define hipHostMallocPortable      0x1
#define hipHostMallocMapped        0x2
#define hipHostMallocWriteCombined 0x4
#define hipHostMallocNumaUser      0x20000000
#define hipHostMallocCoherent      0x40000000
#define hipHostMallocNonCoherent   0x80000000
#define hipHostAllocDefault        0x0
#define hipHostAllocPortable       0x1
#define hipHostAllocMapped         0x2
#define hipHostAllocWriteCombined  0x4

#define hipHostRegisterDefault          0x0
#define hipHostRegisterPortable         0x1
#define hipHostRegisterMapped           0x2
#define hipHostRegisterIoMemory         0x4
#define hipHostRegisterReadOnly         0x08
#define hipExtHostRegisterCoarseGrained 0x8

/* Flags of managed memory: for any stream; at first for the host only; for one stream only. */
#define hipMemAttachGlobal 0x01
#define hipMemAttachHost   0x02
#define hipMemAttachSingle 0x04

/* hipExtMallocWithFlags(). Signal memory is 8 bytes. */
#define hipDeviceMallocDefault     0x0
#define hipDeviceMallocFinegrained 0x1
#define hipMallocSignalMemory      0x2
#define hipDeviceMallocUncached    0x3
#define hipDeviceMallocContiguous  0x4

/* Result of hipPointerGetAttributes(). device: where the memory is; -2 for memory that HIP does not know.
 * hostPointer, devicePointer: the queried address for each side; NULL if that side has none. allocationFlags: flags
 * of the allocation. */
typedef struct hipPointerAttribute_t {
#if TUFF_HIP_ABI == 5
	__extension__ union {
		hipMemoryType memoryType;
		hipMemoryType type;
	};
#else
	hipMemoryType type;
#endif
	int device;
	void *devicePointer;
	void *hostPointer;
	int isManaged;
	unsigned allocationFlags;
} hipPointerAttribute_t;

typedef enum hipMemoryAdvise {
	hipMemAdviseSetReadMostly = 1,
	hipMemAdviseUnsetReadMostly = 2,
	hipMemAdviseSetPreferredLocation = 3,
	hipMemAdviseUnsetPreferredLocation = 4,
	hipMemAdviseSetAccessedBy = 5,
	hipMemAdviseUnsetAccessedBy = 6,
	hipMemAdviseSetCoarseGrain = 100,
	hipMemAdviseUnsetCoarseGrain = 101
} hipMemoryAdvise;
typedef enum hipMemRangeCoherencyMode {
	hipMemRangeCoherencyModeFineGrain = 0,
	hipMemRangeCoherencyModeCoarseGrain = 1,
	hipMemRangeCoherencyModeIndeterminate = 2
} hipMemRangeCoherencyMode;
typedef enum hipMemRangeAttribute {
	hipMemRangeAttributeReadMostly = 1,
	hipMemRangeAttributePreferredLocation = 2,
	hipMemRangeAttributeAccessedBy = 3,
	hipMemRangeAttributeLastPrefetchLocation = 4,
	hipMemRangeAttributeCoherencyMode = 100
} hipMemRangeAttribute;

/* A place of memory. id: of the device, or of the NUMA node. */
typedef enum hipMemLocationType {
	hipMemLocationTypeInvalid = 0,
	hipMemLocationTypeNone = 0,
	hipMemLocationTypeDevice = 1,
	hipMemLocationTypeHost = 2,
	hipMemLocationTypeHostNuma = 3,
	hipMemLocationTypeHostNumaCurrent = 4
} hipMemLocationType;
typedef struct hipMemLocation {
	hipMemLocationType type;
	int id;
} hipMemLocation;

HIP_API_BEGIN

/* --- the device's ----------------------------------------------------------------------------- */

/* Aligned to at least 256 bytes. A size of 0 gives NULL and Success. Does not wait for the GPU. */
hipError_t hipMalloc(void **ptr, size_t size);
hipError_t hipExtMallocWithFlags(void **ptr, size_t sizeBytes, unsigned int flags);
/* Waits until the device that has the memory is idle. NULL: Success. */
hipError_t hipFree(void *ptr);
/* Allocates rows of width bytes, each at a multiple of *pitch, which the device chooses. Freed by hipFree(). */
hipError_t hipMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height);
hipError_t hipMemAllocPitch(hipDeviceptr_t *dptr, size_t *pitch, size_t widthInBytes, size_t height,
			    unsigned int elementSizeBytes);
hipError_t hipMalloc3D(hipPitchedPtr *pitchedDevPtr, hipExtent extent);
/* The current device's memory. */
hipError_t hipMemGetInfo(size_t *free, size_t *total);

/* --- the host's ------------------------------------------------------------------------------- */

/* Pinned: GPUs can access the memory, and copies need no staging. Freed by hipHostFree(). */
hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags);
hipError_t hipHostAlloc(void **ptr, size_t size, unsigned int flags);
HIP_DEPRECATED hipError_t hipMallocHost(void **ptr, size_t size);
HIP_DEPRECATED hipError_t hipMemAllocHost(void **ptr, size_t size);
hipError_t hipHostFree(void *ptr);
hipError_t hipFreeHost(void *ptr);
/* flags: 0. Returns the same address as the host's. */
hipError_t hipHostGetDevicePointer(void **devPtr, void *hstPtr, unsigned int flags);
hipError_t hipHostGetFlags(unsigned int *flagsPtr, void *hostPtr);
/* Pins memory of the caller by pages, which must stay mapped until it is unregistered. Errors:
 * HostMemoryAlreadyRegistered, HostMemoryNotRegistered. */
hipError_t hipHostRegister(void *hostPtr, size_t sizeBytes, unsigned int flags);
hipError_t hipHostUnregister(void *hostPtr);

/* --- managed ---------------------------------------------------------------------------------- */

/* Memory for the host and all GPUs, which may use it at any time. Freed by hipFree(). Errors: InvalidValue, for 0
 * bytes. */
hipError_t hipMallocManaged(void **dev_ptr, size_t size, unsigned int flags HIP_DEFAULT_ARG(0x01));
/* Hints. They are stored, and change no result. */
hipError_t hipMemPrefetchAsync(const void *dev_ptr, size_t count, int device,
			       hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemAdvise(const void *dev_ptr, size_t count, hipMemoryAdvise advice, int device);
/* The same with a location (7.1 and later): of the host's kinds the number does not matter. flags: 0. */
hipError_t hipMemPrefetchAsync_v2(const void *dev_ptr, size_t count, hipMemLocation location, unsigned int flags,
				  hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemAdvise_v2(const void *dev_ptr, size_t count, hipMemoryAdvise advice, hipMemLocation location);
hipError_t hipMemRangeGetAttribute(void *data, size_t data_size, hipMemRangeAttribute attribute,
				   const void *dev_ptr, size_t count);
hipError_t hipMemRangeGetAttributes(void **data, size_t *data_sizes, hipMemRangeAttribute *attributes,
				    size_t num_attributes, const void *dev_ptr, size_t count);
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void *dev_ptr, size_t length HIP_DEFAULT_ARG(0),
				   unsigned int flags HIP_DEFAULT_ARG(0x04));

/* --- addresses -------------------------------------------------------------------------------- */

/* For unknown memory ABI 5 returns InvalidValue, ABI 6 hipMemoryTypeUnregistered. */
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *ptr);
/* data has the size of the attribute's value. */
hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute, hipDeviceptr_t ptr);
hipError_t hipPointerSetAttribute(const void *value, hipPointer_attribute attribute, hipDeviceptr_t ptr);
hipError_t hipDrvPointerGetAttributes(unsigned int numAttributes, hipPointer_attribute *attributes, void **data,
				      hipDeviceptr_t ptr);
/* The allocation that contains an address. Errors: NotFound. */
hipError_t hipMemGetAddressRange(hipDeviceptr_t *pbase, size_t *psize, hipDeviceptr_t dptr);
hipError_t hipMemPtrGetInfo(void *ptr, size_t *size);

/* --- handles (7.0 and later) ------------------------------------------------------------------ */

typedef enum hipMemRangeHandleType {
	hipMemRangeHandleTypeDmaBufFd = 1,
	hipMemRangeHandleTypeMax = 0x7fffffff
} hipMemRangeHandleType;
typedef enum hipMemRangeFlags {
	hipMemRangeFlagDmaBufMappingTypePcie = 1,
	hipMemRangeFlagsMax = 0x7fffffff
} hipMemRangeFlags;
/* A dma-buf of device memory: *(int *)handle, which the caller closes. Errors: InvalidValue, for other memory. */
hipError_t hipMemGetHandleForAddressRange(void *handle, hipDeviceptr_t dptr, size_t size,
					  hipMemRangeHandleType handleType, unsigned long long flags);

HIP_API_END

#endif
