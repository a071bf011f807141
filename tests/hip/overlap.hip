// Streams that nothing orders do not wait for each other: while kernels hold some, with copies behind them, others copy, fill and
// compute. Each wait here would last for ever, until the watchdog ends the kernels, if a queue of the library were shared.
#include <vector>

#include "tests/clients/hip/hip.h"

#ifndef HELD
#define HELD  5
#endif
#define LARGE (1u << 20) // bytes: more than kernels of the stream copy
#define WORDS (LARGE / 4)

__global__ void hold(const int *go)
{
	while (!__hip_atomic_load(go, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(64);
}

__global__ void add(unsigned *at)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

struct lane {
	hipStream_t stream;
	unsigned *gpu, *host;

	lane()
	{
		HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
		HIP(hipMalloc((void **)&gpu, LARGE));
		HIP(hipHostMalloc((void **)&host, LARGE, hipHostMallocDefault));
	}
	~lane()
	{
		HIP(hipHostFree(host));
		HIP(hipFree(gpu));
		HIP(hipStreamDestroy(stream));
	}
	void fill(unsigned value) const
	{
		for (unsigned i = 0; i < WORDS; i++)
			host[i] = value;
	}
};

static int *go;

static void in_and_out(const lane &l, unsigned value)
{
	l.fill(value);
	HIP(hipMemcpyAsync(l.gpu, l.host, LARGE, hipMemcpyHostToDevice, l.stream));
	add<<<WORDS / 256, 256, 0, l.stream>>>(l.gpu);
	HIP_LAUNCHED();
	HIP(hipMemcpyAsync(l.host, l.gpu, LARGE, hipMemcpyDeviceToHost, l.stream));
}

static void check(const lane &l, unsigned value)
{
	HIP(hipStreamSynchronize(l.stream));
	CHECK_EQ(l.host[0], value + 1);
	CHECK_EQ(l.host[WORDS - 1], value + 1);
}

// Large copies in both directions wait for kernels; other streams' go by.
static void copies_go_by()
{
	std::vector<lane> held(HELD);
	lane free;

	*go = 0;
	for (unsigned i = 0; i < HELD; i++) {
		hold<<<1, 1, 0, held[i].stream>>>(go);
		HIP_LAUNCHED();
		in_and_out(held[i], 10 * i);
	}
	for (unsigned round = 0; round < 4; round++) {
		in_and_out(free, round);
		check(free, round);
	}
	for (const lane &l : held)
		CHECK_EQ(hipStreamQuery(l.stream), hipErrorNotReady);
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < HELD; i++)
		check(held[i], 10 * i);
}

// Of two streams that wait for a third one's event, neither keeps a fourth one waiting.
static void waits_go_by()
{
	lane first, second, third, free;
	hipEvent_t event;

	HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	*go = 0;
	hold<<<1, 1, 0, first.stream>>>(go);
	HIP_LAUNCHED();
	HIP(hipEventRecord(event, first.stream));
	HIP(hipStreamWaitEvent(second.stream, event, 0));
	HIP(hipStreamWaitEvent(third.stream, event, 0));
	in_and_out(second, 1);
	in_and_out(third, 2);
	in_and_out(free, 3);
	check(free, 3);
	CHECK_EQ(hipStreamQuery(second.stream), hipErrorNotReady);
	CHECK_EQ(hipStreamQuery(third.stream), hipErrorNotReady);
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	check(second, 1);
	check(third, 2);
	HIP(hipEventDestroy(event));
}

int main()
{
	HIP(hipHostMalloc((void **)&go, sizeof(*go), hipHostMallocCoherent));
	copies_go_by();
	waits_go_by();
	HIP(hipHostFree(go));
	return check_done("overlap");
}
