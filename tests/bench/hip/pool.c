/* hipMallocAsync() and hipFreeAsync(); beside them glibc's malloc, and mimalloc's where it is installed. */
#include "tests/bench/hip/rig.h"

#include <dlfcn.h>
#include <stdlib.h>

#define WINDOWS 10
#define PAIRS   50000 /* in a window */
#define FRESH   10000 /* allocations that are timed */
#define BLOCK_B 4096

static void *(*other_malloc)(size_t);
static void (*other_free)(void *);

static void pair(void *size_B)
{
	void *ptr;

	rig_must(hipMallocAsync(&ptr, *(const size_t *)size_B, rig.stream));
	rig_must(hipFreeAsync(ptr, rig.stream));
}

static void other_pair(void *size_B)
{
	void *volatile ptr = other_malloc(*(const size_t *)size_B);

	other_free(ptr);
}

/* The row, and the time of a pair: the least of several windows. */
static void row(const char *what, void (*fn)(void *), size_t size_B)
{
	double least_ns = 1e18;

	fn(&size_B);
	rig_print(&(struct rig_row){what, "", fn, &size_B});
	for (unsigned i = 0; i < WINDOWS; i++) {
		uint64_t from_ns = rig_now_ns();
		double ns;

		for (unsigned n = 0; n < PAIRS; n++)
			fn(&size_B);
		ns = (double)(rig_now_ns() - from_ns) / PAIRS;
		least_ns = ns < least_ns ? ns : least_ns;
	}
	rig_say("  its time, the least of 10 windows", "%8.1f ns", least_ns);
}

/* Adds fresh blocks until `live` are live; ns each. */
static double grow_ns(unsigned *have, unsigned live)
{
	unsigned n = live - *have;
	uint64_t from_ns = rig_now_ns();
	void *ptr;

	for (; *have < live; ++*have)
		rig_must(hipMallocAsync(&ptr, BLOCK_B, rig.stream));
	return (double)(rig_now_ns() - from_ns) / n;
}

static void row_of_growth(void)
{
	unsigned have = 0;
	double few_ns, many_ns;

	(void)grow_ns(&have, 1000);
	few_ns = grow_ns(&have, 1000 + FRESH);
	(void)grow_ns(&have, 1000000);
	many_ns = grow_ns(&have, 1000000 + FRESH);
	rig_say("a fresh block of 4 KiB, mean of 10,000",
		"%.1f ns with 10^3 live, %.1f ns with 10^6: %.2f times as long", few_ns, many_ns, many_ns / few_ns);
}

static void rows(void)
{
	void *mimalloc = dlopen("libmimalloc.so.2", RTLD_NOW);
	uint64_t keep = UINT64_MAX;
	hipMemPool_t pool;

	rig_title("pools: hipMallocAsync and hipFreeAsync of memory that the pool has");
	rig_must(hipDeviceGetDefaultMemPool(&pool, 0));
	rig_must(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &keep));
	row("pair of 4 KiB", pair, 4096);
	row("pair of 64 KiB", pair, 65536);
	row("pair of 64 MiB", pair, 64 << 20);
	other_malloc = malloc;
	other_free = free;
	row("malloc and free of 64 KiB: glibc", other_pair, 65536);
	if (mimalloc) {
		*(void **)&other_malloc = dlsym(mimalloc, "mi_malloc");
		*(void **)&other_free = dlsym(mimalloc, "mi_free");
		row("malloc and free of 64 KiB: mimalloc", other_pair, 65536);
	}
}

void bench_pool(void)
{
	rig_run("null:gfx908", rows);
	rig_run("null:gfx908", row_of_growth);
}
