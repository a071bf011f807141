/* A process continues after a failed ioctl: the failed call gives an error, or its results are right. Later calls
 * in the same process, with the same objects, give right results or fail; they fail only if a lasting error was
 * reported. After hipDeviceReset() all results are right. Repeated for each ioctl of a program in turn, and for
 * each of its allocations.
 *
 *   recover [GPU]            a third of them for each error, in one process
 *   recover GPU all          all of them
 *   recover GPU ioctl E N    a single one, in a fresh process */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/hip/parts.h"
#include "tests/inject.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define PATTERN 0xc0ffee00u

/* What lives from one run to the next. */
struct life {
	struct rig rig;
	hipStream_t other;
	hipEvent_t event;
	hipGraphExec_t exec;
	uint32_t *kept; /* PATTERN, always */
	uint32_t *pinned;
};

static hipError_t first(hipError_t a, hipError_t b)
{
	return a ? a : b;
}

/* --- the program ------------------------------------------------------------------------------ */

static hipError_t make_exec(struct life *l)
{
	hipGraph_t graph = NULL;
	hipError_t r = hipStreamBeginCapture(l->rig.stream, hipStreamCaptureModeThreadLocal);

	if (r)
		return r;
	r = hipMemsetD32Async(l->rig.data, 2, COUNT, l->rig.stream);
	r = r ? r : launch(&l->rig, 1);
	r = r ? r : hipMemcpyAsync(l->pinned, l->rig.data, 4 * COUNT, hipMemcpyDeviceToHost, l->rig.stream);
	r = first(r, hipStreamEndCapture(l->rig.stream, &graph));
	r = r ? r : hipGraphInstantiate(&l->exec, graph, NULL, NULL, 0);
	if (graph)
		r = first(r, hipGraphDestroy(graph));
	return r;
}

static hipError_t life_begin(struct life *l)
{
	hipMemPool_t pool = NULL;
	uint64_t all = UINT64_MAX;
	hipError_t r = rig_open(&l->rig);

	l->other = NULL;
	l->event = NULL;
	l->exec = NULL;
	l->kept = l->pinned = NULL;
	r = r ? r : hipStreamCreateWithFlags(&l->other, hipStreamNonBlocking);
	r = r ? r : hipEventCreate(&l->event);
	r = r ? r : hipMalloc((void **)&l->kept, 4 * COUNT);
	r = r ? r : hipHostMalloc((void **)&l->pinned, 4 * COUNT, 0);
	r = r ? r : hipMemsetD32(l->kept, PATTERN, COUNT);
	r = r ? r : hipDeviceGetDefaultMemPool(&pool, 0);
	r = r ? r : hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &all);
	return r ? r : make_exec(l);
}

/* Gives back what it can. */
static void life_end(struct life *l)
{
	if (l->exec)
		(void)!hipGraphExecDestroy(l->exec);
	if (l->event)
		(void)!hipEventDestroy(l->event);
	if (l->other)
		(void)!hipStreamDestroy(l->other);
	if (l->kept)
		(void)!hipFree(l->kept);
	if (l->pinned)
		(void)!hipHostFree(l->pinned);
	rig_close(&l->rig);
}

static hipError_t graph_again(struct life *l)
{
	hipError_t r;

	l->pinned[COUNT - 1] = 0;
	r = hipGraphLaunch(l->exec, l->rig.stream);
	r = r ? r : hipStreamSynchronize(l->rig.stream);
	return r ? r : l->pinned[COUNT - 1] == 7 ? hipSuccess : WRONG;
}

/* Two streams, one behind the other's event. */
static hipError_t handed_over(struct life *l)
{
	struct rig there = l->rig;
	hipError_t r = hipMemsetD32Async(l->rig.data, 3, COUNT, l->rig.stream);

	there.stream = l->other;
	for (uint32_t i = 0; i < 4; i++)
		r = r ? r : launch(&l->rig, i);
	r = r ? r : hipEventRecord(l->event, l->rig.stream);
	r = r ? r : hipStreamWaitEvent(l->other, l->event, 0);
	r = r ? r : launch(&there, 100);
	return r ? r : expect(&there, l->rig.data, 3 * (3 * 81 + 1 * 9 + 2 * 3 + 3) + 100);
}

/* Memory of two streams at a time: a and b are others' than what either held before. */
static hipError_t pooled(struct life *l)
{
	void *a = NULL, *b = NULL;
	struct rig there = l->rig;
	hipError_t r = hipSuccess;

	there.stream = l->other;
	for (uint32_t i = 1; !r && i < 4; i++) {
		r = hipMallocAsync(&a, 4 * COUNT << i, l->rig.stream);
		r = r ? r : hipMemsetD32Async(a, (int)i, COUNT, l->rig.stream);
		r = r ? r : hipMallocAsync(&b, 4 * COUNT << (3 - i), l->other);
		r = r ? r : hipMemsetD32Async(b, (int)i + 50, COUNT, l->other);
		r = r ? r : expect(&l->rig, a, i);
		r = r ? r : expect(&there, b, i + 50);
		if (a)
			r = first(r, hipFreeAsync(a, l->other));
		if (b)
			r = first(r, hipFreeAsync(b, l->rig.stream));
		a = b = NULL;
	}
	return r;
}

static hipError_t life_go_on(struct life *l)
{
	hipError_t r = handed_over(l);

	r = r ? r : pooled(l);
	r = r ? r : graph_again(l);
	r = r ? r : rig_run(&l->rig);
	return r ? r : expect(&l->rig, l->kept, PATTERN);
}

/* --- one failure ------------------------------------------------------------------------------ */

/* Errors of the device's that stay until it is reset. */
static bool stays(hipError_t r)
{
	return r == hipErrorLaunchFailure || r == hipErrorIllegalAddress;
}

static struct {
	const char *what;
	long n, step;
	int error;
	unsigned beginning; /* of a life: what fails is in one that begins */
	bool several;       /* an error behind the first, which may be one that stays, is not seen here */
	unsigned told, stayed;
} now;

#define PATIENCE_S 100 /* of one failure, on a slow machine */

static const char *name(hipError_t r)
{
	return r == WRONG ? "wrong results" : hipGetErrorName(r);
}

static void show(hipError_t during, hipError_t after, hipError_t anew)
{
	printf("  %s %ld with %s: %s; then %s; after a reset %s\n", now.what, now.n, strerrorname_np(now.error),
	       name(during), name(after), name(anew));
	fflush(stdout);
}

static void hung(int signal)
{
	static const char text[] = "FAIL: it hangs\n";

	(void)!write(1, text, sizeof(text) - 1);
	abort();
	(void)signal;
}

/* A reset, and what is left names nothing; code only if the device had an error. */
static void outlives(struct life *l, bool faulty)
{
	hipFunction_t function;

	CHECK_EQ(hipDeviceReset(), hipSuccess);
	if (l->other)
		CHECK_EQ(hipStreamSynchronize(l->other), hipErrorContextIsDestroyed);
	if (l->exec)
		CHECK_EQ(hipGraphLaunch(l->exec, NULL), hipErrorContextIsDestroyed);
	if (l->rig.module)
		CHECK_EQ(hipModuleGetFunction(&function, l->rig.module, "k_add"),
			 faulty ? hipErrorContextIsDestroyed : hipSuccess);
}

/* Behind the failure: the same objects go on, and then others after a reset. */
static void recovers(struct life *l, hipError_t during)
{
	hipError_t after = life_go_on(l), anew;
	bool may_stay = stays(during) || (during && now.several);
	bool well = during != WRONG && after != WRONG && (!after || (stays(after) && may_stay));

	now.told += during != hipSuccess;
	now.stayed += stays(after);
	/* Handles from before a reset, too, are given back. */
	if (now.n % 2)
		outlives(l, stays(after));
	life_end(l);
	anew = hipDeviceReset();
	anew = anew ? anew : life_begin(l);
	anew = anew ? anew : life_go_on(l);
	if (!CHECK(well && !anew))
		show(during, after, anew);
	if (anew) { /* what comes is judged by itself */
		life_end(l);
		CHECK_EQ(hipDeviceReset(), hipSuccess);
		CHECK_EQ(life_begin(l), hipSuccess);
	}
	alarm(PATIENCE_S);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* A new life begins, and goes on, while something fails. */
static hipError_t another_life(void)
{
	struct life l;
	hipError_t r = life_begin(&l);

	r = r ? r : life_go_on(&l);
	life_end(&l);
	/* What is found when streams end, the next wait tells. */
	return first(r, hipDeviceSynchronize());
}

static bool one(struct life *l, bool ioctls, long n, int error)
{
	unsigned long before = vgpu_ioctl_count();
	hipError_t r;

	now.n = n;
	now.error = error;
	if (ioctls)
		vgpu_inject_ioctl((unsigned long)n, error);
	else
		inject_allocation(n);
	r = now.beginning ? another_life() : life_go_on(l);
	vgpu_inject_ioctl(0, 0);
	if (ioctls ? vgpu_ioctl_count() - before < (unsigned long)n : !inject_happened()) {
		inject_allocation(0);
		return CHECK_EQ(r, hipSuccess), false;
	}
	recovers(l, r);
	return true;
}

static void each(struct life *l, const char *what, int error)
{
	bool ioctls = !strcmp(what, "ioctl");
	/* Another third for each error. */
	long n = 1 + error % now.step;

	now.what = what;
	now.told = now.stayed = 0;
	while (n < 5000 && one(l, ioctls, n, error))
		n += now.step;
	CHECK(n > 10);
	printf("%ld %ss%s, each %ldth failed with %s: %u errors, %u that stay\n", n - 1, what,
	       now.beginning ? " of a beginning" : "", now.step, strerrorname_np(error), now.told, now.stayed);
	fflush(stdout);
}

/* All ioctls of one number, for a while. The kernel's numbers: tests share no header with the virtual GPU. */
static void every(struct life *l, int error)
{
	static const struct {
		const char *name;
		int nr;
	} calls[] = {{"GEM_CLOSE", 0x09},  {"PRIME_HANDLE_TO_FD", 0x2d},
		     {"GEM_CREATE", 0x40}, {"GEM_MMAP", 0x41},
		     {"CTX", 0x42},        {"BO_LIST", 0x43},
		     {"CS", 0x44},         {"INFO", 0x45},
		     {"GEM_VA", 0x48},     {"WAIT_CS", 0x49},
		     {"GEM_OP", 0x50},     {"GEM_USERPTR", 0x51}};

	now.told = now.stayed = 0;
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (now.beginning = 0; now.beginning < 2; now.beginning++) {
			hipError_t r;

			now.what = calls[i].name;
			now.error = error;
			vgpu_inject_ioctl_chance(calls[i].nr, 1000000, error);
			r = now.beginning ? another_life() : life_go_on(l);
			vgpu_inject_ioctl_chance(calls[i].nr, 0, 0);
			recovers(l, r);
		}
	now.beginning = false;
	printf("all ioctls of one number with %s: %u errors, %u that stay\n", strerrorname_np(error), now.told,
	       now.stayed);
	fflush(stdout);
}

/* Any of them now and then, so that several do. */
static void some(struct life *l, int error)
{
	now.told = now.stayed = 0;
	now.what = "some ioctls, round";
	now.error = error;
	for (now.n = 1; now.n <= 30 / now.step; now.n++) {
		hipError_t r;

		vgpu_inject_ioctl_chance(-1, 40000, error);
		r = now.n % 2 ? another_life() : life_go_on(l);
		vgpu_inject_ioctl_chance(-1, 0, 0);
		recovers(l, r);
	}
	printf("some ioctls with %s: %u errors, %u that stay\n", strerrorname_np(error), now.told, now.stayed);
	fflush(stdout);
}

static void all(struct life *l)
{
	static const int errors[] = {ENOMEM, EINVAL, EBUSY, ENODEV, EFAULT, EINTR};

	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		for (now.beginning = 0; now.beginning < 2; now.beginning++)
			each(l, "ioctl", errors[i]);
	for (now.beginning = 0; now.beginning < 2; now.beginning++)
		each(l, "allocation", ENOMEM);
	now.beginning = false;
	now.several = true;
	for (unsigned i = 0; i < 3; i++)
		every(l, errors[i]);
	for (unsigned i = 0; i < 5; i++)
		some(l, errors[i]);
}

int main(int argc, char **argv)
{
	struct life life;
	int result;

	gpu = argc > 1 ? argv[1] : "gfx908";
	now.step = argc == 3 ? 1 : 3;
	signal(SIGALRM, hung);
	alarm(PATIENCE_S);
	vgpu_strict_set(VGPU_STRICT_OFF);
	if (!CHECK_EQ(vgpu_start(gpu), 0))
		return check_done("failures of a process that goes on");
	CHECK_EQ(life_begin(&life), hipSuccess);
	CHECK_EQ(life_go_on(&life), hipSuccess);
	if (argc == 5) {
		now.what = argv[2];
		(void)!one(&life, !strcmp(argv[2], "ioctl"), atol(argv[4]), atoi(argv[3]));
		return check_done("one failure");
	}
	all(&life);
	life_end(&life);
	result = check_done("failures of a process that goes on");
	fflush(stdout);
	_exit(result); /* HSA's signals have memory that LeakSanitizer does not find; tests/hip/inject.c counts */
}
