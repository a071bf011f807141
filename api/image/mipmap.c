/* Mipmapped arrays, and the mipmap attributes of texture references. No device supports them, as in CLR on Linux.
 * Each function checks its arguments and returns hipErrorNotSupported, unless it only has to store a value. */
#include "api/image/image.h"

/* --- mipmapped arrays ------------------------------------------------------------------------- */

static hipError_t mipmap_create(const void *out, const hipChannelFormatDesc *desc)
{
	struct hip_texels texels;

	if (!out || !desc)
		return hipErrorInvalidValue;
	return hip_texels_of_desc(desc, &texels) ? hipErrorNotSupported : hipErrorInvalidValue;
}

HIP_PUBLIC(hipMallocMipmappedArray,
	   (hipMipmappedArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent, unsigned int levels,
	    unsigned int flags),
	   (array, desc, extent, levels, flags))
{
	(void)extent, (void)levels, (void)flags;
	return mipmap_create(array, desc);
}

HIP_PUBLIC(hipMipmappedArrayCreate, (hipMipmappedArray_t *array, HIP_ARRAY3D_DESCRIPTOR *desc, unsigned int levels),
	   (array, desc, levels))
{
	(void)array, (void)desc, (void)levels;
	return hipErrorNotSupported;
}

/* No handle can be valid. */
HIP_PUBLIC(hipFreeMipmappedArray, (hipMipmappedArray_t array), (array))
{
	(void)array;
	return hipErrorInvalidValue;
}

HIP_PUBLIC(hipMipmappedArrayDestroy, (hipMipmappedArray_t array), (array))
{
	(void)array;
	return hipErrorInvalidValue;
}

static hipError_t level_of(const hipArray_t *out, const void *array)
{
	if (!out)
		return hipErrorInvalidValue;
	return array ? hipErrorInvalidValue : hipErrorInvalidHandle;
}

HIP_PUBLIC(hipGetMipmappedArrayLevel, (hipArray_t *out, hipMipmappedArray_const_t array, unsigned int level),
	   (out, array, level))
{
	(void)level;
	return level_of(out, array);
}

HIP_PUBLIC(hipMipmappedArrayGetLevel, (hipArray_t *out, hipMipmappedArray_t array, unsigned int level),
	   (out, array, level))
{
	(void)level;
	return level_of(out, array);
}

/* --- texture references ----------------------------------------------------------------------- */

static hipError_t unsupported_unless(bool all)
{
	if (!all)
		return hipErrorInvalidValue;
	return hip_has_images(hip_current()) ? hipSuccess : hipErrorNotSupported;
}

HIP_PUBLIC(hipBindTextureToMipmappedArray,
	   (const textureReference *tex, hipMipmappedArray_const_t array, const hipChannelFormatDesc *desc),
	   (tex, array, desc))
{
	return tex && array && desc ? hipErrorNotSupported : hipErrorInvalidValue;
}

HIP_PUBLIC(hipTexRefSetMipmappedArray, (textureReference *tex, struct hipMipmappedArray *array, unsigned int flags),
	   (tex, array, flags))
{
	bool all = tex && array && flags == HIP_TRSA_OVERRIDE_FORMAT;

	return all ? hipErrorNotSupported : hipErrorInvalidValue;
}

#if TUFF_HIP_ABI >= 6
/* No reference is ever bound to a mipmapped array. */
HIP_PUBLIC(hipTexRefGetMipMappedArray, (hipMipmappedArray_t *array, const textureReference *tex), (array, tex))
{
	hipError_t r;

	r = unsupported_unless(array && tex);
	return r ? r : hipErrorInvalidValue;
}

/* Texture references cannot store a border color. */
HIP_PUBLIC(hipTexRefGetBorderColor, (float *color, const textureReference *tex), (color, tex))
{
	return color && tex ? hipErrorNotSupported : hipErrorInvalidValue;
}
#endif

HIP_PUBLIC(hipTexRefSetBorderColor, (textureReference *tex, float *color), (tex, color))
{
	return color && tex ? hipErrorNotSupported : hipErrorInvalidValue;
}

HIP_PUBLIC(hipTexRefSetMaxAnisotropy, (textureReference *tex, unsigned int most), (tex, most))
{
	hipError_t r;

	r = unsupported_unless(tex);
	if (!r)
		tex->maxAnisotropy = most;
	return r;
}

HIP_PUBLIC(hipTexRefGetMaxAnisotropy, (int *most, const textureReference *tex), (most, tex))
{
	hipError_t r;

	r = unsupported_unless(most && tex);
	if (!r)
		*most = (int)tex->maxAnisotropy;
	return r;
}

HIP_PUBLIC(hipTexRefSetMipmapFilterMode, (textureReference *tex, hipTextureFilterMode mode), (tex, mode))
{
	hipError_t r;

	r = unsupported_unless(tex);
	if (!r)
		tex->mipmapFilterMode = mode;
	return r;
}

HIP_PUBLIC(hipTexRefGetMipmapFilterMode, (hipTextureFilterMode *mode, const textureReference *tex), (mode, tex))
{
	hipError_t r;

	r = unsupported_unless(mode && tex);
	if (!r)
		*mode = tex->mipmapFilterMode;
	return r;
}

HIP_PUBLIC(hipTexRefSetMipmapLevelBias, (textureReference *tex, float bias), (tex, bias))
{
	hipError_t r;

	r = unsupported_unless(tex);
	if (!r)
		tex->mipmapLevelBias = bias;
	return r;
}

HIP_PUBLIC(hipTexRefGetMipmapLevelBias, (float *bias, const textureReference *tex), (bias, tex))
{
	hipError_t r;

	r = unsupported_unless(bias && tex);
	if (!r)
		*bias = tex->mipmapLevelBias;
	return r;
}

HIP_PUBLIC(hipTexRefSetMipmapLevelClamp, (textureReference *tex, float least, float most), (tex, least, most))
{
	hipError_t r;

	r = unsupported_unless(tex);
	if (r)
		return r;
	tex->minMipmapLevelClamp = least;
	tex->maxMipmapLevelClamp = most;
	return hipSuccess;
}

HIP_PUBLIC(hipTexRefGetMipmapLevelClamp, (float *least, float *most, const textureReference *tex),
	   (least, most, tex))
{
	hipError_t r;

	r = unsupported_unless(least && most && tex);
	if (r)
		return r;
	*least = tex->minMipmapLevelClamp;
	*most = tex->maxMipmapLevelClamp;
	return hipSuccess;
}
