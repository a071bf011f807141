/* Events: points in a stream that the host, or another stream, can wait for. An event stands for the work that was
 * in the stream when it was last recorded; before its first record it counts as reached. All functions are thread
 * safe. Errors: InvalidValue, for NULL, or flags that are unknown or exclude each other; ContextIsDestroyed, when
 * the handle is no event or a destroyed one. */
#ifndef HIP_API_EVENT_H
#define HIP_API_EVENT_H

#include <hip/api/stream.h>

#define hipEventDefault 0x0
/* The host sleeps while it waits, instead of polling. */
#define hipEventBlockingSync 0x1
/* Stores no time: cheaper; hipEventElapsedTime() refuses the event. */
#define hipEventDisableTiming 0x2
/* Can be shared with other processes; needs hipEventDisableTiming. */
#define hipEventInterprocess 0x4
/* Visibility when the event is reached: none beyond the stream's own; to the device; to the system. */
#define hipEventDisableSystemFence 0x20000000
#define hipEventReleaseToDevice    0x40000000
#define hipEventReleaseToSystem    0x80000000

/* hipEventRecordWithFlags(): in a capture, the record becomes a node of the graph. */
#define hipEventRecordDefault  0x0
#define hipEventRecordExternal 0x1

HIP_API_BEGIN

hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
/* Waits that are in progress continue; memory is freed when nothing uses it. */
hipError_t hipEventDestroy(hipEvent_t event);
/* Errors: InvalidHandle, when the event and the stream are on different devices. */
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream HIP_DEFAULT_ARG(0),
				   unsigned int flags HIP_DEFAULT_ARG(0));
/* Success: reached. NotReady: not reached yet, which is no failure. CapturedEvent: recorded in a capture. */
hipError_t hipEventQuery(hipEvent_t event);
/* Blocks until the event is reached. */
hipError_t hipEventSynchronize(hipEvent_t event);
/* Milliseconds between two events of a device, by the GPU's clock. Errors: NotReady, when one is not reached;
 * InvalidHandle, when one was not recorded or stores no time. */
hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop);

HIP_API_END

#endif
