/* Memory that graphs allocate. All functions are thread safe. */
#ifndef API_GRAPH_MEMORY_H
#define API_GRAPH_MEMORY_H

#include "api/stream/capture.h"
#include "api/graph/graph.h"

struct hip_graph_alloc;

/* A reference of a node of an instance. NotSupported: another has it, or it is a graph's node. */
hipError_t hip_graph_alloc_get(struct hip_graph_alloc *alloc, bool instance);
/* NULL is accepted. May wait for the device. */
void hip_graph_alloc_put(struct hip_graph_alloc *alloc, bool instance);
/* Some graph's memory, and in use. */
bool hip_graph_alloc_set_used(const void *ptr);
/* In the order of launches. */
void hip_graph_alloc_begin(struct hip_graph_alloc *alloc);
/* False: no graph's memory. Else it is free from now on (NULL) or behind what the stream was given; InvalidValue:
 * it was not in use. */
bool hip_graph_alloc_free(void *ptr, struct hip_stream *stream, hipError_t *error);
bool hip_graph_alloc_is(const void *ptr);

/* hipMallocAsync() and hipFreeAsync() in a stream that captures. */
hipError_t hip_capture_malloc(struct hip_stream *stream, size_t size_B, void **out);
hipError_t hip_capture_free(struct hip_stream *stream, void *ptr);

void hip_graph_allocs_reset(struct hip_device *device);
#endif
