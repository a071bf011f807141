/* The second half of a CS: residency, synchronisation, publication. */
#include "vgpu/kernel/base/inject.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/gem/evict.h"
#include "vgpu/kernel/gem/gws.h"
#include "vgpu/kernel/gem/notifier.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/sched/cs.h"
#include "vgpu/kernel/sched/ctx.h"
#include "vgpu/kernel/sched/ib_hash.h"
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

static int find_list(struct kern_cs *cs)
{
	struct kern_bo_list *list;

	if (!cs->list_handle)
		return 0;
	if (cs->list)
		return -EINVAL;
	list = kern_idr_find(&cs->file->lists, cs->list_handle);
	if (!list)
		return -ENOENT;
	cs->list = kern_bo_list_get(list);
	return 0;
}

/* Linux looks up all their pages at each CS (amdgpu_ttm_tt_get_user_pages(), hmm_range_fault()). */
static int check_userptrs(const struct kern_bo_list *list)
{
	int r = 0;

	for (unsigned i = 0, left = list ? list->userptrs : 0; left && !r; i++)
		if (kern_bo_is_userptr(list->entry[i].bo)) {
			r = kern_userptr_check(list->entry[i].bo);
			kern->userptr_pages += list->entry[i].bo->size_B / KERN_PAGE;
			left--;
		}
	return r;
}

/* Validation of imports from other devices, which is when exporters move. */
static void map_imports(struct kern_bo_list *list)
{
	for (unsigned i = 0; list && list->unmapped && i < list->count; i++)
		if (list->entry[i].bo->unmapped)
			kern_prime_map(list->entry[i].bo);
	if (list)
		list->unmapped = false;
}

/* AMDGPU_SYNC_NE_OWNER: skips jobs of this VM. A VM belongs to one device, so amdgpu_sync_same_dev() holds for its
 * own jobs alone. */
static int depend_on_others(struct kern_fence *f, void *arg)
{
	struct kern_cs *cs = arg;

	return f->vm == cs->file->vm->id ? 0 : kern_cs_depend(cs, f);
}

static int sync_bo(struct kern_cs *cs, struct kern_bo *bo)
{
	return bo->flags & AMDGPU_GEM_CREATE_EXPLICIT_SYNC ? 0 : kern_bo_fences(bo, depend_on_others, cs);
}

/* Linux amdgpu_cs_sync_rings(): the job waits for other VMs' jobs, reading or writing, in the reservation object
 * of each BO without EXPLICIT_SYNC that it locks: the BOs of the list, and the user fence's. The flag belongs to
 * the BO, so an import of another device's BO never has it. */
static int sync_implicitly(struct kern_cs *cs)
{
	int r = cs->user_fence ? sync_bo(cs, cs->user_fence) : 0;
	uint64_t epoch = ++kern->next_id;

	for (unsigned i = 0, left = cs->list ? cs->list->implicit : 0; left && !r; i++) {
		struct kern_bo *bo = cs->list->entry[i].bo;

		left -= !(bo->flags & AMDGPU_GEM_CREATE_EXPLICIT_SYNC);
		if (bo->mark != epoch) /* a list may name it many times */
			r = sync_bo(cs, bo);
		bo->mark = epoch;
	}
	return r;
}

/* Job n waits here for job n-32, with the page tables locked: the whole process stalls. */
static int wait_for_room(struct kern_cs *cs, struct kern_entity *entity)
{
	struct kern_fence *f;
	int r = 0;

	while (!r && (f = entity->fence[entity->seq % KERN_SCHED_JOBS]) && !f->signalled) {
		kern_fence_get(f);
		kern_cs_hold(cs);
		r = kern_fence_wait(&f, 1, true, INT64_MAX, NULL);
		kern_fence_put(f);
	}
	kern_cs_release(cs);
	return r;
}

static int give_dependencies(struct kern_cs *cs)
{
	struct kern_job *leader = cs->job[cs->leader];
	int r = 0;

	for (unsigned i = 0; !r && i < cs->gang; i++) {
		for (unsigned d = 0; !r && d < cs->deps; d++)
			r = kern_job_depend(cs->job[i], cs->dep[d]);
		if (!r && cs->job[i] != leader) {
			cs->job[i]->pipeline_sync = false; /* Linux amdgpu_cs_sync_rings */
			r = kern_job_depend(leader, cs->job[i]->finished->scheduled);
		}
	}
	return r;
}

/* Takes a view of the VM: a buffer closed later stays valid for this job. */
static int give_views(struct kern_cs *cs)
{
	for (unsigned i = 0; i < cs->gang; i++) {
		cs->job[i]->view = kern_view_get(cs->file->vm, cs->list);
		if (!cs->job[i]->view)
			return -ENOMEM;
		cs->job[i]->vm_version = cs->job[i]->view->version;
		if (!cs->list)
			continue;
		cs->job[i]->list = kern_bo_list_get(cs->list);
		kern_gws_give(cs->job[i], cs->list);
	}
	return 0;
}

/* Reserves room for the fence in each place that will hold it, so that publishing cannot fail half way. */
static int reserve_fences(struct kern_cs *cs)
{
	int r = kern_resv_reserve(&cs->file->vm->resv);

	for (unsigned i = 1; !r && i < cs->gang; i++) /* each job of a gang has a fence context of its own */
		r = kern_reserve(&cs->file->vm->resv.fence, cs->file->vm->resv.count + i, &cs->file->vm->resv.room,
				 sizeof(struct kern_fence *));
	if (!r && cs->list)
		r = kern_resv_reserve(&cs->list->resv);
	for (unsigned i = 1; !r && cs->list && i < cs->gang; i++)
		r = kern_reserve(&cs->list->resv.fence, cs->list->resv.count + i, &cs->list->resv.room,
				 sizeof(struct kern_fence *));
	if (!r && cs->user_fence)
		r = kern_resv_reserve(&cs->user_fence->resv);
	return r;
}

/* Makes everything that the job may reach resident: what may sleep first, then imports, which is when exporters
 * move. */
static int validate_list(struct kern_cs *cs)
{
	int r = kern_gws_place(cs->list);

	if (r)
		return r;
	map_imports(cs->list);
	return kern_evict_restore(cs->file->vm, cs->list);
}

static void stamp_use(struct kern_cs *cs)
{
	uint64_t now = ++kern->next_id;

	cs->file->vm->used = now;
	if (cs->list)
		cs->list->used = now;
	if (cs->user_fence)
		cs->user_fence->used_late = now;
}

static void publish_posts(struct kern_cs *cs, struct kern_fence *f)
{
	for (unsigned i = 0; i < cs->posts; i++)
		kern_syncobj_attach(cs->post[i].syncobj, cs->post[i].point, f);
}

static uint64_t publish_jobs(struct kern_cs *cs, struct kern_ring **ring)
{
	struct kern_fence *leader = kern_fence_get(cs->job[cs->leader]->finished);
	uint64_t seq = 0;

	for (unsigned i = 0; i < cs->gang; i++) {
		struct kern_job *job = cs->job[i];
		uint64_t job_seq;

		kern_resv_add(&cs->file->vm->resv, job->finished);
		if (cs->list)
			kern_resv_add(&cs->list->resv, job->finished);
		if (i == cs->leader && cs->user_fence) {
			job->user_fence = kern_bo_get(cs->user_fence);
			job->user_fence_offset = cs->user_fence_offset;
			kern_resv_add(&cs->user_fence->resv, leader);
		}
		kern_ib_hash(job);
		cs->job[i] = NULL; /* the ring owns it now */
		job_seq = kern_sched_push(job, ring[i]);
		seq = i == cs->leader ? job_seq : seq;
	}
	publish_posts(cs, leader);
	kern_fence_put(leader);
	return seq;
}

static int submit_locked(struct kern_cs *cs, uint64_t *handle)
{
	struct kern_ring *ring[KERN_GANG];
	int r = check_userptrs(cs->list);

	kern_vm_flush_delayed(cs->file->vm);
	if (kern_inject_event(KERN_EVICT))
		kern_evict_random(cs->file->dev);
	if (kern_inject_event(KERN_RESET))
		kern_reset_device(cs->file->dev, NULL);
	if (!r)
		r = validate_list(cs);
	for (unsigned i = 0; !r && i < cs->gang; i++)
		r = wait_for_room(cs, cs->entity[i]);
	if (!r)
		r = sync_implicitly(cs);
	if (!r)
		r = give_dependencies(cs);
	if (!r)
		r = reserve_fences(cs);
	for (unsigned i = 0; !r && i < cs->gang; i++)
		r = kern_sched_prepare(cs->entity[i], &ring[i]);
	if (!r && cs->ctx->generation != cs->file->dev->generation)
		r = -ECANCELED;
	if (!r)
		r = kern_notifier_pass(cs->file->dev);
	if (!r) /* again: others may have run while this one waited */
		r = validate_list(cs);
	if (!r)
		r = give_views(cs);
	if (r)
		return r;
	stamp_use(cs);
	*handle = publish_jobs(cs, ring);
	return 0;
}

int kern_cs_submit(struct kern_cs *cs, uint64_t *handle)
{
	int r = find_list(cs);

	if (!r)
		r = kern_cs_lock(cs);
	if (r)
		return r;
	r = submit_locked(cs, handle);
	kern_vm_unlock(cs->file->vm);
	return r;
}
