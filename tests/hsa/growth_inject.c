/* A program of HSA that allocates while a kernel runs, and exports the memory, loses each of its allocations and
 * ioctls in turn: it gets a status, and nothing leaks. */
#include <errno.h>

#include "shaders/blob.h"
#include "tests/hsa_find.h"
#include "tests/inject.h"
#include "vgpu/report.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob test_blobs[];

#define MIB (1ull << 20)

static struct {
	struct hsa_find found;
	hsa_executable_t executable;
	hsa_queue_t *queue;
	hsa_signal_t done;
	_Atomic bool failed; /* the queue: it leaves its packets alone */
	uint32_t **args;     /* of k_endless: where it finds that it shall end, which is behind it */
} t;

static hsa_status_t load(hsa_agent_t gpu)
{
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", "gfx906");
	hsa_code_object_reader_t reader;
	hsa_status_t status = hsa_code_object_reader_create_from_memory(blob->image, blob->size_B, &reader);

	if (status)
		return status;
	status = hsa_executable_load_agent_code_object(t.executable, gpu, reader, NULL, NULL);
	hsa_code_object_reader_destroy(reader);
	return status ? status : hsa_executable_freeze(t.executable, NULL);
}

static hsa_status_t start(hsa_agent_t gpu)
{
	hsa_kernel_dispatch_packet_t packet = {.workgroup_size_x = 64,
					       .workgroup_size_y = 1,
					       .workgroup_size_z = 1,
					       .grid_size_x = 64,
					       .grid_size_y = 1,
					       .grid_size_z = 1,
					       .kernarg_address = t.args,
					       .completion_signal = t.done};
	uint32_t *slot = t.queue->base_address;
	hsa_executable_symbol_t symbol;
	hsa_status_t status = hsa_executable_get_symbol_by_name(t.executable, "k_endless.kd", &gpu, &symbol);

	if (status)
		return status;
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &packet.kernel_object);
	t.args[0] = (uint32_t *)&t.args[1];
	t.args[1] = NULL;
	memcpy(slot + 1, (const uint32_t *)(const void *)&packet + 1, 60);
	__atomic_store_n(slot, HSA_PACKET_TYPE_KERNEL_DISPATCH | 1u << 16, __ATOMIC_RELEASE);
	hsa_queue_store_write_index_screlease(t.queue, 1);
	hsa_signal_store_screlease(t.queue->doorbell_signal, 0);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t grow(uint64_t size_B, void **block)
{
	hsa_status_t status = hsa_amd_memory_pool_allocate(t.found.gpu[0].coarse, size_B, 0, block);

	if (status)
		*block = NULL;
	return status;
}

static hsa_status_t export_it(void *block)
{
	uint64_t offset_B;
	int fd;
	hsa_status_t status = hsa_amd_portable_export_dmabuf(block, MIB, &fd, &offset_B);

	if (!status)
		hsa_amd_portable_close_dmabuf(fd);
	return status;
}

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	(void)status, (void)queue, (void)data;
	t.failed = true;
}

static bool has_ended(void)
{
	while (hsa_signal_wait_scacquire(t.done, HSA_SIGNAL_CONDITION_LT, 1, 1000000, HSA_WAIT_STATE_BLOCKED) >= 1)
		if (t.failed)
			return false;
	return true;
}

static hsa_status_t use_memory(hsa_agent_t gpu)
{
	void *first, *second = NULL;
	hsa_status_t status = start(gpu);

	if (status)
		return status;
	status = grow(2 * MIB, &first);
	status = status ? status : grow(MIB, &second);
	__atomic_store_n((uint32_t *)&t.args[1], 1, __ATOMIC_RELEASE);
	hsa_amd_memory_pool_free(first); /* without memory to remember it by it waits for the kernel */
	if (!has_ended())
		status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (second && !status)
		status = export_it(second);
	hsa_amd_memory_pool_free(second);
	return status;
}

/* What is made is unmade by who made it, in reverse. */
static hsa_status_t with_queue(hsa_agent_t gpu)
{
	hsa_status_t status;

	t.failed = false;
	t.done.handle = 0;
	status = hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, on_error, NULL, 0, 0, &t.queue);

	if (status)
		return status;
	status = hsa_signal_create(1, 0, NULL, &t.done);
	if (!status)
		status = use_memory(gpu);
	hsa_queue_destroy(t.queue);
	if (t.done.handle)
		hsa_signal_destroy(t.done);
	return status;
}

static hsa_status_t with_code(hsa_agent_t gpu)
{
	hsa_status_t status = hsa_executable_create_alt(HSA_PROFILE_FULL, 0, NULL, &t.executable);

	if (status)
		return status;
	status = load(gpu);
	if (!status)
		status = hsa_amd_memory_pool_allocate(t.found.cpu[0].kernarg, 4096, 0, (void **)&t.args);
	if (!status) {
		status = with_queue(gpu);
		hsa_amd_memory_pool_free(t.args);
	}
	hsa_executable_destroy(t.executable);
	return status;
}

static hsa_status_t count_gpus(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	*(unsigned *)data += type == HSA_DEVICE_TYPE_GPU;
	return HSA_STATUS_SUCCESS;
}

static int program(void)
{
	hsa_status_t status = HSA_STATUS_ERROR;
	unsigned gpus = 0;

	if (hsa_init())
		return -ENOMEM;
	t.found = (struct hsa_find){0};
	hsa_iterate_agents(count_gpus, &gpus);
	if (gpus && hsa_find_all(&t.found)) /* one that failed hides itself */
		status = with_code(t.found.gpu[0].agent);
	hsa_shut_down();
	return status ? -ENOMEM : 0;
}

int main(void)
{
	vgpu_strict_set(
		VGPU_STRICT_OFF); /* a buffer that the kernel refuses to close stays open, which is a finding */
	if (CHECK_EQ(vgpu_start("gfx906"), 0)) {
		inject_every_failure(program);
		vgpu_stop();
	}
	return check_done("failures of memory under a kernel");
}
