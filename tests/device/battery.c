/* The battery: each subject, compared with the CPU's result bit by bit, at three optimisation levels. */
#include "tests/battery.h"

#include "tests/device/device.h"

#define COUNT 1000 /* a partial last wave and workgroup */

static const struct subject {
	const char *kernel;
	u64 (*on_cpu)(u32 i, u64 x, u64 y);
} subjects[] = {
#define ROW(name) {"k_" #name, b_##name},
	BATTERY(ROW)
#undef ROW
};

static void compare(int level, const struct subject *subject, const u64 *in, const u64 *out)
{
	for (u32 i = 0; i < COUNT; i++) {
		u64 want = subject->on_cpu(i, in[2 * i], in[2 * i + 1]);

		if (!CHECK(out[i] == want)) {
			printf("  -O%d %s: item %u (%016lx, %016lx): got %016lx, want %016lx\n", level,
			       subject->kernel, i, (long)in[2 * i], (long)in[2 * i + 1], (long)out[i], (long)want);
			return;
		}
	}
}

static void run_level(int level)
{
	struct test_memory in = test_gtt(COUNT * 16), out = test_gtt(COUNT * 8);
	u64 seed = 88172645463325252ull;

	for (u32 i = 0; i < 2 * COUNT; i++)
		((u64 *)in.map)[i] = i < 40 ? (u64)((i64)i - 20) : test_random(&seed);
	for (unsigned k = 0; k < sizeof(subjects) / sizeof(subjects[0]); k++) {
		struct {
			u64 out, in;
			u32 count;
		} args = {out.va, in.va, COUNT};
		struct tuff_dispatch dispatch = {.kernel = test_kernel("battery", level, subjects[k].kernel),
						 .grid = {1024},
						 .group = {256},
						 .args = &args,
						 .args_B = 20};

		memset(out.map, 0xcc, COUNT * 8);
		if (!CHECK_OK(test_run(&dispatch))) {
			printf("  -O%d %s\n", level, subjects[k].kernel);
			break;
		}
		compare(level, &subjects[k], in.map, out.map);
	}
}

static void at_O0(void)
{
	run_level(0);
}

static void at_O1(void)
{
	run_level(1);
}

static void at_O3(void)
{
	run_level(3);
}

const struct device_test tests_battery[] = {
	{"battery/o0", "23 subjects, compiled at -O0, compute what the CPU does", at_O0, 0},
	{"battery/o1", "the same at -O1", at_O1, 0},
	{"battery/o3", "the same at -O3", at_O3, 0},
	{NULL},
};
