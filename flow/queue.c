/* Hardware queues of a GPU: made, given to flows and taken back, and the clocks of their jobs. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "flow/internal.h"
#include "vm/suballoc.h"

/* --- making and ending ------------------------------------------------------------------------ */

void flow_queue_destroy(struct flow_queue *q)
{
	cs_ring_destroy(q->ring);
	cs_ctx_destroy(q->ctx);
	vm_suballoc_destroy(&q->count);
	free(q);
}

/* The count's memory: the word, and two words of a clock for each job that is tracked. */
#define CLOCK_AT_B 64
#define CLOCK_B    16
#define COUNT_B    (CLOCK_AT_B + FLOW_JOBS_TRACKED * CLOCK_B)

/* Rings of the device in turn, so that queues run side by side. */
static unsigned next_ring(struct flow_gpu *gpu)
{
	uint32_t rings = gpu->dev->facts.ip[DRV_IP_COMPUTE].rings;
	unsigned skip = atomic_fetch_add(&gpu->next_ring, 1) % (unsigned)__builtin_popcount(rings);

	while (skip--)
		rings &= rings - 1;
	return (unsigned)__builtin_ctz(rings);
}

/* Global wave sync, and grids that are resident as a whole, are of the kernel's rings. Where the kernel makes no more
 * user queues, its rings go on. */
static int ring_create(struct flow_queue *q)
{
	if (drv_uses_user_queues(q->gpu->dev) && !q->cooperative &&
	    !cs_ring_create_user(q->ctx, cs_pm4_print, &q->ring))
		return 0;
	return cs_ring_create(q->ctx, DRV_IP_COMPUTE, next_ring(q->gpu), cs_pm4_print, &q->ring);
}

static int queue_create(struct flow_gpu *gpu, enum cs_priority priority, bool cooperative, struct flow_queue **out)
{
	const struct vm_info info = {
		.size_B = COUNT_B, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	struct flow_queue *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return drv_fail(-ENOMEM, "no host memory for a hardware queue");
	q->gpu = gpu;
	q->priority = priority;
	q->cooperative = cooperative;
	r = cs_ctx_create(gpu->vm, priority, &q->ctx);
	/* A high priority is a wish: most processes may not have it. */
	if (r == -EACCES)
		r = cs_ctx_create(gpu->vm, CS_PRIORITY_NORMAL, &q->ctx);
	if (!r)
		r = ring_create(q);
	if (!r && cooperative && gpu->dev->chip->gws)
		r = cs_ring_use_gws(q->ring);
	if (!r)
		r = vm_suballoc_create(gpu->vm, &info, &q->count);
	if (r) {
		flow_queue_destroy(q);
		return r;
	}
	memset(q->count.map, 0, sizeof(uint64_t));
	*out = q;
	return 0;
}

/* The kernel knows of a loss that happened while no flow had the queue. */
static bool is_lost(struct flow_queue *q)
{
	return cs_ctx_lost(q->ctx) || (cs_ctx_check_reset(q->ctx) && cs_ctx_lost(q->ctx));
}

/* From the list of free ones, without those that are lost; NULL: there is none. The GPU's lock is held. */
static struct flow_queue *take_free(struct flow_gpu *gpu, enum cs_priority priority, bool cooperative)
{
	struct flow_queue **at = &gpu->free, *q;

	while ((q = *at)) {
		if (q->priority != priority || q->cooperative != cooperative) {
			at = &q->next;
			continue;
		}
		*at = q->next;
		if (!is_lost(q))
			return q;
	}
	return NULL;
}

int flow_queue_get(const struct flow *flow, enum cs_priority priority, struct flow_queue **out)
{
	struct flow_gpu *gpu = flow->gpu;
	int r = 0;

	drv_mutex_lock(&gpu->lock);
	*out = take_free(gpu, priority, flow->cooperative);
	if (!*out && gpu->queues == FLOW_QUEUES_MAX) {
		r = drv_fail(-ENOMEM, "more than %u hardware queues", FLOW_QUEUES_MAX);
	} else if (!*out) {
		r = queue_create(gpu, priority, flow->cooperative, out);
		if (!r)
			gpu->all[gpu->queues++] = *out;
	}
	drv_mutex_unlock(&gpu->lock);
	return r;
}

void flow_queue_put(struct flow_queue *q)
{
	/* A lost one stays lost; signals may name it until the end. */
	if (!q || cs_ctx_lost(q->ctx))
		return;
	drv_mutex_lock(&q->gpu->lock);
	q->next = q->gpu->free;
	q->gpu->free = q;
	drv_mutex_unlock(&q->gpu->lock);
}

/* --- clocks ----------------------------------------------------------------------------------- */

uint64_t flow_clock_ns(const struct drv_device *dev, const void *words)
{
	const volatile uint64_t *word = words;

	return (word[1] - word[0]) * 1000000 / dev->facts.counter_kHz;
}

static uint32_t clock_at_B(uint64_t seq)
{
	return CLOCK_AT_B + seq % FLOW_JOBS_TRACKED * CLOCK_B;
}

void flow_queue_start_clock(const struct flow_queue *q, struct cs_ib *ib)
{
	cs_ib_clock(ib, q->count.va + clock_at_B(cs_ring_last(q->ring).seq + 1));
}

struct cs_fence flow_queue_stop_clock(const struct flow_queue *q, struct cs_ib *ib)
{
	const struct cs_fence end = {q->ring, cs_ring_last(q->ring).seq + 1};

	cs_ib_release_clock(ib, q->count.va + clock_at_B(end.seq) + sizeof(uint64_t));
	return end;
}

uint64_t flow_queue_clock_ns(const struct flow_queue *q, uint64_t seq)
{
	return flow_clock_ns(q->gpu->dev, (const char *)q->count.map + clock_at_B(seq));
}
