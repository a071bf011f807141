/* Long runs of HIP on the null device: what a process holds, and what a call costs, after a thousand, ten thousand, ... rounds.
 * Each kind of round leaves nothing behind, so that the columns are flat. Each has a process of its own.
 *
 *   growth [ROUNDS [KIND]]    ROUNDS: the last row, 100000 unless told */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hip/hip_runtime_api.h>

#include "shaders/blob.h"
#include "tests/bench/outside.h"
#include "tests/files.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob test_blobs[];

static struct {
	hipStream_t stream;
	hipEvent_t event;
	hipModule_t module;
	hipFunction_t add;
	uint32_t *data;
} g;

static void must(hipError_t r)
{
	if (!r)
		return;
	printf("%s\n", hipGetErrorName(r));
	fflush(stdout);
	_exit(1);
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void launch_on(hipStream_t stream)
{
	uint32_t value = 1;
	void *data = g.data, *args[] = {&data, &value};

	must(hipModuleLaunchKernel(g.add, 1, 1, 1, 64, 1, 1, 0, stream, args, NULL));
}

static void launch(void *unused)
{
	(void)unused;
	launch_on(g.stream);
}

static void allocate(void *size_B)
{
	void *at;

	must(hipMalloc(&at, (size_t)(uintptr_t)size_B));
	must(hipFree(at));
}

static void allocate_host(void *unused)
{
	void *at;

	(void)unused;
	must(hipHostMalloc(&at, 4096, 0));
	must(hipHostFree(at));
}

static void allocate_async(void *unused)
{
	void *at;

	(void)unused;
	must(hipMallocAsync(&at, 4096, g.stream));
	must(hipFreeAsync(at, g.stream));
}

static void stream(void *unused)
{
	hipStream_t s;

	(void)unused;
	must(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	launch_on(s);
	must(hipStreamDestroy(s));
}

static void event(void *unused)
{
	hipEvent_t e;

	(void)unused;
	must(hipEventCreate(&e));
	must(hipEventRecord(e, g.stream));
	must(hipStreamWaitEvent(NULL, e, 0));
	must(hipEventDestroy(e));
}

static void module(void *unused)
{
	hipModule_t m;
	hipFunction_t f;

	(void)unused;
	must(hipModuleLoadData(&m, shader_find(test_blobs, "group.O1", "gfx908")->image));
	must(hipModuleGetFunction(&f, m, "k_add"));
	must(hipModuleUnload(m));
}

static void graph(void *unused)
{
	hipGraphExec_t exec;
	hipGraph_t made;

	(void)unused;
	must(hipStreamBeginCapture(g.stream, hipStreamCaptureModeThreadLocal));
	launch_on(g.stream);
	must(hipMemsetD32Async(g.data, 1, 64, g.stream));
	must(hipStreamEndCapture(g.stream, &made));
	must(hipGraphInstantiate(&exec, made, NULL, NULL, 0));
	must(hipGraphLaunch(exec, g.stream));
	must(hipGraphExecDestroy(exec));
	must(hipGraphDestroy(made));
}

static void copy(void *unused)
{
	uint32_t host[16] = {0};

	(void)unused;
	must(hipMemcpyAsync(g.data, host, sizeof(host), hipMemcpyHostToDevice, g.stream));
}

static const struct kind {
	const char *name;
	void (*round)(void *arg);
	void *arg;
	unsigned sync_each; /* rounds between two waits for the stream */
	bool long_round;    /* a million instructions: stepping would take a minute */
} kinds[] = {
	{"launch", launch, NULL, 256},
	{"copy of 64 bytes", copy, NULL, 256},
	{"hipMalloc, 4 KiB", allocate, (void *)4096, 256},
	{"hipMalloc, 4 MiB", allocate, (void *)(4 << 20), 256},
	{"hipHostMalloc", allocate_host, NULL, 256},
	{"hipMallocAsync", allocate_async, NULL, 256},
	{"stream with a launch", stream, NULL, 256},
	{"event, recorded", event, NULL, 256},
	{"module", module, NULL, 256, true},
	{"graph, launched", graph, NULL, 16},
};

/* --- what a process holds --------------------------------------------------------------------- */

static unsigned long status_KiB(const char *name)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long value = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			value = strtoul(line + strlen(name) + 1, NULL, 10);
	if (f)
		fclose(f);
	return value;
}

/* Time of all threads in user mode, the virtual device's too. */
static double user_us(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)used.ru_utime.tv_sec * 1e6 + (double)used.ru_utime.tv_usec;
}

static void print_row(const struct kind *kind, unsigned long rounds, double each_us)
{
	struct count cost = {0};
	struct vgpu_live live;

	if (!kind->long_round)
		cost = bench_count(kind->round, kind->arg, 5);

	must(hipDeviceSynchronize());
	vgpu_live(&live);
	printf("%-22s %9lu %9lu %11lu %6u %6lu %6lu %9llu %9.1f\n", kind->name, rounds, status_KiB("RssAnon:"),
	       status_KiB("VmSize:") >> 10, open_files(), live.bos, live.mappings,
	       (unsigned long long)cost.instructions, each_us);
	fflush(stdout);
}

static void set_up(void)
{
	must(vgpu_start("null:gfx908:service_us=0") ? hipErrorNoDevice : hipSuccess);
	must(hipMalloc((void **)&g.data, 4096));
	must(hipStreamCreateWithFlags(&g.stream, hipStreamNonBlocking));
	must(hipModuleLoadData(&g.module, shader_find(test_blobs, "group.O1", "gfx908")->image));
	must(hipModuleGetFunction(&g.add, g.module, "k_add"));
}

static void run_kind(const struct kind *kind, unsigned long rounds)
{
	unsigned long next = 1000, last = 0;
	double since_us;

	set_up();
	since_us = user_us();
	for (unsigned long i = 1; i <= rounds; i++) {
		kind->round(kind->arg);
		if (i % kind->sync_each == 0)
			must(hipStreamSynchronize(g.stream));
		if (i == next) {
			print_row(kind, i, (user_us() - since_us) / (double)(i - last));
			since_us = user_us();
			last = i;
			next *= 10;
		}
	}
}

static int run_apart(const struct kind *kind, unsigned long rounds)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		run_kind(kind, rounds);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	int bad = 0;

	vgpu_strict_set(VGPU_STRICT_OFF);
	bench_leave_out_device();
	printf("long runs of HIP on the null device: after so many rounds; instructions of the next one, user time\n"
	       "of one since the row above\n"
	       "%-22s %9s %9s %11s %6s %6s %6s %9s %9s\n",
	       "round", "rounds", "heap KiB", "mapped MiB", "files", "BOs", "VAs", "instr.", "user us");
	fflush(stdout);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc < 3 || strstr(kinds[i].name, argv[2]))
			bad |= run_apart(&kinds[i], rounds);
	return bad != 0;
}
