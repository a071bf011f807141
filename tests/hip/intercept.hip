// A tool of HSA that intercepts queues sees each dispatch of HIP's streams as a packet, once, and may put others in front of it.
// What streams do besides is in order with them all the same.
#include <dlfcn.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/clients/hip/hip.h"

#define N 4096

__global__ void add(unsigned *at, unsigned by)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	for (unsigned wait = 0; wait < 20; wait++)
		__builtin_amdgcn_s_sleep(8);
	at[i] += by;
}

static std::string directory()
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length < 0 ? 0 : length] = 0;
	return std::string(path).substr(0, std::string(path).rfind('/'));
}

static const std::string tool = directory() + "/../lib/tests/tool_intercept.so";

static unsigned counted(const char *name)
{
	void *library = dlopen(tool.c_str(), RTLD_NOW | RTLD_NOLOAD);
	const auto *count = library ? (const unsigned *)dlsym(library, name) : nullptr;

	return count ? __atomic_load_n(count, __ATOMIC_SEQ_CST) : 0;
}

static void launch(unsigned *at, unsigned by, hipStream_t on)
{
	add<<<N / 256, 256, 0, on>>>(at, by);
	HIP_LAUNCHED();
}

static bool all_are(const std::vector<unsigned> &values, unsigned value)
{
	for (unsigned v : values)
		if (v != value)
			return false;
	return true;
}

static void in_streams()
{
	std::vector<unsigned> got(N);
	unsigned *a, *pinned;
	hipStream_t s, t;
	hipEvent_t e;

	HIP(hipStreamCreate(&s));
	HIP(hipStreamCreateWithFlags(&t, hipStreamNonBlocking));
	HIP(hipEventCreate(&e));
	HIP(hipMalloc((void **)&a, 4 * N));
	HIP(hipHostMalloc((void **)&pinned, 4 << 20, 0));
	HIP(hipMemset(a, 0, 4 * N));
	const unsigned before = counted("tool_dispatches");
	for (unsigned i = 0; i < 50; i++)
		launch(a, 1, s);
	HIP(hipEventRecord(e, s));
	HIP(hipStreamWaitEvent(t, e, 0));
	launch(a, 100, t);
	HIP(hipStreamSynchronize(t));
	CHECK_EQ(counted("tool_dispatches") - before, 51);
	HIP(hipMemcpyAsync(pinned, a, 4 * N, hipMemcpyDeviceToHost, t));
	HIP(hipStreamSynchronize(t));
	CHECK(all_are(std::vector<unsigned>(pinned, pinned + N), 150));
	HIP(hipMemcpy(got.data(), a, 4 * N, hipMemcpyDeviceToHost));
	CHECK(all_are(got, 150));
	HIP(hipFree(a));
	HIP(hipHostFree(pinned));
	HIP(hipEventDestroy(e));
	HIP(hipStreamDestroy(s));
	HIP(hipStreamDestroy(t));
}

static void host(void *word)
{
	usleep(2000);
	__atomic_store_n((unsigned *)word, 7, __ATOMIC_SEQ_CST);
}

// Kernels behind a function of the host's are packets when their turn has come.
static void deferred_and_in_graphs()
{
	std::vector<unsigned> got(N);
	hipGraphExec_t exec;
	hipGraph_t graph;
	hipStream_t s;
	unsigned *a, word = 0;

	HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	HIP(hipMalloc((void **)&a, 4 * N));
	HIP(hipMemset(a, 0, 4 * N));
	HIP(hipDeviceSynchronize());
	unsigned before = counted("tool_dispatches");
	HIP(hipLaunchHostFunc(s, host, &word));
	for (unsigned i = 0; i < 10; i++)
		launch(a, 1, s);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(word, 7);
	CHECK_EQ(counted("tool_dispatches") - before, 10);
	HIP(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	for (unsigned i = 0; i < 20; i++)
		launch(a, 2, s);
	HIP(hipStreamEndCapture(s, &graph));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	before = counted("tool_dispatches");
	for (unsigned i = 0; i < 3; i++)
		HIP(hipGraphLaunch(exec, s));
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(counted("tool_dispatches") - before, 60);
	HIP(hipMemcpy(got.data(), a, 4 * N, hipMemcpyDeviceToHost));
	CHECK(all_are(got, 130));
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipFree(a));
	HIP(hipStreamDestroy(s));
}

int main()
{
	setenv("HSA_TOOLS_LIB", tool.c_str(), 1);
	in_streams();
	deferred_and_in_graphs();
	CHECK(counted("tool_queues") > 2);
	HIP(hipDeviceReset());
	in_streams();
	return check_done("queues that a tool intercepts");
}
