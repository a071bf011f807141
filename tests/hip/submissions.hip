// Fills and copies within a GPU are dispatches of the stream: they cost no submission of their own, and give every byte what
// it should have, whatever the alignment. How many jobs there were, the virtual kernel says.
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "tests/clients/hip/hip.h"

#define CS 0x44 // the ioctl's number

static unsigned long jobs()
{
	static const auto count = (unsigned long (*)(unsigned))dlsym(RTLD_DEFAULT, "vgpu_ioctl_count_nr");

	return count ? count(CS) : 0;
}

static uint64_t state = 1;

// Below most.
static size_t some(size_t most)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(state >> 33) % most;
}

__global__ void add(unsigned *at, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		at[i] += 1;
}

__global__ void hold(const int *go)
{
	while (!__hip_atomic_load(go, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(8);
}

#define N 4096

static hipStream_t stream;
static unsigned *a, *b, *pinned;
static int *go;

static void kernel(unsigned *at)
{
	add<<<N / 256, 256, 0, stream>>>(at, N);
	HIP_LAUNCHED();
}

// Kernel, fill, copy, kernel, and copies from and to the host's memory.
static void mixture()
{
	kernel(a);
	HIP(hipMemsetD32Async((hipDeviceptr_t)a, 5, N, stream));
	kernel(a);
	HIP(hipMemcpyAsync(b, a, N * 4, hipMemcpyDeviceToDevice, stream));
	kernel(b);
	HIP(hipMemcpyAsync(a, pinned, N * 4, hipMemcpyHostToDevice, stream));
	kernel(a);
	HIP(hipMemcpyAsync(pinned, b, N * 2, hipMemcpyDeviceToHost, stream));
	HIP(hipMemcpyAsync(pinned + N / 2, a + N / 2, N * 2, hipMemcpyDeviceToHost, stream));
}

static void check_mixture(unsigned was)
{
	CHECK_EQ(pinned[0], 7);
	CHECK_EQ(pinned[N / 2 - 1], 7);
	CHECK_EQ(pinned[N / 2], was + 1);
	CHECK_EQ(pinned[N - 1], was + 1);
}

// While the GPU works, all of it is collected in one job.
static void one_job()
{
	for (unsigned round = 0; round < 3; round++) {
		std::fill(pinned, pinned + N, 100u);
		__atomic_store_n(go, 0, __ATOMIC_RELEASE);
		hold<<<1, 1, 0, stream>>>(go);
		HIP_LAUNCHED();
		hold<<<1, 1, 0, stream>>>(go);
		HIP_LAUNCHED();
		unsigned long before = jobs();

		mixture();
		__atomic_store_n(go, 1, __ATOMIC_RELEASE);
		HIP(hipStreamSynchronize(stream));
		if (round) // before that, the times of the kernels are not known
			CHECK(jobs() - before <= 2);
		check_mixture(100);
	}
}

__global__ void mark(int *at)
{
	__hip_atomic_store(at, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

static void set_all(unsigned *at, unsigned value)
{
	for (unsigned i = 0; i < N; i++)
		__atomic_store_n(at + i, value, __ATOMIC_RELAXED);
}

// Copies of a size that was first copied within the GPU, in one job, from memory of the host that the GPU's caches keep: the last
// one sees what the host wrote while the job ran.
static void host_writes_between()
{
	const size_t size = N * 3;
	unsigned *cached;
	int *flag;

	HIP(hipHostMalloc((void **)&cached, N * 4, hipHostMallocNonCoherent));
	HIP(hipHostMalloc((void **)&flag, 2 * sizeof(*flag), hipHostMallocCoherent));
	for (unsigned round = 0; round < 4; round++) {
		set_all(cached, round);
		__atomic_store_n(go, 0, __ATOMIC_RELEASE);
		__atomic_store_n(flag, 0, __ATOMIC_RELEASE);
		__atomic_store_n(flag + 1, 0, __ATOMIC_RELEASE);
		hold<<<1, 1, 0, stream>>>(go);
		HIP_LAUNCHED();
		hold<<<1, 1, 0, stream>>>(go);
		HIP_LAUNCHED();
		HIP(hipMemcpyAsync(b, a, size, hipMemcpyDeviceToDevice, stream));
		HIP(hipMemcpyAsync(a, cached, size, hipMemcpyHostToDevice, stream));
		mark<<<1, 1, 0, stream>>>(flag);
		HIP_LAUNCHED();
		hold<<<1, 1, 0, stream>>>(flag + 1);
		HIP_LAUNCHED();
		HIP(hipMemcpyAsync(a, cached, size, hipMemcpyHostToDevice, stream));
		__atomic_store_n(go, 1, __ATOMIC_RELEASE);
		while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
			;
		set_all(cached, round + 100);
		__atomic_store_n(flag + 1, 1, __ATOMIC_RELEASE);
		HIP(hipMemcpyAsync(pinned, a, size, hipMemcpyDeviceToHost, stream));
		HIP(hipStreamSynchronize(stream));
		CHECK_EQ(pinned[0], round + 100);
		CHECK_EQ(pinned[size / 4 - 1], round + 100);
	}
	HIP(hipHostFree(flag));
	HIP(hipHostFree(cached));
}

// Of an idle GPU, and waited for.
static void one_copy()
{
	HIP(hipStreamSynchronize(stream));
	unsigned long before = jobs();

	HIP(hipMemcpyAsync(a, pinned, 4096, hipMemcpyHostToDevice, stream));
	HIP(hipStreamSynchronize(stream));
	CHECK_EQ(jobs() - before, 1);
}

static void a_graph()
{
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	for (unsigned i = 0; i < 8; i++) {
		HIP(hipMemsetD32Async((hipDeviceptr_t)(i % 2 ? b : a), (int)i, N, stream));
		kernel(i % 2 ? b : a);
	}
	HIP(hipMemcpyAsync(pinned, a, N * 4, hipMemcpyDeviceToHost, stream));
	HIP(hipMemcpyAsync(pinned + N / 2, b, N * 2, hipMemcpyDeviceToHost, stream));
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (unsigned round = 0; round < 4; round++) {
		std::fill(pinned, pinned + N, 0u);
		unsigned long before = jobs();

		HIP(hipGraphLaunch(exec, stream));
		HIP(hipStreamSynchronize(stream));
		if (round > 1)
			CHECK_EQ(jobs() - before, 1);
		CHECK_EQ(pinned[0], 7);
		CHECK_EQ(pinned[N / 2], 8);
	}
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

// --- what the kernel is asked ---

static unsigned long calls()
{
	static const auto count = (unsigned long (*)())dlsym(RTLD_DEFAULT, "vgpu_ioctl_count");

	return count ? count() : 0;
}

static double now_ms()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// A submission and a wait: what asks about faults is paid for by the time that goes by.
static void launches_and_waits()
{
	const unsigned rounds = 200;

	kernel(a);
	HIP(hipStreamSynchronize(stream));
	double begin = now_ms();
	unsigned long before = calls();
	for (unsigned i = 0; i < rounds; i++) {
		kernel(a);
		HIP(hipStreamSynchronize(stream));
	}
	unsigned long each = calls() - before;

	CHECK(each >= rounds);
	CHECK((double)each <= 2 * rounds + 2 * (18 + 1.1 * (now_ms() - begin)));
	before = calls();
	HIP(hipStreamSynchronize(stream));
	HIP(hipStreamQuery(stream));
	CHECK_EQ(calls() - before, 0);
}

static void elapsed_time()
{
	hipEvent_t begin, end;
	float ms = -1;

	HIP(hipEventCreate(&begin));
	HIP(hipEventCreate(&end));
	__atomic_store_n(go, 0, __ATOMIC_RELEASE);
	hold<<<1, 1, 0, stream>>>(go);
	HIP_LAUNCHED();
	HIP(hipEventRecord(begin, stream));
	kernel(a);
	HIP(hipEventRecord(end, stream));
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	HIP(hipStreamSynchronize(stream));
	HIP(hipEventElapsedTime(&ms, begin, end)); // which may have asked for the clock
	HIP(hipEventRecord(begin, stream));
	double from = now_ms();
	unsigned long before = calls();
	HIP(hipEventElapsedTime(&ms, begin, end));
	if (now_ms() - from < 100) // not just when the clock was due again
		CHECK(calls() - before <= 5);
	before = calls();
	for (unsigned i = 0; i < 100; i++)
		HIP(hipEventElapsedTime(&ms, begin, end));
	CHECK_EQ(calls() - before, 0);
	HIP(hipEventDestroy(end));
	HIP(hipEventDestroy(begin));
}

// --- every byte ---

#define SIZE 20000

struct both {
	unsigned char *gpu;
	std::vector<unsigned char> model;

	both() : model(SIZE)
	{
		for (auto &byte : model)
			byte = (unsigned char)some(256);
		HIP(hipMalloc((void **)&gpu, SIZE));
		HIP(hipMemcpy(gpu, model.data(), SIZE, hipMemcpyHostToDevice));
	}
	~both() { HIP(hipFree(gpu)); }
	void check() const
	{
		std::vector<unsigned char> got(SIZE);

		HIP(hipMemcpy(got.data(), gpu, SIZE, hipMemcpyDeviceToHost));
		CHECK(got == model);
	}
};

static void fill(both *to)
{
	static const unsigned sizes[] = {1, 2, 4};
	unsigned value_B = sizes[some(3)], value = (unsigned)some(~0u);
	size_t at = some(300) * value_B, count = some(some(2) ? 40 : 4000);

	if (value_B == 1)
		HIP(hipMemsetD8Async((hipDeviceptr_t)(to->gpu + at), (unsigned char)value, count, stream));
	else if (value_B == 2)
		HIP(hipMemsetD16Async((hipDeviceptr_t)(to->gpu + at), (unsigned short)value, count, stream));
	else
		HIP(hipMemsetD32Async((hipDeviceptr_t)(to->gpu + at), (int)value, count, stream));
	for (size_t i = 0; i < count * value_B; i++)
		to->model[at + i] = (unsigned char)(value >> 8 * (i % value_B));
}

static void copy(both *to, const both *from)
{
	size_t at = some(40), src = some(40), size_B = some(some(2) ? 50 : SIZE - 40);

	HIP(hipMemcpyAsync(to->gpu + at, from->gpu + src, size_B, hipMemcpyDeviceToDevice, stream));
	std::copy_n(from->model.begin() + (long)src, size_B, to->model.begin() + (long)at);
}

// Boxes of one slice: rows of one pitch there, of another here.
static void copy_rows(both *to, const both *from)
{
	size_t width_B = 1 + some(some(2) ? 20 : 300), height = 1 + some(20), dst_pitch_B = width_B + some(40),
	       src_pitch_B = width_B + some(40), at = some(40), src = some(40);

	if (some(2)) { // all alike
		dst_pitch_B = (dst_pitch_B + 15) & ~(size_t)15;
		src_pitch_B = (src_pitch_B + 15) & ~(size_t)15;
		src = at;
	}
	HIP(hipMemcpy2DAsync(to->gpu + at, dst_pitch_B, from->gpu + src, src_pitch_B, width_B, height,
			     hipMemcpyDeviceToDevice, stream));
	for (size_t y = 0; y < height; y++)
		std::copy_n(from->model.begin() + (long)(src + y * src_pitch_B), width_B,
			    to->model.begin() + (long)(at + y * dst_pitch_B));
}

static void fill_rows(both *to)
{
	size_t width_B = 1 + some(100), pitch_B = width_B + some(30), height = 1 + some(40), at = some(40);

	HIP(hipMemset2DAsync(to->gpu + at, pitch_B, 0x5a, width_B, height, stream));
	for (size_t y = 0; y < height; y++)
		std::fill_n(to->model.begin() + (long)(at + y * pitch_B), width_B, 0x5a);
}

static void every_byte()
{
	both x, y;

	for (unsigned i = 0; i < 200; i++) {
		switch (some(4)) {
		case 0: fill(&x); break;
		case 1: copy(&y, &x); break;
		case 2: copy_rows(&x, &y); break;
		case 3: fill_rows(&y); break;
		}
		if (i % 10 == 9) {
			HIP(hipStreamSynchronize(stream));
			x.check();
			y.check();
		}
	}
}

// Pageable memory of many pieces, which begins and ends anywhere.
static void large_pageable()
{
	const size_t size_B = (70u << 20) + 12345;
	std::vector<unsigned char> from(size_B + 1), to(size_B + 7);
	unsigned char *gpu;

	for (size_t i = 0; i < size_B; i += 977)
		from[i + 1] = (unsigned char)some(256);
	HIP(hipMalloc((void **)&gpu, size_B));
	HIP(hipMemcpy(gpu, from.data() + 1, size_B, hipMemcpyHostToDevice));
	HIP(hipMemcpy(to.data() + 5, gpu, size_B, hipMemcpyDeviceToHost));
	CHECK(!memcmp(to.data() + 5, from.data() + 1, size_B));
	CHECK(!to[4] && !to[size_B + 5]);
	HIP(hipFree(gpu));
}

// Memory that the process may only read is refused as a target, before a kernel tries.
static void read_only_targets()
{
	const size_t size_B = 8192;
	void *page = mmap(nullptr, size_B, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hipError_t r = hipHostRegister(page, size_B, hipHostRegisterDefault);

	if (r == hipSuccess) {
		CHECK(hipMemcpyAsync(page, a, 64, hipMemcpyDeviceToHost, stream) != hipSuccess);
		CHECK(hipMemcpy2DAsync(page, 64, a, 64, 32, 4, hipMemcpyDeviceToHost, stream) != hipSuccess);
		CHECK_EQ(hipMemsetAsync(page, 0, 64, stream), hipErrorInvalidValue);
		CHECK_EQ(hipStreamWriteValue32(stream, page, 0, 0), hipErrorInvalidValue);
		HIP(hipMemcpyAsync(a, page, 64, hipMemcpyHostToDevice, stream));
		HIP(hipStreamSynchronize(stream));
		HIP(hipHostUnregister(page));
	}
	munmap(page, size_B);
}

// So is memory that is mapped without access.
static void closed_targets()
{
	hipMemAllocationProp how = {};
	hipMemAccessDesc access = {};
	hipMemGenericAllocationHandle_t handle;
	size_t granule = 0;
	void *at;

	how.type = hipMemAllocationTypePinned;
	how.location.type = hipMemLocationTypeDevice;
	HIP(hipMemGetAllocationGranularity(&granule, &how, hipMemAllocationGranularityMinimum));
	HIP(hipMemAddressReserve(&at, granule, 0, nullptr, 0));
	HIP(hipMemCreate(&handle, granule, &how, 0));
	HIP(hipMemMap(at, granule, 0, handle, 0));
	CHECK_EQ(hipMemsetAsync(at, 0, 64, stream), hipErrorInvalidValue);
	CHECK_EQ(hipStreamWriteValue64(stream, at, 0, 0), hipErrorInvalidValue);
	CHECK(hipMemcpyAsync(at, a, 64, hipMemcpyDeviceToDevice, stream) != hipSuccess);
	access.location = how.location;
	access.flags = hipMemAccessFlagsProtReadWrite;
	HIP(hipMemSetAccess(at, granule, &access, 1));
	HIP(hipMemsetAsync(at, 0, 64, stream));
	HIP(hipStreamSynchronize(stream));
	HIP(hipMemUnmap(at, granule));
	HIP(hipMemRelease(handle));
	HIP(hipMemAddressFree(at, granule));
}

// Of three mappings side by side the one in the middle is closed.
static void closed_in_the_middle()
{
	hipMemAllocationProp how = {};
	hipMemAccessDesc access = {};
	hipMemGenericAllocationHandle_t handle;
	size_t granule = 0;
	char *at, *other;

	how.type = hipMemAllocationTypePinned;
	how.location.type = hipMemLocationTypeDevice;
	access.location = how.location;
	access.flags = hipMemAccessFlagsProtReadWrite;
	HIP(hipMemGetAllocationGranularity(&granule, &how, hipMemAllocationGranularityMinimum));
	HIP(hipMemAddressReserve((void **)&at, 3 * granule, 0, nullptr, 0));
	HIP(hipMemCreate(&handle, granule, &how, 0));
	HIP(hipMalloc((void **)&other, 3 * granule));
	for (unsigned i = 0; i < 3; i++) {
		HIP(hipMemMap(at + i * granule, granule, 0, handle, 0));
		if (i != 1)
			HIP(hipMemSetAccess(at + i * granule, granule, &access, 1));
	}
	CHECK_EQ(hipMemsetAsync(at, 0, 3 * granule, stream), hipErrorInvalidValue);
	CHECK(hipMemcpyAsync(at, other, 3 * granule, hipMemcpyDeviceToDevice, stream) != hipSuccess);
	CHECK(hipMemcpy2DAsync(other, granule, at, granule, granule, 3, hipMemcpyDeviceToDevice, stream) != hipSuccess);
	HIP(hipStreamSynchronize(stream));
	HIP(hipMemSetAccess(at + granule, granule, &access, 1));
	HIP(hipMemsetAsync(at, 0, 3 * granule, stream));
	HIP(hipStreamSynchronize(stream));
	for (unsigned i = 0; i < 3; i++)
		HIP(hipMemUnmap(at + i * granule, granule));
	HIP(hipMemRelease(handle));
	HIP(hipMemAddressFree(at, 3 * granule));
	HIP(hipFree(other));
}

// Copies of pageable memory that the call does not wait for go by a staging copy of at most 64 KiB, which the arguments of the launch
// that reads it must not overwrite: a stream of its own has a single piece of such memory at first.
static void staged()
{
	unsigned char *at;

	HIP(hipMalloc((void **)&at, 1 << 17));
	for (size_t size : {(size_t)40000, (size_t)65408, (size_t)65412, (size_t)65536 - 64, (size_t)65535, (size_t)65536, (size_t)65537}) {
		std::vector<unsigned char> from(size), to(size);
		hipStream_t fresh;

		for (unsigned char &byte : from)
			byte = (unsigned char)(1 + some(255));
		HIP(hipStreamCreate(&fresh));
		HIP(hipMemset(at, 0, 65540));
		for (int again = 0; again < 3; again++) {
			HIP(hipMemcpyAsync(at, from.data(), size, hipMemcpyHostToDevice, fresh));
			HIP(hipStreamSynchronize(fresh));
			HIP(hipMemcpy(to.data(), at, size, hipMemcpyDeviceToHost));
			if (!CHECK(from == to))
				printf("  %zu bytes\n", size);
		}
		HIP(hipMemset(at, 0, 65540));
		HIP(hipMemcpy2DAsync(at, 256, from.data(), 256, 256, size / 256, hipMemcpyHostToDevice, fresh));
		HIP(hipStreamSynchronize(fresh));
		HIP(hipMemcpy(to.data(), at, size, hipMemcpyDeviceToHost));
		CHECK(std::equal(from.begin(), from.begin() + (long)(size / 256 * 256), to.begin()));
		HIP(hipStreamDestroy(fresh));
	}
	HIP(hipFree(at));
}

int main()
{
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	HIP(hipMalloc((void **)&a, N * 4));
	HIP(hipMalloc((void **)&b, N * 4));
	HIP(hipHostMalloc((void **)&pinned, N * 4, hipHostMallocDefault));
	HIP(hipHostMalloc((void **)&go, sizeof(*go), hipHostMallocCoherent));
	one_job();
	host_writes_between();
	one_copy();
	a_graph();
	launches_and_waits();
	elapsed_time();
	CHECK(jobs() > 0);
	every_byte();
	read_only_targets();
	closed_targets();
	closed_in_the_middle();
	large_pageable();
	staged();
	HIP(hipHostFree(go));
	HIP(hipHostFree(pinned));
	HIP(hipFree(b));
	HIP(hipFree(a));
	HIP(hipStreamDestroy(stream));
	return check_done("submissions");
}
