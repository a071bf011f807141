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

hipError_t hipMallocMipmappedArray(hipMipmappedArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent,
				   unsigned int levels, unsigned int flags)
{
	HIP_ENTER();
	(void)extent, (void)levels, (void)flags;
	return hip_end(mipmap_create(array, desc));
}

hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t *array, HIP_ARRAY3D_DESCRIPTOR *desc, unsigned int levels)
{
	HIP_ENTER();
	(void)array, (void)desc, (void)levels;
	return hip_end(hipErrorNotSupported);
}

/* No handle can be valid. */
hipError_t hipFreeMipmappedArray(hipMipmappedArray_t array)
{
	HIP_ENTER();
	(void)array;
	return hip_end(hipErrorInvalidValue);
}

hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t array)
{
	HIP_ENTER();
	(void)array;
	return hip_end(hipErrorInvalidValue);
}

static hipError_t level_of(const hipArray_t *out, const void *array)
{
	if (!out)
		return hipErrorInvalidValue;
	return array ? hipErrorInvalidValue : hipErrorInvalidHandle;
}

hipError_t hipGetMipmappedArrayLevel(hipArray_t *out, hipMipmappedArray_const_t array, unsigned int level)
{
	HIP_ENTER();
	(void)level;
	return hip_end(level_of(out, array));
}

hipError_t hipMipmappedArrayGetLevel(hipArray_t *out, hipMipmappedArray_t array, unsigned int level)
{
	HIP_ENTER();
	(void)level;
	return hip_end(level_of(out, array));
}

/* --- texture references ----------------------------------------------------------------------- */

static hipError_t unsupported_unless(bool all)
{
	if (!all)
		return hipErrorInvalidValue;
	return hip_has_images(hip_current()) ? hipSuccess : hipErrorNotSupported;
}

hipError_t hipBindTextureToMipmappedArray(const textureReference *tex, hipMipmappedArray_const_t array,
					  const hipChannelFormatDesc *desc)
{
	HIP_ENTER();
	return hip_end(tex && array && desc ? hipErrorNotSupported : hipErrorInvalidValue);
}

hipError_t hipTexRefSetMipmappedArray(textureReference *tex, struct hipMipmappedArray *array, unsigned int flags)
{
	bool all = tex && array && flags == HIP_TRSA_OVERRIDE_FORMAT;

	HIP_ENTER();
	return hip_end(all ? hipErrorNotSupported : hipErrorInvalidValue);
}

#if TUFF_HIP_ABI == 6
/* No reference is ever bound to a mipmapped array. */
hipError_t hipTexRefGetMipMappedArray(hipMipmappedArray_t *array, const textureReference *tex)
{
	hipError_t r;

	HIP_ENTER();
	r = unsupported_unless(array && tex);
	return hip_end(r ? r : hipErrorInvalidValue);
}

/* Texture references cannot store a border color. */
hipError_t hipTexRefGetBorderColor(float *color, const textureReference *tex)
{
	HIP_ENTER();
	return hip_end(color && tex ? hipErrorNotSupported : hipErrorInvalidValue);
}
#endif

hipError_t hipTexRefSetBorderColor(textureReference *tex, float *color)
{
	HIP_ENTER();
	return hip_end(color && tex ? hipErrorNotSupported : hipErrorInvalidValue);
}

hipError_t hipTexRefSetMaxAnisotropy(textureReference *tex, unsigned int most)
{
	hipError_t r;

	HIP_ENTER();
	r = unsupported_unless(tex);
	if (!r)
		tex->maxAnisotropy = most;
	return hip_end(r);
}

hipError_t hipTexRefGetMaxAnisotropy(int *most, const textureReference *tex)
{
	hipError_t r;

	HIP_ENTER();
	r = unsupported_unless(most && tex);
	if (!r)
		*most = (int)tex->maxAnisotropy;
	return hip_end(r);
}

hipError_t hipTexRefSetMipmapFilterMode(textureReference *tex, hipTextureFilterMode mode)
{
	hipError_t r;

	HIP_ENTER();
	r = unsupported_unless(tex);
	if (!r)
		tex->mipmapFilterMode = mode;
	return hip_end(r);
}

hipError_t hipTexRefGetMipmapFilterMode(hipTextureFilterMode *mode, const textureReference *tex)
{
	hipError_t r;

	HIP_ENTER();
	r = unsupported_unless(mode && tex);
	if (!r)
		*mode = tex->mipmapFilterMode;
	return hip_end(r);
}

hipError_t hipTexRefSetMipmapLevelBias(textureReference *tex, float bias)
{
	hipError_t r;

	HIP_ENTER();
	r = unsupported_unless(tex);
	if (!r)
		tex->mipmapLevelBias = bias;
	return hip_end(r);
}

hipError_t hipTexRefGetMipmapLevelBias(float *bias, const textureReference *tex)
{
	hipError_t r;

	HIP_ENTER();
	r = unsupported_unless(bias && tex);
	if (!r)
		*bias = tex->mipmapLevelBias;
	return hip_end(r);
}

hipError_t hipTexRefSetMipmapLevelClamp(textureReference *tex, float least, float most)
{
	hipError_t r;

	HIP_ENTER();
	r = unsupported_unless(tex);
	if (r)
		return hip_end(r);
	tex->minMipmapLevelClamp = least;
	tex->maxMipmapLevelClamp = most;
	return hip_end(hipSuccess);
}

hipError_t hipTexRefGetMipmapLevelClamp(float *least, float *most, const textureReference *tex)
{
	hipError_t r;

	HIP_ENTER();
	r = unsupported_unless(least && most && tex);
	if (r)
		return hip_end(r);
	*least = tex->minMipmapLevelClamp;
	*most = tex->maxMipmapLevelClamp;
	return hip_end(hipSuccess);
}
