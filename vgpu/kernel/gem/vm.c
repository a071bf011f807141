#include <stdlib.h>
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/base/proc.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/evict.h"
#include "vgpu/kernel/gem/handle.h"
#include "vgpu/kernel/gem/vmid.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

struct kern_vm *kern_vm_create(struct kern_device *dev)
{
	struct kern_vm *vm = kern_alloc(sizeof(*vm));

	if (!vm)
		return NULL;
	vm->id = ++kern->next_id;
	vm->refs = 1;
	vm->dev = dev;
	vm->generation = dev->generation;
	kern_waitq_init(&vm->unlocked);
	return vm;
}

void kern_vm_put(struct kern_vm *vm)
{
	if (!vm || --vm->refs)
		return;
	kern_vmid_forget(vm);
	kern_resv_fini(&vm->resv);
	kern_free(vm->map);
	kern_free(vm->redirected);
	kern_free(vm);
}

int kern_vm_lock(struct kern_vm *vm)
{
	struct kern_wait *w = NULL;
	int r = 0;

	while (!r && vm->holder && kern_proc_alive(vm->holder)) {
		if (!w)
			w = kern_wait_begin(1);
		if (!w)
			return -ENOMEM;
		kern_wait_on(w, &vm->unlocked);
		r = kern_wait_sleep(w, INT64_MAX);
	}
	kern_wait_end(w);
	if (!r)
		vm->holder = kern_local.serial;
	return r;
}

void kern_vm_unlock(struct kern_vm *vm)
{
	vm->holder = 0;
	kern_waitq_wake(&vm->unlocked);
}

/* --- the sorted array --- */

/* Index of the first mapping that ends above va. */
static unsigned map_above(const struct kern_vm *vm, uint64_t va)
{
	unsigned lo = 0, hi = vm->count;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (vm->map[mid]->hi <= va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct kern_map *map_overlapping(const struct kern_vm *vm, uint64_t lo, uint64_t hi)
{
	unsigned i = map_above(vm, lo);

	return i < vm->count && vm->map[i]->lo < hi ? vm->map[i] : NULL;
}

/* Cannot fail: room was reserved. The caller increments the version. */
static void map_insert(struct kern_vm *vm, struct kern_map *map)
{
	unsigned i = map_above(vm, map->lo);

	memmove(&vm->map[i + 1], &vm->map[i], (vm->count - i) * sizeof(vm->map[0]));
	vm->map[i] = map;
	vm->count++;
	vm->version++;
	vm->delayed += map->delayed;
	vm->displaced |= map->handle && map->handle->bo->vm == vm && kern_bo_displaced(map->handle->bo);
	if (map->handle)
		kern_list_add_tail(&map->handle->maps, &map->link);
	else
		kern_list_init(&map->link);
	kern_live(KERN_MAPPINGS, 1);
}

static void map_remove(struct kern_vm *vm, unsigned i)
{
	struct kern_map *map = vm->map[i];

	memmove(&vm->map[i], &vm->map[i + 1], (vm->count - 1 - i) * sizeof(vm->map[0]));
	kern_list_step(); /* none is lost: the last one may be there twice */
	vm->count--;
	vm->version++;
	vm->cuts++;
	vm->delayed -= map->delayed;
	kern_list_del(&map->link);
	kern_free(map);
	kern_live(KERN_MAPPINGS, -1);
}

static unsigned map_index(const struct kern_vm *vm, const struct kern_map *map)
{
	return map_above(vm, map->lo);
}

const struct kern_map *kern_vm_find(const struct kern_vm *vm, uint64_t va)
{
	return map_overlapping(vm, va, va + 1);
}

void kern_vm_remove_handle(struct kern_vm *vm, struct kern_handle *handle)
{
	while (!kern_list_empty(&handle->maps))
		map_remove(vm, map_index(vm, kern_entry(handle->maps.next, struct kern_map, link)));
}

void kern_vm_clear(struct kern_vm *vm)
{
	while (vm->count)
		map_remove(vm, vm->count - 1);
}

/* --- pages that lead to the dummy page --- */

/* Index of the first at va or above. */
static unsigned redirect_from(const struct kern_vm *vm, uint64_t va)
{
	unsigned lo = 0, hi = vm->redirects;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (vm->redirected[mid] < va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The version stays: else each page that a job faults at would make all threads of the job look for new mappings, and a
 * table of all pages for them. */
bool kern_vm_redirect(struct kern_vm *vm, uint64_t va)
{
	uint64_t page = va & KERN_VA_MASK & ~(uint64_t)(KERN_PAGE - 1);
	unsigned i = redirect_from(vm, page);

	if (i < vm->redirects && vm->redirected[i] == page)
		return false;
	if (kern_reserve(&vm->redirected, vm->redirects, &vm->redirect_room, sizeof(vm->redirected[0])))
		return true;
	memmove(&vm->redirected[i + 1], &vm->redirected[i], (vm->redirects - i) * sizeof(vm->redirected[0]));
	vm->redirected[i] = page;
	vm->redirects++;
	return true;
}

/* Removes the redirections that a mapping replaces in the page tables. */
static void redirects_end(struct kern_vm *vm, uint64_t lo, uint64_t hi)
{
	unsigned from = redirect_from(vm, lo), to = redirect_from(vm, hi);

	if (from == to)
		return;
	memmove(&vm->redirected[from], &vm->redirected[to], (vm->redirects - to) * sizeof(vm->redirected[0]));
	vm->redirects -= to - from;
}

/* --- dates --- */

static void map_date(const struct kern_vm *vm, struct kern_map *map)
{
	map->born = vm->version;
	map->cuts = vm->cuts;
}

void kern_vm_flush_delayed(struct kern_vm *vm)
{
	if (!vm->delayed)
		return;
	vm->version++;
	for (unsigned i = 0; i < vm->count; i++)
		if (vm->map[i]->delayed) {
			vm->map[i]->delayed = false;
			map_date(vm, vm->map[i]);
		}
	vm->delayed = 0;
}

void kern_vm_landed(struct kern_vm *vm, uint64_t version)
{
	if (vm->landed < version)
		vm->landed = version;
}

/* --- the operations --- */

struct va_op {
	struct kern_vm *vm;
	struct kern_handle *handle; /* NULL: PRT, or CLEAR */
	uint64_t lo, size_B, offset;
	uint32_t flags;
};

static int va_check_range(const struct va_op *op)
{
	const struct kern_bo *bo = op->handle ? op->handle->bo : NULL;

	if ((op->lo | op->offset | op->size_B) & (KERN_PAGE - 1))
		return -EINVAL;
	if (!op->size_B || op->lo + op->size_B <= op->lo || op->offset + op->size_B <= op->offset)
		return -EINVAL;
	if (bo && op->offset + op->size_B > bo->size_B)
		return -EINVAL;
	if (op->lo + op->size_B > kern_vm_size(op->vm->dev))
		return -EINVAL;
	return 0;
}

static struct kern_map *map_new(const struct va_op *op)
{
	struct kern_map *map = kern_alloc(sizeof(*map));

	if (!map)
		return NULL;
	map->lo = op->lo;
	map->hi = op->lo + op->size_B;
	map->handle = op->handle;
	map->offset = op->offset;
	map->flags = op->flags;
	map->delayed = op->flags & AMDGPU_VM_DELAY_UPDATE;
	return map;
}

static void va_insert(struct kern_vm *vm, struct kern_map *map)
{
	map_insert(vm, map);
	map_date(vm, map);
	redirects_end(vm, map->lo, map->hi);
}

static int va_map(const struct va_op *op)
{
	int r = va_check_range(op);
	struct kern_map *map;

	if (r)
		return r;
	map = map_overlapping(op->vm, op->lo, op->lo + op->size_B);
	if (map) {
		vgpu_finding(CONTRACT_VA_MAPPED, "MAP of BO %u at 0x%llx+0x%llx overlaps BO %u at 0x%llx-0x%llx",
			     op->handle ? op->handle->bo->id : 0, (unsigned long long)op->lo,
			     (unsigned long long)op->size_B, map->handle ? map->handle->bo->id : 0,
			     (unsigned long long)map->lo, (unsigned long long)map->hi);
		return -EINVAL;
	}
	r = kern_reserve(&op->vm->map, op->vm->count, &op->vm->room, sizeof(op->vm->map[0]));
	if (r)
		return r;
	map = map_new(op);
	if (!map)
		return -ENOMEM;
	va_insert(op->vm, map);
	return 0;
}

static int va_unmap(const struct va_op *op)
{
	unsigned i = map_above(op->vm, op->lo);
	struct kern_map *map = i < op->vm->count ? op->vm->map[i] : NULL;

	if (!map || map->lo != op->lo || map->handle != op->handle)
		return -ENOENT;
	if (map->hi - map->lo != kern_align(op->size_B, KERN_PAGE))
		vgpu_finding(CONTRACT_VA_UNMAP_SIZE,
			     "UNMAP of 0x%llx bytes at 0x%llx removes the whole mapping of 0x%llx bytes",
			     (unsigned long long)op->size_B, (unsigned long long)op->lo,
			     (unsigned long long)(map->hi - map->lo));
	map_remove(op->vm, i);
	return 0;
}

/* Cuts [lo, hi) out of map i. A piece may be left on either side; `spare` becomes the right one of two. */
static bool map_cut(struct kern_vm *vm, unsigned i, uint64_t lo, uint64_t hi, struct kern_map *spare)
{
	struct kern_map *map = vm->map[i];
	bool used = false;

	if (map->hi > hi && map->lo < lo) {
		*spare = *map;
		spare->offset += spare->handle ? hi - map->lo : 0;
		spare->lo = hi;
		map->hi = lo;
		map_insert(vm, spare);
		used = true;
	} else if (map->hi > hi) {
		map->offset += map->handle ? hi - map->lo : 0;
		map->lo = hi;
	} else if (map->lo < lo) {
		map->hi = lo;
	} else {
		map_remove(vm, i);
	}
	vm->version++;
	vm->cuts++;
	return used;
}

static int va_clear(const struct va_op *op)
{
	uint64_t hi = op->lo + op->size_B;
	struct kern_vm *vm = op->vm;
	struct kern_map *spare;
	int r = va_check_range(op);
	unsigned i;

	if (!r)
		r = kern_reserve(&vm->map, vm->count + 1, &vm->room, sizeof(vm->map[0]));
	if (r)
		return r;
	spare = kern_alloc(sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	for (i = map_above(vm, op->lo); i < vm->count && vm->map[i]->lo < hi; i = map_above(vm, op->lo)) {
		if (map_cut(vm, i, op->lo, hi, spare))
			spare = NULL; /* the mapping was cut in two: no other mapping can be inside */
	}
	kern_free(spare);
	return 0;
}

static int va_replace(const struct va_op *op)
{
	int r = va_check_range(op);
	struct va_op clear = {.vm = op->vm, .lo = op->lo, .size_B = op->size_B};
	struct kern_map *map;

	if (!r)
		r = kern_reserve(&op->vm->map, op->vm->count + 2, &op->vm->room, sizeof(op->vm->map[0]));
	if (r)
		return r;
	map = map_new(op);
	if (!map)
		return -ENOMEM;
	r = va_clear(&clear);
	if (r) {
		kern_free(map);
		return r;
	}
	va_insert(op->vm, map);
	return 0;
}

/* --- the ioctls --- */

static int va_check(const struct kern_device *dev, const struct drm_amdgpu_gem_va *args)
{
	const uint32_t valid = AMDGPU_VM_DELAY_UPDATE | AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE |
			       AMDGPU_VM_PAGE_EXECUTABLE | AMDGPU_VM_MTYPE_MASK | AMDGPU_VM_PAGE_NOALLOC;
	const uint32_t prt = AMDGPU_VM_DELAY_UPDATE | AMDGPU_VM_PAGE_PRT;
	uint64_t va = args->va_address & KERN_VA_MASK;

	if (args->va_address < kern_profile_of(dev)->va_bottom)
		return -EINVAL;
	if (args->va_address >= KERN_VA_HOLE_START && args->va_address < KERN_VA_HOLE_END)
		return -EINVAL;
	if (args->map_size > kern_vm_size(dev) || va + args->map_size > kern_vm_size(dev))
		return -EINVAL;
	if ((args->flags & ~valid) && (args->flags & ~prt))
		return -EINVAL;
	if (args->operation < AMDGPU_VA_OP_MAP || args->operation > AMDGPU_VA_OP_REPLACE)
		return -EINVAL;
	return 0;
}

/* More are refused with -ENOMEM, as a copy of that size fails in the kernel. */
#define INPUT_FENCES_MAX (1u << 16)

static int wait_for_fence(struct kern_file *file, uint32_t handle)
{
	struct kern_fence *f;
	int r = handle ? kern_syncobj_find_fence(file, handle, 0, 0, 0, &f) : -EINVAL;

	if (r)
		return r;
	do
		r = kern_fence_wait(&f, 1, true, INT64_MAX, NULL);
	while (r == -EINTR); /* signals do not end this wait */
	kern_fence_put(f);
	return r;
}

/* The caller waits, not the update. */
static int wait_for_inputs(struct kern_file *file, const struct uapi_gem_va *args)
{
	uint32_t *handle;
	int r;

	if (!args->num_syncobj_handles)
		return 0;
	if (args->num_syncobj_handles > INPUT_FENCES_MAX)
		return -ENOMEM;
	handle = malloc(args->num_syncobj_handles * sizeof(*handle));
	if (!handle)
		return -ENOMEM;
	r = kern_copy_in(handle, args->input_fence_syncobj_handles, args->num_syncobj_handles * sizeof(*handle));
	for (uint32_t i = 0; !r && i < args->num_syncobj_handles; i++)
		r = wait_for_fence(file, handle[i]);
	free(handle);
	return r;
}

/* *out is counted; NULL when the call has no syncobj. */
static int find_timeline(struct kern_file *file, const struct uapi_gem_va *args, struct kern_syncobj **out)
{
	struct kern_syncobj *s = kern_syncobj_find(file, args->vm_timeline_syncobj_out);

	*out = NULL;
	if (!args->vm_timeline_syncobj_out)
		return 0;
	if (!s)
		return -ENOENT;
	*out = kern_syncobj_get(s);
	return args->vm_timeline_point ? kern_syncobj_reserve(s) : 0;
}

/* The fence is signalled at once. On a card the update may still be under way: it counts as done when the client looks
 * at the fence. */
static int post_update(struct kern_vm *vm, struct kern_syncobj *s, uint64_t point)
{
	struct kern_fence *stub = kern_fence_stub();

	if (!stub)
		return -ENOMEM;
	kern_syncobj_attach(s, point, stub);
	kern_fence_put(stub);
	kern_syncobj_add_update(s, point, vm);
	return 0;
}

typedef int va_handler(const struct va_op *op);

static int va_locked(struct kern_file *file, const struct uapi_gem_va *args, struct va_op *op, va_handler *handler,
		     bool with_bo)
{
	struct kern_syncobj *timeline = NULL;
	int r = 0;

	if (with_bo) /* looked up again: it may have been closed during the wait */
		op->handle = kern_handle_must(file, args->handle, "GEM_VA");
	if (with_bo && !op->handle)
		return -ENOENT;
	if (kern_profile_of(file->dev)->drm_minor >= 64)
		r = find_timeline(file, args, &timeline);
	kern_call_current()->into = timeline;
	if (!r)
		r = handler(op);
	if (!r && timeline && !(args->flags & AMDGPU_VM_DELAY_UPDATE))
		r = post_update(file->vm, timeline, args->vm_timeline_point);
	kern_call_current()->into = NULL;
	kern_syncobj_put(timeline);
	return r;
}

int kern_gem_va(struct kern_file *file, void *arg)
{
	static va_handler *const handler[] = {
		[AMDGPU_VA_OP_MAP] = va_map,
		[AMDGPU_VA_OP_UNMAP] = va_unmap,
		[AMDGPU_VA_OP_CLEAR] = va_clear,
		[AMDGPU_VA_OP_REPLACE] = va_replace,
	};
	const struct uapi_gem_va *args = arg; /* before 3.64 the struct ends with drm_amdgpu_gem_va's members */
	bool with_bo = args->operation != AMDGPU_VA_OP_CLEAR && !(args->flags & AMDGPU_VM_PAGE_PRT);
	struct va_op op = {
		.vm = file->vm,
		.lo = args->va_address & KERN_VA_MASK,
		.size_B = args->map_size,
		.offset = with_bo ? args->offset_in_bo : 0,
		.flags = args->flags,
	};
	int r = va_check(file->dev, arg);

	if (!r && kern_profile_of(file->dev)->delay_alone && (args->flags & AMDGPU_VM_DELAY_UPDATE) &&
	    args->vm_timeline_syncobj_out)
		r = -EINVAL;
	if (!r && with_bo && !kern_handle_must(file, args->handle, "GEM_VA"))
		r = -ENOENT;
	if (!r && kern_profile_of(file->dev)->drm_minor >= 64)
		r = wait_for_inputs(file, args);
	if (!r)
		r = kern_vm_lock(file->vm);
	if (r)
		return r;
	r = va_locked(file, args, &op, handler[args->operation], with_bo);
	kern_vm_unlock(file->vm);
	return r;
}

int kern_vm_ioctl(struct kern_file *file, void *arg)
{
	union drm_amdgpu_vm *args = arg;

	if (args->in.flags)
		return -EINVAL;
	switch (args->in.op) {
	case AMDGPU_VM_OP_RESERVE_VMID:
		file->vm->reserved_vmid = true;
		return 0;
	case AMDGPU_VM_OP_UNRESERVE_VMID:
		file->vm->reserved_vmid = false;
		return 0;
	default:
		return -EINVAL;
	}
}
