/* Operands of copies and fills. */
#include "hsa/copy/copies.h"
#include "hsa/memory/memory.h"

void rt_operand_find(struct rt *rt, uint64_t address, uint64_t size_B, struct rt_operand *o)
{
	*o = (struct rt_operand){.address = address, .size_B = size_B};
	o->known = rt_alloc_info_find(rt, address, &o->info);
}

/* True when the GPU can access the first size_B bytes so; *va is its address of them. */
static bool operand_reach(struct rt *rt, const struct rt_operand *o, struct rt_gpu *gpu, uint64_t size_B,
			  hsa_access_permission_t access, uint64_t *va)
{
	/* A pool's block needs no look-up of its mapping. */
	if (o->info.block) {
		*va = o->address;
		return o->info.seen_by & 1u << gpu->index && size_B <= o->info.base + o->info.size_B - o->address;
	}
	return rt_alloc_info_reach(rt, gpu, o->address, size_B, access, va);
}

bool rt_operand_reach(struct rt *rt, const struct rt_operand *o, struct rt_gpu *gpu, hsa_access_permission_t access)
{
	uint64_t va;

	return operand_reach(rt, o, gpu, o->size_B, access, &va);
}

/* False for an alias, and for memory that is mapped for other agents only. */
static bool is_reached_by_host(const struct rt_alloc_info *info, hsa_access_permission_t access)
{
	return info->host_base == info->base && !(access & HSA_ACCESS_PERMISSION_WO && info->read_only);
}

bool rt_operand_end(struct rt *rt, const struct rt_operand *o, struct rt_gpu *gpu, hsa_access_permission_t access,
		    struct sdma_end *end)
{
	const struct rt_alloc_info *info = &o->info;

	if (!o->known) {
		*end = (struct sdma_end){.va = o->address, .place = SDMA_PAGEABLE, .cpu = true};
		return true;
	}
	if (!operand_reach(rt, o, gpu, o->size_B, access, &end->va))
		return false;
	/* A peer's VRAM is, for this GPU's engines, memory outside the GPU. */
	end->place = info->place == SDMA_VRAM && info->owner == gpu->agent ? SDMA_VRAM : SDMA_GTT;
	end->cpu = is_reached_by_host(info, access) && end->va == o->address &&
		   o->size_B <= info->base + info->size_B - o->address;
	return true;
}

void *rt_operand_host(const struct rt_operand *o)
{
	uint64_t address = o->address;

	if (o->known && o->info.host_base)
		address = o->info.host_base + (address - o->info.base);
	return (void *)(uintptr_t)address;
}

bool rt_operand_host_reaches(const struct rt_operand *o, hsa_access_permission_t access)
{
	return !o->known || is_reached_by_host(&o->info, access);
}

struct rt_gpu *rt_operand_gpu(struct rt *rt, const struct rt_operand *o, hsa_access_permission_t access)
{
	const struct rt_alloc_info *info = &o->info;
	uint64_t va;

	if (!o->known || !info->owner)
		return NULL;
	if (info->owner->gpu && operand_reach(rt, o, info->owner->gpu, 1, access, &va))
		return info->owner->gpu;
	for (unsigned i = 0; !is_reached_by_host(info, access) && i < rt->gpus; i++)
		if (operand_reach(rt, o, rt->gpu[i], 1, access, &va))
			return rt->gpu[i];
	return NULL;
}
