/* Copies in a flow's order (interface.h): looks up both ends, and provides memory that the engines need until the
 * copy has ended. */
#include <errno.h>
#include <stdlib.h>

#include "hsa/copy/copies.h"
#include "hsa/queue/queue.h"
#include "vm/host.h"

/* Resources that a flow's copy uses until its end. */
struct copy_resources {
	struct rt *rt;
	struct rt_shared stage;       /* owned: between two GPUs without access to each other */
	struct vm_mem *registered[2]; /* owned: pageable ends */
	struct rt_deferred_free deferred;
};

static void resources_free(struct rt_deferred_free *deferred)
{
	struct copy_resources *l = vm_container(deferred, struct copy_resources, deferred);

	vm_mem_destroy(l->registered[0]);
	vm_mem_destroy(l->registered[1]);
	rt_shared_destroy(&l->stage);
	free(l);
}

/* Defers the free of the resources, after the copies were submitted, until work that may list or use them has
 * ended. */
static void resources_defer_free(void *resources)
{
	struct copy_resources *l = resources;

	/* The program may unmap its memory as soon as it sees the copy's completion. */
	for (unsigned i = 0; i < 2; i++)
		if (l->registered[i])
			vm_mem_unlist(l->registered[i]);
	rt_shared_unlist(&l->stage);
	l->deferred.end = resources_free;
	rt_defer_free(l->rt, rt_all_gpus(l->rt), &l->deferred);
}

/* The operation's resources, created if there are none. NULL: no memory. */
static struct copy_resources *resources_of(struct rt *rt, struct flow_op *op)
{
	struct copy_resources *l = op->user ? op->user : calloc(1, sizeof(*l));

	if (!l) {
		drv_fail(-ENOMEM, "no host memory for a copy");
		return NULL;
	}
	l->rt = rt;
	op->end = resources_defer_free;
	op->user = l;
	return l;
}

/* Registers a pageable end, so that no thread waits for staging. */
static int register_end(struct rt *rt, struct rt_gpu *gpu, struct flow_op *op, unsigned which, uint64_t size_B)
{
	struct sdma_end *end = which ? &op->copy.job[0].src : &op->copy.job[0].dst;
	struct copy_resources *l;

	if (end->place != SDMA_PAGEABLE)
		return 0;
	l = resources_of(rt, op);
	return l ? rt_copy_register(gpu, end, size_B, !which, &l->registered[which]) : -ENOMEM;
}

static int reach_both(struct rt *rt, struct rt_gpu *gpu, const struct rt_operand *dst, const struct rt_operand *src,
		      struct flow_op *op)
{
	struct sdma_job *job = &op->copy.job[0];
	int r;

	op->copy.copier[0] = gpu->copier;
	if (!rt_operand_end(rt, dst, gpu, HSA_ACCESS_PERMISSION_WO, &job->dst) ||
	    !rt_operand_end(rt, src, gpu, HSA_ACCESS_PERMISSION_RO, &job->src))
		return drv_fail(-EXDEV, "no GPU reaches both ends of the copy");
	r = register_end(rt, gpu, op, 0, dst->size_B);
	return r ? r : register_end(rt, gpu, op, 1, src->size_B);
}

static int plan_through(struct rt *rt, struct rt_gpu *from, struct rt_gpu *to, const struct rt_operand *dst,
			const struct rt_operand *src, struct flow_op *op)
{
	struct copy_resources *l = resources_of(rt, op);
	struct sdma_job *first = &op->copy.job[0], *second = &op->copy.job[1];
	int r = l ? rt_shared_create(rt, dst->size_B, VM_UNCACHED, &l->stage) : -ENOMEM;

	if (r)
		return r;
	if (!rt_operand_end(rt, src, from, HSA_ACCESS_PERMISSION_RO, &first->src) ||
	    !rt_operand_end(rt, dst, to, HSA_ACCESS_PERMISSION_WO, &second->dst))
		return drv_fail(-EXDEV, "no GPU reaches one end of the copy");
	first->dst = second->src = (struct sdma_end){.va = (uintptr_t)l->stage.map, .place = SDMA_GTT, .cpu = true};
	op->copy.copier[0] = from->copier;
	op->copy.copier[1] = to->copier;
	second->size_B = dst->size_B;
	return 0;
}

static int plan_bytes(struct rt_flow *f, const struct rt_copy *c, struct flow_op *op)
{
	struct rt_gpu *source, *target, *gpu;
	struct rt_operand dst, src;

	rt_operand_find(f->rt, c->dst, c->size_B, &dst);
	rt_operand_find(f->rt, c->src, c->size_B, &src);
	source = rt_operand_gpu(f->rt, &src, HSA_ACCESS_PERMISSION_RO);
	target = rt_operand_gpu(f->rt, &dst, HSA_ACCESS_PERMISSION_WO);
	gpu = source ? source : target ? target : f->gpu;
	op->copy.job[0].size_B = c->size_B;
	if (target && target != gpu && !rt_operand_reach(f->rt, &dst, gpu, HSA_ACCESS_PERMISSION_WO)) {
		if (source && !rt_operand_reach(f->rt, &src, target, HSA_ACCESS_PERMISSION_RO))
			return plan_through(f->rt, gpu, target, &dst, &src, op);
		gpu = target;
	}
	return reach_both(f->rt, gpu, &dst, &src, op);
}

/* Size in bytes from the first byte to the last. */
static uint64_t rect_B(const struct sdma_rect *r, uint64_t pitch_B, uint64_t slice_B)
{
	return (r->slices - 1) * slice_B + (r->rows - 1) * pitch_B + r->row_B;
}

static int plan_rect(struct rt_flow *f, const struct rt_copy *c, struct flow_op *op)
{
	struct rt_gpu *gpu = rt_gpu_of(f->rt, c->agent);
	const struct sdma_rect *rect = &c->rect;
	struct sdma_job *job = &op->copy.job[0];
	struct rt_operand dst, src;
	int r;

	if (!gpu)
		return drv_fail(-EINVAL, "no GPU for a rectangle");
	rt_operand_find(f->rt, c->dst, rect_B(rect, rect->dst_pitch_B, rect->dst_slice_B), &dst);
	rt_operand_find(f->rt, c->src, rect_B(rect, rect->src_pitch_B, rect->src_slice_B), &src);
	r = reach_both(f->rt, gpu, &dst, &src, op);
	op->copy.rect = *rect;
	op->copy.rect.dst = job->dst.va;
	op->copy.rect.src = job->src.va;
	return r;
}

/* Makes the engine write the copy's times into the signal, which the flow completes after the copy. */
static void time_copy(const struct rt_flow *f, const struct rt_copy *c, struct flow_op *op)
{
	struct rt_signal *signal = rt_signal_of(f->rt, c->completion);
	amd_signal_t *memory = rt_signal_memory(c->completion);

	if (!signal || op->copy.copier[1])
		return;
	op->copy.job[0].start_va = (uintptr_t)&memory->start_ts;
	op->copy.job[0].end_va = (uintptr_t)&memory->end_ts;
	for (unsigned i = 0; i < f->rt->gpus; i++)
		if (f->rt->gpu[i]->copier == op->copy.copier[0])
			atomic_store(&signal->clock, f->rt->gpu[i]->agent);
}

static int complete_copy(struct flow *flow, hsa_signal_t completion)
{
	const struct flow_op op = {
		.kind = FLOW_BARRIER,
		.header = 1u << HSA_PACKET_HEADER_BARRIER | HSA_FENCE_SCOPE_SYSTEM
								    << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
		.completion = completion.handle,
	};

	return flow_submit(flow, &op);
}

int rt_flow_copy(struct flow *flow, const struct rt_copy *c)
{
	struct rt_flow *f = rt_flow_of(flow);
	struct flow_op op = {.kind = FLOW_COPY};
	int r = c->size_B ? plan_bytes(f, c, &op) : plan_rect(f, c, &op);

	if (r) {
		if (op.end)
			op.end(op.user);
		return r;
	}
	if (c->completion.handle)
		time_copy(f, c, &op);
	r = flow_submit(flow, &op);
	return r || !c->completion.handle ? r : complete_copy(flow, c->completion);
}
