/* A kernel through HSA, as its users write it: find a GPU, load a code object, write AQL packets, wait for signals.
 */
#include <stdlib.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "shaders/blob.h"
#include "tests/check.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob test_blobs[];

#define COUNT 256u

static struct {
	hsa_agent_t cpu, gpu;
	hsa_amd_memory_pool_t host, kernarg;
	hsa_queue_t *queue;
	hsa_executable_t executable;
	uint64_t kernel;
	uint32_t group_B, private_B, kernarg_B;
	uint32_t *data;
} t;

static hsa_status_t take_agent(hsa_agent_t agent, void *user)
{
	hsa_device_type_t type;

	(void)user;
	CHECK_EQ(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), HSA_STATUS_SUCCESS);
	*(type == HSA_DEVICE_TYPE_GPU ? &t.gpu : &t.cpu) = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *user)
{
	uint32_t flags = 0;

	(void)user;
	CHECK_EQ(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags),
		 HSA_STATUS_SUCCESS);
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		t.kernarg = pool;
	else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
		t.host = pool;
	return HSA_STATUS_SUCCESS;
}

static void load(void)
{
	const struct shader_blob *blob = shader_find(test_blobs, "group.O1", "gfx908");
	hsa_code_object_reader_t reader;
	hsa_executable_symbol_t symbol;

	CHECK_EQ(hsa_code_object_reader_create_from_memory(blob->image, blob->size_B, &reader), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
					   &t.executable),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_executable_load_agent_code_object(t.executable, t.gpu, reader, NULL, NULL),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_executable_freeze(t.executable, NULL), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_executable_get_symbol_by_name(t.executable, "k_nothing.kd", &t.gpu, &symbol),
		 HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	CHECK_EQ(hsa_executable_get_symbol_by_name(t.executable, "k_add.kd", &t.gpu, &symbol), HSA_STATUS_SUCCESS);
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &t.kernel);
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &t.group_B);
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
				       &t.private_B);
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
				       &t.kernarg_B);
	CHECK(t.kernel && t.kernarg_B >= 12);
}

/* Publishes a packet: its body first, its header and setup last, then the doorbell. */
static void publish(const void *packet, uint16_t header, uint16_t setup)
{
	uint64_t index = hsa_queue_add_write_index_screlease(t.queue, 1);
	uint32_t *slot = (uint32_t *)((char *)t.queue->base_address + index % t.queue->size * 64);

	while (index - hsa_queue_load_read_index_scacquire(t.queue) >= t.queue->size)
		continue;
	memcpy(slot + 1, (const uint32_t *)packet + 1, 60);
	__atomic_store_n(slot, header | (uint32_t)setup << 16, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(t.queue->doorbell_signal, (hsa_signal_value_t)index);
}

#define SYSTEM_FENCES                                                                                              \
	(HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                                       \
	 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE | 1 << HSA_PACKET_HEADER_BARRIER)

/* data[i] = data[i] * 3 + value */
static void launch(void *kernarg, uint32_t value, hsa_signal_t completion)
{
	/* What the compiler adds behind the arguments (code object version 5) is the client's to fill, too. */
	const struct {
		uint32_t *data;
		uint32_t value, pad;
		uint32_t block_count[3];
		uint16_t group_size[3];
	} args = {t.data, value, 0, {COUNT / 64, 1, 1}, {64, 1, 1}};
	hsa_kernel_dispatch_packet_t packet = {
		.workgroup_size_x = 64,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = COUNT,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.group_segment_size = t.group_B,
		.private_segment_size = t.private_B,
		.kernel_object = t.kernel,
		.kernarg_address = kernarg,
		.completion_signal = completion,
	};

	memset(kernarg, 0, t.kernarg_B);
	memcpy(kernarg, &args, sizeof(args));
	publish(&packet, HSA_PACKET_TYPE_KERNEL_DISPATCH | SYSTEM_FENCES, 1);
}

static void wait_for_0(hsa_signal_t signal)
{
	CHECK_EQ(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_ACTIVE),
		 0);
}

static void one_dispatch(char *kernarg)
{
	hsa_amd_profiling_dispatch_time_t time = {0};
	hsa_signal_t done;
	unsigned wrong = 0;

	CHECK_EQ(hsa_signal_create(1, 0, NULL, &done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_profiling_set_profiler_enabled(t.queue, 1), HSA_STATUS_SUCCESS);
	for (unsigned i = 0; i < COUNT; i++)
		t.data[i] = i;
	launch(kernarg, 7, done);
	wait_for_0(done);
	for (unsigned i = 0; i < COUNT; i++)
		wrong += t.data[i] != i * 3 + 7;
	CHECK_EQ(wrong, 0);
	CHECK_EQ(hsa_amd_profiling_get_dispatch_time(t.gpu, done, &time), HSA_STATUS_SUCCESS);
	CHECK(time.start && time.start <= time.end);
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_ERROR_INVALID_SIGNAL);
}

/* Many dispatches, one behind the other, that count one signal down. */
static void many_dispatches(char *kernarg)
{
	hsa_signal_t done;
	uint32_t want = 1;

	CHECK_EQ(hsa_signal_create(0, 0, NULL, &done), HSA_STATUS_SUCCESS);
	for (unsigned i = 0; i < COUNT; i++)
		t.data[i] = 1;
	for (unsigned n = 0; n < 200; n++) {
		hsa_signal_add_relaxed(done, 1);
		launch(kernarg + n % 64 * 512, n, done);
		want = want * 3 + n;
		/* 64 places for arguments: none is written again before its kernel has ended. */
		if (n % 64 == 63)
			wait_for_0(done);
	}
	wait_for_0(done);
	CHECK_EQ(t.data[0], want);
	CHECK_EQ(t.data[COUNT - 1], want);
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

/* A dispatch behind a barrier behind a signal that the CPU sets. */
static void barrier(char *kernarg)
{
	hsa_signal_t gate, done;
	hsa_barrier_and_packet_t packet = {0};

	CHECK_EQ(hsa_signal_create(1, 0, NULL, &gate), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &done), HSA_STATUS_SUCCESS);
	t.data[0] = 1;
	packet.dep_signal[2] = gate;
	publish(&packet, HSA_PACKET_TYPE_BARRIER_AND | SYSTEM_FENCES, 0);
	launch(kernarg, 5, done);
	CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 5000000, HSA_WAIT_STATE_BLOCKED), 1);
	CHECK_EQ(t.data[0], 1);
	hsa_signal_store_screlease(gate, 0);
	wait_for_0(done);
	CHECK_EQ(t.data[0], 8);
	CHECK_EQ(hsa_signal_destroy(gate), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

static hsa_signal_t heard;

static bool hear(hsa_signal_value_t value, void *arg)
{
	*(int64_t *)arg = value;
	hsa_signal_subtract_screlease(heard, 1);
	return false;
}

static void handler(char *kernarg)
{
	hsa_signal_t done;
	int64_t seen = -5;

	CHECK_EQ(hsa_signal_create(1, 0, NULL, &done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &heard), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_signal_async_handler(done, HSA_SIGNAL_CONDITION_LT, 1, hear, &seen), HSA_STATUS_SUCCESS);
	launch(kernarg, 1, done);
	wait_for_0(heard);
	CHECK_EQ(seen, 0);
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(heard), HSA_STATUS_SUCCESS);
}

/* There and back, behind a kernel. */
static void copies(char *kernarg)
{
	hsa_signal_t ran, copied;
	uint32_t *back = calloc(COUNT, 4);

	CHECK_EQ(hsa_signal_create(1, 0, NULL, &ran), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &copied), HSA_STATUS_SUCCESS);
	for (unsigned i = 0; i < COUNT; i++)
		t.data[i] = i;
	launch(kernarg, 2, ran);
	CHECK_EQ(hsa_amd_memory_async_copy(back, t.cpu, t.data, t.gpu, COUNT * 4, 1, &ran, copied),
		 HSA_STATUS_SUCCESS);
	wait_for_0(copied);
	CHECK_EQ(back[0], 2);
	CHECK_EQ(back[COUNT - 1], (COUNT - 1) * 3 + 2);
	CHECK_EQ(hsa_memory_copy(t.data, back + 1, 4), HSA_STATUS_SUCCESS);
	CHECK_EQ(t.data[0], 5);
	free(back);
	CHECK_EQ(hsa_signal_destroy(ran), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_signal_destroy(copied), HSA_STATUS_SUCCESS);
}

static hsa_status_t failure;

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	(void)queue;
	__atomic_store_n(&failure, status, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(*(hsa_signal_t *)data, 0);
}

/* A packet that is none ends its queue, and the client hears of it. */
static void bad_packet(void)
{
	hsa_queue_t *good = t.queue;
	hsa_signal_t told;
	hsa_kernel_dispatch_packet_t packet = {.kernel_object = 64, .workgroup_size_x = 1};

	CHECK_EQ(hsa_signal_create(1, 0, NULL, &told), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_create(t.gpu, 64, HSA_QUEUE_TYPE_SINGLE, on_error, &told, UINT32_MAX, UINT32_MAX,
				  &t.queue),
		 HSA_STATUS_SUCCESS);
	publish(&packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 0);
	wait_for_0(told);
	CHECK_EQ(__atomic_load_n(&failure, __ATOMIC_ACQUIRE), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	CHECK_EQ(hsa_queue_destroy(t.queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_destroy(t.queue), HSA_STATUS_ERROR_INVALID_QUEUE);
	t.queue = good;
	CHECK_EQ(hsa_signal_destroy(told), HSA_STATUS_SUCCESS);
}

int main(void)
{
	char *kernarg;

	if (!CHECK_EQ(vgpu_start("gfx908"), 0))
		return check_done("dispatches through HSA");
	CHECK_EQ(hsa_iterate_agents(take_agent, NULL), HSA_STATUS_ERROR_NOT_INITIALIZED);
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_iterate_agents(take_agent, NULL), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_agent_iterate_memory_pools(t.cpu, take_pool, NULL), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_allocate(t.host, COUNT * 4, 0, (void **)&t.data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_allocate(t.kernarg, 64 * 512, 0, (void **)&kernarg), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_agents_allow_access(1, &t.gpu, NULL, t.data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_agents_allow_access(1, &t.gpu, NULL, kernarg), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_queue_create(t.gpu, 128, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &t.queue),
		 HSA_STATUS_SUCCESS);
	load();
	one_dispatch(kernarg);
	many_dispatches(kernarg);
	barrier(kernarg);
	handler(kernarg);
	copies(kernarg);
	bad_packet();
	CHECK_EQ(hsa_queue_destroy(t.queue), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_executable_destroy(t.executable), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_executable_destroy(t.executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
	CHECK_EQ(hsa_amd_memory_pool_free(kernarg), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(t.data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
	vgpu_stop();
	return check_done("dispatches through HSA");
}
