/* tuff_copy() and tuff_fill(): by every engine, between all places, with sizes and alignments around all limits;
 * compares each byte of the target and of its surroundings. */
#include <errno.h>
#include <stdlib.h>

#include "tests/device/device.h"

#define ROOM_B   (9u << 20) /* more than two packets, and several staging slots */
#define AROUND_B 70000u     /* how far around a copy its target is looked at */

enum place { VRAM, GTT, HOST, REGISTERED, PLACES };

static const char *const place_names[] = {"VRAM", "GTT", "host memory", "registered memory"};

/* Two rooms in each place: copies go from the first to the second. */
static struct {
	struct test_memory vram[2], gtt[2], staging;
	uint8_t *host[2], *registered[2];
	struct tuff_mem *registration[2];
	uint8_t *model; /* what the target should be */
} rooms;

/* The room's address for the copier, and for the CPU: NULL where that does not reach. */
static uint8_t *address(enum place place, unsigned which)
{
	switch (place) {
	case VRAM:
		return (uint8_t *)(uintptr_t)rooms.vram[which].va;
	case GTT:
		return rooms.gtt[which].map;
	case HOST:
		return rooms.host[which];
	default:
		return rooms.registered[which];
	}
}

static void *host_room(void)
{
	void *room = malloc(ROOM_B);

	if (!room)
		test_fail("no host memory");
	return room;
}

static void open_rooms(const char *engine)
{
	setenv("TUFF_COPY", engine, 1);
	rooms.staging = test_gtt(ROOM_B);
	rooms.model = host_room();
	for (unsigned i = 0; i < 2; i++) {
		rooms.vram[i] = test_vram(ROOM_B);
		rooms.gtt[i] = test_gtt(ROOM_B);
		rooms.host[i] = host_room();
		rooms.registered[i] = host_room();
		if (tuff_mem_register(test_device(), rooms.registered[i], ROOM_B, 0, &rooms.registration[i]))
			test_fail("malloc'ed memory cannot be registered");
	}
	for (unsigned i = 0; i < ROOM_B; i++)
		rooms.host[0][i] = (uint8_t)(i * 31 + (i >> 11));
	memcpy(rooms.gtt[0].map, rooms.host[0], ROOM_B);
	memcpy(rooms.registered[0], rooms.host[0], ROOM_B);
	CHECK_OK(tuff_copy(test_device(), address(VRAM, 0), rooms.gtt[0].map, ROOM_B, NULL, 0, NULL));
}

static void close_rooms(void)
{
	for (unsigned i = 0; i < 2; i++) {
		CHECK_OK(tuff_mem_destroy(rooms.registration[i]));
		free(rooms.registered[i]);
		free(rooms.host[i]);
	}
	free(rooms.model);
}

/* The part of the target room that is looked at. */
struct window {
	uint64_t from_B, size_B;
};

static struct window around(uint64_t offset_B, uint64_t size_B)
{
	uint64_t from_B = offset_B > AROUND_B ? offset_B - AROUND_B : 0;
	uint64_t end_B = offset_B + size_B + AROUND_B;

	return (struct window){from_B, (end_B < ROOM_B ? end_B : ROOM_B) - from_B};
}

/* Fills the window of model and target with one value. */
static void prepare(enum place to, struct window w, int value)
{
	uint8_t *cpu = to == VRAM ? rooms.staging.map : address(to, 1);

	memset(rooms.model + w.from_B, value, w.size_B);
	memset(cpu + w.from_B, value, w.size_B);
	if (to == VRAM)
		CHECK_OK(tuff_copy(test_device(), address(VRAM, 1) + w.from_B, cpu + w.from_B, w.size_B, NULL, 0,
				   NULL));
}

static bool arrived(enum place to, struct window w)
{
	uint8_t *cpu = address(to, 1);

	if (to == VRAM) {
		cpu = rooms.staging.map;
		CHECK_OK(tuff_copy(test_device(), cpu + w.from_B, address(VRAM, 1) + w.from_B, w.size_B, NULL, 0,
				   NULL));
	}
	return !memcmp(cpu + w.from_B, rooms.model + w.from_B, w.size_B);
}

static const struct shape {
	uint64_t src_B, dst_B, size_B;
} shapes[] = {
	{0, 0, 1},      {3, 5, 7},          {4096, 0, 4096},         {1, 1, 65537},
	{2, 6, 300001}, {16, 32, 0x3fff00}, {5, 5, 0x3fff01 + 4096}, {0, 4, (8u << 20) + 12},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Large ones from each place to one other, and to each from one; which, changes with the shape. */
static bool is_looked_at(unsigned shape, unsigned from, unsigned to)
{
	return shapes[shape].size_B < 1u << 20 || (from + to + shape) % PLACES == 0;
}

/* Waits for the kernel's word, too: a job behind the point signals a syncobj. Registered memory is the only one
 * that a virtual GPU writes at the test's own addresses, and ThreadSanitizer sees no order in a word of another
 * mapping. */
static bool is_over(struct tuff_point point)
{
	struct tuff_sync_point sync = {0};
	struct tuff_order order = {.after = &point, .after_count = 1, .signal = &sync, .signal_count = 1};
	bool over = CHECK_OK(tuff_wait(point, TUFF_FOREVER)) &&
		    CHECK_OK(tuff_sync_create(test_device(), false, &sync.sync));

	if (!over)
		return false;
	over = CHECK_OK(tuff_submit(test_begin(test_compute(), 0), &order, NULL)) &&
	       CHECK_OK(tuff_sync_wait(sync.sync, 0, TUFF_FOREVER));
	CHECK_OK(tuff_sync_destroy(sync.sync));
	return over;
}

static void copy_once(enum place from, enum place to, const struct shape *s)
{
	struct window w = around(s->dst_B, s->size_B);
	struct tuff_point point;

	prepare(to, w, 0x11);
	memcpy(rooms.model + s->dst_B, rooms.host[0] + s->src_B, s->size_B);
	if (!CHECK_OK(tuff_copy(test_device(), address(to, 1) + s->dst_B, address(from, 0) + s->src_B, s->size_B,
				NULL, 0, &point)) ||
	    !is_over(point) || !CHECK(arrived(to, w)))
		printf("  %s + %llu to %s + %llu, %llu bytes\n", place_names[from], (unsigned long long)s->src_B,
		       place_names[to], (unsigned long long)s->dst_B, (unsigned long long)s->size_B);
}

static void fill_once(enum place to, const struct shape *s)
{
	struct window w = around(s->dst_B, s->size_B);
	struct tuff_point point;

	prepare(to, w, 0x22);
	memset(rooms.model + s->dst_B, 0xa7, s->size_B);
	if (!CHECK_OK(tuff_fill(test_device(), address(to, 1) + s->dst_B, 0xa7, s->size_B, NULL, 0, &point)) ||
	    !is_over(point) || !CHECK(arrived(to, w)))
		printf("  %s + %llu, %llu bytes\n", place_names[to], (unsigned long long)s->dst_B,
		       (unsigned long long)s->size_B);
}

static void everything_arrives(const char *engine)
{
	open_rooms(engine);
	for (unsigned i = 0; i < SHAPES; i++) {
		for (unsigned from = 0; from < PLACES; from++)
			for (unsigned to = 0; to < PLACES; to++)
				if (is_looked_at(i, from, to))
					copy_once(from, to, &shapes[i]);
		for (unsigned to = 0; to < PLACES; to++)
			if (to != HOST && is_looked_at(i, GTT, to))
				fill_once(to, &shapes[i]);
	}
}

/* Whether a copy within GTT, which every engine can do, is planned for that one. */
static void is_planned(enum tuff_copier want)
{
	enum tuff_copier copier = (enum tuff_copier)99;

	CHECK_OK(tuff_copy_plan(test_device(), address(GTT, 1), address(GTT, 0), ROOM_B, &copier));
	CHECK_EQ(copier, want);
}

static void by_plan(void)
{
	static const char *const names[] = {"SDMA", "a kernel", "the CPU"};
	static const uint64_t sizes_B[] = {64, 65536, ROOM_B};

	everything_arrives("auto");
	for (unsigned from = 0; from < PLACES; from++)
		for (unsigned i = 0; i < 3; i++) {
			enum tuff_copier copier;

			if (CHECK_OK(tuff_copy_plan(test_device(), address(VRAM, 1), address(from, 0), sizes_B[i],
						    &copier)))
				test_note("%s to VRAM, %llu bytes: %s", place_names[from],
					  (unsigned long long)sizes_B[i], names[copier]);
		}
	close_rooms();
}

static void by_sdma(void)
{
	everything_arrives("sdma");
	if (test_info()->copy_rings)
		is_planned(TUFF_COPIER_SDMA);
	close_rooms();
}

static void by_kernel(void)
{
	everything_arrives("shader");
	is_planned(TUFF_COPIER_KERNEL);
	close_rooms();
}

static void by_cpu(void)
{
	everything_arrives("cpu");
	is_planned(TUFF_COPIER_CPU);
	close_rooms();
}

static void bad_copies(void)
{
	struct test_memory m = test_vram(4096), g = test_gtt(4096);
	uint8_t *at = (uint8_t *)(uintptr_t)m.va, host[64] = {0};
	struct tuff_device *d = test_device();
	struct tuff_point point = {(struct tuff_queue *)host, 0};

	CHECK_EQ(tuff_copy(d, at, at + 50, 100, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_copy(d, at + 50, at, 100, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_copy(d, at, at, 100, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_copy(d, at, g.map, UINT64_MAX, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_copy(d, at, g.map, UINT64_MAX - m.va, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_copy(d, at, g.map, 4097, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_fill(d, host, 1, 8, NULL, 0, NULL), -EINVAL);
	CHECK_OK(tuff_copy(d, at, at + 100, 100, NULL, 0, NULL)); /* side by side */
	CHECK_OK(tuff_copy(d, at, g.map, 0, NULL, 0, &point));
	CHECK_EQ(tuff_poll(point), 1);
}

/* A copy behind a point starts when that is reached, and what waits for the copy sees its bytes. */
static void in_order(void)
{
	enum { SIZE_B = 1 << 16 };
	struct test_memory gate = test_uncached(4096), from = test_gtt(SIZE_B), vram = test_vram(SIZE_B),
			   to = test_gtt(SIZE_B);
	void *at = (void *)(uintptr_t)vram.va;
	struct tuff_device *d = test_device();
	struct tuff_cmd *cmd = test_begin(test_compute(), 0);
	struct tuff_point point[4];

	memset(from.map, 0x37, SIZE_B);
	CHECK_OK(tuff_cmd_wait_value(cmd, gate.va, 1));
	CHECK_OK(tuff_submit(cmd, NULL, &point[0]));
	CHECK_OK(tuff_fill(d, to.map, 0x99, SIZE_B, &point[0], 1, &point[1]));
	CHECK_OK(tuff_copy(d, at, from.map, SIZE_B, &point[0], 1, &point[2]));
	CHECK_OK(tuff_copy(d, to.map, at, SIZE_B, &point[1], 2, &point[3]));
	CHECK_EQ(tuff_wait(point[3], 2000000), -ETIMEDOUT);
	CHECK_EQ(*(volatile uint8_t *)to.map, 0);
	__atomic_store_n((uint32_t *)gate.map, 1, __ATOMIC_RELEASE);
	CHECK_OK(tuff_wait_all(point, 4, TUFF_FOREVER));
	CHECK(!memcmp(to.map, from.map, SIZE_B));
}

const struct device_test tests_copy[] = {
	{"copy/auto", "copies and fills between all places, by the engine that the plan says", by_plan, 0},
	{"copy/sdma", "the same, by the copy engine", by_sdma, 0},
	{"copy/kernel", "the same, by a kernel", by_kernel, 0},
	{"copy/cpu", "the same, by the CPU", by_cpu, 0},
	{"copy/bad", "copies that overlap, or reach beyond the memory, are refused", bad_copies, 0},
	{"copy/order", "copies wait for points, and points for copies", in_order, 0},
	{NULL},
};
