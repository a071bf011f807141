/* Memory faults and resets. A job whose kernel faulted ends like any other job, and a job that the watchdog stopped
 * may, too, so the kernel is queried: after long waits, at the end of queues, and periodically during waits
 * (docs/hsa.md). */
#include "hsa/queue/queue.h"

#define QUERY_NS 20000000 /* between two queries */
/* The kernel records a fault in an interrupt of its own, which may come after that of the job's end, and not at all
 * while its messages are rate limited (gmc_v9_0_process_interrupt()). So a query without a result is followed by
 * another one. */
#define LATE_NS 25000000

static uint32_t fault_reasons(const struct vm_fault *fault)
{
	if (!fault->present)
		return HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
	return fault->execute ? HSA_AMD_MEMORY_FAULT_NX : HSA_AMD_MEMORY_FAULT_READ_ONLY;
}

/* Reports a fault. The kernel does not identify the job: all used queues of the GPU fail, unless the client handles
 * events. */
static void report_fault(struct rt *rt, struct rt_gpu *gpu, const struct vm_fault *fault)
{
	const hsa_amd_event_t event = {
		.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT,
		.memory_fault = {rt_agent_handle(gpu->agent), fault->va, fault_reasons(fault)},
	};

	atomic_fetch_add(&gpu->faults, 1);
	drv_log(DRV_LOG_HSA, "%s", drv_error_last()->text);
	if (!rt_event(rt, &event))
		rt_queues_fail(rt, gpu, NULL, (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT);
}

void rt_queues_lost(struct rt *rt, const struct cs_ring *ring)
{
	hsa_amd_event_t event = {.event_type = HSA_AMD_GPU_HW_EXCEPTION_EVENT};
	struct rt_gpu *gpu = NULL;

	/* A failed wait alone does not mean a lost context: the kernel may have refused the wait. */
	if (cs_ctx_lost(cs_ring_ctx(ring)))
		gpu = rt_queues_fail(rt, NULL, ring, HSA_STATUS_ERROR_EXCEPTION);
	if (!gpu)
		return;
	event.hw_exception.agent = rt_agent_handle(gpu->agent);
	event.hw_exception.reset_type = HSA_AMD_HW_EXCEPTION_RESET_TYPE_OTHER;
	event.hw_exception.reset_cause = HSA_AMD_HW_EXCEPTION_CAUSE_GPU_HANG;
	rt_event(rt, &event);
}

void rt_faults_query(struct rt *rt, bool now)
{
	uint64_t time_ns = rt_now_ns(), last_ns = atomic_load_explicit(&rt->fault_query_ns, memory_order_relaxed);
	struct cs_ring *lost;
	struct vm_fault fault;

	if (!now && (time_ns - last_ns < QUERY_NS ||
		     !atomic_compare_exchange_strong(&rt->fault_query_ns, &last_ns, time_ns)))
		return;
	/* A forced query waits for one that is under way: the kernel reports each fault to one query only. */
	drv_lock(&rt->fault_lock);
	atomic_store_explicit(&rt->fault_query_ns, time_ns, memory_order_relaxed);
	for (unsigned i = 0; i < rt->gpus; i++)
		if (vm_check_fault(rt->gpu[i]->vm, &fault))
			report_fault(rt, rt->gpu[i], &fault);
	for (unsigned i = 0; i < rt->gpus; i++)
		while ((lost = flow_gpu_lost(&rt->gpu[i]->flows)))
			rt_queues_lost(rt, lost);
	if (now || time_ns >= atomic_load_explicit(&rt->fault_requery_ns, memory_order_relaxed))
		atomic_store_explicit(&rt->fault_requery_ns, now ? time_ns + LATE_NS : 0, memory_order_relaxed);
	drv_unlock(&rt->fault_lock);
}

/* A query takes two ioctls. Up to WAITS_MAX waits in a row query, later ones once per WAITS_EACH_NS: the fault is
 * then reported by a later wait, which may happen in any case. */
#define WAITS_MAX     16
#define WAITS_EACH_NS 1000000

/* True if this wait queries: its share of the rate limit is available. */
static bool query_is_due(struct rt_gpu *gpu)
{
	uint64_t now_ns = rt_now_ns(), first_ns = now_ns - WAITS_MAX * (uint64_t)WAITS_EACH_NS;
	uint64_t paid_ns = atomic_load_explicit(&gpu->fault_budget_ns, memory_order_relaxed);

	paid_ns = paid_ns > first_ns ? paid_ns : first_ns;
	if (paid_ns + WAITS_EACH_NS > now_ns)
		return false;
	atomic_store_explicit(&gpu->fault_budget_ns, paid_ns + WAITS_EACH_NS, memory_order_relaxed);
	return true;
}

void rt_flow_check(struct rt_flow *f)
{
	struct rt *rt = f->rt;
	struct cs_ring *lost;
	struct vm_fault fault;

	atomic_store_explicit(&rt->fault_requery_ns, rt_now_ns() + LATE_NS, memory_order_relaxed);
	if (!query_is_due(f->gpu))
		return;
	/* The lock, as above: the kernel reports each fault to one query only. */
	drv_lock(&rt->fault_lock);
	if (vm_check_fault(f->gpu->vm, &fault))
		report_fault(rt, f->gpu, &fault);
	while ((lost = flow_gpu_lost(&f->gpu->flows)))
		rt_queues_lost(rt, lost);
	drv_unlock(&rt->fault_lock);
}

void rt_faults_query_late(struct rt *rt)
{
	if (rt_now_ns() >= atomic_load_explicit(&rt->fault_requery_ns, memory_order_relaxed))
		rt_faults_query(rt, false);
}
