/* Stream-ordered pools after a fault, after hipDeviceReset(), and in a child: statement S86 of docs/pools.md. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hip/pools.h"

static hipError_t heard(hipError_t error)
{
	(void)hipGetLastError();
	return error;
}

/* A fresh device: nothing is used, and memory can be had. */
static void works(hipMemPool_t first)
{
	unsigned char *at, byte = 0;
	uint64_t value = ~0ull;
	hipMemPool_t again;
	hipStream_t s;

	HIP(hipDeviceGetDefaultMemPool(&again, 0));
	CHECK_EQ((uintptr_t)again, (uintptr_t)first); /* S1: through a reset, too */
	HIP(hipDeviceGetMemPool(&again, 0));
	CHECK_EQ((uintptr_t)again, (uintptr_t)first);
	for (int a = hipMemPoolAttrReleaseThreshold; a <= hipMemPoolAttrUsedMemHigh; a++) {
		HIP(hipMemPoolGetAttribute(first, (hipMemPoolAttr)a, &value));
		CHECK_EQ(value, 0);
	}
	HIP(hipStreamCreate(&s));
	HIP(hipMallocAsync((void **)&at, MIB, s));
	touch<<<4, 256, 0, s>>>(at, MIB, 7);
	HIP_LAUNCHED();
	HIP(hipMemcpyAsync(&byte, at + MIB - 1, 1, hipMemcpyDeviceToHost, s));
	HIP(hipFreeAsync(at, s));
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(byte, 7);
	HIP(hipStreamDestroy(s));
	HIP(hipMemPoolTrimTo(first, 0));
	for (hipMemPoolAttr a : {hipMemPoolAttrUsedMemHigh, hipMemPoolAttrReservedMemHigh}) {
		value = 0;
		HIP(hipMemPoolSetAttribute(first, a, &value));
	}
}

int main()
{
	hipMemPoolProps props = pool_props();
	hipMemPool_t first, other;
	uint64_t keep = 123;
	void *ptr, *live;
	hipStream_t s;
	hipError_t error;
	int status, turn[2];
	char byte;
	pid_t child;

	HIP(hipDeviceGetDefaultMemPool(&first, 0));
	works(first);
	/* A child inherits no GPU, and no memory of one. */
	CHECK(!pipe(turn));
	HIP(hipMallocAsync(&live, MIB, 0));
	child = fork();
	if (!child) {
		bool fails = hipMallocAsync(&ptr, MIB, 0) != hipSuccess &&
			     hipMallocFromPoolAsync(&ptr, MIB, first, 0) != hipSuccess;

		_exit(write(turn[1], "", 1) == 1 && fails ? 0 : 1);
	}
	CHECK(read(turn[0], &byte, 1) == 1);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQ(status, 0);
	touch<<<4, 256>>>((unsigned char *)live, MIB, 7);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	/* A fault stays. */
	HIP(hipMemPoolCreate(&other, &props));
	HIP(hipDeviceSetMemPool(0, other));
	HIP(hipMemPoolSetAttribute(first, hipMemPoolAttrReleaseThreshold, &keep));
	HIP(hipStreamCreate(&s));
	HIP(hipMallocFromPoolAsync(&ptr, MIB, other, s));
	touch<<<1, 1, 0, s>>>((unsigned char *)0x10000, 1, 1);
	HIP_LAUNCHED();
	error = heard(hipStreamSynchronize(s));
	CHECK(error == hipErrorIllegalAddress || error == hipErrorLaunchFailure);
	CHECK_EQ(heard(hipMallocAsync(&ptr, MIB, s)), error);
	CHECK_EQ(heard(hipMallocFromPoolAsync(&ptr, MIB, other, s)), error);
	HIP(hipDeviceReset());
	CHECK_EQ(heard(hipMallocFromPoolAsync(&ptr, MIB, other, 0)), hipErrorInvalidValue); /* it is gone */
	CHECK_EQ(heard(hipFreeAsync(live, 0)), hipErrorInvalidValue);
	works(first);
	return check_done("pools behind a fault");
}
