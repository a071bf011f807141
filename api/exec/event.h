/* Events, as other files of the library use them, and external semaphores. */
#ifndef API_EVENT_H
#define API_EVENT_H

#include "api/stream/stream.h"

/* As hipEventRecord() and hipStreamWaitEvent() do. */
hipError_t hip_event_record(hipEvent_t event, struct hip_stream *stream);
hipError_t hip_event_wait(hipEvent_t event, struct hip_stream *stream);
void hip_semaphores_reset(struct hip_device *device);

#endif
