/* Streams: ordered queues of work. Work of different streams may overlap. NULL is a device's null stream: it waits
 * for all streams that were created without hipStreamNonBlocking, and they wait for it. All functions are thread
 * safe; concurrent calls on one stream are put in some order. Errors: ContextIsDestroyed, when the handle is no
 * stream or a destroyed one; InvalidValue, for a NULL result or unknown flags. */
#ifndef HIP_API_STREAM_H
#define HIP_API_STREAM_H

#include <hip/api/attributes.h>

#define hipStreamDefault     0x00
#define hipStreamNonBlocking 0x01

/* The null stream, and the calling thread's own stream, which behaves like one that was created without flags. */
#define hipStreamLegacy    ((hipStream_t)1)
#define hipStreamPerThread ((hipStream_t)2)

/* Conditions of hipStreamWaitValue32() and 64 for (*ptr & mask): at least value, equal, has a bit of value, has not
 * all bits of it. */
#define hipStreamWaitValueGte 0x0
#define hipStreamWaitValueEq  0x1
#define hipStreamWaitValueAnd 0x2
#define hipStreamWaitValueNor 0x3

/* Runs on a thread of the library when the stream reaches it; later work of the stream waits for it. Must not call
 * HIP. */
typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void *userData);

typedef enum hipStreamBatchMemOpType {
	hipStreamMemOpWaitValue32 = 1,
	hipStreamMemOpWriteValue32 = 2,
	hipStreamMemOpWaitValue64 = 4,
	hipStreamMemOpWriteValue64 = 5,
	hipStreamMemOpBarrier = 6,
	hipStreamMemOpFlushRemoteWrites = 3
} hipStreamBatchMemOpType;

/* One operation of a batch. All members begin with `operation`, which selects the member. */
typedef union hipStreamBatchMemOpParams_union {
	hipStreamBatchMemOpType operation;
	struct hipStreamMemOpWaitValueParams_t {
		hipStreamBatchMemOpType operation;
		hipDeviceptr_t address;
		__extension__ union {
			uint32_t value;
			uint64_t value64;
		};
		unsigned int flags;
		hipDeviceptr_t alias;
	} waitValue;
	struct hipStreamMemOpWriteValueParams_t {
		hipStreamBatchMemOpType operation;
		hipDeviceptr_t address;
		__extension__ union {
			uint32_t value;
			uint64_t value64;
		};
		unsigned int flags;
		hipDeviceptr_t alias;
	} writeValue;
	struct hipStreamMemOpFlushRemoteWritesParams_t {
		hipStreamBatchMemOpType operation;
		unsigned int flags;
	} flushRemoteWrites;
	struct hipStreamMemOpMemoryBarrierParams_t {
		hipStreamBatchMemOpType operation;
		unsigned int flags;
	} memoryBarrier;
	uint64_t pad[6];
} hipStreamBatchMemOpParams;

HIP_API_BEGIN

/* A stream of the current device. priority: smaller numbers are preferred; a number out of range becomes the
 * nearest. */
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags);
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned int flags, int priority);
hipError_t hipDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority);
/* Submitted work still runs. Errors: InvalidResourceHandle, for the null stream or a thread's own. */
hipError_t hipStreamDestroy(hipStream_t stream);

/* Success: idle. NotReady: not idle, which is no failure. */
hipError_t hipStreamQuery(hipStream_t stream);
/* Blocks until the stream is idle, and returns errors of its work. */
hipError_t hipStreamSynchronize(hipStream_t stream);
/* Later work of the stream waits for the event's present record; the event may be recorded again at once. flags:
 * 0. */
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags HIP_DEFAULT_ARG(0));

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int *flags);
hipError_t hipStreamGetPriority(hipStream_t stream, int *priority);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device);
/* Returns the device's number, or -1. */
int hipGetStreamDeviceId(hipStream_t stream);

/* A stream whose kernels run on these compute units only: bit i of the mask is unit i. cuMaskSize is in words. */
hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t cuMaskSize, const uint32_t *cuMask);
hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t cuMaskSize, uint32_t *cuMask);

/* flags: 0. The function is called once; user data belongs to the caller. */
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *userData,
				unsigned int flags);
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void *userData);

/* Later work waits until the memory meets the condition in flags. The memory is device memory or signal memory. */
hipError_t hipStreamWaitValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags,
				uint32_t mask HIP_DEFAULT_ARG(0xFFFFFFFF));
hipError_t hipStreamWaitValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags,
				uint64_t mask HIP_DEFAULT_ARG(0xFFFFFFFFFFFFFFFF));
/* flags: 0. */
hipError_t hipStreamWriteValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags);
hipError_t hipStreamWriteValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags);
/* Several operations, in order. */
hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned int count, hipStreamBatchMemOpParams *paramArray,
			       unsigned int flags);

/* --- 7.1 and later ---------------------------------------------------------------------------- */

/* A number that no other stream of the process has or had; the null stream's is that of hipStreamLegacy. */
hipError_t hipStreamGetId(hipStream_t stream, unsigned long long *streamId);
/* The synchronization policy is set and read, the priority read. Errors: InvalidValue, for others. */
hipError_t hipStreamSetAttribute(hipStream_t stream, hipLaunchAttributeID attr,
				 const hipLaunchAttributeValue *value);
hipError_t hipStreamGetAttribute(hipStream_t stream, hipLaunchAttributeID attr, hipLaunchAttributeValue *value_out);
hipError_t hipStreamCopyAttributes(hipStream_t dst, hipStream_t src);

HIP_API_END

#endif
