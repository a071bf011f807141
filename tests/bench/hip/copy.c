/* Fills and copies: between kernels, small ones with a wait, large ones from pageable memory, and whether copies
 * and kernels of two streams overlap. */
#include "tests/bench/hip/rig.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL(k) (void *)(uintptr_t)(k)
#define SMALL_B   4096

/* --- between kernels, and small --------------------------------------------------------------- */

static void kernel_fill_kernel(void *kernel)
{
	rig_launch(kernel);
	rig_must(hipMemsetAsync(rig.memory, 0, SMALL_B, rig.stream));
	rig_launch(kernel);
}

static void kernel_copy_kernel(void *kernel)
{
	rig_launch(kernel);
	rig_must(hipMemcpyAsync(rig.memory, rig.other, SMALL_B, hipMemcpyDeviceToDevice, rig.stream));
	rig_launch(kernel);
}

static void to_gpu_and_wait(void *arg)
{
	(void)arg;
	rig_must(hipMemcpyAsync(rig.memory, rig.pinned, SMALL_B, hipMemcpyHostToDevice, rig.stream));
	rig_synchronize(NULL);
}

static void from_gpu_and_wait(void *arg)
{
	(void)arg;
	rig_must(hipMemcpyAsync(rig.pinned, rig.memory, SMALL_B, hipMemcpyDeviceToHost, rig.stream));
	rig_synchronize(NULL);
}

static void pageable_to_gpu(void *arg)
{
	rig_must(hipMemcpy(rig.memory, arg, SMALL_B, hipMemcpyHostToDevice));
}

static void pageable_from_gpu(void *arg)
{
	rig_must(hipMemcpy(arg, rig.memory, SMALL_B, hipMemcpyDeviceToHost));
}

static void rows_idle(void)
{
	static char pageable[SMALL_B];

	rig_warm_up();
	rig_title("fills and copies of 4 KiB, the GPU is idle");
	rig_print_all((const struct rig_row[]){
		{"kernel, fill, kernel", "no args", kernel_fill_kernel, KERNEL(RIG_EMPTY),
		 .before = rig_until_idle},
		{"kernel, fill, kernel", "4+hidden5", kernel_fill_kernel, KERNEL(RIG_HIDDEN5),
		 .before = rig_until_idle},
		{"kernel, copy within the GPU, kernel", "no args", kernel_copy_kernel, KERNEL(RIG_EMPTY),
		 .before = rig_until_idle},
		{"kernel, copy within the GPU, kernel", "4+hidden5", kernel_copy_kernel, KERNEL(RIG_HIDDEN5),
		 .before = rig_until_idle},
		{"copy from pinned memory and wait", "", to_gpu_and_wait},
		{"copy to pinned memory and wait", "", from_gpu_and_wait},
		{"hipMemcpy from pageable memory", "", pageable_to_gpu, pageable},
		{"hipMemcpy to pageable memory", "", pageable_from_gpu, pageable},
		{0},
	});
}

static void launch_fill_copy(void)
{
	kernel_fill_kernel(KERNEL(RIG_EMPTY));
	kernel_copy_kernel(KERNEL(RIG_EMPTY));
}

static void rows_collected(void)
{
	rig_title("fills and copies of 4 KiB, the GPU is busy (the clock is slow)");
	rig_keep_busy(launch_fill_copy);
	rig_print_all((const struct rig_row[]){
		{"kernel, fill, kernel", "no args", kernel_fill_kernel, KERNEL(RIG_EMPTY), .no_ioctls = true},
		{"kernel, copy within the GPU, kernel", "no args", kernel_copy_kernel, KERNEL(RIG_EMPTY),
		 .no_ioctls = true},
		{0},
	});
}

static void wait_of(void (*fn)(void *), void *kernel)
{
	fn(kernel);
	rig_synchronize(NULL);
}

static void kernel_fill_kernel_wait(void *kernel)
{
	wait_of(kernel_fill_kernel, kernel);
}

static void kernel_copy_kernel_wait(void *kernel)
{
	wait_of(kernel_copy_kernel, kernel);
}

static void rows_running(void)
{
	rig_warm_up();
	rig_title("the same with a wait, 20 us a job");
	rig_print_all((const struct rig_row[]){
		{"kernel, fill, kernel, wait", "no args", kernel_fill_kernel_wait, KERNEL(RIG_EMPTY),
		 .no_steps = true},
		{"kernel, copy within the GPU, kernel, wait", "no args", kernel_copy_kernel_wait, KERNEL(RIG_EMPTY),
		 .no_steps = true},
		{"copy from pinned memory and wait", "", to_gpu_and_wait, .no_steps = true},
		{"copy to pinned memory and wait", "", from_gpu_and_wait, .no_steps = true},
		{0},
	});
}

/* --- overlap ---------------------------------------------------------------------------------- */

#define SERVICE_NS 1000000 /* of a job in the processes of this section */
#define RUNS       5

static hipStream_t second; /* beside rig.stream */

/* Five times a copy and a kernel that needs it, in two streams by turns. */
static void double_buffering(size_t size_B)
{
	for (unsigned i = 0; i < 5; i++) {
		hipStream_t stream = i % 2 ? second : rig.stream;

		rig_must(hipMemcpyAsync(i % 2 ? rig.other : rig.memory, rig.pinned, size_B, hipMemcpyHostToDevice,
					stream));
		rig_launch_in(RIG_EMPTY, stream);
	}
	rig_synchronize(NULL);
	rig_must(hipStreamSynchronize(second));
}

/* One stream's kernel and a copy behind it; the other stream's copy needs neither, and is waited for. */
static void beside(size_t size_B)
{
	rig_launch_in(RIG_EMPTY, rig.stream);
	rig_must(hipMemcpyAsync(rig.pinned, rig.memory, size_B, hipMemcpyDeviceToHost, rig.stream));
	rig_must(hipMemcpyAsync(rig.other, rig.pinned, size_B, hipMemcpyHostToDevice, second));
	rig_must(hipStreamSynchronize(second));
}

static void say_overlap(const char *what, void (*fn)(size_t), size_t size_B)
{
	double jobs[RUNS];

	for (unsigned i = 0; i < RUNS + 1; i++) { /* the first run only warms up */
		uint64_t from_ns = rig_now_ns();

		fn(size_B);
		jobs[i ? i - 1 : 0] = (double)(rig_now_ns() - from_ns) / SERVICE_NS;
		rig_must(hipDeviceSynchronize());
	}
	rig_census();
	fn(size_B);
	rig_must(hipDeviceSynchronize());
	rig_say(what, "%5.2f service times; %s", rig_median(jobs, RUNS), rig_census_text(1));
}

static void rows_overlap(void)
{
	rig_warm_up();
	rig_must(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
	rig_title("overlap of two streams, 1 ms a job, kernels without arguments, pinned memory");
	say_overlap("5 times H2D of 4 KiB, kernel, by turns in two streams", double_buffering, SMALL_B);
	say_overlap("5 times H2D of 4 MiB, kernel, by turns in two streams", double_buffering, RIG_MEMORY_B);
	say_overlap("A: kernel, D2H of 4 KiB; B: H2D. B's wait", beside, SMALL_B);
	say_overlap("A: kernel, D2H of 4 MiB; B: H2D. B's wait", beside, RIG_MEMORY_B);
}

/* --- large ------------------------------------------------------------------------------------ */

#define LARGE_B (256u << 20)

struct half {
	char *to;
	const char *from;
};

static void *copy_half(void *arg)
{
	const struct half *half = arg;

	memcpy(half->to, half->from, LARGE_B / 2);
	return NULL;
}

static double memcpy_by_two_ns(char *to, const char *from)
{
	uint64_t from_ns = rig_now_ns();
	struct half mine = {to, from}, theirs = {to + LARGE_B / 2, from + LARGE_B / 2};
	pthread_t thread;

	if (pthread_create(&thread, NULL, copy_half, &theirs))
		abort();
	copy_half(&mine);
	pthread_join(thread, NULL);
	return (double)(rig_now_ns() - from_ns);
}

static double copy_ns(void *to, const void *from, hipMemcpyKind kind)
{
	uint64_t from_ns = rig_now_ns();

	rig_must(hipMemcpy(to, from, LARGE_B, kind));
	return (double)(rig_now_ns() - from_ns);
}

static void rows_large(void)
{
	char *from = malloc(LARGE_B), *to = malloc(LARGE_B), *gpu;
	double ratio[2][RUNS];

	if (!from || !to)
		abort();
	memset(from, 1, LARGE_B);
	memset(to, 2, LARGE_B);
	rig_must(hipMalloc((void **)&gpu, LARGE_B));
	rig_title(
		"256 MiB and pageable memory: bandwidth by that of memcpy in two threads (the null device moves nothing)");
	copy_ns(gpu, from, hipMemcpyHostToDevice);
	for (unsigned i = 0; i < RUNS; i++) {
		double by_two_ns = memcpy_by_two_ns(to, from);

		ratio[0][i] = by_two_ns / copy_ns(gpu, from, hipMemcpyHostToDevice);
		ratio[1][i] = by_two_ns / copy_ns(to, gpu, hipMemcpyDeviceToHost);
	}
	rig_census();
	copy_ns(gpu, from, hipMemcpyHostToDevice);
	rig_say("hipMemcpy from pageable memory", "%.2f times; %s", rig_median(ratio[0], RUNS), rig_census_text(1));
	rig_census();
	copy_ns(to, gpu, hipMemcpyDeviceToHost);
	rig_say("hipMemcpy to pageable memory", "%.2f times; %s", rig_median(ratio[1], RUNS), rig_census_text(1));
}

void bench_copy(void)
{
	rig_run("null:gfx908", rows_idle);
	/* As in bench_launch(): no time becomes known. */
	setenv("TUFF_SPLIT_MS", "0", 1);
	rig_run("null:gfx908:service_us=5000000", rows_collected);
	unsetenv("TUFF_SPLIT_MS");
	rig_run("null:gfx908:service_us=20", rows_running);
	rig_run("null:gfx908:service_us=1000", rows_overlap);
	rig_run("null:gfx908", rows_large);
}
