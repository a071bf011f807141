/* Information about addresses: look-ups of blocks and VA regions. */
#include "drv/lock.h"
#include "hsa/memory/memory.h"

void rt_va_regions_insert(struct rt *rt, struct rt_va_region *const *va_regions, unsigned count)
{
	drv_mutex_lock(&rt->memory->va_region_lock);
	for (unsigned i = 0; i < count; i++) {
		va_regions[i]->at.lo = va_regions[i]->info.base;
		va_regions[i]->at.hi = va_regions[i]->info.base + va_regions[i]->info.size_B;
		vm_tree_insert(&rt->memory->va_regions, &va_regions[i]->at);
	}
	drv_mutex_unlock(&rt->memory->va_region_lock);
}

void rt_va_region_insert(struct rt *rt, struct rt_va_region *region)
{
	rt_va_regions_insert(rt, &region, 1);
}

void rt_va_region_remove(struct rt *rt, struct rt_va_region *region)
{
	drv_mutex_lock(&rt->memory->va_region_lock);
	vm_tree_remove(&rt->memory->va_regions, &region->at);
	drv_mutex_unlock(&rt->memory->va_region_lock);
}

void rt_va_region_update(struct rt *rt, struct rt_va_region *region, const struct rt_va_region *to)
{
	drv_mutex_lock(&rt->memory->va_region_lock);
	region->readers = to->readers;
	region->writers = to->writers;
	region->info.host_base = to->info.host_base;
	region->info.read_only = to->info.read_only;
	drv_mutex_unlock(&rt->memory->va_region_lock);
}

/* A mapping is inside a reservation; its region is preferred, since it has more information. */
struct rt_va_region *rt_va_region_find(struct rt *rt, uint64_t address)
{
	struct rt_va_region *region = NULL;
	struct vm_node *n = NULL;

	if (address == UINT64_MAX)
		return NULL;
	while ((!region || !region->object) && (n = vm_tree_next(&rt->memory->va_regions, n, address, address + 1)))
		region = vm_container(n, struct rt_va_region, at);
	return region;
}

uint32_t rt_pool_flags(enum rt_pool_kind kind)
{
	static const uint32_t flags[] = {
		[RT_POOL_FINE] = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
		[RT_POOL_KERNARG] =
			HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT,
		[RT_POOL_COARSE] = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
		[RT_POOL_GROUP] = 0,
	};

	return flags[kind];
}

static void info_of_block(const struct pool_found *found, struct rt_alloc_info *info)
{
	const struct rt_pool *pool = pool_info(found->pool)->owner;

	*info = (struct rt_alloc_info){
		.type = HSA_EXT_POINTER_TYPE_HSA,
		.base = found->va,
		.size_B = found->size_B,
		.host_base = found->map ? found->va : 0,
		.agent_base = found->va,
		.owner = pool->agent,
		.place = pool->agent->is_gpu ? SDMA_VRAM : SDMA_GTT,
		.global_flags = rt_pool_flags(pool->kind),
		.block = true,
		.seen_by = found->seen_by,
	};
}

static bool info_find_block(struct rt *rt, uint64_t address, struct rt_alloc_info *info)
{
	struct pool_found found;

	if (!pool_find(rt->memory->space, address, &found))
		return false;
	info_of_block(&found, info);
	return true;
}

static bool info_find_region(struct rt *rt, uint64_t address, struct rt_alloc_info *info)
{
	const struct rt_va_region *region = rt_va_region_find(rt, address);

	if (region)
		*info = region->info;
	return region;
}

bool rt_alloc_info_find_locked(struct rt *rt, uint64_t address, struct rt_alloc_info *info)
{
	return info_find_block(rt, address, info) || info_find_region(rt, address, info);
}

bool rt_alloc_info_find(struct rt *rt, uint64_t address, struct rt_alloc_info *info)
{
	bool found = info_find_block(rt, address, info);

	if (found)
		return true;
	drv_mutex_lock(&rt->memory->va_region_lock);
	found = info_find_region(rt, address, info);
	drv_mutex_unlock(&rt->memory->va_region_lock);
	return found;
}

/* True if [address, address + size_B) is inside [base, base + whole_B). */
static bool lies_in(uint64_t address, uint64_t size_B, uint64_t base, uint64_t whole_B)
{
	return address >= base && address - base < whole_B && size_B <= whole_B - (address - base);
}

static uint32_t gpus_with(const struct rt_va_region *region, hsa_access_permission_t access)
{
	return (access & HSA_ACCESS_PERMISSION_RO ? region->readers : 0) |
	       (access & HSA_ACCESS_PERMISSION_WO ? region->writers : 0);
}

/* The last-ending region among those that contain the address and that the GPU can access. Regions may overlap:
 * host memory that was locked twice for different GPUs. */
static const struct rt_va_region *region_from(struct rt *rt, uint32_t gpu, hsa_access_permission_t access,
					      uint64_t address)
{
	const struct rt_va_region *farthest = NULL;
	struct vm_node *n = NULL;

	while ((n = vm_tree_next(&rt->memory->va_regions, n, address, address + 1))) {
		const struct rt_va_region *region = vm_container(n, struct rt_va_region, at);

		if (gpus_with(region, access) & gpu && (!farthest || region->at.hi > farthest->at.hi))
			farthest = region;
	}
	return farthest;
}

/* True if regions without a gap cover the addresses, at GPU addresses without a gap. */
static bool regions_reach(struct rt *rt, uint32_t gpu, hsa_access_permission_t access, uint64_t address,
			  uint64_t size_B, uint64_t *va)
{
	const uint64_t end = address + size_B;

	if (end < address)
		return false;
	for (uint64_t at = address;;) {
		const struct rt_va_region *region = region_from(rt, gpu, access, at);
		uint64_t here;

		if (!region)
			return false;
		here = region->info.agent_base + (at - region->info.base);
		if (at == address)
			*va = here;
		else if (here - *va != at - address)
			return false;
		if (end <= region->at.hi)
			return true;
		at = region->at.hi;
	}
}

bool rt_alloc_info_reach(struct rt *rt, struct rt_gpu *gpu, uint64_t address, uint64_t size_B,
			 hsa_access_permission_t access, uint64_t *va)
{
	const uint32_t bit = 1u << gpu->index;
	struct pool_found found;
	bool reached;

	if (address == UINT64_MAX)
		return false;
	if (pool_find(rt->memory->space, address, &found)) {
		*va = address;
		return found.seen_by & bit && lies_in(address, size_B, found.va, found.size_B);
	}
	drv_mutex_lock(&rt->memory->va_region_lock);
	reached = regions_reach(rt, bit, access, address, size_B, va);
	drv_mutex_unlock(&rt->memory->va_region_lock);
	return reached;
}
