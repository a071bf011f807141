#include "tests/bench/hip/rig.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shaders/blob.h"
#include "tests/bench/outside.h"
#include "vgpu/vgpu.h"

#define TRIES     6
#define ROUNDS    16
#define WARM_UP   64      /* calls, after which no memory is added for commands and arguments */
#define SETTLE_NS 3000000 /* after which threads of the libraries have made the ioctls that they owe */

extern const struct shader_blob bench_blobs[];

struct rig rig;

/* --- the clock -------------------------------------------------------------------------------- */

/* A step takes 20 us and more, an instruction about a third of a nanosecond. */
#define SLOWNESS 65536

static int (*libc_clock_gettime)(clockid_t, struct timespec *);
static _Atomic uint64_t slow_since_ns; /* 0: the clock is the host's */

static int host_clock(clockid_t clock, struct timespec *t)
{
	return libc_clock_gettime ? libc_clock_gettime(clock, t) : (int)syscall(SYS_clock_gettime, clock, t);
}

static uint64_t host_ns(clockid_t clock)
{
	struct timespec t;

	host_clock(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Stands in front of libc's for the libraries and the virtual device. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t behind_ns, ns;

	if (!slow_since_ns)
		return host_clock(clock, t);
	behind_ns = host_ns(CLOCK_MONOTONIC) - slow_since_ns;
	ns = host_ns(clock) - behind_ns + behind_ns / SLOWNESS;
	*t = (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
	return 0;
}

__attribute__((constructor)) static void find_clock(void)
{
	*(void **)&libc_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}

static void slow_clock(void)
{
	slow_since_ns = host_ns(CLOCK_MONOTONIC);
}

uint64_t rig_now_ns(void)
{
	return host_ns(CLOCK_MONOTONIC);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double rig_median(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

/* --- paths ------------------------------------------------------------------------------------ */

void rig_die(hipError_t error)
{
	fprintf(stderr, "%s\n", hipGetErrorName(error));
	abort();
}

void rig_nothing(void *arg)
{
	(void)arg;
}

void rig_launch_in(enum rig_kernel kernel, hipStream_t stream)
{
	rig_must(hipModuleLaunchKernel(rig.kernel[kernel], 1, 1, 1, 64, 1, 1, 0, stream, rig.args[kernel], NULL));
}

void rig_launch(void *kernel)
{
	rig_launch_in((enum rig_kernel)(uintptr_t)kernel, rig.stream);
}

void rig_synchronize(void *arg)
{
	(void)arg;
	rig_must(hipStreamSynchronize(rig.stream));
}

void rig_until_idle(void *arg)
{
	(void)arg;
	while (hipStreamQuery(rig.stream) == hipErrorNotReady)
		;
}

void rig_launch_each(void)
{
	for (unsigned k = 0; k < RIG_KERNELS; k++)
		rig_launch_in((enum rig_kernel)k, rig.stream);
}

/* Lets threads of the libraries finish what earlier calls left them. */
static void settle(void)
{
	nanosleep(&(struct timespec){.tv_nsec = SETTLE_NS}, NULL);
}

void rig_warm_up(void)
{
	for (unsigned i = 0; i < WARM_UP; i++) {
		rig_launch_each();
		if (i % 4 == 0)
			rig_synchronize(NULL);
	}
	rig_synchronize(NULL);
}

void rig_keep_busy(void (*fn)(void))
{
	for (unsigned i = 0; i < 8; i++)
		fn();
	settle();
	slow_clock();
	rig_launch(NULL);
}

/* --- processes -------------------------------------------------------------------------------- */

static hipFunction_t load(const char *blob_name, const char *name)
{
	const struct shader_blob *blob = shader_find(bench_blobs, blob_name, "gfx908");
	hipFunction_t function;
	hipModule_t module;

	if (!blob)
		abort();
	rig_must(hipModuleLoadData(&module, blob->image));
	rig_must(hipModuleGetFunction(&function, module, name));
	return function;
}

static void start(const char *spec)
{
	static uint32_t count = 64, value = 1;
	static void *four[] = {&rig.memory, &rig.other, &count, &value};

	if (vgpu_start(spec))
		abort();
	rig.kernel[RIG_EMPTY] = load("kernels.v5", "b_empty");
	rig.kernel[RIG_FOUR] = load("kernels.v5", "b_four");
	rig.kernel[RIG_HIDDEN5] = load("kernels.v5", "b_hidden");
	rig.kernel[RIG_HIDDEN4] = load("kernels.v4", "b_hidden");
	rig.args[RIG_FOUR] = rig.args[RIG_HIDDEN5] = rig.args[RIG_HIDDEN4] = four;
	rig_must(hipMalloc((void **)&rig.memory, RIG_MEMORY_B));
	rig_must(hipMalloc((void **)&rig.other, RIG_MEMORY_B));
	rig_must(hipHostMalloc((void **)&rig.pinned, RIG_MEMORY_B, 0));
	rig_must(hipStreamCreateWithFlags(&rig.stream, hipStreamNonBlocking));
}

void rig_run(const char *spec, void (*rows)(void))
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child) {
		if (waitpid(child, &status, 0) != child || status)
			exit(1);
		return;
	}
	bench_leave_out_device();
	start(spec);
	rows();
	fflush(stdout);
	_exit(0); /* as programs end: by themselves, with the kernel to clean up */
}

/* --- ioctls ----------------------------------------------------------------------------------- */

#define NUMBERS 256

static unsigned long ioctls_before[NUMBERS];

static const char *ioctl_name(unsigned nr)
{
	static const char *const names[NUMBERS] = {[0x09] = "GEM_CLOSE",
						   [0x40] = "GEM_CREATE",
						   [0x41] = "GEM_MMAP",
						   [0x42] = "CTX",
						   [0x43] = "BO_LIST",
						   [0x44] = "CS",
						   [0x45] = "INFO",
						   [0x46] = "GEM_METADATA",
						   [0x47] = "GEM_WAIT_IDLE",
						   [0x48] = "GEM_VA",
						   [0x49] = "WAIT_CS",
						   [0x50] = "GEM_OP",
						   [0x51] = "GEM_USERPTR",
						   [0x52] = "WAIT_FENCES",
						   [0x53] = "VM",
						   [0x54] = "FENCE_TO_HANDLE",
						   [0x55] = "SCHED",
						   [0xbf] = "SYNCOBJ_CREATE",
						   [0xc0] = "SYNCOBJ_DESTROY",
						   [0xc3] = "SYNCOBJ_WAIT",
						   [0xc4] = "SYNCOBJ_RESET",
						   [0xc5] = "SYNCOBJ_SIGNAL",
						   [0xca] = "TIMELINE_WAIT",
						   [0xcb] = "TIMELINE_QUERY",
						   [0xcc] = "TRANSFER",
						   [0xcd] = "TIMELINE_SIGNAL"};
	static char other[8];

	if (names[nr])
		return names[nr];
	snprintf(other, sizeof(other), "0x%02x", nr);
	return other;
}

void rig_census(void)
{
	settle();
	for (unsigned nr = 0; nr < NUMBERS; nr++)
		ioctls_before[nr] = vgpu_ioctl_count_nr(nr);
}

const char *rig_census_text(unsigned calls)
{
	static char text[256];
	size_t used = 0;

	settle();
	text[0] = 0;
	for (unsigned nr = 0; nr < NUMBERS; nr++) {
		unsigned long n = vgpu_ioctl_count_nr(nr) - ioctls_before[nr];

		if (n && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %.3g", used ? ", " : "",
						 ioctl_name(nr), (double)n / calls);
	}
	return used ? text : "none";
}

/* --- rows ------------------------------------------------------------------------------------- */

static struct count least_of(const struct rig_row *row, void (*fn)(void *))
{
	struct count least = {0}, now;

	if (row->before)
		row->before(row->arg);
	fn(row->arg); /* binds what is bound at the first call */
	for (unsigned i = 0; i < (row->tries ? row->tries : TRIES); i++) {
		if (row->before)
			row->before(row->arg);
		if (count_steps(fn, row->arg, &now) &&
		    (!least.instructions || now.instructions < least.instructions))
			least = now;
	}
	return least;
}

/* What counting an empty function gives. */
static long long overhead(void)
{
	static long long known;

	if (!known)
		known = (long long)least_of(&(struct rig_row){.tries = 3}, rig_nothing).instructions;
	return known;
}

static const char *ioctls_of(const struct rig_row *row)
{
	unsigned rounds = row->rounds ? row->rounds : ROUNDS;

	for (unsigned i = 0; i < 2 * rounds; i++) { /* the first half warms up */
		if (row->before)
			row->before(row->arg);
		if (i == rounds)
			rig_census();
		(row->counted ? row->counted : row->fn)(row->arg);
	}
	return rig_census_text(rounds);
}

void rig_title(const char *title)
{
	printf("\n%s\n%-58s %-10s %8s %6s %8s  %s\n", title, "", "kernel", "instr.", "locked", "syscalls",
	       "ioctls, all threads");
}

void rig_print(const struct rig_row *row)
{
	const char *ioctls = "";
	struct count count;

	if (!row->no_ioctls)
		ioctls = ioctls_of(row);
	printf("%-58s %-10s ", row->what, row->kernel ? row->kernel : "");
	if (row->no_steps) {
		printf("%8s %6s %8s  %s\n", "", "", "", ioctls);
		return;
	}
	count = least_of(row, row->fn);
	printf("%8lld %6llu %8llu  %s\n", (long long)count.instructions - overhead(),
	       (unsigned long long)count.locked, (unsigned long long)count.syscalls, ioctls);
}

void rig_print_all(const struct rig_row *rows)
{
	for (; rows->what; rows++)
		rig_print(rows);
}

void rig_say(const char *what, const char *format, ...)
{
	va_list args;

	printf("%-58s ", what);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}
