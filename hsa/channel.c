/* Channels: what the jobs of queues run on. They outlive their queues, which get them in turn (queue.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/queue.h"

#define CHANNELS_MAX (sizeof(((struct rt_queues *)0)->all) / sizeof(((struct rt_queues *)0)->all[0]))

static void destroy_channel(struct rt_channel *c)
{
	cs_ring_destroy(c->ring);
	cs_ctx_destroy(c->ctx);
	vm_piece_free(&c->count);
	free(c);
}

/* The count's memory: the word, and two words of a clock for each job that is tracked. */
#define CLOCK_AT_B 64
#define CLOCK_B    16
#define COUNT_B    (CLOCK_AT_B + RT_JOBS_TRACKED * CLOCK_B)

/* Rings of the device in turn, so that queues run side by side. */
static unsigned next_ring(struct rt_gpu *gpu)
{
	uint32_t rings = gpu->dev->facts.ip[DRV_IP_COMPUTE].rings;
	unsigned skip = atomic_fetch_add(&gpu->next_ring, 1) % (unsigned)__builtin_popcount(rings);

	while (skip--)
		rings &= rings - 1;
	return (unsigned)__builtin_ctz(rings);
}

static int create_channel(struct rt_gpu *gpu, enum cs_priority priority, bool cooperative, struct rt_channel **out)
{
	const struct vm_info info = {
		.size_B = COUNT_B, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	struct rt_channel *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return drv_fail(-ENOMEM, "no host memory for a queue");
	c->gpu = gpu;
	c->priority = priority;
	c->cooperative = cooperative;
	r = cs_ctx_create(gpu->vm, priority, &c->ctx);
	/* A high priority is a wish: most processes may not have it. */
	if (r == -EACCES)
		r = cs_ctx_create(gpu->vm, CS_PRIORITY_NORMAL, &c->ctx);
	if (!r)
		r = cs_ring_create(c->ctx, DRV_IP_COMPUTE, next_ring(gpu), cs_pm4_print, &c->ring);
	if (!r && cooperative)
		r = cs_ring_use_gws(c->ring);
	if (!r)
		r = vm_piece_alloc(gpu->vm, &info, &c->count);
	if (r) {
		destroy_channel(c);
		return r;
	}
	memset(c->count.map, 0, sizeof(uint64_t));
	*out = c;
	return 0;
}

/* What was lost while nobody had it, the kernel knows. */
static bool is_lost(struct rt_channel *c)
{
	return cs_ctx_lost(c->ctx) || (cs_ctx_look(c->ctx) && cs_ctx_lost(c->ctx));
}

/* From the list of free ones, without those that are lost; NULL: there is none. channel_lock held. */
static struct rt_channel *take_free(struct rt_queues *s, const struct rt_queue *q, enum cs_priority priority)
{
	struct rt_channel **at = &s->free, *c;

	while ((c = *at)) {
		if (c->gpu != q->gpu || c->priority != priority || c->cooperative != q->cooperative) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		if (!is_lost(c))
			return c;
	}
	return NULL;
}

/* One that a queue gave back, or a new one. */
static int get_channel(struct rt_queue *q, enum cs_priority priority, struct rt_channel **out)
{
	struct rt_queues *s = q->rt->queues;
	int r = 0;

	pthread_mutex_lock(&s->channel_lock);
	*out = take_free(s, q, priority);
	if (!*out && s->channels == CHANNELS_MAX) {
		r = drv_fail(-ENOMEM, "more than %zu queues", CHANNELS_MAX);
	} else if (!*out) {
		r = create_channel(q->gpu, priority, q->cooperative, out);
		if (!r)
			s->all[s->channels++] = *out;
	}
	pthread_mutex_unlock(&s->channel_lock);
	return r;
}

void rt_channel_put(struct rt *rt, struct rt_channel *c)
{
	if (!c)
		return;
	/* A lost one stays lost; signals may name it until the end. */
	if (cs_ctx_lost(c->ctx))
		return;
	pthread_mutex_lock(&rt->queues->channel_lock);
	c->next = rt->queues->free;
	rt->queues->free = c;
	pthread_mutex_unlock(&rt->queues->channel_lock);
}

/* A context has one priority for life: a queue whose priority changed goes on with another channel as soon as its
 * work has ended. */
int rt_queue_new_channel(struct rt_queue *q)
{
	struct rt_channel *old = q->channel, *new = NULL;
	int r;

	if (old && !cs_point_settled(cs_ring_last(old->ring)))
		return 0;
	q->channel = NULL;
	rt_channel_put(q->rt, old);
	r = get_channel(q, atomic_load(&q->priority), &new);
	if (!r) /* what was read so far has ended: on this channel's last job nothing more depends */
		atomic_store(&new->end[cs_ring_last(new->ring).seq % RT_JOBS_TRACKED], q->amd->read_dispatch_id);
	q->channel = new;
	return r;
}

void rt_channels_fini(struct rt *rt)
{
	struct rt_queues *s = rt->queues;

	while (s->channels) {
		struct rt_channel *c = s->all[--s->channels];

		rt_memory_forget_ring(rt, c->ring);
		destroy_channel(c);
	}
}

/* --- clocks ----------------------------------------------------------------------------------- */

uint64_t rt_clock_ns(const struct rt_gpu *gpu, const void *words)
{
	const volatile uint64_t *word = words;

	return (word[1] - word[0]) * 1000000 / gpu->dev->facts.counter_kHz;
}

static uint32_t clock_at_B(uint64_t seq)
{
	return CLOCK_AT_B + seq % RT_JOBS_TRACKED * CLOCK_B;
}

void rt_channel_start_clock(const struct rt_channel *c, struct cs_ib *ib)
{
	rt_clock_start(ib, c->count.va + clock_at_B(cs_ring_last(c->ring).seq + 1));
}

struct cs_point rt_channel_stop_clock(const struct rt_channel *c, struct cs_ib *ib)
{
	const struct cs_point end = {c->ring, cs_ring_last(c->ring).seq + 1};

	rt_clock_stop(ib, c->count.va + clock_at_B(end.seq));
	return end;
}

uint64_t rt_channel_clock_ns(const struct rt_channel *c, uint64_t seq)
{
	return rt_clock_ns(c->gpu, (const char *)c->count.map + clock_at_B(seq));
}

/* --- progress --------------------------------------------------------------------------------- */

uint64_t rt_queue_completed(const struct rt_queue *q)
{
	const struct rt_channel *c = q->channel;
	uint64_t reached, index;

	if (!c)
		return 0;
	/* The place may belong to a later job when enough have ended meanwhile. */
	do {
		reached = cs_ring_reached(c->ring);
		index = atomic_load_explicit(&c->end[reached % RT_JOBS_TRACKED], memory_order_acquire);
	} while (__builtin_expect(cs_ring_reached(c->ring) - reached >= RT_JOBS_TRACKED - CS_JOBS_MAX, 0));
	return index;
}

bool rt_queue_point(const struct rt_queue *q, uint64_t index, struct cs_point *point)
{
	const struct rt_channel *c = q->channel;

	if (!c)
		return false;
	*point = cs_ring_last(c->ring);
	for (uint64_t last = point->seq, seq = cs_ring_reached(c->ring) + 1; seq <= last; seq++)
		if (atomic_load_explicit(&c->end[seq % RT_JOBS_TRACKED], memory_order_acquire) >= index) {
			point->seq = seq;
			return true;
		}
	return false;
}

/* --- all of them ------------------------------------------------------------------------------ */

bool rt_queues_busy(struct rt *rt)
{
	struct rt_queues *s = rt->queues;
	bool busy = false;

	pthread_mutex_lock(&s->channel_lock);
	for (unsigned i = 0; !busy && i < s->channels; i++)
		busy = cs_ring_unfinished(s->all[i]->ring) && !cs_ctx_lost(s->all[i]->ctx);
	pthread_mutex_unlock(&s->channel_lock);
	return busy;
}

unsigned rt_queues_points(struct rt *rt, struct rt_gpu *gpu, struct cs_point *points, unsigned max)
{
	struct rt_queues *s = rt->queues;
	unsigned count = 0;

	if (!s)
		return 0;
	pthread_mutex_lock(&s->channel_lock);
	for (unsigned i = 0; i < s->channels && count < max; i++)
		if (s->all[i]->gpu == gpu && cs_ring_unfinished(s->all[i]->ring))
			points[count++] = cs_ring_last(s->all[i]->ring);
	pthread_mutex_unlock(&s->channel_lock);
	return count;
}

bool rt_queues_run(struct rt *rt, const struct rt_gpu *gpu)
{
	struct rt_queues *s = rt->queues;
	bool yes = false;

	if (!s)
		return false;
	pthread_mutex_lock(&s->channel_lock);
	for (unsigned i = 0; !yes && i < s->channels; i++)
		yes = s->all[i]->gpu == gpu && cs_ring_busy(s->all[i]->ring);
	pthread_mutex_unlock(&s->channel_lock);
	return yes;
}

/* Asks the kernel, unless nothing has ended since it was asked last. The list's lock is held. */
static bool is_lost_now(struct rt_channel *c)
{
	uint64_t seq = cs_ring_last(c->ring).seq;

	if (c->looked == seq)
		return false;
	c->looked = cs_ring_unfinished(c->ring) ? 0 : seq;
	if (!cs_ctx_look(c->ctx))
		return false;
	/* Without an answer it is asked again. */
	c->looked = cs_ctx_lost(c->ctx) ? seq : 0;
	return c->looked;
}

struct cs_ring *rt_channels_lost(struct rt *rt, const struct rt_gpu *gpu)
{
	struct rt_queues *s = rt->queues;
	struct cs_ring *lost = NULL;

	pthread_mutex_lock(&s->channel_lock);
	for (unsigned i = 0; !lost && i < s->channels; i++)
		if ((!gpu || s->all[i]->gpu == gpu) && is_lost_now(s->all[i]))
			lost = s->all[i]->ring;
	pthread_mutex_unlock(&s->channel_lock);
	return lost;
}
