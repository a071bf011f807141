/* Common parts of tests of pools: streams, events and pools that end with their scope, and a gate that keeps a
 * stream busy. */
#ifndef TESTS_HIP_POOLS_H
#define TESTS_HIP_POOLS_H

#include "tests/clients/hip/hip.h"

#define KIB (1ull << 10)
#define MIB (1ull << 20)

/* A stream is busy until its gate is opened. */
struct gate {
	unsigned *word;
	gate()
	{
		HIP(hipHostMalloc((void **)&word, 4096, hipHostMallocDefault));
		*word = 0;
	}
	void open()
	{
		__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	}
	~gate()
	{
		open();
		HIP(hipDeviceSynchronize());
		HIP(hipHostFree(word));
	}
};

__global__ void wait_for(unsigned *word)
{
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		__builtin_amdgcn_s_sleep(8);
}

__global__ void touch(unsigned char *at, size_t size, unsigned char value)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
		at[i] = value;
}

struct stream {
	hipStream_t at;
	explicit stream(unsigned flags = hipStreamNonBlocking)
	{
		HIP(hipStreamCreateWithFlags(&at, flags));
	}
	~stream()
	{
		HIP(hipStreamDestroy(at));
	}
	operator hipStream_t() const
	{
		return at;
	}
};

struct event {
	hipEvent_t at;
	event()
	{
		HIP(hipEventCreateWithFlags(&at, hipEventDisableTiming));
	}
	~event()
	{
		HIP(hipEventDestroy(at));
	}
	operator hipEvent_t() const
	{
		return at;
	}
};

/* Of device 0. */
static inline hipMemPoolProps pool_props(size_t most_B = 0)
{
	hipMemPoolProps props = {};

	props.allocType = hipMemAllocationTypePinned;
	props.location.type = hipMemLocationTypeDevice;
	/* Where HIP 6.4 has the size, 5.7 has nothing; ours takes it there. */
	memcpy((char *)&props + 24, &most_B, sizeof(most_B));
	return props;
}

struct pool {
	hipMemPool_t at;
	explicit pool(bool policies = true, hipMemPoolProps props = pool_props())
	{
		HIP(hipMemPoolCreate(&at, &props));
		if (!policies)
			for (int a = hipMemPoolReuseFollowEventDependencies;
			     a <= hipMemPoolReuseAllowInternalDependencies; a++)
				set((hipMemPoolAttr)a, 0);
		keep(~0ull);
	}
	void set(hipMemPoolAttr attribute, int on)
	{
		HIP(hipMemPoolSetAttribute(at, attribute, &on));
	}
	void keep(uint64_t threshold)
	{
		HIP(hipMemPoolSetAttribute(at, hipMemPoolAttrReleaseThreshold, &threshold));
	}
	uint64_t get(hipMemPoolAttr attribute) const
	{
		uint64_t value = ~0ull;

		HIP(hipMemPoolGetAttribute(at, attribute, &value));
		return value;
	}
	uint64_t used() const
	{
		return get(hipMemPoolAttrUsedMemCurrent);
	}
	uint64_t reserved() const
	{
		return get(hipMemPoolAttrReservedMemCurrent);
	}
	void *take(size_t size, hipStream_t on) const
	{
		void *ptr = nullptr;

		HIP(hipMallocFromPoolAsync(&ptr, size, at, on));
		return ptr;
	}
	~pool()
	{
		HIP(hipMemPoolDestroy(at));
	}
};

static inline void give(void *ptr, hipStream_t on)
{
	HIP(hipFreeAsync(ptr, on));
}

#endif
