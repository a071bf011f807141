/* The fences that a job waits for and signals, in the form of the CS ioctl: jobs of this device by their sequence
 * numbers; jobs of other devices, and syncobjs, as syncobjs. */
#include "drv/cancel.h"
#include "cs/internal.h"

#include <errno.h>
#include <unistd.h>

static int collect_syncobj(struct cs_ring *ring, uint32_t handle)
{
	if (ring->waits == CS_SYNCS_MAX)
		return drv_fail(-EINVAL, "a job that waits for more than %u syncs", CS_SYNCS_MAX);
	ring->wait[ring->waits++] = (struct drm_amdgpu_cs_chunk_syncobj){.handle = handle};
	return 0;
}

/* Imports a fence of another device as a syncobj, for one submission. */
static int import_fence(struct cs_ring *ring, struct cs_fence fence)
{
	DRV_HOLD_CANCEL;
	const struct cs_ring *from = fence.ring;
	struct cs_syncobj sync;
	int fd, r;

	r = cs_fence_export(fence, &fd);
	if (cs_is_loss(r))
		return cs_ring_lose(fence.ring, r, fence.seq);
	if (r)
		return r;
	r = cs_syncobj_import(ring->ctx->vm, fd, false, &sync);
	close(fd);
	if (r)
		return r;
	r = collect_syncobj(ring, sync.handle);
	if (r) {
		cs_syncobj_fini(&sync);
		return r;
	}
	ring->foreign[ring->foreigns++] = sync;
	drv_log(DRV_LOG_SUBMIT, "waits for job %llu of ring %u.%u on %s", (unsigned long long)fence.seq, from->ip,
		from->index, from->dev->node.path);
	return 0;
}

/* Collects a fence that is not signaled yet. */
static int collect_fence(struct cs_ring *ring, struct cs_fence fence)
{
	if (fence.ring->ctx->vm != ring->ctx->vm)
		return import_fence(ring, fence);
	if (ring->user)
		return cs_user_queue_after(ring, fence);
	if (fence.ring->user) {
		const struct cs_syncobj *end;
		int r = cs_user_queue_end(fence.ring, &end);

		return r ? r : collect_syncobj(ring, end->handle);
	}
	if (ring->deps == CS_AFTER_MAX)
		return drv_fail(-EINVAL, "a job that waits for more than %u fences", CS_AFTER_MAX);
	ring->dep[ring->deps++] = (struct drm_amdgpu_cs_chunk_dep){
		.ip_type = fence.ring->ip,
		.ring = fence.ring->index,
		.ctx_id = fence.ring->ctx->id,
		.handle = fence.seq,
	};
	return 0;
}

static int collect_fences(struct cs_ring *ring, const struct cs_submit_info *info)
{
	for (unsigned i = 0; i < info->after_count; i++) {
		struct cs_fence fence = info->after[i];
		int r = cs_fence_poll(fence);

		if (!r)
			r = collect_fence(ring, fence);
		if (r >= 0)
			continue;
		if (!cs_is_loss(r) || !cs_ctx_lost(fence.ring->ctx))
			return r;
		if (!info->lost)
			return drv_fail(-ECANCELED, "a job that this one waits for was lost");
		*info->lost = true;
	}
	return 0;
}

static int collect_syncs(const struct cs_ring *ring, const struct cs_syncobj_point *points, unsigned count,
			 struct drm_amdgpu_cs_chunk_syncobj *to, unsigned *used)
{
	for (unsigned i = 0; i < count; i++) {
		if (points[i].sync->vm != ring->ctx->vm)
			return drv_fail(-EXDEV, "a sync of another device: export it and import it here");
		if (*used == CS_SYNCS_MAX)
			return drv_fail(-EINVAL, "a job with more than %u syncs", CS_SYNCS_MAX);
		to[(*used)++] = (struct drm_amdgpu_cs_chunk_syncobj){
			.handle = points[i].sync->handle,
			.point = points[i].value,
		};
	}
	return 0;
}

int cs_submit_info_collect(struct cs_ring *ring, const struct cs_submit_info *info)
{
	int r = collect_fences(ring, info);

	r = r ? r : collect_syncs(ring, info->wait, info->wait_count, ring->wait, &ring->waits);
	return r ? r : collect_syncs(ring, info->signal, info->signal_count, ring->signal, &ring->signals);
}

void cs_submit_info_release(struct cs_ring *ring)
{
	if (ring->user)
		cs_user_queue_forget(ring);
	while (ring->foreigns)
		cs_syncobj_fini(&ring->foreign[--ring->foreigns]);
	ring->deps = ring->waits = ring->signals = 0;
}

unsigned cs_submit_info_chunks(struct cs_ring *ring, unsigned chunks)
{
	struct {
		struct drm_amdgpu_cs_chunk *chunk;
		unsigned count, size_B;
	} const lists[] = {
		{&ring->dep_arg, ring->deps, sizeof(ring->dep[0])},
		{&ring->wait_arg, ring->waits, sizeof(ring->wait[0])},
		{&ring->signal_arg, ring->signals, sizeof(ring->signal[0])},
	};

	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (lists[i].count) {
			lists[i].chunk->length_dw = lists[i].count * lists[i].size_B / 4;
			ring->arg_pointer[chunks++] = (uintptr_t)lists[i].chunk;
		}
	return chunks;
}
