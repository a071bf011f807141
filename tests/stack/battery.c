/* Each subject of the battery, on four chips, compiled at -O0, -O1 and -O3: every bit as the CPU computes it. */
#include "tests/battery.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tests/stack.h"
#include "vgpu/vgpu.h"

#define COUNT 1000 /* a partial last wave and workgroup */

static const struct subject {
	const char *kernel;
	u64 (*on_cpu)(u32 i, u64 x, u64 y);
} subjects[] = {
#define ROW(name) {"k_" #name, b_##name},
	BATTERY(ROW)
#undef ROW
};

static void compare(const char *chip, int level, const struct subject *subject, const u64 *in, const u64 *out)
{
	for (u32 i = 0; i < COUNT; i++) {
		u64 want = subject->on_cpu(i, in[2 * i], in[2 * i + 1]);

		if (out[i] != want) {
			printf("%s -O%d %s: item %u (%016lx, %016lx): got %016lx, want %016lx\n", chip, level,
			       subject->kernel, i, (long)in[2 * i], (long)in[2 * i + 1], (long)out[i], (long)want);
			CHECK(!"the GPU agrees with the CPU");
			return;
		}
	}
	CHECK(1);
}

static void run_level(struct stack *s, const char *chip, int level)
{
	struct vm_mem *in = stack_gtt(s, COUNT * 16), *out = stack_gtt(s, COUNT * 8);
	struct cs_code *code;
	u64 seed = 88172645463325252ull;

	if (!CHECK(in && out) || !CHECK_EQ(stack_load(s, "battery", level, &code), 0))
		return;
	for (u32 i = 0; i < 2 * COUNT; i++)
		((u64 *)in->map)[i] = i < 40 ? (u64)((i64)i - 20) : stack_random(&seed);
	for (unsigned k = 0; k < sizeof(subjects) / sizeof(subjects[0]); k++) {
		struct {
			u64 out, in;
			u32 count;
		} args = {out->va, in->va, COUNT};
		struct stack_launch launch = {
			.code = code,
			.kernel = subjects[k].kernel,
			.grid = {1024},
			.group = {256},
			.args = &args,
			.args_B = 20,
		};

		memset(out->map, 0xcc, COUNT * 8);
		if (!CHECK_EQ(stack_run(s, &launch), 0)) {
			printf("%s -O%d %s: %s\n", chip, level, subjects[k].kernel, drv_error_last()->text);
			break;
		}
		compare(chip, level, &subjects[k], in->map, out->map);
	}
	cs_code_unload(code);
	vm_mem_destroy(in);
	vm_mem_destroy(out);
}

int main(int argc, char **argv)
{
	static const char *const chips[] = {"gfx900", "gfx902", "gfx906", "gfx908",
					    "gfx909", "gfx90a", "gfx90c", "gfx942"};

	for (unsigned c = 0; c < sizeof(chips) / sizeof(chips[0]); c++) {
		struct stack s;

		if (argc > 1 && strcmp(argv[1], chips[c]))
			continue;
		if (!CHECK_EQ(vgpu_start(chips[c]), 0) || !CHECK_EQ(stack_open(&s), 0)) {
			printf("%s\n", drv_error_last()->text);
			break;
		}
		for (int level = 0; level <= 3; level += level ? 2 : 1)
			run_level(&s, chips[c], level);
		stack_close(&s);
		vgpu_stop();
	}
	return check_done("battery: each chip that executes, three optimisation levels");
}
