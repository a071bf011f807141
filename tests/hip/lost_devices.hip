/* Streams of a GPU wait for work of another one, which is lost: calls of the other GPU fail, and this one
 * continues. */
#include "tests/clients/hip/hip.h"

#define LARGE_B (4u << 20) /* engines copy that */

__global__ void hang(const unsigned *never)
{
	while (!__hip_atomic_load(never, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(64);
}

__global__ void set(unsigned *at)
{
	*at = 1;
}

static void set_by_host(void *at)
{
	__atomic_store_n((unsigned *)at, 1, __ATOMIC_RELEASE);
}

static unsigned *words(size_t size_B)
{
	unsigned *at;

	HIP(hipHostMalloc((void **)&at, size_B, hipHostMallocPortable));
	memset(at, 0, size_B);
	return at;
}

enum what { NOTHING, KERNEL, FUNCTION, COPY, WHATS };

/* What the second GPU's stream does behind the first one's work. */
static void put(enum what what, hipStream_t stream, unsigned *done)
{
	switch (what) {
	case KERNEL:
		set<<<1, 1, 0, stream>>>(done);
		HIP_LAUNCHED();
		break;
	case FUNCTION:
		HIP(hipLaunchHostFunc(stream, set_by_host, done));
		break;
	case COPY: {
		unsigned *from;

		HIP(hipMalloc((void **)&from, LARGE_B));
		HIP(hipMemset(from, 1, LARGE_B));
		HIP(hipMemcpyAsync(done, from, LARGE_B, hipMemcpyDeviceToHost, stream));
		break;
	}
	default:
		*done = 1;
	}
}

/* told: the first GPU's loss is known before the second one's stream is waited for. */
static void behind(enum what what, bool told)
{
	unsigned *never = words(4), *done = words(LARGE_B);
	hipStream_t other, mine;
	hipEvent_t event;

	HIP(hipSetDevice(0));
	HIP(hipStreamCreate(&other));
	HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	HIP(hipSetDevice(1));
	HIP(hipStreamCreate(&mine));
	HIP(hipSetDevice(0));
	hang<<<1, 1, 0, other>>>(never);
	HIP_LAUNCHED();
	HIP(hipEventRecord(event, other));
	HIP(hipSetDevice(1));
	HIP(hipStreamWaitEvent(mine, event, 0));
	put(what, mine, done);
	if (told)
		CHECK_EQ(hipStreamSynchronize(other), hipErrorLaunchFailure);
	if (!CHECK_EQ(hipStreamSynchronize(mine), hipSuccess))
		printf("  behind it: %d, %d\n", what, told);
	CHECK(*done != 0);
	HIP(hipSetDevice(0));
	CHECK_EQ(hipStreamSynchronize(other), hipErrorLaunchFailure);
	HIP(hipSetDevice(1));
	HIP(hipDeviceReset());
	HIP(hipSetDevice(0));
	HIP(hipDeviceReset());
	(void)hipGetLastError();
}

int main()
{
	for (int what = 0; what < 2 * WHATS; what++)
		behind((enum what)(what / 2), what % 2);
	return check_done("streams behind another GPU's work that is lost");
}
