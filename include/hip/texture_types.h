/* Textures: addressing, filtering and conversion of a kernel's reads of an image. */
#ifndef HIP_INCLUDE_HIP_TEXTURE_TYPES_H
#define HIP_INCLUDE_HIP_TEXTURE_TYPES_H

#include <hip/driver_types.h>

#define hipTextureType1D             0x01
#define hipTextureType2D             0x02
#define hipTextureType3D             0x03
#define hipTextureTypeCubemap        0x0C
#define hipTextureType1DLayered      0xF1
#define hipTextureType2DLayered      0xF2
#define hipTextureTypeCubemapLayered 0xFC

/* A texture object points to the image descriptor, followed by the sampler descriptor, in memory that the GPU can
 * read. */
#define HIP_IMAGE_OBJECT_SIZE_DWORD     12
#define HIP_SAMPLER_OBJECT_SIZE_DWORD   8
#define HIP_SAMPLER_OBJECT_OFFSET_DWORD HIP_IMAGE_OBJECT_SIZE_DWORD
#define HIP_TEXTURE_OBJECT_SIZE_DWORD   (HIP_IMAGE_OBJECT_SIZE_DWORD + HIP_SAMPLER_OBJECT_SIZE_DWORD)

typedef struct __hip_texture *hipTextureObject_t;

/* Reads outside the image give the opposite end, the edge, the mirror image, or the border color. */
typedef enum hipTextureAddressMode {
	hipAddressModeWrap = 0,
	hipAddressModeClamp = 1,
	hipAddressModeMirror = 2,
	hipAddressModeBorder = 3
} hipTextureAddressMode;
typedef enum hipTextureFilterMode { hipFilterModePoint = 0, hipFilterModeLinear = 1 } hipTextureFilterMode;
/* Integers as they are, or as fractions of their largest value. */
typedef enum hipTextureReadMode { hipReadModeElementType = 0, hipReadModeNormalizedFloat = 1 } hipTextureReadMode;

/* A texture that is a variable of the program. */
typedef struct textureReference {
	int normalized;
	hipTextureReadMode readMode;
	hipTextureFilterMode filterMode;
	hipTextureAddressMode addressMode[3];
	hipChannelFormatDesc channelDesc;
	int sRGB;
	unsigned int maxAnisotropy;
	hipTextureFilterMode mipmapFilterMode;
	float mipmapLevelBias;
	float minMipmapLevelClamp;
	float maxMipmapLevelClamp;
	hipTextureObject_t textureObject;
	int numChannels;
	hipArray_Format format;
} textureReference;
typedef textureReference *hipTexRef;

/* normalizedCoords: 0, coordinates are in elements; 1, they range from 0 to 1. */
typedef struct hipTextureDesc {
	hipTextureAddressMode addressMode[3];
	hipTextureFilterMode filterMode;
	hipTextureReadMode readMode;
	int sRGB;
	float borderColor[4];
	int normalizedCoords;
	unsigned int maxAnisotropy;
	hipTextureFilterMode mipmapFilterMode;
	float mipmapLevelBias;
	float minMipmapLevelClamp;
	float maxMipmapLevelClamp;
} hipTextureDesc;

#if defined(__cplusplus) && defined(__HIP__)
#include <hip/channel_descriptor.h>

#if __HIP_NO_IMAGE_SUPPORT
#define HIP_TEXTURE_ATTRIBUTE
#else
#define HIP_TEXTURE_ATTRIBUTE __attribute__((device_builtin_texture_type))
#endif
/* In device code clang makes this a pointer to the texture object. */
template <class T, int texType = hipTextureType1D, hipTextureReadMode mode = hipReadModeElementType>
struct HIP_TEXTURE_ATTRIBUTE texture : public textureReference {
	texture(int isNormalized = 0, hipTextureFilterMode filter = hipFilterModePoint,
		hipTextureAddressMode address = hipAddressModeClamp)
	    : texture(isNormalized, filter, address, hipCreateChannelDesc<T>())
	{
	}

	texture(int isNormalized, hipTextureFilterMode filter, hipTextureAddressMode address,
		hipChannelFormatDesc desc)
	    : textureReference()
	{
		normalized = isNormalized;
		readMode = mode;
		filterMode = filter;
		addressMode[0] = address;
		addressMode[1] = address;
		addressMode[2] = address;
		channelDesc = desc;
	}
};
#endif

#endif
