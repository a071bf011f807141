/* For tools that watch a program. All functions are thread safe. */
#ifndef HIP_API_PROFILE_H
#define HIP_API_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

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
/* A tool. Its function is asked, with domain 3 and the call's number, before each call (data: the record of the
 * call, hip_api_trace_data_t of AMD's), and with domain 2 and a kind of work (data: NULL), whether it wants to be
 * told: 0, yes. Of work it is told with the record (activity_record_t), on the library's own thread or on one that
 * waited. It runs on several threads at a time. NULL: no longer. */
void hipRegisterTracerCallback(int (*function)(int domain, uint32_t operation_id, void *data));
#if TUFF_HIP_ABI == 5
/* As HIP 5.2 did it: for each call, by its number, a function that gives its record and is told when it is over,
 * and one that is told of both ends; for work, one that is told the number that it gets, and one that is told its
 * end. InvalidValue: no such number. */
hipError_t hipRegisterActivityCallback(uint32_t id, void *fun, void *arg);
hipError_t hipRemoveActivityCallback(uint32_t id);
hipError_t hipRegisterApiCallback(uint32_t id, void *fun, void *arg);
hipError_t hipRemoveApiCallback(uint32_t id);
void hipInitActivityCallback(void *id_callback, void *op_callback, void *arg);
bool hipEnableActivityCallback(uint32_t op, bool enable);
#endif

HIP_API_END

#endif
