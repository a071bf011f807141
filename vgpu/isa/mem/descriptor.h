/* Descriptors of images: a resource (T#) in eight SGPRs, a sampler (S#) in four. Each generation has its bits of them in
 * a constant (descriptor.c). */
#ifndef VGPU_ISA_MEM_DESCRIPTOR_H
#define VGPU_ISA_MEM_DESCRIPTOR_H

#include "vgpu/chip.h"

#include <stdbool.h>
#include <stdint.h>

enum isa_image_type {
	ISA_IMAGE_1D = 8,
	ISA_IMAGE_2D,
	ISA_IMAGE_3D,
	ISA_IMAGE_CUBE,
	ISA_IMAGE_1D_ARRAY,
	ISA_IMAGE_2D_ARRAY,
	ISA_IMAGE_2D_MSAA,
	ISA_IMAGE_2D_MSAA_ARRAY,
};

#define ISA_IMAGE_LEVELS 17

/* A level of a linear image. */
struct isa_image_level {
	int32_t size[3];  /* width, height, depth or layers */
	uint64_t start_B; /* from the start of a slice */
	uint32_t pitch;   /* elements of a row */
};

struct isa_image {
	uint64_t base;
	uint8_t dfmt, nfmt;
	uint8_t type; /* enum isa_image_type */
	uint8_t size_B;
	uint32_t select;
	uint32_t border_swizzle;
	uint32_t base_level, last_level;
	int32_t first_layer;
	float min_lod;
	uint64_t slice_B; /* a slice or layer with all its levels */
	uint32_t levels;  /* levels of the resource, in level[] */
	struct isa_image_level level[ISA_IMAGE_LEVELS];
};

enum isa_filter { ISA_FILTER_POINT, ISA_FILTER_LINEAR };
enum isa_mip_filter { ISA_MIP_NONE, ISA_MIP_POINT, ISA_MIP_LINEAR };
enum isa_border { ISA_BORDER_TRANSPARENT_BLACK, ISA_BORDER_OPAQUE_BLACK, ISA_BORDER_OPAQUE_WHITE };

struct isa_sampler {
	uint8_t clamp[3];
	uint8_t compare;  /* 0 never, 1 less, 2 equal, 4 greater, and their sums; the reference comes first */
	uint8_t mag, min; /* enum isa_filter */
	uint8_t mip;      /* enum isa_mip_filter */
	uint8_t border;   /* enum isa_border */
	bool unnormalized, truncate;
	float min_lod, max_lod, bias;
};

/* Read a descriptor. They return NULL, or the reason why the access is not executed: a noun in the plural. */
const char *isa_image_read(enum vgpu_gfx gfx, const uint32_t words[8], struct isa_image *image);
const char *isa_sampler_read(enum vgpu_gfx gfx, const uint32_t words[4], struct isa_sampler *sampler);

/* Axes of a slice: 1 to 3. */
static inline unsigned isa_image_axes(const struct isa_image *m)
{
	if (m->type == ISA_IMAGE_1D || m->type == ISA_IMAGE_1D_ARRAY)
		return 1;
	return m->type == ISA_IMAGE_3D ? 3 : 2;
}

static inline bool isa_image_has_layers(const struct isa_image *m)
{
	return m->type >= ISA_IMAGE_CUBE && m->type != ISA_IMAGE_2D_MSAA;
}

#endif
