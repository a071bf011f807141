/* Stream capture: operations of streams become nodes of a graph instead of running. A capture begins in one stream
 * and spreads to streams that wait for its events; all of them must have joined the first stream again when it
 * ends. Calls that would wait for captured streams return a StreamCapture error and invalidate the capture:
 * EndCapture then returns StreamCaptureInvalidated. All functions are thread safe. */
#ifndef HIP_API_CAPTURE_H
#define HIP_API_CAPTURE_H

#include <hip/api/graph_types.h>

/* Selects the threads that must not make calls that are unsafe during a capture, such as hipMalloc(): any thread;
 * the capturing thread; none. */
typedef enum hipStreamCaptureMode {
	hipStreamCaptureModeGlobal = 0,
	hipStreamCaptureModeThreadLocal = 1,
	hipStreamCaptureModeRelaxed = 2
} hipStreamCaptureMode;
typedef enum hipStreamCaptureStatus {
	hipStreamCaptureStatusNone = 0,
	hipStreamCaptureStatusActive = 1,
	hipStreamCaptureStatusInvalidated = 2
} hipStreamCaptureStatus;
typedef enum hipStreamUpdateCaptureDependenciesFlags {
	hipStreamAddCaptureDependencies = 0,
	hipStreamSetCaptureDependencies = 1
} hipStreamUpdateCaptureDependenciesFlags;

HIP_API_BEGIN

/* Errors: StreamCaptureUnsupported, for the null stream; IllegalState, when the stream captures already. */
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
/* Adds the nodes to an existing graph, after the given nodes. dependencyData: NULL, or as many edges. */
hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *dependencies,
					const hipGraphEdgeData *dependencyData, size_t numDependencies,
					hipStreamCaptureMode mode);
/* The graph belongs to the caller. Errors: StreamCaptureUnmatched, when the capture began in another stream;
 * StreamCaptureUnjoined, when a stream has not joined; StreamCaptureWrongThread. */
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph);
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus);
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
				   unsigned long long *pId);
/* Each result may be NULL. *dependencies_out belongs to the library, and is valid until the stream's next call. */
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
				      unsigned long long *id_out HIP_DEFAULT_ARG(0),
				      hipGraph_t *graph_out HIP_DEFAULT_ARG(0),
				      const hipGraphNode_t **dependencies_out HIP_DEFAULT_ARG(0),
				      size_t *numDependencies_out HIP_DEFAULT_ARG(0));
/* Adds nodes that the stream's next node waits for, or replaces them. */
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies,
					      size_t numDependencies, unsigned int flags HIP_DEFAULT_ARG(0));
/* Exchanges the thread's mode and *mode. */
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode);

HIP_API_END

#endif
