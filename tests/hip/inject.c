/* A program of HIP loses each of its allocations in turn: each time it gets an error or right results, and then
 * runs undisturbed; in the end no more is held than before. Then the same for what a process does once, and for
 * ioctls: as processes of their own, because a device that is lost is not always there again.
 *
 *   inject [all]    all: not every fifth process, but each
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIP_DEPRECATED
#include <hip/hip_runtime_api.h>

#include "shaders/blob.h"
#include "tests/check.h"
#include "tests/inject.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob test_blobs[];

#define COUNT 256u
#define WRONG ((hipError_t)12345) /* results that are not what they must be */

/* --- the program: each part gives its first error, and leaves nothing behind ------------------ */

struct rig {
	hipStream_t stream;
	hipModule_t module;
	hipFunction_t add;
	uint32_t *data;
};

static hipError_t launch(const struct rig *g, uint32_t value)
{
	void *data = g->data, *args[] = {&data, &value};

	return hipModuleLaunchKernel(g->add, COUNT / 64, 1, 1, 64, 1, 1, 0, g->stream, args, NULL);
}

/* All are want. */
static hipError_t expect(const struct rig *g, const uint32_t *at, uint32_t want)
{
	uint32_t got[COUNT] = {0};
	hipError_t r = hipMemcpyAsync(got, at, sizeof(got), hipMemcpyDeviceToHost, g->stream);

	r = r ? r : hipStreamSynchronize(g->stream);
	for (unsigned i = 0; !r && i < COUNT; i++)
		r = got[i] == want ? hipSuccess : WRONG;
	return r;
}

static hipError_t launches(const struct rig *g)
{
	hipEvent_t begin = NULL, end = NULL;
	float ms;
	hipError_t r = hipEventCreate(&begin);

	r = r ? r : hipEventCreate(&end);
	r = r ? r : hipMemsetD32Async(g->data, 5, COUNT, g->stream);
	r = r ? r : hipEventRecord(begin, g->stream);
	r = r ? r : launch(g, 2);
	r = r ? r : hipEventRecord(end, g->stream);
	r = r ? r : hipEventSynchronize(end);
	r = r ? r : hipEventElapsedTime(&ms, begin, end);
	r = r ? r : expect(g, g->data, 17);
	if (begin)
		(void)!hipEventDestroy(begin);
	if (end)
		(void)!hipEventDestroy(end);
	return r;
}

static hipError_t captured(const struct rig *g)
{
	hipGraph_t graph = NULL;
	hipGraphExec_t exec = NULL;
	hipError_t r = hipStreamBeginCapture(g->stream, hipStreamCaptureModeThreadLocal), end;

	if (r)
		return r;
	r = hipMemsetD32Async(g->data, 1, COUNT, g->stream);
	r = r ? r : launch(g, 4);
	r = r ? r : launch(g, 4);
	end = hipStreamEndCapture(g->stream, &graph);
	r = r ? r : end;
	r = r ? r : hipGraphInstantiate(&exec, graph, NULL, NULL, 0);
	r = r ? r : hipGraphLaunch(exec, g->stream);
	r = r ? r : hipGraphLaunch(exec, g->stream);
	r = r ? r : expect(g, g->data, 25);
	(void)!hipStreamSynchronize(g->stream);
	if (exec)
		(void)!hipGraphExecDestroy(exec);
	if (graph)
		(void)!hipGraphDestroy(graph);
	return r;
}

static hipError_t pools(const struct rig *g)
{
	const hipMemPoolProps like = {.allocType = hipMemAllocationTypePinned,
				      .location = {.type = hipMemLocationTypeDevice}};
	hipMemPool_t pool = NULL;
	void *memory = NULL;
	hipError_t r = hipMemPoolCreate(&pool, &like);

	r = r ? r : hipMallocFromPoolAsync(&memory, 4 * COUNT, pool, g->stream);
	r = r ? r : hipMemsetD32Async(memory, 9, COUNT, g->stream);
	r = r ? r : expect(g, memory, 9);
	if (memory) {
		hipError_t freed = hipFreeAsync(memory, g->stream);

		r = r ? r : freed;
	}
	if (pool)
		(void)!hipMemPoolDestroy(pool);
	return r;
}

static hipError_t images(const struct rig *g)
{
	const hipChannelFormatDesc format = {.x = 32, .f = hipChannelFormatKindUnsigned};
	const hipTextureDesc how = {.readMode = hipReadModeElementType};
	hipResourceDesc what = {.resType = hipResourceTypeArray};
	hipTextureObject_t texture = NULL;
	uint32_t in[16 * 16] = {[255] = 7}, out[16 * 16];
	hipArray_t array = NULL;
	hipError_t r = hipMallocArray(&array, &format, 16, 16, 0);

	(void)g;
	what.res.array.array = array;
	r = r ? r : hipMemcpy2DToArray(array, 0, 0, in, 64, 64, 16, hipMemcpyHostToDevice);
	r = r ? r : hipCreateTextureObject(&texture, &what, &how, NULL);
	r = r ? r : hipMemcpy2DFromArray(out, 64, array, 0, 0, 64, 16, hipMemcpyDeviceToHost);
	if (!r && memcmp(in, out, sizeof(in)))
		r = WRONG;
	if (texture)
		(void)!hipDestroyTextureObject(texture);
	if (array)
		(void)!hipFreeArray(array);
	return r;
}

static hipError_t host_memory(const struct rig *g)
{
	static uint32_t mine[COUNT];
	hipIpcMemHandle_t handle;
	uint32_t *pinned = NULL;
	hipError_t r = hipHostMalloc((void **)&pinned, sizeof(mine), 0), registered;

	registered = hipHostRegister(mine, sizeof(mine), 0);
	r = r ? r : registered;
	for (unsigned i = 0; !r && i < COUNT; i++)
		pinned[i] = 3;
	r = r ? r : hipMemcpyAsync(g->data, pinned, sizeof(mine), hipMemcpyHostToDevice, g->stream);
	r = r ? r : hipMemcpyAsync(mine, g->data, sizeof(mine), hipMemcpyDeviceToHost, g->stream);
	r = r ? r : hipStreamSynchronize(g->stream);
	r = r ? r : mine[COUNT - 1] == 3 ? hipSuccess : WRONG;
	r = r ? r : hipIpcGetMemHandle(&handle, g->data);
	/* A kernel that refuses to let go is asked again: it would be known still when it is registered next time.
	 */
	if (!registered && hipHostUnregister(mine))
		(void)!hipHostUnregister(mine);
	if (pinned)
		(void)!hipHostFree(pinned);
	return r;
}

static hipError_t program(void)
{
	static hipError_t (*const parts[])(const struct rig *) = {launches, captured, pools, images, host_memory};
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", "gfx908");
	struct rig g = {0};
	hipError_t r = hipMalloc((void **)&g.data, 4 * COUNT);

	r = r ? r : hipStreamCreate(&g.stream);
	r = r ? r : hipModuleLoadData(&g.module, blob->image);
	r = r ? r : hipModuleGetFunction(&g.add, g.module, "k_add");
	for (unsigned i = 0; !r && i < sizeof(parts) / sizeof(parts[0]); i++)
		r = parts[i](&g);
	if (g.module)
		(void)!hipModuleUnload(g.module);
	if (g.stream)
		(void)!hipStreamDestroy(g.stream);
	if (g.data)
		(void)!hipFree(g.data);
	return r;
}

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

static long settle(void)
{
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(program(), hipSuccess);
	(void)!hipDeviceReset();
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
