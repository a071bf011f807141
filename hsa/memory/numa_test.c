/* A host of two NUMA nodes: agents, distances, and the placement of a pool's memory on its node, page by page. A
 * replacement of libnuma records the requests to the kernel, and answers queries from the record. */
#include <errno.h>
#include <numa.h>
#include <numaif.h>

#include "tests/hsa_find.h"
#include "vgpu/vgpu.h"
#include "vm/vm.h"
#include "vm/host.h"

#define PAGE 4096ull
#define MIB  (1ull << 20)
#define GIB  (1ll << 30)

/* --- the host --------------------------------------------------------------------------------- */

static struct {
	uint64_t lo, hi;
	int node;
} bound[256];
static unsigned bounds;
static bool forbidden; /* as a container's seccomp filter does */

int numa_available(void)
{
	return 0;
}

int numa_max_node(void)
{
	return 1;
}

long long numa_node_size64(int node, long long *free_B)
{
	*free_B = GIB;
	return (2 + node) * GIB;
}

int numa_distance(int a, int b)
{
	return a == b ? 10 : 21;
}

struct bitmask *numa_get_mems_allowed(void)
{
	return numa_nodes_ptr;
}

long mbind(void *at, unsigned long size_B, int mode, const unsigned long *mask, unsigned long max, unsigned flags)
{
	(void)max;
	if (forbidden) {
		errno = EPERM;
		return -1;
	}
	CHECK(mode == MPOL_PREFERRED && !flags && (mask[0] == 1 || mask[0] == 2) && bounds < 256);
	bound[bounds].lo = (uintptr_t)at;
	bound[bounds].hi = (uintptr_t)at + size_B;
	bound[bounds++].node = mask[0] == 2;
	return 0;
}

/* The last request for the page decides. */
static int node_of(uint64_t at)
{
	for (unsigned i = bounds; i--;)
		if (at >= bound[i].lo && at < bound[i].hi)
			return bound[i].node;
	return -ENOENT;
}

long move_pages(int pid, unsigned long count, void **page, const int *nodes, int *status, int flags)
{
	CHECK(!pid && !nodes && !flags);
	for (unsigned long i = 0; i < count; i++)
		status[i] = node_of((uintptr_t)page[i]);
	return 0;
}

/* --- placement by the runtime -------------------------------------------------------------------- */

static struct hsa_find f;

/* Checks that every page is on the node, and that every GPU has access. */
static void placed(hsa_amd_memory_pool_t pool, int node, size_t size_B)
{
	unsigned elsewhere = 0;
	hsa_signal_t done;
	uint32_t *data;
	int nodes[1024];

	CHECK_EQ(hsa_amd_memory_pool_allocate(pool, size_B, 0, (void **)&data), HSA_STATUS_SUCCESS);
	CHECK_EQ(vm_host_nodes(data, size_B, nodes), 0);
	for (unsigned i = 0; i < size_B / PAGE; i++)
		elsewhere += nodes[i] != node;
	CHECK_EQ(elsewhere, 0);
	CHECK_EQ(hsa_signal_create(1, 0, NULL, &done), HSA_STATUS_SUCCESS);
	for (unsigned g = 0; g < f.gpus; g++) {
		uint32_t *vram;

		CHECK_EQ(hsa_amd_memory_pool_allocate(f.gpu[g].coarse, size_B, 0, (void **)&vram),
			 HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_memory_fill(vram, 5 + g, size_B / 4), HSA_STATUS_SUCCESS);
		hsa_signal_store_relaxed(done, 1);
		if (CHECK_EQ(hsa_amd_memory_async_copy(data, f.gpu[g].agent, vram, f.gpu[g].agent, size_B, 0, NULL,
						       done),
			     HSA_STATUS_SUCCESS))
			CHECK_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
							   HSA_WAIT_STATE_BLOCKED),
				 0);
		CHECK(data[0] == 5 + g && data[size_B / 4 - 1] == 5 + g);
		CHECK_EQ(hsa_amd_memory_pool_free(vram), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
}

static uint32_t distance(hsa_agent_t agent, hsa_amd_memory_pool_t pool)
{
	hsa_amd_memory_pool_link_info_t link = {0};

	CHECK_EQ(hsa_amd_agent_memory_pool_get_info(agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, &link),
		 HSA_STATUS_SUCCESS);
	return link.numa_distance;
}

static hsa_agent_t nearest(hsa_agent_t gpu)
{
	hsa_agent_t cpu = {0};

	CHECK_EQ(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NEAREST_CPU, &cpu),
		 HSA_STATUS_SUCCESS);
	return cpu;
}

static void agents(void)
{
	size_t size_B = 0;

	CHECK(f.cpus == 2 && f.gpus == 2);
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(nearest(f.gpu[i].agent).handle, f.cpu[i].agent.handle);
		CHECK_EQ(hsa_amd_memory_pool_get_info(f.cpu[i].fine, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size_B),
			 HSA_STATUS_SUCCESS);
		CHECK_EQ(size_B, (2 + i) * GIB);
		/* KFD counts 20 for PCIe, plus the distance of the nodes. */
		CHECK_EQ(distance(f.gpu[i].agent, f.cpu[i].fine), 20);
		CHECK_EQ(distance(f.gpu[i].agent, f.cpu[!i].fine), 41);
		CHECK_EQ(distance(f.cpu[i].agent, f.cpu[!i].fine), 21);
	}
}

/* Memory of the process cannot be shared with another process. */
static void refused(void)
{
	hsa_amd_vmem_alloc_handle_t handle;
	hsa_amd_ipc_memory_t ipc;
	void *data;

	CHECK_EQ(hsa_amd_memory_pool_allocate(f.cpu[1].fine, PAGE, 0, &data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_ipc_memory_create(data, PAGE, &ipc), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_vmem_handle_create(f.cpu[1].fine, PAGE, MEMORY_TYPE_NONE, 0, &handle),
		 HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

/* Where processes may not choose the node, allocations succeed on any node. */
static void anywhere(void)
{
	hsa_amd_ipc_memory_t ipc;
	void *data;

	CHECK_EQ(hsa_amd_memory_pool_allocate(f.cpu[1].coarse, 3 * MIB, 0, &data), HSA_STATUS_SUCCESS);
	CHECK_EQ(hsa_amd_memory_fill(data, 1, MIB), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(hsa_amd_memory_fill(data, 1, MIB / 4), HSA_STATUS_SUCCESS);
	/* With two GPUs each has a BO of its own; neither can represent the memory. */
	CHECK_EQ(hsa_amd_ipc_memory_create(data, 3 * MIB, &ipc), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
}

/* A single GPU's own node: the kernel takes the pages from there, and they are GTT BOs. */
static void of_one_gpu(void)
{
	hsa_amd_ipc_memory_t ipc;
	void *data;

	CHECK_EQ(vgpu_start("gfx908:numa=1"), 0);
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	if (hsa_find_all(&f)) {
		CHECK_EQ(hsa_amd_memory_pool_allocate(f.cpu[1].fine, PAGE, 0, &data), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_ipc_memory_create(data, PAGE, &ipc), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_memory_pool_allocate(f.cpu[0].fine, PAGE, 0, &data), HSA_STATUS_SUCCESS);
		CHECK_EQ(hsa_amd_ipc_memory_create(data, PAGE, &ipc), HSA_STATUS_ERROR_INVALID_ARGUMENT);
		CHECK_EQ(hsa_amd_memory_pool_free(data), HSA_STATUS_SUCCESS);
	}
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	vgpu_stop();
}

int main(void)
{
	/* libnuma sets the bits of the nodes that /sys shows: none, where it is not mounted. */
	numa_bitmask_setbit(numa_nodes_ptr, 0);
	numa_bitmask_setbit(numa_nodes_ptr, 1);
	CHECK_EQ(vgpu_start("gfx908:numa=0,gfx906:numa=1"), 0);
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	if (hsa_find_all(&f)) {
		agents();
		for (int node = 0; node < 2; node++) {
			placed(f.cpu[node].fine, node, PAGE);
			placed(f.cpu[node].kernarg, node, 64 * 1024);
			placed(f.cpu[node].coarse, node, 3 * MIB);
		}
		refused();
	}
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	forbidden = true;
	CHECK_EQ(hsa_init(), HSA_STATUS_SUCCESS);
	if (hsa_find_all(&f)) {
		agents();
		anywhere();
	}
	CHECK_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
	CHECK_EQ(vgpu_live_objects(), 0);
	vgpu_stop();
	forbidden = false;
	of_one_gpu();
	return check_done("two NUMA nodes");
}
