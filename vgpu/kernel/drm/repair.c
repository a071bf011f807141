#include <amdgpu_drm.h>
#include "vgpu/kernel/drm/repair.h"
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/base/heap.h"
#include "vgpu/kernel/drm/proc.h"
#include "vgpu/kernel/drm/watch.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/memory.h"
#include "vgpu/kernel/sched/cs.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

/* Kind of object that a heap block was reached as. */
enum kind {
	UNREACHED,
	PLAIN, /* an array, whose owner handles its contents */
	INODE,
	FILE_,
	VM,
	BO,
	HANDLE,
	MAP,
	LIST,
	CTX,
	RING,
	JOB,
	SYNCOBJ,
	FENCE,
	JOB_FENCE, /* a fence that a living ring will signal */
	HOLD,
	WAIT,
	CALL,
	CS,
	WATCH,
	USERQ,
	KINDS,
};

/* Walks twice: counts down from the stored counts, to find wrong ones, and up from 0. */
static struct {
	bool up;
	struct kern_head *todo; /* reached, not yet walked */
} walk;

/* --- walking --- */

static unsigned *count_of(const struct kern_head *head)
{
	void *p = (void *)(head + 1);

	switch ((enum kind)head->kind) {
	case INODE:
		return &((struct kern_inode *)p)->holds;
	case FILE_:
		return &((struct kern_file *)p)->refs;
	case VM:
		return &((struct kern_vm *)p)->refs;
	case BO:
		return &((struct kern_bo *)p)->refs;
	case LIST:
		return &((struct kern_bo_list *)p)->refs;
	case CTX:
		return &((struct kern_ctx *)p)->refs;
	case SYNCOBJ:
		return &((struct kern_syncobj *)p)->refs;
	case USERQ:
		return &((struct kern_userq *)p)->refs;
	case FENCE:
	case JOB_FENCE:
		return &((struct kern_fence *)p)->refs;
	default:
		return NULL;
	}
}

static bool is_reached(const void *p)
{
	return p && kern_head_of(p)->kind != UNREACHED;
}

static void reach_block(void *p, enum kind kind)
{
	struct kern_head *head;

	if (!p || is_reached(p))
		return;
	head = kern_head_of(p);
	head->kind = (uint16_t)kind;
	head->next = walk.todo;
	walk.todo = head;
	if (walk.up && count_of(head))
		*count_of(head) = 0;
	if (walk.up && kind == SYNCOBJ)
		((struct kern_syncobj *)p)->watched = 0;
}

static void reach_counted(void *p, enum kind kind)
{
	if (!p)
		return;
	reach_block(p, kind);
	*count_of(kern_head_of(p)) += walk.up ? 1 : -1u;
}

static void reach_fences(struct kern_fence **f, unsigned count)
{
	reach_block(f, PLAIN);
	for (unsigned i = 0; i < count; i++)
		reach_counted(f[i], FENCE);
}

/* Forwards a list is whole at every moment; backwards it is made so. */
static void list_repair(struct kern_list *head)
{
	struct kern_list *pos = head;

	do {
		pos->next->prev = pos;
		pos = pos->next;
	} while (pos != head);
}

static void reach_list(struct kern_list *head, size_t link_at, enum kind kind)
{
	list_repair(head);
	for (struct kern_list *pos = head->next; pos != head; pos = pos->next)
		reach_block((char *)pos - link_at, kind);
}

static void walk_inode(void *p)
{
	static const enum kind kind[] = {
		[KERN_INODE_FILE] = FILE_,
		[KERN_INODE_DMABUF] = BO,
		[KERN_INODE_SYNCOBJ] = SYNCOBJ,
		[KERN_INODE_SYNC_FILE] = FENCE,
	};
	struct kern_inode *inode = p;

	reach_counted(inode->object, kind[inode->kind]);
}

static void walk_idr(struct kern_idr *idr, enum kind kind)
{
	idr->count = 0;
	idr->hint = 1;
	reach_block(idr->slot, PLAIN);
	for (uint32_t i = 0; i < idr->room; i++) {
		if (!idr->slot[i])
			continue;
		idr->count++;
		if (kind == HANDLE)
			reach_block(idr->slot[i], kind);
		else
			reach_counted(idr->slot[i], kind);
	}
}

static void walk_file(void *p)
{
	struct kern_file *file = p;

	walk_idr(&file->handles, HANDLE);
	walk_idr(&file->contexts, CTX);
	walk_idr(&file->lists, LIST);
	walk_idr(&file->syncobjs, SYNCOBJ);
	walk_idr(&file->userqs, USERQ);
	reach_counted(file->vm, VM);
	reach_counted(file->recent, LIST);
}

/* A change of the array that was not finished leaves one twice. */
static void walk_vm(void *p)
{
	struct kern_vm *vm = p;
	unsigned kept = 0;

	reach_fences(vm->resv.fence, vm->resv.count);
	reach_block(vm->map, PLAIN);
	reach_block(vm->redirected, PLAIN);
	vm->delayed = 0;
	for (unsigned i = 0; i < vm->count; i++) {
		struct kern_map *map = vm->map[i];

		if (is_reached(map))
			continue;
		reach_block(map, MAP);
		vm->delayed += map->delayed;
		vm->map[kept++] = map;
	}
	vm->count = kept;
}

static void walk_bo(void *p)
{
	struct kern_bo *bo = p;

	reach_fences(bo->resv.fence, bo->resv.count);
	reach_counted(bo->foreign, BO);
	reach_counted(bo->vm, VM);
	reach_block(bo->meta, PLAIN);
}

static void walk_handle(void *p)
{
	reach_counted(((struct kern_handle *)p)->bo, BO);
}

static void walk_bo_list(void *p)
{
	struct kern_bo_list *list = p;

	reach_fences(list->resv.fence, list->resv.count);
	reach_block(list->entry, PLAIN);
	reach_block(list->handles, PLAIN);
	for (unsigned i = 0; i < list->count; i++)
		reach_counted(list->entry[i].bo, BO);
}

static void each_entity(struct kern_ctx *ctx, void (*visit)(struct kern_entity *entity))
{
	for (unsigned i = 0; i < KERN_IPS * KERN_IP_ENTITIES; i++)
		if (ctx->entity[i / KERN_IP_ENTITIES][i % KERN_IP_ENTITIES].ctx)
			visit(&ctx->entity[i / KERN_IP_ENTITIES][i % KERN_IP_ENTITIES]);
}

static void walk_entity(struct kern_entity *entity)
{
	for (unsigned i = 0; i < KERN_SCHED_JOBS; i++)
		reach_counted(entity->fence[i], FENCE);
}

static void walk_ctx(void *p)
{
	each_entity(p, walk_entity);
}

static void walk_ring(void *p)
{
	reach_list(&((struct kern_ring *)p)->jobs, offsetof(struct kern_job, link), JOB);
}

static void walk_job(void *p)
{
	struct kern_job *job = p;

	reach_fences(job->dep, job->deps);
	reach_block(job->after, PLAIN);
	reach_counted(job->ctx, CTX);
	reach_counted(job->vm, VM);
	reach_counted(job->list, LIST);
	reach_counted(job->finished, FENCE);
	reach_counted(job->user_fence, BO);
}

/* Points ascend: what does not is there twice. */
static void walk_syncobj(void *p)
{
	struct kern_syncobj *s = p;
	unsigned kept = 0;

	reach_counted(s->fence, FENCE);
	reach_block(s->point, PLAIN);
	for (unsigned i = 0; i < s->points; i++)
		if (!kept || s->point[i].value > s->point[kept - 1].value)
			s->point[kept++] = s->point[i];
	s->points = kept;
	for (unsigned i = 0; i < s->points; i++)
		reach_counted(s->point[i].fence, FENCE);
}

static void walk_fence(void *p)
{
	struct kern_fence *f = p;

	reach_counted(f->scheduled, FENCE);
	reach_counted(f->part, FENCE);
	reach_counted(f->prev, FENCE);
}

static void walk_hold(void *p)
{
	struct kern_hold *hold = p;

	reach_counted(hold->inode, INODE);
	reach_counted(hold->bo, BO);
}

static void walk_wait(void *p)
{
	struct kern_wait *w = p;

	for (unsigned i = 0; i < w->fences; i++)
		reach_counted(w->waker[i].fence, FENCE);
}

static void walk_call(void *p)
{
	struct kern_call *call = p;

	reach_counted(call->file, FILE_);
	reach_counted(call->bo, BO);
	reach_counted(call->list, LIST);
	reach_counted(call->syncobj, SYNCOBJ);
	reach_counted(call->into, SYNCOBJ);
	reach_counted(call->userq, USERQ);
	reach_block(call->cs, CS);
	reach_block(call->waiting, PLAIN);
	for (uint32_t i = 0; call->waiting && i < call->waiting_count; i++) {
		reach_counted(call->waiting[i].syncobj, SYNCOBJ);
		reach_counted(call->waiting[i].fence, FENCE);
	}
}

static void walk_cs(void *p)
{
	struct kern_cs *cs = p;

	reach_fences(cs->dep, cs->deps);
	reach_counted(cs->ctx, CTX);
	reach_counted(cs->list, LIST);
	reach_counted(cs->user_fence, BO);
	reach_block(cs->post, PLAIN);
	for (unsigned i = 0; i < cs->posts; i++)
		reach_counted(cs->post[i].syncobj, SYNCOBJ);
	for (unsigned i = 0; i < cs->gang; i++)
		reach_block(cs->job[i], JOB);
}

static void walk_watch(void *p)
{
	struct kern_watch *w = p;

	reach_counted(w->syncobj, SYNCOBJ);
	if (walk.up && w->syncobj)
		w->syncobj->watched++;
	reach_counted(w->fence, FENCE);
}

static void walk_userq(void *p)
{
	struct kern_userq *q = p;

	reach_fences(q->fence, q->fences);
	reach_counted(q->vm, VM);
	reach_counted(q->doorbell, BO);
}

static void (*const walk_kind[KINDS])(void *p) = {
	[INODE] = walk_inode,   [FILE_] = walk_file,      [VM] = walk_vm,       [BO] = walk_bo,
	[HANDLE] = walk_handle, [LIST] = walk_bo_list,    [CTX] = walk_ctx,     [RING] = walk_ring,
	[JOB] = walk_job,       [SYNCOBJ] = walk_syncobj, [FENCE] = walk_fence, [HOLD] = walk_hold,
	[WAIT] = walk_wait,     [CALL] = walk_call,       [CS] = walk_cs,       [WATCH] = walk_watch,
	[USERQ] = walk_userq,
};

static void reach_proc(struct kern_proc *proc)
{
	reach_list(&proc->holds, offsetof(struct kern_hold, link), HOLD);
	reach_list(&proc->waits, offsetof(struct kern_wait, link), WAIT);
	reach_list(&proc->calls, offsetof(struct kern_call, link), CALL);
	reach_list(&proc->freeing, offsetof(struct kern_bo, zombie), BO);
	reach_list(&proc->watches, offsetof(struct kern_watch, link), WATCH);
	list_repair(&proc->userqs);
	for (struct kern_list *pos = proc->userqs.next; pos != &proc->userqs; pos = pos->next)
		reach_counted(kern_entry(pos, struct kern_userq, link), USERQ);
	reach_block(proc->rings, PLAIN);
	for (unsigned i = 0; proc->rings && i < kern->devices * KERN_IPS * KERN_HW_RINGS; i++)
		reach_block(proc->rings[i], RING);
}

/* Reaches inodes that are in messages only. */
static void reach_flying(struct kern_list *head)
{
	for (struct kern_list *pos = head->next; pos != head; pos = pos->next) {
		struct kern_inode *inode = kern_entry(pos, struct kern_inode, hash);

		for (unsigned i = 0; i < inode->flying; i++)
			reach_counted(inode, INODE);
	}
}

static void walk_all(bool up)
{
	walk.up = up;
	walk.todo = NULL;
	for (struct kern_head *head = kern_head_first(); head; head = kern_head_after(head))
		head->kind = UNREACHED;
	for (unsigned i = 0; i < KERN_PROCS; i++)
		if (kern->proc[i].serial)
			reach_proc(&kern->proc[i]);
	reach_list(&kern->zombies, offsetof(struct kern_bo, zombie), BO);
	reach_list(&kern->phys.blocks, offsetof(struct kern_block, link), PLAIN);
	for (unsigned i = 0; i < KERN_HASH; i++)
		reach_flying(&kern->inode_hash[i]);
	while (walk.todo) {
		struct kern_head *head = walk.todo;

		walk.todo = head->next;
		if (walk_kind[head->kind])
			walk_kind[head->kind](head + 1);
	}
}

/* --- what follows from what was reached --- */

static void lists_init(void)
{
	kern_list_init(&kern->userptrs);
	kern_waitq_init(&kern->released);
	atomic_store(&kern->userptr_count, 0);
	for (unsigned i = 0; i < KERN_HASH; i++) {
		kern_list_init(&kern->inode_hash[i]);
		kern_list_init(&kern->mmap_hash[i]);
	}
}

/* Buffers that were not reached leave it; of the others none was out of it for longer than a call. */
static void lru_repair(struct kern_device *dev)
{
	struct kern_list *pos, *tmp;

	list_repair(&dev->lru);
	kern_list_each(pos, tmp, &dev->lru) {
		struct kern_bo *bo = kern_entry(pos, struct kern_bo, lru);

		if (!is_reached(bo) || bo->heap != AMDGPU_GEM_DOMAIN_VRAM)
			kern_list_del(pos);
		else
			bo->mark = UINT64_MAX; /* it is in */
	}
}

static void device_repair(struct kern_device *dev)
{
	lru_repair(dev);
	kern_waitq_init(&dev->notified);
	dev->vram_used_B = dev->visible_used_B = dev->gtt_used_B = 0;
	for (unsigned i = 0; i < KERN_IPS * KERN_HW_RINGS; i++)
		dev->hw[i / KERN_HW_RINGS][i % KERN_HW_RINGS].score = 0;
	memset(dev->users, 0, sizeof(dev->users));
	for (unsigned i = 0; i < KERN_VMIDS; i++)
		if (!is_reached(dev->vmid[i].vm))
			dev->vmid[i].vm = NULL;
	for (unsigned i = 0; i < KERN_SLOTS; i++)
		if (!is_reached(dev->slot[i]))
			dev->slot[i] = NULL;
	for (unsigned i = 0; i < KERN_GWS; i++)
		if (!is_reached(dev->gws[i]))
			dev->gws[i] = NULL;
	if (!is_reached(dev->pstate_owner))
		dev->pstate_owner = NULL;
	if (!is_reached(dev->master))
		dev->master = NULL;
}

/* First all are empty, then they are filled. */
static void empty_lists(struct kern_head *head)
{
	void *p = head + 1;

	if (head->kind == BO) {
		kern_list_init(&((struct kern_bo *)p)->handles);
		kern_list_init(&((struct kern_bo *)p)->lists);
		kern_list_init(&((struct kern_bo *)p)->imports);
		kern_list_init(&((struct kern_bo *)p)->import_link);
		kern_list_init(&((struct kern_bo *)p)->hash);
		kern_list_init(&((struct kern_bo *)p)->user_link);
	} else if (head->kind == HANDLE) {
		kern_list_init(&((struct kern_handle *)p)->maps);
	} else if (head->kind == VM) {
		kern_waitq_init(&((struct kern_vm *)p)->unlocked);
		((struct kern_vm *)p)->running = 0;
	} else if (head->kind == USERQ) {
		kern_waitq_init(&((struct kern_userq *)p)->ended);
	} else if (head->kind == SYNCOBJ) {
		kern_waitq_init(&((struct kern_syncobj *)p)->waitq);
	} else if (head->kind == FENCE) {
		kern_waitq_init(&((struct kern_fence *)p)->waitq);
		kern_list_init(&((struct kern_fence *)p)->on_part.link);
	}
}

static void entity_count(struct kern_entity *entity)
{
	entity->queued = 0;
	if (entity->counted)
		entity->ctx->dev->users[entity->ctx->partition]++;
	if (entity->hw >= 0)
		entity->ctx->dev->hw[entity->ip][entity->hw].score++;
}

static void account_memory(struct kern_bo *bo)
{
	struct kern_device *dev = bo->dev;

	if (bo->heap == AMDGPU_GEM_DOMAIN_VRAM) {
		dev->vram_used_B += bo->size_B;
		dev->visible_used_B += bo->visible ? bo->size_B : 0;
	} else if (bo->heap == AMDGPU_GEM_DOMAIN_GTT) {
		dev->gtt_used_B += bo->size_B;
	}
	if (bo->heap != AMDGPU_GEM_DOMAIN_VRAM)
		kern_list_init(&bo->lru);
	else if (bo->mark != UINT64_MAX)
		kern_list_add_tail(&dev->lru, &bo->lru);
	bo->mark = 0;
}

static void relink_bo(struct kern_bo *bo)
{
	account_memory(bo);
	if (bo->block)
		bo->block->used = true;
	if (!is_reached(bo->dmabuf))
		bo->dmabuf = NULL;
	if (!bo->refs)
		return;
	kern_list_add(&kern->mmap_hash[bo->fake / KERN_PAGE % KERN_HASH], &bo->hash);
	if (bo->foreign)
		kern_list_add_tail(&bo->foreign->imports, &bo->import_link);
	if (!kern_bo_is_userptr(bo))
		return;
	kern_list_add(&kern->userptrs, &bo->user_link);
	atomic_fetch_add(&kern->userptr_count, 1);
}

static void relink_bo_list(struct kern_bo_list *list)
{
	list->gws = NULL;
	for (unsigned i = 0; i < list->count; i++) {
		if (list->entry[i].bo->preferred == AMDGPU_GEM_DOMAIN_GWS)
			list->gws = list->entry[i].bo;
		list->entry[i].list = list;
		kern_list_add_tail(&list->entry[i].bo->lists, &list->entry[i].bo_link);
	}
}

static void relink_vm(struct kern_vm *vm)
{
	vm->version++;
	for (unsigned i = 0; i < vm->count; i++) {
		kern_list_init(&vm->map[i]->link);
		if (vm->map[i]->handle)
			kern_list_add_tail(&vm->map[i]->handle->maps, &vm->map[i]->link);
	}
}

static void relink_list(struct kern_head *head)
{
	void *p = head + 1;

	if (head->kind == BO) {
		relink_bo(p);
	} else if (head->kind == HANDLE) {
		kern_list_add_tail(&((struct kern_handle *)p)->bo->handles, &((struct kern_handle *)p)->bo_link);
	} else if (head->kind == LIST) {
		relink_bo_list(p);
	} else if (head->kind == VM) {
		relink_vm(p);
	} else if (head->kind == INODE) {
		kern_list_add(&kern->inode_hash[((struct kern_inode *)p)->ino % KERN_HASH],
			      &((struct kern_inode *)p)->hash);
	} else if (head->kind == CTX) {
		each_entity(p, entity_count);
	} else if (head->kind == USERQ) {
		for (unsigned i = 0; i < ((struct kern_userq *)p)->fences; i++)
			kern_head_of(((struct kern_userq *)p)->fence[i])->kind = JOB_FENCE;
	} else if (head->kind == JOB) {
		kern_list_init(&((struct kern_job *)p)->waker.link);
		kern_head_of(((struct kern_job *)p)->finished)->kind = JOB_FENCE;
		kern_head_of(((struct kern_job *)p)->finished->scheduled)->kind = JOB_FENCE;
	}
}

/* --- jobs and sleepers --- */

static void count_jobs(struct kern_ring *ring)
{
	ring->on_hw = 0;
	for (struct kern_list *pos = ring->jobs.next; pos != &ring->jobs; pos = pos->next) {
		struct kern_job *job = kern_entry(pos, struct kern_job, link);

		ring->on_hw += job->on_hw;
		job->entity->queued++;
		job->vm->running += job->running;
		ring->dev->hw[ring->ip][ring->index].score++;
	}
}

static void wake_word(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	kern_futex_wake(word);
}

static void wake_sleeper(struct kern_wait *w)
{
	for (unsigned i = 0; i < w->count; i++)
		kern_list_init(&w->waker[i].link);
	wake_word(&w->word);
}

/* Wakes all sleepers, because the queues of sleepers were lost: each checks its condition again. Signals fences of
 * jobs that are lost. */
static void wake_all(struct kern_head *head)
{
	struct kern_fence *f = (void *)(head + 1);

	if (!head->in_use) /* since a moment ago: a timeline's part */
		return;
	if (head->kind == RING) {
		count_jobs((void *)(head + 1));
		wake_word(&((struct kern_ring *)(head + 1))->word);
	} else if (head->kind == WAIT) {
		wake_sleeper((void *)(head + 1));
	} else if (head->kind == FENCE && f->part) {
		kern_fence_look_again(f);
	} else if (head->kind == FENCE) {
		kern_fence_signal(f, -ESRCH);
	}
}

/* --- all of it --- */

static void count_live(void)
{
	static const uint8_t live_kind[KINDS] = {
		[BO] = 1 + KERN_BOS,           [MAP] = 1 + KERN_MAPPINGS,  [CTX] = 1 + KERN_CONTEXTS,
		[FILE_] = 1 + KERN_FILES,      [FENCE] = 1 + KERN_FENCES,  [JOB_FENCE] = 1 + KERN_FENCES,
		[SYNCOBJ] = 1 + KERN_SYNCOBJS, [LIST] = 1 + KERN_BO_LISTS, [JOB] = 1 + KERN_JOBS,
	};

	memset(kern->live, 0, sizeof(kern->live));
	for (struct kern_head *head = kern_head_first(); head; head = kern_head_after(head))
		if (live_kind[head->kind])
			kern->live[live_kind[head->kind] - 1]++;
	kern->procs = 0;
	for (unsigned i = 0; i < KERN_PROCS; i++)
		kern->procs += kern->proc[i].serial != 0;
}

static void each_block(void (*visit)(struct kern_head *head))
{
	for (struct kern_head *head = kern_head_first(); head; head = kern_head_after(head))
		visit(head);
}

static void keep_reached(struct kern_head *head)
{
	head->in_use = head->kind != UNREACHED;
}

static unsigned wrong_counts(void)
{
	unsigned wrong = 0;

	for (struct kern_head *head = kern_head_first(); head; head = kern_head_after(head)) {
		wrong += count_of(head) && *count_of(head);
		wrong += head->in_use && head->kind == UNREACHED;
	}
	return wrong;
}

/* Whether a living process has an object that only its stack names: no count can be verified before it wakes. */
static bool someone_holds_unnamed(void)
{
	for (unsigned i = 0; i < KERN_PROCS; i++)
		if (kern->proc[i].serial && kern->proc[i].unnamed && kern_proc_alive(kern->proc[i].serial))
			return true;
	return false;
}

unsigned kern_repair(void)
{
	struct kern_list *blocks = &kern->phys.blocks;
	unsigned wrong;

	if (someone_holds_unnamed())
		return 0;
	kern->repair_due = false;
	walk_all(false);
	wrong = wrong_counts();
	walk_all(true);
	each_block(keep_reached);
	kern_heap_relist();
	for (struct kern_list *pos = blocks->next; pos != blocks; pos = pos->next)
		kern_entry(pos, struct kern_block, link)->used = false;
	lists_init();
	for (unsigned i = 0; i < kern->devices; i++)
		device_repair(&kern->device[i]);
	each_block(empty_lists);
	each_block(relink_list);
	kern_phys_repair();
	count_live();
	each_block(wake_all);
	kern_bo_bury();
	vgpu_log("the state was made whole: %u counts were wrong", wrong);
	return wrong;
}
