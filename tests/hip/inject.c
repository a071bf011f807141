/* A program of HIP loses each of its allocations in turn: each time it gets an error or right results, and then
 * runs undisturbed; in the end it holds no more memory than before. The same for allocations that a process makes
 * once, for ioctls, descriptors and threads, and for limits of descriptors and of addresses: each in a process of its
 * own, because a lost device may not come back.
 *
 *   inject [all]    all: every process instead of every fifth */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
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

/* A sanitizer ends the process when it gets no addresses itself. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* --- what a process does once --------------------------------------------------------------------- */

/* Outcomes of a process: its exit status. */
enum { WELL, FAILED, FEWER /* there is no n-th call */, WRONG_RESULTS, STAYS_BROKEN };

static unsigned long mapped_B(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f) {
		(void)!fscanf(f, "%lu", &pages);
		fclose(f);
	}
	return pages * 4096;
}

/* The process gets n - 1 more descriptors, or (n - 1) * 256 KiB more of addresses, until the limit is lifted. */
static hipError_t run_limited(int resource, unsigned long now, unsigned long unit, long n)
{
	struct rlimit before, limit;
	hipError_t r;

	getrlimit(resource, &before);
	limit = before;
	limit.rlim_cur = now + (unsigned long)(n - 1) * unit;
	if (setrlimit(resource, &limit))
		return WRONG;
	r = program();
	setrlimit(resource, &before);
	return r;
}

static hipError_t run_without(const char *what, long n, int error, bool *fewer)
{
	unsigned long before = vgpu_ioctl_count();
	hipError_t r;

	*fewer = false;
	if (!strcmp(what, "file limit")) {
		int lowest = dup(0);

		close(lowest);
		return run_limited(RLIMIT_NOFILE, (unsigned long)lowest, 1, n);
	}
	/* HIP reserves many GiB of addresses when it begins: the limit is for what comes then. */
	if (!strcmp(what, "address limit"))
		return hipInit(0) ? WRONG : run_limited(RLIMIT_AS, mapped_B(), 256 << 10, n);
	if (!strcmp(what, "ioctl"))
		vgpu_inject_ioctl((unsigned long)n, error);
	else
		inject(!strcmp(what, "allocation") ? INJECT_MEMORY : INJECT_DESCRIPTOR, n);
	r = program();
	*fewer = !strcmp(what, "ioctl") ? vgpu_ioctl_count() - before < (unsigned long)n : !inject_happened();
	inject_allocation(0);
	vgpu_inject_ioctl(0, 0);
	return r;
}

/* A process without its n-th call, or at a limit; what was refused for want of something is there again afterwards. */
static int alone(const char *what, long n, int error)
{
	bool fewer;
	hipError_t r = run_without(what, n, error, &fewer), again;

	if (fewer)
		return FEWER;
	if (r == WRONG)
		return WRONG_RESULTS;
	if (!r)
		return WELL;
	/* HIP opens its devices once: what failed then stays as it is. */
	if (!strcmp(what, "ioctl") || hipInit(0))
		return FAILED;
	(void)!hipDeviceReset();
	again = program();
	if (again)
		printf("%s, then %s\n", hipGetErrorName(r), hipGetErrorName(again));
	return again ? STAYS_BROKEN : FAILED;
}

static void every_one_alone(const char *self, const char *what, int error, long step, long last)
{
	unsigned count[3] = {0};
	long n;

	for (n = 1; n <= last && !count[FEWER]; n += step) {
		char command[300];
		int status;

		snprintf(command, sizeof(command), "timeout 60 %s '%s' %ld %d >/dev/null 2>&1", self, what, n,
			 error);
		status = system(command);
		if (CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= FEWER))
			count[WEXITSTATUS(status)]++;
		else
			printf("  a process without %s %ld (%d): status 0x%x\n", what, n, error, (unsigned)status);
	}
	CHECK(count[FAILED] > 0);
	printf("of a process, each %ldth %s up to %ld (%d): %u errors\n", step, what, n, error, count[FAILED]);
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
	every_one_alone(argv[0], "allocation", 0, step, 20000);
	every_one_alone(argv[0], "descriptor", 0, 1, 20000);
	every_one_alone(argv[0], "file limit", 0, 1, 32);
	if (!SANITIZED)
		every_one_alone(argv[0], "address limit", 0, 3 * step, 400);
	every_one_alone(argv[0], "ioctl", ENOMEM, step, 20000);
	every_one_alone(argv[0], "ioctl", ENODEV, step, 20000);
	result = check_done("failures under HIP");
	fflush(stdout);
	_exit(result); /* without what the library does at exit: a device may be lost */
}
