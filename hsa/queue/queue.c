/* Queues: creation, destruction, errors. packet.c reads the packets. */
#include "drv/lock.h"
#include "hsa/core/table.h"
#include "hsa/queue/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_B 64u
/* The flat apertures in a DRM address space; KFD has others. */
#define GROUP_APERTURE_HI   0x20000000u
#define PRIVATE_APERTURE_HI 0x10000000u
#define SCRATCH_MAX_B       262128u /* per lane: the limit of ROCr */

/* --- the list --------------------------------------------------------------------------------- */

int rt_queues_init(struct rt *rt)
{
	struct rt_queues *s = calloc(1, sizeof(*s));

	if (!s)
		return drv_fail(-ENOMEM, "no host memory for queues");
	drv_mutex_init(&s->lock, DRV_RANK_RT_QUEUES);
	for (unsigned i = 0; i < rt->gpus; i++) {
		struct rt_gpu *gpu = rt->gpu[i];

		gpu->flows.dev = gpu->dev;
		gpu->flows.vm = gpu->vm;
		gpu->flows.copier = gpu->copier;
		gpu->flows.code_generation = &rt->kernel_generation;
		flow_gpu_init(&gpu->flows);
	}
	rt->queues = s;
	return 0;
}

static void dying_release(struct rt_queue *q);

static void forget_ring(void *rt, struct cs_ring *ring)
{
	rt_memory_forget_ring(rt, ring);
}

void rt_queues_fini(struct rt *rt)
{
	struct rt_queues *s = rt->queues;

	while (s->list) {
		struct rt_queue *q = s->list;

		s->list = q->next;
		rt_queue_destroy_unlisted(q);
	}
	while (s->dying) {
		cs_fence_retire(cs_ring_last(s->dying->base.flow.queue->ring));
		dying_release(s->dying);
	}
	/* No thread is inside a call. */
	drv_retire_flush(&rt_calls, &rt_caller);
	for (unsigned i = 0; i < rt->gpus; i++)
		flow_gpu_fini(&rt->gpu[i]->flows, forget_ring, rt);
	drv_mutex_destroy(&s->lock);
	free(s);
	rt->queues = NULL;
}

/* A queue below an intercept queue has no name: an address that it has is of a destroyed queue. */
static struct rt_queue *queue_find_locked(const struct rt *rt, const hsa_queue_t *queue)
{
	struct rt_queue *q = rt->queues->list;

	drv_rank_assert(DRV_RANK_RT_QUEUES);
	while (q && (&q->amd->hsa_queue != queue || q->above))
		q = q->next;
	return q;
}

struct rt_queue *rt_queue_get(const struct rt *rt, const hsa_queue_t *queue)
{
	struct rt_queue *q;

	drv_mutex_lock(&rt->queues->lock);
	q = queue_find_locked(rt, queue);
	if (q)
		flow_get(&q->base.flow);
	drv_mutex_unlock(&rt->queues->lock);
	return q;
}

struct rt_queue *rt_gpu_queue_get(const struct rt *rt, const hsa_queue_t *queue)
{
	struct rt_queue *q = rt_queue_get(rt, queue);

	if (!q || q->base.gpu)
		return q;
	rt_queue_put(q);
	return NULL;
}

void rt_queue_put(struct rt_queue *q)
{
	if (q)
		flow_put(&q->base.flow);
}

/* --- signals of a stopped packet -------------------------------------------------------------------- */

void rt_queue_watch(struct rt_queue *q, struct rt_signal *const *signals, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		q->watched[i] = signals[i];
		atomic_fetch_add(&signals[i]->watchers, 1);
	}
}

void rt_queue_unwatch(struct rt_queue *q)
{
	for (unsigned i = 0; i < RT_DEPS_MAX && q->watched[i]; i++) {
		atomic_fetch_sub(&q->watched[i]->watchers, 1);
		q->watched[i] = NULL;
	}
}

/* --- errors ----------------------------------------------------------------------------------- */

/* A pending call of a queue's callback. */
struct rt_queue_failure {
	struct rt_queue *queue; /* borrowed; NULL: the queue was destroyed meanwhile, in the callback */
	hsa_status_t status;
};

static void callback_run(void *arg)
{
	struct rt_queue_failure *f = arg;

	if (f->queue)
		f->queue->callback(f->status, &f->queue->amd->hsa_queue, f->queue->data);
	if (f->queue)
		atomic_store(&f->queue->failure, NULL);
	free(f);
}

/* Afterwards the callback neither runs nor will run, unless the caller is the callback. */
static void callback_cancel(struct rt_queue *q)
{
	struct rt_queue_failure *f = atomic_load(&q->failure);

	if (rt_handlers_stopped(q->base.rt))
		free(f); /* the call was dropped with the handler thread */
	else if (f && rt_handlers_is_own_thread(q->base.rt))
		f->queue = NULL;
	else
		while (atomic_load(&q->failure))
			drv_futex_wait(&q->base.flow.state, FLOW_ENDED, 50000);
}

/* The failed() of rt_flow. */
static void queue_failed(struct rt_flow *flow, hsa_status_t status)
{
	struct rt_queue *q = (struct rt_queue *)(void *)flow;
	struct rt_queue_failure *f;

	drv_log(DRV_LOG_HSA, "queue %llu ends with status 0x%x at packet %llu: %s", (unsigned long long)q->id,
		status, (unsigned long long)__atomic_load_n(&q->amd->read_dispatch_id, __ATOMIC_RELAXED),
		drv_error_last()->text);
	if (q->above)
		rt_queue_fail(q->above, status);
	f = q->callback ? malloc(sizeof(*f)) : NULL;
	if (!f)
		return;
	*f = (struct rt_queue_failure){q, status};
	atomic_store(&q->failure, f);
	if (rt_callback(flow->rt, callback_run, f)) {
		atomic_store(&q->failure, NULL);
		free(f);
	}
}

/* --- creation --------------------------------------------------------------------------------- */

void rt_queue_describe(const struct rt_gpu *gpu, amd_queue_v2_t *amd)
{
	amd->group_segment_aperture_base_hi = GROUP_APERTURE_HI;
	amd->private_segment_aperture_base_hi = PRIVATE_APERTURE_HI;
	if (gpu) {
		amd->max_cu_id = gpu->dev->facts.ring_cus - 1;
		amd->max_wave_id = gpu->dev->chip->waves_per_cu - 1u;
	}
	amd->read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_v2_t, read_dispatch_id);
	amd->queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
}

static void fill_ring(struct rt_queue *q, const struct rt_queue_request *want, hsa_signal_t doorbell)
{
	amd_queue_v2_t *amd = q->memory.map;

	q->amd = amd;
	q->packets = (char *)amd + sizeof(*amd);
	q->mask = want->size - 1;
	amd->hsa_queue.type = want->type;
	amd->hsa_queue.features = want->features;
	amd->hsa_queue.base_address = q->packets;
	amd->hsa_queue.doorbell_signal = doorbell;
	amd->hsa_queue.size = want->size;
	amd->hsa_queue.id = q->id;
	rt_queue_describe(q->base.gpu, amd);
	for (uint32_t i = 0; i < want->size; i++)
		*(uint16_t *)(void *)(q->packets + (uint64_t)i * PACKET_B) = HSA_PACKET_TYPE_INVALID;
}

/* Creates the queue's memory and doorbell; the queue is in no list yet. */
static int make_memory(struct rt *rt, const struct rt_queue_request *want, struct rt_queue *q)
{
	int r = rt_shared_create(rt, sizeof(amd_queue_v2_t) + (uint64_t)want->size * PACKET_B,
				 VM_UNCACHED | (rt->gpus == 1 ? VM_RESIDENT : 0), &q->memory);

	if (r || want->doorbell.handle)
		return r;
	r = rt_signal_take(rt, &q->doorbell);
	if (r)
		rt_shared_destroy(&q->memory);
	return r;
}

static void free_queue(struct drv_retired *retired)
{
	struct rt_queue *q = vm_container(retired, struct rt_queue, retired);

	if (q->intercept)
		rt_intercept_free(q);
	rt_shared_destroy(&q->memory);
	free(q->base.info);
	free(q);
}

/* The free() of rt_flow: the last reference to the flow was released. A thread that rings the doorbell has none. */
static void retire_queue(struct rt_flow *flow)
{
	struct rt_queue *q = (struct rt_queue *)(void *)flow;

	if (flow->tap != q)
		rt_queue_put(flow->tap);
	drv_retire(&rt_calls, &q->retired, free_queue);
}

static int init_queue(struct rt *rt, const struct rt_queue_request *want, struct rt_queue *q)
{
	bool syncs = want->type == HSA_QUEUE_TYPE_COOPERATIVE && want->gpu->dev->chip->gws;
	int r = syncs ? vm_gws_create(want->gpu->vm) : 0;

	q->base.rt = rt;
	q->base.gpu = want->gpu;
	q->base.work.attempt = rt_queue_attempt;
	q->base.failed = queue_failed;
	q->base.free = retire_queue;
	q->callback = want->callback;
	q->data = want->data;
	q->above = want->above;
	return r ? r : make_memory(rt, want, q);
}

int rt_queue_prepare(struct rt *rt, const struct rt_queue_request *want, struct rt_queue **out)
{
	struct rt_queue *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return drv_fail(-ENOMEM, "no host memory for a queue");
	r = init_queue(rt, want, q);
	if (r) {
		free(q);
		return r;
	}
	q->base.amd = q->memory.map;
	q->base.flow.queue_va = (uintptr_t)q->memory.map;
	rt_flow_init(&q->base, want->type);
	q->id = q->base.flow.id;
	fill_ring(q, want, q->doorbell ? rt_signal_handle(rt, q->doorbell) : want->doorbell);
	*out = q;
	return 0;
}

void rt_queue_publish(struct rt_queue *q)
{
	struct rt_queues *s = q->base.rt->queues;

	drv_mutex_lock(&s->lock);
	q->next = s->list;
	s->list = q;
	drv_mutex_unlock(&s->lock);
	/* Clients that know the hardware write the doorbell here; polling finds the packets (docs/hsa.md). */
	if (q->doorbell)
		rt_doorbell_begin(q->base.rt, q->doorbell, q, &q->amd->max_legacy_doorbell_dispatch_id_plus_1);
}

int rt_queue_create(struct rt *rt, const struct rt_queue_request *want, struct rt_queue **q)
{
	int r = rt_queue_prepare(rt, want, q);

	if (!r)
		rt_queue_publish(*q);
	return r;
}

/* Releases a queue whose work has ended, and which is in no list. */
static void release_queue(struct rt_queue *q)
{
	flow_fini(&q->base.flow);
}

/* Removes the queue from the list of dying ones, and releases it. */
static void dying_release(struct rt_queue *q)
{
	struct rt_queues *s = q->base.rt->queues;
	struct rt_queue **at;

	drv_mutex_lock(&s->lock);
	for (at = &s->dying; *at != q; at = &(*at)->next)
		continue;
	*at = q->next;
	drv_mutex_unlock(&s->lock);
	release_queue(q);
}

/* The attempt() of a dying queue's rt_work. */
static bool dying_attempt(struct rt *rt, struct rt_work *work)
{
	struct rt_queue *q = (struct rt_queue *)(void *)work;

	(void)rt;
	if (!flow_idle(&q->base.flow))
		return false;
	dying_release(q);
	drv_retire_flush(&rt_calls, &rt_caller);
	return true;
}

/* Callbacks that hold the queue are dropped with the handler thread, and before they begin: the caller may be that
 * thread. */
static void wait_for_holders(struct rt_queue *q)
{
	while (atomic_load(&q->held) && !rt_handlers_stopped(q->base.rt)) {
		rt_intercept_drop_calls(q);
		if (atomic_load(&q->held))
			drv_futex_wait(&q->base.flow.state, FLOW_ENDED, 50000);
	}
}

/* Drops packets that were not read. Running kernels are not stopped and may use the queue's memory: it is released
 * when they have ended, and no thread waits for that. */
void rt_queue_destroy_unlisted(struct rt_queue *q)
{
	struct rt *rt = q->base.rt;

	atomic_store(&q->base.flow.state, FLOW_ENDED);
	callback_cancel(q);
	/* A thread that is still translating packets may stop the queue, and so add it to the progress thread's
	 * work: flow_end() waits for that thread, no thread holds the queue anew afterwards, and the work is removed
	 * when the holders, which may add it, too, have ended. */
	flow_end(&q->base.flow);
	wait_for_holders(q);
	rt_progress_remove(rt, &q->base.work);
	rt_queue_unwatch(q);
	if (q->intercept)
		rt_intercept_destroy(q);
	if (q->doorbell)
		rt_signal_destroy(rt, q->doorbell);
	if (flow_idle(&q->base.flow)) {
		release_queue(q);
		return;
	}
	drv_mutex_lock(&rt->queues->lock);
	q->next = rt->queues->dying;
	rt->queues->dying = q;
	drv_mutex_unlock(&rt->queues->lock);
	q->base.work.attempt = dying_attempt;
	rt_progress_add(rt, &q->base.work);
}

/* Checks the parameters and sets gpu and features. */
static hsa_status_t check_queue_request(struct rt *rt, hsa_agent_t agent, uint32_t private_B,
					struct rt_queue_request *want)
{
	const struct rt_agent *a = rt_agent_of(rt, agent);
	uint32_t size = want->size;

	if (!a)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!size || size & (size - 1) || size < RT_QUEUE_MIN || want->type > HSA_QUEUE_TYPE_COOPERATIVE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!a->gpu)
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
	if (size > RT_QUEUE_MAX || (private_B > SCRATCH_MAX_B && private_B != UINT32_MAX))
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	want->gpu = a->gpu;
	want->features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rt_queue_make(struct rt *rt, hsa_agent_t agent, uint32_t private_B, struct rt_queue_request *want,
			   rt_queue_maker *how, hsa_queue_t **queue)
{
	struct rt_queue *q;
	hsa_status_t status;
	int r;

	if (!queue)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = check_queue_request(rt, agent, private_B, want);
	if (status)
		return status;
	r = how(rt, want, &q);
	if (r)
		return hsa_status_of(r);
	*queue = &q->amd->hsa_queue;
	return HSA_STATUS_SUCCESS;
}

static int create_polled(struct rt *rt, struct rt_queue_request *want, struct rt_queue **q)
{
	int r = rt_queue_create(rt, want, q);

	if (!r && drv_config()->poll)
		rt_progress_add(rt, &(*q)->base.work);
	return r;
}

/* Adds a user to the GPU's active cooperative queue, or else to `mine`; NULL: there is neither. */
static struct rt_queue *cooperative_join(struct rt_queues *s, const struct rt_gpu *gpu, struct rt_queue *mine)
{
	struct rt_queue *q;

	drv_mutex_lock(&s->lock);
	for (q = s->list; q; q = q->next)
		if (q->base.gpu == gpu && q->users && !rt_queue_is_over(q))
			break;
	q = q ? q : mine;
	if (q)
		q->users++;
	drv_mutex_unlock(&s->lock);
	return q;
}

/* Like ROCr: a GPU has one cooperative queue, which all clients share: its grids run one after the other, if their
 * packets have the barrier bit, and so no grid waits for waves that cannot start because of another one. */
static int create_cooperative(struct rt *rt, struct rt_queue_request *want, struct rt_queue **q)
{
	struct rt_queue *mine = NULL;
	int r = 0;

	*q = cooperative_join(rt->queues, want->gpu, NULL);
	if (!*q)
		r = create_polled(rt, want, &mine);
	if (!mine)
		return r;
	*q = cooperative_join(rt->queues, want->gpu, mine);
	if (*q != mine) /* another thread created one first */
		rt_queue_destroy(mine);
	return 0;
}

RT_IMPL(hsa_queue_create,
	(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	 void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data, uint32_t private_B,
	 uint32_t group_B, hsa_queue_t **queue),
	(agent, size, type, callback, data, private_B, group_B, queue))
{
	struct rt_queue_request want = {.size = size, .type = type, .callback = callback, .data = data};

	(void)group_B;
	return rt_queue_make(rt, agent, private_B, &want,
			     type == HSA_QUEUE_TYPE_COOPERATIVE ? create_cooperative : create_polled, queue);
}

/* Removes the queue from the list; lock held. */
static void queue_unlink_locked(struct rt_queues *s, struct rt_queue *q)
{
	struct rt_queue **at = &s->list;

	drv_rank_assert(DRV_RANK_RT_QUEUES);
	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
}

void rt_queue_destroy(struct rt_queue *q)
{
	struct rt_queues *s = q->base.rt->queues;

	drv_mutex_lock(&s->lock);
	queue_unlink_locked(s, q);
	drv_mutex_unlock(&s->lock);
	rt_queue_destroy_unlisted(q);
}

/* Takes the queue out of the list when its last user destroys it: *last. */
static hsa_status_t queue_leave(struct rt_queues *s, const struct rt *rt, const hsa_queue_t *queue,
				struct rt_queue **last)
{
	struct rt_queue *q = queue_find_locked(rt, queue);

	*last = NULL;
	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	/* The thread would wait for itself, perhaps by way of another handler. */
	if (!rt_intercept_await_locked(q))
		return HSA_STATUS_ERROR_INVALID_RUNTIME_STATE;
	if (q->users > 1) {
		q->users--;
		return HSA_STATUS_SUCCESS;
	}
	queue_unlink_locked(s, q);
	*last = q;
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_queue_destroy, (hsa_queue_t *queue), (queue))
{
	struct rt_queues *s = rt->queues;
	struct rt_queue *last;
	hsa_status_t status;

	if (!queue)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	rt->ops->query_faults(rt, true);
	drv_mutex_lock(&s->lock);
	status = queue_leave(s, rt, queue, &last);
	drv_mutex_unlock(&s->lock);
	if (last)
		rt_queue_destroy_unlisted(last);
	drv_mutex_lock(&s->lock);
	(void)!rt_intercept_await_locked(NULL);
	drv_mutex_unlock(&s->lock);
	if (last)
		drv_retire_flush(&rt_calls, &rt_caller);
	return status;
}

RT_IMPL(hsa_queue_inactivate, (hsa_queue_t *queue), (queue))
{
	struct rt_queue *q;

	q = rt_queue_get(rt, queue);
	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	atomic_store(&q->base.flow.state, FLOW_ENDED);
	rt_queue_put(q);
	return HSA_STATUS_SUCCESS;
}
