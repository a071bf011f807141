/* The amdgpu ioctls that wait for jobs. Kernel lock held. */
#ifndef VGPU_KERNEL_DRM_WAIT_IOCTLS_H
#define VGPU_KERNEL_DRM_WAIT_IOCTLS_H

#include "vgpu/kernel/base/core.h"

int kern_wait_cs_ioctl(struct kern_file *file, void *arg);
int kern_wait_fences_ioctl(struct kern_file *file, void *arg);
int kern_fence_to_handle_ioctl(struct kern_file *file, void *arg);

#endif
