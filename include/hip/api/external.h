/* Memory and semaphores of other interfaces, such as Vulkan and OpenGL. All functions are thread safe. Errors:
 * InvalidValue, for NULL or a kind of handle that this system does not have; NotSupported. */
#ifndef HIP_API_EXTERNAL_H
#define HIP_API_EXTERNAL_H

#include <hip/api/array.h>
#include <hip/api/stream.h>

#define hipExternalMemoryDedicated 0x1

typedef enum hipExternalMemoryHandleType_enum {
	hipExternalMemoryHandleTypeOpaqueFd = 1,
	hipExternalMemoryHandleTypeOpaqueWin32 = 2,
	hipExternalMemoryHandleTypeOpaqueWin32Kmt = 3,
	hipExternalMemoryHandleTypeD3D12Heap = 4,
	hipExternalMemoryHandleTypeD3D12Resource = 5,
	hipExternalMemoryHandleTypeD3D11Resource = 6,
	hipExternalMemoryHandleTypeD3D11ResourceKmt = 7,
	hipExternalMemoryHandleTypeNvSciBuf = 8
} hipExternalMemoryHandleType;
/* The library owns a file descriptor after its import. size is in bytes; reserved is 0. */
typedef struct hipExternalMemoryHandleDesc_st {
	hipExternalMemoryHandleType type;
	union {
		int fd;
		struct {
			void *handle;
			const void *name;
		} win32;
		const void *nvSciBufObject;
	} handle;
	unsigned long long size;
	unsigned int flags;
#if TUFF_HIP_ABI >= 6
	unsigned int reserved[16];
#endif
} hipExternalMemoryHandleDesc;

typedef struct hipExternalMemoryBufferDesc_st {
	unsigned long long offset;
	unsigned long long size;
	unsigned int flags;
#if TUFF_HIP_ABI >= 6
	unsigned int reserved[16];
#endif
} hipExternalMemoryBufferDesc;

typedef struct hipExternalMemoryMipmappedArrayDesc_st {
	unsigned long long offset;
	hipChannelFormatDesc formatDesc;
	hipExtent extent;
	unsigned int flags;
	unsigned int numLevels;
} hipExternalMemoryMipmappedArrayDesc;
typedef void *hipExternalMemory_t;

typedef enum hipExternalSemaphoreHandleType_enum {
	hipExternalSemaphoreHandleTypeOpaqueFd = 1,
	hipExternalSemaphoreHandleTypeOpaqueWin32 = 2,
	hipExternalSemaphoreHandleTypeOpaqueWin32Kmt = 3,
	hipExternalSemaphoreHandleTypeD3D12Fence = 4,
	hipExternalSemaphoreHandleTypeD3D11Fence = 5,
	hipExternalSemaphoreHandleTypeNvSciSync = 6,
	hipExternalSemaphoreHandleTypeKeyedMutex = 7,
	hipExternalSemaphoreHandleTypeKeyedMutexKmt = 8,
	hipExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9,
	hipExternalSemaphoreHandleTypeTimelineSemaphoreWin32 = 10
} hipExternalSemaphoreHandleType;
typedef struct hipExternalSemaphoreHandleDesc_st {
	hipExternalSemaphoreHandleType type;
	union {
		int fd;
		struct {
			void *handle;
			const void *name;
		} win32;
#if TUFF_HIP_ABI >= 6
		const void *NvSciSyncObj;
#endif
	} handle;
	unsigned int flags;
#if TUFF_HIP_ABI >= 6
	unsigned int reserved[16];
#endif
} hipExternalSemaphoreHandleDesc;
typedef void *hipExternalSemaphore_t;

/* fence.value: the value that a timeline semaphore gets, or is waited for. */
typedef struct hipExternalSemaphoreSignalParams_st {
	struct {
		struct {
			unsigned long long value;
		} fence;
#if TUFF_HIP_ABI >= 6
		union {
			void *fence;
			unsigned long long reserved;
		} nvSciSync;
#endif
		struct {
			unsigned long long key;
		} keyedMutex;
		unsigned int reserved[12];
	} params;
	unsigned int flags;
	unsigned int reserved[16];
} hipExternalSemaphoreSignalParams;

typedef struct hipExternalSemaphoreWaitParams_st {
	struct {
		struct {
			unsigned long long value;
		} fence;
#if TUFF_HIP_ABI >= 6
		union {
			void *fence;
			unsigned long long reserved;
		} nvSciSync;
#endif
		struct {
			unsigned long long key;
			unsigned int timeoutMs;
		} keyedMutex;
		unsigned int reserved[10];
	} params;
	unsigned int flags;
	unsigned int reserved[16];
} hipExternalSemaphoreWaitParams;

/* The use that kernels make of an OpenGL resource. */
typedef enum hipGraphicsRegisterFlags {
	hipGraphicsRegisterFlagsNone = 0,
	hipGraphicsRegisterFlagsReadOnly = 1,
	hipGraphicsRegisterFlagsWriteDiscard = 2,
	hipGraphicsRegisterFlagsSurfaceLoadStore = 4,
	hipGraphicsRegisterFlagsTextureGather = 8
} hipGraphicsRegisterFlags;
typedef struct _hipGraphicsResource hipGraphicsResource;
typedef hipGraphicsResource *hipGraphicsResource_t;

HIP_API_BEGIN

hipError_t hipImportExternalMemory(hipExternalMemory_t *extMem_out,
				   const hipExternalMemoryHandleDesc *memHandleDesc);
hipError_t hipDestroyExternalMemory(hipExternalMemory_t extMem);
/* Freed by hipFree(). */
hipError_t hipExternalMemoryGetMappedBuffer(void **devPtr, hipExternalMemory_t extMem,
					    const hipExternalMemoryBufferDesc *bufferDesc);

hipError_t hipImportExternalSemaphore(hipExternalSemaphore_t *extSem_out,
				      const hipExternalSemaphoreHandleDesc *semHandleDesc);
hipError_t hipDestroyExternalSemaphore(hipExternalSemaphore_t extSem);
/* Signals and waits in the stream's order. */
hipError_t hipSignalExternalSemaphoresAsync(const hipExternalSemaphore_t *extSemArray,
					    const hipExternalSemaphoreSignalParams *paramsArray,
					    unsigned int numExtSems, hipStream_t stream);
hipError_t hipWaitExternalSemaphoresAsync(const hipExternalSemaphore_t *extSemArray,
					  const hipExternalSemaphoreWaitParams *paramsArray,
					  unsigned int numExtSems, hipStream_t stream);

/* Between the two calls HIP owns the resource, and OpenGL must not use it. */
hipError_t hipGraphicsMapResources(int count, hipGraphicsResource_t *resources,
				   hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipGraphicsUnmapResources(int count, hipGraphicsResource_t *resources,
				     hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipGraphicsSubResourceGetMappedArray(hipArray_t *array, hipGraphicsResource_t resource,
						unsigned int arrayIndex, unsigned int mipLevel);
hipError_t hipGraphicsResourceGetMappedPointer(void **devPtr, size_t *size, hipGraphicsResource_t resource);
hipError_t hipGraphicsUnregisterResource(hipGraphicsResource_t resource);

HIP_API_END

#endif
