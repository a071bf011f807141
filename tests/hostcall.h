/* Hostcalls as kernels see them: the layout of ROCm-Device-Libs (ockl hostcall_impl.cl). */
#ifndef TESTS_HOSTCALL_H
#define TESTS_HOSTCALL_H

#include <hsa/hsa.h>

struct header {
	uint64_t next, active;
	uint32_t service;
	_Atomic uint32_t control;
};
#define READY  1u
#define PRINTF 2u /* services */
#define MEMORY 3u

struct buffer {
	struct header *headers;
	uint64_t (*payloads)[64][8];
	hsa_signal_t doorbell;
	_Atomic uint64_t free, requested;
	uint64_t index_mask;
};

#endif
