/* Floating point that the GPU adds by itself, on memory of each grain. On gfx90a only L2 adds: past it the sum is lost,
 * and the old value is 0. */
#include <string.h>

#include "tests/clients/hip/hip.h"

struct numbers {
	float fast, safe;
	double fast_double, safe_double;
};

__global__ void add(numbers *to, numbers *old)
{
	old->fast = unsafeAtomicAdd(&to->fast, 0.25f);
	old->safe = safeAtomicAdd(&to->safe, 0.25f);
	old->fast_double = unsafeAtomicAdd(&to->fast_double, 0.5);
	old->safe_double = safeAtomicAdd(&to->safe_double, 0.5);
}

static bool past_l2_is_lost()
{
	hipDeviceProp_t properties;

	HIP(hipGetDeviceProperties(&properties, 0));
	return !strncmp(properties.gcnArchName, "gfx90a", 6);
}

static void check_add(numbers *to, bool is_fine)
{
	const numbers first = {1, 2, 3, 4};
	gpu_array<numbers> on_gpu(std::vector<numbers>(1, first));
	bool lost = is_fine && past_l2_is_lost();
	numbers got;

	HIP(hipMemcpy(to, &first, sizeof(first), hipMemcpyDefault));
	add<<<1, 1>>>(to, on_gpu.at);
	HIP_LAUNCHED();
	HIP(hipMemcpy(&got, to, sizeof(got), hipMemcpyDefault));
	CHECK(got.fast == (lost ? 1 : 1.25f) && got.fast_double == (lost ? 3 : 3.5));
	CHECK(got.safe == 2.25f && got.safe_double == 4.5);
	numbers old = on_gpu.read()[0];

	CHECK(old.fast == (lost ? 0 : 1) && old.fast_double == (lost ? 0 : 3));
	CHECK(old.safe == 2 && old.safe_double == 4);
}

static void of_the_host(unsigned flags, bool is_fine)
{
	numbers *at;

	HIP(hipHostMalloc(reinterpret_cast<void **>(&at), sizeof(*at), flags));
	check_add(at, is_fine);
	HIP(hipHostFree(at));
}

int main()
{
	numbers *at;

	HIP(hipMalloc(&at, sizeof(*at)));
	check_add(at, false);
	HIP(hipFree(at));
	of_the_host(hipHostMallocDefault, true);
	of_the_host(hipHostMallocCoherent, true);
	of_the_host(hipHostMallocNonCoherent, false);
	HIP(hipMallocManaged(reinterpret_cast<void **>(&at), sizeof(*at)));
	check_add(at, true);
	HIP(hipFree(at));
	return check_done("atomics on fine-grained memory");
}
