/* HIP's errors for invalid calls; the device must work afterwards. */
#include "tests/clients/hip/hip.h"

__global__ void count_up(unsigned *to)
{
	atomicAdd(to, 1u);
}

__global__ void much_lds(unsigned *to)
{
	extern __shared__ unsigned block[];

	block[threadIdx.x] = threadIdx.x;
	__syncthreads();
	if (!threadIdx.x)
		atomicAdd(to, block[blockDim.x - 1]);
}

static void still_works(unsigned *count)
{
	static unsigned calls;
	unsigned got = 0;

	count_up<<<1, 1>>>(count);
	HIP_LAUNCHED();
	HIP(hipMemcpy(&got, count, 4, hipMemcpyDeviceToHost));
	CHECK_EQ(got, ++calls);
}

static void memory(unsigned *count)
{
	size_t free_B, total_B, after_B;
	std::vector<void *> all;
	unsigned here = 5;
	void *at = NULL;

	HIP(hipMemGetInfo(&free_B, &total_B));
	CHECK_EQ(hipMalloc(&at, total_B * 2), hipErrorOutOfMemory);
	CHECK_EQ(hipGetLastError(), hipErrorOutOfMemory);
	CHECK_EQ(hipGetLastError(), hipSuccess);
	/* All of it, in pieces; then none; then all again. */
	while (all.size() < 100 && !hipMalloc(&at, total_B / 8))
		all.push_back(at);
	CHECK(all.size() >= 6 && all.size() <= 8);
	(void)hipGetLastError();
	for (void *piece : all)
		HIP(hipFree(piece));
	HIP(hipMemGetInfo(&after_B, &total_B));
	CHECK_EQ(after_B, free_B);
	still_works(count);
	CHECK(hipFree(&here) != hipSuccess);
	HIP(hipFree(NULL));
	HIP(hipMalloc(&at, 100));
	HIP(hipFree(at));
	CHECK(hipFree(at) != hipSuccess);
	CHECK_EQ(hipMemcpy(NULL, &here, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
	(void)hipGetLastError();
	still_works(count);
}

static void launches(unsigned *count)
{
	count_up<<<1, 2048>>>(count); /* more lanes than a block has */
	CHECK(hipGetLastError() != hipSuccess);
	count_up<<<0, 1>>>(count);
	CHECK(hipGetLastError() != hipSuccess);
	much_lds<<<1, 64, 65536 + 1024>>>(count);
	CHECK(hipGetLastError() != hipSuccess);
	still_works(count);
	HIP(hipDeviceSynchronize());
}

static void objects(unsigned *count)
{
	hipEvent_t event;
	float ms;

	HIP(hipEventCreate(&event));
	CHECK(hipEventElapsedTime(&ms, event, event) != hipSuccess); /* never recorded */
	HIP(hipEventDestroy(event));
	CHECK_EQ(hipEventRecord(NULL, 0), hipErrorInvalidHandle);
	CHECK_EQ(hipSetDevice(99), hipErrorInvalidDevice);
	CHECK_EQ(hipStreamCreate(NULL), hipErrorInvalidValue);
	(void)hipGetLastError();
	still_works(count);
}

int main()
{
	unsigned *count;

	HIP(hipMalloc((void **)&count, 4));
	HIP(hipMemset(count, 0, 4));
	still_works(count);
	memory(count);
	launches(count);
	objects(count);
	HIP(hipFree(count));
	return check_done("errors of HIP");
}
