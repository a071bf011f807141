/* Interfaces for tools that watch a program. All functions are thread safe. */
#ifndef HIP_API_PROFILE_H
#define HIP_API_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <hip/api/stream.h>

HIP_API_BEGIN

/* NotSupported. */
HIP_DEPRECATED hipError_t hipProfilerStart(void);
HIP_DEPRECATED hipError_t hipProfilerStop(void);
/* Names: of a function of this interface by its number in the trace, of a kernel, of a command. */
const char *hipApiName(uint32_t id);
const char *hipKernelNameRef(const hipFunction_t f);
const char *hipKernelNameRefByPtr(const void *hostFunction, hipStream_t stream);
const char *hipGetCmdName(uint32_t id);
/* Registers a tool's function; NULL unregisters it. The library calls it before each call, with domain 3, the
 * call's number and the call's record (AMD's hip_api_trace_data_t), and with domain 2, a kind of work and NULL: a
 * result of 0 requests a report. Reports of work are calls with the record (activity_record_t), on the library's
 * own thread or on a thread that waited. The function runs on several threads at a time. */
void hipRegisterTracerCallback(int (*function)(int domain, uint32_t operation_id, void *data));
#if TUFF_HIP_ABI == 5
/* The interface of HIP 5.2. For each call, by its number: a function that gives its record and is called at its
 * end, and one that is called at both ends; for work: a function that gets the number of each operation, and one
 * that gets its record. Errors: InvalidValue, for an unknown number. */
hipError_t hipRegisterActivityCallback(uint32_t id, void *fun, void *arg);
hipError_t hipRemoveActivityCallback(uint32_t id);
hipError_t hipRegisterApiCallback(uint32_t id, void *fun, void *arg);
hipError_t hipRemoveApiCallback(uint32_t id);
void hipInitActivityCallback(void *id_callback, void *op_callback, void *arg);
bool hipEnableActivityCallback(uint32_t op, bool enable);
#endif

HIP_API_END

#endif
