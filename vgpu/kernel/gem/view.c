/* Snapshots of a VM for the engine. */
#include <stdlib.h>
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/gem/vm.h"

/* Views of this process, most recently used first. Guarded by the kernel lock. Sixteen: a process has a VM or two a
 * device, and a list or two each. */
#define VIEWS 16
static struct kern_view *cache[VIEWS];

/* Memory type on GFX12: UC or not. The first kernels with GFX12, 6.11 to 6.13 without later fixes (DRM 3.59 and 3.60),
 * make all system memory NC; no profile is one of these (Linux gmc_v12_0_get_vm_pte()). */
static enum gpuvm_mtype mtype_gfx12(const struct kern_bo *bo, bool uncached)
{
	return uncached || bo->flags & AMDGPU_GEM_CREATE_UNCACHED ? GPUVM_UC : GPUVM_NC;
}

/* The memory type that the page table entry gets on this chip (contract 2.5). */
static enum gpuvm_mtype mtype_of(const struct kern_bo *bo, uint32_t flags)
{
	static const enum gpuvm_mtype asked[16] = {
		[AMDGPU_VM_MTYPE_NC >> 5] = GPUVM_NC, [AMDGPU_VM_MTYPE_WC >> 5] = GPUVM_RW,
		[AMDGPU_VM_MTYPE_CC >> 5] = GPUVM_CC, [AMDGPU_VM_MTYPE_UC >> 5] = GPUVM_UC,
		[AMDGPU_VM_MTYPE_RW >> 5] = GPUVM_RW,
	};
	enum gpuvm_mtype wanted = asked[(flags & AMDGPU_VM_MTYPE_MASK) >> 5];
	const struct vgpu_chip *chip = kern_local.chip[bo->dev->index];
	enum vgpu_gfx gfx = chip->gfx;
	bool system = kern_bo_is_system(bo);
	bool coherent = bo->flags & (AMDGPU_GEM_CREATE_COHERENT | AMDGPU_GEM_CREATE_EXT_COHERENT);

	if (chip->gc_version[0] == 12)
		return mtype_gfx12(bo, wanted == GPUVM_UC);
	if (bo->flags & AMDGPU_GEM_CREATE_UNCACHED)
		return GPUVM_UC;
	if ((gfx == VGPU_GFX908 || gfx == VGPU_GFX90A) && !system) {
		if (!coherent)
			return bo->foreign ? GPUVM_NC : GPUVM_RW;
		return bo->foreign ? GPUVM_UC : GPUVM_CC;
	}
	if (gfx == VGPU_GFX942) { /* EXT_COHERENT decides; COHERENT has no effect */
		if (system || bo->foreign)
			return system || bo->flags & AMDGPU_GEM_CREATE_EXT_COHERENT ? GPUVM_UC : GPUVM_NC;
		return bo->flags & AMDGPU_GEM_CREATE_EXT_COHERENT ? GPUVM_CC : GPUVM_RW;
	}
	if (coherent)
		return GPUVM_UC;
	return wanted == GPUVM_RW && chip->gc_version[0] > 9 ? GPUVM_NC : wanted; /* GFX10 and later have no RW */
}

/* A card can access a mapped buffer as long as the kernel has not moved it. So programs at the default level
 * continue with a finding; tests, which run at another one, are refused. Userptr memory is not kept for a job
 * that does not list it. */
static uint32_t unlisted_flags(const struct kern_bo *bo)
{
	return vgpu_strict() == VGPU_STRICT_REPORT && !kern_bo_is_userptr(bo) ? GPUVM_TOLERATED : GPUVM_UNLISTED;
}

/* epoch of the views that list everything. */
#define EVERYTHING UINT64_MAX

static uint32_t region_flags(const struct kern_vm *vm, const struct kern_map *map, uint64_t epoch)
{
	const struct kern_bo *bo = map->handle->bo;
	uint32_t flags = 0;

	flags |= map->flags & AMDGPU_VM_PAGE_READABLE ? GPUVM_R : 0;
	flags |= map->flags & AMDGPU_VM_PAGE_WRITEABLE ? GPUVM_W : 0;
	flags |= map->flags & AMDGPU_VM_PAGE_EXECUTABLE ? GPUVM_X : 0;
	if (bo->user_flags & AMDGPU_GEM_USERPTR_READONLY)
		flags &= ~(uint32_t)GPUVM_W;
	if (bo->vm != vm && bo->mark != epoch && epoch != EVERYTHING)
		flags |= unlisted_flags(bo);
	if (kern_bo_is_system(bo))
		flags |= GPUVM_SYSTEM;
	if (bo->shared || bo->foreign)
		flags |= GPUVM_SHARED;
	return flags | (uint32_t)mtype_of(bo, map->flags) << GPUVM_MTYPE_SHIFT;
}

static bool region_fill(struct gpuvm_region *region, const struct kern_vm *vm, const struct kern_map *map,
			uint64_t epoch)
{
	*region = (struct gpuvm_region){.lo = map->lo, .hi = map->hi};
	if (map->delayed)
		return false;
	if (!map->handle) {
		region->flags = GPUVM_PRT | GPUVM_R | GPUVM_W;
		return true;
	}
	region->host = kern_bo_host(map->handle->bo);
	if (!region->host || map->handle->bo->preferred == AMDGPU_GEM_DOMAIN_DOORBELL)
		return false; /* GDS, GWS and OA have no memory to map; doorbells are for the CPU */
	region->host += map->offset;
	region->flags = region_flags(vm, map, epoch);
	region->bo = map->handle->bo->id;
	return true;
}

/* Region of a page of host memory. */
static struct gpuvm_region dummy_region(const struct kern_vm *vm)
{
	return (struct gpuvm_region){
		.host = vm->dev->dummy,
		.flags = GPUVM_R | GPUVM_W | GPUVM_X | GPUVM_SYSTEM | GPUVM_SHARED | GPUVM_DUMMY |
			 (uint32_t)GPUVM_UC << GPUVM_MTYPE_SHIFT,
	};
}

/* Adds the redirected pages to the view's regions, which have room for them; keeps them sorted. */
static void add_redirected(const struct kern_vm *vm, struct gpuvm_view *view, struct gpuvm_region *region)
{
	size_t from = view->count + vm->redirects, to = view->count;

	for (unsigned n = vm->redirects; n--;) {
		struct gpuvm_region page = dummy_region(vm);

		page.lo = vm->redirected[n];
		page.hi = page.lo + KERN_PAGE;
		while (to && region[to - 1].lo > page.lo)
			region[--from] = region[--to];
		region[--from] = page;
	}
	view->count += vm->redirects;
}

/* Marks the buffers of the job's list with a new epoch, and returns the epoch. */
static uint64_t mark_listed(struct kern_bo_list *list)
{
	uint64_t epoch = ++kern->next_id;

	for (unsigned i = 0; list && i < list->count; i++)
		list->entry[i].bo->mark = epoch;
	return epoch;
}

/* --- what comes later --- */

/* The kernel holds no user queue back until the page tables have a mapping. */
static bool is_later(const struct kern_map *map, const struct kern_view *view)
{
	return map->born > (view->everything ? view->landed : view->version);
}

/* An SDMA engine writes the page tables, in the order of the changes. A removal is written when all earlier jobs
 * of the VM have ended (Linux amdgpu_vm_update_range), so a mapping that follows a removal is valid for later jobs
 * only. Without a removal before it a mapping is written soon; the begin of a later job, or the fence of GEM_VA,
 * shows that it was. */
static void fill_later(struct kern_later *later, const struct kern_view *view, uint64_t epoch)
{
	const struct kern_vm *vm = view->space;

	for (unsigned i = 0; i < vm->count; i++) {
		const struct kern_map *map = vm->map[i];
		struct gpuvm_region *region = &later->region[later->view.count];

		if (!is_later(map, view) || !region_fill(region, vm, map, epoch))
			continue;
		if (map->cuts != view->cuts || map->born > later->landed)
			region->flags |= GPUVM_LATE;
		later->view.count++;
	}
	add_redirected(vm, &later->view, later->region);
}

/* Makes the newest look-up table of later mappings. Without memory: returns the previous one. */
static struct kern_later *look_again(struct kern_view *view)
{
	struct kern_later *before = view->later, *later;
	struct kern_vm *vm = view->space;
	size_t room = vm->redirects;

	for (unsigned i = 0; i < vm->count; i++)
		room += is_later(vm->map[i], view);
	later = malloc(sizeof(*later) + room * sizeof(later->region[0]));
	if (!later)
		return before;
	*later = (struct kern_later){
		.before = before,
		.version = vm->version,
		.landed = vm->landed,
		.view = {.region = later->region, .vm = vm->id},
	};
	fill_later(later, view, view->everything ? EVERYTHING : mark_listed(view->listed));
	view->later = later;
	return later;
}

static bool is_newest(const struct kern_view *view, const struct kern_later *later)
{
	const struct kern_vm *vm = view->space;

	return later ? later->version == vm->version && later->landed == vm->landed
		     : view->version == vm->version && !view->waits;
}

/* A mapping that existed once is valid until the job ends; mappings that surely exist take precedence over those
 * that may. */
static const struct gpuvm_region *find_in(const struct kern_later *later, uint64_t va)
{
	const struct gpuvm_region *late = NULL;

	for (; later; later = later->before) {
		const struct gpuvm_region *r = gpuvm_find(&later->view, va);

		if (r && !(r->flags & GPUVM_LATE))
			return r;
		late = late ? late : r;
	}
	return late;
}

/* gpuvm_view::later, called by the engine's threads. Repeated misses take no lock. */
static const struct gpuvm_region *find_later(const struct gpuvm_view *job_view, uint64_t va)
{
	struct kern_view *view = kern_entry(job_view, struct kern_view, view);
	struct kern_later *later = view->later;
	const struct gpuvm_region *r = find_in(later, va);

	if ((r && !(r->flags & GPUVM_LATE)) || is_newest(view, later))
		return r;
	kern_lock();
	later = view->later;
	if (!is_newest(view, later))
		later = look_again(view);
	kern_unlock();
	return find_in(later, va);
}

/* --- views --- */

/* The fence words of the device's user queues, above all that clients map. */
static struct gpuvm_region seq64_region(const struct kern_vm *vm)
{
	return (struct gpuvm_region){
		.lo = KERN_SEQ64_VA,
		.hi = KERN_SEQ64_VA + sizeof(vm->dev->seq64),
		.host = (uint8_t *)vm->dev->seq64,
		.flags = GPUVM_R | GPUVM_SYSTEM | GPUVM_SHARED | (uint32_t)GPUVM_UC << GPUVM_MTYPE_SHIFT,
	};
}

static struct kern_view *view_build(struct kern_vm *vm, struct kern_bo_list *list, bool everything)
{
	struct kern_view *view = malloc(sizeof(*view) + (vm->count + 1 + vm->redirects) * sizeof(view->region[0]));
	uint64_t epoch = everything ? EVERYTHING : mark_listed(list);

	if (!view)
		return NULL;
	*view = (struct kern_view){
		.refs = 1,
		.vm = vm->id,
		.version = vm->version,
		.list = list ? list->id : 0,
		.everything = everything,
		.landed = vm->landed,
		.cuts = vm->cuts,
		.redirects = vm->redirects,
		.space = vm,
		.listed = list,
		.view = {.region = view->region, .vm = vm->id, .dummy = dummy_region(vm), .later = find_later},
	};
	for (unsigned i = 0; i < vm->count; i++)
		if (!is_later(vm->map[i], view))
			view->view.count += region_fill(&view->region[view->view.count], vm, vm->map[i], epoch);
		else
			view->waits = true;
	if (vm->dev->userq)
		view->region[view->view.count++] = seq64_region(vm);
	add_redirected(vm, &view->view, view->region);
	return view;
}

static void cache_to_front(unsigned from, struct kern_view *view)
{
	memmove(&cache[1], &cache[0], from * sizeof(cache[0]));
	cache[0] = view;
}

static struct kern_view *view_get(struct kern_vm *vm, struct kern_bo_list *list, bool everything)
{
	uint64_t list_id = list ? list->id : 0;
	struct kern_view *view;
	unsigned i;

	for (i = 0; i < VIEWS && cache[i]; i++) {
		view = cache[i];
		if (view->vm == vm->id && view->list == list_id && view->version == vm->version &&
		    view->redirects == vm->redirects && view->everything == everything &&
		    (!everything || view->landed == vm->landed)) {
			cache_to_front(i, view);
			view->refs++;
			return view;
		}
	}
	view = view_build(vm, list, everything);
	if (!view)
		return NULL;
	if (i == VIEWS)
		kern_view_put(cache[--i]);
	cache_to_front(i, view);
	view->refs++;
	return view;
}

struct kern_view *kern_view_get(struct kern_vm *vm, struct kern_bo_list *list)
{
	return view_get(vm, list, false);
}

struct kern_view *kern_view_get_all(struct kern_vm *vm)
{
	return view_get(vm, NULL, true);
}

void kern_view_put(struct kern_view *view)
{
	struct kern_later *later, *before;

	if (!view || --view->refs)
		return;
	for (later = view->later; later; later = before) {
		before = later->before;
		free(later);
	}
	free(view);
}

void kern_view_drop_all(void)
{
	for (unsigned i = 0; i < VIEWS; i++) {
		kern_view_put(cache[i]);
		cache[i] = NULL;
	}
}
