/* The LDS that is left for blocks of a kernel comes in the units that AMD's HIP 7 rounds to: 512 bytes on GFX9, 1024 from GFX10
 * on. Runs on a GPU of each kind. */
#include "tests/clients/hip/hip.h"

#define STATIC_B 100

__global__ void keeping(int *to)
{
	__shared__ char kept[STATIC_B];

	kept[threadIdx.x % STATIC_B] = (char)threadIdx.x;
	__syncthreads();
	*to = kept[0];
}

static void check_device(int device)
{
	hipDeviceProp_t properties;

	HIP(hipGetDeviceProperties(&properties, device));
	HIP(hipSetDevice(device));
	const bool gfx9 = !strncmp(properties.gcnArchName, "gfx9", 4);
	const size_t unit_B = gfx9 ? 512 : 1024;

	/* 65536 / 5 - 100 = 13007 bytes are 25 units of 512, and 12 of 1024. */
	for (int blocks : {1, 2, 3, 5, 7}) {
		size_t size_B = 0;

		HIP(hipOccupancyAvailableDynamicSMemPerBlock(&size_B, (const void *)keeping, blocks, 64));
		CHECK_EQ(size_B, (65536 / blocks - STATIC_B) / unit_B * unit_B);
		if (blocks == 5)
			CHECK_EQ(size_B, gfx9 ? 12800 : 12288);
	}
}

int main()
{
	int devices;

	HIP(hipGetDeviceCount(&devices));
	CHECK_EQ(devices, 2);
	for (int i = 0; i < devices; i++)
		check_device(i);
	return check_done("available LDS");
}
