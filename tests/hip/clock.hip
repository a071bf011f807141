/* Clocks of a kernel advance, at the rates that the device reports. */
#include "tests/clients/hip/hip.h"

__global__ void spin(long long *out, long long ticks)
{
	long long cycles = clock64(), wall = wall_clock64();

	while (wall_clock64() - wall < ticks)
		;
	out[0] = clock64() - cycles;
	out[1] = wall_clock64() - wall;
}

int main()
{
	gpu_array<long long> out(2);
	int cycles_khz = 0;

	HIP(hipDeviceGetAttribute(&cycles_khz, hipDeviceAttributeClockRate, 0));
	CHECK(cycles_khz > 0);
	spin<<<1, 1>>>(out.at, 1000);
	HIP_LAUNCHED();
	std::vector<long long> got = out.read();
	CHECK(got[0] > 0);
	CHECK(got[1] >= 1000);
	return check_done("clocks in kernels");
}
