/* Memory of another process on two GPUs: opened on one, its peers can use it; other devices are refused. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define COUNT 5000u

__global__ void add(unsigned *to, unsigned value)
{
	for (unsigned i = threadIdx.x; i < COUNT; i += blockDim.x)
		to[i] += value;
}

static int other(int from, int to)
{
	hipIpcMemHandle_t handle;
	unsigned *first, *second;
	int peers;

	if (read(from, &handle, sizeof(handle)) != sizeof(handle))
		return 1;
	HIP(hipDeviceCanAccessPeer(&peers, 1, 0));
	HIP(hipIpcOpenMemHandle((void **)&first, handle, hipIpcMemLazyEnablePeerAccess));
	add<<<1, 256>>>(first, 10);
	HIP_LAUNCHED();
	HIP(hipDeviceSynchronize());
	HIP(hipSetDevice(1));
	if (peers) {
		HIP(hipIpcOpenMemHandle((void **)&second, handle, hipIpcMemLazyEnablePeerAccess));
		CHECK_EQ((uintptr_t)second, (uintptr_t)first);
		add<<<1, 256>>>(second, 100);
		HIP_LAUNCHED();
		HIP(hipIpcCloseMemHandle(second));
	} else {
		CHECK_EQ(hipIpcOpenMemHandle((void **)&second, handle, hipIpcMemLazyEnablePeerAccess),
			 hipErrorInvalidDevicePointer);
		(void)hipGetLastError();
	}
	/* The last one that is closed waits for what runs on any of them. */
	HIP(hipIpcCloseMemHandle(first));
	CHECK(write(to, peers ? "y" : "n", 1) == 1);
	return check_done("memory of another process, on two GPUs");
}

int main()
{
	int there[2], back[2], status = -1;
	std::vector<unsigned> got(COUNT);
	hipIpcMemHandle_t handle;
	unsigned *at, wrong = 0;
	char peers = 0;
	pid_t child;

	/* Before anything of HIP's: a child inherits no GPU. */
	if (pipe(there) || pipe(back))
		return 1;
	child = fork();
	if (!child)
		return other(there[0], back[1]);
	HIP(hipMalloc((void **)&at, COUNT * 4));
	HIP(hipMemset(at, 0, COUNT * 4));
	HIP(hipDeviceSynchronize());
	HIP(hipIpcGetMemHandle(&handle, at));
	CHECK(write(there[1], &handle, sizeof(handle)) == sizeof(handle));
	CHECK(read(back[0], &peers, 1) == 1);
	HIP(hipMemcpy(got.data(), at, COUNT * 4, hipMemcpyDeviceToHost));
	for (unsigned value : got)
		wrong += value != (peers == 'y' ? 110 : 10);
	CHECK_EQ(wrong, 0);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQ(status, 0);
	HIP(hipFree(at));
	return check_done("memory for another process, on two GPUs");
}
