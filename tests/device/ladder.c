/* The ladder: first contact with a card. Each rung needs one thing more than the one below; the runner stops at the
 * first that fails and shows what it submitted, decoded. */
#include <stdlib.h>
#include <time.h>

#include "tests/device/device.h"

/* How long a rung waits: far above what any of them takes, below every kernel's watchdog. */
#define PATIENCE_NS 1500000000

static void info(void)
{
	const struct tuff_device_info *i = test_info();

	test_note("%s: %s, %s, %u CUs, DRM 3.%u", i->path, i->name, i->target, i->compute_units, i->drm_minor);
	test_note("VRAM %llu MiB, visible %llu MiB, GTT %llu MiB, rings %u + %u",
		  (unsigned long long)i->vram_B >> 20, (unsigned long long)i->visible_vram_B >> 20,
		  (unsigned long long)i->gtt_B >> 20, i->compute_rings, i->copy_rings);
	CHECK(i->compute_units > 0 && i->counter_kHz > 0 && i->compute_rings > 0);
	CHECK(i->vram_B > 0 && i->gtt_B > 0 && i->visible_vram_B <= i->vram_B);
	CHECK(i->wave_lanes == 32 || i->wave_lanes == 64);
}

static void clock_runs(void)
{
	struct timespec pause = {.tv_nsec = 20000000};
	uint64_t a = 0, b = 0;

	/* Tick 0 is long ago; a second later on the GPU's clock is a second later on the host's. */
	CHECK_OK(tuff_device_time(test_device(), 1000000000ull, &a));
	nanosleep(&pause, NULL);
	CHECK_OK(tuff_device_time(test_device(), 1000000000ull + test_info()->counter_kHz * 1000ull, &b));
	CHECK(b - a > 990000000ull && b - a < 1010000000ull);
}

static void system_memory(void)
{
	struct test_memory m = test_gtt(3 << 20);
	uint32_t *w = m.map;

	CHECK((uintptr_t)m.map == m.va && m.va);
	for (unsigned i = 0; i < 3 << 18; i++)
		w[i] = i * 2654435761u;
	CHECK(w[0] == 0 && w[(3 << 18) - 1] == ((3 << 18) - 1) * 2654435761u);
}

static void video_memory(void)
{
	struct test_memory m = test_vram(16 << 20);

	CHECK(m.va && !m.map);
}

static void addresses(void)
{
	struct tuff_mem_create_info unbound = {
		.size_B = 65536, .place = TUFF_GTT, .flags = TUFF_MEM_CPU | TUFF_MEM_UNBOUND};
	struct tuff_range_create_info want = {.size_B = 1 << 20, .align_B = 65536};
	struct tuff_range *range;
	struct tuff_mem *mem;
	uint64_t va;

	if (!CHECK_OK(tuff_mem_create(test_device(), &unbound, &mem)))
		return;
	if (CHECK_OK(tuff_range_create(test_device(), &want, &range, &va))) {
		CHECK_EQ(va % 65536, 0);
		if (CHECK_OK(tuff_range_bind(range, 131072, mem, 0, 65536, TUFF_ACCESS_READ_WRITE))) {
			*(volatile uint32_t *)(uintptr_t)(va + 131072) = 7;
			CHECK_EQ(*(volatile uint32_t *)(uintptr_t)(va + 131072), 7);
			CHECK_OK(tuff_range_unbind(range, 131072, 65536));
		}
		CHECK_OK(tuff_range_destroy(range));
	}
	CHECK_OK(tuff_mem_destroy(mem));
}

/* Submits, waits for a while, and asks whether the GPU complained. */
static bool finish(struct tuff_cmd *cmd)
{
	struct tuff_point point;

	return CHECK_OK(tuff_submit(cmd, NULL, &point)) && CHECK_OK(tuff_wait(point, PATIENCE_NS)) &&
	       CHECK_OK(tuff_device_check_fault(test_device()));
}

static void nop(void)
{
	finish(test_begin(test_compute(), 0));
}

static void write_data(void)
{
	static const uint32_t data[] = {0x74756666, 1, 2, 3, 4, 5, 6, 7};
	struct test_memory m = test_gtt(4096);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);

	CHECK_OK(tuff_cmd_write(cmd, m.va + 64, data, 8));
	if (finish(cmd))
		CHECK(!memcmp((char *)m.map + 64, data, sizeof(data)));
	CHECK_EQ(((uint32_t *)m.map)[15], 0);
	CHECK_EQ(((uint32_t *)m.map)[24], 0);
}

static void release_mem(void)
{
	struct test_memory m = test_gtt(4096);
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);
	const uint64_t *w = m.map;

	CHECK_OK(tuff_cmd_signal(cmd, m.va, 0x0123456789abcdef));
	CHECK_OK(tuff_cmd_timestamp(cmd, m.va + 8));
	CHECK_OK(tuff_cmd_barrier(cmd));
	CHECK_OK(tuff_cmd_timestamp(cmd, m.va + 16));
	if (!finish(cmd))
		return;
	CHECK_EQ(w[0], 0x0123456789abcdef);
	CHECK(w[1] > 0 && w[2] >= w[1]);
	test_note("two timestamps are %llu ticks of %u kHz apart", (unsigned long long)(w[2] - w[1]),
		  test_info()->counter_kHz);
}

static void wait_value(void)
{
	struct tuff_mem_create_info info = {
		.size_B = 4096, .place = TUFF_GTT, .flags = TUFF_MEM_CPU | TUFF_MEM_UNCACHED};
	struct tuff_mem_info facts;
	struct tuff_mem *mem;
	struct tuff_cmd *cmd;

	if (!CHECK_OK(tuff_mem_create(test_device(), &info, &mem)))
		return;
	if (CHECK_OK(tuff_mem_query(mem, &facts))) {
		*(volatile uint32_t *)facts.map = 5;
		cmd = test_begin(test_compute(), 0);
		CHECK_OK(tuff_cmd_wait_value(cmd, facts.va, 5));
		CHECK_OK(tuff_cmd_write(cmd, facts.va + 4, (const uint32_t[]){6}, 1));
		if (finish(cmd))
			CHECK_EQ(((uint32_t *)facts.map)[1], 6);
	}
	CHECK_OK(tuff_mem_destroy(mem));
}

static void copy_nop(void)
{
	finish(test_begin(test_copy_queue(), 0));
}

static void copy_write(void)
{
	struct test_memory m = test_gtt(4096);
	struct tuff_cmd *cmd = test_begin(test_copy_queue(), 0);

	CHECK_OK(tuff_cmd_write(cmd, m.va + 4, (const uint32_t[]){11, 22, 33}, 3));
	CHECK_OK(tuff_cmd_barrier(cmd));
	CHECK_OK(tuff_cmd_signal(cmd, m.va + 64, 0x100000002));
	CHECK_OK(tuff_cmd_timestamp(cmd, m.va + 72));
	if (!finish(cmd))
		return;
	CHECK_EQ(((uint32_t *)m.map)[1], 11);
	CHECK_EQ(((uint32_t *)m.map)[3], 33);
	CHECK_EQ(((uint64_t *)m.map)[8], 0x100000002);
	CHECK(((uint64_t *)m.map)[9] > 0);
}

/* System memory to VRAM and back, with odd sizes and ends. */
static void copies(void)
{
	static const uint32_t sizes_B[] = {1, 4, 255, 4096, 65537, 1 << 20};
	struct test_memory from = test_gtt(2 << 20), to = test_gtt(2 << 20), vram = test_vram(2 << 20);
	uint8_t *f = from.map, *t = to.map;
	uint64_t seed = 1;

	for (unsigned i = 0; i < 2 << 20; i++)
		f[i] = (uint8_t)test_random(&seed);
	for (unsigned i = 0; i < sizeof(sizes_B) / sizeof(sizes_B[0]); i++) {
		struct tuff_cmd *cmd = test_begin(test_copy_queue(), 0);
		uint32_t n = sizes_B[i], shift = i * 3;

		memset(t, 0, n + 64);
		CHECK_OK(tuff_cmd_copy(cmd, vram.va + shift, from.va + 5, n));
		CHECK_OK(tuff_cmd_barrier(cmd));
		CHECK_OK(tuff_cmd_copy(cmd, to.va + 1, vram.va + shift, n));
		if (!finish(cmd))
			return;
		CHECK(!memcmp(t + 1, f + 5, n));
		CHECK(!t[0] && !t[n + 1]);
	}
}

static void fills(void)
{
	struct test_memory m = test_gtt(1 << 20);
	struct tuff_cmd *cmd = test_begin(test_copy_queue(), 0);
	const uint8_t *b = m.map;
	unsigned right = 0;

	CHECK_OK(tuff_cmd_fill(cmd, m.va + 3, 0xa5, 100003));
	if (!finish(cmd))
		return;
	for (unsigned i = 3; i < 100006; i++)
		right += b[i] == 0xa5;
	CHECK_EQ(right, 100003);
	CHECK(!b[2] && !b[100006]);
}

/* One dispatch with the patience of a rung. */
static bool launch(const char *name, const struct tuff_dispatch *how)
{
	struct tuff_dispatch dispatch = *how;
	struct tuff_cmd *cmd;

	dispatch.kernel = test_kernel("group", 3, name);
	cmd = test_begin(test_compute(), 0);
	return CHECK_OK(tuff_cmd_dispatch(cmd, &dispatch)) && finish(cmd);
}

static void empty_kernel(void)
{
	launch("k_empty", &(struct tuff_dispatch){.grid = {64}, .group = {64}});
}

static void arguments(void)
{
	struct test_memory m = test_gtt(4096);
	struct {
		uint64_t at;
		uint32_t value;
	} args = {m.va + 8, 0xbeef};

	if (launch("k_store", &(struct tuff_dispatch){.args = &args, .args_B = 12}))
		CHECK_EQ(((uint32_t *)m.map)[2], 0xbeef);
}

static void many_groups(void)
{
	enum { ITEMS = 100000 };
	struct test_memory m = test_gtt(ITEMS * 4 + 1024);
	struct {
		uint64_t data;
		uint32_t value;
	} args = {m.va, 5};
	uint32_t *w = m.map, right = 0;

	for (uint32_t i = 0; i < ITEMS; i++)
		w[i] = i;
	if (!launch("k_add", &(struct tuff_dispatch){.grid = {ITEMS}, .group = {256}, .args = &args, .args_B = 12}))
		return;
	for (uint32_t i = 0; i < ITEMS; i++)
		right += w[i] == i * 3 + 5;
	CHECK_EQ(right, ITEMS); /* the last group is partial */
	CHECK_EQ(w[ITEMS], 0);
}

static void lds(void)
{
	struct test_memory m = test_gtt(4096);
	uint64_t args = m.va;
	uint32_t *d = m.map, right = 0;

	for (unsigned i = 0; i < 1024; i++)
		d[i] = i;
	if (!launch("k_reverse",
		    &(struct tuff_dispatch){
			    .grid = {1024}, .group = {256}, .dynamic_lds_B = 1024, .args = &args, .args_B = 8}))
		return;
	for (unsigned i = 0; i < 1024; i++)
		right += d[i] == (i & ~255u) + 255 - (i & 255);
	CHECK_EQ(right, 1024);
}

static void barriers(void)
{
	enum { SIZE = 1024, STEPS = 50 };
	struct test_memory m = test_gtt(SIZE * 4);
	struct {
		uint64_t out;
		uint32_t steps;
	} args = {m.va, STEPS};
	const uint32_t *w = m.map;
	uint32_t right = 0;

	if (!launch("k_relay",
		    &(struct tuff_dispatch){.grid = {SIZE}, .group = {SIZE}, .args = &args, .args_B = 12}))
		return;
	for (uint32_t i = 0; i < SIZE; i++)
		right += w[i] == (i + 65 * STEPS) % SIZE * 7 + STEPS;
	CHECK_EQ(right, SIZE);
}

static void scratch(void)
{
	enum { ITEMS = 512 };
	struct test_memory m = test_gtt(ITEMS * 4);
	struct {
		uint64_t out;
		uint32_t count;
	} args = {m.va, ITEMS};
	const uint32_t *w = m.map;
	uint32_t right = 0;

	if (!launch("k_scratch",
		    &(struct tuff_dispatch){.grid = {ITEMS}, .group = {64}, .args = &args, .args_B = 12}))
		return;
	for (uint32_t i = 0; i < ITEMS; i++) {
		static uint32_t mine[1024];
		uint32_t sum = 0;

		for (uint32_t k = 0; k < 1024; k++)
			mine[k * 17 % 1024] = k ^ i;
		for (uint32_t k = 0; k < 1024; k += 3)
			sum += mine[(k + i) % 1024];
		right += w[i] == sum;
	}
	CHECK_EQ(right, ITEMS);
}

static void atomics(void)
{
	enum { ITEMS = 4096 };
	struct test_memory m = test_vram(4096), back = test_gtt(4096);
	struct {
		uint64_t w, d, f, g;
	} args = {m.va, m.va + 64, m.va + 128, m.va + 136};
	const uint32_t *w = back.map;
	const uint64_t *d = (const uint64_t *)((const char *)back.map + 64);

	CHECK_OK(tuff_fill(test_device(), (void *)(uintptr_t)m.va, 0, 4096, NULL, 0, NULL));
	if (!launch("k_atomics",
		    &(struct tuff_dispatch){.grid = {ITEMS}, .group = {256}, .args = &args, .args_B = 32}))
		return;
	CHECK_OK(tuff_copy(test_device(), back.map, (void *)(uintptr_t)m.va, 4096, NULL, 0, NULL));
	CHECK_EQ(w[0], ITEMS / 2 * (ITEMS - 1));
	CHECK_EQ(w[3], 0xffffffffu);
	CHECK_EQ(w[6], (uint32_t)-ITEMS);
	CHECK_EQ(d[0], (uint64_t)(ITEMS / 2 * (ITEMS - 1)) << 30);
	CHECK_EQ(d[2], 3 * ITEMS);
	CHECK(*(const float *)((const char *)back.map + 128) == (float)ITEMS);
	CHECK(*(const double *)((const char *)back.map + 136) == ITEMS / 2);
}

/* A kernel reads what the copy queue wrote, and the copy queue what the kernel wrote. */
static void two_rings(void)
{
	enum { ITEMS = 65536 };
	struct test_memory from = test_gtt(ITEMS * 4), vram = test_vram(ITEMS * 4);
	struct {
		uint64_t data;
		uint32_t value;
	} args = {vram.va, 9};
	struct tuff_dispatch add = {.grid = {ITEMS}, .group = {256}, .args = &args, .args_B = 12};
	struct tuff_order order = {.after_count = 1};
	struct tuff_point point;
	struct tuff_cmd *cmd = test_begin(test_copy_queue(), 0);
	uint32_t *w = from.map, right = 0;

	add.kernel = test_kernel("group", 3, "k_add");
	order.after = &point;
	for (uint32_t i = 0; i < ITEMS; i++)
		w[i] = i;
	CHECK_OK(tuff_cmd_copy(cmd, vram.va, from.va, ITEMS * 4));
	CHECK_OK(tuff_submit(cmd, NULL, &point));
	cmd = test_begin(test_compute(), 0);
	CHECK_OK(tuff_cmd_dispatch(cmd, &add));
	CHECK_OK(tuff_submit(cmd, &order, &point));
	cmd = test_begin(test_copy_queue(), 0);
	CHECK_OK(tuff_cmd_copy(cmd, from.va, vram.va, ITEMS * 4));
	CHECK_OK(tuff_submit(cmd, &order, &point));
	if (!CHECK_OK(tuff_wait(point, PATIENCE_NS)))
		return;
	for (uint32_t i = 0; i < ITEMS; i++)
		right += w[i] == i * 3 + 9;
	CHECK_EQ(right, ITEMS);
}

const struct device_test tests_ladder[] = {
	{"ladder/01-info", "the node opens and tells what it is", info, TEST_ANY_CHIP},
	{"ladder/02-clock", "the GPU's clock and the host's agree", clock_runs, TEST_ANY_CHIP},
	{"ladder/03-system-memory", "a buffer in system memory is made, mapped, written and read", system_memory,
	 TEST_ANY_CHIP},
	{"ladder/04-video-memory", "a buffer in VRAM is made and mapped for the GPU", video_memory, TEST_ANY_CHIP},
	{"ladder/05-addresses", "addresses are reserved, bound and unbound", addresses, TEST_ANY_CHIP},
	{"ladder/06-nop", "a compute ring executes an IB and says so", nop, 0},
	{"ladder/07-write-data", "WRITE_DATA reaches memory", write_data, 0},
	{"ladder/08-release-mem", "RELEASE_MEM writes values and timestamps", release_mem, 0},
	{"ladder/09-wait-reg-mem", "WAIT_REG_MEM sees memory that the CPU wrote", wait_value, 0},
	{"ladder/10-sdma-nop", "a copy ring executes an IB and says so", copy_nop, 0},
	{"ladder/11-sdma-write", "SDMA writes data, fences and timestamps", copy_write, 0},
	{"ladder/12-sdma-copy", "SDMA copies to VRAM and back, byte for byte", copies, 0},
	{"ladder/13-sdma-fill", "SDMA fills, to the byte", fills, 0},
	{"ladder/14-empty-kernel", "a kernel starts and ends", empty_kernel, 0},
	{"ladder/15-arguments", "a kernel finds its arguments", arguments, 0},
	{"ladder/16-many-groups", "391 workgroups run, the last one partial", many_groups, 0},
	{"ladder/17-lds", "a workgroup's shared memory works", lds, 0},
	{"ladder/18-barriers", "16 waves of a workgroup meet at barriers", barriers, 0},
	{"ladder/19-scratch", "lanes have private memory", scratch, 0},
	{"ladder/20-atomics", "atomics on VRAM, 32 and 64 bits, float and double", atomics, 0},
	{"ladder/21-two-rings", "compute and copy rings wait for each other and see each other's data", two_rings,
	 0},
	{NULL},
};
