/* A submission to one ring. */
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/sched/ctx.h"
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/kernel/sync/fence.h"

struct kern_job *kern_job_create(struct kern_ctx *ctx, struct kern_entity *entity, struct kern_vm *vm,
				 unsigned ib_count)
{
	struct kern_job *job = kern_alloc(sizeof(*job) + ib_count * sizeof(job->ib[0]));

	if (!job)
		return NULL;
	kern_list_init(&job->link);
	kern_list_init(&job->waker.link);
	job->finished = kern_fence_create(ctx->dev, entity->fence_context, 0, vm->id);
	if (!job->finished)
		goto free_job;
	job->finished->scheduled = kern_fence_create(ctx->dev, entity->fence_context, 0, vm->id);
	if (!job->finished->scheduled)
		goto free_fence;
	job->entity = entity;
	job->scan = ++kern->next_id;
	job->ctx = ctx;
	ctx->refs++;
	job->vm = kern_vm_get(vm);
	kern_live(KERN_JOBS, 1);
	return job;
free_fence:
	kern_fence_put(job->finished);
free_job:
	kern_free(job);
	return NULL;
}

void kern_job_destroy(struct kern_job *job)
{
	if (!job)
		return;
	kern_list_del(&job->waker.link);
	for (unsigned i = 0; i < job->deps; i++)
		kern_fence_put(job->dep[i]);
	kern_free(job->dep);
	kern_free(job->after);
	kern_bo_put(job->user_fence);
	kern_bo_list_put(job->list);
	kern_fence_put(job->finished);
	kern_vm_put(job->vm);
	kern_ctx_put(job->ctx);
	kern_live(KERN_JOBS, -1);
	kern_free(job);
}

static int note_job(struct kern_fence *f, void *arg)
{
	struct kern_job *job = arg;
	int r;

	if (!f->scheduled && !f->slot_va)
		return 0;
	r = kern_reserve(&job->after, job->afters, &job->after_room, sizeof(job->after[0]));
	if (!r)
		job->after[job->afters++] = (struct mem_after){f->context, f->seq};
	return r;
}

/* Adds the jobs of a fence to the job's list for the engine's order checker: a point of a timeline has several,
 * and points may share them. */
static int note_jobs(struct kern_job *job, struct kern_fence *f)
{
	return kern_fence_new_leaves(f, job->scan, note_job, job);
}

/* What an earlier dependency is made of is waited for already. */
int kern_job_depend(struct kern_job *job, struct kern_fence *f)
{
	int r;

	if (f->signalled || f->scan == job->scan)
		return 0;
	/* Jobs of an entity start in order anyway; on the ring this job waits for the earlier one's end, not for
	 * its start. */
	if (f->context == job->entity->fence_context) {
		job->pipeline_sync |= f->scheduled != NULL;
		return note_jobs(job, f);
	}
	r = kern_reserve(&job->dep, job->deps, &job->dep_room, sizeof(job->dep[0]));
	if (r)
		return r;
	job->dep[job->deps] = kern_fence_get(f);
	kern_list_step(); /* the count grows after the element is stored: repair.c relies on it */
	job->deps++;
	return note_jobs(job, f);
}
