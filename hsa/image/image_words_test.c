/* The words of descriptors, and the layouts that they imply, for each generation. The expected words are worked out by
 * hand from the fields that image_words.c names as its sources; the numbers of formats are those of PAL's IMG_FMT. */
#include "hsa/image/image.h"

#include "tests/check.h"

#define VA          0x7f1234567800ull /* word 0: 12345678, address bits 47:40: 7f */
#define GENERATIONS 5u

static const enum drv_images generations[GENERATIONS] = {DRV_IMAGES_GFX9, DRV_IMAGES_GFX10, DRV_IMAGES_GFX10_3,
							 DRV_IMAGES_GFX11, DRV_IMAGES_GFX12};

#define TYPE(name)  HSA_EXT_IMAGE_CHANNEL_TYPE_##name
#define ORDER(name) HSA_EXT_IMAGE_CHANNEL_ORDER_##name
#define GEO(name)   HSA_EXT_IMAGE_GEOMETRY_##name

/* --- images ----------------------------------------------------------------------------------------- */

static const struct {
	hsa_ext_image_descriptor_t d;
	uint64_t row_B[GENERATIONS]; /* what the client chooses; 0: the default */
	uint32_t words[GENERATIONS][5];
} images[] = {
	{{GEO(2DA), 40, 12, 1, 3, {TYPE(HALF_FLOAT), ORDER(RGBA)}},
	 {0},
	 {{0x12345678, 0x1cc0007f, 0x0002c027, 0xd0000fac, 0x0007e002},
	  {0x12345678, 0xc470007f, 0x8002c009, 0xd0000fac, 0x00000002},
	  {0x12345678, 0xc470007f, 0x8002c009, 0xd0000fac, 0x00000002},
	  {0x12345678, 0xc390007f, 0x0002c009, 0xd0000fac, 0x00000002},
	  {0x12345678, 0xc072007f, 0x0002c009, 0xd0000fac, 0x00000002}}},
	{{GEO(2D), 1000, 600, 1, 0, {TYPE(UNORM_INT8), ORDER(R)}},
	 {1280, 1024, 1280, 1280, 1280},
	 {{0x12345678, 0x0010007f, 0x0095c3e7, 0x90000204, 0x209fe000},
	  {0x12345678, 0xc010007f, 0x8095c0f9, 0x92000204, 0x00000000},
	  {0x12345678, 0xc010007f, 0x8095c0f9, 0x92000204, 0x000004ff},
	  {0x12345678, 0xc010007f, 0x0095c0f9, 0x92000204, 0x000004ff},
	  {0x12345678, 0xc002007f, 0x0095c0f9, 0x92000204, 0x000004ff}}},
	{{GEO(3D), 20, 6, 5, 0, {TYPE(UNORM_INT8), ORDER(SRGBA)}},
	 {0},
	 {{0x12345678, 0x24a0007f, 0x00014013, 0xa0000fac, 0x0007e004},
	  {0x12345678, 0xc820007f, 0x80014004, 0xa0000fac, 0x00000004},
	  {0x12345678, 0xc820007f, 0x80014004, 0xa0000fac, 0x00000004},
	  {0x12345678, 0xc420007f, 0x00014004, 0xa0000fac, 0x00000004},
	  {0x12345678, 0xc084007f, 0x00014004, 0xa0000fac, 0x00000004}}},
	{{GEO(1DA), 16, 1, 1, 7, {TYPE(UNSIGNED_INT32), ORDER(R)}},
	 {0},
	 {{0x12345678, 0x1040007f, 0x0000000f, 0xc0000204, 0x2007e006},
	  {0x12345678, 0xc140007f, 0x80000003, 0xc2000204, 0x00000006},
	  {0x12345678, 0xc140007f, 0x80000003, 0xc2000204, 0x00000006},
	  {0x12345678, 0xc140007f, 0x00000003, 0xc2000204, 0x00000006},
	  {0x12345678, 0xc028007f, 0x00000003, 0xc2000204, 0x00000006}}},
	{{GEO(1D), 16384, 1, 1, 0, {TYPE(SIGNED_INT8), ORDER(A)}},
	 {0},
	 {{0x12345678, 0x1410007f, 0x00003fff, 0x80000800, 0x67ffe000},
	  {0x12345678, 0xc060007f, 0x80000fff, 0x86000800, 0x00000000},
	  {0x12345678, 0xc060007f, 0x80000fff, 0x86000800, 0x00003fff},
	  {0x12345678, 0xc060007f, 0x00000fff, 0x86000800, 0x00003fff},
	  {0x12345678, 0xc00c007f, 0x00000fff, 0x86000800, 0x00003fff}}},
	/* A buffer: four words of the hardware. */
	{{GEO(1DB), 1000, 1, 1, 0, {TYPE(FLOAT), ORDER(RG)}},
	 {0},
	 {{0x34567800, 0x00087f12, 1000, 0x0005f22c, 0},
	  {0x34567800, 0x00087f12, 1000, 0x0104022c, 0},
	  {0x34567800, 0x00087f12, 1000, 0x0104022c, 0},
	  {0x34567800, 0x00087f12, 1000, 0x0003222c, 0},
	  {0x34567800, 0x00087f12, 1000, 0x0003222c, 0}}},
};

static struct rt_image plan(enum drv_images generation, const hsa_ext_image_descriptor_t *d, uint64_t row_B)
{
	struct rt_image image = {
		.descriptors = rt_descriptors_of(generation),
		.geometry = d->geometry,
		.named = d->format,
		.format = rt_format_of(&d->format, d->geometry),
		.data = VA,
	};

	CHECK(image.format.capability);
	CHECK_EQ(rt_layout_compute(image.descriptors, d, image.format.element_B, row_B, 0, &image.layout), 0);
	return image;
}

static void images_have_the_words_of_their_generation(void)
{
	for (unsigned i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		for (unsigned g = 0; g < GENERATIONS; g++) {
			const struct rt_image image = plan(generations[g], &images[i].d, images[i].row_B[g]);
			uint32_t words[RT_IMAGE_WORDS];

			rt_image_words(&image, words);
			for (unsigned w = 0; w < 5; w++)
				if (!CHECK_EQ(words[w], images[i].words[g][w]))
					printf("  image %u, generation %u, word %u\n", i, g, w);
			CHECK(!words[5] && !words[6] && !words[7] && !words[11]);
			/* What the device library's queries read. */
			CHECK(words[8] == images[i].d.format.channel_type &&
			      words[9] == images[i].d.format.channel_order && words[10] == images[i].d.width);
		}
}

/* --- formats ------------------------------------------------------------------------------------------ */

static void formats_have_the_numbers_of_their_generation(void)
{
	/* For 1, 2 and 4 channels. */
	static const struct {
		unsigned type;
		uint8_t gfx10[3], gfx11[3];
	} numbers[] = {
		{TYPE(UNORM_INT8), {0x01, 0x0e, 0x38}, {0x01, 0x0e, 0x2a}},
		{TYPE(SNORM_INT8), {0x02, 0x0f, 0x39}, {0x02, 0x0f, 0x2b}},
		{TYPE(UNSIGNED_INT8), {0x05, 0x12, 0x3c}, {0x05, 0x12, 0x2e}},
		{TYPE(SIGNED_INT8), {0x06, 0x13, 0x3d}, {0x06, 0x13, 0x2f}},
		{TYPE(UNORM_INT16), {0x07, 0x17, 0x41}, {0x07, 0x17, 0x33}},
		{TYPE(SNORM_INT16), {0x08, 0x18, 0x42}, {0x08, 0x18, 0x34}},
		{TYPE(UNSIGNED_INT16), {0x0b, 0x1b, 0x45}, {0x0b, 0x1b, 0x37}},
		{TYPE(SIGNED_INT16), {0x0c, 0x1c, 0x46}, {0x0c, 0x1c, 0x38}},
		{TYPE(HALF_FLOAT), {0x0d, 0x1d, 0x47}, {0x0d, 0x1d, 0x39}},
		{TYPE(UNSIGNED_INT32), {0x14, 0x3e, 0x4b}, {0x14, 0x30, 0x3d}},
		{TYPE(SIGNED_INT32), {0x15, 0x3f, 0x4c}, {0x15, 0x31, 0x3e}},
		{TYPE(FLOAT), {0x16, 0x40, 0x4d}, {0x16, 0x32, 0x3f}},
	};
	static const unsigned orders[3] = {ORDER(R), ORDER(RG), ORDER(RGBA)};

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (unsigned k = 0; k < 3; k++) {
			const hsa_ext_image_format_t named = {numbers[i].type, orders[k]};
			const struct rt_format f = rt_format_of(&named, GEO(2D));

			CHECK_EQ(f.code[RT_CODES_GFX10], numbers[i].gfx10[k]);
			CHECK_EQ(f.code[RT_CODES_GFX11], numbers[i].gfx11[k]);
			for (unsigned codes = 0; codes < RT_CODES; codes++)
				CHECK_EQ(rt_format_code_B(codes, f.code[codes]), f.element_B);
		}
}

static void packed_formats_have_the_numbers_of_their_generation(void)
{
	static const struct {
		hsa_ext_image_format_t format;
		uint8_t code[RT_CODES];
		uint8_t bytes;
	} packed[] = {
		{{TYPE(UNORM_SHORT_565), ORDER(RGB)}, {16, 0x85, 0x44}, 2},
		{{TYPE(UNORM_SHORT_555), ORDER(RGB)}, {17, 0x86, 0x45}, 2},
		{{TYPE(UNORM_SHORT_101010), ORDER(RGB)}, {9, 0x32, 0x24}, 4},
		{{TYPE(UNORM_INT8), ORDER(SRGBA)}, {10, 0x82, 0x42}, 4},
	};

	for (unsigned i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		for (unsigned codes = 0; codes < RT_CODES; codes++) {
			const struct rt_format f = rt_format_of(&packed[i].format, GEO(2D));

			CHECK_EQ(f.code[codes], packed[i].code[codes]);
			CHECK_EQ(rt_format_code_B(codes, f.code[codes]), packed[i].bytes);
		}
	for (unsigned codes = 0; codes < RT_CODES; codes++) {
		CHECK_EQ(rt_format_code_B(codes, 0), 0);
		CHECK_EQ(rt_format_code_B(codes, 0x1ff), 0);
	}
}

/* --- layouts ---------------------------------------------------------------------------------------- */

static const hsa_ext_image_descriptor_t plane = {GEO(2D), 1000, 600, 1, 0, {TYPE(UNORM_INT8), ORDER(R)}},
					volume = {GEO(3D), 20, 6, 5, 0, {TYPE(UNORM_INT8), ORDER(RGBA)}},
					lines = {GEO(1DA), 16, 1, 1, 7, {TYPE(UNSIGNED_INT32), ORDER(R)}},
					layers = {GEO(2DA), 40, 12, 1, 3, {TYPE(HALF_FLOAT), ORDER(RGBA)}};

static bool is_possible(enum drv_images generation, const hsa_ext_image_descriptor_t *d, unsigned element_B,
			uint64_t row_B, uint64_t slice_B)
{
	struct rt_layout l;
	hsa_status_t status = rt_layout_compute(rt_descriptors_of(generation), d, element_B, row_B, slice_B, &l);

	CHECK(!status || status == (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
	return !status;
}

static void pitches_are_those_that_descriptors_can_have(void)
{
	/* By generation: a larger pitch of planes, of volumes; 65,536 elements, 16,384 elements and 256 more. */
	static const bool large[GENERATIONS] = {true, false, true, true, true},
			  large_3d[GENERATIONS] = {true, false, false, false, false},
			  most[GENERATIONS] = {true, false, false, false, true};

	for (unsigned g = 0; g < GENERATIONS; g++) {
		CHECK(is_possible(generations[g], &plane, 1, 1024, 0));
		CHECK_EQ(is_possible(generations[g], &plane, 1, 1280, 0), large[g]);
		CHECK_EQ(is_possible(generations[g], &plane, 1, 16384, 0), large[g]);
		CHECK_EQ(is_possible(generations[g], &plane, 1, 16384 + 256, 0), most[g]);
		CHECK_EQ(is_possible(generations[g], &plane, 1, 65536, 0), most[g]);
		CHECK(!is_possible(generations[g], &plane, 1, 65536 + 256, 0));
		CHECK(!is_possible(generations[g], &plane, 1, 768, 0));
		CHECK(!is_possible(generations[g], &plane, 1, 1000, 0));
		CHECK_EQ(is_possible(generations[g], &volume, 4, 512, 0), large_3d[g]);
		CHECK_EQ(is_possible(generations[g], &layers, 8, 1024, 0), large_3d[g]);
		CHECK(is_possible(generations[g], &volume, 4, 0, 256 * 6));
		CHECK(!is_possible(generations[g], &volume, 4, 0, 256 * 7));
	}
}

static void rows_of_gfx12_without_a_pitch_are_closer(void)
{
	static const uint32_t rows[GENERATIONS] = {256, 256, 256, 256, 128};

	for (unsigned g = 0; g < GENERATIONS; g++) {
		const struct rt_image v = plan(generations[g], &volume, 0), p = plan(generations[g], &plane, 0);

		CHECK_EQ(v.layout.row_B, rows[g]);
		CHECK_EQ(v.layout.slice_B, 256 * 6);
		CHECK_EQ(v.layout.size_B, 256 * 6 * 5);
		CHECK_EQ(p.layout.row_B, 1024);
	}
	CHECK_EQ(plan(DRV_IMAGES_GFX12, &lines, 256).layout.row_B, 256);
	CHECK_EQ(plan(DRV_IMAGES_GFX12, &lines, 0).layout.size_B, 256 * 7);
	CHECK_EQ(plan(DRV_IMAGES_GFX12, &layers, 0).layout.row_B, 384);
	CHECK_EQ(plan(DRV_IMAGES_GFX12, &layers, 0).layout.slice_B, 512 * 12);
}

/* --- samplers and foreign images ------------------------------------------------------------------- */

static void samplers_have_the_words_of_their_generation(void)
{
	static const uint32_t max_lod[GENERATIONS] = {0xfff000, 0xfff000, 0xfff000, 0xfff000, 0x1ffe000};
	const hsa_ext_sampler_descriptor_v2_t s = {HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED,
						   HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
						   {HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER,
						    HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT,
						    HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE}};

	for (unsigned g = 0; g < GENERATIONS; g++) {
		uint32_t words[RT_SAMPLER_WORDS];

		CHECK(rt_sampler_words(rt_descriptors_of(generations[g]), &s, words));
		CHECK_EQ(words[0], 6 | 1 << 3 | 2 << 6 | 1 << 15);
		CHECK_EQ(words[1], max_lod[g]);
		CHECK_EQ(words[2], 1 << 20 | 1 << 22);
		CHECK_EQ(words[3], 0); /* the border is transparent black */
	}
}

/* Another driver's tiled image of 4 bytes an element, with compression data at 0x123400 from its start. */
static void foreign_images_keep_their_tiling(void)
{
	static const struct {
		enum drv_images generation;
		uint32_t code, small_code;    /* in word 1 */
		uint32_t word5, word6, word7; /* theirs */
		uint32_t meta5, meta6, meta7; /* ours */
		uint32_t word1;
	} rows[] = {
		{DRV_IMAGES_GFX9, 10u << 20, 1u << 20, 0, 0x5, 0x1234, 0x7fu << 17, 0x5, 0x123468ac, 0x00a0007f},
		{DRV_IMAGES_GFX10_3, 56u << 20, 1u << 20, 0x30, 0x34000005, 0x12, 0x30, 0xac000005, 0x7f123468,
		 0x0380007f},
		{DRV_IMAGES_GFX11, 42u << 20, 1u << 20, 0x30, 0x34000005, 0x12, 0x30, 0xac000005, 0x7f123468,
		 0x02a0007f},
		{DRV_IMAGES_GFX12, 42u << 17, 1u << 17, 0x30, 0x34000005, 0x12, 0x30, 0x34000005, 0x12, 0x0054007f},
	};
	const hsa_ext_image_descriptor_t d = {GEO(2D), 40, 12, 1, 0, {TYPE(UNORM_INT8), ORDER(RGBA)}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct rt_image image = plan(rows[i].generation, &d, 0);
		uint32_t theirs[8] = {0,  rows[i].code,  0x1234,        27u << 20 | 9u << 28,
				      77, rows[i].word5, rows[i].word6, rows[i].word7};
		uint32_t words[RT_IMAGE_WORDS];

		if (!CHECK(rt_image_words_foreign(&image, theirs, words)))
			continue;
		CHECK_EQ(words[0], 0x12345678);
		CHECK_EQ(words[1], rows[i].word1);
		CHECK_EQ(words[2], 0x1234);
		CHECK_EQ(words[3], 0xfac | 27u << 20 | 9u << 28);
		CHECK_EQ(words[4], 77);
		CHECK(words[5] == rows[i].meta5 && words[6] == rows[i].meta6 && words[7] == rows[i].meta7);
		theirs[1] = rows[i].small_code;
		CHECK(!rt_image_words_foreign(&image, theirs, words));
	}
}

int main(void)
{
	images_have_the_words_of_their_generation();
	formats_have_the_numbers_of_their_generation();
	packed_formats_have_the_numbers_of_their_generation();
	pitches_are_those_that_descriptors_can_have();
	rows_of_gfx12_without_a_pitch_are_closer();
	samplers_have_the_words_of_their_generation();
	foreign_images_keep_their_tiling();
	CHECK(!rt_descriptors_of(DRV_IMAGES_NONE));
	return check_done("words of image descriptors");
}
