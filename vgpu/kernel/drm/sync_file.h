/* ioctls on dma-bufs and sync files. Kernel lock held. */
#ifndef VGPU_KERNEL_DRM_SYNC_FILE_H
#define VGPU_KERNEL_DRM_SYNC_FILE_H

#include "vgpu/kernel/base/core.h"

int kern_sync_ioctl(struct kern_inode *inode, unsigned long request, void *arg);

#endif
