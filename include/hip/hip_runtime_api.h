/* HIP for the host, in C and C++: devices, memory, streams, launches, graphs. hip_runtime.h adds what kernels use.
 * The headers define the interface of HIP 6.4 (libamdhip64.so.6), or with -DTUFF_HIP_ABI=5 or 7 that of 5.7 or 7.2
 * (libamdhip64.so.5): see hip_version.h. Names, numbers and layouts are those of AMD's library, whose programs this
 * one runs. Each part has a header with the promises, thread rules and errors of its functions; every function may
 * also return NotInitialized, NoDevice, and an error that stays (error.h). */
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_API_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_API_H

#include <string.h>

#include <hip/api/error.h>
#include <hip/api/device.h>
#include <hip/api/context.h>
#include <hip/api/stream.h>
#include <hip/api/event.h>
#include <hip/api/memory.h>
#include <hip/api/copy.h>
#include <hip/api/array.h>
#include <hip/api/pool.h>
#include <hip/api/virtual_memory.h>
#include <hip/api/share.h>
#include <hip/api/module.h>
#include <hip/api/launch.h>
#include <hip/api/texture.h>
#include <hip/api/external.h>
#include <hip/api/capture.h>
#include <hip/api/graph.h>
#include <hip/api/profile.h>
#include <hip/api/per_thread.h>
#ifdef __cplusplus
#include <hip/api/templates.h>
#endif

#endif
