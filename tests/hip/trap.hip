/* A trap in a kernel: DRM installs no trap handler, so the wave goes on; but on gfx1100 to gfx1103 it halts, and the
 * error record of the hang says that this may be the cause. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

__global__ void write_or_trap(int *to, int trap)
{
	if (trap && threadIdx.x == 3)
		__builtin_trap();
	to[threadIdx.x] = 7;
}

static bool halts()
{
	hipDeviceProp_t properties;

	HIP(hipGetDeviceProperties(&properties, 0));
	return !strncmp(properties.gcnArchName, "gfx110", 6);
}

static bool log_mentions(const char *name, const char *what)
{
	char text[65536];
	FILE *log = fopen(name, "r");
	size_t size = log ? fread(text, 1, sizeof(text) - 1, log) : 0;

	text[size] = 0;
	if (log)
		fclose(log);
	return strstr(text, what);
}

int main()
{
	char name[] = "/tmp/tuff-trap-XXXXXX";
	int fd = mkstemp(name), got[32] = {0}, *to;

	CHECK(fd >= 0);
	setenv("TUFF_LOG", "error", 1);
	setenv("TUFF_LOG_FILE", name, 1);
	HIP(hipMalloc((void **)&to, sizeof(got)));
	write_or_trap<<<1, 32>>>(to, 0);
	HIP(hipDeviceSynchronize());
	write_or_trap<<<1, 32>>>(to, 1);
	CHECK_EQ(hipDeviceSynchronize(), halts() ? hipErrorLaunchFailure : hipSuccess);
	CHECK_EQ(log_mentions(name, "__builtin_trap()"), halts());
	if (!halts()) {
		HIP(hipMemcpy(got, to, sizeof(got), hipMemcpyDeviceToHost));
		CHECK_EQ(got[3], 7);
	}
	close(fd);
	unlink(name);
	return check_done("traps in kernels");
}
