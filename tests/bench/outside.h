/* Code that the benches exclude from counts: the virtual kernel and hardware, which are in the same process, and
 * the vDSO. */
#ifndef TESTS_BENCH_OUTSIDE_H
#define TESTS_BENCH_OUTSIDE_H

#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/count.h"

static inline void bench_leave_out_device(void)
{
	static const void *outside[] = {ioctl, mmap, mmap64, munmap, madvise, mprotect, clock_gettime};

	count_leave_out(outside, sizeof(outside) / sizeof(outside[0]));
}

static inline void bench_nothing(void *arg)
{
	(void)arg;
}

/* The run of fn(arg) with the fewest instructions. */
static inline struct count bench_count_least(void (*fn)(void *arg), void *arg, unsigned tries)
{
	struct count least = {0}, now;

	for (unsigned i = 0; i < tries; i++)
		if (count_steps(fn, arg, &now) && (!least.instructions || now.instructions < least.instructions))
			least = now;
	return least;
}

/* Without what counting an empty function gives. */
static inline struct count bench_count(void (*fn)(void *arg), void *arg, unsigned tries)
{
	static uint64_t overhead;
	struct count least = bench_count_least(fn, arg, tries);

	if (!overhead)
		overhead = bench_count_least(bench_nothing, NULL, 3).instructions;
	least.instructions -= overhead;
	return least;
}

/* minus: what the bare ioctl costs. */
static inline void bench_print(const char *what, struct count c, int64_t minus, unsigned long ioctls)
{
	printf("%-46s %8lld %10lld %8llu %8lu\n", what, (long long)c.instructions,
	       (long long)c.instructions - minus, (unsigned long long)c.locked, ioctls);
}

#endif
