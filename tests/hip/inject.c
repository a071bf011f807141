/* A program of HIP loses each of its allocations in turn: each time it gets an error or right results, and then
 * runs undisturbed; in the end it holds no more memory than before. The same for allocations that a process makes
 * once, and for ioctls: each in a process of its own, because a lost device may not come back.
 *
 *   inject [all]    all: every process instead of every fifth */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/hip/parts.h"
#include "tests/inject.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

/* --- the sweep -------------------------------------------------------------------------------- */

static unsigned failed_calls;

/* Blocks that HSA's threads have not given back yet; a leak would add one for each failure. */
#define SLACK 40

/* After n: an error that is one, or success; then all is as before. */
static void is_well(long n, hipError_t r)
{
	hipError_t again;
	bool well;

	failed_calls += r != hipSuccess;
	if (r)
		(void)!hipDeviceReset(); /* a device that failed answers with its error until then */
	again = program();
	well = r != WRONG && again == hipSuccess;
	if (!CHECK(well)) {
		printf("  after failing allocation %ld: %s, then %s\n", n, hipGetErrorName(r),
		       hipGetErrorName(again));
		(void)!hipDeviceReset();
	}
}

/* Until as much is retired, and not freed yet, as ever is. */
static long settle(void)
{
	long before = -1, now = 0;

	for (unsigned i = 0; i < 100 && now > before; i++) {
		before = now;
		for (unsigned k = 0; k < 10; k++) {
			CHECK_EQ(program(), hipSuccess);
			(void)!hipDeviceReset();
		}
		now = inject_live();
	}
	CHECK_EQ(program(), hipSuccess);
	return inject_live();
}

static void every_allocation(void)
{
	long held = settle(), n;

	for (n = 1; n < 5000; n++) {
		hipError_t r;

		inject_allocation(n);
		r = program();
		if (!inject_happened())
			break;
		is_well(n, r);
	}
	inject_allocation(0);
	CHECK(failed_calls > SLACK);
	CHECK(settle() <= held + SLACK);
	printf("%ld allocations failed in turn, %u times with an error\n", n - 1, failed_calls);
}

/* What a process does once, too: its n-th allocation, or ioctl, of all. 0: it went well, 1: it got an error; 2:
 * there are fewer; 3: wrong results. */
static int alone(const char *what, long n, int error)
{
	unsigned long before = vgpu_ioctl_count();
	bool ioctls = !strcmp(what, "ioctl");
	hipError_t r;

	if (ioctls)
		vgpu_inject_ioctl((unsigned long)n, error);
	else
		inject_allocation(n);
	r = program();
	if (ioctls ? vgpu_ioctl_count() - before < (unsigned long)n : !inject_happened())
		return 2;
	return r == WRONG ? 3 : r != hipSuccess;
}

static void every_one_alone(const char *self, const char *what, int error, long step)
{
	unsigned count[3] = {0};
	long n;

	for (n = 1; n < 20000 && !count[2]; n += step) {
		char command[300];
		int status;

		snprintf(command, sizeof(command), "timeout 60 %s %s %ld %d >/dev/null 2>&1", self, what, n, error);
		status = system(command);
		if (CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= 2))
			count[WEXITSTATUS(status)]++;
		else
			printf("  a process without %s %ld (%d): status 0x%x\n", what, n, error, (unsigned)status);
	}
	CHECK(count[1] > 0);
	printf("of a process, each %ldth %s up to %ld (%d): %u errors\n", step, what, n, error, count[1]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long step = argc == 2 ? 1 : 5;
	int result;

	vgpu_strict_set(VGPU_STRICT_OFF); /* what the kernel refuses to close stays open, which is a finding */
	if (!CHECK_EQ(vgpu_start("gfx908"), 0))
		return check_done("failures under HIP");
	if (argc == 4)
		_exit(alone(argv[1], atol(argv[2]), atoi(argv[3])));
	every_allocation();
	every_one_alone(argv[0], "allocation", 0, step);
	every_one_alone(argv[0], "ioctl", ENOMEM, step);
	every_one_alone(argv[0], "ioctl", ENODEV, step);
	result = check_done("failures under HIP");
	fflush(stdout);
	_exit(result); /* without what the library does at exit: a device may be lost */
}
