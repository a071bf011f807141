/* A child of fork with a runtime of its own: what the parent had is nothing there, whatever call gets its handle, and the
 * child's own handles differ from the parent's. */
#include <sys/wait.h>
#include <unistd.h>

#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>

#include "tests/hsa_rig.h"

#define RANGE_B (2u << 20)

static struct {
	hsa_executable_t executable;
	hsa_executable_symbol_t symbol;
	hsa_loaded_code_object_t loaded;
	hsa_code_object_reader_t reader;
	hsa_code_object_t code;
	hsa_code_symbol_t code_symbol;
	hsa_signal_t signal;
	hsa_signal_group_t group;
	hsa_amd_vmem_alloc_handle_t vmem;
	hsa_queue_t *queue;
	void *memory;
	hsa_agent_t agent;
	hsa_amd_memory_pool_t pool;
	hsa_ext_sampler_t sampler;
} had;

static hsa_status_t loaded_note(hsa_executable_t executable, hsa_loaded_code_object_t loaded, void *unused)
{
	(void)executable, (void)unused;
	had.loaded = loaded;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t code_symbol_note(hsa_code_object_t code, hsa_code_symbol_t symbol, void *unused)
{
	(void)code, (void)unused;
	had.code_symbol = symbol;
	return HSA_STATUS_SUCCESS;
}

static hsa_ven_amd_loader_1_03_pfn_t loader;

static void code_make(void)
{
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", "gfx908");

	had.executable = rig.executable;
	CHECK_EQ(hsa_executable_get_symbol_by_name(had.executable, "k_ids.kd", &rig.gpu, &had.symbol),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader), &loader),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(
		loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(had.executable, loaded_note, NULL),
		HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_code_object_reader_create_from_memory(blob->image, blob->size_B, &had.reader),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_code_object_deserialize((void *)(uintptr_t)blob->image, blob->size_B, NULL, &had.code),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_code_object_iterate_symbols(had.code, code_symbol_note, NULL), HSA_STATUS_SUCCESS);
}

static void all_make(void)
{
	const hsa_ext_sampler_descriptor_t sampler = {0};

	code_make();
	had.agent = rig.gpu;
	had.pool = rig.found.gpu[0].coarse;
	had.signal = rig_signal(1);
	had.queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	had.memory = rig_memory(had.pool, RANGE_B);
	CHECK_EQ(hsa_signal_group_create(1, &had.signal, 1, &rig.gpu, &had.group), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_handle_create(had.pool, RANGE_B, MEMORY_TYPE_NONE, 0, &had.vmem), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_ext_sampler_create(rig.gpu, &sampler, &had.sampler), HSA_STATUS_SUCCESS);
}

static void code_is_refused(void)
{
	uint64_t value;
	hsa_loaded_code_object_t loaded;

	CHECK_EQ(hsa_executable_symbol_get_info(had.symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &value),
		 HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
	CHECK_EQ(hsa_code_symbol_get_info(had.code_symbol, HSA_CODE_SYMBOL_INFO_TYPE, &value),
		 HSA_STATUS_ERROR_INVALID_CODE_SYMBOL);
	CHECK_EQ(hsa_code_object_destroy(had.code), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	CHECK(loader.hsa_ven_amd_loader_loaded_code_object_get_info(
		had.loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE, &value));
	CHECK_EQ(hsa_executable_load_agent_code_object(had.executable, rig.gpu, had.reader, NULL, &loaded),
		 HSA_STATUS_ERROR_INVALID_EXECUTABLE);
	CHECK_EQ(hsa_executable_validate(had.executable, (uint32_t *)&value), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
	CHECK_EQ(hsa_executable_destroy(had.executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
	CHECK_EQ(hsa_code_object_reader_destroy(had.reader), HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
}

static void all_is_refused(void)
{
	uint64_t value;

	code_is_refused();
	CHECK_EQ(hsa_signal_load_scacquire(had.signal), 0);
	hsa_signal_store_screlease(had.signal, 1);
	CHECK_EQ(hsa_signal_destroy(had.signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
	CHECK_EQ(hsa_signal_group_destroy(had.group), HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP);
	CHECK_EQ(hsa_queue_destroy(had.queue), HSA_STATUS_ERROR_INVALID_QUEUE);
	CHECK(hsa_amd_memory_pool_free(had.memory));
	CHECK(hsa_amd_vmem_handle_release(had.vmem));
	CHECK_EQ(hsa_agent_get_info(had.agent, HSA_AGENT_INFO_NODE, &value), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK(hsa_amd_memory_pool_get_info(had.pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &value));
	CHECK(hsa_ext_sampler_destroy(rig.gpu, had.sampler));
}

static void child_run(void)
{
	hsa_executable_t first;

	alarm(60);
	CHECK_EQ(hsa_executable_destroy(had.executable), HSA_STATUS_ERROR_NOT_INITIALIZED);
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	CHECK(hsa_find_all(&rig.found));
	rig.cpu = rig.found.cpu[0].agent;
	rig.gpu = rig.found.gpu[0].agent;
	all_is_refused();
	first = rig_load("group.O1", "gfx908");
	all_is_refused();
	CHECK_EQ(hsa_executable_destroy(first), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	_exit(check_failed_ > 0);
}

int main(void)
{
	int status = -1;
	pid_t child;

	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return 1;
	all_make();
	child = fork();
	if (!child)
		child_run();
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK_EQ(hsa_signal_load_scacquire(had.signal), 1);
	CHECK_EQ(hsa_ext_sampler_destroy(rig.gpu, had.sampler), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_handle_release(had.vmem), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_group_destroy(had.group), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(had.memory), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_destroy(had.queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(had.signal), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_code_object_destroy(had.code), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_code_object_reader_destroy(had.reader), HSA_STATUS_SUCCESS);
	rig_stop();
	return check_done("handles of a parent");
}
