/* What processes share of an event. */
#ifndef API_EVENT_SHARED_H
#define API_EVENT_SHARED_H

#include "api/stream/stream.h"

struct hip_shared;

hipError_t hip_shared_make(struct hip_shared **shared);
/* InvalidContext: it is this process's. InvalidValue: it is none, or its process is gone. */
hipError_t hip_shared_open(const hipIpcEventHandle_t *handle, struct hip_shared **shared);
/* NULL is accepted. Streams that were told to wait for it, or to write it, still do. */
void hip_shared_free(struct hip_shared *shared);
/* InvalidConfiguration: it is another process's. */
hipError_t hip_shared_handle(const struct hip_shared *shared, hipIpcEventHandle_t *handle);

/* A record's number, which the event stands for from now on, in every process. Waits for the 32nd record before. */
hipError_t hip_shared_next(struct hip_shared *shared, uint64_t *number);
/* The stream tells when it is reached; between begin and done. */
hipError_t hip_shared_put(struct hip_shared *shared, uint64_t number, struct hip_stream *stream);
/* It never will be put. */
void hip_shared_skip(struct hip_shared *shared, uint64_t number);
/* What follows in the stream begins behind what the event stands for; between begin and done. */
hipError_t hip_shared_after(struct hip_shared *shared, struct hip_stream *stream);
bool hip_shared_reached(const struct hip_shared *shared);
hipError_t hip_shared_wait(const struct hip_shared *shared);

#endif
