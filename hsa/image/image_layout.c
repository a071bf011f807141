/* Layouts of linear images: rows, then slices. Sources: addrlib (gfx10addrlib.cpp, gfx11addrlib.cpp and gfx12addrlib.cpp in
 * ROCr and Mesa), and Mesa's ac_set_mutable_tex_desc_fields(). */
#include "hsa/image/image.h"

/* ROCr's limits (image_lut_kv.cpp). */
const uint32_t rt_image_limits[RT_GEOMETRIES][4] = {
	[HSA_EXT_IMAGE_GEOMETRY_1D] = {16384, 1, 1, 1},
	[HSA_EXT_IMAGE_GEOMETRY_2D] = {16384, 16384, 1, 1},
	[HSA_EXT_IMAGE_GEOMETRY_3D] = {16384, 16384, 8192, 1},
	[HSA_EXT_IMAGE_GEOMETRY_1DA] = {16384, 1, 1, 8192},
	[HSA_EXT_IMAGE_GEOMETRY_2DA] = {16384, 16384, 1, 8192},
	[HSA_EXT_IMAGE_GEOMETRY_1DB] = {UINT32_MAX, 1, 1, 1},
	[HSA_EXT_IMAGE_GEOMETRY_2DDEPTH] = {16384, 16384, 1, 1},
	[HSA_EXT_IMAGE_GEOMETRY_2DADEPTH] = {16384, 16384, 1, 8192},
};

static uint64_t align(uint64_t size_B, uint64_t align_B)
{
	return (size_B + align_B - 1) / align_B * align_B;
}

static bool is_within_limits(const hsa_ext_image_descriptor_t *d)
{
	const uint32_t *limit = rt_image_limits[d->geometry];

	return d->width && d->width <= limit[0] && d->height <= limit[1] && d->depth <= limit[2] &&
	       d->array_size <= limit[3];
}

static uint32_t at_least_1(size_t x)
{
	return x ? (uint32_t)x : 1;
}

bool rt_pitch_is_named(const struct rt_descriptors *descriptors, hsa_ext_image_geometry_t geometry)
{
	return descriptors->pitch.bits &&
	       (descriptors->pitch_of_layers || geometry == HSA_EXT_IMAGE_GEOMETRY_1D ||
		geometry == HSA_EXT_IMAGE_GEOMETRY_2D || geometry == HSA_EXT_IMAGE_GEOMETRY_2DDEPTH);
}

/* A buffer of elements without gaps. */
static void buffer_layout(uint64_t size_B, unsigned element_B, struct rt_layout *l)
{
	l->row_B = l->slice_B = l->size_B = size_B;
	l->align_B = element_B > 4 ? element_B : 4;
}

/* Rows whose pitch the descriptor names. False: it cannot name that pitch. */
static bool named_rows(const struct rt_descriptors *descriptors, uint64_t least_B, unsigned element_B,
		       uint64_t row_B, struct rt_layout *l)
{
	l->row_B = row_B ? row_B : align(least_B, RT_ROW_ALIGN_B);
	l->slice_B = l->row_B * l->height;
	return l->row_B % RT_ROW_ALIGN_B == 0 && l->row_B >= least_B &&
	       l->row_B / element_B <= 1u << descriptors->pitch.bits;
}

/* Rows whose pitch the hardware computes. False: the pitch is another. */
static bool computed_rows(uint64_t align_B, uint64_t least_B, uint64_t row_B, struct rt_layout *l)
{
	l->row_B = align(least_B, align_B);
	l->slice_B = align(least_B, RT_ROW_ALIGN_B) * l->height;
	return !row_B || row_B == l->row_B;
}

hsa_status_t rt_layout_compute(const struct rt_descriptors *descriptors, const hsa_ext_image_descriptor_t *d,
			       unsigned element_B, uint64_t row_B, uint64_t slice_B, struct rt_layout *l)
{
	/* Layers of one row are rows, a slice apart. */
	bool layers_are_rows = d->geometry == HSA_EXT_IMAGE_GEOMETRY_1DA, possible;
	uint64_t least_B;

	if (!is_within_limits(d))
		return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED;
	*l = (struct rt_layout){
		.width = (uint32_t)d->width,
		.height = at_least_1(layers_are_rows ? 1 : d->height),
		.depth = layers_are_rows ? 1 : at_least_1(d->depth > d->array_size ? d->depth : d->array_size),
		.align_B = RT_ROW_ALIGN_B,
	};
	least_B = (uint64_t)l->width * element_B;
	if (d->geometry == HSA_EXT_IMAGE_GEOMETRY_1DB) {
		buffer_layout(least_B, element_B, l);
		return HSA_STATUS_SUCCESS;
	}
	possible = rt_pitch_is_named(descriptors, d->geometry)
			   ? named_rows(descriptors, least_B, element_B, row_B, l)
			   : computed_rows(layers_are_rows ? RT_ROW_ALIGN_B : descriptors->row_align_B, least_B,
					   row_B, l);
	if (!possible || (slice_B && (layers_are_rows || l->depth > 1) && slice_B != l->slice_B))
		return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED;
	l->size_B = l->slice_B * (layers_are_rows ? at_least_1(d->array_size) : l->depth);
	if (layers_are_rows)
		l->height = at_least_1(d->array_size);
	return HSA_STATUS_SUCCESS;
}
