/* Queues: what clients make and destroy. Packets are read in packet.c. */
#include "hsa/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/table.h"

#define PACKET_B 64u
/* Where the flat apertures of a DRM address space lie; KFD has them elsewhere. */
#define GROUP_APERTURE_HI   0x20000000u
#define PRIVATE_APERTURE_HI 0x10000000u
#define SCRATCH_MAX_B       262128u /* of a lane: what ROCr accepts */

/* --- the list --------------------------------------------------------------------------------- */

int rt_queues_init(struct rt *rt)
{
	struct rt_queues *s = calloc(1, sizeof(*s));

	if (!s)
		return drv_fail(-ENOMEM, "no host memory for queues");
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->channel_lock, NULL);
	rt->queues = s;
	return 0;
}

static void destroy_queue(struct rt_queue *q);
static void bury(struct rt_queue *q);

void rt_queues_fini(struct rt *rt)
{
	struct rt_queues *s = rt->queues;

	while (s->list) {
		struct rt_queue *q = s->list;

		s->list = q->next;
		destroy_queue(q);
	}
	while (s->dying) {
		cs_point_settle(cs_ring_last(s->dying->channel->ring));
		bury(s->dying);
	}
	rt_channels_fini(rt);
	pthread_mutex_destroy(&s->channel_lock);
	pthread_mutex_destroy(&s->lock);
	free(s);
	rt->queues = NULL;
}

static struct rt_queue *find_locked(const struct rt *rt, const hsa_queue_t *queue)
{
	struct rt_queue *q = rt->queues->list;

	while (q && &q->amd->hsa_queue != queue)
		q = q->next;
	return q;
}

struct rt_queue *rt_queue_of(const struct rt *rt, const hsa_queue_t *queue)
{
	struct rt_queue *q;

	pthread_mutex_lock(&rt->queues->lock);
	q = find_locked(rt, queue);
	pthread_mutex_unlock(&rt->queues->lock);
	return q;
}

struct rt_queue *rt_queue_hold(struct rt *rt, uint64_t id)
{
	struct rt_queues *s = rt->queues;
	struct rt_queue *q;

	pthread_mutex_lock(&s->lock);
	for (q = s->list; q && q->id != id; q = q->next)
		continue;
	if (q)
		atomic_fetch_add(&q->held, 1);
	pthread_mutex_unlock(&s->lock);
	return q;
}

/* The youngest queue that collects among those older than `id`, held; NULL: none. The list is in falling order. */
static struct rt_queue *hold_collecting(struct rt_queues *s, uint64_t id)
{
	struct rt_queue *q;

	pthread_mutex_lock(&s->lock);
	for (q = s->list; q && (q->id >= id || !atomic_load(&q->collecting)); q = q->next)
		continue;
	if (q)
		atomic_fetch_add(&q->held, 1);
	pthread_mutex_unlock(&s->lock);
	return q;
}

void rt_queues_flush(struct rt *rt)
{
	struct rt_queues *s = rt->queues;
	uint64_t id = UINT64_MAX;
	struct rt_queue *q;

	if (__builtin_expect(!atomic_load_explicit(&s->collecting, memory_order_acquire), 1))
		return;
	while ((q = hold_collecting(s, id))) {
		id = q->id;
		rt_queue_run(q, true);
		atomic_fetch_sub(&q->held, 1);
	}
}

uint64_t rt_queues_read(struct rt *rt, const struct rt_gpu *gpu)
{
	struct rt_queues *s = rt->queues;
	uint64_t read = 0;

	pthread_mutex_lock(&s->lock);
	for (const struct rt_queue *q = s->list; q; q = q->next)
		if (q->gpu == gpu)
			read += __atomic_load_n(&q->amd->read_dispatch_id, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&s->lock);
	return read;
}

/* --- what a stopped packet waits for ------------------------------------------------------------ */

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

/* A callback on its way. */
struct rt_queue_failure {
	struct rt_queue *queue; /* borrowed; NULL: it was destroyed meanwhile, on the thread for callbacks itself */
	hsa_status_t status;
};

static void tell(void *arg)
{
	struct rt_queue_failure *f = arg;

	if (f->queue)
		f->queue->callback(f->status, &f->queue->amd->hsa_queue, f->queue->data);
	if (f->queue)
		atomic_store(&f->queue->failure, NULL);
	free(f);
}

/* Afterwards the callback neither runs nor will run, unless we are in it. */
static void end_telling(struct rt_queue *q)
{
	struct rt_queue_failure *f = atomic_load(&q->failure);

	if (!q->rt->handlers)
		free(f); /* dropped with the thread */
	else if (f && rt_handlers_is_own_thread(q->rt))
		f->queue = NULL;
	else
		while (atomic_load(&q->failure))
			drv_futex_wait(&q->state, RT_QUEUE_INACTIVE, 50000);
}

void rt_queue_fail(struct rt_queue *q, hsa_status_t status)
{
	uint32_t active = RT_QUEUE_ACTIVE;
	struct rt_queue_failure *f;

	if (!atomic_compare_exchange_strong(&q->state, &active, RT_QUEUE_FAILED))
		return;
	drv_log(DRV_LOG_HSA, "queue %llu ends with status 0x%x at packet %llu: %s", (unsigned long long)q->id,
		status, (unsigned long long)q->amd->read_dispatch_id, drv_error_last()->text);
	if (q->above)
		rt_queue_fail(q->above, status);
	f = q->callback ? malloc(sizeof(*f)) : NULL;
	if (!f)
		return;
	*f = (struct rt_queue_failure){q, status};
	atomic_store(&q->failure, f);
	if (rt_callback(q->rt, tell, f)) {
		atomic_store(&q->failure, NULL);
		free(f);
	}
}

/* A queue that was used, of that ring or (NULL) of that GPU. The queues of our HIP library fail together: a stream that
 * waited for one that is lost may have gone on before anybody knew. */
static bool is_meant(const struct rt_queue *q, const struct rt_gpu *gpu, const struct cs_ring *ring)
{
	const struct rt_channel *c = atomic_load(&q->channel);

	if (!c)
		return false;
	if (!ring)
		return q->gpu == gpu;
	return c->ring == ring || (q->behind_door && q->gpu->vm == cs_ring_vm(ring));
}

struct rt_gpu *rt_queues_fail(struct rt *rt, const struct rt_gpu *gpu, const struct cs_ring *ring,
			      hsa_status_t status)
{
	struct rt_queues *s = rt->queues;
	struct rt_gpu *failed = NULL;

	pthread_mutex_lock(&s->lock);
	for (struct rt_queue *q = s->list; q; q = q->next) {
		if (!is_meant(q, gpu, ring) || atomic_load(&q->state) != RT_QUEUE_ACTIVE)
			continue;
		failed = q->gpu;
		rt_queue_fail(q, status);
	}
	pthread_mutex_unlock(&s->lock);
	return failed;
}

/* --- creation --------------------------------------------------------------------------------- */

static void fill(struct rt_queue *q, const struct rt_queue_want *want, hsa_signal_t doorbell)
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
	amd->group_segment_aperture_base_hi = GROUP_APERTURE_HI;
	amd->private_segment_aperture_base_hi = PRIVATE_APERTURE_HI;
	if (q->gpu) {
		amd->max_cu_id = q->gpu->dev->facts.ring_cus - 1;
		amd->max_wave_id = q->gpu->dev->chip->waves_per_cu - 1u;
	}
	amd->read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_v2_t, read_dispatch_id);
	amd->queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
	for (uint32_t i = 0; i < want->size; i++)
		*(uint16_t *)(void *)(q->packets + (uint64_t)i * PACKET_B) = HSA_PACKET_TYPE_INVALID;
}

/* What the queue's memory and doorbell are; not yet known to anybody. */
static int make(struct rt *rt, const struct rt_queue_want *want, struct rt_queue *q, hsa_signal_t *doorbell)
{
	int r = rt_shared_create(rt, sizeof(amd_queue_v2_t) + (uint64_t)want->size * PACKET_B,
				 VM_UNCACHED | (rt->gpus == 1 ? VM_RESIDENT : 0), &q->memory);

	*doorbell = want->doorbell;
	if (r || doorbell->handle)
		return r;
	r = rt_doorbell_create(rt, q, doorbell);
	if (r)
		rt_shared_destroy(&q->memory);
	else
		q->doorbell = rt_signal_of(rt, *doorbell);
	return r;
}

int rt_queue_create(struct rt *rt, const struct rt_queue_want *want, struct rt_queue **out)
{
	struct rt_queue *q = calloc(1, sizeof(*q));
	hsa_signal_t doorbell;
	int r;

	if (!q)
		return drv_fail(-ENOMEM, "no host memory for a queue");
	q->rt = rt;
	q->gpu = want->gpu;
	q->callback = want->callback;
	q->data = want->data;
	q->above = want->above;
	q->work.attempt = rt_queue_attempt;
	q->cooperative = want->type == HSA_QUEUE_TYPE_COOPERATIVE;
	q->long_grid = rt_split_limit(want->gpu, want->type);
	q->job_ns = want->gpu ? rt_part_ns(want->gpu) : 0;
	rt_queue_init_cus(q);
	r = q->cooperative ? vm_gws_create(q->gpu->vm) : 0;
	r = r ? r : make(rt, want, q, &doorbell);
	if (r) {
		free(q);
		return r;
	}
	pthread_mutex_lock(&rt->queues->lock);
	q->id = rt->queues->next_id++;
	fill(q, want, doorbell);
	/* Clients that know the hardware store here; a poller may look (docs/hsa.md). */
	if (q->doorbell)
		rt_signal_memory(doorbell)->hardware_doorbell_ptr = &q->amd->max_legacy_doorbell_dispatch_id_plus_1;
	q->next = rt->queues->list;
	rt->queues->list = q;
	pthread_mutex_unlock(&rt->queues->lock);
	*out = q;
	return 0;
}

/* Its work has ended, and it is in no list any more. */
static void free_queue(struct rt_queue *q)
{
	rt_channel_put(q->rt, q->channel);
	rt_shared_destroy(&q->memory);
	free(q);
}

/* Takes it from the dying. */
static void bury(struct rt_queue *q)
{
	struct rt_queues *s = q->rt->queues;
	struct rt_queue **at;

	pthread_mutex_lock(&s->lock);
	for (at = &s->dying; *at != q; at = &(*at)->next)
		continue;
	*at = q->next;
	pthread_mutex_unlock(&s->lock);
	free_queue(q);
}

/* rt_work's attempt for a dying queue. */
static bool attempt_to_bury(struct rt *rt, struct rt_work *work)
{
	struct rt_queue *q = (struct rt_queue *)(void *)work;

	(void)rt;
	if (!cs_point_settled(cs_ring_last(q->channel->ring)))
		return false;
	bury(q);
	return true;
}

/* Packets that were not read are dropped. Nothing stops kernels that run, and they may use the queue's memory: it
 * goes when they have ended, and nobody waits for that. */
static void destroy_queue(struct rt_queue *q)
{
	struct rt_queues *s = q->rt->queues;

	atomic_store(&q->state, RT_QUEUE_INACTIVE);
	end_telling(q);
	if (q->rt->progress)
		rt_progress_remove(q->rt, &q->work);
	/* Whoever still translates has begun before. Callbacks that hold it are dropped with their thread. */
	while ((atomic_load(&q->held) && q->rt->handlers) ||
	       atomic_exchange_explicit(&q->busy, true, memory_order_acquire))
		drv_futex_wait(&q->state, RT_QUEUE_INACTIVE, 50000);
	if (atomic_exchange(&q->collecting, false))
		atomic_fetch_sub(&s->collecting, 1);
	rt_queue_unwatch(q);
	if (q->intercept)
		rt_intercept_destroy(q);
	if (q->doorbell)
		rt_signal_destroy(q->rt, q->doorbell);
	if (!q->channel || cs_point_settled(cs_ring_last(q->channel->ring))) {
		free_queue(q);
		return;
	}
	pthread_mutex_lock(&s->lock);
	q->next = s->dying;
	s->dying = q;
	pthread_mutex_unlock(&s->lock);
	q->work.attempt = attempt_to_bury;
	if (q->rt->progress)
		rt_progress_add(q->rt, &q->work);
}

/* Fills gpu and features. */
static hsa_status_t check(struct rt *rt, hsa_agent_t agent, uint32_t private_B, struct rt_queue_want *want)
{
	const struct rt_agent *a = rt_agent_of(rt, agent);
	uint32_t size = want->size;

	if (!a)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!size || size & (size - 1) || size < RT_QUEUE_MIN || want->type > HSA_QUEUE_TYPE_COOPERATIVE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	/* Nothing here makes packets for the others' generations. */
	if (!a->gpu || !drv_pm4_supported(a->gpu->dev->chip->pm4))
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
	if (size > RT_QUEUE_MAX || (private_B > SCRATCH_MAX_B && private_B != UINT32_MAX))
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (want->type == HSA_QUEUE_TYPE_COOPERATIVE && !a->info.cooperative)
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
	want->gpu = a->gpu;
	want->features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rt_queue_make(hsa_agent_t agent, uint32_t private_B, struct rt_queue_want *want, rt_queue_maker *how,
			   hsa_queue_t **queue)
{
	struct rt_queue *q;
	hsa_status_t status;
	int r;
	RT_ENTER(rt);

	if (!queue)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = check(rt, agent, private_B, want);
	if (status)
		return status;
	r = how(rt, want, &q);
	if (r)
		return hsa_status_of(r);
	*queue = &q->amd->hsa_queue;
	return HSA_STATUS_SUCCESS;
}

static int create_polled(struct rt *rt, struct rt_queue_want *want, struct rt_queue **q)
{
	int r = rt_queue_create(rt, want, q);

	if (!r && drv_config()->poll)
		rt_progress_add(rt, &(*q)->work);
	return r;
}

/* A user more of the cooperative queue that works, or else of `mine`; NULL: there is neither. */
static struct rt_queue *join(struct rt_queues *s, const struct rt_gpu *gpu, struct rt_queue *mine)
{
	struct rt_queue *q;

	pthread_mutex_lock(&s->lock);
	for (q = s->list; q; q = q->next)
		if (q->gpu == gpu && q->users && atomic_load(&q->state) == RT_QUEUE_ACTIVE)
			break;
	q = q ? q : mine;
	if (q)
		q->users++;
	pthread_mutex_unlock(&s->lock);
	return q;
}

/* As in ROCr, a GPU has one cooperative queue, which all who ask have together: its grids end one after the other,
 * if their packets have the barrier bit, and so none waits for waves that another one keeps from coming. */
static int create_cooperative(struct rt *rt, struct rt_queue_want *want, struct rt_queue **q)
{
	struct rt_queue *mine = NULL;
	int r = 0;

	*q = join(rt->queues, want->gpu, NULL);
	if (!*q)
		r = create_polled(rt, want, &mine);
	if (!mine)
		return r;
	*q = join(rt->queues, want->gpu, mine);
	if (*q != mine) /* somebody was faster */
		rt_queue_destroy(mine);
	return 0;
}

hsa_status_t impl_hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				   void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data),
				   void *data, uint32_t private_B, uint32_t group_B, hsa_queue_t **queue)
{
	struct rt_queue_want want = {.size = size, .type = type, .callback = callback, .data = data};

	(void)group_B;
	return rt_queue_make(agent, private_B, &want,
			     type == HSA_QUEUE_TYPE_COOPERATIVE ? create_cooperative : create_polled, queue);
}

/* From the list, with its lock. */
static void unlink_locked(struct rt_queues *s, struct rt_queue *q)
{
	struct rt_queue **at = &s->list;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
}

void rt_queue_destroy(struct rt_queue *q)
{
	struct rt_queues *s = q->rt->queues;

	pthread_mutex_lock(&s->lock);
	unlink_locked(s, q);
	pthread_mutex_unlock(&s->lock);
	destroy_queue(q);
}

hsa_status_t impl_hsa_queue_destroy(hsa_queue_t *queue)
{
	struct rt_queue *q;
	bool last;
	RT_ENTER(rt);

	if (!queue)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	rt_faults_look(rt, true);
	pthread_mutex_lock(&rt->queues->lock);
	q = find_locked(rt, queue);
	last = q && q->users <= 1;
	if (last)
		unlink_locked(rt->queues, q);
	else if (q)
		q->users--;
	pthread_mutex_unlock(&rt->queues->lock);
	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (last)
		destroy_queue(q);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_queue_inactivate(hsa_queue_t *queue)
{
	struct rt_queue *q;
	RT_ENTER(rt);

	q = rt_queue_of(rt, queue);
	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	atomic_store(&q->state, RT_QUEUE_INACTIVE);
	return HSA_STATUS_SUCCESS;
}
