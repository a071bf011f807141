/* Events, and streams that wait for one another with them. */
#include "tests/bench/hip/rig.h"

#define STREAMS 4
#define ROUNDS  12 /* of STREAMS kernels each: 48 */

static hipEvent_t plain, begin, end; /* without a time; with */
static hipStream_t streams[STREAMS]; /* [0] is rig.stream */
static hipEvent_t events[STREAMS];   /* each stream's own, without a time */

static void create_all(void)
{
	rig_must(hipEventCreateWithFlags(&plain, hipEventDisableTiming));
	rig_must(hipEventCreate(&begin));
	rig_must(hipEventCreate(&end));
	streams[0] = rig.stream;
	for (unsigned i = 0; i < STREAMS; i++) {
		if (i)
			rig_must(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
		rig_must(hipEventCreateWithFlags(&events[i], hipEventDisableTiming));
	}
}

/* --- one event -------------------------------------------------------------------------------- */

static void record(void *event)
{
	rig_must(hipEventRecord(event, rig.stream));
}

static void query(void *event)
{
	rig_must(hipEventQuery(event));
}

static void elapsed(void *arg)
{
	float ms;

	(void)arg;
	rig_must(hipEventElapsedTime(&ms, begin, end));
}

static void timed_launch(void *arg)
{
	record(begin);
	rig_launch((void *)(uintptr_t)RIG_EMPTY);
	record(end);
	rig_must(hipEventSynchronize(end));
	elapsed(arg);
}

static void wait_event(void *event)
{
	rig_must(hipStreamWaitEvent(streams[1], event, 0));
}

static void idle_devices(void *arg)
{
	(void)arg;
	rig_must(hipDeviceSynchronize());
}

static void rows_of_one(void)
{
	rig_warm_up();
	create_all();
	rig_title("events, the GPU is idle");
	record(plain);
	timed_launch(NULL);
	rig_print_all((const struct rig_row[]){
		{"hipEventRecord, without a time", "", record, plain},
		{"hipEventRecord, with a time", "", record, begin, .before = rig_until_idle},
		{"hipEventQuery, finished", "", query, plain},
		{0},
	});
	timed_launch(NULL);
	rig_print_all((const struct rig_row[]){
		{"hipEventElapsedTime", "", elapsed},
		{"record, launch, record, hipEventSynchronize, elapsed", "no args", timed_launch},
		{"hipStreamWaitEvent of another stream, finished", "", wait_event, plain, .before = idle_devices},
		{0},
	});
}

/* --- edges ------------------------------------------------------------------------------------ */

/* A kernel, and one of another stream behind it. */
static void edge(void *arg)
{
	(void)arg;
	rig_launch_in(RIG_EMPTY, streams[0]);
	rig_must(hipEventRecord(events[0], streams[0]));
	rig_must(hipStreamWaitEvent(streams[1], events[0], 0));
	rig_launch_in(RIG_EMPTY, streams[1]);
}

static void launch_first(void *arg)
{
	idle_devices(arg);
	rig_launch_in(RIG_EMPTY, streams[0]);
	rig_must(hipEventRecord(events[0], streams[0]));
}

static void rows_running(void)
{
	create_all();
	rig_title("waits across streams, the first kernel runs (200 ms a job)");
	edge(NULL);
	rig_print_all((const struct rig_row[]){
		{"hipStreamWaitEvent of another stream", "", wait_event, events[0], .before = launch_first,
		 .tries = 3, .no_ioctls = true},
		{"launch, record, hipStreamWaitEvent, launch", "no args", edge, .before = idle_devices, .tries = 3,
		 .no_ioctls = true},
		{0},
	});
}

/* A kernel of the first stream, then one of each other stream, then the first stream's again behind them all. */
static void fan(void *arg)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		rig_launch_in(RIG_EMPTY, streams[0]);
		rig_must(hipEventRecord(events[0], streams[0]));
		for (unsigned i = 1; i < STREAMS; i++) {
			rig_must(hipStreamWaitEvent(streams[i], events[0], 0));
			rig_launch_in(RIG_EMPTY, streams[i]);
			rig_must(hipEventRecord(events[i], streams[i]));
		}
		for (unsigned i = 1; i < STREAMS; i++)
			rig_must(hipStreamWaitEvent(streams[0], events[i], 0));
	}
	rig_synchronize(arg);
}

static void rows_of_many(void)
{
	rig_warm_up();
	create_all();
	rig_title("waits across streams, 20 us a job");
	rig_print_all((const struct rig_row[]){
		{"launch, record, hipStreamWaitEvent, launch", "no args", edge, .before = idle_devices,
		 .no_steps = true},
		{"fan-out and fan-in of 48 kernels over 4 streams, wait", "no args", fan, .no_steps = true},
		{0},
	});
}

void bench_event(void)
{
	rig_run("null:gfx908", rows_of_one);
	rig_run("null:gfx908:service_us=200000", rows_running);
	rig_run("null:gfx908:service_us=20", rows_of_many);
}
