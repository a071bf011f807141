/* Copies and fills. Functions without a stream use the null stream, and return when the host may access its memory.
 * Functions whose names end in Async return at once if the host memory is pinned, and work in the order of the
 * stream (NULL: the null stream). Copies between two places of one device are only ordered; the host never waits
 * for them. Sizes and pitches are in bytes. Copies of 0 bytes succeed. Memory must live until the copy is
 * completed. All functions are thread safe. Errors: InvalidValue, for NULL or a range that exceeds its allocation;
 * InvalidMemcpyDirection, for an unknown kind; InvalidPitchValue, for a pitch smaller than the width. */
#ifndef HIP_API_COPY_H
#define HIP_API_COPY_H

#include <hip/api/memory.h>

HIP_API_BEGIN

/* --- one dimension ---------------------------------------------------------------------------- */

hipError_t hipMemcpy(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
			  hipStream_t stream HIP_DEFAULT_ARG(0));
/* Copies in the stream's order, and waits. */
hipError_t hipMemcpyWithStream(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
			       hipStream_t stream);
hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, void *src, size_t sizeBytes);
hipError_t hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t sizeBytes);
hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes);
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, void *src, size_t sizeBytes, hipStream_t stream);
hipError_t hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream);
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream);
/* Copies between devices, which need not be peers. Errors: InvalidDevice. */
hipError_t hipMemcpyPeer(void *dst, int dstDeviceId, const void *src, int srcDeviceId, size_t sizeBytes);
hipError_t hipMemcpyPeerAsync(void *dst, int dstDeviceId, const void *src, int srcDevice, size_t sizeBytes,
			      hipStream_t stream HIP_DEFAULT_ARG(0));

/* --- many copies (7.1 and later) -------------------------------------------------------------- */

typedef enum hipMemcpySrcAccessOrder {
	hipMemcpySrcAccessOrderInvalid = 0,
	hipMemcpySrcAccessOrderStream = 1,
	hipMemcpySrcAccessOrderDuringApiCall = 2,
	hipMemcpySrcAccessOrderAny = 3,
	hipMemcpySrcAccessOrderMax = 0x7fffffff
} hipMemcpySrcAccessOrder;
typedef enum hipMemcpyFlags { hipMemcpyFlagDefault = 0, hipMemcpyFlagPreferOverlapWithCompute = 1 } hipMemcpyFlags;
typedef struct hipMemcpyAttributes {
	hipMemcpySrcAccessOrder srcAccessOrder;
	hipMemLocation srcLocHint;
	hipMemLocation dstLocHint;
	unsigned int flags;
} hipMemcpyAttributes;

typedef struct hipOffset3D {
	size_t x;
	size_t y;
	size_t z;
} hipOffset3D;
typedef enum hipMemcpy3DOperandType {
	hipMemcpyOperandTypePointer = 1,
	hipMemcpyOperandTypeArray = 2,
	hipMemcpyOperandTypeMax = 0x7fffffff
} hipMemcpy3DOperandType;
/* rowLength, in bytes, and layerHeight, in rows: 0 means those of the copy. */
typedef struct hipMemcpy3DOperand {
	hipMemcpy3DOperandType type;
	union {
		struct {
			void *ptr;
			size_t rowLength;
			size_t layerHeight;
			hipMemLocation locHint;
		} ptr;
		struct {
			hipArray_t array;
			hipOffset3D offset;
		} array;
	} op;
} hipMemcpy3DOperand;
typedef struct hipMemcpy3DBatchOp {
	hipMemcpy3DOperand src;
	hipMemcpy3DOperand dst;
	hipExtent extent;
	hipMemcpySrcAccessOrder srcAccessOrder;
	unsigned int flags;
} hipMemcpy3DBatchOp;
typedef struct hipMemcpy3DPeerParms {
	hipArray_t srcArray;
	hipPos srcPos;
	hipPitchedPtr srcPtr;
	int srcDevice;
	hipArray_t dstArray;
	hipPos dstPos;
	hipPitchedPtr dstPtr;
	int dstDevice;
	hipExtent extent;
} hipMemcpy3DPeerParms;

/* count copies in the order of the list, or in any. *failIdx: the first one that failed; SIZE_MAX: none. Errors: NotSupported,
 * with attributes. */
hipError_t hipMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count, hipMemcpyAttributes *attrs,
			       size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, hipStream_t stream);
hipError_t hipMemcpy3DBatchAsync(size_t numOps, hipMemcpy3DBatchOp *opList, size_t *failIdx,
				 unsigned long long flags, hipStream_t stream);
hipError_t hipMemcpy3DPeer(hipMemcpy3DPeerParms *p);
hipError_t hipMemcpy3DPeerAsync(hipMemcpy3DPeerParms *p, hipStream_t stream HIP_DEFAULT_ARG(0));

/* Fills of values in two dimensions (7.1 and later). width: in values; pitch: in bytes. */
hipError_t hipMemsetD2D8(hipDeviceptr_t dst, size_t dstPitch, unsigned char value, size_t width, size_t height);
hipError_t hipMemsetD2D8Async(hipDeviceptr_t dst, size_t dstPitch, unsigned char value, size_t width, size_t height,
			      hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemsetD2D16(hipDeviceptr_t dst, size_t dstPitch, unsigned short value, size_t width, size_t height);
hipError_t hipMemsetD2D16Async(hipDeviceptr_t dst, size_t dstPitch, unsigned short value, size_t width,
			       size_t height, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemsetD2D32(hipDeviceptr_t dst, size_t dstPitch, unsigned int value, size_t width, size_t height);
hipError_t hipMemsetD2D32Async(hipDeviceptr_t dst, size_t dstPitch, unsigned int value, size_t width, size_t height,
			       hipStream_t stream HIP_DEFAULT_ARG(0));

/* --- two and three dimensions ----------------------------------------------------------------- */

/* width is in bytes, height in rows. */
hipError_t hipMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
		       hipMemcpyKind kind);
hipError_t hipMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
			    hipMemcpyKind kind, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemcpyParam2D(const hip_Memcpy2D *pCopy);
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *pCopy, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *pCopy);
hipError_t hipMemcpy3D(const hipMemcpy3DParms *p);
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *p, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *pCopy);
hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *pCopy, hipStream_t stream);

/* --- arrays ----------------------------------------------------------------------------------- */

/* wOffset is in bytes, hOffset in rows. */
hipError_t hipMemcpy2DToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
			      size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy2DToArrayAsync(hipArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
				   size_t width, size_t height, hipMemcpyKind kind,
				   hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemcpy2DFromArray(void *dst, size_t dpitch, hipArray_const_t src, size_t wOffset, size_t hOffset,
				size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy2DFromArrayAsync(void *dst, size_t dpitch, hipArray_const_t src, size_t wOffset, size_t hOffset,
				     size_t width, size_t height, hipMemcpyKind kind,
				     hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemcpy2DArrayToArray(hipArray_t dst, size_t wOffsetDst, size_t hOffsetDst, hipArray_const_t src,
				   size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
				   hipMemcpyKind kind);
HIP_DEPRECATED hipError_t hipMemcpyToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void *src,
					   size_t count, hipMemcpyKind kind);
HIP_DEPRECATED hipError_t hipMemcpyFromArray(void *dst, hipArray_const_t srcArray, size_t wOffset, size_t hOffset,
					     size_t count, hipMemcpyKind kind);
/* Offsets are in bytes, in arrays of one dimension. */
hipError_t hipMemcpyAtoH(void *dst, hipArray_t srcArray, size_t srcOffset, size_t count);
hipError_t hipMemcpyHtoA(hipArray_t dstArray, size_t dstOffset, const void *srcHost, size_t count);
hipError_t hipMemcpyAtoHAsync(void *dstHost, hipArray_t srcArray, size_t srcOffset, size_t ByteCount,
			      hipStream_t stream);
hipError_t hipMemcpyHtoAAsync(hipArray_t dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
			      hipStream_t stream);
hipError_t hipMemcpyAtoD(hipDeviceptr_t dstDevice, hipArray_t srcArray, size_t srcOffset, size_t ByteCount);
hipError_t hipMemcpyDtoA(hipArray_t dstArray, size_t dstOffset, hipDeviceptr_t srcDevice, size_t ByteCount);
hipError_t hipMemcpyAtoA(hipArray_t dstArray, size_t dstOffset, hipArray_t srcArray, size_t srcOffset,
			 size_t ByteCount);

/* --- variables of kernels --------------------------------------------------------------------- */

/* symbol: the address of the variable in host code. Errors: InvalidSymbol, when no device variable has that
 * address. */
hipError_t hipMemcpyToSymbol(const void *symbol, const void *src, size_t sizeBytes,
			     size_t offset HIP_DEFAULT_ARG(0),
			     hipMemcpyKind kind HIP_DEFAULT_ARG(hipMemcpyHostToDevice));
hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *src, size_t sizeBytes, size_t offset,
				  hipMemcpyKind kind, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemcpyFromSymbol(void *dst, const void *symbol, size_t sizeBytes, size_t offset HIP_DEFAULT_ARG(0),
			       hipMemcpyKind kind HIP_DEFAULT_ARG(hipMemcpyDeviceToHost));
hipError_t hipMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t sizeBytes, size_t offset,
				    hipMemcpyKind kind, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipGetSymbolAddress(void **devPtr, const void *symbol);
hipError_t hipGetSymbolSize(size_t *size, const void *symbol);

/* --- fills ------------------------------------------------------------------------------------ */

/* Fills with the low byte of value. */
hipError_t hipMemset(void *dst, int value, size_t sizeBytes);
hipError_t hipMemsetAsync(void *dst, int value, size_t sizeBytes, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height);
hipError_t hipMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
			    hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemset3D(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent);
hipError_t hipMemset3DAsync(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent,
			    hipStream_t stream HIP_DEFAULT_ARG(0));
/* count is in elements. Errors: InvalidValue, when dest is not aligned to an element. */
hipError_t hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count);
hipError_t hipMemsetD8Async(hipDeviceptr_t dest, unsigned char value, size_t count,
			    hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count);
hipError_t hipMemsetD16Async(hipDeviceptr_t dest, unsigned short value, size_t count,
			     hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemsetD32(hipDeviceptr_t dest, int value, size_t count);
hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream HIP_DEFAULT_ARG(0));

HIP_API_END

#endif
