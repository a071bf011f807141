/* Textures and surfaces: memory for kernels with an image descriptor, followed by a sampler descriptor. */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/image/texture.h"

/* The textures and surfaces of the process, by the address that kernels get. */
static struct {
	struct drv_mutex lock;
	struct vm_tree tree;
} objects = {.lock = DRV_MUTEX(DRV_RANK_HIP_TEXTURES)};

/* --- objects in memory ------------------------------------------------------------------------ */

static hipError_t give_words(const uint32_t words[HIP_TEXTURE_OBJECT_SIZE_DWORD], void **out)
{
	if (hip_pool_memory(hip.host_fine, HIP_TEXTURE_OBJECT_SIZE_DWORD * sizeof(*words), true, out))
		return hipErrorOutOfMemory;
	memcpy(*out, words, HIP_TEXTURE_OBJECT_SIZE_DWORD * sizeof(*words));
	return hipSuccess;
}

/* Publishes the object. */
static hipError_t texture_publish(const struct hip_texture *like,
				  const uint32_t words[HIP_TEXTURE_OBJECT_SIZE_DWORD], void **out)
{
	struct hip_texture *t = malloc(sizeof(*t));
	hipError_t r;

	if (!t)
		return hipErrorOutOfMemory;
	*t = *like;
	r = give_words(words, &t->words);
	if (r) {
		free(t);
		return r;
	}
	t->node.lo = (uintptr_t)t->words;
	t->node.hi = t->node.lo + 1;
	*out = t->words;
	drv_mutex_lock(&objects.lock);
	vm_tree_insert(&objects.tree, &t->node);
	drv_mutex_unlock(&objects.lock);
	return hipSuccess;
}

static struct hip_texture *find_locked(const void *object, bool surface)
{
	struct vm_node *node = vm_tree_next(&objects.tree, NULL, (uintptr_t)object, (uintptr_t)object + 1);
	struct hip_texture *t = node ? vm_container(node, struct hip_texture, node) : NULL;

	drv_rank_assert(DRV_RANK_HIP_TEXTURES);
	return t && t->surface == surface ? t : NULL;
}

void hip_texture_set_offset(hipTextureObject_t object, size_t offset_B)
{
	struct hip_texture *t;

	drv_mutex_lock(&objects.lock);
	t = find_locked(object, false);
	if (t)
		t->offset_B = offset_B;
	drv_mutex_unlock(&objects.lock);
}

bool hip_texture_find(hipTextureObject_t object, struct hip_texture *texture)
{
	const struct hip_texture *t;

	drv_mutex_lock(&objects.lock);
	t = find_locked(object, false);
	if (t)
		*texture = *t;
	drv_mutex_unlock(&objects.lock);
	return t;
}

/* Waits for kernels that may use the object. */
static hipError_t texture_destroy(const void *object, bool surface)
{
	struct hip_texture *t;
	hipError_t r;

	if (!object)
		return hipSuccess;
	drv_mutex_lock(&objects.lock);
	t = find_locked(object, surface);
	if (t)
		vm_tree_remove(&objects.tree, &t->node);
	drv_mutex_unlock(&objects.lock);
	if (!t)
		return hipErrorInvalidValue;
	r = hip_device_wait(t->device);
	hsa_amd_memory_pool_free(t->words);
	free(t);
	return r;
}

void hip_textures_reset(struct hip_device *device)
{
	struct hip_texture *found;
	struct vm_node *node;

	do {
		found = NULL;
		drv_mutex_lock(&objects.lock);
		for (node = NULL; !found && (node = vm_tree_next(&objects.tree, node, 0, UINT64_MAX));) {
			struct hip_texture *t = vm_container(node, struct hip_texture, node);

			if (t->device == device)
				found = t;
		}
		if (found)
			vm_tree_remove(&objects.tree, &found->node);
		drv_mutex_unlock(&objects.lock);
		if (found)
			hsa_amd_memory_pool_free(found->words);
		free(found);
	} while (found);
}

/* --- samplers --------------------------------------------------------------------------------- */

/* With unnormalized coordinates HIP has clamping only, and neither wraps nor mirrors. */
static hsa_ext_sampler_addressing_mode_t addressing_mode(const hipTextureDesc *how, unsigned dimension)
{
	static const uint8_t modes[] = {
		[hipAddressModeWrap] = HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT,
		[hipAddressModeClamp] = HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE,
		[hipAddressModeMirror] = HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT,
		[hipAddressModeBorder] = HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER,
	};
	hipTextureAddressMode mode = how->addressMode[dimension];

	if (!how->normalizedCoords && (mode == hipAddressModeWrap || mode == hipAddressModeMirror))
		mode = hipAddressModeClamp;
	return modes[mode];
}

static hipError_t sampler_words(const struct hip_texture *t, uint32_t words[HIP_SAMPLER_OBJECT_SIZE_DWORD])
{
	const hipTextureDesc *how = &t->how;
	hsa_ext_sampler_descriptor_v2_t sampler = {
		.coordinate_mode = how->normalizedCoords ? HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED
							 : HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED,
	};
	hsa_ext_sampler_t made;
	hsa_status_t status;

	/* Linear memory is read by index, without a sampler. */
	if (t->resource.resType != hipResourceTypeLinear) {
		sampler.filter_mode = how->filterMode == hipFilterModeLinear ? HSA_EXT_SAMPLER_FILTER_MODE_LINEAR
									     : HSA_EXT_SAMPLER_FILTER_MODE_NEAREST;
		for (unsigned i = 0; i < 3; i++)
			sampler.address_modes[i] = addressing_mode(how, i);
	}
	status = hsa_ext_sampler_create_v2(t->device->agent, &sampler, &made);
	if (status)
		return hipErrorOutOfMemory;
	memcpy(words, (const void *)(uintptr_t)made.handle, HIP_SAMPLER_OBJECT_SIZE_DWORD * sizeof(*words));
	hsa_ext_sampler_destroy(t->device->agent, made);
	return hipSuccess;
}

/* --- resources -------------------------------------------------------------------------------- */

/* alignment of addresses and pitches: CLR's requirement, and the value in properties.c */
#define ALIGN 256u

static hipError_t words_of_array(const struct hip_texture *t, uint32_t *words)
{
	const struct hip_array *a = hip_array_of(t->resource.res.array.array);
	struct hip_texels texels;

	if (!a)
		return hipErrorInvalidValue;
	/* CLR's limit: gfx90a has no linear filter for volumes. */
	if (a->depth && t->how.filterMode == hipFilterModeLinear && !strcmp(a->device->chip->target, "gfx90a"))
		return hipErrorNotSupported;
	texels = a->texels;
	if (t->has_view && (!hip_texels_of_view(t->view.format, &texels) ||
			    hip_texels_size_B(&texels) != hip_texels_size_B(&a->texels)))
		return hipErrorInvalidValue;
	return hip_array_words(a, hip_texels_hsa(&texels, t->how.readMode, t->how.sRGB == 1), words);
}

/* Finds the GPU address of a range. False: the range is in no allocation. */
static bool is_known(const void *at, size_t size_B, void **gpu)
{
	struct hip_memory memory;
	size_t offset;

	if (!at || (uintptr_t)at % ALIGN || !hip_memory_find(at, &memory))
		return false;
	offset = (uintptr_t)at - memory.node.lo;
	*gpu = memory.gpu_base + offset;
	return size_B <= memory.size_B - offset;
}

static hipError_t words_of_line(const struct hip_texture *t, uint32_t *words)
{
	const hipResourceDesc *from = &t->resource;
	hsa_ext_image_descriptor_t image = {.geometry = HSA_EXT_IMAGE_GEOMETRY_1DB};
	struct hip_texels texels;
	void *at;

	if (!hip_texels_of_desc(&from->res.linear.desc, &texels) ||
	    !is_known(from->res.linear.devPtr, from->res.linear.sizeInBytes, &at))
		return hipErrorInvalidValue;
	image.width = from->res.linear.sizeInBytes / hip_texels_size_B(&texels);
	image.format = hip_texels_hsa(&texels, t->how.readMode, t->how.sRGB == 1);
	return hip_image_words(t->device, &image, at, 0, words);
}

static hipError_t words_of_plane(const struct hip_texture *t, uint32_t *words)
{
	const hipResourceDesc *from = &t->resource;
	hsa_ext_image_descriptor_t image = {
		.geometry = HSA_EXT_IMAGE_GEOMETRY_2D,
		.width = from->res.pitch2D.width,
		.height = from->res.pitch2D.height,
	};
	size_t pitch_B = from->res.pitch2D.pitchInBytes, rows_B;
	struct hip_texels texels;
	void *at;

	/* CLR's limits. HSA refuses too large widths, so the sums do not overflow. */
	if (!hip_texels_of_desc(&from->res.pitch2D.desc, &texels) || !image.width || !image.height ||
	    image.width >= 16384 || image.height >= 16384 || pitch_B % ALIGN ||
	    __builtin_mul_overflow(image.height - 1, pitch_B, &rows_B) ||
	    __builtin_add_overflow(rows_B, image.width * hip_texels_size_B(&texels), &rows_B) ||
	    !is_known(from->res.pitch2D.devPtr, rows_B, &at))
		return hipErrorInvalidValue;
	image.format = hip_texels_hsa(&texels, t->how.readMode, t->how.sRGB == 1);
	return hip_image_words(t->device, &image, at, pitch_B, words);
}

/* --- textures --------------------------------------------------------------------------------- */

static bool is_known_how(const hipTextureDesc *how)
{
	for (unsigned i = 0; i < 3; i++)
		if ((unsigned)how->addressMode[i] > hipAddressModeBorder)
			return false;
	return (unsigned)how->filterMode <= hipFilterModeLinear &&
	       (unsigned)how->readMode <= hipReadModeNormalizedFloat;
}

static hipError_t image_words(const struct hip_texture *t, uint32_t *words)
{
	switch (t->resource.resType) {
	case hipResourceTypeArray:
		return words_of_array(t, words);
	case hipResourceTypeLinear:
		return t->has_view ? hipErrorInvalidValue : words_of_line(t, words);
	case hipResourceTypePitch2D:
		return t->has_view ? hipErrorInvalidValue : words_of_plane(t, words);
	case hipResourceTypeMipmappedArray:
		return hipErrorNotSupported; /* as in CLR on Linux */
	}
	return hipErrorInvalidValue;
}

hipError_t hip_texture_create(hipTextureObject_t *out, const hipResourceDesc *resource, const hipTextureDesc *how,
			      const hipResourceViewDesc *view)
{
	uint32_t words[HIP_TEXTURE_OBJECT_SIZE_DWORD] = {0};
	struct hip_texture t = {.device = hip_current()};
	hipError_t r;

	if (!hip_has_images(t.device))
		return hipErrorNotSupported;
	if (!out || !resource || !how || !is_known_how(how))
		return hipErrorInvalidValue;
	/* CLR's samplers support neither. */
	if (how->maxAnisotropy || how->mipmapLevelBias != 0)
		return hipErrorNotSupported;
	t.resource = *resource;
	t.how = *how;
	t.has_view = view;
	if (view)
		t.view = *view;
	r = image_words(&t, words);
	if (!r)
		r = sampler_words(&t, words + HIP_SAMPLER_OBJECT_OFFSET_DWORD);
	return r ? r : texture_publish(&t, words, (void **)out);
}

hipError_t hip_texture_destroy(hipTextureObject_t texture)
{
	return texture_destroy(texture, false);
}

HIP_PUBLIC(hipCreateTextureObject,
	   (hipTextureObject_t *texture, const hipResourceDesc *resource, const hipTextureDesc *how,
	    const hipResourceViewDesc *view),
	   (texture, resource, how, view))
{
	/* CLR's error of 7. */
	if (TUFF_HIP_ABI >= 7 && (!texture || !resource || !how))
		return hipErrorInvalidChannelDescriptor;
	return hip_texture_create(texture, resource, how, view);
}

HIP_PUBLIC(hipDestroyTextureObject, (hipTextureObject_t texture), (texture))
{
	return texture_destroy(texture, false);
}

/* Query functions that copy `member` of a texture. */
#define TEXTURE_GET(name, type, member)                                                                            \
	HIP_PUBLIC(name, (type * out, hipTextureObject_t texture), (out, texture))                                 \
	{                                                                                                          \
		struct hip_texture t;                                                                              \
                                                                                                                   \
		if (!out || !hip_texture_find(texture, &t))                                                        \
			return hipErrorInvalidValue;                                                               \
		*out = t.member;                                                                                   \
		return hipSuccess;                                                                                 \
	}
TEXTURE_GET(hipGetTextureObjectResourceDesc, hipResourceDesc, resource)
TEXTURE_GET(hipGetTextureObjectResourceViewDesc, hipResourceViewDesc, view)
TEXTURE_GET(hipGetTextureObjectTextureDesc, hipTextureDesc, how)

/* --- surfaces --------------------------------------------------------------------------------- */

static hipError_t create_surface(hipSurfaceObject_t *out, const hipResourceDesc *resource)
{
	uint32_t words[HIP_TEXTURE_OBJECT_SIZE_DWORD] = {0};
	struct hip_texture t = {.device = hip_current(), .surface = true};
	const struct hip_array *a;
	hipError_t r;

	if (!hip_has_images(t.device))
		return hipErrorNotSupported;
	if (!out || !resource || resource->resType != hipResourceTypeArray)
		return hipErrorInvalidValue;
	t.resource = *resource;
	a = hip_array_of(resource->res.array.array);
	if (!a || (a->flags && !(a->flags & hipArraySurfaceLoadStore)))
		return hipErrorInvalidValue;
	r = hip_array_words(a, hip_texels_hsa(&a->texels, hipReadModeElementType, false), words);
	return r ? r : texture_publish(&t, words, (void **)out);
}

HIP_PUBLIC(hipCreateSurfaceObject, (hipSurfaceObject_t *surface, const hipResourceDesc *resource),
	   (surface, resource))
{
	return create_surface(surface, resource);
}

HIP_PUBLIC(hipDestroySurfaceObject, (hipSurfaceObject_t surface), (surface))
{
	return texture_destroy(surface, true);
}

#if TUFF_HIP_ABI == 5
/* The C++ names that programs of HIP 5.2 call. */
__typeof__(hipCreateSurfaceObject)
	hip_create_surface_5_2 __asm__("_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc")
		__attribute__((alias("hipCreateSurfaceObject"), visibility("default")));
__typeof__(hipDestroySurfaceObject) hip_destroy_surface_5_2 __asm__("_Z23hipDestroySurfaceObjectP13__hip_surface")
	__attribute__((alias("hipDestroySurfaceObject"), visibility("default")));
#endif

#if TUFF_HIP_ABI >= 7
/* As many texels as fit in 2 GiB: CLR's limit. */
HIP_PUBLIC(hipDeviceGetTexture1DLinearMaxWidth, (size_t *width, const hipChannelFormatDesc *desc, int device),
	   (width, desc, device))
{
	struct hip_texels texels;

	if (!width || !desc || !hip_texels_of_desc(desc, &texels))
		return hipErrorInvalidValue;
	if (!hip_device_of(device))
		return hipErrorInvalidDevice;
	*width = INT32_MAX / hip_texels_size_B(&texels);
	return hipSuccess;
}
#endif
