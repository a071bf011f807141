/* Cooperative launches of one device: on its cooperative queue (docs/hsa.md), so that no two of them are on the GPU
 * by halves and wait for one another.
 *
 * The queue goes on behind the stream's work so far, the stream behind the grid: packets that name a queue and a
 * number, as everywhere. HSA has one such queue in the process, and whoever asks gets it: so its packets are
 * written by HSA's rules for several writers. Arguments are in the stream's memory; its packet behind the grid
 * keeps them. */
#include "api/grid.h"

#include <sched.h>
#include <string.h>

#include "api/built_in.h"
#include "api/tool.h"

#define PACKETS     1024 /* of a queue */
#define PACKETS_MAX 3    /* of a launch */

static struct grids {
	struct drv_lock lock;  /* guards all below; inside a stream's */
	hsa_queue_t *queue;    /* owned, with others; NULL: none yet */
	struct rt_queue *door; /* borrowed: queue's */
	uint64_t id;           /* hip.door->id() */
	const struct hip_kernel
		*meet;     /* borrowed; NULL: the device's blocks meet in memory, and nothing prepares it */
	_Atomic bool open; /* there is a queue; read without the lock */
} all_grids[HIP_DEVICES_MAX];

/* What the device libraries find by the hidden argument (CLR's MGSyncInfo; ockl's mg_info is how it begins). */
struct meeting {
	void *of_all;
	uint32_t rank, grids;
	uint64_t threads_before, threads;
	uint32_t arrived[2];
	uint32_t blocks;
} __attribute__((aligned(64))); /* arguments follow */

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
	bool can = false;

	if (hsa_agent_get_info(d->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, &can) || !can)
		return hipErrorLaunchFailure;
	/* The product of the three may pass 2^64, but not when the first two are few. */
	return blocks > most || blocks * l->blocks[2] > most ? hipErrorCooperativeLaunchTooLarge : hipSuccess;
}

/* --- the queue -------------------------------------------------------------------------------- */

/* gfx94x meet in memory, and CLR does not set global wave sync up for them either. */
static bool meets_in_memory(const struct hip_device *device)
{
	char name[64] = ""; /* as HSA has it */

	return hsa_agent_get_info(device->agent, HSA_AGENT_INFO_NAME, name) || !strncmp(name, "gfx94", 5);
}

static hipError_t open_locked(struct grids *g, struct hip_device *device)
{
	hsa_status_t status;
	hipError_t r;

	if (g->queue)
		return hipSuccess;
	r = meets_in_memory(device) ? hipSuccess : hip_built_in(device, HIP_BUILT_IN_MEET, &g->meet);
	if (r)
		return r;
	status = hsa_queue_create(device->agent, PACKETS, HSA_QUEUE_TYPE_COOPERATIVE, hip_queue_failed, device,
				  UINT32_MAX, UINT32_MAX, &g->queue);
	if (status) {
		g->queue = NULL;
		return hip_of_hsa(status);
	}
	(void)!hsa_amd_profiling_set_profiler_enabled(g->queue, 1);
	g->door = hip.door->queue(g->queue);
	g->id = hip.door->id(g->door);
	atomic_store(&g->open, true);
	return hipSuccess;
}

int hip_grids_state(const struct hip_device *device)
{
	struct grids *g = &all_grids[device->index];
	int state = 0;

	if (__builtin_expect(!atomic_load_explicit(&g->open, memory_order_relaxed), 1))
		return 0;
	drv_lock(&g->lock);
	if (g->queue)
		state = hip.door->state(g->door);
	drv_unlock(&g->lock);
	return state;
}

void hip_grids_reset(struct hip_device *device)
{
	struct grids *g = &all_grids[device->index];

	drv_lock(&g->lock);
	if (g->queue)
		hsa_queue_destroy(g->queue);
	g->queue = NULL;
	g->meet = NULL;
	atomic_store(&g->open, false);
	drv_unlock(&g->lock);
}

/* --- a launch --------------------------------------------------------------------------------- */

/* A launch's packets, before they are in the queue. */
struct packets {
	hsa_kernel_dispatch_packet_t *grid; /* in packet */
	unsigned count;
	struct packet {
		uint32_t first; /* header and what stands behind it: written last */
		union {
			hsa_kernel_dispatch_packet_t dispatch;
			struct rt_after_packet after;
			char bytes[64];
		};
	} packet[PACKETS_MAX];
};

/* Behind the stream's packets so far. */
static void add_after(struct packets *p, struct hip_stream *s)
{
	uint64_t written = atomic_load_explicit(&s->written, memory_order_relaxed);
	struct packet *at = &p->packet[p->count];

	if (hip.door->completed(s->door) >= written)
		return;
	hip.door->flush(s->door);
	at->first = HIP_AFTER_HEADER;
	at->after = (struct rt_after_packet){.queue = s->id, .index = written};
	p->count++;
}

static void add_launch(struct packets *p, const struct hip_launch *l, void *args)
{
	struct packet *at = &p->packet[p->count++];

	hip_launch_prepare(l, &at->dispatch, args);
	at->dispatch.kernarg_address = args;
	at->first = HIP_LAUNCH_HEADER;
}

static void add_meet(struct packets *p, const struct grids *g, uint32_t blocks, void *args)
{
	const uint32_t others = blocks - 1;
	const struct hip_launch l = {
		.kernel = g->meet,
		.blocks = {1, 1, 1},
		.threads = {1, 1, 1},
		.packed = &others,
		.packed_B = sizeof(others),
	};

	add_launch(p, &l, args);
}

static void add_grid(struct packets *p, const struct hip_launch *l, struct meeting *meeting, void *args)
{
	const struct hip_party *party = l->party;
	struct hip_launch with = *l;

	*meeting = (struct meeting){.blocks = blocks_of(l)};
	if (party) {
		meeting->of_all = party->meeting;
		meeting->rank = party->rank;
		meeting->grids = party->grids;
		meeting->threads_before = party->threads_before;
		meeting->threads = party->threads;
	}
	with.meeting = meeting;
	add_launch(p, &with, args);
	p->grid = &p->packet[p->count - 1].dispatch;
}

static uint32_t args_B(const struct hip_kernel *k)
{
	return hip_args_size(k->cs->kernarg_B);
}

/* All that they read is one piece: pieces of their own would be the stream's again before its next packet. */
static hipError_t prepare(const struct grids *g, struct hip_stream *s, const struct hip_launch *l,
			  struct packets *p)
{
	uint32_t meet_B = g->meet ? args_B(g->meet) : 0;
	char *memory = hip_stream_args(s, sizeof(struct meeting) + meet_B + args_B(l->kernel));

	if (!memory)
		return hipErrorOutOfMemory;
	add_after(p, s);
	if (meet_B)
		add_meet(p, g, blocks_of(l), memory + sizeof(struct meeting));
	add_grid(p, l, (struct meeting *)(void *)memory, memory + sizeof(struct meeting) + meet_B);
	return hipSuccess;
}

/* index: behind the last one. */
static hipError_t publish(struct grids *g, const struct packets *p, uint64_t *index)
{
	uint64_t first = hsa_queue_add_write_index_relaxed(g->queue, p->count);

	*index = first + p->count;
	while (*index - hsa_queue_load_read_index_scacquire(g->queue) > g->queue->size) {
		if (hip.door->state(g->door))
			return hipErrorLaunchFailure;
		hip.door->flush(g->door);
		sched_yield();
	}
	for (unsigned i = 0; i < p->count; i++) {
		char *at = (char *)g->queue->base_address + ((first + i) & (g->queue->size - 1)) * 64;

		memcpy(at + 4, p->packet[i].bytes + 4, 60);
		__atomic_store_n((uint32_t *)(void *)at, p->packet[i].first, __ATOMIC_RELEASE);
	}
	hip.door->flush(g->door);
	return hipSuccess;
}

static hipError_t put_locked(struct grids *g, struct hip_stream *s, const struct hip_launch *l, uint64_t *index)
{
	struct packets p = {0};
	hipError_t r = open_locked(g, s->device);

	if (!r)
		r = prepare(g, s, l, &p);
	if (r)
		return r;
	p.grid->completion_signal = hip_launch_watch(s, l);
	r = publish(g, &p, index);
	if (r)
		hip_tool_forget(p.grid->completion_signal);
	return r;
}

hipError_t hip_grid_put(struct hip_stream *s, const struct hip_launch *l)
{
	struct grids *g = &all_grids[s->device->index];
	uint64_t index;
	hipError_t r;

	drv_lock(&g->lock);
	r = put_locked(g, s, l, &index);
	drv_unlock(&g->lock);
	return r ? r : hip_stream_after_queue(s, g->id, index);
}
