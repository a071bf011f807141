/* Interprocess events: the state that processes share.
 *
 *   hip_shared  a process's view of the shared page of an event; owned by the event
 *
 * Each view has a lock for its list of users, inside a stream's lock; the page itself is atomic.
 */
#ifndef API_EVENT_SHARED_H
#define API_EVENT_SHARED_H

#include "api/stream/stream.h"

struct hip_shared;

hipError_t hip_shared_make(struct hip_shared **shared);
/* Errors: InvalidContext, when the event is this process's; InvalidValue, when the handle is none or its process
 * has ended. */
hipError_t hip_shared_open(const hipIpcEventHandle_t *handle, struct hip_shared **shared);
/* Accepts NULL. Streams that have operations on the page still execute them. */
void hip_shared_free(struct hip_shared *shared);
/* Errors: InvalidConfiguration, when another process has made the event. */
hipError_t hip_shared_handle(const struct hip_shared *shared, hipIpcEventHandle_t *handle);

/* Takes the next number for a record, which the event stands for from then on, in every process. Waits for the
 * record 32 numbers before. Errors: IllegalState, when another process has written over the page. */
hipError_t hip_shared_next(struct hip_shared *shared, uint64_t *number);
/* Submits the write of the record's number. Between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_shared_put(struct hip_shared *shared, uint64_t number, struct hip_stream *stream);
/* Marks a record that was not submitted: the event stands for the record before it again. */
void hip_shared_refuse(struct hip_shared *shared, uint64_t number);
/* Makes the stream wait for the event's last record. Between hip_stream_begin() and hip_stream_done(). */
hipError_t hip_shared_after(struct hip_shared *shared, struct hip_stream *stream);
bool hip_shared_reached(const struct hip_shared *shared);
hipError_t hip_shared_wait(const struct hip_shared *shared);

#endif
