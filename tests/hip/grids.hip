/* Cooperative launches: what they refuse, from several threads, in a graph, and after a reset. */
#include <hip/hip_cooperative_groups.h>
#include <thread>

#include "tests/clients/hip/hip.h"

namespace cg = cooperative_groups;

#define THREADS 128u
#define ROUNDS  4u

/* Each thread's number moves on by a block, as often as there are rounds. */
__global__ void around(unsigned *from, unsigned *to, unsigned rounds)
{
	cg::grid_group grid = cg::this_grid();
	unsigned me = grid.thread_rank();

	for (unsigned i = 0; i < rounds; i++) {
		to[me] = from[(me + blockDim.x) % grid.size()] + 1;
		grid.sync();
		from[me] = to[me];
		grid.sync();
	}
}

struct ring {
	unsigned blocks, rounds = ROUNDS, passed = 0;
	gpu_array<unsigned> from, to;
	void *arguments[3];

	explicit ring(unsigned n)
	    : blocks(n), from(numbers(n)), to(n * THREADS), arguments{&from.at, &to.at, &rounds}
	{
	}
	static std::vector<unsigned> numbers(unsigned n)
	{
		std::vector<unsigned> all(n * THREADS);

		for (unsigned i = 0; i < all.size(); i++)
			all[i] = i;
		return all;
	}
	hipError_t launch(hipStream_t stream)
	{
		return hipLaunchCooperativeKernel((const void *)around, dim3(blocks), dim3(THREADS), arguments, 0,
						  stream);
	}
	unsigned wrong(unsigned launches) const
	{
		const unsigned all = blocks * THREADS, rounds = launches * ROUNDS;
		std::vector<unsigned> got = from.read();
		unsigned n = 0;

		for (unsigned i = 0; i < all; i++)
			n += got[i] != (i + rounds * THREADS) % all + rounds;
		return n;
	}
};

static void refused()
{
	hipDeviceProp_t props;
	ring r(2);

	HIP(hipGetDeviceProperties(&props, 0));
	CHECK_EQ(hipLaunchCooperativeKernel((const void *)nullptr, dim3(1), dim3(1), r.arguments, 0, 0),
		 hipErrorInvalidDeviceFunction);
	CHECK_EQ(hipLaunchCooperativeKernel((const void *)around, dim3(0), dim3(64), r.arguments, 0, 0),
		 hipErrorInvalidValue);
	CHECK_EQ(hipLaunchCooperativeKernel((const void *)around, dim3(1), dim3(64), r.arguments,
					    (unsigned)props.sharedMemPerBlock + 1, 0),
		 hipErrorCooperativeLaunchTooLarge);
	CHECK_EQ(hipLaunchCooperativeKernel((const void *)around, dim3(0x7fffffff), dim3(1), r.arguments, 0, 0),
		 hipErrorCooperativeLaunchTooLarge);
	CHECK_EQ(hipLaunchCooperativeKernelMultiDevice(nullptr, 1, 0), hipErrorInvalidValue);
	(void)hipGetLastError();
	HIP(r.launch(0));
	HIP(hipDeviceSynchronize());
	CHECK_EQ(r.wrong(1), 0);
}

/* By its handle, alone and as a set of one device. */
static void of_a_module()
{
	hipFunction_t function;
	hipStream_t stream;
	ring r(4);

	HIP(hipStreamCreate(&stream));
	HIP(hipGetFuncBySymbol(&function, (const void *)around));
	HIP(hipModuleLaunchCooperativeKernel(function, 4, 1, 1, THREADS, 1, 1, 0, stream, r.arguments));
	hipFunctionLaunchParams set = {function, 4, 1, 1, THREADS, 1, 1, 0, stream, r.arguments};
	HIP(hipModuleLaunchCooperativeKernelMultiDevice(&set, 1, 0));
	HIP(hipStreamSynchronize(stream));
	CHECK_EQ(r.wrong(2), 0);
	set.hStream = 0;
	CHECK_EQ(hipModuleLaunchCooperativeKernelMultiDevice(&set, 1, 0), hipErrorInvalidResourceHandle);
	(void)hipGetLastError();
	HIP(hipStreamDestroy(stream));
}

static void by_threads()
{
	unsigned wrong[3] = {1, 1, 1};
	std::vector<std::thread> threads;

	for (unsigned t = 0; t < 3; t++)
		threads.emplace_back([&wrong, t] {
			hipStream_t stream;
			ring r(3 + 2 * t);
			hipError_t e = hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);

			for (unsigned i = 0; i < 8 && !e; i++)
				e = r.launch(stream);
			if (!e)
				e = hipStreamSynchronize(stream);
			wrong[t] = e ? 1 : r.wrong(8);
			(void)hipStreamDestroy(stream);
		});
	for (std::thread &t : threads)
		t.join();
	CHECK_EQ(wrong[0] + wrong[1] + wrong[2], 0);
}

static void in_a_graph()
{
	hipGraph_t graph;
	hipGraphExec_t exec;
	hipStream_t stream;
	ring r(5);

	HIP(hipStreamCreate(&stream));
	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	HIP(r.launch(stream));
	HIP(r.launch(stream));
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	CHECK_EQ(r.wrong(0), 0);
	HIP(hipGraphLaunch(exec, stream));
	HIP(hipGraphLaunch(exec, stream));
	HIP(hipStreamSynchronize(stream));
	CHECK_EQ(r.wrong(4), 0);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
	HIP(hipStreamDestroy(stream));
}

int main()
{
	refused();
	of_a_module();
	by_threads();
	in_a_graph();
	HIP(hipDeviceReset());
	refused();
	return check_done("cooperative launches");
}
