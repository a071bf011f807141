/* Workgroups, waves, LDS, atomics, lanes, variables and scratch, each at three optimisation levels. */
#include <errno.h>

#include "tests/device/device.h"

static bool run(int level, const char *kernel, struct tuff_dispatch dispatch)
{
	dispatch.kernel = test_kernel("group", level, kernel);
	if (CHECK_OK(test_run(&dispatch)))
		return true;
	printf("  %s\n", kernel);
	return false;
}

/* Calls test(0), test(1), test(3), and where waves have two sizes test(TEST_WAVE64). */
static void each_level(void (*test)(int level))
{
	static const int levels[] = {0, 1, 3, TEST_WAVE64};
	unsigned count = test_info()->wave_lanes == 32 ? 4 : 3;

	for (unsigned i = 0; i < count; i++) {
		unsigned before = check_failed_;

		test(levels[i]);
		if (check_failed_ != before)
			printf("  at %s%d\n", levels[i] == TEST_WAVE64 ? "waves of " : "-O", levels[i]);
	}
}

/* --- workgroups ------------------------------------------------------------------------------- */

static bool ids_are_right(const uint32_t *o, const uint32_t *n, const uint32_t *g)
{
	bool right = true;

	for (uint32_t z = 0; z < n[2]; z++)
		for (uint32_t y = 0; y < n[1]; y++)
			for (uint32_t x = 0; x < n[0]; x++, o += 4) {
				right &= o[0] == (x % g[0] | y % g[1] << 10 | z % g[2] << 20);
				right &= o[1] == (x / g[0] | y / g[1] << 10 | z / g[2] << 20);
				right &= o[2] == (n[0] | n[1] << 10 | n[2] << 20);
				/* HIP compiles for uniform grids: the size is that of a whole group. */
				right &= o[3] == (g[0] | g[1] << 10 | g[2] << 20);
			}
	return right;
}

static void ids_at(int level)
{
	static const uint32_t grids[][3] = {{100, 1, 1}, {37, 5, 3}, {64, 4, 2}, {1, 1, 1}, {130, 2, 7}};
	static const uint32_t groups[][3] = {{64, 1, 1}, {16, 2, 2}, {32, 4, 1}, {256, 1, 1}, {128, 2, 4}};
	struct test_memory out = test_gtt(130 * 2 * 7 * 16);

	for (unsigned t = 0; t < 5; t++) {
		const uint32_t *n = grids[t], *g = groups[t];
		struct {
			uint64_t out;
			uint32_t nx, ny;
		} args = {out.va, n[0], n[1]};

		memset(out.map, 0xff, 130 * 2 * 7 * 16);
		if (!run(level, "k_ids",
			 (struct tuff_dispatch){.grid = {n[0], n[1], n[2]},
						.group = {g[0], g[1], g[2]},
						.args = &args,
						.args_B = 16}))
			break;
		if (!CHECK(ids_are_right(out.map, n, g)))
			printf("  grid %u x %u x %u\n", n[0], n[1], n[2]);
	}
}

static void ids(void)
{
	each_level(ids_at);
}

static void dynamic_lds_at(int level)
{
	struct test_memory data = test_gtt(4096);
	uint32_t *d = data.map, right = 0;
	uint64_t args = data.va;

	for (unsigned i = 0; i < 1024; i++)
		d[i] = i;
	if (run(level, "k_reverse",
		(struct tuff_dispatch){
			.grid = {1024}, .group = {256}, .dynamic_lds_B = 1024, .args = &args, .args_B = 8}))
		for (unsigned i = 0; i < 1024; i++)
			right += d[i] == (i & ~255u) + 255 - (i & 255);
	CHECK_EQ(right, 1024);
}

static void dynamic_lds(void)
{
	each_level(dynamic_lds_at);
}

static void wide_lds_at(int level)
{
	static const uint32_t parts[] = {64, 63, 1};
	struct test_memory data = test_gtt(8192);

	for (unsigned t = 0; t < 3; t++) {
		struct {
			uint64_t data;
			uint32_t part;
		} args = {data.va, parts[t]};
		uint32_t *d = data.map, right = 0;

		for (unsigned i = 0; i < 2048; i++)
			d[i] = i * 2654435761u;
		if (!run(level, "k_wide",
			 (struct tuff_dispatch){.grid = {512}, .group = {256}, .args = &args, .args_B = 12}))
			break;
		for (unsigned i = 0; i < 2048; i++) {
			unsigned item = i / 4, from = (item & ~255u) + 255 - (item & 255);

			right += d[i] == (from % 64 < parts[t] ? (from * 4 + i % 4) * 2654435761u : 7);
		}
		CHECK_EQ(right, 2048);
	}
}

static void wide_lds(void)
{
	each_level(wide_lds_at);
}

static void relay_at(int level)
{
	static const uint32_t sizes[] = {64, 192, 1024};
	struct test_memory out = test_gtt(2048 * 4);

	for (unsigned t = 0; t < 3; t++) {
		struct {
			uint64_t out;
			uint32_t steps;
		} args = {out.va, 25};
		uint32_t size = sizes[t], *o = out.map, right = 0;

		if (!run(level, "k_relay",
			 (struct tuff_dispatch){.grid = {2 * size}, .group = {size}, .args = &args, .args_B = 12}))
			break;
		for (uint32_t i = 0; i < 2 * size; i++)
			right += o[i] == (i % size + 65 * 25) % size * 7 + i / size + 25;
		CHECK_EQ(right, 2 * size);
	}
}

static void relay(void)
{
	each_level(relay_at);
}

/* --- atomics and lanes ------------------------------------------------------------------------ */

enum { ATOMIC_ITEMS = 1000 };

static void check_sums(const void *map)
{
	const uint32_t *w = map, n = ATOMIC_ITEMS;
	const uint64_t *d = (const uint64_t *)map + 128;
	uint32_t want_max = 0, want_min = ~0u, want_or = 0, want_xor = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t h = i * 2654435761u;

		want_max = h > want_max ? h : want_max;
		want_min = h < want_min ? h : want_min;
		want_or |= 1u << (i & 31);
		want_xor ^= i;
	}
	CHECK_EQ(w[0], n * (n - 1) / 2);
	CHECK_EQ(w[1], want_max);
	CHECK_EQ(w[2], want_min);
	CHECK_EQ(w[3], want_or);
	CHECK_EQ(w[4], ~0xffffu);
	CHECK_EQ(w[5], want_xor);
	CHECK_EQ(w[6], (uint32_t)-ATOMIC_ITEMS);
	CHECK_EQ(d[0], (uint64_t)n * (n - 1) / 2 << 30);
	CHECK_EQ(d[1], (uint64_t)(n - 1) << 33);
	CHECK_EQ(d[2], 3 * n);
	CHECK(((const float *)map)[512] == (float)ATOMIC_ITEMS);
	CHECK(((const double *)map)[300] == ATOMIC_ITEMS * 0.5);
}

/* In VRAM: atomics on system memory need a bus that carries them. */
static void atomics_at(int level)
{
	struct test_memory m = test_vram(4096), host = test_gtt(4096);
	void *at = (void *)(uintptr_t)m.va;
	uint64_t args[] = {m.va, m.va + 1024, m.va + 2048, m.va + 2400};

	memset(host.map, 0, 4096);
	((uint32_t *)host.map)[2] = ((uint32_t *)host.map)[4] = ~0u;
	CHECK_OK(tuff_copy(test_device(), at, host.map, 4096, NULL, 0, NULL));
	if (!run(level, "k_atomics",
		 (struct tuff_dispatch){.grid = {ATOMIC_ITEMS}, .group = {100}, .args = args, .args_B = 32}))
		return;
	CHECK_OK(tuff_copy(test_device(), host.map, at, 4096, NULL, 0, NULL));
	check_sums(host.map);
}

static void atomics(void)
{
	each_level(atomics_at);
}

/* Lane 15 of the row before (GFX9), or lane 0 of the own row, if it takes part; else the old value, which rows 0 and 2
 * have in any case. */
static uint32_t from_row(const uint32_t *in, unsigned lane, bool gfx9)
{
	unsigned row = lane & ~15u, from = gfx9 ? row - 1 : row;

	if (!(in[lane] & 1))
		return 0;
	return (row == 16 || row == 48) && in[from] & 1 ? in[from] : 5;
}

/* What a permute of LDS reaches: the wave, but halves of 64 lanes on GFX10 and GFX11. */
static unsigned permute_lanes(unsigned lanes)
{
	bool halves = !strncmp(test_info()->target, "gfx10", 5) || !strncmp(test_info()->target, "gfx11", 5);

	return halves ? 32 : lanes;
}

static void lanes_at(int level)
{
	unsigned lanes = level == TEST_WAVE64 ? 64 : test_info()->wave_lanes, reach = permute_lanes(lanes);
	struct test_memory m = test_gtt(4096);
	uint32_t *out = m.map, *in = out + 576, odd[2] = {0}, below = 0;
	uint64_t args[] = {m.va, m.va + 576 * 4};

	for (unsigned i = 0; i < 64; i++)
		odd[i / lanes] += (in[i] = i * 2654435761u >> 7) & 1;
	if (!run(level, "k_wave", (struct tuff_dispatch){.grid = {64}, .group = {64}, .args = args, .args_B = 16}))
		return;
	for (unsigned i = 0; i < 64; i++) {
		unsigned first = i & ~(lanes - 1), near = i & ~(reach - 1);

		below = i == first ? 0 : below;
		CHECK_EQ(out[i], in[near + (i * 5 + 3) % reach]);
		CHECK_EQ(out[64 + i], i % 16 ? in[i - 1] : 0);
		CHECK_EQ(out[128 + i], in[(i & ~3u) + ((i & 3) ^ 2)]);
		CHECK_EQ(out[192 + i], in[i ^ 16]);
		CHECK_EQ(out[256 + i], in[first] + in[first + 9]);
		CHECK_EQ(out[320 + i], odd[i / lanes] + (in[i] & 1));
		CHECK_EQ(out[384 + i], below);
		CHECK_EQ(out[448 + i], from_row(in, i, test_info()->wave_lanes == 64));
		below += in[i] & 1;
	}
}

static void lanes(void)
{
	each_level(lanes_at);
}

/* --- variables and scratch -------------------------------------------------------------------- */

static void variables_at(int level)
{
	struct test_memory out = test_gtt(4096);
	struct tuff_code *code = test_load(test_device(), "group", level);
	struct tuff_dispatch d = {.grid = {64}, .group = {64}, .args = &out.va, .args_B = 8};
	const uint32_t *o = out.map;
	uint64_t va = 0, size_B = 0;
	uint32_t counter = 0;

	CHECK_OK(tuff_code_variable(code, "zeroed", &va, &size_B));
	CHECK_EQ(size_B, 400);
	CHECK_EQ(tuff_code_variable(code, "nothing", &va, &size_B), -ENOENT);
	if (CHECK_OK(tuff_code_kernel(code, "k_variables", &d.kernel)) && CHECK_OK(test_run(&d))) {
		CHECK_EQ(o[0], 2);
		CHECK_EQ(o[63], 19);
		CHECK_EQ(o[99], 19);
		CHECK_OK(tuff_code_variable(code, "counter", &va, &size_B));
		CHECK_EQ(size_B, 4);
		CHECK_OK(tuff_copy(test_device(), &counter, (void *)(uintptr_t)va, 4, NULL, 0, NULL));
		CHECK_EQ(counter, 42);
	}
	CHECK_OK(tuff_code_unload(code));
}

static void variables(void)
{
	each_level(variables_at);
}

static void scratch_at(int level)
{
	enum { COUNT = 3000 };
	struct test_memory out = test_gtt(COUNT * 4);
	struct {
		uint64_t out;
		uint32_t count;
	} args = {out.va, COUNT};
	bool right = true;

	if (!run(level, "k_scratch",
		 (struct tuff_dispatch){.grid = {COUNT}, .group = {128}, .args = &args, .args_B = 12}))
		return;
	for (uint32_t i = 0; i < COUNT; i += 17) {
		uint32_t sum = 0;

		/* 17 * 241 = 4097 = 1 mod 1024 */
		for (uint32_t k = 0; k < 1024; k += 3)
			sum += ((k + i) % 1024 * 241 % 1024) ^ i;
		right &= ((uint32_t *)out.map)[i] == sum;
	}
	CHECK(right);
}

static void scratch(void)
{
	each_level(scratch_at);
}

const struct device_test tests_group[] = {
	{"group/ids", "ids and sizes are right, in partial workgroups too", ids, 0},
	{"group/dynamic-lds", "shared memory of the size that the launch gives", dynamic_lds, 0},
	{"group/wide-lds", "16 bytes a lane through shared memory, with lanes switched off", wide_lds, 0},
	{"group/relay", "up to 16 waves hand values on at barriers", relay, 0},
	{"group/atomics", "atomics add up, in 32 and 64 bits, float and double", atomics, 0},
	{"group/lanes", "ballots, permutes, DPP and swizzles", lanes, 0},
	{"group/variables", "a program's variables are there, linked, and found by name", variables, 0},
	{"group/scratch", "4 KiB of private memory a lane", scratch, 0},
	{NULL},
};
