#include "embed/internal.h"

#include <errno.h>

int embed_fence_of(struct tuff_point point, struct cs_fence *out)
{
	struct embed_queue *queue;
	int r;

	*out = (struct cs_fence){0};
	if (!point.queue)
		return 0;
	r = embed_get(EMBED_QUEUE, point.queue, &queue);
	if (r)
		return r;
	*out = (struct cs_fence){queue->ring, point.seq};
	if (point.seq > cs_ring_last(queue->ring).seq)
		return drv_fail(-EINVAL, "job %llu was never submitted to that queue",
				(unsigned long long)point.seq);
	return 0;
}

int embed_fences_of(const struct tuff_point *points, unsigned count, struct cs_fence *out)
{
	int r = 0;

	if (count > EMBED_POINTS_MAX || (count && !points))
		return drv_fail(-EINVAL, "%u points; at most %u", count, EMBED_POINTS_MAX);
	for (unsigned i = 0; !r && i < count; i++)
		r = embed_fence_of(points[i], &out[i]);
	return r;
}

int tuff_poll(struct tuff_point point)
{
	struct cs_fence p;
	int r = embed_fence_of(point, &p);

	return r ? r : cs_fence_poll(p);
}

int tuff_wait(struct tuff_point point, int64_t timeout_ns)
{
	struct cs_fence p;
	int r = embed_fence_of(point, &p);

	return r ? r : cs_fence_wait(p, timeout_ns);
}

int tuff_wait_all(const struct tuff_point *points, unsigned count, int64_t timeout_ns)
{
	struct cs_fence p[EMBED_POINTS_MAX];
	int r = embed_fences_of(points, count, p);

	return r ? r : cs_fences_wait_all(p, count, timeout_ns);
}

int tuff_wait_any(const struct tuff_point *points, unsigned count, int64_t timeout_ns, unsigned *index)
{
	struct cs_fence p[EMBED_POINTS_MAX];
	int r = embed_fences_of(points, count, p);

	if (!r && (!count || !index))
		r = drv_fail(-EINVAL, count ? "no place for the index" : "none of no points is ever reached");
	return r ? r : cs_fences_wait_any(p, count, timeout_ns, index);
}
