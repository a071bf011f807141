// Handlers of a tool that intercepts queues wait, submit to other queues, and write packets that wait, as the handlers of
// HSA's own queues may. Launches return all the same, and what the stream does behind them stays in order.
#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "tests/clients/hip/hip.h"
#include "tests/hsa/tool_handlers.h"

#define N 256

__global__ void add(unsigned *at, unsigned by)
{
	at[threadIdx.x] += by;
}

__global__ void until(const unsigned *word)
{
	while (!__hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(8);
}

static std::string directory()
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length < 0 ? 0 : length] = 0;
	return std::string(path).substr(0, std::string(path).rfind('/'));
}

static const std::string tool = directory() + "/../lib/tests/tool_handlers.so";

static unsigned *tools(const char *name)
{
	static void *library = dlopen(tool.c_str(), RTLD_NOW | RTLD_NOLOAD);

	return (unsigned *)dlsym(library, name);
}

static void act(enum tool_act what)
{
	__atomic_store_n(tools("tool_act"), what, __ATOMIC_SEQ_CST);
}

static hipStream_t a, b;
static unsigned *words, *flag, found;

static void launch(unsigned by, hipStream_t on)
{
	add<<<1, N, 0, on>>>(words, by);
	HIP_LAUNCHED();
}

static void find(void *)
{
	found = words[N - 1];
}

// Behind what the stream has been given, the words have that value, as a function of the host, which is no packet, sees.
static void expect(unsigned value, hipStream_t on)
{
	HIP(hipLaunchHostFunc(on, find, nullptr));
	HIP(hipStreamSynchronize(on));
	CHECK_EQ(found, value);
	CHECK_EQ(*tools("tool_errors"), 0);
}

static void restart()
{
	act(TOOL_NOTHING);
	HIP(hipDeviceSynchronize());
	memset(words, 0, 4 * N);
	*flag = 0;
}

static void open_flag(void *)
{
	usleep(20000);
	__atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
}

// A launch does not wait for the kernels that the tool orders it behind: the program has yet to let them end.
static void serialized()
{
	restart();
	act(TOOL_SERIALIZES);
	until<<<1, 1, 0, a>>>(flag);
	HIP_LAUNCHED();
	for (unsigned i = 0; i < 10; i++)
		launch(1, b);
	CHECK_EQ(hipStreamQuery(b), hipErrorNotReady);
	__atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
	expect(10, b);
	HIP(hipStreamSynchronize(a));
}

// The handler sleeps until an earlier dispatch of the same stream has ended, which may be one that was not submitted yet.
static void limited()
{
	restart();
	act(TOOL_LIMITS);
	std::thread opener(open_flag, nullptr);
	for (unsigned i = 0; i < 3; i++) {
		until<<<1, 1, 0, a>>>(flag);
		HIP_LAUNCHED();
	}
	for (unsigned i = 0; i < 50; i++)
		launch(1, a);
	opener.join();
	expect(50, a);
}

// Handlers of launches that come late, behind a function of the host: they may wait for others that do.
static void late(enum tool_act what, unsigned times)
{
	restart();
	act(what);
	HIP(hipLaunchHostFunc(a, open_flag, nullptr));
	for (unsigned i = 0; i < 10; i++)
		launch(1, a);
	expect(10 * times, a);
	const unsigned before = *tools("tool_dispatches");
	HIP(hipStreamWaitValue32(a, flag, 2, hipStreamWaitValueGte, ~0u));
	launch(1, a);
	launch(1, a);
	CHECK_EQ(hipStreamQuery(a), hipErrorNotReady);
	__atomic_store_n(flag, 2, __ATOMIC_SEQ_CST);
	// No call of the program's makes the stream go on.
	while (__atomic_load_n(tools("tool_dispatches"), __ATOMIC_SEQ_CST) == before)
		usleep(1000);
	expect(12 * times, a);
}

static void at_once(enum tool_act what, unsigned times)
{
	restart();
	act(what);
	launch(1, a);
	launch(1, a);
	expect(2 * times, a);
}

int main()
{
	setenv("HSA_TOOLS_LIB", tool.c_str(), 1);
	HIP(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
	HIP(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
	HIP(hipHostMalloc((void **)&words, 4 * N, 0));
	HIP(hipHostMalloc((void **)&flag, 4, 0));
	launch(0, a);
	serialized();
	limited();
	at_once(TOOL_SUBMITS, 1);
	late(TOOL_SUBMITS, 1);
	at_once(TOOL_CALLS, 1);
	late(TOOL_CALLS, 1);
	late(TOOL_LIMITS, 1);
	late(TOOL_SERIALIZES, 1);
	at_once(TOOL_REPEATS, TOOL_TIMES);
	late(TOOL_REPEATS, TOOL_TIMES);
	act(TOOL_NOTHING);
	HIP(hipHostFree(words));
	HIP(hipHostFree(flag));
	HIP(hipStreamDestroy(a));
	HIP(hipStreamDestroy(b));
	return check_done("handlers of intercepted queues that wait");
}
