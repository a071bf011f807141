/* Every function of the library with arguments that nobody should give: NULL, handles that are stale, foreign or
 * made up, sizes and numbers at their limits, enumerators that there are not. Nothing crashes or hangs, and NULL is
 * an error wherever bad_arguments.h does not say that it means something.
 *
 *   bad_arguments [-v] [-t] [FUNCTION]    -v: what was given for each argument that was NULL; -t: each call */
#define HIP_DEPRECATED
#define HIP_API_TEMPLATES_H /* C's functions alone: templates of the same names would compete */
#include <csignal>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include <hip/hip_runtime.h>
#include <hip/api/registration.h>
#include <hip/hip_ext.h>
#include <hip/hip_gl_interop.h>
#include <hip/hiprtc.h>

#if TUFF_HIP_ABI == 6
/* The symbols of these names, which the headers of HIP 6 lead past. */
#undef hipGetDeviceProperties
#undef hipChooseDevice
extern "C" __typeof__(hipGetDevicePropertiesR0000) hipGetDeviceProperties;
extern "C" __typeof__(hipChooseDeviceR0000) hipChooseDevice;
#endif
/* Names of older interfaces, as C++ compilers wrote them. */
extern "C" __typeof__(hipExtModuleLaunchKernel)
	_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j;
extern "C" __typeof__(hipHccModuleLaunchKernel)
	_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_;
extern "C" __typeof__(hipCreateSurfaceObject) _Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc;
extern "C" __typeof__(hipDestroySurfaceObject) _Z23hipDestroySurfaceObjectP13__hip_surface;

#include "tests/check.h"
#include "tests/hip/bad_arguments.h"

__device__ int variable;
__global__ void nothing(int)
{
}

/* --- what functions are called with ------------------------------------------------------------ */

static uint32_t seed = 1;
static uint32_t any(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

#define BYTES 65536
/* Made anew for each function, which may end any of them. */
static struct world {
	char *gpu, *freed, *pinned, *managed;
	hipStream_t stream, old_stream;
	hipEvent_t event, old_event;
	hipMemPool_t pool, old_pool;
	hipModule_t module;
	hipFunction_t function;
	hipGraph_t graph, old_graph;
	hipGraphNode_t node[4], old_node;
	hipGraphExec_t exec, old_exec;
	hipArray_t array, old_array;
	hipTextureObject_t texture;
	hipSurfaceObject_t surface;
	hipUserObject_t object;
	hipCtx_t context;
	hipMemGenericAllocationHandle_t physical;
} w;
alignas(64) static char host[4096 * 4096], block[BYTES];
static void *slots[64];

/* Copies read the host's memory: of what they are given all is there. */
static bool copies;

static void callback(void *)
{
}
static void stream_callback(hipStream_t, hipError_t, void *)
{
}

template <typename T> struct values {
	std::vector<T> good, bad;
};

/* Of a handle: those that live; then an old one, and numbers that never were handles, or are another kind's. */
template <typename T> static values<T> handles(std::vector<T> good, T old)
{
	const uintptr_t kind = 0xffffull << 48;
	T foreign = (T)(uintptr_t)((void *)good[0] == (void *)w.stream ? (void *)w.event : (void *)w.stream);
	/* An object of another kind, as one of this. */
	T disguised = (T)(((uintptr_t)foreign & ~kind) | ((uintptr_t)good[0] & kind));
	T tag = (T)((uintptr_t)good[0] & kind);

	return {good, {T(), old, foreign, disguised, tag, (T)host, (T)-1, (T)8, (T)0xdeadbeefdead0000}};
}

template <typename T> static values<T> values_of()
{
	using bare = std::remove_cv_t<std::remove_pointer_t<T>>;

	if constexpr (std::is_same_v<T, hipStream_t>)
		return handles<T>({w.stream, w.stream, NULL, hipStreamPerThread}, w.old_stream);
	else if constexpr (std::is_same_v<T, hipEvent_t>)
		return handles<T>({w.event}, w.old_event);
	else if constexpr (std::is_same_v<T, hipMemPool_t>)
		return handles<T>({w.pool}, w.old_pool);
	else if constexpr (std::is_same_v<T, hipModule_t>)
		return handles<T>({w.module}, (T)w.old_graph);
	else if constexpr (std::is_same_v<T, hipFunction_t>)
		return handles<T>({w.function}, (T)w.old_graph);
	else if constexpr (std::is_same_v<T, hipGraph_t>)
		return handles<T>({w.graph}, w.old_graph);
	else if constexpr (std::is_same_v<T, hipGraphNode_t>)
		return handles<T>({w.node[0], w.node[1], w.node[2], w.node[3]}, w.old_node);
	else if constexpr (std::is_same_v<T, hipGraphExec_t>)
		return handles<T>({w.exec}, w.old_exec);
	else if constexpr (std::is_same_v<T, hipArray_t> || std::is_same_v<T, hipArray_const_t>)
		return handles<T>({w.array}, w.old_array);
	else if constexpr (std::is_same_v<T, hipTextureObject_t>)
		return handles<T>({w.texture}, (T)w.old_array);
	else if constexpr (std::is_same_v<T, hipSurfaceObject_t>)
		return handles<T>({w.surface}, (T)w.old_array);
	else if constexpr (std::is_same_v<T, hipUserObject_t>)
		return handles<T>({w.object}, (T)w.old_graph);
	else if constexpr (std::is_same_v<T, hipCtx_t>)
		return handles<T>({w.context}, (T)w.old_graph);
	else if constexpr (std::is_same_v<T, hipMemGenericAllocationHandle_t>)
		return handles<T>({w.physical}, (T)w.old_graph);
	else if constexpr (std::is_same_v<T, hiprtcProgram> || std::is_same_v<T, hiprtcLinkState> ||
			   std::is_same_v<T, hipMipmappedArray_t> || std::is_same_v<T, hipMipmappedArray_const_t>)
		return handles<T>({(T)w.event}, (T)w.old_graph); /* none good: they cost a compiler's run */
	else if constexpr (std::is_same_v<T, hipHostFn_t>)
		return {{callback}, {NULL}};
	else if constexpr (std::is_same_v<T, hipStreamCallback_t>)
		return {{stream_callback}, {NULL}};
	else if constexpr (std::is_same_v<T, void *>)
		return {{w.gpu, w.pinned, w.managed, host}, {NULL}};
	else if constexpr (std::is_same_v<T, const void *>)
		return copies ? values<T>{{w.gpu, w.pinned, host}, {NULL}}
			      : values<T>{{w.gpu, w.pinned, host, &variable, (const void *)nothing}, {NULL}};
	else if constexpr (std::is_same_v<T, const char *>)
		/* No file can have that name: some write one. */
		return {{"/dev/null/nothing", ""}, {NULL}};
	else if constexpr (std::is_same_v<bare, void *>)
		return {{(T)slots}, {NULL}};
	else if constexpr (std::is_pointer_v<T> && std::is_pointer_v<bare>) {
		static bare list[64];
		values<bare> inner = values_of<bare>();

		for (unsigned i = 0; i < 63; i++)
			list[i] = inner.good[i % inner.good.size()];
		return {{list}, {NULL}};
	} else if constexpr (std::is_same_v<T, size_t *>) {
		/* Some say how long a list is. */
		static size_t count;

		count = 63;
		return {{&count}, {NULL}};
	} else if constexpr (std::is_pointer_v<T>)
		return {{(T)block}, {NULL, (T)(block + 8)}};
	else if constexpr (std::is_enum_v<T>)
		return {{T(0), T(1), T(2), T(3), T(4)}, {T(-1), T(5), T(1000), T(0x7fffffff)}};
	else if constexpr (std::is_floating_point_v<T>)
		return {{1}, {0, -1, T(1e30)}};
	else if constexpr (std::is_same_v<T, bool>)
		return {{false, true}, {false}};
	else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
		return {{1, 4, 64, 256, 4096}, {0, T(-1), T(-4095), T(-4096), T(1) << 63, T(1) << 47}};
	else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
		return {{0, 1}, {-1, INT32_MAX, INT32_MIN, 2, 64}};
	else if constexpr (std::is_integral_v<T>)
		return {{0, 1, 2}, {T(-1), T(1) << (sizeof(T) * 8 - 1), T(-4096), 3, 64}};
	else if constexpr (std::is_same_v<T, dim3>)
		return {{dim3(1), dim3(64)}, {dim3(0), dim3(1, 0, 1), dim3(-1, -1, -1), dim3(1 << 31, 1 << 31, 1)}};
	else if constexpr (std::is_same_v<T, hipExtent>)
		return {{{16, 4, 1}},
			{{0, 0, 0}, {SIZE_MAX, 1, 1}, {1, SIZE_MAX, 1}, {1, 1, SIZE_MAX}, {SIZE_MAX, 16, 16}}};
	else if constexpr (std::is_same_v<T, hipPitchedPtr>)
		return {{{w.gpu, 64, 64, 16}, {host, 64, 64, 16}},
			{{NULL, 64, 64, 16},
			 {w.gpu, 0, 64, 16},
			 {w.gpu, SIZE_MAX, 64, 16},
			 {w.gpu, 8, 64, SIZE_MAX}}};
	else {
		T zero, ones;

		memset((void *)&zero, 0, sizeof(T));
		memset((void *)&ones, 255, sizeof(T));
		return {{zero}, {ones}};
	}
}

/* Structs and lists get numbers and addresses in random places, none of which may be followed into the wild. */
static const char *now = "start"; /* the function that is called */

static void scribble(void)
{
	/* Addresses among a kernel's parameters are followed, and a handle is none. */
	const bool followed = strstr(now, "Kernel") || strstr(now, "GraphAddNode") || strstr(now, "NodeSetParams");
	/* Lists are followed whose addresses are cut when the structure is not at its place. */
	const bool lists = strstr(now, "ExternalSemaphores");
	const uintptr_t words[] = {0,
				   0,
				   0,
				   (uintptr_t)w.gpu,
				   (uintptr_t)w.pinned,
				   (uintptr_t)host,
				   (uintptr_t)slots,
				   followed ? 0 : (uintptr_t)w.array,
				   (uintptr_t)nothing};
	uintptr_t *to = (uintptr_t *)block;

	memset(block, 0, 1024);
	for (unsigned i = 0; any(3) && i < 64 && !lists; i++)
		to[i] = words[any(sizeof(words) / sizeof(words[0]))];
	for (unsigned i = 0; i < 64; i++)
		slots[i] = i < 8 ? (void *)&host[i * 64] : NULL;
}

#define MAKE(call)                                                                                                 \
	if (!CHECK_EQ(call, hipSuccess))                                                                           \
	printf("  before %s\n", name)
static void make_world(const char *name)
{
	hipMemPoolProps pool = {};
	const hipMemAllocationProp physical = {
		hipMemAllocationTypePinned, hipMemHandleTypeNone, {hipMemLocationTypeDevice, 0}, NULL, {}};
	const hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
	const hipResourceDesc image = {.resType = hipResourceTypeArray, .res = {.array = {w.array}}};
	hipMemsetParams fill = {.dst = NULL, .elementSize = 4, .height = 1, .pitch = 0, .value = 0, .width = 16};
	hipHostNodeParams call = {callback, NULL};

	memset(&w, 0, sizeof(w));
	pool.allocType = hipMemAllocationTypePinned;
	pool.location.type = hipMemLocationTypeDevice;
	MAKE(hipMalloc((void **)&w.gpu, BYTES));
	MAKE(hipMalloc((void **)&w.freed, BYTES));
	MAKE(hipFree(w.freed));
	MAKE(hipHostMalloc((void **)&w.pinned, BYTES, 0));
	MAKE(hipMallocManaged((void **)&w.managed, BYTES, hipMemAttachGlobal));
	MAKE(hipStreamCreate(&w.old_stream));
	MAKE(hipStreamDestroy(w.old_stream));
	MAKE(hipStreamCreate(&w.stream));
	MAKE(hipEventCreate(&w.old_event));
	MAKE(hipEventDestroy(w.old_event));
	MAKE(hipEventCreate(&w.event));
	MAKE(hipMemPoolCreate(&w.old_pool, &pool));
	MAKE(hipMemPoolDestroy(w.old_pool));
	MAKE(hipMemPoolCreate(&w.pool, &pool));
	MAKE(hipGraphCreate(&w.old_graph, 0));
	MAKE(hipGraphAddEmptyNode(&w.old_node, w.old_graph, NULL, 0));
	MAKE(hipGraphInstantiate(&w.old_exec, w.old_graph, NULL, NULL, 0));
	MAKE(hipGraphExecDestroy(w.old_exec));
	MAKE(hipGraphDestroy(w.old_graph));
	fill.dst = w.gpu;
	MAKE(hipGraphCreate(&w.graph, 0));
	MAKE(hipGraphAddEmptyNode(&w.node[0], w.graph, NULL, 0));
	MAKE(hipGraphAddMemsetNode(&w.node[1], w.graph, w.node, 1, &fill));
	MAKE(hipGraphAddHostNode(&w.node[2], w.graph, w.node, 1, &call));
	MAKE(hipGraphAddMemcpyNode1D(&w.node[3], w.graph, NULL, 0, w.gpu, host, 64, hipMemcpyHostToDevice));
	MAKE(hipGraphInstantiate(&w.exec, w.graph, NULL, NULL, 0));
	MAKE(hipMallocArray(&w.old_array, &format, 16, 16, 0));
	MAKE(hipFreeArray(w.old_array));
	MAKE(hipMallocArray(&w.array, &format, 16, 16, hipArraySurfaceLoadStore));
	hipResourceDesc of = image;
	of.res.array.array = w.array;
	const hipTextureDesc texture = {};
	MAKE(hipCreateTextureObject(&w.texture, &of, &texture, NULL));
	MAKE(hipCreateSurfaceObject(&w.surface, &of));
	MAKE(hipUserObjectCreate(&w.object, host, callback, 1, hipUserObjectNoDestructorSync));
	MAKE(hipCtxGetCurrent(&w.context));
	MAKE(hipMemCreate(&w.physical, 2 << 20, &physical, 0));
#if TUFF_HIP_ABI >= 6
	MAKE(hipGetFuncBySymbol(&w.function, (const void *)nothing));
#endif
	for (char *memory : {w.gpu, w.pinned, w.managed})
		MAKE(hipMemset(memory, 0, BYTES));
}

/* --- calls ------------------------------------------------------------------------------------- */

static const char *only;
static char now_args[300];
static bool verbose, traced;

static void say_and_leave(int signal)
{
	char text[500];
	int n = snprintf(text, sizeof(text), "FAIL signal %d in %s(%s)\n", signal, now, now_args);

	if (write(1, text, (size_t)n) < 0)
		_exit(2);
	_exit(1);
}

template <typename T> static void describe(size_t *at, const T &value)
{
	uint64_t number = 0;

	memcpy((void *)&number, (const void *)&value, sizeof(value) < 8 ? sizeof(value) : 8);
	*at += (size_t)snprintf(now_args + *at, sizeof(now_args) - *at, "%s%#llx", *at ? ", " : "",
				(unsigned long long)number);
	*at = *at < sizeof(now_args) ? *at : sizeof(now_args) - 1;
}

/* Success is what a void function gives, too: nothing is asked of it. */
template <typename R, typename... A> static int status_of(R (*function)(A...), const std::tuple<A...> &args)
{
	if constexpr (std::is_same_v<R, hipError_t> || std::is_same_v<R, hiprtcResult>)
		return (int)std::apply(function, args);
	else {
		std::apply(function, args);
		return -1;
	}
}

static bool null_means_something(const char *name, unsigned argument)
{
	for (const named_arguments &row : may_be_null_rows)
		if (!strcmp(row.name, name) && (row.arguments >> argument & 1))
			return true;
	return false;
}

static bool always_0(const char *name, unsigned argument)
{
	for (const named_arguments &row : always_0_rows)
		if (!strcmp(row.name, name) && (row.arguments >> argument & 1))
			return true;
	return false;
}

template <typename R, typename... A> struct caller {
	const char *name;
	R (*function)(A...);
	std::tuple<values<A>...> pool;

	template <typename T> T one(size_t argument, const std::vector<T> &list)
	{
		return always_0(name, argument) ? T() : list[any((uint32_t)list.size())];
	}
	template <size_t... I> std::tuple<A...> good(std::index_sequence<I...>)
	{
		return {one(I, std::get<I>(pool).good)...};
	}
	template <size_t... I> std::tuple<A...> mixed(std::index_sequence<I...>)
	{
		return {one(I, any(4) ? std::get<I>(pool).good : std::get<I>(pool).bad)...};
	}
	/* As many threads as nothing forbids (their first sizes are the threads'), and as take minutes. */
	static bool is_vast(const std::tuple<A...> &args)
	{
		if constexpr (sizeof...(A) >= 13)
			if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<A...>>, hipFunction_t>)
				return 1.0 * std::get<1>(args) * std::get<2>(args) * std::get<3>(args) > (1 << 24);
		return false;
	}
	int call(const std::tuple<A...> &args)
	{
		[[maybe_unused]] size_t at = 0;
		int status;

		if (is_vast(args))
			return hipErrorInvalidValue;
		scribble();
		now_args[0] = 0;
		std::apply([&](const A &...arg) { (describe(&at, arg), ...); }, args);
		status = status_of(function, args);
		if (traced)
			printf("%s(%s) = %d\n", name, now_args, status);
		return status;
	}
	/* One argument after the other is what it must not be, and the others are as they might be. */
	template <size_t I> void replace()
	{
		using T = std::tuple_element_t<I, std::tuple<A...>>;
		const std::vector<T> &bad = std::get<I>(pool).bad;
		std::set<int> seen;

		if (always_0(name, I))
			return;
		for (const T &value : bad)
			for (unsigned round = 0; round < 4; round++) {
				std::tuple<A...> args = good(std::index_sequence_for<A...>());

				std::get<I>(args) = value;
				int status = call(args);
				/* NULL is a stream. */
				if constexpr (std::is_pointer_v<T> && !std::is_same_v<T, hipStream_t>)
					if (!value)
						seen.insert(status);
			}
		if (verbose && !seen.empty()) {
			printf("NULL %s %zu:", name, I);
			for (int status : seen)
				printf(" %d", status);
			printf("\n");
		}
		if (seen.count(hipSuccess) && !null_means_something(name, I)) {
			CHECK(!"NULL is an error");
			printf("  argument %zu of %s\n", I, name);
		}
	}
	template <size_t... I> void all(std::index_sequence<I...> indices)
	{
		call(good(indices));
		(replace<I>(), ...);
		for (unsigned i = 0; i < 20 * sizeof...(A); i++)
			call(mixed(indices));
	}
};

template <typename R, typename... A> static void sweep(const char *name, R (*function)(A...))
{
	hipGraph_t captured;

	if (only && strcmp(name, only))
		return;
	now = "make_world";
	make_world(name);
	now = name;
	copies = strstr(name, "Memcpy") && !strstr(name, "Symbol");
	alarm(10);
	caller<R, A...>{name, function, {values_of<A>()...}}.all(std::index_sequence_for<A...>());
	now = "the end of what that function left";
	hipStreamEndCapture(w.stream, &captured);
	hipHostUnregister(host); /* a device's reset does not know of it */
	hipSetDevice(0);
	CHECK_EQ(hipDeviceReset(), hipSuccess);
	check_passed_++;
}

/* A template has that name, too. */
static hipChannelFormatDesc (*const create_channel)(int, int, int, int,
						    hipChannelFormatKind) = hipCreateChannelDesc;
#define hipCreateChannelDesc *create_channel
#define SWEEP_567(name)      sweep(#name, &name);
#if TUFF_HIP_ABI == 5
#define SWEEP_5(name)  SWEEP_567(name)
#define SWEEP_56(name) SWEEP_567(name)
#define SWEEP_6(name)
#define SWEEP_67(name)
#define SWEEP_7(name)
#elif TUFF_HIP_ABI == 6
#define SWEEP_5(name)
#define SWEEP_56(name) SWEEP_567(name)
#define SWEEP_6(name)  SWEEP_567(name)
#define SWEEP_67(name) SWEEP_567(name)
#define SWEEP_7(name)
#else
#define SWEEP_5(name)
#define SWEEP_56(name)
#define SWEEP_6(name)
#define SWEEP_67(name) SWEEP_567(name)
#define SWEEP_7(name)  SWEEP_567(name)
#endif
#define HIP_IMPL(libraries, node, name) SWEEP_##libraries(name)

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-v"))
			verbose = true;
		else if (!strcmp(argv[i], "-t"))
			traced = true;
		else
			only = argv[i];
	setlinebuf(stdout);
	for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGALRM})
		std::signal(signal, say_and_leave);
#include "api/names.h"
	return check_done("bad arguments");
}
