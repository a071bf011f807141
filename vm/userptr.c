/* Registered host memory: memory of the process as BOs (userptr).
 *
 * Each registration has a BO of its own, bound whole at an alias. At the host addresses registrations may overlap,
 * and the kernel allows one mapping per page, so each page maps the BO of one registration that covers it: the
 * page's provider. A writable registration has precedence over a read-only one, then an older over a newer one.
 * This rule needs no record of the mappings: a new registration maps the pages that it provides; a registration
 * that ends gives each page that it provided to the next provider, or unmaps it. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "drv/lock.h"
#include "vm/internal.h"
#include "vm/host.h"

#define ALL_FLAGS                                                                                                  \
	(VM_REGISTER_READ | VM_REGISTER_ALIAS | VM_REGISTER_DONTFORK | VM_REGISTER_UNCACHED | VM_REGISTER_APART |  \
	 VM_REGISTER_EXEC)

/* --- the BO ----------------------------------------------------------------------------------- */

static int gem_userptr(struct vm *vm, uint64_t host, uint64_t size_B, uint32_t flags, uint32_t *handle)
{
	/* ANONONLY would refuse memory of files. Only with REGISTER does the kernel follow changes of writable
	 * memory; read-only memory needs that, too. */
	struct drm_amdgpu_gem_userptr args = {
		.addr = host,
		.size = size_B,
		.flags = flags | AMDGPU_GEM_USERPTR_REGISTER | AMDGPU_GEM_USERPTR_VALIDATE,
	};
	int r = drv_ioctl(vm->dev, DRM_IOCTL_AMDGPU_GEM_USERPTR, &args);

	if (!r)
		*handle = args.handle;
	return r;
}

int vm_bo_create_user(struct vm *vm, uint64_t host, uint64_t size_B, unsigned flags, struct vm_bo **bo)
{
	struct vm_bo like = {.size_B = size_B, .kind = VM_GTT, .origin = VM_USER, .flags = flags};
	int r = -EFAULT;

	if (!(flags & VM_READONLY))
		r = gem_userptr(vm, host, size_B, 0, &like.handle);
	if (r == -EFAULT || r == -EACCES || r == -EPERM) {
		like.flags |= VM_READONLY;
		r = gem_userptr(vm, host, size_B, AMDGPU_GEM_USERPTR_READONLY, &like.handle);
	}
	if (r)
		return drv_fail(r, "GEM_USERPTR of 0x%llx bytes at 0x%llx", (unsigned long long)size_B,
				(unsigned long long)host);
	r = vm_bo_wrap(vm, &like, bo);
	if (r)
		vm_gem_close(vm, like.handle);
	return r;
}

/* --- at the host's addresses; user_lock held -------------------------------------------------- */

static bool has_precedence(const struct mem_box *a, const struct mem_box *b)
{
	unsigned a_ro = a->mem.bo->flags & VM_READONLY, b_ro = b->mem.bo->flags & VM_READONLY;

	return a_ro != b_ro ? !a_ro : a->sequence < b->sequence;
}

/* Finds the provider of the page at `at`, without regard to `without`; NULL: none. Lowers *until to the end of the
 * pages for which the result holds. */
static struct mem_box *find_provider(struct vm *vm, uint64_t at, uint64_t hi, const struct mem_box *without,
				     uint64_t *until)
{
	struct mem_box *best = NULL;
	struct vm_node *n = NULL;

	while ((n = vm_tree_next(&vm->users, n, at, hi))) {
		struct mem_box *box = vm_container(n, struct mem_box, at_host);
		uint64_t edge = n->lo > at ? n->lo : n->hi;

		if (edge < *until)
			*until = edge;
		if (n->lo > at)
			break; /* in order of lo: no further registration covers `at` */
		if (box != without && box->identity && (!best || has_precedence(box, best)))
			best = box;
	}
	return best;
}

/* Maps [lo, hi) of the host addresses to the provider's BO; without a provider, unmaps them. */
static int map_identity(struct vm *vm, uint64_t lo, uint64_t hi, const struct mem_box *whose, uint32_t operation)
{
	if (!whose)
		return vm_gem_va(vm, AMDGPU_VA_OP_CLEAR, lo, hi - lo, NULL, 0, 0);
	return vm_gem_va(vm, operation, lo, hi - lo, whose->mem.bo, lo - whose->at_host.lo,
			 vm_access_of(whose->mem.bo->flags));
}

/* Gives the pages that `box` provides in [box->at_host.lo, end) to their next providers. closing: the BO of `box`
 * is about to be closed, which unmaps the pages without a next provider. */
static void identity_leave(struct vm *vm, struct mem_box *box, uint64_t end, bool closing)
{
	const struct mem_box *heir;
	uint64_t at, until;

	for (at = box->at_host.lo; at < end; at = until) {
		until = end;
		if (find_provider(vm, at, end, NULL, &until) != box)
			continue;
		heir = find_provider(vm, at, end, box, &until);
		/* Fails only when the device is gone, or without memory for page tables, which exist already. */
		if (heir || !closing)
			(void)!map_identity(vm, at, until, heir, AMDGPU_VA_OP_REPLACE);
	}
}

/* Maps the pages that `box`, which is already in the tree, provides by the rule. */
static int identity_enter(struct vm *vm, struct mem_box *box)
{
	uint64_t at, until, hi = box->at_host.hi;
	int r = 0;

	for (at = box->at_host.lo; !r && at < hi; at = until) {
		bool taken;

		until = hi;
		taken = find_provider(vm, at, hi, box, &until);
		if (find_provider(vm, at, hi, NULL, &until) == box)
			r = map_identity(vm, at, until, box, taken ? AMDGPU_VA_OP_REPLACE : AMDGPU_VA_OP_MAP);
		if (r)
			identity_leave(vm, box, at, false);
	}
	return r;
}

/* The registration is found by its host address from the moment on at which it has an address itself. */
static int users_add(struct vm *vm, struct mem_box *box, unsigned flags)
{
	const struct drv_facts *f = &vm->dev->facts;
	int r = 0;

	drv_mutex_lock(&vm->user_lock);
	box->sequence = vm->registrations++;
	box->identity = !(flags & VM_REGISTER_APART) && box->at_host.lo >= f->va_lo && box->at_host.hi <= f->va_hi;
	drv_mutex_lock(&vm->index_lock);
	vm_tree_insert(&vm->users, &box->at_host);
	drv_mutex_unlock(&vm->index_lock);
	if (box->identity)
		r = identity_enter(vm, box);
	/* -EINVAL: an unknown mapping is there, such as memory that the program unmapped without unregistering it.
	 * The alias remains. */
	if (r == -EINVAL) {
		box->identity = false;
		r = 0;
	}
	drv_mutex_lock(&vm->index_lock);
	if (r)
		vm_tree_remove(&vm->users, &box->at_host);
	else
		box->mem.va = flags & VM_REGISTER_ALIAS || !box->identity
				      ? box->mem.range.va + (box->host - box->at_host.lo)
				      : box->host;
	drv_mutex_unlock(&vm->index_lock);
	drv_mutex_unlock(&vm->user_lock);
	return r;
}

void vm_users_evict(struct vm *vm, uint64_t lo, uint64_t hi)
{
	struct vm_node *n = NULL;

	drv_mutex_lock(&vm->user_lock);
	while ((n = vm_tree_next(&vm->users, n, lo, hi))) {
		struct mem_box *box = vm_container(n, struct mem_box, at_host);

		if (box->identity)
			identity_leave(vm, box, box->at_host.hi, false);
		box->identity = false;
	}
	drv_mutex_unlock(&vm->user_lock);
}

/* --- fork ------------------------------------------------------------------------------------- */

/* Calls madvise() on those parts of [lo, hi) that no registration in the tree covers; the process lock is held. */
static int advise_uncovered(const struct vm_process *process, uint64_t lo, uint64_t hi, int advice)
{
	const struct vm_node *n;
	uint64_t at = lo, end;

	while (at < hi) {
		n = vm_tree_next(&process->unforked, NULL, at, hi);
		end = n ? n->lo : hi;
		if (end > at && madvise((void *)(uintptr_t)at, end - at, advice))
			return -errno;
		at = n ? n->hi : hi;
	}
	return 0;
}

static int fork_exclude(struct vm *vm, struct mem_box *box)
{
	struct vm_process *process = vm->process;
	uint64_t lo = vm_align(box->host, VM_PAGE_B), hi = (box->host + box->mem.size_B) & ~(VM_PAGE_B - 1ull);
	int r;

	if (hi <= lo)
		return 0;
	drv_mutex_lock(&process->lock);
	r = advise_uncovered(process, lo, hi, MADV_DONTFORK);
	if (r) {
		(void)!advise_uncovered(process, lo, hi, MADV_DOFORK); /* fails where the first call failed */
	} else {
		box->unforked.lo = lo;
		box->unforked.hi = hi;
		vm_tree_insert(&process->unforked, &box->unforked);
	}
	drv_mutex_unlock(&process->lock);
	return r ? drv_fail(r, "madvise of 0x%llx bytes at 0x%llx", (unsigned long long)(hi - lo),
			    (unsigned long long)lo)
		 : 0;
}

static void fork_include(struct vm *vm, struct mem_box *box)
{
	struct vm_process *process = vm->process;

	if (!box->unforked.hi)
		return;
	drv_mutex_lock(&process->lock);
	vm_tree_remove(&process->unforked, &box->unforked);
	/* Fails where the program has unmapped the memory meanwhile. */
	(void)!advise_uncovered(process, box->unforked.lo, box->unforked.hi, MADV_DOFORK);
	drv_mutex_unlock(&process->lock);
}

/* --- registration ----------------------------------------------------------------------------- */

static int check_register(struct vm *vm, const struct vm_register *what, uint64_t *lo, uint64_t *hi)
{
	uint64_t host = (uintptr_t)what->host;
	struct vm_node *n;

	if (!host || !what->size_B || host > UINT64_MAX - VM_PAGE_B ||
	    what->size_B > UINT64_MAX - host - VM_PAGE_B || what->flags & ~ALL_FLAGS || what->alias % VM_PAGE_B)
		return drv_fail(-EINVAL, "registering %llu bytes at 0x%llx with flags 0x%x",
				(unsigned long long)what->size_B, (unsigned long long)host, what->flags);
	*lo = host & ~(VM_PAGE_B - 1ull);
	*hi = vm_align(host + what->size_B, VM_PAGE_B);
	drv_mutex_lock(&vm->index_lock);
	n = vm_tree_next(&vm->mems, NULL, *lo, *hi);
	drv_mutex_unlock(&vm->index_lock);
	if (n)
		return drv_fail(-EEXIST, "0x%llx belongs to memory that the GPU has already",
				(unsigned long long)n->lo);
	return 0;
}

static int bind_alias(struct vm *vm, struct mem_box *box, uint64_t va)
{
	struct vm_mem *mem = &box->mem;
	struct vm_range like = {.va = va, .size_B = mem->bo->size_B};
	struct vm_range_request request = {.size_B = mem->bo->size_B,
					   .flags = vm->dev->facts.high_va_hi ? VM_REQUEST_HIGH : 0};
	int r = va ? vm_range_adopt(vm, &like, &mem->range) : vm_range_reserve(vm, &request, &mem->range);

	if (r)
		return r;
	r = vm_range_bind(&mem->range, 0, mem->bo, 0, mem->bo->size_B, vm_access_of(mem->bo->flags));
	if (r)
		vm_range_release(&mem->range);
	return r;
}

void vm_mem_unlist(struct vm_mem *mem)
{
	vm_list_remove(mem->bo->vm, mem->bo);
}

int vm_mem_register(struct vm *vm, const struct vm_register *what, struct vm_mem **out)
{
	unsigned flags = (what->flags & VM_REGISTER_READ ? VM_READONLY : 0) |
			 (what->flags & VM_REGISTER_UNCACHED ? VM_UNCACHED : 0) |
			 (what->flags & VM_REGISTER_EXEC ? VM_EXEC : 0);
	struct mem_box *box;
	uint64_t lo = 0, hi = 0;
	int r = drv_check_process(vm->dev);

	r = r ? r : check_register(vm, what, &lo, &hi);
	if (r)
		return r;
	box = calloc(1, sizeof(*box));
	if (!box)
		return drv_fail(-ENOMEM, "no host memory for a vm_mem");
	box->host = (uintptr_t)what->host;
	box->at_host = (struct vm_node){.lo = lo, .hi = hi};
	box->mem.size_B = what->size_B;
	box->mem.map = what->host;
	r = vm_bo_create_user(vm, lo, hi - lo, flags, &box->mem.bo);
	if (r)
		goto fail_bo;
	r = bind_alias(vm, box, what->alias);
	if (r)
		goto fail_alias;
	if (what->flags & VM_REGISTER_DONTFORK)
		r = fork_exclude(vm, box);
	if (r)
		goto fail_fork;
	r = users_add(vm, box, what->flags);
	if (r)
		goto fail_users;
	vm_index_add(vm, box);
	*out = &box->mem;
	return 0;

fail_users:
	fork_include(vm, box);
fail_fork:
	vm_range_release(&box->mem.range);
fail_alias:
	vm_bo_put(box->mem.bo);
fail_bo:
	free(box);
	return r;
}

/* Holds the lock until the BO is closed: no other registration may get its pages earlier. */
void vm_unregister(struct mem_box *box)
{
	struct vm *vm = box->mem.bo->vm;

	drv_mutex_lock(&vm->user_lock);
	if (box->identity)
		identity_leave(vm, box, box->at_host.hi, vm_mem_closes(&box->mem));
	drv_mutex_lock(&vm->index_lock);
	vm_tree_remove(&vm->users, &box->at_host);
	drv_mutex_unlock(&vm->index_lock);
	vm_mem_close(&box->mem);
	drv_mutex_unlock(&vm->user_lock);
	fork_include(vm, box);
}
