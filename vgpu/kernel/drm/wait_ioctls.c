#include <stdlib.h>
#include "vgpu/kernel/drm/wait_ioctls.h"
#include "vgpu/kernel/base/jiffies.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/drm/inode.h"
#include "vgpu/kernel/sched/ctx.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

/* The kernel's time-out is no error, but a job's error may have its number. */
static int wait_result(int r, bool *timed_out)
{
	*timed_out = r == -ETIME;
	return *timed_out ? 0 : r;
}

/* Waits, and returns the fence's error. */
static int wait_one(const struct kern_file *file, struct kern_fence *f, uint64_t timeout_ns, bool *timed_out)
{
	int r = wait_result(kern_fence_wait(&f, 1, true, kern_gem_deadline(file->dev, timeout_ns), NULL),
			    timed_out);

	return r || *timed_out ? r : f->error;
}

int kern_wait_cs_ioctl(struct kern_file *file, void *arg)
{
	union drm_amdgpu_wait_cs *args = arg;
	struct drm_amdgpu_wait_cs_in in = args->in;
	struct kern_ctx *ctx = kern_ctx_find(file, in.ctx_id);
	struct kern_entity *entity;
	struct kern_fence *f;
	bool busy = false;
	int r;

	if (!ctx)
		return -EINVAL;
	r = kern_ctx_entity(ctx, in.ip_type, in.ip_instance, in.ring, &entity);
	if (!r)
		r = kern_entity_fence(entity, in.handle, &f);
	if (r)
		return r;
	if (f) {
		r = wait_one(file, f, in.timeout, &busy);
		kern_fence_put(f);
	}
	if (r)
		return r;
	memset(args, 0, sizeof(*args));
	args->out.status = busy;
	return 0;
}

/* The fence of one entry: *f is NULL when it is long signalled. */
static int entry_fence(struct kern_file *file, const struct drm_amdgpu_fence *entry, struct kern_fence **f)
{
	struct kern_ctx *ctx = kern_ctx_find(file, entry->ctx_id);
	struct kern_entity *entity;
	int r;

	*f = NULL;
	if (!ctx)
		return -EINVAL;
	r = kern_ctx_entity(ctx, entry->ip_type, entry->ip_instance, entry->ring, &entity);
	return r ? r : kern_entity_fence(entity, entry->seq_no, f);
}

/* Waits for each fence in turn, as the kernel does, which converts the timeout to jiffies anew for each: the first
 * error or time-out in order decides. */
static int wait_all(struct kern_file *file, const struct drm_amdgpu_fence *entry,
		    const struct drm_amdgpu_wait_fences_in *in, struct drm_amdgpu_wait_fences_out *out)
{
	bool timed_out = false;
	int r = 0;

	for (uint32_t i = 0; !r && !timed_out && i < in->fence_count; i++) {
		struct kern_fence *f;

		r = entry_fence(file, &entry[i], &f);
		if (r || !f)
			continue;
		r = wait_one(file, f, in->timeout_ns, &timed_out);
		kern_fence_put(f);
	}
	if (!r)
		*out = (struct drm_amdgpu_wait_fences_out){.status = !timed_out};
	return r;
}

/* Answers, and returns the error of the fence that ended the wait. */
static int wait_any(struct kern_file *file, const struct drm_amdgpu_fence *entry,
		    const struct drm_amdgpu_wait_fences_in *in, struct drm_amdgpu_wait_fences_out *out)
{
	int64_t deadline_ns = kern_gem_deadline(file->dev, in->timeout_ns);
	struct kern_fence **f = calloc(in->fence_count, sizeof(struct kern_fence *));
	bool done = false, timed_out = false;
	unsigned found = 0;
	int r = f ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && !done && i < in->fence_count; i++) {
		r = entry_fence(file, &entry[i], &f[i]);
		done = !r && !f[i];
		found = i;
	}
	if (!r && !in->fence_count)
		r = -EINVAL;
	if (!r && !done)
		r = wait_result(kern_fence_wait(f, in->fence_count, false, deadline_ns, &found), &timed_out);
	if (timed_out) {
		*out = (struct drm_amdgpu_wait_fences_out){.first_signaled = UINT32_MAX};
	} else if (!r) {
		*out = (struct drm_amdgpu_wait_fences_out){.status = 1, .first_signaled = found};
		r = f[found] ? f[found]->error : 0;
	}
	for (uint32_t i = 0; f && i < in->fence_count; i++)
		kern_fence_put(f[i]);
	free(f);
	return r;
}

int kern_wait_fences_ioctl(struct kern_file *file, void *arg)
{
	union drm_amdgpu_wait_fences *args = arg;
	struct drm_amdgpu_wait_fences_in in = args->in;
	size_t size_B = (size_t)in.fence_count * sizeof(struct drm_amdgpu_fence);
	struct drm_amdgpu_fence *entry = size_B > KERN_KMALLOC_MAX_B ? NULL : malloc(size_B + 1);
	int r = entry ? kern_copy_in(entry, in.fences, size_B) : -ENOMEM;

	if (!r)
		r = in.wait_all ? wait_all(file, entry, &in, &args->out) : wait_any(file, entry, &in, &args->out);
	free(entry);
	return r;
}

int kern_fence_to_handle_ioctl(struct kern_file *file, void *arg)
{
	union drm_amdgpu_fence_to_handle *args = arg;
	struct kern_fence *f;
	uint32_t what = args->in.what, handle = 0;
	int fd = -1;
	int r = entry_fence(file, &args->in.fence, &f);

	if (r)
		return r;
	if (!f && !(f = kern_fence_stub()))
		return -ENOMEM;
	switch (what) {
	case AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ:
		r = kern_syncobj_create(file, f, &handle);
		break;
	case AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ_FD:
		r = kern_syncobj_create(file, f, &handle);
		if (!r)
			r = kern_fd_create(KERN_INODE_SYNCOBJ, kern_idr_remove(&file->syncobjs, handle), 0, true,
					   &fd);
		handle = (uint32_t)fd;
		break;
	case AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD:
		r = kern_fd_create(KERN_INODE_SYNC_FILE, kern_fence_get(f), 0, true, &fd);
		handle = (uint32_t)fd;
		break;
	default:
		r = -EINVAL;
	}
	kern_fence_put(f);
	if (!r)
		args->out.handle = handle;
	return r;
}
