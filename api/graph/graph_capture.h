/* Stream capture into graphs (graph_capture.c). */
#ifndef API_GRAPH_CAPTURE_H
#define API_GRAPH_CAPTURE_H

#include "api/graph/graph_memory.h"
#include "api/stream/capture.h"

/* Adds a node to the graph that the stream captures into. Takes over what *work owns, even after an error. Errors:
 * StreamCaptureInvalidated. */
hipError_t hip_capture_work(struct hip_stream *stream, struct hip_work *work);
/* Adds a clone of the graph as a child node. */
hipError_t hip_capture_graph(struct hip_stream *stream, const struct hip_graph *graph);

#endif
