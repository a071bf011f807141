/* WMMA and SWMMAC of GFX11 and GFX12 against a model of their own: matrices of small integers, which every format holds
 * exactly, laid into registers lane by lane as the RDNA 3 and RDNA 4 ISA documents show it, multiplied in plain loops. */
#include "tests/check.h"
#include "vgpu/isa/exec/program.h"
#include "vgpu/isa/half.h"

#define CODE_VA 0x100000ull
#define ROWS    64
#define A_ROW   8
#define B_ROW   16
#define C_ROW   24
#define I_ROW   40 /* index of a sparse matrix */

enum format { F16, BF16, F32, I8, I4, I32, FP8, BF8 };

struct matrix {
	enum vgpu_gfx gfx;
	unsigned number, k;
	enum format in, out;
	bool sparse;
	enum format b; /* where it differs from A's */
};

static const struct matrix matrices[] = {
	{VGPU_GFX11, 0x40, 16, F16, F32, false, F16},   {VGPU_GFX11, 0x41, 16, BF16, F32, false, BF16},
	{VGPU_GFX11, 0x42, 16, F16, F16, false, F16},   {VGPU_GFX11, 0x43, 16, BF16, BF16, false, BF16},
	{VGPU_GFX11, 0x44, 16, I8, I32, false, I8},     {VGPU_GFX11, 0x45, 16, I4, I32, false, I4},
	{VGPU_GFX12, 0x40, 16, F16, F32, false, F16},   {VGPU_GFX12, 0x41, 16, BF16, F32, false, BF16},
	{VGPU_GFX12, 0x42, 16, F16, F16, false, F16},   {VGPU_GFX12, 0x43, 16, BF16, BF16, false, BF16},
	{VGPU_GFX12, 0x44, 16, I8, I32, false, I8},     {VGPU_GFX12, 0x45, 16, I4, I32, false, I4},
	{VGPU_GFX12, 0x46, 16, FP8, F32, false, FP8},   {VGPU_GFX12, 0x47, 16, FP8, F32, false, BF8},
	{VGPU_GFX12, 0x48, 16, BF8, F32, false, FP8},   {VGPU_GFX12, 0x49, 16, BF8, F32, false, BF8},
	{VGPU_GFX12, 0x4a, 32, I4, I32, false, I4},     {VGPU_GFX12, 0x50, 32, F16, F32, true, F16},
	{VGPU_GFX12, 0x51, 32, BF16, F32, true, BF16},  {VGPU_GFX12, 0x52, 32, F16, F16, true, F16},
	{VGPU_GFX12, 0x53, 32, BF16, BF16, true, BF16}, {VGPU_GFX12, 0x54, 32, I8, I32, true, I8},
	{VGPU_GFX12, 0x55, 32, I4, I32, true, I4},      {VGPU_GFX12, 0x56, 64, I4, I32, true, I4},
	{VGPU_GFX12, 0x57, 32, FP8, F32, true, FP8},    {VGPU_GFX12, 0x58, 32, FP8, F32, true, BF8},
	{VGPU_GFX12, 0x59, 32, BF8, F32, true, FP8},    {VGPU_GFX12, 0x5a, 32, BF8, F32, true, BF8},
};

static uint32_t v[ROWS][ISA_LANES] __attribute__((aligned(64)));
static int a[16][64], b[64][16], c[16][16]; /* a: as stored, where sparse */
static unsigned place[16][64];              /* of a stored element among its four */

static unsigned width_of(enum format f)
{
	return f == F32 || f == I32 ? 32 : f == F16 || f == BF16 ? 16 : f == I4 ? 4 : 8;
}

/* -2 to 2 in each format. FP8 1.0 is 0x38, 2.0 0x40; BF8 1.0 is 0x3c, 2.0 0x40. */
static uint32_t encode(int n, enum format f)
{
	static const uint8_t fp8[5] = {0xc0, 0xb8, 0, 0x38, 0x40}, bf8[5] = {0xc0, 0xbc, 0, 0x3c, 0x40};
	float value = (float)n;
	uint32_t bits;

	memcpy(&bits, &value, 4);
	switch (f) {
	case F32:
		return bits;
	case BF16:
		return bits >> 16;
	case F16:
		return half_from_float(value, HALF_NEAREST);
	case FP8:
		return fp8[n + 2];
	case BF8:
		return bf8[n + 2];
	default:
		return (uint32_t)n;
	}
}

static void put(unsigned row, unsigned lane, unsigned index, uint32_t bits, unsigned width)
{
	unsigned at = index * width;
	uint32_t mask = width == 32 ? ~0u : ((1u << width) - 1) << at % 32;
	uint32_t *d = &v[row + at / 32][lane];

	*d = (*d & ~mask) | (bits << at % 32 & mask);
}

static uint32_t get(unsigned row, unsigned lane, unsigned index, unsigned width)
{
	unsigned at = index * width;

	return v[row + at / 32][lane] >> at % 32 & (width == 32 ? ~0u : (1u << width) - 1);
}

/* The lane that has row m of column n. GFX11: rows go around the groups of 16 lanes, with a register for each; GFX12:
 * bits 3, or 2 and 3 of the row are the lane's number above 3:0, as RDNA 4's table writes it. */
static unsigned result_lane(const struct matrix *x, unsigned m, unsigned n, unsigned lanes)
{
	if (x->gfx == VGPU_GFX11)
		return n + 16 * (m % (lanes / 16));
	return n + (m >> 3 & 1) * 16 + (lanes == 64 ? (m >> 2 & 1) * 32 : 0);
}

static unsigned result_index(const struct matrix *x, unsigned m, unsigned lanes)
{
	unsigned groups = lanes / 16;

	if (x->gfx == VGPU_GFX11) /* 16-bit results leave the upper halves alone */
		return m / groups * (width_of(x->out) == 16 ? 2 : 1);
	return m % (16 / groups);
}

/* Groups of 16 lanes among which a row is shared out. GFX11: each has all. GFX12: 16 elements of 4 bits fill a register of 32
 * lanes. */
static unsigned groups_of(const struct matrix *x, unsigned count, enum format f, unsigned lanes)
{
	return x->gfx == VGPU_GFX11 ? 1 : count * width_of(f) < 2 * lanes ? 2 : lanes / 16;
}

/* The part that a lane has; of four groups the second has the third part. */
static unsigned part_at(unsigned lane, unsigned groups)
{
	return groups == 4 ? (lane >> 4 & 1) * 2 + lane / 32 : lane / 16 % groups;
}

static void lay_operand(const struct matrix *x, unsigned row, bool is_a, unsigned lanes)
{
	unsigned count = x->sparse && is_a ? x->k / 2 : x->k;
	enum format f = is_a ? x->in : x->b;
	unsigned groups = groups_of(x, count, f, lanes);
	unsigned used = x->gfx == VGPU_GFX11 ? lanes : 16 * groups, part = count / groups;

	for (unsigned lane = 0; lane < used; lane++)
		for (unsigned n = 0; n < part; n++) {
			unsigned k = part_at(lane, groups) * part + n;

			put(row, lane, n, encode(is_a ? a[lane % 16][k] : b[k][lane % 16], f), width_of(f));
		}
}

static unsigned stored_part(const struct matrix *x, unsigned lanes)
{
	return x->k / 2 / groups_of(x, x->k / 2, x->in, lanes);
}

/* Two bits for each stored element of the lane, in the part of the register that the key selects: 8 bits in waves of 64, but
 * 16 where a lane has 8 elements. Other parts have other places. */
static void lay_index(const struct matrix *x, unsigned lanes, unsigned key)
{
	unsigned part = stored_part(x, lanes), groups = x->k / 2 / part;

	for (unsigned lane = 0; lane < 16 * groups; lane++)
		for (unsigned n = 0; n < 16; n++) {
			unsigned right = place[lane % 16][part_at(lane, groups) * part + n % part];

			put(I_ROW, lane, n, n / part == key ? right : right ^ 1, 2);
		}
}

/* index_key of LLVM for gfx1200: two bits with 4 elements a lane, one with 8, none with 16. */
static unsigned keys_of(const struct matrix *x, unsigned lanes)
{
	return x->sparse ? 16 / stored_part(x, lanes) : 1;
}

static void lay_addend(const struct matrix *x, unsigned row, unsigned lanes)
{
	for (unsigned m = 0; m < 16; m++)
		for (unsigned n = 0; n < 16; n++)
			put(row, result_lane(x, m, n, lanes), result_index(x, m, lanes), encode(c[m][n], x->out),
			    width_of(x->out));
}

static int model(const struct matrix *x, unsigned m, unsigned n)
{
	int sum = c[m][n];

	for (unsigned k = 0; k < (x->sparse ? x->k / 2 : x->k); k++)
		sum += a[m][k] * b[x->sparse ? k / 2 * 4 + place[m][k] : k][n];
	return sum;
}

static void fill_matrices(void)
{
	static uint32_t seed = 1;

	for (unsigned m = 0; m < 16; m++)
		for (unsigned k = 0; k < 64; k++) {
			seed = seed * 1664525 + 1013904223;
			a[m][k] = (int)(seed >> 8 & 3) - 2;
			b[k][m] = (int)(seed >> 12 & 3) - 1;
			place[m][k] = k % 2 ? 2 + (seed >> 16 & 1) : seed >> 17 & 1;
		}
	for (unsigned m = 0; m < 16; m++)
		for (unsigned n = 0; n < 16; n++)
			c[m][n] = (int)(m * 3 + n) % 11 - 5;
}

static bool run_code(const struct matrix *x, bool wave32, unsigned key)
{
	static uint32_t code[16];
	struct vgpu_chip chip = {.gfx = x->gfx};
	struct gpuvm_region region = {CODE_VA, CODE_VA + sizeof(code), (uint8_t *)code, GPUVM_R | GPUVM_X, 1};
	struct gpuvm_view view = {1, &region};
	struct isa_machine machine = {.chip = &chip, .view = &view, .vgpr_count = ROWS, .wave32 = wave32};
	struct isa_group group = {.waves = 1};
	struct isa_wave wave = {.v = v, .group = &group, .machine = &machine, .mode = 0x1f0, .pc = CODE_VA};
	struct isa_cache *cache = isa_cache_create();
	unsigned src2 = x->sparse ? I_ROW : C_ROW;
	char why[128];
	bool ended;

	/* Result over the addend; NEG says that integers are signed. */
	code[0] = 0x198u << 23 | x->number << 16 | 1 << 14 | key << 11 | C_ROW;
	code[1] =
		(256 + A_ROW) | (256 + B_ROW) << 9 | (256 + src2) << 18 | 3u << 27 | (x->out == I32 ? 3u << 29 : 0);
	code[2] = 0xbfb00000;                  /* s_endpgm */
	isa_swrite64(&wave, ISA_EXEC, 0x5555); /* no effect */
	wave.program = isa_program_get(cache, &machine, CODE_VA, why, sizeof(why));
	ended = isa_run(&wave, 10) == ISA_ENDED;
	if (!ended)
		printf("  %s\n", wave.why);
	isa_cache_destroy(cache);
	return ended;
}

static void test_matrix(const struct matrix *x, bool wave32, unsigned key)
{
	unsigned lanes = wave32 ? 32 : 64, bad = 0;

	fill_matrices();
	memset(v, 0x77, sizeof(v));
	lay_operand(x, A_ROW, true, lanes);
	lay_operand(x, B_ROW, false, lanes);
	lay_addend(x, C_ROW, lanes);
	if (x->sparse)
		lay_index(x, lanes, key);
	CHECK(run_code(x, wave32, key));
	for (unsigned m = 0; m < 16; m++)
		for (unsigned n = 0; n < 16; n++)
			bad += get(C_ROW, result_lane(x, m, n, lanes), result_index(x, m, lanes),
				   width_of(x->out)) != encode(model(x, m, n), x->out);
	if (!CHECK_EQ(bad, 0))
		printf("  GFX%s, number 0x%x, wave%u, key %u\n", x->gfx == VGPU_GFX11 ? "11" : "12", x->number,
		       lanes, key);
	if (x->gfx == VGPU_GFX11 && width_of(x->out) == 16)
		CHECK_EQ(v[C_ROW][0] >> 16, 0x7777);
}

int main(void)
{
	for (unsigned n = 0; n < sizeof(matrices) / sizeof(matrices[0]); n++)
		for (unsigned lanes = 32; lanes <= 64; lanes += 32)
			for (unsigned key = 0; key < keys_of(&matrices[n], lanes); key++)
				test_matrix(&matrices[n], lanes == 32, key);
	return check_done("matrices of GFX11 and GFX12");
}
