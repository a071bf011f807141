/* Memory that graphs allocate.
 *
 *   hip_graph_alloc  the memory of an allocation node; counted by the nodes that refer to it
 *
 * All functions are thread safe: graph_memory.c has one lock for all allocations.
 */
#ifndef API_GRAPH_MEMORY_H
#define API_GRAPH_MEMORY_H

#include "api/stream/capture.h"
#include "api/graph/graph.h"

struct hip_graph_alloc;

/* Adds the reference of a cloned node. Errors: NotSupported, when another instance has the memory, or when the
 * clone is no instance's: a graph's allocation node cannot be cloned otherwise. */
hipError_t hip_graph_alloc_get(struct hip_graph_alloc *alloc, bool instance);
/* Accepts NULL. May wait for the device. */
void hip_graph_alloc_put(struct hip_graph_alloc *alloc, bool instance);
/* True when the address is memory of a graph and in use. */
bool hip_graph_alloc_is_used(const void *ptr);
/* Marks the memory as in use, in the order of launches. False: it was in use, or a reset has taken it. */
bool hip_graph_alloc_begin(struct hip_graph_alloc *alloc);
/* Takes back what hip_graph_alloc_begin() has marked, for a launch that was refused. */
void hip_graph_alloc_undo(struct hip_graph_alloc *alloc);
/* Frees memory of a graph after the stream's work (NULL: at once). False: the address is none. *error:
 * InvalidValue, when the memory was not in use. */
bool hip_graph_alloc_free(void *ptr, struct hip_stream *stream, hipError_t *error);
bool hip_graph_alloc_is(const void *ptr);

/* Bodies of hipMallocAsync() and hipFreeAsync() for a stream that captures. */
hipError_t hip_capture_malloc(struct hip_stream *stream, size_t size_B, void **out);
hipError_t hip_capture_free(struct hip_stream *stream, void *ptr);

void hip_graph_allocs_reset(struct hip_device *device);
#endif
