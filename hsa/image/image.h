/* Images and samplers, inside hsa/: what image*.c share.
 *
 * An image is memory of the client with a descriptor that GPUs read. All are linear: rows stand at a multiple of
 * 256 bytes, slices follow one another. The opaque layout of hsa_ext_image_create() is the same: the client sees it
 * through import and export alone. Only foreign images (hsa_amd_image_create()) may be tiled. */
#ifndef HSA_IMAGE_H
#define HSA_IMAGE_H

#include <hsa/hsa_ext_image.h>

#include "hsa/core/core.h"

#define RT_ROW_ALIGN_B 256u /* of linear images: IMAGE_LINEAR_ROW_PITCH_ALIGNMENT (ROCr, addrlib) */

/* What a channel's bits mean: NUM_FORMAT of descriptors (GFX9). */
enum rt_num {
	RT_NUM_UNORM = 0,
	RT_NUM_SNORM = 1,
	RT_NUM_UINT = 4,
	RT_NUM_SINT = 5,
	RT_NUM_FLOAT = 7,
	RT_NUM_SRGB = 9,
};

/* How a channel order and type lie in memory. */
struct rt_format {
	uint8_t capability; /* hsa_ext_image_capability_t; 0: there is no such format */
	uint8_t element_B;
	uint8_t data;                      /* DATA_FORMAT of GFX9: which channels of which widths */
	uint8_t num;                       /* enum rt_num */
	uint8_t channels, channel_bits[4]; /* from the lowest bit */
	uint8_t select[4];                 /* DST_SEL of R, G, B, A: 0, 1, or 4 + the channel */
};
/* capability 0: none that an image of the geometry can have. */
struct rt_format rt_format_of(const hsa_ext_image_format_t *format, hsa_ext_image_geometry_t geometry);
/* Writes one element; rgba: float[4], int32_t[4] or uint32_t[4], as the format's numbers are. */
void rt_format_pack(const struct rt_format *format, const void *rgba, uint8_t element[16]);

/* A color of 8 bits as sRGB has it, or of sRGB as linear formats have it. */
uint8_t rt_srgb_byte(uint8_t byte, bool to_srgb);

/* Where an image's elements lie. */
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
	uint64_t data; /* the client's */
	bool tiled;    /* foreign: nothing here can read it */
};

/* The words of GFX9's descriptors (image_words.c). */
#define RT_IMAGE_WORDS   12 /* 8 or 4 of the hardware, then channel type, order and width: ROCr's form */
#define RT_SAMPLER_WORDS 8  /* 4 of the hardware */
void rt_image_words(const struct rt_image *image, uint32_t words[RT_IMAGE_WORDS]);
/* The same from the words that another driver gave for a tiled image. False: not of that format. */
bool rt_image_words_foreign(const struct rt_image *image, const uint32_t theirs[8], uint32_t words[RT_IMAGE_WORDS]);
/* False: a mode that there is not. */
bool rt_sampler_words(const hsa_ext_sampler_descriptor_v2_t *sampler, uint32_t words[RT_SAMPLER_WORDS]);

/* The image that is alive under a handle, or NULL. */
struct rt_image *rt_image_of(struct rt *rt, hsa_ext_image_t handle);

DRV_MUST_CHECK int rt_images_init(struct rt *rt);
void rt_images_fini(struct rt *rt);

#endif
