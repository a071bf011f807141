/* Host memory for the GPU: memory of this process that is registered, and memory of NUMA nodes. */
#ifndef VM_HOST_H
#define VM_HOST_H

#include "vm/vm.h"

enum vm_register_flags {
	VM_REGISTER_READ = 1 << 0,  /* the GPU only reads it */
	VM_REGISTER_ALIAS = 1 << 1, /* va is the alias, not the host address */
	/* Children of this process do not get these pages (MADV_DONTFORK), but for those that it covers in part,
	 * which hold others' data too. Without it a fork stops the GPU's use of the memory for a moment; with it a
	 * child that touches it dies. Undone with the last registration of a page: also where the program had asked
	 * for it itself.
	 */
	VM_REGISTER_DONTFORK = 1 << 2,
	VM_REGISTER_UNCACHED = 1 << 3, /* as VM_UNCACHED */
	/* At the alias only: other registrations of its pages never depend on this one. */
	VM_REGISTER_APART = 1 << 4,
	VM_REGISTER_EXEC = 1 << 5, /* as VM_EXEC */
};

struct vm_register {
	void *host;      /* any address and size: whole pages are registered, va keeps the offset */
	uint64_t size_B; /* not 0 */
	unsigned flags;  /* enum vm_register_flags */
	uint64_t
		alias; /* where the alias must be (a page): that of a vm_mem of a vm beside this one. 0: anywhere */
};

/* Gives the GPU memory of this process: anonymous or of a file, writable or not (then VM_READONLY is in bo->flags).
 * It is mapped at an alias, and at its host address too, if that is within the GPU's reach and free there: va is
 * the latter, else the former. Registrations may overlap and repeat; whichever ends first, the host addresses of
 * the others stay mapped.
 *
 * The memory must stay mapped until vm_mem_destroy(): a submission while some of it is gone fails with -EFAULT, and
 * when this room gets the addresses for something else, the registration keeps its alias only. munmap, mremap, fork
 * and the like wait for all submitted work that lists it.
 *
 * -EEXIST: memory of this vm, which has its vm_mem already (vm_find); -EFAULT: not mapped, or not memory that a GPU
 * can have (another device's); -EINVAL, -ENOMEM. */
DRV_MUST_CHECK int vm_mem_register(struct vm *vm, const struct vm_register *what, struct vm_mem **mem);
/* All work that uses the memory is submitted: what is submitted from now on does not list it, and so does not fail
 * when the program unmaps it. */
void vm_mem_unlist(struct vm_mem *mem);

/* Host memory of a NUMA node, or (VM_ANY_NODE) of any, populated and registered, at its own address. The kernel
 * prefers the node but takes others when it is full: with VM_STRICT -ENOMEM then. -EINVAL: no such node; -ENOTSUP:
 * this system does not let us say where memory should be (a container's seccomp filter, a kernel without NUMA) and
 * has other nodes. */
#define VM_ANY_NODE (-1)
DRV_MUST_CHECK int vm_mem_create_on_node(struct vm *vm, uint64_t size_B, int node, unsigned flags,
					 struct vm_mem **mem);
/* The node of each page of [host, host + size_B): node[i] of the i-th page, or -errno, -ENOENT for one that has no
 * memory yet. -ENOTSUP as above. */
DRV_MUST_CHECK int vm_host_nodes(const void *host, uint64_t size_B, int *node);

#endif
