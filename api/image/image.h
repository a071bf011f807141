/* Images: elements, arrays, and image descriptors.
 *
 *   hip_texels  the format of an element; a value
 *   hip_array   an image in device memory; owned by array.c's list, found by handle
 *
 * array.c's lock guards the list; the members of an array are constant. HSA writes the descriptors.
 */
#ifndef API_IMAGE_H
#define API_IMAGE_H

#include <hsa/hsa_ext_image.h>
#include <sys/queue.h>

#include "api/exec/copy.h"

/* The format of an element. */
struct hip_texels {
	hipArray_Format format;
	unsigned channels; /* 1, 2 or 4 */
};

/* False: no such format exists. */
bool hip_texels_are(const struct hip_texels *texels);
bool hip_texels_of_desc(const hipChannelFormatDesc *desc, struct hip_texels *texels);
bool hip_texels_of_view(hipResourceViewFormat format, struct hip_texels *texels);
hipChannelFormatDesc hip_texels_desc(const struct hip_texels *texels);
size_t hip_texels_size_B(const struct hip_texels *texels);
/* HSA's format, for elements that are read as they are or as normalized fractions; only fractions may be sRGB. */
hsa_ext_image_format_t hip_texels_hsa(const struct hip_texels *texels, hipTextureReadMode mode, bool srgb);

/* Rows of elements in device memory, with the layout of HSA's linear images. */
struct hip_array {
	struct drv_retired retired; /* used when the array is freed */
	uint64_t handle;
	struct hip_device *device;
	LIST_ENTRY(hip_array) in_all; /* guarded by array.c's lock */
	struct hip_texels texels;
	hsa_ext_image_geometry_t geometry;
	size_t width, height, depth; /* the program's values: 0 for a dimension that does not exist */
	unsigned flags;
	char *base; /* owned */
	size_t row_B, slice_B;
};

/* NULL: the handle is no array, or the array is freed. */
struct hip_array *hip_array_of(hipArray_const_t handle);
hipError_t hip_array_create(const HIP_ARRAY3D_DESCRIPTOR *how, hipArray_t *out);
/* Finds where a box with the dimensions of `box` begins in the array; x is in bytes. Errors: InvalidValue, when the
 * box is not wholly inside. */
hipError_t hip_array_side(const struct hip_array *array, const struct hip_box *box, size_t x_B, size_t y, size_t z,
			  struct hip_side *side);

/* Gets HSA's descriptor of an image; row_B 0: HSA chooses the pitch. */
hipError_t hip_image_words(const struct hip_device *device, const hsa_ext_image_descriptor_t *image,
			   const void *data, size_t row_B, uint32_t words[HIP_IMAGE_OBJECT_SIZE_DWORD]);
/* The same for an array, whose elements are read in `format`. */
hipError_t hip_array_words(const struct hip_array *array, hsa_ext_image_format_t format,
			   uint32_t words[HIP_IMAGE_OBJECT_SIZE_DWORD]);

void hip_arrays_reset(struct hip_device *device);

/* Converts the parameters of hipMemcpy3D() to a box (copy_3d.c). */
hipError_t hip_box_of_3d(const hipMemcpy3DParms *p, struct hip_box *box);

#endif
