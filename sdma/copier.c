/* The copier: chooses the engine of a copy, and owns the queues that it runs on.
 *
 * Plan, unless TUFF_COPY sets an engine:
 *   both ends outside the GPU                               CPU
 *   few bytes, the CPU reaches both, no unsignaled fences   CPU: cheaper than one submission
 *   both ends in VRAM                                       shader: the compute units have the bandwidth
 *   else                                                    SDMA: it uses the bus, and leaves the compute units free
 *
 * Pageable memory goes through pinned slots. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "drv/lock.h"
#include "cs/dispatch.h"
#include "sdma/internal.h"
#include "vm/suballoc.h"

/* Below this a copy by the CPU takes less time than the 19.5 us that a submission costs on gfx11 with RADV: at 1
 * GB/s, the least rate of write-combined stores to VRAM. Reading VRAM over the bus is about 40 times slower. */
#define CPU_WRITE_MAX_B 16384
#define CPU_READ_MAX_B  512
/* Longest duration of one job of a large transfer at the link's best rate, a twentieth of the shortest watchdog (2
 * s, Linux 7.0): the margin is for other users of the link, and for a peer's slower link. */
#define JOB_MAX_MS 100
#define JOB_MAX_B  (2ull << 30)

const char *sdma_engine_name(enum sdma_engine engine)
{
	static const char *const names[] = {"SDMA", "shader", "CPU"};

	return names[engine];
}

/* --- queues ----------------------------------------------------------------------------------- */

static void queues_destroy(struct sdma_queues *q)
{
	if (!q)
		return;
	cs_ring_destroy(q->dma);
	cs_ring_destroy(q->compute);
	cs_code_unload(q->blit);
	cs_ctx_destroy(q->ctx);
	free(q);
}

static int queues_create(struct vm *vm, struct sdma_queues **out)
{
	struct sdma_queues *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return drv_fail(-ENOMEM, "no host memory for copy queues");
	r = cs_ctx_create(vm, CS_PRIORITY_NORMAL, &q->ctx);
	if (!r)
		r = cs_ring_create(q->ctx, DRV_IP_COMPUTE, 0, cs_pm4_print, &q->compute);
	if (!r && vm_device(vm)->facts.ip[DRV_IP_DMA].rings)
		r = cs_ring_create(q->ctx, DRV_IP_DMA, 0, sdma_print, &q->dma);
	if (r) {
		queues_destroy(q);
		return r;
	}
	*out = q;
	return 0;
}

static struct cs_ring *ring_of(const struct sdma_queues *q, enum sdma_engine engine)
{
	return engine == SDMA_ENGINE_SHADER ? q->compute : q->dma;
}

static bool is_alive(const struct sdma_queues *q)
{
	return q && !cs_ctx_lost(q->ctx);
}

/* Creates the queues at that place, or replaces them if their context is lost. */
static int queues_renew_locked(struct sdma_copier *copier, struct sdma_queues **place)
{
	struct sdma_queues *fresh = NULL;
	int r;

	if (is_alive(*place))
		return 0;
	r = queues_create(copier->vm, &fresh);
	if (r)
		return r;
	fresh->older = *place;
	*place = fresh;
	return 0;
}

/* Chooses queues: busy ones whose last copy waits for the same ring; else the first idle or missing ones; else
 * those with the fewest jobs. */
static struct sdma_queues **queues_choose_locked(struct sdma_copier *copier, enum sdma_engine engine,
						 const struct cs_ring *blocking)
{
	struct sdma_queues **best = NULL;
	unsigned fewest = UINT_MAX;

	for (unsigned i = 0; i < SDMA_QUEUES; i++) {
		struct sdma_queues **q = &copier->queues[i];
		unsigned jobs = is_alive(*q) ? cs_ring_unfinished(ring_of(*q, engine)) : 0;

		if (jobs && blocking && (*q)->blocking == blocking)
			return q;
		if (jobs < fewest) {
			best = q;
			fewest = jobs;
		}
	}
	return best;
}

int sdma_queues_get(struct sdma_copier *copier, enum sdma_engine engine, const struct sdma_job *job,
		    struct sdma_queues **out)
{
	const struct cs_ring *blocking = job->after_count ? job->after[0].ring : NULL;
	struct sdma_queues **place;
	int r;

	drv_mutex_lock(&copier->lock);
	place = queues_choose_locked(copier, engine, blocking);
	r = queues_renew_locked(copier, place);
	/* Without memory for more queues, use the first. */
	if (r && place != copier->queues) {
		place = copier->queues;
		r = queues_renew_locked(copier, place);
	}
	if (!r && engine == SDMA_ENGINE_SHADER)
		r = sdma_blit_load(*place);
	if (!r)
		(*place)->blocking = blocking;
	*out = *place;
	drv_mutex_unlock(&copier->lock);
	return r;
}

int sdma_copier_create(struct vm *vm, struct sdma_copier **out)
{
	struct sdma_copier *copier = calloc(1, sizeof(*copier));

	if (!copier)
		return drv_fail(-ENOMEM, "no host memory for a copier");
	copier->vm = vm;
	drv_mutex_init(&copier->lock, DRV_RANK_SDMA_COPIER);
	drv_mutex_init(&copier->slot_lock, DRV_RANK_SDMA_SLOT);
	*out = copier;
	return 0;
}

void sdma_copier_destroy(struct sdma_copier *copier)
{
	if (!copier)
		return;
	for (unsigned i = 0; i < SDMA_QUEUES; i++)
		while (copier->queues[i]) {
			struct sdma_queues *q = copier->queues[i];

			copier->queues[i] = q->older;
			queues_destroy(q);
		}
	for (unsigned i = 0; i < SDMA_SLOTS; i++)
		vm_mem_destroy(copier->slot[i].mem);
	drv_mutex_destroy(&copier->lock);
	drv_mutex_destroy(&copier->slot_lock);
	free(copier);
}

/* --- the link ------------------------------------------------------------------------------------ */

uint64_t sdma_job_max_B(const struct drv_facts *facts)
{
	/* indexed by PCIe generation - 1 */
	static const uint32_t speed_MTps[] = {2500, 5000, 8000, 16000, 32000, 64000};
	bool known = facts->pcie_gen && facts->pcie_gen <= sizeof(speed_MTps) / sizeof(speed_MTps[0]) &&
		     facts->pcie_lanes;
	/* Unknown (before Linux 6.3, and for APUs): assume the slowest link. */
	uint64_t MBps = known ? drv_pcie_MBps(speed_MTps[facts->pcie_gen - 1], facts->pcie_lanes)
			      : drv_pcie_MBps(speed_MTps[0], 1);
	uint64_t most_B = MBps * 1000 * JOB_MAX_MS;

	return most_B < JOB_MAX_B ? most_B & ~(uint64_t)(VM_SLAB_B - 1) : JOB_MAX_B;
}

/* --- engines ---------------------------------------------------------------------------------- */

static int engine_append(const struct sdma_queues *q, enum sdma_engine engine, struct cs_ib *ib,
			 const struct sdma_op *op)
{
	if (op->rect)
		return sdma_append_rect(q, engine, ib, op->rect);
	if (engine == SDMA_ENGINE_SHADER)
		return sdma_blit(q, ib, op);
	if (op->fill && (op->dst | op->size_B) % 4 == 0)
		sdma_fill(ib, op->dst, op->value, op->size_B);
	else if (op->fill)
		sdma_fill_bytes(ib, op->dst, (uint8_t)op->value, op->size_B);
	else
		sdma_copy(ib, op->dst, op->src, op->size_B);
	return 0;
}

/* Writes the clock's counter when the job begins. */
static void put_start_clock(enum sdma_engine engine, struct cs_ib *ib, uint64_t va)
{
	if (va && engine == SDMA_ENGINE_SHADER)
		cs_ib_clock(ib, va);
	else if (va)
		sdma_timestamp(ib, va);
}

static void mark_end(enum sdma_engine engine, struct cs_ib *ib, uint64_t va)
{
	if (va && engine == SDMA_ENGINE_SHADER)
		cs_ib_release_clock(ib, va);
	else if (va)
		sdma_timestamp(ib, va);
}

static int run_part(const struct sdma_queues *q, enum sdma_engine engine, const struct sdma_op *part,
		    const struct cs_fence *after, unsigned count, struct cs_fence *fence)
{
	const struct cs_submit_info order = {.after = after, .after_count = count};
	struct cs_ib *ib;
	int r = cs_begin(ring_of(q, engine), 0, &ib);

	if (r)
		return r;
	put_start_clock(engine, ib, part->start_va);
	r = engine_append(q, engine, ib, part);
	if (r) {
		cs_abandon(ib);
		return r;
	}
	mark_end(engine, ib, part->end_va);
	return cs_submit(ib, count ? &order : NULL, fence);
}

int sdma_run(const struct sdma_queues *q, enum sdma_engine engine, const struct sdma_op *op,
	     const struct cs_fence *after, unsigned count, struct cs_fence *fence)
{
	const uint64_t most_B = sdma_job_max_B(&vm_device(cs_ring_vm(q->compute))->facts);
	struct sdma_op part = *op;
	int r = 0;

	for (uint64_t done_B = 0; !r && done_B < op->size_B; done_B += part.size_B) {
		struct cs_fence last = *fence;

		part.dst = op->dst + done_B;
		part.src = op->src + done_B;
		part.size_B = op->size_B - done_B < most_B ? op->size_B - done_B : most_B;
		part.start_va = done_B ? 0 : op->start_va;
		part.end_va = done_B + part.size_B < op->size_B ? 0 : op->end_va;
		r = run_part(q, engine, &part, done_B ? &last : after, done_B ? 1 : count, fence);
		if (r)
			*fence = last;
		/* The caller has no fence to wait for: the parts before end here. */
		if (r && done_B)
			cs_fence_retire(last);
	}
	return r;
}

static void fill_by_cpu(void *dst, uint32_t value, uint64_t size_B)
{
	if (value == (value & 0xff) * 0x01010101u) {
		memset(dst, (int)(value & 0xff), size_B);
		return;
	}
	for (uint64_t i = 0; i < size_B / 4; i++)
		((uint32_t *)dst)[i] = value;
}

static int run_cpu(struct sdma_job *job, const struct sdma_op *op)
{
	for (unsigned i = 0; i < job->after_count; i++) {
		int r = cs_fence_wait(job->after[i], CS_FOREVER);

		if (r)
			return r;
	}
	if (op->fill)
		fill_by_cpu((void *)(uintptr_t)op->dst, op->value, op->size_B);
	else
		memcpy((void *)(uintptr_t)op->dst, (const void *)(uintptr_t)op->src, op->size_B);
	return 0;
}

/* --- planning --------------------------------------------------------------------------------- */

static bool is_unblocked(const struct sdma_job *job)
{
	for (unsigned i = 0; i < job->after_count; i++)
		if (cs_fence_poll(job->after[i]) != 1)
			return false;
	return true;
}

static bool cpu_is_cheaper(const struct sdma_job *job, bool fill)
{
	uint64_t most_B = !fill && job->src.place == SDMA_VRAM ? CPU_READ_MAX_B : CPU_WRITE_MAX_B;

	return job->size_B <= most_B && is_unblocked(job);
}

enum sdma_engine sdma_copier_plan(const struct sdma_copier *copier, const struct sdma_job *job, bool fill)
{
	const struct drv_config *config = drv_config();
	bool cpu_can = job->dst.cpu && (fill || job->src.cpu);
	bool only_cpu = job->dst.place == SDMA_PAGEABLE && job->src.place == SDMA_PAGEABLE && !fill;
	bool in_vram = job->dst.place == SDMA_VRAM && (fill || job->src.place == SDMA_VRAM);
	bool has_dma = vm_device(copier->vm)->facts.ip[DRV_IP_DMA].rings;

	if (only_cpu || (cpu_can && config->copy == DRV_COPY_CPU))
		return SDMA_ENGINE_CPU;
	if (config->copy == DRV_COPY_SHADER || !has_dma)
		return SDMA_ENGINE_SHADER;
	if (config->copy == DRV_COPY_SDMA)
		return SDMA_ENGINE_SDMA;
	if (cpu_can && cpu_is_cheaper(job, fill))
		return SDMA_ENGINE_CPU;
	return in_vram ? SDMA_ENGINE_SHADER : SDMA_ENGINE_SDMA;
}

static int job_check(const struct sdma_job *job, bool fill)
{
	uint64_t dst = job->dst.va, src = job->src.va, size_B = job->size_B;

	if (dst + size_B < dst || (!fill && src + size_B < src))
		return drv_fail(-EINVAL, "%llu bytes at 0x%llx leave the address space", (unsigned long long)size_B,
				(unsigned long long)dst);
	if (!fill && dst < src + size_B && src < dst + size_B)
		return drv_fail(-EINVAL, "source and destination overlap");
	if (fill && job->dst.place == SDMA_PAGEABLE)
		return drv_fail(-EINVAL, "a fill of pageable memory");
	return 0;
}

static int job_start(struct sdma_copier *copier, struct sdma_job *job, bool fill, uint32_t value)
{
	struct sdma_op op = {.dst = job->dst.va,
			     .src = job->src.va,
			     .size_B = job->size_B,
			     .fill = fill,
			     .value = value,
			     .start_va = job->start_va,
			     .end_va = job->end_va};
	struct sdma_queues *q;
	int r = drv_check_process(vm_device(copier->vm));

	r = r ? r : job_check(job, fill);
	job->fence = (struct cs_fence){0};
	if (r || !job->size_B)
		return r;
	job->engine = sdma_copier_plan(copier, job, fill);
	drv_log(DRV_LOG_COPY, "%s of %llu bytes to 0x%llx by %s", fill ? "fill" : "copy",
		(unsigned long long)job->size_B, (unsigned long long)job->dst.va, sdma_engine_name(job->engine));
	if (job->engine == SDMA_ENGINE_CPU)
		return run_cpu(job, &op);
	r = sdma_queues_get(copier, job->engine, job, &q);
	if (r)
		return r;
	if (!fill && job->src.place == SDMA_PAGEABLE)
		return sdma_stage_in(copier, q, job->engine, job);
	if (!fill && job->dst.place == SDMA_PAGEABLE)
		return sdma_stage_out(copier, q, job->engine, job);
	return sdma_run(q, job->engine, &op, job->after, job->after_count, &job->fence);
}

int sdma_copier_copy(struct sdma_copier *copier, struct sdma_job *job)
{
	return job_start(copier, job, false, 0);
}

int sdma_copier_fill(struct sdma_copier *copier, struct sdma_job *job, uint8_t value)
{
	return job_start(copier, job, true, value * 0x01010101u);
}

int sdma_copier_fill32(struct sdma_copier *copier, struct sdma_job *job, uint32_t value)
{
	if ((job->dst.va | job->size_B) % 4)
		return drv_fail(-EINVAL, "a fill with dwords of %llu bytes at 0x%llx",
				(unsigned long long)job->size_B, (unsigned long long)job->dst.va);
	return job_start(copier, job, true, value);
}

int sdma_copier_copy_rect(struct sdma_copier *copier, const struct sdma_rect *rect, struct sdma_job *job)
{
	bool has_dma = vm_device(copier->vm)->facts.ip[DRV_IP_DMA].rings;
	struct sdma_queues *q;
	int r = drv_check_process(vm_device(copier->vm));

	job->fence = (struct cs_fence){0};
	job->engine = has_dma && drv_config()->copy != DRV_COPY_SHADER ? SDMA_ENGINE_SDMA : SDMA_ENGINE_SHADER;
	r = r ? r : sdma_queues_get(copier, job->engine, job, &q);
	return r ? r : sdma_run_rect(q, job->engine, rect, job, &job->fence);
}

unsigned sdma_copier_fences(struct sdma_copier *copier, struct cs_fence *fences, unsigned max)
{
	unsigned count = 0;

	drv_mutex_lock(&copier->lock);
	for (unsigned i = 0; i < SDMA_QUEUES; i++)
		for (const struct sdma_queues *q = copier->queues[i]; q; q = q->older) {
			if (count < max && cs_ring_busy(q->compute))
				fences[count++] = cs_ring_last(q->compute);
			if (count < max && q->dma && cs_ring_busy(q->dma))
				fences[count++] = cs_ring_last(q->dma);
		}
	drv_mutex_unlock(&copier->lock);
	return count;
}

void sdma_copier_check(struct sdma_copier *copier)
{
	drv_mutex_lock(&copier->lock);
	for (unsigned i = 0; i < SDMA_QUEUES; i++)
		if (is_alive(copier->queues[i]))
			(void)!cs_ctx_check_reset(copier->queues[i]->ctx);
	drv_mutex_unlock(&copier->lock);
}

int sdma_copier_upload(void *copier, uint64_t va, const void *from, uint64_t size_B)
{
	struct sdma_job job = {
		.dst = {.va = va, .place = SDMA_VRAM},
		.src = {.va = (uintptr_t)from, .place = SDMA_PAGEABLE, .cpu = true},
		.size_B = size_B,
	};
	int r = sdma_copier_copy(copier, &job);

	return r ? r : cs_fence_wait(job.fence, CS_FOREVER);
}
