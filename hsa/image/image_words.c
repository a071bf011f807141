/* The words of GFX9's image, buffer and sampler descriptors. Sources: ROCr's resource_ai.h and Mesa's registers
 * (gfx9.json, SQ_IMG_RSRC_WORD*, SQ_BUF_RSRC_WORD*, SQ_IMG_SAMP_WORD*), which agree. */
#include <string.h>

#include "hsa/image/image.h"

/* A field of a word: its lowest bit and its number of bits. */
struct field {
	uint8_t word, low, bits;
};

static const struct field
	/* Fields of images. The address is in units of 256 bytes. */
	img_address_hi = {1, 0, 8},
	img_data = {1, 20, 6}, img_num = {1, 26, 4}, img_width = {2, 0, 14}, img_height = {2, 14, 14},
	img_swizzle_mode = {3, 20, 5}, img_type = {3, 28, 4}, img_depth = {4, 0, 13}, img_pitch = {4, 13, 16},
	img_bc_swizzle = {4, 29, 3}, img_meta_hi = {5, 17, 8},
	/* Fields of buffers. */
	buf_address_hi = {1, 0, 16}, buf_stride = {1, 16, 14}, buf_num = {3, 12, 3}, buf_data = {3, 15, 4},
	/* Fields of samplers. */
	samp_clamp[3] = {{0, 0, 3}, {0, 3, 3}, {0, 6, 3}}, samp_unnormalized = {0, 15, 1},
	samp_max_lod = {1, 12, 12}, samp_mag = {2, 20, 2}, samp_min = {2, 22, 2};

static void put_field(uint32_t *words, struct field f, uint64_t value)
{
	uint32_t mask = (uint32_t)((1ull << f.bits) - 1);

	words[f.word] = (words[f.word] & ~(mask << f.low)) | ((uint32_t)value & mask) << f.low;
}

static uint32_t get_field(const uint32_t *words, struct field f)
{
	return words[f.word] >> f.low & (uint32_t)((1ull << f.bits) - 1);
}

/* DST_SEL_X to W: the lowest twelve bits of word 3, in images and buffers. */
static void put_select(uint32_t *words, const struct rt_format *format)
{
	for (unsigned i = 0; i < 4; i++)
		put_field(words, (struct field){3, (uint8_t)(3 * i), 3}, format->select[i]);
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
	words[0] = (uint32_t)image->data;
	put_field(words, buf_address_hi, image->data >> 32);
	put_field(words, buf_stride, image->format.element_B);
	words[2] = image->layout.width;
	put_field(words, buf_num, image->format.num);
	put_field(words, buf_data, image->format.data);
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
	words[0] = (uint32_t)(image->data >> 8);
	put_field(words, img_address_hi, image->data >> 40);
	put_field(words, img_data, image->format.data);
	put_field(words, img_num, image->format.num);
	put_select(words, &image->format);
}

void rt_image_words(const struct rt_image *image, uint32_t words[RT_IMAGE_WORDS])
{
	const struct rt_layout *l = &image->layout;
	bool rows_are_layers = image->geometry == HSA_EXT_IMAGE_GEOMETRY_1DA;

	memset(words, 0, RT_IMAGE_WORDS * sizeof(words[0]));
	put_names(image, words);
	if (image->geometry == HSA_EXT_IMAGE_GEOMETRY_1DB) {
		put_buffer(image, words);
		return;
	}
	put_image(image, words);
	put_field(words, img_width, l->width - 1);
	put_field(words, img_height, rows_are_layers ? 0 : l->height - 1);
	put_field(words, img_swizzle_mode, 0); /* linear */
	put_field(words, img_type, img_types[image->geometry]);
	put_field(words, img_depth, (rows_are_layers ? l->height : l->depth) - 1);
	put_field(words, img_pitch, l->row_B / image->format.element_B - 1);
	put_field(words, img_bc_swizzle, border_swizzle(&image->format));
}

/* Bytes of an element by DATA_FORMAT; 0: not used by any format. */
static unsigned format_element_B(unsigned data)
{
	static const uint8_t bytes[] = {0, 1, 2, 2, 4, 4, 4, 4, 4, 4, 4, 8, 8, 12, 16, 0, 2, 2};

	return data < sizeof(bytes) ? bytes[data] : 0;
}

bool rt_image_words_foreign(const struct rt_image *image, const uint32_t theirs[8], uint32_t words[RT_IMAGE_WORDS])
{
	uint64_t meta = ((uint64_t)get_field(theirs, img_meta_hi) << 40 | (uint64_t)theirs[7] << 8) + image->data;

	if (format_element_B(get_field(theirs, img_data)) != image->format.element_B)
		return false;
	memcpy(words, theirs, 8 * sizeof(words[0]));
	put_names(image, words);
	put_image(image, words);
	if (image->geometry == HSA_EXT_IMAGE_GEOMETRY_1D || image->geometry == HSA_EXT_IMAGE_GEOMETRY_1DA)
		put_field(words, img_type, img_types[image->geometry]);
	/* The other driver's address of the compression data is relative to the image. */
	put_field(words, img_meta_hi, meta >> 40);
	words[7] = (uint32_t)(meta >> 8);
	return true;
}

bool rt_sampler_words(const hsa_ext_sampler_descriptor_v2_t *sampler, uint32_t words[RT_SAMPLER_WORDS])
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
	put_field(words, samp_max_lod, 0xfff);
	/* Point or bilinear; the border is transparent black. */
	put_field(words, samp_mag, sampler->filter_mode);
	put_field(words, samp_min, sampler->filter_mode);
	return true;
}
