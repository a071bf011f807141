/* Images and samplers: capabilities, creation, destruction. A handle is the address of the descriptor: clients copy
 * it from there, and OpenCL kernels read it there. */
#include "drv/lock.h"
#include "hsa/core/table.h"
#include "hsa/image/image.h"
#include "hsa/interface.h"
#include "hsa/memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

hsa_status_t impl_hsa_amd_image_get_info_max_dim(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
	if ((uint32_t)attribute < HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS ||
	    (uint32_t)attribute > HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS)
		return rt_get() ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_ERROR_NOT_INITIALIZED;
	return impl_hsa_agent_get_info(agent, attribute, value);
}

/* --- descriptors in memory ---------------------------------------------------------------------- */

#define SLOT_B 64u /* size and alignment of a slot: more than either descriptor has */
#define SLOTS  1024u
#define CHUNKS 256u

enum slot_kind { SLOT_FREE, SLOT_IMAGE, SLOT_SAMPLER };

struct chunk {
	struct rt_shared memory; /* owned; SLOTS descriptors, accessible to all GPUs */
	enum slot_kind kind[SLOTS];
	struct rt_image image[SLOTS];
	unsigned used;
};

struct rt_images {
	struct drv_mutex lock; /* guards all below */
	struct chunk *chunk[CHUNKS];
	unsigned chunks;
};

static void info_images(struct rt_info *info)
{
	info->image_1d = rt_image_limits[HSA_EXT_IMAGE_GEOMETRY_1D][0];
	info->image_1db = rt_image_limits[HSA_EXT_IMAGE_GEOMETRY_1DB][0];
	memcpy(info->image_2d, rt_image_limits[HSA_EXT_IMAGE_GEOMETRY_2D], sizeof(info->image_2d));
	memcpy(info->image_3d, rt_image_limits[HSA_EXT_IMAGE_GEOMETRY_3D], sizeof(info->image_3d));
	info->image_layers = rt_image_limits[HSA_EXT_IMAGE_GEOMETRY_2DA][3];
	/* ROCr's values; only memory limits the number of descriptors. */
	info->image_rd = 128;
	info->image_rw = 64;
	info->samplers = 16;
	info->pitch_align = RT_ROW_ALIGN_B;
}

int rt_images_init(struct rt *rt)
{
	rt->images = calloc(1, sizeof(*rt->images));
	if (!rt->images)
		return drv_fail(-ENOMEM, "no host memory for images");
	drv_mutex_init(&rt->images->lock, DRV_RANK_RT_IMAGES);
	for (unsigned i = 0; i < rt->gpus; i++)
		if (rt->gpu[i]->dev->chip->images != DRV_IMAGES_NONE)
			info_images(&rt->gpu[i]->agent->info);
	return 0;
}

void rt_images_fini(struct rt *rt)
{
	struct rt_images *s = rt->images;

	while (s->chunks) {
		struct chunk *c = s->chunk[--s->chunks];

		rt_shared_destroy(&c->memory);
		free(c);
	}
	drv_mutex_destroy(&s->lock);
	free(s);
	rt->images = NULL;
}

static int images_add_chunk(struct rt *rt)
{
	struct rt_images *s = rt->images;
	struct chunk *c;
	int r;

	if (s->chunks == CHUNKS)
		return drv_fail(-ENOMEM, "more than %u images and samplers", CHUNKS * SLOTS);
	c = calloc(1, sizeof(*c));
	if (!c)
		return drv_fail(-ENOMEM, "no host memory for images");
	r = rt_shared_create(rt, SLOTS * SLOT_B, VM_UNCACHED, &c->memory);
	if (r) {
		free(c);
		return r;
	}
	s->chunk[s->chunks++] = c;
	return 0;
}

/* Takes a free slot and writes its descriptor; image may be NULL. */
static int descriptor_take(struct rt *rt, enum slot_kind kind, const struct rt_image *image, const uint32_t *words,
			   size_t words_B, uint64_t *handle)
{
	struct rt_images *s = rt->images;
	unsigned at = 0, slot = 0;
	int r = 0;

	drv_mutex_lock(&s->lock);
	while (at < s->chunks && s->chunk[at]->used == SLOTS)
		at++;
	if (at == s->chunks)
		r = images_add_chunk(rt);
	if (!r) {
		struct chunk *c = s->chunk[at];

		while (c->kind[slot] != SLOT_FREE)
			slot++;
		c->kind[slot] = kind;
		c->used++;
		if (image)
			c->image[slot] = *image;
		memcpy((char *)c->memory.map + slot * SLOT_B, words, words_B);
		*handle = (uintptr_t)c->memory.map + slot * SLOT_B;
	}
	drv_mutex_unlock(&s->lock);
	return r;
}

/* The slot of a handle, if it has that kind; the lock held. */
static struct chunk *descriptor_find(struct rt *rt, uint64_t handle, enum slot_kind kind, unsigned *slot)
{
	for (unsigned i = 0; i < rt->images->chunks; i++) {
		struct chunk *c = rt->images->chunk[i];
		uint64_t at = handle - (uintptr_t)c->memory.map;

		if (at >= SLOTS * SLOT_B)
			continue;
		*slot = (unsigned)(at / SLOT_B);
		return at % SLOT_B || c->kind[*slot] != kind ? NULL : c;
	}
	return NULL;
}

static hsa_status_t descriptor_release(struct rt *rt, uint64_t handle, enum slot_kind kind)
{
	struct chunk *c;
	unsigned slot;

	drv_mutex_lock(&rt->images->lock);
	c = descriptor_find(rt, handle, kind, &slot);
	if (c) {
		c->kind[slot] = SLOT_FREE;
		c->used--;
	}
	drv_mutex_unlock(&rt->images->lock);
	return c ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

bool rt_image_find(struct rt *rt, hsa_ext_image_t handle, struct rt_image *image)
{
	struct chunk *c;
	unsigned slot;

	drv_mutex_lock(&rt->images->lock);
	c = descriptor_find(rt, handle.handle, SLOT_IMAGE, &slot);
	if (c)
		*image = c->image[slot];
	drv_mutex_unlock(&rt->images->lock);
	return c;
}

/* --- capabilities ----------------------------------------------------------------------------------- */

/* A GPU whose descriptor format is supported, or NULL. */
static struct rt_agent *agent_with_images(const struct rt *rt, hsa_agent_t handle)
{
	struct rt_agent *agent = rt_agent_of(rt, handle);

	return agent && agent->is_gpu && rt_descriptors_of(agent->gpu->dev->chip->images) ? agent : NULL;
}

RT_IMPL(hsa_ext_image_get_capability,
	(hsa_agent_t agent, hsa_ext_image_geometry_t geometry, const hsa_ext_image_format_t *format,
	 uint32_t *capability),
	(agent, geometry, format, capability))
{
	if (!rt_agent_of(rt, agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!format || !capability || (unsigned)geometry >= RT_GEOMETRIES)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*capability = agent_with_images(rt, agent) ? rt_format_of(format, geometry).capability : 0;
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_ext_image_get_capability_with_layout,
	(hsa_agent_t agent, hsa_ext_image_geometry_t geometry, const hsa_ext_image_format_t *format,
	 hsa_ext_image_data_layout_t layout, uint32_t *capability),
	(agent, geometry, format, layout, capability))
{
	if (layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR)
		return rt_agent_of(rt, agent) ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_ERROR_INVALID_AGENT;
	return impl_hsa_ext_image_get_capability(agent, geometry, format, capability);
}

/* Checks the parameters of an image and computes its layout; its memory is set later. */
static hsa_status_t image_plan(const struct rt *rt, hsa_agent_t agent, const hsa_ext_image_descriptor_t *d,
			       hsa_access_permission_t permission, uint64_t row_B, uint64_t slice_B,
			       struct rt_image *image)
{
	if (!rt_agent_of(rt, agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!d || (unsigned)d->geometry >= RT_GEOMETRIES || permission < HSA_ACCESS_PERMISSION_RO ||
	    permission > HSA_ACCESS_PERMISSION_RW)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*image = (struct rt_image){
		.agent = agent_with_images(rt, agent),
		.geometry = d->geometry,
		.named = d->format,
		.format = rt_format_of(&d->format, d->geometry),
	};
	if (!image->agent || !image->format.capability)
		return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED;
	image->descriptors = rt_descriptors_of(image->agent->gpu->dev->chip->images);
	return rt_layout_compute(image->descriptors, d, image->format.element_B, row_B, slice_B, &image->layout);
}

static hsa_status_t get_data_info(struct rt *rt, hsa_agent_t agent, const hsa_ext_image_descriptor_t *d,
				  hsa_access_permission_t permission, uint64_t row_B, uint64_t slice_B,
				  hsa_ext_image_data_info_t *info)
{
	struct rt_image image;
	hsa_status_t status;

	if (!info)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*info = (hsa_ext_image_data_info_t){0};
	status = image_plan(rt, agent, d, permission, row_B, slice_B, &image);
	if (!status)
		*info = (hsa_ext_image_data_info_t){image.layout.size_B, image.layout.align_B};
	return status;
}

RT_IMPL(hsa_ext_image_data_get_info,
	(hsa_agent_t agent, const hsa_ext_image_descriptor_t *d, hsa_access_permission_t permission,
	 hsa_ext_image_data_info_t *info),
	(agent, d, permission, info))
{
	return get_data_info(rt, agent, d, permission, 0, 0, info);
}

RT_IMPL(hsa_ext_image_data_get_info_with_layout,
	(hsa_agent_t agent, const hsa_ext_image_descriptor_t *d, hsa_access_permission_t permission,
	 hsa_ext_image_data_layout_t layout, size_t row_B, size_t slice_B, hsa_ext_image_data_info_t *info),
	(agent, d, permission, layout, row_B, slice_B, info))
{
	return get_data_info(rt, agent, d, permission, row_B, slice_B,
			     layout == HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR ? info : NULL);
}

hsa_status_t rt_image_layout(hsa_agent_t agent, const hsa_ext_image_descriptor_t *d, struct rt_image_layout *layout)
{
	const struct rt *rt = rt_get();
	struct rt_image image;
	hsa_status_t status = rt ? image_plan(rt, agent, d, HSA_ACCESS_PERMISSION_RW, 0, 0, &image)
				 : HSA_STATUS_ERROR_NOT_INITIALIZED;

	if (!status)
		*layout = (struct rt_image_layout){image.layout.row_B, image.layout.slice_B, image.layout.size_B};
	return status;
}

/* --- images ------------------------------------------------------------------------------------- */

static hsa_status_t image_create(struct rt *rt, struct rt_image *image, const void *data, hsa_ext_image_t *handle)
{
	uint32_t words[RT_IMAGE_WORDS];

	if ((uintptr_t)data % image->layout.align_B)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	image->data = (uintptr_t)data;
	rt_image_words(image, words);
	return hsa_status_of(descriptor_take(rt, SLOT_IMAGE, image, words, sizeof(words), &handle->handle));
}

hsa_status_t impl_hsa_ext_image_create(hsa_agent_t agent, const hsa_ext_image_descriptor_t *d, const void *data,
				       hsa_access_permission_t permission, hsa_ext_image_t *handle)
{
	return impl_hsa_ext_image_create_with_layout(agent, d, data, permission, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR,
						     0, 0, handle);
}

RT_IMPL(hsa_ext_image_create_with_layout,
	(hsa_agent_t agent, const hsa_ext_image_descriptor_t *d, const void *data,
	 hsa_access_permission_t permission, hsa_ext_image_data_layout_t layout, size_t row_B, size_t slice_B,
	 hsa_ext_image_t *handle),
	(agent, d, data, permission, layout, row_B, slice_B, handle))
{
	struct rt_image image;
	hsa_status_t status;

	if (!data || !handle || layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = image_plan(rt, agent, d, permission, row_B, slice_B, &image);
	return status ? status : image_create(rt, &image, data, handle);
}

/* Creates an image of a graphics driver, with its tiling: that driver provides the descriptor's words, in ROCr's
 * form: version 1, vendor and device, the eight words. */
RT_IMPL(hsa_amd_image_create,
	(hsa_agent_t agent, const hsa_ext_image_descriptor_t *d, const hsa_amd_image_descriptor_t *layout,
	 const void *data, hsa_access_permission_t permission, hsa_ext_image_t *handle),
	(agent, d, layout, data, permission, handle))
{
	uint32_t words[RT_IMAGE_WORDS];
	struct rt_image image;
	hsa_status_t status;

	if (!layout || !data || !handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = image_plan(rt, agent, d, permission, 0, 0, &image);
	if (status)
		return status;
	if ((uintptr_t)data % RT_ROW_ALIGN_B)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	image.data = (uintptr_t)data;
	image.tiled = true;
	if (layout->version != 1 || layout->deviceID != (0x1002u << 16 | image.agent->info.chip_id) ||
	    image.geometry == HSA_EXT_IMAGE_GEOMETRY_1DB || !rt_image_words_foreign(&image, layout->data, words))
		return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED;
	return hsa_status_of(descriptor_take(rt, SLOT_IMAGE, &image, words, sizeof(words), &handle->handle));
}

static hsa_status_t slot_destroy(struct rt *rt, hsa_agent_t agent, uint64_t handle, enum slot_kind kind)
{

	return rt_agent_of(rt, agent) ? descriptor_release(rt, handle, kind) : HSA_STATUS_ERROR_INVALID_AGENT;
}

RT_IMPL(hsa_ext_image_destroy, (hsa_agent_t agent, hsa_ext_image_t image), (agent, image))
{
	return slot_destroy(rt, agent, image.handle, SLOT_IMAGE);
}

/* --- samplers ----------------------------------------------------------------------------------- */

RT_IMPL(hsa_ext_sampler_create_v2,
	(hsa_agent_t agent, const hsa_ext_sampler_descriptor_v2_t *descriptor, hsa_ext_sampler_t *sampler),
	(agent, descriptor, sampler))
{
	const struct rt_agent *with = agent_with_images(rt, agent);
	uint32_t words[RT_SAMPLER_WORDS];

	if (!with)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!descriptor || !sampler ||
	    !rt_sampler_words(rt_descriptors_of(with->gpu->dev->chip->images), descriptor, words))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return hsa_status_of(descriptor_take(rt, SLOT_SAMPLER, NULL, words, sizeof(words), &sampler->handle));
}

hsa_status_t impl_hsa_ext_sampler_create(hsa_agent_t agent, const hsa_ext_sampler_descriptor_t *descriptor,
					 hsa_ext_sampler_t *sampler)
{
	hsa_ext_sampler_descriptor_v2_t same;

	if (!descriptor)
		return impl_hsa_ext_sampler_create_v2(agent, NULL, sampler);
	same = (hsa_ext_sampler_descriptor_v2_t){
		.coordinate_mode = descriptor->coordinate_mode,
		.filter_mode = descriptor->filter_mode,
		.address_modes = {descriptor->address_mode, descriptor->address_mode, descriptor->address_mode},
	};
	return impl_hsa_ext_sampler_create_v2(agent, &same, sampler);
}

RT_IMPL(hsa_ext_sampler_destroy, (hsa_agent_t agent, hsa_ext_sampler_t sampler), (agent, sampler))
{
	return slot_destroy(rt, agent, sampler.handle, SLOT_SAMPLER);
}
