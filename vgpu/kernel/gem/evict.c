/* Eviction and return of buffers. A card also moves buffers that jobs use, after those jobs; here only idle ones
 * move, because a job's view is valid for its whole life. A buffer's bytes stay at their place in the physical
 * memory file, whatever its heap, so CPU mappings stay valid. */
#include "vgpu/kernel/gem/evict.h"
#include "vgpu/kernel/base/inject.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/gem/memory.h"
#include "vgpu/kernel/sync/fence.h"

/* Buffers that stay while a job's buffers are placed: those of its list, marked with `epoch`, and its VM's own. */
struct keep {
	const struct kern_bo *bo; /* buffer that room is made for; it may be on the list itself */
	const struct kern_vm *vm;
	uint64_t epoch;
};

/* --- who goes first --- */

uint64_t kern_bo_last_use(const struct kern_bo *bo)
{
	uint64_t stamp = bo->used_late > bo->used ? bo->used_late : bo->used;

	if (bo->vm && bo->vm->used > stamp)
		stamp = bo->vm->used;
	for (struct kern_list *pos = bo->lists.next; pos != &bo->lists; pos = pos->next) {
		const struct kern_bo_list *list = kern_entry(pos, struct kern_list_entry, bo_link)->list;

		stamp = list->used > stamp ? list->used : stamp;
	}
	return stamp;
}

/* Into its place: behind all that were used before. */
static void lru_insert(struct kern_bo *bo)
{
	struct kern_list *head = &bo->dev->lru, *at = head->prev;

	while (at != head && kern_entry(at, struct kern_bo, lru)->used > bo->used)
		at = at->prev;
	kern_list_add(at, &bo->lru);
}

static bool may_go(struct kern_bo *bo, const struct keep *keep)
{
	if (bo == keep->bo || (keep->epoch && bo->mark == keep->epoch) || (keep->vm && bo->vm == keep->vm))
		return false;
	return !kern_bo_fences(bo, kern_any_fence, NULL);
}

/* A recorded stamp is never later than the true one, so the first buffer whose two stamps agree is the least
 * recently used. */
static struct kern_bo *find_victim(struct kern_device *dev, bool visible, const struct keep *keep)
{
	struct kern_list *pos = dev->lru.next;

	while (pos != &dev->lru) {
		struct kern_bo *bo = kern_entry(pos, struct kern_bo, lru);
		uint64_t stamp = kern_bo_last_use(bo);

		if (stamp != bo->used) {
			struct kern_list *before = pos->prev;

			bo->used = stamp;
			kern_list_del(pos);
			lru_insert(bo);
			pos = before->next;
			continue;
		}
		if ((!visible || bo->visible) && may_go(bo, keep))
			return bo;
		pos = pos->next;
	}
	return NULL;
}

/* --- going --- */

bool kern_bo_displaced(const struct kern_bo *bo)
{
	/* A buffer that other devices have imported stays where they access it. */
	return bo->block && bo->preferred == AMDGPU_GEM_DOMAIN_VRAM && bo->heap != AMDGPU_GEM_DOMAIN_VRAM &&
	       kern_list_empty(&bo->imports);
}

static void new_version(struct kern_bo *bo)
{
	for (struct kern_list *pos = bo->handles.next; pos != &bo->handles; pos = pos->next)
		kern_entry(pos, struct kern_handle, bo_link)->file->vm->version++;
}

void kern_bo_moved(struct kern_bo *bo)
{
	bo->dev->bytes_moved += bo->size_B;
	new_version(bo);
	for (struct kern_list *pos = bo->imports.next; pos != &bo->imports; pos = pos->next)
		new_version(kern_entry(pos, struct kern_bo, import_link));
}

/* Marks all lists and VMs with bo as displaced: the next job that uses them must bring it back. */
static void mark_users_displaced(struct kern_bo *bo)
{
	if (bo->vm)
		bo->vm->displaced = true;
	for (struct kern_list *pos = bo->lists.next; pos != &bo->lists; pos = pos->next)
		kern_entry(pos, struct kern_list_entry, bo_link)->list->displaced = true;
}

static int evict_bo(struct kern_bo *bo)
{
	bool discard = bo->flags & AMDGPU_GEM_CREATE_DISCARDABLE;
	int r = kern_heap_charge(bo, discard ? AMDGPU_GEM_DOMAIN_CPU : AMDGPU_GEM_DOMAIN_GTT, false);

	if (r)
		return r;
	if (discard)
		kern_block_discard(bo->block);
	bo->dev->evictions++;
	kern_bo_moved(bo);
	mark_users_displaced(bo);
	vgpu_log("BO %u: evicted, %llu bytes", bo->id, (unsigned long long)bo->size_B);
	return 0;
}

static int make_room(const struct kern_bo *bo, bool need_visible, const struct keep *keep)
{
	struct kern_device *dev = bo->dev;

	if (bo->size_B > (need_visible ? dev->visible_B : dev->vram_B))
		return -ENOMEM;
	while (!kern_vram_fits(bo, need_visible)) {
		struct kern_bo *victim = find_victim(dev, need_visible, keep);

		if (!victim || evict_bo(victim))
			return -ENOMEM;
	}
	return 0;
}

int kern_evict_for(const struct kern_bo *bo, bool need_visible)
{
	return make_room(bo, need_visible, &(struct keep){.bo = bo});
}

void kern_evict_random(struct kern_device *dev)
{
	const struct keep nothing = {0};
	struct kern_list *pos;
	uint64_t count = 0;

	for (pos = dev->lru.next; pos != &dev->lru; pos = pos->next)
		count++;
	if (!count)
		return;
	pos = dev->lru.next;
	for (uint64_t skip = kern_inject_draw() % count; skip; skip--)
		pos = pos->next;
	for (uint64_t left = count; left; left--, pos = pos->next) {
		if (pos == &dev->lru)
			pos = pos->next;
		if (may_go(kern_entry(pos, struct kern_bo, lru), &nothing)) {
			evict_bo(kern_entry(pos, struct kern_bo, lru));
			return;
		}
	}
}

/* --- coming back --- */

/* Better places are wishes; -ENOMEM only where it has none. *left: it is still displaced. */
static int bring_back(struct kern_bo *bo, struct keep *keep, bool *left)
{
	bool need_visible = bo->flags & AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED;

	if (!kern_bo_displaced(bo))
		return 0;
	keep->bo = bo;
	if (!make_room(bo, need_visible, keep) && !kern_heap_charge(bo, AMDGPU_GEM_DOMAIN_VRAM, need_visible)) {
		kern_bo_moved(bo);
		return 0;
	}
	*left = true;
	return bo->heap & bo->allowed ? 0 : -ENOMEM;
}

int kern_evict_restore_all(struct kern_vm *vm)
{
	struct keep keep = {.vm = vm};
	bool left = false;
	int r = 0;

	for (unsigned i = 0; !r && i < vm->count; i++)
		if (vm->map[i]->handle)
			r = bring_back(vm->map[i]->handle->bo, &keep, &left);
	return r;
}

int kern_evict_restore(struct kern_vm *vm, struct kern_bo_list *list)
{
	struct keep keep = {.vm = vm, .epoch = ++kern->next_id};
	bool own = vm->displaced, listed = list && list->displaced, left = false;
	int r = 0;

	if (!own && !listed)
		return 0;
	for (unsigned i = 0; list && i < list->count; i++)
		list->entry[i].bo->mark = keep.epoch;
	for (unsigned i = 0; !r && listed && i < list->count; i++)
		r = bring_back(list->entry[i].bo, &keep, &left);
	if (listed)
		list->displaced = r || left;
	left = false;
	for (unsigned i = 0; !r && own && i < vm->count; i++)
		if (vm->map[i]->handle && vm->map[i]->handle->bo->vm == vm)
			r = bring_back(vm->map[i]->handle->bo, &keep, &left);
	if (own)
		vm->displaced = r || left;
	return r;
}
