/* Functions for tools and compilers, and a launch on several devices at once without a common barrier. */
#include <hip/api/profile.h>
#include <hip/api/registration.h>
#include <string.h>
#include <string>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

__global__ void fill(unsigned *at, unsigned value)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static void names()
{
	hipFunction_t function;
	const char *by_handle, *by_pointer = hipKernelNameRefByPtr((const void *)fill, nullptr);

	HIP(hipGetFuncBySymbol(&function, (const void *)fill));
	by_handle = hipKernelNameRef(function);
	CHECK(by_pointer && by_handle && !strcmp(by_pointer, by_handle) && !strcmp(by_handle, "_Z4fillPjj"));
	CHECK(!hipKernelNameRef(nullptr) && !hipKernelNameRefByPtr((const void *)names, nullptr));
	CHECK_STR(hipApiName(1), "__hipPopCallConfiguration");
	CHECK_STR(hipApiName(0), "unknown");
	CHECK_STR(hipApiName(100000), "unknown");
	CHECK_STR(hipGetCmdName(0x11f0), "KernelExecution");
	CHECK_STR(hipGetCmdName(1), "Unknown command kind");
}

static void halves()
{
	CHECK_EQ(__gnu_f2h_ieee(1.5f), 0x3e00);
	CHECK_EQ(__gnu_f2h_ieee(-65536.0f), 0xfc00);
	CHECK(__gnu_h2f_ieee(0x0001) == 0x1p-24f && __gnu_h2f_ieee(0x7bff) == 65504);
}

/* One after the other on each device; work of before is waited for by all, and what comes behind waits for all. */
static void several()
{
	std::vector<hipLaunchParams> list;
	std::vector<unsigned *> memory;
	std::vector<unsigned> values;
	hipLaunchParams twice[2];
	int devices;

	HIP(hipGetDeviceCount(&devices));
	memory.resize(devices);
	values.resize(devices);
	std::vector<std::vector<void *>> args(devices);
	for (int i = 0; i < devices; i++) {
		hipLaunchParams p = {};

		HIP(hipSetDevice(i));
		HIP(hipMalloc((void **)&memory[i], 4096));
		values[i] = 100 + i;
		args[i] = {&memory[i], &values[i]};
		p.func = (void *)fill;
		p.gridDim = dim3(16);
		p.blockDim = dim3(64);
		p.args = args[i].data();
		HIP(hipStreamCreate(&p.stream));
		list.push_back(p);
	}
	HIP(hipExtLaunchMultiKernelMultiDevice(list.data(), devices, 0));
	for (int i = 0; i < devices; i++) {
		unsigned last;

		HIP(hipStreamSynchronize(list[i].stream));
		HIP(hipMemcpy(&last, memory[i] + 1023, 4, hipMemcpyDeviceToHost));
		CHECK_EQ(last, 100 + i);
	}
	twice[0] = twice[1] = list[0];
	CHECK_EQ(hipExtLaunchMultiKernelMultiDevice(nullptr, 1, 0), hipErrorInvalidValue);
	CHECK_EQ(hipExtLaunchMultiKernelMultiDevice(list.data(), 0, 0), hipErrorInvalidValue);
	CHECK(hipExtLaunchMultiKernelMultiDevice(twice, 2, 0) != hipSuccess);
}

/* What a program does is told on its error output, when AMD_LOG_LEVEL says so; it is read at the first call. */
static std::string told(const char *self, const char *level)
{
	std::string command = std::string("AMD_LOG_LEVEL=") + level + " " + self + " quiet 2>&1", text;
	FILE *from = popen(command.c_str(), "r");
	char part[512];

	while (from && fgets(part, sizeof(part), from))
		text += part;
	if (from)
		pclose(from);
	return text;
}

static int quiet()
{
	void *at;

	(void)!hipMalloc(&at, 64);
	(void)!hipFree((char *)at + 1);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return quiet();
	names();
	halves();
	several();
	CHECK_EQ(told(argv[0], "0").size(), 0);
	CHECK(told(argv[0], "1").find("hipFree: Returned hipErrorInvalidValue") != std::string::npos);
	CHECK(told(argv[0], "1").find("hipMalloc") == std::string::npos);
	CHECK(told(argv[0], "3").find("hipMalloc: Returned hipSuccess") != std::string::npos);
	return check_done("what tools ask for");
}
