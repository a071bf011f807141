/* Images and samplers: declarations that the files of image/ share.
 *
 *   rt_image   an image: memory of the client, with a descriptor that GPUs read. Owned by rt_images
 *   rt_format  the memory layout of a channel order and type
 *   rt_layout  the memory layout of an image's elements
 *
 * Images are linear: rows at multiples of 256 bytes, slices without gaps. The opaque layout of
 * hsa_ext_image_create() is the same: clients access it by import and export only. Only foreign images
 * (hsa_amd_image_create()) may be tiled. The lock of rt_images (image.c) guards the list of images and the images. */
#ifndef HSA_IMAGE_H
#define HSA_IMAGE_H

#include <hsa/hsa_ext_image.h>

#include "hsa/core/core.h"

#define RT_ROW_ALIGN_B 256u /* linear images: IMAGE_LINEAR_ROW_PITCH_ALIGNMENT (ROCr, addrlib) */

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
	uint8_t data;                      /* DATA_FORMAT of GFX9: number and widths of the channels */
	uint8_t num;                       /* enum rt_num */
	uint8_t channels, channel_bits[4]; /* from the lowest bit */
	uint8_t select[4];                 /* DST_SEL of R, G, B, A: 0, 1, or 4 + the channel */
};
/* Finds a format. capability 0: images of the geometry cannot have it. */
struct rt_format rt_format_of(const hsa_ext_image_format_t *format, hsa_ext_image_geometry_t geometry);
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

struct rt_image {
	struct rt_agent *agent; /* borrowed */
	hsa_ext_image_geometry_t geometry;
	hsa_ext_image_format_t named;
	struct rt_format format;
	struct rt_layout layout;
	uint64_t data; /* GPU address of the client's memory */
	bool tiled;    /* a foreign image, whose elements this library cannot access */
};

/* The words of GFX9's descriptors (image_words.c). */
#define RT_IMAGE_WORDS   12 /* 8 or 4 of the hardware, then channel type, order and width, as in ROCr */
#define RT_SAMPLER_WORDS 8  /* 4 of the hardware */
void rt_image_words(const struct rt_image *image, uint32_t words[RT_IMAGE_WORDS]);
/* Makes the words from those of another driver for a tiled image. False: of another format. */
bool rt_image_words_foreign(const struct rt_image *image, const uint32_t theirs[8], uint32_t words[RT_IMAGE_WORDS]);
/* False: an unknown mode. */
bool rt_sampler_words(const hsa_ext_sampler_descriptor_v2_t *sampler, uint32_t words[RT_SAMPLER_WORDS]);

/* Copies the image of a handle, which another thread may destroy. False: there is none. */
bool rt_image_find(struct rt *rt, hsa_ext_image_t handle, struct rt_image *image);

DRV_MUST_CHECK int rt_images_init(struct rt *rt);
void rt_images_fini(struct rt *rt);

#endif
