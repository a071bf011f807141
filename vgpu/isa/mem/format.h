/* Typed buffer data, in the terms of GFX9: BUF_DATA_FORMAT splits an element's bits into components, BUF_NUM_FORMAT gives a
 * component's bits their meaning. Names list components from the most significant: 2_10_10_10 has X in bits 9:0. */
#ifndef VGPU_ISA_MEM_FORMAT_H
#define VGPU_ISA_MEM_FORMAT_H

#include "vgpu/isa/decode/generation.h"

enum isa_num_format {
	ISA_NUM_UNORM,
	ISA_NUM_SNORM,
	ISA_NUM_USCALED,
	ISA_NUM_SSCALED,
	ISA_NUM_UINT,
	ISA_NUM_SINT,
	ISA_NUM_SNORM_OGL,
	ISA_NUM_FLOAT,
	/* Images alone have: */
	ISA_NUM_SRGB = 9,
};

/* Data format of images alone, three fractions with one exponent: X 8:0, Y 17:9, Z 26:18, exponent 31:27. It is only
 * loaded. */
#define ISA_DATA_5_9_9_9 34

/* GFX10 and later have one number for both; 0 for numbers that no buffer has. */
void isa_format_split(enum isa_column column, unsigned format, uint8_t *dfmt, uint8_t *nfmt);
/* The same for images, whose numbers go on behind those of buffers. */
void isa_format_split_image(enum isa_column column, unsigned format, uint8_t *dfmt, uint8_t *nfmt);
/* Bytes of an element; 0: no such data format, or its components are too narrow for floats. */
unsigned isa_format_size_B(unsigned dfmt, unsigned nfmt);
/* Element to four registers; components that the format lacks are 0, 0, 0, 1. d16: results are f16 or 16-bit
 * integers. */
void isa_format_load(unsigned dfmt, unsigned nfmt, const uint8_t *element, bool d16, uint32_t xyzw[4]);
/* Registers to an element. */
void isa_format_store(unsigned dfmt, unsigned nfmt, const uint32_t xyzw[4], bool d16, uint8_t *element);
/* Converts a stored RGBA value to the X to W of memory by DST_SEL (12 bits of a resource): each of X to W gets the
 * first component that DST_SEL reads from it, so that a load returns the stored value. (OpenCL writes BGRA images
 * through such resources without a swizzle of its own: ROCm-Device-Libs, ockl/src/image.cl.) */
void isa_format_select_back(unsigned select, const uint32_t rgba[4], uint32_t xyzw[4]);
/* Encoding of "one" in a component of that format. */
uint32_t isa_format_one(unsigned nfmt, bool d16);

#endif
