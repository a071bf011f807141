/* The functions of HIP as rows that draw arguments and call, on two virtual devices; what an input begins and ends with. */
#ifndef TESTS_FUZZ_HIP_TABLE_H
#define TESTS_FUZZ_HIP_TABLE_H

#include "api/base/base.h"
#include "shaders/blob.h"
#include "tests/fuzz/call.h"
#include "tests/fuzz/hip_draw.h"
#include "tests/fuzz/hip_structs.h"
#if TUFF_HIP_ABI >= 7
#include "tests/fuzz/hip_seven.h"
#endif
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

/* An input keeps its meaning when rows are added behind the others. */
#define ROWS_MAX (TUFF_HIP_ABI >= 7 ? 640u : 512u)

extern const struct shader_blob test_blobs[];

hipError_t _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
	hipFunction_t function, uint32_t x, uint32_t y, uint32_t z, uint32_t block_x, uint32_t block_y,
	uint32_t block_z, size_t lds_B, hipStream_t stream, void **params, void **extra, hipEvent_t start,
	hipEvent_t stop, uint32_t flags);
hipError_t _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(
	hipFunction_t function, uint32_t x, uint32_t y, uint32_t z, uint32_t block_x, uint32_t block_y,
	uint32_t block_z, size_t lds_B, hipStream_t stream, void **params, void **extra, hipEvent_t start,
	hipEvent_t stop);

/* --- functions that leave something behind ------------------------------------------------------ */

static hipError_t range_reserve(void **at, size_t size_B, size_t align_B, void *hint, unsigned long long flags)
{
	hipError_t r = draw.ranges == REMEMBERED ? hipErrorOutOfMemory
						 : hipMemAddressReserve(at, size_B, align_B, hint, flags);

	if (!r)
		draw_range_note(draw.range, &draw.ranges, *at, size_B);
	return r;
}

static hipError_t range_map(void *at, size_t size_B, size_t offset_B, hipMemGenericAllocationHandle_t memory,
			    unsigned long long flags)
{
	hipError_t r =
		draw.maps == REMEMBERED ? hipErrorOutOfMemory : hipMemMap(at, size_B, offset_B, memory, flags);

	if (!r)
		draw_range_note(draw.map, &draw.maps, at, size_B);
	return r;
}

static hipError_t host_register(void *at, size_t size_B, unsigned flags)
{
	hipError_t r = draw.locks == REMEMBERED ? hipErrorOutOfMemory : hipHostRegister(at, size_B, flags);

	if (!r)
		draw.locked[draw.locks++] = at;
	return r;
}

static hipError_t memory_export(void *out, hipMemGenericAllocationHandle_t memory, hipMemAllocationHandleType type,
				unsigned long long flags)
{
	hipError_t r = hipMemExportToShareableHandle(out, memory, type, flags);

	if (!r)
		draw_fd_keep(*(int *)out);
	return r;
}

static hipError_t pool_export(void *out, hipMemPool_t pool, hipMemAllocationHandleType type, unsigned flags)
{
	hipError_t r = hipMemPoolExportToShareableHandle(out, pool, type, flags);

	if (!r)
		draw_fd_keep(*(int *)out);
	return r;
}

#if TUFF_HIP_ABI >= 7
static hipError_t range_export(void *out, hipDeviceptr_t at, size_t size_B, hipMemRangeHandleType type,
			       unsigned long long flags)
{
	hipError_t r = hipMemGetHandleForAddressRange(out, at, size_B, type, flags);

	if (!r)
		draw_fd_keep(*(int *)out);
	return r;
}
#endif

/* The import owns a descriptor that it accepts. */
#define IMPORT(name, function, type, desc_type)                                                                    \
	static hipError_t name(type *out, desc_type *desc)                                                         \
	{                                                                                                          \
		int fd = desc ? dup(desc->handle.fd) : -1;                                                         \
		hipError_t r;                                                                                      \
                                                                                                                   \
		if (desc)                                                                                          \
			desc->handle.fd = fd;                                                                      \
		r = function(out, desc);                                                                           \
		if (r && fd >= 0)                                                                                  \
			draw_close(fd);                                                                            \
		return r;                                                                                          \
	}
IMPORT(memory_import, hipImportExternalMemory, hipExternalMemory_t, hipExternalMemoryHandleDesc)
IMPORT(semaphore_import, hipImportExternalSemaphore, hipExternalSemaphore_t, hipExternalSemaphoreHandleDesc)

/* --- the table ---------------------------------------------------------------------------------- */

#define CALL            CALL_STATUS
#define VALUE           CALL_OTHER
#define VOID(name, ...) VALUE(name, __VA_ARGS__)
#define CALL_0(name)                                                                                               \
	static void call_##name(void)                                                                              \
	{                                                                                                          \
		(void)!name();                                                                                     \
	}
#define ABSENT(name)
#define hipMemAddressReserve              range_reserve
#define hipMemMap                         range_map
#define hipHostRegister                   host_register
#define hipMemExportToShareableHandle     memory_export
#define hipMemPoolExportToShareableHandle pool_export
#define hipMemGetHandleForAddressRange    range_export
#define hipImportExternalMemory           memory_import
#define hipImportExternalSemaphore        semaphore_import
#include "tests/fuzz/hip_rows.h"
#undef hipMemAddressReserve
#undef hipMemMap
#undef hipHostRegister
#undef hipMemExportToShareableHandle
#undef hipMemPoolExportToShareableHandle
#undef hipMemGetHandleForAddressRange
#undef hipImportExternalMemory
#undef hipImportExternalSemaphore
#undef CALL
#undef CALL_0
#undef VALUE
#undef ABSENT

static const struct draw_row rows[] = {
#define CALL(name, ...)  {#name, call_##name},
#define CALL_0(name)     {#name, call_##name},
#define VALUE(name, ...) {#name, call_##name},
#define ABSENT(name)
#include "tests/fuzz/hip_rows.h"
#undef CALL
#undef CALL_0
#undef VALUE
#undef ABSENT
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(ROWS <= ROWS_MAX, "the number of a row is below ROWS_MAX");

/* A function without a row has no such name. */
enum {
#define CALL(name, ...)  HAS_##name,
#define CALL_0(name)     HAS_##name,
#define VALUE(name, ...) HAS_##name,
#define ABSENT(name)     HAS_##name,
#include "tests/fuzz/hip_rows.h"
#undef CALL
#undef CALL_0
#undef VALUE
#undef ABSENT
};
#if TUFF_HIP_ABI >= 7
#define HAS_IN_7(name) HAS_##name
#else
#define HAS_IN_7(name) 0
#endif
#define HAS_IN_5(name)   0
#define HAS_IN_6(name)   HAS_##name
#define HAS_IN_56(name)  HAS_##name
#define HAS_IN_67(name)  HAS_##name
#define HAS_IN_567(name) HAS_##name
static const int all_have_rows[] = {
#define HIP_IMPL(libraries, node, name) HAS_IN_##libraries(name),
#include "api/names.h"
};

/* --- once ----------------------------------------------------------------------------------------- */

/* A bundle with one code object. */
static void *bundle_of(const struct shader_blob *blob)
{
	static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__", triple[] = "hipv4-amdgcn-amd-amdhsa--gfx908";
	const uint64_t head[] = {1, 4096, blob->size_B, sizeof(triple) - 1};
	char *bundle = calloc(1, 4096 + blob->size_B);

	memcpy(bundle, magic, sizeof(magic) - 1);
	memcpy(bundle + sizeof(magic) - 1, head, sizeof(head));
	memcpy(bundle + sizeof(magic) - 1 + sizeof(head), triple, sizeof(triple) - 1);
	memcpy(bundle + 4096, blob->image, blob->size_B);
	return bundle;
}

static void program_register(const void *bundle)
{
	static struct hip_fat_binary_wrapper wrapper = {HIP_FAT_BINARY_MAGIC, 1, NULL, NULL};
	static char kernels[][8] = {"k_store", "k_empty", "k_no"}, variables[][8] = {"zeroed", "no"};
	void **binary;

	wrapper.bundle = bundle;
	binary = __hipRegisterFatBinary(&wrapper);
	for (unsigned i = 0; i < 3; i++)
		__hipRegisterFunction(binary, &host_kernels[i], kernels[i], kernels[i], -1, NULL, NULL, NULL, NULL,
				      NULL);
	for (unsigned i = 0; i < 2; i++)
		__hipRegisterVar(binary, &host_variables[i], variables[i], variables[i], 0, 400, 0, 0);
}

static void calls_start(void)
{
	static uint8_t zeros[4096];

	(void)all_have_rows;
	vgpu_strict_set(VGPU_STRICT_OFF); /* kernels with wrong arguments are findings */
	if (vgpu_start("gfx908:vram=512M,gfx908:vram=512M"))
		abort();
	other_start();
	images[0] = (void *)shader_find(test_blobs, "group.O1", "gfx908")->image;
	images[1] = bundle_of(shader_find(test_blobs, "group.O1", "gfx908"));
	images[2] = (void *)shader_find(test_blobs, "group.O1", "gfx90a")->image;
	images[3] = zeros;
	program_register(images[1]);
}

/* --- an input ------------------------------------------------------------------------------------- */

/* Keeps what the call stored in p. Not a function: compilers may read p as an argument before they call. */
#define HANDLE_MAKE(kind, call)                                                                                    \
	do {                                                                                                       \
		const int status_ = (int)(call);                                                                   \
                                                                                                                   \
		if (!status_)                                                                                      \
			draw_keep(kind, p);                                                                        \
	} while (0)

static void memory_objects_make(void)
{
	const hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
				       .handleTypes = hipMemHandleTypePosixFileDescriptor,
				       .location = {.type = hipMemLocationTypeDevice}};
	const hipMemAllocationProp prop = {.type = hipMemAllocationTypePinned,
					   .requestedHandleType = hipMemHandleTypePosixFileDescriptor,
					   .location = {.type = hipMemLocationTypeDevice}};
	void *p = NULL;

	HANDLE_MAKE(K_POOL, hipMemPoolCreate((hipMemPool_t *)&p, &props));
	HANDLE_MAKE(K_MEMORY, hipMallocFromPoolAsync(&p, 4096, draw.handle[K_POOL][0], NULL));
	HANDLE_MAKE(K_MEMORY, hipMalloc(&p, 4096));
	HANDLE_MAKE(K_VMEM, hipMemCreate((hipMemGenericAllocationHandle_t *)&p, 2 << 20, &prop, 0));
	HANDLE_MAKE(K_RANGE, range_reserve(&p, 4 << 20, 0, NULL, 0));
}

static void code_objects_make(void)
{
	void *p = NULL;

	HANDLE_MAKE(K_GRAPH, hipGraphCreate((hipGraph_t *)&p, 0));
	HANDLE_MAKE(K_NODE, hipGraphAddEmptyNode((hipGraphNode_t *)&p, draw.handle[K_GRAPH][0], NULL, 0));
	HANDLE_MAKE(K_EXEC, hipGraphInstantiate((hipGraphExec_t *)&p, draw.handle[K_GRAPH][0], NULL, NULL, 0));
	HANDLE_MAKE(K_MODULE, hipModuleLoadData((hipModule_t *)&p, images[0]));
	HANDLE_MAKE(K_FUNCTION, hipModuleGetFunction((hipFunction_t *)&p, draw.handle[K_MODULE][0], "k_store"));
	HANDLE_MAKE(K_CTX, hipCtxGetCurrent((hipCtx_t *)&p));
	HANDLE_MAKE(K_OBJECT, hipUserObjectCreate((hipUserObject_t *)&p, draw.words, draw_host_fn, 1, 1));
	HANDLE_MAKE(K_PROGRAM, hiprtcCreateProgram((hiprtcProgram *)&p, "", NULL, 0, NULL, NULL));
	HANDLE_MAKE(K_LINK, hiprtcLinkCreate(0, NULL, NULL, (hiprtcLinkState *)&p));
}

static void homes_make(void)
{
	for (int device = 1; device >= 0; device--) {
		(void)!hipSetDevice(device);
		(void)!hipMalloc(&draw.home[device], HOME_B);
	}
	(void)!hipHostMalloc(&draw.home[2], HOME_B, 0);
	(void)!hipMallocManaged(&draw.home[3], HOME_B, hipMemAttachGlobal);
}

#if TUFF_HIP_ABI >= 7
static void libraries_make(void)
{
	void *p = NULL;

	HANDLE_MAKE(K_LIBRARY, hipLibraryLoadData((hipLibrary_t *)&p, images[0], NULL, NULL, 0, NULL, NULL, 0));
	HANDLE_MAKE(K_KERNEL, hipLibraryGetKernel((hipKernel_t *)&p, draw.handle[K_LIBRARY][0], "k_store"));
}
#else
static void libraries_make(void)
{
}
#endif

static void semaphores_make(void)
{
	for (unsigned i = 0; i < 2; i++) {
		hipExternalSemaphoreHandleDesc d = {.type = i ? hipExternalSemaphoreHandleTypeOpaqueFd
							      : hipExternalSemaphoreHandleTypeTimelineSemaphoreFd,
						    .handle.fd = other_files[i]};
		void *p = NULL;

		HANDLE_MAKE(K_EXTSEM, semaphore_import((hipExternalSemaphore_t *)&p, &d));
	}
}

/* A few objects of most kinds, so that the first calls have something to work on. */
static void objects_make(void)
{
	const hipChannelFormatDesc format = {.x = 32, .f = hipChannelFormatKindUnsigned};
	void *p = NULL;

	for (int device = 1; device >= 0; device--) {
		(void)!hipSetDevice(device);
		HANDLE_MAKE(K_STREAM, hipStreamCreate((hipStream_t *)&p));
		HANDLE_MAKE(K_EVENT, hipEventCreate((hipEvent_t *)&p));
		HANDLE_MAKE(K_EVENT, hipEventCreateWithFlags((hipEvent_t *)&p,
							     hipEventInterprocess | hipEventDisableTiming));
		HANDLE_MAKE(K_ARRAY, hipMallocArray((hipArray_t *)&p, &format, 16, 16, 0));
	}
	homes_make();
	memory_objects_make();
	code_objects_make();
	libraries_make();
	semaphores_make();
}

static void ranges_drop(void)
{
	for (unsigned i = 0; i < draw.maps; i++)
		(void)!hipMemUnmap(draw.map[i].at, draw.map[i].size_B);
	for (unsigned i = 0; i < draw.ranges; i++)
		(void)!hipMemAddressFree(draw.range[i].at, draw.range[i].size_B);
	for (unsigned i = 0; i < draw.locks; i++)
		(void)!hipHostUnregister(draw.locked[i]);
}

/* What belongs to the thread or the process, not to a device. */
static void process_restore(void)
{
	hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
	hipMemPool_t pool;
	hipCtx_t context;
	hipStream_t stream;
	size_t lds_B;
	dim3 d;

	hipRegisterTracerCallback(NULL);
	(void)!hipSetValidDevices(NULL, 0);
	(void)!hipThreadExchangeStreamCaptureMode(&mode);
	for (unsigned i = 0; i < CALLS_MAX && !hipCtxPopCurrent(&context) && context; i++)
		;
	for (unsigned i = 0; i < CALLS_MAX && !__hipPopCallConfiguration(&d, &d, &lds_B, &stream); i++)
		;
	(void)!hipCtxSetCurrent(NULL);
	for (int device = 0; device < 2; device++)
		if (!hipDeviceGetDefaultMemPool(&pool, device))
			(void)!hipDeviceSetMemPool(device, pool);
}

static void captures_end(void)
{
	hipGraph_t graph;

	for (unsigned i = 0; i < SLOTS; i++)
		if (!hipStreamEndCapture(draw.handle[K_STREAM][i], &graph) && graph)
			(void)!hipGraphDestroy(graph);
	if (!hipStreamEndCapture(hipStreamPerThread, &graph) && graph)
		(void)!hipGraphDestroy(graph);
}

/* Ends what the thread has begun. */
static void thread_end(void)
{
	captures_end();
	draw_destroy_all();
	ranges_drop();
	process_restore();
	(void)!hipHostFree(draw.home[2]);
	(void)!hipFree(draw.home[3]);
	draw_fds_close();
}

/* With version 7 every call after a GPU fault returns its error, until the process ends. The library forgets the fault, so that
 * the next input finds what a new process would: its devices' faults end with their reset, as in version 6. */
static void fault_forget(void)
{
	atomic_store(&hip.fault, hipSuccess);
}

static void input_end(void)
{
	fault_forget();
	thread_end();
	for (int device = 1; device >= 0; device--) {
		fault_forget();
		if (hipSetDevice(device) || hipDeviceReset())
			__builtin_trap();
	}
	fault_forget();
	(void)!hipGetLastError();
}

#endif
