/* Submission without tuff: requests that include/tuff/ does not offer, through amdgpu's ioctls (drm/amdgpu_drm.h).
 * A raw client has its own file description, hence its own GPU address space, and one kernel context. One
 * thread. */
#ifndef TESTS_DEVICE_PROBE_RAW_H
#define TESTS_DEVICE_PROBE_RAW_H

#include "tests/device/probe.h"

#define RAW_MEMORY_B   65536u
#define RAW_MEMORY_MAX 8

struct raw_memory {
	uint64_t va;
	uint32_t *map; /* of RAW_MEMORY_B bytes, zeroed */
	uint32_t handle;
};

struct raw {
	int fd;             /* owned */
	uint32_t ctx, list; /* of BOs; 0: none */
	unsigned count;
	struct raw_memory memory[RAW_MEMORY_MAX]; /* owned */
};

/* Opens the device under test once more. Fails the test when it cannot. */
void raw_open(struct raw *raw);
void raw_close(struct raw *raw);
/* System memory, which the kernel keeps resident. AMDGPU_VM_PAGE_*, AMDGPU_VM_MTYPE_*. The n-th memory of each
 * client has the same address. */
struct raw_memory raw_memory(struct raw *raw, uint64_t va_flags);
/* Submits one IB, waits until the job has ended or the kernel has reset its ring. */
enum probe_end raw_run(struct raw *raw, enum tuff_engine engine, uint64_t ib_va, uint32_t count_dw);
/* Shader engines that one ring's workgroups are spread over. */
uint32_t raw_shader_engines(const struct raw *raw);

#endif
