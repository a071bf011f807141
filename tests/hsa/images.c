/* Images through HSA: supported formats, import and export; their descriptors, as kernels use them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "shaders/blob.h"
#include "tests/code/code.h"
#include "tests/hsa/images.h"

static struct hsa_run run;
static hsa_executable_t executable;

/* --- what can be -------------------------------------------------------------------------------- */

static uint32_t capability(hsa_ext_image_geometry_t geometry, unsigned order, unsigned type)
{
	hsa_ext_image_format_t format = {type, order};
	uint32_t mask = 99;

	CHECK_EQ(image.hsa_ext_image_get_capability(gpu(), geometry, &format, &mask), 0);
	return mask;
}

static void capabilities(void)
{
	unsigned formats = 0;

	for (unsigned order = 0; order < 20; order++)
		for (unsigned type = 0; type < 16; type++)
			formats += capability(HSA_EXT_IMAGE_GEOMETRY_2D, order, type) != 0;
	CHECK_EQ(formats, 5 * 12 + 3 + 2 * 4 + 1 + 2 * 6 + 2); /* as ROCr's table has them */
	CHECK_EQ(capability(HSA_EXT_IMAGE_GEOMETRY_2D, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
			    HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT),
		 HSA_EXT_IMAGE_CAPABILITY_READ_ONLY | HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY |
			 HSA_EXT_IMAGE_CAPABILITY_READ_WRITE);
	CHECK_EQ(capability(HSA_EXT_IMAGE_GEOMETRY_2D, HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA,
			    HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8),
		 HSA_EXT_IMAGE_CAPABILITY_READ_ONLY);
	CHECK_EQ(capability(HSA_EXT_IMAGE_GEOMETRY_1DB, HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA,
			    HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8),
		 0);
	CHECK_EQ(capability(HSA_EXT_IMAGE_GEOMETRY_2DDEPTH, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
			    HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8),
		 0);
	CHECK_EQ(capability(HSA_EXT_IMAGE_GEOMETRY_2D, 20, 0), 0);
	CHECK_EQ(capability(HSA_EXT_IMAGE_GEOMETRY_2D, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA, 0x80000000), 0);
}

static void limits(void)
{
	uint32_t size[3] = {0};
	uint8_t extensions[128];

	CHECK_EQ(hsa_agent_get_info(gpu(), (hsa_agent_info_t)HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS, size), 0);
	CHECK(size[0] == 16384 && size[1] == 16384 && size[2] == 8192);
	CHECK_EQ(hsa_amd_image_get_info_max_dim(gpu(), (hsa_agent_info_t)HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS,
						size),
		 0);
	CHECK_EQ(size[0], UINT32_MAX);
	CHECK_EQ(hsa_amd_image_get_info_max_dim(gpu(), HSA_AGENT_INFO_NODE, size),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_agent_get_info(gpu(), HSA_AGENT_INFO_EXTENSIONS, extensions), 0);
	CHECK(extensions[0] >> HSA_EXTENSION_IMAGES & 1);
	CHECK_EQ(hsa_agent_get_info(t.cpu[0].agent, HSA_AGENT_INFO_EXTENSIONS, extensions), 0);
	CHECK_EQ(extensions[0], 0);
}

/* --- in and out --------------------------------------------------------------------------------- */

static uint32_t pattern(unsigned x, unsigned y, unsigned z)
{
	return x | y << 8 | z << 16 | 0x5a000000;
}

static hsa_ext_image_t create_3d(void *data)
{
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_3D, WIDTH, HEIGHT, DEPTH, 0, rgba8};
	hsa_ext_image_t handle = {0};

	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data, HSA_ACCESS_PERMISSION_RW, &handle), 0);
	return handle;
}

/* Counts elements of the whole image that are not what they should be: `inner` in the box, else the pattern. */
static unsigned wrong_elements(hsa_ext_image_t handle, const hsa_ext_image_region_t *box, const uint32_t *inner)
{
	const hsa_ext_image_region_t all = {{0, 0, 0}, {WIDTH, HEIGHT, DEPTH}};
	static uint32_t out[DEPTH][HEIGHT][WIDTH];
	unsigned wrong = 0;

	CHECK_EQ(image.hsa_ext_image_export(gpu(), handle, out, 0, 0, &all), 0);
	for (unsigned z = 0; z < DEPTH; z++)
		for (unsigned y = 0; y < HEIGHT; y++)
			for (unsigned x = 0; x < WIDTH; x++) {
				bool in = box && x - box->offset.x < box->range.x &&
					  y - box->offset.y < box->range.y && z - box->offset.z < box->range.z;

				wrong += out[z][y][x] != (in ? *inner : pattern(x, y, z));
			}
	return wrong;
}

static void fill(hsa_ext_image_t handle)
{
	const hsa_ext_image_region_t all = {{0, 0, 0}, {WIDTH, HEIGHT, DEPTH}};
	/* With gaps: 50 elements a row, 14 rows a slice. */
	static uint32_t in[DEPTH][14][50];

	for (unsigned z = 0; z < DEPTH; z++)
		for (unsigned y = 0; y < HEIGHT; y++)
			for (unsigned x = 0; x < WIDTH; x++)
				in[z][y][x] = pattern(x, y, z);
	CHECK_EQ(image.hsa_ext_image_import(gpu(), in, sizeof(in[0][0]), sizeof(in[0]), handle, &all), 0);
}

static void in_and_out(void)
{
	const hsa_ext_image_region_t box = {{7, 2, 1}, {20, 5, 2}}, outside = {{30, 0, 0}, {11, 1, 1}},
				     far = {{UINT32_MAX, 0, 0}, {2, 1, 1}};
	const float orange[4] = {1, 0.5f, -3, 2};
	const uint32_t orange_is = 0xff0080ff, one = pattern(7, 2, 1);
	const hsa_dim3_t from = {0, 0, 0}, to = {8, 2, 1}, range = {1, 1, 1};
	void *data = memory(256 * HEIGHT * DEPTH), *other_data = memory(256 * HEIGHT * DEPTH);
	hsa_ext_image_t handle = create_3d(data), other = create_3d(other_data);
	uint32_t copied = pattern(0, 0, 0), buffer[64];
	hsa_ext_image_region_t there = {to, range};

	fill(handle);
	CHECK_EQ(wrong_elements(handle, NULL, NULL), 0);
	CHECK_EQ(image.hsa_ext_image_clear(gpu(), handle, orange, &box), 0);
	CHECK_EQ(wrong_elements(handle, &box, &orange_is), 0);
	fill(handle);
	fill(other);
	CHECK_EQ(image.hsa_ext_image_copy(gpu(), other, &from, handle, &to, &range), 0);
	CHECK_EQ(wrong_elements(handle, &there, &copied), 0);
	/* Part of an image into memory. */
	CHECK_EQ(
		image.hsa_ext_image_export(gpu(), other, buffer, 0, 0, &(hsa_ext_image_region_t){{7, 2, 1}, range}),
		0);
	CHECK_EQ(buffer[0], one);
	WRONG(image.hsa_ext_image_export(gpu(), handle, buffer, 0, 0, &outside));
	WRONG(image.hsa_ext_image_import(gpu(), buffer, 0, 0, handle, &far));
	WRONG(image.hsa_ext_image_import(gpu(), buffer, SIZE_MAX, 0, handle, &there));
	WRONG(image.hsa_ext_image_import(gpu(), NULL, 0, 0, handle, &there));
	WRONG(image.hsa_ext_image_import(gpu(), buffer, 0, 0, handle, NULL));
	WRONG(image.hsa_ext_image_clear(gpu(), handle, orange, &far));
	WRONG(image.hsa_ext_image_clear(gpu(), handle, NULL, &box));
	WRONG(image.hsa_ext_image_copy(gpu(), other, &from, handle, &to, &(hsa_dim3_t){33, 1, 1}));
	WRONG(image.hsa_ext_image_copy(gpu(), other, NULL, handle, &to, &range));
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle), 0);
	WRONG(image.hsa_ext_image_destroy(gpu(), handle));
	WRONG(image.hsa_ext_image_destroy(gpu(), (hsa_ext_image_t){other.handle + 4}));
	WRONG(image.hsa_ext_image_destroy(gpu(), (hsa_ext_image_t){UINT64_MAX}));
	WRONG(image.hsa_ext_image_copy(gpu(), other, &from, handle, &to, &range));
	WRONG(image.hsa_ext_image_clear(gpu(), handle, orange, &box));
	CHECK_EQ(image.hsa_ext_image_destroy(t.cpu[0].agent, other), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(other_data), 0);
}

/* To sRGB and back again; alpha stays. */
static void conversion(void)
{
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_2D, 64, 2, 1, 0, rgba8};
	const hsa_ext_image_region_t all = {{0, 0, 0}, {64, 2, 1}};
	const hsa_dim3_t zero = {0, 0, 0}, range = {64, 2, 1};
	uint8_t *data = memory(3 * 512), in[128][4], out[128][4];
	hsa_ext_image_t plain, srgb, other;
	unsigned wrong = 0;

	for (unsigned i = 0; i < 512; i++)
		in[i / 4][i % 4] = (uint8_t)i;
	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data, HSA_ACCESS_PERMISSION_RW, &plain), 0);
	d.format.channel_order = HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA;
	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data + 512, HSA_ACCESS_PERMISSION_RO, &srgb), 0);
	d.format.channel_order = HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA;
	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data + 1024, HSA_ACCESS_PERMISSION_RO, &other), 0);
	CHECK_EQ(image.hsa_ext_image_import(gpu(), in, 0, 0, plain, &all), 0);
	CHECK_EQ(image.hsa_ext_image_copy(gpu(), plain, &zero, srgb, &zero, &range), 0);
	CHECK_EQ(image.hsa_ext_image_export(gpu(), srgb, out, 0, 0, &all), 0);
	/* By the standard's formula 0, 1, 54, 252 become 0, 13, 127, 254; alpha (55, 255) stays. */
	CHECK(out[0][0] == 0 && out[0][1] == 13 && out[55 / 4][55 % 4] == 55 && out[54 / 4][54 % 4] == 127);
	CHECK(out[252 / 4][0] == 254 && out[63][3] == 255);
	CHECK_EQ(image.hsa_ext_image_copy(gpu(), srgb, &zero, plain, &zero, &range), 0);
	CHECK_EQ(image.hsa_ext_image_export(gpu(), plain, out, 0, 0, &all), 0);
	/* Where sRGB is coarser than 8 bits, a code or two are lost. */
	for (unsigned i = 0; i < 512; i++)
		wrong += abs(out[i / 4][i % 4] - in[i / 4][i % 4]) > 1;
	CHECK_EQ(wrong, 0);
	WRONG(image.hsa_ext_image_copy(gpu(), plain, &zero, other, &zero, &range));
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), plain), 0);
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), srgb), 0);
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), other), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
}

/* One element of each kind, as clearing writes it. */
static void elements(void)
{
	static const union {
		float f[4];
		int32_t i[4];
		uint32_t u[4];
	} colors[] = {{.f = {1, 0.25f, -1, 0.5f}}, {.i = {1, -2, 300, -400}}, {.u = {1, 2, 300, 70000}}};
	static const struct {
		uint8_t order, type, color, size_B;
		uint8_t want[16];
	} rows[] = {
		{HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, 0, 4, {255, 64, 0, 128}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, 0, 4, {0, 64, 255, 128}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB,
		 HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8,
		 0,
		 4,
		 {64, 127, 32, 0x81}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA,
		 HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8,
		 0,
		 4,
		 {255, 137, 0, 128}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_RA, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16, 0, 4, {255, 255, 0, 128}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_A, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, 0, 1, {128}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE, HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, 0, 4, {0, 0, 0x80, 0x3f}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_RG, HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT, 0, 4, {0, 0x3c, 0, 0x34}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_RGB, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565, 0, 2, {0, 0xfa}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_RGB, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555, 0, 2, {0, 0x7d}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_RGB,
		 HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010,
		 0,
		 4,
		 {0, 0, 0xf4, 0x3f}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
		 HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8,
		 1,
		 4,
		 {1, 0xfe, 127, 0x80}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
		 HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16,
		 2,
		 8,
		 {1, 0, 2, 0, 0x2c, 1, 255, 255}},
		{HSA_EXT_IMAGE_CHANNEL_ORDER_RG,
		 HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32,
		 2,
		 8,
		 {1, 0, 0, 0, 2, 0, 0, 0}},
	};
	const hsa_ext_image_region_t one = {{1, 0, 0}, {1, 1, 1}};
	uint8_t *data = memory(4096), out[32];

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_1D,    4, 1, 1, 0,
						{rows[i].type, rows[i].order}};
		hsa_ext_image_t handle;

		CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data, HSA_ACCESS_PERMISSION_RW, &handle), 0);
		CHECK_EQ(image.hsa_ext_image_clear(gpu(), handle, &colors[rows[i].color], &one), 0);
		CHECK_EQ(hsa_memory_copy(out, data, sizeof(out)), 0);
		if (!CHECK(!memcmp(out + rows[i].size_B, rows[i].want, rows[i].size_B)))
			for (unsigned k = 0; k < rows[i].size_B; k++)
				printf("  row %u byte %u: %u, want %u\n", i, k, out[rows[i].size_B + k],
				       rows[i].want[k]);
		CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle), 0);
	}
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
}

/* --- descriptors -------------------------------------------------------------------------------- */

static void load(const char *target)
{
	const struct shader_blob *blob = shader_find(code_blobs, "image.v5", target);
	hsa_code_object_reader_t reader;

	CHECK_EQ(hsa_code_object_reader_create_from_memory(blob->image, blob->size_B, &reader), 0);
	CHECK_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, 0, NULL, &executable), 0);
	CHECK_EQ(hsa_executable_load_agent_code_object(executable, gpu(), reader, NULL, NULL), 0);
	CHECK_EQ(hsa_executable_freeze(executable, NULL), 0);
	CHECK_EQ(hsa_code_object_reader_destroy(reader), 0);
}

struct args {
	hsa_ext_image_t image;
	float *data;
	uint32_t width, height;
	/* sample_2d() takes these instead of the two before. */
	hsa_ext_sampler_t sampler;
	const float *at;
};

static void run_kernel(const char *name, unsigned lanes, struct args args)
{
	hsa_executable_symbol_t kernel;

	CHECK_EQ(hsa_executable_get_symbol_by_name(executable, name, &t.gpu[0].agent, &kernel), 0);
	if (args.at) {
		struct {
			hsa_ext_image_t image;
			float *data;
			hsa_ext_sampler_t sampler;
			const float *at;
		} sampling = {args.image, args.data, args.sampler, args.at};

		hsa_run_kernel(&run, kernel, (uint16_t)lanes, &sampling, sizeof(sampling));
		return;
	}
	hsa_run_kernel(&run, kernel, (uint16_t)lanes, &args, sizeof(args));
}

/* A kernel reads a buffer image, and one element behind its end; another writes it. */
static void buffers(void)
{
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_1DB,
					32,
					1,
					1,
					0,
					{HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA}};
	uint8_t *data = memory(4096), in[33][4];
	hsa_ext_image_t handle;
	float(*out)[4];
	unsigned wrong = 0;

	CHECK_EQ(hsa_amd_memory_pool_allocate(t.cpu[0].fine, 4096, 0, (void **)&out), 0);
	for (unsigned i = 0; i < 33; i++)
		for (unsigned k = 0; k < 4; k++)
			in[i][k] = (uint8_t)(4 * i + k);
	CHECK_EQ(hsa_memory_copy(data, in, sizeof(in)), 0);
	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data + 2, HSA_ACCESS_PERMISSION_RW, &handle),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data, HSA_ACCESS_PERMISSION_RW, &handle), 0);
	run_kernel("read_1db.kd", 33, (struct args){.image = handle, .data = *out});
	for (unsigned i = 0; i < 32; i++)
		for (unsigned k = 0; k < 4; k++) {
			static const uint8_t place[] = {2, 1, 0, 3};

			wrong += out[i][k] != (float)in[i][place[k]] / 255;
		}
	CHECK_EQ(wrong, 0);
	/* What is behind the end is 0, and not what lies there. */
	CHECK(out[32][0] == 0 && out[32][1] == 0 && out[32][2] == 0);
	for (unsigned i = 0; i < 32; i++)
		out[i][0] = 1, out[i][1] = 0.2f, out[i][2] = (float)i / 255, out[i][3] = 0;
	/* The kernel turns round what it read, and stores R, G, B, A = 0, i, 51, 255 in the image's order. */
	run_kernel("write_1db.kd", 32, (struct args){.image = handle, .data = *out});
	CHECK_EQ(hsa_memory_copy(in, data, 32 * 4), 0);
	for (unsigned i = 0; i < 32; i++)
		wrong += in[i][0] != 51 || in[i][1] != i || in[i][2] != 0 || in[i][3] != 255;
	CHECK_EQ(wrong, 0);
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(out), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
}

/* Kernels read what the CPU has put in, and the CPU takes out what they have written: image instructions and the
 * functions of the library agree on where elements lie. */
/* row_B 0: the default of 512. */
static void planes(size_t row_B)
{
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_2D,
					20,
					8,
					1,
					0,
					{HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA}};
	const hsa_ext_image_region_t all = {{0, 0, 0}, {20, 8, 1}};
	void *data = memory(1024 * 8);
	static float in[8][20][4], back[8][20][4];
	hsa_ext_image_t handle;
	float(*out)[4];
	unsigned wrong = 0;

	CHECK_EQ(hsa_amd_memory_pool_allocate(t.cpu[0].fine, 8192, 0, (void **)&out), 0);
	CHECK_EQ(image.hsa_ext_image_create_with_layout(gpu(), &d, data, HSA_ACCESS_PERMISSION_RW,
							HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, row_B, 0, &handle),
		 0);
	for (unsigned i = 0; i < 160; i++)
		for (unsigned k = 0; k < 4; k++)
			(&in[0][0])[i][k] = (float)(i + 1000 * k);
	CHECK_EQ(image.hsa_ext_image_import(gpu(), in, 0, 0, handle, &all), 0);
	run_kernel("read_2d.kd", 170, (struct args){.image = handle, .data = *out, .width = 20});
	CHECK(!memcmp(out, in, sizeof(in)));
	for (unsigned i = 160; i < 170; i++) /* below the last row */
		wrong += out[i][0] != 0 || out[i][3] != 0;
	CHECK_EQ(wrong, 0);
	run_kernel("write_2d.kd", 160, (struct args){.image = handle, .data = *out, .width = 20});
	CHECK_EQ(image.hsa_ext_image_export(gpu(), handle, back, 0, 0, &all), 0);
	for (unsigned i = 0; i < 160; i++)
		for (unsigned k = 0; k < 4; k++)
			wrong += (&back[0][0])[i][k] != (&in[0][0])[i][3 - k];
	CHECK_EQ(wrong, 0);
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(out), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
}

/* Clears an element of an image, and reads it by a kernel. */
static void read_cleared(hsa_ext_image_geometry_t geometry, const hsa_ext_image_format_t *format, void *data,
			 float *out)
{
	const hsa_ext_image_descriptor_t d = {geometry, 8, 1, 1, 0, *format};
	const hsa_ext_image_region_t all = {{0, 0, 0}, {8, 1, 1}};
	const float color[4] = {1, 0.25f, -0.5f, 0.75f};
	hsa_ext_image_t handle;

	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data, HSA_ACCESS_PERMISSION_RW, &handle), 0);
	CHECK_EQ(image.hsa_ext_image_clear(gpu(), handle, color, &all), 0);
	run_kernel(geometry == HSA_EXT_IMAGE_GEOMETRY_1DB ? "read_1db.kd" : "read_2d.kd", 1,
		   (struct args){.image = handle, .data = out, .width = 8});
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle), 0);
}

/* The numbers of formats differ between generations: kernels read the same elements on all of them. */
static void formats(void)
{
	static const hsa_ext_image_geometry_t geometries[2] = {HSA_EXT_IMAGE_GEOMETRY_2D,
							       HSA_EXT_IMAGE_GEOMETRY_1DB};
	static struct {
		bool known;
		float color[4];
	} first[2][20][16], *f;
	void *data = memory(4096);
	float *out;

	CHECK_EQ(hsa_amd_memory_pool_allocate(t.cpu[0].fine, 4096, 0, (void **)&out), 0);
	for (uint32_t i = 0; i < 2 * 20 * 16; i++) {
		const hsa_ext_image_format_t format = {i % 16, i / 16 % 20};

		f = &first[i / 320][format.channel_order][format.channel_type];
		if (!capability(geometries[i / 320], format.channel_order, format.channel_type))
			continue;
		read_cleared(geometries[i / 320], &format, data, out);
		if (!f->known)
			memcpy(f->color, out, sizeof(f->color));
		f->known = true;
		if (!CHECK(!memcmp(f->color, out, sizeof(f->color))))
			printf("  geometry %u, order %u, type %u\n", geometries[i / 320], format.channel_order,
			       format.channel_type);
	}
	CHECK_EQ(hsa_amd_memory_pool_free(out), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
}

static void volumes(uint32_t width)
{
	const hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_3D, width, HEIGHT, DEPTH, 0, rgba8};
	const hsa_ext_image_region_t all = {{0, 0, 0}, {width, HEIGHT, DEPTH}};
	void *data = memory(256 * HEIGHT * DEPTH);
	static uint8_t in[DEPTH * HEIGHT * WIDTH][4];
	/* One workgroup has 1024 lanes: of the widest, the first two slices. */
	unsigned elements = width * HEIGHT * (width < WIDTH ? DEPTH : 2), wrong = 0;
	hsa_ext_image_t handle;
	float(*out)[4];

	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data, HSA_ACCESS_PERMISSION_RW, &handle), 0);
	CHECK_EQ(hsa_amd_memory_pool_allocate(t.cpu[0].fine, 16384, 0, (void **)&out), 0);
	for (unsigned i = 0; i < DEPTH * HEIGHT * width; i++)
		for (unsigned k = 0; k < 4; k++)
			in[i][k] = (uint8_t)(i * 7 + k * 50 + i / 480);
	CHECK_EQ(image.hsa_ext_image_import(gpu(), in, 0, 0, handle, &all), 0);
	run_kernel("read_3d.kd", elements,
		   (struct args){.image = handle, .data = *out, .width = width, .height = HEIGHT});
	for (unsigned i = 0; i < elements; i++)
		for (unsigned k = 0; k < 4; k++)
			wrong += out[i][k] != (float)in[i][k] / 255;
	CHECK_EQ(wrong, 0);
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(out), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
}

/* Texels 10, 20, 30, 40 in one row of an image of two. */
static void samples(void)
{
	static const struct {
		uint8_t coordinates, filter, address;
		float x, want;
	} rows[] = {
		{1, 0, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, 0.3f, 20},
		{1, 0, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, -3, 10},
		{1, 0, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, 3, 40},
		{1, 0, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER, 1.1f, 0},
		{1, 0, HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT, 1.3f, 20},
		{1, 0, HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT, -0.1f, 40},
		{1, 0, HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT, 1.1f, 40},
		{1, 0, HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT, -0.3f, 20},
		{0, 0, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, 2.9f, 30},
		{0, 1, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, 1.5f, 20},
		{0, 1, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, 2, 25},
		{0, 1, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, 0, 10},
		{0, 1, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER, 0, 5},
		{1, 1, HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT, 0, 25},
		{1, 1, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, 0.4375f, 22.5f},
	};
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_2D,
					4,
					2,
					1,
					0,
					{HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_R}};
	const hsa_ext_image_region_t all = {{0, 0, 0}, {4, 2, 1}};
	const float in[2][4] = {{10, 20, 30, 40}, {10, 20, 30, 40}};
	void *data = memory(4096);
	hsa_ext_image_t handle;
	float *out;

	CHECK_EQ(hsa_amd_memory_pool_allocate(t.cpu[0].fine, 4096, 0, (void **)&out), 0);
	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, data, HSA_ACCESS_PERMISSION_RW, &handle), 0);
	CHECK_EQ(image.hsa_ext_image_import(gpu(), in, 0, 0, handle, &all), 0);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		hsa_ext_sampler_descriptor_t how = {rows[i].coordinates, rows[i].filter, rows[i].address};
		hsa_ext_sampler_t sampler;

		CHECK_EQ(image.hsa_ext_sampler_create(gpu(), &how, &sampler), 0);
		out[16] = rows[i].x;
		out[17] = rows[i].coordinates ? 0.5f : 1;
		run_kernel("sample_2d.kd", 1,
			   (struct args){.image = handle, .data = out, .sampler = sampler, .at = out + 16});
		if (!CHECK(out[0] == rows[i].want && out[1] == 0 && out[3] == 1))
			printf("  row %u: %f, %f, %f, %f\n", i, (double)out[0], (double)out[1], (double)out[2],
			       (double)out[3]);
		CHECK_EQ(image.hsa_ext_sampler_destroy(gpu(), sampler), 0);
	}
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(out), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
}

/* More than one piece of descriptor memory. */
static void many(void)
{
	enum { MANY = 3000 };
	static hsa_ext_image_t handle[MANY];
	void *data = memory(256 * HEIGHT * DEPTH);

	for (unsigned i = 0; i < MANY; i++)
		handle[i] = create_3d(data);
	CHECK(handle[0].handle != handle[MANY - 1].handle);
	for (unsigned i = 0; i < MANY; i++)
		CHECK_EQ(image.hsa_ext_image_destroy(gpu(), handle[i]), 0);
	CHECK_EQ(create_3d(data).handle, handle[0].handle);
	CHECK_EQ(hsa_amd_memory_pool_free(data), 0);
}

/* --- an image that is destroyed during a call ----------------------------------------------------- */

#define TIMES 2000
#define FEW   5u /* elements: no multiple of the larger size in bytes of the smaller */

static hsa_ext_image_t changed;
static _Atomic bool over;

static void *clear_changed(void *unused)
{
	const hsa_ext_image_region_t region = {.range = {FEW, 1, 1}};
	const float data[4] = {1, 1, 1, 1};

	while (!atomic_load(&over))
		(void)!image.hsa_ext_image_clear(gpu(), changed, data, &region);
	return unused;
}

/* The next image gets the handle of the one before, with elements of another size. */
static void an_image_changes_during_a_call(void)
{
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_1D, FEW, 0, 0, 0, rgba8};
	void *at = memory(4096);
	hsa_ext_image_t now;
	pthread_t thread;

	atomic_store(&over, false);
	CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, at, HSA_ACCESS_PERMISSION_RW, &changed), 0);
	CHECK_EQ(pthread_create(&thread, NULL, clear_changed, NULL), 0);
	for (unsigned i = 0; i < TIMES; i++) {
		CHECK_EQ(image.hsa_ext_image_destroy(gpu(), changed), 0);
		d.format.channel_type =
			i % 2 ? HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8 : HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT;
		CHECK_EQ(image.hsa_ext_image_create(gpu(), &d, at, HSA_ACCESS_PERMISSION_RW, &now), 0);
		CHECK_EQ(now.handle, changed.handle);
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	CHECK_EQ(image.hsa_ext_image_destroy(gpu(), changed), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(at), 0);
}

static void parts_of_all_chips(void)
{
	capabilities();
	limits();
	in_and_out();
	conversion();
	elements();
	buffers();
	formats();
	planes(0);
	volumes(WIDTH);
	volumes(20); /* 80 bytes: on GFX12 rows are 128 apart, and the slices not 128 times the height */
	samples();
}

static void everything(const char *spec, const char *target, bool larger_pitch)
{
	if (!images_begin(spec))
		return;
	if (hsa_run_open(&run, &t, 0)) {
		load(target);
		parts_of_all_chips();
		if (larger_pitch)
			planes(1024);
		many();
		an_image_changes_during_a_call();
		CHECK_EQ(hsa_executable_destroy(executable), 0);
		hsa_run_close(&run);
	}
	images_end();
}

/* A chip without image instructions says so in each of its answers. */
static void none(const char *spec)
{
	hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_2D, WIDTH, HEIGHT, 1, 0, rgba8};
	hsa_ext_image_data_info_t info;
	uint32_t size[2] = {1, 1};
	bool result = true;

	if (!images_begin(spec))
		return;
	CHECK_EQ(capability(HSA_EXT_IMAGE_GEOMETRY_2D, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA, 0), 0);
	CHECK_EQ(hsa_ext_image_data_get_info(gpu(), &d, HSA_ACCESS_PERMISSION_RO, &info), UNSUPPORTED(FORMAT));
	CHECK_EQ(hsa_agent_get_info(gpu(), (hsa_agent_info_t)HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS, size), 0);
	CHECK(!size[0] && !size[1]);
	CHECK_EQ(hsa_agent_extension_supported(HSA_EXTENSION_IMAGES, gpu(), 1, 0, &result), 0);
	CHECK(!result);
	images_end();
}

int main(void)
{
	everything("gfx906", "gfx906", true);
	everything("gfx900:bar=256M", "gfx900", true);
	everything("gfx1010", "gfx1010", false);
	everything("gfx1030", "gfx1030", true);
	everything("gfx1100", "gfx1100", true);
	everything("gfx1151", "gfx1151", true);
	everything("gfx1201", "gfx1201", true);
	none("gfx942");
	return check_done("images through HSA");
}
