/* Exports of memory as a dma-buf. */
#include "drv/cancel.h"
#include "drv/lock.h"
#include "hsa/core/table.h"
#include "hsa/memory/memory.h"

#include <unistd.h>

static int copy_block(void *gpu, uint64_t dst, uint64_t src, uint64_t size_B)
{
	struct sdma_job job = {
		.dst = {.va = dst, .place = SDMA_VRAM}, .src = {.va = src, .place = SDMA_VRAM}, .size_B = size_B};
	int r = sdma_copier_copy(((struct rt_gpu *)gpu)->copier, &job);

	return r ? r : cs_fence_wait(job.fence, CS_FOREVER);
}

/* Waits for the work that may use a block before it is moved. */
static void wait_for_work(struct rt *rt, uint32_t gpus)
{
	struct cs_fence fences[RT_FENCES_MAX];
	unsigned count;

	rt_queues_flush(rt);
	drv_mutex_lock(&rt->memory->free_lock); /* keeps the fences' rings alive */
	count = rt_memory_fences(rt, gpus, fences);
	for (unsigned i = 0; i < count; i++)
		cs_fence_retire(fences[i]);
	drv_mutex_unlock(&rt->memory->free_lock);
}

int rt_block_bo(struct rt *rt, const struct pool_found *found, struct vm_bo **bo)
{
	const struct pool_info *info = pool_info(found->pool);

	if (pool_export_moves(found->block))
		wait_for_work(rt, found->seen_by);
	return pool_export_bo(found->block, info->placement == POOL_VRAM ? copy_block : NULL, rt->gpu[info->vm],
			      bo);
}

/* Only memory of GPUs, as in ROCr 6.4. */
RT_IMPL(hsa_amd_portable_export_dmabuf, (const void *ptr, size_t size, int *dmabuf, uint64_t *offset),
	(ptr, size, dmabuf, offset))
{
	struct pool_found found;
	uint64_t inside_B;
	struct vm_bo *bo;
	int r;

	if (!ptr || !size || !dmabuf || !offset)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool_find(rt->memory->space, (uintptr_t)ptr, &found))
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	inside_B = (uintptr_t)ptr - found.va;
	if (size > found.size_B - inside_B)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	if (pool_info(found.pool)->placement != POOL_VRAM)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	r = rt_block_bo(rt, &found, &bo);
	if (r)
		return hsa_status_of(r);
	r = vm_bo_export(bo, dmabuf);
	vm_bo_put(bo);
	if (!r)
		*offset = inside_B; /* the dma-buf has this block alone, from its begin on */
	return hsa_status_of(r);
}

/* The flag asks for access by other PCIe devices; an importer requests that itself. */
hsa_status_t impl_hsa_amd_portable_export_dmabuf_v2(const void *ptr, size_t size, int *dmabuf, uint64_t *offset,
						    uint64_t flags)
{
	if (flags & ~(uint64_t)HSA_AMD_DMABUF_MAPPING_TYPE_PCIE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return impl_hsa_amd_portable_export_dmabuf(ptr, size, dmabuf, offset);
}

hsa_status_t impl_hsa_amd_portable_close_dmabuf(int dmabuf)
{
	DRV_HOLD_CANCEL;

	return close(dmabuf) ? HSA_STATUS_ERROR_RESOURCE_FREE : HSA_STATUS_SUCCESS;
}
