/* Errors: names, texts, the thread's last error, and the translation of HSA's errors and of errno. */
#include <errno.h>
#include <stddef.h>

#include "api/base/entry.h"
#include "api/base/unsupported.h"

/* Name and text of each error; the text is for people. */
static const struct {
	hipError_t error;
	const char *name, *text;
} errors[] = {
#define ERROR(name, text) {name, #name, text}
	ERROR(hipSuccess, "no error"),
	ERROR(hipErrorInvalidValue, "invalid argument"),
	ERROR(hipErrorOutOfMemory, "out of memory"),
	ERROR(hipErrorNotInitialized, "initialization error"),
	ERROR(hipErrorDeinitialized, "driver shutting down"),
	ERROR(hipErrorProfilerDisabled, "profiler disabled while using external profiling tool"),
	ERROR(hipErrorProfilerNotInitialized, "profiler is not initialized"),
	ERROR(hipErrorProfilerAlreadyStarted, "profiler already started"),
	ERROR(hipErrorProfilerAlreadyStopped, "profiler already stopped"),
	ERROR(hipErrorInvalidConfiguration, "invalid configuration argument"),
	ERROR(hipErrorInvalidPitchValue, "invalid pitch argument"),
	ERROR(hipErrorInvalidSymbol, "invalid device symbol"),
	ERROR(hipErrorInvalidDevicePointer, "invalid device pointer"),
	ERROR(hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
	ERROR(hipErrorInsufficientDriver, "driver version is insufficient for runtime version"),
	ERROR(hipErrorMissingConfiguration, "__global__ function call is not configured"),
	ERROR(hipErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
	ERROR(hipErrorInvalidDeviceFunction, "invalid device function"),
	ERROR(hipErrorNoDevice, "no ROCm-capable device is detected"),
	ERROR(hipErrorInvalidDevice, "invalid device ordinal"),
	ERROR(hipErrorInvalidImage, "device kernel image is invalid"),
	ERROR(hipErrorInvalidContext, "invalid device context"),
	ERROR(hipErrorContextAlreadyCurrent, "context is already current context"),
	ERROR(hipErrorMapFailed, "mapping of buffer object failed"),
	ERROR(hipErrorUnmapFailed, "unmapping of buffer object failed"),
	ERROR(hipErrorArrayIsMapped, "array is mapped"),
	ERROR(hipErrorAlreadyMapped, "resource already mapped"),
	ERROR(hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device"),
	ERROR(hipErrorAlreadyAcquired, "resource already acquired"),
	ERROR(hipErrorNotMapped, "resource not mapped"),
	ERROR(hipErrorNotMappedAsArray, "resource not mapped as array"),
	ERROR(hipErrorNotMappedAsPointer, "resource not mapped as pointer"),
	ERROR(hipErrorECCNotCorrectable, "uncorrectable ECC error encountered"),
	ERROR(hipErrorUnsupportedLimit, "limit is not supported on this architecture"),
	ERROR(hipErrorContextAlreadyInUse, "exclusive-thread device already in use by a different thread"),
	ERROR(hipErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
	ERROR(hipErrorInvalidKernelFile, "invalid kernel file"),
	ERROR(hipErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
	ERROR(hipErrorInvalidSource, "device kernel image is invalid"),
	ERROR(hipErrorFileNotFound, "file not found"),
	ERROR(hipErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
	ERROR(hipErrorSharedObjectInitFailed, "shared object initialization failed"),
	ERROR(hipErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
	ERROR(hipErrorInvalidHandle, "invalid resource handle"),
	ERROR(hipErrorIllegalState, "the operation cannot be performed in the present state"),
	ERROR(hipErrorNotFound, "named symbol not found"),
	ERROR(hipErrorNotReady, "device not ready"),
	ERROR(hipErrorIllegalAddress, "an illegal memory access was encountered"),
	ERROR(hipErrorLaunchOutOfResources, "too many resources requested for launch"),
	ERROR(hipErrorLaunchTimeOut, "the launch timed out and was terminated"),
	ERROR(hipErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
	ERROR(hipErrorPeerAccessNotEnabled, "peer access has not been enabled"),
	ERROR(hipErrorSetOnActiveProcess, "cannot set while device is active in this process"),
	ERROR(hipErrorContextIsDestroyed, "context is destroyed"),
	ERROR(hipErrorAssert, "device-side assert triggered"),
	ERROR(hipErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
	ERROR(hipErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
	ERROR(hipErrorLaunchFailure, "unspecified launch failure"),
	ERROR(hipErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
	ERROR(hipErrorNotSupported, "operation not supported"),
	ERROR(hipErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
	ERROR(hipErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
	ERROR(hipErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
	ERROR(hipErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
	ERROR(hipErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
	ERROR(hipErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
	ERROR(hipErrorStreamCaptureImplicit,
	      "operation would make the legacy stream depend on a capturing blocking stream"),
	ERROR(hipErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
	ERROR(hipErrorStreamCaptureWrongThread,
	      "attempt to terminate a thread-local capture sequence from another thread"),
	ERROR(hipErrorGraphExecUpdateFailure,
	      "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"),
	ERROR(hipErrorInvalidChannelDescriptor, "invalid resource description of texture passed to the api"),
	ERROR(hipErrorInvalidTexture, "invalid texture object passed to the api"),
	ERROR(hipErrorUnknown, "unknown error"),
	ERROR(hipErrorRuntimeMemory, "runtime memory call returned error"),
	ERROR(hipErrorRuntimeOther, "runtime call other than memory returned error"),
	ERROR(hipErrorTbd, "unknown error"),
};

static int error_row_find(hipError_t error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == error)
			return (int)i;
	return -1;
}

const char *hipGetErrorName(hipError_t error)
{
	int i = error_row_find(error);

	return i < 0 ? "hipErrorUnknown" : errors[i].name;
}

const char *hipGetErrorString(hipError_t error)
{
	int i = error_row_find(error);

	return i < 0 ? "unknown error" : errors[i].text;
}

/* Does not set the thread's last error: CLR does not either. */
static hipError_t error_text_get(hipError_t error, const char *text, const char **out)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = text;
	return error_row_find(error) < 0 ? hipErrorInvalidValue : hipSuccess;
}

hipError_t hipDrvGetErrorName(hipError_t error, const char **name)
{
	return error_text_get(error, hipGetErrorName(error), name);
}

hipError_t hipDrvGetErrorString(hipError_t error, const char **text)
{
	return error_text_get(error, hipGetErrorString(error), text);
}

/* A fault of HIP 7 stays. */
hipError_t hipGetLastError(void)
{
	hipError_t last = hip_thread.last, fault = atomic_load(&hip.fault);

	hip_thread.last = hipSuccess;
	return fault ? fault : last;
}

/* In HIP 7 it is a call with a result, as others are. */
hipError_t hipPeekAtLastError(void)
{
	hipError_t last = hip_thread.last, fault = atomic_load(&hip.fault);

	if (TUFF_HIP_ABI >= 7)
		hip_thread.result = last;
	return fault ? fault : last;
}

hipError_t hipExtGetLastError(void)
{
	hipError_t result = hip_thread.result;

	hip_thread.result = hipSuccess;
	return result;
}

hipError_t hip_of_hsa(hsa_status_t status)
{
	switch (status) {
	case HSA_STATUS_SUCCESS:
		return hipSuccess;
	case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
	case HSA_STATUS_ERROR_INVALID_ALLOCATION:
		return hipErrorOutOfMemory;
	case HSA_STATUS_ERROR_INVALID_ARGUMENT:
	case HSA_STATUS_ERROR_INVALID_AGENT:
		return hipErrorInvalidValue;
	case HSA_STATUS_ERROR_INVALID_CODE_OBJECT:
	case HSA_STATUS_ERROR_INVALID_FILE:
		return hipErrorInvalidImage;
	case HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS:
		return hipErrorNoBinaryForGpu;
	case HSA_STATUS_ERROR_INVALID_SYMBOL_NAME:
		return hipErrorNotFound;
	case HSA_STATUS_ERROR_INVALID_QUEUE_CREATION: /* HSA cannot make queues on this GPU */
		return hipErrorNotSupported;
	default:
		return hipErrorUnknown;
	}
}

hipError_t hip_of_errno(int r)
{
	switch (r) {
	case 0:
		return hipSuccess;
	case -ENOMEM:
		return hipErrorOutOfMemory;
	case -EINVAL:
		return hipErrorInvalidValue;
	case -ENOEXEC:
		return hipErrorNoBinaryForGpu;
	case -ENOTSUP:
		return hipErrorNotSupported;
	case -ECANCELED:
		return hipErrorLaunchFailure;
	default:
		return hipErrorUnknown;
	}
}

int hip_unsupported(const char *name)
{
	(void)name;
	return hip_store_error(hipErrorNotSupported);
}
