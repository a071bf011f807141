/* How images lie in memory; descriptors of images and samplers, word for word. */
#include "tests/hsa/images.h"

static hsa_status_t lay_out(hsa_ext_image_descriptor_t d, size_t row_B, size_t slice_B,
			    hsa_ext_image_data_info_t *info)
{
	return image.hsa_ext_image_data_get_info_with_layout(
		gpu(), &d, HSA_ACCESS_PERMISSION_RW, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, row_B, slice_B, info);
}

static void layouts(void)
{
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_3D, WIDTH, HEIGHT, DEPTH, 0, rgba8};
	hsa_ext_image_data_info_t info;

	CHECK_EQ(lay_out(d, 0, 0, &info), 0);
	CHECK_EQ(info.size, 256 * HEIGHT * DEPTH); /* 40 elements of 4 bytes in a row of 256 */
	CHECK_EQ(info.alignment, 256);
	CHECK_EQ(lay_out(d, 512, 512 * HEIGHT, &info), 0);
	CHECK_EQ(info.size, 512 * HEIGHT * DEPTH);
	CHECK_EQ(lay_out(d, 160, 0, &info), UNSUPPORTED(PITCH));
	CHECK_EQ(lay_out(d, 512, 512 * HEIGHT + 256, &info), UNSUPPORTED(PITCH));
	CHECK_EQ(lay_out(d, SIZE_MAX - 255, 0, &info), UNSUPPORTED(PITCH));
	d.width = 16385;
	CHECK_EQ(lay_out(d, 0, 0, &info), UNSUPPORTED(SIZE));
	d.width = SIZE_MAX;
	CHECK_EQ(lay_out(d, 0, 0, &info), UNSUPPORTED(SIZE));
	d.width = 0;
	CHECK_EQ(lay_out(d, 0, 0, &info), UNSUPPORTED(SIZE));
	d = (hsa_ext_image_descriptor_t){HSA_EXT_IMAGE_GEOMETRY_1DA, WIDTH, 1, 0, 5, rgba8};
	CHECK_EQ(lay_out(d, 0, 0, &info), 0);
	CHECK_EQ(info.size, 256 * 5);
	d = (hsa_ext_image_descriptor_t){HSA_EXT_IMAGE_GEOMETRY_1DB, UINT32_MAX, 1, 1, 1, rgba8};
	CHECK_EQ(lay_out(d, 0, 0, &info), 0);
	CHECK_EQ(info.size, 4ull * UINT32_MAX);
	d.format.channel_order = HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBX;
	CHECK_EQ(lay_out(d, 0, 0, &info), UNSUPPORTED(FORMAT));
	d.geometry = 8;
	CHECK_EQ(lay_out(d, 0, 0, &info), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

/* The words, from the register specification and not from the code that writes them. */
static void words(void)
{
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_2DA,
					WIDTH,
					HEIGHT,
					1,
					DEPTH,
					{HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA}};
	hsa_ext_sampler_descriptor_t linear = {HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED,
					       HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
					       HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER};
	hsa_ext_sampler_descriptor_v2_t mixed = {HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED,
						 HSA_EXT_SAMPLER_FILTER_MODE_NEAREST,
						 {HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT,
						  HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT,
						  HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE}};
	void *data = memory(512 * HEIGHT * DEPTH);
	uint64_t va = (uintptr_t)data;
	hsa_ext_sampler_t sampler;
	hsa_ext_image_t handle;
	const uint32_t *w;

	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data, HSA_ACCESS_PERMISSION_RO, &handle), 0);
	w = (const uint32_t *)(uintptr_t)handle.handle;
	CHECK_EQ(w[0], (uint32_t)(va >> 8));
	CHECK_EQ(w[1], (uint32_t)(va >> 40) | 12u << 20 | 7u << 26); /* 16_16_16_16, float */
	CHECK_EQ(w[2], (WIDTH - 1) | (HEIGHT - 1) << 14);
	CHECK_EQ(w[3], (4 | 5 << 3 | 6 << 6 | 7 << 9) | 13u << 28); /* XYZW, linear, 2D array */
	CHECK_EQ(w[4], (DEPTH - 1) | (512 / 8 - 1) << 13);
	CHECK(!w[5] && !w[6] && !w[7]);
	CHECK(w[8] == HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT && w[9] == HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA &&
	      w[10] == WIDTH);
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle), 0);
	CHECK_EQ(image.hsa_ext_sampler_create(gpu(), &linear, &sampler), 0);
	w = (const uint32_t *)(uintptr_t)sampler.handle;
	CHECK_EQ(w[0], 6 | 6 << 3 | 6 << 6 | 1 << 15);
	CHECK_EQ(w[1], 0xfff << 12);
	CHECK_EQ(w[2], 1 << 20 | 1 << 22);
	CHECK_EQ(w[3], 0);
	CHECK_EQ(image.hsa_ext_sampler_destroy(gpu(), sampler), 0);
	WRONG(image.hsa_ext_sampler_destroy(gpu(), sampler));
	CHECK_EQ(image.hsa_ext_sampler_create_v2(gpu(), &mixed, &sampler), 0);
	w = (const uint32_t *)(uintptr_t)sampler.handle;
	CHECK_EQ(w[0], 0 | 1 << 3 | 2 << 6);
	CHECK(!w[2] && !w[3]);
	CHECK_EQ(hsa_ext_sampler_destroy(gpu(), sampler), 0);
	WRONG(hsa_ext_sampler_create_v2(gpu(), NULL, &sampler));
	WRONG(hsa_ext_sampler_create(gpu(), NULL, &sampler));
	linear.address_mode = 5;
	WRONG(image.hsa_ext_sampler_create(gpu(), &linear, &sampler));
	CHECK_EQ(image.hsa_ext_sampler_create(t.cpu[0].agent, &linear, &sampler), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
}

/* A graphics driver's image: its tiling stays, the address and the format are put in. */
static void foreign(void)
{
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_2D, WIDTH, HEIGHT, 1, 0, rgba8};
	const hsa_ext_image_region_t one = {{0, 0, 0}, {1, 1, 1}};
	struct {
		uint32_t version, device, words[8];
	} layout = {1, 0, {0, 10u << 20, 39 | 11 << 14, 9u << 20 | 9u << 28, 63 << 13, 0, 0x1234, 0x10}};
	const hsa_amd_image_descriptor_t *their = (const hsa_amd_image_descriptor_t *)&layout;
	void *data = memory(65536);
	uint64_t va = (uintptr_t)data;
	hsa_ext_image_t handle;
	const uint32_t *w;
	uint32_t buffer[4];

	CHECK_EQ(hsa_amd_image_create(gpu(), &d, their, data, HSA_ACCESS_PERMISSION_RO, &handle),
		 UNSUPPORTED(FORMAT));
	CHECK_EQ(hsa_agent_get_info(gpu(), (hsa_agent_info_t)HSA_AMD_AGENT_INFO_CHIP_ID, &layout.device), 0);
	layout.device |= 0x1002u << 16;
	CHECK_EQ(hsa_amd_image_create(gpu(), &d, their, data, HSA_ACCESS_PERMISSION_RO, &handle), 0);
	w = (const uint32_t *)(uintptr_t)handle.handle;
	CHECK_EQ(w[0], (uint32_t)(va >> 8));
	CHECK_EQ(w[3], (4 | 5 << 3 | 6 << 6 | 7 << 9) | 9u << 20 | 9u << 28);
	CHECK_EQ(w[6], 0x1234);
	CHECK_EQ(w[7], (uint32_t)((va + 0x1000) >> 8));
	WRONG(image.hsa_ext_image_export(gpu(), handle, buffer, 0, 0, &one)); /* nobody here knows its tiling */
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle), 0);
	layout.words[1] = 12u << 20; /* elements of another size */
	CHECK_EQ(hsa_amd_image_create(gpu(), &d, their, data, HSA_ACCESS_PERMISSION_RO, &handle),
		 UNSUPPORTED(FORMAT));
	WRONG(hsa_amd_image_create(gpu(), &d, NULL, data, HSA_ACCESS_PERMISSION_RO, &handle));
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
}

static void gfx9(const char *spec)
{
	if (!images_begin(spec))
		return;
	layouts();
	words();
	foreign();
	images_end();
}

/* The chip's row in the driver's table has the descriptors of its generation; image_words_test.c has all fields. */
struct later {
	const char *spec;
	uint32_t word1, word2, word4, sampler1; /* without the address */
	uint32_t row_B;                         /* of 20 elements of a volume */
	bool larger_pitch;
};

static void words_of_a_later_chip(const struct later *chip)
{
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_2D,
					WIDTH,
					HEIGHT,
					1,
					0,
					{HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA}};
	const hsa_ext_sampler_descriptor_t nearest = {HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED,
						      HSA_EXT_SAMPLER_FILTER_MODE_NEAREST,
						      HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT};
	void *data = memory(1024 * HEIGHT);
	hsa_ext_image_data_info_t info;
	hsa_ext_sampler_t sampler;
	hsa_ext_image_t handle;
	const uint32_t *w;

	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data, HSA_ACCESS_PERMISSION_RO, &handle), 0);
	w = (const uint32_t *)(uintptr_t)handle.handle;
	CHECK_EQ(w[0], (uint32_t)((uintptr_t)data >> 8));
	CHECK_EQ(w[1], (uint32_t)((uintptr_t)data >> 40) | chip->word1);
	CHECK_EQ(w[2], chip->word2);
	CHECK_EQ(w[3], (4 | 5 << 3 | 6 << 6 | 7 << 9) | 9u << 28);
	CHECK_EQ(w[4], chip->word4);
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle), 0);
	CHECK_EQ(image.hsa_ext_sampler_create(gpu(), &nearest, &sampler), 0);
	CHECK_EQ(((const uint32_t *)(uintptr_t)sampler.handle)[1], chip->sampler1);
	CHECK_EQ(image.hsa_ext_sampler_destroy(gpu(), sampler), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
	CHECK_EQ(lay_out(d, 1024, 0, &info), chip->larger_pitch ? 0 : UNSUPPORTED(PITCH));
	d = (hsa_ext_image_descriptor_t){HSA_EXT_IMAGE_GEOMETRY_3D, 20, 6, 5, 0, rgba8};
	CHECK_EQ(lay_out(d, 0, 0, &info), 0);
	CHECK_EQ(info.size, 256 * 6 * 5);
	CHECK_EQ(lay_out(d, chip->row_B, 0, &info), 0);
	CHECK_EQ(lay_out(d, 512, 0, &info), UNSUPPORTED(PITCH));
}

static void later(const struct later *chip)
{
	if (!images_begin(chip->spec))
		return;
	words_of_a_later_chip(chip);
	images_end();
}

int main(void)
{
	/* 40 elements by 12 of 16_16_16_16_FLOAT, 64 elements a row. */
	static const struct later chips[] = {
		{"gfx1010", 71u << 20 | 3u << 30, 9 | 11u << 14 | 1u << 31, 0, 0xfff << 12, 256, false},
		{"gfx1030", 71u << 20 | 3u << 30, 9 | 11u << 14 | 1u << 31, 63, 0xfff << 12, 256, true},
		{"gfx1100", 57u << 20 | 3u << 30, 9 | 11u << 14, 63, 0xfff << 12, 256, true},
		{"gfx1151", 57u << 20 | 3u << 30, 9 | 11u << 14, 63, 0xfff << 12, 256, true},
		{"gfx1201", 57u << 17 | 3u << 30, 9 | 11u << 14, 63, 0xfff << 13, 128, true},
	};

	gfx9("gfx906");
	gfx9("gfx900:bar=256M");
	for (unsigned i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
		later(&chips[i]);
	return check_done("layout and descriptors of images");
}
