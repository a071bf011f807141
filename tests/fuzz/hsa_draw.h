/* Arguments of HSA's functions, drawn from an input: handles that are alive, destroyed, of another kind, or made up; numbers in
 * and out of range; structures. Addresses of data are those of memory that exists: HSA may read what it gets. */
#ifndef TESTS_FUZZ_HSA_DRAW_H
#define TESTS_FUZZ_HSA_DRAW_H

#include <unistd.h>

#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>

#define DRAW_TYPES(X)                                                                                              \
	X(AGENT, hsa_agent_t)                                                                                      \
	X(REGION, hsa_region_t)                                                                                    \
	X(POOL, hsa_amd_memory_pool_t)                                                                             \
	X(ISA, hsa_isa_t)                                                                                          \
	X(CACHE, hsa_cache_t)                                                                                      \
	X(WAVE, hsa_wavefront_t)                                                                                   \
	X(SIGNAL, hsa_signal_t)                                                                                    \
	X(GROUP, hsa_signal_group_t)                                                                               \
	X(READER, hsa_code_object_reader_t)                                                                        \
	X(EXECUTABLE, hsa_executable_t)                                                                            \
	X(SYMBOL, hsa_executable_symbol_t)                                                                         \
	X(LOADED, hsa_loaded_code_object_t)                                                                        \
	X(CODE, hsa_code_object_t)                                                                                 \
	X(CODE_SYMBOL, hsa_code_symbol_t)                                                                          \
	X(IMAGE, hsa_ext_image_t)                                                                                  \
	X(SAMPLER, hsa_ext_sampler_t)                                                                              \
	X(VMEM, hsa_amd_vmem_alloc_handle_t)

enum draw_kind {
#define X(name, type) K_##name,
	DRAW_TYPES(X)
#undef X
	/* These handles are addresses. */
	K_QUEUE,
	K_MEMORY,
	K_RANGE,
	KINDS
};

typedef uint64_t draw_handle_t;
#define DRAW_NULL_AT 248
#define DRAW_OWN_MEMBERS                                                                                           \
	hsa_agent_t agents[3]; /* both GPUs, the CPU */                                                            \
	hsa_amd_ipc_memory_t ipc_memory;                                                                           \
	hsa_amd_ipc_signal_t ipc_signal;                                                                           \
	hsa_queue_t *queue[REMEMBERED]; /* alive */                                                                \
	unsigned queues;                                                                                           \
	uint64_t signal[REMEMBERED]; /* made by this input, alive or not */                                        \
	unsigned signals;
#include "tests/fuzz/draw.h"

static const void *image; /* a code object */
static size_t image_B;
static uint64_t kernel_objects[3];
static _Thread_local hsa_queue_t *spare_queue; /* never destroyed */

/* --- handles ---------------------------------------------------------------------------------- */

static uint64_t draw_made_up(void)
{
	static const uint64_t odd[] = {0, 1, 2, 3, 64, 4096, UINT64_MAX, (uint64_t)1 << 63};
	unsigned b = draw_byte();

	if (b < 64)
		return odd[b % 8];
	return b < 96 ? (uintptr_t)arena + (b - 64) * 8 : input_draw(&draw.in, 8);
}

static void draw_note(enum draw_kind kind, uint64_t value)
{
	if (kind == K_SIGNAL && draw.signals < REMEMBERED)
		draw.signal[draw.signals++] = value;
	if (kind == K_QUEUE && draw.queues < REMEMBERED)
		draw.queue[draw.queues++] = (hsa_queue_t *)(uintptr_t)value;
}

static uint64_t draw_handle(enum draw_kind kind)
{
	unsigned b = draw_byte();

	if (b < 224)
		return draw_slot(kind, b);
	if (b < 236)
		return draw_slot((enum draw_kind)(draw_byte() % KINDS), b) + (b & 8 ? 64 : 0);
	return b < 244 ? 0 : draw_made_up();
}
#define X(name, type)                                                                                              \
	static type draw_##name(void)                                                                              \
	{                                                                                                          \
		return (type){draw_handle(K_##name)};                                                              \
	}
DRAW_TYPES(X)
#undef X
#define AGENT       draw_AGENT()
#define REGION      draw_REGION()
#define POOL        draw_POOL()
#define ISA         draw_ISA()
#define CACHE       draw_CACHE()
#define WAVE        draw_WAVE()
#define SIGNAL      draw_SIGNAL()
#define GROUP       draw_GROUP()
#define READER      draw_READER()
#define EXECUTABLE  draw_EXECUTABLE()
#define SYMBOL      draw_SYMBOL()
#define LOADED      draw_LOADED()
#define CODE        draw_CODE()
#define CODE_SYMBOL draw_CODE_SYMBOL()
#define IMAGE       draw_IMAGE()
#define SAMPLER     draw_SAMPLER()
#define VMEM        draw_VMEM()
#define QUEUE       ((hsa_queue_t *)(uintptr_t)draw_handle(K_QUEUE))

/* For functions that trust it: they are as fast as a load. */
static hsa_queue_t *draw_live_queue(void)
{
	unsigned b = draw_byte();

	/* Another thread may destroy any queue by an address that is used again. */
	return draw.queues && !draw.private ? draw.queue[b % draw.queues] : spare_queue;
}
#define LIVE_QUEUE draw_live_queue()

static void draw_destroy(enum draw_kind kind, uint64_t h)
{
	void *at = (void *)(uintptr_t)h;

	switch (kind) {
	case K_SIGNAL:
		hsa_signal_store_screlease((hsa_signal_t){h}, 0);
		hsa_signal_destroy((hsa_signal_t){h});
		break;
	case K_GROUP:
		hsa_signal_group_destroy((hsa_signal_group_t){h});
		break;
	case K_READER:
		hsa_code_object_reader_destroy((hsa_code_object_reader_t){h});
		break;
	case K_EXECUTABLE:
		hsa_executable_destroy((hsa_executable_t){h});
		break;
	case K_CODE:
		hsa_code_object_destroy((hsa_code_object_t){h});
		break;
	case K_IMAGE:
		for (unsigned i = 0; i < 2; i++)
			hsa_ext_image_destroy(draw.agents[i], (hsa_ext_image_t){h});
		break;
	case K_SAMPLER:
		for (unsigned i = 0; i < 2; i++)
			hsa_ext_sampler_destroy(draw.agents[i], (hsa_ext_sampler_t){h});
		break;
	case K_VMEM:
		hsa_amd_vmem_handle_release((hsa_amd_vmem_alloc_handle_t){h});
		break;
	case K_MEMORY:
		if (hsa_amd_memory_pool_free(at) && hsa_amd_ipc_memory_detach(at))
			hsa_amd_interop_unmap_buffer(at);
		break;
	default:
		break;
	}
}

/* --- numbers ---------------------------------------------------------------------------------- */

static int64_t draw_value_64(void)
{
	static const int64_t some[] = {0, 1, 1, 2, -1, INT64_MIN, INT64_MAX, 1 << 20};

	return DRAW(some);
}
#define VALUE_64 draw_value_64()

static uint64_t draw_index(void)
{
	static const uint64_t some[] = {0, 1, 2, 3, 8, 63, 64, 65};

	return DRAW(some);
}
#define INDEX draw_index()

/* Ticks: waits are short. */
static uint64_t draw_timeout(void)
{
	static const uint64_t some[] = {0, 1, 1000, 20000};

	return DRAW(some);
}
#define TIMEOUT draw_timeout()

/* Attributes of agents: HSA's, and AMD's from 0xA000 on. */
#define AGENT_INFO                                                                                                 \
	((hsa_agent_info_t)(draw_byte() & 1 ? (unsigned)draw_enum(24) : 0xa000u + (unsigned)draw_enum(30)))

#define CU_BITS (draw_byte() % 16 * 32)

static size_t draw_allocation(void)
{
	static const size_t some[] = {4096, 2 << 20, 4096, 65536, 65537, 1 << 20, 1, 100, 4 << 20, 0};

	return draw_size(some, 10);
}
#define SIZE draw_allocation()

static size_t draw_length(void)
{
	static const size_t some[] = {0, 1, 3, 4, 8, 64, 100, 256, 4096, 10000, HOME_B / 2, HOME_B};

	return draw_size(some, 12);
}
#define LENGTH draw_length()
#define WORDS  (draw_length() / 4)

static size_t draw_pitch(void)
{
	static const size_t some[] = {0, 64, 100, 256, 1024, 4096};

	return draw_size(some, 6);
}
#define PITCH draw_pitch()

static uint32_t draw_queue_size(void)
{
	static const uint32_t some[] = {64, 64, 128, 1024, 0, 1, 2, 63, 1u << 20, 0x80000000, 0xffffffff};

	return DRAW(some);
}
#define QUEUE_SIZE draw_queue_size()

static uint32_t draw_segment(void)
{
	static const uint32_t some[] = {UINT32_MAX, UINT32_MAX, 0, 256, 65536, 0x7fffffff};

	return DRAW(some);
}
#define SEGMENT draw_segment()

/* --- addresses -------------------------------------------------------------------------------- */

#define HOME draw.home[draw_byte() % HOMES]

/* Memory that HSA may read and write. */
static void *draw_data(void)
{
	unsigned b = draw_byte();

	if (b >= 252)
		return NULL;
	if (b >= 176)
		return draw_host();
	/* Copies between two parts of the host's memory are the CPU's. */
	draw.host |= b % HOMES >= 2;
	return (void *)((uintptr_t)draw.home[b % HOMES] + (b & 16 ? draw_byte() * 4u : 0));
}
#define DATA draw_data()

/* Any address, for functions that only look it up. */
static void *draw_address(void)
{
	unsigned b = draw_byte();

	if (b < 64)
		return draw_data();
	return (void *)(uintptr_t)(b < 240 ? draw_slot(K_MEMORY, b) : draw_made_up());
}
#define ADDRESS draw_address()

static void *draw_range(void)
{
	unsigned b = draw_byte();

	if (b >= 240)
		return (void *)(uintptr_t)draw_made_up();
	return (void *)(uintptr_t)(draw_slot(K_RANGE, b) + (b >= 200 ? 2 << 20 : 0) + (b >= 232 ? 4096 : 0));
}
#define RANGE_AT draw_range()

static void *draw_out(void)
{
	return draw_byte() >= 248 ? NULL : scratch[draw.scratch_next++ % SCRATCHES];
}
#define OUT draw_out()

static void *draw_bytes(void)
{
	memset(draw.words, 0, sizeof(draw.words));
	for (unsigned i = 0; i < 4; i++)
		draw.words[i] = draw_int();
	return DRAW_NULL_OR(draw.words);
}
#define BYTES draw_bytes()

static void *draw_capacity(void)
{
	draw.capacity = draw_byte() % 32;
	return DRAW_NULL_OR(&draw.capacity);
}
#define CAPACITY draw_capacity()

/* Values and conditions that a wait without a time limit meets at once. */
static void *draw_least(void)
{
	for (unsigned i = 0; i < 32; i++)
		draw.words[i] = (uint64_t)INT64_MIN;
	return draw.words;
}
#define LEAST draw_least()

static hsa_signal_condition_t always[SLOTS] = {[0 ... SLOTS - 1] = HSA_SIGNAL_CONDITION_GTE};
#define ALWAYS always

static hsa_signal_condition_t *draw_conditions(void)
{
	DRAW_STATIC hsa_signal_condition_t list[SLOTS];

	for (unsigned i = 0; i < SLOTS; i++)
		list[i] = i < 2 ? (hsa_signal_condition_t)draw_enum(3) : HSA_SIGNAL_CONDITION_LT;
	return DRAW_NULL_OR(list);
}
#define CONDITIONS draw_conditions()

static void *draw_values(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		draw.words[i] = i < 2 ? (uint64_t)draw_value_64() : 1;
	return DRAW_NULL_OR(draw.words);
}
#define VALUES draw_values()

/* --- names and code ----------------------------------------------------------------------------- */

static const char *draw_symbol_name(void)
{
	static const char *const some[] = {"k_store.kd", "k_empty.kd", "k_store.kd", "k_store",
					   "counter",    "",           "no",         NULL};

	return DRAW(some);
}
#define SYMBOL_NAME draw_symbol_name()

static const char *draw_module_name(void)
{
	static const char *const some[] = {NULL, "", "no"};

	return DRAW(some);
}
#define MODULE_NAME draw_module_name()
#define OPTIONS     draw_module_name()

static const char *draw_isa_name(void)
{
	static const char *const some[] = {"amdgcn-amd-amdhsa--gfx908",
					   "amdgcn-amd-amdhsa--gfx908:xnack-:sramecc+",
					   "amdgcn-amd-amdhsa--gfx",
					   "amdgcn",
					   "",
					   ":",
					   NULL};

	return DRAW(some);
}
#define ISA_NAME draw_isa_name()

static const void *draw_image(void)
{
	unsigned b = draw_byte();

	return b < 200 ? image : b < 240 ? (const void *)scratch : NULL;
}
#define IMAGE_BYTES ((void *)(uintptr_t)draw_image())

static size_t draw_code_size(void)
{
	const size_t some[] = {image_B, image_B, image_B - 1, 64, 63, 4, 0, SCRATCH_B};

	return DRAW(some);
}
#define CODE_SIZE draw_code_size()

static int draw_fd(void)
{
	unsigned b = draw_byte();

	return b < 200 ? draw.fds[b % 4] : -(int)b;
}
#define FD draw_fd()

/* --- functions of the client ---------------------------------------------------------------------- */

static void draw_queue_fn(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	(void)status;
	(void)queue;
	(void)data;
}
#define QUEUE_FN (draw_byte() >= 128 ? NULL : draw_queue_fn)

static bool draw_handler(hsa_signal_value_t value, void *data)
{
	(void)value;
	(void)data;
	return false;
}
#define HANDLER DRAW_NULL_OR(draw_handler)

static void draw_async_fn(void *data)
{
	(void)data;
}
#define ASYNC_FN DRAW_NULL_OR(draw_async_fn)

static hsa_status_t draw_event_fn(const hsa_amd_event_t *event, void *data)
{
	(void)event;
	(void)data;
	return HSA_STATUS_SUCCESS;
}
#define EVENT_FN DRAW_NULL_OR(draw_event_fn)

static void draw_freed_fn(void *memory, void *data)
{
	(void)memory;
	(void)data;
}
#define FREED_FN DRAW_NULL_OR(draw_freed_fn)

static void draw_intercept_fn(const void *packets, uint64_t count, uint64_t index, void *data,
			      hsa_amd_queue_intercept_packet_writer writer)
{
	(void)index;
	(void)data;
	writer(packets, count);
}
#define INTERCEPT_FN DRAW_NULL_OR(draw_intercept_fn)

static void draw_runtime_fn(const hsa_queue_t *queue, hsa_agent_t agent, void *data)
{
	(void)queue;
	(void)agent;
	(void)data;
}
#define RUNTIME_FN DRAW_NULL_OR(draw_runtime_fn)

static void *draw_alloc_fn(size_t size_B)
{
	return size_B <= SCRATCH_B ? scratch[SCRATCHES - 1] : NULL;
}
#define ALLOC_FN (draw_byte() >= 128 ? NULL : draw_alloc_fn)

static hsa_status_t draw_serialize_fn(size_t size_B, hsa_callback_data_t data, void **address)
{
	(void)data;
	*address = size_B <= ARENA_B ? arena : NULL;
	return HSA_STATUS_SUCCESS;
}
#define SERIALIZE_FN DRAW_NULL_OR(draw_serialize_fn)

#define OTHER __attribute__((unused))
#define FOUND(name, kind, ...)                                                                                     \
	static hsa_status_t draw_found_##name(__VA_ARGS__, void *data)                                             \
	{                                                                                                          \
		(void)data;                                                                                        \
		draw_keep(K_##kind, found.handle);                                                                 \
		return draw_byte() & 1 ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;                               \
	}
FOUND(agent, AGENT, hsa_agent_t found)
FOUND(region, REGION, hsa_region_t found)
FOUND(pool, POOL, hsa_amd_memory_pool_t found)
FOUND(cache, CACHE, hsa_cache_t found)
FOUND(isa, ISA, hsa_isa_t found)
FOUND(wave, WAVE, hsa_wavefront_t found)
FOUND(symbol, SYMBOL, OTHER hsa_executable_t executable, hsa_executable_symbol_t found)
FOUND(agent_symbol, SYMBOL, OTHER hsa_executable_t executable, OTHER hsa_agent_t agent,
      hsa_executable_symbol_t found)
FOUND(code_symbol, CODE_SYMBOL, OTHER hsa_code_object_t code, hsa_code_symbol_t found)
FOUND(loaded, LOADED, OTHER hsa_executable_t executable, hsa_loaded_code_object_t found)
#define FOUND_AGENT        DRAW_NULL_OR(draw_found_agent)
#define FOUND_REGION       DRAW_NULL_OR(draw_found_region)
#define FOUND_POOL         DRAW_NULL_OR(draw_found_pool)
#define FOUND_CACHE        DRAW_NULL_OR(draw_found_cache)
#define FOUND_ISA          DRAW_NULL_OR(draw_found_isa)
#define FOUND_WAVE         DRAW_NULL_OR(draw_found_wave)
#define FOUND_SYMBOL       DRAW_NULL_OR(draw_found_symbol)
#define FOUND_AGENT_SYMBOL DRAW_NULL_OR(draw_found_agent_symbol)
#define FOUND_CODE_SYMBOL  DRAW_NULL_OR(draw_found_code_symbol)
#define FOUND_LOADED       DRAW_NULL_OR(draw_found_loaded)

/* The program's own executable is not the input's to destroy. */
static hsa_status_t draw_found_executable(hsa_executable_t found, void *data)
{
	(void)found;
	(void)data;
	return HSA_STATUS_SUCCESS;
}
#define FOUND_EXECUTABLE DRAW_NULL_OR(draw_found_executable)

#endif
