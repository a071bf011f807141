/* The memory of a signal, at the address in its handle: 64 bytes that CPU and GPUs access. GPU code stores `value`;
 * programs use the functions of hsa.h, which also apply completions that are still pending. Times are in ticks of
 * the GPU's clock. */
#ifndef AMD_HSA_SIGNAL_H
#define AMD_HSA_SIGNAL_H
#include "amd_hsa_common.h"
#include "amd_hsa_queue.h"
typedef int64_t amd_signal_kind64_t;
enum amd_signal_kind_t {
	AMD_SIGNAL_KIND_INVALID = 0,
	AMD_SIGNAL_KIND_USER = 1,
	AMD_SIGNAL_KIND_DOORBELL = -1,
	AMD_SIGNAL_KIND_LEGACY_DOORBELL = -2
};

#define AMD_SIGNAL_ALIGN_BYTES 64
#define AMD_SIGNAL_ALIGN       __ALIGNED__(AMD_SIGNAL_ALIGN_BYTES)
typedef struct AMD_SIGNAL_ALIGN amd_signal_s {
	amd_signal_kind64_t kind;
	__extension__ union {
		volatile int64_t value;
		volatile uint32_t *legacy_hardware_doorbell_ptr;
		volatile uint64_t *hardware_doorbell_ptr;
	};
	uint64_t event_mailbox_ptr;
	uint32_t event_id;
	uint32_t reserved1;
	uint64_t start_ts;
	uint64_t end_ts;
	__extension__ union {
		amd_queue_v2_t *queue_ptr;
		uint64_t reserved2;
	};
	uint32_t reserved3[2];
} amd_signal_t;

#endif
