/* What clients gave back, and what a copy borrowed, while work of GPUs may still use it: it ends when that work
 * has. (Blocks of pools wait in pool/.) The progress thread looks, and who is about to need something. */
#include "hsa/memory.h"

#include <stdlib.h>

/* Takes those out that nothing uses any more; free_lock held. */
static struct rt_leaving *reap_locked(struct rt_memory *memory)
{
	struct rt_leaving *gone = NULL, *l;

	for (struct rt_leaving **at = &memory->leaving; (l = *at);) {
		l->points = cs_points_unsettled(l->point, l->point, l->points);
		if (l->points) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		l->next = gone;
		gone = l;
	}
	return gone;
}

static void end_all(struct rt_leaving *gone)
{
	while (gone) {
		struct rt_leaving *next = gone->next;

		free(gone->point);
		gone->end(gone);
		gone = next;
	}
}

/* Notes what it waits for; without host memory, waits. free_lock held. */
static void note_locked(struct rt_leaving *l, const struct cs_point *points, unsigned count)
{
	l->points = 0;
	l->point = count ? malloc(count * sizeof(*points)) : NULL;
	if (l->point)
		l->points = cs_points_unsettled(l->point, points, count);
	else
		for (unsigned i = 0; i < count; i++)
			cs_point_settle(points[i]);
}

void rt_leave(struct rt *rt, uint32_t gpus, struct rt_leaving *leaving)
{
	struct cs_point points[RT_POINTS_MAX];
	struct rt_memory *memory = rt->memory;
	struct rt_leaving *gone;
	bool left;

	/* What is collected would otherwise be submitted after the points were taken. */
	if (rt->queues)
		rt_queues_flush(rt);
	pthread_mutex_lock(&memory->free_lock);
	note_locked(leaving, points, rt_memory_points(rt, gpus, points));
	leaving->next = memory->leaving;
	memory->leaving = leaving;
	gone = reap_locked(memory);
	left = memory->leaving;
	pthread_mutex_unlock(&memory->free_lock);
	end_all(gone);
	if (left && rt->progress)
		rt_progress_add(rt, &memory->reaper);
}

void rt_leave_reap(struct rt *rt)
{
	struct rt_leaving *gone;

	pthread_mutex_lock(&rt->memory->free_lock);
	gone = reap_locked(rt->memory);
	pthread_mutex_unlock(&rt->memory->free_lock);
	end_all(gone);
}

static bool attempt(struct rt *rt, struct rt_work *work)
{
	bool left;

	(void)work;
	rt_leave_reap(rt);
	pthread_mutex_lock(&rt->memory->free_lock);
	left = rt->memory->leaving;
	pthread_mutex_unlock(&rt->memory->free_lock);
	return !left;
}

void rt_leave_init(struct rt *rt)
{
	rt->memory->reaper.attempt = attempt;
}

void rt_leave_forget_ring_locked(struct rt *rt, const struct cs_ring *ring)
{
	for (struct rt_leaving *l = rt->memory->leaving; l; l = l->next) {
		unsigned kept = 0;

		for (unsigned i = 0; i < l->points; i++)
			if (l->point[i].ring != ring)
				l->point[kept++] = l->point[i];
		l->points = kept;
	}
}

void rt_leave_fini(struct rt *rt)
{
	struct rt_leaving *gone = rt->memory->leaving;

	rt->memory->leaving = NULL;
	end_all(gone);
}
