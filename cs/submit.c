/* Jobs: from cs_begin() to the CS ioctl.
 *
 * The hot path: cs_begin takes the ring's lock and checks three words (lost, sequence word, last); the prologue is
 * about ten dwords; cs_submit fills two fields per IB and four of the ioctl's argument. The rest of the ioctl's
 * input was filled when the ring was created. */
#include "cs/internal.h"

#include <errno.h>
#include <string.h>

#include "cs/pm4.h"

static int flow_control(struct cs_ring *ring, unsigned flags)
{
	uint64_t last = ring->last;

	if (last - cs_completed_seq(ring) < CS_JOBS_MAX)
		return 0;
	if (flags & CS_NOWAIT)
		return drv_fail(-EBUSY, "ring %u.%u has %u unfinished jobs", ring->ip, ring->index, CS_JOBS_MAX);
	return cs_fence_wait((struct cs_fence){ring, last - CS_JOBS_MAX + 1}, CS_FOREVER);
}

int cs_begin(struct cs_ring *ring, unsigned flags, struct cs_ib **out)
{
	struct cs_ib *ib = &ring->ib;
	int r = drv_check_process(ring->dev);

	if (r)
		return r;
	drv_lock(&ring->lock);
	r = cs_ctx_lost(ring->ctx);
	if (r)
		r = drv_fail(r, "the context was lost before");
	else
		r = flow_control(ring, flags);
	if (r) {
		drv_unlock(&ring->lock);
		return r;
	}
	ib->error = 0;
	ib->flags = flags;
	ib->segments = 0;
	ib->tail_size = NULL;
	ib->scratch_fenced = false;
	ib->regs = NULL;
	cs_ib_arena_open(ring);
	if (ring->ip != DRV_IP_DMA)
		cs_ib_prologue(ib);
	*out = ib;
	return 0;
}

void cs_abandon(struct cs_ib *ib)
{
	struct cs_ring *ring = ib->ring;

	cs_ib_arena_close(ring);
	cs_ib_arena_commit(ring, ring->last);
	if (ib->record)
		cs_ib_arena_record_end(ring, false);
	drv_unlock(&ring->lock);
}

static void fill_ib(struct cs_ring *ring, unsigned i)
{
	ring->ib_args[i].va_start = ring->ib.segment[i].va;
	ring->ib_args[i].ib_bytes = ring->ib.segment[i].dw * 4;
}

/* Chained segments count as one IB; each segment of SDMA is an IB. */
static unsigned ib_count(const struct cs_ring *ring)
{
	return ring->ip == DRV_IP_DMA ? ring->ib.segments : 1;
}

/* Fills the CS chunks after the fence and the first IB; gives the number of all. */
static unsigned fill_more(struct cs_ring *ring)
{
	unsigned chunks = 2;

	for (unsigned i = 1; i < ib_count(ring); i++) {
		fill_ib(ring, i);
		ring->arg_pointer[chunks++] = (uintptr_t)&ring->ib_arg[i];
	}
	return cs_submit_info_chunks(ring, chunks);
}

__attribute__((cold, noinline)) static void log_job(const struct cs_ring *ring)
{
	const struct cs_ib *ib = &ring->ib;
	unsigned ibs = ib_count(ring);

	drv_log(DRV_LOG_SUBMIT, "ring %u.%u job %llu: %u IBs, behind %u jobs and %u syncs, signals %u", ring->ip,
		ring->index, (unsigned long long)ring->last + 1, ibs, ring->deps, ring->waits, ring->signals);
	for (unsigned i = 0; i < ibs; i++) {
		drv_log(DRV_LOG_IB, "ring %u.%u job %llu IB %u: 0x%llx, %u dwords", ring->ip, ring->index,
			(unsigned long long)ring->last + 1, i, (unsigned long long)ib->segment[i].va,
			ib->segment[i].dw);
		if (ring->print && drv_log_on(DRV_LOG_IB))
			ring->print(ring->dev->chip, ib->segment[i].map, ib->segment[i].dw, ib->segment[i].va);
	}
}

/* Repeats the ioctl for a second: -ENOMEM means that the kernel could not make everything resident at that moment,
 * because it was moving memory of other processes. */
__attribute__((cold, noinline)) static int cs_ioctl_again(struct cs_ring *ring, const struct drm_amdgpu_cs_in *in,
							  union drm_amdgpu_cs *args)
{
	int r = -ENOMEM;

	for (unsigned tries = 0; r == -ENOMEM && tries < 1000; tries++) {
		drv_nap(1000000);
		args->in = *in;
		r = drv_ioctl(ring->dev, DRM_IOCTL_AMDGPU_CS, args);
	}
	return r;
}

static int fail_cs(struct cs_ring *ring, int r)
{
	if (cs_is_loss(r)) /* cs_submit() finds out which context is lost */
		return r;
	if (r == -ENOMEM)
		return drv_fail(r, "CS: the kernel cannot make the memory of this job resident");
	if (r == -EFAULT)
		return drv_fail(
			r, "CS: host memory that is registered for the GPU was unmapped; end its registration");
	/* The kernel gives -EINVAL for a syncobj without fence; our other arguments give it no reason to. */
	if (r == -EINVAL && ring->waits)
		return drv_fail(-ENOENT, "the job waits for a sync that no submitted work signals");
	return drv_fail(r, "CS on ring %u.%u", ring->ip, ring->index);
}

/* Inline, so that the common case does not pay for the other ones. */
__attribute__((always_inline)) static inline int submit_list(struct cs_ring *ring, uint32_t list, uint64_t *seq)
{
	struct drm_amdgpu_cs_in in = ring->in;
	union drm_amdgpu_cs args;
	int r;

	in.bo_list_handle = list;
	fill_ib(ring, 0);
	if (__builtin_expect(ib_count(ring) > 1 || ring->deps | ring->waits | ring->signals, 0))
		in.num_chunks = fill_more(ring);
	if (__builtin_expect(ring->log, 0))
		log_job(ring);
	args.in = in;
	r = drv_ioctl(ring->dev, DRM_IOCTL_AMDGPU_CS, &args);
	if (__builtin_expect(r == -ENOMEM, 0))
		r = cs_ioctl_again(ring, &in, &args);
	if (__builtin_expect(r, 0))
		return fail_cs(ring, r);
	*seq = args.out.handle;
	return 0;
}

__attribute__((cold, noinline)) static int submit_gws(struct cs_ring *ring, uint64_t *seq)
{
	uint32_t list;
	int r = vm_gws_list(ring->ctx->vm, &list);

	if (r)
		return r;
	r = submit_list(ring, list, seq);
	vm_gws_unlist(ring->ctx->vm, list);
	return r;
}

static int submit_once(struct cs_ring *ring, uint64_t *seq)
{
	uint32_t list = 0;
	int r;

	if (__builtin_expect(!!ring->user, 0)) {
		if (ring->log)
			log_job(ring);
		return cs_user_queue_submit(ring, seq);
	}
	if (__builtin_expect(ring->gws, 0))
		return submit_gws(ring, seq);
	r = ring->ib.flags & CS_RESIDENT ? 0 : vm_list(ring->ctx->vm, &list);
	return r ? r : submit_list(ring, list, seq);
}

/* Retries: between reading the list and submitting the job, another thread may end a registration and unmap its
 * memory. */
#define LIST_TRIES 16

static int job_submit(struct cs_ring *ring, uint64_t *seq)
{
	int r = submit_once(ring, seq);

	for (unsigned tries = 1; __builtin_expect(r == -EFAULT, 0) && tries < LIST_TRIES; tries++)
		r = submit_once(ring, seq);
	return r;
}

/* True when the context of this ring is lost. The kernel gives for CS the error of the ring's own queue, or that of
 * a queue which the job waits for (Linux amdgpu_cs_p2_dependencies(), amdgpu_ctx_get_entity()). So query the own
 * context first: its fence reports hung jobs, its state resets. */
static bool is_own_loss(struct cs_ring *ring)
{
	struct cs_reset reset;

	return cs_kernel_fence_query((struct cs_fence){ring, ring->last}) ||
	       cs_ctx_reset_status(ring->ctx, &reset) || reset.guilty || reset.vram_lost;
}

/* Queries the queues that the job waits for, and marks lost contexts. True: a loss was found that was not known. */
static bool find_lost_queues(const struct cs_submit_info *info)
{
	bool found = false;

	for (unsigned i = 0; i < info->after_count; i++)
		if (!cs_fence_poll(info->after[i]))
			found |= cs_kernel_fence_query(info->after[i]) != 0;
	return found;
}

/* Handles a CS that failed because work is lost. */
__attribute__((cold, noinline)) static int submit_again(struct cs_ring *ring, const struct cs_submit_info *info,
							int r, uint64_t *seq)
{
	while (cs_is_loss(r)) {
		if (!info || !ring->deps || is_own_loss(ring) || !find_lost_queues(info))
			return cs_ring_lose(ring, r, cs_completed_seq(ring) + 1);
		/* Collect again, without the fences that are lost. */
		cs_submit_info_release(ring);
		r = cs_submit_info_collect(ring, info);
		if (r)
			return r;
		r = job_submit(ring, seq);
	}
	return r;
}

int cs_submit(struct cs_ib *ib, const struct cs_submit_info *info, struct cs_fence *fence)
{
	struct cs_ring *ring = ib->ring;
	uint64_t seq = ring->last;
	int r = ib->error;

	cs_ib_arena_close(ring);
	/* Before the job is submitted, not while it is: memory mapped during the submission relies on that. */
	if (__builtin_expect(!!ring->scratch.old, 0))
		cs_scratch_retire(ring, false);
	if (!r && info)
		r = cs_submit_info_collect(ring, info);
	if (!r) {
		r = job_submit(ring, &seq);
		if (__builtin_expect(cs_is_loss(r), 0))
			r = submit_again(ring, info, r, &seq);
	}
	if (info)
		cs_submit_info_release(ring);
	if (!r) {
		atomic_store_explicit(&ring->last, seq, memory_order_release);
		ring->scratch.changed &= !ib->scratch_fenced;
	}
	cs_ib_arena_commit(ring, seq);
	if (__builtin_expect(!!ib->record, 0))
		cs_ib_arena_record_end(ring, !r);
	if (fence)
		*fence = (struct cs_fence){ring, seq};
	drv_unlock(&ring->lock);
	return r;
}

/* --- one dispatch ----------------------------------------------------------------------------- */

#define SHORT_JOB_MAX_B (4 * (CS_BARRIER_DW_MAX + CS_CONSTANTS_DW_MAX + CS_ROOM_MAX + CS_TAIL_MAX + IB_PAD_DW))

/* Changes nothing in the ring, apart from the job itself, until the kernel has accepted the job. Inline, once for each
 * kind of ring. */
__attribute__((always_inline)) static inline int submit_short_job(struct cs_ring *ring, bool user, bool ordered,
								  const struct cs_dispatch_template *template,
								  uint64_t kernarg_va, uint64_t queue_va,
								  uint64_t dispatch_id)
{
	uint64_t last = ring->last, completed = cs_completed_seq(ring), seq;
	struct cs_chunk *chunk = ring->current;
	const struct cs_barrier_packet *packet =
		&ring->ib.pm4->barrier[CS_SCOPE_SYSTEM << 1 | (ordered && last > completed)];
	uint32_t at_B = cs_ib_arena_place(ring, completed), *map = (uint32_t *)((char *)chunk->mem.map + at_B),
		 *p = map;
	union drm_amdgpu_cs args = {.in = ring->in};
	unsigned fill;

	if (atomic_load_explicit(&ring->ctx->lost, memory_order_acquire) || last - completed >= CS_BUSY_JOBS ||
	    ring->scratch.old || ring->gws || ring->log || at_B + SHORT_JOB_MAX_B > ring->data_B ||
	    (user ? vm_updates_pending(ring->ctx->vm) : vm_list(ring->ctx->vm, &args.in.bo_list_handle)))
		return -EAGAIN;
	memcpy(p, packet->dw, sizeof(packet->dw));
	p += packet->count;
	if (__builtin_expect(ring->ib.pm4->constants_dw, 0))
		p = cs_put_constants(p, ring->ib.pm4);
	memcpy(p, template->dw, CS_ROOM_MAX * sizeof(*p));
	p = cs_dispatch_template_patch(p, template, kernarg_va, queue_va, dispatch_id);
	fill = (unsigned)(map - p) % IB_PAD_DW;
	*p = PM4_NOP(fill ? fill : 1); /* after the end if there is nothing to fill */
	p += fill;
	seq = last + 1;
	if (user) {
		cs_user_queue_push(ring, chunk->mem.va + at_B, (uint32_t)(p - map), seq);
	} else {
		ring->ib_args[0].va_start = chunk->mem.va + at_B;
		ring->ib_args[0].ib_bytes = (uint32_t)((char *)p - (char *)map);
		if (drv_ioctl(ring->dev, DRM_IOCTL_AMDGPU_CS, &args))
			return -EAGAIN;
		seq = args.out.handle;
	}
	ring->cmd_B = (uint32_t)((char *)p - (char *)chunk->mem.map);
	chunk->last_seq = seq;
	atomic_store_explicit(&ring->last, seq, memory_order_release);
	return 0;
}

int cs_submit_template(struct cs_ring *ring, bool ordered, const struct cs_dispatch_template *template,
		       uint64_t kernarg_va, uint64_t queue_va, uint64_t dispatch_id)
{
	int r;

	if (ring->dev->generation != drv_generation() || !drv_lock_try(&ring->lock))
		return -EAGAIN;
	r = __builtin_expect(!!ring->user, 0)
		    ? submit_short_job(ring, true, ordered, template, kernarg_va, queue_va, dispatch_id)
		    : submit_short_job(ring, false, ordered, template, kernarg_va, queue_va, dispatch_id);
	drv_unlock(&ring->lock);
	return r;
}
