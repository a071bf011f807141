/* Copies between any two addresses. One GPU's copier does each: the source's, or the destination's, or for two host
 * addresses none. What has to wait for a signal that nobody has submitted is work for the progress thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/internal.h"
#include "hsa/table.h"

#define DEPS_MAX 64 /* of one copy */

struct rt_copies {
	pthread_mutex_t lock; /* guards list */
	struct copy *list;    /* that have not ended; owned */
};

/* A copy that was asked for and has not ended, or whose memory is still registered. */
struct copy {
	struct rt_work work;
	struct copy *next, **link; /* in the list; guarded by its lock */
	struct rt_gpu *gpu;        /* borrowed; NULL: the CPU copies */
	struct sdma_job job;
	void *host_dst; /* where the CPU copies to and from */
	const void *host_src;
	struct vm_mem *registered[2]; /* owned, until it has ended */
	bool submitted;
	struct rt_signal *completion;
	unsigned deps;
	struct rt_signal *dep[DEPS_MAX]; /* borrowed: watched until it is submitted */
};

int rt_copies_init(struct rt *rt)
{
	rt->copies = calloc(1, sizeof(*rt->copies));
	if (!rt->copies)
		return drv_fail(-ENOMEM, "no host memory for copies");
	pthread_mutex_init(&rt->copies->lock, NULL);
	return 0;
}

static void unwatch(struct copy *c)
{
	for (unsigned i = 0; i < c->deps; i++)
		atomic_fetch_sub(&c->dep[i]->watchers, 1);
	c->deps = 0;
}

/* Its job, if there is one, has ended. */
static void free_copy(struct rt *rt, struct copy *c)
{
	pthread_mutex_lock(&rt->copies->lock);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	pthread_mutex_unlock(&rt->copies->lock);
	unwatch(c);
	vm_mem_destroy(c->registered[0]);
	vm_mem_destroy(c->registered[1]);
	free(c);
}

void rt_copies_fini(struct rt *rt)
{
	while (rt->copies->list) {
		struct copy *c = rt->copies->list;

		rt_progress_remove(rt, &c->work);
		if (c->submitted)
			cs_point_settle(c->job.point);
		free_copy(rt, c);
	}
	pthread_mutex_destroy(&rt->copies->lock);
	free(rt->copies);
	rt->copies = NULL;
}

/* --- where things are ------------------------------------------------------------------------- */

/* One end as a GPU's copier sees it. False: the GPU does not reach it. */
static bool find_end(struct rt *rt, struct rt_gpu *gpu, uint64_t address, uint64_t size_B, struct sdma_end *end)
{
	struct rt_span span;

	if (!rt_span_find(rt, address, &span)) {
		*end = (struct sdma_end){.va = address, .place = SDMA_PAGEABLE, .cpu = true};
		return true;
	}
	if (!rt_span_reach(rt, gpu, address, size_B, &end->va))
		return false;
	/* A peer's memory is, for this GPU's engines, memory elsewhere. */
	end->place = span.place == SDMA_VRAM && span.owner == gpu->agent ? SDMA_VRAM : SDMA_GTT;
	end->cpu = span.host_base && end->va == address;
	return true;
}

/* The GPU that owns an address, or NULL: the host does. */
static struct rt_gpu *owner_of(struct rt *rt, uint64_t address)
{
	struct rt_span span;

	return rt_span_find(rt, address, &span) && span.owner ? span.owner->gpu : NULL;
}

/* --- blocking copies -------------------------------------------------------------------------- */

static int copy_now(struct rt *rt, struct rt_gpu *gpu, uint64_t dst, uint64_t src, uint64_t size_B)
{
	struct sdma_job job = {.size_B = size_B};
	int r;

	if (!gpu) {
		memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, size_B);
		return 0;
	}
	if (!find_end(rt, gpu, dst, size_B, &job.dst) || !find_end(rt, gpu, src, size_B, &job.src))
		return drv_fail(-EXDEV, "no GPU reaches both ends of the copy");
	r = sdma_copier_copy(gpu->copier, &job);
	return r ? r : cs_point_wait(job.point, CS_FOREVER);
}

/* Between two GPUs that do not reach one another's memory: through the host's. */
static int copy_through_host(struct rt *rt, uint64_t dst, uint64_t src, uint64_t size_B)
{
	const uint64_t most_B = drv_config()->staging_KiB * 1024ull;
	void *stage = malloc(most_B);
	int r = stage ? 0 : drv_fail(-ENOMEM, "no host memory for a copy between GPUs");

	for (uint64_t done_B = 0, now_B; !r && done_B < size_B; done_B += now_B) {
		now_B = size_B - done_B < most_B ? size_B - done_B : most_B;
		r = copy_now(rt, owner_of(rt, src), (uintptr_t)stage, src + done_B, now_B);
		if (!r)
			r = copy_now(rt, owner_of(rt, dst), dst + done_B, (uintptr_t)stage, now_B);
	}
	free(stage);
	return r;
}

hsa_status_t impl_hsa_memory_copy(void *dst, const void *src, size_t size_B)
{
	uint64_t to = (uintptr_t)dst, from = (uintptr_t)src, va;
	struct rt_gpu *gpu;
	RT_ENTER(rt);

	if (!size_B)
		return HSA_STATUS_SUCCESS;
	if (!dst || !src || to + size_B < to || from + size_B < from)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	rt_queues_flush(rt);
	gpu = owner_of(rt, from);
	if (gpu && owner_of(rt, to) && !rt_span_reach(rt, gpu, to, size_B, &va))
		return hsa_status_of(copy_through_host(rt, to, from, size_B));
	return hsa_status_of(copy_now(rt, gpu ? gpu : owner_of(rt, to), to, from, size_B));
}

/* --- asynchronous copies ---------------------------------------------------------------------- */

/* 1: all dependencies are met or have points; 0: one is open. */
static int gather(struct rt *rt, const struct copy *c, struct cs_point *after, unsigned *count)
{
	*count = 0;
	for (unsigned i = 0; i < c->deps; i++)
		switch (rt_signal_dep(rt, c->dep[i], NULL, &after[*count])) {
		case RT_DEP_POINT:
			++*count;
			break;
		case RT_DEP_OPEN:
			return 0;
		case RT_DEP_MET:
			break;
		}
	return 1;
}

/* The CPU's copies, and those that failed, end at once. */
static void end_now(struct rt *rt, struct copy *c, int r)
{
	if (r)
		rt_signal_fail(rt, c->completion);
	else
		rt_signal_add(rt, c->completion, -1);
	free_copy(rt, c);
}

static void submit(struct rt *rt, struct copy *c, const struct cs_point *after, unsigned count)
{
	struct rt_producer producer = {0};
	int r;

	if (!c->gpu) {
		memmove(c->host_dst, c->host_src, c->job.size_B);
		end_now(rt, c, 0);
		return;
	}
	c->job.after = after;
	c->job.after_count = count;
	r = sdma_copier_copy(c->gpu->copier, &c->job);
	if (r || !c->job.point.ring) {
		end_now(rt, c, r);
		return;
	}
	c->submitted = true;
	unwatch(c);
	producer.point = c->job.point;
	rt_signal_owe(rt, c->completion, &producer);
	/* Registered memory is given back when the job has ended. */
	rt_progress_add(rt, &c->work);
}

static bool attempt(struct rt *rt, struct rt_work *work)
{
	struct copy *c = (struct copy *)(void *)work;
	struct cs_point after[DEPS_MAX];
	unsigned count;

	if (c->submitted) {
		if (!cs_point_poll(c->job.point))
			return false;
		cs_point_settle(c->job.point);
		free_copy(rt, c);
		return true;
	}
	/* The CPU cannot wait on this thread for what a job will do. */
	if (!gather(rt, c, after, &count) || (!c->gpu && count))
		return false;
	submit(rt, c, after, count);
	return true;
}

/* Pageable memory is registered for the time of the copy: nobody waits for staging. */
static int reach(struct rt *rt, struct copy *c, unsigned which, struct sdma_end *end, uint64_t address)
{
	const struct vm_register what = {
		.host = (void *)(uintptr_t)address,
		.size_B = c->job.size_B,
		.flags = VM_REGISTER_ALIAS | (which ? VM_REGISTER_READ : 0),
	};
	int r;

	if (!find_end(rt, c->gpu, address, c->job.size_B, end))
		return drv_fail(-EXDEV, "no GPU reaches both ends of the copy");
	if (end->place != SDMA_PAGEABLE)
		return 0;
	r = vm_mem_register(c->gpu->vm, &what, &c->registered[which]);
	if (!r)
		*end = (struct sdma_end){.va = c->registered[which]->va, .place = SDMA_GTT};
	return r;
}

static void enlist(struct rt *rt, struct copy *c)
{
	struct rt_copies *s = rt->copies;

	c->work.attempt = attempt;
	pthread_mutex_lock(&s->lock);
	c->next = s->list;
	c->link = &s->list;
	if (s->list)
		s->list->link = &c->next;
	s->list = c;
	pthread_mutex_unlock(&s->lock);
}

static int start(struct rt *rt, struct rt_gpu *gpu, void *dst, const void *src, size_t size_B, unsigned deps,
		 struct rt_signal *const *dep, struct rt_signal *completion)
{
	struct copy *c = calloc(1, sizeof(*c));
	struct cs_point after[DEPS_MAX];
	unsigned count;
	int r = 0;

	if (!c)
		return drv_fail(-ENOMEM, "no host memory for a copy");
	c->gpu = gpu;
	c->host_dst = dst;
	c->host_src = src;
	c->job.size_B = size_B;
	c->completion = completion;
	enlist(rt, c);
	if (gpu)
		r = reach(rt, c, 0, &c->job.dst, (uintptr_t)dst);
	if (gpu && !r)
		r = reach(rt, c, 1, &c->job.src, (uintptr_t)src);
	if (r) {
		free_copy(rt, c);
		return r;
	}
	for (c->deps = 0; c->deps < deps; c->deps++) {
		c->dep[c->deps] = dep[c->deps];
		atomic_fetch_add(&dep[c->deps]->watchers, 1);
	}
	if (gather(rt, c, after, &count) && (gpu || !count))
		submit(rt, c, after, count);
	else
		rt_progress_add(rt, &c->work);
	return 0;
}

hsa_status_t impl_hsa_amd_memory_async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
					    hsa_agent_t src_agent, size_t size_B, uint32_t deps,
					    const hsa_signal_t *dep_signals, hsa_signal_t completion)
{
	struct rt_signal *dep[DEPS_MAX], *signal;
	struct rt_agent *to, *from;
	struct rt_gpu *gpu;
	uint64_t va;
	RT_ENTER(rt);

	to = rt_agent_of(rt, dst_agent);
	from = rt_agent_of(rt, src_agent);
	if (!dst || !src || (!deps != !dep_signals) || !completion.handle ||
	    (uintptr_t)dst + size_B < (uintptr_t)dst || (uintptr_t)src + size_B < (uintptr_t)src)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!to || !from)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (deps > DEPS_MAX)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	signal = rt_signal_of(rt, completion);
	for (uint32_t i = 0; signal && i < deps; i++) {
		dep[i] = rt_signal_of(rt, dep_signals[i]);
		signal = dep[i] ? signal : NULL;
	}
	if (!signal)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!size_B) /* ROCr leaves the signal alone */
		return HSA_STATUS_SUCCESS;
	rt_queues_flush(rt);
	/* Where the client names one agent twice, the addresses say whose they are. */
	gpu = from->gpu ? from->gpu : to->gpu ? to->gpu : owner_of(rt, (uintptr_t)src);
	if (!gpu)
		gpu = owner_of(rt, (uintptr_t)dst);
	if (gpu && to->gpu && to->gpu != gpu && !rt_span_reach(rt, gpu, (uintptr_t)dst, size_B, &va))
		gpu = to->gpu;
	return hsa_status_of(start(rt, gpu, dst, src, size_B, deps, dep, signal));
}

/* --- engines ---------------------------------------------------------------------------------- */

/* The kernel schedules copies over its engines: a bit for each direction is what clients choose between. */
#define ENGINE_IN  1u /* host to device */
#define ENGINE_OUT 2u

hsa_status_t impl_hsa_amd_memory_copy_engine_status(hsa_agent_t dst_agent, hsa_agent_t src_agent, uint32_t *mask)
{
	const struct rt_agent *to, *from;
	RT_ENTER(rt);

	to = rt_agent_of(rt, dst_agent);
	from = rt_agent_of(rt, src_agent);
	if (!to || !from || to == from || (!to->gpu && !from->gpu))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!mask)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*mask = from->gpu && !to->gpu && from->info.sdma_engines > 1 ? ENGINE_OUT : ENGINE_IN;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t impl_hsa_amd_memory_async_copy_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
						      hsa_agent_t src_agent, size_t size_B, uint32_t deps,
						      const hsa_signal_t *dep_signals, hsa_signal_t completion,
						      hsa_amd_sdma_engine_id_t engine, bool force)
{
	(void)force;
	if (!engine || engine & (engine - 1) || engine > HSA_AMD_SDMA_ENGINE_15)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return impl_hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size_B, deps, dep_signals,
					      completion);
}
