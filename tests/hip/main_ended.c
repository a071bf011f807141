/* The main thread has ended before another one uses HIP. /proc/self names the main thread, and has no files any more. */
#define _GNU_SOURCE
#include <hip/hip_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"

#define COUNT 4096

static void main_await(void)
{
	char path[64];

	while (readlink("/proc/self/exe", path, sizeof(path)) > 0)
		usleep(1000);
}

static void fill_and_read_back(void)
{
	static int back[COUNT];
	int *on_gpu = NULL, wrong = 0;

	CHECK_EQ(hipMalloc((void **)&on_gpu, sizeof(back)), hipSuccess);
	CHECK_EQ(hipMemsetD32Async(on_gpu, 0x1234567, COUNT, NULL), hipSuccess);
	CHECK_EQ(hipMemcpy(back, on_gpu, sizeof(back), hipMemcpyDeviceToHost), hipSuccess);
	for (int i = 0; i < COUNT; i++)
		wrong += back[i] != 0x1234567;
	CHECK_EQ(wrong, 0);
	CHECK_EQ(hipFree(on_gpu), hipSuccess);
}

static void *other_run(void *unused)
{
	int count = 0;

	(void)unused;
	main_await();
	CHECK_EQ(hipGetDeviceCount(&count), hipSuccess);
	CHECK_EQ(count, 1);
	fill_and_read_back();
	exit(check_done("HIP without a main thread"));
}

int main(void)
{
	pthread_t thread;

	if (!CHECK_EQ(pthread_create(&thread, NULL, other_run, NULL), 0))
		return check_done("HIP without a main thread");
	pthread_exit(NULL);
}
