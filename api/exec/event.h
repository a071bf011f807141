/* Events and external semaphores, for other files of the library. event.c defines the event, and its lock; programs
 * have handles. */
#ifndef API_EVENT_H
#define API_EVENT_H

#include "api/stream/stream.h"

/* The bodies of hipEventRecord() and hipStreamWaitEvent(). */
hipError_t hip_event_record(hipEvent_t event, struct hip_stream *stream);
hipError_t hip_event_wait(hipEvent_t event, struct hip_stream *stream);
void hip_semaphores_reset(struct hip_device *device);

#endif
