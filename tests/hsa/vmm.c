/* Virtual memory management through HSA: reserves addresses, creates memory, maps it, sets access; memory passes to
 * other processes as a descriptor. On two GPUs. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/hsa_find.h"
#include "vgpu/vgpu.h"

#define MIB    (1ull << 20)
#define UNIT   (2 * MIB)
#define DWORDS (UNIT / 4)

static struct hsa_find f;

static void *reserve(uint64_t size_B)
{
	void *va = NULL;

	CHECK_EQ(hsa_amd_vmem_address_reserve(&va, size_B, 0, 0), HSA_STATUS_SUCCESS);
	CHECK((uintptr_t)va % UNIT == 0);
	return va;
}

static hsa_amd_vmem_alloc_handle_t make(hsa_amd_memory_pool_t pool, uint64_t size_B)
{
	hsa_amd_vmem_alloc_handle_t handle = {0};

	CHECK_EQ(hsa_amd_vmem_handle_create(pool, size_B, MEMORY_TYPE_NONE, 0, &handle), HSA_STATUS_SUCCESS);
	return handle;
}

static hsa_status_t let(void *va, uint64_t size_B, hsa_agent_t agent, hsa_access_permission_t permission)
{
	const hsa_amd_memory_access_desc_t desc = {permission, agent};

	return hsa_amd_vmem_set_access(va, size_B, &desc, 1);
}

static hsa_access_permission_t allowed(void *va, hsa_agent_t agent)
{
	hsa_access_permission_t permission = 99;

	CHECK_EQ(hsa_amd_vmem_get_access(va, &permission, agent), HSA_STATUS_SUCCESS);
	return permission;
}

static uint32_t first_dword(const void *va)
{
	uint32_t value = 0;

	CHECK_EQ(hsa_memory_copy(&value, va, 4), HSA_STATUS_SUCCESS);
	return value;
}

/* --- the chapter in one page ------------------------------------------------------------------ */

static void example(hsa_amd_memory_pool_t pool)
{
	hsa_amd_vmem_alloc_handle_t one = make(pool, UNIT), two = make(pool, 2 * UNIT), again;
	char *va = reserve(4 * UNIT);
	hsa_amd_memory_pool_t from = {0};
	hsa_amd_memory_type_t type;
	hsa_agent_t gpu = f.gpu[0].agent;

	/* The second half of `two`, then `one`. */
	CHECK_EQ(hsa_amd_vmem_map(va + UNIT, UNIT, UNIT, two, 0), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_map(va + 2 * UNIT, UNIT, 0, one, 0), HSA_STATUS_SUCCESS);
	CHECK_EQ(allowed(va + UNIT, gpu), HSA_ACCESS_PERMISSION_NONE);
	CHECK_EQ(let(va + UNIT, 2 * UNIT, gpu, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
	CHECK_EQ(allowed(va + 3 * UNIT - 1, gpu), HSA_ACCESS_PERMISSION_RW);
	CHECK_EQ(hsa_amd_memory_fill(va + UNIT, 21, DWORDS), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_fill(va + 2 * UNIT, 22, DWORDS), HSA_STATUS_SUCCESS);
	/* The same memory at another address. */
	CHECK_EQ(hsa_amd_vmem_unmap(va + UNIT, UNIT), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_map(va, 2 * UNIT, 0, two, 0), HSA_STATUS_SUCCESS);
	CHECK_EQ(let(va, 2 * UNIT, gpu, HSA_ACCESS_PERMISSION_RO), HSA_STATUS_SUCCESS);
	CHECK_EQ(first_dword(va + UNIT), 21);
	CHECK_EQ(first_dword(va + 2 * UNIT), 22);
	/* A handle that is released lives on in its mapping, and can be had back from there. */
	CHECK_EQ(hsa_amd_vmem_handle_release(one), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_handle_release(one), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(first_dword(va + 2 * UNIT), 22);
	CHECK_EQ(hsa_amd_vmem_retain_alloc_handle(&again, va + 2 * UNIT), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_get_alloc_properties_from_handle(again, &from, &type), HSA_STATUS_SUCCESS);
	CHECK(from.handle == pool.handle && type == MEMORY_TYPE_NONE);
	CHECK_EQ(hsa_amd_vmem_address_free(va, 4 * UNIT), HSA_STATUS_ERROR_RESOURCE_FREE);
	CHECK_EQ(hsa_amd_vmem_unmap(va, 2 * UNIT), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_unmap(va + 2 * UNIT, UNIT), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_handle_release(again), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_handle_release(two), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_map(va, UNIT, 0, two, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_address_free(va, 4 * UNIT), HSA_STATUS_SUCCESS);
}

/* --- who may ---------------------------------------------------------------------------------- */

static sigjmp_buf back;

static void on_fault(int number)
{
	siglongjmp(back, number);
}

/* Whether the CPU may read and write there. */
static bool can_touch(volatile uint32_t *at, bool write)
{
	const struct sigaction act = {.sa_handler = on_fault};
	struct sigaction old;
	volatile bool ok = false;

	sigaction(SIGSEGV, &act, &old);
	if (!sigsetjmp(back, 1)) {
		uint32_t value = *at;

		if (write)
			*at = value;
		ok = true;
	}
	sigaction(SIGSEGV, &old, NULL);
	return ok;
}

/* The CPU, the GPU whose memory it is, and its peer, each as it was allowed. */
static void who_may(hsa_amd_memory_pool_t pool)
{
	hsa_amd_vmem_alloc_handle_t handle = make(pool, UNIT);
	hsa_agent_t cpu = f.cpu[0].agent;
	uint32_t *va = reserve(UNIT);
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};

	CHECK_EQ(hsa_amd_vmem_map(va, UNIT, 0, handle, 0), HSA_STATUS_SUCCESS);
	CHECK(!can_touch(va, false));
	for (unsigned g = 0; g < f.gpus; g++) {
		hsa_agent_t gpu = f.gpu[g].agent;

		CHECK_EQ(let(va, UNIT, gpu, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_memory_fill(va, 30 + g, DWORDS), HSA_STATUS_SUCCESS);
		CHECK_EQ(let(va, UNIT, cpu, HSA_ACCESS_PERMISSION_RO), HSA_STATUS_SUCCESS);
		CHECK(can_touch(va, false) && !can_touch(va, true));
		CHECK_EQ(va[DWORDS - 1], 30 + g);
		CHECK_EQ(let(va, UNIT, cpu, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
		CHECK(can_touch(va, true));
		CHECK_EQ(hsa_amd_pointer_info(va + 9, &info, NULL, NULL, NULL), HSA_STATUS_SUCCESS);
		CHECK(info.type == HSA_EXT_POINTER_TYPE_RESERVED_ADDR && info.agentBaseAddress == va &&
		      info.hostBaseAddress == va && info.sizeInBytes == UNIT);
		va[3] = 77;
		CHECK_EQ(let(va, UNIT, cpu, HSA_ACCESS_PERMISSION_NONE), HSA_STATUS_SUCCESS);
		CHECK(!can_touch(va, false));
		CHECK_EQ(first_dword(va + 3), 77);
		CHECK_EQ(let(va, UNIT, gpu, HSA_ACCESS_PERMISSION_NONE), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_memory_fill(va, 1, 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	}
	CHECK_EQ(hsa_amd_agents_allow_access(1, &f.gpu[0].agent, NULL, va), HSA_STATUS_SUCCESS);
	CHECK_EQ(allowed(va, f.gpu[0].agent), HSA_ACCESS_PERMISSION_RW);
	CHECK_EQ(hsa_amd_vmem_unmap(va, UNIT), HSA_STATUS_SUCCESS);
	CHECK(!can_touch(va, false));
	CHECK_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_address_free(va, UNIT), HSA_STATUS_SUCCESS);
}

static hsa_status_t may(bool may)
{
	return may ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

/* Copies and fills of memory with an access of the GPU's and one of the host's, small and large: what nobody may do is
 * refused. An engine or a CPU that did it would fault, and the GPU's other work would be lost. */
static void copies_may(hsa_amd_memory_pool_t pool)
{
	static uint32_t words[DWORDS];
	hsa_amd_vmem_alloc_handle_t handle = make(pool, UNIT);
	hsa_agent_t gpu = f.gpu[0].agent, cpu = f.cpu[0].agent;
	uint32_t *va = reserve(UNIT);
	hsa_signal_t done;

	CHECK_EQ(hsa_signal_create(1, 0, NULL, &done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_map(va, UNIT, 0, handle, 0), HSA_STATUS_SUCCESS);
	for (unsigned i = 0; i < 16; i++) {
		const hsa_access_permission_t gpus = i % 4, host = i / 4;
		const bool writes = gpus & HSA_ACCESS_PERMISSION_WO, reads = gpus & HSA_ACCESS_PERMISSION_RO;

		CHECK_EQ(let(va, UNIT, gpu, gpus), HSA_STATUS_SUCCESS);
		CHECK_EQ(let(va, UNIT, cpu, host), HSA_STATUS_SUCCESS);
		for (uint64_t size_B = 64; size_B <= UNIT; size_B *= UNIT / 64) {
			CHECK_EQ(hsa_amd_memory_fill(va, i, size_B / 4),
				 writes ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION);
			CHECK_EQ(hsa_memory_copy(va, words, size_B),
				 may(writes || host == HSA_ACCESS_PERMISSION_RW));
			CHECK_EQ(hsa_memory_copy(words, va, size_B), may(reads || host & HSA_ACCESS_PERMISSION_RO));
			if (!CHECK_EQ(hsa_amd_memory_async_copy(va, gpu, words, cpu, size_B, 0, NULL, done),
				      may(writes)) ||
			    !writes)
				continue;
			CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
							   HSA_WAIT_STATE_BLOCKED),
				 0);
			hsa_signal_store_relaxed(done, 1);
		}
	}
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_unmap(va, UNIT), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_address_free(va, UNIT), HSA_STATUS_SUCCESS);
}

/* An unmapping fails at each of its ioctls in turn. It takes the access from some, and says so: who is allowed it afterwards,
 * reaches the memory, and it can be given again. */
static void unmapping_fails(hsa_amd_memory_pool_t pool)
{
	hsa_amd_vmem_alloc_handle_t handle = make(pool, UNIT);
	hsa_status_t status = HSA_STATUS_ERROR;
	volatile uint32_t *va = reserve(UNIT);
	void *at = (void *)(uintptr_t)va;
	unsigned failures = 0;

	CHECK_EQ(hsa_amd_vmem_map(at, UNIT, 0, handle, 0), HSA_STATUS_SUCCESS);
	CHECK_EQ(let(at, UNIT, f.cpu[0].agent, HSA_ACCESS_PERMISSION_RO), HSA_STATUS_SUCCESS);
	for (unsigned n = 1; status; n++) {
		for (unsigned g = 0; g < f.gpus; g++)
			CHECK_EQ(let(at, UNIT, f.gpu[g].agent, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_memory_fill(at, n, DWORDS), HSA_STATUS_SUCCESS);
		CHECK_EQ(va[DWORDS - 1], n);
		vgpu_inject_ioctl(n, ENODEV); /* other errors are tried again */
		status = hsa_amd_vmem_unmap(at, UNIT);
		vgpu_inject_ioctl(0, 0);
		failures += status != HSA_STATUS_SUCCESS;
	}
	CHECK(failures >= f.gpus);
	CHECK_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_address_free(at, UNIT), HSA_STATUS_SUCCESS);
}

/* --- as a descriptor -------------------------------------------------------------------------- */

static void shared(hsa_amd_memory_pool_t pool)
{
	hsa_amd_vmem_alloc_handle_t handle = make(pool, UNIT), same, other;
	hsa_amd_memory_pool_t from = {0};
	hsa_amd_memory_type_t type;
	char *va = reserve(2 * UNIT);
	int fd = -1, pipes[2];

	CHECK_EQ(hsa_amd_vmem_export_shareable_handle(&fd, handle, 0), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_import_shareable_handle(fd, &same), HSA_STATUS_SUCCESS);
	CHECK_EQ(same.handle, handle.handle); /* it is known here already */
	CHECK_EQ(hsa_amd_vmem_handle_release(same), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_map(va, UNIT, 0, handle, 0), HSA_STATUS_SUCCESS);
	CHECK_EQ(let(va, UNIT, f.gpu[0].agent, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_fill(va, 5, DWORDS), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_unmap(va, UNIT), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
	/* The descriptor keeps the memory. */
	CHECK_EQ(hsa_amd_vmem_import_shareable_handle(fd, &other), HSA_STATUS_SUCCESS);
	CHECK(other.handle != handle.handle);
	CHECK_EQ(hsa_amd_vmem_get_alloc_properties_from_handle(other, &from, &type), HSA_STATUS_SUCCESS);
	CHECK_EQ(from.handle, pool.handle);
	CHECK_EQ(hsa_amd_vmem_map(va + UNIT, UNIT, 0, other, 0), HSA_STATUS_SUCCESS);
	CHECK_EQ(let(va + UNIT, UNIT, f.gpu[0].agent, HSA_ACCESS_PERMISSION_RO), HSA_STATUS_SUCCESS);
	CHECK_EQ(first_dword(va + UNIT), 5);
	CHECK_EQ(hsa_amd_vmem_unmap(va + UNIT, UNIT), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_handle_release(other), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_address_free(va, 2 * UNIT), HSA_STATUS_SUCCESS);
	close(fd);
	CHECK_EQ(hsa_amd_vmem_export_shareable_handle(&fd, handle, 0), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(fd, -1);
	CHECK_EQ(hsa_amd_vmem_import_shareable_handle(-1, &other), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_import_shareable_handle(9999, &other), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	CHECK_EQ(pipe(pipes), 0);
	CHECK_EQ(hsa_amd_vmem_import_shareable_handle(pipes[0], &other), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	close(pipes[0]);
	close(pipes[1]);
}

/* --- misuse ----------------------------------------------------------------------------------- */

#define ARGUMENT   HSA_STATUS_ERROR_INVALID_ARGUMENT
#define ALLOCATION HSA_STATUS_ERROR_INVALID_ALLOCATION

static void addresses_misused(void)
{
	void *va = (void *)1;

	CHECK_EQ(hsa_amd_vmem_address_reserve(NULL, UNIT, 0, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_address_reserve(&va, 0, 0, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_address_reserve(&va, 100, 0, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_address_reserve(&va, UNIT, 0, 8), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_address_reserve(&va, UINT64_MAX & ~4095ull, 0, 0), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	CHECK_EQ(hsa_amd_vmem_address_reserve_align(&va, UNIT, 0, 3, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_address_reserve_align(&va, UNIT, 0, 64, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_address_reserve_align(&va, UNIT, 0, 1ull << 63, 0),
		 HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	CHECK_EQ(hsa_amd_vmem_address_reserve_align(&va, UNIT, 0, 1ull << 30, 0), HSA_STATUS_SUCCESS);
	CHECK((uintptr_t)va % (1ull << 30) == 0);
	CHECK_EQ(hsa_amd_vmem_address_free(NULL, UNIT), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_address_free(va, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_address_free(va, UNIT / 2), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_address_free((char *)va + 4096, UNIT), ALLOCATION);
	CHECK_EQ(hsa_amd_vmem_address_free(&va, UNIT), ALLOCATION);
	CHECK_EQ(hsa_amd_vmem_address_free((void *)UINTPTR_MAX, UNIT), ALLOCATION);
	CHECK_EQ(hsa_amd_vmem_address_free(va, UNIT), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_address_free(va, UNIT), ALLOCATION);
}

static void handles_misused(void)
{
	hsa_amd_memory_pool_t pool = f.gpu[0].coarse;
	hsa_amd_vmem_alloc_handle_t handle;
	hsa_amd_memory_type_t type;

	CHECK_EQ(hsa_amd_vmem_handle_create(pool, 0, MEMORY_TYPE_NONE, 0, &handle), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_handle_create(pool, 5, MEMORY_TYPE_NONE, 0, &handle), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_handle_create(pool, UNIT, (hsa_amd_memory_type_t)2, 0, &handle), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_handle_create(pool, UNIT, MEMORY_TYPE_NONE, 0, NULL), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_handle_create((hsa_amd_memory_pool_t){8}, UNIT, MEMORY_TYPE_NONE, 0, &handle),
		 ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_handle_create(pool, ~4095ull, MEMORY_TYPE_NONE, 0, &handle), ALLOCATION);
	CHECK_EQ(hsa_amd_vmem_handle_create(f.gpu[0].group, UNIT, MEMORY_TYPE_NONE, 0, &handle), ALLOCATION);
	CHECK_EQ(hsa_amd_vmem_handle_create(pool, UNIT, MEMORY_TYPE_PINNED, 0, &handle), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_get_alloc_properties_from_handle(handle, &pool, &type), HSA_STATUS_SUCCESS);
	CHECK_EQ(type, MEMORY_TYPE_PINNED);
	CHECK_EQ(hsa_amd_vmem_get_alloc_properties_from_handle(handle, NULL, &type), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_get_alloc_properties_from_handle(handle, &pool, NULL), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_get_alloc_properties_from_handle(handle, &pool, &type), ALLOCATION);
	CHECK_EQ(hsa_amd_vmem_handle_release((hsa_amd_vmem_alloc_handle_t){0}), ALLOCATION);
	CHECK_EQ(hsa_amd_vmem_handle_release((hsa_amd_vmem_alloc_handle_t){(uintptr_t)&handle}), ALLOCATION);
}

static void mappings_misused(void)
{
	hsa_amd_vmem_alloc_handle_t handle = make(f.gpu[0].coarse, UNIT), retained;
	hsa_access_permission_t permission;
	char *va = reserve(2 * UNIT);
	hsa_agent_t gpu = f.gpu[0].agent;

	CHECK_EQ(hsa_amd_vmem_map(NULL, UNIT, 0, handle, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va, 0, 0, handle, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va + 64, 4096, 0, handle, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va, 4096, 64, handle, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va, UNIT, 0, handle, 1), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va, UNIT + 4096, 0, handle, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va, UNIT, 4096, handle, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va, UNIT, ~4095ull, handle, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va, ~4095ull, 0, handle, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va + 2 * UNIT - 4096, 8192, 0, handle, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va, UNIT, 0, (hsa_amd_vmem_alloc_handle_t){7}, 0), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_map(va, UNIT, 0, handle, 0), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_map(va + UNIT - 4096, 8192, 0, handle, 0), ARGUMENT); /* something is there */
	CHECK_EQ(let(va, UNIT, (hsa_agent_t){3}, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(let(va, UNIT, gpu, 4), ARGUMENT);
	CHECK_EQ(let(va, UNIT, gpu, -1), ARGUMENT);
	CHECK_EQ(let(va, 2 * UNIT, gpu, HSA_ACCESS_PERMISSION_RW), ALLOCATION); /* not all of it is mapped */
	CHECK_EQ(let(va + 4096, 4096, gpu, HSA_ACCESS_PERMISSION_RW), ALLOCATION);
	CHECK_EQ(let(va, 3 * UNIT, gpu, HSA_ACCESS_PERMISSION_RW), ARGUMENT);
	CHECK_EQ(let(va, ~0ull, gpu, HSA_ACCESS_PERMISSION_RW), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_set_access(va, UNIT, NULL, 1), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_get_access(va + UNIT, &permission, gpu), ALLOCATION);
	CHECK_EQ(permission, HSA_ACCESS_PERMISSION_NONE);
	CHECK_EQ(hsa_amd_vmem_get_access(va, &permission, (hsa_agent_t){3}), HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(hsa_amd_vmem_get_access((void *)UINTPTR_MAX, &permission, gpu), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_get_access(va, NULL, gpu), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_retain_alloc_handle(&retained, va + 4096), ALLOCATION);
	CHECK_EQ(hsa_amd_vmem_retain_alloc_handle(NULL, va), ARGUMENT);
	CHECK_EQ(hsa_amd_agents_allow_access(1, &gpu, NULL, va + UNIT), ALLOCATION);
	CHECK_EQ(hsa_amd_vmem_unmap(va, UNIT / 2), ARGUMENT);
	CHECK_EQ(hsa_amd_vmem_unmap(va + UNIT, UNIT), ALLOCATION);
	CHECK_EQ(hsa_amd_vmem_unmap(NULL, UNIT), ARGUMENT);
	/* All of this is left to the end. */
	CHECK_EQ(let(va, UNIT, gpu, HSA_ACCESS_PERMISSION_RW), HSA_STATUS_SUCCESS);
}

int main(void)
{
	bool supported = false;

	setenv("TUFF_PEER_ACCESS", "1", 1);
	if (!CHECK_EQ(vgpu_start("gfx908:p2p=1,gfx906:p2p=1"), 0))
		return check_done("virtual memory management");
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	if (hsa_find_all(&f)) {
		CHECK_EQ(hsa_system_get_info((hsa_system_info_t)HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED,
					     &supported),
			 HSA_STATUS_SUCCESS);
		CHECK(supported);
		example(f.gpu[0].coarse);
		example(f.cpu[0].fine);
		who_may(f.gpu[0].coarse);
		who_may(f.gpu[1].coarse);
		who_may(f.cpu[0].coarse);
		copies_may(f.gpu[0].coarse);
		copies_may(f.cpu[0].coarse);
		unmapping_fails(f.gpu[0].coarse);
		unmapping_fails(f.gpu[1].coarse);
		shared(f.gpu[0].coarse);
		shared(f.gpu[1].coarse);
		shared(f.cpu[0].fine);
		addresses_misused();
		handles_misused();
		mappings_misused();
	}
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
	return check_done("virtual memory management");
}
