/* Capture: what is put into streams becomes a graph instead of running.
 *
 * It begins in one stream and spreads to streams that wait for its events; all must have been joined again when it
 * ends. Calls that would wait for the captured streams fail with a StreamCapture error, and the capture is lost:
 * EndCapture then gives StreamCaptureInvalidated. All functions are thread safe. */
#ifndef HIP_API_CAPTURE_H
#define HIP_API_CAPTURE_H

#include <hip/api/graph_types.h>

/* Which threads may not call what a capture does not stand, as hipMalloc(): any; the one that captures; none. */
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

/* StreamCaptureUnsupported: the null stream. IllegalState: it captures already. */
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
/* The nodes go into a graph that exists, after the given nodes; dependencyData: NULL or as many edges. */
hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *dependencies,
					const hipGraphEdgeData *dependencyData, size_t numDependencies,
					hipStreamCaptureMode mode);
/* The graph is the caller's. StreamCaptureUnmatched: not the stream where it began; StreamCaptureUnjoined: a stream
 * is out still; StreamCaptureWrongThread. */
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph);
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus);
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
				   unsigned long long *pId);
/* Each result may be NULL. *dependencies_out is the library's, until the stream's next call. */
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
				      unsigned long long *id_out HIP_DEFAULT_ARG(0),
				      hipGraph_t *graph_out HIP_DEFAULT_ARG(0),
				      const hipGraphNode_t **dependencies_out HIP_DEFAULT_ARG(0),
				      size_t *numDependencies_out HIP_DEFAULT_ARG(0));
/* What the stream's next node waits for: these, too, or these alone. */
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies,
					      size_t numDependencies, unsigned int flags HIP_DEFAULT_ARG(0));
/* The thread's mode and *mode change places. */
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode);

HIP_API_END

#endif
