/* Image instructions: what accesses without a sampler (image.c) and with one (sample.c) have in common. Private to
 * mem/.
 *
 * The address of a lane, in dwords: texel offset, bias, reference of the comparison, gradients, coordinates, and level,
 * lowest level or mip. With A16 the coordinates and what follows have 16 bits, two to a dword, and the bias the lower
 * half of its dword; gradients have 16 bits by G16, those of each direction in dwords of their own (LLVM, lowering of
 * image intrinsics; RDNA 2 ISA, image address). */
#ifndef VGPU_ISA_MEM_IMAGE_H
#define VGPU_ISA_MEM_IMAGE_H

#include "vgpu/isa/bits.h"
#include "vgpu/isa/mem/access.h"
#include "vgpu/isa/mem/descriptor.h"
#include "vgpu/isa/mem/format.h"

/* The longest address: image_sample_c_d_cl_o of a 3D image. */
#define ISA_IMAGE_DWORDS 12

/* An instruction with its resource. */
struct isa_image_access {
	struct isa_image m;
	uint8_t coordinates;            /* coordinates of the address, with the layer */
	uint8_t axes;                   /* coordinates without the layer */
	uint8_t places;                 /* X and Y that the image has */
	uint8_t slice;                  /* the coordinate that selects a slice; 0: the first slice */
	bool is_plain;                  /* an address of nothing but coordinates of 32 bits */
	uint16_t row[ISA_IMAGE_DWORDS]; /* VGPRs of the address */
};

/* The address of a lane. Coordinates, level and so on are raw: integers, f32, or their 16 bits. */
struct isa_image_address {
	uint32_t offset, bias, compare, gradient[2][3], c[3], level;
};

/* Reads the resource and finds the address. Returns the reason why the instruction cannot be executed, or NULL. */
const char *isa_image_begin(const struct isa_wave *w, const struct isa_inst *i, struct isa_image_access *a);
void isa_image_address_of(const struct isa_wave *w, const struct isa_inst *i, const struct isa_image_access *a,
			  unsigned lane, struct isa_image_address *address);
/* After the last lane: the status that TFE wants. */
const struct isa_inst *isa_image_end(struct isa_wave *w, const struct isa_inst *i);

/* at: X, Y, and the slice from the resource's start. */
bool isa_image_is_inside(const struct isa_image *m, unsigned level, const int32_t at[3]);
uint64_t isa_image_texel(const struct isa_image *m, unsigned level, const int32_t at[3]);
/* X to W of a texel as registers have them; outside of the image 0. */
void isa_image_load(struct isa_wave *w, const struct isa_inst *i, const struct isa_image *m, unsigned level,
		    const int32_t at[3], uint32_t xyzw[4]);

bool isa_image_is_integer(const struct isa_image *m);
/* A component by the resource's selector. */
uint32_t isa_image_select(const struct isa_image *m, unsigned component, const uint32_t xyzw[4]);
/* Writes the n-th result of a lane. The second of a pair goes to the upper half. */
void isa_image_put(struct isa_wave *w, const struct isa_inst *i, bool integer, unsigned lane, unsigned n,
		   uint32_t bits);
/* Writes the components that the mask names. */
void isa_image_put_texel(struct isa_wave *w, const struct isa_inst *i, const struct isa_image *m, unsigned lane,
			 const uint32_t xyzw[4]);

#endif
