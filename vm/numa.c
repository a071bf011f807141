/* Host memory on a NUMA node of the caller's choice. The kernel takes GTT pages from any node, whatever the
 * caller's memory policy; memory that the host has placed before it is registered stays on its node. */
#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "drv/cancel.h"
#include "vm/internal.h"
#include "vm/host.h"
#include "vm/suballoc.h"

#define MAX_NODES 1024 /* kernel maximum, CONFIG_NODES_SHIFT = 10 */
#define BATCH     512  /* pages per move_pages() call */

/* True when the system has node 0 alone: without NUMA, or with a filter on its system calls. Queries would fail. */
static bool only_node_0(void)
{
	DRV_HOLD_CANCEL;

	return numa_available() < 0 || numa_max_node() == 0;
}

int vm_host_nodes(const void *host, uint64_t size_B, int *node)
{
	uint64_t lo = (uintptr_t)host & ~(VM_PAGE_B - 1ull), count;
	void *page[BATCH];

	if (!host || !size_B || size_B > UINT64_MAX - (uintptr_t)host - VM_PAGE_B)
		return drv_fail(-EINVAL, "the nodes of %llu bytes at %p", (unsigned long long)size_B, host);
	count = (vm_align((uintptr_t)host + size_B, VM_PAGE_B) - lo) / VM_PAGE_B;
	for (uint64_t done = 0, n; done < count; done += n) {
		n = count - done < BATCH ? count - done : BATCH;
		for (uint64_t i = 0; i < n; i++)
			page[i] = (void *)(uintptr_t)(lo + (done + i) * VM_PAGE_B);
		if (move_pages(0, n, page, NULL, node + done, 0))
			return drv_fail(errno == EPERM || errno == ENOSYS ? -ENOTSUP : -errno, "move_pages query");
	}
	return 0;
}

/* Sets a preferred node. MPOL_BIND is no alternative: on a full node it ends in the OOM killer. -1: errno has the
 * reason. */
static int prefer_node(void *host, uint64_t size_B, int node)
{
	unsigned long mask[MAX_NODES / (8 * sizeof(long))] = {0};

	mask[node / (8 * sizeof(long))] = 1ul << node % (8 * sizeof(long));
	return mbind(host, size_B, MPOL_PREFERRED, mask, MAX_NODES, 0) && !only_node_0() ? -1 : 0;
}

static int place_pages(uint64_t at, uint64_t size_B, int node)
{
	void *host = (void *)(uintptr_t)at;

	if (mmap(host, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		return drv_fail(-errno, "mmap of %llu bytes", (unsigned long long)size_B);
	/* Children do not inherit the memory, as with memory of the kernel: its pages must not be copied on
	 * write. */
	if (madvise(host, size_B, MADV_DONTFORK))
		return drv_fail(-errno, "madvise of %llu bytes", (unsigned long long)size_B);
	/* The kernel looks up the pages of registered memory at each submission; large pages make that quick.
	 * madvise fails harmlessly where there are no large pages. */
	if (size_B >= VM_SLAB_B)
		(void)!madvise(host, size_B, MADV_HUGEPAGE);
	if (node != VM_ANY_NODE && prefer_node(host, size_B, node))
		return drv_fail(errno == EPERM || errno == ENOSYS ? -ENOTSUP : -errno, "mbind to node %d", node);
	for (uint64_t i = 0; i < size_B; i += VM_PAGE_B)
		((volatile char *)host)[i] = 0;
	return 0;
}

/* Checks the node of every page. */
static int check_placed(uint64_t at, uint64_t size_B, int node)
{
	uint64_t pages = size_B / VM_PAGE_B, elsewhere = 0;
	int *nodes = malloc(pages * sizeof(*nodes)), r;

	if (!nodes)
		return drv_fail(-ENOMEM, "no host memory to look at %llu pages", (unsigned long long)pages);
	r = vm_host_nodes((void *)(uintptr_t)at, size_B, nodes);
	for (uint64_t i = 0; !r && i < pages; i++)
		elsewhere += nodes[i] != node;
	free(nodes);
	if (r == -ENOTSUP && only_node_0())
		return 0;
	if (!r && elsewhere)
		return drv_fail(-ENOMEM, "node %d is full: %llu of %llu pages went elsewhere", node,
				(unsigned long long)elsewhere, (unsigned long long)pages);
	return r;
}

static int check_args(struct vm *vm, uint64_t size_B, int node, unsigned flags)
{
	DRV_HOLD_CANCEL;
	int last = numa_available() < 0 ? 0 : numa_max_node();

	if (!size_B || size_B > vm->dev->facts.va_hi || flags & ~(VM_EXEC | VM_UNCACHED | VM_STRICT | VM_CPU))
		return drv_fail(-EINVAL, "%llu bytes of host memory with flags 0x%x", (unsigned long long)size_B,
				flags);
	if (node == VM_ANY_NODE)
		return drv_check_process(vm->dev);
	if (node < 0 || node > last || (last && !numa_bitmask_isbitset(numa_get_mems_allowed(), node)))
		return drv_fail(-EINVAL, "there is no node %d for this process, the last is %d", node, last);
	return drv_check_process(vm->dev);
}

int vm_mem_create_on_node(struct vm *vm, uint64_t size_B, int node, unsigned flags, struct vm_mem **out)
{
	unsigned bo_flags = flags & (VM_EXEC | VM_UNCACHED);
	struct vm_range_request request = {.size_B = vm_align(size_B, VM_PAGE_B), .align_B = VM_PAGE_B};
	struct mem_box *box;
	struct vm_mem *mem;
	int r = check_args(vm, size_B, node, flags);

	if (r)
		return r;
	box = calloc(1, sizeof(*box));
	if (!box)
		return drv_fail(-ENOMEM, "no host memory for a vm_mem");
	mem = &box->mem;
	if (request.size_B >= VM_SLAB_B)
		request.align_B = VM_SLAB_B;
	r = vm_range_reserve(vm, &request, &mem->range);
	if (r)
		goto fail_range;
	r = place_pages(mem->range.va, request.size_B, node);
	if (!r && flags & VM_STRICT && node != VM_ANY_NODE)
		r = check_placed(mem->range.va, request.size_B, node);
	if (r)
		goto fail_bo;
	r = vm_bo_create_user(vm, mem->range.va, request.size_B, bo_flags, &mem->bo);
	if (r)
		goto fail_bo;
	r = vm_range_bind(&mem->range, 0, mem->bo, 0, request.size_B, vm_access_of(mem->bo->flags));
	if (r)
		goto fail_bind;
	mem->va = mem->range.va;
	mem->size_B = request.size_B;
	mem->map = (void *)(uintptr_t)mem->va;
	vm_index_add(vm, box);
	*out = mem;
	return 0;

fail_bind:
	vm_bo_put(mem->bo);
fail_bo:
	vm_range_release(&mem->range);
fail_range:
	free(box);
	return r;
}
