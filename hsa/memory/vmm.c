/* Reservations of addresses, and mappings of memory in them. */
#include "drv/lock.h"
#include "hsa/memory/vmm.h"

#include <errno.h>
#include <stdlib.h>

static struct rt_reservation *reservation_around(const struct rt_vmm *vmm, uint64_t va, uint64_t size_B)
{
	struct vm_node *n = va < UINT64_MAX ? vm_tree_next(&vmm->reservations, NULL, va, va + 1) : NULL;

	return n && size_B <= n->hi - va ? vm_container(n, struct rt_reservation, at) : NULL;
}

/* The first mapping that overlaps [lo, hi), or NULL. */
static struct rt_mapping *mapping_in(const struct rt_vmm *vmm, uint64_t lo, uint64_t hi)
{
	struct vm_node *n = hi > lo ? vm_tree_next(&vmm->mappings, NULL, lo, hi) : NULL;

	return n ? vm_container(n, struct rt_mapping, at) : NULL;
}

struct rt_mapping *rt_mapping_at(const struct rt_vmm *vmm, uint64_t va)
{
	struct rt_mapping *m = va < UINT64_MAX ? mapping_in(vmm, va, va + 1) : NULL;

	return m && m->at.lo == va ? m : NULL;
}

/* --- addresses -------------------------------------------------------------------------------- */

void rt_reservation_free(struct rt_reservation *s)
{
	while (s->ranges)
		vm_range_release(&s->range[--s->ranges]);
	free(s);
}

static void reservation_end_deferred(struct rt_deferred_free *deferred)
{
	rt_reservation_free(vm_container(deferred, struct rt_reservation, deferred));
}

static int ranges_reserve(struct rt *rt, const struct vm_range_request *want, struct rt_reservation *s)
{
	int r = vm_range_reserve(rt->gpu[0]->vm, want, &s->range[0]);

	for (s->ranges = !r; !r && s->ranges < rt->gpus; s->ranges += !r)
		r = vm_range_adopt(rt->gpu[s->ranges]->vm, &s->range[0], &s->range[s->ranges]);
	return r;
}

int rt_reservation_create(struct rt *rt, const struct vm_range_request *want, struct rt_reservation **out)
{
	struct rt_reservation *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return drv_fail(-ENOMEM, "no host memory for a reservation");
	s->deferred.end = reservation_end_deferred;
	r = ranges_reserve(rt, want, s);
	if (r) {
		rt_reservation_free(s);
		return r;
	}
	s->at = (struct vm_node){.lo = s->range[0].va, .hi = s->range[0].va + want->size_B};
	*out = s;
	return 0;
}

static int address_reserve(struct rt *rt, const struct vm_range_request *want, void **va)
{
	struct rt_reservation *s;
	int r = rt_reservation_create(rt, want, &s);

	if (r)
		return r;
	s->region.info = (struct rt_alloc_info){.type = HSA_EXT_POINTER_TYPE_RESERVED_ADDR,
						.base = s->at.lo,
						.size_B = want->size_B,
						.agent_base = s->at.lo,
						.owner = &rt->agent[0],
						.place = SDMA_GTT};
	drv_mutex_lock(&rt->memory->vmm->lock);
	vm_tree_insert(&rt->memory->vmm->reservations, &s->at);
	drv_mutex_unlock(&rt->memory->vmm->lock);
	rt_va_region_insert(rt, &s->region);
	*va = (void *)(uintptr_t)s->at.lo;
	return 0;
}

RT_IMPL(hsa_amd_vmem_address_reserve_align,
	(void **va, size_t size, uint64_t address, uint64_t alignment, uint64_t flags),
	(va, size, address, alignment, flags))
{
	/* A large reservation is aligned for large pages of the TLB, unless the client sets an alignment. */
	struct vm_range_request want = {.size_B = size,
					.align_B = alignment             ? alignment
						   : size >= POOL_SLAB_B ? POOL_SLAB_B
									 : 0};

	if (!va || !size || size % RT_PAGE_B || alignment & (alignment - 1) ||
	    flags & ~(uint64_t)HSA_AMD_VMEM_ADDRESS_NO_REGISTER || (alignment && alignment < RT_PAGE_B))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (address % (want.align_B ? want.align_B : RT_PAGE_B) == 0)
		want.va = address; /* a hint */
	rt_deferred_free_reap(rt);
	return address_reserve(rt, &want, va) ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_amd_vmem_address_reserve(void **va, size_t size, uint64_t address, uint64_t flags)
{
	return impl_hsa_amd_vmem_address_reserve_align(va, size, address, 0, flags);
}

RT_IMPL(hsa_amd_vmem_address_free, (void *va, size_t size), (va, size))
{
	struct rt_vmm *vmm = rt->memory->vmm;
	hsa_status_t status = HSA_STATUS_SUCCESS;
	struct rt_reservation *s;

	if (!va || !size)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_mutex_lock(&vmm->lock);
	s = reservation_around(vmm, (uintptr_t)va, 1);
	if (!s || s->at.lo != (uintptr_t)va)
		status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	else if (s->at.hi - s->at.lo != size)
		status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	else if (s->mapped)
		status = HSA_STATUS_ERROR_RESOURCE_FREE;
	else
		vm_tree_remove(&vmm->reservations, &s->at);
	drv_mutex_unlock(&vmm->lock);
	if (status)
		return status;
	rt_va_region_remove(rt, &s->region);
	rt_user_data_end(rt, s->at.lo, size);
	/* The addresses are reused when no work can access them. */
	rt_defer_free(rt, rt_all_gpus(rt), &s->deferred);
	return HSA_STATUS_SUCCESS;
}

/* --- mapping ---------------------------------------------------------------------------------- */

struct rt_mapping *rt_mapping_create(struct rt_reservation *in, uint64_t va, uint64_t size_B, struct rt_vmem *vmem,
				     uint64_t offset_B)
{
	struct rt_mapping *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->at = (struct vm_node){.lo = va, .hi = va + size_B};
	m->in = in;
	m->vmem = vmem;
	m->offset_B = offset_B;
	m->uncached = vmem->pool->kind != RT_POOL_COARSE;
	m->region.object = m;
	m->region.info = (struct rt_alloc_info){.type = HSA_EXT_POINTER_TYPE_RESERVED_ADDR,
						.base = va,
						.size_B = size_B,
						.agent_base = va,
						.owner = vmem->pool->agent,
						.place = vmem->pool->agent->is_gpu ? SDMA_VRAM : SDMA_GTT,
						.global_flags = rt_pool_flags(vmem->pool->kind)};
	return m;
}

void rt_mapping_insert(struct rt *rt, struct vm_tree *tree, struct rt_mapping *m)
{
	m->in->mapped++;
	m->vmem->mapped++;
	vm_tree_insert(tree, &m->at);
	rt_va_region_insert(rt, &m->region);
}

/* The memory is bound when an agent gets access. */
RT_IMPL(hsa_amd_vmem_map,
	(void *va, size_t size, size_t in_offset, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags),
	(va, size, in_offset, handle, flags))
{
	struct rt_vmm *vmm = rt->memory->vmm;
	const uint64_t lo = (uintptr_t)va;
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	struct rt_reservation *in;
	struct rt_vmem *vmem;
	struct rt_mapping *m;

	if (!va || !size || (lo | size | in_offset) % RT_PAGE_B || flags)
		return status;
	drv_mutex_lock(&vmm->lock);
	in = reservation_around(vmm, lo, size);
	vmem = rt_vmem_of(handle);
	if (in && vmem && !mapping_in(vmm, lo, lo + size) && size <= vmem->size_B &&
	    in_offset <= vmem->size_B - size) {
		m = rt_mapping_create(in, lo, size, vmem, in_offset);
		status = m ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	if (!status)
		rt_mapping_insert(rt, &vmm->mappings, m);
	drv_mutex_unlock(&vmm->lock);
	return status;
}

/* The kernel keeps the memory until the work that uses it has ended; later work finds no mapping. On failure some agents have lost
 * their access. */
int rt_mapping_unbind(struct rt *rt, struct rt_mapping *m)
{
	const uint64_t size_B = m->at.hi - m->at.lo;

	for (unsigned i = 0; i < rt->gpus; i++) {
		int r = m->bound[i] ? vm_range_unbind(&m->in->range[i], m->at.lo - m->in->at.lo, size_B) : 0;

		if (r)
			return r;
		m->bound[i] = false;
		m->gpu[i] = HSA_ACCESS_PERMISSION_NONE;
	}
	return m->cpu ? vm_range_view(&m->in->range[0], m->at.lo - m->in->at.lo, NULL, 0, size_B, 0) : 0;
}

void rt_mapping_remove(struct rt *rt, struct vm_tree *tree, struct rt_mapping *m)
{
	rt_va_region_remove(rt, &m->region);
	vm_tree_remove(tree, &m->at);
	m->in->mapped--;
	m->vmem->mapped--;
	rt_vmem_drop(m->vmem);
	free(m);
}

RT_IMPL(hsa_amd_vmem_unmap, (void *va, size_t size), (va, size))
{
	struct rt_vmm *vmm = rt->memory->vmm;
	hsa_status_t status;
	struct rt_mapping *m;

	if (!va || !size)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_mutex_lock(&vmm->lock);
	m = rt_mapping_at(vmm, (uintptr_t)va);
	if (!m)
		status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	else if (m->at.hi - m->at.lo != size)
		status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	else
		status = hsa_status_of(rt_mapping_unbind(rt, m));
	if (!status)
		rt_mapping_remove(rt, &vmm->mappings, m);
	else if (m)
		rt_mapping_update(rt, m);
	drv_mutex_unlock(&vmm->lock);
	if (!status)
		rt->ops->forget_exports(rt, (uintptr_t)va, size);
	return status;
}

RT_IMPL(hsa_amd_vmem_retain_alloc_handle, (hsa_amd_vmem_alloc_handle_t *handle, void *addr), (handle, addr))
{
	struct rt_vmm *vmm = rt->memory->vmm;
	struct rt_mapping *m;

	if (!handle || !addr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_mutex_lock(&vmm->lock);
	m = rt_mapping_at(vmm, (uintptr_t)addr);
	if (m) {
		m->vmem->refs++;
		handle->handle = m->vmem->handle;
	}
	drv_mutex_unlock(&vmm->lock);
	return m ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

/* --- access ----------------------------------------------------------------------------------- */

static unsigned access_bits(const struct rt_mapping *m, unsigned gpu)
{
	static const unsigned gpu_bits[] = {[HSA_ACCESS_PERMISSION_RO] = VM_GPU_READ,
					    [HSA_ACCESS_PERMISSION_WO] = VM_GPU_WRITE,
					    [HSA_ACCESS_PERMISSION_RW] = VM_GPU_READ | VM_GPU_WRITE};
	unsigned bits = gpu_bits[m->gpu[gpu]];

	if (bits & VM_GPU_READ)
		bits |= VM_GPU_FETCH;
	if (m->uncached)
		bits |= VM_GPU_UNCACHED;
	return bits;
}

/* Maps the BO itself, not through the range's own GPU: that GPU would get access, too, and may be no peer of the
 * memory's. */
int rt_mapping_set_host_access(struct rt_mapping *m)
{
	static const unsigned bits[] = {[HSA_ACCESS_PERMISSION_RO] = VM_CPU_READ,
					[HSA_ACCESS_PERMISSION_WO] = VM_CPU_WRITE,
					[HSA_ACCESS_PERMISSION_RW] = VM_CPU_READ | VM_CPU_WRITE};

	return vm_range_view(&m->in->range[0], m->at.lo - m->in->at.lo, m->vmem->bo[m->vmem->home], m->offset_B,
			     m->at.hi - m->at.lo, bits[m->cpu]);
}

int rt_mapping_set_gpu_access(struct rt *rt, struct rt_mapping *m, unsigned i)
{
	struct vm_range *range = &m->in->range[i];
	const uint64_t offset_B = m->at.lo - m->in->at.lo, size_B = m->at.hi - m->at.lo;
	struct vm_bo *bo;
	int r;

	if (m->bound[i])
		return vm_range_protect(range, offset_B, size_B, access_bits(m, i));
	r = rt_vmem_bo(rt, m->vmem, i, &bo);
	r = r ? r : vm_range_bind(range, offset_B, bo, m->offset_B, size_B, access_bits(m, i));
	m->bound[i] = !r;
	return r;
}

/* The CPU has an address if it may read. */
void rt_mapping_update(struct rt *rt, struct rt_mapping *m)
{
	struct rt_va_region to = {.info = {.host_base = m->cpu & HSA_ACCESS_PERMISSION_RO ? m->at.lo : 0,
					   .read_only = !(m->cpu & HSA_ACCESS_PERMISSION_WO)}};

	for (unsigned i = 0; i < rt->gpus; i++) {
		to.readers |= m->gpu[i] & HSA_ACCESS_PERMISSION_RO ? 1u << i : 0;
		to.writers |= m->gpu[i] & HSA_ACCESS_PERMISSION_WO ? 1u << i : 0;
	}
	rt_va_region_update(rt, &m->region, &to);
}

static hsa_status_t mapping_allow_one(struct rt *rt, struct rt_mapping *m, const struct rt_agent *agent,
				      hsa_access_permission_t permission)
{
	hsa_access_permission_t *at = agent->gpu ? &m->gpu[agent->gpu->index] : &m->cpu, before = *at;
	int r;

	if (before == permission)
		return HSA_STATUS_SUCCESS;
	if (permission && agent->gpu && !rt_may_reach(agent->gpu, m->vmem->pool))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	*at = permission;
	r = agent->gpu ? rt_mapping_set_gpu_access(rt, m, agent->gpu->index) : rt_mapping_set_host_access(m);
	if (r)
		*at = before;
	rt_mapping_update(rt, m);
	return r == -EACCES ? HSA_STATUS_ERROR_INVALID_AGENT : hsa_status_of(r);
}

static hsa_status_t mapping_allow(struct rt *rt, struct rt_mapping *m, const hsa_amd_memory_access_desc_t *desc,
				  size_t count)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	for (size_t i = 0; !status && i < count; i++)
		status = mapping_allow_one(rt, m, rt_agent_of(rt, desc[i].agent_handle), desc[i].permissions);
	return status;
}

static hsa_status_t check_access_list(const struct rt *rt, const hsa_amd_memory_access_desc_t *desc, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!rt_agent_of(rt, desc[i].agent_handle))
			return HSA_STATUS_ERROR_INVALID_AGENT;
		if ((unsigned)desc[i].permissions > HSA_ACCESS_PERMISSION_RW)
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	return HSA_STATUS_SUCCESS;
}

/* True if mappings without a gap cover [va, end); the last one may end after it, as in ROCr. */
static bool is_covered(const struct rt_vmm *vmm, uint64_t va, uint64_t end)
{
	const struct rt_mapping *m;

	for (; va < end; va = m->at.hi) {
		m = rt_mapping_at(vmm, va);
		if (!m)
			return false;
	}
	return true;
}

/* A failure in the middle leaves the earlier mappings with the new access, as in ROCr. */
RT_IMPL(hsa_amd_vmem_set_access, (void *va, size_t size, const hsa_amd_memory_access_desc_t *desc, size_t count),
	(va, size, desc, count))
{
	struct rt_vmm *vmm = rt->memory->vmm;
	uint64_t at = (uintptr_t)va;
	hsa_status_t status;
	struct rt_mapping *m;

	if (!va || !size || !desc || !count)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = check_access_list(rt, desc, count);
	if (status)
		return status;
	drv_mutex_lock(&vmm->lock);
	if (!reservation_around(vmm, at, size))
		status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	else if (!is_covered(vmm, at, at + size))
		status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	for (const uint64_t end = at + size; !status && at < end; at = m->at.hi) {
		m = rt_mapping_at(vmm, at);
		status = mapping_allow(rt, m, desc, count);
	}
	drv_mutex_unlock(&vmm->lock);
	return status;
}

static hsa_status_t mapping_allow_all(struct rt *rt, struct rt_mapping *m, uint32_t count,
				      const hsa_agent_t *agents)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	for (uint32_t i = 0; !status && i < count; i++)
		status = mapping_allow_one(rt, m, rt_agent_of(rt, agents[i]), HSA_ACCESS_PERMISSION_RW);
	return status;
}

/* GPUs got access to attached memory at the import; this gives it to others (ROCr returns success and does
 * nothing). */
hsa_status_t rt_vmm_allow(struct rt *rt, uint64_t address, uint32_t count, const hsa_agent_t *agents)
{
	struct rt_vmm *vmm = rt->memory->vmm;
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	const uint64_t end = address < UINT64_MAX ? address + 1 : address;
	struct vm_node *n;
	struct rt_mapping *m;

	drv_mutex_lock(&vmm->lock);
	n = end > address ? vm_tree_next(&vmm->attached, NULL, address, end) : NULL;
	m = mapping_in(vmm, address, end);
	if (n)
		status = mapping_allow_all(rt, vm_container(n, struct rt_mapping, at), count, agents);
	else if (m)
		status = HSA_STATUS_SUCCESS;
	for (; !status && m; m = rt_mapping_at(vmm, m->at.hi))
		status = mapping_allow_all(rt, m, count, agents);
	drv_mutex_unlock(&vmm->lock);
	return status;
}

RT_IMPL(hsa_amd_vmem_get_access, (void *va, hsa_access_permission_t *permission, hsa_agent_t handle),
	(va, permission, handle))
{
	struct rt_vmm *vmm = rt->memory->vmm;
	const struct rt_agent *agent = rt_agent_of(rt, handle);
	hsa_status_t status = HSA_STATUS_SUCCESS;
	const struct rt_mapping *m;

	if (!va || !permission || (uintptr_t)va == UINTPTR_MAX)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	drv_mutex_lock(&vmm->lock);
	m = mapping_in(vmm, (uintptr_t)va, (uintptr_t)va + 1);
	if (!m)
		status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	else if (!agent)
		status = HSA_STATUS_ERROR_INVALID_AGENT;
	*permission = status ? HSA_ACCESS_PERMISSION_NONE : agent->gpu ? m->gpu[agent->gpu->index] : m->cpu;
	drv_mutex_unlock(&vmm->lock);
	return status;
}

/* --- beginning and end ------------------------------------------------------------------------ */

int rt_vmm_init(struct rt *rt)
{
	struct rt_vmm *vmm = calloc(1, sizeof(*vmm));

	if (!vmm)
		return drv_fail(-ENOMEM, "no host memory for virtual memory");
	drv_mutex_init(&vmm->lock, DRV_RANK_RT_VMM);
	rt->memory->vmm = vmm;
	return 0;
}

void rt_vmm_fini(struct rt *rt)
{
	struct rt_vmm *vmm = rt->memory->vmm;
	struct rt_mapping *m;
	struct rt_vmem *vmem;
	struct vm_node *n;

	if (!vmm)
		return;
	while ((m = mapping_in(vmm, 0, UINT64_MAX))) {
		(void)!rt_mapping_unbind(rt, m); /* fails if the device fails; releasing the ranges unbinds it */
		rt_mapping_remove(rt, &vmm->mappings, m);
	}
	rt_attached_fini(rt);
	while ((n = vm_tree_next(&vmm->reservations, NULL, 0, UINT64_MAX))) {
		struct rt_reservation *s = vm_container(n, struct rt_reservation, at);

		vm_tree_remove(&vmm->reservations, &s->at);
		rt_va_region_remove(rt, &s->region);
		rt_reservation_free(s);
	}
	while ((vmem = LIST_FIRST(&vmm->memory))) {
		vmem->refs = 0;
		rt_vmem_drop(vmem);
	}
	drv_mutex_destroy(&vmm->lock);
	free(vmm);
	rt->memory->vmm = NULL;
}
