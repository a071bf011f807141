/* Opens of a node, render or card. Kernel lock held unless a comment says otherwise. */
#ifndef VGPU_KERNEL_DRM_FILE_H
#define VGPU_KERNEL_DRM_FILE_H

#include "vgpu/kernel/base/core.h"

/* A new file; its only reference. 0, -ENODEV, -ENOMEM. */
int kern_file_create(struct kern_device *dev, bool primary, struct kern_file **file);
void kern_file_put(struct kern_file *file);

#endif
