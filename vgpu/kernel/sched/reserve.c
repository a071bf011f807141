/* The reservations of listed BOs, which a CS holds from its validation to its end. The hold has an effect only
 * while the CS sleeps, on the job that is 32 before its own: a CS of another VM that lists one of those BOs waits
 * (Linux amdgpu_cs_parser_bos(), amdgpu_ctx_wait_prev_fence()). */
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/sched/cs.h"

void kern_cs_hold(struct kern_cs *cs)
{
	if (!cs->list || cs->holds)
		return;
	cs->list->holder = cs->file->vm->id;
	cs->holds = true;
	kern->holders++;
}

void kern_cs_release(struct kern_cs *cs)
{
	if (!cs->holds)
		return;
	cs->holds = false;
	cs->list->holder = 0;
	kern->holders--;
	kern_waitq_wake(&kern->released);
}

static bool listed_by_holder(const struct kern_bo *bo, uint64_t vm)
{
	for (const struct kern_list *pos = bo->lists.next; pos != &bo->lists; pos = pos->next) {
		uint64_t holder = kern_entry(pos, struct kern_list_entry, bo_link)->list->holder;

		if (holder && holder != vm)
			return true;
	}
	return false;
}

/* An exported BO and its imports are one reservation. */
static bool is_held(const struct kern_bo *bo, uint64_t vm)
{
	const struct kern_bo *exported = bo->foreign ? bo->foreign : bo;

	if (listed_by_holder(exported, vm))
		return true;
	for (const struct kern_list *pos = exported->imports.next; pos != &exported->imports; pos = pos->next)
		if (listed_by_holder(kern_entry(pos, struct kern_bo, import_link), vm))
			return true;
	return false;
}

static bool must_wait(const struct kern_cs *cs)
{
	uint64_t epoch = ++kern->next_id;
	bool held = false;

	for (unsigned i = 0; kern->holders && cs->list && i < cs->list->count && !held; i++) {
		struct kern_bo *bo = cs->list->entry[i].bo;

		held = bo->mark != epoch && is_held(bo, cs->file->vm->id);
		bo->mark = epoch; /* a list may name it many times */
	}
	return held;
}

int kern_cs_lock(struct kern_cs *cs)
{
	struct kern_wait *w = NULL;
	int r = kern_vm_lock(cs->file->vm);

	while (!r && must_wait(cs)) { /* drm_exec drops all of its locks while it waits for one */
		kern_vm_unlock(cs->file->vm);
		if (!w)
			w = kern_wait_begin(1);
		if (!w)
			return -ENOMEM;
		kern_wait_on(w, &kern->released);
		r = kern_wait_sleep(w, INT64_MAX);
		if (!r)
			r = kern_vm_lock(cs->file->vm);
	}
	kern_wait_end(w);
	return r;
}
