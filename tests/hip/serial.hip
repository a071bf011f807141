// Kernels and copies one by one: HIP_LAUNCH_BLOCKING, AMD_SERIALIZE_KERNEL and AMD_SERIALIZE_COPY. Each setting is shown by a
// process of its own, since variables are read once. A kernel waits until another thread lets it go: whoever then finds
// it done has waited for it.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/clients/hip/hip.h"

struct flags {
	int go[2], done[2];
	int copied;
};

static int load(const int *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

__global__ void wait_for(int *go, int *done)
{
	while (!__hip_atomic_load(go, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(8);
	__hip_atomic_store(done, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

static flags *shared;
static hipStream_t stream;

// Lets a kernel go, a while after the call that may wait for it has begun.
static std::thread let_go_soon(int which)
{
	return std::thread([which] {
		usleep(50000);
		__atomic_store_n(&shared->go[which], 1, __ATOMIC_RELEASE);
	});
}

static void let_go(int which)
{
	__atomic_store_n(&shared->go[which], 1, __ATOMIC_RELEASE);
}

static void launch(int which)
{
	wait_for<<<1, 1, 0, stream>>>(&shared->go[which], &shared->done[which]);
	HIP_LAUNCHED();
}

static void nothing_waits()
{
	int *copy = nullptr;

	HIP(hipMalloc((void **)&copy, sizeof(int)));
	launch(0);
	HIP(hipMemcpyAsync(&shared->copied, copy, sizeof(int), hipMemcpyDeviceToHost, stream));
	launch(1);
	CHECK_EQ(load(&shared->done[0]), 0);
	let_go(0);
	let_go(1);
	HIP(hipStreamSynchronize(stream));
	CHECK_EQ(load(&shared->done[1]), 1);
	HIP(hipFree(copy));
}

// The second launch waits for the first kernel, and not for its own, which only ends when it has returned.
static void launches_wait_before()
{
	launch(0);
	CHECK_EQ(load(&shared->done[0]), 0);
	std::thread later = let_go_soon(0);
	launch(1);
	CHECK_EQ(load(&shared->done[0]), 1);
	CHECK_EQ(load(&shared->done[1]), 0);
	let_go(1);
	later.join();
	HIP(hipStreamSynchronize(stream));
	CHECK_EQ(load(&shared->done[1]), 1);
}

static void launches_wait_after()
{
	std::thread later = let_go_soon(0);

	launch(0);
	CHECK_EQ(load(&shared->done[0]), 1);
	later.join();
}

// A graph counts as a kernel; what is captured does not run, and nothing waits for it.
static void graphs_wait_after()
{
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	launch(1);
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	std::thread later = let_go_soon(1);
	HIP(hipGraphLaunch(exec, stream));
	CHECK_EQ(load(&shared->done[1]), 1);
	later.join();
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

static void both_wait_after()
{
	launches_wait_after();
	graphs_wait_after();
}

// A copy that waits after it returns with the value on the host; each that waits returns with the kernel before it done.
static void copies_wait()
{
	int *source = nullptr;
	const int value = 7;

	HIP(hipMalloc((void **)&source, sizeof(int)));
	HIP(hipMemcpy(source, &value, sizeof(value), hipMemcpyHostToDevice));
	launch(0);
	CHECK_EQ(load(&shared->done[0]), 0);
	std::thread later = let_go_soon(0);
	HIP(hipMemcpyAsync(&shared->copied, source, sizeof(int), hipMemcpyDeviceToHost, stream));
	CHECK_EQ(load(&shared->done[0]), 1);
	if (atoi(getenv("AMD_SERIALIZE_COPY")) & 2)
		CHECK_EQ(load(&shared->copied), 7);
	later.join();
	HIP(hipStreamSynchronize(stream));
	CHECK_EQ(load(&shared->copied), 7);
	HIP(hipFree(source));
}

static const struct {
	const char *variable, *value;
	void (*run)();
} settings[] = {
	{"TUFF_TEST_NOTHING", "0", nothing_waits},
	{"HIP_LAUNCH_BLOCKING", "0", nothing_waits},
	{"HIP_LAUNCH_BLOCKING", "1", both_wait_after},
	{"AMD_SERIALIZE_KERNEL", "1", launches_wait_before},
	{"AMD_SERIALIZE_KERNEL", "2", both_wait_after},
	{"AMD_SERIALIZE_KERNEL", "3", both_wait_after},
	{"AMD_SERIALIZE_COPY", "1", copies_wait},
	{"AMD_SERIALIZE_COPY", "2", copies_wait},
	{"AMD_SERIALIZE_COPY", "3", copies_wait},
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static int run_setting(unsigned i)
{
	HIP(hipHostMalloc((void **)&shared, sizeof(*shared), hipHostMallocCoherent));
	HIP(hipStreamCreate(&stream));
	*shared = {};
	settings[i].run();
	HIP(hipStreamDestroy(stream));
	HIP(hipHostFree(shared));
	return check_done(settings[i].variable);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_setting((unsigned)atoi(argv[1]));
	for (unsigned i = 0; i < SETTINGS; i++) {
		char which[16];
		int status = -1;

		snprintf(which, sizeof(which), "%u", i);
		fflush(stdout);
		pid_t pid = fork();
		if (!pid) {
			setenv(settings[i].variable, settings[i].value, 1);
			execl("/proc/self/exe", argv[0], which, (char *)nullptr);
			_exit(127);
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		if (!CHECK_EQ(status, 0))
			printf("  %s=%s\n", settings[i].variable, settings[i].value);
	}
	return check_done("one by one");
}
