/* Runs one kernel at a time through HSA, for programs whose subject is not the launch. */
#ifndef TESTS_HSA_RUN_H
#define TESTS_HSA_RUN_H

#include "tests/hsa_find.h"

struct hsa_run {
	hsa_queue_t *queue;
	char *kernarg; /* 4096 bytes of the CPU's kernarg pool */
};

static inline bool hsa_run_open(struct hsa_run *run, const struct hsa_find *find, unsigned gpu)
{
	return CHECK_EQ(hsa_queue_create(find->gpu[gpu].agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
					 UINT32_MAX, &run->queue),
			0) &&
	       CHECK_EQ(hsa_amd_memory_pool_allocate(find->cpu[0].kernarg, 4096, 0, (void **)&run->kernarg), 0);
}

static inline void hsa_run_close(struct hsa_run *run)
{
	CHECK_EQ(hsa_queue_destroy(run->queue), 0);
	CHECK_EQ(hsa_amd_memory_pool_free(run->kernarg), 0);
}

/* Starts `lanes` lanes of a kernel in one workgroup; done: counted down at its end. */
static inline void hsa_run_start(struct hsa_run *run, hsa_executable_symbol_t kernel, uint16_t lanes,
				 const void *args, size_t args_B, hsa_signal_t done)
{
	const uint32_t fences = HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
				HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
	hsa_kernel_dispatch_packet_t packet = {
		.workgroup_size_x = lanes,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = lanes,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.kernarg_address = run->kernarg,
		.completion_signal = done,
	};
	uint64_t index = hsa_queue_add_write_index_screlease(run->queue, 1);
	uint32_t *slot = (uint32_t *)((char *)run->queue->base_address + index % run->queue->size * 64);

	hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &packet.kernel_object);
	hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
				       &packet.group_segment_size);
	hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
				       &packet.private_segment_size);
	memset(run->kernarg, 0, 4096);
	memcpy(run->kernarg, args, args_B);
	memcpy(slot + 1, (const uint32_t *)&packet + 1, 60);
	__atomic_store_n(slot,
			 HSA_PACKET_TYPE_KERNEL_DISPATCH | fences |
				 1u << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS),
			 __ATOMIC_RELEASE);
	hsa_signal_store_screlease(run->queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* The same, and waits for it. */
static inline void hsa_run_kernel(struct hsa_run *run, hsa_executable_symbol_t kernel, uint16_t lanes,
				  const void *args, size_t args_B)
{
	hsa_signal_t done;

	CHECK_EQ(hsa_signal_create(1, 0, NULL, &done), 0);
	hsa_run_start(run, kernel, lanes, args, args_B, done);
	CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED),
		 0);
	CHECK_EQ(hsa_signal_destroy(done), 0);
}

#endif
