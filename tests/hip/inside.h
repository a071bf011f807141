/* Common parts of the programs that stop a thread inside a call of HIP. */
#ifndef TESTS_HIP_INSIDE_H
#define TESTS_HIP_INSIDE_H

#define HIP_DEPRECATED
#include <malloc.h>
#include <stdlib.h>

#include <hip/hip_runtime_api.h>

#include "tests/check.h"
#include "tests/step_rows.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

#define SIZE_B 65536u
#define OTHERS 6 /* objects that are made and destroyed beside the stopped call: they get the freed memory */

static hipStream_t stream;
static hipEvent_t event;
static hipGraph_t graph;
static hipGraphExec_t instance;
static void *memory, *host;

/* What functions return for objects that were destroyed before the call, or during it. */
static bool is_defined(hipError_t r)
{
	switch (r) {
	case hipSuccess:
	case hipErrorNotReady:
	case hipErrorInvalidValue:
	case hipErrorInvalidHandle:
	case hipErrorInvalidDevicePointer:
	case hipErrorInvalidDeviceFunction:
	case hipErrorContextIsDestroyed:
	case hipErrorNotFound:
	case hipErrorNotMapped:
	case hipErrorHostMemoryNotRegistered:
	case hipErrorUnknown: /* memory that went between the checks and the submission */
		return true;
	default:
		return false;
	}
}

static hipError_t result; /* of the last use */

static void use(hipError_t r)
{
	if (!is_defined(r))
		CHECK_EQ(r, hipSuccess);
	result = r;
}

static void stream_make(void)
{
	CHECK_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
}

static void stream_end(void)
{
	(void)!hipStreamDestroy(stream);
}

static void memory_make(void)
{
	stream_make();
	CHECK_EQ(hipMalloc(&memory, SIZE_B), hipSuccess);
}

static void memory_end(void)
{
	CHECK_EQ(hipStreamSynchronize(stream), hipSuccess);
	stream_end();
	CHECK_EQ(hipFree(memory), hipSuccess);
}

/* --- calls --- */

static void host_create(void)
{
	memory_make();
	host = aligned_alloc(4096, SIZE_B);
	CHECK_EQ(hipHostRegister(host, SIZE_B, 0), hipSuccess);
}

static void event_record(void)
{
	use(hipEventRecord(event, stream));
}

static void instance_launch(void)
{
	use(hipGraphLaunch(instance, stream));
}

/* --- calls of the other thread --- */

static void stream_destroy(void)
{
	hipStream_t s;

	(void)!hipStreamDestroy(stream);
	for (unsigned i = 0; i < OTHERS; i++)
		if (!hipStreamCreateWithFlags(&s, hipStreamNonBlocking))
			(void)!hipStreamDestroy(s);
}

static void event_destroy(void)
{
	hipEvent_t e;

	(void)!hipEventDestroy(event);
	for (unsigned i = 0; i < OTHERS; i++)
		if (!hipEventCreate(&e))
			(void)!hipEventDestroy(e);
}

static void instance_destroy(void)
{
	hipGraphExec_t e;

	(void)!hipGraphExecDestroy(instance);
	for (unsigned i = 0; i < OTHERS; i++)
		if (!hipGraphInstantiate(&e, graph, NULL, NULL, 0))
			(void)!hipGraphExecDestroy(e);
}

static void device_reset(void)
{
	(void)!hipDeviceReset();
}

/* --- the program --- */

/* False: the program ends with *status. */
static bool inside_start(int *status)
{
	vgpu_strict_set(VGPU_STRICT_OFF); /* launches are beside each other */
	mallopt(M_PERTURB, 0x5a);
	*status = 77;
	if (!step_works()) {
		printf("no breakpoints of perf_event, or ThreadSanitizer\n");
		return false;
	}
	*status = 1;
	return CHECK_EQ(vgpu_start("gfx908"), 0) && CHECK_EQ(hipSetDevice(0), hipSuccess);
}

/* The number of the row to run; the highest: all. */
static unsigned inside_row(int argc, char **argv)
{
	return argc > 1 ? (unsigned)atoi(argv[1]) : ~0u;
}

#endif
