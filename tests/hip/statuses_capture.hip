/* Captures: begin and end, queries, and calls that they do not allow. */
#include "tests/hip/statuses.h"

static hipStream_t stream, old_stream, other_stream;
static hipStreamCaptureStatus status;
static hipEvent_t event;
static hipGraph_t graph;
static unsigned long long id;
static char *gpu, host[4096];
static void *at;

static void begin()
{
	OK(hipStreamCreate(&stream));
	OK(hipStreamCreate(&other_stream));
	OK(hipStreamCreate(&old_stream));
	OK(hipStreamDestroy(old_stream));
	OK(hipEventCreate(&event));
	OK(hipMalloc((void **)&gpu, 4096));
}

static void asked()
{
	hipStreamCaptureMode mode = (hipStreamCaptureMode)3;

	IS(hipErrorInvalidValue, hipThreadExchangeStreamCaptureMode(NULL));
	IS(hipErrorInvalidValue, hipThreadExchangeStreamCaptureMode(&mode));
	mode = (hipStreamCaptureMode)-1;
	IS(hipErrorInvalidValue, hipThreadExchangeStreamCaptureMode(&mode));
	IS(hipErrorInvalidValue, hipStreamIsCapturing(stream, NULL));
	IS(hipErrorInvalidValue, hipStreamIsCapturing(old_stream, NULL));
	IS(hipErrorContextIsDestroyed, hipStreamIsCapturing(old_stream, &status));
	OK(hipStreamIsCapturing(NULL, &status));
	IS(hipErrorInvalidValue, hipStreamGetCaptureInfo(stream, NULL, &id));
	IS(hipErrorInvalidValue, hipStreamGetCaptureInfo(old_stream, NULL, NULL));
	IS(hipErrorContextIsDestroyed, hipStreamGetCaptureInfo(old_stream, &status, &id));
	OK(hipStreamGetCaptureInfo(NULL, &status, NULL));
	IS(hipErrorInvalidValue, hipStreamGetCaptureInfo_v2(stream, NULL, &id, NULL, NULL, NULL));
	IS(hipErrorContextIsDestroyed, hipStreamGetCaptureInfo_v2(old_stream, &status, &id, NULL, NULL, NULL));
	OK(hipStreamGetCaptureInfo_v2(NULL, &status, NULL, NULL, NULL, NULL));
	IS(hipErrorContextIsDestroyed, hipStreamUpdateCaptureDependencies(old_stream, NULL, 0, 0));
	IS(hipErrorIllegalState, hipStreamUpdateCaptureDependencies(stream, NULL, 0, 0));
	IS(hipErrorIllegalState, hipStreamUpdateCaptureDependencies(stream, NULL, 1, 1000));
}

static void begun()
{
	IS(hipErrorContextIsDestroyed, hipStreamBeginCapture(old_stream, hipStreamCaptureModeGlobal));
	IS(hipErrorStreamCaptureUnsupported, hipStreamBeginCapture(NULL, hipStreamCaptureModeGlobal));
	IS(hipErrorStreamCaptureUnsupported, hipStreamBeginCapture(NULL, (hipStreamCaptureMode)-1));
	IS(hipErrorInvalidValue, hipStreamBeginCapture(stream, (hipStreamCaptureMode)-1));
	IS(hipErrorInvalidValue, hipStreamBeginCapture(stream, (hipStreamCaptureMode)3));
	IS(hipErrorInvalidValue, hipStreamEndCapture(stream, NULL));
	IS(hipErrorInvalidValue, hipStreamEndCapture(NULL, NULL));
	IS(hipErrorIllegalState, hipStreamEndCapture(NULL, &graph));
	IS(hipErrorContextIsDestroyed, hipStreamEndCapture(old_stream, &graph));
	IS(hipErrorIllegalState, hipStreamEndCapture(stream, &graph));
#if TUFF_HIP_ABI >= 6
	const hipGraphEdgeData edges = {};
	hipGraphNode_t node;
	hipGraph_t g;

	OK(hipGraphCreate(&g, 0));
	OK(hipGraphAddEmptyNode(&node, g, NULL, 0));
	IS(hipErrorNotSupported,
	   hipStreamBeginCaptureToGraph(stream, g, &node, &edges, 1, hipStreamCaptureModeGlobal));
	IS(hipErrorInvalidValue,
	   hipStreamBeginCaptureToGraph(stream, NULL, &node, NULL, 1, hipStreamCaptureModeGlobal));
	IS(hipErrorInvalidValue, hipStreamBeginCaptureToGraph(stream, g, NULL, NULL, 1, hipStreamCaptureModeGlobal));
	IS(hipErrorInvalidValue, hipStreamBeginCaptureToGraph(stream, g, &node, NULL, 0, hipStreamCaptureModeGlobal));
	IS(hipErrorContextIsDestroyed,
	   hipStreamBeginCaptureToGraph(old_stream, g, NULL, NULL, 0, hipStreamCaptureModeGlobal));
	IS(hipErrorStreamCaptureUnsupported,
	   hipStreamBeginCaptureToGraph(NULL, g, NULL, NULL, 0, hipStreamCaptureModeGlobal));
	IS(hipErrorInvalidValue,
	   hipStreamBeginCaptureToGraph(stream, g, NULL, NULL, 0, (hipStreamCaptureMode)-1));
	OK(hipGraphDestroy(g));
#endif
}

/* Each loses the capture, which then ends so. */
#define LOSES(want, call)                                                                                          \
	do {                                                                                                       \
		OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));                                     \
		IS(want, call);                                                                                    \
		IS(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));                         \
	} while (0)

static void under_way()
{
	hipGraphNode_t nodes[2] = {};

	OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	IS(hipErrorIllegalState, hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	IS(hipErrorInvalidValue, hipStreamUpdateCaptureDependencies(stream, nodes, 2, 0));
	IS(hipErrorInvalidValue, hipStreamUpdateCaptureDependencies(stream, NULL, 0, 2));
	OK(hipStreamUpdateCaptureDependencies(stream, NULL, 0, hipStreamAddCaptureDependencies));
	IS(hipErrorStreamCaptureImplicit, hipStreamIsCapturing(NULL, &status));
	IS(hipErrorStreamCaptureImplicit, hipStreamGetCaptureInfo(NULL, &status, &id));
	IS(hipErrorStreamCaptureImplicit, hipStreamGetCaptureInfo_v2(NULL, &status, &id, NULL, NULL, NULL));
	OK(hipStreamEndCapture(stream, &graph));
	OK(hipGraphDestroy(graph));

	LOSES(hipErrorStreamCaptureUnsupported, hipStreamSynchronize(stream));
	LOSES(hipErrorStreamCaptureUnsupported, hipStreamQuery(stream));
	LOSES(hipErrorStreamCaptureUnsupported, hipDeviceSynchronize());
	LOSES(hipErrorStreamCaptureUnsupported, hipMalloc(&at, 64));
	LOSES(hipErrorStreamCaptureUnsupported, hipFree(gpu));
	LOSES(hipErrorStreamCaptureUnsupported, hipHostMalloc(&at, 64, 0));
	LOSES(hipErrorStreamCaptureUnsupported, hipMallocManaged(&at, 64, hipMemAttachGlobal));
	LOSES(hipErrorStreamCaptureImplicit, hipMemcpy(gpu, host, 64, hipMemcpyHostToDevice));
	LOSES(hipErrorStreamCaptureImplicit, hipMemset(gpu, 0, 64));
	LOSES(hipErrorStreamCaptureImplicit, hipMemcpy2D(gpu, 64, host, 64, 64, 4, hipMemcpyHostToDevice));

	/* An event of the capture. */
	OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	OK(hipEventRecord(event, stream));
	IS(hipErrorCapturedEvent, hipEventQuery(event));
	IS(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));
	OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	OK(hipEventRecord(event, stream));
	IS(hipErrorCapturedEvent, hipEventSynchronize(event));
	IS(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));
	/* A stream that joined, and does not come back. */
	OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	OK(hipEventRecord(event, stream));
	OK(hipStreamWaitEvent(other_stream, event, 0));
	OK(hipMemsetAsync(gpu, 0, 64, other_stream));
	OK(hipMemsetAsync(gpu + 64, 0, 64, stream));
	IS(hipErrorStreamCaptureUnjoined, hipStreamEndCapture(stream, &graph));
	/* One that ends what it did not begin. */
	OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	OK(hipEventRecord(event, stream));
	OK(hipStreamWaitEvent(other_stream, event, 0));
	IS(hipErrorStreamCaptureUnmatched, hipStreamEndCapture(other_stream, &graph));
	(void)hipStreamEndCapture(stream, &graph);
}

STATUSES("statuses: capture", begin, asked, begun, under_way)
