/* Ways to launch a kernel: <<<>>>, a call, the kernel's address, a template, a structure as argument; how big it
 * may be. */
#include <hip/hip_ext.h>

#include "tests/clients/hip/hip.h"

#define COUNT 256u

__constant__ int offsets[5];

struct affine {
	int factor;
	long term;
};

template <typename T, int step> __global__ void __launch_bounds__(256) apply(T *data, affine how, unsigned count)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		data[i] = static_cast<T>(data[i] * how.factor + how.term + step);
}

__global__ void __launch_bounds__(64, 2) nothing()
{
}

__global__ void one_of(int *out)
{
	*out = offsets[threadIdx.x];
}

__global__ void dynamic_sum(int *out)
{
	HIP_DYNAMIC_SHARED(int, shared);

	shared[threadIdx.x] = static_cast<int>(threadIdx.x);
	__syncthreads();
	if (!threadIdx.x) {
		*out = 0;
		for (unsigned i = 0; i < blockDim.x; i++)
			*out += shared[i];
	}
}

/* Each way adds to what the one before it left: the same map, five times. */
static void ways()
{
	gpu_array<int> data(COUNT);
	unsigned count = COUNT;
	affine how = {3, -5};
	void *arguments[] = {&data.at, &how, &count};
	hipEvent_t start, stop;
	float ms = -1;
	unsigned wrong = 0;

	HIP(hipMemsetD32(data.at, 7, COUNT));
	apply<int, 1><<<4, 64>>>(data.at, how, count);
	hipLaunchKernelGGL((apply<int, 1>), dim3(4), dim3(64), 0, 0, data.at, how, count);
	hipLaunchKernelGGL(HIP_KERNEL_NAME(apply<int, 1>), 4, 64, 0, hipStreamPerThread, data.at, how, count);
	HIP(hipStreamSynchronize(hipStreamPerThread));
	HIP(hipLaunchKernel(reinterpret_cast<const void *>(apply<int, 1>), dim3(2), dim3(128), arguments, 0, 0));
	HIP(hipEventCreate(&start));
	HIP(hipEventCreate(&stop));
	hipExtLaunchKernelGGL(apply<int, 1>, dim3(1), dim3(256), 0, 0, start, stop, 0, data.at, how, count);
	HIP_LAUNCHED();
	HIP(hipEventSynchronize(stop));
	HIP(hipEventElapsedTime(&ms, start, stop));
	CHECK(ms >= 0);
	HIP(hipEventDestroy(start));
	HIP(hipEventDestroy(stop));
	int want = 7;

	for (int i = 0; i < 5; i++)
		want = want * 3 - 4;
	for (int value : data.read())
		wrong += value != want;
	CHECK_EQ(wrong, 0);
}

static void sizes()
{
	gpu_array<int> out(1);
	hipFuncAttributes attributes;
	int blocks = 0, threads = 0;

	nothing<<<1, 64>>>();
	HIP_LAUNCHED();
	nothing<<<1, 65>>>();
	CHECK(hipGetLastError() != hipSuccess);
	HIP(hipFuncGetAttributes(&attributes, reinterpret_cast<const void *>(nothing)));
	CHECK_EQ(attributes.maxThreadsPerBlock, 64);
	CHECK_EQ(attributes.constSizeBytes, sizeof(offsets)); /* all that the program's file has */
	HIP(hipFuncGetAttributes(&attributes, apply<int, 1>));
	CHECK_EQ(attributes.maxThreadsPerBlock, 256);
	HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, apply<int, 1>, 256, 0));
	CHECK(blocks > 0);
	HIP(hipOccupancyMaxPotentialBlockSize(&blocks, &threads, apply<int, 1>));
	CHECK(blocks > 0 && threads > 0);
	dynamic_sum<<<1, 200, 200 * sizeof(int)>>>(out.at);
	CHECK_EQ(out.read()[0], 200 * 199 / 2);
	one_of<<<1, 1>>>(out.at);
	HIP_LAUNCHED();
	CHECK_EQ(out.read()[0], 0);
}

/* In three steps, as compilers did of old: each thread has arguments of its own, and each launch. */
static void in_steps()
{
	gpu_array<int> data(std::vector<int>(COUNT, 1));
	const affine how = {3, 10};
	const unsigned count = COUNT;

	for (int i = 0; i < 2; i++) {
		HIP(hipConfigureCall(dim3(COUNT / 64), dim3(64), 0, nullptr));
		HIP(hipSetupArgument(&data.at, sizeof(data.at), 0));
		HIP(hipSetupArgument(&how, sizeof(how), 8));
		HIP(hipSetupArgument(&count, sizeof(count), 8 + sizeof(how)));
		HIP(hipLaunchByPtr(reinterpret_cast<const void *>(apply<int, 5>)));
	}
	HIP(hipDeviceSynchronize());
	for (int v : data.read())
		if (!CHECK_EQ(v, (1 * 3 + 15) * 3 + 15))
			break;
}

__global__ void size_of_block(unsigned *out)
{
	atomicAdd(out, 1);
	out[1] = blockDim.x;
}

/* A grid in threads: whole blocks of them, since clang compiles kernels for that; one block may be all of it. */
static void in_threads()
{
	gpu_array<unsigned> out(std::vector<unsigned>(2, 0));
	void *args[] = {&out.at};
	hipFunction_t function = nullptr; /* .so.5 does not tell it */
	std::vector<unsigned> got;

#if TUFF_HIP_ABI >= 6
	HIP(hipGetFuncBySymbol(&function, (const void *)size_of_block));
#endif
	if (!function) {
		CHECK_EQ(hipExtModuleLaunchKernel(function, 64, 1, 1, 64, 1, 1, 0, 0, args, nullptr),
			 hipErrorInvalidResourceHandle);
		return;
	}
	HIP(hipExtModuleLaunchKernel(function, 192, 1, 1, 64, 1, 1, 0, 0, args, nullptr));
	got = out.read();
	CHECK_EQ(got[0], 192);
	CHECK_EQ(got[1], 64);
	HIP(hipExtModuleLaunchKernel(function, 20, 2, 1, 64, 1, 1, 0, 0, args, nullptr));
	got = out.read();
	CHECK_EQ(got[0], 192 + 40);
	CHECK_EQ(got[1], 20);
	CHECK_EQ(hipExtModuleLaunchKernel(function, 100, 1, 1, 64, 1, 1, 0, 0, args, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipExtModuleLaunchKernel(function, 64, 3, 1, 64, 2, 1, 0, 0, args, nullptr), hipErrorInvalidValue);
	CHECK_EQ(hipExtModuleLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, 0, args, nullptr), hipErrorInvalidValue);
}

/* Each level has its own array, and what it needs of it behind the call. */
__device__ __attribute__((noinline)) unsigned descend(unsigned level, unsigned seed)
{
	volatile unsigned own[32];
	unsigned sum = 0;

	for (unsigned i = 0; i < 32; i++)
		own[i] = seed + i;
	if (level)
		sum = descend(level - 1, seed * 3 + 1);
	for (unsigned i = 0; i < 32; i++)
		sum += own[i];
	return sum;
}

__global__ void fall(unsigned *out, unsigned levels)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = descend(levels, i);
}

/* A function that calls itself has room: 60 levels of 128 bytes and some, by default. */
static void deep()
{
	const unsigned levels = 60;
	gpu_array<unsigned> out(std::vector<unsigned>(64 * 16, 0));
	unsigned wrong = 0;

	fall<<<16, 64>>>(out.at, levels);
	HIP_LAUNCHED();
	std::vector<unsigned> got = out.read();
	for (unsigned i = 0; i < got.size(); i++) {
		unsigned sum = 0;

		for (unsigned level = 0, seed = i; level <= levels; level++, seed = seed * 3 + 1)
			sum += seed * 32 + 31 * 16;
		wrong += got[i] != sum;
	}
	CHECK_EQ(wrong, 0);
}

/* GFX12 counts workgroups in y and z with 16 bits: a launch and a node of a graph are refused alike. */
static void many_in_y()
{
	hipKernelNodeParams p = {};
	hipDeviceProp_t properties;
	hipGraphNode_t node;
	hipError_t want, got;
	hipGraph_t graph;

	HIP(hipGetDeviceProperties(&properties, 0));
	want = strncmp(properties.gcnArchName, "gfx12", 5) ? hipSuccess : hipErrorInvalidValue;
	p.func = reinterpret_cast<void *>(nothing);
	p.blockDim = dim3(1);
	HIP(hipGraphCreate(&graph, 0));
	for (dim3 grid : {dim3(1, 65536), dim3(1, 1, 65536), dim3(1, 65535, 2)}) {
		if (grid.y == 65535)
			want = hipSuccess;
		nothing<<<grid, 1>>>();
		got = hipGetLastError();
		CHECK_EQ(got, want);
		p.gridDim = grid;
		got = hipGraphAddKernelNode(&node, graph, nullptr, 0, &p);
		CHECK_EQ(got, want);
		(void)hipGetLastError();
	}
	HIP(hipGraphDestroy(graph));
	HIP(hipDeviceSynchronize());
}

int main()
{
	many_in_y();
	deep();
	ways();
	in_steps();
	in_threads();
	sizes();
	return check_done("ways to launch a kernel");
}
