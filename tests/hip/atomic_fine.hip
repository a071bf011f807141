/* Floating point that the GPU adds by itself, on memory of each grain. On gfx90a only L2 does: past it the result is lost,
 * and the old value is 0. What is called safe is right everywhere, though this is compiled with -munsafe-fp-atomics. */
#include <string.h>

#include "tests/clients/hip/hip.h"

struct numbers {
	float add;
	double add_double, least, most;
};

/* What is there first; then, where nothing is lost. */
static const numbers first = {1, 3, 7, 7}, last = {1.25f, 3.5, 5, 9};

__global__ void change(numbers *to, numbers *old)
{
	old->add = unsafeAtomicAdd(&to->add, 0.25f);
	old->add_double = unsafeAtomicAdd(&to->add_double, 0.5);
	old->least = unsafeAtomicMin(&to->least, 5.0);
	old->most = unsafeAtomicMax(&to->most, 9.0);
}

__global__ void change_safely(numbers *to, numbers *old)
{
	old->add = safeAtomicAdd(&to->add, 0.25f);
	old->add_double = safeAtomicAdd(&to->add_double, 0.5);
	old->least = safeAtomicMin(&to->least, 5.0);
	old->most = safeAtomicMax(&to->most, 9.0);
}

struct bounds {
	float least, most;
};

__global__ void change_floats(bounds *b)
{
	safeAtomicMin(&b->least, static_cast<float>(threadIdx.x));
	safeAtomicMax(&b->most, static_cast<float>(threadIdx.x));
	unsafeAtomicMin(&b->least, -1.0f - static_cast<float>(threadIdx.x));
	unsafeAtomicMax(&b->most, 100.0f + static_cast<float>(threadIdx.x));
}

static bool past_l2_is_lost()
{
	hipDeviceProp_t properties;

	HIP(hipGetDeviceProperties(&properties, 0));
	return !strncmp(properties.gcnArchName, "gfx90a", 6);
}

static bool same(const numbers &a, const numbers &b)
{
	return a.add == b.add && a.add_double == b.add_double && a.least == b.least && a.most == b.most;
}

static void check_change(void (*kernel)(numbers *, numbers *), numbers *to, bool lost)
{
	gpu_array<numbers> on_gpu(std::vector<numbers>(1, last));
	numbers got;

	HIP(hipMemcpy(to, &first, sizeof(first), hipMemcpyDefault));
	kernel<<<1, 1>>>(to, on_gpu.at);
	HIP_LAUNCHED();
	HIP(hipMemcpy(&got, to, sizeof(got), hipMemcpyDefault));
	CHECK(same(got, lost ? first : last));
	CHECK(same(on_gpu.read()[0], lost ? numbers{} : first));
}

static void check_changes(numbers *to, bool is_fine)
{
	check_change(change, to, is_fine && past_l2_is_lost());
	check_change(change_safely, to, false);
}

static void of_the_host(unsigned flags, bool is_fine)
{
	numbers *at;

	HIP(hipHostMalloc(reinterpret_cast<void **>(&at), sizeof(*at), flags));
	check_changes(at, is_fine);
	HIP(hipHostFree(at));
}

int main()
{
	gpu_array<bounds> floats(std::vector<bounds>(1, bounds{50, 50}));
	numbers *at;

	HIP(hipMalloc(&at, sizeof(*at)));
	check_changes(at, false);
	HIP(hipFree(at));
	of_the_host(hipHostMallocDefault, true);
	of_the_host(hipHostMallocCoherent, true);
	of_the_host(hipHostMallocNonCoherent, false);
	HIP(hipMallocManaged(reinterpret_cast<void **>(&at), sizeof(*at)));
	check_changes(at, true);
	HIP(hipFree(at));
	change_floats<<<1, 64>>>(floats.at);
	HIP_LAUNCHED();
	CHECK(floats.read()[0].least == -64 && floats.read()[0].most == 163);
	return check_done("atomics on fine-grained memory");
}
