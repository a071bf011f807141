/* Capture into graphs (graph_capture.c). */
#ifndef API_GRAPH_CAPTURE_H
#define API_GRAPH_CAPTURE_H

#include "api/graph/graph_memory.h"
#include "api/stream/capture.h"

/* Adds a node to the graph that the stream captures into. The node takes over what *work owns, whatever the answer
 * is. InvalidatedCapture: the capture was lost. */
hipError_t hip_capture_work(struct hip_stream *stream, struct hip_work *work);
/* Adds a graph as a child. */
hipError_t hip_capture_graph(struct hip_stream *stream, const struct hip_graph *graph);

#endif
