/* Contexts and rings, and their loss. */
#include "drv/lock.h"
#include "cs/internal.h"
#include "vm/suballoc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int ctx_ioctl(struct cs_ctx *ctx, uint32_t op, union drm_amdgpu_ctx *args)
{
	args->in.op = op;
	args->in.ctx_id = ctx->id;
	return drv_ioctl(vm_device(ctx->vm), DRM_IOCTL_AMDGPU_CTX, args);
}

static int alloc_ctx(struct cs_ctx *ctx, enum cs_priority priority)
{
	static const int32_t kernel_priority[CS_PRIORITIES] = {
		[CS_PRIORITY_LOW] = AMDGPU_CTX_PRIORITY_LOW,
		[CS_PRIORITY_NORMAL] = AMDGPU_CTX_PRIORITY_NORMAL,
		[CS_PRIORITY_HIGH] = AMDGPU_CTX_PRIORITY_HIGH,
		[CS_PRIORITY_VERY_HIGH] = AMDGPU_CTX_PRIORITY_VERY_HIGH,
	};
	const struct drv_support *can = &vm_device(ctx->vm)->can[DRV_CAN_PRIORITIZE];
	union drm_amdgpu_ctx args = {0};
	int r;

	if (priority >= CS_PRIORITIES)
		return drv_fail(-EINVAL, "no context priority %u", priority);
	if (kernel_priority[priority] > AMDGPU_CTX_PRIORITY_NORMAL && !can->yes)
		return drv_fail(-EACCES, "a context priority above normal: %s", can->why);
	args.in.priority = kernel_priority[priority];
	r = ctx_ioctl(ctx, AMDGPU_CTX_OP_ALLOC_CTX, &args);
	if (r == -EACCES)
		return drv_fail(r, "a context priority above normal needs CAP_SYS_NICE");
	if (r)
		return drv_fail(r, "CTX alloc");
	ctx->id = args.out.alloc.ctx_id;
	return 0;
}

static void free_ctx(struct cs_ctx *ctx)
{
	union drm_amdgpu_ctx args = {0};

	/* FREE_CTX fails only when the device is gone, and the context with it. */
	(void)!ctx_ioctl(ctx, AMDGPU_CTX_OP_FREE_CTX, &args);
}

int cs_ctx_create(struct vm *vm, enum cs_priority priority, struct cs_ctx **out)
{
	/* The kernel takes a BO of exactly one page. */
	struct vm_info page = {.size_B = 4096, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	struct cs_ctx *ctx = calloc(1, sizeof(*ctx));
	int r;

	if (!ctx)
		return drv_fail(-ENOMEM, "no host memory for a context");
	ctx->vm = vm;
	ctx->priority = priority;
	r = alloc_ctx(ctx, priority);
	if (r)
		goto fail_ctx;
	r = vm_mem_create(vm, &page, &ctx->fences);
	if (r)
		goto fail_fences;
	memset(ctx->fences->map, 0, page.size_B);
	drv_mutex_init(&ctx->lock, DRV_RANK_CS_CTX);
	*out = ctx;
	return 0;

fail_fences:
	free_ctx(ctx);
fail_ctx:
	free(ctx);
	return r;
}

void cs_ctx_destroy(struct cs_ctx *ctx)
{
	if (!ctx)
		return;
	free_ctx(ctx);
	vm_mem_destroy(ctx->fences);
	drv_mutex_destroy(&ctx->lock);
	free(ctx);
}

int cs_ctx_lost(const struct cs_ctx *ctx)
{
	return atomic_load_explicit(&ctx->lost, memory_order_acquire);
}

/* Names a cause outside the job that can have made it hang. */
static const char *hang_hint(const struct cs_ring *ring, int r)
{
	bool hung = r == -ETIME || r == -ENODATA;

	if (ring->dev->chip->trap_halts && (hung || (ring->user && r == -ECANCELED)))
		return "; on this chip __builtin_trap(), abort() and assert() of AMD's headers halt a wave for good";
	if (hung && vm_shares(ring->ctx->vm))
		return "; Linux holds a job back until other GPUs' jobs that list the same shared memory have ended: "
		       "kernels of two GPUs that wait for each other hang";
	return "";
}

static const char *loss_reason(int r)
{
	switch (r) {
	case -ETIME:
		return "a job hung or ran longer than the kernel's watchdog allows; the ring was reset";
	case -ENODATA:
		return "a job hung or ran longer than the kernel's watchdog allows; its waves were killed";
	case -ECANCELED:
		return "the GPU was reset while this work was queued";
	case -ENODEV:
		return "the device is gone";
	default:
		return "the device reports a memory error that cannot be corrected";
	}
}

/* The first error stays. */
static void ctx_lose(struct cs_ctx *ctx, int r)
{
	int zero = 0;

	atomic_compare_exchange_strong(&ctx->lost, &zero, r == -ENODEV ? -ENODEV : -ECANCELED);
}

bool cs_is_loss(int r)
{
	return r == -ETIME || r == -ENODATA || r == -ECANCELED || r == -ENODEV || r == -EHWPOISON;
}

int cs_ring_lose(struct cs_ring *ring, int r, uint64_t first_bad)
{
	uint64_t none = UINT64_MAX;

	atomic_compare_exchange_strong(&ring->first_bad, &none, first_bad);
	if (r == -ETIME || r == -ENODATA)
		atomic_store_explicit(&ring->ctx->guilty, true, memory_order_relaxed);
	ctx_lose(ring->ctx, r);
	drv_log(DRV_LOG_SUBMIT, "context %u lost at ring %u.%u, job %llu", ring->ctx->id, ring->ip, ring->index,
		(unsigned long long)first_bad);
	return drv_fail(ring->ctx->lost, "context lost: %s (kernel said %d)%s", loss_reason(r), r,
			hang_hint(ring, r));
}

/* Queries the kernel fences of the last jobs, as many as may have been on the hardware. Only these fences report a
 * job that was killed softly: its sequence word is written all the same, and a later good job hides it. A user queue's jobs
 * are lost with all that come behind. */
static int check_ring(struct cs_ring *ring)
{
	uint64_t seq = ring->last > CS_JOBS_MAX ? ring->last - CS_JOBS_MAX + 1 : 1;
	int r = 0;

	if (ring->user)
		return cs_kernel_fence_query(cs_ring_last(ring));
	for (; !r && seq <= ring->last; seq++)
		r = cs_kernel_fence_query((struct cs_fence){ring, seq});
	return r;
}

static int check_rings(struct cs_ctx *ctx)
{
	int r = 0;

	drv_mutex_lock(&ctx->lock);
	for (unsigned i = 0; !r && i < CS_SLOTS; i++) {
		if (ctx->ring[i])
			r = check_ring(ctx->ring[i]);
	}
	drv_mutex_unlock(&ctx->lock);
	return r;
}

int cs_ctx_reset_status(struct cs_ctx *ctx, struct cs_reset *reset)
{
	union drm_amdgpu_ctx args = {.in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = ctx->id}};
	int r = drv_ioctl_insist(vm_device(ctx->vm), DRM_IOCTL_AMDGPU_CTX, &args);

	if (r == -ENODEV)
		ctx_lose(ctx, r);
	if (r)
		return drv_fail(r, "CTX query");
	*reset = (struct cs_reset){
		.reset = args.out.state.flags & AMDGPU_CTX_QUERY2_FLAGS_RESET,
		.guilty = args.out.state.flags & AMDGPU_CTX_QUERY2_FLAGS_GUILTY ||
			  atomic_load_explicit(&ctx->guilty, memory_order_relaxed),
		.vram_lost = args.out.state.flags & AMDGPU_CTX_QUERY2_FLAGS_VRAMLOST,
	};
	return 0;
}

int cs_ctx_check_reset(struct cs_ctx *ctx)
{
	struct cs_reset reset;
	int r = cs_ctx_lost(ctx);

	if (r)
		return drv_fail(r, "the context was lost before");
	r = cs_ctx_reset_status(ctx, &reset);
	/* A reset alone may have another process's hang as its cause, or a job of ours whose waves were killed. Of a user queue
	 * the state of the context says nothing; and the kernel watches it only while it has a fence of it, which the query
	 * makes. */
	if (!r && (reset.reset || ctx->ring[CS_SLOT_USER]))
		r = check_rings(ctx);
	if (r)
		return r;
	if (reset.guilty || reset.vram_lost) {
		ctx_lose(ctx, -ECANCELED);
		return drv_fail(-ECANCELED, "context lost: the GPU was reset%s",
				reset.guilty ? ", and this context caused it" : " and VRAM was lost");
	}
	return 0;
}

int cs_ctx_check(struct cs_ctx *ctx)
{
	int r = cs_ctx_check_reset(ctx);

	return r ? r : vm_check_fault(ctx->vm, NULL);
}

static unsigned slot_of(const struct cs_ring *ring)
{
	return ring->index == CS_RINGS_MAX ? CS_SLOT_USER : ring->ip * CS_RINGS_MAX + ring->index;
}

/* Registers the ring at its (IP, index) in the context. */
static int ring_register(struct cs_ring *ring)
{
	struct cs_ring **slot = &ring->ctx->ring[slot_of(ring)];
	int r = 0;

	drv_mutex_lock(&ring->ctx->lock);
	if (*slot)
		r = drv_fail(-EBUSY, "ring %u.%u of this context is in use", ring->ip, ring->index);
	else
		*slot = ring;
	drv_mutex_unlock(&ring->ctx->lock);
	return r;
}

static void ring_unregister(struct cs_ring *ring)
{
	drv_mutex_lock(&ring->ctx->lock);
	ring->ctx->ring[slot_of(ring)] = NULL;
	drv_mutex_unlock(&ring->ctx->lock);
}

static void fill_constant_args(struct cs_ring *ring)
{
	unsigned slot = slot_of(ring);

	ring->word = (const _Atomic uint64_t *)ring->ctx->fences->map + slot;
	ring->fence_args.handle = ring->ctx->fences->bo->handle;
	ring->fence_args.offset = slot * sizeof(uint64_t);
	ring->fence_arg = (struct drm_amdgpu_cs_chunk){
		.chunk_id = AMDGPU_CHUNK_ID_FENCE,
		.length_dw = sizeof(ring->fence_args) / 4,
		.chunk_data = (uintptr_t)&ring->fence_args,
	};
	ring->dep_arg = (struct drm_amdgpu_cs_chunk){
		.chunk_id = AMDGPU_CHUNK_ID_DEPENDENCIES,
		.chunk_data = (uintptr_t)ring->dep,
	};
	ring->wait_arg = (struct drm_amdgpu_cs_chunk){
		.chunk_id = AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT,
		.chunk_data = (uintptr_t)ring->wait,
	};
	ring->signal_arg = (struct drm_amdgpu_cs_chunk){
		.chunk_id = AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL,
		.chunk_data = (uintptr_t)ring->signal,
	};
	for (unsigned i = 0; i < CS_SEGMENTS_MAX; i++) {
		ring->ib_args[i].ip_type = ring->ip;
		ring->ib_args[i].ring = ring->index;
		if (ring->ip == DRV_IP_DMA && ring->dev->chip->sdma_mem_sync)
			ring->ib_args[i].flags = AMDGPU_IB_FLAG_EMIT_MEM_SYNC;
		ring->ib_arg[i] = (struct drm_amdgpu_cs_chunk){
			.chunk_id = AMDGPU_CHUNK_ID_IB,
			.length_dw = sizeof(ring->ib_args[i]) / 4,
			.chunk_data = (uintptr_t)&ring->ib_args[i],
		};
	}
	ring->arg_pointer[0] = (uintptr_t)&ring->fence_arg;
	ring->arg_pointer[1] = (uintptr_t)&ring->ib_arg[0];
	ring->in = (struct drm_amdgpu_cs_in){
		.ctx_id = ring->ctx->id,
		.num_chunks = 2,
		.chunks = (uintptr_t)ring->arg_pointer,
	};
}

/* index CS_RINGS_MAX: a user queue. */
static int ring_create(struct cs_ctx *ctx, enum drv_ip_type ip, unsigned index, cs_print_fn *print,
		       struct cs_ring **out)
{
	const struct drv_ip *facts = &vm_device(ctx->vm)->facts.ip[ip];
	struct cs_ring *ring = calloc(1, sizeof(*ring));
	int r;

	if (!ring)
		return drv_fail(-ENOMEM, "no host memory for a ring");
	ring->ctx = ctx;
	drv_lock_set_rank(&ring->lock, DRV_RANK_CS_RING);
	ring->ip = ip;
	ring->index = index;
	ring->dev = vm_device(ctx->vm);
	ring->print = print;
	ring->log = drv_log_on(DRV_LOG_IB | DRV_LOG_SUBMIT);
	ring->align_B = facts->ib_start_B > 32 ? facts->ib_start_B : 32;
	ring->first_bad = UINT64_MAX;
	ring->ib.ring = ring;
	ring->ib.pm4 = cs_pm4_of(ring->dev);
	fill_constant_args(ring);
	r = ring_register(ring);
	if (r)
		goto fail_enter;
	/* The kernel's queue outlives our ring: its numbers continue from those of the previous ring at this
	 * place. */
	ring->last = cs_completed_seq(ring);
	r = index == CS_RINGS_MAX ? cs_user_queue_create(ring) : 0;
	if (r)
		goto fail_user;
	r = cs_ib_arena_init(ring);
	if (r)
		goto fail_pool;
	*out = ring;
	return 0;

fail_pool:
	cs_user_queue_destroy(ring);
fail_user:
	ring_unregister(ring);
fail_enter:
	free(ring);
	return r;
}

int cs_ring_create(struct cs_ctx *ctx, enum drv_ip_type ip, unsigned index, cs_print_fn *print,
		   struct cs_ring **ring)
{
	if (index >= CS_RINGS_MAX || !(vm_device(ctx->vm)->facts.ip[ip].rings >> index & 1))
		return drv_fail(-EINVAL, "the chip has no ring %u.%u", ip, index);
	return ring_create(ctx, ip, index, print, ring);
}

int cs_ring_create_user(struct cs_ctx *ctx, cs_print_fn *print, struct cs_ring **ring)
{
	return ring_create(ctx, DRV_IP_COMPUTE, CS_RINGS_MAX, print, ring);
}

int cs_ring_use_gws(struct cs_ring *ring)
{
	int r = vm_gws_create(ring->ctx->vm);

	ring->gws = !r;
	return r;
}

void cs_ring_destroy(struct cs_ring *ring)
{
	if (!ring)
		return;
	cs_fence_retire(cs_ring_last(ring));
	cs_user_queue_destroy(ring);
	cs_scratch_retire(ring, true);
	vm_suballoc_destroy(&ring->queue);
	cs_ib_arena_fini(ring);
	ring_unregister(ring);
	free(ring);
}

struct cs_ctx *cs_ring_ctx(const struct cs_ring *ring)
{
	return ring->ctx;
}

struct vm *cs_ring_vm(const struct cs_ring *ring)
{
	return ring->ctx->vm;
}

struct cs_fence cs_ring_last(const struct cs_ring *ring)
{
	/* A fence points to a mutable ring, for callers that may wait for it; this changes nothing in the ring. */
	return (struct cs_fence){(struct cs_ring *)(uintptr_t)ring, ring->last};
}

bool cs_ring_busy(const struct cs_ring *ring)
{
	/* In this order: a thread updates the last job before it releases the lock. */
	return drv_lock_taken(&ring->lock) || !cs_fence_is_retired(cs_ring_last(ring));
}

bool cs_fence_settle(struct cs_fence *fence)
{
	/* In this order, as above. A ring submits one job at a time: the first that ends is that one. */
	bool settled = !drv_lock_taken(&fence->ring->lock);
	uint64_t last = atomic_load_explicit(&fence->ring->last, memory_order_acquire);

	settled |= last != fence->seq;
	if (settled)
		fence->seq = last;
	return settled;
}

uint64_t cs_ring_completed(const struct cs_ring *ring)
{
	return cs_completed_seq(ring);
}

unsigned cs_ring_unfinished(const struct cs_ring *ring)
{
	uint64_t last = ring->last, completed = cs_completed_seq(ring);

	return last > completed ? (unsigned)(last - completed) : 0;
}
