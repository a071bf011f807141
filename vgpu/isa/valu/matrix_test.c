/* Matrix instructions against a model of their own: matrices of small integers, which every format holds exactly,
 * laid into registers as AMD's matrix instruction calculator shows it, multiplied in plain loops.
 *
 * The model goes by lane and register, the lane functions by row and column. */
#include <stdlib.h>

#include "tests/check.h"
#include "vgpu/isa/decode/decode.h"

#define CODE_VA 0x100000ull
#define ROWS    256

enum format { F32, F64, F16, BF16, I8, FP8, BF8, XF32 };

struct matrix {
	enum vgpu_gfx gfx;
	uint8_t number; /* in VOP3P */
	uint8_t m, blocks, k;
	enum format a, b;
	bool sparse;
};

/* Numbers as LLVM's disassembler has them (decode_test.c asks it). */
static const struct matrix matrices[] = {
	{VGPU_GFX90A, 0x40, 32, 2, 1, F32, F32},
	{VGPU_GFX90A, 0x41, 16, 4, 1, F32, F32},
	{VGPU_GFX90A, 0x42, 4, 16, 1, F32, F32},
	{VGPU_GFX90A, 0x44, 32, 1, 2, F32, F32},
	{VGPU_GFX90A, 0x45, 16, 1, 4, F32, F32},
	{VGPU_GFX90A, 0x48, 32, 2, 4, F16, F16},
	{VGPU_GFX90A, 0x49, 16, 4, 4, F16, F16},
	{VGPU_GFX90A, 0x4a, 4, 16, 4, F16, F16},
	{VGPU_GFX90A, 0x4c, 32, 1, 8, F16, F16},
	{VGPU_GFX90A, 0x4d, 16, 1, 16, F16, F16},
	{VGPU_GFX90A, 0x50, 32, 2, 4, I8, I8},
	{VGPU_GFX90A, 0x51, 16, 4, 4, I8, I8},
	{VGPU_GFX90A, 0x52, 4, 16, 4, I8, I8},
	{VGPU_GFX90A, 0x54, 32, 1, 8, I8, I8},
	{VGPU_GFX90A, 0x55, 16, 1, 16, I8, I8},
	{VGPU_GFX90A, 0x63, 32, 2, 4, BF16, BF16},
	{VGPU_GFX90A, 0x64, 16, 4, 4, BF16, BF16},
	{VGPU_GFX90A, 0x65, 4, 16, 4, BF16, BF16},
	{VGPU_GFX90A, 0x66, 32, 1, 8, BF16, BF16},
	{VGPU_GFX90A, 0x67, 16, 1, 16, BF16, BF16},
	{VGPU_GFX90A, 0x68, 32, 2, 2, BF16, BF16},
	{VGPU_GFX90A, 0x6c, 32, 1, 4, BF16, BF16},
	{VGPU_GFX942, 0x40, 32, 2, 1, F32, F32},
	{VGPU_GFX942, 0x4c, 32, 1, 8, F16, F16},
	{VGPU_GFX942, 0x4d, 16, 1, 16, F16, F16},
	{VGPU_GFX942, 0x3e, 16, 1, 8, XF32, XF32},
	{VGPU_GFX942, 0x3f, 32, 1, 4, XF32, XF32},
	{VGPU_GFX942, 0x52, 4, 16, 4, I8, I8},
	{VGPU_GFX942, 0x56, 32, 1, 16, I8, I8},
	{VGPU_GFX942, 0x57, 16, 1, 32, I8, I8},
	{VGPU_GFX942, 0x5d, 32, 2, 4, BF16, BF16},
	{VGPU_GFX942, 0x5e, 16, 4, 4, BF16, BF16},
	{VGPU_GFX942, 0x5f, 4, 16, 4, BF16, BF16},
	{VGPU_GFX942, 0x60, 32, 1, 8, BF16, BF16},
	{VGPU_GFX942, 0x61, 16, 1, 16, BF16, BF16},
	{VGPU_GFX942, 0x70, 16, 1, 32, BF8, BF8},
	{VGPU_GFX942, 0x71, 16, 1, 32, BF8, FP8},
	{VGPU_GFX942, 0x72, 16, 1, 32, FP8, BF8},
	{VGPU_GFX942, 0x73, 16, 1, 32, FP8, FP8},
	{VGPU_GFX942, 0x74, 32, 1, 16, BF8, BF8},
	{VGPU_GFX942, 0x75, 32, 1, 16, BF8, FP8},
	{VGPU_GFX942, 0x76, 32, 1, 16, FP8, BF8},
	{VGPU_GFX942, 0x77, 32, 1, 16, FP8, FP8},
	{VGPU_GFX942, 0x62, 16, 1, 32, F16, F16, true},
	{VGPU_GFX942, 0x64, 32, 1, 16, F16, F16, true},
	{VGPU_GFX942, 0x66, 16, 1, 32, BF16, BF16, true},
	{VGPU_GFX942, 0x68, 32, 1, 16, BF16, BF16, true},
	{VGPU_GFX942, 0x6a, 16, 1, 64, I8, I8, true},
	{VGPU_GFX942, 0x6c, 32, 1, 32, I8, I8, true},
	{VGPU_GFX942, 0x78, 16, 1, 64, BF8, BF8, true},
	{VGPU_GFX942, 0x79, 16, 1, 64, BF8, FP8, true},
	{VGPU_GFX942, 0x7a, 16, 1, 64, FP8, BF8, true},
	{VGPU_GFX942, 0x7b, 16, 1, 64, FP8, FP8, true},
	{VGPU_GFX942, 0x7c, 32, 1, 32, BF8, BF8, true},
	{VGPU_GFX942, 0x7d, 32, 1, 32, BF8, FP8, true},
	{VGPU_GFX942, 0x7e, 32, 1, 32, FP8, BF8, true},
	{VGPU_GFX942, 0x7f, 32, 1, 32, FP8, FP8, true},
};

/* --- formats --- */

static unsigned bits_of(enum format f)
{
	static const uint8_t bits[] = {
		[F32] = 32, [F64] = 64, [F16] = 16, [BF16] = 16, [I8] = 8, [FP8] = 8, [BF8] = 8, [XF32] = 32};

	return bits[f];
}

/* The code of an integer from -3 to 3. */
static bool ocp; /* which 8-bit floats */

static uint32_t encode(enum format f, int value)
{
	static const uint32_t positive_ocp[][4] = {[FP8] = {0, 0x38, 0x40, 0x44}, [BF8] = {0, 0x3c, 0x40, 0x42}};
	static const uint32_t positive[][4] = {
		[F32] = {0, 0x3f800000, 0x40000000, 0x40400000},
		[XF32] = {0, 0x3f800000, 0x40000000, 0x40400000},
		[F16] = {0, 0x3c00, 0x4000, 0x4200},
		[BF16] = {0, 0x3f80, 0x4000, 0x4040},
		[FP8] = {0, 0x40, 0x48, 0x4c},
		[BF8] = {0, 0x40, 0x44, 0x46},
	};

	if (f == I8)
		return (uint8_t)value;
	if (ocp && (f == FP8 || f == BF8))
		return positive_ocp[f][abs(value)] | (value < 0 ? 0x80 : 0);
	return positive[f][abs(value)] | (value < 0 ? 1u << (bits_of(f) - 1) : 0);
}

static int small(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (int)(seed >> 33) % 7 - 3;
}

/* --- a wave --- */

struct rig {
	struct vgpu_chip chip;
	struct gpuvm_region region;
	struct gpuvm_view view;
	struct isa_machine machine;
	struct isa_group group;
	struct isa_wave wave;
	uint32_t v[ROWS][ISA_LANES] __attribute__((aligned(64)));
	uint32_t code[16 + 256]; /* and the 1,024 bytes that are fetched behind it */
};

/* Registers: source 0, source 1, index, addend and result. */
enum { A_ROW = 0, B_ROW = 16, INDEX_ROW = 32, C_ROW = 64, D_ROW = 128 };

static void put(struct rig *r, unsigned row, unsigned lane, unsigned at, enum format f, int value)
{
	unsigned bit = at * bits_of(f);

	r->v[row + bit / 32][lane] |= encode(f, value) << bit % 32;
}

/* Elements of one matrix that a lane holds: consecutive k, as many as its share of M x K x blocks. */
static unsigned per_lane(const struct matrix *x, bool compressed)
{
	unsigned k = compressed ? x->k / 2 : x->k;

	return x->m * k * x->blocks / ISA_LANES;
}

static int dense_a[16][32][64], dense_b[16][64][32]; /* [block][i][k], [block][k][j] */

static void fill_dense(struct rig *r, const struct matrix *x)
{
	unsigned share = per_lane(x, false);

	for (unsigned lane = 0; lane < ISA_LANES; lane++)
		for (unsigned e = 0; e < share; e++) {
			unsigned i = lane % x->m, block = lane / x->m % x->blocks;
			unsigned k = lane / x->m / x->blocks * share + e;

			dense_b[block][k][i] = small();
			put(r, B_ROW, lane, e, x->b, dense_b[block][k][i]);
			if (x->sparse)
				continue;
			dense_a[block][i][k] = small();
			put(r, A_ROW, lane, e, x->a, dense_a[block][i][k]);
		}
}

/* Two of each four neighbours, in set `set` of the index register. */
static void fill_sparse(struct rig *r, const struct matrix *x, unsigned set)
{
	static const uint8_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
	unsigned share = per_lane(x, true);

	memset(dense_a, 0, sizeof(dense_a));
	for (unsigned lane = 0; lane < ISA_LANES; lane++) {
		r->v[INDEX_ROW][lane] = 0x1b1b1b1b & ~(((1u << 2 * share) - 1) << set * 2 * share);
		for (unsigned four = 0; four < share / 2; four++) {
			const uint8_t *pair = pairs[(unsigned)(small() + 3) % 6];

			for (unsigned n = 0; n < 2; n++) {
				unsigned e = 2 * four + n, k = lane / x->m * 2 * share + 4 * four + pair[n];

				dense_a[0][lane % x->m][k] = small();
				put(r, A_ROW, lane, e, x->a, dense_a[0][lane % x->m][k]);
				r->v[INDEX_ROW][lane] |= (uint32_t)pair[n] << (set * 2 * share + 2 * e);
			}
		}
	}
}

/* Which element a lane's register of the result is. */
static void result_place(const struct matrix *x, unsigned lane, unsigned row, unsigned *block, unsigned *i,
			 unsigned *j)
{
	*j = lane % x->m;
	switch (x->m) {
	case 32:
		*block = row / 16;
		*i = row % 16 / 4 * 8 + lane / 32 * 4 + row % 4;
		break;
	case 16:
		*block = row / 4;
		*i = lane / 16 * 4 + row % 4;
		break;
	default:
		*block = lane / 4;
		*i = row;
		break;
	}
}

static uint32_t number(const struct matrix *x, int value)
{
	float f = (float)value;
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return x->a == I8 ? (uint32_t)value : bits;
}

static uint64_t no_clock(void *user)
{
	(void)user;
	return 0;
}

static void rig_init(struct rig *r, enum vgpu_gfx gfx)
{
	memset(r, 0, sizeof(*r));
	r->chip.gfx = gfx;
	r->region =
		(struct gpuvm_region){CODE_VA, CODE_VA + sizeof(r->code), (uint8_t *)r->code, GPUVM_R | GPUVM_X, 1};
	r->view = (struct gpuvm_view){1, &r->region};
	r->machine = (struct isa_machine){
		.chip = &r->chip, .view = &r->view, .clock = no_clock, .vgpr_count = ROWS, .accum_offset = ROWS};
	r->group.waves = 1;
	r->wave.v = r->v;
	r->wave.group = &r->group;
	r->wave.machine = &r->machine;
	r->wave.mode = 0x3f0 | (ocp ? 0 : ISA_MODE_F8_FNUZ);
}

/* cbsz and abid: of sparse matrices, which set of indices. */
static void run(struct rig *r, const struct matrix *x, unsigned cbsz, unsigned abid)
{
	struct isa_cache *cache = isa_cache_create();
	unsigned addend = x->sparse ? INDEX_ROW : C_ROW, result = x->sparse ? C_ROW : D_ROW;
	char why[512] = "";

	r->code[0] = 0x1a7u << 23 | (uint32_t)x->number << 16 | abid << 11 | cbsz << 8 | result;
	r->code[1] = (256 + A_ROW) | (256 + B_ROW) << 9 | (256 + addend) << 18;
	r->code[2] = 0xbf810000; /* s_endpgm */
	r->wave.pc = CODE_VA;
	r->wave.program = isa_program_get(cache, &r->machine, CODE_VA, why, sizeof(why));
	if (!CHECK_EQ(isa_run(&r->wave, 100), ISA_ENDED))
		printf("  %s\n", r->wave.why);
	isa_cache_destroy(cache);
}

static void multiplies(const struct matrix *x, unsigned cbsz, unsigned abid)
{
	unsigned rows = x->m * x->m * x->blocks / ISA_LANES, bad = 0, block, i, j;
	unsigned result = x->sparse ? C_ROW : D_ROW;
	static struct rig r;
	int addend[32][ISA_LANES];

	rig_init(&r, x->gfx);
	fill_dense(&r, x);
	if (x->sparse)
		fill_sparse(&r, x, cbsz ? 0 : abid % (16 / per_lane(x, true)));
	for (unsigned row = 0; row < rows; row++)
		for (unsigned lane = 0; lane < ISA_LANES; lane++) {
			addend[row][lane] = small();
			r.v[C_ROW + row][lane] = number(x, addend[row][lane]);
		}
	run(&r, x, cbsz, abid);
	for (unsigned row = 0; row < rows; row++)
		for (unsigned lane = 0; lane < ISA_LANES; lane++) {
			int sum = addend[row][lane];

			result_place(x, lane, row, &block, &i, &j);
			for (unsigned k = 0; k < x->k; k++)
				sum += dense_a[block][i][k] * dense_b[block][k][j];
			bad += r.v[result + row][lane] != number(x, sum);
		}
	if (!CHECK_EQ(bad, 0))
		printf("  chip %d, number 0x%02x, cbsz %u, abid %u\n", x->gfx, x->number, cbsz, abid);
}

static void all_multiply(void)
{
	for (unsigned n = 0; n < sizeof(matrices) / sizeof(matrices[0]); n++) {
		multiplies(&matrices[n], 0, 0);
		if (!matrices[n].sparse)
			continue;
		multiplies(&matrices[n], 0, 1);
		multiplies(&matrices[n], 0, 3);
		multiplies(&matrices[n], 1, 1); /* CBSZ makes ABID void */
	}
}

/* row 170: 8-bit floats are of two families. */
int main(void)
{
	all_multiply();
	ocp = true;
	all_multiply();
	return check_done("matrices");
}
