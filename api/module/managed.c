/* Managed variables of modules. The code object has a pointer with the variable's name, which kernels follow, and
 * the initial value under the name with the suffix ".managed". */
#include <stdlib.h>
#include <string.h>

#include "api/memory/memory.h"
#include "api/module/managed.h"

#define SUFFIX ".managed"

struct hip_managed {
	struct hip_managed *next;
	void *memory; /* owned: host memory that every device can access */
	size_t size_B;
	char name[];
};

struct load {
	struct hip_code *code;
	struct hip_managed **list;
	hipError_t error;
};

static hipError_t managed_fill(struct hip_code *code, struct hip_managed *m, uint64_t init)
{
	size_t pointer_B;
	void *pointer;
	hipError_t r = hip_pool_memory(hip.host_fine, m->size_B, true, &m->memory);

	if (r)
		return r;
	r = hip_of_hsa(hsa_memory_copy(m->memory, (const void *)(uintptr_t)init, m->size_B));
	if (!r)
		r = hip_code_variable(code, m->name, &pointer, &pointer_B);
	if (!r && pointer_B != sizeof(m->memory))
		r = hipErrorInvalidImage;
	if (!r)
		r = hip_of_hsa(hsa_memory_copy(pointer, &m->memory, sizeof(m->memory)));
	if (!r)
		r = hip_memory_add_ours(HIP_MEMORY_MANAGED, code->device->index, m->memory, m->size_B);
	if (r)
		hsa_amd_memory_pool_free(m->memory);
	return r;
}

static hipError_t managed_add(struct load *load, const char *name, size_t length, hsa_executable_symbol_t symbol)
{
	struct hip_managed *m = calloc(1, sizeof(*m) + length + 1);
	uint64_t init = 0;
	uint32_t size_B = 0;
	hipError_t r = hipErrorInvalidImage;

	if (!m)
		return hipErrorOutOfMemory;
	memcpy(m->name, name, length);
	if (!hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &init) &&
	    !hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &size_B) && size_B) {
		m->size_B = size_B;
		r = managed_fill(load->code, m, init);
	}
	if (r) {
		free(m);
		return r;
	}
	m->next = *load->list;
	*load->list = m;
	return hipSuccess;
}

static hsa_status_t symbol_visit(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol,
				 void *data)
{
	const size_t suffix = strlen(SUFFIX);
	struct load *load = data;
	hsa_symbol_kind_t kind;
	uint32_t length = 0;
	char *name;

	(void)executable, (void)agent;
	if (hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind) ||
	    kind != HSA_SYMBOL_KIND_VARIABLE ||
	    hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length))
		return HSA_STATUS_SUCCESS;
	name = calloc(1, length + 1);
	if (!name || hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name))
		load->error = hipErrorOutOfMemory;
	else if (length > suffix && !strcmp(name + length - suffix, SUFFIX))
		load->error = managed_add(load, name, length - suffix, symbol);
	free(name);
	return load->error ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

hipError_t hip_managed_load(struct hip_code *code, struct hip_managed **list)
{
	struct load load = {.code = code, .list = list};

	*list = NULL;
	(void)!hsa_executable_iterate_agent_symbols(code->executable, code->device->agent, symbol_visit, &load);
	if (load.error)
		hip_managed_unload(list);
	return load.error;
}

void hip_managed_unload(struct hip_managed **list)
{
	while (*list) {
		struct hip_managed *m = *list;

		*list = m->next;
		hip_memory_remove_ours(m->memory);
		hsa_amd_memory_pool_free(m->memory);
		free(m);
	}
}

bool hip_managed_find(const struct hip_managed *list, const char *name, void **address, size_t *size_B)
{
	for (; list; list = list->next)
		if (!strcmp(list->name, name)) {
			*address = list->memory;
			*size_B = list->size_B;
			return true;
		}
	return false;
}
