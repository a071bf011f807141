/* What the benches count as outside of the program: the virtual kernel and hardware, which are in the same process,
 * and the vDSO. */
#ifndef TESTS_BENCH_OUTSIDE_H
#define TESTS_BENCH_OUTSIDE_H

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/count.h"

static inline void bench_leave_out_device(void)
{
	static const void *outside[] = {ioctl, mmap, mmap64, munmap, madvise, mprotect, clock_gettime};

	count_leave_out(outside, sizeof(outside) / sizeof(outside[0]));
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

#endif
