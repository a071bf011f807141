/* The watchdog: the kernel resets a ring whose job takes longer than 60 s, since Linux 6.18 10 s, since 7.0 2 s. A
 * grid of very many groups is therefore submitted in parts, each a job of its own: the first as large as what runs
 * at a time, the following ones so large that, at the rate of the last, they take a fraction of the limit.
 *
 * Between two parts the flow waits: a part's time is known when it has ended. That costs a small gap for each part.
 * A kernel whose groups wait for one another across the whole grid would hang: such are cooperative (their grids
 * stay whole), or have to be named in TUFF_WHOLE. */
#include <errno.h>
#include <string.h>

#include "drv/config.h"
#include "flow/internal.h"

#define TIMES_RESIDENT 64 /* how much larger than what is resident a grid must be */
#define GROWTH         16 /* growth of a part over the one before, at most */
/* DRM 3.64 is Linux 6.16 to 7.0, which it does not tell apart; before, the limit is 60 s. */
#define SHORT_WATCHDOG_DRM 64
#define LONG_WATCHDOG      20 /* times as long then */

uint64_t flow_job_ns(const struct drv_device *dev)
{
	uint64_t ns = drv_config()->split_ms * 1000000ull;

	return dev->drm_minor < SHORT_WATCHDOG_DRM ? LONG_WATCHDOG * ns : ns;
}

static uint64_t resident_lanes(const struct drv_device *dev)
{
	return (uint64_t)dev->facts.ring_cus * dev->chip->waves_per_cu * dev->chip->wave_lanes;
}

uint64_t flow_split_limit(const struct flow *f)
{
	return f->cooperative || !drv_config()->split_ms ? UINT64_MAX
							 : TIMES_RESIDENT * resident_lanes(f->gpu->dev);
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

uint64_t flow_count_groups(const hsa_kernel_dispatch_packet_t *p, uint32_t *groups)
{
	groups[0] = (p->grid_size_x + p->workgroup_size_x - 1ull) / p->workgroup_size_x;
	groups[1] = (p->grid_size_y + p->workgroup_size_y - 1ull) / p->workgroup_size_y;
	groups[2] = (p->grid_size_z + p->workgroup_size_z - 1ull) / p->workgroup_size_z;
	return (uint64_t)groups[0] * groups[1] * groups[2];
}

bool flow_split_wanted(const struct flow *f, const hsa_kernel_dispatch_packet_t *p, const struct flow_kernel *known)
{
	uint32_t groups[3];
	uint64_t count = flow_count_groups(p, groups);

	if (f->split.on) /* the grid has begun */
		return true;
	if (known->group_ps && count < f->job_ns * 1000 / known->group_ps)
		return false;
	return !is_named(drv_config()->whole, known->kernel->name);
}

/* The part that ran says how large the next may be. */
static void learn(struct flow *f, struct flow_kernel *known)
{
	uint64_t ns = flow_queue_clock_ns(f->queue, f->split.fence.seq), most;

	known->group_ps = ns * 1000 / f->split.groups + 1;
	most = f->job_ns * 1000 / known->group_ps + 1;
	f->split.want = most < f->split.groups * GROWTH ? most : f->split.groups * GROWTH;
	drv_log(DRV_LOG_HSA, "a part of %llu groups of %s took %llu us; the next has at most %llu",
		(unsigned long long)f->split.groups, known->kernel->name, (unsigned long long)(ns / 1000),
		(unsigned long long)f->split.want);
}

/* The next box of at most `want` groups: whole slices, rows of one, or groups of one row. */
static void cut(struct flow_split *s, const uint32_t *groups, struct cs_launch *l)
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

int flow_split_ready(struct flow *f, struct flow_kernel *known)
{
	int end = f->split.on ? cs_fence_poll(f->split.fence) : 1;

	if (end <= 0)
		return end ? end : -EAGAIN;
	if (f->split.on)
		learn(f, known);
	return 0;
}

bool flow_split_cut(struct flow *f, const hsa_kernel_dispatch_packet_t *p, struct cs_launch *l)
{
	uint32_t threads = (uint32_t)p->workgroup_size_x * p->workgroup_size_y * p->workgroup_size_z, groups[3];
	struct flow_split *s = &f->split;

	flow_count_groups(p, groups);
	if (!s->on)
		*s = (struct flow_split){.on = true, .want = resident_lanes(f->gpu->dev) / threads + 1};
	cut(s, groups, l);
	return s->at[2] == groups[2];
}
