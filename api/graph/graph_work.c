/* The work of nodes: owned copies of operations, and their replacement. */
#include <stdlib.h>
#include <string.h>

#include "api/graph/graph_memory.h"

void hip_work_fini(struct hip_work *w)
{
	free(w->args);
	free((void *)(uintptr_t)w->allocation.accessDescs);
	hip_graph_destroy(w->child);
	hip_graph_alloc_put(w->alloc, w->instance);
	*w = (struct hip_work){0};
}

bool hip_work_lives(const struct hip_work *w)
{
	const bool of_device = w->type == hipGraphNodeTypeKernel || w->alloc;

	return !of_device || w->life == atomic_load(&hip.device[w->device].life);
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* Copies the arguments of w->op.launch, which belong to the caller. */
static hipError_t own_args(struct hip_work *w)
{
	struct hip_launch *l = &w->op.launch;
	const struct cs_kernel *k = l->kernel->cs;
	const size_t image_B = (k->explicit_B + 7) & ~(size_t)7;

	w->device = l->kernel->device->index;
	w->life = atomic_load(&l->kernel->device->life);
	w->number = l->kernel->number;
	w->args = calloc(1, image_B + (k->arg_count + 1) * sizeof(void *));
	if (!w->args)
		return hipErrorOutOfMemory;
	hip_launch_pack(l, w->args);
	w->addresses = (void **)(void *)(w->args + image_B);
	for (unsigned i = 0; i < k->arg_count; i++)
		w->addresses[i] = w->args + k->arg[i].offset_B;
	l->args = NULL;
	l->packed = w->args;
	l->packed_B = k->explicit_B;
	return hipSuccess;
}

static hipError_t own_values(struct hip_work *w)
{
	struct hip_values *v = &w->op.values;

	w->args = malloc(v->count * sizeof(*v->list));
	if (!w->args)
		return hipErrorOutOfMemory;
	memcpy(w->args, v->list, v->count * sizeof(*v->list));
	v->list = (const hipStreamBatchMemOpParams *)(const void *)w->args;
	return hipSuccess;
}

/* One block: the semaphores, then their parameters. */
static hipError_t own_semaphores(struct hip_work *w)
{
	struct hip_semaphores *l = &w->op.semaphores;
	const size_t at_B = l->count * sizeof(l->at[0]);
	const size_t params_B = l->count * (l->signal ? sizeof(l->signal[0]) : sizeof(l->wait[0]));
	const void *params = l->signal ? (const void *)l->signal : l->wait;

	w->args = malloc(at_B + params_B + 1);
	if (!w->args)
		return hipErrorOutOfMemory;
	memcpy(w->args, l->at, at_B);
	memcpy(w->args + at_B, params, params_B);
	l->at = (const hipExternalSemaphore_t *)(const void *)w->args;
	if (l->signal)
		l->signal = (const void *)(w->args + at_B);
	else
		l->wait = (const void *)(w->args + at_B);
	return hipSuccess;
}

/* Copies what the operation borrows, for a node that outlives it. */
static hipError_t own_op(struct hip_work *w)
{
	const struct hip_op_kind *kind = w->op.kind;

	if (kind == &hip_op_launch)
		return own_args(w);
	if (kind == &hip_op_values)
		return own_values(w);
	return kind == &hip_op_signal || kind == &hip_op_wait ? own_semaphores(w) : hipSuccess;
}

hipError_t hip_work_find_kernel(struct hip_work *w)
{
	const struct hip_kernel *kernel;
	hipError_t r = hip_kernel_named(w->op.launch.function, &hip.device[w->device], &kernel);

	if (r)
		return r;
	w->op.launch.kernel = kernel;
	w->number = kernel->number; /* another kernel may have the address of the one that is gone */
	return hipSuccess;
}

/* --- operations ------------------------------------------------------------------------------- */

/* Fills in the parameters that hipMemcpy3D() would have for the box. */
static void box_describe(const struct hip_box *b, hipMemcpy3DParms *p)
{
	const struct hip_side *src = &b->src, *dst = &b->dst;

	p->srcPtr = (hipPitchedPtr){src->base, src->pitch_B, b->width_B,
				    src->pitch_B ? src->slice_B / src->pitch_B : b->height};
	p->dstPtr = (hipPitchedPtr){dst->base, dst->pitch_B, b->width_B,
				    dst->pitch_B ? dst->slice_B / dst->pitch_B : b->height};
	p->extent = (hipExtent){b->width_B, b->height, b->depth};
	p->kind = b->kind;
}

static bool is_ours(const void *address)
{
	struct hip_memory memory;

	return hip_memory_find(address, &memory);
}

/* Takes down which sides of a copy are this library's memory now. */
static void sides_find(struct hip_op *op)
{
	struct hip_copy *c = &op->copy;
	struct hip_box *b = &op->box;

	if (op->kind == &hip_op_copy) {
		c->dst_ours = is_ours(c->dst);
		c->src_ours = is_ours(c->src);
	} else if (op->kind == &hip_op_box) {
		b->dst_ours = is_ours(b->dst.base);
		b->src_ours = is_ours(b->src.base);
	}
}

hipError_t hip_work_of_op(struct hip_work *w, const struct hip_op *op)
{
	const struct hip_copy *c = &op->copy;

	*w = (struct hip_work){.type = op->kind ? op->kind->node : hipGraphNodeTypeEmpty, .op = *op};
	w->cooperative = op->kind == &hip_op_launch && op->launch.cooperative;
	sides_find(&w->op);
	if (op->kind == &hip_op_box)
		box_describe(&op->box, &w->copy);
	if (op->kind == &hip_op_copy)
		box_describe(&(struct hip_box){{c->dst, c->size_B, c->size_B},
					       {(void *)(uintptr_t)c->src, c->size_B, c->size_B},
					       c->size_B,
					       1,
					       1,
					       c->kind},
			     &w->copy);
	return own_op(w);
}

hipError_t hip_work_of_child(struct hip_work *w, const struct hip_graph *g, bool named)
{
	hipError_t r = hip_graph_clone(g, named, &w->child);

	if (!r)
		w->child->embedded = true;
	return r;
}

hipError_t hip_work_copy(struct hip_work *to, const struct hip_work *from, bool named)
{
	hipError_t r = hipSuccess;

	*to = *from;
	to->args = NULL;
	to->child = NULL;
	to->alloc = NULL;
	to->allocation.accessDescs = NULL;
	to->allocation.accessDescCount = 0;
	to->instance = !named;
	if (named && (from->alloc || from->freed))
		return hipErrorNotSupported;
	if (from->alloc) {
		r = hip_graph_alloc_get(from->alloc, !named);
		to->alloc = r ? NULL : from->alloc;
	}
	if (!r && from->op.kind == &hip_op_launch)
		r = hip_work_find_kernel(to);
	if (!r)
		r = own_op(to);
	if (!r && from->child)
		r = hip_work_of_child(to, from->child, named);
	if (r)
		hip_work_fini(to);
	return r;
}

/* Exchanges the node's work and *w. */
static hipError_t work_exchange(hipGraphNode_t handle, struct hip_work *w)
{
	struct hip_work old;
	struct hip_node *n;
	hipError_t r = hipErrorInvalidValue;

	drv_mutex_lock(&hip_graphs_lock);
	n = hip_node_of(handle);
	if (n && n->work.type == w->type)
		r = w->child ? hip_graph_embed(n->graph, w->child) : hipSuccess;
	if (!r) {
		old = n->work;
		n->work = *w;
		*w = old;
	}
	drv_mutex_unlock(&hip_graphs_lock);
	return r;
}

hipError_t hip_node_set(hipGraphNode_t handle, hipError_t made, struct hip_work *w)
{
	hipError_t r;

	if (made)
		return hip_node_refuses(hip_node_of(handle), made);
	r = work_exchange(handle, w);
	hip_work_fini(w);
	return r;
}
