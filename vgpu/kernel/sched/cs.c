#include <stdlib.h>
#include "vgpu/kernel/sched/cs.h"
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/gem/handle.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/sched/ctx.h"
#include "vgpu/kernel/sched/sched.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

#define CHUNKS_MAX         (1u << 16) /* an allocation of that size fails in the kernel */
#define CHUNK_BYTES_MAX    (64u << 20)
#define WAIT_FOR_SUBMIT_NS 5000000000ll

/* --- reading --- */

static size_t chunk_bytes(const struct drm_amdgpu_cs_chunk *chunk)
{
	return (size_t)chunk->length_dw * 4;
}

/* Array of pointers, then the headers they point to: two copies, however many chunks. */
static int read_headers(struct kern_cs_input *in, const struct drm_amdgpu_cs_in *args)
{
	struct kern_span *span;
	uint64_t *pointer;
	int r;

	if (args->num_chunks > CHUNKS_MAX)
		return -ENOMEM;
	in->chunks = args->num_chunks;
	in->chunk = calloc(in->chunks, sizeof(*in->chunk) + sizeof(*span) + sizeof(*pointer));
	if (!in->chunk)
		return -ENOMEM;
	span = (struct kern_span *)(in->chunk + in->chunks);
	pointer = (uint64_t *)(span + in->chunks);
	r = kern_copy_in(pointer, args->chunks, in->chunks * sizeof(*pointer));
	for (unsigned i = 0; i < in->chunks; i++)
		span[i] = (struct kern_span){&in->chunk[i], pointer[i], sizeof(in->chunk[i])};
	return r ? r : kern_gather(span, in->chunks);
}

/* Reads all data at once. An unreadable chunk does not fail here: an earlier chunk may be wrong first. */
static int read_data(struct kern_cs_input *in)
{
	struct kern_span *span = (struct kern_span *)(in->chunk + in->chunks);
	size_t size_B = 0;
	char *at;

	for (unsigned i = 0; i < in->chunks; i++) {
		if (chunk_bytes(&in->chunk[i]) > CHUNK_BYTES_MAX)
			return -ENOMEM;
		size_B += kern_align(chunk_bytes(&in->chunk[i]), 8);
	}
	at = in->buffer = malloc(size_B + 8);
	if (!at)
		return -ENOMEM;
	for (unsigned i = 0; i < in->chunks; i++) {
		span[i] = (struct kern_span){at, in->chunk[i].chunk_data, chunk_bytes(&in->chunk[i])};
		at += kern_align(span[i].size_B, 8);
	}
	in->bad_data = kern_gather(span, in->chunks);
	for (unsigned i = 0; !in->bad_data && i < in->chunks; i++)
		in->chunk[i].chunk_data = (uintptr_t)span[i].kernel;
	return 0;
}

/* In the rare case of bad data: one by one, in order. */
static int reread_data(struct kern_cs_input *in, unsigned i)
{
	struct kern_span *span = (struct kern_span *)(in->chunk + in->chunks);

	in->chunk[i].chunk_data = (uintptr_t)span[i].kernel;
	return kern_copy_in(span[i].kernel, span[i].user, span[i].size_B);
}

static void *chunk_data(const struct drm_amdgpu_cs_chunk *chunk)
{
	return (void *)(uintptr_t)chunk->chunk_data;
}

/* --- pass 1: what to run, on which entities --- */

static int gang_index(struct kern_cs *cs, struct kern_entity *entity)
{
	for (unsigned i = 0; i < cs->gang; i++)
		if (cs->entity[i] == entity)
			return (int)i;
	if (cs->gang == KERN_GANG)
		return -EINVAL;
	cs->entity[cs->gang] = entity;
	return (int)cs->gang++;
}

static int p1_ib(struct kern_cs *cs, void *data)
{
	const struct drm_amdgpu_cs_chunk_ib *ib = data;
	struct kern_entity *entity;
	int r = kern_ctx_entity(cs->ctx, ib->ip_type, ib->ip_instance, ib->ring, &entity);

	if (r)
		return r;
	if (!kern_ip_hw_rings(cs->file->dev, ib->ip_type) || cs->file->dev->userq == KERN_USERQ_ONLY)
		return -EINVAL;
	r = gang_index(cs, entity);
	if (r < 0)
		return r;
	if (++cs->ib_count[r] > kern_ip_max_ibs[ib->ip_type])
		return -EINVAL;
	cs->leader = (unsigned)r; /* the job of the last IB leads */
	return 0;
}

static int p1_user_fence(struct kern_cs *cs, void *data)
{
	const struct drm_amdgpu_cs_chunk_fence *fence = data;
	struct kern_handle *handle;

	if (cs->user_fence && kern_profile_of(cs->file->dev)->one_user_fence)
		return -EINVAL;
	handle = kern_handle_must(cs->file, fence->handle, "CS user fence");
	if (!handle)
		return -EINVAL;
	if (handle->bo->size_B != KERN_PAGE || fence->offset > KERN_PAGE - 8 || kern_bo_is_userptr(handle->bo))
		return -EINVAL;
	kern_bo_put(cs->user_fence);
	cs->user_fence = kern_bo_get(handle->bo);
	cs->user_fence_offset = fence->offset;
	return 0;
}

static int p1_bo_handles(struct kern_cs *cs, void *data)
{
	if (cs->list)
		return -EINVAL;
	return kern_bo_list_of_chunk(cs->file, data, &cs->list);
}

/* --- pass 2: what to wait for, what to signal --- */

int kern_cs_depend(struct kern_cs *cs, struct kern_fence *f)
{
	int r;

	if (f->signalled || f->scan == cs->scan)
		return 0;
	f->scan = cs->scan;
	r = kern_reserve(&cs->dep, cs->deps, &cs->dep_room, sizeof(cs->dep[0]));
	if (r)
		return r;
	cs->dep[cs->deps] = kern_fence_get(f);
	kern_list_step(); /* the count grows after the element is stored: repair.c relies on it */
	cs->deps++;
	return 0;
}

static int depend_on_job(struct kern_cs *cs, const struct drm_amdgpu_cs_chunk_dep *dep, bool scheduled)
{
	struct kern_ctx *ctx = kern_ctx_find(cs->file, dep->ctx_id);
	struct kern_entity *entity;
	struct kern_fence *f;
	int r;

	if (!ctx)
		return -EINVAL;
	r = kern_ctx_entity(ctx, dep->ip_type, dep->ip_instance, dep->ring, &entity);
	if (!r)
		r = kern_entity_fence(entity, dep->handle, &f);
	if (r || !f)
		return r;
	r = kern_cs_depend(cs, scheduled ? f->scheduled : f);
	kern_fence_put(f);
	return r;
}

static int depend_on_jobs(struct kern_cs *cs, const struct drm_amdgpu_cs_chunk *chunk, bool scheduled)
{
	const struct drm_amdgpu_cs_chunk_dep *dep = chunk_data(chunk);
	int r = 0;

	for (size_t i = 0; !r && i < chunk_bytes(chunk) / sizeof(*dep); i++)
		r = depend_on_job(cs, &dep[i], scheduled);
	return r;
}

static int p2_dependencies(struct kern_cs *cs, const struct drm_amdgpu_cs_chunk *chunk)
{
	return depend_on_jobs(cs, chunk, false);
}

static int p2_scheduled(struct kern_cs *cs, const struct drm_amdgpu_cs_chunk *chunk)
{
	return depend_on_jobs(cs, chunk, true);
}

static int depend_on_syncobj(struct kern_cs *cs, uint32_t handle, uint64_t point, uint32_t flags)
{
	struct kern_fence *f;
	int r = kern_syncobj_find_fence(cs->file, handle, point, flags, sys_now_ns() + WAIT_FOR_SUBMIT_NS, &f);

	if (r == -ETIME)
		vgpu_finding(CONTRACT_SUBMIT_AWAITED, "CS waited 5 s for syncobj %u point %llu to be submitted",
			     handle, (unsigned long long)point);
	if (r)
		return r;
	r = kern_cs_depend(cs, f);
	kern_fence_put(f);
	return r;
}

static int p2_syncobj_in(struct kern_cs *cs, const struct drm_amdgpu_cs_chunk *chunk)
{
	const struct drm_amdgpu_cs_chunk_sem *sem = chunk_data(chunk);
	int r = 0;

	for (size_t i = 0; !r && i < chunk_bytes(chunk) / sizeof(*sem); i++)
		r = depend_on_syncobj(cs, sem[i].handle, 0, 0);
	return r;
}

static int p2_timeline_wait(struct kern_cs *cs, const struct drm_amdgpu_cs_chunk *chunk)
{
	const struct drm_amdgpu_cs_chunk_syncobj *sync = chunk_data(chunk);
	int r = 0;

	for (size_t i = 0; !r && i < chunk_bytes(chunk) / sizeof(*sync); i++)
		r = depend_on_syncobj(cs, sync[i].handle, sync[i].point, sync[i].flags);
	return r;
}

static int posts_begin(struct kern_cs *cs, size_t count)
{
	if (cs->has_posts)
		return -EINVAL;
	cs->has_posts = true;
	cs->post = kern_alloc((count + 1) * sizeof(*cs->post));
	return cs->post ? 0 : -ENOMEM;
}

static int post_add(struct kern_cs *cs, uint32_t handle, uint64_t point)
{
	struct kern_syncobj *syncobj = kern_syncobj_find(cs->file, handle);

	if (!syncobj)
		return -EINVAL;
	cs->post[cs->posts++] = (struct kern_cs_post){kern_syncobj_get(syncobj), point};
	return point ? kern_syncobj_reserve(syncobj) : 0;
}

static int p2_syncobj_out(struct kern_cs *cs, const struct drm_amdgpu_cs_chunk *chunk)
{
	const struct drm_amdgpu_cs_chunk_sem *sem = chunk_data(chunk);
	size_t count = chunk_bytes(chunk) / sizeof(*sem);
	int r = posts_begin(cs, count);

	for (size_t i = 0; !r && i < count; i++)
		r = post_add(cs, sem[i].handle, 0);
	return r;
}

static int p2_timeline_signal(struct kern_cs *cs, const struct drm_amdgpu_cs_chunk *chunk)
{
	const struct drm_amdgpu_cs_chunk_syncobj *sync = chunk_data(chunk);
	size_t count = chunk_bytes(chunk) / sizeof(*sync);
	int r = posts_begin(cs, count);

	for (size_t i = 0; !r && i < count; i++)
		r = post_add(cs, sync[i].handle, sync[i].point);
	return r;
}

/* Only GFX11 has shadow memory for the CP. */
static int p2_shadow(struct kern_cs *cs, const struct drm_amdgpu_cs_chunk *chunk)
{
	(void)cs;
	(void)chunk;
	return -EINVAL;
}

/* A second PREEMPT IB of the same engine is refused on GFX; CE IBs count by themselves. */
static int p2_preempt(struct kern_cs *cs)
{
	unsigned preempt[2] = {0};

	for (unsigned i = 0; i < cs->input->chunks; i++) {
		const struct drm_amdgpu_cs_chunk_ib *ib = chunk_data(&cs->input->chunk[i]);

		if (cs->input->chunk[i].chunk_id == AMDGPU_CHUNK_ID_IB && ib->ip_type == AMDGPU_HW_IP_GFX &&
		    (ib->flags & AMDGPU_IB_FLAG_PREEMPT) && ++preempt[ib->flags & AMDGPU_IB_FLAG_CE] > 1)
			return -EINVAL;
	}
	return 0;
}

/* --- both passes --- */

static const struct chunk_kind {
	size_t least_B;
	int (*pass1)(struct kern_cs *cs, void *data);
	int (*pass2)(struct kern_cs *cs, const struct drm_amdgpu_cs_chunk *chunk);
} chunk_kinds[] = {
	[AMDGPU_CHUNK_ID_IB] = {sizeof(struct drm_amdgpu_cs_chunk_ib), p1_ib, NULL},
	[AMDGPU_CHUNK_ID_FENCE] = {sizeof(struct drm_amdgpu_cs_chunk_fence), p1_user_fence, NULL},
	[AMDGPU_CHUNK_ID_DEPENDENCIES] = {1, NULL, p2_dependencies},
	[AMDGPU_CHUNK_ID_SYNCOBJ_IN] = {1, NULL, p2_syncobj_in},
	[AMDGPU_CHUNK_ID_SYNCOBJ_OUT] = {1, NULL, p2_syncobj_out},
	[AMDGPU_CHUNK_ID_BO_HANDLES] = {sizeof(struct drm_amdgpu_bo_list_in), p1_bo_handles, NULL},
	[AMDGPU_CHUNK_ID_SCHEDULED_DEPENDENCIES] = {1, NULL, p2_scheduled},
	[AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT] = {1, NULL, p2_timeline_wait},
	[AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL] = {1, NULL, p2_timeline_signal},
	[AMDGPU_CHUNK_ID_CP_GFX_SHADOW] = {1, NULL, p2_shadow},
};

static int check_chunks(struct kern_cs *cs)
{
	for (unsigned i = 0; i < cs->input->chunks; i++) {
		struct drm_amdgpu_cs_chunk *chunk = &cs->input->chunk[i];
		const struct chunk_kind *kind;
		int r = cs->input->bad_data ? reread_data(cs->input, i) : 0;

		if (r)
			return r;
		if (chunk->chunk_id >= kern_array_len(chunk_kinds) || !chunk_kinds[chunk->chunk_id].least_B)
			return -EINVAL;
		kind = &chunk_kinds[chunk->chunk_id];
		if (kind->pass1 && chunk_bytes(chunk) < kind->least_B)
			return -EINVAL;
		r = kind->pass1 ? kind->pass1(cs, chunk_data(chunk)) : 0;
		if (r)
			return r;
	}
	return cs->gang ? 0 : -EINVAL;
}

static int create_jobs(struct kern_cs *cs)
{
	for (unsigned i = 0; i < cs->gang; i++) {
		cs->job[i] = kern_job_create(cs->ctx, cs->entity[i], cs->file->vm, cs->ib_count[i]);
		if (!cs->job[i])
			return -ENOMEM;
	}
	for (unsigned i = 0; i < cs->input->chunks; i++) {
		const struct drm_amdgpu_cs_chunk_ib *ib = chunk_data(&cs->input->chunk[i]);
		struct kern_job *job;

		if (cs->input->chunk[i].chunk_id != AMDGPU_CHUNK_ID_IB)
			continue;
		job = cs->job[gang_index(cs, &cs->ctx->entity[ib->ip_type][ib->ring])];
		job->ib[job->ib_count++] = (struct engine_ib){ib->va_start, ib->ib_bytes, ib->flags};
	}
	return 0;
}

static int read_dependencies(struct kern_cs *cs)
{
	int r = p2_preempt(cs);

	for (unsigned i = 0; !r && i < cs->input->chunks; i++) {
		const struct chunk_kind *kind = &chunk_kinds[cs->input->chunk[i].chunk_id];

		if (kind->pass2)
			r = kind->pass2(cs, &cs->input->chunk[i]);
	}
	return r;
}

/* Puts all references; views and chunks belong to the process. */
static void cs_put(struct kern_cs *cs)
{
	for (unsigned i = 0; i < cs->gang; i++)
		kern_job_destroy(cs->job[i]);
	for (unsigned i = 0; i < cs->deps; i++)
		kern_fence_put(cs->dep[i]);
	kern_free(cs->dep);
	for (unsigned i = 0; i < cs->posts; i++)
		kern_syncobj_put(cs->post[i].syncobj);
	kern_free(cs->post);
	kern_bo_list_put(cs->list);
	kern_bo_put(cs->user_fence);
	kern_ctx_put(cs->ctx);
	kern_free(cs);
}

void kern_cs_abandon(struct kern_cs *cs)
{
	if (!cs)
		return;
	kern_cs_release(cs);
	cs_put(cs);
}

static void cs_fini(struct kern_cs *cs)
{
	for (unsigned i = 0; i < cs->gang; i++)
		kern_view_put(cs->job[i] ? cs->job[i]->view : NULL);
	free(cs->input->buffer);
	free(cs->input->chunk);
	kern_call_current()->cs = NULL;
	cs_put(cs);
}

static int cs_run(struct kern_cs *cs, const struct drm_amdgpu_cs_in *in, uint64_t *handle)
{
	int r = cs->ctx->guilty ? -ECANCELED : read_headers(cs->input, in);

	if (!r)
		r = read_data(cs->input);
	if (!r)
		r = check_chunks(cs);
	if (!r)
		r = create_jobs(cs);
	if (!r)
		r = read_dependencies(cs);
	return r ? r : kern_cs_submit(cs, handle);
}

int kern_cs_ioctl(struct kern_file *file, void *arg)
{
	union drm_amdgpu_cs *args = arg;
	struct kern_ctx *ctx = kern_ctx_find(file, args->in.ctx_id);
	struct kern_cs_input input = {0};
	struct kern_cs *cs;
	uint64_t handle;
	int r;

	if (!args->in.num_chunks || !ctx)
		return -EINVAL;
	cs = kern_alloc(sizeof(*cs));
	if (!cs)
		return -ENOMEM;
	cs->file = file;
	cs->input = &input;
	cs->scan = ++kern->next_id;
	cs->list_handle = args->in.bo_list_handle;
	kern_call_current()->cs = cs;
	cs->ctx = ctx;
	ctx->refs++;
	r = cs_run(cs, &args->in, &handle);
	cs_fini(cs);
	if (!r) {
		memset(args, 0, sizeof(*args));
		args->out.handle = handle;
	}
	return r;
}
