/* What images are in HIP: their elements, arrays, and the descriptors that HSA writes of them. */
#ifndef API_IMAGE_H
#define API_IMAGE_H

#include <hsa/hsa_ext_image.h>

#include "api/exec/copy.h"

/* What an element is. */
struct hip_texels {
	hipArray_Format format;
	unsigned channels; /* 1, 2 or 4 */
};

/* False: there are no such elements. */
bool hip_texels_are(const struct hip_texels *texels);
bool hip_texels_of_desc(const hipChannelFormatDesc *desc, struct hip_texels *texels);
bool hip_texels_of_view(hipResourceViewFormat format, struct hip_texels *texels);
hipChannelFormatDesc hip_texels_desc(const struct hip_texels *texels);
size_t hip_texels_size_B(const struct hip_texels *texels);
/* How HSA names them, read as they are or as fractions; only fractions may be sRGB. */
hsa_ext_image_format_t hip_texels_hsa(const struct hip_texels *texels, hipTextureReadMode mode, bool srgb);

/* Rows of elements in the device's memory, as HSA's linear images have them. */
struct hip_array {
	uint64_t handle;
	struct hip_device *device;
	struct hip_array *next, **link; /* of the list of all; array.c's lock guards it */
	struct hip_texels texels;
	hsa_ext_image_geometry_t geometry;
	size_t width, height, depth; /* as they were asked for: 0 where there is no such dimension */
	unsigned flags;
	char *base; /* owned */
	size_t row_B, slice_B;
};

/* NULL: not an array, or no longer. */
struct hip_array *hip_array_of(hipArray_const_t handle);
hipError_t hip_array_create(const HIP_ARRAY3D_DESCRIPTOR *how, hipArray_t *out);
/* Where a box with that width, height and depth begins in it; x in bytes. InvalidValue: not all of it is inside. */
hipError_t hip_array_side(const struct hip_array *array, const struct hip_box *box, size_t x_B, size_t y, size_t z,
			  struct hip_side *side);

/* What HSA writes of an image; row_B 0: as it comes. */
hipError_t hip_image_words(const struct hip_device *device, const hsa_ext_image_descriptor_t *image,
			   const void *data, size_t row_B, uint32_t words[HIP_IMAGE_OBJECT_SIZE_DWORD]);
/* The same of an array whose elements are named that way. */
hipError_t hip_array_words(const struct hip_array *array, hsa_ext_image_format_t format,
			   uint32_t words[HIP_IMAGE_OBJECT_SIZE_DWORD]);

void hip_arrays_reset(struct hip_device *device);

/* The box of a copy by hipMemcpy3D() (copy_3d.c). */
hipError_t hip_box_of_3d(const hipMemcpy3DParms *p, struct hip_box *box);

#endif
