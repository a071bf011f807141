#include "hsa/door.h"

#include <errno.h>

#include "hsa/ipc.h"
#include "hsa/memory.h"
#include "hsa/queue.h"
#include "hsa/table.h"
#include "hsa/vmm.h"

static struct rt_queue *queue(const hsa_queue_t *handle)
{
	struct rt *rt = rt_get();
	struct rt_queue *q = rt ? rt_queue_of(rt, handle) : NULL;

	if (!q || !q->gpu)
		return NULL;
	q->behind_door = true;
	q->faults = atomic_load(&q->gpu->faults);
	return q;
}

static uint64_t id(const struct rt_queue *q)
{
	return q->id;
}

static void flush(struct rt_queue *q)
{
	rt_queue_run(q, true);
}

static int state(const struct rt_queue *q)
{
	if (atomic_load_explicit(&q->gpu->faults, memory_order_relaxed) != q->faults)
		return -EFAULT;
	return atomic_load(&q->state) == RT_QUEUE_ACTIVE ? 0 : -ECANCELED;
}

/* end_ns: UINT64_MAX: never. */
static int left_ns(uint64_t end_ns, int64_t *left)
{
	uint64_t now_ns = end_ns == UINT64_MAX ? 0 : rt_now_ns();

	*left = end_ns == UINT64_MAX ? CS_FOREVER : end_ns > now_ns ? (int64_t)(end_ns - now_ns) : 0;
	return *left ? 0 : -ETIMEDOUT;
}

/* Stopped packets are the progress thread's: this one sleeps a little and looks again. */
static int wait(struct rt_queue *q, uint64_t index, int64_t timeout_ns)
{
	const uint64_t end_ns = timeout_ns == CS_FOREVER ? UINT64_MAX : rt_now_ns() + (uint64_t)timeout_ns;
	struct rt_pause pause = {0};
	struct cs_point point;
	int64_t left;
	int r;

	while (rt_queue_completed(q) < index) {
		r = state(q);
		r = r ? r : left_ns(end_ns, &left);
		if (r)
			return r;
		if (rt_queue_point(q, index, &point)) {
			r = cs_point_wait(point, left);
			if (r && r != -ETIMEDOUT)
				rt_queues_lost(q->rt, point.ring);
			if (r)
				return r;
			continue;
		}
		rt_queue_run(q, true);
		if (rt_queue_completed(q) < index && !rt_queue_point(q, index, &point))
			drv_futex_wait(&q->state, RT_QUEUE_ACTIVE, rt_pause_next_ns(&pause));
	}
	/* Work that faulted ends like any other: asked once for what has ended since. */
	if (atomic_load_explicit(&q->looked, memory_order_acquire) < index) {
		index = rt_queue_completed(q);
		rt_queue_look(q);
		/* And not before: who waits at the same time has to know as well. */
		atomic_store_explicit(&q->looked, index, memory_order_release);
	} else if (__builtin_expect(atomic_load_explicit(&q->rt->look_again_ns, memory_order_relaxed) != 0, 0)) {
		rt_faults_look_again(q->rt);
	}
	return state(q);
}

static const struct rt_gpu *gpu_of(hsa_agent_t agent)
{
	struct rt *rt = rt_get();
	const struct rt_agent *a = rt ? rt_agent_of(rt, agent) : NULL;

	return a ? a->gpu : NULL;
}

static void abandon(struct rt_queue *q)
{
	uint32_t active = RT_QUEUE_ACTIVE;

	atomic_compare_exchange_strong(&q->state, &active, RT_QUEUE_INACTIVE);
	drv_futex_wake(&q->state);
	rt_queue_seize(q);
	rt_queue_release(q);
}

/* What the GPU was given so far, and has not ended. */
static unsigned points_of(struct rt *rt, const struct rt_gpu *gpu, struct cs_point *points)
{
	unsigned count;

	pthread_mutex_lock(&rt->memory->free_lock);
	count = rt_memory_points(rt, 1u << gpu->index, points);
	pthread_mutex_unlock(&rt->memory->free_lock);
	return cs_points_unsettled(points, points, count);
}

static void settle(hsa_agent_t agent)
{
	const struct rt_gpu *gpu = gpu_of(agent);
	struct cs_point points[RT_POINTS_MAX];
	struct rt *rt = rt_get();
	unsigned count;

	if (!gpu)
		return;
	rt_progress_pass(rt);
	count = points_of(rt, gpu, points);
	for (unsigned i = 0; i < count; i++)
		cs_point_settle(points[i]);
	if (gpu->copier)
		sdma_copier_look(gpu->copier);
	rt_faults_look(rt, true);
}

static uint64_t steps(hsa_agent_t agent, bool *busy)
{
	const struct rt_gpu *gpu = gpu_of(agent);
	struct cs_point points[RT_POINTS_MAX];
	struct rt *rt = rt_get();

	if (!gpu)
		return 0;
	rt_queues_flush(rt);
	rt_progress_pass(rt);
	*busy |= points_of(rt, gpu, points) > 0;
	return rt_queues_read(rt, gpu);
}

static unsigned faults(hsa_agent_t agent)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? atomic_load(&gpu->faults) : 0;
}

static int pick(hsa_agent_t agent, const void **image, size_t *size_B)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? cs_bundle_pick(image, size_B, gpu->dev->chip) : -EINVAL;
}

static hsa_amd_memory_pool_t args_pool(hsa_agent_t agent)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	for (unsigned i = 0; gpu && i < gpu->agent->pools; i++)
		if (gpu->agent->pool[i].kind == RT_POOL_KERNARG)
			return (hsa_amd_memory_pool_t){(uintptr_t)&gpu->agent->pool[i]};
	return (hsa_amd_memory_pool_t){0};
}

static uint32_t scratch_groups_max(hsa_agent_t agent, uint32_t group_threads)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? cs_scratch_groups_max(gpu->dev, group_threads) : 0;
}

static const struct cs_kernel *kernel(hsa_agent_t agent, uint64_t kernel_object)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? rt_kernel_find(rt_get(), gpu->agent->gpu, kernel_object) : NULL;
}

static int fetch(const hsa_amd_ipc_memory_t *handle, uint64_t index, int *fd, uint64_t *size_B)
{
	return rt_get() ? rt_ipc_fetch(handle, index, fd, size_B) : -ENODEV;
}

static int import_sync(hsa_agent_t agent, int fd, uint64_t *sync)
{
	const struct rt_gpu *gpu = gpu_of(agent);

	return gpu ? rt_sync_import(rt_get(), gpu, fd, sync) : -EINVAL;
}

static void drop_sync(uint64_t sync)
{
	if (rt_get())
		rt_sync_drop(rt_get(), sync);
}

static bool read_only(const void *ptr)
{
	struct rt *rt = rt_get();
	struct rt_span span;

	return rt && rt_span_find(rt, (uintptr_t)ptr, &span) && span.read_only;
}

static const char *reason(void)
{
	return drv_error_last()->text;
}

const struct rt_door rt_door = {
	.size_B = sizeof(struct rt_door),
	.queue = queue,
	.id = id,
	.ring = rt_queue_ring,
	.flush = flush,
	.completed = rt_queue_completed,
	.wait = wait,
	.state = state,
	.abandon = abandon,
	.settle = settle,
	.steps = steps,
	.faults = faults,
	.pick = pick,
	.args_pool = args_pool,
	.scratch_groups_max = scratch_groups_max,
	.kernel = kernel,
	.sequence_create = rt_sequence_create,
	.sequence_destroy = rt_sequence_destroy,
	.share = rt_vmm_share,
	.fetch = fetch,
	.import_sync = import_sync,
	.drop_sync = drop_sync,
	.read_only = read_only,
	.reason = reason,
};
