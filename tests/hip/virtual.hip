/* Separate addresses and memory: reserved, created, mapped, with access set; one memory at two addresses, and a
 * range of two memories. */
#include "tests/clients/hip/hip.h"

__global__ void count_up(unsigned *to, size_t count, unsigned first)
{
	for (size_t i = threadIdx.x; i < count; i += blockDim.x)
		to[i] = first + i;
}

static hipMemAllocationProp on_device()
{
	hipMemAllocationProp p = {};

	p.type = hipMemAllocationTypePinned;
	p.location.type = hipMemLocationTypeDevice;
	return p;
}

int main()
{
	const hipMemAllocationProp p = on_device();
	const hipMemAccessDesc open = {p.location, hipMemAccessFlagsProtReadWrite};
	hipMemGenericAllocationHandle_t memory[2], again;
	unsigned long long access = 0;
	size_t granule = 0;
	char *at, *alias;

	HIP(hipMemGetAllocationGranularity(&granule, &p, hipMemAllocationGranularityRecommended));
	CHECK(granule >= 4096);
	HIP(hipMemAddressReserve((void **)&at, 2 * granule, 0, NULL, 0));
	HIP(hipMemAddressReserve((void **)&alias, granule, granule, NULL, 0));
	CHECK_EQ((uintptr_t)alias % granule, 0);
	for (unsigned i = 0; i < 2; i++) {
		HIP(hipMemCreate(&memory[i], granule, &p, 0));
		HIP(hipMemMap(at + i * granule, granule, 0, memory[i], 0));
	}
	HIP(hipMemMap(alias, granule, 0, memory[1], 0));
	HIP(hipMemSetAccess(at, 2 * granule, &open, 1));
	HIP(hipMemSetAccess(alias, granule, &open, 1));
	HIP(hipMemGetAccess(&access, &p.location, at));
	CHECK_EQ(access, hipMemAccessFlagsProtReadWrite);
	HIP(hipMemRetainAllocationHandle(&again, at));
	HIP(hipMemRelease(again));
	HIP(hipMemRetainAllocationHandle(&again, at + granule + 4096));
	HIP(hipMemRelease(again));
	CHECK_EQ(hipMemRetainAllocationHandle(&again, at + 2 * granule), hipErrorInvalidValue);
	size_t words = 2 * granule / 4;
	count_up<<<1, 256>>>((unsigned *)at, words, 7);
	HIP_LAUNCHED();
	std::vector<unsigned> got(words);
	HIP(hipMemcpy(got.data(), at, granule, hipMemcpyDeviceToHost));
	HIP(hipMemcpy(got.data() + words / 2, alias, granule, hipMemcpyDeviceToHost));
	unsigned wrong = 0;
	for (size_t i = 0; i < words; i++)
		wrong += got[i] != 7 + i;
	CHECK_EQ(wrong, 0);
	CHECK_EQ(hipFree(at), hipErrorInvalidValue);
	CHECK_EQ(hipMemAddressFree(at, 2 * granule), hipErrorInvalidValue); /* something is mapped there */
	CHECK_EQ(hipMemMap(at, granule, 4096, memory[0], 0), hipErrorInvalidValue);
	CHECK_EQ(hipMemCreate(&again, 1000, &p, 0), hipErrorInvalidValue);
	(void)hipGetLastError();
	for (unsigned i = 0; i < 2; i++) {
		HIP(hipMemUnmap(at + i * granule, granule));
		HIP(hipMemRelease(memory[i]));
	}
	HIP(hipMemUnmap(alias, granule));
	HIP(hipMemAddressFree(at, 2 * granule));
	HIP(hipMemAddressFree(alias, granule));
	return check_done("virtual memory");
}
