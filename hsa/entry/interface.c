#include "drv/lock.h"
#include "hsa/code/code.h"
#include "hsa/copy/copies.h"
#include "hsa/core/table.h"
#include "hsa/image/image.h"
#include "hsa/ipc/ipc.h"
#include "hsa/ipc/syncs.h"
#include "hsa/queue/queue.h"
#include "vm/suballoc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- flows ------------------------------------------------------------------------------------ */

/* A flow of our HIP library. */
struct stream {
	struct rt_flow base;
	struct rt_flow_info info;
	struct vm_suballoc queue; /* owned: amd_queue_t */
};

static struct rt_gpu *gpu_of(hsa_agent_t agent)
{
	struct rt *rt = rt_get();
	const struct rt_agent *a = rt ? rt_agent_of(rt, agent) : NULL;

	return a ? a->gpu : NULL;
}

/* A failure that is to be reported to the program. */
struct report {
	struct stream *stream; /* a reference to its flow */
	hsa_status_t status;
};

/* Runs on the handler thread. */
static void report_deliver(void *arg)
{
	struct report *r = arg;

	r->stream->info.failed(r->status, r->stream->info.user);
	flow_put(&r->stream->base.flow);
	free(r);
}

static void stream_failed(struct rt_flow *flow, hsa_status_t status)
{
	struct report *r = malloc(sizeof(*r));

	drv_log(DRV_LOG_HSA, "flow %llu ends with status 0x%x: %s", (unsigned long long)flow->flow.id, status,
		drv_error_last()->text);
	if (!r)
		return;
	*r = (struct report){(struct stream *)(void *)flow, status};
	flow_get(&flow->flow);
	if (rt_callback(flow->rt, report_deliver, r)) {
		flow_put(&flow->flow);
		free(r);
	}
}

static void stream_flow_free(struct rt_flow *flow)
{
	struct stream *s = (struct stream *)(void *)flow;

	vm_suballoc_destroy(&s->queue);
	free(s);
}

/* Creates the queue description that kernels read the apertures from. */
static int make_queue(struct stream *s)
{
	const struct vm_info info = {
		.size_B = sizeof(amd_queue_v2_t), .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	int r = vm_suballoc_create(s->base.gpu->vm, &info, &s->queue);

	if (r)
		return r;
	memset(s->queue.map, 0, sizeof(amd_queue_v2_t));
	rt_queue_describe(s->base.gpu, s->queue.map);
	s->base.flow.queue_va = s->queue.va;
	return 0;
}

static int stream_flow_create(hsa_agent_t agent, const struct rt_flow_info *info, struct flow **out)
{
	struct rt_gpu *gpu = gpu_of(agent);
	struct stream *s;
	int r;

	if (!gpu)
		return drv_fail(-EINVAL, "no GPU for a flow");
	if (rt_tap_wanted())
		return rt_tap_create(agent, HSA_QUEUE_TYPE_MULTI, info, out);
	s = calloc(1, sizeof(*s));
	if (!s)
		return drv_fail(-ENOMEM, "no host memory for a flow");
	s->base.rt = rt_get();
	s->base.gpu = gpu;
	s->base.work.attempt = rt_flow_attempt;
	s->base.work.fences = rt_flow_fences;
	s->base.failed = stream_failed;
	s->base.free = stream_flow_free;
	s->base.faults = atomic_load(&gpu->faults);
	s->base.flow.priority = info->priority;
	s->base.flow.grouped = true;
	s->info = *info;
	r = make_queue(s);
	if (r) {
		free(s);
		return r;
	}
	rt_flow_init(&s->base, HSA_QUEUE_TYPE_MULTI);
	*out = &s->base.flow;
	return 0;
}

/* The attempt() of rt_work for a flow that has ended. */
static bool stream_end_attempt(struct rt *rt, struct rt_work *work)
{
	struct flow *flow = &((struct rt_flow *)(void *)work)->flow;

	(void)rt;
	if (!flow_idle(flow))
		return false;
	flow_fini(flow);
	return true;
}

static void stream_flow_destroy(struct flow *flow)
{
	struct rt_flow *f = rt_flow_of(flow);

	if (f->amd) {
		rt_tap_destroy(f);
		return;
	}
	rt_faults_query(f->rt, true);
	atomic_store(&flow->state, FLOW_ENDED);
	flow_end(flow);
	/* The previous holder of its lock may have queued it. */
	rt_progress_remove(f->rt, &f->work);
	if (flow_idle(flow)) {
		flow_fini(flow);
		return;
	}
	f->work.attempt = stream_end_attempt;
	rt_progress_add(f->rt, &f->work);
}

static int stream_cooperative(hsa_agent_t agent, const struct rt_flow_info *info, struct flow **flow)
{
	return rt_tap_create(agent, HSA_QUEUE_TYPE_COOPERATIVE, info, flow);
}

/* The end of a query that found operations unfinished. A program that only queries waits, too: the kernel is queried for faults
 * and losses from time to time, as in waits. */
static void stream_flush(struct flow *flow)
{
	flow_flush(flow);
	rt_faults_query(rt_flow_of(flow)->rt, false);
}

static int stream_state(const struct flow *flow)
{
	return flow->ops->check(flow);
}

/* Queries the kernel for faults, once for all that has ended since the last query: work that faulted ends like any
 * other. */
static void stream_check(struct rt_flow *f, uint64_t value)
{
	if (atomic_load_explicit(&f->checked, memory_order_acquire) < value) {
		value = flow_completed(&f->flow);
		rt_flow_check(f);
		/* Stored after the query, so that a thread that waits at the same time does not miss the fault. */
		atomic_store_explicit(&f->checked, value, memory_order_release);
	} else if (__builtin_expect(atomic_load_explicit(&f->rt->fault_requery_ns, memory_order_relaxed) != 0, 0)) {
		rt_faults_query_late(f->rt);
	}
}

static int stream_wait(struct flow *flow, uint64_t value, int64_t timeout_ns)
{
	struct rt_flow *f = rt_flow_of(flow);
	struct cs_ring *lost;
	int r = flow_wait(flow, value, timeout_ns, &lost);

	if (lost)
		rt_queues_lost(f->rt, lost);
	if (r)
		return r;
	stream_check(f, value);
	return stream_state(flow);
}

static hsa_status_t set_cus(struct flow *flow, uint32_t bits, const uint32_t *cus)
{
	return rt_flow_set_cus(rt_flow_of(flow), bits, cus);
}

static hsa_status_t get_cus(const struct flow *flow, uint32_t bits, uint32_t *cus)
{
	return rt_flow_get_cus(rt_flow_of(flow), bits, cus);
}

static uint64_t stamp_ticks(hsa_agent_t agent, uint64_t stamp)
{
	struct rt_gpu *gpu = gpu_of(agent);

	if (!gpu)
		return 0;
	(void)!drv_clock_refresh(&gpu->clock);
	return rt_gpu_time_ns(gpu, stamp);
}

static int segment_create(hsa_agent_t agent, const hsa_kernel_dispatch_packet_t *packets, uint32_t count,
			  struct flow_segment **segment)
{
	struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? flow_segment_create(&gpu->flows, packets, count, segment) : -EINVAL;
}

static int import_sync(hsa_agent_t agent, int fd, struct rt_sync **sync)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? rt_sync_import(gpu, fd, sync) : -EINVAL;
}

static void *flow_holder(void)
{
	return &flow_thread;
}

/* --- the GPU ---------------------------------------------------------------------------------- */

/* Collects the fences of the GPU's unfinished work. */
static unsigned fences_of(struct rt *rt, const struct rt_gpu *gpu, struct cs_fence *fences)
{
	unsigned count;

	drv_mutex_lock(&rt->memory->free_lock);
	count = rt_memory_fences(rt, 1u << gpu->index, fences);
	drv_mutex_unlock(&rt->memory->free_lock);
	return cs_fences_unretired(fences, fences, count);
}

static void gpu_retire(hsa_agent_t agent)
{
	const struct rt_gpu *gpu = gpu_of(agent);
	struct cs_fence fences[RT_FENCES_MAX];
	struct rt *rt = rt_get();
	unsigned count;

	if (!gpu)
		return;
	rt_progress_pass(rt);
	count = fences_of(rt, gpu, fences);
	for (unsigned i = 0; i < count; i++)
		cs_fence_retire(fences[i]);
	if (gpu->copier)
		sdma_copier_check(gpu->copier);
	rt_faults_query(rt, true);
}

static uint64_t gpu_steps(hsa_agent_t agent, bool *busy)
{
	struct rt_gpu *gpu = gpu_of(agent);
	struct cs_fence fences[RT_FENCES_MAX];
	struct rt *rt = rt_get();

	if (!gpu)
		return 0;
	rt_queues_flush(rt);
	rt_progress_pass(rt);
	*busy |= fences_of(rt, gpu, fences) > 0;
	return flow_gpu_steps(&gpu->flows);
}

static unsigned gpu_faults(hsa_agent_t agent)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? atomic_load(&gpu->faults) : 0;
}

static int bundle_pick(hsa_agent_t agent, const void **image, size_t *size_B)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? cs_bundle_pick(image, size_B, gpu->dev->chip) : -EINVAL;
}

static bool first_warning(void)
{
	static atomic_flag warned = ATOMIC_FLAG_INIT;

	return !atomic_flag_test_and_set(&warned);
}

static bool target_id(hsa_agent_t agent, unsigned index, char *id, size_t size_B)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu && cs_target_id(gpu->dev->chip, index, id, size_B);
}

static hsa_amd_memory_pool_t args_pool(hsa_agent_t agent)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	for (unsigned i = 0; gpu && i < gpu->agent->pools; i++)
		if (gpu->agent->pool[i].kind == RT_POOL_KERNARG)
			return (hsa_amd_memory_pool_t){(uintptr_t)&gpu->agent->pool[i]};
	return (hsa_amd_memory_pool_t){0};
}

static uint32_t scratch_groups_max(hsa_agent_t agent, const struct cs_kernel *kernel, uint32_t group_threads)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? cs_scratch_groups_max(gpu->dev, kernel, group_threads) : 0;
}

static const struct cs_kernel *kernel_find(hsa_agent_t agent, uint64_t kernel_object)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? rt_kernel_find(rt_get(), gpu->agent->gpu, kernel_object) : NULL;
}

static int ipc_fetch(const hsa_amd_ipc_memory_t *handle, uint64_t index, int *fd, uint64_t *size_B)
{
	return rt_get() ? rt_ipc_fetch(handle, index, fd, size_B) : -ENODEV;
}

static bool read_only(const void *ptr)
{
	struct rt *rt = rt_get();
	struct rt_alloc_info info;

	return rt && rt_alloc_info_find(rt, (uintptr_t)ptr, &info) && info.read_only;
}

static const char *error_reason(void)
{
	return drv_error_last()->text;
}

const struct rt_interface rt_interface = {
	.size_B = sizeof(struct rt_interface),
	.create = stream_flow_create,
	.destroy = stream_flow_destroy,
	.put = flow_put,
	.dispatch = flow_dispatch,
	.submit = flow_submit,
	.again_of = flow_again_of,
	.again = flow_again,
	.copy = rt_flow_copy,
	.completed = flow_completed,
	.reached = flow_reached,
	.flush = stream_flush,
	.call_ended = flow_call_ended,
	.wait = stream_wait,
	.state = stream_state,
	.abandon = flow_end,
	.set_cus = set_cus,
	.get_cus = get_cus,
	.cooperative = stream_cooperative,
	.ticks = stamp_ticks,
	.segment_create = segment_create,
	.segment_destroy = flow_segment_destroy,
	.import_sync = import_sync,
	.drop_sync = rt_sync_drop,
	.syncobj = rt_sync_submit,
	.retire = gpu_retire,
	.steps = gpu_steps,
	.faults = gpu_faults,
	.pick = bundle_pick,
	.target = target_id,
	.first_warning = first_warning,
	.args_pool = args_pool,
	.scratch_groups_max = scratch_groups_max,
	.kernel = kernel_find,
	.share = rt_vmm_share,
	.fetch = ipc_fetch,
	.image_layout = rt_image_layout,
	.read_only = read_only,
	.reason = error_reason,
	.thread = flow_holder,
};
