/* What is known of an address. */
#include "hsa/memory.h"

void rt_areas_insert(struct rt *rt, struct rt_area *const *areas, unsigned count)
{
	pthread_mutex_lock(&rt->memory->area_lock);
	for (unsigned i = 0; i < count; i++) {
		areas[i]->at.lo = areas[i]->span.base;
		areas[i]->at.hi = areas[i]->span.base + areas[i]->span.size_B;
		vm_tree_insert(&rt->memory->areas, &areas[i]->at);
	}
	pthread_mutex_unlock(&rt->memory->area_lock);
}

void rt_area_insert(struct rt *rt, struct rt_area *area)
{
	rt_areas_insert(rt, &area, 1);
}

void rt_area_remove(struct rt *rt, struct rt_area *area)
{
	pthread_mutex_lock(&rt->memory->area_lock);
	vm_tree_remove(&rt->memory->areas, &area->at);
	pthread_mutex_unlock(&rt->memory->area_lock);
}

void rt_area_change(struct rt *rt, struct rt_area *area, uint32_t gpus, uint64_t host_base)
{
	pthread_mutex_lock(&rt->memory->area_lock);
	area->gpus = gpus;
	area->span.host_base = host_base;
	pthread_mutex_unlock(&rt->memory->area_lock);
}

/* What is mapped lies in what is only reserved, and tells more. */
struct rt_area *rt_area_find(struct rt *rt, uint64_t address)
{
	struct rt_area *area = NULL;
	struct vm_node *n = NULL;

	if (address == UINT64_MAX)
		return NULL;
	while ((!area || !area->object) && (n = vm_tree_next(&rt->memory->areas, n, address, address + 1)))
		area = vm_container(n, struct rt_area, at);
	return area;
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

static void span_of_block(const struct pool_found *found, struct rt_span *span)
{
	const struct rt_pool *pool = pool_info(found->pool)->owner;

	*span = (struct rt_span){
		.type = HSA_EXT_POINTER_TYPE_HSA,
		.base = found->va,
		.size_B = found->size_B,
		.host_base = found->map ? found->va : 0,
		.agent_base = found->va,
		.owner = pool->agent,
		.place = pool->agent->is_gpu ? SDMA_VRAM : SDMA_GTT,
		.global_flags = rt_pool_flags(pool->kind),
	};
}

static bool find_block(struct rt *rt, uint64_t address, struct rt_span *span)
{
	struct pool_found found;

	if (!pool_find(rt->memory->space, address, &found))
		return false;
	span_of_block(&found, span);
	return true;
}

static bool find_area(struct rt *rt, uint64_t address, struct rt_span *span)
{
	const struct rt_area *area = rt_area_find(rt, address);

	if (area)
		*span = area->span;
	return area;
}

bool rt_span_find_locked(struct rt *rt, uint64_t address, struct rt_span *span)
{
	return find_block(rt, address, span) || find_area(rt, address, span);
}

bool rt_span_find(struct rt *rt, uint64_t address, struct rt_span *span)
{
	bool found = find_block(rt, address, span);

	if (found)
		return true;
	pthread_mutex_lock(&rt->memory->area_lock);
	found = find_area(rt, address, span);
	pthread_mutex_unlock(&rt->memory->area_lock);
	return found;
}

/* Whether [address, address + size_B) lies in [base, base + whole_B). */
static bool lies_in(uint64_t address, uint64_t size_B, uint64_t base, uint64_t whole_B)
{
	return address >= base && address - base < whole_B && size_B <= whole_B - (address - base);
}

/* What the GPU reaches from that address on, the farthest. Intervals may overlap: host memory that was locked twice
 * for different GPUs. */
static const struct rt_area *area_from(struct rt *rt, uint32_t gpu, uint64_t address)
{
	const struct rt_area *farthest = NULL;
	struct vm_node *n = NULL;

	while ((n = vm_tree_next(&rt->memory->areas, n, address, address + 1))) {
		const struct rt_area *area = vm_container(n, struct rt_area, at);

		if (area->gpus & gpu && (!farthest || area->at.hi > farthest->at.hi))
			farthest = area;
	}
	return farthest;
}

/* Memory that was mapped in pieces is reached as one when the GPU has them side by side. */
static bool area_reach(struct rt *rt, uint32_t gpu, uint64_t address, uint64_t size_B, uint64_t *va)
{
	const uint64_t end = address + size_B;

	if (end < address)
		return false;
	for (uint64_t at = address;;) {
		const struct rt_area *area = area_from(rt, gpu, at);
		uint64_t here;

		if (!area)
			return false;
		here = area->span.agent_base + (at - area->span.base);
		if (at == address)
			*va = here;
		else if (here - *va != at - address)
			return false;
		if (end <= area->at.hi)
			return true;
		at = area->at.hi;
	}
}

bool rt_span_reach(struct rt *rt, struct rt_gpu *gpu, uint64_t address, uint64_t size_B, uint64_t *va)
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
	pthread_mutex_lock(&rt->memory->area_lock);
	reached = area_reach(rt, bit, address, size_B, va);
	pthread_mutex_unlock(&rt->memory->area_lock);
	return reached;
}
