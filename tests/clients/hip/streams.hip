/* Streams and events: order within a stream, waits between streams, times, callbacks, more streams than rings. */
#include <atomic>

#include "tests/clients/hip/hip.h"

#define COUNT   4096u
#define STREAMS 24u

__global__ void affine(unsigned *data, unsigned factor, unsigned term)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	data[i] = data[i] * factor + term;
}

__global__ void spin(unsigned *data, unsigned rounds)
{
	unsigned value = data[threadIdx.x];

	for (unsigned i = 0; i < rounds; i++)
		value = value * 1664525u + 1013904223u;
	data[threadIdx.x] = value;
}

static unsigned differing(const gpu_array<unsigned> &array, unsigned want)
{
	unsigned wrong = 0;

	for (unsigned value : array.read())
		wrong += value != want;
	return wrong;
}

/* Two streams take turns; each waits for the other's event. */
static void ping_pong()
{
	gpu_array<unsigned> data(COUNT);
	hipStream_t stream[2];
	hipEvent_t turn[2];
	unsigned want = 1;

	for (unsigned i = 0; i < 2; i++) {
		HIP(hipStreamCreateWithFlags(&stream[i], hipStreamNonBlocking));
		HIP(hipEventCreateWithFlags(&turn[i], hipEventDisableTiming));
	}
	HIP(hipMemsetD32Async((hipDeviceptr_t)data.at, 1, COUNT, stream[0]));
	HIP(hipEventRecord(turn[0], stream[0]));
	for (unsigned n = 0; n < 20; n++) {
		unsigned me = (n + 1) % 2;

		HIP(hipStreamWaitEvent(stream[me], turn[!me], 0));
		affine<<<COUNT / 256, 256, 0, stream[me]>>>(data.at, 3, n);
		HIP_LAUNCHED();
		HIP(hipEventRecord(turn[me], stream[me]));
		want = want * 3 + n;
	}
	HIP(hipEventSynchronize(turn[0]));
	HIP(hipStreamSynchronize(stream[0]));
	CHECK_EQ(differing(data, want), 0);
	for (unsigned i = 0; i < 2; i++) {
		HIP(hipEventDestroy(turn[i]));
		HIP(hipStreamDestroy(stream[i]));
	}
}

/* Times are not negative, and a later event is not earlier. */
static void times()
{
	gpu_array<unsigned> data(COUNT);
	hipEvent_t event[3];
	hipStream_t stream;
	float ms[3];

	HIP(hipMemset(data.at, 0, COUNT * 4));
	HIP(hipStreamCreate(&stream));
	for (hipEvent_t &e : event)
		HIP(hipEventCreate(&e));
	HIP(hipEventRecord(event[0], stream));
	spin<<<1, 64, 0, stream>>>(data.at, 1000);
	HIP(hipEventRecord(event[1], stream));
	spin<<<1, 64, 0, stream>>>(data.at, 100000);
	HIP(hipEventRecord(event[2], stream));
	HIP_LAUNCHED();
	CHECK_EQ(hipEventQuery(event[2]) == hipErrorNotReady || hipEventQuery(event[2]) == hipSuccess, 1);
	HIP(hipEventSynchronize(event[2]));
	HIP(hipEventQuery(event[1]));
	for (unsigned i = 0; i < 3; i++)
		HIP(hipEventElapsedTime(&ms[i], event[i == 2], event[i ? 2 : 1]));
	/* 0 to 1, 0 to 2, 1 to 2 */
	CHECK(ms[0] >= 0 && ms[2] > 0 && ms[1] >= ms[0] && ms[1] >= ms[2]);
	printf("  %.3f + %.3f ms of %.3f\n", ms[0], ms[2], ms[1]);
	for (hipEvent_t e : event)
		HIP(hipEventDestroy(e));
	HIP(hipStreamDestroy(stream));
}

/* Events that are recorded anew, on either of two streams, or destroyed while the GPU has not come by. */
static void anew()
{
	gpu_array<unsigned> data(COUNT);
	hipStream_t stream[2];
	hipEvent_t event, first;
	float ms = -1;

	HIP(hipMemset(data.at, 0, COUNT * 4));
	HIP(hipDeviceSynchronize());
	for (hipStream_t &s : stream)
		HIP(hipStreamCreate(&s));
	HIP(hipEventCreate(&event));
	HIP(hipEventCreate(&first));
	HIP(hipEventRecord(first, stream[0]));
	for (unsigned n = 0; n < 200; n++) {
		hipStream_t s = stream[n / 10 % 2];
		hipEvent_t other;

		spin<<<1, 64, 0, s>>>(data.at + n / 10 % 2 * 64, 500);
		HIP_LAUNCHED();
		HIP(hipEventRecord(event, s));
		HIP(hipEventCreate(&other));
		HIP(hipEventRecord(other, s));
		HIP(hipEventDestroy(other));
	}
	HIP(hipEventSynchronize(event));
	HIP(hipEventElapsedTime(&ms, first, event));
	CHECK(ms > 0);
	HIP(hipDeviceSynchronize());
	HIP(hipEventDestroy(event));
	HIP(hipEventDestroy(first));
	for (hipStream_t s : stream)
		HIP(hipStreamDestroy(s));
}

static void count_call(hipStream_t, hipError_t status, void *user)
{
	CHECK_EQ(status, hipSuccess);
	((std::atomic<unsigned> *)user)->fetch_add(1);
}

static void see_copy(hipStream_t, hipError_t, void *user)
{
	const unsigned *pair = (const unsigned *)user; /* what the copy brought, and what it should be */

	CHECK_EQ(pair[0], pair[1]);
}

/* A callback runs when what was before it in the stream is done. */
static void callbacks()
{
	gpu_array<unsigned> data(COUNT);
	std::atomic<unsigned> calls{0};
	hipStream_t stream;
	unsigned *pair;

	HIP(hipHostMalloc((void **)&pair, 8, 0));
	pair[1] = 7 * 5 + 2;
	HIP(hipStreamCreate(&stream));
	HIP(hipMemsetD32Async((hipDeviceptr_t)data.at, 7, COUNT, stream));
	affine<<<COUNT / 256, 256, 0, stream>>>(data.at, 5, 2);
	HIP_LAUNCHED();
	HIP(hipMemcpyAsync(pair, data.at + COUNT - 1, 4, hipMemcpyDeviceToHost, stream));
	HIP(hipStreamAddCallback(stream, see_copy, pair, 0));
	for (unsigned i = 0; i < 10; i++)
		HIP(hipStreamAddCallback(stream, count_call, &calls, 0));
	HIP(hipStreamSynchronize(stream));
	CHECK_EQ(calls.load(), 10);
	HIP(hipStreamDestroy(stream));
	HIP(hipHostFree(pair));
}

static void many_streams()
{
	std::vector<hipStream_t> stream(STREAMS);
	gpu_array<unsigned> data(STREAMS * COUNT);
	unsigned wrong = 0;

	HIP(hipMemset(data.at, 0, STREAMS * COUNT * 4));
	HIP(hipDeviceSynchronize());
	for (hipStream_t &s : stream)
		HIP(hipStreamCreate(&s));
	for (unsigned round = 0; round < 8; round++)
		for (unsigned i = 0; i < STREAMS; i++) {
			affine<<<COUNT / 256, 256, 0, stream[i]>>>(data.at + i * COUNT, i + 1, round);
			HIP_LAUNCHED();
		}
	HIP(hipDeviceSynchronize());
	std::vector<unsigned> got = data.read();
	for (unsigned i = 0; i < STREAMS; i++) {
		unsigned want = 0;

		for (unsigned round = 0; round < 8; round++)
			want = want * (i + 1) + round;
		for (unsigned k = 0; k < COUNT; k++)
			wrong += got[i * COUNT + k] != want;
	}
	CHECK_EQ(wrong, 0);
	for (hipStream_t s : stream)
		HIP(hipStreamDestroy(s));
}

static void priorities()
{
	gpu_array<unsigned> data(COUNT);
	int least, greatest;

	HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
	CHECK(greatest < least);
	HIP(hipMemset(data.at, 0, COUNT * 4));
	HIP(hipDeviceSynchronize());
	for (int priority = greatest; priority <= least; priority++) {
		hipStream_t stream;

		HIP(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, priority));
		affine<<<COUNT / 256, 256, 0, stream>>>(data.at, 1, 1);
		HIP_LAUNCHED();
		HIP(hipStreamSynchronize(stream));
		HIP(hipStreamDestroy(stream));
	}
	CHECK_EQ(differing(data, (unsigned)(least - greatest + 1)), 0);
}

int main()
{
	ping_pong();
	times();
	anew();
	callbacks();
	many_streams();
	priorities();
	return check_done("streams and events of HIP");
}
