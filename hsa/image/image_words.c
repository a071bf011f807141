/* The words of image, buffer and sampler descriptors. Sources: ROCr's resource_ai.h, resource_nv.h, resource_gfx11.h
 * and resource_gfx12.h; Mesa's ac_descriptors.c and registers (SQ_IMG_RSRC_WORD*, SQ_BUF_RSRC_WORD*,
 * SQ_IMG_SAMP_WORD*); PAL's gfx10_sq_ko_reg.h and gfx12_sq_ko_reg.h, which agree in the fields used here. */
#include <string.h>

#include "hsa/image/image.h"

/* The fields that all generations have in the same bits. Addresses of images are in units of 256 bytes. */
static const struct rt_field img_address_hi = {1, 0, 8}, img_swizzle_mode = {3, 20, 5}, img_type = {3, 28, 4},
			     buf_address_hi = {1, 0, 16}, buf_stride = {1, 16, 14},
			     samp_clamp[3] = {{0, 0, 3}, {0, 3, 3}, {0, 6, 3}}, samp_unnormalized = {0, 15, 1},
			     samp_mag = {2, 20, 2}, samp_min = {2, 22, 2};

/* From GFX10 on, the hardware computes the pitch from the width. From GFX10.3 on, the descriptors of images without
 * layers and slices have a larger pitch in the bits of the depth. `level` is RESOURCE_LEVEL, which GFX10 requires to
 * be 1. In buffers OOB_SELECT is 0: the index is compared with NUM_RECORDS. */
#define GFX10                                                                                                      \
	.codes = RT_CODES_GFX10, .row_align_B = 256, .code = {1, 20, 9}, .width_low = {1, 30, 2},                  \
	.width_high = {2, 0, 12}, .height = {2, 14, 14}, .level = {2, 31, 1}, .depth = {4, 0, 13},                 \
	.border = {3, 25, 3}, .meta_low = {6, 24, 8}, .meta_high = {7, 0, 32}, .buffer_code = {3, 12, 7},          \
	.buffer_level = {3, 24, 1}, .max_lod = {1, 12, 12}

static const struct rt_descriptors descriptor_rows[] = {
	[DRV_IMAGES_GFX9] = {.codes = RT_CODES_GFX9,
			     .pitch_of_layers = true,
			     .code = {1, 20, 6},
			     .num = {1, 26, 4},
			     .width_low = {2, 0, 14},
			     .height = {2, 14, 14},
			     .depth = {4, 0, 13},
			     .pitch = {4, 13, 16},
			     .border = {4, 29, 3},
			     .meta_low = {7, 0, 32},
			     .meta_high = {5, 17, 8},
			     .buffer_code = {3, 15, 4},
			     .buffer_num = {3, 12, 3},
			     .max_lod = {1, 12, 12}},
	[DRV_IMAGES_GFX10] = {GFX10},
	[DRV_IMAGES_GFX10_3] = {GFX10, .pitch = {4, 0, 14}},
	[DRV_IMAGES_GFX11] = {.codes = RT_CODES_GFX11,
			      .row_align_B = 256,
			      .code = {1, 20, 8},
			      .width_low = {1, 30, 2},
			      .width_high = {2, 0, 12},
			      .height = {2, 14, 14},
			      .depth = {4, 0, 13},
			      .pitch = {4, 0, 14},
			      .border = {3, 25, 3},
			      .meta_low = {6, 24, 8},
			      .meta_high = {7, 0, 32},
			      .buffer_code = {3, 12, 6},
			      .max_lod = {1, 12, 12}},
	/* Rows are at multiples of 128 bytes, slices as if rows were at multiples of 256: addrlib
	 * (gfx12addrlib.cpp), PAL (pitchForSlice). Compression needs no address. */
	[DRV_IMAGES_GFX12] = {.codes = RT_CODES_GFX11,
			      .row_align_B = 128,
			      .code = {1, 17, 8},
			      .width_low = {1, 30, 2},
			      .width_high = {2, 0, 14},
			      .height = {2, 14, 16},
			      .depth = {4, 0, 14},
			      .pitch = {4, 0, 16},
			      .border = {3, 25, 3},
			      .buffer_code = {3, 12, 6},
			      .max_lod = {1, 13, 13}},
};

const struct rt_descriptors *rt_descriptors_of(enum drv_images images)
{
	return images == DRV_IMAGES_NONE ? NULL : &descriptor_rows[images];
}

static void put_field(uint32_t *words, struct rt_field f, uint64_t value)
{
	uint32_t mask = (uint32_t)((1ull << f.bits) - 1);

	words[f.word] = (words[f.word] & ~(mask << f.low)) | ((uint32_t)value & mask) << f.low;
}

static uint32_t get_field(const uint32_t *words, struct rt_field f)
{
	return words[f.word] >> f.low & (uint32_t)((1ull << f.bits) - 1);
}

/* DST_SEL_X to W: the lowest twelve bits of word 3, in images and buffers. */
static void put_select(uint32_t *words, const struct rt_format *format)
{
	for (unsigned i = 0; i < 4; i++)
		put_field(words, (struct rt_field){3, (uint8_t)(3 * i), 3}, format->select[i]);
}

/* Words after the hardware's, for the code of ROCr and the OpenCL compiler. */
static void put_names(const struct rt_image *image, uint32_t *words)
{
	words[8] = image->named.channel_type;
	words[9] = image->named.channel_order;
	words[10] = image->layout.width;
	words[11] = 0;
}

/* A buffer with a stride, read by index: NUM_RECORDS counts elements (Mesa, ac_build_buffer_descriptor()). ROCr has
 * bytes there, so that reads after the end succeed. */
static void put_buffer(const struct rt_image *image, uint32_t *words)
{
	const struct rt_descriptors *d = image->descriptors;

	words[0] = (uint32_t)image->data;
	put_field(words, buf_address_hi, image->data >> 32);
	put_field(words, buf_stride, image->format.element_B);
	words[2] = image->layout.width;
	put_field(words, d->buffer_num, image->format.num);
	put_field(words, d->buffer_code, image->format.code[d->codes]);
	put_field(words, d->buffer_level, 1);
	put_select(words, &image->format);
}

/* SQ_RSRC_IMG_*, by geometry. */
static const uint8_t img_types[] = {
	[HSA_EXT_IMAGE_GEOMETRY_1D] = 8,      [HSA_EXT_IMAGE_GEOMETRY_2D] = 9,
	[HSA_EXT_IMAGE_GEOMETRY_3D] = 10,     [HSA_EXT_IMAGE_GEOMETRY_1DA] = 12,
	[HSA_EXT_IMAGE_GEOMETRY_2DA] = 13,    [HSA_EXT_IMAGE_GEOMETRY_1DB] = 0,
	[HSA_EXT_IMAGE_GEOMETRY_2DDEPTH] = 9, [HSA_EXT_IMAGE_GEOMETRY_2DADEPTH] = 13,
};

/* The order of the border's channels, by the positions of alpha and red (Mesa, gfx9_border_color_swizzle()). */
static unsigned border_swizzle(const struct rt_format *f)
{
	enum { X = 4, Y, XYZW = 0, XWYZ, WZYX, WXYZ, ZYXW, YXWZ };
	const uint8_t *s = f->select;

	if (s[3] == X) {
		if (s[2] == Y)
			return WZYX;
		return s[0] == X && s[1] == X && s[2] == X ? XYZW : WXYZ;
	}
	if (s[0] == X)
		return s[1] == Y || (s[1] == X && s[2] == X) ? XYZW : XWYZ;
	return s[1] == X ? YXWZ : s[2] == X ? ZYXW : XYZW;
}

/* Fields of all images, tiled or not. */
static void put_image(const struct rt_image *image, uint32_t *words)
{
	const struct rt_descriptors *d = image->descriptors;

	words[0] = (uint32_t)(image->data >> 8);
	put_field(words, img_address_hi, image->data >> 40);
	put_field(words, d->code, image->format.code[d->codes]);
	put_field(words, d->num, image->format.num);
	put_select(words, &image->format);
}

void rt_image_words(const struct rt_image *image, uint32_t words[RT_IMAGE_WORDS])
{
	const struct rt_descriptors *d = image->descriptors;
	const struct rt_layout *l = &image->layout;
	bool rows_are_layers = image->geometry == HSA_EXT_IMAGE_GEOMETRY_1DA;

	memset(words, 0, RT_IMAGE_WORDS * sizeof(words[0]));
	put_names(image, words);
	if (image->geometry == HSA_EXT_IMAGE_GEOMETRY_1DB) {
		put_buffer(image, words);
		return;
	}
	put_image(image, words);
	put_field(words, d->width_low, l->width - 1);
	put_field(words, d->width_high, (l->width - 1) >> d->width_low.bits);
	put_field(words, d->height, rows_are_layers ? 0 : l->height - 1);
	put_field(words, d->level, 1);
	put_field(words, img_swizzle_mode, 0); /* linear */
	put_field(words, img_type, img_types[image->geometry]);
	put_field(words, d->depth, (rows_are_layers ? l->height : l->depth) - 1);
	/* The pitch may share bits with a depth of 1. */
	if (rt_pitch_is_named(d, image->geometry))
		put_field(words, d->pitch, l->row_B / image->format.element_B - 1);
	put_field(words, d->border, border_swizzle(&image->format));
}

bool rt_image_words_foreign(const struct rt_image *image, const uint32_t theirs[8], uint32_t words[RT_IMAGE_WORDS])
{
	const struct rt_descriptors *d = image->descriptors;
	uint64_t meta =
		(uint64_t)get_field(theirs, d->meta_high) << d->meta_low.bits | get_field(theirs, d->meta_low);

	if (rt_format_code_B(d->codes, get_field(theirs, d->code)) != image->format.element_B)
		return false;
	memcpy(words, theirs, 8 * sizeof(words[0]));
	put_names(image, words);
	put_image(image, words);
	if (image->geometry == HSA_EXT_IMAGE_GEOMETRY_1D || image->geometry == HSA_EXT_IMAGE_GEOMETRY_1DA)
		put_field(words, img_type, img_types[image->geometry]);
	/* The other driver's address of the compression data is relative to the image. */
	meta += image->data >> 8;
	put_field(words, d->meta_low, meta);
	put_field(words, d->meta_high, meta >> d->meta_low.bits);
	return true;
}

bool rt_sampler_words(const struct rt_descriptors *descriptors, const hsa_ext_sampler_descriptor_v2_t *sampler,
		      uint32_t words[RT_SAMPLER_WORDS])
{
	static const uint8_t clamps[] = {
		[HSA_EXT_SAMPLER_ADDRESSING_MODE_UNDEFINED] = 0, /* like ROCr: like REPEAT */
		[HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE] = 2,
		[HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER] = 6,
		[HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT] = 0,
		[HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT] = 1,
	};

	memset(words, 0, RT_SAMPLER_WORDS * sizeof(words[0]));
	if (sampler->filter_mode > HSA_EXT_SAMPLER_FILTER_MODE_LINEAR ||
	    sampler->coordinate_mode > HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		if (sampler->address_modes[i] >= sizeof(clamps))
			return false;
		put_field(words, samp_clamp[i], clamps[sampler->address_modes[i]]);
	}
	put_field(words, samp_unnormalized,
		  sampler->coordinate_mode == HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED);
	put_field(words, descriptors->max_lod, 0xfff);
	/* Point or bilinear; the border is transparent black. */
	put_field(words, samp_mag, sampler->filter_mode);
	put_field(words, samp_min, sampler->filter_mode);
	return true;
}
