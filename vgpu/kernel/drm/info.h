/* The INFO ioctl. Kernel lock held. */
#ifndef VGPU_KERNEL_DRM_INFO_H
#define VGPU_KERNEL_DRM_INFO_H

#include "vgpu/kernel/base/core.h"

int kern_info_ioctl(struct kern_file *file, void *arg);

#endif
