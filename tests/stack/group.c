/* Kernels about workgroups, waves, atomics, cross-lane operations, variables and scratch, on four chips and three
 * levels. */
#include <stdlib.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

struct context {
	struct stack s;
	struct cs_code *code;
	int level;
};

static bool run(struct context *c, struct stack_launch launch)
{
	launch.code = c->code;
	if (CHECK_EQ(stack_run(&c->s, &launch), 0))
		return true;
	printf("%s -O%d %s: %s\n", c->s.dev->chip->target, c->level, launch.kernel, drv_error_last()->text);
	return false;
}

static void ids_are_right_in_partial_groups(struct context *c)
{
	static const uint32_t grids[][3] = {{100, 1, 1}, {37, 5, 3}, {64, 4, 2}, {1, 1, 1}, {130, 2, 7}};
	static const uint32_t groups[][3] = {{64, 1, 1}, {16, 2, 2}, {32, 4, 1}, {256, 1, 1}, {128, 2, 4}};
	struct vm_mem *out = stack_gtt(&c->s, 130 * 2 * 7 * 16);

	for (unsigned t = 0; t < 5; t++) {
		const uint32_t *n = grids[t], *g = groups[t], *o = out->map;
		struct {
			uint64_t out;
			uint32_t nx, ny;
		} args = {out->va, n[0], n[1]};
		bool right = true;

		memset(out->map, 0xff, out->bo->size_B);
		if (!run(c, (struct stack_launch){.kernel = "k_ids",
						  .grid = {n[0], n[1], n[2]},
						  .group = {g[0], g[1], g[2]},
						  .args = &args,
						  .args_B = 16}))
			break;
		for (uint32_t z = 0; z < n[2]; z++)
			for (uint32_t y = 0; y < n[1]; y++)
				for (uint32_t x = 0; x < n[0]; x++, o += 4) {
					right &= o[0] == (x % g[0] | y % g[1] << 10 | z % g[2] << 20);
					right &= o[1] == (x / g[0] | y / g[1] << 10 | z / g[2] << 20);
					right &= o[2] == (n[0] | n[1] << 10 | n[2] << 20);
					/* HIP compiles for uniform grids: the size is that of a whole group. */
					right &= o[3] == (g[0] | g[1] << 10 | g[2] << 20);
				}
		if (!CHECK(right))
			printf("  grid %u x %u x %u on %s -O%d\n", n[0], n[1], n[2], c->s.dev->chip->target,
			       c->level);
	}
	vm_mem_destroy(out);
}

static void dynamic_lds_reverses(struct context *c)
{
	struct vm_mem *data = stack_gtt(&c->s, 4096);
	uint32_t *d = data->map;
	uint64_t args = data->va;
	bool right = true;

	for (unsigned i = 0; i < 1024; i++)
		d[i] = i;
	if (run(c, (struct stack_launch){.kernel = "k_reverse",
					 .grid = {1024},
					 .group = {256},
					 .dynamic_lds_B = 1024,
					 .args = &args,
					 .args_B = 8}))
		for (unsigned i = 0; i < 1024; i++)
			right &= d[i] == (i & ~255u) + 255 - (i & 255);
	CHECK(right);
	vm_mem_destroy(data);
}

static void wide_lds_accesses_keep_their_order(struct context *c)
{
	struct vm_mem *data = stack_gtt(&c->s, 8192);
	static const uint32_t parts[] = {64, 63, 1};

	for (unsigned t = 0; t < 3; t++) {
		struct {
			uint64_t data;
			uint32_t part;
		} args = {data->va, parts[t]};
		uint32_t *d = data->map;
		bool right = true;

		for (unsigned i = 0; i < 2048; i++)
			d[i] = i * 2654435761u;
		if (!run(c,
			 (struct stack_launch){
				 .kernel = "k_wide", .grid = {512}, .group = {256}, .args = &args, .args_B = 12}))
			break;
		for (unsigned i = 0; i < 2048; i++) {
			unsigned item = i / 4, from = (item & ~255u) + 255 - (item & 255);

			right &= d[i] == (from % 64 < parts[t] ? (from * 4 + i % 4) * 2654435761u : 7);
		}
		CHECK(right);
	}
	vm_mem_destroy(data);
}

static void waves_meet_at_barriers(struct context *c)
{
	static const uint32_t sizes[] = {64, 192, 1024};
	struct vm_mem *out = stack_gtt(&c->s, 2048 * 4);

	for (unsigned t = 0; t < 3; t++) {
		struct {
			uint64_t out;
			uint32_t steps;
		} args = {out->va, 25};
		uint32_t size = sizes[t], *o = out->map;
		bool right = true;

		if (!run(c, (struct stack_launch){.kernel = "k_relay",
						  .grid = {2 * size},
						  .group = {size},
						  .args = &args,
						  .args_B = 12}))
			break;
		for (uint32_t i = 0; i < 2 * size; i++)
			right &= o[i] == (i % size + 65 * 25) % size * 7 + i / size + 25;
		CHECK(right);
	}
	vm_mem_destroy(out);
}

static void atomics_add_up(struct context *c)
{
	struct vm_mem *m = stack_gtt(&c->s, 4096);
	uint32_t *w = m->map, n = 1000, want_max = 0, want_min = ~0u, want_or = 0, want_xor = 0;
	uint64_t *d = (uint64_t *)m->map + 128;
	float *f = (float *)m->map + 512;
	double *g = (double *)m->map + 300;
	uint64_t args[] = {m->va, m->va + 1024, m->va + 2048, m->va + 2400};

	memset(m->map, 0, 4096);
	w[2] = w[4] = ~0u;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t h = i * 2654435761u;

		want_max = h > want_max ? h : want_max;
		want_min = h < want_min ? h : want_min;
		want_or |= 1u << (i & 31);
		want_xor ^= i;
	}
	if (run(c, (struct stack_launch){
			   .kernel = "k_atomics", .grid = {n}, .group = {100}, .args = args, .args_B = 32})) {
		CHECK_EQ(w[0], n * (n - 1) / 2);
		CHECK_EQ(w[1], want_max);
		CHECK_EQ(w[2], want_min);
		CHECK_EQ(w[3], want_or);
		CHECK_EQ(w[4], ~0xffffu);
		CHECK_EQ(w[5], want_xor);
		CHECK_EQ(w[6], (uint32_t)-1000);
		CHECK_EQ(d[0], (uint64_t)n * (n - 1) / 2 << 30);
		CHECK_EQ(d[1], (uint64_t)(n - 1) << 33);
		CHECK_EQ(d[2], 3 * n);
		CHECK(*f == 1000.0f);
		CHECK(*g == 500.0);
	}
	vm_mem_destroy(m);
}

static void lanes_see_each_other(struct context *c)
{
	struct vm_mem *m = stack_gtt(&c->s, 4096);
	uint32_t *out = m->map, *in = out + 576, odd = 0, below = 0;
	uint64_t args[] = {m->va, m->va + 576 * 4};

	memset(m->map, 0, 4096);
	for (unsigned i = 0; i < 64; i++)
		odd += (in[i] = i * 2654435761u >> 7) & 1;
	if (!run(c, (struct stack_launch){
			    .kernel = "k_wave", .grid = {64}, .group = {64}, .args = args, .args_B = 16}))
		return vm_mem_destroy(m);
	for (unsigned i = 0; i < 64; i++) {
		unsigned row = i & ~15u;
		bool bcast = in[i] & 1 && (row == 16 || row == 48); /* row mask 0xa: rows 1 and 3 are written */

		CHECK_EQ(out[i], in[(i * 5 + 3) % 64]);
		CHECK_EQ(out[64 + i], i % 16 ? in[i - 1] : 0);
		CHECK_EQ(out[128 + i], in[(i & ~3u) + ((i & 3) ^ 2)]);
		CHECK_EQ(out[192 + i], in[i ^ 16]);
		CHECK_EQ(out[256 + i], in[0] + in[9]);
		CHECK_EQ(out[320 + i], odd + (in[i] & 1));
		CHECK_EQ(out[384 + i], below);
		/* Lane 15 of the row before, if it takes part; else the old value. */
		CHECK_EQ(out[448 + i], !(in[i] & 1) ? 0 : bcast && in[row - 1] & 1 ? in[row - 1] : 5);
		below += in[i] & 1;
	}
	vm_mem_destroy(m);
}

static void variables_are_linked(struct context *c)
{
	struct vm_mem *out = stack_gtt(&c->s, 4096);
	uint32_t *o = out->map;
	uint64_t args = out->va, va, size_B;

	CHECK_EQ(cs_code_variable(c->code, "zeroed", &va, &size_B), 0);
	CHECK_EQ(size_B, 400);
	CHECK_EQ(cs_code_variable(c->code, "nothing", &va, &size_B), -2);
	memset(out->map, 0, 4096);
	if (run(c, (struct stack_launch){
			   .kernel = "k_variables", .grid = {64}, .group = {64}, .args = &args, .args_B = 8})) {
		struct sdma_job job = {.dst = {out->va + 2048, SDMA_GTT, true}, .size_B = 4};

		CHECK_EQ(o[0], 2);
		CHECK_EQ(o[63], 19);
		CHECK_EQ(o[99], 19);
		CHECK_EQ(cs_code_variable(c->code, "counter", &va, &size_B), 0);
		job.src = (struct sdma_end){va, SDMA_VRAM, false};
		CHECK_EQ(sdma_copier_copy(c->s.copier, &job), 0);
		CHECK_EQ(cs_point_wait(job.point, CS_FOREVER), 0);
		CHECK_EQ(o[512], 42);
	}
	vm_mem_destroy(out);
}

static void scratch_belongs_to_each_lane(struct context *c)
{
	const uint32_t count = 3000;
	struct vm_mem *out = stack_gtt(&c->s, count * 4);
	struct {
		uint64_t out;
		uint32_t count;
	} args = {out->va, count};
	bool right = true;

	if (run(c, (struct stack_launch){
			   .kernel = "k_scratch", .grid = {count}, .group = {128}, .args = &args, .args_B = 12}))
		for (uint32_t i = 0; i < count; i += 17) {
			uint32_t sum = 0;

			for (uint32_t k = 0; k < 1024; k += 3) {
				uint32_t at = (k + i) % 1024;

				/* 17 * 241 = 4097 = 1 mod 1024 */
				sum += (at * 241 % 1024) ^ i;
			}
			right &= ((uint32_t *)out->map)[i] == sum;
		}
	CHECK(right);
	vm_mem_destroy(out);
}

int main(int argc, char **argv)
{
	static const char *const chips[] = {"gfx900", "gfx902", "gfx906", "gfx908",
					    "gfx909", "gfx90a", "gfx90c", "gfx942"};
	void (*const tests[])(struct context *) = {ids_are_right_in_partial_groups,
						   dynamic_lds_reverses,
						   wide_lds_accesses_keep_their_order,
						   waves_meet_at_barriers,
						   atomics_add_up,
						   lanes_see_each_other,
						   variables_are_linked,
						   scratch_belongs_to_each_lane};

	for (unsigned i = 0; i < 3 * sizeof(chips) / sizeof(chips[0]); i++) {
		struct context c = {.level = (const int[]){0, 1, 3}[i % 3]};

		if (argc > 1 && strcmp(argv[1], chips[i / 3]))
			continue;
		if (!CHECK_EQ(vgpu_start(chips[i / 3]), 0) || !CHECK_EQ(stack_open(&c.s), 0) ||
		    !CHECK_EQ(stack_load(&c.s, "group", c.level, &c.code), 0)) {
			printf("%s\n", drv_error_last()->text);
			break;
		}
		for (unsigned t = 0; t < sizeof(tests) / sizeof(tests[0]); t++)
			tests[t](&c);
		cs_code_unload(c.code);
		stack_close(&c.s);
		vgpu_stop();
	}
	return check_done("workgroups, waves, atomics, variables, scratch");
}
