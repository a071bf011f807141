/* What a job waits for and signals, as the CS ioctl wants to hear it: jobs of this device by their numbers; jobs of
 * other devices, and whatever others share, as points of syncobjs. */
#include "cs/internal.h"

#include <errno.h>
#include <unistd.h>

/* A fence of another device becomes a syncobj of ours, for the time of one submission. */
static int import_point(struct cs_ring *ring, struct cs_point point)
{
	const struct cs_ring *from = point.ring;
	struct cs_sync *sync = &ring->foreign[ring->foreigns];
	int fd, r;

	if (ring->waits == CS_SYNCS_MAX)
		return drv_fail(-EINVAL, "a job that waits for more than %u syncs", CS_SYNCS_MAX);
	r = cs_point_export(point, &fd);
	if (cs_is_loss(r))
		return cs_ring_lose(point.ring, r, point.seq);
	if (r)
		return r;
	r = cs_sync_import(ring->ctx->vm, fd, false, sync);
	close(fd);
	if (r)
		return r;
	ring->foreigns++;
	ring->wait[ring->waits++] = (struct drm_amdgpu_cs_chunk_syncobj){.handle = sync->handle};
	drv_log(DRV_LOG_SUBMIT, "waits for job %llu of ring %u.%u on %s", (unsigned long long)point.seq, from->ip,
		from->index, from->dev->node.path);
	return 0;
}

/* What is not reached yet. */
static int collect_point(struct cs_ring *ring, struct cs_point point)
{
	if (point.ring->ctx->vm != ring->ctx->vm)
		return import_point(ring, point);
	if (ring->deps == CS_AFTER_MAX)
		return drv_fail(-EINVAL, "a job that waits for more than %u points", CS_AFTER_MAX);
	ring->dep[ring->deps++] = (struct drm_amdgpu_cs_chunk_dep){
		.ip_type = point.ring->ip,
		.ring = point.ring->index,
		.ctx_id = point.ring->ctx->id,
		.handle = point.seq,
	};
	return 0;
}

static int collect_points(struct cs_ring *ring, const struct cs_order *order)
{
	for (unsigned i = 0; i < order->after_count; i++) {
		struct cs_point point = order->after[i];
		int r = cs_point_poll(point);

		if (!r)
			r = collect_point(ring, point);
		if (r >= 0)
			continue;
		if (!cs_is_loss(r) || !cs_ctx_lost(point.ring->ctx))
			return r;
		if (!order->lost)
			return drv_fail(-ECANCELED, "a job that this one waits for was lost");
		*order->lost = true;
	}
	return 0;
}

static int collect_syncs(const struct cs_ring *ring, const struct cs_sync_point *points, unsigned count,
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

int cs_order_collect(struct cs_ring *ring, const struct cs_order *order)
{
	int r = collect_points(ring, order);

	r = r ? r : collect_syncs(ring, order->wait, order->wait_count, ring->wait, &ring->waits);
	return r ? r : collect_syncs(ring, order->signal, order->signal_count, ring->signal, &ring->signals);
}

void cs_order_release(struct cs_ring *ring)
{
	while (ring->foreigns)
		cs_sync_fini(&ring->foreign[--ring->foreigns]);
	ring->deps = ring->waits = ring->signals = 0;
}

unsigned cs_order_chunks(struct cs_ring *ring, unsigned chunks)
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
