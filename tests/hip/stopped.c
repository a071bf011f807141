/* A thread that is stopped inside a call, while another thread destroys the object that the call uses: objects are freed when the
 * thread has left the call. */
#define _GNU_SOURCE
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "tests/hip/pool_make.h"
#include "tests/hip/stopper.h"

#define ROUNDS 250
#define OTHERS 80 /* more than the library frees at a time */

static hipStream_t stream;
static hipEvent_t event;
static hipGraph_t graph;
static hipGraphExec_t instance;

static int is_defined(hipError_t r)
{
	return r == hipSuccess || r == hipErrorNotReady || r == hipErrorContextIsDestroyed ||
	       r == hipErrorInvalidHandle || r == hipErrorInvalidResourceHandle || r == hipErrorInvalidValue;
}

/* --- streams and events ----------------------------------------------------------------------- */

static void stream_create(void)
{
	CHECK_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
	CHECK_EQ(hipEventCreateWithFlags(&event, hipEventDisableTiming), hipSuccess);
}

static int stream_use(void)
{
	return !is_defined(hipStreamQuery(stream)) + !is_defined(hipEventRecord(event, stream)) +
	       !is_defined(hipEventQuery(event)) + !is_defined(hipStreamWaitEvent(stream, event, 0)) +
	       !is_defined(hipStreamSynchronize(stream));
}

static void stream_destroy(void)
{
	hipStream_t s;
	hipEvent_t e;

	(void)!hipStreamDestroy(stream);
	(void)!hipEventDestroy(event);
	for (int i = 0; i < OTHERS; i++) {
		if (!hipEventCreateWithFlags(&e, hipEventDisableTiming))
			(void)!hipEventDestroy(e);
		if (!hipStreamCreateWithFlags(&s, hipStreamNonBlocking))
			(void)!hipStreamDestroy(s);
	}
}

/* --- instances of graphs ---------------------------------------------------------------------- */

static void instance_create(void)
{
	CHECK_EQ(hipGraphInstantiateWithFlags(&instance, graph, 0), hipSuccess);
}

static int instance_use(void)
{
	return !is_defined(hipGraphLaunch(instance, NULL));
}

static void instance_destroy(void)
{
	hipGraphExec_t e;

	(void)!hipGraphExecDestroy(instance);
	for (int i = 0; i < OTHERS; i++)
		if (!hipGraphInstantiateWithFlags(&e, graph, 0))
			(void)!hipGraphExecDestroy(e);
}

/* --- graphs ----------------------------------------------------------------------------------- */

#define NODES 64

static hipGraph_t used;
static hipGraphNode_t chain[NODES];

static void chain_make(hipGraph_t *g, hipGraphNode_t *nodes)
{
	CHECK_EQ(hipGraphCreate(g, 0), hipSuccess);
	for (unsigned i = 0; i < NODES; i++)
		CHECK_EQ(hipGraphAddEmptyNode(&nodes[i], *g, i ? &nodes[i - 1] : NULL, i ? 1 : 0), hipSuccess);
}

static void graph_create(void)
{
	chain_make(&used, chain);
}

static int graph_use(void)
{
	hipGraphNode_t from[NODES], to[NODES];
	size_t count = NODES, edges = NODES, before = NODES;
	hipGraph_t clone;
	hipError_t r = hipGraphClone(&clone, used);
	int refused = !is_defined(r);

	if (!r)
		refused += hipGraphDestroy(clone) != hipSuccess;
	return refused + !is_defined(hipGraphGetNodes(used, to, &count)) +
	       !is_defined(hipGraphGetEdges(used, from, to, &edges)) +
	       !is_defined(hipGraphNodeGetDependencies(chain[NODES - 1], to, &before));
}

static void graph_destroy(void)
{
	hipGraphNode_t nodes[NODES];
	hipGraph_t g;

	(void)!hipGraphDestroyNode(chain[NODES / 2]);
	CHECK_EQ(hipGraphDestroy(used), hipSuccess);
	chain_make(&g, nodes);
	CHECK_EQ(hipGraphDestroy(g), hipSuccess);
}

/* --- memory pools ------------------------------------------------------------------------------ */

#define POOLS 4

static hipMemPool_t pool;

static void pool_create(void)
{
	CHECK_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
	pool = pool_make();
}

static int pool_use(void)
{
	uint64_t used;
	void *memory = NULL;
	int refused = !is_defined(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemHigh, &used)) +
		      !is_defined(hipMemPoolTrimTo(pool, 0));
	hipError_t r = hipMallocFromPoolAsync(&memory, 4096, pool, stream);

	if (r)
		return refused + !(is_defined(r) || r == hipErrorOutOfMemory);
	return refused + (hipFreeAsync(memory, stream) != hipSuccess);
}

static void pool_destroy(void)
{
	CHECK_EQ(hipMemPoolDestroy(pool), hipSuccess);
	for (int i = 0; i < POOLS; i++)
		CHECK_EQ(hipMemPoolDestroy(pool_make()), hipSuccess);
}

static void pool_finish(void)
{
	CHECK_EQ(hipStreamDestroy(stream), hipSuccess);
}

/* --- programs and linkers of hiprtc ------------------------------------------------------------ */

static hiprtcProgram program;
static hiprtcLinkState linker;

static hiprtcProgram program_make(void)
{
	hiprtcProgram p = NULL;

	CHECK_EQ(hiprtcCreateProgram(&p, "__global__ void k() {}", "k", 0, NULL, NULL), HIPRTC_SUCCESS);
	return p;
}

static void program_create(void)
{
	program = program_make();
	CHECK_EQ(hiprtcLinkCreate(0, NULL, NULL, &linker), HIPRTC_SUCCESS);
}

static int rtc_is_defined(hiprtcResult r)
{
	return r == HIPRTC_SUCCESS || r == HIPRTC_ERROR_INVALID_PROGRAM || r == HIPRTC_ERROR_INVALID_INPUT ||
	       r == HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
}

static int program_use(void)
{
	const char *lowered;
	size_t size;

	return !rtc_is_defined(hiprtcAddNameExpression(program, "k")) +
	       !rtc_is_defined(hiprtcGetProgramLogSize(program, &size)) +
	       !rtc_is_defined(hiprtcGetLoweredName(program, "k", &lowered)) +
	       !rtc_is_defined(
		       hiprtcLinkAddData(linker, HIPRTC_JIT_INPUT_LLVM_BITCODE, "BC", 2, NULL, 0, NULL, NULL));
}

static void program_destroy(void)
{
	hiprtcLinkState l;
	hiprtcProgram p = program;

	CHECK_EQ(hiprtcDestroyProgram(&p), HIPRTC_SUCCESS);
	CHECK_EQ(hiprtcLinkDestroy(linker), HIPRTC_SUCCESS);
	for (int i = 0; i < OTHERS; i++) {
		p = program_make();
		CHECK_EQ(hiprtcDestroyProgram(&p), HIPRTC_SUCCESS);
		CHECK_EQ(hiprtcLinkCreate(0, NULL, NULL, &l), HIPRTC_SUCCESS);
		CHECK_EQ(hiprtcLinkDestroy(l), HIPRTC_SUCCESS);
	}
}

static const struct stopper_kind kinds[] = {
	{stream_create, stream_use, stream_destroy, NULL},
	{instance_create, instance_use, instance_destroy, NULL},
	{graph_create, graph_use, graph_destroy, NULL},
	{pool_create, pool_use, pool_destroy, pool_finish},
	{program_create, program_use, program_destroy, NULL},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* --- two threads that destroy the same object --------------------------------------------------- */

#define SAME 200

/* Kinds of objects, with functions that make one and that give 1 if they destroyed it. */
static void *event_make(void)
{
	hipEvent_t e = NULL;

	CHECK_EQ(hipEventCreateWithFlags(&e, hipEventDisableTiming), hipSuccess);
	return e;
}

static int event_end(void *e)
{
	return !hipEventDestroy(e);
}

static void *graph_make(void)
{
	hipGraph_t g = NULL;

	CHECK_EQ(hipGraphCreate(&g, 0), hipSuccess);
	return g;
}

static int graph_end(void *g)
{
	return !hipGraphDestroy(g);
}

static int pool_end(void *p)
{
	return !hipMemPoolDestroy(p);
}

static void *one_pool(void)
{
	return pool_make();
}

static void *memory_make(void)
{
	void *memory = NULL;

	CHECK_EQ(hipMallocAsync(&memory, 4096, NULL), hipSuccess);
	return memory;
}

static int memory_end(void *memory)
{
	return !hipFree(memory);
}

static int memory_end_async(void *memory)
{
	return !hipFreeAsync(memory, NULL);
}

static void *one_program(void)
{
	return program_make();
}

static int program_end(void *handle)
{
	hiprtcProgram p = handle;

	return !hiprtcDestroyProgram(&p);
}

static const struct {
	void *(*make)(void);
	int (*end)(void *object);
	unsigned count;
} ends[] = {
	{event_make, event_end, SAME},   {graph_make, graph_end, SAME},   {one_program, program_end, SAME},
	{one_pool, pool_end, SAME / 10}, {memory_make, memory_end, SAME}, {memory_make, memory_end_async, SAME},
};
#define ENDS (sizeof(ends) / sizeof(ends[0]))

static void *same[SAME];
static unsigned same_kind;
static pthread_barrier_t begin;

static void *destroy_same(void *unused)
{
	unsigned long ended = 0;

	(void)unused;
	for (unsigned i = 0; i < ends[same_kind].count; i++) {
		pthread_barrier_wait(&begin);
		ended += (unsigned long)ends[same_kind].end(same[i]);
	}
	return (void *)ended;
}

static void an_object_is_destroyed_once(void)
{
	void *here, *there;
	pthread_t thread;

	for (unsigned i = 0; i < ends[same_kind].count; i++)
		same[i] = ends[same_kind].make();
	CHECK_EQ(pthread_create(&thread, NULL, destroy_same, NULL), 0);
	here = destroy_same(NULL);
	pthread_join(thread, &there);
	CHECK_EQ((unsigned long)here + (unsigned long)there, ends[same_kind].count);
}

int main(void)
{
	hipGraphNode_t node;

	stopper_init();
	CHECK_EQ(hipSetDevice(0), hipSuccess);
	CHECK_EQ(hipGraphCreate(&graph, 0), hipSuccess);
	CHECK_EQ(hipGraphAddEmptyNode(&node, graph, NULL, 0), hipSuccess);
	for (unsigned i = 0; i < ROUNDS; i++)
		stopper_round(&kinds[i % KINDS], 20 + i * 37 % 500);
	/* In some rounds the thread had no lock. */
	CHECK(stopper_rounds > 0);
	pthread_barrier_init(&begin, NULL, 2);
	for (same_kind = 0; same_kind < ENDS; same_kind++)
		an_object_is_destroyed_once();
	return check_done("a thread that is stopped inside a call");
}
