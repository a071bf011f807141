/* Code objects through HSA: readers, executables and their definitions, several code objects that depend on one
 * another, symbols, the interface for debuggers, HSA 1.0's functions; and the status of each function for input
 * that is no code, or foreign. */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <hsa/hsa_ven_amd_loader.h>

#include "shaders/blob.h"
#include "tests/code/code.h"
#include "tests/hsa_run.h"
#include "tests/random.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob test_blobs[];

static struct hsa_find t;
static hsa_ven_amd_loader_1_03_pfn_t loader;

/* --- loading, as most programs do it ---------------------------------------------------------- */

static hsa_executable_t new_executable(void)
{
	hsa_executable_t e;

	CHECK_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &e), 0);
	return e;
}

/* The reader goes as soon as the code is loaded: nothing needs it any more. */
static hsa_status_t load(hsa_executable_t e, const struct shader_blob *blob, hsa_loaded_code_object_t *loaded)
{
	hsa_code_object_reader_t reader;
	hsa_status_t status;

	CHECK_EQ(hsa_code_object_reader_create_from_memory(blob->image, blob->size_B, &reader), 0);
	status = hsa_executable_load_agent_code_object(e, t.gpu[0].agent, reader, NULL, loaded);
	CHECK_EQ(hsa_code_object_reader_destroy(reader), 0);
	CHECK_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
	return status;
}

static hsa_executable_symbol_t symbol_of(hsa_executable_t e, const char *name)
{
	hsa_executable_symbol_t symbol = {0};

	CHECK_EQ(hsa_executable_get_symbol_by_name(e, name, &t.gpu[0].agent, &symbol), 0);
	return symbol;
}

static uint64_t ask(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute)
{
	uint64_t value = 0;

	CHECK_EQ(hsa_executable_symbol_get_info(symbol, attribute, &value), 0);
	return value;
}

/* --- code objects that need one another ------------------------------------------------------- */

static const uint32_t wanted[] = {12, 0, 5, 11, 12, 41, 99};

/* What tests/code/variables.c reads after its counter was bumped from 7 to 12. */
static void run_variables(hsa_executable_t e, uint32_t outside)
{
	struct hsa_run run;
	uint32_t *out, by = 5;

	if (!hsa_run_open(&run, &t, 0))
		return;
	CHECK_EQ(hsa_amd_memory_pool_allocate(t.cpu[0].fine, 4096, 0, (void **)&out), 0);
	hsa_run_kernel(&run, symbol_of(e, "bump.kd"), 1, &by, sizeof(by));
	hsa_run_kernel(&run, symbol_of(e, "read_all.kd"), 1, &out, sizeof(out));
	for (unsigned i = 0; i < 7; i++)
		CHECK_EQ(out[i], i == 5 ? outside : wanted[i]);
	CHECK_EQ(hsa_amd_memory_pool_free(out), 0);
	hsa_run_close(&run);
}

static void check_variable(hsa_executable_t e)
{
	hsa_executable_symbol_t primes = symbol_of(e, "primes"), weak = symbol_of(e, "weak_one");
	uint64_t va = ask(primes, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS);
	uint32_t there[4] = {0};
	char name[16] = "................";

	CHECK_EQ(ask(primes, HSA_EXECUTABLE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_VARIABLE);
	CHECK_EQ(ask(primes, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH), 6);
	CHECK_EQ(hsa_executable_symbol_get_info(primes, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name), 0);
	CHECK(!memcmp(name, "primes..", 8)); /* no end */
	CHECK_EQ(ask(primes, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE), 16);
	CHECK_EQ(ask(primes, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST), true);
	CHECK_EQ(ask(weak, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST), false);
	CHECK_EQ(ask(primes, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION), HSA_VARIABLE_ALLOCATION_AGENT);
	CHECK_EQ(ask(primes, HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE), HSA_SYMBOL_LINKAGE_PROGRAM);
	CHECK_EQ(ask(weak, HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE), HSA_SYMBOL_LINKAGE_MODULE);
	CHECK_EQ(ask(primes, HSA_EXECUTABLE_SYMBOL_INFO_AGENT), t.gpu[0].agent.handle);
	/* A variable is memory that copies reach, whether the CPU does or not. */
	CHECK_EQ(hsa_memory_copy(there, (const void *)(uintptr_t)va, sizeof(there)), 0);
	CHECK(there[0] == 2 && there[3] == 7);
	CHECK_EQ(hsa_executable_symbol_get_info(primes, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, there),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void check_kernel(hsa_executable_t e)
{
	hsa_executable_symbol_t kernel = symbol_of(e, "read_all.kd");
	uint64_t object = ask(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
	hsa_executable_t found;
	const void *host = NULL;

	CHECK_EQ(ask(kernel, HSA_EXECUTABLE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_KERNEL);
	CHECK_EQ(ask(kernel, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH), strlen("read_all.kd"));
	CHECK(ask(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE) >= 8);
	CHECK_EQ(ask(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK), false);
	CHECK_EQ(loader.hsa_ven_amd_loader_query_host_address((const void *)(uintptr_t)object, &host), 0);
	CHECK(host && ((const uint32_t *)host)[2] >= 8); /* the descriptor's kernarg size */
	CHECK_EQ(loader.hsa_ven_amd_loader_query_executable((const void *)(uintptr_t)object, &found), 0);
	CHECK_EQ(found.handle, e.handle);
	CHECK_EQ(loader.hsa_ven_amd_loader_query_executable(&found, &found), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void check_kernel_is_there(hsa_executable_t e)
{
	CHECK_EQ(ask(symbol_of(e, "bump.kd"), HSA_EXECUTABLE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_KERNEL);
}

static hsa_status_t count_symbol(hsa_executable_t e, hsa_executable_symbol_t symbol, void *data)
{
	(void)e, (void)symbol;
	++*(unsigned *)data;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t stop_at_second(hsa_executable_t e, hsa_agent_t agent, hsa_executable_symbol_t symbol,
				   void *data)
{
	(void)e, (void)symbol;
	CHECK_EQ(agent.handle, t.gpu[0].agent.handle);
	return ++*(unsigned *)data == 2 ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

/* `outside` comes from another code object. */
static void two_code_objects(const char *format, const char *target)
{
	hsa_executable_t e = new_executable();
	hsa_executable_symbol_t symbol;
	char variables[32], outside[32];
	unsigned count = 0;

	snprintf(variables, sizeof(variables), "variables.%s", format);
	snprintf(outside, sizeof(outside), "outside.%s", format);
	CHECK_EQ(load(e, shader_find(code_blobs, variables, target), NULL), HSA_STATUS_ERROR_VARIABLE_UNDEFINED);
	CHECK_EQ(load(e, shader_find(code_blobs, outside, target), NULL), 0);
	CHECK_EQ(load(e, shader_find(code_blobs, outside, target), NULL),
		 HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
	CHECK_EQ(load(e, shader_find(code_blobs, variables, target), NULL), 0);
	CHECK_EQ(hsa_executable_freeze(e, NULL), 0);
	run_variables(e, 41);
	check_variable(e);
	check_kernel(e);
	CHECK_EQ(hsa_executable_iterate_symbols(e, count_symbol, &count), 0);
	CHECK_EQ(count, 8); /* 2 kernels; counter, table, primes, weak_one, pointer; outside */
	count = 0;
	CHECK_EQ(hsa_executable_iterate_program_symbols(e, count_symbol, &count), 0);
	CHECK_EQ(count, 0);
	CHECK_EQ(hsa_executable_iterate_agent_symbols(e, t.gpu[0].agent, stop_at_second, &count),
		 HSA_STATUS_INFO_BREAK);
	CHECK_EQ(count, 2);
	/* What belongs to an agent is not the program's. */
	CHECK_EQ(hsa_executable_get_symbol_by_name(e, "counter", NULL, &symbol),
		 HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	CHECK_EQ(hsa_executable_get_symbol(e, NULL, "counter", t.gpu[0].agent, 0, &symbol), 0);
	CHECK_EQ(hsa_executable_get_symbol_by_name(e, "count", &t.gpu[0].agent, &symbol),
		 HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	CHECK_EQ(hsa_executable_get_symbol_by_name(e, "counter2", &t.gpu[0].agent, &symbol),
		 HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	CHECK_EQ(hsa_executable_destroy(e), 0);
}

/* `outside` is memory of ours: the client's definition. */
static void defined_by_the_client(const char *target)
{
	hsa_executable_t e = new_executable();
	hsa_executable_symbol_t symbol;
	uint32_t *ours, result = 7;
	unsigned count = 0;

	CHECK_EQ(hsa_amd_memory_pool_allocate(t.cpu[0].fine, 4096, 0, (void **)&ours), 0);
	ours[1] = 1234;
	CHECK_EQ(hsa_executable_agent_global_variable_define(e, t.gpu[0].agent, "outside", ours), 0);
	CHECK_EQ(hsa_executable_agent_global_variable_define(e, t.gpu[0].agent, "outside", ours),
		 HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
	CHECK_EQ(hsa_executable_readonly_variable_define(e, t.gpu[0].agent, "outside", ours),
		 HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
	CHECK_EQ(hsa_executable_global_variable_define(e, "of_all", ours), 0);
	CHECK_EQ(hsa_executable_global_variable_define(e, "of_all", ours),
		 HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
	CHECK_EQ(load(e, shader_find(code_blobs, "outside.v5", target), NULL),
		 HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
	CHECK_EQ(load(e, shader_find(code_blobs, "variables.v5", target), NULL), 0);
	CHECK_EQ(hsa_executable_agent_global_variable_define(e, t.gpu[0].agent, "counter", ours),
		 HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
	CHECK_EQ(hsa_executable_freeze(e, NULL), 0);
	CHECK_EQ(hsa_executable_validate(e, &result), 0);
	CHECK_EQ(result, 0);
	run_variables(e, 1234);
	CHECK_EQ(hsa_executable_get_symbol_by_name(e, "of_all", NULL, &symbol), 0);
	CHECK_EQ(ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS), (uintptr_t)ours);
	CHECK_EQ(ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION), HSA_VARIABLE_ALLOCATION_PROGRAM);
	CHECK_EQ(hsa_executable_iterate_program_symbols(e, count_symbol, &count), 0);
	CHECK_EQ(count, 1);
	/* Nothing is added to what is frozen. */
	CHECK_EQ(hsa_executable_freeze(e, NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
	CHECK_EQ(hsa_executable_global_variable_define(e, "late", ours), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
	CHECK_EQ(load(e, shader_find(code_blobs, "outside.v5", target), NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
	CHECK_EQ(hsa_executable_destroy(e), 0);
	CHECK_EQ(hsa_executable_destroy(e), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
	CHECK_EQ(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &result),
		 HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
	CHECK_EQ(hsa_amd_memory_pool_free(ours), 0);
}

/* --- files, and what debuggers and profilers see ---------------------------------------------- */

extern struct r_debug _amdgpu_r_debug;

static hsa_status_t take_loaded(hsa_executable_t e, hsa_loaded_code_object_t loaded, void *data)
{
	(void)e;
	*(hsa_loaded_code_object_t *)data = loaded;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t count_executable(hsa_executable_t e, void *data)
{
	(void)e;
	++*(unsigned *)data;
	return HSA_STATUS_SUCCESS;
}

static uint64_t ask_loaded(hsa_loaded_code_object_t loaded, hsa_ven_amd_loader_loaded_code_object_info_t attribute)
{
	uint64_t value = 0;

	CHECK_EQ(loader.hsa_ven_amd_loader_loaded_code_object_get_info(loaded, attribute, &value), 0);
	return value;
}

static void check_uri(hsa_loaded_code_object_t loaded, const char *want)
{
	char uri[512] = "";

	CHECK(ask_loaded(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH) < sizeof(uri));
	CHECK_EQ(loader.hsa_ven_amd_loader_loaded_code_object_get_info(
			 loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri),
		 0);
	CHECK_STR(uri, want);
}

static void check_segments(hsa_executable_t e, const struct shader_blob *blob, uint64_t base)
{
	hsa_ven_amd_loader_segment_descriptor_t segment[2];
	size_t count = 0;

	CHECK_EQ(loader.hsa_ven_amd_loader_query_segment_descriptors(NULL, &count), 0);
	CHECK_EQ(count, 1);
	count = 2;
	CHECK_EQ(loader.hsa_ven_amd_loader_query_segment_descriptors(segment, &count),
		 HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	count = 1;
	CHECK_EQ(loader.hsa_ven_amd_loader_query_segment_descriptors(segment, &count), 0);
	CHECK_EQ(segment[0].executable.handle, e.handle);
	CHECK_EQ(segment[0].agent.handle, t.gpu[0].agent.handle);
	CHECK_EQ(segment[0].code_object_storage_size, blob->size_B);
	CHECK_EQ((uintptr_t)segment[0].segment_base, base);
	CHECK(!memcmp(segment[0].code_object_storage_base, blob->image, blob->size_B));
	CHECK_EQ(loader.hsa_ven_amd_loader_query_segment_descriptors(NULL, NULL),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(loader.hsa_ven_amd_loader_query_segment_descriptors(NULL, &count),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

/* The second half of a file is the code object; its name has what a URI must not. */
static void from_a_file(const char *target)
{
	const struct shader_blob *blob = shader_find(code_blobs, "outside.v5", target);
	char path[] = "/tmp/code object XXXXXX", want[128], start[4096] = {0};
	hsa_executable_t e = new_executable();
	hsa_loaded_code_object_t loaded, same = {0};
	hsa_code_object_reader_t reader;
	unsigned count = 0;
	int file = mkstemp(path);

	CHECK(write(file, start, 100) == 100 && write(file, blob->image, blob->size_B) == (ssize_t)blob->size_B);
#define PART(offset, size)                                                                                         \
	loader.hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(file, offset, size, &reader)
	CHECK_EQ(PART(100, 0), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	CHECK_EQ(PART(100, blob->size_B + 1), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	CHECK_EQ(PART(SIZE_MAX - 50, 100), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	CHECK_EQ(PART(100, SIZE_MAX - 50), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	CHECK_EQ(PART(100, blob->size_B), 0);
	CHECK_EQ(hsa_executable_load_agent_code_object(e, t.gpu[0].agent, reader, NULL, &loaded), 0);
	CHECK_EQ(hsa_code_object_reader_destroy(reader), 0);
	close(file);
	CHECK_EQ(loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(e, take_loaded, &same), 0);
	CHECK_EQ(same.handle, loaded.handle);
	CHECK_EQ(loader.hsa_ven_amd_loader_iterate_executables(count_executable, &count), 0);
	CHECK_EQ(count, 1);
	snprintf(want, sizeof(want), "file:///tmp/code%%20object%%20%.6s#offset=100&size=%zu", path + 17,
		 blob->size_B);
	check_uri(loaded, want);
	CHECK_EQ(ask_loaded(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE), e.handle);
	CHECK_EQ(ask_loaded(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND),
		 HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT);
	CHECK_EQ(ask_loaded(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT), t.gpu[0].agent.handle);
	check_segments(e, blob, ask_loaded(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE));
	/* A debugger sees it from freezing to destruction. */
	CHECK(!_amdgpu_r_debug.r_map && _amdgpu_r_debug.r_version && _amdgpu_r_debug.r_brk);
	CHECK_EQ(hsa_executable_freeze(e, NULL), 0);
	if (CHECK(_amdgpu_r_debug.r_map)) {
		CHECK_STR(_amdgpu_r_debug.r_map->l_name, want);
		CHECK_EQ(_amdgpu_r_debug.r_map->l_addr,
			 ask_loaded(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA));
		CHECK(!_amdgpu_r_debug.r_map->l_next && _amdgpu_r_debug.r_state == RT_CONSISTENT);
	}
	CHECK_EQ(hsa_executable_destroy(e), 0);
	CHECK(!_amdgpu_r_debug.r_map);
	CHECK_EQ(hsa_code_object_reader_create_from_file(file, &reader),
		 HSA_STATUS_ERROR_INVALID_FILE); /* closed */
	unlink(path);
}

/* Code on the heap, and code in a file that the dynamic linker has loaded: this program's. */
static void from_memory(const char *target)
{
	const struct shader_blob *blob = shader_find(code_blobs, "outside.v5", target);
	struct shader_blob heap = *blob;
	hsa_executable_t e = new_executable();
	hsa_loaded_code_object_t loaded;
	char want[128], uri[512] = "";
	void *copy = malloc(blob->size_B);

	memcpy(copy, blob->image, blob->size_B);
	heap.image = copy;
	CHECK_EQ(load(e, &heap, &loaded), 0);
	snprintf(want, sizeof(want), "memory://%d#offset=0x%llx&size=%zu", getpid(),
		 (unsigned long long)(uintptr_t)copy, blob->size_B);
	check_uri(loaded, want);
	CHECK_EQ(hsa_executable_destroy(e), 0);
	CHECK_EQ(loader.hsa_ven_amd_loader_loaded_code_object_get_info(
			 loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE, want),
		 HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	e = new_executable();
	CHECK_EQ(load(e, blob, &loaded), 0);
	CHECK_EQ(loader.hsa_ven_amd_loader_loaded_code_object_get_info(
			 loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri),
		 0);
	CHECK(!strncmp(uri, "file://", 7) && strstr(uri, "/code#offset="));
	CHECK_EQ(hsa_executable_destroy(e), 0);
	free(copy);
}

/* --- the end of an executable ----------------------------------------------------------------- */

/* Destroying what a kernel still runs does not wait for it, and does not take its code away. */
static void destroyed_while_it_runs(const char *target)
{
	hsa_executable_t e = new_executable();
	struct hsa_run run;
	volatile uint32_t *stop;
	hsa_signal_t done;

	if (!hsa_run_open(&run, &t, 0))
		return;
	CHECK_EQ(hsa_amd_memory_pool_allocate(t.cpu[0].fine, 4096, 0, (void **)&stop), 0);
	*stop = 0;
	CHECK_EQ(load(e, shader_find(test_blobs, "group.O1", target), NULL), 0);
	CHECK_EQ(hsa_executable_freeze(e, NULL), 0);
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &done), 0);
	hsa_run_start(&run, symbol_of(e, "k_endless.kd"), 1, &stop, sizeof(stop), done);
	CHECK_EQ(hsa_executable_destroy(e), 0);
	CHECK_EQ(hsa_signal_load_scacquire(done), 1);
	*stop = 1;
	CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED),
		 0);
	CHECK_EQ(hsa_signal_destroy(done), 0);
	hsa_run_close(&run);
	CHECK_EQ(hsa_amd_memory_pool_free((void *)stop), 0);
}

/* --- HSA 1.0's way ---------------------------------------------------------------------------- */

static hsa_status_t allocate(size_t size, hsa_callback_data_t data, void **address)
{
	*(size_t *)(uintptr_t)data.handle = size;
	*address = malloc(size);
	return *address ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static hsa_status_t count_code_symbol(hsa_code_object_t object, hsa_code_symbol_t symbol, void *data)
{
	(void)object, (void)symbol;
	++*(unsigned *)data;
	return HSA_STATUS_SUCCESS;
}

static void old_way(const char *target)
{
	const struct shader_blob *blob = shader_find(code_blobs, "outside.v5", target);
	size_t size = 0, asked = 0;
	hsa_code_object_t object, junk;
	hsa_code_symbol_t symbol;
	hsa_executable_t e;
	hsa_isa_t isa, agent_isa;
	uint64_t value = 0;
	unsigned count = 0;
	bool fits = false;
	char version[64] = "not an ELF file";
	void *copy;

	CHECK_EQ(hsa_code_object_deserialize((void *)(uintptr_t)blob->image, blob->size_B, NULL, &object), 0);
	CHECK_EQ(hsa_code_object_deserialize(version, sizeof(version), NULL, &junk),
		 HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	CHECK_EQ(hsa_code_object_serialize(object, allocate, (hsa_callback_data_t){(uintptr_t)&asked}, NULL, &copy,
					   &size),
		 0);
	CHECK(size == blob->size_B && asked == size && !memcmp(copy, blob->image, size));
	free(copy);
	CHECK_EQ(hsa_code_object_get_info(object, HSA_CODE_OBJECT_INFO_VERSION, version), 0);
	CHECK_STR(version, "5.0");
	CHECK_EQ(hsa_code_object_get_info(object, HSA_CODE_OBJECT_INFO_ISA, &isa), 0);
	CHECK_EQ(hsa_agent_get_info(t.gpu[0].agent, HSA_AGENT_INFO_ISA, &agent_isa), 0);
	CHECK_EQ(hsa_isa_compatible(isa, agent_isa, &fits), 0);
	CHECK(fits);
	CHECK_EQ(hsa_code_object_iterate_symbols(object, count_code_symbol, &count), 0);
	CHECK_EQ(count, 1);
	CHECK_EQ(hsa_code_object_get_symbol(object, "inside", &symbol), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	CHECK_EQ(hsa_code_object_get_symbol(object, "outside", &symbol), 0);
	CHECK_EQ(hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE, &value), 0);
	CHECK_EQ(value, 8);
	CHECK_EQ(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &e), 0);
	CHECK_EQ(hsa_executable_load_code_object(e, t.gpu[0].agent, object, NULL), 0);
	CHECK_EQ(hsa_code_object_destroy(object), 0);
	CHECK_EQ(hsa_code_object_destroy(object), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	CHECK_EQ(hsa_executable_load_code_object(e, t.gpu[0].agent, object, NULL),
		 HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	CHECK_EQ(hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_TYPE, &value),
		 HSA_STATUS_ERROR_INVALID_CODE_SYMBOL);
	CHECK_EQ(hsa_executable_freeze(e, NULL), 0);
	CHECK(ask(symbol_of(e, "outside"), HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS));
	CHECK_EQ(hsa_executable_destroy(e), 0);
}

/* --- damage ----------------------------------------------------------------------------------- */

/* From reader to freezing, every function is called with whatever the image has become. */
static bool survives(const void *image, size_t size_B)
{
	struct shader_blob blob = {.image = image, .size_B = size_B};
	hsa_executable_t e = new_executable();
	hsa_code_object_t object;
	unsigned count = 0;
	hsa_status_t status;

	CHECK_EQ(hsa_executable_agent_global_variable_define(e, t.gpu[0].agent, "outside", &t), 0);
	status = size_B ? load(e, &blob, NULL) : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;

	if (!status)
		CHECK_EQ(hsa_executable_iterate_symbols(e, count_symbol, &count), 0);
	CHECK_EQ(hsa_executable_freeze(e, NULL), 0);
	CHECK_EQ(hsa_executable_destroy(e), 0);
	if (size_B && !hsa_code_object_deserialize((void *)(uintptr_t)image, size_B, NULL, &object))
		CHECK_EQ(hsa_code_object_destroy(object), 0);
	return !status;
}

static void damaged(const char *target)
{
	const struct shader_blob *blob = shader_find(code_blobs, "variables.v5", target);
	uint64_t seed = 11;
	unsigned loaded = 0;

	/* Any that is cut short is known to be. */
	for (size_t size_B = 0; size_B < blob->size_B; size_B++) {
		/* Of its own size, so that sanitizers see what is read behind it. */
		char *cut = malloc(size_B + !size_B);

		memcpy(cut, blob->image, size_B);
		CHECK(!survives(cut, size_B));
		free(cut);
	}
	for (unsigned i = 0; i < 600; i++) {
		uint8_t *flipped = malloc(blob->size_B);

		memcpy(flipped, blob->image, blob->size_B);
		for (unsigned k = 0; k <= i % 8; k++)
			flipped[test_random(&seed) % (i & 1 ? 2048 : blob->size_B)] ^= 1u << test_random(&seed) % 8;
		loaded += survives(flipped, blob->size_B);
		free(flipped);
	}
	printf("%u code objects with flipped bits could be loaded all the same\n", loaded);
}

/* --- wrong calls ------------------------------------------------------------------------------ */

static void wrong_calls(const char *target)
{
	const struct shader_blob *blob = shader_find(code_blobs, "outside.v5", target);
	const struct shader_blob *other = shader_find(code_blobs, "outside.v5", "gfx90a");
	const hsa_agent_t nobody = {1}, cpu = t.cpu[0].agent, gpu = t.gpu[0].agent;
	hsa_executable_t e = new_executable(), none = {0};
	hsa_code_object_reader_t reader, no_reader = {e.handle};
	hsa_executable_symbol_t symbol;
	uint64_t value;

#define WRONG(call, status) CHECK_EQ(call, HSA_STATUS_ERROR_##status)
	WRONG(hsa_code_object_reader_create_from_memory(NULL, 8, &reader), INVALID_ARGUMENT);
	WRONG(hsa_code_object_reader_create_from_memory(blob->image, 0, &reader), INVALID_ARGUMENT);
	WRONG(hsa_code_object_reader_create_from_memory(blob->image, 8, NULL), INVALID_ARGUMENT);
	WRONG(hsa_code_object_reader_create_from_file(-1, &reader), INVALID_ARGUMENT);
	WRONG(hsa_code_object_reader_create_from_file(0, NULL), INVALID_ARGUMENT);
	WRONG(hsa_executable_create_alt(9, 0, NULL, &e), INVALID_ARGUMENT);
	WRONG(hsa_executable_create_alt(0, 9, NULL, &e), INVALID_ARGUMENT);
	WRONG(hsa_executable_create_alt(0, 0, NULL, NULL), INVALID_ARGUMENT);
	WRONG(hsa_executable_create(0, 9, NULL, &e), INVALID_ARGUMENT);
	WRONG(hsa_executable_freeze(none, NULL), INVALID_EXECUTABLE);
	WRONG(hsa_executable_get_info(none, HSA_EXECUTABLE_INFO_STATE, &value), INVALID_EXECUTABLE);
	WRONG(hsa_executable_get_info(e, HSA_EXECUTABLE_INFO_STATE, NULL), INVALID_ARGUMENT);
	WRONG(hsa_executable_get_info(e, 99, &value), INVALID_ARGUMENT);
	WRONG(hsa_executable_validate(e, NULL), INVALID_ARGUMENT);
	WRONG(hsa_executable_agent_global_variable_define(e, nobody, "x", &value), INVALID_AGENT);
	WRONG(hsa_executable_agent_global_variable_define(e, gpu, NULL, &value), INVALID_ARGUMENT);
	WRONG(hsa_executable_global_variable_define(e, "x", NULL), INVALID_ARGUMENT);
	WRONG(hsa_executable_global_variable_define(none, "x", &value), INVALID_EXECUTABLE);
	CHECK_EQ(hsa_code_object_reader_create_from_memory(blob->image, blob->size_B, &reader), 0);
	WRONG(hsa_executable_load_agent_code_object(none, gpu, reader, NULL, NULL), INVALID_EXECUTABLE);
	WRONG(hsa_executable_load_agent_code_object(e, gpu, no_reader, NULL, NULL), INVALID_CODE_OBJECT_READER);
	WRONG(hsa_executable_load_agent_code_object(e, cpu, reader, NULL, NULL), INVALID_AGENT);
	WRONG(hsa_executable_load_agent_code_object(e, nobody, reader, NULL, NULL), INVALID_AGENT);
	WRONG(hsa_executable_load_program_code_object(e, no_reader, NULL, NULL), INVALID_CODE_OBJECT_READER);
	WRONG(hsa_executable_load_program_code_object(e, reader, NULL, NULL), INVALID_CODE_OBJECT);
	WRONG(load(e, other, NULL), INCOMPATIBLE_ARGUMENTS);
	CHECK_EQ(hsa_code_object_reader_destroy(reader), 0);
	WRONG(hsa_executable_get_symbol_by_name(e, "x", &nobody, &symbol), INVALID_AGENT);
	WRONG(hsa_executable_get_symbol_by_name(e, NULL, &gpu, &symbol), INVALID_ARGUMENT);
	WRONG(hsa_executable_get_symbol_by_name(e, "x", &gpu, NULL), INVALID_ARGUMENT);
	WRONG(hsa_executable_get_symbol_by_name(none, "x", &gpu, &symbol), INVALID_EXECUTABLE);
	WRONG(hsa_executable_get_symbol(e, "module", "x", gpu, 0, &symbol), INVALID_SYMBOL_NAME);
	WRONG(hsa_executable_iterate_symbols(e, NULL, NULL), INVALID_ARGUMENT);
	WRONG(hsa_executable_iterate_symbols(none, count_symbol, NULL), INVALID_EXECUTABLE);
	WRONG(hsa_executable_iterate_agent_symbols(e, nobody, stop_at_second, NULL), INVALID_AGENT);
	WRONG(hsa_code_object_deserialize(NULL, 8, NULL, NULL), INVALID_ARGUMENT);
	WRONG(loader.hsa_ven_amd_loader_query_host_address(NULL, NULL), INVALID_ARGUMENT);
	WRONG(loader.hsa_ven_amd_loader_iterate_executables(NULL, NULL), INVALID_ARGUMENT);
	WRONG(loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(none, take_loaded, NULL),
	      INVALID_EXECUTABLE);
	CHECK_EQ(hsa_executable_destroy(e), 0);
}

/* --- ISAs and extensions ---------------------------------------------------------------------- */

static hsa_isa_t isa_named(const char *name)
{
	hsa_isa_t isa = {0};
	char full[128], back[128] = "";

	snprintf(full, sizeof(full), "amdgcn-amd-amdhsa--%s", name);
	CHECK_EQ(hsa_isa_from_name(full, &isa), 0);
	CHECK_EQ(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, back), 0);
	CHECK_STR(back, full);
	return isa;
}

static void isas(void)
{
	static const struct {
		const char *code, *agent;
		bool fits;
	} rows[] = {
		{"gfx906", "gfx906:sramecc+:xnack-", true},
		{"gfx906:xnack-", "gfx906:sramecc+:xnack-", true},
		{"gfx906:xnack+", "gfx906:sramecc+:xnack-", false},
		{"gfx906:sramecc-", "gfx906:sramecc+:xnack-", false},
		{"gfx900", "gfx906:sramecc+:xnack-", false},
		{"gfx9-generic", "gfx906:sramecc+:xnack-", true},
		{"gfx9-generic", "gfx90a:sramecc+:xnack-", false},
		{"gfx10-3-generic", "gfx1031", true},
		{"gfx11-generic", "gfx1100", true},
		{"gfx1100", "gfx11-generic", false},
	};
	hsa_round_method_t method;
	const char *name = NULL;
	uint64_t grid = 0;
	uint16_t mask = 7, minor = 0;
	hsa_isa_t isa;
	bool fits;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_EQ(hsa_isa_compatible(isa_named(rows[i].code), isa_named(rows[i].agent), &fits), 0);
		if (!CHECK_EQ(fits, rows[i].fits))
			printf("  %s on %s\n", rows[i].code, rows[i].agent);
	}
	WRONG(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx9000", &isa), INVALID_ISA_NAME);
	WRONG(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx906:xnack", &isa), INVALID_ISA_NAME);
	WRONG(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx906:xnack-:sramecc+", &isa), INVALID_ISA_NAME);
	WRONG(hsa_isa_from_name("gfx906", &isa), INVALID_ISA_NAME);
	WRONG(hsa_isa_from_name(NULL, &isa), INVALID_ARGUMENT);
	CHECK_EQ(hsa_agent_get_info(t.gpu[0].agent, HSA_AGENT_INFO_ISA, &isa), 0);
	CHECK_EQ(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_GRID_MAX_SIZE, &grid), 0);
	CHECK(grid == UINT64_MAX);
	WRONG(hsa_isa_get_info(isa, HSA_ISA_INFO_GRID_MAX_SIZE, 1, &grid), INVALID_INDEX);
	CHECK_EQ(hsa_isa_get_exception_policies(isa, HSA_PROFILE_BASE, &mask), 0);
	CHECK_EQ(mask, 0);
	WRONG(hsa_agent_get_exception_policies(t.gpu[0].agent, 5, &mask), INVALID_ARGUMENT);
	CHECK_EQ(hsa_agent_get_exception_policies(t.gpu[0].agent, HSA_PROFILE_BASE, &mask), 0);
	CHECK_EQ(hsa_isa_get_round_method(isa, HSA_FP_TYPE_32, HSA_FLUSH_MODE_FTZ, &method), 0);
	CHECK_EQ(method, HSA_ROUND_METHOD_SINGLE);
	WRONG(hsa_isa_get_round_method(isa, 3, HSA_FLUSH_MODE_FTZ, &method), INVALID_ARGUMENT);
	isa.handle += 1;
	WRONG(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_GRID_MAX_SIZE, &grid), INVALID_ISA);
	isa.handle = UINT64_MAX;
	WRONG(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_GRID_MAX_SIZE, &grid), INVALID_ISA);
	CHECK_EQ(hsa_extension_get_name(HSA_EXTENSION_AMD_LOADER, &name), 0);
	CHECK_STR(name, "HSA_EXTENSION_AMD_LOADER");
	WRONG(hsa_extension_get_name(77, &name), INVALID_ARGUMENT);
	CHECK_EQ(hsa_system_major_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, &minor, &fits), 0);
	CHECK(fits && minor == 3);
	CHECK_EQ(hsa_system_major_extension_supported(HSA_EXTENSION_AMD_LOADER, 2, &minor, &fits), 0);
	CHECK(!fits);
}

/* Code for a family of chips loads on each of them, and on no other. */
static void generic(const char *spec, const char *target)
{
	static const char *const all[] = {"gfx9-generic", "gfx10-1-generic", "gfx10-3-generic", "gfx11-generic"};

	if (!CHECK_EQ(vgpu_start(spec), 0))
		return;
	CHECK_EQ(hsa_init(), 0);
	for (unsigned i = 0; i < 4 && hsa_find_all(&t); i++) {
		bool fits = !strcmp(all[i], target);
		hsa_executable_t e = new_executable();
		hsa_status_t status = load(e, shader_find(code_blobs, "outside.v6", all[i]), NULL);

		if (!CHECK_EQ(status, fits ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS))
			printf("  %s on %s\n", all[i], spec);
		status = load(e, shader_find(code_blobs, "variables.v6", all[i]), NULL);
		CHECK_EQ(status, fits ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
		if (fits)
			check_kernel_is_there(e);
		CHECK_EQ(hsa_executable_destroy(e), 0);
	}
	CHECK_EQ(hsa_shut_down(), 0);
	vgpu_stop();
}

/* --- several threads --------------------------------------------------------------------------- */

/* Each has executables of its own, and looks at what there is of the others. Counts what fails: checks are of one
 * thread. */
static void *load_and_unload(void *user)
{
	const char *target = user;
	hsa_ven_amd_loader_segment_descriptor_t segment[16];
	uintptr_t failed = 0;
	size_t count = 0;

	for (unsigned n = 0; n < 30; n++) {
		const struct shader_blob *blob = shader_find(code_blobs, "outside.v5", target);
		hsa_code_object_reader_t reader;
		hsa_executable_symbol_t symbol;
		hsa_executable_t e;
		const void *host;
		uint64_t va = 0;

		failed += !!hsa_executable_create_alt(HSA_PROFILE_FULL, 0, NULL, &e);
		failed += !!hsa_code_object_reader_create_from_memory(blob->image, blob->size_B, &reader);
		failed += !!hsa_executable_load_agent_code_object(e, t.gpu[0].agent, reader, NULL, NULL);
		failed += !!hsa_code_object_reader_destroy(reader);
		failed += !!hsa_executable_freeze(e, NULL);
		failed += !!hsa_executable_get_symbol_by_name(e, "outside", &t.gpu[0].agent, &symbol);
		failed +=
			!!hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &va);
		loader.hsa_ven_amd_loader_query_segment_descriptors(NULL, &count);
		if (count && count <= 16) /* and by now there may be more or fewer */
			loader.hsa_ven_amd_loader_query_segment_descriptors(segment, &count);
		failed += !!loader.hsa_ven_amd_loader_query_host_address((const void *)(uintptr_t)va, &host);
		failed += !!hsa_executable_destroy(e);
	}
	return (void *)failed;
}

static void threads(const char *target)
{
	pthread_t thread[4];
	void *failed;

	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, load_and_unload, (void *)(uintptr_t)target), 0);
	for (unsigned i = 0; i < 4; i++) {
		CHECK_EQ(pthread_join(thread[i], &failed), 0);
		CHECK_EQ((uintptr_t)failed, 0);
	}
}

/* --- all of it -------------------------------------------------------------------------------- */

static void everything(const char *gpu, const char *target, bool thorough)
{
	if (!CHECK_EQ(vgpu_start(gpu), 0))
		return;
	CHECK_EQ(hsa_init(), 0);
	if (hsa_find_all(&t)) {
		CHECK_EQ(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader), &loader),
			 0);
		two_code_objects("v5", target);
		two_code_objects("v4", target);
		if (thorough)
			two_code_objects("v6", "gfx9-generic");
		defined_by_the_client(target);
		from_a_file(target);
		from_memory(target);
		destroyed_while_it_runs(target);
		old_way(target);
		isas();
		wrong_calls(target);
		threads(target);
		if (thorough)
			damaged(target);
	}
	CHECK_EQ(hsa_shut_down(), 0);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
}

int main(void)
{
	everything("gfx906", "gfx906", true);
	everything("gfx908:bar=256M", "gfx908", false);
	generic("gfx900", "gfx9-generic");
	generic("gfx1010", "gfx10-1-generic");
	generic("gfx1030", "gfx10-3-generic");
	generic("gfx1100", "gfx11-generic");
	generic("gfx908", "none of them");
	return check_done("code objects through HSA");
}
