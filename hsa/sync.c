/* Syncobjs of other drivers in queues of our HIP library (door.h): each wait and each signal is a job of its own,
 * in the ring's order, that does nothing. A wait is submitted only when there is a fence to wait for: a job without
 * one would be refused. */
#include <errno.h>
#include <stdlib.h>

#include "hsa/batch.h"

struct syncobj {
	struct syncobj *next;
	uint64_t id;
	const struct rt_gpu *gpu; /* borrowed */
	struct cs_sync sync;      /* owned */
};

struct rt_syncs {
	pthread_mutex_t lock; /* guards all below; inside a queue's busy */
	struct syncobj *first;
	uint64_t last_id;
};

int rt_syncs_init(struct rt *rt)
{
	rt->syncs = calloc(1, sizeof(*rt->syncs));
	if (!rt->syncs)
		return drv_fail(-ENOMEM, "no host memory for syncobjs");
	pthread_mutex_init(&rt->syncs->lock, NULL);
	return 0;
}

static void sync_free(struct syncobj *s)
{
	cs_sync_fini(&s->sync);
	free(s);
}

void rt_syncs_fini(struct rt *rt)
{
	struct rt_syncs *all = rt->syncs;

	while (all->first) {
		struct syncobj *s = all->first;

		all->first = s->next;
		sync_free(s);
	}
	pthread_mutex_destroy(&all->lock);
	free(all);
}

int rt_sync_import(struct rt *rt, const struct rt_gpu *gpu, int fd, uint64_t *out)
{
	struct rt_syncs *all = rt->syncs;
	struct syncobj *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return drv_fail(-ENOMEM, "no host memory for a syncobj");
	r = cs_sync_import(gpu->vm, fd, false, &s->sync);
	if (r) {
		free(s);
		return r;
	}
	s->gpu = gpu;
	pthread_mutex_lock(&all->lock);
	s->id = ++all->last_id;
	s->next = all->first;
	all->first = s;
	*out = s->id;
	pthread_mutex_unlock(&all->lock);
	return 0;
}

static struct syncobj **find_locked(struct rt_syncs *all, uint64_t id)
{
	struct syncobj **at = &all->first;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

void rt_sync_drop(struct rt *rt, uint64_t id)
{
	struct rt_syncs *all = rt->syncs;
	struct syncobj **at, *s;

	pthread_mutex_lock(&all->lock);
	at = find_locked(all, id);
	s = *at;
	if (s)
		*at = s->next;
	pthread_mutex_unlock(&all->lock);
	if (s)
		sync_free(s);
}

static int submit(struct rt_queue *q, const struct cs_sync_point *point, bool signal, uint64_t index)
{
	const struct cs_order order = {
		.wait = point, .signal = point, .wait_count = !signal, .signal_count = signal};
	struct rt_channel *c = q->channel;
	struct cs_ib *ib;
	int r = cs_begin(c->ring, CS_NOWAIT | CS_ORDERED, &ib);

	if (r)
		return r;
	rt_channel_note(c, index, 0);
	return cs_submit(ib, &order, NULL);
}

/* No job is open. -EAGAIN: nothing that was submitted brings what is waited for. */
static int put(struct rt_queue *q, const struct rt_sync_packet *p, uint64_t index)
{
	struct rt_syncs *all = q->rt->syncs;
	struct syncobj *s;
	int r = 0;

	pthread_mutex_lock(&all->lock);
	s = *find_locked(all, p->sync);
	if (s && s->gpu != q->gpu)
		r = drv_fail(-EINVAL, "a syncobj of another GPU");
	else if (s && !p->signal && !cs_sync_available(&s->sync, p->value))
		r = -EAGAIN;
	else if (s)
		r = submit(q, &(struct cs_sync_point){&s->sync, p->value}, p->signal, index);
	/* As Vulkan has it: the next signal is another's. */
	if (s && !r && !p->signal && !p->value)
		r = cs_sync_reset(&s->sync);
	pthread_mutex_unlock(&all->lock);
	return r;
}

enum rt_outcome rt_sync(struct rt_batch *b, const struct rt_sync_packet *p)
{
	int r = rt_batch_close(b);

	r = r ? r : put(b->queue, p, b->index);
	return r == -EAGAIN ? RT_STOPPED : r ? rt_batch_not_submitted(b, r) : RT_TAKEN;
}
