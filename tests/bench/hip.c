/* User instructions of HIP's hot paths on the null device, of the calling thread: libamdhip64.so.6 and
 * libhsa-runtime64.so.1 as programs have them, procedure linkage included. Beside pools: glibc's malloc, and
 * mimalloc's where it is installed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIP_DEPRECATED
#include <hip/hip_runtime_api.h>

#include "shaders/blob.h"
#include "tests/count.h"
#include "vgpu/vgpu.h"

#define TRIES 15
#define BUSY  16
#define NODES 1024

extern const struct shader_blob test_blobs[];

static hipStream_t stream;
static hipEvent_t event;
static hipFunction_t empty, full; /* without arguments; with four and hidden ones */
static uint32_t *memory, *other, *pinned;
static void *(*other_malloc)(size_t);
static void (*other_free)(void *);

static void must(hipError_t error)
{
	if (!error)
		return;
	fprintf(stderr, "%s\n", hipGetErrorName(error));
	abort();
}

/* --- paths ------------------------------------------------------------------------------------ */

static void nothing(void *arg)
{
	(void)arg;
}

static void get_device(void *arg)
{
	(void)arg;
	int device;

	must(hipGetDevice(&device));
}

static void last_error(void *arg)
{
	(void)arg;
	(void)!hipGetLastError();
}

static void pool_pair(void *arg)
{
	void *ptr;

	must(hipMallocAsync(&ptr, *(const size_t *)arg, stream));
	must(hipFreeAsync(ptr, stream));
}

static void other_pair(void *arg)
{
	void *volatile ptr = other_malloc(*(const size_t *)arg);

	other_free(ptr);
}

static void launch(void *arg)
{
	(void)arg;
	must(hipModuleLaunchKernel(empty, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
}

static void launch_full(void *arg)
{
	uint32_t groups = 1, rounds = 1;
	void *args[] = {&memory, &other, &groups, &rounds};

	(void)arg;
	must(hipModuleLaunchKernel(full, 1, 1, 1, 64, 1, 1, 0, stream, args, NULL));
}

static void kernel_fill_kernel(void *arg)
{
	launch(arg);
	must(hipMemsetAsync(memory, 0, 4096, stream));
	launch(arg);
}

static void kernel_copy_kernel(void *arg)
{
	launch(arg);
	must(hipMemcpyAsync(memory, other, 4096, hipMemcpyDeviceToDevice, stream));
	launch(arg);
}

static void copy_and_wait(void *arg)
{
	(void)arg;
	must(hipMemcpyAsync(memory, pinned, 4096, hipMemcpyHostToDevice, stream));
	must(hipStreamSynchronize(stream));
}

static void launch_and_wait(void *arg)
{
	launch(arg);
	must(hipStreamSynchronize(stream));
}

static void record(void *arg)
{
	(void)arg;
	must(hipEventRecord(event, stream));
}

static void query(void *arg)
{
	(void)arg;
	(void)!hipStreamQuery(stream);
}

static void synchronize(void *arg)
{
	(void)arg;
	must(hipStreamSynchronize(stream));
}

/* --- rows ------------------------------------------------------------------------------------- */

static long long count(void (*fn)(void *), void *arg)
{
	static long long overhead = -1;

	if (overhead < 0)
		overhead = (long long)count_instructions(nothing, NULL, 3);
	fn(arg);
	return (long long)count_instructions(fn, arg, TRIES) - overhead;
}

static void row(const char *what, void (*fn)(void *), void *arg)
{
	unsigned long ioctls;

	must(hipStreamSynchronize(stream));
	fn(arg);
	ioctls = vgpu_ioctl_count();
	fn(arg);
	ioctls = vgpu_ioctl_count() - ioctls;
	printf("%-46s %8lld %8lu\n", what, count(fn, arg), ioctls);
}

/* What one of many costs while the GPU is busy and packets are collected. */
static void row_collected(const char *what, void (*fn)(void *))
{
	long long overhead = (long long)count_instructions(nothing, NULL, 3), least = INT64_MAX;

	for (unsigned i = 0; i < BUSY / 2; i++) {
		long long now = (long long)count_instructions(fn, NULL, 1) - overhead;

		least = now < least ? now : least;
	}
	printf("%-46s %8lld\n", what, least);
}

static void rows_collected(void)
{
	launch(NULL);
	launch(NULL);
	row_collected("busy: launch", launch);
	row_collected("busy: launch, 4 arguments and hidden ones", launch_full);
	row_collected("busy: kernel, fill of 4 KiB, kernel", kernel_fill_kernel);
	row_collected("busy: kernel, copy of 4 KiB, kernel", kernel_copy_kernel);
}

static void row_many(void)
{
	unsigned long ioctls = vgpu_ioctl_count();

	for (unsigned i = 0; i < 1000; i++)
		launch(NULL);
	must(hipStreamSynchronize(stream));
	ioctls = vgpu_ioctl_count() - ioctls;
	printf("%-46s %8s %8lu\n", "1,000 launches of 20 us and a wait", "", ioctls);
}

/* A chain of that many kernels. */
static hipGraphExec_t chain(unsigned length)
{
	hipKernelNodeParams params = {.func = (void *)empty, .gridDim = {1, 1, 1}, .blockDim = {64, 1, 1}};
	hipGraphNode_t node, last = NULL;
	hipGraphExec_t exec;
	hipGraph_t graph;

	must(hipGraphCreate(&graph, 0));
	for (unsigned i = 0; i < length; i++, last = node)
		must(hipGraphAddKernelNode(&node, graph, &last, i ? 1 : 0, &params));
	must(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	return exec;
}

static void graph_launch(void *arg)
{
	must(hipGraphLaunch(arg, stream));
}

/* A long one, each kernel's share of it, and how many submissions it is. */
static void row_of_graph(void)
{
	hipGraphExec_t one = chain(1), many = chain(NODES);
	unsigned long ioctls;
	long long each;

	/* The first launch is timed. */
	for (unsigned i = 0; i < 2; i++) {
		graph_launch(many);
		must(hipStreamSynchronize(stream));
	}
	ioctls = vgpu_ioctl_count();
	graph_launch(many);
	ioctls = vgpu_ioctl_count() - ioctls;
	each = (long long)count_instructions(graph_launch, many, 3);
	each -= (long long)count_instructions(graph_launch, one, 3);
	printf("%-46s %8.1f %8lu\n", "graph launch, each of 1,024 kernels", (double)each / (NODES - 1), ioctls);
}

static void rows_of_malloc(const char *name, size_t *size_B)
{
	char what[64];

	snprintf(what, sizeof(what), "malloc and free of 64 KiB: %s", name);
	printf("%-46s %8lld\n", what, count(other_pair, size_B));
}

static void start(const char *spec)
{
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", "gfx908");
	hipModule_t module;

	if (vgpu_start(spec) || !blob)
		abort();
	must(hipModuleLoadData(&module, blob->image));
	must(hipModuleGetFunction(&empty, module, "k_empty"));
	must(hipModuleGetFunction(&full, module, "k_around"));
	must(hipMalloc((void **)&memory, 4096));
	must(hipMalloc((void **)&other, 4096));
	must(hipHostMalloc((void **)&pinned, 4096, 0));
	must(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
}

/* In a process of its own: a GPU that takes its time. */
static void row_of_slow_gpu(const char *spec, void (*rows)(void))
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child) {
		waitpid(child, NULL, 0);
		return;
	}
	start(spec);
	rows();
	fflush(stdout);
	_exit(0);
}

static void rows_of_pools(void)
{
	size_t small = 4096, middle = 65536, large = 64 << 20;
	void *mimalloc = dlopen("libmimalloc.so.2", RTLD_NOW);
	uint64_t keep = UINT64_MAX;
	hipMemPool_t pool;

	must(hipDeviceGetDefaultMemPool(&pool, 0));
	must(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &keep));
	row("pool hit: malloc and free of 4 KiB", pool_pair, &small);
	row("pool hit: malloc and free of 64 KiB", pool_pair, &middle);
	row("pool hit: malloc and free of 64 MiB", pool_pair, &large);
	other_malloc = malloc;
	other_free = free;
	rows_of_malloc("glibc", &middle);
	if (!mimalloc)
		return;
	*(void **)&other_malloc = dlsym(mimalloc, "mi_malloc");
	*(void **)&other_free = dlsym(mimalloc, "mi_free");
	rows_of_malloc("mimalloc", &middle);
}

int main(void)
{
	printf("user instructions on the null device, counted by %s\n%-46s %8s %8s\n", count_method(), "", "",
	       "ioctls");
	row_of_slow_gpu("null:gfx908:service_us=5000000", rows_collected);
	row_of_slow_gpu("null:gfx908:service_us=20", row_many);
	start("null:gfx908");
	must(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	row("launch", launch, NULL);
	row("launch, 4 arguments and hidden ones", launch_full, NULL);
	row("launch and wait", launch_and_wait, NULL);
	row("kernel, fill of 4 KiB, kernel", kernel_fill_kernel, NULL);
	row("kernel, copy of 4 KiB, kernel", kernel_copy_kernel, NULL);
	row("copy of 4 KiB from pinned memory and wait", copy_and_wait, NULL);
	row("graph launch, 1 kernel", graph_launch, chain(1));
	row_of_graph();
	row("event record, without a time", record, NULL);
	row("finished stream: query", query, NULL);
	row("finished stream: wait", synchronize, NULL);
	row("hipGetDevice", get_device, NULL);
	row("hipGetLastError", last_error, NULL);
	rows_of_pools();
	fflush(stdout);
	_exit(0); /* as programs end: by themselves, with the kernel to clean up */
}
