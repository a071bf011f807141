/* Copies of images: import, export, copy, clear. Rows are copied like other memory, by a GPU or CPU that can access
 * both ends; the functions return when the copy is complete. */
#include <stdlib.h>
#include <string.h>

#include "hsa/core/table.h"
#include "hsa/image/image.h"

/* An end of a copy: the address of its first element, and the pitches of rows and slices. */
struct end {
	uint64_t at, row_B, slice_B;
};

struct box {
	uint64_t row_B; /* bytes of each row */
	uint32_t rows, slices;
};

/* Merges rows and slices without gaps, so that fewer copies are needed. */
static void box_merge(const struct end *dst, const struct end *src, struct box *box)
{
	if (box->rows > 1 && dst->row_B == box->row_B && src->row_B == box->row_B) {
		box->row_B *= box->rows;
		box->rows = 1;
	}
	if (box->rows == 1 && dst->slice_B == box->row_B && src->slice_B == box->row_B) {
		box->row_B *= box->slices;
		box->slices = 1;
	}
}

static hsa_status_t copy_box(struct end dst, struct end src, struct box box)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	box_merge(&dst, &src, &box);
	for (uint32_t z = 0; z < box.slices && !status; z++)
		for (uint32_t y = 0; y < box.rows && !status; y++)
			status = impl_hsa_memory_copy(
				(void *)(uintptr_t)(dst.at + z * dst.slice_B + y * dst.row_B),
				(const void *)(uintptr_t)(src.at + z * src.slice_B + y * src.row_B), box.row_B);
	return status;
}

static bool range_fits(uint32_t offset, uint32_t range, uint32_t size)
{
	return range <= size && offset <= size - range;
}

/* A region of an image as an end of a copy. False: the region exceeds the image, or the image is tiled. */
static bool end_of_region(const struct rt_image *image, const hsa_dim3_t *offset, const hsa_dim3_t *range,
			  struct end *end, struct box *box)
{
	const struct rt_layout *l = &image->layout;

	if (image->tiled || !range_fits(offset->x, range->x, l->width) ||
	    !range_fits(offset->y, range->y, l->height) || !range_fits(offset->z, range->z, l->depth))
		return false;
	*end = (struct end){
		.at = image->data + offset->z * l->slice_B + offset->y * l->row_B +
		      (uint64_t)offset->x * image->format.element_B,
		.row_B = l->row_B,
		.slice_B = l->slice_B,
	};
	*box = (struct box){(uint64_t)range->x * image->format.element_B, range->y, range->z};
	return true;
}

/* The client's memory as an end of a copy: a pitch that is too small, or 0, means no gaps. The layers of a 1DA
 * image are a slice pitch apart. */
static struct end end_of_memory(const struct rt_image *image, const void *memory, uint64_t row_B, uint64_t slice_B,
				const struct box *box)
{
	struct end end = {(uintptr_t)memory, row_B > box->row_B ? row_B : box->row_B, 0};

	if (image->geometry == HSA_EXT_IMAGE_GEOMETRY_1DA && slice_B > end.row_B)
		end.row_B = slice_B;
	end.slice_B = slice_B > end.row_B * box->rows ? slice_B : end.row_B * box->rows;
	return end;
}

static hsa_status_t image_transfer(struct rt *rt, hsa_agent_t agent, const void *memory, size_t row_B,
				   size_t slice_B, hsa_ext_image_t handle, const hsa_ext_image_region_t *region,
				   bool into_image)
{
	struct rt_image image;
	struct end inner, outer;
	struct box box;

	if (!rt_agent_of(rt, agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!rt_image_find(rt, handle, &image) || !memory || !region ||
	    !end_of_region(&image, &region->offset, &region->range, &inner, &box))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	/* The size would exceed all addresses. */
	if (row_B > UINT64_MAX / 65536 || slice_B > UINT64_MAX / 65536)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	outer = end_of_memory(&image, memory, row_B, slice_B, &box);
	return into_image ? copy_box(inner, outer, box) : copy_box(outer, inner, box);
}

RT_IMPL(hsa_ext_image_import,
	(hsa_agent_t agent, const void *memory, size_t row_B, size_t slice_B, hsa_ext_image_t image,
	 const hsa_ext_image_region_t *region),
	(agent, memory, row_B, slice_B, image, region))
{
	return image_transfer(rt, agent, memory, row_B, slice_B, image, region, true);
}

RT_IMPL(hsa_ext_image_export,
	(hsa_agent_t agent, hsa_ext_image_t image, void *memory, size_t row_B, size_t slice_B,
	 const hsa_ext_image_region_t *region),
	(agent, image, memory, row_B, slice_B, region))
{
	return image_transfer(rt, agent, memory, row_B, slice_B, image, region, false);
}

/* Like ROCr: between images with channels of a byte, one sRGBA and the other RGBA, colors are converted. */
static bool needs_conversion(const struct rt_image *src, const struct rt_image *dst)
{
	uint32_t from = src->named.channel_order, to = dst->named.channel_order;

	return src->named.channel_type == HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8 &&
	       dst->named.channel_type == HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8 &&
	       ((from == HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA && to == HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA) ||
		(from == HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA && to == HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA));
}

static hsa_status_t convert_row(struct end dst, struct end src, uint64_t row_B, uint8_t *row,
				const uint8_t table[256])
{
	const struct end there = {(uintptr_t)row, row_B, row_B};
	const struct box box = {row_B, 1, 1};
	hsa_status_t status = copy_box(there, src, box);

	for (uint64_t i = 0; i < row_B; i++)
		row[i] = i % 4 == 3 ? row[i] : table[row[i]]; /* alpha is linear in both */
	return status ? status : copy_box(dst, there, box);
}

static hsa_status_t convert_box(struct end dst, struct end src, struct box box, bool to_srgb)
{
	uint8_t *row = malloc(box.row_B + !box.row_B), table[256];
	hsa_status_t status = row ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;

	for (unsigned i = 0; i < 256; i++)
		table[i] = rt_srgb_byte((uint8_t)i, to_srgb);
	for (uint32_t z = 0; z < box.slices && !status; z++)
		for (uint32_t y = 0; y < box.rows && !status; y++) {
			struct end to = dst, from = src;

			to.at += z * dst.slice_B + y * dst.row_B;
			from.at += z * src.slice_B + y * src.row_B;
			status = convert_row(to, from, box.row_B, row, table);
		}
	free(row);
	return status;
}

/* Both images have the same format, except for that conversion. */
RT_IMPL(hsa_ext_image_copy,
	(hsa_agent_t agent, hsa_ext_image_t src_handle, const hsa_dim3_t *src_offset, hsa_ext_image_t dst_handle,
	 const hsa_dim3_t *dst_offset, const hsa_dim3_t *range),
	(agent, src_handle, src_offset, dst_handle, dst_offset, range))
{
	struct rt_image src, dst;
	struct end from, to;
	struct box box;

	if (!rt_agent_of(rt, agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!rt_image_find(rt, src_handle, &src) || !rt_image_find(rt, dst_handle, &dst) || !src_offset ||
	    !dst_offset || !range || src.agent != dst.agent ||
	    !end_of_region(&src, src_offset, range, &from, &box) ||
	    !end_of_region(&dst, dst_offset, range, &to, &box))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (needs_conversion(&src, &dst))
		return convert_box(to, from, box, dst.format.num == RT_NUM_SRGB);
	return memcmp(&src.named, &dst.named, sizeof(src.named)) ? HSA_STATUS_ERROR_INVALID_ARGUMENT
								 : copy_box(to, from, box);
}

RT_IMPL(hsa_ext_image_clear,
	(hsa_agent_t agent, hsa_ext_image_t handle, const void *data, const hsa_ext_image_region_t *region),
	(agent, handle, data, region))
{
	struct rt_image image;
	hsa_status_t status;
	struct end to, from = {0};
	uint8_t element[16];
	struct box box;
	char *row;

	if (!rt_agent_of(rt, agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!rt_image_find(rt, handle, &image) || !data || !region ||
	    !end_of_region(&image, &region->offset, &region->range, &to, &box))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	row = malloc(box.row_B + !box.row_B);
	if (!row)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	rt_format_pack(&image.format, data, element);
	for (uint64_t at = 0; at < box.row_B; at += image.format.element_B)
		memcpy(row + at, element, image.format.element_B);
	from.at = (uintptr_t)row; /* the same row for all */
	status = copy_box(to, from, box);
	free(row);
	return status;
}
