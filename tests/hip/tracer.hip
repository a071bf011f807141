/* A tool: it prints a program's calls, their durations, and the resulting GPU work. */
#include <hip/api/profile.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define VALUES 4096

__global__ void add(unsigned *at, unsigned value)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

/* --- what AMD's prof_protocol.h and hip_prof_str.h have --------------------------------------- */

enum { WORK = 2, CALLS = 3 };
enum { DISPATCH, COPY, BARRIER };

struct trace {
	uint64_t correlation;
	uint32_t phase;
	union {
		struct {
			const void *function;
			dim3 blocks, threads;
			void **args;
			size_t lds_B;
			hipStream_t stream;
		} launch;
		struct {
			void *dst;
			const void *src;
			size_t size_B;
			unsigned kind;
			hipStream_t stream;
		} copy;
		struct {
			void **at, *value;
			size_t size_B;
		} malloc;
		char all[TUFF_HIP_ABI == 5 ? 824 : 1504];
	};
	uint64_t enter_ns, more;
	void (*enter)(uint32_t, trace *);
	void (*exit)(uint32_t, trace *);
};

struct record {
	uint32_t domain, kind, op;
	uint64_t correlation, begin_ns, end_ns;
	int device;
	uint64_t queue;
	union {
		size_t bytes;
		const char *kernel;
	};
};

/* --- the tool --------------------------------------------------------------------------------- */

struct call {
	std::string name;
	uint64_t ns;
	bool ended;
};
struct work {
	std::string what;
	uint64_t correlation, queue;
	size_t bytes;
};

static std::mutex lock;
static std::map<uint64_t, call> calls;
static std::vector<work> works;
static std::atomic<bool> wants_calls{true}, wants_work{true};
static size_t copied_B, allocated_B;
static unsigned launched_blocks;

static uint64_t now_ns()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void enter(uint32_t id, trace *t)
{
	std::string name = hipApiName(id);
	std::lock_guard<std::mutex> guard(lock);

	t->enter_ns = now_ns();
	t->more = id;
	CHECK(!t->phase);
	calls[t->correlation] = {name, 0, false};
	if (name == "hipLaunchKernel") {
		CHECK(t->launch.function == (const void *)add && t->launch.threads.x == 64 && t->launch.args);
		launched_blocks += t->launch.blocks.x;
	} else if (name == "hipMemcpyAsync" || name == "hipMemcpy") {
		copied_B += t->copy.size_B;
	} else if (name == "hipMalloc") {
		allocated_B += t->malloc.size_B;
	}
}

static void leave(uint32_t id, trace *t)
{
	std::lock_guard<std::mutex> guard(lock);
	call &c = calls[t->correlation];

	CHECK(t->more == id && c.name == hipApiName(id) && !c.ended);
	if (c.name == "hipMalloc")
		CHECK(!t->malloc.at || t->malloc.size_B > 1 << 20 || *t->malloc.at);
	c.ns = now_ns() - t->enter_ns;
	c.ended = true;
}

static const char *op_name(uint32_t op)
{
	static const char *const names[] = {"dispatch", "copy", "barrier"};

	return op < 3 ? names[op] : "?";
}

static int hear(int domain, uint32_t operation, void *data)
{
	static std::atomic<uint64_t> count{0};

	if (domain == CALLS) {
		trace *t = (trace *)data;

		if (!wants_calls)
			return 1;
		t->correlation = ++count;
		t->enter = enter;
		t->exit = leave;
	} else if (data) {
		const record *r = (const record *)data;
		std::lock_guard<std::mutex> guard(lock);

		CHECK(domain == WORK && r->domain == WORK && r->op == operation);
		CHECK(r->begin_ns && r->begin_ns <= r->end_ns);
		works.push_back({std::string(op_name(r->op)) + " " + hipGetCmdName(r->kind) +
					 (r->op == DISPATCH ? std::string(" ") + r->kernel : ""),
				 r->correlation, r->queue, r->op == COPY ? r->bytes : 0});
	} else if (!wants_work) {
		return 1;
	}
	return 0;
}

static void print()
{
	for (const auto &c : calls) {
		printf("%4llu %-24s %8llu ns\n", (unsigned long long)c.first, c.second.name.c_str(),
		       (unsigned long long)c.second.ns);
		for (const work &w : works)
			if (w.correlation == c.first)
				printf("     %s, %zu bytes, queue %llu\n", w.what.c_str(), w.bytes,
				       (unsigned long long)w.queue);
	}
}

static unsigned count_calls(const char *name)
{
	unsigned count = 0;

	for (const auto &c : calls)
		count += c.second.name == name && c.second.ended;
	return count;
}

/* Work of that kind, because of such a call. */
static unsigned count_works(const char *what, const char *because)
{
	unsigned count = 0;

	for (const work &w : works)
		count += w.what == what && calls[w.correlation].name == because;
	return count;
}

static void forget()
{
	std::lock_guard<std::mutex> guard(lock);

	calls.clear();
	works.clear();
	copied_B = allocated_B = launched_blocks = 0;
}

/* --- programs --------------------------------------------------------------------------------- */

static void program(unsigned launches)
{
	const size_t size_B = VALUES * sizeof(unsigned);
	std::vector<unsigned> values(VALUES);
	hipStream_t stream;
	hipEvent_t event;
	unsigned *at, *host;

	HIP(hipStreamCreate(&stream));
	HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	HIP(hipMalloc((void **)&at, size_B));
	HIP(hipHostMalloc((void **)&host, size_B, hipHostMallocDefault));
	HIP(hipMemsetAsync(at, 0, size_B, stream));
	for (unsigned i = 0; i < launches; i++)
		add<<<VALUES / 64, 64, 0, stream>>>(at, 3);
	HIP(hipMemcpyAsync(host, at, size_B, hipMemcpyDeviceToHost, stream));
	HIP(hipEventRecord(event, stream));
	HIP(hipStreamSynchronize(stream));
	CHECK(host[0] == 3 * launches && host[VALUES - 1] == 3 * launches);
	HIP(hipMemcpy(values.data(), at, size_B, hipMemcpyDeviceToHost));
	CHECK(values[77] == 3 * launches);
	HIP(hipMemcpy2DAsync(at, 256, at + VALUES / 2, 256, 128, 4, hipMemcpyDeviceToDevice, stream));
	HIP(hipStreamSynchronize(stream));
	HIP(hipHostFree(host));
	HIP(hipFree(at));
	HIP(hipEventDestroy(event));
	HIP(hipStreamDestroy(stream));
}

/* What has ended when a wait is over has been told. */
static void all()
{
	const size_t size_B = VALUES * sizeof(unsigned);

	hipRegisterTracerCallback(hear);
	program(5);
	hipRegisterTracerCallback(nullptr);
	print();
	CHECK_EQ(count_calls("hipLaunchKernel"), 5);
	CHECK_EQ(launched_blocks, 5 * VALUES / 64);
	CHECK_EQ(count_calls("hipMalloc"), 1);
	CHECK_EQ(allocated_B, size_B);
	CHECK_EQ(copied_B, 2 * size_B);
	for (const char *name : {"hipStreamCreate", "hipEventCreateWithFlags", "hipHostMalloc", "hipMemsetAsync",
				 "hipEventRecord", "hipFree", "hipStreamDestroy", "hipMemcpy2DAsync"})
		CHECK_EQ(count_calls(name), 1);
	CHECK_EQ(count_calls("hipStreamSynchronize"), 2);
	CHECK_EQ(count_works("dispatch KernelExecution _Z3addPjj", "hipLaunchKernel"), 5);
	CHECK_EQ(count_works("copy CopyDeviceToHost", "hipMemcpyAsync"), 1);
	CHECK_EQ(count_works("copy CopyDeviceToHost", "hipMemcpy"), 1);
	CHECK_EQ(count_works("copy CopyDeviceToDevice2D", "hipMemcpy2DAsync"), 1);
	CHECK_EQ(count_works("copy FillBuffer", "hipMemsetAsync"), 1);
	CHECK_EQ(count_works("barrier Marker", "hipEventRecord"), 1);
	for (const work &w : works)
		CHECK(w.bytes == (w.what.find("2D") != std::string::npos ? 512
				  : w.what.compare(0, 4, "copy") == 0    ? size_B
									 : 0));
	forget();
	program(1);
	CHECK(calls.empty() && works.empty());
}

static void halves()
{
	hipRegisterTracerCallback(hear);
	wants_work = false;
	program(1);
	CHECK(count_calls("hipLaunchKernel") == 1 && works.empty());
	forget();
	wants_work = true;
	wants_calls = false;
	program(1);
	CHECK(calls.empty());
	CHECK_EQ(works.size(), 6);
	for (const work &w : works)
		CHECK_EQ(w.correlation, 0);
	wants_calls = true;
	hipRegisterTracerCallback(nullptr);
	forget();
}

/* Kernels of a graph are told one by one, because of its launch. */
static void graph()
{
	gpu_array<unsigned> memory(std::vector<unsigned>(VALUES, 0));
	hipStream_t stream;
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP(hipStreamCreate(&stream));
	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	for (unsigned i = 0; i < 6; i++)
		add<<<VALUES / 64, 64, 0, stream>>>(memory.at, i);
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	hipRegisterTracerCallback(hear);
	for (unsigned i = 0; i < 2; i++)
		HIP(hipGraphLaunch(exec, stream));
	HIP(hipStreamSynchronize(stream));
	hipRegisterTracerCallback(nullptr);
	CHECK_EQ(count_works("dispatch KernelExecution _Z3addPjj", "hipGraphLaunch"), 12);
	CHECK_EQ(memory.read()[VALUES - 1], 30);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipStreamDestroy(stream));
	forget();
}

/* So is a grid's kernel, which runs on a queue of its own. */
static void grid()
{
	gpu_array<unsigned> memory(std::vector<unsigned>(VALUES, 1));
	unsigned by = 4;
	void *args[] = {&memory.at, &by};

	hipRegisterTracerCallback(hear);
	for (unsigned i = 0; i < 3; i++)
		HIP(hipLaunchCooperativeKernel((const void *)add, dim3(VALUES / 64), dim3(64), args, 0, nullptr));
	HIP(hipStreamSynchronize(nullptr));
	hipRegisterTracerCallback(nullptr);
	CHECK_EQ(count_works("dispatch KernelExecution _Z3addPjj", "hipLaunchCooperativeKernel"), 3);
	CHECK_EQ(memory.read()[VALUES - 1], 13);
	forget();
}

/* Calls of several threads, and errors, which are calls as well. */
static void threads()
{
	std::vector<std::thread> all;
	int *none;

	hipRegisterTracerCallback(hear);
	for (unsigned i = 0; i < 4; i++)
		all.emplace_back(program, 8);
	for (std::thread &t : all)
		t.join();
	CHECK_EQ(hipMalloc((void **)&none, (size_t)1 << 60), hipErrorOutOfMemory);
	CHECK_EQ(hipMalloc(nullptr, 4), hipErrorInvalidValue);
	hipRegisterTracerCallback(nullptr);
	CHECK_EQ(count_calls("hipLaunchKernel"), 32);
	CHECK_EQ(count_works("dispatch KernelExecution _Z3addPjj", "hipLaunchKernel"), 32);
	for (const auto &c : calls)
		CHECK(c.second.ended);
}

static int hear_once(int domain, uint32_t operation, void *data)
{
	const int r = hear(domain, operation, data);

	if (domain == CALLS)
		((trace *)data)->enter = [](uint32_t id, trace *t) {
			enter(id, t);
			hipRegisterTracerCallback(nullptr);
		};
	return r;
}

/* A tool that stops inside calls gets the ends of these calls, and everything when it begins again. */
static void stops_inside()
{
	forget();
	for (unsigned i = 0; i < 20; i++) {
		hipRegisterTracerCallback(hear_once);
		HIP(hipSetDevice(0));
	}
	CHECK_EQ(count_calls("hipSetDevice"), 20);
	HIP(hipSetDevice(0));
	CHECK_EQ(count_calls("hipSetDevice"), 20);
	hipRegisterTracerCallback(hear);
	program(1);
	hipRegisterTracerCallback(nullptr);
	CHECK_EQ(count_calls("hipLaunchKernel"), 1);
	CHECK_EQ(count_works("dispatch KernelExecution _Z3addPjj", "hipLaunchKernel"), 1);
	forget();
}

/* Before HIP begins: a thread registers and unregisters a tool while the process forks. Its children register theirs. */
static void forked_before()
{
	std::atomic<bool> over{false};
	std::thread other([&] {
		while (!over) {
			hipRegisterTracerCallback(hear);
			hipRegisterTracerCallback(nullptr);
		}
	});
	unsigned ended = 0;

	for (unsigned i = 0; i < 200; i++) {
		pid_t child = fork();
		int status = -1;

		if (!child) {
			alarm(20);
			hipRegisterTracerCallback(hear);
			hipRegisterTracerCallback(nullptr);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child);
		ended += !status;
		if (status)
			break;
	}
	over = true;
	other.join();
	CHECK_EQ(ended, 200);
}

int main()
{
	forked_before();
	all();
	halves();
	graph();
	grid();
	threads();
	stops_inside();
	return check_done("tracer");
}
