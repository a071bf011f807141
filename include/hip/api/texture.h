/* Textures and surfaces: objects through which kernels read and write images. They refer to memory of the caller,
 * which must outlive them. All functions are thread safe. Errors: InvalidValue, for NULL or a description that the
 * device cannot have; NotSupported, for images that it does not support. */
#ifndef HIP_API_TEXTURE_H
#define HIP_API_TEXTURE_H

#include <hip/api/array.h>
#include <hip/channel_descriptor.h>
#include <hip/surface_types.h>
#include <hip/texture_types.h>

HIP_API_BEGIN

/* --- objects ---------------------------------------------------------------------------------- */

/* pResViewDesc: NULL, or a view of an array. Destroying a NULL object succeeds. */
hipError_t hipCreateTextureObject(hipTextureObject_t *pTexObject, const hipResourceDesc *pResDesc,
				  const hipTextureDesc *pTexDesc, const hipResourceViewDesc *pResViewDesc);
hipError_t hipDestroyTextureObject(hipTextureObject_t textureObject);
hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc *pResDesc, hipTextureObject_t textureObject);
hipError_t hipGetTextureObjectResourceViewDesc(hipResourceViewDesc *pResViewDesc, hipTextureObject_t textureObject);
hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc *pTexDesc, hipTextureObject_t textureObject);
hipError_t hipTexObjectCreate(hipTextureObject_t *pTexObject, const HIP_RESOURCE_DESC *pResDesc,
			      const HIP_TEXTURE_DESC *pTexDesc, const HIP_RESOURCE_VIEW_DESC *pResViewDesc);
hipError_t hipTexObjectDestroy(hipTextureObject_t texObject);
hipError_t hipTexObjectGetResourceDesc(HIP_RESOURCE_DESC *pResDesc, hipTextureObject_t texObject);
hipError_t hipTexObjectGetResourceViewDesc(HIP_RESOURCE_VIEW_DESC *pResViewDesc, hipTextureObject_t texObject);
hipError_t hipTexObjectGetTextureDesc(HIP_TEXTURE_DESC *pTexDesc, hipTextureObject_t texObject);
hipError_t hipCreateSurfaceObject(hipSurfaceObject_t *pSurfObject, const hipResourceDesc *pResDesc);
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surfaceObject);
/* Format of an array's elements. */
hipError_t hipGetChannelDesc(hipChannelFormatDesc *desc, hipArray_const_t array);

/* The texels that a texture of linear memory has at most (7.0 and later). */
hipError_t hipDeviceGetTexture1DLinearMaxWidth(size_t *max_width, const hipChannelFormatDesc *desc, int device);

/* --- references: variables of the program that textures are bound to --------------------------- */

HIP_DEPRECATED hipError_t hipBindTexture(size_t *offset, const textureReference *tex, const void *devPtr,
					 const hipChannelFormatDesc *desc,
					 size_t size HIP_DEFAULT_ARG(0xffffffffu));
HIP_DEPRECATED hipError_t hipBindTexture2D(size_t *offset, const textureReference *tex, const void *devPtr,
					   const hipChannelFormatDesc *desc, size_t width, size_t height,
					   size_t pitch);
HIP_DEPRECATED hipError_t hipBindTextureToArray(const textureReference *tex, hipArray_const_t array,
						const hipChannelFormatDesc *desc);
HIP_DEPRECATED hipError_t hipBindTextureToMipmappedArray(const textureReference *tex,
							 hipMipmappedArray_const_t mipmappedArray,
							 const hipChannelFormatDesc *desc);
HIP_DEPRECATED hipError_t hipUnbindTexture(const textureReference *tex);
HIP_DEPRECATED hipError_t hipGetTextureReference(const textureReference **texref, const void *symbol);
HIP_DEPRECATED hipError_t hipGetTextureAlignmentOffset(size_t *offset, const textureReference *texref);

HIP_DEPRECATED hipError_t hipTexRefSetAddress(size_t *ByteOffset, textureReference *texRef, hipDeviceptr_t dptr,
					      size_t bytes);
HIP_DEPRECATED hipError_t hipTexRefSetAddress2D(textureReference *texRef, const HIP_ARRAY_DESCRIPTOR *desc,
						hipDeviceptr_t dptr, size_t Pitch);
HIP_DEPRECATED hipError_t hipTexRefSetArray(textureReference *tex, hipArray_const_t array, unsigned int flags);
HIP_DEPRECATED hipError_t hipTexRefSetMipmappedArray(textureReference *texRef, hipMipmappedArray *mipmappedArray,
						     unsigned int Flags);
HIP_DEPRECATED hipError_t hipTexRefSetAddressMode(textureReference *texRef, int dim, hipTextureAddressMode am);
HIP_DEPRECATED hipError_t hipTexRefSetFilterMode(textureReference *texRef, hipTextureFilterMode fm);
HIP_DEPRECATED hipError_t hipTexRefSetFlags(textureReference *texRef, unsigned int Flags);
HIP_DEPRECATED hipError_t hipTexRefSetFormat(textureReference *texRef, hipArray_Format fmt,
					     int NumPackedComponents);
HIP_DEPRECATED hipError_t hipTexRefSetMaxAnisotropy(textureReference *texRef, unsigned int maxAniso);
HIP_DEPRECATED hipError_t hipTexRefSetBorderColor(textureReference *texRef, float *pBorderColor);
HIP_DEPRECATED hipError_t hipTexRefSetMipmapFilterMode(textureReference *texRef, hipTextureFilterMode fm);
HIP_DEPRECATED hipError_t hipTexRefSetMipmapLevelBias(textureReference *texRef, float bias);
HIP_DEPRECATED hipError_t hipTexRefSetMipmapLevelClamp(textureReference *texRef, float minMipMapLevelClamp,
						       float maxMipMapLevelClamp);
HIP_DEPRECATED hipError_t hipTexRefGetAddress(hipDeviceptr_t *dev_ptr, const textureReference *texRef);
HIP_DEPRECATED hipError_t hipTexRefGetArray(hipArray_t *pArray, const textureReference *texRef);
HIP_DEPRECATED hipError_t hipTexRefGetMipMappedArray(hipMipmappedArray_t *pArray, const textureReference *texRef);
HIP_DEPRECATED hipError_t hipTexRefGetAddressMode(hipTextureAddressMode *pam, const textureReference *texRef,
						  int dim);
HIP_DEPRECATED hipError_t hipTexRefGetFilterMode(hipTextureFilterMode *pfm, const textureReference *texRef);
HIP_DEPRECATED hipError_t hipTexRefGetFlags(unsigned int *pFlags, const textureReference *texRef);
HIP_DEPRECATED hipError_t hipTexRefGetFormat(hipArray_Format *pFormat, int *pNumChannels,
					     const textureReference *texRef);
HIP_DEPRECATED hipError_t hipTexRefGetMaxAnisotropy(int *pmaxAnsio, const textureReference *texRef);
HIP_DEPRECATED hipError_t hipTexRefGetBorderColor(float *pBorderColor, const textureReference *texRef);
HIP_DEPRECATED hipError_t hipTexRefGetMipmapFilterMode(hipTextureFilterMode *pfm, const textureReference *texRef);
HIP_DEPRECATED hipError_t hipTexRefGetMipmapLevelBias(float *pbias, const textureReference *texRef);
HIP_DEPRECATED hipError_t hipTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp,
						       const textureReference *texRef);

HIP_API_END

#endif
