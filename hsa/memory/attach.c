/* Imports: memory of other processes and drivers at addresses of its own, as a mapping with a reservation of its
 * own. */
#include "drv/lock.h"
#include "hsa/memory/vmm.h"

#include <errno.h>
#include <stdlib.h>

/* Gives the GPUs access, and the host if the memory can be mapped for it. */
static int give_access(struct rt *rt, struct rt_mapping *m, const struct rt_import *import)
{
	uint32_t gpus = import->gpus;
	int r;

	for (unsigned i = 0; !import->gpus && i < rt->gpus; i++)
		gpus |= rt_may_reach(rt->gpu[i], m->vmem->pool) ? 1u << i : 0;
	if (!rt_all_may_reach(rt, gpus, m->vmem->pool))
		return drv_fail(-EXDEV, "a GPU that is asked to see imported memory does not reach it");
	m->cpu = HSA_ACCESS_PERMISSION_RW;
	r = rt_mapping_set_host_access(m);
	if (r)
		m->cpu = HSA_ACCESS_PERMISSION_NONE;
	if (r == -EACCES || r == -EPERM)
		r = 0;
	for (; !r && gpus; gpus &= gpus - 1) {
		m->gpu[__builtin_ctz(gpus)] = HSA_ACCESS_PERMISSION_RW;
		r = rt_mapping_set_gpu_access(rt, m, __builtin_ctz(gpus));
	}
	return r;
}

static int import_attach_locked(struct rt *rt, struct rt_vmem *vmem, const struct rt_import *import,
				uint64_t size_B, struct rt_mapping **out)
{
	const struct vm_range_request want = {.size_B = size_B, .align_B = size_B >= POOL_SLAB_B ? POOL_SLAB_B : 0};
	struct rt_reservation *in;
	struct rt_mapping *m;
	int r = rt_reservation_create(rt, &want, &in);

	if (r)
		return r;
	m = rt_mapping_create(in, in->at.lo, size_B, vmem, 0);
	if (!m) {
		rt_reservation_free(in);
		return drv_fail(-ENOMEM, "no host memory for a mapping");
	}
	m->region.info.type = import->type;
	m->uncached = import->uncached;
	r = give_access(rt, m, import);
	if (r) {
		(void)!rt_mapping_unbind(rt, m);
		rt_reservation_free(in);
		free(m);
		return r;
	}
	rt_mapping_insert(rt, &rt->memory->vmm->attached, m);
	rt_mapping_update(rt, m);
	*out = m;
	return 0;
}

int rt_attach(struct rt *rt, const struct rt_import *import, void **ptr, uint64_t *size_B)
{
	struct rt_vmm *vmm = rt->memory->vmm;
	struct rt_vmem *vmem;
	struct rt_mapping *m = NULL;
	int r;

	rt_deferred_free_reap(rt);
	drv_mutex_lock(&vmm->lock);
	r = rt_vmem_import(rt, import->fd, &vmem);
	if (!r) {
		*size_B = import->size_B ? import->size_B : vmem->size_B;
		r = *size_B <= vmem->size_B ? import_attach_locked(rt, vmem, import, *size_B, &m)
					    : drv_fail(-EINVAL, "less memory than was told");
		if (!r)
			*ptr = (void *)(uintptr_t)m->at.lo;
		vmem->refs--; /* the mapping keeps a reference */
		rt_vmem_drop(vmem);
	}
	drv_mutex_unlock(&vmm->lock);
	return r;
}

int rt_detach(struct rt *rt, const void *ptr, hsa_amd_pointer_type_t type)
{
	struct rt_vmm *vmm = rt->memory->vmm;
	const uint64_t va = (uintptr_t)ptr;
	struct rt_reservation *in = NULL;
	struct rt_mapping *m = NULL;
	struct vm_node *n;
	int r = -EINVAL;

	drv_mutex_lock(&vmm->lock);
	n = va < UINT64_MAX ? vm_tree_next(&vmm->attached, NULL, va, va + 1) : NULL;
	if (n && n->lo == va)
		m = vm_container(n, struct rt_mapping, at);
	if (m && m->region.info.type == type)
		r = rt_mapping_unbind(rt, m);
	if (!r) {
		in = m->in;
		rt_mapping_remove(rt, &vmm->attached, m);
	} else if (m) {
		rt_mapping_update(rt, m);
	}
	drv_mutex_unlock(&vmm->lock);
	if (r)
		return drv_fail(r, "nothing that was attached at %p can be detached", ptr);
	rt_user_data_end(rt, va, in->at.hi - va);
	rt_defer_free(rt, rt_all_gpus(rt), &in->deferred);
	return 0;
}

void rt_attached_fini(struct rt *rt)
{
	struct rt_vmm *vmm = rt->memory->vmm;
	struct vm_node *n;

	while ((n = vm_tree_next(&vmm->attached, NULL, 0, UINT64_MAX))) {
		struct rt_mapping *m = vm_container(n, struct rt_mapping, at);
		struct rt_reservation *in = m->in;

		(void)!rt_mapping_unbind(rt, m); /* fails if the device fails; releasing the ranges unbinds it */
		rt_mapping_remove(rt, &vmm->attached, m);
		rt_reservation_free(in);
	}
}
