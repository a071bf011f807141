/* Contexts and rings, and how they are lost. */
#include "cs/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int ctx_ioctl(struct cs_ctx *ctx, uint32_t op, union drm_amdgpu_ctx *args)
{
	args->in.op = op;
	args->in.ctx_id = ctx->id;
	return drv_ioctl(vm_device(ctx->vm), DRM_IOCTL_AMDGPU_CTX, args);
}

int cs_ctx_create(struct vm *vm, struct cs_ctx **out)
{
	/* The kernel takes a BO of exactly one page. */
	struct vm_info page = {.size_B = 4096, .kind = VM_GTT, .flags = VM_CPU | VM_UNCACHED | VM_RESIDENT};
	union drm_amdgpu_ctx args = {.in.priority = AMDGPU_CTX_PRIORITY_NORMAL};
	struct cs_ctx *ctx = calloc(1, sizeof(*ctx));
	int r;

	if (!ctx)
		return drv_fail(-ENOMEM, "no host memory for a context");
	ctx->vm = vm;
	r = ctx_ioctl(ctx, AMDGPU_CTX_OP_ALLOC_CTX, &args);
	if (r) {
		r = drv_fail(r, "CTX alloc");
		goto fail_ctx;
	}
	ctx->id = args.out.alloc.ctx_id;
	r = vm_mem_create(vm, &page, &ctx->fences);
	if (r)
		goto fail_fences;
	memset(ctx->fences->map, 0, page.size_B);
	pthread_mutex_init(&ctx->lock, NULL);
	*out = ctx;
	return 0;

fail_fences:
	args = (union drm_amdgpu_ctx){0};
	(void)!ctx_ioctl(ctx, AMDGPU_CTX_OP_FREE_CTX, &args);
fail_ctx:
	free(ctx);
	return r;
}

void cs_ctx_destroy(struct cs_ctx *ctx)
{
	union drm_amdgpu_ctx args = {0};

	if (!ctx)
		return;
	/* It fails only when the device is gone, and the context with it. */
	(void)!ctx_ioctl(ctx, AMDGPU_CTX_OP_FREE_CTX, &args);
	vm_mem_destroy(ctx->fences);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
}

int cs_ctx_lost(const struct cs_ctx *ctx)
{
	return atomic_load_explicit(&ctx->lost, memory_order_acquire);
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
		return "the kernel refuses this context's work";
	}
}

int cs_ring_lose(struct cs_ring *ring, int r, uint64_t first_bad)
{
	uint64_t none = UINT64_MAX;
	int zero = 0;

	atomic_compare_exchange_strong(&ring->first_bad, &none, first_bad);
	atomic_compare_exchange_strong(&ring->ctx->lost, &zero, r == -ENODEV ? -ENODEV : -ECANCELED);
	drv_log(DRV_LOG_SUBMIT, "context %u lost at ring %u.%u, job %llu", ring->ctx->id, ring->ip, ring->index,
		(unsigned long long)first_bad);
	return drv_fail(ring->ctx->lost, "context lost: %s (kernel said %d)", loss_reason(r), r);
}

/* AMDGPU_INFO_GPUVM_FAULT, DRM 3.55; libdrm 2.4.114's header does not have it. */
#define INFO_GPUVM_FAULT     0x23
#define INFO_GPUVM_FAULT_DRM 55
struct gpuvm_fault {
	uint64_t va;
	uint32_t status; /* GCVM_L2_PROTECTION_FAULT_STATUS */
	uint32_t hub;
};

static const char *fault_client(uint32_t status, uint32_t hub)
{
	/* Client ids of the GFX hub, fault status 17:9 (Linux gmc_v9_0.c). */
	static const char *const names[] = {[4] = "command fetch", [5] = "compute command processor",
					    [8] = "vector memory", [9] = "instruction fetch", [10] = "scalar memory"};
	unsigned client = status >> 9 & 0x1ff;

	if (hub & 0xff)
		return "SDMA";
	return client < sizeof(names) / sizeof(names[0]) && names[client] ? names[client] : "GPU";
}

static int check_fault(struct cs_ctx *ctx)
{
	const struct drv_device *dev = vm_device(ctx->vm);
	struct gpuvm_fault fault;
	bool fresh;

	if (dev->drm_minor < INFO_GPUVM_FAULT_DRM || drv_info(dev, INFO_GPUVM_FAULT, &fault, sizeof(fault)))
		return 0;
	pthread_mutex_lock(&ctx->lock);
	fresh = fault.status && (fault.va != ctx->fault_va || fault.status != ctx->fault_status);
	ctx->fault_va = fault.va;
	ctx->fault_status = fault.status;
	pthread_mutex_unlock(&ctx->lock);
	if (!fresh)
		return 0;
	/* Bit 18: write; bit 8: no translation at all. */
	return drv_fail(-EFAULT, "GPU memory fault: %s %s page 0x%llx (status 0x%08x)",
			fault_client(fault.status, fault.hub), fault.status >> 18 & 1 ? "wrote" : "read",
			(unsigned long long)fault.va, fault.status);
}

int cs_ctx_check(struct cs_ctx *ctx)
{
	union drm_amdgpu_ctx args = {0};
	int r = cs_ctx_lost(ctx);

	if (r)
		return drv_fail(r, "the context was lost before");
	r = ctx_ioctl(ctx, AMDGPU_CTX_OP_QUERY_STATE2, &args);
	if (r)
		return drv_fail(r, "CTX query");
	/* RESET alone may be any process's hang: only these two end a context. */
	if (args.out.state.flags & (AMDGPU_CTX_QUERY2_FLAGS_GUILTY | AMDGPU_CTX_QUERY2_FLAGS_VRAMLOST)) {
		ctx->lost = -ECANCELED;
		return drv_fail(-ECANCELED, "context lost: the GPU was reset%s",
				args.out.state.flags & AMDGPU_CTX_QUERY2_FLAGS_GUILTY ? ", and this context caused it"
										      : " and VRAM was lost");
	}
	return check_fault(ctx);
}

/* Rings of one IP that the fence page has room for. */
#define RINGS_MAX 8

static unsigned slot_of(const struct cs_ring *ring)
{
	return ring->ip * RINGS_MAX + ring->index;
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
	for (unsigned i = 0; i < CS_SEGMENTS_MAX; i++) {
		ring->ib_args[i].ip_type = ring->ip;
		ring->ib_args[i].ring = ring->index;
		ring->ib_arg[i] = (struct drm_amdgpu_cs_chunk){
			.chunk_id = AMDGPU_CHUNK_ID_IB,
			.length_dw = sizeof(ring->ib_args[i]) / 4,
			.chunk_data = (uintptr_t)&ring->ib_args[i],
		};
	}
	ring->arg_pointer[0] = (uintptr_t)&ring->fence_arg;
}

int cs_ring_create(struct cs_ctx *ctx, enum drv_ip_type ip, unsigned index, cs_print_fn *print,
		   struct cs_ring **out)
{
	const struct drv_ip *facts = &vm_device(ctx->vm)->facts.ip[ip];
	struct cs_ring *ring;
	int r;

	if (index >= RINGS_MAX || !(facts->rings >> index & 1))
		return drv_fail(-EINVAL, "the chip has no ring %u.%u", ip, index);
	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return drv_fail(-ENOMEM, "no host memory for a ring");
	ring->ctx = ctx;
	ring->ip = ip;
	ring->index = index;
	ring->dev = vm_device(ctx->vm);
	ring->print = drv_log_on(DRV_LOG_IB) ? print : NULL;
	ring->align_B = facts->ib_start_B > 32 ? facts->ib_start_B : 32;
	ring->first_bad = UINT64_MAX;
	ring->ib.ring = ring;
	fill_constant_args(ring);
	/* The kernel's queue outlives ours: it counts on from where the ring that was here before ended. */
	ring->last = cs_reached(ring);
	if (atomic_fetch_or(&ctx->rings, 1u << slot_of(ring)) >> slot_of(ring) & 1) {
		free(ring);
		return drv_fail(-EBUSY, "ring %u.%u of this context is in use", ip, index);
	}
	r = cs_pool_init(ring);
	if (r) {
		atomic_fetch_and(&ctx->rings, ~(1u << slot_of(ring)));
		free(ring);
		return r;
	}
	pthread_mutex_init(&ring->lock, NULL);
	*out = ring;
	return 0;
}

void cs_ring_destroy(struct cs_ring *ring)
{
	if (!ring)
		return;
	/* It ends: with the work, or with the context. */
	(void)!cs_point_wait(cs_ring_last(ring), CS_FOREVER);
	cs_scratch_retire(ring, true);
	vm_piece_free(&ring->queue);
	cs_pool_fini(ring);
	atomic_fetch_and(&ring->ctx->rings, ~(1u << slot_of(ring)));
	pthread_mutex_destroy(&ring->lock);
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

struct cs_point cs_ring_last(struct cs_ring *ring)
{
	return (struct cs_point){ring, ring->last};
}
