/* Dispatches: a kernel, its grid and the address of its arguments, as HSA's packets have them. What was checked and
 * prepared once is good for all that differ in addresses and number only. */
#include <errno.h>
#include <string.h>

#include "flow/internal.h"

static struct flow_kernel *place_of(struct flow *f, uint64_t object)
{
	return &f->cache[object / 64 % FLOW_KERNELS];
}

static uint32_t generation(const struct flow *f)
{
	return atomic_load_explicit(f->gpu->code_generation, memory_order_acquire);
}

struct flow_kernel *flow_kernel_of(struct flow *f, uint64_t object)
{
	struct flow_kernel *known = place_of(f, object);
	uint32_t now = generation(f);

	if (known->object != object || known->generation != now)
		*known = (struct flow_kernel){.object = object,
					      .generation = now,
					      .serial = known->serial + 1,
					      .kernel = f->ops->kernel(f, object)};
	return known;
}

void flow_forget_shapes(struct flow *f)
{
	f->masks++;
	for (unsigned i = 0; i < FLOW_KERNELS; i++) {
		f->cache[i].ready = false;
		f->cache[i].serial++;
	}
}

/* --- one that looks like the last --------------------------------------------------------------- */

/* The header is not part of a packet's shape. */
static inline uint64_t shape_word(const hsa_kernel_dispatch_packet_t *p, unsigned i)
{
	uint64_t word;

	memcpy(&word, (const char *)p + i * sizeof(word), sizeof(word));
	return i ? word : word >> 16;
}

static inline bool is_known(const struct flow *f, const struct flow_kernel *known,
			    const hsa_kernel_dispatch_packet_t *p)
{
	const uint64_t *shape = known->shape;

	return known->ready &&
	       !((known->object ^ p->kernel_object) | (shape[0] ^ shape_word(p, 0)) |
		 (shape[1] ^ shape_word(p, 1)) | (shape[2] ^ shape_word(p, 2)) | (shape[3] ^ shape_word(p, 3))) &&
	       known->generation == generation(f);
}

/* A kernel that reads its packet gets a copy: the caller's is its own again. 0: no room; the job's submission will
 * fail. */
static uint64_t copy_packet(struct cs_ib *ib, const hsa_kernel_dispatch_packet_t *p)
{
	uint64_t va;
	void *copy = cs_ib_data(ib, sizeof(*p), sizeof(*p), &va);

	if (copy)
		memcpy(copy, p, sizeof(*p));
	return va;
}

static uint64_t next_id(const struct flow *f)
{
	return atomic_load_explicit(&f->executed, memory_order_relaxed);
}

/* Into the open job, which has room for it. packet_va: of a kernel that reads its packet. */
static inline void put_again(struct flow *f, const struct flow_kernel *known, const void *kernarg,
			     uint64_t packet_va)
{
	cs_ib_launch_template(f->ib, &known->template, (uintptr_t)kernarg, f->queue_va, next_id(f), packet_va);
	flow_spend(f, known);
}

bool flow_launch_again(struct flow *f, const hsa_kernel_dispatch_packet_t *p, uint64_t completion)
{
	const struct flow_kernel *known = place_of(f, p->kernel_object);

	if (!is_known(f, known, p) || flow_is_full(f, known->estimate_ns, p->header) ||
	    flow_begin(f, p->header, completion))
		return false;
	put_again(f, known, p->kernarg_address, cs_kernel_wants_packet(known->kernel) ? copy_packet(f->ib, p) : 0);
	flow_finish(f, p->header, completion);
	return true;
}

/* Makes the dispatch a job of its own. False: nothing was done. */
static inline bool submit_alone(struct flow *f, const struct flow_kernel *known, uint16_t header,
				const void *kernarg)
{
	struct flow_queue *q = f->queue;

	flow_queue_note(q, next_id(f) + 1, 0);
	if (cs_submit_template(q->ring, flow_waits(header), &known->template, (uintptr_t)kernarg, f->queue_va,
			       next_id(f)))
		return false;
	f->ops->submitted(f);
	return true;
}

/* No job is open, and the next one waits for what its own operation waits for, and no more. */
static inline bool is_alone(const struct flow *f)
{
	const struct flow_queue *q = f->queue;

	return !f->ib && !f->afters && !f->ordered && q &&
	       q->priority == atomic_load_explicit(&f->priority, memory_order_relaxed);
}

bool flow_launch_alone(struct flow *f, const hsa_kernel_dispatch_packet_t *p)
{
	const struct flow_kernel *known = place_of(f, p->kernel_object);

	return is_alone(f) && is_known(f, known, p) && !cs_kernel_wants_packet(known->kernel) &&
	       submit_alone(f, known, p->header, p->kernarg_address);
}

struct flow_again flow_again_of(struct flow *f, const hsa_kernel_dispatch_packet_t *p)
{
	const struct flow_kernel *known = place_of(f, p->kernel_object);

	if (f->tapped || !is_known(f, known, p) || cs_kernel_wants_packet(known->kernel))
		return (struct flow_again){0};
	return (struct flow_again){known, known->serial, p->header};
}

int flow_again(struct flow *f, const struct flow_again *a, void *kernarg)
{
	const struct flow_kernel *known = a->kernel;
	bool alone;

	if (__builtin_expect(known->serial != a->serial || f->deferred ||
				     atomic_load_explicit(&f->state, memory_order_relaxed) != FLOW_ACTIVE,
			     0))
		return -EAGAIN;
	alone = is_alone(f) && submit_alone(f, known, a->header, kernarg);
	if (!alone) {
		if (flow_is_full(f, known->estimate_ns, a->header) ||
		    (!flow_begin_behind(f, a->header) && flow_begin(f, a->header, 0)))
			return -EAGAIN;
		put_again(f, known, kernarg, 0);
		flow_finish(f, a->header, 0);
	}
	flow_count(f);
	flow_count_written(f);
	return alone ? 0 : flow_retire(f);
}

bool flow_launch_overruns(const struct flow *f, const hsa_kernel_dispatch_packet_t *p)
{
	const struct flow_kernel *known = place_of((struct flow *)(uintptr_t)f, p->kernel_object);

	return flow_is_full(f, is_known(f, known, p) ? known->estimate_ns : FLOW_NS_UNKNOWN, p->header);
}

bool flow_launch_is_plain(const struct flow *f, const hsa_kernel_dispatch_packet_t *p)
{
	return is_known(f, place_of((struct flow *)(uintptr_t)f, p->kernel_object), p);
}

/* --- any other ----------------------------------------------------------------------------------- */

/* A dispatch and its kernel. */
struct dispatch {
	const hsa_kernel_dispatch_packet_t *packet;
	struct flow_kernel *known; /* has a kernel */
	uint64_t completion;
};

/* Fills in everything but the part of the grid. */
static void fill_launch(struct cs_launch *l, const struct flow *f, const struct dispatch *d)
{
	const hsa_kernel_dispatch_packet_t *p = d->packet;
	const struct cs_kernel *kernel = d->known->kernel;
	const uint32_t grid[3] = {p->grid_size_x, p->grid_size_y, p->grid_size_z};
	const uint32_t group[3] = {p->workgroup_size_x, p->workgroup_size_y, p->workgroup_size_z};

	l->kernel = kernel;
	memcpy(l->grid, grid, sizeof(grid));
	memcpy(l->group, group, sizeof(group));
	l->lds_B = p->group_segment_size;
	l->private_B = p->private_segment_size > kernel->private_B ? p->private_segment_size : kernel->private_B;
	l->kernarg_va = (uintptr_t)p->kernarg_address;
	l->queue_va = f->queue_va;
	l->dispatch_id = next_id(f);
	l->cu_mask = f->masked ? f->cu_mask : NULL;
	l->cooperative = f->cooperative;
}

static int put_launch(struct flow *f, const struct dispatch *d, struct cs_launch *launch)
{
	fill_launch(launch, f, d);
	if (cs_kernel_wants_packet(d->known->kernel))
		launch->packet_va = copy_packet(f->ib, d->packet);
	return cs_ib_launch(f->ib, launch);
}

/* A part of a long grid: a job of its own; the next one waits until it has ended. */
static int launch_part(struct flow *f, const struct dispatch *d)
{
	struct flow_split before;
	struct cs_launch launch = {0};
	bool first, last;
	int r = flow_split_ready(f, d->known);

	before = f->split;
	first = !before.on;
	r = r ? r : flow_close(f);
	r = r ? r : flow_open(f, first && flow_waits(d->packet->header));
	if (r)
		return r;
	f->job_ops++;
	if (first && d->completion)
		f->ops->begin(f, d->completion);
	last = flow_split_cut(f, d->packet, &launch);
	flow_queue_start_clock(f->queue, f->ib);
	r = put_launch(f, d, &launch);
	if (r) {
		/* The part is cut again, or the grid was refused and another one is next. */
		f->split = before;
		return r;
	}
	f->split.fence = flow_queue_stop_clock(f->queue, f->ib);
	if (last) {
		f->split.on = false;
		flow_finish(f, d->packet->header, d->completion);
	}
	r = flow_close(f);
	return r ? r : last ? 0 : -EAGAIN;
}

static int launch_whole(struct flow *f, const struct dispatch *d)
{
	const hsa_kernel_dispatch_packet_t *p = d->packet;
	struct flow_kernel *known = d->known;
	struct cs_launch launch = {0};
	uint32_t groups[3];
	int r;

	known->groups = flow_count_groups(p, groups);
	known->estimate_ns = flow_estimate_ns(f, known->kernel, known->groups);
	r = flow_is_full(f, known->estimate_ns, p->header) ? flow_close(f) : 0;
	r = r ? r : flow_begin(f, p->header, d->completion);
	if (r)
		return r;
	if (known->estimate_ns == FLOW_NS_UNKNOWN)
		flow_time_kernel(f);
	flow_spend(f, known);
	r = put_launch(f, d, &launch);
	if (r)
		return r;
	known->ready = cs_dispatch_template_init(f->queue->ring, &launch, &known->template);
	known->serial++;
	for (unsigned i = 0; i < FLOW_SHAPE_B / 8; i++)
		known->shape[i] = shape_word(p, i);
	flow_finish(f, p->header, d->completion);
	return 0;
}

int flow_launch(struct flow *f, const hsa_kernel_dispatch_packet_t *p, uint64_t completion)
{
	struct dispatch d = {.packet = p, .completion = completion};
	uint64_t items;
	int r;

	if (flow_launch_again(f, p, completion))
		return 0;
	r = flow_ensure_queue(f);
	if (r)
		return r;
	d.known = flow_kernel_of(f, p->kernel_object);
	if (!d.known->kernel)
		return drv_fail(-ENOEXEC, "no kernel at 0x%llx", (unsigned long long)p->kernel_object);
	/* The product of the three may pass 2^64, but not when the first two are small. */
	items = (uint64_t)p->grid_size_x * p->grid_size_y;
	if (f->split.on || (items > f->long_grid / p->grid_size_z && flow_split_wanted(f, p, d.known)))
		return launch_part(f, &d);
	return launch_whole(f, &d);
}
