#include "vgpu/kernel/drm/call.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/sched/cs.h"
#include "vgpu/kernel/sched/userq.h"
#include "vgpu/kernel/sync/syncobj.h"

struct kern_call *kern_call_begin(struct kern_file *file)
{
	struct kern_call *call = kern_alloc(sizeof(*call));

	if (!call)
		return NULL;
	file->refs++;
	call->file = file;
	kern_list_add(&kern->proc[kern_local.slot].calls, &call->link);
	kern_call_set_current(call);
	return call;
}

void kern_call_end(struct kern_call *call)
{
	struct kern_file *file = call->file;

	kern_call_set_current(NULL);
	kern_list_del(&call->link);
	kern_file_put(file);
	kern_free(call);
}

/* Each member is cleared before its object is put: the process that undoes may be killed too. */
static void call_undo(struct kern_call *call)
{
	struct kern_waiting *waiting = call->waiting;
	struct kern_bo_list *list = call->list;
	struct kern_file *file = call->file;
	struct kern_bo *bo = call->bo;
	struct kern_syncobj *syncobj = call->syncobj, *into = call->into;
	struct kern_cs *cs = call->cs;
	struct kern_userq *userq = call->userq;

	call->waiting = NULL;
	kern_waiting_free(waiting, call->waiting_count);
	call->cs = NULL;
	kern_cs_abandon(cs);
	call->userq = NULL;
	kern_userq_put(userq);
	call->syncobj = NULL;
	kern_syncobj_put(syncobj);
	call->into = NULL;
	kern_syncobj_put(into);
	call->list = NULL;
	kern_bo_list_put(list);
	call->bo = NULL;
	kern_bo_put(bo);
	call->file = NULL;
	kern_list_del(&call->link);
	if (file)
		kern_file_put(file);
	kern_free(call);
}

void kern_calls_proc_gone(struct kern_proc *proc)
{
	while (!kern_list_empty(&proc->calls))
		call_undo(kern_entry(proc->calls.next, struct kern_call, link));
}
