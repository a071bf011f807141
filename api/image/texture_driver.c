/* Texture objects of the driver API: the same structures under other names. */
#include <string.h>

#include "api/image/texture.h"

/* --- resources -------------------------------------------------------------------------------- */

static hipChannelFormatDesc desc_of(hipArray_Format format, unsigned channels)
{
	const struct hip_texels texels = {format, channels};

	/* An invalid format becomes one with 0 bits, which is refused later. */
	return hip_texels_are(&texels) ? hip_texels_desc(&texels) : (hipChannelFormatDesc){0};
}

static hipResourceDesc resource_of(const HIP_RESOURCE_DESC *from)
{
	hipResourceDesc to = {.resType = (hipResourceType)from->resType};

	switch (from->resType) {
	case HIP_RESOURCE_TYPE_ARRAY:
		to.res.array.array = from->res.array.hArray;
		break;
	case HIP_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		to.res.mipmap.mipmap = from->res.mipmap.hMipmappedArray;
		break;
	case HIP_RESOURCE_TYPE_LINEAR:
		to.res.linear.devPtr = from->res.linear.devPtr;
		to.res.linear.desc = desc_of(from->res.linear.format, from->res.linear.numChannels);
		to.res.linear.sizeInBytes = from->res.linear.sizeInBytes;
		break;
	case HIP_RESOURCE_TYPE_PITCH2D:
		to.res.pitch2D.devPtr = from->res.pitch2D.devPtr;
		to.res.pitch2D.desc = desc_of(from->res.pitch2D.format, from->res.pitch2D.numChannels);
		to.res.pitch2D.width = from->res.pitch2D.width;
		to.res.pitch2D.height = from->res.pitch2D.height;
		to.res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
		break;
	}
	return to;
}

/* The reverse conversion, for an existing texture: its format is valid. */
static HIP_RESOURCE_DESC driver_resource(const hipResourceDesc *from)
{
	HIP_RESOURCE_DESC to = {.resType = (HIPresourcetype)from->resType};
	struct hip_texels texels;

	if (from->resType == hipResourceTypeArray) {
		to.res.array.hArray = from->res.array.array;
	} else if (from->resType == hipResourceTypeLinear && hip_texels_of_desc(&from->res.linear.desc, &texels)) {
		to.res.linear.devPtr = from->res.linear.devPtr;
		to.res.linear.format = texels.format;
		to.res.linear.numChannels = texels.channels;
		to.res.linear.sizeInBytes = from->res.linear.sizeInBytes;
	} else if (hip_texels_of_desc(&from->res.pitch2D.desc, &texels)) {
		to.res.pitch2D.devPtr = from->res.pitch2D.devPtr;
		to.res.pitch2D.format = texels.format;
		to.res.pitch2D.numChannels = texels.channels;
		to.res.pitch2D.width = from->res.pitch2D.width;
		to.res.pitch2D.height = from->res.pitch2D.height;
		to.res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
	}
	return to;
}

/* --- samplers --------------------------------------------------------------------------------- */

static hipTextureDesc how_of(const HIP_TEXTURE_DESC *from)
{
	hipTextureDesc to = {
		.filterMode = (hipTextureFilterMode)from->filterMode,
		.readMode = from->flags & HIP_TRSF_READ_AS_INTEGER ? hipReadModeElementType
								   : hipReadModeNormalizedFloat,
		.sRGB = (from->flags & HIP_TRSF_SRGB) != 0,
		.normalizedCoords = (from->flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0,
		.maxAnisotropy = from->maxAnisotropy,
		.mipmapFilterMode = (hipTextureFilterMode)from->mipmapFilterMode,
		.mipmapLevelBias = from->mipmapLevelBias,
		.minMipmapLevelClamp = from->minMipmapLevelClamp,
		.maxMipmapLevelClamp = from->maxMipmapLevelClamp,
	};

	for (unsigned i = 0; i < 3; i++)
		to.addressMode[i] = (hipTextureAddressMode)from->addressMode[i];
	memcpy(to.borderColor, from->borderColor, sizeof(to.borderColor));
	return to;
}

static HIP_TEXTURE_DESC driver_how(const hipTextureDesc *from)
{
	HIP_TEXTURE_DESC to = {
		.filterMode = (HIPfilter_mode)from->filterMode,
		.flags = (from->readMode == hipReadModeElementType ? HIP_TRSF_READ_AS_INTEGER : 0u) |
			 (from->sRGB ? HIP_TRSF_SRGB : 0u) |
			 (from->normalizedCoords ? HIP_TRSF_NORMALIZED_COORDINATES : 0u),
		.maxAnisotropy = from->maxAnisotropy,
		.mipmapFilterMode = (HIPfilter_mode)from->mipmapFilterMode,
		.mipmapLevelBias = from->mipmapLevelBias,
		.minMipmapLevelClamp = from->minMipmapLevelClamp,
		.maxMipmapLevelClamp = from->maxMipmapLevelClamp,
	};

	for (unsigned i = 0; i < 3; i++)
		to.addressMode[i] = (HIPaddress_mode)from->addressMode[i];
	memcpy(to.borderColor, from->borderColor, sizeof(to.borderColor));
	return to;
}

static hipResourceViewDesc view_of(const HIP_RESOURCE_VIEW_DESC *from)
{
	return (hipResourceViewDesc){
		.format = (hipResourceViewFormat)from->format,
		.width = from->width,
		.height = from->height,
		.depth = from->depth,
		.firstMipmapLevel = from->firstMipmapLevel,
		.lastMipmapLevel = from->lastMipmapLevel,
		.firstLayer = from->firstLayer,
		.lastLayer = from->lastLayer,
	};
}

static HIP_RESOURCE_VIEW_DESC driver_view(const hipResourceViewDesc *from)
{
	return (HIP_RESOURCE_VIEW_DESC){
		.format = (HIPresourceViewFormat)from->format,
		.width = from->width,
		.height = from->height,
		.depth = from->depth,
		.firstMipmapLevel = from->firstMipmapLevel,
		.lastMipmapLevel = from->lastMipmapLevel,
		.firstLayer = from->firstLayer,
		.lastLayer = from->lastLayer,
	};
}

/* --- public functions ------------------------------------------------------------------------- */

static hipError_t texture_create(hipTextureObject_t *texture, const HIP_RESOURCE_DESC *resource,
				 const HIP_TEXTURE_DESC *how, const HIP_RESOURCE_VIEW_DESC *view)
{
	hipResourceDesc same_resource;
	hipResourceViewDesc same_view;
	hipTextureDesc same_how;

	if (!texture || !resource || !how)
		return hipErrorInvalidValue;
	same_resource = resource_of(resource);
	same_how = how_of(how);
	if (view)
		same_view = view_of(view);
	return hip_texture_create(texture, &same_resource, &same_how, view ? &same_view : NULL);
}

HIP_PUBLIC(hipTexObjectCreate,
	   (hipTextureObject_t *texture, const HIP_RESOURCE_DESC *resource, const HIP_TEXTURE_DESC *how,
	    const HIP_RESOURCE_VIEW_DESC *view),
	   (texture, resource, how, view))
{
	return texture_create(texture, resource, how, view);
}

HIP_PUBLIC(hipTexObjectDestroy, (hipTextureObject_t texture), (texture))
{
	return hip_texture_destroy(texture);
}

/* Query functions that convert `member` of a texture to the driver API's structure. */
#define TEXTURE_GET(name, type, convert, member)                                                                   \
	HIP_PUBLIC(name, (type * out, hipTextureObject_t texture), (out, texture))                                 \
	{                                                                                                          \
		struct hip_texture t;                                                                              \
                                                                                                                   \
		if (!out || !hip_texture_find(texture, &t))                                                        \
			return hipErrorInvalidValue;                                                               \
		*out = convert(&t.member);                                                                         \
		return hipSuccess;                                                                                 \
	}
TEXTURE_GET(hipTexObjectGetResourceDesc, HIP_RESOURCE_DESC, driver_resource, resource)
TEXTURE_GET(hipTexObjectGetResourceViewDesc, HIP_RESOURCE_VIEW_DESC, driver_view, view)
TEXTURE_GET(hipTexObjectGetTextureDesc, HIP_TEXTURE_DESC, driver_how, how)
