/* Random graphs: nodes of all kinds with random dependencies, in parents and children, against the expected
 * results. Each node reads the results of its predecessors, so one that begins too early gives another result. And
 * branches that can end only if they run at the same time. */
#include <atomic>
#include <random>
#include <thread>

#include "tests/clients/hip/hip.h"

#define NODES    48
#define LAUNCHES 3
#define INPUTS   12

enum kind { KERNEL, COPY, FILL, HOST, EMPTY, KINDS };

struct inputs {
	unsigned count, from[INPUTS];
};

struct host_call {
	unsigned *values;
	const inputs *table;
	unsigned node;
};

/* A thread's own, of the host's memory, which all GPUs reach. */
static thread_local unsigned *values;
static thread_local inputs *table;
static thread_local host_call *calls;

__host__ __device__ static unsigned mix(const unsigned *at, const inputs &in, unsigned node)
{
	unsigned value = node + 1;

	for (unsigned i = 0; i < in.count; i++)
		value = value * 31 + at[in.from[i]];
	return value;
}

__global__ void combine(unsigned *at, const inputs *in, unsigned node, unsigned delay)
{
	for (unsigned i = 0; i < delay; i++)
		__builtin_amdgcn_s_sleep(8);
	at[node] = mix(at, in[node], node);
}

static void combine_on_host(void *arg)
{
	auto c = static_cast<const host_call *>(arg);

	c->values[c->node] = mix(c->values, c->table[c->node], c->node);
}

struct plan {
	kind kinds[NODES];
	bool disabled[NODES];
	int device[NODES];
	std::vector<unsigned> before[NODES];
	hipGraphNode_t node[NODES];
};

/* What it reads: those before it, and those before them, for what is behind a node is behind all that it is behind. */
static void fill_inputs(const plan &p, unsigned node)
{
	inputs &in = table[node];

	in.count = 0;
	for (unsigned b : p.before[node]) {
		if (in.count < INPUTS)
			in.from[in.count++] = b;
		for (unsigned bb : p.before[b])
			if (in.count < INPUTS)
				in.from[in.count++] = bb;
	}
}

static void add_node(plan &p, hipGraph_t graph, unsigned i, const std::vector<hipGraphNode_t> &before, unsigned delay)
{
	hipGraphNode_t *node = &p.node[i];
	hipKernelNodeParams kernel = {};
	hipMemsetParams fill = {};
	hipHostNodeParams host = {};
	void *args[] = {&values, &table, &i, &delay};

	HIP(hipSetDevice(p.device[i]));
	switch (p.kinds[i]) {
	case KERNEL:
		kernel.func = reinterpret_cast<void *>(combine);
		kernel.gridDim = kernel.blockDim = dim3(1);
		kernel.kernelParams = args;
		HIP(hipGraphAddKernelNode(node, graph, before.data(), before.size(), &kernel));
		break;
	case COPY:
		HIP(hipGraphAddMemcpyNode1D(node, graph, before.data(), before.size(), values + i,
					    values + p.before[i][0], sizeof(unsigned), hipMemcpyDefault));
		break;
	case FILL:
		fill.dst = values + i;
		fill.elementSize = 4;
		fill.width = fill.height = 1;
		fill.value = i;
		HIP(hipGraphAddMemsetNode(node, graph, before.data(), before.size(), &fill));
		break;
	case HOST:
		host.fn = combine_on_host;
		calls[i] = {values, table, i};
		host.userData = &calls[i];
		HIP(hipGraphAddHostNode(node, graph, before.data(), before.size(), &host));
		break;
	default:
		HIP(hipGraphAddEmptyNode(node, graph, before.data(), before.size()));
	}
}

static unsigned want(const plan &p, const unsigned *at, unsigned i)
{
	switch (p.disabled[i] ? EMPTY : p.kinds[i]) {
	case KERNEL:
	case HOST:
		return mix(at, table[i], i);
	case COPY:
		return at[p.before[i][0]];
	case FILL:
		return i;
	default:
		return 0;
	}
}

/* Those in the middle third are a child's. kernels: nearly all are. */
static hipGraph_t draw(plan &p, std::mt19937 &random, int devices, bool kernels)
{
	const unsigned first = NODES / 3, last = 2 * NODES / 3;
	std::vector<hipGraphNode_t> before;
	hipGraphNode_t child_node = nullptr;
	hipGraph_t graph, child;

	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphCreate(&child, 0));
	for (unsigned i = 0; i < NODES; i++) {
		bool in_child = i >= first && i < last;
		unsigned from = in_child ? first : 0, count = random() % 4;

		p.kinds[i] = kernels && random() % 8 ? KERNEL : static_cast<kind>(random() % KINDS);
		p.device[i] = static_cast<int>(random() % static_cast<unsigned>(devices));
		p.disabled[i] = false;
		p.before[i].clear();
		before.clear();
		for (unsigned k = 0; k < count && i > from; k++) {
			unsigned b = from + static_cast<unsigned>(random() % (i - from));
			bool again = false;

			for (unsigned other : p.before[i])
				again = again || other == b;
			/* Out of the parent's first part, or behind the child as a whole. */
			if (again || (i >= last && b >= first && b < last))
				continue;
			p.before[i].push_back(b);
			before.push_back(p.node[b]);
		}
		if (p.kinds[i] == COPY && p.before[i].empty())
			p.kinds[i] = KERNEL;
		if (i == last) {
			/* The child is behind one node, and one is behind the child. */
			HIP(hipGraphAddChildGraphNode(&child_node, graph, &p.node[0], 1, child));
			before.push_back(child_node);
		}
		fill_inputs(p, i);
		if (i == last)
			table[i].from[table[i].count < INPUTS ? table[i].count++ : INPUTS - 1] = last - 1;
		if (in_child && p.before[i].empty())
			table[i] = {1, {0}};
		add_node(p, in_child ? child : graph, i, before, random() % 3 ? 0 : 400);
	}
	HIP(hipGraphDestroy(child));
	return graph;
}

static void switch_some_off(plan &p, hipGraphExec_t exec, std::mt19937 &random)
{
	for (unsigned i = 0; i < NODES; i++) {
		bool in_child = i >= NODES / 3 && i < 2 * NODES / 3;

		if (in_child || p.kinds[i] == HOST || p.kinds[i] == EMPTY)
			continue;
		p.disabled[i] = random() % 4 == 0;
		HIP(hipGraphNodeSetEnabled(exec, p.node[i], !p.disabled[i]));
	}
}

static void at_random(unsigned seed, int devices)
{
	std::mt19937 random(seed);
	unsigned model[NODES], wrong = 0;
	hipGraphExec_t exec;
	hipStream_t stream;
	plan p;
	hipGraph_t graph = draw(p, random, devices, seed % 2);

	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipSetDevice(static_cast<int>(seed / 2) % devices));
	HIP(hipStreamCreate(&stream));
	for (unsigned launch = 0; launch < LAUNCHES; launch++) {
		if (launch)
			switch_some_off(p, exec, random);
		for (unsigned i = 0; i < NODES; i++)
			values[i] = 0;
		HIP(hipGraphLaunch(exec, stream));
		HIP(hipStreamSynchronize(stream));
		for (unsigned i = 0; i < NODES; i++) {
			model[i] = 0;
			model[i] = want(p, model, i);
			if (values[i] != model[i] && !wrong++)
				printf("  seed %u, launch %u, node %u of kind %d: %u, not %u\n", seed, launch, i, p.kinds[i],
				       values[i], model[i]);
		}
	}
	CHECK_EQ(wrong, 0);
	HIP(hipStreamDestroy(stream));
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

/* --- at the same time ------------------------------------------------------------------------- */

__global__ void meet(unsigned *mine, unsigned *other)
{
	__hip_atomic_store(mine, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
	while (!__hip_atomic_load(other, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
		__builtin_amdgcn_s_sleep(8);
}

static void meet_on_host(void *arg)
{
	auto at = static_cast<std::atomic<unsigned> *>(arg);

	at[1] = 1;
	while (!at[0])
		continue;
}

static hipGraphNode_t add_meeting(hipGraph_t graph, int device, const hipGraphNode_t *before, unsigned *mine,
				  unsigned *other)
{
	void *args[] = {&mine, &other};
	hipKernelNodeParams p = {};
	hipGraphNode_t node;

	HIP(hipSetDevice(device));
	p.func = reinterpret_cast<void *>(meet);
	p.gridDim = p.blockDim = dim3(1);
	p.kernelParams = args;
	HIP(hipGraphAddKernelNode(&node, graph, before, before ? 1 : 0, &p));
	return node;
}

/* Behind one node a kernel and a host function, a kernel on each device, two kernels on the last. */
static void beside_each_other(int devices)
{
	hipHostNodeParams host = {meet_on_host, values};
	hipGraphNode_t first, node;
	hipGraphExec_t exec;
	hipStream_t stream;
	hipGraph_t graph;

	for (unsigned i = 0; i < 6; i++)
		values[i] = 0;
	HIP(hipGraphCreate(&graph, 0));
	HIP(hipGraphAddEmptyNode(&first, graph, nullptr, 0));
	add_meeting(graph, 0, &first, values, values + 1);
	HIP(hipGraphAddHostNode(&node, graph, &first, 1, &host));
	add_meeting(graph, 0, &first, values + 2, values + 3);
	add_meeting(graph, devices - 1, &first, values + 3, values + 2);
	add_meeting(graph, devices - 1, &first, values + 4, values + 5);
	add_meeting(graph, devices - 1, &first, values + 5, values + 4);
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipSetDevice(0));
	HIP(hipStreamCreate(&stream));
	HIP(hipGraphLaunch(exec, stream));
	HIP(hipStreamSynchronize(stream));
	for (unsigned i = 0; i < 6; i++)
		CHECK_EQ(values[i], 1);
	HIP(hipStreamDestroy(stream));
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

static void run(unsigned first, unsigned seeds, int devices)
{
	HIP(hipHostMalloc(reinterpret_cast<void **>(&values), NODES * sizeof(*values), hipHostMallocPortable));
	HIP(hipHostMalloc(reinterpret_cast<void **>(&table), NODES * sizeof(*table), hipHostMallocPortable));
	calls = new host_call[NODES];
	/* Alone: kernels that wait for each other in turn need a hardware queue each. */
	if (!first)
		beside_each_other(devices);
	for (unsigned i = 0; i < seeds; i++)
		at_random(first + i, devices);
	delete[] calls;
	HIP(hipHostFree(table));
	HIP(hipHostFree(values));
}

int main()
{
	std::vector<std::thread> threads;
	int devices;

	HIP(hipGetDeviceCount(&devices));
	run(0, 12, devices);
	for (unsigned i = 0; i < 4; i++)
		threads.emplace_back(run, 100 + 4 * i, 4, devices);
	for (std::thread &t : threads)
		t.join();
	return check_done("graphs at random");
}
