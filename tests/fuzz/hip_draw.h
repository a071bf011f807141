/* Arguments of HIP's functions, drawn from an input: handles that are alive, destroyed, of another kind, or made up; sizes and
 * numbers in and out of range; structures. Addresses of data are those of memory that exists: HIP may read what it gets. */
#ifndef TESTS_FUZZ_HIP_DRAW_H
#define TESTS_FUZZ_HIP_DRAW_H

#include <unistd.h>

#define HIP_DEPRECATED
#include <hip/api/registration.h>
#include <hip/hip_ext.h>
#include <hip/hip_gl_interop.h>
#include <hip/hip_hcc.h>
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

/* A kind of handle, and how one is destroyed. */
#define DRAW_KINDS(X)                                                                                              \
	X(STREAM, hipStreamDestroy(handle))                                                                        \
	X(EVENT, hipEventDestroy(handle))                                                                          \
	X(MODULE, hipModuleUnload(handle))                                                                         \
	X(FUNCTION, 0)                                                                                             \
	X(POOL, hipMemPoolDestroy(handle))                                                                         \
	X(GRAPH, hipGraphDestroy(handle))                                                                          \
	X(EXEC, hipGraphExecDestroy(handle))                                                                       \
	X(NODE, 0)                                                                                                 \
	X(ARRAY, hipFreeArray(handle))                                                                             \
	X(MIPMAP, hipFreeMipmappedArray(handle))                                                                   \
	X(TEXTURE, hipDestroyTextureObject(handle))                                                                \
	X(SURFACE, hipDestroySurfaceObject(handle))                                                                \
	X(VMEM, hipMemRelease(handle))                                                                             \
	X(OBJECT, draw_object_release(handle))                                                                     \
	X(EXTMEM, hipDestroyExternalMemory(handle))                                                                \
	X(EXTSEM, hipDestroyExternalSemaphore(handle))                                                             \
	X(CTX, 0)                                                                                                  \
	X(LINK, hipLinkDestroy(handle))                                                                            \
	X(PROGRAM, draw_program_destroy(handle))                                                                   \
	X(GRAPHICS, hipGraphicsUnregisterResource(handle))                                                         \
	X(MEMORY, draw_memory_free(handle))                                                                        \
	X(RANGE, 0)                                                                                                \
	DRAW_KINDS_7(X)
#if TUFF_HIP_ABI >= 7
#define DRAW_KINDS_7(X)                                                                                            \
	X(LIBRARY, hipLibraryUnload(handle))                                                                       \
	X(KERNEL, 0)
#else
#define DRAW_KINDS_7(X)
#endif

enum draw_kind {
#define X(name, destroy) K_##name,
	DRAW_KINDS(X)
#undef X
		KINDS
};

typedef void *draw_handle_t;
#define DRAW_NULL_AT 244
#define DRAW_OWN_MEMBERS                                                                                           \
	hipIpcMemHandle_t ipc_memory;                                                                              \
	hipIpcEventHandle_t ipc_event;                                                                             \
	hipMemPoolPtrExportData exported;                                                                          \
	size_t sizes[SLOTS];                                                                                       \
	void *outs[SLOTS];                                                                                         \
	void *arguments[SLOTS];                                                                                    \
	void *extra[5];                                                                                            \
	size_t extra_B;                                                                                            \
	textureReference texture;
#include "tests/fuzz/draw.h"

static int host_kernels[3], host_variables[2]; /* addresses of what the program was "linked" with */
static void *images[4];

static hipError_t draw_object_release(hipUserObject_t object)
{
	return hipUserObjectRelease(object, 1);
}

static hiprtcResult draw_program_destroy(hiprtcProgram program)
{
	return hiprtcDestroyProgram(&program);
}

static hipError_t draw_memory_free(void *memory)
{
	return hipFree(memory) && hipHostFree(memory) ? hipErrorInvalidValue : hipSuccess;
}

static void draw_destroy(enum draw_kind kind, void *handle)
{
	if (!handle)
		return;
	switch (kind) {
#define X(name, destroyed)                                                                                         \
	case K_##name:                                                                                             \
		(void)!(destroyed);                                                                                \
		break;
		DRAW_KINDS(X)
#undef X
	default:
		break;
	}
}

/* --- handles ---------------------------------------------------------------------------------- */

static void *draw_made_up(void)
{
	void *const odd[] = {NULL, (void *)1, (void *)2, (void *)3, (void *)-1, arena, scratch, &draw};
	unsigned b = draw_byte();

	return b < 128 ? odd[b % 8] : (void *)(uintptr_t)input_draw(&draw.in, 8);
}

static void draw_note(enum draw_kind kind, void *value)
{
	(void)kind, (void)value;
}

static void *draw_handle(enum draw_kind kind)
{
	unsigned b = draw_byte();

	if (b < 224)
		return draw_slot(kind, b);
	if (b < 236)
		return draw_slot((enum draw_kind)(draw_byte() % KINDS), b);
	return b < 244 ? NULL : draw_made_up();
}
#define H(kind) draw_handle(K_##kind)

/* --- numbers ---------------------------------------------------------------------------------- */

#define INT  ((int)draw_int())
#define REAL ((float)(int)draw_int())
#define NONE 0

/* The kind of a handle for other processes: descriptors alone are supported. */
static int draw_handle_type(void)
{
	static const int some[] = {1, 1, 1, 1, 0, 2, 4, -1};

	return DRAW(some);
}
#define HANDLE_TYPE draw_handle_type()

static int draw_device(void)
{
	static const int some[] = {0, 1, 0, 1, 0, 1, 2, -1, 0x7fffffff, (int)0x80000000};

	return DRAW(some);
}
#define DEVICE draw_device()

static unsigned draw_count(void)
{
	static const unsigned some[] = {1, 1, 2, 3, 0, 0xffffffff};

	return DRAW(some);
}
#define COUNT draw_count()

static size_t draw_allocation(void)
{
	static const size_t some[] = {2 << 20, 2 << 20, 4096, 65536, 65537, 1 << 20, 1, 100, 4 << 20, 0};

	return draw_size(some, 10);
}
#define SIZE draw_allocation()

static size_t draw_length(void)
{
	static const size_t some[] = {64, 1, 3, 4, 8, 0, 100, 256, 4096, 10000, HOME_B / 2, HOME_B};

	return draw_size(some, 12);
}
#define LENGTH draw_length()

static size_t draw_width(void)
{
	static const size_t some[] = {16, 16, 4, 1, 17, 64, 100, 256, 0};

	return draw_size(some, 9);
}
#define WIDTH draw_width()

static size_t draw_height(void)
{
	static const size_t some[] = {1, 1, 2, 3, 4, 16, 32, 0};

	return draw_size(some, 8);
}
#define HEIGHT draw_height()

static size_t draw_pitch(void)
{
	static const size_t some[] = {256, 256, 1024, 256, 100, 8192, 0};

	return draw_size(some, 7);
}
#define PITCH draw_pitch()

static uint32_t draw_lds(void)
{
	static const uint32_t some[] = {0, 0, 0, 256, 65536, 65537, 0xffffffff};

	return DRAW(some);
}
#define LDS draw_lds()

/* Grids stay small: each group is run. */
static uint32_t draw_grid(void)
{
	static const uint32_t some[] = {1, 1, 1, 2, 3, 0};

	return DRAW(some);
}
#define GRID draw_grid()

static uint32_t draw_block(void)
{
	static const uint32_t some[] = {64, 1, 32, 256, 0, 100, 1024, 1025};

	return DRAW(some);
}
#define BLOCK draw_block()

static uint32_t draw_block_yz(void)
{
	static const uint32_t some[] = {1, 1, 1, 1, 1, 2, 0, 1025, 0xffffffff};

	return DRAW(some);
}
#define BLOCK_YZ draw_block_yz()

static dim3 draw_dim(void)
{
	dim3 d = {draw_grid(), draw_grid(), draw_grid()};

	if (draw_byte() & 1)
		d.x = draw_block();
	return d;
}
#define DIM draw_dim()

/* Conditions that a value of 0 under a mask of 0 meets: the stream goes on. */
static uint32_t draw_wait_flags(void)
{
	static const uint32_t some[] = {hipStreamWaitValueGte, hipStreamWaitValueEq, 4, 0xffffffff};

	return DRAW(some);
}
#define WAIT_FLAGS draw_wait_flags()

static hipExtent draw_extent(void)
{
	static const size_t depths[] = {1, 1, 1, 2, 0};
	hipExtent e = {.width = draw_width()};

	e.height = draw_height();
	e.depth = draw_size(depths, 5);
	return e;
}
#define EXTENT draw_extent()

static hipPos draw_pos(void)
{
	static const size_t some[] = {0, 0, 0, 1, 4};
	hipPos p = {.x = draw_byte() < 160 ? 0 : draw_width()};

	p.y = draw_size(some, 5);
	p.z = draw_size(some, 5);
	return p;
}

/* --- addresses -------------------------------------------------------------------------------- */

static bool memory_lives(const void *at)
{
	hipPointerAttribute_t a;

	return at && !hipPointerGetAttributes(&a, at) && a.type != hipMemoryTypeUnregistered;
}

/* Memory that HIP may read and write. */
static void *draw_data(void)
{
	unsigned b = draw_byte();
	void *at = b < 160 || draw.private ? draw.home[b % HOMES] : draw_slot(K_MEMORY, b);

	if (b >= 250)
		return NULL;
	if (b >= 200 || !memory_lives(at))
		return draw_host();
	return (void *)((uintptr_t)at + (b & 16 ? draw_byte() * 4u : 0));
}
#define DATA draw_data()

/* Any address, for functions that only look it up. */
static void *draw_address(void)
{
	unsigned b = draw_byte();

	if (b < 96)
		return draw_data();
	return b < 240 ? draw_slot(K_MEMORY, b) : draw_made_up();
}
#define ADDRESS draw_address()

static void *draw_range(void)
{
	unsigned b = draw_byte();

	if (b >= 240)
		return draw_made_up();
	return (void *)((uintptr_t)draw_slot(K_RANGE, b) + (b >= 200 ? 2 << 20 : 0) + (b >= 232 ? 4096 : 0));
}
#define RANGE_AT draw_range()

static void *draw_out(void)
{
	return draw_byte() >= 244 ? NULL : scratch[draw.scratch_next++ % SCRATCHES];
}
#define OUT draw_out()

static void *draw_bytes(void)
{
	if (draw_byte() >= 240)
		return NULL;
	memset(draw.words, 0, sizeof(draw.words));
	for (unsigned i = 0; i < 4; i++)
		draw.words[i] = draw_int();
	return draw.words;
}
#define BYTES draw_bytes()

static void *draw_outs(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		draw.outs[i] = scratch[i % SCRATCHES];
	draw.outs[1] = draw_out();
	return draw_byte() >= 240 ? NULL : draw.outs;
}
#define OUTS draw_outs()

static void *draw_sizes(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		draw.sizes[i] = draw_byte() % 64;
	return draw.sizes;
}
#define SIZES draw_sizes()

static void *draw_capacity(void)
{
	draw.capacity = draw_byte() % 64;
	return draw.capacity == 63 ? NULL : &draw.capacity;
}
#define CAPACITY   draw_capacity()
#define NODES      draw_out()
#define NONE_P     NULL
#define PROPERTIES ((void *)scratch)
#define TEXREF     (draw_byte() >= 240 ? NULL : &draw.texture)

/* --- names, functions, files ------------------------------------------------------------------ */

static size_t draw_align(void)
{
	static const size_t some[] = {0, 0, 4096, 2 << 20, 3, 1ull << 40};

	return DRAW(some);
}
#define ALIGN draw_align()

/* No kernel writes more than its first word: a large grid would reach the driver's own memory. */
static const char *draw_kernel_name(void)
{
	static const char *const some[] = {"k_store", "k_empty", "k_store", "", "no", "counter", NULL};

	return DRAW(some);
}
#define KERNEL_NAME draw_kernel_name()

static const char *draw_variable_name(void)
{
	static const char *const some[] = {"counter", "zeroed", "pointer", "k_store", "", "no", NULL};

	return DRAW(some);
}
#define VARIABLE_NAME draw_variable_name()

static const char *draw_api_name(void)
{
	static const char *const some[] = {"hipMalloc", "hipChooseDevice", "hipStreamCreate_spt", "", "hip", NULL};

	return DRAW(some);
}
#define API_NAME draw_api_name()

static const char *draw_file_name(void)
{
	static const char *const some[] = {"/dev/null", "/nonexistent/file", "", "/", NULL};

	return DRAW(some);
}
#define FILE_NAME draw_file_name()

static const char *draw_bus(void)
{
	static const char *const some[] = {"0000:03:00.0", "0000:04:00.0", "03:00", "zz", "", "::::.....", NULL};

	return DRAW(some);
}
#define BUS_ID draw_bus()

static void draw_host_fn(void *data)
{
	(void)data;
}
#define HOST_FN (draw_byte() >= 240 ? NULL : draw_host_fn)

static void draw_stream_fn(hipStream_t stream, hipError_t status, void *data)
{
	(void)stream;
	(void)status;
	(void)data;
}
#define STREAM_FN (draw_byte() >= 240 ? NULL : draw_stream_fn)

static int draw_trace(int domain, uint32_t operation, void *data)
{
	(void)domain;
	(void)operation;
	(void)data;
	return 0;
}
#define TRACER (draw_byte() >= 128 ? NULL : draw_trace)

static void *draw_host_kernel(void)
{
	unsigned b = draw_byte();

	return b < 160 ? &host_kernels[b % 3] : b < 230 ? draw_handle(K_FUNCTION) : draw_made_up();
}
#define HOST_KERNEL draw_host_kernel()

static void *draw_symbol(void)
{
	unsigned b = draw_byte();

	return b < 200 ? &host_variables[b % 2] : draw_made_up();
}
#define SYMBOL draw_symbol()
#define IMAGE  DRAW(images)

static int draw_fd(void)
{
	unsigned b = draw_byte();

	return b < 200 ? draw.fds[b % 4] : -1;
}
#define FD ((void *)(intptr_t)draw_fd())

static void *draw_args(void)
{
	for (unsigned i = 0; i < 4; i++) {
		draw.words[i] = (uintptr_t)draw_data();
		draw.arguments[i] = &draw.words[i];
	}
	draw.words[1] = draw_int();
	for (unsigned i = 4; i < SLOTS; i++)
		draw.arguments[i] = &draw.words[i];
	return draw_byte() >= 240 ? NULL : draw.arguments;
}
#define ARGS draw_args()

static void *draw_extra(void)
{
	static const size_t sizes[] = {16, 12, 8, 0, 64, 256};
	unsigned b = draw_byte();

	if (b < 160)
		return NULL;
	draw.words[0] = (uintptr_t)draw_data();
	draw.words[1] = draw_int();
	draw.extra_B = DRAW(sizes);
	draw.extra[0] = HIP_LAUNCH_PARAM_BUFFER_POINTER;
	draw.extra[1] = draw.words;
	draw.extra[2] = HIP_LAUNCH_PARAM_BUFFER_SIZE;
	draw.extra[3] = &draw.extra_B;
	draw.extra[4] = HIP_LAUNCH_PARAM_END;
	if (b >= 224)
		draw.extra[(b & 1) * 2] = HIP_LAUNCH_PARAM_END;
	return draw.extra;
}
#define EXTRA draw_extra()

/* --- handles between processes ---------------------------------------------------------------- */

static void draw_spoil(void *bytes, size_t size_B)
{
	unsigned b = draw_byte();

	if (b & 128)
		((uint8_t *)bytes)[b % size_B] ^= (uint8_t)draw_byte();
}

static hipIpcMemHandle_t draw_ipc_memory(void)
{
	hipIpcMemHandle_t h = draw.ipc_memory;

	draw_spoil(&h, sizeof(h));
	return h;
}
#define IPC_MEMORY     draw_ipc_memory()
#define NEW_IPC_MEMORY (draw_byte() >= 240 ? NULL : &draw.ipc_memory)

static hipIpcEventHandle_t draw_ipc_event(void)
{
	hipIpcEventHandle_t h = draw.ipc_event;

	draw_spoil(&h, sizeof(h));
	return h;
}
#define IPC_EVENT     draw_ipc_event()
#define NEW_IPC_EVENT (draw_byte() >= 240 ? NULL : &draw.ipc_event)

static void *draw_export(void)
{
	draw_spoil(&draw.exported, sizeof(draw.exported));
	return draw_byte() >= 240 ? NULL : &draw.exported;
}
#define EXPORT draw_export()

#endif
