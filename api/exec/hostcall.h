/* Hostcalls: requests of running kernels to the host (hostcall.c). One buffer and one heap for each device, owned
 * by hostcall.c. */
#ifndef API_HOSTCALL_H
#define API_HOSTCALL_H

#include "api/base/base.h"

struct hip_hostcall;

/* The device's buffer for requests, which a thread of this library serves. NULL: out of memory. */
struct hip_hostcall *hip_hostcall_buffer(struct hip_device *device);
/* The heap of malloc() in kernels of code object version 5: the device library's bookkeeping, which requests slabs
 * itself. NULL: out of memory. */
void *hip_kernel_heap(struct hip_device *device);
/* For hipDeviceReset(), when no kernel of the device runs: frees what kernels have that did not end. Both stay where they
 * are. */
void hip_hostcalls_reset(struct hip_device *device);

#endif
