/* Filling memory with a dword. */
#include "hsa/memory.h"
#include "hsa/table.h"

/* The GPU that fills memory: its own, or the first that reaches it. NULL: none does. */
static struct rt_gpu *filler_of(struct rt *rt, const struct rt_span *span, uint64_t address, uint64_t size_B,
				uint64_t *va)
{
	if (span->owner->gpu && rt_span_reach(rt, span->owner->gpu, address, size_B, va))
		return span->owner->gpu;
	for (unsigned i = 0; i < rt->gpus; i++)
		if (rt_span_reach(rt, rt->gpu[i], address, size_B, va))
			return rt->gpu[i];
	return NULL;
}

static int fill(struct rt_gpu *gpu, const struct rt_span *span, uint64_t va, uint32_t value, uint64_t size_B)
{
	struct sdma_job job = {
		.dst = {.va = va,
			.place = span->place == SDMA_VRAM && span->owner == gpu->agent ? SDMA_VRAM : SDMA_GTT,
			.cpu = span->host_base && va >= span->host_base && va - span->host_base < span->size_B &&
			       size_B <= span->size_B - (va - span->host_base)},
		.size_B = size_B,
	};
	int r = sdma_copier_fill32(gpu->copier, &job, value);

	return r ? r : cs_point_wait(job.point, CS_FOREVER);
}

/* Returns when it is done. As in ROCr, memory that nobody allocated or locked here cannot be filled. */
hsa_status_t impl_hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count)
{
	RT_ENTER(rt);
	const uint64_t address = (uintptr_t)ptr, size_B = count * 4;
	struct rt_span span;
	struct rt_gpu *gpu;
	uint64_t va;

	if (!ptr || address % 4)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!count)
		return HSA_STATUS_SUCCESS;
	if (count > SIZE_MAX / 4 || !rt_span_find(rt, address, &span))
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	rt_queues_flush(rt);
	gpu = filler_of(rt, &span, address, size_B, &va);
	return gpu ? hsa_status_of(fill(gpu, &span, va, value, size_B)) : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}
