/* Texture references: variables of the program, or of a module, that textures are bound to. The host variable says
 * how the texture is read; the device variable, of the same layout, is written at each binding. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/image/texture.h"
#include "api/module/module.h"

/* --- references of modules -------------------------------------------------------------------- */

struct reference {
	struct reference *next;
	hipModule_t module;
	void *place;           /* borrowed: the module's variable */
	textureReference host; /* the host variable, which lives until the module is unloaded */
};
static struct reference *references;
static struct drv_mutex reference_lock = DRV_MUTEX(DRV_RANK_HIP_REFERENCES); /* guards `references` */

static struct reference *find_locked(hipModule_t module, const void *place)
{
	struct reference *ref = references;

	drv_rank_assert(DRV_RANK_HIP_REFERENCES);
	while (ref && (ref->module != module || ref->place != place))
		ref = ref->next;
	return ref;
}

/* Adds a reference with the defaults that CLR gives to references of modules. */
static struct reference *add_locked(hipModule_t module, void *place)
{
	struct reference *ref = calloc(1, sizeof(*ref));

	drv_rank_assert(DRV_RANK_HIP_REFERENCES);
	if (!ref)
		return NULL;
	*ref = (struct reference){
		.next = references,
		.module = module,
		.place = place,
		.host = {.readMode = hipReadModeNormalizedFloat, .format = HIP_AD_FORMAT_FLOAT, .numChannels = 1},
	};
	references = ref;
	return ref;
}

/* Drops the references of a module that is unloaded. */
static void drop_references(hipModule_t module)
{
	struct reference **at, *ref, *gone = NULL;

	drv_mutex_lock(&reference_lock);
	for (at = &references; (ref = *at);) {
		if (ref->module != module) {
			at = &ref->next;
			continue;
		}
		*at = ref->next;
		ref->next = gone;
		gone = ref;
	}
	drv_mutex_unlock(&reference_lock);
	while ((ref = gone)) {
		gone = ref->next;
		(void)!hip_texture_destroy(ref->host.textureObject);
		free(ref);
	}
}

static hipError_t reference_of_module(textureReference **out, hipModule_t module, const char *name)
{
	struct reference *ref;
	hipDeviceptr_t place;
	size_t size_B;
	hipError_t r;

	if (!out || !name || !*name)
		return hipErrorInvalidValue;
	r = hip_module_variable(&place, &size_B, module, name);
	if (r == hipErrorInvalidResourceHandle)
		return r;
	if (r || size_B != sizeof(textureReference))
		return hipErrorNotFound;
	if (!hip_has_images(hip_current()))
		return hipErrorNotSupported;
	atomic_store(&hip_module_unloading, drop_references);
	drv_mutex_lock(&reference_lock);
	/* A module that another thread unloads has no handle any more when its references are dropped. */
	if (!hip_find(HIP_MODULE, module)) {
		drv_mutex_unlock(&reference_lock);
		return hipErrorInvalidResourceHandle;
	}
	ref = find_locked(module, place);
	if (!ref)
		ref = add_locked(module, place);
	drv_mutex_unlock(&reference_lock);
	if (ref)
		*out = &ref->host;
	return ref ? hipSuccess : hipErrorOutOfMemory;
}

HIP_PUBLIC(hipModuleGetTexRef, (textureReference **reference, hipModule_t module, const char *name),
	   (reference, module, name))
{
	return reference_of_module(reference, module, name);
}

/* --- binding ---------------------------------------------------------------------------------- */

/* Finds the device variable. */
static hipError_t place_of(const textureReference *tex, void **place)
{
	size_t size_B = 0;
	hipError_t r = hip_variable_of(tex, hip_current(), place, &size_B);

	if (!r)
		return size_B == sizeof(*tex) ? hipSuccess : hipErrorInvalidSymbol;
	drv_mutex_lock(&reference_lock);
	for (const struct reference *ref = references; ref && r; ref = ref->next)
		if (&ref->host == tex) {
			*place = ref->place;
			r = hipSuccess;
		}
	drv_mutex_unlock(&reference_lock);
	return r;
}

static hipTextureDesc how_of(const textureReference *tex)
{
	hipTextureDesc how = {
		.filterMode = tex->filterMode,
		.readMode = tex->readMode,
		.sRGB = tex->sRGB,
		.normalizedCoords = tex->normalized,
		.maxAnisotropy = tex->maxAnisotropy,
		.mipmapFilterMode = tex->mipmapFilterMode,
		.mipmapLevelBias = tex->mipmapLevelBias,
		.minMipmapLevelClamp = tex->minMipmapLevelClamp,
		.maxMipmapLevelClamp = tex->maxMipmapLevelClamp,
	};

	memcpy(how.addressMode, tex->addressMode, sizeof(how.addressMode));
	return how;
}

/* Binds a new texture and then destroys the old one. */
static hipError_t texture_bind(textureReference *tex, const hipResourceDesc *resource)
{
	struct hip_box box = {
		.src = {(char *)tex, sizeof(*tex), 0},
		.dst = {NULL, sizeof(*tex), 0},
		.width_B = sizeof(*tex),
		.height = 1,
		.depth = 1,
		.kind = hipMemcpyDefault,
	};
	hipTextureObject_t made;
	hipTextureDesc how;
	void *place;
	hipError_t r = place_of(tex, &place);

	if (r)
		return r;
	how = how_of(tex);
	r = hip_texture_create(&made, resource, &how, NULL);
	if (r)
		return r;
	/* Fails when a reset has destroyed the texture. */
	(void)!hip_texture_destroy(tex->textureObject);
	tex->textureObject = made;
	box.dst.base = place;
	return hip_copy_box(&box, NULL, true);
}

#define ALIGN 256u /* the alignment of textures */

/* Rounds the address down to a texture's alignment; kernels add the rest, in bytes. */
static hipError_t address_align(const void **at, size_t *offset_B)
{
	size_t rest_B = (uintptr_t)*at % ALIGN;

	if (rest_B && !offset_B)
		return hipErrorInvalidValue;
	if (offset_B)
		*offset_B = rest_B;
	*at = (const void *)((uintptr_t)*at - rest_B);
	return hipSuccess;
}

static hipError_t bind_at(textureReference *tex, const hipResourceDesc *resource, const size_t *offset_B)
{
	hipError_t r = texture_bind(tex, resource);

	if (!r)
		hip_texture_set_offset(tex->textureObject, offset_B ? *offset_B : 0);
	return r;
}

static hipError_t bind_line(size_t *offset_B, textureReference *tex, const void *at,
			    const hipChannelFormatDesc *desc, size_t size_B)
{
	hipResourceDesc resource = {.resType = hipResourceTypeLinear};
	struct hip_memory memory;
	hipError_t r = address_align(&at, offset_B);

	if (r)
		return r;
	/* The default size means the rest of the allocation. */
	if (size_B == UINT32_MAX && hip_memory_find(at, &memory))
		size_B = memory.node.hi - (uintptr_t)at;
	else if (offset_B && __builtin_add_overflow(size_B, *offset_B, &size_B))
		return hipErrorInvalidValue;
	resource.res.linear.devPtr = (void *)(uintptr_t)at;
	resource.res.linear.desc = *desc;
	resource.res.linear.sizeInBytes = size_B;
	return bind_at(tex, &resource, offset_B);
}

static hipError_t bind_plane(size_t *offset_B, textureReference *tex, const void *at,
			     const hipChannelFormatDesc *desc, size_t width, size_t height, size_t pitch_B)
{
	hipResourceDesc resource = {.resType = hipResourceTypePitch2D};
	hipError_t r = address_align(&at, offset_B);

	if (r)
		return r;
	resource.res.pitch2D.devPtr = (void *)(uintptr_t)at;
	resource.res.pitch2D.desc = *desc;
	resource.res.pitch2D.width = width;
	resource.res.pitch2D.height = height;
	resource.res.pitch2D.pitchInBytes = pitch_B;
	return bind_at(tex, &resource, offset_B);
}

static hipError_t bind_array(textureReference *tex, hipArray_const_t array)
{
	hipResourceDesc resource = {.resType = hipResourceTypeArray};

	resource.res.array.array = (hipArray_t)(uintptr_t)array;
	return texture_bind(tex, &resource);
}

/* Programs pass their variables as const, and expect them to change. */
static textureReference *variable_of(const textureReference *tex)
{
	return (textureReference *)(uintptr_t)tex;
}

HIP_PUBLIC(hipBindTexture,
	   (size_t *offset, const textureReference *tex, const void *at, const hipChannelFormatDesc *desc,
	    size_t size),
	   (offset, tex, at, desc, size))
{
	if (!tex || !at || !desc)
		return hipErrorInvalidValue;
	return bind_line(offset, variable_of(tex), at, desc, size);
}

HIP_PUBLIC(hipBindTexture2D,
	   (size_t *offset, const textureReference *tex, const void *at, const hipChannelFormatDesc *desc,
	    size_t width, size_t height, size_t pitch),
	   (offset, tex, at, desc, width, height, pitch))
{
	if (!tex || !at || !desc || !pitch)
		return hipErrorInvalidValue;
	return bind_plane(offset, variable_of(tex), at, desc, width, height, pitch);
}

/* Ignores `desc`: the array's own format is used. */
HIP_PUBLIC(hipBindTextureToArray,
	   (const textureReference *tex, hipArray_const_t array, const hipChannelFormatDesc *desc),
	   (tex, array, desc))
{
	return tex && array && desc ? bind_array(variable_of(tex), array) : hipErrorInvalidValue;
}

/* Returns the offset that the binding returned. */
HIP_PUBLIC(hipGetTextureAlignmentOffset, (size_t *offset, const textureReference *tex), (offset, tex))
{
	struct hip_texture t;

	if (!offset || !tex)
		return hipErrorInvalidValue;
	if (!hip_texture_find(tex->textureObject, &t))
		return hipErrorInvalidTexture;
	*offset = t.offset_B;
	return hipSuccess;
}

HIP_PUBLIC(hipUnbindTexture, (const textureReference *tex), (tex))
{
	hipError_t r;

	if (!tex)
		return hipErrorInvalidValue;
	r = hip_texture_destroy(tex->textureObject);
	if (!r)
		variable_of(tex)->textureObject = NULL;
	return r;
}

HIP_PUBLIC(hipGetTextureReference, (const textureReference **tex, const void *symbol), (tex, symbol))
{
	if (!tex)
		return hipErrorInvalidValue;
	*tex = symbol;
	return hipSuccess;
}

/* --- binding by the driver API ---------------------------------------------------------------- */

HIP_PUBLIC(hipTexRefSetAddress, (size_t *offset, textureReference *tex, hipDeviceptr_t at, size_t size),
	   (offset, tex, at, size))
{
	struct hip_texels texels;
	hipChannelFormatDesc desc;

	if (!tex)
		return hipErrorInvalidValue;
	texels = (struct hip_texels){tex->format, (unsigned)tex->numChannels};
	if (!hip_texels_are(&texels))
		return hipErrorInvalidValue;
	desc = hip_texels_desc(&texels);
	return bind_line(offset, tex, at, &desc, size);
}

HIP_PUBLIC(hipTexRefSetAddress2D,
	   (textureReference *tex, const HIP_ARRAY_DESCRIPTOR *how, hipDeviceptr_t at, size_t pitch),
	   (tex, how, at, pitch))
{
	struct hip_texels texels;
	hipChannelFormatDesc desc;

	if (!tex || !how)
		return hipErrorInvalidValue;
	texels = (struct hip_texels){how->Format, how->NumChannels};
	if (!hip_texels_are(&texels))
		return hipErrorInvalidValue;
	desc = hip_texels_desc(&texels);
	return bind_plane(NULL, tex, at, &desc, how->Width, how->Height, pitch);
}

HIP_PUBLIC(hipTexRefSetArray, (textureReference *tex, hipArray_const_t handle, unsigned int flags),
	   (tex, handle, flags))
{
	const struct hip_array *array = hip_array_of(handle);

	if (!tex || !array || flags != HIP_TRSA_OVERRIDE_FORMAT)
		return hipErrorInvalidValue;
	tex->format = array->texels.format;
	tex->numChannels = (int)array->texels.channels;
	return bind_array(tex, handle);
}

static hipError_t bound_address(hipDeviceptr_t *at, const textureReference *tex)
{
	struct hip_texture t;

	if (!at || !tex || !hip_texture_find(tex->textureObject, &t) ||
	    (t.resource.resType != hipResourceTypeLinear && t.resource.resType != hipResourceTypePitch2D))
		return hipErrorInvalidValue;
	*at = t.resource.resType == hipResourceTypeLinear ? t.resource.res.linear.devPtr
							  : t.resource.res.pitch2D.devPtr;
	return hipSuccess;
}

HIP_PUBLIC(hipTexRefGetAddress, (hipDeviceptr_t *at, const textureReference *tex), (at, tex))
{
	return bound_address(at, tex);
}

#if TUFF_HIP_ABI >= 6
HIP_PUBLIC(hipTexRefGetArray, (hipArray_t *array, const textureReference *tex), (array, tex))
{
	struct hip_texture t;

	if (!array || !tex || !hip_texture_find(tex->textureObject, &t) ||
	    t.resource.resType != hipResourceTypeArray)
		return hipErrorInvalidValue;
	*array = t.resource.res.array.array;
	return hipSuccess;
}
#endif

/* --- sampling: effective from the next binding ------------------------------------------------ */

HIP_PUBLIC(hipTexRefSetFormat, (textureReference *tex, hipArray_Format format, int channels),
	   (tex, format, channels))
{
	if (!tex)
		return hipErrorInvalidValue;
	tex->format = format;
	tex->numChannels = channels;
	return hipSuccess;
}

HIP_PUBLIC(hipTexRefGetFormat, (hipArray_Format *format, int *channels, const textureReference *tex),
	   (format, channels, tex))
{
	if (!format || !channels || !tex)
		return hipErrorInvalidValue;
	*format = tex->format;
	*channels = tex->numChannels;
	return hipSuccess;
}

HIP_PUBLIC(hipTexRefSetFlags, (textureReference *tex, unsigned int flags), (tex, flags))
{
	if (!tex)
		return hipErrorInvalidValue;
	tex->readMode = flags & HIP_TRSF_READ_AS_INTEGER ? hipReadModeElementType : hipReadModeNormalizedFloat;
	tex->normalized = (flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0;
	tex->sRGB = (flags & HIP_TRSF_SRGB) != 0;
	return hipSuccess;
}

HIP_PUBLIC(hipTexRefGetFlags, (unsigned int *flags, const textureReference *tex), (flags, tex))
{
	if (!flags || !tex)
		return hipErrorInvalidValue;
	*flags = (tex->readMode == hipReadModeElementType ? HIP_TRSF_READ_AS_INTEGER : 0u) |
		 (tex->normalized ? HIP_TRSF_NORMALIZED_COORDINATES : 0u) | (tex->sRGB ? HIP_TRSF_SRGB : 0u);
	return hipSuccess;
}

HIP_PUBLIC(hipTexRefSetAddressMode, (textureReference *tex, int dimension, hipTextureAddressMode mode),
	   (tex, dimension, mode))
{
	if (!tex || dimension < 0 || dimension > 2)
		return hipErrorInvalidValue;
	tex->addressMode[dimension] = mode;
	return hipSuccess;
}

/* CLR's rule: only the first two dimensions have an address mode here. */
HIP_PUBLIC(hipTexRefGetAddressMode, (hipTextureAddressMode *mode, const textureReference *tex, int dimension),
	   (mode, tex, dimension))
{
	if (!mode || !tex || dimension < 0 || dimension > 1)
		return hipErrorInvalidValue;
	*mode = tex->addressMode[dimension];
	return hipSuccess;
}

HIP_PUBLIC(hipTexRefSetFilterMode, (textureReference *tex, hipTextureFilterMode mode), (tex, mode))
{
	if (!tex)
		return hipErrorInvalidValue;
	tex->filterMode = mode;
	return hipSuccess;
}

HIP_PUBLIC(hipTexRefGetFilterMode, (hipTextureFilterMode *mode, const textureReference *tex), (mode, tex))
{
	if (!mode || !tex)
		return hipErrorInvalidValue;
	*mode = tex->filterMode;
	return hipSuccess;
}
