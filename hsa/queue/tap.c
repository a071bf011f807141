/* Flows of our HIP library that belong to a queue of HSA.
 *
 * Tools that trace dispatches replace functions in HSA's table, and create intercept queues where programs create
 * queues. A flow has no packets that they could intercept. So where a tool has replaced hsa_queue_create(), each
 * flow is that of a queue which the tool created, and its dispatches are written into the queue as packets for the
 * tool. Other operations of the flow are no packets, and begin when all packets have been read. */
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

#define PAUSE_NS 100000 /* while a packet that a tool inserted waits */

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

/* Dispatches through the queue. The tool's handlers run here, on the calling thread, and may call any function of
 * HSA. */
static int tap_dispatch(struct flow *flow, const hsa_kernel_dispatch_packet_t *p, uint64_t completion)
{
	struct rt_flow *f = rt_flow_of(flow);
	struct rt_queue *below = (struct rt_queue *)(void *)f;
	const bool mine = atomic_load_explicit(&flow->holder, memory_order_relaxed);

	if (!mine)
		flow_hold(flow);
	write_packet(f->tap, p, completion);
	rt_intercept_ring(f->tap);
	while (!rt_queue_drain(below))
		drv_futex_wait(&flow->state, FLOW_ACTIVE, PAUSE_NS);
	if (!mine)
		flow_unhold(flow);
	return rt_queue_is_over(below) ? -ECANCELED : 0;
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
	f->tap_dispatch = tap_dispatch;
	f->flow.tapped = q->intercept;
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
