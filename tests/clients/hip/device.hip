/* HIP's properties of a device must match the chip. */
#include "tests/clients/hip/hip.h"

/* MI60 without ECC, MI100, MI210: what vgpu/chip_gfx9.c has from AMD's tables. */
static const struct board {
	const char *name, *arch;
	int cus, wave, memory_bits;
} boards[] = {
	{"gfx906", "gfx906:sramecc-:xnack-", 60, 64, 4096},
	{"gfx908", "gfx908:sramecc+:xnack-", 120, 64, 4096},
	{"gfx90a", "gfx90a:sramecc+:xnack-", 104, 64, 4096},
};

static void is_the_board(const hipDeviceProp_t &p)
{
	const char *spec = getenv("TUFF_VGPU"); /* `tuff run` leaves it; on a real card there is none */

	for (const board &b : boards) {
		if (strncmp(p.gcnArchName, b.name, 6))
			continue;
		CHECK_STR(p.gcnArchName, b.arch);
		CHECK(!spec || !strncmp(spec, b.name, 6));
		CHECK_EQ(p.multiProcessorCount, b.cus);
		CHECK_EQ(p.warpSize, b.wave);
		CHECK_EQ(p.memoryBusWidth, b.memory_bits);
		return;
	}
	CHECK(!"a board of the table");
}

static void limits(const hipDeviceProp_t &p)
{
	CHECK_EQ(p.maxThreadsPerBlock, 1024);
	CHECK_EQ(p.maxThreadsDim[0], 1024);
	CHECK_EQ(p.maxThreadsDim[1], 1024);
	CHECK_EQ(p.maxThreadsDim[2], 1024);
	CHECK_EQ(p.sharedMemPerBlock, 65536);
	CHECK(p.maxGridSize[0] > 65536);
	CHECK(p.regsPerBlock >= 65536);
	CHECK(p.clockRate > 1000 * 1000 && p.clockRate < 3000 * 1000); /* kHz */
	CHECK(p.memoryClockRate > 500 * 1000);
	CHECK(p.l2CacheSize >= 4 << 20);
	CHECK_EQ(p.canMapHostMemory, 1);
	CHECK_EQ(p.concurrentKernels, 1);
	CHECK_EQ(p.integrated, 0);
	CHECK(p.pciBusID > 0);
}

static void memory(const hipDeviceProp_t &p)
{
	size_t free_B, total_B, left_B;
	void *some;

	HIP(hipMemGetInfo(&free_B, &total_B));
	CHECK_EQ(total_B, p.totalGlobalMem);
	CHECK(free_B <= total_B && free_B > total_B / 2);
	HIP(hipMalloc(&some, 64 << 20));
	HIP(hipMemGetInfo(&left_B, &total_B));
	CHECK(free_B - left_B >= 64 << 20);
	HIP(hipFree(some));
}

static void by_bus_id(const hipDeviceProp_t &p)
{
	char text[32], want[32];
	int device = -1;

	HIP(hipDeviceGetPCIBusId(text, sizeof(text), 0));
	snprintf(want, sizeof(want), "%04x:%02x:%02x.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
	CHECK_STR(text, want);
	HIP(hipDeviceGetByPCIBusId(&device, text));
	CHECK_EQ(device, 0);
}

int main()
{
	hipDeviceProp_t p;
	int count = 0, value;

	HIP(hipGetDeviceCount(&count));
	CHECK_EQ(count, 1);
	HIP(hipGetDeviceProperties(&p, 0));
	printf("  %s, %s, %zu MiB, %d CUs at %d MHz\n", p.name, p.gcnArchName, p.totalGlobalMem >> 20,
	       p.multiProcessorCount, p.clockRate / 1000);
	is_the_board(p);
	limits(p);
	memory(p);
	by_bus_id(p);
	HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
	CHECK_EQ(value, p.multiProcessorCount);
	CHECK_EQ(hipGetDeviceProperties(&p, 1), hipErrorInvalidDevice);
	CHECK_EQ(hipSetDevice(1), hipErrorInvalidDevice);
	return check_done("a device as HIP tells of it");
}
