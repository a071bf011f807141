/* Copies of pageable memory: the GPU cannot reach it, so data goes through pinned slots, which the CPU and the
 * engine use in turn. */
#include <errno.h>
#include <string.h>

#include "drv/lock.h"
#include "sdma/internal.h"

static uint64_t slot_size_B(void)
{
	return drv_config()->staging_KiB * 1024ull;
}

/* Gets the next slot, after its last job has ended. */
static int slot_get(struct sdma_copier *copier, struct sdma_slot **out)
{
	struct vm_info info = {.size_B = slot_size_B(), .kind = VM_GTT, .flags = VM_CPU | VM_RESIDENT};
	struct sdma_slot *slot = &copier->slot[copier->next++ % SDMA_SLOTS];
	int r = 0;

	if (!slot->mem)
		r = vm_mem_create(copier->vm, &info, &slot->mem);
	else
		cs_fence_retire(slot->busy);
	*out = slot;
	return r;
}

static uint64_t part_B(const struct sdma_job *job, uint64_t done_B)
{
	uint64_t left_B = job->size_B - done_B;

	return left_B < slot_size_B() ? left_B : slot_size_B();
}

static int stage_in(struct sdma_copier *copier, const struct sdma_queues *q, enum sdma_engine engine,
		    struct sdma_job *job)
{
	int r = 0;

	for (uint64_t done_B = 0, now_B; !r && done_B < job->size_B; done_B += now_B) {
		struct sdma_op op = {.dst = job->dst.va + done_B, .size_B = now_B = part_B(job, done_B)};
		struct sdma_slot *slot;

		r = slot_get(copier, &slot);
		if (r)
			break;
		memcpy(slot->mem->map, (const void *)(uintptr_t)(job->src.va + done_B), now_B);
		op.src = slot->mem->va;
		/* Jobs of one ring start in order: only the first has to wait for the caller's fences. */
		r = sdma_run(q, engine, &op, job->after, done_B ? 0 : job->after_count, &job->fence);
		slot->busy = job->fence;
	}
	/* The caller has no fence to wait for: the parts before end here. */
	if (r)
		cs_fence_retire(job->fence);
	return r;
}

int sdma_stage_in(struct sdma_copier *copier, const struct sdma_queues *q, enum sdma_engine engine,
		  struct sdma_job *job)
{
	int r;

	drv_mutex_lock(&copier->slot_lock);
	r = stage_in(copier, q, engine, job);
	drv_mutex_unlock(&copier->slot_lock);
	return r;
}

/* A part in a slot: the GPU copies it there, and the CPU then copies it to the caller. */
struct part {
	struct sdma_slot *slot;
	uint64_t at_B, size_B;
};

static int part_finish(const struct sdma_job *job, const struct part *part)
{
	int r = cs_fence_wait(part->slot->busy, CS_FOREVER);

	if (!r)
		memcpy((void *)(uintptr_t)(job->dst.va + part->at_B), part->slot->mem->map, part->size_B);
	return r;
}

static int stage_out(struct sdma_copier *copier, const struct sdma_queues *q, enum sdma_engine engine,
		     struct sdma_job *job)
{
	struct part part[SDMA_SLOTS];
	uint64_t started_B = 0;
	unsigned head = 0, tail = 0;
	int r = 0;

	/* Keeps all slots but one in use by the engine, so that it works while the CPU copies. */
	while (!r && (started_B < job->size_B || tail < head)) {
		struct part *p = &part[head % SDMA_SLOTS];
		struct sdma_op op = {.src = job->src.va + started_B, .size_B = part_B(job, started_B)};

		if (started_B == job->size_B || head - tail == SDMA_SLOTS - 1) {
			r = part_finish(job, &part[tail++ % SDMA_SLOTS]);
			continue;
		}
		r = slot_get(copier, &p->slot);
		if (r)
			break;
		op.dst = p->slot->mem->va;
		r = sdma_run(q, engine, &op, job->after, started_B ? 0 : job->after_count, &p->slot->busy);
		p->at_B = started_B;
		p->size_B = op.size_B;
		started_B += op.size_B;
		head += !r;
	}
	/* A ring ends its jobs in order: the last part's end is that of all. */
	if (r && head)
		cs_fence_retire(part[(head - 1) % SDMA_SLOTS].slot->busy);
	return r;
}

int sdma_stage_out(struct sdma_copier *copier, const struct sdma_queues *q, enum sdma_engine engine,
		   struct sdma_job *job)
{
	int r;

	drv_mutex_lock(&copier->slot_lock);
	r = stage_out(copier, q, engine, job);
	drv_mutex_unlock(&copier->slot_lock);
	return r;
}
