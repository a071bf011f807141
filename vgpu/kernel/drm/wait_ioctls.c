#include <stdlib.h>
#include "vgpu/kernel/drm/wait_ioctls.h"
#include "vgpu/kernel/base/jiffies.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/file.h"
#include "vgpu/kernel/drm/inode.h"
#include "vgpu/kernel/sched/ctx.h"
#include "vgpu/kernel/sync/fence.h"
#include "vgpu/kernel/sync/syncobj.h"

int kern_wait_cs_ioctl(struct kern_file *file, void *arg)
{
	union drm_amdgpu_wait_cs *args = arg;
	struct drm_amdgpu_wait_cs_in in = args->in;
	struct kern_ctx *ctx = kern_ctx_find(file, in.ctx_id);
	struct kern_entity *entity;
	struct kern_fence *f;
	int r, busy = 0;

	if (!ctx)
		return -EINVAL;
	r = kern_ctx_entity(ctx, in.ip_type, in.ip_instance, in.ring, &entity);
	if (!r)
		r = kern_entity_fence(entity, in.handle, &f);
	if (r)
		return r;
	if (f) {
		r = kern_fence_wait(&f, 1, true, kern_gem_deadline(file->dev, in.timeout), NULL);
		if (r == -ETIME)
			busy = 1, r = 0;
		else if (!r)
			r = f->error;
		kern_fence_put(f);
	}
	if (r)
		return r;
	memset(args, 0, sizeof(*args));
	args->out.status = (uint64_t)busy;
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
static int wait_all(struct kern_file *file, const struct drm_amdgpu_fence *entry, uint32_t count,
		    uint64_t timeout_ns)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < count; i++) {
		struct kern_fence *f;

		r = entry_fence(file, &entry[i], &f);
		if (r || !f)
			continue;
		r = kern_fence_wait(&f, 1, true, kern_gem_deadline(file->dev, timeout_ns), NULL);
		r = r ? r : f->error;
		kern_fence_put(f);
	}
	return r;
}

static int wait_any(struct kern_file *file, const struct drm_amdgpu_fence *entry, uint32_t count,
		    int64_t deadline_ns, uint32_t *first)
{
	struct kern_fence **f = calloc(count, sizeof(struct kern_fence *));
	unsigned found = 0;
	int r = f ? 0 : -ENOMEM;
	bool done = false;

	for (uint32_t i = 0; !r && !done && i < count; i++) {
		r = entry_fence(file, &entry[i], &f[i]);
		done = !r && !f[i];
		found = i;
	}
	if (!r && !done)
		r = count ? kern_fence_wait(f, count, false, deadline_ns, &found) : -EINVAL;
	if (!r && f[found])
		r = f[found]->error;
	*first = found;
	for (uint32_t i = 0; f && i < count; i++)
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
	uint32_t first = 0;
	int r = entry ? kern_copy_in(entry, in.fences, size_B) : -ENOMEM;

	if (!r)
		r = in.wait_all ? wait_all(file, entry, in.fence_count, in.timeout_ns)
				: wait_any(file, entry, in.fence_count, kern_gem_deadline(file->dev, in.timeout_ns),
					   &first);
	free(entry);
	if (r && r != -ETIME)
		return r;
	memset(args, 0, sizeof(*args));
	args->out.status = r == 0;
	args->out.first_signaled = r ? 0 : first;
	return 0;
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
