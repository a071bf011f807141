/* Arrays: images in device memory. The device chooses the layout; only copies, textures and surfaces access an
 * array. All functions are thread safe. Errors: InvalidValue, for a size or format that the device does not have;
 * OutOfMemory; for a handle that is no array, or a freed one, InvalidHandle, InvalidValue (copies of the driver
 * API) or ContextIsDestroyed (freeing). */
#ifndef HIP_API_ARRAY_H
#define HIP_API_ARRAY_H

#include <hip/api/error.h>
#include <hip/driver_types.h>

#define hipArrayDefault          0x00
#define hipArrayLayered          0x01
#define hipArraySurfaceLoadStore 0x02
#define hipArrayCubemap          0x04
#define hipArrayTextureGather    0x08

HIP_API_BEGIN

/* Sizes are in elements. */
hipError_t hipMallocArray(hipArray_t *array, const hipChannelFormatDesc *desc, size_t width,
			  size_t height HIP_DEFAULT_ARG(0), unsigned int flags HIP_DEFAULT_ARG(0x00));
hipError_t hipMalloc3DArray(hipArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent,
			    unsigned int flags);
hipError_t hipFreeArray(hipArray_t array);
hipError_t hipArrayGetInfo(hipChannelFormatDesc *desc, hipExtent *extent, unsigned int *flags, hipArray_t array);
/* The same functions in the driver API. */
hipError_t hipArrayCreate(hipArray_t *pHandle, const HIP_ARRAY_DESCRIPTOR *pAllocateArray);
hipError_t hipArray3DCreate(hipArray_t *array, const HIP_ARRAY3D_DESCRIPTOR *pAllocateArray);
hipError_t hipArrayDestroy(hipArray_t array);
hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR *pArrayDescriptor, hipArray_t array);
hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR *pArrayDescriptor, hipArray_t array);

/* A level belongs to its mipmapped array. */
hipError_t hipMallocMipmappedArray(hipMipmappedArray_t *mipmappedArray, const hipChannelFormatDesc *desc,
				   hipExtent extent, unsigned int numLevels, unsigned int flags HIP_DEFAULT_ARG(0));
hipError_t hipFreeMipmappedArray(hipMipmappedArray_t mipmappedArray);
hipError_t hipGetMipmappedArrayLevel(hipArray_t *levelArray, hipMipmappedArray_const_t mipmappedArray,
				     unsigned int level);
hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t *pHandle, HIP_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
				   unsigned int numMipmapLevels);
hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t hMipmappedArray);
hipError_t hipMipmappedArrayGetLevel(hipArray_t *pLevelArray, hipMipmappedArray_t hMipMappedArray,
				     unsigned int level);

HIP_API_END

#endif
