/* Events: points in a stream that the host, or another stream, can wait for.
 *
 * An event stands for what was in the stream when it was last recorded; before that it counts as reached. All
 * functions are thread safe. InvalidValue: NULL, or flags that are unknown or exclude each other;
 * ContextIsDestroyed: not an event, or no longer. */
#ifndef HIP_API_EVENT_H
#define HIP_API_EVENT_H

#include <hip/api/stream.h>

#define hipEventDefault 0x0
/* The host sleeps while it waits, instead of asking again and again. */
#define hipEventBlockingSync 0x1
/* Takes no time: cheaper, and hipEventElapsedTime() refuses it. */
#define hipEventDisableTiming 0x2
/* Can be given to other processes; needs hipEventDisableTiming. */
#define hipEventInterprocess 0x4
/* What is made visible when the event is reached: nothing more than the stream does; to the device; to the system.
 */
#define hipEventDisableSystemFence 0x20000000
#define hipEventReleaseToDevice    0x40000000
#define hipEventReleaseToSystem    0x80000000

/* hipEventRecordWithFlags(): in a capture, the event becomes a node of the graph. */
#define hipEventRecordDefault  0x0
#define hipEventRecordExternal 0x1

HIP_API_BEGIN

hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
/* May be waited for still; the memory goes when nobody needs it. */
hipError_t hipEventDestroy(hipEvent_t event);
/* InvalidHandle: the event and the stream are of different devices. */
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream HIP_DEFAULT_ARG(0),
				   unsigned int flags HIP_DEFAULT_ARG(0));
/* Success: reached. NotReady: not yet, which is no error. CapturedEvent: it was recorded in a capture. */
hipError_t hipEventQuery(hipEvent_t event);
/* Blocks until it is reached. */
hipError_t hipEventSynchronize(hipEvent_t event);
/* Milliseconds between two events of a device, taken by the GPU's clock. NotReady: one is not reached.
 * InvalidHandle: one was not recorded, or takes no time. */
hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop);

HIP_API_END

#endif
