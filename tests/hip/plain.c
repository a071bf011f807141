/* HIP from C: a host program without kernels, compiled by any compiler. */
#include <hip/hip_runtime.h>
#include <stdlib.h>

#include "tests/check.h"

#define COUNT 4096

/* The words of kernels are nothing here. */
static __noinline__ void fill_and_read_back(hipStream_t stream)
{
	hipEvent_t start, stop;
	int *on_gpu = NULL, *back = malloc(COUNT * sizeof(int)), wrong = 0;
	float ms = -1;

	CHECK_EQ(hipEventCreate(&start), hipSuccess);
	CHECK_EQ(hipEventCreate(&stop), hipSuccess);
	CHECK_EQ(hipMalloc((void **)&on_gpu, COUNT * sizeof(int)), hipSuccess);
	CHECK_EQ(hipEventRecord(start, stream), hipSuccess);
	CHECK_EQ(hipMemsetD32Async(on_gpu, 0x1234567, COUNT, stream), hipSuccess);
	CHECK_EQ(hipMemcpyAsync(back, on_gpu, COUNT * sizeof(int), hipMemcpyDeviceToHost, stream), hipSuccess);
	CHECK_EQ(hipEventRecord(stop, stream), hipSuccess);
	CHECK_EQ(hipEventSynchronize(stop), hipSuccess);
	CHECK_EQ(hipEventElapsedTime(&ms, start, stop), hipSuccess);
	CHECK(ms >= 0);
	for (int i = 0; i < COUNT; i++)
		wrong += back[i] != 0x1234567;
	CHECK_EQ(wrong, 0);
	CHECK_EQ(hipFree(on_gpu), hipSuccess);
	CHECK_EQ(hipEventDestroy(start), hipSuccess);
	CHECK_EQ(hipEventDestroy(stop), hipSuccess);
	free(back);
}

int main(void)
{
	hipDeviceProp_t properties;
	hipStream_t stream;
	int count = 0;
	float4 vector = make_float4(1, 2, 3, 4);
	dim3 block = {64, 1, 1};

	CHECK_EQ(hipGetDeviceCount(&count), hipSuccess);
	CHECK(count > 0);
	CHECK_EQ(hipGetDeviceProperties(&properties, 0), hipSuccess);
	CHECK(properties.warpSize == 64 && !strncmp(properties.gcnArchName, "gfx", 3));
	CHECK_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
	fill_and_read_back(stream);
	fill_and_read_back(NULL);
	CHECK_EQ(hipStreamDestroy(stream), hipSuccess);
	CHECK_EQ(hipMalloc(NULL, 16), hipErrorInvalidValue);
	CHECK_STR(hipGetErrorName(hipGetLastError()), "hipErrorInvalidValue");
	CHECK(vector.w == 4 && sizeof(vector) == 16 && block.x == 64);
	return check_done("HIP from C");
}
