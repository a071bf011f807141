/* TUFF_POLL=1: packets without a doorbell signal, as published by programs that write for the hardware. */
#include <stdlib.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#include "tests/hsa_rig.h"

int main(void)
{
	hsa_queue_t *queue;
	amd_queue_v2_t *amd;
	hsa_signal_t done;
	uint32_t *words;
	struct hsa_rig_kernel add;

	setenv("TUFF_POLL", "1", 1);
	if (!rig_start("gfx908", "gfx908", "group.O1"))
		return check_done("queues that are polled");
	queue = rig_queue(64, HSA_QUEUE_TYPE_MULTI);
	amd = (amd_queue_v2_t *)(void *)queue;
	words = rig_host(4096);
	done = rig_signal(200);
	add = rig_kernel("k_add.kd");
	for (unsigned i = 0; i < 200; i++) {
		const struct {
			uint32_t *data;
			uint32_t value, pad;
		} args = {words, i, 0};
		const hsa_kernel_dispatch_packet_t packet =
			rig_packet(&add, 64, rig_args(i, 64, &args, sizeof(args)), done);
		uint32_t *slot = (uint32_t *)((char *)queue->base_address + i % 64 * 64);
		amd_signal_t *doorbell = (amd_signal_t *)(uintptr_t)queue->doorbell_signal.handle;

		while (i - __atomic_load_n(&amd->read_dispatch_id, __ATOMIC_ACQUIRE) >= 64)
			continue;
		memcpy(slot + 1, (const uint32_t *)(const void *)&packet + 1, 60);
		__atomic_store_n(slot, HSA_PACKET_TYPE_KERNEL_DISPATCH | RIG_BARRIER | 1u << 16, __ATOMIC_RELEASE);
		__atomic_store_n(&amd->write_dispatch_id, i + 1, __ATOMIC_RELEASE);
		*doorbell->hardware_doorbell_ptr = i;
	}
	CHECK_EQ(rig_wait(done), 0);
	for (uint32_t i = 0, want = 0; i < 200; i++) {
		want = want * 3 + i;
		if (i == 199)
			CHECK_EQ(words[63], want);
	}
	CHECK_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
	hsa_signal_destroy(done);
	CHECK_EQ(hsa_amd_memory_pool_free(words), HSA_STATUS_SUCCESS);
	rig_stop();
	return check_done("queues that are polled");
}
