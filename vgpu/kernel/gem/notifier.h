/* The notifier of userptr BOs. Kernel lock held. What shim/ calls is in kernel.h. */
#ifndef VGPU_KERNEL_GEM_NOTIFIER_H
#define VGPU_KERNEL_GEM_NOTIFIER_H

#include "vgpu/kernel/base/core.h"

/* A CS waits here while some process's memory is being invalidated on its device. Sleeps without the kernel lock; 0
 * or -ENOMEM. */
int kern_notifier_pass(struct kern_device *dev);

#endif
