/* hsa_amd_memory_fill(). */
#include "hsa/copy/copies.h"
#include "hsa/core/table.h"

/* The GPU that fills memory: its owner, or the first with access. NULL: none. */
static struct rt_gpu *filler_of(struct rt *rt, const struct rt_operand *o, struct sdma_end *end)
{
	if (o->info.owner->gpu && rt_operand_end(rt, o, o->info.owner->gpu, HSA_ACCESS_PERMISSION_WO, end))
		return o->info.owner->gpu;
	for (unsigned i = 0; i < rt->gpus; i++)
		if (rt_operand_end(rt, o, rt->gpu[i], HSA_ACCESS_PERMISSION_WO, end))
			return rt->gpu[i];
	return NULL;
}

static int fill_by_gpu(struct rt_gpu *gpu, const struct sdma_end *end, uint32_t value, uint64_t size_B)
{
	struct sdma_job job = {.dst = *end, .size_B = size_B};
	int r = sdma_copier_fill32(gpu->copier, &job, value);

	return r ? r : cs_fence_wait(job.fence, CS_FOREVER);
}

/* Returns after the fill. As in ROCr, only memory that was allocated or locked by HSA can be filled. */
RT_IMPL(hsa_amd_memory_fill, (void *ptr, uint32_t value, size_t count), (ptr, value, count))
{
	const uint64_t address = (uintptr_t)ptr, size_B = count * 4;
	struct rt_operand operand;
	struct sdma_end end;
	struct rt_gpu *gpu;

	if (!ptr || address % 4)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!count)
		return HSA_STATUS_SUCCESS;
	if (count > SIZE_MAX / 4)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	rt_operand_find(rt, address, size_B, &operand);
	if (!operand.known)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	rt_queues_flush(rt);
	gpu = filler_of(rt, &operand, &end);
	return gpu ? hsa_status_of(fill_by_gpu(gpu, &end, value, size_B)) : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}
