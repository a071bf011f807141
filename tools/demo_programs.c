/* The demo's programs: each prepares data, runs on the GPU, and compares every result with the CPU's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/demo.h"

#define GROUP 256
static const uint32_t line_group[3] = {GROUP, 1, 1};

static uint32_t random_next(uint32_t *state)
{
	/* xorshift32: the same numbers on every machine */
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static uint32_t round_up(uint32_t value, uint32_t to)
{
	return (value + to - 1) / to * to;
}

/* Host and GPU copies of up to three arrays, made and freed together. */
struct arrays {
	unsigned count;
	uint64_t size_B[3];
	void *host[3];
	struct demo_memory gpu[3];
};

static int arrays_make(struct demo *d, struct arrays *a)
{
	int r = 0;

	for (unsigned i = 0; !r && i < a->count; i++) {
		a->host[i] = malloc(a->size_B[i]);
		if (!a->host[i])
			return -ENOMEM;
		r = demo_alloc(d, a->size_B[i], TUFF_VRAM, &a->gpu[i]);
	}
	return r;
}

static void arrays_free(struct arrays *a)
{
	for (unsigned i = 0; i < a->count; i++) {
		free(a->host[i]);
		demo_free(&a->gpu[i]);
	}
}

static int buffer_upload(struct demo *d, struct arrays *a, unsigned i)
{
	return demo_copy(d, a->gpu[i].va, a->host[i], a->size_B[i]);
}

static int buffer_download(struct demo *d, struct arrays *a, unsigned i)
{
	return demo_copy(d, a->host[i], a->gpu[i].va, a->size_B[i]);
}

/* --- vector add ------------------------------------------------------------------------------- */

#define VADD_COUNT (16u << 20)

void demo_vadd(struct demo *d)
{
	const uint32_t grid[3] = {VADD_COUNT, 1, 1};
	struct arrays m = {.count = 3, .size_B = {VADD_COUNT * 4, VADD_COUNT * 4, VADD_COUNT * 4}};
	uint32_t seed = 1;
	bool right = true;
	int r = arrays_make(d, &m);
	float *a = m.host[0], *b = m.host[1], *c = m.host[2];

	for (uint32_t i = 0; !r && i < VADD_COUNT; i++) {
		a[i] = random_next(&seed) * 1e-3f;
		b[i] = random_next(&seed) * 1e-9f;
	}
	r = r ? r : buffer_upload(d, &m, 0);
	r = r ? r : buffer_upload(d, &m, 1);
	if (!r) {
		struct {
			void *c, *a, *b;
			uint32_t count;
		} args = {m.gpu[2].va, m.gpu[0].va, m.gpu[1].va, VADD_COUNT};

		r = demo_launch(d, "vadd", grid, line_group, &args, 28);
	}
	r = r ? r : buffer_download(d, &m, 2);
	for (uint32_t i = 0; !r && i < VADD_COUNT; i++)
		right &= c[i] == a[i] + b[i];
	demo_report(d, "vector add", "16 M floats", r, right);
	arrays_free(&m);
}

/* --- SGEMM ------------------------------------------------------------------------------------ */

#define GEMM_N    512
#define GEMM_TILE 64

/* Small whole numbers: every sum is exact in any order. */
static void gemm_fill(float *m, uint32_t seed)
{
	for (uint32_t i = 0; i < GEMM_N * GEMM_N; i++)
		m[i] = (float)(random_next(&seed) % 17) - 8;
}

static bool gemm_check(const float *a, const float *b, const float *c)
{
	static float row[GEMM_N];

	for (uint32_t i = 0; i < GEMM_N; i++) {
		memset(row, 0, sizeof(row));
		for (uint32_t k = 0; k < GEMM_N; k++)
			for (uint32_t j = 0; j < GEMM_N; j++)
				row[j] += a[i * GEMM_N + k] * b[k * GEMM_N + j];
		if (memcmp(row, c + i * GEMM_N, sizeof(row)))
			return false;
	}
	return true;
}

void demo_sgemm(struct demo *d)
{
	const uint64_t size_B = GEMM_N * GEMM_N * 4;
	const uint32_t grid[3] = {GEMM_N / GEMM_TILE * GROUP, GEMM_N / GEMM_TILE, 1};
	struct arrays m = {.count = 3, .size_B = {size_B, size_B, size_B}};
	int r = arrays_make(d, &m);

	if (!r) {
		gemm_fill(m.host[0], 2);
		gemm_fill(m.host[1], 3);
		r = buffer_upload(d, &m, 0);
	}
	r = r ? r : buffer_upload(d, &m, 1);
	if (!r) {
		struct {
			void *c, *a, *b;
			uint32_t n;
		} args = {m.gpu[2].va, m.gpu[0].va, m.gpu[1].va, GEMM_N};

		r = demo_launch(d, "sgemm", grid, line_group, &args, 28);
	}
	r = r ? r : buffer_download(d, &m, 2);
	demo_report(d, "SGEMM", "512 x 512 x 512, LDS tiles", r, !r && gemm_check(m.host[0], m.host[1], m.host[2]));
	arrays_free(&m);
}

/* --- reduction -------------------------------------------------------------------------------- */

#define REDUCE_COUNT (16u << 20)
#define REDUCE_SHARE (GROUP * 16) /* elements of one workgroup */

/* Sums gpu[0] and gpu[1] in turn until one number is left; *at is the index of its array. */
static int reduce_all(struct demo *d, struct arrays *m, unsigned *at)
{
	uint32_t count = REDUCE_COUNT;
	int r = 0;

	*at = 0;
	while (!r && count > 1) {
		uint32_t groups = (count + REDUCE_SHARE - 1) / REDUCE_SHARE;
		const uint32_t grid[3] = {groups * GROUP, 1, 1};
		struct {
			void *out, *in;
			uint32_t count;
		} args = {m->gpu[!*at].va, m->gpu[*at].va, count};

		r = demo_launch(d, "reduce", grid, line_group, &args, 20);
		count = groups;
		*at = !*at;
	}
	return r;
}

void demo_reduce(struct demo *d)
{
	struct arrays m = {.count = 2, .size_B = {REDUCE_COUNT * 4ull, REDUCE_COUNT / REDUCE_SHARE * 4ull}};
	uint32_t seed = 4, sum = 0, result = 0;
	unsigned at;
	int r = arrays_make(d, &m);

	for (uint32_t i = 0; !r && i < REDUCE_COUNT; i++)
		sum += ((uint32_t *)m.host[0])[i] = random_next(&seed);
	r = r ? r : buffer_upload(d, &m, 0);
	r = r ? r : reduce_all(d, &m, &at);
	if (!r)
		r = demo_copy(d, &result, m.gpu[at].va, sizeof(result));
	demo_report(d, "reduction", "16 M integers, LDS tree", r, result == sum);
	arrays_free(&m);
}

/* --- histogram -------------------------------------------------------------------------------- */

#define HIST_COUNT (16u << 20)
#define HIST_EACH  64

void demo_histogram(struct demo *d)
{
	struct arrays m = {.count = 2, .size_B = {HIST_COUNT, 256 * 4}};
	const uint32_t grid[3] = {HIST_COUNT / HIST_EACH, 1, 1};
	uint32_t seed = 5, expected[256] = {0};
	int r = arrays_make(d, &m);

	for (uint32_t i = 0; !r && i < HIST_COUNT; i++) {
		uint32_t n = random_next(&seed);

		/* Uneven on purpose: bins near 0 are hit most. */
		expected[((uint8_t *)m.host[0])[i] = (n & 0xff) * (n >> 8 & 0xff) >> 8]++;
	}
	r = r ? r : buffer_upload(d, &m, 0);
	if (!r) {
		struct {
			void *bins, *in;
			uint32_t count, each;
		} args = {m.gpu[1].va, m.gpu[0].va, HIST_COUNT, HIST_EACH};

		r = demo_fill(d, m.gpu[1].va, 0, m.size_B[1]);
		r = r ? r : demo_launch(d, "histogram", grid, line_group, &args, sizeof(args));
	}
	r = r ? r : buffer_download(d, &m, 1);
	demo_report(d, "histogram", "16 M bytes, LDS and memory atomics", r,
		    !r && !memcmp(m.host[1], expected, sizeof(expected)));
	arrays_free(&m);
}

/* --- Mandelbrot ------------------------------------------------------------------------------- */

#define MANDEL_W     1024
#define MANDEL_H     768
#define MANDEL_LIMIT 512

static const struct {
	float x0, y0, step;
} view = {-2.2f, -1.2f, 3.2f / MANDEL_W};

static uint32_t mandel_pixel(uint32_t i, uint32_t j)
{
	float cx = view.x0 + view.step * (float)i, cy = view.y0 + view.step * (float)j, x = 0, y = 0;
	uint32_t n = 0;

	while (n < MANDEL_LIMIT && x * x + y * y <= 4.0f) {
		float next = x * x - y * y + cx;

		y = 2.0f * x * y + cy;
		x = next;
		n++;
	}
	return n;
}

static int mandel_picture(const char *path, const uint32_t *count)
{
	uint8_t *rgb = malloc(MANDEL_W * MANDEL_H * 3);
	int r;

	if (!rgb)
		return -ENOMEM;
	for (uint32_t i = 0; i < MANDEL_W * MANDEL_H; i++) {
		uint32_t n = count[i] == MANDEL_LIMIT ? 0 : count[i];

		rgb[3 * i] = n * 3 > 255 ? 255 : n * 3;
		rgb[3 * i + 1] = n * 7 > 255 ? 255 : n * 7;
		rgb[3 * i + 2] = n ? (60 + n * 12 > 255 ? 255 : 60 + n * 12) : 0;
	}
	r = png_write(path, MANDEL_W, MANDEL_H, rgb);
	free(rgb);
	return r;
}

void demo_mandelbrot(struct demo *d)
{
	struct arrays m = {.count = 1, .size_B = {MANDEL_W * MANDEL_H * 4}};
	const uint32_t grid[3] = {round_up(MANDEL_W, 16), round_up(MANDEL_H, 16), 1}, group[3] = {16, 16, 1};
	char what[96];
	bool right = true;
	int r = arrays_make(d, &m);

	if (!r) {
		struct {
			void *out;
			uint32_t width, height;
			float x0, y0, step;
			uint32_t limit;
		} args = {m.gpu[0].va, MANDEL_W, MANDEL_H, view.x0, view.y0, view.step, MANDEL_LIMIT};

		r = demo_launch(d, "mandelbrot", grid, group, &args, sizeof(args));
	}
	r = r ? r : buffer_download(d, &m, 0);
	for (uint32_t i = 0; !r && i < MANDEL_W * MANDEL_H; i++)
		right &= ((uint32_t *)m.host[0])[i] == mandel_pixel(i % MANDEL_W, i / MANDEL_W);
	if (!r && d->picture)
		r = mandel_picture(d->picture, m.host[0]);
	snprintf(what, sizeof(what), "%u x %u, %u iterations%s%s", MANDEL_W, MANDEL_H, MANDEL_LIMIT,
		 d->picture ? ", " : "", d->picture ? d->picture : "");
	demo_report(d, "Mandelbrot", what, r, right);
	arrays_free(&m);
}
