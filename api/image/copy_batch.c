/* Lists of copies, and boxes between devices (HIP 7). */
#include "api/base/entry.h"
#include "api/image/image.h"

#if TUFF_HIP_ABI >= 7
/* CLR's rule: without attributes only. */
HIP_PUBLIC(hipMemcpyBatchAsync,
	   (void **dst, void **src, size_t *size, size_t count, hipMemcpyAttributes *attributes, size_t *index,
	    size_t attribute_count, size_t *failed, hipStream_t stream),
	   (dst, src, size, count, attributes, index, attribute_count, failed, stream))
{
	hipError_t r = hipSuccess;
	size_t i;

	(void)attributes, (void)index;
	if (!dst || !src || !size || !count || !failed)
		return hipErrorInvalidValue;
	if (attribute_count)
		return hipErrorNotSupported;
	for (i = 0; i < count && !r; i++)
		r = hipMemcpyAsync(dst[i], src[i], size[i], hipMemcpyDefault, stream);
	*failed = r ? i - 1 : SIZE_MAX;
	return r;
}

/* One side of a box: an array, or memory. False: neither. */
static bool side_of(const hipMemcpy3DOperand *o, const hipMemcpy3DBatchOp *op, hipArray_t *array, hipPos *pos,
		    hipPitchedPtr *ptr)
{
	const size_t row_B = o->op.ptr.rowLength ? o->op.ptr.rowLength : op->extent.width;
	const size_t rows = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : op->extent.height;

	if (o->type == hipMemcpyOperandTypeArray) {
		*array = o->op.array.array;
		*pos = (hipPos){o->op.array.offset.x, o->op.array.offset.y, o->op.array.offset.z};
		return true;
	}
	*ptr = (hipPitchedPtr){o->op.ptr.ptr, row_B, row_B, rows};
	return o->type == hipMemcpyOperandTypePointer;
}

static hipError_t copy_one(const hipMemcpy3DBatchOp *op, hipStream_t stream)
{
	hipMemcpy3DParms p = {.extent = op->extent, .kind = hipMemcpyDefault};

	if (!side_of(&op->src, op, &p.srcArray, &p.srcPos, &p.srcPtr) ||
	    !side_of(&op->dst, op, &p.dstArray, &p.dstPos, &p.dstPtr))
		return hipErrorInvalidValue;
	return hipMemcpy3DAsync(&p, stream);
}

HIP_PUBLIC(hipMemcpy3DBatchAsync,
	   (size_t count, hipMemcpy3DBatchOp *list, size_t *failed, unsigned long long flags, hipStream_t stream),
	   (count, list, failed, flags, stream))
{
	hipError_t r = hipSuccess;
	size_t i;

	if (!count || !list || !failed || flags)
		return hipErrorInvalidValue;
	for (i = 0; i < count && !r; i++)
		r = copy_one(&list[i], stream);
	*failed = r ? i - 1 : SIZE_MAX;
	return r;
}

static hipError_t plain_of(const hipMemcpy3DPeerParms *p, hipMemcpy3DParms *plain)
{
	if (!p)
		return hipErrorInvalidValue;
	if (!hip_device_of(p->srcDevice) || !hip_device_of(p->dstDevice))
		return hipErrorInvalidDevice;
	*plain = (hipMemcpy3DParms){p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
				    p->dstPos,   p->dstPtr, p->extent, hipMemcpyDefault};
	return hipSuccess;
}

HIP_PUBLIC(hipMemcpy3DPeer, (hipMemcpy3DPeerParms *p), (p))
{
	hipMemcpy3DParms plain;
	hipError_t r = plain_of(p, &plain);

	return r ? r : hipMemcpy3D(&plain);
}

HIP_PUBLIC(hipMemcpy3DPeerAsync, (hipMemcpy3DPeerParms *p, hipStream_t stream), (p, stream))
{
	hipMemcpy3DParms plain;
	hipError_t r = plain_of(p, &plain);

	return r ? r : hipMemcpy3DAsync(&plain, stream);
}
#endif
