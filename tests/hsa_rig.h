/* Common parts of HSA programs that launch kernels: a GPU with its pools, code, queues, and packets for them. */
#ifndef TESTS_HSA_RIG_H
#define TESTS_HSA_RIG_H

#include "shaders/blob.h"
#include "tests/hsa_find.h"
#include "vgpu/vgpu.h"

extern const struct shader_blob test_blobs[];

#define RIG_SLOTS  256u /* of arguments */
#define RIG_SLOT_B 512u

static struct hsa_rig {
	struct hsa_find found;
	hsa_agent_t cpu, gpu;
	hsa_executable_t executable;
	char *args; /* RIG_SLOTS of them */
} rig;

struct hsa_rig_kernel {
	uint64_t object;
	uint32_t group_B, private_B, args_B;
};

/* Memory of that pool, which every GPU reaches. */
static inline void *rig_memory(hsa_amd_memory_pool_t pool, size_t size_B)
{
	void *memory = NULL;
	hsa_agent_t gpus[FIND_MAX];

	for (unsigned i = 0; i < rig.found.gpus; i++)
		gpus[i] = rig.found.gpu[i].agent;
	CHECK_EQ(hsa_amd_memory_pool_allocate(pool, size_B, 0, &memory), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_agents_allow_access(rig.found.gpus, gpus, NULL, memory), HSA_STATUS_SUCCESS);
	return memory;
}

/* Host memory, zeroed: fine-grained, so that kernels that run see what the host stores. */
static inline void *rig_host(size_t size_B)
{
	void *memory = rig_memory(rig.found.cpu[0].fine, size_B);

	memset(memory, 0, size_B);
	return memory;
}

/* The test kernels ("group", "battery") for the chip of that name, on the first GPU. */
static inline hsa_executable_t rig_load(const char *name, const char *chip)
{
	const struct shader_blob *blob = shader_find(test_blobs, name, chip);
	hsa_code_object_reader_t reader;
	hsa_executable_t executable = {0};

	if (!CHECK(blob != NULL))
		return executable;
	CHECK_EQ(hsa_code_object_reader_create_from_memory(blob->image, blob->size_B, &reader), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
					   &executable),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_executable_load_agent_code_object(executable, rig.gpu, reader, NULL, NULL),
		 HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_executable_freeze(executable, NULL), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
	return executable;
}

static inline struct hsa_rig_kernel rig_kernel(const char *name)
{
	struct hsa_rig_kernel k = {0};
	hsa_executable_symbol_t symbol;

	if (!CHECK_EQ(hsa_executable_get_symbol_by_name(rig.executable, name, &rig.gpu, &symbol),
		      HSA_STATUS_SUCCESS))
		return k;
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k.object);
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &k.group_B);
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
				       &k.private_B);
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &k.args_B);
	return k;
}

/* The virtual GPU of that spec ("gfx908:watchdog_ms=2000"), HSA on it, and the test kernels of `name`. */
static inline bool rig_start(const char *spec, const char *chip, const char *name)
{
	if (!CHECK_EQ(vgpu_start(spec), 0) || !CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS) ||
	    !hsa_find_all(&rig.found))
		return false;
	rig.cpu = rig.found.cpu[0].agent;
	rig.gpu = rig.found.gpu[0].agent;
	rig.args = rig_memory(rig.found.cpu[0].kernarg, RIG_SLOTS * RIG_SLOT_B);
	rig.executable = rig_load(name, chip);
	return rig.executable.handle;
}

static inline void rig_stop(void)
{
	CHECK_EQ(hsa_executable_destroy(rig.executable), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(rig.args), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	vgpu_stop();
}

static inline hsa_signal_t rig_signal(hsa_signal_value_t value)
{
	hsa_signal_t signal = {0};

	CHECK_EQ(hsa_signal_create(value, 0, NULL, &signal), HSA_STATUS_SUCCESS);
	return signal;
}

static inline hsa_signal_value_t rig_wait(hsa_signal_t signal)
{
	return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
}

static inline hsa_queue_t *rig_queue(uint32_t size, hsa_queue_type32_t type)
{
	hsa_queue_t *queue = NULL;

	CHECK_EQ(hsa_queue_create(rig.gpu, size, type, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue),
		 HSA_STATUS_SUCCESS);
	return queue;
}

#define RIG_FENCES                                                                                                 \
	(HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                                       \
	 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)
#define RIG_BARRIER (RIG_FENCES | 1 << HSA_PACKET_HEADER_BARRIER)

/* Publishes a packet: its body first, its header and setup last, then the doorbell. */
static inline void rig_publish(hsa_queue_t *queue, const void *packet, uint16_t header, uint16_t setup)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
	uint32_t *slot = (uint32_t *)((char *)queue->base_address + index % queue->size * 64);

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		continue;
	memcpy(slot + 1, (const uint32_t *)packet + 1, 60);
	__atomic_store_n(slot, header | (uint32_t)setup << 16, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* One work group of 64 for each 64 of `threads`. */
static inline hsa_kernel_dispatch_packet_t rig_packet(const struct hsa_rig_kernel *k, uint32_t threads, void *args,
						      hsa_signal_t completion)
{
	return (hsa_kernel_dispatch_packet_t){
		.setup = 1,
		.workgroup_size_x = 64,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = threads,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.group_segment_size = k->group_B,
		.private_segment_size = k->private_B,
		.kernel_object = k->object,
		.kernarg_address = args,
		.completion_signal = completion,
	};
}

/* Arguments in that slot. What the compiler adds behind them (code object version 5) is the client's to fill, too:
 * where it begins, a multiple of 8, is at hidden_B. */
static inline void *rig_args(unsigned slot, uint32_t threads, const void *args, size_t hidden_B)
{
	const struct {
		uint32_t block_count[3];
		uint16_t group_size[3];
	} hidden = {{threads / 64, 1, 1}, {64, 1, 1}};
	char *place = rig.args + slot % RIG_SLOTS * RIG_SLOT_B;

	memset(place, 0, RIG_SLOT_B);
	memcpy(place, args, hidden_B);
	memcpy(place + hidden_B, &hidden, sizeof(hidden));
	return place;
}

static inline void rig_launch(hsa_queue_t *queue, const struct hsa_rig_kernel *k, uint32_t threads, unsigned slot,
			      const void *args, size_t hidden_B, hsa_signal_t completion)
{
	const hsa_kernel_dispatch_packet_t packet =
		rig_packet(k, threads, rig_args(slot, threads, args, hidden_B), completion);

	rig_publish(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH | RIG_BARRIER, 1);
}

/* k_add: data[i] = data[i] * 3 + value. */
static inline void rig_launch_add(hsa_queue_t *queue, const struct hsa_rig_kernel *k, uint32_t *data,
				  uint32_t count, uint32_t value, unsigned slot, hsa_signal_t completion)
{
	const struct {
		uint32_t *data;
		uint32_t value, pad;
	} args = {data, value, 0};

	rig_launch(queue, k, count, slot, &args, sizeof(args), completion);
}

/* Stops the queue until the signal is 0: what is put behind it is one job then. */
static inline hsa_signal_t rig_gate(hsa_queue_t *queue)
{
	hsa_signal_t gate = rig_signal(1);
	hsa_barrier_and_packet_t barrier = {.dep_signal = {gate}};

	rig_publish(queue, &barrier, HSA_PACKET_TYPE_BARRIER_AND | RIG_BARRIER, 0);
	return gate;
}

#endif
