/* Memory of every place: one address for CPU and GPU, look-up by address, NUMA nodes, very many allocations,
 * exhaustion. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/device/device.h"

#define PAGE 4096ull

/* --- places ----------------------------------------------------------------------------------- */

/* Uncached VRAM, where the chip caches it whatever is asked, is refused: then there is nothing to test. */
static bool is_refused(enum tuff_place place, unsigned flags)
{
	struct tuff_mem_create_info info = {.size_B = PAGE, .place = place, .flags = flags};
	struct tuff_mem *mem;

	if (place != TUFF_VRAM || !(flags & TUFF_MEM_UNCACHED) || test_info()->can_share_uncached_vram)
		return false;
	CHECK_EQ(tuff_mem_create(test_device(), &info, &mem), -ENOTSUP);
	return true;
}

static void one_place(const struct test_gpu *gpu, enum tuff_place place, unsigned flags)
{
	struct test_memory m = test_memory(12345, place, flags);
	/* the CPU must not read write-combined memory */
	volatile uint32_t *w = place == TUFF_GTT_WC ? NULL : m.map;
	uint64_t at = m.va + 12000;
	struct tuff_mem_info info;

	CHECK_OK(tuff_mem_query(m.mem, &info));
	CHECK_EQ(info.size_B, 16384);
	CHECK(info.flags == flags && (info.place == place || (place == TUFF_LOCAL && info.place <= TUFF_GTT)));
	CHECK_EQ(!!m.map, !!(flags & TUFF_MEM_CPU));
	CHECK(m.va && m.va % PAGE == 0 && (!m.map || (uintptr_t)m.map == m.va));
	CHECK_EQ(test_peek(test_device(), at), 0);
	CHECK_EQ(test_peek(test_device(), m.va + 16380), 0);
	/* the GPU writes */
	CHECK_OK(test_gpu_add(gpu, at, 7));
	CHECK_EQ(test_peek(test_device(), at + 252), 7);
	if (w)
		CHECK_EQ(w[3000 + 63], 7);
	/* the CPU writes */
	if (m.map) {
		*(volatile uint32_t *)((char *)m.map + 12000) = 100;
		*(volatile uint32_t *)((char *)m.map + 12004) = 200;
		CHECK_OK(test_gpu_add(gpu, at, 1));
		CHECK_EQ(test_peek(test_device(), at), 301);
		CHECK_EQ(test_peek(test_device(), at + 4), 601);
		CHECK_EQ(test_peek(test_device(), at + 8), 22);
	}
	if (w)
		CHECK(w[3000] == 301 && w[3001] == 601 && w[3002] == 22);
	test_free(&m);
}

static void every_place(void)
{
	static const unsigned extra[] = {0, TUFF_MEM_STRICT};
	struct test_gpu gpu = test_gpu_open(test_device());

	for (unsigned place = TUFF_VRAM; place <= TUFF_LOCAL; place++)
		for (unsigned i = 0; i < 2 * TUFF_MEM_UNBOUND; i++) {
			unsigned before = check_failed_, flags = i / 2 | extra[i & 1];

			/* an APU may choose VRAM, which may not be uncached */
			if (place == TUFF_LOCAL && flags & TUFF_MEM_UNCACHED)
				continue;
			if (!is_refused(place, flags))
				one_place(&gpu, place, flags);
			if (check_failed_ != before)
				printf("  place %u, flags 0x%x\n", place, flags);
		}
	test_gpu_close(&gpu);
}

static bool finds(uint64_t address, const struct test_memory *m)
{
	struct tuff_mem *found = NULL;
	uint64_t offset_B = 1;
	int r = tuff_mem_find(test_device(), (void *)(uintptr_t)address, &found, &offset_B);

	CHECK(!r || r == -ENOENT);
	return !r && found == m->mem && offset_B == address - m->va;
}

static void found_by_address(void)
{
	struct test_memory m[] = {test_gtt(5 * PAGE), test_vram(5 * PAGE), test_memory(5 * PAGE, TUFF_GTT_WC, 0),
				  test_memory(5 * PAGE, TUFF_VRAM, TUFF_MEM_PRIVATE)};
	struct tuff_mem *none;
	uint64_t offset_B;
	int local;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t va = m[i].va;

		CHECK(finds(va, &m[i]) && finds(va + 1, &m[i]) && finds(va + 5 * PAGE - 1, &m[i]));
		CHECK(!finds(va - 1, &m[i]) && !finds(va + 5 * PAGE, &m[i]));
		test_free(&m[i]);
		CHECK_EQ(tuff_mem_find(test_device(), (void *)(uintptr_t)va, &none, &offset_B), -ENOENT);
	}
	CHECK_EQ(tuff_mem_find(test_device(), &local, &none, &offset_B), -ENOENT);
	CHECK_EQ(tuff_mem_find(test_device(), NULL, &none, &offset_B), -ENOENT);
	CHECK_EQ(tuff_mem_find(test_device(), (void *)UINTPTR_MAX, &none, &offset_B), -ENOENT);
}

/* --- nodes ------------------------------------------------------------------------------------ */

enum { NODE_PAGES = 700 };

/* false: there is no such node. */
static bool one_node(const struct test_gpu *gpu, unsigned node)
{
	struct tuff_mem_info info;
	struct tuff_mem *mem;
	int r = tuff_mem_create_on_node(test_device(), NODE_PAGES * PAGE - 5, node, &mem), where[NODE_PAGES];
	unsigned right = 0;
	volatile uint32_t *w;

	if (r == -EINVAL)
		return false;
	if (r == -ENOTSUP)
		test_skip("%s", tuff_error());
	if (r == -ENOMEM && node)
		return true; /* a node without memory, or without free memory */
	if (!CHECK_OK(r))
		return false;
	CHECK_OK(tuff_mem_query(mem, &info));
	CHECK(info.place == TUFF_HOST && info.va == (uintptr_t)info.map && info.size_B == NODE_PAGES * PAGE);
	w = info.map;
	w[699 * 1024] = 5;
	CHECK_OK(test_gpu_add(gpu, info.va + 699 * PAGE, 7));
	CHECK_EQ(w[699 * 1024], 22);
	r = tuff_mem_nodes(mem, 0, NODE_PAGES, where);
	if (r == -ENOTSUP) {
		test_note("this system does not tell where pages are");
	} else if (CHECK_OK(r)) {
		for (unsigned i = 0; i < NODE_PAGES; i++)
			right += where[i] == (int)node;
		CHECK_EQ(right, NODE_PAGES);
		/* page by page, and no more than was asked for */
		for (unsigned i = 0; i < NODE_PAGES; i += 99) {
			where[0] = where[1] = -77;
			CHECK_OK(tuff_mem_nodes(mem, i, 1, where));
			CHECK(where[0] == (int)node && where[1] == -77);
		}
	}
	CHECK_OK(tuff_mem_destroy(mem));
	return true;
}

static void memory_of_each_node(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	struct tuff_mem *mem;
	unsigned nodes = 0;

	while (nodes < 64 && one_node(&gpu, nodes))
		nodes++;
	CHECK(nodes > 0);
	test_note("%u nodes", nodes);
	CHECK_EQ(tuff_mem_create_on_node(test_device(), PAGE, 100000, &mem), -EINVAL);
	test_gpu_close(&gpu);
}

static void pages_that_are_not_there(void)
{
	char *host = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct test_memory hidden = test_vram(PAGE);
	struct tuff_mem *mem;
	int where[4], r;

	CHECK_EQ(tuff_mem_nodes(hidden.mem, 0, 1, where), -EINVAL);
	memset(host, 1, 4 * PAGE);
	if (!CHECK_OK(tuff_mem_register(test_device(), host, 4 * PAGE, 0, &mem)))
		return;
	madvise(host + PAGE, 2 * PAGE, MADV_DONTNEED);
	host[2 * PAGE] = 1;
	r = tuff_mem_nodes(mem, 0, 4, where);
	if (r == -ENOTSUP) {
		test_note("this system does not tell where pages are");
	} else if (CHECK_OK(r)) {
		CHECK(where[0] >= 0 && where[2] >= 0 && where[3] >= 0);
		CHECK_EQ(where[1], -1);
	}
	CHECK_OK(tuff_mem_destroy(mem));
	munmap(host, 4 * PAGE);
}

/* Memory at an odd address touches one page more than its size has. */
static void nodes_of_odd_memory(void)
{
	char *host = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int where[4] = {-77, -77, -77, -77}, r;
	struct tuff_mem *mem;

	memset(host, 1, 3 * PAGE);
	if (!CHECK_OK(tuff_mem_register(test_device(), host + 100, 2 * PAGE, 0, &mem)))
		return;
	r = tuff_mem_nodes(mem, 0, 1, where);
	if (r == -ENOTSUP)
		test_skip("%s", tuff_error());
	CHECK_OK(r);
	CHECK(where[0] >= 0 && where[1] == -77);
	CHECK_OK(tuff_mem_nodes(mem, 2, 1, where));
	CHECK(where[0] >= 0 && where[1] == -77);
	CHECK_OK(tuff_mem_nodes(mem, 0, 3, where));
	CHECK(where[2] >= 0 && where[3] == -77);
	CHECK_EQ(tuff_mem_nodes(mem, 1, 3, where), -EINVAL);
	CHECK_OK(tuff_mem_destroy(mem));
	munmap(host, 3 * PAGE);
}

/* --- many and much ---------------------------------------------------------------------------- */

static void hold_many(unsigned count)
{
	struct tuff_mem **mem = calloc(count, sizeof(struct tuff_mem *));
	struct test_gpu gpu = test_gpu_open(test_device());
	struct test_memory word = test_gtt(PAGE);
	struct tuff_mem_info info;
	unsigned n = 0, right = 0;

	while (mem && n < count) {
		struct tuff_mem_create_info want = {.size_B = PAGE,
						    .place = n & 1 ? TUFF_VRAM : TUFF_GTT,
						    .flags = n & 2 ? TUFF_MEM_PRIVATE : 0};

		if (!CHECK_OK(tuff_mem_create(test_device(), &want, &mem[n])))
			break;
		n++;
	}
	CHECK_EQ(n, count);
	CHECK_OK(test_gpu_add(&gpu, word.va, 3));
	CHECK_EQ(*(uint32_t *)word.map, 3);
	/* the GPU reaches the first, the last, and some between */
	for (unsigned i = 0; i < n; i += n / 50 + 1) {
		CHECK_OK(tuff_mem_query(mem[i], &info));
		CHECK_OK(test_gpu_add(&gpu, info.va, i));
		CHECK_EQ(test_peek(test_device(), info.va), i);
	}
	for (unsigned i = 0; i < n; i++) {
		struct tuff_mem *found;
		uint64_t offset_B;

		right += !tuff_mem_query(mem[i], &info) &&
			 !tuff_mem_find(test_device(), (char *)(uintptr_t)info.va + i % PAGE, &found, &offset_B) &&
			 found == mem[i] && offset_B == i % PAGE;
	}
	CHECK_EQ(right, n);
	for (unsigned i = 0; i < n; i++)
		right -= !tuff_mem_destroy(mem[(uint64_t)i * 7919 % n]);
	CHECK_EQ(right, 0);
	CHECK_OK(test_gpu_add(&gpu, word.va, 3));
	CHECK_EQ(*(uint32_t *)word.map, 12);
	free(mem);
	test_gpu_close(&gpu);
}

static void a_thousand(void)
{
	hold_many(1000);
}

static void a_hundred_thousand(void)
{
	hold_many(100000);
}

/* TUFF_MEM_STRICT is refused where it would have to be put elsewhere. */
static void strict_memory(void)
{
	enum { PARTS = 64 };
	struct tuff_mem_create_info part = {.place = TUFF_VRAM, .flags = TUFF_MEM_STRICT};
	struct test_gpu gpu = test_gpu_open(test_device());
	struct tuff_mem *mem[PARTS + 1];
	struct test_memory word;
	unsigned n = 0;
	int r = 0;

	part.size_B = test_info()->vram_B / PARTS & ~(PAGE - 1);
	while (n <= PARTS && !(r = tuff_mem_create(test_device(), &part, &mem[n])))
		n++;
	CHECK(n > 0);
	CHECK_EQ(r, -ENOMEM);
	test_note("%u of %u parts of %llu MiB: %s", n, PARTS, (unsigned long long)part.size_B >> 20, tuff_error());
	while (n)
		CHECK_OK(tuff_mem_destroy(mem[--n]));
	word = test_memory(1 << 20, TUFF_VRAM, TUFF_MEM_STRICT);
	CHECK_OK(test_gpu_add(&gpu, word.va, 9));
	CHECK_EQ(test_peek(test_device(), word.va), 9);
	test_gpu_close(&gpu);
}

/* Takes VRAM up to all that the device says it has, and gives it back at once; the kernel may say that it is full,
 * or move memory to GTT. */
static void more_than_there_is(void)
{
	enum { PARTS = 64 };
	struct tuff_mem_create_info part = {.place = TUFF_VRAM}, all = {.place = TUFF_VRAM};
	struct test_gpu gpu = test_gpu_open(test_device());
	struct test_memory word;
	struct tuff_usage before = {0}, full = {0};
	struct tuff_mem *mem[PARTS], *none = NULL;
	unsigned n = 0;
	int r = 0;

	part.size_B = test_info()->vram_B / PARTS & ~(PAGE - 1);
	all.size_B = test_info()->vram_B + test_info()->gtt_B + PAGE;
	CHECK_OK(tuff_device_usage(test_device(), &before));
	while (n < PARTS && !(r = tuff_mem_create(test_device(), &part, &mem[n])))
		n++;
	CHECK_OK(tuff_device_usage(test_device(), &full));
	CHECK(n && (!r || r == -ENOMEM));
	if (r)
		CHECK(*tuff_error());
	test_note("%u of %u parts of %llu MiB; VRAM +%lld MiB, GTT +%lld MiB: %s", n, PARTS,
		  (unsigned long long)part.size_B >> 20, ((long long)full.vram_B - (long long)before.vram_B) >> 20,
		  ((long long)full.gtt_B - (long long)before.gtt_B) >> 20, r ? tuff_error() : "no error");
	while (n)
		CHECK_OK(tuff_mem_destroy(mem[--n]));
	r = tuff_mem_create(test_device(), &all, &none);
	CHECK(r == -EINVAL || r == -ENOMEM);
	CHECK(!none);
	/* and on it goes */
	word = test_vram(1 << 20);
	CHECK_OK(test_gpu_add(&gpu, word.va, 9));
	CHECK_EQ(test_peek(test_device(), word.va), 9);
	test_gpu_close(&gpu);
}

const struct device_test tests_memory[] = {
	{"memory/places", "CPU and GPU write and read every sort of memory at one address", every_place, 0},
	{"memory/find", "memory is found by every address in it, and by no other", found_by_address, 0},
	{"memory/nodes", "system memory lies on the node that was asked for, page by page", memory_of_each_node, 0},
	{"memory/absent-pages", "pages that are not there have no node", pages_that_are_not_there, 0},
	{"memory/odd-nodes", "the nodes of memory at an odd address: as many as asked for", nodes_of_odd_memory, 0},
	{"memory/many", "a thousand buffers, and jobs meanwhile", a_thousand, 0},
	{"memory/very-many", "a hundred thousand buffers", a_hundred_thousand, TEST_LONG},
	{"memory/strict", "VRAM that must be VRAM is refused when there is no more, and then it goes on",
	 strict_memory, 0},
	{"memory/full", "when VRAM is full there is an error or other memory, and then it goes on",
	 more_than_there_is, TEST_LENIENT},
	{NULL},
};
