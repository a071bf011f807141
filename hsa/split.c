/* The watchdog: the kernel resets a ring whose job takes longer than 60 s, since Linux 6.18 10 s, since 7.0 2 s. A
 * grid of very many groups is therefore submitted in parts, each a job of its own: the first as large as what runs
 * at a time, the following ones so large that, at the rate of the last, they take a fraction of the limit.
 *
 * Between two parts the queue stops, and the progress thread goes on: a part's time is known when it has ended.
 * That costs a small gap for each part. A kernel whose groups wait for one another across the whole grid would
 * hang: such are cooperative (their grids stay whole), or have to be named in TUFF_WHOLE. */
#include <errno.h>
#include <string.h>

#include "hsa/queue.h"

#define TIMES_RESIDENT 64 /* how much larger than what is resident a grid must be */
#define GROWTH         16 /* of a part, from one to the next, at most */
/* DRM 3.64 is Linux 6.16 to 7.0, which it does not tell apart; before, the limit is 60 s. */
#define SHORT_WATCHDOG_DRM 64
#define LONG_WATCHDOG      20 /* times as long then */

uint64_t rt_part_ns(const struct rt_gpu *gpu)
{
	uint64_t ns = drv_config()->split_ms * 1000000ull;

	return gpu->dev->drm_minor < SHORT_WATCHDOG_DRM ? LONG_WATCHDOG * ns : ns;
}

static uint64_t resident_lanes(const struct rt_gpu *gpu)
{
	return (uint64_t)gpu->dev->facts.ring_cus * gpu->dev->chip->waves_per_cu * gpu->dev->chip->wave_lanes;
}

uint64_t rt_split_limit(const struct rt_gpu *gpu, hsa_queue_type32_t type)
{
	if (!gpu || type == HSA_QUEUE_TYPE_COOPERATIVE || !drv_config()->split_ms)
		return UINT64_MAX;
	return TIMES_RESIDENT * resident_lanes(gpu);
}

/* name: as kernels are called, without ".kd". */
static bool is_named(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (!strncmp(at, name, length) && (!at[length] || at[length] == ','))
			return true;
	return false;
}

uint64_t rt_count_groups(const hsa_kernel_dispatch_packet_t *p, uint32_t *groups)
{
	groups[0] = (p->grid_size_x + p->workgroup_size_x - 1ull) / p->workgroup_size_x;
	groups[1] = (p->grid_size_y + p->workgroup_size_y - 1ull) / p->workgroup_size_y;
	groups[2] = (p->grid_size_z + p->workgroup_size_z - 1ull) / p->workgroup_size_z;
	return (uint64_t)groups[0] * groups[1] * groups[2];
}

bool rt_split_wanted(const struct rt_queue *q, const hsa_kernel_dispatch_packet_t *p,
		     const struct rt_known_kernel *known)
{
	uint32_t groups[3];
	uint64_t count = rt_count_groups(p, groups);

	if (q->split.packet) /* it has begun */
		return true;
	if (known->group_ps && count < rt_part_ns(q->gpu) * 1000 / known->group_ps)
		return false;
	return !is_named(drv_config()->whole, known->kernel->name);
}

/* The part that ran says how large the next may be. */
static void learn(struct rt_queue *q, struct rt_known_kernel *known)
{
	uint64_t ns = rt_channel_clock_ns(q->channel, q->split.point.seq), most;

	known->group_ps = ns * 1000 / q->split.groups + 1;
	most = rt_part_ns(q->gpu) * 1000 / known->group_ps + 1;
	q->split.want = most < q->split.groups * GROWTH ? most : q->split.groups * GROWTH;
	drv_log(DRV_LOG_HSA, "a part of %llu groups of %s took %llu us; the next has at most %llu",
		(unsigned long long)q->split.groups, known->kernel->name, (unsigned long long)(ns / 1000),
		(unsigned long long)q->split.want);
}

/* The next box of at most `want` groups: whole slices, rows of one, or groups of one row. */
static void cut(struct rt_split *s, const uint32_t *groups, struct cs_launch *l)
{
	uint64_t row = groups[0], slice = row * groups[1];
	unsigned axis = !s->at[0] && !s->at[1] && s->want >= slice ? 2 : !s->at[0] && s->want >= row ? 1 : 0;
	uint64_t unit = axis == 2 ? slice : axis == 1 ? row : 1, most = s->want / unit;

	for (unsigned i = 0; i < 3; i++) {
		l->first_group[i] = s->at[i];
		l->group_count[i] = i < axis ? groups[i] : 1;
	}
	if (most < groups[axis] - s->at[axis])
		l->group_count[axis] = (uint32_t)most;
	else
		l->group_count[axis] = groups[axis] - s->at[axis];
	s->groups = unit * l->group_count[axis];
	s->at[axis] += l->group_count[axis];
	for (unsigned i = axis; i < 2 && s->at[i] == groups[i]; i++) {
		s->at[i] = 0;
		s->at[i + 1]++;
	}
}

int rt_split_ready(struct rt_queue *q, struct rt_known_kernel *known)
{
	int end = q->split.packet ? cs_point_poll(q->split.point) : 1;

	if (end <= 0)
		return end ? end : -EAGAIN;
	if (q->split.packet)
		learn(q, known);
	return 0;
}

bool rt_split_cut(struct rt_queue *q, const hsa_kernel_dispatch_packet_t *p, uint64_t index, struct cs_launch *l)
{
	uint32_t threads = (uint32_t)p->workgroup_size_x * p->workgroup_size_y * p->workgroup_size_z, groups[3];
	struct rt_split *s = &q->split;

	rt_count_groups(p, groups);
	if (!s->packet)
		*s = (struct rt_split){.packet = index + 1, .want = resident_lanes(q->gpu) / threads + 1};
	cut(s, groups, l);
	return s->at[2] == groups[2];
}
