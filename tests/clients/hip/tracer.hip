/* A tool of HIP 5.2, as roctracer was one: which calls a program makes, with what, and what the GPU did because of
 * them. Debian's headers have the calls' numbers and the layout of their arguments. */
#include <hip/hip_runtime.h>

#include <hip/amd_detail/hip_prof_str.h>

#include <atomic>
#include <mutex>
#include <string>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

extern "C" {
#include <hip/amd_detail/hip_runtime_prof.h>
hipError_t hipRegisterActivityCallback(uint32_t id, void *fun, void *arg);
hipError_t hipRemoveActivityCallback(uint32_t id);
hipError_t hipRegisterApiCallback(uint32_t id, void *fun, void *arg);
hipError_t hipRemoveApiCallback(uint32_t id);
const char *hipApiName(uint32_t id);
}

#define VALUES 1024

__global__ void add(unsigned *at, unsigned value)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

/* --- the tool --------------------------------------------------------------------------------- */

/* Its union has members that C++ would want made. */
alignas(hip_api_data_t) static thread_local char memory[sizeof(hip_api_data_t)];
static hip_api_data_t &current()
{
	return *(hip_api_data_t *)memory;
}
static thread_local bool inside;
static std::vector<std::string> told;
static const void *key;

/* Before and after each call. */
static void *begin_or_end(uint32_t id, void *, const void *, void *)
{
	static std::atomic<uint64_t> calls{0};

	CHECK(id >= HIP_API_ID_FIRST && id <= HIP_API_ID_LAST);
	inside = !inside;
	if (inside) {
		memset(memory, 0, sizeof(memory));
		current().correlation_id = ++calls;
	}
	return &current();
}

static void tell(uint32_t domain, uint32_t id, const void *data, void *arg)
{
	const hip_api_data_t *d = (const hip_api_data_t *)data;
	std::string text = std::string(hipApiName(id)) + (d->phase ? " out" : " in");

	CHECK(domain == 3 && arg == &told && d == &current());
	if (id == HIP_API_ID_hipMemcpy) {
		text += " " + std::to_string(d->args.hipMemcpy.sizeBytes) + " " +
			std::to_string(d->args.hipMemcpy.kind);
	} else if (id == HIP_API_ID_hipMalloc) {
		text += " " + std::to_string(d->args.hipMalloc.size);
		CHECK(!d->phase || *d->args.hipMalloc.ptr);
	} else if (id == HIP_API_ID_hipLaunchKernel) {
		CHECK(d->args.hipLaunchKernel.function_address == key);
		text += " " + std::to_string(d->args.hipLaunchKernel.numBlocks.x) + " " +
			std::to_string(d->args.hipLaunchKernel.dimBlocks.x);
	} else if (id == HIP_API_ID_hipMemset) {
		text += " " + std::to_string(d->args.hipMemset.value) + " " +
			std::to_string(d->args.hipMemset.sizeBytes);
	}
	told.push_back(text);
}

/* activity_record_t of HIP 5.2. */
struct record {
	uint32_t domain, kind, op;
	uint64_t correlation, begin_ns, end_ns;
	int device;
	uint64_t queue;
	size_t bytes;
};

static std::mutex lock;
static std::vector<record> records;
static std::atomic<unsigned> numbers{0};

static void number(uint64_t)
{
	numbers++;
}

static void ended(uint32_t op, void *data, void *arg)
{
	const record *r = (const record *)data;
	std::lock_guard<std::mutex> guard(lock);

	CHECK(arg == &records && r->domain == 2 && r->op == op && r->begin_ns && r->begin_ns <= r->end_ns);
	records.push_back(*r);
}

/* --- the program ------------------------------------------------------------------------------ */

static void work()
{
	std::vector<unsigned> values(VALUES, 5);
	const size_t size_B = VALUES * sizeof(unsigned);
	unsigned *at;

	key = (const void *)add;
	HIP(hipMalloc((void **)&at, size_B));
	HIP(hipMemset(at, 0, size_B));
	HIP(hipMemcpy(at, values.data(), size_B, hipMemcpyHostToDevice));
	for (unsigned i = 0; i < 3; i++)
		add<<<VALUES / 64, 64>>>(at, i);
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy(values.data(), at, size_B, hipMemcpyDeviceToHost));
	HIP(hipFree(at));
	CHECK(values[0] == 8 && values[VALUES - 1] == 8);
}

static const uint32_t watched[] = {HIP_API_ID_hipMalloc, HIP_API_ID_hipMemset,
				   HIP_API_ID_hipMemcpy, HIP_API_ID_hipLaunchKernel,
				   HIP_API_ID_hipFree,   HIP_API_ID_hipDeviceSynchronize};

/* The library numbers calls as the header does. */
static void numbered()
{
	for (uint32_t id = HIP_API_ID_FIRST; id <= HIP_API_ID_LAST; id++)
		CHECK_STR(hipApiName(id), hip_api_name(id));
	CHECK_STR(hipApiName(HIP_API_ID_NONE), hip_api_name(HIP_API_ID_NONE));
}

static void calls()
{
	static const char *const expected[] = {
		"hipMalloc in 4096",
		"hipMalloc out 4096",
		"hipMemset in 0 4096",
		"hipMemset out 0 4096",
		"hipMemcpy in 4096 1",
		"hipMemcpy out 4096 1",
		"hipLaunchKernel in 16 64",
		"hipLaunchKernel out 16 64",
		"hipLaunchKernel in 16 64",
		"hipLaunchKernel out 16 64",
		"hipLaunchKernel in 16 64",
		"hipLaunchKernel out 16 64",
		"hipDeviceSynchronize in",
		"hipDeviceSynchronize out",
		"hipMemcpy in 4096 2",
		"hipMemcpy out 4096 2",
		"hipFree in",
		"hipFree out",
	};

	for (uint32_t id : watched) {
		HIP(hipRegisterApiCallback(id, (void *)tell, &told));
		HIP(hipRegisterActivityCallback(id, (void *)begin_or_end, nullptr));
	}
	work();
	for (uint32_t id : watched) {
		HIP(hipRemoveApiCallback(id));
		HIP(hipRemoveActivityCallback(id));
	}
	CHECK_EQ(told.size(), sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < told.size() && i < sizeof(expected) / sizeof(expected[0]); i++)
		if (!CHECK(told[i] == expected[i]))
			printf("  %s, not %s\n", told[i].c_str(), expected[i]);
	CHECK_EQ(current().correlation_id, told.size() / 2);
	CHECK_EQ(hipRegisterApiCallback(100000, (void *)tell, nullptr), hipErrorInvalidValue);
	work();
	CHECK_EQ(told.size(), sizeof(expected) / sizeof(expected[0]));
}

static void gpu()
{
	size_t kernels = 0, to_host = 0, from_host = 0, fills = 0;

	hipInitActivityCallback((void *)number, (void *)ended, &records);
	CHECK(hipEnableActivityCallback(kHipVdiOpIdDispatch, true) &&
	      hipEnableActivityCallback(kHipVdiOpIdCopy, true));
	CHECK(!hipEnableActivityCallback(kHipVdiOpIdNumber, true));
	work();
	/* The library's own thread may tell. */
	for (unsigned i = 0; i < 500; i++) {
		lock.lock();
		size_t count = records.size();
		lock.unlock();
		if (count >= 6)
			break;
		usleep(10000);
	}
	std::lock_guard<std::mutex> guard(lock);
	for (const record &r : records) {
		std::string name = hipGetCmdName(r.kind);

		kernels += r.op == kHipVdiOpIdDispatch && name == "KernelExecution";
		fills += r.op == kHipVdiOpIdCopy && name == "FillBuffer";
		if (name == "CopyDeviceToHost" || name == "CopyHostToDevice") {
			CHECK(r.op == kHipVdiOpIdCopy);
			/* AMD's 5.2 leaves them out. */
			CHECK(r.bytes == 4096 || !r.bytes);
			(name == "CopyDeviceToHost" ? to_host : from_host)++;
		}
	}
	CHECK_EQ(kernels, 3);
	CHECK_EQ(to_host, 1);
	CHECK_EQ(from_host, 1);
	printf("fills %zu, numbers %u\n", fills, numbers.load());
	CHECK(numbers >= records.size());
	CHECK(hipEnableActivityCallback(kHipVdiOpIdDispatch, false) &&
	      hipEnableActivityCallback(kHipVdiOpIdCopy, false));
}

int main()
{
	HIP(hipInit(0));
	numbered();
	calls();
	gpu();
	return check_done("tracer");
}
