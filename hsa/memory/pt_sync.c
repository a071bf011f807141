/* Page-table synchronisation: makes new memory accessible to running jobs. A running kernel may request memory from
 * the host and use the address that it gets.
 *
 * The Linux driver has an engine write the page tables, and before 6.16 does not report the end of the writes; but
 * a job that is submitted after a mapping starts behind them. So a job without commands, on a ring where no job
 * waits, has ended only after the writes. The removal of a mapping is written only when all jobs of its vm have
 * ended, and mappings made after it are written later still: the wait is in vain in that case, and ends by its
 * timeout. */
#include "drv/lock.h"
#include "hsa/memory/memory.h"

#include <errno.h>

#include "sdma/sdma.h"

/* Timeout. The job itself takes some 20 us, and clearing new memory, at 100 GB/s and more, less than a millisecond;
 * but the kernel threads that submit both to the engine may have to wait for a processor. */
#define PT_SYNC_NS 1000000000ll

static bool gpu_is_alone(void *user, unsigned vm)
{
	const struct rt *rt = user;

	return rt_is_alone(rt, rt->gpu[vm]);
}

static bool gpu_is_busy(void *user, unsigned vm)
{
	struct rt *rt = user;
	struct rt_gpu *gpu = rt->gpu[vm];

	struct cs_fence job;

	return flow_gpu_fences(&gpu->flows, &job, 1) || (gpu->copier && sdma_copier_fences(gpu->copier, &job, 1));
}

static void pt_sync_destroy(struct rt_pt_sync *l)
{
	if (l->ring)
		cs_ring_destroy(l->ring);
	if (l->ctx)
		cs_ctx_destroy(l->ctx);
	l->ring = NULL;
	l->ctx = NULL;
}

/* Uses a copy engine's ring: long kernels occupy the compute rings. */
static int pt_sync_create(struct rt_pt_sync *l, struct vm *vm)
{
	bool dma = vm_device(vm)->facts.ip[DRV_IP_DMA].rings;
	int r = cs_ctx_create(vm, CS_PRIORITY_NORMAL, &l->ctx);

	if (!r)
		r = cs_ring_create(l->ctx, dma ? DRV_IP_DMA : DRV_IP_COMPUTE, 0, dma ? sdma_print : cs_pm4_print,
				   &l->ring);
	if (r)
		pt_sync_destroy(l);
	return r;
}

static int pt_sync_run_nop(struct rt_pt_sync *l)
{
	struct cs_fence fence;
	struct cs_ib *ib;
	int r;

	if (!cs_fence_is_retired(cs_ring_last(l->ring)))
		return -ETIMEDOUT; /* the previous wait ended by its timeout: this one would, too */
	r = cs_begin(l->ring, CS_NOWAIT | CS_RESIDENT, &ib);
	r = r ? r : cs_submit(ib, NULL, &fence);
	return r ? r : cs_fence_wait(fence, PT_SYNC_NS);
}

/* Waits until running jobs can access new mappings. On failure the memory is accessible to jobs submitted later. */
static void pt_sync_wait(void *user, unsigned vm)
{
	struct rt *rt = user;
	struct rt_pt_sync *l = &rt->memory->pt_sync[vm];
	int r = 0;

	drv_mutex_lock(&l->lock);
	if (l->ctx && cs_ctx_lost(l->ctx))
		pt_sync_destroy(l);
	if (!l->ctx)
		r = pt_sync_create(l, rt->gpu[vm]->vm);
	r = r ? r : pt_sync_run_nop(l);
	drv_mutex_unlock(&l->lock);
	if (r)
		drv_log(DRV_LOG_HSA, "kernels that run may not reach new memory of GPU %u: error %d", vm, r);
}

void rt_pt_sync_init(struct rt *rt)
{
	const struct pool_watch watch = {gpu_is_alone, gpu_is_busy, pt_sync_wait, rt};

	for (unsigned i = 0; i < rt->gpus; i++)
		drv_mutex_init(&rt->memory->pt_sync[i].lock, DRV_RANK_RT_PT_SYNC);
	pool_space_watch(rt->memory->space, &watch);
}

void rt_pt_sync_fini(struct rt *rt)
{
	for (unsigned i = 0; i < rt->gpus; i++) {
		pt_sync_destroy(&rt->memory->pt_sync[i]);
		drv_mutex_destroy(&rt->memory->pt_sync[i].lock);
	}
}
