/* Memory for jobs that run already: a kernel asks the host for some, and uses what it is told.
 *
 * The kernel (Linux) has an engine write the page tables, and tells nobody when it has (before 6.16); but a job
 * that is submitted then starts behind that. So one that does nothing, on a ring where nothing waits, shows it when
 * it ends. An unmapping is written only when all jobs of its vm have ended, and whatever is mapped behind it comes
 * later still: then the wait is in vain, and is given up. */
#include "hsa/memory/memory.h"

#include <errno.h>

#include "sdma/sdma.h"

/* What the job takes is some 20 us, and the clearing of new memory, at 100 GB/s and more, below a millisecond; but
 * the kernel's threads that hand both to the engine may have to wait for a processor. */
#define LAND_NS 1000000000ll

static bool alone(void *user, unsigned vm)
{
	const struct rt *rt = user;

	return rt_is_alone(rt, rt->gpu[vm]);
}

static bool busy(void *user, unsigned vm)
{
	struct rt *rt = user;
	struct rt_gpu *gpu = rt->gpu[vm];

	return flow_gpu_may_run(&gpu->flows) || (gpu->copier && sdma_copier_busy(gpu->copier));
}

static void lander_destroy(struct rt_pt_sync *l)
{
	if (l->ring)
		cs_ring_destroy(l->ring);
	if (l->ctx)
		cs_ctx_destroy(l->ctx);
	l->ring = NULL;
	l->ctx = NULL;
}

/* A copy engine's ring: kernels keep compute rings for long. */
static int lander_create(struct rt_pt_sync *l, struct vm *vm)
{
	bool dma = vm_device(vm)->facts.ip[DRV_IP_DMA].rings;
	int r = cs_ctx_create(vm, CS_PRIORITY_NORMAL, &l->ctx);

	if (!r)
		r = cs_ring_create(l->ctx, dma ? DRV_IP_DMA : DRV_IP_COMPUTE, 0, dma ? sdma_print : cs_pm4_print,
				   &l->ring);
	if (r)
		lander_destroy(l);
	return r;
}

static int run_nothing(struct rt_pt_sync *l)
{
	struct cs_fence fence;
	struct cs_ib *ib;
	int r;

	if (!cs_fence_is_retired(cs_ring_last(l->ring)))
		return -ETIMEDOUT; /* the wait before was given up: nor would this one end */
	r = cs_begin(l->ring, CS_NOWAIT | CS_RESIDENT, &ib);
	r = r ? r : cs_submit(ib, NULL, &fence);
	return r ? r : cs_fence_wait(fence, LAND_NS);
}

/* Where it fails the memory is there all the same, for jobs that are submitted later. */
static void land(void *user, unsigned vm)
{
	struct rt *rt = user;
	struct rt_pt_sync *l = &rt->memory->pt_sync[vm];
	int r = 0;

	pthread_mutex_lock(&l->lock);
	if (l->ctx && cs_ctx_lost(l->ctx))
		lander_destroy(l);
	if (!l->ctx)
		r = lander_create(l, rt->gpu[vm]->vm);
	r = r ? r : run_nothing(l);
	pthread_mutex_unlock(&l->lock);
	if (r)
		drv_log(DRV_LOG_HSA, "kernels that run may not reach new memory of GPU %u: error %d", vm, r);
}

void rt_pt_sync_init(struct rt *rt)
{
	const struct pool_watch watch = {alone, busy, land, rt};

	for (unsigned i = 0; i < rt->gpus; i++)
		pthread_mutex_init(&rt->memory->pt_sync[i].lock, NULL);
	pool_space_watch(rt->memory->space, &watch);
}

void rt_pt_sync_fini(struct rt *rt)
{
	for (unsigned i = 0; i < rt->gpus; i++) {
		lander_destroy(&rt->memory->pt_sync[i]);
		pthread_mutex_destroy(&rt->memory->pt_sync[i].lock);
	}
}
