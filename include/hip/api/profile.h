/* For tools that watch a program. All functions are thread safe. */
#ifndef HIP_API_PROFILE_H
#define HIP_API_PROFILE_H

#include <hip/api/stream.h>

HIP_API_BEGIN

/* NotSupported. */
HIP_DEPRECATED hipError_t hipProfilerStart(void);
HIP_DEPRECATED hipError_t hipProfilerStop(void);
/* Names of a function of this interface by its number in the trace, of a kernel, and of a command. */
const char *hipApiName(uint32_t id);
const char *hipKernelNameRef(const hipFunction_t f);
const char *hipKernelNameRefByPtr(const void *hostFunction, hipStream_t stream);
const char *hipGetCmdName(uint32_t id);
/* The function runs before and after each call (domain: the API's), and when commands end. NULL: no longer. */
void hipRegisterTracerCallback(int (*function)(int domain, uint32_t operation_id, void *data));

HIP_API_END

#endif
