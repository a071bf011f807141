/* A thread that is stopped inside a launch or a copy, while other threads unload the module of its kernel, free its array or
 * reset the device: code stays loaded, and the array is there, until the thread has left the call. */
#include <hip/hip_runtime_api.h>

#include "shaders/blob.h"
#include "tests/hip/stopper.h"
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

static int launch(void)
{
	uint32_t value = 1;
	void *at = data, *args[] = {&at, &value};
	hipFunction_t again;

	return !is_defined(hipModuleLaunchKernel(function, COUNT / 64, 1, 1, 64, 1, 1, 0, NULL, args, NULL)) +
	       !is_defined(hipModuleGetFunction(&again, module, "k_add"));
}

static int fill(void)
{
	return !is_defined(hipMemsetD32Async(data, 5, COUNT, NULL));
}

/* Geometry of an array is read in each of these calls. */
static int copy(void)
{
	static uint32_t texels[16 * 16];
	hipExtent extent;
	unsigned flags;
	hipError_t r = hipArrayGetInfo(NULL, &extent, &flags, array);

	return (!is_defined(r) || (!r && extent.width != 16)) +
	       !is_defined(hipMemcpy2DToArray(array, 0, 0, texels, 64, 64, 16, hipMemcpyHostToDevice));
}

static void create(void)
{
	CHECK_EQ(hipMalloc((void **)&data, 4 * COUNT), hipSuccess);
	CHECK_EQ(hipMallocArray(&array, &texel, 16, 16, 0), hipSuccess);
	CHECK_EQ(module_load(&module), hipSuccess);
	CHECK_EQ(hipModuleGetFunction(&function, module, "k_add"), hipSuccess);
}

static void finish(void)
{
	CHECK_EQ(hipDeviceSynchronize(), hipSuccess);
	(void)!hipModuleUnload(module);
	(void)!hipFreeArray(array);
	(void)!hipFree(data);
}

static void free_arrays(void)
{
	hipArray_t a;

	(void)!hipFreeArray(array);
	for (unsigned i = 0; i < MODULES; i++)
		if (!hipMallocArray(&a, &texel, 16, 16, 0))
			(void)!hipFreeArray(a);
}

static void unload(void)
{
	hipModule_t m;

	(void)!hipModuleUnload(module);
	for (unsigned i = 0; i < MODULES; i++)
		if (!module_load(&m))
			(void)!hipModuleUnload(m);
}

static void reset(void)
{
	for (unsigned i = 0; i < 3; i++)
		(void)!hipDeviceReset();
}

static const struct stopper_kind kinds[] = {
	{create, launch, unload, finish},
	{create, copy, free_arrays, finish},
	{create, launch, unload, finish},
	{create, fill, reset, finish},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF); /* launches are beside each other */
	stopper_init();
	if (!CHECK_EQ(vgpu_start("gfx908"), 0))
		return check_done("modules and arrays that go during a call");
	for (unsigned i = 0; i < ROUNDS; i++)
		stopper_round(&kinds[i % KINDS], 20 + i * 37 % 500);
	/* In some rounds the thread had no lock. */
	CHECK(stopper_rounds > 0);
	return check_done("modules and arrays that go during a call");
}
