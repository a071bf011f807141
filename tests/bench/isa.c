/* Speed of the virtual GPU's execution of machine code, on one core: operations that the program itself names (an
 * addition, a fused multiply-add, a load), per second. Address arithmetic, loop control and scalar instructions are
 * not counted, so each figure is a lower bound of lane-operations. Times are the process's on this machine's
 * processor, so that other processes disturb them little; no test depends on them. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/stack.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob demo_blobs[];

#define RUNS 5

static struct stack s;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static void report(const char *what, double operations, const struct stack_launch *launch)
{
	double best = 1e9;

	for (unsigned i = 0; i < RUNS; i++) {
		double start = now_s();

		if (stack_run(&s, launch)) {
			printf("%s: %s\n", what, drv_error_last()->text);
			exit(1);
		}
		if (now_s() - start < best)
			best = now_s() - start;
	}
	printf("%-44s %8.1f ms %8.2f G operations/s\n", what, best * 1e3, operations / best * 1e-9);
}

static struct cs_code *load(const struct shader_blob *blobs, const char *name)
{
	const struct shader_blob *blob = shader_find(blobs, name, s.dev->chip->target);
	struct cs_code *code;

	if (!blob || cs_code_load(s.vm, blob->image, blob->size_B, NULL, &code))
		exit(1);
	return code;
}

static void vadd(struct cs_code *code, const struct vm_mem *m)
{
	const uint32_t count = 1 << 20;
	struct {
		uint64_t c, a, b;
		uint32_t count;
	} args = {m->va, m->va + count * 4, m->va + count * 8, count};

	report("vadd, 1 M floats: 2 loads, add, store", 4.0 * count,
	       &(struct stack_launch){.code = code,
				      .kernel = "vadd",
				      .grid = {count},
				      .group = {256},
				      .args = &args,
				      .args_B = 28});
}

static void sgemm(struct cs_code *code, const struct vm_mem *m)
{
	const uint32_t n = 512;
	struct {
		uint64_t c, a, b;
		uint32_t n;
	} args = {m->va, m->va + n * n * 4, m->va + n * n * 8, n};

	memset(m->map, 0, n * n * 12);
	report("SGEMM 512^3, LDS tiles: fused multiply-adds", (double)n * n * n,
	       &(struct stack_launch){.code = code,
				      .kernel = "sgemm",
				      .grid = {n / 64 * 256, n / 64},
				      .group = {256},
				      .args = &args,
				      .args_B = 28});
}

static void mandelbrot(struct cs_code *code, const struct vm_mem *m)
{
	const uint32_t w = 512, h = 512;
	struct {
		uint64_t out;
		uint32_t width, height;
		float x0, y0, step;
		uint32_t limit;
	} args = {m->va, w, h, -2.0f, -1.25f, 2.5f / w, 256};
	struct stack_launch launch = {.code = code,
				      .kernel = "mandelbrot",
				      .grid = {w, h},
				      .group = {16, 16},
				      .args = &args,
				      .args_B = sizeof(args)};
	double iterations = 0;

	if (stack_run(&s, &launch))
		exit(1);
	for (uint32_t i = 0; i < w * h; i++)
		iterations += ((uint32_t *)m->map)[i];
	/* x x, y y, their sum, the comparison; difference, + cx, 2 x, times y, + cy */
	report("Mandelbrot 512 x 512: 9 a turn, divergent", 9 * iterations, &launch);
}

static void alu(struct cs_code *code, const struct vm_mem *m)
{
	const uint32_t items = 65536, turns = 1024;
	struct {
		uint64_t out;
		uint32_t turns;
	} args = {m->va, turns};

	report("ALU loop: 4 fused multiply-adds, 6 integer", 10.0 * items * turns,
	       &(struct stack_launch){.code = code,
				      .kernel = "b_alu",
				      .grid = {items},
				      .group = {256},
				      .args = &args,
				      .args_B = 12});
}

/* Waves have 64 lanes on gfx908, and 32 on the others. */
static void bench_chip(const char *chip)
{
	struct cs_code *demo, *bench;
	struct vm_mem *m;

	if (vgpu_start(chip) || stack_open(&s))
		exit(1);
	demo = load(demo_blobs, "demo.O3");
	bench = load(test_blobs, "bench.O3");
	m = stack_gtt(&s, 16 << 20);
	printf("the virtual %s on one core, best of %u\n", chip, RUNS);
	vadd(demo, m);
	sgemm(demo, m);
	mandelbrot(demo, m);
	alu(bench, m);
	vm_mem_destroy(m);
	cs_code_unload(demo);
	cs_code_unload(bench);
	stack_close(&s);
	vgpu_stop();
}

/* Chips by arguments, else one of each instruction set that is measured. */
int main(int argc, char **argv)
{
	static const char *const chips[] = {"gfx908", "gfx1030", "gfx1100"};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int n = 1; n < argc; n++)
		bench_chip(argv[n]);
	for (unsigned n = 0; argc < 2 && n < sizeof(chips) / sizeof(*chips); n++)
		bench_chip(chips[n]);
	return 0;
}
