/* Virtual memory management: a program reserves a range of addresses, creates memory, maps it there, and grants
 * devices access. Sizes and addresses are multiples of the granularity. All functions are thread safe. Errors:
 * InvalidValue, for NULL, sizes that are no multiple, flags other than 0, ranges that are not one mapping;
 * OutOfMemory; NotSupported. */
#ifndef HIP_API_VIRTUAL_MEMORY_H
#define HIP_API_VIRTUAL_MEMORY_H

#include <hip/api/array.h>
#include <hip/api/pool.h>

typedef struct ihipMemGenericAllocationHandle *hipMemGenericAllocationHandle_t;

typedef struct hipMemAllocationProp {
	hipMemAllocationType type;
	hipMemAllocationHandleType requestedHandleType;
	hipMemLocation location;
	void *win32HandleMetaData;
	struct {
		unsigned char compressionType;
		unsigned char gpuDirectRDMACapable;
		unsigned short usage;
	} allocFlags;
} hipMemAllocationProp;

typedef enum hipMemAllocationGranularity_flags {
	hipMemAllocationGranularityMinimum = 0,
	hipMemAllocationGranularityRecommended = 1
} hipMemAllocationGranularity_flags;
typedef enum hipMemHandleType { hipMemHandleTypeGeneric = 0 } hipMemHandleType;
typedef enum hipMemOperationType { hipMemOperationTypeMap = 1, hipMemOperationTypeUnmap = 2 } hipMemOperationType;
typedef enum hipArraySparseSubresourceType {
	hipArraySparseSubresourceTypeSparseLevel = 0,
	hipArraySparseSubresourceTypeMiptail = 1
} hipArraySparseSubresourceType;

typedef struct hipArrayMapInfo {
	hipResourceType resourceType;
	union {
		hipMipmappedArray mipmap;
		hipArray_t array;
	} resource;
	hipArraySparseSubresourceType subresourceType;
	union {
		struct {
			unsigned int level;
			unsigned int layer;
			unsigned int offsetX;
			unsigned int offsetY;
			unsigned int offsetZ;
			unsigned int extentWidth;
			unsigned int extentHeight;
			unsigned int extentDepth;
		} sparseLevel;
		struct {
			unsigned int layer;
			unsigned long long offset;
			unsigned long long size;
		} miptail;
	} subresource;
	hipMemOperationType memOperationType;
	hipMemHandleType memHandleType;
	union {
		hipMemGenericAllocationHandle_t memHandle;
	} memHandle;
	unsigned long long offset;
	unsigned int deviceBitMask;
	unsigned int flags;
	unsigned int reserved[2];
} hipArrayMapInfo;

HIP_API_BEGIN

hipError_t hipMemGetAllocationGranularity(size_t *granularity, const hipMemAllocationProp *prop,
					  hipMemAllocationGranularity_flags option);
/* addr: the requested address, or NULL. alignment: a power of two, or 0. */
hipError_t hipMemAddressReserve(void **ptr, size_t size, size_t alignment, void *addr, unsigned long long flags);
hipError_t hipMemAddressFree(void *devPtr, size_t size);
/* Creates memory without an address. It is freed when it is released and its last mapping is removed. */
hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t size, const hipMemAllocationProp *prop,
			unsigned long long flags);
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle);
/* offset: 0. The memory cannot be accessed before hipMemSetAccess(). */
hipError_t hipMemMap(void *ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
		     unsigned long long flags);
hipError_t hipMemUnmap(void *ptr, size_t size);
/* Sets the access of each device of desc to the range. */
hipError_t hipMemSetAccess(void *ptr, size_t size, const hipMemAccessDesc *desc, size_t count);
hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location, void *ptr);
/* Sharing with other processes by a file descriptor, which the caller closes. */
hipError_t hipMemExportToShareableHandle(void *shareableHandle, hipMemGenericAllocationHandle_t handle,
					 hipMemAllocationHandleType handleType, unsigned long long flags);
hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *handle, void *osHandle,
					   hipMemAllocationHandleType shHandleType);
hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp *prop,
						   hipMemGenericAllocationHandle_t handle);
/* Returns the memory that is mapped at addr, with one more reference. */
hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle, void *addr);
/* NotSupported. */
hipError_t hipMemMapArrayAsync(hipArrayMapInfo *mapInfoList, unsigned int count, hipStream_t stream);

HIP_API_END

#endif
