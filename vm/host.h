/* Host memory for the GPU.
 *
 *   vm_register  a request to register memory of this process; plain data, read during the call
 *   vm_mem       the result: registered memory, or memory of a NUMA node; owned by the caller (vm.h)
 *
 * Thread safe; vm.user_lock guards registrations. */
#ifndef VM_HOST_H
#define VM_HOST_H

#include "vm/vm.h"

enum vm_register_flags {
	VM_REGISTER_READ = 1 << 0,  /* the GPU only reads it */
	VM_REGISTER_ALIAS = 1 << 1, /* va is the alias instead of the host address */
	/* Children of this process do not inherit these pages (MADV_DONTFORK), except pages that the registration
	 * covers in part, which hold other data, too. Without the flag a fork briefly stops the GPU's use of the
	 * memory; with it a child that touches the memory gets SIGSEGV. Undone with the last registration of a
	 * page, even where the program itself had set MADV_DONTFORK. */
	VM_REGISTER_DONTFORK = 1 << 2,
	VM_REGISTER_UNCACHED = 1 << 3, /* see VM_UNCACHED */
	/* Maps at the alias only: other registrations of these pages then never depend on this one. */
	VM_REGISTER_APART = 1 << 4,
	VM_REGISTER_EXEC = 1 << 5, /* as VM_EXEC */
};

struct vm_register {
	void *host;      /* any address; whole pages are registered, va keeps the offset */
	uint64_t size_B; /* not 0 */
	unsigned flags;  /* enum vm_register_flags */
	/* Required alias address (a page): that of a vm_mem of a vm with the same vm_process. 0: anywhere. */
	uint64_t alias;
};

/* Gives the GPU access to memory of this process: anonymous or of a file, writable or not (then VM_READONLY is in
 * bo->flags). The memory is mapped at an alias, and also at its host address, if that is within the GPU's reach and
 * free there: va is then the host address, else the alias. Registrations may overlap and repeat; when one ends, the
 * host addresses of the others stay mapped.
 *
 * The memory must stay mapped until vm_mem_destroy(): a submission while a part of it is unmapped fails with
 * -EFAULT, and when this room gets the addresses for another range, the registration keeps its alias only. munmap,
 * mremap, fork and the like wait for all submitted work that lists the memory.
 *
 * -EEXIST: memory of this vm, which has its vm_mem already (vm_find); -EFAULT: not mapped, or memory that the GPU
 * cannot use (another device's); -EINVAL, -ENOMEM. */
DRV_MUST_CHECK int vm_mem_register(struct vm *vm, const struct vm_register *what, struct vm_mem **mem);
/* Removes the memory from the BO list. All work that uses the memory is submitted: later submissions do not list
 * it, and so do not fail when the program unmaps it. */
void vm_mem_unlist(struct vm_mem *mem);

/* Allocates host memory of a NUMA node, or (VM_ANY_NODE) of any: populated and registered, at its own address. The
 * kernel prefers the node and uses others when it is full; with VM_STRICT the call then fails with -ENOMEM.
 * -EINVAL: no such node; -ENOTSUP: the system refuses memory policies (a container's seccomp filter, a kernel
 * without NUMA) and has other nodes. */
#define VM_ANY_NODE (-1)
DRV_MUST_CHECK int vm_mem_create_on_node(struct vm *vm, uint64_t size_B, int node, unsigned flags,
					 struct vm_mem **mem);
/* Reports the node of each page of [host, host + size_B): node[i] is that of the i-th page, or -errno; -ENOENT for
 * a page without memory. -ENOTSUP as above. */
DRV_MUST_CHECK int vm_host_nodes(const void *host, uint64_t size_B, int *node);

#endif
