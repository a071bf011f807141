/* rt_vmem: memory without an address. Created, shared, and alive while handles or mappings reference it. */
#include "drv/cancel.h"
#include "drv/lock.h"
#include "hsa/memory/vmm.h"
#include "vm/host.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define KIND RT_KIND(RT_VMEM)

struct rt_vmem *rt_vmem_of(hsa_amd_vmem_alloc_handle_t handle)
{
	return drv_handle_find(&rt_handles, KIND, handle.handle);
}

static int vmem_publish(struct rt *rt, const struct rt_vmem *like, struct rt_vmem **out)
{
	struct rt_vmem *vmem = malloc(sizeof(*vmem));
	int r;

	if (!vmem)
		return drv_fail(-ENOMEM, "no host memory for a handle");
	*vmem = *like;
	vmem->refs = 1;
	r = drv_handle_create(&rt_handles, KIND, vmem, &vmem->handle);
	if (r) {
		free(vmem);
		return r;
	}
	LIST_INSERT_HEAD(&rt->memory->vmm->memory, vmem, in_vmm);
	*out = vmem;
	return 0;
}

void rt_vmem_drop(struct rt_vmem *vmem)
{
	if (vmem->refs || vmem->mapped)
		return;
	drv_handle_destroy(&rt_handles, vmem->handle);
	LIST_REMOVE(vmem, in_vmm);
	for (unsigned i = RT_GPUS_MAX; i--;)
		vm_bo_put(vmem->bo[i]);
	free(vmem);
}

int rt_vmem_bo(struct rt *rt, struct rt_vmem *vmem, unsigned i, struct vm_bo **bo)
{
	DRV_HOLD_CANCEL;
	int fd, r = 0;

	if (!vmem->bo[i]) {
		r = vm_bo_export(vmem->bo[vmem->home], &fd);
		if (r)
			return r;
		r = vm_bo_import(rt->gpu[i]->vm, fd, &vmem->bo[i]);
		close(fd);
	}
	*bo = vmem->bo[i];
	return r;
}

/* --- making ----------------------------------------------------------------------------------- */

static int vmem_create(struct rt *rt, const struct rt_pool *pool, uint64_t size_B, hsa_amd_memory_type_t type,
		       struct rt_vmem **out)
{
	const struct pool_info *info = pool_info(pool->pool);
	const struct vm_info how = {
		.size_B = size_B, .kind = info->placement == POOL_VRAM ? VM_VRAM : VM_GTT, .flags = info->flags};
	struct rt_vmem like = {.pool = pool, .type = type, .size_B = size_B, .home = info->vm};
	int r = vm_bo_create(rt->gpu[info->vm]->vm, &how, &like.bo[info->vm]);

	r = r ? r : vmem_publish(rt, &like, out);
	if (r)
		vm_bo_put(like.bo[info->vm]);
	return r;
}

/* Host memory of a certain NUMA node cannot be a BO: with several nodes, CPUs' pools give no such memory (in ROCr
 * 6.4 they never do). Otherwise it is a BO of the first GPU; jobs of other GPUs that get access wait for that GPU's
 * jobs. */
static bool is_of_node(const struct pool_info *info)
{
	return info->placement == POOL_HOST && info->node != VM_ANY_NODE;
}

RT_IMPL(hsa_amd_vmem_handle_create,
	(hsa_amd_memory_pool_t pool_handle, size_t size, hsa_amd_memory_type_t type, uint64_t flags,
	 hsa_amd_vmem_alloc_handle_t *handle),
	(pool_handle, size, type, flags, handle))
{
	const struct rt_pool *pool = rt_pool_of(rt, pool_handle.handle);
	struct rt_vmem *vmem;
	int r;

	if (!size || size % RT_PAGE_B || flags || !handle || !pool ||
	    (type != MEMORY_TYPE_NONE && type != MEMORY_TYPE_PINNED))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool->pool || size > pool->size_B || is_of_node(pool_info(pool->pool)))
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	drv_mutex_lock(&rt->memory->vmm->lock);
	r = vmem_create(rt, pool, size, type, &vmem);
	if (!r)
		handle->handle = vmem->handle;
	drv_mutex_unlock(&rt->memory->vmm->lock);
	return hsa_status_of(r);
}

RT_IMPL(hsa_amd_vmem_handle_release, (hsa_amd_vmem_alloc_handle_t handle), (handle))
{
	struct rt_vmem *vmem;
	bool had;

	drv_mutex_lock(&rt->memory->vmm->lock);
	vmem = rt_vmem_of(handle);
	had = vmem && vmem->refs;
	if (had) {
		vmem->refs--;
		rt_vmem_drop(vmem);
	}
	drv_mutex_unlock(&rt->memory->vmm->lock);
	return had ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

RT_IMPL(hsa_amd_vmem_get_alloc_properties_from_handle,
	(hsa_amd_vmem_alloc_handle_t handle, hsa_amd_memory_pool_t *pool, hsa_amd_memory_type_t *type),
	(handle, pool, type))
{
	const struct rt_vmem *vmem;

	if (!pool || !type)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_mutex_lock(&rt->memory->vmm->lock);
	vmem = rt_vmem_of(handle);
	if (vmem) {
		pool->handle = (uintptr_t)vmem->pool;
		*type = vmem->type;
	}
	drv_mutex_unlock(&rt->memory->vmm->lock);
	return vmem ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

/* --- sharing ---------------------------------------------------------------------------------- */

RT_IMPL(hsa_amd_vmem_export_shareable_handle, (int *dmabuf_fd, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags),
	(dmabuf_fd, handle, flags))
{
	const struct rt_vmem *vmem;
	int r = 0;

	if (!dmabuf_fd || flags)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*dmabuf_fd = -1;
	drv_mutex_lock(&rt->memory->vmm->lock);
	vmem = rt_vmem_of(handle);
	if (vmem)
		r = vm_bo_export(vmem->bo[vmem->home], dmabuf_fd);
	drv_mutex_unlock(&rt->memory->vmm->lock);
	return vmem ? hsa_status_of(r) : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

/* Imports the BO of a dma-buf on the GPU whose memory it is: the one for which the kernel reports VRAM. System
 * memory is imported on the first GPU. */
static int import_on_owner(struct rt *rt, int fd, unsigned *home, struct vm_bo **bo)
{
	int r = 0;

	for (unsigned i = 0; i < rt->gpus; i++) {
		r = vm_bo_import(rt->gpu[i]->vm, fd, bo);
		if (r)
			return r;
		if ((*bo)->kind == VM_VRAM || rt->gpus == 1) {
			*home = i;
			return 0;
		}
		vm_bo_put(*bo);
	}
	*home = 0;
	return vm_bo_import(rt->gpu[0]->vm, fd, bo);
}

/* The pool that imported memory is reported to belong to. */
static const struct rt_pool *pool_for(const struct rt *rt, const struct vm_bo *bo, unsigned home)
{
	const struct rt_agent *agent = bo->kind == VM_VRAM ? rt->gpu[home]->agent : &rt->agent[0];

	return &agent->pool[0]; /* a GPU's coarse-grained pool, the host's fine-grained one */
}

static struct rt_vmem *vmem_find_bo(struct rt *rt, const struct vm_bo *bo)
{
	struct rt_vmem *vmem;

	LIST_FOREACH(vmem, &rt->memory->vmm->memory, in_vmm)
		for (unsigned i = 0; i < rt->gpus; i++)
			if (vmem->bo[i] == bo)
				return vmem;
	return NULL;
}

/* Memory that has an rt_vmem already gets another reference, as in ROCr. */
int rt_vmem_import(struct rt *rt, int fd, struct rt_vmem **out)
{
	struct rt_vmem like = {.type = MEMORY_TYPE_NONE};
	struct vm_bo *bo;
	int r = import_on_owner(rt, fd, &like.home, &bo);

	if (r)
		return r;
	*out = vmem_find_bo(rt, bo);
	if (*out) {
		(*out)->refs++;
		vm_bo_put(bo);
		return 0;
	}
	like.pool = pool_for(rt, bo, like.home);
	like.size_B = bo->size_B;
	like.bo[like.home] = bo;
	r = vmem_publish(rt, &like, out);
	if (r)
		vm_bo_put(bo);
	return r;
}

RT_IMPL(hsa_amd_vmem_import_shareable_handle, (int dmabuf_fd, hsa_amd_vmem_alloc_handle_t *handle),
	(dmabuf_fd, handle))
{
	struct rt_vmem *vmem;
	int r;

	if (!handle || dmabuf_fd < 0)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_mutex_lock(&rt->memory->vmm->lock);
	r = rt_vmem_import(rt, dmabuf_fd, &vmem);
	if (!r)
		handle->handle = vmem->handle;
	drv_mutex_unlock(&rt->memory->vmm->lock);
	/* Like ROCr: the descriptor is no dma-buf, or the dma-buf of an unknown device. */
	return r == -EINVAL || r == -EBADF ? HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS : hsa_status_of(r);
}
