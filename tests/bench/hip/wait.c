/* Waits and queries, and the cost of threads while work is pending. */
#include "tests/bench/hip/rig.h"

#include <sys/resource.h>
#include <time.h>

#define KERNEL(k)      (void *)(uintptr_t)(k)
#define STREAMS        1024
#define PENDING_FOR_NS 700000000

/* --- waits ------------------------------------------------------------------------------------ */

static void launch_and_wait(void *kernel)
{
	rig_launch(kernel);
	rig_synchronize(NULL);
}

static void launch_and_wait_later(void *kernel)
{
	rig_launch(kernel);
	rig_until_idle(NULL);
	rig_synchronize(NULL);
}

static void query(void *arg)
{
	(void)arg;
	(void)!hipStreamQuery(rig.stream);
}

static void synchronize_device(void *arg)
{
	(void)arg;
	rig_must(hipDeviceSynchronize());
}

static void get_device(void *arg)
{
	int device;

	(void)arg;
	rig_must(hipGetDevice(&device));
}

static void last_error(void *arg)
{
	(void)arg;
	(void)!hipGetLastError();
}

/* Streams that have had work, until there are `n` beside the null stream. */
static void have_streams(unsigned n)
{
	static unsigned have = 1; /* rig.stream */
	hipStream_t stream;

	for (; have < n; have++) {
		rig_must(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
		rig_launch_in(RIG_EMPTY, stream);
		rig_must(hipStreamSynchronize(stream));
	}
}

static void rows_finished(void)
{
	rig_warm_up();
	rig_title("waits, the GPU is idle by then");
	rig_print_all((const struct rig_row[]){
		{"launch and hipStreamSynchronize, finished", "no args", launch_and_wait, KERNEL(RIG_EMPTY),
		 .counted = launch_and_wait_later},
		{"launch and hipStreamSynchronize, finished", "4+hidden5", launch_and_wait, KERNEL(RIG_HIDDEN5),
		 .counted = launch_and_wait_later},
		{"hipStreamSynchronize, finished", "", rig_synchronize},
		{"hipStreamQuery, finished", "", query},
		{"hipDeviceSynchronize, 1 idle stream", "", synchronize_device},
		{0},
	});
	have_streams(64);
	rig_print(&(struct rig_row){"hipDeviceSynchronize, 64 idle streams", "", synchronize_device, .tries = 3});
	have_streams(STREAMS);
	rig_print(
		&(struct rig_row){"hipDeviceSynchronize, 1,024 idle streams", "", synchronize_device, .tries = 2});
	rig_print(&(struct rig_row){"hipGetDevice", "", get_device});
	rig_print(&(struct rig_row){"hipGetLastError", "", last_error});
}

static void rows_running(void)
{
	rig_print(&(struct rig_row){"launch and hipStreamSynchronize, running (200 ms a job)", "no args",
				    launch_and_wait, KERNEL(RIG_EMPTY), .tries = 3, .no_ioctls = true});
}

static void rows_running_shortly(void)
{
	rig_warm_up();
	rig_print(&(struct rig_row){"launch and hipStreamSynchronize, running (20 us a job)", "no args",
				    launch_and_wait, KERNEL(RIG_EMPTY), .no_steps = true, .rounds = 64});
}

/* --- idle ------------------------------------------------------------------------------------- */

static double cpu_ms(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-3;
}

/* What the process spends while this thread sleeps. */
static void say_idle(const char *what)
{
	uint64_t from_ns;
	double from_ms;

	nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* the calls before have had their effect */
	rig_census();
	from_ns = rig_now_ns();
	from_ms = cpu_ms();
	nanosleep(&(struct timespec){.tv_nsec = PENDING_FOR_NS}, NULL);
	from_ms = cpu_ms() - from_ms;
	from_ms *= 1e9 / (double)(rig_now_ns() - from_ns);
	rig_say(what, "%5.1f ms a second; ioctls in 0.7 s: %s", from_ms, rig_census_text(1));
}

static void host_function(void *arg)
{
	nanosleep(arg, NULL);
}

static void idle_kernel(void)
{
	rig_title("CPU time of the process while the calling thread sleeps");
	rig_launch(KERNEL(RIG_EMPTY));
	say_idle("a kernel runs, nothing waits for it");
}

static void idle_copy(void)
{
	rig_launch(KERNEL(RIG_EMPTY));
	rig_must(hipMemcpyAsync(rig.pinned, rig.memory, RIG_MEMORY_B, hipMemcpyDeviceToHost, rig.stream));
	say_idle("a copy of 4 MiB to pinned memory waits behind it");
}

static void idle_pageable(void)
{
	static char pageable[32768];

	rig_launch(KERNEL(RIG_EMPTY));
	rig_must(hipMemcpyAsync(rig.memory, pageable, sizeof(pageable), hipMemcpyHostToDevice, rig.stream));
	say_idle("a copy of 32 KiB from pageable memory waits behind it");
}

static void idle_host_function(void)
{
	rig_launch(KERNEL(RIG_EMPTY));
	rig_must(hipLaunchHostFunc(rig.stream, host_function, &(struct timespec){0}));
	say_idle("a host function waits behind it");
}

static void idle_in_host_function(void)
{
	static struct timespec second = {.tv_sec = 1};

	rig_must(hipLaunchHostFunc(rig.stream, host_function, &second));
	rig_must(hipMemcpyAsync(rig.memory, rig.pinned, RIG_MEMORY_B, hipMemcpyHostToDevice, rig.stream));
	say_idle("a host function sleeps, a copy waits behind it");
}

void bench_wait(void)
{
	static const char second[] = "null:gfx908:service_us=1000000";

	rig_run("null:gfx908", rows_finished);
	rig_run("null:gfx908:service_us=200000", rows_running);
	rig_run("null:gfx908:service_us=20", rows_running_shortly);
	rig_run(second, idle_kernel);
	rig_run(second, idle_copy);
	rig_run(second, idle_pageable);
	rig_run(second, idle_host_function);
	rig_run("null:gfx908", idle_in_host_function);
}
