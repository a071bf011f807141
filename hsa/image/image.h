/* Images and samplers: declarations that the files of image/ share.
 *
 *   rt_image        an image: memory of the client, with a descriptor that GPUs read. Owned by rt_images
 *   rt_format       the memory layout of a channel order and type
 *   rt_layout       the memory layout of an image's elements
 *   rt_descriptors  the descriptors of a generation: a constant row of image_words.c
 *
 * Images are linear (image_layout.c has the rows and slices). The opaque layout of hsa_ext_image_create() is the
 * same: clients access it by import and export only. Only foreign images (hsa_amd_image_create()) may be tiled.
 * The lock of rt_images (image.c) guards the list of images and the images. */
#ifndef HSA_IMAGE_H
#define HSA_IMAGE_H

#include <hsa/hsa_ext_image.h>

#include "hsa/core/core.h"

/* Alignment of addresses, and of pitches that clients choose: IMAGE_LINEAR_ROW_PITCH_ALIGNMENT (ROCr, addrlib). */
#define RT_ROW_ALIGN_B 256u

/* The number of a format in descriptors. That of GFX9, DATA_FORMAT, means the widths of the channels alone; those of
 * later generations, FORMAT, mean the kind of their bits as well. GFX12 has the numbers of GFX11. */
enum rt_codes { RT_CODES_GFX9, RT_CODES_GFX10, RT_CODES_GFX11, RT_CODES };

/* The meaning of a channel's bits: NUM_FORMAT of descriptors (GFX9). */
enum rt_num {
	RT_NUM_UNORM = 0,
	RT_NUM_SNORM = 1,
	RT_NUM_UINT = 4,
	RT_NUM_SINT = 5,
	RT_NUM_FLOAT = 7,
	RT_NUM_SRGB = 9,
};

/* The memory layout of a channel order and type. */
struct rt_format {
	uint8_t capability; /* hsa_ext_image_capability_t; 0: no such format */
	uint8_t element_B;
	uint8_t code[RT_CODES];
	uint8_t num;                       /* enum rt_num */
	uint8_t channels, channel_bits[4]; /* from the lowest bit */
	uint8_t select[4];                 /* DST_SEL of R, G, B, A: 0, 1, or 4 + the channel */
};
/* Finds a format. capability 0: images of the geometry cannot have it. */
struct rt_format rt_format_of(const hsa_ext_image_format_t *format, hsa_ext_image_geometry_t geometry);
/* Bytes of an element by its format's number; 0: not used by any format. */
unsigned rt_format_code_B(enum rt_codes codes, unsigned code);
/* Writes one element; rgba is float[4], int32_t[4] or uint32_t[4], according to the format's numbers. */
void rt_format_pack(const struct rt_format *format, const void *rgba, uint8_t element[16]);

/* Converts a color of 8 bits to sRGB, or from sRGB to linear. */
uint8_t rt_srgb_byte(uint8_t byte, bool to_srgb);

/* The memory layout of an image's elements. */
struct rt_layout {
	uint32_t width, height, depth; /* depth: slices or layers */
	uint64_t row_B, slice_B, size_B;
	uint32_t align_B;
};

/* A field of a descriptor: its lowest bit and its number of bits. No bits: the generation lacks the field. */
struct rt_field {
	uint8_t word, low, bits;
};

/* Differences between the generations' descriptors. */
struct rt_descriptors {
	enum rt_codes codes;
	/* Images. Where the descriptor has no pitch, rows are at multiples of `row_align_B`, and slices are as far
	 * apart as if rows were at multiples of RT_ROW_ALIGN_B. */
	uint32_t row_align_B;
	bool pitch_of_layers; /* images with layers or slices have the field of the pitch, too */
	struct rt_field code, num, width_low, width_high, height, depth, pitch, border, level;
	struct rt_field meta_low, meta_high; /* address of compression data, in units of 256 bytes */
	/* Buffers. */
	struct rt_field buffer_code, buffer_num, buffer_level;
	/* Samplers. */
	struct rt_field max_lod;
};
/* NULL: chips of that kind have no images. */
const struct rt_descriptors *rt_descriptors_of(enum drv_images images);

/* Whether descriptors of images of that geometry have the pitch. If not, the hardware computes it. */
bool rt_pitch_is_named(const struct rt_descriptors *descriptors, hsa_ext_image_geometry_t geometry);
/* Computes the layout of rows and slices that the hardware reads as a linear image; pitches of 0: the default.
 * Errors: IMAGE_SIZE_UNSUPPORTED, IMAGE_PITCH_UNSUPPORTED. */
hsa_status_t rt_layout_compute(const struct rt_descriptors *descriptors, const hsa_ext_image_descriptor_t *d,
			       unsigned element_B, uint64_t row_B, uint64_t slice_B, struct rt_layout *l);

#define RT_GEOMETRIES (HSA_EXT_IMAGE_GEOMETRY_2DADEPTH + 1)
/* Limits of width, height, depth and layers, by geometry. */
extern const uint32_t rt_image_limits[RT_GEOMETRIES][4];

struct rt_image {
	struct rt_agent *agent;                   /* borrowed */
	const struct rt_descriptors *descriptors; /* constant */
	hsa_ext_image_geometry_t geometry;
	hsa_ext_image_format_t named;
	struct rt_format format;
	struct rt_layout layout;
	uint64_t data; /* GPU address of the client's memory */
	bool tiled;    /* a foreign image, whose elements this library cannot access */
};

/* The words of descriptors (image_words.c). */
#define RT_IMAGE_WORDS   12 /* 8 or 4 of the hardware, then channel type, order and width, as in ROCr */
#define RT_SAMPLER_WORDS 8  /* 4 of the hardware */
void rt_image_words(const struct rt_image *image, uint32_t words[RT_IMAGE_WORDS]);
/* Makes the words from those of another driver for a tiled image. False: of another format. */
bool rt_image_words_foreign(const struct rt_image *image, const uint32_t theirs[8], uint32_t words[RT_IMAGE_WORDS]);
/* False: an unknown mode. */
bool rt_sampler_words(const struct rt_descriptors *descriptors, const hsa_ext_sampler_descriptor_v2_t *sampler,
		      uint32_t words[RT_SAMPLER_WORDS]);

/* A function of the private interface. */
struct rt_image_layout;
hsa_status_t rt_image_layout(hsa_agent_t agent, const hsa_ext_image_descriptor_t *d,
			     struct rt_image_layout *layout);

/* Copies the image of a handle, which another thread may destroy. False: there is none. */
bool rt_image_find(struct rt *rt, hsa_ext_image_t handle, struct rt_image *image);

DRV_MUST_CHECK int rt_images_init(struct rt *rt);
void rt_images_fini(struct rt *rt);

#endif
