/* The callbacks of this runtime's flows (struct flow_ops): they complete signals, queue work for the progress
 * thread, report failures and find kernels. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/code/code.h"
#include "hsa/queue/queue.h"

static struct rt_signal *signal_of(const struct rt_flow *f, uint64_t handle)
{
	return rt_signal_of(f->rt, (hsa_signal_t){handle});
}

/* --- callbacks of flows --------------------------------------------------------------------------- */

static void on_stalled(struct flow *flow)
{
	struct rt_flow *f = rt_flow_of(flow);

	rt_progress_add(f->rt, &f->work);
}

static void on_submitted(struct flow *flow)
{
	rt_notify_work(rt_flow_of(flow)->rt);
}

/* The statuses that ROCr derives from its packet processor's errors. */
static hsa_status_t status_of(int error)
{
	switch (error) {
	case -ECANCELED:
	case -ENODEV:
		return HSA_STATUS_ERROR_EXCEPTION;
	case -EINVAL:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	case -ENOEXEC:
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	default:
		return hsa_status_of(error);
	}
}

static void on_failed(struct flow *flow, int error)
{
	struct rt_flow *f = rt_flow_of(flow);

	f->failed(f, status_of(error));
}

static const struct cs_kernel *find_kernel(struct flow *flow, uint64_t object)
{
	const struct rt_flow *f = rt_flow_of(flow);

	return rt_kernel_find(f->rt, f->gpu, object);
}

/* A signal with the times of a copy keeps them. */
static bool is_profiled(const struct rt_flow *f, const struct rt_signal *signal)
{
	return (!f->amd || f->amd->queue_properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING) &&
	       !atomic_load_explicit(&signal->clock, memory_order_relaxed);
}

static void write_begin_time(struct flow *flow, uint64_t handle)
{
	const struct rt_flow *f = rt_flow_of(flow);
	const struct rt_signal *signal = signal_of(f, handle);

	if (signal && is_profiled(f, signal))
		cs_ib_clock(flow->ib, (uintptr_t)&rt_signal_memory((hsa_signal_t){handle})->start_ts);
}

/* Writes the operation's end time, then its completion. */
static void write_completion(struct flow *flow, uint64_t handle, uint16_t header)
{
	struct rt_flow *f = rt_flow_of(flow);
	struct rt_signal *signal = signal_of(f, handle);
	amd_signal_t *memory = rt_signal_memory((hsa_signal_t){handle});
	struct flow_queue *q = flow->queue;
	uint64_t va = q->count.va, value = q->issued + 1, job = cs_ring_last(q->ring).seq + 1;
	const struct rt_completion completion = {
		.fence = {q->ring, job},
		.word = q->count.map,
		.seq = value,
		.last = &q->last[job % FLOW_JOBS_TRACKED],
	};

	if (!signal) /* destroyed before its operation was executed */
		return;
	q->issued = value;
	__atomic_store_n(&memory->queue_ptr, (amd_queue_v2_t *)(uintptr_t)flow->queue_va, __ATOMIC_RELAXED);
	if (is_profiled(f, signal))
		cs_ib_release_clock(flow->ib, (uintptr_t)&memory->end_ts);
	rt_signal_add_completion(f->rt, signal, &completion, &va, &value);
	cs_ib_release_value(flow->ib,
			    flow_releases(header) == HSA_FENCE_SCOPE_SYSTEM ? CS_SCOPE_SYSTEM : CS_SCOPE_AGENT, va,
			    value);
}

/* Fails an operation that waited for a lost job; the queue continues. Operations of our HIP library complete no
 * signal: their flow fails, as the GPU's other flows will, unless the lost job was another GPU's. */
static void wait_lost(struct flow *flow, uint64_t handle, struct cs_fence fence)
{
	struct rt_flow *f = rt_flow_of(flow);
	struct rt_signal *signal = handle ? signal_of(f, handle) : NULL;

	drv_log(DRV_LOG_HSA, "queue %llu: a job that its operation waited for was lost",
		(unsigned long long)flow->id);
	if (signal)
		rt_signal_fail(f->rt, signal);
	else if (flow->grouped && cs_ring_vm(fence.ring) == f->gpu->vm)
		rt_flow_fail(f, HSA_STATUS_ERROR_EXCEPTION);
}

/* Reads packets that were written while the lock was taken. */
static void on_released(struct flow *flow)
{
	struct rt_flow *f = rt_flow_of(flow);

	if (!f->amd || ((struct rt_queue *)(void *)f)->intercept)
		return;
	rt_queue_run((struct rt_queue *)(void *)f);
	if (flow->tapped)
		rt_tap_released(f);
}

static bool cpu_sees(struct flow *flow, const void *at, uint32_t size_B)
{
	struct rt_alloc_info info;

	return rt_alloc_info_find(rt_flow_of(flow)->rt, (uintptr_t)at, &info) && info.host_base &&
	       info.base + info.size_B - (uintptr_t)at >= size_B;
}

static int check_faults(const struct flow *flow)
{
	const struct rt_flow *f = rt_flow_of(flow);

	/* Faults of a client's queues are reported to the client. */
	if (flow->grouped && atomic_load_explicit(&f->gpu->faults, memory_order_relaxed) != f->faults)
		return -EFAULT;
	return atomic_load(&flow->state) == FLOW_ACTIVE ? 0 : -ECANCELED;
}

static void free_flow(struct flow *flow)
{
	struct rt_flow *f = rt_flow_of(flow);

	f->free(f);
}

static const struct flow_ops ops = {
	.stalled = on_stalled,
	.submitted = on_submitted,
	.failed = on_failed,
	.kernel = find_kernel,
	.begin = write_begin_time,
	.complete = write_completion,
	.wait_lost = wait_lost,
	.tap = rt_tap_write,
	.tapped = rt_tap_execute,
	.released = on_released,
	.sees = cpu_sees,
	.check = check_faults,
	.free = free_flow,
};

void rt_flow_init(struct rt_flow *f, hsa_queue_type32_t type)
{
	f->flow.ops = &ops;
	f->flow.gpu = f->gpu ? &f->gpu->flows : NULL;
	f->flow.cooperative = type == HSA_QUEUE_TYPE_COOPERATIVE;
	rt_flow_init_cus(f);
	flow_init(&f->flow);
}

void rt_flow_fail(struct rt_flow *f, hsa_status_t status)
{
	if (!flow_stop(&f->flow, FLOW_FAILED))
		return;
	f->failed(f, status);
	flow_wake_all(&f->flow);
}

unsigned rt_flow_fences(const struct rt_work *work, struct cs_fence *fences, unsigned max)
{
	return flow_fences(&((struct rt_flow *)(void *)(uintptr_t)work)->flow, fences, max);
}

bool rt_flow_attempt(struct rt *rt, struct rt_work *work)
{
	(void)rt;
	return flow_attempt(&((struct rt_flow *)(void *)work)->flow);
}

/* --- failures ------------------------------------------------------------------------------------ */

/* The flows that fail, and their status. */
struct failure {
	const struct cs_ring *ring; /* NULL: all that were used */
	hsa_status_t status;
	bool any;
};

/* The flows of our HIP library fail together: a stream that waited for a lost one may have continued before the
 * loss was detected. */
static void fail_if_matching(struct flow *flow, void *arg)
{
	struct rt_flow *f = rt_flow_of(flow);
	const struct flow_queue *q = atomic_load(&flow->queue);
	struct failure *failure = arg;

	if (!q || atomic_load(&flow->state) != FLOW_ACTIVE)
		return;
	if (failure->ring && q->ring != failure->ring &&
	    !(flow->grouped && f->gpu->vm == cs_ring_vm(failure->ring)))
		return;
	failure->any = true;
	rt_flow_fail(f, failure->status);
}

struct rt_gpu *rt_queues_fail(struct rt *rt, const struct rt_gpu *gpu, const struct cs_ring *ring,
			      hsa_status_t status)
{
	struct rt_gpu *found = NULL;

	for (unsigned i = 0; i < rt->gpus; i++) {
		struct failure failure = {.ring = ring, .status = status};

		if (ring || rt->gpu[i] == gpu)
			flow_gpu_each(&rt->gpu[i]->flows, fail_if_matching, &failure);
		if (failure.any)
			found = rt->gpu[i];
	}
	return found;
}
