/* Images from GFX10 on, through descriptors put together here from PAL's and Mesa's lists of their bits. Every piece runs
 * on each chip, in waves of 32 and of 64 lanes. */
#include "vgpu/isa/half.h"
#include "vgpu/isa/test_pieces.h"

#define LANES (test.machine.wave32 ? 32u : 64u)

enum { T_1D = 8, T_2D, T_3D, T_CUBE, T_1D_ARRAY, T_2D_ARRAY, T_2D_MSAA };
enum format { F_32_UINT, F_32_FLOAT, F_8888_UNORM, F_8888_SRGB, F_8888_UINT, F_5999, F_565, F_COUNT };

/* What a descriptor says; start_B: from D, a multiple of 256. */
struct image {
	enum format format;
	unsigned type, width, height, depth; /* depth, or the last layer */
	unsigned first, levels, base, last, start_B, pitch, swizzle;
	unsigned select; /* 0: X, Y, Z, W */
};
struct sampler {
	unsigned word0, filter; /* filter: word 2 */
	unsigned max_lod, border;
};

struct image_piece {
	const char *name;
	void (*check)(void);
	const char *code;
	struct image image;
	struct sampler sampler;
	void (*prepare)(void);
};

static enum { GEN_10, GEN_10_3, GEN_11, GEN_12 } gen;
static const struct image_piece *current;

/* --- descriptors --- */

static unsigned number_of(enum format f)
{
	static const uint8_t gfx10[] = {20, 22, 56, 130, 60, 132, 133}, gfx11[] = {20, 22, 42, 66, 46, 67, 68};

	return (gen <= GEN_10_3 ? gfx10 : gfx11)[f];
}

static void describe_image(const struct image *m, uint32_t s[8])
{
	uint64_t base = D_48 + m->start_B;
	unsigned width = m->width - 1, depth = m->pitch ? m->pitch - 1 : m->depth,
		 levels = m->levels ? m->levels - 1 : 0;
	uint32_t format = number_of(m->format) << (gen == GEN_12 ? 17 : 20);

	memset(s, 0, 8 * sizeof(*s));
	s[0] = (uint32_t)(base >> 8);
	s[1] = (uint32_t)(base >> 40) | format | (width & 3) << 30;
	s[2] = width >> 2 | (m->height - 1) << 14;
	s[3] = (m->select ? m->select : 0xfac) | m->swizzle << 20 | m->type << 28;
	s[4] = depth | m->first << 16;
	if (gen == GEN_12) {
		s[1] |= levels << 12 | m->base << 25;
		s[3] |= m->last << 15;
		return;
	}
	s[3] |= m->base << 12 | m->last << 16;
	if (gen == GEN_11)
		s[1] |= levels << 16;
	else
		s[5] |= levels << 4;
	if (gen <= GEN_10_3)
		s[2] |= 1u << 31;
}

static void describe_sampler(const struct sampler *m, uint32_t s[4])
{
	s[0] = m->word0;
	s[1] = m->max_lod << 8 << (gen == GEN_12 ? 13 : 12);
	s[2] = m->filter;
	s[3] = m->border << 30;
}

/* s24:31 the image, s20:23 the sampler; v20, v21 = X, Y of a lane in rows of eight; v26, v27 the same as f32 in the middle
 * of the texel, over 8 and 4. */
static void prepare(const char *arg)
{
	(void)arg;
	describe_image(&current->image, &test.wave.s[24]);
	describe_sampler(&current->sampler, &test.wave.s[20]);
	for (unsigned l = 0; l < 64; l++) {
		float x = ((float)(l % 8) + 0.5f) / 8, y = ((float)(l / 8) + 0.5f) / 4;

		test.v[20][l] = l % 8;
		test.v[21][l] = l / 8;
		memcpy(&test.v[26][l], &x, 4);
		memcpy(&test.v[27][l], &y, 4);
	}
	if (current->prepare)
		current->prepare();
}

/* --- checks --- */

/* Bytes of a row of 8 elements of 32 bits. */
static unsigned row_B(void)
{
	return gen == GEN_12 ? 128 : 256;
}

static uint32_t texel(unsigned l)
{
	return l < 32 ? was(row_B() * (l / 8) + 4 * (l % 8)) : 0;
}

static void check_load(void)
{
	ALL_LANES(22, texel(l));
}

static void check_d16(void)
{
	ALL_LANES(22, half_from_float((float)(texel(l) & 0xff) / 255, HALF_NEAREST) |
			      half_from_float((float)(texel(l) >> 8 & 0xff) / 255, HALF_NEAREST) << 16);
	CHECK_EQ(test.v[23][0], 23u << 8 | 0xd5d50000);
}

static void check_store(void)
{
	for (unsigned l = 0; l < 32; l++)
		CHECK_EQ(d32(8192 + row_B() * (l / 8) + 4 * (l % 8)), 1000 + l);
	CHECK_EQ(d32(8192 + row_B() * 4), was(8192 + row_B() * 4));
	CHECK_EQ(d32(8192 + 4 * 8), was(8192 + 4 * 8));
	CHECK_EQ(test.faults, 0);
}

/* Slices take rows of 256 bytes on GFX12, too. */
static void check_slices(void)
{
	ALL_LANES(22, l < 32 ? was(2 * 1024 + row_B() * (l / 8) + 4 * (l % 8)) : 0);
	ALL_LANES(23, 0);
}

static void check_pitch(void)
{
	ALL_LANES(22, l < 32 ? was((gen == GEN_10 ? 256u : 512u) * (l / 8) + 4 * (l % 8)) : 0);
}

/* The smallest level comes first: 1, 1, 2 and 4 rows of 256 bytes. */
static const unsigned level_B[] = {1024, 512, 256, 0};

static void check_levels(void)
{
	ALL_LANES(22, l % 8 < 4 && l / 8 < 2 ? was(level_B[1] + row_B() * (l / 8) + 4 * (l % 8)) : 0);
	ALL_LANES(23, l ? 0 : was(level_B[3]));
	ALL_LANES(24, 0);
}

static void check_level_store(void)
{
	CHECK_EQ(d32(level_B[2]), 1000);
	CHECK_EQ(d32(level_B[2] + 4), 1001);
	CHECK_EQ(d32(level_B[2] + 8), was(level_B[2] + 8));
	CHECK_EQ(d32(level_B[1]), was(level_B[1]));
}

static void check_atomic(void)
{
	ALL_LANES(8, texel(l));
	for (unsigned l = 0; l < 32; l++)
		CHECK_EQ(d32(row_B() * (l / 8) + 4 * (l % 8)), texel(l) + 1000 + l);
}

static void check_cmpswap(void)
{
	ALL_LANES(8, texel(l));
	CHECK_EQ(d32(0), 1000);
	CHECK_EQ(d32(4), texel(1));
}

static void check_size(void)
{
	ALL_LANES(22, 4);
	ALL_LANES(23, 2);
	ALL_LANES(24, 3);
	ALL_LANES(25, 3);
}

/* --- samples --- */

/* Texel (x, y) of level n is 100 n + 10 y + x. */
static void put_floats(void)
{
	for (unsigned n = 0; n < 4; n++)
		for (unsigned y = 0; y < (4u >> n ? 4u >> n : 1); y++)
			for (unsigned x = 0; x < 8u >> n; x++) {
				bool levels = current->image.levels;

				put32((levels ? level_B[n] : n * 4096) + row_B() * y + 4 * x,
				      f32_bits((float)(100 * n + 10 * y + x)));
			}
}

static float value_at(int x, int y)
{
	return (float)(10 * y + x);
}

static int clamp(int x, int size)
{
	return x < 0 ? 0 : x < size ? x : size - 1;
}

static void check_point(void)
{
	ALL_LANES(22, f32_bits(value_at((int)l % 8, (int)(l / 8) % 4)));
}

/* Half a texel to the right of a middle: the mean of two. */
static void put_between(void)
{
	put_floats();
	for (unsigned l = 0; l < 64; l++)
		test.v[26][l] = f32_bits((float)(l % 8 + 1) / 8);
}

static void check_linear(void)
{
	ALL_LANES(22, f32_bits((value_at((int)l % 8, clamp((int)(l / 8), 4)) +
				value_at(clamp((int)l % 8 + 1, 8), clamp((int)(l / 8), 4))) /
			       2));
}

/* To the right of the image: opaque black as X, Y, Z, W of one component is 0 and 1. */
static void check_border(void)
{
	ALL_LANES(22, f32_bits(l / 8 < 4 && l % 8 < 7 ? value_at((int)l % 8 + 1, (int)(l / 8)) : 0));
	ALL_LANES(23, f32_bits(1));
}

static void put_offsets(void)
{
	put_floats();
	for (unsigned l = 0; l < 64; l++)
		test.v[25][l] = 1 | 0x3f << 8; /* 1, -1 */
}

static void check_offset(void)
{
	ALL_LANES(22, f32_bits(value_at(clamp((int)l % 8 + 1, 8), clamp((int)(l / 8) - 1, 4))));
}

/* The address as the instruction has it from v20 on: reference, coordinates, level. */
static void put_reference(void)
{
	put_floats();
	for (unsigned l = 0; l < 64; l++)
		test.v[25][l] = f32_bits(12);
}

static void check_compare(void)
{
	ALL_LANES(22, f32_bits(12 <= value_at((int)l % 8, (int)(l / 8) % 4) ? 1 : 0));
}

static void put_level(void)
{
	put_floats();
	for (unsigned l = 0; l < 64; l++)
		test.v[28][l] = f32_bits(l % 2 ? 1.5f : 0.25f);
}

/* Lanes take their column of eight at half the width: the mean of levels 1 and 2 in odd lanes. */
static void check_sample_levels(void)
{
	for (unsigned l = 0; l < 32; l++) {
		unsigned x = l % 8, y = l / 8;
		float zero = (float)(10 * y + x), one = (float)(100 + 10 * (y / 2) + x / 2),
		      two = (float)(200 + x / 4);

		CHECK_EQ(test.v[22][l], f32_bits(l % 2 ? (one + two) / 2 : 0.75f * zero + 0.25f * one));
	}
}

/* Gradients of 4 texels on X, 2 on Y: level 2. */
static void put_gradients(void)
{
	put_floats();
	for (unsigned l = 0; l < 64; l++) {
		test.v[22][l] = f32_bits(4.0f / 8);
		test.v[23][l] = f32_bits(0);
		test.v[24][l] = f32_bits(0);
		test.v[25][l] = f32_bits(2.0f / 4);
	}
}

static void put_half_gradients(void)
{
	put_floats();
	for (unsigned l = 0; l < 64; l++) {
		test.v[22][l] = half_from_float(0.5f, HALF_NEAREST);
		test.v[23][l] = half_from_float(0.5f, HALF_NEAREST) << 16;
	}
}

static void check_gradients(void)
{
	for (unsigned l = 0; l < 32; l++)
		CHECK_EQ(test.v[30][l], f32_bits((float)(200 + l % 8 / 4)));
}

static void check_gather(void)
{
	for (unsigned l = 0; l < 32; l++) {
		int x = (int)l % 8, y = (int)l / 8;

		CHECK_EQ(test.v[22][l], f32_bits(value_at(x, clamp(y + 1, 4))));
		CHECK_EQ(test.v[23][l], f32_bits(value_at(clamp(x + 1, 8), clamp(y + 1, 4))));
		CHECK_EQ(test.v[24][l], f32_bits(value_at(clamp(x + 1, 8), y)));
		CHECK_EQ(test.v[25][l], f32_bits(value_at(x, y)));
	}
}

static void put_gather(void)
{
	put_floats();
	for (unsigned l = 0; l < 64; l++) {
		test.v[26][l] = f32_bits(((float)(l % 8) + 1) / 8);
		test.v[27][l] = f32_bits(((float)(l / 8) + 1) / 4);
	}
}

static void put_halves(void)
{
	put_floats();
	for (unsigned l = 0; l < 64; l++)
		test.v[26][l] = half_from_float(((float)(l % 8) + 0.5f) / 8, HALF_NEAREST) |
				half_from_float(((float)(l / 8) + 0.5f) / 4, HALF_NEAREST) << 16;
}

/* --- formats --- */

static void put_element(uint32_t element)
{
	for (unsigned y = 0; y < 4; y++)
		for (unsigned x = 0; x < 8; x++)
			put32(row_B() * y + 4 * x, element);
}

static void put_srgb(void)
{
	put_element(0x80ff0080);
}

static void check_srgb(void)
{
	/* 128 / 255 is 0.215861 in linear light, and alpha stays as it is. */
	for (unsigned l = 0; l < 32; l++) {
		float x;

		memcpy(&x, &test.v[22][l], 4);
		CHECK(x > 0.21585f && x < 0.21587f);
		CHECK_EQ(test.v[23][l], 0);
		CHECK_EQ(test.v[24][l], f32_bits(1));
		CHECK_EQ(test.v[25][l], f32_bits(128.0f / 255));
	}
}

/* 3, 2 and 1 steps of 2^-9 * 2^(16 - 15). */
static void put_5999(void)
{
	put_element(16u << 27 | 1 << 18 | 2 << 9 | 3);
}

static void check_5999(void)
{
	ALL_LANES(22, f32_bits(l < 32 ? 3.0f / 256 : 0));
	ALL_LANES(23, f32_bits(l < 32 ? 2.0f / 256 : 0));
	ALL_LANES(24, f32_bits(l < 32 ? 1.0f / 256 : 0));
}

/* B, G, R, A in memory. */
static void check_swizzle(void)
{
	ALL_LANES(22, texel(l) >> 16 & 0xff);
	ALL_LANES(23, texel(l) >> 8 & 0xff);
	ALL_LANES(24, texel(l) & 0xff);
	ALL_LANES(25, l < 32 ? texel(l) >> 24 : 0);
}

#define IMAGE(f, t, ...)    {.format = f, .type = t, .width = 8, .height = 4, ##__VA_ARGS__}
#define CLAMPED             .word0 = 2 | 2 << 3 | 2 << 6 | 1 << 27
#define LINEAR              (1 << 20 | 1 << 22)
#define DIM(d)              " dim:SQ_RSRC_IMG_" d
#define LEVELS              .levels = 4, .last = 3
#define WAIT                "\n"
#define SAMPLE(op, address) op " v22, " address ", s[24:31], s[20:23] dmask:0x1" DIM("2D")

static const struct image_piece pieces[] = {
	{"load", check_load, "image_load v22, [v20, v21], s[24:31] dmask:0x1" DIM("2D"), IMAGE(F_32_UINT, T_2D)},
	{"load with A16", check_load,
	 "v_lshl_or_b32 v25, v21, 16, v20\n image_load v22, v25, s[24:31] dmask:0x1" DIM("2D") " a16",
	 IMAGE(F_32_UINT, T_2D)},
	{"load with D16", check_d16, "image_load v22, [v20, v21], s[24:31] dmask:0x3" DIM("2D") " d16",
	 IMAGE(F_8888_UNORM, T_2D)},
	{"store", check_store, "image_store v8, [v20, v21], s[24:31] dmask:0x1" DIM("2D"),
	 IMAGE(F_32_UINT, T_2D, .start_B = 8192)},
	{"depth", check_slices,
	 "v_mov_b32 v25, 2\n v_mov_b32 v24, 3\n image_load v22, [v20, v21, v25], s[24:31] dmask:0x1" DIM(
		 "3D") "\n"
		       "image_load v23, [v20, v21, v24], s[24:31] dmask:0x1" DIM("3D"),
	 IMAGE(F_32_UINT, T_3D, .depth = 2)},
	{"layers", check_slices,
	 "v_mov_b32 v25, 1\n v_mov_b32 v24, 2\n image_load v22, [v20, v21, v25], s[24:31] dmask:0x1" DIM(
		 "2D_ARRAY") "\n"
			     "image_load v23, [v20, v21, v24], s[24:31] dmask:0x1" DIM("2D_ARRAY"),
	 IMAGE(F_32_UINT, T_2D_ARRAY, .depth = 2, .first = 1)},
	{"pitch", check_pitch, "image_load v22, [v20, v21], s[24:31] dmask:0x1" DIM("2D"),
	 IMAGE(F_32_UINT, T_2D, .pitch = 128)},
	{"levels", check_levels,
	 "v_mov_b32 v25, 1\n v_mov_b32 v26, 3\n v_mov_b32 v27, 4\n"
	 "image_load_mip v22, [v20, v21, v25], s[24:31] dmask:0x1" DIM(
		 "2D") "\n"
		       "image_load_mip v23, [v20, v21, v26], s[24:31] dmask:0x1" DIM(
			       "2D") "\n"
				     "image_load_mip v24, [v20, v21, v27], s[24:31] dmask:0x1" DIM("2D"),
	 IMAGE(F_32_UINT, T_2D, LEVELS)},
	{"a level by the descriptor", check_level_store, "image_store v8, [v20, v21], s[24:31] dmask:0x1" DIM("2D"),
	 IMAGE(F_32_UINT, T_2D, .levels = 4, .base = 2, .last = 2)},
	{"atomic", check_atomic, NULL, IMAGE(F_32_UINT, T_2D)},
	{"compare and swap", check_cmpswap, NULL, IMAGE(F_32_UINT, T_2D)},
	{"size", check_size,
	 "v_mov_b32 v20, 1\n image_get_resinfo v[22:25], v20, s[24:31] dmask:0xf" DIM("2D_ARRAY"),
	 IMAGE(F_32_UINT, T_2D_ARRAY, .depth = 4, .first = 2, .levels = 3, .last = 2)},
	{"point",
	 check_point,
	 SAMPLE("image_sample_lz", "[v26, v27]"),
	 IMAGE(F_32_FLOAT, T_2D),
	 {.word0 = 1 << 27},
	 put_floats},
	{"point with A16",
	 check_point,
	 SAMPLE("image_sample_lz", "v26") " a16",
	 IMAGE(F_32_FLOAT, T_2D),
	 {.word0 = 1 << 27},
	 put_halves},
	{"linear",
	 check_linear,
	 SAMPLE("image_sample_lz", "[v26, v27]"),
	 IMAGE(F_32_FLOAT, T_2D),
	 {CLAMPED, .filter = LINEAR},
	 put_between},
	{"border",
	 check_border,
	 "image_sample_lz v[22:23], [v26, v27], s[24:31], s[20:23] dmask:0x9" DIM("2D"),
	 IMAGE(F_32_FLOAT, T_2D),
	 {.word0 = 6 | 6 << 3 | 1 << 27, .border = 1},
	 put_between},
	{"offset",
	 check_offset,
	 SAMPLE("image_sample_lz_o", "[v25, v26, v27]"),
	 IMAGE(F_32_FLOAT, T_2D),
	 {CLAMPED},
	 put_offsets},
	{"comparison",
	 check_compare,
	 SAMPLE("image_sample_c_lz", "[v25, v26, v27]"),
	 IMAGE(F_32_FLOAT, T_2D),
	 {.word0 = 3 << 12 | 1 << 27},
	 put_reference},
	{"between levels",
	 check_sample_levels,
	 SAMPLE("image_sample_l", "[v26, v27, v28]"),
	 IMAGE(F_32_FLOAT, T_2D, LEVELS),
	 {CLAMPED, .filter = 2 << 26, .max_lod = 15},
	 put_level},
	{"gradients",
	 check_gradients,
	 NULL,
	 IMAGE(F_32_FLOAT, T_2D, LEVELS),
	 {CLAMPED, .filter = 1 << 26, .max_lod = 15},
	 put_gradients},
	{"gradients of 16 bits",
	 check_gradients,
	 NULL,
	 IMAGE(F_32_FLOAT, T_2D, LEVELS),
	 {CLAMPED, .filter = 1 << 26, .max_lod = 15},
	 put_half_gradients},
	{"gather",
	 check_gather,
	 "image_gather4_lz v[22:25], [v26, v27], s[24:31], s[20:23] dmask:0x1" DIM("2D"),
	 IMAGE(F_32_FLOAT, T_2D),
	 {CLAMPED},
	 put_gather},
	{"sRGB", check_srgb, "image_load v[22:25], [v20, v21], s[24:31] dmask:0xf" DIM("2D"),
	 IMAGE(F_8888_SRGB, T_2D), .prepare = put_srgb},
	{"a shared exponent", check_5999, "image_load v[22:24], [v20, v21], s[24:31] dmask:0x7" DIM("2D"),
	 IMAGE(F_5999, T_2D), .prepare = put_5999},
	{"swizzle", check_swizzle, "image_load v[22:25], [v20, v21], s[24:31] dmask:0xf" DIM("2D"),
	 IMAGE(F_8888_UINT, T_2D, .select = 6 | 5 << 3 | 4 << 6 | 7 << 9)},
};
#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

/* What the generations spell in different ways. */
static const char *code_of(const struct image_piece *p)
{
	bool gfx12 = gen == GEN_12;

	if (p->code)
		return p->code;
	if (p->check == check_atomic)
		return gfx12 ? "image_atomic_add_uint v8, [v20, v21], s[24:31] dmask:0x1" DIM(
				       "2D") " th:TH_ATOMIC_RETURN"
			     : "image_atomic_add v8, [v20, v21], s[24:31] dmask:0x1" DIM("2D") " glc";
	/* Lane 0 compares with the value that is there, 1. */
	if (p->check == check_cmpswap)
		return gfx12 ? "v_mov_b32 v9, 1\n image_atomic_cmpswap v[8:9], [v20, v21], s[24:31] dmask:0x3" DIM(
				       "2D") " th:TH_ATOMIC_RETURN"
			     : "v_mov_b32 v9, 1\n image_atomic_cmpswap v[8:9], [v20, v21], s[24:31] dmask:0x3" DIM(
				       "2D") " glc";
	if (p->prepare == put_half_gradients)
		return "image_sample_d_g16 v30, [v22, v23, v26, v27], s[24:31], s[20:23] dmask:0x1" DIM("2D");
	return gen <= GEN_10_3 ? "image_sample_d v30, v[22:27], s[24:31], s[20:23] dmask:0x1" DIM("2D")
	       : gfx12 ? "image_sample_d v30, [v22, v23, v24, v[25:27]], s[24:31], s[20:23] dmask:0x1" DIM("2D")
		       : "image_sample_d v30, [v22, v23, v24, v25, v[26:27]], s[24:31], s[20:23] dmask:0x1" DIM(
				 "2D");
}

static bool assemble_images(const char *chip)
{
	const char *codes[PIECES];

	for (unsigned n = 0; n < PIECES; n++)
		codes[n] = code_of(&pieces[n]);
	return assemble_codes(chip, codes, PIECES);
}

static void run_pieces(const char *chip, bool wave32)
{
	init(chip, false);
	test.machine.wave32 = wave32;
	test.machine.sgpr_count = 0;
	if (!CHECK(assemble_images(chip)))
		return;
	for (unsigned n = 0; n < PIECES; n++) {
		unsigned failed = check_failed_;
		unsigned long before = vgpu_findings();

		current = &pieces[n];
		if (CHECK(run_prepared(n, prepare, NULL)))
			pieces[n].check();
		CHECK_EQ(vgpu_findings() - before, 0);
		if (check_failed_ != failed)
			printf("  in \"%s\" on %s, wave%u\n", pieces[n].name, chip, LANES);
	}
	fini();
}

/* --- wild descriptors --- */

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 16;
}

static uint64_t wild_seed;

/* A bit of every fourth word is wrong: most accesses get past the first look at the descriptor. */
static void prepare_wild(const char *arg)
{
	prepare(arg);
	for (unsigned n = 0; n < 12; n++)
		if (!(next_random(&wild_seed) & 3))
			test.wave.s[20 + n] ^= 1u << (next_random(&wild_seed) & 31);
	for (unsigned l = 0; l < 64; l++)
		for (unsigned row = 20; row < 30; row++)
			if (!(next_random(&wild_seed) & 7))
				test.v[row][l] = (uint32_t)next_random(&wild_seed);
}

/* Descriptors and coordinates with wrong bits stop the wave or fault: they never leave the memory of the guest. */
static void wild_descriptors_are_safe(const char *chip)
{
	unsigned ended = 0;

	init(chip, false);
	test.machine.sgpr_count = 0;
	test.machine.wave32 = true;
	if (!CHECK(assemble_images(chip)))
		return;
	for (unsigned n = 0; n < 100; n++) {
		char why[512] = "";
		struct isa_wave *w = &test.wave;

		current = &pieces[n % PIECES];
		set_vgprs();
		set_sgprs();
		w->pc = CODE + (uint64_t)(n % PIECES) * PIECE_B;
		w->last_region = NULL;
		w->refused_pc = 0;
		wild_seed = n * 7919 + (uint64_t)gen;
		prepare_wild(NULL);
		w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
		ended += CHECK(w->program != NULL) && isa_run(w, 100) == ISA_ENDED;
	}
	CHECK(ended > 10);
	fini();
}

/* rows 171, 173 */
int main(void)
{
	static const char *const chips[] = {"gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200"};
	static const uint8_t gens[] = {GEN_10, GEN_10_3, GEN_11, GEN_11, GEN_12};

	vgpu_strict_set(VGPU_STRICT_REPORT);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(chips[0]); n++) {
		gen = gens[n];
		run_pieces(chips[n], true);
		run_pieces(chips[n], false);
	}
	vgpu_strict_set(VGPU_STRICT_OFF);
	for (unsigned n = 0; n < sizeof(chips) / sizeof(chips[0]); n++) {
		gen = gens[n];
		wild_descriptors_are_safe(chips[n]);
	}
	return check_done("images from GFX10 on");
}
