/* Code objects, loaded on a virtual GPU by HSA and looked into by HSA and HIP: relocations, symbols, kernels' metadata. None is
 * launched. */
#define HIP_DEPRECATED
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hip/hip_runtime_api.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ven_amd_loader.h>

#include "tests/hsa_find.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static struct hsa_find found;
static uint64_t sink; /* what results go to */

/* --- HSA ------------------------------------------------------------------------------------------ */

static void symbol_read(hsa_executable_symbol_t symbol)
{
	uint64_t value[8];
	uint32_t length = 0;
	char *name;

	for (unsigned info = 0; info < 32; info++) {
		if (info == HSA_EXECUTABLE_SYMBOL_INFO_NAME || info == HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME)
			continue;
		if (!hsa_executable_symbol_get_info(symbol, (hsa_executable_symbol_info_t)info, value))
			sink += value[0] & 0xff;
	}
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length);
	name = malloc(length ? length : 1);
	if (name && !hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name))
		sink += length ? (uint8_t)name[length - 1] : 0;
	free(name);
}

static hsa_status_t symbol_found(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol,
				 void *data)
{
	(void)executable;
	(void)agent;
	(void)data;
	symbol_read(symbol);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t loaded_found(hsa_executable_t executable, hsa_loaded_code_object_t loaded, void *data)
{
	char uri[4096];
	uint32_t length = 0;

	(void)executable;
	(void)data;
	if (!hsa_ven_amd_loader_loaded_code_object_get_info(
		    loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH, &length) &&
	    length < sizeof(uri))
		hsa_ven_amd_loader_loaded_code_object_get_info(loaded,
							       HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri);
	return HSA_STATUS_SUCCESS;
}

/* The first GPU gets the variable that the code lacks, the second does not. */
static void executable_load(hsa_code_object_reader_t reader, unsigned gpu)
{
	hsa_agent_t agent = found.gpu[gpu].agent;
	hsa_executable_t executable;
	uint32_t result;

	if (hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable))
		return;
	if (!gpu)
		hsa_executable_agent_global_variable_define(executable, agent, "outside", &sink);
	if (!hsa_executable_load_agent_code_object(executable, agent, reader, NULL, NULL) &&
	    !hsa_executable_freeze(executable, NULL)) {
		hsa_executable_iterate_agent_symbols(executable, agent, symbol_found, NULL);
		hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, loaded_found, NULL);
		hsa_executable_validate(executable, &result);
	}
	hsa_executable_destroy(executable);
}

static void load_by_hsa(const void *image, size_t size_B)
{
	hsa_code_object_reader_t reader;

	if (hsa_code_object_reader_create_from_memory(image, size_B, &reader))
		return;
	for (unsigned gpu = 0; gpu < 2; gpu++)
		executable_load(reader, gpu);
	hsa_code_object_reader_destroy(reader);
}

/* --- HIP ------------------------------------------------------------------------------------------ */

static void module_read(hipModule_t module)
{
	static const char *const names[] = {"k", "f", "word", "pointer", "table", "outside", ""};
	hipDeviceptr_t at;
	hipFunction_t f;
	size_t size_B;
	int value;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!hipModuleGetGlobal(&at, &size_B, module, names[i]))
			sink += size_B;
		if (hipModuleGetFunction(&f, module, names[i]))
			continue;
		for (int info = 0; info < HIP_FUNC_ATTRIBUTE_MAX; info++)
			(void)!hipFuncGetAttribute(&value, (hipFunction_attribute)info, f);
		(void)!hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 64, 256);
		(void)!hipModuleOccupancyMaxPotentialBlockSize(&value, &value, f, 0, 0);
	}
}

/* From a file: its size is known. */
static void load_by_hip(const void *image, size_t size_B)
{
	int fd = memfd_create("code", MFD_CLOEXEC);
	char path[64];
	hipModule_t module;

	if (fd < 0 || write(fd, image, size_B) != (ssize_t)size_B)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!hipModuleLoad(&module, path)) {
		module_read(module);
		(void)!hipModuleUnload(module);
	}
	close(fd);
}

static void fuzzer_start(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	if (vgpu_start("gfx908:vram=32M:gtt=64M,gfx90a:vram=32M:gtt=64M") || hsa_init() || !hsa_find_all(&found) ||
	    found.gpus != 2)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	static bool started;

	if (!started)
		fuzzer_start();
	started = true;
	load_by_hsa(data, size_B);
	if (size_B >= 4 && !memcmp(data, "\177ELF", 4))
		load_by_hip(data, size_B);
	return 0;
}
