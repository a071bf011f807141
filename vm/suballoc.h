/* Small allocations, cut from slabs of 2 MiB that many allocations share.
 *
 *   vm_suballoc  a small allocation, or a vm_mem of its own when it is large; owned by the caller
 *
 * Thread safe; vm.slab_lock guards the slabs. */
#ifndef VM_SUBALLOC_H
#define VM_SUBALLOC_H

#include "vm/vm.h"

struct vm_slab;
struct vm_suballoc {
	uint64_t va;          /* aligned to size_B up to VM_SUBALLOC_MAX_B, at least to 256 */
	void *map;            /* the CPU's address, as in vm_mem */
	uint64_t size_B;      /* granted size, at least the requested one */
	struct vm_slab *slab; /* counted; NULL: mem is owned */
	struct vm_mem *mem;   /* the slab's memory, or its own */
};
#define VM_SUBALLOC_MIN_B 256u
#define VM_SUBALLOC_MAX_B (128u << 10) /* larger requests get their own vm_mem */
#define VM_SLAB_B         (2u << 20)

/* Allocates info->size_B from the slabs of that kind and flags. The content is undefined. */
DRV_MUST_CHECK int vm_suballoc_create(struct vm *vm, const struct vm_info *info, struct vm_suballoc *suballoc);
/* Accepts a zeroed suballocation; zeroes it. */
void vm_suballoc_destroy(struct vm_suballoc *suballoc);

#endif
