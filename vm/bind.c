/* Bindings: the parts of BOs that are mapped at the addresses of ranges.
 *
 * The tree of bindings mirrors the kernel's mappings; both change under map_lock. The kernel may hold finer or
 * coarser mappings than the tree: unmapping always uses CLEAR, which takes addresses and not mappings. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "drv/lock.h"
#include "vm/internal.h"

#define GPU (VM_GPU_READ | VM_GPU_WRITE | VM_GPU_FETCH)
#define CPU (VM_CPU_READ | VM_CPU_WRITE)
#define ALL (GPU | CPU | VM_GPU_UNCACHED)

struct vm_binding {
	struct vm_node node;     /* in vm.bindings: the binding's addresses */
	struct vm_bo *bo;        /* counted */
	uint64_t bo_offset_B;    /* offset in the BO at node.lo */
	unsigned access;         /* enum vm_access */
	struct vm_binding *next; /* next of the removed bindings that still hold their BO */
};

static struct vm_binding *next_binding(struct vm *vm, const struct vm_binding *after, uint64_t lo, uint64_t hi)
{
	return vm_segment_next(&vm->bindings, after, lo, hi);
}

unsigned vm_access_of(unsigned flags)
{
	return VM_GPU_READ | (flags & VM_READONLY ? 0 : VM_GPU_WRITE) | (flags & VM_EXEC ? VM_GPU_FETCH : 0) |
	       (flags & VM_UNCACHED ? VM_GPU_UNCACHED : 0) | (flags & VM_CPU ? CPU : 0);
}

int vm_gem_va(struct vm *vm, uint32_t operation, uint64_t va, uint64_t size_B, const struct vm_bo *bo,
	      uint64_t bo_offset_B, unsigned access)
{
	struct drv_uapi_gem_va args = {
		.operation = access & GPU ? operation : AMDGPU_VA_OP_CLEAR,
		.va_address = va,
		.map_size = size_B,
	};
	int r;

	if (access & GPU) {
		args.handle = bo->handle;
		args.offset_in_bo = bo_offset_B;
		args.flags = (access & VM_GPU_READ ? AMDGPU_VM_PAGE_READABLE : 0) |
			     (access & VM_GPU_WRITE ? AMDGPU_VM_PAGE_WRITEABLE : 0) |
			     (access & VM_GPU_FETCH ? AMDGPU_VM_PAGE_EXECUTABLE : 0) |
			     (bo->flags & VM_UNCACHED || access & VM_GPU_UNCACHED ? AMDGPU_VM_MTYPE_UC : 0);
	}
	if (args.operation == AMDGPU_VA_OP_CLEAR)
		r = drv_ioctl_insist(vm->dev, DRV_UAPI_IOCTL_GEM_VA, &args);
	else
		r = vm_update_map(vm, &args);
	/* The tree has no binding there, or this would not be a first mapping. So a mapping is left that the kernel
	 * refused to remove when its addresses were released. */
	if (r == -EINVAL && args.operation == AMDGPU_VA_OP_MAP) {
		args.operation = AMDGPU_VA_OP_REPLACE;
		r = vm_update_map(vm, &args);
	}
	if (r)
		return drv_fail(r, "GEM_VA operation %u of 0x%llx bytes at 0x%llx", args.operation,
				(unsigned long long)size_B, (unsigned long long)va);
	drv_log(DRV_LOG_MEM, "%s 0x%llx + 0x%llx, bo %u", access & GPU ? "map" : "unmap", (unsigned long long)va,
		(unsigned long long)size_B, args.handle);
	return 0;
}

/* --- the tree; map_lock held ------------------------------------------------------------------ */

static void binding_insert(struct vm *vm, struct vm_binding *b)
{
	vm_segment_insert(&vm->bindings, b);
	vm->mappings += !!(b->access & GPU);
}

static void binding_erase(struct vm *vm, struct vm_binding *b)
{
	vm_segment_remove(&vm->bindings, b);
	vm->mappings -= !!(b->access & GPU);
}

static void binding_split(void *left, void *right)
{
	struct vm_binding *l = left, *r = right;

	vm_bo_get(l->bo);
	r->bo_offset_B = l->bo_offset_B + (r->node.lo - l->node.lo);
	l->bo->vm->mappings += !!(l->access & GPU);
}

void vm_bindings_init(struct vm *vm)
{
	vm->bindings = (struct vm_segments){.size_B = sizeof(struct vm_binding), .split = binding_split};
}

/* Removes the bindings inside [lo, hi); none may cross an edge. True when the CPU had any of them mapped. */
static bool bindings_remove(struct vm *vm, uint64_t lo, uint64_t hi, struct vm_binding **removed)
{
	struct vm_binding *b;
	bool cpu = false;

	while ((b = next_binding(vm, NULL, lo, hi))) {
		cpu |= b->access & CPU;
		binding_erase(vm, b);
		b->next = *removed;
		*removed = b;
	}
	return cpu;
}

/* Releases removed bindings. Called without map_lock: the last reference of a BO takes other locks. */
static void bindings_release(struct vm_binding *removed)
{
	struct vm_binding *next;

	for (; removed; removed = next) {
		next = removed->next;
		vm_bo_put(removed->bo);
		free(removed);
	}
}

/* --- checks ----------------------------------------------------------------------------------- */

static int check_part(const struct vm_range *range, uint64_t offset_B, uint64_t size_B)
{
	if (!range->vm || !vm_pages_inside(offset_B, size_B, range->size_B))
		return drv_fail(-EINVAL, "0x%llx bytes at 0x%llx of a range of 0x%llx", (unsigned long long)size_B,
				(unsigned long long)offset_B, (unsigned long long)range->size_B);
	return drv_check_process(range->vm->dev);
}

static int check_access(const struct vm_range *range, const struct vm_bo *bo, unsigned access)
{
	if ((access & ~ALL) || ((access & CPU) && range->origin != VM_RANGE_HOST) || bo->vm != range->vm)
		return drv_fail(-EINVAL, "access 0x%x to bo %u here", access, bo->handle);
	if ((access & VM_GPU_WRITE && bo->flags & VM_READONLY) ||
	    (access & VM_GPU_FETCH && !(bo->flags & VM_EXEC)) || (access & CPU && !(bo->flags & VM_CPU)))
		return drv_fail(-EACCES, "access 0x%x to bo %u, which has flags 0x%x", access, bo->handle,
				bo->flags);
	return 0;
}

/* --- the operations --------------------------------------------------------------------------- */

/* Maps a binding for the CPU, after the kernel has mapped it for the GPU. */
static int bind_cpu(const struct vm_binding *b, void *view, bool cpu)
{
	uint64_t lo = b->node.lo, size_B = b->node.hi - lo;

	if (view)
		return vm_cpu_place(view, size_B, lo);
	if (b->access & CPU)
		return vm_cpu_map(b->bo, b->bo_offset_B, size_B, lo, b->access);
	if (cpu)
		vm_cpu_unmap(lo, size_B);
	return 0;
}

/* Changes the kernel's mapping first and the tree after it, so that a refusal changes nothing. view: a CPU mapping
 * that vm_cpu_view() prepared; NULL: the CPU gets no mapping, or there is none that it would replace. */
static int replace_locked(struct vm *vm, struct vm_binding *b, uint32_t operation, void *view,
			  struct vm_binding **removed)
{
	uint64_t lo = b->node.lo, hi = b->node.hi;
	struct vm_cut cut;
	int r = vm_cut_prepare(&vm->bindings, lo, hi, &cut);

	if (r)
		return r;
	/* A binding without GPU access changes the kernel's mappings only when it replaces one. */
	if ((b->access & GPU) || operation != AMDGPU_VA_OP_MAP)
		r = vm_gem_va(vm, operation, lo, hi - lo, b->bo, b->bo_offset_B, b->access);
	if (r) {
		vm_cut_cancel(&cut);
		return r;
	}
	vm_cut_commit(&vm->bindings, lo, hi, &cut);
	r = bind_cpu(b, view, bindings_remove(vm, lo, hi, removed));
	if (!r)
		binding_insert(vm, b);
	else if (b->access & GPU)
		/* fails only when the device is gone */
		(void)!vm_gem_va(vm, AMDGPU_VA_OP_CLEAR, lo, hi - lo, NULL, 0, 0);
	return r;
}

static int bind_locked(struct vm *vm, struct vm_binding *b, uint32_t operation, struct vm_binding **removed)
{
	uint64_t lo = b->node.lo, size_B = b->node.hi - lo;
	const bool replaces = next_binding(vm, NULL, lo, b->node.hi);
	void *view = NULL;
	int r = 0;

	if (operation == AMDGPU_VA_OP_MAP && replaces)
		return drv_fail(-EEXIST, "something is bound between 0x%llx and 0x%llx", (unsigned long long)lo,
				(unsigned long long)b->node.hi);
	if (replaces && b->access & CPU)
		r = vm_cpu_view(b->bo, b->bo_offset_B, size_B, b->access, &view);
	if (r)
		return r;
	r = replace_locked(vm, b, operation, view, removed);
	/* Once anything was removed, vm_cpu_place() has moved the view to its place or unmapped it. */
	if (r && view && !*removed)
		munmap(view, size_B);
	return r;
}

static int bind_any(struct vm_range *range, uint64_t offset_B, struct vm_bo *bo, uint64_t bo_offset_B,
		    uint64_t size_B, unsigned access, uint32_t operation)
{
	struct vm_binding *b, *removed = NULL;
	int r = check_part(range, offset_B, size_B);

	r = r ? r : check_access(range, bo, access);
	if (r)
		return r;
	if (!vm_pages_inside(bo_offset_B, size_B, bo->size_B))
		return drv_fail(-EINVAL, "0x%llx bytes at 0x%llx of a BO of 0x%llx", (unsigned long long)size_B,
				(unsigned long long)bo_offset_B, (unsigned long long)bo->size_B);
	b = malloc(sizeof(*b));
	if (!b)
		return drv_fail(-ENOMEM, "no host memory for a binding");
	*b = (struct vm_binding){.node = {.lo = range->va + offset_B, .hi = range->va + offset_B + size_B},
				 .bo = vm_bo_get(bo),
				 .bo_offset_B = bo_offset_B,
				 .access = access};
	drv_mutex_lock(&range->vm->map_lock);
	r = bind_locked(range->vm, b, operation, &removed);
	range->bound |= !r;
	drv_mutex_unlock(&range->vm->map_lock);
	if (r) {
		b->next = removed;
		removed = b;
	}
	bindings_release(removed);
	return r;
}

int vm_range_bind(struct vm_range *range, uint64_t offset_B, struct vm_bo *bo, uint64_t bo_offset_B,
		  uint64_t size_B, unsigned access)
{
	return bind_any(range, offset_B, bo, bo_offset_B, size_B, access, AMDGPU_VA_OP_MAP);
}

int vm_range_rebind(struct vm_range *range, uint64_t offset_B, struct vm_bo *bo, uint64_t bo_offset_B,
		    uint64_t size_B, unsigned access)
{
	return bind_any(range, offset_B, bo, bo_offset_B, size_B, access, AMDGPU_VA_OP_REPLACE);
}

int vm_range_unbind(struct vm_range *range, uint64_t offset_B, uint64_t size_B)
{
	struct vm_binding *removed = NULL;
	struct vm *vm = range->vm;
	struct vm_cut cut;
	uint64_t lo, hi;
	int r = check_part(range, offset_B, size_B);

	if (r)
		return r;
	lo = range->va + offset_B;
	hi = lo + size_B;
	drv_mutex_lock(&vm->map_lock);
	r = vm_cut_prepare(&vm->bindings, lo, hi, &cut);
	if (!r && next_binding(vm, NULL, lo, hi)) {
		r = vm_gem_va(vm, AMDGPU_VA_OP_CLEAR, lo, size_B, NULL, 0, 0);
		if (r) {
			vm_cut_cancel(&cut);
		} else {
			vm_cut_commit(&vm->bindings, lo, hi, &cut);
			if (bindings_remove(vm, lo, hi, &removed))
				vm_cpu_unmap(lo, size_B);
		}
	}
	drv_mutex_unlock(&vm->map_lock);
	bindings_release(removed);
	return r;
}

void vm_range_forget(struct vm_range *range)
{
	struct vm_binding *removed = NULL;

	drv_mutex_lock(&range->vm->map_lock);
	bindings_remove(range->vm, range->va, range->va + range->size_B, &removed);
	drv_mutex_unlock(&range->vm->map_lock);
	bindings_release(removed);
}

/* --- access ----------------------------------------------------------------------------------- */

/* Checks that every part of [lo, hi) is bound, and that its BO allows this access. */
static int check_covered(struct vm_range *range, uint64_t lo, uint64_t hi, unsigned access)
{
	struct vm_binding *b = NULL;
	uint64_t at = lo;
	int r = 0;

	while (!r && at < hi) {
		b = next_binding(range->vm, b, at, hi);
		if (!b || b->node.lo > at)
			return drv_fail(-ENOENT, "nothing is bound at 0x%llx", (unsigned long long)at);
		r = check_access(range, b->bo, access);
		at = b->node.hi;
	}
	return r;
}

static int change_cpu(const struct vm_binding *b, unsigned access)
{
	uint64_t size_B = b->node.hi - b->node.lo;
	int prot = (access & VM_CPU_READ ? PROT_READ : 0) | (access & VM_CPU_WRITE ? PROT_WRITE : 0);

	if (!((b->access ^ access) & CPU))
		return 0;
	if (!(b->access & CPU))
		return vm_cpu_map(b->bo, b->bo_offset_B, size_B, b->node.lo, access);
	if (!(access & CPU))
		vm_cpu_unmap(b->node.lo, size_B);
	else if (mprotect((void *)(uintptr_t)b->node.lo, size_B, prot))
		return drv_fail(-errno, "mprotect of 0x%llx bytes at 0x%llx", (unsigned long long)size_B,
				(unsigned long long)b->node.lo);
	return 0;
}

static int change_access(struct vm *vm, struct vm_binding *b, unsigned access)
{
	int r = 0;

	if ((b->access ^ access) & (GPU | VM_GPU_UNCACHED))
		r = vm_gem_va(vm, AMDGPU_VA_OP_REPLACE, b->node.lo, b->node.hi - b->node.lo, b->bo, b->bo_offset_B,
			      access);
	if (r)
		return r;
	vm->mappings += !!(access & GPU) - !!(b->access & GPU);
	b->access = (access & ~(unsigned)CPU) | (b->access & CPU);
	r = change_cpu(b, access);
	if (!r)
		b->access = access;
	return r;
}

int vm_range_protect(struct vm_range *range, uint64_t offset_B, uint64_t size_B, unsigned access)
{
	struct vm *vm = range->vm;
	struct vm_binding *b = NULL;
	struct vm_cut cut;
	uint64_t lo, hi;
	int r = check_part(range, offset_B, size_B);

	if (r)
		return r;
	lo = range->va + offset_B;
	hi = lo + size_B;
	drv_mutex_lock(&vm->map_lock);
	r = check_covered(range, lo, hi, access);
	r = r ? r : vm_cut_prepare(&vm->bindings, lo, hi, &cut);
	if (!r)
		vm_cut_commit(&vm->bindings, lo, hi, &cut);
	while (!r && (b = next_binding(vm, b, lo, hi)))
		r = change_access(vm, b, access);
	drv_mutex_unlock(&vm->map_lock);
	return r;
}

int vm_range_view(const struct vm_range *range, uint64_t offset_B, const struct vm_bo *bo, uint64_t bo_offset_B,
		  uint64_t size_B, unsigned access)
{
	int r = check_part(range, offset_B, size_B);

	if (!r && (range->origin != VM_RANGE_HOST || access & ~(unsigned)CPU ||
		   (access && !vm_pages_inside(bo_offset_B, size_B, bo->size_B))))
		r = drv_fail(-EINVAL, "a view with access 0x%x", access);
	if (!r && access && !(bo->flags & VM_CPU))
		r = drv_fail(-EACCES, "bo %u is not for the CPU", bo->handle);
	if (r)
		return r;
	if (access)
		return vm_cpu_map(bo, bo_offset_B, size_B, range->va + offset_B, access);
	vm_cpu_unmap(range->va + offset_B, size_B);
	return 0;
}

/* Finds the first binding in [lo, hi); gives its offset from `base`. */
static int find_bound(struct vm *vm, uint64_t lo, uint64_t hi, uint64_t base, struct vm_bound *bound)
{
	struct vm_binding *b;
	int r = drv_check_process(vm->dev);

	if (r)
		return r;
	drv_mutex_lock(&vm->map_lock);
	b = next_binding(vm, NULL, lo, hi);
	if (b)
		*bound = (struct vm_bound){.offset_B = b->node.lo - base,
					   .size_B = b->node.hi - b->node.lo,
					   .bo = b->bo,
					   .kind = b->bo->kind,
					   .flags = b->bo->flags,
					   .bo_offset_B = b->bo_offset_B,
					   .access = b->access};
	drv_mutex_unlock(&vm->map_lock);
	return b ? 0 : drv_fail(-ENOENT, "nothing is bound from 0x%llx on", (unsigned long long)lo);
}

int vm_query(struct vm *vm, uint64_t address, struct vm_bound *bound)
{
	return find_bound(vm, address, address + 1, 0, bound);
}

int vm_range_query(const struct vm_range *range, uint64_t offset_B, struct vm_bound *bound)
{
	if (!range->vm || offset_B >= range->size_B)
		return drv_fail(-EINVAL, "0x%llx is outside the range", (unsigned long long)offset_B);
	return find_bound(range->vm, range->va + offset_B, range->va + range->size_B, range->va, bound);
}
