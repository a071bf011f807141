/* A thread that is stopped at each instruction of a call in turn (tests/step.h), while another thread destroys the object that the
 * call uses: the call gives a defined status, and uses nothing that was freed. */
#include <malloc.h>
#include <unistd.h>

#include "tests/hsa_rig.h"
#include "tests/hsa_tools.h"
#include "tests/step_rows.h"

#define UNIT_B (2u << 20)
#define SIZE_B 65536u

/* What functions return for objects that were destroyed before the call, or during it. */
static bool is_defined(hsa_status_t status)
{
	switch ((int)status) {
	case HSA_STATUS_SUCCESS:
	case HSA_STATUS_ERROR:
	case HSA_STATUS_ERROR_INVALID_ARGUMENT:
	case HSA_STATUS_ERROR_INVALID_ALLOCATION:
	case HSA_STATUS_ERROR_INVALID_CODE_OBJECT:
	case HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER:
	case HSA_STATUS_ERROR_INVALID_EXECUTABLE:
	case HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL:
	case HSA_STATUS_ERROR_INVALID_SYMBOL_NAME:
	case HSA_STATUS_ERROR_INVALID_QUEUE:
	case HSA_STATUS_ERROR_INVALID_SIGNAL:
	case HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP:
	case HSA_STATUS_ERROR_RESOURCE_FREE:
		return true;
	default:
		return false;
	}
}

static hsa_status_t result; /* of the last use */

static void use(hsa_status_t status)
{
	if (!is_defined(status))
		CHECK_EQ(status, HSA_STATUS_SUCCESS);
	result = status;
}

/* --- code --- */

static hsa_executable_t executable;
static hsa_executable_symbol_t symbol;
static hsa_code_object_reader_t reader;
static hsa_signal_t done;
static hsa_queue_t *queue;

static hsa_code_object_reader_t reader_make(void)
{
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", "gfx908");
	hsa_code_object_reader_t r = {0};

	CHECK_EQ(hsa_code_object_reader_create_from_memory(blob->image, blob->size_B, &r), HSA_STATUS_SUCCESS);
	return r;
}

static hsa_executable_t executable_make(void)
{
	hsa_executable_t e = {0};

	CHECK_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &e),
		 HSA_STATUS_SUCCESS);
	return e;
}

static void executable_create(void)
{
	executable = rig_load("group.O1", "gfx908");
	CHECK_EQ(hsa_executable_get_symbol_by_name(executable, "k_add.kd", &rig.gpu, &symbol), HSA_STATUS_SUCCESS);
}

static void symbol_find(void)
{
	hsa_executable_symbol_t s;

	use(hsa_executable_get_symbol_by_name(executable, "k_add.kd", &rig.gpu, &s));
}

static void symbol_query(void)
{
	uint64_t object;

	use(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
}

static hsa_status_t symbol_see(hsa_executable_t e, hsa_agent_t agent, hsa_executable_symbol_t s, void *data)
{
	(void)e, (void)agent, (void)s, (void)data;
	return HSA_STATUS_SUCCESS;
}

static void symbols_iterate(void)
{
	use(hsa_executable_iterate_agent_symbols(executable, rig.gpu, symbol_see, NULL));
}

static void executable_destroy(void)
{
	(void)!hsa_executable_destroy(executable);
	(void)!hsa_executable_destroy(rig_load("group.O1", "gfx908"));
}

static void executable_finish(void)
{
	(void)!hsa_executable_destroy(executable);
}

static void reader_create(void)
{
	reader = reader_make();
	executable = executable_make();
}

static void reader_load(void)
{
	use(hsa_executable_load_agent_code_object(executable, rig.gpu, reader, NULL, NULL));
}

static void reader_destroy(void)
{
	(void)!hsa_code_object_reader_destroy(reader);
	(void)!hsa_code_object_reader_destroy(reader_make());
}

static void reader_finish(void)
{
	(void)!hsa_executable_destroy(executable);
	(void)!hsa_code_object_reader_destroy(reader);
}

/* --- queues --- */

static void queue_create(void)
{
	queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
}

static void queue_mask(void)
{
	uint32_t mask = 0xff;

	use(hsa_amd_queue_cu_get_mask(queue, 32, &mask));
	use(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_HIGH));
	use(hsa_amd_profiling_set_profiler_enabled(queue, 1));
}

static void queue_inactivate(void)
{
	use(hsa_queue_inactivate(queue));
}

static void queue_destroy(void)
{
	(void)!hsa_queue_destroy(queue);
	(void)!hsa_queue_destroy(rig_queue(64, HSA_QUEUE_TYPE_MULTI));
}

static void queue_finish(void)
{
	(void)!hsa_queue_destroy(queue);
}

/* A queue with a packet, whose doorbell is to be rung. */
static hsa_signal_t doorbell;

static void packet_write(void)
{
	*(volatile uint16_t *)queue->base_address = HSA_PACKET_TYPE_BARRIER_AND;
	doorbell = queue->doorbell_signal;
}

static void packet_create(void)
{
	queue_create();
	packet_write();
}

static void packet_create_intercepted(void)
{
	queue = tools_intercept_queue(rig.gpu);
	packet_write();
}

static void doorbell_ring(void)
{
	hsa_signal_store_screlease(doorbell, 0);
}

/* --- groups of signals --- */

static hsa_signal_group_t group;

static void group_create(void)
{
	CHECK_EQ(hsa_signal_group_create(1, &done, 0, NULL, &group), HSA_STATUS_SUCCESS);
}

static void group_wait(void)
{
	const hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
	const hsa_signal_value_t value = 1;
	hsa_signal_value_t got;
	hsa_signal_t signal;

	use(hsa_signal_group_wait_any_scacquire(group, &condition, &value, HSA_WAIT_STATE_BLOCKED, &signal, &got));
}

static void group_destroy(void)
{
	(void)!hsa_signal_group_destroy(group);
	if (!hsa_signal_group_create(1, &done, 0, NULL, &group))
		(void)!hsa_signal_group_destroy(group);
}

static void group_finish(void)
{
	(void)!hsa_signal_group_destroy(group);
}

/* --- memory --- */

static char *memory, *host;

static void memory_create(void)
{
	memory = rig_memory(rig.found.gpu[0].coarse, SIZE_B);
}

static void memory_query(void)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};

	use(hsa_amd_pointer_info(memory, &info, NULL, NULL, NULL));
}

static void memory_allow(void)
{
	use(hsa_amd_agents_allow_access(1, &rig.gpu, NULL, memory));
}

static void memory_export(void)
{
	hsa_amd_ipc_memory_t ipc;

	use(hsa_amd_ipc_memory_create(memory, SIZE_B, &ipc));
}

static void memory_share(void)
{
	uint64_t offset;
	int fd = -1;

	use(hsa_amd_portable_export_dmabuf(memory, SIZE_B, &fd, &offset));
	if (!result)
		(void)!hsa_amd_portable_close_dmabuf(fd);
}

static void memory_mark(void)
{
	use(hsa_amd_pointer_info_set_userdata(memory, &result));
}

static void memory_free(void)
{
	(void)!hsa_amd_memory_pool_free(memory);
	(void)!hsa_amd_memory_pool_free(rig_memory(rig.found.gpu[0].coarse, SIZE_B));
}

static void memory_finish(void)
{
	(void)!hsa_amd_memory_pool_free(memory);
}

static void host_create(void)
{
	void *at;

	host = aligned_alloc(4096, SIZE_B);
	CHECK_EQ(hsa_amd_memory_lock(host, SIZE_B, NULL, 0, &at), HSA_STATUS_SUCCESS);
}

static void host_query(void)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};

	use(hsa_amd_pointer_info(host, &info, NULL, NULL, NULL));
}

static void host_lock(void)
{
	void *at;

	use(hsa_amd_memory_lock(host, SIZE_B, NULL, 0, &at));
	if (!result)
		(void)!hsa_amd_memory_unlock(host);
}

static void host_unlock(void)
{
	(void)!hsa_amd_memory_unlock(host);
}

static void host_finish(void)
{
	(void)!hsa_amd_memory_unlock(host);
	free(host);
}

/* --- buffers of other drivers --- */

static int buffer_fd;
static void *buffer;
static size_t buffer_B;

static void buffer_map(void **at)
{
	CHECK_EQ(hsa_amd_interop_map_buffer(1, &rig.gpu, buffer_fd, 0, &buffer_B, at, NULL, NULL),
		 HSA_STATUS_SUCCESS);
}

static void buffer_create(void)
{
	uint64_t offset;

	memory_create();
	CHECK_EQ(hsa_amd_portable_export_dmabuf(memory, SIZE_B, &buffer_fd, &offset), HSA_STATUS_SUCCESS);
	buffer_map(&buffer);
}

static void buffer_query(void)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};

	use(hsa_amd_pointer_info(buffer, &info, NULL, NULL, NULL));
}

static void buffer_unmap(void)
{
	(void)!hsa_amd_interop_unmap_buffer(buffer);
}

static void buffer_finish(void)
{
	(void)!hsa_amd_interop_unmap_buffer(buffer);
	(void)!hsa_amd_portable_close_dmabuf(buffer_fd);
	memory_finish();
}

/* --- virtual memory --- */

static void *range;
static hsa_amd_vmem_alloc_handle_t handle;

static void handle_make(hsa_amd_vmem_alloc_handle_t *h)
{
	CHECK_EQ(hsa_amd_vmem_handle_create(rig.found.gpu[0].coarse, UNIT_B, MEMORY_TYPE_NONE, 0, h),
		 HSA_STATUS_SUCCESS);
}

static void range_reserve(void)
{
	CHECK_EQ(hsa_amd_vmem_address_reserve(&range, UNIT_B, 0, 0), HSA_STATUS_SUCCESS);
	handle_make(&handle);
}

static void range_create(void)
{
	range_reserve();
	CHECK_EQ(hsa_amd_vmem_map(range, UNIT_B, 0, handle, 0), HSA_STATUS_SUCCESS);
}

static void range_map(void)
{
	use(hsa_amd_vmem_map(range, UNIT_B, 0, handle, 0));
}

static void range_access(void)
{
	const hsa_amd_memory_access_desc_t desc = {HSA_ACCESS_PERMISSION_RW, rig.gpu};

	use(hsa_amd_vmem_set_access(range, UNIT_B, &desc, 1));
}

static void range_retain(void)
{
	hsa_amd_vmem_alloc_handle_t h;

	use(hsa_amd_vmem_retain_alloc_handle(&h, range));
	if (!result)
		(void)!hsa_amd_vmem_handle_release(h);
}

static void handle_export(void)
{
	int fd = -1;

	use(hsa_amd_vmem_export_shareable_handle(&fd, handle, 0));
	if (!result)
		close(fd);
}

static void handle_release(void)
{
	hsa_amd_vmem_alloc_handle_t h;

	(void)!hsa_amd_vmem_handle_release(handle);
	handle_make(&h);
	(void)!hsa_amd_vmem_handle_release(h);
}

static void range_free(void)
{
	(void)!hsa_amd_vmem_address_free(range, UNIT_B);
}

static void range_end(void)
{
	(void)!hsa_amd_vmem_unmap(range, UNIT_B);
	(void)!hsa_amd_vmem_handle_release(handle);
	(void)!hsa_amd_vmem_address_free(range, UNIT_B);
}

static const struct step_row rows[] = {
	{"hsa_executable_get_symbol_by_name(), hsa_executable_destroy()", executable_create, symbol_find,
	 executable_destroy, executable_finish},
	{"hsa_executable_symbol_get_info(), hsa_executable_destroy()", executable_create, symbol_query,
	 executable_destroy, executable_finish},
	{"hsa_executable_iterate_agent_symbols(), hsa_executable_destroy()", executable_create, symbols_iterate,
	 executable_destroy, executable_finish},
	{"hsa_executable_load_agent_code_object(), hsa_code_object_reader_destroy()", reader_create, reader_load,
	 reader_destroy, reader_finish},
	{"hsa_executable_load_agent_code_object(), hsa_executable_destroy()", reader_create, reader_load,
	 executable_destroy, reader_finish},
	{"attributes of a queue, hsa_queue_destroy()", queue_create, queue_mask, queue_destroy, queue_finish},
	{"hsa_queue_inactivate(), hsa_queue_destroy()", queue_create, queue_inactivate, queue_destroy,
	 queue_finish},
	{"a doorbell, hsa_queue_destroy()", packet_create, doorbell_ring, queue_destroy, queue_finish,
	 .stops = STEP_EACH},
	{"a doorbell of an intercept queue, hsa_queue_destroy()", packet_create_intercepted, doorbell_ring,
	 queue_destroy, queue_finish, .stops = STEP_EACH},
	{"hsa_signal_group_wait_any_scacquire(), hsa_signal_group_destroy()", group_create, group_wait,
	 group_destroy, group_finish},
	{"hsa_amd_pointer_info(), hsa_amd_memory_pool_free()", memory_create, memory_query, memory_free,
	 memory_finish},
	{"hsa_amd_agents_allow_access(), hsa_amd_memory_pool_free()", memory_create, memory_allow, memory_free,
	 memory_finish},
	{"hsa_amd_ipc_memory_create(), hsa_amd_memory_pool_free()", memory_create, memory_export, memory_free,
	 memory_finish},
	{"hsa_amd_portable_export_dmabuf(), hsa_amd_memory_pool_free()", memory_create, memory_share, memory_free,
	 memory_finish},
	{"hsa_amd_pointer_info_set_userdata(), hsa_amd_memory_pool_free()", memory_create, memory_mark, memory_free,
	 memory_finish},
	{"hsa_amd_pointer_info(), hsa_amd_memory_unlock()", host_create, host_query, host_unlock, host_finish},
	{"hsa_amd_memory_lock(), hsa_amd_memory_unlock()", host_create, host_lock, host_unlock, host_finish},
	{"hsa_amd_pointer_info(), hsa_amd_interop_unmap_buffer()", buffer_create, buffer_query, buffer_unmap,
	 buffer_finish},
	{"hsa_amd_vmem_map(), hsa_amd_vmem_handle_release()", range_reserve, range_map, handle_release, range_end},
	{"hsa_amd_vmem_map(), hsa_amd_vmem_address_free()", range_reserve, range_map, range_free, range_end},
	{"hsa_amd_vmem_set_access(), hsa_amd_vmem_unmap()", range_create, range_access, range_end, range_end},
	{"hsa_amd_vmem_retain_alloc_handle(), hsa_amd_vmem_unmap()", range_create, range_retain, range_end,
	 range_end},
	{"hsa_amd_vmem_export_shareable_handle(), hsa_amd_vmem_handle_release()", range_reserve, handle_export,
	 handle_release, range_end},
};

int main(int argc, char **argv)
{
	const unsigned count = sizeof(rows) / sizeof(rows[0]);

	mallopt(M_PERTURB, 0x5a);
	if (!step_works()) {
		printf("no breakpoints of perf_event, or ThreadSanitizer\n");
		return 77;
	}
	tools_load(argv[0]);
	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return check_done("a thread inside a call");
	tools_find();
	done = rig_signal(1);
	step_rows_run(rows, count, argc > 1 ? (unsigned)atoi(argv[1]) : count, false);
	hsa_signal_destroy(done);
	rig_stop();
	return check_done("a thread inside a call");
}
