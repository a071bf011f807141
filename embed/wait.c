#include "embed/internal.h"

#include <errno.h>

int embed_point(struct tuff_point point, struct cs_point *out)
{
	struct embed_queue *queue;
	int r;

	*out = (struct cs_point){0};
	if (!point.queue)
		return 0;
	r = embed_get(EMBED_QUEUE, point.queue, &queue);
	if (r)
		return r;
	*out = (struct cs_point){queue->ring, point.seq};
	if (point.seq > cs_ring_last(queue->ring).seq)
		return drv_fail(-EINVAL, "job %llu was never submitted to that queue",
				(unsigned long long)point.seq);
	return 0;
}

int embed_points(const struct tuff_point *points, unsigned count, struct cs_point *out)
{
	int r = 0;

	if (count > EMBED_POINTS_MAX || (count && !points))
		return drv_fail(-EINVAL, "%u points; at most %u", count, EMBED_POINTS_MAX);
	for (unsigned i = 0; !r && i < count; i++)
		r = embed_point(points[i], &out[i]);
	return r;
}

int tuff_poll(struct tuff_point point)
{
	struct cs_point p;
	int r = embed_point(point, &p);

	return r ? r : cs_point_poll(p);
}

int tuff_wait(struct tuff_point point, int64_t timeout_ns)
{
	struct cs_point p;
	int r = embed_point(point, &p);

	return r ? r : cs_point_wait(p, timeout_ns);
}

int tuff_wait_all(const struct tuff_point *points, unsigned count, int64_t timeout_ns)
{
	struct cs_point p[EMBED_POINTS_MAX];
	int r = embed_points(points, count, p);

	return r ? r : cs_points_wait_all(p, count, timeout_ns);
}

int tuff_wait_any(const struct tuff_point *points, unsigned count, int64_t timeout_ns, unsigned *index)
{
	struct cs_point p[EMBED_POINTS_MAX];
	int r = embed_points(points, count, p);

	if (!r && (!count || !index))
		r = drv_fail(-EINVAL, count ? "no place for the index" : "none of no points is ever reached");
	return r ? r : cs_points_wait_any(p, count, timeout_ns, index);
}
