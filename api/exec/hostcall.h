/* What kernels ask of the host while they run (hostcall.c). */
#ifndef API_HOSTCALL_H
#define API_HOSTCALL_H

#include "api/base/base.h"

struct hip_hostcall;

/* Where kernels of the device ask; what is asked is answered by a thread of ours. NULL: no memory for it. */
struct hip_hostcall *hip_hostcall_buffer(struct hip_device *device);
/* The books of malloc() in kernels of code object version 5, which ask for the memory itself. NULL: no memory. */
void *hip_kernel_heap(struct hip_device *device);

#endif
