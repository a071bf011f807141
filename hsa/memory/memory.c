/* Memory: initialisation and end, placement of the pools, memory of the runtime itself. */
#include "hsa/memory/memory.h"
#include "vm/host.h"

#include <errno.h>
#include <stdlib.h>

/* --- pools ------------------------------------------------------------------------------------ */

/* DRM 3.59 is Linux 6.12. From it on the kernel takes the pages of GTT from the device's own node
 * (ttm_device_init(), ttm_pool_alloc_page()); in 6.1 from the node of the thread that touches them first. */
#define GTT_OF_NODE_DRM 59

/* True if processes may choose the NUMA node of their memory. Containers may forbid it; memory of any node is then
 * used, as in ROCr. */
static bool may_choose_node(const struct rt *rt)
{
	struct vm_mem *page;
	int r = vm_mem_create_on_node(rt->gpu[0]->vm, RT_PAGE_B, rt->host.node[0].id, 0, &page);

	if (!r)
		vm_mem_destroy(page);
	else if (r == -ENOTSUP)
		drv_log(DRV_LOG_HSA, "memory comes from any NUMA node: %s", drv_error_last()->text);
	return r != -ENOTSUP;
}

/* The placement of a node's memory.
 *
 * A single GPU uses GTT where its pages are the node's: GTT is always valid, and costs submissions nothing. The
 * node matters only if there are several.
 *
 * Otherwise it is host memory with a BO of its own for each GPU. Several GPUs must not share a BO: Linux makes each
 * job that lists an imported BO wait for the unfinished jobs of the exporter's device (vm.h, vm_mem_share()). The
 * kernel looks up the pages of such memory at each submission. */
static void place_system(const struct rt *rt, const struct drv_numa *numa, bool may_choose, struct pool_info *info)
{
	const bool any_node = rt->host.count == 1 || !may_choose;
	const struct rt_gpu *gpu = rt->gpu[0];
	const bool is_own =
		gpu->place.numa_told && gpu->place.numa_node == numa->id && gpu->dev->drm_minor >= GTT_OF_NODE_DRM;

	info->placement = rt->gpus == 1 && (any_node || is_own) ? POOL_GTT : POOL_HOST;
	info->node = any_node ? VM_ANY_NODE : numa->id;
}

/* Placement and properties of a pool's memory. All GPUs have access to system memory from the start. */
static struct pool_info info_of(const struct rt *rt, struct rt_pool *pool, bool may_choose)
{
	const struct rt_agent *agent = pool->agent;
	struct pool_info info = {.flags = VM_EXEC, .owner = pool};

	if (pool->kind != RT_POOL_COARSE)
		info.flags |= VM_UNCACHED;
	if (agent->is_gpu) {
		info.placement = POOL_VRAM;
		info.vm = agent->gpu->index;
		info.flags |= VM_STRICT | (agent->gpu->large_bar ? VM_CPU : 0);
		return info;
	}
	place_system(rt, agent->numa, may_choose, &info);
	info.flags |= VM_CPU;
	info.seen_by = rt_all_gpus(rt);
	return info;
}

static int pools_create(struct rt *rt)
{
	const bool may_choose = rt->host.count > 1 && may_choose_node(rt);
	int r = 0;

	for (unsigned a = 0; !r && a < rt->agents; a++)
		for (unsigned p = 0; !r && p < rt->agent[a].pools; p++) {
			struct rt_pool *pool = &rt->agent[a].pool[p];
			struct pool_info info;

			if (pool->kind == RT_POOL_GROUP)
				continue;
			info = info_of(rt, pool, may_choose);
			r = pool_create(rt->memory->space, &info, &pool->pool);
		}
	return r;
}

static void pools_destroy(struct rt *rt)
{
	for (unsigned a = 0; a < rt->agents; a++)
		for (unsigned p = 0; p < rt->agent[a].pools; p++) {
			pool_destroy(rt->agent[a].pool[p].pool);
			rt->agent[a].pool[p].pool = NULL;
		}
}

int rt_memory_init(struct rt *rt)
{
	struct vm *vm[RT_GPUS_MAX];
	int r;

	rt->memory = calloc(1, sizeof(*rt->memory));
	if (!rt->memory)
		return drv_fail(-ENOMEM, "no host memory for the runtime");
	for (unsigned i = 0; i < rt->gpus; i++)
		vm[i] = rt->gpu[i]->vm;
	pthread_mutex_init(&rt->memory->free_lock, NULL);
	pthread_mutex_init(&rt->memory->va_region_lock, NULL);
	rt_deferred_free_init(rt);
	r = pool_space_create(vm, rt->gpus, &rt->memory->space);
	if (!r)
		rt_pt_sync_init(rt);
	r = r ? r : pools_create(rt);
	r = r ? r : rt_vmm_init(rt);
	r = r ? r : rt_svm_init(rt);
	if (r)
		rt_memory_fini(rt);
	return r;
}

void rt_memory_fini(struct rt *rt)
{
	if (!rt->memory)
		return;
	rt_svm_fini(rt);
	rt_vmm_fini(rt);
	rt_deferred_free_fini(rt);
	rt_locks_fini(rt);
	rt_user_data_fini(rt);
	pools_destroy(rt);
	rt_pt_sync_fini(rt);
	pool_space_destroy(rt->memory->space);
	pthread_mutex_destroy(&rt->memory->va_region_lock);
	pthread_mutex_destroy(&rt->memory->free_lock);
	free(rt->memory);
	rt->memory = NULL;
}

/* --- the runtime's own ------------------------------------------------------------------------ */

int rt_shared_create(struct rt *rt, uint64_t size_B, unsigned flags, struct rt_shared *shared)
{
	struct vm_info info = {.size_B = size_B, .kind = VM_GTT, .flags = VM_CPU | flags};
	int r;

	*shared = (struct rt_shared){.gpus = rt->gpus};
	r = rt->gpus == 1 ? vm_mem_create(rt->gpu[0]->vm, &info, &shared->mem[0])
			  : vm_mem_create_on_node(rt->gpu[0]->vm, size_B, VM_ANY_NODE, flags, &shared->mem[0]);
	for (unsigned i = 1; !r && i < rt->gpus; i++)
		r = vm_mem_share(rt->gpu[i]->vm, shared->mem[0], &shared->mem[i]);
	if (r) {
		rt_shared_destroy(shared);
		return r;
	}
	shared->map = shared->mem[0]->map;
	shared->size_B = shared->mem[0]->size_B;
	return 0;
}

void rt_shared_unlist(const struct rt_shared *shared)
{
	for (unsigned i = 0; i < shared->gpus; i++)
		vm_mem_unlist(shared->mem[i]);
}

void rt_shared_destroy(struct rt_shared *shared)
{
	for (unsigned i = shared->gpus; i--;)
		vm_mem_destroy(shared->mem[i]);
	*shared = (struct rt_shared){0};
}

/* --- work that may use memory ----------------------------------------------------------------- */

unsigned rt_memory_fences(struct rt *rt, uint32_t gpus, struct cs_fence *fences)
{
	unsigned count = 0;

	for (; gpus; gpus &= gpus - 1) {
		struct rt_gpu *gpu = rt->gpu[__builtin_ctz(gpus)];

		count += flow_gpu_fences(&gpu->flows, fences + count, RT_FENCES_MAX - count);
		if (gpu->copier)
			count += sdma_copier_fences(gpu->copier, fences + count, RT_FENCES_MAX - count);
	}
	return count;
}

void rt_memory_forget_ring(struct rt *rt, struct cs_ring *ring)
{
	cs_fence_retire(cs_ring_last(ring)); /* waits without the lock */
	pthread_mutex_lock(&rt->memory->free_lock);
	pool_space_forget_ring(rt->memory->space, ring);
	rt_deferred_free_forget_ring_locked(rt, ring);
	pthread_mutex_unlock(&rt->memory->free_lock);
}
