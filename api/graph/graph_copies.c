/* Graph nodes for copies and fills. */
#include "api/graph/graph.h"
#include "api/image/image.h"

/* --- linear copies ---------------------------------------------------------------------------- */

static bool is_pageable(const void *address)
{
	struct hip_memory memory;

	return !hip_memory_find(address, &memory);
}

/* CLR's rule: only one direction is right between pageable memory and other memory. */
static bool is_direction(const void *dst, const void *src, hipMemcpyKind kind)
{
	const bool to = is_pageable(dst), from = is_pageable(src);

	return to == from || kind == hipMemcpyDefault ||
	       kind == (to ? hipMemcpyDeviceToHost : hipMemcpyHostToDevice);
}

static hipError_t copy_work(struct hip_work *w, void *dst, const void *src, size_t size_B, hipMemcpyKind kind)
{
	const struct hip_op op = {.kind = &hip_op_copy, .copy = {dst, src, size_B, kind}};
	hipError_t r = dst && src && size_B ? hip_copy_check(&op.copy) : hipErrorInvalidValue;

	if (!r && !is_direction(dst, src, kind))
		r = hipErrorInvalidValue;
	return r ? r : hip_work_of_op(w, &op);
}

/* Replaces the work of a node. CLR refuses an empty copy here. */
static hipError_t other_copy(hipError_t made, const struct hip_work *w)
{
	return !made && w->op.copy.dst == w->op.copy.src ? hipErrorInvalidValue : made;
}

static hipError_t from_symbol(struct hip_work *w, void *dst, const void *symbol, size_t size_B, size_t offset_B,
			      hipMemcpyKind kind)
{
	char *place;
	hipError_t r = hip_symbol_place(symbol, size_B, offset_B, &place);

	return r ? r : copy_work(w, dst, place, size_B, kind);
}

static hipError_t to_symbol(struct hip_work *w, const void *symbol, const void *src, size_t size_B, size_t offset_B,
			    hipMemcpyKind kind)
{
	char *place;
	hipError_t r = hip_symbol_place(symbol, size_B, offset_B, &place);

	return r ? r : copy_work(w, place, src, size_B, kind);
}

/* CLR returns InvalidValue for every error of an instance's copy, except for an unknown variable. */
static hipError_t for_instance(hipError_t made)
{
	return made == hipErrorInvalidMemcpyDirection || made == hipErrorInvalidPitchValue ? hipErrorInvalidValue
											   : made;
}

/* The three public functions for each form of a copy's parameters. */
#define COPIES(suffix, make, parameters, arguments)                                                                \
	HIP_PUBLIC(hipGraphAddMemcpyNode##suffix,                                                                  \
		   (hipGraphNode_t * out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,            \
		    HIP_UNPACK parameters),                                                                        \
		   (out, graph, before, count, HIP_UNPACK arguments))                                              \
	{                                                                                                          \
		struct hip_work w;                                                                                 \
                                                                                                                   \
		return hip_node_add(out, graph, before, count, make(&w, HIP_UNPACK arguments), &w);                \
	}                                                                                                          \
	HIP_PUBLIC(hipGraphMemcpyNodeSetParams##suffix, (hipGraphNode_t node, HIP_UNPACK parameters),              \
		   (node, HIP_UNPACK arguments))                                                                   \
	{                                                                                                          \
		struct hip_work w;                                                                                 \
                                                                                                                   \
		return hip_node_set(node, other_copy(make(&w, HIP_UNPACK arguments), &w), &w);                     \
	}                                                                                                          \
	HIP_PUBLIC(hipGraphExecMemcpyNodeSetParams##suffix,                                                        \
		   (hipGraphExec_t exec, hipGraphNode_t node, HIP_UNPACK parameters),                              \
		   (exec, node, HIP_UNPACK arguments))                                                             \
	{                                                                                                          \
		struct hip_work w;                                                                                 \
                                                                                                                   \
		return hip_exec_set(exec, node, for_instance(other_copy(make(&w, HIP_UNPACK arguments), &w)), &w); \
	}
COPIES(1D, copy_work, (void *dst, const void *src, size_t size, hipMemcpyKind kind), (dst, src, size, kind))
COPIES(FromSymbol, from_symbol, (void *dst, const void *symbol, size_t size, size_t offset, hipMemcpyKind kind),
       (dst, symbol, size, offset, kind))
COPIES(ToSymbol, to_symbol, (const void *symbol, const void *src, size_t size, size_t offset, hipMemcpyKind kind),
       (symbol, src, size, offset, kind))

/* --- copies of boxes -------------------------------------------------------------------------- */

hipError_t hip_work_of_3d(struct hip_work *w, const hipMemcpy3DParms *p)
{
	struct hip_op op = {.kind = &hip_op_box};
	hipError_t r = p ? hip_box_of_3d(p, &op.box) : hipErrorInvalidValue;

	if (!r)
		r = hip_box_check(&op.box);
	if (!r)
		r = hip_work_of_op(w, &op);
	if (!r)
		w->copy = *p;
	return r;
}

HIP_PUBLIC(hipGraphAddMemcpyNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,
	    const hipMemcpy3DParms *p),
	   (out, graph, before, count, p))
{
	struct hip_work w;

	return hip_node_add(out, graph, before, count, hip_work_of_3d(&w, p), &w);
}

HIP_PUBLIC(hipGraphMemcpyNodeSetParams, (hipGraphNode_t node, const hipMemcpy3DParms *p), (node, p))
{
	struct hip_work w;

	return hip_node_set(node, hip_work_of_3d(&w, p), &w);
}

HIP_PUBLIC(hipGraphExecMemcpyNodeSetParams, (hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms *p),
	   (exec, node, p))
{
	struct hip_work w;

	return hip_exec_set(exec, node, for_instance(hip_work_of_3d(&w, p)), &w);
}

static hipError_t get_copy(hipGraphNode_t node, hipMemcpy3DParms *p)
{
	const struct hip_node *n = hip_node_of(node);

	if (!p || !n || n->work.type != hipGraphNodeTypeMemcpy)
		return hipErrorInvalidValue;
	*p = n->work.copy;
	return hipSuccess;
}

HIP_PUBLIC_ON_GRAPH(hipGraphMemcpyNodeGetParams, (hipGraphNode_t node, hipMemcpy3DParms *p), (node, p))
{
	return get_copy(node, p);
}

/* --- the driver API --------------------------------------------------------------------------- */

/* A side. Without a pitch, rows have no gaps. */
static hipPitchedPtr pitched_of(hipMemoryType type, const void *host, hipDeviceptr_t device, size_t pitch_B,
				size_t least_B, size_t height, size_t least)
{
	return (hipPitchedPtr){type == hipMemoryTypeHost ? (void *)(uintptr_t)host : device,
			       pitch_B ? pitch_B : least_B, least_B, height ? height : least};
}

static hipError_t drv_work(struct hip_work *w, const HIP_MEMCPY3D *p)
{
	hipMemcpy3DParms q = {.kind = hipMemcpyDefault};
	hipError_t r;

	if (!p)
		return hipErrorInvalidValue;
	if (p->srcMemoryType == hipMemoryTypeArray || p->dstMemoryType == hipMemoryTypeArray)
		return hipErrorNotSupported;
	q.srcPtr = pitched_of(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcPitch,
			      p->WidthInBytes + p->srcXInBytes, p->srcHeight, p->Height + p->srcY);
	q.dstPtr = pitched_of(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstPitch,
			      p->WidthInBytes + p->dstXInBytes, p->dstHeight, p->Height + p->dstY);
	q.srcPos = (hipPos){p->srcXInBytes, p->srcY, p->srcZ};
	q.dstPos = (hipPos){p->dstXInBytes, p->dstY, p->dstZ};
	q.extent = (hipExtent){p->WidthInBytes, p->Height, p->Depth};
	r = hip_work_of_3d(w, &q);
	return r == hipErrorInvalidPitchValue ? hipErrorInvalidValue : r;
}

static hipMemoryType memory_type(const void *address)
{
	struct hip_memory memory;

	return hip_memory_find(address, &memory) && memory.kind == HIP_MEMORY_DEVICE ? hipMemoryTypeDevice
										     : hipMemoryTypeHost;
}

static hipError_t get_drv(hipGraphNode_t node, HIP_MEMCPY3D *out)
{
	hipMemcpy3DParms p;
	hipError_t r = out ? get_copy(node, &p) : hipErrorInvalidValue;

	if (r)
		return r;
	*out = (HIP_MEMCPY3D){
		.srcXInBytes = (hip_memcpy3d_size)p.srcPos.x,
		.srcY = (hip_memcpy3d_size)p.srcPos.y,
		.srcZ = (hip_memcpy3d_size)p.srcPos.z,
		.srcMemoryType = memory_type(p.srcPtr.ptr),
		.srcPitch = (hip_memcpy3d_size)p.srcPtr.pitch,
		.srcHeight = (hip_memcpy3d_size)p.srcPtr.ysize,
		.dstXInBytes = (hip_memcpy3d_size)p.dstPos.x,
		.dstY = (hip_memcpy3d_size)p.dstPos.y,
		.dstZ = (hip_memcpy3d_size)p.dstPos.z,
		.dstMemoryType = memory_type(p.dstPtr.ptr),
		.dstPitch = (hip_memcpy3d_size)p.dstPtr.pitch,
		.dstHeight = (hip_memcpy3d_size)p.dstPtr.ysize,
		.WidthInBytes = (hip_memcpy3d_size)p.extent.width,
		.Height = (hip_memcpy3d_size)p.extent.height,
		.Depth = (hip_memcpy3d_size)p.extent.depth,
	};
	if (out->srcMemoryType == hipMemoryTypeHost)
		out->srcHost = p.srcPtr.ptr;
	else
		out->srcDevice = p.srcPtr.ptr;
	if (out->dstMemoryType == hipMemoryTypeHost)
		out->dstHost = p.dstPtr.ptr;
	else
		out->dstDevice = p.dstPtr.ptr;
	return hipSuccess;
}

/* The context must be valid; its device is not used. */
static hipError_t check_context(hipCtx_t context)
{
	return !context || hip_find(HIP_CONTEXT, context) ? hipSuccess : hipErrorInvalidContext;
}

HIP_PUBLIC(hipDrvGraphAddMemcpyNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,
	    const HIP_MEMCPY3D *p, hipCtx_t context),
	   (out, graph, before, count, p, context))
{
	struct hip_work w;
	hipError_t r;

	r = context ? check_context(context) : hipErrorInvalidValue;
	return r ? r : hip_node_add(out, graph, before, count, drv_work(&w, p), &w);
}

HIP_PUBLIC(hipDrvGraphMemcpyNodeSetParams, (hipGraphNode_t node, const HIP_MEMCPY3D *p), (node, p))
{
	struct hip_work w;

	return hip_node_set(node, drv_work(&w, p), &w);
}

HIP_PUBLIC(hipDrvGraphExecMemcpyNodeSetParams,
	   (hipGraphExec_t exec, hipGraphNode_t node, const HIP_MEMCPY3D *p, hipCtx_t context),
	   (exec, node, p, context))
{
	struct hip_work w;
	hipError_t r;

	r = check_context(context);
	return r ? r : hip_exec_set(exec, node, drv_work(&w, p), &w);
}

HIP_PUBLIC_ON_GRAPH(hipDrvGraphMemcpyNodeGetParams, (hipGraphNode_t node, HIP_MEMCPY3D *p), (node, p))
{
	return get_drv(node, p);
}

/* --- fills ------------------------------------------------------------------------------------ */

hipError_t hip_work_of_memset(struct hip_work *w, const hipMemsetParams *p)
{
	struct hip_op op = {.kind = &hip_op_fill};
	struct hip_fill *f = &op.fill;
	hipError_t r;

	if (!p || !p->dst || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) || !p->height ||
	    !p->width)
		return hipErrorInvalidValue;
	*f = (struct hip_fill){.dst = p->dst, .pitch_B = p->pitch, .rows = p->height, .slices = 1};
	f->value_B = p->elementSize;
	f->value = p->elementSize == 4 ? p->value : p->value & ((1u << 8 * p->elementSize) - 1);
	if (__builtin_mul_overflow(p->width, p->elementSize, &f->row_B) || (f->rows > 1 && f->pitch_B < f->row_B))
		return hipErrorInvalidValue;
	r = hip_fill_check(f);
	return r ? r : hip_work_of_op(w, &op);
}

HIP_PUBLIC(hipGraphAddMemsetNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,
	    const hipMemsetParams *p),
	   (out, graph, before, count, p))
{
	struct hip_work w;

	return hip_node_add(out, graph, before, count, hip_work_of_memset(&w, p), &w);
}

HIP_PUBLIC(hipGraphMemsetNodeSetParams, (hipGraphNode_t node, const hipMemsetParams *p), (node, p))
{
	struct hip_work w;

	return hip_node_set(node, hip_work_of_memset(&w, p), &w);
}

HIP_PUBLIC(hipGraphExecMemsetNodeSetParams, (hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams *p),
	   (exec, node, p))
{
	struct hip_work w;

	return hip_exec_set(exec, node, hip_work_of_memset(&w, p), &w);
}

HIP_PUBLIC_ON_GRAPH(hipGraphMemsetNodeGetParams, (hipGraphNode_t node, hipMemsetParams *p), (node, p))
{
	const struct hip_fill *f;
	const struct hip_node *n;

	n = hip_node_of(node);
	if (!p || !n || n->work.type != hipGraphNodeTypeMemset)
		return hipErrorInvalidValue;
	f = &n->work.op.fill;
	*p = (hipMemsetParams){.dst = f->dst,
			       .elementSize = f->value_B,
			       .height = f->rows,
			       .pitch = f->pitch_B,
			       .value = f->value,
			       .width = f->row_B / f->value_B};
	return hipSuccess;
}

/* Its parameters have another order since HIP 7. */
#if TUFF_HIP_ABI >= 7
typedef hipMemsetParams drv_memset_params;
#else
typedef HIP_MEMSET_NODE_PARAMS drv_memset_params;
#endif

static hipError_t drv_memset_work(struct hip_work *w, const drv_memset_params *p)
{
	if (!p)
		return hipErrorInvalidValue;
	return hip_work_of_memset(w, &(hipMemsetParams){.dst = p->dst,
							.elementSize = p->elementSize,
							.height = p->height,
							.pitch = p->pitch,
							.value = p->value,
							.width = p->width});
}

HIP_PUBLIC(hipDrvGraphAddMemsetNode,
	   (hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count,
	    const drv_memset_params *p, hipCtx_t context),
	   (out, graph, before, count, p, context))
{
	struct hip_work w;
	hipError_t r;

	r = check_context(context);
	return r ? r : hip_node_add(out, graph, before, count, drv_memset_work(&w, p), &w);
}

HIP_PUBLIC(hipDrvGraphExecMemsetNodeSetParams,
	   (hipGraphExec_t exec, hipGraphNode_t node, const drv_memset_params *p, hipCtx_t context),
	   (exec, node, p, context))
{
	struct hip_work w;
	hipError_t r;

	r = check_context(context);
	return r ? r : hip_exec_set(exec, node, drv_memset_work(&w, p), &w);
}
