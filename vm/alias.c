/* Process-wide state of the vms of one process: the allocator of high addresses, which the GPU has and the host has
 * not. One allocator for all vms, so that an alias can have the same address on every device. */
#include <errno.h>
#include <stdlib.h>

#include "drv/lock.h"
#include "vm/internal.h"

struct vm_alias {
	struct vm_node node;
};

int vm_process_create(struct vm_process **out)
{
	struct vm_process *process = calloc(1, sizeof(*process));

	if (!process)
		return drv_fail(-ENOMEM, "no host memory for an address space");
	process->refs = 1;
	drv_mutex_init(&process->lock, DRV_RANK_VM_PROCESS);
	*out = process;
	return 0;
}

struct vm_process *vm_process_get(struct vm_process *process)
{
	process->refs++;
	return process;
}

void vm_process_put(struct vm_process *process)
{
	if (!process || --process->refs)
		return;
	drv_mutex_destroy(&process->lock);
	free(process);
}

/* Finds the first free place in [lo, hi); 0: none. Each step skips one used interval. */
static uint64_t find_free(const struct vm_process *process, uint64_t lo, uint64_t hi, uint64_t size_B,
			  uint64_t align_B)
{
	const struct vm_node *used;
	uint64_t at = vm_align(lo, align_B);

	while (at >= lo && at < hi && size_B <= hi - at) {
		used = vm_tree_next(&process->high, NULL, at, at + size_B);
		if (!used)
			return at;
		at = vm_align(used->hi, align_B);
	}
	return 0;
}

/* Next fit: the addresses at the cursor are nearly always free. */
static uint64_t find_place(const struct vm_process *process, const struct drv_facts *f,
			   const struct vm_range_request *request, uint64_t align_B)
{
	uint64_t lo = f->high_va_lo, hi = f->high_va_hi, cursor = process->high_cursor, va = 0;

	if (request->va >= lo && request->va < hi && request->size_B <= hi - request->va &&
	    !vm_tree_next(&process->high, NULL, request->va, request->va + request->size_B))
		return request->va;
	if (request->flags & VM_REQUEST_EXACT)
		return 0;
	if (cursor > lo && cursor < hi)
		va = find_free(process, cursor, hi, request->size_B, align_B);
	return va ? va : find_free(process, lo, hi, request->size_B, align_B);
}

int vm_high_reserve(struct vm *vm, const struct vm_range_request *request, uint64_t *va)
{
	struct vm_process *process = vm->process;
	struct vm_alias *high = malloc(sizeof(*high));

	if (!high)
		return drv_fail(-ENOMEM, "no host memory for a range");
	drv_mutex_lock(&process->lock);
	*va = find_place(process, &vm->dev->facts, request, request->align_B ? request->align_B : VM_PAGE_B);
	if (*va) {
		high->node = (struct vm_node){.lo = *va, .hi = *va + request->size_B};
		vm_tree_insert(&process->high, &high->node);
		process->high_cursor = high->node.hi;
	}
	drv_mutex_unlock(&process->lock);
	if (*va)
		return 0;
	free(high);
	if (request->flags & VM_REQUEST_EXACT)
		return drv_fail(-EEXIST, "the high address 0x%llx is not free", (unsigned long long)request->va);
	return drv_fail(-ENOMEM, "no %llu bytes of high addresses left", (unsigned long long)request->size_B);
}

void vm_high_release(struct vm_process *process, uint64_t va)
{
	struct vm_node *node;

	drv_mutex_lock(&process->lock);
	node = vm_tree_next(&process->high, NULL, va, va + 1);
	vm_tree_remove(&process->high, node);
	drv_mutex_unlock(&process->lock);
	free(vm_container(node, struct vm_alias, node));
}
