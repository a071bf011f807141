/* Probes of arithmetic that no manual describes. */
#include <math.h>
#include <stdlib.h>

#include "tests/device/probe.h"

#define N 16

static bool is(const char *target)
{
	return !strcmp(test_info()->target, target);
}

static void run_wave(const char *kernel, const void *args, uint32_t args_B)
{
	struct tuff_dispatch d = {.kernel = test_kernel("probe", 3, kernel), .grid = {64}, .group = {64}};

	d.args = args;
	d.args_B = args_B;
	if (!CHECK_OK(test_run(&d)))
		test_fail("%s cannot be run", kernel);
}

/* --- 21: the order of a matrix sum -------------------------------------------------------------- */

/* How sixteen products and an addend may be summed. */
struct order {
	const char *name;
	unsigned group; /* products that are added at once, exactly */
	bool tree;      /* products in pairs of pairs, the addend last */
	bool reverse;   /* from the last k to the first */
	bool truncate;  /* rounds to zero instead of to nearest */
};

static const struct order orders[] = {
	{"one after the other", 1, .tree = false},
	{"two at a time", 2, .tree = false},
	{"four at a time", 4, .tree = false},
	{"eight at a time", 8, .tree = false},
	{"all at once", 16, .tree = false},
	{"one after the other, last k first", 1, .reverse = true},
	{"four at a time, last k first", 4, .reverse = true},
	{"one after the other, truncated", 1, .truncate = true},
	{"four at a time, truncated", 4, .truncate = true},
	{"all at once, truncated", 16, .truncate = true},
	{"as a tree of pairs, the addend last", 1, .tree = true},
};

#define ORDERS (sizeof(orders) / sizeof(orders[0]))

static float narrow(double x, bool truncate)
{
	float f = (float)x;

	return truncate && fabs((double)f) > fabs(x) ? nextafterf(f, 0) : f;
}

/* The products fit a double exactly, and so do sums of them: exponents are small. */
static float sum_in(const struct order *o, const double *product, float addend)
{
	double tree[N];
	float sum = addend;

	if (o->tree) {
		memcpy(tree, product, sizeof(tree));
		for (unsigned n = N / 2; n; n /= 2)
			for (unsigned i = 0; i < n; i++)
				tree[i] = narrow(tree[2 * i] + tree[2 * i + 1], false);
		return narrow(addend + tree[0], false);
	}
	for (unsigned k = 0; k < N; k += o->group) {
		double part = 0;

		for (unsigned i = 0; i < o->group; i++)
			part += product[o->reverse ? N - 1 - k - i : k + i];
		sum = narrow(sum + part, o->truncate);
	}
	return sum;
}

/* A half of random sign and mantissa, 2^-6 to 2^6. */
static uint16_t random_half(uint64_t *seed, double *value)
{
	uint64_t r = test_random(seed);
	int exponent = (int)(r >> 20 & 0xff) % 13 - 6;
	uint16_t mantissa = r & 0x3ff, sign = r >> 12 & 1;

	*value = ldexp(1024 + mantissa, exponent - 10) * (sign ? -1 : 1);
	return (uint16_t)(sign << 15 | (exponent + 15) << 10 | mantissa);
}

struct matrices {
	double a[N][N], b[N][N]; /* [row][k], [k][column] */
	float c[N][N];
};

/* Lane l has row (column) l % 16 and four ks from 4 * (l / 16) on; of the addend and result column l % 16 and four
 * rows from 4 * (l / 16) on. */
static void fill(struct matrices *m, uint16_t *a, uint16_t *b, float *c, uint64_t *seed)
{
	for (unsigned l = 0; l < 64; l++)
		for (unsigned e = 0; e < 4; e++) {
			unsigned k = 4 * (l / 16) + e;

			a[l * 4 + e] = random_half(seed, &m->a[l % 16][k]);
			b[l * 4 + e] = random_half(seed, &m->b[k][l % 16]);
			c[l * 4 + e] = ldexpf((float)(int32_t)(test_random(seed) >> 40), -20);
			m->c[k][l % 16] = c[l * 4 + e];
		}
}

/* Counts the sums that each order explains; shows the first that none does. */
static void explain(const struct matrices *m, const float *d, unsigned *agree, unsigned *none)
{
	for (unsigned i = 0; i < N; i++)
		for (unsigned j = 0; j < N; j++) {
			float got = d[(16 * (i / 4) + j) * 4 + i % 4];
			double product[N];
			bool explained = false;

			for (unsigned k = 0; k < N; k++)
				product[k] = m->a[i][k] * m->b[k][j];
			for (unsigned o = 0; o < ORDERS; o++) {
				bool same = sum_in(&orders[o], product, m->c[i][j]) == got;

				agree[o] += same;
				explained |= same;
			}
			if (!explained && (*none)++ < 4)
				for (unsigned k = 0; k < N; k++)
					test_note("  sum %u: product %2u %a, addend %a, result %a", *none, k,
						  product[k], (double)m->c[i][j], (double)got);
		}
}

static void matrix_sum(void)
{
	unsigned agree[ORDERS] = {0}, none = 0, best = 0, runs = 16;
	uint64_t seed = 0x7475666600000021;
	struct test_memory m;
	struct matrices values;
	uint64_t args[4];

	if (!is("gfx908") && !is("gfx90a") && !is("gfx942"))
		test_skip("%s has no matrix instructions that tuff knows", test_info()->target);
	probe_open();
	m = probe_words(4096);
	for (unsigned i = 0; i < 4; i++)
		args[i] = m.va + i * 1024;
	for (unsigned i = 0; i < runs; i++) {
		char *map = m.map;

		fill(&values, (uint16_t *)(map + 1024), (uint16_t *)(map + 2048), (float *)(map + 3072), &seed);
		run_wave("k_probe_matrix", args, sizeof(args));
		explain(&values, m.map, agree, &none);
	}
	for (unsigned o = 0; o < ORDERS; o++) {
		test_note("%-36s explains %u of %u sums", orders[o].name, agree[o], runs * N * N);
		best = agree[o] > agree[best] ? o : best;
	}
	test_note(
		"ANSWER 21: %s: v_mfma_f32_16x16x16f16 adds its products %s%s; %u of %u sums follow none of these "
		"orders",
		test_info()->target,
		agree[best] == runs * N * N ? "" : "in no order tried here; the nearest is: ", orders[best].name,
		none, runs * N * N);
	probe_close();
}

/* --- 22: XF32 ----------------------------------------------------------------------------------- */

static float from_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

static uint32_t to_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

static void xf32(void)
{
	static const uint32_t in[N] = {0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f801fff, 0x3f802fff,
				       0x3f803000, 0x3f803001, 0x3f805000, 0x3f807000, 0x3fffffff, 0xbf801000,
				       0xbf803000, 0xbf801fff, 0x00001000, 0x7f7fffff};
	unsigned even = 0, away = 0, cut = 0, whole = 0;
	struct test_memory m;
	uint64_t args[3];
	float *d, *a, *b;

	if (!is("gfx942"))
		test_skip("about gfx942, this is %s", test_info()->target);
	probe_open();
	m = probe_words(4096);
	d = m.map;
	a = d + 256;
	b = d + 512;
	for (unsigned i = 0; i < 3; i++)
		args[i] = m.va + i * 1024;
	/* Column k = 0 of A times a row of ones: each row's sum is one element of A. */
	for (unsigned i = 0; i < N; i++) {
		a[2 * i] = from_bits(in[i]);
		b[2 * i] = 1;
	}
	run_wave("k_probe_xf32", args, sizeof(args));
	for (unsigned i = 0; i < N; i++) {
		uint32_t got = to_bits(d[16 * (i / 4) * 4 + i % 4]), x = in[i];

		test_note("0x%08x * 1 = 0x%08x", x, got);
		even += got == ((x + 0xfff + (x >> 13 & 1)) & ~0x1fffu);
		away += got == ((x + 0x1000) & ~0x1fffu);
		cut += got == (x & ~0x1fffu);
		whole += got == x;
	}
	test_note(
		"ANSWER 22: gfx942: XF32 elements, of %u: rounded to nearest even %u, to nearest away %u, truncated "
		"%u, not rounded %u",
		N, even, away, cut, whole);
	probe_close();
}

/* --- 23: fp8 that overflows --------------------------------------------------------------------- */

static void fp8_overflow(void)
{
	static const uint32_t in[] = {0x43600000, 0x43680000, 0x43700000, 0x43700001, 0x43800000, 0x47600000,
				      0x47680000, 0x47700000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0xc3800000,
				      0xff800000, 0x80000000, 0x33000000, 0x3a000000};
	const unsigned count = sizeof(in) / sizeof(in[0]);
	struct test_memory m;
	const uint32_t *out;
	uint64_t args[2];

	if (!is("gfx942"))
		test_skip("about gfx942, this is %s", test_info()->target);
	probe_open();
	m = probe_words(4096);
	out = m.map;
	args[0] = m.va;
	args[1] = m.va + 1024;
	memcpy((char *)m.map + 1024, in, sizeof(in));
	run_wave("k_probe_fp8", args, sizeof(args));
	for (unsigned i = 0; i < count; i++)
		test_note("ANSWER 23: gfx942, FP16_OVFL 0: %-12g (0x%08x) becomes fp8 0x%02x, bf8 0x%02x",
			  (double)from_bits(in[i]), in[i], out[i] & 0xff, out[i] >> 8 & 0xff);
	CHECK(out[0] != 0);
	probe_close();
}

/* --- 28: the format of 8-bit floats ------------------------------------------------------------- */

/* 0x40 is 1 in FNUZ and 2 in OCP, 0x80 NaN and -0, 0x7f 240 and NaN. */
static void fp8_format(void)
{
	static const uint32_t in[] = {0x40, 0x38, 0x80, 0x7f};
	struct test_memory m;
	const float *converted, *d;
	uint64_t args[3];

	if (!is("gfx942"))
		test_skip("about gfx942, this is %s", test_info()->target);
	probe_open();
	m = probe_words(4096);
	converted = m.map;
	d = converted + 256;
	for (unsigned i = 0; i < 3; i++)
		args[i] = m.va + i * 1024;
	/* The results take 256 and 1024 bytes. */
	args[2] = m.va + 3072;
	memcpy((char *)m.map + 3072, in, sizeof(in));
	run_wave("k_probe_fp8_in", args, sizeof(args));
	for (unsigned i = 0; i < 4; i++)
		test_note("fp8 0x%02x: v_cvt_f32_fp8 gives %g, v_mfma_f32_16x16x32_fp8_fp8 gives %g for its square",
			  in[i], (double)converted[i], (double)d[(16 * (i / 4) + i) * 4 + i % 4]);
	test_note("ANSWER 28: gfx942: conversions take 8-bit floats for %s, matrix instructions for %s",
		  converted[0] == 1 && isnan(converted[2]) ? "FNUZ"
		  : converted[0] == 2                      ? "OCP"
							   : "neither FNUZ nor OCP",
		  d[0] == 1 && isnan(d[2 * 4 + 2]) ? "FNUZ"
		  : d[0] == 4                      ? "OCP"
						   : "neither FNUZ nor OCP");
	probe_close();
}

#define PROBE TEST_PROBE

const struct device_test tests_probe_math[] = {
	{"probe/21-matrix-sum", "in which order a matrix instruction adds", matrix_sum, PROBE},
	{"probe/22-xf32", "how XF32 rounds", xf32, PROBE},
	{"probe/23-fp8-overflow", "what becomes of numbers that an 8-bit float cannot hold", fp8_overflow, PROBE},
	{"probe/28-fp8-format", "whether 8-bit floats are FNUZ or OCP", fp8_format, PROBE},
	{NULL, NULL, NULL, 0},
};
