/* Two processes: one allocates and fills, the other opens the memory, checks and changes it. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define COUNT 5000u

__global__ void add(unsigned *to, unsigned value)
{
	for (unsigned i = threadIdx.x; i < COUNT; i += blockDim.x)
		to[i] += value;
}

struct message {
	hipIpcMemHandle_t whole, part;
};

static int other(int from, int to)
{
	struct message m;
	unsigned *whole, *again, *part, got[2];
	char done = 1;

	if (read(from, &m, sizeof(m)) != sizeof(m))
		return 1;
	HIP(hipIpcOpenMemHandle((void **)&whole, m.whole, hipIpcMemLazyEnablePeerAccess));
	/* The flag of HIP 5.2's headers. */
	HIP(hipIpcOpenMemHandle((void **)&again, m.whole, TUFF_HIP_ABI == 5 ? 0 : hipIpcMemLazyEnablePeerAccess));
	HIP(hipIpcOpenMemHandle((void **)&part, m.part, hipIpcMemLazyEnablePeerAccess));
	CHECK_EQ((uintptr_t)again, (uintptr_t)whole);
	CHECK_EQ((uintptr_t)part, (uintptr_t)(whole + 100));
	HIP(hipMemcpy(got, whole + 99, sizeof(got), hipMemcpyDeviceToHost));
	CHECK_EQ(got[0], 5);
	add<<<1, 256>>>(whole, 10);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	CHECK_EQ(hipFree(whole), hipErrorInvalidValue);
	(void)hipGetLastError();
	HIP(hipIpcCloseMemHandle(part));
	HIP(hipIpcCloseMemHandle(again));
	HIP(hipIpcCloseMemHandle(whole));
	CHECK(write(to, &done, 1) == 1);
	return check_done("memory of another process");
}

int main()
{
	int there[2], back[2], status = -1;
	std::vector<unsigned> got(COUNT);
	struct message m;
	unsigned *at, *copy, wrong = 0;
	pid_t child;
	char done = 0;

	/* Before anything of HIP's: a child inherits no GPU. */
	if (pipe(there) || pipe(back))
		return 1;
	child = fork();
	if (!child)
		return other(there[0], back[1]);
	HIP(hipMalloc((void **)&at, COUNT * 4));
	HIP(hipMemset(at, 0, COUNT * 4));
	add<<<1, 256>>>(at, 5);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	HIP(hipIpcGetMemHandle(&m.whole, at));
	HIP(hipIpcGetMemHandle(&m.part, at + 100));
	CHECK_EQ(hipIpcOpenMemHandle((void **)&copy, m.whole, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidContext);
	(void)hipGetLastError();
	CHECK(write(there[1], &m, sizeof(m)) == sizeof(m));
	CHECK(read(back[0], &done, 1) == 1);
	HIP(hipMemcpy(got.data(), at, COUNT * 4, hipMemcpyDeviceToHost));
	for (unsigned value : got)
		wrong += value != 15;
	CHECK_EQ(wrong, 0);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQ(status, 0);
	HIP(hipFree(at));
	return check_done("memory for another process");
}
