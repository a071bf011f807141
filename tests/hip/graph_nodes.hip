/* Graphs made by hand: every kind of node, what they were made with, edges, clones, children, changes of instances. */
#include <atomic>
#include <string>
#include <unistd.h>

#include "tests/clients/hip/hip.h"

#define COUNT 1024u

__device__ unsigned device_word;

__global__ void add(unsigned *data, unsigned term)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] += term;
}

/* Has more registers than a workgroup of 1024 gets. */
__global__ void many_registers(unsigned *data)
{
	asm volatile("" ::: "v255");
	atomicAdd(data, 1);
}

__global__ void multiply(unsigned *data, unsigned factor)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}

struct graph {
	hipGraph_t at;
	graph()
	{
		HIP(hipGraphCreate(&at, 0));
	}
	~graph()
	{
		HIP(hipGraphDestroy(at));
	}
	operator hipGraph_t() const
	{
		return at;
	}
};

struct exec {
	hipGraphExec_t at;
	explicit exec(hipGraph_t graph)
	{
		HIP(hipGraphInstantiate(&at, graph, nullptr, nullptr, 0));
	}
	~exec()
	{
		HIP(hipGraphExecDestroy(at));
	}
	operator hipGraphExec_t() const
	{
		return at;
	}
	void run() const
	{
		HIP(hipGraphLaunch(at, nullptr));
		HIP(hipStreamSynchronize(nullptr));
	}
};

/* A kernel over COUNT words with a number. */
struct kernel {
	unsigned *data, number;
	void *args[2];
	hipKernelNodeParams params = {};
	kernel(void (*function)(unsigned *, unsigned), unsigned *at, unsigned n)
	    : data(at), number(n), args{&data, &number}
	{
		params.func = (void *)function;
		params.gridDim = dim3(COUNT / 256);
		params.blockDim = dim3(256);
		params.kernelParams = args;
	}
	hipGraphNode_t into(hipGraph_t graph, std::vector<hipGraphNode_t> behind = {})
	{
		hipGraphNode_t node = nullptr;

		HIP(hipGraphAddKernelNode(&node, graph, behind.data(), behind.size(), &params));
		return node;
	}
};

static bool all_are(const gpu_array<unsigned> &array, unsigned value)
{
	for (unsigned word : array.read())
		if (!CHECK_EQ(word, value))
			return false;
	return true;
}

static void zero(const gpu_array<unsigned> &array)
{
	HIP(hipMemset(array.at, 0, array.count * 4));
	HIP(hipDeviceSynchronize());
}

/* Arguments are those of when the node was made, or last changed. */
static void kernels()
{
	gpu_array<unsigned> a(COUNT);
	graph g;
	kernel k(add, a.at, 3), other(multiply, a.at, 5);
	hipGraphNode_t node = k.into(g), second = other.into(g, {node});
	hipKernelNodeParams back = {};
	hipGraphNodeType type;

	zero(a);
	k.number = 100;
	exec e(g);
	e.run();
	all_are(a, 15);
	HIP(hipGraphKernelNodeGetParams(node, &back));
	CHECK(back.func == (void *)add && back.gridDim.x == COUNT / 256 && back.blockDim.x == 256);
	CHECK_EQ(*(unsigned *)back.kernelParams[1], 3);
	CHECK(*(unsigned **)back.kernelParams[0] == a.at);
	HIP(hipGraphNodeGetType(second, &type));
	CHECK_EQ(type, hipGraphNodeTypeKernel);
	/* The instance is changed; the graph is as it was, and the other way round. */
	HIP(hipGraphExecKernelNodeSetParams(e, node, &k.params));
	zero(a);
	e.run();
	all_are(a, 500);
	HIP(hipGraphKernelNodeGetParams(node, &back));
	CHECK_EQ(*(unsigned *)back.kernelParams[1], 3);
	k.number = 7;
	HIP(hipGraphKernelNodeSetParams(node, &k.params));
	zero(a);
	e.run();
	all_are(a, 500);
	exec later(g);
	zero(a);
	later.run();
	all_are(a, 35);
	/* Not enabled. */
	unsigned enabled = 9;
	HIP(hipGraphNodeGetEnabled(later, second, &enabled));
	CHECK_EQ(enabled, 1);
	HIP(hipGraphNodeSetEnabled(later, second, 0));
	HIP(hipGraphNodeGetEnabled(later, second, &enabled));
	CHECK_EQ(enabled, 0);
	zero(a);
	later.run();
	all_are(a, 7);
	/* Packed arguments. */
	struct {
		unsigned *data;
		unsigned number;
	} packed = {a.at, 11};
	size_t size = sizeof(packed);
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
			 HIP_LAUNCH_PARAM_END};
	k.params.kernelParams = nullptr;
	k.params.extra = extra;
	HIP(hipGraphExecKernelNodeSetParams(later, node, &k.params));
	zero(a);
	later.run();
	all_are(a, 11);
	k.params.kernelParams = k.args;
	CHECK_EQ(hipGraphExecKernelNodeSetParams(later, node, &k.params), hipErrorInvalidValue);
	k.params.extra = nullptr;
	k.params.blockDim = dim3(0);
	CHECK_EQ(hipGraphExecKernelNodeSetParams(later, node, &k.params), hipErrorInvalidValue);
	hipLaunchAttributeValue value = {}, got = {};
	value.priority = 1;
	HIP(hipGraphKernelNodeSetAttribute(node, hipLaunchAttributePriority, &value));
	HIP(hipGraphKernelNodeCopyAttributes(node, second));
	HIP(hipGraphKernelNodeGetAttribute(second, hipLaunchAttributePriority, &got));
	CHECK_EQ(got.priority, 1);
	value.cooperative = 2; /* any number but 0 */
	HIP(hipGraphKernelNodeSetAttribute(node, hipLaunchAttributeCooperative, &value));
	HIP(hipGraphKernelNodeGetAttribute(node, hipLaunchAttributeCooperative, &got));
	CHECK_EQ(got.cooperative, 2);
	value = {};
	value.accessPolicyWindow.hitRatio = 0.5f;
	HIP(hipGraphKernelNodeSetAttribute(node, hipLaunchAttributeAccessPolicyWindow, &value));
	value.accessPolicyWindow.num_bytes = 1; /* the device's largest window has none */
	CHECK_EQ(hipGraphKernelNodeSetAttribute(node, hipLaunchAttributeAccessPolicyWindow, &value), hipErrorInvalidValue);
	value.accessPolicyWindow.num_bytes = 0;
	value.accessPolicyWindow.hitRatio = 1.5f;
	CHECK_EQ(hipGraphKernelNodeSetAttribute(node, hipLaunchAttributeAccessPolicyWindow, &value), hipErrorInvalidValue);
	CHECK_EQ(hipGraphKernelNodeGetAttribute(second, (hipLaunchAttributeID)99, &got), hipErrorInvalidValue);
	CHECK_EQ(hipGetLastError(), hipErrorInvalidValue);
}

/* A node is refused as the launch of its kernel is; the stream takes what is launched afterwards. */
static void registers_that_do_not_fit()
{
	const unsigned most = 64;
	gpu_array<unsigned> x(std::vector<unsigned>(1, 0));
	unsigned *at = x.at;
	void *args[] = {&at};
	hipKernelNodeParams params = {};
	hipFuncAttributes attributes;
	hipGraphNode_t node;
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP(hipFuncGetAttributes(&attributes, (const void *)many_registers));
	CHECK(attributes.maxThreadsPerBlock >= (int)most && attributes.maxThreadsPerBlock < 1024);
	many_registers<<<1, 1024>>>(at);
	CHECK_EQ(hipGetLastError(), hipErrorInvalidValue);
	HIP(hipGraphCreate(&graph, 0));
	params.func = (void *)many_registers;
	params.gridDim = dim3(1);
	params.blockDim = dim3(1024);
	params.kernelParams = args;
	CHECK_EQ(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params), hipErrorInvalidValue);
	params.blockDim = dim3(most);
	HIP(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	params.blockDim = dim3(1024);
	CHECK_EQ(hipGraphExecKernelNodeSetParams(exec, node, &params), hipErrorInvalidValue);
	CHECK_EQ(hipGetLastError(), hipErrorInvalidValue);
	HIP(hipGraphLaunch(exec, nullptr));
	many_registers<<<1, attributes.maxThreadsPerBlock>>>(at);
	HIP_LAUNCHED();
	CHECK_EQ(x.read()[0], most + (unsigned)attributes.maxThreadsPerBlock);
	HIP(hipGraphExecDestroy(exec));
	HIP(hipGraphDestroy(graph));
}

static void copies_and_fills()
{
	gpu_array<unsigned> a(COUNT), b(COUNT);
	std::vector<unsigned> in(COUNT, 5), out(COUNT);
	graph g;
	hipGraphNode_t fill, copy, back, to, from, box;
	hipMemsetParams set = {}, got = {};
	unsigned word = 77, word_back = 0;

	set.dst = a.at;
	set.elementSize = 4;
	set.width = COUNT;
	set.height = 1;
	set.value = 0x01020304;
	HIP(hipGraphAddMemsetNode(&fill, g, nullptr, 0, &set));
	HIP(hipGraphMemsetNodeGetParams(fill, &got));
	CHECK(got.dst == a.at && got.elementSize == 4 && got.width == COUNT && got.height == 1);
	CHECK_EQ(got.value, 0x01020304);
	HIP(hipGraphAddMemcpyNode1D(&copy, g, &fill, 1, b.at, a.at, COUNT * 4, hipMemcpyDeviceToDevice));
	HIP(hipGraphAddMemcpyNode1D(&back, g, &copy, 1, out.data(), b.at, COUNT * 4, hipMemcpyDeviceToHost));
	HIP(hipGraphAddMemcpyNodeToSymbol(&to, g, nullptr, 0, (const void *)&device_word, &word, 4, 0,
					  hipMemcpyHostToDevice));
	HIP(hipGraphAddMemcpyNodeFromSymbol(&from, g, &to, 1, &word_back, (const void *)&device_word, 4, 0,
					    hipMemcpyDeviceToHost));
	exec e(g);
	e.run();
	for (unsigned value : out)
		if (!CHECK_EQ(value, 0x01020304))
			break;
	CHECK_EQ(word_back, 77);
	/* Other sources for the instance. */
	gpu_array<unsigned> fives(in);
	CHECK_EQ(hipGraphExecMemcpyNodeSetParams1D(e, copy, b.at, in.data(), COUNT * 4, hipMemcpyHostToDevice),
		 hipErrorInvalidValue);
	HIP(hipGraphExecMemcpyNodeSetParams1D(e, copy, b.at, fives.at, COUNT * 4, hipMemcpyDeviceToDevice));
	/* Nothing to do, and another direction than the memory's. */
	CHECK_EQ(hipGraphMemcpyNodeSetParams1D(copy, b.at, b.at, COUNT * 4, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
	CHECK_EQ(hipGraphMemcpyNodeSetParamsToSymbol(to, (const void *)&device_word, &word, 4, 0, hipMemcpyDeviceToDevice),
		 hipErrorInvalidValue);
	(void)hipGetLastError();
	/* A fill stays as it is high. */
	set.height = 2;
	set.pitch = COUNT * 4;
	CHECK_EQ(hipGraphExecMemsetNodeSetParams(e, fill, &set), hipErrorInvalidValue);
	set.height = 1;
	set.elementSize = 1;
	set.value = 9;
	set.width = COUNT * 4;
	HIP(hipGraphExecMemsetNodeSetParams(e, fill, &set));
	e.run();
	CHECK_EQ(out[COUNT - 1], 5);
	CHECK_EQ(a.read()[3], 0x09090909);
	/* A rectangle in the middle of rows of 64 words. */
	hipMemcpy3DParms p = {}, q = {};
	p.srcPtr = make_hipPitchedPtr(in.data(), 256, 64, 16);
	p.dstPtr = make_hipPitchedPtr(a.at, 256, 64, 16);
	p.dstPos = make_hipPos(16, 2, 0);
	p.extent = make_hipExtent(32, 4, 1);
	p.kind = hipMemcpyHostToDevice;
	graph rectangle;
	HIP(hipGraphAddMemcpyNode(&box, rectangle, nullptr, 0, &p));
	HIP(hipGraphMemcpyNodeGetParams(box, &q));
	CHECK(q.dstPos.x == 16 && q.dstPos.y == 2 && q.extent.width == 32 && q.dstPtr.ptr == a.at);
	exec r(rectangle);
	r.run();
	std::vector<unsigned> words = a.read();
	unsigned found = 0;
	for (unsigned i = 0; i < COUNT; i++)
		found += words[i] == 5;
	CHECK_EQ(found, 32);
	CHECK(words[2 * 64 + 4] == 5 && words[5 * 64 + 11] == 5 && words[6 * 64 + 4] != 5);
	/* What the operations themselves refuse. */
	CHECK_EQ(hipGraphAddMemcpyNode1D(&copy, g, nullptr, 0, nullptr, a.at, 4, hipMemcpyDeviceToHost),
		 hipErrorInvalidValue);
	CHECK_EQ(hipGraphAddMemcpyNode1D(&copy, g, nullptr, 0, b.at, a.at, COUNT * 4 + 1, hipMemcpyDeviceToDevice),
		 hipErrorInvalidValue);
	set.elementSize = 3;
	CHECK_EQ(hipGraphAddMemsetNode(&fill, g, nullptr, 0, &set), hipErrorInvalidValue);
	CHECK_EQ(hipGraphMemsetNodeSetParams(to, &set), hipErrorInvalidValue);
	CHECK_EQ(hipGraphMemsetNodeGetParams(to, &got), hipErrorInvalidValue);
	(void)hipGetLastError();
}

static void append(void *user)
{
	static const char letters[] = "abc";
	static unsigned next;

	((std::string *)user)->push_back(letters[next++ % 3]);
}

/* A host function between kernels runs between them, each time. */
static void functions_and_events()
{
	std::string calls;
	graph g;
	hipHostNodeParams host = {append, &calls}, got = {};
	hipGraphNode_t call, record, wait, empty;
	hipEvent_t event, other, back;

	HIP(hipEventCreate(&event));
	HIP(hipEventCreate(&other));
	HIP(hipGraphAddHostNode(&call, g, nullptr, 0, &host));
	HIP(hipGraphHostNodeGetParams(call, &got));
	CHECK(got.fn == append && got.userData == &calls);
	HIP(hipGraphAddEmptyNode(&empty, g, &call, 1));
	HIP(hipGraphAddEventRecordNode(&record, g, &empty, 1, event));
	HIP(hipGraphAddEventWaitNode(&wait, g, &record, 1, event));
	HIP(hipGraphEventRecordNodeGetEvent(record, &back));
	CHECK(back == event);
	HIP(hipGraphEventWaitNodeGetEvent(wait, &back));
	CHECK(back == event);
	exec e(g);
	e.run();
	HIP(hipEventQuery(event));
	HIP(hipGraphExecEventRecordNodeSetEvent(e, record, other));
	e.run();
	e.run();
	float ms = -1;
	HIP(hipEventElapsedTime(&ms, event, other));
	CHECK(ms >= 0);
	CHECK_STR(calls.c_str(), "abc");
	host.fn = nullptr;
	CHECK_EQ(hipGraphHostNodeSetParams(call, &host), hipErrorInvalidValue);
	(void)hipGetLastError();
	HIP(hipEventDestroy(event));
	HIP(hipEventDestroy(other));
}

static size_t count_of(hipError_t (*list)(hipGraphNode_t, hipGraphNode_t *, size_t *), hipGraphNode_t node)
{
	size_t count = 99;

	HIP(list(node, nullptr, &count));
	return count;
}

/*  a -> b, a -> c, b -> d, c -> d  */
static void edges()
{
	graph g;
	hipGraphNode_t a, b, c, d, from[8], to[8], list[8];
	size_t count = 0;

	HIP(hipGraphAddEmptyNode(&a, g, nullptr, 0));
	HIP(hipGraphAddEmptyNode(&b, g, &a, 1));
	HIP(hipGraphAddEmptyNode(&c, g, &a, 1));
	HIP(hipGraphAddEmptyNode(&d, g, nullptr, 0));
	hipGraphNode_t ends[] = {b, c}, both[] = {d, d};
	HIP(hipGraphAddDependencies(g, ends, both, 2));
	CHECK_EQ(hipGraphAddDependencies(g, ends, both, 1), hipErrorInvalidValue); /* twice */
	CHECK_EQ(hipGraphAddDependencies(g, &a, &a, 1), hipErrorInvalidValue);
	HIP(hipGraphGetEdges(g, nullptr, nullptr, &count));
	CHECK_EQ(count, 4);
	count = 8;
	HIP(hipGraphGetEdges(g, from, to, &count));
	CHECK_EQ(count, 4);
	CHECK(from[0] == a && to[0] == b && from[7] == nullptr && to[4] == nullptr);
	count = 1;
	HIP(hipGraphGetRootNodes(g, list, &count));
	CHECK(count == 1 && list[0] == a);
	CHECK_EQ(count_of(hipGraphNodeGetDependencies, d), 2);
	CHECK_EQ(count_of(hipGraphNodeGetDependentNodes, a), 2);
	/* A circle is found when an instance is made. */
	hipGraphExec_t none = nullptr;
	hipGraphNode_t culprit = nullptr;
	char log[64] = "";
	HIP(hipGraphAddDependencies(g, &d, &a, 1));
	CHECK_EQ(hipGraphInstantiate(&none, g, &culprit, log, sizeof(log)), hipErrorInvalidValue);
	CHECK(culprit != nullptr && log[0]);
	HIP(hipGraphRemoveDependencies(g, &d, &a, 1));
	CHECK_EQ(hipGraphRemoveDependencies(g, &d, &a, 1), hipErrorInvalidValue);
	/* A list that is refused in its middle changes nothing. */
	hipGraphNode_t good_then_bad[] = {a, b, a}, their_ends[] = {d, c, d}, first[] = {b, c, b}, both_thrice[] = {d, d, d};
	CHECK_EQ(hipGraphAddDependencies(g, good_then_bad, their_ends, 3), hipErrorInvalidValue);
	HIP(hipGraphGetEdges(g, nullptr, nullptr, &count));
	CHECK_EQ(count, 4);
	CHECK_EQ(hipGraphRemoveDependencies(g, first, both_thrice, 3), hipErrorInvalidValue);
	HIP(hipGraphGetEdges(g, nullptr, nullptr, &count));
	CHECK_EQ(count, 4);
	{
		exec e(g);
		e.run();
	}
	HIP(hipGraphDestroyNode(b));
	CHECK_EQ(hipGraphDestroyNode(b), hipErrorInvalidValue);
	CHECK_EQ(count_of(hipGraphNodeGetDependencies, d), 1);
	HIP(hipGraphGetNodes(g, nullptr, &count));
	CHECK_EQ(count, 3);
	/* Nodes of another graph. */
	graph other;
	CHECK_EQ(hipGraphAddEmptyNode(&b, other, &a, 1), hipErrorInvalidValue);
	CHECK_EQ(hipGraphAddEmptyNode(&b, other, nullptr, 1), hipErrorInvalidValue);
	CHECK_EQ(hipGraphGetNodes((hipGraph_t)a, nullptr, &count), hipErrorInvalidValue);
	CHECK_EQ(hipGraphLaunch((hipGraphExec_t)-1, nullptr), hipErrorInvalidValue);
	(void)hipGetLastError();
}

/* hipGraphExecNodeSetParams() takes and refuses the same graphs for a child as the function for children alone. */
static void child_of_any_type(hipGraphExec_t e, hipGraphNode_t node)
{
	hipMemAllocNodeParams memory = {};
	hipGraphNodeParams params = {};
	hipGraphNode_t take;
	graph other;

	memory.poolProps.allocType = hipMemAllocationTypePinned;
	memory.poolProps.location.type = hipMemLocationTypeDevice;
	memory.bytesize = 4096;
	HIP(hipGraphAddMemAllocNode(&take, other, nullptr, 0, &memory));
	params.type = hipGraphNodeTypeGraph;
	params.graph.graph = other;
	CHECK_EQ(hipGraphExecChildGraphNodeSetParams(e, node, other), hipErrorUnknown);
	CHECK_EQ(hipGraphExecNodeSetParams(e, node, &params), hipErrorUnknown);
}

static void clones_and_children()
{
	gpu_array<unsigned> a(COUNT);
	kernel plus(add, a.at, 1), times(multiply, a.at, 10);
	graph inner, outer;
	hipGraphNode_t first = plus.into(inner), in_clone = nullptr, child, inside = nullptr;
	hipGraphNodeParams params = {};
	hipGraph_t clone, embedded;
	size_t count = 1;

	HIP(hipGraphClone(&clone, inner));
	HIP(hipGraphNodeFindInClone(&in_clone, first, clone));
	CHECK(in_clone && in_clone != first);
	CHECK_EQ(hipGraphNodeFindInClone(&inside, first, inner), hipErrorInvalidValue);
	/*  + 1, x 10, + 1  */
	HIP(hipGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
	hipGraphNode_t middle = times.into(outer, {child}), last;
	HIP(hipGraphAddChildGraphNode(&last, outer, &middle, 1, clone));
	HIP(hipGraphChildGraphNodeGetGraph(child, &embedded));
	CHECK_EQ(hipGraphDestroy(embedded), hipErrorInvalidValue);
	params.type = hipGraphNodeTypeGraph;
	params.graph.graph = inner;
	HIP(hipGraphNodeSetParams(child, &params));
	HIP(hipGraphChildGraphNodeGetGraph(child, &embedded));
	CHECK_EQ(hipGraphDestroy(embedded), hipErrorInvalidValue);
	HIP(hipGraphGetNodes(embedded, &inside, &count));
	exec e(outer);
	zero(a);
	e.run();
	all_are(a, 11);
	/* A node inside of the first child. */
	plus.number = 4;
	HIP(hipGraphExecKernelNodeSetParams(e, inside, &plus.params));
	zero(a);
	e.run();
	all_are(a, 41);
	/* All of the last child. */
	plus.number = 9;
	HIP(hipGraphKernelNodeSetParams(in_clone, &plus.params));
	HIP(hipGraphExecChildGraphNodeSetParams(e, last, clone));
	zero(a);
	e.run();
	all_are(a, 49);
	CHECK_EQ(hipGraphExecChildGraphNodeSetParams(e, last, outer), hipErrorUnknown);
	child_of_any_type(e, last);
	(void)hipGetLastError();
	HIP(hipGraphDestroy(clone));
}

/* Each graph is the child of the next one, until that is refused; and so is a child inside of the last. */
static void nested()
{
	gpu_array<unsigned> a(COUNT);
	kernel plus(add, a.at, 5);
	graph leaf;
	hipGraph_t at = leaf, outer = nullptr;
	hipGraphNode_t node, child;
	hipGraphExec_t instance;
	size_t one = 1;
	hipError_t r = hipSuccess;
	unsigned levels = 0;

	plus.into(leaf);
	for (;; levels++) {
		HIP(hipGraphCreate(&outer, 0));
		r = hipGraphAddChildGraphNode(&node, outer, nullptr, 0, at);
		if (r || levels > 1000)
			break;
		if (levels)
			HIP(hipGraphDestroy(at));
		at = outer;
	}
	CHECK_EQ(r, hipErrorNotSupported);
	CHECK_EQ(levels, 32);
	HIP(hipGraphDestroy(outer));
	zero(a);
	HIP(hipGraphInstantiate(&instance, at, nullptr, nullptr, 0));
	HIP(hipGraphLaunch(instance, nullptr));
	HIP(hipDeviceSynchronize());
	all_are(a, 5);
	HIP(hipGraphExecDestroy(instance));
	outer = at;
	for (unsigned i = 0; i < levels; i++) {
		HIP(hipGraphGetNodes(at, &node, &one));
		HIP(hipGraphChildGraphNodeGetGraph(node, &at));
	}
	CHECK_EQ(hipGraphAddChildGraphNode(&child, at, nullptr, 0, leaf), hipErrorNotSupported);
	(void)hipGetLastError();
	HIP(hipGraphDestroy(outer));
}

static void updates()
{
	gpu_array<unsigned> a(COUNT);
	kernel plus(add, a.at, 2), times(multiply, a.at, 3);
	graph g, same, longer, other_edges;
	hipGraphNode_t first = plus.into(g), culprit;
	hipGraphExecUpdateResult result;

	times.into(g, {first});
	exec e(g);
	plus.number = 5;
	/* Another function, too. */
	times.into(same, {plus.into(same)});
	zero(a);
	HIP(hipGraphExecUpdate(e, same, &culprit, &result));
	CHECK_EQ(result, hipGraphExecUpdateSuccess);
	e.run();
	all_are(a, 15);
	/* Nodes are named as before. */
	plus.number = 6;
	HIP(hipGraphExecKernelNodeSetParams(e, first, &plus.params));
	zero(a);
	e.run();
	all_are(a, 18);
	times.into(longer, {times.into(longer, {plus.into(longer)})});
	CHECK_EQ(hipGraphExecUpdate(e, longer, &culprit, &result), hipErrorGraphExecUpdateFailure);
	CHECK_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
	plus.into(other_edges);
	times.into(other_edges);
	CHECK_EQ(hipGraphExecUpdate(e, other_edges, &culprit, &result), hipErrorGraphExecUpdateFailure);
	CHECK_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
	graph kinds;
	hipGraphNode_t empty;
	HIP(hipGraphAddEmptyNode(&empty, kinds, nullptr, 0));
	times.into(kinds, {empty});
	CHECK_EQ(hipGraphExecUpdate(e, kinds, &culprit, &result), hipErrorGraphExecUpdateFailure);
	CHECK_EQ(result, hipGraphExecUpdateErrorNodeTypeChanged);
	CHECK(culprit == empty);
	zero(a);
	e.run();
	all_are(a, 18);
	/* A copy stays between the same kinds of memory. */
	graph in, out;
	hipGraphNode_t copy;
	std::vector<unsigned> host(COUNT);
	HIP(hipGraphAddMemcpyNode1D(&copy, in, nullptr, 0, a.at, host.data(), 64, hipMemcpyHostToDevice));
	HIP(hipGraphAddMemcpyNode1D(&copy, out, nullptr, 0, host.data(), a.at, 64, hipMemcpyDeviceToHost));
	exec copies(in);
	CHECK_EQ(hipGraphExecUpdate(copies, out, &culprit, &result), hipErrorGraphExecUpdateFailure);
	CHECK_EQ(result, hipGraphExecUpdateErrorParametersChanged);
	CHECK(culprit == copy);
	(void)hipGetLastError();
}

static void count_up(void *user)
{
	++*(unsigned *)user;
}

static void objects()
{
	unsigned destroyed = 0;
	hipUserObject_t object;
	hipGraph_t g, clone;

	HIP(hipUserObjectCreate(&object, &destroyed, count_up, 1, hipUserObjectNoDestructorSync));
	HIP(hipGraphCreate(&g, 0));
	HIP(hipGraphRetainUserObject(g, object, 1, hipGraphUserObjectMove));
	HIP(hipUserObjectRetain(object, INT_MAX));
	HIP(hipUserObjectRelease(object, INT_MAX));
	HIP(hipUserObjectRetain(object, 2));
	HIP(hipUserObjectRelease(object, 2));
	HIP(hipGraphClone(&clone, g));
	HIP(hipGraphDestroy(g));
	CHECK_EQ(destroyed, 0);
	HIP(hipGraphReleaseUserObject(clone, object, 2)); /* it has one: nothing happens */
	{
		exec e(clone);
		HIP(hipGraphReleaseUserObject(clone, object, 1));
		CHECK_EQ(destroyed, 0);
	}
	CHECK_EQ(destroyed, 1);
	HIP(hipUserObjectRelease(object, 1)); /* it is gone */
	CHECK_EQ(hipUserObjectCreate(&object, &destroyed, count_up, 1, 0), hipErrorInvalidValue);
	(void)hipGetLastError();
	HIP(hipGraphDestroy(clone));
}

/* The program releases and moves its own references only, never those that a graph has. */
static void objects_of_graphs()
{
	unsigned destroyed = 0;
	hipUserObject_t object;
	hipGraph_t g, other, clone;

	HIP(hipGraphCreate(&g, 0));
	HIP(hipGraphCreate(&other, 0));
	HIP(hipUserObjectCreate(&object, &destroyed, count_up, 1, hipUserObjectNoDestructorSync));
	HIP(hipGraphRetainUserObject(g, object, 2, 0));
	HIP(hipUserObjectRelease(object, 2)); /* the program has one: nothing happens */
	CHECK_EQ(hipGraphRetainUserObject(other, object, 2, hipGraphUserObjectMove), hipErrorInvalidValue);
	HIP(hipUserObjectRelease(object, 1));
	HIP(hipUserObjectRelease(object, 1)); /* it has none */
	HIP(hipUserObjectRelease(object, 2));
	CHECK_EQ(hipGraphRetainUserObject(other, object, 1, hipGraphUserObjectMove), hipErrorInvalidValue);
	HIP(hipGraphReleaseUserObject(other, object, 1)); /* that graph has none */
	CHECK_EQ(destroyed, 0);
	HIP(hipGraphClone(&clone, g));
	HIP(hipGraphDestroy(g));
	HIP(hipUserObjectRetain(object, 1));
	HIP(hipGraphDestroy(clone));
	CHECK_EQ(destroyed, 0);
	HIP(hipGraphRetainUserObject(other, object, 1, hipGraphUserObjectMove));
	HIP(hipUserObjectRelease(object, 1));
	CHECK_EQ(destroyed, 0);
	HIP(hipGraphDestroy(other));
	CHECK_EQ(destroyed, 1);
	(void)hipGetLastError();
}

/* What the program gave a graph to keep is kept until the last launch has ended, also of an instance that was changed
 * or destroyed meanwhile. */
static void kept_while_it_runs(bool child, bool update)
{
	hipGraphNode_t node, wait;
	hipStreamBatchMemOpParams op = {};
	hipBatchMemOpNodeParams ops = {};
	std::atomic<unsigned> destroyed(0);
	hipUserObject_t object;
	hipGraph_t g, inner, empty;
	hipStream_t s;
	uint64_t *word;

	HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	HIP(hipExtMallocWithFlags((void **)&word, 8, hipMallocSignalMemory));
	*word = 0;
	op.waitValue.operation = hipStreamMemOpWaitValue64;
	op.waitValue.address = word;
	op.waitValue.value64 = 1;
	op.waitValue.flags = hipStreamWaitValueEq;
	ops.count = 1;
	ops.paramArray = &op;
	HIP(hipUserObjectCreate(
		&object, &destroyed, [](void *at) { ++*(std::atomic<unsigned> *)at; }, 1,
		hipUserObjectNoDestructorSync));
	HIP(hipGraphCreate(&g, 0));
	HIP(hipGraphCreate(&inner, 0));
	HIP(hipGraphCreate(&empty, 0));
	HIP(hipGraphAddEmptyNode(&node, inner, nullptr, 0));
	HIP(hipGraphAddEmptyNode(&node, empty, nullptr, 0));
	HIP(hipGraphRetainUserObject(child ? inner : g, object, 1, hipGraphUserObjectMove));
	HIP(hipGraphAddBatchMemOpNode(&wait, g, nullptr, 0, &ops));
	HIP(hipGraphAddChildGraphNode(&node, g, &wait, 1, inner));
	HIP(hipGraphDestroy(inner));
	{
		exec e(g);
		HIP(hipGraphLaunch(e, s));
		if (update && child)
			HIP(hipGraphExecChildGraphNodeSetParams(e, node, empty));
		HIP(hipGraphDestroy(g));
		CHECK_EQ(destroyed, 0);
	}
	usleep(2000);
	CHECK_EQ(destroyed, 0);
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	HIP(hipStreamSynchronize(s));
	CHECK_EQ(destroyed, 1);
	HIP(hipGraphDestroy(empty));
	HIP(hipStreamDestroy(s));
	HIP(hipFree(word));
}

static void picture()
{
	gpu_array<unsigned> a(COUNT);
	kernel k(add, a.at, 1);
	char path[] = "/tmp/tuff-graph-XXXXXX", text[4096] = "";
	std::vector<unsigned> in(COUNT);
	hipGraphNode_t copy;
	graph g;
	FILE *file;

	close(mkstemp(path));
	k.into(g, {k.into(g)});
	HIP(hipGraphAddMemcpyNode1D(&copy, g, nullptr, 0, a.at, in.data(), COUNT * 4, hipMemcpyHostToDevice));
	HIP(hipGraphDebugDotPrint(g, path, hipGraphDebugDotFlagsVerbose));
	file = fopen(path, "r");
	CHECK(file && fread(text, 1, sizeof(text) - 1, file) > 0);
	CHECK(strstr(text, "digraph") && strstr(text, "KERNEL") && strstr(text, "->") && strstr(text, "<<<(4,1,1)"));
	CHECK(strstr(text, "MEMCPY HtoD"));
	fclose(file);
	remove(path);
	CHECK_EQ(hipGraphDebugDotPrint(g, "/dev/null/graph", 0), hipErrorOperatingSystem);
	(void)hipGetLastError();
}

/* More packets than a queue has room for, more arguments than a chunk, and the streams in turn. */
static void long_chain()
{
	gpu_array<unsigned> a(COUNT);
	kernel k(add, a.at, 1);
	graph g;
	std::vector<hipGraphNode_t> last;
	hipStream_t streams[2];

	for (unsigned i = 0; i < 3000; i++)
		last = {k.into(g, last)};
	exec e(g);
	zero(a);
	for (hipStream_t &stream : streams)
		HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	for (unsigned i = 0; i < 4; i++)
		HIP(hipGraphLaunch(e, streams[i % 2]));
	HIP(hipGraphUpload(e, streams[0]));
	HIP(hipDeviceSynchronize());
	all_are(a, 12000);
	for (hipStream_t stream : streams)
		HIP(hipStreamDestroy(stream));
}

/* The functions that take any kind of node. */
static void any_kind()
{
	gpu_array<unsigned> a(COUNT);
	kernel k(add, a.at, 3);
	hipGraphNodeParams params = {};
	hipGraphNode_t node, fill;
	hipGraphInstantiateParams how = {};
	hipGraphExec_t ready;
	unsigned long long flags = 0;
	graph g;

	params.type = hipGraphNodeTypeMemset;
	params.memset.dst = a.at;
	params.memset.elementSize = 4;
	params.memset.width = COUNT;
	params.memset.height = 1;
	params.memset.value = 10;
	HIP(hipGraphAddNode(&fill, g, nullptr, 0, &params));
	params = {};
	params.type = hipGraphNodeTypeKernel;
	params.kernel = k.params;
	HIP(hipGraphAddNode(&node, g, &fill, 1, &params));
	how.flags = hipGraphInstantiateFlagUseNodePriority;
	HIP(hipGraphInstantiateWithParams(&ready, g, &how));
	CHECK_EQ(how.result_out, hipGraphInstantiateSuccess);
	HIP(hipGraphExecGetFlags(ready, &flags));
	CHECK_EQ(flags, hipGraphInstantiateFlagUseNodePriority);
	k.number = 5;
	HIP(hipGraphExecNodeSetParams(ready, node, &params));
	HIP(hipGraphLaunch(ready, nullptr));
	all_are(a, 15);
	CHECK_EQ(hipGraphNodeSetParams(fill, &params), hipErrorInvalidValue);
	/* Rows that begin between elements. */
	params.type = hipGraphNodeTypeMemset;
	params.memset = {};
	params.memset.dst = a.at;
	params.memset.elementSize = 4;
	params.memset.width = 4;
	params.memset.height = 2;
	params.memset.pitch = 17;
	CHECK_EQ(hipGraphAddNode(&node, g, nullptr, 0, &params), hipErrorInvalidValue);
	CHECK_EQ(hipGraphNodeSetParams(fill, &params), hipErrorInvalidValue);
	params.memset.pitch = 20;
	HIP(hipGraphNodeSetParams(fill, &params));
	CHECK_EQ(hipGraphInstantiateWithFlags(&ready, g, 1ull << 40), hipErrorInvalidValue);
	CHECK_EQ(hipGraphInstantiateWithFlags(&ready, g, hipGraphInstantiateFlagUpload), hipErrorInvalidValue);
	how.flags = hipGraphInstantiateFlagUpload | hipGraphInstantiateFlagUseNodePriority;
	CHECK_EQ(hipGraphInstantiateWithParams(&ready, g, &how), hipErrorInvalidValue);
	CHECK_EQ(how.result_out, hipGraphInstantiateError);
	(void)hipGetLastError();
	HIP(hipGraphExecDestroy(ready));
}

int main()
{
	kernels();
	registers_that_do_not_fit();
	copies_and_fills();
	functions_and_events();
	edges();
	clones_and_children();
	nested();
	updates();
	objects();
	objects_of_graphs();
	kept_while_it_runs(false, false);
	kept_while_it_runs(true, false);
	kept_while_it_runs(true, true);
	picture();
	long_chain();
	any_kind();
	return check_done("graphs made by hand");
}
