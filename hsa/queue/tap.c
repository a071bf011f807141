/* Flows of our HIP library that belong to a queue of HSA.
 *
 * Tools that trace dispatches replace functions in HSA's table, and create intercept queues where programs create
 * queues. A flow has no packets that they could intercept. So where a tool has replaced hsa_queue_create(), each
 * flow is that of a queue which the tool created, and a dispatch is both a deferred operation of the flow and a
 * packet of the queue. The thread that submits it runs the tool's handlers when it has given the flow's lock back:
 * a handler may wait for whatever the flow was given before. What the handlers write goes to the queue below when
 * it is the operation's turn. Other operations of the flow are no packets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/core/table.h"
#include "hsa/queue/queue.h"

#define PACKETS 1024 /* size of a tap's queue */

bool rt_tap_wanted(void)
{
	return rt_tables.core.hsa_queue_create_fn != impl_hsa_queue_create;
}

/* The callback of a tap's queue. */
static void tap_failed(hsa_status_t status, hsa_queue_t *queue, void *arg)
{
	const struct rt_flow_info *info = arg;

	(void)queue;
	info->failed(status, info->user);
}

static hsa_status_t create_queue(hsa_agent_t agent, hsa_queue_type32_t type, struct rt_flow_info *info,
				 hsa_queue_t **queue)
{
	hsa_status_t status = rt_tables.core.hsa_queue_create_fn(agent, PACKETS, type, tap_failed, info, UINT32_MAX,
								 UINT32_MAX, queue);

	if (!status)
		(void)!impl_hsa_amd_profiling_set_profiler_enabled(*queue, 1);
	return status;
}

/* --- dispatches --------------------------------------------------------------------------------- */

static void write_packet(struct rt_queue *q, const hsa_kernel_dispatch_packet_t *p, uint64_t completion)
{
	uint64_t index = q->amd->write_dispatch_id;
	union rt_packet *slot = rt_queue_slot(q, index);
	uint32_t first;

	memcpy(&first, p, sizeof(first));
	memcpy((char *)slot + sizeof(first), (const char *)p + sizeof(first), sizeof(*p) - sizeof(first));
	slot->dispatch.completion_signal.handle = completion;
	__atomic_store_n(&q->amd->write_dispatch_id, index + 1, __ATOMIC_RELAXED);
	__atomic_store_n((uint32_t *)(void *)slot, first, __ATOMIC_RELEASE);
}

static bool is_full(const struct rt_queue *q)
{
	return q->amd->write_dispatch_id - __atomic_load_n(&q->amd->read_dispatch_id, __ATOMIC_ACQUIRE) > q->mask;
}

/* Runs the tool's handlers for the packets, which another thread may do: they have seen them all afterwards, unless
 * the caller is a handler. */
static void run_handlers(struct rt_queue *q)
{
	struct drv_pause pause = {0};

	while (!rt_intercept_is_inside(q) && !rt_queue_is_over(q) && rt_queue_has_packet(q)) {
		rt_intercept_ring(q);
		if (rt_queue_has_packet(q))
			drv_pause(&pause);
	}
}

/* Threads give the lock back between two dispatches, or after a few: handlers run with it only for more than the
 * queue holds. */
uint64_t rt_tap_write(struct flow *flow, const hsa_kernel_dispatch_packet_t *p, uint64_t completion)
{
	struct rt_flow *f = rt_flow_of(flow);

	if (is_full(f->tap))
		run_handlers(f->tap);
	write_packet(f->tap, p, completion);
	atomic_store(&f->tap_writer, &flow_thread);
	return f->tap->amd->write_dispatch_id - 1;
}

int rt_tap_execute(struct flow *flow, uint64_t number)
{
	struct rt_flow *f = rt_flow_of(flow);
	struct rt_queue *below = (struct rt_queue *)(void *)f;
	bool done = rt_intercept_pass(f->tap, number) && rt_queue_drain(below);

	if (rt_queue_is_over(below) || rt_queue_is_over(f->tap))
		return drv_fail(-ECANCELED, "a tool's queue has ended");
	return done ? 0 : -EAGAIN;
}

/* The last of several threads that have written packets runs the handlers for all. */
void rt_tap_released(struct rt_flow *f)
{
	void *mine = &flow_thread;

	if (!atomic_compare_exchange_strong(&f->tap_writer, &mine, NULL))
		return;
	run_handlers(f->tap);
	(void)flow_attempt(&f->flow); /* or the progress thread does */
}

/* --- flows that are a queue's --------------------------------------------------------------------- */

static int tap_attach(struct rt_queue *q, const struct rt_flow_info *info, struct rt_flow_info *kept)
{
	struct rt_flow *f = &rt_queue_executor(q)->base;

	if (!f->gpu)
		return drv_fail(-ENOTSUP, "a tool made a queue that it reads itself");
	if (f->info) /* another thread has set it already */
		free(kept);
	else
		f->info = kept;
	f->faults = atomic_load(&f->gpu->faults);
	f->tap = q;
	f->flow.grouped = true;
	f->flow.tapped = q->intercept;
	if (q->intercept) {
		flow_get(&q->base.flow);
		rt_intercept_gate(q);
	}
	if (!f->flow.cooperative)
		atomic_store(&f->flow.priority, info->priority);
	return 0;
}

int rt_tap_create(hsa_agent_t agent, hsa_queue_type32_t type, const struct rt_flow_info *info, struct flow **flow)
{
	struct rt_flow_info *kept = malloc(sizeof(*kept));
	struct rt_queue *q = NULL;
	hsa_queue_t *queue;
	int r = -ENOMEM;

	if (!kept)
		return drv_fail(-ENOMEM, "no host memory for a flow");
	*kept = *info;
	if (!create_queue(agent, type, kept, &queue))
		q = rt_queue_get(rt_get(), queue);
	if (q)
		r = tap_attach(q, info, kept);
	if (r) {
		if (q)
			(void)!rt_tables.core.hsa_queue_destroy_fn(queue);
		rt_queue_put(q);
		free(kept);
		return drv_fail(r, "no queue of HSA for a flow");
	}
	*flow = flow_get(&rt_queue_executor(q)->base.flow);
	rt_queue_put(q);
	return 0;
}

void rt_tap_destroy(struct rt_flow *f)
{
	struct rt_queue *q = f->tap;

	(void)!rt_tables.core.hsa_queue_destroy_fn(&q->amd->hsa_queue);
	flow_put(&f->flow);
}
