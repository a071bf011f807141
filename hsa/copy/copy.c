/* Copies between any two addresses, of bytes or of rectangles. The copier of one GPU does each: the source's, else
 * the destination's; the CPU copies between two host addresses. A copy that depends on a signal which no submitted
 * work completes is work for the progress thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "drv/lock.h"
#include "hsa/copy/copies.h"
#include "hsa/core/table.h"
#include "hsa/memory/memory.h"
#include "vm/host.h"

#define DEPS_MAX 64 /* dependencies of one copy */

struct rt_copies {
	_Atomic bool timed;     /* new copies write their begin and end times */
	struct drv_mutex lock;  /* guards list */
	LIST_HEAD(, copy) list; /* owned; copies that have not ended */
};

/* A copy that has not ended, or whose memory is still registered. */
struct copy {
	struct rt_work work;
	LIST_ENTRY(copy) in_list; /* rt_copies.list */
	struct rt_gpu *gpu;       /* borrowed; NULL: the CPU copies */
	struct sdma_job job;
	struct sdma_rect rect; /* row_B 0: the copy is of bytes */
	void *host_dst;        /* addresses for copies by the CPU */
	const void *host_src;
	struct vm_mem *registered[2]; /* owned, until the copy has ended */
	struct rt_gpu *then;          /* borrowed; not NULL: gpu copies to stage, and this GPU from there */
	struct rt_shared stage;       /* owned, until the copy has ended */
	struct sdma_job second;
	struct rt_deferred_free deferred; /* frees registered memory and stage */
	bool submitted, timed;
	struct rt_signal *completion; /* borrowed, while its generation is that one: else it was destroyed */
	uint32_t completion_generation;
	unsigned deps;
	struct rt_signal *dep[DEPS_MAX]; /* borrowed, as completion; watched until the copy is submitted */
	uint32_t dep_generation[DEPS_MAX];
};

int rt_copies_init(struct rt *rt)
{
	rt->copies = calloc(1, sizeof(*rt->copies));
	if (!rt->copies)
		return drv_fail(-ENOMEM, "no host memory for copies");
	drv_mutex_init(&rt->copies->lock, DRV_RANK_RT_COPIES);
	return 0;
}

static void copy_unwatch(struct copy *c)
{
	for (unsigned i = 0; i < c->deps; i++)
		atomic_fetch_sub(&c->dep[i]->watchers, 1);
	c->deps = 0;
}

static void copy_free_deferred(struct rt_deferred_free *deferred)
{
	struct copy *c = vm_container(deferred, struct copy, deferred);

	vm_mem_destroy(c->registered[0]);
	vm_mem_destroy(c->registered[1]);
	rt_shared_destroy(&c->stage);
	free(c);
}

/* Removes a copy without a job, or whose job has ended. */
static void free_copy(struct rt *rt, struct copy *c)
{
	drv_mutex_lock(&rt->copies->lock);
	LIST_REMOVE(c, in_list);
	drv_mutex_unlock(&rt->copies->lock);
	copy_unwatch(c);
	/* Other running jobs may list registered memory, since every job of a device lists all of it. */
	if (c->registered[0] || c->registered[1] || c->stage.gpus)
		rt_defer_free(rt, rt_all_gpus(rt), &c->deferred);
	else
		free(c);
}

void rt_copies_fini(struct rt *rt)
{
	struct copy *c;

	while ((c = LIST_FIRST(&rt->copies->list))) {
		rt_progress_remove(rt, &c->work);
		if (c->submitted)
			cs_fence_retire(c->job.fence);
		free_copy(rt, c);
	}
	drv_mutex_destroy(&rt->copies->lock);
	free(rt->copies);
	rt->copies = NULL;
}

/* --- ends of copies -------------------------------------------------------------------------------- */

int rt_copy_register(struct rt_gpu *gpu, struct sdma_end *end, uint64_t size_B, bool written, struct vm_mem **mem)
{
	const struct vm_register what = {
		.host = (void *)(uintptr_t)end->va,
		.size_B = size_B,
		.flags = VM_REGISTER_APART | (written ? 0 : VM_REGISTER_READ),
	};
	int r = vm_mem_register(gpu->vm, &what, mem);

	if (r) {
		*mem = NULL;
		return r;
	}
	if (written && (*mem)->bo->flags & VM_READONLY)
		return drv_fail(-EINVAL, "the process may not write all of 0x%llx bytes at 0x%llx",
				(unsigned long long)size_B, (unsigned long long)end->va);
	*end = (struct sdma_end){.va = (*mem)->va, .place = SDMA_GTT};
	return 0;
}

/* --- blocking copies -------------------------------------------------------------------------- */

/* From this size on, pageable memory is registered for the copy, in pieces, so that the engine moves the bytes
 * instead of the CPU: registering a page costs the kernel some 0.2 us, copying it costs a core 0.4 us. CLR pins
 * from 1 MiB on, 32 MiB at a time. */
#define PIN_MIN_B   (4ull << 20)
#define PIN_PIECE_B (32ull << 20)

/* A piece that is being copied. */
struct pinned {
	struct vm_mem *mem; /* owned; NULL: none */
	struct cs_fence fence;
};

static int piece_finish(struct pinned *p)
{
	int r = p->mem ? cs_fence_wait(p->fence, CS_FOREVER) : 0;

	if (p->mem) {
		cs_fence_retire(p->fence);
		vm_mem_destroy(p->mem);
	}
	p->mem = NULL;
	return r;
}

/* Registers the pageable side of the piece, and submits the copy. */
static int piece_submit(struct rt_gpu *gpu, struct sdma_job *piece, struct pinned *p)
{
	const bool out = piece->dst.place == SDMA_PAGEABLE;
	int r = rt_copy_register(gpu, out ? &piece->dst : &piece->src, piece->size_B, out, &p->mem);

	r = r ? r : sdma_copier_copy(gpu->copier, piece);
	p->fence = piece->fence;
	if (r) {
		vm_mem_destroy(p->mem);
		p->mem = NULL;
	}
	return r;
}

/* Copies with two pieces at a time: one is registered while the other is copied. *done_B is the size that was
 * copied; the rest, of memory that cannot be registered, is copied through staging memory. */
static int copy_pinned(struct rt_gpu *gpu, const struct sdma_job *job, uint64_t *done_B)
{
	struct pinned pinned[2] = {0};
	int r = 0, last;

	for (*done_B = 0; !r && *done_B < job->size_B;) {
		struct pinned *p = &pinned[*done_B / PIN_PIECE_B % 2];
		struct sdma_job piece = *job;

		piece.dst.va += *done_B;
		piece.src.va += *done_B;
		piece.size_B = job->size_B - *done_B < PIN_PIECE_B ? job->size_B - *done_B : PIN_PIECE_B;
		r = piece_finish(p);
		if (r || piece_submit(gpu, &piece, p))
			break;
		*done_B += piece.size_B;
	}
	for (unsigned i = 0; i < 2; i++) {
		last = piece_finish(&pinned[i]);
		r = r ? r : last;
	}
	return r;
}

static int copy_now(struct rt *rt, struct rt_gpu *gpu, const struct rt_operand *dst, const struct rt_operand *src)
{
	struct sdma_job job = {.size_B = dst->size_B};
	uint64_t done_B = 0;
	int r = 0;

	if (!gpu && (!rt_operand_host_reaches(dst, HSA_ACCESS_PERMISSION_WO) ||
		     !rt_operand_host_reaches(src, HSA_ACCESS_PERMISSION_RO)))
		return drv_fail(-EXDEV, "nobody reaches both ends of the copy");
	if (!gpu) {
		memmove(rt_operand_host(dst), rt_operand_host(src), dst->size_B);
		return 0;
	}
	if (!rt_operand_end(rt, dst, gpu, HSA_ACCESS_PERMISSION_WO, &job.dst) ||
	    !rt_operand_end(rt, src, gpu, HSA_ACCESS_PERMISSION_RO, &job.src))
		return drv_fail(-EXDEV, "no GPU reaches both ends of the copy");
	if (job.size_B >= PIN_MIN_B && (job.dst.place == SDMA_PAGEABLE) != (job.src.place == SDMA_PAGEABLE))
		r = copy_pinned(gpu, &job, &done_B);
	if (r || done_B == job.size_B)
		return r;
	job.dst.va += done_B;
	job.src.va += done_B;
	job.size_B -= done_B;
	r = sdma_copier_copy(gpu->copier, &job);
	return r ? r : cs_fence_wait(job.fence, CS_FOREVER);
}

/* Copies through host memory, between two GPUs that have no access to each other's memory. */
static int copy_through_host(struct rt *rt, const struct rt_operand *dst, const struct rt_operand *src)
{
	const uint64_t most_B = drv_config()->staging_KiB * 1024ull;
	void *stage = malloc(most_B);
	int r = stage ? 0 : drv_fail(-ENOMEM, "no host memory for a copy between GPUs");

	for (uint64_t done_B = 0, now_B; !r && done_B < dst->size_B; done_B += now_B) {
		struct rt_operand to, from, middle;

		now_B = dst->size_B - done_B < most_B ? dst->size_B - done_B : most_B;
		rt_operand_find(rt, dst->address + done_B, now_B, &to);
		rt_operand_find(rt, src->address + done_B, now_B, &from);
		rt_operand_find(rt, (uintptr_t)stage, now_B, &middle);
		r = copy_now(rt, rt_operand_gpu(rt, &from, HSA_ACCESS_PERMISSION_RO), &middle, &from);
		if (!r)
			r = copy_now(rt, rt_operand_gpu(rt, &to, HSA_ACCESS_PERMISSION_WO), &to, &middle);
	}
	free(stage);
	return r;
}

RT_IMPL(hsa_memory_copy, (void *dst, const void *src, size_t size_B), (dst, src, size_B))
{
	struct rt_gpu *source, *target;
	struct rt_operand to, from;

	if (!size_B)
		return HSA_STATUS_SUCCESS;
	if (!dst || !src || (uintptr_t)dst + size_B < (uintptr_t)dst || (uintptr_t)src + size_B < (uintptr_t)src)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	rt_queues_flush(rt);
	rt_operand_find(rt, (uintptr_t)dst, size_B, &to);
	rt_operand_find(rt, (uintptr_t)src, size_B, &from);
	source = rt_operand_gpu(rt, &from, HSA_ACCESS_PERMISSION_RO);
	target = rt_operand_gpu(rt, &to, HSA_ACCESS_PERMISSION_WO);
	if (source && target && !rt_operand_reach(rt, &to, source, HSA_ACCESS_PERMISSION_WO))
		return hsa_status_of(copy_through_host(rt, &to, &from));
	return hsa_status_of(copy_now(rt, source ? source : target, &to, &from));
}

/* --- asynchronous copies ---------------------------------------------------------------------- */

/* 1: all dependencies are met or have fences; 0: one is open; -ECANCELED: one will never be met: its completion was
 * lost, or a signal of the copy was destroyed, and its place may have another. */
static int copy_gather_deps(struct rt *rt, const struct copy *c, struct cs_fence *after, unsigned *count)
{
	bool open = false;

	*count = 0;
	if (atomic_load(&c->completion->generation) != c->completion_generation)
		return drv_fail(-ECANCELED, "the copy's signal was destroyed");
	for (unsigned i = 0; i < c->deps; i++) {
		enum rt_dep_state state = rt_signal_dep(rt, c->dep[i], NULL, &after[*count]);

		if (atomic_load(&c->dep[i]->generation) != c->dep_generation[i] ||
		    (state == RT_DEP_OPEN && atomic_load(&c->dep[i]->failed)))
			return drv_fail(-ECANCELED, "what the copy waits for will not be");
		*count += state == RT_DEP_FENCE;
		open |= state == RT_DEP_OPEN;
	}
	return !open;
}

/* Ends a copy by the CPU, or one that failed. */
static void end_now(struct rt *rt, struct copy *c, int r)
{
	if (!rt_signal_complete(rt, c->completion, c->completion_generation, r))
		drv_log(DRV_LOG_HSA, "a copy's signal was destroyed before it");
	free_copy(rt, c);
}

/* Stores times of the host for a copy that no GPU timed. */
static void time_by_host(struct rt *rt, struct copy *c, uint64_t start_ns)
{
	amd_signal_t *memory = rt_signal_memory(rt_signal_handle(rt, c->completion));

	if (!c->timed)
		return;
	__atomic_store_n(&memory->start_ts, start_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->end_ts, rt_now_ns(), __ATOMIC_RELAXED);
	atomic_store(&c->completion->clock, rt->agent);
}

static void time_by_gpu(struct rt *rt, struct copy *c)
{
	amd_signal_t *memory = rt_signal_memory(rt_signal_handle(rt, c->completion));

	if (!c->timed)
		return;
	c->job.start_va = (uintptr_t)&memory->start_ts;
	c->job.end_va = (uintptr_t)&memory->end_ts;
	atomic_store(&c->completion->clock, c->gpu->agent);
}

/* Submits the second half of a staged copy, which waits for the first. */
static int submit_second(struct copy *c)
{
	struct cs_fence first = c->job.fence;
	int r;

	c->second.size_B = c->job.size_B;
	c->second.after = &first;
	c->second.after_count = first.ring != NULL;
	r = sdma_copier_copy(c->then->copier, &c->second);
	c->job.fence = c->second.fence;
	if (r)
		cs_fence_retire(first);
	return r;
}

static int copy_submit_first(struct copy *c)
{
	return c->rect.row_B ? sdma_copier_copy_rect(c->gpu->copier, &c->rect, &c->job)
			     : sdma_copier_copy(c->gpu->copier, &c->job);
}

static void copy_submit(struct rt *rt, struct copy *c, const struct cs_fence *after, unsigned count)
{
	struct rt_completion completion = {0};
	uint64_t start_ns = c->timed ? rt_now_ns() : 0;
	int r;

	if (!c->gpu) {
		memmove(c->host_dst, c->host_src, c->job.size_B);
		time_by_host(rt, c, start_ns);
		end_now(rt, c, 0);
		return;
	}
	c->job.after = after;
	c->job.after_count = count;
	time_by_gpu(rt, c);
	r = copy_submit_first(c);
	if (!r && c->then)
		r = submit_second(c);
	if (r || !c->job.fence.ring) {
		time_by_host(rt, c, start_ns);
		end_now(rt, c, r);
		return;
	}
	c->submitted = true;
	copy_unwatch(c);
	/* A client that sees the completion may unmap the memory before the registration is destroyed: later jobs
	 * must not list it. */
	for (unsigned i = 0; i < 2; i++)
		if (c->registered[i])
			vm_mem_unlist(c->registered[i]);
	rt_shared_unlist(&c->stage);
	completion.fence = c->job.fence;
	rt_signal_add_cpu_completion(rt, c->completion, c->completion_generation, &completion);
	/* The work destroys the registration when the job has ended. */
	rt_progress_add(rt, &c->work);
}

static bool copy_attempt(struct rt *rt, struct rt_work *work)
{
	struct copy *c = (struct copy *)(void *)work;
	struct cs_fence after[DEPS_MAX];
	unsigned count;
	int r;

	if (c->submitted) {
		if (!cs_fence_poll(c->job.fence))
			return false;
		cs_fence_retire(c->job.fence);
		free_copy(rt, c);
		return true;
	}
	r = copy_gather_deps(rt, c, after, &count);
	/* A copy by the CPU must not block the progress thread until a job has ended. */
	if (!r || (r > 0 && !c->gpu && count))
		return false;
	if (r < 0)
		end_now(rt, c, r);
	else
		copy_submit(rt, c, after, count);
	return true;
}

/* Fills in an end; pageable memory is registered, so that no thread waits for staging. */
static int copy_prepare_end(struct rt *rt, struct copy *c, unsigned which, const struct rt_operand *o,
			    struct sdma_end *end)
{
	if (!rt_operand_end(rt, o, c->gpu, which ? HSA_ACCESS_PERMISSION_RO : HSA_ACCESS_PERMISSION_WO, end))
		return drv_fail(-EXDEV, "no GPU reaches both ends of the copy");
	if (end->place != SDMA_PAGEABLE)
		return 0;
	return rt_copy_register(c->gpu, end, o->size_B, !which, &c->registered[which]);
}

static void copy_enlist(struct rt *rt, struct copy *c)
{
	struct rt_copies *s = rt->copies;

	c->work.attempt = copy_attempt;
	c->deferred.end = copy_free_deferred;
	drv_mutex_lock(&s->lock);
	LIST_INSERT_HEAD(&s->list, c, in_list);
	drv_mutex_unlock(&s->lock);
}

/* The signals of a copy. */
struct copy_signals {
	unsigned deps;
	struct rt_signal *dep[DEPS_MAX]; /* borrowed */
	uint32_t dep_generation[DEPS_MAX];
	struct rt_signal *completion; /* borrowed */
	uint32_t completion_generation;
};

/* Looks up the client's signals. */
static hsa_status_t find_signals(const struct rt *rt, uint32_t deps, const hsa_signal_t *dep,
				 hsa_signal_t completion, struct copy_signals *signals)
{
	if (!deps != !dep)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (deps > DEPS_MAX)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	signals->completion = rt_signal_find(rt, completion, &signals->completion_generation);
	if (!signals->completion)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	for (signals->deps = 0; signals->deps < deps; signals->deps++) {
		struct rt_signal *signal =
			rt_signal_find(rt, dep[signals->deps], &signals->dep_generation[signals->deps]);

		if (!signal)
			return HSA_STATUS_ERROR_INVALID_SIGNAL;
		signals->dep[signals->deps] = signal;
	}
	return HSA_STATUS_SUCCESS;
}

static struct copy *new_copy(struct rt *rt, struct rt_gpu *gpu, const struct copy_signals *signals)
{
	struct copy *c = calloc(1, sizeof(*c));

	if (!c) {
		drv_fail(-ENOMEM, "no host memory for a copy");
		return NULL;
	}
	c->gpu = gpu;
	c->completion = signals->completion;
	c->completion_generation = signals->completion_generation;
	c->timed = atomic_load(&rt->copies->timed);
	copy_enlist(rt, c);
	return c;
}

/* Submits the copy, or queues it for the progress thread. */
static void copy_start(struct rt *rt, struct copy *c, const struct copy_signals *signals)
{
	struct cs_fence after[DEPS_MAX];
	unsigned count;
	int r;

	for (c->deps = 0; c->deps < signals->deps; c->deps++) {
		c->dep[c->deps] = signals->dep[c->deps];
		c->dep_generation[c->deps] = signals->dep_generation[c->deps];
		atomic_fetch_add(&signals->dep[c->deps]->watchers, 1);
	}
	r = copy_gather_deps(rt, c, after, &count);
	if (r < 0)
		end_now(rt, c, r);
	else if (r && (c->gpu || !count))
		copy_submit(rt, c, after, count);
	else
		rt_progress_add(rt, &c->work);
}

static int copy_bytes(struct rt *rt, struct rt_gpu *gpu, const struct rt_operand *dst, const struct rt_operand *src,
		      const struct copy_signals *signals)
{
	struct copy *c = new_copy(rt, gpu, signals);
	int r = 0;

	if (!c)
		return -ENOMEM;
	c->host_dst = rt_operand_host(dst);
	c->host_src = rt_operand_host(src);
	c->job.size_B = dst->size_B;
	if (gpu)
		r = copy_prepare_end(rt, c, 0, dst, &c->job.dst);
	if (gpu && !r)
		r = copy_prepare_end(rt, c, 1, src, &c->job.src);
	if (r)
		free_copy(rt, c);
	else
		copy_start(rt, c, signals);
	return r;
}

/* Copies between two GPUs without access to each other, through host memory that both can access. */
static int copy_through(struct rt *rt, struct rt_gpu *from, struct rt_gpu *to, const struct rt_operand *dst,
			const struct rt_operand *src, const struct copy_signals *signals)
{
	struct copy *c = new_copy(rt, from, signals);
	int r;

	if (!c)
		return -ENOMEM;
	c->then = to;
	c->timed = false; /* two clocks are involved */
	c->job.size_B = dst->size_B;
	r = rt_shared_create(rt, dst->size_B, VM_UNCACHED, &c->stage);
	if (!r && (!rt_operand_end(rt, src, from, HSA_ACCESS_PERMISSION_RO, &c->job.src) ||
		   !rt_operand_end(rt, dst, to, HSA_ACCESS_PERMISSION_WO, &c->second.dst)))
		r = drv_fail(-EXDEV, "no GPU reaches one end of the copy");
	if (r) {
		free_copy(rt, c);
		return r;
	}
	c->job.dst = c->second.src =
		(struct sdma_end){.va = (uintptr_t)c->stage.map, .place = SDMA_GTT, .cpu = true};
	copy_start(rt, c, signals);
	return 0;
}

RT_IMPL(hsa_amd_memory_async_copy,
	(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent, size_t size_B, uint32_t deps,
	 const hsa_signal_t *dep_signals, hsa_signal_t completion),
	(dst, dst_agent, src, src_agent, size_B, deps, dep_signals, completion))
{
	struct rt_operand target, source;
	struct rt_agent *to, *from;
	struct rt_gpu *gpu, *other;
	struct copy_signals signals;
	hsa_status_t status;

	to = rt_agent_of(rt, dst_agent);
	from = rt_agent_of(rt, src_agent);
	if (!dst || !src || !completion.handle || (uintptr_t)dst + size_B < (uintptr_t)dst ||
	    (uintptr_t)src + size_B < (uintptr_t)src)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!to || !from)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	status = find_signals(rt, deps, dep_signals, completion, &signals);
	if (status || !size_B) /* like ROCr: the signal is not changed if there is nothing to copy */
		return status;
	rt_queues_flush(rt);
	rt_operand_find(rt, (uintptr_t)dst, size_B, &target);
	rt_operand_find(rt, (uintptr_t)src, size_B, &source);
	other = rt_operand_gpu(rt, &target, HSA_ACCESS_PERMISSION_WO);
	/* If the client names one agent twice, the owners of the addresses decide. */
	gpu = from->gpu ? from->gpu : to->gpu ? to->gpu : rt_operand_gpu(rt, &source, HSA_ACCESS_PERMISSION_RO);
	gpu = gpu ? gpu : other;
	if (!gpu && (!rt_operand_host_reaches(&target, HSA_ACCESS_PERMISSION_WO) ||
		     !rt_operand_host_reaches(&source, HSA_ACCESS_PERMISSION_RO)))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (gpu && other && other != gpu && !rt_operand_reach(rt, &target, gpu, HSA_ACCESS_PERMISSION_WO)) {
		if (!rt_operand_reach(rt, &source, other, HSA_ACCESS_PERMISSION_RO) &&
		    rt_operand_gpu(rt, &source, HSA_ACCESS_PERMISSION_RO) == gpu)
			return hsa_status_of(copy_through(rt, gpu, other, &target, &source, &signals));
		gpu = other;
	}
	return hsa_status_of(copy_bytes(rt, gpu, &target, &source, &signals));
}

/* --- rectangles ------------------------------------------------------------------------------- */

/* The begin of a rectangle in pitched memory, and its size in bytes from first to last. False: beyond 2^64. */
static bool rect_extent(const hsa_pitched_ptr_t *in, const hsa_dim3_t *offset, const hsa_dim3_t *range,
			uint64_t *first, uint64_t *size_B)
{
	uint64_t rows_B, slices_B, at_B, slice_at_B;

	return !__builtin_mul_overflow((uint64_t)offset->y, in->pitch, &at_B) &&
	       !__builtin_mul_overflow((uint64_t)offset->z, in->slice, &slice_at_B) &&
	       !__builtin_add_overflow(at_B, slice_at_B, &at_B) &&
	       !__builtin_add_overflow(at_B, (uint64_t)offset->x, &at_B) &&
	       !__builtin_add_overflow((uintptr_t)in->base, at_B, first) &&
	       !__builtin_mul_overflow((uint64_t)range->y - 1, in->pitch, &rows_B) &&
	       !__builtin_mul_overflow((uint64_t)range->z - 1, in->slice, &slices_B) &&
	       !__builtin_add_overflow(rows_B, slices_B, size_B) &&
	       !__builtin_add_overflow(*size_B, (uint64_t)range->x, size_B) && *first + *size_B >= *first;
}

static bool is_pitched(const hsa_pitched_ptr_t *in, const hsa_dim3_t *range)
{
	return in->base && (range->y == 1 || in->pitch >= range->x) &&
	       (range->z == 1 || in->slice / range->y >= in->pitch || in->slice >= (uint64_t)range->y * in->pitch);
}

static int copy_rect(struct rt *rt, struct rt_gpu *gpu, const struct sdma_rect *rect, uint64_t dst_B,
		     uint64_t src_B, const struct copy_signals *signals)
{
	struct copy *c = new_copy(rt, gpu, signals);
	struct rt_operand dst, src;
	int r;

	if (!c)
		return -ENOMEM;
	c->rect = *rect;
	rt_operand_find(rt, rect->dst, dst_B, &dst);
	rt_operand_find(rt, rect->src, src_B, &src);
	r = copy_prepare_end(rt, c, 0, &dst, &c->job.dst);
	if (!r)
		r = copy_prepare_end(rt, c, 1, &src, &c->job.src);
	if (r) {
		free_copy(rt, c);
		return r;
	}
	c->rect.dst = c->job.dst.va;
	c->rect.src = c->job.src.va;
	copy_start(rt, c, signals);
	return 0;
}

RT_IMPL(hsa_amd_memory_async_copy_rect,
	(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset, const hsa_pitched_ptr_t *src,
	 const hsa_dim3_t *src_offset, const hsa_dim3_t *range, hsa_agent_t copy_agent,
	 hsa_amd_copy_direction_t direction, uint32_t deps, const hsa_signal_t *dep_signals,
	 hsa_signal_t completion),
	(dst, dst_offset, src, src_offset, range, copy_agent, direction, deps, dep_signals, completion))
{
	struct rt_agent *agent;
	struct sdma_rect rect;
	struct copy_signals signals;
	hsa_status_t status;
	uint64_t dst_B, src_B;

	if (!dst || !src || !dst_offset || !src_offset || !range || (unsigned)direction > hsaDeviceToDevice ||
	    direction == hsaHostToHost)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	agent = rt_agent_of(rt, copy_agent);
	if (!agent || !agent->gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	status = find_signals(rt, deps, dep_signals, completion, &signals);
	if (status || !range->x || !range->y || !range->z)
		return status;
	rect = (struct sdma_rect){.dst_pitch_B = dst->pitch,
				  .src_pitch_B = src->pitch,
				  .dst_slice_B = dst->slice,
				  .src_slice_B = src->slice,
				  .row_B = range->x,
				  .rows = range->y,
				  .slices = range->z};
	if (!is_pitched(dst, range) || !is_pitched(src, range) ||
	    !rect_extent(dst, dst_offset, range, &rect.dst, &dst_B) ||
	    !rect_extent(src, src_offset, range, &rect.src, &src_B))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	rt_queues_flush(rt);
	return hsa_status_of(copy_rect(rt, agent->gpu, &rect, dst_B, src_B, &signals));
}

/* --- times ------------------------------------------------------------------------------------ */

RT_IMPL(hsa_amd_profiling_async_copy_enable, (bool enable), (enable))
{
	atomic_store(&rt->copies->timed, enable);
	return HSA_STATUS_SUCCESS;
}

RT_IMPL(hsa_amd_profiling_get_async_copy_time, (hsa_signal_t handle, hsa_amd_profiling_async_copy_time_t *time),
	(handle, time))
{
	const amd_signal_t *memory = rt_signal_memory(handle);
	struct rt_signal *signal;
	struct rt_agent *clock;

	signal = rt_signal_of(rt, handle);
	if (!signal)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!time)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	clock = atomic_load(&signal->clock);
	if (!clock)
		return HSA_STATUS_ERROR;
	time->start = __atomic_load_n(&memory->start_ts, __ATOMIC_RELAXED);
	time->end = __atomic_load_n(&memory->end_ts, __ATOMIC_RELAXED);
	if (!clock->gpu)
		return HSA_STATUS_SUCCESS;
	(void)!drv_clock_refresh(&clock->gpu->clock);
	time->start = rt_gpu_time_ns(clock->gpu, time->start);
	time->end = rt_gpu_time_ns(clock->gpu, time->end);
	return HSA_STATUS_SUCCESS;
}

/* --- engines ---------------------------------------------------------------------------------- */

/* The kernel distributes copies over its engines; clients choose between one bit per direction. */
#define ENGINE_IN  1u /* host to device */
#define ENGINE_OUT 2u

RT_IMPL(hsa_amd_memory_copy_engine_status, (hsa_agent_t dst_agent, hsa_agent_t src_agent, uint32_t *mask),
	(dst_agent, src_agent, mask))
{
	const struct rt_agent *to, *from;

	to = rt_agent_of(rt, dst_agent);
	from = rt_agent_of(rt, src_agent);
	if (!to || !from || to == from || (!to->gpu && !from->gpu))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!mask)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*mask = from->gpu && !to->gpu && from->info.sdma_engines > 1 ? ENGINE_OUT : ENGINE_IN;
	return HSA_STATUS_SUCCESS;
}

/* Idle engines are all equal. */
hsa_status_t impl_hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t dst_agent, hsa_agent_t src_agent,
							   uint32_t *mask)
{
	return impl_hsa_amd_memory_copy_engine_status(dst_agent, src_agent, mask);
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
