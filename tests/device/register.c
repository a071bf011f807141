/* Host memory for the GPU: malloc'ed, on a stack, of files, read-only, at odd addresses, overlapping, over fork;
 * the GPU reads and writes it, and after unregistering the program has it for itself. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/device/device.h"

#define PAGE 4096ull

static char *pages(unsigned count)
{
	char *p = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		test_fail("no host memory");
	return p;
}

static struct test_memory enter(void *host, uint64_t size_B, unsigned flags)
{
	struct test_memory m = {0};
	struct tuff_mem_info info;
	int r = tuff_mem_register(test_device(), host, size_B, flags, &m.mem);

	if (r || tuff_mem_query(m.mem, &info))
		test_fail("%llu bytes at %p are not registered (%d)", (unsigned long long)size_B, host, r);
	CHECK(info.place == TUFF_HOST && info.size_B == size_B && info.map == host);
	CHECK_EQ(info.va == (uintptr_t)host, !(flags & TUFF_REGISTER_ALIAS));
	m.va = info.va;
	m.map = info.map;
	return m;
}

static void leave(struct test_memory *m)
{
	CHECK_OK(tuff_mem_destroy(m->mem));
	*m = (struct test_memory){0};
}

/* --- sorts of memory -------------------------------------------------------------------------- */

/* CPU and GPU take turns on the last 64 dwords of memory that the CPU has at host. */
static void take_turns(const struct test_gpu *gpu, void *host, uint64_t size_B, unsigned flags)
{
	struct test_memory m = enter(host, size_B, flags);
	uint64_t from_B = (size_B - 256) & ~3ull;
	volatile uint32_t *w = (volatile uint32_t *)((char *)host + from_B);

	for (unsigned i = 0; i < 64; i++)
		w[i] = i;
	CHECK_OK(test_gpu_add(gpu, m.va + from_B, 5));
	CHECK(w[0] == 5 && w[63] == 63 * 3 + 5);
	w[63] = 1000;
	CHECK_OK(test_gpu_add(gpu, m.va + from_B, 1));
	CHECK(w[0] == 16 && w[63] == 3001);
	CHECK_EQ(test_peek(test_device(), m.va + from_B + 252), 3001);
	leave(&m);
	w[63]++;
	CHECK(w[0] == 16 && w[63] == 3002);
}

static void malloced_and_on_the_stack(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	uint32_t stack[5000];

	for (unsigned flags = 0; flags <= TUFF_REGISTER_ALIAS; flags += TUFF_REGISTER_ALIAS) {
		static const unsigned sizes_B[] = {256, 5000, 300000, 5 << 20};

		for (unsigned i = 0; i < 4; i++) {
			void *p = malloc(sizes_B[i]);

			take_turns(&gpu, p, sizes_B[i], flags);
			free(p);
		}
		take_turns(&gpu, stack, sizeof(stack), flags);
	}
	test_gpu_close(&gpu);
}

/* What the GPU wrote into a shared mapping is in the file; into a private one it is not. */
static void one_file(const struct test_gpu *gpu, int fd, bool shared)
{
	uint32_t word = 1, *p;

	CHECK_EQ(ftruncate(fd, 0) + ftruncate(fd, 3 * PAGE), 0);
	p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, fd, 0);
	if (!CHECK(p != MAP_FAILED))
		return;
	take_turns(gpu, p, 3 * PAGE, 0);
	CHECK_EQ(pread(fd, &word, 4, 3 * PAGE - 4), 4);
	CHECK_EQ(word, shared ? 3002 : 0);
	take_turns(gpu, p, 3 * PAGE, TUFF_REGISTER_ALIAS);
	munmap(p, 3 * PAGE);
}

static void files(void)
{
	char name[] = "/tmp/tuff-register-XXXXXX";
	struct test_gpu gpu = test_gpu_open(test_device());
	int fd[] = {mkstemp(name), memfd_create("register", MFD_CLOEXEC)};

	unlink(name);
	for (unsigned i = 0; i < 2; i++) {
		if (!CHECK(fd[i] >= 0))
			continue;
		one_file(&gpu, fd[i], true);
		one_file(&gpu, fd[i], false);
		close(fd[i]);
	}
	test_gpu_close(&gpu);
}

static void odd_addresses_and_sizes(void)
{
	static const struct {
		unsigned offset_B, size_B;
	} part[] = {{0, 4096}, {4, 256}, {4092, 260}, {100, 3 * 4096}, {8188, 260}, {0, 1}, {4095, 2}};
	struct test_gpu gpu = test_gpu_open(test_device());
	char *host = pages(5);

	for (unsigned i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		for (unsigned flags = 0; flags <= TUFF_REGISTER_ALIAS; flags += TUFF_REGISTER_ALIAS) {
			char *start = host + part[i].offset_B;
			struct test_memory m = enter(start, part[i].size_B, flags);
			struct tuff_mem *found;
			uint64_t last_B = part[i].size_B - 1, offset_B = 9;

			CHECK_OK(tuff_mem_find(test_device(), start + last_B, &found, &offset_B));
			CHECK(found == m.mem && offset_B == last_B);
			CHECK_OK(tuff_mem_find(test_device(), (char *)(uintptr_t)m.va + last_B, &found, &offset_B));
			CHECK(found == m.mem && offset_B == last_B);
			CHECK_EQ(tuff_mem_find(test_device(), start + last_B + 1, &found, &offset_B), -ENOENT);
			CHECK_EQ(tuff_mem_find(test_device(), start - 1, &found, &offset_B), -ENOENT);
			leave(&m);
			CHECK_EQ(tuff_mem_find(test_device(), start, &found, &offset_B), -ENOENT);
			if (part[i].size_B >= 256)
				take_turns(&gpu, start, part[i].size_B, flags);
		}
	munmap(host, 5 * PAGE);
	test_gpu_close(&gpu);
}

static void aliases(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	char *host = pages(4);
	struct test_memory plain = enter(host + 64, 2 * PAGE, 0), a, b;
	volatile uint32_t *w = (volatile uint32_t *)(host + 64);

	a = enter(host + 64, 2 * PAGE, TUFF_REGISTER_ALIAS);
	b = enter(host + 64, 2 * PAGE, TUFF_REGISTER_ALIAS);
	CHECK(a.va != b.va && a.va != plain.va);
	*w = 1;
	CHECK_OK(test_gpu_add(&gpu, a.va, 1));
	CHECK_OK(test_gpu_add(&gpu, b.va, 1));
	CHECK_OK(test_gpu_add(&gpu, plain.va, 1));
	CHECK_EQ(*w, 40);
	leave(&plain);
	leave(&a);
	CHECK_OK(test_gpu_add(&gpu, b.va, 0));
	CHECK_EQ(*w, 120);
	leave(&b);
	munmap(host, 4 * PAGE);
	test_gpu_close(&gpu);
}

/* --- read-only -------------------------------------------------------------------------------- */

#define FILE_B (4 * PAGE)

/* Four ways to be read-only: by protection, by request, and two mappings of a file that may only be read. */
static void *read_only(unsigned way)
{
	char name[] = "/tmp/tuff-register-XXXXXX", *p = pages(FILE_B / PAGE);
	int fd, file = mkstemp(name);

	if (file < 0)
		test_fail("no file in /tmp");
	fd = open(name, O_RDONLY | O_CLOEXEC);
	unlink(name);
	memset(p, 77, FILE_B);
	CHECK_EQ(write(file, p, FILE_B), (ssize_t)(FILE_B));
	if (way == 0)
		mprotect(p, FILE_B, PROT_READ);
	if (way >= 2) {
		munmap(p, FILE_B);
		p = mmap(NULL, FILE_B, PROT_READ, way == 2 ? MAP_SHARED : MAP_PRIVATE, fd, 0);
	}
	close(file);
	close(fd);
	if (p == MAP_FAILED)
		test_fail("no mapping");
	return p;
}

static void read_only_memory(void)
{
	struct test_memory out = test_gtt(FILE_B);

	for (unsigned way = 0; way < 4; way++) {
		char *p = read_only(way);
		struct test_memory m = enter(p, FILE_B, way == 1 ? TUFF_REGISTER_READ_ONLY : 0);

		memset(out.map, 0, FILE_B);
		CHECK_OK(tuff_copy(test_device(), out.map, (void *)(uintptr_t)m.va, FILE_B, NULL, 0, NULL));
		CHECK(!memcmp(out.map, p, FILE_B));
		leave(&m);
		CHECK_EQ(p[5000], 77);
		munmap(p, FILE_B);
	}
}

static void writes_to_read_only_memory(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	char *other = pages(FILE_B / PAGE);

	for (unsigned way = 0; way < 4; way++) {
		char *p = read_only(way);
		struct test_memory m = enter(p, FILE_B, way == 1 ? TUFF_REGISTER_READ_ONLY : 0);

		/* a page of its own for each: a fault like the one before is not told */
		CHECK(test_gpu_add_faults(&gpu, m.va + way * PAGE));
		CHECK_EQ(p[way * PAGE], 77);
		/* neither do copies and fills, by GPU or CPU */
		for (uint64_t size_B = 64; size_B <= FILE_B; size_B *= FILE_B / 64) {
			void *dst = (void *)(uintptr_t)m.va;

			CHECK_EQ(tuff_copy(test_device(), dst, other, size_B, NULL, 0, NULL), -EACCES);
			CHECK_EQ(tuff_fill(test_device(), dst, 1, size_B, NULL, 0, NULL), -EACCES);
			CHECK_EQ(p[0], 77);
		}
		leave(&m);
		munmap(p, FILE_B);
	}
	munmap(other, FILE_B);
	test_gpu_close(&gpu);
}

/* --- overlaps --------------------------------------------------------------------------------- */

enum { SPAN = 12, REGS = 4 };

static const struct {
	unsigned first, count;
} overlap[REGS] = {{1, 6}, {4, 6}, {1, 6}, {5, 1}};

static bool covers(unsigned i, unsigned page)
{
	return page >= overlap[i].first && page < overlap[i].first + overlap[i].count;
}

/* Whether the GPU reaches the host address of each page that somebody has registered, and, if asked, of no other:
 * such a page keeps its value. The kernel need not tell the fault (it prints ten messages in five seconds). */
static bool host_addresses_are_right(const struct test_gpu *gpu, char *host, const struct test_memory *m,
				     bool others)
{
	for (unsigned p = 0; p < SPAN; p++) {
		volatile uint32_t *w = (volatile uint32_t *)(host + p * PAGE);
		bool covered = false;
		int r;

		for (unsigned i = 0; i < REGS; i++)
			covered |= m[i].mem && covers(i, p);
		if (!covered && !others)
			continue;
		*w = p;
		r = test_gpu_add(gpu, (uintptr_t)w, 5);
		if (covered ? r || *w != 3 * p + 5 : (r && r != -EFAULT) || *w != p)
			return false;
	}
	return true;
}

static void leave_in_order(const struct test_gpu *gpu, char *host, const unsigned *order, bool others)
{
	struct test_memory m[REGS];
	volatile uint32_t *shared = (volatile uint32_t *)(host + 5 * PAGE); /* all cover it */

	for (unsigned i = 0; i < REGS; i++)
		m[i] = enter(host + overlap[i].first * PAGE, overlap[i].count * PAGE,
			     i == 2 ? TUFF_REGISTER_ALIAS : 0);
	CHECK(host_addresses_are_right(gpu, host, m, others));
	for (unsigned i = 0; i < REGS; i++) {
		unsigned last = order[REGS - 1];

		*shared = 1;
		CHECK_OK(test_gpu_add(gpu, m[last].va + (5 - overlap[last].first) * PAGE, 2));
		CHECK_EQ(*shared, 5);
		leave(&m[order[i]]);
		CHECK(host_addresses_are_right(gpu, host, m, others));
	}
}

static void overlaps(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	char *host = pages(SPAN);

	for (unsigned n = 0; n < 256; n++) {
		unsigned order[REGS] = {n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6 & 3}, seen = 0;

		for (unsigned i = 0; i < REGS; i++)
			seen |= 1u << order[i];
		if (seen == 15)
			leave_in_order(&gpu, host, order, false);
	}
	munmap(host, SPAN * PAGE);
	test_gpu_close(&gpu);
}

static void nothing_else_is_reached(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	char *host = pages(SPAN);

	leave_in_order(&gpu, host, (const unsigned[]){2, 0, 3, 1}, true);
	leave_in_order(&gpu, host, (const unsigned[]){1, 3, 0, 2}, true);
	munmap(host, SPAN * PAGE);
	test_gpu_close(&gpu);
}

/* --- what is refused, and what ends early ----------------------------------------------------- */

static void refused(void)
{
	struct test_memory gtt = test_gtt(3 * PAGE);
	struct tuff_mem *mem;
	char *host = pages(5);

	CHECK_EQ(tuff_mem_register(test_device(), (char *)gtt.map + 5000, 10, 0, &mem), -EEXIST);
	CHECK_EQ(tuff_mem_register(test_device(), (char *)gtt.map - 100, 200, 0, &mem), -EEXIST);
	munmap(host + 2 * PAGE, PAGE);
	CHECK_EQ(tuff_mem_register(test_device(), host + 10, 2 * PAGE, 0, &mem), -EFAULT);
	CHECK_EQ(tuff_mem_register(test_device(), host + 2 * PAGE + 10, 2 * PAGE, 0, &mem), -EFAULT);
	CHECK_EQ(tuff_mem_find(test_device(), host + 10, &mem, &(uint64_t){0}), -ENOENT);
	munmap(host, 5 * PAGE);
}

/* The program unmaps it first: jobs fail until the registration is gone too, and then all is well. No submission to a
 * user queue can fail so: the kernel stops the queue and cannot start it again, which a later wait finds out. */
static void unmapped_too_early(void)
{
	if (getenv("TUFF_USERQ"))
		test_skip("jobs of user queues name no memory");
	struct test_gpu gpu = test_gpu_open(test_device());
	struct test_memory word = test_gtt(PAGE), m;
	char *host = pages(4);

	memset(host, 1, 4 * PAGE);
	m = enter(host, 4 * PAGE, 0);
	CHECK_OK(test_gpu_add(&gpu, m.va, 1));
	munmap(host, 4 * PAGE);
	CHECK(test_gpu_add(&gpu, word.va, 1) < 0);
	CHECK(*tuff_error());
	leave(&m);
	CHECK_OK(test_gpu_add(&gpu, word.va, 1));
	CHECK_EQ(*(uint32_t *)word.map, 1);
	test_gpu_close(&gpu);
}

/* --- look-up ---------------------------------------------------------------------------------- */

/* The GPU reaches whole pages, but their rest is no part of the registered memory. */
static void pages_rests_are_not_found(void)
{
	char *host = pages(3);

	for (unsigned flags = 0; flags <= TUFF_REGISTER_ALIAS; flags += TUFF_REGISTER_ALIAS) {
		struct test_memory m = enter(host + 2000, PAGE, flags);
		struct tuff_mem *found;
		uint64_t offset_B;

		CHECK_OK(tuff_mem_find(test_device(), (void *)(uintptr_t)(m.va + PAGE - 1), &found, &offset_B));
		CHECK(found == m.mem && offset_B == PAGE - 1);
		CHECK_EQ(tuff_mem_find(test_device(), (void *)(uintptr_t)(m.va - 1), &found, &offset_B), -ENOENT);
		CHECK_EQ(tuff_mem_find(test_device(), (void *)(uintptr_t)(m.va + PAGE), &found, &offset_B),
			 -ENOENT);
		leave(&m);
	}
	munmap(host, 3 * PAGE);
}

struct registration {
	pthread_barrier_t begin;
	_Atomic bool done;
	char *host;
	struct tuff_mem *mem;
};

enum { REGISTRATIONS = 40, REGISTERED_PAGES = 1024 };

static void *register_again_and_again(void *arg)
{
	struct registration *r = arg;

	for (unsigned i = 0; i < REGISTRATIONS; i++) {
		pthread_barrier_wait(&r->begin);
		CHECK_OK(tuff_mem_register(test_device(), r->host, REGISTERED_PAGES * PAGE, 0, &r->mem));
		r->done = true;
		pthread_barrier_wait(&r->begin);
	}
	return NULL;
}

/* Read-only registrations of every other page make the kernel map the memory piece by piece. */
static void odd_pages_enter(char *host, struct test_memory *odd)
{
	for (unsigned i = 0; i < REGISTERED_PAGES / 2; i++)
		odd[i] = enter(host + (2 * i + 1) * PAGE, PAGE, TUFF_REGISTER_READ_ONLY);
}

/* A copy sees the memory as the process's or as the device's, and never as half of both. */
static void copies_beside_a_registration(void)
{
	struct test_memory to = test_gtt(PAGE), odd[REGISTERED_PAGES / 2];
	struct registration r = {.host = pages(REGISTERED_PAGES)};
	unsigned wrong = 0;
	pthread_t thread;

	pthread_barrier_init(&r.begin, NULL, 2);
	odd_pages_enter(r.host, odd);
	if (pthread_create(&thread, NULL, register_again_and_again, &r))
		test_fail("no thread");
	for (unsigned i = 0; i < REGISTRATIONS; i++) {
		memset(r.host, (int)i, PAGE);
		r.done = false;
		pthread_barrier_wait(&r.begin);
		do {
			memset(to.map, ~(int)i, PAGE);
			wrong += tuff_copy(test_device(), to.map, r.host, PAGE, NULL, 0, NULL) ||
				 memcmp(to.map, r.host, PAGE);
		} while (!r.done);
		pthread_barrier_wait(&r.begin);
		CHECK_OK(tuff_mem_destroy(r.mem));
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&r.begin);
	CHECK_EQ(wrong, 0);
	for (unsigned i = 0; i < REGISTERED_PAGES / 2; i++)
		leave(&odd[i]);
	munmap(r.host, REGISTERED_PAGES * PAGE);
}

/* --- fork ------------------------------------------------------------------------------------- */

/* Which of the pages a child has, as bits. */
static unsigned pages_of_child(const char *host, unsigned count)
{
	int status, out[2];
	pid_t pid;

	if (pipe(out))
		test_fail("no pipe");
	pid = fork();
	if (!pid) {
		unsigned has = 0;

		/* write() answers EFAULT where a load would be a SIGSEGV */
		for (unsigned i = 0; i < count; i++)
			has |= (write(out[1], host + i * PAGE, 1) == 1) << i;
		_exit(has);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	close(out[0]);
	close(out[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : ~0u;
}

static void children_do_not_get_them(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	char *host = pages(8);
	struct test_memory a, b, c;

	memset(host, 1, 8 * PAGE);
	CHECK_EQ(pages_of_child(host, 8), 0xff);
	a = enter(host + 100, 4 * PAGE, 0); /* whole: 1, 2, 3; in part: 0, 4 */
	CHECK_EQ(pages_of_child(host, 8), 0xf1);
	b = enter(host + 2 * PAGE, 4 * PAGE, 0);
	c = enter(host + 3 * PAGE, PAGE, TUFF_REGISTER_ALIAS);
	CHECK_EQ(pages_of_child(host, 8), 0xc1);
	*(volatile uint32_t *)(host + 3 * PAGE) = 2;
	CHECK_OK(test_gpu_add(&gpu, c.va, 1));
	CHECK_EQ(*(volatile uint32_t *)(host + 3 * PAGE), 7);
	leave(&a);
	CHECK_EQ(pages_of_child(host, 8), 0xc3);
	leave(&b);
	CHECK_EQ(pages_of_child(host, 8), 0xf7);
	leave(&c);
	CHECK_EQ(pages_of_child(host, 8), 0xff);
	munmap(host, 8 * PAGE);
	test_gpu_close(&gpu);
}

/* While a child lives, the pages that it shares with the parent are copied on write: the GPU must see the parent's.
 */
static void the_gpu_stays_with_the_parent(void)
{
	struct test_gpu gpu = test_gpu_open(test_device());
	char *host = pages(3), byte;
	volatile uint32_t *w = (volatile uint32_t *)(host + 100);
	struct test_memory m;
	int hold[2], status;
	pid_t pid;

	*w = 1;
	m = enter(host + 100, 2 * PAGE, 0); /* its first page is the child's too */
	if (pipe(hold))
		test_fail("no pipe");
	pid = fork();
	if (!pid) {
		close(hold[1]);
		_exit(read(hold[0], &byte, 1) != 0 || *w != 1);
	}
	*w = 3;
	CHECK_OK(test_gpu_add(&gpu, m.va, 1));
	CHECK_EQ(*w, 10);
	close(hold[1]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	close(hold[0]);
	leave(&m);
	munmap(host, 3 * PAGE);
	test_gpu_close(&gpu);
}

const struct device_test tests_register[] = {
	{"memory/register-malloc", "malloc'ed memory and a stack, CPU and GPU taking turns",
	 malloced_and_on_the_stack, 0},
	{"memory/register-files", "mappings of files, shared and private", files, 0},
	{"memory/register-odd", "odd addresses and sizes, found by every address", odd_addresses_and_sizes, 0},
	{"memory/register-alias", "second addresses of one memory", aliases, 0},
	{"memory/register-read-only", "memory that cannot be written, and files that may only be read",
	 read_only_memory, 0},
	{"memory/register-writes", "the GPU does not write what is read-only", writes_to_read_only_memory,
	 TEST_LENIENT},
	{"memory/register-overlaps", "four that overlap, ended in every order", overlaps, 0},
	{"memory/register-ends", "the GPU reaches what is registered, and nothing else", nothing_else_is_reached,
	 TEST_LENIENT},
	{"memory/register-refused", "the device's own memory, and what is not there, are refused", refused, 0},
	{"memory/register-unmapped", "memory that is unmapped too early is an error until its registration ends",
	 unmapped_too_early, TEST_LENIENT},
	{"memory/register-rests", "the rests of a registration's pages are not found", pages_rests_are_not_found,
	 0},
	{"memory/register-copies", "copies of memory that another thread registers", copies_beside_a_registration,
	 0},
	{"memory/register-children", "children do not get registered pages", children_do_not_get_them, 0},
	{"memory/register-fork", "the GPU stays with the parent", the_gpu_stays_with_the_parent, 0},
	{NULL},
};
