/* Eight threads use one device at once, each with every family: streams, events, pools, copies, launches, symbols,
 * a graph, a module's functions, textures. What each computes is checked. */
#include <thread>

#include "tests/clients/hip/hip.h"

#define THREADS 8u
#define ROUNDS  6u
#define COUNT   512u

__device__ unsigned cells[THREADS];
__constant__ unsigned terms[THREADS];

__global__ void affine(unsigned *data, unsigned factor, unsigned me)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	data[i] = data[i] * factor + terms[me];
	if (!i)
		atomicAdd(&cells[me], 1u);
}

__global__ void fetch(unsigned *out, hipTextureObject_t texture)
{
	out[threadIdx.x] = tex1Dfetch<unsigned>(texture, (int)threadIdx.x);
}

/* A thread's own: CHECK is for one thread, so errors are counted. */
struct worker {
	unsigned me, wrong = 0, launches = 0;
	hipStream_t stream = NULL;
	unsigned *data = NULL;

	void must(hipError_t result)
	{
		wrong += result != hipSuccess;
	}
	void launch(unsigned factor)
	{
		affine<<<COUNT / 64, 64, 0, stream>>>(data, factor, me);
		must(hipGetLastError());
	}
	void expect(const unsigned *at, unsigned want, unsigned count = COUNT)
	{
		std::vector<unsigned> got(COUNT);

		must(hipMemcpyAsync(got.data(), at, count * 4, hipMemcpyDeviceToHost, stream));
		must(hipStreamSynchronize(stream));
		for (unsigned i = 0; i < count; i++)
			wrong += got[i] != want;
	}
	void launched()
	{
		hipEvent_t begin, end;
		float ms;

		must(hipEventCreate(&begin));
		must(hipEventCreate(&end));
		must(hipMemsetD32Async((hipDeviceptr_t)data, (int)me, COUNT, stream));
		must(hipEventRecord(begin, stream));
		launch(2);
		must(hipEventRecord(end, stream));
		must(hipEventSynchronize(end));
		must(hipEventElapsedTime(&ms, begin, end));
		expect(data, me * 2 + me + 100);
		launches++;
		must(hipEventDestroy(begin));
		must(hipEventDestroy(end));
	}
	void symbols()
	{
		unsigned count;

		must(hipMemcpyFromSymbol(&count, HIP_SYMBOL(cells), 4, me * 4, hipMemcpyDeviceToHost));
		wrong += count != launches;
	}
	void pooled()
	{
		unsigned *memory;

		must(hipMallocAsync((void **)&memory, COUNT * 4, stream));
		must(hipMemsetD32Async((hipDeviceptr_t)memory, (int)(me + 7), COUNT, stream));
		expect(memory, me + 7);
		must(hipFreeAsync(memory, stream));
	}
	void captured()
	{
		hipGraph_t graph;
		hipGraphExec_t exec;

		must(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
		must(hipMemsetD32Async((hipDeviceptr_t)data, 1, COUNT, stream));
		launch(3);
		must(hipStreamEndCapture(stream, &graph));
		must(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
		must(hipGraphLaunch(exec, stream));
		expect(data, 3 + me + 100);
		launches++;
		must(hipGraphExecDestroy(exec));
		must(hipGraphDestroy(graph));
	}
	void textured()
	{
		hipResourceDesc what = {};
		hipTextureDesc how = {};
		hipTextureObject_t texture;
		unsigned *out;

		must(hipMalloc((void **)&out, 256));
		must(hipMemsetD32Async((hipDeviceptr_t)data, (int)(me + 9), COUNT, stream));
		what.resType = hipResourceTypeLinear;
		what.res.linear.devPtr = data;
		what.res.linear.desc = hipCreateChannelDesc<unsigned>();
		what.res.linear.sizeInBytes = COUNT * 4;
		how.readMode = hipReadModeElementType;
		must(hipCreateTextureObject(&texture, &what, &how, NULL));
		fetch<<<1, 64, 0, stream>>>(out, texture);
		must(hipGetLastError());
		expect(out, me + 9, 64);
		must(hipDestroyTextureObject(texture));
		must(hipFree(out));
	}
	void pinned()
	{
		unsigned *host;

		must(hipHostMalloc((void **)&host, COUNT * 4, 0));
		for (unsigned i = 0; i < COUNT; i++)
			host[i] = me;
		must(hipMemcpyAsync(data, host, COUNT * 4, hipMemcpyHostToDevice, stream));
		expect(data, me);
		must(hipHostFree(host));
	}
	void run(unsigned number)
	{
		unsigned term = number + 100;

		me = number;
		must(hipMalloc((void **)&data, COUNT * 4));
		must(hipMemcpyToSymbol(HIP_SYMBOL(terms), &term, 4, me * 4, hipMemcpyHostToDevice));
		for (unsigned round = 0; round < ROUNDS; round++) {
			must(hipStreamCreateWithFlags(&stream,
						      round & 1 ? hipStreamNonBlocking : hipStreamDefault));
			launched();
			pooled();
			/* While a blocking stream captures, the null stream, which others copy in, may not be used. */
			if (round & 1)
				captured();
			textured();
			pinned();
			symbols();
			must(hipStreamDestroy(stream));
		}
		must(hipFree(data));
	}
};

int main()
{
	std::vector<std::thread> threads;
	worker workers[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		threads.emplace_back([&workers, i] { workers[i].run(i); });
	for (std::thread &thread : threads)
		thread.join();
	for (const worker &w : workers)
		CHECK_EQ(w.wrong, 0);
	HIP(hipDeviceSynchronize());
	return check_done("eight threads with all of HIP");
}
