/* Eight threads of a program use the GPU at once: with streams of their own, and with the stream that all share. */
#include <thread>

#include "tests/clients/hip/hip.h"

#define THREADS 8u
#define COUNT   1024u
#define ROUNDS  25u

__global__ void affine(unsigned *data, unsigned factor, unsigned term)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	data[i] = data[i] * factor + term;
}

/* The number of values that are wrong; CHECK is for one thread. */
static unsigned work(unsigned me, bool own_stream)
{
	std::vector<unsigned> got(COUNT);
	unsigned want = me, wrong = 0, *data;
	hipStream_t stream = 0;

	wrong += hipMalloc((void **)&data, COUNT * 4) != hipSuccess;
	wrong += own_stream && hipStreamCreate(&stream) != hipSuccess;
	wrong += hipMemsetD32Async((hipDeviceptr_t)data, (int)me, COUNT, stream) != hipSuccess;
	for (unsigned round = 0; round < ROUNDS; round++) {
		affine<<<COUNT / 128, 128, 0, stream>>>(data, me + 2, round);
		want = want * (me + 2) + round;
		if (round % 8 == me % 8)
			wrong += hipStreamSynchronize(stream) != hipSuccess;
	}
	wrong += hipMemcpyAsync(got.data(), data, COUNT * 4, hipMemcpyDeviceToHost, stream) != hipSuccess;
	wrong += hipStreamSynchronize(stream) != hipSuccess;
	for (unsigned value : got)
		wrong += value != want;
	wrong += own_stream && hipStreamDestroy(stream) != hipSuccess;
	return wrong + (hipFree(data) != hipSuccess);
}

static void all(bool own_stream)
{
	std::vector<std::thread> threads;
	unsigned wrong[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		threads.emplace_back([&wrong, i, own_stream] { wrong[i] = work(i, own_stream); });
	for (std::thread &thread : threads)
		thread.join();
	for (unsigned n : wrong)
		CHECK_EQ(n, 0);
}

int main()
{
	all(true);
	all(false);
	HIP(hipDeviceSynchronize());
	return check_done("threads of HIP");
}
