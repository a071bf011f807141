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
#define CHANNELS_MAX        (sizeof(((struct rt_queues *)0)->all) / sizeof(((struct rt_queues *)0)->all[0]))

/* --- channels --------------------------------------------------------------------------------- */

static void destroy_channel(struct rt_channel *c)
{
	cs_ring_destroy(c->ring);
	cs_ctx_destroy(c->ctx);
	vm_piece_free(&c->count);
	free(c);
}

/* Rings of the device in turn, so that queues run side by side. */
static unsigned next_ring(struct rt_gpu *gpu)
{
	uint32_t rings = gpu->dev->facts.ip[DRV_IP_COMPUTE].rings;
	unsigned skip = atomic_fetch_add(&gpu->next_ring, 1) % (unsigned)__builtin_popcount(rings);

	while (skip--)
		rings &= rings - 1;
	return (unsigned)__builtin_ctz(rings);
}

static int create_channel(struct rt_gpu *gpu, enum cs_priority priority, struct rt_channel **out)
{
	const struct vm_info info = {.size_B = 256, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	struct rt_channel *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return drv_fail(-ENOMEM, "no host memory for a queue");
	c->gpu = gpu;
	c->priority = priority;
	r = cs_ctx_create(gpu->vm, priority, &c->ctx);
	/* A high priority is a wish: most processes may not have it. */
	if (r == -EACCES)
		r = cs_ctx_create(gpu->vm, CS_PRIORITY_NORMAL, &c->ctx);
	if (!r)
		r = cs_ring_create(c->ctx, DRV_IP_COMPUTE, next_ring(gpu), cs_pm4_print, &c->ring);
	if (!r)
		r = vm_piece_alloc(gpu->vm, &info, &c->count);
	if (r) {
		destroy_channel(c);
		return r;
	}
	memset(c->count.map, 0, sizeof(uint64_t));
	*out = c;
	return 0;
}

/* One that a queue gave back, or a new one. */
static int get_channel(struct rt *rt, struct rt_gpu *gpu, enum cs_priority priority, struct rt_channel **out)
{
	struct rt_queues *s = rt->queues;
	struct rt_channel **at;
	int r = 0;

	pthread_mutex_lock(&s->channel_lock);
	for (at = &s->free; *at && ((*at)->gpu != gpu || (*at)->priority != priority); at = &(*at)->next)
		continue;
	if (*at) {
		*out = *at;
		*at = (*at)->next;
	} else if (s->channels == CHANNELS_MAX) {
		r = drv_fail(-ENOMEM, "more than %zu queues", CHANNELS_MAX);
	} else {
		r = create_channel(gpu, priority, out);
		if (!r)
			s->all[s->channels++] = *out;
	}
	pthread_mutex_unlock(&s->channel_lock);
	return r;
}

static void put_channel(struct rt *rt, struct rt_channel *c)
{
	if (!c)
		return;
	cs_point_settle(cs_ring_last(c->ring));
	/* A lost one stays lost; signals may name it until the end. */
	if (cs_ctx_lost(c->ctx))
		return;
	pthread_mutex_lock(&rt->queues->channel_lock);
	c->next = rt->queues->free;
	rt->queues->free = c;
	pthread_mutex_unlock(&rt->queues->channel_lock);
}

int rt_queue_channel(struct rt_queue *q)
{
	return q->channel ? 0 : get_channel(q->rt, q->gpu, q->priority, &q->channel);
}

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

void rt_queues_fini(struct rt *rt)
{
	struct rt_queues *s = rt->queues;

	while (s->list) {
		struct rt_queue *q = s->list;

		s->list = q->next;
		destroy_queue(q);
	}
	while (s->channels) {
		struct rt_channel *c = s->all[--s->channels];

		rt_memory_forget_ring(rt, c->ring);
		destroy_channel(c);
	}
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

static struct rt_queue *queue_of(const struct rt *rt, const hsa_queue_t *queue)
{
	struct rt_queue *q;

	pthread_mutex_lock(&rt->queues->lock);
	q = find_locked(rt, queue);
	pthread_mutex_unlock(&rt->queues->lock);
	return q;
}

void rt_queues_flush(struct rt *rt)
{
	struct rt_queues *s = rt->queues;

	if (__builtin_expect(!atomic_load_explicit(&s->collecting, memory_order_acquire), 1))
		return;
	pthread_mutex_lock(&s->lock);
	for (struct rt_queue *q = s->list; q; q = q->next)
		if (atomic_load(&q->collecting))
			rt_queue_run(q, true);
	pthread_mutex_unlock(&s->lock);
}

bool rt_queues_busy(struct rt *rt)
{
	struct rt_queues *s = rt->queues;
	bool busy = false;

	pthread_mutex_lock(&s->channel_lock);
	for (unsigned i = 0; !busy && i < s->channels; i++)
		busy = cs_ring_unfinished(s->all[i]->ring) && !cs_ctx_lost(s->all[i]->ctx);
	pthread_mutex_unlock(&s->channel_lock);
	return busy;
}

unsigned rt_queues_points(struct rt *rt, struct rt_gpu *gpu, struct cs_point *points, unsigned max)
{
	struct rt_queues *s = rt->queues;
	unsigned count = 0;

	if (!s)
		return 0;
	pthread_mutex_lock(&s->channel_lock);
	for (unsigned i = 0; i < s->channels && count < max; i++)
		if (s->all[i]->gpu == gpu && cs_ring_unfinished(s->all[i]->ring))
			points[count++] = cs_ring_last(s->all[i]->ring);
	pthread_mutex_unlock(&s->channel_lock);
	return count;
}

/* --- errors ----------------------------------------------------------------------------------- */

struct failure {
	void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data);
	hsa_status_t status;
	hsa_queue_t *queue;
	void *data;
};

static void tell(void *arg)
{
	struct failure *f = arg;

	f->callback(f->status, f->queue, f->data);
	free(f);
}

void rt_queue_fail(struct rt_queue *q, hsa_status_t status)
{
	uint32_t active = RT_QUEUE_ACTIVE;
	struct failure *f;

	if (!atomic_compare_exchange_strong(&q->state, &active, RT_QUEUE_FAILED))
		return;
	drv_log(DRV_LOG_HSA, "queue %llu ends with status 0x%x at packet %llu: %s",
		(unsigned long long)q->amd->hsa_queue.id, status, (unsigned long long)q->amd->read_dispatch_id,
		drv_error_last()->text);
	if (!q->callback)
		return;
	f = malloc(sizeof(*f));
	if (!f)
		return;
	*f = (struct failure){q->callback, status, &q->amd->hsa_queue, q->data};
	if (rt_callback(q->rt, tell, f))
		free(f);
}

void rt_queues_lost(struct rt *rt, const struct cs_ring *ring)
{
	struct rt_queues *s = rt->queues;

	pthread_mutex_lock(&s->lock);
	for (struct rt_queue *q = s->list; q; q = q->next)
		if (q->channel && q->channel->ring == ring)
			rt_queue_fail(q, HSA_STATUS_ERROR_EXCEPTION);
	pthread_mutex_unlock(&s->lock);
}

/* --- creation --------------------------------------------------------------------------------- */

static void fill(struct rt_queue *q, uint32_t size, hsa_queue_type32_t type, hsa_signal_t doorbell, uint64_t id)
{
	amd_queue_v2_t *amd = q->memory.map;

	q->amd = amd;
	q->packets = (char *)amd + sizeof(*amd);
	amd->hsa_queue.type = type;
	amd->hsa_queue.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
	amd->hsa_queue.base_address = q->packets;
	amd->hsa_queue.doorbell_signal = doorbell;
	amd->hsa_queue.size = size;
	amd->hsa_queue.id = id;
	amd->group_segment_aperture_base_hi = GROUP_APERTURE_HI;
	amd->private_segment_aperture_base_hi = PRIVATE_APERTURE_HI;
	amd->max_cu_id = q->gpu->dev->facts.cus - 1;
	amd->max_wave_id = q->gpu->dev->chip->waves_per_cu - 1u;
	amd->read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_v2_t, read_dispatch_id);
	amd->queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
	for (uint32_t i = 0; i < size; i++)
		*(uint16_t *)(void *)(q->packets + (uint64_t)i * PACKET_B) = HSA_PACKET_TYPE_INVALID;
}

static int create_queue(struct rt *rt, struct rt_gpu *gpu, uint32_t size, hsa_queue_type32_t type,
			struct rt_queue **out)
{
	struct rt_queue *q = calloc(1, sizeof(*q));
	hsa_signal_t doorbell;
	uint64_t id;
	int r;

	if (!q)
		return drv_fail(-ENOMEM, "no host memory for a queue");
	q->rt = rt;
	q->gpu = gpu;
	q->work.attempt = rt_queue_attempt;
	r = rt_shared_create(rt, sizeof(amd_queue_v2_t) + (uint64_t)size * PACKET_B,
			     VM_UNCACHED | (rt->gpus == 1 ? VM_RESIDENT : 0), &q->memory);
	if (!r)
		r = rt_doorbell_create(rt, q, &doorbell);
	if (r) {
		rt_shared_destroy(&q->memory);
		free(q);
		return r;
	}
	q->doorbell = rt_signal_of(rt, doorbell);
	pthread_mutex_lock(&rt->queues->lock);
	id = rt->queues->next_id++;
	fill(q, size, type, doorbell, id);
	/* Clients that know the hardware store here; a poller may look (docs/hsa.md). */
	rt_signal_memory(doorbell)->hardware_doorbell_ptr = &q->amd->max_legacy_doorbell_dispatch_id_plus_1;
	q->next = rt->queues->list;
	rt->queues->list = q;
	pthread_mutex_unlock(&rt->queues->lock);
	*out = q;
	return 0;
}

/* It is in no list any more. */
static void destroy_queue(struct rt_queue *q)
{
	atomic_store(&q->state, RT_QUEUE_INACTIVE);
	if (q->rt->progress)
		rt_progress_remove(q->rt, &q->work);
	/* Whoever still translates has begun before. */
	while (atomic_exchange_explicit(&q->busy, true, memory_order_acquire))
		rt_futex_wait(&q->state, RT_QUEUE_INACTIVE, 50000);
	if (atomic_exchange(&q->collecting, false))
		atomic_fetch_sub(&q->rt->queues->collecting, 1);
	rt_queue_unwatch(q);
	put_channel(q->rt, q->channel);
	rt_signal_destroy(q->rt, q->doorbell);
	rt_shared_destroy(&q->memory);
	free(q);
}

hsa_status_t impl_hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				   void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data),
				   void *data, uint32_t private_B, uint32_t group_B, hsa_queue_t **queue)
{
	struct rt_queue *q = NULL;
	struct rt_agent *a;
	int r;
	RT_ENTER(rt);

	(void)group_B;
	a = rt_agent_of(rt, agent);
	if (!a)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!queue || !size || size & (size - 1) || size < RT_QUEUE_MIN || type > HSA_QUEUE_TYPE_COOPERATIVE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!a->gpu)
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
	if (size > RT_QUEUE_MAX || (private_B > SCRATCH_MAX_B && private_B != UINT32_MAX))
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (type == HSA_QUEUE_TYPE_COOPERATIVE && !a->info.cooperative)
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
	r = create_queue(rt, a->gpu, size, type, &q);
	if (r)
		return hsa_status_of(r);
	q->callback = callback;
	q->data = data;
	*queue = &q->amd->hsa_queue;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_queue_destroy(hsa_queue_t *queue)
{
	struct rt_queue *q, **at;
	RT_ENTER(rt);

	if (!queue)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&rt->queues->lock);
	q = find_locked(rt, queue);
	for (at = &rt->queues->list; q && *at != q; at = &(*at)->next)
		continue;
	if (q)
		*at = q->next;
	pthread_mutex_unlock(&rt->queues->lock);
	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	destroy_queue(q);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_queue_inactivate(hsa_queue_t *queue)
{
	struct rt_queue *q;
	RT_ENTER(rt);

	q = queue_of(rt, queue);
	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	atomic_store(&q->state, RT_QUEUE_INACTIVE);
	return HSA_STATUS_SUCCESS;
}

/* --- properties ------------------------------------------------------------------------------- */

hsa_status_t impl_hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable)
{
	struct rt_queue *q;
	RT_ENTER(rt);

	q = queue_of(rt, queue);
	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (enable)
		__atomic_fetch_or(&q->amd->queue_properties, AMD_QUEUE_PROPERTIES_ENABLE_PROFILING,
				  __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&q->amd->queue_properties, ~(uint32_t)AMD_QUEUE_PROPERTIES_ENABLE_PROFILING,
				   __ATOMIC_RELAXED);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_amd_queue_set_priority(hsa_queue_t *queue, hsa_amd_queue_priority_t priority)
{
	static const enum cs_priority levels[] = {
		[HSA_AMD_QUEUE_PRIORITY_LOW] = CS_PRIORITY_LOW,
		[HSA_AMD_QUEUE_PRIORITY_NORMAL] = CS_PRIORITY_NORMAL,
		[HSA_AMD_QUEUE_PRIORITY_HIGH] = CS_PRIORITY_HIGH,
	};
	struct rt_queue *q;
	RT_ENTER(rt);

	q = queue_of(rt, queue);
	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if ((unsigned)priority > HSA_AMD_QUEUE_PRIORITY_HIGH)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	while (atomic_exchange_explicit(&q->busy, true, memory_order_acquire))
		__builtin_ia32_pause();
	/* A context has one priority for life: the queue goes on with another channel, behind its work. */
	if (q->priority != levels[priority]) {
		q->priority = levels[priority];
		put_channel(rt, q->channel);
		q->channel = NULL;
	}
	atomic_store_explicit(&q->busy, false, memory_order_release);
	rt_queue_run(q, false);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_amd_queue_get_info(hsa_queue_t *queue, hsa_queue_info_attribute_t attribute, void *value)
{
	struct rt_queue *q;
	RT_ENTER(rt);

	q = queue_of(rt, queue);
	if (!q)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_AMD_QUEUE_INFO_AGENT:
		*(hsa_agent_t *)value = rt_agent_handle(q->gpu->agent);
		return HSA_STATUS_SUCCESS;
	case HSA_AMD_QUEUE_INFO_DOORBELL_ID:
		*(uint64_t *)value = (uintptr_t)&q->amd->max_legacy_doorbell_dispatch_id_plus_1;
		return HSA_STATUS_SUCCESS;
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* --- indices ---------------------------------------------------------------------------------- */

static volatile uint64_t *write_id(const hsa_queue_t *queue)
{
	return &((amd_queue_v2_t *)(uintptr_t)queue)->write_dispatch_id;
}

static volatile uint64_t *read_id(const hsa_queue_t *queue)
{
	return &((amd_queue_v2_t *)(uintptr_t)queue)->read_dispatch_id;
}

/* x86 has one order for each; clients reach these thousands of times a second, so nothing is looked up. */
#define LOADS(order)                                                                                               \
	uint64_t impl_hsa_queue_load_read_index_##order(const hsa_queue_t *queue)                                  \
	{                                                                                                          \
		return __atomic_load_n(read_id(queue), __ATOMIC_ACQUIRE);                                          \
	}                                                                                                          \
	uint64_t impl_hsa_queue_load_write_index_##order(const hsa_queue_t *queue)                                 \
	{                                                                                                          \
		return __atomic_load_n(write_id(queue), __ATOMIC_ACQUIRE);                                         \
	}
LOADS(relaxed)
LOADS(scacquire)

#define STORES(order)                                                                                              \
	void impl_hsa_queue_store_write_index_##order(const hsa_queue_t *queue, uint64_t value)                    \
	{                                                                                                          \
		__atomic_store_n(write_id(queue), value, __ATOMIC_RELEASE);                                        \
	}                                                                                                          \
	void impl_hsa_queue_store_read_index_##order(const hsa_queue_t *queue, uint64_t value)                     \
	{                                                                                                          \
		__atomic_store_n(read_id(queue), value, __ATOMIC_RELEASE);                                         \
	}
STORES(relaxed)
STORES(screlease)

#define CHANGES(order)                                                                                             \
	uint64_t impl_hsa_queue_cas_write_index_##order(const hsa_queue_t *queue, uint64_t expected,               \
							uint64_t value)                                            \
	{                                                                                                          \
		__atomic_compare_exchange_n(write_id(queue), &expected, value, false, __ATOMIC_SEQ_CST,            \
					    __ATOMIC_SEQ_CST);                                                     \
		return expected;                                                                                   \
	}                                                                                                          \
	uint64_t impl_hsa_queue_add_write_index_##order(const hsa_queue_t *queue, uint64_t value)                  \
	{                                                                                                          \
		return __atomic_fetch_add(write_id(queue), value, __ATOMIC_SEQ_CST);                               \
	}
CHANGES(relaxed)
CHANGES(scacquire)
CHANGES(screlease)
CHANGES(scacq_screl)

/* --- times ------------------------------------------------------------------------------------ */

hsa_status_t impl_hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t handle,
						      hsa_amd_profiling_dispatch_time_t *time)
{
	struct rt_gpu *gpu;
	const amd_signal_t *memory;
	RT_ENTER(rt);

	gpu = rt_gpu_of(rt, agent);
	if (!gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!rt_signal_of(rt, handle))
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!time)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memory = rt_signal_memory(handle);
	if (!memory->end_ts)
		return HSA_STATUS_ERROR;
	(void)!drv_clock_sample(&gpu->clock);
	time->start = rt_gpu_time_ns(gpu, memory->start_ts);
	time->end = rt_gpu_time_ns(gpu, memory->end_ts);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t ticks,
								  uint64_t *system_ns)
{
	struct rt_gpu *gpu;
	RT_ENTER(rt);

	gpu = rt_gpu_of(rt, agent);
	if (!gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!system_ns)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*system_ns = rt_gpu_time_ns(gpu, ticks);
	return HSA_STATUS_SUCCESS;
}
