/* Plans: the branch and the waits of each segment (graph_plan.h).
 *
 * Each device has a branch for its kernels. An operation that the whole rest of the graph depends on is added
 * there, too, so that a chain stays in one stream. Other operations get branches of their own, up to a limit, so
 * that they run beside the kernels; an operation that depends on a branch's last segment is added to that branch.
 *
 * The needs of a step are a number for each branch: steps of the branch below that number are completed before the
 * step. Steps are counted as in the graph, so that a number identifies a step and its segment.
 */
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "api/exec/blit.h"
#include "api/graph/graph_plan.h"

#define OPERATION_LANES 4 /* branches besides those for devices' kernels */

/* Retired plans, which the GPU may still read. */
static struct {
	struct drv_mutex lock;
	struct hip_plan *list;
} retired_plans = {.lock = DRV_MUTEX(DRV_RANK_HIP_PLANS)};

static size_t args_size(const struct hip_launch *l)
{
	return hip_args_size(l->kernel->cs->kernarg_B);
}

/* --- retired plans ---------------------------------------------------------------------------- */

static void branch_free(struct hip_plan_branch *branch)
{
	if (branch->stream)
		(void)!hip_stream_destroy((hipStream_t)(uintptr_t)branch->stream->handle);
	hip_stream_put(branch->stream);
	if (branch->args)
		hsa_amd_memory_pool_free(branch->args);
	free(branch->packets);
	free(branch->works);
}

static void free_segment(struct hip_plan_segment *segment)
{
	hip.hsa->segment_destroy(segment->dispatches);
	hip_point_put(&segment->point);
}

static void free_plan(struct hip_plan *p)
{
	hip_point_put(&p->end);
	hip_point_put(&p->begin);
	for (uint32_t i = 0; i < p->count; i++)
		free_segment(&p->segments[i]);
	for (uint32_t i = 0; i < p->branch_count; i++)
		branch_free(&p->branches[i]);
	free(p->branches);
	free(p->segments);
	free(p->waits);
	free(p);
}

/* False, too, while another thread submits to the branch's stream. */
static bool branch_has_ended(const struct hip_plan_branch *branch)
{
	struct hip_stream *s = branch->stream;

	return !s || hip_point_is_completed(&(struct hip_point){.stream = s, .index = hip_stream_written(s)});
}

/* The last launch is completed in the streams of the branches, too: its own stream may have been closed before it waited for
 * them. */
static bool plan_has_ended(const struct hip_plan *p)
{
	bool ended = hip_point_is_completed(&p->end);

	for (uint32_t i = 0; i < p->branch_count && ended; i++)
		ended = branch_has_ended(&p->branches[i]);
	return ended;
}

static void retired_reap(void)
{
	struct hip_plan **at = &retired_plans.list, *p;

	drv_mutex_lock(&retired_plans.lock);
	while ((p = *at))
		if (plan_has_ended(p)) {
			*at = p->next;
			free_plan(p);
		} else {
			at = &p->next;
		}
	drv_mutex_unlock(&retired_plans.lock);
}

void hip_plan_retire(struct hip_plan *p, const struct hip_point *last)
{
	if (p) {
		p->end = hip_point_get(last);
		drv_mutex_lock(&retired_plans.lock);
		p->next = retired_plans.list;
		retired_plans.list = p;
		drv_mutex_unlock(&retired_plans.lock);
	}
	retired_reap();
}

/* The retired plan of that last launch that still runs. NULL: none. */
static struct hip_plan *running_plan_locked(const struct hip_point *last)
{
	struct hip_plan *p = retired_plans.list;

	drv_rank_assert(DRV_RANK_HIP_PLANS);
	while (p && (p->end.stream != last->stream || p->end.index != last->index || plan_has_ended(p)))
		p = p->next;
	return p;
}

/* Makes the stream wait for another one, if there is one, and then call the host, if it shall. */
static hipError_t put_behind(struct hip_stream *s, struct hip_stream *other, const struct hip_host *host)
{
	struct hip_point point = {0};
	hipError_t r = hip_stream_begin(s);

	if (r)
		return r;
	if (other)
		point = hip_stream_point(other);
	r = hip_stream_after(s, &point);
	if (!r && host)
		r = hip_host_put(s, host);
	hip_stream_done(s);
	hip_point_put(&point);
	return r;
}

bool hip_plan_call_behind(const struct hip_point *last, const struct hip_host *host)
{
	struct hip_stream *before = NULL;
	const struct hip_plan *p;
	hipError_t r = hipSuccess;

	if (!hip_point_is_completed(last) && !put_behind(last->stream, NULL, host))
		return true;
	drv_mutex_lock(&retired_plans.lock);
	p = running_plan_locked(last);
	for (uint32_t i = 0; p && i < p->branch_count && !r; i++)
		if (!branch_has_ended(&p->branches[i])) {
			r = put_behind(p->branches[i].stream, before, NULL);
			before = p->branches[i].stream;
		}
	if (before && !r)
		r = put_behind(before, NULL, host);
	drv_mutex_unlock(&retired_plans.lock);
	return before && !r;
}

void hip_plan_wait(const struct hip_point *last)
{
	struct drv_pause pause = {0};
	bool runs = true;

	if (!hip_point_is_completed(last))
		(void)!hip_point_wait(last);
	while (runs) {
		drv_mutex_lock(&retired_plans.lock);
		runs = running_plan_locked(last);
		drv_mutex_unlock(&retired_plans.lock);
		if (runs)
			drv_pause(&pause);
	}
}

/* --- the state of a plan that is made --------------------------------------------------------- */

struct maker {
	const struct hip_plan_nodes *steps;
	struct hip_plan *plan;
	uint32_t *needs;                         /* needs of each step, a number for each branch; 0: none */
	uint32_t *segment;                       /* index of each step's segment */
	uint32_t *followers;                     /* number of steps that depend directly on each step */
	struct dispatch {                        /* an entry for each step: */
		const struct hip_launch *launch; /* NULL: the step cannot be part of a segment of kernels */
		struct hip_device *device;       /* the kernel's device, if there is a launch */
		struct hip_launch blit;          /* a copy's or fill's kernel, and its arguments: */
		struct hip_blit_args args;
		struct hip_tool_work work;
		uint32_t header;
	} *dispatches;
	/* Edges into steps that are not planned yet: from planned steps, and for steps without dependencies. */
	uint32_t open;
	size_t wait_count, wait_room;
	struct row {
		uint32_t last; /* last step of the branch, counted from 1 */
		/* Step below which the branch's kernels are waited for by everything that it gets next. */
		uint32_t seen;
		uint32_t newest; /* last segment of the branch, counted from 1 */
		/* Last segment of kernels, if further ones may be added to it, counted from 1; 0: none. */
		uint32_t segment;
		uint32_t *waited_for; /* steps of each branch that this one waits for */
		uint32_t kernels;     /* kernels so far */
		size_t args_B;
	} *rows; /* a row for each branch */
};

static void free_maker(struct maker *m)
{
	free(m->needs);
	free(m->segment);
	free(m->followers);
	free(m->dispatches);
	free(m->rows);
}

static uint32_t *needs_of(const struct maker *m, size_t step)
{
	return m->needs + step * m->plan->branch_count;
}

/* The work of the step; NULL: it does nothing. */
static struct hip_work *work_of(const struct hip_plan_node *step)
{
	return step->node && !step->node->disabled ? &step->node->work : NULL;
}

/* Takes a kernel's launch, if it can be part of a segment of kernels. */
static void take_kernel(struct dispatch *d, const struct hip_launch *l)
{
	d->device = l->kernel->device;
	if (l->cooperative || l->kernel->prints)
		return;
	d->launch = l;
	d->header = HIP_LAUNCH_HEADER;
	d->work = (struct hip_tool_work){.op = HIP_TOOL_DISPATCH, .kind = HIP_TOOL_KERNEL};
}

/* Takes a copy or fill that one kernel can do. Host memory is handled by the first branch's device. */
static void take_blit(struct dispatch *d, const struct hip_op *op, struct hip_device *first)
{
	struct hip_blit blit;

	if (hip_op_blit(op, &blit))
		return;
	d->device = blit.device ? blit.device : first;
	if (!d->device || hip_blit_launch(d->device, &blit, &d->args, &d->blit))
		return;
	d->launch = &d->blit;
	d->header = hip_blit_header(&blit);
	d->work = hip_blit_work(&blit);
}

/* The branch for the device's kernels; the first branch belongs to the device of the first kernel. */
static uint32_t kernel_branch(const struct hip_plan *p, const struct hip_device *device)
{
	return !device || device == p->branches[0].device ? 0 : 1 + (uint32_t)device->index;
}

/* Counts the followers of each step, and finds the kernels; the device of the first one gets the first branch. */
static hipError_t find_kernels(struct maker *m)
{
	struct hip_plan *p = m->plan;

	for (size_t i = 0; i < m->steps->count; i++) {
		const struct hip_plan_node *step = &m->steps->at[i];
		struct hip_work *w = work_of(step);
		hipError_t r;

		m->open += !step->count;
		for (uint32_t k = 0; k < step->count; k++)
			m->followers[m->steps->links[step->first + k]]++;
		if (step->node && !hip_work_lives(&step->node->work))
			return hipErrorContextIsDestroyed;
		if (!w || w->type != hipGraphNodeTypeKernel)
			continue;
		r = hip_work_find_kernel(w);
		if (r)
			return r;
		take_kernel(&m->dispatches[i], &w->op.launch);
		if (!p->branches[0].device)
			p->branches[0].device = m->dispatches[i].device;
	}
	return hipSuccess;
}

/* Finds the copies and fills that kernels can do, and counts the dispatches of each branch. */
static void count_dispatches(struct maker *m)
{
	struct hip_plan *p = m->plan;

	for (size_t i = 0; i < m->steps->count; i++) {
		const struct hip_work *w = work_of(&m->steps->at[i]);
		struct dispatch *d = &m->dispatches[i];
		struct hip_plan_branch *branch;

		if (w && w->type != hipGraphNodeTypeKernel) {
			d->device = hip_op_device(&w->op);
			take_blit(d, &w->op, p->branches[0].device);
		}
		if (!p->branches[0].device)
			p->branches[0].device = d->device;
		if (!d->launch)
			continue;
		branch = &p->branches[kernel_branch(p, d->device)];
		branch->device = d->device;
		branch->kernels++;
		branch->args_B += args_size(d->launch);
	}
}

static hipError_t branch_allocate(struct hip_plan_branch *branch)
{
	if (!branch->kernels)
		return hipSuccess;
	branch->packets = calloc(branch->kernels, sizeof(branch->packets[0]));
	branch->works = calloc(branch->kernels, sizeof(branch->works[0]));
	branch->args = branch->args_B ? hip_args_allocate(branch->device, branch->args_B) : NULL;
	return !branch->packets || !branch->works || (branch->args_B && !branch->args) ? hipErrorOutOfMemory
										       : hipSuccess;
}

static hipError_t arrays_allocate(struct maker *m)
{
	size_t steps = m->steps->count, branches = 1 + hip.devices + OPERATION_LANES;
	struct hip_plan *p = m->plan;

	p->branches = calloc(branches, sizeof(p->branches[0]));
	p->branch_count = p->branches ? (uint32_t)branches : 0;
	p->segments = calloc(steps + 1, sizeof(p->segments[0]));
	/* Rows for the branches follow those for the steps. */
	m->needs = calloc(steps + branches, branches * sizeof(m->needs[0]));
	m->segment = calloc(steps + 1, sizeof(m->segment[0]));
	m->followers = calloc(steps + 1, sizeof(m->followers[0]));
	m->dispatches = calloc(steps + 1, sizeof(m->dispatches[0]));
	m->rows = calloc(branches, sizeof(m->rows[0]));
	if (!p->branches || !m->dispatches || !p->segments || !m->needs || !m->segment || !m->followers || !m->rows)
		return hipErrorOutOfMemory;
	for (size_t i = 0; i < branches; i++)
		m->rows[i].waited_for = needs_of(m, steps + i);
	return hipSuccess;
}

/* --- branches ------------------------------------------------------------------------------------ */

/* Chooses a branch for an operation: one whose last step the operation depends on, else an unused one, else the one
 * that was used longest ago. 0: none. */
static uint32_t operation_branch(struct maker *m, struct hip_device *device, const uint32_t *needs)
{
	struct hip_plan *p = m->plan;
	uint32_t best = 0;

	for (uint32_t i = p->branch_count - OPERATION_LANES; i < p->branch_count; i++) {
		bool used = m->rows[i].last;

		if (used && p->branches[i].device != device)
			continue;
		if (used && m->rows[i].last == needs[i])
			return i;
		if (!best || m->rows[i].last < m->rows[best].last)
			best = i;
	}
	if (best && !m->rows[best].last)
		p->branches[best].device = device;
	return best;
}

/* last: everything that is not planned yet depends on the step. */
static uint32_t branch_choose(struct maker *m, const struct dispatch *d, const uint32_t *needs, bool last)
{
	struct hip_device *device = d->device;
	uint32_t branch = d->launch || last ? 0 : operation_branch(m, device, needs);

	if (!branch) {
		branch = kernel_branch(m->plan, device);
		if (device)
			m->plan->branches[branch].device = device;
	}
	return branch;
}

/* --- segments ----------------------------------------------------------------------------------- */

/* True when the need of `branch` is met by waiting for `by`, whose needed step itself waits for it. */
static bool need_covered(const struct maker *m, const uint32_t *needs, uint32_t branch, uint32_t by)
{
	return by != branch && needs[by] && needs_of(m, needs[by] - 1)[branch] >= needs[branch];
}

static bool must_wait(const struct maker *m, uint32_t branch, const uint32_t *needs, uint32_t other)
{
	if (other == branch || needs[other] <= m->rows[branch].waited_for[other])
		return false;
	for (uint32_t by = 0; by < m->plan->branch_count; by++)
		if (need_covered(m, needs, other, by))
			return false;
	return true;
}

static bool must_wait_for_any(const struct maker *m, uint32_t branch, const uint32_t *needs)
{
	for (uint32_t i = 0; i < m->plan->branch_count; i++)
		if (must_wait(m, branch, needs, i))
			return true;
	return false;
}

static hipError_t append_wait(struct maker *m, struct hip_plan_segment *segment, uint32_t other)
{
	struct hip_plan *p = m->plan;
	uint32_t *waits = hip_list_grow(p->waits, &m->wait_room, m->wait_count, sizeof(*waits));

	if (!waits)
		return hipErrorOutOfMemory;
	p->waits = waits;
	p->waits[m->wait_count++] = other;
	segment->waits++;
	p->segments[other].awaited = true;
	return hipSuccess;
}

/* Adds the waits of a segment. A segment that is waited for is closed: kernels that its branch gets later may run
 * at the same time as the waiting segment. */
static hipError_t append_waits(struct maker *m, struct hip_plan_segment *segment, const uint32_t *needs)
{
	struct row *row = &m->rows[segment->branch];
	hipError_t r = hipSuccess;

	segment->wait = (uint32_t)m->wait_count;
	for (uint32_t i = 0; i < m->plan->branch_count && !r; i++)
		if (must_wait(m, segment->branch, needs, i)) {
			m->rows[i].segment = 0;
			r = append_wait(m, segment, m->segment[needs[i] - 1]);
		}
	for (uint32_t i = 0; i < m->plan->branch_count; i++)
		if (needs[i] > row->waited_for[i])
			row->waited_for[i] = needs[i];
	return r;
}

static hipError_t open_segment(struct maker *m, uint32_t branch, const uint32_t *needs,
			       struct hip_plan_segment **segment)
{
	*segment = &m->plan->segments[m->plan->count++];
	(*segment)->branch = branch;
	m->rows[branch].newest = m->plan->count;
	m->rows[branch].segment = 0;
	return append_waits(m, *segment, needs);
}

/* Without the barrier bit the kernel waits for nothing before it, and needs no acquire of the device's memory. */
static uint32_t header_of(const struct dispatch *d, bool waits)
{
	const uint32_t scopes = 3u << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE;
	uint32_t header = d->header;

	if (waits)
		return header;
	header &= ~(1u << HSA_PACKET_HEADER_BARRIER);
	return d->header == HIP_LAUNCH_HEADER ? header & ~scopes : header;
}

static void write_kernel(struct row *row, const struct hip_plan_branch *branch, const struct dispatch *d,
			 bool waits)
{
	hsa_kernel_dispatch_packet_t *packet = &branch->packets[row->kernels];

	hip_launch_prepare(d->launch, header_of(d, waits), packet, branch->args + row->args_B);
	branch->works[row->kernels++] = d->work;
	row->args_B += args_size(d->launch);
}

static hipError_t append_kernel(struct maker *m, uint32_t branch, const uint32_t *needs, const struct dispatch *d)
{
	struct row *row = &m->rows[branch];
	bool opens = !row->segment || must_wait_for_any(m, branch, needs);
	bool waits = opens || needs[branch] > row->seen;
	struct hip_plan_segment *segment = NULL;

	if (opens) {
		hipError_t r = open_segment(m, branch, needs, &segment);

		if (r)
			return r;
		segment->first = row->kernels;
		row->segment = m->plan->count;
	}
	if (waits)
		row->seen = row->last;
	m->plan->segments[row->segment - 1].count++;
	write_kernel(row, &m->plan->branches[branch], d, waits);
	return hipSuccess;
}

static hipError_t append_operation(struct maker *m, uint32_t branch, const uint32_t *needs,
				   const struct hip_work *w)
{
	struct hip_plan_segment *segment;
	hipError_t r = open_segment(m, branch, needs, &segment);

	segment->work = w;
	return r;
}

static hipError_t plan_step(struct maker *m, size_t i)
{
	const struct hip_plan_node *step = &m->steps->at[i];
	const struct hip_work *w = work_of(step);
	const struct dispatch *d = &m->dispatches[i];
	uint32_t *needs = needs_of(m, i), branch;
	hipError_t r;

	for (uint32_t k = 0; k < step->count; k++) {
		const uint32_t *before = needs_of(m, m->steps->links[step->first + k]);

		for (branch = 0; branch < m->plan->branch_count; branch++)
			needs[branch] = before[branch] > needs[branch] ? before[branch] : needs[branch];
	}
	m->open -= step->count ? step->count : 1;
	if (w && w->type == hipGraphNodeTypeMemAlloc) {
		m->plan->segments[m->plan->count++].work = w;
	} else if (w) {
		branch = branch_choose(m, d, needs, !m->open);
		r = d->launch ? append_kernel(m, branch, needs, d) : append_operation(m, branch, needs, w);
		if (r)
			return r;
		m->segment[i] = m->rows[branch].newest - 1;
		m->rows[branch].last = needs[branch] = (uint32_t)i + 1;
	}
	m->open += m->followers[i];
	return hipSuccess;
}

/* --- making a plan ---------------------------------------------------------------------------- */

static hipError_t make_segments(const struct hip_plan *p)
{
	int r = 0;

	for (uint32_t i = 0; i < p->count && !r; i++) {
		struct hip_plan_segment *segment = &p->segments[i];
		const struct hip_plan_branch *branch = &p->branches[segment->branch];

		if (segment->count)
			r = hip.hsa->segment_create(branch->device->agent, branch->packets + segment->first,
						    segment->count, &segment->dispatches);
	}
	return hip_of_errno(r);
}

static hipError_t plan_make(struct maker *m)
{
	struct hip_plan *p = m->plan;
	hipError_t r = arrays_allocate(m);

	r = r ? r : find_kernels(m);
	if (!r)
		count_dispatches(m);
	for (uint32_t i = 0; i < p->branch_count && !r; i++)
		r = branch_allocate(&p->branches[i]);
	for (size_t i = 0; i < m->steps->count && !r; i++)
		r = plan_step(m, i);
	for (uint32_t i = 1; i < p->branch_count && !r; i++)
		p->branches[i].joined = m->rows[0].waited_for[i] >= m->rows[i].last;
	/* Unused branches are removed, so that launches do not visit them. */
	while (!r && p->branch_count > 1 && !m->rows[p->branch_count - 1].last)
		p->branch_count--;
	return r ? r : make_segments(p);
}

hipError_t hip_plan_make(const struct hip_plan_nodes *steps, struct hip_plan **out)
{
	struct maker m = {.steps = steps, .plan = calloc(1, sizeof(*m.plan))};
	hipError_t r = m.plan ? plan_make(&m) : hipErrorOutOfMemory;

	free_maker(&m);
	if (r) {
		if (m.plan)
			free_plan(m.plan);
		return r;
	}
	*out = m.plan;
	return hipSuccess;
}
