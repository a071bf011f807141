/* Descriptors of images by generation (descriptor.h).
 *
 * Sources: PAL's sq_img_rsrc_t and sq_img_samp_t (gfx10_sq_ko_reg.h, gfx12_sq_ko_reg.h), Mesa's ac_descriptors.c and
 * gfx10-rsrc.json. Linear levels: addrlib's linear surfaces of GFX10, GFX11 and GFX12: rows of a level start at
 * multiples of 256 bytes (GFX12: 128, but levels take the space of 256), and the smallest level comes first. GFX9: levels
 * follow each other from the largest on, in rows of one pitch; half of an odd height is rounded up for the next one's
 * place. */
#include "vgpu/isa/mem/descriptor.h"

#include <stddef.h>

#include "vgpu/isa/decode/generation.h"
#include "vgpu/isa/mem/access.h"
#include "vgpu/isa/mem/format.h"

#define BITS(word, hi, lo) {32 * (word) + (lo), (hi) - (lo) + 1}

/* Fields of a resource. Two fields of a value: the second has the upper bits. */
struct image_layout {
	struct isa_field dfmt, nfmt; /* GFX9 */
	struct isa_field format;
	struct isa_field width, width_hi, height, depth, base_array;
	struct isa_field base_level, last_level, max_mip, swizzle, border_swizzle;
	struct isa_field min_lod, min_lod_hi, uav3d;
	struct isa_field pitch;    /* GFX9: of all linear images, less 1 */
	struct isa_field pitch_hi; /* above `depth`, where images without layers can have a pitch there */
	uint16_t row_B;            /* rows without a pitch of their own start at multiples */
	bool largest_first;        /* levels, in rows of one pitch */
};

struct sampler_layout {
	struct isa_field min_lod, max_lod;
};

struct layout {
	struct image_layout image;
	struct sampler_layout sampler;
};

#define SAMPLER_9 {.min_lod = BITS(1, 11, 0), .max_lod = BITS(1, 23, 12)}

static const struct layout gfx9 = {
	.image = {.dfmt = BITS(1, 25, 20),
		  .nfmt = BITS(1, 29, 26),
		  .width = BITS(2, 13, 0),
		  .height = BITS(2, 27, 14),
		  .base_level = BITS(3, 15, 12),
		  .last_level = BITS(3, 19, 16),
		  .swizzle = BITS(3, 24, 20),
		  .depth = BITS(4, 12, 0),
		  .pitch = BITS(4, 28, 13),
		  .border_swizzle = BITS(4, 31, 29),
		  .base_array = BITS(5, 12, 0),
		  .max_mip = BITS(5, 31, 28),
		  .row_B = 256,
		  .largest_first = true},
	.sampler = SAMPLER_9,
};

#define IMAGE_10                                                                                                   \
	.width = BITS(1, 31, 30), .width_hi = BITS(2, 11, 0), .height = BITS(2, 27, 14),                           \
	.base_level = BITS(3, 15, 12), .last_level = BITS(3, 19, 16), .swizzle = BITS(3, 24, 20),                  \
	.border_swizzle = BITS(3, 27, 25), .depth = BITS(4, 12, 0), .base_array = BITS(4, 28, 16),                 \
	.uav3d = BITS(5, 3, 0), .row_B = 256

#define IMAGE_10_LEVELS .format = BITS(1, 28, 20), .min_lod = BITS(1, 19, 8), .max_mip = BITS(5, 7, 4)

static const struct layout gfx10 = {.image = {IMAGE_10, IMAGE_10_LEVELS}, .sampler = SAMPLER_9};
static const struct layout gfx10_3 = {
	.image = {IMAGE_10, IMAGE_10_LEVELS, .pitch_hi = BITS(4, 13, 13)},
	.sampler = SAMPLER_9,
};

static const struct layout gfx11 = {
	.image = {IMAGE_10, .format = BITS(1, 27, 20), .max_mip = BITS(1, 19, 16), .min_lod = BITS(5, 31, 27),
		  .min_lod_hi = BITS(6, 6, 0), .pitch_hi = BITS(4, 13, 13)},
	.sampler = SAMPLER_9,
};

static const struct layout gfx12 = {
	.image = {.max_mip = BITS(1, 16, 12),
		  .format = BITS(1, 24, 17),
		  .base_level = BITS(1, 29, 25),
		  .width = BITS(1, 31, 30),
		  .width_hi = BITS(2, 13, 0),
		  .height = BITS(2, 29, 14),
		  .last_level = BITS(3, 19, 15),
		  .swizzle = BITS(3, 24, 20),
		  .border_swizzle = BITS(3, 27, 25),
		  .depth = BITS(4, 13, 0),
		  .pitch_hi = BITS(4, 15, 14),
		  .base_array = BITS(4, 29, 16),
		  .uav3d = BITS(5, 4, 4),
		  .min_lod = BITS(5, 31, 26),
		  .min_lod_hi = BITS(6, 6, 0),
		  .row_B = 128},
	.sampler = {.min_lod = BITS(1, 12, 0), .max_lod = BITS(1, 25, 13)},
};

/* Levels start at multiples of it in all generations. */
#define LEVEL_ROW_B 256

static const struct layout *layout_of(enum vgpu_gfx gfx)
{
	static const struct layout *const all[VGPU_GFX_COUNT] = {
		[VGPU_GFX900] = &gfx9,       [VGPU_GFX906] = &gfx9,     [VGPU_GFX908] = &gfx9,
		[VGPU_GFX90A] = &gfx9,       [VGPU_GFX942] = &gfx9,     [VGPU_GFX10_1] = &gfx10,
		[VGPU_GFX10_1_DOT] = &gfx10, [VGPU_GFX10_3] = &gfx10_3, [VGPU_GFX11] = &gfx11,
		[VGPU_GFX11_5] = &gfx11,     [VGPU_GFX12] = &gfx12,
	};

	return all[gfx];
}

static uint32_t field(const uint32_t *words, struct isa_field f)
{
	return f.width ? words[f.lo / 32] >> f.lo % 32 & ((2u << (f.width - 1)) - 1) : 0;
}

static uint32_t fields(const uint32_t *words, struct isa_field low, struct isa_field high)
{
	return field(words, low) | field(words, high) << low.width;
}

static uint32_t align_up(uint32_t value, uint32_t to)
{
	return (value + to - 1) & ~(to - 1);
}

static int32_t at_level(int32_t size, unsigned level)
{
	return size >> level ? size >> level : 1;
}

/* The pitch that the descriptor has, or 0. */
static uint32_t own_pitch(const struct image_layout *l, const uint32_t *words, const struct isa_image *m)
{
	uint32_t pitch;

	if (m->levels > 1)
		return 0;
	if (l->pitch.width)
		return field(words, l->pitch) + 1;
	if (!l->pitch_hi.width || isa_image_has_layers(m) || m->type == ISA_IMAGE_3D)
		return 0;
	pitch = fields(words, l->depth, l->pitch_hi);
	return pitch ? pitch + 1 : 0;
}

/* size: of level 0. */
static void size_levels(const struct image_layout *l, const uint32_t *words, struct isa_image *m,
			const int32_t size[3])
{
	bool whole = m->type != ISA_IMAGE_3D || field(words, l->uav3d);

	for (unsigned n = 0; n < m->levels; n++) {
		m->level[n].size[0] = at_level(size[0], n);
		m->level[n].size[1] = at_level(size[1], n);
		m->level[n].size[2] = whole ? size[2] : at_level(size[2], n);
	}
}

static void place_largest_first(struct isa_image *m, uint32_t pitch)
{
	uint32_t rows = 0, height = (uint32_t)m->level[0].size[1];

	for (unsigned n = 0; n < m->levels; n++) {
		m->level[n].pitch = pitch;
		m->level[n].start_B = (uint64_t)pitch * rows * m->size_B;
		rows += height;
		height = (height + 1) / 2;
	}
	m->slice_B = (uint64_t)pitch * rows * m->size_B;
}

static void place_smallest_first(struct isa_image *m, uint32_t own, uint32_t row)
{
	uint32_t level_row = LEVEL_ROW_B / m->size_B;

	for (unsigned n = m->levels; n--;) {
		struct isa_image_level *level = &m->level[n];

		level->start_B = m->slice_B;
		level->pitch = own ? own : align_up((uint32_t)level->size[0], row);
		m->slice_B += (uint64_t)align_up(level->pitch, level_row) * m->size_B * (uint32_t)level->size[1];
	}
}

/* Places the levels of a linear image in its slices. */
static void place_levels(const struct image_layout *l, const uint32_t *words, struct isa_image *m)
{
	uint32_t own = own_pitch(l, words, m), row = l->row_B / m->size_B;

	if (l->largest_first)
		place_largest_first(m, own ? own : align_up((uint32_t)m->level[0].size[0], row));
	else
		place_smallest_first(m, own, row);
}

/* Depth, or the number of layers, of level 0. Without layers the depth's bits may be a pitch. */
static int32_t slices_of(const struct image_layout *l, const uint32_t *words, const struct isa_image *m)
{
	if (m->type == ISA_IMAGE_3D || isa_image_has_layers(m))
		return (int32_t)field(words, l->depth) + 1;
	return m->first_layer + 1;
}

static void read_format(enum vgpu_gfx gfx, const struct image_layout *l, const uint32_t *words, struct isa_image *m)
{
	if (l->format.width) {
		isa_format_split_image(isa_generation_of(gfx)->column, field(words, l->format), &m->dfmt, &m->nfmt);
	} else {
		m->dfmt = (uint8_t)field(words, l->dfmt);
		m->nfmt = (uint8_t)field(words, l->nfmt);
	}
	m->size_B = (uint8_t)isa_format_size_B(m->dfmt, m->nfmt);
}

static const char *image_refusal(const struct image_layout *l, const uint32_t *words, const struct isa_image *m)
{
	if (m->type < ISA_IMAGE_1D || m->type >= ISA_IMAGE_2D_MSAA)
		return "multisample images, and resources of no image,";
	if (field(words, l->swizzle))
		return "images that are tiled";
	if (!m->size_B || (m->nfmt > ISA_NUM_FLOAT && m->nfmt != ISA_NUM_SRGB))
		return "a format that is none of an image";
	if (m->size_B & (m->size_B - 1) && (m->levels > 1 || !l->pitch.width))
		return "images of 96 bits without a pitch";
	if (m->levels > ISA_IMAGE_LEVELS || m->last_level >= m->levels || m->base_level > m->last_level)
		return "levels that the image does not have";
	return NULL;
}

const char *isa_image_read(enum vgpu_gfx gfx, const uint32_t words[8], struct isa_image *m)
{
	const struct image_layout *l = &layout_of(gfx)->image;
	const char *why;
	int32_t size[3];

	memset(m, 0, offsetof(struct isa_image, level)); /* the levels that there are get values */
	m->base = isa_sign_48(((uint64_t)(words[1] & 0xff) << 32 | words[0]) << 8);
	m->type = (uint8_t)(words[3] >> 28);
	m->select = words[3] & 0xfff;
	m->border_swizzle = field(words, l->border_swizzle);
	m->base_level = field(words, l->base_level);
	m->last_level = field(words, l->last_level);
	m->levels = field(words, l->max_mip) + 1;
	m->min_lod = (float)fields(words, l->min_lod, l->min_lod_hi) / 256;
	read_format(gfx, l, words, m);
	why = image_refusal(l, words, m);
	if (why)
		return why;
	if (m->type != ISA_IMAGE_3D || field(words, l->uav3d))
		m->first_layer = (int32_t)field(words, l->base_array);
	size[0] = (int32_t)fields(words, l->width, l->width_hi) + 1;
	size[1] = isa_image_axes(m) > 1 ? (int32_t)field(words, l->height) + 1 : 1;
	size[2] = slices_of(l, words, m);
	size_levels(l, words, m, size);
	place_levels(l, words, m);
	return NULL;
}

static const char *sampler_refusal(const uint32_t *words, const struct isa_sampler *s)
{
	for (unsigned n = 0; n < 3; n++)
		if (s->clamp[n] == 4 || s->clamp[n] == 5)
			return "half borders";
	if (words[0] >> 9 & 7 || words[2] >> 20 & 2 || words[2] >> 22 & 2)
		return "anisotropic filters";
	if (words[0] >> 29 & 3)
		return "minimum and maximum filters";
	if (words[2] >> 24 & 3)
		return "filters of Z alone";
	if (s->border > ISA_BORDER_OPAQUE_WHITE)
		return "borders of other colours than black and white";
	return NULL;
}

const char *isa_sampler_read(enum vgpu_gfx gfx, const uint32_t words[4], struct isa_sampler *s)
{
	const struct sampler_layout *l = &layout_of(gfx)->sampler;

	*s = (struct isa_sampler){
		.clamp = {words[0] & 7, words[0] >> 3 & 7, words[0] >> 6 & 7},
		.compare = words[0] >> 12 & 7,
		.unnormalized = words[0] >> 15 & 1,
		.truncate = words[0] >> 27 & 1,
		.mag = words[2] >> 20 & 1,
		.min = words[2] >> 22 & 1,
		.mip = words[2] >> 26 & 3,
		.border = (uint8_t)(words[3] >> 30),
		.min_lod = (float)field(words, l->min_lod) / 256,
		.max_lod = (float)field(words, l->max_lod) / 256,
		/* 14 bits with sign, 8 of them the fraction */
		.bias = (float)((int32_t)(words[2] << 18) >> 18) / 256,
	};
	return sampler_refusal(words, s);
}
