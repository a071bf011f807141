/* Memory that graphs allocate. All functions are thread safe. */
#ifndef API_GRAPH_MEMORY_H
#define API_GRAPH_MEMORY_H

#include "api/capture.h"
#include "api/graph.h"

struct hip_lease;

/* A reference of a node of an instance. NotSupported: another has it, or it is a graph's node. */
hipError_t hip_lease_get(struct hip_lease *lease, bool instance);
/* NULL is accepted. May wait for the device. */
void hip_lease_put(struct hip_lease *lease, bool instance);
/* Some graph's memory, and in use. */
bool hip_lease_used(const void *ptr);
/* In the order of launches. */
void hip_lease_begin(struct hip_lease *lease);
/* False: no graph's memory. Else it is free from now on (NULL) or behind what the stream was given; InvalidValue:
 * it was not in use. */
bool hip_lease_free(void *ptr, struct hip_stream *stream, hipError_t *error);
bool hip_lease_is(const void *ptr);

/* hipMallocAsync() and hipFreeAsync() in a stream that captures. */
hipError_t hip_capture_malloc(struct hip_stream *stream, size_t size_B, void **out);
hipError_t hip_capture_free(struct hip_stream *stream, void *ptr);

#endif
