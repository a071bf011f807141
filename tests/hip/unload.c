/* A thread that is stopped inside a launch or a copy, while other threads unload the module of its kernel, free its array or
 * reset the device: code stays loaded, and the array is there, until the thread has left the call. Freed memory is overwritten (M_PERTURB), so that a thread that reads it
 * fails. */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include <hip/hip_runtime_api.h>

#include "shaders/blob.h"
#include "tests/check.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob test_blobs[];

#define ROUNDS  200
#define COUNT   256u
#define MODULES 8 /* loaded and unloaded while the thread is stopped */

static hipModule_t module;
static hipFunction_t function;
static uint32_t *data;
static hipArray_t array;
static const hipChannelFormatDesc texel = {.x = 32, .f = hipChannelFormatKindUnsigned};
static _Atomic int over, stopped, go, destroyed;
static unsigned stopped_rounds;

static void nap(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Stops the thread wherever it is. */
static void stop(int number)
{
	(void)number;
	atomic_store(&stopped, 1);
	while (!atomic_load(&go))
		nap(50);
}

static hipError_t module_load(hipModule_t *m)
{
	return hipModuleLoadData(m, shader_find(test_blobs, "group.O1", "gfx908")->image);
}

/* A copy is refused with hipErrorUnknown when its memory goes between the checks and the submission. */
static int is_defined(hipError_t r)
{
	return r == hipSuccess || r == hipErrorInvalidResourceHandle || r == hipErrorInvalidHandle ||
	       r == hipErrorContextIsDestroyed || r == hipErrorNotFound || r == hipErrorInvalidValue ||
	       r == hipErrorUnknown;
}

static void *launch(void *unused)
{
	uint32_t value = 1;
	void *at = data, *args[] = {&at, &value};
	hipFunction_t again;
	int refused = 0;

	while (!atomic_load(&over)) {
		refused += !is_defined(
			hipModuleLaunchKernel(function, COUNT / 64, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
		refused += !is_defined(hipModuleGetFunction(&again, module, "k_add"));
	}
	CHECK_EQ(refused, 0);
	return unused;
}

static void *fill(void *unused)
{
	int refused = 0;

	while (!atomic_load(&over))
		refused += !is_defined(hipMemsetD32Async(data, 5, COUNT, NULL));
	CHECK_EQ(refused, 0);
	return unused;
}

/* Geometry of an array is read in each of these calls. */
static void *copy(void *unused)
{
	static uint32_t texels[16 * 16];
	hipExtent extent;
	unsigned flags;
	int refused = 0;

	while (!atomic_load(&over)) {
		hipError_t r = hipArrayGetInfo(NULL, &extent, &flags, array);

		refused += !is_defined(r) || (!r && extent.width != 16);
		refused += !is_defined(hipMemcpy2DToArray(array, 0, 0, texels, 64, 64, 16, hipMemcpyHostToDevice));
	}
	CHECK_EQ(refused, 0);
	return unused;
}

static void *free_arrays(void *unused)
{
	hipArray_t a;

	(void)!hipFreeArray(array);
	for (unsigned i = 0; i < MODULES; i++)
		if (!hipMallocArray(&a, &texel, 16, 16, 0))
			(void)!hipFreeArray(a);
	atomic_store(&destroyed, 1);
	return unused;
}

static void *unload(void *unused)
{
	hipModule_t m;

	(void)!hipModuleUnload(module);
	for (unsigned i = 0; i < MODULES; i++)
		if (!module_load(&m))
			(void)!hipModuleUnload(m);
	atomic_store(&destroyed, 1);
	return unused;
}

static void *reset(void *unused)
{
	for (unsigned i = 0; i < 3; i++)
		(void)!hipDeviceReset();
	atomic_store(&destroyed, 1);
	return unused;
}

static const struct {
	void *(*use)(void *unused);
	void *(*destroy)(void *unused);
} pairs[] = {{launch, unload}, {copy, free_arrays}, {launch, unload}, {fill, reset}};
#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

static void one_round(void *(*use)(void *), void *(*destroy)(void *), long delay_us)
{
	pthread_t user, destroyer;

	atomic_store(&over, 0);
	atomic_store(&stopped, 0);
	atomic_store(&go, 0);
	atomic_store(&destroyed, 0);
	CHECK_EQ(hipMalloc((void **)&data, 4 * COUNT), hipSuccess);
	CHECK_EQ(hipMallocArray(&array, &texel, 16, 16, 0), hipSuccess);
	CHECK_EQ(module_load(&module), hipSuccess);
	CHECK_EQ(hipModuleGetFunction(&function, module, "k_add"), hipSuccess);
	CHECK_EQ(pthread_create(&user, NULL, use, NULL), 0);
	nap(delay_us);
	pthread_kill(user, SIGUSR1);
	while (!atomic_load(&stopped))
		nap(10);
	CHECK_EQ(pthread_create(&destroyer, NULL, destroy, NULL), 0);
	/* The destroyer waits as long as the stopped thread has a lock that it needs. */
	for (int i = 0; i < 40 && !atomic_load(&destroyed); i++)
		nap(500);
	stopped_rounds += (unsigned)atomic_load(&destroyed);
	atomic_store(&over, 1);
	atomic_store(&go, 1);
	pthread_join(user, NULL);
	pthread_join(destroyer, NULL);
	CHECK_EQ(hipDeviceSynchronize(), hipSuccess);
	(void)!hipModuleUnload(module);
	(void)!hipFreeArray(array);
	(void)!hipFree(data);
}

int main(void)
{
	struct sigaction action = {.sa_handler = stop};

	vgpu_strict_set(VGPU_STRICT_OFF); /* launches are beside each other */
	mallopt(M_PERTURB, 0x5a);
	sigaction(SIGUSR1, &action, NULL);
	if (!CHECK_EQ(vgpu_start("gfx908"), 0))
		return check_done("modules and arrays that go during a call");
	for (unsigned i = 0; i < ROUNDS; i++)
		one_round(pairs[i % PAIRS].use, pairs[i % PAIRS].destroy, 20 + i * 37 % 500);
	/* In some rounds the thread had no lock. */
	CHECK(stopped_rounds > 0);
	return check_done("modules and arrays that go during a call");
}
