/* A kernel that waits for another GPU's, while both GPUs list the same memory. Linux holds the other GPU's job back, so the
 * first one hangs, and the error record says why; jobs of user queues wait for no such memory, and both kernels end. */
#include <stdlib.h>

#include "tests/clients/hip/hip.h"
#include "tests/hip/error_log.h"

struct words {
	unsigned started, flag;
};

__global__ void wait_for_flag(words *at)
{
	__hip_atomic_store(&at->started, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
	while (!__hip_atomic_load(&at->flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(64);
}

__global__ void set_flag(words *at)
{
	__hip_atomic_store(&at->flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

int main()
{
	bool hangs = !getenv("TUFF_USERQ");
	int peers = 0;
	words *at;
	void *shared;

	error_log_begin();
	/* Host memory is a buffer of its own for each GPU: the wait is for what nobody touches. */
	HIP(hipHostMalloc((void **)&at, sizeof(*at), hipHostMallocPortable));
	memset(at, 0, sizeof(*at));
	HIP(hipMalloc(&shared, 4096));
	HIP(hipSetDevice(1));
	HIP(hipDeviceCanAccessPeer(&peers, 1, 0));
	CHECK_EQ(peers, 1);
	HIP(hipDeviceEnablePeerAccess(0, 0));
	HIP(hipSetDevice(0));
	wait_for_flag<<<1, 1>>>(at);
	HIP_LAUNCHED();
	while (!__atomic_load_n(&at->started, __ATOMIC_ACQUIRE))
		(void)hipStreamQuery(NULL);
	HIP(hipSetDevice(1));
	set_flag<<<1, 1>>>(at);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	CHECK_EQ(at->flag, 1u);
	HIP(hipSetDevice(0));
	CHECK_EQ(hipDeviceSynchronize(), hangs ? hipErrorLaunchFailure : hipSuccess);
	CHECK_EQ(error_log_mentions("kernels of two GPUs that wait for each other hang"), hangs);
	error_log_end();
	return check_done("a kernel that waits for another GPU's");
}
