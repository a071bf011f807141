/* vm_mem: a BO with a range of its own, and the look-up by address. */
#include "drv/cancel.h"
#include "drv/lock.h"
#include "vm/internal.h"
#include "vm/host.h"
#include "vm/suballoc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Alignment of a range: that of the fragments that the TLB can merge, 2 MiB on every kernel, which slabs rely
 * on. */
static uint64_t range_align(uint64_t size_B)
{
	return size_B >= VM_SLAB_B ? VM_SLAB_B : VM_PAGE_B;
}

/* --- the index -------------------------------------------------------------------------------- */

void vm_index_add(struct vm *vm, struct mem_box *box)
{
	box->at_va.lo = box->mem.range.va;
	box->at_va.hi = box->mem.range.va + box->mem.range.size_B;
	drv_mutex_lock(&vm->index_lock);
	vm_tree_insert(&vm->mems, &box->at_va);
	drv_mutex_unlock(&vm->index_lock);
}

void vm_index_remove(struct vm *vm, struct mem_box *box)
{
	drv_mutex_lock(&vm->index_lock);
	vm_tree_remove(&vm->mems, &box->at_va);
	drv_mutex_unlock(&vm->index_lock);
}

/* Whole pages are registered, but only the requested bytes belong to the vm_mem. The offset of an address in it, from
 * the alias or from the host address `first`. */
static bool box_has(const struct mem_box *box, uint64_t first, uint64_t address, uint64_t *offset_B)
{
	*offset_B = address - first;
	return address >= first && *offset_B < box->mem.size_B;
}

/* A registration without an address is not finished. */
static struct mem_box *find_user_locked(struct vm *vm, uint64_t address, uint64_t *offset_B)
{
	struct vm_node *n = NULL;

	while ((n = vm_tree_next(&vm->users, n, address, address + 1))) {
		struct mem_box *box = vm_container(n, struct mem_box, at_host);

		if (box->mem.va && box_has(box, box->host, address, offset_B))
			return box;
	}
	return NULL;
}

static struct mem_box *find_locked(struct vm *vm, uint64_t address, uint64_t *offset_B)
{
	struct mem_box *box;
	struct vm_node *n;
	uint64_t head_B;

	drv_mutex_assert(&vm->index_lock);
	n = vm_tree_next(&vm->mems, NULL, address, address + 1);
	if (!n)
		return find_user_locked(vm, address, offset_B);
	box = vm_container(n, struct mem_box, at_va);
	head_B = box->host ? box->host - box->at_host.lo : 0;
	return box_has(box, box->mem.range.va + head_B, address, offset_B) ? box : NULL;
}

/* False: no process of the vm's, or an address that no memory has. */
static bool is_sought(const struct vm *vm, uint64_t address)
{
	return address != UINT64_MAX && !drv_check_process(vm->dev);
}

struct vm_mem *vm_find(struct vm *vm, uint64_t address)
{
	struct mem_box *box;
	uint64_t offset_B;

	if (!is_sought(vm, address))
		return NULL;
	drv_mutex_lock(&vm->index_lock);
	box = find_locked(vm, address, &offset_B);
	drv_mutex_unlock(&vm->index_lock);
	return box ? &box->mem : NULL;
}

int vm_locate(struct vm *vm, uint64_t address, struct vm_location *location)
{
	const struct mem_box *box;
	uint64_t offset_B;

	if (!is_sought(vm, address))
		return -ENOENT;
	drv_mutex_lock(&vm->index_lock);
	box = find_locked(vm, address, &offset_B);
	if (box)
		*location = (struct vm_location){
			.va = box->mem.va + offset_B,
			.offset_B = offset_B,
			.left_B = box->mem.size_B - offset_B,
			.kind = box->mem.bo->kind,
			.cpu = box->mem.map == (void *)(uintptr_t)box->mem.va,
			.read_only = box->mem.bo->flags & VM_READONLY,
			.owner = box->mem.owner,
		};
	drv_mutex_unlock(&vm->index_lock);
	return box ? 0 : -ENOENT;
}

void vm_mem_set_owner(struct vm_mem *mem, void *owner)
{
	struct vm *vm = mem->bo->vm;

	drv_mutex_lock(&vm->index_lock);
	mem->owner = owner;
	drv_mutex_unlock(&vm->index_lock);
}

/* --- creation --------------------------------------------------------------------------------- */

/* Makes a vm_mem of a BO; on success owns bo's reference. may_lack_cpu: a failure of the CPU mapping is no
 * error. */
static int mem_of_bo(struct vm *vm, struct vm_bo *bo, bool may_lack_cpu, struct vm_mem **out)
{
	struct mem_box *box = calloc(1, sizeof(*box));
	struct vm_range_request request = {.size_B = bo->size_B, .align_B = range_align(bo->size_B)};
	unsigned access = vm_access_of(bo->flags);
	struct vm_mem *mem;
	int r;

	if (!box)
		return drv_fail(-ENOMEM, "no host memory for a vm_mem");
	mem = &box->mem;
	r = vm_range_reserve(vm, &request, &mem->range);
	if (r)
		goto fail_range;
	r = vm_range_bind(&mem->range, 0, bo, 0, bo->size_B, access);
	if (r && may_lack_cpu && access & VM_CPU_READ) {
		access &= ~(VM_CPU_READ | VM_CPU_WRITE);
		r = vm_range_bind(&mem->range, 0, bo, 0, bo->size_B, access);
	}
	if (r)
		goto fail_bind;
	mem->bo = bo;
	mem->va = mem->range.va;
	mem->size_B = bo->size_B;
	mem->map = access & VM_CPU_READ ? (void *)(uintptr_t)mem->va : NULL;
	vm_index_add(vm, box);
	*out = mem;
	return 0;

fail_bind:
	vm_range_release(&mem->range);
fail_range:
	free(box);
	return r;
}

int vm_mem_create(struct vm *vm, const struct vm_info *info, struct vm_mem **mem)
{
	struct vm_bo *bo;
	int r = vm_bo_create(vm, info, &bo);

	if (r)
		return r;
	r = mem_of_bo(vm, bo, false, mem);
	if (r)
		vm_bo_put(bo);
	return r;
}

int vm_mem_import(struct vm *vm, int fd, struct vm_mem **mem)
{
	struct vm_bo *bo;
	int r = vm_bo_import(vm, fd, &bo);

	if (r)
		return r;
	/* The exporter may forbid CPU mappings, and the importing kernel driver does not report that. */
	r = mem_of_bo(vm, bo, true, mem);
	if (r)
		vm_bo_put(bo);
	return r;
}

static int import_of(struct vm *vm, const struct vm_mem *of, struct vm_bo **bo)
{
	DRV_HOLD_CANCEL;
	int fd, r = vm_bo_export(of->bo, &fd);

	if (r)
		return r;
	r = vm_bo_import(vm, fd, bo);
	close(fd);
	return r;
}

static int share_imported(struct vm *vm, const struct vm_mem *of, struct vm_mem **out)
{
	struct mem_box *box = calloc(1, sizeof(*box));
	struct vm_bound bound;
	struct vm_mem *mem;
	int r;

	if (!box)
		return drv_fail(-ENOMEM, "no host memory for a vm_mem");
	mem = &box->mem;
	r = vm_range_query(&of->range, 0, &bound); /* an import does not know its exporter's flags */
	r = r ? r : import_of(vm, of, &mem->bo);
	if (r)
		goto fail_import;
	r = vm_range_adopt(vm, &of->range, &mem->range);
	if (r)
		goto fail_adopt;
	r = vm_range_bind(&mem->range, 0, mem->bo, 0, mem->bo->size_B,
			  bound.access & ~(VM_CPU_READ | VM_CPU_WRITE));
	if (r)
		goto fail_bind;
	mem->va = of->va;
	mem->size_B = of->size_B;
	mem->map = of->map;
	vm_index_add(vm, box);
	*out = mem;
	return 0;

fail_bind:
	vm_range_release(&mem->range);
fail_adopt:
	vm_bo_put(mem->bo);
fail_import:
	free(box);
	return r;
}

/* Shares host memory: each vm has a BO of its own. The alias of the new registration stays unused. */
static int share_user(struct vm *vm, const struct vm_mem *of, struct vm_mem **out)
{
	struct vm_register what = {.host = of->map, .size_B = of->size_B};
	int r;

	if (of->va != of->range.va || (void *)(uintptr_t)of->va != of->map)
		return drv_fail(-EPERM, "registered host memory cannot be shared: register it with each device");
	if (of->bo->flags & VM_UNCACHED)
		what.flags |= VM_REGISTER_UNCACHED;
	if (of->bo->flags & VM_EXEC)
		what.flags |= VM_REGISTER_EXEC;
	r = vm_mem_register(vm, &what, out);
	if (r || (*out)->va == of->va)
		return r;
	vm_mem_destroy(*out);
	return drv_fail(-ENOTSUP, "%s does not reach host memory at %p", vm->dev->node.path, of->map);
}

int vm_mem_share(struct vm *vm, const struct vm_mem *of, struct vm_mem **out)
{
	if (of->bo->origin == VM_USER)
		return share_user(vm, of, out);
	return share_imported(vm, of, out);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Closing a BO also removes its mappings, which saves an ioctl, and the kernel does so after the jobs that list it.
 * Possible when the binding and the vm_mem hold the only references, and no import can add one meanwhile. */
bool vm_mem_closes(const struct vm_mem *mem)
{
	return mem->bo->refs == 2 && !vm_bo_is_shared(mem->bo);
}

/* Closes the handle before it releases the addresses. */
void vm_mem_close(struct vm_mem *mem)
{
	if (vm_mem_closes(mem)) {
		vm_range_forget(&mem->range);
		vm_bo_put(mem->bo);
		vm_range_release(&mem->range);
	} else {
		vm_range_release(&mem->range);
		vm_bo_put(mem->bo);
	}
}

void vm_mem_destroy(struct vm_mem *mem)
{
	struct mem_box *box;
	struct vm *vm;

	if (!mem)
		return;
	box = vm_box_of(mem);
	vm = mem->bo->vm;
	if (drv_check_process(vm->dev)) {
		/* A forked child leaves its copy of the indices alone: their locks may stay taken for ever. */
		vm_range_release(&mem->range);
		return;
	}
	vm_index_remove(vm, box);
	if (box->host)
		vm_unregister(box);
	else
		vm_mem_close(mem);
	free(box);
}
