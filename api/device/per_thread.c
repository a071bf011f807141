/* Functions with the suffix _spt: NULL means the calling thread's own stream. */
#include "api/base/entry.h"

static hipStream_t own_stream(hipStream_t stream)
{
	return stream ? stream : hipStreamPerThread;
}

/* Functions with a stream parameter. */
#define WITH_STREAM(name, parameters, ...)                                                                         \
	hipError_t name##_spt parameters                                                                           \
	{                                                                                                          \
		return name(__VA_ARGS__);                                                                          \
	}
WITH_STREAM(hipMemcpyAsync, (void *dst, const void *src, size_t size, hipMemcpyKind kind, hipStream_t stream), dst,
	    src, size, kind, own_stream(stream))
WITH_STREAM(hipMemcpy2DAsync,
	    (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
	     hipMemcpyKind kind, hipStream_t stream),
	    dst, dst_pitch, src, src_pitch, width, height, kind, own_stream(stream))
WITH_STREAM(hipMemcpy3DAsync, (const hipMemcpy3DParms *p, hipStream_t stream), p, own_stream(stream))
WITH_STREAM(hipMemcpy2DToArrayAsync,
	    (hipArray_t dst, size_t x_B, size_t y, const void *src, size_t pitch, size_t width, size_t height,
	     hipMemcpyKind kind, hipStream_t stream),
	    dst, x_B, y, src, pitch, width, height, kind, own_stream(stream))
WITH_STREAM(hipMemcpy2DFromArrayAsync,
	    (void *dst, size_t pitch, hipArray_const_t src, size_t x_B, size_t y, size_t width, size_t height,
	     hipMemcpyKind kind, hipStream_t stream),
	    dst, pitch, src, x_B, y, width, height, kind, own_stream(stream))
WITH_STREAM(hipMemcpyToSymbolAsync,
	    (const void *symbol, const void *src, size_t size, size_t offset, hipMemcpyKind kind,
	     hipStream_t stream),
	    symbol, src, size, offset, kind, own_stream(stream))
WITH_STREAM(hipMemcpyFromSymbolAsync,
	    (void *dst, const void *symbol, size_t size, size_t offset, hipMemcpyKind kind, hipStream_t stream),
	    dst, symbol, size, offset, kind, own_stream(stream))
WITH_STREAM(hipMemsetAsync, (void *dst, int value, size_t size, hipStream_t stream), dst, value, size,
	    own_stream(stream))
WITH_STREAM(hipMemset2DAsync, (void *dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream),
	    dst, pitch, value, width, height, own_stream(stream))
WITH_STREAM(hipMemset3DAsync, (hipPitchedPtr dst, int value, hipExtent extent, hipStream_t stream), dst, value,
	    extent, own_stream(stream))
WITH_STREAM(hipStreamQuery, (hipStream_t stream), own_stream(stream))
WITH_STREAM(hipStreamSynchronize, (hipStream_t stream), own_stream(stream))
WITH_STREAM(hipStreamGetPriority, (hipStream_t stream, int *priority), own_stream(stream), priority)
WITH_STREAM(hipStreamGetFlags, (hipStream_t stream, unsigned int *flags), own_stream(stream), flags)
WITH_STREAM(hipStreamWaitEvent, (hipStream_t stream, hipEvent_t event, unsigned int flags), own_stream(stream),
	    event, flags)
WITH_STREAM(hipStreamAddCallback,
	    (hipStream_t stream, hipStreamCallback_t callback, void *data, unsigned int flags), own_stream(stream),
	    callback, data, flags)
WITH_STREAM(hipLaunchHostFunc, (hipStream_t stream, hipHostFn_t fn, void *data), own_stream(stream), fn, data)
WITH_STREAM(hipEventRecord, (hipEvent_t event, hipStream_t stream), event, own_stream(stream))
WITH_STREAM(hipLaunchKernel,
	    (const void *function, dim3 blocks, dim3 threads, void **args, size_t lds_B, hipStream_t stream),
	    function, blocks, threads, args, lds_B, own_stream(stream))
WITH_STREAM(hipLaunchCooperativeKernel,
	    (const void *function, dim3 blocks, dim3 threads, void **args, uint32_t lds_B, hipStream_t stream),
	    function, blocks, threads, args, lds_B, own_stream(stream))

/* Functions that wait: the asynchronous function, then a wait for the stream. */
#define WITHOUT_STREAM(name, parameters, ...)                                                                      \
	hipError_t name##_spt parameters                                                                           \
	{                                                                                                          \
		hipError_t r = name##Async(__VA_ARGS__, hipStreamPerThread);                                       \
		return r ? r : hipStreamSynchronize(hipStreamPerThread);                                           \
	}
WITHOUT_STREAM(hipMemcpy, (void *dst, const void *src, size_t size, hipMemcpyKind kind), dst, src, size, kind)
WITHOUT_STREAM(hipMemcpy2D,
	       (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
		hipMemcpyKind kind),
	       dst, dst_pitch, src, src_pitch, width, height, kind)
WITHOUT_STREAM(hipMemcpy3D, (const hipMemcpy3DParms *p), p)
WITHOUT_STREAM(hipMemcpy2DToArray,
	       (hipArray_t dst, size_t x_B, size_t y, const void *src, size_t pitch, size_t width, size_t height,
		hipMemcpyKind kind),
	       dst, x_B, y, src, pitch, width, height, kind)
WITHOUT_STREAM(hipMemcpy2DFromArray,
	       (void *dst, size_t pitch, hipArray_const_t src, size_t x_B, size_t y, size_t width, size_t height,
		hipMemcpyKind kind),
	       dst, pitch, src, x_B, y, width, height, kind)
WITHOUT_STREAM(hipMemcpyToSymbol,
	       (const void *symbol, const void *src, size_t size, size_t offset, hipMemcpyKind kind), symbol, src,
	       size, offset, kind)
WITHOUT_STREAM(hipMemcpyFromSymbol, (void *dst, const void *symbol, size_t size, size_t offset, hipMemcpyKind kind),
	       dst, symbol, size, offset, kind)
WITHOUT_STREAM(hipMemset, (void *dst, int value, size_t size), dst, value, size)
WITHOUT_STREAM(hipMemset2D, (void *dst, size_t pitch, int value, size_t width, size_t height), dst, pitch, value,
	       width, height)
WITHOUT_STREAM(hipMemset3D, (hipPitchedPtr dst, int value, hipExtent extent), dst, value, extent)

/* --- capture and graphs ----------------------------------------------------------------------- */

WITH_STREAM(hipStreamBeginCapture, (hipStream_t stream, hipStreamCaptureMode mode), own_stream(stream), mode)
WITH_STREAM(hipStreamEndCapture, (hipStream_t stream, hipGraph_t *graph), own_stream(stream), graph)
WITH_STREAM(hipStreamIsCapturing, (hipStream_t stream, hipStreamCaptureStatus *status), own_stream(stream), status)
WITH_STREAM(hipStreamGetCaptureInfo, (hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id),
	    own_stream(stream), status, id)
WITH_STREAM(hipStreamGetCaptureInfo_v2,
	    (hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id, hipGraph_t *graph,
	     const hipGraphNode_t **nodes, size_t *count),
	    own_stream(stream), status, id, graph, nodes, count)
WITH_STREAM(hipGraphLaunch, (hipGraphExec_t exec, hipStream_t stream), exec, own_stream(stream))
