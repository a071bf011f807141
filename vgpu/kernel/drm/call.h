/* Begin and end of ioctls, and the cleanup of ioctls whose process died. Kernel lock held. */
#ifndef VGPU_KERNEL_DRM_CALL_H
#define VGPU_KERNEL_DRM_CALL_H

#include "vgpu/kernel/base/call.h"

/* Starts the record of an ioctl on file; NULL without memory. */
struct kern_call *kern_call_begin(struct kern_file *file);
void kern_call_end(struct kern_call *call);
/* Undoes the unfinished ioctls of a process that died. */
void kern_calls_proc_gone(struct kern_proc *proc);

#endif
