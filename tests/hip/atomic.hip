/* Atomics of every type, operation and scope, in memory and in LDS. */
#include <type_traits>

#include "tests/clients/hip/hip.h"

#define BLOCKS  8u
#define THREADS 128u
#define ALL     (BLOCKS * THREADS)

template <typename T> struct totals {
	T add, sub, least, most, exchanged, swapped, system, block_sum;
};

template <typename T> __global__ void numbers(totals<T> *t)
{
	__shared__ T local;
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	T seen, want = 0;

	if (!threadIdx.x)
		local = 0;
	__syncthreads();
	atomicAdd(&t->add, static_cast<T>(i % 7));
	atomicSub(&t->sub, static_cast<T>(i % 5));
	atomicMin(&t->least, static_cast<T>(i + 3));
	atomicMax(&t->most, static_cast<T>(i));
	/* Not of long and long long, as in HIP. */
	if constexpr (std::is_same<T, long>::value || std::is_same<T, long long>::value)
		atomicExch(reinterpret_cast<unsigned long long *>(&t->exchanged), 9ull);
	else
		atomicExch(&t->exchanged, static_cast<T>(9));
	while ((seen = atomicCAS(&t->swapped, want, static_cast<T>(want + 2))) != want)
		want = seen;
	atomicAdd_system(&t->system, static_cast<T>(1));
	atomicAdd_block(&local, static_cast<T>(2));
	__syncthreads();
	if (!threadIdx.x)
		atomicAdd(&t->block_sum, local);
}

template <typename T> static void of_a_type()
{
	totals<T> start = {0, 100, 1000, 0, 0, 0, 0, 0}, *shared;
	unsigned sevens = 0, fives = 0;

	for (unsigned i = 0; i < ALL; i++) {
		sevens += i % 7;
		fives += i % 5;
	}
	start.sub = static_cast<T>(fives + 100);
	HIP(hipHostMalloc(&shared, sizeof(*shared)));
	*shared = start;
	numbers<<<BLOCKS, THREADS>>>(shared);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	CHECK(shared->add == static_cast<T>(sevens));
	CHECK(shared->sub == 100);
	CHECK(shared->least == 3 && shared->most == ALL - 1);
	CHECK(shared->exchanged == 9);
	CHECK(shared->swapped == 2 * ALL);
	CHECK(shared->system == ALL);
	CHECK(shared->block_sum == 2 * ALL);
	HIP(hipHostFree(shared));
}

template <typename T> struct masks {
	T all_and, all_or, all_xor;
};

template <typename T> __global__ void bits(masks<T> *m)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAnd(&m->all_and, ~(static_cast<T>(1) << i % 9));
	atomicOr_system(&m->all_or, static_cast<T>(1) << i % 30);
	atomicXor(&m->all_xor, static_cast<T>(i));
}

template <typename T> static void of_bits()
{
	masks<T> start = {0x7fff, 0, 0}, got;
	gpu_array<masks<T>> on_gpu(std::vector<masks<T>>(1, start));
	T all_xor = 0;

	for (unsigned i = 0; i < ALL; i++)
		all_xor ^= static_cast<T>(i);
	bits<<<BLOCKS, THREADS>>>(on_gpu.at);
	HIP_LAUNCHED();
	got = on_gpu.read()[0];
	CHECK(got.all_and == 0x7e00 && got.all_or == 0x3fffffff && got.all_xor == all_xor);
}

struct extra {
	unsigned up, down;
	float fast;
	double fast_double;
};

__global__ void extras(extra *e)
{
	atomicInc(&e->up, 99u);
	atomicDec(&e->down, 1000u);
	unsafeAtomicAdd(&e->fast, 0.25f);
	unsafeAtomicAdd(&e->fast_double, 0.5);
	atomicAddNoRet(&e->fast, 0.5f);
}

int main()
{
	gpu_array<extra> on_gpu(std::vector<extra>(1, extra{0, 1000, 0, 0}));

	of_a_type<int>();
	of_a_type<unsigned>();
	of_a_type<long long>();
	of_a_type<unsigned long long>();
	of_a_type<unsigned long>();
	of_a_type<float>();
	of_a_type<double>();
	of_bits<int>();
	of_bits<unsigned>();
	of_bits<unsigned long long>();
	extras<<<BLOCKS, THREADS>>>(on_gpu.at);
	HIP_LAUNCHED();
	extra got = on_gpu.read()[0];

	CHECK_EQ(got.up, ALL % 100);
	CHECK_EQ(got.down, 1000 - (ALL - 1001));
	CHECK(got.fast == ALL * 0.75f && got.fast_double == ALL * 0.5);
	return check_done("atomics");
}
