/* Address ranges: their placement; several memories in a range, one memory at several addresses; parts that are
 * rebound, unbound and protected, as CPU, kernels and copies see them. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/device/device.h"

#define PAGE 4096ull

struct range {
	struct tuff_range *range; /* owned */
	uint64_t va;
};

static struct range reserve(uint64_t size_B, uint64_t align_B, uint64_t va, unsigned flags)
{
	struct tuff_range_create_info info = {.size_B = size_B, .align_B = align_B, .va = va, .flags = flags};
	struct range r = {0};

	if (tuff_range_create(test_device(), &info, &r.range, &r.va))
		test_fail("no range of %llu bytes", (unsigned long long)size_B);
	return r;
}

static void release(struct range *r)
{
	CHECK_OK(tuff_range_destroy(r->range));
	*r = (struct range){0};
}

static void bind(const struct range *r, unsigned page, const struct test_memory *m, unsigned from, unsigned count)
{
	CHECK_OK(tuff_range_bind(r->range, page * PAGE, m->mem, from * PAGE, count * PAGE, TUFF_ACCESS_READ_WRITE));
}

static volatile uint32_t *at(const struct range *r, unsigned page)
{
	return (volatile uint32_t *)(uintptr_t)(r->va + page * PAGE);
}

static struct test_memory unbound(unsigned pages, enum tuff_place place)
{
	struct test_memory m =
		test_memory(pages * PAGE, place, TUFF_MEM_UNBOUND | (place == TUFF_GTT ? TUFF_MEM_CPU : 0));

	CHECK(!m.va && !m.map);
	return m;
}

/* Whether the CPU may read and write a word; the system calls answer EFAULT where an access would be a SIGSEGV. */
static bool cpu_reads(volatile uint32_t *p)
{
	int fd[2];
	bool can;

	if (pipe(fd))
		test_fail("no pipe");
	can = write(fd[1], (const void *)p, 4) == 4;
	close(fd[0]);
	close(fd[1]);
	return can;
}

static bool cpu_writes(volatile uint32_t *p)
{
	uint32_t value = 7;
	int fd[2];
	bool can;

	if (pipe(fd) || write(fd[1], &value, 4) != 4)
		test_fail("no pipe");
	can = read(fd[0], (void *)p, 4) == 4;
	close(fd[0]);
	close(fd[1]);
	return can;
}

/* --- where they lie --------------------------------------------------------------------------- */

static void where_they_are_wanted(void)
{
	struct range any = reserve(3 * PAGE, 0, 0, 0), aligned = reserve(PAGE, 64 << 20, 0, 0), low[20], again;
	struct tuff_range_create_info exact = {.size_B = PAGE, .va = any.va};
	uint64_t va = any.va;

	CHECK_EQ(aligned.va % (64 << 20), 0);
	CHECK_EQ(tuff_range_create(test_device(), &exact, &again.range, &again.va), -EEXIST);
	release(&any);
	again = reserve(3 * PAGE, 0, va, 0);
	CHECK_EQ(again.va, va);
	release(&again);
	release(&aligned);
	for (unsigned i = 0; i < 20; i++) {
		low[i] = reserve((i + 1) * 16 * PAGE, i & 1 ? 8 << 20 : 0, 0, TUFF_RANGE_LOW);
		CHECK(low[i].va && low[i].va + (i + 1) * 16 * PAGE <= 1ull << 32);
		CHECK_EQ(low[i].va % (i & 1 ? 8 << 20 : PAGE), 0);
	}
	for (unsigned i = 0; i < 20; i++)
		release(&low[i]);
}

static void do_not_overlap(void)
{
	static const unsigned flags[] = {0, TUFF_RANGE_LOW, TUFF_RANGE_GPU};

	for (unsigned f = 0; f < 3; f++) {
		struct range r[48];

		for (unsigned i = 0; i < 48; i++) {
			r[i] = reserve((1 + i % 3) * PAGE, i % 5 ? 0 : 1 << 20, 0, flags[f]);
			CHECK(flags[f] != TUFF_RANGE_GPU || r[i].va >= 1ull << 47);
			for (unsigned j = 0; j < i; j++)
				CHECK(r[i].va + (1 + i % 3) * PAGE <= r[j].va ||
				      r[j].va + (1 + j % 3) * PAGE <= r[i].va);
		}
		for (unsigned i = 0; i < 48; i++)
			release(&r[i * 7 % 48]);
	}
}

/* A memory below 4 GiB, at an address of the GPU's alone, and anywhere: kernels and copies reach it at each. */
static void low_and_high(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());

	for (unsigned place = TUFF_VRAM; place <= TUFF_GTT; place++) {
		struct test_memory m = unbound(4, place);
		struct range r[] = {reserve(4 * PAGE, 0, 0, 0), reserve(4 * PAGE, 0, 0, TUFF_RANGE_LOW),
				    reserve(4 * PAGE, 0, 0, TUFF_RANGE_GPU)};
		uint32_t want = 0;

		for (unsigned i = 0; i < 3; i++)
			bind(&r[i], 0, &m, 0, 4);
		for (unsigned i = 0; i < 3; i++) {
			want = want * 3 + i + 1;
			CHECK_OK(test_gpu_add(&gpu, r[i].va + 3 * PAGE, i + 1));
			for (unsigned k = 0; k < 3; k++)
				CHECK_EQ(test_peek(test_device(), r[k].va + 3 * PAGE), want);
			if (place == TUFF_GTT)
				CHECK_EQ(*at(&r[0], 3), want);
			test_poke(test_device(), r[i].va + 3 * PAGE, ++want);
		}
		CHECK(!cpu_reads(at(&r[2], 0)));
		for (unsigned i = 0; i < 3; i++)
			release(&r[i]);
		test_free(&m);
	}
	test_gpu_close(&gpu);
}

/* --- bindings --------------------------------------------------------------------------------- */

static void parts_of_memories(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	struct test_memory a = unbound(8, TUFF_GTT), b = unbound(8, TUFF_GTT);
	struct range r = reserve(16 * PAGE, 0, 0, 0), other = reserve(8 * PAGE, 0, 0, 0);

	bind(&r, 0, &a, 0, 8);
	bind(&r, 8, &b, 2, 4);
	bind(&other, 0, &b, 0, 8);

	/* one memory, two addresses, CPU and GPU */
	for (unsigned i = 0; i < 12; i++)
		at(&r, i)[1] = i;
	CHECK_EQ(at(&other, 2)[1], 8);
	CHECK_OK(test_gpu_add(&gpu, r.va + 9 * PAGE, 100));
	CHECK_EQ(at(&other, 3)[1], 127);

	/* a hole, which cuts one binding in two; nothing there: nothing to do */
	for (unsigned i = 0; i < 2; i++)
		CHECK_OK(tuff_range_unbind(r.range, 2 * PAGE, 3 * PAGE));
	CHECK(cpu_reads(at(&r, 1)) && !cpu_reads(at(&r, 2)) && !cpu_reads(at(&r, 4)) && cpu_reads(at(&r, 5)));
	CHECK_OK(test_gpu_add(&gpu, r.va + 5 * PAGE, 1));
	CHECK_EQ(at(&r, 5)[1], 16);

	/* over two bindings and the hole */
	bind(&r, 1, &b, 0, 6);
	CHECK_EQ(at(&r, 0)[1], 0);
	CHECK_EQ(at(&r, 3)[1], 8);
	CHECK_EQ(at(&r, 7)[1], 7);
	CHECK_OK(test_gpu_add(&gpu, r.va + 4 * PAGE, 1));
	CHECK_EQ(at(&other, 3)[1], 382);
	CHECK_EQ(at(&r, 9)[1], 382);
	CHECK_OK(test_gpu_add(&gpu, r.va + 7 * PAGE, 1));
	CHECK_EQ(at(&r, 7)[1], 22);
	release(&other);
	CHECK_EQ(at(&r, 9)[1], 382);
	release(&r);
	test_gpu_close(&gpu);
}

/* What a range shows lives as long as it is bound there, whatever becomes of the tuff_mem. */
static void bindings_keep_memory(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	struct range r = reserve(4 * PAGE, 0, 0, 0);
	struct test_memory own = test_gtt(4 * PAGE), none = unbound(4, TUFF_VRAM);

	((uint32_t *)own.map)[2 * 1024] = 5;
	bind(&r, 0, &own, 2, 2);
	bind(&r, 2, &none, 0, 2);
	test_free(&own);
	test_free(&none);
	CHECK_EQ(at(&r, 0)[0], 5);
	CHECK_OK(test_gpu_add(&gpu, r.va, 1));
	CHECK_EQ(at(&r, 0)[0], 16);
	CHECK_OK(test_gpu_add(&gpu, r.va + 3 * PAGE, 4));
	CHECK_EQ(test_peek(test_device(), r.va + 3 * PAGE), 4);
	release(&r);
	test_gpu_close(&gpu);
}

/* Page by page a range is bound, bound anew and unbound at random, and compared with what it should show. */
static void at_random(void)
{
	enum { PAGES = 24, STEPS = 400 };
	struct test_gpu gpu = test_gpu_open(test_device());
	struct test_memory m[] = {unbound(PAGES, TUFF_GTT), unbound(PAGES, TUFF_GTT)};
	struct range view[] = {reserve(PAGES * PAGE, 0, 0, 0), reserve(PAGES * PAGE, 0, 0, 0)},
		     r = reserve(PAGES * PAGE, 0, 0, 0);
	uint32_t shows[PAGES] = {0}; /* the mark of the page that is bound there; 0: none */
	uint64_t seed = 11;

	for (unsigned i = 0; i < 2; i++) {
		bind(&view[i], 0, &m[i], 0, PAGES);
		for (unsigned p = 0; p < PAGES; p++)
			at(&view[i], p)[0] = 1000 * (i + 1) + p;
	}
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned first = test_random(&seed) % PAGES, count = 1 + test_random(&seed) % (PAGES - first);
		unsigned from = test_random(&seed) % (PAGES - count + 1), which = test_random(&seed) % 3, wrong = 0;

		if (which == 2)
			CHECK_OK(tuff_range_unbind(r.range, first * PAGE, count * PAGE));
		else
			bind(&r, first, &m[which], from, count);
		for (unsigned p = first; p < first + count; p++)
			shows[p] = which == 2 ? 0 : 1000 * (which + 1) + from + p - first;
		for (unsigned p = 0; p < PAGES; p++)
			wrong +=
				shows[p] ? !cpu_reads(at(&r, p)) || at(&r, p)[0] != shows[p] : cpu_reads(at(&r, p));
		if (!CHECK_EQ(wrong, 0))
			break;
		/* the GPU sees the same */
		for (unsigned p = first; step % 10 == 0 && p < first + count; p++)
			if (shows[p])
				CHECK_EQ(test_peek(test_device(), r.va + p * PAGE), shows[p]);
	}
	for (unsigned p = 0; p < PAGES; p++)
		if (shows[p])
			CHECK_OK(test_gpu_add(&gpu, r.va + p * PAGE + 512, 1));
	release(&r);
	release(&view[0]);
	release(&view[1]);
	test_gpu_close(&gpu);
}

/* --- access ----------------------------------------------------------------------------------- */

static void cpu_access(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	struct test_memory m = unbound(6, TUFF_GTT), hidden = unbound(1, TUFF_VRAM);
	struct range r = reserve(6 * PAGE, 0, 0, 0);

	CHECK_OK(tuff_range_bind(r.range, 0, m.mem, 0, 6 * PAGE, TUFF_ACCESS_NONE));
	CHECK(!cpu_reads(at(&r, 0)));
	CHECK_OK(tuff_range_protect(r.range, 0, 6 * PAGE, TUFF_ACCESS_READ_WRITE));
	at(&r, 0)[0] = 4;
	CHECK_OK(test_gpu_add(&gpu, r.va, 1));
	CHECK_EQ(at(&r, 0)[0], 13);
	at(&r, 3)[0] = 9;

	CHECK_OK(tuff_range_protect(r.range, 2 * PAGE, 2 * PAGE, TUFF_ACCESS_READ));
	CHECK(cpu_reads(at(&r, 3)) && !cpu_writes(at(&r, 3)));
	CHECK(cpu_writes(at(&r, 1)) && cpu_writes(at(&r, 4)));
	CHECK_EQ(test_peek(test_device(), r.va + 3 * PAGE), 9);

	/* over parts with different access */
	CHECK_OK(tuff_range_protect(r.range, PAGE, 4 * PAGE, TUFF_ACCESS_NONE));
	for (unsigned p = 0; p < 6; p++)
		CHECK_EQ(cpu_reads(at(&r, p)), p == 0 || p == 5);
	CHECK_OK(tuff_range_protect(r.range, PAGE, 4 * PAGE, TUFF_ACCESS_READ_WRITE));
	CHECK_OK(test_gpu_add(&gpu, r.va + 3 * PAGE, 9));
	CHECK_EQ(at(&r, 3)[0], 36);

	/* memory that the CPU does not reach */
	CHECK_OK(tuff_range_bind(r.range, 5 * PAGE, hidden.mem, 0, PAGE, TUFF_ACCESS_READ_WRITE));
	CHECK(!cpu_reads(at(&r, 5)));
	CHECK_OK(test_gpu_add(&gpu, r.va + 5 * PAGE, 2));
	CHECK_EQ(test_peek(test_device(), r.va + 5 * PAGE), 2);
	CHECK_OK(tuff_range_unbind(r.range, 5 * PAGE, PAGE));
	CHECK_EQ(tuff_range_protect(r.range, 0, 6 * PAGE, TUFF_ACCESS_READ), -ENOENT);
	release(&r);
	test_gpu_close(&gpu);
}

static void gpu_access(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	struct test_memory m = unbound(6, TUFF_GTT);
	struct range r = reserve(6 * PAGE, 0, 0, 0), view = reserve(6 * PAGE, 0, 0, 0);

	bind(&view, 0, &m, 0, 6);
	bind(&r, 0, &m, 0, 6);
	for (unsigned p = 0; p < 6; p++)
		at(&view, p)[0] = p + 1;
	CHECK_OK(tuff_range_protect(r.range, PAGE, PAGE, TUFF_ACCESS_NONE));
	CHECK_OK(tuff_range_protect(r.range, 2 * PAGE, 2 * PAGE, TUFF_ACCESS_READ));
	CHECK_OK(tuff_range_unbind(r.range, 4 * PAGE, PAGE));
	for (unsigned p = 0; p < 6; p++) {
		bool may = p == 0 || p == 5;

		if (may)
			CHECK_OK(test_gpu_add(&gpu, r.va + p * PAGE, 1));
		else
			CHECK(test_gpu_add_faults(&gpu, r.va + p * PAGE));
		CHECK_EQ(at(&view, p)[0], may ? (p + 1) * 3 + 1 : p + 1);
		/* the other view of the same memory may all the time */
		CHECK_OK(test_gpu_add(&gpu, view.va + p * PAGE, 0));
	}
	/* copies from page 0 on: each page may be written, be read */
	for (unsigned p = 0; p < 4; p++) {
		static const int to[] = {0, -EACCES, -EACCES, -EACCES}, from[] = {0, -EACCES, 0, 0};
		void *here = (void *)at(&r, p), *there = (void *)at(&view, 5);

		CHECK_EQ(tuff_copy(test_device(), here, there, 64, NULL, 0, NULL), to[p]);
		CHECK_EQ(tuff_fill(test_device(), here, 7, PAGE, NULL, 0, NULL), to[p]);
		CHECK_EQ(tuff_copy(test_device(), there, here, PAGE, NULL, 0, NULL), from[p]);
		/* and the second of two pages */
		CHECK_EQ(tuff_fill(test_device(), (void *)at(&r, 0), 7, (p + 1) * PAGE, NULL, 0, NULL), to[p]);
	}
	release(&r);
	release(&view);
	test_gpu_close(&gpu);
}

/* --- copies ----------------------------------------------------------------------------------- */

enum { COPY_PAGES = 768 }; /* 3 MiB */

/* A range of alternating pieces of VRAM and GTT, of uneven sizes. */
static struct range patchwork(unsigned flags)
{
	struct test_memory vram = unbound(COPY_PAGES, TUFF_VRAM), gtt = unbound(COPY_PAGES, TUFF_GTT);
	struct range r = reserve(COPY_PAGES * PAGE, 0, 0, flags);

	for (unsigned page = 0, count, i = 0; page < COPY_PAGES; page += count, i++) {
		count = 1 + i * 37 % 101;
		count = count < COPY_PAGES - page ? count : COPY_PAGES - page;
		bind(&r, page, i & 1 ? &gtt : &vram, COPY_PAGES - page - count, count);
	}
	test_free(&vram);
	test_free(&gtt);
	return r;
}

static void copies_across(void)
{
	static const unsigned flags[] = {0, TUFF_RANGE_GPU};
	const uint64_t size_B = COPY_PAGES * PAGE;
	struct test_memory from = test_gtt(COPY_PAGES * PAGE), to = test_gtt(COPY_PAGES * PAGE);
	uint8_t *f = from.map, *t = to.map;
	uint64_t seed = 5;

	for (uint64_t i = 0; i < size_B; i++)
		f[i] = (uint8_t)test_random(&seed);
	for (unsigned k = 0; k < 2; k++) {
		struct range a = patchwork(flags[k]), b = patchwork(flags[k]);
		char *in_a = (char *)(uintptr_t)a.va, *in_b = (char *)(uintptr_t)b.va;

		/* in, across, out, at odd places */
		CHECK_OK(tuff_copy(test_device(), in_a + 77, f, size_B - 77, NULL, 0, NULL));
		CHECK_OK(tuff_fill(test_device(), in_b, 0x5a, size_B, NULL, 0, NULL));
		CHECK_OK(tuff_copy(test_device(), in_b + 1, in_a + 77, size_B - 77, NULL, 0, NULL));
		memset(t, 0, size_B);
		CHECK_OK(tuff_copy(test_device(), t, in_b, size_B, NULL, 0, NULL));
		CHECK(!memcmp(t + 1, f, size_B - 77));
		CHECK(t[0] == 0x5a && t[size_B - 75] == 0x5a && t[size_B - 1] == 0x5a);
		release(&a);
		release(&b);
	}
}

static void copies_need_all_bound(void)
{
	struct test_memory m = unbound(8, TUFF_GTT), g = test_gtt(8 * PAGE);
	struct range r = reserve(8 * PAGE, 0, 0, 0);
	char *in = (char *)(uintptr_t)r.va;

	bind(&r, 0, &m, 0, 8);
	CHECK_OK(tuff_copy(test_device(), in, g.map, 8 * PAGE, NULL, 0, NULL));
	CHECK_OK(tuff_range_unbind(r.range, 3 * PAGE, PAGE));
	CHECK_EQ(tuff_copy(test_device(), in, g.map, 8 * PAGE, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_copy(test_device(), g.map, in + 5, 3 * PAGE, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_fill(test_device(), in + 2 * PAGE, 0, PAGE + 1, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_fill(test_device(), in + 4 * PAGE, 0, 4 * PAGE + 1, NULL, 0, NULL), -EINVAL);
	CHECK_OK(tuff_fill(test_device(), in + 2 * PAGE, 1, PAGE, NULL, 0, NULL));
	CHECK_OK(tuff_fill(test_device(), in + 4 * PAGE, 1, 4 * PAGE, NULL, 0, NULL));
	release(&r);
}

/* Other memory does not count that lies right behind the range: nobody meant it. */
static void copies_end_with_the_range(void)
{
	struct test_memory m = unbound(2, TUFF_GTT), g = test_gtt(4 * PAGE), next = test_gtt(PAGE);
	struct tuff_range_create_info before = {.size_B = 2 * PAGE, .va = next.va - 2 * PAGE};
	struct range r;
	char *in;

	if (tuff_range_create(test_device(), &before, &r.range, &r.va)) {
		test_free(&m);
		test_free(&g);
		test_free(&next);
		test_skip("the addresses before a memory are in use");
	}
	bind(&r, 0, &m, 0, 2);
	in = (char *)(uintptr_t)r.va;
	CHECK_EQ(tuff_fill(test_device(), in, 9, 2 * PAGE + 1, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(tuff_copy(test_device(), g.map, in + PAGE, PAGE + 1, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(*(uint8_t *)next.map, 0);
	CHECK_OK(tuff_fill(test_device(), in, 9, 2 * PAGE, NULL, 0, NULL));
	CHECK_EQ(*(uint8_t *)next.map, 0);
	release(&r);
}

const struct device_test tests_range[] = {
	{"memory/range-places", "ranges lie where they are wanted", where_they_are_wanted, 0},
	{"memory/range-apart", "ranges do not overlap, of whatever sort", do_not_overlap, 0},
	{"memory/range-low-high", "one memory below 4 GiB, above 2^47 and between", low_and_high, 0},
	{"memory/range-parts", "parts of several memories in one range", parts_of_memories, 0},
	{"memory/range-keeps", "what is bound lives on when its memory is destroyed", bindings_keep_memory, 0},
	{"memory/range-random", "400 random bindings show what they should, to CPU and GPU", at_random, 0},
	{"memory/range-cpu-access", "access of the CPU changes in step", cpu_access, 0},
	{"memory/range-gpu-access", "the GPU reaches what it may, and nothing else", gpu_access, TEST_LENIENT},
	{"memory/range-copies", "copies into, out of and across patchworks of VRAM and system memory",
	 copies_across, 0},
	{"memory/range-holes", "copies that reach what is not bound are refused", copies_need_all_bound, 0},
	{"memory/range-end", "copies do not run on into what lies behind a range", copies_end_with_the_range, 0},
	{NULL},
};
