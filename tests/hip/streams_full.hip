/* Streams that wait, with more work after the wait than a stream can hold: the submitting thread waits as well, and
 * holds the stream meanwhile. The awaited work still completes. And more streams behind one another than the stack
 * of a thread has room for. */
#include <hip/hip_cooperative_groups.h>
#include <pthread.h>
#include <stdlib.h>
#include <thread>
#include <vector>

#include "tests/clients/hip/hip.h"

#define MANY 1500u /* a stream keeps 1024 operations */

__global__ void hold(const unsigned *go)
{
	while (!__hip_atomic_load(go, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(64);
}

__global__ void add(unsigned *at)
{
	++*at;
}

__global__ void add_together(unsigned *at)
{
	cooperative_groups::this_grid().sync();
	++*at;
}

/* A stream with an event behind what it has to wait for, a counter, and how many kernels it was given. */
struct full {
	hipStream_t at;
	hipEvent_t event;
	gpu_array<unsigned> counter;
	unsigned given = 0;

	full() : counter(std::vector<unsigned>(1, 0))
	{
		HIP(hipStreamCreateWithFlags(&at, hipStreamNonBlocking));
		HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	}
	full(const full &) = delete;
	~full()
	{
		HIP(hipEventDestroy(event));
		HIP(hipStreamDestroy(at));
	}
	void fill_with_grids()
	{
		void *arguments[] = {&counter.at};

		for (unsigned i = 0; i < MANY; i++) {
			HIP(hipLaunchCooperativeKernel((const void *)add_together, dim3(1), dim3(1), arguments, 0,
						       at));
			__atomic_fetch_add(&given, 1, __ATOMIC_RELEASE);
		}
	}
	void fill()
	{
		for (unsigned i = 0; i < MANY; i++) {
			add<<<1, 1, 0, at>>>(counter.at);
			__atomic_fetch_add(&given, 1, __ATOMIC_RELEASE);
		}
		HIP_LAUNCHED();
	}
	/* The thread that fills it gets no further. */
	void wait_until_full(unsigned least = 900) const
	{
		unsigned before = 0, now;

		while ((now = __atomic_load_n(&given, __ATOMIC_ACQUIRE)) < least || now != before) {
			before = now;
			std::this_thread::sleep_for(std::chrono::milliseconds(20));
		}
	}
	void check() const
	{
		HIP(hipStreamSynchronize(at));
		CHECK_EQ(counter.read()[0], MANY);
	}
};

static void wait_for(void *flag)
{
	while (!__atomic_load_n((unsigned *)flag, __ATOMIC_ACQUIRE))
		std::this_thread::yield();
}

static void nothing(void *)
{
}

static unsigned *flag()
{
	unsigned *at;

	HIP(hipHostMalloc((void **)&at, sizeof(*at), 0));
	*at = 0;
	return at;
}

/* Functions of the host are called one after the other: one stream's ends while a thread has that stream, and
 * another stream's comes behind it, which the first waits for. */
static void behind_functions()
{
	unsigned *go = flag();
	full first, second;

	HIP(hipLaunchHostFunc(first.at, wait_for, go));
	HIP(hipLaunchHostFunc(second.at, nothing, nullptr));
	HIP(hipEventRecord(second.event, second.at));
	HIP(hipStreamWaitEvent(first.at, second.event, 0));
	std::thread filler(&full::fill, &first);
	first.wait_until_full();
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	filler.join();
	first.check();
	HIP(hipHostFree(go));
}

/* Two full streams, each behind what the other did before. */
static void behind_each_other()
{
	unsigned *go = flag();
	full first, second;

	for (full *s : {&first, &second}) {
		hold<<<1, 1, 0, s->at>>>(go);
		HIP(hipEventRecord(s->event, s->at));
		HIP(hipLaunchHostFunc(s->at, nothing, nullptr));
	}
	HIP(hipStreamWaitEvent(first.at, second.event, 0));
	HIP(hipStreamWaitEvent(second.at, first.event, 0));
	std::thread one(&full::fill, &first), other(&full::fill, &second);
	first.wait_until_full();
	second.wait_until_full();
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	one.join();
	other.join();
	first.check();
	second.check();
	HIP(hipHostFree(go));
}

/* Cooperative launches, which share a queue, fill that. Their stream waits for another one, and meanwhile that gets
 * a grid, and a third one is waited for. */
static void behind_grids()
{
	unsigned *go = flag();
	full first, second, third;

	HIP(hipLaunchHostFunc(second.at, wait_for, go));
	HIP(hipEventRecord(second.event, second.at));
	HIP(hipStreamWaitEvent(first.at, second.event, 0));
	std::thread filler(&full::fill_with_grids, &first);
	first.wait_until_full(MANY / 8);
	std::thread other([&] {
		void *arguments[] = {&second.counter.at};

		HIP(hipLaunchCooperativeKernel((const void *)add_together, dim3(1), dim3(1), arguments, 0,
					       second.at));
	});
	add<<<1, 1, 0, third.at>>>(third.counter.at);
	HIP(hipStreamSynchronize(third.at));
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	filler.join();
	other.join();
	first.check();
	HIP(hipStreamSynchronize(second.at));
	CHECK_EQ(second.counter.read()[0], 1);
	HIP(hipHostFree(go));
}

struct chain {
	std::vector<hipStream_t> streams;
	unsigned *go;
};

/* Makes each stream wait for the one before. The first waits for a value. */
static void *make_chain(void *arg)
{
	auto &c = *static_cast<chain *>(arg);
	hipEvent_t event;

	HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	HIP(hipStreamWaitValue32(c.streams[0], c.go, 1, hipStreamWaitValueEq, UINT32_MAX));
	for (size_t i = 1; i < c.streams.size(); i++) {
		HIP(hipEventRecord(event, c.streams[i - 1]));
		HIP(hipStreamWaitEvent(c.streams[i], event, 0));
	}
	HIP(hipEventDestroy(event));
	CHECK_EQ(hipStreamQuery(c.streams.back()), hipErrorNotReady);
	__atomic_store_n(c.go, 1, __ATOMIC_RELEASE);
	HIP(hipStreamSynchronize(c.streams.back()));
	return nullptr;
}

/* By a thread with a small stack. The virtual GPU polls each user queue by a thread of its own: there are too many of them. */
static void behind_many()
{
	chain c = {std::vector<hipStream_t>(700), flag()};
	pthread_attr_t small;
	pthread_t thread;

	for (hipStream_t &s : c.streams)
		HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 96 << 10);
	CHECK_EQ(pthread_create(&thread, &small, make_chain, &c), 0);
	pthread_join(thread, nullptr);
	pthread_attr_destroy(&small);
	for (hipStream_t s : c.streams)
		HIP(hipStreamDestroy(s));
	HIP(hipHostFree(c.go));
}

int main()
{
	if (!getenv("TUFF_USERQ"))
		behind_many();
	behind_functions();
	behind_each_other();
	behind_grids();
	return check_done("streams that are full");
}
