/* Locked host memory (hsa_amd_memory_lock): registered with each GPU at one alias address, which the client gets.
 * HIP 5.2 needs an address that differs from the host's; the host's own works for kernels as well.
 *
 * Unlocking does not wait. Work that still uses the memory reads zeros and loses its writes, or the kernel waits
 * for it; the pages stay until jobs that list them have ended, and an alias is not reused before all other high
 * addresses were used (vm/alias.c). To keep the registration longer would be worse: the client may unmap the memory
 * after the call, and submissions would fail from then on. */
#include "drv/lock.h"
#include "hsa/core/table.h"
#include "hsa/memory/memory.h"
#include "vm/host.h"

#include <errno.h>
#include <stdlib.h>

struct lock {
	struct rt_va_region host, agent; /* in memory.va_regions: by host address, by alias */
	unsigned gpus;                   /* number of rt's GPUs */
	struct vm_mem *mem[RT_GPUS_MAX]; /* owned; NULL: not registered with that GPU */
};

static void lock_destroy(struct lock *lock)
{
	for (unsigned i = 0; i < lock->gpus; i++)
		vm_mem_destroy(lock->mem[i]);
	free(lock);
}

/* True if the memory was registered read-only, because the process may not write it. */
static bool is_read_only(const struct lock *lock)
{
	bool any = false;

	for (unsigned i = 0; i < lock->gpus; i++)
		any |= lock->mem[i] && lock->mem[i]->bo->flags & VM_READONLY;
	return any;
}

/* Registers the memory with the GPUs of the mask; *va is its address on them. */
static int register_with(struct rt *rt, struct lock *lock, uint32_t gpus, struct vm_register *what, uint64_t *va)
{
	int r = 0;

	for (; !r && gpus; gpus &= gpus - 1) {
		unsigned i = __builtin_ctz(gpus);

		r = vm_mem_register(rt->gpu[i]->vm, what, &lock->mem[i]);
		if (r)
			break;
		what->alias = lock->mem[i]->range.va; /* the other GPUs use the same alias */
		*va = lock->mem[i]->va;
	}
	return r;
}

static int lock_create(struct rt *rt, void *host, uint64_t size_B, uint32_t gpus, const struct rt_pool *pool,
		       void **agent_ptr)
{
	struct vm_register what = {.host = host, .size_B = size_B, .flags = VM_REGISTER_ALIAS};
	struct lock *lock = calloc(1, sizeof(*lock));
	uint64_t va = 0;
	bool read_only;
	int r;

	if (!lock)
		return drv_fail(-ENOMEM, "no host memory for a lock");
	lock->gpus = rt->gpus;
	if (pool->kind != RT_POOL_COARSE)
		what.flags |= VM_REGISTER_UNCACHED;
	r = register_with(rt, lock, gpus, &what, &va);
	if (r) {
		lock_destroy(lock);
		return r;
	}
	read_only = is_read_only(lock);
	lock->host = (struct rt_va_region){
		.readers = gpus,
		.writers = read_only ? 0 : gpus,
		.object = lock,
		.info =
			{
				.type = HSA_EXT_POINTER_TYPE_LOCKED,
				.base = (uintptr_t)host,
				.size_B = size_B,
				.host_base = (uintptr_t)host,
				.agent_base = va,
				.owner = pool->agent,
				.place = SDMA_GTT,
				.global_flags = rt_pool_flags(pool->kind),
				.read_only = read_only,
			},
	};
	lock->agent = lock->host;
	lock->agent.info.base = va;
	rt_va_regions_insert(rt, (struct rt_va_region *const[]){&lock->host, &lock->agent}, 2);
	*agent_ptr = (void *)(uintptr_t)va;
	return 0;
}

static hsa_status_t lock_memory(struct rt *rt, void *host, size_t size, const hsa_agent_t *agents, int count,
				const struct rt_pool *pool, void **agent_ptr)
{
	struct pool_found found;
	hsa_status_t status;
	uint32_t gpus = 0;

	if (!host || !size || !agent_ptr || count < 0 || !agents != !count)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = rt_gpus_of(rt, count, agents, &gpus);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!count)
		gpus = rt_all_gpus(rt);
	if (!gpus)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	/* GPUs have access to system memory of a pool already. */
	if (pool_find(rt->memory->space, (uintptr_t)host, &found)) {
		if (gpus & ~found.seen_by || size > found.size_B - ((uintptr_t)host - found.va))
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
		*agent_ptr = host;
		return HSA_STATUS_SUCCESS;
	}
	return hsa_status_of(lock_create(rt, host, size, gpus, pool, agent_ptr));
}

RT_IMPL(hsa_amd_memory_lock, (void *host_ptr, size_t size, hsa_agent_t *agents, int num_agent, void **agent_ptr),
	(host_ptr, size, agents, num_agent, agent_ptr))
{
	return lock_memory(rt, host_ptr, size, agents, num_agent, &rt->agent[0].pool[0], agent_ptr);
}

RT_IMPL(hsa_amd_memory_lock_to_pool,
	(void *host_ptr, size_t size, hsa_agent_t *agents, int num_agent, hsa_amd_memory_pool_t handle,
	 uint32_t flags, void **agent_ptr),
	(host_ptr, size, agents, num_agent, handle, flags, agent_ptr))
{
	const struct rt_pool *pool = rt_pool_of(rt, handle.handle);

	if (flags)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool || pool->agent->is_gpu)
		return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
	return lock_memory(rt, host_ptr, size, agents, num_agent, pool, agent_ptr);
}

/* Claims a lock of exactly this host address: removes its regions, so that no other thread unlocks it. */
static struct lock *lock_claim(struct rt *rt, uint64_t host)
{
	struct lock *taken = NULL;
	struct vm_node *n = NULL;

	drv_mutex_lock(&rt->memory->va_region_lock);
	while (!taken && (n = vm_tree_next(&rt->memory->va_regions, n, host, host + 1))) {
		struct rt_va_region *region = vm_container(n, struct rt_va_region, at);

		if (region->info.type == HSA_EXT_POINTER_TYPE_LOCKED && region->info.base == host &&
		    region->info.host_base == host)
			taken = region->object;
	}
	if (taken) {
		vm_tree_remove(&rt->memory->va_regions, &taken->host.at);
		vm_tree_remove(&rt->memory->va_regions, &taken->agent.at);
	}
	drv_mutex_unlock(&rt->memory->va_region_lock);
	return taken;
}

RT_IMPL(hsa_amd_memory_unlock, (void *host_ptr), (host_ptr))
{
	struct pool_found found;
	struct lock *taken;

	if (!host_ptr || (uintptr_t)host_ptr == UINTPTR_MAX)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (pool_find(rt->memory->space, (uintptr_t)host_ptr, &found))
		return HSA_STATUS_SUCCESS;
	taken = lock_claim(rt, (uintptr_t)host_ptr);
	if (!taken)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	rt_user_data_end(rt, taken->host.info.base, taken->host.info.size_B);
	rt_user_data_end(rt, taken->agent.info.base, taken->agent.info.size_B);
	lock_destroy(taken);
	return HSA_STATUS_SUCCESS;
}

void rt_locks_fini(struct rt *rt)
{
	struct vm_node *n;

	while ((n = vm_tree_next(&rt->memory->va_regions, NULL, 0, UINT64_MAX)))
		lock_destroy(lock_claim(rt, vm_container(n, struct rt_va_region, at)->info.host_base));
}
