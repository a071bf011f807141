/* Streams, events, callbacks, values that streams wait for. */
#include "tests/hip/statuses.h"

static hipStream_t stream, old_stream;
static hipEvent_t event, old_event, recorded, untimed;
static unsigned *gpu, *pinned, host[64], flags;
static int devices, priority;
static hipDevice_t device;

static void callback(void *)
{
}
static void stream_callback(hipStream_t, hipError_t, void *)
{
}

static void begin()
{
	OK(hipGetDeviceCount(&devices));
	OK(hipStreamCreate(&stream));
	OK(hipStreamCreate(&old_stream));
	OK(hipStreamDestroy(old_stream));
	OK(hipEventCreate(&event));
	OK(hipEventCreate(&recorded));
	OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
	OK(hipEventCreate(&old_event));
	OK(hipEventDestroy(old_event));
	OK(hipMalloc((void **)&gpu, 256));
	OK(hipHostMalloc((void **)&pinned, 256, 0));
	OK(hipEventRecord(recorded, stream));
	OK(hipEventRecord(untimed, stream));
	OK(hipStreamSynchronize(stream));
}

static void made()
{
	hipStream_t s;
	int least, greatest;

	IS(hipErrorInvalidValue, hipStreamCreate(NULL));
	IS(hipErrorInvalidValue, hipStreamCreateWithFlags(NULL, hipStreamDefault));
	IS(hipErrorInvalidValue, hipStreamCreateWithFlags(&s, 2));
	IS(hipErrorInvalidValue, hipStreamCreateWithFlags(&s, UINT_MAX));
	IS(hipErrorInvalidValue, hipStreamCreateWithPriority(NULL, hipStreamDefault, 0));
	IS(hipErrorInvalidValue, hipStreamCreateWithPriority(&s, 0xff, 0));
	OK(hipStreamCreateWithPriority(&s, hipStreamDefault, -1000)); /* the highest there is */
	OK(hipStreamDestroy(s));
	OK(hipStreamCreateWithPriority(&s, hipStreamNonBlocking, 1000));
	OK(hipStreamDestroy(s));
	OK(hipDeviceGetStreamPriorityRange(NULL, &greatest));
	OK(hipDeviceGetStreamPriorityRange(&least, NULL));
	OK(hipDeviceGetStreamPriorityRange(NULL, NULL));
	IS(hipErrorInvalidHandle, hipExtStreamCreateWithCUMask(NULL, 1, host));
	IS(hipErrorInvalidHandle, hipExtStreamCreateWithCUMask(NULL, 0, NULL));
	IS(hipErrorInvalidValue, hipExtStreamCreateWithCUMask(&s, 0, host));
	IS(hipErrorInvalidValue, hipExtStreamCreateWithCUMask(&s, 1, NULL));

	IS(hipErrorInvalidHandle, hipStreamDestroy(NULL));
	IS(hipErrorInvalidHandle, hipStreamDestroy(hipStreamPerThread));
	IS(hipErrorInvalidHandle, hipStreamDestroy(hipStreamLegacy));
	IS(hipErrorContextIsDestroyed, hipStreamDestroy(old_stream));
	IS(hipErrorContextIsDestroyed, hipStreamDestroy(made_up<hipStream_t>()));
	IS(hipErrorContextIsDestroyed, hipStreamDestroy((hipStream_t)(void *)event));
}

static void asked()
{
	IS(hipErrorInvalidValue, hipStreamGetFlags(stream, NULL));
	IS(hipErrorInvalidValue, hipStreamGetFlags(NULL, &flags));
	IS(hipErrorInvalidValue, hipStreamGetFlags(NULL, NULL));
	IS(hipErrorContextIsDestroyed, hipStreamGetFlags(old_stream, &flags));
	IS(hipErrorInvalidValue, hipStreamGetFlags(old_stream, NULL));
	OK(hipStreamGetFlags(hipStreamPerThread, &flags));
	IS(hipErrorInvalidValue, hipStreamGetPriority(stream, NULL));
	IS(hipErrorInvalidValue, hipStreamGetPriority(NULL, NULL));
	OK(hipStreamGetPriority(NULL, &priority));
	IS(hipErrorContextIsDestroyed, hipStreamGetPriority(old_stream, &priority));
	IS(hipErrorInvalidValue, hipStreamGetPriority(old_stream, NULL));
	IS(hipErrorInvalidValue, hipStreamGetDevice(stream, NULL));
	IS(hipErrorInvalidValue, hipStreamGetDevice(old_stream, NULL));
	IS(hipErrorContextIsDestroyed, hipStreamGetDevice(old_stream, &device));
	OK(hipStreamGetDevice(NULL, &device));
	IS(hipErrorInvalidValue, hipExtStreamGetCUMask(stream, 64, NULL));
	IS(hipErrorInvalidValue, hipExtStreamGetCUMask(stream, 0, host));
	IS(hipErrorInvalidValue, hipExtStreamGetCUMask(NULL, 1, host)); /* more units than that */
	OK(hipExtStreamGetCUMask(NULL, 64, host));
	IS(hipErrorContextIsDestroyed, hipExtStreamGetCUMask(old_stream, 64, host));

	IS(hipErrorContextIsDestroyed, hipStreamQuery(old_stream));
	IS(hipErrorContextIsDestroyed, hipStreamQuery(made_up<hipStream_t>()));
	IS(hipErrorContextIsDestroyed, hipStreamSynchronize(old_stream));
	IS(hipErrorContextIsDestroyed, hipStreamSynchronize(made_up<hipStream_t>()));
	OK(hipStreamSynchronize(NULL));
	OK(hipStreamQuery(NULL));
}

static void waited()
{
	IS(hipErrorInvalidHandle, hipStreamWaitEvent(stream, NULL, 0));
	IS(hipErrorInvalidHandle, hipStreamWaitEvent(stream, NULL, 1));
	IS(hipErrorInvalidHandle, hipStreamWaitEvent(old_stream, recorded, 0));
	IS(hipErrorInvalidHandle, hipStreamWaitEvent(old_stream, recorded, 1));
	IS(hipErrorInvalidHandle, hipStreamWaitEvent(old_stream, NULL, 0));
	IS(hipErrorInvalidValue, hipStreamWaitEvent(stream, recorded, 1));
	IS(hipErrorInvalidValue, hipStreamWaitEvent(stream, recorded, UINT_MAX));
	OK(hipStreamWaitEvent(stream, event, 0)); /* never recorded */
	OK(hipStreamWaitEvent(NULL, recorded, 0));
	IS(hipErrorContextIsDestroyed, hipStreamWaitEvent(stream, old_event, 0));

	IS(hipErrorInvalidValue, hipStreamAddCallback(stream, NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipStreamAddCallback(stream, stream_callback, NULL, 1));
	IS(hipErrorInvalidValue, hipStreamAddCallback(old_stream, stream_callback, NULL, 1));
	IS(hipErrorContextIsDestroyed, hipStreamAddCallback(old_stream, stream_callback, NULL, 0));
	IS(hipErrorInvalidValue, hipLaunchHostFunc(stream, NULL, NULL));
	IS(hipErrorInvalidValue, hipLaunchHostFunc(NULL, NULL, NULL));
	IS(hipErrorContextIsDestroyed, hipLaunchHostFunc(old_stream, callback, NULL));
}

static void events()
{
	hipEvent_t e;
	hipIpcEventHandle_t handle = {};
	float ms;

	IS(hipErrorInvalidValue, hipEventCreate(NULL));
	IS(hipErrorInvalidValue, hipEventCreateWithFlags(NULL, 0));
	IS(hipErrorInvalidValue, hipEventCreateWithFlags(&e, 0x8));
	IS(hipErrorInvalidValue,
	   hipEventCreateWithFlags(&e, hipEventReleaseToDevice | hipEventDisableSystemFence));
	IS(hipErrorInvalidValue, hipEventCreateWithFlags(&e, UINT_MAX));
	IS(hipErrorInvalidValue, hipEventCreateWithFlags(&e, hipEventInterprocess));
	IS(hipErrorInvalidValue, hipEventCreateWithFlags(&e, hipEventReleaseToDevice | hipEventReleaseToSystem));
	IS(hipErrorInvalidHandle, hipEventDestroy(NULL));
	IS(hipErrorContextIsDestroyed, hipEventDestroy(old_event));
	IS(hipErrorContextIsDestroyed, hipEventDestroy(made_up<hipEvent_t>()));
	IS(hipErrorContextIsDestroyed, hipEventDestroy((hipEvent_t)(void *)stream));

	IS(hipErrorInvalidHandle, hipEventRecord(NULL, stream));
	IS(hipErrorInvalidHandle, hipEventRecord(NULL, old_stream));
	IS(hipErrorContextIsDestroyed, hipEventRecord(event, old_stream));
	IS(hipErrorContextIsDestroyed, hipEventRecord(old_event, stream));
	IS(hipErrorInvalidHandle, hipEventSynchronize(NULL));
	IS(hipErrorContextIsDestroyed, hipEventSynchronize(old_event));
	OK(hipEventSynchronize(event)); /* never recorded */
	IS(hipErrorInvalidHandle, hipEventQuery(NULL));
	IS(hipErrorContextIsDestroyed, hipEventQuery(old_event));
	OK(hipEventQuery(event));

	IS(hipErrorInvalidValue, hipEventElapsedTime(NULL, recorded, recorded));
	IS(hipErrorInvalidValue, hipEventElapsedTime(NULL, NULL, NULL));
	IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, NULL, recorded));
	IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, recorded, NULL));
	IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, event, recorded)); /* never recorded */
	IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, recorded, event));
	IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, event, event));
	IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, untimed, recorded));
	IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, recorded, untimed));
	IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, untimed, untimed));
	IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, old_event, recorded));
	OK(hipEventElapsedTime(&ms, recorded, recorded));

	IS(hipErrorInvalidValue, hipIpcGetEventHandle(NULL, event));
	IS(hipErrorInvalidValue, hipIpcGetEventHandle(&handle, NULL));
	IS(hipErrorInvalidConfiguration, hipIpcGetEventHandle(&handle, event)); /* not for processes */
	IS(hipErrorContextIsDestroyed, hipIpcGetEventHandle(&handle, old_event));
	IS(hipErrorInvalidValue, hipIpcOpenEventHandle(NULL, handle));
	IS(hipErrorInvalidValue, hipIpcOpenEventHandle(&e, handle));
	OK(hipEventCreateWithFlags(&e, hipEventInterprocess | hipEventDisableTiming));
	OK(hipIpcGetEventHandle(&handle, e));
	hipEvent_t other;
	IS(hipErrorInvalidContext, hipIpcOpenEventHandle(&other, handle)); /* the same process */
	OK(hipEventDestroy(e));
}

static void values()
{
	IS(hipErrorInvalidValue, hipStreamWaitValue32(stream, NULL, 0, hipStreamWaitValueGte, ~0u));
	IS(hipErrorInvalidValue, hipStreamWaitValue64(stream, NULL, 0, hipStreamWaitValueGte, ~0ull));
	IS(hipErrorInvalidValue, hipStreamWaitValue32(old_stream, NULL, 0, hipStreamWaitValueGte, ~0u));
	IS(hipErrorInvalidValue, hipStreamWaitValue32(stream, pinned, 0, 4, ~0u));
	IS(hipErrorInvalidValue, hipStreamWaitValue64(stream, pinned, 0, UINT_MAX, ~0ull));
	IS(hipErrorInvalidValue, hipStreamWaitValue32(stream, host, 0, hipStreamWaitValueGte, ~0u));
	IS(hipErrorContextIsDestroyed, hipStreamWaitValue32(old_stream, pinned, 0, hipStreamWaitValueGte, ~0u));
	IS(hipErrorContextIsDestroyed, hipStreamWaitValue64(old_stream, pinned, 0, hipStreamWaitValueGte, ~0ull));
	IS(hipErrorInvalidValue, hipStreamWriteValue32(stream, NULL, 0, 0));
	IS(hipErrorInvalidValue, hipStreamWriteValue64(stream, NULL, 0, 0));
	IS(hipErrorInvalidValue, hipStreamWriteValue64(old_stream, NULL, 0, 0));
	IS(hipErrorInvalidValue, hipStreamWriteValue32(stream, host, 0, 0));
	IS(hipErrorContextIsDestroyed, hipStreamWriteValue32(old_stream, pinned, 0, 0));
	IS(hipErrorContextIsDestroyed, hipStreamWriteValue64(old_stream, host, 0, 0));
	OK(hipStreamWriteValue32(stream, pinned, 0, 0xffff)); /* flags mean nothing */
	OK(hipStreamWaitValue32(stream, pinned, 0, hipStreamWaitValueEq, ~0u));
#if TUFF_HIP_ABI >= 6
	hipStreamBatchMemOpParams list[2] = {};

	list[0].operation = hipStreamMemOpWriteValue32;
	list[0].writeValue.address = pinned;
	IS(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 0, list, 0));
	IS(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 1, NULL, 0));
	IS(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 257, list, 0));
	IS(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 1, list, 1));
	IS(hipErrorContextIsDestroyed, hipStreamBatchMemOp(old_stream, 1, list, 0));
	list[0].operation = hipStreamMemOpBarrier;
	IS(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 1, list, 0));
	list[0].operation = (hipStreamBatchMemOpType)1000;
	IS(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 1, list, 0));
#endif
}

/* The names that take the calling thread's own stream for the null stream. */
static void per_thread()
{
	IS(hipErrorContextIsDestroyed, hipStreamQuery_spt(old_stream));
	IS(hipErrorContextIsDestroyed, hipStreamSynchronize_spt(old_stream));
	OK(hipStreamGetFlags_spt(NULL, &flags));
	IS(hipErrorInvalidValue, hipStreamGetFlags_spt(NULL, NULL));
	IS(hipErrorInvalidValue, hipStreamGetPriority_spt(NULL, NULL));
	IS(hipErrorContextIsDestroyed, hipStreamGetPriority_spt(old_stream, &priority));
	IS(hipErrorInvalidHandle, hipStreamWaitEvent_spt(NULL, NULL, 0));
	IS(hipErrorInvalidHandle, hipEventRecord_spt(NULL, NULL));
	IS(hipErrorContextIsDestroyed, hipEventRecord_spt(event, old_stream));
	IS(hipErrorInvalidValue, hipStreamAddCallback_spt(NULL, NULL, NULL, 0));
	IS(hipErrorInvalidValue, hipLaunchHostFunc_spt(NULL, NULL, NULL));
}

static void other_device()
{
	hipStream_t there;
	hipEvent_t e;
	float ms;

	if (devices < 2)
		return;
	OK(hipSetDevice(1));
	OK(hipStreamCreate(&there));
	OK(hipEventCreate(&e));
	IS(hipErrorInvalidHandle, hipEventRecord(e, stream));
	OK(hipEventRecord(e, there));
	OK(hipEventSynchronize(e));
	IS(hipErrorInvalidHandle, hipEventElapsedTime(&ms, recorded, e));
	OK(hipStreamWaitEvent(stream, e, 0));
	OK(hipStreamSynchronize(stream));
	OK(hipEventDestroy(e));
	OK(hipStreamDestroy(there));
	OK(hipSetDevice(0));
}

STATUSES("statuses: streams", begin, made, asked, waited, events, values, per_thread, other_device)
