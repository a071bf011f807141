/* Memory of the runtime on two virtual GPUs, with agents made by hand: pools, address look-ups, and misuse of each
 * function. */
#include <stdlib.h>

#include "hsa/core/table.h"
#include "hsa/queue/queue.h"
#include "tests/check.h"
#include "vgpu/vgpu.h"

#define MIB (1ull << 20)

static struct rt rt;
static struct rt_agent agents[3]; /* a CPU, two GPUs */
static struct rt_gpu gpus[2];

static void add_pool(struct rt_agent *agent, enum rt_pool_kind kind, uint64_t size_B)
{
	agent->pool[agent->pools++] = (struct rt_pool){.agent = agent, .kind = kind, .size_B = size_B};
}

static bool open_gpu(unsigned i)
{
	struct drv_node nodes[DRV_NODES_MAX];
	struct rt_gpu *gpu = &gpus[i];
	size_t count;
	int r = drv_scan(nodes, DRV_NODES_MAX, &count);

	if (r || i >= count)
		return false;
	r = drv_device_open(&nodes[i], &gpu->dev);
	r = r ? r : i ? vm_create_shared(gpus[0].vm, gpu->dev, &gpu->vm) : vm_create(gpu->dev, &gpu->vm);
	if (r)
		return false;
	drv_place_read(DRV_SYSFS, &nodes[i], &gpu->place);
	gpu->index = i;
	gpu->agent = &agents[1 + i];
	gpu->large_bar = gpu->dev->facts.visible_vram.total_B >= gpu->dev->facts.vram.total_B;
	agents[1 + i] = (struct rt_agent){.is_gpu = true, .node = 1 + i, .gpu = gpu, .nearest_cpu = &agents[0]};
	add_pool(&agents[1 + i], RT_POOL_COARSE, gpu->dev->facts.vram.total_B);
	add_pool(&agents[1 + i], RT_POOL_GROUP, 65536);
	rt.gpu[i] = gpu;
	return true;
}

static bool open_runtime(void)
{
	drv_host_read(&rt.host);
	agents[0] = (struct rt_agent){.numa = &rt.host.node[0], .nearest_cpu = &agents[0]};
	add_pool(&agents[0], RT_POOL_FINE, 1ull << 30);
	add_pool(&agents[0], RT_POOL_KERNARG, 1ull << 30);
	add_pool(&agents[0], RT_POOL_COARSE, 1ull << 30);
	rt.agent = agents;
	rt.agents = 3;
	rt.cpus = 1;
	rt.gpus = 2;
	return open_gpu(0) && open_gpu(1) && !rt_memory_init(&rt) && !rt_queues_init(&rt);
}

static hsa_amd_memory_pool_t pool_of(unsigned agent, unsigned pool)
{
	return (hsa_amd_memory_pool_t){(uintptr_t)&agents[agent].pool[pool]};
}

static hsa_status_t count_pools(hsa_amd_memory_pool_t pool, void *data)
{
	(void)pool;
	return ++*(unsigned *)data == 2 ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static void described(void)
{
	uint8_t value[32];
	unsigned count = 0;
	uint32_t access;

	CHECK_EQ(impl_hsa_amd_agent_iterate_memory_pools(rt_agent_handle(&agents[0]), count_pools, &count),
		 HSA_STATUS_INFO_BREAK);
	CHECK_EQ(count, 2);
	CHECK_EQ(impl_hsa_amd_agent_iterate_memory_pools((hsa_agent_t){1}, count_pools, &count),
		 HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(impl_hsa_amd_agent_iterate_memory_pools(rt_agent_handle(&agents[0]), NULL, &count),
		 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	memset(value, 0xee, sizeof(value)); /* booleans have one byte */
	CHECK_EQ(
		impl_hsa_amd_memory_pool_get_info(pool_of(0, 0), HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL, value),
		0);
	CHECK(value[0] == 1 && value[1] == 0xee);
	CHECK_EQ(impl_hsa_amd_memory_pool_get_info(pool_of(0, 1), HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, value), 0);
	CHECK_EQ(value[0], 3);
	CHECK_EQ(impl_hsa_amd_memory_pool_get_info(pool_of(0, 0), 99, value), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_amd_memory_pool_get_info((hsa_amd_memory_pool_t){64}, 0, value),
		 HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
	CHECK_EQ(impl_hsa_amd_agent_memory_pool_get_info(rt_agent_handle(&agents[1]), pool_of(0, 0),
							 HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
		 0);
	CHECK_EQ(access, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
	CHECK_EQ(impl_hsa_amd_agent_memory_pool_get_info(rt_agent_handle(&agents[2]), pool_of(1, 0),
							 HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
		 0);
	CHECK_EQ(access, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT); /* the GPUs are peers */
	CHECK_EQ(impl_hsa_amd_agent_memory_pool_get_info(rt_agent_handle(&agents[2]), pool_of(1, 1),
							 HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
		 0);
	CHECK_EQ(access, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED); /* LDS is private to its GPU */
}

static void linked(void)
{
	struct {
		hsa_amd_memory_pool_link_info_t info;
		uint8_t guard;
	} link = {.guard = 0xee};
	uint32_t hops;

	CHECK_EQ(impl_hsa_amd_agent_memory_pool_get_info(rt_agent_handle(&agents[1]), pool_of(0, 0),
							 HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops),
		 0);
	CHECK_EQ(hops, 1);
	CHECK_EQ(impl_hsa_amd_agent_memory_pool_get_info(rt_agent_handle(&agents[1]), pool_of(0, 0),
							 HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, &link),
		 0);
	CHECK_EQ(link.info.link_type, HSA_AMD_LINK_INFO_TYPE_PCIE);
	CHECK(link.info.numa_distance >= 20);
	CHECK_EQ(link.guard, 0xee);
}

static void allocated(unsigned agent, unsigned pool, uint64_t size_B)
{
	struct rt_alloc_info info;
	uint64_t va = 0;
	void *ptr;
	bool gpu = agents[agent].is_gpu;

	CHECK_EQ(impl_hsa_amd_memory_pool_allocate(pool_of(agent, pool), size_B, 0, &ptr), 0);
	CHECK(rt_alloc_info_find(&rt, (uintptr_t)ptr + size_B - 1, &info));
	CHECK_EQ(info.type, HSA_EXT_POINTER_TYPE_HSA);
	CHECK_EQ(info.base, (uintptr_t)ptr);
	CHECK_EQ(info.size_B, (size_B + 4095) & ~4095ull);
	CHECK(info.owner == &agents[agent]);
	CHECK(rt_alloc_info_reach(&rt, &gpus[0], (uintptr_t)ptr, size_B, HSA_ACCESS_PERMISSION_RW, &va) &&
	      va == (uintptr_t)ptr);
	CHECK_EQ(rt_alloc_info_reach(&rt, &gpus[1], (uintptr_t)ptr, size_B, HSA_ACCESS_PERMISSION_RW, &va), !gpu);
	CHECK(!rt_alloc_info_reach(&rt, &gpus[0], (uintptr_t)ptr, UINT64_MAX, HSA_ACCESS_PERMISSION_RW, &va));
	if (info.host_base)
		memset(ptr, 1, size_B);
	CHECK_EQ(impl_hsa_amd_agents_allow_access(1, (hsa_agent_t[]){rt_agent_handle(&agents[2])}, NULL, ptr), 0);
	CHECK(rt_alloc_info_reach(&rt, &gpus[1], (uintptr_t)ptr, size_B, HSA_ACCESS_PERMISSION_RW, &va) &&
	      va == (uintptr_t)ptr);
	CHECK_EQ(impl_hsa_amd_agents_allow_access(1, (hsa_agent_t[]){rt_agent_handle(&agents[0])}, NULL, ptr), 0);
	CHECK_EQ(impl_hsa_amd_agents_allow_access(1, (hsa_agent_t[]){{7}}, NULL, ptr),
		 HSA_STATUS_ERROR_INVALID_AGENT);
	CHECK_EQ(impl_hsa_amd_memory_pool_free((char *)ptr + 64), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(impl_hsa_amd_memory_pool_free(ptr), 0);
	CHECK_EQ(impl_hsa_amd_memory_pool_free(ptr), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK(!rt_alloc_info_find(&rt, (uintptr_t)ptr, &info));
}

static void misused(void)
{
	hsa_agent_t cpu = rt_agent_handle(&agents[0]);
	void *ptr;

	CHECK_EQ(impl_hsa_amd_memory_pool_allocate(pool_of(0, 0), 0, 0, &ptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_amd_memory_pool_allocate(pool_of(0, 0), 64, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_amd_memory_pool_allocate(pool_of(0, 0), UINT64_MAX, 0, &ptr),
		 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(impl_hsa_amd_memory_pool_allocate(pool_of(1, 1), 64, 0, &ptr),
		 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(impl_hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){0}, 64, 0, &ptr),
		 HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
	CHECK_EQ(impl_hsa_amd_memory_pool_free(NULL), 0);
	CHECK_EQ(impl_hsa_amd_memory_pool_free(&ptr), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(impl_hsa_amd_memory_pool_free((void *)UINTPTR_MAX), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(impl_hsa_amd_agents_allow_access(1, &cpu, NULL, &ptr), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	CHECK_EQ(impl_hsa_amd_agents_allow_access(0, &cpu, NULL, &ptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_amd_agents_allow_access(1, NULL, NULL, &ptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void shared(void)
{
	struct rt_shared memory;

	CHECK_EQ(rt_shared_create(&rt, 5000, VM_UNCACHED, &memory), 0);
	CHECK_EQ(memory.size_B, 8192);
	CHECK(vm_find(gpus[1].vm, (uintptr_t)memory.map) != NULL);
	for (unsigned i = 0; i < 8192; i++)
		if (((const char *)memory.map)[i] && !CHECK(false))
			break;
	rt_shared_destroy(&memory);
	CHECK_EQ(rt_shared_create(&rt, 0, 0, &memory), -22);
}

static void locked(void)
{
	static char host[20000];
	hsa_agent_t gpu = rt_agent_handle(&agents[1]);
	char *at = host + 0x10;
	struct rt_alloc_info info;
	uint64_t va, other;
	void *ptr, *twice;

	CHECK_EQ(impl_hsa_amd_memory_lock(at, 9000, NULL, 0, &ptr), 0);
	CHECK(ptr != at && (uintptr_t)ptr % 4096 == (uintptr_t)at % 4096);
	CHECK(rt_alloc_info_find(&rt, (uintptr_t)at + 8999, &info) && info.type == HSA_EXT_POINTER_TYPE_LOCKED);
	CHECK(info.host_base == (uintptr_t)at && info.agent_base == (uintptr_t)ptr && info.owner == &agents[0]);
	CHECK(rt_alloc_info_find(&rt, (uintptr_t)ptr + 100, &info) && info.base == (uintptr_t)ptr);
	CHECK(!rt_alloc_info_find(&rt, (uintptr_t)at + 9000, &info));
	CHECK(rt_alloc_info_reach(&rt, &gpus[1], (uintptr_t)at + 50, 100, HSA_ACCESS_PERMISSION_RW, &va) &&
	      va == (uintptr_t)ptr + 50);
	CHECK(rt_alloc_info_reach(&rt, &gpus[0], (uintptr_t)ptr + 50, 100, HSA_ACCESS_PERMISSION_RW, &other) &&
	      other == va);
	CHECK_EQ(impl_hsa_amd_memory_lock_to_pool(at, 5000, &gpu, 1, pool_of(0, 0), 0, &twice), 0);
	CHECK(twice != ptr);
	CHECK_EQ(impl_hsa_amd_memory_unlock(at + 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_amd_memory_unlock(at), 0);
	CHECK_EQ(impl_hsa_amd_memory_unlock(at), 0);
	CHECK_EQ(impl_hsa_amd_memory_unlock(at), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK(!rt_alloc_info_find(&rt, (uintptr_t)at, &info));
	CHECK_EQ(impl_hsa_amd_memory_lock(at, 0, NULL, 0, &ptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_amd_memory_lock(at, UINT64_MAX - 100, NULL, 0, &ptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_amd_memory_lock(NULL, 8, NULL, 0, &ptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_amd_memory_lock(at, 8, &gpu, 0, &ptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_amd_memory_lock_to_pool(at, 8, NULL, 0, pool_of(1, 0), 0, &ptr),
		 HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
	CHECK_EQ(impl_hsa_amd_memory_lock(at, 64, NULL, 0, &ptr), 0); /* unlocked by hsa_shut_down() */
}

static void pointers(void)
{
	hsa_amd_pointer_info_t info = {.size = 48, .global_flags = 0xee}; /* the size in older programs */
	hsa_agent_t *list;
	uint32_t count;
	void *ptr;

	CHECK_EQ(impl_hsa_amd_memory_pool_allocate(pool_of(0, 0), 9000, 0, &ptr), 0);
	CHECK_EQ(impl_hsa_amd_pointer_info((char *)ptr + 5000, &info, malloc, &count, &list), 0);
	CHECK(info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentBaseAddress == ptr && info.hostBaseAddress == ptr);
	CHECK(info.size == 48 && info.sizeInBytes == 12288 && info.global_flags == 0xee);
	CHECK(info.agentOwner.handle == (uintptr_t)&agents[0]);
	CHECK_EQ(count, 3);
	free(list);
	CHECK_EQ(impl_hsa_amd_memory_pool_free(ptr), 0);
	info.size = sizeof(info);
	CHECK_EQ(impl_hsa_amd_pointer_info(&info, &info, malloc, &count, &list), 0);
	CHECK(info.type == HSA_EXT_POINTER_TYPE_UNKNOWN && count == 0);
	CHECK_EQ(impl_hsa_amd_pointer_info(NULL, &info, NULL, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_amd_pointer_info(&info, NULL, NULL, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void regions(void)
{
	hsa_region_t region = {(uintptr_t)&agents[0].pool[2]};
	uint8_t value[8];
	void *ptr;

	CHECK_EQ(impl_hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, value), 0);
	CHECK_EQ(value[0], HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED);
	CHECK_EQ(impl_hsa_region_get_info((hsa_region_t){64}, HSA_REGION_INFO_SIZE, value),
		 HSA_STATUS_ERROR_INVALID_REGION);
	CHECK_EQ(impl_hsa_memory_allocate((hsa_region_t){64}, 64, &ptr), HSA_STATUS_ERROR_INVALID_REGION);
	CHECK_EQ(impl_hsa_memory_allocate(region, 64, &ptr), 0);
	CHECK_EQ(impl_hsa_memory_register(ptr, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK_EQ(impl_hsa_memory_register(ptr, 64), 0);
	CHECK_EQ(impl_hsa_memory_deregister(ptr, 64), 0);
	CHECK_EQ(impl_hsa_memory_free(ptr), 0);
	CHECK_EQ(impl_hsa_memory_free(ptr), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static void forget_nothing(struct rt *unused, uint64_t address, uint64_t size_B)
{
	(void)unused;
	(void)address;
	(void)size_B;
}

int main(void)
{
	setenv("TUFF_PEER_ACCESS", "1", 1);
	CHECK_EQ(vgpu_start("gfx906:p2p=1,gfx908:p2p=1"), 0);
	CHECK_EQ(impl_hsa_amd_memory_pool_free(NULL), HSA_STATUS_ERROR_NOT_INITIALIZED);
	if (!CHECK(open_runtime()))
		return check_done("memory of the runtime");
	rt.ops = &(const struct rt_ops){.forget_exports = forget_nothing};
	atomic_store(&rt_current, &rt);
	described();
	linked();
	allocated(0, 0, 100);
	allocated(0, 1, 4096);
	allocated(0, 2, 3 * MIB);
	allocated(1, 0, 5000);
	allocated(1, 0, 3 * MIB);
	misused();
	regions();
	locked();
	pointers();
	shared();
	atomic_store(&rt_current, NULL);
	rt_queues_fini(&rt);
	rt_memory_fini(&rt);
	for (unsigned i = 2; i--;) {
		vm_destroy(gpus[i].vm);
		drv_device_close(gpus[i].dev);
	}
	CHECK_EQ(vgpu_live_objects(), 0);
	return check_done("memory of the runtime");
}
