/* Cooperative launches on one device: on the device's cooperative queue (docs/hsa.md), so that no two of them are
 * resident in part and wait for each other for ever.
 *
 * The queue's flow waits for the stream's earlier work, and the stream for the grid. HSA has one such queue in the
 * process, shared with other clients: its flow's lock is taken inside the stream's, by drv_lock_try() only
 * (flow/flow.h). The arguments are in the stream's memory, and kept by the stream's operation after the grid.
 */
#include "api/exec/grid.h"
#include "api/module/built_in.h"
#include "api/tool/tool.h"

#include <sched.h>
#include <string.h>

static struct grids {
	/* Guards changes of the members below; inside a stream's lock. A thread that has used a stream for a grid
	 * reads the members without the lock: a reset closes streams first. */
	struct drv_lock lock;
	struct flow *flow; /* a reference, put by destroy(); shared with HSA's clients. NULL: not opened yet */
	const struct hip_kernel
		*meet;     /* borrowed; NULL: blocks synchronize in memory, which needs no preparation */
	_Atomic bool open; /* `flow` is set; read without the lock */
} all_grids[HIP_DEVICES_MAX] = {[0 ... HIP_DEVICES_MAX - 1] = {.lock = DRV_LOCK(DRV_RANK_HIP_GRIDS)}};

/* Grid sync data that the device library finds by a hidden argument (CLR's MGSyncInfo; ockl's mg_info is its
 * beginning). */
struct grid_sync {
	void *of_all;
	uint32_t rank, grids;
	uint64_t threads_before, threads;
	uint32_t arrived[2];
	uint32_t blocks;
} __attribute__((aligned(64))); /* the kernel's arguments follow */

static uint32_t blocks_of(const struct hip_launch *l)
{
	return l->blocks[0] * l->blocks[1] * l->blocks[2];
}

hipError_t hip_grid_check(const struct hip_launch *l)
{
	const struct hip_device *d = l->kernel->device;
	uint64_t blocks = (uint64_t)l->blocks[0] * l->blocks[1];
	uint64_t most =
		(uint64_t)hip_occupancy(l->kernel, l->threads[0] * l->threads[1] * l->threads[2], l->lds_B) *
		d->cus;

	/* The full product may exceed 2^64, but not while the product of the first two is within the limit. */
	return blocks > most || blocks * l->blocks[2] > most ? hipErrorCooperativeLaunchTooLarge : hipSuccess;
}

/* --- the cooperative flow --------------------------------------------------------------------- */

/* True for gfx94x and GFX12, where blocks synchronize in memory: CLR does not set up global wave sync on gfx94x either,
 * and GFX12 has none. On GFX11 they do so with device libraries from LLVM 17 on, and by global wave sync with older
 * ones: it is set up for these. */
static bool meets_in_memory(const struct hip_device *device)
{
	return !device->chip->gws || !strcmp(device->chip->target, "gfx942");
}

/* 0, or the error of the device's cooperative flow. */
static int grids_state(const struct hip_device *device)
{
	struct grids *g = &all_grids[device->index];
	int state = 0;

	if (__builtin_expect(!atomic_load_explicit(&g->open, memory_order_relaxed), 1))
		return 0;
	drv_lock(&g->lock);
	if (g->flow)
		state = hip.hsa->state(g->flow);
	drv_unlock(&g->lock);
	return state;
}

static hipError_t open_locked(struct grids *g, struct hip_device *device)
{
	const struct rt_flow_info info = {.failed = hip_flow_failed, .user = device};
	hipError_t r;
	int e;

	drv_rank_assert(DRV_RANK_HIP_GRIDS);
	if (g->flow)
		return hipSuccess;
	r = meets_in_memory(device) ? hipSuccess : hip_built_in(device, HIP_BUILT_IN_MEET, &g->meet);
	if (r)
		return r;
	e = hip.hsa->cooperative(device->agent, &info, &g->flow);
	if (e) {
		g->flow = NULL;
		return hip_of_errno(e);
	}
	atomic_store(&hip_stream_hooks.cooperative_state, grids_state);
	atomic_store(&g->open, true);
	return hipSuccess;
}

void hip_grids_abandon(struct hip_device *device)
{
	struct flow *flow = atomic_load(&all_grids[device->index].open) ? all_grids[device->index].flow : NULL;

	if (flow && !hip.hsa->reached(flow, atomic_load_explicit(&flow->written, memory_order_acquire)))
		hip.hsa->abandon(flow);
}

void hip_grids_reset(struct hip_device *device)
{
	struct grids *g = &all_grids[device->index];
	struct flow *flow;

	drv_lock(&g->lock);
	flow = g->flow;
	g->flow = NULL;
	g->meet = NULL;
	atomic_store(&g->open, false);
	drv_unlock(&g->lock);
	/* Takes the flow's lock, which ranks before. */
	if (flow)
		hip.hsa->destroy(flow);
}

/* --- launches --------------------------------------------------------------------------------- */

/* The dispatches of a cooperative launch. */
struct dispatches {
	hsa_kernel_dispatch_packet_t meet, grid;
	bool meets; /* `meet` is used */
};

static void prepare_sync(struct dispatches *d, const struct grids *g, uint32_t blocks, void *args)
{
	const uint32_t others = blocks - 1;
	const struct hip_launch l = {
		.kernel = g->meet,
		.blocks = {1, 1, 1},
		.threads = {1, 1, 1},
		.packed = &others,
		.packed_B = sizeof(others),
	};

	hip_launch_prepare(&l, HIP_LAUNCH_HEADER, &d->meet, args);
	d->meets = true;
}

static void prepare_grid(struct dispatches *d, const struct hip_launch *l, struct grid_sync *grid_sync, void *args)
{
	const struct hip_grid_group *group = l->group;
	struct hip_launch with = *l;

	*grid_sync = (struct grid_sync){.blocks = blocks_of(l)};
	if (group) {
		grid_sync->of_all = group->grid_sync;
		grid_sync->rank = group->rank;
		grid_sync->grids = group->grids;
		grid_sync->threads_before = group->threads_before;
		grid_sync->threads = group->threads;
	}
	with.grid_sync = grid_sync;
	hip_launch_prepare(&with, HIP_LAUNCH_HEADER, &d->grid, args);
}

static uint32_t args_B(const struct hip_kernel *k)
{
	return hip_args_size(k->cs->kernarg_B);
}

/* Of the kernel before the grid, if there is one. */
static uint32_t meet_args_B(const struct grids *g)
{
	return g->meet ? args_B(g->meet) : 0;
}

static uint32_t memory_B(const struct grids *g, const struct hip_launch *l)
{
	return (uint32_t)sizeof(struct grid_sync) + meet_args_B(g) + args_B(l->kernel);
}

/* Prepares both dispatches. Everything that they read is one allocation: the stream could reuse the first of two
 * before its next operation. */
static hipError_t dispatches_prepare(const struct grids *g, struct hip_stream *s, const struct hip_launch *l,
				     struct dispatches *d)
{
	uint32_t sync_B = meet_args_B(g);
	char *memory = hip_stream_args(s, memory_B(g, l));

	if (!memory)
		return hipErrorOutOfMemory;
	if (sync_B)
		prepare_sync(d, g, blocks_of(l), memory + sizeof(struct grid_sync));
	prepare_grid(d, l, (struct grid_sync *)(void *)memory, memory + sizeof(struct grid_sync) + sync_B);
	return hipSuccess;
}

static struct flow_op wait_for(struct flow *flow, uint64_t value)
{
	return (struct flow_op){.kind = FLOW_WAIT, .wait = {flow, value}};
}

/* Makes the flow wait for the stream's present work. The caller holds the flow's lock. */
static int submit_behind(struct flow *flow, const struct hip_stream *s)
{
	const uint64_t written = hip_stream_written(s);
	const struct flow_op op = wait_for(s->flow, written);

	return hip.hsa->reached(s->flow, written) ? 0 : hip.hsa->submit(flow, &op);
}

#define SHORT_TRIES 100
#define PAUSE_NS    100000

/* Takes the cooperative flow's lock. The thread that holds it may sleep until this stream advances, which only this
 * thread can do: so it advances the stream between its attempts. */
static void lock_flow(struct flow *flow, const struct hip_stream *s)
{
	for (unsigned i = 0; !drv_lock_try(&flow->lock); i++)
		if (i < SHORT_TRIES)
			sched_yield();
		else
			(void)!hip.hsa->wait(s->flow, hip_stream_written(s) + 1, PAUSE_NS);
}

/* Submits the grid. *value: the point of the flow after the grid. */
static int dispatches_submit(struct flow *flow, const struct hip_stream *s, const struct dispatches *d,
			     uint64_t *value)
{
	int r;

	lock_flow(flow, s);
	atomic_store_explicit(&flow->holder, hip.hsa->thread(), memory_order_relaxed);
	r = submit_behind(flow, s);
	if (!r && d->meets)
		r = hip.hsa->dispatch(flow, &d->meet);
	r = r ? r : hip.hsa->dispatch(flow, &d->grid);
	*value = atomic_load_explicit(&flow->written, memory_order_relaxed);
	hip_flow_unlock(flow);
	return r;
}

static hipError_t open_grids(struct grids *g, struct hip_device *device)
{
	hipError_t r;

	drv_lock(&g->lock);
	r = open_locked(g, device);
	drv_unlock(&g->lock);
	return r;
}

static hipError_t grid_put(struct grids *g, struct hip_stream *s, const struct hip_launch *l, uint64_t *value)
{
	struct dispatches d = {.meets = false};
	hipError_t r = open_grids(g, s->device);

	if (!r)
		r = dispatches_prepare(g, s, l, &d);
	if (r)
		return r;
	d.grid.completion_signal = hip_launch_watch(s, l);
	r = hip_stream_result(s, dispatches_submit(g->flow, s, &d, value));
	if (r)
		hip_tool_forget(d.grid.completion_signal);
	return r;
}

hipError_t hip_grid_reserve(struct hip_stream *s, const struct hip_launch *l)
{
	struct grids *g = &all_grids[s->device->index];
	hipError_t r = l->kernel->prints ? hipErrorNotSupported : hip_stream_begin(s);

	if (r)
		return r;
	r = open_grids(g, s->device);
	if (!r && !hip_stream_args(s, memory_B(g, l)))
		r = hipErrorOutOfMemory;
	if (!r)
		s->args_at -= memory_B(g, l);
	hip_stream_done(s);
	return r;
}

/* The flow lives as long as the stream: hip_grids_reset() runs after hip_streams_reset(). */
hipError_t hip_grid_put(struct hip_stream *s, const struct hip_launch *l)
{
	struct grids *g = &all_grids[s->device->index];
	struct flow_op op;
	uint64_t value = 0;
	hipError_t r = grid_put(g, s, l, &value);

	if (r)
		return r;
	op = wait_for(g->flow, value);
	return hip_stream_submit(s, &op);
}
