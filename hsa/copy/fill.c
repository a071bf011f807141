/* hsa_amd_memory_fill(). */
#include "hsa/core/table.h"
#include "hsa/memory/memory.h"

/* The GPU that fills memory: its owner, or the first with access. NULL: none. */
static struct rt_gpu *filler_of(struct rt *rt, const struct rt_alloc_info *info, uint64_t address, uint64_t size_B,
				uint64_t *va)
{
	if (info->owner->gpu && rt_alloc_info_reach(rt, info->owner->gpu, address, size_B, va))
		return info->owner->gpu;
	for (unsigned i = 0; i < rt->gpus; i++)
		if (rt_alloc_info_reach(rt, rt->gpu[i], address, size_B, va))
			return rt->gpu[i];
	return NULL;
}

static int fill_by_gpu(struct rt_gpu *gpu, const struct rt_alloc_info *info, uint64_t va, uint32_t value,
		       uint64_t size_B)
{
	struct sdma_job job = {
		.dst = {.va = va,
			.place = info->place == SDMA_VRAM && info->owner == gpu->agent ? SDMA_VRAM : SDMA_GTT,
			.cpu = info->host_base && va >= info->host_base && va - info->host_base < info->size_B &&
			       size_B <= info->size_B - (va - info->host_base)},
		.size_B = size_B,
	};
	int r = sdma_copier_fill32(gpu->copier, &job, value);

	return r ? r : cs_fence_wait(job.fence, CS_FOREVER);
}

/* Returns after the fill. As in ROCr, only memory that was allocated or locked by HSA can be filled. */
hsa_status_t impl_hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count)
{
	RT_ENTER(rt);
	const uint64_t address = (uintptr_t)ptr, size_B = count * 4;
	struct rt_alloc_info info;
	struct rt_gpu *gpu;
	uint64_t va;

	if (!ptr || address % 4)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!count)
		return HSA_STATUS_SUCCESS;
	if (count > SIZE_MAX / 4 || !rt_alloc_info_find(rt, address, &info))
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	rt_queues_flush(rt);
	gpu = filler_of(rt, &info, address, size_B, &va);
	return gpu ? hsa_status_of(fill_by_gpu(gpu, &info, va, value, size_B))
		   : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}
